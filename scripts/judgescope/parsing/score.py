"""Verdicts of LLM judges: score only, rate-explain and analyze-rate replies."""

import re
from itertools import pairwise

from judgescope.parsing.grammar import WORDS, Grammar, Rule, grammar, is_goal
from judgescope.parsing.judgment import Reading, Scale
from judgescope.parsing.quoted import own
from judgescope.parsing.text import fold, without_reasoning

_REFUSAL = re.compile(
    r"\bas an ai\b|\bi(?:'m| am) (?:very |so |really )?(?:sorry|afraid)\b|\bi apologi[sz]e\b"
    r"|\b(?:can(?:no|')t|can not|won't|(?:unable|not able|decline|not possible|refuse) to)"
    r"(?: \w+)? (?:be )?(?:rated?|scored?|evaluated?|judged?|assess(?:ed)?|provide|give|assign"
    r"|assist|help|comply|fulfill?|answer|determine)\b"
)
_HEADING = re.compile(
    r"[\s*_#\"'{,.:;-]*(?:rationale|explanation|reason(?:ing)?|justification|analysis)"
    r"[*_\"'\s]*[:=-]+[*_\s]*",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"an?|the|my|its?|and|so|thus|hence|therefore|with|in|of|is|overall|final|resulting|earning|"
    r"giving|receiv(?:es|ing)",
    re.IGNORECASE,
)
_LEAD_IN_WORDS = 8
WALK = 3
"""So many values in order are a walk through the scale."""
_LABEL_LENGTH = 60
_LETTERS = re.compile(r"[^\W\d_]+")
_CLAUSE = re.compile(r"[.!?;,()\n\d]|\s[-–—]\s")
_EDGE = " \t\r\n*_#\"'`{}[]()<>,:;=-–—$"


def read_score(text: str, scale: Scale | None) -> Reading:
    """Return the last labelled verdict, else the one that the first matching form gives.

    Reasoning is left out; ranges and enumerations (1-5; 1, 2, 3), what is quoted, and what a text
    is said to claim are no verdicts. A value with another denominator than the scale's top, or
    outside the scale, is out of range, and never moved into it; one between its steps is off the
    grid (`Scale.read`). Unlabelled verdicts that contradict each other are none. Source: methods.md
    6. ValueError without a scale.
    """
    if scale is None:
        raise ValueError("the parser score needs a scale: min, max and step")
    answer, unclosed = without_reasoning(text)
    if unclosed:
        return Reading("truncated", "unclosed_reasoning")
    if not answer:
        return Reading("empty", "only_reasoning")
    forms, folded = grammar(scale), fold(answer)
    seen = forms.echo.sub(_blank, folded)
    for rule in forms.rules:
        matches = _stated(rule, seen)
        if matches and rule.last_wins and is_walk(matches, scale, forms):
            return Reading("unparsed", "enumerated")
        if matches and (rule.last_wins or len({_value(one, scale, forms) for one in matches}) == 1):
            return _reading(rule, matches[-1], answer, scale, forms)
    return (
        Reading("refused", "refusal") if is_refusal(answer) else Reading("unparsed", "no_verdict")
    )


def is_refusal(text: str) -> bool:
    """Return whether a text says that its writer will not do what was asked."""
    return _REFUSAL.search(fold(text)) is not None


def _blank(echo: re.Match[str]) -> str:
    """Hide an echo of the scale as white space, any other range as something no rule reads."""
    if echo["top_of_scale"] and not is_goal(echo):
        return echo[0]
    return (" " if echo["scale"] else "#") * len(echo[0])


def _stated(rule: Rule, seen: str) -> list[re.Match[str]]:
    """Return the matches of a rule that count: its labels, else the sentences that name one."""
    matches = own(rule.pattern.finditer(seen), seen)
    labels = [one for one in matches if not any(one[group] for group in rule.prose)]
    return labels or matches


def is_walk(matches: list[re.Match[str]], scale: Scale, forms: Grammar) -> bool:
    """Return whether verdicts end in WALK values or more of the scale in order, one by one.

    All under one label: a reply that runs through the scale (`Rating: 1 ... Rating: 5`) chooses
    none. Verdicts on three things (`Fluency rating: 3`, `Overall rating: 4`) have labels that
    differ.
    """
    if len(matches) < WALK:
        return False
    last = matches[-WALK:]
    steps = [_place(_value(one, scale, forms), scale) for one in last]
    if None in steps or len(set(map(_label, last))) > 1:
        return False
    differences = {b - a for a, b in pairwise(step for step in steps if step is not None)}
    return differences in ({1}, {-1})


def _place(value: float, scale: Scale) -> int | None:
    """Return how many steps a value lies above the scale's bottom; steps of 1 where it has none."""
    above = (value - scale.min) / (scale.step or 1.0)
    return round(above) if scale.contains(value) and abs(above - round(above)) < 1e-9 else None


def _label(match: re.Match[str]) -> str:
    """Return the words of a verdict's sentence up to its value, without numbers and marks."""
    start = max(map(match.start, ("number", "word", "label")))
    line = match.string[max(0, start - _LABEL_LENGTH) : start]
    return " ".join(_LETTERS.findall(_CLAUSE.split(line)[-1]))


def _value(match: re.Match[str], scale: Scale, forms: Grammar) -> float:
    number, word, label, half = match.group("number", "word", "label", "half")
    if number:
        value = float(number)
    else:
        value = WORDS[word] if word else scale.value_of(forms.labels[" ".join(label.split())])
    return value + 0.5 if half else value


def _reading(
    rule: Rule, match: re.Match[str], answer: str, scale: Scale, forms: Grammar
) -> Reading:
    if not _of_the_top(match, scale):
        return Reading("out_of_range", f"{rule.name}.denominator")
    read = scale.read(_value(match, scale, forms), rule.name)
    if read.status != "ok":
        return read
    label = match["label"] and scale.labels[forms.labels[" ".join(match["label"].split())]]
    rationale = _rationale(answer, match.start(), match.end())
    start = max(match.start("number"), match.start("word"), match.start("label"))
    return read._replace(label=label, rationale=rationale, tail=answer[start:])


def _of_the_top(match: re.Match[str], scale: Scale) -> bool:
    """Return whether the value has no denominator, or the top of the scale as its denominator."""
    top, percent = match.group("top", "percent")
    if not (percent or top):
        return True
    return scale.max == (100.0 if percent else WORDS[top] if top in WORDS else float(top))


def _rationale(answer: str, start: int, end: int) -> str | None:
    """Return what stands around the verdict, without its heading, its marks and its lead-in."""
    before, after = answer[:start].rstrip(_EDGE), answer[end:].lstrip(_EDGE + ".")
    before = before if after else _without_lead_in(before)
    rest = " ".join(part for part in (before, after) if part.strip(_EDGE + ".")).strip()
    heading = _HEADING.match(rest)
    return (rest[heading.end() :] if heading else rest) or None


def _without_lead_in(text: str) -> str:
    """Drop `, resulting in a` and the like, which led to the verdict, from the end."""
    for _ in range(_LEAD_IN_WORDS):
        head, _, word = text.rpartition(" ")
        if not _LEAD_IN.fullmatch(word):
            break
        text = head.rstrip(_EDGE)
    return text
