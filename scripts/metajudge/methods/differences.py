"""What a judge has more of than another, on the same resamples of items."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from metajudge.methods.absence import excluded
from metajudge.methods.study import DatasetStudy
from metajudge.statistics.comparison import difference
from metajudge.statistics.estimate import UNDEFINED_JUDGE
from metajudge.statistics.resampling import Replicated


def compared(study: DatasetStudy, texts: str = "original") -> Iterator[tuple[str, str]]:
    """Yield every two judges of a set of texts that the study compares, in its order."""
    wanted, never = study.spec["compared"], excluded(study, texts)
    judges = (name for name in study.spec["judges"] if name not in never)
    yield from combinations([name for name in judges if not wanted or name in wanted], 2)


def difference_rows(
    study: DatasetStudy,
    judge: str,
    first: Mapping[str, Replicated],
    second: Mapping[str, Replicated],
    *,
    note: str,
    place: Mapping[str, str | None],
    why: str = UNDEFINED_JUDGE,
    aspect: str = "",
    level: str = "",
    sources: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each statistic of `first`: its value less that of `second`.

    Both rest on the same resamples of items, so that what they share cancels. `why` is the note
    where one of them is undefined; `sources` how many items there are, where `n` counts others;
    `place` are the columns that say of what `second` is.
    """
    for statistic, one in first.items():
        other = second[statistic]
        fewest = min(one.estimate.n, other.estimate.n) if sources is None else sources
        gap = difference(one, other, fewest, why=why).with_note(note)
        yield study.row(judge, aspect, f"difference_{statistic}", level, gap, **place)
