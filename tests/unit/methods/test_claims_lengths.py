"""What methods compute where lengths come from a column, or are unknown."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from judgescope.engines.base import EngineInputs, Subject, request_key
from judgescope.engines.controls import build
from judgescope.methods.claims import agreement
from judgescope.methods.claims.base import LENGTH_NOT_TESTED
from judgescope.methods.claims.rows import verdict_rows
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.measures import WITHIN_SOURCE, biases
from judgescope.methods.pair_verdicts import PanelPairs
from judgescope.schema.cards import ControlModel, Judge, RatingScale
from judgescope.statistics.nulls import dealt
from judgescope.statistics.result import REASONS, Estimate
from methods_setup import FAIR, TARGETS, N, study


def with_lengths(values: list[float | None] | None) -> EvaluationData:
    """Return a study whose texts are unknown, with these lengths."""
    data = study({"fair": FAIR}, texts=False)
    if values is not None:
        column = pa.array(values, pa.float64())
        index = data.targets.schema.get_field_index("length")
        targets = data.targets.set_column(index, "length", column)
        data = EvaluationData(**(vars(data) | {"targets": targets}))
    return data


def verdicts_of(data: EvaluationData) -> list[dict[str, Any]]:
    rows = verdict_rows(data, agreement.claims(data))
    return [dict(row) for row in rows]


SPREAD: list[float | None] = [float(at % 11) for at in range(N)]


def without_first(missing: int) -> list[float | None]:
    """Return SPREAD without its first lengths."""
    return [None if at < missing else SPREAD[at] for at in range(N)]


def test_lengths_are_those_of_texts_or_of_the_column_or_unknown() -> None:
    texts = study({"fair": FAIR}).systems
    assert texts.has_lengths and set(texts.lengths) == {5.0 * n for n in range(1, 8)}
    unknown = with_lengths(None).systems
    assert np.isnan(unknown.lengths).all() and not unknown.has_lengths
    given = with_lengths(SPREAD).systems
    wanted = dict(zip(reversed(TARGETS), SPREAD, strict=True))
    assert given.has_lengths
    assert dict(zip(given.targets, given.lengths.tolist(), strict=True)) == wanted


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (None, REASONS.no_lengths),
        ([7.0] * N, REASONS.constant_length),
        ([7.0] * (N - 1) + [None], REASONS.constant_length),
        ([None] * (N - 2) + SPREAD[-2:], ""),
        (SPREAD, ""),
    ],
)
def test_why_length_is_not_tested(values: list[float | None] | None, why: str) -> None:
    assert with_lengths(values).systems.length_untested == why


def test_a_claim_without_lengths_says_so_and_has_no_p_of_length() -> None:
    tested, untested = (
        verdicts_of(with_lengths(SPREAD)),
        verdicts_of(with_lengths(None)),
    )
    names = {row["statistic"] for row in tested}
    assert {"p_chance", "p_length", "p_brevity"} <= names
    left = {row["statistic"] for row in untested}
    assert "p_chance" in left
    assert not left & {"p_length", "p_brevity", "p_best_length"}
    notes = [row["note"] for row in untested if row["statistic"] == "verdict"]
    assert notes and all(LENGTH_NOT_TESTED in note for note in notes)
    notes = [row["note"] for row in tested if row["statistic"] == "verdict"]
    assert not any(LENGTH_NOT_TESTED in note for note in notes)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_length_is_tested_on_the_texts_that_have_a_length(share: float) -> None:
    missing = round(share * N)
    data = with_lengths(without_first(missing))
    rows = verdicts_of(data)
    [note] = [
        row["note"]
        for row in rows
        if (row["statistic"], row["aspect"]) == ("verdict", "clear")
    ]
    of_length = {"p_length", "p_brevity"}
    tested = of_length & {row["statistic"] for row in rows}
    if share > 0.5:
        assert f"length_not_tested: {missing} of {N} texts have no length" in note
        assert not tested
        return
    assert f"lengths_partly: {N - missing} of {N} texts" in note
    assert len(tested) == 2 and LENGTH_NOT_TESTED not in note


def test_judge_and_length_are_compared_on_the_same_texts() -> None:
    """The p of length is that of a table without the texts that have no length."""
    data = with_lengths(without_first(20))
    panel = data.systems
    texts = agreement.RatedTargets(panel, "clear", WITHIN_SOURCE)
    x = panel.scores("fair", "clear")
    assert x is not None
    some = texts.nulls(x, texts.number(x))
    kept = np.isfinite(panel.lengths)
    known = agreement.RatedTargets(panel, "clear", WITHIN_SOURCE, kept)
    only = known.nulls(x, known.number(x))
    for name in ("length", "brevity", "best_length"):
        assert some.p[name] == pytest.approx(only.p[name], abs=1e-12)
    assert some.p["chance"] != only.p["chance"]
    assert some.rivals["length"].difference == only.rivals["length"].difference


def test_the_reason_names_equal_lengths() -> None:
    rows = verdicts_of(with_lengths([7.0] * N))
    notes = [row["note"] for row in rows if row["statistic"] == "verdict"]
    assert notes
    assert all(
        f"length_not_tested: {REASONS.constant_length}" in note for note in notes
    )


def test_partial_correlations_and_slope_use_the_column() -> None:
    def names_of(data: EvaluationData) -> dict[str, Estimate]:
        panel = data.systems
        x, y = panel.scores("fair", "clear"), panel.ratings("clear").mean(axis=0)
        assert x is not None
        return {name: each for (name, _), each in biases(panel, "fair", "clear", x, y)}

    assert names_of(with_lengths(None)) == {}
    numbers = names_of(with_lengths([None, *SPREAD[1:]]))
    assert {*numbers} == {"partial_pearson", "partial_spearman", "length_slope"}
    assert numbers["partial_spearman"].n == N - 1
    assert numbers["partial_spearman"].n_missing == 1
    above_zero = sum(bool(value) for value in SPREAD[1:])
    assert numbers["length_slope"].n == above_zero


def test_a_text_of_unknown_length_is_not_the_longer_text() -> None:
    panel = with_lengths([None, *SPREAD[1:]]).systems
    pairs = [tuple(panel.targets[at : at + 2]) for at in (0, N - 2)]
    side = PanelPairs(panel, "clear", pairs).side(panel.lengths)  # type: ignore[arg-type]
    assert np.isfinite(side).all() and 0 in side


def test_a_text_without_length_gets_no_rating_dealt_out() -> None:
    gold, source = np.array([1.0, 2.0, 3.0, 4.0]), np.arange(4)
    given = dealt(gold, np.array([10.0, np.nan, 30.0, 20.0]), source)
    without = dealt(gold[[0, 2, 3]], np.array([10.0, 30.0, 20.0]), source[[0, 2, 3]])
    assert np.isnan(given[1]) and np.array_equal(given[[0, 2, 3]], without)


def test_the_control_answers_with_the_length_of_the_column() -> None:
    judge = Judge(judge="length", model="control", form="length")
    model, scale = (
        ControlModel(model="control", engine="control"),
        RatingScale(min=1, max=5),
    )
    engine = build(model, EngineInputs(seed=1, dataset="d", ratings={}))
    known, unknown, text = (
        Subject("a:x", "a", "x", "systems", "", length=12.5),
        Subject("a:y", "a", "y", "systems", ""),
        Subject("a:z", "a", "z", "systems", "four"),
    )
    answers = engine.answer(judge, "fluency", scale, [known, unknown, text])
    assert [(reply.text, reply.status) for [reply] in answers] == [
        ("12.5", "ok"),
        ("no_length", "not_applicable"),
        ("4", "ok"),
    ]
    keys = {
        request_key(model, judge, "fluency", scale, each, seed=1, dataset="d")
        for each in (known, unknown, text)
    }
    assert len(keys) == 3
