"""The sentence that a report opens with: the first rule that applies, at most 25 words.

Rules read the claims of table `verdicts`, never a number that decides nothing. Counted
are the judges that a reader may choose from: no controls, none that knows the
answers, and no measures while a model judges. Nobody is praised whose claim does not
hold, and no praise comes first where a stated bar or the share of bad texts fails.
"""

from collections.abc import Callable, Iterator, Sequence

from judgescope.methods.claims import base
from judgescope.report import cell_words
from judgescope.report.answer_data import (
    Headline,
    few,
    named,
)
from judgescope.report.answer_ratings import RatingsAndDamage
from judgescope.report.claims import FIRST, ReportedClaim, claims
from judgescope.report.prices import free, price_per_1000
from judgescope.report.raters_in_words import source_of
from judgescope.report.report import Report, ShownDataset, ShownJudge
from judgescope.report.unnoticed import UnnoticedDamage, unnoticed_damage
from judgescope.report.words import (
    count,
    percent,
    plural,
)
from judgescope.statistics.headline import HeadlineRule, with_second
from judgescope.statistics.verdict import Sign


class HeadlineRules(RatingsAndDamage):
    """All rules of a report's headline, in their order, and the second sentence."""

    # --- the second sentence

    def seconds(self, first: Headline) -> Iterator[str]:
        """What the second sentence may say, the most important first."""
        best = self.judges[0] if self.judges else None
        if best is None:
            return
        if first.rule not in ("L1", "B"):
            text, _ = self.misses(best)
            if text:
                yield f"{named(best.id)} {text}."
        beside = ""
        if first.rule == "B":
            beside = self.beside_bars(first)
        if beside:
            yield beside
        if first.rule != "P2":
            text = self.position_sentence(best)
            if text:
                yield text
        without_ceiling = self.no_ceiling()
        if without_ceiling and first.rule != "U5":
            yield self.apart_sentence(without_ceiling)
        unnoticed = self.unnoticed().of_any_length
        if unnoticed and first.rule not in ("D2", "N"):
            yield (f"No judge is shown to notice {few(unnoticed, 'kinds of damage')}.")
        if first.rule == "R2":
            rest = self.without_holding()
            if rest:
                yield f"On {few(rest, 'aspects')} none is shown to."
        if first.rule in ("R1", "R2"):
            yield from self.cheaper(best)

    def unnoticed(self) -> UnnoticedDamage:
        """The kinds of damage that no judge is shown to notice."""
        about: list[ReportedClaim] = []
        for judge in self.standings.shown:
            about += self.of_kind(judge, base.PERTURBATION)
        return unnoticed_damage(about)

    def cheaper(self, best: ShownJudge) -> Iterator[str]:
        """A judge that costs at most half as much and holds on the same aspect."""
        costs = self.report.rows("cost")
        mine = costs.where(judge=best.id)
        price = None if not len(mine) or free(mine) else price_per_1000(mine)
        held = self.recommendable(best)
        if not price or not held:
            return
        for judge in self.judges:
            rows = costs.where(judge=judge.id)
            if judge is best or not len(rows):
                continue
            other = 0.0 if free(rows) else price_per_1000(rows)
            if other is None or other > price / 2:
                continue
            for claim in self.agreements(judge):
                same = claim.row.judged == held[0].row.judged
                same = same and claim.dataset == held[0].dataset
                if same and claim.sign is Sign.HOLDS:
                    costs_words = "is free" if other == 0 else _share(other / price)
                    yield (
                        f"{named(judge.id)} {costs_words} and keeps "
                        f"{cell_words.value(claim)} of {cell_words.value(held[0])}."
                    )
                    return

    def first(self) -> Headline:
        """The first sentence, by the first rule that applies."""
        rules: dict[HeadlineRule, Callable[[], Headline | None]] = {
            HeadlineRule.UNREAD: self.unread,
            HeadlineRule.PEOPLE_APART: self.people_apart,
            HeadlineRule.TOO_LITTLE: self.too_little,
            HeadlineRule.PEOPLE_ONLY: self.people_only,
            HeadlineRule.TOLD: self.told_only,
            HeadlineRule.BARS: self.bars,
            HeadlineRule.LABELS_FAIL: self.labels_fail,
            HeadlineRule.ONE_LABEL: self.one_label,
            HeadlineRule.LABELS: self.labels,
            HeadlineRule.PLAN: self.plan_only,
            HeadlineRule.MANY: self.many,
            HeadlineRule.AS_PERSON: self.as_person,
            HeadlineRule.FOLLOWS: self.follows,
            HeadlineRule.LIMITED: self.limited,
            HeadlineRule.AGAINST: self.against_people,
            HeadlineRule.NOT_SHOWN: self.not_shown,
            HeadlineRule.PAIRS: self.pairs,
            HeadlineRule.POSITION: self.position,
            HeadlineRule.DAMAGE: self.damage,
        }
        for rule in HeadlineRule:
            headline = rules[rule]()
            if headline is not None:
                return headline
        disagreed = self.no_ceiling()
        if disagreed:
            return Headline("U5", self.apart_sentence(disagreed), disagreed)
        return Headline("U", "No number that decides a claim was measured.")


