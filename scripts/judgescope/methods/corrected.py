"""What the systems really score: table corrected.

A judge's means and differences, corrected by the sources that people rated; the judge's
own and people's own beside them; and what a rating is worth beside the judge.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from judgescope.methods.base import HUMAN, Method
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.rated_systems import (
    JudgedSystems,
    ends_of,
    judged_cells,
    rated_aspects,
    systems_rated_alone,
)
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Floats
from judgescope.statistics.corrected import (
    CorrectedMean,
    RatedSample,
    RatedTexts,
    corrected_mean,
    difference_of,
    judge_bias,
    people_alone,
    rating_correlation,
    rating_spread,
    rating_worth,
    sample_of,
    uncorrected_mean,
)
from judgescope.statistics.intervals import Bounds, holm
from judgescope.statistics.recalibrated import has_few_values, recalibrated
from judgescope.statistics.result import Estimate, clauses
from judgescope.statistics.transport import differences_noted, why_refused

LEVEL: Final = "by_source"
ASSUMED: Final = "assumes that the rated sources are a random sample"
ONE_SYSTEM: Final = "one system: there is no difference"
NO_SYSTEMS: Final = "the texts name no systems: their mean is that of all"


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of corrected.csv: people's, then every judge's; differences first.

    The column `system_subset` has the system, or two, `first+second`. Controls have no
    rows: they say nothing of a text's quality.
    """
    aspects = rated_aspects(data)
    for aspect, why in aspects.items():
        if why:
            nothing = Estimate.undefined(why)
            yield data.row(HUMAN, aspect, "rated_mean", LEVEL, nothing)
        else:
            yield from _people_rows(data, aspect)
    for judge, aspect, judged in judged_cells(data, aspects):
        if isinstance(judged, JudgedSystems):
            yield from _judge_rows(data, judge, aspect, judged)
        else:
            nothing = Estimate.undefined(judged)
            yield data.row(judge, aspect, "corrected_mean", LEVEL, nothing)


@dataclass(frozen=True)
class Cell:
    """A system, or a pair of systems, and its sample of sources.

    `raw` has the judge's scores as they are, `sample` those that the estimator uses;
    lengths: mean lengths of the texts of the rated and of the other sources.
    """

    name: str | None
    raw: RatedSample
    sample: RatedSample
    lengths: tuple[Floats, Floats]
    ends: Bounds
    planned: int
    """The number of sources of the systems."""
    texts: int
    """The number of rated texts."""
    note: str

    @property
    def missing(self) -> int:
        """The sources that are neither rated with a score nor unrated with one."""
        return self.planned - self.raw.n - self.raw.others.size


def _people_rows(data: EvaluationData, aspect: str) -> Iterator[ResultRow]:
    """Yield what people alone say of every two systems and of each."""
    people = systems_rated_alone(data, aspect)
    ends = ends_of(data, aspect)
    two_values = bool(data.spec.aspects[aspect].labels)
    for cell in _cells(people, ends):
        alone = people_alone(cell.raw, cell.ends, two_values=two_values).estimate
        name = "rated_mean"
        if cell.raw.difference:
            name = "rated_difference"
        yield data.row(HUMAN, aspect, name, LEVEL, alone, system_subset=cell.name)


def _judge_rows(
    data: EvaluationData, judge: str, aspect: str, judged: JudgedSystems
) -> Iterator[ResultRow]:
    """Yield the rows of one judge and aspect."""
    cells = [*_cells(judged, ends_of(data, aspect))]
    two_values = bool(data.spec.aspects[aspect].labels)
    note = clauses(judged.note, data.share_note(judge))
    results = [_corrected(data, cell, two_values) for cell in cells]
    if not judged.pairs:
        nothing = Estimate.undefined(ONE_SYSTEM if judged.names else NO_SYSTEMS)
        yield data.row(judge, aspect, "corrected_difference", LEVEL, nothing)
    tests = [*_tests(cells, results)]
    for cell, result, tested in zip(cells, results, tests, strict=True):
        kind = "difference" if cell.raw.difference else "mean"
        numbers = {f"corrected_{kind}": result.estimate.with_note(note), **tested}
        # Of a refused cell the judge's own number is not given in its place.
        if result.estimate.value is not None:
            beside = _beside(cell, kind, judged.same_scale)
            own_names = (f"uncorrected_{kind}", "judge_bias")
            for name in (name for name in own_names if name in beside):
                beside[name] = beside[name].with_note(judged.note)
            numbers |= beside
        for name, estimate in numbers.items():
            yield data.row(
                judge, aspect, name, LEVEL, estimate, system_subset=cell.name
            )


def _tests(
    cells: Sequence[Cell], means: Sequence[CorrectedMean]
) -> Iterator[dict[str, Estimate]]:
    """Yield the tests of each cell: of a difference, p and Holm's p over all pairs."""
    p_values = []
    for cell, result in zip(cells, means, strict=True):
        is_tested = cell.raw.difference and result.p is not None
        p_values.append(result.p if is_tested else np.nan)
    adjusted = holm(np.array(p_values, np.float64))
    family = f"Holm over {np.isfinite(adjusted).sum()} pairs"
    for cell, p, p_holm in zip(cells, p_values, adjusted.tolist(), strict=True):
        if p is None or np.isnan(p):
            yield {}
            continue
        n = cell.raw.n
        yield {
            "p_corrected_difference": Estimate(
                p, n=n, method="two-sided, null hypothesis: no difference"
            ),
            "p_holm_corrected_difference": Estimate(p_holm, n=n, method=family),
        }


