"""The shipped studies on the public data: the published figures must come out."""

from pathlib import Path

import pytest

from running import needs_data, rows
from shelf import holds
from trusting import by_name, run_study

pytestmark = [pytest.mark.slow, pytest.mark.long(25), needs_data]


def test_usr_raters(tmp_path: Path) -> None:
    result = rows(run_study("usr", tmp_path, "agreement"), "agreement")
    holds("usr-alpha", result)
    alphas = [
        row
        for row in result
        if (row["judge"], row["statistic"]) == ("human", "alpha_ordinal")
    ]
    assert {row["n"] for row in alphas if row["aspect"] != "average"} == {660}


def test_topical_chat_recorded_judges(tmp_path: Path) -> None:
    results = run_study("topical_chat", tmp_path, "agreement", "coverage")
    result = rows(results, "agreement")
    holds("topical-chat-gpt35", result)
    holds("unieval-topical-chat", result)
    unparsed = {
        row["judge"]: row["value"]
        for row in rows(results, "coverage")
        if row["statistic"] == "count_unparsed"
    }
    assert unparsed == {"gpt35-analyze-rate": 17}


def test_sfres_unieval(tmp_path: Path) -> None:
    result = rows(run_study("sfres", tmp_path, "agreement"), "agreement")
    holds("unieval-sfres", result)
    for aspect in ("informativeness", "naturalness"):
        assert (
            by_name(result)["unieval-sfres", aspect, "pearson", "pooled"]["n"] == 1181
        )
