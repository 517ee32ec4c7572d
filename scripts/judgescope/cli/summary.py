"""The end of a run in the terminal: its main results; for a pilot, which judges differ.

`judgescope run --sensitivity`: how far unread judgments could move each main number.
"""

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import get_args

from judgescope.cli.context import (
    is_dry,
    plan_of_study,
    results_folder,
    snakemake,
    with_config,
)
from judgescope.cli.terminal import aligned, plain, plural, undefined
from judgescope.cli.unread_summary import with_unread
from judgescope.core.errors import UserError
from judgescope.data.specs import WARNING
from judgescope.engines.recorded import join_lines, read_joins
from judgescope.methods.claims.base import BAR, CAUGHT, LABELS, PAIRS, PASSED, VERDICT
from judgescope.methods.claims.rows import SIGN
from judgescope.methods.cost import FREE
from judgescope.methods.differences import OVERALL
from judgescope.methods.measures import DECIDES, POOLED, WITHIN_SOURCE
from judgescope.parsing.judgment import NO_VALUE, OFF_GRID, OFF_GRID_REMEDY, Policy
from judgescope.plan.generators import made_of, spender
from judgescope.plan.notices import unread_without_effect
from judgescope.plan.study import Plan
from judgescope.report.cells import FLAT
from judgescope.report.rows import NO_ROWS, Row, Rows
from judgescope.report.words import ERROR_WORDS, STATUSES
from judgescope.schema.tables import read_table
from judgescope.statistics.comparison import sources_needed
from judgescope.statistics.resampling import NO_WIDTH
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
WITH_PEOPLE = {
    *(
        ("kappa_linear", "direct"),
        ("accuracy_adjacent_half", "direct"),
        ("alpha_pair", ""),
    ),
}
"""The statistics and levels that measure agreement with people."""
SUMS = {"D_avg_exact": "D_avg (exact)", "confusion_index": "confusion index"}
"""Statistic of a judge over all aspects -> the heading of its column."""
ON_BAR = {
    Outcome.MEETS: "met",
    Outcome.MISSES: "missed",
    Outcome.CANNOT_TELL: "cannot tell",
    Outcome.NO_CLAIM: "no claim",
}
CORRELATIONS = {
    WITHIN_SOURCE: "rank correlation within sources",
    POOLED: "Spearman correlation, all texts pooled",
}
"""Level of agreement -> the correlation that decides claims."""
AVERAGE = "average"
"""The aspect of rows with means over aspects."""
MIN_N = 10
"""With fewer texts a correlation is not printed."""
MISSING_SHARE = 0.05
"""If a larger share of the judgments is missing, n is printed with the number."""
UNDEFINED = "-"
HINTED = "hint"
"""Printed instead of the agreement of a judge that is shown a rating of the same
text."""
PILOT_STATISTICS = tuple((DECIDES[level], level) for level in (WITHIN_SOURCE, POOLED))
"""The statistics by which a pilot compares judges: the first whose differences have an
interval; without them, the first in the table."""
Judge = tuple[str, str]
"""A dataset and a judge."""
FEW = "no interval: too few items, run the pilot with a larger --share"


def _rows(out: Path, table: str) -> Rows:
    path = out / "tables" / f"{table}.parquet"
    return Rows.of_table(read_table("results", path)) if path.is_file() else NO_ROWS


# --- a run ----------------------------------------------------------------------------


