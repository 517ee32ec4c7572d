"""What a pilot tells: which judges differ, how many items would show it, which may be dropped."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from judgescope.schema.tables import read_table
from judgescope.statistics.comparison import sources_needed

HEADLINE = ("spearman", "pooled")
"""The statistic of agreement with people by which judges are held against each other, if it is
there; else the first that is."""
FEW = "no interval: too few items, give the pilot a larger share"

Row = dict[str, Any]
Place = tuple[str, str]
"""(dataset, aspect)."""


class Pair(NamedTuple):
    """Two judges on one aspect: the first's statistic less the second's."""

    place: Place
    judge: str
    other: str
    value: float
    lo: float | None
    hi: float | None
    needed: int | None
    """Items that would show a difference as large, with power .8 at .05."""


def conclusions(out: Path) -> str:
    """Return what the tables of a pilot in the folder `out` tell, as text."""
    path = out / "tables" / "comparison.parquet"
    rows = read_table("results", path).to_pylist() if path.is_file() else []
    asked = _asked(out)
    pairs = [pair for pair in _pairs(rows) if asked & {pair.judge, pair.other}]
    if not pairs:
        return "\nThe pilot has no two judges to compare (that needs the method agreement)."
    statistic, level = _headline(rows)
    lines = [f"\nDifferences in {statistic} ({level}) with people's ratings, 95 % intervals"]
    for place in sorted({pair.place for pair in pairs}):
        lines.append(f"  {', '.join(place)}")
        lines += [_told(pair) for pair in pairs if pair.place == place]
    return "\n".join([*lines, "", *_dropped(pairs, asked)])


def _asked(out: Path) -> set[str]:
    """Return the judges whose replies a model was asked for."""
    rows = read_table("results", out / "tables" / "cost.parquet").to_pylist()
    bought = [row for row in rows if row["statistic"] == "usd"]
    return {
        row["judge"]
        for row in bought
        if row["judge"] not in ("", "all") and "nothing is bought" not in (row["note"] or "")
    }


def _headline(rows: list[Row]) -> tuple[str, str]:
    begin = "difference_"
    there = [
        (row["statistic"].removeprefix(begin), row["level"])
        for row in rows
        if row["statistic"].startswith(begin)
    ]
    return HEADLINE if HEADLINE in there else there[0]


def _pairs(rows: list[Row]) -> Iterator[Pair]:
    """Yield the pairs whose difference is defined."""
    told: dict[tuple[Place, str, str], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        if row["judge_b"]:
            place = (row["dataset"], row["aspect"])
            key = f"{row['statistic']}.{row['level']}"
            told[place, row["judge"], row["judge_b"]][key] = row
    if not told:
        return
    name = ".".join(_headline(rows))
    for (place, judge, other), found in told.items():
        gap, least = found.get(f"difference_{name}"), found.get(f"detectable_{name}")
        if gap is None or gap["value"] is None:
            continue
        needed = None
        if least is not None and least["value"] is not None and gap["value"]:
            needed = sources_needed(least["n"], least["value"], abs(gap["value"]))
        yield Pair(place, judge, other, gap["value"], gap["lo"], gap["hi"], needed)


def _told(pair: Pair) -> str:
    gap = f"{pair.value:+.2f}"
    interval = FEW if pair.lo is None else f"[{pair.lo:+.2f}, {pair.hi:+.2f}]"
    needed = "" if pair.needed is None else f", {pair.needed:,} items would show as much"
    return f"    {pair.judge} - {pair.other:<24}{gap:>7} {interval}{needed}"


def _dropped(pairs: list[Pair], asked: set[str]) -> Iterator[str]:
    """Yield which judges may be dropped, and the rule.

    One that some judge, or a control, surely beats: on every aspect of every dataset on which both
    have a number, the whole interval of the difference is on the other's side.
    """
    beaten: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for pair in pairs:
        beaten[pair.judge, pair.other].append(pair.hi is not None and pair.hi < 0)
        beaten[pair.other, pair.judge].append(pair.lo is not None and pair.lo > 0)
    better: dict[str, list[str]] = defaultdict(list)
    for (judge, other), everywhere in beaten.items():
        if judge in asked and all(everywhere):
            better[judge].append(other)
    yield (
        "May be dropped (some other judge or control is better on every aspect of every dataset, "
        "the whole interval on its side):"
    )
    for judge, others in sorted(better.items()):
        yield f"  {judge}: {', '.join(sorted(others))} better"
    if not better:
        yield "  none"
