"""The page on which every judgment of a study can be looked at, and the shards that it loads.

The page holds no data. Beside it lies a folder: `index.js` names what there is; for each dataset
`names.*` lists its texts, `list.*` one judge's scores, and numbered shards hold sources, texts and
replies, of which the page loads those that are looked at. Everything is told by its number in a
list of the index, and no file has a name that is not made of ids.

Other pages may link to what is shown: `explore.html#` and any of `dataset`, `judge`, `aspect` (or
`aspect.criterion`), `perturbation` (`original`, `systems` or `id.degree`), `system`, `status`,
`target` (the id of one text; `other` of the second of a pair), `find` (a part of an id of a text or
an item), `order` (`item`, `low`, `high`) and `page`, written as in a URL's query.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from markupsafe import Markup

from judgescope.core.cells import unpack
from judgescope.report.html import environment_of, script_hash, writable
from judgescope.report.items import Draw, Judged, Target, Texts, judged
from judgescope.report.marked import Piece, states
from judgescope.report.shards import Shelf, append, call, literal
from judgescope.report.specs import ExploreSpec, PerturbationCard
from judgescope.report.words import STATUSES

DIGITS = 7
"""Significant digits of a number that the page shows."""
KINDS = ("same", "del", "ins", "moved")
NAMES = list(STATUSES)
IN_STEPS = ("row", "graded")
"""Kinds of damage of which the texts of an item differ in how many errors were put in."""

Row = dict[str, Any]


def render(study: str, templates: Path, looks: Sequence[Path]) -> str:
    """Return the page; `looks` are the style sheets that come before its own."""
    style, script = (
        "".join(path.read_text(encoding="utf-8") for path in paths)
        for paths in ([*looks, templates / "style.css"], sorted(templates.glob("*.js")))
    )
    page = environment_of(templates).get_template("page.html.jinja")
    return writable(
        page.render(
            study=study,
            style=Markup(style),
            style_hash=script_hash(style),
            script=Markup(script),
            script_hash=script_hash(script),
        )
    )


def write_shards(spec: ExploreSpec, folder: Path) -> None:
    """Write all shards into a folder; those of an earlier state of the study are deleted."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.js"):
        path.unlink()
    judges = list(spec.judges)
    datasets = [
        Writer(spec, number, judges, folder).write() for number in range(len(spec.datasets))
    ]
    index = {
        "study": spec.study,
        "statuses": [[name, STATUSES[name]] for name in NAMES],
        "judges": list(spec.judges.items()),
        "datasets": datasets,
    }
    append(folder / "index.js", call("index", [], literal(index)))


class Writer:
    """What writes the shards of one dataset, the set of texts that it is at in memory."""

    def __init__(self, spec: ExploreSpec, number: int, judges: Sequence[str], folder: Path) -> None:
        self.spec, self.card, self.number = spec, spec.datasets[number], number
        self.dataset = self.card.id
        self.judges = {name: at for at, name in enumerate(judges)}
        self.texts = Texts(spec.results, self.dataset)
        self.folder = folder
        self.sources = Shelf(folder, f"sources.{self.dataset}", "sources")
        self.shown = Shelf(folder, f"texts.{self.dataset}", "texts")
        self.rows = {name: Shelf(folder, f"rows.{self.dataset}.{name}", "rows") for name in judges}

    def write(self) -> Row:
        """Write them; return what the index tells of the dataset."""
        items, found = self._items(), list[list[int]]()
        sets = [name for name, _ in self.card.sets]
        aspects = {name: at for at, (name, _) in enumerate(self.card.aspects)}
        cells = list(unpack(self.card.cells))
        for at, name in enumerate(sets):
            own = [cell for cell in cells if cell[0] == name]
            places = self._set(at, name, items, aspects)
            for _, judge, aspect in own:
                place = [at, self.judges[judge], aspects[aspect]]
                shown = judged(self.texts, (name, judge, aspect), self.spec.models[judge])
                found.append([*place, self._cell(len(found), judge, shown, places)])
        plain = {key: getattr(self.card, key) for key in ("id", "name", "ratings", "aspects")}
        about = [[*one, self._about(one[0])] for one in self.card.sets]
        return {**plain, "sets": about, "cells": found}

    def _about(self, name: str) -> str:
        """Return what the card of a damage says of it, "" of texts that nobody damaged."""
        card = self.spec.perturbations.get(name.partition(".")[0])
        return f"{card.issue or ''} Made {card.by}.".strip() if card else ""

    def _items(self) -> dict[str, int]:
        """Write sources and references; return item -> number."""
        names: list[str] = []

        def rows() -> Iterator[object]:
            for one in self.texts.items():
                names.append(one.item)
                yield [one.source, list(one.references)]

        parts = self.sources.put([self.number], rows())
        self._name("items", [], {"ids": names, "parts": parts})
        return {name: at for at, name in enumerate(names)}

    def _name(self, kind: str, place: Sequence[int], data: object) -> None:
        line = call(kind, [self.number, *place], literal(data))
        append(self.folder / f"names.{self.dataset}.js", line)

    def _set(
        self, at: int, name: str, items: Mapping[str, int], aspects: Mapping[str, int]
    ) -> dict[str, int]:
        """Write a set of texts and what the dataset's raters say of it; return text -> number."""
        own = list(self.texts.of(name).values())
        card = self.spec.perturbations.get(name.partition(".")[0])
        parts = self.shown.put([self.number, at], (view(one, card) for one in own))
        rated = {aspect: self.texts.ratings(aspect.partition(".")[0]) for aspect in aspects}
        ratings = {
            aspects[aspect]: [told.get((one.target, None), []) for one in own]
            for aspect, told in rated.items()
        }
        listed = {
            "ids": [one.target for one in own],
            "items": [items[one.item] for one in own],
            "systems": [one.system for one in own],
            "steps": [one.step for one in own] if card and card.kind in IN_STEPS else None,
            "ratings": {aspect: told for aspect, told in ratings.items() if any(told)},
            "parts": parts,
        }
        self._name("set", [at], listed)
        return {one.target: number for number, one in enumerate(own)}

    def _cell(self, at: int, judge: str, found: Iterable[Judged], places: Mapping[str, int]) -> int:
        """Write what a judge says in one cell; return of how many texts."""
        listed = Listed(places)
        parts = self.rows[judge].put([self.number, at], map(listed.row, found))
        line = call("list", [self.number, at], literal(listed.columns(parts)))
        append(self.folder / f"list.{self.dataset}.{judge}.js", line)
        return len(listed.scores)


