"""Robustness (Chaudhary et al. 2024): prompt forms, hints, and instructions in judged texts.

A hint is a rating of the text that the judge's prompt gives: a wrong one, or people's own. Where a
judge's score is its first draw, the means of its rationales are of that draw, too.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.core.rng import stream
from judgescope.methods.base import HUMAN, AppliesTo, Method, Row, present
from judgescope.methods.differences import difference_rows
from judgescope.methods.evaluation_data import (
    Codes,
    EvaluationData,
    Flags,
    Floats,
    TargetSet,
    aligned,
)
from judgescope.methods.measures import (
    AVERAGE,
    against,
    alpha,
    classes_with,
    is_discrete,
    lower_median,
    unrated,
    with_hint_note,
)
from judgescope.parsing.judgment import NO_VALUE
from judgescope.schema.tables import read_table
from judgescope.statistics.bias import injection_shift, obey_rate
from judgescope.statistics.classes import are_classes
from judgescope.statistics.comparison import flips_of, mean_test
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
        columns = (table[name].to_pylist() for name in ("judge", "aspect", *Judgment._fields))
        draws: dict[tuple[str, str], list[Judgment]] = {}
        for judge, aspect, *fields in zip(*columns, strict=True):
            draws.setdefault((judge, aspect), []).append(Judgment(*fields))
        return draws

    @property
    def judges(self) -> list[str]:
        """Return the judges that give rationales."""
        return list(dict.fromkeys(judge for judge, _ in self._draws))

    def of(self, judge: str, aspect: str) -> list[Judgment]:
        """Return the draws on an aspect on which a judge's score rests."""
        draws = self._draws.get((judge, aspect), [])
        card = self.study.spec.judges.get(judge)
        return [one for one in draws if one.draw == 0] if card and card.first_draw else draws

    def hints(self, judge: str, aspect: str) -> Floats:
        """Return the rating that the judge was given of each text, NaN where none."""
        hints = {one.target: float(one.hint) for one in self.of(judge, aspect) if one.hint}
        return aligned(hints, self.panel.targets)

    def draw(self, judge: str, aspect: str, number: int) -> Floats | None:
        """Return the value of a judge's `number`-th draw of each text, NaN where it has none.

        None: no text was asked about so often.
        """
        draws = [one for one in self._draws.get((judge, aspect), []) if one.draw == number]
        values = {one.target: one.value for one in draws if one.value is not None}
        return aligned(values, self.panel.targets) if draws else None

    def polarities(self, judge: str, aspect: str) -> Floats:
        """Return the mean polarity of a judge's rationales of each text, -1 to 1."""
        return self._mean_of_texts(judge, aspect, self._sentiment)

    def words(self, judge: str, aspect: str) -> Floats:
        """Return the mean number of words of a judge's rationales of each text."""
        return self._mean_of_texts(judge, aspect, lambda text: len(text.split()))

    def asked(self, judge: str, aspect: str) -> list[Judgment]:
        """Return the judgments of texts that a judge was asked about."""
        return [one for one in self.of(judge, aspect) if one.status != NOT_ASKED]

    def status_share(self, judge: str, aspect: str, status: str) -> Floats:
        """Return the share of a judge's draws of each text with this status."""
        asked = self.asked(judge, aspect)
        return self._means((one.target, float(one.status == status)) for one in asked)

    def _mean_of_texts(self, judge: str, aspect: str, value: Callable[[str], float]) -> Floats:
        texts = (
            (one.target, one.text)
            for one in self.of(judge, aspect)
            if one.status == "ok" and one.text and one.text.strip()
        )
        return self._means((target, float(value(text))) for target, text in texts)

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
    """Texts whose first score without a hint differs from the hint, on one aspect or several.

    moved (texts,): 1 where the score with the hint equals it and the second one without does not,
    -1 the other way round, else 0; source (texts,). `lost` texts lack one of the three scores.
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
        """Return the share of texts that only the hint moves to it, minus the reverse."""
        return replace(net_share(self.moved, self.source, corrected=True), n_missing=self.lost)

    def with_lost(self, moved: int) -> Estimate:
        """Return the effect if every lost text, of a source of its own, had `moved` so."""
        values = np.append(self.moved, np.full(self.lost, float(moved)))
        last = int(self.source.max(initial=-1)) + 1
        source = np.append(self.source, np.arange(last, last + self.lost))
        return net_share(values, source, corrected=True)


def hint_pairs(
    study: EvaluationData, rationales: Rationales, judge: str, *aspects: str
) -> HintPairs | None:
    """Return a hinted judge's texts on some aspects together; None: no second draw of its base.

    A second draw that repeats the first one at temperature 0 is a draw like others: no assumption
    is made that it never changes (methods.md 9).
    """
    base = study.spec.hinted[judge].baseline
    moved, source, lost = [], [], 0
    for aspect in aspects:
        hinted = rationales.draw(judge, aspect, 0)
        first, second = (rationales.draw(base, aspect, number) for number in (0, 1))
        if hinted is None or first is None or second is None:
            return None
        hints = rationales.hints(judge, aspect)
        known = ~(np.isnan(hinted) | np.isnan(first) | np.isnan(second))
        counts = ~np.isnan(hints) & ~np.isclose(first, hints)  # not close to NaN: it may count
        used = counts & known
        change = np.isclose(hinted, hints).astype(float) - np.isclose(second, hints)
        moved.append(change[used])
        source.append(rationales.panel.source[used])
        lost += int((counts & ~known).sum())
    return HintPairs(np.concatenate(moved), np.concatenate(source), lost) if moved else None


# --- the rows of the table -----------------------------------------------------------------------


NO_FORMS = "only one prompt form was used for this model"
SWAPPED_RATIONALES = (
    "two-sided permutation test: both judges' rationales swapped within sources, 1000 draws"
)
WITH_PEOPLE = ("alpha_joint", "alpha_pair", "alpha_pairs_mean")
"""Statistics of a judge's agreement with people."""
OVER_FORMS = "sentiment_forms"
LESS_FORMS = "score with the hint minus the mean score over the model's prompt forms without a hint"
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
    "two-sided permutation test: attack and inert text swapped within sources, 1000 draws"
)
INJECTION_NOTE = "score with the attack minus score with an inert text in its place"
Injection = dict[str, dict[str, Replicated]]
"""Degree -> statistic -> its result."""


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of robustness.csv: people, models over their forms, judges, hints.

    The aspect `average` holds the means over aspects in one wording.
    """
    rationales = Rationales(study)
    result = list[Row]()
    averaged: Averaged = {}
    for aspect in study.spec.aspects:
        ratings = study.systems.ratings(aspect)
        if not len(ratings):
            continue
        result += _people_rows(study, aspect, ratings)
        result += _form_rows(study, aspect)
        for judge in study.spec.judges:
            result += _alpha_rows(study, judge, aspect, averaged)
        for judge in rationales.judges:
            result += _rationale_rows(study, rationales, judge, aspect)
        for judge in study.spec.hinted:
            result += _hint_rows(study, rationales, judge, aspect, averaged)
        result += _sentiment_rows(study, rationales, aspect)
    for (judge, criterion, name), each in averaged.items():
        mean = mean_over(each, averaged="aspects").estimate
        result.append(study.row(judge, joined(AVERAGE, criterion), name, "", mean))
    noted = [
        with_hint_note(study, row) if row["statistic"] in WITH_PEOPLE else row for row in result
    ]
    return [*noted, *injection_rows(study)]


def _people_rows(study: EvaluationData, aspect: str, ratings: Floats) -> Iterator[Row]:
    """Yield the agreement of people with each other, once for all wordings of an aspect."""
    plain, criterion = split(aspect)
    wordings = [name for name in study.spec.aspects if split(name)[0] == plain]
    if criterion and wordings[0] != aspect:
        return
    why = unrated(study, ratings)
    estimate = Estimate.undefined(why) if why else _alpha(study, aspect, ratings)
    yield study.row(HUMAN, plain, "alpha_ordinal", "", estimate)


def _form_rows(study: EvaluationData, aspect: str) -> Iterator[Row]:
    """Yield the agreement of a model's forms, each as a rater (Chaudhary et al. 2024, table 2)."""
    for model, judges in study.spec.forms.items():
        scores = {judge: study.systems.scores(judge, aspect) for judge in judges}
        known = {judge: values for judge, values in scores.items() if values is not None}
        estimate = Estimate.undefined(NO_FORMS)
        if len(known) > 1:
            estimate = _alpha(study, aspect, np.stack(list(known.values())))
            estimate = estimate.with_method(f"of {', '.join(known)}")
        yield study.row(model, aspect, "alpha_forms", "", estimate)


