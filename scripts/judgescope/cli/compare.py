"""The command `judgescope compare`: the numbers of two studies, or two judges, side by side."""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judgescope.cli.show import (
    FILTERS,
    PLACES,
    Row,
    aligned,
    chosen,
    number,
    plain,
    rows_of,
    tables_of,
)
from judgescope.core.errors import UserError

PAIRED = {"agreement": "comparison"}
"""Table -> the one with the paired differences of its statistics; of others, the same table."""
GAP, P, HOLM = "difference", "p", "p_holm"
"""What is told of a pair, before the name of the statistic."""
EXAMPLES = """examples:
  judgescope compare config/config.yaml --judges rules rouge-l --statistic pearson --level pooled
  judgescope compare config/studies/usr.yaml config/studies/hanna.yaml --table agreement
  judgescope compare config/studies/usr.yaml config/studies/forms.yaml --judges rouge-l chrf
"""
UNDECIDED = (
    "Where no paired difference stands, nothing is decided: two intervals that cross, or do not, "
    "are no test of their difference."
)
READ = "difference: {} less {} on the texts that both judged, with its 95 % interval"
TESTED = "p of a permutation test, and after Holm's correction for all pairs of the study's judges"


class Side(NamedTuple):
    """One of the two that are compared: what it is called, its rows, its judge if it is one."""

    name: str
    rows: Sequence[Row]
    judge: str | None = None


class Pair(NamedTuple):
    """The two rows of one number, and what is known of their difference, by GAP, P, HOLM."""

    place: tuple[Any, ...]
    first: Row
    second: Row
    known: Mapping[str, Row]


def add_commands(commands: Any) -> None:
    """Add the command `compare` to a parser's subcommands; it sets `act`, which does it."""
    parser = commands.add_parser(
        "compare",
        help="two studies or two judges, number by number",
        description="The same statistics of two studies, or of two judges, side by side. Paired "
        "differences stand beside them where the study has computed them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", type=Path, help="the study's YAML file")
    parser.add_argument("other", type=Path, nargs="?", help="another study's")
    parser.add_argument(
        "--judges",
        nargs="+",
        default=[],
        metavar="JUDGE",
        help="two judges; of two studies the first's and the other's, or one judge of both",
    )
    parser.add_argument("--table", default="agreement", help="default: agreement")
    for name in FILTERS:
        if name != "judge":
            parser.add_argument(f"--{name}", nargs="+", default=[], help=f"only of this {name}")
    parser.add_argument(
        "--rows", type=int, default=40, help="so many rows at most, 0: all; default: 40"
    )
    parser.set_defaults(act=compare)


def compare(told: argparse.Namespace) -> int:
    """Print two studies' or two judges' numbers; their tables must be there."""
    names = told.judges
    if len(names) > 2 or (told.other is None and len(set(names)) != 2):
        raise UserError(
            "a comparison is of two",
            where="--judges",
            got=" ".join(names) or None,
            allowed="two studies, or two judges of one study, or a judge of each study",
        )
    tables = tables_of(told.study)
    others = tables if told.other is None else tables_of(told.other)
    wanted = {name: getattr(told, name) for name in FILTERS if getattr(told, name, None)}
    table = told.table
    one, two = (chosen(table, rows_of(there, table), wanted) for there in (tables, others))
    studies = _studies(told) if told.other else ("", "")
    if names:
        judges = names if len(names) == 2 else 2 * names
        every = (rows_of(there, table) for there in (tables, others))
        sides = [_side(*each) for each in zip(studies, (one, two), every, judges, strict=True)]
    else:
        sides = [Side(name, rows) for name, rows in zip(studies, (one, two), strict=True)]
    paired = _paired(tables, table) if told.other is None else []
    print("\n".join(lines(table, sides[0], sides[1], paired, most=told.rows)))
    return 0


def _studies(told: argparse.Namespace) -> tuple[str, str]:
    """Return what two studies are called: their ids, or their files where the ids are one."""
    from judgescope.cli.context import results_folder

    first, second = (results_folder(path).name for path in (told.study, told.other))
    if first == second:
        raise UserError(
            "two files of one study: its results are one folder",
            where=str(told.other),
            got=second,
            todo="give one of them another `study`, or compare two judges by --judges",
        )
    return first, second


def _side(study: str, rows: Sequence[Row], every: Sequence[Row], judge: str) -> Side:
    """Return a judge's rows of those that were chosen; `every` has all of the table.

    Raises UserError if there are none: with the nearest judge, or with those that are left.
    """
    own = [row for row in rows if row["judge"] == judge]
    if not own:
        known, left = ({row["judge"] for row in some if row["judge"]} for some in (every, rows))
        what = "no row of this judge is left by the filters" if judge in known else "no such judge"
        allowed = left if judge in known else known
        raise UserError(what, where="--judges", got=judge, allowed=allowed)
    return Side(f"{study}: {judge}" if study else judge, own, judge)


def _paired(tables: Mapping[str, Path], table: str) -> list[Row]:
    """Return the rows of a study that tell of two judges' difference in a table's statistics."""
    name = PAIRED.get(table, table)
    return [row for row in rows_of(tables, name) if row["judge_b"]] if name in tables else []


