"""A job's plan: what a study asks of one model about one dataset, before any of it is asked.

It holds 32 bytes a question and the texts once, never the prompts: these are written out to make
the keys, and again when their turn to be asked comes.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from judgescope.core.cells import split, unpack
from judgescope.engines.base import Subject, compared
from judgescope.engines.requests import Reply, Request, Work
from judgescope.engines.subjects import Subjects
from judgescope.prompts import plain
from judgescope.replies.few_shot import Demonstrations, rated_texts
from judgescope.replies.judging import Questions, Shown, needs_reference, rows, shown
from judgescope.replies.key_table import KEY, Counts, Keys, Wanted
from judgescope.replies.lookup import Found
from judgescope.replies.probing import Findings, able
from judgescope.replies.programs import ProgramQuestions
from judgescope.replies.specs import AskSpec
from judgescope.schema.cards import COMPARE, AskedModel, Aspect, CommandModel, Judge, RatedAspect
from judgescope.statistics.hints import hint

Hints = Mapping[str, str]
Cell = tuple[str, str, str]
"""(perturbation, judge, aspect)."""
PARTS = 7
"""A prompt shows three texts at most, with something before, between and after them."""


class Count(NamedTuple):
    """How much of a judge's replies there is: draws, and characters of the prompts.

    A draw that several judges want counts for the first of them.
    """

    judge: str
    wanted: int
    missing: int
    prompts: int
    """Different prompts of which a draw is missing."""
    characters: int
    """Of these prompts, each once."""


class Job:
    """The cells of one model and dataset, their questions, and the key of each question."""

    def __init__(self, cells: Mapping[Cell, Questions]) -> None:
        self.cells = cells
        self._places = {cell: number for number, cell in enumerate(cells)}
        sizes = [len(asked) for asked in cells.values()]
        self._first = np.cumsum([0, *sizes])
        self._asked = list(cells.values())
        total = sum(sizes)
        self.keys: Keys = np.empty(total, KEY)
        self.characters = np.empty(total, np.int32)
        self._parts = np.zeros((total, PARTS), np.int32)
        self._write_out()

    def _write_out(self) -> None:
        """Make the key of every question and note the parts of its prompt."""
        known: dict[str, int] = {"": 0}
        for asked, first in zip(self._asked, self._first, strict=False):
            these = slice(first, first + len(asked))
            outlines = [asked.outline(number) for number in range(len(asked))]
            self.keys[these] = [one.key for one in outlines]
            self.characters[these] = [one.characters for one in outlines]
            for place, parts in enumerate(zip_longest(*(one.parts for one in outlines))):
                if place < PARTS:
                    ids = [known.setdefault(part or "", len(known)) for part in parts]
                    self._parts[these, place] = ids
        rank = np.empty(len(known), np.int32)
        rank[[known[part] for part in sorted(known)]] = np.arange(len(known))
        self._parts = rank[self._parts]

    @cached_property
    def wanted(self) -> Wanted:
        """Return every key once, with the most draws that a cell wants of it."""
        draws = [np.full(len(asked), asked.judge.draws) for asked in self._asked]
        return Wanted(self.keys, np.concatenate([np.empty(0, np.int64), *draws]))

    def places(self, judge: str) -> Counts:
        """Return the places of a judge's keys among the wanted ones, each once."""
        own = [
            self.keys[self._first[number] : self._first[number + 1]]
            for number, (_, name, _) in enumerate(self.cells)
            if name == judge
        ]
        return np.unique(self.wanted.places(np.concatenate(own)))

    def work(self, found: Found) -> Iterator[Work]:
        """Yield the requests that lack a draw, each written out when it is its turn.

        Their order is that of the prompts, compared part by part: what comes before the first text
        that a prompt shows, that text, what comes between it and the next, and so on; equal ones by
        key. So requests with a common beginning lie together, and no order of cells, texts or
        arrival shows.
        """
        wanted = found.wanted
        for place in self._ordered(wanted, np.flatnonzero(found.lacking())).tolist():
            request = self._request(int(wanted.representative[place]))
            key = bytes(wanted.keys[place]).ljust(KEY.itemsize, b"\0")
            vars(request)["key"] = key.hex()  # as it was planned: to make it again takes a third
            yield Work(request, found.missing(place))

    def part(self, number: int, count: int) -> Wanted:
        """Return the `number`-th, from 1, of `count` parts of what is wanted.

        Prompts that begin alike stay together, and no part depends on what the store has.
        """
        wanted = self.wanted
        these = np.array_split(self._ordered(wanted, np.arange(len(wanted.keys))), count)
        own = these[number - 1]
        return Wanted(wanted.keys[own], wanted.draws[own], wanted.representative[own])

    def _ordered(self, wanted: Wanted, places: Counts) -> Counts:
        parts = self._parts[wanted.representative[places]]
        return places[np.lexsort(parts.T[::-1])]

    def request(self, place: int) -> Request:
        """Return the request of a wanted key, written out."""
        return self._request(int(self.wanted.representative[place]))

    def _request(self, number: int) -> Request:
        cell = int(np.searchsorted(self._first, number, side="right")) - 1
        return self._asked[cell][number - int(self._first[cell])]

    def rows(self, cell: Cell, found: Found) -> list[dict[str, Any]]:
        """Return the rows of a cell's reply file; every reply must be there."""
        slots = self._slots(cell, found)
        return rows(self.cells[cell], lambda number, draw: found.reply(slots[number] + draw))

    def rows_so_far(self, cell: Cell, found: Found) -> list[dict[str, Any]]:
        """Return the rows of a cell's reply file for the replies that are there."""
        slots = self._slots(cell, found)

        def reply(number: int, draw: int) -> Reply | None:
            slot = slots[number] + draw
            return found.reply(slot) if found.there(slot) else None

        return rows(self.cells[cell], reply)

    def _slots(self, cell: Cell, found: Found) -> list[int]:
        """Return the slot of the first draw of each of a cell's questions."""
        place = self._places[cell]
        keys = self.keys[self._first[place] : self._first[place + 1]]
        slots: list[int] = found.wanted.first[found.wanted.places(keys)].tolist()
        return slots

    def cell_numbers(self) -> Counts:
        """Return for each wanted key the number of the first cell that wants it."""
        asked = self.wanted.representative
        return np.searchsorted(self._first, asked, side="right") - 1

    def counts(self, found: Found) -> list[Count]:
        """Return for each judge how much is wanted, and how much of it is missing."""
        judges = list(dict.fromkeys(judge for _, judge, _ in self.cells))
        owners = [judges.index(judge) for _, judge, _ in self.cells]
        asked = self.wanted.representative
        owner = np.array(owners, np.int64)[self.cell_numbers()]
        lacking = found.lacking()
        open_ = lacking > 0

        columns = (self.wanted.draws, lacking, open_, self.characters[asked] * open_)
        sums = [np.bincount(owner, column, minlength=len(judges)) for column in columns]
        return [
            Count(*row)
            for row in zip(judges, *(one.astype(int).tolist() for one in sums), strict=True)
        ]


