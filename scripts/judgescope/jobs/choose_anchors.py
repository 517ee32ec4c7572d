"""Choose the rated texts of an aspect that stand for each rating: people and a judge agree."""

from typing import Any

import numpy as np
from msgspec import convert

from judgescope.core.errors import UserError
from judgescope.core.rng import stream_seed
from judgescope.jobs.run import run
from judgescope.schema.tables import read_table, table_of, write_table
from judgescope.scoring.cell import score_part
from judgescope.scoring.specs import Reading
from judgescope.statistics.anchors import anchor_costs, choose_anchors


def main(spec: dict[str, Any]) -> None:
    """Read ratings and a judge's draws; write so many anchors of each rating."""
    rows = read_table("targets", spec["targets"]).to_pylist()
    rows = sorted((row for row in rows if row["text"].strip()), key=lambda row: row["target"])
    place = {row["target"]: at for at, row in enumerate(rows)}
    human = _matrix(_ratings(spec), place)
    judged = _matrix(_draws(spec["judged"]), place) if spec["judged"] else None
    costs = anchor_costs(human, judged, spec["classes"])
    items = {item: code for code, item in enumerate(sorted({row["item"] for row in rows}))}
    source = np.array([items[row["item"]] for row in rows], dtype=np.int64)
    order = [f"{stream_seed(spec['seed'], 'anchors', row['target']):032x}" for row in rows]
    chosen = choose_anchors(costs, source, order, spec["per_rating"])
    _check(spec, [len(each) for each in chosen], int((~np.isnan(costs).any(axis=1)).sum()))
    anchors = [
        {
            **{"dataset": spec["dataset"], "aspect": spec["aspect"], "rating": rating},
            **{"target": rows[at]["target"], "cost": float(costs[at, number])},
        }
        for number, (rating, each) in enumerate(zip(spec["classes"], chosen, strict=True))
        for at in each
    ]
    write_table("anchors", table_of("anchors", anchors), spec["output"])


def _ratings(spec: dict[str, Any]) -> list[tuple[str, str, float | None]]:
    """Return (rater, target, rating) of the aspect."""
    rows = read_table("ratings", spec["ratings"]).to_pylist()
    told = [row for row in rows if row["aspect"] == spec["aspect"]]
    return [(row["rater"], row["target"], row["value"]) for row in told]


def _draws(told: dict[str, Any]) -> list[tuple[str, str, float | None]]:
    """Return (draw, target, value) of a judge; a reply that was not parsed says nothing."""
    answers, reading = read_table("answers", told["replies"]), convert(told["reading"], Reading)
    judgments, _ = score_part(answers, reading, cell=told["cell"])
    rows = judgments.to_pylist()
    return [(str(row["draw"]), row["target"], row["value"]) for row in rows]


def _matrix(told: list[tuple[str, str, float | None]], place: dict[str, int]) -> Any:
    """Return the values as an array (who, targets), NaN where there is none."""
    names = {name: at for at, name in enumerate(sorted({who for who, _, _ in told}))}
    found = np.full((len(names), len(place)), np.nan)
    for who, target, value in told:
        if target in place and value is not None:
            found[names[who], place[target]] = value
    return found


def _check(spec: dict[str, Any], counts: list[int], rated: int) -> None:
    if min(counts) == spec["per_rating"]:
        return
    needed = spec["per_rating"] * len(counts)
    beside = " and judged" if spec["judged"] else ""
    raise UserError(
        "there are too few rated texts for the anchors",
        where=f"perturbations/{spec['perturbation']}.yaml, key anchors.per_rating",
        got=f"{rated} texts that are rated{beside} on {spec['aspect']}, of {spec['dataset']}",
        allowed=f"{needed} texts or more for {spec['per_rating']} of each of {len(counts)} ratings",
        todo="ask for fewer anchors, or for more items",
    )


if __name__ == "__main__":
    run(main)
