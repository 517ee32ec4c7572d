"""The plan of a job: the questions of a study to one model about one dataset, and their
keys.

It holds 32 bytes per question and each text once, but no prompts: these are made to
compute the keys, and again when they are sent.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from judgescope.core.canonical import canonical
from judgescope.core.cells import by_cell, split, unpack
from judgescope.core.files import whole, write_hashes, write_text
from judgescope.core.names import ORIGINAL, SYSTEMS
from judgescope.core.paths import Paths
from judgescope.engines.base import Subject, compared
from judgescope.engines.factory import asking, settled
from judgescope.engines.requests import Probed, Reply, Request, Work
from judgescope.engines.subjects import Subjects
from judgescope.prompts import plain
from judgescope.replies.asking import complete_in_turn, giving_up_of
from judgescope.replies.budget import spending
from judgescope.replies.few_shot import Demonstrations, rated_texts
from judgescope.replies.journal import KEY, Counts, Keys
from judgescope.replies.judging import (
    ProgramQuestions,
    Questions,
    Shown,
    needs_reference,
    rows,
    shown,
)
from judgescope.replies.lookup import KeyTable, StoredReplies, indices_in
from judgescope.replies.probing import (
    Findings,
    able,
    read_findings,
    try_out,
    untested,
)
from judgescope.replies.specs import AskSpec
from judgescope.replies.store import Store
from judgescope.schema import cards
from judgescope.schema.loading import read_card
from judgescope.schema.tables import table_of, write_parts
from judgescope.statistics.bias import hint

Hints = Mapping[str, str]  # target -> the rating in the hint about it
Cell = tuple[str, str, str]  # (perturbation, judge, aspect)
PARTS = (
    7  # at most three texts in a prompt, and the pieces before, between and after them
)
NOTE, KEYS, CELLS = ".note", ".keys.npy", ".cells.npy"


class Count(NamedTuple):
    """Numbers of a judge's draws, and of its prompts' characters.

    A draw that several judges need counts for the first of them.
    """

    judge: str
    wanted: int
    missing: int
    prompts: int
    """Distinct prompts with a missing draw."""
    characters: int
    """Characters of these prompts."""
    repeated: int
    """Draws that need no request because their prompts equal others, which are asked
    once."""


class Job:
    """The cells of one model and dataset, their questions, and the key of each
    question.
    """

    def __init__(self, cells: Mapping[Cell, Questions]) -> None:
        self.cells = cells
        self._questions = list(cells.values())
        self._first = np.cumsum([0, *map(len, self._questions)])
        total = int(self._first[-1])
        self.keys: Keys = np.empty(total, KEY)
        self._keys_of = dict(
            zip(cells, np.split(self.keys, self._first[1:-1]), strict=False)
        )
        self.characters = np.empty(total, np.int32)
        parts = np.zeros((total, PARTS), np.int32)
        number_of: dict[str, int] = {"": 0}
        for questions, first in zip(self._questions, self._first, strict=False):
            span = slice(first, first + len(questions))
            outlines = [questions.outline(number) for number in range(len(questions))]
            self.keys[span] = [outline.key for outline in outlines]
            self.characters[span] = [outline.characters for outline in outlines]
            columns = zip_longest(*(outline.parts for outline in outlines))
            for place, column in enumerate(islice(columns, PARTS)):
                numbers = [
                    number_of.setdefault(part or "", len(number_of)) for part in column
                ]
                parts[span, place] = numbers
        rank = np.empty(len(number_of), np.int32)
        rank[[number_of[part] for part in sorted(number_of)]] = np.arange(
            len(number_of)
        )
        self._parts = rank[parts]

    @cached_property
    def key_table(self) -> KeyTable:
        """Return every key once, with the most draws that any cell needs of it."""
        draws = [np.full(len(cell), cell.judge.draws) for cell in self._questions]
        return KeyTable(self.keys, np.concatenate([np.empty(0, np.int64), *draws]))

    def places(self, judge: str) -> Counts:
        """Return the distinct indices of a judge's keys in the key table."""
        keys = [keys for (_, name, _), keys in self._keys_of.items() if name == judge]
        return np.unique(self.key_table.indices(np.concatenate(keys)))

    def work(self, stored: StoredReplies) -> Iterator[Work]:
        """Yield the requests that lack a draw; each is made when it is needed.

        They are ordered by the parts of their prompts (the piece before the first text,
        that text, the piece before the next, and so on), then by key. So requests with
        a common prefix are adjacent, and the order depends only on the prompts.
        """
        lacking = stored.key_table.keys[stored.lacking() > 0]
        for place in self._ordered(self.key_table.indices(lacking)).tolist():
            request = self._request(int(self.key_table.representative[place]))
            key = bytes(self.key_table.keys[place]).ljust(KEY.itemsize, b"\0").hex()
            vars(request)["key"] = key  # known from the plan; computing it is slow
            yield Work(request, stored.missing(stored.key_table.index(key)))

    def part(self, number: int, count: int) -> KeyTable:
        """Return part `number` (from 1) of `count` parts of the key table.

        Prompts with a common beginning stay together; parts do not depend on the
        store's contents.
        """
        ordered = self._ordered(np.arange(len(self.key_table.keys)))
        return self.key_table.only(np.array_split(ordered, count)[number - 1])

    def _ordered(self, places: Counts) -> Counts:
        parts = self._parts[self.key_table.representative[places]]
        return places[np.lexsort(parts.T[::-1])]

    def _request(self, number: int) -> Request:
        cell = int(np.searchsorted(self._first, number, side="right")) - 1
        return self._questions[cell][number - int(self._first[cell])]

    def rows(
        self, cell: Cell, stored: StoredReplies, *, so_far: bool = False
    ) -> list[dict[str, Any]]:
        """Return the rows of a cell's reply file; with `so_far`, missing replies are
        left out.
        """
        indices = stored.key_table.indices(self._keys_of[cell])
        slots: list[int] = stored.key_table.first[indices].tolist()

        def reply_to(number: int, draw: int) -> Reply | None:
            slot = slots[number] + draw
            return None if so_far and not stored.has(slot) else stored.reply(slot)

        return rows(self.cells[cell], reply_to)

    def cell_numbers(self) -> Counts:
        """Return for each key of the key table the number of the first cell that needs
        it.
        """
        numbers = self.key_table.representative
        return np.searchsorted(self._first, numbers, side="right") - 1

    def counts(self, stored: StoredReplies) -> list[Count]:
        """Return for each judge how many draws are planned and missing."""
        judges = list(dict.fromkeys(judge for _, judge, _ in self.cells))
        owners = [judges.index(judge) for _, judge, _ in self.cells]
        owner = np.array(owners, np.int64)[self.cell_numbers()]
        lacking = stored.lacking()
        incomplete = lacking > 0
        characters = self.characters[self.key_table.representative] * incomplete
        sums = [
            np.bincount(owner, column, minlength=len(judges)).astype(int).tolist()
            for column in (self.key_table.draws, lacking, incomplete, characters)
        ]
        planned = dict.fromkeys(judges, 0)
        for (_, judge, _), questions in self.cells.items():
            planned[judge] += len(questions) * questions.judge.draws
        repeated = [planned[judge] - sums[0][at] for at, judge in enumerate(judges)]
        return [Count(*row) for row in zip(judges, *sums, repeated, strict=True)]


