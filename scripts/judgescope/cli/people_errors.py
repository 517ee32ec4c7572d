"""The commands `judgescope annotations …`."""

from typing import Any

from judgescope.cli.people import Arguments, make_and_read, plan_of


def add_commands(commands: Any) -> None:
    """Add the commands to a parser's subcommands; each sets `act`, which does it."""
    make, _ = make_and_read(
        commands.add_parser(
            "annotations", help="people judge judges' errors: the passage, and the explanation"
        ),
        (make_pages, read_answers),
    )
    make.add_argument(
        "--errors",
        type=int,
        default=50,
        help="errors of each judge, of all its datasets and aspects; default: 50",
    )
    make.add_argument(
        "--voters",
        type=int,
        default=2,
        help="people who judge all errors, each on a page; default: 2",
    )
    make.add_argument(
        "--judges", nargs="+", default=[], help="only these judges; default: all that annotate"
    )


def make_pages(told: Arguments) -> int:
    """Write the pages of a study; its judgments must be there."""
    from judgescope.people.errors.pages import make

    plan, home, out = plan_of(told.study)
    numbers = {"errors": told.errors, "voters": told.voters}
    pages, draws = make(plan, out, told.folder, home, judges=told.judges, **numbers)
    asked = sum(len(page.questions) for page in pages)
    print(f"{told.folder}: {len(pages)} pages, which show {asked:,} errors")
    for draw in draws:
        print(f"{draw.judge}: {len(draw.errors)} of {draw.of:,} errors")
    return 0


def read_answers(told: Arguments) -> int:
    """Write the tables of the answers to a study's pages."""
    from judgescope.people.errors.answers import read, write

    plan, _, out = plan_of(told.study)
    found = read(plan, out, told.folder)
    print(f"{found.ballots} files of answers, {len(found.verdicts)} verdicts on errors")
    print("\n".join(found.lines()))
    for path in write(found, out / "annotations"):
        print(path)
    print("The study's report does not show these: the workflow cannot ask people.")
    return 0
