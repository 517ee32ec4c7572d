"""Choices that a sentence states in words of its own: `My vote goes to B`, `I lean
towards the first one`, `The weaker text is A`.

Each sentence is reduced to its statement: without adverbs, without what leads in
(`Although B is shorter, …`) and without its reason (`…, since it cites the law`). What
is left must be one of a few statements, from its first word to its last.
"""

import re
from functools import cache
from typing import Final, NamedTuple

from judgescope.parsing.attribution import is_of_another
from judgescope.parsing.pair_languages import foreign_statement
from judgescope.parsing.pair_sides import (
    LONGEST_SENTENCE,
    TEXT,
    SideReading,
    side_in,
    side_slot,
)
from judgescope.parsing.quotes import asides

STATED: Final = "stated"
"""The rule of a choice that a sentence states."""
_CONTRADICTION: Final = "contradiction"
_SENTENCE = re.compile(r"(?P<words>(?:[^.!?;\n]|\.(?=\.|\w))+)(?P<mark>[.!?;\n]|\Z)")


class _Sentence(NamedTuple):
    """The words of a sentence, whether a full stop or a new line closes them, and where
    they stand in the reply.
    """

    words: str
    is_closed: bool
    start: int
    end: int


def stated(folded: str, _tie: str) -> tuple[SideReading, int, int] | str | None:
    """The choice that the first or the last sentence states, None without one.

    Sentences that state different choices make none. A first sentence counts only if
    no later one limits it (`However, …`).

    >>> reading, start, end = stated("both are fine. i'd go with b.", "")
    >>> reading.side, start, end
    ('b', 14, 28)
    >>> stated("my vote goes to a. however, its end is weak.", "") is None
    True
    >>> stated("i like a more. b wins.", "")
    'contradiction'
    """
    sentences = _sentences(folded)
    sides = [_stated_side(sentence) for sentence in sentences]
    stated_sides = {side for side in sides if side is not None}
    if not stated_sides:
        return None
    if len(stated_sides) > 1 or _CONTRADICTION in stated_sides:
        return _CONTRADICTION
    if sides[-1] is not None:
        decisive = sentences[-1]
    elif sides[0] is not None and not _is_limited(folded[sentences[0].end :]):
        decisive = sentences[0]
    else:
        return None
    if is_of_another(folded, decisive.start, decisive.end):
        return None
    return SideReading(stated_sides.pop()), decisive.start, decisive.end


def _is_limited(rest: str) -> bool:
    """Return whether later sentences limit the first one."""
    limits = (
        r"\b(?:however|but|still|yet|nevertheless|nonetheless|neither|that said"
        r"|though|on the other hand|conversely|unless|until)\b"
    )
    return re.search(limits, rest) is not None


def _sentences(folded: str) -> list[_Sentence]:
    """The sentences of the judge itself, without questions and quotations."""
    visible = _without_asides(folded)
    sentences = []
    for match in _SENTENCE.finditer(visible):
        words = match["words"]
        if not any(map(str.isalnum, words)):
            continue
        # the mark may be that of a quotation in the reason
        is_question = match["mark"] == "?" and words.count('"') % 2 == 0
        if is_question or len(words) > LONGEST_SENTENCE:
            words = ""
        is_closed = bool(match["mark"])
        end = match.end("words")
        sentences.append(_Sentence(words, is_closed, match.start(), end))
    # of a longer reply the first and the last ones
    many = 30
    if len(sentences) <= 2 * many:
        return sentences
    return sentences[:many] + sentences[-many:]


def _without_asides(folded: str) -> str:
    """A folded text whose quoted lines, fenced blocks and objects are new lines, of the
    same length: no sentence goes on behind one.
    """
    parts = []
    done = 0
    for start, end in asides(folded):
        parts.append(folded[done:start])
        parts.append("\n" * (end - start))
        done = end
    parts.append(folded[done:])
    return "".join(parts)


_TURNS = re.compile(r",?\s(?:but|yet|so|therefore|thus|hence|and so)\s|,\sand\s")
_A_SIDE = rf"(?:the (?:first|second|other|former|latter)|(?:the )?{TEXT} [ab12]|[ab])\b"
_SPLICED = re.compile(rf"(?P<left>{_A_SIDE}[^,]*), (?P<right>{_A_SIDE}.*)")
"""Two statements of a side each: `the first is better, the second is too long`."""


def _stated_side(sentence: _Sentence) -> str | None:
    """The side that a sentence states, `contradiction` for two, None for none."""
    words = sentence.words
    only_partly = (
        r"\b(?:only|just|mostly|not) (?:in|on|for|at|when|if|as|with)\b|\balone\b"
    )
    if re.search(only_partly, words):
        return None
    sides = []
    for clause in [words, *_clauses(words)]:
        side = _clause_side(clause, sentence.is_closed)
        if side is not None:
            sides.append(side)
    if not sides or _praises_both(words):
        return None
    return sides[0] if len(set(sides)) == 1 else _CONTRADICTION


