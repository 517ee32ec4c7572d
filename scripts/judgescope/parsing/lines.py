"""Named values on the lines of a reply: `Score: 4`, `Pass? No`, `Verdict - fail`."""

import re
from typing import Final, NamedTuple

from judgescope.parsing.keys import Statement
from judgescope.parsing.quotes import unquoted

_MARKS = r"[ \t*_#>\"'`{(\[|\-•+]{0,10}"
_CLOSE = r"[*_\"'`)\]}]{0,4}"
_SIGN = re.compile(r"[:=?>–—-](?:(?<=[:=?>])|(?<=[ \t].))")
_SIGN_WITHOUT_DASH = re.compile(r"[:=?>]")
_LINE = re.compile(
    rf"{_MARKS}(?:\d{{1,2}}[.)]\s)?"
    r"(?P<name>[^\W\d](?:[^\n:=?!.;,(){}\[\]<>\"|*`\d–—-]|(?<=\w)[-.](?=\w)){0,50})"
    rf"{_CLOSE}(?:\s?(?:\([^()\n]{{0,60}}\)|\[[^\[\]\n]{{0,60}}\]))?{_CLOSE}"
    r"\s?(?P<sign>[:=]+>?|\?|(?<=\s)[-–—]+>?(?=\s)|>)"
)
_ENDS: Final = (". ", "… ", "! ", "? ", "; ", ", ", "| ", "(")
"""What may stand before a name within a line."""
_BRACKET = re.compile(
    r"\s?(?:\([^()\n]{0,60}\)|\[[^\[\]\n]{0,60}\])[*_\"'`)\]}]{0,4}\s?\Z"
)
_VALUE = re.compile(r"[ \t*_]*(?:\r?\n\s*)?([^\n]{0,400})")


class LineValue(NamedTuple):
    """A named value on a line; match: its name with the sign behind it."""

    statement: Statement
    match: re.Match[str]


def line_values(folded: str, start: int = 0) -> list[LineValue]:
    """Return the named values of a folded reply from `start` on.

    Those that it quotes are left out.

    >>> [line.statement.value for line in line_values("tone: 2. verdict: fail, alas")]
    ['2. verdict: fail, alas', 'fail, alas']
    """
    values: list[LineValue] = []
    for match in unquoted(named(folded, start), folded, names=True):
        statement = Statement((match["name"].strip(),), value_behind(match))
        values.append(LineValue(statement, match))
    return values


def named(folded: str, start: int = 0) -> list[re.Match[str]]:
    """Return the names with a sign behind them, quoted or not, from `start` on."""
    matches: list[re.Match[str]] = []
    dashed = "-" in folded or "–" in folded or "—" in folded
    if not (dashed or ":" in folded or "=" in folded or "?" in folded or ">" in folded):
        return matches
    signs = _SIGN if dashed else _SIGN_WITHOUT_DASH
    for sign in signs.finditer(folded, start):
        begin = sign.start()
        if folded[begin] in "-–—":
            begin -= 1  # the blank before it
            if begin < start:
                continue
        match = _LINE.match(folded, _begin_of_name(folded, begin))
        if match is None or not match.start("sign") < sign.end() <= match.end():
            continue
        if not matches or match.start() >= matches[-1].end():
            matches.append(match)
    return matches


def value_behind(match: re.Match[str]) -> str:
    """Return the value behind a name, on its line or the next that is not empty."""
    value = _VALUE.match(match.string, match.end())
    if value:
        return value[1].strip()
    return ""


def _begin_of_name(folded: str, end: int) -> int:
    """Return where the name before a sign may begin: at its line or its clause."""
    # How many characters before a colon a name may begin.
    reach = 130
    begin = max(folded.rfind("\n", 0, end) + 1, end - reach)
    before = folded[begin:end]
    if before.isalpha():  # most lines begin with one word and a sign
        return begin
    bracketed = ")" in before or "]" in before
    bracket = _BRACKET.search(before) if bracketed else None
    if bracket:
        before = before[: bracket.start()]
    clauses = [before.rfind(end) + len(end) for end in _ENDS if end in before]
    return begin + max(clauses, default=0)
