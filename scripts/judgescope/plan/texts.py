"""The specs of jobs that read texts, damage them, or let a model write them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from judgescope.core.canonical import canonical
from judgescope.core.job_spec import JobSpec
from judgescope.core.set_names import ANALYSES, ORIGINAL, REFERENCES
from judgescope.engines import ENGINES
from judgescope.plan.analyses import analysing
from judgescope.plan.attacks import addition
from judgescope.plan.code import code_hash
from judgescope.plan.generators import Maker, improvements, lowered
from judgescope.plan.judges import aspects_told, scales_told
from judgescope.plan.packages import versions_of
from judgescope.plan.study import Plan
from judgescope.schema.cards import (
    AttackPerturbation,
    Decoding,
    Degree,
    MadePerturbation,
    References,
    RulePerturbation,
)
from judgescope.schema.formats import MODULES


class TextSpecs:
    """The specs of a study's texts; `home` is the workflow's folder, `out` the study's results."""

    def __init__(self, plan: Plan, home: Path, out: str) -> None:
        self.plan, self.scripts, self.out = plan, home / "scripts", out

    def _spec(self, job: str, fields: Mapping[str, Any], *extra: str, packages: str = "") -> str:
        """Return the canonical spec of the job `job`, which will load the modules `extra`."""
        code = code_hash(self.scripts, job, *extra)
        return canonical({**fields, "code": code, "versions": versions_of(job, packages)})

    def _record(
        self, kind: type[JobSpec], job: str, *extra: str, packages: str = "", **fields: Any
    ) -> str:
        """Return the canonical spec of the job `job` that reads a record of this kind."""
        code = code_hash(self.scripts, job, *extra)
        spec = kind(**fields, code=code, versions=versions_of(job, packages))
        return canonical(to_builtins(spec))

    def _of_cells(self, kind: str, dataset: str, model: str) -> str:
        """Return where a model's cells lie; `{}` stands for the set of texts and the judge."""
        return f"{self.out}/{kind}/{dataset}/{model}/{{}}.parquet"

    def ingest(self, dataset: str) -> str:
        """Return the spec that reads a dataset; `data` and `folder` only say where files lie."""
        card = self.plan.datasets[dataset]
        original = REFERENCES if self.plan.improved(dataset) else ORIGINAL
        output = {
            "items": f"{self.out}/items/{dataset}.parquet",
            "systems": f"{self.out}/targets/{dataset}/systems.parquet",
            "original": f"{self.out}/targets/{dataset}/{original}.parquet",
            "ratings": f"{self.out}/ratings/{dataset}.parquet",
            "report": f"{self.out}/items/{dataset}.json",
            "spans": f"{self.out}/spans/{dataset}.parquet",
        }
        fields = {
            "dataset": card.model_dump(mode="json", exclude={"improve"}),
            "folder": self.plan.folders["dataset", dataset],
            "data": self.plan.study.data,
            "seed": self.plan.study.seed,
            "output": output,
        }
        return self._spec("ingest", fields, MODULES[card.format])

    def gold(self, dataset: str) -> str | None:
        """Return where the errors lie that people marked in a dataset's texts, if they did."""
        marked = self.plan.datasets[dataset].gives_spans
        return f"{self.out}/spans/{dataset}.parquet" if marked else None

    def perturb(self, dataset: str, perturbation: str, degree: str) -> str:
        """Return the spec that damages a dataset's originals by rule."""
        card = self.plan.perturbations[perturbation]
        targets = f"{self.out}/targets/{dataset}"
        if isinstance(card, AttackPerturbation):
            added = addition(self.plan, dataset, perturbation, degree)
            return self._added(dataset, f"{perturbation}.{degree}", added)
        assert isinstance(card, RulePerturbation)
        options = card.degrees_for(dataset)[degree]  # type: ignore[index]
        fields = {
            "dataset": dataset,
            "seed": self.plan.study.seed,
            "perturbation": perturbation,
            "degree": degree,
            "rule": card.rule,
            **card.model_dump(include={"steps", "errors"}),
            "options": options.model_dump(exclude_none=True),
            "items": f"{self.out}/items/{dataset}.parquet",
            "input": f"{targets}/original.parquet",
            "output": f"{targets}/{perturbation}.{degree}.parquet",
        }
        return self._spec("perturb", fields)

    def _added(self, dataset: str, name: str, added: Mapping[str, str]) -> str:
        """Return the spec that adds something to a dataset's originals."""
        targets = f"{self.out}/targets/{dataset}"
        fields = {
            "dataset": dataset,
            **dict(zip(("perturbation", "degree"), name.split("."), strict=True)),
            "added": added,
            "input": f"{targets}/original.parquet",
            "output": f"{targets}/{name}.parquet",
        }
        return self._spec("perturb", fields)

    def make_texts(self, dataset: str, perturbation: str, degree: str) -> str:
        """Return the spec of the texts that a model makes of a dataset's originals."""
        card = self.plan.perturbations[perturbation]
        assert isinstance(card, MadePerturbation)
        amount = card.degrees_for(dataset)[degree]  # type: ignore[index]
        told = {"perturbation": perturbation, "degree": degree, "amount": amount.model_dump()}
        return self._writing(dataset, f"{perturbation}.{degree}", card, ORIGINAL, told)

    def improve(self, dataset: str) -> str:
        """Return the spec of the originals that a model makes of a dataset's references."""
        card = improvements(self.plan)[dataset]
        if isinstance(card, References):
            return self._references(dataset, card)
        told = {"perturbation": ORIGINAL, "degree": None, "amount": Degree().model_dump()}
        return self._writing(dataset, ORIGINAL, card, REFERENCES, told)

    def _writing(
        self, dataset: str, name: str, card: Maker, start: str, fields: Mapping[str, Any]
    ) -> str:
        """Return the spec of a set of targets that a model writes from another, `start`."""
        place = f"{dataset}/{name}.parquet"
        told = {"form", "checks", "attempts", "keep_failed", *Decoding.model_fields}
        told |= {"adjustment", "instructions", "demonstrations", "reply"}
        fields = {
            **fields,
            "dataset": dataset,
            "seed": self.plan.study.seed,
            "made": {
                "steps": card.steps,
                **card.model_dump(mode="json", include=told),
                **lowered(self.plan, dataset, card),
            },
            "share": self.plan.study.share,
            "task": self.plan.datasets[dataset].task,
            **self._asking(card.model),
            "templates": self.plan.templates[card.form],
            "items": f"{self.out}/items/{dataset}.parquet",
            "input": f"{self.out}/targets/{dataset}/{start}.parquet",
            "output": f"{self.out}/targets/{place}",
            "replies": f"{self.out}/made/{place}",
        }
        engine = self.plan.models[card.model].engine
        return self._spec("make_texts", fields, ENGINES[engine])

    def _references(self, dataset: str, card: References) -> str:
        """Return the spec of the references that a model writes for a dataset."""
        fields = {
            "dataset": dataset,
            "seed": self.plan.study.seed,
            "share": self.plan.study.share,
            "made": card.model_dump(mode="json", exclude={"model", "attempts"}),
            "task": self.plan.datasets[dataset].task,
            **self._asking(card.model),
            "templates": self.plan.templates[card.form],
            "items": f"{self.out}/items/{dataset}.parquet",
            "input": f"{self.out}/targets/{dataset}/{REFERENCES}.parquet",
            "kept": self.written_references(dataset),
            "output": f"{self.out}/targets/{dataset}/{ORIGINAL}.parquet",
            "replies": f"{self.out}/made/{dataset}/{ORIGINAL}.parquet",
        }
        engine = self.plan.models[card.model].engine
        return self._spec("write_references", fields, ENGINES[engine])

    def written_references(self, dataset: str) -> str | None:
        """Return where the references lie that a model writes for a dataset, if it does."""
        written = isinstance(self.plan.improved(dataset), References)
        return f"{self.out}/construction/{dataset}/{ORIGINAL}.parquet" if written else None

    def _asking(self, model: str) -> dict[str, Any]:
        """Return what a job is told of a model that it asks."""
        folder, data = self.plan.folders["model", model], self.plan.study.data
        return {"model": self._identity(model), "folder": folder, "data": data}

    def _identity(self, model: str) -> dict[str, Any]:
        """Return what of an asked model's card changes its replies."""
        card = self.plan.models[model]
        told = {"engine", "model", "name", "revision", "variant", "extra_body", "spelling"}
        told |= {"dtype", "quantization", "model_args"}  # of a model that a job loads
        told |= {"argv", "sha256", "sees"}  # of a program
        return card.model_dump(mode="json", include=told)

    def analysed(self, dataset: str, model: str) -> str:
        """Return where the analyses by a model lie that judges of a dataset are shown."""
        return f"{self.out}/construction/{dataset}/{ANALYSES}{model}.parquet"

    def analyse(self, dataset: str, model: str) -> str:
        """Return the spec of the analyses by a model that judges of a dataset are shown."""
        fields = {
            **analysing(self.plan, dataset, model),
            "dataset": dataset,
            "seed": self.plan.study.seed,
            **self._asking(model),
            "aspects": aspects_told(self.plan, dataset),
            "scales": scales_told(self.plan, dataset),
            "results": self.out,
            "output": self.analysed(dataset, model),
            "replies": f"{self.out}/made/{dataset}/{ANALYSES}{model}.parquet",
        }
        return self._spec("analyse", fields, ENGINES[self.plan.models[model].engine])
