"""Whatever stands in the files of a dataset: texts come back, or an error says
where.
"""

import csv
import io
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data_samples import FIVE, card, table
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.names import folded
from judgescope.data.rated import DatasetContent
from judgescope.data.rows import read_rows
from judgescope.data.select import read_dataset
from judgescope.schema.cards import FORMATS

some = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

WHOLE = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
SEEN = WHOLE.filter(folded)
TABLE = st.lists(
    st.tuples(SEEN, SEEN, SEEN),
    min_size=1,
    max_size=4,
    unique_by=lambda each: folded(each[0]),
)
UNSEEN = st.text(
    " \t\x1b\u200b\u2060\u3164\ufe0f\ufeff\U000e0041", min_size=1, max_size=9
)
COLUMNS = {"item": "i", "source": "s", "references": "r", "system": "y", "text": "t"}


def written(rows: list[dict[str, Any]], ending: str) -> bytes:
    """Return a table as other programs write it."""
    if ending == "parquet":
        to = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), to)
        return to.getvalue()
    if ending in {"jsonl", "json"}:
        lines = [
            json.dumps(row, ensure_ascii=bool(index % 2))
            for index, row in enumerate(rows)
        ]
        words = "\n".join(lines) if ending == "jsonl" else f"[{','.join(lines)}]"
        return words.encode()
    text = io.StringIO(newline="")
    tabs = "\t" if ending == "tsv" else ","
    lines_to = csv.DictWriter(
        text, list(rows[0]), delimiter=tabs, quoting=csv.QUOTE_ALL
    )
    lines_to.writeheader()
    lines_to.writerows(rows)
    return text.getvalue().encode()


@pytest.mark.simulation
@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "parquet"])
@some
@given(triples=TABLE)
def test_texts_of_a_table_come_back_to_the_letter(
    tmp_path: Path, ending: str, triples: list[tuple[str, str, str]]
) -> None:
    """Ids too; a reference that is a list in JSON is a list."""
    rows = [
        {"i": ident, "s": source, "r": f"of {text}", "y": "me", "t": text, "fluency": 3}
        for ident, source, text in triples
    ]
    (tmp_path / f"x.{ending}").write_bytes(written(rows, ending))
    rated: DatasetContent = read_dataset(
        table(f"x.{ending}", COLUMNS), tmp_path, tmp_path
    )
    ids = {item.item: item.meta["id"] for item in rated.items}
    assert sorted((item.meta["id"], item.source) for item in rated.items) == sorted(
        (ident, source) for ident, source, _ in triples
    )
    assert {ids[output.item]: output.text for output in rated.outputs} == {
        each[0]: each[2] for each in triples
    }
    assert {item.references for item in rated.items} == {
        (f"of {each[2]}",) for each in triples
    }
    assert len(rated.ratings) == len(triples)


@pytest.mark.simulation
@some
@given(triples=TABLE, hidden=UNSEEN.filter(str.strip), column=st.sampled_from("ist"))
def test_a_text_or_name_that_shows_nothing_is_an_error_with_its_row(
    tmp_path: Path, triples: list[tuple[str, str, str]], hidden: str, column: str
) -> None:
    rows = [{"i": i, "s": s, "y": "me", "t": t, "fluency": 3} for i, s, t in triples]
    rows[-1][column] = hidden
    (tmp_path / "x.jsonl").write_bytes(written(rows, "jsonl"))
    columns = {name: column for name, column in COLUMNS.items() if name != "references"}
    with pytest.raises(UserErrors) as error:
        read_dataset(table("x.jsonl", columns), tmp_path, tmp_path)
    assert [
        f"x.jsonl, row {len(rows)}" in error.where for error in error.value.errors
    ] == [True]


COUNT = st.integers(-(2**63), 2**63 - 1)
CELL = st.none() | st.booleans() | COUNT | st.floats() | st.text(max_size=9)
VALUE = st.recursive(CELL, lambda inner: st.lists(inner, max_size=3), max_leaves=4)


@pytest.mark.simulation
@some
@given(rows=st.lists(st.fixed_dictionaries(dict.fromkeys("isryt", VALUE)), min_size=1))
def test_any_cells_are_data_or_errors_with_rows(
    tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(
        "".join(json.dumps(row | {"fluency": row["y"]}) + "\n" for row in rows)
    )
    try:
        read_dataset(table("x.jsonl", COLUMNS), tmp_path, tmp_path)
    except UserErrors as error:
        assert all(
            str(path) in error.where and "row" in error.where for error in error.errors
        )


@pytest.mark.heavy
@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "parquet"])
@some
@given(
    content=st.binary(max_size=60)
    | st.text('{}[]",:\n1e-a\t;|\ufeff\0\x85', max_size=40)
)
def test_any_bytes_are_rows_or_an_error_with_the_file(
    tmp_path: Path, ending: str, content: bytes | str
) -> None:
    path = tmp_path / f"x.{ending}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        assert all(
            isinstance(row, dict) and number > 0 for number, row in read_rows(path)
        )
    except UserError as error:
        assert str(path) in error.where


