"""Texts that a model writes: requested, checked, requested again with the reason, or
failed.

These are sets of texts made from originals (at once or step by step), references for
all items, drafts of steps for cards, and analyses of ratings for judges.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray

from judgescope.core.canonical import JobSpec
from judgescope.core.cells import split
from judgescope.core.errors import UserError, coded
from judgescope.core.files import write_text
from judgescope.core.finish import ending
from judgescope.core.names import ORIGINAL, REFERENCE
from judgescope.core.rng import share_of
from judgescope.engines.requests import Reply, Request
from judgescope.engines.subjects import Subjects
from judgescope.parsing.judgment import Scale
from judgescope.parsing.reasoning import without_reasoning
from judgescope.parsing.written import (
    problem_with_analysis,
    read_steps,
    read_sub_aspects,
    without_rating,
)
from judgescope.perturb.edits import Amount, Perturbed, edit_between
from judgescope.perturb.specs import (
    MakeTextsSpec,
    RetryTemperature,
    WriteReferencesSpec,
)
from judgescope.perturb.validation import (
    CHECKS,
    DRAFT_CHECKS,
    echo_of,
    framed,
    more_than_one_error,
    undone,
)
from judgescope.prompts import NO_CHANGE, PARTS, to_write
from judgescope.replies.asking import Obtain, RequestFor, asker, prompted, writer
from judgescope.replies.few_shot import Question, questions
from judgescope.replies.judging import reply_columns
from judgescope.replies.specs import AnalyseSpec, WriterSpec
from judgescope.schema.cards import PromptedModel
from judgescope.schema.tables import read_table, table_of, write_table
from judgescope.statistics.anchors import most_diverse

Row = dict[str, Any]
Replies = Mapping[tuple[str, int], Reply]
Read = Callable[[str, str], tuple[str, str | None]]
"""(content of a reply, parent) -> the resulting text, and why it is unusable, or
None."""
ANY = Amount()
FIRST = 10
"""If so many texts at the beginning of a set are unusable, the others are not
requested."""
FEWEST = 3
"""One or two unusable texts show nothing about a set."""
SHOWN = 160
"""Characters of an unusable reply that a message shows."""


class Made(NamedTuple):
    """A made text (the parent if it failed), `ok` or `failed: reason`, and the last
    reply.

    `tries` has all replies, each with the problem that it was asked to solve.
    """

    text: str
    status: str
    request: Request
    reply: Reply
    tries: tuple[tuple[str | None, Reply], ...]


def whole(content: str, parent: str) -> tuple[str, str | None]:
    """Read a reply that is the entire text, a version of its parent if there is one."""
    return content, framed(content, parent)


def appended(content: str, parent: str) -> tuple[str, str | None]:
    """Read a reply that continues its parent; every character of the parent stays."""
    text = parent + ("" if parent[-1:].isspace() else " ") + content
    return text, framed(content, parent)


def unlike_parent(content: str, _: str) -> tuple[str, str | None]:
    """Read a reply that is not a version of its parent, such as a list or an
    analysis.
    """
    return content, None


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
    retry_temperature: RetryTemperature = "same",
) -> dict[str, Made]:
    """Return item -> the text made from its parent.

    ask_for(item, parent, problem) returns the request for a text; problem is the reason
    why the previous text is unusable. Each round requests all missing texts at once. If
    a reply is unusable for the reason that its request already names, the next draw of
    the same request is used. read(item) returns the function that turns replies into
    texts. `apart`: equal requests of two items are two draws. also(item, text) is a
    further check, after all others. A text that repeats the reason of its request is
    unusable. At temperature 0, further attempts have the temperature
    `retry_temperature` (None: there are none; same: 0). A reply equal to the one before
    it is the last one of its text.
    """
    made: dict[str, Made] = {}
    problems: dict[str, str | None] = dict.fromkeys(parents)
    n_drawn: Counter[tuple[str, str]] = Counter()
    for attempt in range(attempts):
        requests = {
            item: ask_for(item, parents[item], why) for item, why in problems.items()
        }
        if attempt:
            requests = _warmed(requests, retry_temperature)
        if not requests:
            break
        draws = {}
        for item, request in requests.items():
            drawer = ("" if apart else item, request.key)
            draws[item] = n_drawn[drawer]
            n_drawn[drawer] += 1
        replies = obtain(
            [replace(one, draws=draws[item] + 1) for item, one in requests.items()]
        )
        for item, request in requests.items():
            reply, parent, before = (
                replies[request.key, draws[item]],
                parents[item],
                problems[item],
            )
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
            for item in requests
            if made[item].status != "ok" and not _repeats(made[item])
        }
    return made


def _warmed(
    requests: Mapping[str, Request], temperature: RetryTemperature
) -> dict[str, Request]:
    """Return the requests of a further attempt: at temperature 0 the same reply would
    come again.
    """
    warmed: dict[str, Request] = {}
    for item, request in requests.items():
        if request.asked.get("temperature") != 0 or temperature == "same":
            warmed[item] = request
        elif temperature is not None:
            asked = {**request.asked, "temperature": temperature}
            warmed[item] = replace(request, asked=asked)
    return warmed


def _repeats(made: Made) -> bool:
    """Return whether the last reply equals the one before it."""
    texts = [reply.text for _, reply in made.tries[-2:]]
    return len(texts) == 2 and texts[0] == texts[1]


def stopped(made: Mapping[str, Made], left: int, where: str) -> UserError | None:
    """Return the error of a set whose first texts are all unusable; None if one is
    usable.

    left: the number of texts that were not requested.
    """
    if len(made) < FEWEST or any(text.status == "ok" for text in made.values()):
        return None
    reasons = _reasons(made.values())
    return UserError(
        f"stopped: the first {len(made)} texts are unusable ({reasons}); {left} "
        "replies were not requested",
        where=where,
        got=next(iter(made.values())).reply.text[:SHOWN],
        todo="change the model, the prompt form or the checks of this card, or set "
        "`allow_missing` in the study; received replies are stored",
    )


def _reasons(made: Iterable[Made]) -> str:
    """Return the reasons why texts are unusable, the most frequent first."""
    reasons = Counter(text.status.removeprefix("failed: ") for text in made)
    return ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())


def warn_of_unusable(made: Mapping[str, Made], where: str) -> None:
    """Print how many texts are unusable, the commonest reason, and an example."""
    failed = [text for text in made.values() if text.status != "ok"]
    if not failed:
        return
    reasons = Counter(text.status.removeprefix("failed: ") for text in failed)
    [(reason, _)] = reasons.most_common(1)
    example = next(text for text in failed if text.status.endswith(reason))
    shown = " ".join(coded(example.reply.text).split())[:SHOWN]
    print(
        f"warning: {len(failed)} of {len(made)} texts of {where} are unusable: "
        f"{reason}\n  example: {shown!r}",
        flush=True,
    )


def checked(
    reply: Reply,
    parent: str,
    checks: Sequence[str],
    amount: Amount = ANY,
    read: Read = whole,
) -> tuple[str, str | None]:
    """Return the text in a reply and the first reason why it is unusable, or None."""
    text, unclosed = without_reasoning(reply.text)
    if reply.status == "error":
        return text, f"the endpoint refused: {reply.text}"
    ended = ending(reply.finish)
    if ended == "cut" or unclosed:
        return text, "the reply was cut"
    if ended == "filtered":
        return text, "a filter ended the reply"
    if ended == "failed":
        return text, "the endpoint failed during the reply"
    if not text:
        return text, "the reply is empty"
    text, problem = read(text, parent)
    known = CHECKS | DRAFT_CHECKS
    problems = (known[check](text, parent, amount) for check in checks)
    return text, problem or next((problem for problem in problems if problem), None)


def answers_of(
    writer: str, target: str, made: Made, kind: str = "edit", **aspect: str | None
) -> list[Row]:
    """Return a row of table `answers` for every reply that was used to make a text."""
    columns = {"judge": writer, "kind": kind, "target": target, **aspect}
    return [
        {**columns, "hint": problem, **reply_columns(reply)}
        for problem, reply in made.tries
    ]


# --- texts of originals ---------------------------------------------------------------


def made_targets(
    spec: MakeTextsSpec,
    items: Iterable[Row],
    originals: Iterable[Row],
    request_for: RequestFor,
    obtain: Obtain,
) -> tuple[list[Row], list[Row]]:
    """Return the targets of all steps and their answers; a chain ends at a failed text.

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
        """Return the problem if a step changes too much or undoes an earlier step, else
        None.
        """
        if spec.steps == 1:
            return None
        return more_than_one_error(text, last[item]) or undone(
            text, last[item], first[item]
        )

    where = f"perturbations/{spec.perturbation}.yaml, dataset {spec.dataset}"
    if spec.perturbation == ORIGINAL:
        where = f"datasets/{spec.dataset}.yaml, key select.original"
    targets: list[Row] = []
    answers: list[Row] = []
    for step in range(1, spec.steps + 1):
        last = {row["item"]: row["text"] for row in parents}
        make = partial(
            make_texts,
            ask_for=ask_for,
            obtain=obtain,
            checks=spec.checks,
            amount=spec.amount,
            attempts=spec.attempts,
            read=lambda item: appended if spec.change.reply == "appended" else whole,
            also=step_fault,
            retry_temperature=spec.retry_temperature,
        )
        begin = dict(islice(last.items(), FIRST if step == 1 else None))
        rest = {item: text for item, text in last.items() if item not in begin}
        made = make(begin)
        problem = None
        if step == 1 and not spec.fallback_to_reference:
            problem = stopped(made, len(rest), where)
        if problem is not None and not spec.allow_missing:
            raise problem
        if problem is None:
            made |= make(rest)
        else:
            print(f"warning: {problem.what}", flush=True)
            parents = [row for row in parents if row["item"] in made]
        warn_of_unusable(made, where)
        rows = [_target(spec, parent, made[parent["item"]], step) for parent in parents]
        targets += rows
        for row in rows:
            answers += answers_of(spec.perturbation, row["target"], made[row["item"]])
        parents = [row for row in rows if row["status"] == "ok"]
    return targets, answers


