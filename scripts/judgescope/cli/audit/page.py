"""The page of an audit: columns, verdict, supported claims, what more columns would
add.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import wrap
from typing import Any, Final

from judgescope.cli.init import facts_of
from judgescope.cli.init.cards import StudyDraft, in_original
from judgescope.cli.init.guess import PAIRED, ROLES, doubtful_texts
from judgescope.cli.terminal import plain
from judgescope.data.draft import NO_WORDS
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
from judgescope.methods.labels import ABOVE_CONTROLS
from judgescope.methods.measures import DECIDES, WITHIN_SOURCE
from judgescope.methods.verdicts import CASES, NOT_COMPUTED
from judgescope.report.cells import figures, of_few
from judgescope.report.claims import FIRST, Claim, claims
from judgescope.report.elements import Block, Facts, Section, Text
from judgescope.report.literature import grouped, line
from judgescope.report.report import Judge, Report
from judgescope.report.rows import Row
from judgescope.report.sections.trust import (
    answer,
    evidence,
    length_not_tested,
    number,
    reasons,
    sentence,
)
from judgescope.report.words import count, label, listed, plural, spoken
from judgescope.statistics.verdict import Outcome, Sign, legend_of_signs

WIDTH: Final = 100
SCHEMA_VERSION: Final = 1
"""Of the output for programs; it rises when a key changes its meaning or goes."""
MOST_LINES: Final = 10
"""The lines of a judge's sentence; a longer one is replaced by a short one."""
MOST_OF_PEOPLE: Final = 4
"""The aspects on which people's own agreement is listed."""
MOST_CLAIMS: Final = 4
"""The claims about a judge that have a line."""
MEETS, MISSES, CANNOT_TELL = range(3)
"""Exit codes: every judge meets every bar (or none is set), one misses, cannot tell."""
FEW_NUMBERS: Final = 2
"""The most numbers in a short line on a judge."""
JSON_ROLES: Final = ("text", "source", "item", "system", "length", *PAIRED)
OF_LABELS: Final = {*CASES, *ABOVE_CONTROLS}
"""Statistics of labels: bars that ratings in numbers cannot meet."""
SHORT: Final = (AGREEMENT, LABELS, PAIRS)
"""The kinds of claims in a short line on a judge."""
STATUS: Final = {Outcome.MEETS: MEETS, Outcome.MISSES: MISSES}
"""Outcome of a bar -> exit code; any other outcome means CANNOT_TELL."""
VERDICTS: Final = {MEETS: "meets", MISSES: "misses", CANNOT_TELL: "cannot tell"}


@dataclass(frozen=True)
class Findings:
    """The findings of an audit: the study made from the file, and the results."""

    draft: StudyDraft
    report: Report

    @cached_property
    def judges(self) -> list[Judge]:
        """Return the judges of the file."""
        return [judge for judge in self.report.judges if judge.engine == "recorded"]

    @cached_property
    def claims(self) -> dict[str, list[Claim]]:
        """Return judge -> the claims about it, except comparisons with other judges."""
        return {
            judge.id: [
                replace(claim, reasons=tuple(self._reasons(claim)))
                for claim in claims(self.report, judge)
                if claim.kind != FIRST
            ]
            for judge in self.judges
        }

    def _reasons(self, claim: Claim) -> Iterator[str]:
        """Yield a claim's reasons, and what a bar needs in a file."""
        table, columns = self.draft.table, self.draft.columns
        for code in claim.reasons:
            if (
                code == NOT_COMPUTED
                and claim.row.statistic in OF_LABELS
                and not columns.compared
            ):
                values = table.values(columns.rated)
                yield (
                    "it needs labels such as pass/fail; the ratings are numbers "
                    f"{min(values):g} to {max(values):g}"
                )
            elif code == NOT_COMPUTED:
                yield "this file does not support it"
            else:
                yield code

    @property
    def people(self) -> list[Row]:
        """Return the agreement of one rater with the others, by aspect; empty for one
        rater.
        """
        rows = self.report.rows("verdicts").where(judge=HUMAN, form=AGREEMENT)
        return [row for row in rows if row.statistic in DECIDES.values()]

    @property
    def status(self) -> int:
        """Return the exit code: that of the worst bar, 0 if no bar is set."""
        bars = [
            one for of in self.claims.values() for one in of if one.kind.startswith(BAR)
        ]
        codes = {STATUS.get(claim.outcome, CANNOT_TELL) for claim in bars}
        return next((code for code in (MISSES, CANNOT_TELL) if code in codes), MEETS)


# --- in words -------------------------------------------------------------------------


