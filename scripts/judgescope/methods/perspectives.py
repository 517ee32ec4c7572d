"""Perspectives (paper 002): does a judge give the right rating, and does it see which is better?

On any rated dataset, beside the traditional view (its Table 1), and on texts in a row.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from judgescope.core.cells import joined, split
from judgescope.methods import global_view, local_view
from judgescope.methods.agreement import below_controls
from judgescope.methods.base import Method, Row
from judgescope.methods.differences import compared, difference_rows
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.measures import AVERAGE, Place, floored, hinted
from judgescope.methods.views import BESIDE, DIRECT, MEASURES, People, Said, View
from judgescope.statistics.comparison import ranks
from judgescope.statistics.means import mean_over
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

LEVELS = tuple(dict.fromkeys(level for _, level in MEASURES))
NOT_JUDGED = "not judged"
Found = Mapping[Place, Replicated]


class Views:
    """All judges on the rated texts of a dataset; what is computed is kept."""

    def __init__(self, study: EvaluationData, panel: TargetSet) -> None:
        self.study, self.panel = study, panel
        rated = [name for name in study.spec.aspects if len(panel.ratings(name))]
        self.people = {name: People.of(study, panel, name) for name in rated}
        self._views: dict[tuple[str, str, int, bool], View | None] = {}
        self._averages: dict[tuple[str, str | None, int, bool], Found] = {}

    @cached_property
    def criteria(self) -> list[str | None]:
        """Return the wordings of the aspects, None where there is but one."""
        return list(dict.fromkeys(split(name)[1] for name in self.people))

    @cached_property
    def _draws(self) -> dict[tuple[str, str], Floats]:
        return self.study.draw_tables(self.panel)

    @cached_property
    def _said(self) -> dict[tuple[str, str], Said]:
        return {
            (judge, aspect): Said.of(
                self.study, judge, aspect, own, self._draws.get((judge, aspect))
            )
            for judge in self.study.spec.judges
            for aspect in self.people
            if (own := self.panel.scores(judge, aspect)) is not None
        }

    def given(self, *judges: str) -> NDArray[np.bool_]:
        """Return which texts are of items that all of some judges were given."""
        items = self.study.items_given(*judges)
        return np.array([item in items for item in self.panel.items], dtype=bool)

    def view(self, aspect: str, judge: str, *others: str, drawn: bool = False) -> View | None:
        """Return a judge's view of one aspect on what all were given; None where it judges none.

        Its rows are those of the items' deletions, or of their resamples where these are `drawn`.
        """
        key = (judge, aspect, len(self.study.items_given(judge, *others)), drawn)
        if key not in self._views:
            said, given = self._said.get((judge, aspect)), self.given(judge, *others)
            people = self.people[aspect]
            weights = self.study.resamples if drawn else self.study.weights
            self._views[key] = (
                View(self.study, self.panel, people, said, given, weights) if said else None
            )
        return self._views[key]

    def average(
        self, criterion: str | None, judge: str, *others: str, drawn: bool = False
    ) -> Found:
        """Return the mean of every measure over aspects in one wording; `drawn` as in `view`."""
        key = (judge, criterion, len(self.study.items_given(judge, *others)), drawn)
        if key not in self._averages:
            names = [name for name in self.people if split(name)[1] == criterion]
            views = [self.view(name, judge, *others, drawn=drawn) for name in names]
            absent = Replicated(Estimate.undefined(NOT_JUDGED), np.array([np.nan]))
            self._averages[key] = {
                place: mean_over(
                    [view.found[place] if view else absent for view in views], of="aspects"
                )
                for place in MEASURES
            }
        return self._averages[key]

    def sources(self, *judges: str) -> int:
        """Return the number of sources that all of some judges were given."""
        return np.unique(self.panel.source[self.given(*judges)]).size


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of perspectives.csv: people, judges, ranks and differences."""
    systems, panel = study.shared_panel(study.spec.judges)
    field = Views(study, panel)
    if not field.people:
        return [*global_view.rows(study), *local_view.rows(study)]
    found = list(_people(field))
    measured = [row for judge in study.spec.judges for row in _judge(field, judge)]
    found += below_controls(study, measured)
    for judge in study.spec.judges:
        found += _beside(field, judge)
    for criterion in field.criteria:
        found += [*_ranks(field, criterion), *_differences(field, criterion)]
    known = [*global_view.rows(study), *local_view.rows(study)]
    return [*known, *(hinted(study, row) | {"systems": systems} for row in found)]


