"""Whole studies of error spans: recorded annotations beside what people marked."""

import csv
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.methods.spans import FORMS, words_of
from judgescope.parsing.annotation import MOST
from judgescope.parsing.text import locate
from judgescope.plan.specs.results import tables_of
from judgescope.schema.tables import read_table
from judgescope.statistics.spans import TextSpan, exact_counts
from report_setup import text_of_pages
from running import SHARED, needs_data, rows
from study import Study

Row = dict[str, str]
MARK = '<script>"&'
"""Words of a reply that must not become a part of the page."""


def annotated(folder: Path, judges: list[str], **keys: Any) -> Study:
    """Write a study of RotoWire's card with other files, and its recorded judges."""
    fields = {"study": "s", "seed": 1, "datasets": ["rotowire"], "methods": ["spans"]}
    study = Study(folder, fields, judges=judges)
    files = {"games": "../../games.csv", "spans": "../../spans.csv"}
    study.change("datasets", "rotowire", files=files, sha256={})
    for name in judges:
        model = {
            "files": f"../../{name}.jsonl",
            "rows": {"item": "item", "reply": "reply"},
        }
        study.card("models", name, engine="recorded", dataset="rotowire", **model)
        study.card(
            "judges", name, model=name, parser="annotation", **keys.get(name, {})
        )
    study.write()
    return study


