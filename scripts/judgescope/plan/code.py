"""What computes a job's output: a hash of the code that it uses, and versions of
packages.

The hash ignores comments, layout and strings used as statements: a changed parser
re-scores, a changed comment does not.
"""

import ast
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, version
from importlib.util import cache_from_source, find_spec, resolve_name
from pathlib import Path
from typing import NamedTuple, TypedDict

from judgescope.core import paths
from judgescope.core.files import atomic_write
from judgescope.core.registry import PACKAGE, add_ons
from judgescope.plan.jobs import JOBS

PACKAGES = {
    "jinja2": "jinja2",
    "nltk": "nltk",
    "numpy": "numpy",
    "rapidfuzz": "rapidfuzz",
    "regex": "regex",
    "rouge_score": "rouge-score",
    "sacrebleu": "sacrebleu",
    "scipy": "scipy",
    "spellchecker": "pyspellchecker",
    "textblob": "textblob",
    "typo": "typo",
    "vl_convert": "vl-convert-python",
}
"""Import -> package, for packages whose behaviour changes outputs: jobs depend on their
versions.

All other packages only read, check, write or send data.
"""


_version = cache(version)


class Computing(TypedDict):
    """The fields of every job's spec that identify what computes its output."""

    code: str
    versions: dict[str, str]


HASHED: ContextVar[bool] = ContextVar("HASHED", default=True)
"""Whether specs identify the code; false if jobs run at once and nothing is kept."""


@contextmanager
def unhashed() -> Iterator[None]:
    """Let specs not identify the code while the block runs: neither it nor the packages
    of studies, which need not be installed, are looked at.
    """
    before = HASHED.set(False)
    try:
        yield
    finally:
        HASHED.reset(before)


def computing(job: str, *loaded: str) -> Computing:
    """Return what computes the output of a job.

    `loaded` are the modules (dotted names) or targets (`module:OBJECT`) that the job
    loads because its spec names them: the import graph does not show these.
    """
    if not HASHED.get():
        return Computing(code="", versions={})
    names = [name.partition(":")[0] for name in loaded]
    return _computing(paths.PACKAGE.parent, f"{PACKAGE}.{JOBS[job]}", *names)


@cache
def _computing(scripts: Path, *names: str) -> Computing:
    roots = {module.partition(".")[0] for module in modules(scripts, *names)}
    others = {}
    for name, each in add_on_distributions().items():
        if name in roots:
            others[each.name] = each.version
    return Computing(
        code=code_hash(scripts, *names),
        versions=versions(packages(scripts, *names)) | others,
    )


@cache
def add_on_distributions() -> dict[str, Distribution]:
    """Return importable name -> the distribution, for all packages with add-ons."""
    return {
        point.module.partition(".")[0]: point.dist for point in add_ons() if point.dist
    }


def versions(shown: Iterable[str]) -> dict[str, str]:
    """Return package -> its installed version."""
    return {name: _version(name) for name in sorted(shown)}


def installed_versions(shown: Iterable[str]) -> dict[str, str]:
    """Return package -> its version, of those that are installed."""
    versions = {}
    for name in sorted(shown):
        with suppress(PackageNotFoundError):
            versions[name] = _version(name)
    return versions