def _people(field: Views) -> Iterator[Row]:
    """Yield how many texts have each rating, of those of which all raters agree."""
    for plain, people in {split(name)[0]: one for name, one in field.people.items()}.items():
        if people.why:
            nothing = Estimate.undefined(people.why)
            yield field.study.row("human", plain, "class_count", DIRECT, nothing)
        agreed = people.shared[~np.isnan(people.shared)]
        for k, rating in enumerate(people.classes if not people.why else [], start=1):
            count = float(np.isclose(agreed, rating).sum())
            one = Estimate(count, n=agreed.size, note=f"rated {rating:g}")
            yield field.study.row("human", plain, "class_count", DIRECT, one, k=k)


def _judge(field: Views, judge: str) -> Iterator[Row]:
    """Yield a judge's measures on every aspect, and their averages."""
    judged = False
    for aspect in field.people:
        if view := field.view(aspect, judge):
            judged = True
            for statistic, level in MEASURES:
                one = view.found[statistic, level].estimate
                yield field.study.row(judge, aspect, statistic, level, one)
    for criterion in field.criteria if judged else []:
        for (statistic, level), found in field.average(criterion, judge).items():
            name = joined(AVERAGE, criterion)
            told = floored(statistic, found.estimate)
            yield field.study.row(judge, name, statistic, level, told)


def _beside(field: Views, judge: str) -> Iterator[Row]:
    """Yield what stands beside: ties, the confusion of classes, texts rated further apart."""
    for aspect in field.people:
        if not (view := field.view(aspect, judge)):
            continue
        for statistic, level in BESIDE:
            told = view.found[statistic, level].estimate
            yield field.study.row(judge, aspect, statistic, level, told)
        for (k, k_b), count in view.confusion().items():
            yield field.study.row(judge, aspect, "class_count", DIRECT, count, k=k, k_b=k_b)
        for k, found in view.further().items():
            yield field.study.row(judge, aspect, "accuracy_apart", DIRECT, found, k=k)


def _ranks(field: Views, criterion: str | None) -> Iterator[Row]:
    """Yield each judge's rank by every measure's average, on what all judges were given."""
    study, name = field.study, joined(AVERAGE, criterion)
    judges = [
        judge
        for judge, card in study.spec.judges.items()
        if _judges(field, criterion, judge) and not card.hint
    ]
    if not judges:
        return
    for place in MEASURES:
        told = [field.average(criterion, judge, *judges, drawn=True)[place] for judge in judges]
        placed = ranks(np.stack([one.rows for one in told]), field.sources(*judges))
        for judge, one, found in zip(judges, placed, told, strict=True):
            why = found.estimate.note
            own = Estimate.undefined(why, n=one.n) if one.value is None else one
            own = own.with_note(study.told_share(*judges))
            yield study.row(judge, name, f"rank_{place[0]}", place[1], own)


def _judges(field: Views, criterion: str | None, judge: str) -> bool:
    """Return whether a judge judges anything in one wording."""
    return any(field.view(name, judge) for name in field.people if split(name)[1] == criterion)


def _differences(field: Views, criterion: str | None) -> Iterator[Row]:
    """Yield what the averages of a judge are above those of the next, on the same resamples."""
    study, name = field.study, joined(AVERAGE, criterion)
    for judge, other in compared(study, "systems"):
        pair = (judge, other)
        if any(study.spec.judges[one].hint for one in pair):
            continue
        if not all(_judges(field, criterion, one) for one in pair):
            continue
        first, second = (
            field.average(criterion, judge, other),
            field.average(criterion, other, judge),
        )
        for level in LEVELS:
            one, two = (
                {statistic: told[statistic, at] for statistic, at in MEASURES if at == level}
                for told in (first, second)
            )
            yield from difference_rows(
                study,
                judge,
                one,
                two,
                note=study.told_share(judge, other),
                aspect=name,
                level=level,
                place={"judge_b": other},
            )


METHOD = Method(
    selectable=True,
    texts=("systems", "graded"),
    parts=("compared", "in_a_row", "graded"),
    across="judgescope.methods.overall",
    oracles=True,
    claims=True,
    controls=True,
    unturned=True,
)
