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
from itertools import pairwise
from typing import Final, NamedTuple

from judgescope.parsing.attribution import is_of_another, is_undecided
from judgescope.parsing.characters import first_of, fold, is_plain
from judgescope.parsing.corrections import (
    NOTHING,
    TAKEN_BACK,
    UNABLE,
    Correction,
    corrections,
    may_be_corrected,
)
from judgescope.parsing.judgment import CHOICE_VALUES, Judgment, Scale, parser
from judgescope.parsing.keys import CHOICES, UNREAD, Menu, Rank, rank_of, words_of
from judgescope.parsing.labels import truth
from judgescope.parsing.lines import line_values
from judgescope.parsing.pair_comparisons import compared
from judgescope.parsing.pair_prose import PROSE_FORMS, alone, leading, sentence
from judgescope.parsing.pair_sides import (
    BRACKETS,
    CLOSE,
    LONGEST_SENTENCE,
    OPEN,
    RELATION,
    SIDES,
    TEXT,
    SideReading,
    read_side,
)
from judgescope.parsing.quotes import text_says, unquoted
from judgescope.parsing.rated_sides import SCORES_OF_SIDES
from judgescope.parsing.reasoning import answer_of
from judgescope.parsing.structure import may_be_structured, structured
from judgescope.parsing.tags import blank_markup
from judgescope.parsing.text import nothing_read

_JOINED = re.compile(
    r"[\s*_\"'`]{0,4}(?:,|/|\bor\b|\band\b|,\s?(?:or|and)\b|\bvs\b\.?|\bversus\b)"
    r"[\s*_\"'`]{0,4}"
)
SHORT_REFUSAL: Final = 300
"""The maximum number of characters of a refusal; longer replies discuss refusals."""


@parser("choice", 15, options=("tie",))
def read_choice(text: str, _: Scale | None, *, tie: str = "") -> Judgment:
    """Return 1 for A, -1 for B, 0 for a tie; unparsed if no choice is made.

    The last choice in brackets, objects, tags or behind a name is used; if it names no
    side, there is none. Without one, the reply must be a choice, begin with one (`A:
    Summary 1 is more fluent`) or end with one (`Output (a) is better`). A reply that
    then names both letters, or a text that does not belong to its letter, makes no
    choice. tie: the letter that the prompt form gives to a tie, or "".
    """
    answer = answer_of(text, plain=is_plain(text))
    if isinstance(answer, Judgment):
        return answer
    letter = tie.lower()
    if not may_be_structured(answer):
        return _prose_choice(answer, letter).judgment
    reading = structured(answer, _menu(letter))
    if reading.closed:
        return _complete(reading.judgment) or _nothing_chosen(answer)
    prose = _prose_choice(reading.rest, letter)
    if reading.judgment is None:
        return prose.judgment
    named = prose.start is not None and not (reading.start <= prose.start < reading.end)
    if named and (reading.inline or (prose.start or 0) >= reading.end):
        return prose.judgment
    return _complete(reading.judgment) or prose.judgment


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
        if _is_ranking(name.casefold(), value):
            return read(value)
        side = _better_in_name(name)
        if words_of(name)[-1:] in (("tie",), ("tied",)) and truth(value) == "yes":
            return _judgment(SideReading("tie"), "labelled")
        truth_value = truth(value) if side else None
        if side is None or truth_value is None or isinstance(value, str | int) is False:
            return None
        if truth_value == "unclear":
            return Judgment("unparsed", UNREAD)
        other = "b" if side == "a" else "a"
        return _judgment(
            SideReading(side if truth_value == "yes" else other), "labelled"
        )

    return Menu(CHOICES, read, about, parts=False)


def _is_ranking(name: str, value: object) -> bool:
    """Return whether a value orders two sides under the name of a ranking."""
    if name.replace("_", " ") not in ("ranking", "order", "preference order"):
        return False
    return isinstance(value, str) and RELATION.match(fold(value)) is not None


def _better_in_name(name: str) -> str | None:
    """Return the side that a key calls better (`A_is_better`), else None."""
    words = " ".join(words_of(name))
    match = re.fullmatch(
        rf"(?:is )?(?:{TEXT} )?(a|b|1|2|first|second)(?: {TEXT})?"
        r"(?: is)? (?:better|wins|preferred|best)",
        words,
    )
    if match:
        return SIDES[match[1]]
    return None


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
    """The choice in the prose of a reply, where its name or bracket stands, and where
    its words end; 0 without one.
    """

    judgment: Judgment
    start: int | None = None
    end: int = 0


