"""Verdicts with the confidence of a judge in them, beside people's verdict.

Several draws of a text have one verdict, the one that most of them give; its confidence
is the mean of theirs, or the share of equal draws. A tie has neither.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from judgescope.core.cells import split
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import class_rule, gold_classes, why_no_classes
from judgescope.methods.labels import labelled, truth_name, truth_of
from judgescope.methods.pair_verdicts import PanelPairs
from judgescope.schema.tables import tuples_of
from judgescope.statistics.classes import are_classes
from judgescope.statistics.confidence import Stated
from judgescope.statistics.preferences import majority
from judgescope.statistics.raters import GOLD_NAMES

DRAWS: Final = "draws"
PresentedTexts = tuple[str, str | None]


class Said(NamedTuple):
    """What one draw says: its verdict, and how sure it is; NaN: not known."""

    verdict: float
    confidence: float


SaidByCell = Mapping[tuple[str, str, str], Mapping[PresentedTexts, list[Said]]]
"""(set of texts, judge, aspect) -> text, or two in the order shown -> its draws."""


class SureVerdicts(NamedTuple):
    """A judge's verdicts beside people's, or why there are none (`why`).

    `against`: what people's verdict is, in words.
    """

    stated: Stated
    against: str
    why: str = ""


def said_in(data: EvaluationData, table: pa.Table) -> SaidByCell:
    """Return the judgments of a table `confidences`, with scores so that more is
    better; unread ones have neither verdict nor confidence.
    """
    turned = {}
    if data.spec.turned:
        turned = data.spec.turned.scores
    cells: dict[tuple[str, str, str], dict[PresentedTexts, list[Said]]] = {}
    names = ["perturbation", "judge", "aspect", "target", "target_b", "status"]
    values = ["value", "confidence", "confident_of"]
    for row in tuples_of(table, [*names, *values]):
        perturbation, judge, aspect, target, other, status, value, sure, about = row
        cell = cells.setdefault((perturbation, judge, aspect), {})
        draws = cell.setdefault((target, other), [])
        verdict = value if about is None else about
        if status != "ok" or verdict is None:
            draws.append(Said(np.nan, np.nan))
            continue
        if other is None and aspect in turned.get(judge, {}):
            verdict = turned[judge][aspect] - verdict
        draws.append(Said(verdict, np.nan if sure is None else sure))
    return cells


def one_verdict(draws: Sequence[Said], *, equal: bool = False) -> Said:
    """Return the verdict of most draws and the mean of their confidences; `equal`: the
    share of the read draws that give it.

    None where fewer than half were read, or two verdicts tie.

    >>> one_verdict([Said(1.0, 0.9), Said(1.0, 0.7), Said(0.0, 0.6)])
    Said(verdict=1.0, confidence=0.8)
    >>> one_verdict([Said(1.0, 0.9), Said(0.0, 0.6)])
    Said(verdict=nan, confidence=nan)
    """
    by_verdict = defaultdict[float, list[float]](list)
    for draw in draws:
        if not np.isnan(draw.verdict):
            by_verdict[draw.verdict].append(draw.confidence)
    read = sum(map(len, by_verdict.values()))
    nothing = Said(np.nan, np.nan)
    if not read or 2 * read < len(draws):
        return nothing
    votes_of_mode = max(map(len, by_verdict.values()))
    leading = []
    for value, each in by_verdict.items():
        if len(each) == votes_of_mode:
            leading.append(value)
    if len(leading) > 1:
        return nothing
    [verdict] = leading
    sure = votes_of_mode / read if equal else float(np.mean(by_verdict[verdict]))
    return Said(verdict, round(sure, 12))


def of_texts(
    targets: TargetSet,
    judge: str,
    aspect: str,
    answers: Mapping[PresentedTexts, list[Said]],
) -> SureVerdicts:
    """Return a judge's verdicts on texts beside people's label or class of each."""
    study = targets.study
    scale = study.spec.aspects[aspect]
    card = study.spec.judges[judge]
    ratings = targets.ratings(aspect)
    equal = card.confidence == DRAWS
    each = []
    for target in targets.targets:
        each.append(one_verdict(answers.get((target, None), ()), equal=equal))
    verdict = np.array([answer.verdict for answer in each])
    sure = np.array([answer.confidence for answer in each])
    if scale.labels:
        gold = truth_of(study, aspect)(ratings)
        against = truth_name(study, aspect)
    else:
        gold = gold_classes(study, ratings).values
        against = GOLD_NAMES[class_rule(study)]
    classes = scale.values or []
    if scale.ordered and (why := why_no_classes(study, gold, classes)):
        return _none(why, against)
    no_classes = "scores that are not values of people's scale"
    if scale.labels and card.threshold is not None:
        scores = targets.scores(judge, aspect)
        assert scores is not None
        codes, why = labelled(targets, judge, aspect, scores, gold)
        if codes is None:
            return _none(why, against)
        if card.weighted:  # the probability is of the label that the reply says
            sure = np.where(codes == verdict, sure, 1 - sure)
        verdict = codes
    elif card.grid[aspect] != scale.values:
        return _none("the judge's scale is not that of people", against)
    elif not are_classes(verdict, classes):
        return _none(no_classes, against)
    right = np.where(np.isnan(verdict) | np.isnan(gold), np.nan, verdict == gold)
    # Texts that people did not judge are not planned.
    rated = ~np.isnan(gold)
    stated = Stated.select(sure[rated], right[rated], targets.source[rated])
    return SureVerdicts(stated, against)


def of_pairs(
    targets: TargetSet,
    aspect: str,
    answers: Mapping[PresentedTexts, list[Said]],
    *,
    equal: bool,
) -> SureVerdicts:
    """Return a judge's choices beside people's majority, of pairs that has one.

    With both orders the chance of the first text is the mean of that in each, which
    removes a preference for a position (Badshah et al. 2026); a tie in one order has no
    chance, in both it is a tie.
    """
    pairs = PanelPairs(targets, aspect)
    people = majority(pairs.people)
    verdicts = []
    for first, second in pairs.names:
        orders = [
            (one_verdict(answers.get((first, second), ()), equal=equal), 1.0),
            (one_verdict(answers.get((second, first), ()), equal=equal), -1.0),
        ]
        shown = []
        for (answer, sign), texts in zip(
            orders, ((first, second), (second, first)), strict=True
        ):
            if texts in answers:
                shown.append(Said(sign * answer.verdict, answer.confidence))
        verdicts.append(joined_orders(shown))
    verdict = np.array([answer.verdict for answer in verdicts])
    sure = np.array([answer.confidence for answer in verdicts])
    decided = ~np.isnan(people) & (people != 0)
    right = np.where(np.isnan(verdict), np.nan, verdict == people)
    stated = Stated.select(sure[decided], right[decided], pairs.source[decided])
    unpreferred = "people's majority of those who prefer a text"
    return SureVerdicts(stated, unpreferred)


def joined_orders(shown: Sequence[Said]) -> Said:
    """Return the choice of a pair from that in each order, 1 for the same text.

    >>> joined_orders([Said(1.0, 0.9), Said(-1.0, 0.6)])
    Said(verdict=1.0, confidence=0.65)
    >>> joined_orders([Said(1.0, 0.9), Said(0.0, 0.8)])
    Said(verdict=nan, confidence=nan)
    """
    nothing = Said(np.nan, np.nan)
    if not shown or any(
        np.isnan([answer.verdict, answer.confidence]).any() for answer in shown
    ):
        return nothing
    if all(answer.verdict == 0 for answer in shown):
        return Said(0.0, float(np.mean([answer.confidence for answer in shown])))
    if any(answer.verdict == 0 for answer in shown):
        return nothing
    chances = []
    for answer in shown:
        chances.append(
            answer.confidence if answer.verdict > 0 else 1 - answer.confidence
        )
    chance = round(float(np.mean(chances)), 12)
    if chance == 0.5:
        return nothing
    if chance > 0.5:
        return Said(1.0, chance)
    return Said(-1.0, 1 - chance)


def _none(why: str, against: str) -> SureVerdicts:
    empty = np.zeros(0)
    return SureVerdicts(Stated(empty, empty, np.zeros(0, np.int64)), against, why)


def aspects_with_people(data: EvaluationData) -> Iterable[str]:
    """Return the aspects that several people rated."""
    for aspect in data.spec.aspects:
        if split(aspect)[1] is None and len(data.systems.ratings(aspect)) > 1:
            yield aspect
