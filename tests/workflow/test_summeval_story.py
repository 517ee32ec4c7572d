"""benchmarks/summeval_story.py on SummEval's recorded judge: what the guide says."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data_samples import REAL, needs_real_data

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "summeval_story.py"
_spec = importlib.util.spec_from_file_location("summeval_story", PATH)
assert _spec and _spec.loader
story = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = story
_spec.loader.exec_module(story)

pytestmark = [pytest.mark.slow, needs_real_data]


@pytest.fixture(scope="module")
def recorded() -> Any:
    return story.load(Path(REAL))


def test_every_reply_is_read_and_priced(recorded: Any) -> None:
    assert recorded.unread == 0
    assert recorded.dollars == pytest.approx(1.66, abs=0.005)
    assert recorded.rated["fluency"].shape == (12, 100)


def test_the_judge_alone_is_off_by_as_much_as_the_guide_says(
    recorded: Any,
) -> None:
    off = {}
    for aspect in story.ASPECTS:
        judged = np.nanmean(recorded.judged[aspect], axis=1)
        off[aspect] = judged - recorded.rated[aspect].mean(axis=1)
    assert off["fluency"].min() == pytest.approx(-2.35, abs=0.005)
    assert max(np.abs(each).min() for each in off.values()) > 1.3


def test_all_articles_rated_leave_the_judge_nothing_to_say(
    recorded: Any,
) -> None:
    each = {"people alone": story.Known(), "corrected": story.Known()}
    every = np.arange(100)
    judged, rated = recorded.judged["relevance"], recorded.rated["relevance"]
    story.known(judged, rated, every, each)
    alone, corrected = each.values()
    assert alone.apart == corrected.apart and alone.wrong == corrected.wrong == [0]
    assert np.mean(alone.widths) == pytest.approx(np.mean(corrected.widths))


def test_twenty_articles_tell_few_pairs_separate_and_the_judge_helps_a_little(
    recorded: Any,
) -> None:
    each = {"people alone": story.Known(), "corrected": story.Known()}
    rng = np.random.default_rng(3)
    judged, rated = recorded.judged["relevance"], recorded.rated["relevance"]
    for _ in range(5):
        story.known(judged, rated, rng.permutation(100)[:20], each)
    alone, corrected = each.values()
    assert np.mean(alone.apart) < 33
    assert np.mean(corrected.widths) < np.mean(alone.widths)
