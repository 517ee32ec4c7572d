"""The tables of a simulated dataset in memory: what a run would write."""

import numpy as np
import pytest

from judgescope.data.planted import PlantedDesign, simulated
from judgescope.methods.in_memory import PlantedAnswers, in_memory, verdict_rows
from planted_study import worlds

SMALL = PlantedDesign(sources=12, systems=3, texts=(3,))
DATA = simulated(SMALL, 5, "d")
SETUPS = [
    worlds.JudgeSetup("none"),
    worlds.JudgeSetup("noisy", 0.5, draws=3),
    worlds.JudgeSetup("dead", 0.5),
]
ANSWERS = worlds.answers_of(DATA, "d", SETUPS, seed=5)
SPEC = worlds.planted_spec(SMALL, "d", SETUPS, seed=5)


def test_texts_ratings_and_lengths_are_those_of_the_dataset() -> None:
    data = in_memory(SPEC, DATA, ANSWERS)
    panel = data.systems
    assert panel.targets == DATA.texts.targets
    assert panel.lengths.tolist() == DATA.lengths.tolist()
    assert np.array_equal(panel.ratings("scores-1"), DATA.ratings["scores-1"])


def test_score_is_the_mean_of_the_draws() -> None:
    data = in_memory(SPEC, DATA, ANSWERS)
    name = SETUPS[1].name
    drawn = ANSWERS.draws[name]["scores-1"]
    scores = data.systems.scores(name, "scores-1")
    assert scores == pytest.approx(drawn.mean(axis=0))
    assert np.array_equal(data.draw_tables(data.systems)[name, "scores-1"], drawn)


def test_unreadable_replies_are_lost_judgments() -> None:
    data = in_memory(SPEC, DATA, ANSWERS)
    name = SETUPS[2].name
    lost, planned = data.replies_lost(name, ["systems"], ["scores-1"])
    assert lost == np.isnan(ANSWERS.draws[name]["scores-1"]).mean() > 0.2 and planned
    scores = data.systems.scores(name, "scores-1")
    assert scores is not None
    unread = np.isnan(ANSWERS.draws[name]["scores-1"][0])
    assert np.array_equal(np.isnan(scores), unread)


def test_votes_are_rows_in_both_orders() -> None:
    design = PlantedDesign("pairs", sources=12, texts=(1,))
    dataset = simulated(design, 5, "p")
    judge = worlds.JudgeSetup("none")
    answers = worlds.answers_of(dataset, "p", [judge], seed=5)
    spec = worlds.planted_spec(design, "p", [judge], seed=5)
    rows = in_memory(spec, dataset, answers).draws.to_pylist()
    assert len(rows) == 2 * 2 * dataset.first.size
    first, second = dataset.pair(0)
    [vote] = {row["value"] for row in rows[:1]}
    assert (rows[0]["target"], rows[0]["target_b"]) == (first, second)
    assert (rows[1]["target"], rows[1]["target_b"]) == (second, first)
    assert rows[1]["value"] == -vote


def test_rows_of_verdicts_are_signed_with_the_data() -> None:
    rows = verdict_rows(SPEC, DATA, ANSWERS, "0123abcd")
    judges = {row["judge"] for row in rows}
    assert judges == {"human", *(setup.name for setup in SETUPS)}
    assert all("|data:d@0123abcd|" in row["signature"] for row in rows)
    # Without answers there is only how people agree with one another.
    without_answers = verdict_rows(SPEC, DATA, PlantedAnswers())
    assert {row["judge"] for row in without_answers} == {"human"}
    assert all(row["statistic"] == "normal_scores" for row in without_answers)