def summary(out: Path, warnings: Sequence[str] = ()) -> str:
    """Return, per dataset, the agreement behind each judge's claim, its sums, and the
    report.

    Values have a 95 % interval; `-` is an undefined value, with its reason in the
    tables. `warnings` come before the report's path.
    """
    verdicts = _rows(out, "verdicts")
    coverage = _rows(out, "coverage")
    hinted = {
        (row.dataset, row.judge)
        for row in verdicts.where(form="agreement", statistic=VERDICT)
        if "hinted" in row.note.split("; ")
    }
    lost = _lost(coverage)
    signs = {
        _claim(row): Sign(row.note)
        for row in verdicts.where(statistic=SIGN)
        if row.note != Sign.NO_CLAIM
    }
    parts: list[str] = []
    for title, rows in _main_rows(out).items():
        means = [row for row in rows if (row.dataset, row.aspect) == (OVERALL, AVERAGE)]
        parts += _tables(means or rows, hinted, title, lost, signs)
    if signs:
        parts.append(f"\n{legend_of_signs({*signs.values()})}")
    if hinted:
        names = ", ".join(sorted({judge for _, judge in hinted}))
        parts.append(
            f"\n{HINTED}: the prompts of {names} contain a rating of the same text, so "
            "its agreement means nothing"
        )
    parts += [*_unjoined(out, coverage), *_bars(verdicts), *_off_grid(coverage)]
    parts += [*_read(out, coverage), *with_unread(lost, out, coverage).values()]
    parts += _unanswered(out, coverage)
    parts += warnings
    return "\n".join([*parts, f"\nreport: {out / 'report' / 'index.html'}"])


def _claim(row: Row) -> tuple[str, ...]:
    """Return which claim a row of table `verdicts` is about."""
    return row.dataset, row.judge, row.form, row.level, row.judged, row.cell


def _main_rows(out: Path) -> dict[str, list[Row]]:
    """Return the rows with the main results that a run prints, by the title of their
    tables.

    They are the numbers behind claims on labels and choices, then ("") the correlations
    behind claims on agreement with sums over all aspects, and means over aspects.
    """
    verdicts = _rows(out, "verdicts")
    labels = [row for row in verdicts if (row.form, row.statistic) in CHOSEN]
    rows = {"labels and choices compared with people's; ": labels}
    rows[""] = [row for row in verdicts if _decides(row)]
    for table in ("discernment", "confusion"):
        rows[""] += _rows(out, table).where(statistic=tuple(SUMS))
    for table in ("perspectives", "robustness", "ensemble"):
        rows[f"{table}, means over aspects; "] = [
            row
            for row in _rows(out, table).where(aspect=AVERAGE)
            if (row.statistic, row.level) in HEADINGS
        ]
    return rows


def _decides(row: Row) -> bool:
    """Return whether a row of table `verdicts` has the correlation that decides on
    agreement.
    """
    return row.form == "agreement" and DECIDES.get(row.level) == row.statistic


def _tables(
    every: Sequence[Row],
    hinted: set[tuple[str, str]],
    about: str,
    lost: Mapping[Judge, str],
    signs: Mapping[tuple[str, ...], Sign],
) -> list[str]:
    """Return a table per dataset: a line per judge, a column per aspect or sum.

    `about` is the beginning of the title; "": of agreement. Judges in `lost` have a
    warning of their own. The sign of a claim stands before its number.
    """
    tables = []
    for dataset in sorted({row.dataset for row in every}):
        rows, title = [row for row in every if row.dataset == dataset], about
        levels = {row.level for row in rows if _decides(row)}
        if levels and not title:
            names = " or ".join(CORRELATIONS[level] for level in sorted(levels))
            title = f"agreement with the ratings ({names}); "
        cells = {}
        for row in rows:
            name = row.aspect or SUMS[row.statistic]
            if row.aspect == AVERAGE:
                name = HEADINGS.get((row.statistic, row.level), AVERAGE)
            chosen = CHOSEN.get((row.form, row.statistic))
            heading = ", ".join(filter(None, [name, chosen, row.criterion]))
            number = _number(row, hinted)
            if row.form and number != UNDEFINED and _claim(row) in signs:
                number = f"{signs[_claim(row)]} {number}"
            cells[row.judge, heading] = number
        defined = {key for key, cell in cells.items() if cell != UNDEFINED}
        columns = sorted(
            {heading for _, heading in defined},
            key=lambda name: (name.partition(",")[0] in SUMS.values(), name),
        )
        judges = sorted({judge for judge, _ in defined})
        body = [
            [judge, *(cells.get((judge, each), UNDEFINED) for each in columns)]
            for judge in judges
        ]
        tables.append(f"\n{dataset}: {title}95 % intervals")
        tables += (
            [f"  {line}" for line in aligned([["judge", *columns], *body])]
            if body
            else []
        )
        empty = sorted({judge for judge, _ in cells}.difference(judges))
        if empty := [judge for judge in empty if (dataset, judge) not in lost]:
            tables.append(f"  none of these numbers: {', '.join(empty)}")
    return tables


