"""What a page of an audit says in sentences, in every form: columns, verdicts, what a
file supports, what one more column would add.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from judgescope.cli.audit.findings import VERDICTS, AuditFindings
from judgescope.cli.audit.headline import ceiling_of
from judgescope.cli.init import facts_of
from judgescope.cli.init.cards import in_original
from judgescope.cli.init.interview import NOT_READ
from judgescope.cli.init.roles import PAIRED, ROLES
from judgescope.cli.init.text_columns import doubtful_texts
from judgescope.cli.init.unread import unread
from judgescope.cli.terminal import plain
from judgescope.data.column_rows import cells_by_row, cells_of
from judgescope.data.wording import NO_WORDS
from judgescope.methods.claims.base import (
    AGREEMENT,
    LABELS,
    NO_CEILING,
    PAIRS,
    SOURCES_COUNTED,
    THESE_SYSTEMS,
)
from judgescope.methods.measures import LARGEST_CEILING, WITHIN_SOURCE
from judgescope.plan.notices import why_untested
from judgescope.report.answer_data import MOST_NAMED
from judgescope.report.cells import figures, of_few
from judgescope.report.claims import ReportedClaim
from judgescope.report.rows import ReportRow
from judgescope.report.sections.sentences import (
    length_not_tested,
    sentence,
)
from judgescope.report.words import count, label, listed, plural, spoken
from judgescope.statistics import headline as sentences

WIDTH: Final = 100
"""Characters of a line in a terminal that is wide enough."""
SHORT: Final = (AGREEMENT, LABELS, PAIRS)
"""The kinds of claims in a short line on a judge."""


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
    """Yield the headline, whether bars are met, a line for each judge, in `words`, then
    for people.
    """
    yield plain(findings.headline)
    if findings.draft.require:
        status = findings.status
        yield f"Required minimums (bars): {VERDICTS[status]} (exit code {status})."
    yield from _unused_texts(findings)
    for judge in findings.judges:
        of_judge = findings.claims[judge.id]
        name = findings.named(judge.id)
        yield plain(f"{name}: {words(findings.report, judge, of_judge)}")
        yield from map(plain, _reversed(name, of_judge))
    yield from _people(findings)


def _unused_texts(findings: AuditFindings) -> Iterator[str]:
    table = findings.draft.table
    columns = findings.draft.columns
    unused = []
    if not table.known:
        unused = list(doubtful_texts(table.rows, columns))
    if unused:
        yield plain(
            f"Columns with texts that are not used: {', '.join(unused)}. If one of "
            "them has the judged texts or their source, name it (--text, --source)."
        )


def _reversed(name: str, claims: Sequence[ReportedClaim]) -> Iterator[str]:
    """Yield a question if a judge's scores fall where people's ratings rise."""
    names = []
    for claim in claims:
        high = claim.row.ci_high
        if claim.kind == AGREEMENT and high is not None and high < 0:
            names.append(claim.subject)
    if names:
        yield (
            f"{name}: is the scale reversed? It scores texts lower where people rate "
            f"them higher, on {listed(names)}; the highest score counts as the best."
        )


def _people(findings: AuditFindings, most_rows: int = 4) -> Iterator[str]:
    people = findings.people
    for row in people[:most_rows]:
        yield plain(
            f"people: one rater's agreement with the others on "
            f"{findings.report.aspect(row.aspect)}: {label(row.statistic)} "
            f"{_with_n(row)}."
        )
    if len(people) > most_rows:
        more = plural(len(people) - most_rows, "more aspect")
        yield f"people: {more} in the output of --json or --html."
    yield from _no_ceiling(findings)


def _no_ceiling(findings: AuditFindings) -> Iterator[str]:
    """Yield for which aspects no judge can be recommended, and where none is limited
    by a second rating.
    """
    disagreed: dict[str, ReportedClaim] = {}
    for claim in findings.all_claims:
        if NO_CEILING in claim.codes:
            disagreed.setdefault(claim.subject, claim)
    if disagreed:
        aspects = listed([*disagreed][:MOST_NAMED])
        if len(disagreed) > MOST_NAMED:
            aspects = f"{len(disagreed)} aspects"
        numbers = []
        for claim in [*disagreed.values()][:MOST_NAMED]:
            ceiling = ceiling_of(claim)
            if ceiling is not None:
                noun = "pair" if claim.kind == PAIRS else "text"
                numbers.append(f"{figures(ceiling)}, {plural(claim.row.n, noun)}")
        yield plain(
            f"{aspects}: no judge can be recommended. "
            + sentences.not_recommended("; ".join(numbers))
        )
    columns = findings.draft.columns
    if findings.judges and max(map(len, columns.ratings.values())) < 2:
        yield f"people: {sentences.ONE_RATING}"


def _with_n(row: ReportRow) -> str:
    """Return an estimate with n, and with the reason if it has no interval."""
    parts = [] if of_few(row) else [f"n = {count(row.n)}"]
    if row.value is not None and row.ci_low is None:
        parts.append(spoken(row.note) if row.note else "no interval")
    return f"{figures(row)} ({'; '.join(parts)})"


def supported(findings: AuditFindings) -> Iterator[str]:
    """Yield what the file's columns allow to claim, and what they do not."""
    columns = findings.draft.columns
    if not findings.judges:
        yield "how well people agree with each other"
        return
    counts = findings.report.datasets[0].counts
    raters = [len(group) for group in columns.ratings.values()]
    levels = {claim.row.level for claim in findings.all_claims}
    how = "over all texts"
    if WITHIN_SOURCE in levels:
        how = "within sources"
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
    for cells in cells_by_row(findings.draft.table.rows, columns.source):
        sources.add(str(cells))
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
    for name in names:
        values.update(map(str, cells_of(findings.draft.table.rows, name)))
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
        yield f"no test of a preference for systems: {_why_untested(findings, systems)}"


