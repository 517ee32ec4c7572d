"""The page on which every judgment of a study can be looked at, and the shards that it
loads.

The page holds no data. Beside it lies a folder: `index.js` lists the contents; for each
dataset `names.*` lists its texts, `list.*` one judge's scores, and numbered shards hold
sources, texts and replies, of which the page loads those that are looked at. Everything
is referred to by its number in a list of the index, and file names are made of ids
only.

A shard is a script that calls one function of the page with plain data: a page that is
opened from a disk may load scripts and nothing else. The data are untrusted: no
character of theirs ends the script, and what is in them is never more than a JSON
literal.

Other pages may link to what is shown: `explore.html#` and any of `dataset`, `judge`,
`aspect` (or `aspect.criterion`), `perturbation` (`original`, `systems` or `id.degree`),
`system`, `status`, `target` (the id of one text; `other` of the second of a pair),
`find` (a part of an id of a text or an item), `order` (`study`, `item`, `low`, `high`;
without it the scores that are farthest from the ratings come first) and `page`, written
as in a URL's query.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgescope.core.cells import unpack
from judgescope.core.errors import UNSEEN
from judgescope.core.files import write_text
from judgescope.methods.base import Turned
from judgescope.report.html import environment_of, page_from
from judgescope.report.items import DatasetTexts, Draw, ListedError, Target
from judgescope.report.marked import states
from judgescope.report.specs import ExploreSpec, PerturbationCard
from judgescope.report.words import STATUSES

CALL = "judgescope"
"""The function of the page."""
STATUS_NAMES = list(STATUSES)
"""A status is referred to by its place here."""

ShardEntry = dict[str, object]
"""What a shard says of something, by name."""


def render(study: str) -> str:
    """Return the page."""
    template = environment_of("explore").get_template("page.html.jinja")
    styles = ("report/style.css", "texts/style.css", "explore/style.css")
    scripts = ("explore/a-shards.js", "explore/b-texts.js", "explore/c-page.js")
    return page_from(template, styles, scripts, study=study)


def write_shards(spec: ExploreSpec, folder: Path) -> None:
    """Write all shards into a folder; those of an earlier state of the study are
    deleted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.js"):
        path.unlink()
    numbers = []
    for at, name in enumerate(spec.judges):
        if name in spec.thresholded:
            numbers.append(at)
    datasets = []
    for at in range(len(spec.datasets)):
        datasets.append(Writer(spec, at, folder).write())
    index = {
        "study": spec.study,
        "statuses": [*STATUSES.items()],
        "judges": [*spec.judges.items()],
        "numbers": numbers,
        "datasets": datasets,
    }
    append(folder / "index.js", call("index", [], literal(index)))


