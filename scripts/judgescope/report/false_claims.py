"""How many claims of a page are false in expectation, whatever the truth is."""

from collections.abc import Iterable
from dataclasses import dataclass

from judgescope.methods.claims import base
from judgescope.report.claims import ReportedClaim
from judgescope.report.words import listed
from judgescope.statistics.intervals import holm
from judgescope.statistics.verdict import LEVEL, Outcome


@dataclass(frozen=True)
class FalseClaims:
    """The families of claims on a page, and what that many families cost.

    Over a family, the claims of one judge and kind, Holm's correction is made; a share
    or a bar that an interval decides is a family of its own. `hold` claims pass within
    their families, `hold_overall` of them also with Holm over all claims of the page.

    >>> page = FalseClaims(1, hold=0, hold_overall=0, aside=("damage",))
    >>> page.sentence.partition(", ")[2]
    'not counting those on damage.'
    """

    families: int
    hold: int
    hold_overall: int
    aside: tuple[str, ...] = ()
    """What the claims are about that have another level than these families."""

    @property
    def expected(self) -> float:
        """At most so many false claims are expected (docs/methods.md, "Rules of the
        verdicts")."""
        return LEVEL * self.families

    @property
    def sentence(self) -> str:
        """The last line of a page, "" without a claim that is tested."""
        if not self.families:
            return ""
        text = f"At most {self.expected:.3g} false claims are expected on this page"
        if self.aside:
            text += f", not counting those on {listed([*self.aside])}"
        if self.families > 1:
            others = "other families" if self.aside else "families"
            text += f": {LEVEL:g} for each of its {self.families} {others} of claims"
        if not self.hold:
            return f"{text}."
        which = "the claim that passes its tests also passes"
        if self.hold > 1:
            which = (
                f"{self.hold_overall} of {self.hold} claims that pass their tests also "
                "pass"
            )
        elif not self.hold_overall:
            which = "the claim that passes its tests does not pass"
        return f"{text}; {which} with Holm's correction over the whole page."


def false_claims(claims: Iterable[ReportedClaim]) -> FalseClaims:
    """Count the families of claims, and those that hold over the whole page."""
    # Claims that are decided at another level -> what they are about.
    other_levels = {base.PERTURBATION: "damage", base.HINTS: "false hints"}
    aside = dict[str, None]()
    families = set[tuple[str, ...]]()
    tested = list[ReportedClaim]()
    for claim in claims:
        p = claim.p
        if p is not None:
            families.add((claim.judge, claim.dataset, claim.kind))
            tested.append(claim)
        elif claim.outcome is not Outcome.NO_CLAIM and _by_interval(claim):
            families.add((claim.judge, claim.dataset, claim.kind, claim.subject))
        elif claim.outcome is not Outcome.NO_CLAIM and claim.kind in other_levels:
            aside[other_levels[claim.kind]] = None
    held = {Outcome.BETTER, Outcome.AS_RATER}
    adjusted = holm([claim.p or 0.0 for claim in tested])
    hold = hold_overall = 0
    for claim, p_holm in zip(tested, adjusted.tolist(), strict=True):
        if claim.outcome in held:
            hold += 1
            hold_overall += p_holm <= LEVEL
    return FalseClaims(len(families), hold, hold_overall, (*aside,))


def _by_interval(claim: ReportedClaim) -> bool:
    """Whether an interval of 95 % decides a claim, not a test."""
    if claim.kind in (base.CAUGHT, base.PASSED):
        return True
    return claim.kind.startswith(base.BAR)
