"""Named values in markup: tags (`<score>4</score>`) and rows of a Markdown table."""

import re
from typing import Final, NamedTuple

from judgescope.core.tools import is_other_tool
from judgescope.parsing.characters import word_set
from judgescope.parsing.glance import Glance
from judgescope.parsing.keys import LABELS, Rank, Statement, rank_of, words_of

LONGEST: Final = 400
"""The maximum number of characters of a tag's content; a longer one is prose."""
_TAG = re.compile(
    r"<(?P<name>[^\W\d][\w.:-]{0,40})(?P<attributes>\s[^<>\n]{0,120})?>"
    rf"(?P<value>[^<]{{0,{LONGEST}}})</\s?(?P=name)\s?>",
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
    r"(?<=\d)\s?(?:分|點|点(?:です)?|です|점(?:입니다)?|입니다|[颗顆]?星|つ星|pts?\.?|punkte?n?"
    r"|punt[oi]s?|punten|punti|pontos?|балл(?:а|ов)?|очк[аио]в?|poäng|point|bodů|pkt\.?"
    r"|puan|điểm|คะแนน|نقاط|نقطة|अंक|stelle|étoiles?|sterne?n?|estrell?as?|зв[её]зд\w{0,2}"
    r"|gwiazd\w{1,3}|yıldız|stjerner?|stjärnor|sterren|bintang)(?![^\W_])"
)
"""Units of points and stars in other languages."""
UNIT_WORDS: Final = frozenset(
    b"""
    p pt pts punkt punkte punkten punto puntos puntis punti punten ponti pontos ponto
    point pkt puan stelle stern sterne sternen estrella estrellas estrela estrelas
    gwiazd gwiazdka gwiazdki gwiazdek stjerne stjerner sterren bintang
    """.split()
)
"""The units without other letters than a-z: most replies have none."""
_COMMA = re.compile(r",[0-9]")
_DECIMAL_COMMA = re.compile(
    r"(?<![\w.,])(?<!s:)(?<!s: )\d{1,3},\d{1,2}(?![^\W_]|[.,]\d|\s?,\s?\d)"
)
_BULLET = r"(?:(?<=\n)[-*•+][ \t]|\A[-*•+][ \t])?"
_TICKED = re.compile(rf"{_BULLET}(?:\[[x✓✔]\](?=[ \t]*[\w*])|[☑☒■◉])")
_EMPTY = re.compile(rf"{_BULLET}(?:\[ \]|☐|⬜|◻|□|○)[^\n\[☐☑☒■◉⬜◻□○]*")
_STARS = re.compile(
    r"(?m)^(?P<before>[^\n★⭐☆✩]{0,80})(?P<filled>[★⭐]{1,10})(?P<empty>[☆✩]{0,10})"
    r"(?P<behind>[^\n★⭐☆✩]{0,80})$"
)
_ROW = re.compile(r"^[ \t]{0,8}\|[^\n]{1,1000}$", re.MULTILINE)
REASON_WORDS: Final = word_set(
    """
    reason reasons reasoning rationale explanation justification comment comments
    feedback analysis why notes thought thoughts begründung razón motif причина 理由
    原因 解释 이유
    """
)
"""Names of keys and columns that say why."""
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")


def blank_markup(text: str) -> str:
    """Return a text with markup and what is struck through as blanks of its length.

    >>> blank_markup("<b>Score:</b> ~~5~~ 4")
    '   Score:           4'
    """
    plain = "<" not in text and "&" not in text and "~" not in text
    if plain and "\\" not in text and "[" not in text and text.isascii():
        return text
    if "[result]" in text:
        text = text.replace("[result]:", "rating : ").replace("[result]", "rating: ")
    if "\\n" in text and "\n" not in text:
        text = text.replace("\\n", " \n")
    if "<" in text or "&" in text or "\\" in text:
        text = _INLINE.sub(_blanks, text)
    if "~~" in text or "<" in text:
        text = _STRUCK.sub(_blanks, text)
    if "[ ]" in text or not text.isascii():
        text = _without_empty_boxes(text)
    if "[" in text and not text.isascii():
        text = _BRACKETED_NAME.sub(_with_colon, text)
    return text


_BRACKETED_NAME = re.compile(
    r"(?m)^[ \t*_#]{0,6}\[(?P<name>[^\W\d_a-z]{1,12})\](?=[ \t]{0,4}[^\s:])"
)
"""`【評価】4`: brackets around a name at the beginning of a line."""


def _with_colon(match: re.Match[str]) -> str:
    """Return a name in brackets with a colon behind it, if it names a verdict."""
    if rank_of((match["name"],), LABELS) >= Rank.LOOSE:
        return match[0]
    return match[0].replace("[", " ").replace("]", ":")


def _without_empty_boxes(text: str) -> str:
    """Return a list to tick as what is ticked: `[ ] pass [x] fail`."""
    if _TICKED.search(text) and _EMPTY.search(text):
        return _TICKED.sub(_blanks, _EMPTY.sub(_blanks, text))
    return text