def headline(report: Report) -> Headline:
    """The answer of a report: the first rule that applies, and what else fits."""
    return report.once("headline", lambda: _headline(report))


def _headline(report: Report) -> Headline:
    rules = HeadlineRules(report)
    first = rules.first()
    if ". " in first.text or first.rule.startswith("U"):
        return first
    name = ""
    if rules.judges:
        name = named(rules.judges[0].id)
    text = with_second(first.text, rules.seconds(first), name)
    return Headline(first.rule, text, first.behind)


def _share(ratio: float) -> str:
    """A share of a price in words."""
    return f"costs {percent(ratio)} of that"


def deck(report: Report) -> str:
    """One line on people, texts, sources and judges; texts with their datasets."""
    texts = sum(dataset.counts.targets for dataset in report.datasets)
    sources = sum(dataset.counts.items for dataset in report.datasets)
    judges = len(report.real_judges)
    asked = plural(judges, "judge") if judges else "no judge"
    on = plural(sources, "source")
    if not texts:
        return f"No text has ratings; {asked}, {on}."
    if not report.rated_by.people:
        return (
            f"{plural(texts, 'text')} ({_names(report.datasets)}) on {on}, "
            f"{report.rated_by.deck}; {asked}."
        )
    raters = report.most_people
    who = plural(raters, "person", "people") if raters else "People"
    mine = sum(dataset.counts.targets for dataset in report.rated)
    on = plural(sum(dataset.counts.items for dataset in report.rated), "source")
    rated = f"{who} rated {plural(mine, 'text')} ({_names(report.rated)}) on {on}"
    if len(report.rated) < len(report.datasets):
        other_sets = []
        for dataset in report.datasets:
            if not dataset.by_people:
                other_sets.append(dataset)
        others = f"{plural(texts - mine, 'other text')} ({_names(other_sets)})"
        here = count(_tested(report, report.rated))
        there = plural(_tested(report, other_sets), "judge")
        source = source_of(dataset.rated_by for dataset in other_sets)
        return (
            f"{rated}, scored by {here} of {asked}. {source.gave} the ratings of "
            f"{others}, scored by {there}."
        )
    scored = "scored the same texts" if judges else "was asked"
    return f"{rated}; {asked} {scored}."


def _names(datasets: Sequence[ShownDataset]) -> str:
    """The names of datasets; of more than three, how many."""
    return few([dataset.name for dataset in datasets], "datasets")


def _tested(report: Report, datasets: Sequence[ShownDataset]) -> int:
    """How many judges have a claim on one of some datasets."""
    ids = {dataset.id for dataset in datasets}
    tested = 0
    for judge in report.real_judges:
        tested += any(claim.dataset in ids for claim in claims(report, judge))
    return tested


def every_claim(report: Report) -> int:
    """How many claims a report makes about judges."""
    number = 0
    for judge in report.real_judges:
        number += sum(claim.kind != FIRST for claim in claims(report, judge))
    return number