def _beside(cell: Cell, kind: str, same_scale: bool) -> dict[str, Estimate]:
    """Return the judge's own number, its bias, and what a rating is worth beside it."""
    raw = cell.raw
    no_scale = "the judge has no scale, and scores outside people's"
    alone = Estimate.undefined(no_scale, n=raw.n)
    if same_scale:
        alone = uncorrected_mean(raw, cell.ends)
    numbers = {f"uncorrected_{kind}": alone}
    if same_scale and not raw.difference:
        numbers["judge_bias"] = judge_bias(raw, cell.ends)
    return numbers | {
        "rating_worth": rating_worth(cell.sample),
        "rating_correlation": rating_correlation(cell.sample).estimate,
        "rating_spread": rating_spread(raw).estimate,
        "rated_texts": Estimate(float(cell.texts), n=raw.n),
        "unrated_sources": Estimate(
            float(raw.others.size), n=cell.planned, n_missing=cell.missing
        ),
    }


def _corrected(data: EvaluationData, cell: Cell, two_values: bool) -> CorrectedMean:
    """Return the corrected number of a cell, or why it is refused."""
    raw = cell.raw
    lengths = cell.lengths
    if why := _why_refused(data, cell):
        nothing = Estimate.undefined(
            f"not corrected: {why}", n=raw.n, n_missing=cell.missing
        )
        return CorrectedMean(nothing, None, 0.0)
    corrected = corrected_mean(cell.sample, cell.ends, two_values=two_values)
    estimate = corrected.estimate.with_note(cell.note if corrected.weight else "")
    estimate = estimate.with_note(differences_noted(raw, *lengths))
    if raw.others.size and chosen_how(data) == "unknown":
        estimate = estimate.with_note(ASSUMED)
    return corrected._replace(estimate=replace(estimate, n_missing=cell.missing))


def _why_refused(data: EvaluationData, cell: Cell) -> str:
    by_score = (
        "the rated sources were chosen by the judge's score, without known chances"
    )
    if cell.raw.others.size and chosen_how(data) == "by_score":
        return by_score
    return why_refused(cell.raw, *cell.lengths)


def why_not_corrected(data: EvaluationData, judged: JudgedSystems) -> str:
    """Return why the mean of a system is not corrected, "" if all may be."""
    for cell in _cells(judged, (-np.inf, np.inf), pairs=False):
        if why := _why_refused(data, cell):
            return f"{cell.name}: {why}"
    return ""


def chosen_how(data: EvaluationData) -> str:
    """Return how the rated sources were chosen, as the study says."""
    return str(data.spec.settings.get("estimate", {}).get("rated", "unknown"))


# --- cells ----------------------------------------------------------------------------


def _cells(
    judged: JudgedSystems, ends: Bounds, *, pairs: bool = True
) -> Iterator[Cell]:
    """Yield every pair of systems, then every system; of unknown systems all texts."""
    span = ends[1] - ends[0]
    names: list[str | None] = [*judged.names] or [None]
    texts = {name: judged.texts(name) for name in names}
    used = {name: recalibrated(each) for name, each in texts.items()}
    sized = {
        name: _with_lengths(each, judged.lengths(name)) for name, each in texts.items()
    }
    replaced_scores = "scores replaced by the mean rating of texts with that score"
    for first, second in judged.pairs if pairs else ():
        first_texts = texts[first]
        second_texts = texts[second]
        raw = difference_of(first_texts, second_texts)
        lengths = _lengths(raw, [sized[first], sized[second]])
        shared = np.intersect1d(first_texts.both.source, second_texts.both.source)
        rated = sum(
            np.isin(each.both.source, shared).sum()
            for each in (first_texts, second_texts)
        )
        replaced = has_few_values(first_texts) or has_few_values(second_texts)
        yield Cell(
            name=f"{first}+{second}",
            raw=raw,
            sample=difference_of(used[first], used[second]),
            lengths=lengths,
            ends=(-span, span),
            planned=np.intersect1d(first_texts.source, second_texts.source).size,
            texts=int(rated),
            note=replaced_scores if replaced else "",
        )
    for name in names:
        system_texts = texts[name]
        raw = sample_of(system_texts)
        yield Cell(
            name=name,
            raw=raw,
            sample=sample_of(used[name]),
            lengths=_lengths(raw, [sized[name]]),
            ends=ends,
            planned=np.unique(system_texts.source).size,
            texts=system_texts.both.rated.size,
            note=replaced_scores if has_few_values(system_texts) else "",
        )


def _with_lengths(texts: RatedTexts, lengths: Floats) -> RatedTexts | None:
    """Return texts with their lengths in place of scores, None if one is unknown."""
    scored = np.isfinite(texts.judged)
    if not np.isfinite(lengths[scored]).all():
        return None
    return texts._replace(judged=np.where(scored, lengths, np.nan))


def _lengths(
    raw: RatedSample, sized: Sequence[RatedTexts | None]
) -> tuple[Floats, Floats]:
    """Return the mean lengths of rated and of other sources, or their differences; NaN
    where unknown.
    """
    known = [each for each in sized if each is not None]
    if len(known) < len(sized):
        return np.full(raw.n, np.nan), np.full(raw.others.size, np.nan)
    sized_sample = difference_of(*known) if raw.difference else sample_of(known[0])
    return sized_sample.judged, sized_sample.others


METHOD = Method(
    name="corrected",
    rows=rows,
    selectable=True,
    texts=("systems",),
    settings="estimate",
    unordered="yes",
)
