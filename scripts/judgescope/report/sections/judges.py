"""What can be claimed of each judge, the limits of it, and the legend of all signs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from judgescope.methods.claims.base import VERDICT
from judgescope.report.answer import headline
from judgescope.report.cell_words import number_row, second_line
from judgescope.report.cells import (
    FLAT,
    NO_WIDTH_TOLD,
    UNDEFINED,
    ReportCell,
    count_cell,
    estimate,
    figures,
    short,
    words_cell,
)
from judgescope.report.claims import FIRST, ReportedClaim, claims
from judgescope.report.drawing import SIGN_WORDS
from judgescope.report.elements import (
    LONGEST,
    Body,
    Facts,
    Fold,
    Heading,
    PageBlock,
    PageTable,
    Paragraph,
    TableColumn,
    TableLine,
    columns_of,
)
from judgescope.report.false_claims import false_claims
from judgescope.report.headline import PERSON, HeadlineColumn, measures
from judgescope.report.matrix_maker import CHARACTERS, kind_words
from judgescope.report.report import Report, ShownDataset, ShownJudge
from judgescope.report.rows import ReportRows
from judgescope.report.sections import trust
from judgescope.report.sections.study import DIFFER
from judgescope.report.standings import href_of, judge_anchor, standings
from judgescope.report.tables import agreed_with, judge_bodies
from judgescope.report.words import (
    DASH,
    FIT_SENTENCE,
    LEVELS,
    label,
    listed,
    plural,
    spoken,
)
from judgescope.statistics.verdict import Sign

BEHIND = "headline"
"""The id of what says how the first sentence came about."""
BELOW = "†"
SIGNS = (
    ("[low, high]", "the 95 % interval of the number above it"),
    (FLAT, NO_WIDTH_TOLD.removeprefix(f"{FLAT} ")),
    (BELOW, "below at least one control, by point estimate"),
    (
        "a, b, c",
        "judges that share a letter do not differ significantly in a paired "
        "permutation test (Holm over all pairs of the column, p ≤ 0.05); next to a "
        "rank correlation within sources, in a test of Spearman by source",
    ),
    (DASH, "not defined; the reason is below it"),
    (
        "n, missing, tied",
        "the texts or sources behind a number, those without a score, and ties",
    ),
    (
        "difference",
        "of two judges, on the same items; if the interval includes 0, they are not "
        "distinguished",
    ),
    (
        "shade",
        "darker is larger: in steps at 10, 25, 50 and 75 % of a row; for right "
        "answers, at 50, 70, 85 and 95 %",
    ),
    (
        "outline",
        "the class that is right, or the aspect that a perturbation should lower",
    ),
    ("control", "a baseline that ignores quality; not a judge, and never ranked"),
)


def every_claim(report: Report) -> Iterator[PageBlock]:
    """Yield how the first sentence came about, and every claim with its evidence."""
    answer = headline(report)
    headline_rule = (
        "The first sentence is written by the first rule that applies (rule {}); the "
        "rules are the same for every study. The judges that it may name are no "
        "controls, are not told any rating, and are no measures while a model judges. "
        "Behind it:"
    )
    if answer.behind:
        yield Heading("How the first sentence came about", BEHIND)
        yield Paragraph(headline_rule.format(answer.rule))
        yield Paragraph(answer.text, items=list(map(_behind, answer.behind)))
    of_judges = {}
    for judge in standings(report).ranked:
        about = [claim for claim in claims(report, judge) if claim.kind != FIRST]
        of_judges[judge] = about
    number = sum(map(len, of_judges.values()))
    if not number:
        yield Paragraph("No number that decides a claim was measured.")
    elif number > LONGEST:
        yield _by_judge(report, of_judges)
    else:
        yield _by_claim(report, of_judges)
    for judge in report.real_judges:
        first = [c.subject for c in claims(report, judge) if c.kind == FIRST]
        if first:
            yield Paragraph(
                f"`{judge.id}`: above every other judge on {listed(first)}."
            )
        if judge.scores_texts:
            yield Paragraph(f"`{judge.id}`: {FIT_SENTENCE}", style="small")


def _behind(claim: ReportedClaim) -> str:
    """A claim behind the first sentence, in words."""
    row = number_row(claim)
    shown = ""
    if row.value is not None:
        shown = f": {label(row.statistic)} {figures(row)}"
    respect = claim.respect.format(claim.subject)
    return f"`{claim.judge}`, {respect}{shown}; {SIGN_WORDS[claim.sign]}"


def _by_claim(
    report: Report, of_judges: Mapping[ShownJudge, Sequence[ReportedClaim]]
) -> PageTable:
    """One line a claim; each leads to its evidence on the page of its judge."""
    bodies = []
    for judge, about in of_judges.items():
        lines = []
        for claim in about:
            row = number_row(claim)
            name = ""
            if row.statistic != VERDICT:
                name = label(row.statistic)
            cells = [
                words_cell(SIGN_WORDS[claim.sign]),
                estimate(row, counts=True) if name else UNDEFINED,
                words_cell(name),
                words_cell(second_line(report, claim)),
            ]
            line = TableLine(
                claim.respect.format(claim.subject),
                cells,
                report.names[claim.dataset],
                href=href_of(report, judge, claim) if judge.card else "",
            )
            lines.append(line)
        bodies.append(Body(lines, f"`{judge.id}`", id=judge_anchor(report, judge)))
    columns = [
        *columns_of(["Outcome"], style="words"),
        *columns_of(["Value"]),
        *columns_of(["Number", "Beside it"], style="words"),
    ]
    caption = "Every claim; its evidence is on the page of its judge."
    source = "tables/verdicts.csv"
    return PageTable(caption, "Claim", columns, bodies, (), code=False, source=source)


def _by_judge(
    report: Report, of_judges: Mapping[ShownJudge, Sequence[ReportedClaim]]
) -> PageTable:
    """One line a judge: so many claims are on the pages of their judges."""
    lines = []
    for judge, about in of_judges.items():
        signs = Counter(claim.sign for claim in about)
        cells = [count_cell(signs[sign]) for sign in Sign]
        href = f"{judge.card}#evidence" if judge.card else ""
        lines.append(TableLine(judge.id, cells, kind_words(judge), href=href))
    bodies = [
        Body([line], id=judge_anchor(report, judge))
        for judge, line in zip(of_judges, lines, strict=True)
    ]
    columns = columns_of([SIGN_WORDS[sign].partition(",")[0] for sign in Sign])
    caption = (
        "Claims by outcome; each claim is on the page of its judge, all are in "
        "tables/verdicts.csv."
    )
    return PageTable(caption, "Judge", columns, bodies, source="tables/verdicts.csv")


def measured(report: Report) -> str:
    """Return the size of the study in one line of numbers."""
    controls = len(report.judges) - len(report.real_judges)
    coverage = report.rows("coverage").where(dataset=tuple(report.names))
    asked = coverage.where(statistic="coverage").defined
    cells = len({(row.dataset, row.cell, row.judge) for row in asked})
    items = 0
    rated = 0
    for dataset in report.datasets:
        items += dataset.counts.items
        rated += dataset.counts.targets
    kinds = report.spec.study.perturbations
    parts = [
        plural(len(report.datasets), "dataset"),
        plural(items, "item"),
        plural(rated, "rated text") if rated else "",
        f"{plural(len(report.real_judges), 'judge')} and {plural(controls, 'control')}",
        plural(len(kinds), "perturbation") if kinds else "",
        f"{plural(round(coverage.total('count_ok')), 'judgment')} in "
        f"{plural(cells, 'cell')}",
    ]
    return " · ".join(filter(None, parts))


def limits(report: Report, dataset: ShownDataset, _: ReportRows) -> Iterator[PageBlock]:
    """Yield the limits of the verdicts: controls above judges, and numbers that no
    judge has.
    """
    planned = measures(report, dataset)
    if not planned:
        yield Paragraph(
            "The study plans no statistic with a value per judge on this dataset."
        )
        return
    real = report.real_judges
    shown = [measure for measure in planned if measure.defined(real)]
    outranked = list[str]()
    for measure in shown:
        outranked += _outranked(measure, real)
    if outranked:
        warning = (
            "Warning: a control ranks above a judge here (the difference is not "
            "tested)."
        )
        yield Paragraph(warning, items=outranked, style="warning")
    undefined = []
    for measure in planned:
        if measure not in shown:
            reasons = dict[str, None]()
            for row in map(measure.row, report.judges):
                if row and row.value is None:
                    reasons[spoken(row.note)] = None
            undefined.append(f"{measure.group}, {measure.name}: {'; '.join(reasons)}.")
    if undefined:
        yield Paragraph("Planned, but undefined for every judge:", items=undefined)
    if shown:
        numbers = [_numbers(report, shown)]
        yield Fold("The numbers by which judges are compared", numbers)
    signatures = []
    for judge in report.judges:
        for measure in planned:
            row = measure.row(judge)
            if row:
                signatures.append((row.judge, row.signature))
                break
    note = (
        "The signature of each judge's first number; those of its other numbers on "
        f"this dataset differ in the parts {DIFFER}."
    )
    yield Fold(
        "Signatures", [Paragraph(note, style="small"), Facts(signatures, code=True)]
    )


def foot(report: Report) -> str:
    """Return how many false claims are to be expected, "" where none is tested."""
    every: list[ReportedClaim] = []
    for judge in report.real_judges:
        every += [claim for claim in claims(report, judge) if claim.kind != FIRST]
    return false_claims(every).sentence


# --- numbers that are compared --------------------------------------------------------


def _numbers(report: Report, shown: Sequence[HeadlineColumn]) -> PageTable:
    """Return the numbers by which judges are compared, of people and controls, too."""

    def cells(judge: ShownJudge) -> list[ReportCell]:
        of_judge = []
        for measure in shown:
            row = measure.row(judge)
            mark = measure.letters(judge)
            if not judge.control and measure.below_control(row):
                mark += BELOW
            of_judge.append(estimate(row, mark=mark))
        return of_judge

    bodies = judge_bodies(report.judges, cells)
    columns = []
    of_people = []
    any_of_people = False
    for measure in shown:
        row = measure.row(PERSON)
        of_people.append(estimate(row) if row else UNDEFINED)
        any_of_people |= row is not None and row.value is not None
        note = f"{measure.group}; n counts {measure.noun}"
        columns.append(TableColumn(measure.name, note, measure.dataset.name))
    if any_of_people:
        bodies.insert(0, Body([TableLine("people", of_people, about=PERSON.about)]))
    about = [f"{dataset.name}: {agreed_with(dataset)}" for dataset in report.datasets]
    return PageTable(f"{'; '.join(about)}.", "Judge", columns, bodies)


def _outranked(measure: HeadlineColumn, real: Sequence[ShownJudge]) -> Iterator[str]:
    known = measure.defined(real)
    control = measure.best_control
    under = []
    for row in known:
        if measure.below_control(row):
            under.append(row)
    if control and under:
        names = listed([f"`{row.judge}` ({short(row)})" for row in under])
        word = ""
        if measure.criterion:
            word = f" (wording {measure.criterion})"
        yield (
            f"{measure.name}{word}: control `{control.judge}` ({short(control)}) ranks "
            f"above {len(under)} of {plural(len(known), 'judge')}: {names}."
        )


# --- the legend -----------------------------------------------------------------------


def legend(_: Report) -> Iterator[PageBlock]:
    """Yield the signs of outcomes, the rules behind them, the signs of tables, and the
    levels.
    """
    yield Heading("Signs of an outcome", "legend-outcomes")
    outcomes = zip(CHARACTERS.values(), SIGN_WORDS.values(), strict=True)
    yield Facts([*outcomes])
    yield Paragraph(trust.RULES)
    yield Heading("Signs in tables", "legend-signs")
    yield Facts(SIGNS)
    yield Heading("Levels of agreement", "legend-levels")
    yield Facts([*LEVELS.values()])
