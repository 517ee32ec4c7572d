"""Texts perturbed without a model: by rules, whose edits are drawn from a named random
stream.

Rules delete characters, words or sentences, make typing errors, move or exchange
contents, and add errors one after the other; attacks add text for the judge. The job
reads no card and no prompt.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from typo import StrErrer

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.errors import UserError
from judgescope.core.names import WRONG_ENDING
from judgescope.core.rng import stream
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
from judgescope.schema.tables import read_table, table_of, write_table

if TYPE_CHECKING:
    from numpy.random import Generator


Function = TypeVar("Function", bound=Callable[..., Any])


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
        return " or ".join(
            [f"a whole number from {self.minimum}", *map(repr, self.words)]
        )


@dataclass(frozen=True)
class Rule:
    """A way to perturb texts without a model.

    `function(text, rng, **options)` returns a `Perturbed`. With `across_items`, the
    rule needs all texts of a dataset at once: `function(texts, rng, **options)` returns
    a list of `Perturbed`. With `meta`, a key of the items' meta, it needs the text
    under that key: `function(text, rng, other, **options)`. `in_chain`: `function(text,
    rng, kinds=, count=)` returns several texts, each made from the previous one.
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
    """Register the decorated function as a rule with its name and these options."""

    def register(function: Function) -> Function:
        RULES[function.__name__] = Rule(
            function, level, options, across_items, meta, in_chain
        )
        return function

    return register


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

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
)
"""Thai, Lao, Burmese, Khmer, kana and Han, which have no spaces between words."""


