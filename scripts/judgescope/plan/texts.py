"""The specs of jobs that read texts, damage them, or let a model write them."""

from pathlib import Path
from typing import Any

from msgspec import to_builtins

from judgescope.core.canonical import canonical
from judgescope.core.job_spec import JobSpec
from judgescope.core.set_names import ANALYSES, ORIGINAL, REFERENCES, SYSTEMS
from judgescope.data.specs import IngestFiles, IngestSpec
from judgescope.engines import ENGINES
from judgescope.perturb.edits import Amount
from judgescope.perturb.specs import (
    Addition,
    MakeTextsSpec,
    PerturbSpec,
    RuleUse,
    WriteReferencesSpec,
)
from judgescope.plan.attacks import addition
from judgescope.plan.code import code_hash
from judgescope.plan.generators import (
    Maker,
    Writer,
    analyses_of,
    analysts,
    improvements,
    lowered,
)
from judgescope.plan.judges import aspects_told, scales_told
from judgescope.plan.packages import versions_of
from judgescope.plan.study import Plan
from judgescope.prompts import Change, change_of
from judgescope.replies.specs import AnalysedJudge, AnalyseSpec, ModelSpec, WriterSpec
from judgescope.schema.cards import (
    MODULES,
    AttackPerturbation,
    Decoding,
    Degree,
    MadePerturbation,
    References,
    RulePerturbation,
)


