"""Robustness (paper 003): is a judge consistent over forms, and how far does it follow a hint?

A hint is a rating that the judge is told of the very text: a wrong one, or people's own.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.core.rng import stream
from judgescope.methods import injection
from judgescope.methods.base import Method, Row
from judgescope.methods.differences import difference_rows
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.hinting import ASKED_ONCE, hint_pairs
from judgescope.methods.measures import (
    AVERAGE,
    against,
    alpha,
    classes_with,
    hinted,
    lower_median,
    unrated,
)
from judgescope.methods.rationales import Rationales
from judgescope.parsing.judgment import NO_VALUE
from judgescope.statistics.alpha import alpha_replicated
from judgescope.statistics.jackknife import Bounds
from judgescope.statistics.kappa import are_classes
from judgescope.statistics.means import SHARE, mean_over, replicated_share
from judgescope.statistics.permutation import flips_of, mean_test
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import CONTINUOUS, NOTHING, OFF_SCALE, Estimate

HUMAN = "human"
SEVERAL = "a mean of several draws equals no rating"
NO_FORMS = "the model is asked in one form"
SWAPPED = "permutation of both judges' reasons, 1000, sources whole, two-sided"
WITH_PEOPLE = ("alpha_joint", "alpha_pair", "alpha_pairs_mean")
"""How far a judge agrees with people."""
Averaged = dict[tuple[str, str | None, str], list[Replicated]]
"""(judge, criterion, statistic) -> what is averaged over aspects."""


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of robustness.csv: people, models over their forms, judges, hints.

    Of the aspect `average`: the means over aspects in one wording of what sums a judge up.
    """
    told = Rationales(study)
    found = list[Row]()
    averaged: Averaged = {}
    for aspect in study.spec.aspects:
        ratings = study.systems.ratings(aspect)
        if not len(ratings):
            continue
        found += _people(study, aspect, ratings)
        found += _forms(study, aspect)
        for judge in study.spec.judges:
            found += _joint(study, judge, aspect, averaged)
        for judge in told.judges:
            found += _reasons(study, told, judge, aspect)
        for judge in study.spec.hinted:
            found += _hinted(study, told, judge, aspect, averaged)
    found += _averages(study, averaged)
    noted = [hinted(study, row) if row["statistic"] in WITH_PEOPLE else row for row in found]
    return [*noted, *injection.rows(study)]


def _averages(study: EvaluationData, averaged: "Averaged") -> Iterator[Row]:
    for (judge, criterion, name), each in averaged.items():
        one = mean_over(each, of="aspects").estimate
        yield study.row(judge, joined(AVERAGE, criterion), name, "", one)


def _average(averaged: "Averaged", judge: str, aspect: str, name: str, one: Replicated) -> None:
    averaged.setdefault((judge, split(aspect)[1], name), []).append(one)


def _people(study: EvaluationData, aspect: str, ratings: Floats) -> Iterator[Row]:
    """Yield the agreement of people among themselves, once for all wordings of an aspect."""
    plain, criterion = split(aspect)
    others = [name for name in study.spec.aspects if split(name)[0] == plain]
    if criterion and others[0] != aspect:
        return
    why = unrated(study, ratings)
    one = Estimate.undefined(why) if why else _alpha(study, ratings, _classes(study, aspect))
    yield study.row(HUMAN, plain, "alpha_ordinal", "", one)


def _forms(study: EvaluationData, aspect: str) -> Iterator[Row]:
    """Yield the agreement of a model's forms, as if each were a rater (paper 003, table 2)."""
    classes = _classes(study, aspect)
    for model, judges in study.spec.forms.items():
        scores = {judge: study.systems.scores(judge, aspect) for judge in judges}
        known = {judge: own for judge, own in scores.items() if own is not None}
        one = Estimate.undefined(NO_FORMS)
        if len(known) > 1:
            found = _alpha(study, np.stack(list(known.values())), classes)
            one = _of(found, ", ".join(known))
        yield study.row(model, aspect, "alpha_forms", "", one)


