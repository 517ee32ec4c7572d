"""How far judges' labels are people's: table labels, for aspects that people rate by
labels alone.

The truth of several raters is their lower median where labels are ordered (unless the
study's key `gold` has another rule), else the label that more than half of them give. A
judge with numbers has labels by the threshold
of its card.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Final, Unpack

import numpy as np

from judgescope.core.cells import DERIVED, split
from judgescope.methods import measures
from judgescope.methods.agreement import below_controls
from judgescope.methods.base import HUMAN, AppliesTo, Method, Row
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import class_rule, no_majority, why_no_classes
from judgescope.methods.measures import (
    LARGEST_CEILING,
    POOLED,
    Measure,
    Named,
    against,
    with_hint_note,
)
from judgescope.statistics.arrays import Floats
from judgescope.statistics.classes import (
    NO_LABEL,
    are_classes,
    by_label,
    confusion_counts,
    cross_fitted,
    on_labels,
    strict_majority,
)
from judgescope.statistics.nulls import dealt
from judgescope.statistics.raters import GOLD, GOLD_NAMES, as_rater, ceilings
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate, clauses

NOMINAL: Final = "nominal"
BEST: Final = "best"
AS_RATER: Final = ("label_accuracy", "balanced_accuracy", "kappa_nominal")
"""Statistics in which a judge is compared with one more rater."""
AT_BASE_RATE: Final = frozenset(
    (
        "label_accuracy",
        "precision",
        "npv",
        "f1",
        "f1_macro",
        "mcc",
        "ac1",
        "kappa_nominal",
    )
)
"""Statistics that another base rate would change: their notes say which one there
is."""
ABOVE_CONTROLS: Final = frozenset(
    (
        "label_accuracy",
        "f1",
        "f1_macro",
        "balanced_accuracy",
        "mcc",
        "ac1",
        "kappa_nominal",
    )
)
"""Statistics that no control has for nothing: one that passes all texts finds all
positive ones."""
NO_VOTES: Final = (
    "the mean of the members' scores is not a label: name members that give labels"
)
NO_LABELS: Final = "the judge gives numbers: set `threshold` in its card"
NO_TWO_LABELS: Final = "a threshold is for two labels"
OFF_LABELS: Final = "scores that are not labels"
UNREAD_LABEL: Final = "unread"
"""The column of the confusion matrix for verdicts that were not read."""


def label_aspects(study: EvaluationData) -> list[str]:
    """Return the aspects that people rate by labels alone."""
    return [
        name
        for name, scale in study.spec.aspects.items()
        if scale.labels and len(study.systems.ratings(name))
    ]


def truth_of(study: EvaluationData, aspect: str) -> Callable[[Floats], Floats]:
    """Return the function from ratings (raters, texts) to the true label of each text,
    (texts,).
    """
    scale = study.spec.aspects[aspect]
    return (
        GOLD[class_rule(study)]
        if scale.ordered
        else partial(strict_majority, labels=len(scale.labels))
    )


def truth_name(study: EvaluationData, aspect: str) -> str:
    """Return what the truth of several raters is called."""
    if study.spec.aspects[aspect].ordered:
        return GOLD_NAMES[class_rule(study)]
    return "strict majority"


def labelled(
    panel: TargetSet, judge: str, aspect: str, scores: Floats, gold: Floats
) -> tuple[Floats | None, str]:
    """Return the labels that a judge's scores are, by the threshold of its card if it
    has one.

    (texts,), NaN = missing, and a note; None: there are none, or none to compare with,
    as the note says. The control length has people's labels, dealt out in the order of
    length (`dealt`). NO_LABEL is a verdict that was not read and counts as wrong
    (`unread: wrong`).
    """
    scale = panel.study.spec.aspects[aspect]
    if scale.ordered and (why := why_no_classes(panel.study, gold, scale.values or [])):
        return None, why
    codes, note = _labels_of(panel, judge, aspect, scores, gold)
    wrong = panel.counts_as_wrong(judge, aspect)
    if codes is None or not wrong.any():
        return codes, note
    unread = f"unread: {wrong.sum()} count as wrong"
    return np.where(wrong, NO_LABEL, codes), clauses(note, unread)


def _labels_of(
    panel: TargetSet, judge: str, aspect: str, scores: Floats, gold: Floats
) -> tuple[Floats | None, str]:
    """Return the labels that were read, and a note; None: the judge has none."""
    card, scale = panel.study.spec.judges[judge], panel.study.spec.aspects[aspect]
    if card.engine == "control" and card.form == "length":
        order = np.where(np.isnan(scores), 0.0, scores)
        codes = np.where(np.isnan(scores), np.nan, dealt(gold, order, panel.source))
        return codes, "people's labels, in the order of the texts' length"
    if card.threshold is not None:
        if len(scale.labels) != 2:
            return None, NO_TWO_LABELS
        if card.threshold != BEST:
            codes = np.where(np.isnan(scores), np.nan, scores >= card.threshold)
            return codes, f"threshold {card.threshold:g}"
        codes, chosen = cross_fitted(gold, scores, panel.source)
        ends = f"{chosen.min():.4g} to {chosen.max():.4g}" if chosen.size else "none"
        return codes, f"threshold chosen leaving each source out: {ends}"
    if card.grid[aspect] != scale.values or card.weighted:
        return None, NO_VOTES if card.engine == DERIVED else NO_LABELS
    if not are_classes(scores, scale.values or []):
        return None, OFF_LABELS
    return scores, ""


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of labels.csv: people first, then every judge with scores."""
    aspects = label_aspects(study)
    for aspect in {split(name)[0]: name for name in aspects}.values():
        yield from _people_rows(study, aspect)
    judged: list[Row] = []
    for judge in study.spec.judges:
        for panel, aspect in product(study.rated(judge), aspects):
            judged += _judge_rows(panel, judge, aspect)
    hurdles = [row for row in judged if row["statistic"] in ABOVE_CONTROLS]
    others = [row for row in judged if row["statistic"] not in ABOVE_CONTROLS]
    for row in (*below_controls(study, hurdles), *others):
        yield with_hint_note(study, row)


