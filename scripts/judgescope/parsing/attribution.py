"""Whose verdict a statement is: the words around it say so.

Of several statements, a contrast tells: `{"score": 2} is mine; {"score": 5} is the
author's.` A statement alone needs clearer words, because `4 is the text's score` says
what the judge gives: `{"score": 5} is what the text gives itself`.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, Literal

Owner = Literal["judge", "other"]
"""Who gives a verdict."""
StatementSpans = Sequence[tuple[int, int]]

_PEOPLE = (
    r"(?:authors?|writers?|speakers?|students?|critics?|users?|readers?|reviewers?"
    r"|customers?|others?|text|essay|article|review|summary|story|document|source"
    r"|passage|reply|response|prompt|rubric|example|template|sample|format)"
)
_NAMED = r"(?:score|rating|grade|verdict|answer|claim|choice|label|judge?ment)"
_CLOSE = r"(?:</\s?[a-z_-]{1,30}\s?>)?[\s\"'`*_}\])]{0,4}+"
_IS = r"(?:is|was|were|are|comes from|stems from|would be)\s(?:only |just |merely )?"
_LEADS = r"(?:not|ignor(?:e|ing)|instead of|rather than|unlike|such as|e\.g\.)"
_GAVE = (
    r"(?:wrote|writes|gave|gives|has|had|chose|chooses|wants?|wanted|puts?|used?|uses"
    r"|ends?\s(?:in|with)|asks?\sfor|demands?)"
)
_OTHERS_BEHIND = (
    rf"{_CLOSE}(?:\((?=[^()\d]{{0,60}}\))|{_IS}(?:what |how )?"
    r"|(?:in|from|by)\s(?=the\s))"
    rf"(?:an?\s|the\s|its\s|their\s)?(?:{_PEOPLE}\b|(?:previous|earlier|old|wrong)\b"
    r"|not mine\b|theirs\b|someone else)"
)
"""`{"score": 5} is the author's`, `5 (the text's own claim)`."""
_OTHERS_BEFORE = (
    rf"(?:\b{_LEADS}|\b(?:an?|the|its|their)\s{_PEOPLE}(?:'s?(?:\s[a-z]{{1,15}}){{0,2}}|\s{_GAVE})"
    rf"|\b(?:example|template|sample|format)(?:\sof\s[a-z ]{{1,30}})?"
    r"(?:\s(?:is|would be|could be))?)"
    r"[\s:\"'`(*_]{0,5}\Z"
)
"""`not {"score": 5}`, `the author wrote {"score": 5}`."""
_OWN_BEHIND = re.compile(
    rf"{_CLOSE}(?:\(|{_IS})(?:mine\b|my\b|final\b|the final\b|i\b)"
)
_OWN_BEFORE = re.compile(
    rf"\b(?:(?:my|final)\s(?:own\s|final\s)?{_NAMED}(?:\sis)?|i (?:give|gave|choose|say"
    r"|decide on|stay with|settle (?:on|for)))[\s:\"'`(*_]{0,5}\Z"
)
_PERSON = (
    r"(?:authors?|writers?|speakers?|students?|critics?|users?|readers?|reviewers?"
    r"|customers?|others?|someone(?:\selse)?)"
)
_JUDGED = (
    r"(?:(?:judged\s|first\s|second\s|other\s)?(?:text|essay|article|review|summary|story|document|source"
    r"|passage|reply|response|prompt|answer|page|submission|candidate|assistant|model"
    r"|output|bot|letter|poem|translation|report)(?:\s[a-d1-4]\b)?)"
)
_ARTICLE = r"(?:the|this|that|its|their|an?)\s"
_OF_OTHERS = rf"(?:{_ARTICLE})?(?:{_PERSON}|{_JUDGED})\b"
_GIVES = (
    r"(?:gives?|gave|claim(?:s|ed)?|sa(?:ys?|id)|writes?|wrote|award(?:s|ed)?"
    r"|assign(?:s|ed)?|calls?|called|rate[sd]?|scored?|scores|state[sd]?|puts?|prints?"
    r"|propose[sd]?|suggest(?:s|ed)?|demand(?:s|ed)?|quote[sd]?)"
)
_CLAIM = (
    r"(?:own|claim|words?|wish|opinion|estimate|view|self[ -]\w{3,12}|trick|injection"
    r"|attempt|demand|instruction|quotation|quote|invention|boast)"
)
_END_OF_CLAUSE = r"(?=[\s*_\"'`]{0,4}(?:[.,;:!?)]|\Z))"
_MADE = (
    r"(?:written|given|added|inserted|planted|appended|put|claimed|placed|injected"
    r"|printed|stated|quoted|copied|set|said|proposed|suggested|demanded)"
)
_ALONE_BEHIND = (
    rf"{_CLOSE}(?:{_IS}(?:"
    rf"(?:what|how)\s{_OF_OTHERS}(?:\shas|\shad|\salso|\sitself)?\s{_GIVES}\b"
    rf"|what\s{_ARTICLE}{_JUDGED}\s(?:wants?|wanted|asks?|asked)\b"
    rf"|(?:{_ARTICLE})?{_PERSON}'s?(?:\s(?:own\s)?{_CLAIM}\b|{_END_OF_CLAUSE})"
    rf"|(?:{_ARTICLE})?{_JUDGED}'s?\s(?:own\s)?{_CLAIM}\b"
    rf"|(?:{_ARTICLE})?{_CLAIM}\s(?:of|by|in|from)\s{_OF_OTHERS}"
    r"|(?:not mine|theirs|someone else's)\b"
    rf"|(?:(?:already|only|simply)\s)?{_MADE}\s(?:there\s)?by\s{_OF_OTHERS}"
    rf"|(?:by|from|quoted from|copied from|taken from|part of)\s{_ARTICLE}"
    rf"(?:{_PERSON}|{_JUDGED})\b"
    r"|(?:planted|injected|forged|an (?:injection|example)"
    r"|a (?:quotation|quote|sample))\b"
    rf"|(?:{_ARTICLE}|my\s)?(?:previous|earlier|old|wrong)\b)"
    rf"|(?:comes|stems|came)\sfrom\s{_OF_OTHERS}"
    rf"|\((?:(?:{_ARTICLE})?(?:{_PERSON}|{_JUDGED})'s?"
    rf"(?:\s(?:own\s)?{_CLAIM}\b[^()]{{0,40}}\)|\))"
    rf"|(?:not mine|theirs|(?:{_MADE}|from|by|says|said)\s(?:by\s|from\s)?{_OF_OTHERS})"
    r"[^()]{0,40}\)))"
)
"""Words behind a statement that give it to another though it stands alone."""
_ALONE_BEFORE = (
    rf"(?:\b(?:not|ignor(?:e|ing)|instead of|rather than|unlike|such as|e\.g\.)"
    rf"|\b(?:the|its|their|this|that)\s(?:{_PERSON}|{_JUDGED})"
    r"(?:\s(?:has|had|also|then|even|simply|only|just|here|there)){0,2}\s"
    r"(?:(?:appended|added|inserted|planted|wrote|writes|puts?|claimed|claims|demanded"
    r"|demands|hid|hides|gave|gives|(?:graded|rated|scored|labell?ed)(?=\s\w))"
    r"|(?:calls?|called|labels?|labell?ed|awards?|awarded|rates?|rated|gives?|gave"
    r"|grades?|graded|scores?|scored)\s(?:itself|himself|herself|themselves))"
    r"(?:\s(?:it|itself|this|an?|the|own|text|with|as))*"
    r"|\b(?:for example|an? example(?:\sof\s[a-z ]{1,30})?(?:\s(?:is|would be))?"
    r"|the (?:format|template) (?:is|was|would be)"
    r"|asked (?:me )?for (?:the|this) format))"
    r"[\s:\"'`(*_,]{0,5}\Z"
)
"""Words before an object or a tag that give it to another though it stands alone."""
_BOUND = re.compile(r"[.;!?\n]")
_REACH: Final = 80
"""How many characters around a statement may say whose it is."""
_UNDECIDED = re.compile(
    r"[\s\"'`*_}\]),]{0,4}\b(?:or|oder|ou)\b(?:\s(?:maybe|perhaps|even))?"
    r"[\s\"'`*_{\[(]{0,4}"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile at the first use: each takes as long as a small import."""
    return re.compile(pattern)


