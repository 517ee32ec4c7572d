"""The first screen, what can be said of each judge, and the legend of all signs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import nan

from judgescope.methods.claims.base import AGREEMENT, BAR, LABELS
from judgescope.report.cells import (
    FLAT,
    NO_WIDTH_TOLD,
    UNDEFINED,
    Cell,
    dollars_cell,
    estimate,
    figures,
    of_few,
    short,
)
from judgescope.report.charts import svg
from judgescope.report.claims import FIRST, GOOD, Claim, claims
from judgescope.report.elements import (
    Block,
    Body,
    Column,
    Facts,
    Figure,
    Fold,
    Heading,
    Key,
    Line,
    Mark,
    Overview,
    Section,
    Standing,
    Table,
    Text,
    page_of,
)
from judgescope.report.headline import PERSON, Measure, measures
from judgescope.report.panels import Forest, forest_spec
from judgescope.report.report import Dataset, Judge, Report, in_group
from judgescope.report.rows import Row, Rows
from judgescope.report.sections import trust
from judgescope.report.sections.cost import ALL, free, price_in_words, price_per_1000
from judgescope.report.sections.study import DIFFER
from judgescope.report.tables import agreed_with, judge_bodies, leaders, section_of
from judgescope.report.words import (
    DASH,
    LEVELS,
    THOUSAND,
    label,
    listed,
    plural,
    spoken,
)
from judgescope.statistics.intervals import holm
from judgescope.statistics.verdict import LEVEL, Outcome, Sign

LEAD = (
    "Each cell shows the verdict of its weakest claim (see the signs below), with the "
    "deciding number or how many claims hold."
)
CLICK = " Click a cell for its evidence."
"""The end of the lead on a page."""
EVIDENCE_LEAD = (
    "What can be said of each judge, and every claim behind it with its number, its "
    "test and the texts on which the judge does worst. The sentences are written by "
    "rules from the numbers, in the same way for every study."
)
LIMITS_LEAD = (
    "Read this before you use a verdict: a control ignores quality, so a "
    "judge should be better."
)
PLANTED = "Planted judges (simulated, with a known defect)"
GROUPS = ("Models", "Measures", PLANTED, "Controls")
BAR_VERBS = {
    Outcome.MEETS: "met by",
    Outcome.MISSES: "missed by",
    Outcome.CANNOT_TELL: "cannot tell for",
    Outcome.NO_CLAIM: "no claim for",
}
MOST_DRAWN = 20
"""Maximum number of judges in the forest plot; its table has all."""
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


@in_group("Verdict", 10)
def section(report: Report) -> Section:
    """Return the first screen."""
    return Section("judges", "The judges", LEAD + CLICK, [_overview(report)])


@in_group("Verdict", 20)
def evidence_section(report: Report) -> Section | None:
    """Return an answer and every claim about each judge."""
    blocks: list[Block] = []
    for judge in report.judges:
        about, id = claims(report, judge), anchor(report, judge)
        said = trust.no_score(report, judge) or trust.answer(report, judge, about)
        if judge.control:
            said = f"A control: {judge.about}. No claim is made about it."
        elif judge.planted:
            said = f"A planted judge, no real one. {judge.about.capitalize()}. {said}"
        elif first := [claim.subject for claim in about if claim.kind == FIRST]:
            said = f"{said} Above every other judge on {listed(first)}."
        if about or not judge.control:
            blocks += [Heading(f"`{judge.id}`", id), Text(said)]
        blocks += [trust.evidence(report, about, id, judge.card)] if about else []
    return Section("evidence", "Every claim", EVIDENCE_LEAD, blocks) if blocks else None


def measured(report: Report) -> str:
    """Return the size of the study in one line of numbers."""
    controls = sum(judge.control for judge in report.judges)
    coverage = report.rows("coverage").where(dataset=tuple(report.names))
    asked = coverage.where(statistic="coverage").defined.frame
    cells = len(asked.drop_duplicates(["dataset", "cell", "judge"]))
    rated = sum(dataset.counts.targets for dataset in report.datasets)
    kinds = report.spec.study.perturbations
    parts = [
        plural(len(report.datasets), "dataset"),
        plural(sum(dataset.counts.items for dataset in report.datasets), "item"),
        plural(rated, "rated text") if rated else "",
        f"{plural(len(report.judges) - controls, 'judge')} and "
        f"{plural(controls, 'control')}",
        plural(len(kinds), "perturbation") if kinds else "",
        f"{plural(round(coverage.total('count_ok')), 'judgment')} in "
        f"{plural(cells, 'cell')}",
    ]
    return " · ".join(part for part in parts if part)


@section_of("Verdict", 30, "limits", "Controls and limits", LIMITS_LEAD, always=True)
def limits(report: Report, dataset: Dataset, _: Rows) -> Iterator[Block]:
    """Yield the limits of the verdicts: controls above judges, and numbers that no
    judge has.
    """
    planned = measures(report, dataset)
    if not planned:
        yield Text(
            "The study plans no statistic with a value per judge on this dataset."
        )
        return
    real = [judge for judge in report.judges if not judge.control]
    shown = [measure for measure in planned if measure.defined(real)]
    outranked = [text for measure in shown for text in _outranked(measure, real)]
    if outranked:
        warning = (
            "Warning: a control ranks above a judge here (the difference is not "
            "tested)."
        )
        yield Text(warning, items=outranked, style="warning")
    undefined = []
    for measure in planned:
        if measure not in shown:
            rows = map(measure.row, report.judges)
            reasons = dict.fromkeys(
                spoken(row.note) for row in rows if row and row.value is None
            )
            undefined.append(f"{measure.group}, {measure.name}: {'; '.join(reasons)}.")
    if undefined:
        yield Text("Planned, but undefined for every judge:", items=undefined)
    signatures = []
    for judge in report.judges:
        numbers = filter(None, (measure.row(judge) for measure in planned))
        signatures += [(row.judge, row.signature) for row in numbers][:1]
    note = (
        "The signature of each judge's first number; those of its other numbers on "
        f"this dataset differ in the parts {DIFFER}."
    )
    yield Fold("Signatures", [Text(note, style="small"), Facts(signatures, code=True)])


# --- expected false claims ------------------------------------------------------------


def false_claims(report: Report) -> str:
    """Return how many false claims are to be expected, "" where none is tested.

    Holm's correction is made over a family: the claims of one judge, dataset and kind.
    Each of F families has a false claim in at most .025 of studies. The sentence also
    says how many claims that hold do so over the whole page (Holm over all of them).
    """
    tested = [
        claim
        for judge in report.judges
        if not judge.control
        for claim in claims(report, judge)
        if claim.kind != FIRST and claim.p is not None
    ]
    if not tested:
        return ""
    families = len({(one.judge, one.dataset, one.kind) for one in tested})
    adjusted = holm([one.p if one.p is not None else nan for one in tested])
    held = [one.outcome in GOOD for one in tested]
    kept = sum(
        good and p <= LEVEL for good, p in zip(held, adjusted.tolist(), strict=True)
    )
    of_all = "Of the one family" if families == 1 else f"Of the {families:,} families"
    return (
        f"{of_all} of claims on this page (of one judge, dataset and kind), at most "
        f"{LEVEL * families:.2g} false claims are expected; {kept:,} of "
        f"{plural(sum(held), 'claim')} that hold do so over the whole page, too."
    )


# --- the matrix -----------------------------------------------------------------------


def _overview(report: Report) -> Overview:
    """Return the answers, the matrix and the forest plot, the best judges first."""
    ranked = sorted(report.judges, key=partial(_rank, report))
    per_judge = {
        judge.id: trust.answered(report, claims(report, judge)) for judge in ranked
    }
    every = dict.fromkeys(question for mine in per_judge.values() for question in mine)
    order = [question.group for question in every]
    asked = sorted(
        every, key=lambda question: (question.rank, order.index(question.group))
    )
    costs = report.rows("cost")
    priced = len(costs) > 0 and not free(row for row in costs if row.judge != ALL)

    def standing(judge: Judge) -> Standing:
        mine = per_judge[judge.id]
        prefix = anchor(report, judge)
        marks = [_mark(question, judge, mine, prefix) for question in asked]
        marks += [_price(costs.where(judge=judge.id))] if priced else []
        text = (
            "" if judge.control else trust.answer(report, judge, claims(report, judge))
        )
        way = f"{page_of('evidence')}#{prefix}" if mine else ""
        return Standing(judge.id, judge.card, text, way, marks)

    groups: dict[str, list[Standing]] = {}
    for judge in ranked:
        if not judge.control or per_judge[judge.id]:
            groups.setdefault(GROUPS[_group(judge)], []).append(standing(judge))
    columns = [Column(question.title, group=question.group) for question in asked]
    columns += [Column(f"US$ per {THOUSAND}", group="Cost")] if priced else []
    used = {mark.step for part in groups.values() for one in part for mark in one.marks}
    steps = [
        (step, *words)
        for step, words in reversed(trust.STEP_WORDS.items())
        if step in used
    ]
    bars, figure = [*_bars(report)], _forest(report, ranked)
    foot = false_claims(report)
    return Overview(bars, columns, [*groups.items()], steps, figure, foot)


def _group(judge: Judge) -> int:
    if judge.control or judge.planted:
        return GROUPS.index("Controls" if judge.control else PLANTED)
    return int(judge.engine == "lexical")


def _rank(report: Report, judge: Judge) -> tuple[int, bool, int, int, int, float]:
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


def anchor(report: Report, judge: Judge) -> str:
    """Return the id of a judge's evidence."""
    return f"evidence-{report.judges.index(judge)}"


