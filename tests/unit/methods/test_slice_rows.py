"""The rows of slices.csv: slices and the rest, too few cases, label or judge."""

import json
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from dataset_in_memory import (
    DatasetTables,
    Floats,
    judge_facts,
    row_of,
    rows_of,
    scales,
)
from judgescope.methods import slices
from judgescope.methods.doubts import MOST_LISTED
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.rows import ResultRow
from judgescope.statistics.within_sources import within_sources

SOURCES, SYSTEMS = 80, 4
RNG = np.random.default_rng(5)
PEOPLE = RNG.normal(size=(SOURCES, SYSTEMS))
GOOD = PEOPLE + 0.5 * RNG.normal(size=PEOPLE.shape)
LAW = np.arange(SOURCES) % 4 == 0
BLIND = np.where(LAW[:, None], RNG.normal(size=PEOPLE.shape), GOOD)
LABELS = {"values": [0.0, 1.0], "ends": [0.0, 1.0], "labels": ["fail", "pass"]}


def data_of(
    scores: dict[str, Floats],
    people: Floats = PEOPLE,
    *,
    meta: dict[str, list[Any]] | None = None,
    scale: dict[str, Any] | None = None,
    lengths: Any = None,
    engine: str = "llama",
    **spec: Any,
) -> EvaluationData:
    """Return sources with a text of each system, (sources, systems)."""
    columns = {"topic": ["law" if law else "news" for law in LAW[: len(people)]]}
    tables = DatasetTables()
    for item in range(len(people)):
        known = {name: each[item] for name, each in (meta or columns).items()}
        tables.add("items", item=f"i{item:03}", source="", meta=json.dumps(known))
    for at in range(people.shape[1]):
        targets = [f"i{item:03}.s{at}" for item in range(len(people))]
        for item, target in enumerate(targets):
            size = 5 if lengths is None else int(lengths[item, at])
            tables.add_text(
                "systems", target, target[:4], system=f"s{at}", text="x" * size
            )
        tables.add_ratings("clear", "r", targets, people[:, at])
        for judge, values in scores.items():
            tables.add_scores("systems", judge, "clear", targets, values[:, at])
    ends = (-9.0, 9.0)
    grid = scale["values"] if scale else None
    facts = judge_facts(["clear"], grid, ends) | {"engine": engine}
    aspects = {"clear": scale} if scale else scales(["clear"], None, ends)
    fields: dict[str, Any] = {"ratings": "people", "aspects": aspects}
    return tables.data(**fields | {"judges": dict.fromkeys(scores, facts)} | spec)


def judged_lower(rows: list[ResultRow], statistic: str = "normal_scores") -> list[str]:
    """Return the slices that Holm shows to be below the rest."""
    named = []
    for row in rows_of(rows, f"slice_p_holm_{statistic}"):
        gap = row_of(rows, f"slice_gap_{statistic}", slice=row["slice"])
        if row["value"] <= 0.05 and gap["value"] < 0:
            named.append(row["slice"])
    return named


def test_a_part_that_a_judge_cannot_judge_is_named() -> None:
    rows = [*slices.rows(data_of({"judge": BLIND}))]
    assert judged_lower(rows) == ["topic: law"]
    law = row_of(rows, "normal_scores", slice="topic: law")
    news = row_of(rows, "normal_scores", slice="topic: news")
    gap = row_of(rows, "slice_gap_normal_scores", slice="topic: law")
    assert gap["value"] == pytest.approx(law["value"] - news["value"])
    moved = row_of(rows, "slice_shrunk_normal_scores", slice="topic: law")
    assert law["value"] < moved["value"] < news["value"]
    assert row_of(rows, "slice_shown_from_normal_scores")["value"] > 0


def test_a_slice_has_the_number_of_its_texts_alone() -> None:
    rows = [*slices.rows(data_of({"judge": BLIND}))]
    mine = np.repeat(LAW, SYSTEMS)
    source = np.repeat(np.arange(SOURCES), SYSTEMS)[mine]
    alone = within_sources(BLIND.ravel()[mine], PEOPLE.ravel()[mine], source, SOURCES)
    row = row_of(rows, "normal_scores", slice="topic: law")
    assert row["value"] == pytest.approx(alone.estimate.value, abs=1e-12)
    assert row["ci_low"] == pytest.approx(alone.estimate.ci_low, abs=1e-12)


def test_a_judge_alike_everywhere_has_no_worse_part() -> None:
    rows = [*slices.rows(data_of({"judge": GOOD}))]
    assert judged_lower(rows) == []


def test_systems_are_compared_with_each_other_over_all_texts() -> None:
    scores = GOOD.copy()
    scores[:, 2] = RNG.normal(size=SOURCES)
    rows = [*slices.rows(data_of({"judge": scores}))]
    p = row_of(rows, "slice_p_holm_spearman", slice="system: s2")
    assert p["value"] < 0.01 and p["level"] == "pooled"
    gap = row_of(rows, "slice_gap_spearman", slice="system: s2")
    assert "slice minus the mean of the other systems' own numbers" in gap["note"]
    others = [
        row_of(rows, "spearman", slice=f"system: s{at}")["value"] for at in (0, 1, 3)
    ]
    mine = row_of(rows, "spearman", slice="system: s2")["value"]
    assert gap["value"] == pytest.approx(mine - np.mean(others))


