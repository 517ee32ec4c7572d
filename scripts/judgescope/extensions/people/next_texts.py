"""The command `judgescope next`: sources to rate next, and what their ratings show."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from judgescope.cli.context import plan_and_results
from judgescope.cli.terminal import aligned
from judgescope.statistics.result import Estimate

if TYPE_CHECKING:
    from judgescope.extensions.people.rounds import Looked


def next_texts(args: argparse.Namespace) -> int:
    """Draw sources and write their pages, or print the result of those rated so far."""
    from judgescope.extensions.people.rounds import opened  # here: its import is slow

    plan, out = plan_and_results(args.study)
    rounds = opened(
        plan,
        out,
        args.folder,
        dataset=args.dataset,
        judge=args.judge,
        aspect=args.aspect,
        looks=args.looks,
        voters=args.voters,
    )
    if args.n is not None:
        print("\n".join(rounds.draw_next(args.n)))
        return 0
    looked = rounds.look()
    declared = looked.declared
    which = f"look {looked.number} of {declared.looks} declared"
    if looked.number is None:
        which = f"no interval yet: none of {declared.looks} declared looks is used"
    print(f"{declared.dataset}, {declared.judge}, {declared.aspect}: {which}\n")
    print("\n".join(aligned([*_lines(looked)])))
    return 0


def _lines(looked: "Looked") -> Iterator[list[str]]:
    """Yield the cells of the title and of each difference and mean."""
    yield ["of", "corrected", "interval", "judge alone (uncorrected)", "rated", "note"]
    for line in looked.lines:
        estimate = line.corrected
        value = "-"
        if estimate.value is not None:
            value = f"{estimate.value:.3f}"
        alone = f"{line.judge_alone:.3f}"
        yield [
            line.name,
            value,
            _interval(estimate),
            alone,
            str(estimate.n),
            estimate.note,
        ]


def _interval(estimate: Estimate) -> str:
    if estimate.ci_low is None or estimate.ci_high is None:
        return "-"
    return f"[{estimate.ci_low:.3f}, {estimate.ci_high:.3f}]"
