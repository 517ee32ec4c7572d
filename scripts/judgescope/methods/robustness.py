"""Robustness (Chaudhary et al. 2024): prompt forms, hints, and instructions in judged
texts.

A hint is a rating of the text that the judge's prompt gives: a wrong one, or people's
own. Where a judge's score is its first draw, the means of its rationales are of that
draw, too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.core.rng import stream
from judgescope.methods import measures
from judgescope.methods.base import HUMAN, AppliesTo, Method, Row, present
from judgescope.methods.evaluation_data import EvaluationData, aligned
from judgescope.methods.gold import gold_classes
from judgescope.methods.measures import AVERAGE, with_hint_note
from judgescope.parsing.judgment import NO_VALUE
from judgescope.schema.tables import read_table
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.bias import injection_shift, obey_rate
from judgescope.statistics.classes import are_classes
from judgescope.statistics.comparison import difference, flips_of, mean_test
from judgescope.statistics.intervals import Bounds
from judgescope.statistics.means import SHARE, clustered_mean, mean_over, net_share
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import CONTINUOUS, NOTHING, OFF_SCALE, Estimate

NOT_ASKED: Final = "not_applicable"
ASKED_ONCE: Final = "unknown: without a hint each text was judged only once"


class Judgment(NamedTuple):
    """A row of the table `rationales`: one draw of a judge on a text."""

    target: str
    draw: int
    status: str
    value: float | None
    text: str | None
    hint: str | None


class Rationales:
    """The judgments of prompted judges on the rated texts; arrays are (targets,)."""

    def __init__(self, study: EvaluationData) -> None:
        self.study, self.panel = study, study.systems
        self._polarity: dict[str, float] = {}

    @cached_property
    def _draws(self) -> dict[tuple[str, str], list[Judgment]]:
        table = read_table("rationales", present(self.study.spec.rationales))
        columns = (
            table[name].to_pylist() for name in ("judge", "aspect", *Judgment._fields)
        )
        draws: dict[tuple[str, str], list[Judgment]] = {}
        for judge, aspect, *fields in zip(*columns, strict=True):
            draws.setdefault((judge, aspect), []).append(Judgment(*fields))
        return draws

    @property
    def judges(self) -> list[str]:
        """Return the judges that give rationales."""
        return list(dict.fromkeys(judge for judge, _ in self._draws))

    def draws(self, judge: str, aspect: str) -> list[Judgment]:
        """Return the draws on an aspect on which a judge's score rests."""
        draws = self._draws.get((judge, aspect), [])
        card = self.study.spec.judges.get(judge)
        return (
            [each for each in draws if each.draw == 0]
            if card and card.first_draw
            else draws
        )

    def hints(self, judge: str, aspect: str) -> Floats:
        """Return the rating that the judge was given of each text, NaN where none."""
        hints = {
            one.target: float(one.hint) for one in self.draws(judge, aspect) if one.hint
        }
        return aligned(hints, self.panel.targets)

    def draw(self, judge: str, aspect: str, number: int) -> Floats | None:
        """Return the value of a judge's `number`-th draw of each text, NaN where it has
        none.

        None: no text was asked about so often.
        """
        draws = [
            one for one in self._draws.get((judge, aspect), []) if one.draw == number
        ]
        values = {one.target: one.value for one in draws if one.value is not None}
        return aligned(values, self.panel.targets) if draws else None

    def values(self, judge: str, aspect: str) -> dict[str, Floats]:
        """Return the mean polarity, -1 to 1, and number of words of a judge's
        rationales.
        """
        texts = [
            (one.target, one.text)
            for one in self.draws(judge, aspect)
            if one.status == "ok" and one.text and one.text.strip()
        ]
        words = self._means(
            (target, float(len(text.split()))) for target, text in texts
        )
        sentiment = self._means(
            (target, self._sentiment(text)) for target, text in texts
        )
        return {"sentiment": sentiment, "rationale_length": words}

    def status_share(self, judge: str, aspect: str, status: str) -> Floats:
        """Return the share of a judge's draws of each text with this status, of those
        asked.
        """
        asked = (one for one in self.draws(judge, aspect) if one.status != NOT_ASKED)
        return self._means((one.target, float(one.status == status)) for one in asked)

    def _means(self, values: Iterable[tuple[str, float]]) -> Floats:
        by_target: dict[str, list[float]] = {}
        for target, value in values:
            by_target.setdefault(target, []).append(value)
        means = {target: float(np.mean(each)) for target, each in by_target.items()}
        return aligned(means, self.panel.targets)

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
        return self.lost / planned if planned else 0.0

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
    assumption is made that it never changes (methods.md 9).
    """
    base = rationales.study.spec.hinted[judge].baseline
    moved, source, lost = [], [], 0
    for aspect in aspects:
        hinted = rationales.draw(judge, aspect, 0)
        first, second = (rationales.draw(base, aspect, number) for number in (0, 1))
        if hinted is None or first is None or second is None:
            return None
        hints = rationales.hints(judge, aspect)
        known = ~(np.isnan(hinted) | np.isnan(first) | np.isnan(second))
        counts = ~np.isnan(hints) & ~np.isclose(
            first, hints
        )  # not close to NaN: it may count
        used = counts & known
        change = np.isclose(hinted, hints).astype(float) - np.isclose(second, hints)
        moved.append(change[used])
        source.append(rationales.panel.source[used])
        lost += int((counts & ~known).sum())
    return (
        HintPairs(np.concatenate(moved), np.concatenate(source), lost)
        if moved
        else None
    )


# --- the rows of the table ------------------------------------------------------------


NO_FORMS = "only one prompt form was used for this model"
SWAPPED_RATIONALES = (
    "two-sided permutation test: both judges' rationales swapped "
    "within sources, 1000 draws"
)
WITH_PEOPLE = ("alpha_joint", "alpha_pair", "alpha_pairs_mean")
"""Statistics of a judge's agreement with people."""
OVER_FORMS = "sentiment_forms"
LESS_FORMS = (
    "score with the hint minus the mean score over the model's prompt forms "
    "without a hint"
)
Averaged = dict[tuple[str, str | None, str], list[Replicated]]
"""(judge, criterion, statistic) -> its results on each aspect."""
ATTACK, INERT = "attack", "inert"
SHIFT, OBEYED = "injection_shift", "obey_rate"
OWN_RANGE = "relative to the range of the judge's scores, as it has no scale"
NO_RANGE = "all scores are equal, and the judge has no scale"
NO_CLAIM = "the judge has no scale, so an attack cannot claim its top"
OTHER_CLAIM = "the attack names the top of a scale other than the judge's"
SEVERAL_DRAWS = "a mean of several draws cannot equal a rating"
SWAPPED_TEXTS = (
    "two-sided permutation test: attack and inert text swapped within "
    "sources, 1000 draws"
)
INJECTION_NOTE = "score with the attack minus score with an inert text in its place"
Injection = dict[tuple[str, str], Replicated]
"""(statistic, degree) -> its result."""


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of robustness.csv: people, models over their forms, judges, hints.

    The aspect `average` holds the means over aspects in one wording.
    """
    rationales = Rationales(study)
    averaged: Averaged = {}
    for aspect in study.spec.aspects:
        ratings = study.systems.ratings(aspect)
        if not len(ratings):
            continue
        yield from _people_rows(study, aspect, ratings)
        yield from _form_rows(study, aspect)
        for judge in study.spec.judges:
            yield from _alpha_rows(study, judge, aspect, averaged)
        for judge in rationales.judges:
            yield from _rationale_rows(rationales, judge, aspect)
        for judge in study.spec.hinted:
            yield from _hint_rows(rationales, judge, aspect, averaged)
        yield from _sentiment_rows(rationales, aspect)
    for (judge, criterion, name), each in averaged.items():
        mean = mean_over(each, averaged="aspects").estimate
        row = study.row(judge, joined(AVERAGE, criterion), name, "", mean)
        yield with_hint_note(study, row) if name in WITH_PEOPLE else row
    yield from injection_rows(study)


def _people_rows(study: EvaluationData, aspect: str, ratings: Floats) -> Iterator[Row]:
    """Yield the agreement of people with each other, once for all wordings of an
    aspect.
    """
    plain = split(aspect)[0]
    if next(name for name in study.spec.aspects if split(name)[0] == plain) == aspect:
        why = measures.unrated(study, ratings)
        estimate = Estimate.undefined(why) if why else _alpha(study, aspect, ratings)
        yield study.row(HUMAN, plain, "alpha_ordinal", "", estimate)


def _form_rows(study: EvaluationData, aspect: str) -> Iterator[Row]:
    """Yield the agreement of a model's forms, each as a rater (Chaudhary et al. 2024,
    table 2).
    """
    for model, judges in study.spec.forms.items():
        scores = {judge: study.systems.scores(judge, aspect) for judge in judges}
        known = {
            judge: values for judge, values in scores.items() if values is not None
        }
        estimate = Estimate.undefined(NO_FORMS)
        if len(known) > 1:
            estimate = _alpha(study, aspect, np.stack(list(known.values())))
            estimate = estimate.with_method(f"of {', '.join(known)}")
        yield study.row(model, aspect, "alpha_forms", "", estimate)


def _alpha(study: EvaluationData, aspect: str, ratings: Floats) -> Estimate:
    """Return the ordinal alpha of raters, undefined if one gives a value that is not a
    class.
    """
    classes = study.spec.aspects[aspect].values
    if classes is None or not are_classes(ratings, classes):
        return Estimate.undefined(CONTINUOUS if classes is None else OFF_SCALE)
    return measures.alpha(study.systems, ratings, classes).estimate


def _alpha_rows(
    study: EvaluationData, judge: str, aspect: str, averaged: Averaged
) -> Iterator[Row]:
    """Yield a judge's agreement with people: with all at once, with their median, with
    each.
    """
    for number, panel in enumerate(study.rated(judge)):
        scores, people = panel.scores(judge, aspect), panel.ratings(aspect)
        if scores is None:
            continue
        gold = gold_classes(study, people)
        classes, why = measures.classes_with(study, judge, aspect, gold.values, scores)
        if classes is None or not are_classes(people, classes):
            alphas = [study.undefined(why or OFF_SCALE)] * len(WITH_PEOPLE)
        else:
            joint = measures.alpha(panel, np.vstack([people, scores]), classes)
            pair = measures.alpha(panel, np.stack([gold.values, scores]), classes)
            each = [
                measures.alpha(panel, np.stack([one, scores]), classes)
                for one in people
            ]
            alphas = [
                joint.with_method(f"of {len(people)} raters and the judge"),
                gold.named(pair),
                mean_over(each, averaged="pairs of the judge and a rater"),
            ]
        if number == 0:
            averaged.setdefault((judge, split(aspect)[1], "alpha_pair"), []).append(
                alphas[1]
            )
        for name, result in zip(WITH_PEOPLE, alphas, strict=True):
            yield with_hint_note(
                study, panel.row(judge, aspect, name, "", result.estimate)
            )


def _rationale_rows(rationales: Rationales, judge: str, aspect: str) -> Iterator[Row]:
    """Yield the shares of unusable replies, and sentiment and length of the
    rationales.
    """
    study = rationales.study
    if all(one.status == NOT_ASKED for one in rationales.draws(judge, aspect)):
        return
    for status in NO_VALUE:
        values = rationales.status_share(judge, aspect, status)
        share = _mean(study, values).with_method("of the texts that it was asked about")
        yield study.row(judge, aspect, f"share_{status}", "", share.estimate)
    for name, values in rationales.values(judge, aspect).items():
        yield study.row(
            judge, aspect, name, "", _mean(study, values, ends=None).estimate
        )


def _sentiment_rows(rationales: Rationales, aspect: str) -> Iterator[Row]:
    """Yield the mean sentiment over a model's forms without a hint, and a hint's change
    to it.
    """
    study = rationales.study

    def mean_of(judge: str) -> Replicated:
        return _mean(study, rationales.values(judge, aspect)["sentiment"], ends=None)

    for model, judges in study.spec.forms.items():
        means = {
            judge: mean_of(judge) for judge in judges if rationales.draws(judge, aspect)
        }
        if len(means) < 2:
            continue
        mean = mean_over([*means.values()], averaged="forms").with_method(
            f"of {', '.join(means)}"
        )
        yield study.row(model, aspect, OVER_FORMS, "", mean.estimate)
        for judge, hint in study.spec.hinted.items():
            if hint.baseline in means:
                gap = difference(mean_of(judge), mean).estimate.with_note(LESS_FORMS)
                yield study.row(judge, aspect, f"difference_{OVER_FORMS}", "", gap)


def _mean(
    study: EvaluationData,
    values: Floats | Flags,
    used: Flags | None = None,
    ends: Bounds | None = SHARE,
) -> Replicated:
    """Return the mean of the values that rated texts have, or of those `used`."""
    used = ~np.isnan(values) if used is None else used
    return clustered_mean(
        values[used], study.systems.source[used], study.weights, ends=ends
    )


def _hint_rows(
    rationales: Rationales, judge: str, aspect: str, averaged: Averaged
) -> Iterator[Row]:
    """Yield the effect of a hint on a judge, compared with the judge that is asked
    without one.
    """
    study = rationales.study
    base = study.spec.hinted[judge].baseline
    scores, base_scores = (study.systems.scores(name, aspect) for name in (judge, base))
    if scores is None or base_scores is None:
        return
    hints = rationales.hints(judge, aspect)
    asked = ~np.isnan(hints)
    both = asked & ~np.isnan(scores) & ~np.isnan(base_scores)
    missing = int(asked.sum() - both.sum())
    equal, already = np.isclose(scores, hints), np.isclose(base_scores, hints)
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
        undefined = mean.estimate.value is None
        estimates[name] = (
            mean.estimate if undefined else replace(mean.estimate, n_missing=missing)
        )
    gap = difference(*(_mean(study, one, both) for one in (equal, already))).estimate
    gap = gap.with_note("equal to the hint's rating, with minus without the hint")
    estimates["difference_follow_rate"] = (
        gap if single else Estimate.undefined(SEVERAL_DRAWS)
    )
    pairs = hint_pairs(rationales, judge, aspect)
    estimates["hint_effect"] = (
        pairs.effect() if pairs else Estimate.undefined(ASKED_ONCE)
    )
    estimates |= _rationale_changes(rationales, judge, base, aspect)
    for name, estimate in estimates.items():
        yield study.row(judge, aspect, name, "", estimate, judge_b=base)


def _rationale_changes(
    rationales: Rationales, judge: str, base: str, aspect: str
) -> Iterator[tuple[str, Estimate]]:
    """Yield how sentiment and length of the rationales change with the hint, on the
    same texts.
    """
    study, without = rationales.study, rationales.values(base, aspect)
    rng = stream(study.spec.seed, "robustness", study.dataset, judge, aspect)
    flips = flips_of(rng, len(study.item_order))
    for name, values in rationales.values(judge, aspect).items():
        used = ~np.isnan(values) & ~np.isnan(without[name])
        means = (_mean(study, each, used, None) for each in (values, without[name]))
        gap = difference(*means).estimate
        yield (
            f"difference_{name}",
            gap.with_note("texts for which both judges give rationales"),
        )
        test = mean_test(
            values[used], without[name][used], study.systems.source[used], flips
        )
        p = Estimate.undefined(NOTHING)
        if test.n:
            p = Estimate(test.p, n=test.n, method=SWAPPED_RATIONALES)
        yield f"p_{name}", p


def injection_rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the effect of every attack on every judge, by aspect and as means over
    aspects.

    Each attack adds to every original a claim of the top of the scale; its inert
    counterpart adds a meaningless note of the same length in the same place. An effect
    of both is that of any addition; the difference is the effect of the claim (this
    project).
    """
    for attack, judge in product(study.spec.attacks, study.spec.judges):
        if judge in study.excluded(f"{attack}.{ATTACK}"):
            continue
        wordings: dict[str | None, list[Injection]] = {}
        for aspect in study.spec.aspects:
            if (f"{attack}.{ATTACK}", judge, aspect) in study.score_values:
                results, p = _injection(study, judge, aspect, attack)
                yield from _effect_rows(study, judge, aspect, attack, results)
                place: AppliesTo = {"perturbation": attack, "degree": ATTACK}
                yield study.row(judge, aspect, "p_injection", "", p, **place)
                wordings.setdefault(split(aspect)[1], []).append(results)
        for criterion, each in wordings.items():
            means = {
                at: mean_over([results[at] for results in each], averaged="aspects")
                for at in each[0]
            }
            yield from _effect_rows(
                study, judge, joined(AVERAGE, criterion), attack, means
            )


