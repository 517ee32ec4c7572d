"""Annotations: errors with their locations and severities, and an overall verdict.

A reply lists them under labels at the start of its lines, or in JSON, fenced or not.
"""

import re
from typing import Final, NamedTuple

from judgescope.parsing.annotation_lines import (
    EDGES,
    ErrorEntry,
    Listing,
    is_nothing,
    is_placeholder,
    read_labelled,
)
from judgescope.parsing.annotation_objects import read_objects
from judgescope.parsing.characters import fold
from judgescope.parsing.error_list import is_no_error, says_no_errors
from judgescope.parsing.judgment import STATED, ErrorSpan, Judgment, Scale, parser
from judgescope.parsing.reasoning import answer_of
from judgescope.parsing.score import read_score
from judgescope.parsing.text import is_refusal

# --- JSON -----------------------------------------------------------------------------


# --- the annotation -------------------------------------------------------------------

VERDICTS: Final = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
SEVERITIES: Final = ("Neutral", "Minor", "Moderate", "Major", "Critical")
OVERALL: Final = Scale(1, 5, 1, VERDICTS)
MOST: Final = 8
"""The maximum number of errors that are kept."""
COUNTED: Final = ("dropped", "superseded", "repeated", "placeholders", "unread")
"""The counts of listed errors that are dropped or only partly read."""
CONTRADICTIONS: Final = (
    "errors_beside_none",
    "best_with_severe",
    "less_without_errors",
    "other_verdicts",
)
"""The counts of an annotation's contradictions."""
_SEVERITY: Final = Scale(1, 5, 1, SEVERITIES)
_WORDS = "|".join(VERDICTS).lower()
_CHOICES = re.compile(
    rf"\W{{0,8}}(?:one of\b\W{{0,8}})?(?:{_WORDS})\W{{0,4}}(?:[,/|–-]|\bor\b|\bto\b|"
    r"\band\b)"
    rf"\W{{0,4}}(?:{_WORDS})\b"
)
"""The scale as in the prompt, or a verdict between two values: neither is a verdict."""
_FREE = frozenset(("labelled", "bare", "double_brackets", "given", "trailing"))
"""The rules that may read a verdict outside of a labelled line."""
_QUOTE = r"(?:\"[^\"]+\"|“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|「[^「」]+」|`[^`]+`)"
_BETWEEN = re.compile(r"[\s,;/&.…]{0,5}(?:(?:and|or)\b)?\s{0,3}")
_AFTER = re.compile(r"(?:\([^()]{0,200}\)|\[[^\[\]]{0,200}\])?[\s.,;]{0,5}")
"""A remark in brackets."""
_ONE_QUOTE = re.compile(_QUOTE)
_AT_HEADING = re.compile(
    r"\bseverity\b[\W_]{0,4}(?P<value>(?:level )?[^\s,;)\]]{1,12})"
)
_LEVEL = re.compile(
    r"\A\W{0,4}(?:severity\b[\W_]{0,4})?(?:level\b[\W_]{0,4})?", re.IGNORECASE
)
_MARKS = " \t\r\n*_>|"


class Annotation(NamedTuple):
    """The judgment in an annotation, whether it says that there are no errors, and
    counts.

    The judgment's rule lists every count above 0 after a plus sign; its errors are at
    most MOST, in the order of the reply; its rationale is the reason for the verdict.
    dropped: errors beyond MOST; superseded: errors of a list that the reply repeats;
    repeated: errors with the place and the explanation of another; placeholders: fields
    that repeat the prompt's own words; unread: severities in the reply that cannot be
    read; errors_beside_none: listed errors in a reply that says that there are none;
    best_with_severe: errors of severity 4 or 5 despite the best verdict;
    less_without_errors: 1 if the verdict is not the best although no error is listed;
    other_verdicts: labelled verdicts that differ from the one used.
    """

    judgment: Judgment
    clean: bool
    counts: dict[str, int]


@parser("annotation", 15, needs_scale=True)
def read_verdict_and_errors(text: str, scale: Scale) -> Judgment:
    """Return the result of `read_annotation` as a judgment."""
    return read_annotation(text, scale).judgment


@parser("merged", 10, in_cards=False)
def read_merged(text: str, _: Scale | None) -> Judgment:
    """Return the errors that a supervisor lists; a supervisor gives no verdict.

    A reply is unparsed if it lists no errors and does not say that there are none.
    """
    judgment, clean, counts = read_annotation(text)
    reading = judgment._replace(value=None, label=None)
    if reading.status not in {"unparsed", *STATED}:
        return reading
    if not reading.errors and not clean:
        return reading._replace(status="unparsed", rule="no_list")
    counted = [name for name in COUNTED if counts[name]]
    rule = "+".join(["listed" if reading.errors else "no_errors", *counted])
    return reading._replace(status="ok", rule=rule)


