"""With more than ten judges the number that decides is tested alone."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judgescope.methods import comparison
from judgescope.methods.base import ComparisonSettings
from judgescope.methods.compared_judges import MANY_JUDGES
from judgescope.plan.specs import results
from judgescope.schema.cards.study import Comparison
from judgescope.schema.rows import ResultRow
from judgescope.statistics.early_stop import Stop
from judgescope.statistics.permutation import Flips, PairedTest, flips_of, mean_test
from methods_setup import NOISE, QUALITY, points, study

ALL_STATISTICS = {
    "normal_scores",
    "pearson",
    "spearman",
    "kendall_b",
    "kappa_linear",
}
CONTROLS = ("first-control", "second-control")


def table(judges: int, **settings: Any) -> list[ResultRow]:
    """Return the rows for so many judges of growing noise, and two controls."""
    names = [f"j{number:02}" for number in range(judges)]
    scores = {}
    for number, name in enumerate((*names, *CONTROLS)):
        noise = np.roll(NOISE[number % len(NOISE)], number, axis=1)
        scores[name] = {"clear": points(QUALITY[0] + number * 0.5 * noise[0])}
    wanted = {"levels": ["pooled"], "permutations": 3000, **settings}
    return list(comparison.rows(study(scores, comparison=wanted)))


def statistics_of(rows: list[ResultRow], prefix: str = "p_") -> set[str]:
    """Return the statistics that have rows of this name."""
    names = {row["statistic"] for row in rows}
    return {name.removeprefix(prefix) for name in names if name.startswith(prefix)}


def pairs_of(rows: list[ResultRow], statistic: str) -> set[tuple[str, str | None]]:
    return {
        (row["judge"], row["judge_b"]) for row in rows if row["statistic"] == statistic
    }


def test_ten_judges_have_all_tests() -> None:
    rows = table(MANY_JUDGES)
    assert statistics_of(rows) >= ALL_STATISTICS
    assert CONTROLS in pairs_of(rows, "p_normal_scores")
    methods = {row["method"] for row in rows if row["statistic"] == "p_pearson"}
    assert methods == {"PERM-INPUTS, 3000 permutations, two-sided"}
    assert not any("more than" in row["note"] for row in rows)


def test_of_eleven_only_the_deciding_number_has_p_values_and_letters() -> None:
    rows = table(MANY_JUDGES + 1)
    p = {name for name in statistics_of(rows) if not name.startswith(("holm", "fdr"))}
    assert p == {"normal_scores"}
    assert statistics_of(rows, "difference_") == ALL_STATISTICS
    ends = [row["ci_low"] for row in rows if row["statistic"] == "difference_pearson"]
    assert ends and None not in ends
    for row in rows:
        if row["statistic"].startswith("rank_") and row["value"] is not None:
            decides = row["statistic"] == "rank_normal_scores"
            assert ("group " in row["note"]) == decides
            assert ("more than 10 judges" in row["note"]) == decides
    [method] = {row["method"] for row in rows if row["statistic"] == "p_normal_scores"}
    assert "1000 permutations, 3000 if their p is at most .05" in method


def test_controls_of_many_judges_are_compared_with_judges_alone() -> None:
    pairs = pairs_of(table(MANY_JUDGES + 1), "p_normal_scores")
    assert ("j00", "first-control") in pairs
    assert CONTROLS not in pairs


def test_a_study_that_names_statistics_has_their_tests() -> None:
    rows = table(MANY_JUDGES + 1, all_tested=True, statistics=["pearson"])
    p = {name for name in statistics_of(rows) if not name.startswith(("holm", "fdr"))}
    assert p == {"normal_scores", "pearson"}


@pytest.mark.parametrize(
    ("named", "all_tested"),
    [({}, False), ({"levels": ["pooled"]}, True), ({"statistics": []}, True)],
)
def test_the_plan_says_whether_the_study_names_statistics(
    named: dict[str, Any], all_tested: bool
) -> None:
    card = Comparison.model_validate({"wished": 0.1, **named})
    plan: Any = SimpleNamespace(study=SimpleNamespace(comparison=card))
    settings = results.PARTS["comparison"](plan, "d")["comparison"]
    assert isinstance(settings, ComparisonSettings)
    assert settings.all_tested == all_tested


def test_values_are_those_of_all_permutations_where_p_is_small() -> None:
    rng = np.random.default_rng(2)
    first = rng.normal(0.5, 1, 40)
    flips = flips_of(rng, 40, 5000)

    def run(part: Flips) -> PairedTest:
        return mean_test(first, np.zeros(40), np.arange(40), part)

    stop = Stop(after=500)
    assert stop.test(run, flips) == run(flips)
    first -= first.mean()
    assert stop.test(run, flips) == run(flips[:500])


@pytest.mark.simulation
def test_p_of_a_test_that_stops_early_is_valid() -> None:
    """P(p <= a) is at most a, here of 4,000 tests of judges that do not differ."""
    rng = np.random.default_rng(9)
    flips = flips_of(rng, 20, 400)
    stop = Stop(after=40)
    p = []
    for _ in range(4000):
        first = rng.normal(size=20)
        p.append(
            stop.test(
                lambda part, x=first: mean_test(x, np.zeros(20), np.arange(20), part),  # type: ignore[misc]
                flips,
            ).p
        )
    for level in (0.01, 0.05, 0.1, 0.5):
        share = np.mean(np.array(p) <= level + 1e-12)
        assert share <= level + 3 * np.sqrt(level * (1 - level) / len(p))
