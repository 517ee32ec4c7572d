"""Time and memory of the statistics at the size of real benchmarks, as ratios.

    python benchmarks/estimates.py

Data are made with a seed: 16 judges, 9 aspects, 100 sources x 64 systems, 10 draws,
three raters. The peer is the algorithm of nlpstats, in our own lines: a loop over
deletions that writes each out as a matrix of sources x systems and calls scipy; it is
timed on a part and scaled.
"""

import resource
import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import convert
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.methods import comparison
from judgescope.methods.base import StatisticsSpec
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.score_tables import ScoreTables
from judgescope.scoring.aggregate import scores
from judgescope.statistics.correlation import LEVELS, correlations
from judgescope.statistics.intervals import deletions
from judgescope.statistics.permutation import flips_of, kappa_test, permutation_tests

WMT = (1912, 9, 8)
"""Sources, systems and judges of WMT22 de-en's shape (Freitag et al. 2022): 17,208
texts."""
JUDGES, ASPECTS, SOURCES, SYSTEMS, DRAWS, RATERS = 16, 9, 100, 64, 10, 3
SEED = 20261121


def rating(rng: np.random.Generator, quality: Any, noise: float, times: int) -> Any:
    """Return (times, targets) of ratings 1 to 5 of a quality."""
    noisy = 3 + quality + rng.normal(0, noise, (times, quality.size))
    return np.clip(np.round(noisy), 1, 5)


def places() -> tuple[Any, Any]:
    """Return the source and the system of each target: (targets,) twice."""
    source, system = np.indices((SOURCES, SYSTEMS)).reshape(2, -1)
    return source, system


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def loop(x: Any, y: Any, weights: Any) -> None:
    """Compute the nine correlations of each deletion by writing it out."""
    tables = [v.reshape(SOURCES, SYSTEMS) for v in (x, y)]
    functions = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    for row in weights:
        a, b = (table[np.repeat(np.arange(SOURCES), row)] for table in tables)
        for function in functions:
            function(a.ravel(), b.ravel())
            function(a.mean(axis=0), b.mean(axis=0))
            for own, other in zip(a, b, strict=True):
                function(own, other)


