"""Functions that commands share: the study, its plan and results, Snakemake, its
options.
"""

import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from judgescope.cli import child_process
from judgescope.core.errors import UserError
from judgescope.core.paths import HOME
from judgescope.schema.cards import Dataset, RecordedModel, Study
from judgescope.schema.loading import load_yaml, read_card, validate_card

if TYPE_CHECKING:
    from judgescope.plan.study import Plan

CONFIG = ("--config", "-C")
INTERRUPTED = 130
"""The exit status after Ctrl-C."""


# --- the study ------------------------------------------------------------------------


def demo() -> Path:
    """Return the default study's file, relative to the working directory."""
    return Path(os.path.relpath(HOME / "config" / "config.yaml"))


def command_on(words: str, study: Path | str) -> str:
    """Return a command on a study, to be pasted into a shell."""
    return f"judgescope {words} {shlex.quote(str(study))}"


def plan_of_study(
    study: Path | None, passed: Sequence[str] = (), *, drafting: bool = False
) -> "Plan":
    """Return the plan of a study's file with Snakemake's options applied; None: the
    demo.

    Raises UserError or UserErrors for an invalid study.
    """
    from judgescope.plan.loading import load_plan

    file = study or demo()
    return load_plan(
        study_content(file, passed), HOME, source=str(file), drafting=drafting
    )


def plan_and_results(study: Path | None) -> tuple["Plan", Path]:
    """Return a study's plan, which may lack evaluation steps, and the folder of its
    results.
    """
    plan = plan_of_study(study, drafting=True)
    return plan, Path(plan.results)


def results_folder(study: Path | None, passed: Sequence[str] = ()) -> Path:
    """Return the folder of the study's results, below the working directory."""
    return Path("results") / study_card(study or demo(), passed).study


def study_content(path: Path, passed: Sequence[str] = ()) -> dict[str, object]:
    """Return the unchecked content of a study's file, overridden by the pairs of
    `--config`.

    Raises UserError for an unreadable file and for an argument that is not a pair.
    """
    content: dict[str, object]
    content, _ = load_yaml(path)
    pairs = passed[_config_pairs(passed)]
    if not pairs or not isinstance(content, dict):
        return content
    from snakemake.cli import parse_config
    from snakemake.utils import update_config

    try:
        update_config(content, parse_config(pairs))
    except ValueError as error:
        raise UserError(str(error), where="--config", got=" ".join(pairs)) from None
    return content


def study_card(path: Path, passed: Sequence[str] = ()) -> Study:
    """Return a study's card, checked without other cards; raise UserErrors for all
    problems.
    """
    if passed[_config_pairs(passed)]:
        card: Study = validate_card(
            "study", study_content(path, passed), f"{path} with --config"
        )
    else:
        card = read_card("study", path)
    return card


# --- Snakemake ------------------------------------------------------------------------


def snakemake(
    study: Path | None,
    target: str | list[str],
    passed: Sequence[str] = (),
    *,
    snakefile: str = "workflow/Snakefile",
) -> int:
    """Run Snakemake on the workflow and return its exit status; 128 + signal if it was
    stopped.

    Missing files of the study are fetched first, if its cards give their source. Raises
    ModuleNotFoundError if Snakemake is not installed: its process could only say so.
    """
    if find_spec("snakemake") is None:
        raise ModuleNotFoundError("no Snakemake", name="snakemake")
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(HOME / snakefile)]
    command += [target] if isinstance(target, str) else target
    command += ["--configfile", str(study or demo()), "--logger", "judgescope"]
    profiles = ("--profile", "--workflow-profile")
    if not any(option.startswith(profiles) for option in passed):
        command += profile_options(HOME / "profiles" / "default")
    command += passed
    if "--unlock" in passed:
        _check_unlock()
        return child_process.run(command)[0]
    # here: `audit` runs nothing
    from judgescope.cli.finished import PlanWatch, goal_of
    from judgescope.cli.live_runs import recorded

    goal = goal_of(target, passed)
    name = results_folder(study, passed).name
    watch = None
    if goal is not None:
        watch = PlanWatch(study or demo(), name, goal)
    plan = plan_of_study(study or demo(), passed, drafting=True)
    shown = list[str]()
    if target != "check" and not is_dry(passed):
        shown = _show_and_admit(plan)
    _fetch_missing(plan)
    if is_dry(passed):
        return child_process.run(command)[0]
    if watch is not None:
        watch.add(plan)
    with recorded(name) as record:
        status, stopped = child_process.run(command, keep_open=[record])
    if stopped is None:
        if watch is not None and status == 0:
            watch.remember(plan, shown)
        return status
    print(
        "\nStopped. The same command continues where this one ended.\nAll received "
        "replies are kept: none is requested or paid for again.",
        file=sys.stderr,
    )
    return 128 + stopped


def _fetch_missing(plan: "Plan") -> None:
    """Fetch the files of a plan's cards that are not in the cache yet."""
    from judgescope.data.fetch import fetch_all
    from judgescope.data.files import to_fetch

    missing = []
    for _, name, card in plan.all_cards():
        if isinstance(card, Dataset | RecordedModel):
            missing.append((name, card, to_fetch(card, Path(plan.study.data))))
    fetch_all(missing)


