"""Planted judges whose defect needs a prompt or a list of errors, in memory.

A judge that follows a wrong hint, one that obeys an instruction in the text, and one
that marks errors where there are none. Each reads the tables that a run would write.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from planted_checks import outcomes
from planted_worlds import SEED, JudgeSetup, facts_of, planted_spec

from judgescope.core.rng import stream
from judgescope.data.planted import PlantedDesign, SimulatedTexts, on_scale, simulated
from judgescope.methods import injection
from judgescope.methods.base import Hinted
from judgescope.methods.claims.perturbations import hint_claims
from judgescope.methods.claims.rows import verdict_rows
from judgescope.methods.claims.spans import span_claims
from judgescope.methods.in_memory import PlantedAnswers, in_memory
from judgescope.methods.score_tables import ScoreTables
from judgescope.schema.tables import table_of, write_table
from judgescope.statistics.arrays import Floats
from judgescope.statistics.bias import hint

ENDS = (1.0, 5.0)
VALUES = [1.0, 2.0, 3.0, 4.0, 5.0]
STEADY = JudgeSetup("noisy", 0.97, draws=3)
"""A judge whose replies vary a little, as those of language models do."""


def hint_outcome(strength: float, number: int, folder: Path) -> str:
    """Return the outcome of a judge that follows a wrong hint in a share of texts."""
    name = f"hints-{number}"
    texts = simulated(PlantedDesign(), SEED, name)
    plain, hinted = "plain", "hinted"
    facts = facts_of(STEADY, texts.design, VALUES, ENDS)
    judges = {
        plain: structs.replace(facts, draws=2, first_draw=True),
        hinted: structs.replace(facts, draws=1, hint="wrong"),
    }
    rows = []
    rng = stream(SEED, "planted", "hints", name, round(1000 * strength))
    for aspect, ratings in texts.ratings.items():
        draws = _steady(texts, name, aspect)
        told = np.array([hint([*each], *ENDS, "wrong") for each in ratings.T])
        follows = rng.random(told.size) < strength
        scores = np.where(follows, told, draws[2])
        for judge, draw, values in (
            (plain, 0, draws[0]),
            (plain, 1, draws[1]),
            (hinted, 0, scores),
        ):
            for at, value in enumerate(values.tolist()):
                row = {"judge": judge, "aspect": aspect, "draw": draw, "value": value}
                row |= {"target": texts.texts.targets[at], "status": "ok"}
                rows.append(row | {"hint": f"{told[at]:g}"})
    path = folder / "rationales.parquet"
    write_table("rationales", table_of("rationales", rows), path)
    spec = structs.replace(
        planted_spec(texts.design, name, []),
        judges=judges,
        hinted={hinted: Hinted(rating="wrong", baseline=plain)},
        rationales=str(path),
    )
    data = in_memory(spec, texts, PlantedAnswers())
    [words] = outcomes(verdict_rows(data, hint_claims(data))).values()
    return str(words[0])


def obeys(strength: float, number: int) -> bool:
    """Return whether a judge that obeys an instruction in a share of texts is named.

    It is where the rate of the attack exceeds that of its inert twin: the lower end of
    the difference, over all aspects, is above 0.
    """
    name, attack = f"attacks-{number}", "claim"
    design = PlantedDesign(systems=1, texts=(1,))
    texts = simulated(design, SEED, name)
    judge = "planted"
    facts = facts_of(JudgeSetup("none"), design, VALUES, ENDS)
    spec = structs.replace(
        planted_spec(design, name, []), judges={judge: facts}, attacks={attack: True}
    )
    sets = {"original": "", f"{attack}.attack": "attack", f"{attack}.inert": "inert"}
    targets, scores = [], []
    rng = stream(SEED, "planted", "attacks", name, round(1000 * strength))
    for place, (perturbation, degree) in enumerate(sets.items()):
        for item in texts.texts.items:
            row: dict[str, Any] = {"dataset": name, "item": item, "status": "ok"}
            row |= {"target": f"{item}:{perturbation}", "step": 0, "text": "words"}
            row |= {"perturbation": perturbation.partition(".")[0]}
            targets.append(row | {"degree": degree or None})
        for aspect in design.aspect_names:
            values = _steady(texts, name, aspect)[place]
            if degree == "attack":
                obeyed = rng.random(values.size) < strength
                values = np.where(obeyed, ENDS[1], values)
            for item, value in zip(texts.texts.items, values.tolist(), strict=True):
                row = {"dataset": name, "perturbation": perturbation, "judge": judge}
                row |= {"aspect": aspect, "target": f"{item}:{perturbation}"}
                scores.append(row | {"value": value})
    data = replace(
        in_memory(spec, texts, PlantedAnswers()),
        targets=table_of("targets", targets),
        scores=ScoreTables.of_table(table_of("scores", scores)),
    )
    [difference] = [
        row
        for row in injection.injection_rows(data)
        if row["statistic"] == "difference_obey_rate" and row["aspect"] == "average"
    ]
    low = difference["ci_low"]
    return low is not None and low > 0


def span_outcome(strength: float, number: int, folder: Path) -> str:
    """Return the outcome of a judge that invents a share of the errors that it marks.

    People mark two errors a text, of two words each; the judge marks as many.
    """
    name, judge, aspect = f"spans-{number}", "planted", "scores-1"
    design = PlantedDesign(aspects=1, systems=2, texts=(2,))
    texts = simulated(design, SEED, name)
    setup = JudgeSetup("none")
    data = in_memory(planted_spec(design, name, []), texts, PlantedAnswers())
    rng = stream(SEED, "planted", "spans", name, round(1000 * strength))
    gold, marked = [], []
    for target, text in zip(
        data.targets["target"].to_pylist(),
        data.targets["text"].to_pylist(),
        strict=True,
    ):
        starts = [at for at in range(len(text)) if at == 0 or text[at - 1] == " "]
        pairs = len(starts) // 2
        right = rng.choice(pairs, 2, replace=False)
        invented = rng.choice(pairs, 2, replace=False)
        spans = []
        for place, other in zip(right.tolist(), invented.tolist(), strict=True):
            start, end = _two_words(text, starts, place)
            gold.append(
                {
                    "dataset": name,
                    "target": target,
                    "start": start,
                    "end": end,
                    "category": "error",
                    "text": text[start:end],
                }
            )
            if rng.random() < strength:
                start, end = _two_words(text, starts, other)
            span = {"location": text[start:end], "match": "exact"}
            spans.append(span | {"start": start, "end": end})
        distinct = {one["start"]: one for one in spans}
        marked.append(
            {
                "dataset": name,
                "perturbation": "systems",
                "judge": judge,
                "aspect": aspect,
                "target": target,
                "draw": 0,
                "status": "ok",
                "rule": "",
                "spans": [*distinct.values()],
            }
        )
    paths = {"gold_spans": folder / "gold.parquet", "marked": folder / "marked.parquet"}
    for table, rows in (("gold_spans", gold), ("marked", marked)):
        write_table(table, table_of(table, rows), paths[table])
    spec = structs.replace(
        data.spec,
        judges={judge: facts_of(setup, design, VALUES, ENDS)},
        gold=str(paths["gold_spans"]),
        marked=str(paths["marked"]),
    )
    data = replace(data, spec=spec)
    [words] = outcomes(verdict_rows(data, span_claims(data))).values()
    return str(words[0])


def _two_words(text: str, starts: list[int], place: int) -> tuple[int, int]:
    """Return where the place-th pair of words of a text begins and ends."""
    start, second = starts[2 * place], starts[2 * place + 1]
    end = text.find(" ", second)
    return start, len(text) if end < 0 else end


def _steady(texts: SimulatedTexts, name: str, aspect: str) -> Floats:
    """Return three draws of a steady judge, (3, texts)."""
    judge = STEADY.planted(SEED, name)
    draws = [judge.points(texts.texts, aspect, draw) for draw in range(3)]
    return np.stack([on_scale(points, *ENDS, VALUES) for points in draws])