def _classes(study: EvaluationData, aspect: str) -> list[float] | None:
    """Return the ratings that an aspect's scale has, None for any number."""
    return study.spec.aspects[aspect].values


def _alpha(study: EvaluationData, ratings: Floats, classes: list[float] | None) -> Estimate:
    """Return the ordinal alpha of raters, undefined where one gives what is no class."""
    if classes is None:
        return Estimate.undefined(CONTINUOUS)
    off = ~np.isnan(ratings) & ~np.isclose(ratings[..., None], classes).any(axis=-1)
    if off.any():
        return Estimate.undefined(OFF_SCALE)
    return alpha(study, study.systems, ratings, classes)


def _joint(study: EvaluationData, judge: str, aspect: str, averaged: Averaged) -> Iterator[Row]:
    """Yield a judge's agreement with people: with all at once, with their median, with each."""
    for systems, panel in study.rated(judge).items():
        where = {"systems": systems} if systems else {}
        for name, found in _alphas(study, panel, judge, aspect):
            if name == "alpha_pair" and not (systems and len(study.rated(judge)) > 1):
                _average(averaged, judge, aspect, name, found)
            yield study.row(judge, aspect, name, "", found.estimate, **where)


def _alphas(
    study: EvaluationData, panel: TargetSet, judge: str, aspect: str
) -> Iterator[tuple[str, Replicated]]:
    """Yield the three alphas of a judge and people on some texts."""
    scores, people = panel.scores(judge, aspect), panel.ratings(aspect)
    if scores is None:
        return
    classes, why = classes_with(study, judge, aspect, lower_median(people), scores)
    if classes is None or not are_classes(people, classes):
        nothing = np.full(len(study.weights) + 1, np.nan)
        for name in WITH_PEOPLE:
            yield name, Replicated(Estimate.undefined(why or OFF_SCALE), nothing)
        return
    joint = _replicated(study, panel, np.vstack([people, scores]), classes)
    told = _of(joint.estimate, f"{len(people)} raters and the judge")
    yield "alpha_joint", joint._replace(estimate=told)
    pair = _replicated(study, panel, np.stack([lower_median(people), scores]), classes)
    yield "alpha_pair", pair._replace(estimate=against(pair.estimate, "lower median"))
    each = [_replicated(study, panel, np.stack([one, scores]), classes) for one in people]
    yield "alpha_pairs_mean", mean_over(each, of="pairs of the judge and a rater")


def _replicated(
    study: EvaluationData, panel: TargetSet, ratings: Floats, classes: list[float]
) -> Replicated:
    return alpha_replicated(
        ratings, level="ordinal", domain=classes, source=panel.source, weights=study.weights
    )


def _of(found: Estimate, which: str) -> Estimate:
    return replace(found, method="; ".join(filter(None, [f"of {which}", found.method])))


def _reasons(study: EvaluationData, told: Rationales, judge: str, aspect: str) -> Iterator[Row]:
    """Yield how judgments ended, and the sentiment and the length of their reasons."""
    if not told.asked(judge, aspect):
        return
    for end in NO_VALUE:
        values = told.ended(judge, aspect, end)
        one = _of(_mean(told, values, ~np.isnan(values)).estimate, "the texts that it was asked of")
        yield study.row(judge, aspect, f"share_{end}", "", one)
    for name, found in _reason_means(told, judge, aspect, None).items():
        yield study.row(judge, aspect, name, "", found.estimate)


def _reason_means(
    told: Rationales, judge: str, aspect: str, beside: str | None
) -> dict[str, Replicated]:
    """Return the means of sentiment and words; `beside`: of texts of which that judge says why."""
    found = {}
    for name, values in (("sentiment", told.polarities), ("reason_words", told.words)):
        own = values(judge, aspect)
        both = ~np.isnan(own)
        if beside is not None:
            both &= ~np.isnan(values(beside, aspect))
        found[name] = _mean(told, own, both, None)
    return found


