"""Worlds for three rules of verdicts: no ceiling, worse than chance, labels by source.

Each study is a dataset in memory of 24 sources with 5 texts by 5 systems and 3 raters;
its verdicts are those of a run. `benchmarks/verdicts.py` counts in how many studies the
rule says what is not so.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from effects import Rule
from planted_checks import HELD, outcomes
from planted_worlds import JudgeSetup, planted_spec

from judgescope.data.planted import (
    PlantedDesign,
    PlantedKind,
    SimulatedTexts,
    simulated,
)
from judgescope.methods.claims.base import CHANCE, NO_CEILING, WORSE_THAN_CHANCE
from judgescope.methods.in_memory import PlantedAnswers, verdict_rows
from judgescope.statistics.arrays import Floats
from judgescope.statistics.verdict import LEVEL

JUDGE = JudgeSetup("none")
KINDS: Mapping[PlantedKind, str] = {"scores": "agreement", "labels": "labels"}
"""Kind of ratings -> the kind of claim on them."""


def texts_of(kind: PlantedKind, aspects: int = 1) -> SimulatedTexts:
    """Return 24 sources with 5 texts by 5 systems, to be rated by 3 people."""
    design = PlantedDesign(kind, sources=24, systems=5, aspects=aspects, texts=(5,))
    return simulated(design, 1, "texts")


def on_five(values: Floats) -> Floats:
    """Return values around 0 as ratings 1 to 5."""
    return np.clip(np.round(3 + values), 1, 5)


def said(
    texts: SimulatedTexts, ratings: Mapping[str, Floats], scores: Mapping[str, Floats]
) -> list[list[str]]:
    """Return the outcome and the reasons of the claim on each aspect.

    ratings: aspect -> (raters, texts); scores: aspect -> the judge's, (texts,).
    """
    design = texts.design
    spec = planted_spec(design, "simulated", [JUDGE])
    draws = {aspect: values[None, :] for aspect, values in scores.items()}
    answers = PlantedAnswers({JUDGE.name: draws})
    rows = verdict_rows(spec, replace(texts, ratings=ratings), answers)
    claims = outcomes(rows)
    form = KINDS[design.kind]
    return [claims[JUDGE.name, form, aspect] for aspect in design.aspect_names]


def _rated(rng: np.random.Generator, *, agree: bool, sign: float = 1.0) -> list[str]:
    """Return what is said of a judge beside three raters who agree, or who do not."""
    texts = texts_of("scores")
    quality = rng.normal(size=texts.lengths.size) if agree else 0.0
    people = on_five(quality + rng.normal(size=(3, texts.lengths.size)))
    # Where people have nothing in common the judge follows their mean, at about .5.
    known = sign * quality if agree else people.mean(axis=0) - 3
    judge = known + rng.normal(size=texts.lengths.size)
    [aspect] = texts.design.aspect_names
    return said(texts, {aspect: people}, {aspect: on_five(judge)})[0]


def raters_disagree(rng: np.random.Generator) -> bool:
    """Raters who have nothing in common, a judge that follows their mean: it is said
    to be as good as one of them.
    """
    return _rated(rng, agree=False)[0] == "as_rater"


def raters_agree(rng: np.random.Generator) -> bool:
    """Raters whose ratings correlate at .45, a judge that is one more of them: they are
    said not to agree.
    """
    return NO_CEILING in _rated(rng, agree=True)


def random_is_worse(rng: np.random.Generator) -> bool:
    """A judge that says anything is said to be worse than chance."""
    return _random_is_worse(rng, 1)


def random_is_worse_on_one_of_four(rng: np.random.Generator) -> bool:
    """The same on any of four aspects."""
    return _random_is_worse(rng, 4)


def _random_is_worse(rng: np.random.Generator, aspects: int) -> bool:
    texts = texts_of("scores", aspects)
    n = texts.lengths.size
    people, judge = {}, {}
    for aspect in texts.design.aspect_names:
        quality = rng.normal(size=n)
        people[aspect] = on_five(quality + rng.normal(size=(3, n)))
        judge[aspect] = on_five(rng.normal(size=n))
    return any(WORSE_THAN_CHANCE in one for one in said(texts, people, judge))


def reversed_is_worse(rng: np.random.Generator) -> bool:
    """A judge that prefers what a rater dislikes is said to be worse than chance."""
    return WORSE_THAN_CHANCE in _rated(rng, agree=True, sign=-1.0)


def _labels(rng: np.random.Generator, *, source_only: bool) -> tuple[bool, bool]:
    """Return whether a claim of labels is made, and whether chance alone is beaten."""
    texts = texts_of("labels")
    n = texts.lengths.size
    source = np.unique(texts.texts.items, return_inverse=True)[1]
    of_source = rng.normal(size=24)[source]
    quality = of_source + rng.normal(size=n)
    people = (quality + 0.7 * rng.normal(size=(3, n)) > 0).astype(np.float64)
    known = of_source if source_only else quality
    judge = (known + rng.normal(size=n) > 0).astype(np.float64)
    [aspect] = texts.design.aspect_names
    spec = planted_spec(texts.design, "simulated", [JUDGE])
    answers = PlantedAnswers({JUDGE.name: {aspect: judge[None, :]}})
    rows = verdict_rows(spec, replace(texts, ratings={aspect: people}), answers)
    words = outcomes(rows)[JUDGE.name, "labels", aspect]
    [p] = [
        row["value"]
        for row in rows
        if (row.get("form"), row["statistic"]) == ("labels", f"p_{CHANCE}")
    ]
    return words[0] in HELD, p is not None and p <= LEVEL


def labels_by_source(rng: np.random.Generator) -> bool:
    """Labels of a judge that knows only the source."""
    return _labels(rng, source_only=True)[0]


def labels_by_source_chance(rng: np.random.Generator) -> bool:
    """The same, held against chance alone: what `p_within` prevents."""
    return _labels(rng, source_only=True)[1]


def labels_of_rater(rng: np.random.Generator) -> bool:
    """Labels of a judge that reads what people read, balanced accuracy about .77."""
    return _labels(rng, source_only=False)[0]


def labels_of_rater_chance(rng: np.random.Generator) -> bool:
    """The same, held against chance alone."""
    return _labels(rng, source_only=False)[1]


RULES: dict[str, Rule] = {}
for world in (
    raters_disagree,
    raters_agree,
    random_is_worse,
    random_is_worse_on_one_of_four,
    labels_by_source,
):
    RULES[world.__name__] = Rule(world, true=False)
for world in (
    reversed_is_worse,
    labels_by_source_chance,
    labels_of_rater,
    labels_of_rater_chance,
):
    RULES[world.__name__] = Rule(world, true=True)
