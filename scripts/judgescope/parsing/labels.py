"""Labels in values and names: `"verdict": "fail"`, `"pass": false`, `Correct: no`."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from judgescope.parsing.characters import fold, word_set
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.parsing.keys import LABELS, Menu, words_of

_YES: Final = word_set(
    """
    yes true y t 1 yep yeah sure certainly definitely absolutely affirmative checked
    ✓ ✔ ✅ ☑ 👍 sí si oui ja da да так evet はい 是 是的 对 예 네 نعم כן हाँ
    """
)
_NO: Final = word_set(
    """
    no false n f 0 nope nah not never negative unchecked ✗ ✘ ❌ ❎ ☒ 👎 non nein nee
    nej nie нет ні hayır いいえ 否 不 不是 아니요 아니오 لا לא नहीं
    """
)
_MODIFIERS: Final = word_set("not never")
_UNCLEAR: Final = word_set(
    """
    maybe perhaps partial partially partly unsure unclear unknown undecided
    uncertain borderline mixed somewhat mostly possibly null none nan n/a na unrated
    half cannot can't depends
    """
)
_FIRST_WORD = re.compile(
    r"[\W_]*?(?P<word>[✓✔✅☑👍✗✘❌❎☒👎]|[01](?!\d|[.,]\d|\s?[/%])|[^\W\d_][\w/']*)"
    r"(?P<after>.*)",
    re.DOTALL,
)
_STOPS = re.compile(
    r"[\s*_\"'`)\]}<]*(?:\Z|//|[.,:;!(\n|#–—-]|\s(?:because|since|as|the|it|this|that|there|"
    r"but|for)\b)"
)
_PHRASES = re.compile(
    r"(?:absolutely|certainly|definitely|clearly|of course|not) (?:not\b|yes\b|no\b|at "
    r"all\b|really\b)|\bno way\b"
    r"|\bnot (?:met|fulfilled|satisfied|given|the case|true)\b"
)
_IN_PART = re.compile(
    r"(?:only |just )?(?:in part|up to a point|more or less"
    r"|to (?:some|a certain|a limited|an) (?:extent|degree)\b)"
)
"""`Supported: in part` is no verdict of two labels."""
_COUNT = re.compile(r"\W{0,8}\d")
_ASKED = re.compile(
    r"\A(?:(?:is|was|are|does|did|has|do|it|this|the|answer|text|response|reply|output"
    r"|overall|final|a|an) )+"
)
_DENIED = re.compile(
    r"\A(?:(?:is|it|this|that|the|be|was|does|did|text|answer|response|reply|claim"
    r"|statement|summary|sentence) )*"
    r"(?:not|no|never|non|isn't|wasn't|cannot be called|can't be called|does not"
    r"|doesn't|did not|didn't|far from|anything but|hardly|not quite|not a|not an"
    r"|never a|no longer) (?:an? |be |being )?(?P<rest>.*)",
    re.DOTALL,
)
_IT_IS = re.compile(
    r"\A(?:(?:it|this|that|(?:the|this) (?:student's |model's |assistant's )?"
    r"(?:answer|text|response|reply|output|claim|statement|summary|sentence|passage"
    r"|essay|translation|message|code))"
    r"(?:'s| is| was|(?: seems| looks| appears| remains)(?: to be)?)|is)"
    r"(?: an?| the)? ",
)
_DEGREE = re.compile(
    r"\A(?:fully|completely|entirely|clearly|definitely|indeed|certainly|obviously"
    r"|absolutely|simply|therefore|thus|overall|hmm|well),? "
)
_REASON = re.compile(
    r"(?:,? (?:because|since|as (?:it|its|the|this|they|there)|due to)\b"
    r"|: (?!not\b|only\b|in\b|\d)).*\Z"
)
_I_SAY = re.compile(
    r"\A(?:(?:it is )?borderline,? but )?"
    r"(?:(?:i|we)(?:'d|'m|'ll| would| will| am)?(?: (?:still|have to|must))?"
    r" (?:(?:call|find|found|consider|deem|judge|label|mark|classify)"
    r" (?:it|this|that|(?:the|this) (?:answer|text|response|reply|output|claim"
    r"|statement|summary|sentence))(?: as| to be)?"
    r"|(?:go|going) with|choose|pick|vote for|settle on|say|think|answer(?: with)?"
    r"|lean(?:ing)? (?:towards?|to))"
    r"|(?:the|my) (?:verdict|label|answer|decision) (?:has to|must|should|would) be)?"
    r"(?: an?)? ?"
)
"""What a judge may put before its label: `I'd call it toxic`, `I lean towards pass`."""
_BY_SOURCE = re.compile(
    r" (?:by|with|to|in) (?:(?:the|its) (?:given |provided |cited |original )?"
    r"(?:source|document|article|context|text|evidence|passage|reference|facts)"
    r"|(?:line|lines|sentence|paragraph|section|page) \d{1,4}"
    r"|(?:the|its|this) (?:user's )?(?:question|query|prompt|task|topic))\Z"
)
"""What a label is about: `supported by the source`, `relevant to the question`."""
_JOINT = re.compile(r"(?<=[^\W_])[\s_-]+(?=[^\W_])")
_BEGIN = re.compile(r"[^\W_]|[-+]\d")
"""How a label begins behind its marks."""
_EDGES: Final = " \t\r\n*_\"'`()[]{}<>.,:;!?#|~$=-–—•+"
_STOP = re.compile(
    r"(?![^\W_]|-\w)[*_\"'`)\]}>$]*+(?:\s*+\Z|\s?[^\w\s/|&,]|,(?!\s*(?:{words}))"
    r"|\s[-–—]\s|\s(?:because|since|as|for|with|due|based|overall|given)\b)"
)


class Vocabulary(NamedTuple):
    """The words of a scale of labels: folded word -> index of its label.

    start: a label at the start of a value, and what may stand behind it.
    """

    scale: Scale
    words: dict[str, int]
    start: re.Pattern[str]
    stop: re.Pattern[str]


def label_words(scale: Scale) -> dict[str, int]:
    """Return the folded words of a scale -> the index of their label.

    `words` of a scale are in the case of comparison, in which some letters differ from
    their small ones (`mäßig`, `mässig`); so the labels themselves are words, too.

    >>> label_words(Scale(0, 1, 1, ("Not safe", "safe")))
    {'not safe': 0, 'safe': 1}
    """
    labels = [(label, index) for index, label in enumerate(scale.labels)]
    spelled = ((plain_label(fold(word)), index) for word, index in labels)
    known = ((plain_label(fold(word)), index) for word, index in scale.words)
    words = dict(known) | dict(spelled)
    words.pop("", None)
    return words


def plain_label(folded: str) -> str:
    """Return the words of a folded label, whatever joins them.

    >>> plain_label("partially_correct"), plain_label("a-")
    ('partially correct', 'a-')
    """
    if "_" in folded or "-" in folded:
        folded = _JOINT.sub(" ", folded)
    return " ".join(folded.split())


def pattern_of(words: Iterable[str]) -> str:
    """Return a pattern of label words, the longest first; of none, one that fails."""
    longest_first = sorted(words, key=len, reverse=True)
    # What may stand between the words of a label.
    between = r"(?:\s+|[\s_-](?=\w))"
    spelled = (re.escape(word).replace(r"\ ", between) for word in longest_first)
    return "|".join(spelled) or r"(?!)"


@lru_cache(maxsize=64)
def vocabulary(scale: Scale) -> Vocabulary:
    """Return the words of a scale that has only labels."""
    words = label_words(scale)
    pattern = pattern_of(words)
    stop = _STOP.pattern.replace("{words}", pattern)
    return Vocabulary(scale, words, re.compile(pattern), re.compile(stop))


def menu(scale: Scale) -> Menu:
    """Return what may be read from named values on a scale that has only labels."""
    known = vocabulary(scale)

    def read(value: object) -> Judgment | None:
        return read_value(value, known)

    def about(name: str, value: object) -> Judgment | None:
        return read_about(name, value, known)

    return Menu(LABELS, read, about)


def read_value(value: object, known: Vocabulary) -> Judgment | None:
    """Return the judgment of a verdict's value; None for a number without a label.

    >>> known = vocabulary(Scale(0, 1, 1, ("fail", "pass"), words=(("fail", 0),
    ... ("pass", 1))))
    >>> [read_value(text, known).label for text in ("FAIL - no date", "no pass", "or")]
    ['fail', 'fail', None]
    """
    if isinstance(value, bool):
        names = ("true", "yes") if value else ("false", "no")
        index = next((known.words[name] for name in names if name in known.words), None)
        return _judgment(index, known)
    if isinstance(value, int | float):
        index = known.words.get(f"{value:g}")
        if index is None:
            return None
        return _judgment(index, known)
    if not isinstance(value, str):
        return Judgment("unparsed", "no_label")
    return _judgment(_index(value, known), known)


def _judgment(index: int | None, known: Vocabulary) -> Judgment:
    if index is None:
        return Judgment("unparsed", "no_label")
    return Judgment(
        "ok", "labelled", known.scale.value_of(index), known.scale.labels[index]
    )


_GRADE = re.compile(r"[\W_]*[a-z][+-](?!\w)")
"""A letter with a sign, `b+`, is another grade than the letter."""
_TAKEN_BACK = re.compile(
    r"[\s*_\"'`)\]]{0,6}(?:\?|(?:\.{1,6}|…|[,;:–—-]{1,3})?\s{0,2}(?:no[,.;:!]|wait\b"
    r"|actually\b|correction\b|scratch that\b|sorry\b|hold on\b|or rather\b"
    r"|on second thoughts?\b))"
)
"""Behind a label: it is asked, or taken back."""


def _index(text: str, known: Vocabulary) -> int | None:
    """Return the label that a value is, begins with or denies."""
    plain = " ".join(fold(text).split())
    if _GRADE.match(plain):
        grade = plain.strip(_EDGES.replace("+", "").replace("-", ""))
        return known.words.get(grade)
    bare = _without_edges(plain)
    joined = plain_label(bare)
    if joined in known.words:
        return known.words[joined]
    start = known.start.match(bare)
    if start and known.stop.match(bare, start.end()):
        index = known.words[plain_label(start[0])]
        is_open = _is_taken_back(bare, start.end(), index, known)
        return None if is_open else index
    return index_of_sentence(bare, known)


def index_of_sentence(bare: str, known: Vocabulary) -> int | None:
    """Return the label that a folded sentence states or denies of the text.

    >>> known = vocabulary(Scale(0, 1, 1, ("fail", "pass"), words=(("fail", 0),
    ... ("pass", 1))))
    >>> sentences = ("it is a pass", "not a pass", "fail it", "pass in the text")
    >>> [index_of_sentence(words, known) for words in sentences]
    [1, 0, None, 1]
    """
    bare = _IT_IS.sub("", _REASON.sub("", bare), count=1)
    bare = _BY_SOURCE.sub("", bare)
    rest = plain_label(_I_SAY.sub("", bare, count=1))
    for words in (bare, rest, _DEGREE.sub("", rest, count=1)):
        if words in known.words:
            return known.words[words]
    denied = _DENIED.match(bare)
    rest = ""
    if denied:
        rest = denied["rest"].strip(_EDGES)
    if rest in known.words:
        return other_label(known.words[rest], known)
    return None


def _is_taken_back(bare: str, end: int, index: int, known: Vocabulary) -> bool:
    """Return whether words behind a label prefer another: `pass? No, fail`."""
    if not _TAKEN_BACK.match(bare, end):
        return False
    others = (word for word, other in known.words.items() if other != index)
    return re.search(rf"(?<!\w)(?:{pattern_of(others)})(?!\w)", bare[end:]) is not None


def _without_edges(text: str) -> str:
    """Return a folded text without marks, symbols and emoji at its ends."""
    begin = _BEGIN.search(text)
    if begin is None:
        return text.strip()
    return text[begin.start() :].rstrip(_EDGES + "✓✔✅☑✗✘❌❎⭐★☆ ")


def other_label(index: int, known: Vocabulary) -> int | None:
    """Return the other of two labels; None of three or more."""
    if len(known.scale.labels) == 2:
        return 1 - index
    return None


def read_about(name: str, value: object, known: Vocabulary) -> Judgment | None:
    """Return the judgment of a yes or no about a label; None if it is none.

    >>> known = vocabulary(Scale(0, 1, 1, ("fail", "pass"), words=(("fail", 0),
    ... ("pass", 1))))
    >>> read_about("is_pass", False, known).label, read_about("Passed", "no", known)[3]
    ('fail', 'fail')
    >>> read_about("reason", False, known) is None
    True
    """
    index = _label_in_name(name, known.scale)
    if index is None:
        return None
    if value is None:
        return Judgment("unparsed", "no_label")
    truth_value = truth(value)
    if truth_value is None and isinstance(value, str) and _COUNT.match(value):
        truth_value = "unclear"
    if truth_value is None:
        return None
    if truth_value == "unclear":
        return Judgment("unparsed", "no_label")
    return _judgment(
        index if truth_value == "yes" else other_label(index, known), known
    )


@lru_cache(maxsize=4096)
def _label_in_name(name: str, scale: Scale) -> int | None:
    """Return the label that a name names: `pass`, `is_pass`, `passed`, `not_safe`."""
    known = vocabulary(scale)
    plain = " ".join(words_of(name))
    for candidate in (plain, _ASKED.sub("", plain)):
        if candidate in known.words:
            return known.words[candidate]
        stem = _stem(candidate, known)
        if stem is not None:
            return stem
    denied = _DENIED.match(plain)
    if denied and denied["rest"] in known.words:
        return other_label(known.words[denied["rest"]], known)
    return None


def _stem(word: str, known: Vocabulary) -> int | None:
    """Return the label of which a word is a form: `passed`, `passing`."""
    for ending in ("ed", "d", "ing", "es", "s", "ted", "ped"):
        if word.endswith(ending) and word.removesuffix(ending) in known.words:
            return known.words[word.removesuffix(ending)]
    return None


def begins_with_answer(folded: str) -> bool:
    """Return whether a text begins with a yes or no, or offers both.

    `no` alone may belong to a noun: `Fail: no date`.

    >>> begins_with_answer("true enough"), begins_with_answer("no date")
    (True, False)
    """
    first = _FIRST_WORD.match(folded)
    if first is None:
        return False
    word = first["word"]
    if "/" in word:
        word = word.partition("/")[0]
        return word in _YES or word in _NO
    return len(word) > 2 and (word in _YES or word in _NO) and word not in _MODIFIERS


def truth(value: object) -> str | None:
    """Return "yes", "no" or "unclear" for a value that answers a question, else None.

    >>> [truth(value) for value in (True, 0, "No, alas", "maybe", "no errors", 0.9)]
    ['yes', 'no', 'no', 'unclear', None, 'unclear']
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return {0.0: "no", 1.0: "yes"}.get(float(value), "unclear")
    if not isinstance(value, str):
        return None
    folded = fold(value)
    if _IN_PART.match(folded.lstrip(_EDGES)):
        return "unclear"
    phrase = _PHRASES.match(folded.lstrip(_EDGES))
    if phrase:
        if phrase[0].endswith("yes"):
            return "yes"
        return "no"
    first = _FIRST_WORD.match(folded)
    if first is None:
        return None
    word = first["word"]
    if word in _UNCLEAR:
        return "unclear"
    if not _STOPS.match(first["after"]):
        return None
    if word in _YES:
        return "yes"
    return "no" if word in _NO else None