def _mean(told: Rationales, values: Floats, used: Any, ends: Bounds | None = SHARE) -> Replicated:
    """Return the mean of some texts' values, with its interval over sources and replicates."""
    panel, weights = told.panel, told.study.weights
    given = used & ~np.isnan(values)
    missing = int(used.sum() - given.sum())
    ones, source = np.ones(int(given.sum())), panel.source[given]
    return replicated_share(values[given], ones, source, weights, missing=missing, ends=ends)


def _hinted(
    study: EvaluationData, told: Rationales, judge: str, aspect: str, averaged: Averaged
) -> Iterator[Row]:
    """Yield what a hint does to a judge, held against the judge that is asked without one."""
    base = study.spec.hinted[judge].base
    mine, other = (study.systems.scores(one, aspect) for one in (judge, base))
    if mine is None or other is None:
        return
    hints, place = told.hints(judge, aspect), {"judge_b": base}
    asked = ~np.isnan(hints)
    both = asked & ~np.isnan(mine) & ~np.isnan(other)
    missing = int(asked.sum() - both.sum())
    equal, already = np.isclose(mine, hints), np.isclose(other, hints)
    toward = (mine - other) * np.sign(hints - other)
    measures = {
        "follow_rate": (equal, both),
        "already_share": (already, both),
        "sway": (equal, both & ~already),
        "match_share": (np.isclose(mine, other), both),
        "hint_shift": (toward, both & ~already),
    }
    single = study.spec.judges[judge].discrete and study.spec.judges[base].discrete
    for name, (values, used) in measures.items():
        if not single and name != "hint_shift":
            nothing = Estimate.undefined(SEVERAL)
            yield study.row(judge, aspect, name, "", nothing, **place)
            continue
        ends = None if name == "hint_shift" else SHARE
        mean = _mean(told, values.astype(np.float64), used, ends)
        if name == "sway":
            _average(averaged, judge, aspect, name, mean)
        found = mean.estimate
        one = replace(found, n_missing=missing) if found.value is not None else found
        yield study.row(judge, aspect, name, "", one, **place)
    first, second = (_mean(told, one.astype(np.float64), both & single) for one in (equal, already))
    note = "equal to the hint, with it less without it"
    yield from difference_rows(
        study,
        judge,
        {"follow_rate": first},
        {"follow_rate": second},
        note=note,
        place=place,
        aspect=aspect,
    )
    pairs = hint_pairs(study, told, judge, aspect)
    effect = pairs.effect() if pairs else Estimate.undefined(ASKED_ONCE)
    yield study.row(judge, aspect, "hint_effect", "", effect, **place)
    yield from _moods(study, told, judge, base, aspect)


def _moods(
    study: EvaluationData, told: Rationales, judge: str, base: str, aspect: str
) -> Iterator[Row]:
    """Yield how sentiment and length of the reasons change with the hint, on the same texts."""
    yield from difference_rows(
        study,
        judge,
        _reason_means(told, judge, aspect, base),
        _reason_means(told, base, aspect, judge),
        note="of the texts for which both give reasons",
        place={"judge_b": base},
        aspect=aspect,
    )
    rng = stream(study.spec.seed, "robustness", study.dataset, judge, aspect)
    flips = flips_of(rng, len(study.item_order))
    for name, values in (("sentiment", told.polarities), ("reason_words", told.words)):
        first, second = values(judge, aspect), values(base, aspect)
        both = ~np.isnan(first) & ~np.isnan(second)
        test = mean_test(first[both], second[both], told.panel.source[both], flips)
        one = Estimate(test.p, n=test.n, method=SWAPPED) if test.n else Estimate.undefined(NOTHING)
        yield study.row(judge, aspect, f"p_{name}", "", one, judge_b=base)


METHOD = Method(
    selectable=True,
    texts=("systems", "attack"),
    parts=("robust",),
    claims=True,
    controls=True,
    unturned=True,
    packages=("textblob",),
)
