"""What each job is told: one canonical JSON text per job, with all that changes its output.

Nothing else belongs in it: no price, address, concurrency or absolute path (design.md 3). The hash
of the code that the job reaches and the versions of packages whose behaviour shows are part of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace
from pydantic_core import to_jsonable_python as jsonable

from judgescope.core.canonical import canonical
from judgescope.core.cells import pack, split
from judgescope.core.paths import Paths
from judgescope.core.set_names import SYSTEMS
from judgescope.engines import ENGINES
from judgescope.engines.base import ErrorCounts
from judgescope.engines.computing import JoinsFile, ReplaySpec
from judgescope.methods.registry import METHODS
from judgescope.methods.specs import (
    AspectScale,
    JoinedTable,
    StatisticsSpec,
    TablesSpec,
    Turned,
)
from judgescope.parsing.judgment import Scale
from judgescope.plan.distilled import DistilledSpecs
from judgescope.plan.generators import analyses_of, graded, made_of, spender
from judgescope.plan.judges import (
    annotators,
    aspects_told,
    card_hash,
    engine_of,
    facts_of,
    price_of,
    scales_told,
    turned,
)
from judgescope.plan.pages import (
    explore_page,
    judge_cards,
    report_page,
    texts_page,
)
from judgescope.plan.preflight import CheckSpec, FileOwner, PreflightSpec
from judgescope.plan.result_tables import datasets_of, part_of, tables_of
from judgescope.plan.spending_limits import caps_of
from judgescope.plan.study import Cell, CellAspect, is_selected
from judgescope.replies.specs import AskSpec
from judgescope.report.specs import ExploreSpec, JudgeCardSpec, ReportSpec, SpotcheckSpec
from judgescope.schema.cards import (
    COMPARE,
    FOLDERS,
    CommandModel,
    Judge,
    OpenAIModel,
    RecordedModel,
)
from judgescope.scoring.computed import ComputeSpec, Read
from judgescope.scoring.specs import CollectSpec, Missing, ScoreSpec


class Specs(DistilledSpecs):
    """The specs of a study's jobs."""

    @cached_property
    def paths(self) -> Paths:
        """Return the files of the study."""
        return Paths(self.out)

    def preflight(self) -> str:
        """Return the spec that checks every file of the study against its card."""
        plan = self.plan
        owners = {
            name: FileOwner(
                files=jsonable(card.files),
                sha256=card.sha256,
                folder=plan.folders[kind, name],
                where=f"{FOLDERS[kind]}/{name}.yaml",
            )
            for kind, name, card in plan.cards()
            if getattr(card, "files", None)
        }
        return self._record(
            PreflightSpec,
            "preflight",
            study=plan.study.model_dump(mode="json", exclude=plan.study.keys_for("access")),
            cards={f"{kind}:{name}": card_hash(card) for kind, name, card in plan.cards()},
            owners=owners,
            data=plan.study.data,
            cells={name: len(plan.cells_of(name)) for name in plan.datasets},
            judges={name: engine_of(plan, name) for name in [*plan.judges, *plan.derived]},
            asked={
                name: sum(len(plan.cells_of(dataset, name)) for dataset in plan.datasets)
                for name in plan.models
                if plan.is_asked(name)
            },
            keys={
                name: card.api_key_env
                for name, card in plan.models.items()
                if isinstance(card, OpenAIModel) and card.api_key_env
            },
            programs={
                name: card.model_dump(mode="json")
                for name, card in plan.models.items()
                if isinstance(card, CommandModel)
            },
            output=self.paths.preflight(),
        )

    def check(self, config: Mapping[str, Any], source: str, unfetched: Iterable[str]) -> str:
        """Return the spec that tells what the preflight found, and what a run would ask."""
        spec = CheckSpec(
            config=dict(config),
            source=source,
            preflight=self.paths.preflight(),
            unfetched=list(unfetched),
        )
        return canonical(asdict(spec), strict=False)

    def budget(self) -> str:
        """Return what the study's jobs may spend together; no output depends on it."""
        study = self.plan.study
        return canonical({"study": study.ledger, "caps": caps_of(study)})

    def ask(self, dataset: str, model: str) -> str:
        """Return the spec of all that one model answers of a dataset; nothing of parsing."""
        cells = self.plan.cell_aspects_of(dataset, model)
        if self.plan.is_asked(model):
            place = self._of_cells("replies", dataset, model)
            return self._ask(dataset, model, cells, place, hashes=self.hashes(dataset, model))
        path, selected = self.joined(dataset, model), is_selected(self.plan, dataset)
        told = self._computing(dataset, model, cells)
        told["joined"] = JoinsFile(path=path, selected=selected) if path else None
        told["hashes"] = self.hashes(dataset, model)
        engine = self.plan.models[model].engine
        extra, packages = ENGINES[engine], engine
        if not self.plan.computes(model):
            told["replies"] = self._of_cells("replies", dataset, model)
            return self._record(ReplaySpec, "replay", extra, packages=packages, **told)
        told |= {kind: self._of_cells(kind, dataset, model) for kind in ("judgments", "scores")}
        told |= {"read": self._read(cells), "missing": self._missing}
        return self._record(ComputeSpec, "compute", extra, packages=packages, **told)

    def hashes(self, dataset: str, model: str) -> str:
        """Return the file that stands for all that one job writes of a model and dataset."""
        kind = "scores" if self.plan.computes(model) else "replies"
        return self.paths.hashes(kind, dataset, model)

    def joined(self, dataset: str, model: str) -> str | None:
        """Return where a recorded model's job tells how many of its rows were joined."""
        recorded = isinstance(self.plan.models[model], RecordedModel)
        return self.paths.joined(dataset, model) if recorded else None

    def joins(self, dataset: str) -> list[str]:
        """Return the files that tell how many rows of a dataset's recorded models were joined."""
        models = (name for name in self.plan.models if self.plan.cell_aspects_of(dataset, name))
        return [path for name in models if (path := self.joined(dataset, name))]

    def rate(self, dataset: str, name: str) -> str:
        """Return the spec of what a judge says of rated texts, before anchors are chosen."""
        aspect, judge = self.lowered(dataset, name), self.anchoring(name).judge
        assert judge is not None  # the rules say so
        cells = [CellAspect(dataset, SYSTEMS, judge, aspect)]
        place, model = self.construction(dataset, name, "rated"), self.plan.judges[judge].model
        if self.plan.is_asked(model):
            return self._ask(dataset, model, cells, place)
        told, engine = self._computing(dataset, model, cells), self.plan.models[model].engine
        extra = ENGINES[engine]
        return self._record(ReplaySpec, "replay", extra, packages=engine, replies=place, **told)

    def _computing(self, dataset: str, model: str, cells: Sequence[CellAspect]) -> dict[str, Any]:
        """Return what the engine of a model that is not asked has to know."""
        plan = self.plan
        names = dict.fromkeys(one.judge for one in cells)
        return {
            "dataset": dataset,
            "model": plan.models[model].model_dump(mode="json"),
            "judges": {
                name: plan.judges[name].model_dump(mode="json", include=Judge.keys_for("computing"))
                for name in names
            },
            "scales": scales_told(plan, dataset),
            "cells": pack(one[1:] for one in cells),
            "seed": plan.study.seed,
            "folder": plan.folders["model", model],
            "data": plan.study.data,
            "results": self.out,
            **self.sampled(dataset),
            "counted": self._counted(dataset, cells),
        }

    def _read(self, cells: Sequence[CellAspect]) -> list[Read]:
        """Return on which scales values are read, each once, with what is read on it."""
        on: dict[Scale | None, list[CellAspect]] = {}
        for one in cells:
            scale = self.scale(one.dataset, one.judge, one.aspect, one.perturbation)
            on.setdefault(scale, []).append(one)
        return [Read(cells=pack(one[1:] for one in own), scale=scale) for scale, own in on.items()]

    @property
    def _missing(self) -> Missing | None:
        """Return what counts for missing judgments, None where they stay out."""
        study = self.plan.study
        return None if study.missing == "drop" else Missing(policy=study.missing, seed=study.seed)

    def _ask(
        self,
        dataset: str,
        model: str,
        cells: Sequence[CellAspect],
        place: str,
        hashes: str | None = None,
    ) -> str:
        """Return the spec of what one model is asked; `place` has {} for a cell."""
        plan = self.plan
        judges = {name: plan.judges[name] for name in dict.fromkeys(one.judge for one in cells)}
        shown = {name: one.model for name in judges if (one := analyses_of(plan, name))}
        engine = plan.models[model].engine
        return self._record(
            AskSpec,
            "ask",
            ENGINES[engine],
            packages=engine,
            dataset=dataset,
            model=self._identity(model),
            folder=plan.folders["model", model],
            data=plan.study.data,
            seed=plan.study.seed,
            templates={
                judge.form: plan.templates[judge.form]
                for judge in judges.values()
                if plan.is_prompted(model)
            },
            aspects=aspects_told(plan, dataset),
            judges={
                name: judge.model_dump(
                    mode="json",
                    include=Judge.keys_for("asking"),
                    exclude={"shots": {"analyses": True}},
                )
                for name, judge in judges.items()
            },
            analysts=shown,
            **self._annotated(dataset, judges.values()),
            **self.sampled(dataset),
            **self.trained(model),
            scales=scales_told(plan, dataset),
            cells=pack(one[1:] for one in cells),
            output=self.out,
            replies=place,
            hashes=hashes,
        )

    def _annotated(self, dataset: str, judges: Iterable[Judge]) -> dict[str, str]:
        """Return the task of which annotators are told."""
        annotate = any(judge.annotation for judge in judges)
        return {"task": self.plan.datasets[dataset].task} if annotate else {}

    def _counted(self, dataset: str, cells: Sequence[CellAspect]) -> dict[str, ErrorCounts]:
        """Return how many errors texts have at most, for an oracle that counts them."""
        if not any(self.plan.is_oracle(cell.judge) for cell in cells):
            return {}
        sets = dict.fromkeys(cell.perturbation.partition(".")[0] for cell in cells)
        classes = graded(self.plan)
        return {
            name: ErrorCounts(most=self.plan.most_errors(dataset, name), in_classes=name in classes)
            for name in sets
        }

    def score(self, dataset: str, perturbation: str, judge: str) -> str:
        """Return the spec that parses and aggregates one cell."""
        cell = Cell(dataset, perturbation, judge)
        on: dict[Scale | None, list[str]] = {}
        for aspect in self.plan.aspects_in(cell):
            on.setdefault(self.scale(dataset, judge, aspect, perturbation), []).append(aspect)
        return self._record(
            ScoreSpec,
            "score",
            packages=self.locating(judge),
            cell=self.place(cell),
            replies=self.file("replies", cell),
            readings=[self.reading(dataset, judge, own, perturbation) for own in on.values()],
            targets=self.located(dataset, perturbation, judge),
            missing=self._missing,
        )

    def collect(self, dataset: str) -> str:
        """Return the spec that puts a dataset's cells together."""
        plan = self.plan
        cells = plan.cell_aspects_of(dataset)
        names = list(dict.fromkeys(one.judge for one in cells))
        asked = [name for name in names if self._is_asked(name)]
        return self._record(
            CollectSpec,
            "collect",
            dataset=dataset,
            cells=pack(one[1:] for one in cells),
            models={name: plan.model_of(name) for name in names},
            asked=asked,
            replied=[name for name in names if self.replies(name)],
            made={name: spender(name) for name in made_of(plan, dataset)},
            explained=self._explained,
            annotators=annotators(plan),
            repeated=[name for name in plan.judges if plan.repeats(name)],
            results=self.out,
        )

    def _is_asked(self, judge: str) -> bool:
        return judge in self.plan.judges and self.plan.is_asked(self.plan.judges[judge].model)

    def replies(self, judge: str) -> bool:
        """Return whether a judge has reply files: of what it was asked, or of what is recorded."""
        plan = self.plan
        return judge in plan.judges and not plan.computes(plan.judges[judge].model)

    def statistics(self, table: str, dataset: str) -> str:
        """Return the spec of one dataset's part of a result table."""
        plan = self.plan
        card, improved = plan.datasets[dataset], plan.improved(dataset)
        sets = plan.target_sets(dataset)
        levels = {name: p.level for name, p in plan.perturbations.items()}
        method, part = METHODS[table], part_of(self, table, dataset)
        judges = [
            name
            for name in plan.judges_of(dataset)
            if (method.votes or not plan.compares(name))
            and (method.oracles or not plan.is_oracle(name))
        ]
        known = {name: facts_of(plan, dataset, name) for name in judges}
        if "bought" in method.parts:
            known = {name: replace(one, price=price_of(plan, name)) for name, one in known.items()}
        return self._record(
            StatisticsSpec,
            "statistics",
            f"judgescope.methods.{table}",
            packages=table,
            table=table,
            dataset=dataset,
            seed=plan.study.seed,
            ratings=card.ratings,
            clean=card.fault_free_system,
            aspects={
                aspect: AspectScale(values=scale.values(), ends=(scale.min, scale.max))
                for aspect in plan.aspects_of(dataset)
                for scale in [plan.scale_of(dataset, aspect)]
            },
            judges=known,
            turned=self._turned(dataset, judges),
            excluded=[
                (judge, name, reason)
                for judge in judges
                for name in sets
                if (reason := plan.excluded(dataset, judge, name)) is not None
            ],
            perturbed=[
                (name, degree, levels[name])
                for name, degree in plan.perturbed(dataset)
                if f"{name}.{degree}" in sets
            ],
            allow_missing=plan.study.allow_missing,
            missing=None if plan.study.missing == "drop" else plan.study.missing,
            families=card.families,
            improved=card_hash(improved) if improved else None,
            **part.fields,
            reference_systems=card.reference_systems,
            exclude_reference_systems=plan.study.exclude_reference_systems,
            targets=sets,
            results=self.out,
            output=self.paths.statistics(table, dataset),
        )

    def _turned(self, dataset: str, judges: Iterable[str]) -> Turned | None:
        """Return what ratings and scores are taken from where the lowest is the best."""
        scales = {name: self.plan.scale_of(dataset, name) for name in self.plan.aspects_of(dataset)}
        people = {split(name)[0]: one.turn for name, one in scales.items() if one.turn is not None}
        scores = {
            name: own
            for name in judges
            if not self.plan.compares(name) and (own := turned(self.plan, dataset, name))
        }
        return Turned(ratings=people, scores=scores) if people or scores else None

    def inputs(self, table: str, dataset: str) -> list[str]:
        """Return the files that a table alone reads, beside what those of all tables read."""
        return list(part_of(self, table, dataset).files)

    def tabled(self, table: str) -> list[str]:
        """Return the datasets of a result table."""
        return datasets_of(self.plan, table)

    def joined_tables(self) -> str:
        """Return the spec that joins the datasets' parts of every result table."""
        tables = {
            self.paths.table(table).removesuffix(".parquet"): JoinedTable(
                parts=[self.paths.statistics(table, name) for name in self.tabled(table)],
                across=METHODS[table].across or None,
            )
            for table in self.tables
        }
        across = [METHODS[table].across for table in self.tables if METHODS[table].across]
        return self._record(TablesSpec, "tables", *across, tables=tables)

    @property
    def _workflow(self) -> Path:
        """Return the folder of the templates."""
        return self.scripts.parent / "workflow"

    def report(self, command: str) -> str:
        """Return the spec of the report; `command` is what reproduces the study."""
        joins = {name: self.joins(name) for name in self.plan.datasets}
        joined = {name: paths for name, paths in joins.items() if paths}
        fields = report_page(self.plan, self._workflow, self.out, self.tables)
        spec = self._record(ReportSpec, "report", command=command, joined=joined, **fields)
        return _plain(spec)

    def judge_cards(self) -> str:
        """Return the spec of the judges' cards."""
        fields = judge_cards(self.plan, self._workflow, self.out, self.tables)
        return self._record(JudgeCardSpec, "judge_card", **fields)

    def spotcheck(self) -> str:
        """Return the spec of the page that shows a sample of the damaged texts."""
        fields = texts_page(self.plan, self._workflow, self.out)
        return _plain(self._record(SpotcheckSpec, "spotcheck", **fields))

    def explore(self) -> str:
        """Return the spec of the page on which every judgment can be looked at."""
        fields = explore_page(self.plan, self._workflow, self.out)
        return self._record(ExploreSpec, "explore", **fields)

    @property
    def _explained(self) -> list[str]:
        """Return the judges that read prompts and give reasons, where a table reads these."""
        read = any("robust" in METHODS[name].parts for name in self.plan.study.methods)
        judges = self.plan.judges.items() if read else ()
        return [
            name
            for name, card in judges
            if self.plan.is_prompted(card.model) and card.form != COMPARE
        ]

    @cached_property
    def tables(self) -> list[str]:
        """Return the result tables of the study."""
        return tables_of(self.plan)


def _plain(spec: str) -> str:
    """Return the same JSON without "<": Snakemake writes it into a script of its own report."""
    return spec.replace("<", "\\u003c")
