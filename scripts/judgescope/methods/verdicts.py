"""Verdicts on every judge of a dataset: the claims of the study's methods, and its
bars.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, product
from math import ceil
from pathlib import PurePath
from typing import Final

import numpy as np
from msgspec import structs

from judgescope.core.cells import joined, split
from judgescope.methods.base import Bar, Method, present
from judgescope.methods.claims.base import BAR, LOST, Claim, unordered_too
from judgescope.methods.claims.registry import CLAIMS
from judgescope.methods.claims.rows import verdict_rows
from judgescope.methods.differences import estimate_of
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import read_table
from judgescope.statistics.registry import statistic
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import LOSS, Outcome, more_needed, on_bar

NOT_COMPUTED: Final = "not_computed"
"""Reason: no table of the study has the statistic for the judge."""
RATED: Final = "systems"
CASES: Final = {
    "tnr": ("people label", 0),
    "tpr": ("people label", -1),
    "npv": ("the judge labels", 0),
    "precision": ("the judge labels", -1),
}
"""Statistic of two labels -> who gives which of them to the texts that it counts."""


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of verdicts.csv: of every claim its number, its p-values and its
    verdict.

    Claims come from the records that the spec names and from its bars. AttributeError
    or ModuleNotFoundError: a target is not an object of this package.
    """
    claims = list[Claim]()
    ordered = _ordered(data)
    makers = chain.from_iterable(CLAIMS.load(it).makers for it in data.spec.claims)
    for claims_of in makers:
        seen = ordered
        if hasattr(claims_of, unordered_too.__name__):
            seen = data
        for made in claims_of(seen):
            if isinstance(made, Claim):
                claims.append(made)
            else:
                yield made
    if data.spec.required:
        claims += bar_claims(data)
    yield from verdict_rows(data, _handed_over(claims))


def _handed_over(claims: list[Claim]) -> Iterator[Claim]:
    """Yield the claims, and keep none: each holds arrays of all texts."""
    while claims:
        yield claims.pop(0)


def _ordered(data: EvaluationData) -> EvaluationData:
    """Return the study without aspects whose labels have no order."""
    aspects = {}
    for name, scale in data.spec.aspects.items():
        if scale.ordered:
            aspects[name] = scale
    if len(aspects) == len(data.spec.aspects):
        return data
    return replace(data, spec=structs.replace(data.spec, aspects=aspects))


