"""The commands of the base run without any package of an extra."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import running
from judgescope.core.extras import COME_ALONG, EXTRAS
from waiting import patience

HIDE = f"""
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {[*EXTRAS, *COME_ALONG]!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Hidden())
"""
"""An import of such a name then fails, as where its extra is not installed."""
pytestmark = pytest.mark.heavy


def judgescope(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command without the packages of all extras."""
    code = f"sys.argv = {['judgescope', *words]!r}\n"
    code += "from judgescope.cli.main import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", HIDE + code],
        cwd=folder,
        env=running.environment(),
        capture_output=True,
        text=True,
        timeout=patience(60),
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy2(running.HOME / "docs/tutorial/summaries.csv", tmp_path / "mine.csv")
    shutil.copy2(running.HOME / "config/demo/hanna.csv", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["init", "mine.csv", "--study", "mine", "--yes"],
        ["new", "--demo"],
        ["cards"],
        ["audit", "hanna.csv", "--human", "relevance=relevance_rater_1", "--html"],
    ],
    ids=lambda words: words[0],
)
def test_a_command_of_the_base_needs_no_extra(folder: Path, words: list[str]) -> None:
    if words[-1] == "--html":
        words = [*words, "page.html", "--judge", "relevance_judge_chatgpt"]
    done = judgescope(folder, *words)
    assert done.returncode == 0, done.stderr


def test_export_reads_a_study_without_an_extra(folder: Path) -> None:
    """Only what draws pages, or makes texts with Snakemake, needs one."""
    judgescope(folder, "init", "mine.csv", "--study", "mine", "--yes")
    export = ["export", "config/studies/mine.yaml"]
    tables = judgescope(folder, *export, "tables", "agreement")
    assert tables.returncode == 1
    assert "this study has no results yet" in tables.stderr
    made = judgescope(folder, *export, "targets", "texts.jsonl")
    assert made.returncode == 1
    assert "needs Snakemake" in made.stderr and "[workflow]" in made.stderr


def test_a_function_of_the_library_names_its_extra(tmp_path: Path) -> None:
    """A notebook shows the error, with what to do in its last line."""
    code = "import judgescope as js\njs.agreement([1, 2, 3], [1, 2, 3])"
    done = subprocess.run(
        [sys.executable, "-c", HIDE + code],
        cwd=tmp_path,
        env=running.environment(),
        capture_output=True,
        text=True,
        timeout=patience(60),
        check=False,
    )
    assert done.returncode == 1
    assert "UserError: a table as a DataFrame needs the package pandas" in done.stderr
    assert "[notebook]" in done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "extra", "status"),
    [
        (["run", "study.yaml"], "workflow", 1),
        (["check", "study.yaml"], "workflow", 1),
        (["compare", "study.yaml", "study.yaml"], "workflow", 1),
        (
            ["init", "mine.csv", "--yes", "--endpoint", "http://x/v1", "--model", "m"],
            "workflow",
            1,
        ),
        (["audit", "mine.xlsx"], "formats", 3),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_another_names_its_extra(
    folder: Path, words: list[str], extra: str, status: int
) -> None:
    (folder / "mine.xlsx").write_bytes(b"PK")
    shutil.copy2(running.HOME / "config/config.yaml", folder / "study.yaml")
    done = judgescope(folder, *words)
    assert done.returncode == status, done.stderr
    assert f"[{extra}]" in done.stderr and "Traceback" not in done.stderr
