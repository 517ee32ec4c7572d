"""Overlap with references or source, on texts small enough to count by hand."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from judgescope.engines.base import EngineInputs, Subject, compared, number_text, request_key
from judgescope.engines.lexical import LexicalEngine, build, overlap
from judgescope.schema.cards import LEXICAL_FORMS, Judge, LexicalModel, Scale

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
UNIT = Scale(min=0, max=1, step=None, labels=[])
MODEL = LexicalModel(model="lexical", engine="lexical")

TEXT = "The harbour crane lifted the old ferry out of the water."
REFERENCES = (
    "A crane lifted the ferry from the harbour this morning.",
    "The old ferry was out of the water when the crane stopped.",
)


def judge(form: str, **fields: object) -> Judge:
    return Judge.model_validate({"judge": "it", "model": "lexical", "form": form, **fields})


def subject(text: str = TEXT, **fields: object) -> Subject:
    given = {"target": "t", "item": "i", "system": "s", "perturbation": "systems", **fields}
    return Subject(text=text, **given)  # type: ignore[arg-type]


def reply(form: str, one: Subject, **fields: object) -> tuple[str, str]:
    [[answer]] = LexicalEngine().answer(judge(form, **fields), "fluency", UNIT, [one])
    return answer.text, answer.status


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("rouge1", 2 / 3),  # 2 shared words of 3 and 3
        ("rouge2", 1 / 2),  # (cat, sat) of 2 and 2 bigrams
        ("rougel", 2 / 3),  # longest common subsequence: cat sat
    ],
)
def test_rouge_by_hand(form: str, expected: float) -> None:
    assert overlap(form)("one cat sat", ["big cat sat"]) == pytest.approx(expected)


def test_rouge_stems_words() -> None:
    assert overlap("rouge1")("cats sitting", ["cat sits"]) == 1


def test_rouge_takes_the_best_reference_and_rougel_minds_the_order() -> None:
    assert overlap("rouge1")("one cat sat", ["dogs ran", "sat cat one"]) == 1
    assert overlap("rougel")("one cat sat", ["dogs ran", "sat cat one"]) == pytest.approx(1 / 3)


def test_bleu_by_hand() -> None:
    # 3 of 4 unigrams, 2 of 3 bigrams, 1 of 2 trigrams, 0 of 1 4-grams smoothed to 1/2; no penalty
    expected = (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** 0.25
    assert overlap("bleu")("one two three five", ["one two three four"]) == pytest.approx(expected)


def test_overlap_is_what_the_packages_say() -> None:
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import sentence_bleu, sentence_chrf

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    for name in scorer.rouge_types:
        best = max(scorer.score(reference, TEXT)[name].fmeasure for reference in REFERENCES)
        assert overlap(name.lower())(TEXT, REFERENCES) == best
    best = max(sentence_chrf(TEXT, [reference]).score for reference in REFERENCES)
    assert overlap("chrf")(TEXT, REFERENCES) * 100 == pytest.approx(best)
    bleu = sentence_bleu(TEXT, list(REFERENCES), use_effective_order=True).score
    assert overlap("bleu")(TEXT, REFERENCES) * 100 == pytest.approx(bleu)


def test_rougel_of_random_texts_is_what_the_package_says() -> None:
    from rouge_score.rouge_scorer import RougeScorer

    words, rng = TEXT.split() * 2 + ["", "-", "ferries", "Lifting"], random.Random(26)
    texts = [" ".join(rng.choices(words, k=rng.randrange(40))) for _ in range(60)]
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    for text, reference in zip(texts, reversed(texts), strict=True):
        expected = scorer.score(reference, text)["rougeL"].fmeasure
        assert overlap("rougel")(text, [reference]) == expected


@pytest.mark.parametrize("form", [form for form in LEXICAL_FORMS if form != "rules"])
def test_overlap_is_one_for_equal_texts_and_zero_for_others(form: str) -> None:
    assert overlap(form)(TEXT, [TEXT]) == pytest.approx(1)
    assert overlap(form)("", [TEXT]) == 0
    assert overlap(form)("zzz", [TEXT]) == 0
    assert overlap(form)(TEXT, REFERENCES) == overlap(form)(TEXT, REFERENCES[::-1])


def test_reply_is_the_number_with_nine_decimals() -> None:
    assert reply("rouge1", subject("one cat sat", references=("big cat sat",))) == (
        "0.666666667",
        "ok",
    )
    assert [number_text(value) for value in (4.0, 0.25, 1e-7, 1e-12, -1e-12, 120)] == [
        *("4", "0.25", "0.0000001", "0", "0", "120")
    ]


def test_against_the_source() -> None:
    one = subject("one cat sat", source="big cat sat", references=("one cat sat down",))
    assert reply("rougel", one, use_reference=False)[0] == "0.666666667"
    assert reply("rougel", subject(source=" \n"), use_reference=False) == (
        "no_source",
        "not_applicable",
    )


def test_a_text_is_never_scored_against_itself() -> None:
    again = TEXT.replace(" ", "  ") + "\n"
    same = subject(perturbation="original", references=(again, "another text"))
    assert compared(same, "references")[0] == ("another text",)
    alone = subject(perturbation="original", references=(again,))
    assert reply("chrf", alone) == ("only_reference", "not_applicable")
    made = subject(perturbation="original", references=())
    assert reply("chrf", made) == ("only_reference", "not_applicable")
    assert reply("chrf", subject(references=())) == ("no_reference", "not_applicable")


def test_a_system_that_wrote_the_words_of_a_reference_is_compared_with_it() -> None:
    same = subject(references=(TEXT, "another text"))
    assert compared(same, "references")[0] == ("another text", TEXT)
    assert reply("chrf", subject(references=(TEXT,))) == ("1", "ok")
    assert reply("rougel", same) == ("1", "ok")


def test_draws_repeat_and_subjects_keep_their_order() -> None:
    texts = ["one cat sat", "dogs ran"]
    subjects = [subject(text, references=("one cat sat here",)) for text in texts]
    engine = build(MODEL, EngineInputs(seed=0, dataset="d"))
    forward = engine.answer(judge("rouge1", draws=3), "fluency", UNIT, subjects)
    assert [len(draws) for draws in forward] == [3, 3]
    assert forward[0][0] == forward[0][2] != forward[1][0]
    assert engine.answer(judge("rouge1", draws=3), "fluency", UNIT, subjects[::-1]) == forward[::-1]


def test_the_version_names_the_package() -> None:
    from importlib.metadata import version

    assert LexicalEngine().version(judge("rougel")) == f"rouge-score {version('rouge-score')}"
    assert LexicalEngine().version(judge("bleu")) == f"sacrebleu {version('sacrebleu')}"


def key(form: str, one: Subject, aspect: str = "fluency", **fields: object) -> str:
    return request_key(MODEL, judge(form, **fields), aspect, UNIT, one, seed=1, dataset="d")


def test_the_key_holds_what_the_answer_needs_and_nothing_else() -> None:
    one = subject(source="s", references=("r",))
    same = subject(source="other", references=("r",), target="u", item="j", system="x")
    assert key("rouge1", one) == key("rouge1", same, aspect="coherence")
    assert key("rouge1", one) == key("rouge1", one, judge="another")
    different = {
        key("rouge1", one),
        key("rouge2", one),
        key("rouge1", one, use_reference=False),
        key("rouge1", subject(references=("q",))),
        key("rouge1", subject("another", references=("r",))),
        key("rules", one),
        key("rules", one, aspect="coherence"),
        key("rules", same),
    }
    assert len(different) == 8
    assert all(len(made) == 64 for made in different)


@pytest.mark.heavy
def test_heavy_packages_wait_until_a_form_needs_them() -> None:
    code = (
        "import sys, judgescope.engines.lexical as lexical;"
        "heavy = {'nltk', 'rouge_score', 'sacrebleu', 'spellchecker', 'pandas', 'scipy'};"
        "print(sorted(heavy & set(sys.modules)));"
        "lexical.overlap('chrf')('a', ['b']);"
        "print(sorted(heavy & set(sys.modules)));"
        "lexical.overlap('rougel')('a', ['b']);"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(SCRIPTS)},
    )
    assert run.stdout.splitlines() == [
        "[]",
        "['sacrebleu']",
        "['nltk', 'rouge_score', 'sacrebleu']",
    ]


def test_nothing_needs_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    overlap.cache_clear()
    one = subject(source=TEXT, references=REFERENCES)
    for form in LEXICAL_FORMS:
        assert reply(form, one)[1] == "ok"
