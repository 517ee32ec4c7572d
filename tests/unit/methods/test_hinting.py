"""Hints and attacks: what one moves beyond what asking once more or an inert text
does.
"""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from confusion_rows_setup import ITEMS
from confusion_rows_setup import study as confused
from dataset_in_memory import row_of
from judgescope.methods import injection, robustness
from judgescope.methods.claims import perturbations
from judgescope.methods.claims.rows import verdict_rows
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.robustness import Rationales, hint_pairs
from judgescope.plan.notices import fewest_items
from judgescope.schema.tables import table_of, write_table
from judgescope.scoring.aggregate import scores
from judgescope.statistics.means import tango, tango_corrected_low
from methods_setup import ASPECTS, NAN, TARGETS, study
from statistics_spec import change

Values = list[float | None]


def hinted(
    folder: Path, first: Values, second: Values | None, message: Values, hint: float = 5
) -> EvaluationData:
    """Return a study of judge `told`, held against `base`: what each said of the first
    texts.
    """
    text: list[tuple[str, int, Values]] = [("base", 0, first), ("told", 0, message)]
    text += [("base", 1, second)] if second is not None else []
    rows: list[dict[str, Any]] = [
        {
            **{"judge": judge, "aspect": ASPECTS[0], "target": target, "draw": draw},
            **{
                "hint": f"{hint:g}" if judge == "told" else None,
                "text": f"draw {draw}",
            },
            **{"status": "unparsed" if value is None else "ok", "value": value},
        }
        for judge, draw, values in text
        for target, value in zip(TARGETS, values, strict=False)
    ]
    path = folder / "rationales.parquet"
    write_table("rationales", table_of("rationales", rows), str(path))
    cards: dict[str, dict[str, Any]] = {
        "base": {"draws": 2, "first_draw": True},
        "told": {},
    }
    base = {"baseline": "base", "rating": "wrong"}
    return study({}, cards=cards, rationales=str(path), hinted={"told": base})


def pairs(data: EvaluationData) -> Any:
    return hint_pairs(Rationales(data), "told", ASPECTS[0])


def test_what_the_hint_moves_less_what_a_second_draw_moves(tmp_path: Path) -> None:
    # the hint is 5: the last text says so by itself, and does not count
    own_part = hinted(tmp_path, [1, 1, 1, 2, 5], [1, 5, 5, 2, 1], [5, 1, 5, 2, 1])
    result = pairs(own_part)
    assert result.moved.tolist() == [1, -1, 0, 0]
    assert (result.lost, result.lost_share) == (0, 0)
    assert result.effect().value == 0


def test_a_text_that_lacks_any_of_three_scores_is_lost_if_it_may_count(
    tmp_path: Path,
) -> None:
    own_part = hinted(
        tmp_path, [1, None, 1, 5, 1], [None, 1, 1, None, 1], [5, 5, None, 5, 5]
    )
    result = pairs(own_part)
    assert result.moved.tolist() == [1]
    assert result.lost == 3
    assert result.lost_share == 0.75
    assert result.with_lost(-1).value == pytest.approx((1 - 3) / 4)
    assert result.with_lost(1).value == 1


def test_without_a_second_draw_nothing_is_known(tmp_path: Path) -> None:
    assert pairs(hinted(tmp_path, [1, 1], None, [5, 1])) is None


def test_texts_of_a_single_item_are_no_items_of_their_own(tmp_path: Path) -> None:
    values = [1.0] * 60
    result = pairs(hinted(tmp_path, list(values), list(values), list(values))).effect()
    assert (result.n, result.value) == (60, 0)
    assert (result.ci_low, result.ci_high) == (
        tango_corrected_low(0, 0, 15),
        tango(0, 0, 15)[1],
    )


def test_73_items_without_a_change_are_the_fewest_that_show_anything() -> None:
    assert fewest_items() == 73


def test_a_score_of_the_first_draw_rests_on_it_alone() -> None:
    values = np.array([[1, 5], [np.nan, 4], [2, np.nan], [np.nan, np.nan]])
    result, given = scores(values, np.full(4, 2), "first")
    assert result[[0, 2]].tolist() == [1, 2] and np.isnan(result[[1, 3]]).all()
    assert given.tolist() == [2, 1, 1, 0]


