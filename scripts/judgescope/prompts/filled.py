"""A form that is filled for many texts: what stays the same around them is rendered once.

This is what makes planning cheap: a form that only prints its texts, or asks whether they are
there, is a list of pieces with texts between them. A form that does more with a text (a filter, a
loop, a macro) is rendered anew for each.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from jinja2 import nodes

from judgescope.prompts import Templates, parsed, rendered

MARK = "\0{}\0"
"""Stands for a text while the pieces around it are found; no card can hold a NUL."""

PLAIN = (nodes.Template, nodes.Output, nodes.If, nodes.Not, nodes.And, nodes.Or)
"""What depends on a text only by printing it, or on whether it is there."""

Texts = Mapping[str, str | None]


class Filled(NamedTuple):
    """A prompt, whole and in parts: what is between the texts, and the texts, as they follow.

    Where a form changes its texts, the parts are the texts that can be found in it, unchanged.
    """

    prompt: str
    parts: list[str]


class Form:
    """A form with everything filled in but its texts."""

    def __init__(self, form: str, templates: Templates, fixed: Mapping[str, Any]) -> None:
        self.form, self.templates, self.fixed = form, templates, fixed
        self.prints: bool | None = None
        self._pieces: dict[tuple[bool, ...], list[str]] = {}

    def fill(self, texts: Texts) -> Filled:
        """Return the prompt that `prompts.messages` returns for these texts."""
        if self.prints is None:
            self.prints = all(only_prints(parsed(one), texts) for one in self.templates.values())
        parts = self._parts(texts)
        if self.prints:
            return Filled("".join(parts).strip(), parts)
        whole = rendered(self.form, self.templates, **self.fixed, **texts)
        return Filled(whole.strip(), parts)

    def _parts(self, texts: Texts) -> list[str]:
        there = tuple(map(bool, texts.values()))
        pieces = self._pieces.get(there)
        if pieces is None:
            pieces = self._pieces[there] = self._split(texts)
        parts = pieces.copy()
        for place in range(1, len(parts), 2):
            parts[place] = texts[parts[place]] or ""
        return parts

    def _split(self, texts: Texts) -> list[str]:
        """Return the pieces, and between them the names of the texts."""
        marks = {name: MARK.format(name) if text else text for name, text in texts.items()}
        whole = rendered(self.form, self.templates, **self.fixed, **marks)
        return re.split(MARK.format(f"({'|'.join(texts)})"), whole)


def only_prints(node: nodes.Node, texts: Texts) -> bool:
    """Return whether a template prints the texts as they are, or asks if there are any, at most."""
    if isinstance(node, nodes.Name):
        return node.name != "self"
    if isinstance(node, nodes.For):  # over demonstrations, say
        return not _mentions(node.iter, texts) and all(
            only_prints(child, texts) for child in (*node.body, *node.else_)
        )
    if isinstance(node, PLAIN):
        return all(only_prints(child, texts) for child in node.iter_child_nodes())
    if isinstance(node, nodes.Stmt) and not isinstance(node, nodes.Include):
        return False
    return not _mentions(node, texts)


def _mentions(node: nodes.Node, texts: Texts) -> bool:
    """Return whether a node has the name of a text in it."""
    names = [*node.find_all(nodes.Name), *([node] if isinstance(node, nodes.Name) else [])]
    return any(name.name in {*texts, "self"} for name in names)