def as_text(findings: Findings) -> str:
    """Return the page for a terminal."""
    verdict = _wrapped(_verdict(findings, _of_length))
    columns = (f"  {name:<12}{value}" for name, value in _columns(findings))
    parts = [
        [findings.draft.table.title, *columns],
        verdict,
        ["This file supports:", *_listed(_supports(findings))],
        ["One more column would add:", *_listed(_adds(findings))],
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def _wrapped(lines: Iterable[str]) -> list[str]:
    """Return lines of the page's width; a number and its % sign or n stay together."""
    kept = (line.replace(" %", "\xa0%").replace("n = ", "n\xa0=\xa0") for line in lines)
    wrapped = (
        part for line in kept for part in wrap(line, WIDTH, subsequent_indent="  ")
    )
    return [part.replace("\xa0", " ") for part in wrapped]


def _listed(texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        yield from wrap(text, WIDTH, initial_indent="  - ", subsequent_indent="    ")


def _columns(findings: Findings) -> list[tuple[str, str]]:
    """Return how each column was interpreted, without task, unused roles and items of
    our own.
    """
    item = findings.draft.columns.item
    unused = {"-", item if item not in findings.draft.table.columns else "-"}
    facts = facts_of(findings.draft, "--human")
    shown = [
        (name, value)
        for name, value in facts
        if name != "task" and not (name in (*ROLES, *PAIRED) and value in unused)
    ]
    problems = findings.report.datasets[0].counts.problems
    notes = [one for one in problems if NO_WORDS in one]
    return shown + [
        ("note", plain(in_original(findings.draft, note))) for note in notes
    ]


def _verdict(findings: Findings, words: Callable[..., str]) -> Iterator[str]:
    """Yield whether bars are met, then a line for each judge, in `words`, then for
    people.
    """
    if findings.draft.require:
        status = findings.status
        yield f"Required minimums (bars): {VERDICTS[status]} (exit code {status})."
    table, columns = findings.draft.table, findings.draft.columns
    if left := () if table.known else doubtful_texts(table.rows, columns):
        yield plain(
            f"Columns with texts that are not used: {', '.join(left)}. If one of them "
            "has the judged texts or their source, name it (--text, --source)."
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
    for row in people[:MOST_OF_PEOPLE]:
        yield plain(
            f"people: one rater's agreement with the others on "
            f"{findings.report.aspect(row.aspect)}: {label(row.statistic)} "
            f"{_with_n(row)}."
        )
    if len(people) > MOST_OF_PEOPLE:
        more = plural(len(people) - MOST_OF_PEOPLE, "more aspect")
        yield f"people: {more} in the output of --json or --html."


def _by_claim(report: Report, of_judge: Sequence[Claim]) -> Iterator[str]:
    """Yield a line for each of the first claims about a judge: its sign, what it is
    about, and its number in the measures of the literature.
    """
    for claim in of_judge[:MOST_CLAIMS]:
        about = claim.respect.format(claim.subject)
        if claim.kind in SHORT and claim.subject:
            about = claim.subject
        published = line(report, claim)
        yield f"  {claim.sign} {about}{f': {published}' if published else ''}"
    if len(of_judge) > MOST_CLAIMS:
        more = plural(len(of_judge) - MOST_CLAIMS, "more claim")
        yield f"  {more} in the output of --json or --html"


def _with_n(row: Row) -> str:
    """Return an estimate with n, and with the reason if it has no interval."""
    parts = [] if of_few(row) else [f"n = {count(row.n)}"]
    if row.value is not None and row.ci_low is None:
        parts.append(spoken(row.note) if row.note else "no interval")
    return f"{figures(row)} ({'; '.join(parts)})"


def _of_length(report: Report, judge: Judge, of_judge: Sequence[Claim]) -> str:
    """Return the sentence on a judge, or the short one if it is too long.

    Other judges of the file change nothing of it.
    """
    text = sentence(report, judge, of_judge)
    too_long = len(wrap(f"{judge.id}: {text}", WIDTH)) > MOST_LINES
    return _short(report, judge, of_judge) if too_long else text


def _short(report: Report, judge: Judge, of_judge: Sequence[Claim]) -> str:
    """Return the answer on a judge and its numbers: those of its bars, or else of
    agreement.
    """
    bars = [claim for claim in of_judge if claim.kind.startswith(BAR)]
    shown = bars or [claim for claim in of_judge if claim.kind in SHORT]
    numbers = [f"{claim.subject}: {number(claim)}" for claim in shown if number(claim)]
    if len(numbers) > FEW_NUMBERS:
        numbers = [*numbers[:FEW_NUMBERS], f"and {len(numbers) - FEW_NUMBERS} more"]
    return " ".join([answer(report, judge, of_judge), *(f"{one}." for one in numbers)])


def _supports(findings: Findings) -> Iterator[str]:
    columns, counts = findings.draft.columns, findings.report.datasets[0].counts
    raters = {name: len(group) for name, group in columns.ratings.items()}
    level = {claim.row.level for of in findings.claims.values() for claim in of}
    how = "within sources" if WITHIN_SOURCE in level else "over all texts"
    aspects = listed([findings.report.aspect(name) for name in raters])
    if columns.compared:
        of_pairs = plural(len(findings.draft.table.rows), "pair")
        yield (
            f"whether the judge chooses as people do on {aspects}: {of_pairs}, "
            + plural(counts.items, "source")
        )
    else:
        yield f"agreement with people on {aspects}, {how}{_counted(findings)}"
    sources = {
        str([row.get(name) for name in columns.source])
        for row in findings.draft.table.rows
    }
    if columns.source and len(sources) < counts.items:
        yield (
            f"intervals that are too narrow: {plural(counts.items, 'item')} count as "
            f"independent, but have only {plural(len(sources), 'source')}; name the "
            "source's id (--item) and the column that tells the texts of a source "
            "apart (--system)"
        )
    if max(raters.values()) > 1:
        yield (
            "whether the judge is as good as one more rater, and how well people agree"
        )
    reasons_given = {
        code for of in findings.claims.values() for one in of for code in one.reasons
    }
    named = [columns.system] if columns.system else columns.systems
    systems = (
        len({str(row.get(name)) for row in findings.draft.table.rows for name in named})
        or 1
    )
    if any(code.startswith(THESE_SYSTEMS) for code in reasons_given):
        yield (
            f"a claim about these {systems} systems only: agreement among texts of one "
            "system is not shown"
        )
    every = [claim for of in findings.claims.values() for claim in of]
    if any("p_systems" in claim.others for claim in every):
        yield f"whether a preference for systems would do as well: {systems} systems"
    elif systems > 1:
        yield (
            f"no test of a preference for systems: {systems} systems are too few, or "
            "too few of them wrote for the same sources"
        )
    if columns.has_lengths and not any(map(length_not_tested, every)):
        yield "whether scoring texts by their length would do as well"


def _counted(findings: Findings) -> str:
    """Return on how many texts and sources the claims of agreement or labels rest.

    Of several claims the smallest and the largest numbers; all of the file's if no
    claim can be made.
    """
    counts = findings.report.datasets[0].counts
    texts, sources = set[int](), set[int]()
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
    low, high = count(min(numbers)), count(max(numbers))
    return low if low == high else f"{low} to {high}"


def _adds(findings: Findings) -> Iterator[str]:
    """Yield what a column that the file does not have would add."""
    columns = findings.draft.columns
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
    alone = counts.items == (
        len(findings.draft.table.rows) if columns.compared else counts.targets
    )
    if not columns.source and alone:
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


def as_json(findings: Findings) -> str:
    """Return the contents of the page, with all numbers, as JSON."""
    columns = findings.draft.columns
    content = {
        "schema_version": SCHEMA_VERSION,
        "file": str(findings.draft.table.file),
        "rows": len(findings.draft.table.rows),
        "columns": {
            **{role: columns.columns_of(role) for role in JSON_ROLES},
            "people": columns.ratings,
            "judges": columns.judges,
            "missing": findings.draft.table.missing_cells(
                [*columns.rated, *columns.scored]
            ),
            "not_used": [
                name
                for name in findings.draft.table.columns
                if name not in columns.used
            ],
        },
        "judges": {
            judge.id: {
                "sentence": sentence(findings.report, judge, findings.claims[judge.id]),
                "claims": [
                    _claim(findings.report, claim)
                    for claim in findings.claims[judge.id]
                ],
            }
            for judge in findings.judges
        },
        "people": [_numbers(row) for row in findings.people],
        "supports": list(_supports(findings)),
        "adds": list(_adds(findings)),
        "verdict": VERDICTS[findings.status] if findings.draft.require else None,
        "exit_code": findings.status,
    }
    return json.dumps(content, indent=2)


def _claim(report: Report, claim: Claim) -> dict[str, Any]:
    counted = claim.others.get(SOURCES_COUNTED)
    groups = [
        (name, [_numbers(row) for row in rows]) for name, rows in grouped(report, claim)
    ]
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
        "literature": [{"group": name, "measures": rows} for name, rows in groups],
        "literature_line": line(report, claim),
        "others": others,
    }


def _numbers(row: Row) -> dict[str, Any]:
    names = (
        "aspect",
        "statistic",
        "level",
        "value",
        "ci_low",
        "ci_high",
        "n",
        "n_missing",
    )
    return {
        name: getattr(row, name) for name in (*names, "method", "note", "signature")
    }


# --- HTML -----------------------------------------------------------------------------


def as_html(findings: Findings) -> str:
    """Return the page as one HTML file, with the evidence of every claim."""
    from judgescope.report.page import render  # slow to import

    blocks: list[Block] = [Text(line) for line in _verdict(findings, sentence)]
    several = len(findings.judges) > 1
    of_judges = [
        Section(
            f"evidence-{at}" if several else "evidence",
            f"Evidence: {judge.id}" if several else "Evidence",
            "",
            [evidence(findings.report, findings.claims[judge.id])],
        )
        for at, judge in enumerate(findings.judges, start=1)
    ]
    lead = (
        f"{findings.draft.table.file.name}: {count(len(findings.draft.table.rows))} "
        "rows."
    )
    sections = [
        Section("verdict", "Verdict", lead, blocks),
        *of_judges,
        Section("columns", "Columns", "", [Facts(_columns(findings))]),
        Section(
            "supports",
            "This file supports",
            "",
            [Text(line) for line in _supports(findings)],
        ),
        Section(
            "adds",
            "One more column would add",
            "",
            [Text(line) for line in _adds(findings)],
        ),
    ]
    return render(findings.report, sections)
