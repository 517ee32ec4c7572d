"""Ratings in the replies of LLM judges: score only, rate-explain and analyze-rate.

Structure comes first, then the last labelled rating, then the forms without a label
(`rating_forms`). All are searched in folded text (`characters.fold`).
"""

import re
from typing import Final

from judgescope.parsing.attribution import is_undecided
from judgescope.parsing.characters import fold, is_plain
from judgescope.parsing.foreign_numbers import (
    FOREIGN_NUMBER,
    begins_with_foreign_number,
)
from judgescope.parsing.glance import Glance, glance
from judgescope.parsing.judgment import Judgment, Scale, parser
from judgescope.parsing.keys import (
    COMPOUND,
    NUMBERS,
    SEVERAL,
    UNREAD,
    VERDICT_WORDS,
    Rank,
    is_bare,
    rank_of,
)
from judgescope.parsing.label_prose import read_label
from judgescope.parsing.lines import named, value_behind
from judgescope.parsing.lone_ratings import lone_rating
from judgescope.parsing.mentions import hide_mentions, hide_withdrawn
from judgescope.parsing.quotes import outside_asides, unquoted, without_quoted_line
from judgescope.parsing.rated_sides import (
    SCORES_OF_SIDES,
    is_of_one_side,
    names_second_side,
    rates_both_sides,
)
from judgescope.parsing.rating_corrections import corrected
from judgescope.parsing.rating_grammar import WATCHED, Grammar, forms_of, grammar_of
from judgescope.parsing.rating_matches import (
    SHORT_NAME,
    best_ranked,
    end_of_value,
    is_walk,
    match_rank,
    match_value,
    reading_of,
    start_of_value,
)
from judgescope.parsing.rating_parts import (
    has_next_part,
    is_one_of_bracketed,
    overall_in_list,
    overall_of_parts,
    rate_parts,
)
from judgescope.parsing.rating_search import (
    ProseVerdict,
    labelled_ratings,
    unlabelled_ratings,
    without_echoes,
)
from judgescope.parsing.rating_values import menu_of
from judgescope.parsing.reasoning import answer_of
from judgescope.parsing.structure import Structured, may_be_structured, structured
from judgescope.parsing.tags import (
    blank_markup,
    blank_signs,
    stars_as_digits,
    with_points,
)
from judgescope.parsing.text import nothing_read

_NO_VALUE = re.compile(
    r"\W{0,6}(?:n/?a|none|null|unknown|unclear|undetermined|undecided|mixed|tbd|\?+|-+"
    r"|(?:not|cannot|can't) [a-z ]{3,30})\W*\Z"
)
"""A value that says that there is none."""
FEW_WORDS = 2
"""The minimum number of blanks in a value that is a sentence."""
_RATED_ALONE = re.compile(r"[\W_]*\d(?:\.\d+)?(?:\s?/\s?\d+)?[\W_]*")

_GUILLEMETS: Final = str.maketrans(dict.fromkeys("«»", '"'))


@parser("score", 17, needs_scale=True)
def read_score(text: str, scale: Scale) -> Judgment:
    """Return the last labelled rating; without one, that of the first matching pattern.

    Reasoning, quotations, ranges, enumerations (1-5; 1, 2, 3) and ratings that the
    judged text is said to claim are ignored. A value with a denominator other than the
    scale's top, or outside the scale, is out of range and never clipped; a value
    between the steps is off the grid (`Scale.read`). If unlabelled ratings contradict
    each other, there is no rating. On a scale that has only labels, a label in prose
    (`a score of fair`) and an unlabelled one count only if the reply does not begin
    with one label and end with another. A rating of one of two texts that the reply
    rates is none. Source: docs/methods.md, "From a reply to a score".
    """
    plain = is_plain(text)
    answer = answer_of(text, plain=plain)
    if isinstance(answer, Judgment):
        return answer
    grammar = grammar_of(scale)
    if plain or not may_be_structured(answer):
        judgment = _read_prose(answer, grammar, plain=plain).judgment
        return judgment or _nothing_read(answer)
    structure = structured(answer, menu_of(scale))
    if structure.closed:
        return structure.judgment or nothing_read(answer, "no_verdict")
    prose = _read_prose(structure.rest, grammar)
    if structure.judgment is None:
        return prose.judgment or _nothing_read(structure.rest)
    if _is_later(prose, structure) and prose.judgment:
        return prose.judgment
    return structure.judgment


def _nothing_read(answer: str) -> Judgment:
    """Return the judgment of prose without a verdict that can be read."""
    folded = blank_markup(fold(answer))
    values = [folded, *(value_behind(line) for line in named(folded))]
    if any(map(begins_with_foreign_number, values)):
        return nothing_read(answer, FOREIGN_NUMBER)
    both = rates_both_sides(folded)
    return nothing_read(answer, SCORES_OF_SIDES if both else "no_verdict")


