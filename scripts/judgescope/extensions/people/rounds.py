"""Rounds of ratings: sources drawn with known chances, rated on our pages, and what the
systems really score by them.

A folder holds all of it: what was declared, each draw with its chances, the pages, the
answers, and the looks at the result. Chances are stored with the draw and never
computed again.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError, check_known
from judgescope.core.files import write_text
from judgescope.core.rng import stream
from judgescope.extensions.people import answers, form, ratings
from judgescope.methods.evaluate import evaluation_data
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.gold import gold_numbers
from judgescope.methods.labels import truth_of
from judgescope.methods.rated_systems import (
    JudgedSystems,
    ends_of,
    judged_systems,
)
from judgescope.plan.specs.results import statistics
from judgescope.plan.study import Plan
from judgescope.statistics.active import (
    FEWEST_TO_PREDICT,
    LEAST_SAVING,
    DrawnRound,
    active_mean,
    draw,
    draw_chances,
    expected_saving,
    predicted_errors,
    source_errors,
)
from judgescope.statistics.arrays import Flags, Floats
from judgescope.statistics.corrected import source_means
from judgescope.statistics.result import Estimate

ANSWERS: Final = "answers"


@dataclass(frozen=True)
class Declared:
    """What is fixed before the first draw."""

    study: str
    dataset: str
    judge: str
    aspect: str
    looks: int
    """How often the result may be looked at; each interval is at level 1 − .05/looks.
    """
    voters: int
    sources: list[str]
    """All sources that are drawn from: those that the judge scored."""


class SystemLine(NamedTuple):
    """A difference of two systems, or a system's mean: corrected, and by the judge
    alone.
    """

    name: str
    corrected: Estimate
    judge_alone: float


class Looked(NamedTuple):
    """The result, and the number of this look, of those that were declared.

    None where no line has an interval: that is no look.
    """

    number: int | None
    declared: Declared
    lines: list[SystemLine]


@dataclass(frozen=True)
class RatedRounds:
    """A study's judge on one aspect, and the folder of its rounds."""

    plan: Plan
    out: Path
    folder: Path
    declared: Declared

    # --- the study's data ---------------------------------------------------------

    @cached_property
    def data(self) -> EvaluationData:
        """The tables of the dataset."""
        return data_of(self.plan, self.declared.dataset)

    @cached_property
    def judged(self) -> JudgedSystems:
        """The judge's scores and the ratings that the data has."""
        return judged_by(self.data, self.declared.judge, self.declared.aspect)

    @cached_property
    def systems(self) -> list[str | None]:
        """The systems, or None where the texts name none."""
        return [*self.judged.names] or [None]

    def table(self, values: Floats) -> Floats:
        """Means of texts' values by source and system, (sources, systems), NaN where
        there are none.
        """
        codes = [self.data.item_order[name] for name in self.declared.sources]
        columns = []
        systems = np.array(self.judged.targets.systems, dtype=object)
        for name in self.systems:
            mine = np.isfinite(values)
            if name is not None:
                mine &= systems == name
            column = np.full(len(self.data.item_order), np.nan)
            source, means = source_means(values[mine], self.judged.targets.source[mine])
            column[source] = means
            columns.append(column[codes])
        return np.array(columns).T

    @cached_property
    def given(self) -> Mapping[str, list[float]]:
        """Text -> the answers on it in the folder of answers; none without one."""
        folder = self.folder / ANSWERS
        if not folder.is_dir() or not any(folder.iterdir()):
            return {}
        questions = {}
        for asked in self.asked:
            question = ratings.question_of(self.plan, asked)
            questions[question.id] = question
        responses = answers.read_responses(
            folder, lambda _: questions.get, answers.voter_page, one_voter=True
        )
        answers_of: dict[str, list[float]] = {}
        for response in responses:
            for question, answer in response.given:
                target = question.subject.subject.target
                answers_of.setdefault(target, []).append(float(answer))
        return answers_of

    @cached_property
    def asked(self) -> list[ratings.AskedRating]:
        """The questions that can be asked: one on each text."""
        plain = self.declared.aspect.partition(".")[0]
        return [
            each
            for each in ratings.ratings_of(self.plan, self.out)
            if (each.dataset, each.aspect) == (self.declared.dataset, plain)
        ]

    def rated(self) -> Floats:
        """People's value of each text: from the answers, else what the data has."""
        targets = self.judged.targets.targets
        n_answers = max(map(len, self.given.values()), default=0)
        table = np.full((n_answers, len(targets)), np.nan)
        for at, target in enumerate(targets):
            given = self.given.get(target, [])
            table[: len(given), at] = given
        if self.data.spec.aspects[self.declared.aspect].labels:
            values = truth_of(self.data, self.declared.aspect)(table)
        else:
            values = gold_numbers(self.data, table).values
        return np.where(np.isfinite(values), values, self.judged.rated)

    # --- draws --------------------------------------------------------------------

    @property
    def draws(self) -> list[dict[str, Any]]:
        """The stored draws, in their order."""
        rounds_drawn: list[dict[str, Any]] = []
        while (file := self._draw_file(len(rounds_drawn) + 1)).is_file():
            rounds_drawn.append(json.loads(file.read_text("utf-8")))
        return rounds_drawn

    def _draw_file(self, number: int) -> Path:
        return self.folder / f"draw-{number}.json"

    def rounds(self) -> list[DrawnRound]:
        """The draws as arrays, and a first one of ratings that the study declares to be
        a random sample.
        """
        names = self.declared.sources
        rounds = []
        before = _any_known(self.table(self.judged.rated))
        if self.plan.study.estimate.rated == "random" and before.any():
            share = np.full(len(names), before.mean())
            rounds.append(DrawnRound(share, before, int(before.sum())))
        for stored in self.draws:
            chances = np.array([stored["chances"][name] for name in names])
            drawn = np.isin(names, stored["drawn"])
            rounds.append(DrawnRound(chances, drawn, stored["planned"]))
        return rounds

    def features(self) -> Floats:
        """What is known of every source: the judge's mean score, its spread over
        systems, and how far the study's judges differ.
        """
        scores = self.table(self.judged.judged)
        columns = [np.nanmean(scores, axis=1)]
        if scores.shape[1] > 1:
            columns.append(np.nanstd(scores, axis=1))
        others = []
        for judge, card in self.data.spec.judges.items():
            if card.engine == "control":
                continue
            other = judged_systems(self.data, judge, self.declared.aspect)
            if isinstance(other, JudgedSystems):
                if other.targets.targets != self.judged.targets.targets:
                    continue  # a judge of a share of the items
                means = np.nanmean(self.table(other.judged), axis=1)
                spread = float(np.nanstd(means))
                if spread > 0:
                    others.append((means - np.nanmean(means)) / spread)
        if len(others) > 1:
            columns.append(np.nanstd(others, axis=0))
        return np.array(columns).T

    def errors(self, n: int) -> tuple[Floats, float | None]:
        """The predicted error of each source, and the expected saving of a draw by it;
        equal errors and None where too few sources are rated.
        """
        rated = self.table(self.rated())
        seen = _any_known(rated)
        equal = np.ones(seen.size)
        if seen.sum() < FEWEST_TO_PREDICT:
            return equal, None
        squares = source_errors(
            self.table(self.judged.judged), rated, seen.astype(np.float64)
        )
        if not np.isfinite(squares).any():
            return equal, None
        predicted, without = predicted_errors(self.features(), squares)
        return predicted, expected_saving(without, squares, n)

    def draw_next(self, n: int) -> list[str]:
        """Draw about n sources, store the draw, write its pages, and return lines to
        print.
        """
        size = len(self.declared.sources)
        if not 1 <= n <= size:
            raise UserError(
                "so many sources cannot be drawn",
                where="-n",
                got=n,
                allowed=f"1 to {size}, the sources with scores",
                todo="draw fewer, or run the study on more sources",
            )
        number = len(self.draws) + 1
        predicted, saving = self.errors(n)
        by_errors = saving is not None and saving >= LEAST_SAVING
        chances = draw_chances(predicted if by_errors else np.ones(size), n)
        names = ("next", self.declared.dataset, self.declared.judge)
        rng = stream(self.plan.study.seed, *names, self.declared.aspect, number)
        sample = draw(rng, chances, n)
        drawn = np.array(self.declared.sources)[sample.drawn].tolist()
        stored = {
            "planned": n,
            "by": "predicted errors" if by_errors else "equal chances",
            "expected_saving": saving,
            "drawn": drawn,
            "chances": dict(zip(self.declared.sources, chances.tolist(), strict=True)),
        }
        lines = [saving_line(saving), f"round {number}: {len(drawn)} sources drawn"]
        lines += self._pages(number, drawn)
        write_text(self._draw_file(number), json.dumps(stored, indent=1) + "\n")
        return lines

    def _pages(self, number: int, drawn: Sequence[str]) -> list[str]:
        """Write the pages of drawn sources whose texts are not all rated yet."""
        values = self.rated()
        open_texts = set()
        for target, item, value in zip(
            self.judged.targets.targets, self.judged.targets.items, values, strict=True
        ):
            if item in drawn and np.isnan(value):
                open_texts.add(target)
        chosen = [each for each in self.asked if each.subject.target in open_texts]
        if not chosen:
            return ["all their texts are rated: no page"]
        made = form.ask(
            self.plan,
            self.folder / f"pages-{number}",
            f"next {number}",
            {(self.declared.dataset,): chosen},
            partial(ratings.items_of, self.plan),
            voters=self.declared.voters,
        )
        return [
            *made.lines,
            f"put the files that people send into {self.folder / ANSWERS}",
        ]

    # --- looks --------------------------------------------------------------------

    def look(self) -> Looked:
        """The result by the answers so far, and the file of it.

        Each new state of answers, ratings and scores is a look, if a line of it has an
        interval. UserError once all declared looks are used.
        """
        if not self.draws:
            raise UserError(
                "no sources have been drawn",
                where=str(self.folder),
                todo="draw some with -n",
            )
        lines = [*self._lines()]
        if all(line.corrected.ci_low is None for line in lines):
            return Looked(None, self.declared, lines)
        state = self._state()
        number = self._look_number(state)
        record = {
            "state": state,
            "result": [
                {"name": line.name, "judge_alone": line.judge_alone}
                | asdict(line.corrected)
                for line in lines
            ],
        }
        file = self.folder / f"look-{number}.json"
        write_text(file, json.dumps(record, indent=1) + "\n")
        return Looked(number, self.declared, lines)

    def _state(self) -> str:
        """The hash of all that a result depends on: draws, answers, ratings, scores."""
        given = {target: sorted(each) for target, each in self.given.items()}
        state = hashlib.sha256(canonical([self.draws, given]).encode())
        for values in (self.judged.judged, self.rated()):
            state.update(self.table(values).tobytes())
        return state.hexdigest()

    def _look_number(self, state: str) -> int:
        """The number of the look at this state: a new one, or that of an earlier look
        at the same.
        """
        number = 1
        while (file := self.folder / f"look-{number}.json").is_file():
            if json.loads(file.read_text("utf-8"))["state"] == state:
                return number
            number += 1
        if number > self.declared.looks:
            raise UserError(
                "all declared looks are used",
                where=str(self.folder),
                got=f"a look at new answers or scores after {self.declared.looks}",
                todo="the last look is the result; more looks than declared would make "
                "its intervals too narrow",
            )
        return number

    def _lines(self) -> Iterator[SystemLine]:
        """Yield the difference of every two systems, then the mean of each."""
        scores = self.table(self.judged.judged)
        rated = self.table(self.rated())
        rounds = self.rounds()
        looks = self.declared.looks
        low, high = ends_of(self.data, self.declared.aspect)
        span = high - low
        for a, b in combinations(range(len(self.systems)), 2):
            gap = scores[:, a] - scores[:, b]
            truth = rated[:, a] - rated[:, b]
            mean = active_mean(gap, truth, rounds, (-span, span), looks=looks)
            name = f"{self.systems[a]} − {self.systems[b]}"
            yield SystemLine(name, mean, float(np.nanmean(gap)))
        for at, system in enumerate(self.systems):
            mean = active_mean(
                scores[:, at], rated[:, at], rounds, (low, high), looks=looks
            )
            alone = float(np.nanmean(scores[:, at]))
            yield SystemLine(system or "all texts", mean, alone)


