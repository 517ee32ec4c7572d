"""Texts that a model writes: requested, checked, requested again with the reason, or failed.

Sets of texts made from originals, at once or step by step, and references of every item.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.core.names import ORIGINAL, REFERENCE
from judgescope.core.rng import share_of
from judgescope.engines.requests import Reply, Request
from judgescope.parsing.text import without_reasoning
from judgescope.perturb.edits import Amount, edit_between
from judgescope.perturb.specs import MakeTextsSpec, WriteReferencesSpec
from judgescope.perturb.validation import CHECKS, DRAFT_CHECKS, echo_of, more_than_one_error, undone
from judgescope.prompts import NO_CHANGE, to_write
from judgescope.replies.asking import Obtain, RequestFor
from judgescope.replies.judging import reply_columns
from judgescope.statistics.anchors import most_diverse

Row = dict[str, Any]
Replies = Mapping[tuple[str, int], Reply]
Read = Callable[[str, str], tuple[str, str | None]]
"""(content of a reply, parent) -> the text that it makes, and why it is unusable, if so."""
ANY = Amount()


class Made(NamedTuple):
    """A made text (the parent if it failed), `ok` or `failed: reason`, and the last reply.

    `tries` has all replies, each with the problem that it was to solve.
    """

    text: str
    status: str
    request: Request
    reply: Reply
    tries: tuple[tuple[str | None, Reply], ...]


def whole(content: str, _: str) -> tuple[str, str | None]:
    """Read a reply that is the whole text."""
    return content, None


def appended(content: str, parent: str) -> tuple[str, str | None]:
    """Read a reply that continues its parent; every character of the parent stays."""
    return parent + ("" if parent[-1:].isspace() else " ") + content, None


def make_texts(
    parents: Mapping[str, str],
    *,
    ask_for: Callable[[str, str, str | None], Request],
    obtain: Callable[[Sequence[Request]], Replies],
    checks: Sequence[str],
    amount: Amount = ANY,
    attempts: int,
    read: Callable[[str], Read] = lambda item: whole,
    apart: bool = False,
    also: Callable[[str, str], str | None] = lambda item, text: None,
) -> dict[str, Made]:
    """Return item -> the text made from its parent.

    ask_for(item, parent, problem) is the request for a text; problem is the reason why the text
    before is unusable. Each round requests all open texts at once. A request is repeated as its
    next draw if its reply was unusable for the same reason that it names. read(item) makes a text
    of a reply. `apart`: equal requests of two items are two draws. also(item, text) is a further
    check, after all others. A text that repeats the reason of its request is unusable.
    """
    made: dict[str, Made] = {}
    problems: dict[str, str | None] = dict.fromkeys(parents)
    n_drawn: Counter[tuple[str, str]] = Counter()
    for _ in range(attempts):
        requests = {item: ask_for(item, parents[item], why) for item, why in problems.items()}
        draws = {}
        for item, request in requests.items():
            drawer = ("" if apart else item, request.key)
            draws[item] = n_drawn[drawer]
            n_drawn[drawer] += 1
        replies = obtain([replace(one, draws=draws[item] + 1) for item, one in requests.items()])
        for item, request in requests.items():
            reply, parent, before = replies[request.key, draws[item]], parents[item], problems[item]
            text, problem = checked(reply, parent, checks, amount, read(item))
            if before is not None:
                problem = problem or echo_of(before, text, parent)
            problem = problem or also(item, text)
            tries = (*(made[item].tries if item in made else ()), (before, reply))
            made[item] = (
                Made(parent, f"failed: {problem}", request, reply, tries)
                if problem
                else Made(text, "ok", request, reply, tries)
            )
        problems = {
            item: made[item].status.removeprefix("failed: ")
            for item in problems
            if made[item].status != "ok"
        }
    return made


def checked(
    reply: Reply,
    parent: str,
    checks: Sequence[str],
    amount: Amount = ANY,
    read: Read = whole,
) -> tuple[str, str | None]:
    """Return the text that a reply makes and the first reason why it is unusable, if any."""
    text, unclosed = without_reasoning(reply.text)
    if reply.status == "error":
        return text, f"the endpoint refused: {reply.text}"
    if reply.finish == "length" or unclosed:
        return text, "the reply was cut"
    if not text:
        return text, "the reply is empty"
    text, problem = read(text, parent)
    known = CHECKS | DRAFT_CHECKS
    problems = (known[check](text, parent, amount) for check in checks)
    return text, problem or next((problem for problem in problems if problem), None)


def answers_of(
    writer: str, target: str, made: Made, kind: str = "edit", **aspect: str | None
) -> list[Row]:
    """Return a row of table `answers` for every reply that a made text took."""
    columns = {"judge": writer, "kind": kind, "target": target, **aspect}
    return [{**columns, "hint": problem, **reply_columns(reply)} for problem, reply in made.tries]


# --- texts of originals -------------------------------------------------------------------------


def made_targets(
    spec: MakeTextsSpec,
    items: Iterable[Row],
    originals: Iterable[Row],
    request_for: RequestFor,
    obtain: Obtain,
) -> tuple[list[Row], list[Row]]:
    """Return the targets of all steps, and their answers; a chain ends at a text that failed.

    `items` and `originals` are rows of these tables.
    """
    sources = {row["item"]: row["source"] for row in items}
    chosen = share_of(sources, spec.share, seed=spec.seed, dataset=spec.dataset)
    usable = [row for row in originals if not row["status"].startswith("failed")]
    parents = [row for row in usable if row["item"] in chosen]
    first = {row["item"]: row["text"] for row in parents}
    last = first

    def ask_for(item: str, text: str, problem: str | None) -> Request:
        shown = {"source": sources[item], "text": text, "problem": problem}
        names = to_write(spec.task, spec.amount._asdict(), spec.change, **shown)
        return request_for(f"text of {item}", names)

    def step_fault(item: str, text: str) -> str | None:
        """Return whether a step changes more than one error does, or undoes an earlier one."""
        if spec.steps == 1:
            return None
        return more_than_one_error(text, last[item]) or undone(text, last[item], first[item])

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
            also=step_fault,
        )
        rows = [_target(spec, parent, made[parent["item"]], step) for parent in parents]
        targets += rows
        for row in rows:
            answers += answers_of(spec.perturbation, row["target"], made[row["item"]])
        parents = [row for row in rows if row["status"] == "ok"]
    return targets, answers


def _target(spec: MakeTextsSpec, parent: Row, made: Made, step: int) -> Row:
    """Return the target of a made text; an original takes the place of its reference."""
    edits = [edit._asdict() for edit in edit_between(parent["text"], made.text)]
    target = {**parent, "text": made.text, "status": made.status, "edits": edits}
    if spec.perturbation == ORIGINAL:
        status = (
            made.status.replace("failed", "kept", 1) if spec.fallback_to_reference else made.status
        )
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


# --- references ---------------------------------------------------------------------------------


def similarities(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return chrF of every two texts in [0, 1]; with beta 1 it is symmetric."""
    from sacrebleu.metrics.chrf import CHRF

    measure = CHRF(beta=1)
    matrix = np.eye(len(texts))
    for i, text in enumerate(texts):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = measure.sentence_score(text, [texts[j]]).score / 100
    return matrix