def _is_later(prose: ProseVerdict, structure: Structured) -> bool:
    """Return whether prose, not structure, has the last verdict.

    An object within a line may be a quotation; a labelled line beside it is not.
    """
    if prose.start is None or structure.start <= prose.start < structure.end:
        return False
    return prose.start >= structure.end or structure.inline


def _read_prose(answer: str, grammar: Grammar, *, plain: bool = False) -> ProseVerdict:
    """Return the last labelled verdict of an answer; without one, that of the first
    matching pattern.

    plain: whether the answer has no character of markup (`is_plain`).
    """
    scale = grammar.scale
    folded = fold(answer) if plain else blank_markup(fold(answer))
    if scale.words:
        return read_label(answer, folded, grammar)
    if not folded.isascii():
        # Here alone: in lists of errors a place may be in these marks to be one.
        folded = folded.translate(_GUILLEMETS)
        folded = stars_as_digits(folded, scale.max)
    seen = glance(folded, WATCHED)
    visible = blank_signs(folded, seen)
    if seen.several_numbers:
        visible = with_points(visible)
    if not plain:
        visible = hide_withdrawn(visible)
    visible = without_echoes(visible, seen, grammar)
    lone = lone_rating(visible, seen, grammar) if plain else None
    if lone is not None:
        return _only_verdict(lone, answer, visible, seen, grammar)
    verdict = _read_visible(answer, visible, seen, grammar)
    unquoted_text = without_quoted_line(visible, verdict.start)
    if unquoted_text is not None:
        # `> Rating: 5` of the author, and below it `I give it a 2.`
        stated = _read_visible(answer, unquoted_text, seen, grammar)
        if stated.judgment and stated.judgment.status == "ok":
            verdict = stated
    return corrected(verdict, answer, visible, seen, grammar)


def _only_verdict(
    match: re.Match[str], answer: str, visible: str, seen: Glance, grammar: Grammar
) -> ProseVerdict:
    """Return the verdict of the only rating, or that which stands behind it."""
    start = match.start() if match["explicit"] else None
    behind = start_of_value(match)
    ends_reply = match.end() + len(".") >= len(visible)
    unread = None
    if not ends_reply:
        unread = _last_named(visible, behind, seen)
    if unread is not None:
        verdict = ProseVerdict(Judgment("unparsed", UNREAD), unread)
    else:
        judgment = _reading("labelled", match, answer, visible, seen, grammar)
        verdict = ProseVerdict(judgment, start, *match.span())
    if ends_reply:
        return verdict
    return corrected(verdict, answer, visible, seen, grammar)


def _read_visible(
    answer: str, visible: str, seen: Glance, grammar: Grammar
) -> ProseVerdict:
    """Return the verdict of a reply without what names none, before its corrections."""
    labelled = labelled_ratings(grammar, visible, seen)
    if not labelled or _is_spoken(labelled[-1]):
        shown = hide_mentions(visible, seen)
        if shown != visible:
            visible = shown
            labelled = labelled_ratings(grammar, visible, seen)
    ratings = best_ranked(labelled)
    if ratings is None:
        return ProseVerdict(Judgment("unparsed", SEVERAL))
    if labelled:
        behind = start_of_value(ratings[-1]) if ratings else 0
        unread = _last_named(visible, behind, seen)
        if unread is not None:
            return ProseVerdict(Judgment("unparsed", UNREAD), unread)
    if ratings:
        if len(ratings) > 1 and is_walk(ratings, grammar):
            return ProseVerdict(Judgment("unparsed", "enumerated"))
        if len(ratings) > 1 and rate_parts(ratings, grammar):
            return ProseVerdict(Judgment("unparsed", SEVERAL))
        if len(labelled) > 1 and _is_open(labelled, visible, grammar):
            return ProseVerdict(Judgment("unparsed", "contradiction"))
        last = ratings[-1]
        if not _is_spoken(last):
            judgment = _reading("labelled", last, answer, visible, seen, grammar)
            return ProseVerdict(judgment, last.start(), *last.span())
    spoken = _last_spoken(grammar, visible, seen, ratings)
    if spoken is not None:
        form, match = spoken
        judgment = _reading(form, match, answer, visible, seen, grammar)
        return ProseVerdict(judgment, None, *match.span())
    return _unlabelled_verdict(answer, visible, seen, grammar)


def _unlabelled_verdict(
    answer: str, visible: str, seen: Glance, grammar: Grammar
) -> ProseVerdict:
    """Return the verdict of the first form of ratings without a label that matches."""
    for form, match in unlabelled_ratings(grammar, visible):
        if form == "trailing" and is_one_of_bracketed(visible, match, grammar):
            return ProseVerdict(Judgment("unparsed", SEVERAL))
        if form == "given" and has_next_part(match):
            return ProseVerdict(Judgment("unparsed", SEVERAL))
        if form.startswith("named"):
            complete = overall_of_parts(visible, match, grammar)
            if complete is None or (
                complete is match and _has_other_parts(visible, match)
            ):
                both = rates_both_sides(visible)
                rule = SCORES_OF_SIDES if both else SEVERAL
                return ProseVerdict(Judgment("unparsed", rule))
            match = complete
            behind = start_of_value(match)
            unread = _last_named(visible, behind, seen, short=True)
            if unread is not None:
                return ProseVerdict(Judgment("unparsed", UNREAD), unread)
        judgment = _reading(form, match, answer, visible, seen, grammar)
        # a bracket behind it may correct it: `4 (no, 3)`
        end = end_of_value(match) if form == "bare" else match.end()
        return ProseVerdict(judgment, None, match.start(), end)
    listed = None
    if seen.several_numbers:
        listed = overall_in_list(visible, grammar)
    if listed is None:
        return ProseVerdict(None)
    judgment = _reading("named_line", listed, answer, visible, seen, grammar)
    return ProseVerdict(judgment, None, *listed.span())


