"""Robustness (Chaudhary et al. 2024): prompt forms, hints, and instructions in judged
texts.

A hint is a rating of the text that the judge's prompt gives: a wrong one, or people's
own. Where a judge's score is its first draw, the means of its rationales are of that
draw, too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.core.rng import stream
from judgescope.methods import measures
from judgescope.methods.aligned_values import aligned
from judgescope.methods.base import HUMAN, Method, present
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.gold import gold_classes
from judgescope.methods.injection import SEVERAL_DRAWS, injection_rows
from judgescope.methods.measures import AVERAGE, with_hint_note
from judgescope.parsing.judgment import NO_VALUE
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import read_table
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.classes import are_classes
from judgescope.statistics.comparison import difference
from judgescope.statistics.intervals import Bounds
from judgescope.statistics.means import SHARE, clustered_mean, mean_over, net_share
from judgescope.statistics.permutation import flips_of, mean_test
from judgescope.statistics.registry import statistic
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate

NOT_ASKED: Final = "not_applicable"
ASKED_ONCE: Final = "unknown: without a hint each text was judged only once"


class RationaleDraw(NamedTuple):
    """A row of the table `rationales`: one draw of a judge on a text."""

    target: str
    draw: int
    status: str
    value: float | None
    text: str | None
    hint: str | None


class Rationales:
    """The judgments of prompted judges on the rated texts; arrays are (targets,)."""

    def __init__(self, data: EvaluationData) -> None:
        self.study = data
        self.target_set = data.systems
        self._polarity: dict[str, float] = {}

    @cached_property
    def _draws(self) -> dict[tuple[str, str], list[RationaleDraw]]:
        table = read_table("rationales", present(self.study.spec.rationales))
        names = ("judge", "aspect", *RationaleDraw._fields)
        columns = [table[name].to_pylist() for name in names]
        draws: dict[tuple[str, str], list[RationaleDraw]] = {}
        for judge, aspect, *fields in zip(*columns, strict=True):
            draws.setdefault((judge, aspect), []).append(RationaleDraw(*fields))
        return draws

    @property
    def judges(self) -> list[str]:
        """Return the judges that give rationales."""
        return list(dict.fromkeys(judge for judge, _ in self._draws))

    def draws(self, judge: str, aspect: str) -> list[RationaleDraw]:
        """Return the draws on an aspect on which a judge's score rests."""
        draws = self._draws.get((judge, aspect), [])
        card = self.study.spec.judges.get(judge)
        if card and card.first_draw:
            return [row for row in draws if row.draw == 0]
        return draws

    def hints(self, judge: str, aspect: str) -> Floats:
        """Return the rating that the judge was given of each text, NaN where none."""
        draws = self.draws(judge, aspect)
        hints = {}
        for row in draws:
            if row.hint:
                hints[row.target] = float(row.hint)
        return aligned(hints, self.target_set.targets)

    def draw(self, judge: str, aspect: str, number: int) -> Floats | None:
        """Return the value of a judge's `number`-th draw of each text, NaN where it has
        none.

        None: no text was asked about so often.
        """
        all_draws = self._draws.get((judge, aspect), [])
        draws = [row for row in all_draws if row.draw == number]
        values = {}
        for row in draws:
            if row.value is not None:
                values[row.target] = row.value
        if draws:
            return aligned(values, self.target_set.targets)
        return None

    def values(self, judge: str, aspect: str) -> dict[str, Floats]:
        """Return the mean polarity, -1 to 1, and number of words of a judge's
        rationales.
        """
        sentiments = list[tuple[str, float]]()
        words = list[tuple[str, float]]()
        for row in self.draws(judge, aspect):
            if row.status == "ok" and row.text and row.text.strip():
                sentiments.append((row.target, self._sentiment(row.text)))
                words.append((row.target, float(len(row.text.split()))))
        return {
            "sentiment": self._means(sentiments),
            "rationale_length": self._means(words),
        }

    def status_share(self, judge: str, aspect: str, status: str) -> Floats:
        """Return the share of a judge's draws of each text with this status, of those
        asked.
        """
        asked = []
        for row in self.draws(judge, aspect):
            if row.status != NOT_ASKED:
                asked.append(row)
        return self._means((row.target, float(row.status == status)) for row in asked)

    def _means(self, values: Iterable[tuple[str, float]]) -> Floats:
        by_target: dict[str, list[float]] = {}
        for target, value in values:
            by_target.setdefault(target, []).append(value)
        means = {target: float(np.mean(each)) for target, each in by_target.items()}
        return aligned(means, self.target_set.targets)

    def _sentiment(self, text: str) -> float:
        from textblob import TextBlob  # loads a lexicon of its package, and no corpus

        if text not in self._polarity:
            self._polarity[text] = float(TextBlob(text).sentiment.polarity)
        return self._polarity[text]


