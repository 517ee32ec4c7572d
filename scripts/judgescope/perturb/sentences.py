"""Sentence boundaries: rules only, no download, no training.

A sentence ends at a line break, or at a terminator with the closing quotes and brackets after it.
A full stop after an abbreviation, an initial or a list number is not a terminator. The rules do
not rely on capitals (much of the data is lower-cased); abbreviations are mostly English ones.
"""

import re
from collections.abc import Iterator

_OPENING = "\"'“‘«‹([{"
_CLOSING = "\"'”’»›)\\]}」』】〕》〉"
_SPACED = ".!?…؟۔।॥።။։"
_LINE = re.compile("[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_END = re.compile(
    rf"(?<![{_SPACED}])(?P<spaced>[{_SPACED}]++)[{_CLOSING}]*+(?!\S)"
    rf"|(?:[。！？｡]|．(?!\d))++[{_CLOSING}]*+"
)
_WORD = re.compile(r"\w+|\Z")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TITLES = _words(
    "mr mrs ms mx dr prof rev fr gen col maj capt cpl sgt lt cmdr adm gov sen rep hon pres supt "
    "messrs mme mlle st mt ft vs viz e.g i.e cf approx ca resp bzw nr"
)
"""Never the last word of a sentence."""
_BEFORE_NUMBERS = _words("no nos vol fig figs eq eqs sec ch p pp art")
"""Abbreviations only when a number follows."""
_ABBREVIATIONS = _words(
    "jr sr inc ltd co corp bros dept univ assn etc al est ave blvd rd sq hwy "
    "jan feb apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri "
    "ed eds ph.d spp sp subsp var pv"
)
"""May be the last word of a sentence; it is when one of `_STARTERS` follows."""
_STARTERS = _words(
    "A After All Although An And As At Because Both But By Each Even For From He Her His How "
    "However I If In It Its Many More Most My No Not Now On One Our She Since So Some That The "
    "Their Then There These They This Those Though To Two Until We What When Where While Who Why "
    "With Yet You Your"
)


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans (start, end) of the sentences, in order; the gaps are white space or empty.

    No span begins or ends with white space or is empty; a text of white space has none.
    """
    spans = []
    for line in _LINE.finditer(text):
        start = line.start()
        for end in (*_ends(text, *line.span()), line.end()):
            piece = text[start:end]
            if piece.strip():
                spans.append((end - len(piece.lstrip()), start + len(piece.rstrip())))
            start = end
    return spans


def _ends(text: str, start: int, stop: int) -> Iterator[int]:
    """Yield the ends of the sentences within the line text[start:stop]."""
    words = _WORD.finditer(text, start, stop)
    following, scanned, has_words = next(words), start, False
    for mark in _END.finditer(text, start, stop):
        has_words = has_words or any(map(str.isalnum, text[scanned : mark.start()]))
        scanned = mark.start()
        while following.start() < mark.end():
            following = next(words)
        if has_words and _is_end(text, start, mark, following[0]):
            yield mark.end()
            start = scanned = mark.end()
            has_words = False


def _is_end(text: str, start: int, mark: re.Match[str], following: str) -> bool:
    """Return whether the sentence that begins at `start` ends with this mark."""
    terminator = mark["spaced"]
    if terminator is None:
        return True
    if following[:1].islower() and (mark[0] != terminator or terminator in ("…", "..", "...")):
        return False  # "Stop!" he said, and then … nothing
    return mark[0] != "." or not _is_abbreviated(text, start, mark.start(), following)


def _is_abbreviated(text: str, start: int, stop: int, following: str) -> bool:
    """Return whether the full stop after text[start:stop] belongs to its last word."""
    begin = stop
    while begin > start and not text[begin - 1].isspace():
        begin -= 1
    last = text[begin:stop].lstrip(_OPENING)
    word = last.casefold()
    if word in _TITLES or (word.isdecimal() and text[start:stop].strip() == word):
        return True
    if word in _BEFORE_NUMBERS and following[:1].isdecimal():
        return True
    initials = last != "I" and _INITIALS.fullmatch(word) is not None
    return (initials or word in _ABBREVIATIONS) and following not in _STARTERS