def peak() -> float:
    """Return the most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def paired_tests(rng: np.random.Generator, means: Any, people: Any) -> None:
    """Print what the tests between all judges take; means (judges, aspects,
    targets).
    """
    flips, (source, system) = flips_of(rng, SOURCES), places()
    pairs = list(combinations(range(JUDGES), 2))[:12]

    def tests() -> None:
        for first, second in pairs:
            permutation_tests(
                means[first, 0],
                means[second, 0],
                people,
                source,
                system,
                flips,
                level="pooled",
            )
        gold = np.round(people)
        for first, second in pairs:
            one, other = (np.round(means[judge, 0]) for judge in (first, second))
            kappa_test(one, other, gold, [1, 2, 3, 4, 5], source, flips)

    all_pairs = JUDGES * (JUDGES - 1) // 2 * ASPECTS
    paired = timed(tests) * all_pairs / len(pairs)
    print(
        f"{all_pairs} paired tests x 4 statistics (three correlations, linear kappa), "
        f"pooled: {paired:.0f} s, scaled from {len(pairs)}; {paired / 45:.2f} of the "
        "45 s limit"
    )


def study_of(
    rng: np.random.Generator, sources: int, systems: int, judges: int
) -> EvaluationData:
    """Return a dataset that continuous judges score and one rater rates on 0 to 100."""
    source, system = np.indices((sources, systems)).reshape(2, -1)
    n = source.size
    quality = rng.normal(size=n) + 0.3 * rng.normal(size=systems)[system]
    ratings = np.clip(np.round(80 + 10 * (quality + rng.normal(size=n))), 0, 100)
    items = [f"item-{number:05}" for number in range(sources)]
    names = [f"judge-{number}" for number in range(judges)]
    targets = {
        "target": [
            f"{items[s]}:system-{k:02}" for s, k in zip(source, system, strict=True)
        ],
        "perturbation": ["systems"] * n,
    }
    rated = {**targets, "aspect": ["quality"] * n}
    texts = {
        **targets,
        "item": [items[s] for s in source],
        "system": [f"system-{k:02}" for k in system],
        "degree": pa.nulls(n, pa.string()),
        "text": ["x"] * n,
    }
    scores = [
        pa.table(
            {
                **rated,
                "judge": [name] * n,
                "criterion": pa.nulls(n, pa.string()),
                "estimator": pa.nulls(n, pa.string()),
                "value": 0.5 * quality + rng.normal(size=n),
            }
        )
        for name in names
    ]
    return EvaluationData(
        spec_of(names),
        pa.table({"item": items}),
        pa.table(texts),
        pa.table(
            {**rated, "target_b": [None] * n, "rater": ["a"] * n, "value": ratings}
        ),
        ScoreTables(lambda: scores),
        pa.table({}),
        pa.table({}),
        "generated",
    )


def spec_of(judges: list[str]) -> StatisticsSpec:
    """Return the spec of a comparison of judges that compute continuous scores."""
    facts = {
        **{"card": "", "engine": "lexical", "form": "bleu", "draws": 1, "share": 1.0},
        **{"prompt": None, "references": False, "family": None, "hint": None},
        **{"grid": {"quality": None}, "ends": {"quality": None}},
        **{"weighted": False, "first_draw": False, "discrete": False},
    }
    compared = {
        **{"judges": [], "levels": LEVELS, "permute": "inputs", "permutations": None},
        **{
            "statistics": ["pearson", "spearman", "kendall_b", "kappa_linear"],
            "wished": 0.05,
        },
    }
    spec = {
        **{
            "code": "",
            "versions": {},
            "table": "comparison",
            "method": "judgescope.methods.comparison:METHOD",
            "dataset": "wmt",
            "seed": SEED,
        },
        **{
            "ratings": "people",
            "fault_free_system": None,
            "excluded": [],
            "perturbed": [],
            "targets": [],
        },
        **{"allow_missing": False, "families": {}, "reference_systems": []},
        **{"exclude_reference_systems": True, "output": ""},
        "aspects": {"quality": {"values": None, "ends": [0, 100]}},
        "judges": dict.fromkeys(judges, facts),
        "comparison": compared,
    }
    return convert(spec, StatisticsSpec)


def compared(rng: np.random.Generator) -> None:
    """Print what the table of comparisons takes at the size of WMT."""
    study = study_of(rng, *WMT)
    start = time.process_time()
    spent = timed(lambda: list(comparison.rows(study)))
    used = time.process_time() - start
    print(
        f"comparison of {len(study.targets):,} texts x {WMT[2]} judges: {spent:.0f} s "
        f"({used:.0f} s of the processor), {spent / 60:.2f} of the 60 s limit; at most "
        f"{peak():,.0f} MB, {peak() / 1024:.2f} of the 1 GB limit"
    )


def main() -> None:
    """Print a line per figure."""
    rng = np.random.default_rng(SEED)
    source, system = places()
    compared(rng)  # first: the peak of memory is then its own
    cells = []
    judgments = np.empty((JUDGES, ASPECTS, source.size, DRAWS))
    for aspect in range(ASPECTS):
        quality = rng.normal(size=source.size)
        people = rating(rng, quality, 0.7, RATERS).mean(axis=0)
        for judge in range(JUDGES):
            judgments[judge, aspect] = rating(rng, 0.6 * quality, 0.8, DRAWS).T
            cells.append((judge, aspect, people))
    flat = judgments.reshape(-1, DRAWS)
    planned = np.full(len(flat), DRAWS)
    means = np.empty((JUDGES, ASPECTS, source.size))

    def aggregate() -> None:
        means.reshape(-1)[:] = scores(flat, planned, "mean")[0]

    weights = deletions(SOURCES)
    before = peak()
    print(
        f"judgments to scores, {flat.size / 1e6:.1f} M: {timed(aggregate):.2f} s "
        "(limit 1 s)"
    )

    def intervals() -> None:
        for judge, aspect, people in cells:
            correlations(means[judge, aspect], people, source, system, weights=weights)

    spent = timed(intervals)
    count = len(cells) * 3 * len(LEVELS)
    print(
        f"{count} correlations with intervals: {spent:.1f} s, {spent / 5:.2f} of the 5 "
        "s limit"
    )
    part = 5
    judge, aspect, people = cells[0]
    slow = timed(lambda: loop(means[judge, aspect], people, weights[:part]))
    scaled = slow * SOURCES / part * len(cells)
    print(
        f"the loop over deletions: {scaled:,.0f} s, scaled from {part} of one cell in "
        f"{slow:.2f} s; ratio {scaled / spent:,.0f} (target 50)"
    )
    paired_tests(rng, means, cells[0][2])
    print(
        f"peak memory: {peak():,.0f} MB, {before:,.0f} MB of it the data (limit 1,024 "
        "MB)"
    )


if __name__ == "__main__":
    main()