@dataclass(frozen=True)
class HintPairs:
    """Texts whose first score without a hint differs from the hint, on one aspect or
    several.

    moved (texts,): 1 where the score with the hint equals it and the second one without
    does not, -1 the other way round, else 0; source (texts,). `lost` texts lack one of
    the three scores.
    """

    moved: Floats
    source: Codes
    lost: int

    @property
    def lost_share(self) -> float:
        """Return the lost texts as a share of those that count or might."""
        planned = self.moved.size + self.lost
        if planned:
            return self.lost / planned
        return 0.0

    def effect(self) -> Estimate:
        """Return the share of texts that only the hint moves to it, minus the
        reverse.
        """
        return replace(
            net_share(self.moved, self.source, corrected=True), n_missing=self.lost
        )

    def with_lost(self, moved: int) -> Estimate:
        """Return the effect if every lost text, of a source of its own, had `moved`
        so.
        """
        values = np.append(self.moved, np.full(self.lost, float(moved)))
        last = int(self.source.max(initial=-1)) + 1
        source = np.append(self.source, np.arange(last, last + self.lost))
        return net_share(values, source, corrected=True)


def hint_pairs(rationales: Rationales, judge: str, *aspects: str) -> HintPairs | None:
    """Return a hinted judge's texts on some aspects together; None: no second draw of
    its base.

    A second draw that repeats the first one at temperature 0 is a draw like others: no
    assumption is made that it never changes (docs/methods.md, "Agreement").
    """
    base = rationales.study.spec.hinted[judge].baseline
    moved = []
    source = []
    lost = 0
    for aspect in aspects:
        hinted = rationales.draw(judge, aspect, 0)
        first = rationales.draw(base, aspect, 0)
        second = rationales.draw(base, aspect, 1)
        if hinted is None or first is None or second is None:
            return None
        hints = rationales.hints(judge, aspect)
        known = ~(np.isnan(hinted) | np.isnan(first) | np.isnan(second))
        # Nothing is close to NaN: a text without a first score may count.
        counts = ~np.isnan(hints) & ~np.isclose(first, hints)
        used = counts & known
        change = np.isclose(hinted, hints).astype(float) - np.isclose(second, hints)
        moved.append(change[used])
        source.append(rationales.target_set.source[used])
        lost += int((counts & ~known).sum())
    if not moved:
        return None
    return HintPairs(np.concatenate(moved), np.concatenate(source), lost)


# --- the rows of the table ------------------------------------------------------------