def _mark(
    question: trust.Question,
    judge: Judge,
    mine: Mapping[trust.Question, Sequence[Claim]],
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
        details = [figures(trust.deciding(question, part[0])), *trust.reasons(part[0])]
    return Mark(text, step, sign, "; ".join([words, names, *details]), href)


def _price(rows: Rows) -> Mark:
    if not len(rows):
        return Mark()
    text = "free" if free(rows) else dollars_cell(price_per_1000(rows)).text
    return Mark(text, meaning=price_in_words(rows), href=page_of("cost"))


def _bars(report: Report) -> Iterator[str]:
    """Yield what judges miss, and for each bar that the study states who meets and
    misses it.
    """
    found: dict[str, list[Claim]] = {}
    for judge in [judge for judge in report.judges if not judge.control]:
        yield from (
            f"`{judge.id}` {text}."
            for text in trust.misses(report, claims(report, judge))
        )
        for claim in claims(report, judge):
            if claim.kind.startswith(BAR):
                bar = (
                    f"{claim.respect.format(claim.subject)}, "
                    f"{report.names[claim.dataset]}"
                )
                found.setdefault(bar, []).append(claim)
    for bar, about in found.items():
        parts = []
        for outcome, verb in BAR_VERBS.items():
            who = []
            for claim in (claim for claim in about if claim.outcome == outcome):
                row = claim.others.get("more_needed")
                who.append(
                    f"`{claim.judge}`{f' ({trust.more_needed(row)})' if row else ''}"
                )
            few = listed(who) if len(who) <= trust.FEW else plural(len(who), "judge")
            parts += [f"{verb}: {few}"] if who else []
        yield f"Required: {bar}; {'; '.join(parts)}."


# --- the forest plot ------------------------------------------------------------------


def _forest(report: Report, ranked: Sequence[Judge]) -> Figure | None:
    """Return agreement with intervals, beside that of one rater and of the controls.

    Where no aspect has a rank correlation, it is that of labels.
    """

    def numbers(measure: Measure, judges: Sequence[Judge]) -> list[Row]:
        return [row for row in measure.defined(judges) if not of_few(row)]

    known = [
        measure for dataset in report.datasets for measure in measures(report, dataset)
    ]
    kind = AGREEMENT if any(measure.kind == AGREEMENT for measure in known) else LABELS
    every = [measure for measure in known if measure.kind == kind]
    real = [judge for judge in ranked if not judge.control][:MOST_DRAWN]
    shown = [measure for measure in every if numbers(measure, real)]
    if not shown:
        return None
    controls = [judge for judge in report.judges if judge.engine == "control"]
    panels = []
    for measure in shown:
        levels = {row.judge: row for row in numbers(measure, real)}
        points, people = [levels.get(judge.id) for judge in real], measure.row(PERSON)
        values = [row.value or 0.0 for row in numbers(measure, controls)]
        band = (min(values), max(values)) if values else None
        several = len(report.datasets) > 1
        titles = [measure.name, *([measure.dataset.name] if several else [])]
        panels.append(Forest(titles, points, people.value if people else None, band))
    first = shown[0]
    place, where = (kind, first.dataset.id, first.aspect), ", ".join(panels[0].titles)
    agreeing = [
        judge
        for judge in ranked
        if not judge.control
        and any(
            claim.outcome in GOOD
            for claim in claims(report, judge)
            if (claim.kind, claim.dataset, claim.row.aspect) == place
        )
    ]
    best = leaders(agreeing, numbers(first, agreeing))
    who = listed([f"`{row.judge}`" for row in best[: trust.FEW]])
    whom = report.raters(place[1:2])
    summary = (
        f"No judge is shown to agree with {whom} on {where} better than {trust.BLIND}."
    )
    if best:
        summary = (
            f"The highest on {where}, and better than chance: {who}, "
            f"{figures(best[0])}."
        )
    drawn = svg(
        forest_spec(panels, [judge.id for judge in real], x=label(first.statistic))
    )
    keys = [Key("●", "blue", "judge, with 95 % interval")]
    keys += (
        [Key("┆", "green", "one rater")]
        if any(p.people is not None for p in panels)
        else []
    )
    keys += (
        [Key("■", "red", "controls, lowest to highest")]
        if any(p.band for p in panels)
        else []
    )
    title = "Agreement" if kind == AGREEMENT else "Labels"
    return Figure(title, drawn, summary, keys, _numbers(report, every))


def _numbers(report: Report, shown: list[Measure]) -> Table:
    """Return the numbers of the forest plot, of people and controls, too."""

    def cells(judge: Judge) -> list[Cell]:
        found = []
        for measure in shown:
            row = measure.row(judge)
            below = BELOW if not judge.control and measure.below_control(row) else ""
            found.append(estimate(row, mark=f"{measure.letters(judge)}{below}"))
        return found

    bodies = judge_bodies(report.judges, cells)
    people = [measure.row(PERSON) for measure in shown]
    if any(row and row.value is not None for row in people):
        each = [estimate(row) if row else UNDEFINED for row in people]
        bodies.insert(0, Body([Line("people", each, about=PERSON.about)]))
    columns = [
        Column(
            measure.name,
            f"{measure.group}; n counts {measure.noun}",
            measure.dataset.name,
        )
        for measure in shown
    ]
    about = [f"{one.name}: {agreed_with(one)}" for one in report.datasets]
    return Table(f"{'; '.join(about)}.", "Judge", columns, bodies)


def _outranked(measure: Measure, real: Sequence[Judge]) -> Iterator[str]:
    known, control = measure.defined(real), measure.best_control
    under = [row for row in known if measure.below_control(row)]
    if control and under:
        names = listed([f"`{row.judge}` ({short(row)})" for row in under])
        word = f" (wording {measure.criterion})" if measure.criterion else ""
        yield (
            f"{measure.name}{word}: control `{control.judge}` ({short(control)}) ranks "
            f"above {len(under)} of {plural(len(known), 'judge')}: {names}."
        )


# --- the legend -----------------------------------------------------------------------


@in_group("Reproduce", 20)
def legend(_: Report) -> Section:
    """Return the steps of verdicts, the rules behind them, the signs of tables, and the
    levels.
    """
    lead = "Signs, letters and shades mean the same on every page of this report."
    blocks = [
        Heading("Steps of a verdict", "legend-steps"),
        Facts(
            [(sign, meaning) for sign, meaning in reversed(trust.STEP_WORDS.values())]
        ),
        Text(trust.RULES),
        Heading("Signs in tables", "legend-signs"),
        Facts(SIGNS),
        Heading("Levels of agreement", "legend-levels"),
        Facts([*LEVELS.values()]),
    ]
    return Section("legend", "Legend", lead, blocks)