class _Named(NamedTuple):
    """A named or bracketed value: its rank, the side it names, and where it stands."""

    rank: Rank
    reading: SideReading | None
    start: int
    end: int


def _prose_choice(answer: str, tie: str) -> ProseChoice:
    """Return the choice in prose that the last correction leaves."""
    folded = blank_markup(fold(answer))
    choice = _first_choice(answer, folded, tie)
    if not may_be_corrected(folded, choice.end):
        return choice
    for each in corrections(folded, choice.end):
        if choice.end:
            may_correct = each.follows(folded, choice.end)
        else:
            before = f". {folded}"[max(0, each.begins - 18) : each.begins + 2]
            at_end = each.end == len(folded)
            may_correct = at_end and (each.firm or bool(_SIDE_BEFORE.search(before)))
        if may_correct:
            choice = _replaced(choice, each, answer, folded, tie)
    return choice


_SIDE_BEFORE = re.compile(
    rf"(?<!\w)(?:[ab]|tie|(?:(?<=[.!?;\n]\s)|{TEXT}[\s#_-])[12])[^\w\n:]{{0,6}}\Z"
)
_LETTER_BEFORE = re.compile(r"(?<!\w)[ab]\W*\Z")
_DIGIT = re.compile(r"\W*[12]\W*\Z")
_CLAUSE = re.compile(r"[^.!;\n]*")


def _replaced(
    choice: ProseChoice, each: Correction, answer: str, folded: str, tie: str
) -> ProseChoice:
    """Return the choice that a correction states; the old one if it states none."""
    segment = folded[each.start : each.end]
    if _DIGIT.match(segment) and _LETTER_BEFORE.search(
        folded[max(0, each.begins - 20) : each.begins]
    ):
        return choice  # another kind of name than the choice has
    clause = _CLAUSE.match(segment)
    for find, text in (
        (alone, segment),
        (alone, clause[0] if clause else ""),
        (leading, segment),
        (sentence, segment),
        (compared, segment),
    ):
        found = find(text, tie)
        if found is not None and not isinstance(found, str):
            judgment = _chosen(answer, found[0], "corrected", each.start, each.end)
            return ProseChoice(judgment, choice.start, each.end)
    nothing = NOTHING if each.firm else UNABLE
    if choice.end and nothing.match(segment):
        return ProseChoice(Judgment("unparsed", TAKEN_BACK), choice.start, each.end)
    return choice


def _first_choice(answer: str, folded: str, tie: str) -> ProseChoice:
    """Return the choice in prose before its corrections."""
    named = _last_named(folded, tie)
    if named is not None:
        start = named.start
        end = named.end
        if named.reading is None:
            return ProseChoice(Judgment("unparsed", UNREAD), start, end)
        judgment = _chosen(answer, named.reading, "labelled", start, end)
        return ProseChoice(judgment, start, end)
    for rule, find in PROSE_FORMS:
        choice = find(folded, tie)
        if choice is None:
            continue
        if isinstance(choice, str):
            return ProseChoice(Judgment("unparsed", choice))
        reading, start, end = choice
        judgment = _chosen(answer, reading, rule, start, end)
        return ProseChoice(judgment, None, end)
    if len(answer) > SHORT_REFUSAL:
        return ProseChoice(Judgment("unparsed", _rule_without_choice(folded)))
    return ProseChoice(_nothing_chosen(answer))


_RATED_SIDE = re.compile(
    rf"(?:\b(?:scores?|ratings?|grades?|points|{TEXT})[\s_\"'*({{:#-]{{0,6}}"
    rf"|(?:^|[,{{\n])[\s\"'*]{{0,4}})(?:{TEXT}[\s_]{{0,2}})?"
    r"(?P<side>a|b|1|2|one|two|first|second)(?:[\s_](?:scores?|ratings?|grades?|points))?"
    r"[\"'*)]{0,4}\s?[:=]\s?[\"'*]{0,4}\d"
)


def _rule_without_choice(folded: str) -> str:
    """Return why a reply has no choice.

    >>> _rule_without_choice('{"score_a": 4, "score_b": 7}')
    'scores_of_sides'
    >>> _rule_without_choice("both are fine")
    'no_choice'
    """
    if ":" not in folded and "=" not in folded:
        return "no_choice"
    rated = {SIDES[match["side"]] for match in _RATED_SIDE.finditer(folded)}
    return SCORES_OF_SIDES if len(rated) > 1 else "no_choice"


