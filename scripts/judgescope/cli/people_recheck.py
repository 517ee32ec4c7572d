"""The commands `judgescope reevaluate …`."""

from typing import Any

from judgescope.cli.people import Arguments, make_and_read, plan_of

PAIRS, CONSTRUCTED_PAIRS = 50, 100


def add_commands(commands: Any) -> None:
    """Add the commands to a parser's subcommands; each sets `act`, which does it."""
    told = "people judge again: do they find what is known of texts: which is better, how good?"
    make, _ = make_and_read(
        commands.add_parser("reevaluate", help=told), (make_pages, read_answers)
    )
    make.add_argument(
        "--pairs",
        type=int,
        help=f"pairs of rated texts for each dataset, aspect and group, default: {PAIRS}; of "
        f"texts in rows, and texts of graded sets, for each dataset, default: {CONSTRUCTED_PAIRS}",
    )
    make.add_argument(
        "--voters",
        type=int,
        default=2,
        help="people who judge all pairs, each on a page; default: 2",
    )
    make.add_argument(
        "--constructed",
        action="store_true",
        help="ask about texts in rows, whose errors are known, and texts of graded sets, whose "
        "ratings are known, and not about rated texts",
    )


def make_pages(told: Arguments) -> int:
    """Write the pages of a study; its texts and ratings must be there."""
    from judgescope.people.recheck.pages import make
    from judgescope.people.recheck.texts import CONSTRUCTED, GRADED, RATED

    plan, home, out = plan_of(told.study)
    kinds = CONSTRUCTED if told.constructed else (RATED,)
    usual = CONSTRUCTED_PAIRS if told.constructed else PAIRS
    most = usual if told.pairs is None else told.pairs
    numbers = {"pairs": most, "voters": told.voters}
    pages, draws = make(plan, out, told.folder, home, kinds=kinds, **numbers)
    asked = sum(len(page.questions) for page in pages)
    print(f"{told.folder}: {len(pages)} pages with {asked:,} questions")
    for draw in draws:
        if len(draw.pairs) < most:
            place = ", ".join(filter(None, [draw.dataset, draw.aspect, draw.group]))
            what = "texts" if draw.group == GRADED else "pairs"
            print(f"{place}: there are {len(draw.pairs)} of {most} {what}")
    return 0


def read_answers(told: Arguments) -> int:
    """Write the tables of the answers to a study's pages."""
    from judgescope.people.recheck.answers import read, write

    plan, _, out = plan_of(told.study)
    found = read(plan, out, told.folder)
    texts = f" and {len(found.texts)} single texts" if found.texts else ""
    print(f"{found.ballots} files of answers, about {len(found.pairs)} pairs of texts{texts}")
    print("\n".join(found.lines()))
    for path in write(found, out / "reevaluation"):
        print(path)
    return 0
