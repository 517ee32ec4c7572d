"""The command `judgescope compare`: the numbers of two studies, or two judges, side by side."""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from judgescope.cli import show
from judgescope.cli.show import FILTERS, PLACES, Row, number, plain
from judgescope.core.errors import UserError

PAIRED = {"agreement": "comparison"}
"""Table -> the one with the paired differences of its statistics; of others, the same table."""
GAP, P, HOLM = "difference", "p", "p_holm"
"""The kinds of results on two judges: prefixes of the statistic's name."""
UNDECIDED = (
    "Without a paired difference nothing is decided: whether two intervals overlap does not test "
    "their difference."
)
READ = "difference: {} minus {} on the texts that both judged, with its 95 % interval"
TESTED = "p of a permutation test, and after Holm's correction for all pairs of the study's judges"


class Side(NamedTuple):
    """One side of a comparison: its name, its rows, and its judge if it is one."""

    name: str
    rows: Sequence[Row]
    judge: str | None = None


class Pair(NamedTuple):
    """The two rows of one number, and the rows on their difference, by GAP, P, HOLM."""

    first: Row
    second: Row
    paired: Mapping[str, Row]


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `compare` to a parser's subcommands; it sets `act`."""
    parser = commands.add_parser(
        "compare",
        help="compare the numbers of two studies or judges",
        description="Print the statistics of two studies or two judges side by side, with paired "
        "differences where the study has computed them.",
    )
    parser.add_argument("study", type=Path, help="the study's YAML file")
    parser.add_argument("other", type=Path, nargs="?", help="another study's")
    parser.add_argument(
        "--judges",
        nargs="+",
        default=[],
        metavar="JUDGE",
        help="two judges of one study; for two studies, one judge of each or one that both have",
    )
    parser.add_argument("--table", default="agreement", help="default: agreement")
    show.add_filters(parser, [name for name in FILTERS if name != "judge"])
    parser.set_defaults(act=compare)


def compare(args: argparse.Namespace) -> int:
    """Print two studies' or two judges' numbers; their tables must exist."""
    judges, table = args.judges, args.table
    if len(judges) > 2 or (args.other is None and len(set(judges)) != 2):
        raise UserError(
            "a comparison needs two sides",
            where="--judges",
            got=" ".join(judges) or None,
            allowed="two studies, or two judges of one study, or a judge of each study",
        )
    show.check_rows(args.rows)
    tables = show.tables_of(args.study)
    others = tables if args.other is None else show.tables_of(args.other)
    names = _studies(args.study, args.other) if args.other else ("", "")
    sides = []
    for files, name, judge in zip((tables, others), names, (judges or [None]) * 2, strict=False):
        every = show.rows_of(files, table)
        rows = show.chosen(table, every, show.wanted_of(args))
        sides.append(_side(name, rows, every, judge) if judge else Side(name, rows))
    paired: list[Row] = []
    if args.other is None and (name := PAIRED.get(table, table)) in tables:
        paired = [row for row in show.rows_of(tables, name) if row["judge_b"]]
    print("\n".join(lines(table, sides[0], sides[1], paired, limit=args.rows)))
    return 0


def _studies(study: Path, other: Path) -> tuple[str, str]:
    """Return the ids of two studies; raise UserError if they are one."""
    from judgescope.cli.context import results_folder

    first, second = results_folder(study).name, results_folder(other).name
    if first == second:
        raise UserError(
            "both files describe one study, which has one results folder",
            where=str(other),
            got=second,
            todo="change the key `study` of one of them, or compare two judges with --judges",
        )
    return first, second


def _side(study: str, rows: Sequence[Row], every: Sequence[Row], judge: str) -> Side:
    """Return a judge's rows of those that were chosen; `every` has all of the table.

    Raises UserError if there are none: with the nearest judge, or with those that are left.
    """
    kept = [row for row in rows if row["judge"] == judge]
    if not kept:
        known, left = ({row["judge"] for row in some if row["judge"]} for some in (every, rows))
        if judge in known:
            error, allowed = "the filters leave no row of this judge", left
        else:
            error, allowed = "no such judge", known
        raise UserError(error, where="--judges", got=judge, allowed=allowed)
    return Side(f"{study}: {judge}" if study else judge, kept, judge)


