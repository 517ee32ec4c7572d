"""What holds of the statistics as a whole: threads, the order of things, and honest
intervals.
"""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import running
from judgescope.statistics.coefficients import Coefficient
from judgescope.statistics.correlation import (
    COEFFICIENTS,
    LEVELS,
    CorrelationLevel,
    correlations,
)
from judgescope.statistics.intervals import deletions

PRINTED = """
import sys
import numpy as np
from judgescope.statistics.accuracy import acc_eq
from judgescope.statistics.correlation import correlations
from judgescope.statistics.classes import on_classes
from judgescope.statistics.permutation import flips_of, permutation_tests
from judgescope.statistics.intervals import deletions
from judgescope.statistics.resampling import source_weights
from judgescope.statistics.accuracy import soft_pairwise_accuracy

rng = np.random.default_rng(5)
source, system = (v.ravel() for v in np.indices((60, 16)))
weights, drawn = deletions(60), source_weights(np.random.default_rng(6), 60)
for discrete in (True, False):
    truth = rng.normal(3, 1, source.size)
    x, z, y = (truth + rng.normal(0, spread, source.size) for spread in (1, 0.8, 0.6))
    if discrete:
        x, z, y = (np.clip(np.round(v), 1, 5) for v in (x, z, y))
        for one in on_classes(y, x, [1, 2, 3, 4, 5], source, weights).values():
            sys.stdout.write(one.rows.tobytes().hex())
    for one in correlations(x, y, source, system, weights=weights).values():
        sys.stdout.write(one.rows.tobytes().hex() + repr(one.estimate))
    for one in correlations(x, y, source, system, weights=drawn).values():  # for ranks
        sys.stdout.write(one.rows.tobytes().hex())
    sys.stdout.write(acc_eq(x, y, source, weights=weights)[0].rows.tobytes().hex())
    soft = soft_pairwise_accuracy(x, y, source, system, weights=weights)
    sys.stdout.write(soft.rows.tobytes().hex())
    for level in ("pooled", "by_source", "by_system"):
        flips = flips_of(np.random.default_rng(1), 60)
        told = permutation_tests(x, z, y, source, system, flips, level=level)
        sys.stdout.write(repr(told))
"""


