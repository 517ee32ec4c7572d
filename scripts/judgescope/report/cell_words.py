"""The words of a claim in a cell of the matrix: its value, what limits it, its sign."""

from collections.abc import Mapping, Sequence
from typing import Final

from judgescope.methods.claims import base
from judgescope.methods.claims.labels import ENOUGH_FOUND
from judgescope.methods.claims.rows import RIVAL
from judgescope.report.cells import figures, of_few
from judgescope.report.claims import FOUND, KINDS, ReportedClaim
from judgescope.report.drawing import SIGN_WORDS
from judgescope.report.report import Report
from judgescope.report.rows import ReportRow
from judgescope.report.words import (
    DASH,
    brief,
    count,
    label,
    p_value,
    plural,
    spoken,
)
from judgescope.statistics.raters import UndecidedGap
from judgescope.statistics.verdict import CODES, Outcome, Sign

NO_CLAIM: Final = {
    base.HINTED: "told the ratings",
    base.TOO_MANY_LOST: "too many lost",
    "no_interval": "too few sources",
    "not_computed": "not computed",
    "not_judged": "scores missing",
    "continuous": "no classes",
    "asked_once": "asked once",
}
"""Why there is no claim -> at most three words for it."""
NO_PERSON: Final = "people do not agree"
"""The words of a claim that holds where people do not agree with each other."""
LEFT: Final = "normal_scores"
"""The kind of number that is left of a claim without length."""


def value(claim: ReportedClaim) -> str:
    """The deciding number of a claim, short; the number of texts where it is of few."""
    row = number_row(claim)
    if row.value is None or row.statistic == base.VERDICT:
        return DASH
    if of_few(row):
        return f"n = {count(row.n)}"
    return brief(row.statistic, row.value)


def number_row(claim: ReportedClaim) -> ReportRow:
    """The row of the number that a claim shows: of damage the net share noticed."""
    if claim.kind == base.PERTURBATION:
        return claim.others.get("net_share", claim.row)
    return claim.row


def spread(row: ReportRow) -> str:
    """The 95 % interval of a number in short words, "" without one."""
    if row.ci_low is None or row.ci_high is None:
        return ""
    low = brief(row.statistic, row.ci_low)
    return f"{low} to {brief(row.statistic, row.ci_high)}"


def second_line(report: Report, claim: ReportedClaim) -> str:
    """What is written next to the value: degree, rival, interval, or what is failed."""
    sign = claim.sign
    if sign is Sign.HOLDS:
        return degree(claim)
    if sign is Sign.RULE:
        return limit(claim)
    if sign is Sign.FAILS:
        return failed(report, claim)
    if sign is Sign.NO_CLAIM:
        return why_no_claim(claim)
    codes = claim.codes
    if base.CONSTANT in codes:
        if claim.kind == base.LABELS:
            return "one answer for all"
        return "one score for all"
    if base.SAYS in codes and "says_share" in claim.others:
        share = claim.others["says_share"]
        return (
            f"says {codes[base.SAYS]} to {brief(share.statistic, share.value or 0.0)}"
        )
    if claim.outcome is Outcome.CANNOT_TELL:
        return _open(claim)
    shown = spread(number_row(claim))
    if CODES.holm in codes:
        if shown:
            return f"{shown}, not after Holm"
        return "not after Holm"
    return shown or "no interval"


def _open(claim: ReportedClaim) -> str:
    """The interval of a number whose bar is open, and whether the bar is in it."""
    row = number_row(claim)
    bar = _bar_value(claim)
    parts = [f"open: {with_n(claim)}".removesuffix(": "), bar_words(claim)]
    known = bar is not None and row.ci_low is not None and row.ci_high is not None
    if known and (row.ci_low or 0.0) <= (bar or 0.0) <= (row.ci_high or 0.0):
        parts[1] += " is inside"
    return "; ".join(parts)


def with_n(claim: ReportedClaim) -> str:
    """The interval of a number and, of a share of texts, how many they are."""
    row = number_row(claim)
    shown = spread(row)
    # Statistics that are shares of the texts of a label.
    share_statistics = frozenset({"tnr", "tpr"})
    if shown and row.statistic in share_statistics:
        return f"{shown} of {plural(row.n, 'text')}"
    return shown


def degree(claim: ReportedClaim) -> str:
    """How far a claim holds: beside one person where people rated, else what it beats.

    Such as "as well as one person", "below one person", "meets bar 80 %", "beats
    length 0.36".
    """
    if claim.outcome is Outcome.AS_RATER:
        return "as well as one person"
    if claim.outcome is Outcome.MEETS or claim.kind in FOUND:
        return "; ".join(filter(None, (f"meets {bar_words(claim)}", with_n(claim))))
    if claim.outcome is Outcome.WITHSTANDS:
        if claim.kind == base.HINTS:
            return "withstands them"
        return "shown"
    if claim.outcome is Outcome.NOTICED:
        return "noticed"
    gap = gap_to_person(claim)
    if gap is not None:
        if below_person(gap):
            return "below one person"
        return "open beside one person"
    if base.NO_CEILING in claim.codes:
        return NO_PERSON
    return beaten(claim)


