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
from judgescope.methods.base import HUMAN, Method
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import class_rule, no_majority, why_no_classes
from judgescope.methods.measures import (
    LARGEST_CEILING,
    POOLED,
    LevelStatistic,
    NamedEstimates,
    against,
    with_hint_note,
)
from judgescope.schema.rows import AppliesTo, ResultRow
from judgescope.statistics.arrays import Floats
from judgescope.statistics.classes import are_classes, confusion_counts
from judgescope.statistics.labels import (
    NO_LABEL,
    by_label,
    cross_fitted,
    on_labels,
    strict_majority,
)
from judgescope.statistics.nulls import dealt
from judgescope.statistics.raters import GOLD, GOLD_NAMES, as_rater, ceilings
from judgescope.statistics.registry import names_of_group, statistic
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate, clauses

NOMINAL: Final = "nominal"
UNREAD_LABEL: Final = "unread"
"""The column of the confusion matrix for verdicts that were not read."""
NO_VOTES: Final = (
    "the mean of the members' scores is not a label: name members that give labels"
)


def label_aspects(data: EvaluationData) -> list[str]:
    """Return the aspects that people rate by labels alone."""
    labelled_aspects = []
    for name, scale in data.spec.aspects.items():
        if scale.labels:
            labelled_aspects.append(name)
    return [name for name in labelled_aspects if len(data.systems.ratings(name))]


def truth_of(data: EvaluationData, aspect: str) -> Callable[[Floats], Floats]:
    """Return the function from ratings (raters, texts) to the true label of each text,
    (texts,).
    """
    scale = data.spec.aspects[aspect]
    if scale.ordered:
        return GOLD[class_rule(data)]
    return partial(strict_majority, labels=len(scale.labels))


def truth_name(data: EvaluationData, aspect: str) -> str:
    """Return what the truth of several raters is called."""
    if data.spec.aspects[aspect].ordered:
        return GOLD_NAMES[class_rule(data)]
    return "strict majority"


def labelled(
    targets: TargetSet, judge: str, aspect: str, scores: Floats, gold: Floats
) -> tuple[Floats | None, str]:
    """Return the labels that a judge's scores are, by the threshold of its card if it
    has one.

    (texts,), NaN = missing, and a note; None: there are none, or none to compare with,
    as the note says. The control length has people's labels, dealt out in the order of
    length (`dealt`). NO_LABEL is a verdict that was not read and counts as wrong
    (`unread: wrong`).
    """
    scale = targets.study.spec.aspects[aspect]
    if scale.ordered and (
        why := why_no_classes(targets.study, gold, scale.values or [])
    ):
        return None, why
    codes, note = _labels_of(targets, judge, aspect, scores, gold)
    wrong = targets.counts_as_wrong(judge, aspect)
    if codes is None or not wrong.any():
        return codes, note
    unread = f"unread: {wrong.sum()} count as wrong"
    return np.where(wrong, NO_LABEL, codes), clauses(note, unread)


