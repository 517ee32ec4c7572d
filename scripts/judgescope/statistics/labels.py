"""Agreement on labels, such as fail and pass: shares, means of shares, kappas.

Labels are codes 0 to q - 1, ordered or not; of two the last, 1, is the positive one.
"""

from functools import partial
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, quotient
from judgescope.statistics.classes import class_codes, confusion_counts, kappas
from judgescope.statistics.declared import correlation, declare, percent
from judgescope.statistics.intervals import NO_INTERVAL, TOLERANCE, IntervalScale
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import (
    Replicated,
    TargetSample,
    replicated,
)
from judgescope.statistics.result import REASONS
from judgescope.statistics.source_rows import Resamples, Weights

beyond_chance = partial(correlation, scaled=IntervalScale("plain", -1.0, 1.0))


DECLARED = declare(
    "labels",
    tpr=percent(
        "Good kept",
        "true positive rate, TPR: share of positive texts (last label, by people) "
        "labelled positive",
    ),
    tnr=percent(
        "Bad caught",
        "true negative rate, TNR: share of negative texts (by people) labelled "
        "negative",
    ),
    precision=percent(
        "Precision",
        "share of texts labelled positive that are positive",
        at_base_rate=True,
    ),
    npv=percent(
        "NPV",
        "share of texts labelled negative that are negative",
        at_base_rate=True,
    ),
    label_accuracy=percent(
        "Accuracy",
        "share of texts with the same label by judge and people",
        as_rater=True,
        beats_controls=True,
        at_base_rate=True,
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
        scaled=IntervalScale("plain", 0.0, 1.0),
        beats_controls=True,
        at_base_rate=True,
    ),
    f1_macro=percent(
        "Macro F1",
        "mean F1 of the labels that people or the judge use",
        "Sokolova, Lapalme 2009",
        scaled=IntervalScale("plain", 0.0, 1.0),
        beats_controls=True,
        at_base_rate=True,
    ),
    balanced_accuracy=percent(
        "Balanced accuracy",
        "mean recall of the labels that people use",
        "Brodersen et al. 2010",
        as_rater=True,
        beats_controls=True,
    ),
    mcc=beyond_chance(
        "MCC",
        "correlation of the judge's labels with people's",
        "Matthews 1975; Gorodkin 2004",
        beats_controls=True,
        at_base_rate=True,
    ),
    ac1=beyond_chance(
        "Gwet's AC1",
        "agreement on labels beyond chance",
        "Gwet 2008",
        beats_controls=True,
        at_base_rate=True,
    ),
    kappa_nominal=beyond_chance(
        "Cohen's κ",
        "agreement on labels beyond chance",
        "Cohen 1960",
        as_rater=True,
        beats_controls=True,
        at_base_rate=True,
    ),
)


NO_LABEL: Final = -1.0
"""The code of a judge's verdict that differs from every label."""


FEWEST_CASES: Final = 5
"""Where people or the judge give a label to fewer texts, only single shares have an
interval."""


def on_labels(
    gold: Floats, predicted: Floats, labels: int, source: Codes, weights: Weights
) -> dict[str, Replicated]:
    """The statistics of the judge's labels with people's, by name.

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

    >>> people = np.array([0.0, 0.0, 1.0, 1.0])
    >>> judge = np.array([0.0, 1.0, 1.0, 1.0])
    >>> results = on_labels(people, judge, 2, np.arange(4), None)
    >>> names = ("tpr", "tnr", "label_accuracy", "f1")
    >>> [results[name].estimate.value for name in names]
    [1.0, 0.5, 0.75, 0.8]
    """
    labelled = _Labelled(gold, predicted, labels, source, weights)
    people = labelled.people
    judge = labelled.judge
    right = labelled.people == labelled.judge
    results = {"label_accuracy": labelled.share(right, right | True, REASONS.nothing)}
    if labels == 2:
        results |= {
            "tpr": labelled.share(right, people == 1, REASONS.label_not_given),
            "tnr": labelled.share(right, people == 0, REASONS.label_not_given),
            "precision": labelled.share(right, judge == 1, REASONS.label_not_used),
            "npv": labelled.share(right, judge == 0, REASONS.label_not_used),
            "base_rate": labelled.share(people == 1, right | True, REASONS.nothing),
        }
    return results | labelled.smooth()


def by_label(
    gold: Floats, predicted: Floats, labels: int, source: Codes, weights: Weights
) -> dict[tuple[str, int], Replicated]:
    """c_kk/g_k, c_kk/h_k and g_k/n of each label k, as label_recall, _precision,
    _share.

    Arguments, intervals and what is undefined as in `on_labels`.

    >>> people = np.array([0.0, 0.0, 1.0, 1.0])
    >>> judge = np.array([0.0, 1.0, 1.0, 1.0])
    >>> results = by_label(people, judge, 2, np.arange(4), None)
    >>> [results["label_recall", label].estimate.value for label in (0, 1)]
    [0.5, 1.0]
    """
    labelled = _Labelled(gold, predicted, labels, source, weights)
    right = labelled.people == labelled.judge
    results = {}
    for k in range(labels):
        given = labelled.people == k
        used = labelled.judge == k
        results["label_recall", k] = labelled.share(
            right, given, REASONS.label_not_given
        )
        results["label_precision", k] = labelled.share(
            right, used, REASONS.label_not_used
        )
        results["label_share", k] = labelled.share(given, given | True, REASONS.nothing)
    return results


