"""The headline of a page: its rules in their order, and the words of its sentences.

A report and an audit read different data. Which rule comes first, how sentences are
joined and what they say of an outcome stand here alone, so that both say the same.
Names come as the page writes them; numbers come written.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from judgescope.statistics.verdict import Sign

MOST_WORDS: Final = 25
LONGEST_NAME: Final = 24
ONE_LABEL: Final = 0.95
"""A judge that gives one label to this share of texts does not judge."""


class HeadlineRule(StrEnum):
    """The rules of a headline, in their order: the first that applies is used.

    Praise never comes first where a stated bar, or the share of bad texts, fails.
    """

    UNREAD = "U1"
    PEOPLE_APART = "U5"
    TOO_LITTLE = "U2"
    PEOPLE_ONLY = "U3"
    TOLD = "U4"
    BARS = "B"
    LABELS_FAIL = "L1"
    ONE_LABEL = "L2"
    LABELS = "L3"
    PLAN = "N"
    MANY = "M"
    AS_PERSON = "R1"
    FOLLOWS = "R2"
    LIMITED = "R3"
    AGAINST = "R5"
    NOT_SHOWN = "R4"
    PAIRS = "P1"
    POSITION = "P2"
    DAMAGE = "D1"


def words_in(text: str) -> int:
    """How many words a text has; thin spaces do not part any.

    >>> words_in("`a` lets 40\u202f% through.")
    4
    """
    return len([word for word in text.replace("`", "").split(" ") if word])


def cut(name: str, limit: int = LONGEST_NAME) -> str:
    """A name of at most 24 characters.

    >>> cut("x" * 30)
    'xxxxxxxxxxxxxxxxxxxxxxx…'
    """
    if len(name) <= limit:
        return name
    return f"{name[: limit - 1]}…"


def with_second(first: str, seconds: Iterable[str], name: str) -> str:
    """A sentence with the first of others that fits into 25 words beside it.

    A judge whose name begins both is "It" in the second.

    >>> with_second("`a` meets its bar.", ["`a` rejects 9 % of good texts."], "`a`")
    '`a` meets its bar. It rejects 9 % of good texts.'
    """
    begins = f"{name} "
    for second in seconds:
        if first.startswith(begins) and second.startswith(begins):
            second = f"It {second.removeprefix(begins)}"
        both = f"{first} {second}"
        if words_in(both) <= MOST_WORDS:
            return both
    return first


class Merit(NamedTuple):
    """By what judges are sorted, the best first: counts of signs, then the mean."""

    held: int
    limited: int
    failed: int
    mean: float


def merit(signs: Sequence[Sign], mean: float) -> Merit:
    """The sort key of a judge: most claims that hold, then most with limits, fewest
    that fail, then the higher mean number.

    >>> good = merit([Sign.HOLDS, Sign.FAILS], 0.2)
    >>> good < merit([Sign.RULE, Sign.RULE], 0.9)
    True
    """
    return Merit(
        -signs.count(Sign.HOLDS),
        -signs.count(Sign.RULE),
        signs.count(Sign.FAILS),
        -mean,
    )


# --- no verdict -----------------------------------------------------------------------


def people_alone(who: str, parts: Sequence[str], more: str) -> str:
    """People's agreement with each other, where no judge was asked.

    >>> people_alone("Three people", ["0.62 on tone"], "")
    'Three people agree 0.62 on tone. No judge was asked.'
    """
    rest = f" and on {more}" if more else ""
    return f"{who} agree {', '.join(parts)}{rest}. No judge was asked."


def one_score(names: str, judges: int) -> str:
    """Judges that give every text the same score.

    >>> one_score("a and b", 2)
    'No verdict: a and b give every text the same score.'
    """
    gives = "gives" if judges == 1 else "give"
    return f"No verdict: {names} {gives} every text the same score."


# --- people who do not agree with one another -----------------------------------------


def people_are_apart(low: float | None, chance: float = 0.0) -> bool:
    """Whether it is not shown that people agree with one another.

    low: the lower end of the 95 % interval of one rater's agreement with the others,
    None without an interval (too few sources to tell, which other rules say); chance:
    the agreement of raters who answer at random. No judge is recommended for what
    people are apart on: nobody knows what its agreement with them would mean.

    >>> people_are_apart(-0.1), people_are_apart(0.02), people_are_apart(0.5, 0.5)
    (True, False, True)
    """
    return low is not None and low <= chance


def no_ceiling(aspects: str, number: str, first: str = "") -> str:
    """That people are apart on aspects, `first` being the one of the number.

    >>> no_ceiling("coherence", "−0.05")
    'No ceiling on coherence: one person agrees with the others −0.05.'
    >>> no_ceiling("tone", "")
    'No ceiling on tone: people do not agree with each other.'
    """
    if not number:
        return f"No ceiling on {aspects}: people do not agree with each other."
    on = f" on {first}" if first else ""
    return f"No ceiling on {aspects}: one person agrees with the others {number}{on}."


def not_recommended(numbers: str) -> str:
    """Why no judge can be recommended where people are apart, and what to do.

    numbers: people's agreement with its interval and how many texts it is of; "" if it
    is not known.

    >>> not_recommended("−0.05").partition(". ")[0]
    'People are not shown to agree with each other (−0.05)'
    """
    behind = f" ({numbers})" if numbers else ""
    return (
        f"People are not shown to agree with each other{behind}. Have more people "
        "rate, by a clearer guide."
    )


ONE_RATING: Final = (
    "Each text has one rating, so there is no ceiling: nobody knows how well people "
    "agree with each other."
)
"""What is said beside a recommendation that rests on one rater, or on means of some."""


# --- bars and labels ------------------------------------------------------------------


def all_bars(bars: int) -> str:
    """So many bars, all of which are met.

    >>> all_bars(1), all_bars(2), all_bars(3)
    ('its bar', 'both bars', 'all 3 bars')
    """
    return {1: "its bar", 2: "both bars"}.get(bars, f"all {bars} bars")


def some_bars(some: int, bars: int) -> str:
    """Some of so many bars.

    >>> some_bars(1, 1), some_bars(1, 2)
    ('its bar', '1 of 2 bars')
    """
    return "its bar" if bars == 1 else f"{some} of {bars} bars"


def lets_through(share: str, texts: str) -> str:
    """What a judge does to bad texts that it does not catch.

    >>> lets_through("40 %", "bad texts")
    'lets 40 % of bad texts through'
    """
    return f"lets {share} of {texts} through"


def rejects(share: str, texts: str) -> str:
    """What a judge does to good texts that it does not keep.

    >>> rejects("12 %", "good texts")
    'rejects 12 % of good texts'
    """
    return f"rejects {share} of {texts}"


def says_one(name: str, label: str, share: str) -> str:
    """A judge that gives nearly all texts one label.

    >>> says_one("a", "pass", "97 %")
    'a says pass to 97 % of all texts: it does not judge.'
    """
    what = f"says {label}" if label else "gives one label"
    return f"{name} {what} to {share} of all texts: it does not judge."


def gives_label(
    name: str, label: str, share: str, person: str, counted: str = ""
) -> str:
    """A judge that gives the right labels.

    counted: the interval of the share and how many texts it is of.

    >>> gives_label("a", "people's label", "90 %", "93 %")
    "a gives people's label in 90 % of texts, averaged over labels; one person in 93 %."
    >>> gives_label("a", "labels", "90 %", "", "80 % to 95 %, 60 texts")
    'a gives labels in 90 % of texts, averaged over labels (80 % to 95 %, 60 texts).'
    """
    beside = f"; one person in {person}" if person else ""
    detail = f" ({counted})" if counted else ""
    text = f"{name} gives {label} in {share} of texts, averaged over labels"
    return f"{text}{detail}{beside}."


# --- agreement, pairs -----------------------------------------------------------------


def as_person(name: str, aspects: str) -> str:
    """A judge that agrees with people as one of them does, without the end.

    >>> as_person("a", " on tone")
    'a agrees with people as well as one of them does on tone'
    """
    return f"{name} agrees with people as well as one of them does{aspects}"


def follows(name: str, whom: str, aspects: str, beside: str) -> str:
    """A judge that agrees, and how far.

    >>> follows("a", "people", " on tone", "")
    'a follows people on tone.'
    """
    return f"{name} follows {whom}{aspects}{beside}."


def below_person(judge: str, person: str) -> str:
    """How far a judge is below a person; both are against the same other raters.

    >>> below_person("0.57", "0.66")
    ', below a person (0.57 against 0.66)'
    """
    return f", below a person ({judge} against {person})"


def no_better_than_rule(aspect: str, name: str, number: str, rule: str) -> str:
    """That the best judge reaches no more than a rule that ignores quality.

    aspect: "" where there is one only; rule: what the rule reaches.

    >>> no_better_than_rule("tone", "a", "0.36", ", length 0.53").partition(": ")[2]
    'on tone a reaches 0.36, length 0.53.'
    """
    on = f" on {aspect}" if aspect else ""
    return (
        f"No judge is shown to beat a simple rule:{on} {name} reaches {number}{rule}."
    )


def not_beyond_systems(followed: str, name: str, number: str, left: str) -> str:
    """That a judge's agreement is between systems, and how much is left of it.

    >>> not_beyond_systems("tone", "a", "0.49", "0.08").partition(": ")[2]
    'a reaches 0.49, 0.08 among texts of one system.'
    """
    return (
        f"No judge is shown to follow {followed} beyond systems: {name} reaches "
        f"{number}, {left} among texts of one system."
    )


def not_beyond_one(followed: str, name: str, number: str, system: str) -> str:
    """That a judge's agreement needs the texts of a single system.

    >>> not_beyond_one("tone", "a", "0.49", "human").partition(": ")[2]
    'a reaches 0.49 only with human.'
    """
    return (
        f"No judge is shown to follow {followed} beyond one system: {name} reaches "
        f"{number} only with {system}."
    )


def length_not_tested(name: str, whom: str, aspect: str, number: str) -> str:
    """That a judge agrees, but nobody knows whether a rule of length would, too.

    >>> length_not_tested("a", "people", "", "0.49")
    "a agrees with people (0.49), but the texts' length was not tested."
    """
    on = f" on {aspect}" if aspect else ""
    return (
        f"{name} agrees with {whom}{on} ({number}), but the texts' length was not "
        "tested."
    )


def ranks_against(name: str, whom: str, aspects: str, value: str) -> str:
    """A judge that ranks texts the other way round.

    >>> ranks_against("a", "people", " on tone", "−0.21")
    'a ranks texts against people on tone (−0.21).'
    """
    return f"{name} ranks texts against {whom}{aspects} ({value})."


def agreement_not_shown(number: str, name: str, aspects: str) -> str:
    """The highest number of judges whose agreement is not shown.

    >>> agreement_not_shown("0.12 [−0.08, 0.31]", "a", " on tone")
    'Agreement is not shown: at best 0.12 [−0.08, 0.31] (a on tone).'
    """
    return f"Agreement is not shown: at best {number} ({name}{aspects})."


def picks(name: str, what: str, share: str, person: str, counted: str = "") -> str:
    """A judge that picks the better of two texts.

    counted: the interval of the share and how many pairs it is of.

    >>> picks("a", "what people prefer", "81 %", "86 %")
    'a picks what people prefer in 81 % of pairs; one person does in 86 %.'
    """
    beside = f"; one person does in {person}" if person else ""
    detail = f" ({counted})" if counted else ""
    return f"{name} picks {what} in {share} of pairs{detail}{beside}."


def prefers_place(name: str, which: str, share: str, people: str) -> str:
    """A judge that takes the text of one place too often.

    >>> prefers_place("a", "first", "80 %", "34 %")
    'a takes the first text in 80 % of pairs; people do in 34 %.'
    """
    beside = f"; people do in {people}" if people else ""
    return f"{name} takes the {which} text in {share} of pairs{beside}."
