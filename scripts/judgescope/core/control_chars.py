"""Control characters and invisible characters of texts, and codes that show them.

Control characters (but tab and line feed), soft hyphens, direction marks, invisible signs and tags,
surrogates and noncharacters. Joiners (U+200C and U+200D) stay: scripts and emoji need them.
"""

import re
from typing import Final

UNSEEN: Final = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff0-\ufffb\ufffe\uffff"
    r"\U000e0000-\U000e0fff"
)
"""Content of a character class in a regular expression; the same as `CODES` in workflow/explore."""
_UNSEEN = re.compile(f"[{UNSEEN}]")


def coded(text: str) -> str:
    """Return a text with a code in place of each such character: ⟨U+202E⟩."""
    return _UNSEEN.sub(lambda result: f"\u27e8U+{ord(result[0]):04X}\u27e9", text)