def planned(
    spec: AskSpec,
    model: cards.AskedModel,
    findings: Findings | None = None,
    subjects: Subjects | None = None,
) -> Job:
    """Return the plan for an asking spec and its model; the dataset's targets must
    exist.

    `findings` about the endpoint determine how its judges are asked. `subjects` replace
    the targets on disk. Raises UserError for a judge that the endpoint does not
    support.
    """
    judges = {
        name: able(cards.Judge(**card), findings or {})
        for name, card in spec.judges.items()
    }
    aspects = {name: cards.Aspect(**card) for name, card in spec.aspects.items()}
    scales = {name: cards.RatedAspect(**scale) for name, scale in spec.scales.items()}
    kind: type[Questions] = (
        ProgramQuestions if isinstance(model, cards.CommandModel) else Questions
    )
    texts = _Texts(
        subjects or Subjects(spec.output, spec.dataset, spec.seed, spec.sample), model
    )

    def questions(perturbation: str, name: str, aspect: str) -> Questions:
        judge, scale = judges[name], scales[aspect]
        hints = texts.hints(judge, aspect, scale)
        shown_texts, not_asked = texts.asked(perturbation, judge, aspect, hints)
        return kind(
            model=model,
            judge=judge,
            aspect=aspects[aspect],
            scale=scale,
            shown=shown_texts,
            templates=spec.templates.get(judge.form, {}),
            seed=spec.seed,
            criterion=split(aspect)[1],
            demonstrations=texts.demonstrations(
                judge, aspect, scale, spec.analysts.get(name)
            ),
            not_asked=not_asked,
            hints=hints,
            task=spec.task,
        )

    return Job({cell: questions(*cell) for cell in unpack(spec.cells)})


