"""The first sentence of an audit: what can be said of the best judge, by fixed rules.

The first rule that applies decides. Praise never comes first where a bar, or a share of
bad texts, fails. Every name is cut, and no sentence has more than 25 words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from judgescope.cli.audit.further import PlaceChoices
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.rating_columns import ALL
from judgescope.methods.claims import base
from judgescope.report.cells import figures, short
from judgescope.report.claims import GOOD, ReportedClaim
from judgescope.report.report import Report, ShownJudge
from judgescope.report.rows import ReportRow
from judgescope.report.sections.sentences import (
    against_rater,
    length_not_tested,
    misjudged,
    no_score,
    place_of_class,
    rival_in_words,
)
from judgescope.report.words import count, listed, percent, written
from judgescope.statistics.intervals import FEWEST_SOURCES
from judgescope.statistics.verdict import Outcome, Sign

MOST_WORDS: Final = 25
AGREES: Final = (base.AGREEMENT, base.LABELS, base.PAIRS)


class FoundByAudit(Protocol):
    """What the sentence is made of: see `AuditFindings`."""

    @property
    def draft(self) -> StudyDraft:
        """The study made of the table."""
        ...

    @property
    def report(self) -> Report:
        """Its results."""
        ...

    @property
    def judges(self) -> Sequence[ShownJudge]:
        """The judges of the table."""
        ...

    @property
    def claims(self) -> Mapping[str, Sequence[ReportedClaim]]:
        """Judge -> the claims about it."""
        ...

    @property
    def all_claims(self) -> Sequence[ReportedClaim]:
        """The claims about all judges."""
        ...

    def named(self, judge: str) -> str:
        """A judge's name as people wrote it."""
        ...

    @property
    def people(self) -> Sequence[ReportRow]:
        """One rater's agreement with the others, by aspect."""
        ...

    @property
    def place_choices(self) -> Sequence[PlaceChoices]:
        """How often judge and people choose the first text."""
        ...


def headline(findings: FoundByAudit) -> str:
    """The sentence, and a second one if both have at most 25 words."""
    if not findings.judges:
        return _people_only(findings)
    best = best_judge(findings)
    claims = findings.claims[best.id]
    candidates = [
        *_nothing(findings, best),
        *_bars(findings, best, claims),
        *_shares(findings, best, claims),
        *_agreement(findings, best, claims),
        *_places(findings, best),
    ]
    if not candidates:
        name = _name(findings, best)
        return f"No verdict on {name}: no number that decides was measured."
    first = candidates[0]
    for second in candidates[1:]:
        name = f"{_name(findings, best)} "
        if second.startswith(name):
            second = f"It {second.removeprefix(name)}"
        both = f"{first} {second}"
        if len(both.split()) <= MOST_WORDS:
            return both
    return first


def best_judge(findings: FoundByAudit) -> ShownJudge:
    """The judge with most claims that hold, of equals that with larger numbers."""

    def rank(judge: ShownJudge) -> tuple[float, ...]:
        claims = findings.claims[judge.id]
        signs = [claim.sign for claim in claims]
        values = []
        for claim in claims:
            if claim.kind in AGREES and claim.row.value is not None:
                values.append(claim.row.value)
        mean = sum(values) / len(values) if values else -2.0
        return (
            -signs.count(Sign.HOLDS),
            -signs.count(Sign.RULE),
            signs.count(Sign.FAILS),
            -mean,
        )

    return min(findings.judges, key=lambda judge: (rank(judge), judge.id))


def cut(name: str, limit: int = 24) -> str:
    """A name of at most 24 characters."""
    return name if len(name) <= limit else f"{name[: limit - 1]}…"


def _name(findings: FoundByAudit, judge: ShownJudge) -> str:
    return cut(findings.named(judge.id))


