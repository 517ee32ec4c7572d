"""The sentence that a judge's page opens with: what holds and what fails."""

from collections.abc import Iterator, Sequence
from typing import Final

from judgescope.methods.claims import base
from judgescope.report import cell_words
from judgescope.report.answer import HeadlineRules
from judgescope.report.answer_data import few, named
from judgescope.report.claims import ReportedClaim
from judgescope.report.report import Report, ShownJudge
from judgescope.report.words import count, listed, plural
from judgescope.statistics.headline import words_in
from judgescope.statistics.verdict import Outcome, Sign

MOST_WORDS: Final = 30


def judge_answer(report: Report, judge: ShownJudge) -> str:
    """The sentence on one judge, at most 30 words; its name is in ticks."""
    name = named(judge.id)
    if judge.control:
        return f"{name} is a control, no judge: {judge.about}."
    if judge.hint:
        return f"{name} knows the right ratings, so its agreement shows nothing."
    rules = HeadlineRules(report)
    kept: list[str] = []
    for part in _parts(rules, judge):
        text = f"{name} {listed([*kept, part])}."
        if words_in(text) <= MOST_WORDS:
            kept.append(part)
    if not kept:
        return f"No claim about {name} was decided."
    return f"{name} {listed(kept)}."


def _parts(rules: HeadlineRules, judge: ShownJudge) -> Iterator[str]:
    """What can be said of a judge, the most decisive first."""
    misses, _ = rules.misses(judge)
    if misses:
        yield misses.replace("; it ", " and ")
    bars = rules.of_kind(judge, base.BAR)
    if bars:
        yield _bars(bars)
    yield from _agreement(rules, rules.agreements(judge))
    yield from _choices(rules, judge)
    yield from _damage(rules, judge)


def _bars(bars: Sequence[ReportedClaim]) -> str:
    """How many bars are met or missed; of one that is open, the number beside it."""
    signs = [claim.sign for claim in bars]
    every = plural(len(bars), "bar")
    if Sign.FAILS in signs:
        return f"misses {count(signs.count(Sign.FAILS))} of {every}"
    if Sign.HOLDS in signs:
        return f"meets {count(signs.count(Sign.HOLDS))} of {every}"
    shown = f"{cell_words.value(bars[0])}, {cell_words.bar_words(bars[0])}"
    return f"leaves {every} open ({shown})"


def _agreement(rules: HeadlineRules, about: Sequence[ReportedClaim]) -> Iterator[str]:
    every = len(rules.subjects(about))
    by_sign: dict[Sign, list[ReportedClaim]] = {}
    for claim in about:
        by_sign.setdefault(claim.sign, []).append(claim)
    held = by_sign.get(Sign.HOLDS, [])
    persons = [claim for claim in held if claim.outcome is Outcome.AS_RATER]
    others = [claim for claim in held if claim not in persons]
    below = [claim for claim in others if base.NO_CEILING not in claim.codes]
    no_ceiling = [claim for claim in others if base.NO_CEILING in claim.codes]

    def on(claims: Sequence[ReportedClaim]) -> str:
        return few(rules.subjects(claims), "aspects", every)

    if persons:
        yield f"agrees with people as well as one of them does on {on(persons)}"
    if below:
        yield f"follows {rules.source_of(below).whom} on {on(below)}"
    if no_ceiling:
        # No praise alone: nobody knows what agreement with them means.
        yield f"follows people on {on(no_ceiling)}, where they do not agree"
    against = by_sign.get(Sign.FAILS, [])
    if against:
        whom = rules.source_of(against).whom
        yield f"ranks texts against {whom} on {on(against)}"
    limited = by_sign.get(Sign.RULE, [])
    if limited:
        words = cell_words.limit(limited[0])
        yield f"is not shown to be more than a rule on {on(limited)} ({words})"
    open_claims = by_sign.get(Sign.NOT_SHOWN, [])
    if open_claims:
        whom = rules.source_of(open_claims).whom
        yield f"is not shown to follow {whom} on {on(open_claims)}"


def _choices(rules: HeadlineRules, judge: ShownJudge) -> Iterator[str]:
    for kind in (base.LABELS, base.PAIRS):
        about = rules.of_kind(judge, kind)
        source = rules.source_of(about)
        does = f"gives {source.label}s"
        if kind == base.PAIRS:
            does = f"picks {source.preferred}"
        held = [claim for claim in about if claim.sign is Sign.HOLDS]
        if held:
            yield f"{does} ({cell_words.value(held[0])})"
        elif about and about[0].sign is not Sign.NO_CLAIM:
            number = cell_words.value(about[0])
            yield f"is not shown to be better than a rule at choosing ({number})"


def _damage(rules: HeadlineRules, judge: ShownJudge) -> Iterator[str]:
    about = rules.of_kind(judge, base.PERTURBATION)
    held = [claim for claim in about if claim.sign is Sign.HOLDS]
    if about:
        kinds = plural(len(about), "kind")
        verb = "notices" if held else "is shown to notice"
        yield f"{verb} {count(len(held)) if held else 'none'} of {kinds} of damage"
