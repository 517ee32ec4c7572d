"""`judgescope init` on tables as people have them: what is guessed, and what a refusal
says.
"""

import csv
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from audit_setup import chosen, write
from init_setup import ROWS, card, init, working_folder, written
from judgescope.cli.init.endpoint import address, model_name, variable
from judgescope.cli.init.flags import read_scale
from judgescope.cli.init.guess import guess
from judgescope.core.errors import UserError, UserErrors

__all__ = ["working_folder"]
LINES = [list(row.values())[:4] for row in ROWS]
"""Article, model, summary, a rating of 1 to 5."""
END = ["--endpoint", "https://h.org/v1", "--model", "m"]


def table(head: str, lines: Sequence[Sequence[object]], name: str = "t.csv") -> str:
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head.split(","), *lines])
    return name


def refused(*words: str) -> str:
    with pytest.raises((UserError, UserErrors)) as caught:
        init(*words, "--yes")
    assert not Path("config").exists()
    return str(caught.value)


def test_a_text_beside_a_summary_is_its_source() -> None:
    guesses = guess(
        [{"doc_id": "a", "text": "long", "system": "s", "summary": "short"}]
    )
    assert (guesses.text, guesses.source, guesses.item) == (
        "summary",
        ["text"],
        "doc_id",
    )
    assert guess([{"text": "t", "prompt": "p"}]).text == "text"
    assert guess([{"text": "t", "prediction": 1}]).text == "text"


def test_an_id_of_rows_is_no_item_where_sources_repeat() -> None:
    rows = [{"id": at, **row} for at, row in enumerate(ROWS)]
    assert guess(rows).item is None
    assert rows[0].keys() - guess(rows).used == {"id", "remark"}
    assert guess(rows, {"item": ["id"]}).item == "id"
    alone = [{**row, "model": "one"} for row in rows]
    assert guess(alone).item == "id"  # else an item would have two texts of one system
    assert guess([{**row, "id": row["article"]} for row in rows]).item == "id"