def _show_and_admit(plan: "Plan") -> list[str]:
    """Print what a run contacts, runs and reads, and ask about foreign hosts; return
    the lines.
    """
    from judgescope.plan.access import access, admit

    actions = access(plan)
    lines = list[str]()
    if any(action.kind != "stores" for action in actions):
        lines = list(map(str, actions))
        print("\n".join(lines), flush=True)
    admit(plan, agrees)
    return lines


def agrees(question: str) -> bool:
    """Return whether the user answers yes; the default is no."""
    print(f"{question} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def trust(pairs: Iterable[str]) -> None:
    """Accept pairs VARIABLE@HOST in this process and those that it starts."""
    from judgescope.core.trust import VARIABLE, accepted_pairs

    given = [os.environ.get(VARIABLE, ""), *pairs]
    os.environ[VARIABLE] = ",".join(filter(None, given))
    accepted_pairs()


def _check_unlock() -> None:
    """Raise UserError while a run is active here: two runs must not write the same
    files.
    """
    from judgescope.cli.live_runs import living

    runs = living()
    if runs:
        raise UserError(
            "an active run has locked this folder",
            where=".snakemake",
            got="; ".join(map(str, runs)),
            todo=f"wait for it, or end it (kill {runs[0].process}) and run again "
            "without --unlock",
        )


def split_config(options: Iterable[str]) -> Iterator[str]:
    """Yield options with `--config` and its first pair as two words, however they were
    joined.

    >>> list(split_config(["--config=seed=3", "-Cshare=.1", "-n"]))
    ['--config', 'seed=3', '-C', 'share=.1', '-n']
    """
    for option in options:
        for flag in ("--config=", "-C=", "-C"):
            if option.startswith(flag) and len(option) > len(flag):
                yield flag.rstrip("=")
                yield option.removeprefix(flag)
                break
        else:
            yield option


def is_dry(passed: Sequence[str]) -> bool:
    """Return whether Snakemake only shows what it would run."""
    return bool({"-n", "--dry-run", "--dryrun"}.intersection(passed))


def profile_options(profile: Path) -> list[str]:
    """Return a profile as command-line options, which later options override.

    With a profile, Snakemake prints its path on every call; with options it does not.
    """
    settings, _ = load_yaml(profile / "config.yaml")
    options = ["--workflow-profile=none"]
    for name, value in settings.items():
        if value is True:
            options.append(f"--{name}")
        elif isinstance(value, list):
            options += [f"--{name}", *map(str, value)]
        elif value is not False:
            options.append(f"--{name}={value}")
    return options


def with_config(passed: Sequence[str], *pairs: str) -> list[str]:
    """Return the options with more `--config` pairs, which override those of the
    user.
    """
    end = _config_pairs(passed).stop
    given = list(passed[:end])
    if not set(CONFIG).intersection(passed):
        given.append(CONFIG[0])
    return [*given, *pairs, *passed[end:]]


def _config_pairs(passed: Sequence[str]) -> slice:
    """Return the position of the last `--config`'s pairs, the ones that Snakemake
    uses.
    """
    begin = len(passed)
    for position, word in enumerate(passed):
        if word in CONFIG:
            begin = position + 1
    end = begin
    while end < len(passed) and not passed[end].startswith("-"):
        end += 1
    return slice(begin, end)


# --- files that commands write --------------------------------------------------------


def check_input(path: Path) -> None:
    """Raise UserError, with the files beside it, for a file that does not exist."""
    if path.is_file():
        return
    folder = path.parent
    beside = []
    if folder.is_dir():
        beside = [file.name for file in folder.iterdir()]
    raise UserError(
        "file not found", where=str(path), got=path.name, allowed=beside or None
    )


def check_output(
    path: Path, suffixes: Iterable[str], *, todo: str | None = None
) -> None:
    """Raise UserError for a file that cannot be written, before any work is done for
    it.

    An existing file may be replaced, unless `todo` is given: the advice in the error.
    """
    if path.suffix.lower() not in suffixes:
        allowed = ", ".join(suffixes)
        raise UserError(
            "the command does not write this type of file",
            where=str(path),
            got=path.suffix,
            allowed=allowed,
        )
    if not path.parent.is_dir():
        raise UserError("folder not found", where=str(path), got=str(path.parent))
    if todo is not None and path.exists():
        raise UserError("this file already exists", where=str(path), todo=todo)


def check_new(path: Path, suffixes: Iterable[str], *, force: bool) -> None:
    """Raise UserError as `check_output` does, and for an existing file without
    `--force`.
    """
    todo = "choose another name, or overwrite the file with --force"
    check_output(path, suffixes, todo=None if force else todo)


def write_json_lines(rows: Iterable[Mapping[str, object]], path: Path) -> None:
    """Write rows as JSON lines in ASCII, so that no text contains a Unicode line
    break.
    """
    with path.open("w", encoding="ascii") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
