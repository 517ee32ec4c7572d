"""The command `judgescope`: its subcommands, and those that run or check a study."""

import argparse
import errno
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from inspect import getdoc
from itertools import product
from pathlib import Path
from platform import python_version
from typing import NoReturn

from judgescope import __version__
from judgescope.cli import commands, completion, context, gate_options, planning
from judgescope.cli.completion import add_examples
from judgescope.cli.context import is_dry, plan_of_study, snakemake
from judgescope.cli.terminal import plural, print_any_name
from judgescope.cli.unread_replies import reading
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.extras import IN_BASE, missing_package
from judgescope.core.paths import Paths
from judgescope.core.secrets import print_exception, show_without_secrets
from judgescope.schema.cards import PILOT

GROUPS: dict[str, tuple[str, ...]] = {
    "run and check": ("run", "check", "pilot", "draft", "spotcheck"),
    "data": ("audit", "init", "new", "cards", "schema", "data"),
    "results": ("show", "compare", "rate-plan"),
    "judges in use": ("passport", "gate"),
    "replies and money": ("replies",),
    "people": (),
    "training": (),
    "shell": ("completion",),
}
"""The commands in the order of the help; those of extensions follow in each group."""


def groups() -> dict[str, tuple[str, ...]]:
    """Group of the help -> its commands, with those of extensions."""
    grouped = dict(GROUPS)
    for each in commands.extension_commands():
        grouped[each.group] += (each.name,)
    return {group: names for group, names in grouped.items() if names}


@dataclass(frozen=True)
class ExitCodes:
    """The exit codes of errors."""

    failed: int = 1
    """Of an error, unless the command sets its own (`failed`)."""
    wrong_use: int = 2
    """Of a wrong command line."""


EXIT = ExitCodes()


def main() -> None:
    """Run the command line and exit with the command's status."""
    show_without_secrets()
    # ASCII has no ρ, and no …
    print_any_name(sys.stdout, [*sys.argv, os.getcwd()])
    # An audit is so short that to describe all other commands would be felt.
    parser = command_line(only_audit=sys.argv[1:2] == ["audit"])
    if not sys.argv[1:]:
        parser.print_help(sys.stderr)
        sys.exit(EXIT.wrong_use)
    args, unknown = parser.parse_known_args()
    args.passed = list(context.split_config(unknown))
    if args.command is None:
        parser.error(
            f"name a command before {' '.join(unknown)}: judgescope --help lists them"
        )
    if args.passed and not _for_snakemake(args, parser):
        parser.error(_unexpected(args, parser))
    sys.exit(_status_of(args))


def _status_of(args: argparse.Namespace) -> int:
    """Run a command; return its exit status, after printing an error if it fails."""
    try:
        pairs = getattr(args, "trust", None)
        if pairs:
            context.trust(pairs)
        status: int = args.act(args)
        sys.stdout.flush()
        return status
    except (UserError, UserErrors) as error:
        print(error, file=sys.stderr)
    except ModuleNotFoundError as error:
        missing = missing_package(error, args.command)
        if missing is None:
            print_exception()
        else:
            print(missing, file=sys.stderr)
    except BrokenPipeError:  # the reader closed the pipe: `judgescope show … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(_of_file(error, args.command), file=sys.stderr)
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return context.INTERRUPTED
    except MemoryError:
        print("out of memory", file=sys.stderr)
    except Exception:  # a fault of the program, of any kind
        # Python's own exit code would be 1, which means something else to `audit`.
        print_exception()
    # A command may set its code on the way.
    return getattr(args, "failed", EXIT.failed)


def _of_file(error: OSError, command: str) -> UserError | str:
    """Return what an error of the machine or of a file means for a command."""
    from judgescope.plan.jobs import of_machine  # few commands need it

    if error.errno in (errno.EACCES, errno.EROFS) and command in IN_BASE:
        return UserError(
            "no permission to read or write",
            where=str(Path(error.filename or ".").absolute()),
            todo="run the command in a folder in which you may write, or name a file "
            "in one",
        )
    reason = str(error)
    if error.filename:
        reason = f"{error.strerror or error}: {error.filename}"
    return of_machine(error) or f"a file cannot be read or written: {reason}"


def _for_snakemake(args: argparse.Namespace, parser: argparse.ArgumentParser) -> bool:
    """Return whether words that the command does not know are options of Snakemake."""
    if not getattr(args, "passes_options", False) or _positional(args.passed):
        return False
    # An option so similar to one of ours is a misspelt one, and none of Snakemake's.
    return not _meant(args.passed, parser, cutoff=0.85)


def _positional(words: Sequence[str]) -> list[str]:
    """Return the words that are surely no options and no option's values."""
    positional = []
    option = "--="
    for word in words:
        takes_no_more = "=" in option or is_dry([option])
        follows_option = option.startswith("-") and takes_no_more
        if follows_option and not word.startswith("-"):
            positional.append(word)
        option = word
    return positional


