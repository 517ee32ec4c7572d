"""Ratings that a reply mentions and does not give: of others, withdrawn, hypothetical.

Their numbers are hidden before a verdict is sought.
"""

import re

_NUMBER = (
    r"(?:\d{1,4}(?:\.\d{1,4})?|zero|one|two|three|four|five|six|seven|eight|nine|ten)"
)
_PHRASE = (
    r"(?:an? |the )?(?:[a-z]{2,12} )?(?:(?:score|rating|grade|mark) (?:of )?)?(?:an? )?"
)
_SUBJECTS = (
    r"unlike|others (?:may|might|would|could|will)|(?:some|many|another|a different) (?:judges?|people|readers?|"
    r"reviewers?|raters?|editors?)|were (?:it|they)|had (?:it|they)"
    r"|if (?:it|the (?:text|reply|response|answer|summary)) (?:were|was|had|gave|cited)"
)
"""Words of a clause about another text, another judge, or what would be."""
_AGAINST = (
    r"(?:fall|fell|fall)s? short of|miss(?:es|ed)?|instead of|rather than|reserved for"
    r"|kept for|to (?:reach|earn|deserve|get|receive|merit)|not(?: (?:quite|really|"
    r"exactly|even|fully|yet))?|nowhere near|far from|almost|nearly|short of"
)
"""Words before a number that the text does not get."""
_MENTIONS = re.compile(
    rf"\b(?:(?:{_SUBJECTS})\b(?P<between>[^.;!?\n]{{0,60}}?)"
    rf"|(?:{_AGAINST}) {_PHRASE})\b(?P<number>{_NUMBER})(?![\w/]|\.\d)"
    # `from 5 to 2`
    rf"|\b(?:lower|rais|reduc|drop|chang|mov|revis)[a-z]{{0,4}}"
    r"(?: (?:the |my |its )?(?:score|rating|grade|mark|it))? "
    rf"from {_PHRASE}(?P<old>{_NUMBER})(?= (?:down )?to )"
    # `5 -> 3`
    rf"|(?<![\w.,/])(?P<before>\d{{1,4}}(?:\.\d{{1,4}})?)\s?(?:[-=]{{1,2}}>|>)"
    rf"\s?(?=\d)"
)
_BREAK = re.compile(
    r",\s(?:this|it(?! would)|but|so|i(?! would|'d)|the|mine|overall|my)\b"
    r"|\b(?:but|so|hence|thus|therefore|resulting|earning|receiving|scoring|giving)\b"
)


def hide_mentions(folded: str) -> str:
    """Return a folded text in which such numbers are `#`, of the same length.

    >>> hide_mentions("not quite a 5, so 4"), hide_mentions("rating: 5 -> 3")
    ('not quite a #, so 4', 'rating:      3')
    """
    return _MENTIONS.sub(_hidden, folded)


def _hidden(match: re.Match[str]) -> str:
    """Return a mention without its number; a clause of the judge's own stays."""
    if match["before"]:
        return " " * len(match[0])
    if match["old"]:
        start, end = match.span("old")
    else:
        if match["between"] and _BREAK.search(match["between"]):
            return match[0]
        start, end = match.span("number")
    at = start - match.start()
    return match[0][:at] + "#" * (end - start) + match[0][at + end - start :]
