"""The characters of a reply in one spelling: folded, and without invisible ones."""

import re
from functools import lru_cache
from typing import Final

_FULL_WIDTH = {0xFF01 + offset: chr(0x21 + offset) for offset in range(94)}
_SPACES = dict.fromkeys("\u00a0\u1680\u202f\u205f\u3000\u200b\ufeff", " ")
_BREAKS = dict.fromkeys("\u2028\u2029\x0b\x0c\x85", "\n")
_SPACES |= {chr(code): " " for code in range(0x2000, 0x200B)}
_SIGNS = {"。": ".", "、": ",", "【": "[", "】": "]", "「": '"', "」": '"'} | {
    "’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "−": "-", "‐": "-", "‑": "-",
    "『": '"', "』": '"', "﹕": ":", "︰": ":",
    "∶": ":", "꞉": ":", "٫": ".", "٬": ",", "،": ",", "؛": ";", "؟": "?", "٪": "%",
    "।": ".", "։": ":", "‒": "-", "﹣": "-",
}  # fmt: skip
_ARROWS = dict.fromkeys("→⇒⟶⟹➔➜➙➛➝➞➡➤➨➩⮕⇨↦►▶≻", ">") | {"≺": "<"}
_ZEROS: Final = (
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6,
    0xD66, 0xDE6, 0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0,
    0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0,
    0xA9F0, 0xAA50, 0xABF0, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x11066,
    0x1E950, 0x1FBF0,
)  # fmt: skip
"""The code points of the zeros of scripts; the other nine digits follow each."""
_DIGITS = {zero + digit: str(digit) for zero in _ZEROS for digit in range(10)}
_BEFORE_CIRCLED: Final = (0x245F, 0x2775, 0x277F, 0x2789)
"""The code points before the circled ones, white, black and without serifs."""
_CIRCLED = {
    before + digit: str(digit) for before in _BEFORE_CIRCLED for digit in range(1, 10)
}
_ONE_SPELLING = (
    _FULL_WIDTH
    | _DIGITS
    | _CIRCLED
    | str.maketrans(_SPACES | _BREAKS | _SIGNS | _ARROWS)
)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u20e3\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
    # the joiners belong to words of some scripts
    "|[\u200c\u200d](?<![\u0600-\u1fff].)|[\u200c\u200d](?![\u0600-\u1fff])"
)


def fold(text: str) -> str:
    """Return the text in lower case with plain digits, colons, quotes and dashes.

    The result is as long as the text, so offsets are the same in both.

    >>> fold("Ｒａｔｉｎｇ：４"), fold("التقييم: ٣")
    ('rating:4', 'التقييم: 3')
    """
    if text.isascii():
        return text.lower()
    plain = text.translate(_ONE_SPELLING)
    lower = plain.lower()
    if len(lower) == len(plain):
        return lower
    return "".join(_lower(sign) for sign in plain)


@lru_cache(maxsize=1024)
def _lower(sign: str) -> str:
    """Return a character in lower case if that is one character, too."""
    low = sign.lower()
    return low if len(low) == 1 else sign


def without_invisible(text: str) -> str:
    r"""Return a text without zero-width characters, direction marks and soft hyphens.

    >>> without_invisible("Rat\u00ading:\u2060 3")
    'Rating: 3'
    """
    if text.isascii():
        return text
    return _INVISIBLE.sub("", text)


_MARKS: Final = b'<>[{|&~="`\\'
_ALL_BUT_MARKS: Final = bytes(code for code in range(128) if code not in _MARKS)


def is_plain(text: str) -> bool:
    """Return whether a text is ASCII without a character of markup.

    Such a text has no tag, token, object, table, fence or arrow, and quotes nothing in
    double quotation marks.

    >>> is_plain("Score: 4 (it's fine)"), is_plain("<b>4</b>"), is_plain("4 分")
    (True, False, False)
    """
    if not text.isascii():
        return False
    return not text.encode().translate(None, _ALL_BUT_MARKS)


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text, as the lists of names are written.

    >>> sorted(word_set("pass fail"))
    ['fail', 'pass']
    """
    return frozenset(words.split())


def first_of(words: tuple[str, ...], text: str, start: int) -> int:
    """Return where the first of some words begins from `start` on, -1 without one.

    No word may be a part of another.

    >>> first_of(("score", "rating"), "a rating, a score", 0)
    2
    """
    first = -1
    end = len(text)
    for word in words:
        at = text.find(word, start, end)
        if at >= 0:
            first = at
            end = at + len(word) - 1
    return first
