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
from judgescope.report.items import Draw, Span, Target, Texts
from judgescope.report.marked import states
from judgescope.report.specs import ExploreSpec, PerturbationCard
from judgescope.report.words import STATUSES

STYLES = ("report/style.css", "texts/style.css", "explore/style.css")
SCRIPTS = ("explore/a-shards.js", "explore/b-texts.js", "explore/c-page.js")
CALL = "judgescope"
"""The function of the page."""
LIMIT = 250_000
"""Characters after which a numbered shard is full; one row is never split."""
DIGITS = 7
"""Significant digits of a number that the page shows of an open text; the list rounds
it."""
BEGINNING = 90
"""Characters of a text that the list shows."""
KINDS = ("same", "del", "ins", "moved")
NAMES = list(STATUSES)
IN_STEPS = ("chain", "graded")
"""Kinds of perturbation whose texts of an item differ in how many errors were put
in."""

_UNSAFE = re.compile(rf"[<>&\u200c\u200d{UNSEEN}]")
"""Characters that end a script or a line, or are invisible, and that JSON does not
escape."""

Row = dict[str, Any]


def render(study: str) -> str:
    """Return the page."""
    template = environment_of("explore").get_template("page.html.jinja")
    return page_from(template, STYLES, SCRIPTS, study=study)


def write_shards(spec: ExploreSpec, folder: Path) -> None:
    """Write all shards into a folder; those of an earlier state of the study are
    deleted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.js"):
        path.unlink()
    index = {
        "study": spec.study,
        "statuses": [*STATUSES.items()],
        "judges": [*spec.judges.items()],
        "numbers": [
            at for at, name in enumerate(spec.judges) if name in spec.thresholded
        ],
        "datasets": [
            Writer(spec, at, folder).write() for at in range(len(spec.datasets))
        ],
    }
    append(folder / "index.js", call("index", [], literal(index)))


class Writer:
    """Writes the shards of one dataset, the one set of texts that it is at in
    memory.
    """

    def __init__(self, spec: ExploreSpec, number: int, folder: Path) -> None:
        self.spec, self.number, self.folder = spec, number, folder
        self.card = spec.datasets[number]
        self.dataset = self.card.id
        self.judges = {name: at for at, name in enumerate(spec.judges)}
        self.aspects = {name: at for at, (name, _) in enumerate(self.card.aspects)}
        self.texts = Texts(spec.results, self.dataset)
        self.target_shelf = Shelf(folder, f"texts.{self.dataset}", "texts")
        self.row_shelves = {
            name: Shelf(folder, f"rows.{self.dataset}.{name}", "rows")
            for name in spec.judges
        }

    def write(self) -> Row:
        """Write the shards; return the dataset's entry of the index."""
        items = self._items()
        cells = list(unpack(self.card.cells))
        sets, written = list[list[str]](), list[list[int]]()
        for at, (name, title) in enumerate(self.card.sets):
            card = self.spec.perturbations.get(name.partition(".")[0])
            about = f"{card.issue or ''} Made {card.by}.".strip() if card else ""
            sets.append([name, title, about])
            targets = self._set(at, name, card, items)
            for _, judge, aspect in (cell for cell in cells if cell[0] == name):
                size = self._cell(len(written), (name, judge, aspect), targets)
                written.append([at, self.judges[judge], self.aspects[aspect], size])
        return {
            **{
                key: getattr(self.card, key)
                for key in ("id", "name", "ratings", "aspects")
            },
            "sets": sets,
            "labels": {
                self.aspects[name]: each for name, each in self.card.labels.items()
            },
            "cells": written,
            "opposed": [
                at for at, (_, j, a, _) in enumerate(written) if self._opposed(j, a)
            ],
        }

    def _opposed(self, judge: int, aspect: int) -> bool:
        """Return whether either the ratings or the scores, not both, are best at their
        lowest.
        """
        name, turned = self.card.aspects[aspect][0], self.card.turned or Turned({}, {})
        scores = turned.scores.get([*self.judges][judge], {})
        return (name.partition(".")[0] in turned.ratings) != (name in scores)

    def _items(self) -> dict[str, int]:
        """Write sources and references; return item -> number."""
        items = list(self.texts.items())
        shelf = Shelf(self.folder, f"sources.{self.dataset}", "sources")
        parts = shelf.put(
            [self.number], ([one.source, one.references] for one in items)
        )
        self._name("items", [], {"ids": [one.item for one in items], "parts": parts})
        return {one.item: at for at, one in enumerate(items)}

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
        targets = list(self.texts.targets(name).values())
        views = (view(one, card) for one in targets)
        ratings = {}
        for aspect, number in self.aspects.items():
            rated = self.texts.ratings(aspect.partition(".")[0])
            ratings[number] = [rated.get((one.target, None), []) for one in targets]
        columns = {
            "ids": [one.target for one in targets],
            "beginnings": [beginning(one.text) for one in targets],
            "items": [items[one.item] for one in targets],
            "systems": [one.system for one in targets],
            "steps": [one.step for one in targets]
            if card and card.kind in IN_STEPS
            else None,
            "ratings": {
                number: values for number, values in ratings.items() if any(values)
            },
            "parts": self.target_shelf.put([self.number, set_number], views),
        }
        self._name("set", [set_number], columns)
        return {one.target: number for number, one in enumerate(targets)}

    def _cell(
        self, number: int, cell: tuple[str, str, str], targets: Mapping[str, int]
    ) -> int:
        """Write the judgments of one cell; return of how many texts."""
        judge, rows = (
            cell[1],
            list[tuple[int, int | None, float | None, int, int | None]](),
        )
        words: dict[str | None, int | None] = {None: None}

        def numbered(word: str | None) -> int | None:
            """Return the number of a word that comes in many rows."""
            return words.setdefault(word, len(words) - 1)

        def opened() -> Iterator[list[list[Any]]]:
            """Yield what the page needs of a judgment when it is opened: its draws."""
            for one in self.texts.judged(cell, self.spec.models[judge]):
                other = targets[one.target_b.target] if one.target_b else None
                ended = sum(1 << NAMES.index(name) for name in one.statuses)
                numbers = targets[one.target.target], other, short(one.score), ended
                rows.append((*numbers, numbered(one.estimator)))
                text = one.target.text
                yield [
                    drawn(draw, at, text, numbered) for at, draw in enumerate(one.draws)
                ]

        parts = self.row_shelves[judge].put([self.number, number], opened())
        texts, others, scores, statuses, estimators = (
            [row[at] for row in rows] for at in range(5)
        )
        columns = {
            "t": None if texts == list(range(len(rows))) else texts,
            "b": _same(others),
            "v": scores,
            "u": _same(statuses),
            "e": _same(estimators),
            "words": [*words][1:],
            "parts": parts,
        }
        line = call("list", [self.number, number], literal(columns))
        append(self.folder / f"list.{self.dataset}.{judge}.js", line)
        return len(rows)


