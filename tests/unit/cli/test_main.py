"""The errors of a command line that is no longer, or not quite, a command; and of a job's name."""

import subprocess
import sys
from pathlib import Path

import pytest

import running
from judgescope.cli import main


def error_of(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
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
        (["export", "s.yaml", "tables", "t", "t.tex", "--columns", "aspects"], "'aspect'?"),
    ],
)
def test_an_unknown_command_names_the_nearest(
    words: list[str],
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert hint in error_of(words, monkeypatch, capsys)


def test_a_command_like_no_other_names_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = error_of(["xyzzy"], monkeypatch, capsys)
    assert "did you mean" not in said and "'compare'" in said


def test_a_renamed_command_names_its_new_form(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = error_of(["votes", "make", "s.yaml", "pages"], monkeypatch, capsys)
    assert "`judgescope votes make` is now `judgescope people pairs make`" in said
    assert "votes make" not in error_of(["votes"], monkeypatch, capsys)


@pytest.mark.parametrize("words", [["run", "--quick"], ["show", "s.yaml", "--quick"]])
def test_a_renamed_option_names_its_new_form(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    renames = tmp_path / "renames.csv"
    rows = ["kind,old,new", "command,run --quick,pilot", "command,show --quick,show --rows 1"]
    renames.write_text("\n".join(rows), encoding="utf-8")
    monkeypatch.setattr(main, "RENAMES", renames)
    assert f"`judgescope {words[0]} --quick` is now" in error_of(words, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("words", "problem"), [([], "no job is named"), (["scor"], "there is no job 'scor'")]
)
def test_a_job_without_a_known_name_says_which_there_are(words: list[str], problem: str) -> None:
    script = str(running.HOME / "scripts" / "job.py")
    done = subprocess.run([sys.executable, script, *words], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(f"{problem}: ") and done.stderr.count("\n") == 1
    assert " score," in done.stderr