class _Texts:
    """The texts of questions to a model, shared by its cells."""

    def __init__(self, subjects: Subjects, model: cards.AskedModel) -> None:
        self.subjects, self.model = subjects, model
        self._asked: dict[
            tuple[object, ...], tuple[list[Shown], list[tuple[Subject, str]]]
        ] = {}
        self._shots: dict[tuple[str, ...], Demonstrations] = {}
        self._hints: dict[tuple[str, str], Hints] = {}

    def asked(
        self, perturbation: str, judge: cards.Judge, aspect: str, hints: Hints | None
    ) -> tuple[list[Shown], list[tuple[Subject, str]]]:
        """Return the texts of each question, and the texts that cannot be judged with
        the reason.

        The reason is a missing reference, or a missing rating for the hint.
        """
        if hints is not None:
            subjects = self.subjects.in_set(perturbation, judge.share, aspect)
            reason = "needs_ratings_on_the_scale"
            unrated = [
                (subject, reason) for subject in subjects if subject.target not in hints
            ]
            return shown(
                judge, [each for each in subjects if each.target in hints]
            ), unrated
        needed = judge.against if needs_reference(judge, self.model) else None
        preferred: Sequence[tuple[str, str]] = ()
        if (
            perturbation == SYSTEMS and judge.form == cards.COMPARE
        ):  # pairs that people compared
            preferred = self.subjects.preferences.get(split(aspect)[0], ())
        # all aspects share the texts if they need the same ones
        own = aspect if self.subjects.sample or preferred else ""
        which = judge.pairs, judge.orders
        key = (
            perturbation,
            judge.form == cards.COMPARE,
            *which,
            judge.share,
            needed,
            own,
        )
        if key not in self._asked:
            subjects = self.subjects.in_set(perturbation, judge.share, aspect)
            without: list[tuple[Subject, str]] = []
            if needed:
                if needed == ORIGINAL:
                    subjects = self.subjects.with_originals(subjects)
                references = [(each, *compared(each, needed)) for each in subjects]
                subjects = [each for each, texts, _ in references if texts]
                without = [
                    (each, reason) for each, texts, reason in references if not texts
                ]
            self._asked[key] = shown(judge, subjects, preferred), without
        return self._asked[key]

    def hints(
        self, judge: cards.Judge, aspect: str, scale: cards.RatedAspect
    ) -> Hints | None:
        if judge.hint is None:
            return None
        kind, name = judge.hint.rating, split(aspect)[0]
        if (name, kind) not in self._hints:
            grid = set(scale.values() or [])  # only values that a person could give
            self._hints[name, kind] = {
                target: str(plain(hint(values, scale.min, scale.max, kind)))
                for target, values in self.subjects.ratings_of(name).items()
                if grid.issuperset(values)
            }
        return self._hints[name, kind]

    def demonstrations(
        self,
        judge: cards.Judge,
        aspect: str,
        scale: cards.RatedAspect,
        analyst: str | None,
    ) -> Demonstrations | None:
        """Return a judge's demonstrations; `analyst`: the model that wrote their
        analyses.

        Without analyses, judges with the same number of demonstrations share them in
        all wordings.
        """
        if judge.shots is None:
            return None
        name = split(aspect)[0]
        key = (judge.judge, aspect) if analyst else (str(judge.shots.n), name)
        if key not in self._shots:
            analyses = None
            if analyst:
                analyses = self.subjects.analyses(judge.judge, aspect, analyst)
            rated = rated_texts(self.subjects, name)
            self._shots[key] = Demonstrations(rated, judge.shots, scale, analyses)
        return self._shots[key]