def drawn(
    draw: Draw, index: int, text: str, numbered: Callable[[str | None], int | None]
) -> list[Any]:
    """Return a draw without what it lacks at its end."""
    told = draw.rationale and draw.rationale not in (draw.reply or "")
    fields = [
        *(draw.reply, short(draw.value), NAMES.index(draw.status)),
        *(
            numbered(draw.rule),
            numbered(draw.parser),
            None if draw.draw == index else draw.draw,
        ),
        *(draw.hint, draw.label, draw.rationale if told else None),
        None if draw.spans is None else errors(draw.spans, text),
    ]
    while fields[-1] is None:
        fields.pop()
    return fields


def _same(column: Sequence[Any]) -> Any:
    """Return a column, or the value that all its rows have."""
    return column[0] if column and all(one == column[0] for one in column) else column


def short(value: float | None) -> float | None:
    """Return a number with the digits that are shown."""
    return None if value is None else float(f"{value:.{DIGITS}g}")


def beginning(text: str) -> str:
    """Return how a text begins, in one line."""
    line = " ".join(text[: 2 * BEGINNING].split())
    whole = len(line) <= BEGINNING and len(text) <= 2 * BEGINNING
    return line if whole else f"{line[:BEGINNING]}…"


def view(target: Target, card: PerturbationCard | None) -> object:
    """Return a text, or the pieces of both its states in one, or beside each other if
    moved.

    A piece is [kind, text, number]; what stayed is its text, no other piece has one.
    """
    if target.before is None:
        return target.text
    return [
        [
            piece.text
            if piece.kind == "same"
            else [KINDS.index(piece.kind), *piece[1:]]
            for piece in pieces
        ]
        for pieces in states(target.before, target.text, target.edits, card)
    ]


def errors(spans: Sequence[Span], text: str) -> list[list[Any]]:
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
        return "\\u" + sign[0].encode("utf-16-be", "surrogatepass").hex("-", 2).replace(
            "-", "\\u"
        )

    return _UNSAFE.sub(escaped, text)


def call(kind: str, numbers: Sequence[int], data: str) -> str:
    """Return one line of a shard: `data` is a literal, `place` numbers what it belongs
    to.
    """
    arguments = ",".join([f'"{kind}"', *map(str, numbers), data])
    return f"{CALL}({arguments});\n"


class Shelf:
    """Shards `<name>.<number>.js` of one kind in a folder, filled one after another."""

    def __init__(self, folder: Path, name: str, kind: str) -> None:
        self._folder, self._name, self._kind = folder, name, kind
        self._number = self._size = 0

    def put(self, numbers: Sequence[int], rows: Iterable[object]) -> list[list[int]]:
        """Write rows; return [the first row, the number of its shard] for each part of
        them.
        """
        parts: list[list[int]] = []
        lines: list[str] = []
        for number, row in enumerate(rows):
            line = literal(row)
            if self._size and self._size + len(line) > LIMIT:
                self._write(numbers, parts, lines)
                self._number, self._size, lines = self._number + 1, 0, []
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
    output = Path(spec.output)
    write_shards(spec, output.with_suffix(""))
    write_text(output, render(spec.study))
