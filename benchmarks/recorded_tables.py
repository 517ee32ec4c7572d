"""Datasets in memory for the benchmarks: judges whose scores of many texts are known.

One rater rates systems' texts of each source; judges score them. Half of the judges
give classes of the raters' scale, the others any number.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from msgspec import convert

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.methods.base import StatisticsSpec
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.score_tables import ScoreTables
from judgescope.schema.cards.study import Comparison

SEED = 20261121


class Shape(NamedTuple):
    """How much of everything a dataset has."""

    sources: int
    systems: int
    judges: int
    aspects: int = 1
    controls: int = 0

    @property
    def texts(self) -> int:
        """The number of texts."""
        return self.sources * self.systems

    @property
    def judge_names(self) -> list[str]:
        """The judges, then the controls."""
        judges = [f"judge-{number:02}" for number in range(self.judges)]
        return judges + [f"control-{number}" for number in range(self.controls)]

    @property
    def aspect_names(self) -> list[str]:
        """The aspects."""
        return [f"aspect-{number:02}" for number in range(self.aspects)]


def dataset(rng: np.random.Generator, shape: Shape, table: str) -> EvaluationData:
    """Return a dataset for the job of one result table."""
    source, system = np.indices((shape.sources, shape.systems)).reshape(2, -1)
    n = source.size
    items = np.char.mod("item-%07d", np.arange(shape.sources))
    systems = np.char.mod("system-%02d", np.arange(shape.systems))
    names = np.char.add(np.char.add(items[source], ":"), systems[system])
    targets = {
        "target": pa.array(names),
        "perturbation": _same("systems", n),
    }
    texts = {
        **targets,
        "item": pa.array(items[source]),
        "system": pa.array(systems[system]),
        "degree": pa.nulls(n, pa.string()),
        "text": _same("x", n),
        "length": pa.array(rng.integers(50, 500, n)),
    }
    ratings = []
    scores = []
    for aspect in shape.aspect_names:
        quality = rng.normal(size=n) + 0.3 * rng.normal(size=shape.systems)[system]
        rated = {**targets, "aspect": _same(aspect, n)}
        people = _classes(quality + rng.normal(size=n))
        rater = {"target_b": pa.nulls(n, pa.string()), "rater": _same("a", n)}
        ratings.append(pa.table({**rated, **rater, "value": people}))
        for number, judge in enumerate(shape.judge_names):
            value = 0.5 * quality + rng.normal(size=n)
            columns = {
                "judge": _same(judge, n),
                "criterion": pa.nulls(n, pa.string()),
                "estimator": pa.nulls(n, pa.string()),
                "value": _classes(value) if number % 2 else value,
            }
            scores.append(pa.table({**rated, **columns}))
    return EvaluationData(
        spec_of(shape, table),
        pa.table({"item": pa.array(items)}),
        pa.table(texts),
        pa.concat_tables(ratings),
        ScoreTables(lambda: scores),
        pa.table({}),
        pa.table({}),
        "generated",
    )


def write_part(page: Path, name: str, text: str) -> None:
    """Replace what a benchmark has written between its two marks in a page."""
    before, start, rest = page.read_text(encoding="utf-8").partition(
        f"<!-- {name} -->\n"
    )
    _, end, after = rest.partition(f"<!-- end of {name} -->\n")
    if not start or not end:
        raise ValueError(f"{page} has no part {name}")
    page.write_text(before + start + text + end + after, encoding="utf-8", newline="\n")


def _same(word: str, n: int) -> pa.Array:
    """Return a column with one word."""
    return pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), [word]).cast(
        pa.string()
    )


def _classes(values: Any) -> Any:
    """Return ratings from 1 to 5."""
    return np.clip(np.round(3 + values), 1.0, 5.0)


def spec_of(shape: Shape, table: str, ends: Sequence[float] = (1, 5)) -> StatisticsSpec:
    """Return the spec of a table's job; numbers of any size have no scale."""
    values = [float(value) for value in range(int(ends[0]), int(ends[1]) + 1)]
    judges = {}
    for number, name in enumerate(shape.judge_names):
        is_class = bool(number % 2)
        judges[name] = {
            "card": "",
            "engine": "control" if name.startswith("control") else "recorded",
            "form": "recorded",
            "draws": 1,
            "share": 1.0,
            "prompt": None,
            "references": False,
            "family": None,
            "hint": None,
            "grid": dict.fromkeys(shape.aspect_names, values if is_class else None),
            "ends": dict.fromkeys(shape.aspect_names, ends if is_class else None),
            "weighted": False,
            "first_draw": False,
            "discrete": is_class,
        }
    spec = {
        "code": "",
        "versions": {},
        "table": table,
        "method": f"judgescope.methods.{table}:METHOD",
        "dataset": "generated",
        "seed": SEED,
        "ratings": "people",
        "fault_free_system": None,
        "excluded": [],
        "perturbed": [],
        "targets": ["systems"],
        "allow_missing": False,
        "families": {},
        "reference_systems": [],
        "exclude_reference_systems": True,
        "output": "",
        "as_rater": {"margin": 0.05, "raters": "expert"},
        "aspects": {
            name: {"values": values, "ends": ends} for name in shape.aspect_names
        },
        "judges": judges,
        "comparison": Comparison().model_dump(),
    }
    return convert(spec, StatisticsSpec)
