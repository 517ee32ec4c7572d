"""Whether a study is finished and nothing has changed since: Snakemake takes seconds to
find that out.

After a command in which Snakemake ended well, a record in the working directory keeps a
digest of all that its plan follows from: the name, size, times and inode of the files
of code, cards and data, of the results, of the reply store and of Snakemake's own
records, and the interpreter, its search path and the environment. The next command
compares the digest. If it is equal, Snakemake would find nothing to do and is not
started; in every other case Snakemake decides.

Contents are not read. A file that is written has a new change time, which no program
can set back, so even one that is edited and given its old time counts as changed.
"""

import hashlib
import json
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judgescope import __version__
from judgescope.cli.live_runs import living
from judgescope.core.files import atomic_write
from judgescope.core.paths import HOME, PACKAGE, WORKFLOW

if TYPE_CHECKING:
    from judgescope.plan.study import Plan

Goal = Literal["all", "check"]
"""The target that Snakemake has made; `all` includes what a check needs."""
RECORDS = Path(".snakemake") / "judgescope" / "finished"
"""The folder of the records, one a study."""
METADATA = os.path.join(".snakemake", "metadata")
"""What Snakemake remembers of the files that it made."""
UNFINISHED = tuple(Path(".snakemake", name) for name in ("incomplete", "locks"))
"""The folders in which Snakemake marks files of jobs that have not ended, and itself
while it is active."""
PASSING_VARIABLES = frozenset(("_", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL"))
"""Variables that shells change from command to command; no plan depends on them."""


class NotCovered(Exception):
    """The plan may depend on something that a record does not contain."""


@dataclass(frozen=True)
class FinishedStudy:
    """The record of a study that Snakemake has finished."""

    goal: Goal
    file: str
    """The study's file, as the command line names it."""
    named: list[str]
    """Files and folders that the study's cards name, and its reply store."""
    lines: list[str]
    """What a run prints of the hosts, programs and files that the study uses."""
    digest: str


def shown_lines(study: Path, name: str, goal: Goal) -> list[str] | None:
    """Return what a run prints before it starts, if nothing would be done for a goal.

    study: its file. name: its id. None: Snakemake has to look.
    """
    record = _read(name)
    if record is None or not _is_at_rest(name):
        return None
    if record.file != str(study) or goal not in {record.goal, "check"}:
        return None
    try:
        digest = _digest(_all_watched(study, name, record.named))
    except (NotCovered, OSError):
        return None
    if digest == record.digest:
        return record.lines
    return None


def goal_of(target: str | Sequence[str], passed: Sequence[str]) -> Goal | None:
    """Return the goal of a call of Snakemake; None for one that is not recorded.

    >>> goal_of(["all"], []), goal_of("check", []), goal_of("check", ["--cores", "1"])
    ('all', 'check', None)
    """
    if passed:
        return None
    if target == "check":
        return "check"
    return "all" if "all" in target else None


class PlanWatch:
    """A look at all that a plan follows from, before and after Snakemake."""

    def __init__(self, study: Path, name: str, goal: Goal) -> None:
        """Look at the files of code and cards, before these are read."""
        self._study = study
        self._name = name
        self._goal = goal
        self._named: list[str] | None = None
        self._inputs = ""
        self._cards = self._seen(_fixed(study))

    def add(self, plan: "Plan") -> None:
        """Look also at the files that the cards of a plan name."""
        with suppress(NotCovered):
            self._named = _named(plan)
            self._inputs = self._seen([*_fixed(self._study), *self._named_inputs(plan)])

    def remember(self, plan: "Plan", lines: Sequence[str]) -> None:
        """Write the record, unless something has changed meanwhile."""
        if self._named is None or not self._cards or not self._inputs:
            return
        inputs = [*_fixed(self._study), *self._named_inputs(plan)]
        if self._seen(_fixed(self._study)) != self._cards:
            return
        if self._seen(inputs) != self._inputs:
            return
        # A file that is changed twice within a tick of the clock keeps its time.
        tick = 0.02
        time.sleep(tick)
        watched = _all_watched(self._study, self._name, self._named)
        if not _is_at_rest(self._name):
            return
        # Where nothing can be written, Snakemake looks again the next time.
        with suppress(OSError, NotCovered):
            _write(
                self._name,
                FinishedStudy(
                    self._goal,
                    str(self._study),
                    self._named,
                    list(lines),
                    _digest(watched),
                ),
            )

    def _named_inputs(self, plan: "Plan") -> list[str]:
        """Return what the cards name, without the store, to which a run adds."""
        assert self._named is not None
        return [path for path in self._named if path != str(plan.study.store)]

    def _seen(self, paths: Iterable[str]) -> str:
        """Return a digest; "" if something cannot be looked at."""
        try:
            return _digest(paths)
        except (NotCovered, OSError):
            return ""


# --- the record -----------------------------------------------------------------------


def _record_file(name: str) -> Path:
    return RECORDS / f"{name}.json"


def _read(name: str) -> FinishedStudy | None:
    """Return the record of a study, None without one that this version can read."""
    try:
        return FinishedStudy(**json.loads(_record_file(name).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def _write(name: str, record: FinishedStudy) -> None:
    file = _record_file(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as part:
        part.write_text(json.dumps(vars(record)) + "\n", encoding="utf-8")


def _is_at_rest(name: str) -> bool:
    """Return whether no run is active here, none has left unfinished files, and
    Snakemake could write: else it says what is wrong.
    """
    if living() or any(any(folder.glob("*")) for folder in UNFINISHED):
        return False
    folders = (".", ".snakemake", os.path.join("results", name))
    return all(os.access(folder, os.W_OK) for folder in folders)


# --- what a plan follows from ---------------------------------------------------------


def _fixed(study: Path) -> list[str]:
    """Return the paths of the code, of all cards, and of the study's file."""
    from judgescope.core.trust import TrustRecord

    own = [PACKAGE, PACKAGE.parent / "snakemake_logger_plugin_judgescope"]
    shipped = [HOME / "config", HOME / "profiles", WORKFLOW]
    paths = [*own, *shipped, Path("config"), study, TrustRecord.path()]
    return list(dict.fromkeys(map(os.path.abspath, paths)))


def _all_watched(study: Path, name: str, named: Sequence[str]) -> list[str]:
    """Return everything: inputs, results, the store, and Snakemake's records."""
    return [*_fixed(study), *named, *_results(name), METADATA]


def _results(name: str) -> list[str]:
    """Return what is in the folder of a study's results, without the logs of jobs:
    no plan depends on them, and each check writes one.
    """
    folder = os.path.join("results", name)
    if not os.path.isdir(folder):
        return [folder]
    return [entry.path for entry in _entries(folder) if entry.name != "logs"]


def _named(plan: "Plan") -> list[str]:
    """Return the files and folders that the cards of a plan name, and its reply store.

    Raises NotCovered for a plan that may depend on more.
    """
    from judgescope.plan.extending import study_extensions

    for extension in study_extensions():
        if getattr(plan.study, extension.key, None):
            raise NotCovered(extension.key)
    paths = {str(plan.study.store)}
    for kind, name, card in plan.all_cards():
        if kind in ("dataset", "model"):
            folder = Path(plan.folders[kind, name])
            paths.update(_named_by_card(card, folder, Path(plan.study.data)))
    paths.update(_add_on_folders())
    return sorted(paths)


def _named_by_card(card: object, folder: Path, data: Path) -> Iterator[str]:
    """Yield the files that a card names, and folders in which its patterns look."""
    from judgescope.data.files import HasFiles, absolute, places
    from judgescope.engines.factory import FILES_NAMED
    from judgescope.schema import cards

    if isinstance(card, cards.VllmModel):
        raise NotCovered("weights that vLLM finds")
    if isinstance(card, HasFiles):
        for file in card.files.values():
            if isinstance(file, cards.Hub):
                raise NotCovered("a file on a hub")
            if not file.startswith("package:"):
                for location in places(file, folder, data):
                    if Path.cwd().is_relative_to(location.absolute()):
                        raise NotCovered("a pattern of the working directory")
                    yield str(location)
    single = [getattr(card, key, None) for key in FILES_NAMED]
    if isinstance(card, cards.LlamaModel):
        single.append(card.path)
    for path in filter(None, single):
        yield absolute(path, folder, data)


def _add_on_folders() -> Iterator[str]:
    """Yield the folders of packages with add-ons, which may be edited in place."""
    from importlib.util import find_spec

    from judgescope.plan.code import add_on_distributions

    for package in add_on_distributions():
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise NotCovered(f"the add-on {package}")
        yield from spec.submodule_search_locations or [spec.origin]


# --- its digest -----------------------------------------------------------------------


def _digest(paths: Iterable[str]) -> str:
    """Return a digest of the state of files and folders, and of this process."""
    digest = hashlib.sha256()
    for line in _of_process():
        digest.update(line.encode("utf-8", "surrogateescape") + b"\0")
    for line in _of_search_path():
        digest.update(line.encode("utf-8", "surrogateescape") + b"\0")
    for path in paths:
        for line in _state(path):
            digest.update(line.encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()


def _of_process() -> Iterator[str]:
    """Yield what a plan may see of the process; of the variables only a digest is
    kept.
    """
    if any(name.startswith("SNAKEMAKE") for name in os.environ):
        raise NotCovered("options of Snakemake in the environment")
    yield from (__version__, sys.version, sys.executable, os.getcwd(), *sys.path)
    yield str((sys.stdin.isatty(), sys.stdout.isatty()))  # only there, a run asks
    for name, value in sorted(os.environ.items()):
        if name not in PASSING_VARIABLES:
            yield f"{name}={value}"


def _of_search_path() -> Iterator[str]:
    """Yield the packages that can be imported: their names, and when each was
    installed.
    """
    code = (".py", ".pth", ".so", ".egg-link")
    for folder in sys.path:
        if not os.path.isdir(folder or "."):
            yield from _state(folder)
            continue
        yield folder
        for entry in _entries(folder or "."):
            is_metadata = entry.name.endswith("-info")
            if is_metadata or entry.name.endswith(code):
                yield _line(entry.path, entry.stat())
            elif os.path.exists(os.path.join(entry.path, "__init__.py")):
                # Other folders come and go: the working directory is on the path.
                yield entry.name


def _state(path: str) -> Iterator[str]:
    """Yield a line for a file, or for a folder and all that is below it."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        yield f"{path} is absent"
        return
    if not stat.S_ISDIR(status.st_mode):
        yield _line(path, status)
        return
    yield f"{path} {status.st_mode}"
    for entry in _entries(path):
        if entry.is_dir():
            if entry.is_symlink():
                raise NotCovered(f"a link to a folder: {entry.path}")
            if entry.name != "__pycache__":
                yield from _state(entry.path)
        else:
            yield _line(entry.path, entry.stat())


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _line(path: str, status: os.stat_result) -> str:
    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
    return f"{path} {status.st_mode} {status.st_size} {times} {status.st_ino}"
