"""The rating or label that a correction puts instead of another."""

import re
from functools import lru_cache

from judgescope.parsing.corrections import (
    NOTHING,
    TAKEN_BACK,
    UNABLE,
    Correction,
    corrections,
    has_correction_word,
    may_be_corrected,
)
from judgescope.parsing.glance import Glance
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.parsing.label_sentences import label_of_sentence
from judgescope.parsing.mentions import hide_mentions
from judgescope.parsing.quotes import unquoted
from judgescope.parsing.rating_forms import FIRMNESS
from judgescope.parsing.rating_grammar import Grammar, forms_of, grammar_of
from judgescope.parsing.rating_matches import rationale_around, reading_of
from judgescope.parsing.rating_patterns import (
    NUMBER_WORD,
    UNIT,
    bound,
    value_pattern,
)
from judgescope.parsing.rating_search import ProseVerdict

_STATES = (
    r"(?:(?:so )?(?:it|this|that)(?:'s| is| should be| would be| must be| should| gets"
    r"| earns| deserves| merits)"
    r"|i(?:'d| would|'ll| will)? (?:say|give|choose|rate|settle (?:on|for)"
    r"|go (?:with|for))(?: (?:it|this|that))?(?: at| as)?"
    r"|(?:the|my) (?:score|rating|grade|verdict) (?:is|should be)|to)\s"
)
_STATED = (
    rf"[\s*_\"'`(]{{0,6}}(?:{_STATES})?(?:just |only |more like |rather )?(?:an? )?"
    rf"(?:{FIRMNESS} )?VALUE{UNIT}"
    r"(?!,?\s(?:if|were|too|unless|had|provided|only (?:if|for|when))\b)"
    r"(?=[\W_]*\Z|[*_\"'`]{0,3}\s?[.!;,)](?:[\s.,;!]|\Z)|\s*\n"
    r"|[*_\"'`]{0,3}:\s[a-z]"
    r"|\s(?:because|since|as)\b"
    r"|\s[–—-]\s(?!(?:that|this|those|these|they)(?:'s| is| are| was| were)\b)"
    r"|\safter all\b|\s(?:is|seems|would be) (?:fair|fairer|better|right"
    r"|closer|correct|appropriate|more [a-z]{3,12})(?=\s?[.!;\n]|\s*\Z))"
)
"""A value, alone or with a few words before it, that ends a clause."""
_LIST = re.compile(r"\s?1(?P<sign>[.)])\s[^\n]{1,300}?\s2(?P=sign)\s")
"""`1) clear 2) short` counts what it names."""
_BUT = re.compile(r",?\s(?:but|and|for)\b")
_OTHER_NUMBER = re.compile(
    rf"\d|\b(?<!this )(?<!that )(?<!the )(?<!no )(?:{NUMBER_WORD})\b"
)
_TOO_MUCH = re.compile(
    r"(?:an? )?(?:that|it|this|\d{1,3}(?:\.\d)?)(?:'s| is| was)"
    r" (?:a bit |far |much )?too (?:high|low|generous|harsh|strict|lenient|kind)"
    r"(?P<end>\s?(?:[.;:,!–—-]|\Z))"
    r"|that(?:'s| is| was) (?:the (?:score|rating) )?for [a-z]{3,20}(?:[.;,!]|\Z)"
)
"""What takes a number back: `No, 4 is too high`, `Wait, that's for fluency`."""


@lru_cache(maxsize=64)
def _denied_pattern(scale: Scale) -> re.Pattern[str]:
    """What denies a label: `it cannot be a pass`, `no pass`, `it does not`."""
    words = "|".join(map(re.escape, grammar_of(scale).labels)) or "(?!)"
    isnt = (
        r"(?:cannot|can't|can not|is not|isn't|should not|shouldn't|does not|doesn't)"
    )
    label = rf"(?:be |deserve |get |earn )?(?:an? |the )?(?:{words})"
    return re.compile(
        rf"\s?(?:(?:it|this|that) {isnt}(?: {label})?"
        rf"|(?:no|not)(?: an?)? (?:{words}))[\W_]*\Z"
    )


@lru_cache(maxsize=64)
def _stated_pattern(scale: Scale) -> re.Pattern[str]:
    labels = grammar_of(scale).labels
    value = value_pattern(labels, alone=bool(scale.words))
    return re.compile(
        _STATED.replace("VALUE", value).replace("TOP", bound(scale.max)),
    )


@lru_cache(maxsize=64)
def _value_before(scale: Scale) -> re.Pattern[str]:
    words = "|".join(map(re.escape, grammar_of(scale).labels)) or NUMBER_WORD
    return re.compile(rf"(?:\d|\b(?:{words}))[\W_]{{0,6}}\Z")


