"""Agreement on classes: weighted kappas and CEM-ORD of ratings; shares and kappas of
labels.

Classes are values of an ordered scale. Labels, such as fail and pass, are codes 0 to q
- 1, ordered or not; of two the last, 1, is the positive one.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, Weights, dot, quotient
from judgescope.statistics.declared import (
    agreement,
    correlation,
    declare,
    percent,
    scale_of,
)
from judgescope.statistics.intervals import NO_INTERVAL, SLACK, Scale
from judgescope.statistics.means import SHARE, clustered_mean
from judgescope.statistics.resampling import (
    Replicated,
    Sample,
    deleted_counts,
    replicated,
)
from judgescope.statistics.result import (
    FEW_PAIRS,
    LABEL_NOT_GIVEN,
    LABEL_NOT_USED,
    NO_VARIATION,
    NOTHING,
    ONE_LABEL,
)

ORDER: Final = 2
UNIT: Final = Scale("plain", *SHARE)
beyond_chance = partial(correlation, scaled=Scale("plain", -1.0, 1.0))
DECLARED: Final = declare(
    kappa_linear=agreement(
        "Linear κ", "agreement on ratings beyond chance", "Cohen 1968; Hu et al. 2025"
    ),
    kappa_quadratic=agreement(
        "Quadratic κ", "as linear κ, but larger errors weigh more", "Cohen 1968"
    ),
    cem_ord=correlation(
        "CEM-ORD",
        "closeness of classes; rare classes weigh more",
        "Amigó et al. 2020",
        range="from the floor in the note to 1",
        scaled=Scale("plain", 0.0, 1.0),
    ),
    tpr=percent(
        "TPR", "share of positive texts (last label, by people) labelled positive"
    ),
    tnr=percent("TNR", "share of negative texts (by people) labelled negative"),
    precision=percent(
        "Precision", "share of texts labelled positive that are positive"
    ),
    npv=percent("NPV", "share of texts labelled negative that are negative"),
    label_accuracy=percent(
        "Accuracy", "share of texts with the same label by judge and people"
    ),
    base_rate=percent("Base rate", "share of positive texts, by people"),
    label_recall=percent("Recall", "share of texts of label k (by people) labelled k"),
    label_precision=percent(
        "Precision", "share of texts labelled k that people label k"
    ),
    label_share=percent("Share", "share of texts that people label k"),
    f1=percent(
        "F1",
        "of the positive label; with more than two labels, the mean over those that "
        "people use",
        "van Rijsbergen 1979",
        scaled=UNIT,
    ),
    f1_macro=percent(
        "Macro F1",
        "mean F1 of the labels that people or the judge use",
        "Sokolova, Lapalme 2009",
        scaled=UNIT,
    ),
    balanced_accuracy=percent(
        "Balanced accuracy",
        "mean recall of the labels that people use",
        "Brodersen et al. 2010",
    ),
    mcc=beyond_chance(
        "MCC",
        "correlation of the judge's labels with people's",
        "Matthews 1975; Gorodkin 2004",
    ),
    ac1=beyond_chance("Gwet's AC1", "agreement on labels beyond chance", "Gwet 2008"),
    kappa_nominal=beyond_chance(
        "Cohen's κ", "agreement on labels beyond chance", "Cohen 1960"
    ),
)


ROUND_OFF: Final = 1e-9
"""A value this near to a class belongs to it: tenths are not exact."""
CEM_ORD: Final = "cem_ord"
ON_CLASSES: Final = ("kappa_linear", "kappa_quadratic", CEM_ORD)


def on_classes(
    gold: Floats,
    predicted: Floats,
    classes: Sequence[float],
    source: Codes,
    weights: Weights,
) -> dict[str, Replicated]:
    """Return kappa_linear, kappa_quadratic and cem_ord, all from one table of counts
    per source.

    kappa = 1 - sum d O / sum d E, where O are the counts of (gold, predicted) pairs, E
    those expected from the margins alone, and d is |i - j| or (i - j)² of the places i,
    j in `classes`; up to 1, 0 = chance (Cohen 1968; Hu et al. 2025, global view).
    CEM-ORD = sum prox(p, g) / sum prox(g, g), prox(p, g) = -log2 of the share of gold
    that lies from p to g, that of p counted half; from `cem_floor` to 1 (Amigó et al.
    2020; printed by the code of Hu et al. 2025).

    gold and predicted (targets,), NaN = missing: a target without both counts in
    `n_missing`; classes: the whole ordered scale, used or not, since a class left out
    moves its neighbours together; source (targets,) and weights (resamples, sources) as
    in `correlations`. `n` counts pairs; `n_tied` stays 0: equal classes are agreement
    here, not ties. Undefined below 2 pairs; kappa also where both are constant in the
    same class. ValueError for other values.
    """
    complete = ~(np.isnan(gold) | np.isnan(predicted))
    sample = Sample.select(complete, source, weights)
    people, judge, n_sources = gold[complete], predicted[complete], sample.rows.shape[1]
    counts = confusion_counts(people, judge, classes, sample.source, n_sources)
    if sample.source.size < 2:
        return dict.fromkeys(ON_CLASSES, sample.undefined(FEW_PAIRS))
    tables = dot(sample.rows, counts)
    of_gold = tables.sum(axis=2)
    proximity = _proximity(of_gold)
    reached = np.sum(tables * np.swapaxes(proximity, 1, 2), axis=(1, 2))
    whole = np.sum(of_gold * np.einsum("rkk->rk", proximity), axis=1)
    values = (kappas(tables), kappas(tables, power=2), quotient(reached, whole))
    by_name = {
        name: sample.result(name, own, NO_VARIATION)
        for name, own in zip(ON_CLASSES, values, strict=True)
    }
    by_name[CEM_ORD] = by_name[CEM_ORD].with_note(
        f"floor {cem_floor(people, classes):.3f}"
    )
    return by_name


def cem_floor(gold: Floats, classes: Sequence[float]) -> float:
    """Return the least CEM-ORD that any classes given to these gold ones can reach.

    The sum falls apart by gold class, so each takes the class of least proximity. gold
    (targets,), NaN = missing, at least one given. Range [0, 1].
    """
    counts = np.bincount(
        class_codes(gold[~np.isnan(gold)], classes), minlength=len(classes)
    )
    proximity = _proximity(counts[None].astype(np.float64))[0]
    used = counts > 0
    result = dot(counts[used], proximity.min(axis=0)[used])
    return float(result / dot(counts[used], np.diag(proximity)[used]))


def confusion_counts(
    gold: Floats,
    predicted: Floats,
    classes: Sequence[float],
    source: Codes,
    n_sources: int,
) -> Codes:
    """Return how often each source has each (gold, predicted) pair: (sources, classes,
    classes).

    gold, predicted and source (targets,), nothing missing. ValueError for other values.
    """
    k = len(classes)
    cell = class_codes(gold, classes) * k + class_codes(predicted, classes)
    counts = np.bincount(source * k * k + cell, minlength=n_sources * k * k)
    return counts.reshape(n_sources, k, k)


def class_codes(values: Floats, classes: Sequence[float]) -> Codes:
    """Return the place of each value (n,) in `classes`; ValueError names one that is
    not there.
    """
    result, wrong = _places(values, classes)
    if wrong.any():
        raise ValueError(f"value {values[wrong][0]:g} is not one of {list(classes)}")
    return result


def equal_width(
    values: Floats, scale: Sequence[float], classes: Sequence[float]
) -> Floats:
    """Return the class of each value of another scale: number floor((i + 1/2) K / L),
    from 0.

    i is the place of the value among the L values of its scale, K the number of
    classes; both in ascending order. values (targets,), NaN stays; 1 to 10 on classes 1
    to 5 are 1, 1, 2, 2, …, 5. A scale of as many values keeps every place. ValueError
    for a value that is not on the scale. (Hu et al. 2025, appendix A.4): other scales
    are rescaled uniformly.
    """
    complete = ~np.isnan(values)
    place = class_codes(values[complete], sorted(scale))
    classes_of = np.full(values.shape, np.nan)
    classes_of[complete] = np.sort(classes)[
        (2 * place + 1) * len(classes) // (2 * len(scale))
    ]
    return classes_of


def are_classes(values: Floats, classes: Sequence[float]) -> bool:
    """Return whether every value is one of `classes`; NaN is passed over."""
    return not _places(values[~np.isnan(values)], classes)[1].any()


def _places(values: Floats, classes: Sequence[float]) -> tuple[Codes, Flags]:
    scale = np.asarray(classes, dtype=np.float64)
    order = np.argsort(scale)
    near = np.searchsorted(scale[order], values - ROUND_OFF).clip(max=scale.size - 1)
    return order[near], np.abs(scale[order[near]] - values) > ROUND_OFF


def kappas(counts: Floats, *, power: int = 1) -> Floats:
    """Return kappa of each table of gold by predicted: (rows, k, k) -> (rows,).

    1 - sum d O / sum d E as in `on_classes`, d the distance of two classes to the
    `power` 1 (linear), 2 (quadratic; Cohen 1968) or 0 (1 for any two classes; Cohen
    1960). NaN where no disagreement is expected. Up to the last division all numbers
    are whole, so no round-off hides a zero.
    """
    place = np.arange(counts.shape[1])
    steps = np.abs(place[:, None] - place)
    distance = steps**power * (steps > 0)
    observed = np.einsum("rij,ij->r", counts, distance) * counts.sum(axis=(1, 2))
    expected = np.einsum(
        "ri,ij,rj->r", counts.sum(axis=2), distance, counts.sum(axis=1)
    )
    return np.asarray(
        1 - quotient(observed, expected)
    )  # NaN: nothing expected, nothing observed


def _proximity(gold: Floats) -> Floats:
    """Return prox(p, g) of each row of gold counts: (rows, k) -> (rows, k, k).

    It is 0 where nothing lies from p to g: g is a class without gold, and nothing is
    weighed by it.
    """
    upto = np.cumsum(gold, axis=1)
    above = upto[:, None, :] - upto[:, :, None]  # gold after p up to g
    below = (upto - gold)[:, :, None] - (upto - gold)[:, None, :]
    between = np.where(np.tri(gold.shape[1], k=-1, dtype=bool), below, above)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (gold[:, :, None] / 2 + between) / gold.sum(axis=1)[:, None, None]
        return np.where(share > 0, -np.log2(share), 0.0)


# --- labels ---------------------------------------------------------------------------


TOGETHER: Final = (
    "f1",
    "f1_macro",
    "balanced_accuracy",
    "mcc",
    "ac1",
    "kappa_nominal",
)
"""The statistics that rest on all labels."""
NO_LABEL: Final = -1.0
"""The code of a judge's verdict that differs from every label."""
FEWEST_CASES: Final = 5
"""Where people or the judge give a label to fewer texts, only single shares have an
interval."""


