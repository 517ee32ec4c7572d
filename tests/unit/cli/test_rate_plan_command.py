"""The command `rate-plan`: sources to rate and prices, from a study's tables."""

import math
from pathlib import Path
from typing import Any

import pytest

from judgescope.cli.planning import FILTERS
from judgescope.cli.rate_plan import rate_plan
from judgescope.core.errors import UserError
from judgescope.schema.tables import table_of, write_table
from judgescope.statistics.rate_plan import sources_alone, sources_needed
from study import Study

Row = dict[str, Any]
SPREAD, R, LOW, HIGH = 1.0, 0.7, 0.5, 0.8
RATED, OTHERS = 40, 360


def rows_of_cell(name: str, texts: int, *, r: float | None = R) -> list[Row]:
    content = {"dataset": "d", "judge": "j", "aspect": "clear", "level": "by_source"}
    content |= {"system_subset": name}
    none = None if r is None else True
    return [
        {**content, "statistic": statistic, "n": n, "value": value, **bounds}
        for statistic, n, value, bounds in (
            ("rating_correlation", RATED, r,
             {"ci_low": none and LOW, "ci_high": none and HIGH, "note": "why"}),
            ("rating_spread", RATED, SPREAD, {}),
            ("rated_texts", RATED, float(texts * RATED), {}),
            ("unrated_sources", RATED + OTHERS, float(OTHERS), {}),
        )
    ]  # fmt: skip


ROWS = [*rows_of_cell("a+b", 2), *rows_of_cell("a", 1), *rows_of_cell("b", 1)]


class Options:
    """The command line's values."""

    def __init__(self, study: Path, **keys: Any) -> None:
        self.study = study
        self.half_width = 0.25
        self.rating_price = self.judgment_price = self.sources = None
        for name in FILTERS:
            setattr(self, name, [])
        self.__dict__.update(keys)


def stated(
    folder: Path, capsys: pytest.CaptureFixture[str], rows: list[Row], **keys: Any
) -> list[list[str]]:
    """Return the words of each line of the plan, titles left out."""
    study = Study(folder)
    path = study.write()
    for name, part in (("corrected", rows), ("cost", keys.pop("cost", []))):
        table = study.out / "tables" / f"{name}.parquet"
        write_table("results", table_of("results", part), table)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert rate_plan(Options(path, **keys)) == 0  # type: ignore[arg-type]
    lines = capsys.readouterr().out.split("\n\n")[1].splitlines()
    return [line.split() for line in lines[1:]]


def test_a_line_has_the_sources_with_a_judge_and_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = stated(tmp_path, capsys, ROWS)
    assert [line[3] for line in lines] == ["differences", "means"]
    total = RATED + OTHERS
    needed = [sources_needed(SPREAD, r, total, 0.25) for r in (R, HIGH, LOW)]
    alone = sources_alone(SPREAD, 0.25)
    assert needed[0] is not None and alone is not None
    assert lines[0][4:9] == [
        "2", str(needed[0]), f"[{needed[1]},", f"{needed[2]}]", str(alone),
    ]  # fmt: skip
    share = (alone - needed[0]) / total
    assert float(lines[0][9]) == pytest.approx(share, rel=0.01)


def test_prices_count_ratings_and_judgments_of_all_systems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line, _ = stated(tmp_path, capsys, ROWS, rating_price=2.0, judgment_price=0.01)
    n, alone, total = int(line[5]), int(line[8]), RATED + OTHERS
    assert float(line[10]) == pytest.approx(2 * n * 2.0 + 2 * total * 0.01)
    assert float(line[11]) == pytest.approx(2 * alone * 2.0)


def test_the_price_of_a_judgment_is_that_of_the_study(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cost = [
        {"dataset": "d", "judge": "j", "statistic": name, "value": value}
        for name, value in (("usd", 3.0), ("usd_per_1000", 10.0))
    ]
    line, _ = stated(tmp_path, capsys, ROWS, rating_price=2.0, cost=cost)
    assert float(line[10]) == pytest.approx(4 * int(line[5]) + 8.0)
    line, _ = stated(tmp_path, capsys, ROWS, rating_price=2.0)
    assert "(no" in line


def test_a_width_that_all_sources_do_not_reach_has_no_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = stated(tmp_path, capsys, ROWS, half_width=0.05)
    assert lines[0][5:7] == [">", "400"]
    more = stated(tmp_path, capsys, ROWS, half_width=0.05, sources=20_000)
    assert int(more[0][5]) > 400


def test_a_judge_without_a_correlation_is_worth_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [line] = stated(tmp_path, capsys, rows_of_cell("a", 1, r=None))
    assert line[5] == line[8] == str(sources_alone(SPREAD, 0.25))


@pytest.mark.parametrize(
    ("keys", "where"),
    [
        ({"half_width": 0.0}, "--half-width"),
        ({"half_width": math.inf}, "--half-width"),
        ({"rating_price": -1.0}, "--rating-price"),
        ({"sources": 0}, "--sources"),
        ({"judge": ["jj"]}, "--judge"),
    ],
)
def test_numbers_that_no_plan_has_are_errors(
    keys: dict[str, Any],
    where: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(UserError) as raised:
        stated(tmp_path, capsys, ROWS, **keys)
    assert where in str(raised.value)


def test_a_table_without_plans_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UserError, match="rate 10 sources"):
        stated(tmp_path, capsys, ROWS[:1])