class TextSpecs:
    """The specs of a study's texts; `home` is the workflow's folder, `out` the study's results."""

    def __init__(self, plan: Plan, home: Path, out: str) -> None:
        self.plan, self.scripts, self.out = plan, home / "scripts", out

    def _record(
        self, kind: type[JobSpec], job: str, /, *extra: str, packages: str = "", **fields: Any
    ) -> str:
        """Return the canonical spec of the job `job` that reads a record of this kind."""
        code = code_hash(self.scripts, job, *extra)
        spec = kind(**fields, code=code, versions=versions_of(job, packages))
        return canonical(to_builtins(spec))

    def _of_cells(self, kind: str, dataset: str, model: str) -> str:
        """Return where a model's cells lie; `{}` stands for the set of texts and the judge."""
        return f"{self.out}/{kind}/{dataset}/{model}/{{}}.parquet"

    def ingest(self, dataset: str) -> str:
        """Return the spec that reads a dataset."""
        card = self.plan.datasets[dataset]
        original = REFERENCES if self.plan.improved(dataset) else ORIGINAL
        output = IngestFiles(
            items=self._items(dataset),
            systems=self._targets(dataset, SYSTEMS),
            original=self._targets(dataset, original),
            ratings=f"{self.out}/ratings/{dataset}.parquet",
            report=f"{self.out}/items/{dataset}.json",
            spans=f"{self.out}/spans/{dataset}.parquet",
        )
        return self._record(
            IngestSpec,
            "ingest",
            MODULES[card.format],
            dataset=card.model_dump(mode="json", exclude={"rewrite_references"}),
            folder=self.plan.folders["dataset", dataset],
            data=self.plan.study.data,
            seed=self.plan.study.seed,
            output=output,
        )

    def _items(self, dataset: str) -> str:
        return f"{self.out}/items/{dataset}.parquet"

    def _targets(self, dataset: str, name: str) -> str:
        return f"{self.out}/targets/{dataset}/{name}.parquet"

    def gold(self, dataset: str) -> str | None:
        """Return where the errors lie that people marked in a dataset's texts, if they did."""
        marked = self.plan.datasets[dataset].gives_spans
        return f"{self.out}/spans/{dataset}.parquet" if marked else None

    def perturb(self, dataset: str, perturbation: str, degree: str) -> str:
        """Return the spec that damages a dataset's originals by rule."""
        return self._record(
            PerturbSpec,
            "perturb",
            dataset=dataset,
            perturbation=perturbation,
            degree=degree,
            change=self._change(dataset, perturbation, degree),
            input=self._targets(dataset, ORIGINAL),
            output=self._targets(dataset, f"{perturbation}.{degree}"),
        )

    def _change(self, dataset: str, perturbation: str, degree: str) -> Addition | RuleUse:
        """Return what is done to an original without a model."""
        card = self.plan.perturbations[perturbation]
        if isinstance(card, AttackPerturbation):
            return addition(self.plan, dataset, perturbation, degree)
        assert isinstance(card, RulePerturbation)
        options = card.degrees_for(dataset)[degree]  # type: ignore[index]
        return RuleUse(
            rule=card.rule,
            options=options.model_dump(exclude_none=True),
            errors=[*card.errors],
            steps=card.steps,
            seed=self.plan.study.seed,
            items=self._items(dataset),
        )

    def make_texts(self, dataset: str, perturbation: str, degree: str) -> str:
        """Return the spec of the texts that a model makes of a dataset's originals."""
        card = self.plan.perturbations[perturbation]
        assert isinstance(card, MadePerturbation)
        amount = card.degrees_for(dataset)[degree]  # type: ignore[index]
        return self._writing(dataset, perturbation, degree, card, amount)

    def improve(self, dataset: str) -> str:
        """Return the spec of the originals that a model makes of a dataset's references."""
        card = improvements(self.plan)[dataset]
        if isinstance(card, References):
            return self._references(dataset, card)
        return self._writing(dataset, ORIGINAL, None, card, Degree())

    def _writing(
        self, dataset: str, perturbation: str, degree: str | None, card: Maker, amount: Degree
    ) -> str:
        """Return the spec of a set of targets that a model writes from another."""
        name = perturbation if degree is None else f"{perturbation}.{degree}"
        return self._record(
            MakeTextsSpec,
            "make_texts",
            self._engine(card.model),
            **self._shared(dataset),
            perturbation=perturbation,
            degree=degree,
            task=self.plan.datasets[dataset].task,
            writer=self._writer(card.model, card.form, card),
            change=self.change(dataset, card),
            amount=Amount(**amount.model_dump()),
            **card.model_dump(mode="json", include={"checks", "attempts", "fallback_to_reference"}),
            steps=card.steps,
            input=self._targets(dataset, REFERENCES if degree is None else ORIGINAL),
            output=self._targets(dataset, name),
            replies=f"{self.out}/made/{dataset}/{name}.parquet",
        )

    def _references(self, dataset: str, card: References) -> str:
        """Return the spec of the references that a model writes for a dataset."""
        return self._record(
            WriteReferencesSpec,
            "write_references",
            self._engine(card.model),
            **self._shared(dataset),
            task=self.plan.datasets[dataset].task,
            writer=self._writer(card.model, card.form, card),
            **card.model_dump(
                mode="json", include={"draws", "keep", "checks", "fallback_to_reference"}
            ),
            input=self._targets(dataset, REFERENCES),
            kept=self.written_references(dataset),
            output=self._targets(dataset, ORIGINAL),
            replies=f"{self.out}/made/{dataset}/{ORIGINAL}.parquet",
        )

    def _shared(self, dataset: str) -> dict[str, Any]:
        """Return the fields that the specs of all sets of written texts share."""
        study, items = self.plan.study, self._items(dataset)
        return {"dataset": dataset, "seed": study.seed, "share": study.share, "items": items}

    def change(self, dataset: str, card: Writer) -> Change:
        """Return what a writer's card tells of its change, with the aspect that it lowers."""
        return change_of({**card.model_dump(mode="json"), **lowered(self.plan, dataset, card)})

    def written_references(self, dataset: str) -> str | None:
        """Return where the references lie that a model writes for a dataset, if it does."""
        written = isinstance(self.plan.improved(dataset), References)
        return f"{self.out}/construction/{dataset}/{ORIGINAL}.parquet" if written else None

    def _asked(self, model: str) -> ModelSpec:
        """Return what a job is told of a model that it asks."""
        folder, data = self.plan.folders["model", model], self.plan.study.data
        return ModelSpec(card=self._identity(model), folder=folder, data=data)

    def _engine(self, model: str) -> str:
        """Return the module that a job loads to ask a model."""
        return ENGINES[self.plan.models[model].engine]

    def _writer(self, model: str, form: str, card: Decoding) -> WriterSpec:
        """Return how a model is asked to write, decoding as a card says."""
        return WriterSpec(
            model=self._asked(model),
            form=form,
            decoding=decoding_of(card),
            templates=dict(self.plan.templates[form]),
        )

    def _identity(self, model: str) -> dict[str, Any]:
        """Return what of an asked model's card changes its replies."""
        card = self.plan.models[model]
        return card.model_dump(mode="json", include=card.keys_for("asking"))

    def analysed(self, dataset: str, model: str) -> str:
        """Return where the analyses by a model lie that judges of a dataset are shown."""
        return f"{self.out}/construction/{dataset}/{ANALYSES}{model}.parquet"

    def analyse(self, dataset: str, model: str) -> str:
        """Return the spec of the analyses by a model that judges of a dataset are shown."""
        names = analysts(self.plan, dataset)[model]
        judges = {name: self._analysed(dataset, name) for name in names}
        return self._record(
            AnalyseSpec,
            "analyse",
            self._engine(model),
            dataset=dataset,
            seed=self.plan.study.seed,
            model=self._asked(model),
            judges=judges,
            templates={one.form: self.plan.templates[one.form] for one in judges.values()},
            aspects=aspects_told(self.plan, dataset),
            scales=scales_told(self.plan, dataset),
            results=self.out,
            output=self.analysed(dataset, model),
            replies=f"{self.out}/made/{dataset}/{ANALYSES}{model}.parquet",
        )

    def _analysed(self, dataset: str, judge: str) -> AnalysedJudge:
        """Return how analyses are asked for that a judge is shown."""
        card, analyses = self.plan.judges[judge], analyses_of(self.plan, judge)
        assert card.shots is not None and analyses is not None  # as `analysts` says
        return AnalysedJudge(
            form=analyses.form,
            decoding=decoding_of(analyses),
            n=card.shots.n,
            share=card.share,
            aspects=self.plan.rated_by(judge, dataset),
            attempts=analyses.attempts,
        )


def decoding_of(card: Decoding) -> dict[str, float | str]:
    """Return how a card's model decodes."""
    keys: dict[str, float | str] = card.model_dump(include=Decoding.keys_for("asking"))
    return keys
