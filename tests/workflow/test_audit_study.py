"""The study that `audit --write` leaves, run whole: the numbers of the audit, to the bit."""

from pathlib import Path

import pytest

from audit_setup import made, two, write
from judgescope.cli.audit import study, table
from judgescope.cli.main import command_line
from judgescope.report.rows import Row, Rows
from judgescope.schema.tables import read_table
from running import run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("columns", ["all", "two"])
def test_a_run_of_the_written_study_has_the_numbers_of_the_audit(
    columns: str, tmp_path: Path
) -> None:
    file = write(made() if columns == "all" else two(), tmp_path / "mine.csv")
    args = command_line().parse_args(["audit", str(file), "--require", "spearman=.5"])
    wanted, sheet = table.wanted_of(args, study.bars(args.require))
    here = study.made(wanted, sheet, tmp_path / "study")
    report = study.computed(here, tmp_path / "results")
    done = run("-m", "judgescope", "run", str(here.card), "--cores=1", cwd=here.folder)
    assert done.returncode == 0, done.stdout

    def theirs(name: str) -> list[Row]:
        path = here.folder / "results" / here.study / "tables" / f"{name}.parquet"
        return list(Rows.of_table(read_table("results", path)))

    [judge] = wanted.columns.judges
    verdicts = [row for row in theirs("verdicts") if row.judge in {judge, "human"}]
    assert judge in {row.judge for row in verdicts} and len(verdicts) > 5
    assert sorted(map(repr, report.rows("verdicts"))) == sorted(map(repr, verdicts))
    assert sorted(map(repr, report.rows("agreement"))) == sorted(map(repr, theirs("agreement")))
