"""The sentence of the rule R3: what a judge reaches that a simple rule may explain.

Reports and audits say it in these words.
"""

from collections.abc import Callable

from judgescope.methods.claims import base
from judgescope.report import cell_words
from judgescope.report.claims import ReportedClaim
from judgescope.statistics import headline as sentences

LENGTHS = {base.LENGTH: "length", base.BREVITY: "shortness"}
"""The rivals that score texts by their length."""


def unbeaten(
    claim: ReportedClaim,
    name: str,
    aspect: str,
    written: Callable[[str, float], str],
    whom: str = "people",
) -> str:
    """The sentence of a claim that agrees, but may be explained by something simpler.

    aspect: "" where the table names none; `written` writes a statistic's value.
    """
    statistic = claim.row.statistic
    reached = written(statistic, claim.row.value or 0.0)
    codes = claim.codes
    beyond = claim.others.get(base.BEYOND_SYSTEMS)
    if base.THESE_SYSTEMS in codes and beyond is not None and beyond.value is not None:
        left = written(statistic, beyond.value)
        return sentences.not_beyond_systems(aspect or whom, name, reached, left)
    if base.HANGS_ON in codes:
        system = codes[base.HANGS_ON]
        return sentences.not_beyond_one(aspect or whom, name, reached, system)
    rival = claim.others.get("rival")
    value = claim.others.get("rival_value")
    known = value is not None and value.value is not None
    if rival is not None and rival.note in LENGTHS and known:
        assert value is not None
        theirs = written(statistic, value.value or 0.0)
        rule = f", the texts' {LENGTHS[rival.note]} {theirs}"
        return sentences.no_better_than_rule(aspect, name, reached, rule)
    if base.LENGTH_NOT_TESTED in codes:
        return sentences.length_not_tested(name, whom, aspect, reached)
    limit = f" ({cell_words.limit(claim)})"
    return sentences.no_better_than_rule(aspect, name, reached, limit)
