"""The study that `audit --write` leaves, run whole: the numbers of the audit, to the
bit.
"""

import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_setup import chosen, made, passed, two, write
from judgescope.cli.audit import study, table
from judgescope.cli.audit.page import Findings, as_json
from judgescope.cli.main import command_line
from judgescope.report.rows import Row, Rows
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

    def theirs(name: str) -> list[Row]:
        path = folder / "results" / wanted.study / "tables" / f"{name}.parquet"
        return list(Rows.of_table(read_table("results", path)))

    judges = {*wanted.columns.judges}
    verdicts = [row for row in theirs("verdicts") if row.judge in {*judges, "human"}]
    assert judges <= {row.judge for row in verdicts} and len(verdicts) > 5
    assert sorted(map(repr, report.rows("verdicts"))) == sorted(map(repr, verdicts))
    assert sorted(map(repr, report.rows(table_of_bar))) == sorted(
        map(repr, theirs(table_of_bar))
    )

    findings = Findings(wanted, report)
    said = json.loads(as_json(findings))["judges"]
    for judge, of_judge in said.items():
        path = folder / "results" / wanted.study / "report" / "judges" / f"{judge}.html"
        page = " ".join(html.unescape(path.read_text("utf-8")).split())
        sentence = " ".join(of_judge["sentence"].split())
        assert sentence and sentence in page
        lines = [one["literature_line"] for one in of_judge["claims"]]
        assert any(lines)
        for line in filter(None, lines):
            assert " ".join(line.split()) in page
