"""What an annotator's reply says under labels at the start of its lines."""

import re
from dataclasses import dataclass, field
from typing import Final

from judgescope.parsing.error_list import says_no_errors
from judgescope.parsing.text import fold


@dataclass(slots=True)
class Entry:
    """One error as it is written: every field as text, "" where there is none.

    aside: what stands in brackets behind its number; heading: the rest of that line.
    """

    location: str = ""
    explanation: str = ""
    severity: str = ""
    category: str = ""
    heading: str = ""
    aside: str = ""

    def says_nothing(self) -> bool:
        """Return whether the entry tells of no error: nothing, or the words that there is none."""
        told = (self.location, self.explanation, self.heading)
        said = [text for text in map(_plain, told) if text and not is_nothing(text)]
        return not said or any(map(says_no_errors, said[:1]))


@dataclass(slots=True)
class Said:
    """All that a reply says.

    verdicts: (the label says that it is the overall one, what stands there), in their order; why:
    the reason for the verdict; clean: it says that there is no error; remarks: lines of no field;
    superseded: errors of a list that the reply begins anew after a verdict.
    """

    errors: list[Entry] = field(default_factory=list)
    verdicts: list[tuple[bool, str]] = field(default_factory=list)
    why: str = ""
    clean: bool = False
    remarks: list[str] = field(default_factory=list)
    superseded: int = 0


_EDGES = " \t\r\n*_`\"'|>#-•+"
_MARKS = r"[*_`\"'\])}]{0,6}"
_LEAD = r"[ \t>*_#`\"'|•+(\[{–-]{0,12}(?:\(?\d{1,3}[.):][ \t]{1,4}[*_`\"']{0,4})?"
_SCORE = r"(?:score|rating|grade|verdict|label|category|assessment|evaluation|judge?ment|quality)"
_WHY = r"(?:explanation|reason(?:ing)?|rationale|justification|comment)"
_WORD = r"[\w'’-]{1,30}"
_OF_ERROR = r"(?: of (?:the )?error)?"
NAMES: Final = {
    "why": rf"{_WHY} (?:of|for|behind) (?:the |this |my )?(?:{_WORD} ){{0,2}}{_SCORE}"
    rf"|(?:overall |final )?(?:overall|{_SCORE}) {_WHY}",
    "severity": rf"(?:error )?severity(?: (?:level|score|rating|label|category))?{_OF_ERROR}",
    "overall": rf"(?:the )?(?:overall(?: {_WORD}){{0,4}}|final (?:{_WORD} )?{_SCORE})",
    "category": rf"(?:error )?(?:category|type){_OF_ERROR}",
    "location": r"(?:exact |error )?(?:location|span|quote|quotation|excerpt|passage|phrase)"
    rf"{_OF_ERROR}|error text",
    "explanation": rf"(?:error )?(?:{_WHY}|description){_OF_ERROR}",
    "score": rf"(?:the )?(?:{_WORD} ){{0,2}}(?:score|rating|verdict|grade)"
    rf"(?: (?:for|of)(?: {_WORD}){{1,4}})?",
}
"""Field -> its labels in folded text; of several that fit, the first is meant."""
_ERROR = (
    r"(?:error|issue|mistake|problem)[ \t]?(?:no\.?[ \t]?|number[ \t])?#?(?P<number>\d{1,3})"
    rf"(?![\w/]){_MARKS}(?:[ \t]?[(\[](?P<aside>[^()\[\]\n]{{1,40}})[)\]])?"
    rf"{_MARKS}[ \t]?[:.–—-]?{_MARKS}"
)
_FIELD = re.compile(
    rf"{_LEAD}(?:{_ERROR}|(?:{'|'.join(f'(?P<{name}>{one})' for name, one in NAMES.items())})"
    rf"{_MARKS}(?:[ \t]?\([^()\n]{{0,60}}\))?{_MARKS}"
    rf"(?:[ \t]?[:=]|[ \t][–—-](?=\s)|(?(overall)[ \t]is\b|(?!))){_MARKS})(?P<value>.*)",
    re.DOTALL,
)
_INLINE = re.compile(
    r"(?<=[\s|;,.(\"'”])(?=[*_]{0,3}(?:Location|Explanation|Severity|Category|Overall [Ss]core"
    r"|Explanation of the [Ss]core)[*_]{0,3}\s?[:：])"
)
_NOTHING = re.compile(
    r"\W*(?:none|null|nil|nothing|n/?a|not (?:applicable|available|specified)|no location)\W*"
)


