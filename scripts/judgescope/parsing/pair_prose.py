"""Choices in prose: a reply that is a choice, begins with one or ends with one."""

import re
from typing import Final

from judgescope.parsing.pair_comparisons import COMPARED, compared
from judgescope.parsing.pair_sides import (
    BRACKETS,
    CLOSE,
    LONGEST_SENTENCE,
    MARKS,
    OPEN,
    PLACE,
    PLAIN_TIE,
    RELATION,
    SIDE,
    SIDES,
    TEXT,
    SideReading,
    read_side,
    related_sides,
)
from judgescope.parsing.pair_statements import STATED, stated
from judgescope.parsing.quotes import unquoted

_EDGE: Final = " \t\n.!*_\"'`"
SideInText = tuple[SideReading, int, int]
"""A preference and the span of its words."""


_LEAD_IN = re.compile(
    r"(?:so|thus|hence|therefore|overall|clearly|definitely)(?:,\s|\s(?!a\s))"
)


def alone(folded: str, tie: str) -> SideInText | None:
    """Return the preference that is the whole reply: `B`, `Response 2.`, `a tie`."""
    bare = folded.lstrip(" \t\r\n*_\"'`.!#>$-•").rstrip(" \t\r\n*_\"'`.!#>$•")
    lead = _LEAD_IN.match(bare)
    if lead:
        bare = bare[lead.end() :]
    return _only_side(bare, 0, len(folded), tie)


def _only_side(bare: str, start: int, end: int, tie: str) -> SideInText | None:
    bare = bare.replace("\\boxed{", "").strip("{}$ ")
    if not bare or len(bare) > 60:
        return None
    if PLAIN_TIE.fullmatch(bare) or (tie and bare.strip("()[]") == tie):
        return SideReading("tie"), start, end
    reading = read_side(bare, tie)
    rest = "x"
    if reading:
        rest = bare[reading.end :].strip(" )]\"'`*_.!")
    if reading is None or (rest and not BRACKETS.fullmatch(bare)):
        return None
    return reading, start, end


_BEGINS = re.compile(
    r"[*_\"'`)\]]{0,4}(?:\s?[:–—]\s|\s?-\s|,?\s(?:because|since|as)\s"
    r"|\.\s(?=(?:the|it|its|this|that|there|both|i|because|while|although|in|as|"
    rf"{TEXT})\b))"
)
"""What may follow a choice that begins a reply: `A. Smith` is not a choice."""
_LEADS = re.compile(rf"\s*{OPEN}(?:{TEXT}\s+{OPEN}|a\s+(?=tie\b))?(a|b|tie)\b")
_ANOTHER = re.compile(
    r"(?:^|[.!?;,]\s{1,2})[\s*_\"'`(\[]{0,6}"
    rf"(?:{TEXT}\s+)?(a|b|tie)[)\]*_]{{0,4}}\s?[:=]",
    re.MULTILINE,
)


_OPTION = re.compile(r"\s*[*_\"'`]{0,4}\(?(?P<letter>[a-d])\)[*_\"'`]{0,4}\s+(?=\w)")
"""The letter of an option before its text: `(A) Response A is better.`"""


def option(folded: str, tie: str) -> SideInText | str | None:
    """Return the choice of a reply that repeats an option of the prompt, letter and
    text; letter and text must agree.

    >>> option("(a) response a is better.", "")[0].side
    'a'
    >>> option("(b) response a is better.", "")
    'contradiction'
    """
    begin = _OPTION.match(folded)
    if begin is None:
        return None
    letter = begin["letter"]
    labelled = "tie" if tie and letter == tie else letter
    rest = folded[begin.end() :]
    for find in (alone, _concluding, sentence, compared):
        stated = find(rest, tie)
        if isinstance(stated, str):
            return stated
        if stated is None:
            continue
        reading, _, end = stated
        if labelled in SIDES.values() and reading.side != labelled:
            return "contradiction"
        if labelled == reading.side:
            return reading, 0, begin.end() + end
    return None


