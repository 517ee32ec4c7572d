"""What keeps this checkout from being released: empty addresses, versions that differ.

`make release-check` prints a line for each problem and exits with 1 if there is any.
Whoever releases fills release.yaml, then the files that this program names.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

import judgescope
from judgescope.core.extras import PUBLISHED

HOME = Path(__file__).resolve().parents[1]
ADDRESSES = ("repository", "documentation", "index")
HANNA = "config/datasets/hanna.yaml"
CATALOG = ".snakemake-workflow-catalog.yml"
RULES = "workflow/rules/common.smk"
RELEASE = "release.yaml"


def problems(home: Path = HOME, tag: str | None = None) -> Iterator[str]:
    """Yield a line for each problem of a checkout; `tag` is that of its commit."""
    release: Mapping[str, str] = yaml.safe_load(_text(home, RELEASE))
    yield from _empty(release)
    yield from _versions(home, tag)
    pinned = yaml.safe_load(_text(home, HANNA))["source"]["commit"]
    if release.get("licence_of_hanna") != pinned:
        yield (
            f"{RELEASE}: licence_of_hanna is not {pinned}: compare the LICENSE of that "
            "commit with config/demo/hanna.LICENSE"
        )
    yield from _addresses(home, release)
    zenodo = json.loads(_text(home, ".zenodo.json"))
    if not zenodo["creators"]:
        yield ".zenodo.json: creators is empty"
    front = yaml.safe_load(_text(home, "paper/paper.md").split("---\n")[1])
    for key in ("authors", "affiliations", "date"):
        if not front[key]:
            yield f"paper/paper.md: {key} is empty"
    links = re.findall(r"\]\((?!https?://|#)([^)]+)\)", _text(home, "README.md"))
    if links:
        yield (
            f"README.md: {len(links)} links are relative; an index shows the file "
            f"without its folder: {links[0]}"
        )


def version_of_files(home: Path = HOME) -> dict[str, str]:
    """Return file -> the version that it states."""
    citation = yaml.safe_load(_text(home, "CITATION.cff"))
    recipe = re.search(r'set version = "(.*?)"', _text(home, "recipe/meta.yaml"))
    catalog = re.search(r"package judgescope (\S+) has", _text(home, CATALOG))
    wheels = re.findall(r"judgescope-([\d.]+)-py3", _text(home, "docs/install.md"))
    rules = re.search(r'RULES_VERSION = "(.*?)"', _text(home, RULES))
    changes = re.search(r"^## (\S+)", _text(home, "CHANGELOG.md"), re.MULTILINE)
    return {
        "CITATION.cff": str(citation["version"]),
        "recipe/meta.yaml": recipe[1] if recipe else "",
        "CHANGELOG.md": changes[1] if changes else "",
        "docs/install.md": ", ".join(sorted(set(wheels))),
        CATALOG: catalog[1] if catalog else "",
        RULES: rules[1] if rules else "",
    }


def _empty(release: Mapping[str, str]) -> Iterator[str]:
    for key in (*ADDRESSES, "doi"):
        if not release.get(key):
            yield f"{RELEASE}: {key} is empty"
    for key in ADDRESSES:
        if release.get(key) and not release[key].startswith("https://"):
            yield f"{RELEASE}: {key} must begin with https://, got {release[key]!r}"


def _versions(home: Path, tag: str | None) -> Iterator[str]:
    expected = judgescope.__version__
    for file, version in version_of_files(home).items():
        if version != expected:
            yield (
                f"{file}: version {version!r}, but judgescope.__version__ is "
                f"{expected!r}"
            )
    if "not released" in _text(home, "CHANGELOG.md"):
        yield "CHANGELOG.md: the newest version is marked as not released"
    if tag != f"v{expected}":
        yield f"the commit's tag must be v{expected}, got {tag!r}"


def _addresses(home: Path, release: Mapping[str, str]) -> Iterator[str]:
    """Yield the files whose addresses are not those of release.yaml."""
    project: dict[str, Any] = tomllib.loads(_text(home, "pyproject.toml"))["project"]
    citation: dict[str, Any] = yaml.safe_load(_text(home, "CITATION.cff"))
    urls: Mapping[str, str] = project.get("urls", {})
    stated = {
        "pyproject.toml, project.urls.Repository": (
            urls.get("Repository"),
            "repository",
        ),
        "pyproject.toml, project.urls.Documentation": (
            urls.get("Documentation"),
            "documentation",
        ),
        "CITATION.cff, repository-code": (
            citation.get("repository-code"),
            "repository",
        ),
        "CITATION.cff, doi": (citation.get("doi"), "doi"),
    }
    for where, (value, key) in stated.items():
        expected = release.get(key) or None
        if value != expected:
            yield f"{where}: {value!r}, but {RELEASE} has {key} {expected!r}"
    if bool(release.get("index")) != PUBLISHED:
        yield (
            f"scripts/judgescope/core/extras.py: PUBLISHED is {PUBLISHED}, but index "
            f"in {RELEASE} is {release.get('index')!r}"
        )


def _text(home: Path, name: str) -> str:
    return (home / name).read_text(encoding="utf-8")


def tag_of_commit(home: Path = HOME) -> str | None:
    """Return the tag of the current commit, None if it has none."""
    done = subprocess.run(
        ["git", "describe", "--exact-match", "--tags"],
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or None


if __name__ == "__main__":
    lines = list(problems(tag=tag_of_commit()))
    print("\n".join(lines) or "nothing keeps this commit from being released")
    sys.exit(bool(lines))
