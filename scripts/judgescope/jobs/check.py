"""Say what a study will do and what it will cost, once its preflight has passed."""

import json
from dataclasses import replace
from pathlib import Path

from judgescope.core.control_chars import coded
from judgescope.core.paths import HOME
from judgescope.data.files import absent
from judgescope.engines.recorded import join_lines
from judgescope.jobs.run import run
from judgescope.plan import load_plan
from judgescope.plan.cost_report import bill, estimates
from judgescope.plan.hint_notices import asked_once, too_few
from judgescope.plan.notices import unjudged
from judgescope.plan.placeholders import Imagined
from judgescope.plan.preflight import CheckSpec
from judgescope.plan.reading import joins
from judgescope.plan.specs import Specs

SHOWN = 12
"""So many notices of a dataset are told."""


def main(spec: CheckSpec) -> None:
    """Print datasets, judges, cells, requests, tokens and prices; ask nothing."""
    plan = json.loads(Path(spec.preflight).read_text(encoding="utf-8"))
    engines = sorted(set(plan["judges"].values()))
    print(f"study {plan['study']['study']}: all cards and files are in order")
    for dataset, cells in plan["cells"].items():
        print(f"  {dataset:<24}{cells:>6} cells")
    print(f"  {len(plan['judges'])} judges ({', '.join(engines)})")
    study = load_plan(spec.config, HOME, source=spec.source)
    for line in (*unjudged(study), *asked_once(study)):
        print(f"  {line}")
    left, out = spec.unfetched, f"results/{study.study.study}"
    for name in (name for name in study.datasets if name not in left):
        problems = json.loads(Path(f"{out}/items/{name}.json").read_text("utf-8"))["problems"]
        for line in problems[:SHOWN]:
            print(coded(f"  {name}: {line}"))
        if len(problems) > SHOWN:
            print(f"  {name}: and {len(problems) - SHOWN} more notices")
        for line in join_lines(joins(study, out, name)):
            print(f"  {name}: {line}")
    for name in left:
        for file in absent(study.datasets[name].files).values():
            print(f"  a run fetches for {name}: {file}")
    if not plan["asked"]:
        print("  requests to models: 0, price: 0 USD (every judge computes or replays)")
        return
    if left:
        print(f"  warning: what {', '.join(left)} will ask is known after that, and is not in this")
    # a plan of what can be read
    known = {name: card for name, card in study.datasets.items() if name not in left}
    study = replace(study, datasets=known)
    specs = Specs(study, HOME, out)
    items = {name: len(Imagined(study, out, name).items) for name in study.evaluated}
    for line in too_few(study, items):
        print(f"  {line}")
    prices = estimates(study, specs)
    for line in bill(study, prices):
        print(line)


if __name__ == "__main__":
    run(main)