def _praises_both(words: str) -> bool:
    """Return whether a list praises both: `a is the better start, b the better end`."""
    spliced = _SPLICED.fullmatch(words.strip())
    if spliced is None:
        return False
    praise = r"\b(?:better|best|stronger|superior|preferable|wins)\b"
    return all(re.search(praise, spliced[part]) for part in ("left", "right"))


def _clauses(words: str) -> list[str]:
    """The parts of a sentence that a turn separates: `a is good, but b is better`."""
    spliced = _SPLICED.fullmatch(words.strip())
    if spliced:
        return [spliced["left"], spliced["right"]]
    clauses = _TURNS.split(words)
    return clauses if len(clauses) > 1 else []


_EDGES: Final = " \t\r*_`'>#-•,:…."
_LEADS_IN = re.compile(
    r"(?:(?:so|thus|hence|therefore|and|overall|finally|ultimately|consequently"
    r"|accordingly|again|well|okay|ok|yes|in (?:sum|short|summary|conclusion|the end"
    r"|total|comparison)|to (?:sum up|conclude)|all in all|all told|on balance"
    r"|on the whole|on reflection|all things considered|taken together"
    r"|between the two|of the two"
    r"|as an? (?:impartial |fair |ai |language )*(?:judge|evaluator|ai|assistant|model)"
    r"|if (?:i )?(?:had to|have to|must|forced to|pressed to) (?:choose|pick|decide)"
    r"(?: one)?"
    r"|(?:while|although|though|even though|whereas|despite|considering|having|after"
    r"|because|since|given|taking|based on|looking at|weighing|comparing)"
    r" [^,]{1,200}),? )"
)
_I_SAY = re.compile(
    r"\A(?:i|we)(?:'d| would)? (?:say|think|believe|feel|find|conclude)(?: that)? "
)
_OMITTED: Final = (
    # the reason: `, since it cites the law`
    re.compile(
        r",? \b(?:because|since|as (?:it|its|the|this|they|both)|due to|owing to"
        r"|thanks to|given|for (?:its|the|being)|mainly|mostly|largely|primarily"
        r"|chiefly|which|though|although|even though|while|whereas|despite)(?:\s.*)?\Z"
    ),
    # adverbs and asides: `clearly`, `in my view`, `by a hair`
    re.compile(
        r"(?:,? \b(?:clearly|definitely|slightly|arguably|probably|simply|really"
        r"|marginally|narrowly|easily|undoubtedly|certainly|significantly|considerably"
        r"|noticeably|somewhat|much|far|decidedly|obviously|a bit|a little|a tad"
        r"|by far|overall|in my (?:view|opinion|judge?ment|book)|for me|to me|here"
        r"|hands down|on balance|without (?:a )?doubt|no doubt|all things considered"
        r"|of the two|between the two|therefore|thus|hence|then|accordingly|i'm afraid"
        r"|i think|i believe|in the end|this (?:one|time|comparison)"
        r"|(?:but )?only just|(?:if )?only barely"
        r"|by (?:a |an )?(?:[a-z]+ )?(?:hair|nose|whisker|mile|margin|bit)))\b,?"
    ),
    re.compile(
        r"\A(?:clearly|definitely|probably|arguably|slightly|certainly|undoubtedly"
        r"|obviously),? "
    ),
)
"""What is removed from a clause, in this order."""
_BEHIND_COLON = re.compile(r": (?!in |on |for |only |as |at |\d).*\Z")


def _clause_side(clause: str, is_closed: bool) -> str | None:
    """The side that a clause states: `a`, `b` or `tie`."""
    plain = clause.strip(_EDGES)
    leads = _LEADS_IN.match(plain)
    while leads:
        plain = plain[leads.end() :].lstrip(_EDGES)
        leads = _LEADS_IN.match(plain)
    foreign = foreign_statement(plain)
    if foreign is not None:
        return foreign
    statement = plain
    for omitted in _OMITTED:
        statement = omitted.sub("", statement)
    if '"' in statement:
        return None
    statement = statement.strip(_EDGES)
    rest = _I_SAY.sub("", statement, count=1)
    side = _side_of_statement(statement) or _side_of_statement(rest)
    if side is not None:
        return side
    # Without its full stop `Therefore, Output (a)` may be the start of a sentence.
    is_shortened = rest != clause.strip(_EDGES)
    only_a_side = _patterns().only_a_side.fullmatch(rest)
    if only_a_side and is_shortened and is_closed:
        return side_in(only_a_side, "named")
    return None


def _side_of_statement(statement: str) -> str | None:
    if _TIES.fullmatch(statement):
        return "tie"
    statement = _BEHIND_COLON.sub("", statement)
    for pattern in _patterns().of_the_better:
        match = pattern.fullmatch(statement)
        if match and not _is_compared_with_itself(match):
            return side_in(match, "named")
    for pattern in _patterns().of_the_worse:
        match = pattern.fullmatch(statement)
        if match and not _is_compared_with_itself(match):
            return "b" if side_in(match, "named") == "a" else "a"
    return None