def _on(findings: FoundByAudit, claims: Sequence[ReportedClaim]) -> str:
    """` on` the aspects of claims: up to three names, else how many.

    "" if the table names no aspect.
    """
    aspects = list(findings.draft.columns.ratings)
    if aspects == [ALL]:
        return ""
    names = list(dict.fromkeys(claim.subject for claim in claims))
    if len(names) > 3 and len(names) == len(aspects):
        return f" on all {len(names)} aspects"
    if len(names) > 3:
        return f" on {len(names)} of {len(aspects)} aspects"
    return f" on {listed([cut(name) for name in names])}"


# --- no verdict -----------------------------------------------------------------------


def _people_only(findings: FoundByAudit) -> str:
    raters = max(map(len, findings.draft.columns.ratings.values()))
    known = [row for row in findings.people if row.value is not None]
    if not known:
        return "No verdict: there is neither a judge nor an agreement of people."
    numbers = []
    for row in known[:3]:
        on = f" on {cut(findings.report.aspect(row.aspect))}"
        numbers.append(f"{short(row)}{'' if row.aspect == ALL else on}")
    more = f" and {len(known) - 3} more aspects" if len(known) > 3 else ""
    who = "People agree" if raters < 2 else f"{count(raters)} people agree"
    return f"{who} {', '.join(numbers)}{more}. No judge was asked."


def _nothing(findings: FoundByAudit, best: ShownJudge) -> Iterator[str]:
    """Yield why there is no verdict on any judge."""
    claims = findings.all_claims
    if any(claim.outcome is not Outcome.NO_CLAIM for claim in claims):
        constant = [claim for claim in claims if base.CONSTANT in claim.reasons]
        if len(constant) == len(claims):
            names = listed([_name(findings, judge) for judge in findings.judges][:3])
            yield f"No verdict: {names} gives every text the same score."
        return
    unread = no_score(findings.report, best)
    if unread:
        yield f"No verdict: {_name(findings, best)} has no score that could be read."
        return
    codes = set[str]()
    for claim in claims:
        codes.update(code.partition(": ")[0] for code in claim.reasons)
    if base.TOO_MANY_LOST in codes:
        name = _name(findings, best)
        yield f"No verdict: more than a fifth of {name}'s judgments are lost."
    elif "no_interval" in codes:
        yield f"No verdict yet: {_too_few(findings, claims)}."


def _too_few(findings: FoundByAudit, claims: Sequence[ReportedClaim]) -> str:
    """What there is too little of for an interval."""
    sources = findings.report.datasets[0].counts.items
    if sources < FEWEST_SOURCES:
        few = "there is 1 source" if sources == 1 else f"there are {sources} sources"
        return f"{few}, and {FEWEST_SOURCES} are needed"
    for claim in claims:
        varied = re.fullmatch(
            r".*: (\d+) sources have two different ratings", claim.row.note
        )
        if varied:
            return (
                f"{varied[1]} of {sources} sources have texts with different ratings, "
                f"and {FEWEST_SOURCES} are needed"
            )
        uneven = re.search(r"count as ([\d.]+), because", claim.row.note)
        if uneven:
            return (
                f"a few of the {sources} sources have most of the texts, so that they "
                f"count as {uneven[1]}; {FEWEST_SOURCES} are needed"
            )
    return "too few sources have both a rating and a score; 10 are needed"


# --- bars and shares ------------------------------------------------------------------


def _bars(
    findings: FoundByAudit, best: ShownJudge, claims: Sequence[ReportedClaim]
) -> Iterator[str]:
    bars = [claim for claim in claims if claim.kind.startswith(base.BAR)]
    if not bars:
        return
    met = [claim for claim in bars if claim.outcome is Outcome.MEETS]
    missed = [claim for claim in bars if claim.outcome is Outcome.MISSES]
    if len(met) == len(bars):
        which = "the bar" if len(bars) == 1 else f"all {len(bars)} bars"
        yield f"{_name(findings, best)} meets {which}."
        return
    worst = (missed or [claim for claim in bars if claim not in met])[0]
    about = worst.respect.format(worst.subject)
    number = short(worst.row) if worst.row.value is not None else "no number"
    if missed:
        of_bars = "the bar" if len(bars) == 1 else f"{len(missed)} of {len(bars)} bars"
        yield f"{_name(findings, best)} misses {of_bars}: {number}, not {about}."
    else:
        name = _name(findings, best)
        yield f"Open whether {name} meets its bar: {number} for {about}."


