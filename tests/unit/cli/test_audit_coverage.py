"""Corrected means of an audit in the worlds of the benchmark, a few studies of each."""

import pytest

from planted_study import benchmark

audits = benchmark("audit_corrected")
STUDIES = 2


@pytest.mark.simulation
def test_corrected_means_hold_the_truth_where_the_judge_alone_does_not() -> None:
    """24 studies: 20 or more held is not refuted for a coverage of .93 or more."""
    every = [audits.coverage(world, STUDIES) for world in audits.worlds()]
    shown = sum(each.shown for each in every)
    assert shown >= 20
    assert sum(each.held for each in every) >= shown - 4
    assert sum(each.naive for each in every) <= shown / 2
