"""Checks that a model's text has the requested kind of change (Hu et al. 2024, appendix
B).

Heuristics for English that use word forms, word lists and word counts: no model, no
download. They check the shape of a change, not its meaning; each docstring lists what
it cannot detect. A text that fails gets a reason on which a writer can act. Names are
words with a capital letter, so none are detected in lower-cased data.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from judgescope.core.words import ENGLISH
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

Problem = str | None


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, with single spaces between words."""
    return [" ".join(text[start:end].split()) for start, end in split_sentences(text)]


def changed_runs(
    old: Sequence[Hashable], new: Sequence[Hashable]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (start, end) in `old` and `new` of each run that differs, with the fewest
    items.
    """
    from rapidfuzz.distance import Levenshtein  # here: `audit` runs without

    opcodes = Levenshtein.opcodes(old, new)
    for equal, group in groupby(opcodes, key=lambda opcode: opcode.tag == "equal"):
        if not equal:
            run = list(group)
            first = run[0]
            last = run[-1]
            yield first.src_start, last.src_end, first.dest_start, last.dest_end


# --- changes in places ----------------------------------------------------------------


class Token(NamedTuple):
    """A word or punctuation mark; `first`: whether it is the first word of its
    sentence.
    """

    text: str
    first: bool
    sentence: int


class ChangedPlace(NamedTuple):
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


def changed_places(text: str, parent: str) -> list[ChangedPlace]:
    """Return the places that differ, ignoring case, with the fewest words and marks.

    Places close together are one; a place where only punctuation differs is left out.
    """
    old = _tokens(parent)
    new = _tokens(text)
    old_words = [token.text.lower() for token in old]
    new_words = [token.text.lower() for token in new]
    runs: list[tuple[int, int, int, int]] = []
    for start, end, new_start, new_end in changed_runs(old_words, new_words):
        if runs and _is_one_change(old, runs[-1][:2], (start, end)):
            start, _, new_start, _ = runs.pop()
        runs.append((start, end, new_start, new_end))
    changed = list[ChangedPlace]()
    for start, end, new_start, new_end in runs:
        before = tuple(old[start:end])
        after = tuple(new[new_start:new_end])
        change = ChangedPlace(before, after, _sentence_around(old, start))
        if change.removed or change.added:
            changed.append(change)
    return changed


def _is_one_change(
    old: list[Token], last: tuple[int, int], this: tuple[int, int]
) -> bool:
    """Return whether two places are close; if neither removes words, they must be
    closer.
    """
    between = old[last[1] : this[0]]
    inserted = last[0] == last[1] and this[0] == this[1]
    if any(token.text in {".", "!", "?", "…"} for token in between):
        return False
    return len(between) <= 2 - inserted


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


def _within_sentences(
    problem_of: Callable[[ChangedPlace], Problem], noun: str
) -> Check:
    """A check of changes within sentences, by a function that returns a place's
    problem.
    """
    most_removed = 0.6  # of the words; above it, it is another text

    def check(text: str, parent: str, amount: Amount) -> Problem:
        if len(sentences(text)) != len(sentences(parent)):
            return "a sentence is added or missing"
        changed = changed_places(text, parent)
        removed = sum(len(change.removed) for change in changed)
        if removed > most_removed * sum(map(is_word, tokens(parent))):
            return "too many of the words are replaced"
        different = set[tuple[tuple[str, ...], tuple[str, ...]]]()
        for change in changed:
            problem = problem_of(change)
            if problem:
                return problem
            different.add((tuple(change.removed), tuple(change.added)))
        return _counted(len(different), noun, amount)

    return check


def _counted(count: int, noun: str, amount: Amount) -> Problem:
    if count:
        return amount.problem(count, noun)
    return f"it has no {noun}"


def _repetition(change: ChangedPlace) -> Problem:
    """Words are inserted, most of which the sentence already contains in some form.

    Not detected: a repetition only in other words.
    """
    new = _stems(change.added)
    if change.removed or not new:
        return "nothing but words that repeat others may be put in"
    old = _stems(change.sentence)
    again = sum(word in old for word in new)
    if 2 * again < len(new):
        return "what is put in does not repeat its sentence"
    return None


def _improper_connective(change: ChangedPlace) -> Problem:
    """A connective is inserted or replaced. Not detected: whether it is improper."""
    old = " ".join(change.removed)
    new = " ".join(change.added)
    fits = new in CONNECTIVES and (not old or old in CONNECTIVES)
    if fits:
        return None
    return "something else than a connective is changed"


def _incorrect_verb_form(change: ChangedPlace) -> Problem:
    """A word becomes another form of itself. Not detected: whether it is a verb, or now
    wrong.
    """
    old = change.removed
    new = change.added
    same = len(old) == len(new) == 1 and lemma(old[0]) == lemma(new[0])
    if same:
        return None
    return "something else than the form of one verb is changed"


def _uncommon_phrase(change: ChangedPlace) -> Problem:
    """Up to five words replace up to four, and the rarest word is rarer than before.

    Not detected: whether the meaning is the same.
    """
    if not _replaces(change, old=4, new=5):
        return "something else than a short phrase is replaced"
    if _special(change.before) or _special(change.after):
        return "a name or a number is changed"
    rare = 4 * _rarest(change.added) <= _rarest(change.removed)
    if rare:
        return None
    return "the new phrase is no less common than the old one"


def _hypernym(change: ChangedPlace) -> Problem:
    """Up to three words replace at least as many, and none is rarer than the rarest old
    word.

    A wider term is usually a more common word. Not detected: whether it is wider.
    """
    if not _replaces(change, old=5, new=3) or len(change.added) > len(change.removed):
        return "something else than a short term is replaced by one that is no longer"
    if _special(change.after):
        return "the new term is a name or a number"
    common = _rarest(change.added) >= _rarest(change.removed)
    if common:
        return None
    return "the new term is less common than the old one"


def _complement(change: ChangedPlace) -> Problem:
    """Words with new content are inserted. Not detected: whether the source supports
    them.
    """
    new = _stems(change.added)
    if change.removed:
        return "words are taken away"
    old = _stems(change.sentence)
    more = sum(word not in old for word in new)
    if more < 2 or 2 * more <= len(new):
        return "what is put in says too little that is new"
    return None


def _different_entity(change: ChangedPlace) -> Problem:
    """Names become other names, numbers other numbers. Not detected: names without a
    capital.
    """
    before = {_entity(token) for token in change.before} - {""}
    after = {_entity(token) for token in change.after} - {""}
    if before == after and before in ({"name"}, {"number"}):
        return None
    return "something else than a name or number is replaced by one of its kind"


def _conflicting_fact(change: ChangedPlace) -> Problem:
    """A longer phrase becomes another with at least two new words that are not names.

    Not detected: whether the two phrases contradict each other.
    """
    if len(change.removed) < 2 or len(change.added) < 4:
        return "something else than a phrase of several words is replaced by another"
    old = _stems(change.sentence)
    facts = list[str]()
    for token in change.after:
        if _entity(token) == "other" and stem(token.text) not in old:
            facts.append(token.text)
    if len(facts) >= 2:
        return None
    return "the new phrase says too little that is new"


def _replaces(change: ChangedPlace, *, old: int, new: int) -> bool:
    """Return whether a short phrase becomes another phrase, not only a form of
    itself.
    """
    before = change.removed
    after = change.added
    if not 0 < len(before) <= old or not 0 < len(after) <= new:
        return False
    lemmas = set(_lemmas(after))
    if not lemmas:
        return False
    return not lemmas <= {lemma(word) for word in before}


def _special(part: Iterable[Token]) -> bool:
    return any(_entity(token) in ("name", "number") for token in part)


def _entity(token: Token) -> str:
    """Return the kind of a token: a name, a number, something else, or nothing."""
    if is_number(token.text):
        return "number"
    if is_name(token.text, first=token.first):
        return "name"
    if is_content(token.text):
        return "other"
    return ""


def _rarest(words: Iterable[str]) -> int:
    return min((frequency(word) for word in words if is_content(word)), default=0)


def _lemmas(words: Iterable[str]) -> list[str]:
    return [lemma(word) for word in words if is_content(word)]


def _stems(words: Iterable[str]) -> list[str]:
    return [stem(word) for word in words if is_content(word)]


# --- changed sentences ----------------------------------------------------------------


SentenceWords = Sequence[str]
SentenceFault = Callable[[SentenceWords, SentenceWords], Problem]
"""(words of a sentence before, and after) -> the problem of the change, or None."""


def _of_sentences(
    fault: SentenceFault, noun: str, merging: SentenceFault | None = None
) -> Check:
    """A check of changed sentences, by a function that returns a sentence's problem.

    All other sentences must be unchanged. With `merging`, two or more sentences may
    become one; `merging` returns the problem of that sentence.
    """

    def check(text: str, parent: str, amount: Amount) -> Problem:
        changed = rewritten(text, parent)
        for old, new in changed:
            fault_of = fault if len(old) == 1 else merging
            if len(new) != 1 or not old or fault_of is None:
                return "a sentence is added or missing"
            if problem := fault_of(_words(" ".join(old)), _words(new[0])):
                return problem
        return _counted(len(changed), noun, amount)

    return check


def rewritten(text: str, parent: str) -> list[tuple[list[str], list[str]]]:
    """Return (sentences before, sentences after) of each run that differs; one may be
    empty.

    If there are fewer than before, each new sentence corresponds to the consecutive old
    ones that share more words with it than with the next new sentence.
    """
    old = sentences(parent)
    new = sentences(text)
    runs = []
    for start, end, new_start, new_end in changed_runs(old, new):
        runs += _aligned(old[start:end], new[new_start:new_end])
    return runs


def _aligned(old: list[str], new: list[str]) -> list[tuple[list[str], list[str]]]:
    if not new or len(old) < len(new):
        return [(old, new)]
    left = list(old)
    aligned = []
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


def _passive_voice(old: SentenceWords, new: SentenceWords) -> Problem:
    """A form of `be` with a participle is added; the sentence keeps its words, some
    moved.

    Not detected: a participle that is an adjective (`is tired`), who did it.
    """
    if _passives(new) <= _passives(old):
        return "no verb is put in the passive"
    more_clauses = _count(new, SUBORDINATORS) > _count(old, SUBORDINATORS)
    if more_clauses or not _keeps(old, new, more=1):
        return "more than the voice of a sentence is changed"
    if _moved(old, new):
        return None
    return "nothing has changed its place"


def _passives(words: SentenceWords) -> int:
    """Return the number of participles with a form of `be` up to three words before."""
    passives = 0
    for index, word in enumerate(words):
        before = words[max(0, index - 3) : index]
        if word not in BE and is_participle(word) and not BE.isdisjoint(before):
            passives += 1
    return passives


def _moved(old: SentenceWords, new: SentenceWords) -> bool:
    """Return whether the shared words have another order."""
    before = _lemmas(old)
    after = _lemmas(new)
    shared_before = [word for word in before if word in after]
    shared_after = [word for word in after if word in before]
    return shared_before != shared_after


def _inversion(old: SentenceWords, new: SentenceWords) -> Problem:
    """The same words in another order; only `do` may be added, which may change a
    verb's form.

    Not detected: whether the order is unusual.
    """
    before = []
    for word in old:
        if word not in DO:
            before.append(lemma(word))
    after = [lemma(word) for word in new if word not in DO]
    if Counter(before) != Counter(after):
        return "the sentence does not have the same words"
    if before == after:
        return "the words stand in the same order"
    return None


def _subordinated(old: SentenceWords, new: SentenceWords) -> Problem:
    if _count(new, SUBORDINATORS) <= _count(old, SUBORDINATORS):
        return "no clause is made to depend on another"
    stems = Counter(_stems(old))
    if stems.keys() & (Counter(_stems(new)) - stems).keys():
        return "something is said twice"
    if not _keeps(old, new, more=1):
        return "more than the form of a sentence is changed"
    return None


def _complex_sentence(old: SentenceWords, new: SentenceWords) -> Problem:
    """More clauses begin with words such as `which` and `because`; the content stays.

    Not detected: clauses without such a word.
    """
    if len(new) < len(old) + 2:
        return "no sentence is made clearly longer"
    return _subordinated(old, new)


def _abbreviation(old: SentenceWords, new: SentenceWords) -> Problem:
    """A sentence has clearly fewer words, almost all of them old ones.

    Not detected: whether the omitted words matter.
    """
    if len(new) > 0.8 * len(old) or len(old) - len(new) < 4:
        return "no sentence is made clearly shorter"
    kept = set(_stems(new))
    if len(kept) < 2:
        return "next to nothing is left of a sentence"
    more = kept - set(_stems(old))
    if len(more) <= 1:
        return None
    return "the shorter sentence says something new"


def _keeps(old: SentenceWords, new: SentenceWords, *, more: int) -> bool:
    """Return whether most content words are kept, and few are new."""
    before = set(_lemmas(old))
    after = set(_lemmas(new))
    return len(before & after) >= 0.75 * len(before) and len(after - before) <= more


def _count(words: SentenceWords, vocabulary: frozenset[str]) -> int:
    return sum(word in vocabulary for word in words)


# --- the last sentence ----------------------------------------------------------------


def _negation(text: str, parent: str, _: Amount) -> Problem:
    """Only the last sentence differs: words such as `not` are added or removed, the
    rest stays.

    `do` may come with them, a verb may change its form, and a connective may be put in
    front. Not detected: a denial by another word (`refused`).
    """
    old = sentences(parent)
    new = sentences(text)
    if not old or len(old) != len(new) or old[:-1] != new[:-1]:
        return "something else than the last sentence is changed"
    before = _words(old[-1])
    after = _words(new[-1])
    if _without_polarity(before) != _without_polarity(after):
        return "more than what is affirmed or denied is changed"
    polar_before = sorted(word for word in before if word in POLARITY)
    polar_after = sorted(word for word in after if word in POLARITY)
    negated = NEGATIVE & {*polar_before, *polar_after}
    if polar_before == polar_after or not negated:
        return "the last sentence is not turned into its contrary"
    return None


def _without_polarity(words: SentenceWords) -> list[str]:
    """Return the words that a negation does not change."""
    left_out = POLARITY | DO | CONNECTIVES | {"a", "an", "one"}
    return [lemma(word) for word in words if word not in left_out]


def _continuation(text: str, parent: str, amount: Amount) -> Problem:
    """The text continues with new sentences.

    Not detected: whether the source supports them.
    """
    old = sentences(parent)
    new = sentences(text)
    more = new[len(old) :]
    if new[: len(old)] != old:
        return "the text does not stand before what is new"
    if any(map(is_refusal, more)):
        return "it is a refusal"
    if set(more) & set(old):
        return "a sentence stands there twice"
    return _counted(len(more), "new sentence", amount)


# --- the checks by name ---------------------------------------------------------------


KINDS: Final[Mapping[str, Check]] = {
    "repetition": _within_sentences(_repetition, "repetition"),
    "improper_connective": _within_sentences(_improper_connective, "connective"),
    "incorrect_verb_form": _within_sentences(
        _incorrect_verb_form, "incorrect verb form"
    ),
    "uncommon_phrase": _within_sentences(_uncommon_phrase, "uncommon phrase"),
    "hypernym": _within_sentences(_hypernym, "wider term"),
    "complement": _within_sentences(_complement, "complement"),
    "different_entity": _within_sentences(_different_entity, "different entity"),
    "conflicting_fact": _within_sentences(_conflicting_fact, "conflicting fact"),
    "passive_voice": _of_sentences(_passive_voice, "sentence in the passive"),
    "inversion": _of_sentences(_inversion, "inversion"),
    "complex_sentence": _of_sentences(
        _complex_sentence, "complex sentence", _subordinated
    ),
    "abbreviation": _of_sentences(_abbreviation, "abbreviated sentence"),
    "negation": _negation,
    "continuation": _continuation,
}
"""Kind of change -> its check, which returns the problem of a text, or None."""
LANGUAGES: Final[Mapping[str, frozenset[str]]] = dict.fromkeys(
    KINDS, frozenset((ENGLISH,))
)
"""Kind of change -> the languages in which its check holds.

These checks know English words and forms: a right German negation would be refused.
"""
