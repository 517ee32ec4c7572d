"""Publications whose files could not be had run on small files in the same layout."""

import json
from pathlib import Path
from typing import Any

import pytest

from judgescope.extensions.reproduce import reproduce
from judgescope.extensions.reproduce.reproduce import SHELF, compare

pytestmark = pytest.mark.slow

ASPECTS = {
    "coherence": "coh",
    "consistency": "con",
    "fluency": "flu",
    "relevance": "rel",
}
ITEMS = 6
SYSTEMS = 16


def texts() -> list[dict[str, Any]]:
    """Return rated texts in the layout of UniEval's file."""
    rows = []
    for item in range(ITEMS):
        for system in range(SYSTEMS):
            rating = 1 + (item * 5 + system * 7) % 13 / 3
            row = {
                "doc_id": f"d{item}",
                "system_id": f"M{system}",
                "source": f"Article {item} was long.",
                "reference": f"Summary of {item}.",
                "system_output": f"Text {item} by {system}.",
                "scores": dict.fromkeys([*ASPECTS, "overall"], rating),
            }
            rows.append(row)
    return rows


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files in their layouts; judges rate as people do."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "data"
    rows = texts()
    write(folder / "summeval" / "summeval.json", rows)
    scored = [row | {"predict_scores": row["scores"]} for row in rows]
    write(folder / "summeval" / "summeval_result.json", scored)
    for aspect, short in ASPECTS.items():
        replied = []
        for row in rows:
            rating = row["scores"][aspect]
            low = int(rating)
            # Twenty whole numbers, and one reply that begins with no number.
            n_high = round(19 * (rating - low))
            values = [str(low + 1)] * n_high + [f" {low}\n"] * (19 - n_high) + ["None"]
            replied.append(row | {"all_responses": values, "prompt": "asked"})
        write(folder / "recorded" / "geval" / f"gpt4_{short}_detailed.json", replied)
    return folder


@pytest.mark.long(14)
@pytest.mark.parametrize("name", ["unieval-summeval", "geval-summeval"])
def test_every_figure_has_a_row(name: str, data: Path) -> None:
    outcome = compare(SHELF / f"{name}.yaml", str(data))
    printed = reproduce.read_csv(SHELF / f"{name}.csv")
    assert len(outcome.figures) == len(printed)
    for figure in outcome.figures:
        assert figure.ours == pytest.approx(1, abs=0.02), figure
        assert figure.row["n"]
