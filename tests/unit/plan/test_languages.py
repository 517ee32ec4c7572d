"""What `check` says of texts that are not English, and what is not applied to them."""

from pathlib import Path

import pytest

from judgescope.perturb.check_languages import holds_in, unchecked_kind
from judgescope.plan.languages import language_lines
from study import Study

GERMAN = ["Die alte Brücke wird im Frühjahr gesperrt.", "Prüfer fanden zwei Risse."]
CHINESE = ["旧桥春天将关闭。", "检查员发现了裂缝。"]
ENGLISH = ["The old bridge will close in spring.", "Two cracks were found."]


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.chdir(tmp_path)
    own_part = Study(tmp_path)
    own_part.card(
        "perturbations",
        "wrong-names",
        name="wrong names",
        level="sentence",
        method="rule",
        rule="inject_errors",
        errors=["name", "order"],
        steps=2,
        aspects=["groundedness"],
        degrees={"single": {}},
    )
    return own_part


def lines(study: Study, texts: list[str], *perturbations: str) -> list[str]:
    plan = study.plan(
        judges=["rules", "length"],
        perturbations=list(perturbations),
        methods=["discernment" if perturbations else "agreement"],
    )
    return [*language_lines(plan, "demo-dialogue", texts)]


def test_english_texts_need_no_word(study: Study) -> None:
    assert lines(study, ENGLISH, "word-deletions", "wrong-names") == []


def test_guess_says_where_to_correct_it(study: Study) -> None:
    first, *_ = lines(study, GERMAN)
    assert first == (
        "language: Latin script, not English (a guess; write `language` in "
        "datasets/demo-dialogue.yaml)"
    )


def test_rule_judge_leaves_spelling_out(study: Study) -> None:
    assert any(
        "rules knows English words alone" in line for line in lines(study, GERMAN)
    )


def test_kinds_of_error_that_need_english_are_named(study: Study) -> None:
    result = lines(study, GERMAN, "wrong-names")
    [line] = [line for line in result if "wrong-names" in line]
    assert "name need English texts" in line and "order" not in line


@pytest.mark.parametrize(("texts", "expected"), [(CHINESE, True), (GERMAN, False)])
def test_rules_by_words_need_blanks(
    study: Study, texts: list[str], expected: bool
) -> None:
    result = lines(study, texts, "word-deletions")
    assert any("no blanks between words" in line for line in result) == expected


@pytest.mark.parametrize(
    ("texts", "warned"),
    [
        (ENGLISH, set()),
        (GERMAN, {"meteor", "bertscore"}),
        (CHINESE, {"meteor", "bertscore", "sari"}),
    ],
)
def test_programs_that_cannot_read_the_texts_are_named(
    study: Study, texts: list[str], warned: set[str]
) -> None:
    plan = study.plan(judges=["meteor", "bertscore", "sari", "chrf", "length"])
    values = [*language_lines(plan, "demo-dialogue", texts)]
    assert {line.split()[1] for line in values if "mean little" in line} == warned


@pytest.mark.parametrize(
    ("texts", "methods", "warned"),
    [
        (GERMAN, ["robustness"], True),
        (GERMAN, ["agreement"], False),
        (ENGLISH, ["robustness"], False),
    ],
)
def test_sentiment_of_reasons_knows_english_alone(
    study: Study, texts: list[str], methods: list[str], warned: bool
) -> None:
    plan = study.plan(
        judges=["own-understanding", "length"], perturbations=[], methods=methods
    )
    values = [*language_lines(plan, "demo-dialogue", texts)]
    assert any("`sentiment`" in line for line in values) == warned


def test_language_of_the_card_is_no_guess(study: Study) -> None:
    study.change("datasets", "demo-dialogue", language="de")
    result = lines(study, GERMAN)
    assert not any("a guess" in line for line in result)
    assert any("(de)" in line for line in result)


def test_checks_of_kinds_are_english_and_others_hold_everywhere() -> None:
    assert holds_in("negation", "") and not holds_in("negation", "Han script")
    assert all(holds_in(check, "de") for check in ("differs", "length", "changes"))


def test_dropped_check_of_a_kind_is_reported() -> None:
    checks = ["differs", "not_refusal", "length"]
    assert unchecked_kind("passive-voice", checks, "en") is not None
    assert unchecked_kind("passive-voice", [*checks, "passive_voice"], "en") is None
    assert unchecked_kind("local-llm-fluency", checks, "de") is None
