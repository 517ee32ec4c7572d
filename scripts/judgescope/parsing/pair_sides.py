"""The side that a value names, or a comparison such as `A>>B` prefers."""

import re
from typing import Final, NamedTuple

TEXT = (
    r"(?:text|response|answer|option|output|summary|reply|system|candidate|assistant|"
    r"translation|story|dialogue|model|completion|passage|version|choice|document|essay|"
    r"sentence|article|message|conversation|chatbot|bot|agent|code|solution|generation"
    r"|antwort|respuesta|réponse|risposta|resposta|odpowiedź|antwoord|svar|ответ|回答|答案"
    r"|응답|답변)"
)
OPEN = r"[*_\"'`(\[<$]{0,4}"
MARKS = r"[*_\"'`)\]]{0,4}"
CLOSE = r"[*_\"'`)\]]*\s*"
PLACE = r"(?:first|second|1st|2nd|former|latter)"
SIDE = (
    rf"(?:(?:the\s+)?{TEXT}[\s_#-]{{0,2}}{OPEN}(?P<sided>a|b|1|2|one|two)"
    rf"|(?:the\s+)?(?P<placed>{PLACE})(?:[\s_-]{TEXT}|\s+one)?|(?P<alone>a|b|1|2))\b"
)
"""One side, in one of the groups sided, placed, alone."""
SIDES: Final = {
    **dict.fromkeys(("a", "1", "one", "first", "1st", "former"), "a"),
    **dict.fromkeys(("b", "2", "two", "second", "2nd", "latter"), "b"),
}
_TIE = (
    r"(?:(?:it(?:'s| is)|this is|they are|both are|the two are|the result is)\s+)?"
    r"(?:a\s+|an\s+)?"
    r"(?:tie[ds]?|draw|equal(?:ly\s+(?:good|bad|strong|weak|matched))?|even|same|"
    r"(?:the\s+)?same|equivalent|comparable|no\s+(?:preference|difference|winner|clear\s+"
    r"(?:winner|preference))|neither(?:\s+(?:one|is\s+better))?|both"
    r"(?:\s+(?:are\s+)?(?:equal|equally\s+(?:good|bad)|good|the\s+same))?)"
)
_TIE_VALUE = re.compile(rf"\W{{0,8}}{_TIE}\b")
PLAIN_TIE = re.compile(
    r"\W*(?:(?:it(?:'s| is)|this is)\s+)?(?:an?\s+)?(?:tie|draw|equal|tied)\W*"
    r"|\W*(?:they|both(?:\s\w+)?)\stie\W*"
    r"|\W*(?:the\s+two|both|they)(?:\s+\w+)?\s+are\s+(?:tied|equal|"
    r"equally\s+(?:good|bad|strong|weak|convincing|useful|helpful|clear))\W*"
    r"|\W*neither(?:\s+\w+)?\s+is\s+better\W*"
)
RELATION: Final = re.compile(
    rf"\W{{0,6}}(?:{TEXT}[\s_]{{0,2}})?(?P<left>[ab12])\b{MARKS}\s{{0,2}}"
    rf"(?P<sign>>{{1,3}}|<{{1,3}}|={{1,3}}|≈|~|≫|≪)\s{{0,2}}{OPEN}"
    rf"(?:{TEXT}[\s_]{{0,2}})?(?P<right>[ab12])\b(?!\s{{0,2}}[<>=])"
)
_STRONG: Final = frozenset((">>", ">>>", "<<", "<<<", "≫", "≪"))
_STARTS = re.compile(rf"\s*{OPEN}(?:(?:#|number\s|no\.\s)(?=[12]\b))?{SIDE}")
_AFTER = re.compile(
    rf"{CLOSE}(?:[.,:;!(<}}\n|–—-]|\Z|(?:because|since|as\s+(?:its?|the|this|that)|for"
    r"|by|with|is)\b|(?:as)\b|over\s)"
)
"""What may follow a side in a value: "A and B" and "a matter of taste" name none."""
_BY = r"\s{0,2}(?:and|or|&|/|,\s?(?:and|or)?)\s{0,2}"
_JOINS = re.compile(rf"{MARKS}{_BY}{OPEN}")
_SIDE = re.compile(SIDE)
BRACKETS = re.compile(r"\[\[\s{0,3}([^\[\]\n]{1,40}?)\s{0,3}\]\]")
LONGEST_SENTENCE: Final = 400
"""The maximum number of characters in a sentence that makes a choice."""


