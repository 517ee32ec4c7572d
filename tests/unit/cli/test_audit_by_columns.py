"""The tables of an audit that are made from columns: those of a study's own jobs."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from judgescope.cli.audit import by_columns, study, table
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError, UserErrors
from judgescope.data import plain_table
from judgescope.scoring.computed import compute

Rows = list[dict[str, Any]]
N = 60


def texts(**columns: Callable[[int], object]) -> Rows:
    """Rows with an id, a system and a text, and further columns of the row's number."""
    rows = []
    for at in range(N):
        row: dict[str, Any] = {
            "id": f"q{at // 4}",
            "model": f"M {at % 4}",
            "answer": f"The answer {at} has words.",
        }
        rows.append(row | {name: cell(at) for name, cell in columns.items()})
    return rows


def drawn(*cells: object) -> Callable[[int], object]:
    """Cells that are drawn for each row."""
    rng = np.random.default_rng(len(cells))
    places = rng.integers(0, len(cells), N).tolist()
    return lambda at: cells[places[at]]


def without(rows: Rows, *names: str) -> Rows:
    return [{name: row[name] for name in row if name not in names} for row in rows]


SCORES = drawn(1, 2, 3, 4, 5)
PLAIN: dict[str, Rows] = {
    "two raters": texts(human_1=SCORES, human_2=drawn(1, 3, 5), gpt_score=SCORES),
    "missing": texts(human=drawn(1, 2, 5, "", "NA"), gpt_score=drawn(1, 2, 4, 5, "")),
    "off the scale": texts(human=SCORES, gpt_score=drawn(1, 2.5, 4, 7)),
    "labels": texts(human=drawn("pass", "fail"), gpt_label=drawn("pass", "fail", "")),
    "three labels": texts(
        human=drawn("poor", "fair", "good"), gpt_label=drawn("poor", "fair", "good")
    ),
    "threshold": texts(human=drawn("pass", "fail"), gpt_score=drawn(0.1, 0.4, 0.9)),
    "aspects": texts(
        clarity_ann=SCORES,
        clarity_ben=drawn(1, 2, ""),
        style_ann=drawn(1, 5),
        gpt_clarity=SCORES,
        gpt_style=drawn(2, 4, 5),
    ),
    "no systems": [
        {"question": f"Question {at}?", **row}
        for at, row in enumerate(
            without(texts(human=SCORES, gpt_score=SCORES), "id", "model")
        )
    ],
    "lengths": without(
        texts(tokens=drawn(5, 80, ""), human=SCORES, gpt_score=SCORES), "answer"
    ),
    "equal sources": texts(
        question=lambda at: f"What is {at // 8}?", human=SCORES, gpt_score=SCORES
    ),
    "nothing in place of texts": [
        row | {"answer": "nan" if at % 9 == 0 else row["answer"]}
        for at, row in enumerate(texts(human=SCORES, gpt_score=SCORES))
    ],
    "one name for two ids": [
        row | {"id": f"q.{at // 8}" if at % 8 < 4 else f"q-{at // 8}"}
        for at, row in enumerate(texts(human=SCORES, gpt_score=SCORES))
    ],
}
OTHER: dict[str, Rows] = {
    "draws": texts(human=SCORES, gpt_run1=SCORES, gpt_run2=drawn(1, 5)),
    "lists": texts(human=lambda at: json.dumps([at % 5 + 1, 3]), gpt_score=SCORES),
    "references": texts(
        reference=lambda at: f"A reference for {at // 4}.",
        human=SCORES,
        gpt_score=SCORES,
    ),
}


def written(rows: Rows, folder: Path) -> Path:
    file = folder / "mine.csv"
    with file.open("w", newline="", encoding="utf-8") as opened:
        lines = csv.DictWriter(opened, list(rows[0]))
        lines.writeheader()
        lines.writerows(rows)
    return file


