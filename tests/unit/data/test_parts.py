"""The parts of a source: their names, by mapping, by column and by task."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from judgescope.data.rated import SourcePart
from judgescope.data.select import read_dataset
from judgescope.schema.cards import ColumnMapping, Dataset, TaskWords
from judgescope.schema.cards.columns import part_name
from judgescope.schema.cards.perturbations import RulePerturbation
from judgescope.schema.loading import read_tasks

ROW = "id,context,fact,reply\na,A: Hello.,A fact.,Hi.\nb,A: Bye.,,Farewell.\n"


def dataset(source: Any) -> Dataset:
    return Dataset.model_validate(
        {
            **{"dataset": "d", "name": "D", "task": "dialogue", "format": "table"},
            **{"files": {"items": "d.csv"}, "ratings": "none"},
            "columns": {"item": "id", "source": source, "references": "reply"},
            **{"aspects": {"fluency": {"min": 1, "max": 5}}},
            **{"licence": "none", "citation": "none"},
        }
    )


def parts(folder: Path, source: Any) -> list[list[SourcePart]]:
    (folder / "d.csv").write_text(ROW, encoding="utf-8")
    read = read_dataset(dataset(source), folder, folder, "Conversation")
    return [[*item.parts] for item in read.items]


def test_parts_are_named_by_a_mapping_by_columns_or_by_the_task(tmp_path: Path) -> None:
    mapped = parts(tmp_path, {"Fact told": "fact", "Talk": "context"})
    assert mapped[0] == [("Fact told", "A fact."), ("Talk", "A: Hello.")]
    assert mapped[1] == [("Talk", "A: Bye.")]  # an empty part is left out
    assert parts(tmp_path, ["context", "fact"])[0] == [
        ("Context", "A: Hello."),
        ("Fact", "A fact."),
    ]
    assert parts(tmp_path, "context")[0] == [("Conversation", "A: Hello.")]


def test_the_source_stays_what_it_is_whatever_its_parts_are_called(
    tmp_path: Path,
) -> None:
    (tmp_path / "d.csv").write_text(ROW, encoding="utf-8")
    sources = [
        [item.source for item in read_dataset(dataset(each), tmp_path, tmp_path).items]
        for each in (["context", "fact"], {"A": "context", "B": "fact"})
    ]
    assert sources[0] == sources[1] == ["A: Hello.\n\nA fact.", "A: Bye."]


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["Text"], "is reserved"),
        (["rating"], "is reserved"),
        (["1st"], "begins with a letter"),
        (["A: b"], "no colon"),
        (["A\nb"], "no line break"),
        (["x" * 41], "1 to 40 characters"),
        (["Fact", "fact"], "same name"),
    ],
)
def test_a_name_that_cannot_be_a_heading_is_refused(
    names: list[str], problem: str
) -> None:
    with pytest.raises(ValidationError, match=problem):
        ColumnMapping(source={name: f"c{at}" for at, name in enumerate(names)})


def test_two_columns_of_a_single_name_show_the_mapping_to_write() -> None:
    with pytest.raises(
        ValidationError, match=r"source: \{…: a\.text_of, …: b\.text-of\}"
    ):
        ColumnMapping(source=["a.text_of", "b.text-of"])
    assert part_name("a.text_of") == part_name("b.text-of") == "Text of"


def test_a_task_is_reported_by_its_table_its_card_or_its_name(tmp_path: Path) -> None:
    (tmp_path / "tasks.yaml").write_text(
        "tasks: {dialogue: {noun: turn, kind: a turn, write: Write.}}\n", "utf-8"
    )
    config = Path(__file__).parents[3] / "config"
    mine = read_tasks([tmp_path, config])
    assert mine["dialogue"].noun == "turn" and mine["qa"].noun == "answer"
    assert TaskWords.unknown("haiku").kind == "a text (task: haiku)"


@pytest.mark.parametrize(
    ("degrees", "problem"),
    [
        ({"attack": {"k": 1}}, "is that of attacks"),
        ({"single": {"k": 1}, "more": {"k": 2}}, "stands alone"),
        ({f"k{n}": {"k": n} for n in range(13)}, "at most 12"),
    ],
)
def test_degrees_that_cannot_be_are_refused(
    degrees: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValidationError, match=problem):
        perturbed(degrees)


def perturbed(degrees: dict[str, Any]) -> RulePerturbation:
    keys = {"perturbation": "p", "name": "P", "level": "word", "method": "rule"}
    return RulePerturbation.model_validate(
        {**keys, "rule": "delete_words", "degrees": degrees}
    )


def test_degrees_keep_the_order_of_the_card() -> None:
    named = [f"k{k}" for k in (1, 2, 5, 10, 25)]
    card = perturbed({name: {"k": int(name[1:])} for name in named})
    assert [*card.degrees_for("any")] == named