@dataclass(frozen=True)
class Note:
    """An asking job's keys and cells, stored next to its log, so that live replies can
    be read.

    `keys` are ascending; `numbers` are those of the first cell that needs each key;
    `start` is the prefix of the job's journal paths.
    """

    dataset: str
    start: Path
    cells: list[Cell]
    keys: Keys
    numbers: Counts

    def cells_of(self, keys: Sequence[str]) -> list[Cell | None]:
        """Return the cell of each key (in hex), or None if the job does not request the
        key.
        """
        places = indices_in(
            self.keys, np.array([bytes.fromhex(key) for key in keys], KEY)
        )
        return [
            self.cells[self.numbers[place]] if place >= 0 else None for place in places
        ]

    def journals(self) -> list[Path]:
        """Return the journals that the job has started."""
        return sorted(self.start.parent.glob(f"{self.start.name}.*.jsonl"))


def write_note(log: Path, dataset: str, job: Job, store: Store) -> None:
    """Write a job's note next to its log, before it asks; the file NOTE is written
    last.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    np.save(log.with_suffix(KEYS), job.key_table.keys)
    np.save(log.with_suffix(CELLS), job.cell_numbers())
    start = str(store.shard / store.start)
    note = {"dataset": dataset, "start": start, "cells": list(job.cells)}
    with whole(log.with_suffix(NOTE)) as part:
        part.write_text(json.dumps(note), encoding="utf-8")


def read_note(path: Path) -> Note:
    """Return a job's note; its keys are read from disk when they are looked up."""
    note = json.loads(path.read_text(encoding="utf-8"))
    cells: list[Cell] = [(cell[0], cell[1], cell[2]) for cell in note["cells"]]
    arrays = (
        np.load(path.with_suffix(suffix), mmap_mode="r") for suffix in (KEYS, CELLS)
    )
    return Note(note["dataset"], Path(note["start"]), cells, *arrays)


def clear_note(path: Path) -> None:
    """Delete the keys of a note that is no longer needed."""
    for suffix in (KEYS, CELLS):
        path.with_suffix(suffix).unlink(missing_ok=True)


def ask(spec: AskSpec, *, card: str, store: str, budget: str, part: str = "") -> None:
    """Plan the requests of all cells, ask for missing replies, write every cell's reply
    file.
    """
    model = read_card("model", Path(card)).model_copy(update=spec.model)
    model = settled(model, Path(spec.folder), Path(spec.data), spec.trained)
    endpoint = model if isinstance(model, cards.ProbedModel) else None
    paths = Paths(spec.output)
    with Store(Path(store), model.served_name) as shard:
        findings = read_findings(shard, endpoint) if endpoint else None
        job = planned(spec, model, findings)
        replies = shard.find(_key_table(job, part))
        with spending(budget, shard, model) as allowed:
            missing = replies.count < replies.key_table.slots
            engine = asking(model, allowed)
            giving_up = giving_up_of(model, engine)
            judges = [cards.Judge(**judge) for judge in spec.judges.values()]
            if endpoint and endpoint.probe and missing and untested(findings, judges):
                findings = try_out(shard, cast(Probed, engine), judges)
                job = planned(spec, model, findings)
                replies = shard.find(_key_table(job, part))
            if missing:
                name = ".".join(filter(None, (model.model, part)))
                log = Path(paths.log(f"ask/{spec.dataset}/{name}"))
                write_note(log, spec.dataset, job, shard)
            replies = complete_in_turn(
                replies, job.work, shard, engine, allowed, giving_up
            )
        if part:  # its output must be the same bytes for the same requests
            keys = hashlib.sha256(replies.key_table.keys.tobytes()).hexdigest()
            note = canonical({"replies": replies.count, "keys": keys}) + "\n"
            write_text(Path(paths.part(spec.dataset, model.model, part)), note)
        else:
            _write(spec, job, replies)


def _key_table(job: Job, part: str) -> KeyTable:
    """Return all keys of a job, or those of a part of it such as 2-of-8."""
    return job.part(*map(int, part.split("-of-"))) if part else job.key_table


def _write(spec: AskSpec, job: Job, replies: StoredReplies) -> None:
    """Write the replies of every cell, and the hashes of these files."""
    paths = {}
    for (perturbation, judge), aspects in by_cell(spec.cells).items():
        cell = f"{perturbation}/{judge}"
        paths[cell] = spec.replies.format(cell)
        tables = (
            table_of("answers", job.rows((perturbation, judge, aspect), replies))
            for aspect in aspects
        )
        write_parts("answers", tables, paths[cell])
    if spec.hashes:
        write_hashes(paths, spec.hashes)
