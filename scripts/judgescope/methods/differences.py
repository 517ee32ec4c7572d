"""What a judge has more of than another, on the same items."""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

from judgescope.core.cells import joined
from judgescope.methods.base import Row
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.measures import AVERAGE, floored
from judgescope.methods.undefined import excluded
from judgescope.statistics.comparison import difference
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import UNDEFINED_JUDGE


def compared(study: EvaluationData, texts: str = "original") -> Iterator[tuple[str, str]]:
    """Yield every two judges of a set of texts that the study compares, in its order."""
    wanted, never = study.spec.compared, excluded(study, texts)
    judges = (name for name in study.spec.judges if name not in never)
    yield from combinations([name for name in judges if not wanted or name in wanted], 2)


def difference_rows(
    study: EvaluationData,
    judge: str,
    first: Mapping[str, Replicated],
    second: Mapping[str, Replicated],
    *,
    note: str,
    place: Mapping[str, str | None],
    why: str = UNDEFINED_JUDGE,
    aspect: str = "",
    level: str = "",
) -> Iterator[Row]:
    """Yield a row for each statistic of `first`: its value less that of `second`.

    Both lose the same items, one at a time, so that what they share cancels. `why` is the note
    where one of them is undefined; `place` are the columns that say of what `second` is.
    """
    for statistic, one in first.items():
        gap = difference(one, second[statistic], why=why).estimate.with_note(note)
        yield study.row(judge, aspect, f"difference_{statistic}", level, gap, **place)


Means = Mapping[tuple[str | None, str], Replicated]
"""(criterion, statistic) -> its mean over what a study built."""


def mean_rows(study: EvaluationData, means: Callable[..., Means], level: str) -> Iterator[Row]:
    """Yield means(judge) of every judge, and of every two that are compared the differences.

    means(judge, other) is of the items that both were given.
    """
    known: dict[tuple[str, int], Means] = {}

    def of(judge: str, *others: str) -> Means:
        key = (judge, len(study.items_given(judge, *others)))
        if key not in known:
            known[key] = means(judge, *others)
        return known[key]

    for judge in study.spec.judges:
        for (criterion, name), found in of(judge).items():
            aspect = joined(AVERAGE, criterion)
            yield study.row(judge, aspect, name, level, floored(name, found.estimate))
    for judge, other in compared(study):
        first, second = of(judge, other), of(other, judge)
        both = [key for key in first if key in second]
        for criterion in dict.fromkeys(place for place, _ in both):
            names = [name for place, name in both if place == criterion]
            yield from difference_rows(
                study,
                judge,
                {name: first[criterion, name] for name in names},
                {name: second[criterion, name] for name in names},
                note=study.told_share(judge, other),
                aspect=joined(AVERAGE, criterion),
                level=level,
                place={"judge_b": other},
            )
