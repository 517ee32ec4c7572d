"""The errors that a study's judges annotate in texts that systems wrote, and names for them.

A name tells nothing by itself: it is a hash of the study's seed, of the error and of all that
people are shown. Only the study, with the same judgments, texts and cards, finds out.
"""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from judgescope.core.canonical import canonical
from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.rng import stream_seed
from judgescope.engines.subjects import Subjects
from judgescope.people.pairs.questions import wording_of
from judgescope.plan import Plan
from judgescope.plan.study import CellAspect
from judgescope.schema.tables import read_part

SET: Final = "systems"
"""The texts that systems wrote: nobody put an error into them."""


class Error(NamedTuple):
    """An error of a judge's list: the number that it has there, what is said, and where it stands.

    `aspect` is that of a cell. The offsets are None where the quoted words were not found, and
    `location` where none were quoted.
    """

    judge: str
    dataset: str
    aspect: str
    target: str
    draw: int
    number: int
    item: str
    source: str | None
    text: str
    location: str | None
    start: int | None
    end: int | None
    match: str
    explanation: str
    severity: float | None
    category: str | None

    @property
    def place(self) -> tuple[str, str, str, str, int, int]:
        """Return what tells it from all others of the study, and orders them."""
        return self[:6]

    @property
    def shown(self) -> tuple[str | int | float | None, ...]:
        """Return what tells it from others for people, who do not know whose it is.

        An ensemble may list an error in the words of a member. The kind of error is left out, since
        not all pages show it.
        """
        place = self.dataset, self.target, self.aspect, self.location, self.start, self.end
        return (*place, self.explanation, self.severity)

    @property
    def parts(self) -> tuple[str, str, str] | None:
        """Return the text before the passage, the passage, and the text behind it, if it is there.

        An empty passage is none.
        """
        if self.start is None or self.end is None or self.start >= self.end:
            return None
        start, end = self.start, self.end
        return self.text[:start], self.text[start:end], self.text[end:]


def annotators(plan: Plan, only: Collection[str] = ()) -> list[str]:
    """Return the judges that annotate errors, or those of them that are named.

    Raises UserError for a name that is none of them, and where there are none.
    """
    known = [name for name in (*plan.judges, *plan.derived) if plan.annotates(name)]
    if not known:
        raise UserError(
            "there is nothing to ask: no judge annotates errors",
            where=plan.study.study,
            todo="name a judge whose card has `parser: annotation`",
        )
    for name in only:
        if name not in known:
            raise UserError(
                "this is no judge of the study that annotates errors",
                where="--judges",
                got=name,
                allowed=known,
            )
    return [name for name in known if not only or name in only]


def cells_of(plan: Plan, judges: Collection[str]) -> list[CellAspect]:
    """Return the cells in which these judges judge texts that systems wrote.

    Raises UserError where there are none.
    """
    found = [
        cell for cell in plan.cell_aspects if cell.perturbation == SET and cell.judge in judges
    ]
    if not found:
        raise UserError(
            "there is nothing to ask: no texts by systems are judged",
            where=plan.study.study,
            todo="use a dataset with texts by systems, and a method about these, such as agreement",
        )
    return found


def files_of(plan: Plan, out: Path, cells: Iterable[CellAspect]) -> list[Path]:
    """Return where the judgments of cells lie, each file once."""
    return list(dict.fromkeys(file_of(plan, out, cell) for cell in cells))


def file_of(plan: Plan, out: Path, cell: CellAspect) -> Path:
    """Return where the judgments of a cell lie."""
    return Path(plan.file(out, "judgments", cell))


def errors_of(plan: Plan, out: Path, cells: Iterable[CellAspect]) -> list[Error]:
    """Return all errors of some cells, whose judgments are in `out`, beside items and texts.

    As in spans.csv, those of a reply count whose status is ok.
    """
    subjects: dict[str, Subjects] = {}
    found: list[Error] = []
    for cell in cells:
        name = cell.dataset
        subjects.setdefault(name, Subjects(str(out), name, plan.study.seed))
        found += _errors(cell, file_of(plan, out, cell), subjects[name])
    return found


def _errors(cell: CellAspect, path: Path, subjects: Subjects) -> Iterator[Error]:
    texts = {one.target: one for one in subjects.of(SET)}
    rows = read_part(
        "judgments", path, *split(cell.aspect), ["target", "draw", "spans", "status"]
    ).to_pylist()
    for row in (row for row in rows if row["status"] == "ok"):
        one = texts[row["target"]]
        spans: list[dict[str, Any]] = row["spans"] or []
        for number, span in enumerate(spans, start=1):
            told = {name: span[name] for name in Error._fields if name in span}
            place = cell.judge, cell.dataset, cell.aspect, one.target, row["draw"], number
            yield Error(*place, one.item, one.source, one.text, **told)


def name_of(plan: Plan, error: Error) -> str:
    """Return what stands for an error in the names of questions."""
    told = canonical([*error, wording_of(plan, error.dataset, error.aspect)])
    return f"e{stream_seed(plan.study.seed, 'annotations', 'error', told):032x}"
