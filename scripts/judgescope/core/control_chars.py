"""Characters of texts that a page or a terminal would obey, or that nobody would see.

Control characters (but tab and line feed), soft hyphens, what turns the direction of text around,
invisible signs and tags, halves of a character, and code points that are none. Joiners (U+200C and
U+200D) stay: scripts and emoji are written with them.
"""

import re
from typing import Final

UNSEEN: Final = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff0-\ufffb\ufffe\uffff"
    r"\U000e0000-\U000e0fff"
)
"""What stands in the brackets of a regular expression; as `CODES` has it in workflow/explore."""
_UNSEEN = re.compile(f"[{UNSEEN}]")


def coded(text: str) -> str:
    """Return a text with a code in place of each such character: ⟨U+202E⟩."""
    return _UNSEEN.sub(lambda result: f"\u27e8U+{ord(result[0]):04X}\u27e9", text)
