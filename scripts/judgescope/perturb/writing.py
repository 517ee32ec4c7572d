"""Texts that a model writes: requested, checked, requested again with the reason, or
failed.

These are sets of texts made from originals (at once or step by step), references for
all items, drafts of steps for cards, and analyses of ratings for judges.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from msgspec import to_builtins

from judgescope.core.errors import UserError, coded
from judgescope.core.finish import ending
from judgescope.core.names import ORIGINAL
from judgescope.core.rng import share_of, stream
from judgescope.core.words import language_of
from judgescope.data.sentences import english_words
from judgescope.engines.requests import Reply, Request
from judgescope.engines.subjects import parts_of
from judgescope.parsing.reasoning import without_reasoning
from judgescope.perturb.check_languages import holds_in
from judgescope.perturb.edits import Amount, Perturbed, TextRow, edit_between
from judgescope.perturb.specs import MakeTextsSpec
from judgescope.perturb.validation import (
    CHECKS,
    DRAFT_CHECKS,
    echo_of,
    framed,
    more_than_one_error,
    undone,
)
from judgescope.prompts import AspectPart, to_write
from judgescope.replies.asking import Obtain, RequestFor, writer
from judgescope.replies.judging import reply_columns
from judgescope.schema.cards import RETRY_TEMPERATURE
from judgescope.schema.tables import read_table, table_of, write_table

Replies = Mapping[tuple[str, int], Reply]
ReadReply = Callable[[str, str], tuple[str, str | None]]
"""(content of a reply, parent) -> the resulting text, and why it is unusable, or
None."""
ANY_AMOUNT = Amount()
FIRST = 10
"""If so many texts at the beginning of a set are unusable, the others are not
requested."""
SHOWN = 160
"""Characters of an unusable reply that a message shows."""


class MadeText(NamedTuple):
    """A made text (the parent if it failed), `ok` or `failed: reason`, and the last
    reply.

    `tries` has all replies, each with the problem that it was asked to solve.
    """

    text: str
    status: str
    request: Request
    reply: Reply
    tries: tuple[tuple[str | None, Reply], ...]


def entire_text(content: str, parent: str) -> tuple[str, str | None]:
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
    amount: Amount = ANY_AMOUNT,
    attempts: int,
    read: Callable[[str], ReadReply] = lambda item: entire_text,
    separate_draws: bool = False,
    also: Callable[[str, str], str | None] = lambda item, text: None,
    retry_temperature: float | None = RETRY_TEMPERATURE,
    unusable_before: int = 0,
) -> dict[str, MadeText]:
    """Return item -> the text made from its parent.

    ask_for(item, parent, problem) returns the request for a text; problem is the reason
    why the previous text is unusable. Each round requests all missing texts at once. If
    a reply is unusable for the reason that its request already names, the next draw of
    the same request is used. read(item) returns the function that turns replies into
    texts. `separate_draws`: equal requests of two items are two draws. also(item, text)
    is a further check, after all others. A text that repeats the reason of its request
    is unusable. At temperature 0, further attempts have the temperature
    `retry_temperature` (None: there are none). A reply equal to the one before it is
    the last one of its text. After each round a line counts the unusable texts;
    `unusable_before`: those that the job has of earlier calls.
    """
    made: dict[str, MadeText] = {}
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
        draws = dict[str, int]()
        for item, request in requests.items():
            drawer = ("" if separate_draws else item, request.key)
            draws[item] = n_drawn[drawer]
            n_drawn[drawer] += 1
        replies = obtain(_with_draws(requests, draws))
        for item, request in requests.items():
            reply = replies[request.key, draws[item]]
            parent = parents[item]
            before = problems[item]
            text, problem = checked(reply, parent, checks, amount, read(item))
            if before is not None:
                problem = problem or echo_of(before, text, parent)
            problem = problem or also(item, text)
            earlier = made[item].tries if item in made else ()
            tries = (*earlier, (before, reply))
            status = f"failed: {problem}" if problem else "ok"
            kept = parent if problem else text
            made[item] = MadeText(kept, status, request, reply, tries)
        problems = _problems_to_solve({item: made[item] for item in requests})
        tell_unusable(unusable_before + len(_failed(made.values())))
    return made


def tell_unusable(count: int) -> None:
    """Print the number of a job's unusable texts, for the progress line of the run."""
    # The beginning of a line with a job's number of unusable texts; the logger reads
    # it.
    unusable_note = "unusable: "
    print(f"{unusable_note}{count}", flush=True)


def _with_draws(
    requests: Mapping[str, Request], draws: Mapping[str, int]
) -> list[Request]:
    """Return the requests, each with draws up to that of its item."""
    return [replace(each, draws=draws[item] + 1) for item, each in requests.items()]


def _problems_to_solve(made: Mapping[str, MadeText]) -> dict[str, str | None]:
    """Return item -> the problem of its text, for texts worth another attempt."""
    problems: dict[str, str | None] = {}
    for item, text in made.items():
        failure = unusable(text)
        if failure and not _repeats(text):
            problems[item] = failure.problem
    return problems


