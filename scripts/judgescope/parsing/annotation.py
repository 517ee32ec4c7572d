"""Annotations: errors with their places and severities, and an overall verdict."""

import re
from dataclasses import asdict, dataclass, replace
from typing import Final

from judgescope.parsing.judgment import STATED, ErrorSpan, Reading, Scale, Status
from judgescope.parsing.labelled import Entry, Said, is_nothing, read_labelled
from judgescope.parsing.objects import read_objects
from judgescope.parsing.score import is_refusal, read_score
from judgescope.parsing.text import fold, without_reasoning

VERDICTS: Final = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
SEVERITIES: Final = ("Neutral", "Minor", "Moderate", "Major", "Critical")
OVERALL: Final = Scale(1, 5, 1, VERDICTS)
MOST: Final = 8
"""So many errors of an annotation are kept."""
COUNTED: Final = ("dropped", "superseded", "unread")
"""What is counted of the errors that an annotation lists."""
SEVERE: Final = 4
"""An error of this severity or more does not go with the best verdict."""
_SEVERITY: Final = Scale(1, 5, 1, SEVERITIES)
_LABELS = "|".join(VERDICTS).lower()
_CHOICES = re.compile(
    rf"\W{{0,8}}(?:one of\b\W{{0,8}})?(?:{_LABELS})\W{{0,4}}(?:[,/|–-]|\bor\b|\bto\b|\band\b)"
    rf"\W{{0,4}}(?:{_LABELS})\b"
)
"""The scale as the prompt has it, or a verdict between two: none of them is chosen."""
_FREE = frozenset(("labelled", "bare", "double_brackets", "given", "trailing"))
"""Forms in which a verdict may stand without a line of its own."""
_QUOTE = r"(?:\"[^\"]+\"|“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|「[^「」]+」|`[^`]+`)"
_BETWEEN = re.compile(r"[\s,;/&.…]{0,5}(?:(?:and|or)\b)?\s{0,3}")
_AFTER = re.compile(r"(?:\([^()]{0,200}\)|\[[^\[\]]{0,200}\])?[\s.,;]{0,5}")
"""A remark in brackets."""
_ONE_QUOTE = re.compile(_QUOTE)
_AT_HEADING = re.compile(r"\bseverity\b[\W_]{0,4}(?P<value>(?:level )?[^\s,;)\]]{1,12})")
_LEVEL = re.compile(r"\A\W{0,4}(?:severity\b[\W_]{0,4})?(?:level\b[\W_]{0,4})?", re.IGNORECASE)
_MARKS = " \t\r\n*_>|"


@dataclass(frozen=True, slots=True)
class Contradictions:
    """How often an annotation says what does not go together.

    errors_beside_none: errors that are listed although it says that there are none;
    best_with_severe: errors of severity 4 or 5 under the best verdict; less_without_errors: 1
    where the verdict is not the best and no error is listed; other_verdicts: labelled verdicts of
    another value than the one taken.
    """

    errors_beside_none: int = 0
    best_with_severe: int = 0
    less_without_errors: int = 0
    other_verdicts: int = 0


@dataclass(frozen=True, slots=True)
class Annotation:
    """A parsed annotation; `value` is a number only where `status` is ok.

    label: the verdict's word, where it was one; errors: at most MOST, in the order of the reply;
    rationale: the reason for the verdict; clean: the reply says that there are no errors; dropped:
    errors beyond MOST; superseded: errors of a list that it begins anew; unread: severities that
    are written and cannot be read.
    """

    status: Status
    rule: str
    value: float | None = None
    label: str | None = None
    errors: tuple[ErrorSpan, ...] = ()
    rationale: str | None = None
    clean: bool = False
    dropped: int = 0
    superseded: int = 0
    unread: int = 0
    contradictions: Contradictions = Contradictions()

    @property
    def reading(self) -> Reading:
        """Return what parsers tell; the rule names what is counted behind a plus sign."""
        counts = {name: getattr(self, name) for name in COUNTED}
        counts |= asdict(self.contradictions)
        rule = "+".join([self.rule, *(name for name, count in counts.items() if count)])
        return Reading(self.status, rule, self.value, self.label, self.rationale, None, self.errors)


def read_verdict_and_errors(text: str, scale: Scale | None) -> Reading:
    """Return what `read_annotation` finds, as parsers tell it. ValueError without a scale."""
    if scale is None:
        raise ValueError("the parser annotation needs a scale: min, max and step")
    return read_annotation(text, scale).reading


def read_merged(text: str, _: Scale | None) -> Reading:
    """Return the errors that a supervisor lists; it gives no verdict.

    Unparsed is a reply that lists none and does not say that there are none.
    """
    found = read_annotation(text)
    read = found.reading._replace(value=None, label=None)
    if found.status not in {"unparsed", *STATED}:
        return read
    if not found.errors and not found.clean:
        return read._replace(status="unparsed", rule="no_list")
    counted = [name for name in COUNTED if getattr(found, name)]
    rule = "+".join(["listed" if found.errors else "no_errors", *counted])
    return read._replace(status="ok", rule=rule)