def _shares(
    findings: FoundByAudit, best: ShownJudge, claims: Sequence[ReportedClaim]
) -> Iterator[str]:
    """Yield the share of bad texts let through, and of good ones rejected, if it
    fails.
    """
    constant = [claim for claim in claims if _says_one(claim)]
    if constant:
        says = constant[0].others["says_share"]
        said = f"says “{cut(says.note)}” to {short(says)} of all texts"
        yield f"{_name(findings, best)} {said}: it does not judge."
        return
    for kind, verb in ((base.CAUGHT, "lets"), (base.PASSED, "rejects")):
        failed = [
            claim
            for claim in claims
            if claim.kind == kind and claim.outcome is Outcome.MISSES
        ]
        if not failed:
            continue
        worst = min(failed, key=lambda claim: claim.row.value or 0.0)
        share = percent(1 - (worst.row.value or 0.0))
        place = place_of_class(worst) or 0
        labels = findings.report.datasets[0].labels_on(worst.row.judged)
        of = f"“{cut(labels[place])}” texts ({misjudged(worst)} of {worst.row.n})"
        through = " through" if kind == base.CAUGHT else ""
        yield f"{_name(findings, best)} {verb} {share} of {of}{through}."


def _says_one(claim: ReportedClaim, least_share: float = 0.95) -> bool:
    share = claim.others.get("says_share")
    says = share is not None and (share.value or 0.0) >= least_share
    return says and claim.kind == base.LABELS and claim.outcome not in GOOD


# --- agreement ------------------------------------------------------------------------


def _agreement(
    findings: FoundByAudit, best: ShownJudge, claims: Sequence[ReportedClaim]
) -> Iterator[str]:
    mine = [claim for claim in claims if claim.kind in AGREES]
    by_sign: dict[Sign, list[ReportedClaim]] = {sign: [] for sign in Sign}
    for claim in mine:
        by_sign[claim.sign].append(claim)
    if by_sign[Sign.HOLDS]:
        yield _holds(findings, best, by_sign[Sign.HOLDS])
        rest = [claim for claim in mine if claim.sign is not Sign.HOLDS]
        if rest:
            yield f"{_on(findings, rest).replace(' on', 'On', 1)} that is not shown."
        return
    if by_sign[Sign.RULE]:
        yield _rule(findings, best, by_sign[Sign.RULE])
        return
    if by_sign[Sign.FAILS]:
        worst = min(by_sign[Sign.FAILS], key=lambda claim: claim.row.value or 0.0)
        yield (
            f"{_name(findings, best)} ranks texts against people"
            f"{_on(findings, [worst])} ({short(worst.row)})."
        )
        return
    shown = [claim for claim in by_sign[Sign.NOT_SHOWN] if claim.row.value is not None]
    if shown:
        most = max(shown, key=lambda claim: claim.row.value or 0.0)
        limit = _undone_by(most)
        if limit:
            yield (
                f"{_name(findings, best)} agrees with people{_on(findings, [most])} "
                f"({short(most.row)}), but not {limit}."
            )
            return
        yield (
            f"Agreement with people is not shown: at best {figures(most.row)} "
            f"({_name(findings, best)}{_on(findings, [most])})."
        )


def _undone_by(claim: ReportedClaim) -> str:
    """What undoes a claim whose number alone would hold, "" for others."""
    low = claim.row.ci_low
    if claim.kind != base.AGREEMENT or low is None or low <= 0:
        return ""
    codes = {code.partition(": ")[0] for code in claim.reasons}
    if base.LOST in codes:
        return "if its missing scores were as wrong as can be"
    return "after Holm's correction over its aspects" if "holm" in codes else ""


