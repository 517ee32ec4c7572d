"""False alarms and power of the rules behind verdicts, simulated through the code that
makes them.

    python benchmarks/verdicts.py    # 1,000 studies per rule, some minutes
    python benchmarks/verdicts.py --studies 20 chance length

A world draws people's ratings and a judge, of which the claim is true or not. A rule
keeps its level where it is claimed in at most .025 + 2 SE of the studies in which it is
not true.
"""

import argparse
import math
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from effects import RULES as EFFECTS
from effects import Rule
from reasons import RULES as REASONS

from judgescope.methods.claims.agreement import RatedTargets
from judgescope.methods.claims.base import CHANCE, LOST, SYSTEMS, at_the_worst_end
from judgescope.methods.claims.classified import Classified
from judgescope.methods.claims.ordered import Ordered, Preferences
from judgescope.methods.claims.systems import SystemPreference
from judgescope.methods.measures import level_of
from judgescope.statistics.arrays import Codes
from judgescope.statistics.order import ordered_pairs
from judgescope.statistics.systems import p_moved
from judgescope.statistics.verdict import LEVEL, Evidence, Outcome, verdicts

Floats = NDArray[np.float64]
SEED = 20261123
SOURCES, TEXTS = 24, 5
SOURCE = np.repeat(np.arange(SOURCES), TEXTS)
SYSTEM = np.tile(np.arange(TEXTS), SOURCES)
FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]
CLAIMED = {
    Outcome.BETTER,
    Outcome.AS_RATER,
    Outcome.NOTICED,
    Outcome.WITHSTANDS,
    Outcome.MEETS,
}


def points(values: Floats) -> Floats:
    """Return the values as ratings 1 to 5."""
    return np.clip(np.round(3 + values), 1, 5)


def field(y: Floats, lengths: Floats, seed: int) -> RatedTargets:
    """Return what agreement is measured against: one rater, (texts,)."""
    order = {str(s): s for s in range(SOURCES)}
    spec = SimpleNamespace(seed=seed, anonymous_systems=False, gold_rule="auto")
    study: Any = SimpleNamespace(item_order=order, spec=spec, dataset="simulated")
    panel: Any = SimpleNamespace(
        study=study,
        ratings=lambda _: y[None, :],
        source=SOURCE,
        system=SYSTEM,
        systems=[f"s{code}" for code in SYSTEM],
        lengths=lengths,
        has_lengths=True,
        length_untested="",
    )
    return RatedTargets(panel, "aspect", level_of(y, y, SOURCE, SOURCES))


def agrees(
    x: Floats, y: Floats, lengths: Floats, seed: int, *, systems: bool = False
) -> Mapping[str, float]:
    """Return the nulls of a claim of agreement, with lost judgments (NaN) at the worst
    end.
    """
    texts = field(y, lengths, seed)
    nulls = dict(texts.nulls(x, texts.number(x)).p)
    if systems:
        nulls[SYSTEMS] = texts.p_systems(x, texts.preference.drawn)
    if np.isnan(x).any():
        worst = at_the_worst_end(x, texts.gold, SOURCE)
        nulls[LOST] = texts.nulls(worst, texts.number(worst)).largest
    return nulls


def claimed(*family: Mapping[str, float]) -> bool:
    """Return whether any claim of one judge and kind is made."""
    told = verdicts([Evidence(nulls) for nulls in family])
    return any(one.outcome in CLAIMED for one in told)


def _normal(rng: np.random.Generator, *size: int) -> Floats:
    return rng.normal(size=size or (SOURCE.size,))


def chance(rng: np.random.Generator) -> bool:
    """A judge that says anything, length that tells nothing."""
    return claimed(agrees(points(_normal(rng)), points(_normal(rng)), _normal(rng), 1))


def four_aspects(rng: np.random.Generator) -> bool:
    """The same on four aspects: any claim is a false alarm."""
    lengths = _normal(rng)
    family = [
        agrees(points(_normal(rng)), points(_normal(rng)), lengths, 1) for _ in range(4)
    ]
    return claimed(*family)


def length(rng: np.random.Generator) -> bool:
    """A judge that agrees with people as well as length does, by another part of what
    they see.
    """
    part, long = _normal(rng, 2, SOURCE.size)
    return claimed(agrees(part, points(part + long + 0.7 * _normal(rng)), long, 1))


