"""What modules declare of themselves: read without an import, equal to what an import gives."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from judgescope.core import declarations as reader
from judgescope.core.declarations import declarations
from judgescope.methods.registry import METHODS
from judgescope.plan.specs.results import PARTS, WHEN
from judgescope.schema.cards import FORMATS, MODULES, Study
from running import HOME


@pytest.mark.parametrize("table", METHODS)
def test_a_method_is_what_its_module_declares(table: str) -> None:
    method, module = METHODS[table], import_module(f"judgescope.methods.{table}")
    assert method == module.METHOD and callable(module.rows)
    assert not method.across or callable(import_module(method.across).across)
    for path in method.claims:
        claims, _, function = path.rpartition(".")
        assert callable(getattr(import_module(f"judgescope.methods.{claims}"), function))
    assert {*method.parts} <= PARTS.keys() and {*method.tables} <= METHODS.keys()
    assert method.when in {"", *WHEN}
    assert not method.settings or method.settings in Study.model_fields


def test_every_table_belongs_to_some_study() -> None:
    beside = {table for method in METHODS.values() for table in method.tables}
    assert all(one.selectable or one.when or name in beside for name, one in METHODS.items())


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_what_its_module_declares(name: str) -> None:
    module = import_module(MODULES[name])
    assert FORMATS[name] == module.FORMAT and callable(module.read)


@pytest.mark.heavy
def test_registries_are_read_without_an_import_of_what_they_list() -> None:
    code = (
        "import sys, judgescope.methods.registry, judgescope.schema.cards; "
        "heavy = {'numpy', 'scipy', 'pyarrow', 'pandas'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=HOME / "scripts")


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("KIND = Kind(1)\n", "one call with keywords"),
        ("KIND = Kind(size=1)\nOTHER = 2\n", "one call with keywords"),
        ("KIND = Kind(size=len('a'))\n", "malformed node"),
    ],
)
def test_a_declaration_that_cannot_be_read_is_an_error(
    source: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "good.py").write_text("import numpy\n\nKIND = Kind(size=3, of=('a',))\n")
    (tmp_path / "part" / "none.py").write_text("size = 3\n")
    monkeypatch.setattr(reader, "LIBRARY", tmp_path)
    declarations.cache_clear()
    name = f"{tmp_path.name}.part.good"
    assert declarations("part", "KIND") == {name: {"size": 3, "of": ("a",)}}
    (tmp_path / "part" / "wrong.py").write_text("\n" + source)
    declarations.cache_clear()
    with pytest.raises(ValueError, match=problem):
        declarations("part", "KIND")
    declarations.cache_clear()
