"""The direct view on the public data: texts of SummEval on which all experts agree."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from data_samples import REAL, needs_real_data
from judgescope.methods.aspect_views import unanimous
from judgescope.parsing.judgment import Scale
from judgescope.statistics.classes import equal_width, on_classes
from parsed import parse

pytestmark = needs_real_data
RECORDED = REAL / "recorded" / "summeval_gpt35"
FIVE, HALVES = Scale(1, 5, 1), Scale(1, 5, 0.5)
COUNTS = {
    "coherence": [11, 25, 26, 9, 83],
    "consistency": [14, 14, 5, 1, 921],
    "fluency": [5, 10, 20, 2, 819],
    "relevance": [5, 17, 32, 61, 64],
}
KAPPAS = {
    "coherence": 0.307,
    "consistency": 0.174,
    "fluency": 0.018,
    "relevance": 0.390,
}


@cache
def texts() -> list[Any]:
    path = REAL / "summeval" / "model_annotations.12systems.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def shared(aspect: str) -> Any:
    """Return the rating on which all experts agree, NaN where they do not; (texts,)."""
    ratings = [
        [expert_annotation[aspect] for expert_annotation in row["expert_annotations"]]
        for row in texts()
    ]
    return unanimous(np.array(ratings, dtype=float).T)


def gpt_scores(aspect: str) -> Any:
    """Return what GPT-3.5 says of the same texts, some of it in half points."""
    if not RECORDED.is_dir():
        pytest.skip(
            "recorded replies are not there: ../shared/data/recorded/summeval_gpt35"
        )
    collected = {}
    for system in {row["model_id"] for row in texts()}:
        path = RECORDED / f"{system}_{aspect}_rts.jsonl"
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            collected[row["id"], system] = parse(
                row["resp"], scale=HALVES, finish="stop"
            ).value
    return np.array(
        [collected[row["id"], row["model_id"]] for row in texts()], dtype=float
    )


@pytest.mark.parametrize("aspect", COUNTS)
def test_counts_of_texts_on_which_all_experts_agree(aspect: str) -> None:
    """As table 4 of Hu et al. (2025) counts them, there on 16 systems, here on 12."""
    rated = shared(aspect)
    assert (
        np.bincount(rated[~np.isnan(rated)].astype(int))[1:].tolist() == COUNTS[aspect]
    )


@pytest.mark.heavy
@pytest.mark.parametrize("aspect", COUNTS)
def test_recorded_replies_have_the_expected_kappa_on_them(aspect: str) -> None:
    five, halves = FIVE.grid(), HALVES.grid()
    assert five and halves
    gold, mine = shared(aspect), equal_width(gpt_scores(aspect), halves, five)
    agreed = ~np.isnan(gold)
    source = np.zeros(agreed.sum(), dtype=np.int64)
    estimate = on_classes(gold[agreed], mine[agreed], five, source, None)[
        "kappa_linear"
    ].estimate
    assert estimate.value == pytest.approx(KAPPAS[aspect], abs=0.01)
    assert (estimate.n, estimate.n_missing) == (sum(COUNTS[aspect]), 0)