def lines(
    table: str, first: Side, second: Side, paired: Iterable[Row], *, limit: int
) -> Iterator[str]:
    """Yield the numbers that both sides have, up to a limit (0: all), and how to read them."""
    of_judges = first.judge is not None and second.judge is not None
    columns = [name for name in PLACES if not (of_judges and name == "judge")]
    pairs = list(_matched(first, second, paired, columns))
    yield f"{table}: {len(pairs):,} numbers that both have; {first.name} | {second.name}"
    for side in (first, second):
        if more := len(side.rows) - len(pairs):
            yield f"{side.name} alone has {more:,} more"
    if not pairs:
        return
    varied, common = show.varied_columns([pair.first for pair in pairs], columns)
    if common:
        yield f"all: {common}"
    with_gap, with_p = (any(kind in pair.paired for pair in pairs) for kind in (GAP, P))
    titles = [*varied, first.name, "95 % interval", "n", second.name, "95 % interval", "n"]
    titles += [GAP, "95 % interval"] if with_gap else []
    titles += ["p", "p, Holm", ""] if with_p else [""]
    shown = pairs[: limit or None]
    yield from show.aligned([titles, *(_cells(pair, varied, with_gap, with_p) for pair in shown)])
    yield from show.rows_left(len(pairs) - len(shown), "--statistic and others fewer")
    yield from show.no_agreement(row for pair in shown for row in (pair.first, pair.second))
    yield from _signatures(pairs)
    if with_gap:
        yield f"{READ.format(first.name, second.name)}{f'; {TESTED}' if with_p else ''}."
    if not all(GAP in pair.paired for pair in pairs):
        yield UNDECIDED


def _matched(
    first: Side, second: Side, paired: Iterable[Row], columns: Sequence[str]
) -> Iterator[Pair]:
    """Yield the numbers that both sides have, in the order of the first."""

    def key_of(row: Row) -> tuple[object, ...]:
        return tuple(row[name] for name in columns)

    judges = (first.judge, second.judge)
    on_pair: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in paired if all(judges) else ():
        pair = (row["judge"], row["judge_b"])
        if pair not in (judges, judges[::-1]):
            continue
        for kind in (HOLM, GAP, P):  # p_holm before p, which it begins with
            statistic = row["statistic"].removeprefix(f"{kind}_")
            if statistic != row["statistic"]:
                result = _negated(row) if kind == GAP and pair != judges else row
                key = key_of({**row, "statistic": statistic, "judge_b": None})
                on_pair.setdefault(key, {})[kind] = result
                break
    others = {key_of(row): row for row in second.rows}
    for row in first.rows:
        key = key_of(row)
        if key in others and (not first.judge or row["judge_b"] not in judges):
            yield Pair(row, others[key], on_pair.get(key, {}))


def _negated(row: Row) -> Row:
    """Return a difference in the other direction."""
    value, hi, lo = (
        None if row[name] is None else -row[name] for name in ("value", "ci_low", "ci_high")
    )
    return {**row, "value": value, "ci_low": lo, "ci_high": hi}


def _cells(pair: Pair, varied: Iterable[str], with_gap: bool, with_p: bool) -> list[str]:
    cells = [plain(pair.first[name]) for name in varied]
    for row in (pair.first, pair.second):
        cells += [*number(row), plain(row["n"])]
    if with_gap:
        cells += number(pair.paired[GAP]) if GAP in pair.paired else ("", "")
    if with_p:
        cells += [number(pair.paired[kind])[0] if kind in pair.paired else "" for kind in (P, HOLM)]
    rows = [pair.first, pair.second, *pair.paired.values()]
    notes = dict.fromkeys(str(row["note"]) for row in rows if row["value"] is None)
    return [*cells, plain(f"undefined: {'; '.join(notes)}") if notes else ""]


def _signatures(pairs: Iterable[Pair]) -> Iterator[str]:
    """Yield the parts in which the signatures of two numbers differ, with their values."""
    differing: dict[str, dict[str, None]] = {}
    for pair in pairs:
        first, second = (
            dict(part.partition(":")[::2] for part in (row["signature"] or "").split("|") if part)
            for row in (pair.first, pair.second)
        )
        for key in dict.fromkeys([*first, *second]):
            if first.get(key) != second.get(key):
                values = f"{first.get(key, 'none')} | {second.get(key, 'none')}"
                differing.setdefault(key, {})[values] = None
    if not differing:
        yield "signatures: the same on both sides"
    for key, found in differing.items():
        more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
        yield plain(f"signatures differ in {key}: {'; '.join([*found][:3])}{more}")
