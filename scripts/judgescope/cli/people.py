"""The commands `judgescope people {weights,pairs,recheck,errors,ratings}
{make,import}`.
"""

import argparse
from importlib import import_module
from pathlib import Path
from types import ModuleType

from judgescope.cli.context import plan_and_results, plan_of_study
from judgescope.cli.terminal import plural

Arguments = argparse.Namespace
Parser = argparse.ArgumentParser
COMMON = {"command", "kind", "action", "study", "folder", "act", "passed"}
"""The arguments of all commands; other arguments are passed to a kind's `make` or
`read`."""


def add_commands(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command `people` to a parser's subcommands; each action sets `act`."""
    people = commands.add_parser(
        "people", help="HTML forms that collect human judgments"
    )
    kinds = people.add_subparsers(dest="kind", required=True)

    def add(kind: str, about: str) -> tuple[Parser, Parser]:
        actions = kinds.add_parser(kind, help=about).add_subparsers(
            dest="action", required=True
        )
        make = actions.add_parser("make", help="write HTML forms to send to people")
        read = actions.add_parser(
            "import", help="import the files that people sent back"
        )
        for parser, act, folder in (
            (make, _make, "the pages"),
            (read, _import, "the answers"),
        ):
            parser.add_argument("study", type=Path, help="the study's YAML file")
            parser.add_argument("folder", type=Path, help=f"the folder of {folder}")
            parser.set_defaults(act=act)
        make.add_argument(
            "--force", action="store_true", help="overwrite existing pages"
        )
        return make, read

    make, read = add("weights", "expert weights of aspects, for discernment")
    read.add_argument(
        "card", type=Path, help="the card to write: config/weights/<id>.yaml"
    )
    make.set_defaults(act=_make_weights)
    read.set_defaults(act=_import_weights)
    make, read = add("pairs", "is a perturbed text worse, and in which aspect?")
    _number(
        make, "pairs", 10, "pairs of texts for each perturbation, degree and dataset"
    )
    _number(
        make, "voters", 4, "people who answer each question, each on a separate page"
    )
    _number(make, "questions", 100, "maximum number of questions on a page")
    read.add_argument(
        "--expected",
        type=Path,
        help="a CSV file: perturbation, aspect, expected (1: score should drop, 0: "
        "should not)",
    )
    make, _ = add("recheck", "do people confirm the known quality of texts?")
    make.add_argument(
        "--pairs",
        type=int,
        help="how many to show; default: 50 pairs of rated texts for each dataset, "
        "aspect and group; per dataset 100 pairs from error-injection chains, or "
        "100 texts of graded sets",
    )
    _number(make, "voters", 2, "people who judge all pairs, each on a separate page")
    make.add_argument(
        "--constructed",
        dest="kinds",
        action="store_const",
        const=("row", "graded"),
        default=("rated",),
        help="ask about error-injection chains and graded sets, whose quality is known",
    )
    make, _ = add(
        "errors", "are the errors that judges annotate real, and well explained?"
    )
    _number(
        make,
        "errors",
        50,
        "errors drawn from each judge, over all its datasets and aspects",
    )
    _number(make, "voters", 2, "people who judge all errors, each on a separate page")
    make.add_argument(
        "--judges",
        nargs="+",
        default=[],
        help="only these judges; default: all error annotators",
    )
    make, _ = add(
        "ratings", "first ratings of texts by systems, on the aspects' scales"
    )
    _number(make, "texts", 50, "texts of each dataset, each rated on all aspects")
    _number(make, "voters", 2, "people who rate all texts, each on a separate page")


def _number(parser: Parser, name: str, default: int, about: str) -> None:
    parser.add_argument(
        f"--{name}", type=int, default=default, help=f"{about}; default: {default}"
    )


def _make(args: Arguments) -> int:
    plan, out = plan_and_results(args.study)
    print("\n".join(_module(args).make(plan, out, args.folder, **_options(args)).lines))
    return 0


def _import(args: Arguments) -> int:
    plan, out = plan_and_results(args.study)
    results = _module(args).read(plan, out, args.folder, **_options(args))
    print(f"{plural(results.responses, 'file')} of answers, {results.about}")
    written = results.write(out)
    print("\n".join([*results.lines, *map(str, written)]))
    if earlier := {*(out / results.folder).iterdir()} - {*written}:
        print(
            "not written now, but by an earlier import: "
            f"{', '.join(sorted(map(str, earlier)))}"
        )
    if args.kind == "errors":
        print(
            "These results are not part of the study's report, which is about judges."
        )
    return 0


def _module(args: Arguments) -> ModuleType:
    return import_module(f"judgescope.people.{args.kind}")


def _options(args: Arguments) -> dict[str, object]:
    return {name: value for name, value in vars(args).items() if name not in COMMON}


def _make_weights(args: Arguments) -> int:
    made = _module(args).make(plan_of_study(args.study), args.folder, force=args.force)
    print("\n".join(made.lines))
    return 0


def _import_weights(args: Arguments) -> int:
    from judgescope.schema.loading import write_new_card

    name = args.card.stem
    card, lines = _module(args).read(plan_of_study(args.study), args.folder, name)
    write_new_card(card.model_dump(mode="json"), args.card)
    print(
        "\n".join(
            [*lines, f"written: {args.card}; a study uses it with `weights: {name}`"]
        )
    )
    return 0