def code_hash(scripts: Path, *names: str) -> str:
    """Return a hash of some modules and of every module of judgescope and of add-ons
    that they can import.

    Imports inside functions are included.
    """
    reached = modules(scripts, *names)
    text = "".join(
        f"{name}:{module.meaning}" for name, module in sorted(reached.items())
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def packages(scripts: Path, *names: str) -> set[str]:
    """Return the packages that modules can import and whose behaviour changes
    outputs.
    """
    reached = modules(scripts, *names).values()
    roots = set[str]()
    for module in reached:
        roots.update(name.partition(".")[0] for name in module.imported)
    return {package for name, package in PACKAGES.items() if name in roots}


class Module(NamedTuple):
    """A module: a hash of its code, and everything that it imports.

    The name of a relative import begins with dots.
    """

    meaning: str
    imported: list[str]


@cache
def modules(scripts: Path, *names: str) -> dict[str, Module]:
    """Return modules, and all modules of judgescope and of add-ons that they can
    import, by name.
    """
    reached: dict[str, Module] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if parent := name.rpartition(".")[0]:
            waiting.append(parent)  # Python runs the package of a module first
        if name not in reached and (path := _file(scripts, name)) is not None:
            package = name
            if path.name != "__init__.py":
                package = name.rpartition(".")[0]
            module = _read(path)
            imported = [resolve_name(each, package) for each in module.imported]
            reached[name] = module._replace(imported=imported)
            waiting += imported
    return reached


@cache
def _file(scripts: Path, module: str) -> Path | None:
    """Return the file of a module of judgescope or of an add-on; None for others."""
    root = module.partition(".")[0]
    if root in add_on_distributions():
        package = find_spec(root)
        if package is None or package.origin is None:
            return None
        scripts = Path(package.origin).parent
        if package.submodule_search_locations is not None:
            scripts = scripts.parent
    elif root != PACKAGE:
        return None
    base = scripts.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _read(path: Path) -> Module:
    """Return a module, cached next to its bytecode, because parsing all of them takes
    seconds.
    """
    source = path.read_bytes()
    digest = hashlib.sha256(_own_source() + source).hexdigest()
    cached = Path(cache_from_source(str(path))).with_suffix(".meaning.json")
    with suppress(OSError, ValueError):
        kept, meaning, imported = json.loads(cached.read_bytes())
        if kept == digest:
            return Module(meaning, imported)
    module = _parsed(source)
    if not sys.dont_write_bytecode:
        with suppress(OSError):  # as Python does if it cannot write bytecode
            cached.parent.mkdir(exist_ok=True)
            with atomic_write(cached) as part:
                part.write_text(json.dumps([digest, *module]), encoding="utf-8")
    return module


@cache
def _own_source() -> bytes:
    return Path(__file__).read_bytes()


def _parsed(source: bytes) -> Module:
    tree = ast.parse(source)
    imported: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            dot = "." if node.module else ""
            imported.append(base)
            imported += [f"{base}{dot}{alias.name}" for alias in node.names]
        _drop_strings(node)
    meaning = hashlib.sha256(_dumped(tree).encode()).hexdigest()
    standard = sys.stdlib_module_names
    others = set()
    for name in imported:
        if name.partition(".")[0] not in standard:
            others.add(name)
    return Module(meaning, sorted(others))


def _dumped(node: object) -> str:
    """Return a tree as text, the same from every Python.

    `ast.dump` writes fields that are empty in one version and leaves them out in the
    next, new versions have new fields, such as parameters of types, and 3.12 has
    strings without a character in nested formats.
    """
    if isinstance(node, ast.JoinedStr):
        return f"JoinedStr({_dumped(list(filter(_has_text, node.values)))})"
    if isinstance(node, ast.AST):
        fields = []
        for name, value in ast.iter_fields(node):
            if value is not None and value != []:
                fields.append(f"{name}={_dumped(value)}")
        return f"{type(node).__name__}({', '.join(fields)})"
    if isinstance(node, list):
        return f"[{', '.join(map(_dumped, node))}]"
    return repr(node)


def _has_text(part: ast.expr) -> bool:
    return not (isinstance(part, ast.Constant) and part.value == "")


def _drop_strings(node: ast.AST) -> None:
    """Remove every string that is a statement: it is documentation."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(
            block, list
        ):  # the body of a lambda or of `x if y else z` is an expression
            setattr(
                node,
                name,
                [statement for statement in block if not _is_string(statement)],
            )


def _is_string(node: ast.AST) -> bool:
    if not isinstance(node, ast.Expr):
        return False
    if not isinstance(node.value, ast.Constant):
        return False
    return isinstance(node.value.value, str)
