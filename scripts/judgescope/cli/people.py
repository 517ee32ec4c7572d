"""The commands `judgescope people {weights,pairs,recheck,errors,ratings} {make,import}`."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgescope.cli.context import plan_of_study

if TYPE_CHECKING:
    from judgescope.people.form import Page
    from judgescope.people.tables import Results
    from judgescope.plan import Plan

Arguments = argparse.Namespace
PAIRS, CONSTRUCTED_PAIRS = 50, 100
JUDGES = "only these judges; default: all that annotate"
CONSTRUCTED = (
    "ask about texts in rows, whose errors are known, and texts of graded sets, whose ratings are "
    "known, and not about rated texts"
)
DRAWN = (
    f"pairs of rated texts for each dataset, aspect and group, default: {PAIRS}; of texts in rows, "
    f"and texts of graded sets, for each dataset, default: {CONSTRUCTED_PAIRS}"
)


def add_commands(commands: Any) -> None:
    """Add the command `people` to a parser's subcommands; each action sets `act`, which does it."""
    people = commands.add_parser("people", help="HTML forms that collect human judgments")
    kinds = people.add_subparsers(dest="kind", required=True)

    def add(name: str, about: str, make: Act, read: Act) -> tuple[Any, Any]:
        actions = kinds.add_parser(name, help=about).add_subparsers(dest="action", required=True)
        parsers = (
            actions.add_parser("make", help="write pages, to be sent to people"),
            actions.add_parser("import", help="read the files that people sent back"),
        )
        for parser, act in zip(parsers, (make, read), strict=True):
            parser.add_argument("study", type=Path, help="the study's YAML file")
            parser.add_argument("folder", type=Path, help="the folder of the pages, or the answers")
            parser.set_defaults(act=act)
        return parsers

    _, read = add("weights", "expert weights of aspects, for discernment", *WEIGHTS)
    read.add_argument("card", type=Path, help="the card to write: config/weights/<id>.yaml")
    make, read = add("pairs", "is a perturbed text worse, in which aspect?", *PAIRED)
    _number(make, "pairs", 10, "texts of each perturbation, degree and dataset")
    _number(make, "voters", 4, "people who see each question, each on a page of their own")
    _number(make, "questions", 100, "most questions of a page")
    read.add_argument(
        "--expected", type=Path, help="a CSV: perturbation, aspect, expected (1: should drop, 0)"
    )
    make, _ = add("recheck", "do people find what is known of texts?", *RECHECKED)
    make.add_argument("--pairs", type=int, help=DRAWN)
    _number(make, "voters", 2, "people who judge all pairs, each on a page")
    make.add_argument("--constructed", action="store_true", help=CONSTRUCTED)
    make, _ = add("errors", "are the errors that judges annotate valid, and explained?", *ANNOTATED)
    _number(make, "errors", 50, "errors of each judge, of all its datasets and aspects")
    _number(make, "voters", 2, "people who judge all errors, each on a page")
    make.add_argument("--judges", nargs="+", default=[], help=JUDGES)
    make, _ = add("ratings", "first ratings of texts by systems, on the aspects' scales", *RATED)
    _number(make, "texts", 50, "texts of each dataset, each rated on all aspects")
    _number(make, "voters", 2, "people who rate all texts, each on a page")


def _number(parser: Any, name: str, default: int, about: str) -> None:
    parser.add_argument(f"--{name}", type=int, default=default, help=f"{about}; default: {default}")


def plan_of(study: Path) -> tuple["Plan", Path]:
    """Return a study's plan, and the folder of its results."""
    plan = plan_of_study(study, drafting=True)  # people need no prompts: steps may be absent
    return plan, Path("results") / plan.study.study


def _print_pages(folder: Path, pages: Sequence["Page"]) -> None:
    print(f"{folder}: {len(pages)} pages with {sum(len(page.items) for page in pages):,} questions")


