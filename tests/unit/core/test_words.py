"""Words of any script, and the guess of a language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.core.words import (
    bleu_tokenizer,
    is_english,
    language_of,
    script_of,
    word_spans,
    words,
)

KNOWN = frozenset(("the", "bridge", "is", "closed", "and", "a", "cat"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat's 3.5 mice", ["the", "cat", "s", "3", "5", "mice"]),
        ("naïve café—“ok”", ["naïve", "café", "ok"]),
        ("cafe\u0301", ["café"]),
        ("Straße", ["strasse"]),
        ("Мост закрыт", ["мост", "закрыт"]),
        ("मैं हूँ।", ["मैं", "हूँ"]),
        ("الجسر مغلق؟", ["الجسر", "مغلق"]),
        ("桥已关闭。", ["桥", "已", "关", "闭"]),
        ("カレーを食べる", ["カ", "レ", "ー", "を", "食", "べ", "る"]),
        ("ฉันกิน", ["ฉั", "น", "กิ", "น"]),
        ("GPT-4와 2024년", ["gpt", "4와", "2024년"]),
        ("x² _ ½", ["x"]),
    ],
)
def test_words_of_a_text(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text(st.characters(codec="ascii")))
def test_words_of_ascii_are_runs_of_letters_and_digits(text: str) -> None:
    lowered = "".join(each if each.isalnum() else " " for each in text.lower())
    assert words(text) == lowered.split()


@given(st.text())
def test_spans_lie_in_the_text_in_order(text: str) -> None:
    ends = [location for span in word_spans(text) for location in span]
    assert ends == sorted(ends)
    assert all(0 <= end <= len(text) for end in ends)
    assert all(start < end for start, end in word_spans(text))


@pytest.mark.parametrize(
    ("texts", "script"),
    [
        (["A bridge."], "Latin"),
        (["Мост and some"], "Latin"),
        (["东京都"], "Han"),
        (["東京都は大きい"], "kana"),
        (["สะพาน"], "Thai"),
        (["123 …"], ""),
    ],
)
def test_script_of_most_letters(texts: list[str], script: str) -> None:
    assert script_of(texts) == script


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The bridge is closed.", "en"),
        ("THE BRIDGE IS CLOSED", "en"),
        ("Die Brücke ist wegen Bauarbeiten gesperrt.", "Latin script, not English"),
        ("Мост закрыт.", "Cyrillic script"),
        ("", ""),
    ],
)
def test_language_is_guessed_from_letters_and_known_words(
    text: str, language: str
) -> None:
    assert language_of([text], KNOWN) == language


@pytest.mark.parametrize("tag", ["", "en", "EN-us", "en-GB"])
def test_tags_of_english(tag: str) -> None:
    assert is_english(tag)


@pytest.mark.parametrize("tag", ["de", "enm", "Han script"])
def test_tags_of_other_languages(tag: str) -> None:
    assert not is_english(tag)


@pytest.mark.parametrize(
    ("reference", "tokenizer"),
    [("A text.", "13a"), ("文本", "zh"), ("テキスト", "char"), ("ข้อความ", "char")],
)
def test_tokenizer_of_bleu(reference: str, tokenizer: str) -> None:
    assert bleu_tokenizer([reference]) == tokenizer
