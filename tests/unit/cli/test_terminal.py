"""Tables in the terminal: alignment, and colours only where a person looks."""

import re

import pytest

from judgescope.cli.terminal import (
    COLOURS,
    aligned,
    plain,
    plural,
    printed,
    with_commas,
)
from judgescope.report.cells import NO_WIDTH_TOLD, ReportCell
from judgescope.report.elements import Body, PageTable, TableColumn, TableLine

ROWS = [
    ["judge", "κ", "n"],
    ["a", "0.5 [0.4, 0.6]", "1,200"],
    ["longer", "-", "8"],
    ["b2", "\u22120.25 [\u22120.3, 0]°", ""],
]


def test_numbers_are_to_the_right_and_words_to_the_left() -> None:
    assert aligned(ROWS) == [
        f"judge   {'κ':>16}      n",
        f"a       {'0.5 [0.4, 0.6]':>16}  1,200",
        f"longer  {'-':>16}      8",
        "b2      \u22120.25 [\u22120.3, 0]°",
    ]
    assert aligned([["1", "a 1"], ["10", "b"]], titled=False) == [" 1  a 1", "10  b"]


def test_colours_change_no_character(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = aligned(ROWS)
    monkeypatch.setattr("judgescope.cli.terminal.coloured", lambda: True)
    shown = aligned(ROWS)
    assert [re.sub(r"\x1b.*?m", "", line).rstrip() for line in shown] == bare
    assert (
        f"{COLOURS.bold}judge {COLOURS.reset}" in shown[0]
        and f"0.5 {COLOURS.faint}[0.4, 0.6]{COLOURS.reset}" in shown[1]
    )


def test_numbers_have_commas_and_nouns_their_number() -> None:
    assert [plural(n, "text") for n in (0, 1, 2085)] == [
        "0 texts",
        "1 text",
        "2,085 texts",
    ]
    table = PageTable(
        "What.",
        "Judge",
        [TableColumn("n")],
        [Body([TableLine("a", [ReportCell("1\u202f000\u202f%")])])],
    )
    assert printed(table)[-1].split() == ["a", "1,000", "%"]
    assert with_commas("5\u202f000 of 12\u202f000\u202f000") == "5,000 of 12,000,000"
    assert with_commas(plain("more than 10\u202f000\x1b[1m")) == "more than 10,000 [1m"


def test_a_table_is_printed_with_caption_groups_and_notes() -> None:
    flat = ReportCell("1.000", interval="[1.000, 1.000]°", mark="†")
    none = ReportCell("–", notes=("constant judge",))
    bodies = [
        Body([TableLine("alpha", [flat, none])], "Judges"),
        Body([TableLine("x\ny", [none, flat])]),
    ]
    table = PageTable(
        "What.",
        "Judge",
        [TableColumn("r", group="Pooled"), TableColumn("ρ")],
        bodies,
        ["† Below."],
    )
    caption, blank, titles, group, alpha, other, *notes = printed(table)
    assert (caption, blank, group, notes) == (
        "What.",
        "",
        "Judges",
        ["† Below.", NO_WIDTH_TOLD],
    )
    assert titles.split("  ")[0] == "Judge" and "Pooled: r" in titles
    assert "1.000 [1.000, 1.000]° †" in alpha and "– (constant judge)" in alpha
    assert other.startswith("x y ")
