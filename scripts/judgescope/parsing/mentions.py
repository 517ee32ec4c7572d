"""Ratings that a reply mentions and does not give: of others, withdrawn, hypothetical.

Their numbers are hidden before a verdict is sought.
"""

import re
from functools import cache

from judgescope.parsing.characters import word_set
from judgescope.parsing.glance import Glance

_NUMBER = (
    r"(?:\d{1,4}(?:\.\d{1,4})?|zero|one|two|three|four|five|six|seven|eight|nine|ten)"
)
_PHRASE = (
    r"(?:an? |the )?(?:[a-z]{2,12} )?(?:(?:score|rating|grade|mark) (?:of )?)?(?:an? )?"
)
_PEOPLE = (
    r"(?:critics?|users?|fans|viewers?|guests?|customers?|audiences?|readers|reviewers"
    r"|journalists)"
)
_SUBJECTS = (
    r"unlike|others (?:may|might|would|could|will)"
    rf"|{_PEOPLE} (?:gave|gives?|rate[sd]?|award(?:s|ed)?|score[sd]?)"
    r"|(?:some|many|another|a different) (?:judges?|people|readers?|reviewers?|raters?|"
    r"editors?)|were (?:it|they)|had (?:it|they)"
    r"|(?:was|were) (?:going|about|tempted|ready|set) to|wanted to|tempting to"
    r"|(?:asks?|asking|tells?|telling|wants?|instructs?|orders?|urges?|begs?|requests?"
    r"|demands?|commands?) (?:me|us|you|(?:the |any )?(?:judges?|raters?|graders?"
    r"|evaluators?|readers?|models?|ai)) to"
    r"|if (?:it|the (?:text|reply|response|answer|summary)) (?:were|was|had|gave|cited)"
)
"""Words of a clause about another text, another judge, or what would be."""
_NOUNS = (
    r"text|article|author|review|summary|story|document|source"
    r"|passage|writer|reply|response|answer|post|report|essay"
)
_TEXT = rf"(?:the|this|its) (?:{_NOUNS})"
_TEXT_WORDS = frozenset(_NOUNS.split("|"))
_REPORTS = r"(?:says|claims|states|reports|mentions|notes|writes|quotes|adds)"
_REPORTED = re.compile(r"(?:(?! and | but | so )[^.,;!?\n]){0,120}")
"""What the judged text says, up to the end of the clause."""
_CLAUSE_BEFORE = re.compile(r"[^.;!?\n]{3,120}, \Z")
_ENDS = re.compile(r"\W{0,4}(?:\Z|[.;!?\n])")
_AGAINST = (
    r"(?:fall|fell|fall)s? short of|miss(?:es|ed)?|instead of|rather than|reserved for"
    r"|kept for|to (?:reach|earn|deserve|get|receive|merit)|not(?: (?:quite|really|"
    r"exactly|even|fully|yet))?|nowhere near|far from"
    r"|(?:almost|nearly|first|initially) (?:gave|rated|scored|awarded)"
    r" (?:it|this|them|the [a-z]{3,15})(?: at| as)?|almost|nearly|short of"
    r"|close to giving (?:it|this|the [a-z]{3,15})"
)
"""Words before a number that the text does not get."""
_MENTIONS = (
    rf"\b(?:(?:{_SUBJECTS})\b(?P<between>[^.;!?\n]{{0,60}}?)"
    rf"|(?:{_AGAINST}) {_PHRASE})\b(?P<number>{_NUMBER})(?![\w/]|\.\d)"
    # `rated 4/5 by critics`
    rf"|(?P<theirs>\b{_NUMBER})(?:/\d{{1,3}}|(?: out)? of \d{{1,3}})?"
    rf"(?: stars| points)? by (?:the |most |many |some )?{_PEOPLE}\b"
    # `it would be a 4, were it not for the date`, `4 if the date is ignored`
    rf"|\bwould (?:[a-z']{{1,12}} ){{1,4}}(?P<wished>{_NUMBER})"
    r"(?:/\d{1,3}|(?: out)? of \d{1,3})?,? (?:were|had|if) (?:it|they|the|not)\b"
    # `it would be a 5 with sources`
    rf"|\b(?:it|this|that) would (?:be|get|earn|deserve|merit|have been) (?:an? )?"
    rf"(?P<wanting>{_NUMBER}) with(?:out)? "
    rf"|(?P<ifs>\b{_NUMBER}) (?:would (?:be|have been) [a-z]{{3,12}} )?if (?:it|the)\b"
    # `from 5 to 2`
    rf"|\b(?:lower|rais|reduc|drop|chang|mov|revis)[a-z]{{0,4}}"
    r"(?: (?:the |my |its )?(?:score|rating|grade|mark|it))? "
    rf"from {_PHRASE}(?P<old>{_NUMBER})(?= (?:down )?to )"
)
_WITHDRAWN = re.compile(
    r"(?<![\w.,/])\d{1,4}(?:\.\d{1,4})?\s?(?:[-=]{1,2}>|>)\s?(?=\d)"
)
"""`5 -> 3`."""
_BOUND = re.compile(r"<\s?\d{1,4}(?:\.\d{1,4})?(?![\d.]|[^<>\n]{0,40}>)")
"""`<3` gives only a bound; `<3>` a value."""
_NUMBER_BEHIND = rf" {_PHRASE}{_NUMBER}"
_BEHIND = {
    "not": rf"(?: (?:quite|really|exactly|even|fully|yet))?{_NUMBER_BEHIND}",
    **dict.fromkeys(("from", "miss", "misses", "missed"), _NUMBER_BEHIND),
    **dict.fromkeys(("almost", "nearly"), rf"(?:{_NUMBER_BEHIND}| [a-z]{{4,7}} )"),
    **dict.fromkeys(("first", "initially"), " (?:gave|rated|scored|awarded) "),
    "close": " to giving ",
    **dict.fromkeys(
        ("reach", "earn", "deserve", "get", "receive", "merit"), _NUMBER_BEHIND
    ),
    **dict.fromkeys(("short", "instead"), f" of{_NUMBER_BEHIND}"),
    **dict.fromkeys(("reserved", "kept"), f" for{_NUMBER_BEHIND}"),
    "rather": f" than{_NUMBER_BEHIND}",
    "nowhere": f" near{_NUMBER_BEHIND}",
    **dict.fromkeys(
        ("going", "about", "tempted", "ready", "set", "wanted", "tempting"), " to"
    ),
    "others": " (?:may|might|would|could|will)",
    "if": " (?:it|the)",
    **dict.fromkeys(("were", "had"), " (?:it|they)"),
    **dict.fromkeys(
        word_set(
            "ask asks asking tell tells telling want wants instruct instructs order"
            " orders urge urges beg begs request requests demand demands command"
            " commands"
        ),
        " (?:me|us|you|the|any|judge|rater|grader|evaluator|reader|model|ai)",
    ),
    "unlike": "",
    "with": r"(?<=\d with) ",
    "without": r"(?<=\d without) ",
}
"""A word of mentions -> what must follow it; every mention has one of these words."""


