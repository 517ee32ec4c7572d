"""The commands `judgescope replies …` and `judgescope batch …`."""

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgescope.cli import read_replies
from judgescope.cli.show import plain
from judgescope.core.errors import UserError

if TYPE_CHECKING:
    from judgescope.plan import Plan

DEFAULT = Path("cache/replies")
Arguments = argparse.Namespace
Act = Callable[[Arguments], int]


def add_commands(commands: Any) -> None:
    """Add the commands to a parser's subcommands; each sets `act`, which does it."""
    tools = commands.add_parser("replies", help="the store of replies")
    tools = tools.add_subparsers(dest="action", required=True)
    read_replies.add_command(tools)
    _add(tools, "retry", retry, "let what an endpoint refused be asked again", study="?")
    _add(tools, "stats", stats, "what the store holds, by model", study="?", store=True)
    look = _add(tools, "verify", verify, "look at every line", study="?", store=True)
    look.add_argument(
        "--drop", action="store_true", help="let what stood in damaged lines be asked for again"
    )
    _add(tools, "compact", compact, "join old journals", study="?", store=True)
    for name, act, about in (
        ("export", export, "write a study's replies, or all, to a file"),
        ("import", merge, "take the replies of such a file"),
    ):
        _add(tools, name, act, about, file=True, study="?", store=True)
    prune = _add(tools, "prune", clear_out, "drop what the named studies do not use", study="+")
    prune.add_argument("--yes", action="store_true", help="do it; without, only say what it would")
    files = commands.add_parser("batch", help="missing requests as files for a batch endpoint")
    files = files.add_subparsers(dest="action", required=True)
    to = _add(files, "export", export_batch, "write the requests that lack a reply", study=None)
    to.add_argument("folder", type=Path, help="where the files go")
    of = _add(files, "import", import_batch, "take the results into the store", study=None)
    of.add_argument("files", type=Path, nargs="+", help="result and error files, in any order")


