"""Judges that choose between two texts: their position bias as a figure, all numbers
beside it.
"""

from pathlib import Path
from typing import Any

import report_study as study
from judgescope.report.charts import MOST_SIGNS
from judgescope.report.contents import section_named
from judgescope.report.elements import PageFigure, PageTable

Row = dict[str, Any]
PLACE = {"aspect": "fluency", "level": "pooled", "perturbation": "systems"}


def blocks(folder: Path, *rows: Row) -> list[Any]:
    section = section_named(
        "pairwise", study.loaded(study.make(folder, {"pairwise": list(rows)}))
    )
    assert section is not None
    return [
        block for block in section.blocks if isinstance(block, PageFigure | PageTable)
    ]


def test_the_judge_farthest_from_half_is_named_and_every_number_is_in_the_table(
    tmp_path: Path,
) -> None:
    rates = {"alpha": 0.55, "beta": 0.2, "gamma": None}
    figure, table = blocks(
        tmp_path,
        *(
            study.row("news", judge, "first_position_rate", v, **PLACE)
            for judge, v in rates.items()
        ),
        study.row("news", "gamma", "order_consistency", 0.75, **PLACE),
    )
    assert figure.title == "The news, systems: position bias"
    assert "From 20\u202f% [10\u202f%, 30\u202f%] (beta, fluency) to " in figure.summary
    assert [key.text for key in figure.keys] == ["alpha", "beta"]
    (body,) = table.bodies
    cells = {line.head: [cell.text for cell in line.cells] for line in body.lines}
    assert cells["gamma"] == ["75\u202f%", "–"] and cells["beta"] == ["–", "20\u202f%"]


def test_without_any_vote_the_table_stands_alone(tmp_path: Path) -> None:
    undefined = study.row("news", "alpha", "first_position_rate", None, **PLACE)
    (table,) = blocks(tmp_path, undefined)
    assert isinstance(table, PageTable) and table.caption == "The news, systems."


def test_more_judges_than_signs_are_all_drawn(tmp_path: Path) -> None:
    rows = [
        study.row("news", j, "first_position_rate", 0.5, **PLACE) for j in study.JUDGES
    ]
    figure, _ = blocks(tmp_path, *rows)
    assert len(study.JUDGES) > MOST_SIGNS and [key.text for key in figure.keys] == [
        "Fluency"
    ]
    assert all(f">{judge}" in figure.svg for judge in study.JUDGES)
    lines = [line.head for body in figure.table.bodies for line in body.lines]
    assert sorted(lines) == sorted(study.JUDGES)


def test_people_stand_beside_judges_and_each_system_has_its_strength(
    tmp_path: Path,
) -> None:
    content: Row = {"aspect": "fluency", "level": "pooled"}
    system: Row = {"aspect": "fluency", "level": "by_system"}
    tables = blocks(
        tmp_path,
        study.row("news", "human", "vote_agreement_ties", 0.8, **content),
        study.row("news", "alpha", "vote_agreement_ties", 0.6, **content),
        study.row("news", "alpha", "longer_excess", 0.25, **content),
        *(
            study.row("news", judge, "strength", value, **system, system_subset=name)
            for judge, value in (("human", 1.5), ("alpha", -0.5))
            for name in ("gpt", "llama")
        ),
        study.row("news", "alpha", "accuracy_comparison", 0.75, **system),
    )
    choices, figure = tables[-2:]
    assert figure.title == "The news, Fluency: strength of each system"
    assert [key.text for key in figure.keys] == [
        "people",
        "alpha",
    ] and ">llama" in figure.svg
    strengths = figure.table
    lines = {
        line.head: [cell.text for cell in line.cells]
        for b in choices.bodies
        for line in b.lines
    }
    assert lines["people"] == ["–", "80\u202f%", "–"]
    assert lines["alpha"] == ["–", "60\u202f%", "25\u202f%"]
    assert [column.text for column in strengths.columns] == ["people", "alpha"]
    rows = {
        line.head: [cell.text for cell in line.cells]
        for b in strengths.bodies
        for line in b.lines
    }
    assert rows["gpt"] == ["1.5", "−0.5"] and rows["pairs in order"][1] == "75\u202f%"


def test_peoples_own_position_is_not_the_worst_judges(tmp_path: Path) -> None:
    content: Row = {"aspect": "fluency", "level": "pooled"}
    rates = {"human": 0.95, "alpha": 0.6}
    figure = blocks(
        tmp_path,
        *(
            study.row("news", judge, "first_position_rate", v, **content)
            for judge, v in rates.items()
        ),
    )[0]
    assert "(alpha, fluency)" in figure.summary and [
        key.text for key in figure.keys
    ] == ["alpha"]


def test_every_aspect_is_named_where_people_chose_nothing(tmp_path: Path) -> None:
    aspects = ("fluency", "coherence")
    rows = [
        study.row("news", "alpha", "kappa_orders", 0.5, aspect=aspect, level="pooled")
        for aspect in aspects
    ]
    choices = blocks(tmp_path, *rows)[-1]
    assert [body.title.lower() for body in choices.bodies] == [*aspects]
