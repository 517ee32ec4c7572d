"""What is installed may be used by all who use this: no GPL at run time, and a report of it."""

import re
from importlib.metadata import PackageNotFoundError, distribution

import pytest

from licences import (
    ABSENT,
    BUNDLED,
    CLEARED,
    REFUSED,
    REPORT,
    bundled,
    kind_of,
    licensed,
    packages,
    report,
)
from running import HOME

CORE = packages(HOME / "envs" / "core.txt")
TEST = packages(HOME / "envs" / "test.txt")


def test_the_report_is_of_what_is_installed() -> None:
    assert REPORT.read_text(encoding="utf-8") == report(), "run `make licences`"


def test_nothing_at_run_time_is_under_the_gpl() -> None:
    rows = list(licensed(CORE))
    assert len(rows) == len(CORE) > 80
    assert [one for one in rows if one.kind in {*REFUSED, "not open"}] == []
    assert {one.package for one in rows if "GPL" in one.licence} == set(CLEARED)
    files = [path.name for name in CLEARED for path in distribution(name).files or []]
    assert files and not [name for name in files if name.endswith(".el")]


def test_what_is_under_the_gpl_is_used_by_tests_alone() -> None:
    strict = {one.package for one in licensed(TEST) if one.kind in REFUSED}
    assert strict == {"krippendorff"}
    for path in HOME.glob("scripts/**/*.py"):
        used = re.search(r"^\s*(import|from) krippendorff", path.read_text("utf-8"), re.MULTILINE)
        assert not used, path


def test_every_library_that_a_wheel_brings_along_has_a_licence() -> None:
    found = set[str]()
    for name in TEST:
        try:
            found |= bundled(distribution(name))
        except PackageNotFoundError:
            continue
    assert "libgfortran" in found and found <= set(BUNDLED)


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
    [one] = licensed({"numpy": "0.1"})
    assert one.kind == ABSENT and one.licence == ""