def planned(
    spec: AskSpec,
    model: AskedModel,
    findings: Findings | None = None,
    subjects: Subjects | None = None,
) -> Job:
    """Return the plan of an asking spec and its model; the dataset's targets must be there.

    `findings` tell what the endpoint can do, where that is known: its judges are asked accordingly.
    `subjects` stand in for targets where some are not there yet. Raises UserError for a judge that
    the endpoint cannot answer.
    """
    judges = {name: able(Judge(**told), findings or {}) for name, told in spec.judges.items()}
    aspects = {name: Aspect(**told) for name, told in spec.aspects.items()}
    scales = {name: RatedAspect(**told) for name, told in spec.scales.items()}
    asking: type[Questions] = ProgramQuestions if isinstance(model, CommandModel) else Questions
    place = (spec.output, spec.dataset, spec.seed, spec.sample)
    texts = _Shown(subjects or Subjects(*place))

    def cell(perturbation: str, name: str, aspect: str) -> Questions:
        judge, scale = judges[name], scales[aspect]
        hints = texts.hints(judge, aspect, scale)
        return asking(
            model,
            judge,
            aspects[aspect],
            scale,
            texts.of(perturbation, judge, model, aspect, hints),
            spec.templates.get(judge.form, {}),
            spec.seed,
            split(aspect)[1],
            texts.demonstrations(judge, aspect, scale, spec.analysts.get(name)),
            texts.beside(perturbation, judge, model, aspect, hints),
            hints,
            spec.task,
        )

    return Job({place: cell(*place) for place in unpack(spec.cells)})


