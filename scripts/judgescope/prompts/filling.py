"""Filling prompt forms: with one text, or with many after one rendering.

Texts of datasets and models are values, never templates: markup in them stays text.
"""

import re
from collections.abc import Mapping, Set
from functools import cache
from typing import NamedTuple

from jinja2 import DictLoader, Environment, StrictUndefined, TemplateError, nodes

from judgescope.core.errors import UserError
from judgescope.core.process_limits import bounded_memory
from judgescope.data.rated import SourcePart
from judgescope.prompts.material import SourceParts, material
from judgescope.prompts.sandbox import CLOCK, Sandbox, parsed
from judgescope.prompts.templates import SUFFIX, Templates

MOST_SECONDS = 5.0
"""The maximum time to render a prompt; most take less than a millisecond."""
Texts = Mapping[str, str | None]
"""Name in a form -> text."""


def messages(form: str, templates: Templates, **values: object) -> list[dict[str, str]]:
    """Return the filled template as one user message, without white space at its ends.

    Raises UserError if the template uses an undefined name, or fails with these values.
    """
    return as_messages(rendered(form, templates, **values).strip())


def as_messages(
    prompt: str, system: str = "", role: str = "system"
) -> list[dict[str, str]]:
    """Return a prompt as the messages in which it is sent, after a system message if
    there is one; with the role `user` this stands at the head of the prompt.
    """
    if not system:
        return [{"role": "user", "content": prompt}]
    if role == "user":
        return [{"role": "user", "content": head_of(system, role) + prompt}]
    return [{"role": role, "content": system}, {"role": "user", "content": prompt}]


def head_of(system: str, role: str) -> str:
    """Return what a system message adds to the head of a prompt."""
    if system and role == "user":
        return f"{system}\n\n"
    return ""


def system_message(
    form: str | None, templates: Templates, values: Mapping[str, object]
) -> str:
    """Return the text of a system message, "" without a form; it sees no text.

    Raises UserError for a template that uses a name of a text, or cannot be filled.
    """
    if form is None:
        return ""
    # The same for all texts of a cell.
    seen = ["aspect", "scale", "task", "kind", "noun", "describe", "write"]
    seen.append("annotation")
    known = {name: values[name] for name in seen if name in values}
    return rendered(form, templates, **known).strip()


def rendered(form: str, templates: Templates, **values: object) -> str:
    """Return the filled template unchanged (see `messages`)."""
    # A form is the user's program: it can raise any of these.
    faults = (
        TemplateError,
        TypeError,
        ValueError,
        ArithmeticError,
        LookupError,
        AttributeError,
        RecursionError,
    )
    # The maximum length of a prompt.
    most_characters = 20_000_000
    try:
        with bounded_memory(), CLOCK.set(MOST_SECONDS):
            environment = _environment(tuple(sorted(templates.items())))
            template = environment.get_template(form + SUFFIX)
            pieces = list[str]()
            size = 0
            for piece in template.generate(**values):
                pieces.append(piece)
                size += len(piece)
                if size > most_characters:
                    raise OverflowError(
                        f"it has more than {most_characters:,} characters"
                    )
            return "".join(pieces)
    except faults as error:
        raise UserError(
            f"this prompt cannot be rendered: {str(error) or type(error).__name__}",
            where=f"prompts/{form}{SUFFIX}",
            allowed=list(values),
        ) from None


@cache
def _environment(templates: tuple[tuple[str, str], ...]) -> Environment:
    return Sandbox(loader=DictLoader(dict(templates)), undefined=StrictUndefined)


class Filled(NamedTuple):
    """A prompt, and its parts: the pieces between the texts, and the texts, in order.

    If a form changes its texts, the parts are the texts that appear unchanged.
    """

    prompt: str
    parts: list[str]