def _why_untested(findings: AuditFindings, systems: int) -> str:
    """Return why no claim has a test of a preference for its systems."""
    columns = findings.draft.columns
    if columns.system is None:
        return f"these are choices between texts of {systems} systems"
    shared = columns.source or columns.columns_of("item")
    items = []
    named = []
    rows = findings.draft.table.rows
    for of_system, *cells in cells_by_row(rows, [columns.system, *shared]):
        items.append(str(cells))
        named.append(str(of_system))
    why = why_untested(items, named, len(columns.ratings))
    return why or "no claim has enough texts for it"


def _counted(findings: AuditFindings) -> str:
    """Return on how many texts and sources the claims of agreement or labels rest.

    Of several claims the smallest and the largest numbers; all of the file's if no
    claim can be made.
    """
    counts = findings.report.datasets[0].counts
    texts = set[int]()
    sources = set[int]()
    of_labels = False
    for of_judge in findings.claims.values():
        for claim in of_judge:
            counted = claim.others.get(SOURCES_COUNTED)
            if claim.kind in (AGREEMENT, LABELS) and counted is not None:
                of_labels = of_labels or claim.kind == LABELS
                texts.add(claim.row.n)
                sources.add(counted.n)
    if not texts:
        every = plural(counts.targets, "text")
        return f": {every} of {plural(counts.items, 'source')}"
    on_texts = f" on {_range(texts)} of {plural(counts.targets, 'text')}"
    on_sources = f"{_range(sources)} of {plural(counts.items, 'source')}"
    joined = "; intervals rest on" if of_labels else ","
    return f"{on_texts}{joined} {on_sources}"


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
    if columns.compared and not columns.swapped:
        yield (
            "the judge's choices with the texts in reverse order: how often it "
            "contradicts itself"
        )
    elif not columns.compared:
        yield (
            "a second draw (score) by the judge: how often it scores the same text "
            "differently"
        )
