"""`judgescope audit`: what columns are taken for, exit codes, refusals, the page's
three forms.
"""

import ast
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit_setup import Rows, chosen, made, passed, two, write
from judgescope.cli.audit import table
from judgescope.cli.init.guess import guess
from judgescope.cli.init.long_tables import unfolded
from judgescope.cli.init.tables import InitTable
from judgescope.cli.main import main
from running import HOME

pytestmark = pytest.mark.heavy


def audit(path: Path, *words: str) -> int:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr("sys.argv", ["judgescope", "audit", str(path), *words])
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of pytest-xdist have a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str]]:
    """Return what audits rows: the exit code and what was printed."""
    monkeypatch.chdir(tmp_path)

    def run(rows: Rows, *words: str, name: str = "mine.csv") -> tuple[int, str]:
        status = audit(write(rows, Path(name)), *words)
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return run


Page = Callable[..., tuple[int, str]]
TITLES = {
    "Numbers": "numbers",
    "Judges by": "matrix",
    "Differences": "gaps",
    "Also in": "further",
    "Rows to": "rows",
    "By ": "slices",
    "This file": "supports",
    "One more": "adds",
    "At most": "last",
}
"""How a part of the page begins -> its name."""


def parts_of(text: str) -> dict[str, str]:
    """The parts of a page by name, in their order."""
    columns, verdict, *others = text.strip().split("\n\n")
    parts = {"columns": columns, "verdict": verdict}
    for part in others:
        begins = [begin for begin in TITLES if part.startswith(begin)]
        parts[TITLES[begins[0]] if begins else "picture"] = part
    return parts


def test_the_page_says_columns_verdict_and_what_a_further_column_adds(
    page: Page,
) -> None:
    status, text = page(made())
    parts = parts_of(text)
    assert list(parts) == [
        *("columns", "verdict", "picture", "numbers"),
        *("rows", "supports", "adds", "last"),
    ]
    columns, verdict, _, _, _, supports, adds, _ = parts.values()
    assert status == 0
    assert "rating      quality: Quality (Anna), Quality (Ben)" in columns
    assert (
        "judge       gpt4: quality_gpt4" in columns and "not used    seconds" in columns
    )
    assert "60 rows, 7 columns" in columns
    assert verdict.startswith("gpt4 ")
    assert "\ngpt4: Better than chance at agreeing with people on Quality (" in verdict
    assert (
        "people: one rater's agreement with the others on Quality: Pairwise correlation"
        in verdict
    )
    assert "60 of 60 texts, 12 of 12 sources" in supports and "5 systems" in supports
    assert (
        "second draw" in adds
        and "second rater" not in adds
        and "the system" not in adds
    )


def test_a_judge_has_the_id_of_its_card_in_the_list_of_columns(page: Page) -> None:
    rows = [{**row, "bleu": row["quality_gpt4"]} for row in made(100)]
    status, text = page(rows, "--judge", "bleu")
    assert status == 0 and "judge       bleu\n" in text


def test_the_readme_shows_the_verdict_on_the_shipped_ratings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    readme = (HOME / "README.md").read_text("utf-8")
    before, _, after = readme.partition("    relevance_judge_beluga_13b: As good as")
    shown = after.partition("\n\n")[0]
    [line] = re.findall(r"judgescope audit config/demo/hanna.csv(.*\n.*)", before)
    words = shlex.split(line.replace("\\\n", ""))
    assert audit(HOME / "config" / "demo" / "hanna.csv", *words) == 0
    printed = capsys.readouterr().out
    for judge in shown.split("\n    relevance_"):
        assert " ".join(judge.split()) in " ".join(printed.split())


def test_two_columns_are_enough_and_the_page_says_what_they_lack(page: Page) -> None:
    status, text = page(two())
    parts = parts_of(text)
    supports = parts["supports"]
    adds = parts["adds"]
    assert status == 0 and "\njudge: Better than chance" in parts["verdict"]
    assert (
        "over all texts on 60 of 60 texts, 60 of 60 sources" in supports
        and "length" not in supports
    )
    for lacking in (
        "second rater",
        "the system",
        "the source",
        "the texts",
        "second draw",
    ):
        assert f"- {lacking}" in adds.replace("a second", "second")


def test_scores_without_texts_are_joined_by_source_and_system(page: Page) -> None:
    rows = [
        {"question": f"q{at // 5}", "system": f"s{at % 5}", **row}
        for at, row in enumerate(two())
    ]
    status, text = page(rows)
    assert status == 0 and "source      question" in text
    assert "within sources on 60 of 60 texts, 12 of 12 sources" in text
    status, text = page([{**row, "question": f"q{at}"} for at, row in enumerate(two())])
    assert status == 0 and "60 of 60 texts, 60 of 60 sources" in text


def test_ids_of_rows_that_share_a_source_are_named_as_a_problem(page: Page) -> None:
    texts = [
        {
            "id": at,
            "question": f"q{at // 5}",
            "answer": f"word {at} " * (at % 7 + 2),
            **row,
        }
        for at, row in enumerate(two())
    ]
    supports = parts_of(page(texts)[1])["supports"].replace("\n    ", " ")
    assert (
        "intervals that are too narrow: 60 items count as independent, but have only"
        in supports
    )
    assert "only 12 sources; name the source's id (--item)" in supports
    assert (
        "too narrow" not in page([{**row, "question": row["id"]} for row in texts])[1]
    )


