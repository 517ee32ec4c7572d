"""What may be said of every judge: claims of table `verdicts`, in sentences, and their evidence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgescope.methods.claims.base import (
    AGREEMENT,
    AS_RATER,
    BAR,
    CRITERIA,
    DAMAGE,
    GRADED,
    HINTED,
    HINTS,
    ORDER,
    P_HOLM,
    PAIRS,
    RATING,
    SEQUENCE,
    SPANS,
    VERDICT,
)
from judgescope.parsing.judgment import OFF_GRID
from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Line,
    Table,
    Text,
    Verdict,
    figures,
    words_cell,
)
from judgescope.report.headline import Measure, measures
from judgescope.report.numbers import THOUSAND, count, dollars, listed, p_value, plural
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.cost import free, price_per_1000
from judgescope.report.sections.coverage import Tally
from judgescope.report.words import LEVELS, OFF_GRID_SENTENCE, STATUSES, label, spoken, written
from judgescope.statistics.raters import AS_GOOD
from judgescope.statistics.verdict import HOLM, MOST, Outcome

FIRST = "first"
"""The kind of claim that a judge is above every other: of several judges, not of one."""
PLANNED = "following the planned quality of {}"
RESPECTS = {
    AGREEMENT: "agreeing with people on {}",
    RATING: "finding people's rating on {}",
    ORDER: "ordering texts of one source as people do on {}",
    PAIRS: "choosing the better of two texts by {}",
    GRADED: "finding the rating of graded texts ({})",
    SEQUENCE: "ordering texts in a row by their errors ({})",
    SPANS: "marking the words that people mark as faulty ({})",
    DAMAGE: "noticing {}",
    CRITERIA: "telling damage to an aspect from damage beside it",
    HINTS: "withstanding false hints",
    FIRST: "being above every other judge on {}",
}
"""Kind -> what the claim is about, with a place for its subject where there are several."""
COUNTED = {
    **dict.fromkeys((AGREEMENT, RATING, ORDER, PAIRS, SPANS, FIRST), "aspects"),
    **{DAMAGE: "cases of damage", GRADED: "graded sets", SEQUENCE: "series of texts"},
}
"""What the subjects of a kind are, where their number is told."""
GOOD = {Outcome.BETTER, Outcome.AS_RATER, Outcome.MEETS, Outcome.NOTICED, Outcome.WITHSTANDS}
"""Outcomes that speak for a judge."""
NUMBERS = {
    AGREEMENT: ("spearman",),
    **dict.fromkeys((RATING, GRADED), ("kappa_linear",)),
    **dict.fromkeys((ORDER, PAIRS, SEQUENCE), ("half_credit",)),
    SPANS: ("span_f1",),
    DAMAGE: ("D_exact",),
    CRITERIA: ("confusion_auc",),
    HINTS: ("hint_effect",),
}
"""Kind -> the deciding number's statistic; of a bar it stands in the kind."""
FEW = 4
"""So many subjects of one respect are named; of more, their number is told."""
TITLES: dict[tuple[Outcome, ...], str] = {
    (Outcome.MEETS,): "May be trusted for",
    (Outcome.AS_RATER,): "As good as one more rater at",
    (Outcome.BETTER, Outcome.NOTICED): "Better than chance at",
    (Outcome.WITHSTANDS,): "Passes the test of",
    (Outcome.NOT_SHOWN,): "Not shown to be better than chance, or than length, at",
    (Outcome.CANNOT_TELL,): "Cannot be told for",
    (Outcome.BELOW,): "Worse than chance, or than length, at",
    (Outcome.MISSES, Outcome.SWAYED): "Fails at",
    (Outcome.NO_CLAIM,): "No claim about",
}
"""Outcomes -> how a sentence about them begins, in the order of the sentences."""
BARS = {
    Outcome.MEETS: "May be trusted for the stated bar of",
    Outcome.CANNOT_TELL: "Cannot be told whether it meets the stated bar of",
    Outcome.MISSES: "Misses the stated bar of",
}
"""How a sentence about bars begins."""
FEWEST_FOR_NUMBER = 10
"""A correlation of fewer texts or sources is left out."""
OF_KIND = {
    (DAMAGE, "chance"): "p > .05",
    (DAMAGE, "length"): "noticed; so does the texts' length",
    (HINTS, "chance"): "neither is shown",
}
"""Kind and reason -> its words, where they are other than of most kinds."""
WHY = {
    "chance": "not above chance",
    "length": "no better than the texts' length",
    "brevity": "no better than minus the texts' length",
    "systems": "a taste for systems would do as well",
    "within": "it may know the source alone",
    "lost": "not with the lost replies at the worst end",
    "too_many_lost": "more than a fifth of its judgments are lost",
    "constant": "one score for all texts",
    "no_interval": "too few sources for an interval",
    "these_systems": "for these systems alone",
    "few_systems": "rests on fewer than 8 systems",
    HINTED: "it is given a rating of the text",
    "index": "not shown to take off less where nothing should drop",
    "rarely": "rarely: for fewer than a quarter of the texts",
    "asked_once": "the form without a hint was asked once",
    "not_judged": "some of its scores are missing",
    "not_computed": "the study does not compute it",
}
"""Reason -> its words; others are told as they are."""
WORSE = {
    "chance": "below chance",
    "length": "below the texts' length",
    "brevity": "below minus the texts' length",
}
"""Reason of a judge that is worse than this -> its words."""
RESTS_ON = {"these_systems", "few_systems"}
"""Reasons that limit what holds: nothing where nothing does."""
RULES = (
    "Written by rules from the numbers, the same for every study. “Better than chance” says that a "
    "one-sided test at .025 rules out chance, the length of the texts in both directions and, "
    "where texts come from five named systems or more, a taste for systems, after Holm's "
    "correction over the judge's claims of a kind. “As good as one more rater” says more: it "
    "agrees with people as a further rater would, but for a margin. How good that is, the number "
    "tells; “may be trusted” is said only of a bar that the study states and the judge meets. "
    "What is not shown is not shown to be false."
)