class Writer:
    """Writes the shards of one dataset, the one set of texts that it is at in
    memory.
    """

    def __init__(self, spec: ExploreSpec, number: int, folder: Path) -> None:
        self.spec = spec
        self.number = number
        self.folder = folder
        self.card = spec.datasets[number]
        self.dataset = self.card.id
        self.judges = {name: at for at, name in enumerate(spec.judges)}
        self.aspects = {name: at for at, (name, _) in enumerate(self.card.aspects)}
        self.texts = DatasetTexts(self.card.files, self.dataset)
        self.target_shelf = Shelf(folder, f"texts.{self.dataset}", "texts")
        self.row_shelves = {
            name: Shelf(folder, f"rows.{self.dataset}.{name}", "rows")
            for name in spec.judges
        }

    def write(self) -> ShardEntry:
        """Write the shards; return the dataset's entry of the index."""
        items = self._items()
        cells = list(unpack(self.card.cells))
        sets = list[list[str]]()
        written = list[list[int]]()
        opposed = list[int]()
        for at, (name, title) in enumerate(self.card.sets):
            card = self.spec.perturbations.get(name.partition(".")[0])
            about = ""
            if card:
                about = f"{card.issue or ''} Made {card.by}.".strip()
            sets.append([name, title, about])
            targets = self._set(at, name, card, items)
            for perturbation, judge, aspect in cells:
                if perturbation != name:
                    continue
                if self._opposed(judge, aspect):
                    opposed.append(len(written))
                size = self._cell(len(written), (name, judge, aspect), targets)
                written.append([at, self.judges[judge], self.aspects[aspect], size])
        labels = {self.aspects[name]: each for name, each in self.card.labels.items()}
        return {
            "id": self.card.id,
            "name": self.card.name,
            "ratings": self.card.ratings,
            "aspects": self.card.aspects,
            "sets": sets,
            "labels": labels,
            "cells": written,
            "opposed": opposed,
        }

    def _opposed(self, judge: str, aspect: str) -> bool:
        """Return whether either the ratings or the scores, not both, are best at their
        lowest.
        """
        turned = self.card.turned or Turned({}, {})
        scores = turned.scores.get(judge, {})
        return (aspect.partition(".")[0] in turned.ratings) != (aspect in scores)

    def _items(self) -> dict[str, int]:
        """Write sources and references; return item -> number."""
        items = list(self.texts.items())
        shelf = Shelf(self.folder, f"sources.{self.dataset}", "sources")
        sources = ([item.source, item.references] for item in items)
        parts = shelf.put([self.number], sources)
        ids = [item.item for item in items]
        self._name("items", [], {"ids": ids, "parts": parts})
        return _numbers(ids)

    def _name(self, kind: str, numbers: Sequence[int], data: object) -> None:
        line = call(kind, [self.number, *numbers], literal(data))
        append(self.folder / f"names.{self.dataset}.js", line)

    def _set(
        self,
        set_number: int,
        name: str,
        card: PerturbationCard | None,
        items: Mapping[str, int],
    ) -> dict[str, int]:
        """Write a set of texts and their ratings; return text -> number."""
        texts = self.texts.targets(name)
        ratings = {}
        for aspect, number in self.aspects.items():
            rated = self.texts.ratings(aspect.partition(".")[0])
            of_aspect = [rated.get((target, None), []) for target in texts]
            if any(of_aspect):
                ratings[number] = of_aspect
        beginnings = list[str]()
        numbers = list[int]()
        systems = list[str]()
        steps = list[int]()
        for target in texts.values():
            beginnings.append(beginning(target.text))
            numbers.append(items[target.item])
            systems.append(target.system)
            steps.append(target.step)
        views = (view(target, card) for target in texts.values())
        # In other kinds all texts of an item have as many errors.
        in_steps = card is not None and card.kind in ("chain", "graded")
        columns = {
            "ids": list(texts),
            "beginnings": beginnings,
            "items": numbers,
            "systems": systems,
            "steps": steps if in_steps else None,
            "ratings": ratings,
            "parts": self.target_shelf.put([self.number, set_number], views),
        }
        self._name("set", [set_number], columns)
        return _numbers(texts)

    def _cell(
        self, number: int, cell: tuple[str, str, str], targets: Mapping[str, int]
    ) -> int:
        """Write the judgments of one cell; return of how many texts."""
        judge = cell[1]
        texts = list[int]()
        others = list[int | None]()
        scores = list[float | None]()
        statuses = list[int]()
        estimators = list[int | None]()
        words: dict[str | None, int | None] = {None: None}

        def numbered(word: str | None) -> int | None:
            """Return the number of a word that comes in many rows."""
            return words.setdefault(word, len(words) - 1)

        def opened() -> Iterator[list[list[Any]]]:
            """Yield what the page needs of a judgment when it is opened: its draws."""
            for judgment in self.texts.judged(cell, self.spec.models[judge]):
                target = judgment.target
                other = judgment.target_b
                texts.append(targets[target.target])
                others.append(targets[other.target] if other else None)
                scores.append(short(judgment.score))
                # One bit a status: a judgment of several draws may have several.
                bits = [1 << STATUS_NAMES.index(name) for name in judgment.statuses]
                statuses.append(sum(bits))
                estimators.append(numbered(judgment.estimator))
                yield [
                    drawn(draw, at, target.text, numbered)
                    for at, draw in enumerate(judgment.draws)
                ]

        parts = self.row_shelves[judge].put([self.number, number], opened())
        columns = {
            "t": None if texts == list(range(len(texts))) else texts,
            "b": _same(others),
            "v": scores,
            "u": _same(statuses),
            "e": _same(estimators),
            "words": [*words][1:],
            "parts": parts,
        }
        line = call("list", [self.number, number], literal(columns))
        append(self.folder / f"list.{self.dataset}.{judge}.js", line)
        return len(texts)


def _numbers(names: Iterable[str]) -> dict[str, int]:
    """Name -> its number."""
    return {name: number for number, name in enumerate(names)}


def drawn(
    draw: Draw, index: int, text: str, numbered: Callable[[str | None], int | None]
) -> list[Any]:
    """Return a draw without what it lacks at its end."""
    in_reply = not draw.rationale or draw.rationale in (draw.reply or "")
    fields = [
        draw.reply,
        short(draw.value),
        STATUS_NAMES.index(draw.status),
        numbered(draw.rule),
        numbered(draw.parser),
        None if draw.draw == index else draw.draw,
        draw.hint,
        draw.label,
        None if in_reply else draw.rationale,
        None if draw.spans is None else errors(draw.spans, text),
    ]
    while fields[-1] is None:
        fields.pop()
    return fields


