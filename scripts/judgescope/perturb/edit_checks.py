"""Whether a made text has the kind of change that was asked for (paper 001, appendix B).

Rules of thumb for English by word forms, word lists and word counts: no model, nothing to
download. They see the shape of a change and not its meaning: each says what it cannot see. Where
a text cannot pass, the reason is told in words that a writer can act on. Names are words with a
capital: in lower-cased data none is seen.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from judgescope.parsing.text import is_refusal
from judgescope.perturb.differences import Place, Token, places, rewritten, sentences
from judgescope.perturb.edits import Amount, Check
from judgescope.perturb.english import (
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
    stem,
    tokens,
)

MOST_GONE = 0.6
"""Of a text's words: where more are gone it is another text."""
RARER = 4
"""So many times rarer than the words it replaces is an uncommon phrase."""
KEPT = 0.75
"""Of a sentence's words, where it only takes another form."""
SHORTER = 0.8
"""Of a sentence's words are left at most where it leaves something out, and `FEWER` are gone."""
FEWER = 4

Fault = str | None
Rewritten = Callable[[Sequence[str], Sequence[str]], Fault]
"""(words of a sentence before, and after) -> what is wrong with it."""


# --- changes in places --------------------------------------------------------------------------


def in_places(what: str, fault: Callable[[Place], Fault]) -> Check:
    """Return the check that a text has changes of one kind in places within its sentences."""

    def check(text: str, parent: str, amount: Amount) -> Fault:
        if len(sentences(text)) != len(sentences(parent)):
            return "a sentence is added or missing"
        found = places(text, parent)
        gone = sum(len(place.removed) for place in found)
        if gone > MOST_GONE * sum(map(is_word, tokens(parent))):
            return "too many of the words are replaced"
        problem = next(filter(None, map(fault, found)), None)
        different = {(tuple(place.removed), tuple(place.added)) for place in found}
        return problem or _counted(len(different), what, amount)

    return check


def _counted(found: int, what: str, amount: Amount) -> Fault:
    return amount.problem(found, what) if found else f"it has no {what}"


def _repetition(place: Place) -> Fault:
    """Words are put in, most of which their sentence has already, in this or another form.

    Not seen: a repetition in other words alone.
    """
    new = _stems(place.added)
    if place.removed or not new:
        return "nothing but words that repeat others may be put in"
    again = len([one for one in new if one in _stems(place.sentence)])
    return None if 2 * again >= len(new) else "what is put in does not repeat its sentence"


def _improper_connective(place: Place) -> Fault:
    """A connective is put in, or takes another's place. Not seen: whether it is improper."""
    old, new = " ".join(place.removed), " ".join(place.added)
    fits = new in CONNECTIVES and (not old or old in CONNECTIVES)
    return None if fits else "something else than a connective is changed"


def _incorrect_verb_form(place: Place) -> Fault:
    """A word becomes another form of itself. Not seen: whether it is a verb, or now wrong."""
    old, new = place.removed, place.added
    same = len(old) == len(new) == 1 and lemma(old[0]) == lemma(new[0])
    return None if same else "something else than the form of one verb is changed"


def _uncommon_phrase(place: Place) -> Fault:
    """Up to five words take the place of up to four, and the rarest is rarer than it was.

    Not seen: whether they mean the same.
    """
    if not _replaces(place, old=4, new=5):
        return "something else than a short phrase is replaced"
    if _special(place.before) or _special(place.after):
        return "a name or a number is changed"
    rare = RARER * _rarest(place.added) <= _rarest(place.removed)
    return None if rare else "the new phrase is no less common than the old one"


def _hypernym(place: Place) -> Fault:
    """Up to three words take the place of as many or more, none of them rarer than those were.

    The wider term is mostly the more common word. Not seen: whether it is wider.
    """
    if not _replaces(place, old=5, new=3) or len(place.added) > len(place.removed):
        return "something else than a short term is replaced by one that is no longer"
    if _special(place.after):
        return "the new term is a name or a number"
    common = _rarest(place.added) >= _rarest(place.removed)
    return None if common else "the new term is less common than the old one"


def _complement(place: Place) -> Fault:
    """Words are put in that say something new. Not seen: whether the source says it."""
    new = _stems(place.added)
    if place.removed:
        return "words are taken away"
    more = len([one for one in new if one not in _stems(place.sentence)])
    return (
        None if more >= 2 and 2 * more > len(new) else "what is put in says too little that is new"
    )


