"""A table with one text a row, read by columns: the tables that `data.table` makes of
it, without an object for each row, so that millions of rows fit into memory.

Only what is plain is read here: items, systems, texts, numbers or labels. Where a row
has a fault, or a cell a list, there is no result, and the reader of rows, which makes
the messages, has its turn.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import to_builtins
from numpy.typing import NDArray

from judgescope.core.canonical import canonical
from judgescope.core.files import write_text
from judgescope.core.names import ORIGINAL, SYSTEMS, slugs
from judgescope.core.paths import located_folder
from judgescope.data.draft import MEAN, ONLY_SYSTEM, Draft, TextKey
from judgescope.data.files import resolve, verify
from judgescope.data.rated import SOURCE
from judgescope.data.rows import cell_list
from judgescope.data.specs import IngestReport, IngestSpec, NamesFile, ReadRatingsSpec
from judgescope.data.tables import raters_of_one, repeated_sources
from judgescope.data.wording import Location
from judgescope.schema.cards import FORMATS, Dataset
from judgescope.schema.cards.data import Select
from judgescope.schema.loading import validate_card
from judgescope.schema.rows import ItemRow, PartValue
from judgescope.schema.tables import constant, of_columns, table_of, write_table

Cells = Mapping[str, Sequence[Any]]
"""Column -> its cells, one per row."""
ONE_RATER: Final = "rater-1"
"""The rater of a column that is alone in its aspect (`data.table`)."""
ITEMS_AT_A_TIME: Final = 50_000
MOST_READ_AGAIN: Final = 160_000
"""Rows up to which a table with faults is read again by rows, with all messages."""


@dataclass(frozen=True)
class PlainDataset:
    """A dataset as its tables.

    texts, rows sorted by target: `order` has the row of the file of each of them.
    """

    items: pa.Table
    texts: pa.Table
    ratings: pa.Table
    order: NDArray[np.int64]
    systems: dict[str, str]
    """System -> its name in the data."""
    raters: dict[str, set[str]]
    """Aspect -> the raters who rated any text on it."""
    problems: list[str]
    sources: list[str]
    """The sources of items, "" where an item has none."""


def ingest_plain(
    spec: IngestSpec, ratings: ReadRatingsSpec, cells: Cells, n_rows: int
) -> PlainDataset | None:
    """Write the texts and ratings of a dataset as `tables.ingest_all` does, of which
    `cells` are those of the only file; None, and nothing is written, where card or
    cells are not plain or have a fault.
    """
    folder = located_folder(spec.folder)
    data = Path(spec.data)
    where = spec.card_file
    FORMATS.load(spec.format)
    card: Dataset = validate_card("dataset", spec.keys, where)
    if ratings.perturbs or not _is_plain(card):
        return None
    hashes = verify(card, folder, data, where=where)
    [(file, _)] = resolve(card.files, "data", folder, data, where=where)
    read = read_plain(card, file, cells, n_rows, spec.part)
    if read is None:
        return None
    output = spec.output
    write_table("items", read.items, output.items)
    write_table("targets", read.texts, output.systems)
    if output.original is not None:
        write_table("targets", table_of("targets", []), output.original)
    names = NamesFile(systems=read.systems, same_names=bool(card.same_names))
    write_text(Path(output.names), canonical(to_builtins(names)) + "\n")
    write_table("ratings", read.ratings, ratings.output.ratings)
    write_table("gold_spans", table_of("gold_spans", []), ratings.output.spans)
    counts = IngestReport(
        dataset=card.dataset,
        sha256=hashes,
        items=len(read.items),
        targets=len(read.texts),
        originals=0,
        ratings=len(read.ratings),
        raters=sorted(set[str]().union(*read.raters.values())),
        raters_of_one=raters_of_one(read.raters),
        systems=read.systems,
        problems=[*read.problems, *repeated_sources(read.sources)],
        ratings_kind=card.ratings,
        texts="",  # a later run compares it, and these tables are not kept
        how=ratings.how,
    )
    write_text(Path(ratings.output.report), canonical(to_builtins(counts)) + "\n")
    return read


def read_plain(
    card: Dataset, file: Path, cells: Cells, n_rows: int, part: str = SOURCE
) -> PlainDataset | None:
    """The dataset in the rows of a file, whose cells are given by column; None if its
    card or its cells are not plain, or any has a fault.

    `part`: the name of a source that has one part.
    """
    if not _is_plain(card) or not all(map(_are_scalars, cells.values())):
        return None
    return _ColumnDraft(card, file, n_rows, part).dataset(cells)


class RatingColumn(NamedTuple):
    """The ratings of one aspect in one column, NaN where one is missing: (rows,)."""

    aspect: str
    rater: str
    values: NDArray[np.float64]


def _is_plain(card: Dataset) -> bool:
    """Whether a card maps nothing beside items, systems, texts and ratings."""
    columns = card.columns
    assert columns is not None
    plain = {"item", "source", "system", "anonymous", "text", "length", "ratings"}
    for field in type(columns).model_fields:
        if field not in plain and getattr(columns, field):
            return False
    if card.reference_systems or card.families or card.select != Select():
        return False
    has_texts = columns.text is not None
    people_rate = card.ratings == "people" and card.raters != MEAN
    if not people_rate:
        return False
    return card.has_texts == has_texts and set(card.files) == {"data"}


def _are_scalars(cells: Sequence[Any]) -> bool:
    """Whether cells are texts, numbers or missing."""
    return {*map(type, cells)} <= {str, int, float, type(None)}


class _ColumnDraft(Draft):
    """A draft whose texts and ratings stay in columns; names and faults are those of
    any draft.
    """

    def __init__(self, card: Dataset, file: Path, n_rows: int, part: str) -> None:
        super().__init__(card, part)
        assert card.columns is not None
        self.mapping = card.columns
        self.file = str(file)
        self.n_rows = n_rows

    def dataset(self, cells: Cells) -> PlainDataset | None:
        """The dataset; None for a fault, a list, or two texts of an item and system."""
        item_names, item = self._coded_items(cells)
        system_names, system = self._coded_systems(cells)
        texts = self._texts(cells)
        text_keys = item.astype(np.int64) * len(system_names) + system
        if np.unique(text_keys).size < self.n_rows:
            places = zip(item.tolist(), system.tolist(), strict=True)
            self._note_repeated([(item_names[i], system_names[s]) for i, s in places])
        lengths = self._lengths_of_rows(cells)
        ratings = self._ratings_by_column(cells)
        if self._faults and self.n_rows > MOST_READ_AGAIN:
            self.check()
        if ratings is None or self._faults:
            return None
        items = slugs(item_names)
        systems = slugs(system_names, [ORIGINAL])
        item_of_row = _named(items, item_names, item)
        system_of_row = _named(systems, system_names, system)
        targets = pc.binary_join_element_wise(item_of_row, system_of_row, ":")
        order = pc.sort_indices(targets)
        dataset = self.card.dataset
        text_table = of_columns(
            "targets",
            self.n_rows,
            dataset=dataset,
            target=targets.take(order),
            item=item_of_row.take(order),
            system=system_of_row.take(order),
            perturbation=SYSTEMS,
            step=0,
            text=texts.take(order),
            length=lengths.take(order),
            status="ok",
            edits=[],
        )
        return PlainDataset(
            items=self._item_table(items),
            texts=text_table,
            ratings=_rating_table(dataset, ratings, targets, order),
            order=order.to_numpy(),
            systems={made: name for name, made in sorted(systems.items())},
            raters=_raters(ratings),
            problems=[*self.notes, *self._notices()],
            sources=[entry.source for entry in self._items.values()],
        )

    def _at(self, row: int) -> None:
        """Make a row the current one; the first is row 1."""
        self.location = Location(self.file, row + 1)

    def _note_repeated(self, names: Sequence[TextKey]) -> None:
        """Record texts of the same item and system as faults; names (rows,)."""
        first: dict[TextKey, int] = {}
        for row, key in enumerate(names):
            before = first.setdefault(key, row)
            if before != row:
                self._outputs[key] = (Location(self.file, before + 1), "")
                self._at(row)
                self.output(*key, "a text")
        self._outputs.clear()

    def _coded_items(self, cells: Cells) -> tuple[list[str], NDArray[np.int32]]:
        """The names of items, and the item of each row, by its place among them."""
        sources = self.mapping.source_columns
        of_source = [cells[name] for name in sources]
        of_item = cells[self.mapping.item] if self.mapping.item else of_source[0]
        part_names = self.mapping.part_names(self.only_part)
        known: dict[tuple[object, ...], int] = {}
        places: dict[str, int] = {}
        noticed = set[tuple[object, ...]]()
        item = np.empty(self.n_rows, dtype=np.int32)
        for row, key in enumerate(zip(of_item, *of_source, strict=True)):
            if key not in known or key in noticed:
                self._at(row)
                notices = self._n_noticed
                name, *texts = key
                parts = list(zip(part_names, texts, strict=True))
                with self.caught():
                    if not self.mapping.item:
                        name = self.number(texts, self.n_rows)
                    item_id = self.item(name, parts, None, {})
                    known[key] = places.setdefault(item_id, len(places))
                if self._n_noticed > notices:
                    noticed.add(key)  # every row of an odd source is counted
            item[row] = known.get(key, 0)
        return list(places), item

    @property
    def _n_noticed(self) -> int:
        return sum(map(len, self._odd.values()))

    def _coded_systems(self, cells: Cells) -> tuple[list[str], NDArray[np.int32]]:
        """The names of systems, and the system of each row, by its place."""
        column = self.mapping.system
        if column is None:
            return [ONLY_SYSTEM], np.zeros(self.n_rows, dtype=np.int32)
        known: dict[object, int] = {}
        places: dict[str, int] = {}
        system = np.empty(self.n_rows, dtype=np.int32)
        for row, cell in enumerate(cells[column]):
            if cell not in known:
                self._at(row)
                with self.caught():
                    name = self.name(cell, "system")
                    known[cell] = places.setdefault(name, len(places))
            system[row] = known.get(cell, 0)
        return list(places), system

    def _texts(self, cells: Cells) -> pa.Array:
        column = self.mapping.text
        if column is None:
            return constant("", self.n_rows, pa.string())
        for row, text in enumerate(cells[column]):
            self._at(row)
            self.text(text, "text")
        if self._faults:
            return constant("", self.n_rows, pa.string())
        return pa.array(cells[column], pa.string())

    def _lengths_of_rows(self, cells: Cells) -> pa.Array:
        column = self.mapping.length
        if column is None:
            return pa.nulls(self.n_rows, pa.float64())
        lengths = list[float | None]()
        for row, cell in enumerate(cells[column]):
            self._at(row)
            key = (str(row), "")
            self.length(key, cell, column)
            _, length = self._lengths.get(key, (self.location, None))
            lengths.append(length)
        return pa.array(lengths, pa.float64())

    def _ratings_by_column(self, cells: Cells) -> list[RatingColumn] | None:
        """The ratings of each aspect and column; None if a cell is a list."""
        rated = list[RatingColumn]()
        for aspect, name in self.columns.items():
            paths = self.mapping.ratings.get(aspect, [name])
            for path in paths:
                values = self._values(aspect, cells[path])
                if values is None:
                    return None
                rater = path if len(paths) > 1 else ONE_RATER
                rated.append(RatingColumn(aspect, rater, values))
        return rated

    def _values(self, aspect: str, cells: Sequence[Any]) -> NDArray[np.float64] | None:
        known: dict[object, float | None] = {}
        values = np.empty(self.n_rows)
        for row, cell in enumerate(cells):
            if cell not in known:
                if cell_list(cell) is not None:
                    return None
                self._at(row)
                known[cell] = self.value(aspect, cell)
            elif known[cell] is None:
                self._at(row)
                self.is_missing(cell, aspect)
            value = known[cell]
            values[row] = np.nan if value is None else value
        return values

    def _item_table(self, items: Mapping[str, str]) -> pa.Table:
        """The table of items; `items`: name in the data -> id."""
        ids = sorted((made, name) for name, made in items.items())
        parts = [table_of("items", [])]
        for begin in range(0, len(ids), ITEMS_AT_A_TIME):
            some = ids[begin : begin + ITEMS_AT_A_TIME]
            parts.append(table_of("items", list(self._item_rows(some))))
        return pa.concat_tables(parts)

    def _item_rows(self, ids: Sequence[tuple[str, str]]) -> Iterator[ItemRow]:
        for made, name in ids:
            entry = self._items[name]
            parts = list[PartValue]()
            for part in entry.parts:
                parts.append({"name": part.name, "text": part.text})
            yield {
                "dataset": self.card.dataset,
                "item": made,
                "source": entry.source,
                "parts": parts,
                "references": [],
                "meta": canonical({"id": name}, strict=False),
            }

    def _unused_items(self) -> list[str]:
        return []  # each row has an item and a text


def _named(
    ids: Mapping[str, str], names: Sequence[str], places: NDArray[np.int32]
) -> pa.Array:
    """The id of each row's name, by its place among the names."""
    return pa.array([ids[name] for name in names]).take(pa.array(places))


