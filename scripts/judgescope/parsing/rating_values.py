"""The rating that a named value of an object, a tag or a table states."""

from functools import lru_cache, partial

from judgescope.parsing import labels as label_values
from judgescope.parsing.characters import fold
from judgescope.parsing.glance import glance
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.parsing.keys import NUMBERS, UNREAD, Menu
from judgescope.parsing.mentions import hide_withdrawn
from judgescope.parsing.rating_grammar import WATCHED, Grammar, grammar_of
from judgescope.parsing.rating_matches import reading_of
from judgescope.parsing.rating_search import without_echoes
from judgescope.parsing.tags import blank_markup, blank_signs, with_points


@lru_cache(maxsize=64)
def menu_of(scale: Scale) -> Menu:
    """Return what may be read from named values on a scale of numbers or labels."""
    if scale.words:
        return label_values.menu(scale)
    grammar = grammar_of(scale)
    return Menu(NUMBERS, partial(read_value, grammar=grammar), _about_nothing)


def read_value(value: object, grammar: Grammar) -> Judgment:
    """Return the judgment of a named value: `4`, `"4/5"`, `"four - good"`.

    true, false and null do not rate.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return Judgment("unparsed", UNREAD)
    if not isinstance(value, str):
        return grammar.scale.read(float(value), "labelled")
    for text in (f"Rating: {value.strip()}", value.strip()):
        folded = blank_markup(fold(text))
        seen = glance(folded, WATCHED)
        plain = hide_withdrawn(with_points(blank_signs(folded, seen)))
        visible = without_echoes(plain, seen, grammar)
        match = grammar.labelled.match(visible)
        if match and match["explicit"]:
            return reading_of("labelled", match, text, grammar)
    return Judgment("unparsed", UNREAD)


def _about_nothing(_name: str, _value: object) -> None:
    """A number is never a yes or no about a name."""
