"""Bad cards and bad data: one clear error each, before anything is asked. Odd data that
is good.
"""

import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pytest
import yaml

import bad_across
import bad_cards
import bad_cells
import bad_data
import running
from bad_data import CSV, DATASET, FIRST, HEADER, SECOND, THIRD, csv, file, parquet
from bad_study import BASE, Case, Planted, checked, plant
from judgescope.cli.context import plan_of_study
from judgescope.data.rated import DatasetContent
from judgescope.data.select import read_selected
from judgescope.data.tables import read_ratings
from judgescope.plan import inputs
from judgescope.plan.specs import texts
from judgescope.schema.loading import validate_card

CASES: list[Case] = [
    *(*bad_cards.NOT_YAML, *bad_cards.WORDS, *bad_cards.FORMS),
    *(*bad_across.IDS, *bad_across.ACROSS),
    *(*bad_data.FILES, *bad_cells.CELLS, *bad_cells.ROWS),
]
ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_many_cases_and_each_has_a_name() -> None:
    assert len(CASES) > 200 and len({name for name, *_ in CASES}) == len(CASES)


def missing(words: list[str], message: str) -> list[str]:
    """Return the words that a message lacks; a place without a line is any line of the
    file.
    """
    message += re.sub(r":\d+(?=, key )", "", message)
    return [word for word in words if word not in message]


@pytest.mark.heavy
def test_what_is_not_spoilt_is_in_order(folder: Path) -> None:
    plant(folder, {})
    assert checked(Path("study.yaml")) == []


