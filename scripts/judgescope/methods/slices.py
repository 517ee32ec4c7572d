"""Where a judge does worse, and which labels judges doubt: table slices.

A slice is a value of a column of the sources, a system, or a third of the texts by
length. Each is compared with the rest by the number that decides the judge's claim.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np

from judgescope.methods import deciding
from judgescope.methods.base import Method
from judgescope.methods.claims.agreement import RatedTargets
from judgescope.methods.claims.labels import LabelledTexts
from judgescope.methods.deciding import DecidingNumber
from judgescope.methods.doubts import doubt_rows
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.measures import POOLED, level_of
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Flags, Floats
from judgescope.statistics.result import Estimate, clauses
from judgescope.statistics.slices import (
    SliceNumbers,
    against_rest,
    all_point_away,
    family,
    settled_label,
    thirds,
)


class BuiltInColumn(StrEnum):
    """Columns of slices that every study has."""

    LENGTH = "length"
    SOURCE_LENGTH = "length of the source"
    SYSTEM = "system"


THIRDS: Final = {
    BuiltInColumn.LENGTH: ("shortest third", "middle third", "longest third"),
    BuiltInColumn.SOURCE_LENGTH: ("shortest third", "middle third", "longest third"),
}
MOST_VALUES: Final = 20
"""A column of more words is no column of slices; more numbers are cut into thirds."""


class SliceColumn(NamedTuple):
    """A column and its value in each case, "" where it is missing."""

    name: str
    values: list[str]


@dataclass(frozen=True, eq=False)
class SliceResult:
    """A slice of a judge's cases: where it stands in the table, and its numbers."""

    column: str
    value: str
    statistic: str
    level: str
    numbers: SliceNumbers

    @property
    def name(self) -> str:
        """The slice as the table names it."""
        return f"{self.column}: {self.value}"


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of slices.csv: per judge and aspect its slices, then the texts
    whose label or rating judges doubt.
    """
    numbers = []
    for each in deciding.numbers(data):
        if data.spec.judges[each.judge].engine != "control":
            numbers.append(each)
            yield from _judge_rows(data, each)
    for aspect in data.spec.aspects:
        of_aspect = [each for each in numbers if each.aspect == aspect]
        yield from doubt_rows(data, aspect, of_aspect)


# --- slices ---------------------------------------------------------------------------


def _judge_rows(data: EvaluationData, each: DecidingNumber) -> Iterator[ResultRow]:
    columns, refused = _columns(data, each)
    results = [result for column in columns for result in _slices(data, each, column)]
    of_all = each.number(each.values).estimate
    note = clauses(*_away(each, of_all, results), *refused)
    estimate = of_all.with_note(note) if note else of_all
    yield data.row(each.judge, each.aspect, each.statistic, each.level, estimate)
    made = family(
        [result.numbers for result in results],
        [result.statistic for result in results],
    )
    if made.tested and np.isfinite(made.least):
        how = f"Holm over {made.tested} slices, power .8"
        least = Estimate(made.least, n=made.tested, method=how)
        name = f"slice_shown_from_{each.statistic}"
        yield data.row(each.judge, each.aspect, name, each.level, least)
    for result, p_holm, middle in zip(
        results, made.p_holm.tolist(), made.moved.tolist(), strict=True
    ):
        for statistic, number in _numbers(result, p_holm, middle):
            yield data.row(
                each.judge,
                each.aspect,
                statistic,
                result.level,
                number,
                slice=result.name,
            )


def _numbers(
    result: SliceResult, p_holm: float, middle: float
) -> Iterator[tuple[str, Estimate]]:
    """Yield the statistics of a slice by name."""
    inside, gap, why = result.numbers
    if inside is None:
        yield result.statistic, Estimate.undefined(why)
        return
    n = inside.estimate.n
    yield result.statistic, inside.estimate
    if np.isfinite(middle):
        toward = Estimate(middle, n=n, method="toward the mean of the slices")
        yield f"slice_shrunk_{result.statistic}", toward
    if gap is None:
        return
    note = ""
    if result.column == BuiltInColumn.SYSTEM and result.level == POOLED:
        note = "slice minus the mean of the other systems' own numbers"
    yield f"slice_gap_{result.statistic}", gap.estimate.with_note(note)
    if np.isfinite(p_holm):
        test = Estimate(p_holm, n=n, method="Holm over the judge's slices")
        yield f"slice_p_holm_{result.statistic}", test


def _away(
    each: DecidingNumber, of_all: Estimate, results: list[SliceResult]
) -> Iterator[str]:
    """Yield a warning for each column whose slices all contradict the whole."""
    by_column: dict[str, list[float]] = {}
    for result in results:
        if result.statistic == each.statistic:
            by_column.setdefault(result.column, []).append(result.numbers.value)
    for column, values in by_column.items():
        pooled = of_all.value
        if pooled is not None and all_point_away(pooled, values, each.chance):
            without = int(np.isnan(values).sum())
            counted = ""
            if without:
                counted = f" ({without} without a number left out)"
            yield (
                f"warning: every slice of {column} points the other way than all texts"
                f"{counted}"
            )


def _slices(
    data: EvaluationData, each: DecidingNumber, column: SliceColumn
) -> list[SliceResult]:
    """Return the results of a column's values, sorted; all of one level."""
    values = np.array(column.values, dtype=object)
    members = {}
    for name in sorted({*column.values} - {""}):
        members[name] = values == name
    within = all(_level_within(data, each, mine) for mine in members.values())
    number = each.number
    statistic = each.statistic
    level = each.level
    if isinstance(each.texts, RatedTargets) and not within and level != POOLED:
        pooled = RatedTargets(each.texts.target_set, each.aspect, POOLED)
        number = pooled.number
        statistic = pooled.statistic
        level = POOLED
    every = np.logical_or.reduce([*members.values()])
    by_member = column.name == BuiltInColumn.SYSTEM and level == POOLED

    def why_not(cases: Flags) -> str:
        rest = ""
        if not by_member:
            rest = _settled(each, every & ~cases, " of the rest")
        return _too_few(each, cases) or _settled(each, cases) or rest

    by_slice = against_rest(
        members,
        lambda cases: number(np.where(cases, each.values, np.nan)),
        why_not,
        each.scale,
        by_member=by_member,
    )
    return [
        SliceResult(column.name, name, statistic, level, numbers)
        for name, numbers in by_slice.items()
    ]