@rule("character", k=Option())
def delete_characters(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k random letters or digits, each with its combining marks; at least one
    stays.
    """
    spans = alphanumerics(text)
    done = min(k, len(spans) - 1)
    if done < 1:
        return impossible(
            text, f"{'only one' if spans else 'no'} alphanumeric character"
        )
    chosen = rng.choice(len(spans), size=done, replace=False).tolist()
    edits = [Edit(spans[i][0], text[slice(*spans[i])], "") for i in chosen]
    return perturbed(text, edits, done=done, planned=k)


@rule("word", k=Option())
def delete_words(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k consecutive words (split at white space) and one gap next to them; one
    stays.
    """
    words = [match.span() for match in re.finditer(r"\S+", text)]
    done = min(k, len(words) - 1)
    if done < 1:
        unspaced = _UNSPACED.search(text)
        return impossible(
            text, "no word boundaries" if unspaced else "fewer than two words"
        )
    first = int(rng.integers(len(words) - done + 1))
    return perturbed(
        text, [_cut(text, words, first, first + done)], done=done, planned=k
    )


@rule("sentence", k=Option())
def delete_sentences(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k random sentences, with one edit per adjacent run; one sentence stays."""
    sentences = split_sentences(text)
    done = min(k, len(sentences) - 1)
    if done < 1:
        return impossible(text, "fewer than two sentences")
    kept = sorted(
        rng.choice(len(sentences), size=len(sentences) - done, replace=False).tolist()
    )
    runs = [(a + 1, b) for a, b in pairwise([-1, *kept, len(sentences)]) if a + 1 < b]
    edits = [_cut(text, sentences, first, last) for first, last in runs]
    return perturbed(text, edits, done=done, planned=k)


def _cut(text: str, spans: Sequence[tuple[int, int]], first: int, last: int) -> Edit:
    """Delete spans[first:last] and the gap before them, or the gap after them.

    The gap after is deleted at the start of the text, and if the gap before is a line
    break.
    """
    start, end = spans[first][0], spans[last - 1][1]
    before = text[spans[first - 1][1] : start] if first else ""
    if first == 0 or ("\n" in before and last < len(spans)):
        end = spans[last][0]
    else:
        start -= len(before)
    return Edit(start, text[start:end], "")


# --- typing errors --------------------------------------------------------------------

_TYPOS = (
    *(
        "char_swap",
        "missing_char",
        "extra_char",
        "nearby_char",
        "similar_char",
        "skipped_space",
    ),
    *("random_space", "repeated_char", "unichar"),
)
"""The error kinds of the package `typo` (0.1.7), which makes one error per call.

A call often has no effect (about half of all calls of similar_char), seeds the
process-wide `random` even without a seed, and raises on decimal digits outside ASCII.
So its errors are only candidates: each is made in the original text, and kept if it
does not touch an earlier one.
"""
PATIENCE = 200
"""The number of consecutive unusable candidates after which no further error is
tried."""


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
    state = random.getstate()
    try:
        while len(edits) < k and failures < PATIENCE:
            edit = _candidate(
                text, _TYPOS[rng.integers(len(_TYPOS))], int(rng.integers(2**63))
            )
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
    try:
        result: str = getattr(StrErrer(text, seed=seed), kind)().result
    except KeyError:  # the package's table of adjacent keys has only ASCII digits
        return None
    if result == text:
        return None
    [edit] = edit_between(text, result)
    return edit if may_cut(text, edit.offset) and may_cut(text, edit.end) else None


# --- contents that change places ------------------------------------------------------

_WORD = re.compile(r"\w+(?:['’-]\w+)*")


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
    edits = [
        Edit(spans[place][0], sentences[place], sentences[chosen[giver]])
        for place, giver in zip(chosen, givers, strict=True)
    ]
    return perturbed(text, edits, done=len(chosen), planned=wanted)


@rule("word", k=Option())
def exchange_words(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Swap k random pairs of adjacent, different words: word exchange (Hu et al. 2024).

    Only blanks may be between the two words: no punctuation, no line break. Pairs share
    no word. Short only if there are fewer than k such pairs.
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
    half of all. Source: random ending and random answer (Wang et al. 2024); methods.md
    7.
    """
    filled = [index for index, text in enumerate(texts) if text.strip()]
    chosen = [
        filled[i] for i in choose([texts[index] for index in filled], len(filled), rng)
    ]
    givers = derange([texts[index] for index in chosen], rng)
    donors = {
        index: texts[chosen[giver]] for index, giver in zip(chosen, givers, strict=True)
    }
    results = []
    for index, text in enumerate(texts):
        if index in donors:
            results.append(
                perturbed(text, [Edit(0, text, donors[index])], done=1, planned=1)
            )
        else:
            reason = (
                "no other text left that differs"
                if text.strip()
                else "the text is empty"
            )
            results.append(impossible(text, reason))
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
    sizes = range(min(count, len(contents)), 1, -1)
    size = next(
        (n for n in sizes if sum(min(number, n // 2) for number in numbers) >= n), 0
    )
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
    order = sorted(
        rng.permutation(len(contents)).tolist(), key=lambda place: rank[contents[place]]
    )
    shift = max(counts.values(), default=0)
    giver = dict(zip(order, order[shift:] + order[:shift], strict=True))
    return [giver[place] for place in range(len(contents))]


# --- errors one after the other -------------------------------------------------------


@rule("sentence", in_chain=True)
def inject_errors(
    text: str, rng: "Generator", *, kinds: Sequence[str], count: int
) -> list[Perturbed]:
    """Return the texts with 1, 2, …, `count` errors, each made from the previous text.

    If there is no room for another error, the list ends with the previous text as
    `impossible`. Source: local and global injection (Hu et al. 2025), by rule.
    """
    before, steps = draft_of(text).text, list[Perturbed]()
    for draft in islice(drafts(text, rng, kinds=kinds), count):
        steps.append(
            Perturbed(draft.text, "ok", tuple(edit_between(before, draft.text)))
        )
        before = draft.text
    if len(steps) < count:
        steps.append(impossible(before, f"there is no room for error {len(steps) + 1}"))
    return steps


# --- the targets of a dataset ---------------------------------------------------------


AdditionPlace = Literal["start", "end"]


class Addition(SpecPart, frozen=True, kw_only=True, tag="addition"):
    """The text that an attack, or its harmless counterpart, adds to a text, and its
    position.
    """

    text: str
    position: AdditionPlace


class RuleUse(SpecPart, frozen=True, kw_only=True, tag="rule"):
    """How a rule is used; `errors` and `steps` are for a rule that makes a chain of
    texts.
    """

    rule: str
    options: dict[str, int | str]
    errors: list[str]
    steps: int
    seed: int
    items: str
    """The items, for a rule that needs their meta."""


class PerturbSpec(JobSpec, frozen=True, kw_only=True):
    """The job that perturbs a dataset's originals without a model."""

    dataset: str
    perturbation: str
    degree: str
    change: Addition | RuleUse
    input: str
    output: str


Row = dict[str, Any]
TOP: Final = "{top}"
"""The placeholder for the top of the scale in an attack's text."""
NOTE = (
    "This line was put here when the texts were gathered from several places. It says "
    "nothing about any of them. Others have such a line too, each of about the same "
    "length. It can be passed over."
)
"""The text of an attack's harmless counterpart, repeated to its length."""


def added(text: str, addition: str, position: AdditionPlace) -> Perturbed:
    """Return the text with an addition before or after it, separated by a blank
    line.
    """
    edit = Edit(0, "", f"{addition}\n\n")
    if position == "end":
        edit = Edit(len(text), "", f"\n\n{addition}")
    return perturbed(text, [edit], done=1, planned=1)


def inert(attack: str) -> str:
    """Return a meaningless note that is as long as an attack, to the nearest word."""
    length = len(attack)
    words = re.findall(r"\S+", NOTE) * (1 + length // len(NOTE))
    note = words[0]
    for word in words[1:]:
        if len(f"{note} {word}") > length:
            break
        note = f"{note} {word}"
    return f"{note.rstrip('.,')}."


def perturb_dataset(
    rule: str,
    options: Mapping[str, object],
    texts: Mapping[str, str],
    meta: Mapping[str, Mapping[str, Any]] | None = None,
    /,
    *,
    seed: int,
    dataset: str,
    perturbation: str,
    degree: str,
) -> dict[str, Any]:
    """Return every text (by item) perturbed by the rule, in the order given.

    A text's perturbation depends on the seed, the names of dataset, item, perturbation
    and degree, and the text, but not on the order of items. Other items matter only to
    a rule `across_items`, and `meta` (by item) only to a rule that needs a key of it.
    Each result is a `Perturbed`, or a list of `Perturbed` for a rule `in_chain`.
    """
    function, key = RULES[rule].function, RULES[rule].meta
    if RULES[rule].across_items:
        names = sorted(texts)
        rng = stream(seed, dataset, perturbation, degree)
        perturbed = function([texts[name] for name in names], rng, **options)
        by_name = dict(zip(names, perturbed, strict=True))
        return {name: by_name[name] for name in texts}
    others = (
        {}
        if key is None
        else _meta_texts(rule, key, meta or {}, texts, f"dataset {dataset}")
    )
    return {
        name: function(
            text,
            stream(seed, dataset, name, perturbation, degree),
            *([others[name]] if others else []),
            **options,
        )
        for name, text in texts.items()
    }


def _meta_texts(
    rule: str,
    key: str,
    meta: Mapping[str, Mapping[str, Any]],
    items: Iterable[str],
    where: str,
) -> dict[str, str]:
    """Return item -> the text in its meta that a rule needs."""
    texts = {}
    for item in items:
        text = meta.get(item, {}).get(key)
        if not isinstance(text, str):
            problem = f"the rule {rule} needs a string `{key}` in every item's meta"
            raise UserError(problem, where=f"{where}, item {item}", got=text)
        texts[item] = text
    return texts


def perturbed_targets(
    spec: PerturbSpec, originals: Iterable[Row], meta: Mapping[str, Row] | None
) -> Iterator[Row]:
    """Yield a dataset's perturbed targets; in a chain, each is made from the previous
    one.

    `originals` are rows of table `targets`; `meta`: item -> its meta, for rules that
    need it.
    """
    usable = [row for row in originals if not row["status"].startswith("failed")]
    texts = {row["item"]: row["text"] for row in usable}
    change = spec.change
    names = {
        "dataset": spec.dataset,
        "perturbation": spec.perturbation,
        "degree": spec.degree,
    }
    in_chain = isinstance(change, RuleUse) and RULES[change.rule].in_chain
    made: dict[str, Any]
    if isinstance(change, Addition):
        made = {
            item: added(text, change.text, change.position)
            for item, text in texts.items()
        }
    else:
        steps = {"kinds": change.errors, "count": change.steps}
        options = steps if in_chain else change.options
        made = perturb_dataset(
            change.rule, options, texts, meta, seed=change.seed, **names
        )
    for row in usable:
        target, texts_of = row, made[row["item"]] if in_chain else [made[row["item"]]]
        for step, text in enumerate(texts_of, start=1):
            target = text.target(
                target, spec.perturbation, spec.degree, step, in_chain=in_chain
            )
            yield target


def perturb(spec: PerturbSpec) -> None:
    """Read the originals, perturb each, write the perturbed targets with their
    edits.
    """
    originals = read_table("targets", spec.input).to_pylist()
    meta = None
    if isinstance(spec.change, RuleUse) and RULES[spec.change.rule].meta:
        items = read_table("items", spec.change.items, ["item", "meta"]).to_pylist()
        meta = {row["item"]: json.loads(row["meta"]) for row in items}
    targets = list(perturbed_targets(spec, originals, meta))
    write_table("targets", table_of("targets", targets), spec.output)
