"""Templates of prompts: found, checked, and run in a sandbox with limits."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import (
    TemplateSyntaxError,
    meta,
    nodes,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment

from judgescope.core.errors import UserError
from judgescope.core.process_limits import Clock, bounded_memory

SUFFIX = ".jinja"


STATED = re.compile(r"\{# usual reply: ([1-9][0-9]*) tokens #\}\n")
"""The optional first line of a prompt form, for cost estimates; it is not part of the
prompt.

The shipped numbers are rounded and come from models without reasoning; with it, replies
are many times longer.
"""


Templates = Mapping[str, str]
"""File name -> template: that of a form and all that it includes."""


def load(form: str, folders: list[Path], *, where: str) -> dict[str, str]:
    """Return a form's template and those that it includes, each from the first folder
    with it.

    Raises UserError for a template that is missing or invalid.
    """
    templates: dict[str, str] = {}
    waiting = {form + SUFFIX: where}
    while waiting:
        name, where = waiting.popitem()
        templates[name] = STATED.sub("", _file(name, folders, where), count=1)
        try:
            tree = parsed(templates[name])
            undeclared(tree)  # compiles it, which finds unknown filters
        except TemplateSyntaxError as error:
            raise UserError(
                f"this prompt is not a valid template: {error.message}",
                where=f"prompts/{name}:{error.lineno}",
            ) from None
        except (OverflowError, RecursionError) as error:
            raise UserError(
                f"this prompt is not a valid template: {error}", where=f"prompts/{name}"
            ) from None
        for included in meta.find_referenced_templates(tree):
            if included and included not in templates:
                waiting[included] = f"prompts/{name}"
    return templates


def stated_tokens(forms: Iterable[str], folders: list[Path]) -> dict[str, int]:
    """Return form -> tokens of a usual reply, for the forms whose templates state
    them.
    """
    stated: dict[str, int] = {}
    for form in forms:
        head = STATED.match(_file(form + SUFFIX, folders, form))
        if head is not None:
            stated[form] = int(head[1])
    return stated


def _file(name: str, folders: list[Path], where: str) -> str:
    """Return the text of a template, from the first folder that has it."""
    # Such a name cannot lead out of the folder of prompts.
    if not re.fullmatch(r"[\w-][\w.-]*\.jinja", name):
        raise UserError(
            "a prompt's name has only letters, digits, - and _, with dots only between "
            "them",
            where=where,
            got=name.removesuffix(SUFFIX),
            todo="name a file in prompts/, not in another folder",
        )
    for folder in folders:
        path = folder / "prompts" / name
        if not os.path.isfile(path):  # unlike Path, accepts names that no file can have
            continue
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise UserError(
                f"this prompt is not UTF-8: {error.reason}",
                where=f"prompts/{name}, byte {error.start}",
                todo="save it as UTF-8",
            ) from None
    known = set[str]()
    for folder in folders:
        for path in (folder / "prompts").glob(f"*{SUFFIX}"):
            known.add(path.name.removesuffix(SUFFIX))
    raise UserError(
        "unknown prompt",
        where=where,
        got=name.removesuffix(SUFFIX),
        allowed=known,
        todo=f"create prompts/{name} or name an existing prompt",
    )


def parsed(template: str) -> nodes.Template:
    """Return the syntax tree of a template; raises jinja2's TemplateSyntaxError."""
    return Sandbox().parse(template)


def undeclared(tree: nodes.Template) -> set[str]:
    """Return the names that a template needs; OverflowError for too large constants.

    Jinja compiles a template to find them, and computes its constants.
    """
    with bounded_memory():
        return meta.find_undeclared_variables(tree)


def needed_names(templates: Templates) -> set[str]:
    """Return the names that a form and its includes need."""
    names = set[str]()
    for template in templates.values():
        names |= undeclared(parsed(template))
    return names


CLOCK = Clock()


class _Timed:
    """An iterator that stops at the time limit; not a generator, as closing one takes
    memory.
    """

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = iter(items)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        CLOCK.tick()
        return next(self._items)


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of templates, which have no side effects, no access and a time
    limit.

    Every step of a loop and every call checks the time.
    """

    intercepted_binops = frozenset({"**"})
    each = "for each"
    """The filter around the items of a loop; templates cannot use this name."""
    most_digits = 10_000
    """The maximum length of a number that a template computes."""

    def __init__(self, **settings: Any) -> None:
        """Remove random functions: a prompt is part of its request's key."""
        super().__init__(**settings)
        del self.globals["lipsum"], self.filters["random"]
        self.filters[self.each] = _Timed

    def _generate(self, source: nodes.Template, *names: Any, **settings: Any) -> str:
        """Return the code of a template, with a time check in each loop."""
        for loop in source.find_all(nodes.For):
            loop.iter = nodes.Filter(
                loop.iter, self.each, [], [], None, None, lineno=loop.lineno
            )
        return super()._generate(source, *names, **settings)

    def call(self, *args: Any, **named: Any) -> Any:
        """Call a function for a template, if there is time left."""
        CLOCK.tick()
        return super().call(*args, **named)

    def call_filter(self, *args: Any, **named: Any) -> Any:
        """Apply a filter to an item of a sequence, if there is time left."""
        CLOCK.tick()
        return super().call_filter(*args, **named)

    def call_test(self, *args: Any, **named: Any) -> Any:
        """Apply a test to an item of a sequence, if there is time left."""
        CLOCK.tick()
        return super().call_test(*args, **named)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Return a power; raise OverflowError if it has too many digits."""
        if abs(right) * len(str(left)) > self.most_digits:
            raise OverflowError("a power is too large")
        return super().call_binop(context, operator, left, right)


def shows(templates: Templates, name: str) -> bool:
    """Return whether a form uses a name that it does not define itself."""
    return name in _needs(tuple(sorted(templates.items())))


@cache
def _needs(templates: tuple[tuple[str, str], ...]) -> frozenset[str]:
    trees = [parsed(template) for _, template in templates]
    return frozenset().union(*map(undeclared, trees))
