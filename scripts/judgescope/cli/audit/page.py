"""The page of an audit: columns, verdict, supported claims, what more columns would
add.
"""

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from textwrap import wrap
from typing import Any, Final

from judgescope.cli.audit.disagreements import (
    MOST_ROWS,
    Disagreement,
    disagreements,
)
from judgescope.cli.init import facts_of
from judgescope.cli.init.cards import StudyDraft, in_original
from judgescope.cli.init.guess import doubtful_texts
from judgescope.cli.init.interview import NOT_READ
from judgescope.cli.init.roles import PAIRED, ROLES, Guess
from judgescope.cli.init.unread import unread
from judgescope.cli.terminal import plain
from judgescope.data.wording import NO_WORDS
from judgescope.methods.base import HUMAN
from judgescope.methods.claims.base import (
    AGREEMENT,
    BAR,
    LABELS,
    PAIRS,
    SOURCES_COUNTED,
    THESE_SYSTEMS,
)
from judgescope.methods.claims.rows import RIVAL
from judgescope.methods.measures import DECIDES, LARGEST_CEILING, WITHIN_SOURCE
from judgescope.methods.verdicts import CASES, NOT_COMPUTED
from judgescope.report.cells import ReportCell, figures, of_few
from judgescope.report.claims import ReportedClaim, own_claims
from judgescope.report.elements import (
    Body,
    Facts,
    PageBlock,
    PageTable,
    Paragraph,
    Section,
    TableLine,
    columns_of,
)
from judgescope.report.literature import grouped, line
from judgescope.report.report import Report, ShownJudge
from judgescope.report.rows import ReportRow
from judgescope.report.sections.sentences import (
    length_not_tested,
    number,
    reasons,
    sentence,
)
from judgescope.report.sections.trust import answer, evidence
from judgescope.report.words import count, label, listed, plural, spoken
from judgescope.statistics.registry import statistic
from judgescope.statistics.verdict import Outcome, Sign, legend_of_signs

ROWS_TO_READ: Final = "Rows to read, where judge and people disagree most"
WIDTH: Final = 100
SCHEMA_VERSION: Final = 1
"""Of the output for programs; it rises when a key changes its meaning or goes."""
MEETS: Final = 0
MISSES: Final = 1
CANNOT_TELL: Final = 2
"""Exit codes: every judge meets every bar (or none is set), one misses, cannot tell."""
JSON_ROLES: Final = ("text", "source", "item", "system", "length", *PAIRED)
SHORT: Final = (AGREEMENT, LABELS, PAIRS)
"""The kinds of claims in a short line on a judge."""
VERDICTS: Final = {MEETS: "meets", MISSES: "misses", CANNOT_TELL: "cannot tell"}


@dataclass(frozen=True)
class AuditFindings:
    """The findings of an audit: the study made from the file, and the results."""

    draft: StudyDraft
    report: Report
    texts: bool = True
    """Whether texts and other cells of the table may be shown."""

    @cached_property
    def judges(self) -> list[ShownJudge]:
        """Return the judges of the file."""
        return [judge for judge in self.report.judges if judge.engine == "recorded"]

    @cached_property
    def claims(self) -> dict[str, list[ReportedClaim]]:
        """Return judge -> the claims about it, except comparisons with other judges."""
        claims = dict[str, list[ReportedClaim]]()
        for judge in self.judges:
            claims[judge.id] = [
                replace(claim, reasons=tuple(self._reasons(claim)))
                for claim in own_claims(self.report, judge)
            ]
        return claims

    @cached_property
    def all_claims(self) -> list[ReportedClaim]:
        """Return the claims about all judges, judge by judge."""
        return list(chain(*self.claims.values()))

    @cached_property
    def disagreements(self) -> list[Disagreement]:
        """Return every row in which a judge and people differ, the worst first."""
        return disagreements(self.draft)

    @property
    def rows_to_read(self) -> list[Disagreement]:
        """Return the worst of these rows: those that a page shows."""
        return self.disagreements[:MOST_ROWS]

    def _reasons(self, claim: ReportedClaim) -> Iterator[str]:
        """Yield a claim's reasons, and what a bar needs in a file."""
        table = self.draft.table
        columns = self.draft.columns
        for code in claim.reasons:
            if code != NOT_COMPUTED:
                yield code
            elif _is_of_labels(claim.row.statistic) and not columns.compared:
                values = table.values(columns.rated)
                yield (
                    "it needs labels such as pass/fail; the ratings are numbers "
                    f"{min(values):g} to {max(values):g}"
                )
            else:
                yield "this file does not support it"

    @property
    def people(self) -> list[ReportRow]:
        """Return the agreement of one rater with the others, by aspect; empty for one
        rater.
        """
        rows = self.report.rows("verdicts").where(judge=HUMAN, form=AGREEMENT)
        return [row for row in rows if row.statistic in DECIDES.values()]

    @property
    def status(self) -> int:
        """Return the exit code: that of the worst bar, 0 if no bar is set."""
        if self.draft.require and not self.judges:
            return CANNOT_TELL
        bars = [claim for claim in self.all_claims if claim.kind.startswith(BAR)]
        outcomes = {claim.outcome for claim in bars}
        if Outcome.MISSES in outcomes:
            return MISSES
        return MEETS if outcomes <= {Outcome.MEETS} else CANNOT_TELL