def read_annotation(text: str, scale: Scale = OVERALL) -> Annotation:
    """Return the errors that a reply lists, and its last labelled verdict on the scale.

    The reply may use labelled lines or JSON, verdicts in numbers or in the scale's
    words, severities 1 to 5 or Neutral to Critical. A verdict labelled `overall` takes
    precedence over one labelled `score`; a verdict without a label is used only if no
    verdict has a label. If there are more than MOST errors, the most severe are kept; a
    missing severity is the least severe. Without a verdict the reply is unparsed, and
    its errors are returned anyway; only a reply that says nothing but `No Error` has
    the best verdict. Never raises. Source: (Kartáč et al. 2025), section 4 and listing
    1; docs/methods.md, "Ensembles, spans and distillation".
    """
    answer = answer_of(text)
    if isinstance(answer, Judgment):
        return Annotation(answer, False, {})
    listing, form = _content(answer)
    verdict, other_verdicts = _verdict(listing, form, scale)
    n_placeholders = sum(map(_empty_placeholders, listing.errors))
    entries = [entry for entry in listing.errors if not entry.says_nothing()]
    clean = listing.clean or (len(entries) < len(listing.errors) and not entries)
    says_nothing = verdict.status == "unparsed" and not entries and not clean
    if says_nothing and is_refusal(answer):
        return Annotation(Judgment("refused", "refusal"), False, {})
    if verdict.rule == "no_verdict" and clean and _says_only_that(listing):
        verdict = scale.read(scale.ends[1], "no_error_alone")
        if scale.labels and verdict.value is not None:
            verdict = verdict._replace(label=scale.labels[-1])
    read: list[tuple[ErrorSpan, bool]] = []
    for entry in entries:
        read += _errors(entry)
    read, n_repeated = _without_repetitions(read)
    errors = tuple(error for error, _ in read)
    severities = [error.severity or 0 for error in errors]
    ranked = sorted(range(len(errors)), key=lambda index: -severities[index])
    severe = sum(severity >= 4 for severity in severities)
    value = verdict.value
    best = scale.max
    counts = {
        "dropped": max(0, len(errors) - MOST),
        "superseded": listing.superseded,
        "repeated": n_repeated,
        "placeholders": n_placeholders,
        "unread": sum(unread for _, unread in read),
        "errors_beside_none": len(errors) if clean else 0,
        "best_with_severe": severe if value == best else 0,
        "less_without_errors": int(value is not None and value < best and not errors),
        "other_verdicts": other_verdicts,
    }
    counted = [name for name, count in counts.items() if count]
    rule = "+".join([verdict.rule, *counted])
    kept = tuple(errors[index] for index in sorted(ranked[:MOST]))
    why = listing.why or None
    judgment = Judgment(verdict.status, rule, value, verdict.label, why, errors=kept)
    return Annotation(judgment, clean, counts)


def _empty_placeholders(entry: ErrorEntry) -> int:
    """Empty the fields of an entry that repeat the prompt; return their number."""
    emptied = 0
    template = _is_template(entry)
    for name in ("location", "explanation", "severity", "category", "heading"):
        text = getattr(entry, name)
        if is_placeholder(text) or (template and _IN_BRACKETS.fullmatch(text.strip())):
            setattr(entry, name, "")
            emptied += 1
    return emptied


_IN_BRACKETS = re.compile(r"\[[^\[\]]{2,300}\]|\{[^{}]{2,300}\}")


def _is_template(entry: ErrorEntry) -> bool:
    """Return whether an entry repeats a form: `Severity: [1 to 5]`.

    Its explanation and its severity are both in brackets; `[4]` is a severity.
    """
    fields = (entry.explanation.strip(), entry.severity.strip())
    return all(map(_IN_BRACKETS.fullmatch, fields))


def _says_only_that(listing: Listing) -> bool:
    """Return whether a reply says nothing but that there are no errors."""
    fields = [fold(entry.explanation or entry.heading) for entry in listing.errors]
    stated = listing.clean or any(says_no_errors(text.strip(EDGES)) for text in fields)
    rated = any(not is_nothing(fold(entry.severity)) for entry in listing.errors)
    if not stated or rated or listing.verdicts or listing.why:
        return False
    remarks = [fold(line).strip(EDGES) for line in listing.remarks]
    return all(is_no_error(line) or is_nothing(line) for line in remarks if line)


