"""A study of one dataset as tables on disk, and its page of all judgments."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import convert, to_builtins

from cell_files import write_part
from judgescope.core.cells import DERIVED
from judgescope.core.paths import Paths
from judgescope.perturb.targets import perturb_dataset
from judgescope.report.explore import render, write_shards
from judgescope.report.specs import ExploreSpec, PageFiles
from judgescope.schema.tables import table_of, write_table

Row = dict[str, Any]
DOUBLED = "The cat sat on the the mat"
"""What each text by a system begins with; the annotator marks `the the`."""


class ExploreStudy:
    """A folder with a study: originals, typos in them, texts by two systems.

    Three judges: `plain` says a number, `annotator` lists errors and draws twice, of
    which the second is refused in every third text, and `mean` is made from both.
    `marked` stands in every text, source, reply and explanation.
    """

    def __init__(self, folder: Path, items: int = 4, marked: str = "") -> None:
        self.folder, self.marked = folder, marked
        self.names = [f"n{number:03}" for number in range(items)]
        self.page = folder / "report" / "explore.html"
        paths = Paths(str(folder))
        sets = ("original", "typos.minor", "systems")
        self.files = PageFiles(
            items=paths.items("news"),
            targets={name: paths.targets("news", name) for name in sets},
            ratings=paths.ratings("news"),
            results=str(folder),
        )
        judges = {
            "plain": "openai, form score-only",
            "annotator": "openai, form critique",
        }
        self.sets = {
            "original": "originals",
            "typos.minor": "typos, minor",
            "systems": "systems",
        }
        card = {
            "name": "typos",
            "level": "character",
            "issue": "Mistyped.",
            "method": "rule",
        }
        self.spec: Row = {
            **{"code": "", "versions": {}, "templates": ""},
            **{"study": "tiny", "output": str(self.page)},
            "shards": str(self.page.with_suffix("")),
            "datasets": [
                {
                    **{"id": "news", "name": "News", "ratings": "people"},
                    "sets": [list(item) for item in self.sets.items()],
                    "aspects": [["fluency", "Fluency"], ["adequacy", "Adequacy"]],
                    "files": to_builtins(self.files),
                    "cells": [
                        [list(self.sets), [*judges, "mean"], ["fluency", "adequacy"]]
                    ],
                }
            ],
            "judges": judges | {"mean": "made from 2 judges"},
            "models": {**dict.fromkeys(judges, "m"), "mean": DERIVED},
            "perturbations": {
                "typos": card | {"kind": "once", "by": "by the rule typos"}
            },
        }
        self._texts()
        for perturbation, targets in self.targets.items():
            for aspect in ("fluency", "adequacy"):
                self._judge(perturbation, aspect, targets)

    def _write(self, table: str, path: str, rows: Sequence[Row]) -> None:
        write_table(table, table_of(table, list(rows)), self.folder / f"{path}.parquet")

    def _texts(self) -> None:
        table = [
            {
                "item": name,
                "source": f"Source of {name}. {self.marked}",
                "references": ["So."],
            }
            for name in self.names
        ]
        self._write(
            "items", "items/news", [{"dataset": "news", **each} for each in table]
        )
        texts = {
            name: f"The mayor of {name} opened the bridge. {self.marked}"
            for name in self.names
        }
        names = {"dataset": "news", "perturbation": "typos", "degree": "minor"}
        perturbed = perturb_dataset(
            "delete_characters", {"k": 2}, texts, seed=7, **names
        )
        original = [
            self._target(text, f"{text}:original", texts[text]) for text in texts
        ]
        typos = [
            self._target(
                each, f"{each}:typos", made.text, parent=f"{each}:original", step=1
            )
            | {"edits": [edit._asdict() for edit in made.edits]}
            for each, made in perturbed.items()
        ]
        systems = [
            self._target(
                name, f"{name}:{system}", f"{DOUBLED}. {self.marked}", system=system
            )
            for name in self.names
            for system in ("able", "best")
        ]
        self.targets = dict(zip(self.sets, (original, typos, systems), strict=True))
        for name, rows in self.targets.items():
            self._write("targets", f"targets/news/{name}", rows)
        rated = [
            {"dataset": "news", "target": system["target"], "aspect": "fluency"}
            | {"rater": rater, "value": value}
            for system in systems
            for rater, value in (("a", 4.0), ("b", 5.0))
        ]
        self._write("ratings", "ratings/news", rated)

    def _target(self, item: str, target: str, text: str, **more: Any) -> Row:
        fields = {
            "dataset": "news",
            "item": item,
            "target": target,
            "text": text,
            "status": "ok",
        }
        return {**fields, "edits": [], "step": 0, "system": "reference", **more}

    def _judge(self, perturbation: str, aspect: str, targets: Sequence[Row]) -> None:
        """Write what every judge says in one cell."""
        start = DOUBLED.index("the the")
        span = {
            "start": start,
            "end": start + 7,
            "location": "the the",
            "match": "exact",
        }
        span |= {
            "severity": 4.0,
            "category": "double",
            "explanation": f"Twice. {self.marked}",
        }
        lost = {"location": "a horse", "severity": 1.0, "match": "not_found"}
        fields: dict[str, list[Row]] = {"plain": [], "annotator": [], "mean": []}
        for at, target in enumerate(targets):
            asked = {
                "kind": "rate",
                "target": target["target"],
                "aspect": aspect,
                "key": "k",
            }
            ok = {
                "status": "ok",
                "parser": "x@1",
                "value": 1.0 + at % 5,
                "rule": "number",
            }
            fields["plain"].append(
                asked | ok | {"draw": 0, "text": f"{1 + at % 5} {self.marked}"}
            )
            keys = {"draw": 0, "text": "Bad. 3", "spans": [span, lost], "value": 3.0}
            fields["annotator"].append(asked | ok | keys)
            no = {
                "status": "refused",
                "value": None,
                "text": "No.",
                "spans": None,
                "draw": 1,
            }
            fields["annotator"].append(
                asked | ok | keys | (no if at % 3 == 0 else {"draw": 1})
            )
            fields["mean"].append(
                asked | ok | {"kind": "derive", "draw": 0, "value": 2.0}
            )
        for judge, rows in fields.items():
            self._cell(perturbation, judge, aspect, rows)

    def _part(
        self, kind: str, perturbation: str, judge: str, rows: Sequence[Row]
    ) -> None:
        model = self.spec["models"][judge]
        path = Paths(str(self.folder)).cell(kind, "news", model, perturbation, judge)
        write_part("answers" if kind == "replies" else kind, Path(path), rows)

    def _cell(
        self, perturbation: str, judge: str, aspect: str, rows: Sequence[Row]
    ) -> None:
        table = [{**row, "judge": judge} for row in rows]
        plain = [
            {name: each[name] for name in each if name != "text"} for each in table
        ]
        self._part("judgments", perturbation, judge, plain)
        if judge != "mean":
            kept = (
                "judge",
                "kind",
                "target",
                "aspect",
                "key",
                "draw",
                "text",
                "status",
            )
            collected = [{k: each[k] for k in kept} for each in table]
            self._part("replies", perturbation, judge, collected)
        keys = {
            "dataset": "news",
            "perturbation": perturbation,
            "judge": judge,
            "aspect": aspect,
        }
        scores = [
            {**keys, "target": row["target"], "value": row["value"], "n_draws": 1}
            | {"n_missing": 0, "estimator": "mean"}
            for row in table
            if row["draw"] == 0
        ]
        self._part("scores", perturbation, judge, scores)

    def compare(self) -> None:
        """Add a judge that is asked which of an item's two texts is better, in both
        orders.
        """
        self.spec["judges"]["versus"] = "openai, form compare"
        self.spec["datasets"][0]["cells"].append([["systems"], ["versus"], ["fluency"]])
        pairs = [
            {
                "target": f"{name}:{first}",
                "target_b": f"{name}:{second}",
                "aspect": "fluency",
            }
            for name in self.names
            for first, second in (("able", "best"), ("best", "able"))
        ]
        fields = {"judge": "versus", "kind": "compare", "draw": 0, "status": "ok"}
        self.spec["models"]["versus"] = "m"
        values = ("systems", "versus")
        read = {"value": 1.0, "label": "A", "rule": "choice"}
        self._part("judgments", *values, [fields | read | pair for pair in pairs])
        self._part(
            "replies", *values, [fields | pair | {"text": "A"} for pair in pairs]
        )
        known = {"dataset": "news", "perturbation": "systems", "judge": "versus"}
        scores = [{**known, **pair, "n_draws": 1, "n_missing": 0} for pair in pairs]
        self._part("scores", *values, scores)

    def write(self) -> Path:
        """Write the page and its shards; return the page."""
        write_shards(convert(self.spec, ExploreSpec), self.page.with_suffix(""))
        html = render(self.spec["study"])
        self.page.write_text(html, encoding="utf-8", newline="\n")
        return self.page
