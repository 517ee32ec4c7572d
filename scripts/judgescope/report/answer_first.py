"""Rules of the headline that come first: no verdict, stated bars, labels."""

from collections.abc import Sequence
from typing import Final

from judgescope.methods.claims import base
from judgescope.report import cell_words
from judgescope.report.answer_data import (
    MOST_NAMED,
    AnswerData,
    Headline,
    few,
    named,
    spelled,
    with_counts,
)
from judgescope.report.claims import KINDS, ReportedClaim, claims
from judgescope.report.headline import PERSON
from judgescope.report.questions import lowered
from judgescope.report.report import ShownJudge
from judgescope.report.tally import tally_of
from judgescope.report.words import (
    STATUSES,
    brief,
    count,
    label,
    percent,
    plural,
    spoken,
)
from judgescope.statistics import headline as sentences
from judgescope.statistics.headline import ONE_LABEL
from judgescope.statistics.intervals import FEWEST_SOURCES
from judgescope.statistics.verdict import Outcome, Sign

FOUND_SHARES: Final = {"tnr": ("catches", "bad"), "tpr": ("keeps", "good")}
"""Share of the texts of a label -> what a judge does to them, and their name."""


class BarsAndLabels(AnswerData):
    """The rules on studies without a verdict, on stated bars and on labels."""

    def unread(self) -> Headline | None:
        """U1: no reply of any judge could be read."""
        asked = []
        for judge in self.judges:
            tally = tally_of(self.report, judge)
            has_value = any(
                claim.row.value is not None for claim in claims(self.report, judge)
            )
            if tally.counts["ok"] or has_value:
                return None
            if tally.asked:
                asked.append((judge, tally))
        if not asked:
            return None
        judge, tally = asked[0]
        reason = max(tally.failed, key=lambda name: tally.failed[name], default="")
        why = STATUSES.get(reason, spoken(reason))
        if reason == "truncated" and judge.max_tokens:
            why = f"cut at {plural(judge.max_tokens, 'token')}"
        detail = f" ({why})" if why else ""
        replies = plural(tally.asked, "reply", "replies")
        return Headline(
            "U1",
            f"No verdict: {count(tally.asked)} of {replies} of {named(judge.id)} could "
            f"not be read{detail}.",
        )

    def people_apart(self) -> Headline | None:
        """U5: on no aspect do people agree with each other."""
        without_ceiling = self.no_ceiling()
        others = []
        for claim in self.every_agreement:
            if base.NO_CEILING not in claim.codes:
                others.append(claim)
        if not without_ceiling or others:
            return None
        return Headline("U5", self.apart_sentence(without_ceiling), without_ceiling)

    def no_ceiling(self) -> list[ReportedClaim]:
        """A claim for each aspect on which people do not agree with each other."""
        by_subject: dict[str, ReportedClaim] = {}
        for claim in self.every_agreement:
            if base.NO_CEILING in claim.codes:
                by_subject.setdefault(self.subject(claim), claim)
        return [*by_subject.values()]

    def apart_sentence(self, no_ceiling: Sequence[ReportedClaim]) -> str:
        """The sentence on aspects on which people do not agree with each other."""
        aspects = few(self.subjects(no_ceiling), "aspects")
        person = self.ceiling(no_ceiling[0])
        if person is None or person.value is None:
            return sentences.no_ceiling(aspects, "")
        with_others = brief(no_ceiling[0].row.statistic, person.value)
        first = ""
        if len(no_ceiling) != 1:
            first = self.subject(no_ceiling[0])
        return sentences.no_ceiling(aspects, with_others, first)

    def too_little(self) -> Headline | None:
        """U2: too few sources to test any claim about ratings."""
        about = [*self.every_agreement]
        for judge in self.judges:
            about += self.of_kind(judge, base.LABELS, base.PAIRS)
        if not about or self._has_other_claims():
            return None
        few_sources = [claim for claim in about if "no_interval" in claim.codes]
        if len(few_sources) < len(about):
            return None
        counts = []
        for claim in about:
            if base.SOURCES_COUNTED in claim.others:
                counts.append(claim.others[base.SOURCES_COUNTED].value or 0.0)
        if not counts:
            counts = [float(max(d.counts.items for d in self.report.datasets))]
        sources = plural(round(max(counts)), "source")
        return Headline(
            "U2",
            f"No verdict yet: {sources} can be compared, {FEWEST_SOURCES} with "
            "different ratings are needed.",
            few_sources,
        )

    def _has_other_claims(self) -> bool:
        """Whether a judge has a claim that needs no ratings, such as on damage."""
        rated = (base.AGREEMENT, base.LABELS, base.PAIRS, base.CAUGHT, base.PASSED)
        for judge in self.judges:
            for claim in claims(self.report, judge):
                if claim.kind not in rated and claim.sign is not Sign.NO_CLAIM:
                    return True
        return False

    def people_only(self) -> Headline | None:
        """U3: people rated the texts, and no judge was asked."""
        if self.report.real_judges:
            return None
        parts = []
        for dataset in self.report.datasets:
            rows = self.report.rows("verdicts", dataset.id).where(judge=PERSON.id)
            for row in rows.defined:
                aspect = lowered(self.report.aspect(row.judged))
                value = brief(row.statistic, row.value or 0.0)
                parts.append(f"{value} on {aspect}")
        raters = self.report.most_people
        who = "People"
        if raters > 1:
            who = f"{spelled(raters).capitalize()} people"
        if not parts:
            return Headline("U3", "No judge was asked, and no agreement was measured.")
        others = len(parts) - MOST_NAMED
        more = plural(others, "more aspect") if others > 0 else ""
        return Headline("U3", sentences.people_alone(who, parts[:MOST_NAMED], more))

    def told_only(self) -> Headline | None:
        """U4: every judge is given the ratings, or gives one score to every text."""
        if not self.judges:
            ranked_judges = self.standings.ranked
            if not ranked_judges:
                return None
            names = few(
                [named(judge.id) for judge in ranked_judges],
                "judges",
                len(ranked_judges),
            )
            verb = "is" if len(ranked_judges) == 1 else "are"
            return Headline("U4", f"No verdict: {names} {verb} told the ratings.")
        constant = []
        for judge in self.judges:
            about = self.of_kind(judge, base.AGREEMENT, base.LABELS, base.PAIRS)
            codes = [claim.codes for claim in about]
            if not about or not all(base.CONSTANT in each for each in codes):
                return None
            constant.append(judge)
        names = few([named(j.id) for j in constant], "judges", len(constant))
        return Headline("U4", sentences.one_score(names, len(constant)))

    def bars(self) -> Headline | None:
        """B: the study states bars."""
        for judge in self.judges:
            about = self.of_kind(judge, base.BAR)
            if about:
                return self._bars_of(judge, about)
        return None

    def _bars_of(self, judge: ShownJudge, about: Sequence[ReportedClaim]) -> Headline:
        met = []
        for claim in about:
            if claim.sign is Sign.HOLDS:
                met.append(claim)
        missed = [claim for claim in about if claim.sign is Sign.FAILS]
        name = named(judge.id)
        if missed:
            worst = min(missed, key=_over_bar)
            which = sentences.some_bars(len(missed), len(about))
            text = f"{name} misses {which}: {_against_bar(worst)}."
            return Headline("B", text, missed)
        if len(met) == len(about):
            text = f"{name} meets {sentences.all_bars(len(about))}"
            if len(about) == 1:
                text += f": {_against_bar(about[0])}"
            return Headline("B", f"{text}.", met)
        open_claims = [claim for claim in about if claim.sign is not Sign.HOLDS]
        text = f"Open for {name}: {_against_bar(open_claims[0])}"
        needed = open_claims[0].others.get("more_needed")
        if needed is not None and needed.value is not None:
            units = needed.method.partition(", ")[0]
            if open_claims[0].row.statistic in FOUND_SHARES:
                units = ""  # the sentence has named them
            more = f"{count(round(needed.value))} more {units}".rstrip()
            text += f"; {more} would decide"
        return Headline("B", f"{text}.", open_claims)

    def labels_fail(self) -> Headline | None:
        """L1: the best judge lets bad texts through, or rejects good ones."""
        for judge in self.judges:
            text, behind = self.misses(judge)
            if text:
                return Headline("L1", f"{named(judge.id)} {text}.", behind)
            if self.of_kind(judge, base.CAUGHT, base.PASSED):
                return None  # only the best judge that gives labels
        return None

    def misses(self, judge: ShownJudge) -> tuple[str, list[ReportedClaim]]:
        """What a judge does to the texts of a label that it fails to find."""
        parts = []
        behind = []
        for kind, does, texts in (
            (base.CAUGHT, sentences.lets_through, "bad texts"),
            (base.PASSED, sentences.rejects, "good texts"),
        ):
            share = KINDS[kind].number
            failing = [
                claim
                for claim in self.of_kind(judge, kind, base.BAR)
                if claim.outcome is Outcome.MISSES and claim.row.statistic == share
            ]
            if failing:
                worst = min(failing, key=lambda claim: claim.row.value or 0.0)
                wrong = percent(1 - (worst.row.value or 0.0))
                parts.append(does(wrong, texts))
                behind.append(worst)
        return "; it ".join(parts), behind

    def beside_bars(self, first: Headline) -> str:
        """What a judge that is measured by bars on one label does to the other's
        texts.
        """
        bars = {claim.row.statistic for claim in first.behind}
        if not bars & {*FOUND_SHARES}:
            return ""
        judge = next(j for j in self.judges if j.id == first.behind[0].judge)
        for kind, does in (
            (base.CAUGHT, sentences.lets_through),
            (base.PASSED, sentences.rejects),
        ):
            share = KINDS[kind].number
            for claim in self.of_kind(judge, kind):
                value = claim.row.value
                if value is None or claim.row.statistic != share or value == 1:
                    continue
                _, texts = FOUND_SHARES[share]
                counted = plural(claim.row.n, f"{texts} text")
                return f"It {does(percent(1 - value), counted)}."
        return ""

    def one_label(self) -> Headline | None:
        """L2: the best judge gives one label to nearly all texts."""
        for judge in self.judges:
            for claim in self.of_kind(judge, base.LABELS):
                share = claim.others.get("says_share")
                above_chance = claim.sign in (Sign.HOLDS, Sign.RULE)
                if above_chance or share is None or share.value is None:
                    continue
                if share.value >= ONE_LABEL:
                    says = share.note or claim.codes.get(base.SAYS, "")
                    text = sentences.says_one(
                        named(judge.id), says, percent(share.value)
                    )
                    return Headline("L2", text, [claim])
            if self.of_kind(judge, base.LABELS):
                return None
        return None

    def labels(self) -> Headline | None:
        """L3: the best judge gives people's labels, or none is shown to."""
        every = self.with_value(base.LABELS)
        if not every:
            return None
        holding = [(j, claim) for j, claim in every if claim.sign is Sign.HOLDS]
        if holding:
            judge, claim = holding[0]
            given = self.source_of([claim]).label
            person = self.person(claim)
            theirs = ""
            if person is not None and person.value is not None:
                theirs = brief(person.statistic, person.value)
            text = sentences.gives_label(
                named(judge.id),
                given,
                cell_words.value(claim),
                theirs,
                with_counts(claim, "text"),
            )
            return Headline("L3", text, [claim])
        judge, claim = max(every, key=lambda each: each[1].row.value or 0.0)
        return Headline("L3", self._no_label(judge, claim), [claim])

    def _no_label(self, judge: ShownJudge, claim: ReportedClaim) -> str:
        rival = claim.others.get("rival")
        value = claim.others.get("rival_value")
        lengths = (base.LENGTH, base.BREVITY)
        judge_value = cell_words.value(claim)
        known = value is not None and value.value is not None
        if rival is not None and rival.note in lengths and known:
            assert value is not None
            theirs = brief(claim.row.statistic, value.value or 0.0)
            return (
                "No judge is shown to label better than the texts' length does: "
                f"{judge_value} ({with_counts(claim, 'text')}) against {theirs}."
            )
        return (
            "No judge is shown to label better than chance: at best "
            f"{judge_value}, {with_counts(claim, 'text')} ({named(judge.id)})."
        )


def _over_bar(claim: ReportedClaim) -> float:
    """How far a number is above its bar; negative where it misses a minimum."""
    bar = claim.others.get(base.BAR)
    value = claim.row.value or 0.0
    if bar is None or bar.value is None:
        return 0.0
    if bar.note != "at most":
        return value - bar.value
    return bar.value - value


def _against_bar(claim: ReportedClaim) -> str:
    """What a judge does, and what a bar asks for."""
    bar = claim.others.get(base.BAR)
    name = claim.row.statistic
    asked = ""
    if bar is not None and bar.value is not None:
        asked = f", you asked for {brief(name, bar.value)}"
    judge_value = cell_words.value(claim)
    if name in FOUND_SHARES:
        verb, texts = FOUND_SHARES[name]
        of_texts = f"{judge_value} of {plural(claim.row.n, f'{texts} text')}"
        ends = cell_words.spread(claim.row)
        interval = f" ({ends})" if ends else ""
        return f"it {verb} {of_texts}{interval}{asked}"
    subject = ""
    if claim.subject:
        subject = f" on {lowered(claim.subject)}"
    return f"{lowered(label(name))} is {judge_value}{subject}{asked}"
