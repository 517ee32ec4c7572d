"""What people write in several languages who give no rating: `k. A.`, `未评分`."""

from typing import Final

NO_ANSWER: Final = frozenset(
    {
        "k a",
        "k.a",
        "keine angabe",
        "keine angaben",
        "ohne angabe",
        "o.a",
        "sans réponse",
        "non renseigné",
        "n d",
        "n/d",
        "n.d",
        "s/r",
        "s/d",
        "sin respuesta",
        "sin datos",
        "sem resposta",
        "não informado",
        "nessuna risposta",
        "non disponibile",
        "geen antwoord",
        "brak odpowiedzi",
        "brak danych",
        "no answer given",
        "not rated",
        "not answered",
        "prefer not to say",
        "н/д",
        "нет данных",
        "нет ответа",
        "не указано",
        "не оценено",
        "未评",
        "未评分",
        "未标注",
        "未填",
        "无数据",
        "未回答",
        "無回答",
        "未評価",
        "無応答",
        "무응답",
        "미응답",
        "미평가",
        "لا يوجد",
        "بدون إجابة",
    }
)
"""What people write who give no rating, in lower case without a point at the end."""


def says_no_answer(cell: object) -> bool:
    """Whether a cell says that a person gave no rating, in one of several languages.

    >>> says_no_answer("k. A."), says_no_answer("未评"), says_no_answer("keine")
    (True, True, False)
    """
    text = " ".join(str(cell).casefold().split()).rstrip(".")
    return text in NO_ANSWER or text.replace(". ", ".") in NO_ANSWER
