"""Claims about labels: does a judge give people's label, and find the texts of each?

Balanced accuracy above chance (one over the number of labels), above people's labels
dealt out by length in both directions and, where texts come from named systems, above a
preference for systems; then as one more rater, against every other rater.

Of two ordered labels, each has a claim of its own that needs no chance: of the texts
that people label so, does the judge find nine in ten? It fails where the upper end of
the interval lies below ENOUGH_FOUND, passes where the lower end reaches it. A judge
that finds exactly nine in ten is said to fail in at most 2.5 % of studies.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np

from judgescope.methods.claims import base
from judgescope.methods.claims.base import Claim, Nulls, Rival, TableClaims
from judgescope.methods.claims.beside_raters import BesideRaters
from judgescope.methods.claims.draws import claim_stream
from judgescope.methods.claims.scope import NamedSystems, systems_of_texts
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.labels import label_aspects, labelled, truth_name, truth_of
from judgescope.methods.measures import (
    POOLED,
    against,
)
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.best_length import (
    LengthRemoved,
    correlation_of_rest,
    without_length,
)
from judgescope.statistics.intervals import (
    FEWEST_SOURCES,
    PROPORTION,
)
from judgescope.statistics.labels import NO_LABEL, balanced_accuracies, on_labels
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.nulls import dealt, p_within
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.systems import p_moved
from judgescope.statistics.verdict import LOSS, Outcome, on_bar
from judgescope.statistics.within_sources import (
    beyond_systems,
    normal_scores,
    texts_that_count,
    varies,
)

LABEL_STATISTIC: Final = "balanced_accuracy"
ENOUGH_FOUND: Final = 0.9
"""The share of the texts of one label that a judge should find."""


class LabelledTexts(BesideRaters):
    """The texts of a set of targets, and people's label of each on one aspect.

    kept (texts,): the texts whose labels are used, None for all.
    """

    statistic = LABEL_STATISTIC
    level = POOLED

    def __init__(
        self, targets: TargetSet, aspect: str, kept: Flags | None = None
    ) -> None:
        gold = truth_of(targets.study, aspect)(targets.ratings(aspect))
        if kept is not None:
            gold = np.where(kept, gold, np.nan)
        super().__init__(targets, aspect, gold, "each")
        self.scale = targets.study.spec.aspects[aspect]
        self.q = len(self.scale.labels)
        self.chance = 1 / self.q
        self._parts: dict[int, LabelledTexts] = {}

    @property
    def has_order(self) -> bool:
        """Whether a length can deal the labels out: two labels, or an order."""
        return self.q == 2 or self.scale.ordered

    def numbers(
        self, codes: Floats, gold: Floats | None = None
    ) -> dict[str, Replicated]:
        """Return the statistics of a judge's labels, (texts,), NaN = missing."""
        people = self.gold if gold is None else gold
        return on_labels(
            people, codes, self.q, self.target_set.source, self.study.weights
        )

    def number(self, codes: Floats, gold: Floats | None = None) -> Replicated:
        """Return the balanced accuracy."""
        return self.numbers(codes, gold)[LABEL_STATISTIC]

    def worst(self, codes: Floats) -> Floats:
        """Return the labels with each missing one wrong."""
        return np.where(np.isnan(codes), (self.gold + 1) % self.q, codes)

    def nulls(self, codes: Floats, result: Replicated) -> Nulls:
        """The nulls of chance, of sources and, of labels with an order, of lengths."""
        nulls = base.chance_tested(result, self.chance)
        nulls = self._held_within(nulls, codes)
        cases = self.measured(codes)
        if cases.untested:
            return base.length_untested(nulls, cases.untested)
        if not self.has_order:
            return base.length_untested(nulls, "labels without an order")
        if not cases.complete:
            result = self.number(np.where(cases.measured, codes, np.nan))

        def by_length(sign: float) -> Replicated:
            labels = dealt(
                self.gold, sign * self.target_set.lengths, self.target_set.source
            )
            return self.number(np.where(np.isnan(codes), np.nan, labels))

        nulls = base.held_against_lengths(nulls, result, base.SHARE_GAP, by_length)
        return cases.noted(self._held_against_best_length(nulls, codes))

    def _held_against_best_length(self, nulls: Nulls, codes: Floats) -> Nulls:
        lengths = self.target_set.lengths
        source = self.target_set.source
        used = ~(np.isnan(codes) | np.isnan(self.gold) | np.isnan(lengths))
        used &= codes != NO_LABEL
        x = codes[used]
        y = self.gold[used]
        if self.q > 2:
            x = normal_scores(x)
            y = normal_scores(y)
        rest = without_length(x, y, lengths[used], source[used])

        def left(removed: LengthRemoved) -> Replicated:
            n_sources = len(self.study.item_order)
            return correlation_of_rest(removed, source[used], n_sources, within=False)

        return base.held_against_best_length(nulls, rest, left)

    def _held_within(self, nulls: Nulls, codes: Floats) -> Nulls:
        """A judge that only knows the source gives many texts the right label.

        Asked where half of the texts are in sources of several texts and 10 sources
        have two labels (docs/methods.md, "Agreement").
        """
        n_sources = len(self.study.item_order)
        source = self.target_set.source
        both, counting = texts_that_count(codes, self.gold, source, n_sources)
        differing = varies(np.where(counting, self.gold, np.nan), source, n_sources)
        several = 2 * int(counting.sum()) >= int(both.sum())
        if not several or int(differing.sum()) < FEWEST_SOURCES:
            return nulls
        gold = self.gold[both].astype(np.int64)
        labels = codes[both].astype(np.int64)
        used = np.bincount(gold, minlength=self.q)
        # With both margins fixed, balanced accuracy is a weighted sum of hits.
        hits = np.where(used > 0, 1 / np.maximum(used, 1), 0.0)
        # The last row and column are of verdicts that count as none of the labels.
        cost = -np.diag(np.append(hits, 0.0))
        rng = claim_stream(self.study, base.LABELS, base.WITHIN, self.aspect)
        p = p_within(gold, labels, source[both], rng, cost)
        return nulls.with_null(base.WITHIN, p, Rival())

    def moved(self, codes: Floats, text: Codes) -> Floats:
        """Return the balanced accuracy where other texts' labels stand in each text's
        place.
        """
        labels = np.append(codes[self.rated], np.nan)  # the last entry: no text
        return balanced_accuracies(self.gold[self.rated], labels[text], self.q)

    def p_systems(self, codes: Floats, drawn: Codes) -> float:
        """p of the number where the judge's columns are permuted as in `drawn`."""
        return p_moved(
            lambda text: self.moved(codes, text),
            self.preference.source,
            self.preference.blocks.column,
            drawn,
        )

    def without(self, system: int) -> "LabelledTexts":
        """The same without the texts of a system; what it draws serves every judge."""
        if system not in self._parts:
            kept = self.target_set.system != system
            self._parts[system] = LabelledTexts(self.target_set, self.aspect, kept)
        return self._parts[system]

    def by_system(self, codes: Floats) -> NamedSystems | None:
        """What is known of the texts' systems; None where none are named."""
        worst = self.worst(codes)

        def beyond() -> Replicated | None:
            if not self.has_order:
                return None
            data = codes, self.gold, self.target_set.source, self.target_set.system
            return beyond_systems(*data, len(self.study.item_order))

        return systems_of_texts(self, codes, worst, beyond)

    def most_frequent(self, codes: Floats) -> tuple[str, Estimate]:
        """The judge's most frequent label, and its share of the judge's labels.

        Of rated texts; the share is a proportion with sources as clusters.
        """
        used = ~(np.isnan(codes) | np.isnan(self.gold))
        given = codes[used].astype(np.int64)
        # A verdict that differs from every label is not counted here.
        label = int(np.bincount(given[given >= 0], minlength=self.q).argmax())
        name = self.scale.labels[label]
        hits = (codes[used] == label).astype(np.float64)
        source = self.target_set.source[used]
        share = clustered_mean(hits, source, self.study.weights, scale=PROPORTION)
        return name, share.estimate.with_note(name)


