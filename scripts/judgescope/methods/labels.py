"""How far judges' labels are people's: table labels, for aspects that people rate by labels alone.

The truth of several raters is their lower median where labels are ordered, else the label that
more than half of them give. A judge with numbers has labels by the threshold of its card.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Unpack

import numpy as np

from judgescope.core.cells import DERIVED, split
from judgescope.methods.agreement import below_controls
from judgescope.methods.base import HUMAN, AppliesTo, Method, Row, present
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.measures import (
    LARGEST_CEILING,
    POOLED,
    against,
    alpha,
    lower_median,
    rater_tables,
    replacement,
    unrated,
    with_hint_note,
)
from judgescope.statistics.classes import (
    are_classes,
    by_label,
    confusion_counts,
    cross_fitted,
    on_labels,
    strict_majority,
)
from judgescope.statistics.nulls import dealt
from judgescope.statistics.raters import as_rater, ceilings, decided
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

NOMINAL: Final = "nominal"
BEST: Final = "best"
AS_RATER: Final = ("label_accuracy", "balanced_accuracy", "kappa_nominal")
"""Statistics in which a judge is compared with one more rater."""
AT_BASE_RATE: Final = frozenset(
    ("label_accuracy", "precision", "npv", "f1", "mcc", "ac1", "kappa_nominal")
)
"""Statistics that another base rate would change: their notes say which one there is."""
ABOVE_CONTROLS: Final = frozenset(
    ("label_accuracy", "f1", "balanced_accuracy", "mcc", "ac1", "kappa_nominal")
)
"""Statistics that no control has for nothing: one that passes all texts finds all positive ones."""
NO_VOTES: Final = "the mean of the members' scores is not a label: name members that give labels"
NO_LABELS: Final = "the judge gives numbers: set `threshold` in its card"
NO_TWO_LABELS: Final = "a threshold is for two labels"
OFF_LABELS: Final = "scores that are not labels"


@dataclass(frozen=True)
class Labelled:
    """A judge's labels of the texts, (texts,), NaN = missing; None: it has none, as `note` says."""

    codes: Floats | None
    note: str = ""


def label_aspects(study: EvaluationData) -> list[str]:
    """Return the aspects that people rate by labels alone."""
    return [
        name
        for name, scale in study.spec.aspects.items()
        if scale.labels and len(study.systems.ratings(name))
    ]


def truth_of(study: EvaluationData, aspect: str) -> Callable[[Floats], Floats]:
    """Return the function from ratings (raters, texts) to the true label of each text, (texts,)."""
    scale = study.spec.aspects[aspect]
    return lower_median if scale.ordered else partial(strict_majority, labels=len(scale.labels))


def truth_name(study: EvaluationData, aspect: str) -> str:
    """Return what the truth of several raters is called."""
    return "lower median" if study.spec.aspects[aspect].ordered else "strict majority"