@pytest.mark.parametrize(
    ("planted", "words"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_bad_input_is_a_single_clear_error_before_anything_is_asked(
    folder: Path, planted: Planted, words: list[str]
) -> None:
    plant(folder, planted)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    result = checked(Path("study.yaml"))
    assert len(result) == 1, "\n\n".join(result)
    assert missing(words, result[0]) == [], result[0]
    assert re.search(r"\n  where: +\S", result[0]) and "Traceback" not in result[0]
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.parametrize(
    "changed", ["mine.csv", "scores.jsonl", bad_cards.RECORDED, DATASET, ""]
)
def test_data_is_read_again_where_it_changed_and_only_there(
    folder: Path, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(folder, {})
    plan, read = plan_of_study(Path("study.yaml")), Mock(wraps=read_selected)
    monkeypatch.setattr(inputs, "read_selected", read)
    inputs.read_all(plan)
    assert read.call_count == 1
    out = folder / "results/bad"
    cells = [plan.file(out, "scores", cell) for cell in plan.cells_of("mine", "recall")]
    for path in [out / "items/mine.json", *map(Path, cells)]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    if changed:
        later = path.stat().st_mtime + 10
        os.utime(folder / changed, (later, later))
    inputs.read_all(plan)
    assert read.call_count == 1 + bool(changed)


def test_texts_are_read_again_only_if_their_files_change(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(folder, {})
    plan, read = plan_of_study(Path("study.yaml")), Mock(wraps=read_selected)
    monkeypatch.setattr(inputs, "read_selected", read)
    spec = texts.ingest(plan, "mine")

    def known() -> str:
        return inputs.hash_of_texts(plan, "mine", spec)

    first = known()
    read_ratings(texts.read_ratings(plan, "mine"))
    assert known() == first and read.call_count == 1
    data, now = folder / CSV, time.time()
    os.utime(data, (now + 10, now + 10))
    assert known() == first and read.call_count == 1
    text = data.read_text(encoding="utf-8")
    data.write_text("no data", encoding="utf-8")
    os.utime(data, (now + 20, now + 20))
    assert known() == first and read.call_count == 2
    data.write_text(text.replace("What x wrote.", "Another text."), encoding="utf-8")
    os.utime(data, (now + 30, now + 30))
    assert known() != first and read.call_count == 3
    (folder / "results/bad/items/mine.json").unlink()
    data.write_text("no data", encoding="utf-8")
    assert known() == ""


def test_a_study_that_asks_nobody_reads_its_data_in_its_jobs(folder: Path) -> None:
    judges = {"judges": ["recalled"], "methods": ["agreement"], "perturbations": None}
    plant(folder, {"study.yaml": judges, CSV: "no data"})
    assert checked(Path("study.yaml")) == []


# --- what is odd, and good ------------------------------------------------------------


def read(folder: Path, planted: Planted) -> DatasetContent:
    """Return the data of a study that is in order."""
    plant(folder, planted)
    assert checked(Path("study.yaml")) == []
    plan = plan_of_study(Path("study.yaml"))
    card = plan.datasets["mine"]
    return read_selected(card, Path(plan.folders["dataset", "mine"]), folder, 0)


def scores(rows: Iterable[Mapping[str, object]]) -> dict[str, Any]:
    """Plant a recorded score for each of these names."""
    return {
        "scores.jsonl": "".join(json.dumps({**row, "score": 4}) + "\n" for row in rows)
    }


PLAIN = ["What x wrote.", "What y wrote.", "More of x."]
AS_BASE: dict[str, Planted] = {
    "a byte order mark": {CSV: "\ufeff" + BASE[CSV]},
    "Windows newlines": {CSV: BASE[CSV].replace("\n", "\r\n")},
    "old newlines": {CSV: BASE[CSV].replace("\n", "\r")},
    "no newline at the end": {CSV: BASE[CSV].rstrip("\n")},
    "blank rows": csv(HEADER, "", FIRST, SECOND, "", THIRD, ""),
    "quotes": csv(
        HEADER, *(re.sub("[^,]+", r'"\g<0>"', row) for row in (FIRST, SECOND, THIRD))
    ),
    "tabs": file("mine.tsv", BASE[CSV].replace(",", "\t")),
    "an ending in capitals": file("MINE.CSV", BASE[CSV]),
    "cards with a byte order mark and Windows newlines": {
        name: "\ufeff" + yaml.safe_dump(content).replace("\n", "\r\n")
        for name, content in BASE.items()
        if isinstance(content, dict)
    },
    "scores with a byte order mark and Windows newlines": {
        "scores.jsonl": "\ufeff" + BASE["scores.jsonl"].replace("\n", "\r\n")
    },
    "more columns than are named": csv(
        f"{HEADER},", *(f"{row}," for row in (FIRST, SECOND, THIRD))
    ),
}


@pytest.mark.parametrize("planted", AS_BASE.values(), ids=AS_BASE)
def test_other_spellings_of_a_file_are_the_same_data(
    folder: Path, planted: Planted
) -> None:
    rated = read(folder, planted)
    assert [output.text for output in rated.outputs] == PLAIN
    assert sorted(rating.value for rating in rated.ratings) == [1, 1, 2, 3, 4, 5]


IDS = [
    *(
        "a b",
        "A B",
        "a/b",
        "a\\b",
        "../../up",
        ".",
        "..",
        "a.b",
        "~",
        "-",
        "--help",
        "CON",
        "#1",
    ),
    *(
        "é",
        "e\u0301",
        "ß",
        "ß" * 300,
        "x" * 300,
        "x" * 301,
        "人工智能",
        "🙂",
        "\u202eabc",
        "=1+1",
    ),
    *(
        "{{ x }}",
        "<b>",
        "a:b",
        "a\tb",
        "a\nb",
        "a\u2028b",
        "1",
        "1.0",
        "true",
        "null",
        "original",
        "%s",
    ),
]


def test_numbers_and_truth_values_may_come_as_texts() -> None:
    """YAML takes 2e-4 for a text, and the command line's `--config` all that is in
    braces.
    """
    needed = {
        "study": "s",
        "datasets": ["d"],
        "judges": ["a"],
        "methods": ["agreement"],
    }
    fields = {
        "seed": "5",
        "share": "2e-4",
        "allow_missing": "true",
        "comparison": {"wished": ".1"},
    }
    card = validate_card("study", needed | fields, "s.yaml")
    assert (card.seed, card.share, card.allow_missing) == (5, 2e-4, True)
    assert card.comparison.wished == 0.1


def test_any_id_of_an_item_is_kept_and_named_by_a_slug(folder: Path) -> None:
    rated = read(
        folder,
        {
            DATASET: {"files": "../../mine.jsonl", "same_names": False},
            "mine.jsonl": "".join(
                json.dumps(bad_data.GOOD | {"id": each}) + "\n" for each in IDS
            ),
            **scores({"id": each, "by": "x"} for each in IDS),
        },
    )
    assert {item.meta["id"] for item in rated.items} == set(IDS)
    made = [item.item for item in rated.items]
    assert len(set(made)) == len(IDS) and all(map(ID.fullmatch, made))
    assert {output.target for output in rated.outputs} == {f"{each}:x" for each in made}


def test_any_name_of_a_system_is_kept_and_named_by_a_slug(folder: Path) -> None:
    rated = read(
        folder,
        {
            DATASET: {"files": "../../mine.jsonl", "same_names": False},
            "mine.jsonl": "".join(
                json.dumps(bad_data.GOOD | {"by": each}) + "\n" for each in IDS
            ),
            **scores({"id": bad_data.GOOD["id"], "by": each} for each in IDS),
        },
    )
    assert set(rated.systems.values()) == set(IDS)
    assert all(map(ID.fullmatch, rated.systems)) and "original" not in rated.systems


@pytest.mark.heavy
def test_a_cell_may_be_as_long_as_it_is(folder: Path) -> None:
    long = "An article that does not end. " * 350_000  # 10 MB
    rated = read(folder, {CSV: BASE[CSV].replace("Another article.", long)})
    assert len(rated.items[1].source) == len(long)


@pytest.mark.parametrize(
    "columns",
    [
        {"ann": pa.array([4.0]), "bob": pa.array([5], pa.int8())},
        {"ann": pa.array([4], pa.decimal128(3, 1)), "bob": pa.array(["5"])},
        {"id": pa.array([7]), "article": pa.array(["A."], pa.large_string())},
        {"id": pa.array([7.0]), "by": pa.array(["x"]).dictionary_encode()},
        {"gold": pa.array([["Its gold.", "More gold."]])},
        {"summary": pa.array(["A text."], pa.string_view())},
    ],
)
def test_parquet_of_many_types_is_read(folder: Path, columns: dict[str, Any]) -> None:
    rated = read(
        folder,
        parquet(**columns) | scores([{"id": 7, "by": "x"}, {"id": "a", "by": "x"}]),
    )
    assert [output.text for output in rated.outputs] == ["A text."]
    assert [rating.value for rating in rated.ratings] == [4, 5]


@pytest.mark.parametrize("cell", ["", " ", "nan", "NaN", "NAN"])
def test_a_rating_that_is_missing_is_counted_and_reported(
    folder: Path, cell: str
) -> None:
    rated = read(
        folder,
        csv(HEADER, FIRST, f"a,A long article.,Its short gold text.,y,T.,{cell},3"),
    )
    assert rated.problems == ["1 rating of clarity missing: mine.csv, row 3"]
    assert [rating.value for rating in rated.ratings] == [4, 5, 3]


# --- the real command -----------------------------------------------------------------

TOLD = [
    ("check", "a duplicate key in the study"),
    ("run", "an unknown key"),
    ("run", "a rating above the scale"),
    ("check", "two scores of one text"),
    ("run", "two scores of one text"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("action", "name"), TOLD)
def test_the_command_says_the_same_and_asks_nothing(
    tmp_path: Path, action: str, name: str
) -> None:
    [(planted, words)] = [case[1:] for case in CASES if case[0] == name]
    plant(tmp_path, planted)
    done = running.run("-m", "judgescope", action, "study.yaml", cwd=tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stdout
    assert missing(words, done.stdout) == [], done.stdout
    assert (
        not (tmp_path / "cache").exists()
        and not (tmp_path / "results/bad/replies").exists()
    )
