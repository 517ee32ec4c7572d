"""Annotations: errors with their locations and severities, and an overall verdict.

A reply lists them under labels at the start of its lines, or in JSON, fenced or not.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from judgescope.parsing.characters import fold
from judgescope.parsing.error_list import is_no_error, says_no_errors
from judgescope.parsing.judgment import STATED, ErrorSpan, Judgment, Scale, parser
from judgescope.parsing.reasoning import answer_of
from judgescope.parsing.score import read_score
from judgescope.parsing.text import is_refusal


@dataclass(slots=True)
class Entry:
    """One error as the reply writes it: every field as text, "" if it is missing.

    aside: the text in brackets after the error's number; heading: the rest of that
    line.
    """

    location: str = ""
    explanation: str = ""
    severity: str = ""
    category: str = ""
    heading: str = ""
    aside: str = ""

    def says_nothing(self) -> bool:
        """Return whether the entry names no error: it is empty, or says that there is
        none.
        """
        fields = (self.location, self.explanation, self.heading)
        folded = (fold(text).strip(_EDGES) for text in fields)
        words = [text for text in folded if text and not is_nothing(text)]
        return not words or says_no_errors(words[0])


@dataclass(slots=True)
class Listing:
    """The content of a reply, field by field.

    verdicts: (whether the label contains `overall`, the verdict's text), in order; why:
    the reason for the verdict; clean: the reply says that there is no error; remarks:
    lines outside of all fields; superseded: errors of a list that the reply repeats
    after a verdict.
    """

    errors: list[Entry] = field(default_factory=list)
    verdicts: list[tuple[bool, str]] = field(default_factory=list)
    why: str = ""
    clean: bool = False
    remarks: list[str] = field(default_factory=list)
    superseded: int = 0


_EDGES = " \t\r\n*_`\"'|>#-•+"
_CLOSING = r"[*_`\"'\])}]{0,6}"
_OPENING = r"[ \t>*_#`\"'|•+(\[{–-]{0,12}(?:\(?\d{1,3}[.):][ \t]{1,4}[*_`\"']{0,4})?"
_VERDICT = (
    r"(?:score|rating|grade|verdict|label|category|assessment|evaluation|"
    r"judge?ment|quality)"
)
_WHY = r"(?:explanation|reason(?:ing)?|rationale|justification|comment)"
_WORD = r"[\w'’-]{1,30}"
_OF_ERROR = r"(?: of (?:the )?error)?"
NAMES: Final = {
    "why": rf"{_WHY} (?:of|for|behind) (?:the |this |my )?(?:{_WORD} ){{0,2}}{_VERDICT}"
    rf"|(?:overall |final )?(?:overall|{_VERDICT}) {_WHY}",
    "severity": r"(?:error )?severity(?: (?:level|score|rating|label|"
    rf"category))?{_OF_ERROR}",
    "overall": rf"(?:the )?(?:overall(?: {_WORD}){{0,4}}|final "
    rf"(?:{_WORD} )?{_VERDICT})",
    "category": rf"(?:error )?(?:category|type){_OF_ERROR}",
    "location": r"(?:exact |error )?(?:location|span|quote|quotation|excerpt|passage|"
    r"phrase)"
    rf"{_OF_ERROR}|error text",
    "explanation": rf"(?:error )?(?:{_WHY}|description){_OF_ERROR}",
    "score": rf"(?:the )?(?:{_WORD} ){{0,2}}(?:score|rating|verdict|grade)"
    rf"(?: (?:for|of)(?: {_WORD}){{1,4}})?",
}
"""Field -> its labels in folded text, in order of precedence."""
_ERROR = (
    r"(?:error|issue|mistake|problem)[ \t]?(?:no\.?[ \t]?|number[ \t])?#?"
    r"(?P<number>\d{1,3})"
    rf"(?![\w/]){_CLOSING}(?:[ \t]?[(\[](?P<aside>[^()\[\]\n]{{1,40}})[)\]])?"
    rf"{_CLOSING}[ \t]?[:.–—-]?{_CLOSING}"
)
_LABELS = "|".join(f"(?P<{name}>{labels})" for name, labels in NAMES.items())
_FIELD = re.compile(
    rf"{_OPENING}(?:{_ERROR}|(?:{_LABELS})"
    rf"{_CLOSING}(?:[ \t]?\([^()\n]{{0,60}}\))?{_CLOSING}"
    rf"(?:[ \t]?[:=]|[ \t][–—-](?=\s)|(?(overall)[ \t]is\b|(?!))){_CLOSING})"
    r"(?P<value>.*)",
    re.DOTALL,
)
_INLINE = re.compile(
    r"(?<=[\s|;,.(\"'”])(?=[*_]{0,3}(?:Location|Explanation|Severity|Category|"
    r"Overall [Ss]core"
    r"|Explanation of the [Ss]core)[*_]{0,3}\s?[:：])"
)
_NO_WORD = (
    r"(?:none|null|nil|nothing|n/?a|not (?:applicable|available|specified)|no location)"
)
_NOTHING = re.compile(
    rf"[\W_]*{_NO_WORD}(?:\s?[,;/]\s?{_NO_WORD})*[\W_]*"
    r"(?:[(\[][^()\[\]]{0,300}[)\]][\W_]*)?"
)
"""A word for nothing, alone, repeated, or with a remark in brackets behind it."""
PLACEHOLDERS: Final = frozenset(
    (
        "the words concerned, as they stand in the text; none where something is "
        "missing",
        "why they are an error",
        "a whole number from 1 to 5",
        "one of the categories above",
        "why the text deserves it",
        "the passage, or none",
        "what is wrong",
        "1 to 5",
        "the category of the entries it was made of",
    )
)
"""What the shipped prompt forms have between angle brackets, folded."""
_PLACEHOLDER = re.compile(r"<[^<>]{1,200}>")


def is_nothing(text: str) -> bool:
    """Return whether folded text is empty, or only says that there is nothing.

    >>> [is_nothing(text) for text in ("none", "none (no mention)", "none, none", "no")]
    [True, True, True, False]
    """
    return not text.strip(_EDGES) or _NOTHING.fullmatch(text) is not None


def is_placeholder(text: str) -> bool:
    """Return whether a field repeats what the prompt has in its place.

    That is one of the shipped forms' placeholders, or a text in angle brackets alone.

    >>> is_placeholder("<what is wrong>"), is_placeholder("<b>wrong</b>")
    (True, False)
    """
    folded = " ".join(fold(text).split()).strip(" *_`\"'")
    return folded in PLACEHOLDERS or _PLACEHOLDER.fullmatch(folded) is not None


def field_of(label: str) -> str | None:
    """Return the field of a label."""
    match = _FIELD.fullmatch(f"{fold(label).replace('_', ' ').strip()}:")
    return _name(match) if match and match.lastgroup else None


def _name(match: re.Match[str]) -> str:
    return next(name for name in ("number", *NAMES) if match[name])


def read_labelled(answer: str) -> Listing:
    """Return the content of an answer's lines.

    An error begins with its number, or with a field that the previous error already
    has. A blank line ends a field, except the reason for the verdict.
    """
    reader = _LineReader()
    for line in answer.splitlines():
        # a line that begins with a label may contain further labels
        for part in _INLINE.split(line) if _FIELD.match(fold(line)) else [line]:
            reader.read(part, blank=not line.strip())
    reader.close()
    return reader.listing


class _LineReader:
    """Collects the fields of a listing from its lines."""

    def __init__(self) -> None:
        self.listing = Listing()
        self._entry: Entry | None = None
        self._name = ""
        self._lines: list[str] = []
        self._judged = False

    def read(self, line: str, *, blank: bool) -> None:
        """Read a line, or a part of a line that begins with a label."""
        folded = fold(line)
        if match := _FIELD.match(folded):
            self.close()
            self._begin(match, line[match.start("value") :].strip())
        elif blank:
            if self._lines and self._name != "why":
                self.close()
        elif not self._name:
            self.listing.clean |= says_no_errors(folded.strip(_EDGES))
            self.listing.remarks.append(line)
        else:
            self._add_line(line.strip())

    def close(self) -> None:
        """Finish the open field."""
        name, self._name = self._name, ""
        text = " ".join(" ".join(self._lines).split())
        self._lines = []
        if name == "why":
            self.listing.why = text
        elif name in ("overall", "score"):
            self.listing.verdicts.append((name == "overall", text))
        elif name and self._entry:
            setattr(self._entry, name, text)

    def _begin(self, match: re.Match[str], value: str) -> None:
        """Start the field of a label."""
        name = _name(match)
        if name == "number":
            name = "heading"
            if int(match["number"]) == 1 and self._judged and self.listing.errors:
                self.listing.superseded += len(self.listing.errors)
                self.listing.errors, self.listing.clean = [], False
            self._judged = False
            self._add(Entry(aside=match["aside"] or ""))
        elif name in ("overall", "score"):
            self._entry, self._judged = None, True
        elif name == "explanation" and self._entry is None and self._judged:
            name = "why"
        elif name != "why" and (self._entry is None or getattr(self._entry, name)):
            self._add(Entry())
        self._name = name
        self._add_line(value)

    def _add(self, entry: Entry) -> None:
        self._entry = entry
        self.listing.errors.append(entry)

    def _add_line(self, line: str) -> None:
        """Add a line to the open field, and finish a field that has only one line."""
        if line.strip(_EDGES):
            self._lines.append(line)
            if self._name in ("severity", "category", "overall", "score", "heading"):
                self.close()


# --- JSON -----------------------------------------------------------------------------

_BEGIN = re.compile(r"\{(?=\s{0,40}[\"}])|\[(?=\s{0,40}[{\]])")
TRIES = 40
"""The maximum number of places at which JSON parsing is tried."""
_LISTS = re.compile(
    r"(?:identified |found |list of )?(?:errors?|issues|mistakes)"
    r"|(?:error )?(?:spans|annotations|list)"
)
_TEXTS = frozenset(("text", "quoted text", "error span"))
_VERDICTS = ("overall", "score", "category")


def read_objects(answer: str) -> tuple[Listing | None, str]:
    """Return the last annotation in JSON (None if there is none) and the remaining
    text.

    An annotation is an object with a list of errors or a verdict, or only a list of
    errors. Keys are read like labels. An empty list means that there are no errors.
    """
    last: Listing | None = None
    rest, done = list[str](), 0
    for value, start, end in _values(answer):
        listing = _listing(value)
        if listing:
            listing.superseded = len(last.errors) + last.superseded if last else 0
            last = listing
            rest.append(answer[done:start])
            done = end
    rest.append(answer[done:])
    return last, "".join(rest)


def _values(answer: str) -> Iterator[tuple[object, int, int]]:
    """Yield the outermost objects and lists of an answer with their start and end."""
    decoder = json.JSONDecoder()
    done = 0
    for _ in range(TRIES):
        begin = _BEGIN.search(answer, done)
        if begin is None:
            return
        try:
            value, done = decoder.raw_decode(answer, begin.start())
        except (ValueError, RecursionError):
            done = begin.start() + 1
        else:
            yield value, begin.start(), done


def _listing(value: object) -> Listing | None:
    if isinstance(value, list):
        value = (
            {"errors": value} if all(isinstance(entry, dict) for entry in value) else {}
        )
    assert isinstance(value, dict)  # _BEGIN finds objects and lists
    listing = Listing()
    for key, inner in value.items():
        if isinstance(inner, list) and _LISTS.fullmatch(_label(key)):
            listing.clean = not inner
            for entry in inner:
                if isinstance(entry, dict):
                    listing.errors += _entries(entry)
                elif text := _text(entry):
                    listing.errors.append(Entry(heading=text))
        else:
            _add_verdict(field_of(key), inner, listing)
    return listing if listing.errors or listing.clean or listing.verdicts else None


def _add_verdict(name: str | None, inner: object, listing: Listing) -> None:
    if name in _VERDICTS and isinstance(inner, dict):
        for key, part in inner.items():
            _add_verdict(field_of(key), part, listing)
    elif name in _VERDICTS:
        listing.verdicts.append((name == "overall", _text(inner)))
    elif name in ("why", "explanation"):
        listing.why = _text(inner)


def _entries(fields: dict[str, object]) -> list[Entry]:
    """Return the error in an object, once for each of its locations."""
    entry, locations = Entry(), [""]
    for key, inner in fields.items():
        name = "location" if _label(key) in _TEXTS else field_of(key)
        if name == "location":
            locations = (
                [_text(one) for one in inner]
                if isinstance(inner, list)
                else [_text(inner)]
            )
        elif name in ("explanation", "why", "severity", "category"):
            setattr(entry, "explanation" if name == "why" else name, _text(inner))
    return [replace(entry, location=location) for location in locations or [""]]


def _label(key: str) -> str:
    return fold(key).replace("_", " ").strip()


def _text(value: object) -> str:
    """Return a string or a number as text, anything else as ""."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return " ".join(str(value).split())


# --- the annotation -------------------------------------------------------------------

VERDICTS: Final = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
SEVERITIES: Final = ("Neutral", "Minor", "Moderate", "Major", "Critical")
OVERALL: Final = Scale(1, 5, 1, VERDICTS)
MOST: Final = 8
"""The maximum number of errors that are kept."""
COUNTED: Final = ("dropped", "superseded", "repeated", "placeholders", "unread")
"""The counts of listed errors that are dropped or only partly read."""
CONTRADICTIONS: Final = (
    *("errors_beside_none", "best_with_severe"),
    *("less_without_errors", "other_verdicts"),
)
"""The counts of an annotation's contradictions."""
SEVERE: Final = 4
"""An error of this severity or more contradicts the best verdict."""
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


@parser("annotation", 7, needs_scale=True)
def read_verdict_and_errors(text: str, scale: Scale) -> Judgment:
    """Return the result of `read_annotation` as a judgment."""
    return read_annotation(text, scale).judgment


@parser("merged", 5, in_cards=False)
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
    the best verdict. Never raises.
    Source: (Kartáč et al. 2025), section 4 and listing 1; methods.md 5.
    """
    answer = answer_of(text)
    if isinstance(answer, Judgment):
        return Annotation(answer, False, {})
    listing, form = _content(answer)
    verdict, other_verdicts = _verdict(listing, form, scale)
    n_placeholders = sum(map(_empty_placeholders, listing.errors))
    entries = [entry for entry in listing.errors if not entry.says_nothing()]
    clean = listing.clean or (len(entries) < len(listing.errors) and not entries)
    if (
        verdict.status == "unparsed"
        and not entries
        and not clean
        and is_refusal(answer)
    ):
        return Annotation(Judgment("refused", "refusal"), False, {})
    if verdict.rule == "no_verdict" and clean and _says_only_that(listing):
        verdict = scale.read(scale.ends[1], "no_error_alone")
        if scale.labels and verdict.value is not None:
            verdict = verdict._replace(label=scale.labels[-1])
    read = [error for entry in entries for error in _errors(entry)]
    read, n_repeated = _without_repetitions(read)
    errors = tuple(error for error, _ in read)
    ranked = sorted(
        range(len(errors)), key=lambda index: -(errors[index].severity or 0)
    )
    severe = sum((error.severity or 0) >= SEVERE for error in errors)
    value, best = verdict.value, scale.max
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
    rule = "+".join([verdict.rule, *(name for name, count in counts.items() if count)])
    kept = tuple(errors[index] for index in sorted(ranked[:MOST]))
    why = listing.why or None
    judgment = Judgment(verdict.status, rule, value, verdict.label, why, errors=kept)
    return Annotation(judgment, clean, counts)


def _empty_placeholders(entry: Entry) -> int:
    """Empty the fields of an entry that repeat the prompt; return their number."""
    emptied = 0
    for name in ("location", "explanation", "severity", "category", "heading"):
        if is_placeholder(getattr(entry, name)):
            setattr(entry, name, "")
            emptied += 1
    return emptied


def _says_only_that(listing: Listing) -> bool:
    """Return whether a reply says nothing but that there are no errors."""
    fields = [fold(entry.explanation or entry.heading) for entry in listing.errors]
    stated = listing.clean or any(says_no_errors(text.strip(_EDGES)) for text in fields)
    rated = any(not is_nothing(fold(entry.severity)) for entry in listing.errors)
    if not stated or rated or listing.verdicts or listing.why:
        return False
    remarks = [fold(line).strip(_EDGES) for line in listing.remarks]
    said = [line for line in remarks if line]
    return all(is_no_error(line) or is_nothing(line) for line in said)


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
    inside.verdicts, inside.remarks = outside.verdicts, outside.remarks
    inside.why = inside.why or outside.why
    return inside, "labelled"


def _verdict(listing: Listing, form: str, scale: Scale) -> tuple[Judgment, int]:
    """Return the verdict to use, and the number of verdicts with another value."""
    read = [(overall, _verdict_of(text, scale)) for overall, text in listing.verdicts]
    stated = [
        (overall, reading) for overall, reading in read if reading.status in STATED
    ]
    if stated:
        has_overall = any(overall for overall, _ in stated)
        verdict = [reading for overall, reading in stated if overall == has_overall][-1]
        others = sum(reading.value != verdict.value for _, reading in stated)
        return verdict._replace(rule=f"{form}.{verdict.rule}"), others
    free = read_score("\n".join(listing.remarks), scale)
    if free.status in STATED and free.rule.partition(".")[0] in _FREE:
        return free._replace(rule=f"free.{free.rule}"), 0
    return Judgment(
        "unparsed", "unread_verdict" if listing.verdicts else "no_verdict"
    ), 0


def _verdict_of(text: str, scale: Scale) -> Judgment:
    if scale.labels and _CHOICES.match(fold(text)):
        return Judgment("unparsed", "several_verdicts")
    return read_score(f"Rating: {text}", scale)


def _errors(entry: Entry) -> list[tuple[ErrorSpan, bool]]:
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
    return int(reading.value) if reading.value is not None else None


def _quotes(location: str) -> list[str | None]:
    """Return the passages that a location quotes, or the location itself if it has no
    quotes.
    """
    text = location.strip(_MARKS)
    if is_nothing(fold(text)):
        return [None]
    quotes, done = list[str](), 0
    while quote := _ONE_QUOTE.match(text, done):
        quotes.append(quote[0][1:-1].strip())
        between = _BETWEEN.match(text, quote.end())
        done = between.end() if between else quote.end()
    if quotes and _AFTER.fullmatch(text, done):
        return [quote for quote in quotes if quote] or [None]
    if len(text) > 2 and text[0] in "'‘" and text[-1] in "'’":
        return [text[1:-1].strip() or None]
    return [text]