def _preceded(word: str, before: str) -> str:
    """The pattern of the end of a word that stands behind one of some phrases."""
    phrases = before.split(",")
    return "|".join(f"(?<={phrase} {word})" for phrase in phrases)


def _people_behind(word: str) -> str:
    """What shows that people rate, not only read: `critics gave`, `by fans`."""
    rates = r" (?:gave|gives?|rate[sd]?|award(?:s|ed)?|score[sd]?)"
    by = _preceded(word, "by,by the,by most,by many,by some")
    return f"(?:{rates}|{by}|{_others_behind(word)})"


def _others_behind(word: str) -> str:
    """What shows that others judge: `some judges`, `a different reader`."""
    return f"(?:{_preceded(word, 'some,many,another,different')})"


_OTHERS = "judge judges people reader rater raters reviewer editor editors"
_BEHIND |= {word: _others_behind(word) for word in word_set(_OTHERS)}
_PEOPLE_WORDS = (
    "critic critics user users fans viewer viewers guest guests customer customers"
    " audience audiences readers reviewers journalists"
)
_BEHIND |= {word: _people_behind(word) for word in word_set(_PEOPLE_WORDS)}
_IN_REPORTS = frozenset(
    b"says claims states reports mentions notes writes quotes adds".split()
)
_VERBS = {verb: f" {verb.decode()}" for verb in _IN_REPORTS}
_BEFORE_SIGN = frozenset(word.encode() for word in _BEHIND)
MENTION_WORDS = _IN_REPORTS | _BEFORE_SIGN | {b"according"}
"""The words that a glance looks for."""
_REACH = 160
"""The maximum number of characters of a mention before its number."""
_REACH_OF_REPORT = 180
_ACCORDING = b"according"
_SAYS = re.compile(
    rf"(?<!\w)(?:{_TEXT} {_REPORTS}\b"
    rf"|according to {_TEXT}(?:, (?!i\b)|(?=\s?[.;!\n]|\Z)))"
)
_DIGIT = re.compile(r"\d")
_BREAK = re.compile(
    r",\s(?:this|it(?! would)|but|so|i(?! would|'d)|the|mine|overall|my)\b"
    r"|\b(?:but|so|hence|thus|therefore|resulting|earning|receiving|scoring|giving)\b"
)


