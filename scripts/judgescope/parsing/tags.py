"""Named values in markup: tags (`<score>4</score>`) and rows of a Markdown table."""

import re
from typing import Final, NamedTuple

from judgescope.parsing.characters import word_set
from judgescope.parsing.keys import Statement, is_other_tool

LONGEST: Final = 400
"""The maximum number of characters of a tag's content; a longer one is prose."""
_TAG = re.compile(
    r"<(?P<name>[^\W\d][\w.:-]{0,40})(?P<attributes>\s[^<>\n]{0,120})?>"
    rf"(?P<value>[^<>]{{0,{LONGEST}}})</\s?(?P=name)\s?>",
    re.IGNORECASE,
)
_NO_NAMES: Final = word_set(
    "arg_key arg_value s del strike ins a td th tr table q cite kbd var abbr"
)
"""Tags that name no value."""
_NAMED = re.compile(r"\b(?:name|key|id)\s?=\s?[\"']?([\w .-]{1,40})")
_ASSIGNED = re.compile(
    r"<(?:parameter|function|arg)=(?P<name>[\w.-]{1,40})>"
    rf"(?P<value>[^<>]{{0,{LONGEST}}})</(?:parameter|function|arg)>",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(
    r"<arg_key>\s*(?P<name>[^<>]{1,60})</arg_key>\s*<arg_value>"
    rf"(?P<value>[^<>]{{0,{LONGEST}}})</arg_value>",
    re.IGNORECASE,
)
_TOOL = re.compile(
    r"<(?:invoke\s+name=[\"']?|function=|tool_call>\s*)([\w.-]{1,60})", re.IGNORECASE
)
_INLINE = re.compile(
    r"</?(?:b|strong|i|em|u|br|p|div|span|code|h[1-6]|font|mark|small|big|sup|sub|center"
    r"|ul|ol|li|pre|tt)(?:\s[^<>\n]{0,120})?\s?/?>"
    r"|&nbsp;|\\(?:text(?:bf|it|tt|rm)?|mathbf|mathrm|boxed)\{",
    re.IGNORECASE,
)
_STRUCK = re.compile(
    r"~~[^~\n]{1,80}~~|<(s|del|strike)>[^<>\n]{0,80}</\1>", re.IGNORECASE
)
_EMOJI = re.compile(
    "[\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
)
_UNITS = re.compile(
    r"(?<=\d)\s?(?:分|點|点(?:です)?|점(?:입니다)?|星|つ星|pts?\.?|punkte?n?|punt[oi]s?|punten|punti|pontos?|балл(?:а|ов)?"
    r"|очк[аио]в?|poäng|point|bodů|pkt\.?|puan|điểm|คะแนน|نقاط|نقطة|अंक|stelle|étoiles?"
    r"|sterne?|estrellas?)(?![^\W_])"
)
"""Units of points and stars in other languages."""
_NEAR_DIGIT = re.compile(r"[0-9]\s?[pse]")
"""The beginning of every ASCII unit, found faster than the units."""
_MAY_HAVE_UNITS = re.compile(r"p(?:ts?|un[kt]|ont|kt|oint)|st(?:ern|ell)|estrel")
_ROW = re.compile(r"^[ \t]{0,8}\|[^\n]{1,1000}$", re.MULTILINE)
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_EDGES: Final = " \t*_`"


def blank_markup(text: str) -> str:
    """Return a text with markup and what is struck through as blanks of its length.

    >>> blank_markup("<b>Score:</b> ~~5~~ 4")
    '   Score:           4'
    """
    if "[result]" in text:
        text = text.replace("[result]:", "rating : ").replace("[result]", "rating: ")
    if "\\n" in text and "\n" not in text:
        text = text.replace("\\n", " \n")
    if "<" in text or "&" in text or "\\" in text:
        text = _INLINE.sub(_blanks, text)
    if "~~" in text or "<" in text:
        text = _STRUCK.sub(_blanks, text)
    return text


def blank_signs(text: str) -> str:
    """Return a folded text without emoji, and without units of other languages.

    >>> blank_signs("score: 3分 🌟")
    'score: 3   '
    """
    if not text.isascii():
        text = _EMOJI.sub(" ", text)
        return _UNITS.sub(_blanks, text)
    if _NEAR_DIGIT.search(text) and _MAY_HAVE_UNITS.search(text):
        return _UNITS.sub(_blanks, text)
    return text


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])


class TaggedValue(NamedTuple):
    """A statement in markup, and where it stands."""

    statement: Statement
    match: re.Match[str]


def tagged(text: str) -> list[TaggedValue]:
    """Return the values in tags, in order; content with tags of its own is none.

    >>> [one.statement.value for one in tagged("<Rating>\\n3</Rating>")]
    ['3']
    """
    if "</" not in text:
        return []
    if any(map(is_other_tool, _TOOL.findall(text))):
        return []
    found = list[TaggedValue]()
    for match in _TAG.finditer(text):
        name = match["name"]
        if name.lower() in _NO_NAMES:
            continue
        named = _NAMED.search(match["attributes"] or "")
        if named:
            name = named[1]
        found.append(_tagged(name, match))
    for pattern in (_ASSIGNED, _ARGUMENT):
        if "<arg_key>" in text or "=" in text:
            found += [_tagged(match["name"], match) for match in pattern.finditer(text)]
    return sorted(found, key=lambda one: one.match.start())


def _tagged(name: str, match: re.Match[str]) -> TaggedValue:
    return TaggedValue(Statement((name.strip(),), match["value"].strip()), match)


def table_rows(text: str) -> list[TaggedValue]:
    """Return the values in the rows of Markdown tables, named by row and column.

    A row of two cells is a name and its value; a row under a header is named by it.

    >>> rows = table_rows("| Aspect | Score |\\n|---|---|\\n| Overall | 2 |")
    >>> [one.statement for one in rows]
    [Statement(names=('Overall', 'Score'), value='2')]
    """
    if "|" not in text:
        return []
    rows = list(_ROW.finditer(text))
    cells = [_cells(row[0]) for row in rows]
    found = list[TaggedValue]()
    header: list[str] = []
    for index, (row, values) in enumerate(zip(rows, cells, strict=True)):
        if _RULE.fullmatch(row[0]):
            continue
        below = rows[index + 1] if index + 1 < len(rows) else None
        if below and _RULE.fullmatch(below[0]) and _is_next(row, below):
            header = values
            if index + 2 < len(rows):
                continue
            header = []  # a table without rows is a name and its value
        statements = _row_statements(header, values)
        found += [TaggedValue(statement, row) for statement in statements]
    return found


def _is_next(row: re.Match[str], below: re.Match[str]) -> bool:
    return below.start() - row.end() == 1


def _cells(row: str) -> list[str]:
    return [cell.strip(_EDGES) for cell in row.strip().strip("|").split("|")]


def _row_statements(header: list[str], values: list[str]) -> list[Statement]:
    """Return the statements of one row.

    The first cell names the row unless it is a number; else the header alone names.
    """
    if header and len(header) == len(values):
        if not any(map(str.isalpha, values[0])) or _is_value_row(header):
            return [
                Statement((name,), value)
                for name, value in zip(header, values, strict=True)
            ]
        return [
            Statement((values[0], name), value)
            for name, value in zip(header[1:], values[1:], strict=True)
        ]
    if len(values) == 2:
        return [Statement((values[0],), values[1])]
    return []


def _is_value_row(header: list[str]) -> bool:
    """Return whether the first column is the verdict, not the row's name."""
    from judgescope.parsing.keys import LABELS, Rank, rank_of

    return rank_of((header[0],), LABELS) <= Rank.LOOSE
