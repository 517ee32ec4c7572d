"""The notebook and the page about notebooks: their code runs where the demo's results
are.
"""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from running import HOME

FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(blocks: list[str], name: str) -> dict[str, object]:
    """Run pieces of code one after the other, as a notebook does; return their
    variables.
    """
    variables: dict[str, object] = {}
    for number, code in enumerate(blocks):
        exec(compile(code, f"{name}[{number}]", "exec"), variables)
    return variables


@pytest.mark.slow
def test_the_code_of_the_page_runs(
    demo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(demo)
    blocks = FENCE.findall((HOME / "docs" / "notebook.md").read_text(encoding="utf-8"))
    assert len(blocks) == 7 and len(blocks[4].splitlines()) > 5
    variables = run(blocks, "notebook.md")
    printed = capsys.readouterr().out
    for part in ("agreement (", "rouge-1", "kendall_b", "n_tied=", "D_exact"):
        assert part in printed, part
    table: Any = variables["results"].agreement  # type: ignore[attr-defined]
    [reported] = table.query(
        "dataset == 'demo-news' and judge == 'rules' and aspect == 'fluency' "
        "and statistic == 'normal_scores'"
    ).to_dict("records")
    recomputed: Any = variables["recomputed"]
    number = recomputed.loc[("normal_scores", "within_source")]
    for name in ("value", "ci_low", "ci_high", "n"):
        assert number[name] == pytest.approx(reported[name], abs=1e-12), name


@pytest.mark.heavy
def test_the_code_of_the_guide_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    guide = (HOME / "docs" / "guide" / "notebook.md").read_text(encoding="utf-8")
    blocks = FENCE.findall(guide)
    assert len(blocks) == 5
    run(blocks, "guide/notebook.md")
    printed = capsys.readouterr().out
    for part in ("rows: 60 rows", "judge=COLUMN", "balanced_accuracy", "tie_rate"):
        assert part in printed, part


@pytest.mark.slow
@pytest.mark.parametrize("folder", [".", "results"])
def test_the_notebook_runs(
    folder: str, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo / folder)
    text = (HOME / "docs" / "notebook.ipynb").read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in cells)
    variables = run([cell.source for cell in cells], "notebook.ipynb")
    lengths = [len(variables[name]) for name in ("best", "noticed")]  # type: ignore[arg-type]
    assert lengths[0] > 10 == lengths[1]


def test_the_page_has_no_more_than_150_lines() -> None:
    assert len((HOME / "docs" / "notebook.md").read_text("utf-8").splitlines()) <= 150