def side_slot(name: str) -> str:
    """A pattern of one side in a sentence, whose groups begin with `name`.

    >>> pattern = re.compile(side_slot("left"))
    >>> match = pattern.fullmatch("assistant b's answer")
    >>> side_in(match, "left")
    'b'
    """
    return (
        rf"(?:(?:the )?{TEXT}[\s_#-]{{0,2}}{OPEN}(?P<{name}_text>a|b|1|2|one|two)"
        rf"|(?:the )?(?P<{name}_place>{PLACE})(?: (?:one|{TEXT}))?"
        rf"|(?:#|number |no\. )(?P<{name}_number>[12])"
        rf"|{OPEN}(?P<{name}>a|b))\b{MARKS}(?:'s(?: {TEXT})?)?"
    )


def side_in(match: re.Match[str], name: str) -> str | None:
    """The side that a slot of a match names, None if the slot is empty."""
    kinds = (f"{name}_text", f"{name}_place", f"{name}_number", name)
    named = [match[kind] for kind in kinds if match[kind]]
    return SIDES[named[0]] if named else None


class SideReading(NamedTuple):
    """A preference: side `a`, `b` or `tie`; strength from -2 (b is far better) to 2,
    None where the reply says only which is better.
    """

    side: str
    strength: int | None = None
    end: int = 0


def read_side(text: str, tie: str = "") -> SideReading | None:
    """Return the preference that a folded value states, None if it states none.

    >>> read_side("response 2 - it flows").side, read_side("a>>b").strength
    ('b', 2)
    >>> read_side("a and b"), read_side("a matter of taste")
    (None, None)
    """
    if "_" in text:
        text = text.replace("_", " ")
    related = RELATION.match(text)
    if related:
        return related_sides(related)
    inner = None
    if "[[" in text:
        inner = BRACKETS.match(text.strip())
    if inner:
        return read_side(inner[1], tie)
    tied = _TIE_VALUE.match(text)
    if tied and _AFTER.match(text, tied.end()):
        return SideReading("tie", end=tied.end())
    if tie:
        letter = re.match(rf"\s*{OPEN}{re.escape(tie)}\b", text)
        if letter and _AFTER.match(text, letter.end()):
            return SideReading("tie", end=letter.end())
    start = _STARTS.match(text)
    if start is None or _names_both(text, start.end()):
        return None
    behind = _AFTER.match(text, start.end())
    better = _IS_BETTER.match(text, start.end())
    if not (behind or better):
        return None
    if start["alone"] in ("1", "2") and re.match(
        r"\s?[/.,:]\s?\d", text[start.end() :]
    ):
        return None  # 1/2 and 1.5
    return SideReading(_side_of(start), end=start.end())


_IS_BETTER = re.compile(
    rf"{MARKS}\s+(?:is|wins|was)\b(?!\s+(?:not|worse))(?:\s+(?:the\s+)?(?:better|best|"
    r"superior|preferable|winner|preferred))?"
)


def _side_of(match: re.Match[str]) -> str:
    named = match["sided"] or match["placed"] or match["alone"]
    return SIDES[named]


def _names_both(text: str, end: int) -> bool:
    """Return whether another side follows that no comparison separates."""
    joined = _JOINS.match(text[end : end + 20])
    if joined is None:
        return False
    begin = end + joined.end()
    return _SIDE.match(text[begin : begin + 30]) is not None


def related_sides(match: re.Match[str]) -> SideReading | None:
    """Return the preference of a comparison such as `A>B`."""
    left = SIDES[match["left"]]
    right = SIDES[match["right"]]
    if left == right:
        return None
    sign = match["sign"]
    if sign[0] in "=≈~":
        return SideReading("tie", 0, match.end())
    better = left if sign[0] in ">≫" else right
    size = 2 if sign in _STRONG else 1
    return SideReading(better, size if better == "a" else -size, match.end())
