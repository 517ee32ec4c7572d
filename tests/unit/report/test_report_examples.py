"""The examples in the docstrings of the report's modules say what happens."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from running import HOME

FOLDER = HOME / "scripts" / "judgescope" / "report"
WITH_EXAMPLES = sorted(
    path for path in FOLDER.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_of_a_module_hold(path: Path) -> None:
    parts = path.relative_to(FOLDER.parent).with_suffix("").parts
    module = import_module(".".join(("judgescope", *parts)))
    failed, tried = doctest.testmod(module)
    assert tried and not failed