def on_labels(
    gold: Floats, predicted: Floats, labels: int, source: Codes, weights: Weights
) -> dict[str, Replicated]:
    """Return the statistics of the judge's labels with people's, by name.

    With c_ij the texts that people label i and the judge j, g_i and h_j the margins, n
    the sum: tpr = c_11/g_1, tnr = c_00/g_0, precision = c_11/h_1, npv = c_00/h_0 and
    base_rate = g_1/n, of two labels only (of more: `by_label`); label_accuracy = sum
    c_ii/n. These are proportions, with Clopper-Pearson at the effective cases of their
    denominator, which `n` counts.

    f1 = 2 c_11/(g_1 + h_1) and balanced_accuracy = (tpr + tnr)/2; of more than two
    labels the means of 2 c_ii/(g_i + h_i) and of c_ii/g_i over the labels that people
    use. f1_macro is the mean of 2 c_ii/(g_i + h_i) over the labels that people or the
    judge use, of two labels, too. mcc = (n sum c_ii - sum g_i h_i)/sqrt((n² - sum
    g²)(n² - sum h²)) (Gorodkin 2004). kappa_nominal = 1 - (1 - p)/(1 - sum g_i h_i/n²),
    p that share (Cohen 1960). ac1 = (p - e)/(1 - e), e = sum π_i (1 - π_i)/(q - 1), π_i
    = (g_i + h_i)/2n, over all q labels (Gwet 2008). These have a jackknife-t, cut to
    the range; none where people or the judge give a label in use to fewer than
    FEWEST_CASES texts. Where no deletion changes the value, it is the bound on as many
    equal sources as hold the rarest label. balanced_accuracy has the limits of a
    proportion, of q times the texts of people's rarest label (at least FEWEST_CASES):
    of a good judge with few negatives the jackknife held the truth in .68 to .82 of
    studies (benchmarks/labels.py).

    gold, predicted (texts,): codes of labels, NaN = missing; a text without both counts
    in `n_missing`. NO_LABEL in `predicted` never is a hit and in the denominator of
    people's labels: a further column of the table, of which there is no F1. labels: q;
    source (texts,); weights: `deletions`, or None for no interval. Undefined without a
    denominator; mcc also where a side has one label, kappa_nominal where both have the
    same one, and balanced_accuracy where people use one of two. ValueError for fewer
    than two labels, and for a code that is not a label.
    """
    one = _Labelled(gold, predicted, labels, source, weights)
    people, judge, right = one.people, one.judge, one.people == one.judge
    results = {"label_accuracy": one.share(right, right | True, NOTHING)}
    if labels == 2:
        results |= {
            "tpr": one.share(right, people == 1, LABEL_NOT_GIVEN),
            "tnr": one.share(right, people == 0, LABEL_NOT_GIVEN),
            "precision": one.share(right, judge == 1, LABEL_NOT_USED),
            "npv": one.share(right, judge == 0, LABEL_NOT_USED),
            "base_rate": one.share(people == 1, right | True, NOTHING),
        }
    return results | one.smooth()