def made(file: Path, folder: Path) -> dict[str, object]:
    """The tables from which all numbers of an audit are computed, by their names."""
    args = command_line().parse_args(["audit", str(file)])
    draft = table.draft_of(args, {})
    card = study.written(draft, folder / "study")
    study._report(draft, card, folder / "study", folder / "out", lambda *_: [])
    tables: dict[str, object] = {}
    for path in sorted((folder / "out").rglob("*")):
        name = str(path.relative_to(folder / "out"))
        if "judgments" in name or name.startswith("scores"):
            continue  # keys of replies and hashes, which no number depends on
        if path.suffix == ".parquet":
            tables[name] = pq.read_table(path).to_pylist()
        elif path.suffix == ".json":
            counts = json.loads(path.read_text("utf-8"))
            tables[name] = counts
            if isinstance(counts, dict):
                counts.pop("texts", None)  # for a later run, and there is none
    return tables


def made_from_rows(
    file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, object]:
    with monkeypatch.context() as patch:
        patch.setattr(by_columns, "ingest_plain", lambda *_: None)
        return made(file, folder)


@pytest.mark.parametrize("name", PLAIN)
def test_tables_from_columns_are_those_of_the_jobs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(PLAIN[name], tmp_path)
    expected = made_from_rows(file, tmp_path / "rows", monkeypatch)
    for job in ("ingest_all", "compute"):
        monkeypatch.delattr(study, job)
    tables = made(file, tmp_path / "columns")
    assert tables == expected
    assert any("collected" in each or "ratings" in each for each in tables)


@pytest.mark.parametrize("name", OTHER)
def test_tables_that_are_not_plain_are_left_to_the_jobs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(OTHER[name], tmp_path)
    used = []

    def noted(*spec: Any) -> None:
        used.append(spec)
        compute(*spec)

    monkeypatch.setattr(study, "compute", noted)
    made(file, tmp_path)
    assert used


def test_fault_has_the_message_of_the_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two texts of one item and system: which of them a score is of, nobody knows."""
    rows = texts(human=SCORES, gpt_score=SCORES)
    rows[7] = rows[7] | {"model": "M 0"}
    file = written(rows, tmp_path)
    messages = []
    for folder in ("rows", "columns"):
        ways = {"rows": made_from_rows, "columns": lambda *args: made(*args[:2])}
        with pytest.raises(UserErrors) as raised:
            ways[folder](file, tmp_path / folder, monkeypatch)
        messages.append(str(raised.value))
    assert messages[0] == messages[1] and "rows 6, 9" in messages[1]


def test_fault_in_a_large_table_is_not_read_again_by_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = texts(human=SCORES, gpt_score=SCORES)
    rows[7] = rows[7] | {"model": "M 0"}
    file = written(rows, tmp_path)
    monkeypatch.setattr(plain_table, "MOST_READ_AGAIN", N - 1)
    monkeypatch.delattr(study, "ingest_all")
    with pytest.raises(UserErrors, match="an item has two texts of the same system"):
        made(file, tmp_path)


@pytest.mark.parametrize("name", OTHER)
def test_large_table_that_is_not_plain_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "MOST_BY_ROWS", N - 1)
    for job in ("ingest_all", "compute"):
        monkeypatch.delattr(study, job)
    with pytest.raises(UserError, match="too large for an audit") as raised:
        made(written(OTHER[name], tmp_path), tmp_path)
    assert study.NOT_PLAIN in str(raised.value)


def test_too_many_sources_are_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(PLAIN["two raters"], tmp_path)
    args = command_line().parse_args(["audit", str(file)])
    monkeypatch.setattr(table, "MOST_SOURCES", N // 4)
    assert table.draft_of(args, {})
    monkeypatch.setattr(table, "MOST_SOURCES", N // 4 - 1)
    with pytest.raises(UserError, match="too large for an audit"):
        table.draft_of(args, {})


def test_large_table_with_a_bar_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(PLAIN["two raters"], tmp_path)
    args = command_line().parse_args(["audit", str(file)])
    monkeypatch.setattr(table, "MOST_BY_ROWS", N)
    assert table.draft_of(args, {"spearman": 0.5})
    monkeypatch.setattr(table, "MOST_BY_ROWS", N - 1)
    with pytest.raises(UserError, match="bars"):
        table.draft_of(args, {"spearman": 0.5})
