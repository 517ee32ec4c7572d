"""Objects (JSON and what models write for it) in a reply: found, repaired, parsed.

`json` reads what is JSON. What is not is read by a tolerant reader: single quotes,
keys without quotes, comments, commas that lack or are too many, raw line breaks,
Python's words, values such as 4/5, and an end that was cut off.
"""

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_BEGIN = re.compile(
    r"[{\[](?=\s{0,40}(?:[\"'“}\]{\[]|[^\W\d][\w -]{0,40}\s?:|//|#|/\*))"
)
_KEY = re.compile(r"[^\W\d][\w .-]{0,60}(?=\s{0,4}[:=])")
_BLANK = re.compile(r"(?:[\s,;]|//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z))*+", re.DOTALL)
_COLON = re.compile(r"\s*(?::|=>?)\s*")
_BARE = re.compile(r"(?:[^,}\]\n\"'#{\[/]|/(?![/*])|(?<=\w)'(?=\w))*+")
_QUOTES: Final = {'"': '"', "'": "'", "“": "”", "`": "`"}
_PLAIN = {quote: re.compile(rf"[^{end}\\]*+") for quote, end in _QUOTES.items()}
_AFTER_STRING = re.compile(r"\s*(?:[,:}\]]|\Z|//|#|\n|[\"'])")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS: Final[dict[str, bool | None]] = {
    "true": True, "false": False, "null": None, "none": None, "nan": None,
}  # fmt: skip
_DECIMAL_COMMA = re.compile(r",\d{1,2}(?=\s*[,}\n])", re.ASCII)
_INTEGER = re.compile(r"-?\d{1,9}", re.ASCII)
_DECIMAL = re.compile(r"[-+]?\d{0,9}\.\d{1,12}", re.ASCII)

ObjectValue = object
"""A parsed value: dict, list, str, int, float, bool or None."""


class FoundObject(NamedTuple):
    """An object or list in a text, and where it stands; the end is exclusive.

    repaired: whether it is not valid JSON.
    """

    value: ObjectValue
    start: int
    end: int
    repaired: bool


class _NoObjectError(ValueError):
    """A text that no repair turns into an object."""


def objects_in(text: str) -> list[FoundObject]:
    """Return the outermost objects of a text, and the lists that hold objects.

    Text in braces without a key (`{2}`, `\\boxed{4}`) is not taken.

    >>> [each.value for each in objects_in("Well: {'score': 4, // good\\n} or {2}")]
    [{'score': 4}]
    """
    return list(_objects(text))


def _objects(text: str) -> Iterator[FoundObject]:
    if "{" not in text:
        return
    done = 0
    # The maximum number of places at which an object is sought.
    most_tries = 40
    for _ in range(most_tries):
        begin = _BEGIN.search(text, done)
        if begin is None:
            return
        start = begin.start()
        held = None
        if not _is_latex(text, start):
            held = _object_at(text, start)
        if held is None:
            done = start + 1
        else:
            done = held.end
            if _holds_objects(held.value):
                yield held


def _is_latex(text: str, brace: int) -> bool:
    """Return whether a brace belongs to a command: `\\textbf{Rating:}`."""
    # The maximum number of characters of a LaTeX command before its brace.
    longest_command = 14
    before = text[max(0, brace - longest_command) : brace]
    if "\\" not in before:
        return False
    return before.rpartition("\\")[2].isalpha()


def _holds_objects(value: ObjectValue) -> bool:
    """Return whether a value is an object, or a list with one."""
    if isinstance(value, list):
        return any(isinstance(entry, dict) for entry in value)
    return isinstance(value, dict)