def test_other_texts_than_those_taken_for_the_judged_ones_are_named_at_the_verdict(
    page: Page,
) -> None:
    rows = [
        {
            "task": f"Write at length about mill {at} at Orrin, by the river.",
            "result": f"It is down {at}.",
            **row,
        }
        for at, row in enumerate(two())
    ]
    verdict = page(rows)[1].split("\n\n")[1]
    assert "\nColumns with texts that are not used: result. " in verdict
    shared = [
        {**row, "task": f"Write at length about mill {at // 5} at Orrin, by the river."}
        for at, row in enumerate(rows)
    ]
    status, text = page(
        [{**row, "writer": "abcde"[at % 5]} for at, row in enumerate(shared)]
    )
    assert status == 0 and "12 of 12 sources" in text and "not used" not in text


def test_an_aspect_is_displayed_as_its_columns_spell_it(page: Page) -> None:
    rows = [{"güte_1": row["human"], "güte_judge": row["judge"]} for row in two()]
    status, text = page(rows)
    assert status == 0 and "rating      Güte: güte_1" in text
    assert (
        "judge: güte_judge (Güte)" in text and "agreeing with people on Güte (" in text
    )
    rows = [{"güte": row["human"], "judge": row["judge"]} for row in two()]
    assert "agreeing with people on Güte (" in page(rows, "--human", "güte=güte")[1]


def test_columns_named_after_people_are_raters_and_the_page_says_why(
    page: Page,
) -> None:
    rows = [
        {
            "anna": row["Quality (Anna)"],
            "ben": row["Quality (Ben)"],
            "gpt4": row["quality_gpt4"],
        }
        for row in made()
    ]
    text = page(rows)[1]
    assert "Assumed:    anna, ben" in text and "names of people" in text
    assert "Assumed:" not in page(rows, "--human", "overall=anna,ben")[1]


def test_aspects_without_cards_may_be_raters_and_the_page_says_how(page: Page) -> None:
    rows = [
        {
            "tone": row["Quality (Anna)"],
            "style": row["Quality (Ben)"],
            "gpt4": row["quality_gpt4"],
        }
        for row in made()
    ]
    hint = "if these are raters of one aspect, add --human overall=tone,style"
    assert f"note        {hint}" in page(rows)[1]
    notes = json.loads(page(rows, "--json")[1])["notes"]
    assert hint in notes
    assert "note  " not in page(rows, "--human", "overall=tone,style")[1]


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (["2", "~4"], "judge (row 3 has '~4', which is not a number)"),
        (
            ["no", "maybe"],
            "judge (row 3 has 'maybe', which is not a label or a choice)",
        ),
    ],
)
def test_a_column_named_judge_that_cannot_be_read_is_explained(
    page: Page, cells: list[str], reason: str
) -> None:
    rows = [{**row, "judge": cells[at > 0]} for at, row in enumerate(two(20))]
    status, text = page(rows)
    assert status == 3 and f"skipped: {reason}" in text


UNREAD: dict[str, tuple[list[Any], str]] = {
    "an outlier": (
        [-99],
        "row 2 has '-99', which is outside the scale 1 to 5 of most cells): ",
    ),
    "dates": (
        ["04.05.2024"] * 60,
        "row 2 has '04.05.2024', which is a date): write the",
    ),
    "no values": ([""] * 60, "it has no values): fill it in"),
}


@pytest.mark.parametrize("fault", sorted(UNREAD))
def test_a_raters_column_that_is_not_used_is_named_with_the_reason(
    page: Page, fault: str
) -> None:
    cells, text = UNREAD[fault]
    rows = made()
    for row, cell in zip(rows, cells, strict=False):
        row["Quality (Ben)"] = cell
    columns = page(rows)[1].split("\n\n")[0]
    assert f"note: not read as ratings: Quality (Ben) ({text}" in columns
    assert (
        "not used    Quality (Ben), seconds" in columns and "seconds (" not in columns
    )


def test_an_invalid_label_or_choice_of_a_rater_is_named_with_the_nearest(
    page: Page,
) -> None:
    labels = passed()
    labels[2]["human_2"] = "fial"
    reason = (
        "human_2 (row 4 has 'fial', which is not a label or a choice): if it stands "
        "for nothing, add --missing fial; if it is a label, name all: --labels"
    )
    assert f"note: not read as ratings: {reason}" in page(labels)[1]
    choices = [{**row, "ben": row["winner (Ben)"]} for row in chosen()]
    choices[4]["ben"] = "C"
    reason = (
        "ben (row 6 has 'C', which is not a label or a choice): if it stands for "
        "nothing, add --missing C"
    )
    assert f"note: not read as ratings: {reason}" in page(choices)[1]


def test_other_columns_are_not_reported_to_look_like_ratings(page: Page) -> None:
    others = {"judge_model": "gpt-4o", "quality_comment": "fine", "price": 0, "seed": 3}
    others |= {"judge_reason": "ok", "gpt4_cost": "0.1$", "judge_error": "", "Set": "A"}
    rows = [{**row, **others, "price": at * 37} for at, row in enumerate(made())]
    rows = [
        {**row, "llm": ("gpt-4o", "Claude 3")[at % 2]} for at, row in enumerate(rows)
    ]
    rows[7]["Set"] = "x y"
    status, text = page(rows, "--require", "spearman=.3")
    assert status == 0 and "note: not read" not in text


