"""Offline HTML forms: the texts that a question shows, its answers, and how pages are written.

Texts come from data and models: the template escapes all of them.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from markupsafe import Markup

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.paths import WORKFLOW
from judgescope.core.rng import stream
from judgescope.people.answers import page_id
from judgescope.plan import Plan
from judgescope.report.html import environment_of, finished
from judgescope.schema.cards import Aspect

if TYPE_CHECKING:
    from numpy.random import Generator

Record = TypeVar("Record")
Drawn = TypeVar("Drawn")
Options = tuple[tuple[str, str], ...]
"""(the answer as it is saved, its label), …."""
COMPARED: Options = (
    ("A", "Text 1 is better"),
    ("B", "Text 2 is better"),
    ("C", "There is no difference"),
)
UNDECIDED: Options = (("D", "I cannot decide"),)
MAKE_TEXTS = (
    "make the texts first: judgescope run, with the study's file, or snakemake texts --configfile, "
    "with the same file"
)
MAX_VOTERS = 9999
"""Page ids hold the number of voters, in at most four digits."""


class Question(NamedTuple):
    """One question: its id, the answers to choose from, and its wording (none: the page's)."""

    id: str
    options: Options
    label: str = ""


class Item(NamedTuple):
    """One block of a form: the texts shown, and the questions about them.

    `source` is that of all texts; where each text has its own, `sources` are those, in their order.
    `passage` is a text in three parts, of which the second is marked.
    """

    questions: tuple[Question, ...]
    aspect: Aspect | None = None
    texts: tuple[str, ...] = ()
    source: str | None = None
    sources: tuple[str | None, ...] = ()
    passage: tuple[str, str, str] | None = None
    details: tuple[tuple[str, str, str], ...] = ()
    """(label, text, remark), …; the remark is ours, the text may come from anywhere."""

    @property
    def id(self) -> str:
        """Return the id of the first question."""
        return self.questions[0].id

    @property
    def compares(self) -> bool:
        """Return whether the question is which of several texts is better."""
        return len(self.texts) > 1

    @property
    def undecided(self) -> bool:
        """Return whether people may say that they cannot decide."""
        return set(UNDECIDED) <= set(self.questions[0].options)

    @property
    def sourced(self) -> bool:
        """Return whether a source is shown."""
        return any([self.source, *self.sources])


class Page(NamedTuple):
    """The form that one person fills in; `kind` chooses its introduction.

    `id` is saved with the answers: it shows that they are all the answers to this page.
    """

    kind: str
    task: str
    file: str
    id: str
    items: Sequence[Item]
    set: int = 1
    definitions: Sequence[tuple[str, str]] = ()


class Made(NamedTuple, Generic[Drawn]):
    """The pages that were written, what was drawn for them, and lines to print."""

    pages: Sequence[Page]
    draws: Sequence[Drawn]
    lines: list[str]


# --- checks ------------------------------------------------------------------------------------


def check_numbers(**numbers: int) -> None:
    """Raise UserError for an option of the command line that is below 1, or for too many voters."""
    for name, number in numbers.items():
        if number < 1:
            raise UserError("this is a number from 1", where=f"--{name}", got=number)
    if (voters := numbers.get("voters", 1)) > MAX_VOTERS:
        raise UserError(
            "these are too many voters", where="--voters", got=voters, allowed=f"1 to {MAX_VOTERS}"
        )


def check_made(needed: Sequence[Path], what: str = "texts", todo: str = MAKE_TEXTS) -> None:
    """Raise UserError if a file that pages are made from is missing."""
    absent = [path for path in needed if not path.is_file()]
    if absent:
        raise UserError(
            f"{len(absent)} of {len(needed)} files with {what} of the study are not there",
            where=str(absent[0]),
            todo=todo,
        )


def nothing_to_ask(plan: Plan, reason: str = "", todo: str = "") -> UserError:
    """Return the error of a study without anything to ask people about."""
    what = ": ".join(filter(None, ["there is nothing to ask", reason]))
    return UserError(what, where=plan.study.study, todo=todo)


# --- questions ---------------------------------------------------------------------------------


def wording_of(plan: Plan, dataset: str, aspect: str) -> str:
    """Return a text that changes with everything that a form says of an aspect."""
    card = plan.aspect_of(dataset, aspect)
    visible = plan.scale_of(dataset, aspect).source_visible
    return canonical((aspect, card.name, card.definition, visible))


def visible_source(plan: Plan, dataset: str, aspect: str, source: str | None) -> str | None:
    """Return the source if raters of the aspect see it; None if it is empty, too."""
    return source or None if plan.scale_of(dataset, aspect).source_visible else None


def rating_options(plan: Plan, dataset: str, aspect: str) -> Options:
    """Return the values of an aspect's scale, worst first, with their labels; () without steps."""
    scale = plan.scale_of(dataset, aspect)
    values = [f"{value:.12g}" for value in scale.values() or []]
    labels = [f": {label}" for label in scale.labels] or [""] * len(values)
    ends = [" (worst)", *[""] * (len(values) - 2), " (best)"] if values else []
    return tuple(
        (value, f"{value}{label}{end}")
        for value, label, end in zip(values, labels, ends, strict=True)
    )


# --- drawing and arranging ---------------------------------------------------------------------


def balanced(
    records: Sequence[Record],
    rng: "Generator",
    limit: int,
    *,
    kind: Callable[[Record], Hashable],
    item: Callable[[Record], Hashable],
) -> list[Record]:
    """Draw up to `limit` of some ordered records without replacement.

    Kinds take turns while they have records; of its kind a record comes first whose item was drawn
    least often. A smaller draw is the beginning of a larger one.
    """
    of_kind: dict[Hashable, list[Record]] = {}
    for record in shuffled(records, rng):
        of_kind.setdefault(kind(record), []).append(record)
    used: Counter[Hashable] = Counter()
    drawn: list[Record] = []
    while len(drawn) < min(limit, len(records)):
        for left in filter(None, of_kind.values()):
            record = min(left, key=lambda each: used[item(each)])
            left.remove(record)
            used[item(record)] += 1
            drawn.append(record)
    return drawn[:limit]


def shuffled(records: Sequence[Record], rng: "Generator") -> list[Record]:
    """Return records in random order."""
    return [records[at] for at in rng.permutation(len(records))]


def half_swapped(records: Sequence[Record], rng: "Generator") -> list[tuple[Record, bool]]:
    """Return records in random order, half of them to be shown with their texts swapped."""
    swapped = rng.permutation(len(records)) % 2 == rng.integers(2)
    return [(records[at], bool(swapped[at])) for at in rng.permutation(len(records))]


def by_aspect(
    records: Iterable[Record], rng: "Generator", aspect: Callable[[Record], str]
) -> Iterator[list[Record]]:
    """Yield the records of each aspect, the aspects in random order."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(aspect(record), []).append(record)
    for name in shuffled(sorted(groups), rng):
        yield groups[name]


# --- pages -------------------------------------------------------------------------------------


def tasks_of(plan: Plan) -> list[str]:
    """Return the tasks of a study's datasets."""
    return list(dict.fromkeys(card.task for card in plan.datasets.values()))


def voter_pages(
    plan: Plan,
    streams: str,
    records: Iterable[tuple[str, Record]],
    items: Callable[[list[Record], "Generator"], list[Item]],
    *,
    voters: int,
    prefix: str = "{voter}of{voters}",
    kind: str = "texts",
) -> list[Page]:
    """Return a page for each voter and task with records; each has an order of its own.

    records: (dataset, record), …; `items` arranges those of a task by a random stream of the voter.
    """
    ordered = list(records)
    pages = []
    for task in tasks_of(plan):
        shown = [record for dataset, record in ordered if plan.datasets[dataset].task == task]
        for voter in range(1, voters + 1) if shown else ():
            rng = stream(plan.study.seed, streams, "page", task, voter)
            page = items(shown, rng)
            names = [question.id for item in page for question in item.questions]
            name = page_id(names, prefix.format(voter=voter, voters=voters))
            pages.append(Page(kind, task, f"{task}-voter{voter}.html", name, page))
    return pages


def write_pages(pages: Sequence[Page], folder: Path) -> str:
    """Write pages into a folder; return how many pages and questions there are."""
    script = (WORKFLOW / "people" / "save.js").read_text(encoding="utf-8")
    template = environment_of(WORKFLOW / "people").get_template("page.html.jinja")
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        text = finished(template.render(page=page, script=Markup(script)), script)
        (folder / page.file).write_text(text, encoding="utf-8", newline="\n")
    return f"{folder}: {len(pages)} pages with {sum(len(page.items) for page in pages):,} questions"