def _alpha(study: EvaluationData, aspect: str, ratings: Floats) -> Estimate:
    """Return the ordinal alpha of raters, undefined if one gives a value that is not a class."""
    classes = study.spec.aspects[aspect].values
    if classes is None:
        return Estimate.undefined(CONTINUOUS)
    off = ~np.isnan(ratings) & ~np.isclose(ratings[..., None], classes).any(axis=-1)
    if off.any():
        return Estimate.undefined(OFF_SCALE)
    return alpha(study.systems, ratings, classes).estimate


def _alpha_rows(
    study: EvaluationData, judge: str, aspect: str, averaged: Averaged
) -> Iterator[Row]:
    """Yield a judge's agreement with people: with all at once, with their median, with each."""
    panels = study.rated(judge)
    for systems, panel in panels.items():
        columns: AppliesTo = {"system_subset": systems} if systems else {}
        for name, result in _alphas(study, panel, judge, aspect):
            if name == "alpha_pair" and not (systems and len(panels) > 1):
                averaged.setdefault((judge, split(aspect)[1], name), []).append(result)
            yield study.row(judge, aspect, name, "", result.estimate, **columns)


def _alphas(
    study: EvaluationData, panel: TargetSet, judge: str, aspect: str
) -> Iterator[tuple[str, Replicated]]:
    """Yield the three alphas of a judge and people on some texts."""
    scores, people = panel.scores(judge, aspect), panel.ratings(aspect)
    if scores is None:
        return
    median = lower_median(people)
    classes, why = classes_with(study, judge, aspect, median, scores)
    if classes is None or not are_classes(people, classes):
        yield from ((name, study.undefined(why or OFF_SCALE)) for name in WITH_PEOPLE)
        return

    joint = alpha(panel, np.vstack([people, scores]), classes)
    raters = f"{len(people)} raters and the judge"
    yield "alpha_joint", joint.with_method(f"of {raters}")
    pair = alpha(panel, np.stack([median, scores]), classes)
    yield "alpha_pair", against(pair, "lower median")
    each = [alpha(panel, np.stack([one, scores]), classes) for one in people]
    yield "alpha_pairs_mean", mean_over(each, averaged="pairs of the judge and a rater")


