"""A reply as the rules see it: no reasoning, one spelling of every sign, the same offsets."""

import re

_FULL_WIDTH = {0xFF01 + offset: chr(0x21 + offset) for offset in range(94)}
_SPACES = dict.fromkeys("\u00a0\u202f\u3000\u200b\ufeff", " ")
_SIGNS = {"。": ".", "、": ",", "【": "[", "】": "]", "「": '"', "」": '"'} | {
    "’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "−": "-", "‐": "-", "‑": "-"
}  # fmt: skip
_ONE_SPELLING = _FULL_WIDTH | str.maketrans(_SPACES | _SIGNS)
_THINK = re.compile(r"[<\[](/?)(?:think|thinking|thought)[>\]]", re.IGNORECASE)
_USERS = (
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*user\b"
    r"|<\|user\|>|(?:<s>\s*)?\[INST\]"
)
"""How a user's turn begins."""
_END_OF_TURN = re.compile(
    r"(?:<\|(?:im_end|eot_id|end|end_of_text|endoftext|eom_id)\|>|</s>|<end_of_turn>)\s*"
    rf"(?:\Z|{_USERS})",
    re.IGNORECASE,
)


def fold(text: str) -> str:
    """Return the text in lower case with plain digits, colons, quotes and dashes, equally long."""
    plain = text.translate(_ONE_SPELLING)
    lower = plain.lower()
    if len(lower) == len(plain):
        return lower
    return "".join(low if len(low := sign.lower()) == 1 else sign for sign in plain)


def without_reasoning(text: str) -> tuple[str, bool]:
    """Return the text without its reasoning blocks, and whether the last block never closes.

    A closing tag alone ends a block that the prompt opened: what stands before it is reasoning. A
    token that ends a turn ends the text where a user's turn follows: what a model goes on to write
    in a user's name, and what it answers to that, is no answer.
    """
    if (end := _END_OF_TURN.search(text)) and text[: end.start()].strip():
        text = text[: end.start()]
    kept: list[str] = []
    inside, start = False, 0
    for tag in _THINK.finditer(text):
        if tag[1]:
            if not inside:
                kept.clear()
            inside, start = False, tag.end()
        elif not inside:
            kept.append(text[start : tag.start()])
            inside = True
    if not inside:
        kept.append(text[start:])
    return "".join(kept).strip(), inside
