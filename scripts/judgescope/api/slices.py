"""On which part of the texts a judge is worse."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgescope.api import plain_signature
from judgescope.api.arguments import (
    check_indexes,
    estimates_frame,
    mean_of_raters,
    read_column,
    text_codes,
)
from judgescope.methods.measures import POOLED, WITHIN_SOURCE, level_of
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.correlation import leaving_out
from judgescope.statistics.intervals import CORRELATION, IntervalScale
from judgescope.statistics.resampling import Replicated, replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.slices import SliceNumbers, against_rest, family
from judgescope.statistics.within_sources import within_sources


@plain_signature
def slices(
    judge: ArrayLike,
    human: ArrayLike,
    columns: Mapping[str, ArrayLike],
    *,
    source: ArrayLike | None = None,
) -> pd.DataFrame:
    """Return a judge's number on each part of the texts, and that minus the rest's.

    Of each slice (`column: value`) the correlation with people's ratings: within
    sources (normal_scores), or over all texts (spearman) where few sources have
    different ratings, which the note says; slice_gap_…, slice minus rest, without the
    same source in both, so that a column's values may differ within a source;
    slice_p_holm_…, two-sided, Holm over all slices; slice_shrunk_…, without the luck of
    the worst. Last, the difference that some slice would show with power .8.

    judge: (texts,); human: (texts,) or (texts, raters), whose mean counts, NaN =
    missing; columns: name -> the value of each text, such as a DataFrame's columns,
    missing ones in no slice; source: (texts,), any labels, default: a source a text. A
    slice of fewer than 10 sources has no number. ValueError: lengths or indexes differ,
    no column has two values.

    >>> rng = np.random.default_rng(1)
    >>> human, topic = rng.normal(size=200), np.arange(200) % 2
    >>> noise = rng.normal(size=200)
    >>> found = slices(np.where(topic, human, noise), human, {"topic": topic})
    >>> found.loc[("slice_gap_spearman", "topic: 0"), "ci_high"].item() < 0
    True
    """
    check_indexes(judge, human, source, *(columns[name] for name in columns))
    scores = read_column(judge, "judge")
    people = mean_of_raters(human)
    sources, _ = text_codes(
        source, None, scores.size, judge=scores.size, human=people.size
    )
    numbers = _Numbers(scores, people, sources)
    by_slice: dict[str, SliceNumbers] = {}
    gap = IntervalScale("plain", -2.0, 2.0)
    for column, values in columns.items():
        of_column = pd.Series(values)
        if of_column.size != scores.size:
            raise ValueError(
                f"columns[{column!r}] has {of_column.size} values, judge {scores.size}"
            )
        members = {}
        for value in sorted(of_column.dropna().unique(), key=str):
            members[f"{column}: {value}"] = (of_column == value).to_numpy(bool)
        if len(members) > 1:
            by_slice |= against_rest(members, numbers.of, numbers.why_not, gap)
    if not by_slice:
        raise ValueError(
            f"columns: none of {', '.join(map(str, columns)) or 'no columns'} has two "
            "values"
        )
    over_all = ""
    if source is not None and numbers.level == POOLED:
        over_all = "over all texts: too few sources have texts with different ratings"
    rows = _rows(by_slice, numbers.statistic, over_all)
    return estimates_frame(rows, ["statistic", "slice"])


class _Numbers:
    """The deciding number of some texts, at the level of all texts."""

    def __init__(self, scores: Floats, people: Floats, source: Codes) -> None:
        self.scores = scores
        self.people = people
        self.source = source
        self.n_sources = int(source.max(initial=-1)) + 1
        self.level = level_of(scores, people, source, self.n_sources)
        by_view = {WITHIN_SOURCE: "normal_scores", POOLED: "spearman"}
        self.statistic = by_view[self.level]

    def of(self, cases: Flags) -> Replicated:
        x = np.where(cases, self.scores, np.nan)
        if self.level == WITHIN_SOURCE:
            return within_sources(x, self.people, self.source, self.n_sources)
        rows, why = leaving_out(x, self.people, self.source, self.n_sources)
        both = np.isfinite(x + self.people)
        sizes = np.bincount(self.source[both], minlength=self.n_sources)
        return replicated(rows, why, sizes=sizes, scale=CORRELATION, n=int(both.sum()))

    def why_not(self, cases: Flags) -> str:
        both = cases & np.isfinite(self.scores + self.people)
        count = np.unique(self.source[both]).size
        fewest_sources = 10
        if count >= fewest_sources:
            return ""
        return f"too few: {count} sources"


def _rows(
    compared: Mapping[str, SliceNumbers], name: str, note: str
) -> dict[tuple[str, str], Estimate]:
    """Return the rows of all slices; `note` is that of each slice's own number."""
    made = family([*compared.values()], [name] * len(compared))
    rows: dict[tuple[str, str], Estimate] = {}
    for at, (part, numbers) in enumerate(compared.items()):
        if numbers.inside is None:
            rows[name, part] = Estimate.undefined(numbers.why)
            continue
        inside = numbers.inside.estimate
        rows[name, part] = inside.with_note(note) if note else inside
        if numbers.gap is not None:
            rows[f"slice_gap_{name}", part] = numbers.gap.estimate
        for kind, value in (("p_holm", made.p_holm[at]), ("shrunk", made.moved[at])):
            if np.isfinite(value):
                rows[f"slice_{kind}_{name}", part] = Estimate(float(value), n=inside.n)
    if np.isfinite(made.least):
        rows[f"slice_shown_from_{name}", ""] = Estimate(made.least, n=made.tested)
    return rows
