"""Declarations in the modules of a package (`METHOD = Method(…)`), which register a new
module.

The last statement of a module is read without importing the module: planning and the
cards need the names, and an import of all modules takes 0.3 s.
"""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

LIBRARY = Path(__file__).resolve().parents[1]


@cache
def declarations(package: str, name: str) -> dict[str, dict[str, Any]]:
    """Return module -> the keywords of its declaration, for a package of the library,
    by path.

    Keywords must be literals; otherwise a ValueError or SyntaxError names the first
    such module.
    """
    declared: dict[str, dict[str, Any]] = {}
    for path in sorted((LIBRARY / package).rglob("*.py")):
        _, _, source = path.read_text(encoding="utf-8").partition(f"\n{name} = ")
        match ast.parse(source, str(path)).body:
            case []:
                continue
            case [ast.Expr(value=ast.Call(args=[], keywords=keywords))]:
                module = ".".join(
                    path.relative_to(LIBRARY.parent).with_suffix("").parts
                )
                declared[module] = {
                    str(key.arg): ast.literal_eval(key.value) for key in keywords
                }
            case _:
                raise ValueError(
                    f"{path}: a declaration must be one call with keywords, at the "
                    "module's end"
                )
    return declared


def import_all(package: str) -> list[ModuleType]:
    """Import the modules of a package (dotted name) in the order of their names.

    The argument must be a literal: plan/code.py treats a call as imports of all the
    modules.
    """
    names = sorted(each.name for each in iter_modules(import_module(package).__path__))
    return [import_module(f"{package}.{name}") for name in names]
