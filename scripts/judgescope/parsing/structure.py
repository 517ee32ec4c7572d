"""Verdicts in the structure of a reply: objects, tags and tables come before prose."""

import re
from typing import NamedTuple

from judgescope.core.tools import is_other_tool
from judgescope.parsing.attribution import (
    is_of_another,
    is_undecided,
    own_places,
)
from judgescope.parsing.characters import fold
from judgescope.parsing.judgment import Judgment
from judgescope.parsing.keys import (
    CONTRADICTION,
    NAMES_OF_PARTS,
    SEVERAL,
    Menu,
    Statement,
    calls_another_tool,
    chosen,
    statements_in,
    words_of,
)
from judgescope.parsing.objects import FoundObject, objects_in
from judgescope.parsing.quotes import TEXT_SAYS, quotations, unquoted
from judgescope.parsing.tags import REASON_WORDS, TaggedValue, table_rows, tagged

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


def may_be_structured(answer: str) -> bool:
    """Return whether an answer may hold an object, a tag or a table.

    >>> may_be_structured("A 4."), may_be_structured('"score": 4')
    (False, True)
    """
    if "{" in answer:
        return True
    return "</" in answer or "|" in answer or answer[:1] == '"'


def structured(answer: str, menu: Menu) -> Structured:
    """Return the last verdict in the objects, tags and tables of an answer."""
    structure = Structured(None, 0, 0, False, answer, False)
    answer_with_braces = _with_braces(answer)
    if "{" in answer_with_braces:
        structure = _in_objects(answer_with_braces, menu, structure)
    if "</" in structure.rest or "|" in structure.rest:
        structure = _in_markup(structure, menu)
    return structure


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
    folded = fold(answer) if not closed else ""
    quoted = quotations(folded)
    parts = _as_parts(objects)
    if not closed:
        objects = [
            each for each in objects if not is_of_another(folded, each.start, each.end)
        ]
    if not closed and len(objects) > 1:
        spans = [(each.start, each.end) for each in objects]
        objects = [objects[index] for index in own_places(spans, folded)]
        problem = _open_choice(objects, folded, menu)
        if problem is not None:
            last = objects[-1]
            return Structured(problem, last.start, last.end, False, rest, closed)
    for each in reversed(objects):
        if not closed and (
            _is_quoted(each, answer, quoted) or _is_of_other_tool(each, answer)
        ):
            continue
        value = parts if parts is not None else each.value
        verdict = chosen(statements_in(value), menu)
        if verdict is None:
            continue
        statement, judgment = verdict
        judgment = _with_reason(judgment, each, statement, answer, rest)
        begin = answer.rfind("\n", 0, each.start) + 1
        inline = not _LEAD_MARKS.fullmatch(answer[begin : each.start])
        return Structured(judgment, each.start, each.end, inline, rest, closed)
    only_calls = closed and all(calls_another_tool(each.value) for each in objects)
    # The rule of a reply that only calls a tool which does not judge.
    other_tool = "other_tool"
    # a rule of its own, so that coverage tells such a reply from one without a verdict
    called = Judgment("unparsed", other_tool) if only_calls else None
    return Structured(called, 0, 0, False, rest, closed)


_PART_BEHIND = re.compile(r"[\s`*]{0,4}(?:for|on|regarding)\s(?:the\s|its\s)?[a-z]{3}")
"""`{"score": 2} for style`."""


def _open_choice(
    objects: list[FoundObject], folded: str, menu: Menu
) -> Judgment | None:
    """Return why objects with different verdicts give none, or None if they do.

    `{"score": 2} or {"score": 5}`, `{"score": 2} for style, {"score": 5} for facts`.
    """
    verdicts = [chosen(statements_in(each.value), menu) for each in objects]
    values = {verdict[1].value for verdict in verdicts if verdict is not None}
    if len(values) < 2:
        return None
    if is_undecided(folded, objects[-2].end, objects[-1].start):
        return Judgment("unparsed", CONTRADICTION)
    if all(_PART_BEHIND.match(folded, each.end) for each in objects):
        return Judgment("unparsed", SEVERAL)
    return None


