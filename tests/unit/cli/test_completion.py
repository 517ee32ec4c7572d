"""Completion scripts: what a shell offers after some words."""

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from judgescope.cli.completion import SHELLS, commands_of, script, words_of
from judgescope.cli.main import command_line

PARSER = command_line()


def offered(folder: Path, *words: str, shell: str = "bash") -> set[str]:
    """Return what bash offers for the last word."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    line = " ".join(shlex.quote(word) for word in ("judgescope", *words))
    lines = [
        script(shell, PARSER),
        f"COMP_WORDS=({line}); COMP_CWORD={len(words)}",
        "_judgescope",
        "printf '%s\\n' \"${COMPREPLY[@]}\"",
    ]
    done = subprocess.run(
        ["bash", "--norc", "-c", "\n".join(lines)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_commands_actions_options_and_files_are_offered(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").touch()
    assert offered(tmp_path, "ru") == {"run", "run.yaml"}
    assert {"run", "check", "batch", "--version"} <= offered(tmp_path, "")
    assert offered(tmp_path, "batch", "st") == {"status"}
    assert offered(tmp_path, "people", "pairs", "im") == {"import"}
    assert "--statistic" in offered(tmp_path, "show", "run.yaml", "--s")
    assert offered(tmp_path, "batch", "fetch", "r") == {"run.yaml"}
    assert offered(tmp_path, "completion", "f") == {"fish"}


def test_a_value_that_is_named_like_a_command_is_none(tmp_path: Path) -> None:
    assert "--file" in offered(tmp_path, "replies", "show", "batch", "--")


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_in_every_script(shell: str) -> None:
    text = script(shell, PARSER)
    for name, command in commands_of(PARSER):
        commands, options = words_of(command)
        known = [
            line
            for line in text.splitlines()
            if all(word in line for word in name.split())
        ]
        for word in [*commands, *(option.removeprefix("--") for option in options)]:
            assert any(word in line for line in known), (name, word)


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_read_their_scripts(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(script(shell, PARSER), encoding="utf-8")
    done = subprocess.run(
        [shell, "-n", str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