def blank_signs(text: str, seen: Glance) -> str:
    """Return a folded text without emoji, and without units of other languages.

    >>> from judgescope.parsing.glance import glance, watch
    >>> blank_signs("score: 3分 🌟", glance("score: 3分 🌟", watch(UNIT_WORDS)))
    'score: 3   '
    """
    if not text.isascii():
        text = _EMOJI.sub(" ", text)
        return _UNITS.sub(_blanks, text)
    if UNIT_WORDS.isdisjoint(seen.words):
        return text
    return _UNITS.sub(_blanks, text)


def with_points(folded: str) -> str:
    """Return a folded text with decimal points for decimal commas.

    A comma between more than two numbers, in brackets, or behind several named values
    is none.

    >>> with_points("note: 4,5"), with_points("1,2,3"), with_points("[1,5]")
    ('note: 4.5', '1,2,3', '[1,5]')
    """
    if not _COMMA.search(folded):
        return folded
    return _DECIMAL_COMMA.sub(_with_point, folded)


def _with_point(match: re.Match[str]) -> str:
    start, end = match.span()
    around = match.string[start - 1 : start] + match.string[end : end + 1]
    if around in ("[]", "()"):
        return match[0]
    return match[0].replace(",", ".")


def stars_as_digits(folded: str, highest: float) -> str:
    """Return a folded text with a number for filled and empty stars, `highest` in all.

    >>> stars_as_digits("rating: ★★★☆☆", 5), stars_as_digits("rating: ★★★ 4", 5)
    ('rating: 3    ', 'rating: ★★★ 4')
    """
    if "★" not in folded and "⭐" not in folded:
        return folded

    def counted(match: re.Match[str]) -> str:
        n_all = len(match[0])
        alone = not re.search(r"[0-9]", match["before"] + match["behind"])
        if n_all - len(match["before"]) - len(match["behind"]) != highest or not alone:
            return match[0]
        stars = match["filled"] + match["empty"]
        digits = str(len(match["filled"])).ljust(len(stars))
        return f"{match['before']}{digits}{match['behind']}"

    return _STARS.sub(counted, folded)


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])


class TaggedValue(NamedTuple):
    """A statement in markup, and where it stands."""

    statement: Statement
    match: re.Match[str]


def tagged(text: str) -> list[TaggedValue]:
    """Return the values in tags, in order; content with tags of its own is none.

    >>> [each.statement.value for each in tagged("<Rating>\\n3</Rating>")]
    ['3']
    """
    if "</" not in text:
        return []
    if any(map(is_other_tool, _TOOL.findall(text))):
        return []
    values: list[TaggedValue] = []
    for match in _TAG.finditer(text):
        name = match["name"]
        if name.lower() in _NO_NAMES:
            continue
        named = _NAMED.search(match["attributes"] or "")
        if named:
            name = named[1]
        values.append(_tagged(name, match))
    for pattern in (_ASSIGNED, _ARGUMENT):
        if "<arg_key>" in text or "=" in text:
            values += [
                _tagged(match["name"], match) for match in pattern.finditer(text)
            ]
    return sorted(values, key=lambda value: value.match.start())


def _tagged(name: str, match: re.Match[str]) -> TaggedValue:
    return TaggedValue(Statement((name.strip(),), match["value"].strip()), match)


def table_rows(text: str) -> list[TaggedValue]:
    """Return the values in the rows of Markdown tables, named by row and column.

    A row of two cells is a name and its value; a row under a header is named by it.

    >>> rows = table_rows("| Aspect | Score |\\n|---|---|\\n| Overall | 2 |")
    >>> [each.statement for each in rows]
    [Statement(names=('Overall', 'Score'), value='2')]
    """
    if "|" not in text:
        return []
    rows = list(_ROW.finditer(text))
    cells = [_cells(row[0]) for row in rows]
    in_rows: list[TaggedValue] = []
    header: list[str] = []
    for index, (row, values) in enumerate(zip(rows, cells, strict=True)):
        if _RULE.fullmatch(row[0]):
            continue
        below = None
        if index + 1 < len(rows):
            below = rows[index + 1]
        if below and _RULE.fullmatch(below[0]) and _is_next(row, below):
            header = values
            if index + 2 < len(rows):
                continue
            header = []  # a table without rows is a name and its value
        statements = _row_statements(header, values)
        in_rows += [TaggedValue(statement, row) for statement in statements]
    return in_rows


def _is_next(row: re.Match[str], below: re.Match[str]) -> bool:
    return below.start() - row.end() == 1


def _cells(row: str) -> list[str]:
    return [cell.strip(" \t*_`") for cell in row.strip().strip("|").split("|")]


def _row_statements(header: list[str], values: list[str]) -> list[Statement]:
    """Return the statements of one row.

    The first cell names the row unless it is a number; else the header alone names.
    """
    if header and len(header) == len(values):
        numbered = not any(map(str.isalpha, values[0]))
        if numbered and len(values) > 2 and not _is_value_row(header):
            return _row_statements(header[1:], values[1:])
        if numbered or _is_value_row(header) or _gives_reasons(header[0]):
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


def _gives_reasons(name: str) -> bool:
    """Return whether a column has this name whose cells say why."""
    return not REASON_WORDS.isdisjoint(words_of(name))


def _is_value_row(header: list[str]) -> bool:
    """Return whether the first column is the verdict, not the row's name."""
    return rank_of((header[0],), LABELS) <= Rank.LOOSE
