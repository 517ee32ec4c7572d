"""Recorded rows and texts meet by their exact names, and whoever meets nothing is an
error.
"""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

import running
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.rated import NamesInData
from judgescope.engines.base import EngineInputs, Subject
from judgescope.engines.recorded import RecordedEngine
from judgescope.engines.recorded_joins import Join, join_lines
from judgescope.schema.cards import Judge, RatingScale, RecordedModel

FIVE = RatingScale(min=1, max=5, step=1, labels=[])
BY_ITEM = {"item": "id", "system": "by", "scores": {"*": "score"}}


def model(
    folder: Path, rows: Sequence[Mapping[str, Any]], names: Any, **keys: Any
) -> Any:
    (folder / "rows.jsonl").write_text(
        "\n".join(map(json.dumps, rows)), encoding="utf-8"
    )
    card = {"model": "it", "engine": "recorded", "dataset": "d", "files": "rows.jsonl"}
    return RecordedModel.model_validate({**card, "rows": names, **keys})


def engine(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    names: Any = BY_ITEM,
    known: NamesInData | None = None,
    **keys: Any,
) -> RecordedEngine:
    card = model(folder, rows, names, **keys)
    return RecordedEngine(
        card,
        EngineInputs(
            seed=0,
            dataset="d",
            folder=folder,
            data=folder,
            names=known or NamesInData(),
        ),
    )


def ask(made: RecordedEngine, *subjects: Subject, aspect: str = "fluency") -> list[str]:
    answers = made.answer(Judge(judge="it", model="it"), aspect, FIVE, subjects)
    return [draws[0].text for draws in answers]


def subject(item: str, system: str = "x", text: str = "a text") -> Subject:
    return Subject(f"{item}:{system}", item, system, "systems", text, "a source")


def row(item: object, score: object, by: str = "x", **cells: Any) -> dict[str, Any]:
    return {"id": item, "by": by, "score": score, **cells}


def test_names_are_joined_as_they_are_and_not_by_the_ids_made_of_them(
    tmp_path: Path,
) -> None:
    made = engine(tmp_path, [row("A!", 1)])
    assert ask(made, subject("a")) == ["no_recorded_row"]
    with pytest.raises(UserErrors) as caught:
        made.checked_joins()
    [error] = caught.value.errors
    assert "'A!'" in str(error.got) and "'a'" in str(error.allowed)
    assert f"{tmp_path / 'rows.jsonl'}, row 1" in error.where
    assert "judge it" in error.where and "aspect fluency" in error.where


def test_names_that_share_a_slug_stay_distinct_in_a_join(tmp_path: Path) -> None:
    names = {"c-1": "C", "c-2": "C++", "c-3": "C#"}
    made = engine(
        tmp_path,
        [row("i", at, by=by) for at, by in enumerate(names.values(), 1)],
        known=NamesInData(systems=names),
    )
    assert ask(made, *(subject("i", name) for name in names)) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("in_rows", "in_data"),
    [
        (1, "1"),
        (1.0, "1"),
        ("1.0", "1"),
        ("1", "1.0"),
        (unicodedata.normalize("NFD", "é"), unicodedata.normalize("NFC", "é")),
        ("an-id", "a name"),
    ],
)
def test_a_single_name_in_two_forms_joins(
    tmp_path: Path, in_rows: object, in_data: str
) -> None:
    made = engine(
        tmp_path, [row(in_rows, 3)], known=NamesInData(items={"an-id": in_data})
    )
    assert ask(made, subject("an-id")) == ["3"]


def test_texts_in_two_unicode_forms_join(tmp_path: Path) -> None:
    names = {"text": "out", "scores": {"*": "score"}}
    made = engine(
        tmp_path, [{"out": unicodedata.normalize("NFD", "déjà vu"), "score": 2}], names
    )
    assert ask(made, subject("a", text="déjà  vu")) == ["2"]


ASPECTS = {**BY_ITEM, "aspect": "dim"}


def test_an_aspect_of_another_name_is_an_error_until_the_card_says_it(
    tmp_path: Path,
) -> None:
    rows = [row("a", 4, dim="coh"), row("a", 2, dim="Fluency")]
    made = engine(tmp_path, rows, ASPECTS)
    ask(made, subject("a"), aspect="coherence")
    with pytest.raises(UserErrors) as caught:
        made.checked_joins()
    [error] = caught.value.errors
    assert error.got == "coherence" and error.allowed == ["Fluency", "coh"]
    assert "aspects" in error.todo
    made = engine(tmp_path, rows, {**ASPECTS, "aspects": {"coherence": "coh"}})
    assert ask(made, subject("a"), aspect="coherence") == ["4"]
    assert ask(made, subject("a"), aspect="fluency") == ["2"]