def _write(results: "Results", folder: Path) -> int:
    """Print what the answers say, and write it into a folder."""
    print(f"{results.responses} files of answers, {results.about}")
    print("\n".join(results.lines))
    for path in results.write(folder):
        print(path)
    return 0


def _make_weights(args: Arguments) -> int:
    from judgescope.people.weights import make

    for path in make(plan_of_study(args.study), args.folder):
        print(path)
    return 0


def _read_weights(args: Arguments) -> int:
    from judgescope.people.weights import read, write

    name = args.card.stem
    card, lines = read(plan_of_study(args.study), args.folder, name)
    write(card, args.card)
    print("\n".join([*lines, f"written: {args.card}; a study uses it with `weights: {name}`"]))
    return 0


def _make_pairs(args: Arguments) -> int:
    from judgescope.people.pairs import make

    numbers = {"pairs": args.pairs, "voters": args.voters, "questions": args.questions}
    pages = make(*plan_of(args.study), args.folder, **numbers)
    _print_pages(args.folder, pages)
    if any(page.set > 1 for page in pages):
        print("One page a person, or pages of one task and set: other sets word aspects otherwise.")
    return 0


def _read_pairs(args: Arguments) -> int:
    from judgescope.people.pairs import read

    plan, out = plan_of(args.study)
    return _write(read(plan, out, args.folder, args.expected), out / "votes")


def _make_recheck(args: Arguments) -> int:
    from judgescope.people.recheck import make
    from judgescope.people.texts import CONSTRUCTED, GRADED, RATED

    kinds = CONSTRUCTED if args.constructed else (RATED,)
    limit = CONSTRUCTED_PAIRS if args.constructed else PAIRS
    limit = limit if args.pairs is None else args.pairs
    numbers = {"pairs": limit, "voters": args.voters}
    pages, draws = make(*plan_of(args.study), args.folder, kinds=kinds, **numbers)
    _print_pages(args.folder, pages)
    for draw in draws:
        if len(draw.pairs) < limit:
            place = ", ".join(filter(None, [draw.dataset, draw.aspect, draw.group]))
            what = "texts" if draw.group == GRADED else "pairs"
            print(f"{place}: there are {len(draw.pairs)} of {limit} {what}")
    return 0


def _read_recheck(args: Arguments) -> int:
    from judgescope.people.recheck import read

    plan, out = plan_of(args.study)
    return _write(read(plan, out, args.folder), out / "reevaluation")


def _make_errors(args: Arguments) -> int:
    from judgescope.people.errors import make

    numbers = {"errors": args.errors, "voters": args.voters}
    pages, draws = make(*plan_of(args.study), args.folder, judges=args.judges, **numbers)
    shown = sum(len(page.items) for page in pages)
    print(f"{args.folder}: {len(pages)} pages, which show {shown:,} errors")
    for draw in draws:
        print(f"{draw.judge}: {len(draw.errors)} of {draw.total:,} errors")
    return 0


def _read_errors(args: Arguments) -> int:
    from judgescope.people.errors import read

    plan, out = plan_of(args.study)
    _write(read(plan, out, args.folder), out / "annotations")
    print("The study's report does not show these: the workflow cannot ask people.")
    return 0


def _make_ratings(args: Arguments) -> int:
    from judgescope.people.ratings import make

    numbers = {"texts": args.texts, "voters": args.voters}
    _print_pages(args.folder, make(*plan_of(args.study), args.folder, **numbers))
    return 0


def _read_ratings(args: Arguments) -> int:
    from judgescope.people.ratings import read

    plan, out = plan_of(args.study)
    _write(read(plan, out, args.folder), out / "rated")
    print("Copy a table and its card to config/datasets: a study names the card in `datasets`.")
    return 0


Act = Callable[[Arguments], int]
WEIGHTS, PAIRED = (_make_weights, _read_weights), (_make_pairs, _read_pairs)
RECHECKED, ANNOTATED = (_make_recheck, _read_recheck), (_make_errors, _read_errors)
RATED = (_make_ratings, _read_ratings)
