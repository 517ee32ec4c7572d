"""What to buy: is the winner's curse out of the numbers, and when does a judge add?

    python benchmarks/buying.py                  # 1,000 studies a world, some minutes
    python benchmarks/buying.py --studies 20

Judges are r·t + √(1 − r²)·noise of a quality t that people know, with texts of four
systems a source. Six judges of one family are equally good and cost 1 to 6 dollars: all
that one seems to add is luck. Two judges of different families have independent errors:
their jury has the correlation 2r/√(2 + 2r²).
"""

import argparse
import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.methods.claims.base import CORRELATION_GAP, less
from judgescope.statistics.frontier import (
    Advice,
    Choice,
    Offers,
    choices,
    correlation_of,
    products_of,
)
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.within_sources import normal_scores, within_sources

Floats = NDArray[np.float64]
TEXTS = 4
SEED = 20261130


class World(NamedTuple):
    """Judges of a simulated study: sources, how many, and their correlation with
    people.
    """

    sources: int
    judges: int
    r: float
    jury: bool = False
    """Whether the mean of all judges is a candidate, too."""

    @property
    def jury_r(self) -> float:
        """The correlation of the jury of two judges with independent errors."""
        return 2 * self.r / sqrt(2 + 2 * self.r**2)


WORLDS = {
    "80 texts": World(20, 6, 0.6),
    "320 texts": World(80, 6, 0.6),
    "jury of two": World(100, 2, 0.5, jury=True),
}


def study_of(world: World, rng: np.random.Generator) -> list[Choice]:
    """Return the choices of one simulated study; the winner at the highest budget
    last.
    """
    n = world.sources * TEXTS
    source = np.repeat(np.arange(world.sources), TEXTS)
    people = rng.normal(size=n)
    noise = rng.normal(size=(world.judges, n))
    scores = [*(world.r * people + sqrt(1 - world.r**2) * noise)]
    price = [*range(1, world.judges + 1)]
    if world.jury:
        scores.append(np.mean([normal_scores(each) for each in scores], axis=0))
        price.append(sum(price))
    sums = [products_of(each, people, source, world.sources) for each in scores]
    offers = Offers(
        np.array(price, np.float64), np.stack(sums)[:, :, None], correlation_of
    )

    def number(candidate: int, kept: NDArray[np.bool_]) -> Replicated:
        """Return a candidate's correlation within sources, on some of them."""
        values = np.where(kept[source], scores[candidate], np.nan)
        return within_sources(values, people, source, world.sources)

    def gain(one: int, other: int, kept: NDArray[np.bool_]) -> Replicated:
        """Return what one candidate adds to another one, on some of the sources."""
        return less(number(one, kept), number(other, kept), CORRELATION_GAP)

    return choices(offers, number, gain, rng)


class Found(NamedTuple):
    """What the studies of a world say, as means and shares."""

    apparent: float
    """Value of the winner at the highest budget, minus the truth."""
    nested: float
    error: float
    """The standard error of `nested`."""
    adds: float
    """Share of studies in which some price adds."""
    refused: float
    """Share in which the highest price is not to be bought."""
    gain: float
    """Mean gain at the highest budget, where one is measured."""
    gain_error: float


def found(world: World, studies: int, truth: float, seed: int = SEED) -> Found:
    """Return what so many studies of a world find; truth: the best candidate's r."""
    apparent = np.empty(studies)
    nested = np.empty(studies)
    adds = np.zeros(studies, dtype=bool)
    refused = np.zeros(studies, dtype=bool)
    gains = list[float]()
    for study in range(studies):
        made = study_of(world, np.random.default_rng([seed, study]))
        last = made[-1]
        apparent[study] = last.value - truth
        nested[study] = last.nested - truth
        adds[study] = any(each.advice is Advice.ADDS for each in made)
        refused[study] = last.advice in (Advice.DO_NOT_BUY, Advice.CHEAPEST)
        if last.gain is not None and last.gain.estimate.value is not None:
            gains.append(last.gain.estimate.value)
    return Found(
        float(apparent.mean()),
        float(nested.mean()),
        float(nested.std()) / sqrt(studies),
        float(adds.mean()),
        float(refused.mean()),
        float(np.mean(gains)),
        float(np.std(gains)) / sqrt(len(gains)),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what each world finds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=1000)
    studies = parser.parse_args(arguments).studies
    print(f"{studies} studies a world, seed {SEED}")
    for name, world in WORLDS.items():
        truth = world.jury_r if world.jury else world.r
        result = found(world, studies, truth)
        print(
            f"{name}: apparent {result.apparent:+.3f}, nested {result.nested:+.3f} "
            f"(SE {result.error:.3f}), adds in {result.adds:.3f}, not to be bought in "
            f"{result.refused:.3f}, gain {result.gain:+.3f} (SE "
            f"{result.gain_error:.3f})"
        )
        if world.jury:
            print(f"  in theory the jury adds {truth - world.r:+.3f}")


if __name__ == "__main__":
    main()