def _add(
    tools: Any,
    name: str,
    act: Act,
    about: str,
    *,
    study: str | None,
    file: bool = False,
    store: bool = False,
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = tools.add_parser(name, help=about)
    if file:
        parser.add_argument("file", type=Path, help="a Parquet file")
    parser.add_argument("study", type=Path, nargs=study, help="the study's YAML file")
    if store:
        parser.add_argument("--store", type=Path, help="a store's folder, where not the study's")
    parser.set_defaults(act=act)
    return parser


def _plan(study: Path | None) -> tuple["Plan", Path, Path]:
    """Return a study's plan with its drafter, the workflow's folder, and that of its results."""
    from judgescope.cli.context import demo, plan_of_study
    from judgescope.core.paths import HOME

    plan = plan_of_study(study or demo(), drafting=True)
    return plan, HOME, Path("results") / plan.study.study


def _store(told: Arguments, *, new: bool = False) -> Path:
    """Return the folder of the store that is meant: the option's, the study's, or the usual one."""
    folder: Path = told.store or (Path(_plan(told.study)[0].study.store) if told.study else DEFAULT)
    if not new and not folder.is_dir():
        raise UserError("there is no store here", where=str(folder), todo="name it by --store")
    return folder


def retry(told: Arguments) -> int:
    """Let what the endpoints of a study refused be asked again by the next run."""
    from judgescope.replies.retry import drop_answers, forget_errors
    from judgescope.replies.store import Store
    from judgescope.schema.cards import AskedModel

    plan, _, out = _plan(told.study)
    for model in plan.models.values():
        if isinstance(model, AskedModel):
            with Store(Path(plan.study.store), model.served_name) as store:
                print(f"{model.model}: {forget_errors(store)} refused requests can be asked again")
    print(f"reply files of the study that will be made anew: {drop_answers(out)}")
    return 0


def stats(told: Arguments) -> int:
    """Print what each shard of a store holds."""
    from judgescope.replies.inspection import stats as count
    from judgescope.replies.shard import shards

    for shard in shards(_store(told)):
        one = count(shard)
        used = ", ".join(f"{n:,} {name}" for name, n in sorted(one.tokens.items())) or "none told"
        print(f"{shard.name}: {one.replies:,} replies to {one.questions:,} questions")
        print(f"  errors {one.errors:,}, forgotten {one.forgotten:,}")
        print(f"  tokens: {used}; {one.unknown:,} replies do not say")
        files = f"{one.journals} journals, {one.compacted} compacted files"
        print(f"  {files}, {one.bytes:,} bytes; lines passed over: {one.skipped}")
    return 0


def verify(told: Arguments) -> int:
    """Print what is to be said of a store's lines; 1 if any of them is wrong.

    With `--drop`, what stood in damaged lines may be asked and paid for again.
    """
    from judgescope.replies.corruption import drop
    from judgescope.replies.inspection import verify as look
    from judgescope.replies.shard import shards

    wrong = notes = 0
    for shard in shards(_store(told)):
        for finding in look(shard):
            print(f"{finding.where}: {finding.what}")
            wrong, notes = wrong + finding.wrong, notes + (not finding.wrong)
        if told.drop and (count := drop(shard)):
            print(
                f"{shard.name}: {count} damaged lines dropped; a run asks again for what is missing"
            )
    print(f"wrong: {wrong}; to be noted: {notes}")
    return int(wrong > 0)


def compact(told: Arguments) -> int:
    """Join the files of every shard."""
    from judgescope.replies.compaction import compact as join
    from judgescope.replies.shard import shards

    for shard in shards(_store(told)):
        done = join(shard)
        print(f"{shard.name}: {len(done.removed)} files joined, {done.freed:,} bytes freed")
        for path, reason in done.left.items():
            print(f"  {path.name} stays: {reason}")
    return 0


def export(told: Arguments) -> int:
    """Write the replies of a study, or of a whole store, to one file."""
    from judgescope.plan.asking_jobs import used_keys
    from judgescope.replies.exchange import export as write
    from judgescope.replies.key_table import having

    store = _store(told)
    chosen = None
    if told.study:
        used = used_keys(_plan(told.study)[0], whole=False)
        chosen = {shard: having(keys) for shard, keys in used.items()}
    print(f"{told.file}: {write(store, told.file, chosen):,} lines")
    return 0


def merge(told: Arguments) -> int:
    """Take the replies of an exported file into a store."""
    from judgescope.replies.exchange import merge as take

    for shard, done in take(told.file, _store(told, new=True)).items():
        print(
            f"{plain(shard)}: {done.new:,} new, {done.there:,} were there, "
            f"{done.skipped:,} no replies"
        )
        if done.differs:
            print(
                f"  {done.differs:,} of the new ones answer what was answered here otherwise: "
                "both are kept, and the first by its bytes counts, here and elsewhere"
            )
    return 0


def clear_out(told: Arguments) -> int:
    """Drop the replies that no named study uses, or say what that would free."""
    from judgescope.plan.asking_jobs import used_keys
    from judgescope.replies.compaction import compact as join
    from judgescope.replies.compaction import unused
    from judgescope.replies.key_table import having, joined
    from judgescope.replies.shard import shards

    plans = [_plan(study) for study in told.study]
    stores = sorted({plan.study.store for plan, _, _ in plans})
    if len(stores) > 1:
        raise UserError("the studies have several stores", where="replies prune", got=stores)
    used = joined(used_keys(plan, whole=True) for plan, _, _ in plans)
    for shard in shards(Path(stores[0])):
        keep = having(used.get(shard.name))
        lines, size = unused(shard, keep)
        print(f"{shard.name}: {lines:,} lines are not used, {size:,} bytes of text")
        if told.yes and lines:
            done = join(shard, keep=keep)
            print(f"  {done.freed:,} bytes freed")
            for path, reason in done.left.items():
                print(f"  {path.name} stays: {reason}")
    if not told.yes:
        print("Nothing was dropped: --yes does it.")
    return 0


def export_batch(told: Arguments) -> int:
    """Write the requests of a study that lack a reply; make the texts that need no model first."""
    from judgescope.cli.context import snakemake
    from judgescope.core.paths import Paths
    from judgescope.plan.asking_jobs import of_endpoints
    from judgescope.plan.generators import makers_of, supervisors
    from judgescope.replies import batch
    from judgescope.replies.corruption import check
    from judgescope.replies.store import Store

    plan, _, out = _plan(told.study)
    # requests are paid for: before they are written, a judge that learns must be known to be able
    first = [Paths(str(out)).student()] if plan.taught else []
    if status := snakemake(told.study, ["texts_unasked", *first], []):
        return status
    for card, jobs in of_endpoints(plan):
        name = card.model
        store = Store(Path(plan.study.store), card.served_name)
        check(store.shard)  # what is written is paid for
        looked = [batch.Looked(one.job, store.find(one.job.wanted)) for one in jobs]
        written = batch.write(told.folder, name, batch.lines(card, looked))
        print(f"{name}: {sum(written.values()):,} requests in {len(written)} files")
        for path, count in written.items():
            print(f"  {path}: {count:,}")
        for one in jobs:
            for place, count in one.later.items():
                maker = " and ".join(makers_of(plan, one.dataset, place))
                print(
                    f"  after these come {count} cells of {one.dataset} about {place}: "
                    f"{maker} has yet to be asked (judgescope run)"
                )
    for dataset in plan.datasets:
        for model, ensembles in supervisors(plan, dataset).items():
            what = f"the errors that {', '.join(ensembles)} has of {dataset}"
            print(f"after all come {what}: {model} merges them (judgescope run)")
    return 0


def import_batch(told: Arguments) -> int:
    """Take the results of batch files into the store."""
    from judgescope.plan.asking_jobs import of_endpoints
    from judgescope.replies import batch
    from judgescope.replies.store import Store

    plan, _, _ = _plan(told.study)
    for path in told.files:
        if not path.is_file():
            raise UserError("there is no such file", where=str(path))
    with ExitStack() as stack:
        readers = []
        for card, jobs in of_endpoints(plan):
            store = stack.enter_context(Store(Path(plan.study.store), card.served_name))
            looked = [batch.Looked(one.job, store.find(one.job.wanted)) for one in jobs]
            readers.append((card, store, looked))
        done = batch.read(told.files, readers)
    empty = [path for path in told.files if not done.of_files[path]]
    print(f"{done.new:,} replies and {done.refused:,} refusals taken, {done.there:,} were there")
    print(f"lines of other requests: {done.foreign:,}; lines that are no result: {done.torn:,}")
    for reason, count in done.failed.most_common():
        print(f"  {count:,} without a reply, to be asked again: {reason}")
    if empty:
        raise UserError(
            "a file has no result of a request of this study",
            where=", ".join(map(str, empty)),
            got=f"{done.foreign:,} lines of other requests, {done.torn:,} that are no result",
            allowed=["a line for each request of `judgescope batch export`, with its custom_id"],
            todo="name the file of results, not that of requests, and the study that it belongs to",
        )
    return 0
