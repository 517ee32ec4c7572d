"""Checks of a text that a model made from another; a fault is the reason for another
attempt.
"""

import re
import unicodedata
from itertools import pairwise

from judgescope.data.sentences import is_content, is_number, split_sentences
from judgescope.parsing.text import is_refusal
from judgescope.parsing.written import problem_with_steps, problem_with_sub_aspects
from judgescope.perturb.edit_checks import KINDS, changed_runs, sentences
from judgescope.perturb.edits import Amount, Check

LONGEST = 2.0
"""The maximum length of a made text in characters, divided by that of its parent."""
MOST_CHANGED = 0.5
"""The maximum share of a text's words that may change; above it, it is another text."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
_CLAUSE = r"[^.!?:：\n]*?"
_KIND = (
    r"\b(?:summary|ending|answer|translation|reply|response|paraphrase|description|"
    r"sentence|text"
    r"|version|continuation)\b"
)
_PREFACE = re.compile(
    r"\W*(?:(?:sure|certainly|of course|okay)\W+)?"
    rf"(?:(?:here|below)(?:['’]s| is| are)\b{_CLAUSE}{_KIND}{_CLAUSE}"
    rf"|(?:the )?(?:(?:adjusted|changed|improved|modified|new|next|revised) )?{_KIND}"
    r"(?: \d+)?)"
    r"[*_\"')\]]*[:：]",
    re.IGNORECASE,
)
"""The beginning of a reply that names what is asked for: `Here is the adjusted
summary:`."""

WordChange = tuple[tuple[str, ...], tuple[str, ...]]
"""The words and marks of a place, before a change and after it."""


def _differs(text: str, parent: str, _: Amount) -> str | None:
    if text.split() == parent.split():
        return "it is the same text"
    return None


def _not_refusal(text: str, parent: str, _: Amount) -> str | None:
    """A text may contain an apology if its parent does."""
    if is_refusal(text) and not is_refusal(parent):
        return "it is a refusal"
    return None


def _length(text: str, parent: str, _: Amount) -> str | None:
    share = len(text) / len(parent)
    if 0.5 <= share <= LONGEST:
        return None
    return f"it has {share:.2f} times the length of the text"


def _changes(text: str, parent: str, amount: Amount) -> str | None:
    """Words change in `amount` places; the same change, or a part of one, counts once.

    A change of punctuation alone does not count.
    """
    before = _TOKEN.findall(parent)
    after = _TOKEN.findall(text)
    changed = 0
    distinct = set[WordChange]()
    for start, end, new_start, new_end in changed_runs(before, after):
        old = tuple(before[start:end])
        new = tuple(after[new_start:new_end])
        changed += len(old)
        if not all(map(_is_mark, old + new)):
            distinct.add((old, new))
    if changed > MOST_CHANGED * len(before):
        return f"it changes {changed} of the text's {len(before)} words and marks"
    count = 0
    for change in distinct:
        if not any(_is_part(change, other) for other in distinct):
            count += 1
    return amount.problem(count, "change")


def _is_part(change: WordChange, other: WordChange) -> bool:
    """Return whether a change has some words of another, before and after, not all."""
    for words, more_words in zip(change, other, strict=True):
        if not words or not set(words) < set(more_words):
            return False
    return True


def _is_mark(token: str) -> bool:
    if unicodedata.category(token[0])[0] != "P":
        return False
    return token[0] != "_"


def _insertions(text: str, parent: str, amount: Amount) -> str | None:
    """All sentences of the parent are kept, in order; `amount` new ones are between or
    after.
    """
    old = sentences(parent)
    added = []
    left = list(old)
    for sentence in sentences(text):
        if left and sentence == left[0]:
            left.pop(0)
        else:
            added.append(sentence)
    if left:
        return "a sentence of the text is missing or changed"
    if set(added) & set(old):
        return "an inserted sentence repeats one to the letter"
    return amount.problem(len(added), "inserted sentence")


CHECKS: dict[str, Check] = {
    "differs": _differs,
    "not_refusal": _not_refusal,
    "length": _length,
    "changes": _changes,
    "insertions": _insertions,
    **KINDS,
}
"""Check that a card may name -> its function, which returns a made text's problem or
None."""


DRAFT_CHECKS: dict[str, Check] = {
    "steps": lambda text, parent, amount: problem_with_steps(text),
    "sub_aspects": lambda text, parent, amount: problem_with_sub_aspects(text),
}


def framed(reply: str, parent: str) -> str | None:
    """Return the problem if a reply has more than a text: a preface, a fence or
    quotation marks.

    A frame that the parent has, too, is part of the text. Without a parent, only a
    preface counts: a list may be introduced, and code or a speech may be what is asked
    for.
    """
    if _PREFACE.match(reply) and not _PREFACE.match(parent):
        return "there are words before the text"
    if not parent:
        return None
    first, _, more = reply.partition("\n")
    colon_at_end = re.compile(r"[:：][\s*_]*$", re.MULTILINE)
    if more and colon_at_end.search(first) and not colon_at_end.search(parent):
        return "there are words before the text"
    if reply.startswith("```") and not parent.startswith("```"):
        return "it is in a block of code"
    mark = reply[:1]
    # Quotation marks: opening -> closing.
    marks = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“", "«": "»"}
    quoted = len(reply) > 1 and reply[-1] == marks.get(mark)
    inner_marks = reply[1:-1].count(mark)
    if quoted and not parent.startswith(mark) and inner_marks <= parent.count(mark):
        return "it is in quotation marks"
    return None


def undone(text: str, parent: str, original: str) -> str | None:
    """Return the problem if a change to a perturbed text undoes an earlier edit, else
    None.

    A change undoes an edit if it alone brings the text closer to the original, in words
    and marks.
    """
    from rapidfuzz.distance import Levenshtein  # here: `audit` runs without

    first = _TOKEN.findall(original)
    before = _TOKEN.findall(parent)
    after = _TOKEN.findall(text)
    distance = Levenshtein.distance(before, first)
    for op in Levenshtein.opcodes(before, after):
        alone = [*before[: op.src_start], *after[op.dest_start : op.dest_end]]
        alone += before[op.src_end :]
        if op.tag != "equal" and Levenshtein.distance(alone, first) < distance:
            return "an error that was there before is mended"
    return None


def more_than_one_error(text: str, parent: str) -> str | None:
    """Return the problem if a text differs from its parent by more than one error, else
    None.

    At most one sentence of the parent may be changed, deleted or moved, one may be
    added, and at most the share MOST_CHANGED of its words and marks may change or move.
    """
    from rapidfuzz.distance import Indel  # here: `audit` runs without

    before = _TOKEN.findall(parent)
    after = _TOKEN.findall(text)
    blocks = Indel.opcodes(before, after).as_matching_blocks()
    kept = sum(block.size for block in blocks)
    if kept < (1 - MOST_CHANGED) * len(before):
        return (
            f"it keeps {kept} of the text's {len(before)} words and marks in their "
            "order"
        )
    old = sentences(parent)
    new = sentences(text)
    same = sum(block.size for block in Indel.opcodes(old, new).as_matching_blocks())
    changed = len(old) - same
    if changed > 1 or len(new) - same > changed + 1:
        return "more than one sentence is changed"
    return None


def echo_of(reason: str, text: str, parent: str) -> str | None:
    """Return the problem if a text repeats the reason of its request, else None.

    It repeats the reason if two of the reason's words are within five words and one of
    them is not in the parent. Function words, numbers and quotations in the reason are
    ignored; if only one word is left, it counts together with the word before it.
    """
    quoted = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")
    reason_words = _lower_words(quoted.sub(" ", reason))
    content = filter(is_content, reason_words)
    counted = {word for word in content if not is_number(word)}
    new = counted.difference(_lower_words(parent))
    pairs = {*pairwise(reason_words)} if len(counted) == 1 else set[tuple[str, str]]()
    for start, end in split_sentences(text):
        words = _lower_words(text[start:end])
        for index in range(len(words)):
            window = set(words[index : index + 5])
            if len(window & counted) > 1 and window & new:
                return "it repeats why the text before it could not be used"
        for pair in pairwise(words):
            if pair in pairs and pair[1] in new:
                return "it repeats why the text before it could not be used"
    return None


def _lower_words(text: str) -> list[str]:
    return [word.lower() for word in _TOKEN.findall(text) if word[0].isalnum()]