def _number(row: Row, hinted: set[tuple[str, str]]) -> str:
    """Return a number with its interval, and with n if many judgments are missing."""
    agrees = row.form == "agreement" or (row.statistic, row.level) in WITH_PEOPLE
    if agrees and (row.dataset, row.judge) in hinted:
        return HINTED
    if row.value is None:
        return UNDEFINED
    if _decides(row) and row.n < MIN_N:
        return f"n = {row.n}"
    size = (
        f" n = {row.n}"
        if row.n_missing > MISSING_SHARE * (row.n + row.n_missing)
        else ""
    )
    return f"{_with_interval(row)}{size}"


def _with_interval(row: Row) -> str:
    flat = FLAT if NO_WIDTH in row.note else ""
    interval = (
        "" if row.ci_low is None else f" [{row.ci_low:z.2f}, {row.ci_high:z.2f}]{flat}"
    )
    return f"{row.value:z.2f}{interval}"


def _read(out: Path, coverage: Rows) -> list[str]:
    """Return the warnings of reading each dataset."""
    files = {
        name: out / "items" / f"{name}.json" for name in sorted(coverage.by("dataset"))
    }
    return [
        f"\n{dataset}: {line}"
        for dataset, path in files.items()
        if path.is_file()
        for line in json.loads(path.read_text("utf-8"))["problems"]
        if line.startswith(WARNING)
    ]


def _unjoined(out: Path, coverage: Rows) -> list[str]:
    """Return a warning for each recorded model with few joined rows, or few texts with
    rows.
    """
    judges = {(row.dataset, row.judge) for row in coverage}
    warnings = []
    for path in sorted((out / "joined").glob("*/*.json")):
        dataset = path.parent.name
        used = [join for join in read_joins(path) if (dataset, join.judge) in judges]
        warnings += [f"\n{dataset}: {line}" for line in join_lines(used, poor=True)]
    return warnings


def _lost(coverage: Rows) -> dict[Judge, str]:
    """Return a warning for each judge with many judgments without a value, and the
    reasons.

    Values between the steps of a scale have another warning.
    """
    counts: dict[Judge, Counter[str]] = defaultdict(Counter)
    for row in coverage:
        status = row.statistic.removeprefix("count_")
        if (
            status != row.statistic
            and status != "not_applicable"
            and row.value is not None
        ):
            counts[row.dataset, row.judge][status] += round(row.value)
    warnings = {}
    for (dataset, judge), statuses in sorted(counts.items()):
        reasons = {
            name: statuses[name]
            for name in NO_VALUE
            if statuses[name] and name != OFF_GRID
        }
        lost, planned = sum(reasons.values()), statuses.total()
        if lost > MISSING_SHARE * planned:
            why = ", ".join(
                f"{STATUSES[name]} {count:,}" for name, count in reasons.items()
            )
            warnings[dataset, judge] = (
                f"\nwarning: {dataset}: {lost:,} of {planned:,} judgments of {judge} "
                f"have no value ({why})"
            )
    return warnings


def _unanswered(out: Path, coverage: Rows) -> list[str]:
    """Return a line with the number of judgments without a reply, and the reasons."""
    reasons = Counter[str]()
    for dataset in coverage.by("dataset"):
        path = out / "collected" / dataset / "statuses.parquet"
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


