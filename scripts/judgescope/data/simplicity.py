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

from judgescope.data.draft import MEAN, Draft, FilesByRole, RowFault, TextKey
from judgescope.data.rows import FileRow, read_rows
from judgescope.schema.cards import Format


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the texts and ratings; individual raters are rater-<id>."""
    rated = files.get("ratings", [])
    columns = set[str]()
    for path, _ in rated:
        for _, row in islice(read_rows(path), 1):
            columns.update(row)
    by_rater: dict[str, str] = {}
    for aspect, column in draft.columns.items():
        if column in columns:
            by_rater[aspect] = column
    reading = _Reading(by_rater)
    draft.add_rows(files["data"], reading.add)
    draft.add_rows(rated, reading.rate)
    draft.notes.extend(reading.differing())


class _Reading:
    def __init__(self, by_rater: dict[str, str]) -> None:
        self.by_rater = by_rater
        self.known: dict[TextKey, tuple[str, ...]] = {}
        self.means: dict[tuple[TextKey, str], float] = {}
        self.single: dict[tuple[TextKey, str], dict[str, float]] = defaultdict(dict)

    def add(self, draft: Draft, row: FileRow) -> None:
        """Add a text and its mean ratings, of the aspects without individual
        ratings.
        """
        source = draft.pick(row, "orig_sent")
        text = draft.pick(row, "simp_sent")
        name = draft.pick(row, "sent_id")
        item = draft.item(name, [("Original sentence", source)], None)
        output = draft.output(item, draft.pick(row, "sys_name"), text)
        self.known.setdefault(output, (source, text))
        for aspect, column in draft.columns.items():
            with draft.caught():
                if aspect not in self.by_rater:
                    draft.rating(output, aspect, MEAN, draft.pick(row, column))
                    continue
                mean = draft.value(aspect, row.get(column), on_grid=False)
                if mean is not None:
                    self.means[output, aspect] = mean

    def rate(self, draft: Draft, row: FileRow) -> None:
        """Add one rater's ratings of a text."""
        item = draft.name(draft.pick(row, "sent_id"), "item")
        system = draft.name(draft.pick(row, "sys_name"), "system")
        rater = "rater-" + draft.name(draft.pick(row, "rater_id"), "rater")
        output = (item, system)
        if output not in self.known:
            raise RowFault("the role `data` has no such text", got=", ".join(output))
        texts = (draft.pick(row, "orig_sent"), draft.pick(row, "simp_sent"))
        if self.known[output] != texts:
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
        wrong = Counter[str]()
        for (output, aspect), mean in self.means.items():
            ratings = self.single.get((output, aspect))
            # More than rounding: published means have six digits or more.
            if ratings and abs(fmean(ratings.values()) - mean) > 1e-6:
                wrong[aspect] += 1
        for aspect, count in sorted(wrong.items()):
            yield (
                f"means of {aspect} that differ from the means of the individual "
                f"ratings: {count}"
            )


FORMAT = Format(
    name="simplicity_da_csv",
    read=read,
    optional=("ratings",),
    means=True,
    parts=("Original sentence",),
)