class _Shown:
    """The texts of questions, which cells share."""

    def __init__(self, subjects: Subjects) -> None:
        self.subjects = subjects
        self._known: dict[tuple[str, bool, str, float, bool, str], list[Shown]] = {}
        self._shots: dict[tuple[str, ...], Demonstrations] = {}
        self._hints: dict[tuple[str, str], Hints] = {}

    def of(
        self, perturbation: str, judge: Judge, model: AskedModel, aspect: str, hints: Hints | None
    ) -> list[Shown]:
        """Return the texts of each question; without those that have no reference to show.

        Those of which a judge is told a rating have one.
        """
        if hints is not None:
            subjects = self.subjects.of(perturbation, judge.share, aspect)
            return shown(judge, [one for one in subjects if one.target in hints])
        bound = needs_reference(judge, model)
        own = aspect if self.subjects.sample else ""  # else all aspects share the texts
        kind = (perturbation, judge.form == COMPARE, judge.pairs, judge.share, bound, own)
        if kind not in self._known:
            subjects = self.subjects.of(perturbation, judge.share, aspect)
            free = [one for one in subjects if not bound or compared(one, "references")[0]]
            self._known[kind] = shown(judge, free)
        return self._known[kind]

    def beside(
        self, perturbation: str, judge: Judge, model: AskedModel, aspect: str, hints: Hints | None
    ) -> list[tuple[Subject, str]]:
        """Return what cannot be asked for want of a reference, or of a rating, and why."""
        if hints is not None:
            subjects = self.subjects.of(perturbation, judge.share, aspect)
            return [
                (one, "needs_ratings_on_the_scale") for one in subjects if one.target not in hints
            ]
        if not needs_reference(judge, model):
            return []
        told = (
            (one, *compared(one, "references"))
            for one in self.subjects.of(perturbation, judge.share, aspect)
        )
        return [(one, why) for one, references, why in told if not references]

    def hints(self, judge: Judge, aspect: str, scale: RatedAspect) -> Hints | None:
        """Return target -> the rating that a judge is told of it; None: it is told none."""
        if judge.hint is None:
            return None
        kind, plain_aspect = judge.hint.tells, split(aspect)[0]
        if (plain_aspect, kind) not in self._hints:
            grid = set(scale.values() or [])  # of a mean there is no mode, and nobody says it
            rated = {
                one: values
                for one, values in self.subjects.ratings_of(plain_aspect).items()
                if grid.issuperset(values)
            }
            told = {one: hint(values, scale.min, scale.max, kind) for one, values in rated.items()}
            self._hints[plain_aspect, kind] = {one: str(plain(v)) for one, v in told.items()}
        return self._hints[plain_aspect, kind]

    def demonstrations(
        self, judge: Judge, aspect: str, scale: RatedAspect, analyst: str | None
    ) -> Demonstrations | None:
        """Return what a judge is shown as demonstrations.

        Without analyses they are the same for all judges of as many, in every wording.
        """
        if judge.shots is None:
            return None
        plain = split(aspect)[0]
        kind = (judge.judge, aspect) if analyst else (str(judge.shots.n), plain)
        if kind not in self._shots:
            own = judge.judge, aspect
            told = self.subjects.analyses(*own, analyst) if analyst else None
            rated = rated_texts(self.subjects, plain)
            self._shots[kind] = Demonstrations(rated, judge.shots, scale, told)
        return self._shots[kind]
