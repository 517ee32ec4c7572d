"""How the report names the study's file: by nothing of the machine that it ran on."""

from pathlib import Path

import pytest

from judgescope.plan.inputs import without_folders


@pytest.mark.parametrize(
    ("study", "name"),
    [
        ("study.yaml", "study.yaml"),
        ("mine/study.yaml", "mine/study.yaml"),
        ("../work/mine/study.yaml", "mine/study.yaml"),
        ("../home/config/studies/usr.yaml", "config/studies/usr.yaml"),
        ("../secret/place/study.yaml", "study.yaml"),
        (
            "the config of the importing workflow",
            "the config of the importing workflow",
        ),
    ],
)
def test_a_study_is_named_without_folders_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, study: str, name: str
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    assert without_folders(study, tmp_path / "home") == name
    assert without_folders((work / study).resolve(), tmp_path / "home") == name
