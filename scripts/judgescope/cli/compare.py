"""The command `judgescope compare`: the numbers of two studies, or two judges, side by
side.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pandas import DataFrame

from judgescope.cli import show
from judgescope.cli.commands import SHOWN
from judgescope.cli.context import results_folder
from judgescope.cli.show import of_two_judges
from judgescope.cli.terminal import plain, plural, undefined
from judgescope.core.errors import UserError, check_known
from judgescope.schema.tables import RESULT_COLUMNS


class ComparedSide(NamedTuple):
    """One side of a comparison: its name and rows, and the judge if the side is a
    judge.
    """

    name: str
    rows: DataFrame
    judge: str | None = None


SECOND = "_other"
"""The suffix of the second side's columns; those of a paired result end with its
kind."""


class PairedKinds(NamedTuple):
    """The kinds of results on two judges: prefixes of a statistic's name."""

    gap: str = "difference"
    p: str = "p"
    holm: str = "p_holm"


KINDS = PairedKinds()


def compare(args: argparse.Namespace) -> int:
    """Print two studies' or two judges' numbers; their tables must exist."""
    judges = args.judges
    table = args.table
    if len(judges) > 2 or (args.other is None and len(set(judges)) != 2):
        raise UserError(
            "a comparison needs two studies or two judges",
            where="--judges",
            got=" ".join(judges) or None,
            allowed="two studies, or two judges of one study, or a judge of each study",
        )
    show.check_rows(args.rows)
    tables = show.tables_of(args.study)
    others = tables
    if args.other is not None:
        others = show.tables_of(args.other)
    names = ("", "")
    if args.other:
        names = _study_names(args.study, args.other)
    for study in filter(None, (args.study, args.other)):
        show.note_earlier_state(study)
    sides = []
    for number, files in enumerate((tables, others)):
        every = show.rows_of(files, table)
        rows = show.chosen(table, every, show.filters_of(args, SHOWN))
        if judges:
            # One judge stands for the judge of both studies.
            judge = judges[number % len(judges)]
            sides.append(_side(names[number], rows, every, judge))
        else:
            sides.append(ComparedSide(names[number], rows))
    # The paired differences of these tables are in another one.
    paired_table = table
    if table in ("agreement", "labels"):
        paired_table = "comparison"
    paired = None
    if args.other is None and paired_table in tables:
        paired = show.rows_of(tables, paired_table)
    print("\n".join(lines(table, sides[0], sides[1], paired, limit=args.rows)))
    return 0


def _study_names(first: Path, second: Path) -> tuple[str, str]:
    """Return the names of two studies; UserError if they are the same."""
    names = results_folder(first).name, results_folder(second).name
    if names[0] == names[1]:
        raise UserError(
            "both files describe the same study, which has only one results folder",
            where=str(second),
            got=names[1],
            todo="change the key `study` of one of them, or compare two judges "
            "with --judges",
        )
    return names


def _side(study: str, rows: DataFrame, every: DataFrame, judge: str) -> ComparedSide:
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
    return ComparedSide(f"{study}: {judge}" if study else judge, kept, judge)


def lines(
    table: str,
    first: ComparedSide,
    second: ComparedSide,
    paired: DataFrame | None,
    *,
    limit: int,
) -> Iterator[str]:
    """Yield the numbers that both sides have, up to a limit (0: all), and how to read
    them.

    `paired` has the results on pairs of judges.
    """
    columns = list(RESULT_COLUMNS.places)
    if first.judge and second.judge:
        columns.remove("judge")
    if first.judge != second.judge:
        first = first._replace(rows=first.rows[~of_two_judges(first.rows)])
        second = second._replace(rows=second.rows[~of_two_judges(second.rows)])
    pairs = _matched(first, second, columns)
    if paired is not None and first.judge and second.judge:
        pairs = _with_paired(pairs, paired, first.judge, second.judge, columns)
    count = f"{plural(len(pairs), 'number')} that both sides have"
    yield f"{table}: {count}; {first.name} | {second.name}"
    for side in (first, second):
        more = len(side.rows) - len(pairs)
        if more:
            yield f"only {side.name} has {more:,} more"
    if not len(pairs):
        yield from _other_datasets(first, second)
        return
    varied, common = show.varied_columns(pairs, columns)
    if common:
        yield f"all rows: {common}"
    shown = pairs.head(limit or len(pairs))
    yield from _table(shown, varied, first, second)
    yield from show.rows_left(
        len(pairs) - len(shown), "--statistic and other filters show fewer"
    )
    yield from show.no_agreement(shown, second=SECOND)
    yield from _signatures(pairs)
    yield from _reading_aid(pairs, first, second)


def _other_datasets(first: ComparedSide, second: ComparedSide) -> Iterator[str]:
    """Yield the datasets of two sides that have none in common."""
    datasets = set(first.rows["dataset"])
    if datasets.isdisjoint(second.rows["dataset"]):
        for side in (first, second):
            names = sorted(set(side.rows["dataset"]))
            yield f"datasets of {side.name}: {', '.join(names)}"