def _off_grid(coverage: Rows) -> list[str]:
    """Return a warning for each judge with values between the steps of its scale."""
    judges = coverage.where(statistic=f"count_{OFF_GRID}").by("judge")
    return [
        f"\nwarning: {rows.frame['value'].sum():,.0f} values of {judge} are between "
        f"the steps of its scale and count as missing: {OFF_GRID_REMEDY}"
        for judge, rows in sorted(judges.items())
    ]


def _bars(verdicts: Rows) -> list[str]:
    """Return a line for each bar of the study: which judges meet it, and which do
    not.
    """
    judges: dict[tuple[str, ...], dict[Outcome, list[str]]] = {}
    limits: dict[tuple[str, ...], str] = {}
    for row in verdicts:
        kind, _, statistic = row.form.partition(" ")
        if kind != BAR or not statistic:
            continue
        bar: tuple[str, ...] = (row.dataset, statistic, row.level, row.judged)
        if row.statistic == BAR:
            limits[bar] = f"{row.note} {row.value:g}"
        if row.statistic == VERDICT:
            outcome = Outcome(row.note.split("; ")[0])
            judges.setdefault(bar, {}).setdefault(outcome, []).append(row.judge)
    lines = []
    for bar, outcomes in judges.items():
        dataset, *what, aspect = bar
        limit = filter(None, (*what, limits.get(bar), aspect and f"on {aspect}"))
        lists = [
            f"{ON_BAR[o]}: {', '.join(outcomes[o])}" for o in ON_BAR if o in outcomes
        ]
        lines.append(f"  {dataset}, {' '.join(limit)}: {'; '.join(lists)}")
    return ["\nrequired minimums (bars) of the study:", *lines] if lines else []


def unpriced(out: Path, plan: Callable[[], Plan]) -> list[str]:
    """Return a warning for each model without a price, with its card and its users.

    `plan` returns the study's plan; it is called only where a price is missing.
    """
    names = {
        row.judge or row.perturbation
        for row in _rows(out, "cost").where(statistic="usd")
        if row.value is None
    }
    users: dict[str, list[str]] = {}
    for name in sorted(names):
        for model in _unpriced_models(plan(), name):
            users.setdefault(model, []).append(name)
    return [
        f"\nwarning: models/{model}.yaml has no `price`: the cost of "
        f"{', '.join(asked)} is unknown"
        for model, asked in sorted(users.items())
    ]


def _unpriced_models(plan: Plan, name: str) -> set[str]:
    """Return the models without a price behind a judge, an ensemble or a writer of
    texts.
    """
    derived = plan.derived.get(name)
    judges = derived.members if derived else [name]
    models = {plan.judges[judge].model for judge in judges if judge in plan.judges}
    for dataset in plan.datasets:
        models |= {
            model
            for made, model in made_of(plan, dataset).items()
            if spender(made) == name
        }
    if derived and derived.supervisor:
        models.add(derived.supervisor.model)
    return {
        model for model in models if getattr(plan.models.get(model), "price", 0) is None
    }


# --- a pilot --------------------------------------------------------------------------


