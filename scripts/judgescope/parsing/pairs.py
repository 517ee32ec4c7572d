"""The better of two texts: which side a reply prefers, and how clearly.

A side has a letter, a number or a place (`A`, `Response 1`, `model_b`, `the second`),
a comparison has both (`A>>B`). They are read from brackets (`[[A]]`), named values
(`Winner: B`, `{"chosen": "B"}`, `<winner>1</winner>`), a last line that is only a side,
and from sentences; the last of the first two kinds decides, read or not.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from judgescope.parsing.characters import first_of, fold
from judgescope.parsing.judgment import CHOICE_VALUES, Judgment, Scale, parser
from judgescope.parsing.keys import CHOICES, UNREAD, Menu, Rank, rank_of, words_of
from judgescope.parsing.labels import truth
from judgescope.parsing.lines import line_values
from judgescope.parsing.quotes import text_says, unquoted
from judgescope.parsing.reasoning import answer_of
from judgescope.parsing.structure import structured
from judgescope.parsing.tags import blank_markup
from judgescope.parsing.text import nothing_read

_TEXT = (
    r"(?:text|response|answer|option|output|summary|reply|system|candidate|assistant|"
    r"translation|story|dialogue|model|completion|passage|version|choice|document|essay|"
    r"sentence|article|message|conversation|chatbot|bot|agent|code|solution|generation)"
)
_OPEN = r"[*_\"'`(\[<$]{0,4}"
_MARKS = r"[*_\"'`)\]]{0,4}"
_CLOSE = r"[*_\"'`)\]]*\s*"
_PLACE = r"(?:first|second|1st|2nd|former|latter)"
_SIDE = (
    rf"(?:(?:the\s+)?{_TEXT}[\s_#-]{{0,2}}{_OPEN}(?P<sided>a|b|1|2|one|two)"
    rf"|(?:the\s+)?(?P<placed>{_PLACE})(?:[\s_-]{_TEXT}|\s+one)?|(?P<alone>a|b|1|2))\b"
)
"""One side, in one of the groups sided, placed, alone."""
_SIDES: Final = {
    **dict.fromkeys(("a", "1", "one", "first", "1st", "former"), "a"),
    **dict.fromkeys(("b", "2", "two", "second", "2nd", "latter"), "b"),
}
_TIE = (
    r"(?:(?:it(?:'s| is)|this is|they are|both are|the two are|the result is)\s+)?"
    r"(?:a\s+|an\s+)?"
    r"(?:tie[ds]?|draw|equal(?:ly\s+(?:good|bad|strong|weak|matched))?|even|same|"
    r"(?:the\s+)?same|equivalent|comparable|no\s+(?:preference|difference|winner|clear\s+"
    r"(?:winner|preference))|neither(?:\s+(?:one|is\s+better))?|both"
    r"(?:\s+(?:are\s+)?(?:equal|equally\s+good|good|the\s+same))?)"
)
_TIE_VALUE = re.compile(rf"\W{{0,8}}{_TIE}\b")
_PLAIN_TIE = re.compile(
    r"\W*(?:(?:it(?:'s| is)|this is)\s+)?(?:an?\s+)?(?:tie|draw|equal|tied)\W*"
    r"|\W*(?:the\s+two|both|they)(?:\s+\w+)?\s+are\s+(?:tied|equal|equally\s+good)\W*"
    r"|\W*neither(?:\s+\w+)?\s+is\s+better\W*"
)
_RELATION: Final = re.compile(
    rf"\W{{0,6}}(?:{_TEXT}[\s_]{{0,2}})?(?P<left>[ab12])\b{_MARKS}\s{{0,2}}"
    rf"(?P<sign>>{{1,3}}|<{{1,3}}|={{1,3}}|≈|~|≫|≪)\s{{0,2}}{_OPEN}"
    rf"(?:{_TEXT}[\s_]{{0,2}})?(?P<right>[ab12])\b(?!\s{{0,2}}[<>=])"
)
_STRONG: Final = frozenset((">>", ">>>", "<<", "<<<", "≫", "≪"))
_STARTS = re.compile(rf"\s*{_OPEN}{_SIDE}")
_AFTER = re.compile(
    rf"{_CLOSE}(?:[.,:;!(<}}\n|–—-]|\Z|(?:because|since|as\s+(?:its?|the|this|that)|for"
    r"|by|with|is)\b|(?:as)\b)"
)
"""What may follow a side in a value: "A and B" and "a matter of taste" name none."""
_BY = re.compile(r"\s{0,2}(?:and|or|&|/|,\s?(?:and|or)?)\s{0,2}")
_BRACKETS = re.compile(r"\[\[\s{0,3}([^\[\]\n]{1,40}?)\s{0,3}\]\]")
_JOINED = re.compile(
    r"[\s*_\"'`]{0,4}(?:,|/|\bor\b|\band\b|,\s?(?:or|and)\b)[\s*_\"'`]{0,4}"
)
_EDGE: Final = " \t\n.!*_\"'`"
SHORT_REFUSAL: Final = 300
"""The maximum number of characters of a refusal; longer replies discuss refusals."""
_LAST: Final = 400
"""The maximum number of characters in a last sentence."""


class SideReading(NamedTuple):
    """A preference: side `a`, `b` or `tie`; strength from -2 (b is far better) to 2,
    None where the reply says only which is better.
    """

    side: str
    strength: int | None = None
    end: int = 0


def read_side(text: str, tie: str = "") -> SideReading | None:
    """Return the preference that a folded value states, None if it states none.

    >>> read_side("response 2 - it flows").side, read_side("a>>b").strength
    ('b', 2)
    >>> read_side("a and b"), read_side("a matter of taste")
    (None, None)
    """
    text = text.replace("_", " ") if "_" in text else text
    related = _RELATION.match(text)
    if related:
        return _related(related)
    inner = _BRACKETS.match(text.strip())
    if inner:
        return read_side(inner[1], tie)
    tied = _TIE_VALUE.match(text)
    if tied and _AFTER.match(text, tied.end()):
        return SideReading("tie", end=tied.end())
    if tie:
        letter = re.match(rf"\s*{_OPEN}{re.escape(tie)}\b", text)
        if letter and _AFTER.match(text, letter.end()):
            return SideReading("tie", end=letter.end())
    start = _STARTS.match(text)
    if start is None or _names_both(text, start.end()):
        return None
    behind = _AFTER.match(text, start.end())
    better = _IS_BETTER.match(text, start.end())
    if not (behind or better):
        return None
    if start["alone"] in ("1", "2") and re.match(
        r"\s?[/.,:]\s?\d", text[start.end() :]
    ):
        return None  # 1/2 and 1.5
    return SideReading(_side_of(start), end=start.end())


_IS_BETTER = re.compile(
    rf"{_MARKS}\s+(?:is|wins|was)\b(?!\s+(?:not|worse))(?:\s+(?:the\s+)?(?:better|best|"
    r"superior|preferable|winner|preferred))?"
)


def _side_of(match: re.Match[str]) -> str:
    named = match["sided"] or match["placed"] or match["alone"]
    return _SIDES[named]


def _names_both(text: str, end: int) -> bool:
    """Return whether another side follows that no comparison separates."""
    joined = re.match(rf"{_MARKS}{_BY.pattern}{_OPEN}", text[end : end + 20])
    if joined is None:
        return False
    other = re.match(rf"{_SIDE}", text[end + joined.end() : end + joined.end() + 30])
    return other is not None


def _related(match: re.Match[str]) -> SideReading | None:
    """Return the preference of a comparison such as `A>B`."""
    left, right = _SIDES[match["left"]], _SIDES[match["right"]]
    if left == right:
        return None
    sign = match["sign"]
    if sign[0] in "=≈~":
        return SideReading("tie", 0, match.end())
    better = left if sign[0] in ">≫" else right
    size = 2 if sign in _STRONG else 1
    return SideReading(better, size if better == "a" else -size, match.end())


@parser("choice", 6, options=("tie",))
def read_choice(text: str, _: Scale | None, *, tie: str = "") -> Judgment:
    """Return 1 for A, -1 for B, 0 for a tie; unparsed if no choice is made.

    The last choice in brackets, objects, tags or behind a name is used; if it names no
    side, there is none. Without one, the reply must be a choice, begin with one (`A:
    Summary 1 is more fluent`) or end with one (`Output (a) is better`). A reply that
    then names both letters, or a text that does not belong to its letter, makes no
    choice. tie: the letter that the prompt form gives to a tie, or "".
    """
    answer = answer_of(text)
    if isinstance(answer, Judgment):
        return answer
    letter = tie.lower()
    found = structured(answer, _menu(letter))
    if found.closed:
        return _complete(found.judgment) or nothing_read(answer, "no_choice")
    prose = _prose_choice(found.rest, letter)
    if found.judgment is None:
        return prose.judgment
    named = prose.start is not None and not (found.start <= prose.start < found.end)
    if named and (found.inline or (prose.start or 0) >= found.end):
        return prose.judgment
    return _complete(found.judgment) or prose.judgment


def _complete(judgment: Judgment | None) -> Judgment | None:
    """Return a judgment of a structure without the tail, which choices do not have."""
    return judgment and judgment._replace(tail=None)


@lru_cache(maxsize=32)
def _menu(tie: str) -> Menu:
    """Return what may be read from named values of a choice."""

    def read(value: object) -> Judgment | None:
        if value is None or isinstance(value, bool | float):
            return Judgment("unparsed", UNREAD)
        reading = read_side(fold(str(value)).strip(), tie)
        return _judgment(reading, "labelled")

    def about(name: str, value: object) -> Judgment | None:
        side = _better_in_name(name)
        said = truth(value) if side else None
        if side is None or said is None or isinstance(value, str | int) is False:
            return None
        if said == "unclear":
            return Judgment("unparsed", UNREAD)
        other = "b" if side == "a" else "a"
        return _judgment(SideReading(side if said == "yes" else other), "labelled")

    return Menu(CHOICES, read, about, parts=False)


def _better_in_name(name: str) -> str | None:
    """Return the side that a key calls better (`A_is_better`), else None."""
    words = " ".join(words_of(name))
    match = re.fullmatch(
        rf"(?:is )?(?:{_TEXT} )?(a|b|1|2|first|second)(?: {_TEXT})?"
        r"(?: is)? (?:better|wins|preferred|best)",
        words,
    )
    return _SIDES[match[1]] if match else None


def _judgment(reading: SideReading | None, rule: str) -> Judgment:
    if reading is None:
        return Judgment("unparsed", UNREAD)
    return Judgment(
        "ok",
        rule,
        CHOICE_VALUES[reading.side],
        reading.side,
        strength=reading.strength,
    )


class ProseChoice(NamedTuple):
    """The choice in the prose of a reply, and where its name or bracket stands."""

    judgment: Judgment
    start: int | None = None


class _Named(NamedTuple):
    """A named or bracketed value: its rank, the side it names, and where it stands."""

    rank: Rank
    reading: SideReading | None
    start: int
    end: int


def _prose_choice(answer: str, tie: str) -> ProseChoice:
    folded = blank_markup(fold(answer))
    named = _last_named(folded, tie)
    if named is not None:
        if named.reading is None:
            return ProseChoice(Judgment("unparsed", UNREAD), named.start)
        return ProseChoice(
            _chosen(answer, named.reading, "labelled", named.start, named.end),
            named.start,
        )
    for rule, find in _FORMS:
        found = find(folded, tie)
        if found is None:
            continue
        if isinstance(found, str):
            return ProseChoice(Judgment("unparsed", found))
        reading, start, end = found
        return ProseChoice(_chosen(answer, reading, rule, start, end))
    if len(answer) > SHORT_REFUSAL:
        return ProseChoice(Judgment("unparsed", "no_choice"))
    return ProseChoice(nothing_read(answer, "no_choice"))


def _chosen(
    answer: str, reading: SideReading, rule: str, start: int, end: int
) -> Judgment:
    """Return the judgment of a choice, with the rest of the answer as its reason."""
    rest = (answer[:start] + answer[end:]).strip()
    value = CHOICE_VALUES[reading.side]
    return Judgment(
        "ok", rule, value, reading.side, rest or None, strength=reading.strength
    )


def _last_named(folded: str, tie: str) -> _Named | None:
    """Return the last named or bracketed choice with the best rank, None without one.

    A line that names several repeats the question.
    """
    found = [*_bracketed(folded, tie), *_on_lines(folded, tie)]
    if len(found) < 2:
        return found[0] if found else None
    whole = [one for one in found if one.rank < Rank.LOOSE] or found
    whole = _without_repeated_question(sorted(whole, key=lambda one: one.start), folded)
    return whole[-1] if whole else None


def _without_repeated_question(named: list[_Named], folded: str) -> list[_Named]:
    """Return the choices without lines on which several names name different sides."""
    lines: dict[int, list[_Named]] = {}
    line = start = 0
    for one in named:  # in order, so that every line break is counted once
        line += folded.count("\n", start, one.start)
        start = max(start, one.start)
        lines.setdefault(line, []).append(one)
    kept = list[_Named]()
    for choices in lines.values():
        brackets = [one for one in choices if folded.startswith("[[", one.start)]
        sides = {one.reading.side for one in choices if one.reading}
        if brackets or len(sides) <= 1:
            kept.append(choices[-1])
    return kept


def _bracketed(folded: str, tie: str) -> Iterator[_Named]:
    """Yield the choices in double brackets; joined ones repeat the question."""
    if "[[" not in folded:
        return
    matches = unquoted(_BRACKETS.finditer(folded), folded)
    own = [match for match in matches if not text_says(folded, match.start())]
    matches = own or matches
    for index, match in enumerate(matches):
        before = matches[index - 1] if index else None
        after = matches[index + 1] if index + 1 < len(matches) else None
        if before and _JOINED.fullmatch(folded, before.end(), match.start()):
            continue
        if after and _JOINED.fullmatch(folded, match.end(), after.start()):
            continue
        reading = read_side(match[1], tie)
        yield _Named(Rank.EXACT, reading, match.start(), match.end())


_ASKED = re.compile(r"\s*[*_]*\s*[a-z][.)]{1}[*_\"'`)\]]{0,4}[ \t]{1,2}\w")
"""`Answer: A. Voyager 1` answers a question of the text."""
_PROSE_NAME = re.compile(
    r"(?:\b(?P<noun>choice|verdict|winner|decision|preference|better(?:\s+(?:text|"
    rf"{_TEXT}))?)"
    r"|(?:^|(?<=[.!?]\s))\s{0,2}[*_\"'`(\[]{0,4}"
    r"(?:(?:overall|so|thus|hence|therefore|in\s+(?:conclusion|summary))\b,?\s)?"
    r"(?P<answer>(?:the|my)(?:\s+(?:final|best|preferred))?\s+"
    rf"(?:answer|(?:better|best|preferred)\s+{_TEXT})))[*_\"'`]*\s*"
    r"(?P<sign>(?:is\s*)?[:=-]+>?|is(?=\s)|(?:is\s)?>)\s*",
    re.MULTILINE,
)
_IS_END = re.compile(
    rf"{_CLOSE}(?:[.,;!]|\Z|\n|(?:because|since)\s|as\s+(?:its?|the|this|that|both)\b)"
)


def _on_lines(folded: str, tie: str) -> Iterator[_Named]:
    """Yield the choices behind a name: `Winner: B`, `My verdict is A`."""
    taken = set[int]()
    for one in line_values(folded):
        name = one.statement.names[0]
        value = str(one.statement.value)
        rank = rank_of((name,), CHOICES)
        if rank >= Rank.LOOSE or len(name.split()) > 5 or one.match["sign"] == "?":
            continue
        if name.endswith("answer") and _ASKED.match(value):
            continue
        reading = read_side(value, tie)
        if rank is Rank.FINAL and reading is None and " " not in name:
            continue  # `Overall:` may begin a sentence
        start = one.match.start()
        start += len(one.match[0]) - len(one.match[0].lstrip())
        begin = folded.find(value, one.match.end()) if value else one.match.end()
        end = begin + (reading.end if reading else 0)
        taken.add(one.match.end())
        yield _Named(rank, reading, start, end)
    start = _start_of_prose_names(folded)
    if start < 0:
        return
    ends = sorted(taken)
    for match in unquoted(_PROSE_NAME.finditer(folded, start), folded):
        # The first line value that ends at the match's start or behind it.
        place_in_order = bisect_left(ends, match.start())
        if place_in_order < len(ends) and ends[place_in_order] <= match.end() + 2:
            continue
        value = folded[match.end() : match.end() + 200]
        reading = read_side(value, tie)
        if reading is None or (match["answer"] and _ASKED.match(value)):
            continue
        if match["sign"] == "is" and not _IS_END.match(value, reading.end):
            continue
        yield _Named(Rank.EXACT, reading, match.start(), match.end() + reading.end)


def _start_of_prose_names(folded: str) -> int:
    """Return where the search for names in sentences begins, -1 if there are none."""
    if "answer" in folded or "best" in folded or "preferred" in folded:
        return 0
    if "better" in folded:
        return 0
    nouns = ("choice", "verdict", "winner", "decision", "preference")
    return first_of(nouns, folded, 0)


PlacedSide = tuple[SideReading, int, int]
"""A preference and the span of its words."""


def _alone(folded: str, tie: str) -> PlacedSide | None:
    """Return the preference that is the whole reply: `B`, `Response 2.`, `a tie`."""
    bare = folded.strip(" \t\r\n*_\"'`.!#>$-•")
    return _only_side(bare, 0, len(folded), tie)


def _only_side(bare: str, start: int, end: int, tie: str) -> PlacedSide | None:
    bare = bare.replace("\\boxed{", "").strip("{}$ ")
    if not bare or len(bare) > 60:
        return None
    if _PLAIN_TIE.fullmatch(bare) or (tie and bare.strip("()[]") == tie):
        return SideReading("tie"), start, end
    reading = read_side(bare, tie)
    rest = bare[reading.end :].strip(" )]\"'`*_.!") if reading else "x"
    if reading is None or (rest and not _BRACKETS.fullmatch(bare)):
        return None
    return reading, start, end


_BEGINS = re.compile(
    r"[*_\"'`)\]]{0,4}(?:\s?[:–—]\s|\s?-\s|,?\s(?:because|since|as)\s"
    r"|\.\s(?=(?:the|it|its|this|that|there|both|i|because|while|although|in|as|"
    rf"{_TEXT})\b))"
)
"""What may follow a choice that begins a reply: `A. Smith` is not a choice."""
_LEADS = re.compile(rf"\s*{_OPEN}(?:{_TEXT}\s+{_OPEN}|a\s+(?=tie\b))?(a|b|tie)\b")
_ANOTHER = re.compile(
    r"(?:^|[.!?;,]\s{1,2})[\s*_\"'`(\[]{0,6}"
    rf"(?:{_TEXT}\s+)?(a|b|tie)[)\]*_]{{0,4}}\s?[:=]",
    re.MULTILINE,
)


def _leading(folded: str, tie: str) -> PlacedSide | str | None:
    """Return the choice that begins a reply, with its reason behind it."""
    begin = _LEADS.match(folded)
    side = begin[1] if begin else ""
    if begin is None and tie:
        begin = re.compile(rf"\s*{_OPEN}{re.escape(tie)}\b").match(folded)
        side = "tie"
    begins = _BEGINS.match(folded, begin.end()) if begin else None
    if begin is None or begins is None:
        return None
    others = {other[1] for other in _ANOTHER.finditer(folded, begins.end())}
    if others - {side} or _calls_another_better(folded, begins.end(), side):
        return "contradiction"
    return SideReading(side), begin.start(), begins.end()


_NAMED_BETTER = re.compile(
    rf"\b{_TEXT}\s?#?\(?([12ab])\)?\s+is\s+(?:[a-z]{{1,20}}\s+)?(?:more|better|"
    r"superior)\b"
)
"""The better text according to a reason, by its number or letter."""


def _calls_another_better(folded: str, start: int, side: str) -> bool:
    """Return whether the reason from `start` on calls a text better that has another
    letter.
    """
    better = _NAMED_BETTER.search(folded, start)
    return better is not None and _SIDES[better[1]] != side


_CONCLUDES = re.compile(
    rf"(?:\A|\s)(?:the\s+)?{_SIDE.replace('|(?P<alone>a|b|1|2)', '')}{_CLOSE}"
    r"(?:is|gives|provides|offers|has|wins|does)?\s*"
    r"(?:(?:the\s+)?(?:(?:clearly|much|slightly|overall)\s+)?"
    rf"(?:better|superior|preferable|winner|best|preferred|wins|stronger)"
    rf"(?:\s+(?:one|{_TEXT}))?)"
    rf"(?:\s+than\s+(?:the\s+)?(?:{_TEXT}\s+{_OPEN}(?:[ab12]|one|two)\b|other)"
    rf"{_CLOSE})?(?:\s+overall)?\s*\Z"
)
"""`Output (a) is better`, as the end of a reply."""
_OPEN_CASE = re.compile(
    r"\b(?:if|whether|unless|why|when|not|would|could|might|may|but|neither)\b"
)
"""Words with which a last sentence is not a conclusion."""


_CLAIMED = re.compile(
    r"\b(?:claims?|says?|states?|insists|asserts?|argues?|suggests?|thinks?)"
    r"(?:\s+that)?\s*(?:\Z|(?=\s))"
)
"""Words with which a last sentence reports another's choice."""


