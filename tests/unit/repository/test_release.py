"""What a release needs: one version, addresses that are true or absent, metadata."""

import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment
from packaging.requirements import Requirement

import judgescope
import release
from running import HOME

FILES = (
    ".snakemake-workflow-catalog.yml",
    ".zenodo.json",
    "CHANGELOG.md",
    "CITATION.cff",
    "README.md",
    "config/datasets/hanna.yaml",
    "docs/install.md",
    "paper/paper.md",
    "pyproject.toml",
    "recipe/meta.yaml",
    "release.yaml",
    "workflow/rules/common.smk",
)
PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]
VERSION = judgescope.__version__


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(HOME / name, tmp_path / name)
    return tmp_path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_every_file_states_the_version_of_the_package() -> None:
    assert set(release.version_of_files().values()) == {VERSION}
    assert "version" not in PROJECT and PROJECT["dynamic"] == ["version"]


def test_an_unpublished_checkout_is_not_released() -> None:
    lines = list(release.problems(tag=f"v{VERSION}"))
    for key in ("repository", "documentation", "index", "doi"):
        assert f"release.yaml: {key} is empty" in lines
    assert not [line for line in lines if ": version" in line or "tag" in line]


@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        (
            "CITATION.cff",
            f"version: {VERSION}",
            "version: 9.9",
            "CITATION.cff: version",
        ),
        (
            "recipe/meta.yaml",
            f'version = "{VERSION}"',
            'version = "9.9"',
            "recipe/meta.yaml: version",
        ),
        (
            "workflow/rules/common.smk",
            f'RULES_VERSION = "{VERSION}"',
            'RULES_VERSION = "9.9"',
            "workflow/rules/common.smk: version",
        ),
        (
            ".snakemake-workflow-catalog.yml",
            f"judgescope {VERSION} has",
            "judgescope 9.9 has",
            ".snakemake-workflow-catalog.yml: version",
        ),
        ("CHANGELOG.md", f"## {VERSION}", "## 9.9", "CHANGELOG.md: version"),
        ("release.yaml", 'repository: ""', 'repository: "ftp://x"', "must begin with"),
        (
            "release.yaml",
            'repository: ""',
            'repository: "https://x"',
            "CITATION.cff, repository-code: None, but",
        ),
        ("release.yaml", 'index: ""', 'index: "https://x"', "PUBLISHED is False"),
        ("release.yaml", 'doi: ""', 'doi: "10.1/2"', "CITATION.cff, doi: None, but"),
    ],
)
def test_files_that_differ_are_named(
    checkout: Path, file: str, old: str, new: str, line: str
) -> None:
    before = {*release.problems(checkout, f"v{VERSION}")}
    edit(checkout / file, old, new)
    added = {*release.problems(checkout, f"v{VERSION}")} - before
    assert any(line in each for each in added), added


def test_the_licence_of_the_pinned_data_is_compared_before_a_release(
    checkout: Path,
) -> None:
    text = (checkout / "config/datasets/hanna.yaml").read_text("utf-8")
    commit = yaml.safe_load(text)["source"]["commit"]
    expected = f"release.yaml: licence_of_hanna is not {commit}"
    lines = [*release.problems(checkout, f"v{VERSION}")]
    assert sum(line.startswith(expected) for line in lines) == 1
    edit(checkout / "release.yaml", 'hanna: ""', f'hanna: "{commit}"')
    lines = [*release.problems(checkout, f"v{VERSION}")]
    assert not any(line.startswith(expected) for line in lines)


def test_a_tag_of_another_version_is_named(checkout: Path) -> None:
    for tag in (None, "v9.9", VERSION):
        assert any("tag must be" in line for line in release.problems(checkout, tag))


def test_no_file_has_an_address_before_the_release_file() -> None:
    stated = yaml.safe_load((HOME / "release.yaml").read_text("utf-8"))
    if not stated["repository"]:
        citation = yaml.safe_load((HOME / "CITATION.cff").read_text("utf-8"))
        assert "urls" not in PROJECT
        assert not {"repository-code", "doi", "url"} & citation.keys()


def test_the_recipe_requires_what_the_package_requires() -> None:
    text = (HOME / "recipe/meta.yaml").read_text("utf-8")
    content: dict[str, Any] = yaml.safe_load(
        Environment().from_string(text).render(PYTHON="python")
    )
    run = {str(Requirement(each)) for each in content["requirements"]["run"]}
    python = f"python{PROJECT['requires-python']}"
    wanted = {*PROJECT["dependencies"], python}
    assert run == {str(Requirement(each)) for each in wanted}
    [start] = content["build"]["entry_points"]
    name, _, target = start.partition(" = ")
    assert PROJECT["scripts"] == {name: target}
    assert content["about"]["summary"] == PROJECT["description"]
    for file in content["about"]["license_file"]:
        assert (HOME / file).is_file()


def test_the_package_says_that_it_has_types() -> None:
    assert (HOME / "scripts/judgescope/py.typed").is_file()
    assert "Typing :: Typed" in PROJECT["classifiers"]
    for file in PROJECT["license-files"]:
        assert (HOME / file).is_file()


def test_the_paper_cites_what_the_bibliography_has() -> None:
    text = (HOME / "paper/paper.md").read_text("utf-8")
    front = yaml.safe_load(text.split("---\n")[1])
    bibliography = (HOME / "paper" / front["bibliography"]).resolve()
    keys = set(re.findall(r"^@\w+\{(\w+),", bibliography.read_text("utf-8"), re.M))
    cited = set(re.findall(r"@([a-z]+\d{4}\w+)", text))
    assert cited and cited <= keys
    assert front["authors"] == [] == front["affiliations"]


def test_the_archive_has_the_licence_and_title_of_the_citation() -> None:
    archive = json.loads((HOME / ".zenodo.json").read_text("utf-8"))
    citation = yaml.safe_load((HOME / "CITATION.cff").read_text("utf-8"))
    assert archive["title"] == citation["title"]
    assert archive["license"] == citation["license"].lower()
    assert archive["keywords"] == citation["keywords"]


def test_the_site_is_built_from_files_that_there_are() -> None:
    content = yaml.safe_load((HOME / ".readthedocs.yaml").read_text("utf-8"))
    [locked] = content["python"]["install"]
    assert (HOME / locked["requirements"]).is_file()
    assert (HOME / content["sphinx"]["configuration"]).is_file()