@dataclass(frozen=True)
class Claim:
    """One claim about a judge on a dataset, as table `verdicts` has it.

    `kind` is what it is about, with the `subject` where there are several; `reasons` are codes;
    `row` has the deciding number, `others` what stands beside it, by statistic.
    """

    judge: str
    dataset: str
    kind: str
    respect: str
    subject: str
    outcome: Outcome
    reasons: tuple[str, ...]
    row: Row
    others: dict[str, Row]

    @property
    def family(self) -> str:
        """Return over how many claims Holm's correction was made, "" without."""
        return self.others[VERDICT].method if VERDICT in self.others else ""


def claims(report: Report, judge: Judge) -> list[Claim]:
    """Return all claims about a judge, by dataset, in the order of the methods."""
    return report.once(
        ("claims", judge.id),
        lambda: [claim for dataset in report.datasets for claim in _claims(report, dataset, judge)],
    )


def _claims(report: Report, dataset: Dataset, judge: Judge) -> Iterator[Claim]:
    rows = report.rows("verdicts").where(dataset=dataset.id, judge=judge.id)
    for kind in [*RESPECTS, *(form for form in rows.names("form") if form.startswith(BAR))]:
        for claim in _of_kind(report, dataset, judge, kind, rows.where(form=kind)):
            yield claim
            if kind == AGREEMENT and claim.outcome in GOOD:
                yield from _first(report, dataset, judge, claim)


def _of_kind(
    report: Report, dataset: Dataset, judge: Judge, kind: str, rows: Rows
) -> Iterator[Claim]:
    groups: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows:
        place = (row.judged, row.level, row.cell)
        groups.setdefault(place, {})[row.statistic] = row
    for own in groups.values():
        if VERDICT not in own:
            continue
        verdict = own[VERDICT]
        outcome, reasons = _read(verdict.note)
        numbers = NUMBERS.get(kind, tuple(kind.split()[1:]))  # of a bar: "bar spearman"
        others = {name: row for name, row in own.items() if name not in numbers}
        row = next((own[name] for name in numbers if name in own), verdict)
        yield Claim(
            judge.id,
            dataset.id,
            kind,
            _respect(dataset, kind, own),
            _subject(report, kind, row),
            outcome,
            reasons,
            row,
            others,
        )


