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
    content: Row = {"level": "within_source", "aspect": "fluency", "form": "agreement"}
    content["judge"] = "alpha"
    content |= {
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
        "note": content["note"] or "undefined",
    }
    if ends is not None:
        known = dict(zip(("ci_low", "value", "ci_high"), ends, strict=True)) | {
            "note": content["note"]
        }
    return {**content, **known, "statistic": statistic, "n_missing": 0, "n_tied": 0}


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
    content: Row = {"judge": judge, "judge_b": other, "form": None}
    return number("difference_normal_scores", ends, **content)


def paired_test(judge: str, other: str, p: float) -> Row:
    content: Row = {"judge": judge, "judge_b": other, "form": None}
    row = number("p_holm_normal_scores", (p, p, p), **content)
    return row | {"ci_low": None, "ci_high": None}


def report(
    folder: Path, judges: dict[str, Any] | None = None, **tables: list[Row]
) -> Report:
    return study.loaded(study.make(folder, dict(tables), judges=judges or {}))


def judge(message: Report, name: str = "alpha") -> ShownJudge:
    return next(each for each in message.judges if each.id == name)


def detected(message: Report, name: str = "alpha") -> list[ReportedClaim]:
    return claims(message, judge(message, name))


def stated(message: Report, name: str = "alpha") -> str:
    return sentence(message, judge(message, name), detected(message, name))


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
    result = stated(report(tmp_path, verdicts=claimed(outcome, *reasons)))
    assert result.startswith(title) and "Fluency" in result
    assert all(word in result for word in words)
    assert "trusted" not in result


def test_a_p_value_without_a_correction_has_no_small_print(tmp_path: Path) -> None:
    number_of, p, verdict = claimed("better")
    for method, notes in (("Holm over 4", ("Holm over 4",)), ("", ())):
        result = report(tmp_path, verdicts=[number_of, p, verdict | {"method": method}])
        [body] = evidence(result, detected(result)).bodies
        [line] = body.lines
        assert (line.cells[1].text, line.cells[1].notes) == ("0.031", notes)


def test_trusted_is_grids_ofly_of_a_stated_bar_that_is_met(tmp_path: Path) -> None:
    more: Row = {"form": "bar spearman", "level": "by_source"}
    met = report(
        tmp_path / "met", verdicts=claimed("meets", statistic="spearman", **more)
    )
    assert stated(met).startswith("May be trusted, because ") and "Fluency" in stated(
        met
    )
    missed = report(
        tmp_path / "missed", verdicts=claimed("misses", statistic="spearman", **more)
    )
    assert stated(missed).startswith("Misses the required bar")
    assert "trusted" not in stated(missed)


def test_a_bar_on_an_undefined_number_says_why(tmp_path: Path) -> None:
    more: Row = {"form": "bar kappa_linear", "level": "pooled", "note": "continuous"}
    rows = claimed("no_claim", ends=None, statistic="kappa_linear", **more)
    result = stated(report(tmp_path, verdicts=rows))
    assert "the scores are continuous and have no classes" in result


def test_a_correlation_of_few_prints_its_n_and_no_number(tmp_path: Path) -> None:
    few = [
        row | {"n": 9}
        for row in claimed("no_claim", "no_interval", ends=(0.9, 0.95, 0.99))
    ]
    result = stated(report(tmp_path, verdicts=few))
    assert "n = 9" in result and "0.95" not in result


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
    result = stated(report(tmp_path, verdicts=[*claimed(outcome), rater]))
    gap = "difference from one more rater 0.000 [−0.100, 0.100]"
    assert gap in result and words in result


@pytest.mark.heavy
def test_an_average_of_perturbations_is_not_reported_to_be_significant(
    tmp_path: Path,
) -> None:
    result = study.loaded(study.make(tmp_path))
    section = section_named("discernment", result)
    assert section is not None
    figures = [block for block in section.blocks if isinstance(block, PageFigure)]
    summaries = [figure.summary for figure in figures if "average D" in figure.summary]
    assert summaries and all(
        "several perturbations is not a p-value" in summary for summary in summaries
    )
    table = matrix(result)
    assert table is not None
    assert not any("D_" in column.title for column in table.columns)