Averaged = dict[tuple[str, str | None, str], list[Replicated]]
"""(judge, criterion, statistic) -> its results on each aspect."""


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of robustness.csv: people, models over their forms, judges, hints.

    The aspect `average` holds the means over aspects in one wording.
    """
    rationales = Rationales(data)
    averaged: Averaged = {}
    for aspect in data.spec.aspects:
        ratings = data.systems.ratings(aspect)
        if not len(ratings):
            continue
        yield from _people_rows(data, aspect, ratings)
        yield from _form_rows(data, aspect)
        for judge in data.spec.judges:
            yield from _alpha_rows(data, judge, aspect, averaged)
        for judge in rationales.judges:
            yield from _rationale_rows(rationales, judge, aspect)
        for judge in data.spec.hinted:
            yield from _hint_rows(rationales, judge, aspect, averaged)
        yield from _sentiment_rows(rationales, aspect)
    for (judge, criterion, name), each in averaged.items():
        mean = mean_over(each, averaged="aspects").estimate
        row = data.row(judge, joined(AVERAGE, criterion), name, "", mean)
        with_people = statistic(name).group == "judge_alpha"
        yield with_hint_note(data, row) if with_people else row
    yield from injection_rows(data)


def _people_rows(
    data: EvaluationData, aspect: str, ratings: Floats
) -> Iterator[ResultRow]:
    """Yield the agreement of people with each other, once for all wordings of an
    aspect.
    """
    plain = split(aspect)[0]
    if next(name for name in data.spec.aspects if split(name)[0] == plain) == aspect:
        why = measures.unrated(data, ratings)
        estimate = Estimate.undefined(why) if why else _alpha(data, aspect, ratings)
        yield data.row(HUMAN, plain, "alpha_ordinal", "", estimate)


def _form_rows(data: EvaluationData, aspect: str) -> Iterator[ResultRow]:
    """Yield the agreement of a model's forms, each as a rater (Chaudhary et al. 2024,
    table 2).
    """
    for model, judges in data.spec.forms.items():
        known = dict[str, Floats]()
        for judge in judges:
            scores = data.systems.scores(judge, aspect)
            if scores is not None:
                known[judge] = scores
        estimate = Estimate.undefined("only one prompt form was used for this model")
        if len(known) > 1:
            estimate = _alpha(data, aspect, np.stack(list(known.values())))
            estimate = estimate.with_method(f"of {', '.join(known)}")
        yield data.row(model, aspect, "alpha_forms", "", estimate)


def _alpha(data: EvaluationData, aspect: str, ratings: Floats) -> Estimate:
    """Return the ordinal alpha of raters, undefined if one gives a value that is not a
    class.
    """
    classes = data.spec.aspects[aspect].values
    if classes is None:
        return Estimate.undefined(REASONS.continuous)
    if not are_classes(ratings, classes):
        return Estimate.undefined(REASONS.off_scale)
    return measures.alpha(data.systems, ratings, classes).estimate


def _alpha_rows(
    data: EvaluationData, judge: str, aspect: str, averaged: Averaged
) -> Iterator[ResultRow]:
    """Yield a judge's agreement with people: with all at once, with their median, with
    each.
    """
    for number, targets in enumerate(data.rated(judge)):
        scores = targets.scores(judge, aspect)
        people = targets.ratings(aspect)
        if scores is None:
            continue
        gold = gold_classes(data, people)
        classes, why = measures.classes_with(data, judge, aspect, gold.values, scores)
        if classes is None or not are_classes(people, classes):
            joint = data.undefined(why or REASONS.off_scale)
            pair = joint
            mean = joint
        else:
            joint = measures.alpha(targets, np.vstack([people, scores]), classes)
            pair = measures.alpha(targets, np.stack([gold.values, scores]), classes)
            each = []
            for rater in people:
                each.append(measures.alpha(targets, np.stack([rater, scores]), classes))
            joint = joint.with_method(f"of {len(people)} raters and the judge")
            pair = gold.named(pair)
            mean = mean_over(each, averaged="pairs of the judge and a rater")
        if number == 0:
            key = (judge, split(aspect)[1], "alpha_pair")
            averaged.setdefault(key, []).append(pair)
        by_statistic = {
            "alpha_joint": joint,
            "alpha_pair": pair,
            "alpha_pairs_mean": mean,
        }
        for name, result in by_statistic.items():
            row = targets.row(judge, aspect, name, "", result.estimate)
            yield with_hint_note(data, row)


def _rationale_rows(
    rationales: Rationales, judge: str, aspect: str
) -> Iterator[ResultRow]:
    """Yield the shares of unusable replies, and sentiment and length of the
    rationales.
    """
    study = rationales.study
    if all(row.status == NOT_ASKED for row in rationales.draws(judge, aspect)):
        return
    for status in NO_VALUE:
        values = rationales.status_share(judge, aspect, status)
        share = _mean(study, values).with_method("of the texts that it was asked about")
        yield study.row(judge, aspect, f"share_{status}", "", share.estimate)
    for name, values in rationales.values(judge, aspect).items():
        mean = _mean(study, values, ends=None).estimate
        yield study.row(judge, aspect, name, "", mean)


def _sentiment_rows(rationales: Rationales, aspect: str) -> Iterator[ResultRow]:
    """Yield the mean sentiment over a model's forms without a hint, and a hint's change
    to it.
    """
    study = rationales.study
    over_forms = "sentiment_forms"

    def mean_of(judge: str) -> Replicated:
        return _mean(study, rationales.values(judge, aspect)["sentiment"], ends=None)

    for model, judges in study.spec.forms.items():
        asked = [judge for judge in judges if rationales.draws(judge, aspect)]
        means = {judge: mean_of(judge) for judge in asked}
        if len(means) < 2:
            continue
        mean = mean_over([*means.values()], averaged="forms")
        mean = mean.with_method(f"of {', '.join(means)}")
        yield study.row(model, aspect, over_forms, "", mean.estimate)
        for judge, hint in study.spec.hinted.items():
            if hint.baseline in means:
                gap = difference(mean_of(judge), mean).estimate.with_note(
                    "score with the hint minus the mean score over the model's prompt "
                    "forms without a hint"
                )
                yield study.row(judge, aspect, f"difference_{over_forms}", "", gap)


def _mean(
    data: EvaluationData,
    values: Floats | Flags,
    used: Flags | None = None,
    ends: Bounds | None = SHARE,
) -> Replicated:
    """Return the mean of the values that rated texts have, or of those `used`."""
    if used is None:
        used = ~np.isnan(values)
    return clustered_mean(
        values[used], data.systems.source[used], data.weights, ends=ends
    )


def _hint_rows(
    rationales: Rationales, judge: str, aspect: str, averaged: Averaged
) -> Iterator[ResultRow]:
    """Yield the effect of a hint on a judge, compared with the judge that is asked
    without one.
    """
    study = rationales.study
    base = study.spec.hinted[judge].baseline
    scores = study.systems.scores(judge, aspect)
    base_scores = study.systems.scores(base, aspect)
    if scores is None or base_scores is None:
        return
    hints = rationales.hints(judge, aspect)
    asked = ~np.isnan(hints)
    both = asked & ~np.isnan(scores) & ~np.isnan(base_scores)
    missing = int(asked.sum() - both.sum())
    equal = np.isclose(scores, hints)
    already = np.isclose(base_scores, hints)
    toward = (scores - base_scores) * np.sign(hints - base_scores)
    effects: dict[str, tuple[Floats | Flags, Flags, Bounds | None]] = {
        "follow_rate": (equal, both, SHARE),
        "hint_baseline_rate": (already, both, SHARE),
        "hint_adoption_rate": (equal, both & ~already, SHARE),
        "match_share": (np.isclose(scores, base_scores), both, SHARE),
        "hint_shift": (toward, both & ~already, None),
    }
    single = all(measures.is_discrete(study, name, aspect) for name in (judge, base))
    estimates = dict[str, Estimate]()
    for name, (values, used, ends) in effects.items():
        if ends and not single:
            estimates[name] = Estimate.undefined(SEVERAL_DRAWS)
            continue
        mean = _mean(study, values, used, ends)
        if name == "hint_adoption_rate":
            averaged.setdefault((judge, split(aspect)[1], name), []).append(mean)
        estimate = mean.estimate
        if estimate.value is not None:
            estimate = replace(estimate, n_missing=missing)
        estimates[name] = estimate
    gap = Estimate.undefined(SEVERAL_DRAWS)
    if single:
        with_hint = _mean(study, equal, both)
        without_hint = _mean(study, already, both)
        gap = difference(with_hint, without_hint).estimate
        gap = gap.with_note("equal to the hint's rating, with minus without the hint")
    estimates["difference_follow_rate"] = gap
    pairs = hint_pairs(rationales, judge, aspect)
    effect = pairs.effect() if pairs else Estimate.undefined(ASKED_ONCE)
    estimates["hint_effect"] = effect
    estimates |= _rationale_changes(rationales, judge, base, aspect)
    for name, estimate in estimates.items():
        yield study.row(judge, aspect, name, "", estimate, judge_b=base)


def _rationale_changes(
    rationales: Rationales, judge: str, base: str, aspect: str
) -> Iterator[tuple[str, Estimate]]:
    """Yield how sentiment and length of the rationales change with the hint, on the
    same texts.
    """
    study = rationales.study
    values_of_base = rationales.values(base, aspect)
    rng = stream(study.spec.seed, "robustness", study.dataset, judge, aspect)
    flips = flips_of(rng, len(study.item_order))
    for name, values in rationales.values(judge, aspect).items():
        without = values_of_base[name]
        used = ~np.isnan(values) & ~np.isnan(without)
        mean = _mean(study, values, used, None)
        gap = difference(mean, _mean(study, without, used, None)).estimate
        note = "texts for which both judges give rationales"
        yield f"difference_{name}", gap.with_note(note)
        source = study.systems.source[used]
        test = mean_test(values[used], without[used], source, flips)
        p = Estimate.undefined(REASONS.nothing)
        if test.n:
            method = (
                "two-sided permutation test: both judges' rationales swapped "
                "within sources, 1000 draws"
            )
            p = Estimate(test.p, n=test.n, method=method)
        yield f"p_{name}", p


METHOD = Method(
    name="robustness",
    rows=rows,
    selectable=True,
    texts=("systems", "attack"),
    parts=("robust",),
    controls=True,
    unturned=True,
)
