"""How often a part of the texts is named as the judge's worse one, rightly and in vain.

    python benchmarks/slices.py [studies]

800 texts, one of each source, or 200 sources of 4 texts; five columns of four values.
Without a difference no slice may be named; then the judge's balanced accuracy is lower
in one slice of 200 texts (its scores follow people less). The list of doubted labels:
5 % of the labels of 700 texts are flipped; judges of different families with an
accuracy of .9 or .85 err together (latent normal errors, correlation .3). Listed are at
most 20 texts on which most judges contradict people: which share of flipped labels is
found, and which share of listed texts is right in vain.
"""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.statistics.doubt import agree_against, label_doubts
from judgescope.statistics.intervals import PLAIN, deletions
from judgescope.statistics.labels import on_labels
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.slices import SliceNumbers, against_rest, family, worst_slice
from judgescope.statistics.within_sources import within_sources

STUDIES = 400
TEXTS = 800
LABELLED = 700
COLUMNS = 5
VALUES = 4
SEED = 20261201
KINDS = ("labels", "scores")


def _number(cases: Any, judged: Any, people: Any, source: Any, kind: str) -> Replicated:
    values = np.where(cases, judged, np.nan)
    n_sources = int(source.max()) + 1
    if kind == "scores":
        return within_sources(values, people, source, n_sources)
    weights = deletions(n_sources)
    return on_labels(people, values, 2, source, weights)["balanced_accuracy"]


def study(rng: np.random.Generator, kind: str, lower: float) -> str | None:
    """Return the slice that one study names as the worst, None if it names none.

    The first slice is worse by `lower`, of labels a difference in balanced accuracy, of
    scores the share of its sources on which the judge guesses.
    """
    per_source = 4 if kind == "scores" else 1
    n_sources = TEXTS // per_source
    source = np.repeat(np.arange(n_sources), per_source)
    codes = rng.integers(0, VALUES, (COLUMNS, n_sources))
    codes[0] = np.arange(n_sources) % VALUES
    worse = codes[0][source] == 0
    if kind == "labels":
        people = (rng.random(TEXTS) < 0.5).astype(float)
        right = rng.random(TEXTS) < np.where(worse, 0.85 - lower, 0.85)
        judged = np.where(right, people, 1 - people)
    else:
        people = rng.normal(size=TEXTS)
        judged = people + rng.normal(size=TEXTS)
        guessed = worse & (rng.random(n_sources) < lower)[source]
        judged = np.where(guessed, rng.normal(size=TEXTS) * np.sqrt(2), judged)
    number = partial(_number, judged=judged, people=people, source=source, kind=kind)
    found: dict[str, SliceNumbers] = {}
    for column, values in enumerate(codes):
        members = {f"{column}.{code}": values[source] == code for code in range(VALUES)}
        found |= against_rest(members, number, lambda cases: "", PLAIN)
    numbers = [*found.values()]
    made = family(numbers, [kind] * len(numbers))
    gaps = [_gap(each) for each in numbers]
    worst = worst_slice(np.array(gaps), made.p_holm)
    return None if worst is None else [*found][worst]


def _gap(numbers: SliceNumbers) -> float:
    value = numbers.gap.estimate.value if numbers.gap else None
    return float("nan") if value is None else value


def named(kind: str, lower: float, studies: int) -> tuple[float, float]:
    """Return the shares of studies that name the first slice, and any other one."""
    rng = np.random.default_rng(SEED)
    found = [study(rng, kind, lower) for _ in range(studies)]
    first = sum(name == "0.0" for name in found)
    others = sum(name not in (None, "0.0") for name in found)
    return first / studies, others / studies


def listed(accuracy: float, judges: int, studies: int) -> tuple[float, float, float]:
    """Return the share of flipped labels that are listed, the share of listed labels
    that are right, and how many are listed.
    """
    rng = np.random.default_rng(SEED)
    n = LABELLED
    families = [f"family {number}" for number in range(judges)]
    most_listed = 20
    flips = hits = total = 0
    for _ in range(studies):
        truth = (rng.random(n) < 0.5).astype(float)
        flipped = rng.random(n) < 0.05
        people = np.where(flipped, 1 - truth, truth)
        shared = np.sqrt(0.3) * rng.normal(size=n)
        own = np.sqrt(0.7) * rng.normal(size=(judges, n))
        wrong = shared + own < NormalDist().inv_cdf(1 - accuracy)
        verdicts = np.where(wrong, 1 - truth, truth)
        made = label_doubts(verdicts, people, np.arange(n), 2)
        contradicts = verdicts == made.other
        agreed = agree_against(contradicts, np.isfinite(verdicts), families)
        size = np.where(agreed & (made.doubt > 0), made.doubt, -np.inf)
        first = np.argsort(-size, kind="stable")[:most_listed]
        chosen = first[np.isfinite(size[first])]
        flips += int(flipped.sum())
        hits += int(flipped[chosen].sum())
        total += chosen.size
    return hits / flips, 1 - hits / total, total / studies


def lines(studies: int) -> Iterator[str]:
    """Yield the lines of the two tables, in Markdown."""
    yield "| judge's numbers | lower in one slice by | named | another slice named |"
    yield "|---|---|---|---|"
    for kind in KINDS:
        for lower in (0.0, 0.1, 0.15) if kind == "labels" else (0.0, 0.5, 1.0):
            first, others = named(kind, lower, studies)
            yield f"| {kind} | {lower:g} | {first:.3f} | {others:.3f} |"
    yield ""
    yield "| judges | accuracy | flipped labels listed | listed in vain | listed |"
    yield "|---|---|---|---|---|"
    for accuracy in (0.9, 0.8):
        for judges in range(2, 7):
            found, vain, count = listed(accuracy, judges, studies)
            yield (
                f"| {judges} | {accuracy:g} | {found:.2f} | {vain:.2f} | {count:.1f} |"
            )


def main() -> None:
    """Print the tables as they grow."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES
    for line in lines(studies):
        print(line, flush=True)


if __name__ == "__main__":
    main()
