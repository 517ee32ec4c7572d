"""Simplicity-DA as its authors publish it: CSV, one simplified sentence per row, with mean ratings.

Columns of the role `data`: sent_id, orig_sent, sys_name, simp_sent, and a column of means for each
aspect; columns of values standardised by rater (`…_zscore`) are not read. The role `ratings` has
the ratings of individual raters: a row for each rater of a text, with sent_id, sys_name, orig_sent,
simp_sent, rater_id, and a column for some of the aspects. Other aspects have the rater `mean`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from statistics import fmean

from judgescope.data.draft import MEAN, Draft, Files, Key, RowFault
from judgescope.data.files import RoleFiles
from judgescope.data.rated import Rated
from judgescope.data.rows import Row, read_rows
from judgescope.schema.cards import Dataset, Format

TEXTS = ("orig_sent", "simp_sent")
ROUNDED = 1e-6
"""Means that differ by more are not the means of the individual ratings."""


def read(card: Dataset, files: Files) -> Rated:
    """Return the dataset; individual raters are rater-<id>."""
    reading = _Reading(Draft(card), _columns(files.get("ratings", [])))
    reading.draft.add_rows(files["data"], reading.add)
    reading.draft.add_rows(files.get("ratings", []), reading.rate)
    reading.draft.notes.extend(reading.differing())
    return reading.draft.finish()


def _columns(files: RoleFiles) -> set[str]:
    return {name for path, _ in files for _, row in islice(read_rows(path), 1) for name in row}


class _Reading:
    def __init__(self, draft: Draft, by_rater: set[str]) -> None:
        self.draft = draft
        self.by_rater = {
            name: column for name, column in draft.columns.items() if column in by_rater
        }
        self.known: dict[Key, tuple[str, ...]] = {}
        self.means: dict[tuple[Key, str], float] = {}
        self.single: dict[tuple[Key, str], dict[str, float]] = defaultdict(dict)

    def add(self, draft: Draft, row: Row) -> None:
        """Add a text and its mean ratings, of the aspects without individual ratings."""
        source, text = (draft.pick(row, column) for column in TEXTS)
        item = draft.item(draft.pick(row, "sent_id"), [source], None)
        output = draft.output(item, draft.pick(row, "sys_name"), text)
        self.known.setdefault(output, (source, text))
        for aspect, column in draft.columns.items():
            with draft.caught():
                if aspect not in self.by_rater:
                    draft.rating(output, aspect, MEAN, draft.pick(row, column))
                elif (mean := draft.value(aspect, row.get(column), on_grid=False)) is not None:
                    self.means[output, aspect] = mean

    def rate(self, draft: Draft, row: Row) -> None:
        """Add one rater's ratings of a text."""
        key = tuple(
            draft.name(draft.pick(row, column), kind)
            for column, kind in (("sent_id", "item"), ("sys_name", "system"))
        )
        rater = f"rater-{draft.name(draft.pick(row, 'rater_id'), 'rater')}"
        output = (key[0], key[1])
        if output not in self.known:
            raise RowFault("the role `data` has no such text", got=", ".join(output))
        if self.known[output] != tuple(draft.pick(row, column) for column in TEXTS):
            raise RowFault("the role `data` has different sentences here", got=", ".join(output))
        for aspect, column in self.by_rater.items():
            ratings = self.single[output, aspect]
            if rater in ratings:
                raise RowFault("a rater rated the same text twice", got=rater)
            value = draft.rating(output, aspect, rater, draft.pick(row, column))
            if value is not None:
                ratings[rater] = value

    def differing(self) -> Iterator[str]:
        """Yield the number of means of the role `data` that differ from the individual ratings'
        means."""
        wrong = Counter(
            aspect
            for (output, aspect), mean in self.means.items()
            if (ratings := self.single.get((output, aspect)))
            and abs(fmean(ratings.values()) - mean) > ROUNDED
        )
        for aspect, count in sorted(wrong.items()):
            yield (
                f"means of {aspect} that differ from the means of the individual ratings: {count}"
            )


FORMAT = Format(name="simplicity_da_csv", optional=("ratings",), means=True)
