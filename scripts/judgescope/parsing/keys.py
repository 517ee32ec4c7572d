"""Which of several named values is the verdict: the names of keys, tags and lines.

A name is split into words, and the words decide its rank: `score` and `final_rating`
are verdicts, `tone_score` is a part of one, `confidence_score` and `previous_score` are
none. Of all values those with the best rank count; several different parts give
none.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from judgescope.core.tools import is_other_tool
from judgescope.parsing.characters import fold, word_set
from judgescope.parsing.judgment import Judgment
from judgescope.parsing.objects import parsed_text


class Rank(IntEnum):
    """How good a name is for a verdict, the best first.

    FINAL: `final_score`, `overall`; EXACT: `score`; TOTAL: `total`; LOOSE: `answer`;
    PART: `tone_score`, `tone`; NEVER: `confidence`, `max_score`, `reason`.
    """

    FINAL = 0
    EXACT = 1
    TOTAL = 2
    LOOSE = 3
    PART = 4
    NEVER = 5


_FINAL: Final = word_set(
    """
    final overall finally aggregate aggregated combined conclusive ultimate
    definitive net insgesamt gesamt global globale general итоговая итог итоговый
    итого 总体 总 综合 最终 総合 最終 총 최종 종합 therefore thus hence endgültig
    endgültige endgültiger endgültiges abschließende finale définitif définitive
    definitivo definitiva окончательная окончательный окончательно ostateczna
    końcowa nihai slutlig slutligt endelig uiteindelijke lopullinen
    """
)
_TOTAL: Final = word_set(
    """
    total sum average mean avg summary gesamtsumme totale 总分 合計 평균
    """
)
_RATINGS: Final = word_set(
    """
    score scores rating ratings grade grades scoring bewertung punktzahl punkte
    wertung puntuación puntuacion calificación calificacion valutazione punteggio
    voto évaluation pontuação avaliação оценка балл ocena puan değerlendirme
    bedömning betyg poäng vurdering karakter arvosana pisteet beoordeling cijfer
    értékelés hodnocení skóre nilai điểm βαθμός βαθμολογία התוצאה ציון دרجة الدرجة
    درجة التقييم تقييم امتیاز نمره คะแนน अंक स्कोर रेटिंग 评分 分数 得分 打分 評分
    分數 評価 スコア 点数 得点 評点 점수 평점 등급
    """
)
"""Names of ratings; of other languages the usual ones. Others are read as parts."""
_VERDICTS: Final = word_set(
    """
    verdict judgment judgement label category class classification decision result
    outcome conclusion assessment evaluation answer value choice status
    determination ruling finding urteil ergebnis entscheidung etikett fazit
    veredicto resultado decisión etiqueta résultat décision étiquette giudizio
    risultato вердикт решение результат метка werdykt wynik karar sonuç 判定 结论 結論
    结果 結果 判断 标签 ラベル 判決 판정 결론 결과
    """
)
_CHOICES: Final = word_set(
    """
    winner better best preferred preference chosen choose selected select selection
    pick picked favorite favourite superior gewinner besser beste bevorzugt ganador
    mejor vainqueur meilleur meilleure vincitore migliore vencedor melhor победитель
    лучше лучший лучшая лучшее 更好 更好的 获胜者 优胜者 更好的回答 更优的回答 胜者
    赢家 勝者 より良い 승자
    """
)
_ANSWERS: Final = word_set(
    "antwort respuesta réponse risposta resposta odpowiedź antwoord svar cevap ответ"
    " 答案 回答 答え 답 답변 정답"
)
"""`answer` in other languages: of two texts it names the better one."""
_NEUTRAL: Final = word_set(
    """
    the my a an this your its of for is on output response result results evaluation
    assessment judgment judgement verdict decision answer data arguments args params
    parameters parameter input inputs function tool call grade rating score json
    item llm judge judges ai model assigned given number numeric numerical
    value int integer out scale from to in as text type text's point points star
    stars comparison pairwise new revised updated corrected adjusted actual root
    object properties antwort respuesta réponse risposta resposta ответ ответа 回答
    답변 是 的
    """
)
"""Words that qualify nothing, and containers."""
_UNSURE: Final = word_set(
    """
    confidence confident certainty certain uncertainty probability probabilities
    prob likelihood weight weights weighting max maximum min minimum range limit
    limits threshold cutoff lowest highest possible top bottom step steps
    baseline
    """
)
"""Names: how sure, how heavy, between what."""
_ANOTHER: Final = word_set(
    """
    previous prior earlier former initial initially draft preliminary provisional
    tentative interim original old expected reference gold golden human target
    ground truth predicted example sample self bonus penalty deduction deductions
    rejected loser worse worst runner lost losing alternative other others
    hypothetical unless
    """
)
"""Names: another verdict than this one."""
_OTHERWISE: Final = word_set(
    """
    id ids idx index uuid key rank position pos start end begin offset line lines
    column page pages paragraph paragraphs sentence sentences word words char chars
    character characters token tokens length len size count counts counted n num
    amount quantity year date day month time timestamp seconds duration version seed
    temperature cost price usage error errors mistake mistakes issue issues problem
    problems flaw flaws violation violations severity location span quote quotation
    question questions criterion criteria rubric name title description type reason
    reasons reasoning rationale explanation explanations explain comment comments
    justification feedback analysis notes remark remarks thought thoughts thinking
    evidence summary suggestion suggestions improvement improvements strength
    strengths weakness weaknesses missing omission omissions source url age pupils
    begründung grund gerekçe
    razón justificación motif explicación motivazione giustificazione причина
    обоснование 理由 原因 解释 説明 근거 이유 commentaire commentaires kommentar
    kommentare comentario comentarios comentário commento commenti комментарий
    комментарии 评语 评论 コメント 의견 anzahl fehler nombre erreur erreurs número
    cantidad errores erros errori liczba błędy błędów aantal fouten antal fel hata
    количество число ошибок ошибки слов слова год года jahr jahre année años año
    anno rok lata år yıl 年 年份 年度 연도 seite seiten página páginas pagina pagine
    страница страниц strona 页码 ページ wörter mots palabras parole palavras 数量 错误
    字数 文字数 個数 개수 오류
    konfidenz sicherheit confianza confiance fiducia уверенность 置信度 信心 確信度
    자신감 schwierigkeit
    """
)
"""Names: no verdict at all."""
_LISTS_OF_PARTS: Final = word_set("criteria rubric questions summary")
"""Names around parts, and around the whole: `{"criteria": {"overall": 2}}`."""
_NEVER: Final = _UNSURE | _ANOTHER | _OTHERWISE
VERDICT_WORDS: Final = frozenset(
    word.encode() for word in _FINAL | _RATINGS if word.isascii()
)
"""Words in letters a-z of which the name of a rating's verdict has one, in ASCII text:
no other name has the rank FINAL or EXACT."""
COMPOUND: Final = "gesamt"
"""Or with which it begins (`_PREFIXES`)."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SPLIT = re.compile(r"[\W_]+")