def _level_within(data: EvaluationData, each: DecidingNumber, mine: Flags) -> bool:
    """Whether the slice alone would be compared within sources; True if too small."""
    if each.texts is None or isinstance(each.texts, LabelledTexts):
        return True
    if _too_few(each, mine):
        return True
    scores = np.where(mine, each.values, np.nan)
    level = level_of(scores, each.texts.gold, each.source, len(data.item_order))
    return level != POOLED


def _too_few(each: DecidingNumber, mine: Flags) -> str:
    """Return why a slice has no number, "" if it has one."""
    both = mine & ~np.isnan(each.values)
    if each.texts is not None:
        both &= ~np.isnan(each.texts.gold)
    sources = np.unique(each.source[both]).size
    fewest_sources = 10
    if sources < fewest_sources:
        return f"too few: {sources} sources"
    # Texts of the rarest label that a slice needs.
    fewest_of_label = 5
    if isinstance(each.texts, LabelledTexts):
        _, counts = np.unique(each.texts.gold[both], return_counts=True)
        if counts.size < 2 or counts.min() < fewest_of_label:
            rarest = 0 if counts.size < 2 else int(counts.min())
            return f"too few: {rarest} texts of the rarest label"
    return ""


def _settled(each: DecidingNumber, cases: Flags, whose: str = "") -> str:
    """Return of which label some cases show no error, "" if of none."""
    if not isinstance(each.texts, LabelledTexts):
        return ""
    gold = each.texts.gold
    verdicts = np.where(cases, each.values, np.nan)
    label = settled_label(gold, verdicts)
    if label is None:
        return ""
    mine = np.isfinite(verdicts) & (gold == label)
    verdict = "wrong"
    if (verdicts == gold)[mine].all():
        verdict = "right"
    name = each.texts.scale.labels[label]
    return f"too few: all {int(mine.sum())} texts{whose} labelled {name} are {verdict}"


