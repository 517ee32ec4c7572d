"""From ratings and scores to claims in memory, without files: the same numbers.

The tables are those that a run's jobs would write for the same dataset, so that a row
of verdicts is the same to the bit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from judgescope.core.names import SYSTEMS
from judgescope.data.planted import SimulatedTexts, text_of
from judgescope.methods import verdicts
from judgescope.methods.base import StatisticsSpec
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.score_tables import ScoreTables
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import table_of
from judgescope.scoring.aggregate import MAJORITY, scores
from judgescope.statistics.arrays import Floats

SimulatedRow = dict[str, object]


@dataclass(frozen=True, eq=False)
class PlantedAnswers:
    """What judges answer about a simulated dataset.

    draws: judge -> aspect -> (draws, texts), values of the scale, NaN = unreadable;
    votes: judge -> aspect -> (2, pairs), 1 for the text shown first, -1 for the other,
    0 for neither: first the votes in the pair's order, then those in the reverse one.
    """

    draws: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)
    votes: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)


def in_memory(
    spec: StatisticsSpec,
    dataset: SimulatedTexts,
    answers: PlantedAnswers,
    data_sha: str = "",
) -> EvaluationData:
    """Return the tables of a simulated dataset and of judges' answers about it.

    spec: that of the table `verdicts`, or of another one that reads no files;
    `data_sha` stands in the signatures.
    """
    scored = [*_score_rows(spec, dataset, answers)]
    drawn = [*_draw_rows(spec, dataset, answers)]
    rows: dict[str, list[SimulatedRow]] = {
        "items": [{"item": item} for item in dict.fromkeys(dataset.texts.items)],
        "targets": _target_rows(dataset),
        "ratings": [*_rating_rows(dataset)],
        "scores": scored,
        "draws": drawn,
        "statuses": [*_status_rows(answers)],
    }
    judged = {"scores", "draws", "statuses"}
    tables = {}
    for name, each in rows.items():
        keys: SimulatedRow = {"dataset": spec.dataset}
        if name in judged:
            keys["perturbation"] = SYSTEMS
        tables[name] = table_of(name, [keys | row for row in each])
    scores = ScoreTables.of_table(tables.pop("scores"))
    return EvaluationData(spec=spec, data_sha=data_sha, scores=scores, **tables)


def verdict_rows(
    spec: StatisticsSpec,
    dataset: SimulatedTexts,
    answers: PlantedAnswers,
    data_sha: str = "",
) -> list[ResultRow]:
    """Return the rows of verdicts.csv on a simulated dataset."""
    return [*verdicts.rows(in_memory(spec, dataset, answers, data_sha))]


def _target_rows(dataset: SimulatedTexts) -> list[SimulatedRow]:
    texts = dataset.texts
    rows = []
    for at, length in enumerate(dataset.lengths.tolist()):
        row = {
            "target": texts.targets[at],
            "item": texts.items[at],
            "system": texts.systems[at],
            "perturbation": SYSTEMS,
            "step": 0,
            "text": text_of(texts.targets[at], length),
            "status": "ok",
        }
        rows.append(row)
    return rows


def _rating_rows(dataset: SimulatedTexts) -> Iterator[SimulatedRow]:
    targets = dataset.texts.targets
    for aspect, ratings in dataset.ratings.items():
        for number, rater in enumerate(ratings.tolist(), start=1):
            keys: SimulatedRow = {"aspect": aspect, "rater": f"rater-{number}"}
            for target, value in zip(targets, rater, strict=True):
                yield keys | {"target": target, "value": value}
    for aspect, choices in dataset.choices.items():
        for number, rater in enumerate(choices.tolist(), start=1):
            keys = {"aspect": aspect, "rater": f"rater-{number}"}
            for at, value in enumerate(rater):
                first, second = dataset.pair(at)
                yield keys | {"target": first, "target_b": second, "value": value}


def _score_rows(
    spec: StatisticsSpec, dataset: SimulatedTexts, answers: PlantedAnswers
) -> Iterator[SimulatedRow]:
    """Yield each text's score from the judge's draws, as a run aggregates them."""
    for judge, aspects in answers.draws.items():
        for aspect, draws in aspects.items():
            worded = bool(spec.aspects[aspect].labels)
            estimator = MAJORITY if worded else "mean"
            planned = np.full(draws.shape[1], len(draws))
            values, _ = scores(draws.T, planned, estimator)
            for target, value in zip(
                dataset.texts.targets, values.tolist(), strict=True
            ):
                score = None if np.isnan(value) else value
                keys: SimulatedRow = {
                    "judge": judge,
                    "aspect": aspect,
                    "target": target,
                }
                yield keys | {"value": score}


def _draw_rows(
    spec: StatisticsSpec, dataset: SimulatedTexts, answers: PlantedAnswers
) -> Iterator[SimulatedRow]:
    """Yield the draws of judges with several, and all votes."""
    for judge, aspects in answers.draws.items():
        for aspect, draws in aspects.items():
            if spec.judges[judge].draws > 1:
                for number, values in enumerate(draws.tolist()):
                    for target, value in zip(
                        dataset.texts.targets, values, strict=True
                    ):
                        known = None if np.isnan(value) else value
                        keys: SimulatedRow = {"judge": judge, "aspect": aspect}
                        keys["target"] = target
                        yield keys | {"draw": number, "value": known}
    for judge, aspects in answers.votes.items():
        for aspect, votes in aspects.items():
            for at, in_order in enumerate(votes.T.tolist()):
                pair = dataset.pair(at)
                for shown, value in zip((pair, pair[::-1]), in_order, strict=True):
                    keys = {"judge": judge, "aspect": aspect, "draw": 0}
                    known = None if np.isnan(value) else value
                    keys |= {"target": shown[0], "target_b": shown[1]}
                    yield keys | {"value": known}


def _status_rows(answers: PlantedAnswers) -> Iterator[SimulatedRow]:
    for cells in (answers.draws, answers.votes):
        for judge, aspects in cells.items():
            for aspect, values in aspects.items():
                unread = int(np.isnan(values).sum())
                counts = {"ok": values.size - unread, "error": unread}
                for status, n in counts.items():
                    yield {
                        "judge": judge,
                        "aspect": aspect,
                        "status": status,
                        "rule": "",
                        "n": n,
                    }
