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
from judgescope.people.pages import Options
from judgescope.people.pairs.questions import wording_of
from judgescope.plan import Plan
from judgescope.schema.tables import CHOSEN, read_table

RATED, ROW, GRADED = "rated", "row", "graded"


class Text(NamedTuple):
    """A text, one aspect of it, and what is known of that.

    `level` is the mean rating, the number of errors, or the rating of a graded set. `places` says
    of each rating where it stands on the aspect's scale, from 0, in order; empty where one is off
    the scale.
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


class Kind(NamedTuple):
    """Where a dataset's texts of a kind come from: its files (none: it has no such texts), and how.

    `needs` says what a study must have for questions about such texts.
    """

    files: Callable[[Plan, Path, str], list[Path]]
    read: Callable[[Plan, Path, str], Iterator[Text]]
    needs: str


def _rated_files(plan: Plan, out: Path, dataset: str) -> list[Path]:
    if plan.datasets[dataset].ratings != "human":
        return []
    return [_items(out, dataset), _set(out, dataset, "systems"), _ratings(out, dataset)]


def _items(out: Path, dataset: str) -> Path:
    return out / "items" / f"{dataset}.parquet"


def _ratings(out: Path, dataset: str) -> Path:
    return out / "ratings" / f"{dataset}.parquet"


def _rated(plan: Plan, out: Path, dataset: str) -> Iterator[Text]:
    """Yield what people rated, once for each aspect."""
    subjects = Subjects(str(out), dataset, plan.study.seed).of("systems")
    told: dict[tuple[str, str], list[float]] = {}
    for row in read_table("ratings", _ratings(out, dataset)).to_pylist():
        if row["target_b"] is None and row["value"] is not None:
            told.setdefault((row["aspect"], row["target"]), []).append(row["value"])
    for aspect in plan.plain_aspects(dataset):
        values = plan.scale_of(dataset, aspect).values() or []
        for one in subjects:
            if own := sorted(told.get((aspect, one.target), [])):
                place = RATED, dataset, "systems", aspect, one.target, one.item
                mean = fsum(own) / len(own)
                yield Text(*place, one.source, one.text, mean, _places(own, values))


def _places(ratings: Sequence[float], values: Sequence[float]) -> tuple[int, ...]:
    found = [at for one in ratings for at, value in enumerate(values) if isclose(one, value)]
    return tuple(found) if len(found) == len(ratings) else ()


def _row_files(plan: Plan, out: Path, dataset: str) -> list[Path]:
    rows = plan.perturbed(dataset, "row")
    sets = [*_first(plan, dataset), *(f"{name}.{degree}" for name, degree in rows)]
    targets = [_set(out, dataset, name) for name in sets]
    return [_items(out, dataset), *targets] if rows else []


def _set(out: Path, dataset: str, name: str) -> Path:
    return out / "targets" / dataset / f"{name}.parquet"


def _first(plan: Plan, dataset: str) -> list[str]:
    """Return the set of the texts without errors; a row that a dataset brings has its own."""
    return [] if plan.datasets[dataset].gives_texts else ["original"]


def _in_rows(plan: Plan, out: Path, dataset: str) -> Iterator[Text]:
    """Yield the texts in rows, once for each aspect that the row's card names, or else all."""
    subjects = Subjects(str(out), dataset, plan.study.seed)
    for name, degree in plan.perturbed(dataset, "row"):
        row, only = f"{name}.{degree}", plan.perturbations[name].aspects
        for aspect in plan.plain_aspects(dataset):
            if not only or aspect in only:
                sets = [*_first(plan, dataset), row]
                for one in (text for name in sets for text in subjects.of(name)):
                    place = ROW, dataset, row, aspect, one.target, one.item
                    yield Text(*place, one.source, one.text, one.step)


def _graded_files(plan: Plan, out: Path, dataset: str) -> list[Path]:
    sets = [f"{name}.{degree}" for name, degree in plan.perturbed(dataset, "graded")]
    files = [path for one in sets for path in (_set(out, dataset, one), _grades(out, dataset, one))]
    return [_items(out, dataset), *files] if sets else []


def _grades(out: Path, dataset: str, name: str) -> Path:
    return out / "graded" / dataset / f"{name}.parquet"


def _graded(plan: Plan, out: Path, dataset: str) -> Iterator[Text]:
    """Yield the texts of graded sets whose rating is on the aspect's scale."""
    subjects = Subjects(str(out), dataset, plan.study.seed)
    for name, degree in plan.perturbed(dataset, "graded"):
        made = {one.target: one for one in subjects.of(f"{name}.{degree}")}
        for row in read_table("graded", _grades(out, dataset, f"{name}.{degree}")).to_pylist():
            one, aspect, rating = made.get(row["target"]), row["aspect"], row["rating"]
            if one is None or row["status"] != CHOSEN or aspect not in plan.plain_aspects(dataset):
                continue
            if places := _places([rating], plan.scale_of(dataset, aspect).values() or []):
                place = GRADED, dataset, f"{name}.{degree}", aspect, one.target, one.item
                yield Text(*place, one.source, one.text, rating, places)


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
CONSTRUCTED: Final = (ROW, GRADED)
"""The kinds that are made, so that their quality is known, and need no ratings by people."""


def name_of(plan: Plan, text: Text) -> str:
    """Return what stands for a text in the names of questions.

    It tells nothing by itself, and changes with the study's seed, with all that people are shown
    of the text and its aspect, and with what is known of it.
    """
    shown = [rating_options(plan, text)] if text.kind == GRADED else []
    told = canonical([*text, wording_of(plan, text.dataset, text.aspect), *shown])
    return f"{stream_seed(plan.study.seed, 'reevaluation', 'text', told):032x}"


def rating_options(plan: Plan, text: Text) -> Options:
    """Return the values that people may give a text, worst first, and how they are told of them."""
    scale = plan.scale_of(text.dataset, text.aspect)
    values = [f"{value:.12g}" for value in scale.values() or []]
    labels = [f": {label}" for label in scale.labels] or [""] * len(values)
    ends = [" (worst)", *[""] * (len(values) - 2), " (best)"]
    told = zip(values, labels, ends, strict=True)
    return tuple((value, f"{value}{label}{end}") for value, label, end in told)
