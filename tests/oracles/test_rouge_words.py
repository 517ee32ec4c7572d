"""ROUGE's words on real texts: those of rouge_score where all letters are ASCII."""

import json
from collections.abc import Iterator

import pytest

from judgescope.core.words import words
from judgescope.engines.lexical import overlap
from running import SHARED, needs_data

SUMMEVAL = SHARED / "summeval" / "model_annotations.12systems.jsonl"
FORMS = {"rouge1": "rouge1", "rouge2": "rouge2", "rougel": "rougeL"}
SAMPLE = 60
"""Every so manieth text is scored, too; the words of all are compared."""


def is_plain(text: str) -> bool:
    """Return whether all letters of a text are ASCII."""
    return all(each.isascii() for each in text if each.isalpha())


def summaries() -> Iterator[tuple[str, list[str]]]:
    for line in SUMMEVAL.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield row["decoded"], row["references"]


@needs_data
def test_words_of_plain_texts_are_those_of_rouge_score() -> None:
    from rouge_score.tokenize import tokenize

    plain = others = 0
    for text, references in summaries():
        for each in (text, *references):
            if is_plain(each):
                plain += 1
                assert words(each) == tokenize(each, None)
            else:
                others += 1
    assert plain > 10 * others and plain > 1_200


@needs_data
@pytest.mark.parametrize("form", FORMS)
def test_rouge_of_plain_texts_is_that_of_rouge_score_to_the_last_bit(form: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer([FORMS[form]], use_stemmer=True)
    compared = 0
    for number, (text, references) in enumerate(summaries()):
        if number % SAMPLE or not all(map(is_plain, (text, *references))):
            continue
        expected = scorer.score_multi(references, text)[FORMS[form]].fmeasure
        assert overlap(form)(text, references) == expected
        compared += 1
    assert compared >= 10
