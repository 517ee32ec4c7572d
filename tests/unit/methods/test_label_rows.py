"""The rows and claims on labels, made of labels in memory."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from numpy.typing import NDArray

from dataset_in_memory import row_of, rows_of
from judgescope.methods import agreement, comparison, ensemble, labels
from judgescope.methods.base import AltTestSettings, EnsembleMembers
from judgescope.methods.claims.base import CAUGHT, LABELS, PASSED, Claim
from judgescope.methods.claims.labels import label_claims
from judgescope.methods.claims.rows import verdict_rows
from judgescope.methods.evaluate import statistics
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.tables import read_table
from judgescope.scoring.aggregate import majority
from judgescope.statistics.alt_test import alternative_annotator
from judgescope.statistics.labels import cross_fitted, strict_majority
from judgescope.statistics.reliability import krippendorff_alpha
from judgescope.statistics.verdict import Outcome
from methods_setup import study

N = 60
GOLD = np.array([1.0, 1.0, 0.0] * 20)
RIGHT = {"labels": ["fail", "pass"], "values": [0.0, 1.0], "ends": (0.0, 1.0)}
KINDS = {
    **RIGHT,
    "labels": ["no", "yes", "why"],
    "values": [0.0, 1.0, 2.0],
    "ends": (0.0, 2.0),
}
BINARY = {"grid": {"clear": [0.0, 1.0]}, "ends": {"clear": (0.0, 1.0)}}


def labelled(
    people: Any = GOLD, scale: dict[str, Any] = RIGHT, /, **judges: NDArray[np.float64]
) -> EvaluationData:
    """Return a study of labels: 15 items of 4 systems, and what judges give them."""
    values = {"grid": {"clear": scale["values"]}, "ends": {"clear": scale["ends"]}}
    return study(
        {name: {"clear": codes} for name, codes in judges.items()},
        {"clear": np.atleast_2d(people)},
        cards=dict.fromkeys(judges, values),
        aspects={"clear": scale},
    )


def lenient(caught: int = 12) -> NDArray[np.float64]:
    """Return the labels of a judge that passes all good texts, and of 20 bad ones all
    but some.
    """
    codes = np.ones(N)
    codes[np.flatnonzero(GOLD == 0)[:caught]] = 0
    return codes


def of_judge(data: EvaluationData, judge: str) -> dict[str, Claim]:
    """Return kind -> claim."""
    return {claim.kind: claim for claim in label_claims(data) if claim.judge == judge}


def test_shares_of_two_labels_count_their_denominators() -> None:
    rows = list(labels.rows(labelled(lenient=lenient())))
    tnr, tpr = (row_of(rows, name, judge="lenient") for name in ("tnr", "tpr"))
    assert (tnr["value"], tnr["n"], tpr["value"], tpr["n"]) == (0.6, 20, 1.0, 40)
    assert row_of(rows, "precision", judge="lenient")["value"] == 40 / 48
    assert "base rate 0.667" in row_of(rows, "precision", judge="lenient")["note"]
    assert row_of(rows, "base_rate", judge="human")["value"] == pytest.approx(2 / 3)
    counts = {
        (r["k"], r["k_b"]): r["value"] for r in rows if r["statistic"] == "class_count"
    }
    assert counts == {(1, 1): 12, (1, 2): 8, (2, 2): 40}


def test_a_judge_that_passes_bad_answers_is_stated_to_miss_them() -> None:
    result = of_judge(labelled(lenient=lenient()), "lenient")
    assert result[CAUGHT].outcome is Outcome.MISSES
    assert result[PASSED].outcome is Outcome.CANNOT_TELL  # 40 of 40 in 15 sources
    assert result[CAUGHT].estimate.value == 0.6


def test_beside_raters_of_labels_harshness_is_no_merit() -> None:
    rng = np.random.default_rng(4)
    quality = rng.normal(size=N)
    people = (quality + 0.6 * rng.normal(size=(3, N)) > 0).astype(float)
    harsh = (quality + 0.6 * rng.normal(size=N) > 0.5).astype(float)
    gaps = [
        row_of(
            [*labels.rows(labelled(given, j=judge))],
            "as_rater_label_accuracy",
            judge="j",
        )
        for given, judge in ((people, harsh), (1 - people, 1 - harsh))
    ]
    assert gaps[0]["value"] == pytest.approx(gaps[1]["value"])


def test_lost_labels_must_not_decide_that_bad_texts_are_missed() -> None:
    codes = lenient(15)
    codes[np.flatnonzero(GOLD == 0)[15:]] = np.nan
    result = of_judge(labelled(some=codes), "some")
    assert result[CAUGHT].estimate.value == 1.0
    assert result[CAUGHT].outcome is not Outcome.WITHSTANDS


def test_a_constant_judge_is_not_shown_to_be_better_than_chance() -> None:
    data = labelled(always=np.ones(N), right=GOLD.copy())
    assert of_judge(data, "always")[LABELS].outcome is Outcome.NOT_SHOWN
    rows = [*verdict_rows(data, label_claims(data))]
    verdict = row_of(rows, "verdict", judge="right", form=LABELS)
    assert verdict["note"].startswith("better")


@pytest.mark.simulation
def test_false_alarms_of_bad_texts_missed_and_of_labels_beyond_chance() -> None:
    rng, runs, alarms, better = np.random.default_rng(32), 400, 0, 0
    for _ in range(runs):
        found_nine_in_ten = np.where(rng.random(N) < 0.9, GOLD, 1 - GOLD)
        alarms += of_judge(labelled(nine=found_nine_in_ten), "nine")[
            CAUGHT
        ].outcome is (Outcome.MISSES)
        chance = labelled(chance=rng.permutation(GOLD))
        row = row_of(
            [*verdict_rows(chance, label_claims(chance))], "verdict", form=LABELS
        )
        better += row["note"].startswith("better")
    assert alarms <= 20  # 10 expected at most; P(more) < .002
    assert better <= 20


def test_ties_of_raters_are_unresolved_where_labels_have_no_order() -> None:
    people = np.tile([0.0, 1.0, 2.0], (2, 20))
    people[1, :5] = (people[0, :5] + 1) % 3
    data = labelled(people, KINDS | {"ordered": False}, same=people[0])
    rows = list(labels.rows(data))
    assert row_of(rows, "unresolved", judge="human")["value"] == 5
    assert row_of(rows, "label_accuracy", judge="same")["n"] == 55
    assert row_of(rows, "label_accuracy", judge="same")["n_missing"] == 5
    assert row_of(rows, "label_recall", judge="same", k=1)["value"] == 1
    spearman = row_of(agreement.rows(data), "spearman", judge="same", level="pooled")
    assert spearman["value"] is None
    assert "without an order" in spearman["note"]


def test_people_are_compared_with_the_other_raters_label() -> None:
    people = np.stack([GOLD, GOLD, np.where(np.arange(N) % 6 == 0, 1 - GOLD, GOLD)])
    rows = list(labels.rows(labelled(people, right=GOLD.copy())))
    human = row_of(rows, "label_accuracy", judge="human")
    # against the lower median of the others: the first two differ where the third one
    # does
    assert human["value"] is not None and 0.8 < human["value"] < 1.0
    gap = row_of(rows, "as_rater_balanced_accuracy", judge="right")["value"]
    assert gap is not None and gap > 0


def test_a_judge_with_numbers_has_labels_by_its_threshold() -> None:
    points = np.where(GOLD == 1, 4.0, 2.0)
    points[0], points[2] = 2.0, 4.0  # one wrong of each
    cards = {
        "none": {
            "grid": {"clear": [1.0, 2.0, 3.0, 4.0, 5.0]},
            "ends": {"clear": (1.0, 5.0)},
        }
    }
    cards |= {"best": {**cards["none"], "threshold": "best"}}
    cards |= {"three": {**cards["none"], "threshold": 3.0}}
    data = study(
        {name: {"clear": points} for name in cards},
        {"clear": GOLD[None]},
        cards=cards,
        aspects={"clear": RIGHT},
    )
    rows = list(labels.rows(data))
    assert row_of(rows, "balanced_accuracy", judge="none")["value"] is None
    assert "set `threshold`" in row_of(rows, "balanced_accuracy", judge="none")["note"]
    for name, note in (
        ("best", "leaving each source out: 4 to 4"),
        ("three", "threshold 3"),
    ):
        assert row_of(rows, "tnr", judge=name)["value"] == 19 / 20
        assert note in row_of(rows, "tnr", judge=name)["note"]


def test_a_threshold_is_chosen_without_the_source_that_it_labels() -> None:
    gold, source = np.array([0.0, 1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1, 2])
    scores = np.array([1.0, 9.0, 3.0, 5.0, 4.0])
    result, thresholds = cross_fitted(gold, scores, source)
    # without source 2 the best is 5, which rejects the text that 4 would let pass
    assert thresholds.tolist() == [4.0, 4.0, 5.0]
    assert result.tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]
    only, none = cross_fitted(
        np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.array([0, 1])
    )
    assert np.isnan(only).all()
    assert none.size == 0


def test_several_draws_have_the_majority_and_a_tie_is_missing() -> None:
    nan = np.nan
    draws = np.array(
        [[1, 1, 0], [0, 1, nan], [2, 2, 0], [0, 2, 1], [nan] * 3, [0, nan, nan]]
    )
    expected = [1, nan, 2, nan, nan, 0]
    np.testing.assert_array_equal(majority(draws.astype(float)), expected)


def test_judges_of_labels_are_compared_by_mcnemar_with_sources_as_units() -> None:
    worse = GOLD.copy()
    worse[[0, 4, 8, 12, 16, 20, 24]] = (
        1 - worse[[0, 4, 8, 12, 16, 20, 24]]
    )  # one in 7 of 15 items
    data = labelled(right=GOLD.copy(), worse=worse, points=np.linspace(1.5, 4.5, N))
    rows = list(comparison.rows(data))
    p = row_of(rows, "p_mcnemar", judge="right", judge_b="worse")
    assert (p["value"], p["n"], p["n_tied"]) == (2 / 2**7, 60, 8)
    assert (
        row_of(rows, "p_holm_mcnemar", judge="right", judge_b="worse")["value"]
        == p["value"]
    )
    gap = row_of(rows, "difference_label_accuracy", judge="right", judge_b="worse")
    assert gap["value"] == pytest.approx(7 / 60)
    assert "points" not in {
        row["judge_b"] for row in rows if row["statistic"] == "p_mcnemar"
    }


def test_judges_of_labels_share_a_letter_where_mcnemar_does_not_separate_them() -> None:
    worse, same = GOLD.copy(), GOLD.copy()
    worse[[0, 4, 8, 12, 16, 20, 24, 28]] = 1 - worse[[0, 4, 8, 12, 16, 20, 24, 28]]
    same[3] = 1 - same[3]
    rows = list(comparison.rows(labelled(right=GOLD.copy(), same=same, worse=worse)))
    names = ("right", "same", "worse")
    ranked = {name: row_of(rows, "rank_label_accuracy", judge=name) for name in names}
    assert [row["value"] for row in ranked.values()] == [1, 2, 3]
    groups = [row["note"].split("; ")[-1] for row in ranked.values()]
    assert groups == ["group a", "group a", "group b"]
    assert ranked["same"]["ci_low"] < 2 == ranked["same"]["ci_high"]


def test_letters_of_labels_follow_p_of_balanced_accuracy() -> None:
    rng = np.random.default_rng(3)
    worse = np.where(rng.random(N) < 0.5, 1 - GOLD, GOLD)
    same = GOLD.copy()
    same[3] = 1 - same[3]
    rows = list(comparison.rows(labelled(right=GOLD.copy(), same=same, worse=worse)))
    letters = {
        row["judge"]: set(row["note"].partition("group ")[2])
        for row in rows_of(rows, "rank_balanced_accuracy")
    }
    assert letters == {"right": {"a"}, "same": {"a"}, "worse": {"b"}}
    tests = rows_of(rows, "p_holm_balanced_accuracy")
    assert len(tests) == 3
    for row in tests:
        differ = letters[row["judge"]].isdisjoint(letters[row["judge_b"]])
        assert differ == (row["value"] <= 0.05)


def test_labels_without_an_order_have_no_ranks_by_correlation() -> None:
    people = np.tile([0.0, 1.0, 2.0], 20)
    rows = list(
        comparison.rows(
            labelled(people, KINDS | {"ordered": False}, a=people, b=people[::-1])
        )
    )
    assert {row["statistic"] for row in rows} == {
        *("difference_label_accuracy", "difference_balanced_accuracy"),
        *("p_mcnemar", "p_holm_mcnemar", "rank_label_accuracy"),
        *("p_balanced_accuracy", "p_holm_balanced_accuracy", "p_fdr_balanced_accuracy"),
        "rank_balanced_accuracy",
    }


@pytest.mark.parametrize("ordered", [True, False])
def test_the_alternative_annotator_of_labels_without_an_order_is_by_equal_labels(
    ordered: bool,
) -> None:
    """Of labels with an order it stands in table agreement, by distance where the study
    says so.
    """
    rng = np.random.default_rng(5)
    people = np.tile(np.arange(N) % 3, (3, 1)).astype(float)
    people[rng.random(people.shape) < 0.2] = 1.0
    data = labelled(people, {**KINDS, "ordered": ordered}, judge=people[0])
    data = replace(
        data, spec=structs.replace(data.spec, alt_test=AltTestSettings(ordered=True))
    )
    by_table = {
        table: [
            row["value"] for row in rows if row["statistic"] == "alt_test_advantage"
        ]
        for table, rows in {
            "labels": list(labels.rows(data)),
            "agreement": list(agreement.rows(data)),
        }.items()
    }
    _, wanted = alternative_annotator(
        people[0],
        people,
        data.systems.source,
        weights=data.weights,
        closeness="rmse" if ordered else "accuracy",
    )
    present, absent = ("agreement", "labels") if ordered else ("labels", "agreement")
    assert by_table == {present: [wanted.value], absent: []}


def test_unordered_labels_have_a_nominal_alpha_of_people_and_with_each_judge() -> None:
    rng = np.random.default_rng(6)
    people = np.tile(np.arange(N) % 3, (3, 1)).astype(float)
    people[rng.random(people.shape) < 0.2] = 1.0
    codes = np.where(rng.random(N) < 0.7, people[0], 2.0)
    data = labelled(people, {**KINDS, "ordered": False}, judge=codes)
    truth = strict_majority(people, 3)
    for who, ratings in (("human", people), ("judge", np.stack([truth, codes]))):
        wanted = krippendorff_alpha(
            ratings,
            level="nominal",
            domain=[0.0, 1.0, 2.0],
            source=data.systems.source,
            weights=data.weights,
        ).estimate
        result = row_of(labels.rows(data), "alpha_nominal", judge=who)
        assert (result["value"], result["ci_low"]) == (wanted.value, wanted.ci_low)
    ordered = list(labels.rows(labelled(people, KINDS, judge=codes)))
    assert not [
        row for row in ordered if row["statistic"] == "alpha_nominal"
    ]  # table agreement


@pytest.mark.parametrize("ordered", [True, False])
def test_an_ensemble_of_labels_has_the_label_of_most_members(ordered: bool) -> None:
    rng, people = np.random.default_rng(4), np.tile([0.0, 1.0, 2.0], 20)
    members = {
        name: np.where(rng.random(N) < right, people, (people + 1) % 3)
        for name, right in (("a", 0.7), ("b", 0.8), ("c", 0.9))
    }
    data = labelled(people, KINDS | {"ordered": ordered}, **members, all=people)
    card = EnsembleMembers(members=["a", "b", "c"], min_members=1, mixed=[])
    rows = list(
        ensemble.rows(
            replace(data, spec=structs.replace(data.spec, ensembles={"all": card}))
        )
    )
    votes = majority(np.stack([*members.values()]).T)
    limit = row_of(rows, "label_accuracy", judge_b="a+b+c", aspect="clear")
    known = ~np.isnan(votes)
    assert limit["value"] == np.mean(votes[known] == people[known])
    assert (limit["n"], limit["n_missing"]) == (known.sum(), N - known.sum())
    two = np.stack([members["a"], members["b"]])
    tied = row_of(rows, "label_accuracy", judge_b="a+b", aspect="clear")
    assert tied["n_missing"] == np.count_nonzero(two[0] != two[1]) > 0
    gain = row_of(rows, "difference_balanced_accuracy", judge_b="a", aspect="clear")
    assert gain["value"] > 0 and gain["ci_low"] is not None
    assert not [
        row for row in rows if row["statistic"] in {"spearman", "error_correlation"}
    ]


def test_an_ensemble_of_numbers_has_no_labels_and_says_so() -> None:
    data = labelled(
        np.tile([0.0, 1.0, 2.0], 20),
        KINDS | {"ordered": False},
        a=GOLD,
        b=GOLD,
        all=GOLD,
    )
    judges = {
        name: structs.replace(
            card, engine="derived" if name == "all" else "llama", grid={"clear": None}
        )
        for name, card in data.spec.judges.items()
    }
    card = EnsembleMembers(members=["a", "b"], min_members=1, mixed=[])
    data = replace(
        data, spec=structs.replace(data.spec, judges=judges, ensembles={"all": card})
    )
    [row] = ensemble.rows(data)
    assert (row["value"], row["judge_b"], row["k"]) == (None, "a+b", 2)
    assert (
        row_of(labels.rows(data), "balanced_accuracy", judge="all")["note"]
        == row["note"]
    )
    assert "name members that give labels" in row["note"]


def test_a_dataset_of_labels_without_an_order_has_no_row_of_what_compares_values(
    tmp_path: Path,
) -> None:
    """Discernment averaged over no aspects."""
    output = tmp_path / "part.parquet"
    spec = labelled(GOLD, KINDS | {"ordered": False}, right=GOLD).spec
    statistics(
        structs.replace(spec, table="discernment", aspects={}, output=str(output))
    )
    assert read_table("results", output).num_rows == 0