def _failed(made: Iterable[MadeText]) -> list[MadeText]:
    return [text for text in made if text.status != "ok"]


def _warmed(
    requests: Mapping[str, Request], temperature: float | None
) -> dict[str, Request]:
    """Return the requests of a further attempt: at temperature 0 the same reply would
    come again.
    """
    warmed: dict[str, Request] = {}
    for item, request in requests.items():
        if request.asked.get("temperature") != 0:
            warmed[item] = request
        elif temperature is not None:
            asked = {**request.asked, "temperature": temperature}
            warmed[item] = replace(request, asked=asked)
    return warmed


def _repeats(made: MadeText) -> bool:
    """Return whether the last reply equals the one before it."""
    texts = [reply.text for _, reply in made.tries[-2:]]
    return len(texts) == 2 and texts[0] == texts[1]


class Unusable(NamedTuple):
    """A text of which no reply can be used: why, and its last reply."""

    problem: str
    reply: str


def unusable(made: MadeText) -> Unusable | None:
    """Return why a text could not be made; None for a text that was made."""
    if made.status == "ok":
        return None
    return Unusable(made.status.removeprefix("failed: "), made.reply.text)


def goes_on(
    first: Sequence[Unusable | None], left: int, where: str, *, allow_missing: bool
) -> bool:
    """Return whether the rest of a set is requested: not if all first texts failed.

    left: the number of replies that were not requested. Raises UserError for a set
    that stops, unless the study allows that its texts are missing.
    """
    failed = [text for text in first if text is not None]
    if not first or len(failed) < len(first):
        return True
    which = "the only text is"
    if len(first) > 1:
        which = f"the first {len(first)} texts are"
    stopped = UserError(
        f"stopped: {which} unusable ({_reasons(failed)}); {left} replies were not "
        "requested",
        where=where,
        got=failed[0].reply[:SHOWN],
        todo="change the model, the prompt form or the checks of this card, or set "
        "`allow_missing` in the study; received replies are stored",
    )
    if not allow_missing:
        raise stopped
    print(f"warning: {where}: {stopped.what}", flush=True)
    return False


def _reasons(failed: Iterable[Unusable]) -> str:
    """Return the reasons why texts are unusable, the most frequent first."""
    reasons = Counter(text.problem for text in failed)
    return ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())


def warn_of_unusable(texts: Sequence[Unusable | None], where: str) -> None:
    """Print how many texts are unusable, the commonest reason, and an example.

    The command line shows the warning when the job has ended.
    """
    failed = [text for text in texts if text is not None]
    if not failed:
        return
    reasons = Counter(text.problem for text in failed)
    [(reason, _)] = reasons.most_common(1)
    example = next(text.reply for text in failed if text.problem == reason)
    shown = " ".join(coded(example).split())[:SHOWN]
    print(
        f"warning: {len(failed)} of {len(texts)} texts of {where} are unusable: "
        f"{reason}\n  example: {shown!r}",
        flush=True,
    )


