"""The worked examples in the docstrings of the statistics."""

import ast
import doctest
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from judgescope import statistics

MODULES = [
    f"judgescope.statistics.{each.name}" for each in iter_modules(statistics.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_the_values_that_they_show(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert not result.failed


@pytest.mark.parametrize("name", MODULES)
def test_every_public_function_has_an_example(name: str) -> None:
    tree = ast.parse(Path(str(import_module(name).__file__)).read_text("utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    lacking = []
    for function in functions:
        example = ">>>" in (ast.get_docstring(function) or "")
        if not function.name.startswith("_") and not example:
            lacking.append(function.name)
    assert not lacking