def diverse(texts: Sequence[str], count: int, first: int | None = None) -> list[int]:
    """Return the indices of `count` diverse texts, no two with the same words (`most_diverse`).

    `first` is the index of one that is chosen in any case.
    """
    by_words = {" ".join(text.split()): i for i, text in reversed(list(enumerate(texts)))}
    if first is not None:
        by_words[" ".join(texts[first].split())] = first
    different = sorted(by_words.values())
    begin = None if first is None else different.index(first)
    chosen = most_diverse(similarities([texts[i] for i in different]), count, begin)
    return [different[i] for i in chosen]


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
        shown = {"source": rows[item]["source"], "text": texts.get(item, ""), "problem": None}
        names = to_write(spec.task, {}, NO_CHANGE, **shown)
        request = request_for(f"references of {item}", names)
        requests[item] = replace(request, draws=spec.draws)
    replies = obtain(requests.values())
    kept: list[Row] = []
    answers: list[Row] = []
    for item, request in requests.items():
        drawn = [replies[request.key, draw] for draw in range(request.draws)]
        kept += _kept(spec, item, drawn, texts.get(item, ""))
        columns = {"judge": ORIGINAL, "kind": "write", "target": f"{item}:{ORIGINAL}"}
        answers += [{**columns, **reply_columns(reply)} for reply in drawn]
    return kept, answers


def _kept(spec: WriteReferencesSpec, item: str, replies: list[Reply], parent: str) -> Iterator[Row]:
    """Yield the references of an item that are kept, the one most similar to all others first.

    If none is usable, the data's own takes their place if the card wants it, else there is none.
    """
    checks = spec.checks if parent else ["not_refusal"]  # without a parent, no length to compare
    read = [checked(reply, parent, checks) for reply in replies]
    if usable := [text for text, problem in read if problem is None]:
        for step, index in enumerate(diverse(usable, spec.keep)):
            yield _reference(spec.dataset, item, usable[index], "ok", step)
        return
    why = f"none of {len(read)} can be used: {read[0][1]}"
    status = "kept" if spec.fallback_to_reference and parent else "failed"
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
