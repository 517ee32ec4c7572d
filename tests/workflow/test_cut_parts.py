"""The report names the parts that a judge saw shortened, and for how many texts."""

import json
from pathlib import Path

import pytest

import running
from asking import DEMO, AskedStudy, rate
from scripted import serve

pytestmark = pytest.mark.slow
LIMIT = 280


def test_coverage_says_for_how_many_texts_a_part_was_shortened(tmp_path: Path) -> None:
    lines = (DEMO / "dialogue_items.jsonl").read_text("utf-8").splitlines()
    contexts = [json.loads(line)["context"] for line in lines]
    long = sum(len(context) > LIMIT for context in contexts)
    assert 0 < long < len(contexts)
    with serve(rate) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        limits = {"Conversation": {"characters": LIMIT}, "*": {"characters": 10_000}}
        study.card("judges", "terse", model="loop", form="score-only", cut_parts=limits)
        done = study.run()
    assert done.returncode == 0, done.stdout
    [note] = [
        str(row["note"])
        for row in running.rows(study.out, "coverage")
        if row["judge"] == "terse" and row["statistic"] == "coverage"
    ]
    texts = 5 * len(contexts)
    assert f"saw {5 * long} of {texts} texts with a shortened Conversation" in note
