"""What an adapter has read so far, with all faults in it, which are reported in one
pass.
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Self

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.names import folded, slugs
from judgescope.data.files import RoleFiles
from judgescope.data.rated import GoldSpan, Item, Output, Preference, Rated, Rating
from judgescope.data.rows import Row, pick, read_rows, read_text, word_of
from judgescope.schema.cards import Dataset, RatedAspect
from judgescope.schema.cards.base import plain_word

MEAN = "mean"
"""The rater whose values are means over several people: in the scale's range, but off
its grid."""
RESERVED = ("original",)
"""System ids that would collide with the target id of an unperturbed original."""
ROW_PER_TEXT = (
    "use one row per text and one column per rater: map `item` (judgescope init: "
    "--item) to the column that names the source, and `system` (--system) to the one "
    "that names the system"
)
SHOWN_ROWS, SHOWN_FAULTS = 5, 20
FEW_SIGNS = 30
NO_TEXTS = {
    name.casefold(): name
    for name in (
        *("nan", "None", "null", "NaT", "<NA>", "undefined", "[]", "{}"),
        *(
            "#NAME?",
            "#VALUE!",
            "#REF!",
            "#N/A",
            "#DIV/0!",
            "#NUM!",
            "#NULL!",
            "#ERROR!",
        ),
    )
}
"""What programs and spreadsheets write in place of a missing text."""
NO_WORDS = "instead of words"
"""Words of the notice of such texts."""
_NOTHING = r"(?:nan|NaN|None|null)"
PRINTED = re.compile(
    rf"""\s*\[\s*(?:['"]|{_NOTHING}\b).*(?:['"]|\b{_NOTHING})\s*\]\s*|\s*\[\s*{_NOTHING}\s*\]\s*""",
    re.DOTALL,
)
"""A list of texts as Python or JSON prints it."""
_NUMBER = re.compile(r"[-+]?(?:\d+(?:[.,]\d+)?|[.,]\d+)%?", re.ASCII)
AROUND = 30
"""Characters shown on both sides of the difference between two long, similar names."""

_FILL = "write it, or remove the row"

Files = Mapping[str, RoleFiles]
"""Role -> the files that a card names for it."""
Key = tuple[str, str]
"""(item, system): a text."""
ONLY_SYSTEM = "system"
"""The system of all texts in data that names no systems."""


RowFault = partial(UserError, where="")
"""Makes an error of the current row; the draft that records it adds the location."""


class Location(NamedTuple):
    """A row of a file; 0: the file as a whole."""

    file: str
    row: int


class _Item(NamedTuple):
    location: Location
    source: str
    references: tuple[str, ...]
    meta: dict[str, Any]


class Draft:
    """Items, outputs and ratings by the ids in the data; `finish` checks and renames
    them.
    """

    def __init__(self, card: Dataset) -> None:
        self.card = card
        self.location, self.part = Location("", 0), ""
        self.notes: list[str] = []
        self.spans: list[tuple[Key, GoldSpan]] = []
        """Marked errors, each with its text; `finish` sets their targets."""
        self._items: dict[str, _Item] = {}
        self._outputs: dict[Key, tuple[Location, str]] = {}
        self._lengths: dict[Key, tuple[Location, float | None]] = {}
        self._ratings: dict[tuple[Key, str, str], float] = {}
        self._preferences: dict[tuple[Key, Key, str, str], tuple[Location, float]] = {}
        self._missing: dict[tuple[str, str], list[Location]] = {}
        self._faults: dict[tuple[str, ...], tuple[UserError, list[Location]]] = {}
        self._odd: dict[tuple[str, str], list[Location]] = {}
        self._numbers: dict[str, int] = {}
        self._spelled: dict[tuple[str, str], str] = {}
        self._first: dict[tuple[str, str], tuple[str, Location]] = {}
        self._respelled: dict[tuple[str, str, str], list[Location]] = {}

    @property
    def columns(self) -> dict[str, str]:
        """Aspect -> its name in the data; empty if the card says that there are no
        ratings.
        """
        if self.card.ratings == "none":
            return {}
        return {
            name: aspect.column or name for name, aspect in self.card.aspects.items()
        }

    @property
    def has_items(self) -> bool:
        """Whether any item could be read."""
        return bool(self._items)

    @contextmanager
    def reading(self, file: Path, row: int, part: str = "") -> Iterator[None]:
        """Make this row, or a part of it that errors name, the current one; see
        `caught`.
        """
        self.location, self.part = Location(str(file), row), part
        with self.caught():
            yield

    def add_rows(self, files: RoleFiles, add: Callable[["Draft", Row], None]) -> Self:
        """Add every row of some files with `add`; its errors are recorded as faults of
        the row.
        """
        for path, _ in files:
            for number, row in read_rows(path):
                with self.reading(path, number):
                    add(self, row)
        return self

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Record an error in the block as a fault of the current row, and continue
        after the block."""
        try:
            yield
        except UserError as error:
            self._fault(
                error.what, got=error.got, allowed=error.allowed, todo=error.todo
            )

    def pick(self, row: Row, path: str) -> Any:
        """Return the value at `path` of the current row, or raise UserError."""
        return pick(row, path, "")

    def number(self, source: list[object], count: int) -> str:
        """Return an id for an item that has none: the dataset's id, and a number by
        appearance.

        Rows with the same source are one item; `count` is an upper bound of the number
        of items, so that ids sort in order of appearance.
        """
        key = self._one_name(" | ".join(map(str, source)), "source")
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        return numbered(self.card.dataset, number, count)

    def name(self, name: object, kind: str) -> str:
        """Return an id as text, even if it was stored as a number, or raise
        UserError.
        """
        if isinstance(name, float) and name.is_integer():
            name = int(name)
        if (
            isinstance(name, bool | float | list | dict)
            or _blank(name)
            or not folded(str(name))
        ):
            todo = (
                "remove empty rows, and give each other row an id"
                if _blank(name)
                else ""
            )
            raise RowFault(f"invalid id ({kind})", got=name, todo=todo)
        return self._one_name(str(name), kind)

    def _one_name(self, name: str, kind: str) -> str:
        """Return the spelling to use for a name: its own, unless the card says
        otherwise.
        """
        if (known := self._spelled.get((kind, name))) is not None:
            return known
        first, seen = self._first.setdefault(
            (kind, folded(name)), (name, self.location)
        )
        if first == name or self.card.same_names is False:
            self._spelled[kind, name] = name
            return name
        if self.card.same_names:
            self._respelled.setdefault((kind, first, name), []).append(self.location)
            return first
        self._fault(
            f"two names ({kind}) differ only in white space, case or Unicode form",
            also=seen,
            got=apart(first, name),
            todo=(
                "use one spelling everywhere, or set `same_names: true` (same name) or "
                "`same_names: false` (different names) in the dataset's card"
            ),
        )
        return name

    def item(
        self,
        name: object,
        source: list[object],
        references: list[object] | None,
        meta: dict[str, Any] | None = None,
    ) -> str:
        """Add an item, or check that it equals the item already added; return its id in
        the data.

        `source` has the parts of a source, [] if the data has none by design;
        `references` is None if the data has none by design: otherwise at least one is
        required.
        """
        key = self.name(name, "item")
        entry = _Item(
            self.location,
            self._source(source),
            tuple(
                self.text(text, "reference")
                for text in references or ()
                if not _blank(text)
            ),
            meta or {},
        )
        if references is not None and not entry.references:
            self._fault("this item has no reference", got=key)
        known = self._items.setdefault(key, entry)
        for field in ("source", "references", "meta"):
            if getattr(known, field) != getattr(entry, field):
                self._fault(
                    f"rows of the same item differ in their {field}",
                    also=known.location,
                    got=key,
                    todo=ROW_PER_TEXT,
                    alike=True,
                )
        return key

    def output(
        self, item: str, system: object, text: object, *, again: bool = False
    ) -> Key:
        """Add a system's text for an item that was added before.

        `text` is ignored if the format has none by design. `again`: the same text may
        occur several times.
        """
        key = (item, self.name(system, "system"))
        if item not in self._items:
            self._fault("unknown item", got=item, allowed=self._items)
        if key in self._outputs and not (again and self._outputs[key][1] == text):
            self._fault(
                "an item has two texts of the same system",
                also=self._outputs[key][0],
                got=", ".join(key),
                todo=f"{ROW_PER_TEXT}, or add a column that numbers the texts of a "
                "source"
                if not again
                else "map `item` or `systems` to columns that distinguish them",
                alike=True,
            )
        kept = self.text(text, "text") if self.card.has_texts else ""
        self._outputs.setdefault(key, (self.location, kept))
        return key

    def length(
        self, key: Key, cell: object, column: str, *, again: bool = False
    ) -> None:
        """Add the length of a text without words; a missing length is counted.

        `again`: the text may occur in several rows, with the same length.
        """
        text = str(cell).strip()
        value = None
        if not (_blank(cell) or text.lower() == "nan" or text in self.card.missing):
            value = as_number(cell)
            if value is None or not 0 <= value < math.inf:
                self._fault(
                    "a length is not a number"
                    if value is None
                    else "a length is negative or infinite",
                    f"column {column}",
                    got=cell,
                    allowed="a finite number, 0 or above; empty if it is unknown",
                )
                return
        location, known = self._lengths.setdefault(key, (self.location, value))
        if again and known != value:
            self._fault(
                "rows of the same text differ in its length",
                f"column {column}",
                also=location,
                got=", ".join(key),
                todo="give the text the same length in all its rows",
                alike=True,
            )

    def rating(self, key: Key, aspect: str, rater: str, cell: object) -> float | None:
        """Add a rater's rating of a text, and return it; a missing rating is
        counted.
        """
        value = self.value(aspect, cell, on_grid=rater != MEAN)
        if value is not None:
            self._ratings.setdefault((key, aspect, rater), value)
        return value

    def preference(
        self, first: Key, second: Key, aspect: str, rater: str, value: float
    ) -> None:
        """Add a rater's choice between two texts: 1 the first shown, -1 the second, 0
        neither.
        """
        key, back = (first, second, aspect, rater), (second, first, aspect, rater)
        if (
            known := self._preferences.get(key) or self._preferences.get(back)
        ) is not None:
            self._fault(
                "a rater compares the same two texts twice",
                also=known[0],
                got=f"{rater}: {first[1]} and {second[1]} of {first[0]}",
                todo="map the column that distinguishes the rows (`item`, `rater`), or "
                "keep one",
                alike=True,
            )
        self._preferences.setdefault(key, (self.location, value))

    def value(self, aspect: str, cell: object, *, on_grid: bool = True) -> float | None:
        """Return a rating, which must be on the aspect's scale; a missing rating is
        counted.
        """
        if self.is_missing(cell, aspect):
            return None
        scale = self.card.aspects[aspect]
        if scale.categorical:
            return self._label(cell, aspect, scale)
        value = as_number(cell)
        if value is None:
            self._fault("a rating is not a number", f"aspect {aspect}", got=cell)
            return None
        step = scale.step if on_grid else None
        steps = (value - scale.min) / step if step else 0.0
        on_scale = scale.min <= value <= scale.max
        if not (
            on_scale and math.isclose(steps, round(steps), rel_tol=0, abs_tol=1e-9)
        ):
            self._fault(
                "a rating is outside the scale",
                f"aspect {aspect}",
                got=cell,
                allowed=f"{scale.min:g} to "
                f"{scale.max:g}{f' in steps of {step:g}' if step else ''}",
            )
        return value

    def text(self, text: object, kind: str) -> str:
        """Return a text; what is not a text is recorded as a fault and becomes ""."""
        if _blank(text) or not isinstance(text, str):
            what, todo = ("empty", _FILL) if _blank(text) else ("not a string", "")
            self._fault(f"a {kind} is {what}", got=text, todo=todo)
            return ""
        if not folded(text[:FEW_SIGNS]) and not folded(text):
            self._fault(f"a {kind} has no visible character", got=text)
        elif what := _no_text(text):
            self._odd.setdefault((kind, what), []).append(self.location)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            half = text[error.start : error.end]
            self._fault(
                f"a {kind} contains a lone surrogate (half a character)", got=half
            )
        return text

    def finish(self) -> Rated:
        """Return the dataset under its final ids, or raise UserErrors with all
        faults.
        """
        if (
            not (self._outputs if self.card.has_systems else self._items)
            and not self._faults
        ):
            where = ", ".join(sorted(map(str, self.card.files.values())))
            raise UserError("the data has no rows", where=where)
        self.check()
        items = slugs(self._items)
        systems = slugs((system for _, system in self._outputs), RESERVED)
        raters = slugs(
            [*(key[2] for key in self._ratings), *(key[3] for key in self._preferences)]
        )
        target = {key: f"{items[key[0]]}:{systems[key[1]]}" for key in self._outputs}
        return Rated(
            items=sorted(
                (
                    Item(
                        items[key],
                        entry.source,
                        entry.references,
                        {**entry.meta, "id": key},
                    )
                    for key, entry in self._items.items()
                ),
                key=lambda item: item.item,
            ),
            outputs=sorted(
                Output(
                    target[key],
                    items[key[0]],
                    systems[key[1]],
                    text,
                    row.row,
                    row.file,
                    self._lengths.get(key, (row, None))[1],
                )
                for key, (row, text) in self._outputs.items()
            ),
            ratings=sorted(
                Rating(target[key], aspect, raters[rater], value)
                for (key, aspect, rater), value in self._ratings.items()
            ),
            preferences=sorted(
                Preference(target[first], target[second], aspect, raters[rater], value)
                for (first, second, aspect, rater), (
                    _,
                    value,
                ) in self._preferences.items()
            ),
            spans=sorted(
                (span._replace(target=target[key]) for key, span in self.spans),
                key=lambda span: span[:4],
            ),
            systems={made: name for name, made in sorted(systems.items())},
            same_names=bool(self.card.same_names),
            problems=[*self.notes, *self._notices()],
        )

    def _source(self, parts: list[object]) -> str:
        """Join the non-empty parts with a blank line; a single part keeps its white
        space.
        """
        texts = [self.text(part, "source") for part in parts if not _blank(part)]
        if parts and not texts:
            self._fault("a source is empty", got=parts[0], todo=_FILL)
        return texts[0] if len(texts) == 1 else "\n\n".join(map(str.strip, texts))

    def _label(self, cell: object, aspect: str, scale: RatedAspect) -> float | None:
        """Return the position of a rating in words among the labels; None: not a
        label.
        """
        word = word_of(cell)
        if (code := scale.codes.get(plain_word(word))) is not None:
            return float(code)
        number = bool(
            isinstance(cell, int | float | Decimal) or _NUMBER.fullmatch(word)
        )
        names = [*scale.labels, *scale.read_as]
        self._fault(
            "a rating is a number, but the card gives labels"
            if number
            else "a rating is not one of the card's labels",
            f"aspect {aspect}",
            got=word,
            allowed=names,
            todo=f"map {'each number' if number else 'it'} to a label: write `read_as: "
            f"{{{json.dumps(word)}: …}}` under `aspects`, `{aspect}`, in the dataset's "
            "card",
            alike=number,
        )
        return None

    def is_missing(self, cell: object, aspect: str) -> bool:
        """Return whether a cell has no rating or choice; such cells are counted."""
        text = str(cell).strip()
        missing = _blank(cell) or text.lower() == "nan" or text in self.card.missing
        if missing:
            self._missing.setdefault((self.location.file, aspect), []).append(
                self.location
            )
        return missing

    def _fault(
        self,
        what: str,
        about: str = "",
        *,
        also: Location | None = None,
        got: object = None,
        allowed: Iterable[str] | str | None = None,
        todo: str = "",
        alike: bool = False,
    ) -> None:
        """Record a fault of the current row; equal faults become one error with all
        their rows.
        """
        about = ", ".join(dict.fromkeys(filter(None, [self.part, about])))
        key = (what, about, "" if alike else repr(got), self.location.file)
        if key not in self._faults:
            error = UserError(what, where=about, got=got, allowed=allowed, todo=todo)
            self._faults[key] = (error, [])
        self._faults[key][1].extend([also, self.location] if also else [self.location])

    def check(self) -> None:
        """Raise UserErrors with all faults so far, if there are any.

        Of too many, those that differ only in their values become one error with all
        their rows.
        """
        faults = list(self._faults.values())
        if len(faults) > SHOWN_FAULTS:
            alike: dict[tuple[str, ...], tuple[UserError, list[Location]]] = {}
            for (what, about, _, file), (error, locations) in self._faults.items():
                alike.setdefault((what, about, file), (error, []))[1].extend(locations)
            faults = list(alike.values())
        errors = []
        for error, locations in faults[:SHOWN_FAULTS]:
            error.where = ", ".join(filter(None, [rows_of(locations), error.where]))
            errors.append(error)
        if more := len(faults) - len(errors):
            last = rows_of(faults[-1][1])
            errors.append(
                UserError(f"… and {more} more problems", where=f"up to {last}")
            )
        if errors:
            raise UserErrors(errors)

    def _notices(self) -> Iterator[str]:
        for (kind, first, name), locations in sorted(self._respelled.items()):
            kept, other = apart(first, name)
            yield f"the {kind} {other!r} is read as {kept!r}: {_rows(locations)}"
        for (kind, what), locations in sorted(self._odd.items()):
            count = _counted(len(set(locations)), kind)
            yield f"{count} consisting of {what} {NO_WORDS}: {_rows(locations)}"
        for (_, aspect), locations in sorted(self._missing.items()):
            yield (
                f"{_counted(len(locations), 'rating')} of {aspect} missing: "
                f"{_rows(locations)}"
            )
        yield from self._length_notices()
        used = {item for item, _ in self._outputs}
        unused = [name for name in self._items if name not in used]
        if unused and self.card.has_systems:
            count = _counted(len(unused), "item")
            yield f"{count} without any output: {', '.join(unused[:5])}"

    def _length_notices(self) -> Iterator[str]:
        """Yield how many texts have no length, and whether all have the same one."""
        missing = [at for at, length in self._lengths.values() if length is None]
        if missing:
            yield (
                f"{_counted(len(missing), 'text')} without a length, left out of "
                f"comparisons with length: {_rows(missing)}"
            )
        lengths = {length for _, length in self._lengths.values() if length is not None}
        if self._lengths and not lengths:
            yield "no text has a length: length is not tested"
        if len(self._lengths) > 1 and len(lengths) == 1:
            yield f"all texts have the length {min(lengths):g}: length is not tested"


def as_number(cell: object) -> float | None:
    """Return a cell as a number, infinite if it is too large; None: not a number.

    >>> as_number(" 12.5 "), as_number("12 words"), as_number("1_000")
    (12.5, None, None)
    """
    if isinstance(cell, bool) or not isinstance(cell, str | int | float | Decimal):
        return None
    try:
        return float(cell if "_" not in str(cell) else "")
    except ValueError:
        return None
    except OverflowError:
        return math.inf


def numbered(prefix: str, number: int, count: int) -> str:
    """Return `prefix-007`, with as many digits as `count` needs, but at least three."""
    return f"{prefix}-{number:0{max(3, len(str(count)))}d}"


def rows_of(locations: list[Location]) -> str:
    """Return files and rows: the first few rows of each file, and their total
    number.
    """
    parts = []
    for file in sorted({location.file for location in locations}):
        rows = sorted(
            {location.row for location in locations if location.file == file} - {0}
        )
        shown_rows = ", ".join(map(str, rows[:SHOWN_ROWS]))
        word = "row" if len(rows) == 1 else "rows"
        more = f", … ({len(rows)} in all)" if len(rows) > SHOWN_ROWS else ""
        parts.append(f"{file}, {word} {shown_rows}{more}" if rows else file)
    return "; ".join(parts)


def _rows(locations: list[Location]) -> str:
    """Return files and rows without the files' folders."""
    return rows_of(
        [location._replace(file=Path(location.file).name) for location in locations]
    )


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _no_text(text: str) -> str:
    """Return what a program wrote in place of a missing text, "" for any other text."""
    if len(text) < FEW_SIGNS and (known := text.strip().casefold()) in NO_TEXTS:
        return f"`{NO_TEXTS[known]}`"
    return "a printed list" if PRINTED.fullmatch(text) else ""


def apart(name: str, other: str) -> list[str]:
    """Return two names so that their difference is visible, with combining marks as
    codes.

    For long names, return only the part around the first difference.
    """
    pairs = enumerate(zip(name, other, strict=False))
    same = next(
        (index for index, (a, b) in pairs if a != b), min(len(name), len(other))
    )
    long = max(len(name), len(other)) > 3 * AROUND
    part = slice(max(0, same - AROUND), same + AROUND) if long else slice(None)
    return [
        "".join(
            f"⟨U+{ord(sign):04X}⟩" if unicodedata.combining(sign) else sign
            for sign in text
        )
        for text in (name[part], other[part])
    ]


def trimmed(text: object) -> object:
    """Return a text without the white space around it, and anything else as it is."""
    return text.strip() if isinstance(text, str) else text


def _blank(value: object) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and not value.strip())


class Segment(NamedTuple):
    """A line of a file, counted from 1; `document` is None if no file gives
    documents.
    """

    line: int
    source: str
    references: tuple[str, ...]
    document: str | None


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file; only a line feed ends a line (a text may contain
    other breaks)."""
    return [
        line.removesuffix("\r")
        for line in read_text(path).removesuffix("\n").split("\n")
    ]


def add_groups(draft: Draft, path: Path, segments: Sequence[Segment]) -> None:
    """Add the items made from the segments of a file, numbered by their first lines.

    With `join`: as many consecutive segments of a document as make the first reference
    long enough. The rest of a document is too short, and so is not among the selected
    items.
    """
    select, joined = draft.card.select, list[list[Segment]]()
    for _, document in groupby(segments, key=lambda segment: segment.document):
        long_enough = True
        for segment in document:
            if long_enough:
                joined.append([])
            joined[-1].append(segment)
            length = len(_text(part.references[0] for part in joined[-1]))
            long_enough = not select.join or length >= (select.min_characters or 1)
    last = segments[-1].line if segments else 0
    for group in joined:
        first = group[0]
        meta: dict[str, object] = {"lines": [segment.line for segment in group]}
        if first.document is not None:
            meta["document"] = first.document
        references = zip(*(segment.references for segment in group), strict=True)
        with draft.reading(path, first.line):
            draft.item(
                numbered(draft.card.dataset, first.line, last),
                [_text(segment.source for segment in group)],
                [_text(texts) for texts in references],
                meta,
            )
    if select.join:
        draft.notes.append(
            f"{len(segments)} segments joined to {len(joined)}, within documents"
        )


def _text(parts: Iterable[str]) -> str:
    """Return segments as one text; a single segment is unchanged."""
    texts = list(parts)
    return texts[0] if len(texts) == 1 else " ".join(map(str.strip, texts))
