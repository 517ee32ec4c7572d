"""Checks that a model's text has the requested kind of change (Hu et al. 2024, appendix
B).

Heuristics for English that use word forms, word lists and word counts: no model, no
download. They check the shape of a change, not its meaning; each docstring lists what
it cannot detect. A text that fails gets a reason on which a writer can act. Names are
words with a capital letter, so none are detected in lower-cased data.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from judgescope.data.sentences import (
    BE,
    CONNECTIVES,
    DO,
    NEGATIVE,
    POLARITY,
    SUBORDINATORS,
    frequency,
    is_content,
    is_name,
    is_number,
    is_participle,
    is_word,
    lemma,
    spelled_out,
    split_sentences,
    stem,
    tokens,
)
from judgescope.parsing.text import is_refusal
from judgescope.perturb.edits import Amount, Check

CLOSE = 2
"""The maximum number of words between two places of one change, within a sentence."""
MOST_GONE = 0.6
"""The maximum share of a text's words that may be removed; above it, it is another
text."""
RARER = 4
"""How many times rarer an uncommon phrase must be than the words that it replaces."""
KEPT = 0.75
"""The minimum share of its words that a sentence keeps in another form."""
SHORTER = 0.8
"""The maximum share of words that an abbreviated sentence keeps; it loses at least
`FEWER`."""
FEWER = 4
_ENDS = frozenset(".!?…")

Fault = str | None
KINDS: dict[str, Check] = {}
"""Kind of change -> its check, which returns the problem of a text, or None."""


def kind(name: str) -> Callable[[Check], Check]:
    """Register the decorated check of a kind of change."""

    def register(check: Check) -> Check:
        KINDS[name] = check
        return check

    return register


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, with single spaces between words."""
    return [" ".join(text[start:end].split()) for start, end in split_sentences(text)]