def _same(column: Sequence[Any]) -> Any:
    """Return a column, or the value that all its rows have."""
    if column and all(value == column[0] for value in column):
        return column[0]
    return column


def short(value: float | None, digits: int = 7) -> float | None:
    """Return a number with the digits that the page shows of an open text.

    >>> short(0.123456789)
    0.1234568
    """
    if value is None:
        return None
    return float(f"{value:.{digits}g}")


def beginning(text: str, length: int = 90) -> str:
    """Return how a text begins, in one line of at most `length` characters.

    >>> beginning("Two herons nest  below the weir.", length=10)
    'Two herons…'
    """
    line = " ".join(text[: 2 * length].split())
    complete = len(line) <= length and len(text) <= 2 * length
    return line if complete else f"{line[:length]}…"


def view(target: Target, card: PerturbationCard | None) -> object:
    """Return a text, or the pieces of both its states in one, or beside each other if
    moved.

    A piece is [kind, text, number]; what stayed is its text, no other piece has one.
    """
    if target.before is None:
        return target.text
    kinds = ("same", "del", "ins", "moved")
    shown = []
    for pieces in states(target.before, target.text, target.edits, card):
        state: list[object] = []
        for piece in pieces:
            if piece.kind == "same":
                state.append(piece.text)
            else:
                state.append([kinds.index(piece.kind), piece.text, piece.number])
        shown.append(state)
    return shown


def errors(spans: Sequence[ListedError], text: str) -> list[list[Any]]:
    """Return errors as [start, end, severity, category, explanation, match, quoted
    words].

    Offsets count as a script counts them, in UTF-16.
    """

    def units(offset: int | None) -> int | None:
        if offset is None:
            return None
        return len(text[: max(offset, 0)].encode("utf-16-le", "surrogatepass")) // 2

    return [[units(span.start), units(span.end), *span[2:]] for span in spans]


# --- shards ---------------------------------------------------------------------------


def literal(value: object) -> str:
    """Return a value as JSON that stands safely in a script, whatever its strings
    hold.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def escaped(sign: re.Match[str]) -> str:
        units = sign[0].encode("utf-16-be", "surrogatepass").hex("-", 2)
        return "\\u" + units.replace("-", "\\u")

    # Characters that end a script or a line, or are invisible, and that JSON does not
    # escape.
    unsafe = re.compile(rf"[<>&\u200c\u200d{UNSEEN}]")
    return unsafe.sub(escaped, text)


def call(kind: str, numbers: Sequence[int], data: str) -> str:
    """Return one line of a shard: `data` is a literal, `place` numbers what it belongs
    to.
    """
    arguments = ",".join([f'"{kind}"', *map(str, numbers), data])
    return f"{CALL}({arguments});\n"


class Shelf:
    """Shards `<name>.<number>.js` of one kind in a folder, filled one after another.

    A shard is full after `limit` characters; one row is never split.
    """

    def __init__(
        self, folder: Path, name: str, kind: str, limit: int = 250_000
    ) -> None:
        self._folder = folder
        self._name = name
        self._kind = kind
        self._limit = limit
        self._number = 0
        self._size = 0

    def put(self, numbers: Sequence[int], rows: Iterable[object]) -> list[list[int]]:
        """Write rows; return [the first row, the number of its shard] for each part of
        them.
        """
        parts: list[list[int]] = []
        lines: list[str] = []
        for number, row in enumerate(rows):
            line = literal(row)
            if self._size and self._size + len(line) > self._limit:
                self._write(numbers, parts, lines)
                self._number += 1
                self._size = 0
                lines = []
            if not lines:
                parts.append([number, self._number])
            lines.append(line)
            self._size += len(line) + 1
        self._write(numbers, parts, lines)
        return parts

    def _write(
        self,
        numbers: Sequence[int],
        parts: Sequence[Sequence[int]],
        lines: Sequence[str],
    ) -> None:
        if lines:
            line = call(self._kind, [*numbers, parts[-1][0]], f"[{','.join(lines)}]")
            append(self._folder / f"{self._name}.{self._number}.js", line)


def append(path: Path, text: str) -> None:
    """Add a line to a shard."""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)


def explore(spec: ExploreSpec) -> None:
    """Write the page of all judgments, and the data that it loads from a folder beside
    it.
    """
    write_shards(spec, Path(spec.shards))
    write_text(Path(spec.output), render(spec.study))
