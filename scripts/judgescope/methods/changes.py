"""How confusion changes from form to form, and from the study's first wording to the others.

Both stand on the same resamples of the same items, in the same cells.
"""

from collections.abc import Iterable, Iterator, Mapping

from judgescope.methods.base import Row
from judgescope.methods.differences import compared, difference_rows
from judgescope.methods.drops import HEADLINES, Drops
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.statistics.result import DIFFERENT_SCALES, UNDEFINED_JUDGE, Estimate

Wording = tuple[str, str | None]
"""A judge, and the wording of the aspects."""
UNDEFINED_WORDING = "one of the wordings is undefined"
OTHER_CELLS = "they have no score in different cells"
POINTS = ("s_t_mean", "s_f_mean")
"""What is in points of a judge's scale: of judges with other scales, these are no differences."""


def change_rows(study: EvaluationData, known: Mapping[Wording, Drops | Estimate]) -> Iterator[Row]:
    """Yield what every judge has more than the next, and every wording than the first one."""
    judges = dict.fromkeys(judge for judge, _ in known)
    criteria = list(dict.fromkeys(criterion for _, criterion in known))
    for criterion in criteria:
        own: dict[str, str | None] = {"criterion": criterion} if criterion else {}
        for judge, other in compared(study):
            pair = known[judge, criterion], known[other, criterion]
            yield from _rows(study, pair, UNDEFINED_JUDGE, judge, judge_b=other, **own)
    for judge in judges:
        for criterion in criteria[1:]:
            pair = known[judge, criterion], known[judge, criteria[0]]
            wordings = {"criterion": criterion, "criterion_b": criteria[0]}
            yield from _rows(study, pair, UNDEFINED_WORDING, judge, **wordings)


def _rows(
    study: EvaluationData,
    pair: tuple[Drops | Estimate, Drops | Estimate],
    why: str,
    judge: str,
    **place: str | None,
) -> Iterator[Row]:
    """Yield the rows of two that are held against each other, undefined with the reason."""
    first, second = pair

    def undefined(note: str, names: Iterable[str] = HEADLINES) -> Iterator[Row]:
        nothing = Estimate.undefined(note)
        return (study.row(judge, "", f"difference_{name}", "", nothing, **place) for name in names)

    if isinstance(first, Estimate) or isinstance(second, Estimate):
        lacking = first if isinstance(first, Estimate) else second
        yield from undefined(f"{why}: {lacking.note}")
        return
    if first.places != second.places:
        yield from undefined(OTHER_CELLS)
        return
    if not first.same_points(second):
        yield from undefined(DIFFERENT_SCALES, POINTS)
    judges, given = dict.fromkeys((first.judge, second.judge)), first.given & second.given
    one, other = (each.headlines(given, *judges) for each in (first, second))
    if not first.same_points(second):
        one = {name: found for name, found in one.items() if name not in POINTS}
    note = study.told_share(*judges)
    yield from difference_rows(study, judge, one, other, note=note, why=why, place=place)
