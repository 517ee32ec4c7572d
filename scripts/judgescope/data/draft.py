"""What an adapter has read so far, with all faults in it, which are reported in one
pass.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

from judgescope.core.errors import UserError
from judgescope.core.names import ORIGINAL, folded, slugs
from judgescope.data.files import RoleFiles
from judgescope.data.rated import (
    SOURCE,
    DatasetContent,
    GoldSpan,
    Item,
    Output,
    Preference,
    Rating,
    SourcePart,
)
from judgescope.data.row_faults import RowFaults
from judgescope.data.rows import FileRow, pick, read_rows, word_of
from judgescope.data.wording import (
    NO_WORDS,
    ONE_VALUE,
    ROW_PER_TEXT,
    Location,
    as_number,
    blank,
    counted,
    distinguishable,
    length_notices,
    no_text,
    numbered,
    without_folders,
)
from judgescope.schema.cards import Dataset, RatedAspect
from judgescope.schema.cards.base import plain_word

MEAN = "mean"
"""The rater whose values are means over several people: in the scale's range, but off
its grid."""

FilesByRole = Mapping[str, RoleFiles]
"""Role -> the files that a card names for it."""
TextKey = tuple[str, str]
"""(item, system): a text."""
ONLY_SYSTEM = "system"
"""The system of all texts in data that names no systems."""


RowFault = partial(UserError, where="")
"""Makes an error of the current row; the draft that records it adds the location."""


class _Item(NamedTuple):
    location: Location
    source: str
    references: tuple[str, ...]
    meta: dict[str, Any]
    parts: tuple[SourcePart, ...]


class Draft:
    """Items, outputs and ratings by the ids in the data; `finish` renames them."""

    def __init__(self, card: Dataset, part: str = SOURCE) -> None:
        self.card = card
        self.only_part = part
        """The name of a source that has a single part."""
        self.location = Location("", 0)
        self.part = ""
        self.notes: list[str] = []
        self.spans: list[tuple[TextKey, GoldSpan]] = []
        """Marked errors, each with its text; `finish` sets their targets."""
        self._items: dict[str, _Item] = {}
        self._outputs: dict[TextKey, tuple[Location, str]] = {}
        self._lengths: dict[TextKey, tuple[Location, float | None]] = {}
        self._ratings: dict[tuple[TextKey, str, str], float] = {}
        self._preferences: dict[
            tuple[TextKey, TextKey, str, str], tuple[Location, float]
        ] = {}
        self._missing: dict[tuple[str, str], list[Location]] = {}
        self._faults = RowFaults()
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
        self.location = Location(str(file), row)
        self.part = part
        with self.caught():
            yield

    def add_rows(
        self, files: RoleFiles, add: Callable[["Draft", FileRow], None]
    ) -> Self:
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

    def pick(self, row: FileRow, path: str) -> Any:
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
        if blank(name):
            todo = "remove empty rows, and give each other row an id"
            raise RowFault(f"invalid id ({kind})", got=name, todo=todo)
        if isinstance(name, bool | float | list | dict) or not folded(str(name)):
            raise RowFault(f"invalid id ({kind})", got=name, todo="")
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
            got=distinguishable(first, name),
            todo=(
                "use one spelling everywhere, or set `same_names: true` (same name) or "
                "`same_names: false` (different names) in the dataset's card"
            ),
        )
        return name

    def item(
        self,
        name: object,
        source: Sequence[tuple[str, object]],
        references: list[object] | None,
        meta: dict[str, Any] | None = None,
    ) -> str:
        """Add an item, or check that it equals the item already added; return its id in
        the data.

        `source` has the parts of a source, each with its name, [] if the data has none
        by design; `references` is None if the data has none by design: otherwise at
        least one is required.
        """
        key = self.name(name, "item")
        parts = self._parts(source)
        given = []
        for text in references or ():
            if not blank(text):
                given.append(text)
        entry = _Item(
            location=self.location,
            source="\n\n".join(part.text for part in parts),
            references=tuple(self.text(text, "reference") for text in given),
            meta=meta or {},
            parts=parts,
        )
        if references is not None and not entry.references:
            self._fault("this item has no reference", got=key)
        known = self._items.setdefault(key, entry)
        differing = ("source", "references", "meta")
        if known.source == entry.source:
            # Equal texts in other parts: the parts have other names or ends.
            differing = ("parts", "references", "meta")
        for field in differing:
            if getattr(known, field) != getattr(entry, field):
                self._fault(
                    f"rows of the same item differ in their {field}",
                    also=known.location,
                    got=key,
                    todo=ONE_VALUE if field == "meta" else ROW_PER_TEXT,
                    alike=True,
                )
        return key

    def output(
        self, item: str, system: object, text: object, *, again: bool = False
    ) -> TextKey:
        """Add a system's text for an item that was added before.

        `text` is ignored if the format has none by design. `again`: the same text may
        occur several times.
        """
        key = (item, self.name(system, "system"))
        if item not in self._items:
            self._fault("unknown item", got=item, allowed=self._items)
        if key in self._outputs:
            location, known = self._outputs[key]
            if not again or known != text:
                todo = "map `item` or `systems` to columns that distinguish them"
                if not again:
                    todo = (
                        f"{ROW_PER_TEXT}, or add a column that numbers the "
                        "texts of a source"
                    )
                self._fault(
                    "an item has two texts of the same system",
                    also=location,
                    got=", ".join(key),
                    todo=todo,
                    alike=True,
                )
        kept = ""
        if self.card.has_texts:
            kept = self.text(text, "text")
        self._outputs.setdefault(key, (self.location, kept))
        return key

    def length(
        self, key: TextKey, cell: object, column: str, *, again: bool = False
    ) -> None:
        """Add the length of a text without words; a missing length is counted.

        `again`: the text may occur in several rows, with the same length.
        """
        value = None
        if not self._has_no_value(cell):
            value = as_number(cell)
            problem = ""
            if value is None:
                problem = "a length is not a number"
            elif not 0 <= value < math.inf:
                problem = "a length is negative or infinite"
            if problem:
                self._fault(
                    problem,
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

    def rating(
        self, key: TextKey, aspect: str, rater: str, cell: object
    ) -> float | None:
        """Add a rater's rating of a text and return it; a missing one is counted."""
        value = self.value(aspect, cell, on_grid=rater != MEAN)
        if value is not None:
            self._ratings.setdefault((key, aspect, rater), value)
        return value

    def preference(
        self, first: TextKey, second: TextKey, aspect: str, rater: str, value: float
    ) -> None:
        """Add a rater's choice between two texts: 1 the first shown, -1 the second, 0
        neither.
        """
        key = (first, second, aspect, rater)
        swapped = (second, first, aspect, rater)
        known = self._preferences.get(key) or self._preferences.get(swapped)
        if known is not None:
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
        steps = 0.0
        if step:
            steps = (value - scale.min) / step
        on_scale = scale.min <= value <= scale.max
        if not on_scale or not math.isclose(
            steps, round(steps), rel_tol=0, abs_tol=1e-9
        ):
            allowed = f"{scale.min:g} to {scale.max:g}"
            if step:
                allowed += f" in steps of {step:g}"
            self._fault(
                "a rating is outside the scale",
                f"aspect {aspect}",
                got=cell,
                allowed=allowed,
            )
        return value

    def text(self, text: object, kind: str) -> str:
        """Return a text; what is not a text is recorded as a fault and becomes ""."""
        if blank(text):
            self._fault(
                f"a {kind} is empty", got=text, todo="write it, or remove the row"
            )
            return ""
        if not isinstance(text, str):
            self._fault(f"a {kind} is not a string", got=text)
            return ""
        # The beginning first: folding a long text is slow.
        if not folded(text[:30]) and not folded(text):
            self._fault(f"a {kind} has no visible character", got=text)
        elif what := no_text(text):
            self._odd.setdefault((kind, what), []).append(self.location)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            half = text[error.start : error.end]
            what = f"a {kind} contains a lone surrogate (half a character)"
            self._fault(what, got=half)
        return text

    def finish(self) -> DatasetContent:
        """Return the dataset under its final ids, or raise UserErrors with all
        faults.
        """
        has_rows = bool(self._outputs if self.card.has_systems else self._items)
        if not has_rows and not self._faults:
            where = ", ".join(sorted(map(str, self.card.files.values())))
            raise UserError("the data has no rows", where=where)
        self.check()
        items = slugs(self._items)
        # An unperturbed original has a target id that ends in its name.
        systems = slugs((system for _, system in self._outputs), [ORIGINAL])
        targets = {key: f"{items[key[0]]}:{systems[key[1]]}" for key in self._outputs}
        spans = [span._replace(target=targets[key]) for key, span in self.spans]
        ratings, preferences = self._judged(targets)
        return DatasetContent(
            items=self._final_items(items),
            outputs=self._final_outputs(targets, items, systems),
            ratings=ratings,
            preferences=preferences,
            spans=sorted(spans, key=lambda span: span[:4]),
            systems={made: name for name, made in sorted(systems.items())},
            same_names=bool(self.card.same_names),
            problems=[*self.notes, *self._notices()],
        )

    def _final_items(self, items: Mapping[str, str]) -> list[Item]:
        """Return the items; `items`: name in the data -> id."""
        made = list[Item]()
        for key, entry in self._items.items():
            meta = {**entry.meta, "id": key}
            item = Item(items[key], entry.source, entry.references, meta, entry.parts)
            made.append(item)
        return sorted(made, key=lambda item: item.item)

    def _final_outputs(
        self,
        targets: Mapping[TextKey, str],
        items: Mapping[str, str],
        systems: Mapping[str, str],
    ) -> list[Output]:
        """Return the texts by systems; the mappings give the ids of names."""
        outputs = list[Output]()
        for key, (location, text) in self._outputs.items():
            _, length = self._lengths.get(key, (location, None))
            output = Output(
                target=targets[key],
                item=items[key[0]],
                system=systems[key[1]],
                text=text,
                row=location.row,
                file=location.file,
                length=length,
            )
            outputs.append(output)
        return sorted(outputs)

    def _judged(
        self, targets: Mapping[TextKey, str]
    ) -> tuple[list[Rating], list[Preference]]:
        """Return all ratings and choices; `targets`: text -> its id."""
        names = [rater for _, _, rater in self._ratings]
        names += [rater for _, _, _, rater in self._preferences]
        raters = slugs(names)
        ratings = list[Rating]()
        for (key, aspect, rater), value in self._ratings.items():
            ratings.append(Rating(targets[key], aspect, raters[rater], value))
        preferences = list[Preference]()
        for (first, second, aspect, rater), (_, value) in self._preferences.items():
            preference = Preference(
                targets[first], targets[second], aspect, raters[rater], value
            )
            preferences.append(preference)
        return sorted(ratings), sorted(preferences)

    def _has_no_value(self, cell: object) -> bool:
        """Return whether a cell is empty, or says that its value is missing."""
        text = str(cell).strip()
        if blank(cell):
            return True
        return text.lower() == "nan" or text in self.card.missing

    def _parts(self, source: Sequence[tuple[str, object]]) -> tuple[SourcePart, ...]:
        """Return the parts of a source that are not empty; a single one keeps its white
        space.
        """
        parts = list[SourcePart]()
        for name, text in source:
            if not blank(text):
                parts.append(SourcePart(name, self.text(text, "source")))
        if source and not parts:
            self._fault(
                "a source is empty",
                got=source[0][1],
                todo="write it, or remove the row",
            )
        if len(parts) > 1:
            parts = [part._replace(text=part.text.strip()) for part in parts]
        return tuple(parts)

    def _label(self, cell: object, aspect: str, scale: RatedAspect) -> float | None:
        """Return the position of a rating in words among the labels; None: not a
        label.
        """
        word = word_of(cell)
        code = scale.codes.get(plain_word(word))
        if code is not None:
            return float(code)
        is_number = isinstance(cell, int | float | Decimal)
        if not is_number:
            number = r"[-+]?(?:\d+(?:[.,]\d+)?|[.,]\d+)%?"
            is_number = re.fullmatch(number, word, re.ASCII) is not None
        what = "a rating is not one of the card's labels"
        subject = "it"
        if is_number:
            what = "a rating is a number, but the card gives labels"
            subject = "each number"
        self._fault(
            what,
            f"aspect {aspect}",
            got=word,
            allowed=[*scale.labels, *scale.read_as],
            todo=f"map {subject} to a label: write `read_as: "
            f"{{{json.dumps(word)}: …}}` under `aspects`, `{aspect}`, in the dataset's "
            "card",
            alike=is_number,
        )
        return None

    def is_missing(self, cell: object, aspect: str) -> bool:
        """Return whether a cell has no rating or choice; such cells are counted."""
        missing = self._has_no_value(cell)
        if missing:
            key = (self.location.file, aspect)
            self._missing.setdefault(key, []).append(self.location)
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
        locations = [also, self.location] if also else [self.location]
        self._faults.add(
            what,
            about,
            locations,
            got=got,
            allowed=allowed,
            todo=todo,
            alike=alike,
        )

    def check(self) -> None:
        """Raise UserErrors with all faults so far, if there are any."""
        self._faults.check()

    def _notices(self) -> Iterator[str]:
        for (kind, first, name), locations in sorted(self._respelled.items()):
            kept, other = distinguishable(first, name)
            where = without_folders(locations)
            yield f"the {kind} {other!r} is read as {kept!r}: {where}"
        for (kind, what), locations in sorted(self._odd.items()):
            count = counted(len(set(locations)), kind)
            where = without_folders(locations)
            yield f"{count} consisting of {what} {NO_WORDS}: {where}"
        for (_, aspect), locations in sorted(self._missing.items()):
            yield (
                f"{counted(len(locations), 'rating')} of {aspect} missing: "
                f"{without_folders(locations)}"
            )
        yield from length_notices(self._lengths.values())
        unused = self._unused_items()
        if unused and self.card.has_systems:
            count = counted(len(unused), "item")
            yield f"{count} without any output: {', '.join(unused[:5])}"

    def _unused_items(self) -> list[str]:
        """Return the names of items without a text."""
        used = {item for item, _ in self._outputs}
        return [name for name in self._items if name not in used]
