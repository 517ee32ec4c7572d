"""The commands `judgescope replies …` on stored replies."""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from judgescope.cli.commands import OF_REPLIES
from judgescope.cli.context import (
    check_input,
    check_new,
    check_output,
    command_on,
    plan_and_results,
    write_json_lines,
)
from judgescope.cli.show import check_filters, check_rows, filters_of, rows_left
from judgescope.cli.terminal import aligned, plain
from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.files import whole
from judgescope.core.names import BATCH
from judgescope.parsing.judgment import OFF_GRID, OFF_GRID_REMEDY
from judgescope.plan.asking_jobs import jobs_of, used_keys
from judgescope.plan.specs.judging import reading
from judgescope.plan.study import CellAspect, Plan, replays
from judgescope.replies import compaction, inspection
from judgescope.replies.lookup import having
from judgescope.replies.pricing import nanodollars
from judgescope.replies.shard import shards
from judgescope.replies.store import Store
from judgescope.schema.cards import AskedModel
from judgescope.schema.tables import read_part
from judgescope.scoring.cell import reader

DEFAULT = Path("cache/replies")
Arguments = argparse.Namespace
Row = dict[str, Any]
SHOWN = (
    "dataset",
    "perturbation",
    "judge",
    "aspect",
    "target",
    "draw",
    "status",
    "value",
)
WIDTH = 70
"""The number of characters of a reply that are printed."""
MATCHED = ("target", "target_b", "hint", "key", "draw")
"""The columns that identify a reply's judgment."""
COPIED = ("aspect", "criterion", "target", "target_b", "hint", "draw", "key", "finish")
PARSED = ("status", "rule", "value")
"""The columns that come from a reply's judgment."""


# --- reading --------------------------------------------------------------------------


def read(args: Arguments) -> int:
    """Print a study's replies, or write them with their prompts to a file."""
    check_rows(args.rows)
    if args.file is not None:
        check_output(args.file, [".jsonl"], todo="choose another name")
    plan, out = plan_and_results(args.study)
    rows = list(_replies(plan, out, prompts=args.file is not None))
    if not rows:
        raise no_replies(plan, out / "replies", args.study)
    filters = filters_of(args, OF_REPLIES)
    check_filters(
        "the replies", filters, lambda name: {row[name] for row in rows if row[name]}
    )
    rows = [
        row
        for row in rows
        if all(row[name] in values for name, values in filters.items())
    ]
    print("\n".join(summary(rows)))
    if args.file is not None:
        with whole(args.file) as part:
            write_json_lines(rows, part)
        print(f"{args.file}: {len(rows):,} replies with their prompts")
    elif rows:
        print("\n".join(["", *listed(rows, args.rows)]))
    return 0


def no_replies(plan: Plan, where: Path, study: Path) -> UserError:
    """Return the error for a study without replies."""
    what = "this study has no replies yet, or no judge that sends requests"
    todo, page = command_on("run", study), Path(plan.paths.report("explore.html"))
    models = [*plan.models.values()]
    if any(map(replays, models)) and not any(
        isinstance(model, AskedModel) for model in models
    ):
        what = (
            "no judge of this study sends requests: their replies are recorded in files"
        )
        todo = (
            f"read them in {page}"
            if page.is_file()
            else f"{todo}, then read them in {page}"
        )
    return UserError(what, where=str(where), todo=todo)


