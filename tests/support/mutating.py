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
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scipy.stats import binomtest

HOME = Path(__file__).resolve().parents[2]
PACKAGES = ("methods", "parsing", "plan", "replies", "scoring", "statistics")
LINKED = "config workflow scripts docs envs benchmarks profiles README.md Makefile"
CACHED = re.compile(
    r"^@(?:lru_)?cache(?:\(.*\))?\n|^ +\w+\.cache_clear\(\)\n", re.MULTILINE
)
OF_TESTS = re.compile(r"^from (test_\w+) import", re.MULTILINE)
LEFT_OUT, NO_TEST = 34, 33
ENDS: dict[int | None, str] = {
    0: "survived",
    NO_TEST: "survived",
    None: "not tested",
    LEFT_OUT: "left out",
}
TIMEOUTS = (-24, 24, 36, 152, 255)
"""How tests end that the limit of time ends."""
ENDS |= dict.fromkeys((1, 3, *TIMEOUTS), "killed")
"""How the tests of a mutant ended -> what that means; an endless loop is noticed,
too."""


@dataclass(frozen=True)
class Bench:
    """Where mutants are made, of which packages, and which tests must notice them."""

    folder: Path
    packages: tuple[str, ...]
    tests: str
    """The folder of the tests, relative to the checkout."""
    chosen: str = ""
    """A regular expression: the files of tests that run; "": all."""

    @property
    def copy(self) -> Path:
        """The folder that mutmut makes of the room; the tests run there."""
        return self.folder / "mutants"

    def settings(self) -> str:
        """The text of the pyproject.toml that mutmut and pytest read."""
        patterns = [f"judgescope/{package}/*" for package in self.packages]
        general = (HOME / "tests/mutants.toml").read_text(encoding="utf-8")
        # JSON's lists of strings are TOML's, too.
        return (
            f"{general}only_mutate = {json.dumps(patterns)}\n"
            f"pytest_add_cli_args_test_selection = {json.dumps([self.tests])}\n"
        )


def bench_of(room: str | None, chosen: str = "") -> Bench:
    """Return the bench of one room with its own unit tests, or of all with all."""
    if room is None:
        return Bench(HOME / "build" / "mutants", PACKAGES, "tests", chosen)
    folder = HOME / "build" / f"mutants-{room}"
    return Bench(folder, (room,), f"tests/unit/{room}", chosen)


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
    parser.add_argument(
        "--room",
        choices=PACKAGES,
        help="make mutants of this package only, and run only its own unit tests",
    )
    parser.add_argument(
        "--tests", default="", help="regular expression: the files of tests to run"
    )
    parser.add_argument(
        "--timeouts", action="store_true", help="test again what ran out of time"
    )
    given = parser.parse_args()
    bench = bench_of(given.room, given.tests)
    stage(bench)
    os.chdir(bench.folder)
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    sys.path.insert(0, str(bench.copy / "tests" / "support"))
    mutmut: Any = import_module(
        "mutmut.__main__"
    )  # here: it reads the working folder's settings
    limits: Any = import_module("mutmut.workers.timeout")
    limits.os = SimpleNamespace(getpid=os.getpid, kill=signal_child)
    isolation: Any = import_module("mutmut.workers.isolation")
    # The tests have just run when they were timed, and those that fail are left out.
    isolation.ForkRunner.run_clean_tests = lambda *_, **__: 0
    mutmut.copy_src_dir()
    mutmut.copy_also_copy_files()
    time_tests(bench)
    mutmut.create_mutants(1)
    if given.timeouts:
        forget_timeouts(bench)
    choose(bench, given.sample, given.seed, given.only, again=given.survivors)
    mutmut._run((), 1)
    report(bench, mutmut.get_diff_for_mutant)


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


