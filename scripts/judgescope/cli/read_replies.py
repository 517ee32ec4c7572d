"""The command `judgescope replies read`: what a study asked, and what was replied, to be read."""

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgescope.cli.show import aligned, chosen, plain
from judgescope.core.errors import UserError

if TYPE_CHECKING:
    from judgescope.parsing.judgment import Judgment
    from judgescope.plan.asking_jobs import StudyJob
    from judgescope.replies.lookup import Found
    from judgescope.replies.planning import Cell

Row = dict[str, Any]
FILTERS = ("judge", "aspect", "status", "target")
SHOWN = ("dataset", "perturbation", "judge", "aspect", "target", "draw", "status", "value")
WIDEST = 70
"""Characters of a reply in the terminal."""
MATCHED = ("target", "target_b", "hint", "key", "draw")
"""By what the judgment of a reply is found."""
EXAMPLES = """examples:
  judgescope replies read config/studies/mine.yaml
  judgescope replies read config/studies/mine.yaml --judge some-model --status unparsed
  judgescope replies read config/studies/mine.yaml --file replies.jsonl
"""


def add_command(tools: Any) -> None:
    """Add the action `read` to the tools of the store; it sets `act`, which does it."""
    parser = tools.add_parser(
        "read",
        help="a study's replies with judge, status, tokens and price; with their prompts to a file",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", type=Path, help="the study's YAML file; also while it is run")
    for name in FILTERS:
        parser.add_argument(f"--{name}", nargs="+", default=[], help=f"only of this {name}")
    parser.add_argument(
        "--file", type=Path, help="write all of them, whole, with prompts, to this .jsonl"
    )
    parser.add_argument(
        "--rows", type=int, default=20, help="so many in the terminal, 0: all; default: 20"
    )
    parser.set_defaults(act=read)


def read(told: argparse.Namespace) -> int:
    """Print a study's replies, or write them with their prompts to a file."""
    from judgescope.cli.people import plan_of
    from judgescope.core.paths import HOME

    if told.file is not None:
        check_file(told.file)
    plan, out = plan_of(told.study)
    rows = list(replies(plan, HOME, out, prompts=told.file is not None))
    if not rows:
        raise UserError(
            "no model was asked for this study yet, or it has none that is asked",
            where=str(out / "replies"),
            todo=f"judgescope run {told.study}",
        )
    wanted = {name: getattr(told, name) for name in FILTERS if getattr(told, name)}
    own = chosen("the replies", rows, wanted)
    print("\n".join(summary(own)))
    if told.file is not None:
        _write(own, told.file)
        print(f"{told.file}: {len(own):,} replies with their prompts")
    elif own:
        print("\n".join(["", *listed(own, told.rows)]))
    return 0


def check_file(path: Path) -> None:
    """Raise UserError for a file that cannot be written, or is there."""
    if path.suffix != ".jsonl":
        raise UserError(
            "replies are written as JSON lines", where="--file", got=path.suffix, allowed=[".jsonl"]
        )
    if not path.parent.is_dir():
        raise UserError("there is no such folder", where="--file", got=str(path.parent))
    if path.exists():
        raise UserError("this file is there", where=str(path), todo="choose another name")


def replies(plan: Any, home: Path, out: Path, *, prompts: bool) -> Iterator[Row]:
    """Yield every reply of a study's asked judges, as its reply files have it.

    Where a job has not written them yet, what the store has so far.
    """
    from judgescope.plan.asking_jobs import jobs_of
    from judgescope.plan.specs.judging import reading
    from judgescope.plan.study import CellAspect
    from judgescope.replies.pricing import nanodollars
    from judgescope.scoring.cell import reader

    for job in jobs_of(plan):
        price, so_far = job.card.price, _so_far(plan, job)
        for cell, asked in job.job.cells.items():
            perturbation, judge, aspect = cell
            place = CellAspect(job.dataset, *cell)
            read_as = _judgments(plan.file(out, "judgments", place), aspect)
            read = reader(reading(plan, job.dataset, judge, aspect, perturbation))
            told = (asked[number] for number in range(len(asked))) if prompts else ()
            prompt_of = {request.key: request.prompt for request in told}
            for one in _part("answers", plan.file(out, "replies", place), aspect) or so_far(cell):
                if one["status"] == "not_applicable":
                    continue
                usage = one["usage"] or {}
                judgment = read_as.get(_match(one))
                if judgment is None:  # not scored yet
                    judgment = _columns(read(one["text"], one["finish"], one["status"]))
                yield {
                    "dataset": job.dataset,
                    "perturbation": cell[0],
                    "judge": one["judge"],
                    "model": job.card.model,
                    **{name: one.get(name) for name in ("aspect", "criterion", "target")},
                    **{name: one.get(name) for name in ("target_b", "hint", "draw", "key")},
                    "finish": one["finish"],
                    **{name: judgment[name] for name in ("status", "rule", "value")},
                    "tokens_in": usage.get("prompt"),
                    "tokens_out": usage.get("completion"),
                    "usd": nanodollars(usage, price) / 1e9 if price and usage else None,
                    **({"prompt": prompt_of.get(one["key"])} if prompts else {}),
                    "reply": one["text"],
                }


def _so_far(plan: Any, job: "StudyJob") -> Callable[["Cell"], list[Row]]:
    """Return what yields the rows of a cell from the store; it is looked through at most once."""
    from judgescope.replies.store import Store

    @cache
    def found() -> "Found":
        return Store(Path(plan.study.store), job.card.served_name).find(job.job.wanted)

    return lambda cell: job.job.rows_so_far(cell, found())


def _part(name: str, path: str, aspect: str) -> list[Row]:
    """Return the rows of a cell's file on an aspect; none before it is written."""
    from judgescope.core.cells import split
    from judgescope.schema.tables import read_part

    if not Path(path).is_file():
        return []
    rows: list[Row] = read_part(name, path, *split(aspect)).to_pylist()
    return rows


def _columns(judgment: "Judgment") -> Row:
    return {"status": judgment.status, "rule": judgment.rule, "value": judgment.value}


def _judgments(path: str, aspect: str) -> dict[tuple[Any, ...], Row]:
    """Return what was read from the replies of a cell; nothing before it was scored."""
    return {_match(row): row for row in _part("judgments", path, aspect)}


def _match(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in MATCHED)


def summary(rows: Iterable[Row]) -> list[str]:
    """Return per judge how many replies there are, what became of them, and what they cost."""
    from judgescope.parsing.judgment import OFF_GRID, OFF_GRID_REMEDY

    by_judge: dict[str, list[Row]] = {}
    for row in rows:
        by_judge.setdefault(row["judge"], []).append(row)
    body = []
    for judge, own in sorted(by_judge.items()):
        counts = Counter(row["status"] for row in own)
        statuses = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
        tokens = [sum(row[name] or 0 for row in own) for name in ("tokens_in", "tokens_out")]
        known = [row["usd"] for row in own if row["usd"] is not None]
        price = f"{sum(known):.4f}" if len(known) == len(own) else "-"
        numbers = [f"{count:,}" for count in tokens]
        body.append([plain(judge), f"{len(own):,}", statuses, *numbers, price])
    table = aligned([["judge", "replies", "read as", "tokens in", "tokens out", "US$"], *body])
    off_grid = any(row["status"] == OFF_GRID for own in by_judge.values() for row in own)
    return [*table, *([f"{OFF_GRID}: {OFF_GRID_REMEDY}"] if off_grid else [])]


def listed(rows: list[Row], most: int) -> Iterator[str]:
    """Yield replies, a line each, cut to the width of a line."""
    shown = rows[:most] if most else rows
    body = [[*(plain(row[name]) for name in SHOWN), plain(row["reply"])[:WIDEST]] for row in shown]
    yield from aligned([[*SHOWN, "reply"], *body])
    if left := len(rows) - len(shown):
        yield f"… and {left:,} more: --rows 0 shows all, --file writes them whole, with prompts"


def _write(rows: Iterable[Row], path: Path) -> None:
    """Write ASCII, all or nothing: whatever takes a character for a line's end, none has it."""
    whole = path.with_name(f".{path.name}.{os.getpid()}")
    with whole.open("w", encoding="ascii") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    os.replace(whole, path)
