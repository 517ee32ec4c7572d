"""The shipped studies on the public data: the numbers that must come out."""

from pathlib import Path

import pytest

from running import needs_data, rows
from trusting import by_name, run_study

pytestmark = [pytest.mark.slow, needs_data]


def test_usr_raters(tmp_path: Path) -> None:
    found = by_name(rows(run_study("usr", tmp_path, "agreement"), "agreement"))
    expected = {
        "interesting": 0.5137,
        "maintains-context": 0.5673,
        "natural": 0.4982,
        "overall": 0.6802,
        "understandable": 0.5313,
        "uses-knowledge": 0.7577,
    }
    for aspect, alpha in expected.items():
        row = found["human", aspect, "alpha_ordinal", "pooled"]
        assert row["value"] == pytest.approx(alpha, abs=5e-5) and row["n"] == 660


TOPICAL_CHAT = {
    "gpt35-geval": (359, 0.4685, 0.3518, 0.4983, 0.3911),
    "gpt35-rate-explain": (359, 0.5045, 0.3903, 0.4723, 0.4252),
    "gpt35-analyze-rate": (360, 0.4772, 0.3644, 0.4856, 0.4165),
}
UNIEVAL = {
    "naturalness": (0.444, 0.514),
    "coherence": (0.595, 0.613),
    "engagingness": (0.557, 0.605),
    "groundedness": (0.536, 0.575),
}


@pytest.mark.long
def test_topical_chat_recorded_judges(tmp_path: Path) -> None:
    results = run_study("topical_chat", tmp_path, "agreement", "coverage")
    found = by_name(rows(results, "agreement"))
    for judge, (items, *values) in TOPICAL_CHAT.items():
        asked = [(s, level) for level in ("pooled", "by_source") for s in ("pearson", "kendall_b")]
        for (statistic, level), value in zip(asked, values, strict=True):
            row = found[judge, "coherence", statistic, level]
            assert row["value"] == pytest.approx(value, abs=5e-4), (judge, statistic, level)
        assert found[judge, "coherence", "pearson", "pooled"]["n"] == items
    for aspect, published in UNIEVAL.items():
        for statistic, value in zip(("pearson", "spearman"), published, strict=True):
            row = found["unieval", aspect, statistic, "pooled"]
            assert row["value"] == pytest.approx(value, abs=5e-4), (aspect, statistic)
    unparsed = {
        row["judge"]: row["value"]
        for row in rows(results, "coverage")
        if row["statistic"] == "count_unparsed"
    }
    assert unparsed == {"gpt35-analyze-rate": 17}


SFRES = {"informativeness": (0.282, 0.225, 0.169), "naturalness": (0.367, 0.333, 0.247)}


def test_sfres_unieval(tmp_path: Path) -> None:
    found = by_name(rows(run_study("sfres", tmp_path, "agreement"), "agreement"))
    for aspect, published in SFRES.items():
        for statistic, value in zip(("pearson", "spearman", "kendall_b"), published, strict=True):
            row = found["unieval-sfres", aspect, statistic, "pooled"]
            assert row["value"] == pytest.approx(value, abs=5e-4), (aspect, statistic)
            assert row["n"] == 1181
