"""The judge that was taught, in the report."""

from pathlib import Path
from typing import Any

import pytest

import report_study
from judgescope.report.charts import PALETTE, Curve, curves_spec, svg
from judgescope.report.contents import section_named
from judgescope.report.elements import (
    Facts,
    Link,
    PageFigure,
    PageTable,
    Paragraph,
    Section,
)
from judgescope.report.report import Report
from judgescope.schema.tables import table_of, write_table
from report_setup import on_one_page

Row = dict[str, Any]
RECIPE = {"rank": 16, "learning_rate": 0.0002, "warmup": 0.05, "device": "cuda"}
LOG: list[Row] = [
    *(
        {
            **{
                "step": step,
                "split": "train",
                "loss": 2.0 / step,
                "learning_rate": 2e-4 / step,
            },
            **{"examples": 16 * step, "tokens": 1000 * step},
        }
        for step in range(1, 7)
    ),
    *(
        {
            **{"step": step, "split": "held_out", "loss": loss, "learning_rate": None},
            **{"examples": 5, "tokens": 250},
        }
        for step, loss in ((0, 2.5), (3, 1.25), (6, 0.75))
    ),
]


def rows(dataset: str = "chat") -> list[Row]:
    """Return the rows of training.csv of one dataset."""
    collected = []
    for at, aspect in enumerate(report_study.ASPECTS):
        for level, n in (("train", 40), ("held_out", 5)):
            count = {"n": n + at, "n_missing": 2 * at, "ci_low": None, "ci_high": None}
            content = {"aspect": aspect, "level": level, **count}
            collected.append(
                report_study.row(dataset, "small", "taught_examples", n + at, **content)
            )
    for aspect in (*report_study.ASPECTS, "average"):
        for name, value in (("before", 2.5), ("after", 0.75), ("change", -1.75)):
            content = {"aspect": aspect, "level": "held_out", "n": 5}
            collected.append(
                report_study.row(
                    dataset, "small", f"held_out_loss_{name}", value, **content
                )
            )
    return collected


def report(folder: Path, log: list[Row] = LOG, **changes: Any) -> Report:
    """Return the report of a study that trains the judge `small`."""
    write_table("training", table_of("training", log), folder / "log.parquet")
    named = {
        "judge": "small",
        "teacher": "gamma",
        "model": "tiny",
        "recipe": RECIPE,
        **changes,
    }
    spec = report_study.make(
        folder,
        {"training": rows(), "coverage": []},
        distilled={**named, "log": str(folder / "log.parquet")},
    )
    return report_study.loaded(spec)


def section(folder: Path, log: list[Row] = LOG, **changes: Any) -> Section:
    result = section_named("distilled", report(folder, log, **changes))
    assert result is not None
    return result


def test_who_was_taught_by_whom_on_what_and_how(tmp_path: Path) -> None:
    about, _, _, recipe, _, link = section(tmp_path).blocks
    assert isinstance(about, Paragraph) and isinstance(recipe, Facts)
    assert about.text.startswith(
        "`small` is the model `tiny`, taught by `gamma` on texts of The ch"
    )
    assert "news" not in about.text
    assert list(recipe.pairs) == [
        *(
            ("rank", "16"),
            ("learning rate", "0.0002"),
            ("warmup", "0.05"),
            ("device", "cuda"),
        )
    ]
    assert isinstance(link, Link) and link.href == "../tables/training.csv"


def test_examples_and_losses_are_reported_by_aspect(tmp_path: Path) -> None:
    *_, table, _ = section(tmp_path).blocks
    assert isinstance(table, PageTable)
    [body] = table.bodies
    assert body.title == "The chat: 81 training examples"
    assert [line.head for line in body.lines] == [
        "Fluency",
        "Coherence",
        "mean over aspects",
    ]
    second = body.lines[1].cells
    assert [cell.text for cell in second] == [
        "41",
        "6",
        "2.5",
        "0.75",
        "\N{MINUS SIGN}1.75",
    ]
    assert second[0].notes == ("2 missing",) and second[4].interval.startswith(
        "[\N{MINUS SIGN}1.8"
    )
    assert [cell.text for cell in body.lines[2].cells[:2]] == ["", ""]
    assert "`gamma` has no judgment" in table.notes[0]


