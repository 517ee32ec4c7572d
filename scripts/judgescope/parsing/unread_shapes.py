"""The commonest shapes of replies that a judge's parser cannot read."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

from judgescope.core.errors import coded
from judgescope.parsing.judgment import Judgment, JudgmentStatus
from judgescope.parsing.reasoning import without_reasoning

if TYPE_CHECKING:
    import regex

UNREAD: Final[JudgmentStatus] = "unparsed"
"""The status of replies that another rule might read."""
EMPTY: Final[JudgmentStatus] = "empty"
"""The status of replies without text, or with nothing but reasoning."""
MANY: Final = 0.1
"""A larger share of unread replies is worth a warning."""
READ_REMEDY: Final = (
    "say how this judge states its verdict with `read: {pattern: …}` or `read: {path: "
    "…}` in its card (docs/guide/parsing.md); no request is sent again"
)
"""What helps against unread replies of a judge that gives one verdict."""
ASK_EMPTY_AGAIN: Final = (
    "`judgescope replies retry STUDY --empty` requests replies without text again"
)
"""What helps against replies without text."""
SHAPES_WITHOUT_TEXT: Final = {
    "empty": "(an empty text)",
    "null_content": "(null in place of a text)",
    "empty_tool_call": "(a tool call without text or arguments)",
}
"""The rule of a reply without text -> how it stands among the shapes."""
CORRECT_READ: Final = (
    "correct `read` in this judge's card (docs/guide/parsing.md); no request is sent "
    "again"
)
"""What helps if its card already has the key."""


def read_remedy(parser: str | None) -> str:
    """What helps against unread replies of a judge with this parser; "" if the key
    `read` does not.

    >>> read_remedy("annotation")
    ''
    """
    # These read a list of errors or a bare number: `read` is for one verdict in a text.
    others = ("annotation", "errors", "merged", "number")
    if parser is None or parser in others:
        return ""
    if parser in ("pattern", "path"):
        return CORRECT_READ
    return READ_REMEDY


@cache
def _tokens() -> "regex.Pattern[str]":
    # Imported here: only unread replies need it. `re` splits words at combining marks.
    import regex

    return regex.compile(
        r"(?P<word>\p{L}[\p{L}\p{M}]*(?:['’-]\p{L}[\p{L}\p{M}]*)*)"
        r"|(?P<number>\p{N}+(?:[.,]\p{N}+)*)"
        r"|(?P<lines>\s*\n\s*)|(?P<blank>\s+)|(?P<marks>(.)\6{2,})"
    )


_PROSE = re.compile(r"w(?:[,;.!?]? w)+[.!?]?")
_REPEATED = re.compile(r"([^⏎]*⏎)\1+")


def shape_of(text: str) -> str:
    """The structure of a reply without its reasoning: what differs between replies of
    the same form is left out.

    A word is `w`, several words are `w…`, a number is `9`, a line break is `⏎`; equal
    lines are shown once, and a long shape lacks its middle.

    >>> shape_of('{"verdict": good, "why": "It flows, mostly."}')
    '{"w": w, "w": "w…"}'
    >>> shape_of("**Grade** 3.5 of 5")
    '**w** 9 w 9'
    """
    longest = 80
    scanned = 600
    answer, _ = without_reasoning(text)
    answer = answer or text.strip()
    if len(answer) > 2 * scanned:
        answer = f"{answer[:scanned]}\n{answer[-scanned:]}"
    signs = {"word": "w", "number": "9", "lines": "⏎", "blank": " "}

    def sign(match: "regex.Match[str]") -> str:
        marks: str | None = match["marks"]
        if marks:
            return marks[:3]
        return next(sign for name, sign in signs.items() if match[name])

    shape = _PROSE.sub("w…", _tokens().sub(sign, answer))
    shape = coded(_REPEATED.sub(r"\1", f"{shape}⏎").removesuffix("⏎"))
    if len(shape) <= longest:
        return shape
    return f"{shape[: longest - 30]} … {shape[-27:]}"


def shortened(text: str) -> str:
    """A reply's beginning and end on one line; its control characters are codes.

    >>> shortened("It flows." + chr(10) + chr(27) + "[2J")
    'It flows. ⟨U+001B⟩[2J'
    """
    beginning = 80
    end = 40
    line = " ".join(coded(text).split())
    if len(line) <= beginning + end:
        return line
    return f"{line[:beginning]} … {line[-end:]}"


@dataclass
class UnreadReplies:
    """The number of a judge's replies, and the shapes of those that cannot be read.

    `textless`: the same for those that have no text.
    """

    replies: int = 0
    shapes: Counter[str] = field(default_factory=Counter)
    textless: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    """Shape -> a shortened reply of this shape, the first in the order of reading."""

    def add(self, text: str, judgment: Judgment) -> None:
        """Count a reply; those that never arrived do not count."""
        if judgment.status in ("error", "not_applicable"):
            return
        self.replies += 1
        self.add_shape(text, judgment.status, judgment.rule)

    def add_shape(self, text: str, status: str, rule: str | None) -> None:
        """Count only the shape of a reply, if it is unread or has no text."""
        if status == EMPTY and rule in SHAPES_WITHOUT_TEXT:
            self.textless[SHAPES_WITHOUT_TEXT[rule]] += 1
        if status != UNREAD:
            return
        shape = shape_of(text)
        self.shapes[shape] += 1
        self.examples.setdefault(shape, shortened(text))

    @property
    def unread(self) -> int:
        """The number of unread replies."""
        return self.shapes.total()

    @property
    def without_text(self) -> int:
        """The number of replies without text."""
        return self.textless.total()

    @property
    def many(self) -> bool:
        """Whether more than a tenth of the replies cannot be read or have no text."""
        return self.unread + self.without_text > MANY * self.replies

    def remedies(self, of_parser: str) -> Iterator[str]:
        """Yield what helps; `of_parser`: what helps against unread replies, or ""."""
        if of_parser and self.unread:
            yield of_parser
        if self.without_text:
            yield ASK_EMPTY_AGAIN

    def commonest(self) -> Iterator[str]:
        """Yield a line for each of the three commonest shapes: its share and an
        example, which a reply without text lacks.
        """
        shown = 3
        shapes = self.shapes + self.textless
        # Ties are sorted by shape: the order of reading may change between runs.
        ranked = sorted(shapes.items(), key=lambda entry: (-entry[1], entry[0]))
        for shape, count in ranked[:shown]:
            yield f"{count:,} of shape {shape}"
            if shape in self.examples:
                yield f"  such as: {self.examples[shape]}"
        if len(ranked) > shown:
            rest = sum(count for _, count in ranked[shown:])
            yield f"{rest:,} of {len(ranked) - shown:,} other shapes"
