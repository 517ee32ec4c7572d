"""Labels that differ in a degree: `partially correct`, `mostly correct`, `correct`.

Each label is a word that praises or finds fault, and how much of it: a negation, an
adverb, or nothing. Such labels have an order in any language of the vocabulary.
"""

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Final, NamedTuple

from judgescope.tables.polarity import NEGATIONS, goodness
from judgescope.tables.words import folded

NEUTRAL: Final = frozenset(
    folded(word)
    for word in (
        "neutral",
        "neither",
        "average",
        "borderline",
        "mixed",
        "undecided",
        "so-so",
        "teils/teils",
        "teils teils",
        "mittel",
        "mittelmäßig",
        "neutre",
        "moyen",
        "moyenne",
        "neutro",
        "neutra",
        "regular",
        "medio",
        "neutraal",
        "neutralny",
        "neutralna",
        "nötr",
        "нейтральный",
        "нейтрально",
        "нормально",
        "средне",
        "一般",
        "中性",
        "中立",
        "普通",
        "どちらでもない",
        "どちらとも言えない",
        "보통",
        "중립",
        "متوسط",
        "محايد",
    )
)
"""Labels between praise and fault."""
_SUPERLATIVES: Final = """\
excellent great perfect outstanding terrible awful horrible ausgezeichnet exzellent
parfait excelente eccellente ottimo отлично ужасно 优秀 最高 ممتاز mükemmel
"""
SUPERLATIVES: Final = frozenset(map(folded, _SUPERLATIVES.split()))
"""Words that praise or find fault as `very good` and `very bad` do."""
PLAIN: Final = 5.0
"""The degree of a label without an adverb: `correct`."""
DEGREES: Final[Mapping[float, str]] = {
    -6.0: "not at all|gar nicht|überhaupt nicht|pas du tout|per niente|para nada|"
    "de modo nenhum|helemaal niet|wcale nie|совсем не|вовсе не|完全不|毫不",
    0.5: "not very|not really|not particularly|nicht sehr|nicht besonders|pas très|"
    "no muy|non molto|não muito|niet erg|не очень|不太|不够|あまり|별로",
    1.0: "slightly|barely|hardly|minimally|marginally|a little|a bit|weakly|minor|mild|"
    "few|small|kaum|wenig|leicht|peu|légèrement|poco|ligeramente|pouco|leggermente|"
    "weinig|słabo|слегка|мало|略|稍|少し|약간",
    2.0: "somewhat|partially|partly|partial|in part|some|half|teilweise|zum teil|etwas|"
    "partiellement|en partie|parcialmente|algo|parzialmente|in parte|in parte|"
    "gedeeltelijk|deels|częściowo|kısmen|частично|部分|部分的に|一部|부분적으로|부분|جزئيا|"
    "جزئياً",
    3.0: "moderately|fairly|rather|moderate|eher|ziemlich|assez|plutôt|bastante|"
    "abbastanza|piuttosto|redelijk|dość|довольно|比较|较|やや|비교적",
    3.5: "not fully|not entirely|not completely|not quite|nicht ganz|nicht vollständig|"
    "pas tout à fait|no del todo|non del tutto|niet helemaal|не совсем|不完全|不全",
    4.0: "mostly|largely|generally|mainly|nearly|almost|several|weitgehend|überwiegend|"
    "größtenteils|fast|largement|presque|mayormente|casi|em grande parte|quase|"
    "per lo più|quasi|grotendeels|в основном|почти|基本|基本上|大部分|大致|"
    "おおむね|ほぼ|대체로|거의",
    6.0: "very|highly|really|strongly|many|major|sehr|stark|très|muy|molto|muito|zeer|"
    "erg|bardzo|çok|очень|非常|很|とても|매우|جدا|جداً",
    7.0: "fully|completely|totally|entirely|perfectly|extremely|exceptionally|"
    "absolutely|severe|severely|völlig|voll|vollständig|ganz|äußerst|tout à fait|"
    "entièrement|complètement|totalmente|completamente|del todo|completo|volledig|"
    "całkowicie|tamamen|полностью|совершенно|完全|完全に|極めて|全く|強く|완전히|전혀|강하게|تماما|تماماً",
    8.0: "critical",
}
"""How much of it -> words and phrases that say so."""
_EAST_ASIAN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class LabelDegree(NamedTuple):
    """What a label says, and how much of it; a negative degree denies it."""

    core: str
    degree: float


@cache
def _phrases() -> dict[str, float]:
    """Phrase (folded) -> its degree, the longest phrase first."""
    degrees: dict[str, float] = {}
    for degree, listed in DEGREES.items():
        for phrase in listed.split("|"):
            degrees[folded(phrase)] = degree
    longest_first = sorted(degrees, key=len, reverse=True)
    return {phrase: degrees[phrase] for phrase in longest_first}


@cache
def degree_of(label: str) -> LabelDegree:
    """What a label says, and how much of it.

    >>> degree_of("partially correct"), degree_of("not helpful at all")
    (LabelDegree(core='correct', degree=2.0), LabelDegree(core='helpful', degree=-6.0))
    >>> degree_of("部分正确")
    LabelDegree(core='正确', degree=2.0)
    """
    text = folded(label).replace("-", " ").replace("_", " ").strip()
    at_all = re.fullmatch(r"(?:not|no) (.+) at all", text)
    if at_all:
        return LabelDegree(at_all[1], -6.0)
    for phrase, degree in _phrases().items():
        if _EAST_ASIAN.search(phrase):
            if text.startswith(phrase) and text != phrase:
                return LabelDegree(text.removeprefix(phrase), degree)
            continue
        parts = re.split(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, maxsplit=1)
        if len(parts) > 1:
            return _negated(" ".join(parts), degree)
    return _negated(text, PLAIN)


def _negated(text: str, degree: float) -> LabelDegree:
    """What a label says without its adverb, less than nothing where it is negated:
    `stimme nicht zu`.
    """
    words = text.split()
    others = [word for word in words if word not in NEGATIONS]
    if not others or len(others) == len(words):
        return LabelDegree(" ".join(words), degree)
    return LabelDegree(" ".join(others), -degree)


def of_degrees(labels: Collection[str]) -> tuple[str, ...] | None:
    """Labels that differ in a degree, the worst first; None for others.

    They name one thing that praises, or one that finds fault, or one of each.

    >>> of_degrees(["richtig", "teilweise richtig", "falsch"])
    ('falsch', 'teilweise richtig', 'richtig')
    >>> of_degrees(["minor errors", "no errors", "major errors"])
    ('major errors', 'minor errors', 'no errors')
    >>> of_degrees(["tea", "coffee"])
    """
    value_of: dict[str, float] = {}
    cores: dict[float, set[str]] = {}
    for label in labels:
        if folded(label) in NEUTRAL:
            value_of[label] = 0.0
            continue
        core, degree = degree_of(label)
        # `partially` alone is less of whatever the others praise.
        praise = goodness(core) if core else 1
        if not praise:
            return None
        strength = degree
        if core in SUPERLATIVES and degree == PLAIN:
            strength = 6.5
        value_of[label] = praise * strength
        if core and core not in SUPERLATIVES:
            cores.setdefault(praise, set()).add(core.removesuffix("s"))
    if len(value_of) < 2 or any(len(same) > 1 for same in cores.values()):
        return None
    if len(set(value_of.values())) < len(value_of):
        return None
    return tuple(sorted(value_of, key=lambda label: value_of[label]))
