"""The first screen, what can be said of each judge, and the legend of all signs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from judgescope.methods.claims.base import AGREEMENT, BAR, LABELS
from judgescope.report.cells import (
    FLAT,
    NO_WIDTH_TOLD,
    UNDEFINED,
    ReportCell,
    dollars_cell,
    estimate,
    figures,
    of_few,
    short,
)
from judgescope.report.charts import svg
from judgescope.report.claims import FIRST, GOOD, ReportedClaim, claims
from judgescope.report.elements import (
    Body,
    Facts,
    Fold,
    Heading,
    LegendKey,
    Mark,
    Overview,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    Standing,
    TableColumn,
    TableLine,
    page_of,
)
from judgescope.report.headline import PERSON, HeadlineColumn, measures
from judgescope.report.panels import Forest, forest_spec
from judgescope.report.report import Dataset, Report, ShownJudge, ids_of
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.sections import sentences, trust
from judgescope.report.sections.cost import ALL, free, price_in_words, price_per_1000
from judgescope.report.sections.study import DIFFER
from judgescope.report.tables import agreed_with, judge_bodies, leaders
from judgescope.report.words import (
    DASH,
    FIT_SENTENCE,
    LEVELS,
    THOUSAND,
    label,
    listed,
    plural,
    spoken,
)
from judgescope.statistics.intervals import holm
from judgescope.statistics.verdict import LEVEL, Outcome, Sign

CLICK = " Click a cell for its evidence."
"""The end of the lead on a page."""
PLANTED = "Planted judges (simulated, with a known defect)"
GROUPS = ("Models", "Measures", PLANTED, "Controls")
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


def first_screen(report: Report) -> list[PageBlock]:
    """Return the first screen."""
    return [_overview(report)]


def every_claim(report: Report) -> Iterator[PageBlock]:
    """Yield an answer and every claim about each judge."""
    for judge in report.judges:
        about = claims(report, judge)
        id = anchor(report, judge)
        verdict = sentences.no_score(report, judge) or trust.answer(
            report, judge, about
        )
        if judge.control:
            verdict = f"A control: {judge.about}. No claim is made about it."
        elif judge.planted:
            about_judge = f"A planted judge, no real one. {judge.about.capitalize()}."
            verdict = f"{about_judge} {verdict}"
        else:
            first = [claim.subject for claim in about if claim.kind == FIRST]
            if first:
                verdict = f"{verdict} Above every other judge on {listed(first)}."
        if judge.scores_texts:
            verdict = f"{verdict} {FIT_SENTENCE}"
        if about or not judge.control:
            yield Heading(f"`{judge.id}`", id)
            yield Paragraph(verdict)
        if about:
            yield trust.evidence(report, about, id, judge.card)


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


def limits(report: Report, dataset: Dataset, _: ReportRows) -> Iterator[PageBlock]:
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


# --- expected false claims ------------------------------------------------------------


def false_claims(report: Report) -> str:
    """Return how many false claims are to be expected, "" where none is tested.

    Holm's correction is made over a family: the claims of one judge, dataset and kind.
    Each of F families has a false claim in at most .025 of studies. The sentence also
    says how many claims that hold do so over the whole page (Holm over all of them).
    """
    families = set[tuple[str, str, str]]()
    held = []
    ps = []
    for judge in report.real_judges:
        for claim in claims(report, judge):
            if claim.kind != FIRST and claim.p is not None:
                families.add((claim.judge, claim.dataset, claim.kind))
                held.append(claim.outcome in GOOD)
                ps.append(claim.p)
    if not ps:
        return ""
    adjusted = holm(ps).tolist()
    kept = 0
    for good, p in zip(held, adjusted, strict=True):
        kept += good and p <= LEVEL
    number = len(families)
    of_all = "Of the one family" if number == 1 else f"Of the {number:,} families"
    return (
        f"{of_all} of claims on this page (of one judge, dataset and kind), at most "
        f"{LEVEL * number:.2g} false claims are expected; {kept:,} of "
        f"{plural(sum(held), 'claim')} that hold do so over the whole page, too."
    )


# --- the matrix -----------------------------------------------------------------------


def _overview(report: Report) -> Overview:
    """Return the answers, the matrix and the forest plot, the best judges first."""
    ranked = sorted(report.judges, key=partial(_rank, report))
    per_judge = {
        judge.id: trust.answered(report, claims(report, judge)) for judge in ranked
    }
    asked = _questions(per_judge.values())
    costs = report.rows("cost")
    priced = len(costs) > 0 and not free(row for row in costs if row.judge != ALL)

    groups: dict[str, list[Standing]] = {}
    used = set[str]()
    for judge in ranked:
        mine = per_judge[judge.id]
        if judge.control and not mine:
            continue
        standing = _standing(report, judge, mine, asked)
        if priced:
            price = _price(costs.where(judge=judge.id))
            standing = replace(standing, marks=[*standing.marks, price])
        used.update(mark.step for mark in standing.marks)
        groups.setdefault(GROUPS[_group(judge)], []).append(standing)
    columns = [TableColumn(question.title, group=question.group) for question in asked]
    if priced:
        columns.append(TableColumn(f"US$ per {THOUSAND}", group="Cost"))
    steps = []
    for step, (sign, meaning) in reversed(trust.STEP_WORDS.items()):
        if step in used:
            steps.append((step, sign, meaning))
    return Overview(
        bars=[*_bars(report)],
        columns=columns,
        groups=[*groups.items()],
        steps=steps,
        figure=_forest(report, ranked),
        foot=false_claims(report),
    )


def _questions(
    answered: Iterable[Mapping[trust.TrustQuestion, Sequence[ReportedClaim]]],
) -> list[trust.TrustQuestion]:
    """The questions that claims answer, in the order of the columns: by rank, those of
    a group side by side.
    """
    every = dict.fromkeys(chain.from_iterable(answered))
    groups = [question.group for question in every]
    return sorted(
        every, key=lambda question: (question.rank, groups.index(question.group))
    )


def _standing(
    report: Report,
    judge: ShownJudge,
    mine: Mapping[trust.TrustQuestion, Sequence[ReportedClaim]],
    asked: Sequence[trust.TrustQuestion],
) -> Standing:
    """A judge's answer and its line of the matrix, without the price."""
    id = anchor(report, judge)
    marks = [_mark(question, judge, mine, id) for question in asked]
    text = ""
    if not judge.control:
        text = trust.answer(report, judge, claims(report, judge))
    href = f"{page_of('evidence')}#{id}" if mine else ""
    return Standing(judge.id, judge.card, text, href, marks)


