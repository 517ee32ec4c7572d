"""A study's cells as blocks: the same cells, and short enough for a command line."""

import json

from hypothesis import given
from hypothesis import strategies as st

from judgescope.core.cells import pack, unpack

NAMES = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(st.tuples(NAMES, NAMES, NAMES), unique=True))
def test_the_same_cells_come_back(cells: list[tuple[str, str, str]]) -> None:
    assert sorted(unpack(pack(cells))) == sorted(cells)


def test_a_large_study_fits_a_command_line() -> None:
    cells = [
        (f"perturbation-{p}.minor", f"some-judge-{j}", f"aspect-{a}.criterion-{c}")
        for p in range(40)
        for j in range(60)
        for a in range(6)
        for c in range(5)
        if j % 7 or a < 3  # some judges know fewer aspects
    ]
    assert len(cells) > 50_000
    assert len(json.dumps(pack(cells))) < 16 * 1024