def test_counts_are_of_rows_and_of_texts(tmp_path: Path) -> None:
    made = engine(tmp_path, [row("a", 1), row("b", 2), row("z", 3)])
    ask(made, subject("a"), subject("b"), subject("c"), subject("d"))
    expected = Join(
        model="it",
        judge="it",
        aspect="fluency",
        rows=3,
        rows_joined=2,
        texts=4,
        texts_joined=2,
        texts_scored=2,
        poor=True,
    )
    assert made.joins() == [expected]
    [line] = join_lines(made.checked_joins(), poor=True)
    assert line.startswith("warning") and "2 of 3" in line and "2 of 4" in line


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("rows", "joined", "texts", "scored", "selected", "poor"),
    [
        (360, 359, 360, 359, False, False),
        (100, 90, 90, 90, False, False),
        (100, 89, 89, 89, False, True),
        (100, 10, 10, 10, True, False),
        (100, 8, 10, 8, True, True),
        (80, 80, 100, 80, False, True),
        (100, 100, 100, 90, False, False),
        (100, 100, 100, 89, False, True),
    ],
)
def test_less_than_nine_in_ten_is_a_warning(
    tmp_path: Path,
    rows: int,
    joined: int,
    texts: int,
    scored: int,
    selected: bool,
    poor: bool,
) -> None:
    with_text = [row(f"i{n}", 1 if n < scored else None) for n in range(joined)]
    made = engine(tmp_path, with_text + [row(f"z{n}", 1) for n in range(rows - joined)])
    ask(made, *(subject(f"i{n}") for n in range(texts)))
    [join] = made.joins(selected=selected)
    counts = (
        join.rows,
        join.rows_joined,
        join.texts,
        join.texts_joined,
        join.texts_scored,
    )
    assert counts == (rows, joined, texts, joined, scored)
    assert join.poor == poor
    assert (
        made.joins(["it"], selected=selected)[0].poor
        == made.joins(selected=True)[0].poor
    )


def test_rows_that_join_and_hold_no_score_are_counted_and_none_is_an_error(
    tmp_path: Path,
) -> None:
    made = engine(tmp_path, [row("a", 1), row("b", None)])
    ask(made, subject("a"), subject("b"))
    [line] = join_lines(made.checked_joins(), poor=True)
    assert "2 of 2 rows match a text, 2 of 2 texts have a row, 1 have a score" in line
    made = engine(
        tmp_path,
        [row("a", 1), row("b", "")],
        {**BY_ITEM, "scores": {"fluency": "score"}},
    )
    ask(made, subject("a"), subject("b"))
    ask(made, subject("a"), subject("b"), aspect="coherence")
    with pytest.raises(UserErrors, match="has a score for this aspect") as caught:
        made.checked_joins()
    [error] = caught.value.errors
    assert "aspect coherence" in error.where and "rows.jsonl, row 1" in error.where
    assert error.got == "fluency: score" and "`aspects`" in error.todo
    made = engine(tmp_path, [row("a", "")])
    ask(made, subject("a"))
    with pytest.raises(UserErrors, match="has a score for this aspect"):
        made.checked_joins()


def test_names_that_the_data_card_says_are_a_single_join_in_any_spelling(
    tmp_path: Path,
) -> None:
    rows = [row("I 1", 4, by="x\u00a0"), row("i1", 2, by="Ｙ")]
    items, systems = {"i1": "i1"}, {"x": "X", "y": "y"}
    made = engine(tmp_path, rows, known=NamesInData(items, systems, same=True))
    assert ask(made, subject("i1", "x"), subject("i1", "y")) == ["4", "2"]
    made = engine(tmp_path, rows, known=NamesInData(items, systems))
    assert ask(made, subject("i1", "x"), subject("i1", "y")) == ["no_recorded_row"] * 2
    made = engine(tmp_path, [row("a", 1), row("A", 2)], known=NamesInData(same=True))
    with pytest.raises(UserError, match="describe the same text"):
        ask(made, subject("a"))


@pytest.mark.parametrize(
    ("policy", "score"), [("first", "1"), ("last", "4"), ("mean", "2.5")]
)
def test_the_card_says_which_of_repeated_rows_counts(
    tmp_path: Path, policy: str, score: str
) -> None:
    rows = [row("a", 1), row("a", 4)]
    made = engine(tmp_path, rows, {**BY_ITEM, "repeated": policy})
    assert ask(made, subject("a")) == [score]
    with pytest.raises(UserError) as caught:
        ask(engine(tmp_path, rows), subject("a"))
    assert (
        "rows.jsonl, row 1 and" in caught.value.where
        and "repeated" in caught.value.todo
    )