def by_label(
    gold: Floats, predicted: Floats, labels: int, source: Codes, weights: Weights
) -> dict[tuple[str, int], Replicated]:
    """Return c_kk/g_k, c_kk/h_k and g_k/n of each label k, as label_recall, _precision,
    _share.

    Arguments, intervals and what is undefined as in `on_labels`.
    """
    one = _Labelled(gold, predicted, labels, source, weights)
    right = one.people == one.judge
    results = {}
    for k in range(labels):
        given, used = one.people == k, one.judge == k
        results["label_recall", k] = one.share(right, given, LABEL_NOT_GIVEN)
        results["label_precision", k] = one.share(right, used, LABEL_NOT_USED)
        results["label_share", k] = one.share(given, given | True, NOTHING)
    return results


def balanced_accuracies(gold: Floats, predicted: Floats, labels: int) -> Floats:
    """Return balanced_accuracy, as `on_labels`, of each row of a judge's labels.

    gold (texts,), nothing missing; predicted (rows, texts), NaN = missing; shape
    (rows,). NaN where a row has no text of a label that people use, or people use one
    of two.
    """
    used = range(labels) if labels == 2 else np.unique(gold).astype(np.int64).tolist()
    given, right = ~np.isnan(predicted), predicted == gold
    recalls = [
        quotient(right[:, gold == k].sum(axis=1), given[:, gold == k].sum(axis=1))
        for k in used
    ]
    return np.asarray(np.mean(recalls, axis=0))


