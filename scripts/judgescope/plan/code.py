"""A hash of the code that a job reaches, blind to comments, documenting strings and layout.

It stands in a job's spec: a changed parser re-scores, a changed comment does not, nor does a
changed string below a constant or a field.
"""

import ast
import hashlib
import json
import sys
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

from judgescope.core.files import whole

PACKAGE = "judgescope"


@cache
def code_hash(scripts: Path, job: str, *extra: str) -> str:
    """Return a hash of `jobs/<job>.py` and of every module of ours that it can import.

    Imports inside functions count. Modules that a registry loads by name are not seen by the
    import graph and are given as `extra` (dotted names): only those that the job will load.
    """
    reached = modules(scripts, job, *extra)
    whole = "".join(f"{name}:{reached[name]}" for name in sorted(reached))
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def modules(scripts: Path, job: str, *extra: str) -> dict[str, str]:
    """Return module -> a hash of its meaning, of all that a job can import."""
    reached: dict[str, str] = {}
    waiting = [f"{PACKAGE}.jobs.{job}", *extra]
    while waiting:
        name = waiting.pop()
        path = _file(scripts, name)
        if name in reached or path is None:
            continue
        reached[name], imported = _read(path)
        waiting += imported
    return reached


@cache
def _file(scripts: Path, module: str) -> Path | None:
    base = scripts.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _read(path: Path) -> tuple[str, list[str]]:
    """Return the hash of a module's meaning and the names of ours that it imports.

    Both are kept beside the module's bytecode: to parse all modules takes seconds.
    """
    source = path.read_bytes()
    digest = hashlib.sha256(_own_source() + source).hexdigest()
    place = Path(cache_from_source(str(path))).with_suffix(".meaning.json")
    with suppress(OSError, ValueError):
        kept, meaning, imported = json.loads(place.read_bytes())
        if kept == digest:
            return meaning, imported
    meaning, imported = _parsed(source)
    if not sys.dont_write_bytecode:
        with suppress(OSError):  # as Python does, where it cannot keep bytecode
            place.parent.mkdir(exist_ok=True)
            with whole(place) as part:
                part.write_text(json.dumps([digest, meaning, imported]), encoding="utf-8")
    return meaning, imported


@cache
def _own_source() -> bytes:
    return Path(__file__).read_bytes()


def _parsed(source: bytes) -> tuple[str, list[str]]:
    tree = ast.parse(source)
    imported: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        _drop_strings(node)
    ours = [name for name in imported if name.split(".")[0] == PACKAGE]
    parents = [
        ".".join(parts[:end])
        for name in ours
        for parts in [name.split(".")]
        for end in range(1, len(parts))
    ]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), ours + parents


def _drop_strings(node: ast.AST) -> None:
    """Take out every string that stands as a statement: it documents, and does nothing."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):  # that of a lambda or of `x if y else z` is an expression
            setattr(node, name, [one for one in block if not _is_string(one)])


def _is_string(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