def conclusions(out: Path) -> str:
    """Return which judges differ in a pilot's tables, and which may be dropped."""
    rows = _rows(out, "comparison")
    asked = {
        row.judge
        for row in _rows(out, "cost").where(statistic="usd")
        if row.judge not in ("", "all") and FREE not in row.note
    }
    prefix = "difference_"
    differences = [
        row for row in rows if row.judge_b and row.statistic.startswith(prefix)
    ]
    statistics = [
        (row.statistic.removeprefix(prefix), row.level) for row in differences
    ]
    known = {
        (row.statistic.removeprefix(prefix), row.level)
        for row in differences
        if row.ci_low is not None
    }
    preferred = [one for one in PILOT_STATISTICS if one in known]
    present = [one for one in PILOT_STATISTICS if one in statistics]
    name, level = (*preferred, *present, *statistics, ("", ""))[0]
    gaps, detectable = (
        {
            (row.dataset, row.aspect, row.judge, row.judge_b): row
            for row in rows.where(statistic=f"{kind}{name}", level=level)
            if row.judge_b and asked & {row.judge, row.judge_b}
        }
        for kind in (prefix, "detectable_")
    )
    if all(gap.value is None for gap in gaps.values()):
        reason = "no judge of the study sends requests"
        if asked:
            reason = "no difference is defined for so few items, try a larger --share"
            reason = (
                reason
                if statistics
                else "it needs two judges, and the method agreement"
            )
        return f"\nThe pilot compares no judges: {reason}."
    what = f"{name} ({level}) with people's ratings"
    lines = [f"\nDifferences between judges in {what}, with 95 % intervals"]
    for place in sorted({key[:2] for key in gaps}):
        lines.append(f"  {', '.join(place)}")
        table = [
            _gap(gap, detectable.get(key))
            for key, gap in gaps.items()
            if key[:2] == place
        ]
        lines += [f"    {line}" for line in aligned(table, titled=False)]
    return "\n".join([*lines, "", *_droppable(gaps.values(), asked)])


def _gap(gap: Row, detectable: Row | None) -> list[str]:
    """Return two judges; and their difference, its interval, and the items needed to
    detect it.

    That is with power .8 at level .05, as `detectable` is computed.
    """
    judges = f"{gap.judge} - {gap.judge_b}"
    if gap.value is None:
        return [judges, undefined(gap.note)]
    interval = (
        FEW if gap.ci_low is None else f"[{gap.ci_low:+z.2f}, {gap.ci_high:+z.2f}]"
    )
    needed = ""
    if detectable and detectable.value is not None and gap.value:
        items = sources_needed(detectable.n, detectable.value, abs(gap.value))
        needed = f", {items:,} items are needed to detect it"
    return [judges, f"{gap.value:+z.2f} {interval}{needed}"]


def _droppable(gaps: Iterable[Row], asked: set[str]) -> Iterator[str]:
    """Yield the rule for dropping judges, and the judges that may be dropped.

    An undefined difference shows nothing: it counts as not beaten.
    """
    beaten: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for gap in gaps:
        beaten[gap.judge, gap.judge_b].append(
            gap.ci_high is not None and gap.ci_high < 0
        )
        beaten[gap.judge_b, gap.judge].append(gap.ci_low is not None and gap.ci_low > 0)
    better: dict[str, list[str]] = defaultdict(list)
    for (judge, other), everywhere in beaten.items():
        if judge in asked and all(everywhere):
            better[judge].append(other)
    yield (
        "Judges that may be dropped (another judge or control is better on every "
        "aspect of every dataset, by an interval that excludes 0):"
    )
    for judge, others in sorted(better.items()):
        yield f"  {judge}: worse than {', '.join(sorted(others))}"
    if not better:
        yield "  none"


# --- policies for judgments that were not read ----------------------------------------

KEY = ("dataset", "judge", "aspect", "criterion", "statistic", "level")
"""The columns that identify a main number within its study."""
RESULT = ("value", "ci_low", "ci_high", "n", "n_missing", "note")
key_of, result_of = attrgetter(*KEY), attrgetter(*RESULT)
LEFT_OUT: Policy = "missing"
OUTSIDE = "*"
ByPolicy = Mapping[Policy, Mapping[tuple[str, ...], Row]]
"""Policy -> key of a number -> its row."""


