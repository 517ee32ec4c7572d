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
    r"unlike|others (?:may|might|would|could|will)"
    r"|(?:some|many|another|a different) (?:judges?|people|readers?|reviewers?|raters?|"
    r"editors?)|were (?:it|they)|had (?:it|they)"
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
)
_WITHDRAWN = re.compile(
    r"(?<![\w.,/])\d{1,4}(?:\.\d{1,4})?\s?(?:[-=]{1,2}>|>)\s?(?=\d)"
)
"""`5 -> 3`."""
_BOUND = re.compile(r"<\s?\d{1,4}(?:\.\d{1,4})?(?![\d.]|[^<>\n]{0,40}>)")
"""`<3` gives only a bound; `<3>` a value."""
_WORDS = (
    "unlike", "others ", " judge", "people", "reader", "reviewer", "rater", "editor",
    "were it", "were they", "had it", "had they", "if it", "if the ", "short of",
    "miss", "instead of", "rather than", "reserved for", "kept for", "to reach",
    "to earn", "to deserve", "to get", "to receive", "to merit", "not", "nowhere",
    "far from", "almost", "nearly", "from ",
)  # fmt: skip
"""One of these stands in every mention; most replies have none."""
_IN_MENTIONS = frozenset(
    b"""
    unlike others judge judges people reader readers reviewer reviewers rater raters
    editor editors were had if short miss misses missed instead rather reserved kept
    reach earn deserve get receive merit not nowhere far almost nearly from
    """.split()
)
"""One of these words stands in every mention, too: they are looked up together."""
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_BLANKS = bytes(code if code in _LETTERS else 32 for code in range(256))
"""Translates all bytes but small letters to blanks."""
_BREAK = re.compile(
    r",\s(?:this|it(?! would)|but|so|i(?! would|'d)|the|mine|overall|my)\b"
    r"|\b(?:but|so|hence|thus|therefore|resulting|earning|receiving|scoring|giving)\b"
)


def hide_withdrawn(folded: str) -> str:
    """Return a folded text without the first of two numbers with an arrow between.

    >>> hide_withdrawn("rating: 5 -> 3")
    'rating:      3'
    """
    if "<" in folded:
        folded = _BOUND.sub(lambda match: "#" * len(match[0]), folded)
    if ">" not in folded:
        return folded
    return _WITHDRAWN.sub(lambda match: " " * len(match[0]), folded)


def hide_mentions(folded: str) -> str:
    """Return a folded text in which such numbers are `#`, of the same length.

    >>> hide_mentions("not quite a 5, so 4")
    'not quite a #, so 4'
    """
    if folded.isascii():
        words = folded.encode().translate(_BLANKS).split()
        if _IN_MENTIONS.isdisjoint(words):
            return folded
    for word in _WORDS:  # a generator takes longer than the searches
        if word in folded:
            return _MENTIONS.sub(_hidden, folded)
    return folded


def _hidden(match: re.Match[str]) -> str:
    """Return a mention without its number; a clause of the judge's own stays."""
    if match["between"] and _BREAK.search(match["between"]):
        return match[0]
    start, end = match.span("old" if match["old"] else "number")
    at = start - match.start()
    return match[0][:at] + "#" * (end - start) + match[0][at + end - start :]
