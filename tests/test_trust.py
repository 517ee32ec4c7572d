"""What the numbers come to: every rule by hand, and that nobody is called better by chance."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from metajudge.report import trust
from metajudge.report.report import Report
from metajudge.report.sections.trust import sentence
from metajudge.report.trust import FAILS, HOLDS, OPEN, Claim

Row = dict[str, Any]


def estimate(judge: str, statistic: str, ends: tuple[float, float, float], **more: Any) -> Row:
    """Return a row of the dataset with people's ratings: value and both ends."""
    value, lo, hi = ends
    return study.row("chat", judge, statistic, value, **{"lo": lo, "hi": hi, **more})


def agreed(judge: str, *ends: float) -> Row:
    low, value, high = ends
    place = {"aspect": "fluency", "level": "pooled"}
    return estimate(judge, "spearman", (value, low, high), **place)


def gap(judge: str, other: str, statistic: str, *ends: float, **more: Any) -> Row:
    low, value, high = ends
    place = {"aspect": "fluency", "level": "pooled", "judge_b": other, **more}
    return estimate(judge, f"difference_{statistic}", (value, low, high), **place)


def test_of(judge: str, other: str, p: float) -> Row:
    place = {"aspect": "fluency", "level": "pooled", "judge_b": other, "lo": None, "hi": None}
    return study.row("chat", judge, "p_holm_spearman", p, **place)


test_of.__test__ = False  # type: ignore[attr-defined]


def report(folder: Path, **tables: list[Row]) -> Report:
    return Report.load(study.make(folder, dict(tables)))


def found(told: Report, judge: str) -> list[Claim]:
    return trust.claims(told, next(one for one in told.judges if one.id == judge))


def verdict(told: Report, judge: str, respect: str = trust.AGREEMENT) -> tuple[str, str]:
    [claim] = [claim for claim in found(told, judge) if claim.respect == respect]
    return claim.verdict, claim.why


@pytest.mark.parametrize(
    ("ends", "wanted"),
    [
        ((0.5, 0.6, 0.7), (HOLDS, "above every control")),
        ((0.25, 0.6, 0.7), (OPEN, "not told apart from control length")),
        ((0.15, 0.6, 0.7), (OPEN, "not told apart from control random, length")),
        ((-0.1, 0.6, 0.7), (OPEN, "the interval holds 0")),
        ((-0.6, -0.3, -0.1), (FAILS, "the interval lies below 0")),
        ((0.01, 0.05, 0.1), (FAILS, "below control length")),
    ],
)
def test_agreement_is_held_against_chance_and_every_control(
    tmp_path: Path, ends: tuple[float, float, float], wanted: tuple[str, str]
) -> None:
    controls = [agreed("random", -0.2, 0, 0.2), agreed("length", 0.15, 0.2, 0.3)]
    told = report(tmp_path, agreement=[agreed("alpha", *ends), *controls])
    assert verdict(told, "alpha") == wanted


def test_a_number_without_an_interval_decides_nothing(tmp_path: Path) -> None:
    one = {**agreed("alpha", 0, 0.9, 0), "lo": None, "hi": None}
    assert verdict(report(tmp_path, agreement=[one]), "alpha") == (OPEN, "it has no interval")


def test_an_undefined_control_is_no_hurdle_and_none_is_told(tmp_path: Path) -> None:
    constant = study.row("chat", "constant-top", "spearman", None, aspect="fluency", level="pooled")
    told = report(tmp_path, agreement=[agreed("alpha", 0.5, 0.6, 0.7), constant])
    assert verdict(told, "alpha") == (HOLDS, "above 0; there is no control")