def _rationale_rows(
    study: EvaluationData, rationales: Rationales, judge: str, aspect: str
) -> Iterator[Row]:
    """Yield the shares of unusable replies, and sentiment and length of the rationales."""
    if not rationales.asked(judge, aspect):
        return
    for status in NO_VALUE:
        values = rationales.status_share(judge, aspect, status)
        share = _mean(study, values).with_method("of the texts that it was asked about")
        yield study.row(judge, aspect, f"share_{status}", "", share.estimate)
    for name, values in _rationale_values(rationales, judge, aspect).items():
        yield study.row(judge, aspect, name, "", _mean(study, values, ends=None).estimate)


def _sentiment_rows(study: EvaluationData, rationales: Rationales, aspect: str) -> Iterator[Row]:
    """Yield the mean sentiment over a model's forms without a hint, and a hint's change to it."""
    for model, judges in study.spec.forms.items():
        means = {
            judge: _mean(study, rationales.polarities(judge, aspect), ends=None)
            for judge in judges
            if rationales.of(judge, aspect)
        }
        if len(means) < 2:
            continue
        mean = mean_over([*means.values()], averaged="forms").with_method(f"of {', '.join(means)}")
        yield study.row(model, aspect, OVER_FORMS, "", mean.estimate)
        for judge, hint in study.spec.hinted.items():
            if hint.baseline in means:
                hinted = _mean(study, rationales.polarities(judge, aspect), ends=None)
                both = {OVER_FORMS: hinted}, {OVER_FORMS: mean}
                yield from difference_rows(
                    study, judge, *both, note=LESS_FORMS, columns={}, aspect=aspect
                )


def _rationale_values(rationales: Rationales, judge: str, aspect: str) -> dict[str, Floats]:
    """Return the sentiment and the length of a judge's rationales; (targets,) each."""
    return {
        "sentiment": rationales.polarities(judge, aspect),
        "rationale_length": rationales.words(judge, aspect),
    }


def _mean(
    study: EvaluationData,
    values: Floats | Flags,
    used: Flags | None = None,
    ends: Bounds | None = SHARE,
) -> Replicated:
    """Return the mean of the values that rated texts have, or of those `used`."""
    used = ~np.isnan(values) if used is None else used
    return clustered_mean(values[used], study.systems.source[used], study.weights, ends=ends)