def balanced_accuracy_over_resamples(
    gold: Floats, predicted: Floats, labels: int, source: Codes, weights: Codes
) -> Floats:
    """balanced_accuracy of all sources, then of every resample: (1 + resamples,).

    gold, predicted (texts,): codes of labels, NaN = missing; source (texts,); weights
    (resamples, sources), how often each source is drawn. NaN where a label that people
    use (of two: either label) has no text.

    >>> gold, judge = np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])
    >>> draws = np.array([[2, 0], [0, 2]])
    >>> source = np.array([0, 0, 1, 1])
    >>> balanced_accuracy_over_resamples(gold, judge, 2, source, draws)
    array([0.75, 1.  , 0.5 ])
    """
    complete = ~(np.isnan(gold) | np.isnan(predicted))
    people, judge = gold[complete], predicted[complete]
    sample = Sample.select(complete, source, weights)
    used = range(labels) if labels == 2 else np.unique(people).astype(np.int64).tolist()
    if not people.size:
        return np.full(len(sample.rows), np.nan)
    recalls = []
    for k in used:
        texts, right = sample.sums(people == k, (people == k) & (judge == k))
        recalls.append(quotient(right, texts))
    return np.asarray(np.mean(recalls, axis=0))


def strict_majority(votes: Floats, labels: int) -> Floats:
    """Return the label that more than half of a text's votes name, NaN where there is
    none.

    votes (voters, texts): codes, NaN = missing; shape (texts,). A text with votes and
    no majority is unresolved: what uses the result counts it among the missing.
    ValueError for an unknown code.
    """
    given = np.isfinite(votes)
    if not np.isin(votes[given], np.arange(labels)).all():
        raise ValueError(f"a vote is none of {labels} labels")
    counts = np.stack([(votes == k).sum(axis=0) for k in range(labels)])
    return np.where(
        2 * counts.max(axis=0) > given.sum(axis=0), counts.argmax(axis=0), np.nan
    )


