"""action.yml: its steps in a shell with a runner's variables, and the example."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from action import ACTION, Runner
from audit_setup import made, passed, write
from running import HOME

SECRET = "top secret text"
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Return a runner where the package is already installed; see also the wheel's
    lane.
    """
    made_runner = Runner(tmp_path, HOME)
    programs = made_runner.temp / "judgescope" / "bin"
    programs.mkdir(parents=True)
    parent = Path(sys.executable).parent
    for name in ("python", "judgescope"):
        start = f'#!/bin/sh\nexec "{parent / name}" "$@"\n'
        (programs / name).write_text(start, encoding="utf-8")
        os.chmod(programs / name, 0o755)
    write(made(), made_runner.folder / "ratings.csv")
    return made_runner


@pytest.mark.heavy
def test_a_missed_bar_fails_the_step_and_is_annotated(runner: Runner) -> None:
    done = runner.step(
        "Audit", file="ratings.csv", require="spearman=.9\nkappa_linear=.5"
    )
    assert done.returncode == 1 and done.stderr == ""
    lines = done.stdout.splitlines()
    levels = [re.match("::([a-z]+) file=ratings.csv", line) for line in lines]
    result = [level[1] for level in levels if level is not None]
    assert result == ["error", "warning", *["notice"] * 10] and len(result) == len(
        lines
    )
    assert runner.outputs["exit-code"] == "1"
    assert runner.outputs["verdict"] == "misses"
    content = json.loads(Path(runner.outputs["json"]).read_text("utf-8"))
    assert content["exit_code"] == 1 and "text" not in content["disagreements"][0]
    assert "### Rows to read" in runner.summary_file.read_text("utf-8")


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("require", "status", "verdict"),
    [
        ("", 0, "no bar"),
        ("spearman=.1 pearson=.1", 0, "meets"),
        ("kappa_linear=.5", 2, "cannot tell"),
        ("no_such_statistic=.5", 3, "cannot be used"),
    ],
)
def test_the_outputs_say_the_verdict(
    runner: Runner, require: str, status: int, verdict: str
) -> None:
    done = runner.step("Audit", file="ratings.csv", require=require)
    assert done.returncode == status
    assert runner.outputs["verdict"] == verdict
    assert runner.outputs["exit-code"] == str(status)


@pytest.mark.heavy
def test_a_passport_runs_the_gate(runner: Runner) -> None:
    done = runner.step("Audit", file="study.yaml", passport="-judge.json")
    assert done.returncode == 3 and "file not found" in done.stdout
    assert runner.outputs["verdict"] == "cannot be used"
    programs = runner.temp / "judgescope" / "bin"
    for status, verdict in enumerate(("nothing moved", "moved", "cannot tell")):
        program = programs / "judgescope"
        program.write_text(f'#!/bin/sh\necho "$@" >&2\nexit {status}\n', "utf-8")
        done = runner.step(
            "Audit", file="study.yaml", passport="judge.json", arguments="--fresh"
        )
        assert done.returncode == status and runner.outputs["verdict"] == verdict
        assert "gate study.yaml judge.json --json --markdown" in done.stdout
        assert "--fresh" in done.stdout and "--no-texts" not in done.stdout


@pytest.mark.heavy
def test_bars_with_a_passport_are_refused(runner: Runner) -> None:
    done = runner.step(
        "Audit", file="study.yaml", passport="judge.json", require="spearman=.5"
    )
    assert done.returncode == 3
    assert done.stdout.startswith("::error::inputs passport and require")
    assert runner.outputs["verdict"] == "cannot be used"


@pytest.mark.heavy
def test_a_wrong_command_line_of_the_gate_cannot_be_used(runner: Runner) -> None:
    arguments = "--no-such-option"
    done = runner.step(
        "Audit", file="study.yaml", passport="judge.json", arguments=arguments
    )
    assert done.returncode == 3 and arguments in done.stdout
    assert runner.outputs["verdict"] == "cannot be used"