# --- published formats ----------------------------------------------------------------

TWO = {
    "simplicity_da_csv": ["data", "ratings"],
    "rotowire_gsml_csv": ["games", "spans"],
}
ROWS = TWO | {
    name: ["data"]
    for name in (
        *(
            "summeval_jsonl",
            "usr_json",
            "unieval_json",
            "hanna_csv",
            "hanna_stories_csv",
            "sumpubmed_jsonl",
            "samsum",
        ),
        *(
            "story_cloze_csv",
            "answer_equivalence_jsonl",
            "cnn_dailymail",
            "qags_mturk_jsonl",
        ),
    )
}
"""Format -> its roles, of those whose files are rows."""
LINES = {
    **{
        "wmt_text": ["source.txt", "reference.txt", "documents.xml"],
        "webnlg": ["data.xml"],
    },
    **{
        "news_commentary": ["data.de-en.tsv"],
        "dualeval_json": ["global.json", "local.json"],
    },
    "alttest_json": ["data.json"],
    "confusion_json": ["news.json"],
    "sumpubmed_text": ["text.{id}.txt", "abstract.{id}.txt"],
}
"""Format -> its files, of all others; what they are called begins with their role."""
UNRATED = {
    "sumpubmed_jsonl",
    "story_cloze_csv",
    "answer_equivalence_jsonl",
    "cnn_dailymail",
}
UNRATED |= {"samsum", "rotowire_gsml_csv", *LINES}


def read_format(form: str, files: dict[str, str], folder: Path) -> None:
    """Read files of a format; what is wrong with them is an error that names one of
    them.
    """
    kind = {"ratings": "none"} if form in UNRATED else {}
    try:
        read_dataset(card(format=form, files=files, **kind), folder, folder)
    except UserErrors as error:
        assert all(str(folder) in error.where for error in error.errors)
    except UserError as error:
        names = [*files.values(), str(folder)]
        assert any(name in error.where for name in names), error.where


def rows_of(form: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return rows with all the fields that an adapter names in its code, and anything
    in them.
    """
    code = Path(import_module(FORMATS[form].read.__module__).__file__ or "").read_text(
        encoding="utf-8"
    )
    names = {*re.findall(r'"([A-Za-z]\w*)(?:\[\*\])?"', code), "fluency"}
    text = CELL | st.sampled_from(
        ["yes", "no", "1", "3", "a.txt", "[1, 2]", "9" * 5000]
    )
    full = st.fixed_dictionaries(dict.fromkeys(names, text))
    cells = text | full | st.lists(text | full, max_size=2)
    return st.lists(
        st.fixed_dictionaries(dict.fromkeys(names, cells)), min_size=1, max_size=2
    )


@pytest.mark.simulation
@pytest.mark.parametrize("form", ROWS)
@settings(some, max_examples=25)
@given(data=st.data())
def test_any_rows_of_a_format_are_data_or_errors(
    tmp_path: Path, form: str, data: Any
) -> None:
    files = {role: f"{role}.jsonl" for role in ROWS[form]}
    for name in files.values():
        rows = data.draw(rows_of(form))
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    read_format(form, files, tmp_path)


XML = (
    "<doc id='1'>|<src>|<p>|<seg>A.</seg>|</p>|</src>|</doc>|<entry category='A' "
    "eid='1'>"
)
TRIPLES = [
    "<modifiedtripleset>",
    "<mtriple>a | b | c</mtriple>",
    "<lex>T.</lex>",
    "</entry>",
]
LINE = "A text.|\n|\t|Ein Satz.\tA sentence.|\r\n|\x0b| |&amp;|&b;|<!DOCTYPE a>"
GIVEN = (
    '{|}|"fluency": |[|]|, |{"source": "A.", "target": "B.", "rating": 3}|"A.": '
    '|["B.", "C."]|4'
)
SIGNS = [word for name in (LINE, GIVEN, XML) for word in name.split("|")] + TRIPLES
PARTS = st.lists(st.sampled_from(SIGNS), max_size=9).map("".join)


@pytest.mark.simulation
@pytest.mark.parametrize("form", LINES)
@given(data=st.data())
@some
def test_any_lines_of_a_format_are_data_or_errors(
    tmp_path: Path, form: str, data: Any
) -> None:
    files = {name.partition(".")[0]: name for name in LINES[form]}
    for name in files.values():
        text = data.draw(PARTS | st.text(st.characters(codec="utf-8"), max_size=30))
        path = tmp_path / name.replace("{id}", "1")
        path.write_text(text, encoding="utf-8", newline="")
    read_format(form, files, tmp_path)


def test_no_format_is_forgotten() -> None:
    assert {*ROWS, *LINES, "table"} == set(FORMATS) and FIVE
