"""Say what a study will do, once its preflight has passed."""

import json
from pathlib import Path
from typing import Any

from metajudge.command import run


def main(spec: dict[str, Any]) -> None:
    """Print datasets, judges, cells and requests; ask nothing."""
    plan = json.loads(Path(spec["preflight"]).read_text(encoding="utf-8"))
    engines = sorted(set(plan["judges"].values()))
    print(f"study {plan['study']['study']}: all cards and files are in order")
    for dataset, cells in plan["cells"].items():
        print(f"  {dataset:<24}{cells:>6} cells")
    print(f"  {len(plan['judges'])} judges ({', '.join(engines)})")
    for model, cells in plan["asked"].items():
        print(f"  {model} will be asked for {cells} cells, less what the store has of them")
    if not plan["asked"]:
        print("  requests to models: 0, price: 0 USD (every judge computes or replays)")


if __name__ == "__main__":
    run(main)
