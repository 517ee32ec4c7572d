"""What to do next: at most four lines, each by a rule from the study's numbers."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from judgescope.methods.claims import base
from judgescope.report import cell_words
from judgescope.report.answer import HeadlineRules
from judgescope.report.answer_data import MOST_NAMED, few, sources_to_decide
from judgescope.report.cells import figures
from judgescope.report.claims import ReportedClaim, claims
from judgescope.report.elements import NextStep, NextSteps
from judgescope.report.headline import measures
from judgescope.report.prices import free, price_per_1000
from judgescope.report.questions import OTHER_TESTS, answers_of, lowered
from judgescope.report.report import Report, ShownJudge
from judgescope.report.tally import tally_of
from judgescope.report.words import count, label, listed, percent, plural
from judgescope.report.worse_slices import worse_slice
from judgescope.statistics import headline as sentences
from judgescope.statistics.verdict import Outcome, Sign

MOST_STEPS: Final = 4
RATED: Final = (base.AGREEMENT, base.LABELS, base.PAIRS)
"""The kinds of claims about people's ratings, labels or choices."""


def next_steps(report: Report) -> NextSteps | None:
    """The steps of a report; None where no rule has a number."""
    maker = NextStepRules(report)
    steps = list(chain.from_iterable(maker.rules()))
    if steps:
        return NextSteps(steps[:MOST_STEPS])
    return None


def of_judge(report: Report, judge: ShownJudge) -> NextSteps | None:
    """The steps for one judge: its unread replies, what it may be used for, what
    not.
    """
    maker = NextStepRules(report)
    steps = [
        *maker.unread([judge]),
        *maker.people_disagree([judge]),
        *maker.used_for(judge),
        *maker.not_for([judge]),
    ]
    if steps:
        return NextSteps(steps[:MOST_STEPS])
    return None


def _values(about: list[ReportedClaim]) -> str:
    """The numbers of claims; of more than three, the lowest and the highest."""
    if len(about) == 1 and about[0].kind != base.AGREEMENT:
        # A bare percentage would say nothing.
        return f"{lowered(label(about[0].row.statistic))} {cell_words.value(about[0])}"
    if len(about) <= MOST_NAMED:
        return listed([cell_words.value(claim) for claim in about])
    by_value = sorted(about, key=lambda claim: claim.row.value or 0.0)
    return f"{cell_words.value(by_value[0])} to {cell_words.value(by_value[-1])}"


def _higher(claim: ReportedClaim, other: ReportedClaim) -> bool:
    """Whether the number of a claim is higher; one without a number is the lowest."""
    if claim.row.value is None:
        return False
    return other.row.value is None or claim.row.value > other.row.value


