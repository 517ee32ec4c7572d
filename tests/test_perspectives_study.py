"""A study of perspectives on two rated datasets of one's own, run whole."""

import csv
from pathlib import Path

import numpy as np
import pytest
import yaml

from judgescope.methods.measures import AVERAGE
from judgescope.methods.overall import OVERALL
from running import rows, snakemake, write_study

pytestmark = pytest.mark.slow
RATERS = ["r1", "r2", "r3"]


def write_dataset(folder: Path, name: str, seed: int, items: int = 12) -> None:
    """Write items of 4 systems with three raters, who often agree, and the dataset's card."""
    rng = np.random.default_rng(seed)
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "source", "system", "text", *RATERS])
        for item in range(items):
            for system in range(4):
                rating = rng.integers(1, 6)
                ratings = np.clip(rating + rng.choice([0, 0, 0, 0, 1], 3), 1, 5)
                text = "word " * int(rating + rng.integers(0, 3))
                table.writerow([f"i{item}", f"Source {item}.", f"s{system}", text, *ratings])
    card = {
        **{"dataset": name, "name": name, "task": "summarization", "format": "table"},
        **{"files": f"../../{name}.csv", "licence": "none", "citation": "none"},
        "columns": {
            **{"item": "id", "source": "source", "system": "system", "text": "text"},
            "ratings": {"fluency": RATERS},
        },
        "aspects": {"fluency": {"min": 1, "max": 5, "step": 1}},
    }
    path = folder / "config" / "datasets" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(card), encoding="utf-8")


def test_two_datasets_make_up_an_overall_table_and_a_section(tmp_path: Path) -> None:
    for seed, name in enumerate(("first", "second")):
        # of so many items at least ten, whose texts are rated alike, make an interval
        write_dataset(tmp_path, name, seed, items=20)
    study = write_study(
        tmp_path,
        datasets=["first", "second"],
        aspects=[],
        judges=["length"],  # the other controls come by themselves
        perturbations=[],
        methods=["perspectives"],
    )
    done = snakemake("--configfile", str(study), cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-4000:]
    results = tmp_path / "results" / "small"
    found = {
        (row["dataset"], row["judge"], row["statistic"]): row
        for row in rows(results, "perspectives")
        if row["aspect"] == AVERAGE and row["judge_b"] is None
    }
    for judge, name in (("random", "kappa_linear"), ("length", "accuracy_adjacent")):
        each = [found[dataset, judge, name] for dataset in ("first", "second")]
        row = found[OVERALL, judge, name]
        assert row["value"] == pytest.approx(np.mean([one["value"] for one in each]))
        assert row["lo"] < row["value"] < row["hi"]
        width = min(one["hi"] - one["lo"] for one in each)
        assert row["hi"] - row["lo"] < width  # two datasets tell more than one
    assert found[OVERALL, "length", "rank_accuracy_adjacent"]["value"] == 1
    page = (results / "report" / "index.html").read_text(encoding="utf-8")
    assert "All datasets" in page and "mean over datasets: ranks by these means." in page
