"""The only rating of a reply, at its end or its beginning, as most replies have it:
`…, earning a score of 4.`, `Score: 4/5`, `Rating: 4`, and the reasons below.

One match there decides if the name of a rating stands nowhere else: no other name can
have a value, and little can take this one back.
"""

import re
from typing import Final

from judgescope.parsing.attribution import is_of_another
from judgescope.parsing.glance import Glance
from judgescope.parsing.mentions import hide_mentions
from judgescope.parsing.quotes import may_quote
from judgescope.parsing.rating_grammar import Grammar
from judgescope.parsing.rating_search import starts_of_answers

_LONGEST: Final = 60
"""The maximum number of characters of such a rating at the end."""
_NAME = r"(?:score|rating|grade|verdict)"
_VALUE = (
    r"(?P<number>\d{1,9}+(?:\.\d{1,9}+)?)(?:(?:/| out of )(?P<top>\d{1,9}+))?"
    # `reading_of` asks for all groups of the patterns of a scale
    r"(?P<word>(?!))?(?P<label>(?!))?(?P<half>(?!))?(?P<percent>(?!))?"
)
_AT_END = re.compile(
    rf"(?:(?:\A|(?<=\n)|(?<=[.!?;] )){_NAME}(?P<explicit>: ?)"
    rf"|(?<= ){_NAME} (?P<prose>of) ){_VALUE}(?=(?: for [a-z]{{3,20}})?\.?\Z)"
)
_AT_START = re.compile(
    rf"{_NAME}(?P<explicit>: ?)(?P<prose>(?!))?{_VALUE}(?=\n\s{{0,4}}"
    # words that would belong to the value
    r"(?!(?:and|points?|stars?|out|of|von|sur|su|av|af|van|sobre|dari|de)\b)[a-z])"
)
_AWARDED: Final = (
    ", earning a ",
    ", resulting in a ",
    ", receiving a ",
    ", scoring a ",
    ", giving it a ",
)
"""What makes the rating behind it the judge's own: no mention reaches over it."""


def lone_rating(visible: str, seen: Glance, grammar: Grammar) -> re.Match[str] | None:
    """Return the only rating of a reply without markup, at its end or its beginning.

    None if the reply may have another rating, or must be read by the patterns of its
    scale. What stands behind the rating may still correct it.

    >>> from judgescope.parsing.glance import glance
    >>> from judgescope.parsing.judgment import Scale
    >>> from judgescope.parsing.rating_grammar import WATCHED, grammar_of
    >>> def number_of(text: str) -> str | None:
    ...     match = lone_rating(text, glance(text, WATCHED), grammar_of(Scale(1, 5)))
    ...     return match and match["number"]
    >>> number_of("it flows, earning a score of 4."), number_of("score: 3/5")
    ('4', '3')
    >>> number_of("score: 3. so its score is 4") is None
    True
    """
    if grammar.labels:
        return None
    start = _start_of_lone_name(visible, seen, grammar)
    if start < 0:
        return None
    if start >= len(visible) - _LONGEST:
        match = _AT_END.match(visible, start)
    else:
        match = _AT_START.match(visible) if start == 0 else None
        if match and is_of_another(visible, start, match.end()):
            return None
    if match is None or starts_of_answers(visible, seen, len(visible)):
        return None
    if may_quote(visible, start):
        return None
    if match["explicit"] or visible.endswith(_AWARDED, 0, start):
        return match
    if hide_mentions(visible, seen) == visible:
        return match
    return None


def _start_of_lone_name(visible: str, seen: Glance, grammar: Grammar) -> int:
    """Return where the only name of a rating begins that can have a value, else -1."""
    names = seen.words & grammar.name_words
    if len(names) == 1:
        (word,) = names
        name = grammar.names[word]
        start = visible.find(name)
        if visible.find(name, start + 1) < 0:
            return start
    # without a number before, names have no value if a full stop stands behind them
    stop = visible.rfind(". ", 0, seen.first)
    start = max(stop + 2 if stop > 0 else 0, visible.rfind("\n", 0, seen.first) + 1)
    if start >= len(visible) - _LONGEST:
        return start
    return -1
