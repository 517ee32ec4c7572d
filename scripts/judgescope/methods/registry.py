"""The registry of methods: result tables and what computes them."""

import inspect
import sys
from typing import Final

from judgescope.core.registry import Registry
from judgescope.methods.base import Method

METHODS: Final = Registry("methods", Method, "judgescope.methods")
"""Result table -> its method."""


def sentence_of(table: str) -> str:
    """Return a sentence on what a result table says: the first paragraph of the
    docstring of its method's module.
    """
    assert METHODS[table]  # an add-on is imported only when it is read
    module = sys.modules[METHODS.target(table).partition(":")[0]]
    first, _, _ = inspect.cleandoc(module.__doc__ or "").partition("\n\n")
    return " ".join(first.split())
