"""How far a judge's confidence may be trusted.

Only judges whose cards say where their confidence is have rows; the signature names it.
People have rows, too: how far they agree with each other bounds what "right" means.
(docs/guide/confidence.md)
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from judgescope.core.rng import stream
from judgescope.methods.base import HUMAN, Method, present
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import class_rule, why_no_classes
from judgescope.methods.labels import truth_of
from judgescope.methods.measures import POOLED
from judgescope.methods.sure_verdicts import (
    DRAWS,
    Said,
    SaidByCell,
    SureVerdicts,
    aspects_with_people,
    of_pairs,
    of_texts,
    said_in,
)
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import read_table
from judgescope.statistics import confidence as stated_confidence
from judgescope.statistics import confidence_bins
from judgescope.statistics.calibration import p_values, people_split
from judgescope.statistics.confidence import Stated
from judgescope.statistics.confidence_bins import FEWEST_TEXTS
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.raters import GOLD
from judgescope.statistics.result import Estimate
from judgescope.statistics.selective import (
    COVERAGES,
    accepted_from,
    confidence_from,
    selective_error,
)


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of confidence.csv: people, then every judge with a confidence."""
    table = read_table("confidences", present(data.spec.confidences))
    yield from rows_of(data, table)


def rows_of(data: EvaluationData, table: pa.Table) -> Iterator[ResultRow]:
    """Yield the rows, from a table `confidences` in memory."""
    for aspect in aspects_with_people(data):
        yield from _people_rows(data, aspect)
    stated = said_in(data, table)
    for judge, card in data.spec.judges.items():
        if not card.confidence:
            continue
        for targets in data.rated(judge):
            of_judge = stated
            if card.confidence == DRAWS:
                of_judge = _said_of_draws(data, targets, judge)
            for aspect in data.spec.aspects:
                yield from _judge_rows(targets, judge, aspect, of_judge)


def _said_of_draws(data: EvaluationData, targets: TargetSet, judge: str) -> SaidByCell:
    """Return the draws of a judge, which have no confidence singly."""
    cells: dict[tuple[str, str, str], dict[tuple[str, str | None], list[Said]]] = {}
    names = ("perturbation", "judge", "aspect", "target", "target_b", "value")
    columns = [data.draws[name].to_pylist() for name in names]
    for perturbation, name, aspect, target, other, value in zip(*columns, strict=True):
        if name == judge and perturbation == targets.perturbation:
            cell = cells.setdefault((perturbation, judge, aspect), {})
            verdict = np.nan if value is None else value
            cell.setdefault((target, other), []).append(Said(verdict, np.nan))
    return cells


def _people_rows(data: EvaluationData, aspect: str) -> Iterator[ResultRow]:
    """Yield how far people agree with each other's verdicts on texts."""
    scale = data.spec.aspects[aspect]
    ratings = data.systems.ratings(aspect)
    truth = truth_of(data, aspect) if scale.labels else GOLD[class_rule(data)]
    if scale.ordered and why_no_classes(data, truth(ratings), scale.values or []):
        return
    split = people_split(ratings, data.systems.source, truth)
    for name, values in (("rater_split", split.variance), ("rater_error", split.error)):
        mean = clustered_mean(values, split.source, data.weights, ends=(0.0, 1.0))
        yield data.row(HUMAN, aspect, name, POOLED, mean.estimate)


def _judge_rows(
    targets: TargetSet, judge: str, aspect: str, answers: SaidByCell
) -> Iterator[ResultRow]:
    cell = answers.get((targets.perturbation, judge, aspect))
    if cell is None:
        return
    card = targets.study.spec.judges[judge]
    if card.compares:
        sure = of_pairs(targets, aspect, cell, equal=card.confidence == DRAWS)
    elif len(targets.ratings(aspect)):
        sure = of_texts(targets, judge, aspect, cell)
    else:
        return
    # Where a confidence comes from -> in words.
    notes_of_source = {
        "logprobs": "log-probabilities of the verdict",
        "stated": "the number that the reply states",
        "draws": "the share of equal draws",
        "column": "a column of the file",
        "decision": "the probability of a decision model",
        "planted": "simulated",
    }
    method = (
        f"against the {sure.against}; confidence: {notes_of_source[card.confidence]}"
    )
    for name, estimate, k in numbers(targets.study, judge, aspect, sure):
        noted = estimate.with_method(method)
        row = targets.row(judge, aspect, name, POOLED, noted)
        yield row if k is None else {**row, "k": k}