def leading(folded: str, tie: str) -> SideInText | str | None:
    """Return the choice that begins a reply, with its reason behind it."""
    related = RELATION.match(folded)
    if related and _BEGINS.match(folded, related.end()):
        compared = related_sides(related)
        return compared and (compared, related.start(), related.end())
    begin = _LEADS.match(folded)
    side = begin[1] if begin else ""
    if begin is None and tie:
        begin = re.compile(rf"\s*{OPEN}{re.escape(tie)}\b").match(folded)
        side = "tie"
    begins = None
    if begin:
        begins = _BEGINS.match(folded, begin.end())
    if begin is None or begins is None:
        return None
    others = {other[1] for other in _ANOTHER.finditer(folded, begins.end())}
    if others - {side} or _calls_another_better(folded, begins.end(), side):
        return "contradiction"
    return SideReading(side), begin.start(), begins.end()


_NAMED_BETTER = re.compile(
    rf"\b{TEXT}\s?#?\(?([12ab])\)?\s+is\s+(?:[a-z]{{1,20}}\s+)?(?:more|better|"
    r"superior)\b"
)
"""The better text according to a reason, by its number or letter."""


def _calls_another_better(folded: str, start: int, side: str) -> bool:
    """Return whether the reason from `start` on calls a text better that has another
    letter.
    """
    better = _NAMED_BETTER.search(folded, start)
    return better is not None and SIDES[better[1]] != side


_CONCLUDES = re.compile(
    rf"(?:\A|\s)(?:the\s+)?{SIDE.replace('|(?P<alone>a|b|1|2)', '')}{CLOSE}"
    r"(?:is|gives|provides|offers|has|wins|does)?\s*"
    r"(?:(?:the\s+)?(?:(?:clearly|much|slightly|overall)\s+)?"
    rf"(?:better|superior|preferable|winner|best|preferred|wins|stronger)"
    rf"(?:\s+(?:one|{TEXT}))?)"
    rf"(?:\s+than\s+(?:the\s+)?(?:{TEXT}\s+{OPEN}(?:[ab12]|one|two)\b|other)"
    rf"{CLOSE})?(?:\s+overall)?\s*\Z"
)
"""`Output (a) is better`, as the end of a reply."""
_OPEN_CASE = re.compile(
    r"\b(?:if|whether|unless|why|when|not|would|could|might|may|but|neither)\b"
)
"""Words with which a last sentence is not a conclusion."""
_CLAIMED = re.compile(
    r"\b(?:claims?|says?|states?|insists|asserts?|argues?|suggests?|thinks?|ends|reads)"
    r"(?:\s+that|:)?\s*(?:\Z|(?=\s))"
)
"""Words with which a last sentence reports another's choice."""


_WITHIN: Final = (" of", " in", " from", " by", " within", " behind")
_OF_TEXT = re.compile(rf"\b(?:quality|performance|work|writing|one|{TEXT})\s\w+\Z")
"""What belongs to a side and stands for it: `the quality of text B is better`."""


def _is_within(before: str) -> bool:
    """Return whether something in a text is said to be better, not the text.

    before: words that end in one of `_WITHIN`.

    >>> _is_within("the team in"), _is_within("the answer from")
    (True, False)
    """
    return _OF_TEXT.search(before) is None


_MADE_BETTER = re.compile(
    rf"\b(?:makes|making)\s(?:the\s)?(?:{TEXT}\s{OPEN}(?P<sided>[ab12])\b"
    rf"|(?P<placed>{PLACE})\s(?:one|{TEXT})){CLOSE}(?:better|stronger|superior)\b"
)


def _makes_both_better(folded: str) -> bool:
    """Return whether reasons make each of the texts better, and none decides."""
    if "mak" not in folded:
        return False
    named = (
        match["sided"] or match["placed"] for match in _MADE_BETTER.finditer(folded)
    )
    return len({SIDES[name] for name in named}) > 1


def _concluding(folded: str, _tie: str) -> SideInText | str | None:
    """Return the choice with which the last sentence ends."""
    end = len(folded.rstrip(_EDGE))
    first = max(0, end - LONGEST_SENTENCE)
    start = 1 + max([folded.rfind(mark, first, end) for mark in ".!?;\n"])
    match = _CONCLUDES.search(folded, start, end)
    if match is None or _OPEN_CASE.search(folded, start, end):
        return None
    if _CLAIMED.search(folded, start, match.start() + 1):
        return None
    if folded.endswith(_WITHIN, start, match.start()) and _is_within(
        folded[start : match.start()]
    ):
        return None
    if not unquoted([match], folded):
        return None
    if _makes_both_better(folded) and _MADE_BETTER.search(folded, start):
        return "contradiction"
    return SideReading(SIDES[match["sided"] or match["placed"]]), *match.span()