def _nothing_chosen(answer: str) -> Judgment:
    return nothing_read(answer, _rule_without_choice(fold(answer)))


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
    named = [*_bracketed(folded, tie), *_on_lines(folded, tie)]
    if len(named) < 2:
        return named[0] if named else None
    ranked = [choice for choice in named if choice.rank < Rank.LOOSE] or named
    ranked.sort(key=lambda choice: choice.start)
    ranked = _without_repeated_question(ranked, folded)
    if not ranked:
        return None
    last = ranked[-1]
    for choice in named:
        if choice.start < last.start and _are_alternatives(choice, last, folded):
            return last._replace(reading=None)
    return last


_SIDE_BEHIND = re.compile(r"[\s*_\"'`(\[]{0,4}(?P<side>[ab12])\b")


def _are_alternatives(former: _Named, last: _Named, folded: str) -> bool:
    """Return whether only an `or` stands between different choices."""
    if last.reading is None:
        return False
    if former.reading is not None:
        different = former.reading.side != last.reading.side
        return different and is_undecided(folded, former.end, last.start)
    # on one line the second choice is a part of the first one's value
    side = _SIDE_BEHIND.match(folded, former.end)
    if side is None or SIDES[side["side"]] == last.reading.side:
        return False
    return is_undecided(folded, side.end(), last.start)


def _without_repeated_question(named: list[_Named], folded: str) -> list[_Named]:
    """Return the choices without lines on which several names name different sides."""
    lines: dict[int, list[_Named]] = {}
    line = start = 0
    for choice in named:  # in order, so that every line break is counted once
        line += folded.count("\n", start, choice.start)
        start = max(start, choice.start)
        lines.setdefault(line, []).append(choice)
    kept: list[_Named] = []
    for choices in lines.values():
        in_brackets = any(folded.startswith("[[", each.start) for each in choices)
        sides = {each.reading.side for each in choices if each.reading}
        if in_brackets or len(sides) <= 1:
            kept.append(choices[-1])
    return kept


def _bracketed(folded: str, tie: str) -> Iterator[_Named]:
    """Yield the choices in double brackets; joined ones repeat the question."""
    if "[[" not in folded:
        return
    matches = unquoted(BRACKETS.finditer(folded), folded)
    stated = [match for match in matches if not text_says(folded, match.start())]
    matches = stated or matches
    matches = [match for match in matches if not _is_condition(match, folded)]
    matches = _without_compared(matches, folded)
    alone = [match for match in matches if not _IS_SUBJECT.match(folded, match.end())]
    matches = alone or matches
    for index, match in enumerate(matches):
        before = matches[index - 1] if index else None
        after = None
        if index + 1 < len(matches):
            after = matches[index + 1]
        if before and _JOINED.fullmatch(folded, before.end(), match.start()):
            continue
        if after and _JOINED.fullmatch(folded, match.end(), after.start()):
            continue
        reading = read_side(match[1], tie)
        if before and _stand_together(before, match):
            former = read_side(before[1], tie)
            if former and reading and former.side != reading.side:
                reading = None  # `[[A]] [[B]]`
        yield _Named(Rank.EXACT, reading, match.start(), match.end())


def _stand_together(former: re.Match[str], latter: re.Match[str]) -> bool:
    """Return whether no word or sign stands between two brackets."""
    between = former.string[former.end() : latter.start()]
    return not between.strip("*_ \t\n")


_COMPARED = re.compile(
    rf"{CLOSE}(?:(?:is|was)\s(?:[a-z]{{2,12}}\s){{0,2}})?"
    r"(?:(?P<left>better|stronger|superior|preferable|beats|outperforms|wins)"
    r"|(?P<right>worse|weaker|inferior|loses))"
    rf"\s(?:than\s|to\s|over\s|against\s)?{OPEN}"
)
"""`[[B]] is better than [[A]]`."""


def _without_compared(matches: list[re.Match[str]], folded: str) -> list[re.Match[str]]:
    """Return the sides in brackets without the worse of two that are compared.

    Without both if one is only said not to be better.
    """
    worse: set[int] = set()
    for left, right in pairwise(matches):
        compared = _COMPARED.fullmatch(folded, left.end(), right.start())
        if compared is None:
            continue
        denied = " not " in compared[0] or " never " in compared[0]
        if compared["left"] or denied:
            worse.add(right.start())
        if compared["right"] or denied:
            worse.add(left.start())
    return [match for match in matches if match.start() not in worse]