def _is_compared_with_itself(match: re.Match[str]) -> bool:
    if "other" not in match.re.groupindex:
        return False
    return side_in(match, "other") == side_in(match, "named")


_NONE_BETTER = (
    r"(?:wins|is better|is the winner|stands out|prevails|is superior|is best)"
)
_TIES = re.compile(
    rf"neither(?: one| {TEXT}| of them| of the two)? {_NONE_BETTER}"
    r"|there is no (?:meaningful |real |clear |significant |notable )?"
    r"(?:difference|winner|preference|better one)(?: between (?:them|the two))?"
    rf"|(?:they|both|the two|the {TEXT}s|both {TEXT}s|(?:{TEXT}s )?a and b)"
    r" (?:fail|perform|do|read|work|are) equally(?: (?:well|badly|poorly|good|bad))?"
    r"|(?:it is |it's |this is )?(?:a )?(?:dead heat|toss-up|wash)"
)


class _Patterns(NamedTuple):
    """Statements of the better text, of the worse one, and a side alone."""

    of_the_better: tuple[re.Pattern[str], ...]
    of_the_worse: tuple[re.Pattern[str], ...]
    only_a_side: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Compile at the first use: this takes as long as a small import."""
    side = side_slot("named")
    rival = rf"(?:{side_slot('other')}|the other(?: one| {TEXT})?)"
    kind = rf"(?: (?:one|{TEXT}|choice|pick))?(?: of (?:the )?(?:two|both))?"
    good = r"(?:better|best|stronger|strongest|superior|preferable|preferred|winning)"
    bad = r"(?:worse|worst|weaker|weakest|inferior|poorer|poorest|losing)"
    quality = r"more (?:helpful|useful|accurate|convincing|compelling|persuasive)"
    mine = r"my (?:choice|pick|winner|favou?rite|preference)"
    winner = rf"(?:(?:clear |overall )?winner|{mine})"
    seems = r"(?:is|was|seems|looks|remains|reads|performs|does|works|fares|comes out)"
    i = r"(?:i|we)(?:'d|'m|'ll| would| will| am| are| have to| must| can)?"
    choose = (
        r"(?:go(?:ing)? with|choose|choosing|pick|select|prefer|favou?r|vote for"
        r"|opt for|side with|settle on|lean(?:ing)? (?:more )?(?:towards?|to)"
        r"|give (?:it|the (?:edge|win|nod|advantage)|my vote) to)"
    )
    award = r"(?:edge|win|nod|victory|advantage|vote|preference|crown)"
    better = (
        rf"{side},? {seems} (?:the )?(?:{good}{kind}|{winner}|ahead|on top)"
        rf"(?: (?:than|to|over) {rival})?",
        rf"{side} (?:wins|takes it|takes the (?:win|lead|edge|crown)|prevails|gets it"
        r"|gets (?:my vote|the (?:nod|edge|win))"
        r"|has the (?:edge|advantage|upper hand)|comes (?:first|out ahead|out on top)"
        r"|edges it|comes off better|it is"
        r"|is the one(?: that)? i(?:'d| would)? (?:choose|prefer|pick)"
        rf"|deserves (?:to win|the win))(?: (?:over|against) {rival})?",
        rf"(?:the )?(?:{good}|{quality}){kind} is {side}",
        r"(?:the |my |and |final |clear |obvious ){0,3}"
        rf"(?:choice|pick|favou?rite|winner) is {side}",
        rf"(?:the |my |a )?(?:slight |clear |small )?{award} (?:is|goes to|to) {side}",
        rf"{i} {choose} {side}(?: (?:over|to) {rival})?",
        rf"(?:let's go|going) with {side}",
        rf"{i} (?:rank|rate|place|put|score) {side} "
        rf"(?:(?:above|ahead of|over|higher than) {rival}|higher|first)",
        rf"{i} (?:consider|find|found|judge|deem) {side} "
        rf"(?:to be )?(?:the )?{good}{kind}"
        rf"(?: (?:than|to) {rival})?",
        rf"(?:it(?:'s| is| has to be| must be)) {side}",
        rf"(?:that|this|which) makes {side} (?:the )?(?:{good}{kind}|{winner})",
        rf"{i} like {side} (?:more|better|best)(?: than {rival})?",
    )
    worse = (
        rf"{side},? {seems} (?:the )?{bad}{kind}(?: (?:than|to) {rival})?",
        rf"(?:the )?{bad}{kind} is {side}",
        rf"{i} (?:rank|rate|place|put|score) {side} "
        rf"(?:(?:below|behind|lower than) {rival}|lower|last)",
        rf"{i} like {side} less(?: than {rival})?",
    )
    return _Patterns(
        tuple(re.compile(pattern) for pattern in better),
        tuple(re.compile(pattern) for pattern in worse),
        re.compile(side),
    )