@pytest.mark.parametrize("cell", ["", " NaN ", "nan"])
def test_a_score_or_choice_may_be_missing_as_pandas_writes_it(
    page: Page, cell: str
) -> None:
    rows = made()
    rows[4]["quality_gpt4"] = cell
    claims = json.loads(page(rows, "--json")[1])["judges"]["gpt-4"]["claims"]
    assert claims[0]["n"] == 59 and claims[0]["n_missing"] == 1
    choices = chosen()
    choices[4]["gpt4_winner"] = cell
    claims = json.loads(page(choices, "--json")[1])["judges"]["gpt4_winner"]["claims"]
    assert (claims[0]["n"], claims[0]["n_missing"]) == (29, 1)


def test_the_page_counts_missing_ratings_scores_and_choices(page: Page) -> None:
    rows = made()
    for at in range(30):
        rows[at]["Quality (Ben)"] = ("", "NA")[at % 2]
    for at in range(6):
        rows[at]["quality_gpt4"] = ("NaN", None)[at % 2]
    status, text = page(rows)
    assert (
        status == 0
        and "values 1 to 5; Quality (Ben): 30 of 60 ratings missing)" in text
    )
    assert "judge       gpt4: quality_gpt4 (quality; 6 of 60 scores missing)" in text
    assert "no interval: 6 sources)." in " ".join(text.split()) and "(n = 30; " in text
    for name in ("mine.csv", "mine.jsonl"):
        columns = json.loads(page(rows, "--json", name=name)[1])["columns"]
        assert columns["missing"] == {"Quality (Ben)": 30, "quality_gpt4": 6}
    choices = chosen()
    choices[3]["winner (Ben)"] = choices[4]["gpt4_winner"] = choices[5][
        "gpt4_winner"
    ] = "NaN"
    text = page(choices)[1]
    assert "winner (Anna), winner (Ben) (winner (Ben): 1 of 60 choices missing)" in text
    assert "judge       gpt4_winner (2 of 60 choices missing)" in text
    assert "missing" not in page(made())[1] and "] (n = " in page(made())[1].replace(
        "\n  ", " "
    )


def test_a_text_of_nan_and_a_rating_beyond_the_scale_are_named(page: Page) -> None:
    rows = made()
    rows[3]["answer"], rows[5]["Quality (Ben)"] = "NaN", 9
    columns = page(rows)[1].split("\n\n")[0]
    assert (
        "note        1 text consisting of `nan` instead of words: mine.csv, row 5"
        in columns
    )
    outside = "outside the scale 1 to 5 of the others: Quality (Ben), row 7: 9"
    assert (
        "scale 1:10:1; " in columns
        and f"note        check ratings {outside}" in columns
    )
    assert (
        "note  " not in page(made())[1]
        and "check" not in page(rows, "--scale", "1:9:1")[1]
    )


def test_without_texts_the_verdict_says_that_length_is_not_tested(page: Page) -> None:
    scores = np.random.default_rng(1).integers(1, 6, 60)
    rows = [
        {"human": int(a), "judge": int(b)}
        for a, b in zip(scores, scores[::-1], strict=True)
    ]
    verdict = page(rows)[1].split("\n\n")[1]
    assert "not shown to be above chance" in verdict
    assert "length not tested" in " ".join(verdict.split())
    assert "the texts' length" not in verdict and "short texts" not in verdict


def test_a_bar_on_labels_says_that_ratings_are_numbers(page: Page) -> None:
    status, text = page(two(), "--require", "tnr=.5")
    needs = (
        "Bad caught (it needs labels such as pass/fail; the ratings are numbers 1 to 5)"
    )
    assert status == 2 and needs in " ".join(text.split())
    status, text = page(two(), "--require", "accuracy_comparison_half=.5")
    assert status == 2 and "(this file does not support it)" in " ".join(text.split())


def test_a_json_object_is_not_a_choice(page: Page) -> None:
    rows = [{"human": {"name": "x"}, "judge": row["judge"]} for row in two(20)]
    status, text = page(rows, name="mine.jsonl")
    assert status == 3 and "cannot tell which column has people's ratings" in text


def test_a_judge_that_knows_nothing_is_not_shown_to_be_better_than_chance(
    page: Page,
) -> None:
    scores = np.random.default_rng(0).permutation([row["judge"] for row in two(200)])
    rows = [
        {**row, "judge": int(score)}
        for row, score in zip(two(200), scores, strict=True)
    ]
    assert "judge: Not shown to be better" in page(rows)[1]


def test_long_and_wide_tables_and_all_file_types_give_the_same_numbers(
    page: Page,
) -> None:
    def claims(rows: Rows, name: str) -> Any:
        judges = json.loads(page(rows, "--json", name=name)[1])["judges"]
        [judge] = judges.values()
        shown = judge["claims"][0]
        return [shown[key] for key in ("value", "ci_low", "ci_high", "n", "outcome")]

    wide = [
        {k: v for k, v in row.items() if k not in {"answer", "seconds"}}
        for row in made()
    ]
    raters = {"Quality (Anna)": "anna", "Quality (Ben)": "ben", "quality_gpt4": "gpt-4"}
    folded = [
        {
            "item_id": row["id"],
            "system": row["model"],
            "rater": name,
            "score": row[column],
        }
        for row in wide
        for column, name in raters.items()
    ]
    expected = claims(wide, "wide.csv")
    assert expected[0] > 0.5
    assert claims(folded, "long.csv") == expected
    assert claims(wide, "wide.jsonl") == claims(wide, "wide.parquet") == expected


