"""What `audit` writes for CI: Markdown, annotations, nothing of the table's texts."""

import csv
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from audit_setup import Rows, chosen, made, passed, write
from judgescope.cli.audit.annotations import command, escaped_data, escaped_property
from judgescope.cli.audit.error_rows import ADDED
from judgescope.cli.audit.markdown import escaped
from judgescope.cli.main import main
from judgescope.data.rows import read_rows
from judgescope.tables.opening import open_table

COMMAND = re.compile(
    r"::(error|warning|notice) file=(?P<file>[^,:]*)(?:,line=(?P<line>\d+))?"
    r"::(?P<message>.*)"
)
SECRET = "top secret text"
HOSTILE = "a ::error file=x::b %0A|<script>alert(1)</script>\nc, =cmd|'/c calc'!A0"


class Audited:
    """What an audit printed, by stream, and the Markdown that it wrote."""

    def __init__(self, status: int, out: str, err: str, markdown: str) -> None:
        self.status, self.out, self.err = status, out, err
        self.markdown = markdown

    @property
    def annotations(self) -> list[re.Match[str]]:
        collected = [COMMAND.fullmatch(line) for line in self.err.splitlines()]
        assert all(collected), self.err
        return [each for each in collected if each is not None]

    def of_level(self, level: str) -> list[re.Match[str]]:
        return [each for each in self.annotations if each[1] == level]


