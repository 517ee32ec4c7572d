"""Named values on the lines of a reply: `Score: 4`, `Pass? No`, `Verdict - fail`."""

import re
from typing import NamedTuple

from judgescope.parsing.keys import Statement
from judgescope.parsing.quotes import unquoted

_MARKS = r"[ \t*_#>\"'`{(\[|\-•+]{0,10}"
_CLOSE = r"[*_\"'`)\]}]{0,4}"
_LINE = re.compile(
    rf"(?:^|(?<=[.!?;,|]\s)|(?<=\()){_MARKS}(?:\d{{1,2}}[.)]\s)?"
    r"(?P<name>[^\W\d](?:[^\n:=?!.;,(){}\[\]<>\"|*`\d–—-]|(?<=\w)[-.](?=\w)){0,50})"
    rf"{_CLOSE}(?:\s?\([^()\n]{{0,60}}\))?{_CLOSE}"
    r"\s?(?P<sign>[:=]+>?|\?|(?<=\s)[-–—]+>?(?=\s)|>)",
    re.MULTILINE,
)
_VALUE = re.compile(r"[ \t*_]*(?:\r?\n\s*)?([^\n]{0,400})")


class LineValue(NamedTuple):
    """A named value on a line; match: its name with the sign behind it."""

    statement: Statement
    match: re.Match[str]


def line_values(folded: str) -> list[LineValue]:
    """Return the named values of a folded reply, those that it quotes left out.

    >>> [one.statement.value for one in line_values("tone: 2. verdict: fail, alas")]
    ['2. verdict: fail, alas', 'fail, alas']
    """
    found = list[LineValue]()
    for match in unquoted(_LINE.finditer(folded), folded):
        value = _VALUE.match(folded, match.end())
        said = value[1].strip() if value else ""
        found.append(LineValue(Statement((match["name"].strip(),), said), match))
    return found
