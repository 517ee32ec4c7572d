"""The commands `judgescope votes …`."""

from pathlib import Path
from typing import Any

from judgescope.cli.people import Arguments, make_and_read, plan_of


def add_commands(commands: Any) -> None:
    """Add the commands to a parser's subcommands; each sets `act`, which does it."""
    make, read = make_and_read(
        commands.add_parser("votes", help="people's votes: is a damaged text worse, in what?"),
        (make_pages, read_answers),
    )
    for name, default, about in (
        ("pairs", 10, "texts of each perturbation, degree and dataset"),
        ("voters", 4, "people who see each question, each on a page of their own"),
        ("questions", 100, "most questions of a page"),
    ):
        told = f"{about}; default: {default}"
        make.add_argument(f"--{name}", type=int, default=default, help=told)
    read.add_argument(
        "--expected", type=Path, help="a CSV: perturbation, aspect, expected (1: should drop, 0)"
    )


def make_pages(told: Arguments) -> int:
    """Write the pages of a study; its texts must have been made."""
    from judgescope.people.pairs.pages import make

    plan, home, out = plan_of(told.study)
    numbers = {"pairs": told.pairs, "voters": told.voters, "most": told.questions}
    pages = make(plan, out, told.folder, home, **numbers)
    sets = len({(page.task, page.set) for page in pages})
    asked = sum(len(page.questions) for page in pages)
    print(f"{told.folder}: {len(pages)} pages with {asked:,} questions")
    if sets > len({page.task for page in pages}):
        print("One page a person, or pages of one task and set: other sets word aspects otherwise.")
    return 0


def read_answers(told: Arguments) -> int:
    """Write the tables of the answers to a study's pages."""
    from judgescope.people.pairs.answers import read, write

    plan, _, out = plan_of(told.study)
    found = read(plan, out, told.folder, told.expected)
    print(f"{found.ballots} files of answers, about {found.pairs} pairs of texts")
    print("\n".join(found.lines()))
    for path in write(found, out / "votes"):
        print(path)
    return 0
