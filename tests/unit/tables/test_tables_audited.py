"""Every table of the pack (tests/cases/tables), audited as the command does it.

A reading is right, or a refusal with a message; none may be wrong.
"""

import sys
from pathlib import Path

import pytest

from judgescope.cli.main import main
from tables_pack import CASES, FOLDER, AuditOutput, problems


def audited(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> AuditOutput:
    monkeypatch.setattr(sys, "argv", ["judgescope", "audit", str(file), "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return AuditOutput(ended.value.code, out, err)


@pytest.mark.heavy
@pytest.mark.parametrize("file", CASES)
def test_a_table_is_audited_as_what_it_is(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = audited(FOLDER / file, monkeypatch, capsys)
    assert problems(CASES[file], output) == []
    # A file that may be refused is read all the same.
    assert output.status == int(CASES[file]["exit"].split("|")[0])
