"""The last sections of docs/planted.md: raters, graders of rubrics, doubted labels.

They take minutes, so that they can be measured without the rest of the page:

    python benchmarks/planted_further.py --studies 100 --write docs/planted.md
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import planted_people
import planted_rubrics
from planted_tallies import Tally, most_in_vain
from slices import listed

from judgescope.statistics.doubt import IN_VAIN

BEGINS: Final = "## Raters who do not agree"
PAGE: Final = """{begins}

A judge is recommended only where people's agreement with each other is shown. Raters
with a correlation of .6 may lose the recommendation in at most 5 % of {raters} studies,
raters who answer at random must lose it in at least 80 %.

{people}

## Graders of a rubric

A planted grader errs in a tenth of the cases, as two experts do, and then has one
defect (60 questions with an answer of each of 3 systems, 8 criteria; {studies} studies
a strength). The bar is as above.

{graders}

In vain, of a grader without a defect; at most {most} of {alarms} may alarm:

{in_vain}

## Doubted labels

5 % of 700 labels are wrong; judges of different families err together (latent normal
errors, correlation .3). Of the 20 texts that *label or judge?* lists, these shares are
right after all ({studies} studies a number). The page says the share by the number of
judges:

{doubted}
"""


def sections(studies: int) -> str:
    """Return the sections, from their first heading on."""
    alarms = 2 * studies
    graders = [*planted_rubrics.tallies(studies)]
    in_vain = [*planted_rubrics.in_vain(alarms)]
    return PAGE.format(
        begins=BEGINS,
        raters=5 * studies,
        people=planted_people.table(5 * studies),
        studies=studies,
        graders=_found(graders),
        most=most_in_vain(alarms),
        alarms=alarms,
        in_vain=_vain(in_vain),
        doubted=_doubted(studies),
    )


def _doubted(studies: int) -> str:
    lines = [
        "| judges | each right on 9 of 10 texts | each right on 8 of 10 texts |",
        "| --- | --- | --- |",
    ]
    for judges in IN_VAIN:
        vain = []
        for accuracy in (0.9, 0.8):
            _, in_vain, _ = listed(accuracy, judges, studies)
            vain.append(f"{in_vain:.2f}")
        lines.append(f"| {judges} | {' | '.join(vain)} |")
    return "\n".join(lines)


def _found(tallies: Sequence[Tally]) -> str:
    lines = [
        "| planted | strength | expected | found in | also named | bar |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for each in tallies:
        strength = f"**{each.strength}**" if each.stated else each.strength
        others = [f"{name} {count}" for name, count in sorted(each.others.items())]
        bar = "–"
        if each.stated:
            bar = "passes" if each.passes else "**missed**"
        lines.append(
            f"| {each.defect} | {strength} | {each.expected} | {each.found} of "
            f"{each.studies} | {', '.join(others) or '–'} | {bar} |"
        )
    return "\n".join(lines)


def _vain(tallies: Sequence[Tally]) -> str:
    lines = ["| tested for | alarms in | bar |", "| --- | --- | --- |"]
    for each in tallies:
        passes = each.found <= most_in_vain(each.studies)
        bar = "passes" if passes else "**missed**"
        lines.append(f"| {each.expected} | {each.found} of {each.studies} | {bar} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print the sections, and put them into the page where that is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--write", type=Path)
    args = parser.parse_args()
    text = sections(args.studies)
    print(text)
    if args.write is not None:
        page = args.write.read_text(encoding="utf-8")
        rest = page.partition(BEGINS)[0].rstrip("\n")
        args.write.write_text(f"{rest}\n\n{text}", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