def _group(judge: ShownJudge) -> int:
    if judge.control or judge.planted:
        return GROUPS.index("Controls" if judge.control else PLANTED)
    return int(judge.engine == "lexical")


def _rank(report: Report, judge: ShownJudge) -> tuple[int, bool, int, int, int, float]:
    """Return the sort key of judges: kind, hinted last, most claims that hold, then
    most that agree with limits, fewest that fail.

    Among equals, those that agree more come first.
    """
    every = [claim for claim in claims(report, judge) if claim.kind != FIRST]
    signs = Counter(claim.sign for claim in every)
    agreement = sum(
        claim.row.value or 0.0 for claim in every if claim.kind == AGREEMENT
    )
    held = signs[Sign.HOLDS]
    limited = signs[Sign.RULE]
    failed = signs[Sign.FAILS]
    return _group(judge), bool(judge.hint), -held, -limited, failed, -agreement


def anchor(report: Report, judge: ShownJudge) -> str:
    """Return the id of a judge's evidence."""
    return f"evidence-{report.judges.index(judge)}"


def _mark(
    question: trust.TrustQuestion,
    judge: ShownJudge,
    mine: Mapping[trust.TrustQuestion, Sequence[ReportedClaim]],
    prefix: str,
) -> Mark:
    """Return a cell of the matrix; a control has a number and reaches no step."""
    if question not in mine:
        return Mark()
    part = mine[question]
    text = trust.figure_of(question, part)
    href = f"{page_of('evidence')}#{prefix}-{[*mine].index(question)}"
    names = ", ".join(filter(None, (question.group, question.title)))
    if judge.control:
        return Mark(text, meaning=f"{names}; a control, not a judge", href=href)
    step = trust.step_of(question, part)
    sign, words = trust.STEP_WORDS[step]
    details = ["claims that hold"]
    if len(part) == 1:
        details = [
            figures(trust.deciding(question, part[0])),
            *sentences.reasons(part[0]),
        ]
    return Mark(text, step, sign, "; ".join([words, names, *details]), href)


def _price(rows: ReportRows) -> Mark:
    if not len(rows):
        return Mark()
    text = "free" if free(rows) else dollars_cell(price_per_1000(rows)).text
    return Mark(text, meaning=price_in_words(rows), href=page_of("cost"))


def _bars(report: Report) -> Iterator[str]:
    """Yield what judges miss, and for each bar that the study states who meets and
    misses it.
    """
    by_bar: dict[str, list[ReportedClaim]] = {}
    for judge in report.real_judges:
        of_judge = claims(report, judge)
        for text in trust.misses(report, of_judge):
            yield f"`{judge.id}` {text}."
        for claim in of_judge:
            if claim.kind.startswith(BAR):
                respect = claim.respect.format(claim.subject)
                bar = f"{respect}, {report.names[claim.dataset]}"
                by_bar.setdefault(bar, []).append(claim)
    for bar, about in by_bar.items():
        parts = []
        for outcome, verb in (
            (Outcome.MEETS, "met by"),
            (Outcome.MISSES, "missed by"),
            (Outcome.CANNOT_TELL, "cannot tell for"),
            (Outcome.NO_CLAIM, "no claim for"),
        ):
            judges = [_needing(claim) for claim in about if claim.outcome == outcome]
            if not judges:
                continue
            few = len(judges) <= sentences.FEW
            parts.append(
                f"{verb}: {listed(judges) if few else plural(len(judges), 'judge')}"
            )
        yield f"Required: {bar}; {'; '.join(parts)}."


