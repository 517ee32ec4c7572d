"""The HTML form for all questions to people: drawing samples and writing pages.

Each kind of question is a module with `make`, which draws subjects and writes their
pages, and `read`, which turns answers into tables. Both read the study's tables in a
folder `out`. `make` raises UserError for a number below 1, if tables are missing, and
if there is nothing to ask; `read` raises UserErrors for answers that do not match the
questions, and UserError if answers or tables are missing.

Pages show texts from data and models: the template escapes them all.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from numpy.random import Generator

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.files import write_text
from judgescope.core.paths import Paths
from judgescope.core.rng import stream, stream_seed
from judgescope.engines.subjects import Subjects
from judgescope.plan.specs.subjects import every_file
from judgescope.plan.study import Plan
from judgescope.report.html import environment_of, page_from
from judgescope.report.words import plural
from judgescope.schema.cards import Aspect

Record = TypeVar("Record")
Key = TypeVar("Key", bound=Hashable)
Asked = TypeVar("Asked", covariant=True)
AnswerOptions = tuple[tuple[str, str], ...]
"""(the answer as it is saved, its label), …."""
COMPARED: AnswerOptions = (
    ("A", "Text 1 is better"),
    ("B", "Text 2 is better"),
    ("C", "There is no difference"),
)
UNDECIDED: AnswerOptions = (("D", "I cannot decide"),)
UNANSWERED = ""
"""What is saved of an optional question without an answer."""
MAKE_TEXTS = (
    "make the texts first: judgescope run STUDY.yaml, or snakemake texts "
    "--configfile STUDY.yaml"
)


class About(Protocol):
    """The subject of a question: something in a dataset, and an aspect."""

    @property
    def dataset(self) -> str: ...  # noqa: D102
    @property
    def aspect(self) -> str: ...  # noqa: D102


Subject = TypeVar("Subject", bound=About)


class FormQuestion(NamedTuple, Generic[Asked]):
    """One question: its id, the possible answers, its subject, and its wording ("": the
    page's).
    """

    id: str
    options: AnswerOptions
    subject: Asked
    label: str = ""
    optional: bool = False

    @property
    def values(self) -> list[str]:
        """Return the allowed answers as they are saved."""
        values = list(dict(self.options))
        if self.optional:
            values.append(UNANSWERED)
        return values


class FormItem(NamedTuple):
    """One block of a form: the texts shown, and the questions about them.

    `sources` is empty, or has the source of all texts, or one source for each text.
    `passage` is a text in three parts; the second one is marked.
    """

    questions: tuple[FormQuestion[object], ...]
    aspect: Aspect | None = None
    texts: tuple[str, ...] = ()
    sources: tuple[str | None, ...] = ()
    passage: tuple[str, str, str] | None = None
    details: tuple[tuple[str, str, str], ...] = ()
    """(label, text, remark), …; remarks are ours, texts may come from anywhere."""

    @property
    def id(self) -> str:
        """Return the id of the first question."""
        return self.questions[0].id

    @property
    def compares(self) -> bool:
        """Return whether the question asks which of several texts is better."""
        return len(self.texts) > 1


class Page(NamedTuple):
    """The form that one person fills in; `kind` chooses its introduction.

    `id` is saved with the answers, to check that they are complete and belong to this
    page.
    """

    kind: str
    task: str
    file: str
    id: str
    items: Sequence[FormItem]
    set: int = 1
    definitions: Sequence[tuple[str, str]] = ()


DrawnRecords = dict[tuple[str, ...], list[Record]]
"""Labels of a group -> the records drawn from it."""


class Made(NamedTuple, Generic[Record]):
    """The pages that were written, the records drawn for them by group, and lines to
    print.
    """

    pages: Sequence[Page]
    drawn: DrawnRecords[Record]
    lines: list[str]


# --- checks ---------------------------------------------------------------------------


def check_numbers(**numbers: int) -> None:
    """Raise UserError for a command-line option below 1, or for too many voters."""
    # Page ids contain the number of voters, with at most four digits.
    max_voters = 9999
    for name, number in numbers.items():
        if number < 1:
            raise UserError(
                "the number must be 1 or greater", where=f"--{name}", got=number
            )
    voters = numbers.get("voters", 1)
    if voters > max_voters:
        raise UserError(
            "too many voters",
            where="--voters",
            got=voters,
            allowed=f"1 to {max_voters}",
        )


def check_made(
    needed: Sequence[Path], what: str = "texts", todo: str = MAKE_TEXTS
) -> None:
    """Raise UserError if a file that pages are made from is missing."""
    missing = [path for path in needed if not path.is_file()]
    if missing:
        count = f"{len(missing)} of {len(needed)}"
        problem = f"{count} files with {what} of the study are missing"
        raise UserError(problem, where=str(missing[0]), todo=todo)


def nothing_to_ask(plan: Plan, reason: str = "", todo: str = "") -> UserError:
    """Return the error for a study that has no questions for people."""
    problem = "there is nothing to ask"
    if reason:
        problem += f": {reason}"
    return UserError(problem, where=plan.study.study, todo=todo)


# --- drawing and arranging ------------------------------------------------------------


def balanced(
    records: Sequence[Record],
    rng: Generator,
    limit: int,
    *,
    kind: Callable[[Record], Hashable],
    item: Callable[[Record], Hashable],
) -> list[Record]:
    """Draw up to `limit` of some ordered records without replacement.

    Kinds take turns while they have records; within a kind, the item drawn least often
    so far comes first. A smaller draw is the beginning of a larger one.
    """
    by_kind = grouped(shuffled(records, rng), kind)
    drawn_of_item: Counter[Hashable] = Counter()
    drawn: list[Record] = []
    while len(drawn) < min(limit, len(records)):
        for remaining in by_kind.values():
            if not remaining:
                continue
            record = min(remaining, key=lambda each: drawn_of_item[item(each)])
            remaining.remove(record)
            drawn_of_item[item(record)] += 1
            drawn.append(record)
    return drawn[:limit]


def grouped(
    records: Iterable[Record], key: Callable[[Record], Key]
) -> dict[Key, list[Record]]:
    """Return key -> its records, both in the order of the records."""
    groups: dict[Key, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def shuffled(records: Sequence[Record], rng: Generator) -> list[Record]:
    """Return records in random order."""
    return [records[index] for index in rng.permutation(len(records))]


def half_swapped(
    records: Sequence[Record], rng: Generator
) -> list[tuple[Record, bool]]:
    """Return records in random order, half of them to be shown with their texts
    swapped.
    """
    swapped = rng.permutation(len(records)) % 2 == rng.integers(2)
    order = rng.permutation(len(records))
    return [(records[index], bool(swapped[index])) for index in order]


def by_aspect(subjects: Iterable[Subject], rng: Generator) -> Iterator[list[Subject]]:
    """Yield the subjects of each aspect, the aspects in random order."""
    groups = grouped(subjects, lambda subject: subject.aspect)
    for name in shuffled(sorted(groups), rng):
        yield groups[name]


# --- pages ----------------------------------------------------------------------------


def texts_in(
    plan: Plan, out: Path, sets: Mapping[str, Sequence[str]]
) -> dict[str, Subjects]:
    """Return dataset -> its texts, of which these sets must have been made."""
    paths = Paths(str(out))
    texts = {}
    files: list[Path] = []
    for dataset, names in sets.items():
        of_dataset = every_file(plan, dataset, paths)
        files.append(Path(of_dataset.items))
        for name in names:
            files.append(Path(of_dataset.targets[name]))
        texts[dataset] = of_dataset
    check_made(files)
    return {
        dataset: Subjects(of_dataset, dataset, plan.study.seed)
        for dataset, of_dataset in texts.items()
    }


def secret(plan: Plan, *parts: str) -> str:
    """Return a part of questions' ids; it reveals nothing to people, and depends on the
    seed.
    """
    return f"{stream_seed(plan.study.seed, *parts):032x}"


def wording_of(plan: Plan, dataset: str, aspect: str) -> str:
    """Return a text that changes with everything that a form shows about an aspect."""
    card = plan.aspect_of(dataset, aspect)
    visible = plan.scale_of(dataset, aspect).source_visible
    return canonical((aspect, card.name, card.definition, visible))


def rating_options(plan: Plan, dataset: str, aspect: str) -> AnswerOptions:
    """Return the values of an aspect's scale, worst first, with their labels; ()
    without steps.

    A scale of labels has no numbers, and no best and worst end if its labels have no
    order.
    """
    scale = plan.scale_of(dataset, aspect)
    values = [f"{value:.12g}" for value in scale.values() or []]
    names = list(values)
    if scale.categorical:
        names = list(scale.labels)
    elif scale.labels:
        labelled = zip(values, scale.labels, strict=True)
        names = [f"{value}: {label}" for value, label in labelled]
    if scale.best == "min":
        names.reverse()
        values.reverse()
    if values and scale.ordered:
        last = f"{names[-1]} (best)"
        names[0] = f"{names[0]} (worst)"
        names[1:] = [*names[1:-1], last]
    return tuple(zip(values, names, strict=True))


def item_about(
    plan: Plan,
    about: About,
    questions: Iterable[FormQuestion[object]],
    texts: Iterable[str],
    *sources: str | None,
) -> FormItem:
    """Return the block of questions about texts, with their common source or the source
    of each.

    Sources are omitted if raters of the aspect do not see them.
    """
    scale = plan.scale_of(about.dataset, about.aspect)
    shown_sources: tuple[str | None, ...] = ()
    if scale.source_visible and any(sources):
        shown_sources = sources
    aspect = plan.aspect_of(about.dataset, about.aspect)
    return FormItem(tuple(questions), aspect, tuple(texts), shown_sources)


def page_id(questions: Iterable[str], prefix: str = "") -> str:
    """Return the id of a page with these questions; `prefix` names its voter."""
    hashed = list(questions)
    if prefix:
        hashed.append(prefix)
    text = "\n".join(sorted(hashed))
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{prefix}-{digest}" if prefix else digest


def ask(
    plan: Plan,
    folder: Path,
    streams: str,
    drawn: DrawnRecords[Subject],
    items: Callable[[list[Subject], Generator], list[FormItem]],
    *,
    voters: int,
    kind: str = "texts",
    force: bool = False,
) -> Made[Subject]:
    """Write a page for each voter and task with drawn subjects; return pages and
    subjects.

    `items` arranges the subjects of a task by a random stream of the voter, so that
    each page has its own order. Raises UserError if nothing was drawn.
    """
    subjects = list(chain.from_iterable(drawn.values()))
    pages = []
    for task in tasks_of(plan):
        shown = []
        for each in subjects:
            if plan.datasets[each.dataset].task == task:
                shown.append(each)
        if not shown:
            continue
        for voter in range(1, voters + 1):
            page = items(shown, stream(plan.study.seed, streams, "page", task, voter))
            questions: list[str] = []
            for item in page:
                questions += [question.id for question in item.questions]
            name = page_id(questions, f"{voter}of{voters}")
            pages.append(Page(kind, task, f"{task}-voter{voter}.html", name, page))
    if not pages:
        raise nothing_to_ask(plan)
    return Made(pages, drawn, [write_pages(pages, folder, force=force)])


def tasks_of(plan: Plan) -> list[str]:
    """Return the tasks of a study's datasets."""
    return list(dict.fromkeys(card.task for card in plan.datasets.values()))


def write_pages(pages: Sequence[Page], folder: Path, *, force: bool = False) -> str:
    """Write pages into a folder; return a line with the numbers of pages and questions.

    Unless `force` is set, raises UserError instead of changing an existing page, which
    people may already have; with it, pages of other voters are removed, too.
    """
    template = environment_of("people").get_template("page.html.jinja")
    texts = {}
    replaced = set(folder.glob("*-voter*.html"))
    for page in pages:
        path = folder / page.file
        texts[path] = page_from(template, scripts=["people/save.js"], page=page)
    replaced.difference_update(texts)
    for path, text in texts.items():
        if path.is_file() and path.read_text("utf-8") != text:
            replaced.add(path)
    if replaced and not force:
        raise UserError(
            "this folder has other pages",
            where=str(min(replaced)),
            todo="choose another folder, or replace the pages with --force if nobody "
            "has them",
        )
    for path in replaced:
        path.unlink()
    for path, text in texts.items():
        write_text(path, text)
    what = "errors" if pages[0].kind == "errors" else "questions"
    count = sum(len(page.items) for page in pages)
    return f"{folder}: {plural(len(pages), 'page')} with {count:,} {what}"
