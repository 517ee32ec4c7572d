"""A study's requests and replies, to be read; and the page of perturbed texts by
itself.
"""

from argparse import Namespace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import running
from judgescope.cli.context import check_input, check_output
from judgescope.cli.replies import compact, listed, read, summary
from judgescope.core.errors import UserError
from judgescope.replies.compaction import Compacted
from study import Study

Row = dict[str, Any]
KEYS = count()


def row(judge: str, status: str = "ok", **keys: Any) -> Row:
    content = {
        "key": str(next(KEYS)),
        "dataset": "d",
        "perturbation": "systems",
        "aspect": "fluency",
        "target": "i:s",
    }
    numbers = {"draw": 0, "value": 4.0, "tokens_in": 100, "tokens_out": 20, "usd": 0.25}
    return {
        **content,
        **numbers,
        "judge": judge,
        "status": status,
        "reply": "Rating: 4",
        **keys,
    }


def test_a_judge_has_a_line_of_counts_tokens_and_price() -> None:
    rows = [
        row("a"),
        row("a", "unparsed"),
        row("b", usd=None),
        row("b", tokens_in=None),
    ]
    titles, each, two = summary(rows)
    assert titles.split("  ")[0] == "judge" and titles.endswith("US$")
    assert each.split() == [
        "a",
        "2",
        "ok",
        "1,",
        "unparsed",
        "1",
        "200",
        "40",
        "0.5000",
    ]
    assert two.split() == [
        "b",
        "2",
        "ok",
        "2",
        "100",
        "40",
        "-",
    ]  # of one the price is not known


def test_a_reply_to_equal_questions_counts_once_and_a_refused_request_is_free() -> None:
    same = [row("a", key="k", usd=0.000004)] * 2
    _, line = summary(
        [*same, row("a", "error", usd=None, tokens_in=None, tokens_out=None)]
    )
    assert line.split() == ["a", "2", "error", "1,", "ok", "1", "100", "20", "4e-06"]


def test_compaction_that_merges_nothing_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "j.jsonl").touch()
    done = Compacted(
        9, [], {tmp_path / "m" / "j.jsonl": "modified less than a day ago"}, -5025
    )
    monkeypatch.setattr("judgescope.cli.replies.compaction.compact", lambda _: done)
    assert compact(Namespace(store=tmp_path, study=None)) == 0
    assert capsys.readouterr().out.splitlines() == [
        "m: nothing to compact",
        "  j.jsonl is kept: modified less than a day ago",
    ]


def test_replies_are_a_line_each_that_cannot_move_the_cursor() -> None:
    text = list(listed([row("a", reply="one\x1b[2J\ntwo" + "x" * 200)] * 3, 2))
    assert len(text) == 4 and "… and 1 more" in text[-1] and "--file" in text[-1]
    assert all(line.isprintable() and len(line) < 160 for line in text)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("r.csv", "does not write this type of file"),
        ("no/r.jsonl", "folder not found"),
        ("there.jsonl", "already exists"),
    ],
)
def test_a_file_that_cannot_be_written_is_named_first(
    name: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "there.jsonl").touch()
    with pytest.raises(UserError, match=reason):
        check_output(tmp_path / name, [".jsonl"], todo="choose another name")
    check_output(tmp_path / "new.jsonl", [".jsonl"], todo="choose another name")
    check_output(tmp_path / "there.jsonl", [".jsonl"])


def test_a_missing_file_is_named_with_only_a_name_that_is_near(tmp_path: Path) -> None:
    (tmp_path / "pct.csv").touch()
    for name, near in (
        ("nope.csv", None),
        ("ptc.csv", "pct.csv"),
        ("pct.tsv", "pct.csv"),
    ):
        with pytest.raises(UserError, match="file not found") as caught:
            check_input(tmp_path / name)
        assert (caught.value.where, caught.value.nearest()) == (
            str(tmp_path / name),
            near,
        )


def test_replies_of_recorded_judges_are_reported_to_be_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study(tmp_path, judges=["told"], perturbations=[], methods=["agreement"])
    rows = {"item": "id", "system": "by", "reply": "reply"}
    model = {
        "engine": "recorded",
        "dataset": "demo-dialogue",
        "files": "r.jsonl",
        "rows": rows,
    }
    study.card("models", "told", **model)
    study.card("judges", "told", model="told")
    args = Namespace(study=study.write(), rows=0, file=None)
    page = Path("results/small/report/explore.html")
    with pytest.raises(
        UserError, match="their replies are recorded in files"
    ) as caught:
        read(args)
    assert caught.value.todo == f"judgescope run {args.study}, then read them in {page}"
    page.parent.mkdir(parents=True)
    page.touch()
    with pytest.raises(UserError) as caught:
        read(args)
    assert caught.value.todo == f"read them in {page}"


@pytest.mark.heavy
def test_commands_without_anything_to_show_say_what_to_do(tmp_path: Path) -> None:
    Study(tmp_path).write(perturbations=[], methods=["agreement"])

    def output_of(*words: str, status: int = 1) -> str:
        done = running.run("-m", "judgescope", *words, cwd=tmp_path)
        assert done.returncode == status and "Traceback" not in done.stdout
        return done.stdout

    for words in (("replies", "show"), ("replies", "stats"), ("export",)):
        line = output_of(
            *words, "study.yaml", *(["replies", "r.parquet"] if len(words) == 1 else [])
        )
        assert (
            "no judge that sends requests" in line
            and "judgescope run study.yaml" in line
        )
    for action in ("fetch", "status", "cancel"):
        assert output_of("batch", action, "study.yaml", status=0).startswith(
            "no batch is in progress"
        )
    assert "this study perturbs no text" in output_of("spotcheck", "study.yaml")
    assert "file not found" in output_of("spotcheck", "none.yaml")
    missing = output_of("replies", "import", "studi.yaml")
    assert "file not found" in missing and "nearest: study.yaml" in missing


@pytest.mark.slow
def test_a_batch_of_a_study_without_endpoints_says_that_it_has_no_requests(
    tmp_path: Path,
) -> None:
    Study(tmp_path).write(perturbations=[], methods=["agreement"], judges=["length"])
    done = running.run(
        "-m", "judgescope", "batch", "export", "study.yaml", "out", cwd=tmp_path
    )
    assert done.returncode == 0 and "asks a model behind an endpoint" in done.stdout
    done = running.run(
        "-m", "judgescope", "batch", "submit", "study.yaml", cwd=tmp_path
    )
    assert (
        "judgescope run study.yaml" in done.stdout and "batch status" not in done.stdout
    )


@pytest.mark.slow
def test_a_spot_check_makes_the_page_and_nothing_else(tmp_path: Path) -> None:
    Study(tmp_path).write()
    done = running.run("-m", "judgescope", "spotcheck", "study.yaml", cwd=tmp_path)
    assert (
        done.returncode == 0 and "open results/small/report/texts.html" in done.stdout
    )
    assert (tmp_path / "results" / "small" / "report" / "texts.html").is_file()
    assert not (tmp_path / "results" / "small" / "replies").exists()