_BETTER = (
    r"(?:(?:clearly|definitely|overall)\s+)?(?:the\s+)?(?:(?:clearly|much|slightly|overall)\s+)?"
    r"(?:better|superior|preferable|winner|best|preferred|stronger)"
)
_OTHER = rf"(?:{TEXT}\s+)?{OPEN}(?:[ab12]|one|two)\b{MARKS}"
_SENTENCE = re.compile(
    rf"(?:^|(?<=[.!?;\n]))\s{{0,2}}{OPEN}"
    r"(?:(?:overall|so|thus|hence|therefore|in\s+(?:conclusion|summary|sum)|to\s+sum\s+up"
    r"|clearly|definitely|in\s+my\s+(?:opinion|view)|(?:of|between)\s+the\s+two"
    r"|i\s+(?:think|believe|feel|find)(?:\s+that)?)\b,?\s)?"
    rf"(?:(?:i|we)(?:'d)?\s+(?:would\s+)?(?:prefer|choose|pick|select|go\s+with|favou?r)\s+"
    rf"(?:(?P<preferred_text>(?:the\s+)?{TEXT}\s+{OPEN}(?:[ab12]|one|two))"
    rf"|(?P<preferred>a|b)|(?:the\s+)?(?P<preferred_place>{PLACE})(?:\s+(?:one|{TEXT}))?)"
    rf"\b{MARKS}(?:\s+(?:over|to)\s+{_OTHER})?"
    rf"|(?P<text>(?:the\s+)?{TEXT}\s+{OPEN})?"
    rf"(?:(?P<better>a|b)|(?(text)(?P<number>[12]|one|two)|(?!))"
    rf"|(?(text)(?!)|(?:the\s+)?(?P<place>{PLACE})(?:\s+(?:one|{TEXT}))?))\b{MARKS}\s+"
    rf"(?:is\s+{_BETTER}(?:\s+(?:one|{TEXT}))?(?:\s+(?:than|to)\s+{_OTHER})?"
    rf"|wins\b(?:\s+(?:over|against)\s+{_OTHER})?"
    rf"|(?:performs|does|reads|works)\s+better(?:\s+than\s+{_OTHER})?"
    r"|does\s+(?:a|the)\s+better\s+job"
    rf"|(?:beats|outperforms|surpasses)\s+{_OTHER})"
    rf"){MARKS}"
    rf"(?:(?=,?\s+because\b)|\s?(?:[.!;]{MARKS}|(?=\n)|\Z))"
)
"""`A is better` and `I prefer B`, as sentences of their own or before a reason."""
_BECAUSE = re.compile(r",?\s+because\b[^.!?;\n]*")


def sentence(folded: str, _tie: str) -> SideInText | str | None:
    """Return the sentence that only makes a choice, if it begins or ends the reply."""
    matches: list[re.Match[str]] = []
    for match in unquoted(_SENTENCE.finditer(folded), folded):
        if not match["text"] or not _is_named_and_closed(match, folded):
            matches.append(match)
    if len({_sentence_side(match) for match in matches}) > 1:
        return "contradiction"
    if not matches:
        return None
    end = len(folded.rstrip(_EDGE))
    last = matches[-1]
    closes = last.end() >= end or _BECAUSE.fullmatch(folded, last.end(), end)
    if not closes and folded[: matches[0].start()].strip():
        return None
    if _calls_another_better(folded, matches[0].end(), _sentence_side(matches[0])):
        return "contradiction"
    return SideReading(_sentence_side(last)), *last.span()


def _is_named_and_closed(match: re.Match[str], folded: str) -> bool:
    """Return whether a named text's sentence is followed by others.

    `Output (a) is better. Still, neither is good.` takes it back.
    """
    because = re.match(r",?\s+because\b", folded[match.end() : match.end() + 20])
    rest = folded[match.end() :].strip(_EDGE)
    return bool(rest) and because is None


def _sentence_side(match: re.Match[str]) -> str:
    named = (
        match["preferred"]
        or match["preferred_place"]
        or match["better"]
        or match["number"]
        or match["place"]
    )
    if named is None:
        named = re.split(r"[\s*_\"'`(\[]+", match["preferred_text"])[-1]
    return SIDES[named]


