"""Bars that a study states: met, missed or not known, how much more would tell, and the
key.
"""

from dataclasses import replace
from math import erf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataset_in_memory import Row
from judgescope.cli.summary import summary
from judgescope.core.cells import joined
from judgescope.core.errors import UserError
from judgescope.core.paths import HOME
from judgescope.methods import verdicts
from judgescope.methods.base import Bar
from judgescope.methods.claims.rows import verdict_rows
from judgescope.methods.evaluation_data import NOT_PLANNED, EvaluationData
from judgescope.plan.checks.study import check_bars
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import results
from judgescope.schema.cards import Study
from judgescope.schema.tables import table_of, write_table
from judgescope.statistics.intervals import clopper_pearson
from judgescope.statistics.registry import STATISTICS, has_bar, statistic
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import (
    Outcome,
    effective_cases,
    more_needed,
    on_bar,
)
from methods_setup import ASPECTS, ITEMS, study

MEETS, MISSES, OPEN = Outcome.MEETS, Outcome.MISSES, Outcome.CANNOT_TELL


@pytest.mark.parametrize(
    ("lo", "hi", "bar", "wanted"),
    [
        (0.8, 0.9, 0.8, MEETS),
        (0.79, 0.9, 0.8, OPEN),
        (0.6, 0.8, 0.8, OPEN),
        (0.6, 0.79, 0.8, MISSES),
        (None, None, 0.8, OPEN),
    ],
)
def test_an_interval_decides(
    lo: float | None, hi: float | None, bar: float, wanted: str
) -> None:
    result = Estimate(0.85 if hi != 0.79 else 0.7, lo, hi, n=100)
    assert on_bar(result, bar) == wanted
    assert on_bar(Estimate.undefined("constant judge"), bar) == Outcome.NO_CLAIM


def test_of_errors_and_prices_a_bar_is_the_most_that_is_allowed() -> None:
    assert on_bar(Estimate(0.05, 0.02, 0.1, n=9), 0.1, at_most=True) == MEETS
    assert on_bar(Estimate(0.05, 0.02, 0.11, n=9), 0.1, at_most=True) == OPEN
    assert on_bar(Estimate(0.2, 0.11, 0.3, n=9), 0.1, at_most=True) == MISSES
    records = (each for each in STATISTICS.values() if has_bar(each.name))
    less = [each.name for each in records if each.less_is_better]
    assert not has_bar("rank_{}") and "usd" in less
    assert "obey_rate" in less and all(map(has_bar, less))
    assert statistic("rank_pearson").less_is_better
    assert not statistic("rank_biserial").less_is_better


def share(value: float, n: int) -> Estimate:
    return Estimate(value, *clopper_pearson(value, n), n=n)


@pytest.mark.simulation
def test_as_many_cases_more_as_show_a_share_above_or_below_its_bar() -> None:
    result = more_needed("coverage", share(0.9, 50), 0.8, 50)
    assert result is not None and result.more is not None and 60 < result.more < 120
    total = 50 + result.more
    reached = np.mean(
        [
            clopper_pearson(x / total, total)[0] >= 0.8
            for x in np.random.default_rng(1).binomial(total, 0.9, 2000).tolist()
        ]
    )
    assert 0.78 <= reached <= 0.88
    below, mirrored, near = (
        more_needed("coverage", share(value, 50), bar, 50)
        for value, bar in ((0.7, 0.8), (0.3, 0.2), (0.802, 0.8))
    )
    assert below == mirrored and below is not None and below.more is not None
    assert near is not None and near.more is None


@pytest.mark.heavy
def test_cases_of_a_single_source_count_for_less() -> None:
    assert effective_cases(share(0.9, 80)) == pytest.approx(80, abs=0.01)
    clustered = Estimate(0.9, *clopper_pearson(0.9, 20), n=80)
    assert effective_cases(clustered) == pytest.approx(20, abs=0.01)
    alone, alike = (
        more_needed("coverage", each, 0.75, 40) for each in (share(0.9, 80), clustered)
    )
    assert (
        alone and alike and alone.more and alike.more and alike.more > alone.more + 80
    )


def test_other_statistics_need_as_many_sources_as_their_error_says() -> None:
    result = more_needed("spearman", Estimate(0.5, 0.3, 0.7, n=40), 0.4, 40)
    assert result is not None and result.more is not None
    error = 0.2 / 1.959964 * sqrt(40 / (40 + result.more))
    power = (1 + erf(((0.1 - 1.959964 * error) / error) / sqrt(2))) / 2
    assert power == pytest.approx(0.8, abs=0.005)
    near = more_needed("spearman", Estimate(0.5, 0.3, 0.7, n=40), 0.499, 40)
    assert near is not None and near.more is None
    assert more_needed("spearman", Estimate(0.5, n=40), 0.4, 40) is None


