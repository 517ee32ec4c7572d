"""`js.rubrics`: a rubric from arrays, equal to the numbers of the table."""

import numpy as np
import pandas as pd
import pytest

import judgescope as js

RNG = np.random.default_rng(5)
RESPONSES, CRITERIA = 80, 3
RESPONSE, CRITERION = np.divmod(np.arange(RESPONSES * CRITERIA), CRITERIA)
SOURCE = RESPONSE // 2
SYSTEM = np.where(RESPONSE % 2, "b", "a")
POINTS = np.array([5.0, 3.0, -4.0])[CRITERION]
TRUTH = RNG.random(RESPONSE.size) < 0.6
HUMAN = np.stack([TRUTH ^ (RNG.random(TRUTH.size) < 0.1) for _ in range(2)], axis=1)
JUDGE = (TRUTH ^ (RNG.random(TRUTH.size) < 0.1)).astype(float)
WHERE = {"response": RESPONSE, "criterion": CRITERION, "points": POINTS}


def test_numbers_of_a_rubric() -> None:
    result = js.rubrics(
        JUDGE, HUMAN.astype(float), source=SOURCE, system=SYSTEM, **WHERE
    )
    scores = (POINTS * JUDGE).reshape(RESPONSES, CRITERIA).sum(axis=1) / 8
    mean = result.loc[("judge", "rubric_score", ""), "value"]
    assert mean == pytest.approx(scores.mean())
    of_a = result.loc[("judge", "rubric_score", "system: a"), "value"]
    assert of_a == pytest.approx(scores[::2].mean())
    hits = [
        np.mean(JUDGE[HUMAN[:, rater] == label] == label)
        for label in (0, 1)
        for rater in (0, 1)
    ]
    balanced = result.loc[("judge", "rubric_balanced_accuracy", ""), "value"]
    assert min(hits) <= balanced <= max(hits)
    assert result.loc[("experts", "rubric_f1", ""), "value"] > 0.7


def test_labels_of_criteria_name_the_rows() -> None:
    names = np.array(["risk", "when", "scares"])[CRITERION]
    table = pd.DataFrame({"judge": JUDGE, "human": HUMAN[:, 0].astype(float)})
    result = js.rubrics(
        table["judge"], table["human"], response=RESPONSE, criterion=names,
        theme=np.where(names == "risk", "risk", "rest"),
    )  # fmt: skip
    parts = {part for who, _, part in result.index if who == "judge"}
    assert parts >= {"criterion: risk", "criterion: when", "theme: risk"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judge": JUDGE + 1}, "judge must be 1"),
        ({"human": HUMAN * 2.0}, "human must be 1"),
        ({"points": -np.abs(POINTS)}, "some above 0"),
        ({"criterion": np.zeros(JUDGE.size)}, "twice in a response"),
        ({"source": np.arange(JUDGE.size)}, "two values of source"),
        ({"theme": np.arange(JUDGE.size)}, "two values of theme"),
        ({"criterion": CRITERION[:-1]}, "lengths differ"),
    ],
)
def test_what_is_no_rubric_is_refused(
    change: dict[str, np.ndarray], message: str
) -> None:
    arguments = {"judge": JUDGE, "human": HUMAN.astype(float), **WHERE} | change
    with pytest.raises(ValueError, match=message):
        js.rubrics(**arguments)
