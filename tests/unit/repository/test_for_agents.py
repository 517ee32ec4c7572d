"""llms.txt and SKILL.md: short, and every command in them works."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import running
from running import HOME
from waiting import patience

DOCUMENTS = {"llms.txt": 60, "SKILL.md": 120}
"""Document -> the most lines that it may have."""
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPECTED = {"--require": 1}
"""Option -> the exit code that the document announces for it; of other commands 0."""


def code_of(name: str, language: str) -> list[str]:
    """Return the lines of shell commands, or the blocks of Python, of a document."""
    text = (HOME / name).read_text("utf-8")
    blocks = [match[2] for match in BLOCK.finditer(text) if match[1] == language]
    if language == "python":
        return blocks
    return [line for block in blocks for line in block.splitlines() if line]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_for_agents_is_short(name: str) -> None:
    text = (HOME / name).read_text("utf-8")
    assert len(text.splitlines()) <= DOCUMENTS[name]
    assert len(code_of(name, "sh")) >= 5


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_files_that_it_names_exist(name: str) -> None:
    text = (HOME / name).read_text("utf-8")
    named = set(re.findall(r"\b(?:docs|workflow)/[\w./-]+\w", text))
    assert named
    for path in named:
        assert (HOME / path).exists(), path


@pytest.mark.heavy
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_command_runs_in_an_empty_folder(name: str, tmp_path: Path) -> None:
    for line in code_of(name, "sh"):
        program, *words = shlex.split(line)
        assert program == "judgescope"
        expected = next((EXPECTED[word] for word in words if word in EXPECTED), 0)
        done = running.run("-m", program, *words, cwd=tmp_path)
        assert done.returncode == expected, f"{line}\n{done.stdout}"


@pytest.mark.heavy
def test_the_python_of_the_skill_runs(tmp_path: Path) -> None:
    blocks = code_of("SKILL.md", "python")
    assert blocks
    for block in blocks:
        done = subprocess.run(
            [sys.executable, "-c", block],
            cwd=tmp_path,
            env=running.environment(),
            capture_output=True,
            text=True,
            timeout=patience(60),
            check=False,
        )
        assert done.returncode == 0, done.stderr