def _unexpected(args: argparse.Namespace, parser: argparse.ArgumentParser) -> str:
    """Return the error for words that the command does not accept, with the nearest
    option.
    """
    has_options = any(word.startswith("-") for word in args.passed)
    several = getattr(args, "more_files", None)
    if several and not has_options:
        return str(several(args.file, args.passed))
    words = _positional(args.passed)
    if words and getattr(args, "passes_options", False):
        return (
            f"`{args.command}` takes one study, not also {' '.join(words)}; Snakemake "
            "makes single files: snakemake FILE --configfile "
            f"{getattr(args, 'study', None) or 'STUDY'}"
        )
    kind = "options" if has_options else "arguments"
    problem = f"unknown {kind}: {' '.join(args.passed)}"
    near = _meant(args.passed, parser)
    if near:
        return f"{problem}, did you mean {', '.join(near)}?"
    return problem


def _meant(
    words: Sequence[str], parser: argparse.ArgumentParser, cutoff: float = 0.6
) -> list[str]:
    """Return the options of the command that are nearest to unknown ones."""
    known = _options(parser, sys.argv[1:])
    nearest = []
    for word in words:
        if word.startswith("-"):
            option = word.partition("=")[0]
            nearest += get_close_matches(option, known, 1, cutoff)
    return nearest


