"""What the words of a header say: people, a machine, a rating, a number that is none …

A header is split into words at spaces, signs, digits and capitals; Chinese and Japanese
are searched for the longest known words. Words of another language than English count
only if two headers of the table have words of that language: `note` is a mark in French
and German, and a remark in English.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

from judgescope.core.names import without_accents
from judgescope.tables.vocabulary import TABLE

RATING_CLASSES: Final = frozenset({"person", "machine", "measure", "rating", "outcome"})
"""Classes of the words in headers of ratings and scores."""
PLAIN: Final[Mapping[str, str]] = {
    "person": "human",
    "machine": "judge",
    "rating": "score",
    "outcome": "verdict",
    "text": "answer",
    "source": "question",
    "reference": "reference",
    "system": "system",
    "number": "number",
    "confidence": "confidence",
    "remark": "remark",
    "choice": "choice",
}
"""Class -> an English word of it, which stands for its words in other languages."""
ROLE_NOUNS: Final = frozenset(
    {
        "annotation",
        "annotator",
        "assessor",
        "coder",
        "critic",
        "evaluator",
        "grader",
        "judge",
        "labeler",
        "labeller",
        "metric",
        "rater",
        "reviewer",
        "scorer",
    }
)
"""Nouns for whoever rates, a person or a model: the other words of a header decide."""
ENGLISH: Final = "en"
LATIN: Final = frozenset({"en", "de", "fr", "es", "it", "nl", "pl", "pt", "tr"})
"""Languages whose words another language may have with another meaning."""
ALL_LANGUAGES: Final = LATIN | {"zh", "ja", "ko", "ru", "ar"}


@dataclass(frozen=True)
class KnownWord:
    """A word of the vocabulary."""

    kind: str
    language: str
    is_strong: bool


@cache
def known_words() -> dict[str, list[KnownWord]]:
    """Word (folded) -> what it says, in each language."""
    words: dict[str, list[KnownWord]] = {}
    for line in TABLE.splitlines():
        head, _, listed = line.partition(":")
        kind, language, strength = head.split()
        for word in listed.split():
            known = KnownWord(kind, language, strength == "strong")
            words.setdefault(folded(word), []).append(known)
    return words


def folded(word: str) -> str:
    """A word in lower case without accents."""
    return without_accents(word).casefold()


def is_total(cell: str) -> bool:
    """Whether a cell names averages or sums: Average, `Mean (SD)`, Durchschnitt, 合计.

    >>> is_total("Overall average"), is_total("N = 50"), is_total("Total recall")
    (True, True, False)
    """
    if cell.strip() in {"Ø", "Σ", "∅", "μ"}:
        return True
    words = [word for word in split_header(cell) if not word.isdigit()]
    spread = {"sd", "std", "stdev", "min", "max", "n", "count", "dev", "deviation"}
    spread |= {"agreement", "correlation", "iaa", "variance"}
    beside = {"all", "overall", "grand", "row", "score", "scores", "rating", "value"}
    total = {word for word, known in known_words().items() if _has(known, "total")}
    says_so = any(word in total | spread | {"overall"} for word in words)
    allowed = total | spread | beside
    return says_so and len(words) <= 3 and all(word in allowed for word in words)


def names_total(cell: str) -> bool:
    """Whether a short cell has a word for averages or sums beside other words.

    >>> names_total("Bot A average"), names_total("Bot A")
    (True, False)
    """
    words = split_header(cell)
    total = {word for word, known in known_words().items() if _has(known, "total")}
    return len(words) <= 6 and not total.isdisjoint(words)


def _has(known: Iterable[KnownWord], kind: str) -> bool:
    return any(word.kind == kind for word in known)


def split_header(header: str) -> list[str]:
    """The words of a header, folded; Chinese and Japanese by the longest known words.

    >>> split_header("Human_fluency2"), split_header("人工评分")
    (['human', 'fluency', '2'], ['人工', '评分'])
    >>> split_header("Modellantwort")
    ['modell', 'antwort']
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_])(?=\d)", " ", header)
    # A letter behind a Korean, Russian or Arabic word names a side: `응답A`.
    other = r"[\u0400-\u04ff\u0600-\u06ff\uac00-\ud7af]"
    spaced = re.sub(rf"(?<={other})(?=[A-Za-z])|(?<=[A-Za-z])(?={other})", " ", spaced)
    words: list[str] = []
    for word in re.findall(r"[^\W\d_]+|\d+|[№#]", folded(spaced)):
        if re.search(r"[\u3040-\u30ff\u3400-\u9fff]", word):
            words += _east_asian(word)
        else:
            words += _compound(word)
    return words


@cache
def _compound(word: str) -> tuple[str, ...]:
    """A German or Dutch word that ends with a known one, as its two parts:
    `schulerantwort` as schuler and antwort. Any other word stays.
    """
    shortest = 4
    if word in known_words() or len(word) < 2 * shortest:
        return (word,)
    for at in range(shortest, len(word) - shortest + 1):
        last = known_words().get(word[at:], ())
        # `Quelltext`: whose text it is stands in front.
        if word[at:] == "text":
            continue
        if any(known.language in {"de", "nl"} for known in last):
            return (word[:at], word[at:])
    return (word,)


def _east_asian(text: str) -> list[str]:
    """The known words in a text without spaces, the longest first, and the rest."""
    words: list[str] = []
    rest = ""
    at = 0
    while at < len(text):
        longest = ""
        for end in range(len(text), at, -1):
            if text[at:end] in known_words():
                longest = text[at:end]
                break
        if not longest:
            rest += text[at]
            at += 1
            continue
        if rest:
            words.append(rest)
            rest = ""
        words.append(longest)
        at += len(longest)
    return [*words, rest] if rest else words