def stage(bench: Bench) -> None:
    """Copy the library, without its caches, and the tests that name what is mutated."""
    for path in (HOME / "scripts/judgescope").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        name = "judgescope" / path.relative_to(HOME / "scripts/judgescope")
        if name.parts[1] in bench.packages:
            text = CACHED.sub("", text)
        _write(bench.folder / name, text)
    for file, text in _tests(bench).items():
        _write(bench.folder / "tests" / file, text)
    _write(bench.folder / "pyproject.toml", bench.settings())
    bench.copy.mkdir(exist_ok=True)
    for linked in LINKED.split():
        # The package's home, and the tests'.
        for location in (bench.folder, bench.copy):
            _link(location / linked, HOME / linked)
    _link(bench.folder / "shared", HOME.parent / "shared")


def _tests(bench: Bench) -> dict[str, str]:
    """Return the bench's files of tests that name what is mutated, and all that these
    may need.
    """
    home = HOME / "tests"
    tests_of_room = HOME / bench.tests
    reaches = re.compile(rf"judgescope\.(?:{'|'.join(bench.packages)})")
    texts = dict[str, str]()
    files = dict[str, str]()
    wanted = list[str]()
    for path in home.rglob("*"):
        if path.suffix not in (".py", ".txt", ".sh", ".json"):
            continue
        name = str(path.relative_to(home))
        is_test = path.name.startswith("test_")
        if is_test and not re.search(bench.chosen, name):
            for location in (bench.folder, bench.copy):
                (location / "tests" / name).unlink(missing_ok=True)
            continue
        text = path.read_text(encoding="utf-8")
        texts[name] = text
        files[path.stem] = name
        is_own = path.is_relative_to(tests_of_room)
        # A room's own tests reach it, even through the commands and jobs.
        names_it = bench.tests != "tests" or reaches.search(text)
        if not is_test or (is_own and names_it):
            wanted.append(name)
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


def time_tests(bench: Bench) -> None:
    """Run the tests once, before there are mutants: the plugin learns which to leave
    out.
    """
    if not (bench.copy / "times.json").exists():
        env = {**os.environ, "PYTHONPATH": "tests/support"}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", bench.tests], cwd=bench.copy, env=env
        )
        if done.returncode > 1:
            sys.exit("The tests could not be timed.")


def files(bench: Bench) -> Iterator[tuple[Path, dict[str, int | None]]]:
    """Yield each mutated file with its mutants and how their tests ended, None: not
    yet.
    """
    for package in bench.packages:
        for meta in sorted((bench.copy / "judgescope" / package).rglob("*.py.meta")):
            yield meta, json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]


def forget_timeouts(bench: Bench) -> None:
    """Have those mutants tested again whose tests the limit of time ended.

    On a loaded machine the limit also ends tests that would have passed.
    """
    for meta, ends in files(bench):
        content = json.loads(meta.read_text(encoding="utf-8"))
        for name, end in ends.items():
            if end in TIMEOUTS:
                ends[name] = None
        content["exit_code_by_key"] = ends
        meta.write_text(json.dumps(content), encoding="utf-8")


def choose(
    bench: Bench, sample: int | None, seed: int, only: str, *, again: bool
) -> None:
    """Say which mutants are tested: a sample of all, the same each time with one
    seed.
    """
    population = sorted(
        name for _, ends in files(bench) for name in ends if re.search(only, name)
    )
    chosen = set(random.Random(seed).sample(population, len(population))[:sample])
    for meta, ends in files(bench):
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


def report(bench: Bench, difference: Callable[[str], str]) -> None:
    """Print the share that is killed, by file, and write the survivors as
    differences.
    """
    total, survivors = Counter[str](), list[str]()
    for meta, ends in files(bench):
        counts = Counter(ENDS.get(end, "suspicious") for end in ends.values())
        total += counts
        print(
            f"{meta.parent.name}/{meta.name.removesuffix('.py.meta'):16}",
            _share(counts),
        )
        survivors += [name for name, end in ends.items() if ENDS.get(end) == "survived"]
    print("all", _share(total))
    text = "\n".join(f"# {name}\n{difference(name)}" for name in survivors)
    (bench.folder / "survivors.diff").write_text(text, encoding="utf-8")
    print(f"The {len(survivors)} survivors are in {bench.folder / 'survivors.diff'}.")


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