def _read(note: str) -> tuple[Outcome, tuple[str, ...]]:
    """Return outcome and reasons of a verdict; of a note that has none, no claim, with the note."""
    outcome, *reasons = note.split("; ")
    if outcome not in {*Outcome}:
        return Outcome.NO_CLAIM, (note,)
    return Outcome(outcome), tuple(reasons)


def _respect(dataset: Dataset, kind: str, own: dict[str, Row]) -> str:
    """Return what a claim is about, with a place for its subject; of a bar, which bar."""
    if kind == AGREEMENT and dataset.planned:
        return PLANNED
    if not kind.startswith(BAR):
        return RESPECTS[kind]
    name = kind.split()[1]
    if BAR not in own:
        return label(name)
    bar, aspect = own[BAR], own[VERDICT].judged
    at = f", {LEVELS[own[VERDICT].level][0]}," if own[VERDICT].level in LEVELS else ""
    of = " on {}" if aspect else ""
    return f"{label(name)}{at} {bar.note} {written(name, bar.value or 0.0)}{of}"


def _subject(report: Report, kind: str, row: Row) -> str:
    """Return what a claim is about among those of its kind."""
    if kind == DAMAGE:
        damage = next(one for one in report.damages if one.cell == row.cell)
        return f"{damage.name} ({damage.degree})" if damage.degree else damage.name
    if kind == GRADED:
        return report.aspect(row.judged)
    if kind == SEQUENCE and row.cell:
        name = report.perturbation(row.perturbation)
        return f"{name}, judged by {report.aspect(row.judged)}"
    return report.aspect(row.judged) if row.judged else ""


def _first(report: Report, dataset: Dataset, judge: Judge, claim: Claim) -> Iterator[Claim]:
    """Yield that a judge is above every other; nothing is said of the others."""
    measure = next(
        (
            one
            for one in measures(report, dataset)
            if one.kind == AGREEMENT and one.aspect == claim.row.judged
        ),
        None,
    )
    if measure is None:
        return
    others = [one for one in report.judges if not one.control and one.id != judge.id]
    known = [one for one in others if _known(measure, report, dataset, one)]
    if known and all(measure.above(report, dataset, judge, one) for one in known):
        yield Claim(
            judge.id,
            dataset.id,
            FIRST,
            RESPECTS[FIRST],
            claim.subject,
            Outcome.BETTER,
            (f"above: {len(known)}",),
            claim.row,
            {},
        )


def _known(measure: Measure, report: Report, dataset: Dataset, judge: Judge) -> bool:
    row = measure.row(report, dataset, judge)
    return row is not None and row.value is not None and not judge.hint


def sentences(report: Report) -> list[Block]:
    """Return a sentence for each judge that is no control, with its evidence."""
    found: list[Verdict] = []
    for judge in report.judges:
        own = claims(report, judge)
        if not judge.control:
            found.append(
                Verdict(judge.id, judge.card, sentence(report, judge, own), evidence(report, own))
            )
    return [*found, Text(RULES, style="small")] if any(one.evidence.bodies for one in found) else []


def sentence(report: Report, judge: Judge, own: Sequence[Claim]) -> str:
    """Return what the judge's numbers come to, with what is missing and the price."""
    if nothing := no_score(report, judge):
        return f"{nothing}{_price(report, judge)}"
    said = " ".join(f"{title} {told}." for title, told in verdicts(report, own))
    parts = (_hint(judge), said, _missing(report, judge).strip(), _price(report, judge).strip())
    return " ".join(filter(None, parts))


def no_score(report: Report, judge: Judge) -> str:
    """Return the sentence on a judge none of whose judgments has a score, "" for others."""
    counts = Tally.of(report.rows("coverage").where(judge=judge.id)).counts
    asked = counts.total() - counts["not_applicable"]
    if not asked or counts["ok"]:
        return ""
    cut = f": cut at max_tokens {judge.max_tokens}" if judge.max_tokens else ""
    reasons = {
        name: f"{count(n)} {STATUSES.get(name, spoken(name))}{cut if name == 'truncated' else ''}"
        for name, n in counts.most_common()
        if n and name not in ("ok", "not_applicable")
    }
    why = "; ".join(reasons.values())
    if set(reasons) == {"truncated"}:
        why = cut.removeprefix(": ") or "cut"
    all_ = plural(asked, "reply", "replies")
    remedy = f" {OFF_GRID_SENTENCE}" if OFF_GRID in reasons else ""
    return f"Gave no score ({count(asked)} of {all_} could not be read: {why}).{remedy}"