@pytest.mark.heavy
def test_the_number_of_threads_changes_no_bit() -> None:
    stdouts = {
        subprocess.run(
            [sys.executable, "-c", PRINTED],
            env=running.environment()
            | {
                f"{name}_NUM_THREADS": str(threads)
                for name in ("OMP", "OPENBLAS", "MKL")
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in (1, 2, 4)
    }
    assert len(stdouts) == 1 and len(stdouts.pop()) > 100_000


# --- intervals ---


def ratings(
    rng: np.random.Generator, sources: int, *, ceiling: bool, systems: int = 6
) -> Any:
    """Return a judge's and people's ratings 1 to 5: 60 % of people's fall on one
    value.
    """
    source = rng.normal(0, 0.5, (sources, 1))
    truth = source + rng.normal(0, 0.8, (sources, systems))
    people = np.clip(
        np.round(4 + 0.75 * (truth + rng.normal(0, 0.4, truth.shape))), 1, 5
    )
    noise = 0.1 if ceiling else 1.0
    judge = np.clip(
        np.round(4 + 0.75 * (truth + rng.normal(0, 0.4 + noise, truth.shape))), 1, 5
    )
    return judge.ravel(), people.ravel()


def covered(
    sources: int,
    level: CorrelationLevel,
    *,
    ceiling: bool = False,
    studies: int = 400,
    systems: int = 6,
) -> dict[str, float]:
    """Return how often the interval of a study holds the value of the population."""
    rng = np.random.default_rng(17)
    location = np.indices((20_000, systems))
    x, y = ratings(rng, 20_000, ceiling=ceiling, systems=systems)
    result = correlations(
        x, y, location[0].ravel(), location[1].ravel(), weights=None, levels=[level]
    )
    hits = dict.fromkeys(COEFFICIENTS, 0)
    source, system = (v.ravel() for v in np.indices((sources, systems)))
    for _ in range(studies):
        x, y = ratings(rng, sources, ceiling=ceiling, systems=systems)
        weights = deletions(sources)
        observed = correlations(x, y, source, system, weights=weights, levels=[level])
        for name in COEFFICIENTS:
            truth, estimate = (
                result[name, level].estimate.value,
                observed[name, level].estimate,
            )
            assert (
                truth is not None
                and estimate.ci_low is not None
                and estimate.ci_high is not None
            )
            hits[name] += estimate.ci_low <= truth <= estimate.ci_high
    return {name: count / studies for name, count in hits.items()}


def test_60_percent_of_peoples_ratings_are_tied() -> None:
    _, y = ratings(np.random.default_rng(0), 2000, ceiling=False)
    maximum = np.unique(y, return_counts=True)[1].max() / y.size
    assert 0.4 < maximum < 0.7


@pytest.mark.simulation
@pytest.mark.parametrize("ceiling", [False, True])
@pytest.mark.parametrize("level", ["pooled", "by_source"])
def test_intervals_hold_the_truth_95_times_of_100(
    level: CorrelationLevel, ceiling: bool
) -> None:
    """At 100 sources, also near the ceiling: within three points of 95 %."""
    for name, share in covered(100, level, ceiling=ceiling).items():
        assert share == pytest.approx(0.95, abs=0.03), name


@pytest.mark.simulation
@pytest.mark.parametrize(("level", "systems"), [("by_source", 16), ("pooled", 6)])
def test_with_12_sources_intervals_still_hold(
    level: CorrelationLevel, systems: int
) -> None:
    """Percentiles of resamples held .86 to .95 of pooled correlations here."""
    for name, share in covered(12, level, systems=systems).items():
        assert share == pytest.approx(0.95, abs=0.03), name


# --- the order of things ---


@pytest.mark.parametrize("level", LEVELS)
def test_names_and_order_of_targets_sources_and_systems_change_nothing(
    level: CorrelationLevel,
) -> None:
    rng = np.random.default_rng(9)
    source, system = (v.ravel() for v in np.indices((40, 7)))
    y = rng.integers(1, 6, 280).astype(float)
    x = np.clip(y + rng.integers(-1, 2, 280).astype(float), 1.0, 5.0)
    weights = deletions(40)
    result = correlations(x, y, source, system, weights=weights, levels=[level])
    renamed, moved = rng.permutation(40), rng.permutation(280)
    names = (renamed[source][moved], rng.permutation(7)[system][moved])
    again = correlations(x[moved], y[moved], *names, weights=weights, levels=[level])
    for name, number in result.items():
        rows = np.append(again[name].rows[0], again[name].rows[1:][renamed])
        assert rows == pytest.approx(number.rows, abs=1e-12)
        for end in ("ci_low", "ci_high"):
            first, second = (
                getattr(each.estimate, end) for each in (again[name], number)
            )
            assert first == pytest.approx(second, abs=1e-10)
        assert again[name].estimate.value == pytest.approx(
            number.estimate.value, abs=1e-12
        )


@pytest.mark.parametrize("level", LEVELS)
def test_rescaling_and_doubled_sources_change_nothing(level: CorrelationLevel) -> None:
    rng = np.random.default_rng(10)
    source, system = (v.ravel() for v in np.indices((30, 6)))
    y = rng.integers(1, 6, 180).astype(float)
    x = np.clip(y + rng.integers(-1, 2, 180).astype(float), 1.0, 5.0)
    result = correlations(x, y, source, system, weights=None, levels=[level])
    linear = correlations(
        7 * x - 3, y / 5, source, system, weights=None, levels=[level]
    )
    places = (np.append(source, source + 30), np.append(system, system))
    twice = correlations(
        np.append(x, x), np.append(y, y), *places, weights=None, levels=[level]
    )
    for name, number in result.items():
        assert linear[name].estimate.value == pytest.approx(
            number.estimate.value, abs=1e-12
        )
        assert twice[name].estimate.value == pytest.approx(
            number.estimate.value, abs=1e-12
        )
    if level == "by_system":
        return  # means of monotone functions are other means
    bent = correlations(np.exp(x), y**3, source, system, weights=None, levels=[level])
    ranked: list[Coefficient] = ["spearman", "kendall_b"]
    for statistic in ranked:
        value = result[statistic, level].estimate.value
        assert bent[statistic, level].estimate.value == value
