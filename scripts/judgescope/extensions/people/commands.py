"""The commands `judgescope people {weights,pairs,recheck,errors,ratings}
{make,import}` and `judgescope next`.
"""

import argparse
from pathlib import Path
from types import ModuleType

from judgescope.cli.commands import Command, Commands, act, add_study
from judgescope.cli.completion import MINE
from judgescope.cli.context import plan_and_results, plan_of_study
from judgescope.cli.terminal import plural


def add_people(commands: Commands) -> None:
    """Add the command `people`; each action sets `act`."""
    people = commands.add_parser(
        "people", help="HTML forms that collect human judgments"
    )
    kinds = people.add_subparsers(dest="kind", required=True)
    make, read = _add_kind(
        kinds, "weights", "expert weights of aspects, for discernment"
    )
    read.add_argument(
        "card", type=Path, help="the card to write: config/weights/<id>.yaml"
    )
    make.set_defaults(act=_make_weights)
    read.set_defaults(act=_import_weights)
    make, read = _add_kind(
        kinds, "pairs", "is a perturbed text worse, and in which aspect?"
    )
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
    _add_text_forms(kinds)


def add_next(commands: Commands) -> None:
    """Add the command `next`."""
    parser = commands.add_parser(
        "next",
        help="which sources to rate next, and what they show",
        description="With -n, draw about so many sources for people to rate, with "
        "chances that are stored, and write forms for them; without, print what the "
        "systems really score by the answers so far. Sources on which the judge errs "
        "most are likelier, where that saves ratings; estimates stay unbiased. No "
        "request is sent.",
    )
    add_study(parser)
    parser.add_argument(
        "folder",
        type=Path,
        help="the folder of all rounds: draws, pages, answers/ and looks",
    )
    parser.add_argument(
        "-n", type=int, metavar="N", help="draw about N sources and write their pages"
    )
    for name, about in (
        ("dataset", "whose sources are drawn"),
        ("judge", "whose errors are corrected"),
        ("aspect", "that people rate"),
    ):
        parser.add_argument(
            f"--{name}", help=f"the {name} {about}; default: the study's only one"
        )
    parser.add_argument(
        "--looks",
        type=int,
        help="how often you will look at the result, declared with the first draw: "
        "each interval is at level 1 - .05/LOOKS; default: 1",
    )
    parser.add_argument(
        "--voters", type=int, help="people who rate each text; default: 1"
    )
    parser.set_defaults(act=act("next_texts", "next_texts", package=__package__))


def _add_text_forms(
    kinds: Commands,
) -> None:
    """Add the forms on texts and on the errors that judges annotate."""
    make, _ = _add_kind(
        kinds, "recheck", "do people confirm the known quality of texts?"
    )
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
    make, _ = _add_kind(
        kinds, "errors", "are the errors that judges annotate real, and well explained?"
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
    make, _ = _add_kind(
        kinds, "ratings", "first ratings of texts by systems, on the aspects' scales"
    )
    _number(make, "texts", 50, "texts of each dataset, each rated on all aspects")
    _number(make, "voters", 2, "people who rate all texts, each on a separate page")


def _add_kind(
    kinds: Commands,
    kind: str,
    about: str,
) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """Add a kind of form; return the parsers that make forms and import answers."""
    actions = kinds.add_parser(kind, help=about).add_subparsers(
        dest="action", required=True
    )
    make = actions.add_parser("make", help="write HTML forms to send to people")
    read = actions.add_parser("import", help="import the files that people sent back")
    for parser, action, folder in (
        (make, _make, "the pages"),
        (read, _import, "the answers"),
    ):
        parser.add_argument("study", type=Path, help="the study's YAML file")
        parser.add_argument("folder", type=Path, help=f"the folder of {folder}")
        parser.set_defaults(act=action)
    make.add_argument("--force", action="store_true", help="overwrite existing pages")
    return make, read


def _number(
    parser: argparse.ArgumentParser, name: str, default: int, about: str
) -> None:
    parser.add_argument(
        f"--{name}", type=int, default=default, help=f"{about}; default: {default}"
    )


def _make(args: argparse.Namespace) -> int:
    plan, out = plan_and_results(args.study)
    made = _module(args).make(plan, out, args.folder, **_options(args))
    print("\n".join(made.lines))
    return 0


def _import(args: argparse.Namespace) -> int:
    plan, out = plan_and_results(args.study)
    results = _module(args).read(plan, out, args.folder, **_options(args))
    print(f"{plural(results.responses, 'file')} of answers, {results.about}")
    written = results.write(out)
    print("\n".join([*results.lines, *map(str, written)]))
    earlier = set((out / results.folder).iterdir()).difference(written)
    if earlier:
        names = ", ".join(sorted(map(str, earlier)))
        print(f"not written now, but by an earlier import: {names}")
    if args.kind == "errors":
        print(
            "These results are not part of the study's report, which is about judges."
        )
    return 0


def _module(args: argparse.Namespace) -> ModuleType:
    """Return the module of a kind of question; its import is slow."""
    from judgescope.extensions.people import errors, pairs, ratings, recheck, weights

    modules = {
        "errors": errors,
        "pairs": pairs,
        "ratings": ratings,
        "recheck": recheck,
        "weights": weights,
    }
    return modules[args.kind]


def _options(args: argparse.Namespace) -> dict[str, object]:
    """Return the arguments of a kind's `make` or `read`."""
    common = {"command", "kind", "action", "study", "folder", "act", "passed"}
    return {name: value for name, value in vars(args).items() if name not in common}


def _make_weights(args: argparse.Namespace) -> int:
    made = _module(args).make(plan_of_study(args.study), args.folder, force=args.force)
    print("\n".join(made.lines))
    return 0


def _import_weights(args: argparse.Namespace) -> int:
    from judgescope.schema.loading import write_new_card

    name = args.card.stem
    card, lines = _module(args).read(plan_of_study(args.study), args.folder, name)
    write_new_card(card.model_dump(mode="json"), args.card)
    print("\n".join(lines))
    print(f"written: {args.card}; a study uses it with `weights: {name}`")
    return 0


COMMANDS = (
    Command(
        name="people",
        group="people",
        add=add_people,
        examples={
            "people weights make": (f"people weights make {MINE} pages",),
            "people weights import": (
                f"people weights import {MINE} answers config/weights/ours.yaml",
            ),
            "people pairs make": (
                f"people pairs make {MINE} pages --voters 4 --pairs 10",
            ),
            "people pairs import": (f"people pairs import {MINE} answers",),
            "people recheck make": (f"people recheck make {MINE} pages --pairs 50",),
            "people recheck import": (f"people recheck import {MINE} answers",),
            "people errors make": (f"people errors make {MINE} pages --errors 50",),
            "people errors import": (f"people errors import {MINE} answers",),
            "people ratings make": (f"people ratings make {MINE} pages --texts 50",),
            "people ratings import": (f"people ratings import {MINE} answers",),
        },
    ),
    Command(
        name="next",
        group="people",
        add=add_next,
        examples={
            "next": (f"next {MINE} rounds -n 50 --looks 3", f"next {MINE} rounds"),
        },
    ),
)
