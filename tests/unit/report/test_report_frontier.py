"""The section on what to buy: sentences by rule, its figure and its tables."""

from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.report.contents import section_named
from judgescope.report.elements import (
    Fold,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    Section,
)
from judgescope.statistics.frontier import Advice

Row = dict[str, Any]
PRICES = {"alpha": 0.5, "gamma": 1.0, "alpha+gamma": 3.0}
VALUES = {"alpha": 0.5, "gamma": 0.55, "alpha+gamma": 0.51}
NAME = "normal_scores"


def rows(
    prices: dict[str, float] = PRICES,
    advice: Advice = Advice.DO_NOT_BUY,
    gain: tuple[float, float | None, float | None] = (0.01, -0.01, 0.02),
) -> list[Row]:
    """Return rows of frontier.csv: three candidates, of which the jury is chosen."""
    where: Row = {"aspect": "fluency", "level": "within_source"}
    note = "1 without a price: beta"
    values = [study.row("chat", "", "candidates", 3.0, **where, note=note)]
    for judge, price in prices.items():
        values.append(study.row("chat", judge, NAME, VALUES[judge], **where))
        values.append(study.row("chat", judge, "usd_per_1000", price, **where))
    for at, (judge, price) in enumerate(prices.items()):
        last = at == len(prices) - 1
        chosen = "alpha+gamma" if last else "alpha"
        content = {**where, "form": f"up to {price:g}"}
        values.append(study.row("chat", judge, "budget", price, **content))
        for kind, value in (("nested", 0.48 + at / 100), ("optimism", 0.02)):
            values.append(study.row("chat", judge, f"{kind}_{NAME}", value, **content))
        half = {**content, "judge_b": chosen}
        values.append(study.row("chat", judge, f"other_half_{NAME}", 0.49, **half))
        value, low, high = gain if last else (0.0, None, None)
        over: Row = {**content, "judge_b": "alpha", "ci_low": low, "ci_high": high}
        over["note"] = advice if last else Advice.CHEAPEST
        values.append(study.row("chat", judge, f"gain_{NAME}", value, **over))
    pooled: Row = {"aspect": "fluency", "level": "pooled"}
    for name in ("error_correlation_mean", "effective_judges"):
        values.append(study.row("chat", "alpha+gamma", name, 0.5, **pooled))
    return values


def section(folder: Path, message: list[Row], *verdicts: Row) -> Section:
    tables = {"frontier": message, "verdicts": [*verdicts]}
    made = section_named("frontier", study.loaded(study.make(folder, tables)))
    assert made is not None
    return made


def only(blocks: list[PageBlock], kind: type) -> Any:
    [result] = [block for block in blocks if isinstance(block, kind)]
    return result


def sentences(made: Section) -> list[str]:
    for block in made.blocks:
        if isinstance(block, Paragraph) and "cheapest candidate" in block.text:
            return [*block.items]
    return []


def test_a_jury_that_adds_too_little_is_not_bought(tmp_path: Path) -> None:
    [sentence] = sentences(section(tmp_path, rows()))
    for words in ("6 times", "`alpha`", "+0.01 [−0.01, 0.02]", "do not buy"):
        assert words in sentence


@pytest.mark.parametrize("advice", [Advice.ADDS, Advice.NOT_SHOWN])
def test_a_gain_is_reported_as_its_row_says(advice: Advice, tmp_path: Path) -> None:
    [sentence] = sentences(section(tmp_path, rows(advice=advice)))
    assert "do not buy" not in sentence
    assert ("not shown" in sentence) == (advice is Advice.NOT_SHOWN)


def test_a_free_cheapest_judge_has_no_multiple(tmp_path: Path) -> None:
    [sentence] = sentences(section(tmp_path, rows({**PRICES, "alpha": 0.0})))
    assert "times" not in sentence and "free" in sentence and "3.00" in sentence


def test_free_candidates_have_a_single_line(tmp_path: Path) -> None:
    made = section(tmp_path, rows(dict.fromkeys(PRICES, 0.0)))
    assert all(isinstance(block, Paragraph) for block in made.blocks[1:])


def test_the_figure_has_judges_juries_and_a_single_person(tmp_path: Path) -> None:
    where = {"aspect": "fluency", "level": "within_source", "form": "agreement"}
    person = study.row("chat", "human", NAME, 0.4, **where)
    made = section(tmp_path, rows(), person)
    figure = only([*made.blocks], PageFigure)
    assert [key.text for key in figure.keys][:2] == ["alpha", "gamma"]
    assert any("person" in key.text for key in figure.keys)
    heads = [line.head for body in figure.table.bodies for line in body.lines]
    assert heads == ["alpha", "gamma", "alpha+gamma"]
    without = only([*section(tmp_path / "alone", rows()).blocks], PageFigure)
    assert not any("person" in key.text for key in without.keys)


def test_the_table_has_a_line_for_each_budget(tmp_path: Path) -> None:
    made = section(tmp_path, rows())
    table = only([*made.blocks], PageTable)
    [body] = table.bodies
    assert [line.head for line in body.lines] == ["0.50", "1.00", "3.00"]
    assert body.lines[-1].cells[-1].text == Advice.DO_NOT_BUY
    fold = only([*made.blocks], Fold)
    [errors] = fold.blocks
    assert [line.head for line in errors.bodies[0].lines] == ["alpha+gamma"]


def test_who_is_no_candidate_is_named(tmp_path: Path) -> None:
    first = section(tmp_path, rows()).blocks[1]
    assert isinstance(first, Paragraph)
    assert "3 candidates" in first.items[0] and "beta" in first.items[0]


def test_without_a_choice_the_reason_stands_alone(tmp_path: Path) -> None:
    nothing = study.row("chat", "", "candidates", None, note="too few sources")
    _, block = section(tmp_path, [nothing]).blocks
    assert isinstance(block, Paragraph) and "too few sources" in block.text


def test_of_many_juries_those_that_a_price_chooses_are_drawn(tmp_path: Path) -> None:
    where: Row = {"aspect": "fluency", "level": "within_source", "k": 2}
    many = []
    for number in range(50):
        name = f"alpha>gamma@{number}"
        many.append(study.row("chat", name, NAME, 0.5, **where))
        many.append(study.row("chat", name, "usd_per_1000", 0.7, **where))
    collected = [row | ({"k": 2} if "+" in row["judge"] else {}) for row in rows()]
    figure = only([*section(tmp_path, collected + many).blocks], PageFigure)
    heads = [line.head for body in figure.table.bodies for line in body.lines]
    assert heads == ["alpha", "gamma", "alpha+gamma"] and "50 " in figure.summary
