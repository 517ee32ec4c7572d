"""The first screen of a card: what the judge is, what may be said of it, what it costs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Fold,
    Heading,
    Line,
    Section,
    Table,
    estimate,
    words_cell,
)
from judgescope.report.headline import PERSON, Measure, best_control, measures
from judgescope.report.numbers import THOUSAND, count, dollars, listed, percent, plural
from judgescope.report.report import CardReport, Dataset, Judge, Report
from judgescope.report.sections.cost import free, price_per_1000
from judgescope.report.sections.coverage import Tally
from judgescope.report.sections.judges import letters
from judgescope.report.sections.trust import evidence, reasons, verdicts
from judgescope.report.trust import Claim, claims
from judgescope.report.words import spoken


def facts(report: CardReport, judge: Judge) -> list[tuple[str, str]]:
    """Return what a reader wants to know first, each a name and a sentence."""
    return [
        ("What it is", _is(report, judge)),
        *_trusted(report, judge),
        ("What it costs", _costs(report, judge)),
        ("What came back", _covered(report, judge)),
    ]


def _is(report: CardReport, judge: Judge) -> str:
    temperature = report.spec.judges[judge.id].temperature
    if judge.control:
        return f"A control: {judge.about}. Judges should do better; nobody should use it."
    sampled = (
        f", temperature {temperature:g}" if isinstance(temperature, float) and temperature else ""
    )
    return f"{judge.about}{sampled}."


def _trusted(report: Report, judge: Judge) -> Iterator[tuple[str, str]]:
    """Yield what may be said of the judge; of a control nothing of the kind is asked."""
    own = [] if judge.control else claims(report, judge)
    if own:
        yield from ((title, f"{told}.") for title, told in verdicts(report, own))


def _costs(report: Report, judge: Judge) -> str:
    rows = report.rows("cost").where(judge=judge.id)
    if free(rows):
        return "Nothing: no token is bought for it."
    replies = round(sum(row.value or 0 for row in rows.where(statistic="replies")))
    price = price_per_1000(rows)
    if price is None:
        return f"Not known: its model has no price. {plural(replies, 'reply', 'replies')}."
    total = sum(row.value or 0 for row in rows.where(statistic="usd"))
    each = f"US$ {dollars(price)} per {THOUSAND} judgments"
    return f"{each}; {dollars(total)} for all {count(replies)} replies."


def _covered(report: Report, judge: Judge) -> str:
    counts = Tally.of(report.rows("coverage").where(judge=judge.id)).counts
    asked = counts.total() - counts["not_applicable"]
    if not asked:
        return "Nothing was asked of it."
    failed = [
        f"{count(n)} {spoken(name)}"
        for name, n in counts.items()
        if n and name not in ("ok", "not_applicable")
    ]
    why = f": {listed(failed)}" if failed else ""
    share = percent(counts["ok"] / asked)
    return f"A value from {count(counts['ok'])} of {plural(asked, 'judgment')} ({share}){why}."


def section(report: Report, judge: Judge) -> Section | None:
    """Return the judge's headline numbers beside controls and other judges, and every claim."""
    own = [] if judge.control else claims(report, judge)
    blocks: list[Block] = []
    for dataset in report.datasets:
        shown = [one for one in measures(report, dataset) if one.row(report, dataset, judge)]
        if shown:
            table = _table(report, dataset, judge, shown, own)
            blocks += [Heading(dataset.name, f"stands-{dataset.id}"), table]
    if not blocks:
        return None
    if own:
        blocks.append(Fold("Every claim, and what it rests on", [evidence(report, own)]))
    lead = (
        "What each method comes down to. The rank is by point estimate among the judges that are "
        "no controls; those that share a letter are not told apart."
    )
    return Section("stands", "Where it stands", lead, blocks)


def _table(
    report: Report,
    dataset: Dataset,
    judge: Judge,
    shown: Sequence[Measure],
    own: Sequence[Claim],
) -> Table:
    said = "the planned ratings" if dataset.planned else "people's ratings"
    people = any(one.row(report, dataset, PERSON) for one in shown)
    columns = [Column("This judge"), Column("Rank"), Column("Best control")]
    columns += [Column("One rater")] if people else []
    columns += [Column("Because", style="words")] if own else []
    why = {
        claim.row: "; ".join([spoken(claim.outcome), *reasons(claim)]) for claim in reversed(own)
    }
    lines = []
    for one in shown:
        row = one.row(report, dataset, judge)
        because = [words_cell(why.get(row, "") if row else "")] if own else []
        told = [estimate(row, counts=True), _rank(report, dataset, judge, one)]
        told.append(_control(report, dataset, one))
        told += [_person(report, dataset, one)] if people else []
        lines.append(Line(one.name(report), [*told, *because], one.group))
    caption = f"{dataset.name}: its headline numbers; agreement is with {said}."
    return Table(caption, "Measure", columns, [Body(lines)], code=False)


def _rank(report: Report, dataset: Dataset, judge: Judge, measure: Measure) -> Cell:
    """Return the judge's place by point estimate among the judges that are no controls.

    A judge that is given a rating of the text has none, and is none of the others.
    """
    if judge.hint:
        return Cell("–", notes=(f"hint: {judge.hint}",), style="undefined")
    rows = {
        one.id: row.value
        for one in report.judges
        if not one.control
        and not one.hint
        and (row := measure.row(report, dataset, one))
        and row.value is not None
    }
    mine = rows.get(judge.id)
    if mine is None:
        return Cell("–", style="undefined")
    rank = 1 + sum(measure.merit(value) > measure.merit(mine) for value in rows.values())
    shared = letters(report, dataset, measure, judge)
    return Cell(f"{rank} of {len(rows)}", notes=(shared,) if shared else (), sort=rank)


def _person(report: Report, dataset: Dataset, measure: Measure) -> Cell:
    """Return what a rater gets in a judge's place."""
    row = measure.row(report, dataset, PERSON)
    return estimate(row) if row else Cell("–", style="undefined")


def _control(report: Report, dataset: Dataset, measure: Measure) -> Cell:
    row = best_control(report, dataset, measure)
    if row is None:
        return Cell("–", style="undefined")
    cell = estimate(row)
    return replace(cell, notes=(*cell.notes, row.judge))
