"""`audit` and `import judgescope` load nothing that only POSIX has, and an audit
nothing that fills prompts.
"""

import csv
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import running

HIDDEN = ("fcntl", "resource", "termios", "pwd", "grp")
NOT_FOR_AUDITS = (
    "jinja2",
    "asyncio",
    "judgescope.engines.openai",
    "judgescope.replies.asking",
    "judgescope.prompts.filling",
)
"""What fills prompts and asks models; it takes as long to import as a small audit."""
pytestmark = pytest.mark.heavy


def python(
    code: str, folder: Path, hidden: Sequence[str] = HIDDEN
) -> subprocess.CompletedProcess[str]:
    """Run code in which an import of a hidden name fails, as on a system that lacks
    the module.
    """
    hide = f"import sys\nfor name in {tuple(hidden)!r}:\n    sys.modules[name] = None\n"
    return subprocess.run(
        [sys.executable, "-c", hide + code],
        cwd=folder,
        env=running.environment(),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", [*HIDDEN, *NOT_FOR_AUDITS])
def test_the_modules_are_hidden(tmp_path: Path, name: str) -> None:
    done = python(f"import {name}", tmp_path, hidden=[name])
    assert done.returncode == 1 and name in done.stderr


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
    # A page is a template.
    unneeded = () if "--html" in options else NOT_FOR_AUDITS
    done = python(code, tmp_path, hidden=[*HIDDEN, *unneeded])
    assert done.returncode == 0, done.stderr
    assert "Quality" in done.stdout or "overall" in done.stdout.lower()
