"""Williams' test."""

import math

import pytest

from metajudge.statistics.dependent import williams
from vectors import load


def test_vector() -> None:
    [vector] = [v for v in load("multiple_testing_williams") if v["id"] == "williams"]
    found = williams(**vector["inputs"])
    assert found == pytest.approx(vector["expected"]["p_two_sided"], rel=1e-9)


def test_it_is_symmetric_and_grows_surer_with_n() -> None:
    assert williams(0.6, 0.5, 0.8, 50) == pytest.approx(williams(0.5, 0.6, 0.8, 50))
    assert williams(0.6, 0.5, 0.8, 200) < williams(0.6, 0.5, 0.8, 50) < 1
    assert williams(0.6, 0.6, 0.8, 50) == 1
    assert williams(0.6, 0.5, 0.9, 50) < williams(0.6, 0.5, 0.2, 50)


def test_what_has_no_test() -> None:
    assert math.isnan(williams(0.6, 0.5, 0.8, 3))
    with pytest.raises(ValueError, match="no correlations"):
        williams(1.2, 0.5, 0.8, 30)