# --- in words -------------------------------------------------------------------------


def _is_of_labels(name: str) -> bool:
    """Whether a bar is on labels, so that ratings in numbers cannot meet it."""
    return name in CASES or statistic(name).beats_controls


def as_text(findings: AuditFindings) -> str:
    """Return the page for a terminal."""
    verdict = _wrapped(verdict_lines(findings, _of_length))
    columns = (f"  {name:<12}{value}" for name, value in columns_read(findings))
    parts = [
        [findings.draft.table.title, *columns],
        verdict,
        ["This file supports:", *_listed(supported(findings))],
    ]
    if findings.rows_to_read:
        parts.append([ROWS_TO_READ + ":", *_listed(_said_of_rows(findings))])
    parts.append(["One more column would add:", *_listed(added(findings))])
    return "\n\n".join("\n".join(part) for part in parts)


def as_short_text(findings: AuditFindings) -> str:
    """Return verdicts and bars alone, for a terminal."""
    return "\n".join(_wrapped(verdict_lines(findings, _of_length)))


def _said_of_rows(findings: AuditFindings) -> Iterator[str]:
    """Yield a line for each row to read: row, values and the beginning of its text."""
    for row in findings.rows_to_read:
        said = (
            f"row {row.row}, {row.aspect}: {row.judge} says {row.judged}, people say "
            f"{row.rated}"
        )
        text = f": {row.text}" if findings.texts and row.text else ""
        yield plain(said + text)
    hidden = len(findings.disagreements) - len(findings.rows_to_read)
    if hidden:
        yield f"{plural(hidden, 'more row')}: --errors FILE writes all to a CSV file"


def _wrapped(lines: Iterable[str]) -> list[str]:
    """Return lines of the page's width; a number and its % sign or n stay together."""
    wrapped = list[str]()
    for text in lines:
        kept = text.replace(" %", "\xa0%").replace("n = ", "n\xa0=\xa0")
        for part in wrap(kept, WIDTH, subsequent_indent="  "):
            wrapped.append(part.replace("\xa0", " "))
    return wrapped