class Menu(NamedTuple):
    """What may be read from a value, and the words that name it.

    read: a value -> its judgment, or None if it is another kind of thing (a number
    beside labels); about: a name and a value -> the judgment of a value that speaks
    about the name (`{"pass": false}`), or None; parts: whether a single part (`tone`)
    may be the verdict.
    """

    nouns: frozenset[str]
    read: Callable[[object], Judgment | None]
    about: Callable[[str, object], Judgment | None]
    parts: bool = True


NUMBERS: Final = _RATINGS
LABELS: Final = _VERDICTS | _RATINGS
CHOICES: Final = _VERDICTS | _CHOICES | _ANSWERS


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a key, a tag or a label.

    >>> words_of("finalScore"), words_of("tone_rating (1-5)")
    (('final', 'score'), ('tone', 'rating', '1', '5'))
    """
    words = _SPLIT.split(fold(_CAMEL.sub(" ", name)))
    return tuple(word for word in words if word)


_PREFIXES: Final = (
    COMPOUND,
    "总体",
    "最终",
    "综合",
    "总",
    "総合",
    "最終",
    "최종",
    "종합",
    "총",
)
"""What a compound with the meaning of `overall` begins with."""
_UNSPACED: Final = tuple(
    word for word in _NEVER if not word.isascii() and len(word) > 1
)
"""Words of scripts without spaces that disqualify a name within which they stand."""


def _split_compounds(words: Iterable[str]) -> list[str]:
    """Return words with compounds of `overall` in two (`Gesamtnote`).

    Of a name without spaces that holds a word such as `置信度`, only that is kept.
    """
    split: list[str] = []
    for word in words:
        prefix = next(filter(word.startswith, _PREFIXES), "")
        within = None
        if not word.isascii():
            within = next((part for part in _UNSPACED if part in word), None)
        if within:
            split.append(within)
        elif prefix and word != prefix:
            split += [prefix, word.removeprefix(prefix)]
        else:
            split.append(word)
    return split


@lru_cache(maxsize=4096)
def rank_of(names: tuple[str, ...], nouns: frozenset[str]) -> Rank:
    """Return the rank of a value from the names on the way to it, outermost first.

    >>> [rank_of((name,), NUMBERS).name for name in ("overall", "tone", "max_score")]
    ['FINAL', 'PART', 'NEVER']
    >>> rank_of(("tone", "score"), NUMBERS).name
    'PART'
    """
    words: list[str] = []
    for number, name in enumerate(names, 1):
        words_of_name = _split_compounds(words_of(name))
        is_around = number < len(names) and len(words_of_name) == 1
        if is_around and words_of_name[0] in _LISTS_OF_PARTS:
            continue
        if words_of_name[-1:] == ["a"]:
            return Rank.PART  # a side (`score_a`), not an article
        words += words_of_name
    words = [word for word in words if not word.isdigit()]
    if words[-1:] == ["scale"] and not nouns.isdisjoint(words[-2:-1]):
        return Rank.NEVER  # `rating_scale`
    if words[-1:] == ["text"] and len(words) == 1:
        return Rank.NEVER  # what is judged
    if len(words) > 1 and words[-1] in _RATINGS and words[-1] not in nouns:
        return Rank.NEVER  # `winner_score`
    noun = any(word in nouns for word in words)
    loose = any(word in _VERDICTS for word in words)
    kept = [word for word in words if word not in nouns and word not in _NEUTRAL]
    if any(word in _NEVER and word not in nouns for word in kept):
        return Rank.NEVER
    if any(word in _FINAL for word in kept):
        rest = [word for word in kept if word not in _FINAL]
        return Rank.PART if len(rest) > 1 else Rank.FINAL
    if any(word in _TOTAL for word in kept):
        return Rank.TOTAL
    kept = [word for word in kept if word not in _VERDICTS]
    if kept:
        return Rank.PART
    if noun:
        return Rank.EXACT
    return Rank.LOOSE if loose or words else Rank.PART


class Statement(NamedTuple):
    """A named value of a reply: `names` are those on the way to it."""

    names: tuple[str, ...]
    value: object


def statements_in(
    value: object, names: tuple[str, ...] = (), depth: int = 0
) -> Iterator[Statement]:
    """Yield the named values of an object, the calls of other tools left out.

    >>> [each.names for each in statements_in({"tone": {"score": 3}, "id": 1})]
    [('tone', 'score'), ('id',)]
    """
    if isinstance(value, Mapping):
        call = _call(value)
        if call is not None:
            yield from statements_in(call, names, depth + 1)
            return
        for key, inner in value.items():
            yield from statements_in(inner, (*names, str(key)), depth + 1)
    elif isinstance(value, list):
        entries = [entry for entry in value if isinstance(entry, dict | list)]
        if len(entries) > 1 and not all(map(_is_call, entries)):
            # entries of a list are parts, whatever their keys, or the whole
            for number, entry in enumerate(entries):
                name = _name_of_whole(entry) or f"part{number}x"
                yield from statements_in(entry, (*names, name), depth + 1)
        elif entries:
            for entry in entries:
                yield from statements_in(entry, names, depth + 1)
        elif len(value) == 1 and names:
            yield Statement(names, value[0])
    elif names:
        yield Statement(names, value)


NAMES_OF_PARTS: Final = (
    "criterion",
    "criteria",
    "aspect",
    "dimension",
    "metric",
    "category",
    "quality",
    "name",
    "item",
    "question",
)
"""Keys whose value names the part that an object is about."""


def _name_of_whole(entry: object) -> str | None:
    """Return the name of an entry that is about the whole, not about a part.

    >>> _name_of_whole({"aspect": "Overall", "score": 2})
    'Overall'
    """
    if not isinstance(entry, Mapping):
        return None
    # The maximum number of characters of a name.
    longest_name = 60
    for key in NAMES_OF_PARTS:
        name = entry.get(key)
        if isinstance(name, str) and len(name) <= longest_name:
            return name if rank_of((name,), NUMBERS) is Rank.FINAL else None
    return None


_ARGUMENTS: Final = ("arguments", "parameters", "args", "input", "params", "kwargs")
_CALLED: Final = ("name", "function", "tool", "tool_name", "function_name", "recipient")


def _is_call(value: object) -> bool:
    return isinstance(value, dict) and _call(value) is not None


def calls_another_tool(value: object) -> bool:
    """Return whether an object only calls a tool that does not judge.

    >>> calls_another_tool({"name": "web_search", "arguments": {"query": "4"}})
    True
    """
    return isinstance(value, Mapping) and _call(value) == {}


def _call(value: Mapping[str, object]) -> object | None:
    """Return the arguments of a call, None for another object.

    The arguments of another tool (a search) are empty.
    """
    function = value.get("function")
    if isinstance(function, dict):
        return _call(function)
    name = next((value[key] for key in _CALLED if key in value), None)
    inner = next((value[key] for key in _ARGUMENTS if key in value), None)
    if not isinstance(name, str) or inner is None:
        return None
    if is_other_tool(name):
        return {}
    if isinstance(inner, str):
        return parsed_text(inner) or {}
    return inner if isinstance(inner, dict | list) else None


SEVERAL: Final = "several_parts"
"""The rule of values for several parts without an overall one."""
CONTRADICTION: Final = "contradiction"
"""The rule of verdicts that differ."""
UNREAD: Final = "unread_verdict"
"""The rule of a verdict that names no value of the menu."""


def chosen(
    statements: Iterable[Statement], menu: Menu
) -> tuple[Statement, Judgment] | None:
    """Return the statement that is the verdict and its judgment, None without one.

    The best rank counts, whatever the order; of equal names the last. A verdict that
    cannot be read is not replaced by a lower rank. Parts that differ give none.
    """
    statements = list(statements)
    several = menu.parts and len(statements) > 1
    numbered = _numbered_names(statements) if several else None
    ranked: dict[Rank, list[tuple[Statement, Judgment]]] = {}
    about: list[tuple[Statement, Judgment]] = []
    for statement in statements:
        spoken = _spoken(statement, menu)
        if spoken is not None:
            if rank_of(statement.names[:-1], menu.nouns) is not Rank.NEVER:
                about.append((statement, spoken))
            continue
        rank = rank_of(statement.names, menu.nouns)
        if numbered and statement.names in numbered:
            rank = max(rank, Rank.PART)
        if rank is Rank.NEVER or (rank >= Rank.LOOSE and not menu.parts):
            continue
        read = menu.read(statement.value)
        if read is None:
            continue
        if read.status == "unparsed":
            if rank >= Rank.LOOSE:
                continue
            if is_bare(statement.names[-1], menu.nouns):
                if _is_sentence(statement.value):
                    continue  # a comment: `"overall": "It flows well."`
                # It stands for the whole, and parts do not stand in for it.
                rank = Rank.TOTAL
            read = read._replace(rule=UNREAD)
        elif _is_off_scale_part(statement, rank, read):
            rank = Rank.NEVER
        ranked.setdefault(rank, []).append((statement, read))
    about = _without_counts(about)
    overall = [spoken for spoken in about if _is_about_whole(spoken[0])]
    if overall:
        ranked.setdefault(Rank.FINAL, []).extend(overall)
    elif about:
        ranked.setdefault(Rank.EXACT, []).extend(about)
    if not ranked:
        return None
    best = min(ranked)
    candidates = ranked[best]
    if best is Rank.TOTAL and any(map(_is_share, statements)):
        return candidates[-1][0], Judgment("unparsed", SEVERAL)
    if best is Rank.NEVER:  # parts off the scale
        return candidates[0] if len(candidates) == 1 else None
    return _agreed(candidates, spoken=about, parts=best is Rank.PART)


_SIDES: Final = word_set("a b 1 2 first second")
_NUMBER_IN_NAME = re.compile(r"(?<![^\W\d_])(?:[a-d](?![^\W_])|\d{1,2}(?!\d))")


def _numbered_names(statements: list[Statement]) -> frozenset[tuple[str, ...]]:
    """Return the names that differ only in a number or a letter: those of parts.

    `{"model_a_score": 4, "model_b_score": 2}`, `{"score_1": 4, "score_2": 4}`
    """
    numbered = [each.names for each in statements if _without_numbers(each.names)]
    if len(numbered) < 2:
        return frozenset()
    alike: dict[tuple[str, ...] | None, set[tuple[str, ...]]] = {}
    for names in numbered:
        alike.setdefault(_without_numbers(names), set()).add(names)
    several = [names for names in alike.values() if len(names) > 1]
    return frozenset[tuple[str, ...]]().union(*several)


@lru_cache(maxsize=4096)
def _without_numbers(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return names with a sign for their numbers and letters, None without one.

    >>> _without_numbers(("Text_1", "score")), _without_numbers(("score",))
    (('text_#', 'score'), None)
    """
    folded = tuple(name.lower() for name in names)
    plain = tuple(_NUMBER_IN_NAME.sub("#", name) for name in folded)
    return None if plain == folded else plain


