"""The choice between two texts, as a number."""

from typing import Final

from judgescope.core.names import without_accents

FIRST: Final = 1
"""The choice of the first text."""
SECOND: Final = 2
"""The choice of the second text."""
TIE: Final = 0
"""The choice of neither text."""


_SIDES: Final = (
    ("a", "b"),
    ("а", "б"),
    ("1", "2"),
    ("first", "second"),
    ("left", "right"),
    ("links", "rechts"),
    ("erste", "zweite"),
    ("gauche", "droite"),
    ("premier", "second"),
    ("premiere", "seconde"),
    ("premiere", "deuxieme"),
    ("izquierda", "derecha"),
    ("primera", "segunda"),
    ("primero", "segundo"),
    ("esquerda", "direita"),
    ("primeira", "segunda"),
    ("sinistra", "destra"),
    ("prima", "seconda"),
    ("левый", "правый"),
    ("слева", "справа"),
    ("первый", "второй"),
    ("左", "右"),
    ("左边", "右边"),
    ("左侧", "右侧"),
    ("左側", "右側"),
    ("第一个", "第二个"),
    ("第一", "第二"),
    ("왼쪽", "오른쪽"),
    ("첫번째", "두번째"),
    ("الأول", "الثاني"),
    ("الأولى", "الثانية"),
)
SIDES: Final = tuple(
    (without_accents(first), without_accents(second)) for first, second in _SIDES
)
"""Words that distinguish the two texts of a row, in the names of columns and in
choices; without accents."""


def larger(first: float | None, second: float | None) -> int | None:
    """The choice of the text with the larger score; None if one has no score.

    >>> larger(0.5, 0.2), larger(1, 1), larger(None, 3)
    (1, 0, None)
    """
    if first is None or second is None:
        return None
    if first == second:
        return TIE
    return FIRST if first > second else SECOND


def reversed_choice(choice: int | None) -> int | None:
    """The same choice if the two texts change places.

    >>> reversed_choice(1), reversed_choice(0)
    (2, 0)
    """
    if choice in (FIRST, SECOND):
        return FIRST + SECOND - choice
    return choice


TIE_WORDS: Final = frozenset(
    without_accents(word)
    for word in {
        "both",
        "draw",
        "equal",
        "neither",
        "same",
        "tie",
        "tied",
        "egalite",
        "empate",
        "gleich",
        "gelijk",
        "gleichstand",
        "pareggio",
        "remis",
        "unentschieden",
        "ничья",
        "равно",
        "одинаково",
        "平局",
        "平手",
        "一样",
        "引き分け",
        "同等",
        "무승부",
        "동점",
        "تعادل",
        "égales",
        "égaux",
        "iguales",
        "iguais",
        "uguali",
        "одинаковы",
        "равны",
        "一样好",
        "差不多",
        "同じ",
        "互角",
        "비슷",
        "비슷함",
        "متساويان",
    }
)
"""Words for a tie in several languages, as words of a header are compared."""
