"""Prompts: files of config/prompts, filled with what a judge or a writer may see.

Texts of data sets and models are values, never templates: what looks like markup in them stays
text. Templates run in Jinja's sandbox and fail on a name that they are not given.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import (
    DictLoader,
    Environment,
    StrictUndefined,
    TemplateError,
    TemplateSyntaxError,
    meta,
    nodes,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment
from msgspec import Struct, convert, to_builtins

from judgescope.core.errors import UserError
from judgescope.core.process_limits import Clock, bounded_memory
from judgescope.schema.cards import Annotation, Aspect, Scale
from judgescope.schema.cards.judges import MOST_ERRORS

SUFFIX = ".jinja"
PLAIN_NAME = re.compile(r"[\w-][\w.-]*\.jinja")
"""No way out of the folder of prompts."""
MOST_CHARACTERS = 20_000_000
"""Of a prompt."""
MOST_DIGITS = 10_000
"""Of a number that a template computes."""
MOST_SECONDS = 5.0
"""Of computing, for one prompt; most take less than a thousandth of one."""
PARTS = "sub_aspects"
DRAFTING = {
    "aspect": "draft-steps",
    "perturbation": "draft-instructions",
    PARTS: "draft-sub-aspects",
}
"""What a card lacks (the steps of a kind of card, an aspect's parts) -> the form that drafts it."""
Templates = Mapping[str, str]
"""File name -> template, a form's own and all that it includes."""
FAULTS = (
    TemplateError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    RecursionError,
)
"""What code in a template can raise: a form is the user's program."""


def load(form: str, folders: list[Path], *, where: str) -> dict[str, str]:
    """Return a form's template and those that it includes; the first folder that has one wins.

    Raises UserError for a template that is not there or cannot be read as one.
    """
    found: dict[str, str] = {}
    wanted = {form + SUFFIX: where}
    while wanted:
        name, where = wanted.popitem()
        found[name] = _read(name, folders, where)
        try:
            tree = parsed(found[name])
            undeclared(tree)  # compiles it: every filter is known
        except TemplateSyntaxError as error:
            raise UserError(
                f"this prompt is no template: {error.message}",
                where=f"prompts/{name}:{error.lineno}",
            ) from None
        except (OverflowError, RecursionError) as error:
            raise UserError(
                f"this prompt is no template: {error}", where=f"prompts/{name}"
            ) from None
        used = {one for one in meta.find_referenced_templates(tree) if one}
        wanted |= dict.fromkeys(used - found.keys(), f"prompts/{name}")
    return found


_CLOCK = Clock()
_EACH = "for each"
"""The filter around what a loop goes through; no template can name it."""


class _Timed:
    """Goes through something if there is time. No generator: to close one takes memory."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = iter(items)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        _CLOCK.tick()
        return next(self._items)


class Sandbox(ImmutableSandboxedEnvironment):
    """Where templates run: they change nothing, reach nothing, and compute nothing endless.

    Time is looked at in every step of a loop, and with every call.
    """

    intercepted_binops = frozenset({"**"})

    def __init__(self, **settings: Any) -> None:
        """Forget what draws at random: a prompt is what its request is known by."""
        super().__init__(**settings)
        del self.globals["lipsum"], self.filters["random"]
        self.filters[_EACH] = _Timed

    def _generate(self, source: nodes.Template, *names: Any, **settings: Any) -> str:
        """Return the code of a template, each of whose loops looks at the time."""
        for loop in source.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, _EACH, [], [], None, None, lineno=loop.lineno)
        return super()._generate(source, *names, **settings)

    def call(self, *told: Any, **named: Any) -> Any:
        """Call what a template calls, if there is time."""
        _CLOCK.tick()
        return super().call(*told, **named)

    def call_filter(self, *told: Any, **named: Any) -> Any:
        """Filter an item of a sequence, if there is time."""
        _CLOCK.tick()
        return super().call_filter(*told, **named)

    def call_test(self, *told: Any, **named: Any) -> Any:
        """Test an item of a sequence, if there is time."""
        _CLOCK.tick()
        return super().call_test(*told, **named)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Return a power; raise OverflowError for one of too many digits."""
        if abs(right) * len(str(left)) > MOST_DIGITS:
            raise OverflowError("a power is too large")
        return super().call_binop(context, operator, left, right)


def parsed(template: str) -> nodes.Template:
    """Return the syntax tree of a template; raises jinja2's TemplateSyntaxError."""
    return Sandbox().parse(template)


def undeclared(tree: nodes.Template) -> set[str]:
    """Return the names that a template wants to be told; OverflowError for too large constants.

    Jinja compiles a template to find them, and computes what is constant in it.
    """
    with bounded_memory():
        return meta.find_undeclared_variables(tree)


def _read(name: str, folders: list[Path], where: str) -> str:
    if not PLAIN_NAME.fullmatch(name):
        raise UserError(
            "a prompt is named by letters, digits, -, _ and dots within, and lies in prompts/",
            where=where,
            got=name.removesuffix(SUFFIX),
            todo="include no file of another folder",
        )
    for folder in folders:
        path = folder / "prompts" / name
        if os.path.isfile(path):  # unlike Path, says so of names that no file can have, too
            return _text(path)
    there = {path.name for folder in folders for path in (folder / "prompts").glob(f"*{SUFFIX}")}
    raise UserError(
        "there is no prompt of this name",
        where=where,
        got=name.removesuffix(SUFFIX),
        allowed=[name.removesuffix(SUFFIX) for name in there],
        todo=f"write prompts/{name} or name an existing one",
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(
            f"this prompt is not UTF-8: {error.reason}",
            where=f"prompts/{path.name}, byte {error.start}",
            todo="save it as UTF-8",
        ) from None


def messages(form: str, templates: Templates, **values: Any) -> list[dict[str, str]]:
    """Return the filled template as one user message, without blanks at its ends.

    Raises UserError when the template uses a name that it is not given, or fails with what it is.
    """
    return as_messages(rendered(form, templates, **values).strip())


def as_messages(prompt: str) -> list[dict[str, str]]:
    """Return a prompt as the messages in which it is sent."""
    return [{"role": "user", "content": prompt}]


def rendered(form: str, templates: Templates, **values: Any) -> str:
    """Return the filled template as it is (see `messages`)."""
    try:
        with bounded_memory(), _CLOCK.set(MOST_SECONDS):
            template = _environment(tuple(sorted(templates.items()))).get_template(form + SUFFIX)
            return "".join(_bounded(template.generate(**values)))
    except FAULTS as error:
        raise UserError(
            f"this prompt cannot be filled: {str(error) or type(error).__name__}",
            where=f"prompts/{form}{SUFFIX}",
            allowed=list(values),
        ) from None


def _bounded(pieces: Iterable[str]) -> Iterator[str]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > MOST_CHARACTERS:
            raise OverflowError(f"it has more than {MOST_CHARACTERS:,} characters")
        yield piece


@cache
def _environment(templates: tuple[tuple[str, str], ...]) -> Environment:
    return Sandbox(loader=DictLoader(dict(templates)), undefined=StrictUndefined)


def rated(aspect: Aspect, scale: Scale) -> dict[str, Any]:
    """Return the names `aspect` and `scale` of a prompt; whole numbers without a decimal point.

    `aspect.steps` is a numbered list, `aspect.unlike` a list of qualities, `aspect.worst` and
    `aspect.best` say what the ends are like. They are not there where the card has none: a form
    that shows them fails before anything is asked.
    """
    limits = {name: plain(getattr(scale, name)) for name in ("min", "max", "step")}
    about: dict[str, Any] = {"name": aspect.name, "definition": aspect.definition}
    if aspect.steps:
        about["steps"] = numbered(aspect.steps)
    if aspect.unlike:
        about["unlike"] = aspect.unlike
    ends = {"worst": aspect.worst, "best": aspect.best}
    about |= {name: end for name, end in ends.items() if end is not None}
    return {"aspect": about, "scale": {**limits, "labels": scale.labels}}


def annotating(annotation: Annotation, task: str) -> dict[str, Any]:
    """Return the names `annotation` and `task` of an annotator's prompt."""
    return {"annotation": annotation.told(), "task": task}


def numbered(steps: Sequence[str]) -> str:
    """Return steps as a numbered list, one a line."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))


class SubAspect(Struct, frozen=True):
    """A part of an aspect."""

    name: str
    definition: str


class LoweredAspect(Struct, frozen=True):
    """An aspect whose quality a change lowers, and its parts."""

    name: str
    definition: str
    sub_aspects: list[SubAspect]


class Change(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the card of a writer tells of the change that it makes."""

    reply: str = "whole"
    """Whether the whole text is wanted, or (`appended`) what is put behind it."""
    adjustment: str | None = None
    instructions: list[str] = []
    demonstrations: list[dict[str, str]] = []
    aspect: LoweredAspect | None = None


NO_CHANGE = Change()
"""Of writers that make a text of its source alone, or a better one."""


def change_of(card: Mapping[str, Any]) -> Change:
    """Return what the keys of a writer's card tell of its change; other keys tell nothing."""
    return convert(card, Change)


def to_write(
    task: str, degree: Mapping[str, int | str | None], change: Change, **seen: str | None
) -> dict[str, Any]:
    """Return the names of a writer's prompt: its task, how many edits, and `source`, `text` and
    `problem` (why an earlier attempt cannot be used).

    What is not told of the change is no name: a form that shows it fails before anything is asked.
    `instructions` are numbered.
    """
    names: dict[str, Any] = {"source": None, "problem": None, "reply": change.reply}
    told = {name: value for name, value in to_builtins(change).items() if value}
    if change.instructions:
        told["instructions"] = numbered(change.instructions)
    return {"task": task, **degree, **names, **told, **seen}


def to_merge_names(text: str, lists: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the names of a supervisor's prompt: the text, and annotators' lists of errors in it.

    An error has location, explanation, severity and category, each None where it is not told;
    `categories` says whether any has one, `most` how many are kept.
    """
    categories = any(error["category"] for errors in lists for error in errors)
    return {"text": text, "lists": lists, "categories": categories, "most": MOST_ERRORS}


def plain(value: float | None) -> float | None:
    """Return a whole number without its decimal point."""
    return int(value) if value is not None and value == int(value) else value
