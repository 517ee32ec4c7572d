"""What each job is told: one canonical JSON text per job, with all that changes its output.

Nothing else belongs in it: no price, address, concurrency or absolute path (design.md 3). The hash
of the code that the job reaches and the versions of packages whose behaviour shows are part of it.
"""

import hashlib
from collections.abc import Mapping
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from metajudge.canonical import canonical
from metajudge.cells import pack
from metajudge.data import ADAPTERS
from metajudge.engines import ENGINES
from metajudge.methods import METHODS
from metajudge.plan.code import code_hash
from metajudge.plan.study import Plan
from metajudge.schema.cards import FOLDERS, Scale

PACKAGES: dict[str, list[str]] = {
    "perturb.py": ["typo"],
    "estimate.py": ["numpy", "rapidfuzz", "scipy"],
    "lexical": ["nltk", "pyspellchecker", "rouge-score", "sacrebleu"],
    "control": ["numpy"],
}
"""Script or engine -> the packages whose behaviour shows in its output."""
PACKAGES["report.py"] = sorted(
    {"altair", "jinja2", "vl-convert-python"}.union(*PACKAGES.values())  # the report names all
)

CONTINUOUS = {"length", "shuffled"}
"""Control forms whose values lie off the aspect's grid."""


def card_hash(*cards: BaseModel) -> str:
    """Return eight hex digits that change with any key of the cards."""
    text = canonical([card.model_dump(mode="json") for card in cards])
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@cache
def _version(package: str) -> str:
    return version(package)


