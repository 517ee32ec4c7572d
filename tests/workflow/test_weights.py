"""Expert weights of aspects, from their card to D_ew."""

from math import isclose, log
from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserError, UserErrors
from judgescope.schema.loading import read_card
from study import Study

OWN = {"dialogue": {"random-typos": {"naturalness": 1.0}}}


def weighted(folder: Path, tasks: dict[str, Any]) -> Study:
    """Return a study that uses weights of its own."""
    study = Study(folder, judges=["rules"], methods=["discernment"], weights="mine")
    study.card("weights", "mine", name="Mine", tasks=tasks)
    study.write()
    return study


@pytest.mark.parametrize("wrong", [{"a": 0.5, "b": 0.4}, {"a": 1.5, "b": -0.5}, {}])
def test_weights_sum_to_1(wrong: dict[str, float], tmp_path: Path) -> None:
    weighted(tmp_path, {"story": {"typos": wrong}})
    with pytest.raises(UserErrors, match=r"tasks.story.typos: .*sum to 1"):
        read_card("weights", tmp_path / "config/weights/mine.yaml")


@pytest.mark.slow
def test_a_weighted_study_weighs_what_its_card_names_and_nothing_else(
    tmp_path: Path,
) -> None:
    study = weighted(tmp_path, OWN)
    done = study.make("discernment")
    assert done.returncode == 0, done.stdout
    rows = study.rows("discernment")
    value = {
        (row["perturbation"], row["degree"], row["statistic"], row["aspect"]): row
        for row in rows
    }
    for degree in ("minor", "major"):
        typos = {
            name: value["random-typos", degree, name, ""]
            for name in ("D", "D_ew", "D_exact")
        }
        [number] = [
            row["value"]
            for key, row in value.items()
            if key == ("random-typos", degree, "p_asymptotic", "naturalness")
        ]
        # one aspect has all the weight: its own p is the combined one
        assert isclose(typos["D_ew"]["value"], -log(number) / log(20), rel_tol=1e-9)
        assert typos["D_ew"]["method"].startswith("2 aspects, weights naturalness 1")
        assert "|weights:mine@" in typos["D"]["signature"]
        other = value["reordering", degree, "D_ew", ""]
        assert "uniform weights (mine@" in other["method"]
        difference = value["reordering", degree, "D", ""]["value"] - other["value"]
        assert isclose(difference, log(2) / log(20), rel_tol=1e-9)


def test_a_weight_on_an_aspect_that_nobody_judges_is_a_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = weighted(tmp_path, {"dialogue": {"random-typos": {"natural": 1.0}}})
    with pytest.raises(UserError) as caught:
        study.plan()
    for part in (
        "weights/mine.yaml:4, key tasks.dialogue.random-typos",
        "nearest: naturalness",
    ):
        assert part in str(caught.value)
    study.card("weights", "mine", name="Mine", tasks=OWN)
    assert study.plan().weights is not None
