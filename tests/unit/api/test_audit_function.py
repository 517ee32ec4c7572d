"""`judgescope.audit`: what it is given, and that it finds what the command finds."""

import doctest
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import judgescope as js
import running
from audit_setup import chosen, made, passed, two, write
from judgescope.api import audit as audit_module
from judgescope.cli.audit import table
from judgescope.cli.main import main
from judgescope.cli.options import audit_options
from judgescope.core.errors import UserError

pytestmark = pytest.mark.heavy


def command(
    path: Path, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[str, int]:
    """What the command prints, and its exit code."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr("sys.argv", ["judgescope", "audit", str(path), *words])
        main()
    assert isinstance(ended.value.code, int)
    return capsys.readouterr().out, ended.value.code


class ArrowOnly:
    """A table that has nothing but Arrow's stream, as one of another library."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def test_the_worked_examples_are_right() -> None:
    failed, tried = doctest.testmod(
        audit_module, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0 and tried > 8


@pytest.mark.parametrize("rows", [made, passed, chosen])
def test_a_file_gives_the_page_and_the_json_of_the_command(
    rows: Callable[[], list[dict[str, Any]]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = write(rows(), tmp_path / "mine.csv")
    result = js.audit(path)
    assert command(path, capsys) == (f"{result}\n", result.exit_code)
    assert command(path, capsys, "--json")[0] == result.to_json() + "\n"
    result.to_html(tmp_path / "ours.html")
    command(path, capsys, "--html", str(tmp_path / "theirs.html"))
    ours = (tmp_path / "ours.html").read_bytes()
    assert ours == (tmp_path / "theirs.html").read_bytes()


@pytest.mark.parametrize(
    "form",
    [
        pd.DataFrame,
        lambda rows: pd.DataFrame(rows)[lambda frame: frame["seconds"] >= 0.6 - 0.2],
        pa.Table.from_pylist,
        lambda rows: ArrowOnly(pa.Table.from_pylist(rows)),
        lambda rows: iter(rows),
    ],
    ids=["pandas", "pandas with row labels", "pyarrow", "Arrow's stream", "rows"],
)
def test_a_table_in_memory_has_the_numbers_of_its_file(
    form: Callable[[Any], object], tmp_path: Path
) -> None:
    rows = made()
    of_file = js.audit(write(rows, tmp_path / "mine.csv"))
    in_memory = js.audit(form(rows))
    for name in ("verdicts", "numbers", "people", "columns", "confusion", "slices"):
        pd.testing.assert_frame_equal(getattr(in_memory, name), getattr(of_file, name))
    assert str(tmp_path) not in str(in_memory) and ".jsonl" not in str(in_memory)


def test_row_labels_of_pandas_are_no_column() -> None:
    frame = pd.DataFrame(two()).iloc[::-1]
    assert "__index" not in js.audit(frame).to_json()


def test_rows_with_other_types_are_read() -> None:
    rows = two(40)
    frame = pd.DataFrame(rows)
    frame["day"] = pd.Timestamp("2024-01-02")
    frame["kind"] = pd.Categorical(["a", "b"] * 20)
    frame.loc[3, "judge"] = float("nan")
    page = js.audit(frame)
    assert page.verdicts.loc[0, "n"] == 39
    rows[3] = {**rows[3], "judge": None}
    expected = js.audit(rows).verdicts["value"]
    pd.testing.assert_series_equal(page.verdicts["value"], expected)


def test_every_option_on_columns_is_an_argument() -> None:
    arguments = set(inspect.signature(js.audit).parameters)
    options = {option.flag.removeprefix("--") for option in audit_options()}
    # `ordered=False` is --unordered; a DataFrame is joined by its own library.
    assert options - arguments == {"unordered", "on"}


def test_columns_are_named_as_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = []
    for row in made():
        anna, ben, judge = list(row.values())[3:6]
        rows.append({"x, 1": anna, "y=2": ben, "z": judge, "m": row["model"]})
    path = write(rows, tmp_path / "mine.csv")
    words = ["--human", 'quality="x, 1",y=2', "--judge", "quality=z", "--system", "m"]
    printed = command(path, capsys, *words, "--scale", "1:5:1")[0]
    page = js.audit(
        path,
        human={"quality": ["x, 1", "y=2"]},
        judge={"quality": "z"},
        system="m",
        scale="1:5:1",
    )
    assert printed == f"{page}\n"
    flat = js.audit(path, human=["x, 1", "y=2"], judge="z")
    assert flat.columns.query("role == 'people'")["column"].tolist() == ["x, 1", "y=2"]


def test_bars_decide_the_exit_code() -> None:
    rows = two()
    codes = [js.audit(rows, require={"spearman": bar}).exit_code for bar in (0.1, 0.99)]
    assert codes == [0, 1]


def test_open_roles_raise_and_name_arguments() -> None:
    rows = [{"c1": row["human"], "c2": row["judge"]} for row in two()]
    with pytest.raises(js.Unclear) as raised:
        js.audit(rows)
    text = str(raised.value)
    assert "judge=COLUMN" in text and "--" not in text
    assert {"judge": "c2", "human": "c1"} in raised.value.options
    for option in raised.value.options:
        assert js.audit(rows, **option).exit_code == 0


def test_labels_and_missing_cells_are_stated() -> None:
    words = {0: "rot, dunkel", 1: "blau"}
    rows = [{"human": words[at % 2], "judge": words[at % 3 % 2]} for at in range(40)]
    rows += [{"human": "leer", "judge": "blau"}] * 2
    stated = {"labels": ["rot, dunkel", "blau"], "missing": ["leer"]}
    counts = js.audit(rows, **stated).confusion
    assert set(counts["people_say"]) == {"rot, dunkel", "blau"}
    assert counts["count"].sum() == 40
    turned = js.audit(rows, positive="rot, dunkel", missing=["leer"])
    assert turned.numbers.query("statistic == 'tnr'")["value"].item() == (
        js.audit(rows, **stated).numbers.query("statistic == 'tpr'")["value"].item()
    )


def test_readings_are_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the reader lists the readings by the command's options."""
    draft_of = table.draft_of
    error = UserError("open", where="rows", todo="choose: --judge COLUMN")
    flags = {"judge": ["c2"], "human": ["overall=c1"], "source": ["a", "b"]}
    monkeypatch.setattr(error, "options", [SimpleNamespace(flags=flags)], raising=False)

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(table, "draft_of", refuse)
    rows = [{"c1": row["human"], "c2": row["judge"]} for row in two()]
    with pytest.raises(js.Unclear) as raised:
        js.audit(rows)
    [reading] = raised.value.options
    assert reading == {"judge": "c2", "human": "overall=c1", "source": ["a", "b"]}
    monkeypatch.setattr(table, "draft_of", draft_of)
    del reading["source"]
    assert js.audit(rows, **reading).exit_code == 0


def test_a_wrong_argument_is_no_open_role() -> None:
    with pytest.raises(UserError, match="does not have this column") as raised:
        js.audit(two(), judge="jugde")
    assert raised.value.where == "judge=…" and raised.value.nearest() == "judge"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (5, "this is not a table"),
        ({"human": [1, 2]}, "this is not a table"),
        ([[1, 2]], "a row must be a dict"),
        ([{"human": object()}], "a cell cannot be read"),
        (pa.table([[1], [2]], names=["a", "a"]), "duplicate column"),
        ("missing.csv", "missing.csv"),
    ],
)
def test_what_is_no_table_is_refused(given: object, message: str) -> None:
    with pytest.raises(UserError) as raised:
        js.audit(given)
    assert message in str(raised.value)


def test_the_worst_rows_stand_beside_the_columns_of_the_table(tmp_path: Path) -> None:
    rows = made()
    worst = js.audit(rows).errors.iloc[0]
    assert rows[worst["row"] - 1]["answer"] == worst["answer"]
    assert worst["judge"] == "gpt-4" and worst["distance"] > 0.3
    taken = [{**row, "row": "mine"} for row in rows]
    of_file = js.audit(write(taken, tmp_path / "mine.csv")).errors.iloc[0]
    # A spreadsheet's first row is the header.
    assert (of_file["row"], of_file["row_"]) == ("mine", worst["row"] + 1)


def test_the_fragment_is_escaped_and_has_no_script() -> None:
    rows = []
    for row in made():
        text = f"<script>{row['seconds']}</script> {row['answer']}"
        rows.append({**row, "answer": text})
    fragment = js.audit(rows)._repr_html_()
    assert fragment.startswith('<div class="judgescope">') and "<section" in fragment
    assert "<script" not in fragment and "&lt;script" in fragment
    assert " id=" not in fragment and "Better than chance" in fragment


def test_numbers_have_every_number_of_the_json() -> None:
    page = js.audit(made())
    content = json.loads(page.to_json())
    [claim] = content["judges"]["gpt-4"]["claims"]
    measures = sum(len(group["measures"]) for group in claim["literature"])
    expected = 1 + len(claim["others"]) + measures + len(content["people"])
    assert len(page.numbers) == expected and page.verdicts.loc[0, "rival"] == "systems"
    assert page.verdicts.loc[0, "rival_value"] == claim["rival_value"]["value"]


def test_the_confusion_counts_rows() -> None:
    rows = passed()
    counts = js.audit(rows).confusion.query("judge == 'gpt_verdict'")
    missed = 0
    for row in rows:
        both_fail = row["human_1"] == row["human_2"] == "fail"
        missed += both_fail and row["gpt_verdict"] == "pass"
    cell = counts.query("people_say == 'fail' and judge_says == 'pass'")
    assert counts["count"].sum() == len(rows) and cell["count"].item() >= missed > 0


def test_slices_have_a_number_for_each_value() -> None:
    rows = []
    for at, row in enumerate(two()):
        rows.append({**row, "mood": "ab"[at % 2], "topic": "xyz"[at % 3]})
    assert set(js.audit(rows).slices["slice"]) == {"topic"}
    slices = js.audit(rows, slices="mood").slices
    assert slices["part"].tolist() == ["a", "b"] and slices["rows"].tolist() == [30, 30]
    alone = js.audit([row for row in rows if row["mood"] == "a"]).verdicts
    assert slices["value"][0] == alone["value"][0]
    with pytest.raises(UserError, match="no such column of slices") as raised:
        js.audit(rows, slices=["moods"])
    assert raised.value.where == "rows, slices=…"


def test_only_the_tables_need_pandas(tmp_path: Path) -> None:
    path = write(two(), tmp_path / "mine.csv")
    code = (
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, *more):\n"
        "        if name == 'pandas':\n"
        "            raise ModuleNotFoundError('hidden', name=name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "import judgescope as js\n"
        "from judgescope.core import errors\n"
        f"found = js.audit({str(path)!r})\n"
        "print(len(str(found)) > 500, len(found.to_json()) > 500, found.exit_code)\n"
        "print(len(found._repr_html_()) > 500)\n"
        "try:\n    found.verdicts\n"
        "except errors.UserError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=running.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("True True 0\nTrue\n")
    assert "a table as a DataFrame needs the package pandas" in done.stdout
    assert "pip install" in done.stdout


def test_the_public_names_are_what_is_listed() -> None:
    assert dir(js) == sorted([*js.PUBLIC, "__version__"])
    assert str(js.__doc__).startswith("Is an LLM judge any good?")
    for name in js.PUBLIC:
        assert getattr(js, name).__doc__, name
        if inspect.isfunction(getattr(js, name)):
            assert ":" not in str(inspect.signature(getattr(js, name))), name