def _concluding(folded: str, _tie: str) -> PlacedSide | None:
    """Return the choice with which the last sentence ends."""
    end = len(folded.rstrip(_EDGE))
    start = 1 + max(folded.rfind(mark, max(0, end - _LAST), end) for mark in ".!?;\n")
    match = _CONCLUDES.search(folded, start, end)
    if match is None or _OPEN_CASE.search(folded, start, end):
        return None
    if _CLAIMED.search(folded, start, match.start() + 1):
        return None
    if not unquoted([match], folded):
        return None
    return SideReading(_SIDES[match["sided"] or match["placed"]]), *match.span()


_BETTER = (
    r"(?:the\s+)?(?:(?:clearly|much|slightly|overall)\s+)?"
    r"(?:better|superior|preferable|winner|best|preferred)"
)
_OTHER = rf"(?:{_TEXT}\s+)?{_OPEN}(?:[ab12]|one|two)\b{_MARKS}"
_SENTENCE = re.compile(
    rf"(?:^|(?<=[.!?;\n]))\s{{0,2}}{_OPEN}"
    r"(?:(?:overall|so|thus|hence|therefore|in\s+(?:conclusion|summary|sum)|to\s+sum\s+up)"
    r"\b,?\s)?"
    rf"(?:(?:i|we)\s+(?:would\s+)?(?:prefer|choose|pick|select|go\s+with|favou?r)\s+"
    rf"(?:(?P<preferred_text>(?:the\s+)?{_TEXT}\s+{_OPEN}(?:[ab12]|one|two))"
    rf"|(?P<preferred>a|b)|(?:the\s+)?(?P<preferred_place>{_PLACE})(?:\s+(?:one|{_TEXT}))?)"
    rf"\b{_MARKS}(?:\s+(?:over|to)\s+{_OTHER})?"
    rf"|(?P<text>(?:the\s+)?{_TEXT}\s+{_OPEN})?"
    rf"(?:(?P<better>a|b)|(?(text)(?P<number>[12]|one|two)|(?!))"
    rf"|(?(text)(?!)|(?:the\s+)?(?P<place>{_PLACE})(?:\s+(?:one|{_TEXT}))?))\b{_MARKS}\s+"
    rf"(?:is\s+{_BETTER}(?:\s+(?:one|{_TEXT}))?(?:\s+than\s+{_OTHER})?|wins\b"
    rf"|beats\s+{_OTHER})"
    rf"){_MARKS}"
    rf"(?:(?=,?\s+because\b)|\s?(?:[.!;]{_MARKS}|(?=\n)|\Z))"
)
"""`A is better` and `I prefer B`, as sentences of their own or before a reason."""
_BECAUSE = re.compile(r",?\s+because\b[^.!?;\n]*")


