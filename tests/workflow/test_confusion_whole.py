"""Hu et al. (2024): all 18 perturbations through all 11 aspects, on shipped texts."""

import csv
from pathlib import Path
from typing import Any

import pytest

import confusing
import llama
import trusting
from confusing import SETS
from judgescope.perturb.edit_checks import KINDS
from report_setup import text_of_pages
from running import rows
from shelf import printed
from study import Study
from vectors import SHARED, published

pytestmark = [pytest.mark.slow, pytest.mark.long(30)]

ITEMS = 12
NEWS = SETS[0]
RECORDED: dict[str, Any] = {
    **{"engine": "recorded", "dataset": NEWS, "files": "scores.csv"},
    "rows": {"target": "target", "aspect": "aspect", "scores": {"*": "score"}},
}
Row = dict[str, Any]


def slugs(row: dict[str, str]) -> tuple[str, str]:
    """Return the ids of a published row's perturbation and aspect."""
    aspect = row["aspect"].replace("Overall quality", "Overall")
    return row["perturbation"].lower().replace(" ", "-"), aspect.lower()


def write_recorded(study: Study, table: list[dict[str, str]]) -> None:
    """Write a judge whose recorded scores drop as the published table has it."""
    by_key = {
        (f"{slugs(row)[0]}.single", slugs(row)[1]): float(row["delta"]) for row in table
    }
    by_key |= {("original", aspect): 0.0 for _, aspect in [*by_key]}
    scores = study.folder / "config" / "models" / "scores.csv"
    with scores.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["target", "aspect", "score"])
        for number in range(1, 13):
            for (location, aspect), delta in by_key.items():
                writer.writerow([f"cn{number:02}:{location}", aspect, 4 - delta])
    study.card("judges", "table-4", model="table-4")
    study.card("models", "table-4", **RECORDED)


@pytest.fixture(scope="module")
def finished_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    published_there = (SHARED / "reference" / "s001_table4.csv").exists()
    judges = ["clear", "mixed"] + ["table-4"] * published_there
    study = confusing.few_news(
        tmp_path_factory.mktemp("confusing"), ITEMS, criteria=[], judges=judges
    )
    with confusing.endpoint(study):
        study.change("judges", "ten-draws", judge="mixed", draws=3)
        if published_there:
            write_recorded(study, published("s001_table4"))
        done = study.snakemake()
    assert done.returncode == 0, done.stdout[-4000:]
    assert sum(trusting.held(study.folder, "study.yaml").values())
    return study.out


def headline(results: Path, judge: str, statistic: str) -> Row:
    (row,) = (
        row
        for row in rows(results, "confusion")
        if (row["judge"], row["statistic"]) == (judge, statistic) and not row["aspect"]
    )
    return row


def test_every_text_is_perturbed(finished_study: Path) -> None:
    made = [
        row
        for row in rows(finished_study, "perturbations")
        if row["statistic"] == "share_ok"
    ]
    assert [row["value"] for row in made] == [1] * 18 and {
        row["n"] for row in made
    } == {ITEMS}


def test_the_judge_that_knows_what_should_drop_has_index_0_and_the_other_1(
    finished_study: Path,
) -> None:
    clear, mixed = (
        headline(finished_study, judge, "confusion_index")
        for judge in ("clear", "mixed")
    )
    assert clear["value"] == 0 and clear["method"].startswith(
        "57 wanted drops, 130 unwanted"
    )
    assert mixed["value"] == pytest.approx(1, abs=0.25) and mixed["ci_low"] > 0.5
    for name, value in (("s_t_mean", 2), ("s_f_mean", 0), ("confusion_auc", 1)):
        assert headline(finished_study, "clear", name)["value"] == value


def test_a_published_table_comes_back_from_recorded_scores(
    finished_study: Path,
) -> None:
    table = published("s001_table4")
    names = {"s_t_mean": "s_t", "s_f_mean": "s_f", "confusion_index": "ratio"}
    for name, short in (names | {"confusion_auc": "auc"}).items():
        value = printed("confusion-table-4", statistic=short)
        assert headline(finished_study, "table-4", name)["value"] == pytest.approx(
            value, abs=5e-5
        )
    deltas = {
        (row["perturbation"], row["aspect"]): row["value"]
        for row in rows(finished_study, "confusion")
        if row["statistic"] == "delta" and row["judge"] == "table-4"
    }
    assert deltas == {slugs(row): pytest.approx(float(row["delta"])) for row in table}


def test_noise_instead_of_texts_fails_every_made_cell_and_says_so(
    tmp_path: Path,
) -> None:
    llama.require()
    aspects = ["fluency", "coherence"]
    study = confusing.few_news(
        tmp_path,
        2,
        criteria=[],
        judges=["rules"],
        aspects=aspects,
        allow_missing=True,
    )
    results = study.out
    llama.write_random_gguf(tmp_path / "random.gguf")
    with llama.serve(tmp_path / "random.gguf", context=8192) as url:
        noise = {"name": llama.MODEL, "extra_body": llama.GIBBERISH}
        study.connect(url, "generator", limits={"concurrency": 2}, **noise)
        for kind in KINDS:
            study.change("perturbations", kind.replace("_", "-"), max_tokens=60)
        done = study.run()
    assert done.returncode == 0, done.stdout[-4000:]
    made = [
        row
        for row in rows(results, "perturbations")
        if row["statistic"] == "share_failed"
    ]
    failed = {row["perturbation"] for row in made if row["value"] == 1}
    assert failed == {kind.replace("_", "-") for kind in KINDS}
    table = [row for row in rows(results, "confusion") if row["perturbation"] in failed]
    assert len(table) == 14 * 2
    for row in table:
        assert (
            row["value"] is None and "no text could be made (2 failed)" in row["note"]
        )
    index = headline(results, "rules", "confusion_index")
    assert index["value"] is None and "cells that have no score" in index["note"]
    page = text_of_pages(results / "report")
    assert "no text could be made" in page