def _needing(claim: ReportedClaim) -> str:
    """A claim's judge, and how much more data would decide it, if that is known."""
    row = claim.others.get("more_needed")
    if row is None:
        return f"`{claim.judge}`"
    return f"`{claim.judge}` ({sentences.more_needed(row)})"


# --- the forest plot ------------------------------------------------------------------


def _forest(
    report: Report, ranked: Sequence[ShownJudge], most_drawn: int = 20
) -> PageFigure | None:
    """Return agreement with intervals, beside that of one rater and of the controls.

    Where no aspect has a rank correlation, it is that of labels. The figure has the
    first `most_drawn` judges, its table all.
    """
    by_kind = dict[str, list[HeadlineColumn]]()
    for dataset in report.datasets:
        for measure in measures(report, dataset):
            by_kind.setdefault(measure.kind, []).append(measure)
    kind = AGREEMENT if AGREEMENT in by_kind else LABELS
    every = by_kind.get(kind, [])
    real = [judge for judge in ranked if not judge.control]
    drawn = real[:most_drawn]
    shown = [measure for measure in every if _with_interval(measure, drawn)]
    if not shown:
        return None
    forests = [_forest_of(report, measure, drawn) for measure in shown]
    keys = [LegendKey("●", "blue", "judge, with 95 % interval")]
    if any(forest.people is not None for forest in forests):
        keys.append(LegendKey("┆", "green", "one rater"))
    if any(forest.band for forest in forests):
        keys.append(LegendKey("■", "red", "controls, lowest to highest"))
    names = ids_of(drawn)
    return PageFigure(
        "Agreement" if kind == AGREEMENT else "Labels",
        svg(forest_spec(forests, names, x=label(shown[0].statistic))),
        _best_in_words(report, shown[0], ", ".join(forests[0].titles), real),
        keys,
        _numbers(report, every),
    )


def _with_interval(
    measure: HeadlineColumn, judges: Sequence[ShownJudge]
) -> list[ReportRow]:
    """The numbers of judges, without those of too few texts to have an interval."""
    return [row for row in measure.defined(judges) if not of_few(row)]


def _forest_of(
    report: Report, measure: HeadlineColumn, judges: Sequence[ShownJudge]
) -> Forest:
    """One panel: the judges' numbers, one rater's, and the range of the controls."""
    by_judge = {row.judge: row for row in _with_interval(measure, judges)}
    points = list(map(by_judge.get, ids_of(judges)))
    people = measure.row(PERSON)
    controls = _with_interval(measure, report.plain_controls)
    values = [row.value or 0.0 for row in controls]
    titles = [measure.name]
    if len(report.datasets) > 1:
        titles.append(measure.dataset.name)
    return Forest(
        titles,
        points,
        people.value if people else None,
        (min(values), max(values)) if values else None,
    )


def _best_in_words(
    report: Report,
    measure: HeadlineColumn,
    where: str,
    judges: Sequence[ShownJudge],
) -> str:
    """The sentence on the best judge among those whose claim holds."""
    asked = (measure.kind, measure.dataset.id, measure.aspect)
    agreeing = []
    for judge in judges:
        for claim in claims(report, judge):
            about = (claim.kind, claim.dataset, claim.row.aspect)
            if about == asked and claim.outcome in GOOD:
                agreeing.append(judge)
                break
    best = leaders(agreeing, _with_interval(measure, agreeing))
    if not best:
        whom = report.raters([measure.dataset.id])
        return (
            f"No judge is shown to agree with {whom} on {where} better than "
            f"{trust.BLIND}."
        )
    leading = listed([f"`{row.judge}`" for row in best[: sentences.FEW]])
    return (
        f"The highest on {where}, and better than chance: {leading}, "
        f"{figures(best[0])}."
    )


def _numbers(report: Report, shown: list[HeadlineColumn]) -> PageTable:
    """Return the numbers of the forest plot, of people and controls, too."""

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
    under = [row for row in known if measure.below_control(row)]
    if control and under:
        names = listed([f"`{row.judge}` ({short(row)})" for row in under])
        word = f" (wording {measure.criterion})" if measure.criterion else ""
        yield (
            f"{measure.name}{word}: control `{control.judge}` ({short(control)}) ranks "
            f"above {len(under)} of {plural(len(known), 'judge')}: {names}."
        )


# --- the legend -----------------------------------------------------------------------


def legend(_: Report) -> Iterator[PageBlock]:
    """Yield the steps of verdicts, the rules behind them, the signs of tables, and the
    levels.
    """
    yield Heading("Steps of a verdict", "legend-steps")
    steps = list(reversed(trust.STEP_WORDS.values()))
    yield Facts(steps)
    yield Paragraph(trust.RULES)
    yield Heading("Signs in tables", "legend-signs")
    yield Facts(SIGNS)
    yield Heading("Levels of agreement", "legend-levels")
    yield Facts([*LEVELS.values()])