def labelled(
    study: EvaluationData, panel: TargetSet, judge: str, aspect: str, scores: Floats, gold: Floats
) -> Labelled:
    """Return the labels that a judge's scores are, by the threshold of its card if it has one.

    The control length has people's labels, dealt out in the order of length (`dealt`).
    """
    card, scale = study.spec.judges[judge], study.spec.aspects[aspect]
    if card.engine == "control" and card.form == "length":
        order = np.where(np.isnan(scores), 0.0, scores)
        codes = np.where(np.isnan(scores), np.nan, dealt(gold, order, panel.source))
        return Labelled(codes, "people's labels, in the order of the texts' length")
    if card.threshold is not None:
        if len(scale.labels) != 2:
            return Labelled(None, NO_TWO_LABELS)
        if card.threshold != BEST:
            codes = np.where(np.isnan(scores), np.nan, scores >= card.threshold)
            return Labelled(codes, f"threshold {card.threshold:g}")
        codes, chosen = cross_fitted(gold, scores, panel.source)
        ends = f"{chosen.min():.4g} to {chosen.max():.4g}" if chosen.size else "none"
        return Labelled(codes, f"threshold chosen leaving each source out: {ends}")
    if card.grid[aspect] != scale.values or card.weighted:
        return Labelled(None, NO_VOTES if card.engine == DERIVED else NO_LABELS)
    if not are_classes(scores, scale.values or []):
        return Labelled(None, OFF_LABELS)
    return Labelled(scores)


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of labels.csv: people first, then every judge with scores."""
    aspects = label_aspects(study)
    result: list[Row] = []
    for plain, aspect in {split(name)[0]: name for name in aspects}.items():
        result += [row | {"aspect": plain} for row in _people_rows(study, aspect)]
    judged: list[Row] = []
    for judge in study.spec.judges:
        for systems, panel in study.rated(judge).items():
            for aspect in aspects:
                new = _judge_rows(study, panel, judge, aspect)
                judged += [row | {"system_subset": systems} for row in new]
    hurdles = [row for row in judged if row["statistic"] in ABOVE_CONTROLS]
    others = [row for row in judged if row["statistic"] not in ABOVE_CONTROLS]
    every = [*result, *below_controls(study, hurdles), *others]
    return [with_hint_note(study, row) for row in every]


def _people_rows(study: EvaluationData, aspect: str) -> Iterator[Row]:
    """Yield how often people give each label, and what each rater has against the others."""
    labels = study.spec.aspects[aspect].labels
    panel, truth = study.systems, truth_of(study, aspect)
    ratings = panel.ratings(aspect)
    gold = truth(ratings)
    source, weights = panel.source, study.weights

    def row(statistic: str, estimate: Estimate, **columns: Unpack[AppliesTo]) -> Row:
        return study.row(HUMAN, split(aspect)[0], statistic, POOLED, estimate, **columns)

    unresolved = int((np.isnan(gold) & np.isfinite(ratings).any(axis=0)).sum())
    if len(ratings) > 1 and not study.spec.aspects[aspect].ordered:
        texts = int(np.isfinite(ratings).any(axis=0).sum())
        yield row("unresolved", Estimate(float(unresolved), n=texts))
    for (name, k), one in by_label(gold, gold, len(labels), source, weights).items():
        if name == "label_share":
            yield row(name, one.estimate.with_note(labels[k]), k=k + 1)
    if len(labels) == 2:
        yield row("base_rate", on_labels(gold, gold, 2, source, weights)["base_rate"].estimate)
    if unrated(study, ratings) or len(ratings) > LARGEST_CEILING:
        return

    if not study.spec.aspects[aspect].ordered:  # else it stands in table agreement
        every = alpha(panel, ratings, study.spec.aspects[aspect].values, NOMINAL)
        yield row(f"alpha_{NOMINAL}", every.estimate)

    def value(x: Floats, y: Floats) -> Mapping[str, Replicated]:
        results = on_labels(y, x, len(labels), source, weights)
        return {name: one for name, one in results.items() if name != "base_rate"}

    for name, ceiling in ceilings(value, ratings, against=truth).items():
        yield row(name, ceiling)


def _judge_rows(study: EvaluationData, panel: TargetSet, judge: str, aspect: str) -> Iterator[Row]:
    scores, ratings = panel.scores(judge, aspect), panel.ratings(aspect)
    if scores is None:
        return
    labels, gold = study.spec.aspects[aspect].labels, truth_of(study, aspect)(ratings)
    mine = labelled(study, panel, judge, aspect, scores, gold)
    if mine.codes is None:
        nothing = Estimate.undefined(mine.note, n_missing=int(np.isnan(scores).sum()))
        yield study.row(judge, aspect, "balanced_accuracy", POOLED, nothing)
        return
    which, q = truth_name(study, aspect), len(labels)
    results = on_labels(gold, mine.codes, q, panel.source, study.weights)
    results.pop("base_rate", None)  # people's
    rated = gold[~(np.isnan(gold) | np.isnan(mine.codes))]
    rate = f"base rate {np.mean(rated == q - 1):.3f}" if q == 2 and rated.size else ""
    for name, one in results.items():
        estimate = against(one, which).estimate.with_note(mine.note)
        estimate = estimate.with_note(rate if name in AT_BASE_RATE else "")
        yield study.row(judge, aspect, name, POOLED, estimate)
    if q > 2:
        each = by_label(gold, mine.codes, q, panel.source, study.weights)
        for (name, k), one in each.items():
            estimate = one.estimate.with_note(labels[k])
            yield study.row(judge, aspect, name, POOLED, estimate, k=k + 1)
    yield from _counts(study, panel, judge, aspect, gold, mine.codes)
    for name, estimate in _as_rater(study, panel, aspect, mine.codes):
        yield study.row(judge, aspect, name, POOLED, estimate)
    if not study.spec.aspects[aspect].ordered:  # else it stands in table agreement
        for (name, level), estimate in replacement(
            study, panel, judge, aspect, mine.codes, ratings
        ):
            yield study.row(judge, aspect, name, level, estimate)
        pair = alpha(
            panel, np.stack([gold, mine.codes]), study.spec.aspects[aspect].values, NOMINAL
        )
        estimate = against(pair, which).estimate.with_note(mine.note)
        yield study.row(judge, aspect, f"alpha_{NOMINAL}", POOLED, estimate)


def _counts(
    study: EvaluationData, panel: TargetSet, judge: str, aspect: str, gold: Floats, codes: Floats
) -> Iterator[Row]:
    """Yield the confusion matrix; zero counts are omitted."""
    labels, both = study.spec.aspects[aspect].labels, ~(np.isnan(gold) | np.isnan(codes))
    classes = [float(k) for k in range(len(labels))]
    sources = int(panel.source.max(initial=0)) + 1
    counts = confusion_counts(gold[both], codes[both], classes, panel.source[both], sources)
    table = counts.sum(axis=0)
    for k, k_b in np.argwhere(table):
        note = f"people: {labels[k]}; judge: {labels[k_b]}"
        count = Estimate(float(table[k, k_b]), n=int(both.sum()), note=note)
        columns: AppliesTo = {"k": int(k) + 1, "k_b": int(k_b) + 1}
        yield study.row(judge, aspect, "class_count", POOLED, count, **columns)


def _as_rater(
    study: EvaluationData, panel: TargetSet, aspect: str, codes: Floats
) -> Iterator[tuple[str, Estimate]]:
    """Yield the agreement of a judge with the other raters' label less that of one more rater."""
    q, truth = len(study.spec.aspects[aspect].labels), truth_of(study, aspect)
    tables = rater_tables(study, panel, aspect)
    if not tables:
        return

    def value(x: Floats, y: Floats) -> Mapping[str, Replicated]:
        results = on_labels(y, x, q, panel.source, study.weights)
        return {name: results[name] for name in AS_RATER}

    for name, one in as_rater(value, codes, tables, against=truth).items():
        note = decided(one.difference, present(study.spec.as_rater).margin)
        yield f"as_rater_{name}", one.difference.estimate.with_note(note)
        yield f"as_rater_share_{name}", one.share


METHOD = Method(
    selectable=True,
    when="labels",
    tables=("comparison",),
    texts=("systems",),
    parts=("alt_test", "as_rater"),
    claims=("claims.agreement.label_claims",),
    controls=True,
    for_labels=True,
    unordered="yes",
)
