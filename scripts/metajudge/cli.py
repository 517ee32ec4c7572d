"""The command `metajudge`: run a study, or check it."""

import argparse
import signal
import subprocess
import sys
from pathlib import Path

from metajudge.schema.cards import OpenAIModel
from metajudge.schema.errors import UserError, UserErrors

HOME = Path(__file__).resolve().parents[2]
"""The workflow's folder: Snakefile, config, scripts."""


def main() -> None:
    """Run the command line and exit with Snakemake's status."""
    parser = _parser()
    arguments, passed = parser.parse_known_args()
    if passed and arguments.command == "replies":
        parser.error(f"unknown options: {' '.join(passed)}")
    commands = {"run": run, "check": check, "replies": replies}
    try:
        sys.exit(commands[arguments.command](arguments.study, passed))
    except (UserError, UserErrors) as error:
        print(error, file=sys.stderr)
        sys.exit(1)


def run(study: Path | None, passed: list[str]) -> int:
    """Ask what is missing, then compute the rest; print the headline and the report's place.

    Two calls, because Snakemake has no early cutoff within one: after the first, only cells whose
    replies changed are scored again.
    """
    if "--unlock" in passed:
        return snakemake(study, "asked", passed)
    out = results_folder(study)
    before = _stamp(out)
    for target in ("asked", "all"):
        print(f"== {'asking' if target == 'asked' else 'scoring, statistics, report'}", flush=True)
        status = snakemake(study, target, passed)
        if status:
            return status
    if _dry(passed):
        return 0
    from metajudge.summary import summary

    print(summary(out))
    if before is not None and before == _stamp(out):
        print("Nothing had changed: nothing was run.")
    return 0


def check(study: Path | None, passed: list[str]) -> int:
    """Validate the study's cards and files and say what a run would do; ask nothing."""
    return snakemake(study, "check", passed)


def replies(study: Path | None, _: list[str]) -> int:
    """Let what the endpoints of a study refused be asked again by the next run."""
    from metajudge.plan import load_plan
    from metajudge.replies import Store
    from metajudge.replies.retry import drop_answers, forget_errors
    from metajudge.schema.loading import load_yaml

    path = study or HOME / "config" / "config.yaml"
    plan = load_plan(load_yaml(path)[0], HOME, source=str(path))
    for model in plan.models.values():
        if isinstance(model, OpenAIModel):
            with Store(Path(plan.study.store), model.served_name) as store:
                print(f"{model.model}: {forget_errors(store)} refused requests can be asked again")
    files = drop_answers(Path("results") / plan.study.study)
    print(f"reply files of the study that will be made anew: {files}")
    return 0


def snakemake(study: Path | None, target: str, passed: list[str]) -> int:
    """Run Snakemake on the workflow and return its exit status."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(HOME / "Snakefile")]
    command += [target, "--configfile", str(study or HOME / "config" / "config.yaml")]
    if not _dry(passed):
        command += ["--logger", "metajudge"]
    if not any(option.startswith(("--profile", "--workflow-profile")) for option in passed):
        command += ["--workflow-profile", str(HOME / "profiles" / "default")]
    return _wait([*command, *passed])


def _wait(command: list[str]) -> int:
    """Run a command to its end; an interrupt is Snakemake's to handle, so that it can tidy up."""
    stopped = False

    def stop(number: int, _: object) -> None:
        nonlocal stopped
        stopped = True
        if number == signal.SIGTERM:  # Ctrl-C reaches the whole process group by itself
            process.terminate()

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with subprocess.Popen(command) as process:
        for number in before:
            signal.signal(number, stop)
        status = process.wait()
    for number, handler in before.items():
        signal.signal(number, handler)
    if stopped and status:
        print("Stopped. The same command goes on where this one ended.", file=sys.stderr)
    return status


def results_folder(study: Path | None) -> Path:
    """Return where the study's results lie, under the working directory."""
    from metajudge.schema.loading import read_card

    card = read_card("study", study or HOME / "config" / "config.yaml")
    return Path("results") / str(card.study)


def _dry(passed: list[str]) -> bool:
    return bool({"-n", "--dry-run", "--dryrun"}.intersection(passed))


def _stamp(out: Path) -> int | None:
    report = out / "report" / "index.html"
    return report.stat().st_mtime_ns if report.is_file() else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="metajudge",
        description="Meta-evaluation of LLM judges. Further options go to Snakemake.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in (
        ("run", "run a study to its report"),
        ("check", "validate a study's cards and files, ask nothing"),
    ):
        _add_study(commands.add_parser(name, help=about))
    command = commands.add_parser("replies", help="the store of replies")
    command.add_argument(
        "action", choices=["retry"], help="retry: ask again for what an endpoint refused"
    )
    _add_study(command)
    return parser


def _add_study(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "study",
        nargs="?",
        type=Path,
        default=None,
        help="the study's YAML file; default: the demo, config/config.yaml",
    )