_CALCULATED = re.compile(
    r"(?:(?<=[:=])|(?<=[:=]\s)|(?<=[:=]\*\*\s))\(?\d{1,4}(?:\.\d{1,4})?"
    r"(?:(?:\s?[+*×·-]\s?|\)\s?/\s?)\(?\d{1,4}(?:\.\d{1,4})?){1,12}+\)?\s?=\s?(?=\d)"
)
"""What is calculated behind a name, `Score: 5 - 1 = 4`; 4/5 = 80% is one value twice.
A sum alone (`2 + 2 = 4`) is more often from the judged text."""


def hide_withdrawn(folded: str) -> str:
    """Return a folded text without the first of two numbers with an arrow between, and
    without a calculation before its result.

    >>> hide_withdrawn("rating: 5 -> 3"), hide_withdrawn("rating: 5 - 1 = 4")
    ('rating:      3', 'rating:         4')
    """
    if "=" in folded:
        folded = _CALCULATED.sub(lambda match: " " * len(match[0]), folded)
    if "<" in folded:
        folded = _BOUND.sub(lambda match: "#" * len(match[0]), folded)
    if ">" not in folded:
        return folded
    return _WITHDRAWN.sub(lambda match: " " * len(match[0]), folded)


def hide_mentions(folded: str, seen: Glance) -> str:
    """Return a folded text in which such numbers are `#`, of the same length.

    >>> from judgescope.parsing.glance import glance, watch
    >>> texts = ("not quite a 5, so 4", "the film got 4/5, the text says.")
    >>> watched = watch(MENTION_WORDS)
    >>> [hide_mentions(text, glance(text, watched)) for text in texts]
    ['not quite a #, so 4', 'the film got #/#, the text says.']
    """
    if _may_report(folded, seen):
        folded = _without_reports(folded)
    if not _may_mention(folded, seen):
        return folded
    start = max(0, seen.first - _REACH)
    return folded[:start] + _mentions().sub(_hidden, folded[start:])


@cache
def _mentions() -> re.Pattern[str]:
    return re.compile(_MENTIONS)


@cache
def _sign(word: bytes) -> re.Pattern[str]:
    """The pattern of a word with what must follow it.

    Compiled at its first use: all of them take longer than most imports.
    """
    name = word.decode()
    return re.compile(name + _BEHIND[name])


def _may_mention(folded: str, seen: Glance) -> bool:
    """Return whether behind a word of mentions stands what belongs to it."""
    signs = map(_sign, _BEFORE_SIGN & seen.words)
    return any(sign.search(folded) for sign in signs)


def _may_report(folded: str, seen: Glance) -> bool:
    """Return whether a word for the judged text stands before one of speaking.

    `According to` needs none.
    """
    if _ACCORDING in seen.words:
        return True
    for word in _IN_REPORTS & seen.words:
        verb = _VERBS[word]
        at = folded.find(verb)
        while at >= 0:
            noun = folded[folded.rfind(" ", 0, at) + 1 : at]
            if noun in _TEXT_WORDS:
                return True
            at = folded.find(verb, at + 1)
    return False


def _without_reports(folded: str) -> str:
    """Return a text without the numbers of sentences in which the judged text speaks.

    `The text says that 4 left`, and `4 left, the text says`.
    """
    parts: list[str] = []
    done = 0
    for says in _SAYS.finditer(folded):
        before = folded[max(done, says.start() - _REACH_OF_REPORT) : says.start()]
        clause = _CLAUSE_BEFORE.search(before)
        if clause and _ENDS.match(folded, says.end()):
            start = says.start() - len(clause[0])
            end = says.start()
        else:
            start = says.end()
            behind = _REPORTED.match(folded, start)
            end = behind.end() if behind else start
        parts.append(folded[done:start])
        parts.append(_DIGIT.sub("#", folded[start:end]))
        done = end
    parts.append(folded[done:])
    return "".join(parts)


def _hidden(match: re.Match[str]) -> str:
    """Return a mention without its number; a clause of the judge's own stays."""
    if match["between"] and _BREAK.search(match["between"]):
        return match[0]
    groups = ("old", "theirs", "wished", "wanting", "ifs", "number")
    group = next(name for name in groups if match[name])
    start, end = match.span(group)
    at = start - match.start()
    return match[0][:at] + "#" * (end - start) + match[0][at + end - start :]
