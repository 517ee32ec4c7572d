"""The rules that perturb a text without a model: edits drawn from a named random stream.

Deletions of characters, words and sentences, typing errors, and contents that change places.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from typo import StrErrer

from judgescope.core.errors import UserError
from judgescope.core.names import WRONG_ENDING
from judgescope.perturb.edits import (
    Edit,
    Perturbed,
    alphanumerics,
    edit_between,
    impossible,
    may_cut,
    perturbed,
)
from judgescope.perturb.inject import draft_of, drafts
from judgescope.perturb.sentences import split_sentences

if TYPE_CHECKING:
    from numpy.random import Generator

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """The values an option may take: whole numbers from `minimum`, or one of `words`."""

    minimum: int = 1
    words: tuple[str, ...] = ()

    def allows(self, value: object) -> bool:
        """Return whether a card may give this value."""
        if isinstance(value, int) and not isinstance(value, bool):
            return value >= self.minimum
        return value in self.words

    def __str__(self) -> str:
        """Return the allowed values in words."""
        return " or ".join([f"a whole number from {self.minimum}", *map(repr, self.words)])


@dataclass(frozen=True)
class Rule:
    """A way to perturb texts without a model.

    `function(text, rng, **options)` returns a `Perturbed`; with `across_items`, the rule needs all
    texts of a dataset at once: `function(texts, rng, **options)` returns a list of them. With
    `meta`, a key of the items' meta, it needs the text of that key: `function(text, rng, other,
    **options)`. `in_chain`: `function(text, rng, kinds=, count=)` returns several texts, each made
    from the one before.
    """

    function: Callable[..., Any]
    level: Literal["character", "word", "sentence"]
    options: Mapping[str, Option]
    across_items: bool = False
    meta: str | None = None
    in_chain: bool = False


RULES: dict[str, Rule] = {}


def rule(
    level: Literal["character", "word", "sentence"],
    *,
    across_items: bool = False,
    meta: str | None = None,
    in_chain: bool = False,
    **options: Option,
) -> Callable[[Function], Function]:
    """Register the decorated function as the rule of its name, with its options."""

    def register(function: Function) -> Function:
        RULES[function.__name__] = Rule(function, level, options, across_items, meta, in_chain)
        return function

    return register


def check_options(name: str, options: Mapping[str, object], *, where: str) -> None:
    """Raise a UserError unless the rule exists and takes exactly these options and values."""
    if name not in RULES:
        raise UserError("unknown rule", where=where, got=name, allowed=RULES)
    allowed = RULES[name].options
    for option in options:
        if option not in allowed:
            problem = f"the rule {name} has no such option"
            raise UserError(problem, where=where, got=option, allowed=allowed)
    for option, values in allowed.items():
        if not values.allows(options.get(option)):
            problem = f"invalid value of {option} for the rule {name}"
            raise UserError(problem, where=where, got=options.get(option), allowed=str(values))


# --- deletions ------------------------------------------------------------------------------------

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Thai, Lao, Burmese, Khmer, kana and Han: no spaces between words."""


@rule("character", k=Option())
def delete_characters(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k random letters or digits, each with its combining marks; at least one stays."""
    spans = alphanumerics(text)
    done = min(k, len(spans) - 1)
    if done < 1:
        return impossible(text, f"{'only one' if spans else 'no'} alphanumeric character")
    chosen = rng.choice(len(spans), size=done, replace=False).tolist()
    edits = [Edit(spans[i][0], text[slice(*spans[i])], "") for i in chosen]
    return perturbed(text, edits, done=done, planned=k)


@rule("word", k=Option())
def delete_words(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k consecutive words (between white space) and one gap beside them; one word stays."""
    words = [match.span() for match in re.finditer(r"\S+", text)]
    done = min(k, len(words) - 1)
    if done < 1:
        unspaced = _UNSPACED.search(text)
        return impossible(text, "no word boundaries" if unspaced else "fewer than two words")
    first = int(rng.integers(len(words) - done + 1))
    return perturbed(text, [_cut(text, words, first, first + done)], done=done, planned=k)


@rule("sentence", k=Option())
def delete_sentences(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k random sentences, one edit for each run of neighbours; one sentence stays."""
    sentences = split_sentences(text)
    done = min(k, len(sentences) - 1)
    if done < 1:
        return impossible(text, "fewer than two sentences")
    kept = sorted(rng.choice(len(sentences), size=len(sentences) - done, replace=False).tolist())
    runs = [(a + 1, b) for a, b in pairwise([-1, *kept, len(sentences)]) if a + 1 < b]
    edits = [_cut(text, sentences, first, last) for first, last in runs]
    return perturbed(text, edits, done=done, planned=k)


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


# --- typing errors --------------------------------------------------------------------------------

_TYPOS = (
    *("char_swap", "missing_char", "extra_char", "nearby_char", "similar_char", "skipped_space"),
    *("random_space", "repeated_char", "unichar"),
)
"""The error kinds of the package `typo` (0.1.7), which makes one error per call.

It often has no effect (similar_char in about half of all calls), seeds the process-wide `random`
even without a seed, and raises on decimal digits outside ASCII. Its errors are candidates here:
made on the original text, and kept if they change it away from every error kept before.
"""
PATIENCE = 200
"""The number of unusable candidates in a row after which no further error is tried."""


@rule("character", k=Option())
def typos(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Make k random typing errors, of kinds that are equally likely, at places that do not touch.

    Short if the text has no room for k errors with a character between them.
    """
    if not any(map(str.isalnum, text)):
        return impossible(text, "no alphanumeric character")
    edits: list[Edit] = []
    taken: set[int] = set()
    failures = 0
    state = random.getstate()
    try:
        while len(edits) < k and failures < PATIENCE:
            edit = _candidate(text, _TYPOS[rng.integers(len(_TYPOS))], int(rng.integers(2**63)))
            failures += 1
            if edit and taken.isdisjoint(range(edit.offset, edit.end + 1)):
                edits.append(edit)
                taken.update(range(edit.offset, edit.end + 1))
                failures = 0
    finally:
        random.setstate(state)
    if not edits:
        return impossible(text, "no typing error changes this text")
    return perturbed(text, edits, done=len(edits), planned=k)


def _candidate(text: str, kind: str, seed: int) -> Edit | None:
    """Return one error of this kind, or None if it has no effect or splits a character."""
    try:
        result: str = getattr(StrErrer(text, seed=seed), kind)().result
    except KeyError:  # its table of neighbouring keys has ASCII digits only
        return None
    if result == text:
        return None
    [edit] = edit_between(text, result)
    return edit if may_cut(text, edit.offset) and may_cut(text, edit.end) else None


# --- contents that change places ------------------------------------------------------------------

_WORD = re.compile(r"\w+(?:['’-]\w+)*")


@rule("sentence", k=Option(2, ("all",)))
def reorder_sentences(text: str, rng: "Generator", *, k: int | Literal["all"]) -> Perturbed:
    """Put k random sentences in an order in which each has moved; the gaps stay in place.

    One edit for each moved sentence. Short if fewer than k can move (too few, or too many equal
    ones). Source: reordering (Wang et al. 2024); with k = 2 sentence exchange (Hu et al. 2024).
    """
    spans = split_sentences(text)
    sentences = [text[slice(*span)] for span in spans]
    wanted = len(spans) if k == "all" else k
    chosen = choose(sentences, wanted, rng)
    if not chosen:
        return impossible(text, "fewer than two different sentences")
    givers = derange([sentences[index] for index in chosen], rng)
    edits = [
        Edit(spans[place][0], sentences[place], sentences[chosen[giver]])
        for place, giver in zip(chosen, givers, strict=True)
    ]
    return perturbed(text, edits, done=len(chosen), planned=wanted)


@rule("word", k=Option())
def exchange_words(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Swap k random pairs of neighbouring, different words: word exchange (Hu et al. 2024).

    Neighbours have only blanks between them: no punctuation, no line break. Pairs share no word.
    Short only if there are no k such pairs.
    """
    matches = (match.span() for match in _WORD.finditer(text))
    spans = [span for span in matches if all(may_cut(text, end) for end in span)]
    words = [text[slice(*span)] for span in spans]

    def may_swap(first: int) -> bool:
        gap = text[spans[first][1] : spans[first + 1][0]]
        one_line = len(f"{gap}.".splitlines()) == 1
        return gap.isspace() and one_line and words[first] != words[first + 1]

    pairs = [first for first in range(len(words) - 1) if may_swap(first)]
    chosen = _disjoint(pairs, k, rng)
    if not chosen:
        return impossible(text, "no two different words side by side")
    edits = [
        edit
        for first in chosen
        for edit in (
            Edit(spans[first][0], words[first], words[first + 1]),
            Edit(spans[first + 1][0], words[first + 1], words[first]),
        )
    ]
    return perturbed(text, edits, done=len(chosen), planned=k)


def _disjoint(pairs: Sequence[int], k: int, rng: "Generator") -> list[int]:
    """Return k random pairs without a common word, each named by the index of its first word."""
    for order in (rng.permutation(pairs).tolist(), pairs):
        chosen: list[int] = []
        for pair in order:
            if len(chosen) < k and {pair - 1, pair, pair + 1}.isdisjoint(chosen):
                chosen.append(pair)
        if len(chosen) == k:
            break
    return chosen


@rule("sentence", across_items=True)
def replace_text(texts: Sequence[str], rng: "Generator") -> list[Perturbed]:
    """Replace every text by another, different one; each text is used once.

    Impossible for an empty text, and for the surplus of a text that makes up more than half of all.
    Source: random ending and random answer (Wang et al. 2024); methods.md 7.
    """
    filled = [index for index, text in enumerate(texts) if text.strip()]
    chosen = [filled[i] for i in choose([texts[index] for index in filled], len(filled), rng)]
    givers = derange([texts[index] for index in chosen], rng)
    donors = {index: texts[chosen[giver]] for index, giver in zip(chosen, givers, strict=True)}
    results = []
    for index, text in enumerate(texts):
        if index in donors:
            results.append(perturbed(text, [Edit(0, text, donors[index])], done=1, planned=1))
        else:
            reason = "no other text left that differs" if text.strip() else "the text is empty"
            results.append(impossible(text, reason))
    return results


@rule("sentence", meta=WRONG_ENDING)
def wrong_ending(text: str, _: "Generator", other: str) -> Perturbed:
    """Replace the text by the ending that its dataset marks as wrong (Wang et al. 2024)."""
    if not other.strip() or other.split() == text.split():
        return impossible(text, "the wrong ending is empty or the same")
    return perturbed(text, [Edit(0, text, other)], done=1, planned=1)


def choose(contents: Sequence[str], count: int, rng: "Generator") -> list[int]:
    """Return `count` random indices whose contents can be deranged, or as many as possible.

    No content takes more than half of the places, so the list is empty or has at least two.
    """
    numbers = Counter(contents).values()
    sizes = range(min(count, len(contents)), 1, -1)
    size = next((n for n in sizes if sum(min(number, n // 2) for number in numbers) >= n), 0)
    chosen: list[int] = []
    taken: Counter[str] = Counter()
    for index in rng.permutation(len(contents)).tolist():
        if len(chosen) < size and taken[contents[index]] < size // 2:
            chosen.append(index)
            taken[contents[index]] += 1
    return sorted(chosen)


def derange(contents: Sequence[str], rng: "Generator") -> list[int]:
    """Return, for each place, the place whose content it takes: never an equal content.

    Places are put in a random order with equal contents side by side, and each takes from the place
    that lies as many further on as the commonest content occurs: places with different contents
    form one random cycle. `contents` comes from `choose`.
    """
    counts = Counter(contents)
    rank = dict(zip(counts, rng.permutation(len(counts)).tolist(), strict=True))
    order = sorted(rng.permutation(len(contents)).tolist(), key=lambda place: rank[contents[place]])
    shift = max(counts.values(), default=0)
    giver = dict(zip(order, order[shift:] + order[:shift], strict=True))
    return [giver[place] for place in range(len(contents))]


# --- errors one after the other -----------------------------------------------------------------


@rule("sentence", in_chain=True)
def inject_errors(
    text: str, rng: "Generator", *, kinds: Sequence[str], count: int
) -> list[Perturbed]:
    """Return the text with one error, with two, … and with `count`, each edited from the last.

    If there is no room for another error, the last text is the one before it, impossible. Source:
    local and global injection (Hu et al. 2025), by rule.
    """
    before, steps = draft_of(text).text, list[Perturbed]()
    for draft in islice(drafts(text, rng, kinds=kinds), count):
        steps.append(Perturbed(draft.text, "ok", tuple(edit_between(before, draft.text))))
        before = draft.text
    if len(steps) < count:
        steps.append(impossible(before, f"there is no room for error {len(steps) + 1}"))
    return steps