def _without_repetitions(
    read: list[tuple[ErrorSpan, bool]],
) -> tuple[list[tuple[ErrorSpan, bool]], int]:
    """Return errors without those that repeat another's place and explanation, and
    their number; the highest severity is kept.
    """
    kept: dict[tuple[str, str], tuple[ErrorSpan, bool]] = {}
    for error, unread in read:
        words = (error.location or "", error.explanation)
        location, explanation = (" ".join(fold(text).split()) for text in words)
        first = kept.get((location, explanation))
        if first is None:
            kept[location, explanation] = (error, unread)
        elif (error.severity or 0) > (first[0].severity or 0):
            raised = first[0]._replace(severity=error.severity)
            kept[location, explanation] = (raised, unread)
    return list(kept.values()), len(read) - len(kept)


def _content(answer: str) -> tuple[Listing, str]:
    """Return the content of an answer's JSON; if that is incomplete, add that of its
    lines.
    """
    inside, rest = read_objects(answer)
    if inside is None:
        return read_labelled(answer), "labelled"
    outside = read_labelled(rest)
    if inside.verdicts and outside.verdicts and not (inside.errors or inside.clean):
        return read_labelled(answer), "labelled"  # a quoted object, not an annotation
    if inside.verdicts:
        return inside, "json"
    inside.verdicts = outside.verdicts
    inside.remarks = outside.remarks
    inside.why = inside.why or outside.why
    return inside, "labelled"


def _verdict(listing: Listing, form: str, scale: Scale) -> tuple[Judgment, int]:
    """Return the verdict to use, and the number of verdicts with another value."""
    stated: list[tuple[bool, Judgment]] = []
    for overall, text in listing.verdicts:
        reading = _verdict_of(text, scale)
        if reading.status in STATED:
            stated.append((overall, reading))
    if stated:
        has_overall = any(overall for overall, _ in stated)
        verdict = [reading for overall, reading in stated if overall == has_overall][-1]
        others = sum(reading.value != verdict.value for _, reading in stated)
        return verdict._replace(rule=f"{form}.{verdict.rule}"), others
    free = read_score("\n".join(listing.remarks), scale)
    if free.status in STATED and free.rule.partition(".")[0] in _FREE:
        return free._replace(rule=f"free.{free.rule}"), 0
    rule = "unread_verdict" if listing.verdicts else "no_verdict"
    return Judgment("unparsed", rule), 0


def _verdict_of(text: str, scale: Scale) -> Judgment:
    if scale.labels and _CHOICES.match(fold(text)):
        return Judgment("unparsed", "several_verdicts")
    return read_score(f"Rating: {text}", scale)


def _errors(entry: ErrorEntry) -> list[tuple[ErrorSpan, bool]]:
    """Return an error once for each location, each with whether its severity is
    unreadable.
    """
    heading = entry.heading.strip(_MARKS)
    quoted = _ONE_QUOTE.search(heading)
    location = entry.location or ("" if entry.explanation or not quoted else quoted[0])
    severity = _severity(entry.severity or entry.aside)
    if severity is None and (named := _AT_HEADING.search(fold(heading))):
        severity = _severity(named["value"])
    category = entry.category.strip(_MARKS + "`\"'")
    error = ErrorSpan(
        None,
        (entry.explanation or heading).strip(_MARKS),
        severity,
        None if is_nothing(fold(category)) else category,
    )
    unread = severity is None and not is_nothing(fold(entry.severity))
    return [
        (error._replace(location=quote), unread and not index)
        for index, quote in enumerate(_quotes(location))
    ]


def _severity(text: str) -> int | None:
    reading = read_score(f"Rating: {_LEVEL.sub('', text)}", _SEVERITY)
    if reading.value is not None:
        return int(reading.value)
    return None


def _quotes(location: str) -> list[str | None]:
    """Return the passages that a location quotes, or the location itself if it has no
    quotes.
    """
    text = location.strip(_MARKS)
    if is_nothing(fold(text)):
        return [None]
    quotes: list[str] = []
    done = 0
    while quote := _ONE_QUOTE.match(text, done):
        quotes.append(quote[0][1:-1].strip())
        between = _BETWEEN.match(text, quote.end())
        done = between.end() if between else quote.end()
    if quotes and _AFTER.fullmatch(text, done):
        return [quote for quote in quotes if quote] or [None]
    if len(text) > 2 and text[0] in "'‘" and text[-1] in "'’":
        return [text[1:-1].strip() or None]
    return [text]