@pytest.mark.parametrize(
    ("version", "alone", "with_passport"),
    [
        ("judgescope", "judgescope", "judgescope[workflow]"),
        ("judgescope==0.1", "judgescope==0.1", "judgescope[workflow] ==0.1"),
        (
            "judgescope @ git+https://host/a.git@v1",
            "judgescope @ git+https://host/a.git@v1",
            "judgescope[workflow] @ git+https://host/a.git@v1",
        ),
        (
            "git+https://host/a.git@v1",
            "git+https://host/a.git@v1",
            "judgescope[workflow] @ git+https://host/a.git@v1",
        ),
        (
            "dist/judgescope-0.1.whl",
            "dist/judgescope-0.1.whl",
            "dist/judgescope-0.1.whl[workflow]",
        ),
        ("judgescope[workflow]>=0.1",) * 3,
        ("", str(HOME), f"{HOME}[workflow]"),
    ],
)
def test_a_passport_installs_what_the_workflow_needs(
    tmp_path: Path, version: str, alone: str, with_passport: str
) -> None:
    """A `python` in the place of a runner's notes what pip would install."""
    runner = Runner(tmp_path, HOME)
    for folder in (runner.temp / "judgescope" / "bin", tmp_path / "programs"):
        folder.mkdir(parents=True)
        program = folder / "python"
        program.write_text(f'#!/bin/sh\necho "$5" > {tmp_path}/installed\n', "utf-8")
        program.chmod(0o755)
    for passport, expected in (("", alone), ("judge.json", with_passport)):
        path = f"{tmp_path / 'programs'}:{os.environ['PATH']}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", path)
            done = runner.step("Install", version=version, passport=passport)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "installed").read_text("utf-8") == f"{expected}\n"


@pytest.mark.heavy
def test_texts_are_shown_if_they_may_be(runner: Runner) -> None:
    rows = [{**row, "answer": f"{SECRET} {row['answer']}"} for row in made()]
    write(rows, runner.folder / "ratings.csv")
    done = runner.step("Audit", file="ratings.csv")
    printed = done.stdout + done.stderr + runner.summary_file.read_text("utf-8")
    assert done.returncode == 0 and SECRET not in printed
    assert SECRET not in Path(runner.outputs["json"]).read_text("utf-8")
    done = runner.step("Audit", file="ratings.csv", texts="true")
    assert SECRET not in done.stdout + done.stderr
    assert SECRET in runner.summary_file.read_text("utf-8")


@pytest.mark.heavy
def test_arguments_are_words_and_no_shell_code(runner: Runner) -> None:
    write(passed(), runner.folder / "-odd name.csv")
    arguments = "--judge\ngpt_verdict\n--human\nhuman_1\n\n"
    done = runner.step("Audit", file="-odd name.csv", arguments=arguments)
    assert done.returncode == 0, done.stdout
    content = json.loads(Path(runner.outputs["json"]).read_text("utf-8"))
    assert list(content["judges"]) == ["gpt_verdict"]
    hostile = "--judge\n$(touch owned)\n`touch owned`"
    done = runner.step("Audit", file="ratings.csv", arguments=hostile)
    assert done.returncode == 3
    assert not (runner.folder / "owned").exists()


@pytest.mark.heavy
def test_other_messages_are_no_commands(runner: Runner) -> None:
    """A command line that argparse refuses is not printed by the audit itself."""
    arguments = "--no-such-option\n::set-output name=a::b"
    done = runner.step("Audit", file="ratings.csv", arguments=arguments)
    assert done.returncode == 3
    first, *middle, last = done.stdout.splitlines()
    token = first.removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", token) and last == f"::{token}::"
    assert any("--no-such-option" in line for line in middle)


def test_inputs_and_outputs_are_those_of_the_guide() -> None:
    guide = (HOME / "docs/guide/ci.md").read_text("utf-8")
    named = set(re.findall(r"^\| `([a-z-]+)` \|", guide, re.MULTILINE))
    assert named == {*ACTION["inputs"], *ACTION["outputs"]}


def test_no_input_is_written_into_a_script() -> None:
    """An expression in a script is replaced before the shell reads it: it would be
    code.
    """
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_the_example_is_short_and_names_inputs_that_there_are() -> None:
    text = (HOME / "docs/examples/judge.yml").read_text("utf-8")
    assert len(text.splitlines()) <= 15
    [job] = yaml.safe_load(text)["jobs"].values()
    used = job["steps"][-1]
    assert used["with"].keys() <= ACTION["inputs"].keys()
    required = {key for key, value in ACTION["inputs"].items() if value.get("required")}
    assert required <= used["with"].keys()
    assert used["uses"] == "OWNER/REPOSITORY@TAG"
