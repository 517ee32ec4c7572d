"""Mutation tests: does a test fail where the library is wrong? See docs/mutants.md.

`make mutants` runs this. mutmut makes one small fault at a time in a copy of the
library, in build/mutants, and runs the tests that reach it. What it has found stays
until the function is changed; `--survivors` tests again what has survived.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scipy.stats import binomtest

HOME = Path(__file__).resolve().parents[2]
PLACE = HOME / "build" / "mutants"
COPY = PLACE / "mutants"
"""What mutmut makes of the place; the tests run there."""
PACKAGES = ("methods", "parsing", "plan", "replies", "scoring", "statistics")
LINKED = "config workflow scripts docs envs benchmarks profiles README.md Makefile"
CACHED = re.compile(
    r"^@(?:lru_)?cache(?:\(.*\))?\n|^ +\w+\.cache_clear\(\)\n", re.MULTILINE
)
REACHES = re.compile(rf"judgescope\.(?:{'|'.join(PACKAGES)})")
OF_TESTS = re.compile(r"^from (test_\w+) import", re.MULTILINE)
LEFT_OUT, NO_TEST = 34, 33
ENDS: dict[int | None, str] = {
    0: "survived",
    NO_TEST: "survived",
    None: "not tested",
    LEFT_OUT: "left out",
}
ENDS |= dict.fromkeys((1, 3, -24, 24, 36, 152, 255), "killed")
"""How the tests of a mutant ended -> what that means; an endless loop is noticed,
too."""


def main() -> None:
    """Make the mutants, test them, and write what survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sample", type=int, help="number of mutants to draw by seed, not all"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="another seed, another sample"
    )
    parser.add_argument(
        "--survivors", action="store_true", help="test again what survived"
    )
    parser.add_argument(
        "--only", default="", help="regular expression: the modules to test"
    )
    given = parser.parse_args()
    stage()
    os.chdir(PLACE)
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    sys.path.insert(0, str(COPY / "tests" / "support"))
    mutmut: Any = import_module(
        "mutmut.__main__"
    )  # here: it reads the working folder's settings
    limits: Any = import_module("mutmut.workers.timeout")
    limits.os = SimpleNamespace(getpid=os.getpid, kill=signal_child)
    mutmut.copy_src_dir()
    mutmut.copy_also_copy_files()
    time_tests()
    mutmut.create_mutants(1)
    choose(given.sample, given.seed, given.only, again=given.survivors)
    mutmut._run((), 1)
    report(mutmut.get_diff_for_mutant)


def signal_child(pid: int, number: int) -> None:
    """Send a signal to a process of ours; ProcessLookupError if it is none.

    mutmut's time limits outlast what they are for, and its number may be another's by
    then.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        raise ProcessLookupError(pid) from None
    if int(text.rpartition(")")[2].split()[1]) != os.getpid():
        raise ProcessLookupError(pid)
    os.kill(pid, number)


def stage() -> None:
    """Copy the library, without its caches, and the tests that name what is mutated."""
    for path in (HOME / "scripts/judgescope").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        name = "judgescope" / path.relative_to(HOME / "scripts/judgescope")
        _write(
            PLACE / name, CACHED.sub("", text) if name.parts[1] in PACKAGES else text
        )
    for file, text in _tests().items():
        _write(PLACE / "tests" / file, text)
    _write(
        PLACE / "pyproject.toml",
        (HOME / "tests/mutants.toml").read_text(encoding="utf-8"),
    )
    COPY.mkdir(exist_ok=True)
    for linked in LINKED.split():
        for location in (PLACE, COPY):  # the package's home, and the tests'
            _link(location / linked, HOME / linked)
    _link(PLACE / "shared", HOME.parent / "shared")


def _tests() -> dict[str, str]:
    """Return the files of tests that name what is mutated, and all that these may
    need.
    """
    home = HOME / "tests"
    paths = [path for path in home.rglob("*") if path.suffix in (".py", ".txt", ".sh")]
    texts = {
        str(path.relative_to(home)): path.read_text(encoding="utf-8") for path in paths
    }
    files = {Path(name).stem: name for name in texts}
    wanted = [
        name
        for name, text in texts.items()
        if not Path(name).name.startswith("test_") or REACHES.search(text)
    ]
    for name in wanted:
        used = {
            files[module] for module in OF_TESTS.findall(texts[name]) if module in files
        }
        wanted += sorted(used - set(wanted))
    return {name: texts[name] for name in wanted}


def _write(path: Path, text: str) -> None:
    """Write a file unless it is as it should be: its time says what mutmut need not do
    again.
    """
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _link(path: Path, target: Path) -> None:
    if not path.is_symlink():
        path.symlink_to(target)


def time_tests() -> None:
    """Run the tests once, before there are mutants: the plugin learns which to leave
    out.
    """
    if not (COPY / "times.json").exists():
        env = {**os.environ, "PYTHONPATH": "tests/support"}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "tests"], cwd=COPY, env=env
        )
        if done.returncode > 1:
            sys.exit("The tests could not be timed.")


def files() -> Iterator[tuple[Path, dict[str, int | None]]]:
    """Yield each mutated file with its mutants and how their tests ended, None: not
    yet.
    """
    for package in PACKAGES:
        for meta in sorted((COPY / "judgescope" / package).rglob("*.py.meta")):
            yield meta, json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]


def choose(sample: int | None, seed: int, only: str, *, again: bool) -> None:
    """Say which mutants are tested: a sample of all, the same each time with one
    seed.
    """
    population = sorted(
        name for _, ends in files() for name in ends if re.search(only, name)
    )
    chosen = set(random.Random(seed).sample(population, len(population))[:sample])
    for meta, ends in files():
        content = json.loads(meta.read_text(encoding="utf-8"))
        for name, end in ends.items():
            if (name in chosen and end == LEFT_OUT) or (
                again and re.search(only, name) and ENDS.get(end) == "survived"
            ):
                ends[name] = None
            elif end is None and name not in chosen:
                ends[name] = LEFT_OUT
        meta.write_text(
            json.dumps(content | {"exit_code_by_key": ends}), encoding="utf-8"
        )


def report(difference: Callable[[str], str]) -> None:
    """Print the share that is killed, by file, and write the survivors as
    differences.
    """
    total, survivors = Counter[str](), list[str]()
    for meta, ends in files():
        counts = Counter(ENDS.get(end, "suspicious") for end in ends.values())
        total += counts
        print(
            f"{meta.parent.name}/{meta.name.removesuffix('.py.meta'):16}",
            _share(counts),
        )
        survivors += [name for name, end in ends.items() if ENDS.get(end) == "survived"]
    print("all", _share(total))
    text = "\n".join(f"# {name}\n{difference(name)}" for name in survivors)
    (PLACE / "survivors.diff").write_text(text, encoding="utf-8")
    print(f"The {len(survivors)} survivors are in {PLACE / 'survivors.diff'}.")


def _share(message: Counter[str]) -> str:
    """Return `killed of tested` with its 95 % interval (Wilson), and what was not
    tested.
    """
    tested = sum(message[state] for state in ("killed", "survived", "suspicious"))
    rest = ", ".join(
        f"{n} {state}" for state, n in sorted(message.items()) if state != "killed"
    )
    if not tested:
        return rest
    interval = binomtest(message["killed"], tested).proportion_ci(method="wilson")
    share = (
        f"{message['killed'] / tested:.1%} ({interval.low:.1%} to {interval.high:.1%})"
    )
    return f"{message['killed']:5} of {tested:5} killed, {share}; {rest}"


if __name__ == "__main__":
    main()
