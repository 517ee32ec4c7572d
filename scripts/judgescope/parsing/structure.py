"""Verdicts in the structure of a reply: objects, tags and tables come before prose."""

import re
from typing import NamedTuple

from judgescope.parsing.characters import fold, word_set
from judgescope.parsing.judgment import Judgment
from judgescope.parsing.keys import Menu, Statement, chosen, statements_in, words_of
from judgescope.parsing.objects import FoundObject, objects_in
from judgescope.parsing.quotes import TEXT_SAYS, quotations, unquoted
from judgescope.parsing.tags import TaggedValue, table_rows, tagged

_REASONS = word_set(
    """
    reason reasons reasoning rationale explanation justification comment comments
    feedback analysis why notes thought thoughts begründung razón motif причина 理由
    原因 解释 이유
    """
)
_LEAD_MARKS = re.compile(r"[\s`~*_#>|-]*(?:json[c5l]?|python|yaml)?[\s:]*", re.I)
_FENCE = re.compile(r"\s*(?:[`~\"']{1,3}(?:json)?)?\s*\Z", re.IGNORECASE)
_LEAD = 200


class Structured(NamedTuple):
    """What the structure of a reply says.

    judgment: the verdict, None if there is none; start, end: where it stands; inline:
    whether words stand before it on its line; rest: the answer with objects blanked,
    for the search in prose; closed: whether the reply is nothing but objects.
    """

    judgment: Judgment | None
    start: int
    end: int
    inline: bool
    rest: str
    closed: bool


def structured(answer: str, menu: Menu) -> Structured:
    """Return the last verdict in the objects, tags and tables of an answer."""
    found = Structured(None, 0, 0, False, answer, False)
    answer_with_braces = _with_braces(answer)
    if "{" in answer_with_braces:
        found = _in_objects(answer_with_braces, menu, found)
    if "</" in found.rest or "|" in found.rest:
        found = _in_markup(found, menu)
    return found


def _with_braces(answer: str) -> str:
    """Return an answer of keys and values that has lost its braces with them."""
    begins = answer.startswith('"') and re.match(r'"[\w -]{1,60}"\s?:', answer)
    return "{" + answer if begins else answer


def _in_objects(answer: str, menu: Menu, so_far: Structured) -> Structured:
    objects = objects_in(answer)
    if not objects:
        return so_far
    rest = _blanked(answer, objects)
    closed = not any(map(str.isalnum, _LEAD_MARKS.sub("", rest)))
    nothing = Structured(None, 0, 0, False, rest, closed)
    quoted = quotations(fold(answer)) if not closed else []
    for one in reversed(objects):
        if not closed and _is_quoted(one, answer, quoted):
            continue
        verdict = chosen(statements_in(one.value), menu)
        if verdict is None:
            continue
        statement, judgment = verdict
        judgment = _with_reason(judgment, one, statement, answer, rest)
        begin = answer.rfind("\n", 0, one.start) + 1
        inline = not _LEAD_MARKS.fullmatch(answer[begin : one.start])
        return Structured(judgment, one.start, one.end, inline, rest, closed)
    return nothing


def _blanked(answer: str, objects: list[FoundObject]) -> str:
    """Return an answer in which objects are blank lines of their length."""
    parts = list[str]()
    done = 0
    for one in objects:
        parts.append(answer[done : one.start])
        parts.append(" " * (one.end - one.start))
        done = one.end
    parts.append(answer[done:])
    return "".join(parts)


def _is_quoted(
    held: FoundObject, answer: str, quotations: list[tuple[int, int]]
) -> bool:
    """Return whether the judged text, not the judge, says an object."""
    begin = answer.rfind("\n", 0, held.start) + 1
    line = answer[begin : held.start]
    if line.lstrip().startswith(">"):
        return True
    lead = _FENCE.sub("", answer[max(0, held.start - _LEAD) : held.start])
    clause = re.split(r"[.!?\n]", fold(lead))[-1]
    if TEXT_SAYS.search(clause):
        return True
    within = any(start <= held.start and held.end <= end for start, end in quotations)
    return within and any(map(str.isalnum, answer[held.end :]))


def _with_reason(
    judgment: Judgment,
    held: FoundObject,
    statement: Statement,
    answer: str,
    rest: str,
) -> Judgment:
    """Return an object's judgment with its reason and the reply from its value on."""
    if judgment.status != "ok":
        return judgment._replace(label=None, rationale=None)
    reasons = _reasons(held.value)
    prose = " ".join(rest.replace("```json", "").replace("```", "").split())
    if any(map(str.isalnum, prose)):
        reasons.insert(0, prose)
    tail = _tail(answer[held.start :], statement)
    return judgment._replace(rationale="\n".join(reasons) or None, tail=tail)


def _reasons(value: object) -> list[str]:
    """Return the texts of an object that say why."""
    reasons = list[str]()
    for statement in statements_in(value):
        text = statement.value
        if isinstance(text, str) and _REASONS.intersection(
            words_of(statement.names[-1])
        ):
            reasons.append(text.strip())
    return [reason for reason in reasons if reason]


def _tail(text: str, statement: Statement) -> str | None:
    """Return a reply from the value of a key on; None if its place is unclear."""
    key = re.compile(rf"[\"']?{re.escape(statement.names[-1])}[\"']?\s*[:=]\s*[\"']?")
    places = list(key.finditer(text))
    return text[places[-1].end() :] if places else None


def _in_markup(stated: Structured, menu: Menu) -> Structured:
    """Return the verdict in tags or a table if it stands behind that in an object."""
    text = stated.rest
    for values in (tagged(text), table_rows(text)):
        if not values:
            continue
        own = _own(values, text)
        verdict = chosen([one.statement for one in own], menu)
        if verdict is None:
            continue
        statement, judgment = verdict
        match = next(one.match for one in own if one.statement is statement)
        if stated.judgment is None or match.start() > stated.start:
            begin = text.rfind("\n", 0, match.start()) + 1
            inline = any(map(str.isalnum, text[begin : match.start()]))
            judgment = _beside_tag(judgment, statement, match, values)
            stated = stated._replace(
                judgment=judgment,
                start=match.start(),
                end=match.end(),
                inline=inline and not stated.closed,
            )
    return stated


def _own(values: list[TaggedValue], text: str) -> list[TaggedValue]:
    """Return the values that the judge states, not those that it quotes."""
    matches = {one.match.start(): one.match for one in values}
    kept = {match.start() for match in unquoted(list(matches.values()), fold(text))}
    return [one for one in values if one.match.start() in kept]


def _beside_tag(
    judgment: Judgment,
    statement: Statement,
    match: re.Match[str],
    values: list[TaggedValue],
) -> Judgment:
    """Return a tag's judgment with the text around the tags as its reason."""
    if judgment.status != "ok":
        return judgment._replace(label=None, rationale=None)
    text = match.string
    value = str(statement.value)
    start = text.rfind(value, match.start(), match.end())
    around = text[: match.start()] + " " + text[match.end() :]
    rationale = re.sub(r"</?[^\W\d][\w.:-]{0,40}(?:\s[^<>\n]{0,120})?>", "", around)
    return judgment._replace(
        rationale=rationale.strip() or None,
        tail=text[start:] if start >= 0 else None,
    )
