"""Planted judges in memory: a copy of people reaches each step, and defects are found.

benchmarks/planted_judges.py has the studies; `make planted` runs all of them, the long
lane a tenth.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgescope.statistics.raters import RaterVerdict
from planted_study import benchmark

planted = benchmark("planted_judges")
controls = benchmark("planted_controls")
FEW, TENTH = 2, 10


@pytest.fixture(scope="module")
def copies() -> Any:
    return planted.copies()


# --- positive controls ----------------------------------------------------------------


def test_settings_cover_all_pairs_but_systems_and_aspects() -> None:
    designs = controls.covering_set()
    assert len(designs) <= 60
    kinds = {"scores", "labels", "pairs"}
    texts = {(1,), (2,), (5,), (1, 2, 5, 3)}
    of = [
        (design.systems, design.aspects, design.kind, design.texts)
        for design in designs
    ]
    for first, second, count in (
        (0, 2, 33),
        (0, 3, 44),
        (1, 2, 36),
        (1, 3, 48),
        (2, 3, 12),
    ):
        assert len({(each[first], each[second]) for each in of}) == count
    assert {each[2] for each in of} == kinds and {each[3] for each in of} == texts
    assert {design.sources for design in designs} == {40}


@pytest.mark.long(27)
@pytest.mark.slow
def test_copy_of_people_is_better_than_chance_in_every_setting(copies: Any) -> None:
    short = [copy.words_of_steps() for copy in copies if not copy.better]
    assert not short, "\n".join(short)


@pytest.mark.long(27)
@pytest.mark.slow
def test_copy_of_people_is_as_good_as_one_more_rater(copies: Any) -> None:
    """In every setting of scores, and in 95 % of those of labels and pairs."""
    for kinds, share in (({"scores"}, 1.0), ({"labels", "pairs"}, 0.95)):
        settings = [copy for copy in copies if copy.design.kind in kinds]
        short = [
            setting.words_of_steps() for setting in settings if not setting.as_rater
        ]
        assert len(short) <= (1 - share) * len(settings), "\n".join(short)


@pytest.mark.slow
def test_a_single_more_rater_is_better_than_chance_and_not_worse_than_a_rater() -> None:
    design = planted.PlantedDesign(sources=40, systems=5, aspects=1, texts=(5,))
    better = worse = 0
    for number in range(20):
        judge = planted.JudgeSetup("none")
        rows = planted.study_rows(design, f"rater-{number}", [judge])
        [words] = planted.outcomes(rows).values()
        better += words[0] in ("better", "as_rater")
        worse += any(row["note"].startswith(RaterVerdict.WORSE) for row in rows)
    assert better >= planted.least_found(20)
    assert worse <= 2  # a share of .025 gives 3 of 20 in one of 70 tests


@pytest.mark.long(110)
@pytest.mark.simulation
def test_a_single_more_rater_is_rarely_stated_to_be_worse_than_one() -> None:
    for each in planted.one_more_rater(100):
        if "pairs" not in each.title:
            assert each.better * 100 >= planted.least_found(100), each
        assert each.worse <= 0.06, each  # .025 gives 7 of 100 in one of 70 tests


@pytest.mark.heavy
def test_a_lenient_and_a_harsh_judge_are_named_so() -> None:
    names = [planted.bias_names(points, 1) for points in (1.0, -1.0, 0.0)]
    assert names == [{"lenient"}, {"harsh"}, set()]


# --- defects --------------------------------------------------------------------------


def test_the_bars_are_binomial() -> None:
    assert (planted.least_found(100), planted.least_found(10)) == (91, 8)
    assert (planted.most_in_vain(200), planted.most_in_vain(20)) == (15, 3)


def _missed(tallies: Any) -> list[str]:
    return [
        f"{tally.defect} {tally.strength}, {tally.expected}: {tally.found} of "
        f"{tally.studies}, also {dict(tally.others)}"
        for tally in tallies
        if not tally.passes
    ]


SECTIONS: list[Callable[[int], Any]] = [
    planted.positions,
    planted.biases,
    planted.sure,
    planted.silent,
    planted.with_words,
    planted.dead,
]


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_stated_defects_are_detected_in_some_studies(
    section: Callable[[int], Any],
) -> None:
    """A share of .95 finds none of two in one of 400 tests."""
    for each in section(FEW):
        assert not each.stated or each.found, each


@pytest.mark.simulation
@pytest.mark.parametrize("section", SECTIONS)
def test_stated_defects_are_detected(section: Callable[[int], Any]) -> None:
    assert not _missed(section(TENTH))


@pytest.mark.simulation
def test_followed_hints_obeyed_attacks_and_invented_errors_are_detected(
    tmp_path: Path,
) -> None:
    assert not _missed(planted.prompted(TENTH, tmp_path))


@pytest.mark.simulation
def test_judges_without_a_defect_are_rarely_named_for_one(tmp_path: Path) -> None:
    for each in (
        planted.harmless(2 * TENTH),
        planted.harmless_sure(2 * TENTH),
        *planted.harmless_prompted(2 * TENTH, tmp_path),
    ):
        assert each.found <= planted.most_in_vain(2 * TENTH), each


def test_the_page_has_a_line_for_each_tally() -> None:
    tally = planted.Tally("halo", "0.9", "r of its aspects above people's")
    tally.add(True)
    tally.add(False, "longer")
    setting = planted.Setting(planted.PlantedDesign(), (("better", "few_systems: 6"),))
    rater = planted.OneMoreRater("40 sources × 5 texts", 2, 1.0, 0.0, 0.5)
    text = planted.page([tally], [tally], [setting], [rater], (500, 470, 10))
    line = (
        "| gives one score for all aspects | **0.9** | r of its aspects above people's"
    )
    assert f"{line} | 1 of 2 | longer 1 | passes |" in text
    assert "* scores, 6 systems, 2 aspects, 6 texts a source: 1 × better" in text
    assert "| 40 sources × 5 texts | 100.0% | 0.0% | 50.0% |" in text


@pytest.mark.simulation
def test_a_threshold_keeps_its_promise_in_95_of_100_draws() -> None:
    result, broken = planted.broken_thresholds(500)
    assert result > 400
    assert broken <= 500 - planted.least_found(500)
