"""The modules of a room that register themselves: all of them are imported."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def import_all(package: str) -> list[ModuleType]:
    """Import the modules of a package (dotted name) in the order of their names.

    The argument must be a literal: plan/code.py treats a call as imports of all the
    modules.
    """
    names = sorted(each.name for each in iter_modules(import_module(package).__path__))
    return [import_module(f"{package}.{name}") for name in names]
