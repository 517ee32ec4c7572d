"""A judge with a share of the items: which they are, what is asked, and what the tables
say.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import AskedStudy
from judgescope.core.rng import share_of
from judgescope.methods import agreement, comparison, repeatability
from judgescope.scoring.ensembles import derive_part
from judgescope.scoring.specs import CellPart
from members import tables_of
from methods_setup import (
    ASPECTS,
    FAIR,
    GOOD,
    ITEM,
    ITEMS,
    NAN,
    NOISY,
    PEARSON,
    TARGETS,
    study,
)

names = st.sets(st.text("abcdef", min_size=1, max_size=4), min_size=1, max_size=30)
shares = st.floats(0.01, 1)


@given(names, shares, shares, st.integers(0, 5))
def test_a_share_has_its_size_and_lies_within_every_larger_one(
    items: set[str], first: float, second: float, seed: int
) -> None:
    less, more = (
        share_of(items, share, seed=seed, dataset="d")
        for share in sorted((first, second))
    )
    assert less <= more <= items
    assert len(more) - 1 < max(first, second) * len(items) + 1e-6 and len(less) >= 1
    assert len(more) >= max(first, second) * len(items) - 1e-6


def test_a_share_depends_on_seed_and_dataset_and_on_no_order() -> None:
    items = [f"i{number}" for number in range(40)]
    drawn = {
        share_of(items, 0.5, seed=seed, dataset=dataset)
        for seed in (0, 1)
        for dataset in "ab"
    }
    assert len(drawn) == 4
    assert share_of(items[::-1], 0.5, seed=0, dataset="a") in drawn


def partial(share: float) -> Any:
    """Return the mask of the targets of a share of the items of
    `test_methods.study`.
    """
    items = [f"i{item:02}" for item in range(ITEMS)]
    chosen = share_of(items, share, seed=7, dataset="d")
    return np.array([items[item] in chosen for item in ITEM])


def given_only(scores: Any, mask: Any) -> Any:
    """Return a judge's scores where it was asked, NaN (no row, or no value)
    elsewhere.
    """
    return {aspect: np.where(mask, scores[aspect], NAN) for aspect in ASPECTS}


def by_place(rows: Any) -> dict[tuple[Any, ...], dict[str, Any]]:
    keys = ("judge", "judge_b", "aspect", "statistic", "level")
    return {tuple(row.get(key) for key in keys): row for row in rows}


@pytest.mark.heavy
def test_items_not_given_are_not_missing_and_do_not_change_the_numbers() -> None:
    mask = partial(0.4)
    cards = {"good": {"share": 0.4}}
    scores = {"good": given_only(GOOD, mask), "noisy": NOISY}
    result = by_place(agreement.rows(study(scores, cards=cards)))
    plain = by_place(agreement.rows(study({"good": given_only(GOOD, mask)})))
    for location, row in result.items():
        if location[0] == "good":
            assert row["n_missing"] == 0, row
            assert row["value"] == plain[location]["value"]
    row = result["good", None, "clear", "spearman", "pooled"]
    assert row["n"] == 24 and "|share:0.4|" in row["signature"]
    assert result["noisy", None, "clear", "spearman", "pooled"]["n"] == 60


@pytest.mark.heavy
def test_a_reply_that_is_missing_within_a_share_is_missing() -> None:
    mask = partial(0.4)
    mask[np.flatnonzero(mask)[:3]] = False
    rows = list(
        agreement.rows(
            study({"good": given_only(GOOD, mask)}, cards={"good": {"share": 0.4}})
        )
    )
    row = by_place(rows)["good", None, "clear", "pearson", "pooled"]
    assert (row["n"], row["n_missing"]) == (21, 3)


@pytest.mark.heavy
def test_a_judge_of_a_share_is_held_against_the_controls_on_the_same_texts() -> None:
    mask = partial(0.4)
    scores = {"noisy": given_only(NOISY, mask), "fair-control": FAIR}
    rows = list(agreement.rows(study(scores, cards={"noisy": {"share": 0.4}})))
    alone = list(agreement.rows(study({"fair-control": given_only(FAIR, mask)})))
    row = by_place(rows)["noisy", None, "clear", "pearson", "pooled"]
    control = by_place(alone)["fair-control", None, "clear", "pearson", "pooled"]
    assert f"below control fair-control ({control['value']:.3f})" in row["note"]
    table = [row for row in rows if row["judge"] == "fair-control"]
    assert len(table) == len(by_place(table))  # the rows beside are told once


def test_judges_are_compared_on_shared_items_and_the_note_says_so() -> None:
    mask = partial(0.4)
    cards = {"good": {"share": 0.4}, "fair": {"share": 0.8}}
    scores = {
        "good": given_only(GOOD, mask),
        "fair": given_only(FAIR, partial(0.8)),
        "noisy": NOISY,
        "other": GOOD,
    }
    data = study(scores, cards=cards, comparison=PEARSON)
    result = by_place(comparison.rows(data))
    text = "computed on a share of the items that all these judges receive: {} of 15"
    expected = {("good", "fair"): 6, ("fair", "noisy"): 12, ("good", "noisy"): 6}
    for (judge, other), items in expected.items():
        for statistic in ("difference_pearson", "p_pearson", "sources_needed_pearson"):
            row = result[judge, other, "clear", statistic, "pooled"]
            assert text.format(items) in row["note"]
        gap = result[judge, other, "clear", "difference_pearson", "pooled"]
        assert (gap["n"], gap["n_missing"]) == (items * 4, 0)
    assert not result["noisy", "other", "clear", "difference_pearson", "pooled"]["note"]
    small = {name: given_only(score, mask) for name, score in scores.items()}
    alone = by_place(comparison.rows(study(small, comparison=PEARSON)))
    values = ("good", "noisy", "clear", "difference_pearson", "pooled")
    assert result[values]["value"] == alone[values]["value"]
    for judge in scores:
        rank = result[judge, None, "clear", "rank_pearson", "pooled"]
        assert (
            rank["value"]
            == alone[judge, None, "clear", "rank_pearson", "pooled"]["value"]
        )
        assert text.format(6) in rank["note"]


def test_draws_outside_the_share_are_not_missing() -> None:
    mask = partial(0.4)
    draws = [
        {"judge": "good", "aspect": "clear", "at": at, "draw": draw, "value": value}
        for at in np.flatnonzero(mask)
        for draw, value in enumerate((GOOD["clear"][at], FAIR["clear"][at]))
    ]
    rows = [
        {
            **{
                "perturbation": "systems",
                "judge": row["judge"],
                "aspect": row["aspect"],
            },
            **{
                "target": TARGETS[row["at"]],
                "draw": row["draw"],
                "value": row["value"],
            },
        }
        for row in draws
    ]
    cards = {"good": {"share": 0.4, "draws": 2}}
    data = study({"good": given_only(GOOD, mask)}, cards=cards, draws=rows)
    for row in repeatability.rows(data):
        assert row["n_missing"] == 0, row


def test_a_judge_made_of_others_has_the_items_of_all_its_members() -> None:
    def scores(**values: float | None) -> Any:
        return tables_of(
            [{"target": name, "value": value} for name, value in values.items()]
        )

    cell = {
        "dataset": "d",
        "perturbation": "systems",
        "judge": "both",
        "aspect": "clear",
    }
    members = [scores(a=1, b=2, c=3), scores(a=3, b=None)]
    _, result = derive_part(members, part=CellPart(**cell), min_annotators=1)
    by_target = {row["target"]: row["value"] for row in result.to_pylist()}
    assert by_target == {"a": 2, "b": 2}


@pytest.mark.slow
def test_discernment_of_a_share(study: AskedStudy) -> None:
    """24 originals and their perturbed copies, of which a judge has a quarter."""
    study.card("judges", "terse", model="loop", form="score-only", share=0.25)
    study.write(perturbations=["reordering"], methods=["discernment"])
    done = study.make("discernment")
    assert done.returncode == 0, done.stdout
    assert 6 < len(study.endpoint.asked) <= 3 * 6
    mine = [row for row in study.rows("discernment") if row["judge"] == "terse"]
    counted = [row for row in mine if row["value"] is not None]
    assert {"D", "mean_drop"} <= {row["statistic"] for row in counted}
    for (
        row
    ) in counted:  # the n of a rank-biserial correlation is the pairs that do not tie
        separate = (row["n_tied"] or 0) if row["statistic"] == "rank_biserial" else 0
        assert row["n"] + row["n_missing"] + separate == 6, row


@pytest.mark.long(6)
@pytest.mark.slow
def test_a_share_is_what_is_asked_and_a_larger_a_single_asks_only_the_rest(
    study: AskedStudy,
) -> None:
    """24 items of 5 texts: a quarter is 6 items, a half 12."""
    study.card("judges", "terse", model="loop", form="score-only", share=0.25)
    study.card("judges", "wordy", model="loop", form="rate-explain", share=0.5)
    study.write(judges=["terse", "wordy"])
    done = study.make("coverage", "comparison")
    assert done.returncode == 0, done.stdout
    assert len(study.endpoint.asked) == 30 + 60
    coverage = {
        row["judge"]: row
        for row in study.rows("coverage")
        if row["statistic"] == "coverage"
    }
    for judge, items in {"terse": 6, "wordy": 12}.items():
        row = coverage[judge]
        assert (row["value"], row["n"], row["n_missing"]) == (1, 5 * items, 0)
        assert f"computed on a share of the items: {items} of 24" in row["note"]
    gaps = [
        row
        for row in study.rows("comparison")
        if row["statistic"] == "difference_pearson"
    ]
    [pooled] = [
        row
        for row in gaps
        if (row["judge"], row["judge_b"], row["level"]) == ("terse", "wordy", "pooled")
    ]
    assert (
        pooled["n"] == 30 and "that all these judges receive: 6 of 24" in pooled["note"]
    )
    study.card("judges", "terse", model="loop", form="score-only")
    assert study.ask().returncode == 0
    assert len(study.endpoint.asked) == 120 + 60
    assert len(set(study.endpoint.prompts)) == 180
