"""The random control must not discern: checked over 200 seeds.

D_exact >= 1 is a test at the 5 % level, so chance level is 5 %, give or take what 600 cells allow.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from judgescope.engines.base import EngineInputs, Subject
from judgescope.engines.controls import build
from judgescope.schema.cards import ControlModel, Judge, Scale
from judgescope.statistics.discernment import (
    discernment,
    exact_differences,
    log_p,
)

ASPECTS = ("coherence", "consistency", "fluency", "relevance")
PERTURBATIONS = 3
ITEMS = 100
SCALE = Scale(min=1, max=5, step=1, labels=[])


def random_scores(seed: int, perturbation: str) -> dict[str, NDArray[np.float64]]:
    """Return aspect -> the random control's scores of one set of targets."""
    engine = build(
        ControlModel(model="control", engine="control"),
        EngineInputs(seed=seed, dataset="d"),
    )
    subjects = [
        Subject(f"{item}:{perturbation}", str(item), None, perturbation, "x")
        for item in range(ITEMS)
    ]
    judge = Judge(judge="random", model="control", form="random")
    return {
        aspect: np.array(
            [float(draws[0].text) for draws in engine.answer(judge, aspect, SCALE, subjects)]
        )
        for aspect in ASPECTS
    }


@pytest.mark.simulation
def test_random_control_reaches_d_exact_1_in_5_percent_of_cells_over_200_seeds() -> None:
    weights = np.full(len(ASPECTS), 1 / len(ASPECTS))
    reached = []
    for seed in range(200):
        original = random_scores(seed, "original")
        for number in range(PERTURBATIONS):
            perturbed = random_scores(seed, f"p{number}.minor")
            d = [exact_differences(original[a], perturbed[a], 1) for a in ASPECTS]
            found = discernment(
                [log_p(one, "asymptotic") for one in d], [log_p(one, "exact") for one in d], weights
            )
            reached.append(float(found.d_exact) >= 1)
    assert len(reached) == 600
    noise = 2 * np.sqrt(0.05 * 0.95 / len(reached))
    assert abs(np.mean(reached) - 0.05) <= noise