def test_scores_that_differ_by_rounding_are_no_conflict(tmp_path: Path) -> None:
    assert ask(engine(tmp_path, [row("a", 4), row("a", 4.00003)]), subject("a")) == [
        "4"
    ]
    with pytest.raises(UserError):
        ask(engine(tmp_path, [row("a", 4), row("a", 4.0001)]), subject("a"))


def test_a_file_of_another_ending_is_read_as_the_card_says(tmp_path: Path) -> None:
    (tmp_path / "scores.txt").write_text("id\tby\tscore\na\tx\t5\n", encoding="utf-8")
    made = engine(tmp_path, [], files="scores.txt", kind="tsv")
    assert ask(made, subject("a")) == ["5"]
    with pytest.raises(UserError):
        ask(engine(tmp_path, [], files="scores.txt"), subject("a"))


@pytest.mark.parametrize(
    "value", ["4,5", "80%", "NaN", "Infinity", float("inf"), "four", "1_0"]
)
def test_a_score_in_words_is_an_error_with_its_row(
    tmp_path: Path, value: object
) -> None:
    made = engine(tmp_path, [row("b", 1), row("a", value)])
    with pytest.raises(UserError) as caught:
        ask(made, subject("b"), subject("a"))
    assert caught.value.where == f"{tmp_path / 'rows.jsonl'}, row 2, column score"
    assert caught.value.got == value


def test_the_card_says_what_means_no_score(tmp_path: Path) -> None:
    names = {**BY_ITEM, "missing": ["NaN", "n/a"]}
    made = engine(tmp_path, [row("a", "NaN"), row("b", "n/a"), row("c", "")], names)
    assert ask(made, *map(subject, "abc")) == ["no_value"] * 3


def test_what_is_not_set_changes_no_key(tmp_path: Path) -> None:
    fields = model(tmp_path, [], BY_ITEM).rows.model_dump()
    comparing = {"system_b", "text_b", "reply_swapped", "swapped", "labels"}
    assert (
        not {"aspects", "datasets", "missing", "repeated", *comparing} & fields.keys()
    )
    names = {**BY_ITEM, "repeated": "last"}
    card = model(tmp_path, [], names)
    assert card.rows.model_dump()["repeated"] == "last"
    assert RecordedModel.model_validate(card.model_dump()) == card


STUDY: dict[str, dict[str, Any]] = {
    "study.yaml": {
        **{"study": "joined", "seed": 1, "methods": ["agreement"]},
        **{"datasets": ["mine"], "judges": ["it"]},
    },
    "config/datasets/mine.yaml": {
        **{"dataset": "mine", "name": "Mine", "task": "dialogue", "format": "table"},
        **{"files": "texts.jsonl", "licence": "-", "citation": "-"},
        "columns": {"item": "id", "source": "source", "system": "by", "text": "text"},
        "aspects": {"fluency": {"min": 1, "max": 5, "step": 1}},
    },
    "config/judges/it.yaml": {"judge": "it", "model": "it"},
    "config/models/it.yaml": {
        **{
            "model": "it",
            "engine": "recorded",
            "dataset": "mine",
            "files": "rows.jsonl",
        },
        "rows": BY_ITEM,
    },
}


def check(folder: Path, rows: Sequence[Mapping[str, Any]]) -> tuple[int, str]:
    for name, card in STUDY.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(yaml.safe_dump(card), encoding="utf-8")
    texts = [
        row(at, 1 + at % 5, source=f"s {at}", text=f"t {at}", fluency=3)
        for at in range(10)
    ]
    for name, content in (("datasets/texts", texts), ("models/rows", rows)):
        path = folder / f"config/{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, content)), encoding="utf-8")
    done = running.snakemake("check", "--configfile", "study.yaml", cwd=folder)
    return done.returncode, done.stdout


@pytest.mark.slow
def test_check_opens_recorded_files(tmp_path: Path) -> None:
    code, result = check(tmp_path, [row(float(at), 2) for at in range(10)])
    assert code == 0 and "10 of 10 rows match" in result and "warning" not in result
    code, result = check(tmp_path, [row(at, 2) for at in range(3, 13)])
    assert code == 0 and "7 of 10 rows match" in result and "warning" in result
    code, result = check(tmp_path, [row(f"doc_{at}", 2) for at in range(10)])
    assert (
        code != 0
        and "'doc_0'" in result
        and "item '0'" in result
        and "models/it.yaml" in result
    )
    code, result = check(tmp_path, [row(at, "4,5") for at in range(10)])
    assert code != 0 and "'4,5'" in result and "rows.jsonl, row 1" in result
