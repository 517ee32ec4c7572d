"""The texts of a study of whose quality something is known, and what that is.

Of a text that people rated, it is all their ratings of an aspect; of a text in a row, how many
errors it has; of a text of a graded set, the rating for which it was made.
"""

from collections.abc import Callable, Iterator, Sequence
from math import fsum, isclose
from pathlib import Path
from typing import Final, NamedTuple

from judgescope.core.canonical import canonical
from judgescope.core.rng import stream_seed
from judgescope.engines.subjects import Subjects
from judgescope.people.form import check_made, rating_options, wording_of
from judgescope.plan import Plan
from judgescope.schema.tables import CHOSEN, read_table

RATED, ROW, GRADED = "rated", "row", "graded"
CONSTRUCTED: Final = (ROW, GRADED)
"""The kinds of texts whose quality is known by construction: they need no ratings by people."""


class Text(NamedTuple):
    """A text, one aspect of it, and what is known of that.

    `level` is the mean rating, the number of errors, or the rating of a graded set. `places` are
    the positions of its ratings on the aspect's scale, from 0, in order; empty if one is off it.
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
    places: tuple[int, ...] = ()

    @property
    def texts(self) -> tuple["Text", ...]:
        """Return the texts that a question about this text shows: itself."""
        return (self,)

    @property
    def group(self) -> str:
        """Return the group in which a question about this text alone counts."""
        return self.kind

    @property
    def sources(self) -> tuple[str, ...]:
        """Return its item."""
        return (self.item,)


def _table(out: Path, table: str, dataset: str, name: str = "") -> Path:
    return out / table / dataset / f"{name}.parquet" if name else out / table / f"{dataset}.parquet"


def _rated_files(plan: Plan, out: Path, dataset: str) -> list[Path]:
    if plan.datasets[dataset].ratings != "human":
        return []
    targets = _table(out, "targets", dataset, "systems")
    return [_table(out, "items", dataset), targets, _table(out, "ratings", dataset)]


def _rated(plan: Plan, out: Path, dataset: str) -> Iterator[Text]:
    """Yield the texts that people rated, once for each aspect."""
    subjects = Subjects(str(out), dataset, plan.study.seed).of("systems")
    ratings: dict[tuple[str, str], list[float]] = {}
    for row in read_table("ratings", _table(out, "ratings", dataset)).to_pylist():
        if row["target_b"] is None and row["value"] is not None:
            ratings.setdefault((row["aspect"], row["target"]), []).append(row["value"])
    for aspect in plan.plain_aspects(dataset):
        scale = plan.scale_of(dataset, aspect).values() or []
        for subject in subjects:
            if values := sorted(ratings.get((aspect, subject.target), [])):
                place = RATED, dataset, "systems", aspect, subject.target, subject.item
                mean = fsum(values) / len(values)
                yield Text(*place, subject.source, subject.text, mean, _places(values, scale))


def _places(ratings: Sequence[float], scale: Sequence[float]) -> tuple[int, ...]:
    places = [at for rating in ratings for at, value in enumerate(scale) if isclose(rating, value)]
    return tuple(places) if len(places) == len(ratings) else ()


def _first(plan: Plan, dataset: str) -> list[str]:
    """Return the set of the texts without errors; a row that a dataset brings has its own."""
    return [] if plan.datasets[dataset].gives_texts else ["original"]


def _row_files(plan: Plan, out: Path, dataset: str) -> list[Path]:
    rows = plan.perturbed(dataset, "row")
    sets = [*_first(plan, dataset), *(f"{name}.{degree}" for name, degree in rows)]
    targets = [_table(out, "targets", dataset, name) for name in sets]
    return [_table(out, "items", dataset), *targets] if rows else []


def _in_rows(plan: Plan, out: Path, dataset: str) -> Iterator[Text]:
    """Yield the texts in rows, once for each aspect that the row's card names, or else all."""
    subjects = Subjects(str(out), dataset, plan.study.seed)
    for name, degree in plan.perturbed(dataset, "row"):
        row, aspects = f"{name}.{degree}", plan.perturbations[name].aspects
        for aspect in plan.plain_aspects(dataset):
            if aspects and aspect not in aspects:
                continue
            for subject in (
                each for set in [*_first(plan, dataset), row] for each in subjects.of(set)
            ):
                place = ROW, dataset, row, aspect, subject.target, subject.item
                yield Text(*place, subject.source, subject.text, subject.step)


def _graded_files(plan: Plan, out: Path, dataset: str) -> list[Path]:
    sets = [f"{name}.{degree}" for name, degree in plan.perturbed(dataset, "graded")]
    files = [_table(out, table, dataset, name) for name in sets for table in ("targets", "graded")]
    return [_table(out, "items", dataset), *files] if sets else []


def _graded(plan: Plan, out: Path, dataset: str) -> Iterator[Text]:
    """Yield the texts of graded sets whose rating is on the aspect's scale."""
    subjects = Subjects(str(out), dataset, plan.study.seed)
    for name, degree in plan.perturbed(dataset, "graded"):
        graded = f"{name}.{degree}"
        made = {subject.target: subject for subject in subjects.of(graded)}
        for row in read_table("graded", _table(out, "graded", dataset, graded)).to_pylist():
            subject, aspect, rating = made.get(row["target"]), row["aspect"], row["rating"]
            if subject is None or row["status"] != CHOSEN:
                continue
            if aspect not in plan.plain_aspects(dataset):
                continue
            if places := _places([rating], plan.scale_of(dataset, aspect).values() or []):
                place = GRADED, dataset, graded, aspect, subject.target, subject.item
                yield Text(*place, subject.source, subject.text, rating, places)


class Kind(NamedTuple):
    """Where a dataset's texts of a kind come from: its files (none: it has no such texts), and how.

    `needs` says what a study must have for questions about such texts.
    """

    files: Callable[[Plan, Path, str], list[Path]]
    read: Callable[[Plan, Path, str], Iterator[Text]]
    needs: str


KINDS: Final = {
    RATED: Kind(
        _rated_files,
        _rated,
        "a dataset whose texts several people rated each, on scales that have a `step`",
    ),
    ROW: Kind(_row_files, _in_rows, "perturbations with several `steps`, which make texts in rows"),
    GRADED: Kind(
        _graded_files,
        _graded,
        "perturbations of method `graded`, which make texts of every rating",
    ),
}


def texts_of(plan: Plan, out: Path, kind: str) -> list[Text]:
    """Return all texts of a kind; raises UserError where they are not made yet."""
    files = {name: KINDS[kind].files(plan, out, name) for name in plan.evaluated}
    check_made([path for paths in files.values() for path in paths])
    made = [name for name, paths in files.items() if paths]
    return [text for name in made for text in KINDS[kind].read(plan, out, name)]


def name_of(plan: Plan, text: Text) -> str:
    """Return the part of question ids that stands for a text.

    It tells people nothing, and changes with the study's seed, with all that is shown of the text
    and its aspect, and with what is known of it.
    """
    scale = [rating_options(plan, text.dataset, text.aspect)] if text.kind == GRADED else []
    shown = canonical([*text, wording_of(plan, text.dataset, text.aspect), *scale])
    return f"{stream_seed(plan.study.seed, 'reevaluation', 'text', shown):032x}"
