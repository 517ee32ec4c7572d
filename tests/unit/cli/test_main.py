"""The errors of a command line that is no longer, or not quite, a command; and of a
job's name.
"""

import errno
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import running
from judgescope import __version__
from judgescope.cli import main
from judgescope.cli.completion import commands_of


def error_of(
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """Return what is printed of a wrong command line."""
    monkeypatch.setattr(sys, "argv", ["judgescope", *words])
    with pytest.raises(SystemExit) as caught:
        main.main()
    assert caught.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["rnu"], "'rnu', did you mean 'run'? (choose from 'run', 'check'"),
        (["people", "weigths", "make"], "did you mean 'weights'?"),
        (["replies", "verfy"], "did you mean 'verify'?"),
        (["run", "s.yaml", "t.csv"], "snakemake FILE --configfile s.yaml"),
        (
            ["check", "-n", "s.yaml", "--cores=2", "t.csv"],
            "takes one study, not also t.csv",
        ),
        (["run", "--sensitivty"], "did you mean --sensitivity?"),
        (
            ["export", "s.yaml", "tables", "t", "t.tex", "--columns", "aspects"],
            "'aspect'?",
        ),
    ],
)
def test_an_unknown_command_names_the_nearest(
    words: list[str],
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert hint in error_of(words, monkeypatch, capsys)


def test_a_study_without_its_file_is_suggested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(running.HOME)
    error = error_of(["run", "sumeval"], monkeypatch, capsys)
    assert "Did you mean config/studies/summeval.yaml? Name the study first" in error
    assert "mean" not in error_of(["run", "xyzzy"], monkeypatch, capsys)
    assert "Did you mean config/config.yaml?" in error_of(
        ["run", "demo"], monkeypatch, capsys
    )
    assert "prices" not in error_of(["run", "price"], monkeypatch, capsys)


def test_a_command_like_no_other_names_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = error_of(["xyzzy"], monkeypatch, capsys)
    assert "did you mean" not in error and "'compare'" in error


def test_the_help_lists_every_command_in_its_group_on_a_single_screen() -> None:
    lines = main.command_line().format_help().splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    commands = dict(commands_of(main.command_line()))
    assert {name for name in commands if name and " " not in name} == {
        name for names in main.groups().values() for name in names
    }
    for group, (first, *others) in main.groups().items():
        [at] = [n for n, line in enumerate(lines) if line.startswith(group)]
        names = [
            line.removeprefix(group).split()[0]
            for line in lines[at : at + 1 + len(others)]
        ]
        assert names == [first, *others]


def test_an_option_without_a_command_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "name a command before --studie" in error_of(
        ["--studie"], monkeypatch, capsys
    )


def test_a_folder_that_cannot_be_written_says_where_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "./.config-jb2ho93k")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("judgescope.cli.init.cards.TemporaryDirectory", refuse)
    rows = "".join(f"{n},s,The text number {n}.,{1 + n % 5}\n" for n in range(12))
    Path("t.csv").write_text(f"id,system,text,fluency\n{rows}", encoding="utf-8")
    words = ["init", "t.csv", "--yes", "--task", "dialogue", "--scale", "1:5"]
    monkeypatch.setattr(sys, "argv", ["judgescope", *words])
    with pytest.raises(SystemExit):
        main.main()
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        "no permission to read or write",
        f"  where:   {tmp_path / 'config'}",
    ]
    assert lines[2].startswith(
        "  do:      run the command in a folder in which you may"
    )


@pytest.mark.heavy
def test_a_job_whose_reader_has_gone_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code = (
        "from judgescope.plan.jobs import run\ndef show(spec: dict) -> None: "
        "print(spec)\nrun(show)"
    )
    words = [sys.executable, "-c", code, "--spec", "-"]
    completed = subprocess.run(
        words, input="{}", stdout=writer, stderr=-1, text=True, check=False
    )
    os.close(writer)
    assert (completed.returncode, completed.stderr) == (0, "")


def test_output_in_ascii_loses_characters_and_does_not_fail() -> None:
    words = [sys.executable, "-m", "judgescope", "init", "--help"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "ASPECT=COLUMN,?" in done.stdout, done.stderr


def test_judgescope_alone_prints_the_help_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert error_of([], monkeypatch, capsys) == main.command_line().format_help()


@pytest.mark.heavy
def test_the_version_names_python_and_snakemake_without_importing_it() -> None:
    asked = "import sys; sys.argv = ['judgescope', '--version']\nimport atexit\n"
    asked += "atexit.register(lambda: print('snakemake' in sys.modules))\n"
    asked += "from judgescope.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    version, imported = done.stdout.splitlines()
    assert done.returncode == 0 and imported == "False"
    python = ".".join(map(str, sys.version_info[:3]))
    assert version == (
        f"judgescope {__version__}, Python {python}, Snakemake "
        f"{metadata.version('snakemake')}"
    )


@pytest.mark.parametrize(
    ("words", "problem"), [([], "no job is named"), (["scor"], "unknown job 'scor'")]
)
def test_a_job_without_a_known_name_lists_the_known_names(
    words: list[str], problem: str
) -> None:
    script = str(running.HOME / "scripts" / "job.py")
    done = subprocess.run(
        [sys.executable, script, *words], capture_output=True, text=True
    )
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(f"{problem}: ") and done.stderr.count("\n") == 1
    assert " score," in done.stderr


@pytest.mark.heavy
def test_a_file_name_that_is_not_utf_8_prints_escaped(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.csv")

    def audit() -> str:
        done = subprocess.run(
            [sys.executable, "-m", "judgescope", "audit", name],
            cwd=tmp_path,
            env=running.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout

    assert r"where:   caf\xe9.csv" in audit()
    table = running.HOME / "docs" / "tutorial" / "verdicts.csv"
    (tmp_path / name).write_bytes(table.read_bytes())
    assert audit().startswith(r"caf\xe9.csv: 60 rows")