def _any_known(table: Floats) -> Flags:
    """Which sources have a value of some system: (sources, systems) -> (sources,)."""
    return np.asarray(np.isfinite(table).any(axis=1))


def data_of(plan: Plan, dataset: str) -> EvaluationData:
    """The scores and ratings of a dataset of a study that has run."""
    spec = statistics(plan, "corrected", dataset)
    files = spec.files
    needed = [files.items, files.ingested, files.ratings, files.scores, files.statuses]
    run_first = "run the study first: judgescope run STUDY.yaml"
    form.check_made([*map(Path, needed)], "scores", run_first)
    return evaluation_data(spec)


def judged_by(data: EvaluationData, judge: str, aspect: str) -> JudgedSystems:
    """The scores of a judge; UserError where it has none."""
    judged = judged_systems(data, judge, aspect)
    if isinstance(judged, JudgedSystems) and np.isfinite(judged.judged).any():
        return judged
    raise UserError(
        "this judge has no scores of this aspect that people's ratings could correct",
        where=f"--judge {judge} --aspect {aspect}",
        got=judged if isinstance(judged, str) and judged else "no score",
        todo="name a judge and an aspect that have both; `judgescope show STUDY "
        "coverage` counts the scores, and the dataset's card names the columns of "
        "ratings",
    )