@pytest.fixture
def audit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Return what audits rows in an empty folder, with annotations and Markdown."""
    monkeypatch.chdir(tmp_path)

    def run(rows: Rows, *words: str, name: str = "mine.csv") -> Audited:
        write(rows, Path(name))
        page = ["--markdown", "page.md", "--annotations", "github"]
        command_line = ["judgescope", "audit", name, *page, *words]
        monkeypatch.setattr("sys.argv", command_line)
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        file = Path("page.md")
        text = file.read_text("utf-8") if file.exists() else ""
        assert isinstance(ended.value.code, int)
        return Audited(ended.value.code, printed.out, printed.err, text)

    return run


@pytest.mark.heavy
def test_bars_and_rows_are_annotated(audit: Any) -> None:
    bars = ["--require", "spearman=.9", "--require", "kappa_linear=.5"]
    done = audit(made(), *bars, "--require", "pearson=.1")
    assert done.status == 1
    [missed] = done.of_level("error")
    assert missed["message"].startswith("gpt4: Misses the required bar: Spearman ρ")
    [unclear] = done.of_level("warning")
    assert "Cannot tell whether it meets the required bar: Linear κ" in unclear[0]
    notices = done.of_level("notice")
    assert len(notices) == 10
    rows = dict(read_rows(Path("mine.csv")))
    for notice in notices:
        row = rows[int(notice["line"])]
        values = [int(row[f"Quality ({name})"]) for name in ("Anna", "Ben")]
        expected = f"gpt4 says {row['quality_gpt4']}, people say {sum(values) / 2:g}"
        assert expected in notice["message"]
        assert row["answer"] not in notice["message"]


@pytest.mark.heavy
def test_bad_texts_that_a_judge_passes_come_first(audit: Any) -> None:
    done = audit(passed(), "--judge", "gpt_verdict", "--json")
    messages = [notice["message"] for notice in done.of_level("notice")]
    assert (
        all("says pass, people say fail" in each for each in messages)
        and len(messages) == 10
    )
    rows = json.loads(done.out)["disagreements"]
    assert [row["judged"] for row in rows] == ["pass"] * 10
    assert {row["distance"] for row in rows} == {1.0}


@pytest.mark.heavy
def test_choices_are_shown_in_words(audit: Any) -> None:
    done = audit(chosen(), "--json")
    [*rows] = json.loads(done.out)["disagreements"]
    pairs = {(row["judged"], row["rated"]) for row in rows}
    assert pairs & {("first", "second"), ("second", "first")}
    assert all(left != right for left, right in pairs)


@pytest.mark.heavy
def test_without_a_bar_nothing_fails(audit: Any) -> None:
    done = audit(made())
    assert done.status == 0 and {each[1] for each in done.annotations} == {"notice"}
    assert "no bar" in done.markdown and "### Rows to read" in done.markdown
    audit(made())
    assert Path("page.md").read_text("utf-8").count("## Judgescope: mine.csv") == 2


@pytest.mark.heavy
def test_a_table_that_cannot_be_used_is_a_single_error(audit: Any) -> None:
    done = audit(made(), "--human", "quality_annna")
    assert done.status == 3 and done.out == ""
    [error] = done.annotations
    assert error[1] == "error" and "%0A  where:" in error["message"]


@pytest.mark.heavy
def test_no_text_is_shown_where_none_may_be(audit: Any) -> None:
    rows = [{**row, "answer": f"{SECRET} {row['answer']}"} for row in made()]
    rows = [{**row, "human_remark": 3} for row in rows]
    rows[4]["human_remark"] = f"{SECRET} 4"
    shown = audit(rows, "--json")
    assert SECRET in shown.markdown and SECRET in shown.out
    Path("page.md").unlink()
    for words in (["--json"], ["--html", "page.html"]):
        hidden = audit(rows, "--no-texts", *words)
        assert hidden.status == 0 and SECRET not in hidden.out + hidden.err
        assert SECRET not in hidden.markdown
    assert "human_remark" in hidden.out
    assert SECRET not in Path("page.html").read_text("utf-8")
    assert "### Rows to read" in hidden.markdown


@pytest.mark.heavy
@pytest.mark.parametrize("words", [["--human", "answer"], ["--judge", "answer"]])
def test_no_text_is_in_an_error_where_none_may_be(audit: Any, words: list[str]) -> None:
    rows = [{**row, "answer": f"{SECRET} {row['answer']}"} for row in made()]
    assert SECRET in audit(rows, *words).err
    hidden = audit(rows, *words, "--no-texts")
    assert hidden.status == 3 and SECRET not in hidden.out + hidden.err


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.heavy
def test_the_page_lists_the_rows_to_read(audit: Any) -> None:
    rows = made()
    done = audit(rows, "--json", "--html", "page.html", "--errors", "rows.csv")
    shown = json.loads(done.out)["disagreements"]
    assert len(shown) == 10 and "line" not in shown[0]
    printed = audit(rows).out
    part = next(
        part for part in printed.split("\n\n") if part.startswith("Rows to read")
    )
    html = Path("page.html").read_text("utf-8")
    for row in shown:
        numbered = f"row {row['row']}, Quality: gpt4 says {row['judged']}, people"
        assert numbered in " ".join(part.split())
        assert f'<th scope="row">{row["row"]}</th>' in html
    assert "Rows to read" in html and rows[0]["answer"].strip()[:40] in html
    written = rows_of("rows.csv")
    hidden = len(written) - 10
    assert f"{hidden} more rows: --errors FILE" in part
    assert [int(row["row"]) for row in written[:10]] == [row["row"] for row in shown]
    numbers = [float(row["distance"]) for row in written]
    assert numbers == sorted(numbers, reverse=True) and min(numbers) > 0


@pytest.mark.heavy
def test_a_short_page_has_verdicts_and_bars_only(audit: Any) -> None:
    printed = audit(made(), "--require", "spearman=.1").out
    short = audit(made(), "--require", "spearman=.1", "-q").out
    assert short.strip() == printed.split("\n\n")[1]
    assert short.startswith("gpt4 meets its bar.")
    assert "\nRequired minimums (bars): meets" in short and "gpt4: " in short


@pytest.mark.heavy
def test_cells_of_the_file_of_errors_are_the_users(audit: Any) -> None:
    rows = [*hostile()]
    rows = [{**row, "row": f"@{at}"} for at, row in enumerate(rows)]
    people = [f"{HOSTILE} (Anna)", f"{HOSTILE} (Ben)"]
    words = ["--judge", f"gpt4 {HOSTILE}"]
    for column in people:
        words += ["--human", column]
    done = audit(rows, *words, "--errors", "rows.csv", "--json", "--write", "kept")
    assert done.status == 0 and json.loads(done.out), done.err
    assert "a spreadsheet may run those that begin with =, +, - or @" in done.err
    written = rows_of("rows.csv")
    assert [*written[0]][: len(rows[0])] == [*rows[0]]
    for row in written:
        original = rows[int(row["row_"]) - 2]
        for name, cell in original.items():
            assert row[name] == str(cell)


@pytest.mark.heavy
def test_the_file_of_errors_has_no_cell_where_none_may_be(audit: Any) -> None:
    rows = [{**row, "answer": f"={SECRET} {row['answer']}"} for row in made()]
    done = audit(rows, "--errors", "rows.csv", "--no-texts")
    assert SECRET not in Path("rows.csv").read_text("utf-8") + done.out + done.err
    assert "a spreadsheet may run" not in done.err
    assert [*rows_of("rows.csv")[0]] == [*ADDED]


@pytest.mark.heavy
def test_nothing_is_listed_if_all_agree(audit: Any) -> None:
    rows = [{"human": at % 5, "judge": at % 5} for at in range(30)]
    done = audit(rows, "--errors", "rows.csv")
    assert "Rows to read" not in done.out + done.markdown
    assert len(rows_of("rows.csv")) == 0


def hostile() -> Iterator[dict[str, Any]]:
    for row in made():
        yield {
            "id": row["id"],
            "model": f"=cmd {row['model']}",
            "answer": f"{HOSTILE} {row['answer']}",
            f"{HOSTILE} (Anna)": row["Quality (Anna)"],
            f"{HOSTILE} (Ben)": row["Quality (Ben)"],
            f"gpt4 {HOSTILE}": row["quality_gpt4"],
            "::error::column": "x",
        }


@pytest.mark.heavy
def test_a_hostile_table_gives_no_command_and_no_markup(audit: Any) -> None:
    rows = [*hostile()]
    people = [f"{HOSTILE} (Anna)", f"{HOSTILE} (Ben)"]
    name = "a,b:c %0A.csv"
    words = ["--judge", f"gpt4 {HOSTILE}"]
    for column in people:
        words += ["--human", column]
    done = audit(
        rows, *words, "--html", "page.html", "--require", "spearman=.9", name=name
    )
    assert done.annotations, done.err
    for each in done.annotations:
        assert unquote(each["file"]) == name
        assert "%0A" not in re.sub("%250A", "", each["message"])
    begins = open_table(Path(name)).lines
    assert {int(each["line"]) for each in done.of_level("notice")} <= {*begins.values()}
    assert "<" not in done.markdown and "::error" in done.markdown
    table = [line for line in done.markdown.splitlines() if line.startswith("|")]
    assert len(table) == 12 and {line.count("|") for line in table} == {7}
    assert not [line for line in done.markdown.splitlines() if line.startswith("c,")]
    assert "<script>alert" not in Path("page.html").read_text("utf-8")


def test_a_row_begins_where_its_first_line_is(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [["a", "b"], ["1\n2", "x"], ["3", "y\r\nz\n"], ["4", "w"]]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    assert open_table(path).lines == {2: 2, 3: 4, 4: 7}
    assert path.read_text("utf-8").splitlines()[6] == "4,w"
    lines = tmp_path / "t.jsonl"
    lines.write_text('{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
    assert open_table(lines).lines == {1: 1, 3: 3}
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert open_table(packed).lines == {}


@pytest.mark.parametrize("text", ["a%0Ab", "50 %", "x\r\ny", "::error::z"])
def test_a_message_is_a_single_line_and_can_be_read_back(text: str) -> None:
    line = escaped_data(text)
    assert len(line.splitlines()) == 1 and unquote(line) == text
    assert not set(",:\r\n") & set(escaped_property(text))
    assert unquote(escaped_property(text)) == text


def test_a_command_names_file_and_line() -> None:
    assert command("notice", "a,b.csv", 7, "x: y") == (
        "::notice file=a%2Cb.csv,line=7::x: y"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[x](http://y)", "&#91;x](http&#58;//y)"),
        ("+ a", "&#43; a"),
        ("1. a", "1&#46; a"),
        ("a|b", "a&#124;b"),
        ("- a", "&#45; a"),
        ("a\nb", "a b"),
        ("<img>&amp;", "&#60;img&#62;&#38;amp;"),
        ("0.5 [0.4, 0.6]", "0.5 &#91;0.4, 0.6]"),
    ],
)
def test_markup_of_the_table_is_text(text: str, shown: str) -> None:
    assert escaped(text).replace("&#35;", "#") == shown