def wanting(
    folder: Path,
    rows: list[Row],
    bars: list[Row],
    table: str = "agreement",
    **spec: Any,
) -> EvaluationData:
    """Return a study whose table has these rows, and which states these bars."""
    path = folder / "statistics" / table / "d.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    base = {
        "dataset": "d",
        "level": "",
        "n": 60,
        "n_missing": 0,
        "n_tied": 0,
        "method": "",
    }
    full = [{**base, "note": "", "signature": "s", **row} for row in rows]
    write_table("results", table_of("results", full), str(path))
    collected = [{"level": None, "aspect": None, **bar} for bar in bars]
    cards: dict[str, dict[str, Any]] = {
        "j": {"hint": None},
        "control": {"engine": "control"},
    }
    required = {"bars": collected, "parts": [str(path)]}
    return study({}, cards=cards, required=required, claims=[], **spec)


def row(value: float, lo: float, hi: float, **more: Any) -> Row:
    where = {
        "judge": "j",
        "aspect": ASPECTS[0],
        "statistic": "spearman",
        "level": "by_source",
    }
    return {**where, "value": value, "ci_low": lo, "ci_high": hi, **more}


def outcomes_of(data: EvaluationData) -> dict[tuple[str, str], list[str]]:
    """Return (aspect, level) -> outcome and reasons."""
    rows = verdict_rows(data, verdicts.bar_claims(data))
    return {
        (row["aspect"], row["level"]): row["note"].split("; ")
        for row in rows
        if row["statistic"] == "verdict"
    }


def test_a_plain_bar_is_for_each_aspect_at_the_level_that_decides(
    tmp_path: Path,
) -> None:
    rows = [
        row(0.6, 0.5, 0.7),
        row(0.3, 0.2, 0.4, level="pooled"),
        row(0.3, 0.2, 0.4, aspect=ASPECTS[1]),
        row(0.9, 0.8, 0.95, aspect="average"),
        row(0.9, 0.8, 0.95, judge_b="other"),
        row(0.9, 0.8, 0.95, judge="control"),
    ]
    own_part = wanting(tmp_path, rows, [{"statistic": "spearman", "bar": 0.5}])
    assert outcomes_of(own_part) == {
        (ASPECTS[0], "by_source"): ["meets"],
        (ASPECTS[1], "by_source"): ["misses"],
    }
    own_part = wanting(
        tmp_path, rows, [{"statistic": "spearman", "bar": 0.5, "level": "pooled"}]
    )
    assert outcomes_of(own_part) == {(ASPECTS[0], "pooled"): ["misses"]}
    own_part = wanting(
        tmp_path, rows, [{"statistic": "spearman", "bar": 0.5, "aspect": ASPECTS[1]}]
    )
    assert list(outcomes_of(own_part)) == [(ASPECTS[1], "by_source")]


def test_an_undecided_difference_says_how_many_sources_would_decide(
    tmp_path: Path,
) -> None:
    own_part = wanting(
        tmp_path, [row(0.55, 0.4, 0.7)], [{"statistic": "spearman", "bar": 0.5}]
    )
    [claim] = verdicts.bar_claims(own_part)
    assert claim.outcome == OPEN
    more = claim.beside["more_needed"]
    assert more.value is not None and more.value > 50 and "sources" in more.method
    near = wanting(
        tmp_path, [row(0.501, 0.4, 0.6)], [{"statistic": "spearman", "bar": 0.5}]
    )
    [claim] = verdicts.bar_claims(near)
    assert claim.beside["more_needed"].value is None
    assert claim.beside["bar"].value == 0.5


def test_a_statistic_that_the_study_has_not_makes_no_claim(tmp_path: Path) -> None:
    own_part = wanting(tmp_path, [], [{"statistic": "pearson", "bar": 0.5}])
    assert outcomes_of(own_part) == {("", ""): ["no_claim", "not_computed"]}


def lost(n_lost: int, n: int = 60) -> list[Row]:
    where = {
        "dataset": "d",
        "perturbation": "systems",
        "judge": "j",
        "aspect": ASPECTS[0],
    }
    return [
        {**where, "status": status, "rule": "", "n": count, "served": []}
        for status, count in (("ok", n - n_lost), ("unparsed", n_lost))
    ]