def _table(
    pairs: DataFrame, varied: Sequence[str], first: ComparedSide, second: ComparedSide
) -> list[str]:
    """Return the lines of a table of numbers side by side, with paired results."""
    titles = list(varied)
    cells = [pairs[name] for name in varied]
    for side, suffix in ((first, ""), (second, SECOND)):
        titles += [side.name, "95 % interval", "n"]
        cells += show.numbers(pairs, suffix)
    if KINDS.gap in pairs:
        titles += [KINDS.gap, "95 % interval"]
        gap, interval, _ = show.numbers(pairs, f"_{KINDS.gap}")
        has_gap = pairs[KINDS.gap].notna()
        cells += [gap.where(has_gap), interval.where(has_gap)]
    for kind, title in ((KINDS.p, "p"), (KINDS.holm, "p, Holm")):
        if kind in pairs:
            titles.append(title)
            values = show.numbers(pairs, f"_{kind}")[0]
            cells.append(values.where(pairs[kind].notna()))
    return show.listed([*titles, ""], [*cells, _undefined(pairs)])


def _reading_aid(
    pairs: DataFrame, first: ComparedSide, second: ComparedSide
) -> Iterator[str]:
    """Yield what the paired results mean, and that numbers without one are not
    ranked.
    """
    if KINDS.gap in pairs:
        text = (
            f"difference: {first.name} minus {second.name} on the texts that both "
            "judged, with its 95 % interval"
        )
        if KINDS.p in pairs:
            text += (
                "; p: permutation test, also with Holm's correction for all pairs of "
                "the study's judges"
            )
        yield f"{text}."
    if KINDS.gap not in pairs or pairs[KINDS.gap].isna().any():
        yield (
            "Without a paired difference, the two sides cannot be ranked: whether two "
            "intervals overlap is not a test."
        )


def _matched(
    first: ComparedSide, second: ComparedSide, columns: list[str]
) -> DataFrame:
    """Return the numbers that both sides have, side by side, in the order of the
    first.
    """
    rows = first.rows
    if first.judge:
        rows = rows[~rows["judge_b"].isin([first.judge, second.judge])]
    return rows.merge(
        second.rows, on=columns, suffixes=("", SECOND), validate="one_to_one"
    )


def _with_paired(
    pairs: DataFrame, paired: DataFrame, judge: str, other: str, columns: list[str]
) -> DataFrame:
    """Return the pairs of numbers with the results on both judges: first - second."""
    paired = show.turned_to(paired, [judge])
    both = paired[(paired["judge"] == judge) & (paired["judge_b"] == other)]
    # The longest prefix comes first: p_holm begins with p, too.
    kinds = f"{KINDS.holm}|{KINDS.gap}|{KINDS.p}"
    names = both["statistic"].str.extract(f"^(?P<kind>{kinds})_(?P<statistic>.+)$")
    no_judge = both["judge_b"].mask(both["judge_b"].notna())
    both = both.assign(kind=names["kind"], statistic=names["statistic"])
    both = both.assign(judge_b=no_judge)
    shown = ["value", "ci_low", "ci_high", "n", "note"]
    for kind in KINDS:
        results = both.loc[both["kind"] == kind, [*columns, *shown]]
        results = results.rename(columns={name: f"{name}_{kind}" for name in shown})
        results[kind] = True
        merged = pairs.merge(results, on=columns, how="left")
        if merged[kind].count():
            pairs = merged
    return pairs


def _undefined(pairs: DataFrame) -> list[str]:
    """Return the reasons why numbers of a pair are undefined, "" if all are defined."""
    suffixes = ["", SECOND]
    suffixes += [f"_{kind}" for kind in KINDS if kind in pairs]
    reasons: dict[object, dict[str, None]] = {row: {} for row in pairs.index}
    for suffix in suffixes:
        missing = pairs[f"value{suffix}"].isna()
        for row, note in pairs.loc[missing, f"note{suffix}"].dropna().items():
            reasons[row][note] = None
    texts = []
    for notes in reasons.values():
        text = "; ".join(notes)
        texts.append(undefined(text) if text else "")
    return texts


def _signatures(pairs: DataFrame) -> Iterator[str]:
    """Yield the parts in which the signatures of two numbers differ, with their
    values.
    """
    differing: dict[str, dict[str, None]] = {}
    signatures = zip(
        pairs["signature"].fillna(""),
        pairs[f"signature{SECOND}"].fillna(""),
        strict=True,
    )
    for first_signature, second_signature in signatures:
        first = _signature_parts(first_signature)
        second = _signature_parts(second_signature)
        for key in first | second:
            if first.get(key) != second.get(key):
                values = f"{first.get(key, 'none')} | {second.get(key, 'none')}"
                differing.setdefault(key, {})[values] = None
    if not differing:
        yield "signatures: the same on both sides"
    for key, pairs_of_values in differing.items():
        text = "; ".join(list(pairs_of_values)[:3])
        if len(pairs_of_values) > 3:
            text += f"; and {len(pairs_of_values) - 3} more"
        yield plain(f"signatures differ in {key}: {text}")


def _signature_parts(signature: str) -> dict[str, str]:
    """Return key -> value of a signature, such as `seed:7|n:3`."""
    parts = {}
    for part in signature.split("|"):
        if part:
            key, _, value = part.partition(":")
            parts[key] = value
    return parts
