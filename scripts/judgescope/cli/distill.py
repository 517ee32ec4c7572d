"""The commands `judgescope distill …`: examples, training, and a card of what was trained."""

import argparse
import json
import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgescope.cli.snakemake_args import is_dry
from judgescope.core.errors import UserError
from judgescope.schema.cards.vllm import ADAPTER_FILES

if TYPE_CHECKING:
    from judgescope.plan import Plan

TARGETS = {"export": ["export.json"], "train": [f"adapter/{ADAPTER_FILES[0]}", "export.json"]}
"""What each command makes, below `distill` in the study's results."""


def add_commands(commands: Any, yaml_file: Callable[[str], Path]) -> None:
    """Add the command `distill` to a parser's subcommands; `yaml_file` reads an argument."""
    parser = commands.add_parser("distill", help="a small judge that learns from another")
    actions = parser.add_subparsers(dest="action", required=True)
    about = {
        "export": "let the teacher judge the sample, and write the examples",
        "train": "the same, and train the judge's model",
        "card": "write a model card of what was trained, for other studies",
    }
    for name, told in about.items():
        action = actions.add_parser(name, help=told)
        action.add_argument("study", type=yaml_file, help="the study's YAML file")
    actions.choices["card"].add_argument(
        "card", type=yaml_file, help="the card to write: config/models/<id>.yaml"
    )


def distill(told: argparse.Namespace, passed: list[str]) -> int:
    """Do what the command line says; `passed` are options for Snakemake."""
    from judgescope.cli.context import plan_of_study, snakemake

    plan = plan_of_study(told.study, passed)
    if plan.study.distill is None:
        raise UserError(
            "this study lets no judge learn", where=str(told.study), todo="add the key `distill`"
        )
    place = Path("results") / plan.study.study / "distill"
    if told.action == "card":
        print("\n".join(write_card(plan, place / "adapter", told.card)))
        return 0
    targets = [str(place / name) for name in TARGETS[told.action]]
    status = snakemake(told.study, targets, passed)
    if status == 0 and not is_dry(passed):
        print("\n".join(_counts(place)))
    return status


def _counts(place: Path) -> list[str]:
    """Return what was exported, and where it lies."""
    rows = json.loads((place / "export.json").read_text(encoding="utf-8"))["examples"]
    lines = []
    for split in ("train", "held_out"):
        own = [row for row in rows if row["split"] == split]
        n, missing = (sum(row[name] for row in own) for name in ("n", "n_missing"))
        lines.append(f"{place / f'{split}.jsonl'}: {n:,} examples; {missing:,} more have none")
    adapter = place / "adapter"
    return [*lines, *([f"{adapter}: the adapter"] if adapter.is_dir() else [])]


def write_card(plan: "Plan", adapter: Path, path: Path) -> Sequence[str]:
    """Write the card of a model with the adapter that a study has trained; return what to do.

    Raises UserError where it is not trained yet, or a card of this name is there.
    """
    from judgescope.engines.factory import adapter_in
    from judgescope.schema.loading import validate_card, write_new_card

    judge, model = plan.student
    if not (adapter / ADAPTER_FILES[0]).is_file():
        raise UserError(
            "nothing is trained yet", where=str(adapter), todo="judgescope distill train <study>"
        )
    found = adapter_in(adapter)
    told = model.model_dump(mode="json", exclude_defaults=True) | {
        "model": path.stem,
        "adapter": {
            "path": os.path.relpath(found.path, path.parent.absolute()),
            "sha256": found.sha256,
        },
    }
    if model.path is not None and not os.path.isabs(model.path) and "{" not in model.path:
        folder = plan.folders["model", model.model]
        told["path"] = os.path.relpath(Path(folder) / model.path, path.parent)
    validate_card("model", told, str(path))
    write_new_card(told, path)
    return [
        f"written: {path}",
        f"a judge of it is a copy of judges/{judge.judge}.yaml with `model: {path.stem}`",
        f"elsewhere: {_serving(plan, adapter, path.stem)}",
    ]


def _serving(plan: "Plan", adapter: Path, name: str) -> str:
    """Return the command that serves the trained model elsewhere, with room for the adapter."""
    from judgescope.engines.vllm.options import located, room

    _, model = plan.student
    found = located(model, Path(plan.folders["model", model.model]), Path(plan.study.data))
    weights = os.path.relpath(found.path) if found.path else found.name
    told = ["vllm", "serve", weights, "--enable-lora", "--max-lora-rank", str(room(adapter))]
    return shlex.join([*told, "--lora-modules", f"{name}={adapter}"])
