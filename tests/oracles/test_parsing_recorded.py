"""Parsers on recorded replies of GPT-3.5, beside the repository."""

import json
import random
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from judgescope.parsing.judgment import Judgment, Scale
from parsed import parse
from shelf import printed

FIVE = Scale(1, 5, 1)
HALVES = Scale(1, 5, 0.5)


def judged(text: str, scale: Scale = FIVE) -> Judgment:
    return parse(text, scale=scale, finish="stop")


DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
ASPECTS = ["coherence", "consistency", "fluency", "relevance"]


def recorded(path: str) -> Path:
    if not (DATA / path).exists():
        pytest.skip(f"recorded replies are not there: ../shared/data/{path}")
    return DATA / path


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def rts() -> dict[tuple[str, str], list[Judgment]]:
    """The judgments of GPT-3.5 on SummEval, by system and aspect."""
    folder = recorded("recorded/summeval_gpt35")
    judgments = {}
    for path in sorted(folder.glob("*_rts.jsonl")):
        system, aspect, _ = path.stem.split("_")
        judgments[system, aspect] = [judged(row["resp"], HALVES) for row in rows(path)]
    return judgments


def test_recorded_replies_in_prose_are_parsed(
    rts: dict[tuple[str, str], list[Judgment]],
) -> None:
    judgments = [each for cell in rts.values() for each in cell]
    assert len(judgments) == 4_800
    assert sum(judgment.status == "ok" for judgment in judgments) >= 4_790
    assert {judgment.rule for judgment in judgments} <= {
        "labelled",
        "given",
        "fraction",
        "trailing",
    }


def test_recorded_scores_order_the_systems_as_experts_do(
    rts: dict[tuple[str, str], list[Judgment]],
) -> None:
    """Pairs of 66; taking "one out of five" for a five gives 54 for coherence."""
    experts: dict[tuple[str, str], list[float]] = {}
    for row in rows(recorded("summeval/model_annotations.12systems.jsonl")):
        for aspect in ASPECTS:
            ratings = [
                expert_annotation[aspect]
                for expert_annotation in row["expert_annotations"]
            ]
            experts.setdefault((row["model_id"], aspect), []).append(fmean(ratings))
    ordered = Counter[str]()
    for each, other in combinations(rts, 2):
        if each[1] == other[1]:
            judge = _mean(rts[each]) - _mean(rts[other])
            ordered[each[1]] += (
                judge * (fmean(experts[each]) - fmean(experts[other])) > 0
            )
    assert [ordered[aspect] for aspect in ASPECTS] == [58, 57, 62, 62]


def _mean(judgments: list[Judgment]) -> float:
    return fmean(judgment.value for judgment in judgments if judgment.value is not None)


@pytest.mark.parametrize(
    ("form", "draws", "unparsed"),
    [("geval", 7_180, 0), ("rate_explain", 7_180, 0), ("analyze_rate", 7_200, 17)],
)
def test_the_legacy_rule_reproduces_the_published_table(
    form: str, draws: int, unparsed: int
) -> None:
    path = recorded(f"recorded/topical_chat_gpt35/gpt3.5_coh_{form}.json")
    statuses, judge, people = Counter[str](), [], []
    for row in json.loads(path.read_text(encoding="utf-8")):
        judgments = [
            parse(reply, scale=FIVE, finish="stop", parser="chiang-lee")
            for reply in row["all_responses"]
        ]
        statuses.update(judgment.status for judgment in judgments)
        judge.append(_mean(judgments))
        people.append(row["scores"]["coherence"])
    assert statuses == Counter({"ok": draws - unparsed, "unparsed": unparsed})
    where = {
        "judge": f"gpt35-{form.replace('_', '-')}",
        "statistic": "pearson",
        "level": "pooled",
    }
    published = printed("topical-chat-gpt35", **where)
    assert np.corrcoef(judge, people)[0, 1] == pytest.approx(published, abs=5e-5)


def test_the_score_parser_agrees_with_the_legacy_rule_where_replies_are_plain() -> None:
    path = recorded("recorded/topical_chat_gpt35/gpt3.5_coh_rate_explain.json")
    replies = [
        reply
        for row in json.loads(path.read_text(encoding="utf-8"))
        for reply in row["all_responses"]
    ]
    plain = [reply for reply in replies if re.match(r"Rating: \d\n", reply)]
    sample = random.Random(3).sample(plain, 500)
    legacy = [
        parse(reply, scale=None, finish="stop", parser="chiang-lee") for reply in sample
    ]
    assert [judged(reply).value for reply in sample] == [each.value for each in legacy]