class Listed:
    """The judgments of one cell as columns: what the page needs of each before it is opened."""

    def __init__(self, places: Mapping[str, int]) -> None:
        self.places = places
        self.words: dict[str, int] = {}
        self.targets: list[int] = []
        self.others: list[int | None] = []
        self.scores: list[float | None] = []
        self.statuses: list[int] = []
        self.estimators: list[int | None] = []

    def row(self, one: Judged) -> list[list[Any]]:
        """Take a judgment in; return what the page needs once it is opened: its draws."""
        self.targets.append(self.places[one.target.target])
        self.others.append(self.places[one.target_b.target] if one.target_b else None)
        self.scores.append(short(one.score))
        self.statuses.append(sum(1 << NAMES.index(name) for name in one.statuses))
        self.estimators.append(self._word(one.estimator))
        return [self._draw(draw, at, one.target.text) for at, draw in enumerate(one.draws)]

    def _word(self, text: str | None) -> int | None:
        """Return the number of a word that comes in many rows."""
        return None if text is None else self.words.setdefault(text, len(self.words))

    def _draw(self, one: Draw, at: int, text: str) -> list[Any]:
        """Return a draw without what it lacks at its end."""
        known = one.rationale if one.rationale and one.rationale not in (one.reply or "") else None
        told = [
            *(one.reply, short(one.value), NAMES.index(one.status)),
            *(self._word(one.rule), self._word(one.parser)),
            *(None if one.draw == at else one.draw, one.hint, one.label, known),
            None if one.spans is None else errors(one.spans, text),
        ]
        while told[-1] is None:
            told.pop()
        return told

    def columns(self, parts: Sequence[Sequence[int]]) -> Row:
        """Return all columns; one whose values are all the same is that value."""
        plain = self.targets == list(range(len(self.targets)))
        return {
            "t": None if plain else self.targets,
            "b": _same(self.others),
            "v": self.scores,
            "u": _same(self.statuses),
            "e": _same(self.estimators),
            "words": list(self.words),
            "parts": parts,
        }


def _same(column: Sequence[Any]) -> Any:
    return column[0] if column and all(one == column[0] for one in column) else column


def short(value: float | None) -> float | None:
    """Return a number with the digits that are shown."""
    return None if value is None else float(f"{value:.{DIGITS}g}")


def view(one: Target, card: PerturbationCard | None) -> object:
    """Return a text, or the pieces of both its states in one, or beside each other if moved."""
    if one.before is None:
        return one.text
    return [_packed(pieces) for pieces in states(one.before, one.text, one.edits, card)]


def _packed(pieces: Iterable[Piece]) -> list[object]:
    """Return pieces as [kind, text, number]; what stayed is its text, no other piece has one."""
    return [
        piece.text if piece.kind == "same" else [KINDS.index(piece.kind), piece.text, piece.number]
        for piece in pieces
    ]


def errors(spans: Sequence[Row], text: str) -> list[list[Any]]:
    """Return errors as [start, end, severity, category, explanation, match, quoted words].

    Offsets count as a script counts them, in UTF-16.
    """
    ends = {one[name] for one in spans for name in ("start", "end")} - {None}
    cuts = sorted({0, *(min(max(end, 0), len(text)) for end in ends)})
    units, done = {0: 0}, 0
    for start, end in pairwise(cuts):
        done += len(text[start:end].encode("utf-16-le", "surrogatepass")) // 2
        units[end] = done
    names = ("severity", "category", "explanation", "match", "location")
    return [
        [_unit(one["start"], units, text), _unit(one["end"], units, text)]
        + [one[name] for name in names]
        for one in spans
    ]


def _unit(offset: int | None, units: Mapping[int, int], text: str) -> int | None:
    return None if offset is None else units[min(max(offset, 0), len(text))]