def _target(spec: MakeTextsSpec, parent: Row, made: Made, step: int) -> Row:
    """Return the target of a made text; an original replaces its reference."""
    status = made.status
    if spec.perturbation == ORIGINAL and spec.fallback_to_reference:
        status = status.replace("failed", "kept", 1)
    text = Perturbed(made.text, status, tuple(edit_between(parent["text"], made.text)))
    if spec.perturbation == ORIGINAL:
        return {**parent, **text.columns}
    return text.target(
        parent, spec.perturbation, spec.degree, step, in_chain=spec.steps > 1
    )


# --- references -----------------------------------------------------------------------


def similarities(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the chrF of all pairs of texts, in [0, 1]; with beta 1 it is symmetric."""
    from sacrebleu.metrics.chrf import CHRF

    measure = CHRF(beta=1)
    matrix = np.eye(len(texts))
    for i, text in enumerate(texts):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = (
                measure.sentence_score(text, [texts[j]]).score / 100
            )
    return matrix


def diverse(texts: Sequence[str], count: int, first: int | None = None) -> list[int]:
    """Return the indices of `count` diverse texts, no two with the same words
    (`most_diverse`).

    `first` is the index of a text that is always chosen.
    """
    by_words = {
        " ".join(text.split()): i for i, text in reversed(list(enumerate(texts)))
    }
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
    """Return the references of each item that are kept, as targets, and the answers.

    `texts`: item -> the dataset's own reference, for items that have one.
    """
    rows = {row["item"]: row for row in items}
    chosen = share_of(rows, spec.share, seed=spec.seed, dataset=spec.dataset)
    requests: dict[str, Request] = {}
    for item in sorted(chosen):
        shown = {
            "source": rows[item]["source"],
            "text": texts.get(item, ""),
            "problem": None,
        }
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


def _kept(
    spec: WriteReferencesSpec, item: str, replies: list[Reply], parent: str
) -> Iterator[Row]:
    """Yield the references of an item to keep, first the one most similar to all
    others.
    """
    checks = (
        spec.checks if parent else ["not_refusal"]
    )  # without a parent, no length to compare
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


def write_texts(spec: MakeTextsSpec, *, card: str, store: str, budget: str) -> None:
    """Make texts from a dataset's originals, at once or step by step; or make the
    originals.
    """
    items = read_table("items", spec.items, ["item", "source"]).to_pylist()
    originals = read_table("targets", spec.input).to_pylist()
    with writer(spec.writer, spec.seed, card=card, store=store, budget=budget) as asked:
        targets, answers = made_targets(spec, items, originals, *asked)
    write_table("targets", table_of("targets", targets), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


def write_references(
    spec: WriteReferencesSpec, *, card: str, store: str, budget: str
) -> None:
    """Write many references of each item; keep the most diverse, and one as the
    original.
    """
    items = read_table("items", spec.items).to_pylist()
    texts = {
        row["item"]: row["text"]
        for row in read_table("targets", spec.input).to_pylist()
    }
    with writer(spec.writer, spec.seed, card=card, store=store, budget=budget) as asked:
        kept, answers = references_of(spec, items, texts, *asked)
    write_table("targets", table_of("targets", kept), spec.kept)
    originals = [row for row in kept if not row["step"]]
    write_table("targets", table_of("targets", originals), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


# --- drafts for cards, and analyses for judges ----------------------------------------


ATTEMPTS = 3


class DraftSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a model drafts the missing part of a card for a task."""

    kind: str
    """A key of prompts.DRAFTING."""
    card: str
    lacks: str
    """The name of the missing part, for messages."""
    task: str
    shown: dict[str, Any]
    """The variables of the form."""
    drafter: WriterSpec
    output: str

    @property
    def model(self) -> str:
        """Return the id of the drafter."""
        return str(self.drafter.model.card["model"])


def drafted(spec: DraftSpec, request_for: RequestFor, obtain: Obtain) -> str:
    """Return a draft as YAML to paste into its card; UserError if no reply is
    usable.
    """

    def ask_for(about: str, _: str, problem: str | None) -> Request:
        return request_for(about, {**spec.shown, "problem": problem})

    [made] = make_texts(
        {f"{spec.lacks} of {spec.card}": ""},
        ask_for=ask_for,
        obtain=obtain,
        checks=[spec.kind if spec.kind == PARTS else "steps"],
        attempts=ATTEMPTS,
        read=lambda name: unlike_parent,
    ).values()
    if made.status != "ok":
        raise UserError(
            f"no reply of the drafter is usable ({len(made.tries)} tried); reason for "
            "the last: " + made.status.removeprefix("failed: "),
            where=f"models/{spec.model}.yaml, asked for the {spec.lacks} of "
            f"{spec.card} for the task {spec.task}",
            got=made.reply.text,
            todo=(
                "running again reuses the stored replies: name another `drafter`, "
                f"write your own prompts/{spec.drafter.form}.jinja, or write the "
                f"{spec.lacks} yourself"
            ),
        )
    # the comment contains only ids, not a model's text
    comment = [
        (
            f"A model's draft of {spec.lacks} for the task {spec.task}. The study does "
            "not use it yet:"
        ),
        f"check it, correct it, and paste it into {spec.card}.",
        f"model: {spec.model}",
        f"prompt: {spec.drafter.form}",
        "replies (the last is this one):",
        *(f"  {reply.key}" for _, reply in made.tries),
    ]
    return "".join(f"# {line}\n" for line in comment) + _card_part(spec, made.text)


def _card_part(spec: DraftSpec, text: str) -> str:
    """Return the content of a reply as YAML, under its key in the card."""
    if spec.kind == PARTS:
        keys: dict[str, Any] = {
            PARTS: [part._asdict() for part in read_sub_aspects(text)]
        }
    else:
        name = "instructions" if spec.kind == "perturbation" else "steps"
        keys = {name: read_steps(text).texts}
    if spec.kind != "perturbation":
        keys = {"tasks": {spec.task: keys}}
    return yaml.safe_dump(keys, allow_unicode=True, sort_keys=False, width=100)


def explained(
    spec: AnalyseSpec,
    questions: Sequence[Question],
    model: PromptedModel,
    obtain: Obtain,
) -> list[tuple[Question, Made]]:
    """Return a judge's questions, each with its analysis.

    UserError if one failed. It is not replaced by another text, since all judges with
    the same number of demonstrations are shown the same ones, with or without analyses.
    """
    if not questions:
        return []
    judge = spec.judges[questions[0].judge]
    by_name = {
        f"{question.judge} {question.aspect} {question.target}": question
        for question in questions
    }

    def ask_for(name: str, _: str, problem: str | None) -> Request:
        variables = {**by_name[name].shown, "problem": problem}
        about, templates = f"analysis of {name}", spec.templates[judge.form]
        return prompted(judge, templates, model, variables, seed=spec.seed, about=about)

    def problem_with(name: str, text: str) -> str | None:
        scale = by_name[name].scale
        read = Scale(scale.min, scale.max, scale.step, tuple(scale.labels))
        return problem_with_analysis(text, by_name[name].shown["rating"], read)

    made = make_texts(
        {name: question.shown["text"] for name, question in by_name.items()},
        ask_for=ask_for,
        obtain=obtain,
        checks=["not_refusal"],
        attempts=judge.attempts,
        read=lambda name: unlike_parent,
        also=problem_with,
    )
    failed = {name: text for name, text in made.items() if text.status != "ok"}
    if failed:
        name, first = next(iter(failed.items()))
        reason = first.status.removeprefix("failed: ")
        raise UserError(
            f"{len(failed)} of {len(made)} analyses of demonstrations are unusable; "
            f"the reason for the first, after {len(first.tries)} attempts: {reason}",
            where=f"judges/{by_name[name].judge}.yaml, key shots.analyses: "
            f"{spec.model.card['model']} on {name}",
            got=first.reply.text,
            todo=(
                "the judge received no request; running again reuses the stored "
                "replies: name another model or prompt form, allow more `attempts`, or "
                "show only the ratings (form score-shots)"
            ),
        )
    return [(question, made[name]) for name, question in by_name.items()]


def analyse(spec: AnalyseSpec, *, card: str, store: str, budget: str) -> None:
    """Find the demonstrations of every judge; write analyses and the underlying
    replies.
    """
    subjects = Subjects(spec.results, spec.dataset, spec.seed)
    analyses, answers = [], []
    with asker(spec.model, card=card, store=store, budget=budget) as asked:
        for judge in spec.judges:
            for question, made in explained(
                spec, list(questions(spec, judge, subjects)), *asked
            ):
                aspect, criterion = split(question.aspect)
                known = {"aspect": aspect, "criterion": criterion}
                text = {"target": question.target, "text": without_rating(made.text)}
                about = {
                    "dataset": spec.dataset,
                    "judge": judge,
                    "rating": question.shown["rating"],
                }
                analyses.append({**about, **known, **text})
                answers += answers_of(judge, question.target, made, "analyze", **known)
    write_table("analyses", table_of("analyses", analyses), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


def draft(spec: DraftSpec, *, card: str, store: str, budget: str) -> None:
    """Ask for a draft until a reply is usable; write it as a part of the card."""
    with writer(spec.drafter, 0, card=card, store=store, budget=budget) as asked:
        text = drafted(spec, *asked)
    write_text(Path(spec.output), text)
