"""What the rules of a headline read of a report, and how they name it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Final

from judgescope.methods.claims import base
from judgescope.report import cell_words
from judgescope.report.claims import ReportedClaim, claims
from judgescope.report.headline import PERSON
from judgescope.report.questions import having, lowered
from judgescope.report.raters_in_words import RatingSource, source_of
from judgescope.report.report import Report, ShownJudge
from judgescope.report.rows import ReportRow
from judgescope.report.standings import Standings, standings
from judgescope.report.words import (
    count,
    listed,
    plural,
)
from judgescope.statistics.headline import cut, words_in
from judgescope.statistics.registry import statistic
from judgescope.statistics.verdict import MOST, Outcome, Sign

MOST_NAMED: Final = 3
"""Up to this many names are listed; of more, only the number is given."""


@dataclass(frozen=True)
class Headline:
    """The answer of a report: one or two sentences, the rule, and the claims behind it.

    Names of judges are in ticks.
    """

    rule: str
    text: str
    behind: Sequence[ReportedClaim] = ()

    @property
    def words(self) -> int:
        """How many words it has; numbers with their unit are one."""
        return words_in(self.text)


def named(judge: str) -> str:
    """A judge's name in ticks, cut if it is long.

    >>> named("x" * 30)
    '`xxxxxxxxxxxxxxxxxxxxxxx…`'
    """
    return f"`{cut(judge).replace('`', '')}`"


def spelled(number: int) -> str:
    """A small number as a word."""
    words = (
        "no",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
    )
    if number < len(words):
        return words[number]
    return count(number)


def few(names: Sequence[str], noun: str, every: int = 0) -> str:
    """Names as a part of a sentence; of more than three, how many of how many.

    >>> few(["tone", "style"], "aspects"), few(list("abcd"), "aspects", 9)
    ('tone and style', '4 of 9 aspects')
    """
    if len(names) <= MOST_NAMED:
        return listed([*names])
    of_all = f" of {count(every)}" if every else ""
    return f"{count(len(names))}{of_all} {noun}"


class AnswerData:
    """What the rules of a report's headline read."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.standings: Standings = standings(report)
        self.judges = self.standings.counted

    # --- what the rules read

    def with_value(self, kind: str) -> list[tuple[ShownJudge, ReportedClaim]]:
        """The claims of a kind that have a value, judge by judge."""
        pairs = []
        for judge in self.judges:
            for claim in self.of_kind(judge, kind):
                if claim.row.value is not None:
                    pairs.append((judge, claim))
        return pairs

    def of_kind(self, judge: ShownJudge, *kinds: str) -> list[ReportedClaim]:
        """The claims of a judge of some kinds; bars are of kind `bar`."""
        return [
            claim
            for claim in claims(self.report, judge)
            if claim.kind.partition(" ")[0] in kinds
        ]

    @cached_property
    def whom(self) -> str:
        """With what judges agree: people, or what stands for their ratings."""
        return self.report.rated_by.whom

    def source_of(self, about: Sequence[ReportedClaim]) -> RatingSource:
        """The words for who rated the texts of some claims: not of the whole study."""
        ids = {claim.dataset for claim in about}
        mine = [each for each in self.report.datasets if each.id in ids]
        return source_of(dataset.rated_by for dataset in mine)

    @cached_property
    def planned(self) -> bool:
        """Whether nobody rated any text: authors planned, or a model gave, each
        rating.
        """
        return not self.report.rated_by.people

    def subject(self, claim: ReportedClaim) -> str:
        """The aspect of a claim, with its dataset where several have it."""
        name = lowered(self.report.aspect(claim.row.judged))
        several = having(self.report, claim.row.judged)[1:]
        if several:
            return f"{name} ({self.report.names[claim.dataset]})"
        return name

    def subjects(self, about: Iterable[ReportedClaim]) -> list[str]:
        """The aspects of claims, each once."""
        return list(dict.fromkeys(map(self.subject, about)))

    def agreements(self, judge: ShownJudge) -> list[ReportedClaim]:
        """The claims of agreement of a judge."""
        return self.of_kind(judge, base.AGREEMENT)

    def recommendable(self, judge: ShownJudge) -> list[ReportedClaim]:
        """The claims of agreement that hold for a judge where people are not apart."""
        held = []
        for claim in self.agreements(judge):
            if claim.sign is Sign.HOLDS and base.NO_CEILING not in claim.codes:
                held.append(claim)
        return held

    def ceiling(self, claim: ReportedClaim) -> ReportRow | None:
        """How well one person agrees with the others where a claim is made."""
        beside = claim.others.get(f"{base.CEILING}_{claim.row.statistic}")
        if beside is None:
            return self.person(claim)
        return beside

    @cached_property
    def every_agreement(self) -> list[ReportedClaim]:
        """The claims of agreement of all counted judges."""
        every: list[ReportedClaim] = []
        for judge in self.judges:
            every += self.agreements(judge)
        return every

    def person(self, claim: ReportedClaim) -> ReportRow | None:
        """One person's own number where a claim has the judge's; none of models."""
        if claim.dataset not in {dataset.id for dataset in self.report.rated}:
            return None
        rows = self.report.rows("verdicts", claim.dataset).where(
            judge=PERSON.id,
            statistic=claim.row.statistic,
            judged=claim.row.judged,
            level=claim.row.level,
        )
        return rows.defined.first

    def without_holding(self, *outcomes: Outcome) -> list[str]:
        """The aspects on which no counted judge holds with one of these outcomes.

        Those that people did not rate count only where nobody rated any texts.
        """
        rated = {dataset.id for dataset in self.report.rated}
        about = []
        for claim in self.every_agreement:
            if self.planned or claim.dataset in rated:
                about.append(claim)
        held = [
            claim
            for claim in about
            if claim.sign is Sign.HOLDS and (not outcomes or claim.outcome in outcomes)
        ]
        shown = {*self.subjects(held)}
        return [name for name in self.subjects(about) if name not in shown]


def with_counts(claim: ReportedClaim, noun: str) -> str:
    """The 95 % interval of a claim's number and how many it is of."""
    number = plural(claim.row.n, noun)
    return ", ".join(filter(None, (cell_words.spread(claim.row), number)))


def sources_to_decide(claim: ReportedClaim) -> int:
    """About how many more sources would show a number above chance; 0 if unknown.

    With probability .8, if the number stays as it is; the interval's half width shrinks
    with the square root of the sources.
    """
    row = claim.row
    counted = claim.others.get(base.SOURCES_COUNTED)
    known = row.value is not None and row.ci_low is not None
    if counted is None or counted.value is None or not known:
        return 0
    chance = 0.0
    if statistic(row.statistic).kind == "percent":
        chance = 0.5
    above = (row.value or 0.0) - chance
    half = (row.value or 0.0) - (row.ci_low or 0.0)
    if above <= 0 or half <= above:
        return 0
    # The standard normal quantile of .8 over that of .975.
    power_factor = 0.43
    needed = half * (1 + power_factor) / above
    more = counted.value * (needed**2 - 1)
    if more > MOST:
        return 0
    if more >= 10:
        return max(round(more / 10) * 10, 10)
    return ceil(more)