def brevity(rng: np.random.Generator) -> bool:
    """A judge that agrees as well as minus the length does."""
    part, long = _normal(rng, 2, SOURCE.size)
    return claimed(agrees(part, points(part - long + 0.7 * _normal(rng)), long, 1))


def only_brevity(rng: np.random.Generator) -> bool:
    """A judge that is minus the length, where people like short texts."""
    long = _normal(rng)
    return claimed(agrees(-long, points(-long + 0.7 * _normal(rng)), long, 1))


def tastes(rng: np.random.Generator) -> bool:
    """A judge with fixed tastes for systems, which differ in quality, too."""
    quality, taste = _normal(rng, 2, TEXTS)
    x = taste[SYSTEM] + 0.7 * _normal(rng)
    return claimed(
        agrees(
            x,
            points(quality[SYSTEM] + 0.7 * _normal(rng)),
            _normal(rng),
            1,
            systems=True,
        )
    )


def tastes_order(rng: np.random.Generator) -> bool:
    """The same, ordering the texts of a source."""
    quality, taste = _normal(rng, 2, TEXTS)
    x, y = (
        taste[SYSTEM] + 0.7 * _normal(rng),
        points(quality[SYSTEM] + 0.7 * _normal(rng)),
    )
    pairs = ordered_pairs(SOURCE, -y.astype(np.int64))
    better, worse, source = pairs.better, pairs.worse, SOURCE[pairs.better]
    lengths = _normal(rng)
    ordered = Ordered(
        x[better], x[worse], lengths[better], lengths[worse], source, SOURCES
    )
    votes = Preferences.of_scores(x, SOURCE, better, worse)
    nulls = ordered.nulls()[1].p
    return claimed({**nulls, SYSTEMS: _p_of_tastes(votes.moved)})


def tastes_rating(rng: np.random.Generator) -> bool:
    """The same, finding people's rating."""
    quality, taste = _normal(rng, 2, TEXTS)
    mine, gold = (points(one[SYSTEM] + 0.7 * _normal(rng)) for one in (taste, quality))
    texts = Classified(gold, mine, _normal(rng), SOURCE, FIVE, SOURCES, rng)
    moved = partial(texts.moved, mine, np.arange(SOURCE.size))
    return claimed({**texts.nulls()[1].p, SYSTEMS: _p_of_tastes(moved)})


def _p_of_tastes(moved: Callable[[Codes], Floats]) -> float:
    """Return p of a number whose columns (systems) are permuted."""
    spec = SimpleNamespace(seed=1, anonymous_systems=False)
    study: Any = SimpleNamespace(spec=spec, dataset="simulated")
    preference = SystemPreference(study, SOURCE, SYSTEM)
    columns = preference.blocks.column
    return p_moved(moved, SOURCE, columns, preference.drawn)


def only_source(rng: np.random.Generator) -> bool:
    """A judge of the right rating that knows the source alone: its kappa is above 0."""
    level = _normal(rng, SOURCES)[SOURCE]
    gold, mine = points(level + 0.7 * _normal(rng)), points(level + 0.7 * _normal(rng))
    return claimed(_rates(gold, mine, rng))


def any_rating(rng: np.random.Generator) -> bool:
    """A judge that gives any rating."""
    return claimed(_rates(points(_normal(rng)), points(_normal(rng)), rng))


def any_order(rng: np.random.Generator) -> bool:
    """A judge that orders texts at random, half of its pairs tied."""
    return claimed(_orders(np.zeros(SOURCE.size), rng))


def lost_errors(rng: np.random.Generator) -> bool:
    """A judge without a clue that loses the 15 % of its judgments that are most
    wrong.
    """
    x, y = points(_normal(rng)), points(_normal(rng))
    wrong = -(x - x.mean()) * (y - y.mean()) + 1e-3 * _normal(rng)
    x[np.argsort(wrong)[-round(0.15 * x.size) :]] = np.nan
    return claimed(agrees(x, y, _normal(rng), 1))


def _rates(gold: Floats, mine: Floats, rng: np.random.Generator) -> Mapping[str, float]:
    return Classified(gold, mine, _normal(rng), SOURCE, FIVE, SOURCES, rng).nulls()[1].p


def _orders(shift: Floats, rng: np.random.Generator) -> Mapping[str, float]:
    """Return the nulls of half credit where the better text has `shift` more."""
    gap = np.round(0.8 * _normal(rng) + shift)
    first, second = _normal(rng, 2, SOURCE.size)
    return Ordered(gap, np.zeros(gap.size), first, second, SOURCE, SOURCES).nulls()[1].p


