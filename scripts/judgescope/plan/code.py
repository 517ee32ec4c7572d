"""What computes a job's output: a hash of the code that it reaches, and versions of packages.

The hash ignores comments, layout and strings that stand as statements: a changed parser re-scores,
a changed comment does not.
"""

import ast
import hashlib
import json
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from typing import TypedDict

from judgescope.core import paths
from judgescope.core.files import whole
from judgescope.engines import DECLARED
from judgescope.methods.registry import METHODS

PACKAGE = "judgescope"
PACKAGES: dict[str, list[str]] = {
    "perturb": ["pyspellchecker", "typo"],
    "statistics": ["numpy", "rapidfuzz", "scipy"],
    "spotcheck": ["jinja2", "numpy", "rapidfuzz"],
    "choose_anchors": ["numpy"],
    "make_texts": ["jinja2", "pyspellchecker", "rapidfuzz"],
    "candidates": ["jinja2", "numpy", "pyspellchecker", "rapidfuzz", "sacrebleu"],
    "compare_anchors": ["jinja2"],
    "draft": ["jinja2"],
    "grade": ["numpy"],
    "write_references": ["jinja2", "numpy", "rapidfuzz", "sacrebleu"],
    "analyse": ["jinja2"],
    "merge": ["jinja2"],
    "locate": ["rapidfuzz"],
    **{name: list(engine.packages) for name, engine in DECLARED.items()},
    **{name: list(method.packages) for name, method in METHODS.items()},
}
"""Job, engine, table or what some jobs do -> the packages whose behaviour shows in the output."""
PACKAGES["report"] = sorted(
    {"jinja2", "vl-convert-python"}.union(*PACKAGES.values())  # the report names all
)
PACKAGES["judge_card"] = sorted({"jinja2", "rapidfuzz", "vl-convert-python"})


class Computing(TypedDict):
    """The fields of every job's spec that say what computes its output."""

    code: str
    versions: dict[str, str]


def computing(job: str, *modules: str, packages: str = "") -> Computing:
    """Return what computes the output of a job.

    `modules` are those that the job loads by name; `packages` names a further entry of PACKAGES.
    """
    names = [name for key in (job, packages) for name in PACKAGES.get(key, [])]
    return {
        "code": code_hash(paths.HOME / "scripts", job, *modules),
        "versions": {name: _version(name) for name in names},
    }


@cache
def _version(package: str) -> str:
    return version(package)


@cache
def code_hash(scripts: Path, job: str, *extra: str) -> str:
    """Return a hash of `jobs/<job>.py` and of every module of ours that it can import.

    Imports inside functions count. Modules that a registry loads by name are not seen by the
    import graph and are given as `extra` (dotted names): only those that the job will load.
    """
    reached = modules(scripts, job, *extra)
    text = "".join(f"{name}:{reached[name]}" for name in sorted(reached))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def modules(scripts: Path, job: str, *extra: str) -> dict[str, str]:
    """Return module -> a hash of its meaning, of all that a job can import."""
    reached: dict[str, str] = {}
    waiting = [f"{PACKAGE}.jobs.{job}", f"{PACKAGE}.jobs.run", *extra]
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

    Both are cached beside the module's bytecode: parsing all modules takes seconds.
    """
    source = path.read_bytes()
    digest = hashlib.sha256(_own_source() + source).hexdigest()
    cached = Path(cache_from_source(str(path))).with_suffix(".meaning.json")
    with suppress(OSError, ValueError):
        kept, meaning, imported = json.loads(cached.read_bytes())
        if kept == digest:
            return meaning, imported
    meaning, imported = _parsed(source)
    if not sys.dont_write_bytecode:
        with suppress(OSError):  # as Python does, where it cannot keep bytecode
            cached.parent.mkdir(exist_ok=True)
            with whole(cached) as part:
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