def _raters(ratings: Sequence[RatingColumn]) -> dict[str, set[str]]:
    """Aspect -> the ids of the raters who rated any text on it."""
    ids = _rater_ids(ratings)
    raters: dict[str, set[str]] = {}
    for column in ratings:
        if column.rater in ids and not np.isnan(column.values).all():
            raters.setdefault(column.aspect, set()).add(ids[column.rater])
    return raters


def _rater_ids(ratings: Sequence[RatingColumn]) -> dict[str, str]:
    """Rater -> id, of the raters with a rating."""
    names = []
    for column in ratings:
        if not np.isnan(column.values).all():
            names.append(column.rater)
    return slugs(names)


def _rating_table(
    dataset: str, ratings: Sequence[RatingColumn], targets: pa.Array, order: pa.Array
) -> pa.Table:
    """The table of ratings, sorted by target, aspect and rater.

    targets (rows,); `order` sorts them.
    """
    ids = _rater_ids(ratings)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    aspects = sorted({column.aspect for column in ratings})
    raters = sorted(ids.values())
    of_text = []
    of_aspect = []
    of_rater = []
    values = []
    for column in ratings:
        rated = np.flatnonzero(~np.isnan(column.values))
        if rated.size:
            of_text.append(rank[rated])
            of_aspect.append(np.full(rated.size, aspects.index(column.aspect)))
            of_rater.append(np.full(rated.size, raters.index(ids[column.rater])))
            values.append(column.values[rated])
    if not values:
        return table_of("ratings", [])
    text, aspect, rater = map(np.concatenate, (of_text, of_aspect, of_rater))
    sorted_rows = np.lexsort((rater, aspect, text))
    return of_columns(
        "ratings",
        len(sorted_rows),
        dataset=dataset,
        target=targets.take(order).take(pa.array(text[sorted_rows])),
        aspect=pa.array(aspects).take(pa.array(aspect[sorted_rows])),
        rater=pa.array(raters).take(pa.array(rater[sorted_rows])),
        value=pa.array(np.concatenate(values)[sorted_rows]),
    )
