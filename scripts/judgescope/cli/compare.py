"""The command `judgescope compare`: the numbers of two studies, or two judges, side by
side.
"""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from pandas import DataFrame

from judgescope.cli import show
from judgescope.cli.commands import SHOWN
from judgescope.cli.context import results_folder
from judgescope.cli.show import numbers, of_two_judges
from judgescope.cli.terminal import plain, plural, undefined
from judgescope.core.errors import UserError, check_known
from judgescope.schema.tables import RESULT_COLUMNS

PAIRED = {"agreement": "comparison", "labels": "comparison"}
"""Table -> the table with its paired differences, if that is another one."""
GAP, P, HOLM = "difference", "p", "p_holm"
"""The kinds of results on two judges: prefixes of a statistic's name."""
KINDS = (GAP, P, HOLM)
RESULT = ["value", "ci_low", "ci_high", "n", "note"]
"""The columns of a result that are shown."""
OTHER = "_other"
"""The suffix of the second side's columns; those of a paired result end with its
kind."""
UNDECIDED = (
    "Without a paired difference, the two sides cannot be ranked: whether two "
    "intervals overlap is not a test."
)
READ = "difference: {} minus {} on the texts that both judged, with its 95 % interval"
TESTED = (
    "p: permutation test, also with Holm's correction for all pairs of the "
    "study's judges"
)


class Side(NamedTuple):
    """One side of a comparison: its name and rows, and the judge if the side is a
    judge.
    """

    name: str
    rows: DataFrame
    judge: str | None = None


def compare(args: argparse.Namespace) -> int:
    """Print two studies' or two judges' numbers; their tables must exist."""
    judges, table = args.judges, args.table
    if len(judges) > 2 or (args.other is None and len(set(judges)) != 2):
        raise UserError(
            "a comparison needs two studies or two judges",
            where="--judges",
            got=" ".join(judges) or None,
            allowed="two studies, or two judges of one study, or a judge of each study",
        )
    show.check_rows(args.rows)
    tables = show.tables_of(args.study)
    others = tables if args.other is None else show.tables_of(args.other)
    names = ("", "")
    if args.other:
        names = results_folder(args.study).name, results_folder(args.other).name
        if names[0] == names[1]:
            raise UserError(
                "both files describe the same study, which has only one results folder",
                where=str(args.other),
                got=names[1],
                todo="change the key `study` of one of them, or compare two judges "
                "with --judges",
            )
    for study in filter(None, (args.study, args.other)):
        show.note_earlier_state(study)
    sides = []
    for files, name, judge in zip(
        (tables, others), names, (judges or [None]) * 2, strict=False
    ):
        every = show.rows_of(files, table)
        rows = show.chosen(table, every, show.filters_of(args, SHOWN))
        sides.append(_side(name, rows, every, judge) if judge else Side(name, rows))
    name = PAIRED.get(table, table)
    paired = (
        show.rows_of(tables, name) if args.other is None and name in tables else None
    )
    print("\n".join(lines(table, sides[0], sides[1], paired, limit=args.rows)))
    return 0


def _side(study: str, rows: DataFrame, every: DataFrame, judge: str) -> Side:
    """Return a judge's rows among the chosen ones; `every` has all rows of the
    table.
    """
    kept = rows[rows["judge"] == judge]
    if not len(kept):
        check_known(
            [judge], set(every["judge"].dropna()), "no such judge", where="--judges"
        )
        what = "no row of this judge matches the filters"
        check_known([judge], set(rows["judge"].dropna()), what, where="--judges")
    return Side(f"{study}: {judge}" if study else judge, kept, judge)


