"""Print what a study will do and what it will cost, once its preflight has passed."""

import json
from dataclasses import replace
from pathlib import Path

from judgescope.core.control_chars import coded
from judgescope.core.errors import UserError
from judgescope.core.paths import HOME
from judgescope.data.files import absent
from judgescope.engines.recorded import join_lines
from judgescope.plan.cost import bill, estimates
from judgescope.plan.inputs import joins
from judgescope.plan.loading import load_plan
from judgescope.plan.notices import asked_once, too_few, unjudged, unordered
from judgescope.plan.preflight import CheckSpec
from judgescope.plan.specs.study import key_sources
from judgescope.plan.study import Plan
from judgescope.plan.writing import Imagined

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
        print(
            f"  warning: the requests for {names} are unknown until then, and are not counted below"
        )
    readable = {name: card for name, card in plan.datasets.items() if name not in spec.unfetched}
    plan = replace(plan, datasets=readable)
    for line in too_few(plan, {name: len(Imagined(plan, name).items) for name in plan.evaluated}):
        print(f"  {line}")
    for line in bill(plan, estimates(plan)):
        print(line)
    for key in key_sources(plan, covered["asked"]):
        try:
            key.check()
        except UserError as error:
            print(f"  before a run: {error}")


def _print_notices(plan: Plan, dataset: str) -> None:
    """Print what reading a dataset noticed, and how many rows of recorded models were joined."""
    problems = json.loads(Path(plan.paths.ingested(dataset)).read_text("utf-8"))["problems"]
    for line in problems[:SHOWN]:
        print(coded(f"  {dataset}: {line}"))
    if len(problems) > SHOWN:
        print(f"  {dataset}: and {len(problems) - SHOWN} more notices")
    for line in join_lines(joins(plan, dataset)):
        print(f"  {dataset}: {line}")