def test_a_long_table_has_aspects_and_says_which_raters_are_models() -> None:
    rows = [
        {
            "id": at,
            "dimension": name,
            "annotator": who,
            "type": kind,
            "value": at % 3 + 1,
        }
        for at in range(6)
        for name in ("Fluency", "Use of facts")
        for who, kind in (("kim", "person"), ("zed", "model"))
    ]
    sheet = InitTable(Path("x.csv"), range(len(rows)), rows, list(rows[0]), [])
    wide = unfolded(sheet, {})
    known = wide.known
    assert known is not None and len(wide.rows) == 6
    assert known.ratings == {
        "fluency": ["kim (fluency)"],
        "use-of-facts": ["kim (use-of-facts)"],
    }
    assert known.judges == {
        "zed": {"fluency": "zed (fluency)", "use-of-facts": "zed (use-of-facts)"}
    }


def test_a_remark_on_each_rating_of_a_long_table_is_not_the_judged_text() -> None:
    text = "Ein langer Text über die alte Mühle am Fluss, Nummer"
    rows = [
        {
            "passus": f"{text} {at}",
            "rater": rater,
            "score": at,
            "warum": f"weil es {at} {rater} ist",
        }
        for at in range(4)
        for rater in ("ann", "gpt-4")
    ]
    long = unfolded(InitTable(Path("x.csv"), range(2, 10), rows, [*rows[0]], []), {})
    assert (
        long.known is not None and long.known.text == "passus" and len(long.rows) == 4
    )


def test_many_raters_of_a_long_table_share_a_column() -> None:
    rows = [
        {"id": at % 10, "worker_id": f"w{at}", "rating": at % 5, "x": 1}
        for at in range(30)
    ] + [{"id": at, "worker_id": "gpt", "rating": 2, "x": 1} for at in range(10)]
    sheet = InitTable(Path("x.csv"), range(40), rows, list(rows[0]), [])
    wide = unfolded(sheet, {})
    known = wide.known
    assert known is not None and known.ratings == {"overall": ["people"]}
    assert wide.rows[0]["people"] == [0, 0, 0] and wide.rows[0]["gpt"] == 2


@pytest.mark.parametrize(
    ("bar", "status", "word"),
    [
        ("spearman=.3", 0, "meets"),
        ("spearman=.99", 1, "misses"),
        ("spearman=.7", 2, "cannot tell"),
    ],
)
def test_the_exit_code_says_whether_the_bar_is_met(
    page: Page, bar: str, status: int, word: str
) -> None:
    code, text = page(two(), "--require", bar)
    assert (
        code,
        f"Required minimums (bars): {word} (exit code {status})." in text,
    ) == (
        status,
        True,
    )
    assert len(text.split("\n\n")[1].splitlines()) <= 10


UNREAD_JUDGES: dict[str, tuple[list[Any], str]] = {
    "one word": (["high"], "if it stands for no score, add --missing high"),
    "no values": ([""] * 60, "it has no values"),
    "no text that people rated": (
        [*["" for _ in range(30)], *range(30)],
        "no row has both",
    ),
}


@pytest.mark.parametrize("fault", sorted(UNREAD_JUDGES))
def test_a_bar_is_not_met_without_a_judge_that_cannot_be_read(
    page: Page, fault: str
) -> None:
    cells, message = UNREAD_JUDGES[fault]
    rows = [{**row, "gpt4": at} for at, row in enumerate(two())]
    for at, row in enumerate(rows):
        row["gpt4"] = cells[at] if at < len(cells) else at
        row["human"] = row["human"] if at < 30 else ""
    status, text = page(rows, "--require", "spearman=.3")
    assert status == 3 and "column gpt4\n" in text and message in text
    assert "or name the judges that must meet the bar: --judge judge" in text
    assert (
        page(rows)[0]
        == page(rows, "--require", "spearman=.3", "--judge", "judge")[0]
        == 0
    )
    assert "note: not read as ratings: gpt4 (" in page(rows)[1]


BROKEN: dict[str, tuple[Rows, str]] = {
    "no judge": (
        [{"human": row["human"], "note": "x"} for row in two()],
        "a judge's scores",
    ),
    "no people": (
        [{"judge": row["judge"], "note": "x"} for row in two()],
        "people's ratings",
    ),
    "apart": (
        [
            {"human": 1 + at % 5 if at % 2 else "", "judge": "" if at % 2 else at % 3}
            for at in range(40)
        ],
        "no row has both a judge's score",
    ),
    "constant judge": (
        [{**row, "judge": 3} for row in two()],
        "all values are the same",
    ),
    "constant people": (
        [{**row, "human": 3} for row in two()],
        "all values are the same",
    ),
    "words": (
        [{**row, "judge": ["4", "four"][at == 9]} for at, row in enumerate(two())],
        "'four'",
    ),
    "braces": (
        [{"human": row["human"], "judge {form}": row["judge"]} for row in two()],
        "contains a brace",
    ),
    "one row": (two()[:1], "agreement needs at least two rows"),
    "texts twice": (
        [{**row, "model": "s0"} for row in made()],
        "two texts of the same system",
    ),
}


@pytest.mark.parametrize("fault", sorted(BROKEN))
def test_input_that_cannot_be_used_is_named_with_code_3(page: Page, fault: str) -> None:
    rows, text = BROKEN[fault]
    status, page_said = page(rows)
    assert status == 3 and text in page_said and "Traceback" not in page_said
    assert "mine.csv" in page_said


def test_several_rows_of_an_error_are_those_of_the_file(page: Page) -> None:
    rows = made()
    rows[1]["model"] = rows[0]["model"]
    assert "where:   mine.csv, rows 2, 3\n" in page(rows)[1]
    many = ", ".join(
        str(at) for at, row in enumerate(made(), 2) if row["Quality (Ben)"] == 5
    )
    text = page(made(), "--scale", "1:4:1", "--human", "quality=Quality (Ben)")[1]
    first = ", ".join(many.split(", ")[:5])
    assert (
        f"where:   mine.csv, rows {first}, … ({len(many.split(', '))} in all), column"
        in text
    )


