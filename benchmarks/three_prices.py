"""What to buy at three prices: six recorded judges of SummEval, at stated prices.

    python benchmarks/three_prices.py FOLDER    # what {data} stands for in cards

Runs a study of the judgments that Calderon et al. (2025) published (three experts, six
models, 6,400 pairs of a summary and an aspect; no texts) with the prices below in the
model's card, and prints the choice for each budget. Nothing is asked. Without the data
it says so and measures nothing.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import yaml

HOME = Path(__file__).resolve().parents[1]
TOKENS: Final = 900
"""Tokens of a prompt with an article and a summary; a reply is one number."""
PER_MILLION: Final = {
    "gemini_flash": 0.075,
    "gemini_pro": 1.25,
    "gpt-4o": 2.5,
    "gpt-4o-mini": 0.15,
    "llama-31": 0.23,
    "mistral-v03": 0.05,
}
"""Model -> US$ per million input tokens as public comparisons of 2024 and 2025 list
them; of models with open weights the price of hosts for a model of that kind."""


def write_study(folder: Path, data: Path) -> None:
    """Write the study and the card of the recorded model with its prices."""
    card = yaml.safe_load((HOME / "config/models/alttest.yaml").read_text("utf-8"))
    said = f"{TOKENS} input tokens at list prices of 2024 to 2025"
    card["prices"] = {}
    for model, price in PER_MILLION.items():
        per_1000 = round(price * TOKENS / 1000, 5)
        card["prices"][model] = {"usd_per_1000": per_1000, "source": said}
    study: dict[str, Any] = {"study": "three-prices", "seed": 7, "data": str(data)}
    study |= {"datasets": ["alttest-summeval"], "judges": ["alttest"]}
    study |= {"methods": ["agreement", "frontier"]}
    for path, content in (
        (folder / "config/models/alttest.yaml", card),
        (folder / "study.yaml", study),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content), encoding="utf-8")


def shown(rows: list[dict[str, str]]) -> list[str]:
    """Return the candidates, the choice for each budget, and the advice."""
    lines = []
    judges = [row for row in rows if row["statistic"] == "usd_per_1000" and row["k"]]
    for row in sorted(judges, key=lambda row: float(row["value"])):
        if row["k"] == "1":
            number = _of(rows, row, "normal_scores")
            lines.append(
                f"{row['judge']:14} US$ {float(row['value']):7.4f} {_number(number)}"
            )
    budgets = [row for row in rows if row["statistic"] == "budget"]
    for row in sorted(budgets, key=lambda row: float(row["value"])):
        nested = _of(rows, row, "nested_normal_scores")
        optimism = _of(rows, row, "optimism_normal_scores")
        gain = _of(rows, row, "gain_normal_scores")
        half = _of(rows, row, "other_half_normal_scores")
        lines.append(
            f"up to US$ {float(row['value']):.4f}: {row['judge']} "
            f"nested {_number(nested)}, optimism {_number(optimism)}; on one half "
            f"{half['judge_b']}, gain over {gain['judge_b']} {_number(gain)}: "
            f"{gain['note']}"
        )
    return lines


def _of(
    rows: list[dict[str, str]], like: dict[str, str], statistic: str
) -> dict[str, str]:
    """Return the row of a number of a candidate, or of a choice for a budget."""
    keys = ("judge", "aspect", "form")
    for row in rows:
        if row["statistic"] == statistic and all(row[k] == like[k] for k in keys):
            return row
    return dict.fromkeys(rows[0], "")


def _number(row: dict[str, str]) -> str:
    if not row["value"]:
        return "none"
    text = f"{float(row['value']):.3f}"
    if row["ci_low"]:
        text += f" [{float(row['ci_low']):.3f}, {float(row['ci_high']):.3f}]"
    return text


def main() -> int:
    """Run the study, if the data are there, and print what it says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", nargs="?", default="data", type=Path)
    data = parser.parse_args().data.resolve()
    if not (data / "alttest/summeval/llm_annotations.json").is_file():
        print(f"0 judges: {data} has no alttest/summeval")
        return 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_study(folder, data)
        command = [sys.executable, "-m", "judgescope", "run", "study.yaml"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        path = folder / "results/three-prices/tables/frontier.csv"
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    print("\n".join(shown(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
