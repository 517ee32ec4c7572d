"""Judges, juries and cascades of which one may be bought, on one aspect of a dataset.

A judge is a candidate if its claim on the aspect holds at step 1 (better than chance
and simple rules), if its price is known, and if it is no control. A jury has members of
different families, all of them candidates: its score is the mean of their normal
scores, its label that of most members, its choice between two texts that of most.

All candidates of an aspect are compared on the same texts: those that each of them
judged. (docs/methods.md, "What to buy")
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import nan
from typing import NamedTuple, Protocol, Self

import numpy as np

from judgescope.methods.base import present
from judgescope.methods.claims import base
from judgescope.methods.claims.agreement import RatedTargets
from judgescope.methods.claims.labels import LabelledTexts
from judgescope.methods.claims.ordered import Ordered
from judgescope.methods.claims.ratings import (
    HALF_CREDIT,
    JudgedOrder,
    judged_orders,
)
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_numbers
from judgescope.methods.labels import label_aspects, labelled
from judgescope.methods.measures import POOLED, WITHIN_SOURCE, level_of
from judgescope.schema.tables import read_table
from judgescope.scoring.aggregate import majority
from judgescope.statistics import frontier
from judgescope.statistics.arrays import Codes, Flags, Floats, quotient
from judgescope.statistics.escalation import SureJudge
from judgescope.statistics.intervals import IntervalScale
from judgescope.statistics.labels import NO_LABEL
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.within_sources import normal_scores

THEN = ">"
"""Joins those of a cascade."""


class Candidate(NamedTuple):
    """A judge, a jury, or a cascade of two judges, which has a threshold.

    `passed` is the share of cases that a cascade passes on to the second judge.
    """

    members: tuple[str, ...]
    threshold: float | None = None
    passed: float = 0.0

    @property
    def name(self) -> str:
        """The members' ids.

        >>> Candidate(("a", "b")).name, Candidate(("a", "b"), 0.8, 0.3).name
        ('a+b', 'a>b@0.8')
        """
        # Joins the ids of a jury's members, which do not contain it.
        separator = "+"
        if self.threshold is None:
            return separator.join(self.members)
        return f"{THEN.join(self.members)}@{self.threshold:.4g}"

    @property
    def is_jury(self) -> bool:
        """Whether several judge every case."""
        return len(self.members) > 1 and self.threshold is None


class SureCases(NamedTuple):
    """The cases that people judged, and the judges whose verdicts on them have a
    confidence; source (cases,).
    """

    source: Codes
    judges: Mapping[str, SureJudge]

    @classmethod
    def of(
        cls,
        source: Codes,
        right: Mapping[str, Floats],
        confidence: Mapping[str, Floats],
        judged: Flags,
    ) -> Self:
        """Return the cases of `judged` (cases,), with what judges said of all.

        right, confidence: judge -> (cases,), NaN where there is none.
        """
        sure = {}
        for judge, known in right.items():
            if judge in confidence:
                sure[judge] = SureJudge(confidence[judge][judged], known[judged])
        return cls(source[judged], sure)


@dataclass(frozen=True, eq=False)
class AspectCandidates:
    """The values of all candidates on the cases, texts or pairs, of an aspect.

    values: candidate -> (cases,), NaN on cases that some judge lacks; source (cases,).
    number(values): the deciding number, with its deletions; sums(values): (sources,
    parts), of which `of_sums` is the number; `gap` is the scale of a difference.
    people (cases,): people's mean rating, None where values are no amounts. sure: the
    judges whose verdicts have a confidence, for cascades that end at a person.
    """

    aspect: str
    statistic: str
    level: str
    values: Mapping[Candidate, Floats]
    source: Codes
    number: Callable[[Floats], Replicated]
    sums: Callable[[Floats], Floats]
    of_sums: Callable[[Floats], Floats]
    gap: IntervalScale
    people: Floats | None = None
    sure: SureCases | None = None

    def on(self, candidate: Candidate, sources: Flags) -> Replicated:
        """A candidate's number on some sources; sources (sources of the dataset,)."""
        kept = sources[self.source]
        return self.number(np.where(kept, self.values[candidate], nan))