def _replies(plan: Plan, out: Path, *, prompts: bool) -> Iterator[Row]:
    """Yield every reply of a study's judges, from reply files or else from the
    store.
    """
    for job in jobs_of(plan):
        store, listed = (
            Store(Path(plan.study.store), job.card.served_name),
            job.card.price,
        )
        search = cache(
            partial(store.find, job.job.key_table)
        )  # once, and only if needed
        for cell, questions in job.job.cells.items():
            perturbation, judge, aspect = cell
            cell_aspect = CellAspect(job.dataset, *cell)
            judgments = {
                match_of(row): row
                for row in rows_of(
                    "judgments", plan.file(out, "judgments", cell_aspect), aspect
                )
            }
            parse = reader(reading(plan, job.dataset, judge, aspect, perturbation))
            requests = (
                questions[number] for number in range(len(questions)) if prompts
            )
            prompt_of = {request.key: request.prompt for request in requests}
            replies = rows_of("answers", plan.file(out, "replies", cell_aspect), aspect)
            for row in replies or job.job.rows(cell, search(), so_far=True):
                if row["status"] == "not_applicable":
                    continue
                usage, origin = (
                    row["usage"] or {},
                    (row["provenance"] or {}).get("engine"),
                )
                price = listed and (listed.of_batch() if origin == BATCH else listed)
                judgment = judgments.get(match_of(row))
                if judgment is None:  # not scored yet
                    parsed = parse(row["text"], row["finish"], row["status"])
                    judgment = {name: getattr(parsed, name) for name in PARSED}
                yield {
                    "dataset": job.dataset,
                    "perturbation": perturbation,
                    "judge": row["judge"],
                    "model": job.card.model,
                    **{name: row.get(name) for name in COPIED},
                    **{name: judgment[name] for name in PARSED},
                    "tokens_in": usage.get("prompt"),
                    "tokens_out": usage.get("completion"),
                    "usd": nanodollars(usage, price) / 1e9 if price and usage else None,
                    **({"prompt": prompt_of.get(row["key"])} if prompts else {}),
                    "reply": row["text"],
                }


def rows_of(table: str, path: str, aspect: str) -> list[Row]:
    """Return the rows of a cell's file on an aspect; [] if the file does not exist
    yet.
    """
    return (
        read_part(table, path, *split(aspect)).to_pylist()
        if Path(path).is_file()
        else []
    )


def match_of(row: Row) -> tuple[object, ...]:
    """Return what a reply and its judgment have in common."""
    return tuple(row.get(name) for name in MATCHED)


def summary(rows: Iterable[Row]) -> list[str]:
    """Return a line per judge: replies, replies of each status, tokens, price.

    A reply to two equal questions counts once, as in the table `cost`; refused requests
    are free.
    """
    by_judge: dict[str, list[Row]] = {}
    for row in rows:
        by_judge.setdefault(row["judge"], []).append(row)
    lines = [["judge", "replies", "by status", "tokens in", "tokens out", "US$"]]
    off_grid = 0
    for judge, judgments in sorted(by_judge.items()):
        replies = [
            *{(row.get("key"), row.get("draw")): row for row in judgments}.values()
        ]
        statuses = Counter(row["status"] for row in replies)
        off_grid += statuses[OFF_GRID]
        counts = ", ".join(
            f"{name} {count:,}" for name, count in sorted(statuses.items())
        )
        tokens = [
            sum(row[name] or 0 for row in replies)
            for name in ("tokens_in", "tokens_out")
        ]
        prices = [row["usd"] for row in replies if row["status"] != "error"]
        price = "-" if None in prices else _dollars(sum(prices))
        numbers = [f"{number:,}" for number in tokens]
        lines.append([plain(judge), f"{len(replies):,}", counts, *numbers, price])
    return [*aligned(lines), *([f"{OFF_GRID}: {OFF_GRID_REMEDY}"] if off_grid else [])]


def _dollars(price: float) -> str:
    return f"{price:,.4f}" if price >= 0.01 else f"{price:.2g}"  # never 0.0000


def listed(rows: Sequence[Row], limit: int) -> Iterator[str]:
    """Yield a line for each reply, up to a limit (0: none), cut to the width of a
    line.
    """
    shown = rows[: limit or None]
    body = [
        [*(plain(row[name]) for name in SHOWN), plain(row["reply"])[:WIDTH]]
        for row in shown
    ]
    yield from aligned([[*SHOWN, "reply"], *body])
    yield from rows_left(
        len(rows) - len(shown), "--file writes them in full, with prompts"
    )


# --- the store ------------------------------------------------------------------------


def _shards(args: Arguments) -> list[Path]:
    return list(shards(store_folder(args)))


def store_folder(args: Arguments, *, new: bool = False) -> Path:
    """Return the folder of the store: the option's, the study's, or the default."""
    folder: Path = args.store or DEFAULT
    plan = plan_and_results(args.study)[0] if args.study and not args.store else None
    if plan is not None:
        folder = Path(plan.study.store)
    if not new and not folder.is_dir():
        if plan is not None:
            raise no_replies(plan, folder, args.study)
        raise UserError(
            "no reply store found", where=str(folder), todo="name it with --store"
        )
    return folder


