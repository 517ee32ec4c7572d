"""What the commands have in common that ask people by offline pages."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgescope.plan import Plan

Arguments = argparse.Namespace
Act = Callable[[Arguments], int]


def make_and_read(tools: Any, acts: tuple[Act, Act]) -> list[Any]:
    """Add the actions `make` and `read` to a command that asks people, and return them."""
    actions = tools.add_subparsers(dest="action", required=True)
    made = [
        actions.add_parser("make", help="write pages on which people judge, to be sent to them"),
        actions.add_parser("read", help="turn the files that they sent back into tables"),
    ]
    for action, act in zip(made, acts, strict=True):
        action.add_argument("study", type=Path, help="the study's YAML file")
        action.add_argument("folder", type=Path, help="where the pages, or the answers, lie")
        action.set_defaults(act=act)
    return made


def plan_of(study: Path) -> tuple["Plan", Path, Path]:
    """Return a study's plan, the workflow's folder, and that of the study's results."""
    from judgescope.cli.context import plan_of_study
    from judgescope.core.paths import HOME

    plan = plan_of_study(study, drafting=True)  # people need no prompts: steps may be lacking yet
    return plan, HOME, Path("results") / plan.study.study
