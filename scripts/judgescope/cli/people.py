"""The commands `judgescope people {weights,pairs,recheck,errors,ratings} {make,import}`."""

import argparse
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgescope.cli.context import plan_of_study

if TYPE_CHECKING:
    from judgescope.plan import Plan

Arguments = argparse.Namespace
COMMON = {"command", "kind", "action", "study", "folder", "act"}
"""The arguments of all commands; the others are keywords of a kind's `make` or `read`."""
JUDGES = "only these judges; default: all that annotate"
CONSTRUCTED = (
    "ask about texts in rows, whose errors are known, and texts of graded sets, whose ratings are "
    "known, and not about rated texts"
)
DRAWN = (
    "pairs of rated texts for each dataset, aspect and group, default: 50; of texts in rows, "
    "and texts of graded sets, for each dataset, default: 100"
)


def add_commands(commands: Any) -> None:
    """Add the command `people` to a parser's subcommands; each action sets `act`, which does it."""
    people = commands.add_parser("people", help="HTML forms that collect human judgments")
    kinds = people.add_subparsers(dest="kind", required=True)

    def add(name: str, about: str) -> tuple[Any, Any]:
        actions = kinds.add_parser(name, help=about).add_subparsers(dest="action", required=True)
        parsers = (
            actions.add_parser("make", help="write pages, to be sent to people"),
            actions.add_parser("import", help="read the files that people sent back"),
        )
        for parser, act in zip(parsers, ACTS.get(name, (_make, _import)), strict=True):
            parser.add_argument("study", type=Path, help="the study's YAML file")
            parser.add_argument("folder", type=Path, help="the folder of the pages, or the answers")
            parser.set_defaults(act=act)
        return parsers

    _, read = add("weights", "expert weights of aspects, for discernment")
    read.add_argument("card", type=Path, help="the card to write: config/weights/<id>.yaml")
    make, read = add("pairs", "is a perturbed text worse, in which aspect?")
    _number(make, "pairs", 10, "texts of each perturbation, degree and dataset")
    _number(make, "voters", 4, "people who see each question, each on a page of their own")
    _number(make, "questions", 100, "most questions of a page")
    read.add_argument(
        "--expected", type=Path, help="a CSV: perturbation, aspect, expected (1: should drop, 0)"
    )
    make, _ = add("recheck", "do people find what is known of texts?")
    make.add_argument("--pairs", type=int, help=DRAWN)
    _number(make, "voters", 2, "people who judge all pairs, each on a page")
    make.add_argument("--constructed", action="store_true", help=CONSTRUCTED)
    make, _ = add("errors", "are the errors that judges annotate valid, and explained?")
    _number(make, "errors", 50, "errors of each judge, of all its datasets and aspects")
    _number(make, "voters", 2, "people who judge all errors, each on a page")
    make.add_argument("--judges", nargs="+", default=[], help=JUDGES)
    make, _ = add("ratings", "first ratings of texts by systems, on the aspects' scales")
    _number(make, "texts", 50, "texts of each dataset, each rated on all aspects")
    _number(make, "voters", 2, "people who rate all texts, each on a page")


def _number(parser: Any, name: str, default: int, about: str) -> None:
    parser.add_argument(f"--{name}", type=int, default=default, help=f"{about}; default: {default}")


def plan_of(study: Path) -> tuple["Plan", Path]:
    """Return a study's plan, and the folder of its results."""
    plan = plan_of_study(study, drafting=True)  # people need no prompts: steps may be absent
    return plan, Path("results") / plan.study.study


def _make(args: Arguments) -> int:
    print("\n".join(_module(args).make(*plan_of(args.study), args.folder, **_options(args)).lines))
    return 0


def _import(args: Arguments) -> int:
    plan, out = plan_of(args.study)
    results = _module(args).read(plan, out, args.folder, **_options(args))
    print(f"{results.responses} files of answers, {results.about}")
    print("\n".join([*results.lines, *map(str, results.write(out))]))
    if args.kind == "errors":
        print("The study's report does not show these: the workflow cannot ask people.")
    return 0


def _module(args: Arguments) -> Any:
    return import_module(f"judgescope.people.{args.kind}")


def _options(args: Arguments) -> dict[str, Any]:
    return {name: value for name, value in vars(args).items() if name not in COMMON}


def _make_weights(args: Arguments) -> int:
    from judgescope.people.weights import make

    for path in make(plan_of_study(args.study), args.folder):
        print(path)
    return 0


def _import_weights(args: Arguments) -> int:
    from judgescope.people.weights import read, write

    name = args.card.stem
    card, lines = read(plan_of_study(args.study), args.folder, name)
    write(card, args.card)
    print("\n".join([*lines, f"written: {args.card}; a study uses it with `weights: {name}`"]))
    return 0


ACTS = {"weights": (_make_weights, _import_weights)}
"""The kinds whose commands differ from the others'."""
