"""The command `judgescope`: run a study, or check it."""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from judgescope.cli import (
    compare,
    distill,
    people,
    replies,
    show,
    spotcheck,
)
from judgescope.cli.context import demo, plan_of_study, results_folder, snakemake
from judgescope.cli.examples import add_examples
from judgescope.cli.export import command as export_command
from judgescope.cli.init import command as init_command
from judgescope.cli.snakemake_args import apart, is_dry, with_config
from judgescope.cli.unread_replies import reading
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.excepthook import show_without_secrets
from judgescope.schema.cards import PILOT

INTERRUPTED = 130
"""The status of a command that Ctrl-C ended."""


def main() -> None:
    """Run the command line and exit with Snakemake's status."""
    show_without_secrets()
    parser = command_line()
    arguments, rest = parser.parse_known_args()
    passed = list(apart(rest))
    act = getattr(arguments, "act", None)
    if passed and act:
        parser.error(f"unknown options: {' '.join(passed)}")
    if passed and arguments.command == "distill" and arguments.action == "card":
        parser.error(f"unknown options: {' '.join(passed)}")
    try:
        status = act(arguments) if act else _passing(arguments, passed)
        sys.stdout.flush()
        sys.exit(status)
    except (UserError, UserErrors) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:  # whoever reads wants no more: `judgescope show … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        told = f"{error.strerror or error}: {error.filename}" if error.filename else str(error)
        print(f"a file cannot be read or written: {told}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _passing(arguments: argparse.Namespace, passed: list[str]) -> int:
    """Do a command that passes options on to Snakemake; return its status."""
    if arguments.command == "targets":
        return export_targets(arguments.study, arguments.file, passed, made=arguments.made)
    if arguments.command == "distill":
        return distill.distill(arguments, passed)
    if arguments.command == "pilot":
        return pilot(arguments.study, passed, arguments.share)
    commands = {"run": run, "check": check, "draft": draft}
    return commands[arguments.command](arguments.study, passed)


def run(study: Path | None, passed: list[str]) -> int:
    """Ask what is missing and compute the rest; print the headline and the report's place."""
    if "--unlock" in passed:
        return snakemake(study, "all", passed)
    out = results_folder(study, passed)
    before = _stamp(out)
    dry = is_dry(passed)
    targets = ["all", *([] if dry else _drop_cut(study, passed, out))]
    with nullcontext() if dry else reading(study or demo(), passed, out):
        status = snakemake(study, targets, passed)
        if status or dry:
            return status
        from judgescope.cli.summary import summary, unpriced

        warnings = unpriced(out, lambda: plan_of_study(study or demo(), passed))
        print(summary(out, warnings), flush=True)
        if before is not None and before == _stamp(out):
            print("Nothing had changed: nothing was run.", flush=True)
    return 0


def check(study: Path | None, passed: list[str]) -> int:
    """Validate the study's cards and files and say what a run would do; ask nothing."""
    results_folder(study, passed)  # a file that is no study is told of before Snakemake reads it
    return snakemake(study, "check", passed)


def draft(study: Path | None, passed: list[str]) -> int:
    """Let a model draft what the study's cards lack (steps, sub-aspects); print where it lies."""
    from judgescope.plan.drafts import drafts_of

    path = study or demo()
    plan = plan_of_study(path, passed, drafting=True)
    drafts = drafts_of(plan, str(path))
    if not drafts:
        print("Nothing needs a draft: no aspect or adjustment lacks steps, no writer sub-aspects.")
        return 0
    status = snakemake(study, "drafts", passed, snakefile="workflow/drafts.smk")
    if status == 0 and not is_dry(passed):
        print("Drafts, to be read and pasted into the cards that each names:")
        for one in drafts:
            print(f"  {plan.paths.draft(one.file)}")
    return status


def pilot(study: Path | None, passed: list[str], share: float) -> int:
    """Run a study with a share of the items for all judges that are asked; say what it tells.

    Its results lie beside the study's, its replies in the same store: a full run asks the rest.
    """
    from judgescope.cli.pilot import conclusions

    out = results_folder(study, passed)
    out = out.with_name(out.name + PILOT)
    told = with_config(passed, f"study={out.name}", f"share={share}")
    targets = ["all", *([] if is_dry(passed) else _drop_cut(study, told, out))]
    with nullcontext() if is_dry(passed) else reading(study or demo(), told, out):
        status = snakemake(study, targets, told)
        if status or is_dry(passed):
            return status
    print(conclusions(out))
    if (plan := plan_of_study(study or demo(), passed)).study.distill:
        judge = plan.distillation.judge
        print(f"{judge} has learnt from this share alone: a full run trains it anew")
    print("\nThe full run, beyond what the pilot has in the store already:", flush=True)
    return check(study, [*passed, "--quiet", "all"])


def export_targets(study: Path, file: Path, passed: list[str], *, made: bool) -> int:
    """Make the texts of a study and write every target to a file; ask only for `made` texts."""
    from judgescope.cli.targets import check_file, export

    check_file(file)
    plan = plan_of_study(study, passed)
    status = snakemake(study, "texts" if made else "texts_unasked", passed)
    if status == 0 and not is_dry(passed):
        print(export(plan, Path("results") / plan.study.study, file, made=made))
    return status


def _drop_cut(study: Path | None, passed: Sequence[str], out: Path) -> list[str]:
    """Say which files of replies and scores are cut or gone; return the targets that make them."""
    from judgescope.replies.retry import cut_files

    if not (cut := cut_files(out)):
        return []
    plan = plan_of_study(study or demo(), passed)
    known = {
        out / ("scores" if plan.computes(model) else "replies") / dataset / f"{model}.json"
        for dataset in plan.datasets
        for model in plan.models
        if plan.cells_of(dataset, model)
    }
    for hashes in (made := [one for one in cut if one in known]):
        print(f"{', '.join(map(str, cut[hashes]))}: cut or gone, made again", flush=True)
        hashes.unlink()
    return list(map(str, made))


def _stamp(out: Path) -> int | None:
    pages = (out / "report").glob("*.html")
    return max((page.stat().st_mtime_ns for page in pages), default=None)


def command_line() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="judgescope",
        description="Meta-evaluation of LLM judges. Further options go to Snakemake.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in (
        ("run", "run a study to its report"),
        ("check", "validate a study's cards and files, ask nothing"),
        ("draft", "let a model draft the steps that a study's cards lack, for you to read"),
    ):
        _add_study(commands.add_parser(name, help=about))
    init_command.add_commands(commands)
    show.add_commands(commands)
    compare.add_commands(commands)
    export_command.add_commands(commands)
    replies.add_commands(commands)
    command = commands.add_parser(
        "pilot", help="run a share of a study and say which judges and how many items it needs"
    )
    _add_study(command)
    command.add_argument(
        "--share", type=float, default=0.1, help="the share of each dataset's items; default: .1"
    )
    distill.add_commands(commands, _study)
    people.add_commands(commands)
    spotcheck.add_commands(commands)
    command = commands.add_parser("targets", help="the texts that are judged")
    command.add_argument(
        "action", choices=["export"], help="export: write them to a file, to be scored elsewhere"
    )
    command.add_argument("study", type=Path, help="the study's YAML file")
    command.add_argument("file", type=Path, help="the file to write: .csv, .jsonl or .parquet")
    command.add_argument(
        "--made", action="store_true", help="with the texts that models write: asks for them"
    )
    add_examples(parser)
    return parser


def _add_study(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "study",
        nargs="?",
        type=_study,
        default=None,
        help="the study's YAML file; default: the demo, config/config.yaml",
    )


def _study(text: str) -> Path:
    """Return a study's file; the value of one of Snakemake's options looks like one, too."""
    if Path(text).suffix not in {".yaml", ".yml"}:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no YAML file of a study. Name the study first, or write an option of "
            "Snakemake together with its value: --cores=4"
        )
    return Path(text)
