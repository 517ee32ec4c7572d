"""What each judge may be trusted for: a plain sentence, and, folded, what it rests on."""

from collections.abc import Iterator, Sequence

from metajudge.report.elements import (
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
from metajudge.report.numbers import THOUSAND, count, dollars, listed, plural
from metajudge.report.report import Judge, Report
from metajudge.report.sections.cost import free, price_per_1000
from metajudge.report.sections.coverage import Tally
from metajudge.report.trust import DAMAGE, FAILS, FIRST, HOLDS, KINDS, OPEN, Claim, claims
from metajudge.report.words import label

FEW = 4
"""So many subjects of one respect are named; of more, their number is told."""
TITLES = {HOLDS: "May be trusted for", FAILS: "Not for", OPEN: "Undecided for"}
NOTHING = "nothing that was measured"
MARKS = {HOLDS: "yes", FAILS: "no", OPEN: "undecided"}
RULES = (
    "Written by rules from the numbers, the same for every study; to be trusted is to do better "
    "than chance and than every control, not to do well: that the number tells. Agreement and the "
    "like may be trusted where the 95 % interval lies above chance and clear of the interval of "
    "every control, and no test of the pair says otherwise; one judge is called better than "
    "another under the same terms only. Damage counts as noticed at p ≤ 0.05 after Holm's "
    "correction over all cases (kinds and degrees) of a dataset, if no control gets there, too. "
    "What is undecided was not shown, which is no proof of the contrary."
)


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
    said = " ".join(f"{title} {told}." for title, told in verdicts(report, own))
    return f"{said}{_missing(report, judge)}{_price(report, judge)}"


def verdicts(report: Report, own: Sequence[Claim]) -> Iterator[tuple[str, str]]:
    """Yield each verdict's name and for what it holds; the first also where nothing does."""
    for verdict, title in TITLES.items():
        told = "; ".join(_respects(report, own, verdict))
        if told or verdict == HOLDS:
            yield title, told or NOTHING


def _respects(report: Report, own: Sequence[Claim], verdict: str) -> Iterator[str]:
    """Yield the respects with this verdict, each with its subjects or how many there are.

    Where a number was told of what holds, the rest of it need not be told as undecided.
    """
    for respect in dict.fromkeys(claim.respect for claim in own):
        every = [claim for claim in own if claim.respect == respect]
        these = [claim for claim in every if claim.verdict == verdict]
        counted = len([claim for claim in every if claim.verdict == HOLDS]) > FEW
        if these and not (verdict == OPEN and counted):
            yield _told(report, respect, these, every)


def _told(report: Report, respect: str, these: Sequence[Claim], every: Sequence[Claim]) -> str:
    if "{}" not in respect:
        wordings = [claim.subject for claim in these if claim.subject]
        named = listed(list(dict.fromkeys(wordings)))
        return f"{respect}{_beside(named, _number(these), _places(report, these, every))}"
    if len(these) > FEW:
        return respect.format(_count(respect, these, every))
    subjects = []
    for subject in dict.fromkeys(claim.subject for claim in these):
        mine = [claim for claim in these if claim.subject == subject]
        places = _places(report, mine, [c for c in every if c.subject == subject])
        subjects.append(f"{subject}{_beside(_number(mine), places)}")
    return respect.format(listed(subjects))


def _beside(*told: str) -> str:
    """Return what stands in brackets behind a respect or a subject, empty without any."""
    parts = "; ".join(filter(None, told))
    return f" ({parts})" if parts else ""


def _count(respect: str, these: Sequence[Claim], every: Sequence[Claim]) -> str:
    """Return how many there are, of all; who is best is claimed of the best alone."""
    sets = len({claim.dataset for claim in every})
    where = f" on {sets} datasets" if sets > 1 else ""
    if respect == FIRST:
        return f"{count(len(these))} {KINDS[respect]}{where}"
    share = "all" if len(these) == len(every) else f"{count(len(these))} of"
    return f"{share} {count(len(every))} {KINDS[respect]}{where}"


def _number(these: Sequence[Claim]) -> str:
    """Return the one number of a claim that the data decide; D is no size of anything."""
    rows = [row for claim in these for row in claim.rows]
    told = these[0].verdict != OPEN and these[0].respect not in (DAMAGE, FIRST)
    return f"{label(rows[0].statistic)} {figures(rows[0])}" if told and len(rows) == 1 else ""


def _places(report: Report, these: Sequence[Claim], every: Sequence[Claim]) -> str:
    """Return on which datasets, empty where it is so on all that have the claim."""
    if len(these) == len(every):
        return ""
    names = {dataset.id: dataset.name for dataset in report.datasets}
    if len(these) > FEW:
        return f"on {count(len(these))} of {count(len(every))} datasets"
    return listed([names[claim.dataset] for claim in these])


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
            Line(
                claim.respect.format(claim.subject),
                [Cell(MARKS[claim.verdict], style="words"), *_cells(claim)],
            )
            for claim in own
            if claim.dataset == dataset
        ]
        bodies.append(Body(lines, names[dataset]))
    columns = [
        Column("Borne out?", style="words"),
        Column("Because", style="words"),
        Column("Numbers", style="words"),
    ]
    caption = "Every claim, what the rule says of it, and its numbers."
    return Table(caption, "Claim", columns, bodies, code=False)


def _cells(claim: Claim) -> list[Cell]:
    numbers = [f"{label(row.statistic)} {figures(row)}, n = {count(row.n)}" for row in claim.rows]
    return [words_cell(claim.why), words_cell("; ".join(numbers))]