def _options(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
    """Return the options of the command that a command line names."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            name = next(word for word in words if word in action.choices)
            return _options(action.choices[name], words)
    return list(parser._option_string_actions)


# --- the command line -----------------------------------------------------------------


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors suggest the nearest name."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and exit."""
        self.print_usage(sys.stderr)
        is_verdict = sys.argv[1:2] in (["audit"], ["gate"])
        status = commands.BROKEN if is_verdict else EXIT.wrong_use
        self.exit(status, f"{self.prog}: error: {message}\n")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        near = get_close_matches(str(value), map(str, action.choices or []), n=1)
        if action.choices is not None and value not in action.choices and near:
            choices = ", ".join(map(repr, action.choices))
            message = (
                f"invalid choice: {value!r}, did you mean {near[0]!r}? (choose "
                f"from {choices})"
            )
            raise argparse.ArgumentError(action, message)
        super()._check_value(action, value)


def command_line(*, only_audit: bool = False) -> argparse.ArgumentParser:
    """Return the parser of all commands, or of one."""
    parser: argparse.ArgumentParser = CommandParser(
        prog="judgescope", usage="judgescope [-h] [--version] COMMAND ..."
    )
    added = parser.add_subparsers(
        prog="judgescope", dest="command", help=argparse.SUPPRESS
    )
    if only_audit:
        commands.add_audit(added)
        add_examples(parser, completion.EXAMPLES)
        return parser
    versions = f"judgescope {__version__}, Python {python_version()}"
    with suppress(PackageNotFoundError):
        # From its metadata: its import takes a second.
        versions += f", Snakemake {version('snakemake')}"
    parser.add_argument(
        "--version",
        action="version",
        version=versions,
        help="show the versions of judgescope, Python and Snakemake",
    )
    _add_run(added)
    _add_check(added)
    _add_study_command(
        added, "draft", draft, "let a model draft missing evaluation steps"
    )
    _add_pilot(added)
    commands.add_audit(added)
    commands.add_init(added)
    commands.add_new(added)
    commands.add_cards(added)
    commands.add_schema(added)
    commands.add_data(added)
    commands.add_show(added)
    commands.add_compare(added)
    planning.add_commands(added)
    gate_options.add_commands(added)
    commands.add_replies(added)
    for each in commands.extension_commands():
        each.add(added)
    completion.add_commands(added, command_line)
    _add_spotcheck(added)
    add_examples(parser, completion.examples())
    parser.description = "\n".join(_overview(added))
    return parser


def _add_study_command(
    added: commands.Commands,
    name: str,
    act: Callable[[argparse.Namespace], int],
    about: str,
) -> argparse.ArgumentParser:
    """Add a command on a study that passes options on to Snakemake."""
    command: argparse.ArgumentParser = added.add_parser(
        name, help=about, description=getdoc(act)
    )
    command.add_argument(
        "study",
        nargs="?",
        type=commands.study_file,
        help="the study's YAML file; default: the demo, config/config.yaml",
    )
    command.set_defaults(act=act, passes_options=True)
    commands.add_trust(command)
    return command


def _add_run(added: commands.Commands) -> None:
    command = _add_study_command(added, "run", run, "run a study and write its report")
    command.add_argument(
        "--sensitivity",
        action="store_true",
        help="recompute a finished study with each value of its key `unread`, in "
        "separate folders (results/STUDY-unread-POLICY), and print the main "
        "numbers that change; sends no requests",
    )


def _add_check(added: commands.Commands) -> None:
    command = _add_study_command(
        added, "check", check, "validate cards and files, and estimate the price"
    )
    command.add_argument(
        "--probe",
        action="store_true",
        help="also test with at most 8 small requests per model which fields its "
        "endpoint accepts, and print the lines that cards lack",
    )
    command.add_argument(
        "--write",
        action="store_true",
        help="with --probe: write these lines into the cards (into copies of shipped "
        "ones in config/models)",
    )


def _add_pilot(added: commands.Commands) -> None:
    command = _add_study_command(
        added, "pilot", pilot, "run on a sample; estimate how many items it needs"
    )
    command.add_argument(
        "--share",
        type=float,
        default=0.1,
        help="the share of each dataset's items; default: .1",
    )


def _add_spotcheck(added: commands.Commands) -> None:
    command = added.add_parser(
        "spotcheck",
        help="write a page with a sample of perturbed texts",
        description="Make the study's perturbed texts, and write a page with a sample "
        "from each perturbation. Sends requests only for texts that a model "
        "writes.",
    )
    command.add_argument("study", type=Path, help="the study's YAML file")
    command.set_defaults(act=spotcheck)
    commands.add_trust(command)


def _overview(added: commands.Commands) -> Iterator[str]:
    """Yield a line for each command, by group, in the order of the help."""
    yield "Meta-evaluation of LLM judges.\n"
    abouts = {action.dest: action.help for action in added._get_subactions()}
    for group, names in groups().items():
        heading = group
        for name in names:
            yield f"{heading:19}{name:11}{abouts[name]}"
            heading = ""
    yield "\nCommands that run a study pass further options on to Snakemake."


# --- commands that run Snakemake ------------------------------------------------------


def run(args: argparse.Namespace) -> int:
    """Run the missing jobs of a study; print the main results and the report's path."""
    if "--unlock" in args.passed:
        return snakemake(args.study, "all", args.passed)
    from judgescope.cli.sensitivity import sensitivity
    from judgescope.cli.summary import summary, unpriced

    if args.sensitivity:
        return sensitivity(args.study, args.passed)
    out = context.results_folder(args.study, args.passed)
    before = _last_written(out)
    is_partial = _is_partial(args.passed)
    files = _files(out) if is_partial else {}
    with _finished(args.study, args.passed, out) as status:
        if status or is_dry(args.passed):
            return status
        if is_partial:
            made = []
            for path, written in _files(out).items():
                if files.get(path) != written:
                    made.append(path)
            print("\n".join(_listed(out, made)), flush=True)
            if Path(Paths(str(out)).report("index.html")) not in made:
                return 0
        warnings = unpriced(out, lambda: plan_of_study(args.study, args.passed))
        print(summary(out, warnings), flush=True)
        if before is not None and before == _last_written(out):
            print("Everything is up to date: no job ran.", flush=True)
    return 0


@contextmanager
def _finished(study: Path | None, passed: Sequence[str], out: Path) -> Iterator[int]:
    """Run a study and yield the exit status; count unreadable replies until the block
    ends.

    Raises UserError if the run would send requests that are already in a batch.
    """
    if is_dry(passed):
        yield snakemake(study, "all", passed)
        return
    from judgescope.cli import finished  # `audit` runs nothing

    file = study or context.demo()
    card = context.study_card(file, passed)
    _check_no_open_batch(card.store, card.ledger, file)
    targets = ["all", *_damaged(study, passed, out)]
    if finished.goal_of(targets, passed) and len(targets) == 1:
        shown = finished.shown_lines(file, card.study, "all")
        if shown is not None:
            if shown:
                print("\n".join(shown), flush=True)
            yield 0
            return
    with reading(file, passed, out):
        yield snakemake(study, targets, passed)


def _check_no_open_batch(store: str, ledger: str, study: Path) -> None:
    """Raise UserError while a study has batches: a run would pay for their requests
    again.
    """
    from judgescope.replies.open_batches import close_lost, under_way

    close_lost(Path(store), ledger)
    batches = under_way(Path(store), ledger)
    if batches:
        count = sum(each.record.requests for each in batches)
        raise UserError(
            f"{count:,} requests of this study are in batches: a run would pay for "
            "them again",
            where=f"study {ledger}",
            got=", ".join(each.record.batch or "not sent" for each in batches),
            todo=f"{context.command_on('batch fetch', study)}; or `batch cancel`, then "
            "`batch fetch`",
        )


def _damaged(study: Path | None, passed: Sequence[str], out: Path) -> list[str]:
    """Return the targets that remake incomplete or missing reply and score files."""
    from judgescope.plan.specs.judging import hashes_file
    from judgescope.replies.compaction import cut_files

    damaged = cut_files(out)
    if not damaged:
        return []
    plan = plan_of_study(study, passed)
    known = set()
    for dataset, model in product(plan.datasets, plan.models):
        if plan.cells_of(dataset, model):
            known.add(Path(hashes_file(plan, dataset, model)))
    targets = []
    for hashes, files in damaged.items():
        if hashes not in known:
            continue
        targets.append(str(hashes))
        if files:
            names = ", ".join(map(str, files))
            print(f"{names}: incomplete or missing, remade now", flush=True)
            hashes.unlink()
    return targets


def _is_partial(passed: Sequence[str]) -> bool:
    """Return whether Snakemake makes only a part of a study."""
    names = ("--until", "-U", "--omit-from", "-O")
    return any(word.partition("=")[0] in names for word in passed)


def _files(out: Path) -> dict[Path, int]:
    """Return each result file with the time at which it was written.

    Logs and benchmarks hold what jobs did, and no result: they are left out.
    """
    files = {}
    for path in sorted(out.rglob("*")):
        folder = path.relative_to(out).parts[0]
        if path.is_file() and folder not in ("logs", "benchmarks"):
            files[path] = path.stat().st_mtime_ns
    return files


def _listed(out: Path, made: Sequence[Path]) -> Iterator[str]:
    """Yield a line for each folder of results in which a run has made files."""
    if not made:
        yield "Everything is up to date: no job ran."
    folders = Counter(path.relative_to(out).parts[0] for path in made)
    for name, count in folders.items():
        only = ""
        if (out / name).is_dir():
            only = f": {plural(count, 'file')}"
        yield f"made: {out / name}{only}"


def _last_written(out: Path) -> int | None:
    pages = (out / "report").glob("*.html")
    return max((page.stat().st_mtime_ns for page in pages), default=None)


def check(args: argparse.Namespace) -> int:
    """Validate the study's cards and files and show what a run would do; send no
    request, unless --probe asks for it.
    """
    if args.write and not args.probe:
        args.failed = EXIT.wrong_use
        raise UserError(
            "--write writes what a probe finds",
            where="judgescope check",
            got="--write without --probe",
            todo="add --probe",
        )
    from judgescope.cli.checking import check_study  # `audit` checks no study

    # The card is checked before Snakemake reads it.
    context.results_folder(args.study, args.passed)
    status = check_study(args.study, args.passed)
    if status or not args.probe:
        return status
    from judgescope.cli.probe import probe_study

    return probe_study(args.study, args.passed, write=args.write)


def draft(args: argparse.Namespace) -> int:
    """Let a model draft evaluation steps and sub-aspects missing from cards; print the
    files.
    """
    from judgescope.plan.drafts import drafts_of

    plan = plan_of_study(args.study, args.passed, drafting=True)
    drafts = drafts_of(plan, str(args.study or context.demo()))
    if not drafts:
        print("No drafts are needed: no card lacks evaluation steps or sub-aspects.")
        return 0
    status = snakemake(
        args.study, "drafts", args.passed, snakefile="workflow/drafts.smk"
    )
    if status == 0 and not is_dry(args.passed):
        print("Review these drafts, and paste them into the cards that they name:")
        for each in drafts:
            print(f"  {plan.paths.draft(each.file)}")
    return status


def pilot(args: argparse.Namespace) -> int:
    """Run a study on a share of the items, for all judges that receive requests.

    Print which judges the study needs, how many items, and which requests the full run
    would add. The pilot has its own results but shares the study's reply store: no
    request is sent twice.
    """
    from judgescope.cli.pilot import conclusions

    out = context.results_folder(args.study, args.passed)
    out = out.with_name(out.name + PILOT)
    passed = context.with_config(
        args.passed, f"study={out.name}", f"share={args.share}"
    )
    with _finished(args.study, passed, out) as status:
        if status or is_dry(passed):
            return status
    print(conclusions(out))
    plan = plan_of_study(args.study, args.passed)
    if plan.study.distill:
        judge = plan.distillation.judge
        print(f"{judge} was trained on this share only: the full run trains it again")
    print("\nWhat the full run adds to the pilot's stored replies:", flush=True)
    args.passed = [*args.passed, "--quiet", "all"]
    # The pilot has asked the model already.
    args.probe = False
    args.write = False
    return check(args)


def spotcheck(args: argparse.Namespace) -> int:
    """Make the page of a study's perturbed texts and print its path."""
    from judgescope.plan.specs.page_facts import perturbed_sets

    plan, out = context.plan_and_results(args.study)
    if not perturbed_sets(plan):
        raise UserError(
            "this study perturbs no texts",
            where=f"{args.study}, key perturbations",
            todo="add `perturbations`, and the method discernment or confusion",
        )
    page = Path(Paths(str(out)).report("texts.html"))
    status = snakemake(args.study, str(page))
    if status == 0:
        print(f"open {page}")
    return status