@pytest.mark.parametrize(
    ("first", "second", "tests", "best"),
    [
        ((0.5, 0.6, 0.7), (0.1, 0.2, 0.3), [], True),
        ((0.5, 0.6, 0.7), (0.1, 0.2, 0.5), [], False),
        ((0.5, 0.6, 0.7), (0.1, 0.5, 0.69), [("alpha", "beta", 0.001)], False),
        ((0.5, 0.6, 0.7), (0.1, 0.2, 0.3), [("alpha", "beta", 0.05)], True),
        ((0.5, 0.6, 0.7), (0.1, 0.2, 0.3), [("beta", "alpha", 0.06)], False),
    ],
)
def test_nobody_is_called_better_whose_interval_crosses_or_whose_test_says_no(
    tmp_path: Path,
    first: tuple[float, float, float],
    second: tuple[float, float, float],
    tests: list[tuple[str, str, float]],
    best: bool,
) -> None:
    told = report(
        tmp_path,
        agreement=[agreed("alpha", *first), agreed("beta", *second)],
        comparison=[test_of(*one) for one in tests],
    )
    respects = [claim.respect for claim in found(told, "alpha")]
    assert (trust.FIRST in respects) == best
    assert trust.FIRST not in [claim.respect for claim in found(told, "beta")]


@pytest.mark.parametrize("turned", [False, True])
def test_a_paired_difference_that_holds_0_tells_nobody_apart(tmp_path: Path, turned: bool) -> None:
    pair, ends = (("beta", "alpha"), (-0.9, -0.4, 0.1)), (-0.1, 0.4, 0.9)
    row = gap(*pair[0], "spearman", *pair[1]) if turned else gap("alpha", "beta", "spearman", *ends)
    judges = [agreed("alpha", 0.5, 0.6, 0.7), agreed("beta", 0.1, 0.2, 0.3)]
    told = report(tmp_path, agreement=judges, comparison=[row])
    assert [claim.respect for claim in found(told, "alpha")] == [trust.AGREEMENT]


def damage(judge: str, scores: tuple[float, float, float], drop: float = 0.5) -> list[Row]:
    rows = []
    for (perturbation, degree), d in zip(study.DAMAGES, scores, strict=True):
        place = {"perturbation": perturbation, "degree": degree}
        rows.append(estimate(judge, "D_exact", (d, d - 0.1, d + 0.1), **place))
        for aspect in study.ASPECTS:
            ends = (drop, drop - 0.1, drop + 0.1)
            rows.append(estimate(judge, "mean_drop", ends, aspect=aspect, **place))
    return [estimate(judge, "D_avg_exact", (1.0, 0.9, 1.1)), *rows]


def noticed(told: Report, judge: str) -> list[str]:
    return [claim.verdict for claim in found(told, judge) if claim.respect == trust.DAMAGE]


def test_damage_counts_as_noticed_after_holm(tmp_path: Path) -> None:
    # p of .05 ** 1.4 = .0151 and twice .05 ** 1.2 = .0275; Holm: .0453, .0549, .0549
    told = report(tmp_path, discernment=damage("alpha", (1.4, 1.2, 1.2)))
    assert noticed(told, "alpha") == [HOLDS, OPEN, OPEN]
    # alone it would be
    told = report(tmp_path, discernment=damage("alpha", (1.2, 0.0, 0.0)))
    assert noticed(told, "alpha") == [OPEN] * 3
    rows = [row for row in damage("alpha", (1.2, 0, 0)) if row.get("perturbation") != "cuts"]
    rows = [row for row in rows if row.get("degree") != "major"]
    assert noticed(report(tmp_path, discernment=rows), "alpha") == [HOLDS]


def test_what_a_control_notices_is_no_merit(tmp_path: Path) -> None:
    rows = [*damage("alpha", (4, 4, 0)), *damage("length", (4, 0.1, 0.1))]
    told = report(tmp_path, discernment=rows)
    assert noticed(told, "alpha") == [OPEN, HOLDS, OPEN]
    [first, *_] = found(told, "alpha")
    assert first.why == "noticed by control length, too"


def test_damage_that_raises_scores_on_every_aspect_speaks_against_the_judge(tmp_path: Path) -> None:
    told = report(tmp_path, discernment=damage("alpha", (0.1, 0.1, 0.1), drop=-0.5))
    assert noticed(told, "alpha") == [FAILS] * 3
    assert all(row.statistic == "mean_drop" for row in found(told, "alpha")[0].rows)
    assert noticed(report(tmp_path, discernment=damage("alpha", (0, 0, 0), -0.05)), "alpha") == (
        [OPEN] * 3
    )


