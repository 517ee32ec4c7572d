"""What the source of a Python function says: its arguments, and the modules beside it.

The source is parsed and never run.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from judgescope.core.errors import UserError, check_known

Function = ast.FunctionDef | ast.AsyncFunctionDef


def arguments_of(
    file: Path, name: str, known: tuple[str, ...], *, where: str
) -> list[str]:
    """Return the known arguments that the signature of a function names.

    Raises UserError for a file without the function, and for other arguments.
    """
    functions = dict[str, Function]()
    for statement in _tree(file, where).body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            functions[statement.name] = statement
    todo = f"write `def {name}(text, …):` at the top level of {file.name}"
    what = "the file has no function of this name"
    check_known([name], functions, what, where=where, todo=todo)
    function = functions[name]
    if isinstance(function, ast.AsyncFunctionDef):
        raise UserError(
            "an asynchronous function cannot be a judge",
            where=where,
            got=f"async def {name}",
            todo=f"write `def {name}(text, …):`",
        )
    if function.args.posonlyargs:
        raise UserError(
            "arguments are passed by name, so none may be for positions alone",
            where=where,
            got=f"def {name}(…, /, …)",
            todo="remove the / from the signature",
        )
    names = [each.arg for each in (*function.args.args, *function.args.kwonlyargs)]
    what = f"the function {name} has an argument that is not known"
    todo = f"rename the argument in {file.name}, or give its value in the function"
    check_known(names, known, what, where=where, todo=todo)
    return names


def undeclared_modules(file: Path, declared: set[Path], *, where: str) -> list[Path]:
    """Return the modules beside a file that it imports, and those that they import, if
    they are not declared; each once.

    declared: resolved paths, which have the file itself. Imports within functions
    count. Modules elsewhere, such as installed packages, are not looked at.
    """
    root = file.resolve().parent
    files = list[Path]()
    waiting = [file.resolve()]
    seen = {file.resolve()}
    while waiting:
        module = waiting.pop()
        for imported in sorted(_modules_beside(module, root, where)):
            if imported in seen:
                continue
            seen.add(imported)
            waiting.append(imported)
            if imported not in declared:
                files.append(imported)
    return files


def _tree(file: Path, where: str) -> ast.Module:
    try:
        return ast.parse(file.read_bytes(), filename=file.name)
    except SyntaxError as error:
        raise UserError(
            f"this file is not Python: {error.msg}",
            where=f"{where}, {file.name}, line {error.lineno}",
            got=(error.text or "").strip() or None,
        ) from None
    except ValueError as error:  # NUL bytes
        raise UserError(
            f"this file is not Python: {error}", where=f"{where}, {file.name}"
        ) from None


def _modules_beside(file: Path, root: Path, where: str) -> Iterator[Path]:
    """Yield the files below the root that the imports of a file load."""
    for node in ast.walk(_tree(file, where)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files_of(root, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            parts = []
            if node.module:
                parts = node.module.split(".")
            base = root
            if node.level:
                base = file.parents[node.level - 1]
            yield from _files_of(base, parts)
            for alias in node.names:
                yield from _files_of(base, [*parts, alias.name])


def _files_of(base: Path, parts: list[str]) -> Iterator[Path]:
    """Yield the files that importing a dotted name loads: packages and the module."""
    for count in range(1, len(parts) + 1):
        path = base.joinpath(*parts[:count])
        for candidate in (path / "__init__.py", path.with_suffix(".py")):
            if candidate.is_file():
                yield candidate.resolve()
                break