def read_annotation(text: str, scale: Scale = OVERALL) -> Annotation:
    """Return the errors that a reply lists, and its last labelled verdict on the scale.

    Lines with labels or JSON; verdicts in numbers or, where the scale has them, words, severities 1
    to 5 or Neutral to Critical. A verdict under `overall` is stronger than one under `score`; one
    without a label counts where there is no labelled one. Of more than MOST errors the most severe
    are kept, a missing severity being the least. Without a verdict the reply is unparsed, also
    where it says that there are no errors; what it lists is told all the same. Never raises.
    Source: paper 004, section 4 and listing 1; methods.md 5.
    """
    answer, unclosed = without_reasoning(text)
    if unclosed:
        return Annotation("truncated", "unclosed_reasoning")
    if not answer:
        return Annotation("empty", "only_reasoning")
    said, form = _said(answer)
    verdict, others = _verdict(said, form, scale)
    entries = [entry for entry in said.errors if not entry.says_nothing()]
    said.clean |= len(entries) < len(said.errors) and not entries
    if verdict.status == "unparsed" and not entries and not said.clean and is_refusal(answer):
        return Annotation("refused", "refusal")
    told = [one for entry in entries for one in _errors(entry)]
    errors = tuple(error for error, _ in told)
    kept = _most_severe(errors)
    return Annotation(
        verdict.status,
        verdict.rule,
        verdict.value,
        verdict.label,
        kept,
        said.why or None,
        clean=said.clean,
        dropped=len(errors) - len(kept),
        superseded=said.superseded,
        unread=sum(unread for _, unread in told),
        contradictions=replace(
            _contradictions(verdict.value, scale.max, errors, said.clean), other_verdicts=others
        ),
    )


def _said(answer: str) -> tuple[Said, str]:
    """Return what the answer says in JSON, and in lines what JSON does not say."""
    inside, rest = read_objects(answer)
    if inside is None:
        return read_labelled(answer), "labelled"
    outside = read_labelled(rest)
    if inside.verdicts and outside.verdicts and not (inside.errors or inside.clean):
        return read_labelled(answer), "labelled"  # an object that is quoted, and no annotation
    if inside.verdicts:
        return inside, "json"
    inside.verdicts, inside.remarks = outside.verdicts, outside.remarks
    inside.why = inside.why or outside.why
    return inside, "labelled"


def _verdict(said: Said, form: str, scale: Scale) -> tuple[Reading, int]:
    """Return the verdict that counts, and how many others have another value."""
    read = [(strong, _verdict_of(text, scale)) for strong, text in said.verdicts]
    told = [(strong, one) for strong, one in read if one.status in STATED]
    if told:
        strongest = max(strong for strong, _ in told)
        found = [one for strong, one in told if strong == strongest][-1]
        others = sum(one.value != found.value for _, one in told)
        return found._replace(rule=f"{form}.{found.rule}"), others
    free = read_score("\n".join(said.remarks), scale)
    if free.status in STATED and free.rule.partition(".")[0] in _FREE:
        return free._replace(rule=f"free.{free.rule}"), 0
    return Reading("unparsed", "unread_verdict" if said.verdicts else "no_verdict"), 0


def _verdict_of(text: str, scale: Scale) -> Reading:
    if scale.labels and _CHOICES.match(fold(text)):
        return Reading("unparsed", "several_verdicts")
    return read_score(f"Rating: {text}", scale)


def _errors(entry: Entry) -> list[tuple[ErrorSpan, bool]]:
    """Return an error once for each place it names, and whether its severity cannot be read."""
    heading = entry.heading.strip(_MARKS)
    quoted = _ONE_QUOTE.search(heading)
    location = entry.location or ("" if entry.explanation or not quoted else quoted[0])
    written = entry.severity or entry.aside
    severity = _severity(written)
    if severity is None and (named := _AT_HEADING.search(fold(heading))):
        severity = _severity(named["value"])
    category = entry.category.strip(_MARKS + "`\"'")
    found = ErrorSpan(
        None,
        (entry.explanation or heading).strip(_MARKS),
        severity,
        None if is_nothing(fold(category)) else category,
    )
    lost = severity is None and not is_nothing(fold(entry.severity))
    places = _places(location)
    return [(found._replace(location=place), lost and not at) for at, place in enumerate(places)]


def _severity(text: str) -> int | None:
    read = read_score(f"Rating: {_LEVEL.sub('', text)}", _SEVERITY)
    return int(read.value) if read.status == "ok" and read.value is not None else None


def _places(location: str) -> list[str | None]:
    """Return the passages that a location quotes, the location itself where it quotes none."""
    text = location.strip(_MARKS)
    if is_nothing(fold(text)):
        return [None]
    if quoted := _quoted(text):
        return [one for one in quoted if one] or [None]
    if len(text) > 2 and text[0] in "'‘" and text[-1] in "'’":
        return [text[1:-1].strip() or None]
    return [text]


def _quoted(text: str) -> list[str]:
    """Return the passages of a text that is one quotation or several, nothing for another."""
    found, done = list[str](), 0
    while one := _ONE_QUOTE.match(text, done):
        found.append(one[0][1:-1].strip())
        between = _BETWEEN.match(text, one.end())
        done = between.end() if between else one.end()
    return found if found and _AFTER.fullmatch(text, done) else []


def _most_severe(errors: tuple[ErrorSpan, ...]) -> tuple[ErrorSpan, ...]:
    ranked = sorted(range(len(errors)), key=lambda at: -(errors[at].severity or 0))
    return tuple(errors[at] for at in sorted(ranked[:MOST]))


def _contradictions(
    value: float | None, best: float, errors: tuple[ErrorSpan, ...], clean: bool
) -> Contradictions:
    severe = sum((error.severity or 0) >= SEVERE for error in errors)
    return Contradictions(
        errors_beside_none=len(errors) if clean else 0,
        best_with_severe=severe if value == best else 0,
        less_without_errors=int(value is not None and value < best and not errors),
    )
