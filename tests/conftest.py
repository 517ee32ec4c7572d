"""Fixtures of more than one module: the demo, an endpoint that rates, a study that asks
it.
"""

import fcntl
import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from asking import AskedStudy, rate
from running import copy_demo, copy_project, forking, run
from scripted import Endpoint, serve

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # started in the background by a shell: what the tests start would not hear a Ctrl-C
    # either
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    # started by nohup: what the tests start would not hear a hang-up either
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

settings.register_profile("quick", deadline=None, max_examples=10, derandomize=True)
if settings.get_current_profile_name() == "default":
    # a machine may be slow: no example has a time limit
    settings.register_profile("unhurried", deadline=None)
    settings.load_profile("unhurried")

RERUN_ONCE = (
    "tests/browser/",
    "tests/cluster/",
    "tests/faults/",
    "tests/vllm/",
    "tests/unit/cli/test_child_process.py",
    "tests/unit/engines/test_engines_command.py",
    "tests/unit/engines/test_python_function.py",
    "tests/unit/extensions/test_batch.py",
)
"""Tests that start processes, servers and browsers, which a loaded machine may delay.

One of them that fails is run a second time, in the same session, and the summary lists
it as RERUN: what fails twice fails. Tests of numbers, of texts and of whole studies run
once, because a second run would hide what depends on chance.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    what = "of the long tests, only this tenth, from 0"
    parser.addoption("--tenth", type=int, choices=range(10), help=what)
    renew = "write tests/unit/cli/messages.txt anew"
    parser.addoption("--renew", action="store_true", help=renew)


@pytest.hookimpl(trylast=True)  # after -m has taken its tests out
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Keep the long tests of one --tenth; begin with the files that take longest.

    Tests of a file that share a fixture count as one, unless each is `independent`.
    They are dealt out by their seconds, the longest first, to the tenth that has least.
    The first files are those with long tests (without a study first), then files by
    their number of studies: no process then works through one of them while the others
    have nothing left to do.
    """
    for item in items:
        path = item.path.relative_to(config.rootpath).as_posix()
        if path.startswith(RERUN_ONCE):
            item.add_marker(pytest.mark.flaky(reruns=1))
    tenth = config.getoption("--tenth")
    if tenth is not None:
        units = {
            item: str(item.path) if shares(item) else item.nodeid
            for item in items
            if is_long(item)
        }
        seconds = Counter[str]()
        for item, unit in units.items():
            seconds[unit] = max(seconds[unit], seconds_of(item))
        tenths = [Counter[str]() for _ in range(10)]
        for unit in sorted(seconds, key=lambda unit: (-seconds[unit], unit)):
            min(tenths, key=Counter.total)[unit] = seconds[unit]
        dropped = {item for item, unit in units.items() if unit not in tenths[tenth]}
        config.hook.pytest_deselected(items=list(dropped))
        items[:] = [item for item in items if item not in dropped]
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    long = {item.path for item in items if is_long(item)}
    items.sort(
        key=lambda item: (item.path not in long, slow[item.path] > 0, -slow[item.path])
    )


def shares(item: pytest.Item) -> bool:
    """Return whether a test has a fixture that tests of its file share, and may need
    these.
    """
    if item.get_closest_marker("independent"):
        return False
    fixtures = vars(item).get("_fixtureinfo")
    known = fixtures.name2fixturedefs.values() if fixtures else ()
    return any(each[-1].scope in ("module", "class", "package") for each in known)


def seconds_of(item: pytest.Item) -> int:
    """Return what a long test takes of a core, with those that share its fixture: see
    its mark.
    """
    mark = item.get_closest_marker("long")
    return int(mark.args[0] if mark and mark.args else 5 if mark else 1)


def is_long(item: pytest.Item) -> bool:
    """Return whether a test belongs to the long lane."""
    return any(map(item.get_closest_marker, ("long", "simulation")))


def pytest_collection() -> None:
    """Collect no garbage while the tests are collected: a quarter of that time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let no collection of garbage look through thousands of tests, which stay to the
    end.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def no_fetched_data(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let no test read what a user has fetched, nor fetch anything from outside."""
    os.environ["JUDGESCOPE_DATA"] = str(tmp_path_factory.mktemp("fetched"))
    os.environ["JUDGESCOPE_DATA_URL"] = "http://127.0.0.1:9"
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with its demo run, as far as `make demo` has not: once for all, to be
    read only.

    Processes that test side by side share one: the first makes it, and the others wait.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    home, done = shared / "demo" / "here", shared / "demo" / "done.txt"
    home.parent.mkdir(exist_ok=True)
    with (home.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            copy_demo(copy_project(home))
            ended = run(
                *("-m", "judgescope", "run"),
                cwd=home,
                home=home,
                interpreter=forking(home),
            )
            assert ended.returncode == 0, ended.stdout[-3000:]
            done.write_text(ended.stdout, encoding="utf-8")
    return home


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that rates by the request's seed."""
    with serve(rate) as running:
        yield running


@pytest.fixture
def study(tmp_path: Path, endpoint: Endpoint) -> AskedStudy:
    """A study on the demo's dialogues that asks the endpoint."""
    return AskedStudy(tmp_path, endpoint)
