"""Overlap with references or source, on texts small enough to count by hand."""

import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.engines.base import (
    EngineInputs,
    Subject,
    compared,
    number_text,
    request_key,
)
from judgescope.engines.lexical import (
    BLIND,
    WEIGHTS,
    Parts,
    build,
    explain,
    length,
    measure,
    overlap,
    punctuation,
    rate,
    repetition,
    spelling,
)
from judgescope.schema.cards import LEXICAL_FORMS, Judge, LexicalModel, RatingScale
from running import HOME

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
UNIT = RatingScale(min=0, max=1, step=None, labels=[])
MODEL = LexicalModel(model="lexical", engine="lexical")
INPUTS = EngineInputs(seed=0, dataset="d")

TEXT = "The harbour crane lifted the old ferry out of the water."
REFERENCES = (
    "A crane lifted the ferry from the harbour this morning.",
    "The old ferry was out of the water when the crane stopped.",
)


def judge(form: str, **fields: object) -> Judge:
    return Judge.model_validate(
        {"judge": "it", "model": "lexical", "form": form, **fields}
    )


def subject(text: str = TEXT, **fields: object) -> Subject:
    given = {
        "target": "t",
        "item": "i",
        "system": "s",
        "perturbation": "systems",
        **fields,
    }
    return Subject(text=text, **given)  # type: ignore[arg-type]


def reply(form: str, subject: Subject, **fields: object) -> tuple[str, str]:
    [[answer]] = build(MODEL, INPUTS).answer(
        judge(form, **fields), "fluency", UNIT, [subject]
    )
    return answer.text, answer.status


@pytest.mark.heavy
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
    assert overlap("rougel")(
        "one cat sat", ["dogs ran", "sat cat one"]
    ) == pytest.approx(1 / 3)