# --- columns --------------------------------------------------------------------------


def _columns(
    data: EvaluationData, each: DecidingNumber
) -> tuple[list[SliceColumn], list[str]]:
    """Return the columns of a judge's cases, and why others have no slices."""
    made = dict[str, SliceColumn]()
    refused = list[str]()
    items = np.array(list(data.item_order), dtype=object)
    for name, by_item in item_columns(data).items():
        values = [by_item.get(item, "") for item in items[each.source]]
        made[name] = SliceColumn(name, values)
    named = data.spec.settings.get("slices", {}).get("columns") or []
    assert isinstance(named, list)
    for column in map(str, named):
        if column not in made:
            refused.append(f"no slices of {column}: not 2 to {MOST_VALUES} values")
    if each.texts is not None:
        targets = each.texts.target_set
        lengths = targets.lengths
        if BuiltInColumn.LENGTH not in made and targets.has_lengths:
            made[BuiltInColumn.LENGTH] = SliceColumn(
                BuiltInColumn.LENGTH, _in_thirds(lengths, THIRDS[BuiltInColumn.LENGTH])
            )
        systems = {*targets.systems}
        known = not data.spec.anonymous_systems
        if (
            BuiltInColumn.SYSTEM not in made
            and known
            and 1 < len(systems) <= MOST_VALUES
        ):
            made[BuiltInColumn.SYSTEM] = SliceColumn(
                BuiltInColumn.SYSTEM, targets.systems
            )
    columns = [column for column in made.values() if len({*column.values} - {""}) > 1]
    return columns, refused


def item_columns(data: EvaluationData) -> dict[str, dict[str, str]]:
    """Return column -> item -> its value: the items' own columns that the study names,
    or that have 2 to 20 values or numbers, and the length of the source.
    """
    by_column: dict[str, dict[str, object]] = {}
    lengths = dict[str, float]()
    names = data.items["item"].to_pylist()
    sources = data.items["source"].to_pylist()
    metas = data.items["meta"].to_pylist()
    for item, source, meta in zip(names, sources, metas, strict=True):
        for name, value in json.loads(meta or "{}").items():
            if isinstance(value, str | int | float) and str(value).strip():
                by_column.setdefault(name, {})[item] = value
        if source:
            lengths[item] = float(len(source))
    named = data.spec.settings.get("slices", {}).get("columns") or []
    assert isinstance(named, list)
    columns = {}
    for name, values in by_column.items():
        if named and name not in named:
            continue
        made = _as_slices(values)
        if made:
            columns[name] = made
    if lengths and BuiltInColumn.SOURCE_LENGTH not in columns:
        cut = _in_thirds(
            np.array([*lengths.values()]), THIRDS[BuiltInColumn.SOURCE_LENGTH]
        )
        columns[BuiltInColumn.SOURCE_LENGTH] = dict(zip(lengths, cut, strict=True))
    return columns


def _as_slices(values: dict[str, object]) -> dict[str, str]:
    """Return item -> its value as a slice; {} of more than 20 words or of one value."""
    distinct = {str(value).strip() for value in values.values()}
    if 2 <= len(distinct) <= MOST_VALUES:
        return {item: str(value).strip() for item, value in values.items()}
    numbers = []
    for value in values.values():
        if isinstance(value, int | float) and not isinstance(value, bool):
            numbers.append(float(value))
    if len(distinct) < 2 or len(numbers) < len(values):
        return {}
    lowest = ("lowest third", "middle third", "highest third")
    return dict(zip(values, _in_thirds(np.array(numbers), lowest), strict=True))


def _in_thirds(values: Floats, names: tuple[str, ...]) -> list[str]:
    return [names[code] if code >= 0 else "" for code in thirds(values).tolist()]


METHOD = Method(
    name="slices",
    rows=rows,
    selectable=True,
    texts=("systems",),
    settings="slices",
    votes=True,
    unordered="yes",
)
