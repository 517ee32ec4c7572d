"""Which of two labels is the bad one, and the order of more: by what the words mean,
whatever the language; or a note says what was assumed.
"""

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from judgescope.cli.audit.table import draft_of
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.open_readings import UnclearColumns
from judgescope.cli.main import command_line
from judgescope.tables.labels import order_of

ROWS = 30


def audited(file: Path, *words: str) -> StudyDraft:
    return draft_of(command_line().parse_args(["audit", str(file), *words]), {})


def labelled(
    file: Path,
    human: Sequence[object],
    judge: Sequence[object] | None = None,
    headers: tuple[str, str] = ("human", "judge"),
) -> Path:
    """Write texts with labels; the judge gives the label at people's place, mostly."""
    drawn = random.Random(3)
    judge = judge or human
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(["answer", *headers])
        for at in range(ROWS):
            class_number = at % len(human)
            other = (
                class_number if drawn.random() < 0.8 else drawn.randrange(len(judge))
            )
            text = f"It takes {at} days and {drawn.random()} hours to arrive"
            writer.writerow([text, human[class_number], judge[other]])
    return file


def values(draft: StudyDraft, column: str) -> list[float]:
    return [float(row[column]) for row in draft.table.rows]


def notes(draft: StudyDraft) -> str:
    return "\n".join(draft.table.notes)


@pytest.mark.parametrize(
    "worst_first",
    [
        ["problem", "no problem"],
        ["minor issues", "no issues"],
        ["halluzination", "keine halluzination"],
        ["alucinaciones", "sin alucinaciones"],
        ["inappropriate", "not inappropriate"],
        ["not acceptable", "excellent"],
        ["不合格", "合格"],
        ["нет", "да"],
        ["некорректно", "корректно"],
        ["오답", "정답"],
        ["غير مقبول", "مقبول"],
        ["scorretto", "corretto"],
        ["onjuist", "juist"],
        ["not at all clear", "slightly clear", "clear", "very clear"],
        ["mangelhaft", "teilweise akzeptabel", "akzeptabel"],
        ["pas utile", "plutôt utile", "très utile"],
        ["falso", "parcialmente verdadero", "verdadero"],
        ["不准确", "部分准确", "完全准确"],
        ["틀림", "부분적으로 맞음", "맞음"],
        ["severe bias", "mild bias", "no bias"],
        ["red", "amber", "green"],
        ["😠", "😐", "😊"],
        ["quality issue", "no quality issue"],
        ["in disaccordo", "neutro", "d'accordo"],
        ["stimme nicht zu", "mittel", "stimme eher zu", "stimme völlig zu"],
        ["en desacuerdo", "neutral", "de acuerdo", "totalmente de acuerdo"],
        ["очень плохо", "плохо", "средне", "хорошо", "отлично"],
        ["非常不合理", "不合理", "一般", "合理", "非常合理"],
        ["매우 나쁨", "보통", "좋음"],
        ["سلبي", "محايد", "إيجابي"],
        ["niepoprawny", "częściowo poprawny", "poprawny"],
        ["bad", "poor", "fair", "good", "excellent"],
    ],
)
def test_words_have_their_order_in_any_language(worst_first: list[str]) -> None:
    order = order_of(sorted(worst_first))
    assert order is not None
    assert (list(order.labels), order.note) == (worst_first, "")


@pytest.mark.parametrize("pair", [("formal", "not formal"), ("edited", "unedited")])
def test_a_property_that_may_be_good_or_bad_is_an_assumption(
    pair: tuple[str, str],
) -> None:
    order = order_of(pair)
    assert order is not None
    assert "it is not known which is better" in order.note


def test_letters_are_grades_with_a_remark() -> None:
    order = order_of(["A", "B", "C", "D"])
    assert order is not None
    assert order.labels == ("D", "C", "B", "A")
    assert "--unordered" in order.remark


@pytest.mark.parametrize(
    ("headers", "answers"),
    [
        (("Halluzination_Mensch", "Halluzination_KI"), ["ja", "nein"]),
        (("erreur_humain", "erreur_ia"), ["oui", "non"]),
        (("人工_是否有害", "模型_是否有害"), ["是", "否"]),
        (("redundant (human)", "redundant (gpt-4o)"), ["yes", "no"]),
        (("human_evasive", "llm_evasive"), ["1", "0"]),
        (("human_risk", "llm_risk"), ["high", "medium", "low"]),
        (("profanity_human", "profanity_llm"), ["found", "not found"]),
        (("bias (human)", "bias (gpt-4o)"), ["present", "absent"]),
        (("attack (human)", "attack (judge)"), ["success", "failure"]),
        (("How often does it mislead? (human)", "gpt-4"), ["always", "often", "never"]),
        (("human_factual_error", "llm_factual_error"), ["yes", "no"]),
    ],
)
def test_much_of_a_fault_is_the_bad_answer(
    headers: tuple[str, str], answers: list[str], tmp_path: Path
) -> None:
    draft = audited(labelled(tmp_path / "t.csv", answers, headers=headers))
    read = values(draft, headers[0])
    assert read[: len(answers)] == sorted(read[: len(answers)])
    assert read[0] < read[1]