def lines(
    table: str, first: Side, second: Side, paired: Iterable[Row], *, most: int
) -> Iterator[str]:
    """Yield the numbers that both sides have, and what must be known to read them."""
    pairs = list(matched(first, second, paired))
    yield f"{table}: {len(pairs):,} numbers that both have; {first.name} | {second.name}"
    yield from _left(first, second, pairs)
    if not pairs:
        return
    names = _places(first, second)
    shown = pairs[:most] if most else pairs
    same = [len({pair.place[at] for pair in pairs}) == 1 for at in range(len(names))]
    alike = [
        f"{name} {plain(value)}"
        for name, value, one in zip(names, pairs[0].place, same, strict=True)
        if one and plain(value)
    ]
    if alike:
        yield f"all: {', '.join(alike)}"
    known, tested = (any(one in pair.known for pair in pairs) for one in (GAP, P))
    varied = [name for name, one in zip(names, same, strict=True) if not one]
    titles = [*varied, first.name, "95 % interval", "n", second.name, "95 % interval", "n"]
    titles += [GAP, "95 % interval"] if known else []
    titles += ["p", "p, Holm"] if tested else []
    body = [
        [plain(value) for value, one in zip(pair.place, same, strict=True) if not one]
        + [*_told(pair.first), *_told(pair.second)]
        + [*(_difference(pair) if known else ()), *(_tests(pair) if tested else ()), _why(pair)]
        for pair in shown
    ]
    yield from aligned([[*titles, ""], *body])
    if left := len(pairs) - len(shown):
        yield f"… and {left:,} more: --rows 0 shows all, --statistic and others fewer"
    yield from _signatures(pairs)
    if known:
        more = f"; {TESTED}" if tested else ""
        yield f"{READ.format(first.name, second.name)}{more}."
    if not all(GAP in pair.known for pair in pairs):
        yield UNDECIDED


def matched(first: Side, second: Side, paired: Iterable[Row]) -> Iterator[Pair]:
    """Yield the numbers that both sides have, in the order of the first."""
    names = _places(first, second)
    judges = (first.judge, second.judge)
    of_pairs = _of_pairs(names, judges, paired) if all(judges) else {}

    def place(row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in names)

    there = {place(row): row for row in second.rows}
    for row in first.rows:
        at = place(row)
        if at in there and (not first.judge or row["judge_b"] not in judges):
            yield Pair(at, row, there[at], of_pairs.get(at, {}))


def _places(first: Side, second: Side) -> list[str]:
    """Return the columns by which rows are matched: not by the judge where each side is one."""
    of_judges = first.judge is not None and second.judge is not None
    return [name for name in PLACES if not (of_judges and name == "judge")]


def _of_pairs(
    names: Sequence[str], judges: tuple[str | None, str | None], paired: Iterable[Row]
) -> dict[tuple[Any, ...], dict[str, Row]]:
    """Return place -> what is known of the difference there: of the first judge less the second."""
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in paired:
        pair = (row["judge"], row["judge_b"])
        if pair not in (judges, judges[::-1]):
            continue
        for kind in (HOLM, GAP, P):
            name = row["statistic"].removeprefix(f"{kind}_")
            if name != row["statistic"]:
                place = {**row, "statistic": name, "judge_b": None}
                told = _turned(row) if kind == GAP and pair != judges else row
                found.setdefault(tuple(place[one] for one in names), {})[kind] = told
                break
    return found


def _turned(row: Row) -> Row:
    """Return a difference the other way round."""
    value, hi, lo = (None if row[name] is None else -row[name] for name in ("value", "lo", "hi"))
    return {**row, "value": value, "lo": lo, "hi": hi}


def _told(row: Row) -> list[str]:
    return [*number(row), plain(row["n"])]


def _difference(pair: Pair) -> tuple[str, str]:
    """Return the difference and its interval, empty where none is known."""
    return number(pair.known[GAP]) if GAP in pair.known else ("", "")


def _tests(pair: Pair) -> list[str]:
    """Return p, and p after Holm's correction, empty where there was no test."""
    return [number(pair.known[name])[0] if name in pair.known else "" for name in (P, HOLM)]


def _why(pair: Pair) -> str:
    """Return why a number, or a difference, is not defined."""
    rows = [pair.first, pair.second, *pair.known.values()]
    notes = dict.fromkeys(str(row["note"]) for row in rows if row["value"] is None)
    return plain(f"undefined: {'; '.join(notes)}") if notes else ""


def _left(first: Side, second: Side, pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield how many numbers only one side has."""
    for side in (first, second):
        if more := len(side.rows) - len(pairs):
            yield f"only {side.name} has {more:,} more"


def _signatures(pairs: Iterable[Pair]) -> Iterator[str]:
    """Yield in what the signatures of two numbers differ, and in which values."""
    differ: dict[str, dict[tuple[str, str], None]] = {}
    for pair in pairs:
        one, two = (_parts(row["signature"]) for row in (pair.first, pair.second))
        for key in dict.fromkeys([*one, *two]):
            if one.get(key) != two.get(key):
                values = (one.get(key, "none"), two.get(key, "none"))
                differ.setdefault(key, {})[values] = None
    if not differ:
        yield "signatures: the same on both sides"
    for key, found in differ.items():
        few = "; ".join(f"{one} | {two}" for one, two in list(found)[:3])
        more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
        yield plain(f"signatures differ in {key}: {few}{more}")


def _parts(signature: str | None) -> dict[str, str]:
    """Return the parts of a signature by name."""
    return dict(part.partition(":")[::2] for part in (signature or "").split("|") if part)
