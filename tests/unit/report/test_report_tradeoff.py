"""Cost against quality, every rank, and what was planned and not measured."""

from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.methods.cost import FREE
from judgescope.report import prices
from judgescope.report.contents import section_named
from judgescope.report.elements import (
    Fold,
    JudgeMatrix,
    PageFigure,
    PageTable,
    Paragraph,
)
from judgescope.report.panels import Bought, Priced, scatter_spec
from judgescope.report.report import Report
from judgescope.report.rows import ReportRow as TableRow
from judgescope.report.sections import cost
from judgescope.report.tables import leaders
from report_setup import section_shown

Row = dict[str, Any]
PRICES = {"alpha": 0.0, "rules": 0.0, "beta": 0.4, "gamma": 3.2}


def report(folder: Path, prices: dict[str, float], **tables: list[Row]) -> Report:
    rows = [
        study.row("chat", judge, name, price, n=100)
        for judge, price in prices.items()
        for name in ("usd", "usd_per_1000")
    ]
    ours = {"agreement": list(study.agreement()), "verdicts": list(study.verdicts())}
    ours |= {"cost": rows, **tables}
    return study.loaded(study.make(folder, ours))


def figure(message: Report) -> PageFigure:
    section = section_named("cost", message)
    assert section is not None and isinstance(
        section.blocks[-1], PageTable
    )  # pictures first
    [result] = [block for block in section.blocks if isinstance(block, PageFigure)]
    return result


def test_what_costs_nothing_is_set_against_nothing(tmp_path: Path) -> None:
    assert cost.tradeoff(report(tmp_path, dict.fromkeys(PRICES, 0.0))) == []


def test_a_judge_for_which_nothing_is_bought_is_free_as_on_the_first_screen(
    tmp_path: Path,
) -> None:
    rows = [
        study.row("chat", judge, "usd", 0.0, n=100, note=note)
        for judge, note in (("alpha", FREE), ("beta", ""))
    ]
    section = section_named("cost", study.loaded(study.make(tmp_path, {"cost": rows})))
    assert section is not None
    table = section.blocks[-1]
    assert isinstance(table, PageTable)
    prices = {
        line.head: line.cells[-3].text for body in table.bodies for line in body.lines
    }
    assert prices == {
        "alpha": "free",
        "beta": "0.00",
    }  # no sum over replies that nobody counted
    assert "every reply once" not in section.lead


def test_a_price_has_the_same_words_everywhere(tmp_path: Path) -> None:
    result = report(tmp_path, {"alpha": 0.0, "gamma": 0.0132})
    rows = result.rows("cost")
    assert (
        prices.price_in_words(rows.where(judge="gamma"))
        == "US$ 0.013 per 1\u202f000 judgments"
    )
    unknown = [study.row("chat", "beta", "usd", None, n=100)]
    assert prices.price_in_words(study.typed_rows(unknown)) == "price not known"
    [table] = [
        block
        for block in section_shown("judges", result).blocks
        if isinstance(block, JudgeMatrix)
    ]
    [price] = [line.cells[-1] for line in table.lines if line.head == "gamma"]
    assert (price.value, price.hidden) == (
        "0.013",
        "US$ 0.013 per 1\u202f000 judgments",
    )


@pytest.mark.heavy
def test_a_cheaper_judge_that_is_better_is_named_and_no_crossing_one(
    tmp_path: Path,
) -> None:
    # on both aspects: alpha .6 [.5, .7], gamma .7 [.6, .8], beta .2 [.1, .3], rules -.1
    result = figure(report(tmp_path, PRICES))
    assert result.summary.startswith("4 judges, from $0.00 to $3.20 per 1\u202f000 ")
    assert result.summary.endswith("better than `beta`.")
    dear = figure(report(tmp_path, {**PRICES, "beta": 4.0, "gamma": 0.1}))
    assert dear.summary.endswith("better than `beta`.")
    fair = figure(report(tmp_path, {"alpha": 0.1, "gamma": 3.2}))
    assert fair.summary.endswith("on any of these numbers.")


def test_every_judge_of_the_figure_stands_in_its_legend_and_numbers(
    tmp_path: Path,
) -> None:
    result = figure(report(tmp_path, PRICES))
    assert [key.text for key in result.keys] == [
        "alpha",
        "beta",
        "rules",
        "gamma",
        "the best control",
    ]
    heads = [line.head for body in result.table.bodies for line in body.lines]
    assert heads == ["alpha", "beta", "rules", "gamma"]
    assert result.svg.count("Fluency") == result.svg.count("Coherence") == 1


