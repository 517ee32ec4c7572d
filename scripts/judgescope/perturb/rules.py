"""Texts perturbed without a model: by rules, whose edits are drawn from a named random
stream.

Rules delete characters, words or sentences, make typing errors, move or exchange
contents, and add errors one after the other; attacks add text for the judge. The job
reads no card and no prompt.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Final, Literal

from judgescope.core.errors import UserError
from judgescope.core.names import WRONG_ENDING
from judgescope.core.registry import Registry
from judgescope.core.words import WITHOUT_SPACES, script_of, word_spans
from judgescope.data.sentences import split_sentences
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

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True)
class Option:
    """The allowed values of an option: whole numbers from `minimum`, or one of
    `words`.
    """

    minimum: int = 1
    words: tuple[str, ...] = ()

    def allows(self, value: object) -> bool:
        """Return whether a card may give this value."""
        if isinstance(value, int) and not isinstance(value, bool):
            return value >= self.minimum
        return value in self.words

    def __str__(self) -> str:
        """Return the allowed values in words."""
        allowed = [f"a whole number from {self.minimum}", *map(repr, self.words)]
        return " or ".join(allowed)


@dataclass(frozen=True)
class PerturbationRule:
    """A way to perturb texts without a model.

    `function(text, rng, **options)` returns a `Perturbed`. With `across_items`, the
    rule needs all texts of a dataset at once: `function(texts, rng, **options)` returns
    a list of `Perturbed`. With `meta`, a key of the items' meta, it needs the text
    under that key: `function(text, rng, other, **options)`. `in_chain`: `function(text,
    rng, kinds=, count=)` returns several texts, each made from the previous one.
    """

    name: str
    """The value of the key `rule` of a perturbation's card."""
    function: Callable[..., Any]
    level: Literal["character", "word", "sentence"]
    options: Mapping[str, Option]
    across_items: bool = False
    meta: str | None = None
    in_chain: bool = False

    @property
    def module(self) -> str:
        """The module that defines it; others import it from there."""
        return self.function.__module__

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Return what the function returns."""
        return self.function(*args, **options)


RULES: Final = Registry("perturbations", PerturbationRule, "judgescope.perturb")


def rule(
    level: Literal["character", "word", "sentence"],
    *,
    across_items: bool = False,
    meta: str | None = None,
    in_chain: bool = False,
    **options: Option,
) -> Callable[[Callable[..., Any]], PerturbationRule]:
    """Make the decorated function a rule with its name and these options."""

    def made(function: Callable[..., Any]) -> PerturbationRule:
        name = function.__name__
        return PerturbationRule(
            name, function, level, options, across_items, meta, in_chain
        )

    return made


def check_options(name: str, options: Mapping[str, object], *, where: str) -> None:
    """Raise a UserError unless the rule exists and accepts exactly these options and
    values.
    """
    if name not in RULES:
        raise UserError("unknown rule", where=where, got=name, allowed=RULES)
    allowed = RULES[name].options
    for option in options:
        if option not in allowed:
            problem = f"unknown option of the rule {name}"
            raise UserError(problem, where=where, got=option, allowed=allowed)
    for option, values in allowed.items():
        if not values.allows(options.get(option)):
            problem = f"invalid value of {option} for the rule {name}"
            raise UserError(
                problem, where=where, got=options.get(option), allowed=str(values)
            )


# --- deletions ------------------------------------------------------------------------


@rule("character", k=Option())
def delete_characters(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k random letters or digits, each with its combining marks; at least one
    stays.
    """
    spans = alphanumerics(text)
    done = min(k, len(spans) - 1)
    if done < 1:
        count = "only one" if spans else "no"
        return impossible(text, f"{count} alphanumeric character")
    chosen = rng.choice(len(spans), size=done, replace=False).tolist()
    edits = []
    for i in chosen:
        edits.append(Edit(spans[i][0], text[slice(*spans[i])], ""))
    return perturbed(text, edits, done=done, planned=k)