@pytest.mark.parametrize(
    ("n_lost", "wanted"),
    [(3, ["meets"]), (6, ["cannot_tell", "lost"]), (13, ["no_claim", "too_many_lost"])],
)
@pytest.mark.parametrize("criterion", [None, "terse"])
def test_lost_judgments(
    tmp_path: Path, n_lost: int, wanted: list[str], criterion: str | None
) -> None:
    """Judgments that were not planned are not lost, nor are those in another
    criterion.
    """
    rows = [row(0.6, 0.5, 0.7, criterion=criterion)]
    own_part = wanting(tmp_path, rows, [{"statistic": "spearman", "bar": 0.5}])
    aspect = joined(ASPECTS[0], criterion)
    statuses = [each | {"aspect": aspect} for each in lost(n_lost)]
    statuses += [each | {"aspect": f"{ASPECTS[0]}.loose"} for each in lost(60)]
    for more in ([], [{**statuses[0], "status": NOT_PLANNED, "n": 600}]):
        text = replace(own_part, statuses=table_of("statuses", [*statuses, *more]))
        assert outcomes_of(text) == {(ASPECTS[0], "by_source"): wanted}


@pytest.mark.parametrize(
    ("criterion", "wanted"), [("terse", "meets"), ("loose", "no_claim")]
)
def test_of_an_average_the_judgments_in_its_criterion_count(
    tmp_path: Path, criterion: str, wanted: str
) -> None:
    rows = [row(0.6, 0.5, 0.7, aspect="average", criterion=criterion)]
    own_part = wanting(
        tmp_path, rows, [{"statistic": "spearman", "bar": 0.5, "aspect": "average"}]
    )
    statuses = [
        each | {"aspect": f"{ASPECTS[0]}.{name}"}
        for name, n_lost in (("terse", 0), ("loose", 60))
        for each in lost(n_lost)
    ]
    [outcome] = outcomes_of(
        replace(own_part, statuses=table_of("statuses", statuses))
    ).values()
    assert outcome[0] == wanted


def on_perturbed(
    folder: Path, table: str, name: str, interval: tuple[float, float, float]
) -> EvaluationData:
    """Return a study with a bar of .5 on a number of a judge's drops of perturbed
    texts.
    """
    rows = [row(*interval, aspect="", statistic=name, level="")]
    bars: list[Row] = [{"statistic": name, "bar": 0.5}]
    return wanting(
        folder, rows, bars, table, perturbed=[["typos", "minor", "character"]]
    )


@pytest.mark.parametrize(
    ("table", "name"), [("discernment", "D_avg"), ("confusion", "confusion_auc")]
)
@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        ("systems", ["meets"]),
        ("original", ["no_claim", "too_many_lost"]),
        ("typos.minor", ["no_claim", "too_many_lost"]),
    ],
)
def test_of_drops_the_judgments_of_originals_and_perturbed_texts_count(
    tmp_path: Path, table: str, name: str, texts: str, wanted: list[str]
) -> None:
    own_part = on_perturbed(tmp_path, table, name, (0.9, 0.8, 0.95))
    statuses = [
        entry | {"perturbation": each}
        for each in ("systems", "original", "typos.minor")
        for entry in lost(60 if each == texts else 0)
    ]
    assert outcomes_of(replace(own_part, statuses=table_of("statuses", statuses))) == {
        ("", ""): wanted
    }


def test_of_drops_as_many_items_more_are_needed_as_those_at_hand_say(
    tmp_path: Path,
) -> None:
    own_part = on_perturbed(tmp_path, "discernment", "D_avg", (0.6, 0.4, 0.8))
    unrated = replace(own_part, targets=table_of("targets", []))
    [claim] = verdicts.bar_claims(unrated)
    need = more_needed("D_avg", Estimate(0.6, 0.4, 0.8, n=60), 0.5, ITEMS)
    assert claim.outcome == OPEN and need is not None
    assert claim.beside["more_needed"].value == need.more


@pytest.mark.parametrize(
    ("hi", "wanted"), [(0.1, ["meets"]), (0.15, ["cannot_tell", "lost"])]
)
def test_lost_judgments_count_as_the_most_of_a_share_that_should_be_small(
    tmp_path: Path, hi: float, wanted: list[str]
) -> None:
    # a tenth is lost: at worst the upper end of 0.1 is 0.19, and that of 0.15 is 0.235
    rows = [row(0.05, 0.02, hi, statistic="tie_rate", level="pooled")]
    own_part = wanting(tmp_path, rows, [{"statistic": "tie_rate", "bar": 0.2}])
    text = replace(own_part, statuses=table_of("statuses", lost(6)))
    assert outcomes_of(text) == {(ASPECTS[0], "pooled"): wanted}


