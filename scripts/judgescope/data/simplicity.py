"""Simplicity-DA as its authors publish it: CSV, one simplified sentence per row, with
mean ratings.

Columns of the role `data`: sent_id, orig_sent, sys_name, simp_sent, and a column of
means for each aspect; columns of values standardised by rater (`…_zscore`) are not
read. The role `ratings` has the ratings of individual raters: a row for each rater of a
text, with sent_id, sys_name, orig_sent, simp_sent, rater_id, and a column for some of
the aspects. Other aspects have the rater `mean`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from statistics import fmean

from judgescope.data.draft import MEAN, Draft, Files, Key, RowFault
from judgescope.data.rows import Row, read_rows
from judgescope.schema.cards import Format

TEXTS = ("orig_sent", "simp_sent")
ROUNDED = 1e-6
"""Means that differ by more are not the means of the individual ratings."""


def read(draft: Draft, files: Files) -> None:
    """Add the texts and ratings; individual raters are rater-<id>."""
    rated = files.get("ratings", [])
    columns = {
        name
        for path, _ in rated
        for _, row in islice(read_rows(path), 1)
        for name in row
    }
    reading = _Reading(
        {
            aspect: column
            for aspect, column in draft.columns.items()
            if column in columns
        }
    )
    draft.add_rows(files["data"], reading.add).add_rows(rated, reading.rate)
    draft.notes.extend(reading.differing())


class _Reading:
    def __init__(self, by_rater: dict[str, str]) -> None:
        self.by_rater = by_rater
        self.known: dict[Key, tuple[str, ...]] = {}
        self.means: dict[tuple[Key, str], float] = {}
        self.single: dict[tuple[Key, str], dict[str, float]] = defaultdict(dict)

    def add(self, draft: Draft, row: Row) -> None:
        """Add a text and its mean ratings, of the aspects without individual
        ratings.
        """
        source, text = (draft.pick(row, column) for column in TEXTS)
        item = draft.item(draft.pick(row, "sent_id"), [source], None)
        output = draft.output(item, draft.pick(row, "sys_name"), text)
        self.known.setdefault(output, (source, text))
        for aspect, column in draft.columns.items():
            with draft.caught():
                if aspect not in self.by_rater:
                    draft.rating(output, aspect, MEAN, draft.pick(row, column))
                elif (
                    mean := draft.value(aspect, row.get(column), on_grid=False)
                ) is not None:
                    self.means[output, aspect] = mean

    def rate(self, draft: Draft, row: Row) -> None:
        """Add one rater's ratings of a text."""
        named = {"sent_id": "item", "sys_name": "system", "rater_id": "rater"}
        item, system, rater = (
            draft.name(draft.pick(row, key), kind) for key, kind in named.items()
        )
        rater, output = f"rater-{rater}", (item, system)
        if output not in self.known:
            raise RowFault("the role `data` has no such text", got=", ".join(output))
        if self.known[output] != tuple(draft.pick(row, column) for column in TEXTS):
            raise RowFault(
                "the role `data` has different sentences here", got=", ".join(output)
            )
        for aspect, column in self.by_rater.items():
            ratings = self.single[output, aspect]
            if rater in ratings:
                raise RowFault("a rater rated the same text twice", got=rater)
            value = draft.rating(output, aspect, rater, draft.pick(row, column))
            if value is not None:
                ratings[rater] = value

    def differing(self) -> Iterator[str]:
        """Yield the number of means of the role `data` that differ from the individual
        ratings' means."""
        wrong = Counter(
            aspect
            for (output, aspect), mean in self.means.items()
            if (ratings := self.single.get((output, aspect)))
            and abs(fmean(ratings.values()) - mean) > ROUNDED
        )
        for aspect, count in sorted(wrong.items()):
            yield (
                f"means of {aspect} that differ from the means of the individual "
                f"ratings: {count}"
            )


FORMAT = Format(name="simplicity_da_csv", optional=("ratings",), means=True)
