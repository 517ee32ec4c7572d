"""`judgescope new`: a folder for studies that Snakemake and `check` understand."""

import argparse
from pathlib import Path

import pytest
import yaml

from judgescope.cli.main import command_line
from judgescope.cli.new import SNAKEFILE, new, write_snakefile
from judgescope.core.errors import UserErrors
from judgescope.core.paths import HOME
from judgescope.paths import SNAKEFILE as INSTALLED
from judgescope.schema.cards import FOLDERS
from judgescope.schema.loading import adapter, load_yaml


def arguments(*words: str) -> argparse.Namespace:
    return command_line().parse_args(["new", *words])


def files_below(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    }


def test_a_new_folder_has_a_study_whose_cards_are_shipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "studies"
    assert new(arguments(str(folder))) == 0
    assert files_below(folder) == {
        ".gitignore",
        "Snakefile",
        "config/README.md",
        "study.yaml",
    }
    printed = capsys.readouterr().out
    assert f"next: cd {folder} && judgescope run study.yaml" in printed
    content, _ = load_yaml(folder / "study.yaml")
    adapter("study").validate_python(content)
    for kind in ("dataset", "aspect", "judge", "perturbation"):
        for name in content[f"{kind}s"]:
            assert (HOME / "config" / FOLDERS[kind] / f"{name}.yaml").is_file()


def test_the_folder_keeps_replies_and_ignores_results(tmp_path: Path) -> None:
    new(arguments(str(tmp_path)))
    ignored = (tmp_path / ".gitignore").read_text("utf-8").splitlines()
    assert {"results/", ".snakemake/", ".env"} <= {*ignored}
    assert not [line for line in ignored if line.startswith(("cache", "/cache"))]


def test_the_working_folder_is_the_default(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    new(arguments())
    assert Path("study.yaml").is_file()
    assert "next: judgescope run study.yaml" in capsys.readouterr().out


def test_the_demo_brings_its_cards_and_data(tmp_path: Path) -> None:
    new(arguments(str(tmp_path), "--demo"))
    copied = tmp_path / "config/datasets/demo-news.yaml"
    assert copied.read_bytes() == (HOME / "config/datasets/demo-news.yaml").read_bytes()
    content = yaml.safe_load((tmp_path / "study.yaml").read_text("utf-8"))
    for dataset in content["datasets"]:
        card = yaml.safe_load(
            (tmp_path / f"config/datasets/{dataset}.yaml").read_text("utf-8")
        )
        assert card["dataset"] == dataset
    data = files_below(tmp_path / "config/demo")
    assert {"news_items.jsonl", "dialogue_outputs.jsonl"} <= data


@pytest.mark.parametrize("kept", ["study.yaml", "Snakefile", "config/README.md"])
def test_nothing_that_exists_is_overwritten(tmp_path: Path, kept: str) -> None:
    path = tmp_path / kept
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine\n", encoding="utf-8")
    with pytest.raises(UserErrors, match="is not overwritten") as raised:
        new(arguments(str(tmp_path)))
    assert str(path) in str(raised.value)
    assert files_below(tmp_path) == {kept}
    assert path.read_text("utf-8") == "mine\n"


def test_the_snakefile_includes_the_installed_workflow(tmp_path: Path) -> None:
    assert write_snakefile(tmp_path) is True
    text = (tmp_path / "Snakefile").read_text("utf-8")
    assert text == SNAKEFILE and len(text.splitlines()) == 3
    assert Path(INSTALLED).is_file()
    names: dict[str, str] = {}
    exec(text.splitlines()[0], names)
    assert names["SNAKEFILE"] == INSTALLED


def test_a_snakefile_of_yours_is_kept(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text("rule mine:\n", encoding="utf-8")
    assert write_snakefile(tmp_path) is False
    assert (tmp_path / "Snakefile").read_text("utf-8") == "rule mine:\n"