Ends = tuple[float, float, float]


@pytest.mark.parametrize(
    ("index", "auc", "wanted"),
    [
        ((0.1, 0.2, 0.3), (0.8, 0.9, 0.95), HOLDS),
        ((0.1, 0.2, 0.3), (0.45, 0.5, 0.55), OPEN),
        ((0.8, 0.9, 1.1), (0.6, 0.7, 0.8), OPEN),
        ((1.0, 1.1, 1.2), (0.6, 0.7, 0.8), FAILS),
        ((0.1, 0.2, 0.3), (0.1, 0.2, 0.4), FAILS),
        (None, (0.45, 0.5, 0.55), FAILS),
    ],
)
def test_confusion(tmp_path: Path, index: Ends | None, auc: Ends, wanted: str) -> None:
    none = study.row("chat", "alpha", "confusion_index", None, note="nothing is taken off")
    told = [auc[1], auc[0], auc[2]]
    rows = [estimate("alpha", "confusion_auc", (told[0], told[1], told[2]))]
    rows += (
        [estimate("alpha", "confusion_index", (index[1], index[0], index[2]))] if index else [none]
    )
    assert verdict(report(tmp_path, confusion=rows), "alpha", trust.APART)[0] == wanted


@pytest.mark.parametrize(
    ("ends", "wanted"),
    [
        ((0.2, 0.3, 0.4), (FAILS, "it follows hints that it would not have given")),
        ((0.0, 0.1, 0.2), (OPEN, "the interval holds 0")),
        ((0.0, 0.0, 0.0), (OPEN, "no text was swayed")),
    ],
)
def test_false_hints(tmp_path: Path, ends: Ends, wanted: tuple[str, str]) -> None:
    row = estimate("alpha", "sway", (ends[1], ends[0], ends[2]), aspect="average")
    assert verdict(report(tmp_path, robustness=[row]), "alpha", trust.HINTS) == wanted


def test_shares_of_pairs_have_their_chance_at_a_half(tmp_path: Path) -> None:
    place = {"aspect": "average", "level": "direct"}
    for low, wanted in ((0.51, HOLDS), (0.49, OPEN)):
        row = estimate("alpha", "accuracy_adjacent", (0.6, low, 0.7), **place)
        told = report(tmp_path, perspectives=[row])
        assert verdict(told, "alpha", trust.ORDER)[0] == wanted


def test_choosing_between_two_texts_has_its_chance_at_a_half(tmp_path: Path) -> None:
    place = {"aspect": "fluency", "level": "pooled", "n": 40}
    for low, wanted in ((0.51, HOLDS), (0.49, OPEN)):
        rows = [estimate("alpha", "accuracy_comparison", (0.6, low, 0.7), **place)]
        [claim] = found(report(tmp_path, pairwise=rows), "alpha")
        assert (claim.respect, claim.subject, claim.verdict) == (trust.PAIRS, "Fluency", wanted)


def test_nobody_is_better_by_bare_values_or_by_an_interval_without_width(tmp_path: Path) -> None:
    bare = [
        {**agreed(j, 0, v, 0), "lo": None, "hi": None} for j, v in (("alpha", 0.9), ("beta", 0.1))
    ]
    assert trust.FIRST not in [c.respect for c in found(report(tmp_path, agreement=bare), "alpha")]
    flat = {**agreed("alpha", 0.9, 0.9, 0.9), "note": "no width: 100% of the resamples are equal"}
    told = report(tmp_path, agreement=[flat, agreed("beta", 0.1, 0.2, 0.3)])
    assert verdict(told, "alpha") == (OPEN, "its interval has no width")
    assert trust.FIRST not in [claim.respect for claim in found(told, "alpha")]
    # a control stands in the way as it is
    hurdle = {**agreed("length", 0, 0.4, 0), "lo": None, "hi": None}
    told = report(tmp_path, agreement=[agreed("alpha", 0.3, 0.5, 0.7), hurdle])
    assert verdict(told, "alpha") == (OPEN, "not told apart from control length")