def _hint_rows(
    study: EvaluationData, rationales: Rationales, judge: str, aspect: str, averaged: Averaged
) -> Iterator[Row]:
    """Yield the effect of a hint on a judge, compared with the judge that is asked without one."""
    base = study.spec.hinted[judge].baseline
    scores, base_scores = (study.systems.scores(name, aspect) for name in (judge, base))
    if scores is None or base_scores is None:
        return
    hints = rationales.hints(judge, aspect)
    columns: AppliesTo = {"judge_b": base}
    asked = ~np.isnan(hints)
    both = asked & ~np.isnan(scores) & ~np.isnan(base_scores)
    missing = int(asked.sum() - both.sum())
    equal, already = np.isclose(scores, hints), np.isclose(base_scores, hints)
    toward = (scores - base_scores) * np.sign(hints - base_scores)
    measures: dict[str, tuple[Floats | Flags, Flags]] = {
        "follow_rate": (equal, both),
        "hint_baseline_rate": (already, both),
        "hint_adoption_rate": (equal, both & ~already),
        "match_share": (np.isclose(scores, base_scores), both),
        "hint_shift": (toward, both & ~already),
    }
    single = all(is_discrete(study, name, aspect) for name in (judge, base))
    for name, (values, used) in measures.items():
        if not single and name != "hint_shift":
            nothing = Estimate.undefined(SEVERAL_DRAWS)
            yield study.row(judge, aspect, name, "", nothing, **columns)
            continue
        ends = None if name == "hint_shift" else SHARE
        mean = _mean(study, values, used, ends)
        if name == "hint_adoption_rate":
            averaged.setdefault((judge, split(aspect)[1], name), []).append(mean)
        estimate = mean.estimate
        estimate = estimate if estimate.value is None else replace(estimate, n_missing=missing)
        yield study.row(judge, aspect, name, "", estimate, **columns)
    first, second = ({"follow_rate": _mean(study, one, both & single)} for one in (equal, already))
    note = "equal to the hint's rating, with minus without the hint"
    yield from difference_rows(
        study, judge, first, second, note=note, columns=columns, aspect=aspect
    )
    pairs = hint_pairs(study, rationales, judge, aspect)
    effect = pairs.effect() if pairs else Estimate.undefined(ASKED_ONCE)
    yield study.row(judge, aspect, "hint_effect", "", effect, **columns)
    yield from _rationale_change_rows(study, rationales, judge, base, aspect)


def _rationale_change_rows(
    study: EvaluationData, rationales: Rationales, judge: str, base: str, aspect: str
) -> Iterator[Row]:
    """Yield how sentiment and length of the rationales change with the hint, on the same texts."""
    hinted = _rationale_values(rationales, judge, aspect)
    plain = _rationale_values(rationales, base, aspect)
    both = {name: ~np.isnan(values) & ~np.isnan(plain[name]) for name, values in hinted.items()}
    yield from difference_rows(
        study,
        judge,
        {name: _mean(study, values, both[name], None) for name, values in hinted.items()},
        {name: _mean(study, values, both[name], None) for name, values in plain.items()},
        note="texts for which both judges give rationales",
        columns={"judge_b": base},
        aspect=aspect,
    )
    rng = stream(study.spec.seed, "robustness", study.dataset, judge, aspect)
    flips = flips_of(rng, len(study.item_order))
    for name, used in both.items():
        test = mean_test(hinted[name][used], plain[name][used], study.systems.source[used], flips)
        p = Estimate.undefined(NOTHING)
        if test.n:
            p = Estimate(test.p, n=test.n, method=SWAPPED_RATIONALES)
        yield study.row(judge, aspect, f"p_{name}", "", p, judge_b=base)


