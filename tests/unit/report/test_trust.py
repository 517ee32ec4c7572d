"""What the report says of a judge: the words of verdict rows, and who is above whom."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.report.claims import FIRST, ReportedClaim, claims
from judgescope.report.contents import section_named
from judgescope.report.elements import PageFigure, Paragraph
from judgescope.report.matrix import matrix
from judgescope.report.report import Report, ShownJudge
from judgescope.report.sections.sentences import sentence
from judgescope.report.sections.trust import evidence
from judgescope.statistics.verdict import Outcome

Row = dict[str, Any]
STEP = {"no_claim": None, "not_shown": 1.0, "better": 2.0, "as_rater": 3.0}


def number(statistic: str, ends: Sequence[float] | None, **more: Any) -> Row:
    """Return a row of the dataset with people's ratings: lower end, value, upper
    end.
    """
    told: Row = {"level": "within_source", "aspect": "fluency", "form": "agreement"}
    told["judge"] = "alpha"
    told |= {
        "n": 24,
        "signature": "s",
        "dataset": "chat",
        "method": "",
        "note": "",
    } | more
    known: Row = {
        "value": None,
        "ci_low": None,
        "ci_high": None,
        "note": told["note"] or "undefined",
    }
    if ends is not None:
        known = dict(zip(("ci_low", "value", "ci_high"), ends, strict=True)) | {
            "note": told["note"]
        }
    return {**told, **known, "statistic": statistic, "n_missing": 0, "n_tied": 0}


def claimed(
    outcome: str,
    *reasons: str,
    ends: Sequence[float] | None = (0.2, 0.4, 0.6),
    **more: Any,
) -> list[Row]:
    """Return the rows of a claim: its number, its p and its verdict."""
    statistic = more.pop("statistic", "normal_scores")
    verdict = {**more, "note": "; ".join([outcome, *reasons]), "method": "Holm over 4"}
    step = STEP.get(outcome)
    return [
        number(statistic, ends, **more),
        number("p_claim_holm", (0.031, 0.031, 0.031), **more),
        number("verdict", None, **verdict) | {"value": step, "note": verdict["note"]},
    ]


def gap(judge: str, other: str, *ends: float) -> Row:
    place: Row = {"judge": judge, "judge_b": other, "form": None}
    return number("difference_normal_scores", ends, **place)


def paired_test(judge: str, other: str, p: float) -> Row:
    place: Row = {"judge": judge, "judge_b": other, "form": None}
    row = number("p_holm_normal_scores", (p, p, p), **place)
    return row | {"ci_low": None, "ci_high": None}


def report(
    folder: Path, judges: dict[str, Any] | None = None, **tables: list[Row]
) -> Report:
    return study.loaded(study.make(folder, dict(tables), judges=judges or {}))


def judge(told: Report, name: str = "alpha") -> ShownJudge:
    return next(one for one in told.judges if one.id == name)


def found(told: Report, name: str = "alpha") -> list[ReportedClaim]:
    return claims(told, judge(told, name))


def said(told: Report, name: str = "alpha") -> str:
    return sentence(told, judge(told, name), found(told, name))


@pytest.mark.parametrize(
    ("outcome", "reasons", "title", "words"),
    [
        ("as_rater", [], "As good as one more rater", []),
        (
            "better",
            ["these_systems: 3"],
            "Better than chance",
            ["for these 3 systems; among texts of one system not shown"],
        ),
        (
            "not_shown",
            ["chance", "length"],
            "Not shown",
            ["be above chance", "the texts' length"],
        ),
        ("not_shown", ["holm"], "Not shown", ["p 0.031", "Holm over 4"]),
        ("not_shown", ["systems"], "Not shown", ["only prefers certain systems"]),
        ("no_claim", ["no_interval"], "No claim", ["too few sources"]),
    ],
)
def test_a_verdict_is_worded_by_its_outcome_and_reasons(
    tmp_path: Path, outcome: str, reasons: list[str], title: str, words: list[str]
) -> None:
    told = said(report(tmp_path, verdicts=claimed(outcome, *reasons)))
    assert told.startswith(title) and "Fluency" in told
    assert all(word in told for word in words)
    assert "trusted" not in told


def test_a_p_value_without_a_correction_has_no_small_print(tmp_path: Path) -> None:
    number_of, p, verdict = claimed("better")
    for method, notes in (("Holm over 4", ("Holm over 4",)), ("", ())):
        told = report(tmp_path, verdicts=[number_of, p, verdict | {"method": method}])
        [body] = evidence(told, found(told)).bodies
        [line] = body.lines
        assert (line.cells[1].text, line.cells[1].notes) == ("0.031", notes)


def test_trusted_is_grids_ofly_of_a_stated_bar_that_is_met(tmp_path: Path) -> None:
    more: Row = {"form": "bar spearman", "level": "by_source"}
    met = report(
        tmp_path / "met", verdicts=claimed("meets", statistic="spearman", **more)
    )
    assert said(met).startswith("May be trusted, because ") and "Fluency" in said(met)
    missed = report(
        tmp_path / "missed", verdicts=claimed("misses", statistic="spearman", **more)
    )
    assert said(missed).startswith("Misses the required bar")
    assert "trusted" not in said(missed)


def test_a_bar_on_an_undefined_number_says_why(tmp_path: Path) -> None:
    more: Row = {"form": "bar kappa_linear", "level": "pooled", "note": "continuous"}
    rows = claimed("no_claim", ends=None, statistic="kappa_linear", **more)
    told = said(report(tmp_path, verdicts=rows))
    assert "the scores are continuous and have no classes" in told


def test_a_correlation_of_few_prints_its_n_and_no_number(tmp_path: Path) -> None:
    few = [
        row | {"n": 9}
        for row in claimed("no_claim", "no_interval", ends=(0.9, 0.95, 0.99))
    ]
    told = said(report(tmp_path, verdicts=few))
    assert "n = 9" in told and "0.95" not in told


@pytest.mark.parametrize(
    ("outcome", "note", "words"),
    [
        ("better", "worse than a rater", ", worse than a rater)"),
        (
            "better",
            "undecided: ±0.05 needs about 90 sources",
            "is open: about 90 sources would decide)",
        ),
        ("better", "as good as one more rater", ", not shown after Holm's correction)"),
        ("as_rater", "as good as one more rater", "[−0.100, 0.100])"),
    ],
)
def test_the_step_beside_one_more_rater_has_its_number_and_what_it_says(
    tmp_path: Path, outcome: str, note: str, words: str
) -> None:
    rater = number("as_rater_normal_scores", (-0.1, 0.0, 0.1), note=note)
    told = said(report(tmp_path, verdicts=[*claimed(outcome), rater]))
    assert "against one more rater 0.000 [−0.100, 0.100]" in told and words in told


@pytest.mark.heavy
def test_an_average_of_perturbations_is_not_said_to_be_significant(
    tmp_path: Path,
) -> None:
    told = study.loaded(study.make(tmp_path))
    section = section_named("discernment", told)
    assert section is not None
    figures = [block for block in section.blocks if isinstance(block, PageFigure)]
    summaries = [figure.summary for figure in figures if "average D" in figure.summary]
    assert summaries and all(
        "several perturbations is not a p-value" in one for one in summaries
    )
    table = matrix(told)
    assert table is not None
    assert not any("D_" in column.title for column in table.columns)


def test_people_stand_beside_the_headline_numbers(tmp_path: Path) -> None:
    rows = [
        *claimed("better"),
        number("normal_scores", (0.3, 0.55, 0.7), judge="human"),
    ]
    told = report(tmp_path, verdicts=rows)
    table = matrix(told)
    assert table is not None
    [people] = table.people
    assert people.cells[0].value == "0.55" and "0.30 to 0.70" in people.cells[0].more


def test_the_evidence_of_perturbations_has_the_p_that_decides_and_nothing_untested(
    tmp_path: Path,
) -> None:
    rows = [
        row | {"value": None} if row["statistic"] == "p_claim_holm" else row
        for row in perturbation(["noticed", "noticed", "misses"])
    ]
    place: Row = {"perturbation": study.DAMAGES[0][0], "degree": study.DAMAGES[0][1]}
    more: Row = {"form": "perturbation", "aspect": None, "level": None, **place}
    rows.append(number("p_noticed_holm", (0.003, 0.003, 0.003), **more))
    told = report(tmp_path, verdicts=rows, discernment=of_perturbations())
    cells = [
        cell.text
        for body in evidence(told, found(told)).bodies
        for line in body.lines
        for cell in line.cells
    ]
    assert any("0.003" in text for text in cells)
    assert not any("not tested" in text or "p of the claim" in text for text in cells)


def test_evidence_of_one_more_rater_has_its_own_p_and_no_reason_of_another_claim(
    tmp_path: Path,
) -> None:
    rows = [
        *claimed("not_shown", "length"),
        number(
            "as_rater_normal_scores",
            (-0.2, -0.05, 0.1),
            note="undecided: ±0.05 needs about 90 sources",
        ),
        number("p_rater", (0.049, 0.049, 0.049)),
    ]
    told = report(tmp_path, verdicts=rows)
    [agreement] = (
        [cell.text for cell in line.cells]
        for body in evidence(told, found(told)).bodies
        for line in body.lines
    )
    assert "0.031" in agreement[1] and "length" in agreement[3]
    # The interval includes 0, so that nothing is decided; p is that of this question.
    assert "open whether within" in agreement[4] and "p 0.049" in agreement[4]


def test_a_judge_that_is_given_a_rating_is_praised_for_nothing(tmp_path: Path) -> None:
    rows = [
        *claimed("no_claim", "hinted", ends=(0.85, 0.9, 0.95)),
        *claimed("better", judge="beta", ends=(0.1, 0.2, 0.3)),
    ]
    told = report(tmp_path, {"alpha": {"hint": "right"}}, verdicts=rows)
    assert "hint: right" in said(told) and "no claim of agreement" in said(told)
    for word in ("Better", "above", "As good", "0.9"):
        assert word not in said(told)
    kinds = [claim.kind for claim in found(told, "beta")]
    assert FIRST not in kinds  # there is no other judge to be above


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
    rows = [
        *claimed("better", ends=first),
        *claimed("better", ends=second, judge="beta"),
    ]
    told = report(
        tmp_path, verdicts=rows, comparison=[paired_test(*one) for one in tests]
    )
    assert (FIRST in [claim.kind for claim in found(told)]) == best
    page = section_named("evidence", told)
    texts = (
        [block.text for block in page.blocks if isinstance(block, Paragraph)]
        if page
        else []
    )
    assert any("above every other judge on Fluency." in text for text in texts) == best
    assert FIRST not in [claim.kind for claim in found(told, "beta")]


def test_the_best_of_several_is_claimed_only_where_agreement_itself_holds(
    tmp_path: Path,
) -> None:
    rows = [
        *claimed("not_shown", "length", ends=(0.5, 0.6, 0.7)),
        *claimed("not_shown", "chance", ends=(-0.2, -0.1, 0.1), judge="beta"),
    ]
    told = report(tmp_path, verdicts=rows)
    assert [claim.kind for claim in found(told)] == ["agreement"]


@pytest.mark.parametrize("turned", [False, True])
def test_a_paired_difference_that_holds_0_tells_nobody_apart(
    tmp_path: Path, turned: bool
) -> None:
    pair = ("beta", "alpha") if turned else ("alpha", "beta")
    row = gap(*pair, *((-0.9, -0.4, 0.1) if turned else (-0.1, 0.4, 0.9)))
    rows = [
        *claimed("better", ends=(0.5, 0.6, 0.7)),
        *claimed("better", ends=(0.1, 0.2, 0.3), judge="beta"),
    ]
    told = report(tmp_path, verdicts=rows, comparison=[row])
    assert [claim.kind for claim in found(told)] == ["agreement"]


def test_a_judge_without_a_score_is_said_to_have_none(tmp_path: Path) -> None:
    place = {"aspect": "fluency", "perturbation": "systems", "n": 88}
    rows = [
        study.row("chat", "gamma", "coverage", 0.0, **place),
        study.row("chat", "gamma", "count_truncated", 88.0, **place),
    ]
    told = report(tmp_path, {"gamma": {"max_tokens": 150}}, coverage=rows)
    assert said(told, "gamma").startswith("Gave no score (88 of 88 replies")
    assert "cut at max_tokens 150" in said(told, "gamma")


def perturbation(outcomes: Sequence[str]) -> list[Row]:
    rows = []
    for (perturbation, degree), outcome in zip(study.DAMAGES, outcomes, strict=True):
        place: Row = {
            "perturbation": perturbation,
            "degree": degree,
            "form": "perturbation",
        }
        more: Row = {"aspect": None, "level": None, "statistic": "D_exact"}
        rows += claimed(outcome, **place, **more)
    return rows


def of_perturbations() -> list[Row]:
    """Return a row of table `discernment` for each perturbation."""
    return [
        study.row(
            "chat", "alpha", "D_exact", 1.0, perturbation=perturbation, degree=degree
        )
        for perturbation, degree in study.DAMAGES
    ]


def test_a_perturbation_is_told_by_its_name_and_counted_where_there_is_much(
    tmp_path: Path,
) -> None:
    rows = perturbation(["noticed", "noticed", "misses"])
    told = report(tmp_path, verdicts=rows, discernment=of_perturbations())
    assert "Better than chance at noticing typos (minor) and typos (major)." in said(
        told
    )
    assert "Fails at noticing cuts." in said(told)
    assert {claim.outcome for claim in found(told)} == {Outcome.NOTICED, Outcome.MISSES}


def test_the_sentence_on_a_judge_is_the_same_alone_and_above_others(
    tmp_path: Path,
) -> None:
    mine = claimed("better", ends=(0.5, 0.6, 0.7))
    alone = report(tmp_path / "alone", verdicts=mine)
    rows = [*mine, *claimed("better", ends=(0.1, 0.2, 0.3), judge="beta")]
    both = report(tmp_path / "both", verdicts=rows)
    assert FIRST in [claim.kind for claim in found(both)]
    assert said(both) == said(alone)