def _different_entity(place: Place) -> Fault:
    """Names become other names, numbers other numbers. Not seen: things without a capital."""
    kinds = [{_entity(token) for token in part} - {""} for part in (place.before, place.after)]
    same = kinds[0] == kinds[1] and len(kinds[0]) == 1 and "other" not in kinds[0]
    return None if same else "something else than a name or number is replaced by one of its kind"


def _conflicting_fact(place: Place) -> Fault:
    """A longer phrase becomes another with at least two new words that are no names.

    Not seen: whether the two exclude each other.
    """
    if len(place.removed) < 2 or len(place.added) < 4:
        return "something else than a phrase of several words is replaced by another"
    old = _stems(place.sentence)
    new = [one for one in place.after if is_content(one.text) and stem(one.text) not in old]
    told = [
        one for one in new if not is_name(one.text, first=one.first) and not is_number(one.text)
    ]
    return None if len(told) >= 2 else "the new phrase says too little that is new"


def _replaces(place: Place, *, old: int, new: int) -> bool:
    """Return whether a short phrase becomes another, and not only a form of itself."""
    before, after = place.removed, place.added
    told = [lemma(one) for one in after if is_content(one)]
    short = 0 < len(before) <= old and 0 < len(after) <= new
    return short and bool(told) and not set(told) <= {lemma(one) for one in before}


def _special(part: Iterable[Token]) -> bool:
    return any(_entity(token) in ("name", "number") for token in part)


def _entity(token: Token) -> str:
    """Return what a token stands for: a name, a number, something else, or nothing."""
    if is_number(token.text):
        return "number"
    if is_name(token.text, first=token.first):
        return "name"
    return "other" if is_content(token.text) else ""


def _rarest(words: Iterable[str]) -> int:
    return min((frequency(one) for one in words if is_content(one)), default=0)


def _stems(words: Iterable[str]) -> list[str]:
    return [stem(one) for one in words if is_content(one)]


# --- changed sentences --------------------------------------------------------------------------


def in_sentences(what: str, fault: Rewritten, merging: Rewritten | None = None) -> Check:
    """Return the check that sentences take another form, the others staying as they are.

    With `merging`, two or more may become one; it tells what is wrong with that one.
    """

    def check(text: str, parent: str, amount: Amount) -> Fault:
        found = rewritten(text, parent)
        for old, new in found:
            judge = fault if len(old) == 1 else merging
            if len(new) != 1 or not old or judge is None:
                return "a sentence is added or missing"
            problem = judge(_lower(" ".join(old)), _lower(new[0]))
            if problem:
                return problem
        return _counted(len(found), what, amount)

    return check


def _lower(sentence: str) -> list[str]:
    return [token.lower() for token in tokens(spelled_out(sentence)) if is_word(token)]


def _passive_voice(old: Sequence[str], new: Sequence[str]) -> Fault:
    """A form of `be` with a participle comes in, the sentence's words stay, some in other places.

    Not seen: a participle that is an adjective (`is tired`), who did it.
    """
    if _passives(new) <= _passives(old):
        return "no verb is put in the passive"
    if _count(new, SUBORDINATORS) > _count(old, SUBORDINATORS) or not _keeps(old, new, more=1):
        return "more than the voice of a sentence is changed"
    return None if _moved(old, new) else "nothing has changed its place"


def _passives(words: Sequence[str]) -> int:
    """Return how many participles have a form of `be` up to three words before them."""
    return sum(
        is_participle(word) and not BE.isdisjoint(words[max(0, place - 3) : place])
        for place, word in enumerate(words)
        if word not in BE
    )


def _moved(old: Sequence[str], new: Sequence[str]) -> bool:
    """Return whether words that both have stand in another order."""
    one, other = ([lemma(word) for word in words if is_content(word)] for words in (old, new))
    return [word for word in one if word in other] != [word for word in other if word in one]


def _inversion(old: Sequence[str], new: Sequence[str]) -> Fault:
    """The same words in another order; only `do` may come in, and a verb follow it.

    Not seen: whether the order is an unusual one.
    """
    one, other = ([lemma(word) for word in words if word not in DO] for words in (old, new))
    if Counter(one) != Counter(other):
        return "the sentence does not have the same words"
    return "the words stand in the same order" if one == other else None


