"""Claims on perturbed texts and on hints: noticed, missed, not confused, withstood.

Perturbations (one claim each). Noticed: exact p-values of all weighted aspects
combined, Holm over the dataset's cells. Missed: on every weighted aspect fewer than a
quarter of the items show it, net (Tango's interval).

Criteria (one claim a wording). AUC above .5 and above that of both lengths, and a
confusion index below 1, with items deleted one by one.

Hints: does a judge withstand a false rating of the text in its prompt? All aspects
together. A right hint makes no claim: to follow it is not a failure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import exp, inf, log, nan
from typing import Final

import numpy as np

from judgescope.core.cells import joined
from judgescope.methods.claims import base
from judgescope.methods.claims.base import (
    Claim,
    Nulls,
    Rival,
    TableClaims,
    number,
    p_above,
)
from judgescope.methods.confusion import JudgeCells
from judgescope.methods.discernment import PerturbedPairs, aspect_weights, pairs_of
from judgescope.methods.evaluation_data import NOT_PLANNED, EvaluationData
from judgescope.methods.robustness import ASKED_ONCE, Rationales, hint_pairs
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.confusion import confusion, mean_drops
from judgescope.statistics.discernment import discernment, discernment_score
from judgescope.statistics.intervals import ACCURACY, IntervalScale, deletions, holm
from judgescope.statistics.means import net_share
from judgescope.statistics.resampling import Replicated, whole_and_resamples
from judgescope.statistics.result import Estimate
from judgescope.statistics.signed_rank import WilcoxonMethod, log_p, table_method
from judgescope.statistics.verdict import LOSS, missed, of_hint, of_perturbation

NOT_JUDGED: Final = "not_judged"
"""Reason: an aspect has no pair of scores, or the judge is left out of the dataset."""


class PerturbationCell:
    """A judge's pairs of one perturbation on every weighted aspect, or why there are
    none.

    lost: pairs of texts that were made and lack a score, by aspect.
    """

    def __init__(self, data: EvaluationData, judge: str, texts: str) -> None:
        weights, _, _ = aspect_weights(data, texts)
        pairs, absent = pairs_of(data, texts, judge)
        made = int(_items_made(data, texts, judge).sum())
        self.texts = texts
        self.weights = weights[weights > 0]
        self.pairs = list[PerturbedPairs]()
        self.lost = list[int]()
        self.absent: Estimate | None = None
        for aspect, weight in zip(data.spec.aspects, weights, strict=True):
            if weight <= 0:
                continue
            if aspect in pairs:
                planned = made - _not_applicable(data, judge, texts, aspect)
                compared = len(pairs[aspect].differences)
                self.pairs.append(pairs[aspect])
                self.lost.append(max(0, planned - compared))
            elif self.absent is None:
                self.absent = absent.get(aspect)

    @property
    def lost_share(self) -> float:
        """Return the largest share of lost pairs of an aspect."""
        shares = list[float]()
        for pairs, lost in zip(self.pairs, self.lost, strict=True):
            shares.append(lost / (len(pairs.differences) + lost))
        return max(shares)

    def log_p(self, method: WilcoxonMethod) -> float:
        """Return ln p of all aspects; if more than a few pairs are lost, the larger of
        two.

        The other p is that if lost pairs scored the perturbed text far higher.
        """
        log_p = self._log_p(method, [pairs.differences for pairs in self.pairs])
        if self.lost_share <= LOSS.worst_case:
            return log_p
        return max(log_p, self._log_p(method, self._with_lost(-1)))

    def _log_p(self, method: WilcoxonMethod, differences: Sequence[Codes]) -> float:
        logs = np.array([log_p(d, method) for d in differences])
        combined = discernment(np.zeros(len(logs)), logs, self.weights)
        return min(-float(combined.d_exact) * log(20), 0.0)

    def worst_shares(self) -> list[Estimate]:
        """Return the net shares if lost pairs, each of its own source, showed the
        perturbation.
        """
        shares = list[Estimate]()
        extended = self._with_lost(1)
        for pairs, lost, differences in zip(
            self.pairs, self.lost, extended, strict=True
        ):
            sources_of_lost = pairs.source.max() + 1 + np.arange(lost)
            source = np.append(pairs.source, sources_of_lost)
            shares.append(net_share(differences, source))
        return shares

    def _with_lost(self, sign: int) -> list[Codes]:
        """Return the differences, with those of lost pairs as large as the largest
        pairs.
        """
        extended = []
        for pairs, lost in zip(self.pairs, self.lost, strict=True):
            d = pairs.differences
            largest = max(1, int(np.abs(d).max(initial=0)))
            extended.append(np.append(d, np.full(lost, sign * largest, dtype=d.dtype)))
        return extended


def perturbation_claims(data: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for each judge (no control) and perturbation."""
    # p that texts become shorter, and that they become longer
    lengths: dict[str, tuple[float, float]] = {}
    for texts in data.perturbed:
        cut = _shortened(data, texts)
        d = cut[~np.isnan(cut)].astype(np.int64)
        by_size = table_method(d.size)
        lengths[texts] = exp(log_p(d, by_size)), exp(log_p(-d, by_size))
    method = table_method(len(data.item_order))
    excluded = data.excluded()
    for judge, card in data.spec.judges.items():
        if card.engine == "control" or judge in excluded:
            continue
        cells = list[PerturbationCell]()
        for texts in data.perturbed:
            if judge not in data.excluded(texts):
                cells.append(PerturbationCell(data, judge, texts))
        logs = np.array([nan if cell.absent else cell.log_p(method) for cell in cells])
        adjusted = holm(logs, log=True)
        for cell, raw, corrected in zip(cells, logs, adjusted, strict=True):
            yield _perturbation_claim(
                judge, cell, float(raw), float(corrected), lengths[cell.texts]
            )


