"""Declarations of modules (`METHOD = Method(…)`), read without importing the modules.

The last statement of a module registers it. Only this statement is parsed: planning and the cards
need the names, and an import of all modules takes 0.3 s.
"""

import ast
from functools import cache
from pathlib import Path
from typing import Any

LIBRARY = Path(__file__).resolve().parents[1]


@cache
def declarations(package: str, name: str) -> dict[str, dict[str, Any]]:
    """Return module -> the keywords of its declaration, for a package of the library, by path.

    Keywords must be literals; a ValueError or SyntaxError names the first module with another.
    """
    declared: dict[str, dict[str, Any]] = {}
    for path in sorted((LIBRARY / package).rglob("*.py")):
        _, _, source = path.read_text(encoding="utf-8").partition(f"\n{name} = ")
        if source:
            declared[_module(path)] = _keywords(source, path)
    return declared


def _module(path: Path) -> str:
    return ".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts)


def _keywords(source: str, path: Path) -> dict[str, Any]:
    tree = ast.parse(source, str(path))
    match tree.body:
        case [ast.Expr(value=ast.Call(args=[], keywords=keywords))]:
            return {str(word.arg): ast.literal_eval(word.value) for word in keywords}
    raise ValueError(f"{path}: a declaration is one call with keywords, at the module's end")
