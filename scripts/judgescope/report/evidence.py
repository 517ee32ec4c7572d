"""The evidence of one claim: what it had to beat, and what it rests on."""

from collections.abc import Iterator, Sequence

from judgescope.methods.claims import base
from judgescope.report import cell_words, literature
from judgescope.report.answer import HeadlineRules
from judgescope.report.answer_data import sources_to_decide
from judgescope.report.cells import (
    ReportCell,
    figures,
    interval,
)
from judgescope.report.claims import ReportedClaim, worst_first
from judgescope.report.drawing import SIGN_WORDS
from judgescope.report.elements import (
    Body,
    Fold,
    PageBlock,
    PageTable,
    Paragraph,
    TableLine,
    columns_of,
)
from judgescope.report.matrix_maker import CHARACTERS
from judgescope.report.report import Report, ShownJudge
from judgescope.report.rows import ReportRow
from judgescope.report.sections.sentences import reasons
from judgescope.report.standings import evidence_id, standings
from judgescope.report.words import DASH, brief, count, label, p_value, plural, spoken
from judgescope.statistics.registry import statistic
from judgescope.statistics.verdict import Outcome, Sign


def evidence_blocks(report: Report, judge: ShownJudge) -> list[PageBlock]:
    """The evidence of a judge's claims: the most telling ones written out."""
    about: list[ReportedClaim] = []
    for column in standings(report).folding.columns:
        about += standings(report).of_column(judge, column)
    # So many claims are written out; further ones are lines of one table.
    most_written = 12
    chosen = worst_first(about)[:most_written]
    written = [claim for claim in about if claim in chosen]
    rest = [claim for claim in about if claim not in chosen]
    blocks: list[PageBlock] = []
    for claim in written:
        blocks.append(_fold(report, claim))
    if rest:
        blocks.append(_table(report, rest))
    return blocks


def _fold(report: Report, claim: ReportedClaim) -> Fold:
    respect = claim.respect.format(claim.subject)
    number = cell_words.value(claim)
    summary = f"{respect}: {number}, {SIGN_WORDS[claim.sign]}"
    where = ""
    if len(report.datasets) > 1:
        where = f" ({report.names[claim.dataset]})"
    blocks = list(evidence_of(report, claim))
    return Fold(f"{summary[0].upper()}{summary[1:]}{where}", blocks, evidence_id(claim))


def evidence_of(report: Report, claim: ReportedClaim) -> Iterator[PageBlock]:
    """Yield the outcome in words, what the claim had to beat, and what it rests on."""
    why = "; ".join(reasons(claim))
    row = cell_words.number_row(claim)
    number = ""
    if row.value is not None and row.statistic != base.VERDICT:
        number = f" {label(row.statistic)} {figures(row)}."
    outcome = _outcome_words(claim)
    yield Paragraph(
        f"{outcome[0].upper()}{outcome[1:]}{f': {why}' if why else ''}.{number}"
    )
    more = 0
    if claim.sign is Sign.NOT_SHOWN:
        more = sources_to_decide(claim)
    if more:
        sources = plural(more, "more source")
        yield Paragraph(
            f"About {sources} would show it, if the number stays as it is.",
            style="small",
        )
    lines = list(_rivals(report, claim))
    if lines:
        columns = [
            *columns_of(["Its value", "Difference"]),
            *columns_of(["p", "p after Holm"]),
        ]
        caption = "What it had to beat."
        yield PageTable(caption, "Rival", columns, [Body(lines)], code=False)
    yield Paragraph(_counts(claim), style="small")
    published = literature.line(report, claim)
    if published:
        yield Paragraph(f"In the literature: {published}.", style="small")
    if row.signature:
        yield Paragraph(f"Signature `{row.signature}`", style="small")


def _outcome_words(claim: ReportedClaim) -> str:
    """The outcome, in words that go with the claim's sign."""
    if claim.outcome is not Outcome.NOT_SHOWN:
        return spoken(claim.outcome)
    words = {Sign.FAILS: "fails", Sign.RULE: "agrees, but"}
    return words.get(claim.sign, "not shown")