class Sellers(Protocol):
    """The judges of a dataset: which may be bought, and for how much."""

    def passes(self, judge: str, aspect: str, kind: str) -> bool:
        """Whether a judge is a candidate, by its claim of a kind on an aspect."""

    def price(self, candidate: Candidate) -> float:
        """The price of 1,000 judgments of a candidate."""


def candidates_of(data: EvaluationData, sellers: Sellers) -> Iterator[AspectCandidates]:
    """Yield the candidates of each aspect that has any; those of pairs come last."""
    labels = label_aspects(data)
    for aspect in data.spec.aspects:
        if not len(data.systems.ratings(aspect)):
            continue
        kind = base.LABELS if aspect in labels else base.AGREEMENT
        judges = []
        for name in data.spec.judges:
            if sellers.passes(name, aspect, kind):
                judges.append(name)
        if judges and aspect in labels:
            yield _of_labels(data, aspect, judges, sellers)
        elif judges:
            yield _of_scores(data, aspect, judges)
    yield from _of_pairs(data, sellers)


def _juries(
    data: EvaluationData,
    alone: Mapping[str, Floats],
    together: Callable[[Floats], Floats],
    *,
    odd: bool = False,
) -> dict[Candidate, Floats]:
    """Return the judges and their juries with their values.

    alone: judge -> (cases,), all without a value on the same cases; together((members,
    cases)): the values of a jury. A derived judge is in no jury: it is one.
    """
    candidates = {}
    for name, x in alone.items():
        candidates[Candidate((name,))] = x
    members = [name for name in alone if name not in data.spec.made_of]
    families = [data.spec.judges[name].family or f"judge {name}" for name in members]
    made = {frozenset(each.members) for each in data.spec.made_of.values()}
    for jury in frontier.juries_of(families, odd=odd):
        names = tuple(members[at] for at in jury)
        if frozenset(names) not in made:
            values = np.stack([alone[name] for name in names])
            candidates[Candidate(names)] = together(values)
    return candidates


def _cascades(
    sellers: Sellers,
    alone: Mapping[str, Floats],
    confidence: Mapping[str, Floats],
) -> dict[Candidate, Floats]:
    """Return the cascades of a judge that has a confidence and a dearer one, with their
    values.

    alone, confidence: judge -> (cases,), NaN where there is none.
    """
    cascades = dict[Candidate, Floats]()
    if len(alone) > frontier.MOST_CASCADING:
        return cascades
    prices = {name: sellers.price(Candidate((name,))) for name in alone}
    for cheap, dear in permutations(alone, 2):
        if cheap not in confidence or prices[cheap] >= prices[dear]:
            continue
        known = confidence[cheap][~np.isnan(alone[cheap])]
        for threshold in frontier.thresholds_of(known):
            values, passed = frontier.cascaded(
                alone[cheap], alone[dear], confidence[cheap], threshold
            )
            cascades[Candidate((cheap, dear), threshold, passed)] = values
    return cascades


def _in_common(values: Sequence[Floats], people: Floats) -> list[Floats]:
    """Return values, (cases,) each, without the cases that not all of them have."""
    common = ~np.isnan(people)
    for each in values:
        common = common & ~np.isnan(each)
    return [np.where(common, each, nan) for each in values]


# --- scores ---------------------------------------------------------------------------