def test_lengths_are_cut_into_thirds() -> None:
    lengths = RNG.permutation(SOURCES * SYSTEMS).reshape(SOURCES, SYSTEMS) + 1
    rows = [*slices.rows(data_of({"judge": GOOD}, lengths=lengths))]
    names = {row["slice"] for row in rows if str(row.get("slice")).startswith("length")}
    assert names == {
        f"length: {name}" for name in slices.THIRDS[slices.BuiltInColumn.LENGTH]
    }


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        (["a"] * 5 + ["b"] * (SOURCES - 5), {"kind: a", "kind: b"}),
        ([f"w{at}" for at in range(SOURCES)], set()),
        (["a"] * SOURCES, set()),
        (
            [*range(SOURCES)],
            {"kind: lowest third", "kind: middle third", "kind: highest third"},
        ),
        ([None] * 40 + ["a"] * 20 + ["b"] * 20, {"kind: a", "kind: b"}),
    ],
)
def test_which_columns_are_slices(column: list[Any], shown: set[str]) -> None:
    rows = [*slices.rows(data_of({"judge": GOOD}, meta={"kind": column}))]
    names = {row.get("slice") for row in rows} - {None}
    assert {name for name in names if name and name.startswith("kind")} == shown


def test_a_slice_of_few_sources_has_a_reason() -> None:
    meta = {"kind": ["a"] * 5 + ["b"] * (SOURCES - 5)}
    rows = [*slices.rows(data_of({"judge": GOOD}, meta=meta))]
    [row] = rows_of(rows, slice="kind: a")
    assert row["value"] is None and row["note"] == "too few: 5 sources"


def test_a_named_column_without_slices_says_so() -> None:
    meta = {"kind": [f"w{at}" for at in range(SOURCES)]}
    settings = {"slices": {"columns": ["kind"]}}
    rows = [*slices.rows(data_of({"judge": GOOD}, meta=meta, settings=settings))]
    row = row_of(rows, "normal_scores", slice=None, judge="judge")
    assert "no slices of kind" in row["note"]


