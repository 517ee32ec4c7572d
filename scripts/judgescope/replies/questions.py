"""The questions of a study to one model about one dataset, their keys and their order.

It holds the key of each question, about 80 bytes in all, and each text once, but no
prompts: these are made to compute the keys, and again when they are sent.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, zip_longest
from typing import Any, NamedTuple

import numpy as np

from judgescope.core.cells import split, unpack
from judgescope.core.names import ORIGINAL, SYSTEMS
from judgescope.engines.base import Subject, compared
from judgescope.engines.requests import Reply, Request, Work
from judgescope.engines.subjects import Subjects
from judgescope.prompts import plain
from judgescope.replies.decision_questions import DecisionQuestions
from judgescope.replies.few_shot import Demonstrations, rated_texts
from judgescope.replies.journal import KEY, Integers, Keys
from judgescope.replies.judging import (
    ProgramQuestions,
    Questions,
    ShownTexts,
    asks_pairs,
    needs_reference,
    rows,
    shown,
)
from judgescope.replies.lookup import KeyTable, StoredReplies
from judgescope.replies.pricing import CHARACTERS
from judgescope.replies.probing import (
    Findings,
    able,
)
from judgescope.replies.scored_texts import ScoredTextQuestions
from judgescope.replies.specs import AskSpec
from judgescope.schema import cards
from judgescope.statistics.bias import hint

Hints = Mapping[str, str]  # target -> the rating in the hint about it
QuestionCell = tuple[str, str, str]  # (perturbation, judge, aspect)


class JudgeCount(NamedTuple):
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


class QuestionPlan:
    """The cells of one model and dataset, their questions, and the key of each
    question.
    """

    def __init__(self, cells: Mapping[QuestionCell, Questions]) -> None:
        self.cells = cells
        self._questions = list(cells.values())
        self._first = np.cumsum([0, *map(len, self._questions)])
        total = int(self._first[-1])
        self.keys: Keys = np.empty(total, KEY)
        self._keys_of = dict(
            zip(cells, np.split(self.keys, self._first[1:-1]), strict=False)
        )
        self.characters = np.empty(total, np.int32)
        # The pieces of a prompt that order requests: the first five texts, and what
        # stands before, between and after them.
        part_count = 11
        parts = np.zeros((total, part_count), np.int32)
        number_of: dict[str, int] = {"": 0}
        for questions, first in zip(self._questions, self._first, strict=False):
            span = slice(first, first + len(questions))
            outlines = [questions.outline(number) for number in range(len(questions))]
            self.keys[span] = [outline.key for outline in outlines]
            self.characters[span] = [outline.characters for outline in outlines]
            columns = zip_longest(*(outline.parts for outline in outlines))
            for depth, column in enumerate(islice(columns, part_count)):
                numbers = []
                for part in column:
                    numbers.append(number_of.setdefault(part or "", len(number_of)))
                parts[span, depth] = numbers
        rank = np.empty(len(number_of), np.int32)
        in_order = [number_of[part] for part in sorted(number_of)]
        rank[in_order] = np.arange(len(number_of))
        self._parts = rank[parts]

    @cached_property
    def key_table(self) -> KeyTable:
        """Return every key once, with the most draws that any cell needs of it."""
        draws = [np.full(len(cell), cell.judge.draws) for cell in self._questions]
        return KeyTable(self.keys, np.concatenate([np.empty(0, np.int64), *draws]))

    def places(self, judge: str) -> Integers:
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
        for index in self._ordered(self.key_table.indices(lacking)).tolist():
            request = self._request(int(self.key_table.representative[index]))
            key = bytes(self.key_table.keys[index]).ljust(KEY.itemsize, b"\0").hex()
            # The plan has it (`judging.outline`): Request.key would compute the same.
            vars(request)["key"] = key
            yield Work(request, stored.missing(stored.key_table.index(key)))

    def keys_of_part(self, name: str) -> KeyTable:
        """Return the keys of a part such as `2-of-8`; without a name, all keys."""
        if not name:
            return self.key_table
        number, count = name.split("-of-")
        return self.part(int(number), int(count))

    def part(self, number: int, count: int) -> KeyTable:
        """Return part `number` (from 1) of `count` parts of the key table.

        Prompts with a common beginning stay together, and parts take about the same
        time: a prompt belongs to the part in which the middle of its work lies. Parts
        do not depend on the store's contents.
        """
        ordered = self._ordered(np.arange(len(self.key_table.keys)))
        work = self._work_units()[ordered]
        middles = 2 * np.cumsum(work) - work
        places = middles * count // (2 * work.sum())
        return self.key_table.only(ordered[places == number - 1])

    def _work_units(self) -> Integers:
        """Return the work of each key of the key table, at most, in characters read.

        A token that is written takes as long as `WRITTEN` tokens of a prompt.
        """
        longest = [cell.judge.max_tokens for cell in self._questions]
        written = np.array(longest, np.int64)[self.cell_numbers()]
        prompts = self.characters[self.key_table.representative]
        # Tokens of a prompt that a model reads while it writes one token. Measured with
        # a small model on one core: 5; docs/scale.md assumes 4 for a GPU.
        written_share = 4
        return prompts + CHARACTERS * written_share * written * self.key_table.draws

    def _ordered(self, places: Integers) -> Integers:
        parts = self._parts[self.key_table.representative[places]]
        return places[np.lexsort(parts.T[::-1])]

    def _request(self, number: int) -> Request:
        cell = int(np.searchsorted(self._first, number, side="right")) - 1
        return self._questions[cell][number - int(self._first[cell])]

    def rows(
        self, cell: QuestionCell, stored: StoredReplies, *, so_far: bool = False
    ) -> list[dict[str, Any]]:
        """Return the rows of a cell's reply file; with `so_far`, missing replies are
        left out.
        """
        indices = stored.key_table.indices(self._keys_of[cell])
        slots: list[int] = stored.key_table.first[indices].tolist()

        def reply_to(number: int, draw: int) -> Reply | None:
            slot = slots[number] + draw
            if so_far and not stored.has(slot):
                return None
            return stored.reply(slot)

        return rows(self.cells[cell], reply_to)

    def cell_numbers(self) -> Integers:
        """Return for each key of the key table the number of the first cell that needs
        it.
        """
        numbers = self.key_table.representative
        return np.searchsorted(self._first, numbers, side="right") - 1

    def counts(self, stored: StoredReplies) -> list[JudgeCount]:
        """Return for each judge how many draws are planned and missing."""
        judges = list(dict.fromkeys(judge for _, judge, _ in self.cells))
        owners = [judges.index(judge) for _, judge, _ in self.cells]
        owner = np.array(owners, np.int64)[self.cell_numbers()]
        lacking = stored.lacking()
        incomplete = lacking > 0
        characters = self.characters[self.key_table.representative] * incomplete
        sums = []
        for column in (self.key_table.draws, lacking, incomplete, characters):
            of_judges = np.bincount(owner, column, minlength=len(judges))
            sums.append(of_judges.astype(int).tolist())
        planned = dict.fromkeys(judges, 0)
        for (_, judge, _), questions in self.cells.items():
            planned[judge] += len(questions) * questions.judge.draws
        repeated = [planned[judge] - sums[0][at] for at, judge in enumerate(judges)]
        return [JudgeCount(*row) for row in zip(judges, *sums, repeated, strict=True)]


def plan_questions(
    spec: AskSpec,
    model: cards.AskedModel,
    findings: Findings | None = None,
    subjects: Subjects | None = None,
) -> QuestionPlan:
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
    texts = _Texts(
        subjects or Subjects(spec.subjects, spec.dataset, spec.seed),
        model,
        prefers=spec.prefers,
    )

    def questions(perturbation: str, name: str, aspect: str) -> Questions:
        judge = judges[name]
        scale = scales[aspect]
        hints = texts.hints(judge, aspect, scale)
        pairs = asks_pairs(judge, spec.templates.get(judge.form, {}))
        shown_texts, not_asked = texts.asked(
            perturbation, judge, aspect, hints, pairs=pairs
        )
        return _kind_of(judge, model)(
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
            about_texts=spec.about,
        )

    return QuestionPlan({cell: questions(*cell) for cell in unpack(spec.cells)})


def _kind_of(judge: cards.Judge, model: cards.AskedModel) -> type[Questions]:
    """Return how a judge's questions become requests."""
    if isinstance(model, cards.ProgramModel):
        return ProgramQuestions
    if isinstance(model, cards.SystemOneModel):
        return DecisionQuestions
    if judge.scores_texts:
        return ScoredTextQuestions
    return Questions


