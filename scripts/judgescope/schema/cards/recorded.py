"""The card of a model whose replies or scores exist already."""

from functools import cached_property
from itertools import chain
from typing import Literal, Self

from pydantic import Field, model_validator

from judgescope.core.canonical import canonical
from judgescope.schema.cards.base import (
    Access,
    Card,
    Columns,
    FilePaths,
    Hashes,
    Published,
    Slug,
    repeated,
    same,
)
from judgescope.schema.cards.models import ModelCard


class RecordedRows(Card):
    """The columns or JSON paths of a recorded row, and how rows are joined to
    targets.
    """

    dataset: str | None = None
    """The column of the dataset, if a file mixes datasets; rows of other datasets are
    left out."""
    datasets: dict[Slug, str] = Field({}, exclude_if=same({}))
    """Dataset -> its name in the column `dataset`; default: its id or name."""
    target: str | None = None
    """Join rows by this column of target ids, as `judgescope export STUDY targets`
    writes them, also for perturbed texts. If `text` is given too, rows whose text
    differs from the target's are dropped."""
    item: str | None = None
    """Join rows by this column of item ids, and by system; comparisons can also be
    joined by item and `text`."""
    system: str | None = None
    """The column of the system, in addition to `item` or `text`."""
    source: Columns = Field([])
    """If rows are joined by `text`: the columns of the source, which must match,
    too."""
    text: str | None = None
    """Join rows by this column of judged texts."""
    aspect: str | None = None
    """The column of the aspect, if a file mixes aspects."""
    aspects: dict[Slug, str] = Field({}, exclude_if=same({}))
    """Aspect -> its name in the column `aspect`; default: its id or name."""
    reply: str | None = None
    """The column of raw replies: one reply, or a list of draws."""
    scores: dict[str, str] = Field({})
    """Aspect -> column of existing scores; * stands for every aspect."""
    confidence: dict[str, str] = Field({}, exclude_if=same({}))
    """Aspect -> column of the judge's confidence in its score, for table confidence; *
    stands for every aspect. It belongs to the judge of the same row: it is no judge."""
    confidence_as: Literal["chance", "percent"] = Field(
        "chance", exclude_if=same("chance")
    )
    """How the column is written: chance, from 0 to 1; percent, from 0 to 100."""
    confidence_about: str | None = Field(None, exclude_if=same(None))
    """Of two labels, that whose probability the column is, whatever the verdict, such
    as `pass`; default: the probability of the verdict."""
    missing: list[str] = Field([], exclude_if=same([]))
    """Cell contents that mean a missing reply or score."""
    repeated: Literal["stop", "first", "last", "mean"] = Field(
        "stop", exclude_if=same("stop")
    )
    """What to do if several rows for the same text differ (scores by more than a
    relative 0.00001): stop, use the first or the last, or use the mean of their
    scores."""
    system_b: str | None = Field(None, exclude_if=same(None))
    """For comparisons: the column of the second text's system, in addition to
    `system`."""
    text_b: str | None = Field(None, exclude_if=same(None))
    """For comparisons: the column of the second text, in addition to `text`."""
    swapped: dict[str, Columns] = Field({}, exclude_if=same({}))
    """For comparisons: a column, or a field of the file's name -> its values in rows
    that showed the second text first."""
    reply_swapped: str | None = Field(None, exclude_if=same(None))
    """For comparisons: the column of replies to the same two texts in the other
    order."""
    labels: dict[Literal["first", "second", "text", "text_b", "tie"], Columns] = Field(
        {}, exclude_if=same({})
    )
    """For comparisons whose `reply` is a word: choice -> the words for it, in any case.
    `first` and `second` are the texts as shown, `text` and `text_b` those of the
    columns with these names."""
    lists: bool = False
    """Whether each cell is a JSON list with an entry per item, in the same order in all
    rows; the column `#` is then an entry's id: the dataset's id and the entry's
    number."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.target is not None and (self.item or self.system or self.source):
            raise ValueError("`target` identifies a text: combine it with `text` only")
        both = self.item is not None and self.text is not None and self.compares
        if (
            self.target is None
            and (self.item is None) == (self.text is None)
            and not both
        ):
            raise ValueError(
                "rows are joined by `target`, by `item` (and `system`), or by `text`: "
                "give one"
            )
        if (self.reply is None) == (not self.scores):
            raise ValueError("rows hold either a `reply` or `scores`: give one")
        if self.repeated == "mean" and self.reply is not None:
            raise ValueError("`repeated: mean` needs scores: replies have no mean")
        for key, renamed, column in (
            ("aspect", self.aspects, self.aspect),
            ("dataset", self.datasets, self.dataset),
        ):
            if renamed and column is None:
                raise ValueError(
                    f"`{key}s` renames the values of a column: map `{key}` too"
                )
        self._check_comparisons()
        self._check_confidence()
        return self

    def _check_confidence(self) -> None:
        if not self.confidence:
            if self.confidence_as != "chance" or self.confidence_about is not None:
                raise ValueError(
                    "`confidence_as` and `confidence_about` describe a column: name it "
                    "under `confidence`"
                )
            return
        if self.reply is not None:
            raise ValueError(
                "`confidence` is a column beside `scores`: one that a reply states is "
                "read by the judge's key `confidence: stated`"
            )
        if self.repeated == "mean":
            raise ValueError(
                "a mean of scores has no confidence of its own: use `repeated: first` "
                "or `last`, or leave `confidence` out"
            )
        scored = {*self.scores.values()}
        twice = [name for name in self.confidence.values() if name in scored]
        if twice:
            raise ValueError(
                f"the column {twice[0]} is a score and a confidence: name the column "
                "with the confidence, or leave it out"
            )

    @property
    def compares(self) -> bool:
        """Return whether a row is about two texts."""
        return self.system_b is not None or self.text_b is not None

    def _check_comparisons(self) -> None:
        if not self.compares:
            if self.swapped or self.reply_swapped or self.labels:
                raise ValueError(
                    "`swapped`, `reply_swapped` and `labels` are for comparisons: map "
                    "`system_b` or `text_b`"
                )
            return
        if self.target is not None or (self.item is None and self.system_b is not None):
            raise ValueError(
                "join comparisons by `item`, `system` and `system_b`, or by `text_b`"
            )
        if (self.system is None) != (self.system_b is None) or (self.text is None) != (
            self.text_b is None
        ):
            raise ValueError(
                "map pairs of keys: `system` and `system_b`, or `text` and `text_b`"
            )
        if self.reply is None or self.repeated == "mean" or self.lists:
            raise ValueError(
                "comparisons need a `reply`: no `scores`, `lists` or `repeated: mean`"
            )
        if self.swapped and self.reply_swapped:
            raise ValueError(
                "the two orders are in two rows (`swapped`) or one (`reply_swapped`): "
                "give one key"
            )
        if len(self.swapped) > 1:
            raise ValueError("`swapped` may name only one column")
        every_word = chain.from_iterable(self.labels.values())
        words = [word.casefold() for word in every_word]
        if twice := repeated(words):
            raise ValueError(f"a word of `labels` has two meanings: {twice}")


class StatedPrice(Card):
    """What judgments cost that somebody else paid for, and where that is said."""

    usd_per_1000: float = Field(ge=0)
    """US dollars for 1,000 judgments."""
    source: str = Field(min_length=1)
    """Who says so, and for how many tokens; tables repeat it."""


class RecordedModel(Published, ModelCard):
    """Replies or scores that exist already, read as they are."""

    engine: Literal["recorded"]
    dataset: Slug | None = None
    """The dataset whose targets were judged; default: given by `rows.dataset`."""
    files: FilePaths
    """Role -> path. A role named like a judge's form holds that form's rows; other
    forms read the role `data`."""
    sha256: Hashes = Field({})
    """Role -> sha256 of the file, or of all files of a role."""
    kind: Literal["jsonl", "json", "csv", "tsv", "parquet", "alttest"] | None = None
    """The file type, if the file name's suffix does not show it; `alttest`: JSON, judge
    -> {id -> reply}, with the columns #item (the id up to `__`), #system (the rest) and
    one of each judge."""
    rows: RecordedRows
    """The columns of a row, and how a row is joined to its target."""
    prices: Access[dict[str, StatedPrice]] = Field({}, exclude_if=same({}))
    """Form of a judge (for `columns` the column), or `*` for all others -> the price of
    its judgments, `{usd_per_1000: …, source: …}`. Recorded judgments are free, which
    decides what to buy; default: free."""

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if self.dataset is None and self.rows.dataset is None:
            raise ValueError(
                "the judged dataset is missing: give `dataset` or `rows.dataset`"
            )
        return self

    def price_of(self, form: str) -> StatedPrice | None:
        """Return the stated price of the judgments of a form; None if there is none."""
        return self.prices.get(form) or self.prices.get("*")

    def judges(self, dataset: str) -> bool:
        """Return whether a dataset's texts were judged, as far as the card shows."""
        if self.dataset is None:
            return not self.rows.datasets or dataset in self.rows.datasets
        return dataset == self.dataset

    @cached_property
    def row_keys(self) -> str:
        """Return the keys of `rows` that are set, as JSON: every request key holds
        them.
        """
        return canonical(self.rows.model_dump())