def _complex_sentence(old: Sequence[str], new: Sequence[str]) -> Fault:
    """More clauses hang on words such as `which` and `because`; what is said stays.

    Not seen: clauses without such a word.
    """
    if len(new) < len(old) + 2:
        return "no sentence is made clearly longer"
    return _subordinated(old, new)


def _subordinated(old: Sequence[str], new: Sequence[str]) -> Fault:
    if _count(new, SUBORDINATORS) <= _count(old, SUBORDINATORS):
        return "no clause is made to depend on another"
    said = Counter(_stems(old))
    if said.keys() & (Counter(_stems(new)) - said).keys():
        return "something is said twice"
    return None if _keeps(old, new, more=1) else "more than the form of a sentence is changed"


def _abbreviation(old: Sequence[str], new: Sequence[str]) -> Fault:
    """A sentence is said in clearly fewer words, almost all of which it had.

    Not seen: whether what is left out matters.
    """
    if len(new) > SHORTER * len(old) or len(old) - len(new) < FEWER:
        return "no sentence is made clearly shorter"
    told = set(_stems(new))
    if len(told) < 2:
        return "next to nothing is left of a sentence"
    more = told - set(_stems(old))
    return None if len(more) <= 1 else "the shorter sentence says something new"


def _keeps(old: Sequence[str], new: Sequence[str], *, more: int) -> bool:
    """Return whether most words that say something are still there, and few others."""
    one, other = ({lemma(word) for word in words if is_content(word)} for words in (old, new))
    return len(one & other) >= KEPT * len(one) and len(other - one) <= more


def _count(words: Sequence[str], of: frozenset[str]) -> int:
    return sum(word in of for word in words)


# --- the last sentence --------------------------------------------------------------------------


def _negation(text: str, parent: str, _: Amount) -> Fault:
    """Only the last sentence differs: words such as `not` come or go, the others stay.

    `do` may come and go with them, a verb may change its form, and a connective may lead in. Not
    seen: a denial by another word (`refused`).
    """
    old, new = sentences(parent), sentences(text)
    if not old or len(old) != len(new) or old[:-1] != new[:-1]:
        return "something else than the last sentence is changed"
    before, after = (_lower(each[-1]) for each in (old, new))
    rest = [_unsaid(words) for words in (before, after)]
    if rest[0] != rest[1]:
        return "more than what is affirmed or denied is changed"
    said = [sorted(word for word in words if word in POLARITY) for words in (before, after)]
    turned = said[0] != said[1] and any(NEGATIVE & set(words) for words in said)
    return None if turned else "the last sentence is not turned into its contrary"


def _unsaid(words: Sequence[str]) -> list[str]:
    """Return the words that a denial leaves as they are."""
    left_out = POLARITY | DO | CONNECTIVES | {"a", "an", "one"}
    return [lemma(word) for word in words if word not in left_out]


def _continuation(text: str, parent: str, amount: Amount) -> Fault:
    """The text goes on after its end, in sentences that it does not have yet.

    Not seen: whether the source says it.
    """
    old, new = sentences(parent), sentences(text)
    more = new[len(old) :]
    if new[: len(old)] != old:
        return "the text does not stand before what is new"
    if any(is_refusal(one) for one in more):
        return "it is a refusal"
    if set(more) & set(old):
        return "a sentence stands there twice"
    return _counted(len(more), "new sentence", amount)


KINDS: dict[str, Check] = {
    "repetition": in_places("repetition", _repetition),
    "passive_voice": in_sentences("sentence in the passive", _passive_voice),
    "inversion": in_sentences("inversion", _inversion),
    "improper_connective": in_places("connective", _improper_connective),
    "incorrect_verb_form": in_places("incorrect verb form", _incorrect_verb_form),
    "uncommon_phrase": in_places("uncommon phrase", _uncommon_phrase),
    "complex_sentence": in_sentences("complex sentence", _complex_sentence, _subordinated),
    "abbreviation": in_sentences("abbreviated sentence", _abbreviation),
    "hypernym": in_places("wider term", _hypernym),
    "complement": in_places("complement", _complement),
    "continuation": _continuation,
    "different_entity": in_places("different entity", _different_entity),
    "conflicting_fact": in_places("conflicting fact", _conflicting_fact),
    "negation": _negation,
}
"""Check -> what is wrong with a text that should have this kind of change, or None."""