def saving_line(saving: float | None) -> str:
    """What the draw is expected to save, in words."""
    if saving is None:
        return (
            f"fewer than {FEWEST_TO_PREDICT} rated sources: equal chances, no saving "
            "expected"
        )
    if saving < LEAST_SAVING:
        return (
            f"a draw by predicted errors would save {saving:.0%} of the ratings: less "
            f"than {LEAST_SAVING:.0%}, so all chances are equal"
        )
    return f"expected to save {saving:.0%} of the ratings against equal chances"


def opened(
    plan: Plan,
    out: Path,
    folder: Path,
    *,
    dataset: str | None = None,
    judge: str | None = None,
    aspect: str | None = None,
    looks: int | None = None,
    voters: int | None = None,
) -> RatedRounds:
    """The rounds of a folder; of a new one with what is declared here.

    Raises UserError for what does not fit the folder's declaration or the study.
    """
    chosen = {"dataset": dataset, "judge": judge, "aspect": aspect}
    asked: dict[str, object] = {**chosen, "looks": looks, "voters": voters}
    file = folder / "declared.json"
    if file.is_file():
        declared = Declared(**json.loads(file.read_text("utf-8")))
        _check_same(declared, asked, plan, file)
        rounds = RatedRounds(plan, out, folder, declared)
        if declared.sources != _sources(rounds.judged):
            raise UserError(
                "the sources with scores are not those of the first draw",
                where=str(file),
                todo="chances hold for the sources that were drawn from: use the data "
                "and scores of then, or begin in another folder",
            )
        return rounds
    if looks is None:
        looks = 1
    if voters is None:
        voters = 1
    form.check_numbers(looks=looks, voters=voters)
    dataset = _only("dataset", dataset, [*plan.evaluated])
    data = data_of(plan, dataset)
    named = []
    for name, card in data.spec.judges.items():
        if card.engine != "control":
            named.append(name)
    judge = _only("judge", judge, named)
    aspect = _only("aspect", aspect, [*data.spec.aspects])
    sources = _sources(judged_by(data, judge, aspect))
    declared = Declared(
        study=plan.study.study,
        dataset=dataset,
        judge=judge,
        aspect=aspect,
        looks=looks,
        voters=voters,
        sources=sources,
    )
    write_text(file, json.dumps(asdict(declared), indent=1) + "\n")
    return RatedRounds(plan, out, folder, declared)


def _sources(judged: JudgedSystems) -> list[str]:
    """The sources of which the judge scored a text, sorted."""
    known = np.isfinite(judged.judged)
    return sorted(set(np.array(judged.targets.items, dtype=object)[known]))


def _check_same(
    declared: Declared, asked: Mapping[str, object], plan: Plan, file: Path
) -> None:
    """Raise UserError for an option that differs from what was declared."""
    for name, value in {**asked, "study": plan.study.study}.items():
        before = getattr(declared, name)
        if value is not None and value != before:
            raise UserError(
                f"{name} was declared before the first draw and cannot change",
                where=str(file),
                got=value,
                allowed=str(before),
                todo="begin in another folder",
            )


def _only(option: str, value: str | None, known: Sequence[str]) -> str:
    """The value of an option, or the only one that there is."""
    if value is not None:
        check_known(
            [value], known, f"the study has no such {option}", where=f"--{option}"
        )
        return value
    if not known:
        raise UserError(
            f"the study has no {option} that people's ratings could correct",
            where=f"--{option}",
            todo="controls are not corrected: add a judge",
        )
    if len(known) != 1:
        raise UserError(
            f"the study has {len(known)} of these: name one",
            where=f"--{option}",
            allowed=known,
        )
    return known[0]