_LISTED = re.compile(r"(?::|(?:\A|\n)\W{0,4}\d{1,3}\W{0,4})\s*\Z")
"""What stands before a number that is one of a list, or the value of a name."""


def _last_line(folded: str, tie: str) -> SideInText | None:
    """Return the preference that is a last line, or a last bracket."""
    end = len(folded.rstrip())
    start = folded.rfind("\n", 0, end) + 1
    if start:
        line = folded[start:end].strip(" \t\r*_\"'`.!#>$-•→=")
        side = _only_side(line, start, end, tie)
        if line in ("1", "2") and _LISTED.search(folded, 0, start):
            side = None
        if side and unquoted_line(folded, start):
            return side
    bracket = _last_bracket(folded)
    if bracket:
        reading = read_side(bracket[1], tie)
        if reading:
            return (reading, bracket.start(), end)
        return None
    if not any(word in folded for word in ("tie", "draw", "equal", "neither")):
        return None
    tied = re.search(r"(?:^|[.!?;\n]\s?)([^.!?;\n]{1,60})[.!\s]*\Z", folded)
    if tied and PLAIN_TIE.fullmatch(tied[1]):
        return SideReading("tie"), tied.start(1), end
    return _tie_behind_reason(folded, end)


_SO = re.compile(r",\s(?:so|hence|thus|therefore|making)\s([^.,!?;\n]{1,60})[.!\s]*\Z")
_MADE_TIE = re.compile(r"(?:it|this)\s(?:an?\s)?(?:tie|draw)")


def _tie_behind_reason(folded: str, end: int) -> SideInText | None:
    """Return the tie at the end of a sentence: `Both cite the law, so it's a tie.`"""
    so = _SO.search(folded)
    if so is None or not (PLAIN_TIE.fullmatch(so[1]) or _MADE_TIE.fullmatch(so[1])):
        return None
    first = max(0, so.start() - LONGEST_SENTENCE)
    begin = max(folded.rfind(mark, first, so.start()) for mark in ".!?;\n")
    if _OPEN_CASE.search(folded, max(begin, first), so.start()):
        return None
    return SideReading("tie"), so.start(1), end


_BRACKET = re.compile(r"(?<=[.!?]\s)[\[(]{1,2}([ab12]|tie)[\])]{1,2}\W*\Z")
_LONGEST_BRACKET: Final = len("[[tie]]")


def _last_bracket(folded: str) -> re.Match[str] | None:
    """Return the side in brackets behind the last sentence.

    >>> _last_bracket("Both are fine. [A] ".lower()).group(1)
    'a'
    """
    end = len(folded)
    while end and not (folded[end - 1].isalnum() or folded[end - 1] == "_"):
        end -= 1
    if not folded.startswith(("]", ")"), end):
        return None
    return _BRACKET.search(folded, max(0, end - _LONGEST_BRACKET))


def unquoted_line(folded: str, start: int) -> bool:
    """Return whether the line at `start` is not one of several quoted lines."""
    if not folded[start:].lstrip().startswith(">"):
        return True
    return folded.count("\n>") < 2


_OVERALL = re.compile(
    r"[.!?;\n]\s{1,2}(?:(?:so|thus|hence|therefore|overall|in\s(?:sum|short|summary"
    r"|conclusion|the\send|total)|all\sin\sall|on\sbalance)(?:,\s|\s))"
    r"(?P<side>[^.!?;,\n]{1,40})[*_]{0,3}[.!][*_\s]*\Z"
)
"""Without a full stop, the sentence may have been cut: `Therefore, Output (a)`."""


def _overall(folded: str, tie: str) -> SideInText | None:
    """Return the choice that is a last sentence behind a conclusion: `Overall, B.`"""
    last = _OVERALL.search(folded, max(0, len(folded) - 80))
    if last is None or last["side"].isdigit():
        return None
    return _only_side(last["side"], last.start("side"), len(folded), tie)


PROSE_FORMS: Final = (
    ("alone", alone),
    ("last_line", _last_line),
    ("option", option),
    ("leading", leading),
    ("concluding", _concluding),
    ("sentence", sentence),
    (COMPARED, compared),
    ("overall", _overall),
    (STATED, stated),
)
"""Rule -> how a choice without a name is found, in order of precedence."""