def _is_off_scale_part(statement: Statement, rank: Rank, read: Judgment) -> bool:
    """Return whether a value is a count or a year, not a part of the verdict.

    The score of one of two texts (`score_a`, `assistant_2`) is a part off the scale.
    """
    if rank is not Rank.PART or read.status != "out_of_range":
        return False
    words = words_of(statement.names[-1])
    return _SIDES.isdisjoint(words[:1] + words[1:][-2:])


def _without_counts(
    about: list[tuple[Statement, Judgment]],
) -> list[tuple[Statement, Judgment]]:
    """Return what is said about labels; if one number counts, none is a yes or no.

    `{"pass": 3, "fail": 1}` counts, `{"pass": 0, "fail": 1}` does not.
    """
    if not about:
        return about
    numbers = [_whole_number(statement.value) for statement, _ in about]
    if not any(number is not None and number > 1 for number in numbers):
        return about
    unread = Judgment("unparsed", UNREAD)
    read: list[tuple[Statement, Judgment]] = []
    for (statement, judgment), number in zip(about, numbers, strict=True):
        read.append((statement, judgment if number is None else unread))
    return read


def _whole_number(value: object) -> int | None:
    """Return the whole number that a value is, None for another value."""
    if isinstance(value, str):
        digits = re.match(r"\W{0,4}(\d{1,4})\b(?![.,]\d|\s?[/%])", value)
        return int(digits[1]) if digits else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value


