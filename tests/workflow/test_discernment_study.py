"""Wang et al. (2024): all 59 cells, against a scripted writer and a planted judge."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import dhp
import llama
import trusting
from running import needs_data, rows

pytestmark = [pytest.mark.slow, pytest.mark.long(40)]

ITEMS = 40
SMALL = ["story-cloze", "answer-equivalence", "wmt22-de-en"]
MADE = ("fictional-entities", "grammatical-errors", "rewriting-insertion")
CHARACTERS = ("random-deletions", "random-typos")
Row = dict[str, Any]


def made_rows(results: Path, statistic: str) -> dict[tuple[str, str, str], Row]:
    return {
        (row["dataset"], row["perturbation"], row["degree"]): row
        for row in rows(results, "perturbations")
        if row["statistic"] == statistic
    }


@pytest.fixture(scope="module")
def finished_study(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Path, Counter[str]]]:
    folder = tmp_path_factory.mktemp("dhp")
    dhp.write_data(folder / "public")
    dhp.link_data(folder / "public")
    study = dhp.few_items(folder, ITEMS, judges=["steps", "rules"])
    with dhp.endpoint(study) as script:
        done = study.snakemake()
    assert done.returncode == 0, done.stdout[-4000:]
    assert sum(trusting.held(folder, "study.yaml").values())
    yield study.out, script.kinds


@needs_data
def test_every_text_of_all_59_cells_is_made_and_judged(
    finished_study: tuple[Path, Counter[str]],
) -> None:
    results, kinds = finished_study
    done = made_rows(results, "share_ok")
    assert len(done) == 59 and {row["n"] for row in done.values()} == {ITEMS}
    written = {cell: row["value"] for cell, row in done.items() if cell[1] in MADE}
    assert len(written) == 26 and set(written.values()) == {1.0}
    assert kinds["texts"] == 26 * ITEMS
    for judge in ("steps", "rules"):
        scored = [
            row
            for row in rows(results, "discernment")
            if row["statistic"] == "D_exact"
            and row["judge"] == judge
            and row["perturbation"]
        ]
        assert len(scored) == 59 and all(row["value"] is not None for row in scored)
        for name in (
            "D_avg",
            "D_avg_ew",
            "D_avg_exact",
            "D_min",
            "D_min_ew",
            "D_min_exact",
        ):
            table = [
                row
                for row in rows(results, "discernment")
                if row["statistic"] == name and row["judge"] == judge
            ]
            assert len(table) == 6 and all(
                row["ci_low"] <= row["ci_high"] for row in table
            )


@needs_data
def test_the_planted_judge_discerns_misspellings_in_fluency_and_nothing_else(
    finished_study: tuple[Path, Counter[str]],
) -> None:
    results, _ = finished_study
    by_key = {
        (row["dataset"], row["perturbation"], row["degree"], row["aspect"]): row[
            "value"
        ]
        for row in rows(results, "discernment")
        if row["statistic"] == "p_wilcoxon" and row["judge"] == "steps"
    }
    seen = {cell for cell in by_key if cell[1] in CHARACTERS and cell[3] == "fluency"}
    assert len(seen) == 18 and all(by_key[cell] <= 0.05 for cell in seen)
    chance = [p for cell, p in by_key.items() if cell not in seen]
    assert len(chance) == 145
    # 7 of 145 by chance, in clusters: all perturbations of a dataset have the same
    # originals
    assert 0 < sum(p <= 0.05 for p in chance) < 18
    # the preset names fluency alone for these cells: their D_exact is that of its p
    exact = {
        (row["dataset"], row["perturbation"], row["degree"]): row["value"]
        for row in rows(results, "discernment")
        if row["statistic"] == "D_exact"
        and row["judge"] == "steps"
        and row["perturbation"]
    }
    assert all(exact[cell[:3]] >= 1 for cell in seen)


def test_noise_instead_of_texts_is_recorded_as_failed_and_no_number_covers_it(
    tmp_path: Path,
) -> None:
    llama.require()
    dhp.write_data(tmp_path / "public")
    # Noise would else end each set after its first ten texts.
    study = dhp.few_items(
        tmp_path, 12, datasets=SMALL, judges=["rules", "length"], allow_missing=True
    )
    llama.write_random_gguf(tmp_path / "random.gguf")
    with llama.serve(tmp_path / "random.gguf", context=4096) as url:
        noise = {"name": llama.MODEL, "extra_body": llama.GIBBERISH}
        study.connect(url, "generator", limits={"concurrency": 2}, **noise)
        for name in MADE:
            study.change("perturbations", name, max_tokens=60)
        done = study.run()
    assert done.returncode == 0, done.stdout[-4000:]
    results = study.out
    failed = made_rows(results, "share_failed")
    written = {cell for cell in failed if cell[1] in MADE}
    assert len(written) == 10
    assert {cell for cell, row in failed.items() if row["value"] == 1} == written
    path = results / "made" / "wmt22-de-en" / "fictional-entities.minor.parquet"
    # Every reply is kept: three for each of the first texts, none for the other two.
    assert pq.read_table(path).num_rows == 10 * 3
    table = rows(results, "discernment")
    for row in table:
        cell = (row["dataset"], row["perturbation"], row["degree"])
        if cell in written:
            assert row["value"] is None
            assert row["note"] == "no text could be made (10 failed)"
    headlines = [
        row for row in table if row["statistic"].startswith(("D_avg", "D_min"))
    ]
    assert len(headlines) == 2 * 6 * len(SMALL)
    # The study allows that cells are missing; each number says how many it lacks.
    notes = [row["note"] for row in headlines]
    assert all(note.startswith("without fictional-entities.") for note in notes)
    scored = [
        row
        for row in table
        if row["statistic"] == "D_exact" and row["value"] is not None
    ]
    assert {row["perturbation"] for row in scored} == {
        *("random-deletions", "random-typos", "random-word-deletions"),
        *("random-ending", "wrong-ending", "random-answer"),
    }