def test_items_that_share_a_source_are_noted(
    working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = table(
        "id,article,model,summary,fluency", [[at, *row] for at, row in enumerate(LINES)]
    )
    assert init(file, "--yes", "--item", "id") == 0
    assert "4 items, but only 2 different sources" in capsys.readouterr().out
    assert init(file, "--yes", "--study", "other") == 0
    assert "different sources" not in capsys.readouterr().out


def test_an_index_is_no_rating() -> None:
    rows = [
        {"": at, "Unnamed: 0": 3, "index": at + 7, "text": "t", "q": at % 3}
        for at in range(5)
    ]
    assert guess(rows).ratings == {"q": ["q"]}
    assert guess([{"text": "t", "q": 30 - at} for at in range(20)]).ratings == {}
    assert guess([{"text": "t", "q": 5 - at} for at in range(5)]).ratings == {
        "q": ["q"]
    }


def test_a_judges_choices_by_name_of_system_need_a_copy(working_folder: Path) -> None:
    header = "question,model_a,model_b,answer_a,answer_b,winner,gpt_winner"
    lines = [
        [f"q{at}", "x", "y", f"first {at}", f"second {at}", "AB"[at % 2], "xy"[at % 2]]
        for at in range(4)
    ]
    file = table(header, [[*line[:5], "see the notes", "?"] for line in lines], "u.csv")
    assert "only choices between these two texts" in refused(
        file, "--texts", "answer_a", "answer_b"
    )
    assert init(table(header, lines), "--yes") == 0
    rows = [json.loads(line) for line in Path("data/t.jsonl").read_text().splitlines()]
    assert (
        [row["gpt_winner"] for row in rows]
        == [1, 2, 1, 2]
        == [row["winner"] for row in rows]
    )
    assert card("datasets", "t")["files"] == "../../data/t.jsonl"
    with pytest.raises(UserError, match="a card with this name"):
        init("t.csv", "--yes")
    shutil.rmtree("config")
    assert "this file already exists" in refused("t.csv")


@pytest.mark.parametrize("cells", [("winner", "BA"), ("score", "42")])
def test_a_long_table_has_a_row_per_text_in_the_studys_copy(
    cells: tuple[str, str], working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Choices and ratings; the user's table stays, and a fault names it."""
    name, values = cells
    texts = ["answer_a", "answer_b"] if name == "winner" else ["answer"]
    rows = [
        [
            f"question {at}",
            *(f"{text} to {at}" for text in texts),
            rater,
            values[at % 2],
        ]
        for at in range(12)
        for rater in ("anna", "ben", "gpt-4")
    ]
    file = table(",".join(["question", *texts, "rater", name]), rows)
    before = Path(file).read_bytes()
    assert init(file, "--yes") == 0
    message = capsys.readouterr().out
    assert "36 rows of one rating or choice each, read as 12 rows" in message
    assert "written: data/t.jsonl" in message
    assert re.search(r"^  judge +gpt-4$", message, re.M)
    assert card("studies", "t")["judges"][0] == "gpt-4"
    assert Path(file).read_bytes() == before
    assert len(Path("data/t.jsonl").read_text().splitlines()) == 12
    if name == "winner":
        return
    rows[7][-1] = (
        "9"  # row 9 of the file, as the header is row 1; the text begins in row 8
    )
    other = table(",".join(["question", *texts, "rater", name]), rows, "other.csv")
    shutil.rmtree("config")
    message = refused(other, "--scale", "0:4:1")
    assert "other.csv, row 8" in message and not Path("data/other.jsonl").exists()


def test_a_path_in_an_error_has_no_way_back(working_folder: Path) -> None:
    lines = [[*line[:3], line[3] if at else 9] for at, line in enumerate(LINES)]
    file = table("article,model,summary,fluency", lines)
    refusal = refused(file, "--scale", "1:5:1")
    assert "where:   t.csv, row 2" in refusal and ".." not in refusal


def test_choices_between_systems_without_texts_are_for_an_audit(
    working_folder: Path,
) -> None:
    lines = [["x", "y", "AB"[at % 2]] for at in range(4)]
    refusal = refused(table("model_a,model_b,winner", lines))
    assert (
        "--texts FIRST SECOND" in refusal
        and "`judgescope audit` works without" in refusal
    )
    lines = [["q", f"a {at}", f"b {at}", "AB"[at % 2]] for at in range(4)]
    file = table("question,answer_a,answer_b,winner", lines)
    assert "a file of replies cannot be used" in refused(file, "--recorded", file)


def test_a_single_column_has_a_single_role(working_folder: Path) -> None:
    assert "can have only one role" in refused(
        "mine.csv", "--text", "summary", "--source", "summary"
    )
    words = ["--item", "fluency_rater1", "--rating", "fluency=fluency_rater1"]
    assert "can have only one role" in refused("mine.csv", *words)


def test_a_named_column_is_no_longer_guessed(working_folder: Path) -> None:
    file = table("text,model,summary,fluency", LINES)
    assert init(file, "--yes", "--text", "text", "--source", "summary") == 0
    columns = card("datasets", "t")["columns"]
    assert (columns["text"], columns["source"]) == ("text", "summary")


def test_a_single_column_of_texts_is_not_a_pair(
    working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table is shown again, instead of cards that cannot be made."""
    file = write(chosen(), Path("pairs.csv")).name
    assert init(file, answers=["1", "answer_b", "", "q"]) == 1
    assert "cannot tell which columns have the two texts" in capsys.readouterr().out
    assert not Path("config").exists()


def test_answers_take_no_column_twice(working_folder: Path) -> None:
    file = table("text,model,summary,fluency", LINES)
    assert init(file, answers=["1", "text", "2", "summary", "", "y"]) == 0
    columns = card("datasets", "t")["columns"]
    assert (columns["text"], columns["source"]) == ("text", "summary")


@pytest.mark.parametrize(
    "name", ["Fluency score", "fluency, how", "rater's fluency", 'a "b", c']
)
def test_a_column_may_have_any_name(name: str, working_folder: Path) -> None:
    with Path("t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["article", "model", "summary", name], *LINES])
    assert init("t.csv", "--yes", "--rating", f"fluency={name}") == 0
    assert card("datasets", "t")["columns"]["ratings"] == {"fluency": [name]}
    answers = ["6", f"fluency={name}", "10", "third", "", "y"]
    assert init("t.csv", answers=answers) == 0
    assert card("datasets", "third")["columns"]["ratings"] == {"fluency": [name]}


def test_what_to_do_is_written_for_a_shell_and_names_other_ratings(
    working_folder: Path,
) -> None:
    lines = [[*row, at + 20] for at, row in zip((3, 9, 4, 4), LINES, strict=True)]
    asked = ("--endpoint", "http://127.0.0.1:9/v1", "--model", "m")
    refusal = refused(table("article,model,summary,fluency,my mark", lines), *asked)
    assert (
        "--rating ASPECT=my" not in refusal and "--rating 'ASPECT=my mark'" in refusal
    )
    assert "name the ones that do: --rating fluency=fluency" in refusal


def test_a_study_does_not_take_over_anothers_results(working_folder: Path) -> None:
    Path("results/t").mkdir(parents=True)
    file = table("article,model,summary,fluency", LINES)
    assert "results/t" in refused(file)
    Path("config/studies").mkdir(parents=True)
    for path in ("config/config.yaml", "config/studies/other.yaml"):
        Path(path).write_text("# mine\nstudy: 'mine' # own\n")
        with pytest.raises(UserError) as caught:
            init("mine.csv", "--yes")
        assert path in str(caught.value)
        Path(path).write_text("study: mine-2\n")
    assert init("mine.csv", "--yes") == 0


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_another_separator_is_read_and_named(
    sign: str, name: str, working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [sign.join(["id", "text", "fluency"])]
    for at in range(12):
        text = f"The answer number {at}, and more."
        lines.append(sign.join([f"q{at}", text, str(at % 5 + 1)]))
    Path("t.csv").write_text("\n".join(lines))
    assert init("t.csv", "--yes") == 0
    assert f"separated by {name}" in capsys.readouterr().out


@pytest.mark.parametrize("cell", ["3~5", "inf", "good"])
def test_a_nearly_numeric_column_says_why_it_is_no_rating(
    cell: str, working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines: list[list[object]] = [*LINES[:3], [*LINES[3][:3], cell]]
    refusal = refused(table("article,model,summary,fluency", lines))
    assert f"fluency (row 5 has '{cell}', which is not a number)" in refusal
    both = [[*row, 1 + at % 3] for at, row in enumerate(lines)]
    assert (
        init(table("article,model,summary,fluency,coherence", both, "b.csv"), "--yes")
        == 0
    )
    assert (
        f"not read as ratings: fluency (row 5 has '{cell}'" in capsys.readouterr().out
    )


@pytest.mark.parametrize("cell", ["NA", "n/a", " - ", "", "None"])
def test_a_rating_may_be_missing_as_people_say_it(
    cell: str, working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines: list[list[object]] = [*LINES[:3], [*LINES[3][:3], cell]]
    assert init(table("article,model,summary,fluency", lines), "--yes") == 0
    assert card("datasets", "t").get("missing", [""]) == [cell.strip()]
    assert "1 rating of fluency missing: t.csv, row 5" in capsys.readouterr().out


def test_words_in_the_location_of_ratings_are_explained(working_folder: Path) -> None:
    lines = [[*row[:3], "good"] for row in LINES]
    refusal = refused(
        table(
            "article,model,summary,fluency,remark", [[*line, "fine"] for line in lines]
        )
    )
    assert "skipped: fluency (row 2 has 'good', which is not a number)" in refusal


def test_a_count_is_no_rating_unless_it_is_named(working_folder: Path) -> None:
    head = "article,model,summary,fluency,length,age,my_words"
    assert init(table(head, [[*row, 3, 4, 5] for row in LINES]), "--yes") == 0
    assert list(card("datasets", "t")["aspects"]) == ["fluency"]
    values = ["--rating", "fluency=length", "--study", "other"]
    assert init("t.csv", "--yes", *values) == 0
    assert card("datasets", "other")["columns"]["ratings"] == {"fluency": ["length"]}


def test_a_row_for_each_rating_is_a_single_fault(working_folder: Path) -> None:
    lines = [[*row[:3], rating] for row in LINES for rating in (1, 2, 5)]
    refusal = refused(table("article,model,summary,fluency", lines))
    assert refusal.count("the same text of the same system is in several rows") == 1
    assert "where:   t.csv, rows 2 and 3" in refusal and "../" not in refusal
    assert "column for each rater" in refusal
    assert "--item COLUMN" in refusal and "--system" not in refusal


@pytest.mark.parametrize(
    "text",
    ["1:inf", "-inf:5", "nan:5", "1:5:inf", "1:5:nan", "5:1", "1:5:0", "1:2:3:4"],
)
def test_a_scale_is_finite(text: str) -> None:
    with pytest.raises(UserError, match="lowest and its highest value"):
        read_scale(text)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--key-env", "MY_KEY"], "--key-env"),
        (["--price", "1", "2"], "--price"),
        (["--form", "score-only", "--draws", "2"], "--form, --draws"),
    ],
)
def test_what_an_endpoint_needs_is_not_ignored(
    words: list[str], message: str, working_folder: Path
) -> None:
    assert f"where:   {message}" in refused("mine.csv", *words)


def test_a_rating_counts_once(working_folder: Path) -> None:
    text, two = "fluency_rater1", "fluency_rater2"
    assert "only one role" in refused("mine.csv", "--rating", f"fluency={text},{text}")
    assert "only one role" in refused(
        "mine.csv", "--rating", text, "--rating", f"fluency={text}"
    )
    twice = ["--rating", f"fluency={two}", "--rating", f"fluency={text}"]
    assert init("mine.csv", "--yes", *twice) == 0
    assert card("datasets", "mine")["columns"]["ratings"] == {"fluency": [two, text]}


def test_a_definition_does_not_shadow_a_card(working_folder: Path) -> None:
    assert "this aspect already has a card" in refused(
        "mine.csv", "--define", "fluency=foo"
    )


@pytest.mark.parametrize(
    "url",
    [
        "h.org/v1",
        "https://me:word@h.org/v1",
        "https://h.org/v1?key=1",
        "https://h.org/v1/sk-abcdefSECRET/",
        "https://h.org/v1/abcdefghij0123456789",
    ],
)
def test_an_address_without_form_or_with_a_key_is_refused_and_not_shown(
    url: str, working_folder: Path
) -> None:
    refusal = refused("mine.csv", "--endpoint", url, "--model", "m")
    assert (
        url not in refusal
        and "SECRET" not in refusal
        and "0123" not in refusal
        and "^http" not in refusal
    )


def test_names_of_models_and_plain_addresses_pass() -> None:
    for name in (
        "meta-llama/Meta-Llama-3.1-70B-Instruct",
        "claude-3-5-sonnet-20241022",
        "accounts/fireworks/models/llama-v3p1-405b-instruct",
        "ft:gpt-4o-mini-2024-07-18:org::8abcXYZ9",
        "mistralai/Mixtral-8x22B-Instruct-v0.1",
    ):
        assert model_name(name) == name
    for url in (
        "http://127.0.0.1:8000/v1",
        "https://h.org/openai/deployments/gpt-4o/v1/",
        "",
    ):
        assert address(url) == url


@pytest.mark.parametrize(
    "text",
    ["sk-abcdefghij1234567890", "hf_abcdEFGHijklm", "org/abcdefghij1234567890abc", ""],
)
def test_a_key_is_no_model(text: str) -> None:
    with pytest.raises(UserError) as caught:
        model_name(text)
    assert not text or text not in str(caught.value)


def test_a_long_hexadecimal_name_is_no_variable() -> None:
    with pytest.raises(UserError) as caught:
        variable("ABCDEF0123456789" * 2)
    assert "ABCDEF" not in str(caught.value)


def test_names_with_control_characters_are_not_printed_raw(
    working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [[*row, "x", at * 9] for at, row in enumerate(LINES)]
    file = table("article,model,summary,fluency,odd\x1b[2J,", lines)
    assert init(file, "--yes") == 0
    output = capsys.readouterr().out
    assert "odd [2J, (no name)" in output and "\x1b" not in output
    with pytest.raises(UserError) as caught:
        init(file, "--yes", "--study", "other", "--text", "nothing")
    assert "\x1b" not in str(caught.value)


def test_a_flag_for_columns_leaves_the_table_its_location(working_folder: Path) -> None:
    assert init("--source", "article", "mine.csv", "--yes") == 0
    words = [
        "--source",
        "article",
        "--source",
        "remark",
        "mine.csv",
        "--study",
        "two",
        "--yes",
    ]
    assert init(*words) == 0
    assert card("datasets", "two")["columns"]["source"] == ["article", "remark"]
    assert "config/datasets/two.yaml" in written()