class _Texts:
    """The texts of questions to a model, shared by its cells."""

    def __init__(
        self, subjects: Subjects, model: cards.AskedModel, *, prefers: bool
    ) -> None:
        self.subjects = subjects
        self.model = model
        self.prefers = prefers
        self._asked: dict[
            tuple[object, ...], tuple[list[ShownTexts], list[tuple[Subject, str]]]
        ] = {}
        self._shots: dict[tuple[str, ...], Demonstrations] = {}
        self._hints: dict[tuple[str, str], Hints] = {}

    def asked(
        self,
        perturbation: str,
        judge: cards.Judge,
        aspect: str,
        hints: Hints | None,
        *,
        pairs: bool,
    ) -> tuple[list[ShownTexts], list[tuple[Subject, str]]]:
        """Return the texts of each question, and the texts that cannot be judged with
        the reason; `pairs`: whether the judge compares two texts.

        The reason is a missing reference, or a missing rating for the hint.
        """
        if hints is not None:
            subjects = self.subjects.in_set(perturbation, judge.share, aspect)
            reason = "needs_ratings_on_the_scale"
            unrated = []
            for subject in subjects:
                if subject.target not in hints:
                    unrated.append((subject, reason))
            rated = [each for each in subjects if each.target in hints]
            return shown(judge, rated, pairs=pairs), unrated
        needed = None
        if needs_reference(judge, self.model):
            needed = judge.against
        if judge.estimator == "pmi":
            needed = "source"
        preferred: Sequence[tuple[str, str]] = ()
        # The pairs that people compared.
        if self.prefers and perturbation == SYSTEMS and pairs:
            preferred = self.subjects.preferences.get(split(aspect)[0], ())
        # all aspects share the texts if they need the same ones
        of_aspect = aspect if self.subjects.sample or preferred else ""
        which = judge.pairs, judge.orders
        key = (
            perturbation,
            pairs,
            *which,
            judge.share,
            needed,
            of_aspect,
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
            self._asked[key] = shown(judge, subjects, preferred, pairs=pairs), without
        return self._asked[key]

    def hints(
        self, judge: cards.Judge, aspect: str, scale: cards.RatedAspect
    ) -> Hints | None:
        """Return target -> the hint that the judge is given, None without hints."""
        if judge.hint is None:
            return None
        kind = judge.hint.rating
        name = split(aspect)[0]
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