@pytest.mark.heavy
def test_a_judge_of_unknown_price_is_left_out_and_named(tmp_path: Path) -> None:
    result = report(tmp_path, {"beta": 0.4, "gamma": 3.2})
    assert "alpha" not in [key.text for key in figure(result).keys]
    _, *texts = [
        block for block in cost.tradeoff(result) if isinstance(block, Paragraph)
    ]
    [text] = texts
    assert "price is not known" in text.text and text.text.endswith(
        ": `alpha` and `rules`."
    )


def bought(
    number: int,
    price: float,
    value: float,
    low: float | None = None,
    high: float | None = None,
) -> Bought:
    return Bought(number, price, TableRow(value=value, ci_low=low, ci_high=high))


def placed(
    *dots: Bought, level: float | None = None
) -> dict[str, list[dict[str, Any]]]:
    """Return what the figure places, by its look."""
    return study.marks(scatter_spec([Priced("one", dots, level)], x="US$"))


def test_prices_lie_on_a_logarithm_and_what_is_free_beside_it() -> None:
    dots = [bought(at, price, 0.5) for at, price in enumerate((0, 0, 0.1, 1, 10), 1)]
    xs = [dot["x"] for dot in placed(*dots)["judge"]]
    assert xs == sorted(set(xs)), "each in its own place, the dearer the further right"
    assert xs[4] - xs[3] == pytest.approx(xs[3] - xs[2])
    assert xs[2] - xs[1] > xs[1] - xs[0]


def test_higher_values_lie_higher_and_intervals_hold_their_dots() -> None:
    dots = [bought(1, 0.5, 0.2, 0.1, 0.3), bought(2, 5.0, 0.6)]
    drawn = placed(*dots, level=0.4)
    low, high = drawn["judge"]
    [line], [ends] = drawn["level"], drawn["interval"]
    assert high["y"] < line["y"] < low["y"]
    assert ends["y2"] < low["y"] < ends["y"] and ends["x"] == low["x"]


def test_values_that_are_a_single_up_to_rounding_can_be_drawn() -> None:
    close = bought(1, 0.5, 1.0, 0.9999999999999998, 1.0)
    assert placed(close, bought(2, 5.0, 1.0, 1.0, 1.0))


@pytest.mark.heavy
def test_ranks_by_every_measure_stand_with_their_letters(tmp_path: Path) -> None:
    ranks = [
        study.row(
            "chat",
            judge,
            f"rank_{name}",
            rank,
            aspect="fluency",
            level=level,
            note=note,
        )
        for name, level in (("pearson", "pooled"), ("kendall_b", "by_source"))
        for judge, rank, note in (("alpha", 1.0, "group a"), ("beta", 2.0, "group ab"))
    ]
    section = section_named("agreement", report(tmp_path, PRICES, comparison=ranks))
    assert section is not None
    [fold] = [
        b
        for b in section.blocks
        if isinstance(b, Fold) and "Ranks by every" in b.summary
    ]
    [table] = fold.blocks
    assert isinstance(table, PageTable)
    assert [column.text for column in table.columns] == ["Pearson r", "Kendall τ-b"]
    marks = {
        line.head: [c.mark for c in line.cells]
        for b in table.bodies
        for line in b.lines
    }
    assert marks == {"alpha": [" a", " a"], "beta": [" ab", " ab"]}


def test_what_has_no_number_is_counted_by_reason(tmp_path: Path) -> None:
    section = section_named("unmeasured", report(tmp_path, PRICES, verdicts=[]))
    assert section is not None
    [table] = section.blocks
    assert isinstance(table, PageTable)
    by_key = {
        line.head: [c.text for c in line.cells]
        for b in table.bodies
        for line in b.lines
    }
    undefined = [row for row in study.agreement() if row["value"] is None]
    constant = [row for row in undefined if row["note"] == "constant judge"]
    assert by_key["constant judge"][0] == str(len(constant)) and len(constant) > 1
    assert by_key["continuous"][2:] == [
        "kappa_linear",
        "alpha, beta, constant-top, gamma and 4 more",
        "chat, news",
    ]
    content = {
        "agreement": [row for row in study.agreement() if row["value"] is not None]
    }
    defined = study.loaded(study.make(tmp_path, content))
    assert section_named("unmeasured", defined) is None


def test_a_control_leads_only_alone_and_all_of_a_tie_lead(tmp_path: Path) -> None:
    values = {"random": 0.9, "alpha": 0.5, "beta": 0.5, "gamma": 0.1}
    rows = [
        study.row("chat", judge, "spearman", value, aspect="fluency", level="pooled")
        for judge, value in values.items()
    ]
    outcome = study.loaded(study.make(tmp_path, {"agreement": rows}))
    result = [*outcome.rows("agreement")]
    assert [row.judge for row in leaders(outcome.judges, result)] == ["alpha", "beta"]
    assert [row.judge for row in leaders(outcome.judges, result[:1])] == ["random"]
    assert leaders(outcome.judges, []) == []
