"""Verdicts on every judge of a dataset: the claims of the study's methods, and its
bars.
"""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from itertools import product
from math import ceil
from pathlib import PurePath
from typing import Final

import numpy as np
from msgspec import structs

from judgescope.core.cells import joined, split
from judgescope.methods.base import Bar, Method, Row, present
from judgescope.methods.claims.base import BAR, LOST, Claim
from judgescope.methods.claims.rows import verdict_rows
from judgescope.methods.differences import estimate_of
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.tables import read_table
from judgescope.statistics.registry import statistic
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import FEW_LOST, Outcome, more_needed, on_bar

NO_INTERVAL: Final = "no_interval"
NOT_COMPUTED: Final = "not_computed"
"""Reason: no table of the study has the statistic for the judge."""
UNORDERED: Final = frozenset(
    f"claims.{name}"
    for name in (
        *("agreement.label_claims", "ratings.pair_claims"),
        *("ratings.rating_claims", "ratings.order_claims"),
    )
)
"""Functions of claims that can use labels without an order, or judges that compare."""
RATED: Final = "systems"
ON_PERTURBED: Final = frozenset({"discernment", "confusion"})
"""Tables whose rows on a whole aspect or judge rest on originals and perturbed
texts."""
LEVELS: Final = (
    *(
        "",
        "by_source",
        "direct",
        "pooled",
        "by_system",
        "global",
        "local",
        "traditional",
    ),
    "within_source",
)
"""The order in which levels are preferred, unless the bar names one."""
FORMS: Final = ("", "tokens")
"""The order in which forms of a statistic (error spans) are preferred."""
CASES: Final = {
    "tnr": ("people label", 0),
    "tpr": ("people label", -1),
    "npv": ("the judge labels", 0),
    "precision": ("the judge labels", -1),
}
"""Statistic of two labels -> who gives which of them to the texts that it counts."""
LABELLED_TEXTS: Final = "label_accuracy"
"""The statistic whose `n` counts all texts that judge and people label."""
PART_COLUMNS: Final = ("judge_b", "aspect_b", "criterion_b", "k", "k_b", "degree")
"""Columns that are empty in rows on a judge's whole aspect."""


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of verdicts.csv: of every claim its number, its p-values and its
    verdict.

    Claims come from the functions that the spec names and from its bars. AttributeError
    or ModuleNotFoundError: a name is not a function of this package.
    """
    claims, ordered = list[Claim](), _ordered(study)
    for path in study.spec.claims:
        module, _, function = path.rpartition(".")
        seen = study if path in UNORDERED else ordered
        for made in getattr(import_module(f"judgescope.methods.{module}"), function)(
            seen
        ):
            if isinstance(made, Claim):
                claims.append(made)
            else:
                yield made
    if study.spec.required:
        claims += bar_claims(study)
    yield from verdict_rows(study, claims)


def _ordered(study: EvaluationData) -> EvaluationData:
    """Return the study without aspects whose labels have no order."""
    aspects = {
        name: scale for name, scale in study.spec.aspects.items() if scale.ordered
    }
    if len(aspects) == len(study.spec.aspects):
        return study
    return replace(study, spec=structs.replace(study.spec, aspects=aspects))


def bar_claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for each judge (no control), bar (`require`) and aspect.

    A bar is compared with the row that the study's tables have: its interval decides,
    as shown.
    """
    required = present(study.spec.required)
    rows: dict[tuple[str, str], list[Row]] = {}
    on_perturbed: set[str] = set()
    for path in required.parts:
        for row in read_table("results", path).to_pylist():
            on_rated = row["perturbation"] in (None, "", RATED)
            if on_rated and not any(row.get(name) for name in PART_COLUMNS):
                rows.setdefault((row["judge"], row["statistic"]), []).append(row)
                if PurePath(path).parent.name in ON_PERTURBED:
                    on_perturbed.add(row["statistic"])
    for (judge, card), bar in product(study.spec.judges.items(), required.bars):
        if card.engine != "control":
            own, labelled = (
                rows.get((judge, name), []) for name in (bar.statistic, LABELLED_TEXTS)
            )
            sets = (
                ["original", *study.perturbed]
                if bar.statistic in on_perturbed
                else [RATED]
            )
            yield from _claims_of_bar(study, judge, bar, own, labelled, sets)


def _claims_of_bar(
    study: EvaluationData,
    judge: str,
    bar: Bar,
    rows: list[Row],
    labelled: list[Row],
    sets: list[str],
) -> Iterator[Claim]:
    """Yield the claims of one bar: on the aspect that it names, or on each of the
    judge.

    The statistic rests on judgments of these sets of texts.
    """
    chosen: dict[str, Row] = {}
    for row in sorted(rows, key=_preference):
        if bar.level in (None, row["level"] or "") and bar.aspect in (
            None,
            row["aspect"],
        ):
            chosen.setdefault(joined(row["aspect"] or "", row.get("criterion")), row)
    single = {name: row for name, row in chosen.items() if row["aspect"] != "average"}
    if bar.aspect is None and single:
        chosen = single  # a bar without an aspect applies to every aspect
    if not chosen:
        nothing = Estimate.undefined("no table of the study contains it for this judge")
        columns = (judge, BAR, bar.statistic, bar.level or "", bar.aspect or "")
        yield Claim(*columns, nothing).without(NOT_COMPUTED)
    for aspect, row in chosen.items():
        claim = _bar_claim(study, judge, bar, aspect, row, sets)
        same = ("aspect", "criterion", "system_subset")
        texts = [
            one["n"]
            for one in labelled
            if all(one.get(name) == row.get(name) for name in same)
        ]
        yield (
            _in_ratings(study, claim, aspect, texts[0]) if texts else claim
        ).checked()