class PreparedForm:
    """A form that is filled for many texts: everything except the texts is rendered
    once.

    This makes planning cheap: a form that only prints its texts, or tests whether there
    are any, is a list of pieces with texts between them. A loop over the parts of the
    source that only prints their names and texts is unrolled. A form that does more
    with a text (a filter, another loop, a macro) is rendered again for each text.
    """

    def __init__(
        self, form: str, templates: Templates, fixed: Mapping[str, object]
    ) -> None:
        self.form = form
        self.templates = templates
        self.fixed = fixed
        self.prints: bool | None = None
        self._pieces: dict[tuple[object, ...], list[str]] = {}

    def fill(self, texts: Texts, parts: SourceParts = ()) -> Filled:
        """Return the prompt that `messages` returns for these texts and parts of the
        source.
        """
        if self.prints is None:
            known = {*texts, *material(()).keys() - {"given"}}
            trees = [parsed(template) for template in self.templates.values()]
            self.prints = all(only_prints(tree, known) for tree in trees)
        shape = (*map(bool, texts.values()), *(part.name for part in parts))
        if shape not in self._pieces:
            self._pieces[shape] = self._split(texts, parts)
        pieces = self._pieces[shape].copy()
        # Every second piece is the name of a text, or the number of a part.
        for index in range(1, len(pieces), 2):
            name = pieces[index]
            if name.isdigit():
                pieces[index] = parts[int(name)].text
            else:
                pieces[index] = texts[name] or ""
        if self.prints:
            return Filled("".join(pieces).strip(), pieces)
        shown = {**self.fixed, **material(parts), **texts}
        return Filled(rendered(self.form, self.templates, **shown).strip(), pieces)

    def _split(self, texts: Texts, parts: SourceParts) -> list[str]:
        """Return the pieces, and between them the names of the texts, or the numbers of
        parts.

        A NUL, which no card can contain, marks the place of each text.
        """
        marks = dict(texts)
        for name, text in texts.items():
            if text:
                marks[name] = f"\0{name}\0"
        marked_parts = list[SourcePart]()
        for number, part in enumerate(parts):
            marked_parts.append(SourcePart(part.name, f"\0{number}\0"))
        shown = {**self.fixed, **material(marked_parts), **marks}
        prompt = rendered(self.form, self.templates, **shown)
        return re.split(rf"\0({'|'.join(texts)}|\d+)\0", prompt)


def only_prints(node: nodes.Node, texts: Set[str], part: str = "") -> bool:
    """Return whether a template at most prints the texts unchanged, or tests if there
    are any.

    `part`: the variable of a loop over the parts of the source, around the node.
    """
    hidden = {*texts, part}
    if isinstance(node, nodes.Name):
        return node.name not in {"self", part}
    if isinstance(node, nodes.Getattr) and _is_name(node.node, part):
        return node.attr in SourcePart._fields
    if isinstance(node, nodes.For):
        body = [*node.body, *node.else_]
        if _is_name(node.iter, "parts") and _is_plain(node):
            assert isinstance(node.target, nodes.Name)
            part = node.target.name
        elif _mentions(node.iter, hidden):
            return False
        return all(only_prints(child, texts, part) for child in body)
    if isinstance(node, nodes.Assign) and isinstance(node.target, nodes.Name):
        return not _mentions(node.node, hidden)
    printing = (
        nodes.Template | nodes.Output | nodes.If | nodes.Not | nodes.And | nodes.Or
    )
    if isinstance(node, printing):
        return all(only_prints(child, texts, part) for child in node.iter_child_nodes())
    if isinstance(node, nodes.Stmt) and not isinstance(node, nodes.Include):
        return False
    return not _mentions(node, hidden)


def _is_name(node: nodes.Node, name: str) -> bool:
    return isinstance(node, nodes.Name) and node.name == name


def _is_plain(loop: nodes.For) -> bool:
    """Return whether a loop over parts has one variable, no condition and no include,
    which would see its variable.
    """
    if not isinstance(loop.target, nodes.Name) or loop.test is not None:
        return False
    has_include = next(loop.find_all(nodes.Include), None) is not None
    return not loop.recursive and not has_include


def _mentions(node: nodes.Node, texts: Set[str]) -> bool:
    """Return whether a node or one within it is the name of a text."""
    names = list(node.find_all(nodes.Name))
    if isinstance(node, nodes.Name):
        names.append(node)
    return any(name.name in {*texts, "self"} for name in names)
