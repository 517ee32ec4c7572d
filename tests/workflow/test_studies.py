"""The shipped studies on the public data: the published figures must come out."""

from pathlib import Path

import pytest

from running import needs_data, rows
from shelf import holds
from trusting import by_name, run_study

pytestmark = [pytest.mark.slow, pytest.mark.long(25), needs_data]


def test_usr_raters(tmp_path: Path) -> None:
    found = rows(run_study("usr", tmp_path, "agreement"), "agreement")
    holds("usr-alpha", found)
    alphas = [
        row
        for row in found
        if (row["judge"], row["statistic"]) == ("human", "alpha_ordinal")
    ]
    assert {row["n"] for row in alphas if row["aspect"] != "average"} == {660}


def test_topical_chat_recorded_judges(tmp_path: Path) -> None:
    results = run_study("topical_chat", tmp_path, "agreement", "coverage")
    found = rows(results, "agreement")
    holds("topical-chat-gpt35", found)
    holds("unieval-topical-chat", found)
    unparsed = {
        row["judge"]: row["value"]
        for row in rows(results, "coverage")
        if row["statistic"] == "count_unparsed"
    }
    assert unparsed == {"gpt35-analyze-rate": 17}


def test_sfres_unieval(tmp_path: Path) -> None:
    found = rows(run_study("sfres", tmp_path, "agreement"), "agreement")
    holds("unieval-sfres", found)
    for aspect in ("informativeness", "naturalness"):
        assert by_name(found)["unieval-sfres", aspect, "pearson", "pooled"]["n"] == 1181