def _listed(texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        yield from wrap(text, WIDTH, initial_indent="  - ", subsequent_indent="    ")


def columns_read(findings: AuditFindings) -> list[tuple[str, str]]:
    """Return how each column was interpreted, without task, unused roles and items of
    our own.
    """
    item = findings.draft.columns.item
    unused = {"-", item if item not in findings.draft.table.columns else "-"}
    facts = facts_of(findings.draft, "--human")
    if not findings.texts:
        facts = _without_cells(findings, facts)
    shown = list[tuple[str, str]]()
    for name, value in facts:
        is_unused = name in (*ROLES, *PAIRED) and value in unused
        if name != "task" and not is_unused:
            shown.append((name, value))
    for problem in findings.report.datasets[0].counts.problems:
        if NO_WORDS in problem:
            shown.append(("note", plain(in_original(findings.draft, problem))))
    return shown


def _without_cells(
    findings: AuditFindings, facts: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield the facts on columns; reasons why one is not read repeat none of its
    cells.
    """
    notes = findings.draft.table.notes
    for name, value in facts:
        if not name.startswith(NOT_READ) and value not in map(plain, notes):
            yield name, value
    if notes:
        yield "note", f"{plural(len(notes), 'remark')} on how the file was read"
    for reason in unread(findings.draft.table, findings.draft.columns):
        yield plain(f"{NOT_READ}{reason.without_cell()}"), ""


def verdict_lines(
    findings: AuditFindings, words: Callable[..., str] = sentence
) -> Iterator[str]:
    """Yield whether bars are met, then a line for each judge, in `words`, then for
    people.
    """
    if findings.draft.require:
        status = findings.status
        yield f"Required minimums (bars): {VERDICTS[status]} (exit code {status})."
    table = findings.draft.table
    columns = findings.draft.columns
    unused = [] if table.known else list(doubtful_texts(table.rows, columns))
    if unused:
        yield plain(
            f"Columns with texts that are not used: {', '.join(unused)}. If one of "
            "them has the judged texts or their source, name it (--text, --source)."
        )
    signs = set[Sign]()
    for judge in findings.judges:
        of_judge = findings.claims[judge.id]
        yield plain(f"{judge.id}: {words(findings.report, judge, of_judge)}")
        yield from map(plain, _by_claim(findings.report, of_judge))
        signs |= {claim.sign for claim in of_judge}
    if signs:
        yield legend_of_signs(signs)
    people = findings.people
    most_rows = 4
    for row in people[:most_rows]:
        yield plain(
            f"people: one rater's agreement with the others on "
            f"{findings.report.aspect(row.aspect)}: {label(row.statistic)} "
            f"{_with_n(row)}."
        )
    if len(people) > most_rows:
        more = plural(len(people) - most_rows, "more aspect")
        yield f"people: {more} in the output of --json or --html."


def _by_claim(report: Report, of_judge: Sequence[ReportedClaim]) -> Iterator[str]:
    """Yield a line for each of the first claims about a judge: its sign, what it is
    about, and its number in the measures of the literature.
    """
    most_claims = 4
    for claim in of_judge[:most_claims]:
        about = claim.respect.format(claim.subject)
        if claim.kind in SHORT and claim.subject:
            about = claim.subject
        published = line(report, claim)
        if published:
            about += f": {published}"
        yield f"  {claim.sign} {about}"
    if len(of_judge) > most_claims:
        more = plural(len(of_judge) - most_claims, "more claim")
        yield f"  {more} in the output of --json or --html"


def _with_n(row: ReportRow) -> str:
    """Return an estimate with n, and with the reason if it has no interval."""
    parts = [] if of_few(row) else [f"n = {count(row.n)}"]
    if row.value is not None and row.ci_low is None:
        parts.append(spoken(row.note) if row.note else "no interval")
    return f"{figures(row)} ({'; '.join(parts)})"


def _of_length(
    report: Report, judge: ShownJudge, of_judge: Sequence[ReportedClaim]
) -> str:
    """Return the sentence on a judge, or the short one if it is too long.

    Other judges of the file change nothing of it.
    """
    text = sentence(report, judge, of_judge)
    too_long = len(wrap(f"{judge.id}: {text}", WIDTH)) > 10
    return _short(report, judge, of_judge) if too_long else text


def _short(report: Report, judge: ShownJudge, of_judge: Sequence[ReportedClaim]) -> str:
    """Return the answer on a judge and its numbers: those of its bars, or else of
    agreement.
    """
    bars = [claim for claim in of_judge if claim.kind.startswith(BAR)]
    shown = bars or [claim for claim in of_judge if claim.kind in SHORT]
    numbers = [f"{claim.subject}: {number(claim)}" for claim in shown if number(claim)]
    if len(numbers) > 2:
        numbers = [*numbers[:2], f"and {len(numbers) - 2} more"]
    parts = [answer(report, judge, of_judge)]
    parts += [f"{shown_number}." for shown_number in numbers]
    return " ".join(parts)


def supported(findings: AuditFindings) -> Iterator[str]:
    """Yield what the file's columns allow to claim, and what they do not."""
    columns = findings.draft.columns
    if not findings.judges:
        yield "how well people agree with each other"
        return
    counts = findings.report.datasets[0].counts
    raters = [len(group) for group in columns.ratings.values()]
    levels = {claim.row.level for claim in findings.all_claims}
    how = "within sources" if WITHIN_SOURCE in levels else "over all texts"
    aspects = listed([findings.report.aspect(name) for name in columns.ratings])
    if columns.compared:
        of_pairs = plural(len(findings.draft.table.rows), "pair")
        yield (
            f"whether the judge chooses as people do on {aspects}: {of_pairs}, "
            + plural(counts.items, "source")
        )
    else:
        yield f"agreement with people on {aspects}, {how}{_counted(findings)}"
    sources = set[str]()
    for row in findings.draft.table.rows:
        sources.add(str([row.get(name) for name in columns.source]))
    if columns.source and len(sources) < counts.items:
        yield (
            f"intervals that are too narrow: {plural(counts.items, 'item')} count as "
            f"independent, but have only {plural(len(sources), 'source')}; name the "
            "source's id (--item) and the column that tells the texts of a source "
            "apart (--system)"
        )
    if 1 < max(raters) <= LARGEST_CEILING:
        yield (
            "whether the judge is as good as one more rater, and how well people agree"
        )
    yield from _supported_of_systems(findings)
    tests_length = columns.has_lengths
    if tests_length and not any(map(length_not_tested, findings.all_claims)):
        yield "whether scoring texts by their length would do as well"


def _supported_of_systems(findings: AuditFindings) -> Iterator[str]:
    """Yield what the file allows to claim with respect to the systems of its texts."""
    columns = findings.draft.columns
    names = [columns.system] if columns.system else columns.systems
    if columns.anonymous:
        names = []
    values = set[str]()
    for row in findings.draft.table.rows:
        values.update(str(row.get(name)) for name in names)
    systems = len(values) or 1
    codes = set[str]()
    for claim in findings.all_claims:
        codes.update(claim.reasons)
    if any(code.startswith(THESE_SYSTEMS) for code in codes):
        yield (
            f"a claim about these {systems} systems only: agreement among texts of one "
            "system is not shown"
        )
    if any("p_systems" in claim.others for claim in findings.all_claims):
        yield f"whether a preference for systems would do as well: {systems} systems"
    elif systems > 1:
        yield (
            f"no test of a preference for systems: {systems} systems are too few, or "
            "too few of them wrote for the same sources"
        )


def _counted(findings: AuditFindings) -> str:
    """Return on how many texts and sources the claims of agreement or labels rest.

    Of several claims the smallest and the largest numbers; all of the file's if no
    claim can be made.
    """
    counts = findings.report.datasets[0].counts
    texts = set[int]()
    sources = set[int]()
    for of_judge in findings.claims.values():
        for claim in of_judge:
            counted = claim.others.get(SOURCES_COUNTED)
            if claim.kind in (AGREEMENT, LABELS) and counted is not None:
                texts.add(claim.row.n)
                sources.add(counted.n)
    if not texts:
        every = plural(counts.targets, "text")
        return f": {every} of {plural(counts.items, 'source')}"
    return (
        f" on {_range(texts)} of {plural(counts.targets, 'text')}, {_range(sources)} "
        f"of {plural(counts.items, 'source')}"
    )


def _range(numbers: set[int]) -> str:
    low = count(min(numbers))
    high = count(max(numbers))
    return low if low == high else f"{low} to {high}"


def added(findings: AuditFindings) -> Iterator[str]:
    """Yield what a column that the file does not have would add."""
    columns = findings.draft.columns
    if not findings.judges:
        file = shlex.quote(str(findings.draft.table.file))
        yield (
            "a judge's scores (--judge COLUMN names its column): whether the judge "
            f"agrees with people; judgescope init {file} creates a study in which a "
            "model judges these texts"
        )
        return
    if max(map(len, columns.ratings.values())) < 2 and not columns.means:
        yield (
            "a second rater: how well people agree with each other, and whether the "
            "judge is as good as one more rater"
        )
    if not columns.system and not columns.systems:
        yield (
            "the system that wrote each text: whether a preference for systems would "
            "do as well, and whether the judge ranks systems as people do"
        )
    counts = findings.report.datasets[0].counts
    texts = counts.targets
    if columns.compared:
        texts = len(findings.draft.table.rows)
    if not columns.source and counts.items == texts:
        yield (
            "the source of each text, or an id that its texts share: agreement within "
            "a source; if rows share a source, intervals without it are too narrow"
        )
    if not columns.has_lengths:
        option = "--lengths" if columns.compared else "--length"
        yield (
            f"the texts, or their lengths ({option}): whether scoring by length would "
            "do as well; with texts, also tests on perturbed texts"
        )
    elif not columns.has_texts:
        yield "the texts: tests on perturbed texts"
    if columns.compared:
        yield (
            "the judge's choices with the texts in reverse order: how often it "
            "contradicts itself"
        )
    else:
        yield (
            "a second draw (score) by the judge: how often it scores the same text "
            "differently"
        )


# --- for programs ---------------------------------------------------------------------


def _shown_columns(columns: Guess, role: str) -> list[str]:
    """The columns of a role, without a number of answers that is ours."""
    if role == "system" and columns.anonymous:
        return []
    return columns.columns_of(role)


def as_json(findings: AuditFindings) -> str:
    """Return the contents of the page, with all numbers, as JSON."""
    table = findings.draft.table
    columns = findings.draft.columns
    judges = dict[str, Any]()
    for judge in findings.judges:
        of_judge = findings.claims[judge.id]
        judges[judge.id] = {
            "sentence": sentence(findings.report, judge, of_judge),
            "claims": [_claim(findings.report, claim) for claim in of_judge],
        }
    content = {
        "schema_version": SCHEMA_VERSION,
        "file": str(findings.draft.table.file),
        "rows": len(findings.draft.table.rows),
        "notes": list(findings.draft.table.notes) if findings.texts else [],
        "assumed": columns.assumed,
        "columns": {
            **{role: _shown_columns(columns, role) for role in JSON_ROLES},
            "people": columns.ratings,
            "judges": columns.judges,
            "missing": table.missing_cells([*columns.rated, *columns.scored]),
            "not_used": [name for name in table.columns if name not in columns.used],
        },
        "judges": judges,
        "people": [_numbers(row) for row in findings.people],
        "supports": list(supported(findings)),
        "adds": list(added(findings)),
        "disagreements": [
            _disagreement(row, findings.texts) for row in findings.rows_to_read
        ],
        "verdict": VERDICTS[findings.status] if findings.draft.require else None,
        "exit_code": findings.status,
    }
    return json.dumps(content, indent=2)


def _disagreement(row: Disagreement, texts: bool) -> dict[str, Any]:
    content = row._asdict()
    del content["line"]
    if not texts:
        del content["text"]
    return content


def _claim(report: Report, claim: ReportedClaim) -> dict[str, Any]:
    counted = claim.others.get(SOURCES_COUNTED)
    literature = list[dict[str, Any]]()
    for name, rows in grouped(report, claim):
        measures = [_numbers(row) for row in rows]
        literature.append({"group": name, "measures": measures})
    others = {name: _numbers(row) for name, row in claim.others.items()}
    rival = claim.others.get(RIVAL)
    return {
        "kind": claim.kind,
        "outcome": claim.outcome,
        "sign": claim.sign.value,
        "reasons": list(reasons(claim)),
        "rival": None if rival is None else rival.note,
        "rival_value": others.get(f"{RIVAL}_value"),
        "rival_difference": others.get(f"{RIVAL}_difference"),
        **_numbers(claim.row),
        "sources_counted": None if counted is None else counted.n,
        "literature": literature,
        "literature_line": line(report, claim),
        "others": others,
    }


def _numbers(row: ReportRow) -> dict[str, Any]:
    names = (
        "aspect",
        "statistic",
        "level",
        "value",
        "ci_low",
        "ci_high",
        "n",
        "n_missing",
        "method",
        "note",
        "signature",
    )
    return {name: getattr(row, name) for name in names}


# --- HTML -----------------------------------------------------------------------------


def as_html(findings: AuditFindings) -> str:
    """Return the page as one HTML file, with the evidence of every claim."""
    from judgescope.report.page import render  # slow to import

    blocks: list[PageBlock] = [
        Paragraph(line) for line in verdict_lines(findings, sentence)
    ]
    several = len(findings.judges) > 1
    of_judges = list[Section]()
    for number_of_judge, judge in enumerate(findings.judges, start=1):
        content = [evidence(findings.report, findings.claims[judge.id])]
        if several:
            name = f"evidence-{number_of_judge}"
            of_judges.append(Section(name, f"Evidence: {judge.id}", "", content))
        else:
            of_judges.append(Section("evidence", "Evidence", "", content))
    lead = (
        f"{findings.draft.table.file.name}: {count(len(findings.draft.table.rows))} "
        "rows."
    )
    sections = [
        Section("verdict", "Verdict", lead, blocks),
        *of_judges,
        Section("columns", "Columns", "", [Facts(columns_read(findings))]),
        Section(
            "supports",
            "This file supports",
            "",
            [Paragraph(line) for line in supported(findings)],
        ),
        *_section_of_rows(findings),
        Section(
            "adds",
            "One more column would add",
            "",
            [Paragraph(line) for line in added(findings)],
        ),
    ]
    return render(findings.report, sections)


def _section_of_rows(findings: AuditFindings) -> Iterator[Section]:
    """Yield a section with the rows to read, none if judge and people agree on all."""
    found = findings.rows_to_read
    if not found:
        return
    heads = ["Judge", "Aspect", "Judge says", "People say"]
    shows_texts = findings.texts and any(row.text for row in found)
    if shows_texts:
        heads.append("Text")
    lines = []
    for row in found:
        texts = [row.judge, row.aspect, row.judged, row.rated]
        if shows_texts:
            texts.append(row.text)
        cells = [ReportCell(plain(text), style="words") for text in texts]
        lines.append(TableLine(str(row.row), cells))
    file = findings.draft.table.file.name
    caption = f"Rows of {plain(file)}, numbered as a spreadsheet does"
    columns = columns_of(heads, style="words")
    table = PageTable(caption, "Row", columns, [Body(lines)], code=False)
    yield Section("rows", ROWS_TO_READ, "", [table])