@pytest.mark.parametrize(
    ("words", "words_of_page"),
    [
        (["--judge", "jugde"], "nearest: judge"),
        (["--require", "spearman"], "(bar) must be a statistic and a number"),
        (["--require", "spearmann=.5"], "where: --require got: 'spearmann'"),
        (["--scale", "1:2"], "outside the scale"),
        (["--human", "human", "--judge", "human"], "only one role"),
        (["--html", "no/folder.html"], "folder not found"),
    ],
)
def test_wrong_words_are_named_with_code_3(
    page: Page, words: list[str], words_of_page: str
) -> None:
    status, page_said = page(two(), *words)
    assert status == 3 and words_of_page in " ".join(page_said.split())


@pytest.mark.parametrize("option", ["--systm", "--systm=model"])
def test_the_nearest_option_is_named(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit(Path("x.csv"), option) == 3
    assert (
        f"unknown options: {option}, did you mean --system?" in capsys.readouterr().err
    )
    assert audit(Path("x.csv"), "--qqq") == 3
    assert "did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "todo"),
    [
        (
            [*made(), {**made()[0], "id": "q99", "answer": ""}],
            "write it, or remove the row",
        ),
    ],
)
def test_an_error_of_empty_cells_says_what_to_do(
    page: Page, rows: Rows, todo: str
) -> None:
    status, text = page(rows)
    assert status == 3 and "mine.csv, row 62" in text and f"do:      {todo}" in text


