"""A study of a table without texts, with a column of lengths, run whole."""

from pathlib import Path

import numpy as np
import pytest

from audit_setup import write
from init_setup import card
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.schema.tables import read_table
from running import run

pytestmark = pytest.mark.slow


def table() -> list[dict[str, object]]:
    """Return 60 texts of 12 sources, whose length shows quality better than the
    judge.
    """
    rng, rows = np.random.default_rng(8), []
    for at in range(60):
        quality = int(rng.integers(1, 6))
        row: dict[str, object] = {"id": f"q{at // 5}", "model": f"s{at % 5}"}
        row |= {"human_1": quality, "human_2": quality}
        row["gpt_score"] = int(np.clip(quality + rng.integers(-2, 3), 1, 5))
        row["tokens"] = 50 * quality + int(rng.integers(-9, 10)) if at else ""
        rows.append(row)
    return rows


def test_a_study_uses_the_lengths_of_a_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(table(), Path("mine.csv"))
    words = ["--rating", "fluency=human_1,human_2", "--metric", "gpt_score"]
    words += ["--item", "id", "--length", "tokens", "--yes"]
    done = run("-m", "judgescope", "init", "mine.csv", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert card("datasets", "mine")["columns"]["length"] == "tokens"
    done = run("-m", "judgescope", "run", "config/studies/mine.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout

    def rows(name: str, judge: str) -> dict[str, ReportRow]:
        path = Path("results", "mine", "tables", f"{name}.parquet")
        values = ReportRows.of_table(read_table("results", path)).where(judge=judge)
        left = ("by_source", "by_system")
        return {row.statistic: row for row in values if row.level not in left}

    verdict = rows("verdicts", "gpt_score")
    assert verdict["verdict"].note.startswith("not_shown; length")
    assert (verdict["p_length"].value or 0) > 0.5
    assert (verdict["p_chance"].value or 1) < 0.025
    assert "length_not_tested" not in verdict["verdict"].note
    agreement = rows("agreement", "gpt_score")
    for name in ("partial_pearson", "partial_spearman"):
        assert agreement[name].n == 59 and agreement[name].value is not None
    control = rows("agreement", "length")["spearman"]
    assert control.n == 59 and (control.value or 0) > 0.8
    pages = Path("results", "mine", "report").rglob("*.html")
    report = "".join(page.read_text("utf-8") for page in pages)
    assert "not shown to be better than the texts" in report
    assert "1 text without a length" in report
