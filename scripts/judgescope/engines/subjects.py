"""What engines may see of a dataset's targets, read from its tables."""

import json
from collections.abc import Mapping
from functools import cached_property
from math import fsum
from pathlib import Path
from typing import Any

from judgescope.core.cells import joined
from judgescope.core.rng import share_of
from judgescope.data.rated import BY_REFERENCE, Names
from judgescope.engines.base import Subject
from judgescope.schema.tables import read_table


class Subjects:
    """The sets of targets of one dataset in a study's results, each read once.

    `sample` is the file of those of them that are judged, and on what, where it is not all.
    """

    def __init__(self, out: str, dataset: str, seed: int, sample: str | None = None) -> None:
        self.dataset, self.seed, self.sample = dataset, seed, sample
        self.place = f"{out}/targets/{dataset}/{{}}.parquet"
        rows = read_table("items", f"{out}/items/{dataset}.parquet").to_pylist()
        self.items = {row["item"]: row for row in rows}
        self.ratings = f"{out}/ratings/{dataset}.parquet"
        self.analysed = f"{out}/construction/{dataset}/analyses.{{}}.parquet"
        self._report = Path(f"{out}/items/{dataset}.json")
        self._analyses: dict[str, dict[tuple[str, str], dict[str, str]]] = {}
        self._sets: dict[str, list[Subject]] = {}

    def of(self, perturbation: str, share: float = 1.0, aspect: str = "") -> list[Subject]:
        """Return the targets that were made, or those of a share of the items.

        With `aspect`, of a sample only those that are judged on it. None has the reference that it
        was made from beside it.
        """
        if perturbation not in self._sets:
            self._sets[perturbation] = self._read(perturbation)
        found = self._sets[perturbation]
        if aspect and self.sample is not None:
            drawn = self.drawn.get((perturbation, aspect), frozenset())
            found = [one for one in found if one.target in drawn]
        if share >= 1:
            return found
        chosen = share_of(self.items, share, seed=self.seed, dataset=self.dataset)
        return [one for one in found if one.item in chosen]

    @property
    def names(self) -> Names:
        """Return the names of items and systems in the data."""
        items = {name: json.loads(row["meta"]).get("id", name) for name, row in self.items.items()}
        report = json.loads(self._report.read_text(encoding="utf-8"))
        return Names(items, report["systems"], report.get("same_names", False))

    @cached_property
    def drawn(self) -> dict[tuple[str, str], frozenset[str]]:
        """Return (set of targets, aspect) -> the targets of the sample; there must be one."""
        assert self.sample is not None
        found: dict[tuple[str, str], set[str]] = {}
        names = ["dataset", "perturbation", "aspect", "target"]
        for row in read_table("samples", self.sample, names).to_pylist():
            if row["dataset"] == self.dataset:
                found.setdefault((row["perturbation"], row["aspect"]), set()).add(row["target"])
        return {place: frozenset(targets) for place, targets in found.items()}

    def ratings_of(self, aspect: str) -> dict[str, list[float]]:
        """Return target -> people's ratings on an aspect."""
        told: dict[str, list[float]] = {}
        names = ["target", "aspect", "value"]
        for row in read_table("ratings", self.ratings, names).to_pylist():
            if row["aspect"] == aspect:
                told.setdefault(row["target"], []).append(row["value"])
        return told

    def mean_ratings(self, aspect: str) -> dict[str, float]:
        """Return target -> the mean of people's ratings on an aspect."""
        told = self.ratings_of(aspect)
        return {target: fsum(values) / len(values) for target, values in told.items()}

    def analyses(self, judge: str, aspect: str, model: str) -> Mapping[str, str]:
        """Return target -> the analysis by a model that a judge is shown, in a cell's aspect."""
        if model not in self._analyses:
            found = self._analyses[model] = {}
            for row in read_table("analyses", self.analysed.format(model)).to_pylist():
                place = row["judge"], joined(row["aspect"], row["criterion"])
                found.setdefault(place, {})[row["target"]] = row["text"]
        return self._analyses[model].get((judge, aspect), {})

    def _read(self, perturbation: str) -> list[Subject]:
        found = []
        for row in read_table("targets", self.place.format(perturbation)).to_pylist():
            if row["status"].startswith(("impossible", "failed")):
                continue
            item = self.items[row["item"]]
            references = list(item["references"])
            if (own := _own_reference(row, item)) is not None:
                del references[own]
            found.append(
                Subject(
                    target=row["target"],
                    item=row["item"],
                    system=row["system"],
                    perturbation=row["perturbation"],
                    text=row["text"],
                    source=item["source"],
                    references=tuple(references),
                    step=row["step"],
                )
            )
        return found


def _own_reference(row: Mapping[str, Any], item: Mapping[str, Any]) -> int | None:
    """Return which of an item's references a target is or was made from, None of another text."""
    _, told, number = (row["parent"] or "").rpartition(BY_REFERENCE)
    if told:
        return int(number)
    if row["perturbation"] == "systems":
        return None
    own: int | None = json.loads(item["meta"]).get("original_reference")
    return own