def test_a_dataset_that_is_nowhere_else_in_the_report_has_its_id(
    tmp_path: Path,
) -> None:
    log = str(tmp_path / "log.parquet")
    write_table("training", table_of("training", LOG), Path(log))
    named = {
        "judge": "small",
        "teacher": "gamma",
        "model": "tiny",
        "recipe": RECIPE,
        "log": log,
    }
    made = {"training": rows() + rows("other"), "coverage": []}
    spec = report_study.make(tmp_path, made, distilled=named)
    result = section_named("distilled", report_study.loaded(spec))
    assert result is not None
    about, *_, table, _ = result.blocks
    assert isinstance(about, Paragraph) and isinstance(table, PageTable)
    assert "on texts of The chat and other, which" in about.text
    assert [body.title.partition(":")[0] for body in table.bodies] == [
        "The chat",
        "other",
    ]


def test_the_curve_has_both_losses_and_all_numbers_of_the_log(tmp_path: Path) -> None:
    figure = section(tmp_path).blocks[1]
    assert isinstance(figure, PageFigure)
    assert figure.summary == (
        "On the replies of one step it is 2 at step 1 and 0.333 at step 6. "
        "On the held-out replies it is 2.5 at step 0 and 0.75 at step 6."
    )
    assert [key.text for key in figure.keys] == [
        "the replies of one step",
        "the held-out replies",
    ]
    lines = figure.table.bodies[0].lines
    assert [line.head for line in lines] == [*"0123456"]
    third = [cell.text for cell in lines[3].cells]
    assert third == ["0.667", "1.25", "6.67e-05", "48", "3\u202f000"]
    assert [cell.text for cell in lines[0].cells] == ["", "2.5", "", "", ""]


def test_where_nothing_is_held_out_the_curve_is_of_the_steps(tmp_path: Path) -> None:
    figure = section(tmp_path, LOG[:6]).blocks[1]
    assert isinstance(figure, PageFigure)
    assert len(figure.keys) == 1 and "held out" not in figure.summary
    assert PALETTE.blue in figure.svg and PALETTE.red not in figure.svg


def test_a_study_that_teaches_nothing_has_no_such_section(tmp_path: Path) -> None:
    for result in ({}, {"distilled": None}):
        spec = report_study.make(tmp_path, {"coverage": []}, **result)
        assert section_named("distilled", report_study.loaded(spec)) is None


def test_what_a_card_says_is_text_on_the_page(tmp_path: Path) -> None:
    page = on_one_page(report(tmp_path, model="<b>tiny</b>"))
    assert "&lt;b&gt;tiny" in page and "<b>tiny" not in page
    assert page.count('href="../tables/training.csv"') == 1
    assert page.index('id="distilled"') > 0


@pytest.mark.parametrize("dots", [True, False])
def test_a_single_value_is_marked_in_any_case(dots: bool) -> None:
    each = curves_spec([Curve([(1, 2.0)], PALETTE.blue, dots)], x="step", y="loss")
    assert [kind for kind, _ in report_study.layers(each)] == ["line"]
    assert each["layer"][0]["mark"]["point"]
    several = curves_spec(
        [Curve([(1, 2.0), (2, 1.0)], PALETTE.blue, dots)], x="step", y="loss"
    )
    assert bool(several["layer"][0]["mark"]["point"]) == dots


def test_a_curve_does_not_depend_on_the_width_of_text() -> None:
    spec = curves_spec(
        [Curve([(0, 123.25), (9, 1e-4)], PALETTE.blue)], x="step", y="loss"
    )
    drawn = svg(spec)
    other = {**spec, "config": {**spec["config"], "font": "monospace"}}
    assert svg(other).replace("monospace", "sans-serif") == drawn