def _meanings(word: str) -> list[KnownWord]:
    """What a word says; a long word also with another ending."""
    if word in known_words():
        return known_words()[word]
    stem = word
    # Words of at least so many letters are recognised with another ending.
    shortest_stem = 5
    while len(stem) > shortest_stem:
        stem = stem[:-1]
        known = known_words().get(stem)
        if known and len(word) - len(stem) <= 2:
            # Other endings of an English word may be another word.
            is_plural = word == f"{stem}s"
            return [each for each in known if is_plural or each.language != ENGLISH]
    return []


def languages_of(headers: Iterable[str]) -> set[str]:
    """English, and the languages of which two headers have different words that are not
    English.

    >>> sorted(languages_of(["Frage", "Bewertung"])), languages_of(["anno1", "anno2"])
    (['de', 'en'], {'en'})
    """
    headers_of: dict[str, set[str]] = {}
    words_of: dict[str, set[str]] = {}
    for header in headers:
        for word in split_header(header):
            of_word = {known.language for known in _meanings(word)}
            if ENGLISH not in of_word:
                for language in of_word:
                    headers_of.setdefault(language, set()).add(header)
                    words_of.setdefault(language, set()).add(word)
    languages = {ENGLISH}
    for language, named in headers_of.items():
        if min(len(named), len(words_of[language])) >= 2:
            languages.add(language)
    return languages


def classes_of(header: str, languages: Collection[str] = (ENGLISH,)) -> dict[str, bool]:
    """Class -> whether the evidence is strong, for the words of a header.

    A `human judge` is a person, and an `llm annotator` is a machine.

    >>> classes_of("llm_annotator"), classes_of("human_judge")
    ({'machine': True}, {'person': True})
    """
    words = split_header(header)
    classes = _classes_of_words(words, languages)
    if not (classes.get("person") and classes.get("machine")):
        return classes
    others = [word for word in words if word.removesuffix("s") not in ROLE_NOUNS]
    decisive = _classes_of_words(others, languages)
    if decisive.get("person") and not decisive.get("machine"):
        del classes["machine"]
    elif decisive.get("machine") and not decisive.get("person"):
        del classes["person"]
    return classes


def _classes_of_words(
    words: Sequence[str], languages: Collection[str]
) -> dict[str, bool]:
    """Class -> whether the evidence is strong, for some words."""
    classes: dict[str, bool] = {}
    # G-Eval and MoverScore are one word.
    joined = [first + second for first, second in pairwise(words)]
    for word in [*words, *joined]:
        for known in _meanings(word):
            if _counts(known, languages):
                strong = classes.get(known.kind, False)
                classes[known.kind] = strong or known.is_strong
    return classes


def asks_for_a_rating(header: str) -> bool:
    """Whether a header is a question of a form, or its number: `How good is it?`, `Q7`.

    The scale may follow in brackets: `How good is it? (1 = poor)`.

    >>> asks_for_a_rating("Q2_1"), asks_for_a_rating("How good is this answer? (1-5)")
    (True, True)
    >>> asks_for_a_rating("question")
    False
    """
    text = re.sub(r"\s*[(\[（][^()\[\]（）]*[)\]）]\s*$", "", header).strip()
    numbered = re.fullmatch(r"Q\d+(?:[._]\d+)*", text)
    asked = text.endswith(("?", "？", "؟")) and len(split_header(text)) >= 3
    begins = re.match(r"(please )?(rate|how)\b|(bitte )?bewerten\b", folded(text))
    return bool(numbered or asked or begins)


def english_names(headers: Sequence[str]) -> dict[str, str]:
    """Header -> the header with English words in place of those of other languages.

    A header of English words stays as it is. Two headers never get the same name.

    >>> english_names(["Frage", "Antwort", "Bewertung_1"])["Bewertung_1"]
    'score _1'
    """
    languages = languages_of(headers)
    names: dict[str, str] = {}
    taken = set(headers)
    for header in headers:
        name = _in_english(header, languages)
        number = 2
        new = name
        while new != header and new in taken:
            new = f"{name} {number}"
            number += 1
        taken.add(new)
        names[header] = new
    return names


def _counts(known: KnownWord, languages: Collection[str]) -> bool:
    """Whether a word of a language is read in a table of such languages."""
    return known.language in languages or known.language not in LATIN


def _in_english(header: str, languages: Collection[str]) -> str:
    """A header with English words for its words in other languages."""
    plain_words: dict[str, str] = {}
    # Classes of the words in headers; good, bad and fault words stand in cells.
    header_classes = (
        "person",
        "machine",
        "rating",
        "outcome",
        "text",
        "source",
        "reference",
        "system",
        "number",
        "confidence",
        "remark",
        "choice",
    )
    for word in split_header(header):
        meanings = _meanings(word)
        if any(known.language == ENGLISH for known in meanings):
            continue
        kinds = {known.kind for known in meanings if _counts(known, languages)}
        if {"system", "machine"} <= kinds:
            # A system where the cells are names, a judge where they are scores.
            plain_words[word] = "model"
            continue
        for known in meanings:
            if _counts(known, languages) and known.kind in header_classes:
                plain_words.setdefault(word, PLAIN[known.kind])
    if not plain_words:
        return header
    text = folded(header)
    for word in sorted(plain_words, key=len, reverse=True):
        text = text.replace(word, f" {plain_words[word]} ")
    return " ".join(text.split())
