"""Errors that a model puts into texts and marks: where they are, and that nothing else changed."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from judgescope.engines.requests import Request
from judgescope.parsing.text import without_reasoning
from judgescope.perturb.candidates import Candidate, drawn_parts, stream_names, target_row
from judgescope.perturb.edits import Edit
from judgescope.perturb.made import Made, Read, answers_of, make_texts
from judgescope.perturb.writer_specs import CandidatesSpec, ModelErrors
from judgescope.prompts import to_write
from judgescope.replies.asking import Obtain, RequestFor

_MARK = re.compile(r"<error>(.*?)</error>", re.DOTALL)
_STRAY = re.compile(r"</?error\b", re.IGNORECASE)
Row = dict[str, Any]
Span = tuple[int, int]


def unmarked(marked: str) -> str:
    """Return the text without its marks; where one holds nothing, one blank around it is enough."""
    return "".join(_parts(marked))


def marked_edits(marked: str, parent: str, wanted: int) -> tuple[list[Edit], str | None]:
    """Return what each mark of a text changes in its parent, and why it cannot be used, if so.

    Between the marks the text is the parent to the letter, but for blanks beside a mark; so errors
    neither overlap nor hide.
    """
    parts = _parts(marked)
    if any(map(_STRAY.search, parts)):
        return [], "its marks are not <error>…</error>, one after the other"
    if len(parts) // 2 != wanted:
        return [], f"{len(parts) // 2} errors are marked, not {wanted}"
    outside = [part.strip() for part in parts[::2]]
    text = "".join(parts)
    there, here = _places(outside, parent), _outside(parts)
    if isinstance(there, str):
        return [], f"outside of the marks it is not the text: {there[:80]!r}"
    edits = [
        Edit(old_end, parent[old_end:old], text[new_end:new])
        for (_, old_end), (old, _), (_, new_end), (new, _) in zip(
            there, there[1:], here, here[1:], strict=False
        )
    ]
    if any(edit.before.split() == edit.after.split() for edit in edits):
        return [], "something is marked that is as it was"
    return edits, None


def _parts(marked: str) -> list[str]:
    """Return what stands outside of the marks and, in every second place, inside."""
    parts = _MARK.split(marked.strip())
    for at in range(1, len(parts), 2):
        before = parts[at - 1][-1:]
        if not parts[at].strip() and (before.isspace() or not (before or at > 1)):
            parts[at], parts[at + 1] = "", parts[at + 1].lstrip()
    return parts


def _outside(parts: Sequence[str]) -> list[Span]:
    """Return where in the whole text lies what stands outside of the marks, without blanks."""
    found, done = list[Span](), 0
    for at, part in enumerate(parts):
        if at % 2 == 0:
            start = done + len(part) - len(part.lstrip()) if part.strip() else done
            found.append((start, start + len(part.strip())))
        done += len(part)
    return found


def _places(outside: Sequence[str], text: str) -> list[Span] | str:
    """Return where the parts lie in a text, one behind the other, or the one that does not.

    The first begins it, the last ends it; the others lie as far to the left as they can. One that
    is empty, at an end, lies at that end.
    """
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    found, done = list[Span](), begin
    for at, part in enumerate(outside):
        last = at == len(outside) - 1
        start = end - len(part) if last else text.find(part, done)
        if start < done or not text.startswith(part, start) or (at == 0 and start != begin):
            return part
        found.append((start, done := start + len(part)))
    return found


def targets_by_model(
    spec: CandidatesSpec,
    task: ModelErrors,
    wanted: Mapping[str, Candidate],
    sources: Mapping[str, str | None],
    request_for: RequestFor,
    obtain: Obtain,
) -> tuple[list[Row], list[Row]]:
    """Return the candidates' targets, with errors that a model makes, and the answers behind them.

    `wanted`: target -> candidate, of which those without errors need no model; `sources`: item ->
    its source.
    """
    damaged = {target: one for target, one in wanted.items() if one.errors}
    assert task.change.aspect is not None  # as is checked before anything is asked
    parts: list[dict[str, str]] = to_builtins(task.change.aspect.sub_aspects)

    def ask_for(target: str, text: str, problem: str | None) -> Request:
        one = damaged[target]
        seen = {"source": sources[one.item], "text": text, "problem": problem}
        variables = to_write(task.task, {"k": one.errors}, task.change, **seen)
        places = drawn_parts(one, len(parts), seed=spec.seed, names=stream_names(spec))
        return request_for(target, variables | {"errors": [parts[place] for place in places]})

    def read(target: str) -> Read:
        def marked(said: str, parent: str) -> tuple[str, str | None]:
            return unmarked(said), marked_edits(said, parent, damaged[target].errors)[1]

        return marked

    made = make_texts(
        {target: one.base[1] for target, one in damaged.items()},
        ask_for=ask_for,
        obtain=obtain,
        checks=["differs", "not_refusal", "length"],
        attempts=task.attempts,
        read=read,
        apart=True,
    )
    rows = [_target(spec, target, one, made.get(target)) for target, one in wanted.items()]
    answers = [
        row for target, one in made.items() for row in answers_of(spec.perturbation, target, one)
    ]
    return rows, answers


def _target(spec: CandidatesSpec, target: str, candidate: Candidate, made: Made | None) -> Row:
    """Return the target of a candidate; `made` is None for one without errors."""
    if made is None:
        return target_row(spec, target, candidate, candidate.base[1], "ok", [])
    edits: list[Edit] = []
    if made.status == "ok":
        said, _ = without_reasoning(made.reply.text)
        edits, _ = marked_edits(said, candidate.base[1], candidate.errors)
    return target_row(spec, target, candidate, made.text, made.status, edits)