def is_nothing(text: str) -> bool:
    """Return whether folded text is empty or a word for nothing."""
    return not text.strip(_EDGES) or _NOTHING.fullmatch(text) is not None


def field_of(label: str) -> str | None:
    """Return the field that a label alone stands for."""
    found = _FIELD.fullmatch(f"{fold(label).replace('_', ' ').strip()}:")
    return found and found.lastgroup and _name(found)


def read_labelled(answer: str) -> Said:
    """Return what the lines of an answer say; every text fits, some say nothing.

    An error begins with its number or with a field that the one before has already. A blank line
    ends a field, but not the reason for the verdict.
    """
    reader = _Reader()
    for line in answer.splitlines():
        for part in _parts(line):
            reader.read(part, blank=not line.strip())
    reader.close()
    return reader.said


def _parts(line: str) -> list[str]:
    """Return a line that begins with a label, cut where further labels begin; others whole."""
    return _INLINE.split(line) if _FIELD.match(fold(line)) else [line]


def _name(found: re.Match[str]) -> str:
    return next(name for name in ("number", *NAMES) if found[name])


def _plain(text: str) -> str:
    return fold(text).strip(_EDGES)


class _Reader:
    """Takes lines and keeps what they say."""

    def __init__(self) -> None:
        self.said = Said()
        self._entry: Entry | None = None
        self._name = ""
        self._lines: list[str] = []
        self._judged = False

    def read(self, line: str, *, blank: bool) -> None:
        """Take a line, or a part of one that begins with a label."""
        folded = fold(line)
        if found := _FIELD.match(folded):
            self.close()
            self._begin(found, line[found.start("value") :].strip())
        elif blank:
            self._end_of_paragraph()
        elif not self._name:
            self.said.clean |= says_no_errors(folded.strip(_EDGES))
            self.said.remarks.append(line)
        elif line.strip(_EDGES):
            self._lines.append(line.strip())
            self._end_of_line()

    def close(self) -> None:
        """End the field that is open."""
        name, self._name = self._name, ""
        text = " ".join(" ".join(self._lines).split())
        self._lines = []
        if name == "why":
            self.said.why = text
        elif name in ("overall", "score"):
            self.said.verdicts.append((name == "overall", text))
        elif name and self._entry:
            setattr(self._entry, name, text)

    def _begin(self, found: re.Match[str], value: str) -> None:
        name = _name(found)
        if name == "number":
            self._begin_error(int(found["number"]), found["aside"] or "")
            name = "heading"
        elif name in ("overall", "score"):
            self._entry, self._judged = None, True
        elif name == "explanation" and self._entry is None and self._judged:
            name = "why"
        elif name != "why" and (self._entry is None or getattr(self._entry, name)):
            self._add(Entry())
        self._name = name
        if value.strip(_EDGES):
            self._lines.append(value)
            self._end_of_line()

    def _begin_error(self, number: int, aside: str) -> None:
        if number == 1 and self._judged and self.said.errors:
            self.said.superseded += len(self.said.errors)
            self.said.errors, self.said.clean = [], False
        self._judged = False
        self._add(Entry(aside=aside))

    def _add(self, entry: Entry) -> None:
        self._entry = entry
        self.said.errors.append(entry)

    def _end_of_line(self) -> None:
        """A label, a number or a heading is one line; what follows it belongs to nothing."""
        if self._name in ("severity", "category", "overall", "score", "heading"):
            self.close()

    def _end_of_paragraph(self) -> None:
        if self._lines and self._name != "why":
            self.close()