def _perturbation_claim(
    judge: str,
    cell: PerturbationCell,
    raw: float,
    corrected: float,
    by_length: tuple[float, float],
) -> Claim:
    """Return a claim from ln p before and after Holm's correction."""
    name, _, degree = cell.texts.partition(".")
    claim = Claim(
        judge,
        base.PERTURBATION,
        statistic="D_exact",
        level="",
        aspect="",
        estimate=cell.absent or base.NO_COUNTS,
        perturbation=name,
        degree=degree,
    )
    if cell.absent is not None:
        return claim.without(NOT_JUDGED)
    shares = [net_share(pairs.differences, pairs.source) for pairs in cell.pairs]
    worst = shares
    if cell.lost_share > LOSS.worst_case:
        worst = cell.worst_shares()
    p = exp(raw)
    p_holm = exp(corrected)
    outcome, why = of_perturbation(
        p, p_holm, by_length, missed(shares) and missed(worst)
    )
    n = min(len(pairs.differences) for pairs in cell.pairs)
    d = float(discernment_score(raw))
    method = "exact p over all aspects"
    estimate = Estimate(d, n=n, n_missing=max(cell.lost), method=method)
    beside = {
        "net_share": max(shares, key=_upper_end),
        "p_noticed": Estimate(p, n=n),
        "p_noticed_holm": Estimate(p_holm, n=n),
        "p_shorter": Estimate(by_length[0], n=n),
        "p_longer": Estimate(by_length[1], n=n),
    }
    claim = replace(
        claim, estimate=estimate, outcome=outcome, reasons=why, beside=beside
    )
    return replace(claim, lost=cell.lost_share).checked()


def _upper_end(share: Estimate) -> float:
    """Return the upper end of a share's interval, 1 without one."""
    if share.ci_high is None:
        return 1.0
    return share.ci_high


def _items_made(data: EvaluationData, texts: str, judge: str) -> Flags:
    """Return of which items that a judge was given a perturbed text could be made;
    (items,).
    """
    targets = data.target_set(texts).given(judge)
    result = np.zeros(len(data.item_order), dtype=bool)
    result[targets.source[targets.made]] = True
    return result


def _not_applicable(data: EvaluationData, judge: str, texts: str, aspect: str) -> int:
    """Return to how many perturbed texts the judge does not apply in an aspect."""
    judgments = 0
    for (status, _), n in data.status_counts.get((texts, judge, aspect), {}).items():
        if status == NOT_PLANNED:
            judgments += n
    return judgments // data.spec.judges[judge].draws


def _shortened(data: EvaluationData, texts: str) -> Floats:
    """Return by how many characters an item's text became shorter; (items,), NaN
    without one.
    """
    original = data.target_set("original")
    perturbed = data.target_set(texts)
    before, after = np.full((2, len(data.item_order)), np.nan)
    before[original.source] = original.lengths
    after[perturbed.source[perturbed.made]] = perturbed.lengths[perturbed.made]
    return np.asarray(before - after)


