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
from judgescope.core.files import atomic_write
from judgescope.core.names import BATCH, CONTENT
from judgescope.parsing.judgment import OFF_GRID, OFF_GRID_REMEDY
from judgescope.parsing.unread_shapes import EMPTY, SHAPES_WITHOUT_TEXT
from judgescope.plan.applicable import replays
from judgescope.plan.asking_jobs import jobs_of, used_keys
from judgescope.plan.specs.judging import reading
from judgescope.plan.study import CellAspect, Plan
from judgescope.replies import compaction, inspection
from judgescope.replies.giving_up import candidates, given_up
from judgescope.replies.lookup import having
from judgescope.replies.pricing import nanodollars
from judgescope.replies.shard import folders, may_precede_prompts, shards
from judgescope.replies.store import Store
from judgescope.schema.cards import AskedModel
from judgescope.schema.cards.base import Price
from judgescope.schema.tables import read_part
from judgescope.scoring.cell import reader

PARSED = ("status", "rule", "value")
"""The columns that come from a reply's judgment."""


# --- reading --------------------------------------------------------------------------


def read(args: argparse.Namespace) -> int:
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
    kept = rows
    for name, values in filters.items():
        kept = [row for row in kept if row[name] in values]
    print("\n".join(summary(kept)))
    if args.file is not None:
        with atomic_write(args.file) as part:
            write_json_lines(kept, part)
        print(f"{args.file}: {len(kept):,} replies with their prompts")
    elif kept:
        print("\n".join(["", *listed(kept, args.rows)]))
    return 0


def no_replies(plan: Plan, where: Path, study: Path) -> UserError:
    """Return the error for a study without replies."""
    models = plan.models.values()
    asks = any(isinstance(model, AskedModel) for model in models)
    run = command_on("run", study)
    if asks or not any(map(replays, models)):
        what = "this study has no replies yet, or no judge that sends requests"
        return UserError(what, where=str(where), todo=run)
    page = Path(plan.paths.report("explore.html"))
    todo = f"read them in {page}"
    return UserError(
        "no judge of this study sends requests: their replies are recorded in files",
        where=str(where),
        todo=todo if page.is_file() else f"{run}, then {todo}",
    )


def _replies(plan: Plan, out: Path, *, prompts: bool) -> Iterator[dict[str, Any]]:
    """Yield every reply of a study's judges, from reply files or else from the
    store.
    """
    # The columns of a reply, in the order of the file; without prompts, one is missing.
    columns = (
        "dataset",
        "perturbation",
        "judge",
        "model",
        "aspect",
        "criterion",
        "target",
        "target_b",
        "hint",
        "draw",
        "key",
        "finish",
        "status",
        "rule",
        "value",
        "tokens_in",
        "tokens_out",
        "usd",
        "prompt",
        "reply",
    )
    for job in jobs_of(plan):
        store = Store(Path(plan.study.store), job.card.served_name)
        # Once, and only if a cell has no reply file.
        search = cache(partial(store.find, job.job.key_table))
        for cell, questions in job.job.cells.items():
            perturbation, judge, aspect = cell
            cell_aspect = CellAspect(job.dataset, *cell)
            judgments = judgments_of(plan, out, cell_aspect)
            parse = reader(reading(plan, job.dataset, judge, aspect, perturbation))
            prompt_of = {}
            if prompts:
                for number in range(len(questions)):
                    request = questions[number]
                    prompt_of[request.key] = request.transcript
            path = plan.file(out, "replies", cell_aspect)
            replies = rows_of("answers", path, aspect)
            for row in replies or job.job.rows(cell, search(), so_far=True):
                if row["status"] == "not_applicable":
                    continue
                judgment = judgments.get(match_of(row))
                if judgment is None:  # not scored yet
                    facts = row["text"], row["finish"], row["status"]
                    parsed = parse(*facts, content_of(row))
                    judgment = {name: getattr(parsed, name) for name in PARSED}
                reply = _reply(row, judgment, job.card.price)
                reply["dataset"] = job.dataset
                reply["perturbation"] = perturbation
                reply["model"] = job.card.model
                if prompts:
                    reply["prompt"] = prompt_of.get(row["key"])
                yield {name: reply[name] for name in columns if name in reply}