_IS_SUBJECT = re.compile(
    rf"{CLOSE}(?:would|could|might|is|was|has|does|fails?|lacks?|loses?|needs?|only)\b"
)
"""A side in brackets of which something is said, not chosen."""
_IF = re.compile(r"\bif\b")
_SAY = re.compile(r"\b(?:say|output|write|answer|print|respond|choose|use)\b")
_IF_BEHIND = re.compile(rf"{CLOSE}if\b")


def _is_condition(match: re.Match[str], folded: str) -> bool:
    """Return whether brackets repeat the prompt: `if A is better, say [[A]]`."""
    first = max(0, match.start() - LONGEST_SENTENCE)
    begin = first
    for mark in ".!?\n":
        begin = max(begin, folded.rfind(mark, first, match.start()) + 1)
    if _IF_BEHIND.match(folded, match.end()):
        return True
    condition = _IF.search(folded, begin, match.start())
    return bool(condition and _SAY.search(folded, condition.end(), match.start()))


_ASKED = re.compile(r"\s*[*_]*\s*[a-z][.)]{1}[*_\"'`)\]]{0,4}[ \t]{1,2}\w")
"""`Answer: A. Voyager 1` answers a question of the text."""
_PROSE_NAME = re.compile(
    r"(?:\b(?P<noun>choice|verdict|winner|decision|preference|better(?:\s+(?:text|"
    rf"{TEXT}))?)"
    r"|(?:^|(?<=[.!?]\s))\s{0,2}[*_\"'`(\[]{0,4}"
    r"(?:(?:overall|so|thus|hence|therefore|in\s+(?:conclusion|summary))\b,?\s)?"
    r"(?P<answer>(?:the|my)(?:\s+(?:final|best|preferred))?\s+"
    rf"(?:answer|(?:better|best|preferred)\s+{TEXT})))[*_\"'`]*\s*"
    r"(?P<sign>(?:is\s*)?[:=-]+>?|is(?=\s)|(?:is\s)?>)\s*",
    re.MULTILINE,
)
_IS_END = re.compile(
    rf"{CLOSE}(?:[.,;!]|\Z|\n|(?:because|since)\s|as\s+(?:its?|the|this|that|both)\b)"
)


def _on_lines(folded: str, tie: str) -> Iterator[_Named]:
    """Yield the choices behind a name: `Winner: B`, `My verdict is A`."""
    taken: set[int] = set()
    for line in line_values(folded):
        name = line.statement.names[0]
        value = str(line.statement.value)
        rank = rank_of((name,), CHOICES)
        if _is_ranking(name, value):
            rank = Rank.EXACT
        if rank >= Rank.LOOSE or len(name.split()) > 5 or line.match["sign"] == "?":
            continue
        if name.endswith("answer") and _ASKED.match(value):
            continue
        reading = read_side(value, tie)
        if rank is Rank.FINAL and reading is None and " " not in name:
            continue  # `Overall:` may begin a sentence
        start = line.match.start()
        start += len(line.match[0]) - len(line.match[0].lstrip())
        begin = folded.find(value, line.match.end()) if value else line.match.end()
        end = begin + (reading.end if reading else 0)
        taken.add(line.match.end())
        if reading and end < len(folded) and is_of_another(folded, begin, end):
            continue
        yield _Named(rank, reading, start, end)
    start = _start_of_prose_names(folded)
    if start < 0:
        return
    ends = sorted(taken)
    for match in unquoted(_PROSE_NAME.finditer(folded, start), folded, names=True):
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
        begin = match.end()
        if is_of_another(folded, begin, begin + reading.end):
            continue
        yield _Named(Rank.EXACT, reading, match.start(), match.end() + reading.end)


def _start_of_prose_names(folded: str) -> int:
    """Return where the search for names in sentences begins, -1 if there are none."""
    for noun in ("answer", "best", "preferred", "better"):
        if _has_sign_behind(folded, noun):
            return 0
    nouns = ("choice", "verdict", "winner", "decision", "preference")
    return first_of(nouns, folded, 0)


_SIGN_BEHIND = re.compile(r"(?:\s+[^\W\d_]+)?[*_\"'`]*\s*(?:is\b|[:=>-])")


def _has_sign_behind(folded: str, noun: str) -> bool:
    """Return whether a sign or `is` follows a noun, as it follows every name."""
    at = folded.find(noun)
    while at >= 0:
        at += len(noun)
        if _SIGN_BEHIND.match(folded, at):
            return True
        at = folded.find(noun, at)
    return False
