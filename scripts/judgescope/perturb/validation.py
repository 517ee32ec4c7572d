"""What can be wrong with a text that a model made from another, told as the reason to try again."""

import re
from itertools import groupby, pairwise

from rapidfuzz.distance import Indel, Levenshtein

from judgescope.parsing.text import is_refusal
from judgescope.parsing.written import problem_with_steps, problem_with_sub_aspects
from judgescope.perturb.edit_checks import KINDS
from judgescope.perturb.edits import Amount, Check
from judgescope.perturb.english import is_content, is_number
from judgescope.perturb.sentences import split_sentences

SHORTEST, LONGEST = 0.5, 2.0
"""Characters of a made text, as a share of the text it was made from."""
MOST_CHANGED = 0.5
"""Of a text's words: more is another text, not the same with a fault."""
ECHO = 5
"""Two words of a reason among so many in a row are no chance."""
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")
_TOKEN = re.compile(r"\w+|[^\w\s]")

Words = tuple[str, ...]


def _same(text: str, parent: str, _: Amount) -> str | None:
    return "it is the same text" if text.split() == parent.split() else None


def _refusal(text: str, parent: str, _: Amount) -> str | None:
    """A text may say that somebody is sorry, if its parent does."""
    return "it is a refusal" if is_refusal(text) and not is_refusal(parent) else None


def _length(text: str, parent: str, _: Amount) -> str | None:
    share = len(text) / len(parent)
    fits = SHORTEST <= share <= LONGEST
    return None if fits else f"it has {share:.2f} times the length of the text"


def _changes(text: str, parent: str, amount: Amount) -> str | None:
    """Words are changed in so many places; the same change in several of them counts once."""
    before, after = _TOKEN.findall(parent), _TOKEN.findall(text)
    edits = _replaced(before, after)
    changed = sum(len(old) for old, _ in edits)
    if changed > MOST_CHANGED * len(before):
        return f"it changes {changed} of the text's {len(before)} words and marks"
    return amount.problem(len(_distinct(set(edits))), "change")


def _replaced(before: list[str], after: list[str]) -> list[tuple[Words, Words]]:
    """Return (old, new) words of each place that differs, the fewest words that can."""
    operations = Levenshtein.opcodes(before, after)
    groups = groupby(operations, key=lambda one: one.tag == "equal")
    places = [list(group) for equal, group in groups if not equal]
    return [
        (
            tuple(before[place[0].src_start : place[-1].src_end]),
            tuple(after[place[0].dest_start : place[-1].dest_end]),
        )
        for place in places
    ]


def _distinct(edits: set[tuple[Words, Words]]) -> set[tuple[Words, Words]]:
    """Leave out a change that is a part of another: `Ann Lee` to `Zoe Fox`, then `Lee` to `Fox`."""

    def within(one: tuple[Words, Words], other: tuple[Words, Words]) -> bool:
        return all(
            bool(part) and set(part) < set(whole) for part, whole in zip(one, other, strict=True)
        )

    return {one for one in edits if not any(within(one, other) for other in edits)}


def undone(text: str, parent: str, original: str) -> str | None:
    """Tell whether some change to a damaged text takes earlier damage back.

    It does if, made alone, it brings the text nearer to the original, in words and marks.
    """
    first, before, after = (_TOKEN.findall(one) for one in (original, parent, text))
    far = Levenshtein.distance(before, first)
    for op in Levenshtein.opcodes(before, after):
        alone = [*before[: op.src_start], *after[op.dest_start : op.dest_end]]
        alone += before[op.src_end :]
        if op.tag != "equal" and Levenshtein.distance(alone, first) < far:
            return "an error that was there before is mended"
    return None


def more_than_one_error(text: str, parent: str) -> str | None:
    """Tell whether more than one error's worth of a text differs from its parent.

    At most one sentence of the parent may change, go or stand elsewhere, one more may come, and
    MOST_CHANGED of its words and marks must stay in their order.
    """
    before, after = _TOKEN.findall(parent), _TOKEN.findall(text)
    kept = sum(one.size for one in Indel.opcodes(before, after).as_matching_blocks())
    if kept < (1 - MOST_CHANGED) * len(before):
        return f"it keeps {kept} of the text's {len(before)} words and marks in their order"
    old, new = _sentences(parent), _sentences(text)
    same = sum(one.size for one in Indel.opcodes(old, new).as_matching_blocks())
    changed = len(old) - same
    if changed > 1 or len(new) - same > changed + 1:
        return "more than one sentence is changed"
    return None


def echo_of(reason: str, text: str, parent: str) -> str | None:
    """Tell whether a text repeats the reason to try again: two of its words within ECHO words.

    One of the two must be new to the parent. Words that say little, numbers and what the reason
    quotes do not count; a reason with one other word alone counts it with the word before it.
    """
    named = _lower(_QUOTED.sub(" ", reason))
    counted = {word for word in named if is_content(word) and not is_number(word)}
    new = counted.difference(_lower(parent))
    before = {*pairwise(named)} if len(counted) == 1 else set[Words]()
    for start, end in split_sentences(text):
        words = _lower(text[start:end])
        rows = ({*words[at : at + ECHO]} for at in range(len(words)))
        echoed = any(len(row & counted) > 1 and row & new for row in rows)
        if echoed or any(pair in before and pair[1] in new for pair in pairwise(words)):
            return "it repeats why the text before it could not be used"
    return None


def _lower(text: str) -> list[str]:
    return [word.lower() for word in _TOKEN.findall(text) if word[0].isalnum()]


def _insertions(text: str, parent: str, amount: Amount) -> str | None:
    """Every sentence of the text is there, in order; so many others stand between or behind."""
    kept, found = _sentences(parent), _sentences(text)
    added, left = [], list(kept)
    for sentence in found:
        if left and sentence == left[0]:
            left.pop(0)
        else:
            added.append(sentence)
    if left:
        return "a sentence of the text is missing or changed"
    if set(added) & set(kept):
        return "an inserted sentence repeats one to the letter"
    return amount.problem(len(added), "inserted sentence")


def _sentences(text: str) -> list[Words]:
    return [tuple(text[start:end].split()) for start, end in split_sentences(text)]


def _steps(text: str, parent: str, _: Amount) -> str | None:
    return problem_with_steps(text)


def _sub_aspects(text: str, parent: str, _: Amount) -> str | None:
    return problem_with_sub_aspects(text)


CHECKS: dict[str, Check] = {
    "differs": _same,
    "not_refusal": _refusal,
    "length": _length,
    "changes": _changes,
    "insertions": _insertions,
    "steps": _steps,
    "sub_aspects": _sub_aspects,
    **KINDS,
}
"""Check -> what is wrong with a text made from a parent, or None; `steps` and `sub_aspects` are of
drafts only."""