def _object_at(text: str, start: int) -> FoundObject | None:
    """Return the object that begins at a bracket, or None."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    else:
        return FoundObject(value, start, end, repaired=False)
    reader = _TolerantReader(text)
    # The levels of nesting that are read.
    deepest = 32
    try:
        value, end = reader.read(start, deepest)
    except _NoObjectError:
        return None
    return FoundObject(value, start, end, repaired=True)


_DECODER = json.JSONDecoder(strict=False)


class _TolerantReader:
    """Reads one object that is not quite JSON."""

    def __init__(self, text: str) -> None:
        self._text = text

    def read(self, start: int, depth: int) -> tuple[ObjectValue, int]:
        """Return the object or list at a bracket, and where it ends."""
        if depth == 0:
            raise _NoObjectError
        if self._text[start] == "{":
            return self._members(start + 1, depth)
        return self._entries(start + 1, depth)

    def _members(self, index: int, depth: int) -> tuple[ObjectValue, int]:
        members: dict[str, ObjectValue] = {}
        while True:
            index = self._skip(index)
            sign = self._text[index : index + 1]
            if sign == "}":
                return members, index + 1
            if not sign:
                if not members:
                    raise _NoObjectError
                return members, index
            key, index = self._key(index)
            if key is None:
                if not members:
                    raise _NoObjectError
                return members, index  # what follows is prose after a lost brace
            value, index = self._value(index, depth)
            comma = _DECIMAL_COMMA.match(self._text, index)
            if comma and isinstance(value, int):
                value = f"{value}{comma[0]}"
                index = comma.end()
            members[key] = value

    def _entries(self, index: int, depth: int) -> tuple[ObjectValue, int]:
        entries: list[ObjectValue] = []
        while True:
            index = self._skip(index)
            sign = self._text[index : index + 1]
            if not sign:
                return entries, index
            if sign == "]":
                return entries, index + 1
            if sign == "}":
                return entries, index
            value, end = self._value(index, depth)
            if end == index:
                raise _NoObjectError
            index = end
            entries.append(value)

    def _skip(self, index: int) -> int:
        blank = _BLANK.match(self._text, index)
        return blank.end() if blank else index

    def _key(self, index: int) -> tuple[str | None, int]:
        """Return a key and where its value begins; no key where no colon follows."""
        begin = index
        sign = self._text[index]
        if sign in _QUOTES:
            key, index = self._string(index)
        else:
            word = _KEY.match(self._text, index)
            if word is None:
                return None, begin
            key = word[0].strip()
            index = word.end()
        colon = _COLON.match(self._text, index)
        if colon is None or len(key) > 200:
            return None, begin
        return key, colon.end()

    def _value(self, index: int, depth: int) -> tuple[ObjectValue, int]:
        sign = self._text[index : index + 1]
        if sign in ("{", "["):
            return self.read(index, depth - 1)
        if sign in _QUOTES:
            return self._string(index)
        bare = _BARE.match(self._text, index)
        end = bare.end() if bare else index
        return _word_value(self._text[index:end].strip()), end

    def _string(self, index: int) -> tuple[str, int]:
        """Return a quoted text; a quotation mark within it does not end it."""
        text = self._text
        quote = text[index]
        end_mark = _QUOTES[quote]
        parts: list[str] = []
        index += 1
        # The maximum number of quotation marks and escapes within one text of an
        # object.
        most_parts = 2000
        for _ in range(most_parts):
            plain = _PLAIN[quote].match(text, index)
            end = plain.end() if plain else index
            parts.append(text[index:end])
            if end >= len(text):
                return "".join(parts), end
            if text[end] == "\\":
                escaped = text[end + 1 : end + 2]
                parts.append(_ESCAPES.get(escaped, escaped))
                index = end + 2
            elif _AFTER_STRING.match(text, end + 1):
                return "".join(parts), end + 1
            else:
                parts.append(end_mark)
                index = end + 1
        raise _NoObjectError


def _word_value(word: str) -> ObjectValue:
    """Return a value without quotes: a word of JSON or Python, a number, or a text."""
    plain = word.casefold()
    if plain in _WORDS:
        return _WORDS[plain]
    if _INTEGER.fullmatch(word):
        return int(word)
    if _DECIMAL.fullmatch(word):
        return float(word)
    return word


def parsed_text(text: str) -> ObjectValue | None:
    """Return the object in a text that is nothing else (arguments of a call), or None.

    >>> parsed_text('{"score": 3}')
    {'score': 3}
    """
    stripped = text.strip()
    if not stripped.startswith(("{", "[")):
        return None
    held = _object_at(stripped, 0)
    if held is None or stripped[held.end :].strip("} \n"):
        return None
    return held.value
