"""The section on slices, doubted labels, and what to do next about them."""

from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.report.contents import section_named
from judgescope.report.elements import (
    Fold,
    NextStep,
    PageBlock,
    PageTable,
    Paragraph,
    Section,
)
from judgescope.report.next_steps import next_steps
from judgescope.report.report import Report
from judgescope.report.rows import ReportRows

Row = dict[str, Any]
NAME = "normal_scores"
WHERE: Row = {"aspect": "fluency", "level": "within_source"}
SLICES = {
    "topic: law": (0.1, -0.5, 0.004, 0.2),
    "topic: news": (0.6, 0.4, 0.01, 0.5),
    "length: longest third": (0.4, -0.1, 0.8, 0.4),
}


def rows(p: float = 0.004) -> list[Row]:
    """Return rows of slices.csv of one judge; p is that of the first slice."""
    values = [study.row("chat", "alpha", NAME, 0.5, **WHERE)]
    values.append(study.row("chat", "alpha", f"slice_shown_from_{NAME}", 0.18, **WHERE))
    for at, (name, (value, gap, own_part, moved)) in enumerate(SLICES.items()):
        numbers = {
            NAME: value,
            f"slice_gap_{NAME}": gap,
            f"slice_p_holm_{NAME}": own_part if at else p,
            f"slice_shrunk_{NAME}": moved,
        }
        for statistic, number in numbers.items():
            values.append(
                study.row("chat", "alpha", statistic, number, slice=name, **WHERE)
            )
    few = {"slice": "topic: art", "note": "too few: 4 sources"}
    values.append(study.row("chat", "alpha", NAME, None, **few, **WHERE))
    return values


def doubts() -> list[Row]:
    where = {"aspect": "fluency", "level": "pooled"}
    return [
        study.row("chat", "human", "rating_doubt", value, target=target, **where)
        for target, value in {"t1": -3.2, "t2": 2.5}.items()
    ]


def report(folder: Path, message: list[Row], **tables: list[Row]) -> Report:
    made = {"slices": message, "verdicts": [], **tables}
    return study.loaded(study.make(folder, made))


def section(folder: Path, message: list[Row]) -> Section:
    made = section_named("slices", report(folder, message))
    assert made is not None
    return made


def items(made: Section) -> list[str]:
    [result] = [b for b in made.blocks if isinstance(b, Paragraph) and b.items]
    return [*result.items]


def folds(made: Section) -> list[Fold]:
    return [block for block in made.blocks if isinstance(block, Fold)]


def test_the_worst_slice_is_named_with_its_shrunk_number(tmp_path: Path) -> None:
    [sentence] = items(section(tmp_path, rows()))
    for words in ("`alpha` is worse on topic: law", "shrunk", "Holm p", "1 slice too"):
        assert words in sentence


def test_without_a_single_the_smallest_difference_that_shows_is_reported(
    tmp_path: Path,
) -> None:
    [sentence] = items(section(tmp_path, rows(p=0.3)))
    assert "no slice is shown to be worse" in sentence
    assert "a difference of 0.18" in sentence and "4 of 5 studies" in sentence


def test_each_slice_has_a_line_under_its_column(tmp_path: Path) -> None:
    made = section(tmp_path, rows())
    tables = [block for block in made.blocks if isinstance(block, PageTable)]
    assert [body.title for body in tables[0].bodies] == ["", "length", "topic"]
    heads = [line.head for line in tables[0].bodies[2].lines]
    assert heads == ["art", "law", "news"]
    assert [len(fold.blocks) for fold in folds(made)] == [3]


def test_contradicting_slices_are_a_warning(tmp_path: Path) -> None:
    result = rows()
    result[0]["note"] = "warning: every slice of topic points the other way"
    made = section(tmp_path, result)
    warned = [b for b in made.blocks if isinstance(b, Paragraph) and b.style]
    assert [b.text for b in warned] == [
        "`alpha`: every slice of topic points the other way."
    ]


def test_doubted_texts_lead_to_their_judgments(tmp_path: Path) -> None:
    [fold] = folds(section(tmp_path, [*doubts()]))
    assert "2 texts to look at" in fold.summary
    result, table = fold.blocks
    assert isinstance(result, Paragraph) and "Judges err together" in result.text
    assert isinstance(table, PageTable)
    first, second = table.bodies[0].lines
    assert "target=t1" in first.href and first.cells[2].text == "worse"
    assert second.cells[2].text == "better"


@pytest.mark.parametrize(("judges", "share"), [(2, "34"), (3, "15")])
def test_a_list_of_labels_says_how_much_of_it_is_in_vain(
    tmp_path: Path, judges: int, share: str
) -> None:
    labels = [{**row, "statistic": "label_doubt", "n": judges} for row in doubts()]
    [fold] = folds(section(tmp_path, labels))
    explanation, _ = fold.blocks
    assert isinstance(explanation, Paragraph)
    assert f"{share}\u202f% of the listed labels were right" in explanation.text


def test_without_a_list_the_page_says_why(tmp_path: Path) -> None:
    where = {"aspect": "fluency", "level": "pooled"}
    note = "no list: 1 of 2 judges are better than chance"
    nothing = study.row("chat", "human", "rating_doubt", None, note=note, **where)
    made = section(tmp_path, [*rows(), nothing])
    texts = [block.text for block in made.blocks if isinstance(block, Paragraph)]
    assert any(f"label or judge? {note}." in text for text in texts)
    assert len(folds(made)) == 1


def steps(made: Report) -> list[NextStep]:
    block: PageBlock | None = next_steps(made)
    return [*block.steps] if block else []  # type: ignore[attr-defined]


def test_a_worse_slice_is_a_next_step(tmp_path: Path) -> None:
    [step] = steps(report(tmp_path, rows()))
    assert "leave topic: law to people" in step.point


@pytest.mark.parametrize(("low", "shown"), [(0.2, True), (-0.1, False)])
def test_a_shown_bias_is_a_next_step(low: float, shown: bool, tmp_path: Path) -> None:
    where = {"aspect": "fluency", "level": "by_source", "system_subset": "s1"}
    bias = study.row(
        "chat", "alpha", "judge_bias", 0.5, ci_low=low, ci_high=0.8, **where
    )
    made = steps(report(tmp_path, rows(p=0.3), corrected=[bias]))
    assert bool(made) is shown
    if made:
        assert "report the corrected means" in made[0].point
        assert "of s1" in made[0].why


def test_no_rows_name_nothing(tmp_path: Path) -> None:
    from judgescope.report.worse_slices import worse_slice

    assert worse_slice(ReportRows()) is None
    assert section_named("slices", report(tmp_path, [])) is None
