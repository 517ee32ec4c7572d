"""A judge and people on one aspect of systems' texts, for tables on what systems really
score.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_numbers
from judgescope.methods.labels import labelled, truth_of
from judgescope.methods.measures import why_not_of_people
from judgescope.statistics.arrays import Flags, Floats
from judgescope.statistics.corrected import RatedTexts
from judgescope.statistics.intervals import Bounds
from judgescope.statistics.labels import NO_LABEL


def rated_aspects(data: EvaluationData) -> dict[str, str]:
    """Return the aspects of a dataset without criteria, each with why it has no means,
    "" where it has.
    """
    aspects = {}
    no_ratings = "no ratings"
    more_labels = "more than two labels: they have no mean"
    for name in data.spec.aspects:
        plain = split(name)[0]
        scale = data.spec.aspects[name]
        why = ""
        if not len(data.systems.ratings(plain)):
            why = no_ratings
        elif why_not_of_people(data):
            why = why_not_of_people(data)
        elif scale.labels and len(scale.labels) != 2:
            why = more_labels
        aspects[plain] = why
    return aspects


def people_of(data: EvaluationData, targets: TargetSet, aspect: str) -> Floats:
    """Return people's value of each text, (targets,), NaN without one: 0 or 1 of two
    labels, else what the study's key `gold` makes of several ratings.

    As people gave them: also where the lowest value of a scale is the best.
    """
    ratings = targets.ratings(aspect)
    if data.spec.aspects[aspect].labels:
        return truth_of(data, aspect)(ratings)
    values = gold_numbers(data, ratings).values
    turned = data.spec.turned
    total = None
    if turned:
        total = turned.ratings.get(split(aspect)[0])
    if total is None:
        return values
    return total - values


def ends_of(data: EvaluationData, aspect: str) -> Bounds:
    """Return the ends of people's scale; of two labels 0 and 1."""
    scale = data.spec.aspects[aspect]
    if scale.labels:
        return (0.0, 1.0)
    return scale.ends


@dataclass(frozen=True, eq=False)
class JudgedSystems:
    """A judge's scores and people's ratings of the systems' texts, (targets,) each.

    Scores are on people's scale; `note` says how labels became numbers, or that the
    judge has no scale, so that its bias is not known (`same_scale`).
    """

    targets: TargetSet
    judged: Floats
    rated: Floats
    note: str = ""
    same_scale: bool = True

    @cached_property
    def names(self) -> list[str]:
        """Return the systems, sorted; none where the texts are of unknown systems."""
        if self.targets.study.spec.anonymous_systems:
            return []
        return sorted(set(self.targets.systems))

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Return every two systems."""
        return [*combinations(self.names, 2)]

    def _mine(self, system: str | None) -> Flags:
        systems = np.array(self.targets.systems, dtype=object)
        return np.ones(systems.size, bool) if system is None else systems == system

    def texts(self, system: str | None) -> RatedTexts:
        """Return the texts of a system, of all where None."""
        mine = self._mine(system)
        return RatedTexts(
            self.judged[mine], self.rated[mine], self.targets.source[mine]
        )

    def lengths(self, system: str | None) -> Floats:
        """Return the lengths of these texts."""
        return self.targets.lengths[self._mine(system)]


def systems_rated_alone(data: EvaluationData, aspect: str) -> JudgedSystems:
    """Return the systems as people rated them, without a judge.

    Every text has the score 0: the texts with both values are those that people rated.
    """
    rated = people_of(data, data.systems, aspect)
    return JudgedSystems(data.systems, np.zeros(rated.size), rated)


def judged_cells(
    data: EvaluationData, why_unrated: Mapping[str, str]
) -> Iterator[tuple[str, str, JudgedSystems | str]]:
    """Yield each judge but controls, each aspect that people rated, and the judge's
    scores, or why there are none; nothing of an aspect that it does not judge.

    why_unrated: aspect -> why people's ratings of it cannot be used, "" if they can.
    """
    for judge, card in data.spec.judges.items():
        if card.engine == "control":
            continue
        for aspect in data.spec.aspects:
            if why_unrated[split(aspect)[0]]:
                continue
            judged = judged_systems(data, judge, aspect)
            if judged:
                yield judge, aspect, judged


def judged_systems(
    data: EvaluationData, judge: str, aspect: str
) -> JudgedSystems | str:
    """Return a judge's scores and people's ratings, or why there are none.

    `aspect` is `<aspect>[.<criterion>]`. A verdict that was not read and counts as
    wrong (`unread: wrong`) has no value here: it is neither label.
    """
    targets = data.shared_targets(judge).given(judge)
    scores = targets.scores(judge, aspect)
    if scores is None:
        return ""
    rated = people_of(data, targets, aspect)
    # Raters without a majority: the source is rated, but has no value.
    has_ratings = np.isfinite(targets.ratings(aspect)).any(axis=0)
    scores = np.where(has_ratings & np.isnan(rated), np.nan, scores)
    if data.spec.aspects[aspect].labels:
        codes, note = labelled(targets, judge, aspect, scores, rated)
        if codes is None:
            return note
        return JudgedSystems(
            targets, np.where(codes == NO_LABEL, np.nan, codes), rated, note
        )
    turned = data.spec.turned
    total = None
    if turned:
        total = turned.scores.get(judge, {}).get(aspect)
    if total is not None:
        scores = total - scores
    ends = data.spec.judges[judge].ends.get(aspect)
    low, high = ends_of(data, aspect)
    as_people = (
        "the judge has no scale of its own: its scores, all within people's, "
        "count as such"
    )
    if ends is None or ends[0] == ends[1]:
        given = scores[np.isfinite(scores)]
        inside = given.size > 0 and low <= given.min() and given.max() <= high
        note = as_people if inside else ""
        return JudgedSystems(targets, scores, rated, note, same_scale=inside)
    if ends != (low, high):
        scores = low + (scores - ends[0]) * (high - low) / (ends[1] - ends[0])
    return JudgedSystems(targets, scores, rated)