def _is_about_whole(statement: Statement) -> bool:
    """Return whether a name or one around it says that it is about the whole."""
    words: list[str] = []
    for name in statement.names:
        words += words_of(name)
    return not _FINAL.isdisjoint(_split_compounds(words))


_VALUE_NAMES: Final = ("value", "answer", "result", "verdict", "judgment", "decision")


def _spoken(statement: Statement, menu: Menu) -> Judgment | None:
    """Return what a value says about its name, or about the name around `value`."""
    names = statement.names
    spoken = menu.about(names[-1], statement.value)
    if spoken is None and len(names) > 1 and names[-1].casefold() in _VALUE_NAMES:
        return menu.about(names[-2], statement.value)
    return spoken


_SHARES: Final = word_set(
    """
    correct incorrect right wrong supported unsupported passed failed met unmet found
    covered matched satisfied true false hits count number
    """
)
"""Names of numbers whose whole is a `total`: `{"correct": 4, "total": 5}`."""


def _is_share(statement: Statement) -> bool:
    words = words_of(statement.names[-1])
    return isinstance(statement.value, int) and not _SHARES.isdisjoint(words)


def _is_sentence(value: object) -> bool:
    return isinstance(value, dict | list) or (
        isinstance(value, str) and value.strip().count(" ") > 1
    )


