"""What commands say of files that are none of theirs, and when nobody reads on."""

import subprocess
from pathlib import Path

import pytest

import running
from running import HOME


def judgescope(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; it has nothing to read from."""
    return subprocess.run(
        [running.python(), "-m", "judgescope", *words],
        cwd=folder,
        env=running.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.heavy
@pytest.mark.parametrize(
    "words",
    [
        ("export", "table.csv", "card", "x.md"),
        ("replies", "show", "table.csv"),
        ("show", "table.csv"),
        ("check", "nowhere.yaml"),
        ("show", "nowhere.yaml"),
    ],
)
def test_a_file_that_is_no_study_is_named_without_a_traceback(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "table.csv").write_text("id,text\n1,one\n", encoding="utf-8")
    done = judgescope(tmp_path, *words)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    named = next(word for word in words if "." in word)
    assert named in done.stderr


@pytest.mark.heavy
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "there.md").mkdir()
    study = str(HOME / "config" / "config.yaml")
    done = judgescope(tmp_path, "export", study, "card", "there.md", "--force")
    assert done.returncode == 1 and "Traceback" not in done.stderr
