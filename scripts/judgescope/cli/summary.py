"""The end of a run in the terminal: its main results, and what limits them."""

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from judgescope.cli.terminal import aligned, plural
from judgescope.cli.unread_summary import with_unread
from judgescope.core.paths import Paths
from judgescope.data.specs import WARNING
from judgescope.engines.recorded_joins import join_lines, read_joins
from judgescope.methods.claims.base import BAR, CAUGHT, LABELS, PAIRS, PASSED, VERDICT
from judgescope.methods.claims.rows import SIGN
from judgescope.methods.differences import OVERALL
from judgescope.methods.measures import DECIDES, POOLED, WITHIN_SOURCE
from judgescope.parsing.judgment import NO_VALUE, OFF_GRID, OFF_GRID_REMEDY
from judgescope.plan.generators import made_of, spender
from judgescope.plan.study import Plan
from judgescope.report.cells import FLAT
from judgescope.report.rows import NO_ROWS, ReportRow, ReportRows
from judgescope.report.words import ERROR_WORDS, STATUSES
from judgescope.schema.tables import read_table
from judgescope.statistics.resampling import NO_WIDTH
from judgescope.statistics.result import REASONS
from judgescope.statistics.verdict import Outcome, Sign, legend_of_signs

HEADINGS = {
    ("kappa_linear", "direct"): "linear κ with people",
    ("accuracy_adjacent_half", "direct"): "ordered as people",
    ("kappa_linear", "global"): "linear κ, graded sets",
    ("accuracy_adjacent_half", "local"): "ordered, error chains",
    ("alpha_pair", ""): "alpha with people",
    ("hint_adoption_rate", ""): "swayed by the hint",
    ("error_correlation_mean", "pooled"): "error correlation",
    ("effective_judges", "pooled"): "effective judges",
}
"""Statistic and level of perspectives, robustness or ensemble -> the heading of its
column."""
CHOSEN = {
    (CAUGHT, "tnr"): "bad texts found",
    (PASSED, "tpr"): "good texts found",
    (LABELS, "balanced_accuracy"): "balanced accuracy",
    (PAIRS, "half_credit"): "better text chosen",
    (PAIRS, "accuracy_comparison"): "better text chosen",
}
"""Form and statistic of a claim on labels or on pairs -> the heading of its column."""
SUMS = {"D_avg_exact": "D_avg (exact)", "confusion_index": "confusion index"}
"""Statistic of a judge over all aspects -> the heading of its column."""
AVERAGE = "average"
"""The aspect of rows with means over aspects."""
UNDEFINED = "-"
HINTED = "hint"
"""Printed instead of the agreement of a judge that is shown a rating of the same
text."""
DatasetJudge = tuple[str, str]
"""A dataset and a judge."""
# --- a run ----------------------------------------------------------------------------


def summary(out: Path, warnings: Sequence[str] = ()) -> str:
    """Return, per dataset, the agreement behind each judge's claim, its sums, and the
    report.

    Values have a 95 % interval; `-` is an undefined value, with its reason in the
    tables. `warnings` come before the report's path.
    """
    verdicts = table_rows(out, "verdicts")
    coverage = table_rows(out, "coverage")
    hinted = set()
    for row in verdicts.where(form="agreement", statistic=VERDICT):
        if "hinted" in row.note.split("; "):
            hinted.add((row.dataset, row.judge))
    signs = {}
    for row in verdicts.where(statistic=SIGN):
        if row.note != Sign.NO_CLAIM:
            signs[_claim(row)] = Sign(row.note)
    lost = _lost(coverage)
    parts: list[str] = []
    for title, rows in main_rows(out).items():
        means = [row for row in rows if (row.dataset, row.aspect) == (OVERALL, AVERAGE)]
        parts += _tables(means or rows, hinted, title, lost, signs)
    if signs:
        parts.append(f"\n{legend_of_signs(set(signs.values()))}")
    if hinted:
        names = ", ".join(sorted({judge for _, judge in hinted}))
        parts.append(
            f"\n{HINTED}: the prompts of {names} contain a rating of the same text, so "
            "its agreement means nothing"
        )
    parts += _unjoined(out, coverage)
    parts += _bars(verdicts)
    parts += _off_grid(coverage)
    parts += _reading_warnings(out, coverage)
    parts += with_unread(lost, out, coverage).values()
    parts += _unanswered(out, coverage)
    parts += warnings
    parts += _largest_job(out)
    parts.append(f"\nreport: {out / 'report' / 'index.html'}")
    return "\n".join(parts)