def balanced_accuracies(gold: Floats, predicted: Floats, labels: int) -> Floats:
    """balanced_accuracy, as `on_labels`, of each row of a judge's labels.

    gold (texts,), nothing missing; predicted (rows, texts), NaN = missing; shape
    (rows,). NaN where a row has no text of a label that people use, or people use one
    of two.

    >>> people = np.array([0.0, 0.0, 1.0, 1.0])
    >>> judges = np.array([[0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    >>> balanced_accuracies(people, judges, 2).tolist()
    [0.75, 0.5]
    """
    used = range(labels) if labels == 2 else np.unique(gold).astype(np.int64).tolist()
    given = ~np.isnan(predicted)
    right = predicted == gold
    recalls = []
    for k in used:
        recalls.append(
            quotient(right[:, gold == k].sum(axis=1), given[:, gold == k].sum(axis=1))
        )
    return np.asarray(np.mean(recalls, axis=0))


def balanced_accuracy_over_resamples(
    gold: Floats, predicted: Floats, labels: int, source: Codes, weights: Resamples
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
    people = gold[complete]
    judge = predicted[complete]
    sample = TargetSample.select(complete, source, weights)
    used = range(labels) if labels == 2 else np.unique(people).astype(np.int64).tolist()
    if not people.size:
        return np.full(len(sample.rows), np.nan)
    recalls = []
    for k in used:
        texts, right = sample.sums(people == k, (people == k) & (judge == k))
        recalls.append(quotient(right, texts))
    return np.asarray(np.mean(recalls, axis=0))


def strict_majority(votes: Floats, labels: int) -> Floats:
    """The label that more than half of a text's votes name, NaN where there is
    none.

    votes (voters, texts): codes, NaN = missing; shape (texts,). A text with votes and
    no majority is unresolved: what uses the result counts it among the missing.
    ValueError for an unknown code.

    >>> votes = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, np.nan]])
    >>> strict_majority(votes, 2).tolist()
    [0.0, nan]
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
        self.people = gold[complete]
        self.judge = predicted[complete]
        self.weights = weights
        self.sample = TargetSample.select(complete, source, weights)
        self.labels = labels
        codes = [float(k) for k in range(labels)]
        class_codes(self.people, codes)  # NO_LABEL is a verdict of the judge alone
        if (self.judge == NO_LABEL).any():
            codes.append(NO_LABEL)
        sources = self.sample.rows.shape[1]
        self.counts = confusion_counts(
            self.people, self.judge, codes, self.sample.source, sources
        )

    def share(self, hits: Flags, cases: Flags, why: str) -> Replicated:
        """The share of hits among the cases, undefined as `why` says without any."""
        where = self.sample.source[cases]
        missing = self.sample.n_missing
        return clustered_mean(hits[cases], where, self.weights, missing, why=why)

    def smooth(self) -> dict[str, Replicated]:
        """The statistics of all labels together, by name."""
        if not self.people.size:
            nothing = self.sample.undefined(REASONS.nothing)
            means = ("f1", "f1_macro", "balanced_accuracy")
            return dict.fromkeys((*means, "mcc", "ac1", "kappa_nominal"), nothing)
        tables = self._tables()
        q = self.labels
        by_people = tables.sum(axis=2)[:, :q]
        by_judge = tables.sum(axis=1)[:, :q]
        used = by_people[0] > 0
        averaged = used
        recalled = used
        if q == 2:
            averaged = np.array([False, True])
            recalled = np.array([True, True])
        hits = np.einsum("rkk->rk", tables)[:, :q]
        f1s = quotient(2 * hits, by_people + by_judge)
        recalls = quotient(hits, by_people)
        f1 = quotient(f1s[:, averaged].sum(axis=1), averaged.sum())
        recall = quotient(recalls[:, recalled].sum(axis=1), recalled.sum())
        macro = quotient(np.nansum(f1s, axis=1), np.isfinite(f1s).sum(axis=1))
        people = self.counts.sum(axis=2)[:, :q]  # (sources, labels)
        judge = self.counts.sum(axis=1)[:, :q]
        in_use = used | (by_judge[0] > 0)
        rarest = _rarest(np.hstack([people[:, in_use], judge[:, in_use]]))
        cases = people.sum(axis=1)
        positive = cases
        if q == 2:
            positive = people[:, 1] + self.counts[:, 0, 1]
        by_label = people[:, used]
        # The mean recall is a proportion of as many texts as if all labels were the
        # rarest.
        totals = by_label.sum(axis=0)
        sizes = np.sum(by_label / totals, axis=1) * totals.min()

        results = {}
        for name, values, sizes_of_cases, why in (
            ("f1", f1, positive, REASONS.label_not_given),
            ("f1_macro", macro, cases, REASONS.nothing),
            ("mcc", _mcc(tables), cases, REASONS.one_label),
            ("ac1", _ac1(tables, q), cases, REASONS.nothing),
            ("kappa_nominal", kappas(tables, power=0), cases, REASONS.one_label),
        ):
            results[name] = self._result(name, values, sizes_of_cases, why, rarest)
        results["balanced_accuracy"] = self._result(
            "balanced_accuracy",
            recall,
            sizes,
            REASONS.label_not_given,
            _rarest(by_label),
        )
        return results

    def _tables(self) -> Floats:
        """The counts of all texts, then of every resample or deletion."""
        return self.sample.rows.sums(self.counts)

    def _result(
        self, name: str, values: Floats, sizes: Floats | Codes, why: str, rarest: Codes
    ) -> Replicated:
        """A statistic of all labels."""
        few = int(rarest.sum()) < FEWEST_CASES
        if np.ptp(values) <= TOLERANCE:
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
    """The column with the least sum: (sources, columns) -> (sources,)."""
    return np.asarray(margins[:, margins.sum(axis=0).argmin()])


def _mcc(tables: Floats) -> Floats:
    """MCC of each table of people by judge, NaN where a side is constant:
    (rows,).
    """
    by_people = tables.sum(axis=2)
    by_judge = tables.sum(axis=1)
    n = tables.sum(axis=(1, 2))
    right = np.einsum("rkk->r", tables)
    shared = n * right - np.sum(by_people * by_judge, axis=1)
    spread_people = n**2 - np.sum(np.square(by_people), axis=1)
    spread_judge = n**2 - np.sum(np.square(by_judge), axis=1)
    return quotient(shared, np.sqrt(spread_people * spread_judge))


def _ac1(tables: Floats, labels: int) -> Floats:
    """AC1 of each table of people by judge, NaN of an empty one: (rows, q, q) ->
    (rows,).

    Chance is that of the q labels; a verdict that is none of them agrees with nothing.
    """
    n = tables.sum(axis=(1, 2))
    by_people = tables.sum(axis=2)[:, :labels]
    by_judge = tables.sum(axis=1)[:, :labels]
    agreeing = np.einsum("rkk->r", tables)
    with np.errstate(invalid="ignore", divide="ignore"):
        either = (by_people + by_judge) / (2 * n[:, None])
        chance = np.sum(either * (1 - either), axis=1) / (labels - 1)
        return np.asarray((agreeing / n - chance) / (1 - chance))


def cross_fitted(gold: Floats, scores: Floats, source: Codes) -> tuple[Floats, Floats]:
    """The labels of scores by the threshold that is best on all other sources.

    The threshold of a source is the score t with the highest (tpr + tnr)/2 of `score >=
    t` on the texts of all other sources, of their scores with equal values the lowest:
    no text has a say in its own label. gold 0 or 1, scores, source (texts,), NaN =
    missing. Returns the labels (texts,), NaN where the score is missing or the other
    sources have one label only, and the thresholds of the sources that have a text with
    a score, in the order of their codes. Kohavi 1995 (leave one out, here a source).

    >>> people = np.array([0.0, 1.0, 0.0, 1.0])
    >>> scores = np.array([1.0, 4.0, 2.0, 5.0])
    >>> labels, thresholds = cross_fitted(people, scores, np.array([0, 0, 1, 1]))
    >>> labels.tolist(), thresholds.tolist()
    ([0.0, 0.0, 0.0, 1.0], [5.0, 4.0])
    """
    labels = np.full(scores.shape, np.nan)
    known = ~(np.isnan(gold) | np.isnan(scores))
    scored = ~np.isnan(scores)
    values, position = np.unique(scores[known], return_inverse=True)
    n_sources = int(source.max(initial=-1)) + 1
    counts = np.zeros((n_sources, 2, values.size))
    np.add.at(counts, (source[known], gold[known].astype(np.int64), position), 1.0)
    others = counts.sum(axis=0) - counts
    totals = others.sum(axis=2)
    # Positives at or above each value.
    above = np.cumsum(others[:, 1, ::-1], axis=1)[:, ::-1]
    below = np.cumsum(others[:, 0], axis=1) - others[:, 0]  # negatives below it
    thresholds = []
    for code in np.unique(source[scored]):
        negatives, positives = totals[code]
        if not negatives or not positives:
            continue
        balanced = above[code] / positives + below[code] / negatives
        # A score that only this source has is no threshold.
        balanced[others[code].sum(axis=0) == 0] = -1.0
        # Rounded: of thresholds that are equal but for round-off, the first is taken.
        threshold = values[int(np.argmax(np.round(balanced, 12)))]
        thresholds.append(threshold)
        texts = scored & (source == code)
        labels[texts] = scores[texts] >= threshold
    return labels, np.array(thresholds)