def _of_scores(
    data: EvaluationData, aspect: str, judges: Sequence[str]
) -> AspectCandidates:
    targets = data.shared_targets(*judges).given(*judges)
    scores = [present(targets.scores(judge, aspect)) for judge in judges]
    people = gold_numbers(data, targets.ratings(aspect)).values
    common = _in_common(scores, people)
    n_sources = len(data.item_order)
    level = level_of(common[0], people, targets.source, n_sources)
    texts = RatedTargets(targets, aspect, level)
    within = level == WITHIN_SOURCE
    sums = frontier.products_of if within else frontier.ranks_of
    of_sums = frontier.correlation_of if within else frontier.rank_correlation_of
    return AspectCandidates(
        aspect,
        texts.statistic,
        level,
        _juries(data, dict(zip(judges, common, strict=True)), _mean_of_normal_scores),
        targets.source,
        texts.number,
        lambda values: sums(values, people, targets.source, n_sources),
        of_sums,
        base.CORRELATION_GAP,
        people,
    )


def _mean_of_normal_scores(scores: Floats) -> Floats:
    """The mean of members' normal scores; (members, texts) -> (texts,).

    Rounded to 9 decimals, so that round-off breaks no tie.
    """
    each = [normal_scores(row) for row in scores]
    return np.asarray(np.round(np.mean(each, axis=0), 9))


# --- labels ---------------------------------------------------------------------------


def _of_labels(
    data: EvaluationData, aspect: str, judges: Sequence[str], sellers: Sellers
) -> AspectCandidates:
    targets = data.shared_targets(*judges).given(*judges)
    texts = LabelledTexts(targets, aspect)
    labels = []
    for judge in judges:
        scores = present(targets.scores(judge, aspect))
        codes, _ = labelled(targets, judge, aspect, scores, texts.gold)
        labels.append(present(codes))
    common = _in_common(labels, texts.gold)
    known = ~np.isnan(common[0])
    gold = np.where(known, texts.gold, nan)
    n_sources = len(data.item_order)

    def majority_vote(votes: Floats) -> Floats:
        winner = majority(votes.T)
        # A tie is no label, and a text without one is not right.
        return np.where(known & np.isnan(winner), float(NO_LABEL), winner)

    alone = dict(zip(judges, common, strict=True))
    codes_of = dict(zip(judges, labels, strict=True))
    confidence = _stated(targets, aspect, codes_of)
    confidence |= _shares_of_draws(targets, aspect, codes_of)
    right = {
        judge: np.where(np.isnan(codes), nan, codes == texts.gold)
        for judge, codes in codes_of.items()
    }
    judged = ~np.isnan(texts.gold)
    return AspectCandidates(
        aspect,
        texts.statistic,
        texts.level,
        _juries(data, alone, majority_vote, odd=True)
        | _cascades(sellers, alone, confidence),
        targets.source,
        texts.number,
        lambda codes: frontier.hits_of(gold, codes, texts.q, targets.source, n_sources),
        frontier.balanced_accuracy_of,
        base.SHARE_GAP,
        sure=SureCases.of(targets.source, right, confidence, judged),
    )