def lines(
    table: str, first: Side, second: Side, paired: DataFrame | None, *, limit: int
) -> Iterator[str]:
    """Yield the numbers that both sides have, up to a limit (0: all), and how to read
    them.

    `paired` has the results on pairs of judges.
    """
    columns = [*RESULT_COLUMNS.places]
    if first.judge and second.judge:
        columns.remove("judge")
    if first.judge != second.judge:
        first, second = (
            side._replace(rows=side.rows[~of_two_judges(side.rows)])
            for side in (first, second)
        )
    pairs = _matched(first, second, columns)
    if paired is not None and first.judge and second.judge:
        pairs = _with_paired(pairs, paired, first.judge, second.judge, columns)
    have = f"{plural(len(pairs), 'number')} that both sides have"
    yield f"{table}: {have}; {first.name} | {second.name}"
    for side in (first, second):
        if more := len(side.rows) - len(pairs):
            yield f"only {side.name} has {more:,} more"
    if not len(pairs):
        names = [set(side.rows["dataset"]) for side in (first, second)]
        for side, datasets in zip((first, second), names, strict=True):
            if names[0].isdisjoint(names[1]):
                yield f"datasets of {side.name}: {', '.join(sorted(datasets))}"
        return
    varied, common = show.varied_columns(pairs, columns)
    if common:
        yield f"all rows: {common}"
    shown = pairs.head(limit or len(pairs))
    titles = [
        *varied,
        first.name,
        "95 % interval",
        "n",
        second.name,
        "95 % interval",
        "n",
    ]
    cells = [*(shown[name] for name in varied), *numbers(shown), *numbers(shown, OTHER)]
    if GAP in pairs:
        titles += [GAP, "95 % interval"]
        cells += [
            column.where(shown[GAP].notna()) for column in numbers(shown, f"_{GAP}")[:2]
        ]
    for kind, title in ((P, "p"), (HOLM, "p, Holm")):
        if kind in pairs:
            titles.append(title)
            cells.append(numbers(shown, f"_{kind}")[0].where(shown[kind].notna()))
    yield from show.listed([*titles, ""], [*cells, _undefined(shown)])
    yield from show.rows_left(
        len(pairs) - len(shown), "--statistic and other filters show fewer"
    )
    yield from show.no_agreement(shown, second=OTHER)
    yield from _signatures(pairs)
    if GAP in pairs:
        yield (
            f"{READ.format(first.name, second.name)}"
            f"{f'; {TESTED}' if P in pairs else ''}."
        )
    if GAP not in pairs or pairs[GAP].isna().any():
        yield UNDECIDED


def _matched(first: Side, second: Side, columns: list[str]) -> DataFrame:
    """Return the numbers that both sides have, side by side, in the order of the
    first.
    """
    rows = first.rows
    if first.judge:
        rows = rows[~rows["judge_b"].isin([first.judge, second.judge])]
    return rows.merge(
        second.rows, on=columns, suffixes=("", OTHER), validate="one_to_one"
    )


def _with_paired(
    pairs: DataFrame, paired: DataFrame, judge: str, other: str, columns: list[str]
) -> DataFrame:
    """Return the pairs of numbers with the results on both judges: first - second."""
    paired = show.turned_to(paired, [judge])
    both = paired[(paired["judge"] == judge) & (paired["judge_b"] == other)]
    names = both["statistic"].str.extract(
        f"^(?P<kind>{HOLM}|{GAP}|{P})_(?P<statistic>.+)$"
    )
    both = both.assign(**names, judge_b=both["judge_b"].mask(both["judge_b"].notna()))
    for kind in KINDS:
        results = both.loc[both["kind"] == kind, [*columns, *RESULT]]
        results = results.rename(columns={name: f"{name}_{kind}" for name in RESULT})
        merged = pairs.merge(results.assign(**{kind: True}), on=columns, how="left")
        pairs = merged if merged[kind].count() else pairs
    return pairs


def _undefined(pairs: DataFrame) -> list[str]:
    """Return the reasons why numbers of a pair are undefined, "" if all are defined."""
    ends = ["", OTHER, *(f"_{kind}" for kind in KINDS if kind in pairs)]
    notes = [
        pairs[f"note{end}"].where(pairs[f"value{end}"].isna()).dropna() for end in ends
    ]
    reasons = [
        "; ".join(dict.fromkeys(note[at] for note in notes if at in note))
        for at in pairs.index
    ]
    return [undefined(text) if text else "" for text in reasons]


def _signatures(pairs: DataFrame) -> Iterator[str]:
    """Yield the parts in which the signatures of two numbers differ, with their
    values.
    """
    differing: dict[str, dict[str, None]] = {}
    for signatures in zip(
        *(pairs[f"signature{end}"].fillna("") for end in ("", OTHER)), strict=True
    ):
        first, second = (
            dict(part.partition(":")[::2] for part in signature.split("|") if part)
            for signature in signatures
        )
        for key in dict.fromkeys([*first, *second]):
            if first.get(key) != second.get(key):
                values = f"{first.get(key, 'none')} | {second.get(key, 'none')}"
                differing.setdefault(key, {})[values] = None
    if not differing:
        yield "signatures: the same on both sides"
    for key, pairs in differing.items():
        more = f"; and {len(pairs) - 3} more" if len(pairs) > 3 else ""
        yield plain(f"signatures differ in {key}: {'; '.join([*pairs][:3])}{more}")