def _reply(
    row: Mapping[str, Any], judgment: Mapping[str, Any], price: Price | None
) -> dict[str, Any]:
    """Return what a row of table `answers` and its judgment say about a reply.

    price: of the model; a reply from a batch has the lower one.
    """
    copied = ["judge", "aspect", "criterion", "target", "target_b", "hint", "draw"]
    copied += ["key", "finish"]
    reply = {name: row.get(name) for name in copied}
    reply |= {name: judgment[name] for name in PARSED}
    usage = row["usage"] or {}
    reply["tokens_in"] = usage.get("prompt")
    reply["tokens_out"] = usage.get("completion")
    origin = (row["provenance"] or {}).get("engine")
    if price and origin == BATCH:
        price = price.of_batch()
    reply["usd"] = nanodollars(usage, price) / 1e9 if price and usage else None
    reply["reply"] = row["text"]
    return reply


def rows_of(table: str, path: str, aspect: str) -> list[dict[str, Any]]:
    """Return the rows of a cell's file on an aspect; [] if the file does not exist
    yet.
    """
    if not Path(path).is_file():
        return []
    rows: list[dict[str, Any]] = read_part(table, path, *split(aspect)).to_pylist()
    return rows


def content_of(row: Mapping[str, Any]) -> str | None:
    """What stands in place of a reply's text (`names.CONTENT`), None with a text."""
    provenance = row["provenance"] or {}
    content: str | None = provenance.get(CONTENT)
    return content


def judgments_of(
    plan: Plan, out: Path, cell: CellAspect
) -> dict[tuple[object, ...], dict[str, Any]]:
    """Return the stored judgments of a cell by what they share with their replies."""
    path = plan.file(out, "judgments", cell)
    rows = rows_of("judgments", path, cell.aspect)
    return {match_of(row): row for row in rows}