def _as_parts(objects: list[FoundObject]) -> object | None:
    """Return objects of one part each as one object; None if they are none.

    Parts have different names: `{"aspect": "tone", "score": 2}`, or one key each.
    """
    values = [each.value for each in objects if isinstance(each.value, dict)]
    if len(values) < 2 or len(values) < len(objects):
        return None
    joined: dict[object, object] = {}
    for value in values:
        joined |= value
    if all(len(value) == 1 for value in values) and len(joined) == len(values):
        return joined
    for name in NAMES_OF_PARTS:
        named = {str(value.get(name)) for value in values if value.get(name)}
        if len(named) == len(values):
            return values
    return None


_ACTION = re.compile(
    r"action\s?:\s?([\w.-]{1,60})\s{0,3}\n\s{0,8}action[ _]input\s?:\s{0,8}\Z",
    re.IGNORECASE,
)


def _is_of_other_tool(held: FoundObject, answer: str) -> bool:
    """Return whether an object is the input of an action that does not judge."""
    action = _ACTION.search(answer, max(0, held.start - _LEAD), held.start)
    return action is not None and is_other_tool(action[1])


def _blanked(answer: str, objects: list[FoundObject]) -> str:
    """Return an answer in which objects are blank lines of their length."""
    parts: list[str] = []
    done = 0
    for each in objects:
        parts.append(answer[done : each.start])
        parts.append(" " * (each.end - each.start))
        done = each.end
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
    if not within:
        return False
    return any(map(str.isalnum, answer[held.end :]))


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
    reasons: list[str] = []
    for statement in statements_in(value):
        text = statement.value
        if isinstance(text, str) and REASON_WORDS.intersection(
            words_of(statement.names[-1])
        ):
            reasons.append(text.strip())
    return [reason for reason in reasons if reason]


def _tail(text: str, statement: Statement) -> str | None:
    """Return a reply from the value of a key on; None if its place is unclear."""
    key = re.compile(rf"[\"']?{re.escape(statement.names[-1])}[\"']?\s*[:=]\s*[\"']?")
    places = list(key.finditer(text))
    if places:
        return text[places[-1].end() :]
    return None


def _in_markup(stated: Structured, menu: Menu) -> Structured:
    """Return the verdict in tags or a table if it stands behind that in an object."""
    text = stated.rest
    for values in (tagged(text), table_rows(text)):
        if not values:
            continue
        stated_values = _not_quoted(values, text)
        verdict = chosen([each.statement for each in stated_values], menu)
        if verdict is None:
            continue
        statement, judgment = verdict
        match = _match_of(statement, stated_values)
        if judgment.rule in (SEVERAL, CONTRADICTION):
            match = stated_values[-1].match  # all of them, to the last, say nothing
        if stated.judgment is None or match.start() > stated.start:
            inline = _stands_behind_words(match, values)
            judgment = _beside_tag(judgment, statement, match, values)
            stated = stated._replace(
                judgment=judgment,
                start=match.start(),
                end=match.end(),
                inline=inline and not stated.closed,
            )
    return stated


def _stands_behind_words(match: re.Match[str], values: list[TaggedValue]) -> bool:
    """Return whether words stand on a value's line before it, other values aside."""
    text = match.string
    begin = text.rfind("\n", 0, match.start()) + 1
    for value in values:
        start, end = value.match.span()
        if end <= match.start():
            if any(map(str.isalnum, text[begin:start])):
                return True
            begin = max(begin, end)
    return any(map(str.isalnum, text[begin : match.start()]))


def _not_quoted(values: list[TaggedValue], text: str) -> list[TaggedValue]:
    """Return the values that the judge states, not those that it quotes."""
    matches = {value.match.start(): value.match for value in values}
    kept = {match.start() for match in unquoted(list(matches.values()), fold(text))}
    return [value for value in values if value.match.start() in kept]


def _match_of(statement: Statement, values: list[TaggedValue]) -> re.Match[str]:
    """Return where the value of a statement stands."""
    return next(value.match for value in values if value.statement is statement)


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