def owner_of(folded: str, start: int, end: int) -> Owner | None:
    """Return whose verdict the words directly around a statement make it.

    >>> owner_of("2 is mine, 5 is the author's", 0, 1)
    'judge'
    >>> owner_of("2 is mine, 5 is the author's", 11, 12)
    'other'
    """
    behind = _BOUND.split(folded[end : end + _REACH], 1)[0]
    before = _BOUND.split(folded[max(0, start - _REACH) : start])[-1]
    if _OWN_BEHIND.match(behind):
        return "judge"
    if _compiled(_OTHERS_BEHIND).match(behind) or _compiled(_OTHERS_BEFORE).search(
        before
    ):
        return "other"
    return "judge" if _OWN_BEFORE.search(before) else None


def is_of_another(folded: str, start: int, end: int) -> bool:
    """Whether the words around a statement give it to another, though it stands alone.

    Words before it count for objects, tags and brackets, which could be quoted.

    >>> text = '{"score": 5} is what the text gives itself.'
    >>> is_of_another(text, 0, 12)
    True
    >>> is_of_another('{"score": 5} is what the text deserves.', 0, 12)
    False
    """
    if _compiled(_ALONE_BEHIND).match(folded, end):
        return True
    if folded[start : start + 1] not in ("{", "<", "["):
        return False
    before = _BOUND.split(folded[max(0, start - _REACH) : start])[-1]
    return _compiled(_ALONE_BEFORE).search(before) is not None


def own_places(spans: StatementSpans, folded: str) -> list[int]:
    """Return the places in `spans` of the statements that are the judge's.

    Those that it calls its own; without one, all that it does not give to another.

    >>> own_places([(0, 1), (11, 12)], "2 is mine, 5 is the author's")
    [0]
    """
    owners = [owner_of(folded, start, end) for start, end in spans]
    if "other" not in owners:
        # only a contrast tells: `my verdict: 3 … Corrected: 4` is a correction
        return list(range(len(spans)))
    for accepted in (("judge",), (None,)):
        indices = [index for index, owner in enumerate(owners) if owner in accepted]
        if indices:
            return indices
    return list(range(len(spans)))


def is_undecided(folded: str, end: int, start: int) -> bool:
    """Return whether only an `or` stands between two statements.

    >>> is_undecided("rating: 2 or rating: 5", 9, 13)
    True
    """
    joined = _UNDECIDED.match(folded, end)
    # the name of the second may begin with the `or`
    return joined is not None and joined.end() >= start
