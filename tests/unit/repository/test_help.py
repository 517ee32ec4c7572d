"""The help of every command, and every command line that help and documents show."""

import re
import shlex
from pathlib import Path

import pytest

import running
from judgescope.cli.completion import commands_of, examples
from judgescope.cli.main import command_line

HOME = Path(__file__).resolve().parents[3]
COMMANDS = dict(commands_of(command_line()))
SHOWN = re.compile(r"^\s*\$?\s*(?:\.venv/bin/)?judgescope (.+)$")
PLAIN = {"run", "check", "draft", "pilot", "targets", "distill"}
"""Commands that hand further options to Snakemake."""


def lines_of(text: str) -> list[str]:
    """Return what stands after `judgescope` in lines of their own; a backslash goes
    on.
    """
    result = re.sub(r"\\\n\s*", "", text)
    return [
        observed[1] for line in result.splitlines() if (observed := SHOWN.match(line))
    ]


def blocks(path: Path) -> list[str]:
    """Return the command lines of a document's code: indented, or between fences."""
    text = re.sub(r"\\\n\s*", "", path.read_text(encoding="utf-8"))
    inside, kept = False, []
    for line in text.splitlines():
        inside ^= line.startswith("```")
        if inside or line.startswith("    "):
            kept.append(line)
    return lines_of("\n".join(kept))


def check(words: str) -> None:
    _, passed = command_line().parse_known_args(shlex.split(words, comments=True))
    assert not passed or words.split()[0] in PLAIN, f"{words}: {passed}"
    assert all(name.startswith("--") for name in passed[:1])


@pytest.mark.heavy
@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_help_of_a_command_ends_with_examples_that_are_read(command: str) -> None:
    examples = lines_of(COMMANDS[command].epilog or "")
    assert examples and all(
        example.startswith(command.split(" ")[0]) for example in examples
    )
    for example in examples:
        check(example)
    assert (
        COMMANDS[command].format_help().rstrip().endswith(shlex.split(examples[-1])[-1])
    )


def test_no_example_is_of_a_command_that_does_not_exist() -> None:
    assert examples().keys() <= COMMANDS.keys()


DOCUMENTS = [
    HOME / "README.md",
    HOME / "config" / "README.md",
    *sorted(HOME.glob("docs/**/*.md")),
]
GENERATED = HOME / "docs" / "reference"


@pytest.mark.parametrize(
    "path",
    [path for path in DOCUMENTS if path.parent != GENERATED],
    ids=lambda path: str(path.relative_to(HOME)),
)
def test_command_lines_in_documents_are_read(path: Path) -> None:
    for block in blocks(path):
        check(block.replace("<study>", "study.yaml"))


def test_documents_with_command_lines_are_detected() -> None:
    assert sum(len(blocks(path)) for path in DOCUMENTS) > 10


@pytest.mark.heavy
@pytest.mark.parametrize(
    "words", [["--help"], ["init", "--help"], ["replies", "show", "--help"]]
)
def test_help_is_printed(words: list[str], tmp_path: Path) -> None:
    done = running.run("-m", "judgescope", *words, cwd=tmp_path)
    assert done.returncode == 0 and "example" in done.stdout


@pytest.mark.heavy
def test_an_unknown_command_or_option_names_those_that_there_are(
    tmp_path: Path,
) -> None:
    done = running.run("-m", "judgescope", "rum", cwd=tmp_path)
    assert done.returncode == 2 and "'run'" in done.stdout
    done = running.run(
        "-m", "judgescope", "init", "--texts", "a", "--yes", cwd=tmp_path
    )
    assert done.returncode == 2 and "--texts" in done.stdout
