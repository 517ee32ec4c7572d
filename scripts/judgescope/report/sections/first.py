"""The first screen: answer, matrix, picture, what to do next, damage, other pages."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judgescope.methods.claims import base
from judgescope.report import drawing
from judgescope.report.answer import deck, every_claim, headline
from judgescope.report.cell_words import value
from judgescope.report.claims import ReportedClaim, claims
from judgescope.report.damage import damage_table
from judgescope.report.drawing import CountGrid
from judgescope.report.elements import (
    AnswerBlock,
    Beside,
    DrawnPanel,
    PageBlock,
    PageList,
    Section,
    SmallMultiples,
    page_of,
)
from judgescope.report.matrix import MOST_LINES, matrices
from judgescope.report.next_steps import next_steps
from judgescope.report.rating_grids import grids_of, labelled
from judgescope.report.report import Report, ShownDataset, ShownJudge
from judgescope.report.sections.judges import BEHIND, foot
from judgescope.report.standings import href_of, standings
from judgescope.report.words import count, plural
from judgescope.statistics.verdict import Sign


def first_screen(report: Report) -> Iterator[PageBlock]:
    """Yield the first screen, without the list of other pages."""
    answer = headline(report)
    href = f"{page_of('evidence')}#{BEHIND}" if answer.behind else ""
    steps = next_steps(report)
    yield AnswerBlock(answer.text, deck(report), href, steps)
    tables = matrices(report, foot(report))
    yield from tables[:1]
    picture = [*pictures(report)]
    if picture and steps is not None:
        yield Beside(picture, [steps], second_first=True)
    else:
        yield from picture
        if steps is not None:
            yield steps
    yield from tables[1:]
    damage = damage_table(report)
    if damage is not None:
        yield damage


# --- what people said, what the judge said --------------------------------------------


def pictures(report: Report) -> Iterator[SmallMultiples]:
    """Yield the picture of the first question about ratings, labels or pairs.

    Where the authors planned the ratings, damage is shown instead if there is any.
    """
    if not report.rated_by.people and damage_table(report) is not None:
        return
    for column in standings(report).folding.columns:
        if column.rank not in (1, 2, 3):
            continue
        about = _claims_by_judge(report, column.rank)
        first = next(iter(about.values()), None)
        if first is None:
            continue
        dataset = next(d for d in report.datasets if d.id == first.dataset)
        picture = picture_of(
            report, dataset, first.row.judged, first.kind, chosen(about)
        )
        if picture is not None:
            yield picture
            return


def _claims_by_judge(report: Report, rank: int) -> dict[ShownJudge, ReportedClaim]:
    """The first claim of each judge in the first column of a rank."""
    matrix = standings(report)
    about: dict[ShownJudge, ReportedClaim] = {}
    columns = [column for column in matrix.folding.columns if column.rank == rank]
    kinds = {1: base.AGREEMENT, 2: base.LABELS, 3: base.PAIRS}
    for judge in matrix.shown:
        for claim in matrix.of_column(judge, columns[0]):
            if claim.kind == kinds[rank]:
                about.setdefault(judge, claim)
    places = [(claim.dataset, claim.row.judged) for claim in about.values()]
    return {
        judge: claim
        for judge, claim in about.items()
        if (claim.dataset, claim.row.judged) == places[0]
    }


def chosen(
    about: dict[ShownJudge, ReportedClaim], at_most: int = 3
) -> dict[ShownJudge, ReportedClaim]:
    """The judges that are drawn: the first two that hold, then one that warns.

    Where fewer hold, the first ones stand in their places.
    """
    holding = []
    for judge, claim in about.items():
        if claim.sign is Sign.HOLDS:
            holding.append(judge)
    warning = [
        judge
        for judge, claim in about.items()
        if claim.sign in (Sign.RULE, Sign.FAILS) and judge not in holding
    ]
    others = [judge for judge in about if judge not in (*holding, *warning)]
    order = [*holding[:2], *warning[:1], *holding[2:], *warning[1:], *others]
    return {judge: about[judge] for judge in order[:at_most]}


def picture_of(
    report: Report,
    dataset: ShownDataset,
    aspect: str,
    kind: str,
    judges: dict[ShownJudge, ReportedClaim],
    *,
    people: bool = True,
) -> SmallMultiples | None:
    """The picture of some judges on one aspect; None without texts to count."""
    grids: list[tuple[str, ShownJudge | None, CountGrid | None]] = []
    labels = dataset.labels_on(aspect)
    scores = grids_of(report, dataset)
    whom = dataset.rated_by.whom
    if kind == base.LABELS and labels:
        rows = report.rows("labels", dataset.id).where(
            statistic="class_count", judged=aspect
        )
        for judge in judges:
            grid = labelled(rows, labels, judge.id, ordered=True)
            grids.append((judge.id, judge, grid))
        axes = (
            f"across: label of {whom} · down: label of the judge · red: another label"
        )
    elif kind == base.PAIRS and scores is not None:
        for judge in judges:
            grids.append((judge.id, judge, scores.pairs(judge, aspect)))
        counted = scores.counted_pairs(judges, aspect)
        axes = f"across: preferred by {whom} · down: by the judge · red: opposite"
        axes = " · ".join(filter(None, (axes, counted)))
    elif scores is not None:
        if people and dataset.by_people:
            grids.append(("One person", None, scores.person(aspect)))
        for judge in judges:
            grids.append((judge.id, judge, scores.judge(judge, aspect)))
        axes = _axes_of_ratings(report, dataset, aspect, people=people)
    else:
        return None
    panels = [
        _panel(report, name, judge, grid, judges)
        for name, judge, grid in grids
        if grid is not None
    ]
    if not any(judge is not None and grid is not None for _, judge, grid in grids):
        return None
    subject = report.aspect(aspect)
    return SmallMultiples(
        "What people said, what the judge said"
        if dataset.by_people
        else f"{whom[0].upper()}{whom[1:]}, and what the judge said",
        f"{subject}. A judge that follows {whom} fills the diagonal.",
        panels,
        axes,
    )


def every_picture(
    report: Report, dataset: ShownDataset, aspect: str, kind: str
) -> Iterator[SmallMultiples]:
    """Yield the picture of all judges on one aspect, the first twelve of many."""
    judges: dict[ShownJudge, ReportedClaim] = {}
    for judge in standings(report).shown[:MOST_LINES]:
        for claim in claims(report, judge):
            subject = (claim.kind, claim.dataset, claim.row.judged)
            if subject == (kind, dataset.id, aspect):
                judges[judge] = claim
    picture = None
    if judges:
        picture = picture_of(report, dataset, aspect, kind, judges)
    if picture is not None:
        yield picture


def _axes_of_ratings(
    report: Report, dataset: ShownDataset, aspect: str, *, people: bool
) -> str:
    """What the axes are; `people`: whether one person may have a picture."""
    grids = grids_of(report, dataset)
    steps = None if grids is None else grids.steps(aspect)
    far_steps = 2 if steps is None else steps.far
    unit = "tenths of the ranks"
    if steps is not None and steps.values:
        unit = "steps"
    across = dataset.rated_by.mean
    up = "score of the judge"
    if people and dataset.by_people:
        across = (
            "mean rating by people, for one person the mean of the others; texts with "
            "one rater are left out there"
        )
        up = "rating of one person or score of the judge"
    return (
        f"across: {across} · up: {up}, by rank where its scale is another · area: "
        "number of texts, each picture by its largest · red: ≥ "
        f"{far_steps} {unit} apart"
    )


def _panel(
    report: Report,
    name: str,
    judge: ShownJudge | None,
    grid: CountGrid,
    judges: dict[ShownJudge, ReportedClaim],
) -> DrawnPanel:
    two_labels = len(grid.across) == 2 and grid.numbers
    sources = {each.id: each.rated_by for each in report.datasets}
    if judge is None:
        grid = replace(grid, axes=("the others", "one person"))
    else:
        source = sources[judges[judge].dataset]
        grid = replace(
            grid,
            axes=(source.head.lower(), "judge"),
            label=source.in_words(grid.label),
        )
    drawn = drawing.unit_squares(grid) if two_labels else drawing.grid(grid)
    across, judged = grid.axes
    panel = DrawnPanel(
        name,
        "",
        drawn,
        corner=f"{judged} \\ {across}",
        heads=grid.heads,
        rows=grid.rows,
    )
    if judge is None:
        return panel
    claim = judges[judge]
    return replace(
        panel,
        value=value(claim),
        sign=drawing.sign(claim.sign),
        href=href_of(report, judge, claim),
    )


# --- the other pages ------------------------------------------------------------------


def other_pages(report: Report, sections: Sequence[Section]) -> PageList:
    """The other pages of a report, each with how much is there."""
    pages = []
    for section in sections:
        rows = sum(len(report.rows(name)) for name in {section.id})
        about = plural(rows, "number") if rows else ""
        if section.id == "evidence":
            about = plural(every_claim(report), "claim")
        pages.append((section.title, section.href, about))
    judgments = round(report.rows("coverage").total("count_ok"))
    if judgments:
        about = f"explorer, {count(judgments)} judgments"
        pages.insert(1, ("All replies", "explore.html", about))
    return PageList("More evidence", pages)
