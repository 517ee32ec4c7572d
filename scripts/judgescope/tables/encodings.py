"""The encoding of a file that is not UTF-8, by the words of its first line.

Spreadsheets of Russian, Chinese, Japanese, Korean and Arabic systems save CSV files in
encodings of their own. Read as another one, every letter is wrong and no header has a
meaning; so the encoding is that in which two headers have words that we know.
"""

import re
from typing import Final

from judgescope.tables.words import known_words, split_header

ENCODINGS: Final = {
    "cp1251": "ru",
    "koi8-r": "ru",
    "cp932": "ja",
    "euc-jp": "ja",
    "gb18030": "zh",
    "big5": "zh",
    "cp949": "ko",
    "cp1256": "ar",
}
"""Encoding -> the language that is written in it."""


def encoding_of(content: bytes) -> str | None:
    """The encoding in which the first line has the most known words of its language;
    None if no encoding gives two headers with such a word.

    >>> encoding_of("Вопрос;Ответ;Оценка".encode("cp1251"))
    'cp1251'
    >>> encoding_of("Größe;Länge".encode("cp1252")) is None
    True
    """
    best = None
    most_known = 1
    for encoding, language in ENCODINGS.items():
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        headers = re.split(r"[,;\t|]", text.lstrip("\r\n").partition("\n")[0])
        known = sum(_has_word(header, language) for header in headers)
        if known > most_known:
            best = encoding
            most_known = known
    return best


def _has_word(header: str, language: str) -> bool:
    """Whether a header has a known word of a language, in letters of its own."""
    for word in split_header(header):
        if word.isascii():
            continue
        if any(known.language == language for known in known_words().get(word, [])):
            return True
    return False


def is_western(text: str) -> bool:
    """Whether the letters of a text are those of a language of Western Europe: most
    have no accent.

    >>> is_western("Größe der Übung"), is_western("Âîïðîñ; Îòâåò")
    (True, False)
    """
    letters = [sign for sign in text if sign.isalpha()]
    plain = sum(sign.isascii() for sign in letters)
    return 2 * plain >= len(letters)
