"""The questions that claims answer: the columns of the matrix, and how they fold.

A column has one claim of each judge, or several that are counted: damage by the level
of the perturbation, the aspects of a dataset with many.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from judgescope.methods.claims import base
from judgescope.methods.measures import DECIDES
from judgescope.report.claims import FIRST, FOUND, KINDS, ReportedClaim
from judgescope.report.report import Report, ShownDataset
from judgescope.report.words import brief, label
from judgescope.statistics.registry import statistic
from judgescope.statistics.verdict import Sign

MOST_COLUMNS: Final = 8
"""With more columns, groups of damage are folded first, then datasets."""
OTHER_TESTS: Final = "Other tests"
"""The group of what is neither about ratings nor about damage."""


@dataclass(frozen=True)
class MatrixQuestion:
    """A column of the matrix.

    `rank` orders the groups; `number` is the statistic that decides its claims, ""
    where claims with several are counted; `noun` is what they are counted as.
    """

    rank: int
    group: str
    title: str
    number: str = ""
    noun: str = ""
    aspect: str = ""
    dataset: str = ""


def level_rank(level: str) -> int:
    """The place of a level of perturbations."""
    # The order of levels of perturbations; others come last.
    levels = ("character", "word", "sentence", "text")
    if level in levels:
        return levels.index(level)
    return len(levels)


ClaimsByQuestion = Mapping[MatrixQuestion, Sequence[ReportedClaim]]
"""Question -> the claims of one judge that answer it."""


def range_of(name: str) -> str:
    """The values that a statistic may have, in words.

    >>> range_of("normal_scores"), range_of("balanced_accuracy")
    ('−1 to 1', '0 to 100 %')
    """
    record = statistic(name)
    if record.kind == "percent":
        return "0 to 100 %"
    if record.kind == "correlation":
        return "−1 to 1"
    return ""


def agreeing(report: Report, datasets: Iterable[str]) -> str:
    """What agreement is called on datasets: with people, or with the authors' plan."""
    names = {*datasets}
    whom = set()
    for each in report.datasets:
        if each.id in names:
            whom.add(each.rated_by.short)
    return f"Agreement with {whom.pop() if len(whom) == 1 else 'ratings'}"


def _agreement(report: Report, claim: ReportedClaim) -> MatrixQuestion:
    """The question of a claim of agreement: its aspect, on its dataset."""
    dataset = next(each for each in report.datasets if each.id == claim.dataset)
    # A dataset with more aspects has one column, in which its claims are counted.
    most_aspects = 6
    if len(dataset.aspects) > most_aspects:
        # All datasets have one group, and each a column.
        group = agreeing(report, [each.id for each in report.datasets])
        name = dataset.name
        return MatrixQuestion(1, group, name, noun="aspects", dataset=dataset.id)
    group = agreeing(report, [dataset.id])
    if any(having(report, aspect)[1:] for aspect in dataset.aspects):
        group = f"{group}: {dataset.name}"
    number = ""
    if claim.sign is not Sign.NO_CLAIM:
        number = claim.row.statistic
    if number == base.VERDICT:
        number = ""
    if number == DECIDES["pooled"]:
        # Over all texts another number decides: it has columns of its own.
        group = f"{group}, over all texts"
    return MatrixQuestion(
        1,
        group,
        claim.subject,
        number=number,
        aspect=claim.row.judged,
        dataset=dataset.id,
    )


def having(report: Report, aspect: str) -> list[str]:
    """The datasets on which a claim is made about an aspect."""
    return [
        dataset.id
        for dataset in report.datasets
        if aspect in report.rows("verdicts", dataset.id).by("judged")
    ]


def _bar_title(report: Report, claim: ReportedClaim) -> str:
    """What a stated bar asks for; its dataset's aspects are told apart."""
    bar = claim.others.get(base.BAR)
    if bar is None or bar.value is None:
        return claim.respect.format(claim.subject)
    sign = "≤" if bar.note == "at most" else "≥"
    name = claim.row.statistic
    title = f"{label(name)} {sign} {brief(name, bar.value)}"
    dataset = next(each for each in report.datasets if each.id == claim.dataset)
    several = len(dataset.aspects) > 1 and claim.subject
    if several:
        return f"{title}, {lowered(claim.subject)}"
    return title


def question_of(report: Report, claim: ReportedClaim) -> MatrixQuestion:
    """The question that a claim answers, before columns are folded."""
    kind = claim.kind.partition(" ")[0]
    if kind == base.BAR:
        return MatrixQuestion(0, "Required bars", _bar_title(report, claim))
    if kind == base.AGREEMENT:
        return _agreement(report, claim)
    labels = _labels_of(report, claim.dataset)
    if kind == base.LABELS:
        return MatrixQuestion(2, labels, claim.subject, "balanced_accuracy", "aspects")
    if kind in FOUND:
        title = ("Bad caught", "Good kept")[FOUND[kind]]
        return MatrixQuestion(2, labels, title, KINDS[kind].number, "aspects")
    if kind == base.PAIRS:
        return MatrixQuestion(
            3, "Better of two texts", claim.subject, KINDS[kind].number, "aspects"
        )
    damage = "Damage noticed"
    if kind == base.PERTURBATION:
        levels = {shown.cell: shown.level for shown in report.perturbations}
        title = f"{levels[claim.row.cell].capitalize()}s"
        return MatrixQuestion(4, damage, title, noun="kinds of damage")
    known = KINDS[kind]
    rank = 5 + [*KINDS].index(kind)
    return MatrixQuestion(
        rank, OTHER_TESTS, known.question, known.number, known.subjects
    )


def _labels_of(report: Report, dataset: str) -> str:
    """The group of the questions about labels: whose they are."""
    [source] = [each.rated_by for each in report.datasets if each.id == dataset]
    if source.people:
        return "People's labels"
    return f"{source.short.capitalize()}'s labels"


