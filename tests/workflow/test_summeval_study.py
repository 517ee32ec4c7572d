"""SummEval as shipped, whole, on the public data: the numbers that must come out."""

from pathlib import Path

import pytest

from judgescope.extensions.reproduce.reproduce import PAIRS, pairs_of_systems
from running import needs_data, rows
from shelf import holds
from trusting import by_name, run_study

pytestmark = [pytest.mark.slow, pytest.mark.long(55), needs_data]


@pytest.fixture(scope="module")
def summeval(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run SummEval whole."""
    folder = tmp_path_factory.mktemp("summeval")
    tables = (
        "agreement",
        "comparison",
        "criteria",
        "discernment",
        "coverage",
        "perturbations",
    )
    return run_study("summeval", folder, *tables, "perspectives")


def test_summeval_experts(summeval: Path) -> None:
    holds("summeval-experts", rows(summeval, "agreement"))
    result = by_name(rows(summeval, "agreement"))
    for aspect in ("coherence", "consistency", "fluency", "relevance"):
        row = result["human", aspect, "alpha_ordinal", "pooled"]
        assert row["n"] == 1200 and row["ci_low"] < row["value"] < row["ci_high"]


def test_summeval_judges_are_distinguished_from_chance_and_not_from_each_other(
    summeval: Path,
) -> None:
    """Ranks, groups and tests of comparison.csv, with enough permutations to correct
    for pairs.
    """
    result = rows(summeval, "comparison")
    pairs = {
        (row["judge"], row["judge_b"]): row["value"]
        for row in result
        if (row["aspect"], row["statistic"]) == ("coherence", "p_holm_kendall_b")
        and row["level"] == "pooled"
    }
    assert (
        pairs["gpt35-rts", "random"] <= 0.05 and pairs["gpt35-rts", "rouge-1"] <= 0.05
    )
    assert pairs["bleu", "rouge-1"] > 0.05 and pairs["random", "shuffled"] > 0.05
    ranks = {
        row["judge"]: row
        for row in result
        if (row["aspect"], row["statistic"]) == ("coherence", "rank_kendall_b")
        and row["level"] == "pooled"
    }
    best = ranks["gpt35-rts"]
    assert (best["value"], best["ci_low"], best["ci_high"]) == (1, 1, 1)
    assert best["note"].startswith("no width") and best["note"].endswith("; group a")
    assert "a" not in ranks["random"]["note"].removeprefix("group ")
    assert ranks["constant-top"]["value"] is None


def test_summeval_fluency_of_gpt35_follows_peoples_coherence(summeval: Path) -> None:
    """The first finding of Hu et al. (2024), on the same replies."""
    aspects = ("coherence", "consistency", "fluency", "relevance")
    expected = [
        *((0.467, 0.258, 0.249, 0.437), (0.432, 0.532, 0.432, 0.471)),
        *((0.437, 0.275, 0.302, 0.408), (0.390, 0.382, 0.297, 0.461)),
    ]
    mine = [
        row
        for row in rows(summeval, "criteria")
        if (row["judge"], row["judge_b"]) == ("gpt35-rts", "human")
    ]
    by_key = {(row["aspect"], row["aspect_b"]): row["value"] for row in mine}
    for aspect, values in zip(aspects, expected, strict=True):
        founds = [by_key[aspect, other] for other in aspects]
        assert founds == pytest.approx(values, abs=0.005)
    assert by_key["fluency", "coherence"] > by_key["fluency", "fluency"]
    (astray,) = (row for row in mine if row["statistic"] == "cross_aspect_share")
    assert (astray["value"], astray["n"]) == (0.25, 4)


def test_summeval_recorded_replies_are_parsed_each_by_a_named_rule(
    summeval: Path,
) -> None:
    mine = [row for row in rows(summeval, "coverage") if row["judge"] == "gpt35-rts"]
    parsed = [row for row in mine if row["statistic"] == "count_ok"]
    assert sum(row["n"] for row in parsed) == 4800
    assert sum(row["value"] for row in parsed) >= 4790
    for row in parsed:
        rules = [part.rsplit(" ", 1) for part in row["note"].split(", ")]
        assert sum(int(count) for _, count in rules) == row["value"]


def test_summeval_every_judge_at_every_level_with_intervals(summeval: Path) -> None:
    result = by_name(rows(summeval, "agreement"))
    for judge in (
        "gpt35-rts",
        "rouge-1",
        "rouge-2",
        "rouge-l",
        "chrf",
        "bleu",
        "rules",
        "length",
    ):
        for aspect in ("coherence", "consistency", "fluency", "relevance"):
            for level in ("pooled", "by_source", "by_system"):
                for statistic in ("pearson", "spearman", "kendall_b"):
                    row = result[judge, aspect, statistic, level]
                    assert row["ci_low"] <= row["value"] <= row["ci_high"], row


def test_summeval_system_order_of_the_recorded_judge(summeval: Path) -> None:
    """Of 66 pairs of systems the judge orders so many as the experts do; a tie moves
    τ-b by one.

    (Coherence is 54 where "one out of five" is read as 5.)
    """
    holds("gpt35-rts-summeval", [*pairs_of_systems(summeval)], PAIRS)
    result = by_name(rows(summeval, "agreement"))
    pairs = {"coherence": 58, "consistency": 57, "fluency": 62, "relevance": 62}
    for aspect, agreeing in pairs.items():
        tau = result["gpt35-rts", aspect, "kendall_b", "by_system"]["value"]
        assert (tau + 1) / 2 * 66 == pytest.approx(agreeing, abs=1), aspect


UNANIMOUS = {
    "coherence": ([11, 25, 26, 9, 83], 0.307),
    "consistency": ([14, 14, 5, 1, 921], 0.174),
    "fluency": ([5, 10, 20, 2, 819], 0.018),
    "relevance": ([5, 17, 32, 61, 64], 0.390),
}
"""Texts of which all experts agree, from rating 1 on, and the linear kappa of GPT-3.5
on them."""


def test_summeval_texts_on_which_all_experts_agree(summeval: Path) -> None:
    result = rows(summeval, "perspectives")
    for aspect, (counts, kappa) in UNANIMOUS.items():
        by_k = {
            row["k"]: row["value"]
            for row in result
            if (row["judge"], row["aspect"], row["statistic"])
            == ("human", aspect, "class_count")
        }
        assert [by_k[k] for k in range(1, 6)] == counts
        row = by_name(result)["gpt35-rts", aspect, "kappa_linear", "direct"]
        assert row["value"] == pytest.approx(kappa, abs=0.01)
        assert row["n"] == sum(counts) and row["ci_low"] < row["value"] < row["ci_high"]
        complete = by_name(result)["gpt35-rts", aspect, "pearson", "traditional"]
        pooled = by_name(rows(summeval, "agreement"))[
            "gpt35-rts", aspect, "pearson", "pooled"
        ]
        assert (complete["value"], complete["ci_low"]) == (
            pooled["value"],
            pooled["ci_low"],
        )


def test_summeval_views_rank_judges_differently(summeval: Path) -> None:
    """GPT-3.5 comes first in both views of the article, but not where rare classes
    weigh more.
    """
    ranks = {
        row["statistic"]: (row["value"], row["ci_low"], row["ci_high"])
        for row in rows(summeval, "perspectives")
        if row["judge"] == "gpt35-rts" and row["statistic"].startswith("rank_")
    }
    assert ranks["rank_pearson"] == ranks["rank_kappa_linear"] == (1, 1, 1)
    assert ranks["rank_accuracy_adjacent_half"] == (1, 1, 1)
    assert ranks["rank_cem_ord"] == (3, 3, 3) and ranks["rank_accuracy_adjacent"][0] > 1


def test_summeval_discernment_of_controls(summeval: Path) -> None:
    result = rows(summeval, "discernment")
    p_values = [
        r
        for r in result
        if (r["judge"], r["statistic"]) == ("constant-top", "p_wilcoxon")
    ]
    assert len(p_values) == 24 and {row["value"] for row in p_values} == {1.0}
    length = {
        (row["perturbation"], row["degree"]): row
        for row in result
        if (row["judge"], row["statistic"]) == ("length", "D_exact")
        and row["perturbation"]
    }
    for degree in ("minor", "major"):
        assert "length alone detects this" in length["random-deletions", degree]["note"]
        assert length["reordering", degree]["value"] == 0
    for judge in ("shuffled", "most-frequent"):
        notes = {row["note"] for row in result if row["judge"] == judge}
        assert notes == {"not applicable: needs ratings"}


def test_summeval_lexical_judges_discern_by_level(summeval: Path) -> None:
    by_key = {
        (row["judge"], row["perturbation"], row["degree"]): row
        for row in rows(summeval, "discernment")
        if row["statistic"] == "D_exact" and row["perturbation"]
    }
    # unigrams do not know the order of sentences; all lexical judges see fifty deleted
    # characters
    assert by_key["rouge-1", "reordering", "major"]["value"] == 0
    for judge in ("rouge-1", "rouge-2", "rouge-l", "chrf", "bleu", "rules"):
        row = by_key[judge, "random-deletions", "major"]
        assert row["value"] > 1 and row["n"] == 100 and row["ci_low"] > 1