class _Labelled:
    """The texts that both sides label, and the statistics of their counts; as
    `on_labels`.
    """

    def __init__(
        self,
        gold: Floats,
        predicted: Floats,
        labels: int,
        source: Codes,
        weights: Weights,
    ) -> None:
        """Take the texts that have both labels."""
        if labels < 2:
            raise ValueError(f"{labels} labels: a judge chooses among two or more")
        complete = ~(np.isnan(gold) | np.isnan(predicted))
        self.people, self.judge, self.weights = (
            gold[complete],
            predicted[complete],
            weights,
        )
        self.sample = Sample.select(complete, source, weights)
        self.labels, sources = labels, self.sample.rows.shape[1]
        codes = [float(k) for k in range(labels)]
        class_codes(self.people, codes)  # NO_LABEL is a verdict of the judge alone
        if (self.judge == NO_LABEL).any():
            codes.append(NO_LABEL)
        self.counts = confusion_counts(
            self.people, self.judge, codes, self.sample.source, sources
        )

    def share(self, hits: Flags, cases: Flags, why: str) -> Replicated:
        """Return the share of hits among the cases, undefined as `why` says without
        any.
        """
        where, missing = self.sample.source[cases], self.sample.n_missing
        return clustered_mean(hits[cases], where, self.weights, missing, why=why)

    def smooth(self) -> dict[str, Replicated]:
        """Return the statistics of all labels together, by name."""
        if not self.people.size:
            return dict.fromkeys(TOGETHER, self.sample.undefined(NOTHING))
        rows, counts = self.sample.rows, self.counts.astype(np.float64)
        deleted = deleted_counts(rows, counts)
        tables = dot(rows, counts) if deleted is None else deleted
        q = self.labels
        by_people, by_judge = tables.sum(axis=2)[:, :q], tables.sum(axis=1)[:, :q]
        used = by_people[0] > 0
        of_two = used.size == 2
        averaged, recalled = (
            (np.array([False, True]), used | True) if of_two else (used, used)
        )
        hits = np.einsum("rkk->rk", tables)[:, :q]
        f1s, recalls = (
            quotient(2 * hits, by_people + by_judge),
            quotient(hits, by_people),
        )
        f1 = quotient(f1s[:, averaged].sum(axis=1), averaged.sum())
        recall = quotient(recalls[:, recalled].sum(axis=1), recalled.sum())
        macro = quotient(np.nansum(f1s, axis=1), np.isfinite(f1s).sum(axis=1))
        people = self.counts.sum(axis=2)[:, :q]  # (sources, labels)
        judge = self.counts.sum(axis=1)[:, :q]
        in_use = used | (by_judge[0] > 0)
        rarest = _rarest(np.hstack([people[:, in_use], judge[:, in_use]]))
        positive = people[:, 1] + self.counts[:, 0, 1] if of_two else people.sum(axis=1)
        own, cases = people[:, used], people.sum(axis=1)
        # the mean recall is a proportion of as many texts as if all labels were the
        # rarest
        sizes = np.sum(own / own.sum(axis=0), axis=1) * own.sum(axis=0).min()
        values = {
            "f1": (f1, positive, LABEL_NOT_GIVEN, rarest),
            "f1_macro": (macro, cases, NOTHING, rarest),
            "mcc": (_mcc(tables), cases, ONE_LABEL, rarest),
            "ac1": (_ac1(tables, q), cases, NOTHING, rarest),
            "kappa_nominal": (kappas(tables, power=0), cases, ONE_LABEL, rarest),
            "balanced_accuracy": (recall, sizes, LABEL_NOT_GIVEN, _rarest(own)),
        }
        return {name: self._result(name, *each) for name, each in values.items()}

    def _result(
        self, name: str, values: Floats, sizes: Floats | Codes, why: str, rarest: Codes
    ) -> Replicated:
        """Return a statistic of all labels."""
        few = int(rarest.sum()) < FEWEST_CASES
        if np.ptp(values) <= SLACK:
            sizes = rarest  # other labels say nothing about errors on the rarest one
        scale = scale_of(name)
        result = replicated(
            values[:1] if few else values,
            why,
            sizes=sizes,
            scale=scale,
            n=self.people.size,
            n_missing=self.sample.n_missing,
            ends=scale.ends,
        )
        if not few or result.estimate.value is None or self.weights is None:
            return result
        few_texts = f"{rarest.sum()} texts, fewer than {FEWEST_CASES}"
        note = f"{NO_INTERVAL}: people or the judge give a label to {few_texts}"
        return result._replace(rows=values, sizes=np.zeros(sizes.size)).with_note(note)


