"""Label or judge? Texts on which able judges agree against people: table slices.

A judge takes part if its deciding number is better than chance. Judges of one family of
models are not two that agree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from judgescope.core.cells import DERIVED
from judgescope.methods.base import HUMAN
from judgescope.methods.deciding import DecidingNumber
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.gold import gold_numbers
from judgescope.methods.labels import label_aspects, labelled, truth_of
from judgescope.methods.measures import POOLED
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Flags, Floats
from judgescope.statistics.doubt import (
    FEWEST_FAMILIES,
    FEWEST_JUDGES,
    against_ratings,
    agree_against,
    label_doubts,
    rating_doubts,
    rating_predictions,
)
from judgescope.statistics.result import Estimate

MOST_LISTED: Final = 20


@dataclass(frozen=True, eq=False)
class _Doubted:
    """How much each text is doubted, (texts,), and by whom.

    `agreed`: on which texts judges agree against people; `notes` name the likeliest
    other label; `how` says which judges these are.
    """

    statistic: str
    doubt: Floats
    agreed: Flags
    notes: Sequence[str]
    how: str


def doubt_rows(
    data: EvaluationData, aspect: str, numbers: Sequence[DecidingNumber]
) -> Iterator[ResultRow]:
    """Yield the texts that judges doubt most, at most 20, with how much; or why there
    is no list. `numbers` are the deciding numbers of judges on this aspect.

    Nothing where people did not rate, or fewer than two judges have scores.
    """
    asked = _asked(data, aspect)
    if len(asked) < FEWEST_JUDGES or not len(data.systems.ratings(aspect)):
        return
    able = []
    for each in numbers:
        if _is_able(each) and each.judge in asked:
            able.append(each.judge)
    families = [data.spec.judges[name].family or f"judge {name}" for name in able]
    with_labels = aspect in label_aspects(data)
    statistic = "label_doubt" if with_labels else "rating_doubt"
    if len({*families}) < FEWEST_FAMILIES:
        why = (
            f"no list: {len(able)} of {len(asked)} judges are better than chance; it "
            "takes two, of different families"
        )
        nothing = Estimate.undefined(why)
        yield data.row(HUMAN, aspect, statistic, POOLED, nothing)
        return
    judged = np.array([asked[name] for name in able])
    doubted = (_labels if with_labels else _ratings)(data, aspect, judged, families)
    if len(able) < len(asked):
        left_out = ", ".join(name for name in asked if name not in able)
        how = f"{doubted.how}; not better than chance: {left_out}"
    else:
        how = doubted.how
    size = np.where(doubted.agreed, np.abs(doubted.doubt), -np.inf)
    order = np.argsort(-size, kind="stable")[:MOST_LISTED]
    listed = [index for index in order.tolist() if size[index] > 0]
    if not listed:
        nothing = Estimate.undefined("no text: judges agree against no rating")
        yield data.row(HUMAN, aspect, statistic, POOLED, nothing)
    for index in listed:
        n = int(np.isfinite(judged[:, index]).sum())
        value = float(doubted.doubt[index])
        estimate = Estimate(value, n=n, method=how, note=doubted.notes[index])
        target = data.systems.targets[index]
        yield data.row(HUMAN, aspect, statistic, POOLED, estimate, target=target)


def _asked(data: EvaluationData, aspect: str) -> dict[str, Floats]:
    """Judge -> its scores or labels, of those that are not controls nor made of
    others.
    """
    targets = data.systems
    given = {}
    for judge, card in data.spec.judges.items():
        if card.engine in ("control", DERIVED):
            continue
        scores = targets.scores(judge, aspect)
        if scores is not None and aspect in label_aspects(data):
            people = truth_of(data, aspect)(targets.ratings(aspect))
            scores, _ = labelled(targets, judge, aspect, scores, people)
        if scores is not None:
            given[judge] = scores
    return given


def _is_able(each: DecidingNumber) -> bool:
    """Whether a judge's number is above chance, one-sided .025."""
    level = 0.025
    p = each.number(each.values).p_above(each.chance)
    return p is not None and p <= level


def _labels(
    data: EvaluationData, aspect: str, judged: Floats, families: Sequence[str]
) -> _Doubted:
    targets = data.systems
    labels = data.spec.aspects[aspect].labels
    people = truth_of(data, aspect)(targets.ratings(aspect))
    made = label_doubts(judged, people, targets.source, len(labels))
    given = np.isin(judged, np.arange(len(labels)))
    agreed = agree_against(judged == made.other, given, families)
    notes = []
    for code in made.other.tolist():
        notes.append(f"likeliest other label: {labels[code]}" if code >= 0 else "")
    how = f"{len(judged)} judges, worth {made.effective:.2g} independent ones"
    agreed &= made.doubt > 0
    return _Doubted("label_doubt", made.doubt, agreed, notes, how)


def _ratings(
    data: EvaluationData, aspect: str, judged: Floats, families: Sequence[str]
) -> _Doubted:
    targets = data.systems
    people = gold_numbers(data, targets.ratings(aspect)).values
    doubt = rating_doubts(judged, people, targets.source)
    predictions = rating_predictions(judged, people, targets.source)
    contradicts = against_ratings(predictions, people, doubt)
    agreed = agree_against(contradicts, np.isfinite(predictions), families)
    how = f"{len(judged)} judges, fitted to the other sources"
    return _Doubted(
        "rating_doubt", doubt, agreed & np.isfinite(doubt), [""] * doubt.size, how
    )
