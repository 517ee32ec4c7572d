"""The label that a whole sentence states: `So it fails.`, `This does not pass.`"""

import re

from judgescope.parsing import labels as label_values
from judgescope.parsing.judgment import Judgment
from judgescope.parsing.pair_sides import TEXT
from judgescope.parsing.rating_forms import CONCLUSION, FIRMNESS, SURELY
from judgescope.parsing.rating_grammar import Grammar
from judgescope.parsing.rating_matches import rationale_around
from judgescope.parsing.rating_search import ProseVerdict

_STATED = re.compile(
    rf"(?:\A|[.!?;\n]\s{{0,2}})[\s*_\"']{{0,4}}(?:(?P<lead>{CONCLUSION})"
    rf"(?:,\s|:\s?|\s))?(?:(?:{SURELY}|{FIRMNESS})\s)?"
    r"(?:an?\s)?(?P<words>(?:[^.!?;:\n\"'`]|(?<=\w)'(?=\w)){2,80}?)"
    r"(?:(?:,?\s(?:because|since|as\s(?:it|its|the|this|they|there)|due\sto)\b"
    r"|:\s(?!not\b|only\b|in\b))"
    r"[^.!?;\n]{1,200})?[.!*_]*\s*\Z"
)
"""The last sentence of a reply."""
_PASSES = re.compile(
    rf"(?:(?:it|this(?: one)?|the {TEXT})"
    r"(?: (?P<denied>does not|doesn't|did not|didn't)"
    r"| (?:cannot|can't)(?P<unable>(?= pass))|(?<!\bit)(?<!\bthis) should)?"
    rf" (?P<stem>pass|fail)(?:es|s|ed)?(?: (?:it|this|this one|the {TEXT}))?"
    r"|i(?:'d| would| will|'ll)?(?P<not> not)?(?: have to)?"
    rf" (?P<given>pass|fail)(?:ed)? (?:it|this|this one|the {TEXT}))"
)
"""`It passes`, `this does not pass`, `I would pass this`. What it should do is open."""


_ON_TEXT = re.compile(
    rf"(?:the|this) (?:student's |model's |assistant's )?(?:{TEXT}|claim|statement) is "
)
"""A sentence that names the judged text needs no word of conclusion before it."""
_CLAUSE = re.compile(r"[.;!?\n]+|,\s(?=not\s)")


def label_of_clauses(answer: str, visible: str, grammar: Grammar) -> ProseVerdict:
    """Return the label of a reply all of whose two or three clauses state it.

    `The claim is not supported; it is unsupported.`
    """
    most_clauses = 3
    none = ProseVerdict(None)
    clauses = [clause.strip() for clause in _CLAUSE.split(visible)]
    clauses = [clause for clause in clauses if clause]
    if not 1 < len(clauses) <= most_clauses:
        return none
    known = label_values.vocabulary(grammar.scale)
    indices = {label_values.index_of_sentence(clause, known) for clause in clauses}
    index = indices.pop()
    if indices or index is None:
        return none
    value = grammar.scale.value_of(index)
    label = grammar.scale.labels[index]
    judgment = Judgment("ok", "stated", value, label, None, answer)
    return ProseVerdict(judgment, None, 0, len(visible))


def label_of_sentence(
    answer: str, visible: str, grammar: Grammar, start: int, end: int
) -> ProseVerdict:
    """Return the label that a sentence between `start` and `end` states, alone there or
    behind words of a conclusion.

    `It is safe.` at the end of a longer reply may be about something in the text.
    """
    # The maximum number of characters of a sentence that states a label.
    longest = 320
    first = max(start, end - longest)
    text = visible[first:end]
    match = _STATED.search(text)
    if match is None:
        return ProseVerdict(None)
    begins = match.start() == 0
    if begins and first > start:  # in the middle of a longer sentence
        return ProseVerdict(None)
    if match["lead"] is None and not begins and not _ON_TEXT.match(match["words"]):
        return ProseVerdict(None)
    known = label_values.vocabulary(grammar.scale)
    words = match["words"].strip()
    passes = _PASSES.fullmatch(words)
    if passes:
        index = known.words.get(passes["stem"] or passes["given"])
        denials = (passes["denied"], passes["unable"], passes["not"])
        if index is not None and any(each is not None for each in denials):
            index = label_values.other_label(index, known)
    else:
        index = label_values.index_of_sentence(words, known)
    if index is None:
        return ProseVerdict(None)
    value = grammar.scale.value_of(index)
    label = grammar.scale.labels[index]
    rest = rationale_around(answer, first + match.start(), end)
    tail = answer[first + match.start("words") :]
    judgment = Judgment("ok", "stated", value, label, rest, tail)
    return ProseVerdict(judgment, None, first + match.start("words"), end)