class Specs:
    """The specs of a study's jobs; `home` is the workflow's folder, `out` the study's results."""

    def __init__(self, plan: Plan, home: Path, out: str) -> None:
        self.plan, self.scripts, self.out = plan, home / "scripts", out

    def _spec(self, script: str, fields: Mapping[str, Any], *extra: str, packages: str = "") -> str:
        """Return the canonical spec of a job of `script`, which will load the modules `extra`."""
        used = PACKAGES.get(script, []) + PACKAGES.get(packages, [])
        code = code_hash(self.scripts, script, *extra)
        return canonical(
            {**fields, "code": code, "versions": {name: _version(name) for name in used}}
        )

    def preflight(self) -> str:
        """Return the spec that checks every file of the study against its card."""
        plan = self.plan
        owners = {
            name: {
                "card": card.model_dump(include={"files", "sha256"}),
                "folder": plan.folders[kind, name],
                "where": f"{FOLDERS[kind]}/{name}.yaml",
            }
            for kind, name, card in plan.cards()
            if hasattr(card, "files")
        }
        fields = {
            "study": plan.study.model_dump(mode="json", exclude={"data"}),
            "cards": {f"{kind}:{name}": card_hash(card) for kind, name, card in plan.cards()},
            "owners": owners,
            "data": plan.study.data,
            "cells": {name: len(plan.cells_of(name)) for name in plan.datasets},
            "judges": {name: self.engine(name) for name in plan.judges},
            "output": f"{self.out}/preflight.json",
        }
        return self._spec("preflight.py", fields)

    def check(self) -> str:
        """Return the spec that tells what the preflight found."""
        return canonical({"preflight": f"{self.out}/preflight.json"})

    def ingest(self, dataset: str) -> str:
        """Return the spec that reads a dataset; `data` and `folder` only say where files lie."""
        card = self.plan.datasets[dataset]
        output = {
            "items": f"{self.out}/items/{dataset}.parquet",
            "systems": f"{self.out}/targets/{dataset}/systems.parquet",
            "original": f"{self.out}/targets/{dataset}/original.parquet",
            "ratings": f"{self.out}/ratings/{dataset}.parquet",
            "report": f"{self.out}/items/{dataset}.json",
        }
        fields = {
            "dataset": card.model_dump(mode="json"),
            "folder": self.plan.folders["dataset", dataset],
            "data": self.plan.study.data,
            "seed": self.plan.study.seed,
            "output": output,
        }
        return self._spec("ingest.py", fields, ADAPTERS[card.format])

    def perturb(self, dataset: str, perturbation: str, degree: str) -> str:
        """Return the spec that damages a dataset's originals."""
        card = self.plan.perturbations[perturbation]
        targets = f"{self.out}/targets/{dataset}"
        options = card.degrees_for(dataset)[degree]  # type: ignore[index]
        fields = {
            "dataset": dataset,
            "seed": self.plan.study.seed,
            "perturbation": perturbation,
            "degree": degree,
            "rule": card.rule,
            "options": options.model_dump(exclude_none=True),
            "input": f"{targets}/original.parquet",
            "output": f"{targets}/{perturbation}.{degree}.parquet",
        }
        return self._spec("perturb.py", fields)

    def ask(self, dataset: str, model: str) -> str:
        """Return the spec of all that one model answers of a dataset; nothing of parsing."""
        plan = self.plan
        card = plan.models[model]
        cells = plan.cells_of(dataset, model)
        judges = {cell.judge: plan.judges[cell.judge] for cell in cells}
        asked = {"judge", "model", "form", "against", "scale", "draws"}
        fields = {
            "dataset": dataset,
            "model": card.model_dump(mode="json"),
            "folder": plan.folders["model", model],
            "data": plan.study.data,
            "seed": plan.study.seed,
            "judges": {
                name: judge.model_dump(mode="json", include=asked) for name, judge in judges.items()
            },
            "scales": {
                aspect: plan.datasets[dataset].aspects[aspect].model_dump(mode="json")
                for aspect in plan.aspects_of(dataset)
            },
            "cells": pack(cell[1:] for cell in cells),
            "output": self.out,
        }
        engine = ENGINES[card.engine]
        return self._spec("ask.py", fields, engine, packages=card.engine)

    def score(self, dataset: str, perturbation: str, judge: str, aspect: str) -> str:
        """Return the spec that parses and aggregates one cell."""
        card = self.plan.judges[judge]
        scale = self.scoring_scale(dataset, judge, aspect)
        place = f"{dataset}/{perturbation}/{judge}/{aspect}.parquet"
        fields = {
            "cell": {
                "dataset": dataset,
                "perturbation": perturbation,
                "judge": judge,
                "aspect": aspect,
            },
            "scale": scale
            and {"min": scale.min, "max": scale.max, "step": scale.step, "labels": scale.labels},
            "parser": self.parser(judge),
            "estimator": card.estimator,
            "input": f"{self.out}/replies/{place}",
            "judgments": f"{self.out}/judgments/{place}",
            "scores": f"{self.out}/scores/{place}",
        }
        return self._spec("score.py", fields)

    def collect(self, dataset: str) -> str:
        """Return the spec that puts a dataset's cells together."""
        fields = {
            "dataset": dataset,
            "cells": pack(cell[1:] for cell in self.plan.cells_of(dataset)),
            "output": self.out,
        }
        return self._spec("collect.py", fields)

    def statistics(self, table: str, dataset: str) -> str:
        """Return the spec of one dataset's part of a result table."""
        plan = self.plan
        card = plan.datasets[dataset]
        sets = plan.target_sets(dataset)
        levels = {name: p.level for name, p in plan.perturbations.items()}
        judges = plan.judges_of(dataset)
        fields = {
            "table": table,
            "dataset": dataset,
            "seed": plan.study.seed,
            "ratings": card.ratings,
            "clean": card.clean,
            "aspects": {
                aspect: {"values": card.aspects[aspect].values()}
                for aspect in plan.aspects_of(dataset)
            },
            "judges": {name: self._judge(dataset, name) for name in judges},
            "excluded": [
                [judge, name, reason]
                for judge in judges
                for name in sets
                if (reason := plan.excluded(dataset, judge, name)) is not None
            ],
            "perturbed": [
                [name, degree, levels[name]]
                for name, degree in plan.perturbed(dataset)
                if f"{name}.{degree}" in sets
            ],
            "allow_missing": plan.study.allow_missing,
            "targets": sets,
            "results": self.out,
            "output": f"{self.out}/statistics/{table}/{dataset}.parquet",
        }
        return self._spec("estimate.py", fields, METHODS[table])

    def table(self, table: str) -> str:
        """Return the spec that joins the datasets' parts of a result table."""
        fields = {
            "parts": [
                f"{self.out}/statistics/{table}/{name}.parquet" for name in self.plan.datasets
            ],
            "output": f"{self.out}/tables/{table}",
        }
        return self._spec("table.py", fields)

    def report(self, command: str) -> str:
        """Return the spec of the report; `command` is what reproduces the study."""
        plan = self.plan
        templates = sorted((self.scripts.parent / "workflow" / "report").iterdir())
        look = "".join(path.read_text(encoding="utf-8") for path in templates)
        fields = {
            "study": plan.study.model_dump(mode="json", exclude={"data"}),
            "command": command,
            "templates": hashlib.sha256(look.encode()).hexdigest()[:16],
            "tables": {name: f"{self.out}/tables/{name}.parquet" for name in self.tables},
            "datasets": {
                name: {
                    "name": card.name,
                    "task": card.task,
                    "ratings": card.ratings,
                    "licence": card.licence,
                    "citation": card.citation,
                    "aspects": plan.aspects_of(name),
                    "report": f"{self.out}/items/{name}.json",
                }
                for name, card in plan.datasets.items()
            },
            "judges": {
                name: {
                    "engine": self.engine(name),
                    "form": judge.form,
                    "against": judge.against if self.engine(name) == "lexical" else None,
                    "parser": self.parser(name),
                    "draws": judge.draws,
                    "model": judge.model,
                }
                for name, judge in plan.judges.items()
            },
            "aspects": {name: card.name for name, card in plan.aspects.items()},
            "perturbations": {
                name: {"name": card.name, "level": card.level}
                for name, card in plan.perturbations.items()
            },
            "output": f"{self.out}/report/index.html",
        }
        return self._spec("report.py", fields)

    @cached_property
    def tables(self) -> list[str]:
        """Return the result tables of the study."""
        own: list[str] = list(self.plan.study.methods)
        return [*own, *(["perturbations"] if self.plan.perturbations else []), "coverage", "cost"]

    def engine(self, judge: str) -> str:
        """Return the engine that answers for a judge."""
        engine: str = self.plan.models[self.plan.judges[judge].model].engine
        return engine

    def parser(self, judge: str) -> str:
        """Return the judge's parser: its card's, else `score` for replies in words."""
        card = self.plan.judges[judge]
        model = self.plan.models[card.model]
        words = card.form == "rules" or (model.engine == "recorded" and model.rows.reply)
        return card.parser or ("score" if words else "number")

    def scoring_scale(self, dataset: str, judge: str, aspect: str) -> Scale | None:
        """Return the scale on which a judge's replies are read; None: any number."""
        card = self.plan.judges[judge]
        if card.scale is not None:
            return card.scale
        rated = self.plan.datasets[dataset].aspects[aspect]
        continuous = Scale(min=rated.min, max=rated.max, step=None, labels=[])
        engine = self.engine(judge)
        if engine == "lexical":
            return continuous if card.form == "rules" else None
        if engine == "control":
            grid = None if card.form == "length" else continuous
            return grid if card.form in CONTINUOUS else rated
        return rated if self.parser(judge) != "number" else None

    def _judge(self, dataset: str, judge: str) -> dict[str, Any]:
        """Return what statistics need to know of a judge."""
        card = self.plan.judges[judge]
        model = self.plan.models[card.model]
        aspects = self.plan.aspects_of(dataset)
        scales = {aspect: self.scoring_scale(dataset, judge, aspect) for aspect in aspects}
        return {
            "card": card_hash(card, model),
            "engine": model.engine,
            "form": card.form,
            "draws": card.draws,
            "parser": self.parser(judge),
            # the values that one reply can have; null: any number
            "grid": {aspect: scale and scale.values() for aspect, scale in scales.items()},
            "discrete": card.draws == 1 or card.estimator == "mode",
        }