@dataclass(frozen=True, eq=False)
class CriteriaDrops:
    """The drops of a judge in one wording, and AUC and index without one item after
    another.

    values (items, cells): the drops, NaN where there are none; wanted, unwanted
    (cells,); `span`: the largest possible drop.
    """

    values: Floats
    wanted: Flags
    unwanted: Flags
    span: float = inf

    @property
    def sizes(self) -> Floats:
        """Return how many drops each item has; (items,)."""
        return np.asarray(np.isfinite(self.values).sum(axis=1), dtype=np.float64)

    def auc(self) -> Replicated:
        """Return the AUC with its jackknife interval on the logit."""
        n = int(np.isfinite(self.values).sum(axis=0).min())
        method = "probability that a wanted drop exceeds an unwanted one"
        counts = Estimate(0.0, n=n, method=method)
        return number(self._headlines[3], self.sizes, ACCURACY, counts)

    def p_index(self) -> float:
        """Return the p of an index below 1: S_T > 0 and S_T > S_F, the larger of both
        p.
        """
        s_t, s_f, *_ = self._headlines
        p = list[float]()
        for rows, end in ((s_t, self.span), (s_t - s_f, 2 * self.span)):
            scale = IntervalScale("plain", -end, end)
            result = number(rows, self.sizes, scale, base.NO_COUNTS)
            p.append(p_above(result, 0))
        return float(np.max(p))

    @property
    def _headlines(self) -> list[Floats]:
        items = len(self.values)
        weights = whole_and_resamples(np.arange(items), deletions(items))
        return list(
            confusion(mean_drops(self.values, weights), self.wanted, self.unwanted)
        )

    def nulls(self, lengths: Floats) -> Nulls:
        """The null hypotheses; lengths (items, cells): characters taken away."""
        used = np.where(np.isfinite(self.values), lengths, np.nan)

        def by_length(sign: float) -> Replicated:
            return replace(self, values=sign * used).auc()

        auc = self.auc()
        nulls = base.chance_tested(auc, 0.5)
        nulls = nulls.with_null(base.INDEX, self.p_index(), Rival())
        return base.held_against_lengths(nulls, auc, base.SHARE_GAP, by_length)

    def at_the_worst_end(self, lost: Flags) -> "CriteriaDrops":
        """Return the same with lost drops as bad as possible, within the drops that
        occur.

        A wanted one is as far below 0 as the largest drop is above, an unwanted one is
        as large.
        """
        largest = float(np.nanmax(np.abs(self.values)))
        worst = np.where(self.wanted, -largest, largest)
        return replace(self, values=np.where(lost, worst, self.values))


def criteria_claims(data: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for each judge (no control) and wording."""
    if not data.spec.perturbed:
        return
    excluded = data.excluded()
    criteria = data.spec.criteria or [""]
    for judge, criterion in product(data.spec.judges, criteria):
        if data.spec.judges[judge].engine != "control" and judge not in excluded:
            yield _criteria_claim(data, judge, criterion or None).checked()


def _criteria_claim(data: EvaluationData, judge: str, criterion: str | None) -> Claim:
    drops = JudgeCells(data, judge, criterion).drops
    columns = (judge, base.CRITERIA, "confusion_auc", "", joined("", criterion))
    if isinstance(drops, Estimate):
        return Claim(*columns, drops).without(NOT_JUDGED)
    criteria = CriteriaDrops(drops.values, drops.wanted, drops.unwanted, drops.span)
    auc = criteria.auc().estimate
    if auc.value is None:
        return Claim(*columns, auc).without(NOT_JUDGED)
    sets = [texts for texts, *_ in drops.expectations]
    made_of = {texts: _items_made(data, texts, judge) for texts in dict.fromkeys(sets)}
    lengths_of = {texts: _shortened(data, texts) for texts in made_of}
    made = np.stack([made_of[texts] for texts in sets], axis=1)
    lengths = np.stack([lengths_of[texts] for texts in sets], axis=1)
    lost = made & ~drops.given
    not_applicable = 0
    for texts, aspect in zip(sets, drops.aspects, strict=True):
        not_applicable += _not_applicable(data, judge, texts, aspect)
    absent = max(0, int(lost.sum()) - not_applicable)
    share = absent / (absent + int(drops.given.sum()))
    nulls = criteria.nulls(lengths)
    return Claim(*columns, auc, lost=share).tested(
        nulls, lambda: criteria.at_the_worst_end(lost).nulls(lengths)
    )


def hint_claims(data: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for each judge that is given a wrong rating."""
    rationales = Rationales(data)
    # Reason: the form without a hint was asked once, so that its own variation is
    # unknown.
    second_draw = "asked_once"
    for judge, hint in data.spec.hinted.items():
        aspects = []
        for name in data.spec.aspects:
            if rationales.draws(judge, name):
                aspects.append(name)
        if hint.rating != "wrong" or not aspects:
            continue
        columns = (judge, base.HINTS, "hint_effect", "", "")
        pairs = hint_pairs(rationales, judge, *aspects)
        if pairs is None:
            yield Claim(*columns, Estimate.undefined(ASKED_ONCE)).without(second_draw)
            continue
        effect = pairs.effect()
        lost = pairs.lost_share
        worst = [effect, effect]
        if lost > LOSS.worst_case:
            worst = [pairs.with_lost(1), pairs.with_lost(-1)]
        outcome, why = of_hint(effect, *worst)
        yield Claim(*columns, effect, lost=lost, outcome=outcome, reasons=why).checked()


CLAIMS_OF_DISCERNMENT: Final = TableClaims("discernment", (perturbation_claims,))
CLAIMS_OF_CONFUSION: Final = TableClaims("confusion", (criteria_claims,))
CLAIMS_OF_ROBUSTNESS: Final = TableClaims("robustness", (hint_claims,))