def match_of(row: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what a reply and its judgment have in common."""
    names = ("target", "target_b", "hint", "key", "draw")
    return tuple(row.get(name) for name in names)


def summary(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line per judge: replies, replies of each status, tokens, price.

    A reply to two equal questions counts once, as in the table `cost`; refused requests
    are free.
    """
    by_judge: dict[str, dict[tuple[object, object], Mapping[str, Any]]] = {}
    for row in rows:
        replies = by_judge.setdefault(row["judge"], {})
        replies[row.get("key"), row.get("draw")] = row
    lines = [["judge", "replies", "by status", "tokens in", "tokens out", "US$"]]
    off_grid = 0
    for judge, replies in sorted(by_judge.items()):
        statuses: Counter[str] = Counter()
        tokens_in = tokens_out = 0
        prices: list[float | None] = []
        for reply in replies.values():
            statuses[reply["status"]] += 1
            tokens_in += reply["tokens_in"] or 0
            tokens_out += reply["tokens_out"] or 0
            if reply["status"] != "error":
                prices.append(reply["usd"])
        off_grid += statuses[OFF_GRID]
        counts = []
        for name, count in sorted(statuses.items()):
            why = ""
            if name == EMPTY:
                why = _why_empty(replies.values())
            counts.append(f"{name} {count:,}{why}")
        line = [
            plain(judge),
            f"{len(replies):,}",
            ", ".join(counts),
            f"{tokens_in:,}",
            f"{tokens_out:,}",
            _total(prices) or "-",
        ]
        lines.append(line)
    shown = aligned(lines)
    if off_grid:
        shown.append(f"{OFF_GRID}: {OFF_GRID_REMEDY}")
    return shown


def _why_empty(replies: Iterable[Mapping[str, Any]]) -> str:
    """The rules of empty replies with their numbers, "" if none says more than that."""
    rules = Counter(str(row["rule"]) for row in replies if row["status"] == EMPTY)
    if rules.keys() <= {EMPTY}:
        return ""
    named = ", ".join(f"{rule} {count:,}" for rule, count in sorted(rules.items()))
    return f" ({named})"


def _total(prices: Sequence[float | None]) -> str | None:
    """Return the sum of prices in US$ as text; None if one is unknown."""
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return None
    total = sum(known)
    return f"{total:,.4f}" if total >= 0.01 else f"{total:.2g}"  # never 0.0000


def listed(rows: Sequence[Mapping[str, Any]], limit: int) -> Iterator[str]:
    """Yield a line for each reply, up to a limit (0: none), cut to the width of a
    line.
    """
    columns = ["dataset", "perturbation", "judge", "aspect", "target", "draw"]
    columns += ["status", "value"]
    shown = rows[: limit or None]
    table = [[*columns, "reply"]]
    for row in shown:
        line = [plain(row[name]) for name in columns]
        line.append(plain(_shown_reply(row))[:70])
        table.append(line)
    yield from aligned(table)
    yield from rows_left(
        len(rows) - len(shown), "--file writes them in full, with prompts"
    )


def _shown_reply(row: Mapping[str, Any]) -> str:
    """The text of a reply; without text what the endpoint sent in its place."""
    text: str = row["reply"] or ""
    if text.strip() or row["status"] != EMPTY:
        return text
    return SHAPES_WITHOUT_TEXT.get(row["rule"], text)


# --- the store ------------------------------------------------------------------------


def _shards(args: argparse.Namespace) -> list[Path]:
    return list(shards(store_folder(args)))


def store_folder(args: argparse.Namespace, *, new: bool = False) -> Path:
    """Return the folder of the store: the option's, the study's, or the default."""
    folder: Path = args.store or Path("cache/replies")
    plan = None
    if args.study and not args.store:
        plan = plan_and_results(args.study)[0]
    if plan is not None:
        folder = Path(plan.study.store)
    if not new and not folder.is_dir():
        if plan is not None:
            raise no_replies(plan, folder, args.study)
        raise UserError(
            "no reply store found", where=str(folder), todo="name it with --store"
        )
    return folder


def retry(args: argparse.Namespace) -> int:
    """Let the next run repeat the requests of a study that its endpoints refused or
    that were given up; with `--empty`, those whose reply is empty.
    """
    plan, out = plan_and_results(args.study)
    models = _asked_models(plan, args.model)
    if args.empty:
        return _retry_empty(args, plan, out, {model.model for model in models})
    for model in models:
        with Store(Path(plan.study.store), model.served_name) as store:
            count = compaction.forget_errors(store)
            print(f"{model.model}: {count} refused requests will be sent again")
    print(f"reply files that the next run will remake: {compaction.drop_answers(out)}")
    return 0


def _asked_models(plan: Plan, name: str | None) -> list[AskedModel]:
    """Return the models of a study that are asked, or the named one."""
    models = []
    for card in plan.models.values():
        if isinstance(card, AskedModel):
            models.append(card)
    if name is None:
        return models
    named = [card for card in models if card.model == name]
    if not named:
        raise UserError(
            "this study asks no such model",
            where="--model",
            got=name,
            allowed=[card.model for card in models],
        )
    return named


def _retry_empty(
    args: argparse.Namespace, plan: Plan, out: Path, models: set[str]
) -> int:
    """List the empty replies by judge with the price of repeating them; with `--yes`,
    mark them to be requested again.
    """
    by_model: dict[str, dict[tuple[str, int], dict[str, Any]]] = {}
    for row in _replies(plan, out, prompts=False):
        if row["status"] == "empty" and row["model"] in models:
            of_model = by_model.setdefault(row["model"], {})
            of_model.setdefault((row["key"], row["draw"]), row)
    marked = 0
    for model in _asked_models(plan, args.model):
        empty = by_model.get(model.model)
        if not empty:
            continue
        with Store(Path(plan.study.store), model.served_name) as store:
            draws = compaction.repeatable(store, empty)
            for line in _by_judge([empty[draw] for draw in draws]):
                print(line)
            remaining = len(empty) - len(draws)
            if remaining:
                print(
                    f"{model.model}: {remaining} empty replies stay: they were "
                    f"requested again {compaction.MOST_REPEATS} times"
                )
            if args.yes and draws:
                compaction.forget_empty(store, draws)
                compaction.drop_answers(out, {key for key, _ in draws})
        marked += len(draws)
    if not marked:
        print("No empty reply can be requested again.")
    elif args.yes:
        print(f"{marked} requests will be sent again: {command_on('run', args.study)}")
    else:
        print("Nothing was marked: add --yes to request these replies again.")
    return 0


def _by_judge(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each judge: the number of replies, and what they cost before."""
    prices: dict[str, list[float | None]] = {}
    for row in rows:
        prices.setdefault(row["judge"], []).append(row["usd"])
    for judge, of_judge in sorted(prices.items()):
        total = _total(of_judge)
        price = "unknown" if total is None else f"about {total} US$"
        yield f"{plain(judge)}: {len(of_judge)} empty replies, price {price}"


def give_up(args: argparse.Namespace) -> int:
    """List the requests of a study that got no answer in any run, with the reasons;
    with `--yes`, count them as errors from now on.
    """
    plan, _ = plan_and_results(args.study)
    keys = used_keys(plan, require_texts=False)
    count = 0
    for model in _asked_models(plan, None):
        with Store(Path(plan.study.store), model.served_name) as store:
            used = keys.get(store.shard.name)
            names = []
            for key in () if used is None else used:
                # numpy drops the zero bytes at the end of a key.
                names.append(bytes(key).ljust(32, b"\0").hex())
            unanswered = candidates(store, names)
            for draw, reasons in unanswered.items():
                runs = len(reasons)
                reason = list(reasons.values())[-1]
                print(
                    f"{model.model}: {draw[0][:12]}, draw {draw[1]}: no answer in "
                    f"{runs} {'run' if runs == 1 else 'runs'}: {plain(reason)}"
                )
                if args.yes:
                    store.closes = True
                    store.append(given_up(draw, runs, reason))
            count += len(unanswered)
    if not count:
        print("No request waits for an answer: there is nothing to give up.")
    elif args.yes:
        run = command_on("run", args.study)
        back = command_on("replies retry", args.study)
        print(f"{count} requests count as errors now: {run}; {back} takes this back")
    else:
        print("Nothing was changed: add --yes to count these requests as errors.")
    return 0


def stats(args: argparse.Namespace) -> int:
    """Print the contents of each shard of a store."""
    for shard in _shards(args):
        counts = inspection.stats(shard)
        tokens = ", ".join(f"{n:,} {name}" for name, n in sorted(counts.tokens.items()))
        print(
            f"{shard.name}: {counts.replies:,} replies to {counts.questions:,} "
            "questions"
        )
        print(f"  errors {counts.errors:,}, marked for retry {counts.forgotten:,}")
        if counts.failed:
            print(f"  notes of runs without an answer: {counts.failed:,}")
        unknown = f"{counts.unknown:,} replies without token counts"
        print(f"  tokens: {tokens or 'none reported'}; {unknown}")
        files = f"{counts.journals} journals, {counts.compacted} compacted files"
        print(f"  {files}, {counts.bytes:,} bytes; lines skipped: {counts.skipped}")
    return 0


def verify(args: argparse.Namespace) -> int:
    """Print the faults of a store's lines; return 1 if there are any.

    With `--drop`, damaged lines are removed; their requests may be sent and paid for
    again.
    """
    errors = 0
    notes = 0
    for shard in folders(store_folder(args)):  # with those whose files are packed
        for finding in inspection.verify(shard):
            print(f"{finding.where}: {finding.message}")
            if finding.wrong:
                errors += 1
            else:
                notes += 1
        dropped = 0
        if args.drop:
            dropped = inspection.drop(shard)
        if dropped:
            print(
                f"{shard.name}: {dropped} damaged lines dropped; a run requests what "
                "is missing"
            )
    print(f"errors: {errors}; notes: {notes}")
    return int(errors > 0)


def compact(args: argparse.Namespace) -> int:
    """Merge the files of every shard."""
    for shard in _shards(args):
        done = compaction.compact(shard)
        outcome = "nothing to compact"
        if done.removed:
            outcome = f"{len(done.removed)} files merged, {done.freed:,} bytes freed"
        print(f"{shard.name}: {outcome}")
        _print_left(done.left)
    return 0


def _print_left(files: Mapping[Path, str]) -> None:
    for path, reason in files.items():
        print(f"  {path.name} is kept: {reason}")


def dump(args: argparse.Namespace) -> int:
    """Write all replies of a store to one file."""
    check_new(args.file, [".parquet"], force=args.force)
    print(f"{args.file}: {compaction.export(store_folder(args), args.file):,} lines")
    return 0


def merge(args: argparse.Namespace) -> int:
    """Add the replies of an exported file to a store."""
    check_input(args.file)
    shards = compaction.merge(args.file, store_folder(args, new=True))
    for shard, done in shards.items():
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


def prune(args: argparse.Namespace) -> int:
    """Drop the replies that no named study uses, or print how much that would free."""
    plans = [plan_and_results(study)[0] for study in args.study]
    stores = sorted({plan.study.store for plan in plans})
    if len(stores) > 1:
        what = "the studies use different reply stores"
        raise UserError(what, where="replies prune", got=stores)
    used = [used_keys(plan, require_texts=True) for plan in plans]
    kept = {}
    for shard in shards(Path(stores[0])):
        of_shard = []
        for keys in used:
            if shard.name in keys:
                of_shard.append(keys[shard.name])
        kept[shard] = having(*of_shard)
    unused = {shard: compaction.unused(shard, keep) for shard, keep in kept.items()}
    to_drop = [shard for shard, (lines, _) in unused.items() if lines]
    if any(map(may_precede_prompts, to_drop)):
        print(
            "The shipped prompts changed with this version: paid replies to the "
            "earlier ones are among the lines that are not used (docs/upgrade.md)."
        )
    for shard, (lines, size) in unused.items():
        print(f"{shard.name}: {lines:,} lines are not used, {size:,} bytes of text")
        if args.yes and lines:
            done = compaction.compact(shard, keep=kept[shard])
            print(f"  {done.freed:,} bytes freed")
            _print_left(done.left)
    if not args.yes:
        print("Nothing was dropped: add --yes to drop these lines.")
    return 0
