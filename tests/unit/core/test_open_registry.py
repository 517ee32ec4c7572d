"""The registry: built-in records, and those of packages that are installed."""

import doctest
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgescope.core import registry
from judgescope.core.errors import UserError
from judgescope.core.registry import Registry
from judgescope.schema.cards import FORMATS, Format
from judgescope.statistics import accuracy
from judgescope.statistics.registry import STATISTICS
from running import HOME

MODULE = """
from judgescope.schema.cards import Format

FORMAT = Format(name="stars", read=print)
OTHER = Format(name="moons", read=print)
"""


@pytest.fixture(autouse=True)
def fresh_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    registry.add_ons.cache_clear()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield
    monkeypatch.undo()
    registry.add_ons.cache_clear()


def install(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    package: str,
    module: str,
    **points: str,
) -> None:
    """Install a package with one module and the entry points name=module:OBJECT."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {value}\n" for name, value in points.items()]
    (info / "entry_points.txt").write_text("[judgescope.formats]\n" + "".join(lines))
    (folder / f"{package}_formats.py").write_text(module)
    monkeypatch.syspath_prepend(str(folder))


def formats() -> Registry[Format]:
    return Registry("formats", Format, "judgescope.data")


def test_the_example_of_the_registry_is_true() -> None:
    result = doctest.testmod(registry)
    assert result.attempted and not result.failed


def test_built_in_records_are_detected_in_the_modules_of_their_room() -> None:
    defined = set[str]()
    for path in (HOME / "scripts/judgescope/data").glob("*.py"):
        defined.update(
            re.findall(r'^\w*FORMAT = Format\(\s*name="(\w+)"', path.read_text(), re.M)
        )
    assert set(FORMATS) == defined and len(FORMATS) == len(defined)
    assert "nothing" not in FORMATS
    with pytest.raises(KeyError):
        FORMATS["nothing"]


def test_a_target_is_loaded_without_other_modules_of_the_room() -> None:
    code = (
        "import sys; from judgescope.schema.cards import FORMATS\n"
        "assert FORMATS.load('judgescope.data.usr:FORMAT').name == 'usr_json'\n"
        "assert 'usr_json' in FORMATS and FORMATS['usr_json'].any_role\n"
        "assert 'judgescope.data.hanna' not in sys.modules\n"
        "assert 'hanna_csv' in FORMATS and 'judgescope.data.hanna' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=HOME / "scripts")


def test_a_package_adds_a_record_under_the_name_of_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "sky", MODULE, stars="sky_formats:FORMAT")
    result = formats()
    assert "stars" in result and "sky_formats" not in sys.modules
    assert result["stars"].read is print
    assert result.target("stars") == "sky_formats:FORMAT"
    assert result.working().keys() == set(result)
    assert formats().load("sky_formats:FORMAT").name == "stars"


def test_a_module_of_a_package_adds_several_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = MODULE + "DECLARED = (FORMAT, OTHER)\n"
    target = "sun_formats:DECLARED"
    install(tmp_path, monkeypatch, "sun", several, stars=target, moons=target)
    result = formats()
    assert result["stars"].name == "stars" and result["moons"].name == "moons"
    assert result.target("moons") == target and result["moons"].read is print


def test_built_in_records_of_a_module_are_declared_together() -> None:
    declared = accuracy.DECLARED
    assert len(declared) > 1 and STATISTICS["spa"] in declared
    assert STATISTICS.target("spa") == "judgescope.statistics.accuracy:DECLARED"


def test_a_name_of_two_packages_is_an_error_that_names_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "a", monkeypatch, "sky", MODULE, stars="sky_formats:FORMAT")
    install(tmp_path / "b", monkeypatch, "sea", MODULE, stars="sea_formats:FORMAT")
    with pytest.raises(UserError, match="two packages provide the same name") as caught:
        formats()["stars"]
    assert "sky 1.0" in caught.value.what and "sea 1.0" in caught.value.what


def test_a_package_cannot_replace_a_built_in_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "sky", MODULE, table="sky_formats:FORMAT")
    with pytest.raises(UserError, match="judgescope and sky"):
        formats()["table"]


@pytest.mark.parametrize(
    ("target", "module", "problem"),
    [
        ("sky_formats:FORMAT", "import nowhere", "No module named 'nowhere'"),
        ("sky_formats:ABSENT", MODULE, "has no attribute 'ABSENT'"),
        ("sky_formats:OTHER", MODULE, "wrong type or name"),
        ("sky_formats:Format", MODULE, "wrong type or name"),
    ],
)
def test_a_broken_package_is_an_error_only_if_its_name_is_used(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    module: str,
    problem: str,
) -> None:
    monkeypatch.delitem(sys.modules, "sky_formats", raising=False)
    install(tmp_path, monkeypatch, "sky", module, stars=target)
    result = formats()
    assert "stars" in result and result["table"].chosen
    assert "stars" not in result.working() and "table" in result.working()
    with pytest.raises(UserError, match=problem) as caught:
        result["stars"]
    assert "sky 1.0" in caught.value.where