def checked(
    reply: Reply,
    parent: str,
    checks: Sequence[str],
    amount: Amount = ANY_AMOUNT,
    read: ReadReply = entire_text,
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
    for check in checks:
        problem = problem or known[check](text, parent, amount)
    return text, problem


def answers_of(
    writer: str, target: str, made: MadeText, kind: str = "edit", **aspect: str | None
) -> list[TextRow]:
    """Return a row of table `answers` for every reply that was used to make a text."""
    columns = {"judge": writer, "kind": kind, "target": target, **aspect}
    return [
        {**columns, "hint": problem, **reply_columns(reply)}
        for problem, reply in made.tries
    ]


# --- texts of originals ---------------------------------------------------------------


def made_targets(
    spec: MakeTextsSpec,
    items: Iterable[TextRow],
    originals: Iterable[TextRow],
    request_for: RequestFor,
    obtain: Obtain,
) -> tuple[list[TextRow], list[TextRow]]:
    """Return the targets of all steps and their answers; a chain ends at a failed text.

    `items` and `originals` are rows of these tables.
    """
    sources = {row["item"]: parts_of(row) for row in items}
    parents, checks = _parents_and_checks(spec, sources, originals)
    first = {row["item"]: row["text"] for row in parents}
    drawn = _errors_of(spec, first)

    def ask_for(item: str, text: str, problem: str | None) -> Request:
        shown = {"text": text, "problem": problem}
        amount = spec.amount._asdict()
        names = to_write(spec.about, amount, spec.change, sources[item], **shown)
        if item in drawn:
            names["error"] = to_builtins(drawn[item][step - 1])
        return request_for(f"text of {item}", names)

    def step_problem(item: str, text: str) -> str | None:
        return _step_problem(spec.steps, text, last[item], first[item])

    where = _card_of(spec)
    read = entire_text
    if spec.change.reply == "appended":
        read = appended
    targets = list[TextRow]()
    answers = list[TextRow]()
    failures: list[Unusable | None] = []
    for step in range(1, spec.steps + 1):
        last = {row["item"]: row["text"] for row in parents}
        make = partial(
            make_texts,
            ask_for=ask_for,
            obtain=obtain,
            checks=checks,
            amount=spec.amount,
            attempts=spec.attempts,
            read=lambda item: read,
            also=step_problem,
            retry_temperature=spec.retry_temperature,
        )
        if step > 1 or spec.fallback_to_reference:
            n_failed = len(failures) - failures.count(None)
            made = make(last, unusable_before=n_failed)
        else:
            made = begun(last, make, where, allow_missing=spec.allow_missing)
        parents = [row for row in parents if row["item"] in made]
        failures += map(unusable, made.values())
        rows = [_target(spec, parent, made[parent["item"]], step) for parent in parents]
        for row in rows:
            answers += answers_of(spec.perturbation, row["target"], made[row["item"]])
        targets += rows
        parents = [row for row in rows if row["status"] == "ok"]
    warn_of_unusable(failures, where)
    return targets, answers


def _step_problem(steps: int, text: str, before: str, original: str) -> str | None:
    """Return the problem if a step changes too much or undoes an earlier step, else
    None.
    """
    if steps == 1:
        return None
    return more_than_one_error(text, before) or undone(text, before, original)


def _card_of(spec: MakeTextsSpec) -> str:
    """Return the card that asks for the texts, for messages."""
    if spec.perturbation == ORIGINAL:
        return f"datasets/{spec.dataset}.yaml, key rewrite_references"
    return f"perturbations/{spec.perturbation}.yaml, dataset {spec.dataset}"


def _parents_and_checks(
    spec: MakeTextsSpec, items: Iterable[str], originals: Iterable[TextRow]
) -> tuple[list[TextRow], list[str]]:
    """Return the usable originals of the chosen items, and the checks that hold in
    their language.
    """
    usable = []
    for row in originals:
        if not row["status"].startswith("failed"):
            usable.append(row)
    texts = [row["text"] for row in usable]
    language = spec.language or language_of(texts, english_words())
    checks = [check for check in spec.checks if holds_in(check, language)]
    chosen = share_of(items, spec.share, seed=spec.seed, dataset=spec.dataset)
    return [row for row in usable if row["item"] in chosen], checks


def begun(
    parents: Mapping[str, str],
    make: Callable[..., dict[str, MadeText]],
    where: str,
    *,
    allow_missing: bool,
) -> dict[str, MadeText]:
    """Return the texts made from parents: if all first ones are unusable, only these.

    make(parents, unusable_before): `make_texts` with its other arguments. Raises
    UserError, as `goes_on`.
    """
    first = dict(islice(parents.items(), FIRST))
    rest = dict(islice(parents.items(), FIRST, None))
    made = make(first, unusable_before=0)
    problems = [unusable(text) for text in made.values()]
    if goes_on(problems, len(rest), where, allow_missing=allow_missing):
        made |= make(rest, unusable_before=len(_failed(made.values())))
    return made


def drawn_parts(
    errors: int, parts: int, *, seed: int, names: Sequence[str]
) -> list[int]:
    """Return for each error the index of its sub-aspect, drawn by the stream `names`;
    none is repeated before all were drawn.
    """
    rng = stream(seed, *names, "parts")
    rounds = -(-errors // parts)
    drawn = list[int]()
    for _ in range(rounds):
        drawn += rng.permutation(parts).tolist()
    return drawn[:errors]


def _errors_of(
    spec: MakeTextsSpec, items: Iterable[str]
) -> dict[str, list[AspectPart]]:
    """Return item -> the sub-aspect of the error of each step; {} without an aspect."""
    aspect = spec.change.aspect
    if aspect is None:
        return {}
    errors: dict[str, list[AspectPart]] = {}
    for item in items:
        names = (spec.dataset, spec.perturbation, item)
        count = len(aspect.sub_aspects)
        drawn = drawn_parts(spec.steps, count, seed=spec.seed, names=names)
        errors[item] = [aspect.sub_aspects[index] for index in drawn]
    return errors


def _target(spec: MakeTextsSpec, parent: TextRow, made: MadeText, step: int) -> TextRow:
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


def write_texts(spec: MakeTextsSpec, *, card: str, store: str, budget: str) -> None:
    """Make texts from a dataset's originals, at once or step by step; or make the
    originals.
    """
    items = read_table("items", spec.items, ["item", "parts"]).to_pylist()
    originals = read_table("targets", spec.input).to_pylist()
    with writer(spec.writer, spec.seed, card=card, store=store, budget=budget) as asked:
        targets, answers = made_targets(spec, items, originals, *asked)
    write_table("targets", table_of("targets", targets), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


# --- drafts for cards, and analyses for judges ----------------------------------------
