"""The legend: the meaning of every sign, letter and shade of the report."""

from judgescope.report.cells import FLAT, NO_WIDTH_TOLD
from judgescope.report.elements import Facts, Heading, Section, Text
from judgescope.report.report import Report, in_group
from judgescope.report.sections.trust import RULES, STEP_WORDS
from judgescope.report.words import DASH, LEVELS

BELOW = "†"
SIGNS = (
    ("[low, high]", "the 95 % interval of the number above it"),
    (FLAT, NO_WIDTH_TOLD.removeprefix(f"{FLAT} ")),
    (BELOW, "below at least one control, by point estimate"),
    (
        "a, b, c",
        "judges that share a letter do not differ significantly in a paired permutation test "
        "(Holm over all pairs of the column, p ≤ 0.05); next to a rank correlation within "
        "sources, in a test of Spearman by source",
    ),
    (DASH, "not defined; the reason is below it"),
    ("n, missing, tied", "the texts or sources behind a number, those without a score, and ties"),
    (
        "difference",
        "of two judges, on the same items; if the interval includes 0, they are not distinguished",
    ),
    (
        "shade",
        "darker is larger: in steps at 10, 25, 50 and 75 % of a row; for right answers, at "
        "50, 70, 85 and 95 %",
    ),
    ("outline", "the class that is right, or the aspect that a perturbation should lower"),
    ("control", "a baseline that ignores quality; not a judge, and never ranked"),
)


@in_group("Reproduce", 20)
def section(_: Report) -> Section:
    """Return the steps of verdicts, the rules behind them, the signs of tables, and the levels."""
    lead = "Signs, letters and shades mean the same on every page of this report."
    blocks = [
        Heading("Steps of a verdict", "legend-steps"),
        Facts([(sign, meaning) for sign, meaning in reversed(STEP_WORDS.values())]),
        Text(RULES),
        Heading("Signs in tables", "legend-signs"),
        Facts(SIGNS),
        Heading("Levels of agreement", "legend-levels"),
        Facts([*LEVELS.values()]),
    ]
    return Section("legend", "Legend", lead, blocks)
