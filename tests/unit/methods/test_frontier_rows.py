"""Rows of frontier.csv: candidates, prices, and the choice for each price."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataset_in_memory import (
    DatasetTables,
    Floats,
    Row,
    judge_facts,
    row_of,
    rows_of,
    scales,
)
from judgescope.methods import frontier, verdicts
from judgescope.methods.claims.registry import CLAIMS
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.report.words import label
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import table_of, write_table
from judgescope.statistics.frontier import Advice

SOURCES, TEXTS = 40, 4
N = SOURCES * TEXTS
SOURCE = np.repeat(np.arange(SOURCES), TEXTS)
TARGETS = [f"i{at // TEXTS:02}.s{at % TEXTS}" for at in range(N)]
CLAIM_TARGETS = [CLAIMS.target(name) for name in ("agreement", "labels", "pairwise")]
CHEAP = {"input": 0.1, "output": 0.1}
DEAR = {"input": 1.0, "output": 1.0}
FREE = {"input": 0.0, "output": 0.0}
RNG = np.random.default_rng(3)
QUALITY = RNG.normal(size=N)
PEOPLE = QUALITY + 0.3 * RNG.normal(size=(3, N))


def noisy(size: float) -> Floats:
    return QUALITY + size * RNG.normal(size=N)


SCORES = {"cheap": noisy(1.0), "dear": noisy(1.0), "best": noisy(0.2), "bad": noisy(99)}
PRICES = {
    "cheap": CHEAP,
    "dear": DEAR,
    "best": {"input": 5.0, "output": 5.0},
    "bad": FREE,
}


def market(
    folder: Path,
    scores: Mapping[str, Floats],
    prices: Mapping[str, Mapping[str, float] | None],
    people: Floats = PEOPLE,
    facts: Mapping[str, Row] | None = None,
    aspect: Row | None = None,
    sources: int = SOURCES,
    aspects: Sequence[str] = ("clear",),
    draws: Mapping[str, Floats] | None = None,
    **fields: Any,
) -> list[ResultRow]:
    """Return the rows of frontier.csv of judges with the same scores on all aspects."""
    tables = DatasetTables()
    n = sources * TEXTS
    tables.add_items(sorted({target[:3] for target in TARGETS[:n]}))
    for at, target in enumerate(TARGETS[:n]):
        text = "word " * (1 + at % 7)
        tables.add_text("systems", target, target[:3], system=target[4:], text=text)
    for name in aspects:
        for number, ratings in enumerate(people):
            tables.add_ratings(name, f"r{number}", TARGETS[:n], ratings[:n])
        for judge, values in scores.items():
            tables.add_scores("systems", judge, name, TARGETS[:n], values[:n])
            cell = {"perturbation": "systems", "judge": judge, "aspect": name}
            tables.add("statuses", **cell, status="ok", rule="", n=n)
    for judge, table in (draws or {}).items():
        where = {"perturbation": "systems", "judge": judge, "aspect": "clear"}
        for (draw, at), value in np.ndenumerate(table):
            content = {"target": TARGETS[at], "draw": draw, "value": float(value)}
            tables.add("draws", **where, **content)
    data = bought(tables, folder, prices, facts or {}, aspect, aspects, **fields)
    return [*frontier.rows(data)]


def bought(
    tables: DatasetTables,
    folder: Path,
    prices: Mapping[str, Mapping[str, float] | None],
    facts: Mapping[str, Row],
    aspect: Row | None = None,
    aspects: Sequence[str] = ("clear",),
    **fields: Any,
) -> EvaluationData:
    """Return a dataset with its verdicts and its replies of 1,000 tokens as files."""
    replies = list[Row]()
    for row in tables.rows["statuses"]:
        tokens = {"prompt": 900, "completion": 100, "draw": 0}
        for at in range(row["n"]):
            key = f"{row['judge']}{row['aspect']}{at}"
            replies.append({"judge": row["judge"], "key": key} | tokens)
    path = str(folder / "bought.parquet")
    write_table("bought", table_of("bought", replies), path)
    every = {name: row | (aspect or {}) for name, row in scales(aspects, None).items()}
    grid = every[aspects[0]]["values"]
    judges = {}
    for judge, price in prices.items():
        content = {"price": price, "asked": True, **facts.get(judge, {})}
        judges[judge] = judge_facts(aspects, grid, (0.0, 1.0)) | content
    given: Row = {"ratings": "people", "aspects": every, "bought": [path]}
    given |= {"as_rater": {"margin": 0.05, "raters": "expert"}, "judges": judges}
    given |= {"claims": CLAIM_TARGETS, **fields}
    decided = str(folder / "verdicts.parquet")
    made = [*verdicts.rows(tables.data(**given))]
    write_table("results", table_of("results", made), decided)
    return tables.data(**given, verdicts=decided)


def test_the_choice_follows_the_budget(tmp_path: Path) -> None:
    rows = market(tmp_path, SCORES, PRICES)
    budgets = rows_of(rows, "budget")
    assert [row["value"] for row in budgets] == [0.1, 1.0, 1.1, 5.0, 5.1, 6.0, 6.1]
    winners = [row["judge"] for row in budgets]
    assert winners == ["cheap", "dear", "cheap+dear", *["best"] * 4]
    gain = row_of(rows, "gain_normal_scores", form="up to 6.1")
    assert gain["judge_b"] == "cheap" and gain["note"] == Advice.ADDS
    assert gain["ci_low"] > 0 and gain["n"] == N // 2
    first = row_of(rows, "gain_normal_scores", form="up to 0.1")
    assert (first["value"], first["note"]) == (0.0, f"{Advice.CHEAPEST}")
    for row in rows_of(rows, "optimism_normal_scores"):
        same = {"judge": row["judge"], "form": row["form"]}
        nested = row_of(rows, "nested_normal_scores", **same)["value"]
        value = row_of(rows, "normal_scores", judge=row["judge"])["value"]
        assert row["value"] == pytest.approx(value - nested, abs=1e-9)
    assert all(label(row["statistic"]) and row["signature"] for row in rows)


def test_prices_and_calls_are_those_of_the_replies(tmp_path: Path) -> None:
    rows = market(tmp_path, SCORES, PRICES)
    prices = {row["judge"]: row["value"] for row in rows_of(rows, "usd_per_1000")}
    assert prices["cheap"] == pytest.approx(0.1) and prices["bad"] == 0
    assert prices["cheap+dear"] == pytest.approx(1.1)
    calls = rows_of(rows, "calls_per_judgment")
    assert {row["value"] for row in calls} == {1.0}


def test_who_is_no_candidate_is_counted_and_named(tmp_path: Path) -> None:
    rows = market(tmp_path, SCORES, {**PRICES, "dear": None})
    count = row_of(rows, "candidates")
    assert count["value"] == 3
    for words in ("1 not shown", "bad", "1 without a price: dear"):
        assert words in count["note"]
    unknown = row_of(rows, "usd_per_1000", judge="dear")
    assert unknown["value"] is None and "no price" in unknown["note"]


def test_judges_of_a_single_family_make_no_jury(tmp_path: Path) -> None:
    facts = {judge: {"family": "one"} for judge in SCORES}
    rows = market(tmp_path, SCORES, PRICES, facts=facts)
    assert not [row for row in rows if "+" in row["judge"]]


def test_free_judges_are_chosen_by_quality(tmp_path: Path) -> None:
    rows = market(tmp_path, SCORES, dict.fromkeys(SCORES, FREE))
    [budget] = rows_of(rows, "budget")
    assert (budget["value"], budget["judge"]) == (0.0, "best")
    assert row_of(rows, "gain_normal_scores")["note"] == Advice.CHEAPEST


def test_few_sources_have_prices_alone(tmp_path: Path) -> None:
    rows = market(tmp_path, SCORES, PRICES, sources=19)
    assert not rows_of(rows, "budget") and rows_of(rows, "usd_per_1000")
    assert "fewer than 20 sources: 19" in row_of(rows, "candidates")["note"]


def test_candidates_are_compared_on_the_texts_that_all_judged(tmp_path: Path) -> None:
    missing = np.where(np.arange(N) % 16 == 0, np.nan, SCORES["dear"])
    rows = market(tmp_path, {**SCORES, "dear": missing}, PRICES)
    numbers = rows_of(rows, "normal_scores")
    assert {row["n"] for row in numbers} == {N - N // 16}
    assert {row["n_missing"] for row in numbers} == {N // 16}


def test_a_jury_of_labels_is_odd_and_has_the_label_of_most(tmp_path: Path) -> None:
    people = np.tile((QUALITY > 0).astype(float), (3, 1))
    wrong = RNG.random((3, N)) < 0.15
    scores = dict(zip("abc", np.where(wrong, 1 - people, people), strict=True))
    prices = dict(zip("abc", (CHEAP, DEAR, DEAR), strict=True))
    scale = {"values": [0.0, 1.0], "ends": [0.0, 1.0], "labels": ["no", "yes"]}
    rows = market(tmp_path, scores, prices, people, aspect=scale)
    juries = {row["judge"] for row in rows if "+" in row["judge"]}
    assert juries == {"a+b+c"}
    number = row_of(rows, "balanced_accuracy", judge="a+b+c")
    votes = np.sum([scores[judge] for judge in "abc"], axis=0) > 1.5
    right = votes == people[0]
    recalls = [right[people[0] == label].mean() for label in (0, 1)]
    assert number["value"] == pytest.approx(np.mean(recalls))
    assert not rows_of(rows, "effective_judges")


def test_a_study_without_claims_says_what_it_needs(tmp_path: Path) -> None:
    rows = market(tmp_path, SCORES, PRICES, claims=[])
    assert "agreement" in row_of(rows, "candidates")["note"]


def test_the_mean_over_aspects_has_a_separate_a_choice(tmp_path: Path) -> None:
    rows = market(tmp_path, SCORES, PRICES, aspects=("clear", "true"))
    mean = row_of(rows, "normal_scores", judge="best", aspect="average")
    each = [
        row_of(rows, "normal_scores", judge="best", aspect=aspect)["value"]
        for aspect in ("clear", "true")
    ]
    assert mean["value"] == pytest.approx(np.mean(each))
    last = row_of(rows, "gain_normal_scores", aspect="average", form="up to 6.1")
    assert last["note"] == Advice.ADDS
    assert not rows_of(rows, "effective_judges", aspect="average")


def choosing(folder: Path, unsure: float) -> list[ResultRow]:
    """Return the rows of three judges that choose between two texts, in both orders.

    Where the judge `a` is unsure, in a share of pairs, it chooses the text shown first.
    """
    tables = DatasetTables()
    tables.add_items(sorted({target[:3] for target in TARGETS}))
    prices = dict(zip("abc", (CHEAP, DEAR, DEAR), strict=True))
    pairs = [*zip(TARGETS[::2], TARGETS[1::2], strict=True)]
    for at, target in enumerate(TARGETS):
        text = "word " * (1 + at % 7)
        tables.add_text("systems", target, target[:3], system=target[4:], text=text)
    rng = np.random.default_rng(6)
    truth = np.where(rng.random(len(pairs)) < 0.5, 1.0, -1.0)
    for number in range(3):
        for pair, value in zip(pairs, truth.tolist(), strict=True):
            where = {"target": pair[0], "target_b": pair[1], "value": value}
            tables.add("ratings", aspect="clear", rater=f"r{number}", **where)
    for judge in prices:
        cell = {"perturbation": "systems", "judge": judge, "aspect": "clear"}
        tables.add("statuses", **cell, status="ok", rule="", n=2 * len(pairs))
        votes = np.where(rng.random(len(pairs)) < 0.15, -truth, truth)
        swayed = (rng.random(len(pairs)) < unsure) & (judge == "a")
        for pair, value, first in zip(pairs, votes, swayed, strict=True):
            for shown, sign in ((pair, 1.0), (pair[::-1], -1.0)):
                where = {"target": shown[0], "target_b": shown[1], "draw": 0}
                vote = 1.0 if first else sign * float(value)
                tables.add("draws", **cell, **where, value=vote)
    facts = {judge: {"compares": True} for judge in prices}
    return [*frontier.rows(bought(tables, folder, prices, facts))]


def test_choices_between_two_texts_make_juries(tmp_path: Path) -> None:
    rows = choosing(tmp_path, unsure=0.0)
    values = {row["judge"]: row["value"] for row in rows_of(rows, "half_credit")}
    assert {*values} == {"a", "b", "c", "a+b", "a+c", "b+c", "a+b+c"}
    assert values["a+b+c"] > max(values["a"], values["b"], values["c"])
    assert rows_of(rows, "gain_half_credit")


def test_a_pair_whose_orders_disagree_is_passed_on(tmp_path: Path) -> None:
    rows = choosing(tmp_path, unsure=0.5)
    values = {row["judge"]: row["value"] for row in rows_of(rows, "half_credit")}
    assert {name for name in values if ">" in name} == {"a>b@1", "a>c@1"}
    assert values["a>b@1"] > values["a"] + 0.05
    prices = {row["judge"]: row for row in rows_of(rows, "usd_per_1000")}
    passed = float(prices["a>b@1"]["method"].partition("%")[0]) / 100
    assert 0.35 < passed < 0.65
    expected = prices["a"]["value"] + passed * prices["b"]["value"]
    assert prices["a>b@1"]["value"] == pytest.approx(expected, rel=1e-3)


def test_a_text_with_few_equal_draws_is_passed_on(tmp_path: Path) -> None:
    people = np.tile((QUALITY > 0).astype(float), (3, 1))
    rng = np.random.default_rng(4)
    hard = rng.random(N) < 0.4
    wrong = rng.random((5, N)) < np.where(hard, 0.45, 0.02)
    draws = np.where(wrong, 1 - people[0], people[0])
    scores = {"a": np.round(draws.mean(axis=0)), "b": people[0].copy()}
    scores["b"][rng.random(N) < 0.05] = 0.0
    scale = {"values": [0.0, 1.0], "ends": [0.0, 1.0], "labels": ["no", "yes"]}
    facts = {"a": {"draws": 5}}
    prices = {"a": CHEAP, "b": DEAR}
    rows = market(tmp_path, scores, prices, people, facts, scale, draws={"a": draws})
    values = {row["judge"]: row["value"] for row in rows_of(rows, "balanced_accuracy")}
    cascades = [name for name in values if ">" in name]
    assert cascades and all(name.startswith("a>b@") for name in cascades)
    assert max(values[name] for name in cascades) > values["a"]
    costs = {row["judge"]: row["value"] for row in rows_of(rows, "usd_per_1000")}
    assert all(costs["a"] < costs[name] < costs["a"] + costs["b"] for name in cascades)


def stated_market(folder: Path, **fields: Any) -> list[ResultRow]:
    """Return the rows of two judges of labels, of which the cheap one says how sure it
    is: .95 or .6, as often as it is right.
    """
    people = np.tile((QUALITY > 0).astype(float), (3, 1))
    rng = np.random.default_rng(9)
    sure = np.where(rng.random(N) < 0.5, 0.95, 0.6)
    wrong = rng.random((2, N)) < np.stack([1 - sure, np.full(N, 0.06)])
    scores = dict(zip("ab", np.where(wrong, 1 - people[:2], people[:2]), strict=True))
    stated = []
    for at, chance in enumerate(sure.tolist()):
        row: Row = {"dataset": "d", "perturbation": "systems", "judge": "a"}
        row |= {"aspect": "clear", "target": TARGETS[at], "draw": 0, "status": "ok"}
        row |= {"value": scores["a"][at], "confidence": chance}
        stated.append(row | {"confident_of": 0.0 if at == 0 else None})
    path = str(folder / "confidences.parquet")
    write_table("confidences", table_of("confidences", stated), path)
    scale = {"values": [0.0, 1.0], "ends": [0.0, 1.0], "labels": ["no", "yes"]}
    prices = {"a": CHEAP, "b": DEAR}
    where = {"aspect": scale, "confidences": path, **fields}
    return market(folder, scores, prices, people, **where)


def test_a_text_of_low_confidence_is_passed_on(tmp_path: Path) -> None:
    rows = stated_market(tmp_path)
    values = {row["judge"]: row["value"] for row in rows_of(rows, "balanced_accuracy")}
    assert "a>b@0.95" in values and values["a>b@0.95"] > values["a"]
    assert not rows_of(rows, "left_to_people")


def test_with_the_price_of_a_rating_a_cascade_ends_at_a_person(tmp_path: Path) -> None:
    rows = stated_market(tmp_path, rating_price=0.25)
    [left] = rows_of(rows, "left_to_people")
    assert left["judge"] == "a>people@0.95" and left["k"] == 2
    assert left["value"] == pytest.approx(0.5, abs=0.1)
    [error] = rows_of(rows, "cascade_error")
    assert 0 < error["value"] < 0.1
    assert "with a chance of 95 %, of this cascade on its own" in error["note"]
    costs = {row["judge"]: row for row in rows_of(rows, "usd_per_1000")}
    both = costs["a>people@0.95"]
    expected = costs["a"]["value"] + 1000 * left["value"] * 0.25
    assert both["value"] == pytest.approx(expected)
    assert both["note"] == "a person's rating costs US$ 0.25"


def test_the_study_says_how_often_a_cascade_may_be_wrong(tmp_path: Path) -> None:
    wider = {"cascades": {"error": 0.35, "risk": 0.2}}
    rows = stated_market(tmp_path, rating_price=0.25, settings=wider)
    [left] = rows_of(rows, "left_to_people")
    # Verdicts of confidence .6 are taken, too: a fifth of all is wrong.
    assert left["judge"] == "a>people@0.6" and left["value"] < 0.01
    [error] = rows_of(rows, "cascade_error")
    assert error["value"] > 0.1 and "with a chance of 80 %" in error["note"]
    narrow = {"cascades": {"error": 0.01, "risk": 0.05}}
    rows = stated_market(tmp_path, rating_price=0.25, settings=narrow)
    [left] = rows_of(rows, "left_to_people")
    assert left["value"] is None
