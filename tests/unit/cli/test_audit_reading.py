"""How audit reads a table that does not say everything: open readings, labels that
flags state, cells that stand for nothing, several files, pipes.
"""

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml

from audit_setup import made, passed, two, write
from judgescope.cli.main import main


class Ended(NamedTuple):
    """The exit code of an audit, and what it printed."""

    status: object
    out: str
    err: str

    @property
    def content(self) -> Any:
        return json.loads(self.out)


Audit = Callable[..., Ended]


@pytest.fixture
def audit(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Audit:
    """Return a function that audits with these words, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str, typed: Sequence[str] | None = None) -> Ended:
        monkeypatch.setattr(sys, "argv", ["judgescope", "audit", *words])
        if typed is not None:
            answers = list(typed)
            monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
            monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
            monkeypatch.setattr("builtins.input", lambda _: answers.pop(0))
        with pytest.raises(SystemExit) as ended:
            main()
        return Ended(ended.value.code, *capsys.readouterr())

    return run


def neutral(n: int = 40) -> list[dict[str, Any]]:
    """Return rows whose headers say nothing."""
    rng = np.random.default_rng(1)
    rows = []
    for at in range(n):
        first = int(rng.integers(1, 6))
        second = int(np.clip(first + rng.integers(-1, 2), 1, 5))
        rows.append({"c0": f"Text {at} has a few words.", "c1": first, "c2": second})
    return rows


def test_an_open_table_offers_every_reading_with_its_command(audit: Audit) -> None:
    write(neutral(), Path("n.csv"))
    ended = audit("n.csv", "--json")
    assert ended.status == 3 and ended.content["schema"] == "judgescope.audit/1"
    assert ended.content["exit_code"] == 3
    [error] = ended.content["error"]
    assert error.keys() == {"what", "where", "got", "allowed", "todo"}
    words = [option["arguments"] for option in ended.content["options"]]
    assert words == [
        ["--judge", "c1", "--human", "c2"],
        ["--judge", "c2", "--human", "c1"],
    ]
    for option in ended.content["options"]:
        chosen = audit("n.csv", "--json", *option["arguments"])
        assert chosen.status == 0
        grades = {each["column"]: each for each in chosen.content["columns"]["each"]}
        assert grades["c1"]["grade"] == "certain"
        assert grades["c1"]["why"] == "the command line names it"
    assert "judgescope audit n.csv --judge c1 --human c2" in audit("n.csv").err


def test_many_columns_with_one_reason_are_counted_not_named(audit: Audit) -> None:
    rng = np.random.default_rng(2)
    raters = [f"rater_{number}" for number in range(1, 9)]
    rows: list[dict[str, Any]] = []
    for number in range(40):
        ratings = {rater: int(rng.integers(1, 6)) for rater in raters}
        rows.append({"item": f"t{number}", "judge": int(rng.integers(1, 6)), **ratings})
    write(rows, Path("many.csv"))
    few = [{name: row[name] for name in ("item", "judge", *raters[:3])} for row in rows]
    write(few, Path("few.csv"))
    [reason] = re.findall(r"^ *why +(.*)$", audit("many.csv").out, re.M)
    assert reason == "all 10 columns above: their headers say so"
    [reason] = re.findall(r"^ *why +(.*)$", audit("few.csv").out, re.M)
    assert reason == "item, rater_1, rater_2, rater_3, judge: their headers say so"


def test_a_person_on_a_terminal_chooses_a_reading(audit: Audit) -> None:
    write(neutral(), Path("n.csv"))
    ended = audit("n.csv", typed=["2"])
    assert ended.status == 0 and "c2 has a judge's scores" in ended.out
    assert audit("n.csv", typed=[""]).status == 3
    # Nothing is asked of a person who said so.
    assert audit("n.csv", "--yes", typed=[]).status == 3


def test_a_number_beside_people_is_asked_about(audit: Audit) -> None:
    rows = [{"human": row["human"], "x": row["judge"]} for row in two()]
    write(rows, Path("x.csv"))
    ended = audit("x.csv", "--json")
    assert ended.status == 3
    assert [each["arguments"] for each in ended.content["options"]] == [
        ["--judge", "x"]
    ]


def test_a_file_of_scores_alone_has_no_reading_to_choose(audit: Audit) -> None:
    rows = [{"answer": f"Text {at} is long.", "gpt4": at % 5} for at in range(20)]
    write(rows, Path("j.csv"))
    ended = audit("j.csv", "--json")
    assert ended.status == 3 and ended.content["options"] == []
    assert "--human" in ended.content["error"][0]["todo"]


def test_a_damaged_file_is_an_object_too(audit: Audit) -> None:
    Path("d.csv").write_text('human,judge\n1,"2\n', encoding="utf-8")
    ended = audit("d.csv", "--json")
    assert ended.status == 3 and ended.content["options"] == []
    assert ended.content["error"][0]["where"].startswith("d.csv, row 2")


def test_assumed_roles_are_reported_with_the_flag_that_changes_them(
    audit: Audit,
) -> None:
    rows = [{"anna": row["human"], "gpt4": row["judge"]} for row in two()]
    write(rows, Path("a.csv"))
    ended = audit("a.csv")
    why = "anna is taken as people's ratings, because the others are a judge's"
    assert f"Assumed:    {why}" in ended.out
    assert "--human changes it" in ended.out
    each = audit("a.csv", "--json").content["columns"]["each"]
    grades = {reading["column"]: reading["grade"] for reading in each}
    assert grades == {"anna": "assumed", "gpt4": "certain"}


# --- labels ---------------------------------------------------------------------------


def worded(words: dict[str, str]) -> list[dict[str, str]]:
    """Return labels of a person and a judge in other words than pass and fail."""
    rows = []
    for row in passed():
        human = words[row["human_1"].lower()]
        rows.append({"human": human, "judge": words[row["gpt_verdict"]]})
    return rows


def recalls(ended: Ended) -> dict[str, float]:
    """Return the shares of bad and of good texts that the judge finds."""
    [judge] = ended.content["judges"].values()
    collected = {}
    for claim in judge["claims"]:
        if claim["statistic"] in ("tnr", "tpr"):
            collected[claim["statistic"]] = claim["value"]
    return collected


def test_labels_are_ordered_as_a_flag_says(audit: Audit) -> None:
    write(worded({"fail": "blau", "pass": "rot"}), Path("w.csv"))
    stated = audit("w.csv", "--json", "--labels", "blau,rot")
    turned = audit("w.csv", "--json", "--labels", "rot,blau")
    positive = audit("w.csv", "--json", "--positive", "blau")
    assert stated.status == turned.status == positive.status == 0
    assert recalls(stated)["tnr"] == recalls(turned)["tpr"] != recalls(turned)["tnr"]
    assert recalls(positive) == recalls(turned)


def test_zero_may_be_the_good_label(audit: Audit) -> None:
    rows = worded({"fail": "1", "pass": "0"})
    write(rows, Path("z.csv"))
    as_numbers = audit("z.csv", "--json")
    zero_is_good = audit("z.csv", "--json", "--positive", "0")
    assert recalls(as_numbers)["tnr"] == recalls(zero_is_good)["tpr"]


def test_three_labels_have_an_order_or_none(audit: Audit) -> None:
    rows = []
    for row in made():
        words = ["gelb", "grün", "blau"]
        human = words[min(row["Quality (Anna)"], 3) - 1]
        rows.append({"human": human, "judge": words[min(row["quality_gpt4"], 3) - 1]})
    write(rows, Path("t.csv"))
    labels = ("--labels", "gelb,grün,blau")
    assert audit("t.csv", *labels, "--write", "ordered").status == 0
    assert audit("t.csv", *labels, "--unordered", "--write", "plain").status == 0
    cards = []
    for folder in ("ordered", "plain"):
        card = Path(folder, "config", "datasets", "t.yaml").read_text("utf-8")
        cards.append(yaml.safe_load(card)["aspects"]["overall"])
    assert cards[0]["labels"] == cards[1]["labels"] == ["gelb", "grün", "blau"]
    assert "ordered" not in cards[0] and cards[1]["ordered"] is False


@pytest.mark.parametrize(
    ("words", "where", "what"),
    [
        (["--labels", "rot"], "--labels", "two to seven"),
        (["--labels", "rot,rot"], "--labels", "two to seven"),
        (["--labels", "rot,grün"], "--labels", "no column has only these labels"),
        (["--labels", "rot,grün", "--judge", "judge"], "column judge", "none of the"),
        (["--unordered"], "--unordered", "needs the labels"),
        (["--positive", "grün"], "--positive", "exactly two labels"),
        (["--positive", "rot", "--labels", "a,b"], "--positive", "stated twice"),
    ],
)
def test_labels_that_cannot_be_are_refused(
    words: list[str], where: str, what: str, audit: Audit
) -> None:
    write(worded({"fail": "blau", "pass": "rot"}), Path("w.csv"))
    ended = audit("w.csv", "--json", *words)
    assert ended.status == 3
    [error] = ended.content["error"]
    assert where in error["where"] and what in error["what"]


def test_cells_that_stand_for_nothing_are_named(audit: Audit) -> None:
    rows: list[dict[str, Any]] = [dict(row) for row in two()]
    for row in rows[:9]:
        row["judge"] = "unknown"
    for row in rows[9:12]:
        row["human"] = "-7"
    write(rows, Path("m.csv"))
    unsure = audit("m.csv", "--json")
    [error] = unsure.content["error"]  # -7 may be a rating, "unknown" is none
    assert unsure.status == 3 and error["got"] == "-7 (3 cells)"
    assert "--missing -7" in error["todo"]
    ended = audit("m.csv", "--json", "--missing", "unknown", "-7.0")
    assert ended.status == 0
    assert ended.content["columns"]["missing"] == {"human": 3, "judge": 9}
    assert any("9 cells are missing" in note for note in ended.content["notes"])


# --- several files, and pipes ---------------------------------------------------------


def parted() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return people's ratings and a judge's scores of the same texts, in two orders."""
    people = []
    judged = []
    for at, row in enumerate(two()):
        people.append({"text_id": at, "human": row["human"]})
        judged.append({"text_id": f"{at}", "judge": row["judge"]})
    return people, judged[::-1]


def numbers_of(ended: Ended) -> list[float]:
    [judge] = ended.content["judges"].values()
    return [claim["value"] for claim in judge["claims"]]


def test_two_files_are_a_single_table(audit: Audit) -> None:
    people, judged = parted()
    write(people, Path("people.jsonl"))
    write(judged, Path("judge.csv"))
    write(two(), Path("both.csv"))
    ended = audit("people.jsonl", "judge.csv", "--json")
    assert ended.status == 0
    assert numbers_of(ended) == numbers_of(audit("both.csv", "--json"))
    assert any("60 of 60 rows" in note for note in ended.content["notes"])


def test_columns_of_the_same_name_are_distinguished_by_file(audit: Audit) -> None:
    people, judged = parted()
    write(
        [{"id": r["text_id"], "score": r["human"]} for r in people], Path("human.csv")
    )
    write(
        [{"id": r["text_id"], "score": r["judge"]} for r in judged], Path("judge.csv")
    )
    columns = audit("human.csv", "judge.csv", "--json").content["columns"]
    assert columns["people"] == {"overall": ["score (human)"]}
    assert list(columns["judges"].values()) == [{"*": "score (judge)"}]


def test_a_row_without_a_partner_was_not_judged(audit: Audit) -> None:
    people, judged = parted()
    write(people, Path("people.csv"))
    write(judged[:57], Path("judge.csv"))
    ended = audit("people.csv", "judge.csv", "--json")
    assert ended.status == 0
    assert {claim["n"] for claim in ended.content["judges"]["judge"]["claims"]} == {57}


def _with_two_keys(row: dict[str, Any]) -> dict[str, Any]:
    new = {name: cell for name, cell in row.items() if name != "text_id"}
    return {**new, "key": row["text_id"], "other": row["text_id"]}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("few", "too few rows have a partner"),
        ("no key", "share no column"),
        ("two keys", "can be joined by several columns"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(
    change: str, what: str, audit: Audit
) -> None:
    people, judged = parted()
    if change == "few":
        judged = [{**row, "text_id": f"x{row['text_id']}"} for row in judged]
    elif change == "no key":
        judged = [{"judge": row["judge"]} for row in judged]
    else:
        people = [_with_two_keys(row) for row in people]
        judged = [_with_two_keys(row) for row in judged]
    write(people, Path("people.csv"))
    write(judged, Path("judge.csv"))
    ended = audit("people.csv", "judge.csv", "--json")
    assert ended.status == 3 and what in ended.content["error"][0]["what"]
    if change == "two keys":
        assert audit("people.csv", "judge.csv", "--on", "key", "--json").status == 0


def test_standard_input_is_read_to_its_end(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(two(), Path("both.csv"))
    content = Path("both.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    ended = audit("-", "--json", "--errors", "errors.csv")
    assert ended.status == 0
    assert numbers_of(ended) == numbers_of(audit("both.csv", "--json"))
    with Path("errors.csv").open(encoding="utf-8") as lines:
        assert next(csv.reader(lines))[:2] == ["human", "judge"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    empty = audit("-", "--json")
    assert empty.status == 3 and "empty" in empty.content["error"][0]["what"]