def retry(args: Arguments) -> int:
    """Let the next run repeat the requests of a study that its endpoints refused."""
    plan, out = plan_and_results(args.study)
    for model in plan.models.values():
        if isinstance(model, AskedModel):
            with Store(Path(plan.study.store), model.served_name) as store:
                count = compaction.forget_errors(store)
                print(f"{model.model}: {count} refused requests will be sent again")
    print(f"reply files that the next run will remake: {compaction.drop_answers(out)}")
    return 0


def stats(args: Arguments) -> int:
    """Print the contents of each shard of a store."""
    for shard in _shards(args):
        counts = inspection.stats(shard)
        tokens = ", ".join(f"{n:,} {name}" for name, n in sorted(counts.tokens.items()))
        print(
            f"{shard.name}: {counts.replies:,} replies to {counts.questions:,} "
            "questions"
        )
        print(f"  errors {counts.errors:,}, marked for retry {counts.forgotten:,}")
        unknown = f"{counts.unknown:,} replies without token counts"
        print(f"  tokens: {tokens or 'none reported'}; {unknown}")
        files = f"{counts.journals} journals, {counts.compacted} compacted files"
        print(f"  {files}, {counts.bytes:,} bytes; lines skipped: {counts.skipped}")
    return 0


def verify(args: Arguments) -> int:
    """Print the faults of a store's lines; return 1 if there are any.

    With `--drop`, damaged lines are removed; their requests may be sent and paid for
    again.
    """
    wrong = notes = 0
    for shard in _shards(args):
        for finding in inspection.verify(shard):
            print(f"{finding.where}: {finding.message}")
            wrong, notes = wrong + finding.wrong, notes + (not finding.wrong)
        if args.drop and (count := inspection.drop(shard)):
            print(
                f"{shard.name}: {count} damaged lines dropped; a run requests what is "
                "missing"
            )
    print(f"errors: {wrong}; notes: {notes}")
    return int(wrong > 0)


def compact(args: Arguments) -> int:
    """Merge the files of every shard."""
    for shard in _shards(args):
        done = compaction.compact(shard)
        said = f"{len(done.removed)} files merged, {done.freed:,} bytes freed"
        print(f"{shard.name}: {said if done.removed else 'nothing to compact'}")
        _print_left(done.left)
    return 0


def _print_left(files: Mapping[Path, str]) -> None:
    for path, reason in files.items():
        print(f"  {path.name} is kept: {reason}")


def dump(args: Arguments) -> int:
    """Write all replies of a store to one file."""
    check_new(args.file, [".parquet"], force=args.force)
    print(f"{args.file}: {compaction.export(store_folder(args), args.file):,} lines")
    return 0


def merge(args: Arguments) -> int:
    """Add the replies of an exported file to a store."""
    check_input(args.file)
    for shard, done in compaction.merge(
        args.file, store_folder(args, new=True)
    ).items():
        print(
            f"{plain(shard)}: {done.new:,} new replies, {done.known:,} already stored, "
            f"{done.skipped:,} lines without a reply"
        )
        if done.differs:
            print(
                f"  {done.differs:,} new replies differ from the stored reply to the "
                "same request: both are kept, and the first in byte order is used, in "
                "every store"
            )
    return 0


def prune(args: Arguments) -> int:
    """Drop the replies that no named study uses, or print how much that would free."""
    plans = [plan_and_results(study)[0] for study in args.study]
    stores = sorted({plan.study.store for plan in plans})
    if len(stores) > 1:
        what = "the studies use different reply stores"
        raise UserError(what, where="replies prune", got=stores)
    used = [used_keys(plan, whole=True) for plan in plans]
    for shard in shards(Path(stores[0])):
        keep = having(*(keys[shard.name] for keys in used if shard.name in keys))
        lines, size = compaction.unused(shard, keep)
        print(f"{shard.name}: {lines:,} lines are not used, {size:,} bytes of text")
        if args.yes and lines:
            done = compaction.compact(shard, keep=keep)
            print(f"  {done.freed:,} bytes freed")
            _print_left(done.left)
    if not args.yes:
        print("Nothing was dropped: add --yes to drop these lines.")
    return 0
