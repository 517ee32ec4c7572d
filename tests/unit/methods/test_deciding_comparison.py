"""Judges are compared by the number that decides their agreement, whatever the study
selects further.
"""

from typing import Any

import numpy as np
import pytest

from dataset_in_memory import row_of, rows_of
from judgescope.methods import comparison
from judgescope.methods.measures import DECIDES, POOLED, WITHIN_SOURCE
from judgescope.statistics.within_sources import within_sources
from methods_setup import (
    FAIR,
    GOOD,
    ITEM,
    ITEMS,
    NAN,
    NOISY,
    RATINGS,
    SYSTEM,
    N,
    comparison_rows,
    less,
    study,
)

NOTHING_MORE: dict[str, Any] = {"statistics": [], "permutations": 99}


def clear(**scores: Any) -> dict[str, Any]:
    return {name: {"clear": x} for name, x in scores.items()}


def group(row: dict[str, Any]) -> set[str]:
    return set(row["note"].partition("group ")[2].partition(";")[0])


def test_difference_is_that_of_the_deciding_numbers() -> None:
    rows = list(comparison.rows(study({"good": GOOD, "noisy": NOISY})))
    y = RATINGS["clear"].mean(axis=0)
    gap = row_of(rows, "difference_normal_scores", aspect="clear", level=WITHIN_SOURCE)
    numbers = [
        within_sources(scores["clear"], y, ITEM, ITEMS).rows[0]
        for scores in (GOOD, NOISY)
    ]
    assert gap["value"] == pytest.approx(numbers[0] - numbers[1])
    assert gap["ci_low"] < gap["value"] < gap["ci_high"] and gap["n"] == N
    p = row_of(rows, "p_normal_scores", aspect="clear", level=WITHIN_SOURCE)
    assert p["method"] == "PERM-INPUTS, 99 permutations, two-sided"
    assert p["value"] * 100 == pytest.approx(round(p["value"] * 100))


def test_letters_of_the_deciding_number_follow_its_p() -> None:
    where = {"aspect": "clear", "level": WITHIN_SOURCE}
    ranks = rows_of(comparison_rows(), "rank_normal_scores", **where)
    letters = {row["judge"]: group(row) for row in ranks if row["value"] is not None}
    assert letters.keys() == {"good", "noisy", "fair-control"}
    assert letters["good"].isdisjoint(letters["noisy"])
    tests = rows_of(comparison_rows(), "p_holm_normal_scores", **where)
    known = [row for row in tests if row["value"] is not None]
    assert len(tests) == 6 and len(known) == 3
    for row in known:
        differ = letters[row["judge"]].isdisjoint(letters[row["judge_b"]])
        assert differ == (row["value"] <= 0.05)
    first = next(row for row in ranks if row["judge"] == "good")
    assert first["ci_low"] == 1 and "bootstrap over 15 sources" in first["method"]


def test_without_further_statistics_judges_are_compared_by_the_deciding_number() -> (
    None
):
    rows = list(
        comparison.rows(study({"good": GOOD, "fair": FAIR}, comparison=NOTHING_MORE))
    )
    assert {row["level"] for row in rows} == {WITHIN_SOURCE}
    assert {row["statistic"] for row in rows_of(rows, aspect="clear")} == {
        f"{name}_normal_scores"
        for name in (
            *("rank", "difference", "p", "p_holm", "p_fdr"),
            *("detectable", "sources_needed"),
        )
    }


def test_pooled_spearman_is_compared_where_it_decides() -> None:
    """One text of each source is scored: all texts are compared."""
    several = SYSTEM > 0
    judges = clear(
        good=less(GOOD["clear"], several), noisy=less(NOISY["clear"], several)
    )
    rows = list(comparison.rows(study(judges, comparison=NOTHING_MORE)))
    gap = row_of(rows, "difference_spearman", aspect="clear", level=POOLED)
    assert gap["value"] > 0 and gap["n"] == ITEMS
    assert row_of(rows, "rank_spearman", judge="good", level=POOLED)["value"] == 1
    nothing = row_of(rows, "difference_normal_scores", level=WITHIN_SOURCE)
    assert nothing["value"] is None and nothing["note"]
    assert DECIDES[POOLED] == "spearman"


def test_a_judge_of_few_texts_adds_pooled_spearman_for_all_pairs() -> None:
    few = np.where(SYSTEM == ITEM % 4, GOOD["clear"], NAN)
    judges = clear(good=GOOD["clear"], fair=FAIR["clear"], few=few)
    rows = list(comparison.rows(study(judges, comparison=NOTHING_MORE)))
    assert len(rows_of(rows, "difference_spearman", level=POOLED)) == 3
    assert len(rows_of(rows, "difference_normal_scores", level=WITHIN_SOURCE)) == 3