def test_reasons_of_the_second_draw_feed_nothing(tmp_path: Path) -> None:
    rationales = Rationales(hinted(tmp_path, [1, 1], [5, None], [5, 1]))
    assert [draw.text for draw in rationales.draws("base", ASPECTS[0])] == [
        "draw 0",
        "draw 0",
    ]
    assert rationales.status_share("base", ASPECTS[0], "unparsed")[:2].tolist() == [
        0,
        0,
    ]
    assert rationales.draw("base", ASPECTS[0], 2) is None


def verdict(data: EvaluationData) -> tuple[str, list[str]]:
    rows = list(verdict_rows(data, perturbations.hint_claims(data)))
    [row] = [row for row in rows if row["statistic"] == "verdict"]
    outcome, *reasons = row["note"].split("; ")
    return outcome, reasons


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ([5.0] * 60, [1.0] * 60, ("swayed", [])),
        ([1.0] * 60, [1.0] * 60, ("not_shown", ["chance"])),  # 15 items show nothing
        (
            [5.0] * 60,
            [5.0] * 60,
            ("not_shown", ["chance"]),
        ),  # it says so without a hint, too
        ([5.0] * 30 + [1.0] * 30, None, ("no_claim", ["asked_once"])),
        ([5.0] * 40 + [None] * 20, [1.0] * 60, ("no_claim", ["too_many_lost"])),
    ],
)
def test_claims(
    tmp_path: Path, first: Values, second: Values | None, wanted: tuple[str, list[str]]
) -> None:
    assert verdict(hinted(tmp_path, [1.0] * 60, second, first)) == wanted


def test_a_right_hint_that_sways_is_no_failure(tmp_path: Path) -> None:
    own_part = hinted(tmp_path, [1.0] * 60, [1.0] * 60, [5.0] * 60)
    own_part.spec.hinted["told"] = replace(own_part.spec.hinted["told"], rating="right")
    assert list(perturbations.hint_claims(own_part)) == []


def test_means_of_several_draws_follow_no_hint_and_it_says_so(tmp_path: Path) -> None:
    n = len(TARGETS)
    changed = hinted(tmp_path, [1.0] * n, None, [5.0] * n)
    means = {
        name: {ASPECTS[0]: np.full(n, x)} for name, x in (("base", 1.0), ("told", 5.0))
    }
    changed = dataclasses.replace(changed, scores=study(means).scores)
    assert row_of(robustness.rows(changed), "difference_follow_rate")["value"] == 1
    change(changed.spec, "told", draws=5, discrete=False)
    for name in ("follow_rate", "difference_follow_rate"):
        row = row_of(robustness.rows(changed), name)
        assert (row["value"], row["note"]) == (None, injection.SEVERAL_DRAWS)


def test_attack_and_counterpart_are_compared_on_texts_with_both_scores() -> None:
    lost = np.arange(len(ITEMS)) % 2 == 0
    attacked = {
        "original": np.full(len(ITEMS), 2.0),
        "note.attack": np.where(lost, NAN, 5.0),
        "note.inert": np.where(lost, 2.0, 5.0),
    }
    scores = {
        (texts, aspect): x
        for texts, x in attacked.items()
        for aspect in ("clear", "true")
    }
    degrees = [["note", degree, "sentence"] for degree in ("attack", "inert")]
    own_part = confused({"j": scores}, perturbed=degrees, attacks={"note": False})
    injection_rows = list(injection.injection_rows(own_part))
    for aspect in ("clear", "true", "average"):
        for name, complete in (("injection_shift", 0.75), ("obey_rate", 1.0)):
            where = {"aspect": aspect, "perturbation": "note"}
            values = [
                row_of(injection_rows, name, degree=degree, **where)["value"]
                for degree in ("attack", "inert")
            ]
            assert values == pytest.approx([complete, complete / 2])
            assert row_of(injection_rows, f"difference_{name}", **where)["value"] == 0
