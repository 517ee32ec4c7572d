"""Made texts at the edges: the limits of length, the first reason, ends that
overlap.
"""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgescope.engines.requests import Reply, Request
from judgescope.perturb.edits import edit_between
from judgescope.perturb.writing import Replies, checked, make_texts

short = st.text("ab", max_size=4)


@pytest.mark.parametrize(
    ("length", "fits"), [(49, False), (50, True), (200, True), (201, False)]
)
def test_half_and_double_the_length_still_fit(length: int, fits: bool) -> None:
    problem = checked(Reply("k", 0, "x" * length), "y" * 100, ["length"])[1]
    assert (problem is None) == fits


@pytest.mark.parametrize("checks", [["differs", "length"], ["length", "differs"]])
def test_the_first_reason_is_the_first_checks(checks: list[str]) -> None:
    problem = checked(Reply("k", 0, "a" + " " * 9 + "b"), "a b", checks)[1] or ""
    assert problem.startswith(
        {"differs": "it is the same", "length": "it has 3.67"}[checks[0]]
    )


def test_a_text_that_failed_is_the_parent_again_and_equal_parents_share_a_reply() -> (
    None
):
    def ask_for(item: str, parent: str, problem: str | None) -> Request:
        return Request({"messages": [{"role": "user", "content": parent}]}, about=item)

    def obtain(requests: Sequence[Request]) -> Replies:
        return {(request.key, 0): Reply(request.key, 0, "No.") for request in requests}

    parents = {"a": "The cat sat.", "b": "The cat sat."}
    result = make_texts(
        parents, ask_for=ask_for, obtain=obtain, checks=["length"], attempts=1
    )
    assert [(each.text, each.reply.text) for each in result.values()] == [
        ("The cat sat.", "No.")
    ] * 2
    assert {each.request.key for each in result.values()} == {result["a"].request.key}


@given(short, short, short, short)
@example("a", "a", "", "")
@example("ab", "ab", "", "ab")
def test_an_edit_between_equal_ends_is_right_where_they_could_overlap(
    start: str, before: str, after: str, end: str
) -> None:
    """Texts of two letters with a shared start and end: both may claim the same
    letters.
    """
    old, new = start + before + end, start + after + end
    for offset, gone, come in edit_between(old, new):
        assert old[:offset] + come + old[offset + len(gone) :] == new
        assert old[offset:].startswith(gone)
        assert len(gone) <= len(before) and len(come) <= len(after)
    assert len(edit_between(old, new)) == (old != new)
