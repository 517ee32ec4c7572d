"""The first sentence of an audit: what can be said of the best judge, by fixed rules.

The rules, their order and their words are those of `statistics/headline.py`, which a
report has, too. Every name is cut, and no sentence has more than 25 words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from judgescope.cli.audit.further import PlaceChoices
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.rating_columns import ALL
from judgescope.methods.claims import base
from judgescope.report.cell_words import (
    below_person,
    gap_to_person,
    number_against_others,
)
from judgescope.report.cells import figures, of_few, short
from judgescope.report.claims import GOOD, ReportedClaim
from judgescope.report.report import Report, ShownJudge
from judgescope.report.rows import ReportRow
from judgescope.report.sections.sentences import (
    against_rater,
    misjudged,
    no_score,
    place_of_class,
)
from judgescope.report.unbeaten import unbeaten
from judgescope.report.words import count, listed, percent, plural, written
from judgescope.statistics import headline as sentences
from judgescope.statistics.headline import ONE_LABEL, HeadlineRule, Merit, cut, merit
from judgescope.statistics.intervals import FEWEST_SOURCES
from judgescope.statistics.verdict import Outcome, Sign

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
    name = _name(findings, best)
    # One rule of an audit stands for several of a report's: their first.
    rules = {
        HeadlineRule.UNREAD: _nothing(findings, best),
        HeadlineRule.PEOPLE_APART: _people_apart(findings, claims),
        HeadlineRule.BARS: _bars(findings, best, claims),
        HeadlineRule.LABELS_FAIL: _shares(findings, best, claims),
        HeadlineRule.ONE_LABEL: _one_label(findings, best, claims),
        HeadlineRule.AS_PERSON: _agreement(findings, best, claims),
        HeadlineRule.POSITION: _places(findings, best),
    }
    candidates: list[str] = []
    for rule in HeadlineRule:
        candidates += rules.get(rule, ())
    if not candidates:
        return f"No verdict on {name}: no number that decides was measured."
    return sentences.with_second(candidates[0], candidates[1:], name)


def best_judge(findings: FoundByAudit) -> ShownJudge:
    """The judge with most claims that hold, of equals that with larger numbers."""

    def rank(judge: ShownJudge) -> Merit:
        claims = findings.claims[judge.id]
        signs = [claim.sign for claim in claims]
        values = []
        for claim in claims:
            if claim.kind in AGREES and claim.row.value is not None:
                values.append(claim.row.value)
        mean = sum(values) / len(values) if values else -2.0
        return merit(signs, mean)

    return min(findings.judges, key=lambda judge: (rank(judge), judge.id))


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
    more = plural(len(known) - 3, "more aspect") if len(known) > 3 else ""
    who = "People" if raters < 2 else f"{count(raters)} people"
    return sentences.people_alone(who, numbers, more)


def _nothing(findings: FoundByAudit, best: ShownJudge) -> Iterator[str]:
    """Yield why there is no verdict on any judge."""
    claims = findings.all_claims
    if any(claim.outcome is not Outcome.NO_CLAIM for claim in claims):
        constant = [claim for claim in claims if base.CONSTANT in claim.reasons]
        if len(constant) == len(claims):
            names = listed([_name(findings, judge) for judge in findings.judges][:3])
            yield sentences.one_score(names, len(findings.judges))
        return
    unread = no_score(findings.report, best)
    if unread:
        yield f"No verdict: {_name(findings, best)} has no score that could be read."
        return
    codes = set[str]()
    for claim in claims:
        codes.update(claim.codes)
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


def _people_apart(
    findings: FoundByAudit, claims: Sequence[ReportedClaim]
) -> Iterator[str]:
    """Yield that people are apart on every aspect of the best judge's agreement."""
    agreements = [claim for claim in claims if claim.kind == base.AGREEMENT]
    disagreed = [claim for claim in agreements if base.NO_CEILING in claim.codes]
    if not disagreed or len(disagreed) < len(agreements):
        return
    first = disagreed[0]
    ceiling = ceiling_of(first)
    number = "" if ceiling is None else short(ceiling)
    aspects = _on(findings, disagreed).removeprefix(" on ") or "these ratings"
    about = "" if len(disagreed) == 1 else cut(first.subject)
    yield sentences.no_ceiling(aspects, number, about)


def ceiling_of(claim: ReportedClaim) -> ReportRow | None:
    """How well one person agrees with the others, where it limits a claim."""
    row = claim.others.get(f"{base.CEILING}_{claim.row.statistic}")
    return row if row is not None and row.value is not None else None


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
        yield f"{_name(findings, best)} meets {sentences.all_bars(len(bars))}."
        return
    worst = (missed or [claim for claim in bars if claim not in met])[0]
    about = worst.respect.format(worst.subject)
    number = short(worst.row) if worst.row.value is not None else "no number"
    if missed:
        of_bars = sentences.some_bars(len(missed), len(bars))
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
    for kind, does in (
        (base.CAUGHT, sentences.lets_through),
        (base.PASSED, sentences.rejects),
    ):
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
        yield f"{_name(findings, best)} {does(share, of)}."