def _people_rows(study: EvaluationData, aspect: str) -> Iterator[Row]:
    """Yield how often people give each label, and what each rater has against the
    others.
    """
    scale, panel, truth = (
        study.spec.aspects[aspect],
        study.systems,
        truth_of(study, aspect),
    )
    labels, ratings = scale.labels, panel.ratings(aspect)
    gold = truth(ratings)
    source, weights = panel.source, study.weights

    def row(statistic: str, estimate: Estimate, **columns: Unpack[AppliesTo]) -> Row:
        return study.row(
            HUMAN, split(aspect)[0], statistic, POOLED, estimate, **columns
        )

    if scale.ordered and (why := why_no_classes(study, gold, scale.values or [])):
        yield row("label_share", Estimate.undefined(why, n=gold.size))
        return

    if len(ratings) > 1 and not scale.ordered:
        rated = np.isfinite(ratings).any(axis=0)
        unresolved = Estimate(float((np.isnan(gold) & rated).sum()), n=int(rated.sum()))
        yield row("unresolved", unresolved)
    for (name, k), one in by_label(gold, gold, len(labels), source, weights).items():
        if name == "label_share":
            yield row(name, one.estimate.with_note(labels[k]), k=k + 1)
    if len(labels) == 2:
        yield row(
            "base_rate", on_labels(gold, gold, 2, source, weights)["base_rate"].estimate
        )
    if measures.unrated(study, ratings) or len(ratings) > LARGEST_CEILING:
        return

    if not scale.ordered:  # else it stands in table agreement
        every = measures.alpha(panel, ratings, scale.values, NOMINAL)
        yield row(f"alpha_{NOMINAL}", every.estimate)

    def value(x: Floats, y: Floats) -> Mapping[str, Replicated]:
        why = why_no_classes(study, y, scale.values or []) if scale.ordered else ""
        others = y * np.nan if why else y
        results = on_labels(others, x, len(labels), source, weights)
        if why:
            results = dict.fromkeys(results, study.undefined(why))
        return {name: one for name, one in results.items() if name != "base_rate"}

    for name, ceiling in ceilings(value, ratings, against=truth).items():
        yield row(name, ceiling)