def test_a_table_of_names_without_rows_says_what_to_add(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.csv").write_text("human,judge\n")
    assert audit(tmp_path / "x.csv") == 3
    assert "do:      add a row for each judged text" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--json=5", "--jsn"])
def test_an_unknown_option_is_no_missed_bar(option: str) -> None:
    assert audit(Path("x.csv"), option) == 3


def test_of_several_files_their_folder_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status = audit(Path("logs/a.json"), "logs/b.json", "logs/c.json", "logs/d.json")
    errors = capsys.readouterr().err
    assert status == 3 and "4 files: logs/a.json, logs/b.json, logs/c.json, …" in errors
    assert "judgescope audit logs\n" in errors and "option" not in errors


def test_a_closed_pipe_is_no_missed_bar(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("os.dup2", lambda *_: None)
    monkeypatch.setattr("sys.stdout.fileno", lambda: 1, raising=False)
    monkeypatch.setattr(table, "draft_of", closed)
    assert page(two())[0] == 3


def test_a_file_that_is_too_large_is_refused_before_it_is_read(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "MOST_ROWS", 50)
    assert page(two())[0] == 3
    monkeypatch.setattr(table, "MOST_BYTES", 50)
    status, text = page(two())
    assert status == 3 and "too large for an audit" in text and "bytes" in text


def test_columns_can_be_named(page: Page) -> None:
    rows = [{"a": row["human"], "b": row["human"], "c": row["judge"]} for row in two()]
    words = ["--human", "a", "--human", "b", "--judge", "c"]
    columns = json.loads(page(rows, *words, "--json")[1])["columns"]
    assert columns["people"] == {"overall": ["a", "b"]} and columns["judges"] == {
        "c": {"*": "c"}
    }
    by_aspect = ["--human", "clarity=a,b", "--judge", "clarity=c"]
    columns = json.loads(page(rows, *by_aspect, "--json")[1])["columns"]
    assert columns["people"] == {"clarity": ["a", "b"]}
    assert columns["judges"] == {"c": {"clarity": "c"}}


def test_where_names_say_who_are_people_the_rest_is_a_judge(page: Page) -> None:
    rows = [{"human_score": row["human"], "score": row["judge"]} for row in two()]
    columns = json.loads(page(rows, "--json")[1])["columns"]
    assert columns["people"] == {"overall": ["human_score"]}
    assert columns["judges"] == {"score": {"*": "score"}}


def test_what_data_say_is_text_in_the_terminal_and_on_the_page(page: Page) -> None:
    bad = "judge <script>alert(1)</script>\x1b[31m __import__('os')"
    rows = [{"human {{7*7}}": row["human"], bad: row["judge"]} for row in two()]
    status, text = page(rows, "--html", "page.html", name="mine.jsonl")
    html = Path("page.html").read_text(encoding="utf-8")
    assert status == 0 and "\x1b" not in text
    assert (
        "<script>alert" not in html
        and "&lt;script&gt;alert(1)" in html
        and "{{7*7}}" in html
    )
    assert "Spearman" in html and "One more column would add" in html


def test_the_evidence_on_the_page_names_each_of_several_judges(page: Page) -> None:
    rows = [{**row, "gpt4_judge": 5 - row["human"]} for row in two()]
    assert page(rows, "--html", "page.html")[0] == 0
    html = Path("page.html").read_text(encoding="utf-8")
    assert "Evidence: judge<" in html and "Evidence: gpt4_judge<" in html
    assert page(two(), "--html", "page.html")[0] == 0
    assert "Evidence<" in Path("page.html").read_text(encoding="utf-8")


def test_a_study_is_written_once_and_nothing_else(page: Page, tmp_path: Path) -> None:
    assert page(made(), "--write", "study")[0] == 0
    kinds = {path.parts[-2] for path in Path("study").rglob("*.yaml")}
    assert kinds == {"aspects", "datasets", "judges", "models", "studies"}
    assert not (Path("study") / "results").exists()
    status, text = page(made(), "--write", "study")
    assert status == 3 and "already exists" in text
    assert page(made())[0] == 0 and sorted(p.name for p in tmp_path.iterdir()) == [
        "mine.csv",
        "study",
    ]


def test_names_say_which_columns_are_of_people_and_which_of_judges() -> None:
    row = {
        "Coherence (Anna)": 4,
        "Coherence (Ben)": 3,
        "coherence_gpt4": 4,
        "coherence_std": 0.5,
    }
    row |= {
        "BERTScore": 0.9,
        "rougeL": 0.2,
        "Claude 3.5 Sonnet": 4,
        "fluency": 2,
        "llm fluency": 3,
    }
    result = guess([row, {**row, "fluency": 5}])
    assert result.ratings == {
        "coherence": ["Coherence (Anna)", "Coherence (Ben)"],
        "fluency": ["fluency"],
    }
    assert result.judges == {
        "gpt-4": {"coherence": "coherence_gpt4"},
        "bertscore": {"*": "BERTScore"},
        "rougel": {"*": "rougeL"},
        "claude-3-5-sonnet": {"*": "Claude 3.5 Sonnet"},
        "llm": {"fluency": "llm fluency"},
    }


def test_pass_and_fail_are_labels_and_a_judge_with_points_has_a_threshold(
    page: Page,
) -> None:
    status, text = page(passed(), "--require", "tnr=.8")
    assert (
        status == 1
        and "rating      overall: human_1, human_2 (scale fail, pass; " in text
    )
    assert "Misses the required bar: Bad caught of at least" in " ".join(text.split())
    assert "  x Bad caught of at least" in text
    judges = json.loads(page(passed(), "--require", "tnr=.8", "--json")[1])["judges"]
    shown = {
        (judge, claim["kind"]): claim
        for judge, each in judges.items()
        for claim in each["claims"]
    }
    truth = [[row["human_1"], row["human_2"]] for row in passed()]
    bad = [
        at for at, words in enumerate(truth) if "fail" in words
    ]  # of two, the lower median
    total = sum(passed()[at]["gpt_verdict"] == "fail" for at in bad) / len(bad)
    assert shown["gpt_verdict", "bar tnr"]["value"] == pytest.approx(total)
    assert shown["gpt_verdict", "bar tnr"]["outcome"] == "misses"
    assert (
        shown["gpt_score", "labels"]["value"] > shown["gpt_verdict", "labels"]["value"]
    )


def test_choices_between_two_texts_are_compared_with_peoples(page: Page) -> None:
    status, text = page(chosen(), "--require", "accuracy_comparison_half=.6")
    parts = parts_of(text)
    columns = parts["columns"]
    verdict = parts["verdict"]
    supports = parts["supports"]
    adds = parts["adds"]
    assert status == 0 and "Required minimums (bars): meets (exit code 0)." in verdict
    assert "texts       answer_a, answer_b" in columns and "model_a, model_b" in columns
    assert "choice      overall: winner (Anna), winner (Ben)" in columns
    assert "judge       gpt4_winner" in columns
    assert "Better than chance at choosing the better of two texts" in verdict.replace(
        "\n  ", " "
    )
    assert "60 pairs, 30 sources" in supports
    reason = "these are choices between texts of 4 systems"
    assert f"no test of a preference for systems: {reason}" in " ".join(
        supports.split()
    )
    assert (
        "in reverse order" in adds
        and "second rater" not in adds
        and "the system" not in adds
    )
    names = ["q", "1st", "2nd", "who"]
    keys = ["question", "answer_a", "answer_b", "winner (Anna)"]
    rows = [
        {
            **{name: row[key] for name, key in zip(names, keys, strict=True)},
            "gpt": row["gpt4_winner"],
        }
        for row in chosen()
    ]
    content = json.loads(page(rows, "--texts", "1st", "2nd", "--json")[1])
    assert content["columns"]["texts"] == ["1st", "2nd"]
    assert content["columns"]["people"] == {"overall": ["who"]}


def test_a_long_table_of_choices_names_systems_and_has_a_row_per_judge(
    page: Page,
) -> None:
    shown = json.loads(page(chosen(), "--json")[1])["judges"]
    rows = [
        {
            **{
                key: row[key]
                for key in ("question", "model_a", "model_b", "answer_a", "answer_b")
            },
            "annotator": name,
            "winner": "tie (both bad)"
            if choice == "tie"
            else row[f"model_{choice.lower()}"],
        }
        for row in chosen()
        for name, choice in (
            *(("anna", row["winner (Anna)"]), ("ben", row["winner (Ben)"])),
            ("gpt-4", row["gpt4_winner"]),
        )
    ]
    long_shown = json.loads(page(rows, "--json")[1])["judges"]
    numbers = ("value", "ci_low", "ci_high", "n", "outcome")
    assert [
        [claim[key] for key in numbers] for claim in long_shown["gpt-4"]["claims"]
    ] == [
        [claim[key] for key in numbers]
        for [judge] in [[*shown.values()]]
        for claim in judge["claims"]
    ]


def _judged(page: Page, rows: Rows) -> tuple[dict[str, Any], list[list[Any]]]:
    content = json.loads(page(rows, "--json")[1])
    [judge] = content["judges"].values()
    names = ("value", "ci_low", "ci_high", "n", "outcome")
    return content, [[claim[name] for name in names] for claim in judge["claims"]]


def test_a_location_in_the_row_is_no_system(page: Page) -> None:
    """The same numbers, and no words on systems; a text may be on both sides."""
    rows = [
        {k: v for k, v in row.items() if not k.startswith("model")} for row in chosen()
    ]
    content, numbers = _judged(page, rows)
    text = json.dumps(content)
    assert "systems only" not in text and "these 2 systems" not in text
    assert "the system that wrote each text" in text
    assert numbers == _judged(page, chosen())[1]
    for at in (0, 1):  # of one question: four texts, two of them on each side
        row = rows[2 * at]
        row["question"], row["answer_a"], row["answer_b"] = (
            "Q?",
            row["answer_b"],
            row["answer_a"],
        )
        rows.append({**row, "answer_a": row["answer_b"], "answer_b": f"another {at}"})
    assert page(rows, name="turned.csv")[0] == 0


def test_choices_between_systems_need_no_texts(page: Page) -> None:
    rows = [
        {k: v for k, v in row.items() if not k.startswith("answer")} for row in chosen()
    ]
    content, numbers = _judged(page, rows)
    assert content["columns"]["systems"] == ["model_a", "model_b"]
    assert content["columns"]["texts"] == [] and "the texts" in str(content["adds"])
    expected = _judged(page, chosen())[1]
    assert [number[0] for number in numbers] == [number[0] for number in expected]
    by_id = [{**row, "question": at // 2} for at, row in enumerate(rows)]
    by_id = [{"question_id": row.pop("question"), **row} for row in by_id]
    assert _judged(page, by_id)[1] == numbers


def test_systems_that_wrote_for_few_sources_are_not_tested(page: Page) -> None:
    rows = [
        {
            **row,
            "model_a": f"m{at % 6}",
            "model_b": f"m{(at + 1) % 6}",
            "question": f"{at}?",
        }
        for at, row in enumerate(chosen())
    ]
    text = " ".join(page(rows)[1].split())
    reason = "these are choices between texts of 6 systems"
    assert f"no test of a preference for systems: {reason}" in text


def test_choices_between_nothing_are_refused_with_what_to_add(page: Page) -> None:
    rows = [
        {"human": row["winner (Anna)"], "judge": row["gpt4_winner"]} for row in chosen()
    ]
    status, text = page(rows)
    assert (
        status == 3
        and "not the two texts or systems of each choice" in text
        and "human, judge" in text
    )
    assert "answer_a, answer_b" in text and "model_a, model_b" in text


def test_an_audit_computes_nothing_itself() -> None:
    """Its numbers are those of a study's jobs: it imports no function of statistics."""
    imported = {
        (node.module, name.name)
        for path in Path(table.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
        for name in node.names
    }
    modules = {module.split(".")[0] for module, _ in imported}
    assert not modules & {"numpy", "scipy", "statistics", "pandas"}
    used = {
        name for module, name in imported if module.startswith("judgescope.statistics")
    }
    assert used == {
        "Bin",
        "Calibration",
        "FEWEST_SOURCES",
        "Guarantee",
        "HeadlineRule",
        "Merit",
        "LEVEL",
        "ONE_LABEL",
        "Outcome",
        "Sign",
        "cut",
        "headline",
        "legend_of_signs",
        "merit",
        "statistic",
    }
    assert ("judgescope.methods.evaluate", "statistics") in imported


def test_0_and_1_are_labels_unless_a_scale_is_stated(page: Page) -> None:
    words = {"pass": 1, "fail": 0}
    rows = [
        {"human": words[row["human_1"].lower()], "judge": words[row["gpt_verdict"]]}
        for row in passed()
    ]
    assert "balanced_accuracy" in page(rows, "--json")[1]
    assert "balanced_accuracy" not in page(rows, "--json", "--scale", "0:1:1")[1]


def test_steps_that_no_binary_number_has_are_values_of_a_scale(page: Page) -> None:
    """0.6 is not 0 + 3 * 0.2 in floating point."""
    rows = [{"human": row["human"] / 5, "judge": row["judge"] / 5} for row in two()]
    words = ("--scale", "0.2:1:0.2", "--require", "kappa_linear=0.1")
    assert page(rows, *words)[0] == 0
    assert page([*rows, {"human": 0.6, "judge": 0.5}], *words)[0] == 2


def test_numbers_beyond_all_bounds_are_no_ratings(page: Page) -> None:
    rows = [{"human": 10**400, "judge": row["judge"]} for row in two()]
    status, text = page(rows, name="mine.jsonl")
    assert status == 3 and "people's ratings" in text


def test_a_fault_of_the_program_is_no_missed_bar(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("of the test")

    monkeypatch.setattr(table, "draft_of", fail)
    status, text = page(two(), "--require", "spearman=.5")
    assert status == 3 and "ZeroDivisionError: of the test" in text


def beside(others: int, n: int = 100) -> Rows:
    """Return texts with the judge gpt-4 and other judges, whose scores differ in scale
    and in what is missing.
    """
    rng = np.random.default_rng(11)
    rows = []
    for at, row in enumerate(made(n)):
        more: dict[str, Any] = {}
        for number in range(others):
            score = float(np.clip(row["Quality (Ben)"] + rng.normal(), 1, 5))
            if number % 4 == 1:
                score *= 20
            if number % 4 == 2:
                score = 3.0
            lost = number % 4 == 3 and at % 9 == 0
            more[f"quality_claude{number}"] = "" if lost else round(score, 2)
        rows.append({**row, **more})
    return rows


def unsigned(content: Any) -> Any:
    """Return what JSON says, without signatures: these name the file by its hash."""
    if isinstance(content, list):
        return [unsigned(each) for each in content]
    if not isinstance(content, dict):
        return content
    return {k: unsigned(each) for k, each in content.items() if k != "signature"}


def test_a_judge_of_labels_is_described_alike_beside_others(page: Page) -> None:
    both = [{**row, "bert": row["gpt_score"] * 100} for row in passed(100)]
    alone = [{k: row[k] for k in row if k not in ("gpt_score", "bert")} for row in both]
    judges = json.loads(page(both, "--json")[1])["judges"]
    (name, judge), *more = json.loads(page(alone, "--json")[1])["judges"].items()
    assert not more and len(judges) == 3
    assert unsigned(judges[name]) == unsigned(judge)


def lines_on(judge: str, text: str) -> tuple[str, str]:
    """What a page says of a judge: its sentence, and its numbers."""
    parts = parts_of(text)
    collected = []
    for name in ("verdict", "numbers"):
        part = parts[name].partition(f"\n{judge}:")[2]
        # Lines that go on are indented.
        of_judge = [part.splitlines()[0]]
        for line in part.splitlines()[1:]:
            if not line.startswith("  "):
                break
            of_judge.append(line)
        collected.append("\n".join(of_judge))
    return f"{judge}:{collected[0]}", collected[1].lstrip("\n")


def test_what_is_reported_of_a_judge_does_not_depend_on_other_judges(
    page: Page,
) -> None:
    alone = json.loads(page(beside(0), "--json")[1])["judges"]["gpt-4"]
    assert alone["sentence"] and alone["claims"][0]["literature"]
    line, numbers = lines_on("gpt4", page(beside(0))[1])
    assert line.startswith("gpt4: ") and numbers.startswith("  + Quality: ")
    for others in (2, 19):
        judges = json.loads(page(beside(others), "--json")[1])["judges"]
        assert len(judges) == 1 + others
        assert unsigned(judges["gpt-4"]) == unsigned(alone)
        assert lines_on("gpt4", page(beside(others))[1]) == (line, numbers)


def test_each_claim_has_its_sign_and_the_measures_of_the_literature(
    page: Page,
) -> None:
    rows = [{**row, "answer": ""} for row in made(100)]
    bare = [{k: v for k, v in row.items() if k != "answer"} for row in rows]
    numbers = parts_of(page(bare)[1])["numbers"]
    assert "  ~ Quality: Pairwise correlation 0." in numbers
    text = " ".join(numbers.split())
    assert "measures, Quality: summary level: Spearman ρ " in text
    for words in ("· pooled: Spearman", "· system level: Kendall", "SPA", "· acc_eq"):
        assert words in text
    assert "Signs: ~ agrees" in numbers and "length is not tested" in text
    result = json.loads(page(bare, "--json")[1])["judges"]["gpt-4"]["claims"][0]
    assert result["sign"] == "~" and result["sources_counted"] == 20
    groups = {group["group"]: group["measures"] for group in result["literature"]}
    assert [group["statistic"] for group in groups["system level"]] == [
        "kendall_b",
        "pearson",
        "spa",
    ]
    assert groups["summary level"][0]["n"] == 20
    assert groups["pooled"][0]["ci_low"] < groups["pooled"][0]["value"]


def test_labels_and_pairs_have_separate_measures(page: Page) -> None:
    def names(rows: Rows) -> list[str]:
        claims = json.loads(page(rows, "--json")[1])["judges"].popitem()[1]["claims"]
        groups = next(each["literature"] for each in claims if each["literature"])
        return [each["statistic"] for group in groups for each in group["measures"]]

    labelled = [
        {k: v for k, v in each.items() if k != "gpt_score"} for each in passed()
    ]
    assert set(names(labelled)) >= {
        *("label_accuracy", "balanced_accuracy", "kappa_nominal", "f1", "mcc"),
    }
    assert names(chosen()) == [
        "accuracy_comparison_half",
        "accuracy_comparison",
        "accuracy_comparison_decided",
    ]


def test_texts_and_sources_that_count_are_printed_beside_those_of_the_file(
    page: Page,
) -> None:
    rows = made(100)
    for at in range(0, 20, 5):  # four sources keep one rated text
        for row in rows[at + 1 : at + 5]:
            row["Quality (Anna)"] = row["Quality (Ben)"] = ""
    supports = parts_of(page(rows)[1])["supports"]
    assert "within sources on 80 of 100 texts, 16 of 20 sources" in supports


@pytest.mark.parametrize(
    "columns",
    [["annotator_a", "annotator_b"], ["Fluency_mia", "Fluency_jon", "Fluency_eva"]],
)
def test_ratings_of_people_alone_show_how_well_people_agree(
    page: Page, columns: list[str]
) -> None:
    drawn = np.random.default_rng(3)
    rows = []
    for number in range(60):
        quality = drawn.integers(1, 6)
        ratings = np.clip(quality + drawn.integers(-1, 2, len(columns)), 1, 5)
        rows.append(
            {"id": f"q{number}", **dict(zip(columns, map(int, ratings), strict=True))}
        )
    status, text = page(rows)
    assert status == 0 and "people: one rater's agreement with the others" in text
    assert "--judge COLUMN" in text and "judgescope init" in text
    assert all(column in text for column in columns)
    assert page(rows, "--require", "spearman=.5")[0] == 2


def test_columns_that_name_nothing_are_no_people(page: Page) -> None:
    rows = [{"c1": row["human"], "c2": row["judge"]} for row in two()]
    status, text = page(rows)
    assert status == 3 and "a judge's scores" in text
