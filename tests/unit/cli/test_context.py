"""What a command knows of the options that it passes on to Snakemake."""

import os
import sys
from pathlib import Path

import pytest
import yaml

from judgescope.cli.context import (
    is_dry,
    plan_of_study,
    profile_options,
    results_folder,
    split_config,
    study_card,
    study_content,
    with_config,
)
from judgescope.cli.main import main
from judgescope.core.errors import UserError, UserErrors
from running import HOME

STUDY = {
    "study": "mine",
    "seed": 3,
    "datasets": ["demo-dialogue"],
    "judges": ["length"],
}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.yaml"
    path.write_text(
        yaml.safe_dump(STUDY | {"methods": ["agreement"]}), encoding="utf-8"
    )
    return path


@pytest.mark.heavy
@pytest.mark.parametrize("flag", ["--config", "-C"])
def test_pairs_change_the_study_as_snakemake_reads_it(file: Path, flag: str) -> None:
    passed = [
        "-n",
        flag,
        "study=other",
        "seed=7",
        "aspects=[naturalness]",
        "--cores",
        "2",
    ]
    assert study_content(file, passed) | {"methods": 0} == {
        **STUDY,
        **{"study": "other", "seed": 7, "aspects": ["naturalness"], "methods": 0},
    }
    assert results_folder(file, passed) == Path("results/other")
    assert plan_of_study(file, passed).study.seed == 7
    assert results_folder(file) == Path("results/mine")
    assert study_content(file, ["--cores", "2"])["study"] == "mine"


@pytest.mark.heavy
@pytest.mark.parametrize("word", ["--config=seed=7", "-Cseed=7", "-C=seed=7"])
def test_a_pair_may_be_joined_to_its_flag(file: Path, word: str) -> None:
    passed = list(split_config(["-n", word, "--cores=2"]))
    assert (
        passed[2:] == ["seed=7", "--cores=2"]
        and study_content(file, passed)["seed"] == 7
    )
    assert list(split_config(["-C", "a=1", "--configfile=x"])) == [
        "-C",
        "a=1",
        "--configfile=x",
    ]


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        ([], ["--config", "a=1"]),
        (["-n"], ["-n", "--config", "a=1"]),
        (["--config", "b=2", "-n"], ["--config", "b=2", "a=1", "-n"]),
        (["-C", "a=2"], ["-C", "a=2", "a=1"]),
    ],
)
def test_pairs_of_a_command_come_last_and_win(
    passed: list[str], expected: list[str]
) -> None:
    assert with_config(passed, "a=1") == expected
    assert is_dry(expected) == ("-n" in passed)


def test_a_profile_is_given_as_options(tmp_path: Path) -> None:
    text = (
        "cores: all\nkeep-going: true\nnotemp: false\nresources:\n  - gpu=1\n  - "
        "api=2\n"
    )
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    options = profile_options(tmp_path)
    assert options[0] == "--workflow-profile=none"
    assert options[1:] == [
        "--cores=all",
        "--keep-going",
        "--resources",
        "gpu=1",
        "api=2",
    ]
    assert "--cores=all" in profile_options(HOME / "profiles" / "default")


def test_what_is_no_pair_or_no_value_is_reported(file: Path) -> None:
    with pytest.raises(UserError, match=r"got: .*nonsense"):
        study_content(file, ["--config", "nonsense"])
    with pytest.raises(UserErrors, match=r"mine\.yaml with --config"):
        study_card(file, ["--config", "seed=often"])


@pytest.mark.parametrize("command", ["run", "check", "draft", "pilot"])
def test_errors_in_the_default_study_name_it_without_the_workflow_folder(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From the workflow's folder, and from another one."""
    for folder in (HOME, tmp_path):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["judgescope", command, "--config=seed=often"])
        with pytest.raises(SystemExit):
            main()
        result = "".join(capsys.readouterr())
        assert (
            f"where:   {os.path.relpath(HOME / 'config/config.yaml', folder)}" in result
        )
        assert f" {HOME}" not in result
