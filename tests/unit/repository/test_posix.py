"""`audit` and `import judgescope` load nothing that only POSIX has."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

import running

HIDDEN = ("fcntl", "resource", "termios", "pwd", "grp")
HIDE = f"import sys\nfor name in {HIDDEN!r}:\n    sys.modules[name] = None\n"
"""An import of such a name then fails, as on a system that lacks the module."""
pytestmark = pytest.mark.heavy


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HIDE + code],
        cwd=folder,
        env=running.environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_modules_are_hidden(tmp_path: Path) -> None:
    done = python("import fcntl", tmp_path)
    assert done.returncode == 1 and "fcntl" in done.stderr


def test_the_library_is_imported(tmp_path: Path) -> None:
    code = "import judgescope as js\nprint([bool(getattr(js, n)) for n in js.PUBLIC])"
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "False" not in done.stdout


def test_a_table_in_memory_is_audited(tmp_path: Path) -> None:
    code = (
        "import judgescope as js\n"
        "rows = [{'human': 1 + n % 5, 'judge': 1 + n % 4} for n in range(40)]\n"
        "print(js.audit(rows))"
    )
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("rows: 40 rows, 2 columns")


@pytest.mark.parametrize("options", [[], ["--json"], ["--html", "page.html"]])
def test_a_table_is_audited(tmp_path: Path, options: list[str]) -> None:
    with (tmp_path / "ratings.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["source", "system", "human_a", "human_b", "gpt_score"])
        for number in range(30):
            quality = 1 + number % 5
            people = [quality, 1 + (number * 7) % 5]
            row = [f"s{number // 2}", "ab"[number % 2], *people, quality]
            table.writerow(row)
    words = ["judgescope", "audit", "ratings.csv", *options]
    code = f"sys.argv = {words!r}\nfrom judgescope.cli.main import main\nmain()"
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Quality" in done.stdout or "overall" in done.stdout.lower()