def _labels_of(
    targets: TargetSet, judge: str, aspect: str, scores: Floats, gold: Floats
) -> tuple[Floats | None, str]:
    """Return the labels that were read, and a note; None: the judge has none."""
    card = targets.study.spec.judges[judge]
    scale = targets.study.spec.aspects[aspect]
    if card.engine == "control" and card.form == "length":
        order = np.where(np.isnan(scores), 0.0, scores)
        codes = np.where(np.isnan(scores), np.nan, dealt(gold, order, targets.source))
        return codes, "people's labels, in the order of the texts' length"
    if card.threshold is not None:
        if len(scale.labels) != 2:
            return None, "a threshold is for two labels"
        if card.threshold != "best":
            codes = np.where(np.isnan(scores), np.nan, scores >= card.threshold)
            return codes, f"threshold {card.threshold:g}"
        codes, chosen = cross_fitted(gold, scores, targets.source)
        ends = "none"
        if chosen.size:
            ends = f"{chosen.min():.4g} to {chosen.max():.4g}"
        return codes, f"threshold chosen leaving each source out: {ends}"
    # A decision between labels is a label; only those between numbers are means.
    weighted = card.weighted and card.engine != "systemone"
    if card.grid[aspect] != scale.values or weighted:
        if card.engine == DERIVED:
            return None, NO_VOTES
        return None, "the judge gives numbers: set `threshold` in its card"
    if not are_classes(scores, scale.values or []):
        return None, "scores that are not labels"
    return scores, ""


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of labels.csv: people first, then every judge with scores."""
    aspects = label_aspects(data)
    for aspect in {split(name)[0]: name for name in aspects}.values():
        yield from _people_rows(data, aspect)
    judged: list[ResultRow] = []
    for judge in data.spec.judges:
        for targets, aspect in product(data.rated(judge), aspects):
            judged += _judge_rows(targets, judge, aspect)
    hurdles: list[ResultRow] = []
    others: list[ResultRow] = []
    for row in judged:
        if statistic(row["statistic"]).beats_controls:
            hurdles.append(row)
        else:
            others.append(row)
    for row in (*below_controls(data, hurdles), *others):
        yield with_hint_note(data, row)


def _people_rows(data: EvaluationData, aspect: str) -> Iterator[ResultRow]:
    """Yield how often people give each label, and what each rater has against the
    others.
    """
    scale = data.spec.aspects[aspect]
    targets = data.systems
    truth = truth_of(data, aspect)
    labels = scale.labels
    ratings = targets.ratings(aspect)
    gold = truth(ratings)
    source = targets.source
    weights = data.weights

    def row(
        statistic: str, estimate: Estimate, **columns: Unpack[AppliesTo]
    ) -> ResultRow:
        return data.row(HUMAN, split(aspect)[0], statistic, POOLED, estimate, **columns)

    if scale.ordered and (why := why_no_classes(data, gold, scale.values or [])):
        yield row("label_share", Estimate.undefined(why, n=gold.size))
        return

    if len(ratings) > 1 and not scale.ordered:
        rated = np.isfinite(ratings).any(axis=0)
        unresolved = Estimate(float((np.isnan(gold) & rated).sum()), n=int(rated.sum()))
        yield row("unresolved", unresolved)
    of_labels = by_label(gold, gold, len(labels), source, weights)
    for (name, k), share in of_labels.items():
        if name == "label_share":
            yield row(name, share.estimate.with_note(labels[k]), k=k + 1)
    if len(labels) == 2:
        base_rate = on_labels(gold, gold, 2, source, weights)["base_rate"]
        yield row("base_rate", base_rate.estimate)
    if measures.unrated(data, ratings) or len(ratings) > LARGEST_CEILING:
        return

    if not scale.ordered:  # else it stands in table agreement
        every = measures.alpha(targets, ratings, scale.values, NOMINAL)
        yield row(f"alpha_{NOMINAL}", every.estimate)

    def value(x: Floats, y: Floats) -> Mapping[str, Replicated]:
        why = ""
        if scale.ordered:
            why = why_no_classes(data, y, scale.values or [])
        others = y * np.nan if why else y
        results = on_labels(others, x, len(labels), source, weights)
        if why:
            results = dict.fromkeys(results, data.undefined(why))
        return {name: x for name, x in results.items() if name != "base_rate"}

    for name, ceiling in ceilings(value, ratings, against=truth).items():
        yield row(name, ceiling)


def _judge_rows(targets: TargetSet, judge: str, aspect: str) -> Iterator[ResultRow]:
    study = targets.study
    scores = targets.scores(judge, aspect)
    ratings = targets.ratings(aspect)
    if scores is None:
        return
    scale = study.spec.aspects[aspect]
    gold = truth_of(study, aspect)(ratings)
    codes, note = labelled(targets, judge, aspect, scores, gold)
    if codes is None:
        nothing = Estimate.undefined(note, n_missing=int(np.isnan(scores).sum()))
        yield targets.row(judge, aspect, "balanced_accuracy", POOLED, nothing)
        return
    labels = scale.labels
    which = truth_name(study, aspect)
    q = len(scale.labels)
    results = on_labels(gold, codes, q, targets.source, study.weights)
    results.pop("base_rate", None)  # people's
    both = ~(np.isnan(gold) | np.isnan(codes))
    rated = gold[both]
    rate = ""
    if q == 2 and rated.size:
        rate = f"base rate {np.mean(rated == q - 1):.3f}"
    if scale.ordered and class_rule(study) == "majority_else_mean":
        note = clauses(note, no_majority(ratings))
    for name, result in results.items():
        estimate = against(result, which).estimate.with_note(note)
        estimate = estimate.with_note(rate if statistic(name).at_base_rate else "")
        yield targets.row(judge, aspect, name, POOLED, estimate)
    if q > 2:
        of_labels = by_label(gold, codes, q, targets.source, study.weights)
        for (name, k), result in of_labels.items():
            estimate = result.estimate.with_note(labels[k])
            yield targets.row(judge, aspect, name, POOLED, estimate, k=k + 1)
    yield from _count_rows(targets, judge, aspect, rated, codes[both])
    estimates = [*_as_rater(targets, aspect, codes)]
    if not scale.ordered:  # else it stands in table agreement
        classes = [*map(float, range(q)), NO_LABEL]
        estimates += measures.replacement(targets, judge, aspect, codes, ratings)
        domain = classes if (codes == NO_LABEL).any() else scale.values
        alpha = measures.alpha(targets, np.stack([gold, codes]), domain, NOMINAL)
        nominal = against(alpha, which).estimate.with_note(note)
        estimates.append(((f"alpha_{NOMINAL}", POOLED), nominal))
    for measure, estimate in estimates:
        yield targets.row(judge, aspect, *measure, estimate)


def _count_rows(
    targets: TargetSet, judge: str, aspect: str, gold: Floats, codes: Floats
) -> Iterator[ResultRow]:
    """Yield how often each label of people and answer of the judge occur together."""
    labels = targets.study.spec.aspects[aspect].labels
    answers = [*labels, UNREAD_LABEL]
    classes = [*map(float, range(len(labels))), NO_LABEL]
    one_source = np.zeros(gold.size, dtype=np.int64)
    table = confusion_counts(gold, codes, classes, one_source, 1)[0]
    for k, k_b in np.argwhere(table).tolist():
        pair = f"people: {labels[k]}; judge: {answers[k_b]}"
        count = Estimate(float(table[k, k_b]), n=gold.size, note=pair)
        yield targets.row(
            judge, aspect, "class_count", POOLED, count, k=k + 1, k_b=k_b + 1
        )


def _as_rater(targets: TargetSet, aspect: str, codes: Floats) -> NamedEstimates:
    """Yield the agreement of a judge with every other rater less that of one more
    rater.
    """
    study = targets.study
    tables = measures.rater_tables(targets, aspect)
    q = len(study.spec.aspects[aspect].labels)

    def value(x: Floats, y: Floats) -> Mapping[LevelStatistic, Replicated]:
        results = on_labels(y, x, q, targets.source, study.weights)
        compared = names_of_group("labels", as_rater=True)
        return {(name, POOLED): results[name] for name in compared}

    if tables:
        results = as_rater(value, codes, tables, against="each")
        yield from measures.decided_beside_raters(study, results)


METHOD = Method(
    name="labels",
    rows=rows,
    selectable=True,
    when="labels",
    tables=("comparison",),
    texts=("systems",),
    parts=("alt_test", "as_rater"),
    controls=True,
    for_labels=True,
    unordered="yes",
)
