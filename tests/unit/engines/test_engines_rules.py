"""The rule judge: each property by hand, and more faults never help."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.engines.base import Subject
from judgescope.engines.lexical import (
    BLIND,
    WEIGHTS,
    LexicalEngine,
    Parts,
    explain,
    length,
    measure,
    punctuation,
    rate,
    repetition,
    spelling,
)
from judgescope.schema.cards import Judge, Scale

FIVE = Scale(min=1, max=5, step=1, labels=[])
CLEAN = "The lake froze early this winter. Children skate on it after school."


@pytest.mark.heavy
def test_spelling_by_hand() -> None:
    assert spelling(CLEAN) == 1
    assert spelling("the lkae froze early") == pytest.approx(0.1 / (0.1 + 1 / 4))
    assert spelling("") == 1


@pytest.mark.parametrize(
    "text", ["Zorvath met Quill in 1987b.", "we do n't know", "it isn't so", "up to zz", "4x4 cars"]
)
def test_names_numbers_and_contractions_are_no_mistakes(text: str) -> None:
    assert spelling(text) == 1


def test_words_of_the_source_are_no_mistakes() -> None:
    assert spelling("the merson row", "Paul Merson said") == 1 > spelling("the merson row")


def test_each_typo_lowers_the_spelling() -> None:
    typos = [("winter", "wintre"), ("froze", "frzoe"), ("school", "shcool"), ("early", "eraly")]
    values = [spelling(CLEAN)]
    text = CLEAN
    for right, wrong in typos:
        text = text.replace(right, wrong)
        values.append(spelling(text))
    assert values == sorted(set(values), reverse=True)


def test_repetition_by_hand() -> None:
    assert repetition("one two three four") == 1
    assert repetition("one two two three") == pytest.approx(0.1 / (0.1 + 1 / 4))
    # 3 words, a pause, the same 3: the trigram and the sentence come again
    assert repetition("We saw it. We saw it!") == pytest.approx(0.1 / (0.1 + 2 / 6))
    assert repetition("") == 1


def test_length_by_hand() -> None:
    references = ["one two three four", "one two three four five six"]
    assert [length("w " * n, None, references) for n in (0, 2, 4, 5, 6, 12)] == [
        *(0, 0.5, 1, 1, 1, 0.5)
    ]
    source = "One two three four. One two three four. One two."
    assert [length("w " * n, source, []) for n in (2, 4, 10, 20)] == [0.5, 1, 1, 0.5]
    assert length("some words", None, []) is None
    assert length("some words", " ", []) is None


@pytest.mark.parametrize(
    ("text", "faults", "sentences"),
    [
        (CLEAN, 0, 2),
        ("townsend hit back at merson . he was brought on late .", 0, 2),
        ("Wait... What?!", 0, 2),
        ("She stopped,, then left.", 1, 1),
        ("She stopped. Then she left", 1, 2),
        ("She (stopped. Then she left.", 1, 2),
        ('She said "stop. Then she left.', 1, 2),
        ("She stopped , looked, and left.", 1, 1),
        ("She stopped. then she left.", 1, 2),
        ("she stopped ,, (then", 3, 1),
        ("", 1, 1),
    ],
)
def test_punctuation_by_hand(text: str, faults: int, sentences: int) -> None:
    assert punctuation(text) == pytest.approx(0.5 / (0.5 + faults / sentences))


def test_the_reply_explains_the_rating() -> None:
    parts = Parts(0.96, 1, 0.8, 1)
    mean = 0.5 * 0.96 + 0.1 * 1 + 0.4 * 1
    assert rate(parts, "fluency", FIVE) == pytest.approx(1 + 4 * mean)
    assert explain(parts, "fluency") == (
        "spelling 0.96, repetition 1.00, length 0.80, punctuation 1.00"
    )
    assert explain(parts, "groundedness").startswith("Rules see almost nothing of groundedness")
    assert "length" not in explain(parts._replace(length=None), "relevance")


def test_a_length_without_a_yardstick_does_not_weigh() -> None:
    parts = Parts(1, 1, None, 1)
    assert rate(parts, "relevance", FIVE) == 5


def test_weights_sum_to_one_and_no_aspect_is_seen_and_not_seen() -> None:
    assert all(sum(weights) == pytest.approx(1) for weights in WEIGHTS.values())
    assert not BLIND & set(WEIGHTS)


def test_the_judge_measures_a_text_once_and_weighs_it_per_aspect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured = []

    def counting(text: str, source: str | None, references: Sequence[str]) -> Parts:
        measured.append(text)
        return measure(text, source, references)

    monkeypatch.setattr("judgescope.engines.lexical.measure", counting)
    judge = Judge(judge="rules", model="lexical", form="rules")
    engine = LexicalEngine()
    references = ("The lake froze early this winter.",)
    one = Subject("t", "i", "s", "systems", "the lkae froze early .", None, references)
    said = [engine.answer(judge, aspect, FIVE, [one])[0][0] for aspect in WEIGHTS]
    assert len({answer.rationale for answer in said}) == 1
    assert len({answer.text for answer in said}) == len(set(WEIGHTS.values()))
    assert measured == [one.text]


@pytest.mark.parametrize("aspect", ["fluency", "faithfulness", "overall"])
@pytest.mark.parametrize(("low", "high"), [(1, 5), (0, 1), (1, 100)])
@pytest.mark.parametrize("part", [0.01, 0.94, 1])
def test_a_rating_lies_on_the_scale_where_the_properties_lie(
    aspect: str, low: float, high: float, part: float
) -> None:
    rating = rate(Parts(part, part, part, part), aspect, Scale(min=low, max=high))
    assert rating == pytest.approx(low + (high - low) * part)


@given(st.text(), st.none() | st.text(), st.lists(st.text(), max_size=2))
def test_every_text_has_a_rating_on_the_scale(
    text: str, source: str | None, references: list[str]
) -> None:
    parts = measure(text, source, references)
    assert all(0 <= part <= 1 for part in parts if part is not None)
    assert 1 <= rate(parts, "overall", FIVE) <= 5
