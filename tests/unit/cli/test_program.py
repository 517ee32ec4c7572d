"""The program as a process: what an audit loads, how it ends, which Python it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from audit_setup import made, write
from judgescope.__main__ import program

LISTING = """\
import os, sys
from judgescope.__main__ import program
sys.argv = ["judgescope", "audit", *sys.argv[1:]]
os._exit = lambda status: None
try:
    program()
finally:
    print(sorted({"pandas", "numpy.f2py", "numpy.testing"} & set(sys.modules)))
"""


def ended(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.heavy
def test_an_audit_loads_no_package_that_it_does_not_use(tmp_path: Path) -> None:
    write(made(), tmp_path / "t.csv")
    done = ended("-c", LISTING, "t.csv", "-q", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.heavy
def test_an_audit_ends_with_its_status_and_all_that_it_prints(tmp_path: Path) -> None:
    write(made(), tmp_path / "t.csv")
    audit = ["-m", "judgescope", "audit"]
    page = ended(*audit, "t.csv", folder=tmp_path)
    assert page.returncode == 0 and page.stdout.endswith("\n")
    missed = ended(*audit, "t.csv", "--require", "spearman=.999", folder=tmp_path)
    assert missed.returncode in (1, 2)
    unusable = ended(*audit, "none.csv", folder=tmp_path)
    assert unusable.returncode == 3 and "none.csv" in unusable.stderr


def test_an_older_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 13))
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or later"):
        program()
