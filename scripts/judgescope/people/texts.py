"""The texts of a study whose quality is known, and what it is.

Of a text that people rated, all their ratings of an aspect are known; of a text of an
error-injection chain (a row), the number of its errors; of a text of a graded set, the rating for
which it was made.
"""

from collections.abc import Iterator
from math import fsum, isclose
from pathlib import Path
from typing import Final, Literal, NamedTuple

from judgescope.core.canonical import canonical
from judgescope.core.rng import stream_seed
from judgescope.engines.subjects import Subjects
from judgescope.people.form import check_made, rating_options, subjects_of, wording_of
from judgescope.plan import Plan
from judgescope.schema.tables import CHOSEN, read_table

RATED, ROW, GRADED = "rated", "row", "graded"
"""The kinds of texts."""
CONSTRUCTED: Final = (ROW, GRADED)
"""The kinds of texts whose quality is known by construction."""
NEEDS: Final = {
    RATED: "a dataset whose texts several people rated each, on scales that have a `step`",
    ROW: "perturbations with several `steps`, which make texts in rows",
    GRADED: "perturbations of method `graded`, which make texts of every rating",
}
"""What a study must have for questions about texts of a kind."""


class Text(NamedTuple):
    """A text, one aspect of it, and its known quality.

    `level` is the mean rating, the number of errors, or the rating of a graded set. `positions` are
    those of its ratings on the aspect's scale, from 0, in order; empty if one is off it.
    """

    kind: str
    dataset: str
    set: str
    aspect: str
    target: str
    item: str
    source: str | None
    text: str
    level: float
    positions: tuple[int, ...] = ()


def texts_of(plan: Plan, out: Path, kind: str) -> list[Text]:
    """Return all texts of a kind; raises UserError if they are not made yet."""
    files = {name: files_of(plan, out, kind, name) for name in plan.evaluated}
    check_made([path for paths in files.values() for path in paths])
    read = {RATED: _rated, ROW: _in_rows, GRADED: _graded}[kind]
    return [
        text
        for name, paths in files.items()
        if paths
        for text in read(plan, out, subjects_of(plan, out, name))
    ]


def files_of(plan: Plan, out: Path, kind: str, dataset: str) -> list[Path]:
    """Return the files that texts of a kind are read from; none if a dataset has no such texts."""
    names = []
    if kind == RATED and plan.datasets[dataset].ratings == "human":
        names = [f"targets/{dataset}/systems", f"ratings/{dataset}"]
    elif kind == ROW and (rows := _sets(plan, dataset, "row")):
        names = [f"targets/{dataset}/{name}" for name in [*_originals(plan, dataset), *rows]]
    elif kind == GRADED:
        sets = _sets(plan, dataset, "graded")
        names = [f"{table}/{dataset}/{name}" for name in sets for table in ("targets", "graded")]
    return [out / f"{name}.parquet" for name in [f"items/{dataset}", *names] if names]


def _sets(plan: Plan, dataset: str, kind: Literal["row", "graded"]) -> list[str]:
    return [f"{name}.{degree}" for name, degree in plan.perturbed(dataset, kind)]


def _originals(plan: Plan, dataset: str) -> list[str]:
    """Return the set of the texts without errors; a row that a dataset brings has its own."""
    return [] if plan.datasets[dataset].gives_texts else ["original"]


def _rated(plan: Plan, out: Path, subjects: Subjects) -> Iterator[Text]:
    """Yield the texts that people rated, once for each aspect."""
    dataset = subjects.dataset
    ratings: dict[tuple[str, str], list[float]] = {}
    for row in read_table("ratings", out / "ratings" / f"{dataset}.parquet").to_pylist():
        if row["target_b"] is None and row["value"] is not None:
            ratings.setdefault((row["aspect"], row["target"]), []).append(row["value"])
    for aspect in plan.plain_aspects(dataset):
        for subject in subjects.of("systems"):
            if values := sorted(ratings.get((aspect, subject.target), [])):
                place = RATED, dataset, "systems", aspect, subject.target, subject.item
                positions = _positions(plan, dataset, aspect, values)
                mean = fsum(values) / len(values)
                yield Text(*place, subject.source, subject.text, mean, positions)


def _positions(plan: Plan, dataset: str, aspect: str, ratings: list[float]) -> tuple[int, ...]:
    scale = plan.scale_of(dataset, aspect).values() or []
    found = [at for rating in ratings for at, value in enumerate(scale) if isclose(rating, value)]
    return tuple(found) if len(found) == len(ratings) else ()


def _in_rows(plan: Plan, out: Path, subjects: Subjects) -> Iterator[Text]:
    """Yield the texts in rows, once for each aspect that the row's card names, or else all."""
    dataset = subjects.dataset
    for row in _sets(plan, dataset, "row"):
        aspects = plan.perturbations[row.partition(".")[0]].aspects
        texts = [text for name in [*_originals(plan, dataset), row] for text in subjects.of(name)]
        for aspect in plan.plain_aspects(dataset):
            for subject in texts if not aspects or aspect in aspects else ():
                place = ROW, dataset, row, aspect, subject.target, subject.item
                yield Text(*place, subject.source, subject.text, subject.step)


def _graded(plan: Plan, out: Path, subjects: Subjects) -> Iterator[Text]:
    """Yield the texts of graded sets whose rating is on the aspect's scale."""
    dataset = subjects.dataset
    for name in _sets(plan, dataset, "graded"):
        made = {subject.target: subject for subject in subjects.of(name)}
        for row in read_table("graded", out / "graded" / dataset / f"{name}.parquet").to_pylist():
            subject, aspect, rating = made.get(row["target"]), row["aspect"], row["rating"]
            used = row["status"] == CHOSEN and aspect in plan.plain_aspects(dataset)
            if subject and used and (at := _positions(plan, dataset, aspect, [rating])):
                place = GRADED, dataset, name, aspect, subject.target, subject.item
                yield Text(*place, subject.source, subject.text, rating, at)


def name_of(plan: Plan, text: Text) -> str:
    """Return the part of question ids that stands for a text.

    It tells people nothing, and changes with the study's seed, with all that is shown of the text
    and its aspect, and with its known quality.
    """
    options = [rating_options(plan, text.dataset, text.aspect)] if text.kind == GRADED else []
    shown = canonical([*text, wording_of(plan, text.dataset, text.aspect), *options])
    return f"{stream_seed(plan.study.seed, 'reevaluation', 'text', shown):032x}"