def _one_label(
    findings: FoundByAudit, best: ShownJudge, claims: Sequence[ReportedClaim]
) -> Iterator[str]:
    """Yield that a judge gives nearly all texts one label."""
    constant = [claim for claim in claims if _says_one(claim)]
    if constant:
        says = constant[0].others["says_share"]
        name = _name(findings, best)
        yield sentences.says_one(name, f"“{cut(says.note)}”", short(says))


def _says_one(claim: ReportedClaim) -> bool:
    share = claim.others.get("says_share")
    says = share is not None and (share.value or 0.0) >= ONE_LABEL
    return says and claim.kind == base.LABELS and claim.outcome not in GOOD


# --- agreement ------------------------------------------------------------------------


def _agreement(
    findings: FoundByAudit, best: ShownJudge, claims: Sequence[ReportedClaim]
) -> Iterator[str]:
    mine = [claim for claim in claims if claim.kind in AGREES]
    by_sign: dict[Sign, list[ReportedClaim]] = {sign: [] for sign in Sign}
    for claim in mine:
        by_sign[claim.sign].append(claim)
    held = [c for c in by_sign[Sign.HOLDS] if base.NO_CEILING not in c.codes]
    if held:
        yield _holds(findings, best, held)
        rest = [claim for claim in mine if claim.sign is not Sign.HOLDS]
        if rest:
            yield f"{_on(findings, rest).replace(' on', 'On', 1)} that is not shown."
        return
    if by_sign[Sign.RULE]:
        yield _rule(findings, best, by_sign[Sign.RULE])
        return
    if by_sign[Sign.FAILS]:
        worst = min(by_sign[Sign.FAILS], key=lambda claim: claim.row.value or 0.0)
        name = _name(findings, best)
        on = _on(findings, [worst])
        yield sentences.ranks_against(name, "people", on, short(worst.row))
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
        name = _name(findings, best)
        on = _on(findings, [most])
        yield sentences.agreement_not_shown(figures(most.row), name, on)


def _undone_by(claim: ReportedClaim) -> str:
    """What undoes a claim whose number alone would hold, "" for others."""
    low = claim.row.ci_low
    if claim.kind != base.AGREEMENT or low is None or low <= 0:
        return ""
    codes = claim.codes
    if base.LOST in codes:
        return "if its missing scores were as wrong as can be"
    return "after Holm's correction over its aspects" if "holm" in codes else ""


def _holds(
    findings: FoundByAudit, best: ShownJudge, claims: Sequence[ReportedClaim]
) -> str:
    name = _name(findings, best)
    as_rater = [claim for claim in claims if claim.outcome is Outcome.AS_RATER]
    if as_rater:
        return f"{sentences.as_person(name, _on(findings, as_rater))}."
    first = max(claims, key=lambda claim: claim.row.value or 0.0)
    number = short(first.row)
    person = _one_person(findings, first)
    counted = _counted(first)
    if first.kind == base.LABELS:
        return sentences.gives_label(name, "people's label", number, person, counted)
    if first.kind == base.PAIRS:
        return sentences.picks(name, "what people prefer", number, person, counted)
    measured = ", ".join(filter(None, (number, counted)))
    beside = _beside_person(findings, first) or f" ({measured})"
    return sentences.follows(name, "people", _on(findings, claims), beside)


def _counted(claim: ReportedClaim) -> str:
    """The interval of a claim's number and how many it is of, "" for one of few."""
    row = claim.row
    if of_few(row) or row.ci_low is None or row.ci_high is None:
        return ""
    low = written(row.statistic, row.ci_low)
    high = written(row.statistic, row.ci_high)
    noun = "pair" if claim.kind == base.PAIRS else "text"
    return f"{low} to {high}, {plural(row.n, noun)}"


def _beside_person(findings: FoundByAudit, claim: ReportedClaim) -> str:
    """That a judge is below a person, both against the same other raters; "" else."""
    gap = gap_to_person(claim)
    if gap is None or not below_person(gap):
        return ""
    for row in findings.people:
        same = (row.aspect, row.statistic) == (claim.row.aspect, claim.row.statistic)
        against = number_against_others(claim, row) if same else None
        if against is not None:
            return sentences.below_person(written(row.statistic, against), short(row))
    return ""


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
    first = max(claims, key=lambda claim: claim.row.value or 0.0)
    aspect = _on(findings, [first]).removeprefix(" on ")
    return unbeaten(first, _name(findings, best), aspect, written)


def _places(findings: FoundByAudit, best: ShownJudge) -> Iterator[str]:
    """Yield that the judge prefers a place, where people do so less."""
    for choices in findings.place_choices:
        if choices.judge == best.id and choices.differs:
            of_judge = short(choices.of_judge)
            of_people = short(choices.of_people)
            name = _name(findings, best)
            yield sentences.prefers_place(name, "first", of_judge, of_people)
