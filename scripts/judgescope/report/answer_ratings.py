"""Rules of the headline on agreement, pairs and damage."""

from judgescope.methods.claims import base
from judgescope.report import cell_words
from judgescope.report.answer_data import (
    MOST_NAMED,
    Headline,
    few,
    named,
    sources_to_decide,
    with_counts,
)
from judgescope.report.answer_first import BarsAndLabels
from judgescope.report.claims import ReportedClaim
from judgescope.report.headline import PERSON
from judgescope.report.matrix import MOST_LINES
from judgescope.report.report import ShownJudge
from judgescope.report.unbeaten import unbeaten
from judgescope.report.words import (
    brief,
    count,
    percent,
    plural,
)
from judgescope.statistics import headline as sentences
from judgescope.statistics.headline import MOST_WORDS, words_in
from judgescope.statistics.verdict import Outcome, Sign


class RatingsAndDamage(BarsAndLabels):
    """The rules on agreement with ratings, on pairs, and on damage."""

    def plan_only(self) -> Headline | None:
        """N: nobody rated the texts; what the plan and the damage show."""
        if not self.planned:
            return None
        damage = self._noticing()
        best = self._holding()
        behind = []
        parts = []
        if damage is not None:
            text, shown = damage
            parts.append(text)
            behind += shown
        if best is not None:
            judge, held = best
            aspects = few(self.subjects(held), "aspects", self._aspects())
            parts.append(f"{named(judge.id)} follows {self.whom} on {aspects}")
            behind += held
        elif self.every_agreement:
            parts.append(f"no judge is shown to follow {self.whom} better than a rule")
            behind += self.every_agreement[:MOST_NAMED]
        if not parts:
            for rule in (self.labels, self.pairs):
                headline = rule()
                if headline is not None:
                    text = f"Nobody rated these texts. {headline.text}"
                    return Headline("N", text, headline.behind)
            return Headline("N", "Nobody rated these texts: no claim was tested.")
        text = "; ".join(parts)
        if not text.startswith("`"):
            text = f"{text[0].upper()}{text[1:]}"
        return Headline("N", f"Nobody rated these texts. {text}.", behind)

    def _noticing(self) -> tuple[str, list[ReportedClaim]] | None:
        """What the first judge that notices any damage notices."""
        for judge in self.judges:
            about = self.of_kind(judge, base.PERTURBATION)
            held = [claim for claim in about if claim.sign is Sign.HOLDS]
            if held:
                kinds = f"{count(len(held))} of {plural(len(about), 'kind')} of damage"
                return f"{named(judge.id)} notices {kinds}", held
        if any(self.of_kind(judge, base.PERTURBATION) for judge in self.judges):
            return "no judge is shown to notice damage that length does not show", []
        return None

    def _holding(self) -> tuple[ShownJudge, list[ReportedClaim]] | None:
        """The first judge with a claim of agreement that holds, and these claims.

        None of an aspect on which people are apart.
        """
        for judge in self.judges:
            held = self.recommendable(judge)
            if held:
                return judge, held
        return None

    def _aspects(self) -> int:
        return len(self.subjects(self.every_agreement))

    def many(self) -> Headline | None:
        """M: so many judges that how many aspects each holds on says most."""
        if len(self.judges) <= MOST_LINES or not self.every_agreement:
            return None
        held: dict[str, list[ReportedClaim]] = {}
        for judge in self.judges:
            held[judge.id] = self.recommendable(judge)
        order = sorted(held, key=lambda name: -len(held[name]))
        best = order[0]
        second = order[1]
        number = len(held[best])
        every = len(
            {(claim.dataset, claim.row.judged) for claim in self.every_agreement}
        )
        if not number:
            return None
        whom = self.source_of(held[best]).whom
        text = (
            f"{named(best)} follows {whom} on {count(number)} of "
            f"{plural(every, 'aspect')}; no other judge on more than "
            f"{count(len(held[second]))}."
        )
        if len(held[second]) == number:
            text = (
                f"{named(best)} follows {whom} on {count(number)} of "
                f"{plural(every, 'aspect')}, as many as the next judge."
            )
        return Headline("M", text, held[best])

    def as_person(self) -> Headline | None:
        """R1: a judge agrees with people as well as one of them does."""
        for judge in self.judges:
            held = []
            for claim in self.agreements(judge):
                if claim.outcome is Outcome.AS_RATER and claim.sign is Sign.HOLDS:
                    held.append(claim)
            if not held:
                continue
            aspects = few(self.subjects(held), "aspects", self._aspects())
            text = sentences.as_person(named(judge.id), f" on {aspects}")
            apart = self.subjects(self.no_ceiling())
            missing = self.without_holding()
            rest = [name for name in missing if name not in apart]
            if rest:
                others = f"{text}; for {few(rest, 'aspects')}, none is shown to"
                more = plural(len(rest), "other aspect")
                short = f"{text}; for {more}, none is shown to"
                text = others if words_in(others) <= MOST_WORDS else short
            return Headline("R1", f"{text}.", held)
        return None

    def follows(self) -> Headline | None:
        """R2: a judge follows people, and is not shown to do so as a person."""
        best = self._holding()
        if best is None:
            return None
        judge, held = best
        aspects = few(self.subjects(held), "aspects", self._aspects())
        beside = ""
        first = held[0]
        gap = cell_words.gap_to_person(first)
        person = self.person(first)
        known = gap is not None and person is not None
        if known and gap is not None and cell_words.below_person(gap):
            assert person is not None and person.value is not None
            mine = brief(first.row.statistic, person.value + (gap.value or 0.0))
            theirs = brief(person.statistic, person.value)
            beside = sentences.below_person(mine, theirs)
        text = sentences.follows(
            named(judge.id), self.source_of(held).whom, f" on {aspects}", beside
        )
        return Headline("R2", text, held)

    def limited(self) -> Headline | None:
        """R3: the best claim agrees, but a simple rule or the systems explain it."""
        followed = [
            claim
            for claim in self.every_agreement
            if claim.sign is Sign.RULE and claim.row.value is not None
        ]
        if not followed:
            return None
        best = max(followed, key=lambda claim: claim.row.value or 0.0)
        whom = self.source_of([best]).whom
        text = unbeaten(best, named(best.judge), self.subject(best), brief, whom)
        return Headline("R3", text, [best])

    def against_people(self) -> Headline | None:
        """R5: a judge ranks texts against people, and nothing is better."""
        failing = [claim for claim in self.every_agreement if claim.sign is Sign.FAILS]
        if not failing:
            return None
        worst = min(failing, key=lambda claim: claim.row.value or 0.0)
        text = sentences.ranks_against(
            named(worst.judge),
            self.source_of([worst]).whom,
            f" on {self.subject(worst)}",
            cell_words.value(worst),
        )
        return Headline("R5", text, failing)

    def not_shown(self) -> Headline | None:
        """R4: agreement is not shown for any judge."""
        unclear = [
            claim
            for claim in self.every_agreement
            if claim.sign is Sign.NOT_SHOWN and claim.row.value is not None
        ]
        if not unclear:
            return None
        best = max(unclear, key=lambda claim: claim.row.value or 0.0)
        ends = ""
        if best.row.ci_low is not None and best.row.ci_high is not None:
            low = brief(best.row.statistic, best.row.ci_low)
            ends = f" [{low}, {brief(best.row.statistic, best.row.ci_high)}]"
        text = sentences.agreement_not_shown(
            f"{cell_words.value(best)}{ends}",
            named(best.judge),
            f" on {self.subject(best)}",
        )
        more = sources_to_decide(best)
        if more:
            text += f" About {plural(more, 'more source')} would decide."
        return Headline("R4", text, [best])

    def pairs(self) -> Headline | None:
        """P1: a judge picks what people prefer, or none is shown to."""
        every = self.with_value(base.PAIRS)
        if not every:
            return None
        holding = [(j, claim) for j, claim in every if claim.sign is Sign.HOLDS]
        if holding:
            judge, claim = holding[0]
            what = self.source_of([claim]).preferred
            reached = cell_words.value(claim)
            theirs = ""
            gap = cell_words.gap_to_person(claim)
            if gap is not None and gap.value is not None:
                theirs = percent((claim.row.value or 0.0) - gap.value)
            counted = with_counts(claim, "pair")
            text = sentences.picks(named(judge.id), what, reached, theirs, counted)
            return Headline("P1", text, [claim])
        _, claim = max(every, key=lambda each: each[1].row.value or 0.0)
        rival = claim.others.get("rival")
        value = claim.others.get("rival_value")
        rules = {base.LENGTH: "the longer one", base.BREVITY: "the shorter one"}
        judge_value = cell_words.value(claim)
        if rival is not None and rival.note in rules and value is not None:
            theirs = brief(claim.row.statistic, value.value or 0.0)
            text = (
                f"No judge is shown to pick better than “{rules[rival.note]}”: "
                f"{judge_value} ({with_counts(claim, 'pair')}) against {theirs}."
            )
            return Headline("P1", text, [claim])
        text = (
            f"No judge is shown to pick better than chance: at best {judge_value} "
            f"({with_counts(claim, 'pair')})."
        )
        return Headline("P1", text, [claim])

    def position(self) -> Headline | None:
        """P2: the best judge takes the text of one place too often."""
        for judge in self.judges:
            text = self.position_sentence(judge)
            if text:
                return Headline("P2", text)
        return None

    def position_sentence(self, judge: ShownJudge) -> str:
        """What is said of a judge whose choice depends on the place, "" of others."""
        for dataset in self.report.datasets:
            rows = self.report.rows("pairwise", dataset.id).where(
                statistic="first_position_rate"
            )
            row = rows.where(judge=judge.id).defined.first
            if row is None or row.ci_low is None or row.ci_high is None:
                continue
            if row.ci_low <= 0.5 <= row.ci_high:
                continue
            share = row.value or 0.0
            side = "first" if share > 0.5 else "second"
            taken = percent(max(share, 1 - share))
            beside = ""
            people = rows.where(judge=PERSON.id).defined.first
            if not dataset.by_people:
                people = None
            if people is not None and people.value is not None:
                theirs = people.value if share > 0.5 else 1 - people.value
                beside = percent(theirs)
            return sentences.prefers_place(named(judge.id), side, taken, beside)
        return ""

    def damage(self) -> Headline | None:
        """D1, D2: what damage the best judge notices."""
        noticed = self._noticing()
        if noticed is None:
            return None
        text, behind = noticed
        if behind:
            return Headline("D1", f"{text}.", behind)
        return Headline(
            "D2",
            "No judge is shown to notice any kind of damage that length does not give "
            "away.",
        )
