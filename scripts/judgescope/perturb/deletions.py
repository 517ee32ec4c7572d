"""Deletion of characters, words and sentences (methods.md 7; papers 000 and 001, deletions)."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from judgescope.perturb.edits import Edit, Perturbed, alphanumerics, impossible, perturbed
from judgescope.perturb.sentences import split_sentences

if TYPE_CHECKING:
    from numpy.random import Generator

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Thai, Lao, Burmese, Khmer, kana and Han: written without spaces between words."""


def delete_characters(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k random letters or digits, each with its combining marks; one always stays."""
    spans = alphanumerics(text)
    done = min(k, len(spans) - 1)
    if done < 1:
        return impossible(text, f"{'only one' if spans else 'no'} alphanumeric character")
    chosen = rng.choice(len(spans), size=done, replace=False).tolist()
    edits = [Edit(spans[i][0], text[slice(*spans[i])], "") for i in chosen]
    return perturbed(text, edits, done=done, wanted=k)


def delete_words(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k consecutive words (between white space) and one gap beside them; one word stays."""
    words = [match.span() for match in re.finditer(r"\S+", text)]
    done = min(k, len(words) - 1)
    if done < 1:
        unspaced = _UNSPACED.search(text)
        return impossible(text, "no word boundaries" if unspaced else "fewer than two words")
    first = int(rng.integers(len(words) - done + 1))
    return perturbed(text, [_cut(text, words, first, first + done)], done=done, wanted=k)


def delete_sentences(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k random sentences, one edit for each run of neighbours; one sentence stays."""
    sentences = split_sentences(text)
    done = min(k, len(sentences) - 1)
    if done < 1:
        return impossible(text, "fewer than two sentences")
    kept = sorted(rng.choice(len(sentences), size=len(sentences) - done, replace=False).tolist())
    runs = [(a + 1, b) for a, b in pairwise([-1, *kept, len(sentences)]) if a + 1 < b]
    edits = [_cut(text, sentences, first, last) for first, last in runs]
    return perturbed(text, edits, done=done, wanted=k)


def _cut(text: str, spans: Sequence[tuple[int, int]], first: int, last: int) -> Edit:
    """Delete spans[first:last] and the gap before them, or the one behind them.

    The gap behind goes at the start of the text, and where the gap before is a line break.
    """
    start, end = spans[first][0], spans[last - 1][1]
    before = text[spans[first - 1][1] : start] if first else ""
    if first == 0 or ("\n" in before and last < len(spans)):
        end = spans[last][0]
    else:
        start -= len(before)
    return Edit(start, text[start:end], "")