@pytest.mark.parametrize("header", ["free_of_errors", "issue_resolved", "bias_free"])
def test_a_fault_that_is_denied_is_none(header: str, tmp_path: Path) -> None:
    headers = (f"human_{header}", f"llm_{header}")
    draft = audited(labelled(tmp_path / "t.csv", ["no", "yes"], headers=headers))
    assert values(draft, headers[0])[:2] == [0, 1]


def test_a_fault_and_a_merit_with_the_same_words_have_different_orders(
    tmp_path: Path,
) -> None:
    file = tmp_path / "t.csv"
    words = ["low", "medium", "high"]
    rows = ["answer,human_quality,llm_quality,human_risk,llm_risk"]
    for at in range(ROWS):
        cells = [words[at % 3], words[(at + at % 2) % 3]]
        rows.append(",".join([f"The text {at} is long", *cells, *cells]))
    file.write_text("\n".join(rows), encoding="utf-8")
    draft = audited(file, "--human", "human_quality", "--judge", "llm_quality")
    assert values(draft, "human_quality")[:3] == [0, 1, 2]
    draft = audited(file, "--human", "human_risk", "--judge", "llm_risk")
    assert values(draft, "human_risk")[:3] == [2, 1, 0]


@pytest.mark.parametrize("answers", [["no", "yes"], ["0", "1"]])
@pytest.mark.parametrize("asked", ["formal", "attack_success"])
def test_yes_to_an_unknown_property_is_an_assumption(
    asked: str, answers: list[str], tmp_path: Path
) -> None:
    headers = (f"human_{asked}", f"llm_{asked}")
    draft = audited(labelled(tmp_path / "t.csv", answers, headers=headers))
    assert "it is not known whether" in notes(draft)
    plain = audited(labelled(tmp_path / "t.csv", answers))
    assert "it is not known whether" not in notes(plain)


def test_a_sign_beside_a_word_is_not_part_of_the_label(tmp_path: Path) -> None:
    file = labelled(tmp_path / "t.csv", ["❌ Wrong", "✅ Right"], ["wrong", "right"])
    draft = audited(file)
    assert values(draft, "human")[:2] == values(draft, "judge")[:2] == [0, 1]


def test_signs_around_a_word_are_not_part_of_the_label(tmp_path: Path) -> None:
    file = labelled(tmp_path / "t.csv", ["False.", "“True”"], ["false", "true"])
    assert values(audited(file), "human")[:2] == [0, 1]


def test_one_beside_the_name_of_a_fault_is_asked_about(tmp_path: Path) -> None:
    file = labelled(tmp_path / "t.csv", ["spam", "not spam"], ["1", "0"])
    with pytest.raises(UnclearColumns) as ended:
        audited(file)
    [fault, good] = [option.flags["labels"] for option in ended.value.options]
    assert {*fault, *good} == {"not spam,spam", "spam,not spam"}
    draft = audited(file, "--labels", "not spam,spam")
    assert values(draft, "human")[:2] == [1, 0]
    assert values(draft, "judge")[:2] == [1, 0]


def test_one_beside_pass_and_fail_is_the_pass(tmp_path: Path) -> None:
    draft = audited(labelled(tmp_path / "t.csv", ["fail", "pass"], ["0", "1"]))
    assert values(draft, "human")[:2] == [0, 1]


def test_a_pass_beside_a_fault_is_the_good_label(tmp_path: Path) -> None:
    headers = ("human_toxic", "gpt4_passed")
    draft = audited(labelled(tmp_path / "t.csv", ["1", "0"], ["0", "1"], headers))
    assert values(draft, "human_toxic")[:2] == values(draft, "gpt4_passed")[:2]


def test_one_in_a_header_of_praise_is_clear_beside_a_fault(tmp_path: Path) -> None:
    headers = ("harmless_human", "harmful_llm")
    draft = audited(labelled(tmp_path / "t.csv", ["0", "1"], ["1", "0"], headers))
    assert values(draft, "harmless_human")[:2] == values(draft, "harmful_llm")[:2]


@pytest.mark.parametrize(
    ("human", "judge", "is_reversed"),
    [
        ("human_harmful", "harm_score", True),
        ("human_harmful", "gpt4_score", True),
        ("human_harmful", "gpt4_quality", False),
        ("human_good", "risk_score", True),
        ("human_good", "gpt4_score", False),
    ],
)
def test_scores_of_a_fault_are_reversed_beside_labels(
    human: str, judge: str, is_reversed: bool, tmp_path: Path
) -> None:
    scores = ["0.1", "0.3", "0.9", "0.8"]
    file = labelled(tmp_path / "t.csv", ["0", "0", "1", "1"], scores, (human, judge))
    draft = audited(file, "--judge", judge)
    assert (values(draft, judge)[0] == 0.9) is is_reversed
    assert ("were reversed" in notes(draft)) is is_reversed


def test_numbers_out_of_five_may_have_a_decimal_comma(tmp_path: Path) -> None:
    draft = audited(labelled(tmp_path / "t.csv", ["1,5 / 5", "2,0 / 5", "4,5 / 5"]))
    assert values(draft, "human")[:3] == [1.5, 2, 4.5]