def sensitivity(study: Path | None, passed: Sequence[str]) -> int:
    """Run a study with each policy, write the main numbers side by side, print what
    changes.
    """
    out, study_policy = (
        results_folder(study, passed),
        plan_of_study(study, passed).study.unread,
    )
    tables = [path.name for path in (out / "tables").glob("*.csv")]
    if not tables:
        raise UserError(
            "the study has no results yet",
            where=str(out),
            todo="run it first, without --sensitivity",
        )
    by_policy: dict[Policy, dict[tuple[str, ...], Row]] = {}
    for policy in get_args(Policy):
        folder = (
            out
            if policy == study_policy
            else out.with_name(f"{out.name}-unread-{policy}")
        )
        changes = (f"study={folder.name}", f"unread={policy}", "max_requests=0")
        changed = with_config(passed, *changes)
        if policy != study_policy and (why := _skipped(study, changed, policy)):
            print(f"policy {policy} is skipped: {why}", flush=True)
            continue
        if policy != study_policy:
            wanted = [str(folder / "tables" / name) for name in sorted(tables)]
            if status := snakemake(study, wanted, changed):
                return status
        by_policy[policy] = {
            key_of(row): row for row in chain(*_main_rows(folder).values())
        }
    if is_dry(passed):
        return 0
    path = out / "unread" / "sensitivity.csv"
    path.parent.mkdir(exist_ok=True)
    _write(by_policy, path)
    print("\n".join(_lines(by_policy)))
    print(f"\nall numbers: {path}")
    return 0


def _skipped(study: Path | None, changed: Sequence[str], policy: Policy) -> str:
    """Return why a policy cannot be used for a study or changes nothing, "" if it can.

    `changed`: Snakemake's options with the policy.
    """
    try:
        plan = plan_of_study(study, changed)
    except UserError as error:
        return str(error)
    return unread_without_effect(plan, policy)


def _write(by_policy: ByPolicy, path: Path) -> None:
    """Write a row for each number and policy; `moved` is the value minus that under
    `missing`.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow([*KEY, "policy", *RESULT, "moved", "outside"])
        for key, dropped in by_policy[LEFT_OUT].items():
            for policy, rows in by_policy.items():
                if (row := rows.get(key)) is not None:
                    gap = None
                    if row.value is not None and dropped.value is not None:
                        gap = row.value - dropped.value
                    table.writerow(
                        [*key, policy, *result_of(row), gap, _is_outside(row, dropped)]
                    )


def _is_outside(row: Row, dropped: Row) -> bool | None:
    """Return whether a number is outside its interval under `missing`."""
    if row.value is None or dropped.ci_low is None or dropped.ci_high is None:
        return None
    return not dropped.ci_low <= row.value <= dropped.ci_high


def _lines(by_policy: ByPolicy) -> Iterator[str]:
    """Yield the count of numbers that at least one policy changes, then a line for each
    of them.
    """
    table = [["dataset", "judge", "aspect", "statistic", *by_policy]]
    for key, dropped in by_policy[LEFT_OUT].items():
        rows = [of_policy.get(key) for of_policy in by_policy.values()]
        if all(row is not None and row.value == dropped.value for row in rows):
            continue
        statistic = ", ".join(filter(None, (dropped.statistic, dropped.level)))
        place = (dropped.dataset, dropped.judge, dropped.judged or "all", statistic)
        table.append([*map(plain, place), *(_with_mark(row, dropped) for row in rows)])
    changed, of_all = len(table) - 1, len(by_policy[LEFT_OUT])
    yield f"\n{changed} of {of_all} main numbers depend on how unread judgments count"
    if changed:
        yield from aligned(table)
        yield (
            f"missing: 95 % interval; {OUTSIDE}: outside that interval, so the unread "
            "judgments could change the conclusion; -: undefined, with the reason in "
            "the table"
        )


def _with_mark(row: Row | None, dropped: Row) -> str:
    """Return a number: under `missing` with its interval, else with a mark if it is
    outside.
    """
    if row is None or row.value is None:
        return UNDEFINED
    if row is dropped:
        return _with_interval(row)
    return f"{row.value:z.2f}{OUTSIDE if _is_outside(row, dropped) else ''}"
