"""Choices between two texts that a sentence states in other languages than English.

A statement is read only from its first word to its last: `Die bessere Antwort ist B`.
Words between that change it (`nicht besser`) leave it unread.
"""

import re
from functools import cache
from typing import Final, NamedTuple

_OPEN: Final = r"[*_\"'`(\[]{0,4}"
_CLOSE: Final = r"[*_\"'`)\]]{0,4}"


class _Language(NamedTuple):
    """How a language names texts, calls one better, and calls both equal.

    The patterns are of folded text. In `better`, SIDE stands for the better text, OTHER
    for the second one, NOUN for what a text may be called, DEGREE for adverbs.
    """

    noun: str
    degree: str
    better: tuple[str, ...]
    equal: str


_LANGUAGES: Final = (
    _Language(  # German
        noun="antwort|zusammenfassung|übersetzung|version|option|variante|text",
        degree="deutlich|klar|etwas|eindeutig|viel|insgesamt|leicht",
        better=(
            "(?:(?:die|der|das) )?(?:bessere|beste|stärkere) NOUN ist (?:die )?SIDE",
            "(?:der )?(?:gewinner|sieger) ist SIDE",
            "SIDE ist DEGREE(?:besser|stärker|überlegen)(?: als OTHER)?",
            "ist SIDE DEGREE(?:besser|stärker|überlegen)(?: als OTHER)?",
            "ich finde SIDE DEGREEbesser(?: als OTHER)?",
            "SIDE gewinnt",
            "ich (?:bevorzuge|wähle|entscheide mich für) SIDE",
        ),
        equal="unentschieden|gleichstand"
        "|beide(?: \\w+)? sind gleich ?(?:gut|stark|wertig)",
    ),
    _Language(  # French
        noun="réponse|traduction|version|option|résumé|texte",
        degree="nettement|clairement|légèrement|bien|largement|un peu",
        better=(
            "(?:(?:la|le) )?meilleure? NOUN est SIDE",
            "(?:le )?(?:gagnant|vainqueur) est SIDE",
            "SIDE est DEGREE(?:meilleure?|supérieure?)(?: (?:que|à) OTHER)?",
            "SIDE (?:gagne|l'emporte)",
            "je (?:préfère|choisis) SIDE",
        ),
        equal="égalité|match nul|ex ?[æa]e?quo|les deux(?: \\w+)? se valent",
    ),
    _Language(  # Spanish
        noun="respuesta|traducción|versión|opción|resumen|texto",
        degree="claramente|ligeramente|mucho|algo|un poco",
        better=(
            "(?:(?:la|el) )?mejor NOUN es SIDE",
            "(?:(?:la|el) )?(?:NOUN )?ganadora? es SIDE",
            "SIDE es DEGREE(?:mejor|superior)(?: (?:que|a) OTHER)?",
            "SIDE gana",
            "(?:prefiero|elijo|escojo) SIDE",
        ),
        equal="empate|amb[ao]s(?: \\w+)? son igual(?:es|mente buen[ao]s| de buen[ao]s)",
    ),
    _Language(  # Italian
        noun="risposta|traduzione|versione|opzione|riassunto|testo",
        degree="chiaramente|leggermente|nettamente|molto|un po'",
        better=(
            "(?:(?:la|il) )?(?:NOUN migliore|migliore? NOUN) è SIDE",
            "(?:il )?vincitore è SIDE",
            "SIDE è DEGREE(?:migliore|superiore)(?: (?:di|della|del|a|alla) OTHER)?",
            "SIDE vince",
            "(?:preferisco|scelgo) SIDE",
        ),
        equal="pareggio|parità|entramb[ei](?: \\w+)? sono uguali",
    ),
    _Language(  # Portuguese
        noun="resposta|tradução|versão|opção|resumo|texto",
        degree="claramente|ligeiramente|muito|um pouco",
        better=(
            "(?:[ao] )?melhor NOUN é SIDE",
            "(?:[ao] )?(?:NOUN )?vencedora? é SIDE",
            "SIDE é DEGREE(?:melhor|superior)(?: (?:que|do que|à|a) OTHER)?",
            "SIDE (?:vence|ganha)",
            "(?:eu )?(?:prefiro|escolho) SIDE",
        ),
        equal="empate|amb[ao]s(?: \\w+)? são iguais",
    ),
    _Language(  # Dutch
        noun="antwoord|samenvatting|vertaling|versie|optie|tekst",
        degree="duidelijk|iets|veel|licht",
        better=(
            "(?:(?:het|de) )?(?:beste|betere) NOUN is SIDE",
            "(?:de )?winnaar is SIDE",
            "SIDE is DEGREEbeter(?: dan OTHER)?",
            "SIDE wint",
            "ik (?:verkies|kies(?: voor)?) SIDE",
        ),
        equal="gelijkspel|beide(?: \\w+)? zijn even goed",
    ),
    _Language(  # Polish
        noun="odpowiedź|tłumaczenie|wersja|opcja|tekst",
        degree="wyraźnie|nieco|zdecydowanie",
        better=(
            "(?:lepsza|lepszy|najlepsza|lepsze) NOUN (?:to|jest) SIDE",
            "SIDE jest DEGREE(?:lepsz[aye])(?: (?:niż|od) OTHER)?",
            "SIDE wygrywa",
            "wybieram SIDE",
        ),
        equal="remis|ob[ai]e(?: \\w+)? są równie dobre",
    ),
    _Language(  # Russian
        noun="ответ|перевод|вариант|текст",
        degree="явно|немного|намного|значительно",
        better=(
            "(?:лучший|лучше) NOUN(?: -| —| –|:)?(?: это)? SIDE",
            "победитель(?: -| —| –|:)? SIDE",
            "SIDE DEGREEлучше(?:,? чем OTHER)?",
            "SIDE (?:выигрывает|побеждает)",
            "я (?:выбираю|предпочитаю) SIDE",
        ),
        equal="ничья|оба(?: \\w+)? одинаково хороши",
    ),
    _Language(  # Chinese
        noun="回答|回复|答案|译文|翻译|摘要|文本|选项",
        degree="明显|略|稍微|显然|整体",
        better=(
            "(?:更好的|较好的|最佳|最好的|更优的)NOUN(?:是|为)SIDE",
            "(?:胜者|获胜者|赢家)(?:是|为)SIDE",
            "SIDEDEGREE(?:更好|更优|较好|更佳|胜出|获胜)",
            "SIDE(?:比|优于|好于|胜过)OTHER(?:DEGREE(?:更好|更优|好))?",
            "我(?:选择|选|更喜欢|偏好)SIDE",
        ),
        equal="平局|平手|不分胜负|(?:两者|两个NOUN)(?:一样好|不相上下|相同)",
    ),
    _Language(  # Japanese
        noun="回答|応答|翻訳|要約|テキスト|答え",
        degree="明らかに|わずかに|やや|少し|より",
        better=(
            "(?:より)?(?:良い|よい|優れた|優れている)NOUNは,?SIDE(?:です|だ|である)?",
            "(?:勝者|勝ち)は,?SIDE(?:です|だ|である)?",
            "SIDE(?:の(?:方|ほう))?[がは],?DEGREE"
            "(?:優れ(?:ています|ている)|良い(?:です)?|よい(?:です)?|上です|勝ち(?:です)?)",
            "(?:私は)?SIDEを(?:選びます|選ぶ|好みます)",
        ),
        equal="引き分け(?:です)?|同点(?:です)?|どちらも同じ(?:くらい)?(?:良い|です)*",
    ),
    _Language(  # Korean
        noun="답변|응답|번역|요약|텍스트",
        degree="더|훨씬|조금|약간|명확히",
        better=(
            "더 (?:나은|좋은|우수한) NOUN[은는] SIDE(?:입니다|이다)?",
            "승자는 SIDE(?:입니다|이다)?",
            "SIDE(?:이|가|의 ?답변이)? DEGREE"
            "(?:낫습니다|낫다|좋습니다|좋다|우수합니다|우수하다|뛰어납니다)",
            "(?:저는 )?SIDE[를을]? ?선택합니다",
        ),
        equal="무승부(?:입니다)?|동점(?:입니다)?",
    ),
)
_REASON: Final = re.compile(
    r"(?:,? \b(?:weil|denn|parce que|car|porque|ya que|perché|poiché|pois|omdat|want"
    r"|ponieważ|bo|потому что|так как)\b|,? ?(?:因为|なぜなら|왜냐하면)).*\Z"
)
_LEADS_IN: Final = re.compile(
    r"(?:(?:daher|deshalb|insgesamt|somit|also|alles in allem|donc|ainsi|globalement"
    r"|au total|en somme|por eso|por lo tanto|en general|en conjunto|quindi|perciò"
    r"|nel complesso|portanto|por isso|no geral|dus|al met al|daarom|więc|dlatego"
    r"|ogólnie|поэтому|итак|в целом|따라서|전반적으로|그래서),? "
    r"|(?:したがって|よって|総合的に|総合すると|综上(?:所述)?|总体而言|总体来说|总的来说"
    r"|因此|所以),? ?)"
)
_TURNS: Final = re.compile(
    r", ?(?:但是?|不过|所以|因此|而)|, (?:aber|doch|mais|pero|ma|mas|maar|ale|но) "
)