def corrected(
    verdict: ProseVerdict, answer: str, visible: str, seen: Glance, grammar: Grammar
) -> ProseVerdict:
    """Return the verdict that a reply's last correction leaves.

    Without words of a correction behind the verdict, it stays. A reply of which nothing
    was read may end in a correction, too (`9? No, 8.`).
    """
    if not has_correction_word(visible, seen.words):
        return verdict
    start = max(verdict.end, verdict.start or 0)
    shown = None
    for each in corrections(visible, start):
        if not _may_correct(each, verdict, visible, grammar):
            continue
        if shown is None:
            shown = hide_mentions(visible, seen)
        verdict = _replaced(verdict, each, answer, shown, grammar)
    return verdict


def has_correction(folded: str, verdict: ProseVerdict) -> bool:
    """Return whether words of a correction stand behind a verdict."""
    start = max(verdict.end, verdict.start or 0)
    if not may_be_corrected(folded, start):
        return False
    return next(corrections(folded, start), None) is not None


def _may_correct(
    each: Correction, verdict: ProseVerdict, visible: str, grammar: Grammar
) -> bool:
    before = visible[max(0, each.begins - 40) : each.begins]
    behind_value = _value_before(grammar.scale).search(before) is not None
    if verdict.end or verdict.start is not None:
        unread = verdict.judgment is None or verdict.judgment.status != "ok"
        if unread and behind_value:
            return True
        end = max(verdict.end, verdict.start or 0)
        if not each.follows(visible, end):
            return False
        if grammar.scale.words:
            return True
        return not _of_another(each, visible, end)
    return each.end == len(visible) and (each.firm or behind_value)


def _of_another(each: Correction, visible: str, end: int) -> bool:
    """Return whether a number behind the verdict is what the words correct."""
    return _OTHER_NUMBER.search(visible, end, each.begins) is not None


def _replaced(
    verdict: ProseVerdict,
    each: Correction,
    answer: str,
    visible: str,
    grammar: Grammar,
) -> ProseVerdict:
    """Return the verdict that a correction states; the old one if it states none."""
    begin = verdict.begin if verdict.end else each.start
    if verdict.end and _is_denied(each, visible, grammar.scale):
        judgment = Judgment("unparsed", TAKEN_BACK)
        return ProseVerdict(judgment, verdict.start, begin, each.end)
    match = _value_of(each, visible, grammar)
    if match is None and grammar.scale.words:
        stated = label_of_sentence(answer, visible, grammar, each.start, each.end)
        if stated.judgment is not None:
            return stated
    if match is None:
        if verdict.end and _is_taken_back(each, visible, grammar.scale):
            judgment = Judgment("unparsed", TAKEN_BACK)
            return ProseVerdict(judgment, verdict.start, begin, each.end)
        return verdict
    judgment = reading_of("corrected", match, answer, grammar)
    if judgment.status == "ok":
        rationale = rationale_around(answer, begin, match.end())
        judgment = judgment._replace(rationale=rationale)
    return ProseVerdict(judgment, match.start(), begin, match.end())


def _is_taken_back(each: Correction, visible: str, scale: Scale) -> bool:
    """Return whether a correction without a value leaves none."""
    if not scale.words and _TOO_MUCH.match(visible, each.start, each.end):
        return True
    if each.firm and not each.wish and _ends_in_value(each, visible, scale):
        return True
    if UNABLE.match(visible, each.start, each.end):
        return True
    nothing = NOTHING.match(visible, each.start, each.end)
    return each.firm and not each.wish and nothing is not None


@lru_cache(maxsize=64)
def _value_at_end(scale: Scale) -> re.Pattern[str]:
    value = value_pattern(grammar_of(scale).labels, alone=bool(scale.words))
    value = value.replace("TOP", bound(scale.max))
    return re.compile(rf":\s{value}[\W_]*\Z")


def _ends_in_value(each: Correction, visible: str, scale: Scale) -> bool:
    """Return whether a correction ends in a value that may be another verdict.

    `Wait, the second claim is false: 3.`
    """
    if scale.words or each.end < len(visible):
        return False
    return _value_at_end(scale).search(visible, each.start, each.end) is not None


def _is_denied(each: Correction, visible: str, scale: Scale) -> bool:
    """Return whether a correction denies a label: `On second thought, no pass.`"""
    if not scale.words:
        return False
    denied = _denied_pattern(scale).match(visible, each.start, each.end)
    return denied is not None


def _value_of(each: Correction, visible: str, grammar: Grammar) -> re.Match[str] | None:
    """Return the value that follows a correction, or that its sentences give."""
    start = each.start
    if _LIST.match(visible, start, each.end):
        return None
    too_much = _TOO_MUCH.match(visible, start, each.end)
    if too_much and too_much["end"]:
        start = too_much.end()
    match = _stated_pattern(grammar.scale).match(visible, start, each.end)
    if each.wish and match and _BUT.match(visible, match.end()):
        return None
    if match or each.wish or not each.firm:
        return match
    forms = forms_of(grammar.scale)
    given = forms["given"].finditer(visible, each.start, each.end)
    matches = unquoted(given, visible)
    if matches:
        return matches[-1]
    if each.end < len(visible):
        return None
    return forms["trailing"].search(visible, each.start)
