"""The study that `audit --write` leaves, run whole: the numbers of the audit, to the
bit.
"""

import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pandas import read_csv

from audit_setup import chosen, made, passed, two, write
from judgescope.api.results import load
from judgescope.cli.audit import study, table
from judgescope.cli.audit.page import AuditFindings, as_html, as_json, as_text
from judgescope.cli.main import command_line
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.schema.tables import read_table
from running import run

pytestmark = pytest.mark.slow


TABLES: dict[str, tuple[Callable[[], list[dict[str, Any]]], str, str]] = {
    "all": (made, "spearman=.5", "agreement"),
    "two": (two, "spearman=.5", "agreement"),
    "labels": (passed, "tnr=.8", "labels"),
    "pairs": (chosen, "accuracy_comparison_half=.6", "pairwise"),
    "no texts": (lambda: without("answer"), "accuracy_comparison_half=.6", "pairwise"),
    "no systems": (lambda: without("model"), "accuracy_comparison_half=.6", "pairwise"),
}


def without(name: str) -> list[dict[str, Any]]:
    return [
        {k: v for k, v in row.items() if not k.startswith(name)} for row in chosen()
    ]


@pytest.mark.parametrize(
    "columns",
    [
        "two",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in TABLES
            if name != "two"
        ),
    ],
)
def test_a_run_of_the_written_study_has_the_numbers_of_the_audit(
    columns: str, tmp_path: Path
) -> None:
    rows, bar, table_of_bar = TABLES[columns]
    file = write(rows(), tmp_path / "mine.csv")
    args = command_line().parse_args(["audit", str(file), "--require", bar])
    wanted = table.draft_of(args, study.bars(args.require))
    folder = tmp_path / "study"
    card = study.written(wanted, folder)
    report = study.computed(wanted, card, folder, tmp_path / "results")
    done = run("-m", "judgescope", "run", str(card), "--cores=1", cwd=folder)
    assert done.returncode == 0, done.stdout

    def theirs(name: str) -> list[ReportRow]:
        path = folder / "results" / wanted.study / "tables" / f"{name}.parquet"
        return list(ReportRows.of_table(read_table("results", path)))

    judges = {*wanted.columns.judges}
    verdicts = [row for row in theirs("verdicts") if row.judge in {*judges, "human"}]
    assert judges <= {row.judge for row in verdicts} and len(verdicts) > 5
    assert sorted(map(repr, report.rows("verdicts"))) == sorted(map(repr, verdicts))
    assert sorted(map(repr, report.rows(table_of_bar))) == sorted(
        map(repr, theirs(table_of_bar))
    )

    findings = AuditFindings(wanted, report)
    content = json.loads(as_json(findings))["judges"]
    for judge, of_judge in content.items():
        path = folder / "results" / wanted.study / "report" / "judges" / f"{judge}.html"
        page = " ".join(html.unescape(path.read_text("utf-8")).split())
        sentence = " ".join(of_judge["sentence"].split())
        assert sentence and sentence in page
        lines = [claim["literature_line"] for claim in of_judge["claims"]]
        assert any(lines)
        for line in filter(None, lines):
            assert " ".join(line.split()) in page


def others_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with two more judges: one that knows people, one that does
    not.
    """
    return [
        row
        | {
            "quality_llama": row["Quality (Ben)"],
            "quality_mistral": 1 + at * 7 % 5,
        }
        for at, row in enumerate(rows)
    ]


@pytest.mark.long(9)
def test_every_location_has_the_same_sentence_whoever_else_is_judged(
    tmp_path: Path,
) -> None:
    """Audit's page, JSON and HTML, the run's table, report, `show` and the library."""
    judge = "gpt-4"
    few = write(made(120), tmp_path / "alone.csv")
    many = write(others_of(made(120)), tmp_path / "three judges.csv")
    collected, verdicts = {}, {}
    for file in (few, many):
        args = command_line().parse_args(["audit", str(file)])
        wanted = table.draft_of(args, {})
        folder = tmp_path / f"study of {file.stem}"
        card = study.written(wanted, folder)
        report = study.computed(wanted, card, folder, tmp_path / file.stem)
        findings = AuditFindings(wanted, report)
        of_judge = json.loads(as_json(findings))["judges"][judge]
        collected[file.stem] = of_judge["sentence"]
        shown = " ".join(as_text(findings).split())
        assert f"{of_judge['name']}: {collected[file.stem]}" in shown
        assert collected[file.stem] in html.unescape(as_html(findings))
        verdicts[file.stem] = [
            row._replace(dataset="", signature="")
            for row in report.rows("verdicts")
            if row.judge == judge
        ]
    sentence = collected["alone"]
    assert collected == {"alone": sentence, "three judges": sentence}
    assert verdicts["alone"] == verdicts["three judges"] and verdicts["alone"]

    done = run("-m", "judgescope", "run", str(card), "--cores=1", cwd=folder)
    assert done.returncode == 0, done.stdout
    results = folder / "results" / wanted.study
    page = html.unescape((results / f"report/judges/{judge}.html").read_text("utf-8"))
    assert sentence in page
    assert load(results).sentences[judge] == sentence
    shown = run("-m", "judgescope", "show", str(card), "verdicts", cwd=folder).stdout
    assert f"{judge}: {sentence}\n" in shown
    output = run(
        *("-m", "judgescope", "show", str(card), "verdicts", "--judge", judge),
        cwd=folder,
    ).stdout
    assert f"{judge}: {sentence}\n" in output and "mistral: " not in output
    rows = ReportRows.of_table(
        read_table("results", results / "tables/verdicts.parquet")
    )
    mine = [
        row._replace(dataset="", signature="") for row in rows if row.judge == judge
    ]
    assert sorted(map(repr, mine)) == sorted(map(repr, verdicts["alone"]))
    every = load(results).sentences
    for frame in (load(results).verdicts, read_csv(results / "tables/verdicts.csv")):
        is_claim = frame["statistic"] == "verdict"
        claims = frame[is_claim & frame["judge"].isin([*every])]
        assert {*claims["judge"]} == {*every}
        assert [*claims["sentence"]] == [every[name] for name in claims["judge"]]
        assert frame.drop(claims.index)["sentence"].isna().all()
