"""Print what a study will do and what it will cost, once its preflight has passed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from judgescope.core.control_chars import coded
from judgescope.core.paths import HOME
from judgescope.data.files import absent
from judgescope.engines.recorded import join_lines
from judgescope.methods.registry import METHODS
from judgescope.plan.cost import bill, estimates
from judgescope.plan.inputs import joins
from judgescope.plan.loading import load_plan
from judgescope.plan.preflight import CheckSpec
from judgescope.plan.study import Plan
from judgescope.plan.writing import Imagined
from judgescope.statistics.tango import tango

SHOWN = 12
"""Notices of a dataset that are printed."""


def main(spec: CheckSpec) -> None:
    """Print datasets, judges, cells, requests, tokens and prices; ask nothing."""
    covered = json.loads(Path(spec.preflight).read_text(encoding="utf-8"))
    print(f"study {covered['study']['study']}: all cards and files are in order")
    for dataset, cells in covered["cells"].items():
        print(f"  {dataset:<24}{cells:>6} cells")
    engines = sorted(set(covered["judges"].values()))
    print(f"  {len(covered['judges'])} judges ({', '.join(engines)})")
    plan = load_plan(spec.config, HOME, source=spec.source)
    for line in (*unjudged(plan), *unordered(plan), *asked_once(plan)):
        print(f"  {line}")
    for name in plan.datasets:
        if name not in spec.unfetched:
            _print_notices(plan, name)
    for name in spec.unfetched:
        for file in absent(plan.datasets[name].files).values():
            print(f"  a run fetches for {name}: {file}")
    if not covered["asked"]:
        print("  requests to models: 0, price: 0 USD (every judge computes or replays)")
        return
    if spec.unfetched:
        names = ", ".join(spec.unfetched)
        print(f"  warning: what {names} will ask is known after that, and is not in this")
    readable = {name: card for name, card in plan.datasets.items() if name not in spec.unfetched}
    plan = replace(plan, datasets=readable)
    for line in too_few(plan, {name: len(Imagined(plan, name).items) for name in plan.evaluated}):
        print(f"  {line}")
    for line in bill(plan, estimates(plan)):
        print(line)


def _print_notices(plan: Plan, dataset: str) -> None:
    """Print what reading a dataset noticed, and how many rows of recorded models were joined."""
    problems = json.loads(Path(plan.paths.ingested(dataset)).read_text("utf-8"))["problems"]
    for line in problems[:SHOWN]:
        print(coded(f"  {dataset}: {line}"))
    if len(problems) > SHOWN:
        print(f"  {dataset}: and {len(problems) - SHOWN} more notices")
    for line in join_lines(joins(plan, dataset)):
        print(f"  {dataset}: {line}")


MARGIN: Final = 0.05
"""A judge withstands hints that move less than this share of its scores (methods.md 9)."""


def unjudged(plan: Plan) -> Iterator[str]:
    """Yield a line about each perturbation whose aspects are judged on no dataset that it is for.

    Those are texts in rows and graded sets: others are judged on all aspects.
    """
    judged = {name: {*plan.plain_aspects(name)} for name in plan.evaluated}
    for name, card in plan.perturbations.items():
        aspects_there = [
            judged[dataset]
            for dataset in plan.evaluated
            if not card.tasks or plan.datasets[dataset].task in card.tasks
            if card.degrees_for(dataset)
        ]
        if not aspects_there or not card.aspects:
            continue
        if any(names & {*card.aspects} for names in aspects_there):
            continue
        elsewhere = any(names & {*card.aspects} for names in judged.values())
        where = " on the datasets that it is for" if elsewhere else ""
        aspects = " and ".join(card.aspects)
        yield f"left out: {name} is about {aspects}, which the study does not judge{where}"


def unordered(plan: Plan) -> Iterator[str]:
    """Yield a line about each aspect whose labels have no order, and the methods without it."""
    without = [name for name in plan.study.methods if METHODS[name].unordered == "no"]
    aspects = {
        aspect: None
        for dataset in plan.evaluated
        for aspect in plan.plain_aspects(dataset)
        if not plan.scale_of(dataset, aspect).ordered
    }
    for aspect in aspects if without else ():
        yield (
            f"left out of {', '.join(without)}: {aspect}, whose labels have no order "
            "(these compare values)"
        )


def fewest_items(margin: float = MARGIN) -> int:
    """Return the least n with an upper end of no change in n items below the margin: 73 for .05."""
    n = 1
    while tango(0, 0, n)[1] >= margin:
        n += 1
    return n


def asked_once(plan: Plan) -> Iterator[str]:
    """Yield a line for each judge whose base is asked once: its verdict on hints is not known."""
    for name, judge in plan.judges.items():
        if judge.hint is None or judge.hint.rating == "right":
            continue
        base = plan.judges[judge.hint.baseline]
        if base.draws < 2:
            yield (
                f"warning: whether {name} withstands its hint will not be known, because "
                f"{base.judge} is asked once: give judges/{base.judge}.yaml `draws: 2` and "
                "`estimator: first` (the score stays that of the first draw)"
            )


def too_few(plan: Plan, items: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each dataset with too few items to show that a judge withstands a hint.

    `items`: dataset -> its number of items.
    """
    hinted = [one for one in plan.judges.values() if one.hint and one.hint.rating == "wrong"]
    needed = fewest_items()
    for dataset, n_items in items.items():
        given = min((round(n_items * judge.share) for judge in hinted), default=needed)
        if given < needed:
            yield (
                f"warning: {dataset}: judges with a hint are given {given} items; that one "
                f"withstands it can be shown with {needed} or more, if no score moves"
            )