def answers_of(report: Report, claims: Iterable[ReportedClaim]) -> ClaimsByQuestion:
    """The claims of a judge by the question that they answer, without those of rank."""
    answers: dict[MatrixQuestion, list[ReportedClaim]] = {}
    for claim in claims:
        if claim.kind != FIRST:
            answers.setdefault(question_of(report, claim), []).append(claim)
    return answers


Place = tuple[int, str, str, str]
"""What tells two questions apart: rank, group, title and dataset."""


def merged(
    asked: Iterable[MatrixQuestion], datasets: Sequence[ShownDataset] = ()
) -> dict[Place, MatrixQuestion]:
    """The questions in the order of the columns, by their places: of aspects, that of
    the card of their dataset.

    A claim that shows no number stands in the column of its aspect, whichever number
    decides the claims of other judges.
    """
    every = [*asked]
    numbered: dict[tuple[int, str, str], MatrixQuestion] = {}
    seen: dict[Place, MatrixQuestion] = {}
    for question in every:
        if question.number or not question.aspect:
            seen.setdefault(place_of(question), question)
            about = (question.rank, question.dataset, question.aspect)
            numbered.setdefault(about, question)
    for question in every:
        about = (question.rank, question.dataset, question.aspect)
        seen.setdefault(place_of(question), numbered.get(about, question))
    groups: dict[str, None] = {}
    for question in seen.values():
        groups.setdefault(question.group)
    order = [*groups]
    aspects = {dataset.id: dataset.aspects for dataset in datasets}

    def of_card(question: MatrixQuestion) -> int:
        names = aspects.get(question.dataset, [])
        if question.aspect in names:
            return names.index(question.aspect)
        return len(names)

    return dict(
        sorted(
            seen.items(),
            key=lambda item: (
                item[1].rank,
                order.index(item[1].group),
                level_rank(item[1].title.lower().rstrip("s")),
                of_card(item[1]),
            ),
        )
    )


def place_of(question: MatrixQuestion) -> Place:
    """What tells a question apart from others."""
    return question.rank, question.group, question.title, question.dataset


@dataclass(frozen=True)
class Folding:
    """The columns of a matrix, and which questions each of them counts."""

    columns: Sequence[MatrixQuestion]
    of_place: Mapping[Place, MatrixQuestion]


def folded(
    asked: Iterable[MatrixQuestion], datasets: Sequence[ShownDataset]
) -> Folding:
    """The columns for these questions: at most eight, as far as groups can fold.

    Damage folds first, then the datasets of agreement, then what is asked further. The
    aspects that people rated fold last of these if other ratings are planned.
    """
    columns = merged(asked, datasets)
    every = {dataset.id: dataset.name for dataset in datasets}
    planned = {}
    for each in datasets:
        if not each.by_people:
            planned[each.id] = each.name
    steps: list[tuple[int, Mapping[str, str], str]] = [
        (4, {}, "All kinds"),
        (1, planned, ""),
        (1, every, ""),
        (5, {}, "Several tests"),
        (0, {}, "All bars"),
        (2, {}, "All labels"),
    ]
    if 0 < len(planned) < len(every):
        steps[2], steps[3] = steps[3], steps[2]
    for rank, of_each, name in steps:
        if len({*columns.values()}) <= MOST_COLUMNS:
            break
        _fold(columns, rank, name, of_each)
    return Folding([*dict.fromkeys(columns.values())], columns)


def _fold(
    columns: dict[Place, MatrixQuestion],
    rank: int,
    name: str,
    datasets: Mapping[str, str],
) -> None:
    """Let the questions of a rank (5: and above) share a column of this name.

    Without a name, each of the `datasets` gets a column, under its own.
    """
    groups: dict[str, list[Place]] = {}
    for index, column in columns.items():
        mine = column.rank == rank or column.rank >= rank == 5
        if mine and (name or column.dataset in datasets):
            groups.setdefault("" if name else column.dataset, []).append(index)
    for places in groups.values():
        if len({columns[index] for index in places}) < 2:
            continue
        first = columns[places[0]]
        dataset = datasets.get(first.dataset, "All aspects")
        together = replace(
            first,
            group=first.group.partition(": ")[0],
            title=name or dataset,
            number="",
            noun=first.noun or "aspects",
            aspect="",
        )
        for index in places:
            columns[index] = together


def group_note(columns: Sequence[MatrixQuestion], group: str) -> str:
    """The number of a group of columns and its range, or what its claims count."""
    mine = [column for column in columns if column.group == group]
    numbers = {column.number for column in mine}
    if len(numbers) > 1:
        return ""
    [name] = numbers
    if name:
        return ", ".join(filter(None, (lowered(label(name)), range_of(name))))
    nouns = {column.noun for column in mine}
    if len(nouns) == 1:
        return nouns.pop()
    return ""


def lowered(name: str) -> str:
    """A name within a sentence: its first letter is small unless it is an acronym.

    >>> lowered("Helpfulness"), lowered("SQL"), lowered("F1")
    ('helpfulness', 'SQL', 'F1')
    """
    if name[1:2].islower():
        return f"{name[:1].lower()}{name[1:]}"
    return name


def section_of(report: Report, column: MatrixQuestion) -> str:
    """Where the section of a column's question lies, "" if the study has none."""
    from judgescope.report.elements import page_of  # no audit needs these classes

    sections = {
        1: ("agreement", "agreement"),
        2: ("labels", "labels"),
        3: ("pairwise", "pairwise"),
        4: ("discernment", "discernment"),
    }
    section, table = sections.get(column.rank, ("evidence", "verdicts"))
    if len(report.rows(table)):
        return page_of(section)
    return page_of("evidence")
