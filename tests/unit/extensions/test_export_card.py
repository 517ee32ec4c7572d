"""The results card, and the blocks of the report as Markdown."""

import re
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.extensions.export.card import card
from judgescope.extensions.export.markdown import blocks, code, escaped, inline
from judgescope.report.cells import NO_WIDTH_TOLD, ReportCell
from judgescope.report.contents import sections_of
from judgescope.report.elements import (
    Body,
    CaseBlock,
    Fold,
    PageTable,
    Paragraph,
    TableColumn,
    TableLine,
)

NASTY = "a|b <script>alert(1)</script> `c` *d* _e_ [f](javascript:g)\n\n# h & \u202e"


def card_of(folder: Path, **changes: Any) -> str:
    return card(study.loaded(study.make(folder, **changes)))


@pytest.mark.heavy
def test_the_card_says_what_a_reader_has_to_know(tmp_path: Path) -> None:
    text = card_of(tmp_path)
    titles = re.findall(r"^## (.*)", text, re.M)
    assert titles == [
        *(
            "The judges",
            "Every claim",
            "Controls and limits",
            "Coverage",
            "Planned, not measured",
        ),
        *("Cost", "Data and licences", "Legend", "Limits", "How to reproduce"),
    ]
    for message in (
        "`judgescope run tiny.yaml`",
        "- **seed**: `7`",
        "- **licence**: MIT",
        "| `alpha` (lexical",
        r"0.600",
        r"\[0.500, 0.700\]",
        "n = 120",
        "(control; seeded random)",
        "- **°**: No width: leaving out any one source",
        r"judge:alpha\|stat:normal\_scores",
        "not applicable: needs ratings",
        "The authors planned the ratings of The news",
        "Few items in The news (24) and The chat (24)",
    ):
        assert message in text, message
    assert "## The judges\n\n**" in text and "Click" not in text


@pytest.mark.heavy
def test_the_same_results_give_the_same_card(tmp_path: Path) -> None:
    assert card_of(tmp_path) == card_of(tmp_path)


@pytest.mark.heavy
def test_limits_follow_from_what_the_study_is(tmp_path: Path) -> None:
    assert (
        "Judges that receive requests judged only a share of 0.25 of the items"
        in card_of(tmp_path, study={"share": 0.25})
    )
    assert "answered once" in card_of(tmp_path)
    none = {"engine": "lexical", "max_tokens": 0}
    only = dict.fromkeys(study.JUDGES, none)
    assert "nothing about LLM judges" in card_of(tmp_path, judges=only)
    assert "allows missing replies" in card_of(tmp_path, study={"allow_missing": True})


@pytest.mark.heavy
def test_a_number_that_is_missing_has_its_reason(tmp_path: Path) -> None:
    assert "– (constant judge)" in card_of(tmp_path)


@pytest.mark.heavy
def test_whatever_a_name_holds_is_text(tmp_path: Path) -> None:
    text = card_of(
        tmp_path,
        datasets={"chat": {"name": NASTY, "licence": NASTY, "citation": NASTY}},
    )
    assert "<script" not in text and "\u202e" not in text
    assert not re.search(r"(?<!\\)\]\(javascript", text) and "\n# h" not in text
    tables = [part for part in text.split("\n\n") if part.startswith("|")]
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1, "every row has as many cells as its heading"
    assert sum("a\\|b" in table for table in tables) > 1


def test_characters_that_mark_are_escaped_and_lines_stay_lines() -> None:
    assert escaped("a|b\n- c") == r"a\|b - c"
    assert (
        escaped("1. x") == r"1\. x"
        and escaped("0.5") == "0.5"
        and escaped("- x") == r"\- x"
    )
    assert escaped("<b>&`~$") == r"&lt;b&gt;&amp;\`\~\$"
    assert code("a`b") == r"a\`b" and code("a|b") == r"a\|b" and code("a b") == "`a b`"
    assert inline("control `x<y` (1) and `z`") == "control `x<y` (1) and `z`"
    assert inline("an odd ` tick <b>") == r"an odd \` tick &lt;b&gt;"


def test_a_table_has_its_caption_bodies_and_notes() -> None:
    line = TableLine(
        "j",
        [ReportCell("0.5", interval="[0.4, 0.6]", notes=("1 missing",), mark="†")],
        "m",
        "b",
    )
    table = PageTable(
        "C `x`.", "Judge", [TableColumn("r", group="G")], [Body([line], "T")], ["N."]
    )
    assert "\n".join(blocks([Fold("More", [table]), Paragraph("P", ["i"])])) == (
        "#### More\n\n*C `x`.*\n\n| Judge | G: r |\n| --- | --- |\n| **T** |  |\n"
        "| `j` (b; m) | 0.5 † \\[0.4, 0.6\\] (1 missing) |\n\nN.\n\n\nP\n\n- i\n"
    )


def test_an_interval_without_width_is_explained_below_its_table() -> None:
    line = TableLine("j", [ReportCell("1.0", interval="[1.0, 1.0]°")])
    [*_, last, _] = blocks(
        [PageTable("C.", "Judge", [TableColumn("r")], [Body([line])])]
    )
    assert last == inline(NO_WIDTH_TOLD)


@pytest.mark.heavy
def test_every_block_of_the_report_can_be_written(tmp_path: Path) -> None:
    sections = sections_of(study.loaded(study.make(tmp_path)))
    assert len({block.kind for section in sections for block in section.blocks}) > 5
    assert all(blocks(section.blocks) for section in sections)


def test_a_block_without_markdown_is_refused() -> None:
    with pytest.raises(TypeError, match="kind case has no Markdown"):
        blocks([CaseBlock("t", "p", [], [])])
