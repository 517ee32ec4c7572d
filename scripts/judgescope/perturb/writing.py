"""Sets of texts that a model writes: of originals, step by step, or references of every item."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from judgescope.core.sampling import share_of
from judgescope.core.set_names import ORIGINAL, REFERENCE
from judgescope.engines.requests import Reply, Request
from judgescope.perturb.candidates import diverse
from judgescope.perturb.edits import edit_between
from judgescope.perturb.made import Made, answers_of, appended, checked, make_texts, whole
from judgescope.perturb.validation import more_than_one_error, undone
from judgescope.perturb.writer_specs import MakeTextsSpec, WriteReferencesSpec
from judgescope.prompts import NO_CHANGE, to_write
from judgescope.replies.asking import Obtain, RequestFor
from judgescope.replies.judging import reply_columns

Row = dict[str, Any]


def made_targets(
    spec: MakeTextsSpec,
    items: Iterable[Row],
    originals: Iterable[Row],
    request_for: RequestFor,
    obtain: Obtain,
) -> tuple[list[Row], list[Row]]:
    """Return the targets of all steps, and the answers behind them; a chain ends where one fails.

    `items` and `originals` are rows of these tables.
    """
    sources = {row["item"]: row["source"] for row in items}

    def ask_for(item: str, text: str, problem: str | None) -> Request:
        seen = {"source": sources[item], "text": text, "problem": problem}
        names = to_write(spec.task, spec.amount._asdict(), spec.change, **seen)
        return request_for(f"text of {item}", names)

    chosen = share_of(sources, spec.share, seed=spec.seed, dataset=spec.dataset)
    usable = [row for row in originals if not row["status"].startswith("failed")]
    parents = [row for row in usable if row["item"] in chosen]
    first = {row["item"]: row["text"] for row in parents}
    targets: list[Row] = []
    answers: list[Row] = []
    for step in range(1, spec.steps + 1):
        last = {row["item"]: row["text"] for row in parents}
        made = make_texts(
            last,
            ask_for=ask_for,
            obtain=obtain,
            checks=spec.checks,
            amount=spec.amount,
            attempts=spec.attempts,
            read=lambda item: appended if spec.change.reply == "appended" else whole,
            also=partial(_step_fault, last, first) if spec.steps > 1 else _no_fault,
        )
        rows = [_target(spec, parent, made[parent["item"]], step) for parent in parents]
        targets += rows
        for row in rows:
            answers += answers_of(spec.perturbation, row["target"], made[row["item"]])
        parents = [row for row in rows if row["status"] == "ok"]
    return targets, answers


def _step_fault(
    last: Mapping[str, str], first: Mapping[str, str], item: str, text: str
) -> str | None:
    """Tell whether a step changes more than one error does, or takes back what an earlier did."""
    return more_than_one_error(text, last[item]) or undone(text, last[item], first[item])


def _no_fault(item: str, text: str) -> str | None:
    """Find nothing: a text that is made at once has the checks of its card alone."""
    return None


def _target(spec: MakeTextsSpec, parent: Row, made: Made, step: int) -> Row:
    """Return the target of a made text; an original takes the place of its reference."""
    edits = [edit._asdict() for edit in edit_between(parent["text"], made.text)]
    target = {**parent, "text": made.text, "status": made.status, "edits": edits}
    if spec.perturbation == ORIGINAL:
        status = made.status.replace("failed", "kept", 1) if spec.keep_failed else made.status
        return {**target, "status": status}
    number = f".{step}" if spec.steps > 1 else ""
    return {
        **target,
        "target": f"{parent['item']}:{spec.perturbation}.{spec.degree}{number}",
        "perturbation": spec.perturbation,
        "degree": spec.degree,
        "step": step,
        "parent": parent["target"],
    }


def references_of(
    spec: WriteReferencesSpec,
    items: Iterable[Row],
    texts: Mapping[str, str],
    request_for: RequestFor,
    obtain: Obtain,
) -> tuple[list[Row], list[Row]]:
    """Return the targets that are kept of the references of each item, and the answers.

    `texts`: item -> the data's own reference, for items that have one.
    """
    rows = {row["item"]: row for row in items}
    chosen = share_of(rows, spec.share, seed=spec.seed, dataset=spec.dataset)
    requests: dict[str, Request] = {}
    for item in sorted(chosen):
        seen = {"source": rows[item]["source"], "text": texts.get(item, ""), "problem": None}
        names = to_write(spec.task, {}, NO_CHANGE, **seen)
        request = request_for(f"references of {item}", names)
        requests[item] = replace(request, draws=spec.draws)
    replies = obtain(requests.values())
    kept: list[Row] = []
    answers: list[Row] = []
    for item, request in requests.items():
        drawn = [replies[request.key, draw] for draw in range(request.draws)]
        kept += _kept(spec, item, drawn, texts.get(item, ""))
        known = {"judge": ORIGINAL, "kind": "write", "target": f"{item}:{ORIGINAL}"}
        answers += [{**known, **reply_columns(reply)} for reply in drawn]
    return kept, answers


def _kept(spec: WriteReferencesSpec, item: str, replies: list[Reply], parent: str) -> Iterator[Row]:
    """Yield the references of an item that are kept, the one most like all others first.

    Where none can be used, the data's own takes its place if the card wants it, else none does.
    """
    checks = spec.checks if parent else ["not_refusal"]  # there is no length to be held to
    read = [checked(reply, parent, checks) for reply in replies]
    if usable := [text for text, problem in read if problem is None]:
        for step, at in enumerate(diverse(usable, spec.keep)):
            yield _reference(spec.dataset, item, usable[at], "ok", step)
        return
    why = f"none of {len(read)} can be used: {read[0][1]}"
    status = "kept" if spec.keep_failed and parent else "failed"
    yield _reference(spec.dataset, item, parent, f"{status}: {why}", 0)


def _reference(dataset: str, item: str, text: str, status: str, step: int) -> Row:
    return {
        "dataset": dataset,
        "target": f"{item}:written.{step}" if step else f"{item}:{ORIGINAL}",
        "item": item,
        "system": REFERENCE,
        "perturbation": ORIGINAL,
        "step": step,
        "text": text,
        "status": status,
        "edits": [],
    }
