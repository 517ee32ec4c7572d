"""Several annotators' errors as one list, by rule: what a supervisor does, without asking one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from judgescope.parsing.annotation import MOST
from judgescope.parsing.locate import MATCHES, LocatedSpan, occurrence_of
from judgescope.parsing.text import fold

LEAST: Final = 0.5
"""The least overlap of two places that are one: of what either covers, so much both do."""
Stretch = tuple[int, int]


class MergedSpan(NamedTuple):
    """An error and how many annotators name it."""

    span: LocatedSpan
    annotators: int


class Merged(NamedTuple):
    """The errors that are kept, and how many less severe ones are not."""

    errors: list[MergedSpan]
    dropped: int


class _Marked(NamedTuple):
    """An error and the number of the annotator who names it."""

    span: LocatedSpan
    annotator: int


_Group = list[_Marked]


def merge_spans(
    annotators: Sequence[Sequence[LocatedSpan]],
    text: str,
    *,
    least: float = LEAST,
    tokens: Sequence[Stretch] | None = None,
) -> Merged:
    """Return the errors of all annotators, those that overlap as one, the most severe first.

    Two places overlap with |A ∩ B| / |A ∪ B| >= least, in characters or in `tokens` (start and end
    of each); so do their unions, until none is left to merge. A merged error covers all of its
    places, as paper 004 asks of the supervisor (listing 2). It has the most severe severity (none
    is the least), the longest explanation among the errors of it, the most common category, and the
    surest match; ties go to the first in the alphabet. Errors that are not located are one where
    they quote the same words, or name no place and say the same. The occurrence is that of the
    place's own errors, else it is counted in the text. At most MOST are kept: the most severe, then
    the first in the text, those without a place last. The order of annotators and of their errors
    does not matter. ValueError for a `least` that is not above 0 and at most 1.
    """
    if not 0 < least <= 1:
        raise ValueError(f"the least overlap must be above 0 and at most 1, not {least}")
    marked = [_Marked(span, at) for at, spans in enumerate(annotators) for span in spans]
    located = [[one] for one in marked if one.span.start is not None]
    groups = _merged_places(located, least, tokens) + _merged_words(marked)
    errors = sorted((_as_one(group, text) for group in groups), key=_rank)
    return Merged(errors[:MOST], max(0, len(errors) - MOST))


def _rank(error: MergedSpan) -> tuple[int, bool, int, int, str, str]:
    span = error.span
    place = (span.start is None, span.start or 0, span.end or 0)
    return (-(span.severity or 0), *place, span.location or "", span.explanation)


def _merged_places(
    groups: list[_Group], least: float, tokens: Sequence[Stretch] | None
) -> list[_Group]:
    """Return the groups joined as long as the unions of two overlap enough."""
    while True:
        places = [_union(group) for group in groups]
        covered = [_covered(place, tokens) for place in places]
        parts = _parts(
            [
                {b for b in range(len(groups)) if _overlap(covered[a], covered[b]) >= least}
                | {b for b in range(len(groups)) if places[a] == places[b]}
                for a in range(len(groups))
            ]
        )
        if len(parts) == len(groups):
            return groups
        groups = [[one for at in part for one in groups[at]] for part in parts]


def _union(group: _Group) -> Stretch:
    starts = [one.span.start for one in group if one.span.start is not None]
    ends = [one.span.end for one in group if one.span.end is not None]
    return min(starts), max(ends)


def _covered(place: Stretch, tokens: Sequence[Stretch] | None) -> set[int]:
    if tokens is None:
        return set(range(*place))
    return {at for at, (start, end) in enumerate(tokens) if start < place[1] and place[0] < end}


def _overlap(one: set[int], other: set[int]) -> float:
    return len(one & other) / (len(one | other) or 1)


def _parts(near: Sequence[set[int]]) -> list[list[int]]:
    """Return the connected parts of a graph, near[a] being what a is joined to."""
    left, found = set(range(len(near))), list[list[int]]()
    while left:
        part, border = set[int](), {min(left)}
        while border:
            part |= border
            border = set[int]().union(*(near[at] for at in border)) - part
        found.append(sorted(part))
        left -= part
    return found


def _merged_words(marked: Iterable[_Marked]) -> list[_Group]:
    """Return the errors without a place, by the words they quote, else by what they say."""
    found = dict[tuple[bool, str], _Group]()
    for one in marked:
        if one.span.start is None:
            quoted = one.span.location is not None
            words = " ".join(fold(one.span.location or one.span.explanation).split())
            found.setdefault((quoted, words), []).append(one)
    return list(found.values())


def _as_one(group: _Group, text: str) -> MergedSpan:
    spans = [one.span for one in group]
    severity = max((span.severity or 0 for span in spans), default=0)
    worst = [span.explanation for span in spans if (span.severity or 0) == severity]
    merged = LocatedSpan(
        min((span.location for span in spans if span.location is not None), default=None),
        min(worst, key=lambda one: (-len(one), one)),
        severity or None,
        _most_common(span.category for span in spans),
        *(None, None, None),
        min((span.match for span in spans), key=MATCHES.index),
    )
    if spans[0].start is not None:
        start, end = _union(group)
        known = [span.occurrence for span in spans if (span.start, span.end) == (start, end)]
        number = min((one for one in known if one is not None), default=None)
        merged = merged._replace(
            location=text[start:end],
            start=start,
            end=end,
            occurrence=number or occurrence_of(start, end, text),
        )
    return MergedSpan(merged, len({one.annotator for one in group}))


def _most_common(names: Iterable[str | None]) -> str | None:
    counts = Counter(name for name in names if name is not None)
    return min(counts, key=lambda name: (-counts[name], name), default=None)