@rule("word", k=Option())
def delete_words(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k consecutive words (split at white space) and one gap next to them; one
    stays.

    In scripts without blanks between words each letter with its marks is a word, and
    the gap stays.
    """
    unspaced = _is_unspaced(text)
    if unspaced:
        words = _separable(text, word_spans(text))
    else:
        words = [match.span() for match in re.finditer(r"\S+", text)]
    done = min(k, len(words) - 1)
    if done < 1:
        return impossible(text, "fewer than two words")
    first = int(rng.integers(len(words) - done + 1))
    edit = _cut(text, words, first, first + done)
    if unspaced:
        start = words[first][0]
        end = words[first + done - 1][1]
        edit = Edit(start, text[start:end], "")
    return perturbed(text, [edit], done=done, planned=k)


def _is_unspaced(text: str) -> bool:
    """Return whether most letters are of a script without blanks between words."""
    return not text.isascii() and script_of([text]) in WITHOUT_SPACES


def _separable(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans at whose ends the text may be cut."""
    separable = list[tuple[int, int]]()
    for start, end in spans:
        if may_cut(text, start) and may_cut(text, end):
            separable.append((start, end))
    return separable


@rule("sentence", k=Option())
def delete_sentences(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k random sentences, with one edit per adjacent run; one sentence stays."""
    sentences = split_sentences(text)
    done = min(k, len(sentences) - 1)
    if done < 1:
        return impossible(text, "fewer than two sentences")
    n_kept = len(sentences) - done
    kept = sorted(rng.choice(len(sentences), size=n_kept, replace=False).tolist())
    edits = list[Edit]()
    for before, after in pairwise([-1, *kept, len(sentences)]):
        if before + 1 < after:
            edits.append(_cut(text, sentences, before + 1, after))
    return perturbed(text, edits, done=done, planned=k)


def _cut(text: str, spans: Sequence[tuple[int, int]], first: int, last: int) -> Edit:
    """Delete spans[first:last] and the gap before them, or the gap after them.

    The gap after is deleted at the start of the text, and if the gap before is a line
    break.
    """
    start = spans[first][0]
    end = spans[last - 1][1]
    before = ""
    if first:
        before = text[spans[first - 1][1] : start]
    if first == 0 or ("\n" in before and last < len(spans)):
        end = spans[last][0]
    else:
        start -= len(before)
    return Edit(start, text[start:end], "")


# --- typing errors --------------------------------------------------------------------

_TYPOS = (
    "char_swap",
    "missing_char",
    "extra_char",
    "nearby_char",
    "similar_char",
    "skipped_space",
    "random_space",
    "repeated_char",
    "unichar",
)
"""The error kinds of the package `typo` (0.1.7), which makes one error per call.

A call often has no effect (about half of all calls of similar_char), seeds the
process-wide `random` even without a seed, and raises on decimal digits outside ASCII.
So its errors are only candidates: each is made in the original text, and kept if it
does not touch an earlier one.
"""


@rule("character", k=Option())
def typos(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Make k random typing errors of equally likely kinds, at places that do not touch.

    Short if the text has no room for k errors with a character between them.
    """
    if not any(map(str.isalnum, text)):
        return impossible(text, "no alphanumeric character")
    edits: list[Edit] = []
    taken: set[int] = set()
    failures = 0
    most_failures = 200  # consecutive candidates that cannot be used
    state = random.getstate()
    try:
        while len(edits) < k and failures < most_failures:
            error_kind = _TYPOS[rng.integers(len(_TYPOS))]
            edit = _candidate(text, error_kind, int(rng.integers(2**63)))
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
    """Return one error of this kind, or None if it has no effect or splits a
    character.
    """
    from typo import StrErrer  # here: `audit` runs without

    try:
        result: str = getattr(StrErrer(text, seed=seed), kind)().result
    except KeyError:  # the package's table of adjacent keys has only ASCII digits
        return None
    if result == text:
        return None
    [edit] = edit_between(text, result)
    if may_cut(text, edit.offset) and may_cut(text, edit.end):
        return edit
    return None


# --- contents that change places ------------------------------------------------------

_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def _word_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each word, with its combining marks.

    Words of scripts with blanks keep their hyphens and apostrophes.
    """
    if _is_unspaced(text):
        return word_spans(text)
    if text.isascii():
        return [match.span() for match in _WORD.finditer(text)]
    import regex  # here: few texts need it

    # The same for words with combining marks, which Python's `\w` leaves out: most
    # vowels of Hindi are marks.
    marked_word = r"[\w\p{N}\p{M}]+(?:['’-][\w\p{N}\p{M}]+)*"
    return [match.span() for match in regex.finditer(marked_word, text)]


@rule("sentence", k=Option(2, ("all",)))
def reorder_sentences(
    text: str, rng: "Generator", *, k: int | Literal["all"]
) -> Perturbed:
    """Reorder k random sentences so that each of them moves; the gaps stay in place.

    One edit per moved sentence. Short if fewer than k can move (too few sentences, or
    too many equal ones). Source: reordering (Wang et al. 2024); with k = 2, sentence
    exchange (Hu et al. 2024).
    """
    spans = split_sentences(text)
    sentences = [text[slice(*span)] for span in spans]
    wanted = len(spans) if k == "all" else k
    chosen = choose(sentences, wanted, rng)
    if not chosen:
        return impossible(text, "fewer than two different sentences")
    givers = derange([sentences[index] for index in chosen], rng)
    edits = list[Edit]()
    for index, giver in zip(chosen, givers, strict=True):
        new = sentences[chosen[giver]]
        edits.append(Edit(spans[index][0], sentences[index], new))
    return perturbed(text, edits, done=len(chosen), planned=wanted)


@rule("word", k=Option())
def exchange_words(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Swap k random pairs of adjacent, different words: word exchange (Hu et al. 2024).

    Only blanks may be between the two words: no punctuation, no line break. Pairs share
    no word. Short only if there are fewer than k such pairs. In scripts without blanks
    each letter with its marks is a word, and nothing need be between two.
    """
    unspaced = _is_unspaced(text)
    spans = _separable(text, _word_spans(text))
    words = [text[slice(*span)] for span in spans]

    def may_swap(first: int) -> bool:
        gap = text[spans[first][1] : spans[first + 1][0]]
        one_line = len(f"{gap}.".splitlines()) == 1
        adjacent = gap.isspace() or (unspaced and not gap)
        return adjacent and one_line and words[first] != words[first + 1]

    pairs = [first for first in range(len(words) - 1) if may_swap(first)]
    chosen = _disjoint(pairs, k, rng)
    if not chosen:
        return impossible(text, "no two different words side by side")
    edits = list[Edit]()
    for first in chosen:
        second = first + 1
        edits.append(Edit(spans[first][0], words[first], words[second]))
        edits.append(Edit(spans[second][0], words[second], words[first]))
    return perturbed(text, edits, done=len(chosen), planned=k)


def _disjoint(pairs: Sequence[int], k: int, rng: "Generator") -> list[int]:
    """Return k random pairs that share no word, each given by the index of its first
    word.
    """
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
    """Replace every text by a different one; each text is used once.

    Impossible for an empty text, and for surplus copies of a text that is more than
    half of all. Source: random ending and random answer (Wang et al. 2024);
    docs/methods.md, "Perturbations".
    """
    filled = [index for index, text in enumerate(texts) if text.strip()]
    numbers = choose([texts[index] for index in filled], len(filled), rng)
    chosen = [filled[number] for number in numbers]
    givers = derange([texts[index] for index in chosen], rng)
    donors = dict[int, str]()
    for index, giver in zip(chosen, givers, strict=True):
        donors[index] = texts[chosen[giver]]
    results = list[Perturbed]()
    for index, text in enumerate(texts):
        if index in donors:
            edit = Edit(0, text, donors[index])
            results.append(perturbed(text, [edit], done=1, planned=1))
        elif text.strip():
            results.append(impossible(text, "no other text left that differs"))
        else:
            results.append(impossible(text, "the text is empty"))
    return results


@rule("sentence", meta=WRONG_ENDING)
def wrong_ending(text: str, _: "Generator", other: str) -> Perturbed:
    """Replace the text by the ending that its dataset marks as wrong (Wang et al.
    2024).
    """
    if not other.strip() or other.split() == text.split():
        return impossible(text, "the wrong ending is empty or the same")
    return perturbed(text, [Edit(0, text, other)], done=1, planned=1)


def choose(contents: Sequence[str], count: int, rng: "Generator") -> list[int]:
    """Return `count` random indices whose contents can be deranged, or as many as
    possible.

    No content fills more than half of the places, so the list is empty or has at least
    two.
    """
    numbers = Counter(contents).values()
    size = min(count, len(contents))
    while size > 1 and sum(min(number, size // 2) for number in numbers) < size:
        size -= 1
    if size < 2:
        size = 0
    chosen: list[int] = []
    taken: Counter[str] = Counter()
    for index in rng.permutation(len(contents)).tolist():
        if len(chosen) < size and taken[contents[index]] < size // 2:
            chosen.append(index)
            taken[contents[index]] += 1
    return sorted(chosen)


def derange(contents: Sequence[str], rng: "Generator") -> list[int]:
    """Return, for each place, the place whose content it takes; the two contents always
    differ.

    Places are put in random order with equal contents side by side, then shifted by the
    number of occurrences of the commonest content. So if all contents differ, the
    places form one random cycle. `contents` comes from `choose`.
    """
    counts = Counter(contents)
    rank = dict(zip(counts, rng.permutation(len(counts)).tolist(), strict=True))
    order = rng.permutation(len(contents)).tolist()
    order.sort(key=lambda index: rank[contents[index]])
    shift = max(counts.values(), default=0)
    giver = dict(zip(order, order[shift:] + order[:shift], strict=True))
    return [giver[index] for index in range(len(contents))]


# --- errors one after the other -------------------------------------------------------


@rule("sentence", in_chain=True)
def inject_errors(
    text: str, rng: "Generator", *, kinds: Sequence[str], count: int
) -> list[Perturbed]:
    """Return the texts with 1, 2, …, `count` errors, each made from the previous text.

    If there is no room for another error, the list ends with the previous text as
    `impossible`. Source: local and global injection (Hu et al. 2025), by rule.
    """
    before = draft_of(text).text
    steps = list[Perturbed]()
    for draft in islice(drafts(text, rng, kinds=kinds), count):
        edits = tuple(edit_between(before, draft.text))
        steps.append(Perturbed(draft.text, "ok", edits))
        before = draft.text
    if len(steps) < count:
        steps.append(impossible(before, f"there is no room for error {len(steps) + 1}"))
    return steps


# --- the targets of a dataset ---------------------------------------------------------