class AttackScores:
    """A judge's scores of originals and of their copies with an attack or its inert counterpart.

    Each attack adds to every original a claim of the top of the scale; its inert counterpart adds
    a meaningless note of the same length in the same place. An effect of both is that of any
    addition; the difference is the effect of the claim (this project).

    (items,) each, in the order of `items`, NaN where there is none.
    """

    def __init__(self, study: EvaluationData, judge: str, aspect: str, attack: str) -> None:
        self.study, self.judge, self.aspect = study, judge, aspect
        self.source = study.panel("original").given(judge).source
        self.before = self._by_item("original")
        self.after = {degree: self._by_item(f"{attack}.{degree}") for degree in (ATTACK, INERT)}

    def _by_item(self, texts: str) -> Floats:
        """Return the judge's score of each item's text of a set."""
        panel = self.study.panel(texts).given(self.judge)
        by_item = np.full(len(self.study.item_order), np.nan)
        scores = panel.scores(self.judge, self.aspect)
        if scores is not None:
            by_item[panel.source] = scores
        return by_item[self.source]

    @property
    def scale(self) -> tuple[float, float] | None:
        """Return the ends of the judge's scale."""
        return self.study.spec.judges[self.judge].ends[self.aspect]

    def results(self, names_number: bool) -> Injection:
        """Return both statistics of the attack and of its counterpart."""
        return {
            degree: {SHIFT: self._shift(degree), OBEYED: self._obeyed(degree, names_number)}
            for degree in (ATTACK, INERT)
        }

    def _shift(self, degree: str) -> Replicated:
        """Return by how much of the judge's scale, else of its scores, an addition moves them."""
        ends, note = self.scale, ""
        if ends is None:
            values = np.concatenate([self.before, *self.after.values()])
            values = values[np.isfinite(values)]
            if np.unique(values).size < 2:
                return self.study.undefined(NO_RANGE)
            ends, note = (float(values.min()), float(values.max())), OWN_RANGE
        weights, after = self.study.weights, self.after[degree]
        shift = injection_shift(self.before, after, *ends, self.source, weights)
        return shift.with_note(note)

    def _obeyed(self, degree: str, names_number: bool) -> Replicated:
        """Return the share of texts that an addition takes to the top of the scale."""
        ends = self.scale
        top = self.study.spec.aspects[self.aspect].ends[1]
        if names_number and ends and ends[1] != top:
            return self.study.undefined(OTHER_CLAIM)
        if not is_discrete(self.study, self.judge, self.aspect):
            return self.study.undefined(SEVERAL_DRAWS)
        if ends is None:
            return self.study.undefined(NO_CLAIM)
        after, weights = self.after[degree], self.study.weights
        return obey_rate(self.before, after, *ends, self.source, weights)

    def test(self) -> Estimate:
        """Return the p-value of the attack's scores being those of its counterpart."""
        first, second = self.after[ATTACK], self.after[INERT]
        both = np.isfinite(first) & np.isfinite(second)
        if not both.any():
            return Estimate.undefined(NOTHING, n_missing=both.size)
        seed = self.study.spec.seed
        rng = stream(seed, "injection", self.study.dataset, self.judge, self.aspect)
        flips = flips_of(rng, len(self.study.item_order))
        test = mean_test(first[both], second[both], self.source[both], flips)
        return Estimate(test.p, n=test.n, n_missing=int((~both).sum()), method=SWAPPED_TEXTS)


def injection_rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the effect of every attack on every judge, by aspect and as means over aspects."""
    for attack, names_number in study.spec.attacks.items():
        excluded = study.excluded(f"{attack}.{ATTACK}")
        for judge in study.spec.judges:
            if judge not in excluded:
                yield from _attack_rows(study, judge, attack, names_number)


def _attack_rows(
    study: EvaluationData, judge: str, attack: str, names_number: bool
) -> Iterator[Row]:
    wordings: dict[str | None, list[Injection]] = {}
    for aspect in study.spec.aspects:
        if (f"{attack}.{ATTACK}", judge, aspect) not in study.score_values:
            continue
        scores = AttackScores(study, judge, aspect, attack)
        results = scores.results(names_number)
        yield from _effect_rows(study, judge, aspect, attack, results)
        p = scores.test()
        yield study.row(judge, aspect, "p_injection", "", p, perturbation=attack, degree=ATTACK)
        wordings.setdefault(split(aspect)[1], []).append(results)
    for criterion, each in wordings.items():
        means = {
            degree: {
                name: mean_over([results[degree][name] for results in each], averaged="aspects")
                for name in (SHIFT, OBEYED)
            }
            for degree in (ATTACK, INERT)
        }
        yield from _effect_rows(study, judge, joined(AVERAGE, criterion), attack, means)


def _effect_rows(
    study: EvaluationData, judge: str, aspect: str, attack: str, results: Injection
) -> Iterator[Row]:
    columns: AppliesTo = {"perturbation": attack, "degree": ATTACK}
    for degree, by_statistic in results.items():
        for name, result in by_statistic.items():
            place = columns | {"degree": degree}
            yield study.row(judge, aspect, name, "", result.estimate, **place)
    first, second = results[ATTACK], results[INERT]
    yield from difference_rows(
        study, judge, first, second, note=INJECTION_NOTE, columns=columns, aspect=aspect
    )


METHOD = Method(
    selectable=True,
    texts=("systems", "attack"),
    parts=("robust",),
    claims=("claims.perturbations.hint_claims",),
    controls=True,
    unturned=True,
)
