"""What prompts say about the kind of a text, and the parts of its source."""

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, to_builtins

from judgescope.data.rated import SourcePart

SourceParts = Sequence[SourcePart]
"""The parts of a source in the order of the card; none is empty."""


class TextWords(Struct, frozen=True, kw_only=True):
    """How prompts speak about the texts of a dataset (config/tasks.yaml)."""

    task: str
    noun: str
    kind: str
    describe: str
    write: str

    @property
    def names(self) -> dict[str, str]:
        """Return the names that every form sees."""
        names: dict[str, str] = to_builtins(self)
        return names


def material(parts: SourceParts) -> dict[str, Any]:
    r"""Return the names of a prompt that tell the source: its parts, and phrases.

    >>> article = [SourcePart("Article", "Rain fell.")]
    >>> material(article)["given"], material(article)["source"]
    ('the article', 'Rain fell.')
    >>> material([*article, SourcePart("URL", "x.org")])["source"]
    'Article:\nRain fell.\n\nURL:\nx.org'
    """
    source = given = None
    if len(parts) == 1:
        source = parts[0].text
    elif parts:
        source = "\n\n".join(f"{part.name}:\n{part.text}" for part in parts)
    if parts:
        *first, last = (f"the {_in_sentence(part.name)}" for part in parts)
        given = f"{', '.join(first)} and {last}" if first else last
    return {
        "parts": [part._asdict() for part in parts],
        "given": given,
        "source": source,
        "source_plain": unnamed(parts),
    }


def of_second(parts: SourceParts) -> dict[str, Any]:
    """Return the same names for the source of text B, where the sources differ."""
    return {f"{name}_b": value for name, value in material(parts).items()}


def unnamed(parts: SourceParts) -> str | None:
    """Return the texts of the parts without names, joined by a blank line."""
    if parts:
        return "\n\n".join(part.text for part in parts)
    return None


def cut(text: str, characters: int, *, end: bool) -> str:
    r"""Return a text of at most so many characters, cut at white space, and the sign of
    the cut; `end`: its end stays, else its beginning. A shorter text is unchanged.

    >>> cut("Rain fell on Orn.", 8, end=False), cut("Rain fell on Orn.", 8, end=True)
    ('Rain\n[…]', '[…]\non Orn.')
    """
    if len(text) <= characters:
        return text
    # Stands in a line of its own where a part is cut.
    cut_mark = "[…]"
    blank = re.compile(r"\s+")
    if end:
        kept = text[-characters:]
        first_blank = blank.search(kept)
        at_blank = text[-characters - 1].isspace()
        shown = kept if at_blank or not first_blank else kept[first_blank.end() :]
        return f"{cut_mark}\n{shown.strip()}"
    kept = text[:characters]
    blanks = list(blank.finditer(kept))
    at_blank = text[characters].isspace()
    shown = kept if at_blank or not blanks else kept[: blanks[-1].start()]
    return f"{shown.strip()}\n{cut_mark}"


def _in_sentence(name: str) -> str:
    """Return a part's name within a sentence: its first letter small, unless all are
    capitals.
    """
    if name.isupper():
        return name
    return name[:1].lower() + name[1:]
