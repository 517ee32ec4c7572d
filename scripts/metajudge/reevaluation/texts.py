"""The texts of a study of whose quality something is known, and what that is.

Of a text that people rated, it is all their ratings of an aspect; of a text in a row, how many
errors it has.
"""

from collections.abc import Callable, Iterator, Sequence
from math import fsum, isclose
from pathlib import Path
from typing import Final, NamedTuple

from metajudge.canonical import canonical
from metajudge.engines.subjects import Subjects
from metajudge.plan import Plan
from metajudge.schema.tables import read_table
from metajudge.streams import stream_seed
from metajudge.votes.questions import wording_of

RATED, ROW = "rated", "row"


class Text(NamedTuple):
    """A text, one aspect of it, and what is known of that.

    `level` is the mean rating, or the number of errors. `places` says of each rating where it
    stands on the aspect's scale, from 0, in order; empty where one is off the scale.
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


class Kind(NamedTuple):
    """Where a dataset's texts of a kind come from: its files (none: it has no such texts), and how.

    `needs` says what a study must have for such texts to make pairs.
    """

    files: Callable[[Plan, Path, str], list[Path]]
    read: Callable[[Plan, Path, str], Iterator[Text]]
    needs: str


def _rated_files(plan: Plan, out: Path, dataset: str) -> list[Path]:
    if plan.datasets[dataset].ratings != "human":
        return []
    systems = out / "targets" / dataset / "systems.parquet"
    return [_items(out, dataset), systems, _ratings(out, dataset)]


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
    targets = [out / "targets" / dataset / f"{name}.parquet" for name in sets]
    return [_items(out, dataset), *targets] if rows else []


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


KINDS: Final = {
    RATED: Kind(
        _rated_files,
        _rated,
        "a dataset whose texts several people rated each, on scales that have a `step`",
    ),
    ROW: Kind(_row_files, _in_rows, "perturbations with several `steps`, which make texts in rows"),
}


def name_of(plan: Plan, text: Text) -> str:
    """Return what stands for a text in the names of questions.

    It tells nothing by itself, and changes with the study's seed, with all that people are shown
    of the text and its aspect, and with what is known of it.
    """
    told = canonical([*text, wording_of(plan, text.dataset, text.aspect)])
    return f"{stream_seed(plan.study.seed, 'reevaluation', 'text', told):032x}"
