"""`judgescope audit` and `init` of tables without texts: lengths from a column."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit_setup import Rows, chosen, write
from init_setup import card, init
from judgescope.cli.main import main
from judgescope.core.errors import UserErrors

pytestmark = pytest.mark.heavy
UNTESTED = "length not tested"
BEATEN = "not shown to be better than the texts' length"


def measured(n: int = 80) -> list[dict[str, Any]]:
    """Return n texts whose length shows their quality better than the judge does."""
    rng, rows = np.random.default_rng(3), []
    for at in range(n):
        quality = int(rng.integers(1, 6))
        row = {"id": f"q{at // 4}", "model": f"s{at % 4}", "human": quality}
        row["judge"] = int(np.clip(quality + rng.integers(-2, 3), 1, 5))
        row["n_chars"] = 60 * quality + int(rng.integers(-20, 20))
        rows.append(row)
    return rows


def measured_pairs() -> list[dict[str, Any]]:
    """Return pairs without texts, of which people mostly choose the longer one."""
    rows = []
    for at, row in enumerate(chosen()):
        kept = {k: v for k, v in row.items() if not k.startswith("answer")}
        first_longer = row["winner (Anna)"] == "A"
        lengths = (200 + at, 100) if first_longer else (100, 200 + at)
        kept["size_a"], kept["size_b"] = lengths
        rows.append(kept)
    return rows


Page = Callable[..., tuple[int, str]]


@pytest.fixture
def page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Page:
    """Return the function that audits rows: the exit code and what was printed."""
    monkeypatch.chdir(tmp_path)

    def run(rows: Rows, *words: str) -> tuple[int, str]:
        file = write(rows, Path("mine.csv"))
        monkeypatch.setattr("sys.argv", ["judgescope", "audit", str(file), *words])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, " ".join((printed.out + printed.err).split())

    return run


def claims_of(printed: str) -> list[dict[str, Any]]:
    [judge] = json.loads(printed)["judges"].values()
    claims: list[dict[str, Any]] = judge["claims"]
    return claims


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_rows_without_a_length_are_left_out_of_its_test(
    page: Page, share: float
) -> None:
    rows = measured()
    missing = round(share * len(rows))
    for row in rows[:missing]:
        row["n_chars"] = ""
    _, printed = page(rows, "--length", "n_chars")
    if share > 0.5:
        assert f"{UNTESTED}: {missing} of {len(rows)} texts have no length" in printed
        assert BEATEN not in printed
    else:
        assert f"length tested on {len(rows) - missing} of {len(rows)} texts" in printed
        assert BEATEN in printed and UNTESTED not in printed


def test_without_lengths_the_claim_says_that_length_is_not_tested(page: Page) -> None:
    status, printed = page(measured())
    assert status == 0 and "Better than chance at agreeing with people" in printed
    assert UNTESTED in printed and "whether scoring texts by their" not in printed
    assert "the texts, or their lengths (--length)" in printed
    [claim] = claims_of(page(measured(), "--json")[1])
    assert UNTESTED in claim["reasons"] and claim["outcome"] == "better"
    assert "p_length" not in claim["others"] and "p_brevity" not in claim["others"]


def test_a_rule_of_length_that_beats_the_judge_is_detected_by_the_column(
    page: Page,
) -> None:
    status, printed = page(measured(), "--length", "n_chars")
    assert status == 0 and BEATEN in printed and UNTESTED not in printed
    assert "Better than chance" not in printed and "length n_chars" in printed
    assert "whether scoring texts by their length would do as well" in printed
    assert "the texts: tests on perturbed texts" in printed
    content = json.loads(page(measured(), "--length", "n_chars", "--json")[1])
    assert content["columns"]["length"] == ["n_chars"]
    [claim] = content["judges"]["judge"]["claims"]
    assert BEATEN in claim["reasons"] and claim["outcome"] == "not_shown"
    assert claim["others"]["p_length"]["value"] > 0.9
    assert claim["others"]["p_chance"]["value"] < 0.01


def test_a_column_of_lengths_is_not_guessed(page: Page) -> None:
    for name in ("length", "num_tokens", "word_count"):
        rows = [{**row, name: row["n_chars"]} for row in measured(40)]
        printed = page(rows)[1]
        assert UNTESTED in printed and "not used n_chars" in printed


def test_lengths_of_two_texts_are_tested_on_pairs(page: Page) -> None:
    status, printed = page(measured_pairs())
    assert status == 0 and UNTESTED in printed and "(--lengths)" in printed
    status, printed = page(measured_pairs(), "--lengths", "size_a", "size_b")
    assert status == 0 and UNTESTED not in printed and BEATEN in printed
    assert "lengths size_a, size_b" in printed


def test_equal_lengths_test_nothing_and_the_page_says_so(page: Page) -> None:
    rows = [{**row, "n_chars": 100} for row in measured(40)]
    printed = page(rows, "--length", "n_chars")[1]
    assert f"{UNTESTED}: all texts are equally long" in printed
    assert "whether scoring texts by their length" not in printed


def test_missing_lengths_are_counted(page: Page) -> None:
    rows = measured()
    for row, empty in zip(rows, ("", "NA", "nan"), strict=False):
        row["n_chars"] = empty
    printed = page(rows, "--length", "n_chars")[1]
    assert "n_chars (n_chars: 3 of 80 missing)" in printed and BEATEN in printed


@pytest.mark.parametrize("cell", ["-3", "12 words", "inf", "1e999", "True"])
def test_a_cell_that_is_no_length_is_named_by_row_and_column(
    page: Page, cell: str
) -> None:
    rows = measured(20)
    rows[4]["n_chars"] = cell
    status, printed = page(rows, "--length", "n_chars")
    assert status == 3 and "a length is not a number from 0" in printed
    assert "mine.csv, row 6, column n_chars" in printed and f"'{cell}'" in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--length", "chars"), "the table does not have this column"),
        (("--length", "judge"), "a column can have only one role"),
        (("--lengths", "n_chars", "id"), "people did not choose between two"),
        (("--length", "n_chars", "--text", "id"), "have lengths of their own"),
    ],
)
def test_an_option_that_does_not_fit_is_refused(
    page: Page, words: tuple[str, ...], message: str
) -> None:
    status, printed = page(measured(20), "--judge", "judge", *words)
    assert status == 3 and message in printed


def test_each_text_has_its_length(page: Page) -> None:
    rows = [{**row, "answer": "word " * row["n_chars"]} for row in measured(20)]
    status, printed = page(rows, "--length", "n_chars")
    assert (
        status == 3 and "the texts have lengths of their own (column answer)" in printed
    )
    assert "leave --length out" in printed
    status, printed = page(chosen(20), "--lengths", "model_a", "model_b")
    assert status == 3 and "have lengths of their own (column answer_a" in printed


def test_a_single_length_for_two_texts_is_refused(page: Page) -> None:
    status, printed = page(measured_pairs(), "--length", "size_a")
    assert status == 3 and "--lengths FIRST SECOND" in printed


def test_a_named_length_has_precedence_over_a_guess_of_the_text(page: Page) -> None:
    """The longest column is taken for the judged text only if no length is named."""
    rows = [
        {**row, "remark 1": f"{at} and so on. " * 9}
        for at, row in enumerate(measured())
    ]
    assert UNTESTED not in page(rows)[1]
    status, printed = page(rows, "--length", "n_chars")
    assert status == 0 and BEATEN in printed and "not used remark 1" in printed


def test_a_long_table_has_a_single_length_a_text(page: Page) -> None:
    long = [
        {
            "item": row["id"],
            "system": row["model"],
            "rater": rater,
            "score": row[rater],
            "size": row["n_chars"],
        }
        for row in measured()
        for rater in ("human", "judge")
    ]
    status, printed = page(long, "--length", "size")
    assert status == 0 and BEATEN in printed
    long[1]["size"] = 7
    status, printed = page(long, "--length", "size")
    assert status == 3 and "rows of the same text differ in its length" in printed
    assert "rows 2 and 3, column size" in printed


# --- init -----------------------------------------------------------------------------


def init_table(rows: Rows) -> None:
    with Path("mine.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


WORDS = ("--rating", "fluency=human", "--metric", "judge", "--item", "id", "--yes")


def test_init_maps_the_column_of_lengths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = measured(40)
    rows[3]["n_chars"] = ""
    init_table(rows)
    assert init("mine.csv", *WORDS, "--length", "n_chars") == 0
    columns = card("datasets", "mine")["columns"]
    assert columns["length"] == "n_chars" and "text" not in columns
    judges = card("studies", "mine")["judges"]
    assert "length" in judges and "rules" not in judges
    printed = capsys.readouterr().out
    assert "1 text without a length" in printed and "row 5" in printed
    assert "n_chars: 1 of 40 missing" in printed


def test_init_needs_texts_or_lengths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    init_table(measured(40))
    with pytest.raises(UserErrors, match="lengths: --length COLUMN"):
        init("mine.csv", *WORDS)
    endpoint = ("--endpoint", "http://127.0.0.1:9/v1", "--model", "some")
    with pytest.raises(UserErrors, match="which column has the texts"):
        init("mine.csv", *WORDS, "--length", "n_chars", *endpoint)