@base.unordered_too
def label_claims(data: EvaluationData) -> Iterator[Claim]:
    """Yield the claims of every judge and aspect with labels alone."""
    texts_of = cache(LabelledTexts)
    for judge in data.spec.judges:
        targets = data.shared_targets(judge).given(judge)
        for aspect in label_aspects(data):
            if (scores := targets.scores(judge, aspect)) is None:
                continue
            texts = texts_of(targets, aspect)
            codes, note = labelled(targets, judge, aspect, scores, texts.gold)
            if codes is None:
                columns = (judge, base.LABELS, LABEL_STATISTIC, POOLED, aspect)
                yield Claim(*columns, Estimate.undefined(note)).without(note)
            else:
                yield _label_claim(texts, judge, codes)
                yield from _found(texts, judge, codes)


def _label_claim(texts: LabelledTexts, judge: str, codes: Floats) -> Claim:
    result = texts.number(codes)
    given = codes[~(np.isnan(codes) | np.isnan(texts.gold))]
    estimate = against(result, truth_name(texts.study, texts.aspect)).estimate
    claim = texts.claim(judge, base.LABELS, codes, estimate)
    if result.estimate.value is None:
        return claim.without(result.estimate.note)
    label, share = texts.most_frequent(codes)
    claim = replace(claim, says=label, beside={"says_share": share}).counting(result)
    if np.ptp(given) == 0:
        constant = (base.CONSTANT,)
        return replace(claim, outcome=Outcome.NOT_SHOWN, reasons=constant).checked()
    compared = texts.as_rater(codes)
    if claim.lost > LOSS.worst_case:
        compared = compared.held_at_worst(texts.as_rater(texts.worst(codes)))
    claim = compared.on(replace(claim, by_system=texts.by_system(codes)))

    def worst() -> Nulls:
        labels = texts.worst(codes)
        return texts.nulls(labels, texts.number(labels))

    return claim.tested(texts.nulls(codes, result), worst)


