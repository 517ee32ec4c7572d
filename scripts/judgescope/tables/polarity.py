"""Whether a word praises a text or finds a fault, as a label or in a header.

A negation reverses what it stands before: `not good` is bad, `no errors` is good.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from judgescope.tables.words import (
    ALL_LANGUAGES,
    classes_of,
    folded,
    known_words,
    split_header,
)

NEGATIONS: Final = frozenset(
    folded(word)
    for word in {
        "not",
        "no",
        "non",
        "without",
        "never",
        "isn",
        "nicht",
        "kein",
        "keine",
        "keinen",
        "ohne",
        "pas",
        "sans",
        "aucun",
        "aucune",
        "sin",
        "ningún",
        "ninguna",
        "senza",
        "nessun",
        "nessuna",
        "não",
        "sem",
        "nenhum",
        "nenhuma",
        "niet",
        "geen",
        "zonder",
        "nie",
        "bez",
        "değil",
        "не",
        "нет",
        "без",
        "غير",
        "ليس",
        "بدون",
        "لا",
        "不",
        "没有",
        "無",
        "无",
        "没",
        "未",
        "非",
        "不是",
    }
)
"""Words, and Chinese and Japanese characters, that negate what follows them."""
_ANSWERS: Final = """\
yes no true false y n t f 1 0 ja nein wahr falsch oui non vrai faux sí si no sim não sì
vero falso nee tak nie evet hayır да нет 是 否 有 无 はい いいえ 예 네 아니오 아니요
نعم لا
"""
ANSWERS: Final = frozenset(map(folded, _ANSWERS.split()))
"""Words for yes and no, or true and false."""
OF_FAULTS: Final = frozenset({"clear", "factual"})
"""Words of praise which say what a fault is about: `factual error`."""
PREFIXES: Final = ("un", "in", "im", "ir", "il", "dis", "mis", "non", "nie", "не")
"""Beginnings of a word that negate the rest of it."""
EAST_ASIAN_PREFIXES: Final = ("不", "非", "未", "无", "無", "没")
"""Characters that negate the rest of a word."""


@cache
def listed(kind: str) -> frozenset[str]:
    """The words of a class of the vocabulary, in all languages."""
    words = set()
    for word, meanings in known_words().items():
        if any(known.kind == kind for known in meanings):
            words.add(word)
    return frozenset(words)


def goodness(label: str) -> int:
    """1 for a label that praises, -1 for one that finds fault, 0 for others.

    >>> goodness("good"), goodness("not ok"), goodness("no errors"), goodness("cat")
    (1, -1, 1, 0)
    >>> goodness("unhelpful"), goodness("minor errors"), goodness("no")
    (-1, -1, -1)
    """
    if label in listed("good"):
        return 1
    if label in listed("bad"):
        return -1
    words = [word for word in split_header(label) if not word.isdigit()]
    if not words:
        # A label such as ✅ has no letters.
        signs = []
        for sign in label:
            if not sign.isspace():
                signs.append(sign)
        total = sum(_sign_of(sign) for sign in signs)
        return (total > 0) - (total < 0)
    for position, word in enumerate(words):
        if word in NEGATIONS and position + 1 < len(words):
            total = _praise(words[:position]) - _praise(words[position + 1 :])
            return (total > 0) - (total < 0)
    return _praise(words)


def _praise(words: Sequence[str]) -> int:
    """1 for words that praise, -1 for those that name a fault, such as `factual error`,
    or find fault; 0 for others.
    """
    signs = [_sign_of(word) for word in words]
    for word, sign in zip(words, signs, strict=True):
        if sign < 0 and not listed("fault").isdisjoint({word, word.removesuffix("s")}):
            return -1
    total = sum(signs)
    return (total > 0) - (total < 0)


def _sign_of(word: str) -> int:
    """1 for a good word, -1 for a bad one or one for a fault, 0 for others."""
    for form in (word, word.removesuffix("s")):
        is_good = form in listed("good")
        is_bad = form in listed("bad") or form in listed("fault")
        if is_good != is_bad:
            return 1 if is_good else -1
    for prefix in (*PREFIXES, *EAST_ASIAN_PREFIXES):
        rest = word.removeprefix(prefix)
        if rest == word:
            continue
        if rest in listed("good"):
            return -1
        if rest in listed("bad") or rest in listed("fault"):
            return 1
    return 0


def negates(label: str, other: str) -> bool:
    """Whether a label is another one's negation: `not met`, `unsafe`, `unresolved`.

    >>> negates("not met", "met"), negates("unsafe", "safe"), negates("bad", "good")
    (True, True, False)
    """
    words = label.replace("-", " ").split()
    others = other.replace("-", " ").split()
    if len(words) == len(others) + 1 and folded(words[0]) in NEGATIONS:
        return words[1:] == others
    joined = label.replace("-", "").replace(" ", "")
    stem = "".join(others)
    # A prefix negates a word of at least so many letters.
    fewest_letters = 3
    for prefix in (*PREFIXES, *EAST_ASIAN_PREFIXES):
        long_enough = len(stem) >= fewest_letters or not prefix.isascii()
        if joined == prefix + stem and long_enough:
            return True
    return False


def names_fault(header: str) -> bool:
    """Whether a header names a fault, such as `is_toxic`, so that yes is the worse
    answer.

    A header that denies the fault, or praises as well, asks something else:
    `free of errors`, `hallucination_free`, `issue_resolved`.

    >>> names_fault("is_toxic_human"), names_fault("free_of_errors")
    (True, False)
    """
    if "fault" not in classes_of(header, ALL_LANGUAGES):
        return False
    words = split_header(header)
    if _denies(words):
        return False
    merits = []
    for word in words:
        if _sign_of(word) > 0 and word not in ANSWERS:
            merits.append(word)
    return all(word in OF_FAULTS for word in merits)


def _denies(words: Sequence[str]) -> bool:
    """Whether a fault is denied: by `no` before it, or by `free` anywhere."""
    if {"free", "frei", "avoid", "avoids", "lack", "lacks", "absence"} & set(words):
        return True
    for before, word in pairwise(words):
        if before in NEGATIONS and "fault" in classes_of(word, ALL_LANGUAGES):
            return True
    return False


def praises(header: str) -> bool:
    """Whether a header names something good, so that yes is the better answer.

    >>> praises("is_correct_human"), praises("mentions_address")
    (True, False)
    """
    # 是 and 否 ask in Chinese, as `is it` does.
    words = []
    for word in split_header(header):
        if word not in ANSWERS:
            words.append(word)
    return any(_sign_of(word) > 0 or word in listed("merit") for word in words)
