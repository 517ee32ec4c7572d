"""The page of an audit in the terminal, and its other forms.

What was read, the sentence, the picture, numbers with what they had to beat, rows to
read, parts of the table, what one more column would add; last, how many false claims to
expect.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from shutil import get_terminal_size
from textwrap import wrap
from typing import Final

from judgescope.cli.audit.crossed import Crossing, crossings
from judgescope.cli.audit.findings import VERDICTS, AuditFindings
from judgescope.cli.audit.headline import best_judge
from judgescope.cli.audit.html_page import as_html
from judgescope.cli.audit.json_page import as_json
from judgescope.cli.audit.numbers import (
    claim_lines,
    draw_lines,
    further_lines,
    gap_lines,
    place_lines,
)
from judgescope.cli.audit.pictures import as_lines
from judgescope.cli.audit.slices import TableSlice
from judgescope.cli.audit.wording import (
    WIDTH,
    added,
    columns_read,
    supported,
    verdict_lines,
)
from judgescope.cli.terminal import plain
from judgescope.report.cells import figures, short
from judgescope.report.claims import ReportedClaim
from judgescope.report.rows import ReportRow
from judgescope.report.words import count, label, p_value, plural
from judgescope.statistics.headline import cut
from judgescope.statistics.verdict import Outcome, legend_of_signs

__all__ = [
    "VERDICTS",
    "AuditFindings",
    "added",
    "as_html",
    "as_json",
    "as_short_text",
    "as_text",
    "columns_read",
    "supported",
    "verdict_lines",
]
ROWS_TO_READ: Final = "Rows to read, where judge and people disagree most"
BAR_WORDS: Final = {Outcome.MEETS: "meets", Outcome.MISSES: "misses"}
"""How a bar came out, on a part; any other outcome cannot tell."""
MOST_STEPS: Final = 7
"""Scales with more steps are shown by ranks in the terminal."""


def as_text(findings: AuditFindings) -> str:
    """Return the page for a terminal."""
    columns = (f"  {name:<12}{value}" for name, value in columns_read(findings))
    parts = [
        [findings.draft.table.title, *columns],
        _wrapped(verdict_lines(findings)),
        picture_lines(findings),
        *_numbers(findings),
    ]
    if findings.rows_to_read:
        parts.append([ROWS_TO_READ + ":", *_listed(said_of_rows(findings))])
    parts += [
        *_slices(findings),
        ["This file supports:", *_listed(supported(findings))],
        ["One more column would add:", *_listed(added(findings))],
        _wrapped([findings.false_claims.sentence]),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def as_short_text(findings: AuditFindings) -> str:
    """Return verdicts and bars alone, for a terminal."""
    return "\n".join(_wrapped(verdict_lines(findings)))


def width() -> int:
    """The characters of a line: those of the terminal, at most 100; 100 elsewhere."""
    columns = get_terminal_size((WIDTH, 24)).columns
    return min(WIDTH, max(60, columns))


def _wrapped(lines: Iterable[str]) -> list[str]:
    """Return lines of the page's width; a number and its % sign or n stay together."""
    wrapped = list[str]()
    for text in lines:
        kept = text.replace(" %", "\xa0%").replace("n = ", "n\xa0=\xa0")
        for part in wrap(kept, width(), subsequent_indent="  "):
            wrapped.append(part.replace("\xa0", " "))
    return wrapped


def _listed(texts: Iterable[str], mark: str = "  - ") -> Iterator[str]:
    for text in texts:
        yield from wrap(text, width(), initial_indent=mark, subsequent_indent="    ")


# --- picture --------------------------------------------------------------------------


def picture_lines(findings: AuditFindings) -> list[str]:
    """The picture in the terminal: the best judge on its first aspect, and people."""
    found = [
        crossing
        for crossing in crossings(findings.draft, MOST_STEPS)
        if _is_shown(findings, crossing)
    ]
    judged = [crossing for crossing in found if crossing.judge]
    first = (judged or found)[:1]
    if not first:
        return []
    [crossing] = first
    beside = None
    for other in found:
        if crossing.judge and not other.judge and other.aspect == crossing.aspect:
            beside = other
    return as_lines(
        replace(crossing, judge=findings.named(crossing.judge)),
        findings.report.aspect(crossing.aspect),
        "pair" if findings.draft.columns.compared else "text",
        beside=beside,
        width=width(),
    )


def _is_shown(findings: AuditFindings, crossing: Crossing) -> bool:
    """Whether a picture is of people, or of the best judge."""
    if not crossing.judge:
        return True
    return crossing.judge == best_judge(findings).id


# --- numbers --------------------------------------------------------------------------


