"""Annotations on labelled lines: errors field by field, verdicts, and their reasons."""

import re
from dataclasses import dataclass, field
from typing import Final

from judgescope.parsing.characters import fold
from judgescope.parsing.error_list import says_no_errors


@dataclass(slots=True)
class ErrorEntry:
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
        folded = (fold(text).strip(EDGES) for text in fields)
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

    errors: list[ErrorEntry] = field(default_factory=list)
    verdicts: list[tuple[bool, str]] = field(default_factory=list)
    why: str = ""
    clean: bool = False
    remarks: list[str] = field(default_factory=list)
    superseded: int = 0


EDGES = " \t\r\n*_`\"'|>#-•+"
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
    if not text.strip(EDGES):
        return True
    return _NOTHING.fullmatch(text) is not None


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
    if match and match.lastgroup:
        return _name(match)
    return None


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
        self._entry: ErrorEntry | None = None
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
            self.listing.clean |= says_no_errors(folded.strip(EDGES))
            self.listing.remarks.append(line)
        else:
            self._add_line(line.strip())

    def close(self) -> None:
        """Finish the open field."""
        name = self._name
        self._name = ""
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
                self.listing.errors = []
                self.listing.clean = False
            self._judged = False
            self._add(ErrorEntry(aside=match["aside"] or ""))
        elif name in ("overall", "score"):
            self._entry = None
            self._judged = True
        elif name == "explanation" and self._entry is None and self._judged:
            name = "why"
        elif name != "why" and (self._entry is None or getattr(self._entry, name)):
            self._add(ErrorEntry())
        self._name = name
        self._add_line(value)

    def _add(self, entry: ErrorEntry) -> None:
        self._entry = entry
        self.listing.errors.append(entry)

    def _add_line(self, line: str) -> None:
        """Add a line to the open field, and finish a field that has only one line."""
        if line.strip(EDGES):
            self._lines.append(line)
            if self._name in ("severity", "category", "overall", "score", "heading"):
                self.close()