NumberedEstimates = Iterator[tuple[str, Estimate, int | None]]
"""Statistic, its estimate, and the bin or per cent of texts that it is about."""


def numbers(
    data: EvaluationData, judge: str, aspect: str, verdicts: SureVerdicts
) -> NumberedEstimates:
    """Yield all numbers of a judge's confidence on an aspect."""
    stated = verdicts.stated
    if verdicts.why:
        yield "confidence_gap", Estimate.undefined(verdicts.why), None
        return
    weights = data.weights
    gap = stated_confidence.confidence_gap(stated, weights)
    slope = stated_confidence.confidence_slope(stated, weights)
    yield "confidence_gap", gap.estimate, None
    yield "confidence_slope", slope.estimate, None
    for name, p in p_values(gap, slope).items():
        yield name, _plain(stated, p).with_note("Holm over gap and slope"), None
    yield "auroc_right", stated_confidence.auroc_right(stated).estimate, None
    yield "brier", stated_confidence.brier(stated, weights).estimate, None
    rng = stream(data.spec.seed, "calibration", data.dataset, judge, aspect)
    for name, error in confidence_bins.calibration_errors(stated, rng).items():
        yield name, error, None
    yield from _binned(stated, data)
    yield from _selective(stated, data)


def _plain(stated: Stated, value: float) -> Estimate:
    """Return a number without an interval."""
    return Estimate(value, n=stated.texts, n_missing=stated.missing)


def _binned(stated: Stated, data: EvaluationData) -> NumberedEstimates:
    """Yield the parts of the Brier score, the diagram and the histogram below it."""
    if stated.texts < FEWEST_TEXTS:
        return
    parts = confidence_bins.brier_parts(stated.confidence, stated.right)
    for name, value in parts._asdict().items():
        yield f"brier_{name}", _plain(stated, value), None
    for k, point in enumerate(confidence_bins.diagram(stated, data.weights), 1):
        yield "bin_confidence", Estimate(point.confidence, n=point.texts), k
        yield "bin_right", point.right, k
    tenths = 10
    tenth = np.minimum((stated.confidence * tenths).astype(int), tenths - 1)
    shares = np.bincount(tenth, minlength=tenths) / stated.texts
    for k, share in enumerate(shares.tolist(), 1):
        yield "confidence_share", _plain(stated, share), k


def _selective(stated: Stated, data: EvaluationData) -> NumberedEstimates:
    """Yield the error of the surest verdicts, and from where on it is small."""
    for coverage in COVERAGES:
        accepted = selective_error(stated, coverage, data.weights)
        if accepted is not None:
            note = (
                f"confidence from {accepted.threshold:.3f} on, "
                f"{accepted.coverage:.1%} of the texts"
            )
            estimate = accepted.error.estimate.with_note(note)
            yield "selective_error", estimate, round(100 * coverage)
    guarantee = confidence_from(stated)
    if guarantee.threshold is None:
        nothing = Estimate.undefined(
            guarantee.why, n=stated.texts, n_missing=stated.missing
        )
        yield "confidence_from", nothing, None
        return
    note = f"at most {guarantee.bound:.1%} wrong with a chance of 95 %"
    yield "confidence_from", _plain(stated, guarantee.threshold).with_note(note), None
    accepted = accepted_from(stated, guarantee.threshold, data.weights)
    yield "selective_coverage", _plain(stated, accepted.coverage), None
    yield (
        "selective_error",
        accepted.error.estimate.with_note("from the threshold"),
        None,
    )


METHOD = Method(
    name="confidence",
    rows=rows,
    selectable=True,
    when="confident",
    texts=("systems",),
    parts=("confidences",),
    votes=True,
    unordered="yes",
)