def _sentence(folded: str, _tie: str) -> PlacedSide | str | None:
    """Return the sentence that only makes a choice, if it begins or ends the reply."""
    matches = [
        match
        for match in unquoted(_SENTENCE.finditer(folded), folded)
        if not (match["text"] and _is_named_and_closed(match, folded))
    ]
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
    return _SIDES[named]


_LISTED = re.compile(r"(?::|(?:\A|\n)\W{0,4}\d{1,3}\W{0,4})\s*\Z")
"""What stands before a number that is one of a list, or the value of a name."""


def _last_line(folded: str, tie: str) -> PlacedSide | None:
    """Return the preference that is a last line, or a last bracket."""
    end = len(folded.rstrip())
    start = folded.rfind("\n", 0, end) + 1
    if start:
        line = folded[start:end].strip(" \t\r*_\"'`.!#>$-•→=")
        found = _only_side(line, start, end, tie)
        if line in ("1", "2") and _LISTED.search(folded, 0, start):
            found = None
        if found and unquoted_line(folded, start):
            return found
    bracket = re.search(r"(?<=[.!?]\s)[\[(]{1,2}([ab12]|tie)[\])]{1,2}\W*\Z", folded)
    if bracket:
        reading = read_side(bracket[1], tie)
        return (reading, bracket.start(), end) if reading else None
    tied = re.search(r"(?:^|[.!?\n]\s?)([^.!?\n]{1,60})[.!\s]*\Z", folded)
    if tied and _PLAIN_TIE.fullmatch(tied[1]):
        return SideReading("tie"), tied.start(1), end
    return None


def unquoted_line(folded: str, start: int) -> bool:
    """Return whether the line at `start` is not one of several quoted lines."""
    return not folded[start:].lstrip().startswith(">") or folded.count("\n>") < 2


_FORMS: Final = (
    ("alone", _alone),
    ("last_line", _last_line),
    ("leading", _leading),
    ("concluding", _concluding),
    ("sentence", _sentence),
)
"""Rule -> how a choice without a name is found, in order of precedence."""
