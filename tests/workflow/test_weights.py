"""Expert weights of aspects, from their card to D_ew."""

from math import isclose, log
from pathlib import Path
from typing import Any

import pytest
import yaml

from judgescope.core.errors import UserErrors
from judgescope.schema.loading import read_card
from running import rows, snakemake
from study import Study

TABLE = "results/small/tables/discernment.csv"
OWN = {"dialogue": {"random-typos": {"naturalness": 1.0}}}


def write_weights(folder: Path, tasks: dict[str, Any]) -> Path:
    path = folder / "config" / "weights" / "mine.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    card = {"weights": "mine", "name": "Mine", "tasks": tasks}
    path.write_text(yaml.safe_dump(card), encoding="utf-8")
    return path


@pytest.mark.parametrize("wrong", [{"a": 0.5, "b": 0.4}, {"a": 1.5, "b": -0.5}, {}])
def test_weights_sum_to_one(wrong: dict[str, float], tmp_path: Path) -> None:
    path = write_weights(tmp_path, {"story": {"typos": wrong}})
    with pytest.raises(UserErrors, match=r"tasks.story.typos: .*sum to 1"):
        read_card("weights", path)


@pytest.mark.slow
def test_a_weighted_study_weighs_what_its_card_names_and_nothing_else(tmp_path: Path) -> None:
    write_weights(tmp_path, OWN)
    keys = {"judges": ["rules"], "methods": ["discernment"], "weights": "mine"}
    study = Study(tmp_path).write(**keys)
    done = snakemake("--configfile", str(study), "--", TABLE, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    found = rows(tmp_path / "results" / "small", "discernment")
    value = {
        (row["perturbation"], row["degree"], row["statistic"], row["aspect"]): row for row in found
    }
    for degree in ("minor", "major"):
        typos = {name: value["random-typos", degree, name, ""] for name in ("D", "D_ew", "D_exact")}
        [own] = [
            row["value"]
            for key, row in value.items()
            if key == ("random-typos", degree, "p_asymptotic", "naturalness")
        ]
        # one aspect has all the weight: its own p is the combined one
        assert isclose(typos["D_ew"]["value"], -log(own) / log(20), rel_tol=1e-9)
        assert typos["D_ew"]["method"].startswith("2 aspects, weights naturalness 1")
        assert "|weights:mine@" in typos["D"]["signature"]
        other = value["reordering", degree, "D_ew", ""]
        assert "uniform weights (mine@" in other["method"]
        difference = value["reordering", degree, "D", ""]["value"] - other["value"]
        assert isclose(difference, log(2) / log(20), rel_tol=1e-9)


@pytest.mark.slow
def test_a_weight_on_an_aspect_that_nobody_judges_is_a_mistake(tmp_path: Path) -> None:
    write_weights(tmp_path, {"dialogue": {"random-typos": {"natural": 1.0}}})
    study = Study(tmp_path).write(judges=["rules"], methods=["discernment"], weights="mine")
    done = snakemake("--configfile", str(study), "-n", cwd=tmp_path)
    assert done.returncode != 0
    for part in ("weights/mine.yaml, key tasks.dialogue.random-typos", "nearest: naturalness"):
        assert part in done.stdout