def _holds(
    findings: FoundByAudit, best: ShownJudge, claims: Sequence[ReportedClaim]
) -> str:
    name = _name(findings, best)
    as_rater = [claim for claim in claims if claim.outcome is Outcome.AS_RATER]
    if as_rater:
        return (
            f"{name} agrees with people as well as one of them does"
            f"{_on(findings, as_rater)}."
        )
    first = max(claims, key=lambda claim: claim.row.value or 0.0)
    number = short(first.row)
    person = _one_person(findings, first)
    if first.kind == base.LABELS:
        beside = f"; one person in {person}" if person else ""
        return (
            f"{name} gives people's label in {number} of texts, averaged over labels"
            f"{beside}."
        )
    if first.kind == base.PAIRS:
        beside = f"; one person does in {person}" if person else ""
        return f"{name} picks what people prefer in {number} of pairs{beside}."
    beside = f", one person {person}" if person else ""
    return f"{name} follows people{_on(findings, claims)} ({number}{beside})."


def _one_person(findings: FoundByAudit, claim: ReportedClaim) -> str:
    """The number of one person in the judge's place, "" if it is not known."""
    if against_rater(claim) is None:
        return ""
    for row in findings.people:
        same = (row.aspect, row.statistic) == (claim.row.aspect, claim.row.statistic)
        if same and row.value is not None:
            return short(row)
    return ""


def _rule(
    findings: FoundByAudit, best: ShownJudge, claims: Sequence[ReportedClaim]
) -> str:
    name = _name(findings, best)
    first = max(claims, key=lambda claim: claim.row.value or 0.0)
    on = _on(findings, [first])
    number = short(first.row)
    if first.outcome not in GOOD:
        rival = _rival(first)
        return (
            f"{name} is not shown to beat a simple rule{on}: it reaches "
            f"{figures(first.row)}{rival}."
        )
    codes = {code.partition(": ")[0]: code for code in first.reasons}
    limits = []
    if base.THESE_SYSTEMS in codes:
        systems = codes[base.THESE_SYSTEMS].partition(": ")[2]
        limits.append(f"for these {systems} systems only")
    if base.HANGS_ON in codes:
        system = codes[base.HANGS_ON].partition(": ")[2]
        limits.append(f"only with system {cut(system)}")
    if length_not_tested(first):
        limits.append("but text length was not tested")
    if not limits:
        limits.append("but text length may explain it")
    # Several aspects share one limit more often than one number.
    several = length_not_tested(first) and len(limits) == 1 and len(claims) > 1
    on = _on(findings, claims if several else [first])
    least = "at best " if several else ""
    return f"{name} agrees with people{on} ({least}{number}), {', '.join(limits)}."


def _rival(claim: ReportedClaim) -> str:
    """The rule's own number, without its interval: `, text length 0.169`."""
    value = claim.others.get("rival_value")
    rival = claim.others.get("rival")
    if value is None or value.value is None or rival is None:
        return ""
    if rival.note in (base.LENGTH, base.BREVITY):
        reached = written(claim.row.statistic, value.value)
        rule = "text length" if rival.note == base.LENGTH else "shortness"
        return f", {rule} {reached}"
    words = rival_in_words(claim).partition(" [")
    return f", {short(value)} {words[2].partition('] ')[2]}" if words[1] else ""


def _places(findings: FoundByAudit, best: ShownJudge) -> Iterator[str]:
    """Yield that the judge prefers a place, where people do so less."""
    for choices in findings.place_choices:
        if choices.judge == best.id and choices.differs:
            yield (
                f"It takes the first text in {short(choices.of_judge)} of pairs, "
                f"people in {short(choices.of_people)}."
            )
