"""The names of judges and aspects as people wrote them, in headers or in flags."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from judgescope.cli.init.rating_columns import aspect_of
from judgescope.cli.init.roles import Guess
from judgescope.cli.init.vocabulary import WORDS
from judgescope.core.names import slug

_LETTERS: Final = (
    ("абвгдеёзийклмнопрстуфыэ", "abvgdeeziiklmnoprstufye"),
    ("αβγδεζικλμνξοπρσςτυφω", "avgdeziklmnxoprsstyfo"),
)
LETTERS: Final[dict[str, str]] = {
    **dict(zip(*_LETTERS[0], strict=True)),
    **dict(zip(*_LETTERS[1], strict=True)),
    "ж": "zh",
    "х": "kh",
    "ц": "ts",
    "ч": "ch",
    "ш": "sh",
    "щ": "shch",
    "ъ": "",
    "ь": "",
    "ю": "yu",
    "я": "ya",
    "η": "i",
    "θ": "th",
    "χ": "ch",
    "ψ": "ps",
}
"""Cyrillic and Greek letters as ids have them."""


def judge_names(columns: Guess) -> dict[str, str]:
    """Judge -> its name as its columns have it, its id where two would be the same.

    >>> scores = {"coherence": "GPT-4o Coherence", "tone": "GPT-4o Tone"}
    >>> judge_names(Guess(judges={"gpt-4-o": scores}))
    {'gpt-4-o': 'GPT-4o'}
    """
    names = {}
    for judge, scores in columns.judges.items():
        names[judge] = _name_of(judge, scores, columns.names)
    times = Counter(names.values())
    return {judge: name if times[name] == 1 else judge for judge, name in names.items()}


def _name_of(
    judge: str, scores: Mapping[str, str], aspect_names: Mapping[str, str]
) -> str:
    headers = list(scores.values())
    # Stands for all aspects of a judge's scores.
    every_name = "*"
    if every_name in scores and len(headers) == 1:
        return headers[0].strip()
    kept = set()
    for aspect, header in scores.items():
        kept.add(_without_aspect(header, aspect, aspect_names.get(aspect, aspect)))
    if len(kept) == 1 and kept != {""}:
        return kept.pop()
    shared = _shared_begin(headers).strip(" _-.:/([")
    return shared if slug(shared) == judge else judge


def _shared_begin(headers: Sequence[str]) -> str:
    """The characters with which all headers begin."""
    size = 0
    for letters in zip(*headers, strict=False):
        if len(set(letters)) > 1:
            break
        size += 1
    return headers[0][:size]


def _without_aspect(header: str, aspect: str, name: str) -> str:
    """A header without the words of its aspect and of ratings: GPT-4o of GPT-4o tone.

    "" if other words stand on both sides of them.
    """
    dropped = {*slug(aspect).split("-"), *re.split(r"[\W_]+", name.casefold())}
    dropped |= WORDS.ratings
    words = list(re.finditer(r"[^\W_]+", header))
    stay = []
    for index, word in enumerate(words):
        plain = {word[0].casefold(), slug(word[0])}
        if dropped.isdisjoint(plain):
            stay.append(index)
    if not stay or stay != list(range(stay[0], stay[-1] + 1)):
        return ""
    return header[words[stay[0]].start() : words[stay[-1]].end()]


def readable_id(name: str, kind: str, taken: Iterable[str]) -> str:
    """An id of Latin letters for a name of any script, made unique by a number.

    Letters that have no Latin ones give `aspect` or `judge`, which is `kind`.

    >>> readable_id("связность", "aspect", []), readable_id("流畅性", "aspect", [])
    ('svyaznost', 'aspect')
    >>> readable_id("连贯性", "aspect", ["aspect"])
    'aspect-2'
    """
    latin = "".join(LETTERS.get(letter, letter) for letter in name.casefold())
    has_latin = re.search(r"[a-z0-9]", latin) is not None
    made = slug(latin) if has_latin else kind
    used = set(taken)
    free_name = made
    number = 2
    while free_name in used:
        free_name = f"{made}-{number}"
        number += 1
    return free_name


def readable_ids(columns: Guess) -> tuple[dict[str, str], dict[str, str]]:
    """Aspect -> id, and judge -> id: readable ones for names without Latin letters."""
    aspects: dict[str, str] = {}
    for aspect in columns.ratings:
        name = columns.names.get(aspect, aspect)
        aspects[aspect] = _latin_id(aspect, name, "aspect", aspects)
    written = judge_names(columns)
    judges: dict[str, str] = {}
    for judge in columns.judges:
        judges[judge] = _latin_id(judge, written[judge], "judge", judges)
    return aspects, judges


def _latin_id(identifier: str, name: str, kind: str, others: Mapping[str, str]) -> str:
    """An id, or a readable one in place of a hash."""
    if not identifier.startswith("x-") or name.casefold().startswith("x"):
        return identifier
    return readable_id(name, kind, others.values())


def with_ids(
    columns: Guess, aspects: Mapping[str, str], judges: Mapping[str, str]
) -> Guess:
    """Return the columns with other ids of aspects and judges."""
    by_judge = {}
    for judge, scores in columns.judges.items():
        of_judge = {aspects.get(name, name): scores[name] for name in scores}
        by_judge[judges.get(judge, judge)] = of_judge
    names = {}
    for aspect, name in columns.names.items():
        names[aspects.get(aspect, aspect)] = name
    ratings = {aspects[name]: group for name, group in columns.ratings.items()}
    return replace(columns, ratings=ratings, judges=by_judge, names=names)


def names_in_headers(ratings: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Aspect -> its name in the header of its ratings, if the id has other letters."""
    names = {}
    for aspect, columns in ratings.items():
        for column in columns:
            name = aspect_of(column)
            if slug(name) == aspect != name:
                names[aspect] = name
    return names


def names_in(texts: Sequence[str]) -> dict[str, str]:
    """Aspect -> its name in flags such as `流畅性=COLUMN`."""
    names = {}
    for text in texts:
        name, equals, _ = text.partition("=")
        if equals and slug(name) != name.strip():
            names[slug(name)] = name.strip()
    return names