def test_people_stand_beside_the_headline_numbers(tmp_path: Path) -> None:
    rows = [
        *claimed("better"),
        number("normal_scores", (0.3, 0.55, 0.7), judge="human"),
    ]
    result = report(tmp_path, verdicts=rows)
    table = matrix(result)
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
    content: Row = {"perturbation": study.DAMAGES[0][0], "degree": study.DAMAGES[0][1]}
    more: Row = {"form": "perturbation", "aspect": None, "level": None, **content}
    rows.append(number("p_noticed_holm", (0.003, 0.003, 0.003), **more))
    result = report(tmp_path, verdicts=rows, discernment=of_perturbations())
    cells = [
        cell.text
        for body in evidence(result, detected(result)).bodies
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
    result = report(tmp_path, verdicts=rows)
    [agreement] = (
        [cell.text for cell in line.cells]
        for body in evidence(result, detected(result)).bodies
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
    result = report(tmp_path, {"alpha": {"hint": "right"}}, verdicts=rows)
    assert "hint: right" in stated(result) and "no claim of agreement" in stated(result)
    for word in ("Better", "above", "As good", "0.9"):
        assert word not in stated(result)
    kinds = [claim.kind for claim in detected(result, "beta")]
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
    result = report(
        tmp_path, verdicts=rows, comparison=[paired_test(*test) for test in tests]
    )
    assert (FIRST in [claim.kind for claim in detected(result)]) == best
    page = section_named("evidence", result)
    texts = (
        [block.text for block in page.blocks if isinstance(block, Paragraph)]
        if page
        else []
    )
    assert any("above every other judge on Fluency." in text for text in texts) == best
    assert FIRST not in [claim.kind for claim in detected(result, "beta")]


def test_the_best_of_several_is_claimed_only_where_agreement_itself_holds(
    tmp_path: Path,
) -> None:
    rows = [
        *claimed("not_shown", "length", ends=(0.5, 0.6, 0.7)),
        *claimed("not_shown", "chance", ends=(-0.2, -0.1, 0.1), judge="beta"),
    ]
    result = report(tmp_path, verdicts=rows)
    assert [claim.kind for claim in detected(result)] == ["agreement"]


@pytest.mark.parametrize("turned", [False, True])
def test_a_paired_difference_that_holds_0_tells_nobody_separate(
    tmp_path: Path, turned: bool
) -> None:
    pair = ("beta", "alpha") if turned else ("alpha", "beta")
    row = gap(*pair, *((-0.9, -0.4, 0.1) if turned else (-0.1, 0.4, 0.9)))
    rows = [
        *claimed("better", ends=(0.5, 0.6, 0.7)),
        *claimed("better", ends=(0.1, 0.2, 0.3), judge="beta"),
    ]
    result = report(tmp_path, verdicts=rows, comparison=[row])
    assert [claim.kind for claim in detected(result)] == ["agreement"]


def test_a_judge_without_a_score_is_reported_to_have_none(tmp_path: Path) -> None:
    content = {"aspect": "fluency", "perturbation": "systems", "n": 88}
    rows = [
        study.row("chat", "gamma", "coverage", 0.0, **content),
        study.row("chat", "gamma", "count_truncated", 88.0, **content),
    ]
    result = report(tmp_path, {"gamma": {"max_tokens": 150}}, coverage=rows)
    assert stated(result, "gamma").startswith("Gave no score (88 of 88 replies")
    assert "cut at max_tokens 150" in stated(result, "gamma")


def perturbation(outcomes: Sequence[str]) -> list[Row]:
    rows = []
    for (perturbation, degree), outcome in zip(study.DAMAGES, outcomes, strict=True):
        content: Row = {
            "perturbation": perturbation,
            "degree": degree,
            "form": "perturbation",
        }
        more: Row = {"aspect": None, "level": None, "statistic": "D_exact"}
        rows += claimed(outcome, **content, **more)
    return rows


def of_perturbations() -> list[Row]:
    """Return a row of table `discernment` for each perturbation."""
    return [
        study.row(
            "chat", "alpha", "D_exact", 1.0, perturbation=perturbation, degree=degree
        )
        for perturbation, degree in study.DAMAGES
    ]


def test_a_perturbation_is_reported_by_its_name_and_counted_given_much(
    tmp_path: Path,
) -> None:
    rows = perturbation(["noticed", "noticed", "misses"])
    result = report(tmp_path, verdicts=rows, discernment=of_perturbations())
    assert "Better than chance at noticing typos (minor) and typos (major)." in stated(
        result
    )
    assert "Fails at noticing cuts." in stated(result)
    assert {claim.outcome for claim in detected(result)} == {
        Outcome.NOTICED,
        Outcome.MISSES,
    }


def test_the_sentence_on_a_judge_is_the_same_alone_and_above_others(
    tmp_path: Path,
) -> None:
    mine = claimed("better", ends=(0.5, 0.6, 0.7))
    alone = report(tmp_path / "alone", verdicts=mine)
    rows = [*mine, *claimed("better", ends=(0.1, 0.2, 0.3), judge="beta")]
    both = report(tmp_path / "both", verdicts=rows)
    assert FIRST in [claim.kind for claim in detected(both)]
    assert stated(both) == stated(alone)