def bar_claims(data: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for each judge (no control), bar (`require`) and aspect.

    A bar is compared with the row that the study's tables have: its interval decides,
    as shown.
    """
    required = present(data.spec.required)
    rows: dict[tuple[str, str], list[ResultRow]] = {}
    on_perturbed: set[str] = set()
    # Rows on a part of the texts have a value in one of these columns.
    part_columns = ("judge_b", "aspect_b", "criterion_b", "k", "k_b", "degree")
    for path in required.parts:
        rests_on_perturbed = PurePath(path).parent.name in ("discernment", "confusion")
        for row in read_table("results", path).to_pylist():
            on_rated = row["perturbation"] in (None, "", RATED)
            if on_rated and not any(row.get(name) for name in part_columns):
                rows.setdefault((row["judge"], row["statistic"]), []).append(row)
                if rests_on_perturbed:
                    on_perturbed.add(row["statistic"])
    for (judge, card), bar in product(data.spec.judges.items(), required.bars):
        if card.engine == "control":
            continue
        sets = [RATED]
        if bar.statistic in on_perturbed:
            sets = ["original", *data.perturbed]
        of_bar = rows.get((judge, bar.statistic), [])
        # The `n` of this statistic counts all texts that judge and people label.
        labelled = rows.get((judge, "label_accuracy"), [])
        yield from _claims_of_bar(data, judge, bar, of_bar, labelled, sets)


def _claims_of_bar(
    data: EvaluationData,
    judge: str,
    bar: Bar,
    rows: list[ResultRow],
    labelled: list[ResultRow],
    sets: list[str],
) -> Iterator[Claim]:
    """Yield the claims of one bar: on the aspect that it names, or on each of the
    judge.

    The statistic rests on judgments of these sets of texts.
    """
    chosen: dict[str, ResultRow] = {}
    for row in sorted(rows, key=_preference):
        of_level = bar.level in (None, row["level"] or "")
        of_aspect = bar.aspect in (None, row["aspect"])
        if of_level and of_aspect:
            chosen.setdefault(joined(row["aspect"] or "", row.get("criterion")), row)
    single = {name: row for name, row in chosen.items() if row["aspect"] != "average"}
    if bar.aspect is None and single:
        chosen = single  # a bar without an aspect applies to every aspect
    if not chosen:
        nothing = Estimate.undefined("no table of the study contains it for this judge")
        columns = (judge, BAR, bar.statistic, bar.level or "", bar.aspect or "")
        yield Claim(*columns, nothing).without(NOT_COMPUTED)
    for aspect, row in chosen.items():
        claim = _bar_claim(data, judge, bar, aspect, row, sets)
        same_texts = next(
            (each for each in labelled if _on_same_texts(each, row)), None
        )
        if same_texts is not None:
            claim = _in_ratings(data, claim, aspect, same_texts["n"])
        yield claim.checked()


def _on_same_texts(first: ResultRow, second: ResultRow) -> bool:
    """Return whether two rows are on the same aspect, wording and systems."""
    if first["aspect"] != second["aspect"]:
        return False
    if first.get("criterion") != second.get("criterion"):
        return False
    return first.get("system_subset") == second.get("system_subset")


def _in_ratings(data: EvaluationData, claim: Claim, aspect: str, texts: int) -> Claim:
    """Return a claim on some of the labelled texts with how many ratings its further
    cases take.
    """
    need = claim.beside.get("more_needed")
    if need is None or claim.statistic not in CASES or not claim.estimate.n:
        return claim
    whose, index = CASES[claim.statistic]
    label = data.spec.aspects[aspect].labels[index]
    share = claim.estimate.n / texts
    how = need.method.rpartition(", ")[2]
    method = f"texts that {whose} “{label}”, {how}"
    if need.value is not None:
        method += (
            f": about {ceil(need.value / share):,} ratings, as {share:.0%} are "
            "such texts"
        )
    beside = {**claim.beside, "more_needed": replace(need, method=method)}
    return replace(claim, beside=beside)


def _preference(row: ResultRow) -> tuple[bool, int, int, str]:
    """Order rows: those with a value first, then by level and form, then those of all
    texts.
    """
    levels = (
        "",
        "by_source",
        "direct",
        "pooled",
        "by_system",
        "global",
        "local",
        "traditional",
        "within_source",
    )
    forms = ("", "tokens")
    level = row["level"] or ""
    form = row.get("form") or ""
    level_rank = levels.index(level) if level in levels else len(levels)
    form_rank = forms.index(form) if form in forms else len(forms)
    return row["value"] is None, level_rank, form_rank, row.get("system_subset") or ""


def _bar_claim(
    data: EvaluationData,
    judge: str,
    bar: Bar,
    aspect: str,
    row: ResultRow,
    sets: list[str],
) -> Claim:
    name = bar.statistic
    estimate = estimate_of(row)
    at_most = statistic(name).less_is_better
    counted = statistic(name).complete
    if counted:
        estimate = replace(estimate, ci_low=estimate.value, ci_high=estimate.value)
    outcome = on_bar(estimate, bar.bar, at_most=at_most)
    no_interval = estimate.value is not None and estimate.ci_low is None
    reasons: tuple[str, ...] = ("no_interval",) if no_interval else ()
    lost = 0.0
    if not counted:
        lost = _lost(data, judge, aspect, sets)
    if lost > LOSS.worst_case and not _holds(bar, estimate, lost, outcome):
        outcome = Outcome.CANNOT_TELL
        reasons = (*reasons, LOST)
    beside = {"bar": Estimate(bar.bar, note="at most" if at_most else "at least")}
    if outcome is Outcome.CANNOT_TELL:
        sources = int(np.unique(data.systems.given(judge).source).size)
        if sets != [RATED]:
            sources = len(data.items_given(judge))
        if need := more_needed(name, estimate, bar.bar, sources):
            if need.more is None:
                more = Estimate.undefined("more than 10,000", method=need.how)
            else:
                more = Estimate(need.more, method=need.how)
            beside["more_needed"] = more
    return Claim(
        judge,
        BAR,
        name,
        row["level"] or "",
        aspect,
        estimate,
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
    shift = against * lost
    shifted = replace(
        estimate,
        value=estimate.value * (1 - lost) + shift,
        ci_low=estimate.ci_low * (1 - lost) + shift,
        ci_high=estimate.ci_high * (1 - lost) + shift,
    )
    return on_bar(shifted, bar.bar, at_most=at_most) is outcome


def _lost(data: EvaluationData, judge: str, aspect: str, sets: list[str]) -> float:
    """Return the share of the judge's planned judgments of these sets that gave no
    score.

    `aspect` is one, in its criterion if it has one, or `average` or "" for all aspects.
    """
    plain, criterion = split(aspect)
    if plain not in ("", "average"):
        return data.replies_lost(judge, sets, [aspect])[0]
    covered = set[str]()
    for _, _, cell_aspect in data.status_counts:
        if criterion in (None, split(cell_aspect)[1]):
            covered.add(cell_aspect)
    return data.replies_lost(judge, sets, covered)[0]


METHOD = Method(
    name="verdicts",
    rows=rows,
    when="always",
    parts=("as_rater", "verdicts"),
    votes=True,
    bars=False,
    unordered="yes",
)