def _found(texts: LabelledTexts, judge: str, codes: Floats) -> Iterator[Claim]:
    """Yield, of two ordered labels, whether the judge finds the texts of each."""
    if texts.q != 2 or not texts.scale.ordered:
        return
    numbers = texts.numbers(codes)
    for kind, name, k in ((base.CAUGHT, "tnr", 0), (base.PASSED, "tpr", 1)):
        estimate = numbers[name].estimate
        reasons = tuple[str, ...]()
        claim = texts.claim(
            judge, kind, codes, estimate.with_note(texts.scale.labels[k])
        )
        if estimate.value is not None:
            label, share = texts.most_frequent(codes)
            claim = replace(claim, says=label, beside={"says_share": share})
        outcome = on_bar(estimate, ENOUGH_FOUND)
        if outcome is Outcome.MEETS:
            outcome = Outcome.WITHSTANDS
        if outcome is Outcome.NO_CLAIM:
            reasons = (estimate.note,)
        elif claim.lost > LOSS.worst_case and outcome is not Outcome.CANNOT_TELL:
            # at the end that speaks against the outcome, lost ones are found or not
            wrong = outcome is Outcome.WITHSTANDS
            if wrong:
                filled = texts.worst(codes)
            else:
                filled = np.where(np.isnan(codes), texts.gold, codes)
            held = on_bar(texts.numbers(filled)[name].estimate, ENOUGH_FOUND)
            if held is not (Outcome.MEETS if wrong else Outcome.MISSES):
                outcome = Outcome.CANNOT_TELL
                reasons = (base.LOST,)
        claim = replace(claim, statistic=name, outcome=outcome, reasons=reasons)
        yield claim.checked()


CLAIMS_OF_LABELS: Final = TableClaims("labels", (label_claims,))
