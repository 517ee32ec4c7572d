"""Marked errors: their places are found, and whatever else changed is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.perturb.candidates import marked_edits, unmarked
from judgescope.perturb.edits import Edit, apply_edits, undone_edits

TEXT = "The mill opened in May. It makes flour. People like it."


def test_each_mark_is_an_edit_and_the_text_is_what_they_make() -> None:
    marked = (
        "The mill opened in <error>1803</error>. It makes flour. <error>Cats "
        "sleep.</error> People <error>likes</error> it."
    )
    edits, problem = marked_edits(marked, TEXT, 3)
    assert problem is None
    assert edits == [
        Edit(18, " May", " 1803"),
        Edit(39, " ", " Cats sleep. "),
        Edit(46, " like ", " likes "),
    ]
    assert apply_edits(TEXT, edits) == unmarked(marked)
    assert undone_edits(unmarked(marked), edits) == TEXT


@pytest.mark.parametrize(
    ("marked", "text"),
    [
        (
            "The mill opened in May. <error></error> People like it.",
            "in May. People like it.",
        ),
        (
            "<error></error> It makes flour. People like it.",
            "It makes flour. People like it.",
        ),
        (
            "The mill opened in May. It makes flour.<error></error>",
            "May. It makes flour.",
        ),
    ],
)
def test_what_is_left_out_leaves_a_single_blank(marked: str, text: str) -> None:
    edits, problem = marked_edits(marked, TEXT, 1)
    assert problem is None
    assert unmarked(marked).endswith(text)
    assert apply_edits(TEXT, edits) == unmarked(marked)


@pytest.mark.parametrize(
    ("marked", "wanted", "problem"),
    [
        (TEXT, 1, "0 errors are marked, not 1"),
        (
            "<error>A</error> mill opened in May. It makes flour. People like it.",
            2,
            "1 errors",
        ),
        (
            "<error>A</error> mill opened in May. It makes bread. People like it.",
            1,
            "not the text",
        ),
        ("<error>A</error> mill opened in May. It makes flour.", 1, "not the text"),
        (
            "The mill opened in <error>May</error>. It makes flour. People like it.",
            1,
            "as it was",
        ),
        (
            "The <error>mill <error>x</error> opened</error> in May. It",
            1,
            "its marks are not",
        ),
        (
            "The <ERROR>x</ERROR> opened in May. It makes flour. People like it.",
            0,
            "its marks are",
        ),
    ],
)
def test_what_cannot_be_used_says_why(marked: str, wanted: int, problem: str) -> None:
    assert problem in str(marked_edits(marked, TEXT, wanted)[1])


@given(
    parent=st.text(max_size=60), marked=st.text(alphabet="ab <>/error.", max_size=60)
)
def test_any_reply_is_read_and_what_is_used_is_the_parent_with_its_edits(
    parent: str, marked: str
) -> None:
    for wanted in range(3):
        edits, problem = marked_edits(marked, parent, wanted)
        if problem is None and parent == parent.strip():
            assert apply_edits(parent, edits) == unmarked(marked)


def test_error_is_placed_at_its_mark_even_if_the_words_repeat() -> None:
    marked = "the <error>dog the</error> the <error>floor</error>"
    edits, problem = marked_edits(marked, "the cat sat on the mat", 2)
    assert problem is None
    assert [edit.after for edit in edits] == [" dog the ", " floor"]
    assert apply_edits("the cat sat on the mat", edits) == unmarked(marked)
