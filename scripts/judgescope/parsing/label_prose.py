"""The label that prose states, on a scale that has only labels."""

import re

from judgescope.parsing import labels as label_values
from judgescope.parsing.glance import Glance, glance
from judgescope.parsing.judgment import Judgment
from judgescope.parsing.keys import Statement, chosen
from judgescope.parsing.label_sentences import label_of_clauses, label_of_sentence
from judgescope.parsing.lines import line_values
from judgescope.parsing.rating_corrections import corrected, has_correction
from judgescope.parsing.rating_grammar import WATCHED, Grammar
from judgescope.parsing.rating_matches import (
    EDGE,
    EDGE_OR_DOT,
    end_of_value,
    is_walk,
    match_value,
    rationale_around,
    reading_of,
)
from judgescope.parsing.rating_search import (
    ProseVerdict,
    labelled_ratings,
    unlabelled_ratings,
    visible_text,
)
from judgescope.parsing.rating_values import menu_of

_WORD = re.compile(r"[\W_]*\w+")


def read_label(answer: str, plain: str, grammar: Grammar) -> ProseVerdict:
    """Return the verdict in prose on a scale that has only labels.

    Named values come first (`Verdict: fail`, `Pass: no`), then the patterns, then a
    whole sentence about the text (`So it fails.`). The last correction decides.
    """
    verdict = _named_label(answer, plain, grammar)
    if verdict is not None and not has_correction(plain, verdict):
        return verdict
    seen = glance(plain, WATCHED)
    visible = visible_text(plain, seen, grammar)
    if verdict is None:
        verdict = _label_in_prose(answer, visible, seen, grammar)
    if verdict.judgment is None:
        verdict = label_of_sentence(answer, visible, grammar, 0, len(visible))
    if verdict.judgment is None:
        verdict = label_of_clauses(answer, visible, grammar)
    return corrected(verdict, answer, visible, seen, grammar)


def _named_label(answer: str, plain: str, grammar: Grammar) -> ProseVerdict | None:
    """Return the verdict of the named values of lines, None without one."""
    values = line_values(plain)
    verdict = chosen((line.statement for line in values), menu_of(grammar.scale))
    if verdict is None:
        return None
    statement, judgment = verdict
    match = next(line.match for line in values if line.statement is statement)
    end = _end_of_label(plain, match.end(), statement)
    if judgment.status == "ok":
        start = match.end()
        rationale = rationale_around(answer, match.start(), end)
        tail = answer[start:].lstrip(EDGE)
        judgment = judgment._replace(rationale=rationale, tail=tail)
    return ProseVerdict(judgment, match.start(), match.start(), end)


def _label_in_prose(
    answer: str, visible: str, seen: Glance, grammar: Grammar
) -> ProseVerdict:
    """Return the verdict that the patterns of ratings find."""
    labelled = labelled_ratings(grammar, visible, seen)
    explicit = [match for match in labelled if match["explicit"]]
    if explicit:
        if is_walk(explicit, grammar):
            return ProseVerdict(Judgment("unparsed", "enumerated"))
        match = explicit[-1]
        judgment = reading_of("labelled", match, answer, grammar)
        return ProseVerdict(judgment, match.start(), *match.span())
    forms = dict(unlabelled_ratings(grammar, visible))
    leading = forms.get("leading")
    trailing = forms.get("trailing")
    contradiction = ProseVerdict(Judgment("unparsed", "contradiction"))
    values_at_ends: set[float | None] = set()
    for match in filter(None, (leading, trailing)):
        values_at_ends.add(match_value(match, grammar))
    if len(values_at_ends) > 1:
        return contradiction
    if leading:  # `No - it would need a source to be a yes.`
        if _enumerates(leading, visible, grammar) or _is_answered(leading, visible):
            return contradiction
        form = "leading"
        match = leading
    elif labelled:
        form = "labelled"
        match = labelled[-1]
    elif forms:
        form, match = next(iter(forms.items()))
    else:
        return ProseVerdict(None)
    if _is_crossed(match, answer, grammar):
        return contradiction
    judgment = reading_of(form, match, answer, grammar)
    # a bracket behind it may correct it: `Pass (no, fail)`
    end = end_of_value(match) if form == "bare" else match.end()
    return ProseVerdict(judgment, None, match.start(), end)


def _enumerates(match: re.Match[str], visible: str, grammar: Grammar) -> bool:
    """Return whether another label follows that which begins a reply: `Pass, fail`."""
    rest = visible[match.end() :].lstrip(EDGE_OR_DOT)
    words = grammar.labels.items()
    index = grammar.labels[label_values.plain_label(match["label"])]
    others = [word for word, other in words if other != index]
    return any(re.match(rf"{re.escape(word)}(?!\w)", rest) for word in others)


def _is_answered(match: re.Match[str], visible: str) -> bool:
    """Return whether a yes or no follows that is not clear: `Pass: yes/no`."""
    behind = visible[match.end() - 1 :].lstrip(" *_")
    if not match[0].rstrip().endswith(":"):
        return False
    return label_values.begins_with_answer(behind)


def _is_crossed(match: re.Match[str], answer: str, grammar: Grammar) -> bool:
    """Return whether a cross denies a label: `Pass ✗`; beside the worst it agrees."""
    start, end = match.span("label")
    around = answer[max(0, start - 3) : start] + answer[end : end + 3]
    if not any(sign in around for sign in "✗✘❌☒"):
        return False
    return grammar.labels[label_values.plain_label(match["label"])] != 0


def _end_of_label(plain: str, start: int, statement: Statement) -> int:
    """Return the end of the first word in the value of a line."""
    value = str(statement.value)
    begin = plain.find(value, start)
    word = _WORD.match(plain, begin)
    return word.end() if word else start