def _hint(judge: Judge) -> str:
    """Return why nothing is said of agreement, "" for a judge that is given no rating."""
    if not judge.hint:
        return ""
    whose = "people's rating" if judge.hint == "right" else "a wrong rating"
    return (
        f"It is given {whose} of the very text (hint: {judge.hint}), so its agreement with people "
        "says nothing of it: no claim of agreement, and no rank."
    )


def verdicts(report: Report, own: Sequence[Claim]) -> Iterator[tuple[str, str]]:
    """Yield how each sentence begins, and for what it is said."""
    told = [claim for claim in own if HINTED not in claim.reasons]
    for outcomes, title in TITLES.items():
        for bar in (False, True):
            these = [one for one in told if one.kind.startswith(BAR) == bar]
            said = "; ".join(_respects(report, these, outcomes))
            if said:
                yield (BARS.get(outcomes[0], title) if bar else title), said


def _respects(report: Report, own: Sequence[Claim], outcomes: tuple[Outcome, ...]) -> Iterator[str]:
    """Yield the respects with these outcomes, each with its subjects or how many there are.

    Where a number was told of what holds, the rest of it need not be told as not shown.
    """
    for respect in dict.fromkeys(claim.respect for claim in own):
        every = [claim for claim in own if claim.respect == respect]
        these = [claim for claim in every if claim.outcome in outcomes]
        counted = sum(claim.outcome in GOOD for claim in every) > FEW
        quiet = Outcome.NOT_SHOWN in outcomes or Outcome.NO_CLAIM in outcomes
        if these and not (quiet and counted):
            yield _told(report, respect, these, every)


def _told(report: Report, respect: str, these: Sequence[Claim], every: Sequence[Claim]) -> str:
    if "{}" not in respect:
        subjects = listed(list(dict.fromkeys(one.subject for one in these if one.subject)))
        return f"{respect}{_beside(subjects, _why(these), _places(report, these, every))}"
    if len(these) > FEW:
        return respect.format(_count(these, every))
    named = []
    for subject in dict.fromkeys(claim.subject for claim in these):
        mine = [claim for claim in these if claim.subject == subject]
        places = _places(report, mine, [c for c in every if c.subject == subject])
        named.append(f"{subject}{_beside(_why(mine), places)}")
    return respect.format(listed(named))


def _beside(*told: str) -> str:
    """Return what stands in brackets behind a respect or a subject, empty without any."""
    parts = "; ".join(filter(None, told))
    return f" ({parts})" if parts else ""


def _count(these: Sequence[Claim], every: Sequence[Claim]) -> str:
    """Return how many there are, of all; who is best is claimed of the best alone."""
    sets = len({claim.dataset for claim in every})
    where = f" on {sets} datasets" if sets > 1 else ""
    kind = COUNTED.get(these[0].kind, "cases")
    if these[0].kind == FIRST:
        return f"{count(len(these))} {kind}{where}"
    share = "all" if len(these) == len(every) else f"{count(len(these))} of"
    return f"{share} {count(len(every))} {kind}{where}"


def _why(these: Sequence[Claim]) -> str:
    """Return the number of one claim and its reasons; of several none."""
    if len(these) != 1 or these[0].kind == FIRST:
        return ""
    [claim] = these
    return "; ".join(filter(None, [number(claim), *reasons(claim)]))