def beaten(claim: ReportedClaim) -> str:
    """What a claim that holds is better than: the strongest rival, or chance."""
    rival = rival_words(claim)
    # Strongest rival -> the word before it where a claim holds, "beats" of others.
    beats = {base.BEST_LENGTH: "keeps"}
    if rival:
        return f"{beats.get(_rival(claim), 'beats')} {rival}"
    return "beats chance"


def gap_to_person(claim: ReportedClaim) -> ReportRow | None:
    """The difference from one more rater, None if it is not known."""
    row = claim.others.get(f"{base.AS_RATER}_{claim.row.statistic}")
    if row is not None and row.value is not None:
        return row
    return None


def below_person(gap: ReportRow) -> bool:
    """Whether the interval of the difference from a person lies below 0."""
    return gap.ci_high is not None and gap.ci_high < 0


def beside_person(claim: ReportedClaim) -> str:
    """What a claim's difference from one more rater says, "" if it is not known."""
    gap = gap_to_person(claim)
    if gap is None:
        return ""
    if claim.undecided is None:
        return gap.note
    return undecided_words(claim.undecided, below=below_person(gap))


def undecided_words(gap: UndecidedGap, *, below: bool) -> str:
    """What is open of a difference from one more rater, and what would decide it.

    below: whether its interval lies below 0; "undecided" is said only where it does
    not.

    >>> undecided_words(UndecidedGap(0.05, 90), below=False)
    'open whether within 0.05 of a person; about 90 sources would decide'
    """
    decide = f"about {gap.sources} sources would decide"
    if below:
        how_far = f"by less than the margin {gap.margin:g} or more"
        return f"below a person, {how_far}: open; {decide}"
    return f"open whether within {gap.margin:g} of a person; {decide}"


def number_against_others(
    claim: ReportedClaim, person: ReportRow | None
) -> float | None:
    """The judge's number against the raters that one person is compared with.

    None where people cannot be compared. The claim's own number is against all raters.
    """
    gap = gap_to_person(claim)
    if gap is None or gap.value is None or person is None or person.value is None:
        return None
    return person.value + gap.value


def against_others(claim: ReportedClaim, person: ReportRow | None) -> str:
    """The judge's number against the other raters beside a person's, "" if unknown."""
    number = number_against_others(claim, person)
    if number is None or person is None or person.value is None:
        return ""
    name = claim.row.statistic
    one_person = brief(name, person.value)
    return f"against the others {brief(name, number)}, a person {one_person}"


# --- rivals ---------------------------------------------------------------------------


def rival_words(claim: ReportedClaim) -> str:
    """The strongest rival of a claim and its value, "" where it has none.

    Such as "length 0.36", "shortness 0.45", "0.04 without length", "knowing only the
    system, p 0.2".
    """
    strongest = claim.others.get(RIVAL)
    if strongest is None:
        return ""
    rival_value = claim.others.get(f"{RIVAL}_value")
    known = rival_value.value if rival_value is not None else None
    name = strongest.note
    if name in (base.LENGTH, base.BREVITY):
        word = "length" if name == base.LENGTH else "shortness"
        own_value = ""
        if known is not None:
            own_value = brief(claim.row.statistic, known)
        return f"{word} {own_value}".rstrip()
    if name == base.BEST_LENGTH:
        # What a curve of length leaves is a correlation, whatever the claim's number.
        if known is None:
            return "length"
        return f"{brief(LEFT, known)} without length"
    # The rival that gives every text the same score as others of its system.
    only_system = "knowing only the system"
    if name == base.SYSTEMS:
        if strongest.value is not None:
            return f"{only_system}, p {p_value(strongest.value)}"
        return only_system
    if name == base.WITHIN:
        return "knowing only the source"
    return ""


def _rival(claim: ReportedClaim) -> str:
    strongest = claim.others.get(RIVAL)
    return strongest.note if strongest is not None else ""


def _unbeaten(claim: ReportedClaim) -> str:
    """The rival that a claim is not shown to beat, and whether it does better."""
    words = rival_words(claim)
    name = _rival(claim)
    own = claim.others.get(f"{RIVAL}_value")
    if name in (base.LENGTH, base.BREVITY) and own is not None:
        mine = claim.row.value
        known = own.value is not None and mine is not None
        if known and (own.value or 0.0) > (mine or 0.0):
            word, _, number = words.partition(" ")
            return f"{word} does better: {number}"
        return f"not shown to beat {words}"
    if name == base.SYSTEMS:
        return words.replace("knowing only", "may only know")
    return words


