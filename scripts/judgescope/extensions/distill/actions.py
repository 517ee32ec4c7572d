"""The commands `judgescope distill …`: examples, training, and a card of the trained
model.
"""

import argparse
import json
import os
import shlex
from pathlib import Path

from judgescope.cli.context import is_dry, plan_of_study, snakemake
from judgescope.core.errors import UserError
from judgescope.engines.factory import adapter_in
from judgescope.engines.vllm_options import located, room
from judgescope.plan.study import Plan
from judgescope.schema.cards.vllm import ADAPTER_FILES
from judgescope.schema.loading import validate_card, write_new_card


def distill(args: argparse.Namespace) -> int:
    """Export examples, train, or write the trained model's card."""
    plan = plan_of_study(args.study, args.passed)
    if plan.study.distill is None:
        raise UserError(
            "this study trains no judge",
            where=str(args.study),
            todo="add the key `distill`",
        )
    folder = Path("results") / plan.study.study / "distill"
    if args.action == "card":
        print("\n".join(write_card(plan, folder / "adapter", args.card)))
        return 0
    targets = [str(folder / "export.json")]
    if args.action == "train":
        targets.insert(0, str(folder / "adapter" / ADAPTER_FILES[0]))
    status = snakemake(args.study, targets, args.passed)
    if status == 0 and not is_dry(args.passed):
        _print_counts(folder)
        if (folder / "adapter").is_dir():
            print(f"{folder / 'adapter'}: the adapter")
    return status


def _print_counts(folder: Path) -> None:
    """Print how many examples each split has."""
    counts = json.loads((folder / "export.json").read_text(encoding="utf-8"))
    for split in ("train", "held_out"):
        made = 0
        missing = 0
        for row in counts["examples"]:
            if row["split"] == split:
                made += row["n"]
                missing += row["n_missing"]
        path = folder / f"{split}.jsonl"
        print(f"{path}: {made:,} examples; {missing:,} more judgments gave none")


def write_card(plan: Plan, adapter: Path, path: Path) -> list[str]:
    """Write the card of a model with the adapter that a study has trained; return the
    next steps.

    Raises UserError if it is not trained yet, or a card with this name exists.
    """
    judge, model = plan.student
    if not (adapter / ADAPTER_FILES[0]).is_file():
        raise UserError(
            "the study has not trained its judge yet",
            where=str(adapter),
            todo="judgescope distill train <study>",
        )
    trained = adapter_in(adapter)
    card = model.model_dump(mode="json", exclude_defaults=True)
    card["model"] = path.stem
    card["adapter"] = {
        "path": os.path.relpath(trained.path, path.parent.absolute()),
        "sha256": trained.sha256,
    }
    folder = Path(plan.folders["model", model.model])
    if model.path and not os.path.isabs(model.path) and "{" not in model.path:
        card["path"] = os.path.relpath(folder / model.path, path.parent)
    validate_card("model", card, str(path))
    write_new_card(card, path)

    base = located(model, folder, Path(plan.study.data))
    weights = os.path.relpath(base.path) if base.path else base.name
    serve = ["vllm", "serve", weights, "--enable-lora"]
    serve += ["--max-lora-rank", str(room(adapter))]
    serve += ["--lora-modules", f"{path.stem}={adapter}"]
    return [
        f"written: {path}",
        f"to use it, copy judges/{judge.judge}.yaml and set `model: {path.stem}`",
        f"to serve it: {shlex.join(serve)}",
    ]