def table_rows(out: Path, table: str) -> ReportRows:
    """Return the rows of a result table; none if the study has not computed it."""
    path = Path(Paths(str(out)).table(table))
    if not path.is_file():
        return NO_ROWS
    return ReportRows.of_table(read_table("results", path))


def _largest_job(out: Path) -> list[str]:
    """Return a line on the job that took most memory, none if no memory was measured.

    Snakemake looks at a job's memory twice a second, later twice a minute, so that of a
    short job may be unknown.
    """
    largest_size = 0.0
    largest = ""
    folder = out / "benchmarks"
    for path in sorted(folder.rglob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                size = row.get("max_rss") or ""
                if size.replace(".", "", 1).isdigit() and float(size) > largest_size:
                    largest_size = float(size)
                    largest = path.relative_to(folder).with_suffix("").as_posix()
    if not largest:
        return []
    return [f"\nmost memory of a job: {largest_size:,.0f} MB ({largest})"]


def main_rows(out: Path) -> dict[str, list[ReportRow]]:
    """Return the rows with the main results that a run prints, by the title of their
    tables.

    They are the numbers behind claims on labels and choices, then ("") the correlations
    behind claims on agreement with sums over all aspects, and means over aspects.
    """
    choices = []
    agreement = []
    for row in table_rows(out, "verdicts"):
        if (row.form, row.statistic) in CHOSEN:
            choices.append(row)
        if _decides(row):
            agreement.append(row)
    for table in ("discernment", "confusion"):
        agreement += table_rows(out, table).where(statistic=tuple(SUMS))
    rows = {"labels and choices compared with people's; ": choices, "": agreement}
    for table in ("perspectives", "robustness", "ensemble"):
        means = []
        for row in table_rows(out, table).where(aspect=AVERAGE):
            if (row.statistic, row.level) in HEADINGS:
                means.append(row)
        rows[f"{table}, means over aspects; "] = means
    return rows


def _claim(row: ReportRow) -> tuple[str, ...]:
    """Return which claim a row of table `verdicts` is about."""
    return row.dataset, row.judge, row.form, row.level, row.judged, row.cell


def _decides(row: ReportRow) -> bool:
    """Return whether a row of table `verdicts` has the correlation that decides on
    agreement.
    """
    if row.form != "agreement":
        return False
    return DECIDES.get(row.level) == row.statistic


def _tables(
    every: Sequence[ReportRow],
    hinted: set[tuple[str, str]],
    about: str,
    lost: Mapping[DatasetJudge, str],
    signs: Mapping[tuple[str, ...], Sign],
) -> list[str]:
    """Return a table per dataset: a line per judge, a column per aspect or sum.

    `about` is the beginning of the title; "": of agreement. Judges in `lost` have a
    warning of their own. The sign of a claim stands before its number.
    """
    lines = []
    for dataset in sorted({row.dataset for row in every}):
        rows = [row for row in every if row.dataset == dataset]
        cells = _cells(rows, hinted, signs)
        defined = {key for key, cell in cells.items() if cell != UNDEFINED}
        if about and not defined:
            # Means over datasets that no judge has in common: nothing to show.
            continue
        lines.append(f"\n{dataset}: {about or _agreement_title(rows)}95 % intervals")
        judges = sorted({judge for judge, _ in defined})
        # Sums over all aspects stand in the last columns.
        columns = sorted(
            {heading for _, heading in defined},
            key=lambda name: (name.partition(",")[0] in SUMS.values(), name),
        )
        table = [["judge", *columns]]
        for judge in judges:
            numbers = [cells.get((judge, heading), UNDEFINED) for heading in columns]
            table.append([judge, *numbers])
        if judges:
            lines += [f"  {line}" for line in aligned(table)]
        without = set()
        for judge, _ in cells:
            if judge not in judges and (dataset, judge) not in lost:
                without.add(judge)
        if without:
            named = ", ".join(
                _without_numbers(judge, rows) for judge in sorted(without)
            )
            lines.append(f"  none of these numbers: {named}")
    return lines


def _agreement_title(rows: Iterable[ReportRow]) -> str:
    """Return the beginning of the title of a table of agreement, "" without a claim."""
    correlations = {
        WITHIN_SOURCE: "rank correlation within sources",
        POOLED: "Spearman correlation, all texts pooled",
    }
    levels = sorted({row.level for row in rows if _decides(row)})
    if not levels:
        return ""
    names = " or ".join(correlations[level] for level in levels)
    return f"agreement with the ratings ({names}); "


def _cells(
    rows: Iterable[ReportRow],
    hinted: set[tuple[str, str]],
    signs: Mapping[tuple[str, ...], Sign],
) -> dict[tuple[str, str], str]:
    """Return (judge, heading of a column) -> its number, after the sign of a claim."""
    cells = {}
    for row in rows:
        if row.aspect == AVERAGE:
            name = HEADINGS.get((row.statistic, row.level), AVERAGE)
        else:
            name = row.aspect or SUMS[row.statistic]
        choice = CHOSEN.get((row.form, row.statistic))
        heading = ", ".join(filter(None, [name, choice, row.criterion]))
        number = _number(row, hinted)
        if row.form and number != UNDEFINED and _claim(row) in signs:
            number = f"{signs[_claim(row)]} {number}"
        cells[row.judge, heading] = number
    return cells


def _without_numbers(judge: str, rows: Sequence[ReportRow]) -> str:
    """Return a judge without a number, with the reason if its scores are constant."""
    constant = any(
        row.judge == judge and REASONS.constant_judge in row.note for row in rows
    )
    if constant:
        return f"{judge} (the same score for all texts)"
    return judge


def _number(row: ReportRow, hinted: set[tuple[str, str]], min_n: int = 10) -> str:
    """Return a number with its interval, and with n if many judgments are missing.

    With fewer than `min_n` texts a correlation is not printed.
    """
    # The statistics and levels that measure agreement with people.
    with_people = {
        ("kappa_linear", "direct"),
        ("accuracy_adjacent_half", "direct"),
        ("alpha_pair", ""),
    }
    agrees = row.form == "agreement" or (row.statistic, row.level) in with_people
    if agrees and (row.dataset, row.judge) in hinted:
        return HINTED
    if row.value is None:
        return UNDEFINED
    if _decides(row) and row.n < min_n:
        return f"n = {row.n}"
    number = with_interval(row)
    if _many_missing(row.n_missing, row.n + row.n_missing):
        number += f" n = {row.n}"
    return number


def _many_missing(missing: int, planned: int) -> bool:
    """Return whether more than 5 % of the judgments are missing."""
    return missing > 0.05 * planned


def with_interval(row: ReportRow) -> str:
    """Return a defined value with its interval, if it has one."""
    number = f"{row.value:z.2f}"
    if row.ci_low is not None:
        number += f" [{row.ci_low:z.2f}, {row.ci_high:z.2f}]"
        if NO_WIDTH in row.note:
            number += FLAT
    return number


def _reading_warnings(out: Path, coverage: ReportRows) -> list[str]:
    """Return the warnings of reading each dataset."""
    warnings = []
    for dataset in sorted(coverage.by("dataset")):
        path = Path(Paths(str(out)).ingested(dataset))
        if not path.is_file():
            continue
        for line in json.loads(path.read_text("utf-8"))["problems"]:
            if line.startswith(WARNING):
                warnings.append(f"\n{dataset}: {line}")
    return warnings


def _unjoined(out: Path, coverage: ReportRows) -> list[str]:
    """Return a warning for each recorded model with few joined rows, or few texts with
    rows.
    """
    judges = {(row.dataset, row.judge) for row in coverage}
    warnings = []
    for path in sorted((out / "joined").glob("*/*.json")):
        dataset = path.parent.name
        used = []
        for join in read_joins(path):
            if (dataset, join.judge) in judges:
                used.append(join)
        warnings += [f"\n{dataset}: {line}" for line in join_lines(used, poor=True)]
    return warnings


def _lost(coverage: ReportRows) -> dict[DatasetJudge, str]:
    """Return a warning for each judge with many judgments without a value, and the
    reasons.

    Values between the steps of a scale have another warning.
    """
    counts: dict[DatasetJudge, Counter[str]] = defaultdict(Counter)
    for row in coverage:
        prefix, is_count, status = row.statistic.partition("count_")
        if not is_count or prefix or status == "not_applicable" or row.value is None:
            continue
        counts[row.dataset, row.judge][status] += round(row.value)
    warnings = {}
    for (dataset, judge), statuses in sorted(counts.items()):
        lost = 0
        reasons = []
        for status in NO_VALUE:
            count = statuses[status]
            if count and status != OFF_GRID:
                lost += count
                reasons.append(f"{STATUSES[status]} {count:,}")
        planned = statuses.total()
        if _many_missing(lost, planned):
            warnings[dataset, judge] = (
                f"\nwarning: {dataset}: {lost:,} of {planned:,} judgments of {judge} "
                f"have no value ({', '.join(reasons)})"
            )
    return warnings


def _unanswered(out: Path, coverage: ReportRows) -> list[str]:
    """Return a line with the number of judgments without a reply, and the reasons."""
    reasons = Counter[str]()
    for dataset in coverage.by("dataset"):
        path = Path(Paths(str(out)).collected(dataset, "statuses"))
        if not path.is_file():
            continue
        for row in read_table("statuses", path).to_pylist():
            if row["status"] == "error":
                reasons[ERROR_WORDS.get(row["rule"], row["rule"])] += row["n"]
    if not reasons:
        return []
    why = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
    total = reasons.total()
    verb = "has" if total == 1 else "have"
    return [f"\n{plural(total, 'judgment')} {verb} no reply: {why}"]


def _off_grid(coverage: ReportRows) -> list[str]:
    """Return a warning for each judge with values between the steps of its scale."""
    judges = coverage.where(statistic=f"count_{OFF_GRID}").by("judge")
    warnings = []
    for judge, rows in sorted(judges.items()):
        count = rows.total(f"count_{OFF_GRID}")
        warnings.append(
            f"\nwarning: {count:,.0f} values of {judge} are between the steps of its "
            f"scale and count as missing: {OFF_GRID_REMEDY}"
        )
    return warnings


def _bars(verdicts: ReportRows) -> list[str]:
    """Return a line for each bar of the study: which judges meet it, and which do
    not.
    """
    words = {
        Outcome.MEETS: "met",
        Outcome.MISSES: "missed",
        Outcome.CANNOT_TELL: "cannot tell",
        Outcome.NO_CLAIM: "no claim",
    }
    judges: dict[tuple[str, str, str, str], dict[Outcome, list[str]]] = {}
    limits: dict[tuple[str, str, str, str], str] = {}
    for row in verdicts:
        kind, _, statistic = row.form.partition(" ")
        if kind != BAR or not statistic:
            continue
        bar = row.dataset, statistic, row.level, row.judged
        if row.statistic == BAR:
            limits[bar] = f"{row.note} {row.value:g}"
        if row.statistic == VERDICT:
            outcome = Outcome(row.note.split("; ")[0])
            judges.setdefault(bar, {}).setdefault(outcome, []).append(row.judge)
    if not judges:
        return []
    lines = ["\nrequired minimums (bars) of the study:"]
    for bar, outcomes in judges.items():
        dataset, statistic, level, aspect = bar
        limit = [statistic, level, limits.get(bar), aspect and f"on {aspect}"]
        lists = []
        for outcome, word in words.items():
            if outcome in outcomes:
                lists.append(f"{word}: {', '.join(outcomes[outcome])}")
        shown = " ".join(filter(None, limit))
        lines.append(f"  {dataset}, {shown}: {'; '.join(lists)}")
    return lines


def unpriced(out: Path, plan: Callable[[], Plan]) -> list[str]:
    """Return a warning for each model without a price, with its card and its users.

    `plan` returns the study's plan; it is called only where a price is missing.
    """
    names = set()
    for row in table_rows(out, "cost").where(statistic="usd"):
        if row.value is None:
            names.add(row.judge or row.perturbation)
    users: dict[str, list[str]] = {}
    for name in sorted(names):
        for model in _unpriced_models(plan(), name):
            users.setdefault(model, []).append(name)
    warnings = []
    for model, asked in sorted(users.items()):
        warnings.append(
            f"\nwarning: models/{model}.yaml has no `price`: the cost of "
            f"{', '.join(asked)} is unknown"
        )
    return warnings


def _unpriced_models(plan: Plan, name: str) -> set[str]:
    """Return the models without a price behind a judge, an ensemble or a writer of
    texts.
    """
    derived = plan.derived.get(name)
    judges = derived.members if derived else [name]
    models = set()
    for judge in judges:
        if judge in plan.judges:
            models.add(plan.judges[judge].model)
    for dataset in plan.datasets:
        for made, model in made_of(plan, dataset).items():
            if spender(made) == name:
                models.add(model)
    if derived and derived.supervisor:
        models.add(derived.supervisor.model)
    return {
        model for model in models if getattr(plan.models.get(model), "price", 0) is None
    }