def _numbers(findings: AuditFindings) -> Iterator[Sequence[str]]:
    """Yield the numbers of each judge, of judges beside each other, and further
    ones.
    """
    lines = list[str]()
    for judge in findings.judges:
        lines.append(plain(f"{findings.named(judge.id)}:"))
        of_judge = claim_lines(findings.report, findings.claims[judge.id])
        lines += _listed(map(plain, of_judge), "  ")
    signs = {claim.sign for claim in findings.all_claims}
    if signs:
        lines += _wrapped([legend_of_signs(signs)])
    if lines:
        yield ["Numbers, with 95 % intervals and what they had to beat:", *lines]
    if len(findings.judges) > 1:
        yield ["Judges by aspect:", *_matrix(findings)]
    gaps = list(map(plain, gap_lines(findings)))
    if gaps:
        head = (
            "Differences from the best judge, p after Holm's correction over all pairs:"
        )
        yield [head, *_listed(gaps)]
    further = [
        *place_lines(findings),
        *draw_lines(findings),
        *further_lines(findings),
    ]
    if further:
        yield ["Also in this file:", *_listed(map(plain, further))]


def _matrix(findings: AuditFindings) -> Iterator[str]:
    """Yield a line for each judge: sign and number on as many aspects as fit."""
    report = findings.report
    cells: dict[str, dict[str, str]] = {}
    aspects: dict[str, str] = {}
    for judge in findings.judges:
        for claim in findings.claims[judge.id]:
            if claim.kind in ("agreement", "labels", "pairs"):
                aspects.setdefault(claim.row.judged, report.aspect(claim.row.judged))
                of_judge = cells.setdefault(judge.id, {})
                of_judge[claim.row.judged] = f"{claim.sign} {short(claim.row)}"
    side = min(28, max(len(findings.named(judge.id)) for judge in findings.judges))
    cell = max([10, *(min(14, len(name)) for name in aspects.values())]) + 2
    shown = list(aspects)[: max(1, (width() - 2 - side) // cell)]
    heads = (f"{cut(plain(aspects[name]), 14):>{cell}}" for name in shown)
    yield f"  {'':<{side}}{''.join(heads)}"
    for judge in findings.judges:
        of_judge = cells.get(judge.id, {})
        numbers = (f"{of_judge.get(name, '-'):>{cell}}" for name in shown)
        yield f"  {cut(findings.named(judge.id), side):<{side}}{''.join(numbers)}"
    if len(shown) < len(aspects):
        more = plural(len(aspects) - len(shown), "more aspect")
        yield f"  {more} in the output of --html"


# --- rows and parts -------------------------------------------------------------------


def said_of_rows(findings: AuditFindings) -> Iterator[str]:
    """Yield a line for each row to read: row, values and the beginning of its text."""
    for row in findings.rows_to_read:
        said = (
            f"row {row.row}, {findings.report.aspect(row.aspect)}: "
            f"{findings.named(row.judge)} says {row.judged}, people say {row.rated}"
        )
        text = f": {row.text}" if findings.texts and row.text else ""
        yield plain(said + text)
    hidden = len(findings.disagreements) - len(findings.rows_to_read)
    if hidden:
        yield f"{plural(hidden, 'more row')}: --errors FILE writes all to a CSV file"


def _slices(findings: AuditFindings) -> Iterator[Sequence[str]]:
    """Yield the numbers on the values of each column of parts."""
    for column, lines in slice_lines(findings).items():
        yield [plain(f"By {column}:"), *_listed(map(plain, lines))]


def _bar_line(findings: AuditFindings, claim: ReportedClaim) -> str:
    """Whether a part meets a minimum."""
    verdict = BAR_WORDS.get(claim.outcome, "cannot tell:")
    bar = claim.respect.format(claim.subject)
    return f"{findings.named(claim.row.judge)} {verdict} {bar}"


def _beside_rest(part: TableSlice, row: ReportRow) -> str:
    """The number of a part minus that of the rest, where it is tested."""
    for test in part.tests:
        if (test.judge, test.aspect) == (row.judge, row.judged):
            p = p_value(test.p_holm.value or 0.0)
            worse = ": worse here" if test.worse else ""
            return f", minus the rest {figures(test.gap)} (Holm p {p}{worse})"
    return ""


def slice_lines(findings: AuditFindings) -> dict[str, list[str]]:
    """Column -> a line for each of its values: counts and numbers."""
    by_column: dict[str, list[str]] = {}
    mixed: dict[str, int] = {}
    for part in findings.slices:
        mixed[part.column] = part.mixed_sources
        numbers = []
        for row in part.numbers:
            name = findings.report.aspect(row.aspect)
            number = f"{label(row.statistic)} {figures(row)}"
            beside = _beside_rest(part, row)
            numbers.append(f"{findings.named(row.judge)}, {name}: {number}{beside}")
        numbers += [_bar_line(findings, claim) for claim in part.bars]
        said = "; ".join(numbers) or part.why_none
        value = part.value if findings.texts else "a value"
        counted = f"{plural(part.rows, 'row')}, {count(part.rated)} rated"
        by_column.setdefault(part.column, []).append(f"{value} ({counted}): {said}")
    for column, sources in mixed.items():
        if sources:
            differ = plural(sources, "source")
            by_column[column].append(
                "not compared with the rest: a part is made of sources, and the values "
                f"differ within {differ}; judgescope.slices compares such parts"
            )
    return by_column