@pytest.mark.heavy
def test_of_a_share_the_lost_ones_count_against_the_verdict(tmp_path: Path) -> None:
    for lo, bar, wanted in (
        (0.9, 0.8, ["meets"]),
        (0.85, 0.8, ["cannot_tell", "lost"]),
    ):
        rows = [row(0.95, lo, 0.98, statistic="accuracy_comparison", level="pooled")]
        own_part = wanting(
            tmp_path, rows, [{"statistic": "accuracy_comparison", "bar": bar}]
        )
        text = replace(own_part, statuses=table_of("statuses", lost(6)))
        assert outcomes_of(text) == {(ASPECTS[0], "pooled"): wanted}


def test_of_complete_counts_the_number_decides(tmp_path: Path) -> None:
    rows = [
        row(0.99, 0, 0, statistic="coverage", level="")
        | {"ci_low": None, "ci_high": None}
    ]
    for bar, wanted in ((0.99, ["meets"]), (0.995, ["misses"])):
        own_part = wanting(tmp_path, rows, [{"statistic": "coverage", "bar": bar}])
        assert outcomes_of(own_part) == {(ASPECTS[0], ""): wanted}
    rows = [{**rows[0], "statistic": "accuracy_comparison"}]
    own_part = wanting(
        tmp_path, rows, [{"statistic": "accuracy_comparison", "bar": 0.5}]
    )
    assert outcomes_of(own_part) == {(ASPECTS[0], ""): ["cannot_tell", "no_interval"]}


def test_the_terminal_lists_who_meets_each_bar(tmp_path: Path) -> None:
    rows = [row(0.6, 0.5, 0.7), row(0.3, 0.2, 0.4, aspect=ASPECTS[1])]
    own_part = wanting(tmp_path, rows, [{"statistic": "spearman", "bar": 0.5}])
    result = list(verdict_rows(own_part, verdicts.bar_claims(own_part)))
    path = tmp_path / "tables" / "verdicts.parquet"
    path.parent.mkdir()
    write_table("results", table_of("results", result), str(path))
    lines = summary(tmp_path, []).splitlines()
    for aspect, outcome in ((ASPECTS[0], "met: j"), (ASPECTS[1], "missed: j")):
        [line] = [line for line in lines if f"on {aspect}" in line]
        assert "spearman by_source at least 0.5" in line and line.endswith(outcome)


def card(require: dict[str, Any]) -> Study:
    return Study(
        study="s", datasets=["d"], judges=["j"], methods=["agreement"], require=require
    )


@pytest.mark.parametrize(
    ("require", "got", "nearest"),
    [
        ({"spearmann": 0.5}, "spearmann", "spearman"),
        ({"p_wilcoxon": 0.5}, "p_wilcoxon", None),
        ({"specificity": 0.5}, "specificity", None),
        ({"spearman.by_sources": 0.5}, "by_sources", "by_source"),
        ({"spearman.within_source": 0.5}, "within_source", None),
        ({"normal_scores.by_source": 0.5}, "by_source", "within_source"),
        ({"spearman": {"coherense": 0.5}}, "coherense", "coherence"),
        ({"tnr": 80}, 80, None),
        ({"spearman": {"coherence": -2}}, -2, None),
    ],
)
def test_what_no_study_computes_is_refused(
    require: dict[str, Any], got: object, nearest: str | None
) -> None:
    with pytest.raises(UserError) as error:
        check_bars(card(require), ["coherence", "fluency"], "config.yaml")
    assert error.value.got == got and "require" in error.value.where
    if nearest:
        assert error.value.nearest() == nearest


def test_bars_may_be_by_aspect_and_at_a_level() -> None:
    require = {
        "spearman.pooled": {"coherence": 0.5},
        "kappa_linear": 0.4,
        "flip_rate": 0.1,
    }
    check_bars(card(require), ["coherence"], "config.yaml")
    study = {
        "study": "s",
        "datasets": ["demo-news"],
        "judges": ["rules"],
        "methods": ["agreement"],
    }
    plan = load_plan(study | {"require": require}, HOME, source="study.yaml")
    required = results.statistics(plan, "verdicts", "demo-news").required
    assert (
        required
        and "results/s/statistics/agreement/demo-news.parquet" in required.parts
    )
    assert required.bars[0] == Bar(
        statistic="spearman", level="pooled", aspect="coherence", bar=0.5
    )
    with pytest.raises(ValueError, match="require"):
        card({"spearman": float("nan")})
    plan = load_plan(study, HOME, source="study.yaml")
    assert results.statistics(plan, "verdicts", "demo-news").required is None


def test_false_alarms_at_the_bar_itself() -> None:
    rng = np.random.default_rng(5)
    collected = [
        on_bar(share(x / 60, 60), 0.8) for x in rng.binomial(60, 0.8, 1000).tolist()
    ]
    assert (
        max(collected.count(MEETS), collected.count(MISSES))
        <= 25 + 2 * (1000 * 0.025 * 0.975) ** 0.5
    )