def changed_runs(
    old: Sequence[Hashable], new: Sequence[Hashable]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (start, end) in `old` and `new` of each run that differs, with the fewest
    items.
    """
    opcodes = Levenshtein.opcodes(old, new)
    for equal, group in groupby(
        opcodes, key=lambda operation: operation.tag == "equal"
    ):
        run = list(group)
        if not equal:
            yield run[0].src_start, run[-1].src_end, run[0].dest_start, run[-1].dest_end


# --- changes in places ----------------------------------------------------------------


class Token(NamedTuple):
    """A word or punctuation mark; `first`: whether it is the first word of its
    sentence.
    """

    text: str
    first: bool
    sentence: int


class Change(NamedTuple):
    """A place in a text before and after a change, and the old words of its
    sentence.
    """

    before: tuple[Token, ...]
    after: tuple[Token, ...]
    sentence: tuple[str, ...]

    @property
    def removed(self) -> list[str]:
        """Return the removed words."""
        return [token.text.lower() for token in self.before if is_word(token.text)]

    @property
    def added(self) -> list[str]:
        """Return the added words."""
        return [token.text.lower() for token in self.after if is_word(token.text)]


def changed_places(text: str, parent: str) -> list[Change]:
    """Return the places that differ, ignoring case, with the fewest words and marks.

    Places close together are one; a place where only punctuation differs is left out.
    """
    old, new = _tokens(parent), _tokens(text)
    runs: list[tuple[int, int, int, int]] = []
    for start, end, new_start, new_end in changed_runs(
        [token.text.lower() for token in old], [token.text.lower() for token in new]
    ):
        if runs and _is_one_change(old, runs[-1][:2], (start, end)):
            start, _, new_start, _ = runs.pop()
        runs.append((start, end, new_start, new_end))
    changed = [
        Change(
            tuple(old[start:end]),
            tuple(new[new_start:new_end]),
            _sentence_around(old, start),
        )
        for start, end, new_start, new_end in runs
    ]
    return [change for change in changed if change.removed or change.added]


def _is_one_change(
    old: list[Token], last: tuple[int, int], this: tuple[int, int]
) -> bool:
    """Return whether two places are close; if neither removes words, they must be
    closer.
    """
    between = old[last[1] : this[0]]
    inserted = last[0] == last[1] and this[0] == this[1]
    return len(between) <= CLOSE - inserted and not any(
        token.text in _ENDS for token in between
    )


def _sentence_around(old: list[Token], start: int) -> tuple[str, ...]:
    if not old:
        return ()
    number = old[min(start, len(old) - 1)].sentence
    return tuple(token.text for token in old if token.sentence == number)


def _tokens(text: str) -> list[Token]:
    marked = []
    for number, sentence in enumerate(sentences(text)):
        begun = False
        for token in tokens(spelled_out(sentence)):
            marked.append(Token(token, is_word(token) and not begun, number))
            begun = begun or is_word(token)
    return marked


def in_places(
    name: str, noun: str
) -> Callable[[Callable[[Change], Fault]], Callable[[Change], Fault]]:
    """Register a kind of change within sentences by a function that returns a place's
    problem.
    """

    def register(fault: Callable[[Change], Fault]) -> Callable[[Change], Fault]:
        @kind(name)
        def check(text: str, parent: str, amount: Amount) -> Fault:
            if len(sentences(text)) != len(sentences(parent)):
                return "a sentence is added or missing"
            changed = changed_places(text, parent)
            gone = sum(len(change.removed) for change in changed)
            if gone > MOST_GONE * sum(map(is_word, tokens(parent))):
                return "too many of the words are replaced"
            problem = next(filter(None, map(fault, changed)), None)
            different = {
                (tuple(change.removed), tuple(change.added)) for change in changed
            }
            return problem or _counted(len(different), noun, amount)

        return fault

    return register


def _counted(count: int, noun: str, amount: Amount) -> Fault:
    return amount.problem(count, noun) if count else f"it has no {noun}"


@in_places("repetition", "repetition")
def _repetition(change: Change) -> Fault:
    """Words are inserted, most of which the sentence already contains in some form.

    Not detected: a repetition only in other words.
    """
    new = _stems(change.added)
    if change.removed or not new:
        return "nothing but words that repeat others may be put in"
    again = sum(word in _stems(change.sentence) for word in new)
    return (
        None if 2 * again >= len(new) else "what is put in does not repeat its sentence"
    )


@in_places("improper_connective", "connective")
def _improper_connective(change: Change) -> Fault:
    """A connective is inserted or replaced. Not detected: whether it is improper."""
    old, new = " ".join(change.removed), " ".join(change.added)
    fits = new in CONNECTIVES and (not old or old in CONNECTIVES)
    return None if fits else "something else than a connective is changed"


@in_places("incorrect_verb_form", "incorrect verb form")
def _incorrect_verb_form(change: Change) -> Fault:
    """A word becomes another form of itself. Not detected: whether it is a verb, or now
    wrong.
    """
    old, new = change.removed, change.added
    same = len(old) == len(new) == 1 and lemma(old[0]) == lemma(new[0])
    return None if same else "something else than the form of one verb is changed"


@in_places("uncommon_phrase", "uncommon phrase")
def _uncommon_phrase(change: Change) -> Fault:
    """Up to five words replace up to four, and the rarest word is rarer than before.

    Not detected: whether the meaning is the same.
    """
    if not _replaces(change, old=4, new=5):
        return "something else than a short phrase is replaced"
    if _special(change.before) or _special(change.after):
        return "a name or a number is changed"
    rare = RARER * _rarest(change.added) <= _rarest(change.removed)
    return None if rare else "the new phrase is no less common than the old one"


@in_places("hypernym", "wider term")
def _hypernym(change: Change) -> Fault:
    """Up to three words replace at least as many, and none is rarer than the rarest old
    word.

    A wider term is usually a more common word. Not detected: whether it is wider.
    """
    if not _replaces(change, old=5, new=3) or len(change.added) > len(change.removed):
        return "something else than a short term is replaced by one that is no longer"
    if _special(change.after):
        return "the new term is a name or a number"
    common = _rarest(change.added) >= _rarest(change.removed)
    return None if common else "the new term is less common than the old one"


@in_places("complement", "complement")
def _complement(change: Change) -> Fault:
    """Words with new content are inserted. Not detected: whether the source supports
    them.
    """
    new = _stems(change.added)
    if change.removed:
        return "words are taken away"
    more = sum(word not in _stems(change.sentence) for word in new)
    return (
        None
        if more >= 2 and 2 * more > len(new)
        else "what is put in says too little that is new"
    )


@in_places("different_entity", "different entity")
def _different_entity(change: Change) -> Fault:
    """Names become other names, numbers other numbers. Not detected: names without a
    capital.
    """
    kinds = [
        {_entity(token) for token in part} - {""}
        for part in (change.before, change.after)
    ]
    same = kinds[0] == kinds[1] and len(kinds[0]) == 1 and "other" not in kinds[0]
    return (
        None
        if same
        else "something else than a name or number is replaced by one of its kind"
    )


@in_places("conflicting_fact", "conflicting fact")
def _conflicting_fact(change: Change) -> Fault:
    """A longer phrase becomes another with at least two new words that are not names.

    Not detected: whether the two phrases contradict each other.
    """
    if len(change.removed) < 2 or len(change.added) < 4:
        return "something else than a phrase of several words is replaced by another"
    old = _stems(change.sentence)
    words = [token.text for token in change.after if _entity(token) == "other"]
    facts = [word for word in words if stem(word) not in old]
    return None if len(facts) >= 2 else "the new phrase says too little that is new"


def _replaces(change: Change, *, old: int, new: int) -> bool:
    """Return whether a short phrase becomes another phrase, not only a form of
    itself.
    """
    before, after = change.removed, change.added
    lemmas = {lemma(word) for word in after if is_content(word)}
    short = 0 < len(before) <= old and 0 < len(after) <= new
    return short and bool(lemmas) and not lemmas <= {lemma(word) for word in before}


def _special(part: Iterable[Token]) -> bool:
    return any(_entity(token) in ("name", "number") for token in part)


def _entity(token: Token) -> str:
    """Return the kind of a token: a name, a number, something else, or nothing."""
    if is_number(token.text):
        return "number"
    if is_name(token.text, first=token.first):
        return "name"
    return "other" if is_content(token.text) else ""


def _rarest(words: Iterable[str]) -> int:
    return min((frequency(word) for word in words if is_content(word)), default=0)


def _stems(words: Iterable[str]) -> list[str]:
    return [stem(word) for word in words if is_content(word)]


# --- changed sentences ----------------------------------------------------------------


Words = Sequence[str]
SentenceFault = Callable[[Words, Words], Fault]
"""(words of a sentence before, and after) -> the problem of the change, or None."""


def in_sentences(
    name: str, noun: str, merging: SentenceFault | None = None
) -> Callable[[SentenceFault], SentenceFault]:
    """Register a kind of change of sentences by a function that returns a sentence's
    problem.

    All other sentences must be unchanged. With `merging`, two or more sentences may
    become one; `merging` returns the problem of that sentence.
    """

    def register(fault: SentenceFault) -> SentenceFault:
        @kind(name)
        def check(text: str, parent: str, amount: Amount) -> Fault:
            changed = rewritten(text, parent)
            for old, new in changed:
                fault_of = fault if len(old) == 1 else merging
                if len(new) != 1 or not old or fault_of is None:
                    return "a sentence is added or missing"
                if problem := fault_of(_words(" ".join(old)), _words(new[0])):
                    return problem
            return _counted(len(changed), noun, amount)

        return fault

    return register


def rewritten(text: str, parent: str) -> list[tuple[list[str], list[str]]]:
    """Return (sentences before, sentences after) of each run that differs; one may be
    empty.

    If there are fewer than before, each new sentence corresponds to the consecutive old
    ones that share more words with it than with the next new sentence.
    """
    old, new = sentences(parent), sentences(text)
    runs = []
    for start, end, new_start, new_end in changed_runs(old, new):
        runs += _aligned(old[start:end], new[new_start:new_end])
    return runs


def _aligned(old: list[str], new: list[str]) -> list[tuple[list[str], list[str]]]:
    if not new or len(old) < len(new):
        return [(old, new)]
    left, aligned = list(old), []
    for index, sentence in enumerate(new):
        after = new[index + 1 :]
        merged = [left.pop(0)]
        while len(left) > len(after) and (
            not after or _shared(left[0], sentence) >= _shared(left[0], after[0])
        ):
            merged.append(left.pop(0))
        aligned.append((merged, [sentence]))
    return aligned


def _shared(first: str, second: str) -> int:
    return len({*tokens(first.lower())} & {*tokens(second.lower())})


def _words(sentence: str) -> list[str]:
    return [token.lower() for token in tokens(spelled_out(sentence)) if is_word(token)]


@in_sentences("passive_voice", "sentence in the passive")
def _passive_voice(old: Words, new: Words) -> Fault:
    """A form of `be` with a participle is added; the sentence keeps its words, some
    moved.

    Not detected: a participle that is an adjective (`is tired`), who did it.
    """
    if _passives(new) <= _passives(old):
        return "no verb is put in the passive"
    if _count(new, SUBORDINATORS) > _count(old, SUBORDINATORS) or not _keeps(
        old, new, more=1
    ):
        return "more than the voice of a sentence is changed"
    return None if _moved(old, new) else "nothing has changed its place"


def _passives(words: Words) -> int:
    """Return the number of participles with a form of `be` up to three words before."""
    return sum(
        is_participle(word) and not BE.isdisjoint(words[max(0, index - 3) : index])
        for index, word in enumerate(words)
        if word not in BE
    )


def _moved(old: Words, new: Words) -> bool:
    """Return whether the shared words have another order."""
    before, after = (
        [lemma(word) for word in words if is_content(word)] for words in (old, new)
    )
    return [word for word in before if word in after] != [
        word for word in after if word in before
    ]


@in_sentences("inversion", "inversion")
def _inversion(old: Words, new: Words) -> Fault:
    """The same words in another order; only `do` may be added, which may change a
    verb's form.

    Not detected: whether the order is unusual.
    """
    before, after = (
        [lemma(word) for word in words if word not in DO] for words in (old, new)
    )
    if Counter(before) != Counter(after):
        return "the sentence does not have the same words"
    return "the words stand in the same order" if before == after else None


def _subordinated(old: Words, new: Words) -> Fault:
    if _count(new, SUBORDINATORS) <= _count(old, SUBORDINATORS):
        return "no clause is made to depend on another"
    stems = Counter(_stems(old))
    if stems.keys() & (Counter(_stems(new)) - stems).keys():
        return "something is said twice"
    return (
        None
        if _keeps(old, new, more=1)
        else "more than the form of a sentence is changed"
    )


@in_sentences("complex_sentence", "complex sentence", merging=_subordinated)
def _complex_sentence(old: Words, new: Words) -> Fault:
    """More clauses begin with words such as `which` and `because`; the content stays.

    Not detected: clauses without such a word.
    """
    if len(new) < len(old) + 2:
        return "no sentence is made clearly longer"
    return _subordinated(old, new)


@in_sentences("abbreviation", "abbreviated sentence")
def _abbreviation(old: Words, new: Words) -> Fault:
    """A sentence has clearly fewer words, almost all of them old ones.

    Not detected: whether the omitted words matter.
    """
    if len(new) > SHORTER * len(old) or len(old) - len(new) < FEWER:
        return "no sentence is made clearly shorter"
    kept = set(_stems(new))
    if len(kept) < 2:
        return "next to nothing is left of a sentence"
    more = kept - set(_stems(old))
    return None if len(more) <= 1 else "the shorter sentence says something new"


def _keeps(old: Words, new: Words, *, more: int) -> bool:
    """Return whether most content words are kept, and few are new."""
    before, after = (
        {lemma(word) for word in words if is_content(word)} for words in (old, new)
    )
    return len(before & after) >= KEPT * len(before) and len(after - before) <= more


def _count(words: Words, vocabulary: frozenset[str]) -> int:
    return sum(word in vocabulary for word in words)


# --- the last sentence ----------------------------------------------------------------


@kind("negation")
def _negation(text: str, parent: str, _: Amount) -> Fault:
    """Only the last sentence differs: words such as `not` are added or removed, the
    rest stays.

    `do` may come with them, a verb may change its form, and a connective may be put in
    front. Not detected: a denial by another word (`refused`).
    """
    old, new = sentences(parent), sentences(text)
    if not old or len(old) != len(new) or old[:-1] != new[:-1]:
        return "something else than the last sentence is changed"
    before, after = _words(old[-1]), _words(new[-1])
    if _without_polarity(before) != _without_polarity(after):
        return "more than what is affirmed or denied is changed"
    polar = [
        sorted(word for word in words if word in POLARITY) for words in (before, after)
    ]
    turned = polar[0] != polar[1] and any(NEGATIVE & set(words) for words in polar)
    return None if turned else "the last sentence is not turned into its contrary"


def _without_polarity(words: Words) -> list[str]:
    """Return the words that a negation does not change."""
    left_out = POLARITY | DO | CONNECTIVES | {"a", "an", "one"}
    return [lemma(word) for word in words if word not in left_out]


@kind("continuation")
def _continuation(text: str, parent: str, amount: Amount) -> Fault:
    """The text continues with new sentences.

    Not detected: whether the source supports them.
    """
    old, new = sentences(parent), sentences(text)
    more = new[len(old) :]
    if new[: len(old)] != old:
        return "the text does not stand before what is new"
    if any(map(is_refusal, more)):
        return "it is a refusal"
    if set(more) & set(old):
        return "a sentence stands there twice"
    return _counted(len(more), "new sentence", amount)