class NextStepRules:
    """The rules, with what they read."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.rules_of_headline = HeadlineRules(report)
        self.judges = self.rules_of_headline.judges
        self.study = report.spec.command.split(" ")[-1] or report.study

    def rules(self) -> list[Iterator[NextStep]]:
        """The rules in their order."""
        to_use = self.judge_to_use()
        return [
            self.unread(self.judges),
            # What can be done comes first, but a list of four must not cut off where
            # nothing can be recommended.
            islice(to_use, 1),
            self.people_disagree(self.judges),
            to_use,
            self.no_judge_yet(),
            self.not_for(self.judges),
            self.position(),
            self.worse_slice(),
            self.corrected_systems(),
            self.more_sources(),
            self.ask_people(),
        ]

    def unread(self, judges: list[ShownJudge]) -> Iterator[NextStep]:
        """The judge with the largest share of unread replies."""
        worst = None
        # From this share of unread replies on, reading them comes first.
        most_unread = 0.05
        for judge in judges:
            tally = tally_of(self.report, judge)
            lost = tally.asked - tally.counts["ok"]
            if tally.asked and lost / tally.asked > most_unread:
                share = lost / tally.asked
                if worst is None or share > worst[0]:
                    worst = share, judge, lost, tally.asked
        if worst is not None:
            share, judge, lost, asked = worst
            yield NextStep(
                f"Read {judge.id}'s replies first.",
                f"{count(lost)} of {plural(asked, 'reply', 'replies')} "
                f"({percent(share)}) have no score.",
                f"judgescope replies show {self.study}",
            )

    def judge_to_use(self) -> Iterator[NextStep]:
        """By aspect the cheapest judge that holds, unless it is shown to be worse."""
        chosen: dict[tuple[str, str], list[ReportedClaim]] = {}
        for claim in self._aspects():
            used, reason = self._cheapest(claim)
            chosen.setdefault((used.judge, reason), []).append(used)
        for (judge, reason), used_for in chosen.items():
            named = few(self.rules_of_headline.subjects(used_for), "aspects")
            values = _values(used_for)
            one_rating = self._one_rating(used_for)
            why = [f"It has {values}{reason}", one_rating, self._other_tests(judge)]
            yield NextStep(
                f"{named[0].upper()}{named[1:]}: use {judge}.",
                " ".join(filter(None, why)),
            )

    def _other_tests(self, name: str) -> str:
        """How many claims of other tests hold, "" for a judge without such claims.

        A reader who sees "0 of 4" beside a judge to use must learn what it is of.
        """
        judge = next(each for each in self.judges if each.id == name)
        others = []
        for question, about in answers_of(
            self.report, claims(self.report, judge)
        ).items():
            if question.group == OTHER_TESTS:
                others += [(lowered(question.title), claim) for claim in about]
        if not others:
            return ""
        questions = list(dict.fromkeys(question for question, _ in others))
        held = sum(claim.sign is Sign.HOLDS for _, claim in others)
        tests = few(questions, "other tests")
        if len(others) == 1:
            return f"Its claim on {tests} {'holds' if held else 'does not hold'}."
        how_many = count(held) if held else "none"
        verb = "holds" if held < 2 else "hold"
        return f"Of its {len(others)} claims on {tests} {how_many} {verb}."

    def people_disagree(self, judges: list[ShownJudge]) -> Iterator[NextStep]:
        """The aspects for which no judge is recommended: people are apart on them."""
        disputed: dict[tuple[str, str, str], ReportedClaim] = {}
        for judge in judges:
            for claim in self.rules_of_headline.of_kind(judge, *RATED):
                if base.NO_CEILING in claim.codes:
                    disputed.setdefault(self._target(claim), claim)
        if disputed:
            yield self._not_recommended([*disputed.values()])

    def no_judge_yet(self) -> Iterator[NextStep]:
        """The aspects on which the best judge agrees, but a rule may explain it.

        Without this line, a reader would find them in the headline and the matrix and
        miss them here.
        """
        best: dict[tuple[str, str, str], ReportedClaim] = {}
        usable = {self._target(claim) for claim in self._aspects()}
        for kind in RATED:
            for judge in self.judges:
                for claim in self.rules_of_headline.of_kind(judge, kind):
                    target = self._target(claim)
                    if target in usable or base.NO_CEILING in claim.codes:
                        continue
                    known = best.get(target)
                    if known is None or _higher(claim, known):
                        best[target] = claim
        # Beside ratings by people, those that authors planned recommend no judge.
        by_people = {dataset.id for dataset in self.report.rated}
        limited = []
        for claim in best.values():
            counts = not by_people or claim.dataset in by_people
            if claim.sign is Sign.RULE and counts:
                limited.append(claim)
        if not limited:
            return
        aspects = few(self.rules_of_headline.subjects(limited), "aspects")
        reached = []
        for claim in limited[:MOST_NAMED]:
            aspect = ""
            if len(limited) > 1:
                aspect = f"{lowered(claim.subject)}, "
            number = cell_words.value(claim)
            reached.append(
                f"{aspect}{claim.judge} {number} ({cell_words.limit(claim)})"
            )
        if len(limited) > MOST_NAMED:
            more = plural(len(limited) - MOST_NAMED, "more aspect")
            reached.append(f"likewise on {more}")
        yield NextStep(
            f"{aspects[0].upper()}{aspects[1:]}: no judge yet.",
            f"The best may do no more than a rule: {'; '.join(reached)}.",
        )

    @staticmethod
    def _target(claim: ReportedClaim) -> tuple[str, str, str]:
        """What a claim is about: its kind, dataset and aspect."""
        return claim.kind, claim.dataset, claim.row.judged

    def _not_recommended(self, disputed: list[ReportedClaim]) -> NextStep:
        """That no judge is recommended, with people's agreement on up to 3 aspects."""
        rules = self.rules_of_headline
        aspects = few(rules.subjects(disputed), "aspects")
        numbers = []
        for claim in disputed[:MOST_NAMED]:
            ceiling = rules.ceiling(claim)
            if ceiling is not None and ceiling.value is not None:
                texts = "pair" if claim.kind == base.PAIRS else "text"
                numbers.append(f"{figures(ceiling)}, {plural(claim.row.n, texts)}")
        return NextStep(
            f"{aspects[0].upper()}{aspects[1:]}: no judge can be recommended.",
            sentences.not_recommended("; ".join(numbers)),
        )

    def _one_rating(self, about: list[ReportedClaim]) -> str:
        """That texts of some claims have one rating each, "" if they have more."""
        datasets = {claim.dataset for claim in about}
        for dataset in self.report.rated:
            if dataset.id in datasets and dataset.counts.people == 1:
                return sentences.ONE_RATING
        return ""

    def _aspects(self) -> list[ReportedClaim]:
        """A claim about people's ratings, labels or choices for each aspect on which
        one holds.
        """
        by_aspect: dict[tuple[str, str, str], ReportedClaim] = {}
        for kind in RATED:
            for judge in self.judges:
                for claim in self._usable(judge, kind):
                    by_aspect.setdefault(self._target(claim), claim)
        return [*by_aspect.values()]

    def _usable(self, judge: ShownJudge, kind: str) -> list[ReportedClaim]:
        """The claims of a kind that hold for a judge that fails nothing on the aspect.

        None where people are apart: see `statistics.headline.people_are_apart`.
        A judge with a bar that is missed or open, or that misses too many texts of a
        label, is not to be used there, however well its labels agree.
        """
        kinds = (base.BAR, base.CAUGHT, base.PASSED)
        asked = self.rules_of_headline.of_kind(judge, *kinds)
        usable = []
        for claim in self.rules_of_headline.of_kind(judge, kind):
            on_aspect = []
            for each in asked:
                if each.row.judged == claim.row.judged:
                    on_aspect.append(each)
            signs = {each.sign for each in on_aspect if each.dataset == claim.dataset}
            bars = [each for each in on_aspect if each.kind.startswith(base.BAR)]
            is_open = any(bar.sign is not Sign.HOLDS for bar in bars)
            holds = claim.sign is Sign.HOLDS and base.NO_CEILING not in claim.codes
            if holds and Sign.FAILS not in signs and not is_open:
                usable.append(claim)
        return usable

    def _cheapest(self, about: ReportedClaim) -> tuple[ReportedClaim, str]:
        """The claim of the judge to use on an aspect, and what follows its number."""
        holding = []
        place = (about.dataset, about.row.judged)
        for judge in self.judges:
            for claim in self._usable(judge, about.kind):
                if (claim.dataset, claim.row.judged) == place:
                    holding.append((judge, claim))
        best, best_claim = max(holding, key=lambda each: each[1].row.value or 0.0)
        dataset = next(d for d in self.report.datasets if d.id == about.dataset)
        columns = []
        for column in measures(self.report, dataset):
            if column.kind == about.kind and column.aspect == about.row.judged:
                columns.append(column)
        used = best
        claim = best_claim
        for judge, other in holding:
            cheaper = self._price(judge) < self._price(used)
            worse = any(column.above(best, judge) for column in columns)
            if cheaper and not worse:
                used = judge
                claim = other
        if used is best:
            if len(holding) == 1:
                return claim, self._why_no_other(claim)
            return claim, f", the most of the {len(holding)} judges that hold there."
        return claim, (
            f" for less than {best.id}, which has {cell_words.value(best_claim)}; that "
            "one is not shown to be better."
        )

    def _why_no_other(self, used: ReportedClaim) -> str:
        """Why no judge but one is to be used on an aspect."""
        for judge in self.judges:
            for claim in self.rules_of_headline.of_kind(judge, used.kind):
                same = claim.dataset == used.dataset
                same = same and claim.row.judged == used.row.judged
                if same and claim.sign is Sign.HOLDS and judge.id != used.judge:
                    return "; no other judge is shown to meet every bar there."
        what = "agreement" if used.kind == base.AGREEMENT else "number"
        return f"; no other judge's {what} is shown to hold there."

    def _price(self, judge: ShownJudge) -> float:
        rows = self.report.rows("cost").where(judge=judge.id)
        if not len(rows) or free(rows):
            return 0.0
        price = price_per_1000(rows)
        return float("inf") if price is None else price

    def used_for(self, judge: ShownJudge) -> Iterator[NextStep]:
        """What one judge may be used for."""
        rules = self.rules_of_headline
        held = rules.recommendable(judge)
        if not held:
            return
        parts = []
        for claim in held[:3]:
            person = rules.person(claim)
            beside = ""
            words = cell_words.against_others(claim, person)
            if words:
                beside = f" ({words})"
            parts.append(f"{cell_words.value(claim)}{beside}")
        aspects = few(rules.subjects(held), "aspects")
        why = f"It has {', '.join(parts)}."
        one_rating = self._one_rating(held)
        yield NextStep(
            f"Use it for {aspects}.", " ".join(filter(None, (why, one_rating)))
        )

    def not_for(self, judges: list[ShownJudge]) -> Iterator[NextStep]:
        """What a judge must not be used for: the claim that fails worst."""
        failing = []
        kinds = (base.AGREEMENT, base.LABELS, base.PAIRS, base.CAUGHT, base.PASSED)
        for judge in judges:
            for claim in claims(self.report, judge):
                known = claim.row.value is not None
                if claim.kind in kinds and claim.sign is Sign.FAILS and known:
                    failing.append((judge, claim))
        if not failing:
            return
        judge, claim = min(failing, key=lambda each: each[1].row.value or 0.0)
        subject = self.rules_of_headline.subject(claim)
        more = len(failing) - 1
        rest = f" {plural(more, 'more claim')} fail." if more else ""
        yield NextStep(
            f"Do not use {judge.id} for {subject}.",
            f"It has {cell_words.value(claim)}: "
            f"{cell_words.failed(self.report, claim)}.{rest}",
        )

    def position(self) -> Iterator[NextStep]:
        """A judge whose choice is shown to depend on the place of a text."""
        for judge in self.judges:
            shown = self.rules_of_headline.position_sentence(judge).replace("`", "")
            if shown:
                yield NextStep("Judge every pair in both orders.", shown)
                return

    def worse_slice(self) -> Iterator[NextStep]:
        """The slice with the largest difference from the rest that is shown."""
        worst = None
        for judge in self.report.real_judges:
            of_judge = self.report.rows("slices").where(judge=judge.id)
            for dataset in self.report.datasets:
                of_dataset = of_judge.where(dataset=dataset.id)
                for aspect, rows in of_dataset.by("judged").items():
                    part = worse_slice(rows)
                    gap = part.gap.value if part else None
                    if part and gap is not None and (worst is None or gap < worst[0]):
                        worst = gap, judge, self.report.aspect(aspect), part
        if worst is not None:
            _, judge, aspect, part = worst
            yield NextStep(
                f"{aspect}: leave {part.slice} to people, or give it to another judge "
                f"than {judge.id}.",
                f"It has {figures(part.inside)} there, {figures(part.gap)} minus the "
                "rest.",
            )

    def corrected_systems(self) -> Iterator[NextStep]:
        """Corrected means in place of a judge's own, where its bias is shown."""
        largest = None
        for row in self.report.rows("corrected").where(statistic="judge_bias"):
            low = row.ci_low
            high = row.ci_high
            shown = low is not None and high is not None and not low <= 0 <= high
            if shown and row.value is not None:
                size = abs(row.value)
                if largest is None or size > largest[0]:
                    largest = size, row
        if largest is not None:
            _, row = largest
            system = f" of {row.system_subset}" if row.system_subset else ""
            yield NextStep(
                f"{self.report.aspect(row.judged)}: report the corrected means.",
                f"{row.judge}'s own mean{system} is off by {figures(row)}.",
                f"judgescope rate-plan {self.study} --half-width .2",
            )

    def more_sources(self) -> Iterator[NextStep]:
        """The claim that is nearest to a decision, and how many sources decide it."""
        nearest = None
        for judge in self.judges:
            for claim in self.rules_of_headline.of_kind(
                judge, base.AGREEMENT, base.LABELS, base.PAIRS
            ):
                more = 0
                if claim.sign is Sign.NOT_SHOWN:
                    more = sources_to_decide(claim)
                if more and (nearest is None or more < nearest[0]):
                    nearest = more, judge, claim
        open_bar = self._open_bar()
        if open_bar is not None:
            yield open_bar
        elif nearest is not None:
            more, judge, claim = nearest
            subject = self.rules_of_headline.subject(claim)
            yield NextStep(
                f"{subject[0].upper()}{subject[1:]}: rate about "
                f"{plural(more, 'more source')}.",
                f"If {judge.id} stays at {cell_words.value(claim)} "
                f"({cell_words.spread(claim.row)}), they would show it above chance "
                "in 4 of 5 such studies.",
                f"judgescope pilot {self.study}",
            )

    def _open_bar(self) -> NextStep | None:
        for judge in self.judges:
            for claim in self.rules_of_headline.of_kind(judge, base.BAR):
                needed = claim.others.get("more_needed")
                is_open = claim.outcome is Outcome.CANNOT_TELL
                if is_open and needed is not None and needed.value is not None:
                    units = needed.method.partition(", ")[0]
                    return NextStep(
                        f"Add {count(round(needed.value))} more {units}.",
                        f"If {judge.id} stays at {cell_words.value(claim)}, they would "
                        f"decide in 4 of 5 such studies whether it meets "
                        f"{cell_words.bar_words(claim)}.",
                    )
        return None

    def ask_people(self) -> Iterator[NextStep]:
        """People's forms, where nobody rated the texts."""
        if self.rules_of_headline.planned:
            yield NextStep(
                "Ask people.",
                "Nobody rated these texts, so nobody knows how well people would do.",
                f"judgescope people ratings make {self.study} pages",
            )