def _stated(
    targets: TargetSet, aspect: str, labels: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Return the confidence that single replies have, of judges with one draw.

    labels: judge -> (texts,). A confidence in another verdict than the judge's is none.
    """
    study = targets.study
    if study.spec.confidences is None:
        return {}
    places = {target: at for at, target in enumerate(targets.targets)}
    stated = dict[str, Floats]()
    for row in read_table("confidences", study.spec.confidences).to_pylist():
        judge = row["judge"]
        named = judge in labels and row["perturbation"] == targets.perturbation
        if not named or row["aspect"] != aspect or row["target_b"] is not None:
            continue
        known = row["confidence"] is not None and row["target"] in places
        is_sole_draw = row["confident_of"] in (None, row["value"])
        if known and is_sole_draw and study.spec.judges[judge].draws == 1:
            each = stated.setdefault(judge, np.full(len(places), nan))
            each[places[row["target"]]] = row["confidence"]
    return stated


def _shares_of_draws(
    targets: TargetSet, aspect: str, labels: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Return the share of draws that have the judge's label, of judges with several.

    labels: judge -> (texts,); a judge whose label follows from a threshold has none.
    """
    study = targets.study
    shares = dict[str, Floats]()
    for (judge, drawn_for), draws in study.draw_tables(targets).items():
        if drawn_for != aspect or judge not in labels:
            continue
        if study.spec.judges[judge].threshold is None:
            given = (~np.isnan(draws)).sum(axis=0)
            same = (draws == labels[judge]).sum(axis=0)
            shares[judge] = quotient(same, given)
    return shares


# --- pairs ----------------------------------------------------------------------------


def _of_pairs(data: EvaluationData, sellers: Sellers) -> Iterator[AspectCandidates]:
    cells: dict[str, list[JudgedOrder]] = {}
    for cell in judged_orders(data):
        of_systems = cell.perturbation == "systems"
        if of_systems and sellers.passes(cell.judge, cell.aspect, base.PAIRS):
            cells.setdefault(cell.aspect, []).append(cell)
    for aspect, judged in cells.items():
        yield _pairs_of_aspect(data, aspect, judged, sellers)


def _pairs_of_aspect(
    data: EvaluationData,
    aspect: str,
    judged: Sequence[JudgedOrder],
    sellers: Sellers,
) -> AspectCandidates:
    """Return the candidates on the pairs that every judge was asked."""
    sources = dict[tuple[str, str], int]()
    credits = list[dict[tuple[str, str], float]]()
    agreed = dict[str, dict[tuple[str, str], float]]()
    for cell in judged:
        asked = np.flatnonzero(cell.asked)
        names = [cell.pairs.pairs[at] for at in asked.tolist()]
        sources |= zip(names, cell.ordered.source.tolist(), strict=True)
        credits.append(dict(zip(names, cell.ordered.better.tolist(), strict=True)))
        verdicts = cell.pairs.verdicts
        if data.spec.judges[cell.judge].compares and verdicts.in_both_orders:
            same = (verdicts.listed == verdicts.swapped)[asked].astype(float)
            agreed[cell.judge] = dict(zip(names, same.tolist(), strict=True))
    pairs = sorted(sources)
    source = np.array([sources[pair] for pair in pairs], np.int64)

    def on_pairs(values: Mapping[tuple[str, str], float]) -> Floats:
        return np.array([values.get(pair, nan) for pair in pairs], np.float64)

    each = [on_pairs(credit) for credit in credits]
    confidence = {judge: on_pairs(same) for judge, same in agreed.items()}
    right = {}
    for cell, credit in zip(judged, each, strict=True):
        # A tie is neither right nor wrong.
        undecided = (credit == 0) | np.isnan(credit)
        right[cell.judge] = np.where(undecided, nan, credit > 0)
    judged_by_any = np.any(~np.isnan(np.stack(each)), axis=0)
    common = _in_common(each, np.zeros(len(pairs)))
    unknown = np.full(len(pairs), nan)
    n_sources = len(data.item_order)
    ordered = Ordered(common[0], -common[0], unknown, unknown, source, n_sources)
    alone = {cell.judge: x for cell, x in zip(judged, common, strict=True)}
    juries = _juries(data, alone, _net_choice)
    cascades = _cascades(sellers, alone, confidence)
    return AspectCandidates(
        aspect,
        HALF_CREDIT,
        POOLED,
        juries | cascades,
        source,
        lambda credit: ordered.credit(credit, -credit),
        lambda credit: frontier.credits_of(credit, -credit, source, n_sources),
        frontier.credit_of,
        base.SHARE_GAP,
        sure=SureCases.of(source, right, confidence, np.asarray(judged_by_any)),
    )


def _net_choice(choices: Floats) -> Floats:
    """Whom most members choose: 1, -1, or 0 for neither; (members, pairs) ->
    (pairs,).
    """
    return np.asarray(np.sign(choices.sum(axis=0)))