def agreement_04(rng: np.random.Generator) -> bool:
    """A judge whose correlation with people's ratings is about .4 within sources."""
    x, y = _related(rng)
    return claimed(agrees(x, y, _normal(rng), 1))


def agreement_04_chance(rng: np.random.Generator) -> bool:
    """The same, held against chance alone: what beating both lengths costs."""
    x, y = _related(rng)
    return claimed({CHANCE: agrees(x, y, _normal(rng), 1)[CHANCE]})


def best_length(rng: np.random.Generator) -> bool:
    """A judge that likes a middling length, as people do beside what they read."""
    long = _normal(rng)
    curve = -np.abs(long)
    return claimed(agrees(curve, points(curve + 0.7 * _normal(rng)), long, 1))


def best_length_noisy(rng: np.random.Generator) -> bool:
    """The same judge with noise of .7 SD."""
    long = _normal(rng)
    curve = -np.abs(long) / 0.6
    x = curve + 0.7 * _normal(rng)
    return claimed(agrees(x, points(curve + 0.7 * _normal(rng)), long, 1))


def rated_at_the_top(rng: np.random.Generator) -> bool:
    """A judge that says anything; 95 % of the ratings are the highest."""
    people = np.where(rng.random(SOURCE.size) < 0.95, 5.0, 4.0)
    return claimed(agrees(_normal(rng), people, _normal(rng), 1))


def despite_length(rng: np.random.Generator) -> bool:
    """A judge that reads what people read, where both like a middling length."""
    long, quality = _normal(rng), _normal(rng)
    shared = quality - np.abs(long)
    x, y = (points(shared + 0.5 * _normal(rng)) for _ in range(2))
    return claimed(agrees(x, y, long, 1))


def _related(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return a judge and people: Spearman .40 within sources, .43 pooled."""
    quality = _normal(rng)
    x, y = (points(quality + 1.05 * _normal(rng)) for _ in range(2))
    return x, y


def agreement_04_systems(rng: np.random.Generator) -> bool:
    """The same, its texts of five systems whose quality differs, held against tastes as
    well.
    """
    quality = _normal(rng, TEXTS)[SYSTEM] + _normal(rng)
    x, y = (points((quality + 1.6 * _normal(rng)) / 1.4) for _ in range(2))
    return claimed(agrees(x, y, _normal(rng), 1, systems=True))


def order_70(rng: np.random.Generator) -> bool:
    """A judge whose half credit is about .7."""
    return claimed(_orders(np.full(SOURCE.size, 0.45), rng))


RULES: dict[str, Rule] = {
    **EFFECTS,
    **REASONS,
    **{
        one.__name__: Rule(one, true=False)
        for one in (
            *(chance, four_aspects, length, brevity, only_brevity),
            *(tastes, tastes_order, tastes_rating),
            *(any_rating, only_source, any_order, lost_errors),
            *(best_length, best_length_noisy, rated_at_the_top),
        )
    },
    **{
        one.__name__: Rule(one, true=True)
        for one in (
            *(agreement_04, agreement_04_chance, agreement_04_systems, order_70),
            despite_length,
        )
    },
}


def simulated(name: str, studies: int) -> float:
    """Return the share of studies in which the claim is made."""
    made = 0
    for at in range(studies):
        made += bool(
            RULES[name].world(np.random.default_rng([SEED, at, *name.encode()]))
        )
    return made / studies


def most(studies: int, level: float = LEVEL) -> float:
    """Return the largest share of false alarms: the rule's level + 2 SE."""
    return level + 2 * math.sqrt(level * (1 - level) / studies)


def table(names: list[str], studies: int) -> list[str]:
    """Return a Markdown table, a line per rule."""
    lines = ["| world | claimed in | at most / what it is |", "|---|---|---|"]
    for name in names:
        rule, share = RULES[name], simulated(name, studies)
        bound = "power" if rule.true else f"{most(studies, rule.level):.3f}"
        what = " ".join((rule.world.__doc__ or "").split())
        lines.append(f"| {name.replace('_', ' ')}: {what} | {share:.3f} | {bound} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rules", nargs="*", help=f"of {', '.join(RULES)}; default: all")
    parser.add_argument("--studies", type=int, default=1000, help="default: 1,000")
    args = parser.parse_args()
    table(args.rules or list(RULES), args.studies)


if __name__ == "__main__":
    main()