def _rarest(margins: Codes) -> Codes:
    """Return the column with the least sum: (sources, columns) -> (sources,)."""
    return np.asarray(margins[:, margins.sum(axis=0).argmin()])


def _mcc(tables: Floats) -> Floats:
    """Return MCC of each table of people by judge, NaN where a side is constant:
    (rows,).
    """
    by_people, by_judge = tables.sum(axis=2), tables.sum(axis=1)
    n, right = tables.sum(axis=(1, 2)), np.einsum("rkk->r", tables)
    shared = n * right - np.sum(by_people * by_judge, axis=1)
    spread = [n**2 - np.sum(np.square(side), axis=1) for side in (by_people, by_judge)]
    return quotient(shared, np.sqrt(spread[0] * spread[1]))


def _ac1(tables: Floats, labels: int) -> Floats:
    """Return AC1 of each table of people by judge, NaN of an empty one: (rows, q, q) ->
    (rows,).

    Chance is that of the q labels; a verdict that is none of them agrees with nothing.
    """
    n = tables.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        margins = (tables.sum(axis=2) + tables.sum(axis=1))[:, :labels]
        either = margins / (2 * n[:, None])
        chance = np.sum(either * (1 - either), axis=1) / (labels - 1)
        return np.asarray((np.einsum("rkk->r", tables) / n - chance) / (1 - chance))


def cross_fitted(gold: Floats, scores: Floats, source: Codes) -> tuple[Floats, Floats]:
    """Return the labels of scores by the threshold that is best on all other sources.

    The threshold of a source is the score t with the highest (tpr + tnr)/2 of `score >=
    t` on the texts of all other sources, of their scores with equal values the lowest:
    no text has a say in its own label. gold 0 or 1, scores, source (texts,), NaN =
    missing. Returns the labels (texts,), NaN where the score is missing or the other
    sources have one label only, and the thresholds of the sources that have a text with
    a score, in the order of their codes. Kohavi 1995 (leave one out, here a source).
    """
    labels = np.full(scores.shape, np.nan)
    known = ~(np.isnan(gold) | np.isnan(scores))
    scored = ~np.isnan(scores)
    values, place = np.unique(scores[known], return_inverse=True)
    n_sources = int(source.max(initial=-1)) + 1
    counts = np.zeros((n_sources, 2, values.size))
    np.add.at(counts, (source[known], gold[known].astype(np.int64), place), 1.0)
    others = counts.sum(axis=0) - counts
    totals = others.sum(axis=2)
    above = np.cumsum(others[:, 1, ::-1], axis=1)[
        :, ::-1
    ]  # positives at or above each value
    below = np.cumsum(others[:, 0], axis=1) - others[:, 0]  # negatives below it
    thresholds = []
    for one in np.unique(source[scored]):
        negatives, positives = totals[one]
        if not negatives or not positives:
            continue
        balanced = above[one] / positives + below[one] / negatives
        balanced[
            others[one].sum(axis=0) == 0
        ] = -1.0  # scores that only this source has
        threshold = values[int(np.argmax(np.round(balanced, 12)))]
        thresholds.append(threshold)
        own = scored & (source == one)
        labels[own] = scores[own] >= threshold
    return labels, np.array(thresholds)
