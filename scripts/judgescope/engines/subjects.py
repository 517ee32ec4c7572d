"""The texts of a dataset that engines may see, read from the study's result tables."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from judgescope.core.cells import joined
from judgescope.core.names import ORIGINAL
from judgescope.core.rng import share_of
from judgescope.data.rated import BY_REFERENCE, NamesInData, SourcePart
from judgescope.engines.base import Subject
from judgescope.engines.subject_files import SubjectFiles
from judgescope.schema.tables import read_table


class Subjects:
    """The sets of targets of one dataset; each file is read when it is needed, once."""

    def __init__(self, files: SubjectFiles, dataset: str, seed: int) -> None:
        self.files = files
        self.dataset = dataset
        self.seed = seed
        self.sample = files.sample
        rows = read_table("items", files.items).to_pylist()
        self.items = {row["item"]: row for row in rows}
        self._analyses: dict[str, dict[tuple[str, str], dict[str, str]]] = {}
        self._sets: dict[str, list[Subject]] = {}

    def in_set(
        self, perturbation: str, share: float = 1.0, aspect: str = ""
    ) -> list[Subject]:
        """Return the targets of a set, for all items or for a share of them.

        With `aspect`, return only the targets of the sample that are judged on it.
        """
        if perturbation not in self._sets:
            self._sets[perturbation] = self._read(perturbation)
        subjects = self._sets[perturbation]
        if aspect and self.sample is not None:
            drawn = self.drawn.get((perturbation, aspect), frozenset())
            subjects = [subject for subject in subjects if subject.target in drawn]
        if share >= 1:
            return subjects
        chosen = share_of(self.items, share, seed=self.seed, dataset=self.dataset)
        return [subject for subject in subjects if subject.item in chosen]

    def with_originals(self, subjects: Sequence[Subject]) -> list[Subject]:
        """Return subjects, each with its original; they are originals or made from
        originals.
        """
        texts = {text.item: text.text for text in self.in_set(ORIGINAL)}
        return [replace(subject, original=texts[subject.item]) for subject in subjects]

    @property
    def references(self) -> list[str]:
        """Return the references of all items."""
        references = list[str]()
        for row in self.items.values():
            references += row["references"] or ()
        return references

    @property
    def sources(self) -> list[str]:
        """Return the sources of all items that have one."""
        return [row["source"] for row in self.items.values() if row["source"]]

    @property
    def names(self) -> NamesInData:
        """Return the names of items and systems in the dataset's own files."""
        items = {}
        for name, row in self.items.items():
            items[name] = json.loads(row["meta"]).get("id", name)
        assert self.files.names is not None
        path = Path(self.files.names)
        names = json.loads(path.read_text(encoding="utf-8"))
        return NamesInData(items, names["systems"], names.get("same_names", False))

    @cached_property
    def drawn(self) -> dict[tuple[str, str], frozenset[str]]:
        """Return (set of targets, aspect) -> its targets in the sample; the sample must
        exist.
        """
        assert self.sample is not None
        drawn: dict[tuple[str, str], set[str]] = {}
        columns = ["dataset", "perturbation", "aspect", "target"]
        for row in read_table("samples", self.sample, columns).to_pylist():
            if row["dataset"] == self.dataset:
                drawn.setdefault((row["perturbation"], row["aspect"]), set()).add(
                    row["target"]
                )
        return {key: frozenset(targets) for key, targets in drawn.items()}

    @cached_property
    def ratings(self) -> dict[tuple[str, str], list[float]]:
        """Return (target, aspect) -> people's ratings."""
        ratings: dict[tuple[str, str], list[float]] = {}
        for row in self._rating_rows:
            if row["target_b"] is None:
                ratings.setdefault((row["target"], row["aspect"]), []).append(
                    row["value"]
                )
        return ratings

    @cached_property
    def preferences(self) -> dict[str, list[tuple[str, str]]]:
        """Return aspect -> the pairs of texts that people compared, each as it was
        first shown.
        """
        return listed_pairs(
            (row["aspect"], row["target"], row["target_b"])
            for row in self._rating_rows
            if row["target_b"] is not None
        )

    @cached_property
    def _rating_rows(self) -> list[dict[str, Any]]:
        assert self.files.ratings is not None
        columns = ["target", "target_b", "aspect", "value"]
        return list(read_table("ratings", self.files.ratings, columns).to_pylist())

    def ratings_of(self, aspect: str) -> dict[str, list[float]]:
        """Return target -> people's ratings on an aspect."""
        return {
            target: values
            for (target, name), values in self.ratings.items()
            if name == aspect
        }

    def analyses(self, judge: str, aspect: str, model: str) -> Mapping[str, str]:
        """Return target -> the analysis by `model` that a judge is shown on an
        aspect.
        """
        if model not in self._analyses:
            analyses = self._analyses[model] = {}
            path = self.files.analyses[model]
            for row in read_table("analyses", path).to_pylist():
                key = row["judge"], joined(row["aspect"], row["criterion"])
                analyses.setdefault(key, {})[row["target"]] = row["text"]
        return self._analyses[model].get((judge, aspect), {})

    def _read(self, perturbation: str) -> list[Subject]:
        subjects = []
        path = self.files.targets[perturbation]
        for row in read_table("targets", path).to_pylist():
            if row["status"].startswith(("impossible", "failed")):
                continue
            item = self.items[row["item"]]
            references = list(item["references"])
            if (reference := _own_reference(row, item)) is not None:
                del references[reference]
            subjects.append(
                Subject(
                    target=row["target"],
                    item=row["item"],
                    system=row["system"],
                    perturbation=row["perturbation"],
                    text=row["text"],
                    source=item["source"],
                    parts=parts_of(item),
                    references=tuple(references),
                    step=row["step"],
                    length=row["length"],
                    meta=item["meta"],
                )
            )
        return subjects


def parts_of(item: Mapping[str, Any]) -> tuple[SourcePart, ...]:
    """Return the parts of the source in a row of the table `items`."""
    return tuple(SourcePart(**part) for part in item["parts"] or ())


def listed_pairs(
    choices: Iterable[tuple[str, str, str]],
) -> dict[str, list[tuple[str, str]]]:
    """Return aspect -> the pairs of targets in some choices, each as it first occurs.

    A choice consists of its aspect, the text that was shown first, and the other text.
    """
    pairs: dict[str, dict[frozenset[str], tuple[str, str]]] = {}
    for aspect, first, second in choices:
        pairs.setdefault(aspect, {}).setdefault(
            frozenset((first, second)), (first, second)
        )
    return {aspect: [*both.values()] for aspect, both in pairs.items()}


def _own_reference(row: Mapping[str, Any], item: Mapping[str, Any]) -> int | None:
    """Return the index of the reference that a target equals or was made from, else
    None.
    """
    _, by_reference, number = (row["parent"] or "").rpartition(BY_REFERENCE)
    if by_reference:
        return int(number)
    if row["perturbation"] == "systems":
        return None
    reference: int | None = json.loads(item["meta"]).get("original_reference")
    return reference
