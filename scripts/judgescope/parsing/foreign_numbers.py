"""Words for numbers in other languages than English: recognised, never read.

Many are also articles, letters or other words (`un`, `sei`), and
most languages have several forms of each. A reply with one has a rule of its own, so
that coverage tells it from a reply without a verdict.
"""

import re
from typing import Final

from judgescope.parsing.characters import word_set

FOREIGN_NUMBER: Final = "foreign_number"
"""The rule of a reply whose value is a number in words of another language."""
_WORDS: Final = word_set(
    """
    null eins zwei drei vier fünf sechs sieben acht neun zehn
    zéro un deux trois quatre cinq sept huit neuf dix
    cero uno dos tres cuatro cinco seis siete ocho nueve diez
    zero due tre quattro cinque sei sette otto nove dieci
    um dois três quatro sete oito dez
    nul een één twee drie vijf zes zeven acht negen tien
    en et två tva to fyra fire fem seks sex sju syv åtta otte åtte nio ni tio ti
    ноль один два три четыре пять шесть семь восемь девять десять
    zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć
    sıfır bir iki üç dört beş altı yedi sekiz dokuz on
    satu dua tiga empat lima enam tujuh delapan sembilan sepuluh
    하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열 일 이 삼 사 오 육 칠 팔 구 십
    صفر واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة
    एक दो तीन चार पांच पाँच छह सात आठ नौ दस
    """
)
_HAN: Final = "零一二三四五六七八九十两兩"
_VALUE = re.compile(
    rf"[\s*_\"'`(\[]{{0,6}}(?P<word>[{_HAN}](?=\W|[分点點星颗顆]|\Z)|[^\W\d_]+)"
    r"[\s*_\"'`)\].!。]{0,6}(?P<rest>\w*)"
)
_BEHIND: Final = word_set(
    """
    von sur de su di sobre van af av из dari üzerinden punkte punkten points puntos
    punti pontos punten poäng poeng point баллов балла балл sterne étoiles estrellas
    stelle estrelas sterren stjärnor stjerner 分 点 點 星 颗星 顆星 점
    """
)
"""What may follow the word in a value."""


def begins_with_foreign_number(folded: str) -> bool:
    """Return whether a folded value is such a word, alone or with a denominator.

    >>> values = ("vier", "quatre sur cinq", "四分", "un bon texte", "four")
    >>> [begins_with_foreign_number(value) for value in values]
    [True, True, True, False, False]
    """
    match = _VALUE.match(folded)
    if match is None or not (match["word"] in _WORDS or match["word"] in _HAN):
        return False
    return match["rest"] in _BEHIND or not match["rest"]
