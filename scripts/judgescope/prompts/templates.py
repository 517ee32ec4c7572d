"""Templates of prompts: found in the folders of cards, and checked."""

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from judgescope.core.errors import UserError

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
    # here: `audit` runs without
    from jinja2 import TemplateSyntaxError, meta

    from judgescope.prompts.sandbox import parsed, undeclared

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


def needed_names(templates: Templates) -> set[str]:
    """Return the names that a form and its includes need."""
    return set(_needs(tuple(sorted(templates.items()))))


def shows(templates: Templates, name: str) -> bool:
    """Return whether a form uses a name that it does not define itself."""
    return name in _needs(tuple(sorted(templates.items())))


@cache
def _needs(templates: tuple[tuple[str, str], ...]) -> frozenset[str]:
    # here: `audit` runs without
    from judgescope.prompts.sandbox import parsed, undeclared

    names = set[str]()
    for _, template in templates:
        names |= undeclared(parsed(template))
    return frozenset(names)
