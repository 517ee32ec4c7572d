"""Planted judges that are too sure, or not sure enough: how often gap and slope say so.

The rows are those of table confidence, computed in memory from simulated labels; the
threshold is that of the same table.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from planted_worlds import SEED, JudgeSetup, answers_of, planted_spec

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from msgspec.structs import replace

from judgescope.core.names import SYSTEMS
from judgescope.core.rng import stream
from judgescope.data.planted import PlantedDesign, SimulatedTexts, simulated
from judgescope.methods.confidence import rows_of
from judgescope.methods.in_memory import in_memory
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import table_of
from judgescope.statistics.confidence import Stated
from judgescope.statistics.selective import confidence_from

LABELS = PlantedDesign("labels")
LEVEL = 0.05
ALLOWED_ERROR = 0.1
"""The share of wrong verdicts that the threshold allows."""


def confidence_rows(
    judges: Sequence[JudgeSetup], name: str, design: PlantedDesign = LABELS
) -> list[ResultRow]:
    """Return the rows of table confidence on a simulated dataset."""
    texts = simulated(design, SEED, name)
    spec = planted_spec(design, name, judges)
    facts = {
        judge: replace(card, confidence="planted")
        for judge, card in spec.judges.items()
    }
    spec = replace(spec, judges=facts, table="confidence")
    data = in_memory(spec, texts, answers_of(texts, name, judges))
    return [*rows_of(data, confidences(judges, name, texts))]


def confidences(
    judges: Sequence[JudgeSetup], name: str, texts: SimulatedTexts
) -> pa.Table:
    """Return the judgments of sure judges, as a run collects them."""
    rows = list[dict[str, Any]]()
    for setup in judges:
        judge = setup.planted(SEED, name)
        for aspect in texts.design.aspect_names:
            sure = judge.confidences(texts.texts, aspect, texts.design.raters)
            passed = texts.texts.quality[aspect] > 0
            keys = {"dataset": name, "perturbation": SYSTEMS, "judge": setup.name}
            keys |= {"aspect": aspect, "status": "ok", "confidence_source": "planted"}
            each = zip(texts.texts.targets, passed, sure.tolist(), strict=True)
            for target, verdict, chance in each:
                row = {"target": target, "draw": 0, "value": float(verdict)}
                rows.append(keys | row | {"confidence": chance})
    return table_of("confidences", rows)


def shown_of(rows: Sequence[ResultRow], judge: str) -> set[str]:
    """Return what gap and slope show about a judge, over its aspects: Holm over the
    family of all their tests.
    """
    found = {
        (row["aspect"], row["statistic"]): row["value"]
        for row in rows
        if row["judge"] == judge and not row.get("k")
    }
    aspects = dict.fromkeys(aspect for aspect, _ in found)
    names = set[str]()
    for aspect in aspects:
        for name, null in (("confidence_gap", 0.0), ("confidence_slope", 1.0)):
            p = found.get((aspect, f"p_{name}"))
            value = found.get((aspect, name))
            # The p of an aspect is Holm's over two; aspects are a family as well.
            if p is None or value is None or p * len(aspects) > LEVEL:
                continue
            above = value > null
            over = above if name == "confidence_gap" else not above
            names.add("over-confident" if over else "under-confident")
    return names


@cache
def judges_of(strengths: Sequence[tuple[str, float]]) -> tuple[JudgeSetup, ...]:
    """Return judges that are sure, by defect and strength."""
    return tuple(JudgeSetup(defect, strength) for defect, strength in strengths)


def sure_outcomes(
    strengths: Sequence[tuple[str, float]], studies: int, prefix: str
) -> Iterator[dict[tuple[str, float], set[str]]]:
    """Yield for each study defect and strength -> what is shown about its judge."""
    judges = judges_of(tuple(strengths))
    for number in range(studies):
        rows = confidence_rows(judges, f"{prefix}-{number}")
        outcome = {}
        for key, judge in zip(strengths, judges, strict=True):
            outcome[key] = shown_of(rows, judge.name)
        yield outcome


def broken_thresholds(draws: int) -> tuple[int, int]:
    """Return in how many draws a threshold was found, and in how many of all more than
    the allowed share of verdicts from it on is wrong in truth.

    A draw has 300 verdicts on 150 sources whose stated chance is the truth: 1 - u²/2,
    u uniform, so that the share of wrong ones from a threshold τ on is (1 - τ) / 3.
    Verdicts of one source share half of what decides whether they are right.
    """
    found = broken = 0
    for number in range(draws):
        rng = stream(SEED, "planted", "threshold", number)
        source = np.repeat(np.arange(150), 2)
        chance = 1 - 0.5 * rng.random(source.size) ** 2
        common = rng.normal(size=150)[source]
        own = rng.normal(size=source.size)
        right = _uniform((common + own) / 2**0.5) < chance
        stated = Stated.select(chance, right.astype(np.float64), source)
        threshold = confidence_from(stated, error=ALLOWED_ERROR).threshold
        if threshold is not None:
            found += 1
            broken += (1 - threshold) / 3 > ALLOWED_ERROR
    return found, broken


def _uniform(normal: Any) -> Any:
    from scipy.special import ndtr

    return ndtr(normal)