def number(claim: Claim) -> str:
    """Return the deciding number of a claim; D is no size of anything, few texts give none."""
    row = claim.others.get("net_share", claim.row) if claim.kind == DAMAGE else claim.row
    if row.value is None or row.statistic == "D_exact":
        return ""
    small = row.n < FEWEST_FOR_NUMBER
    told = f"n = {count(row.n)}" if small else f"{label(row.statistic)} {figures(row)}"
    gap = claim.others.get(f"{AS_RATER}_{row.statistic}")
    if gap is not None and gap.value is not None and not small:
        told += f"; against one more rater {figures(gap)}"
        if claim.outcome == Outcome.BETTER:
            told += (
                ", not shown after Holm's correction" if AS_GOOD in gap.note else f", {gap.note}"
            )
    return told


def reasons(claim: Claim) -> Iterator[str]:
    """Yield the words of a claim's reasons; on what it rests only where it holds."""
    for code in claim.reasons:
        name, _, more = code.partition(": ")
        if name in RESTS_ON and claim.outcome not in GOOD:
            continue
        if name == HOLM and P_HOLM in claim.others:
            p = claim.others[P_HOLM].value
            yield f"p {p_value(p)}, {claim.family}" if p is not None else claim.family
        else:
            worse = WORSE.get(name) if claim.outcome == Outcome.BELOW else None
            told = worse or OF_KIND.get((claim.kind, name)) or WHY.get(name, spoken(name))
            yield told + (f": {more}" if more else "")
    if "more_needed" in claim.others:
        yield more_needed(claim.others["more_needed"])


def more_needed(row: Row) -> str:
    """Return how much more data would tell whether a bar is met."""
    if row.value is None:
        return f"more than {count(MOST)} more needed"
    units, _, how = row.method.partition(", ")
    return f"{count(round(row.value))} more {units} would tell, {how}"


def _places(report: Report, these: Sequence[Claim], every: Sequence[Claim]) -> str:
    """Return on which datasets, empty where it is so on all that have the claim."""
    if len(these) == len(every):
        return ""
    names = {dataset.id: dataset.name for dataset in report.datasets}
    own = list(dict.fromkeys(claim.dataset for claim in these))
    if set(own) == {claim.dataset for claim in every}:
        return ""
    if len(own) > FEW:
        return f"on {count(len(own))} datasets"
    return listed([names[one] for one in own])


def _missing(report: Report, judge: Judge) -> str:
    """Return how many judgments have no score, empty where all have."""
    counts = Tally.of(report.rows("coverage").where(judge=judge.id)).counts
    asked = counts.total() - counts["not_applicable"]
    lost = asked - counts["ok"]
    return f" Of its {plural(asked, 'judgment')} {count(lost)} have no score." if lost else ""


def _price(report: Report, judge: Judge) -> str:
    """Return what 1,000 judgments cost, empty where nothing is bought for the judge."""
    rows = report.rows("cost").where(judge=judge.id)
    if not len(rows) or free(rows):
        return ""
    price = price_per_1000(rows)
    return (
        " Its price is not known."
        if price is None
        else f" {THOUSAND} judgments: ${dollars(price)}."
    )


def evidence(report: Report, own: Sequence[Claim]) -> Table:
    """Return every claim about a judge, what the rule says of it, and its numbers."""
    names = {dataset.id: dataset.name for dataset in report.datasets}
    bodies = []
    for dataset in dict.fromkeys(claim.dataset for claim in own):
        lines = [
            Line(claim.respect.format(claim.subject), list(_cells(claim)))
            for claim in own
            if claim.dataset == dataset
        ]
        bodies.append(Body(lines, names[dataset]))
    columns = [
        Column("Verdict", style="words"),
        Column("Because", style="words"),
        Column("Numbers", style="words"),
    ]
    caption = "Every claim, what the rule says of it, and its numbers."
    return Table(caption, "Claim", columns, bodies, code=False)


def _cells(claim: Claim) -> Iterator[Cell]:
    yield words_cell(spoken(claim.outcome))
    yield words_cell("; ".join(reasons(claim)))
    beside = (f"{AS_RATER}_{claim.row.statistic}", "net_share", "p_noticed_holm", P_HOLM)
    known = [claim.others[name] for name in beside if name in claim.others]
    rows = [claim.row, *(row for row in known if row.statistic != P_HOLM or row.value is not None)]
    told = [f"{label(row.statistic)} {figures(row)}, n = {count(row.n)}" for row in rows]
    yield words_cell("; ".join(told) if claim.row.n else "")