def _judge_rows(panel: TargetSet, judge: str, aspect: str) -> Iterator[Row]:
    study, scores, ratings = (
        panel.study,
        panel.scores(judge, aspect),
        panel.ratings(aspect),
    )
    if scores is None:
        return
    scale, gold = study.spec.aspects[aspect], truth_of(study, aspect)(ratings)
    codes, note = labelled(panel, judge, aspect, scores, gold)
    if codes is None:
        nothing = Estimate.undefined(note, n_missing=int(np.isnan(scores).sum()))
        yield panel.row(judge, aspect, "balanced_accuracy", POOLED, nothing)
        return
    labels, which, q = scale.labels, truth_name(study, aspect), len(scale.labels)
    results = on_labels(gold, codes, q, panel.source, study.weights)
    results.pop("base_rate", None)  # people's
    both = ~(np.isnan(gold) | np.isnan(codes))
    rated = gold[both]
    rate = f"base rate {np.mean(rated == q - 1):.3f}" if q == 2 and rated.size else ""
    if scale.ordered and class_rule(study) == "majority_else_mean":
        note = clauses(note, no_majority(ratings))
    for name, one in results.items():
        estimate = against(one, which).estimate.with_note(note)
        estimate = estimate.with_note(rate if name in AT_BASE_RATE else "")
        yield panel.row(judge, aspect, name, POOLED, estimate)
    if q > 2:
        each = by_label(gold, codes, q, panel.source, study.weights)
        for (name, k), one in each.items():
            estimate = one.estimate.with_note(labels[k])
            yield panel.row(judge, aspect, name, POOLED, estimate, k=k + 1)
    answers = [*labels, UNREAD_LABEL]
    classes = [*map(float, range(q)), NO_LABEL]
    one_source = np.zeros(rated.size, dtype=np.int64)
    table = confusion_counts(rated, codes[both], classes, one_source, 1)[0]
    for k, k_b in np.argwhere(table).tolist():
        pair = f"people: {labels[k]}; judge: {answers[k_b]}"
        count = Estimate(float(table[k, k_b]), n=rated.size, note=pair)
        yield panel.row(
            judge, aspect, "class_count", POOLED, count, k=k + 1, k_b=k_b + 1
        )
    estimates = [*_as_rater(panel, aspect, codes)]
    if not scale.ordered:  # else it stands in table agreement
        estimates += measures.replacement(panel, judge, aspect, codes, ratings)
        domain = classes if (codes == NO_LABEL).any() else scale.values
        nominal = against(
            measures.alpha(panel, np.stack([gold, codes]), domain, NOMINAL), which
        )
        estimates.append(
            ((f"alpha_{NOMINAL}", POOLED), nominal.estimate.with_note(note))
        )
    for measure, estimate in estimates:
        yield panel.row(judge, aspect, *measure, estimate)


def _as_rater(panel: TargetSet, aspect: str, codes: Floats) -> Named:
    """Yield the agreement of a judge with every other rater less that of one more
    rater.
    """
    study, tables = panel.study, measures.rater_tables(panel, aspect)
    q = len(study.spec.aspects[aspect].labels)

    def value(x: Floats, y: Floats) -> Mapping[Measure, Replicated]:
        results = on_labels(y, x, q, panel.source, study.weights)
        return {(name, POOLED): results[name] for name in AS_RATER}

    if tables:
        results = as_rater(value, codes, tables, against="each")
        yield from measures.decided_beside_raters(study, results)


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
