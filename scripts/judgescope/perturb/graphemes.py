"""Where a text may be cut without tearing a combining mark from its base.

A cut is never made before a combining mark, a variation selector, a joiner or a skin tone, nor
behind a zero-width joiner. (Full segmentation, Unicode annex 29, would need its tables.)
"""

import unicodedata

_JOINER = "\u200d"
_NON_JOINER = "\u200c"


def extends(character: str) -> bool:
    """Return whether the character belongs to the one before it."""
    return (
        unicodedata.category(character).startswith("M")
        or character in (_JOINER, _NON_JOINER)
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


def may_cut(text: str, offset: int) -> bool:
    """Return whether no visible character lies across the offset."""
    if not 0 < offset < len(text):
        return True
    return not extends(text[offset]) and text[offset - 1] != _JOINER


def alphanumerics(text: str) -> list[tuple[int, int]]:
    """Return the span of each letter or digit, together with the marks that belong to it."""
    spans = []
    for start, character in enumerate(text):
        if character.isalnum():
            end = start + 1
            while end < len(text) and extends(text[end]):
                end += 1
            spans.append((start, end))
    return spans
