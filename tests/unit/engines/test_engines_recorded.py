"""Recorded replies and scores: joined by id or text, and nothing lost without a
word.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.data.rated import NamesInData
from judgescope.data.select import read_dataset
from judgescope.engines.base import Answer, EngineInputs, Subject, request_key
from judgescope.engines.recorded import RecordedEngine, build
from judgescope.schema.cards import Dataset, Judge, RatingScale, RecordedModel
from judgescope.schema.loading import read_card

HOME = Path(__file__).resolve().parents[3]
DATA = HOME.parent / "shared" / "data"
FIVE = RatingScale(min=1, max=5, step=1, labels=[])

NAMES = NamesInData(items={"a": "A", "b": "B"}, systems={"x": "X", "y": "Y"})

UNIEVAL = ("unieval-topical-chat", "unieval-sfres")
BY_ID: dict[str, str] = {"item": "id", "system": "by", "reply": "said"}
BY_TEXT = {"text": "out", "source": "src", "reply": "said"}
SUBJECTS: list[Subject] = [
    Subject("a:x", "a", "x", "systems", "The first  text.\n", "Source a"),
    Subject("a:y", "a", "y", "systems", "The second text.", "Source a"),
    Subject("b:x", "b", "x", "systems", "The third text.", "Source b"),
]
ROWS: list[dict[str, Any]] = [
    {
        "id": "A",
        "by": "X",
        "out": "The first text.",
        "src": "Source  a\n",
        "said": "Rating: 4",
    },
    {
        "id": "A",
        "by": "Y",
        "out": "The second text.",
        "src": "Source a",
        "said": ["3", "4", "4"],
    },
    {"id": "B", "by": "X", "out": "The third text.", "src": "Source b", "said": None},
]


def engine(
    folder: Path,
    rows: Mapping[str, Any],
    files: Mapping[str, Sequence[object]],
    **roles: str,
) -> RecordedEngine:
    """Write the files and return the engine that reads them."""
    for name, content in files.items():
        (folder / name).write_text(
            "\n".join(map(json.dumps, content)), encoding="utf-8"
        )
    fields = {"model": "it", "engine": "recorded", "dataset": "d", "rows": rows}
    model = RecordedModel.model_validate(
        {**fields, "files": roles or {"data": "rows.jsonl"}}
    )
    return RecordedEngine(
        model,
        EngineInputs(seed=0, dataset="d", folder=folder, data=folder, names=NAMES),
    )


def unmatched(made: RecordedEngine) -> int:
    """Return how many rows belong to no target, summed over judges and aspects."""
    return sum(join.rows - join.rows_joined for join in made.joins())


def judge(draws: int = 1, form: str = "") -> Judge:
    return Judge(judge="it", model="it", form=form, draws=draws)


def texts_of(answers: list[list[Answer]]) -> list[list[str]]:
    return [[answer.text for answer in draws] for draws in answers]


@pytest.mark.parametrize("names", [BY_ID, BY_TEXT, {**BY_TEXT, "system": "by"}])
@pytest.mark.parametrize("step", [1, -1])
def test_rows_are_joined_by_id_or_by_text(
    tmp_path: Path, names: dict[str, str], step: int
) -> None:
    made = engine(tmp_path, names, {"rows.jsonl": ROWS[::step]})
    answers = made.answer(judge(), "fluency", FIVE, SUBJECTS)
    assert texts_of(answers) == [["Rating: 4"], ["3"], ["no_value"]]
    assert [draws[0].status for draws in answers] == ["ok", "ok", "not_applicable"]
    assert unmatched(made) == 0
    assert made.notices == []


def test_a_list_is_a_list_of_draws(tmp_path: Path) -> None:
    made = engine(tmp_path, BY_ID, {"rows.jsonl": ROWS})
    [first, second, third] = texts_of(
        made.answer(judge(draws=4), "fluency", FIVE, SUBJECTS)
    )
    assert first == ["Rating: 4", *["no_recorded_draw"] * 3]
    assert second == ["3", "4", "4", "no_recorded_draw"]
    assert third == ["no_value", *["no_recorded_draw"] * 3]
    assert texts_of(made.answer(judge(draws=2), "fluency", FIVE, SUBJECTS[1:2])) == [
        ["3", "4"]
    ]


def test_replies_by_judge_and_id_are_rows(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(
        json.dumps({"gpt": {"A__X": 4, "B__X": "five"}, "x": {}})
    )
    card = RecordedModel.model_validate(
        {
            **{"model": "it", "engine": "recorded", "dataset": "d", "kind": "alttest"},
            **{"files": "rows.json"},
            "rows": {"item": "#item", "system": "#system", "reply": "{form}"},
        }
    )
    inputs = EngineInputs(
        seed=0, dataset="d", folder=tmp_path, data=tmp_path, names=NAMES
    )
    made = RecordedEngine(card, inputs)
    answers = made.answer(judge(form="gpt"), "fluency", FIVE, SUBJECTS)
    assert texts_of(answers) == [["4"], ["no_recorded_row"], ["five"]]


def test_an_empty_reply_is_a_reply(tmp_path: Path) -> None:
    made = engine(tmp_path, BY_ID, {"rows.jsonl": [{**ROWS[0], "said": ""}]})
    assert made.answer(judge(), "fluency", FIVE, SUBJECTS[:1]) == [[Answer("")]]


def test_a_file_name_gives_columns_and_aspects_are_kept_separately(
    tmp_path: Path,
) -> None:
    files = {
        f"{system}_{aspect}.jsonl": [
            {"id": item, "said": f"{item} {system} {aspect}"} for item in "ab"
        ]
        for system in "xy"
        for aspect in ("fluency", "Overall Quality")
    }
    names = {"item": "id", "system": "system", "aspect": "aspect", "reply": "said"}
    made = engine(tmp_path, names, files, data="{system}_{aspect}.jsonl")
    fluency = texts_of(made.answer(judge(), "fluency", FIVE, SUBJECTS))
    assert fluency == [["a x fluency"], ["a y fluency"], ["b x fluency"]]
    overall = texts_of(made.answer(judge(), "overall-quality", FIVE, SUBJECTS))
    assert overall[0] == ["a x Overall Quality"]
    assert unmatched(made) == 2  # b of y, on both aspects
    assert (
        f"recorded rows that match no text: 2, first {tmp_path / 'y_fluency.jsonl'}, "
        "row 2" in (made.notices[0])
    )


def test_rows_and_targets_that_do_not_meet_are_counted_and_named(
    tmp_path: Path,
) -> None:
    other = {**ROWS[0], "id": "z"}
    made = engine(tmp_path, BY_ID, {"rows.jsonl": [other, ROWS[1]]})
    answers = made.answer(judge(), "fluency", FIVE, SUBJECTS)
    assert texts_of(answers) == [["no_recorded_row"], ["3"], ["no_recorded_row"]]
    assert answers[0][0].status == "not_applicable"
    made.answer(judge(), "coherence", FIVE, SUBJECTS)
    assert unmatched(made) == 2  # on both aspects
    assert made.notices == [
        f"it: recorded rows that match no text: 1, first {tmp_path / 'rows.jsonl'}, "
        "row 1",
        "it: texts without a recorded row: 2, first a:x; b:x",
    ]


def test_two_rows_about_a_single_text_are_an_error_that_names_both(
    tmp_path: Path,
) -> None:
    made = engine(
        tmp_path, {"text": "out", "reply": "said"}, {"rows.jsonl": [*ROWS, ROWS[1]]}
    )
    with pytest.raises(UserError) as error:
        made.answer(judge(), "fluency", FIVE, SUBJECTS)
    path = tmp_path / "rows.jsonl"
    assert error.value.where == f"{path}, row 2 and {path}, row 4"
    assert "The second text." in str(error.value)


SCORED: dict[str, Any] = {"text": "out", "scores": {"fluency": "f", "coherence": "c"}}


def scored(fluency: object, coherence: object = 2) -> dict[str, Any]:
    return {"id": "a", "out": "The first text.", "f": fluency, "c": coherence}


def test_rows_that_say_the_same_of_a_single_text_are_one_and_reported(
    tmp_path: Path,
) -> None:
    made = engine(
        tmp_path, SCORED, {"rows.jsonl": [scored(0.25), scored("0.25000002")]}
    )
    assert texts_of(made.answer(judge(), "fluency", FIVE, SUBJECTS[:1])) == [["0.25"]]
    assert made.notices == [
        f"it: recorded rows that repeat a text: 1, first {tmp_path / 'rows.jsonl'}, "
        "row 2"
    ]


@pytest.mark.parametrize(
    ("names", "second"),
    [
        (SCORED, scored(0.26)),
        (SCORED, scored(0.25, 3)),
        (SCORED, scored(None)),
        ({**SCORED, "scores": {"*": "{form}"}}, scored(0.26)),
        ({"item": "id", "scores": SCORED["scores"]}, scored(0.26)),
        ({"item": "id", "scores": SCORED["scores"]}, scored(0.25001)),
    ],
)
def test_rows_that_differ_about_a_single_text_are_an_error(
    tmp_path: Path, names: dict[str, Any], second: dict[str, Any]
) -> None:
    made = engine(tmp_path, names, {"rows.jsonl": [scored(0.25), second]})
    with pytest.raises(UserError, match="two recorded rows describe the same text"):
        made.answer(judge(), "fluency", FIVE, SUBJECTS[:1])


@pytest.mark.parametrize(
    ("names", "second"),
    [
        (
            {"text": "out", "reply": "said"},
            Subject("b:y", "b", "y", "systems", "The first text."),
        ),
        ({"item": "id", "reply": "said"}, SUBJECTS[1]),
    ],
)
def test_a_row_that_fits_two_targets_is_an_error(
    tmp_path: Path, names: dict[str, str], second: Subject
) -> None:
    made = engine(tmp_path, names, {"rows.jsonl": ROWS[:1]})
    with pytest.raises(UserError) as error:
        made.answer(judge(), "fluency", FIVE, [SUBJECTS[0], second])
    assert error.value.where == f"{tmp_path / 'rows.jsonl'}, row 1"
    assert error.value.got == f"a:x and {second.target}"


def test_two_systems_with_a_single_text_share_its_row(tmp_path: Path) -> None:
    twin = Subject("a:z", "a", "z", "systems", "The first text.", "Source a")
    made = engine(tmp_path, BY_TEXT, {"rows.jsonl": ROWS[:1]})
    answers = made.answer(judge(), "fluency", FIVE, [SUBJECTS[0], twin])
    assert texts_of(answers) == [["Rating: 4"], ["Rating: 4"]]


def test_scores_are_texts_as_stored(tmp_path: Path) -> None:
    scores = {"fluency": "out.f", "*": "other"}
    row = {"id": "a", "out": {"f": 0.30000000000000004}, "other": "2.50"}
    rows = [row, {"id": "b", "out": {"f": float("nan")}, "other": 3}]
    made = engine(tmp_path, {"item": "id", "scores": scores}, {"rows.jsonl": rows})
    subjects = [SUBJECTS[0], SUBJECTS[2]]
    assert texts_of(made.answer(judge(), "fluency", FIVE, subjects)) == [
        ["0.30000000000000004"],
        ["no_value"],
    ]
    assert texts_of(made.answer(judge(), "coherence", FIVE, subjects)) == [
        ["2.50"],
        ["3"],
    ]


def test_an_aspect_without_scores_has_no_value(tmp_path: Path) -> None:
    names = {"item": "id", "scores": {"fluency": "f"}}
    made = engine(tmp_path, names, {"rows.jsonl": [{"id": "a", "f": 1}]})
    assert texts_of(made.answer(judge(), "coherence", FIVE, SUBJECTS[:1])) == [
        ["no_value"]
    ]


def test_an_empty_cell_of_a_table_is_no_score(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("id,f\na,\nb,2\n", encoding="utf-8")
    made = engine(tmp_path, {"item": "id", "scores": {"*": "f"}}, {}, data="rows.csv")
    answers = made.answer(judge(), "fluency", FIVE, [SUBJECTS[0], SUBJECTS[2]])
    assert texts_of(answers) == [["no_value"], ["2"]]


def test_the_form_names_the_column_or_the_file(tmp_path: Path) -> None:
    rows = [{"id": "a", "ROUGE-1 (F)": 0.5, "chrF": 0.7}]
    made = engine(
        tmp_path, {"item": "id", "scores": {"*": "{form}"}}, {"rows.jsonl": rows}
    )
    for form, value in (("ROUGE-1 (F)", "0.5"), ("chrF", "0.7")):
        answers = made.answer(judge(form=form), "fluency", FIVE, SUBJECTS[:1])
        assert texts_of(answers) == [[value]]
    files = {"p.jsonl": ROWS[:1], "q.jsonl": [{**ROWS[0], "said": "Rating: 1"}]}
    made = engine(tmp_path, BY_ID, files, plain="p.jsonl", careful="q.jsonl")
    assert texts_of(
        made.answer(judge(form="careful"), "fluency", FIVE, SUBJECTS[:1])
    ) == [["Rating: 1"]]
    with pytest.raises(UserError):
        made.answer(judge(form="other"), "fluency", FIVE, SUBJECTS)


@pytest.mark.parametrize("value", [True, {"a": 1}, [["3"]]])
def test_a_value_that_is_no_reply_is_an_error(tmp_path: Path, value: object) -> None:
    made = engine(tmp_path, BY_ID, {"rows.jsonl": [{**ROWS[0], "said": value}]})
    with pytest.raises(UserError) as error:
        made.answer(judge(), "fluency", FIVE, SUBJECTS)
    assert error.value.where == f"{tmp_path / 'rows.jsonl'}, row 1, column said"


def test_a_column_that_is_missing_is_an_error(tmp_path: Path) -> None:
    made = engine(tmp_path, {**BY_ID, "reply": "sayd"}, {"rows.jsonl": ROWS})
    with pytest.raises(UserError) as error:
        made.answer(judge(), "fluency", FIVE, SUBJECTS)
    assert error.value.nearest() == "said"


def test_keys_depend_on_aspect_and_target_and_not_on_the_judge() -> None:
    model = RecordedModel.model_validate(
        {
            "model": "it",
            "engine": "recorded",
            "dataset": "d",
            "files": "f.csv",
            "rows": BY_ID,
        }
    )

    def key(subject: Subject, aspect: str = "fluency", **fields: Any) -> str:
        card = Judge.model_validate({"judge": "it", "model": "it", **fields})
        return request_key(model, card, aspect, FIVE, subject, seed=1, dataset="d")

    assert key(SUBJECTS[0]) == key(SUBJECTS[0], judge="other", draws=9)
    assert (
        len(
            {
                key(subject, aspect)
                for subject in SUBJECTS
                for aspect in ("fluency", "overall")
            }
        )
        == 6
    )


ASPECTS = {
    "summeval": ("coherence", "consistency", "fluency", "relevance"),
    "topical-chat": (
        *("coherence", "engagingness", "groundedness", "naturalness", "overall"),
        "understandability",
    ),
    "sfres": ("informativeness", "naturalness"),
}


def real(dataset: str, form: str, file: str) -> tuple[list[Subject], NamesInData]:
    """Return the targets of a real data set and their names; skips where it is
    absent.
    """
    if not DATA.is_dir():
        pytest.skip("real data is not there: ../shared/data")
    scale = {"min": -1, "max": 10}
    card = Dataset.model_validate(
        {
            **{"dataset": dataset, "name": dataset, "task": "any", "format": form},
            **{"licence": "-", "citation": "-", "files": f"{{data}}/{file}"},
            "aspects": dict.fromkeys(ASPECTS[dataset], scale),
        }
    )
    rated = read_dataset(card, HOME / "config" / "datasets", DATA)
    items = {item.item: item for item in rated.items}
    subjects = [
        Subject(
            *(output.target, output.item, output.system, "systems", output.text),
            *(items[output.item].source, items[output.item].references),
        )
        for output in rated.outputs
    ]
    return subjects, rated.names


def asked(
    name: str, dataset: str, aspect: str, subjects: list[Subject], names: NamesInData
) -> list[list[Answer]]:
    """Ask a judge card of this repository and check that no row was left over."""
    card: Judge = read_card("judge", HOME / "config" / "judges" / f"{name}.yaml")
    path = HOME / "config" / "models" / f"{card.model}.yaml"
    model: RecordedModel = read_card("model", path)
    made = build(
        model,
        EngineInputs(
            seed=0, dataset=dataset, folder=path.parent, data=DATA, names=names
        ),
    )
    answers = made.answer(card, aspect, FIVE, subjects)
    assert isinstance(made, RecordedEngine)
    assert model.dataset == dataset
    assert unmatched(made) == 0
    return answers


def joined(answers: list[list[Answer]]) -> int:
    return sum(all(answer.status == "ok" for answer in draws) for draws in answers)


@pytest.mark.heavy
def test_every_recorded_summeval_reply_is_joined() -> None:
    subjects, names = real(
        "summeval", "summeval_jsonl", "summeval/model_annotations.12systems.jsonl"
    )
    count = sum(
        joined(asked("gpt35-rts", "summeval", aspect, subjects, names))
        for aspect in ASPECTS["summeval"]
    )
    assert count == 4800


@pytest.mark.parametrize(
    ("name", "count"),
    [("gpt35-geval", 359), ("gpt35-rate-explain", 359), ("gpt35-analyze-rate", 360)],
)
def test_recorded_topical_chat_replies_have_twenty_draws(name: str, count: int) -> None:
    subjects, names = real(
        "topical-chat", "unieval_json", "topical_chat/topical_chat.json"
    )
    answers = asked(name, "topical-chat", "coherence", subjects, names)
    assert {len(draws) for draws in answers} == {20}
    assert len(answers) == 360
    assert joined(answers) == count


@pytest.mark.heavy
def test_recorded_unieval_scores_are_those_of_their_rows() -> None:
    subjects, names = real(
        "topical-chat", "unieval_json", "topical_chat/topical_chat.json"
    )
    path = DATA / "topical_chat" / "topical_chat_result.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    for aspect in ASPECTS["topical-chat"]:
        answers = asked("unieval", "topical-chat", aspect, subjects, names)
        assert joined(answers) == 360
        actual = {
            (" ".join(subject.text.split()), float(draws[0].text))
            for subject, draws in zip(subjects, answers, strict=True)
        }
        assert actual == {
            (" ".join(row["system_output"].split()), row["predict_scores"][aspect])
            for row in rows
        }


@pytest.mark.heavy
def test_recorded_unieval_scores_of_sfres_are_joined_all() -> None:
    subjects, names = real("sfres", "unieval_json", "data2text/sfres.json")
    for aspect in ASPECTS["sfres"]:
        assert joined(asked("unieval-sfres", "sfres", aspect, subjects, names)) == 1181


def test_recorded_hashes_are_those_of_the_files() -> None:
    from judgescope.data.files import verify

    if not DATA.is_dir():
        pytest.skip("real data is not there: ../shared/data")
    folder = HOME / "config" / "models"
    for name in ("gpt35-0301-summeval", "gpt35-0613-topical-chat", *UNIEVAL):
        card = read_card("model", folder / f"{name}.yaml")
        assert verify(card, folder, DATA) == card.sha256


def test_recorded_labels_are_words_and_a_number_or_another_word_is_an_error(
    tmp_path: Path,
) -> None:
    verdicts = RatingScale(labels=["fail", "pass"])
    rows = {"item": "id", "system": "by", "scores": {"*": "verdict"}}

    def answered(*words: object, **keys: Any) -> list[list[str]]:
        table = [
            {**row, "verdict": word} for row, word in zip(ROWS, words, strict=True)
        ]
        made = engine(tmp_path, rows, {"rows.jsonl": table})
        card = Judge.model_validate({"judge": "it", "model": "it", **keys})
        return texts_of(made.answer(card, "fluency", verdicts, SUBJECTS))

    assert answered("Pass", " fail ", None) == [["Pass"], ["fail"], ["no_value"]]
    read_as = {"read_as": {"1": "pass", "false": "fail"}}
    assert answered(1.0, False, "pass", **read_as) == [["1"], ["false"], ["pass"]]
    assert answered(0.7, 0.2, 0.5, threshold=0.5) == [["0.7"], ["0.2"], ["0.5"]]
    for wrong in (1, "pas", True):
        with pytest.raises(UserError, match="not one of the labels") as error:
            answered("pass", wrong, "fail")
        assert error.value.where.endswith("rows.jsonl, row 2, column verdict")
        assert error.value.allowed == ["fail", "pass"]
    assert error.value.got == "true"