def test_what_a_judge_alone_lacks_is_undecided_and_what_all_lack_is_not_told(
    tmp_path: Path,
) -> None:
    place = {"aspect": "fluency", "level": "pooled"}
    none = study.row("chat", "alpha", "spearman", None, **place)
    told = report(tmp_path, agreement=[none, agreed("beta", 0.1, 0.2, 0.3)])
    assert verdict(told, "alpha") == (OPEN, "constant judge")
    assert found(report(tmp_path, agreement=[none]), "alpha") == []


def test_confusion_is_held_against_controls_and_in_every_wording(tmp_path: Path) -> None:
    def pair(judge: str, index: Ends, auc: Ends, word: str) -> list[Row]:
        return [
            estimate(judge, "confusion_index", (index[1], index[0], index[2]), criterion=word),
            estimate(judge, "confusion_auc", (auc[1], auc[0], auc[2]), criterion=word),
        ]

    good, bad = ((0.1, 0.2, 0.3), (0.8, 0.9, 0.95)), ((1.1, 1.2, 1.3), (0.1, 0.2, 0.3))
    rows = [*pair("alpha", *good, "c1"), *pair("alpha", *bad, "c2")]
    claims = found(report(tmp_path, confusion=rows), "alpha")
    assert [(c.subject, c.verdict) for c in claims] == [
        ("wording c1", HOLDS),
        ("wording c2", FAILS),
    ]
    best = pair("length", (0.0, 0.05, 0.1), (0.97, 0.98, 0.99), "c1")
    [claim] = found(report(tmp_path, confusion=[*rows[:2], *best]), "alpha")
    assert (claim.verdict, claim.why) == (FAILS, "AUC: below control length")


def test_sentences_name_few_and_count_many(tmp_path: Path) -> None:
    agreement = [agreed("alpha", 0.5, 0.6, 0.7), agreed("beta", 0.1, 0.2, 0.3)]
    coverage = [row for row in study.coverage() if row["dataset"] == "chat"]
    price = study.row("chat", "alpha", "usd_per_1000", 1.25, n=10)
    cost = [price, study.row("chat", "alpha", "usd", 0.0125, n=10)]
    tables = {"agreement": agreement, "coverage": coverage, "cost": cost}
    told = report(tmp_path, discernment=damage("alpha", (4, 4, 0)), **tables)
    alpha = next(one for one in told.judges if one.id == "alpha")
    assert sentence(told, alpha, found(told, "alpha")) == (
        "May be trusted for agreeing with people on Fluency (Spearman ρ 0.600 [0.500, 0.700]); "
        "being better than every other judge on Fluency; noticing typos (minor) and typos (major). "
        "Undecided for noticing cuts. "
        "Of its 240 judgments 24 have no score. 1\u202f000 judgments: $1.25."
    )
    claims = [replace(found(told, "alpha")[-1], subject=str(at), verdict=HOLDS) for at in range(5)]
    said = sentence(told, alpha, [*claims, replace(claims[0], verdict=OPEN)])
    assert said.startswith("May be trusted for noticing 5 of 6 cases of damage. ")
    best = [replace(claim, respect=trust.FIRST) for claim in claims]
    said = sentence(told, alpha, [*best, *(replace(c, respect=trust.AGREEMENT) for c in claims)])
    assert (
        "better than every other judge on 5 aspects; agreeing with people on all 5 aspects" in said
    )


def test_a_judge_with_nothing_to_its_name_is_told_so(tmp_path: Path) -> None:
    told = report(tmp_path, agreement=[agreed("alpha", -0.1, 0.1, 0.2)])
    alpha = next(one for one in told.judges if one.id == "alpha")
    said = sentence(told, alpha, found(told, "alpha"))
    assert said.startswith("May be trusted for nothing that was measured. Undecided for agreeing")
