"""Tell the licence of every package that a lock names, as the installed packages state it.

`python scripts/licences.py` writes docs/licences.md (`make licences`). With the name of a lock, as
in `.venv-vllm/bin/python scripts/licences.py vllm`, tell that environment's and exit with 1 if
something in it may not be there at run time. Needs nothing but Python: any environment's will do.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

HOME = Path(__file__).resolve().parents[1]
REPORT = HOME / "docs" / "licences.md"
PIN = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)
LIBRARY = re.compile(r"[^/]+\.libs/(\D[a-z_]*)")

PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|PSF|Python Software Foundation|CNRI-Python|ISC|Zlib|CC0|Public Domain",
    re.IGNORECASE,
)
BY_FILE = re.compile(r"MPL|Mozilla|EPL|Eclipse", re.IGNORECASE)
LESSER = re.compile(r"LGPL|Lesser", re.IGNORECASE)
STRONG = re.compile(r"(?<!L)GPL|(?<!Lesser )General Public|Affero|SSPL", re.IGNORECASE)
CLOSED = re.compile(r"proprietary", re.IGNORECASE)
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
TEXTS = {
    "Permission is hereby granted, free of charge": "MIT",
    "Redistribution and use in source and binary forms": "BSD",
    "Apache License Version 2.0": "Apache-2.0",
}
"""What stands in a licence's text, where nothing else tells its name."""
BUNDLED = {
    "libgfortran": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libgomp": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libquadmath": "LGPL-2.1-or-later",
    "libscipy_openblas": "BSD-3-Clause",
}
"""Libraries that wheels bring along, as the licence files of numpy and scipy tell."""

HEAD = """# Licences of what is installed

Written by `make licences` from what the installed packages state; a test holds it equal. Metajudge
itself is under the MIT licence and contains no code of these packages: they are installed from the
index. At run time nothing is under the GPL or the AGPL; tests alone use such packages.

Wheels bring along what no metadata name. That of PuLP, which Snakemake installs: the solver CBC
(EPL), a program of its own. Those of numpy, scipy and scikit-learn, of which one or the other has
these libraries (the exception lets programs of any licence use GCC's):

{libraries}
"""
UNREAD = """
## {title}

No environment with these was there when this was written: their licences were not read. With it,
`{command}` tells them, and fails for what is under the GPL.

{names}
"""


class Licensed(NamedTuple):
    """A package of a lock, what licence it states, and of what kind that is."""

    package: str
    version: str
    licence: str
    kind: str


def packages(*locks: Path) -> dict[str, str]:
    """Return package -> version of locks."""
    return {
        name.lower(): version
        for lock in locks
        for name, version in PIN.findall(lock.read_text(encoding="utf-8"))
    }


def licensed(pins: dict[str, str]) -> Iterator[Licensed]:
    """Yield what every package states; one that is not installed in its version is `ABSENT`."""
    for package, version in sorted(pins.items()):
        try:
            found = distribution(package)
        except PackageNotFoundError:
            found = None
        if found is None or found.version != version:
            yield Licensed(package, version, "", ABSENT)
            continue
        licence = stated(found)
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


def table(title: str, rows: list[Licensed]) -> str:
    """Return a section with a row for each package."""
    lines = [f"\n## {title}\n", "| package | version | licence | kind |", "|---|---|---|---|"]
    for one in rows:
        cleared = f" ({CLEARED[one.package]})" if one.package in CLEARED else ""
        lines.append(f"| {one.package} | {one.version} | {one.licence}{cleared} | {one.kind} |")
    return "\n".join(lines) + "\n"


def report() -> str:
    """Return docs/licences.md."""
    envs = HOME / "envs"
    core = packages(envs / "core.txt")
    test = packages(envs / "test.txt", HOME / "tests" / "axe.txt")
    parts = [
        HEAD.format(libraries="\n".join(f"* {name}: {told}" for name, told in BUNDLED.items())),
        table("At run time (envs/core.txt)", list(licensed(core))),
        table(
            "In tests only (envs/test.txt, tests/axe.txt)",
            list(licensed({name: told for name, told in test.items() if name not in core})),
        ),
    ]
    for stage, command in (
        ("measure", ".venv/bin/python scripts/licences.py measure"),
        ("slurm", ".venv/bin/python scripts/licences.py slurm"),
        ("vllm", ".venv-vllm/bin/python scripts/licences.py vllm"),
        ("train", ".venv-train/bin/python scripts/licences.py train"),
    ):
        pins = packages(envs / f"{stage}.txt")
        unread = sorted(pins.items() - core.items() - test.items())
        more = [f"{name} {told}" for name, told in unread]
        title = f"Not read: what envs/{stage}.txt has beyond those"
        parts.append(UNREAD.format(title=title, command=command, names=", ".join(more)))
    return "".join(parts)


def main(stages: list[str]) -> int:
    """Write the report, or tell of the environments of some locks."""
    if not stages:
        REPORT.write_text(report(), encoding="utf-8")
        return 0
    rows = list(licensed(packages(*(HOME / "envs" / f"{stage}.txt" for stage in stages))))
    print(table(", ".join(stages), rows))
    wrong = [one for one in rows if one.kind in REFUSED]
    print("\n".join(f"look at {one.package}: {one.licence or one.kind}" for one in wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