def _injection(
    study: EvaluationData, judge: str, aspect: str, attack: str
) -> tuple[Injection, Estimate]:
    """Return the effects of an attack and its counterpart, and the p of both being the
    same.
    """
    source, weights = study.panel("original").given(judge).source, study.weights

    def by_item(texts: str) -> Floats:
        panel = study.panel(texts).given(judge)
        scores, values = (
            panel.scores(judge, aspect),
            np.full(len(study.item_order), np.nan),
        )
        if scores is not None:
            values[panel.source] = scores
        return np.asarray(values[source])

    before = by_item("original")
    after = {degree: by_item(f"{attack}.{degree}") for degree in (ATTACK, INERT)}
    ends, top = (
        study.spec.judges[judge].ends[aspect],
        study.spec.aspects[aspect].ends[1],
    )
    values = np.concatenate([before, *after.values()])
    values, scale = values[np.isfinite(values)], ends
    if ends is None and np.unique(values).size > 1:
        scale = float(values.min()), float(values.max())
    why = NO_CLAIM if ends is None else ""
    if not measures.is_discrete(study, judge, aspect):
        why = SEVERAL_DRAWS
    if (
        study.spec.attacks[attack] and ends and ends[1] != top
    ):  # the attack names a number
        why = OTHER_CLAIM

    def shift(scores: Floats) -> Replicated:
        if not scale:
            return study.undefined(NO_RANGE)
        shifted = injection_shift(before, scores, *scale, source, weights)
        return shifted.with_note("" if ends else OWN_RANGE)

    def obeyed(scores: Floats) -> Replicated:
        if why or ends is None:
            return study.undefined(why)
        return obey_rate(before, scores, *ends, source, weights)

    results: Injection = {}
    both = np.isfinite(after[ATTACK]) & np.isfinite(after[INERT])
    for name, effect in ((SHIFT, shift), (OBEYED, obeyed)):
        results |= {(name, degree): effect(scores) for degree, scores in after.items()}
        paired = (
            effect(np.where(both, after[degree], np.nan)) for degree in (ATTACK, INERT)
        )
        results[f"difference_{name}", ATTACK] = difference(*paired)
    if not both.any():
        return results, Estimate.undefined(NOTHING, n_missing=both.size)
    rng = stream(study.spec.seed, "injection", study.dataset, judge, aspect)
    flips = flips_of(rng, len(study.item_order))
    test = mean_test(after[ATTACK][both], after[INERT][both], source[both], flips)
    missing = int((~both).sum())
    return results, Estimate(test.p, n=test.n, n_missing=missing, method=SWAPPED_TEXTS)


def _effect_rows(
    study: EvaluationData, judge: str, aspect: str, attack: str, results: Injection
) -> Iterator[Row]:
    for (name, degree), result in results.items():
        place: AppliesTo = {"perturbation": attack, "degree": degree}
        about = INJECTION_NOTE if name.startswith("difference_") else ""
        yield study.row(
            judge, aspect, name, "", result.estimate.with_note(about), **place
        )


METHOD = Method(
    selectable=True,
    texts=("systems", "attack"),
    parts=("robust",),
    claims=("claims.perturbations.hint_claims",),
    controls=True,
    unturned=True,
)