def _rivals(report: Report, claim: ReportedClaim) -> Iterator[TableLine]:
    """A line for each rival: its value, the difference, p, and p after Holm."""
    strongest = claim.others.get("rival")
    holm = claim.others.get(base.P_HOLM)
    # Null hypothesis -> what a claim had to beat.
    nulls = {
        base.CHANCE: "chance",
        base.LENGTH: "longer is better",
        base.BREVITY: "shorter is better",
        base.BEST_LENGTH: "any preference for a length",
        base.WITHIN: "knowing only the source",
        base.SYSTEMS: "knowing only the system",
    }
    for name, words in nulls.items():
        p = claim.others.get(f"p_{name}")
        if p is None:
            continue
        value, difference = _numbers_of(claim, name, strongest)
        is_strongest = strongest is not None and strongest.note == name
        after = holm if is_strongest else None
        cells = [value, difference, _p(p), _p(after)]
        about = "the strongest" if is_strongest else ""
        yield TableLine(words, cells, about)
    gap = cell_words.gap_to_person(claim)
    if gap is not None:
        person = HeadlineRules(report).person(claim)
        value = _short(person, claim)
        line = [value, _short(gap, claim), _p(claim.others.get("p_rater")), _none()]
        yield TableLine("one person", line, cell_words.beside_person(claim))


def _numbers_of(
    claim: ReportedClaim, name: str, strongest: ReportRow | None
) -> tuple[ReportCell, ReportCell]:
    """The rival's own number, and the judge's minus it; dashes where not computed."""
    if strongest is not None and strongest.note == name:
        value = claim.others.get("rival_value")
        gap = claim.others.get("rival_difference")
        return _short(value, claim, rest=name == base.BEST_LENGTH), _short(gap, claim)
    if name == base.CHANCE:
        half = statistic(claim.row.statistic).kind == "percent"
        return ReportCell("50 %" if half else "0"), _none()
    beyond = claim.others.get(base.BEYOND_SYSTEMS)
    if name == base.SYSTEMS and beyond is not None:
        return _short(beyond, claim), _none()
    return _none(), _none()


def _short(
    row: ReportRow | None, claim: ReportedClaim, *, rest: bool = False
) -> ReportCell:
    """A number written like the claim's; what length leaves is a correlation."""
    if row is None or row.value is None:
        return _none()
    name = cell_words.LEFT if rest else claim.row.statistic
    shown = row._replace(statistic=name)
    return ReportCell(brief(name, row.value), interval(shown), sort=row.value)


def _p(row: ReportRow | None) -> ReportCell:
    if row is None or row.value is None:
        return _none()
    return ReportCell(p_value(row.value), sort=row.value)


def _none() -> ReportCell:
    return ReportCell(DASH, style="none")


def _counts(claim: ReportedClaim) -> str:
    """Texts and sources that count, ties, and what is lost."""
    row = cell_words.number_row(claim)
    parts = [f"{plural(row.n, 'case')} count"]
    sources = claim.others.get(base.SOURCES_COUNTED)
    if sources is not None and sources.value is not None:
        which = plural(round(sources.value), "source")
        labels = claim.kind == base.LABELS
        parts.append(f"{which} decide the interval" if labels else f"from {which}")
    if row.n_tied:
        parts.append(f"{count(row.n_tied)} tied")
    if row.n_missing:
        parts.append(f"{count(row.n_missing)} missing")
    lost = claim.others.get(base.LOST_SHARE)
    if lost is not None and lost.value:
        parts.append(f"{brief(lost.statistic, lost.value)} lost")
    if claim.family:
        parts.append(claim.family)
    return f"{', '.join(parts)}. {row.method}".strip()


def _table(report: Report, about: Sequence[ReportedClaim]) -> PageTable:
    """The further claims, a line each."""
    bodies: dict[str, list[TableLine]] = {}
    for claim in about:
        row = cell_words.number_row(claim)
        value = DASH
        if row.statistic != base.VERDICT:
            value = figures(row)
        outcome = CHARACTERS[claim.sign]
        # Cells without a style of their own: a page may have hundreds.
        cells = [ReportCell(f"{outcome} {value}", style="")]
        if claim.sign is not Sign.NOT_SHOWN:
            more = cell_words.second_line(report, claim)
            cells = [ReportCell(f"{outcome} {value}, {more}", style="")]
        respect = claim.respect.format("").strip().removesuffix(" on")
        title = f"{respect[0].upper()}{respect[1:]}, {report.names[claim.dataset]}"
        line = TableLine(claim.subject or respect, cells, id=evidence_id(claim))
        bodies.setdefault(title, []).append(line)
    columns = columns_of(["Outcome and number"], style="words")
    caption = f"{plural(len(about), 'further claim')}."
    source = "tables/verdicts.csv"
    parts = [Body(lines, title) for title, lines in bodies.items()]
    return PageTable(
        caption, "Claim", columns, parts, code=False, source=source, whole=True
    )
