"""Scores without a parser, draws that were not read, and what a supervisor is shown."""

from types import SimpleNamespace
from typing import cast

import pytest

from judgescope.engines.base import Answer, AnswerConfidence, not_applicable
from judgescope.parsing.judgment import WRONG, Judgment, Policy, Scale
from judgescope.parsing.text import LocatedSpan
from judgescope.schema.tables import table_of
from judgescope.scoring.aggregate import aggregated
from judgescope.scoring.computed import verdict
from judgescope.scoring.merge_specs import MemberFiles, MergeSpec
from judgescope.scoring.specs import CellPart, Unread
from judgescope.scoring.supervising import _shown

FIVE = Scale(1, 5, 1)
WORDS = Scale(0, 1, 1, labels=("no", "yes"), words=(("no", 0), ("yes", 1)))
PART = CellPart("news", "systems", "judge", "fluency")
READ = Judgment("ok", "number", 4.0)
UNREAD = Judgment("unparsed", "no_number")
UNASKED = Judgment("not_applicable", "no_reference")


@pytest.mark.parametrize(
    ("answer", "scale", "read"),
    [
        (Answer("0.25"), None, ("ok", "number", 0.25, None)),
        (Answer("7"), None, ("ok", "number", 7.0, None)),
        (Answer("4"), FIVE, ("ok", "number", 4.0, None)),
        (Answer("7"), FIVE, ("out_of_range", "number.outside", None, None)),
        (Answer("3.5"), FIVE, ("off_grid", "number.off_grid", None, None)),
        (Answer(" YES "), WORDS, ("ok", "label", 1.0, "yes")),
        (Answer("perhaps"), WORDS, ("unparsed", "no_label", None, None)),
        (
            not_applicable("same_text"),
            FIVE,
            ("not_applicable", "same_text", None, None),
        ),
        (Answer("  ", status="error"), FIVE, ("error", "error", None, None)),
    ],
)
def test_a_value_is_read_on_its_scale(
    answer: Answer,
    scale: Scale | None,
    read: tuple[str, str, float | None, str | None],
) -> None:
    judgment = verdict(answer, scale)
    assert (judgment.status, judgment.rule, judgment.value, judgment.label) == read
    assert judgment.parser == "computed" and judgment.rationale is None


def test_a_rationale_is_kept() -> None:
    assert verdict(Answer("4", rationale="two of five"), FIVE).rationale == (
        "two of five"
    )


@pytest.mark.parametrize(
    ("text", "about", "chance"),
    [("yes", None, 0.8), ("yes", "yes", 0.8), ("no", "yes", pytest.approx(0.2))],
)
def test_a_confidence_is_that_of_the_verdict(
    text: str, about: str | None, chance: float
) -> None:
    known = AnswerConfidence(0.8, "column", "stated_column", about)
    judgment = verdict(Answer(text, confidence=known), WORDS)
    assert judgment.confidence == chance
    assert judgment.confidence_source == "column"
    assert judgment.confidence_rule == "stated_column"


def test_a_reply_without_a_verdict_has_no_confidence() -> None:
    known = AnswerConfidence(0.8, "column", "stated_column")
    judgment = verdict(Answer("", status="error", confidence=known), WORDS)
    assert judgment.confidence is None and judgment.confidence_source is None


def score(
    policy: Policy | None, *draws: Judgment, scale: Scale = FIVE
) -> tuple[float | None, int, str]:
    """The score of one text: its value, missing draws, and estimator."""
    rows = []
    for draw, _ in enumerate(draws):
        asked = {"judge": "judge", "kind": "score", "target": "a", "aspect": "fluency"}
        rows.append({**asked, "draw": draw, "text": "", "status": "ok"})
    _, scores = aggregated(
        table_of("answers", rows),
        draws,
        [draw.value for draw in draws],
        part=PART,
        estimator="mean",
        scale=scale,
        unread=Unread(policy=policy, seed=1) if policy else None,
    )
    [row] = scores.to_pylist()
    assert row["n_draws"] == len(draws)
    return row["value"], row["n_missing"], row["estimator"]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (None, (None, 2, "mean")),
        ("worst", (2.0, 2, "mean")),
        ("mid", (pytest.approx(10 / 3), 2, "mean")),
        ("wrong", (None, 2, WRONG)),
    ],
)
def test_draws_that_were_not_read_count_as_the_study_says(
    policy: Policy | None, expected: tuple[float | None, int, str]
) -> None:
    """The draws are 4, and twice 1 (worst), 3 (mid) or nothing."""
    assert score(policy, READ, UNREAD, UNREAD) == expected


@pytest.mark.parametrize("policy", ["worst", "mid", "wrong", "random"])
def test_what_a_judge_does_not_apply_to_gets_no_value(policy: Policy) -> None:
    assert score(policy, UNASKED, UNASKED) == (None, 2, "mean")


def test_a_single_value_of_two_draws_is_enough() -> None:
    assert score("wrong", READ, UNREAD) == (4.0, 1, "mean")
    assert score("worst", READ, UNASKED) == (4.0, 1, "mean")


def test_random_values_are_those_of_the_seed_and_lie_on_the_scale() -> None:
    first = score("random", READ, UNREAD, UNREAD)
    assert first == score("random", READ, UNREAD, UNREAD)
    assert first[0] is not None and 2.0 <= first[0] <= 14 / 3


def test_a_supervisor_is_shown_each_text_on_a_single_line() -> None:
    words = ("two\nlines", "why  so", 3, "made \t up")
    assert _shown(LocatedSpan(*words, None, None, None, "not_found")) == {
        "location": "two lines",
        "explanation": "why so",
        "category": "made up",
        "severity": 3,
    }


def test_the_files_of_members_are_named_by_set_and_member() -> None:
    files = {
        name: MemberFiles(
            judgments=f"{name}/{{}}.j", scores=f"{name}/{{}}.s", hashes=""
        )
        for name in ("a", "b")
    }
    judge = SimpleNamespace(members=["b", "a"])
    spec = SimpleNamespace(ensembles={"jury": judge}, members=files)
    cell = ("systems", "jury", "fluency")
    assert MergeSpec.members_files(cast(MergeSpec, spec), cell) == [
        ("b/systems/b.j", "b/systems/b.s"),
        ("a/systems/a.j", "a/systems/a.s"),
    ]


def filled(seed: int, *units: tuple[str, str | None]) -> list[float]:
    """The random scores of texts without a value, each a (target, criterion)."""
    rows = []
    for target, criterion in units:
        row = {"judge": "judge", "kind": "score", "target": target, "draw": 0}
        rows.append({**row, "aspect": "fluency", "criterion": criterion, "text": ""})
    _, scores = aggregated(
        table_of("answers", [{**row, "status": "ok"} for row in rows]),
        [UNREAD] * len(rows),
        [None] * len(rows),
        part=PART,
        estimator="mean",
        scale=Scale(0, 1_000_000, 1),
        unread=Unread(policy="random", seed=seed),
    )
    return list(scores["value"].to_pylist())


def test_a_random_value_depends_on_seed_text_and_criterion_and_on_no_other_row() -> (
    None
):
    both = filled(1, ("a", None), ("b", None))
    assert both == [*filled(1, ("a", None)), *filled(1, ("b", None))]
    others = [filled(2, ("a", None)), filled(1, ("a", "terse"))]
    values = [*both, *(value for [value] in others)]
    assert len(set(values)) == 4
    assert all(0 <= value <= 1_000_000 for value in values)