def test_slices_that_contradict_the_complete_are_a_warning() -> None:
    meta = {"kind": ["a", "b"] * (SOURCES // 2)}
    side = np.where(np.arange(SOURCES) % 2 == 0, 0.0, 6.0)[:, None]
    single = PEOPLE[:, :1]
    data = data_of({"judge": side - single}, single + side, meta=meta)
    row = row_of([*slices.rows(data)], "spearman", slice=None)
    assert row["value"] > 0.3 and "every slice of kind" in row["note"]


def test_a_slice_without_a_number_does_not_hide_the_contradiction() -> None:
    kinds = ["a", "b"] * (SOURCES // 2 - 2) + ["c"] * 4
    side = np.where(np.arange(SOURCES) % 2 == 0, 0.0, 6.0)[:, None]
    single = PEOPLE[:, :1]
    data = data_of({"judge": side - single}, single + side, meta={"kind": kinds})
    row = row_of([*slices.rows(data)], "spearman", slice=None)
    assert "all texts (1 without a number left out)" in row["note"]


def test_controls_have_no_slices() -> None:
    assert not [*slices.rows(data_of({"judge": GOOD}, engine="control"))]


# --- label or judge? ------------------------------------------------------------------


def labelled(
    flips: Any, errors: tuple[float, ...] = (0.1, 0.1, 0.1), **families: str
) -> EvaluationData:
    """Return judges with independent errors, and labels of which some are flipped."""
    truth = (PEOPLE > 0).astype(float)
    judges = {}
    for number, share in enumerate(errors):
        wrong = np.random.default_rng(number).random(truth.shape) < share
        judges[f"j{number}"] = np.where(wrong, 1 - truth, truth)
    people = np.where(flips, 1 - truth, truth)
    data = data_of(judges, people, scale=LABELS)
    for judge, family in families.items():
        named = replace(data.spec.judges[judge], family=family)
        data.spec.judges[judge] = named
    return data


def listed(data: EvaluationData, statistic: str = "label_doubt") -> list[Any]:
    """Return the rows of the list; none where a row says why there is no list."""
    rows = rows_of(slices.rows(data), statistic)
    return [row for row in rows if row["value"] is not None]


def why_not(data: EvaluationData, statistic: str = "label_doubt") -> str:
    [row] = rows_of(slices.rows(data), statistic)
    assert row["value"] is None
    return str(row["note"])


FLIPS = np.random.default_rng(9).random(PEOPLE.shape) < 0.06


def cell_of(row: Any) -> tuple[int, int]:
    target = str(row["target"])
    return int(target[1:4]), int(target[-1])


def test_flipped_labels_are_listed_first() -> None:
    rows = listed(labelled(FLIPS))
    assert 10 <= len(rows) <= MOST_LISTED
    assert np.mean([FLIPS[cell_of(row)] for row in rows[: FLIPS.sum()]]) >= 0.8
    values = [row["value"] for row in rows]
    assert values == sorted(values, reverse=True) and values[-1] > 0
    assert {row["judge"] for row in rows} == {"human"}
    assert "likeliest other label:" in rows[0]["note"]


def test_the_majority_of_judges_contradicts_every_listed_label() -> None:
    data = labelled(FLIPS)
    targets = data.systems
    people = targets.ratings("clear")[0]
    judged = np.array([targets.scores(f"j{at}", "clear") for at in range(3)])
    against = dict(
        zip(targets.targets, (judged != people).sum(axis=0).tolist(), strict=True)
    )
    rows = listed(data)
    assert rows and all(against[str(row["target"])] >= 2 for row in rows)


def test_judges_worse_than_chance_make_no_list() -> None:
    why = why_not(labelled(FLIPS, (0.6, 0.55, 0.5)))
    assert why.startswith("no list: 0 of 3 judges are better than chance")
    why = why_not(labelled(FLIPS, (0.1, 0.5, 0.6)))
    assert why.startswith("no list: 1 of 3 judges")


def test_a_judge_worse_than_chance_has_no_vote() -> None:
    rows = listed(labelled(FLIPS, (0.1, 0.1, 0.5)))
    assert rows and all(row["n"] == 2 for row in rows)
    assert "not better than chance: j2" in rows[0]["method"]


def test_judges_of_a_single_family_are_not_two() -> None:
    each = labelled(FLIPS, (0.1, 0.1), j0="qwen", j1="qwen")
    assert "of different families" in why_not(each)
    assert listed(labelled(FLIPS, (0.1, 0.1), j0="qwen", j1="llama"))


def test_a_rating_that_judges_contradict_is_listed_with_its_sign() -> None:
    people = PEOPLE.copy()
    people[3, 1] = 6.0
    scores = {"a": PEOPLE.copy(), "b": GOOD}
    rows = listed(data_of(scores, people), "rating_doubt")
    assert rows[0]["target"] == "i003.s1" and rows[0]["value"] < -3


def test_a_rating_that_single_judge_alone_contradicts_is_not_listed() -> None:
    scores = {"a": PEOPLE.copy(), "b": PEOPLE.copy()}
    scores["a"][3, 1] = 9.0
    data = data_of(scores)
    assert "agree against no rating" in why_not(data, "rating_doubt")


def test_random_scores_make_no_list() -> None:
    scores = {name: RNG.normal(size=PEOPLE.shape) for name in "ab"}
    assert "better than chance" in why_not(data_of(scores), "rating_doubt")


def test_a_single_judge_doubts_nothing() -> None:
    assert not rows_of(slices.rows(data_of({"a": GOOD})), "rating_doubt")


def test_labels_need_five_texts_of_the_rarest() -> None:
    people = (PEOPLE > 0).astype(float)
    people[LAW] = 1.0
    people[0, 0] = 0.0
    rows = [*slices.rows(data_of({"a": people}, people, scale=LABELS))]
    [row] = rows_of(rows, "balanced_accuracy", slice="topic: law")
    assert row["note"] == "too few: 1 texts of the rarest label"


def test_a_label_that_is_always_right_in_a_slice_or_the_rest_has_no_test() -> None:
    people = (PEOPLE > 0).astype(float)
    judged = np.where(RNG.random(people.shape) < 0.2, 1 - people, people)
    judged = np.where(LAW[:, None] & (people == 1), people, judged)
    rows = [*slices.rows(data_of({"a": judged}, people, scale=LABELS))]
    [law] = rows_of(rows, slice="topic: law")
    assert law["value"] is None and "labelled pass are right" in law["note"]
    [news] = rows_of(rows, slice="topic: news")
    assert news["value"] is None and "texts of the rest labelled pass" in news["note"]


@pytest.mark.simulation
def test_slices_that_differ_in_base_rates_alone_are_not_named() -> None:
    """Accuracy .9 everywhere: a slice is named in at most 5 % of studies."""
    rng = np.random.default_rng(8)
    studies = 100
    topics = np.arange(400) % 2
    meta = {"topic": [f"t{topic}" for topic in topics]}
    good = np.array([0.5, 0.04])[topics][:, None]
    names = []
    for _ in range(studies):
        people = (rng.random((400, 1)) < good).astype(float)
        judged = np.where(rng.random(people.shape) < 0.1, 1 - people, people)
        data = data_of({"a": judged}, people, meta=meta, scale=LABELS)
        names.append(judged_lower([*slices.rows(data)], "balanced_accuracy"))
    assert np.mean([bool(each) for each in names]) <= 0.05