def is_bare(name: str, nouns: frozenset[str]) -> bool:
    """Return whether a name has no noun of the menu: its value may be a sentence.

    >>> is_bare("overall_comment", NUMBERS), is_bare("overall_score", NUMBERS)
    (True, False)
    """
    words = _split_compounds(words_of(name))
    return not any(word in nouns for word in words)


_WEAK: Final = word_set("category class answer choice value status")
"""Names of a verdict, or of something else: `{"category": "history", "label": …}`."""


def _is_weak(statement: Statement, judgment: Judgment) -> bool:
    """Return whether a value that cannot be read may be none of a verdict."""
    words = words_of(statement.names[-1])
    return judgment.status == "unparsed" and not _WEAK.isdisjoint(words)


def _agreed(
    stated: list[tuple[Statement, Judgment]],
    *,
    spoken: list[tuple[Statement, Judgment]],
    parts: bool,
) -> tuple[Statement, Judgment]:
    """Return the last of statements of one rank, or why they give no verdict.

    A name that comes again replaces what it had before; other names must agree.
    """
    if len(stated) == 1:
        return stated[0]
    last, read = stated[-1]
    if spoken:
        stated = [pair for pair in stated if pair[1].status == "ok"] or stated
        last, read = stated[-1]
    by_name = {statement.names: judged.value for statement, judged in stated}
    if len(by_name) == 1:
        return last, read
    if parts:
        return last, Judgment("unparsed", SEVERAL)
    if len(set(by_name.values())) > 1:
        strong = [pair for pair in stated if not _is_weak(*pair)]
        if len(strong) < len(stated) and strong:
            return _agreed(strong, spoken=spoken, parts=parts)
        return last, Judgment("unparsed", CONTRADICTION)
    return last, read
