"""The section on perspectives: both views of a judge, ranks, and the confusion of
classes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.methods.aspect_views import BESIDE, MEASURES
from judgescope.report.contents import section_named
from judgescope.report.elements import Fold, Heading, PageFigure, PageTable, Section
from judgescope.report.words import THIN

Row = dict[str, Any]


def views(dataset: str = "chat", **more: Any) -> Iterator[Row]:
    """Yield the table of a judge of classes and one of numbers, on both aspects."""
    for at, judge in enumerate(("alpha", "gamma")):
        for name, level in MEASURES:
            known = judge == "gamma" or name not in ("kappa_linear", "cem_ord")
            value = 0.25 + at / 2 if known else None
            content = {"aspect": "average", "level": level, **more}
            yield study.row(dataset, judge, name, value, **content)
            yield study.row(
                dataset, judge, f"rank_{name}", 2.0 - at if known else None, **content
            )
            for aspect in study.ASPECTS:
                yield study.row(
                    dataset, judge, name, value, **(content | {"aspect": aspect})
                )
        for name, level in BESIDE:
            for aspect in study.ASPECTS:
                yield study.row(
                    dataset, judge, name, 0.5, aspect=aspect, level=level, **more
                )
    gap = {"aspect": "average", "level": "direct", "judge_b": "gamma", **more}
    yield study.row(dataset, "alpha", "difference_accuracy_adjacent", -0.5, **gap)
    yield study.row(dataset, "alpha", "difference_kappa_linear", None, **gap)


def counts() -> Iterator[Row]:
    for k, count in enumerate((3.0, 0.0, 10.0), start=1):
        content = {"aspect": "fluency", "level": "direct", "k": k}
        yield study.row("chat", "human", "class_count", count, **content)
    for (k, k_b), count in {(1, 1): 2.0, (1, 3): 1.0, (3, 3): 10.0}.items():
        content = {"aspect": "fluency", "level": "direct", "k": k, "k_b": k_b}
        yield study.row("chat", "gamma", "class_count", count, **content)


def sectioned(folder: Path, *rows: Row, **changes: Any) -> Section:
    spec = study.make(folder, {"perspectives": list(rows)}, **changes)
    result = section_named("perspectives", study.loaded(spec))
    assert result is not None
    return result


@pytest.fixture(scope="module")
def section(tmp_path_factory: pytest.TempPathFactory) -> Section:
    return sectioned(tmp_path_factory.mktemp("report"), *views(), *counts())


def texts(table: PageTable) -> dict[str, list[str]]:
    return {
        line.head: [c.text for c in line.cells]
        for body in table.bodies
        for line in body.lines
    }


def folded(section: Section, summary: str) -> list[Any]:
    (result,) = (
        block.blocks
        for block in section.blocks
        if isinstance(block, Fold) and block.summary.startswith(summary)
    )
    return list(result)


def test_both_views_stand_beside_each_other_and_the_ranks_below(
    section: Section,
) -> None:
    ranks, people = (block for block in section.blocks if isinstance(block, PageTable))
    (figure,) = (block for block in section.blocks if isinstance(block, PageFigure))
    means = figure.table
    assert [key.text for key in figure.keys][:2] == ["Pearson r", "Spearman ρ"]
    assert means.groups == [("Traditional view", 2), ("Direct view", 4)]
    assert texts(means)["gamma"][:4] == ["0.750"] * 4
    assert texts(means)["alpha"][1:3] == ["0.250", "–"]
    assert texts(ranks) == {"alpha": ["2", "2", "–", "–", "2", "2"], "gamma": ["1"] * 6}
    assert texts(people) == {"Fluency": ["3", "0", "10"]}


def test_every_aspect_has_its_numbers_of_texts(section: Section) -> None:
    (table,) = folded(section, "Every aspect of The chat")
    assert [body.title for body in table.bodies] == ["Fluency", "Coherence"]
    cell = table.bodies[0].lines[0].cells[0]
    assert cell.notes == ("n = 120",) and cell.interval == "[0.150, 0.350]"
    assert len(table.columns) == 8


def test_classes_are_shaded_by_row_and_the_right_ones_outlined(
    section: Section,
) -> None:
    (table,) = folded(section, "Classes of gamma")
    styles = [[cell.style for cell in line.cells] for line in table.bodies[0].lines]
    assert texts(table)["class 1"] == ["2", "0", "1"]
    assert styles[0] == ["number heat-3 wanted", "number none heat-0", "number heat-2"]
    assert styles[2][2] == "number heat-4 wanted"
    summaries = [block.summary for block in section.blocks if isinstance(block, Fold)]
    assert not any(summary.startswith("Classes of alpha") for summary in summaries)


def test_judges_are_distinguished_by_what_their_averages_differ(
    section: Section,
) -> None:
    (table,) = folded(section, "Differences between judges for The chat")
    assert texts(table) == {
        "alpha": ["", "−0.5"],
        "gamma": ["0.5", ""],
    }  # κ has no difference
    assert table.caption.startswith("The chat: Ordered right of the row's judge")


def test_what_datasets_make_up_together_comes_first(tmp_path: Path) -> None:
    overall = [row for row in views("overall") if row["aspect"] == "average"]
    result = sectioned(tmp_path, *views(), *views("news"), *overall)
    headings = [block.text for block in result.blocks if isinstance(block, Heading)]
    assert headings == ["All datasets", "The news", "The chat"]
    first = result.blocks[1]
    assert isinstance(first, PageFigure) and texts(first.table)["gamma"][0] == "0.750"


def test_wordings_stand_separate(tmp_path: Path) -> None:
    wordings = ("default", "empty")
    rows = [row for name in wordings for row in views(criterion=name)]
    names = [f"{aspect}.{name}" for aspect in study.ASPECTS for name in wordings]
    result = sectioned(tmp_path, *rows, datasets={"chat": {"aspects": names}})
    titles = [block.title for block in result.blocks if isinstance(block, PageFigure)]
    names = ["The chat, criterion default", "The chat, criterion empty"]
    assert titles == [f"{name}: both views" for name in names]
    captions = [
        block.caption for block in result.blocks if isinstance(block, PageTable)
    ]
    assert captions == [f"{name}: ranks by these means." for name in names]
    (table,) = folded(result, "Every aspect of The chat, criterion empty")
    assert [body.title for body in table.bodies] == [
        "Fluency (empty)",
        "Coherence (empty)",
    ]


def on_scales(
    entry: list[int], other: list[int], alike: str = "same"
) -> dict[str, Row]:
    """Return the spec of alpha and gamma as judges of prompts with so many points."""
    return {
        "alpha": {"alike": "same", "points": {"chat": entry}},
        "gamma": {"alike": alike, "points": {"chat": other}},
    }


def test_judges_that_differ_in_their_scale_alone_are_drawn_by_its_points(
    tmp_path: Path,
) -> None:
    result = sectioned(tmp_path, *views(), judges=on_scales([100], [2, 5]))
    _, figure = (block for block in result.blocks if isinstance(block, PageFigure))
    assert texts(figure.table) == {
        "2 to 5 points, gamma": ["75\u202f%", "0.750", "0.750"],  # fewer points first
        "100 points, alpha": ["25\u202f%", "–", "0.250"],
    }
    assert "on scales of 2 to 5 and 100 points" in figure.summary
    assert (
        "Pearson r: 0.750 [0.650, 0.850] on 2 to 5, 0.250 [0.150, 0.350] on 100."
        in (figure.summary)
    )
    assert (
        "Linear κ: 0.750 [0.650, 0.850] on 2 to 5." in figure.summary
    )  # alpha has none
    cell = figure.table.bodies[0].lines[0].cells[0]
    assert cell.notes == ("n = 120",) and "n counts aspects" in figure.table.caption
    assert [key.text for key in figure.keys] == [
        "Ordered right, rated texts",
        "Linear κ",
        "Pearson r",
    ]


@pytest.mark.parametrize(
    "judges", [on_scales([5], [5]), on_scales([5], [10], alike="other")]
)
def test_a_single_range_alone_is_not_drawn(
    tmp_path: Path, judges: dict[str, Row]
) -> None:
    result = sectioned(tmp_path, *views(), judges=judges)
    titles = [block.title for block in result.blocks if isinstance(block, PageFigure)]
    assert titles == ["The chat: both views"]


def test_a_measure_that_no_judge_has_is_a_note_and_no_column(tmp_path: Path) -> None:
    rows = [
        row
        for row in views()
        if row["judge"] == "alpha" and row["statistic"][:4] != "rank"
    ]
    blocks = sectioned(tmp_path, *rows).blocks
    (table,) = (block.table for block in blocks if isinstance(block, PageFigure))
    assert [column.statistic for column in table.columns] == [
        *("pearson", "spearman", "accuracy_adjacent", "accuracy_adjacent_half"),
    ]
    assert table.notes == ["No judge has Linear κ and CEM-ORD: constant judge."]


def built() -> Iterator[Row]:
    """Yield a judge's numbers on a graded set and on a chain, also further apart."""
    graded = {"aspect": "fluency", "level": "global", "perturbation": "typos"}
    chain = graded | {"level": "local", "perturbation": "cuts"}
    for at, judge in enumerate(("alpha", "gamma")):
        for name in ("kappa_linear", "cem_ord"):
            yield study.row("chat", judge, name, 0.25 + at / 2, **graded)
        yield study.row("chat", judge, "class_count", 4.0, **graded, k=1, k_b=2)
        yield study.row("chat", judge, "accuracy_adjacent", 0.5 + at / 4, **chain)
        for k in (1, 2):
            yield study.row(
                "chat", judge, "accuracy_by_distance", 0.5 + k / 5, **chain, k=k
            )


def test_graded_sets_and_chains_are_drawn_before_their_tables(tmp_path: Path) -> None:
    blocks = sectioned(tmp_path, *built()).blocks
    drawn = [
        (at, block) for at, block in enumerate(blocks) if isinstance(block, PageFigure)
    ]
    graded, neighbours, further = (block for _, block in drawn)
    assert texts(graded.table) == {"alpha": ["0.250"], "gamma": ["0.750"]}
    assert texts(neighbours.table) == {"alpha": [f"50{THIN}%"], "gamma": [f"75{THIN}%"]}
    assert [column.text for column in further.table.columns] == ["1 error", "2 errors"]
    tables = [at for at, block in enumerate(blocks) if isinstance(block, PageTable)]
    assert drawn[0][0] < min(tables)  # CEM-ORD, whose chance is not 0, is a table alone


def test_a_study_without_perspectives_has_no_such_section(tmp_path: Path) -> None:
    assert section_named("perspectives", study.loaded(study.make(tmp_path))) is None