def _reading(
    form: str,
    match: re.Match[str],
    answer: str,
    visible: str,
    seen: Glance,
    grammar: Grammar,
) -> Judgment:
    """Return the judgment of a rating; none if it is that of one of two texts."""
    if (
        seen.several_numbers
        and _names_second_side(visible, match, seen)
        and is_of_one_side(visible, start_of_value(match))
    ):
        return Judgment("unparsed", SCORES_OF_SIDES)
    return reading_of(form, match, answer, grammar)


def _names_second_side(visible: str, match: re.Match[str], seen: Glance) -> bool:
    """Return whether a text may name a second one; the rating's own digits do not."""
    if names_second_side(visible, seen.words):
        return True
    start, end = match.span("number")
    if start < 0:
        return "2" in visible
    if visible.find("2", 0, start) >= 0:
        return True
    return visible.find("2", end) >= 0


def _is_open(ratings: list[re.Match[str]], visible: str, grammar: Grammar) -> bool:
    """Return whether the last two ratings are alternatives: `Rating: 2 or score: 5`."""
    former, last = ratings[-2:]
    different = match_value(former, grammar) != match_value(last, grammar)
    if not different:
        return False
    return is_undecided(visible, former.end(), last.start())


def _is_spoken(match: re.Match[str]) -> bool:
    """Return whether a rating stands in a sentence: `a score of 4`."""
    return bool(match["prose"] or match["far"])


def _last_spoken(
    grammar: Grammar, visible: str, seen: Glance, named: list[re.Match[str]]
) -> tuple[str, re.Match[str]] | None:
    """Return the last rating that sentences give: `a score of 4`, `I give it a 4`.

    None if the second kind contradicts itself.
    """
    if not named:
        return None
    last = named[-1]
    if last.end() > seen.last and not grammar.labels:
        return "labelled", last  # no further number
    pattern = forms_of(grammar.scale)["given"]
    given = unquoted(pattern.finditer(visible, last.end()), visible)
    if given:
        return "given", given[-1]
    return "labelled", last


def _last_named(
    visible: str, start: int, seen: Glance, *, short: bool = False
) -> int | None:
    """Return where a line behind `start` names a verdict, None without one.

    short: whether a few words behind `overall:` are a verdict, too; else they are a
    comment.
    """
    if visible.find(":", start) < 0 and visible.find("=", start) < 0:
        return None
    if not _has_verdict_word(visible, start, seen):
        return None
    verdicts = []
    for match in named(visible, start):
        if _names_verdict(match, short=short):
            verdicts.append(match)
    stated = unquoted(outside_asides(verdicts, visible), visible, names=True)
    if stated:
        return stated[-1].end()
    return None


def _has_verdict_word(visible: str, start: int, seen: Glance) -> bool:
    """Return whether a word of a verdict's name may stand behind `start`."""
    if not visible.isascii() or visible.find(COMPOUND, start) >= 0:
        return True
    for word in seen.words & VERDICT_WORDS:
        if visible.find(word.decode(), start) >= 0:
            return True
    return False


def _has_other_parts(visible: str, match: re.Match[str]) -> bool:
    """Return whether a line rates another part, with a name in the plural (`Facts: 4`).

    Alone, such a line is a count.
    """
    if match_rank(match) < Rank.PART:
        return False
    for line in named(visible):
        name = line["name"].strip()
        if (
            name.endswith("s")
            and _RATED_ALONE.fullmatch(value_behind(line))
            and rank_of((name,), NUMBERS) is Rank.PART
        ):
            return not match.start() <= line.start() < match.end()
    return False


def _names_verdict(match: re.Match[str], *, short: bool) -> bool:
    """Return whether a name on a line is that of the verdict, and a value follows."""
    name = match["name"].strip()
    rank = rank_of((name,), NUMBERS)
    if rank > Rank.EXACT or match["sign"] not in (":", "="):
        return False
    if name.count(" ") >= SHORT_NAME:
        return False
    value = value_behind(match)
    if rank is Rank.FINAL and " " not in name and is_bare(name, NUMBERS):
        few = short and value.count(" ") < FEW_WORDS
        return bool(few or _NO_VALUE.match(value))  # `overall:` may begin a sentence
    return bool(value)
