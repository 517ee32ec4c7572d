"""Planted judges: simulated judges with one known defect, to test what a study finds.

Their scores are made from the quality of the texts: that in the card's file, else
people's mean ratings. They are computed like those of controls, and sent nowhere.
"""

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from statistics import fmean

import numpy as np

from judgescope.core.errors import UserError
from judgescope.data.files import resolve
from judgescope.data.planted import (
    DEFECTS,
    PlantedJudge,
    TextsToJudge,
    in_points,
    on_scale,
)
from judgescope.engines.base import (
    Answer,
    AnswerConfidence,
    EngineInputs,
    Subject,
    not_applicable,
    number_text,
)
from judgescope.schema.cards import PLANTED_FORMS, Judge, PlantedModel, RatingScale
from judgescope.schema.cards.engines import Engine
from judgescope.statistics.arrays import Floats

UNREAD = "planted: unreadable"
Pair = tuple[Subject, Subject]
Qualities = Mapping[tuple[str, str], Mapping[str, float]]
"""(item, system) -> aspect -> quality in points."""


class PlantedEngine:
    """Computes the scores or votes of a planted judge."""

    def __init__(self, card: PlantedModel, inputs: EngineInputs) -> None:
        self.card = card
        self.inputs = inputs
        self.where = f"models/{card.model}.yaml"
        strength = card.strength
        if strength is None:
            strength = DEFECTS[card.defect].stated
        self.judge = PlantedJudge(
            card.defect,
            strength,
            inputs.seed,
            (inputs.dataset, card.model),
            frozenset(card.systems),
        )

    def answer(
        self, judge: Judge, aspect: str, scale: RatingScale, subjects: Sequence[Subject]
    ) -> list[list[Answer]]:
        """Return every subject's draws; texts without a known quality do not apply."""
        texts = self._texts(subjects, aspect, scale)
        places = {target: number for number, target in enumerate(texts.targets)}
        if not places:
            return [[not_applicable("needs_ratings")] * judge.draws for _ in subjects]
        draws = []
        for draw in range(judge.draws):
            draws.append(self._values(texts, aspect, scale, draw))
        sures = self._confidences(texts, aspect, scale)
        answers = []
        for subject in subjects:
            at = places.get(subject.target)
            if at is None:
                answers.append([not_applicable("needs_ratings")] * judge.draws)
            else:
                of_text = [_answer(float(each[at]), scale) for each in draws]
                if sures is not None:
                    sure = AnswerConfidence(float(sures[at]), "planted", "planted")
                    of_text = [replace(each, confidence=sure) for each in of_text]
                answers.append(of_text)
        return answers

    def _confidences(
        self, texts: TextsToJudge, aspect: str, scale: RatingScale
    ) -> Floats | None:
        """Return how sure the judge is of its label of each text; None: it never
        says.
        """
        if not self.card.is_sure:
            return None
        # The labels of which a planted judge says how sure it is.
        label_count = 2
        if len(scale.labels) != label_count or not scale.categorical:
            raise UserError(
                "a planted judge that says how sure it is needs two labels",
                where=f"{self.where}, key defect",
                got=f"{self.card.defect}; aspect {aspect}: {scale.min:g} to "
                f"{scale.max:g}",
                todo="let it judge only aspects with two labels (`aspects` in the "
                "judge's card)",
            )
        numbers = []
        for values in self.inputs.ratings.values():
            if values:
                numbers.append(len(values))
        raters = max(numbers, default=1)
        return self.judge.confidences(texts, aspect, raters)

    def compare(
        self, judge: Judge, aspect: str, scale: RatingScale, subjects: Sequence[Subject]
    ) -> tuple[list[Pair], list[list[Answer]]]:
        """Return the pairs that people compared, in each order asked, and the votes.

        A vote is 1 for the text shown first, -1 for the other one, 0 for neither.
        """
        if not self.card.files or self.card.defect == "copy":
            raise UserError(
                "a planted judge that compares texts needs to know their quality",
                where=f"{self.where}, key files",
                got=f"defect {self.card.defect}, without a file of qualities"
                if not self.card.files
                else "defect copy, which needs ratings",
                todo="name a CSV file with the columns item, system and one of each "
                "aspect, and a defect other than copy",
            )
        texts = self._texts(subjects, aspect, scale)
        places = {target: number for number, target in enumerate(texts.targets)}
        known = {subject.target: subject for subject in subjects}
        asked = list[tuple[str, str]]()
        for pair in self.inputs.preferences.get(aspect, ()):
            if pair[0] in places and pair[1] in places:
                orders = (pair, pair[::-1]) if judge.orders == "both" else (pair,)
                asked += orders
        first = np.array([places[target] for target, _ in asked], np.int64)
        second = np.array([places[target] for _, target in asked], np.int64)
        draws = []
        for draw in range(judge.draws):
            draws.append(self.judge.votes(texts, aspect, first, second, draw))
        answers = []
        for at in range(len(asked)):
            answers.append([_vote(float(each[at])) for each in draws])
        return [(known[a], known[b]) for a, b in asked], answers

    def version(self, _: Judge) -> str:
        """Return what determines the scores beside the card."""
        return "planted"

    def _values(
        self, texts: TextsToJudge, aspect: str, scale: RatingScale, draw: int
    ) -> Floats:
        """Return the values of one draw on a scale, (texts,), NaN = unreadable."""
        points = self.judge.points(texts, aspect, draw)
        if scale.best == "min":
            points = -points
        stepped = self.card.defect != "copy" or scale.categorical
        grid = scale.values() if stepped else None
        return on_scale(points, scale.min, scale.max, grid)

    def _texts(
        self, subjects: Sequence[Subject], aspect: str, scale: RatingScale
    ) -> TextsToJudge:
        """Return the subjects whose quality on an aspect is known, sorted by target."""
        people = self._people(scale)
        aspects = {aspect: None} | dict.fromkeys(self._aspects)
        rows = []
        for subject in sorted(subjects, key=lambda asked: asked.target):
            key = subject.item, subject.system or ""
            known = None
            if self.card.files:
                known = self._qualities.get(key, {})
            if known is None:
                known = people.get(subject.target, {})
            if aspect in known:
                rows.append((subject, known, people.get(subject.target, {})))
        quality = dict[str, Floats]()
        means = dict[str, Floats]()
        for name in aspects:
            values = [known.get(name, np.nan) for _, known, _ in rows]
            if not np.isnan(values).all():
                quality[name] = np.array(values, dtype=np.float64)
            rated = [ratings.get(name, np.nan) for *_, ratings in rows]
            means[name] = np.array(rated, dtype=np.float64)
        lengths = [max(1, len(subject.text)) for subject, *_ in rows]
        return TextsToJudge(
            [subject.target for subject, *_ in rows],
            [subject.item for subject, *_ in rows],
            [subject.system or "" for subject, *_ in rows],
            np.log2(np.array(lengths, dtype=np.float64)),
            quality,
            means,
        )

    def _people(self, scale: RatingScale) -> Mapping[str, Mapping[str, float]]:
        """Return target -> aspect -> people's mean rating in points of this scale."""
        means = defaultdict[str, dict[str, float]](dict)
        for (target, aspect), values in self.inputs.ratings.items():
            if values:
                mean = in_points(np.array(fmean(values)), scale.min, scale.max)
                means[target][aspect] = (
                    -float(mean) if scale.best == "min" else float(mean)
                )
        return means

    @cached_property
    def _aspects(self) -> list[str]:
        """Return all aspects of which qualities are known, sorted."""
        of_file = set[str]()
        for known in self._qualities.values():
            of_file.update(known)
        return sorted(of_file or {name for _, name in self.inputs.ratings})

    @cached_property
    def _qualities(self) -> Qualities:
        """Read the file of qualities, in points.

        Raises UserError for a file without the columns `item` and `system`, and for a
        cell without a number.
        """
        qualities = dict[tuple[str, str], dict[str, float]]()
        if not self.card.files:
            return qualities
        files = resolve(
            self.card.files,
            "data",
            self.inputs.folder,
            self.inputs.data,
            where=self.where,
        )
        for path, fields in files:
            if fields.get("dataset", self.inputs.dataset) != self.inputs.dataset:
                continue
            with path.open(encoding="utf-8", newline="") as file:
                rows = csv.DictReader(file)
                if not {"item", "system"} <= {*(rows.fieldnames or ())}:
                    raise UserError(
                        "a file of qualities needs the columns `item` and `system`",
                        where=str(path),
                        got=", ".join(rows.fieldnames or ()),
                        todo="add them, with the ids of items and systems",
                    )
                for row in rows:
                    key = row["item"], row["system"]
                    qualities[key] = _numbers(row, f"{path}, row {rows.line_num}")
        return qualities


def _numbers(row: Mapping[str, str], where: str) -> dict[str, float]:
    """Return aspect -> quality of a row; an empty cell has none."""
    numbers = dict[str, float]()
    for name, cell in row.items():
        if name in ("item", "system") or not cell:
            continue
        try:
            numbers[name] = float(cell)
        except ValueError:
            raise UserError(
                "a quality is not a number",
                where=f"{where}, column {name}",
                got=cell,
                allowed="a number of points above or below the middle of the scale, "
                "such as -0.7",
            ) from None
    return numbers


def _answer(value: float, scale: RatingScale) -> Answer:
    """Return a value as a reply: a word on a scale of labels, else a number."""
    if np.isnan(value):
        return Answer(UNREAD, "error")
    return Answer(str(scale.shown(value)) if scale.categorical else number_text(value))


def _vote(value: float) -> Answer:
    if np.isnan(value):
        return Answer(UNREAD, "error")
    return Answer(number_text(value))


build = PlantedEngine
ENGINE = Engine(
    name="planted",
    card=PlantedModel,
    build=build,
    forms=PLANTED_FORMS,
    reads_ratings=True,
)
