"""A score computed from a list of errors and their severities."""

import re
from typing import Literal, NamedTuple

from judgescope.parsing.characters import fold
from judgescope.parsing.judgment import Judgment, Scale, parser
from judgescope.parsing.reasoning import answer_of
from judgescope.parsing.text import is_refusal

SEVERITIES = ("minor", "major", "critical")
_SEVERITY = rf"(?P<severity>{'|'.join(SEVERITIES)})"
_BULLET = re.compile(r"(?:[-•*–+]|\(?\d{1,3}[.)])\s")
_FIRST = re.compile(
    rf"(?:errors?\b\s?\d{{0,3}}\W{{0,3}})?(?:severity\b\W{{0,3}})?[(\[]?{_SEVERITY}\b"
    r"(?:\s+errors?\b)?[)\]*_`\"']{0,8}(?:\s?[:|–—]|\s-+\s|(?<=[)\]]))"
    r"(?P<description>.*)"
)
"""`major: what is wrong`, `[major] ...`, `Error (major): ...`, `major error - ...`."""
_LAST = re.compile(
    rf"(?:[(\[,;:|–—-]|\bseverity)[\s*_`\"']{{0,8}}"
    rf"(?:severity\W{{0,3}})?{_SEVERITY}\W{{0,8}}\Z"
)
"""`what is wrong (major)`, `what is wrong. Severity: major`."""
_SECOND = re.compile(rf"[(\[,;|–—-]\s*{_SEVERITY}\b\s?(?:errors?\b\s?)?[:)\]]")
"""A second severity on one line: a sum such as `minor: 2, major: 1`."""
_NOTHING = re.compile(
    r"\W*(?:no|nothing|n/?a|not applicable|0|zero"
    r"|(?:none|(?:there (?:are|is|were|was) )?(?:no|0|zero) (?:such |minor |major |"
    r"critical )?"
    r"(?:errors?|issues?|mistakes?|problems?))(?: (?:(?:was|were) )?"
    r"(?:found|identified|noted|present|detected))?(?: in (?:this|the) \w{1,40})?)"
    r"[^\w?]*"
)
_NO_ERRORS = re.compile(
    r"(?:(?:errors?|answer|list|result)\W{1,4})?(?:(?:none|n/a)(?:\s?[(\[][^()\[\]]{0,80}"
    r"[)\]])?|(?:there (?:are|is|were) "
    r"|i (?:found|find|see|noticed) "
    r"|the (?:text|translation|summary|reply|response|answer)"
    r" (?:has|contains) )?no (?:(?!other|"
    r"further|more|addi)"
    r"[\w-]{1,40} ){0,3}(?:errors?|issues?|problems?)"
    r"(?: [\w'-]{1,40}){0,12})(?:[^\w?]{0,4}|[.;!] .*)"
)
_DOUBT = re.compile(
    rf"\b(?:{'|'.join(SEVERITIES)}|but|however|although|though|except|apart from|"
    r"besides|beyond"
    r"|other than|yet|nevertheless|nonetheless|first|second|third|last|half|beginning|"
    r"wrong"
    r"|mistakes?|incorrect(?:ly)?|missing|missp\w{1,9}|flaws?|unclear|awkward|"
    r"ungrammatical)\b"
)
"""Words that retract `no errors`, restrict it to a part, or report something else."""
_ERROR = re.compile(r"errors?\s?\d{0,3}\s?[:.)(-]")


class _Line(NamedTuple):
    """The kind of a line, and its severity or the reason why it is unreadable.

    absent: the line says that there is no error of the severity; clean: that there is
    no error; doubt: words that contradict `clean`.
    """

    kind: Literal["error", "absent", "clean", "doubt", "fault", "remark"]
    detail: str = ""


@parser("errors", 6, needs_scale=True, settings=(*SEVERITIES, "bottom"))
def read_errors(
    text: str,
    scale: Scale,
    *,
    minor: float,
    major: float,
    critical: float,
    bottom: float,
) -> Judgment:
    """Return max - (max - min) min(1, sum of penalties / bottom), on the scale without
    its steps.

    minor, major, critical: the penalty of an error of each severity; bottom: the sum of
    penalties that gives a text the scale's minimum. Each error is on its own line, with
    its severity first or, in a list, last. A reply is unparsed if an entry has no
    severity or two, if it lists errors but says that there are none, if it says so with
    a reservation, or if it has no errors and does not say so. After MQM as scored by
    Freitag et al. 2021, where a segment's worst sum is 25.
    """
    answer = answer_of(text)
    if isinstance(answer, Judgment):
        return answer
    lines = []
    for line in fold(answer).splitlines():
        lines.append(_line(line.strip()))
    severities = [line.detail for line in lines if line.kind == "error"]
    if not severities and is_refusal(answer):
        return Judgment("refused", "refusal")
    if fault := _fault(lines, severities):
        return Judgment("unparsed", fault)
    penalties = dict(zip(SEVERITIES, (minor, major, critical), strict=True))
    penalty = sum(penalties[severity] for severity in severities)
    value = scale.max - (scale.max - scale.min) * min(1.0, penalty / bottom)
    rule = "listed" if severities else "no_errors"
    return Judgment("ok", rule, max(scale.min, value), rationale=answer)


def is_no_error(line: str) -> bool:
    """Return whether a folded line is `no errors` and nothing else.

    >>> is_no_error("no errors found in the text."), is_no_error("no error is small")
    (True, False)
    """
    return _NOTHING.fullmatch(line) is not None


def says_no_errors(line: str) -> bool:
    """Return whether a folded line says without reservation that there is no error."""
    if not _NO_ERRORS.fullmatch(line):
        return False
    return not _DOUBT.search(line)


def _fault(lines: list[_Line], severities: list[str]) -> str:
    """Return why the errors cannot be read from the lines, or "" if they can."""
    kinds = {line.kind for line in lines}
    absent = set()
    for line in lines:
        if line.kind == "absent":
            absent.add(line.detail)
    clean = "clean" in kinds or absent.issuperset(SEVERITIES)
    if "fault" in kinds:
        return next(line.detail for line in lines if line.kind == "fault")
    if severities:
        if clean or absent.intersection(severities):
            return "contradiction"
        return ""
    if not clean:
        return "incomplete" if absent else "no_list"
    return "doubted" if "doubt" in kinds else ""


def _line(line: str) -> _Line:
    bullet = _BULLET.match(line)
    content = (line[bullet.end() :] if bullet else line).strip(" \t*_`\"'|>#{")
    if says_no_errors(content):
        return _Line("clean")
    if first := _FIRST.match(content):
        return _of_severity(first["severity"], first["description"])
    if last := _LAST.search(content[-80:]):
        description = content[: len(content) - len(last[0])]
        if bullet:
            return _of_severity(last["severity"], description)
        return _Line("fault", "unclear")
    heading = content.endswith(":") or not any(map(str.isalnum, content))
    if not heading and (bullet or _ERROR.match(content)):
        return _Line("fault", "no_severity")
    return _Line("doubt" if _DOUBT.search(content) else "remark")


def _of_severity(severity: str, description: str) -> _Line:
    """Return the judgment of a line with a severity and a description."""
    if _NOTHING.fullmatch(description):
        return _Line("absent", severity)
    if not any(map(str.isalpha, description)):
        return _Line("fault", "no_text")
    if _SECOND.search(description):
        return _Line("fault", "two_severities")
    return _Line("error", severity)