def limit(claim: ReportedClaim) -> str:
    """What a claim that agrees may be explained by, or what it is limited to."""
    codes = claim.codes
    for code in (base.IS_LENGTH, base.QUALITY_IS_LENGTH):
        if code in codes:
            return f"is length, R² {codes[code].lstrip('0')}"
    beyond = claim.others.get(base.BEYOND_SYSTEMS)
    if base.THESE_SYSTEMS in codes:
        if beyond is not None and beyond.value is not None:
            return f"{brief(claim.row.statistic, beyond.value)} within one system"
        return "for these systems only"
    if base.HANGS_ON in codes:
        return f"hangs on system {codes[base.HANGS_ON]}"
    if claim.kind == base.PERTURBATION:
        return "by length"
    if base.LENGTH_NOT_TESTED in codes:
        return "length not tested"
    if base.WITHIN in codes and base.SYSTEMS not in codes:
        return "may only know the source"
    if claim.kind in FOUND:
        return "so does length"
    return _unbeaten(claim) or _reason_words(codes)


def _reason_words(codes: Mapping[str, str]) -> str:
    words = {
        base.LENGTH: "may be length",
        base.BREVITY: "may be shortness",
        base.SYSTEMS: "may only know the system",
    }
    return next((words[code] for code in codes if code in words), "may be a rule")


def failed(report: Report, claim: ReportedClaim) -> str:
    """What a claim fails: people, the plan, a bar."""
    # Kind of claims that fail -> what it fails.
    who_is_failed = {
        base.PERTURBATION: "not noticed",
        base.HINTS: "follows false hints",
        base.CRITERIA: "criteria mixed up",
    }
    if claim.kind in who_is_failed:
        return who_is_failed[claim.kind]
    if claim.kind in FOUND or claim.kind.startswith(base.BAR):
        return "; ".join(filter(None, (f"misses {bar_words(claim)}", with_n(claim))))
    sources = {each.id: each.rated_by for each in report.datasets}
    if claim.kind in (base.GRADED, base.SEQUENCE):
        if claim.kind == base.SEQUENCE:
            return "against the order"
        return "against ratings"
    return f"against {sources[claim.dataset].short}"


def bar_words(claim: ReportedClaim) -> str:
    """The bar of a claim: the stated one, or the default of labels."""
    bar = _bar_value(claim)
    if bar is None:
        return "the bar"
    found = claim.kind in FOUND
    name = KINDS[claim.kind].number if found else claim.row.statistic
    return f"bar {brief(name, bar)}"


def _bar_value(claim: ReportedClaim) -> float | None:
    """The stated bar of a claim, of labels the default one; None where none is."""
    if claim.kind in FOUND:
        return ENOUGH_FOUND
    bar = claim.others.get(base.BAR)
    return None if bar is None else bar.value


def why_no_claim(claim: ReportedClaim) -> str:
    """Why there is no claim, in at most three words."""
    for code in claim.codes:
        if code in NO_CLAIM:
            return NO_CLAIM[code]
        words = spoken(code).split()
        if len(words) <= 3:
            return " ".join(words)
    note = claim.row.note
    if note in NO_CLAIM:
        return NO_CLAIM[note]
    if note and len(note.split()) <= 3:
        return spoken(note)
    return "not tested"


# --- hidden words ---------------------------------------------------------------------


def hidden(report: Report, claim: ReportedClaim) -> str:
    """Outcome, number, interval and rival of a claim, for screen readers."""
    row = number_row(claim)
    name = ""
    if row.statistic != base.VERDICT:
        name = label(row.statistic)
    parts = [SIGN_WORDS[claim.sign]]
    if name and row.value is not None:
        parts.append(f"{name} {figures(row)}")
    elif name:
        parts.append(name)
    rival = rival_words(claim)
    if rival:
        parts.append(f"strongest rival: {rival}")
    return "; ".join(parts)


def counted(claims: Sequence[ReportedClaim]) -> tuple[str, str]:
    """How many of several claims hold, and what of the others is worth saying.

    Such as ("1", "of 4, 2 by length") or ("0", "of 6, 3 fail").
    """
    signs = [claim.sign for claim in claims]
    held = signs.count(Sign.HOLDS)
    parts = [f"of {len(claims)}"]
    damage = all(claim.kind == base.PERTURBATION for claim in claims)
    by_length = signs.count(Sign.RULE)
    if by_length and damage:
        parts.append(f"{by_length} by length")
    failing = signs.count(Sign.FAILS)
    if failing:
        parts.append(f"{failing} fail{'s' if failing == 1 else ''}")
    return str(held), ", ".join(parts)


def counted_hidden(claims: Sequence[ReportedClaim]) -> str:
    """How many of several claims have which sign, for screen readers."""
    signs = [claim.sign for claim in claims]
    parts = []
    # Sign -> its words behind a number of claims.
    counted_kinds = {
        Sign.HOLDS: "shown to hold",
        Sign.RULE: "with limits",
        Sign.NOT_SHOWN: "not shown",
        Sign.FAILS: "failed",
        Sign.NO_CLAIM: "without a claim",
    }
    for sign in Sign:
        number = signs.count(sign)
        if number:
            parts.append(f"{number} {counted_kinds[sign]}")
    return f"{plural(len(claims), 'claim')}: {'; '.join(parts)}"
