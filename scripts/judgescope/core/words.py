"""Words of any script, the script of texts, and a guess whether they are English.

One definition serves ROUGE, the rule judge, lengths in words and edits of words. A word
is a run of letters, marks and decimal digits. Han characters and kana count one by one,
and so do the letters of Thai, Lao, Khmer and Burmese, which are written without blanks.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    import regex

_ASCII_WORD = re.compile(r"[a-z0-9]+")
SCRIPTS: Final = (
    "Latin",
    "Han",
    "kana",
    "Thai",
    "Lao",
    "Khmer",
    "Myanmar",
    "Cyrillic",
    "Arabic",
    "Devanagari",
    "Greek",
    "Hebrew",
    "Hangul",
)
_NAMES: Final = {
    "CJK": "Han",
    "HIRAGANA": "kana",
    "KATAKANA": "kana",
    "KATAKANA-HIRAGANA": "kana",
    **{script.upper(): script for script in SCRIPTS},
}
"""The first word of a letter's Unicode name -> its script."""
WITHOUT_SPACES: Final = frozenset(("Han", "kana", "Thai", "Lao", "Khmer", "Myanmar"))
"""Scripts that do not separate words by blanks."""
ENGLISH: Final = "en"
MOST_LETTERS: Final = 200_000
"""Letters that are looked at for a guess: more would not change it."""
BleuTokenizer = Literal["13a", "zh", "char"]


@cache
def _pattern() -> "regex.Pattern[str]":
    import regex  # here: most jobs count no words

    ideographs = r"\p{Han}\p{Hiragana}\p{Katakana}ー"
    unspaced = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    word = (
        rf"(?V1)[\p{{L}}&&[{ideographs}{unspaced}]]\p{{M}}*+"
        rf"|[\p{{M}}\p{{Nd}}[\p{{L}}--[{ideographs}{unspaced}]]]++"
    )
    return regex.compile(word)


def words(text: str) -> list[str]:
    """Return the words of a text, case-folded and composed (NFC).

    Of a text in ASCII they are the runs of letters and digits, in lower case.

    >>> words("Don't stop: 3.5 naïve cats")
    ['don', 't', 'stop', '3', '5', 'naïve', 'cats']
    >>> words("我喜欢 AI")
    ['我', '喜', '欢', 'ai']
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    runs: list[str] = _pattern().findall(folded)
    return runs


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each word of a text as it stands.

    >>> word_spans("मैं हूँ।")
    [(0, 3), (4, 7)]
    """
    return [match.span() for match in _pattern().finditer(text)]


def script_of(texts: Iterable[str]) -> str:
    """Return the script of most letters, "" without letters; Japanese is `kana`.

    A tenth of kana is enough, as Japanese mixes them with Han characters.

    >>> script_of(["A letter", "Ещё много букв"])
    'Cyrillic'
    >>> script_of(["東京都は日本の首都である"])
    'kana'
    """
    counts: Counter[str] = Counter()
    for text in texts:
        for character in text:
            if character.isalpha():
                counts[_script(character)] += 1
        if counts.total() >= MOST_LETTERS:
            break
    if not counts:
        return ""
    if counts["kana"] * 10 >= counts.total():
        return "kana"
    return max(counts, key=lambda script: (counts[script], script))


@cache
def _script(letter: str) -> str:
    first = unicodedata.name(letter, "").partition(" ")[0]
    return _NAMES.get(first, "other")


def bleu_tokenizer(references: Iterable[str]) -> BleuTokenizer:
    """Return sacrebleu's tokenizer for the script of some references.

    >>> bleu_tokenizer(["A reference."]), bleu_tokenizer(["参考译文"])
    ('13a', 'zh')
    """
    script = script_of(references)
    if script == "Han":
        return "zh"
    return "char" if script in WITHOUT_SPACES else "13a"


def language_of(texts: Collection[str], known: Collection[str]) -> str:
    """Return a guess of the language of texts: `en`, or the name of their script.

    `known`: English words. A Latin text is English if at least half of its lower-case
    words are among them; else it is "Latin script, not English".
    """
    # The share of known lower-case words from which on a Latin text counts as English.
    enough = 0.5
    script = script_of(texts)
    if script != "Latin":
        return f"{script} script" if script else ""
    n_words = n_known = 0
    for text in texts:
        for word in re.findall(r"[^\W\d_]+", text):
            if word.islower():
                n_words += 1
                n_known += word in known
        if n_words >= MOST_LETTERS // 5:
            break
    if n_words and n_known < enough * n_words:
        return "Latin script, not English"
    return ENGLISH


def is_english(language: str) -> bool:
    """Return whether a tag or a guess says English; no letters count as English.

    >>> [is_english(tag) for tag in ("en", "en-GB", "", "de", "Han script")]
    [True, True, True, False, False]
    """
    if language in ("", ENGLISH):
        return True
    return language.lower().startswith(f"{ENGLISH}-")