class _Patterns(NamedTuple):
    """The patterns of all languages, to be tried on a whole statement."""

    better: tuple[re.Pattern[str], ...]
    equal: re.Pattern[str]


def foreign_statement(words: str) -> str | None:
    """The side that a folded statement calls better, `tie` for both, None for neither.

    >>> foreign_statement("die bessere antwort ist b"), foreign_statement("引き分け")
    ('b', 'tie')
    >>> foreign_statement("antwort a ist nicht besser") is None
    True
    """
    sides = set()
    for clause in _TURNS.split(words):
        side = _clause_side(clause.strip())
        if side is not None:
            sides.add(side)
    return sides.pop() if len(sides) == 1 else None


def _clause_side(clause: str) -> str | None:
    statement = _LEADS_IN.sub("", _REASON.sub("", clause), count=1).strip()
    patterns = _patterns()
    if patterns.equal.fullmatch(statement):
        return "tie"
    for pattern in patterns.better:
        match = pattern.fullmatch(statement)
        if match is None:
            continue
        other = match["other"] if "other" in pattern.groupindex else None
        return None if other == match["side"] else match["side"]
    return None


@cache
def _patterns() -> _Patterns:
    """Compile at the first use: this takes as long as a small import."""
    better = []
    equal = []
    for language in _LANGUAGES:
        noun = f"(?:{language.noun})"
        # an article is one of the letters in some languages: `a resposta a`
        named = rf"(?:(?:[a-zà-ÿ]{{1,3}} )?{noun}[ _]?)?(?:(?:la|le|el|il|o|a|die) )?"
        words = {
            "SIDE": rf"{named}{_OPEN}(?P<side>[ab])(?![a-z]){_CLOSE}",
            "OTHER": rf"{named}{_OPEN}(?P<other>[ab])(?![a-z]){_CLOSE}",
            "NOUN": noun,
            "DEGREE": rf"(?:(?:{language.degree}) ?)?",
        }
        for template in language.better:
            better.append(re.compile(_filled(template, words)))
        equal.append(_filled(language.equal, words))
    return _Patterns(tuple(better), re.compile("|".join(equal)))


def _filled(template: str, words: dict[str, str]) -> str:
    for name, pattern in words.items():
        template = template.replace(name, pattern)
    return template
