"""Folders in specs: no result depends on where the package is."""

from pathlib import Path

import pytest

from judgescope.core import paths
from judgescope.core.paths import HOME, IN_PACKAGE, located_folder, portable


@pytest.mark.parametrize("below", ["config/datasets", "config", "workflow/rules"])
def test_a_folder_of_the_package_is_named_without_its_path(below: str) -> None:
    folder = str(HOME / below)
    assert portable(folder) == f"{IN_PACKAGE}/{below}"
    assert located_folder(portable(folder)) == HOME / below


def test_a_relative_path_to_the_package_is_named_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(HOME / "config")
    assert portable("datasets") == f"{IN_PACKAGE}/config/datasets"
    assert portable("../config/datasets") == f"{IN_PACKAGE}/config/datasets"


def test_a_link_to_the_package_is_named_alike(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(HOME)
    assert portable(f"{link}/config/models") == f"{IN_PACKAGE}/config/models"


@pytest.mark.parametrize("folder", ["config/datasets", "/tmp", "../mine"])
def test_a_folder_of_the_user_stays_as_written(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert portable(folder) == folder
    assert located_folder(folder) == Path(folder)


def test_a_wheel_has_the_workflow_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "judgescope"
    package.mkdir(parents=True)
    monkeypatch.setattr(paths, "PACKAGE", package)
    assert paths._home() == tmp_path  # a checkout: scripts/judgescope
    (package / "share").mkdir()
    assert paths._home() == package / "share"