def _in_ratings(study: EvaluationData, claim: Claim, aspect: str, texts: int) -> Claim:
    """Return a claim on some of the labelled texts with how many ratings its further
    cases take.
    """
    need = claim.beside.get("more_needed")
    if need is None or claim.statistic not in CASES or not claim.estimate.n:
        return claim
    (whose, place), labels = CASES[claim.statistic], study.spec.aspects[aspect].labels
    share, how = claim.estimate.n / texts, need.method.rpartition(", ")[2]
    method = f"texts that {whose} “{labels[place]}”, {how}"
    if need.value is not None:
        method += (
            f": about {ceil(need.value / share):,} ratings, as {share:.0%} are "
            "such texts"
        )
    return replace(
        claim, beside={**claim.beside, "more_needed": replace(need, method=method)}
    )


def _preference(row: Row) -> tuple[bool, int, int, str]:
    """Order rows: those with a value first, then by level and form, then those of all
    texts.
    """
    level, form = row["level"] or "", row.get("form") or ""
    level_rank = LEVELS.index(level) if level in LEVELS else len(LEVELS)
    form_rank = FORMS.index(form) if form in FORMS else len(FORMS)
    return row["value"] is None, level_rank, form_rank, row.get("system_subset") or ""


def _bar_claim(
    study: EvaluationData, judge: str, bar: Bar, aspect: str, row: Row, sets: list[str]
) -> Claim:
    name, estimate = bar.statistic, estimate_of(row)
    at_most, counted = statistic(name).less_is_better, statistic(name).complete
    if counted:
        estimate = replace(estimate, ci_low=estimate.value, ci_high=estimate.value)
    outcome = on_bar(estimate, bar.bar, at_most=at_most)
    no_interval = estimate.value is not None and estimate.ci_low is None
    reasons: tuple[str, ...] = (NO_INTERVAL,) if no_interval else ()
    lost = 0.0 if counted else _lost(study, judge, aspect, sets)
    if lost > FEW_LOST and not _holds(bar, estimate, lost, outcome):
        outcome, reasons = Outcome.CANNOT_TELL, (*reasons, LOST)
    beside = {"bar": Estimate(bar.bar, note="at most" if at_most else "at least")}
    if outcome is Outcome.CANNOT_TELL:
        sources = int(np.unique(study.systems.given(judge).source).size)
        if sets != [RATED]:
            sources = len(study.items_given(judge))
        if need := more_needed(name, estimate, bar.bar, sources):
            too_many = Estimate.undefined("more than 10,000", method=need.how)
            enough = need.more is not None
            beside["more_needed"] = (
                Estimate(need.more, method=need.how) if enough else too_many
            )
    return Claim(
        *(judge, BAR, name, row["level"] or "", aspect, estimate),
        lost=lost,
        outcome=outcome,
        reasons=reasons,
        systems=row.get("system_subset"),
        beside=beside,
    )


def _holds(bar: Bar, estimate: Estimate, lost: float, outcome: Outcome) -> bool:
    """Return whether a verdict holds with the worst value for lost judgments, if
    known.
    """
    if outcome not in {Outcome.MEETS, Outcome.MISSES}:
        return True
    if not statistic(bar.statistic).is_proportion:
        return False
    assert (
        estimate.value is not None
        and estimate.ci_low is not None
        and estimate.ci_high is not None
    )
    at_most = statistic(bar.statistic).less_is_better
    against = float((outcome is Outcome.MEETS) == at_most)
    value, lo, hi = (
        v * (1 - lost) + against * lost
        for v in (estimate.value, estimate.ci_low, estimate.ci_high)
    )
    shifted = replace(estimate, value=value, ci_low=lo, ci_high=hi)
    return on_bar(shifted, bar.bar, at_most=at_most) is outcome


def _lost(study: EvaluationData, judge: str, aspect: str, sets: list[str]) -> float:
    """Return the share of the judge's planned judgments of these sets that gave no
    score.

    `aspect` is one, in its criterion if it has one, or `average` or "" for all aspects.
    """
    plain, criterion = split(aspect)
    if plain not in ("", "average"):
        return study.replies_lost(judge, sets, [aspect])[0]
    every = {each for _, _, each in study.status_counts}
    covered = [each for each in every if criterion in (None, split(each)[1])]
    return study.replies_lost(judge, sets, covered)[0]


METHOD = Method(
    when="always",
    parts=("as_rater", "verdicts"),
    votes=True,
    bars=False,
    unordered="yes",
)