def put_csv(path: Path, rows: list[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def put_replies(path: Path, replies: dict[str, Any]) -> None:
    collected = [
        json.dumps({"item": name, "reply": reply}) for name, reply in replies.items()
    ]
    path.write_text("\n".join(collected), encoding="utf-8")


def annotation(marked: list[Row]) -> str:
    """Return what people marked in a text, in the form in which annotators reply."""
    errors = [
        f"Error {number}:\nLocation: {row['TOKENS']}\nExplanation: Not so.\nSeverity: "
        "3\n"
        f"Category: {row['TYPE'].capitalize().replace('_', ' ')}\n"
        for number, row in enumerate(marked, 1)
    ]
    verdict = "Poor" if errors else "Excellent"
    return "\n".join(errors or ["No errors."]) + f"\nOverall score: {verdict}"


def game(number: int) -> Row:
    return {
        "TEXT_ID": f"G{number}",
        "GENERATED_TEXT": f"The Owls won {number} to 7 at home .",
    }


def mark(number: int, first: int, last: int, kind: str) -> Row:
    words = game(number)["GENERATED_TEXT"].split()[first - 1 : last]
    ends = {"DOC_TOKEN_START": str(first), "DOC_TOKEN_END": str(last)}
    return {
        "TEXT_ID": f"G{number}.txt",
        "TOKENS": " ".join(words),
        "TYPE": kind,
        **ends,
    }


GAMES = list(range(101, 113))
MARKS = {n: [mark(n, 2, 2, "NAME"), mark(n, 7, 8, "NOT_CHECKABLE")] for n in GAMES[:10]}


def agreement(results: Path, judge: str) -> dict[tuple[str, str, str], float | None]:
    """Return (statistic, form, level) -> value of the rows that compare with people."""
    table = [
        row for row in rows(results, "spans") if row["judge"] == judge and row["form"]
    ]
    return {
        (row["statistic"], row["form"], row["level"]): row["value"] for row in table
    }


def written_study(folder: Path) -> Study:
    """Write a study of two annotators, one of whom replies twice, and the mean of
    both.
    """
    put_csv(folder / "games.csv", [game(n) for n in GAMES])
    put_csv(folder / "spans.csv", [each for mark in MARKS.values() for each in mark])
    same = {f"G{n}": annotation(MARKS.get(n, [])) for n in GAMES}
    errors = [
        {"location": "Owls won", "explanation": MARK, "severity": 5, "category": MARK},
        {"location": "won", "explanation": "again", "severity": 1},
        {"location": "never there", "explanation": MARK, "severity": 2},
    ]
    wrong = json.dumps({"errors": errors, "overall_score": "Fair"})
    put_replies(folder / "same.jsonl", same)
    put_replies(folder / "wrong.jsonl", {f"G{n}": [wrong, "I cannot."] for n in GAMES})
    study = annotated(folder, ["same", "wrong"], wrong={"draws": 2})
    both = {"members": ["same", "wrong"], "combine": "mean", "min_annotators": 1}
    study.card("judges", "both", **both)
    study.keys["judges"] = ["same", "wrong", "both"]
    study.write()
    return study


@pytest.mark.slow
def test_annotations_that_exist_are_held_against_what_people_marked(
    tmp_path: Path,
) -> None:
    done = written_study(tmp_path).snakemake()
    assert done.returncode == 0, done.stdout[-3000:]
    results = tmp_path / "results" / "s"
    assert set(agreement(results, "same").values()) == {1}
    wrong = agreement(results, "wrong")
    # of 12 texts: 3 spans each, none the same as one of the 20 that people marked
    assert wrong["span_precision", "exact", "pooled"] == 0
    # words: Owls, won and two not found, 10 of 48 right; people's are Owls, at, home in
    # 10 texts
    assert wrong["span_precision", "tokens", "pooled"] == pytest.approx(10 / 48)
    assert wrong["span_recall", "tokens", "pooled"] == pytest.approx(10 / 30)
    by_statistic = {
        row["statistic"]: row
        for row in rows(results, "spans")
        if row["judge"] == "wrong"
    }
    assert by_statistic["span_match_rate"]["value"] == pytest.approx(2 / 3)
    assert (
        by_statistic["span_errors"]["value"],
        by_statistic["span_errors"]["n_missing"],
    ) == (3, 12)
    marked = read_table("marked", results / "collected" / "rotowire" / "marked.parquet")
    assert set(marked["judge"].to_pylist()) == {"same", "wrong", "both"}
    assert (
        len(marked) == 12 + 24 + 12
    )  # the mean of both has one list of a text, merged by rule
    both = {
        row["statistic"]: row
        for row in rows(results, "spans")
        if row["judge"] == "both"
    }
    assert both["span_errors"]["n"] == 12
    # Owls and Owls won overlap by half, which makes them one: 4 errors in 10 texts, 3
    # in two
    assert both["span_errors"]["value"] == pytest.approx((10 * 4 + 2 * 3) / 12)
    page = text_of_pages(results / "report")
    assert (
        len(re.findall('<div class="marking[" ]', page)) == 6 * 4
    )  # people and three judges
    assert MARK not in page and "&lt;script&gt;&#34;&amp;" in page


def test_a_study_plans_the_table_where_a_judge_lists_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = written_study(tmp_path)
    monkeypatch.chdir(tmp_path)

    def tables(**keys: Any) -> list[str]:
        return tables_of(study.plan(**keys))

    assert tables(judges=["same"]) == ["spans", "cost", "coverage", "verdicts"]
    assert "spans" in tables(methods=["agreement"])
    assert "spans" not in tables(methods=["agreement"], judges=["rules"])
    with pytest.raises(UserError, match="no judge of the study lists errors"):
        tables(judges=["rules"])


def once(marked: list[Row], tokens: list[str]) -> list[Row]:
    """Return those marks whose words stand once in a text, as many as an annotation may
    have.
    """

    def places(words: list[str]) -> int:
        each = range(len(tokens) - len(words) + 1)
        return sum(tokens[at : at + len(words)] == words for at in each)

    return [row for row in marked if places(row["TOKENS"].split()) == 1][:MOST]


def real() -> tuple[dict[str, str], dict[str, list[Row]], list[Row]]:
    """Return RotoWire's texts, what people marked in each, and its rows of games."""
    marked = defaultdict[str, list[Row]](list)
    with (SHARED / "rotowire" / "gsml.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            marked[row["TEXT_ID"].removesuffix(".txt")].append(row)
    with (SHARED / "rotowire" / "games.csv").open(encoding="utf-8", newline="") as file:
        games = list(csv.DictReader(file))
    return {game["TEXT_ID"]: game["GENERATED_TEXT"] for game in games}, marked, games


@needs_data
def test_what_quotes_can_tell_of_real_marks_is_what_the_documents_say() -> None:
    texts, marked, _ = real()
    right = total = 0
    for name, text in texts.items():
        tokens = words_of(text)
        own_part = sorted(marked[name], key=lambda row: int(row["DOC_TOKEN_START"]))
        ends = [
            (int(row["DOC_TOKEN_START"]), int(row["DOC_TOKEN_END"])) for row in own_part
        ]
        gold = [
            TextSpan(tokens[first - 1][0], tokens[last - 1][1]) for first, last in ends
        ]
        places = locate([row["TOKENS"] for row in own_part], text)
        collected = [
            TextSpan(location.start or 0, location.end or 0)
            for location in places
            if location.match != "not_found"
        ]
        right += exact_counts(collected, gold).matched
        total += len(own_part)
    limit = sum(min(MOST, len(own_part)) for own_part in marked.values())
    assert (total, round(right / total, 2), round(limit / total, 2)) == (
        1214,
        0.70,
        0.39,
    )


@pytest.mark.long(7)
@needs_data
@pytest.mark.slow
def test_real_marks_held_against_themselves_are_right(tmp_path: Path) -> None:
    """Those that a reply can tell: quotes do not say which of several equal words is
    meant.
    """
    texts, marked, games = real()
    by_name = {name: once(marked[name], text.split()) for name, text in texts.items()}
    put_csv(tmp_path / "games.csv", games)
    put_csv(
        tmp_path / "spans.csv",
        [row for own_part in by_name.values() for row in own_part],
    )
    put_replies(
        tmp_path / "people.jsonl",
        {name: annotation(own_part) for name, own_part in by_name.items()},
    )
    done = annotated(tmp_path, ["people"]).snakemake()
    assert done.returncode == 0, done.stdout[-3000:]
    assert sum(map(len, by_name.values())) > 300
    results = tmp_path / "results" / "s"
    result = agreement(results, "people")
    assert len(result) == 3 * len(FORMS) * 2 and set(result.values()) == {1}
    shares = {
        row["statistic"]: row["value"]
        for row in rows(results, "spans")
        if not row["form"]
    }
    assert (shares["span_match_exact"], shares["span_match_rate"]) == (1, 1)