def test_bleu_by_hand() -> None:
    # 3 of 4 unigrams, 2 of 3 bigrams, 1 of 2 trigrams, 0 of 1 4-grams smoothed to 1/2;
    # no penalty
    expected = (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** 0.25
    assert overlap("bleu")(
        "one two three five", ["one two three four"]
    ) == pytest.approx(expected)


def test_overlap_is_what_the_packages_say() -> None:
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import sentence_bleu, sentence_chrf

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    for name in scorer.rouge_types:
        best = max(
            scorer.score(reference, TEXT)[name].fmeasure for reference in REFERENCES
        )
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
def test_overlap_is_1_for_equal_texts_and_0_for_others(form: str) -> None:
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
    each = subject(
        "one cat sat", source="big cat sat", references=("one cat sat down",)
    )
    assert reply("rougel", each, use_reference=False)[0] == "0.666666667"
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
    engine = build(MODEL, INPUTS)
    forward = engine.answer(judge("rouge1", draws=3), "fluency", UNIT, subjects)
    assert [len(draws) for draws in forward] == [3, 3]
    assert forward[0][0] == forward[0][2] != forward[1][0]
    assert (
        engine.answer(judge("rouge1", draws=3), "fluency", UNIT, subjects[::-1])
        == forward[::-1]
    )


def test_the_version_names_the_package() -> None:
    from importlib.metadata import version

    assert (
        build(MODEL, INPUTS).version(judge("rougel"))
        == f"rouge-score {version('rouge-score')}"
    )
    assert (
        build(MODEL, INPUTS).version(judge("bleu"))
        == f"sacrebleu {version('sacrebleu')}"
    )


def key(form: str, subject: Subject, aspect: str = "fluency", **fields: object) -> str:
    return request_key(
        MODEL, judge(form, **fields), aspect, UNIT, subject, seed=1, dataset="d"
    )


def test_the_key_holds_what_the_answer_needs_and_nothing_else() -> None:
    each = subject(source="s", references=("r",))
    same = subject(source="other", references=("r",), target="u", item="j", system="x")
    assert key("rouge1", each) == key("rouge1", same, aspect="coherence")
    assert key("rouge1", each) == key("rouge1", each, judge="another")
    different = {
        key("rouge1", each),
        key("rouge2", each),
        key("rouge1", each, use_reference=False),
        key("rouge1", subject(references=("q",))),
        key("rouge1", subject("another", references=("r",))),
        key("rules", each),
        key("rules", each, aspect="coherence"),
        key("rules", same),
    }
    assert len(different) == 8
    assert all(len(made) == 64 for made in different)


@pytest.mark.heavy
def test_heavy_packages_wait_until_a_form_needs_them() -> None:
    code = (
        "import sys, judgescope.engines.lexical as lexical;"
        "heavy = {'nltk', 'rouge_score', 'sacrebleu', 'spellchecker', 'pandas', "
        "'scipy'};print(sorted(heavy & set(sys.modules)));lexical.overlap('chrf')('a', "
        "['b']);print(sorted(heavy & set(sys.modules)));lexical.overlap('rougel')('a', "
        "['b']);print(sorted(heavy & set(sys.modules)))"
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
    each = subject(source=TEXT, references=REFERENCES)
    for form in LEXICAL_FORMS:
        assert reply(form, each)[1] == "ok"


FIVE = RatingScale(min=1, max=5, step=1, labels=[])
CLEAN = "The lake froze early this winter. Children skate on it after school."


@pytest.mark.heavy
def test_spelling_by_hand() -> None:
    assert spelling(CLEAN) == 1
    assert spelling("the lkae froze early") == pytest.approx(0.1 / (0.1 + 1 / 4))
    assert spelling("") == 1


@pytest.mark.parametrize(
    "text",
    [
        "Zorvath met Quill in 1987b.",
        "we do n't know",
        "it isn't so",
        "up to zz",
        "4x4 cars",
    ],
)
def test_names_numbers_and_contractions_are_no_mistakes(text: str) -> None:
    assert spelling(text) == 1


def test_words_of_the_source_are_no_mistakes() -> None:
    assert (
        spelling("the merson row", "Paul Merson said") == 1 > spelling("the merson row")
    )


def test_each_typo_lowers_the_spelling() -> None:
    typos = [
        ("winter", "wintre"),
        ("froze", "frzoe"),
        ("school", "shcool"),
        ("early", "eraly"),
    ]
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
    assert explain(parts, "groundedness").startswith(
        "Rules see almost nothing of groundedness"
    )
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

    def counting(
        text: str, source: str | None, references: Sequence[str], language: str
    ) -> Parts:
        measured.append(text)
        return measure(text, source, references, language)

    monkeypatch.setattr("judgescope.engines.lexical.measure", counting)
    judge = Judge(judge="rules", model="lexical", form="rules")
    engine = build(MODEL, INPUTS)
    references = ("The lake froze early this winter.",)
    each = Subject("t", "i", "s", "systems", "the lkae froze early .", None, references)
    answers = [engine.answer(judge, aspect, FIVE, [each])[0][0] for aspect in WEIGHTS]
    assert len({answer.rationale for answer in answers}) == 1
    assert len({answer.text for answer in answers}) == len(set(WEIGHTS.values()))
    assert measured == [each.text]


@pytest.mark.parametrize("aspect", ["fluency", "faithfulness", "overall"])
@pytest.mark.parametrize(("low", "high"), [(1, 5), (0, 1), (1, 100)])
@pytest.mark.parametrize("part", [0.01, 0.94, 1])
def test_a_rating_lies_on_the_scale_where_the_properties_lie(
    aspect: str, low: float, high: float, part: float
) -> None:
    rating = rate(Parts(part, part, part, part), aspect, RatingScale(min=low, max=high))
    assert rating == pytest.approx(low + (high - low) * part)


@given(st.text(), st.none() | st.text(), st.lists(st.text(), max_size=2))
def test_every_text_has_a_rating_on_the_scale(
    text: str, source: str | None, references: list[str]
) -> None:
    parts = measure(text, source, references)
    assert all(0 <= part <= 1 for part in parts if part is not None)
    assert 1 <= rate(parts, "overall", FIVE) <= 5


PROGRAM = HOME / "config" / "programs" / "reference_measures.py"


def answers(measure: str, *targets: dict[str, Any]) -> list[dict[str, Any]]:
    lines = "".join(
        json.dumps({"id": at, **target}) + "\n" for at, target in enumerate(targets)
    )
    done = subprocess.run(
        [sys.executable, str(PROGRAM), measure],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_sari_is_that_of_the_example_in_a_public_implementation() -> None:
    """26.9536 is printed for it by the documentation of the package evaluate."""
    references = [
        "About 95 species are currently known .",
        "About 95 species are now accepted .",
        "95 species are now accepted .",
    ]
    source, text = (
        "About 95 species are currently accepted .",
        "About 95 you now get in .",
    )
    asked = {"source": source, "text": text, "references": references}
    best = {"source": "a b c d", "text": "a b x d", "references": ["a b x d"]}
    scores = [answer["score"] for answer in answers("sari", asked, best)]
    assert scores == [pytest.approx(26.953601953601954), pytest.approx(100)]


@pytest.mark.heavy
def test_meteor_by_hand() -> None:
    """Two of two words in one chunk: 1 - .5 (1/2)³; a stem counts; the best reference
    is taken.
    """
    targets = [
        {"text": "the cat", "references": ["the cat"]},
        {"text": "the cats", "references": ["a dog", "the cat"]},
        {"text": "one two", "references": ["three four"]},
    ]
    scores = [answer["score"] for answer in answers("meteor", *targets)]
    assert scores == [pytest.approx(0.9375), pytest.approx(0.9375), 0]


def test_what_a_measure_lacks_is_an_error_of_its_text() -> None:
    [lacking] = answers("meteor", {"text": "a", "references": []})
    assert lacking == {"id": 0, "error": "there is no reference"}
    [lacking] = answers("sari", {"text": "a", "source": None, "references": ["a"]})
    assert lacking == {"id": 0, "error": "there is no source"}


GERMAN = (
    "Die Brücke über den Fluss wird im Frühjahr für elf Wochen gesperrt.",
    "Prüfer hatten zwei gerissene Stahlseile gefunden, die ersetzt werden müssen.",
)
CHINESE = ("这座桥将从三月起关闭十一周。", "检查人员在两根钢索上发现了裂缝。")
THAI = ("สะพานจะปิดเป็นเวลาสิบเอ็ดสัปดาห์ในฤดูใบไม้ผลิ",)


def ruled(texts: Sequence[str], language: str = "") -> str:
    """Return what the rule judge says of the first of some texts."""
    inputs = EngineInputs(seed=0, dataset="d", texts=texts, language=language)
    each = subject(texts[0], references=tuple(texts))
    [[answer]] = build(MODEL, inputs).answer(judge("rules"), "fluency", UNIT, [each])
    assert answer.rationale is not None
    return answer.rationale


def test_spelling_is_left_out_where_the_texts_are_not_english() -> None:
    rationale = ruled(GERMAN)
    assert rationale.startswith("no spelling: Latin script, not English\n")
    assert "spelling " not in rationale.partition("\n")[2]
    assert ruled(GERMAN, language="de").startswith("no spelling: de\n")
    assert "spelling" in ruled((TEXT, *REFERENCES)).partition(",")[0]


def test_rating_without_spelling_weighs_the_other_properties_alike() -> None:
    parts = Parts(spelling=None, repetition=1.0, length=1.0, punctuation=1.0)
    assert rate(parts, "fluency", UNIT) == 1


@pytest.mark.parametrize("texts", [GERMAN, CHINESE, THAI])
def test_right_text_of_any_script_has_no_fault_of_punctuation(
    texts: tuple[str, ...],
) -> None:
    assert all(punctuation(text) == 1 for text in texts)


@pytest.mark.parametrize("texts", [GERMAN, CHINESE, THAI])
@pytest.mark.parametrize("form", ["rouge1", "rougel"])
def test_half_of_a_text_overlaps_with_it_in_any_script(
    texts: tuple[str, ...], form: str
) -> None:
    half = texts[0][: len(texts[0]) // 2]
    assert 0.4 < overlap(form)(half, [texts[0]]) < 0.9


def test_tokens_of_bleu_follow_the_script_of_the_references() -> None:
    def version(texts: Sequence[str]) -> str:
        inputs = EngineInputs(seed=0, dataset="d", texts=texts)
        return build(MODEL, inputs).version(judge("bleu"))

    assert version(CHINESE).endswith(", tokenize zh")
    assert version(THAI).endswith(", tokenize char")
    assert "tokenize" not in version(REFERENCES)
    half = CHINESE[0][:8]
    assert overlap("bleu")(half, CHINESE) < overlap("bleu", "zh")(half, CHINESE)
