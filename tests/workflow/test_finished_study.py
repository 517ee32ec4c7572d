"""A study with nothing to do: neither a run nor a check starts Snakemake, and what they
print is what they print with it.
"""

import os
import sys
from pathlib import Path

import pytest

import running
from judgescope.cli import finished
from running import HOME
from study import SMALL, Study

pytestmark = pytest.mark.slow

FEW = SMALL | {"perturbations": [], "methods": ["agreement"], "judges": ["length"]}
OPENED = """
import atexit, os, sys
opened = set()
def note(event, args):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(args[0], str):
        if event != "open" or "r" in (args[1] or "r"):
            opened.add(os.path.abspath(args[0]))
sys.addaudithook(note)
atexit.register(lambda: print("\\n".join(sorted(opened)), file=open("opened", "w")))
from snakemake.cli import main
main(sys.argv[1:])
"""
"""A program that runs Snakemake and lists the files and folders that it has read."""


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = Study(tmp_path_factory.mktemp("few"), FEW)
    study.write()
    done = study.run()
    assert done.returncode == 0, done.stdout
    return study


def starts(study: Study) -> int:
    """Return how often Snakemake has been started: it has a log of each."""
    return len(list((study.folder / ".snakemake" / "log").iterdir()))


def test_a_run_with_nothing_to_do_prints_the_same_without_snakemake(few: Study) -> None:
    before = starts(few)
    alone = few.run()
    assert starts(few) == before
    looked_at = few.run("--cores", "1")
    assert starts(few) == before + 1
    assert alone.stdout == looked_at.stdout
    assert alone.returncode == looked_at.returncode == 0
    assert "no job ran" in alone.stdout


def test_a_check_of_a_finished_study_prints_the_same_without_snakemake(
    few: Study,
) -> None:
    before = starts(few)
    words = ("-m", "judgescope", "check", few.file)
    alone = running.run(*words, cwd=few.folder)
    assert starts(few) == before
    looked_at = running.run(*words, "--cores", "1", cwd=few.folder)
    assert starts(few) == before + 1
    lines = [line for line in looked_at.stdout.splitlines() if " jobs, " not in line]
    assert alone.stdout.splitlines() == lines
    assert alone.returncode == looked_at.returncode == 0


@pytest.mark.long(25)
def test_a_changed_card_and_a_deleted_result_are_mended(few: Study) -> None:
    before = starts(few)
    few.write(seed=4)
    assert few.run().returncode == 0
    few.write(seed=3)
    assert "no job ran" not in few.run().stdout
    page = few.out / "report" / "index.html"
    page.unlink()
    assert few.run().returncode == 0 and page.is_file()
    assert starts(few) == before + 3


def test_snakemake_reads_nothing_that_the_record_does_not_cover(
    few: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    few.run()
    done = running.run(
        *("-c", OPENED, "-n", "-s", str(HOME / "workflow" / "Snakefile")),
        *("--configfile", few.file, "--cores", "1", "--workflow-profile=none"),
        cwd=few.folder,
        interpreter=sys.executable,
    )
    assert "Nothing to be done" in done.stdout, done.stdout
    monkeypatch.chdir(few.folder)
    record = finished._read("small")
    assert record is not None
    watched = finished._all_watched(Path(few.file), "small", record.named)
    opened = (few.folder / "opened").read_text("utf-8").splitlines()
    folders = [os.path.abspath(path) for path in watched]
    # Python and its packages, which are watched by their installed versions.
    folders += [sys.prefix, os.path.realpath(sys.prefix), sys.base_prefix, *sys.path]
    folders += ["/proc", "/sys", "/dev", "/etc", "/usr"]
    # Copies of rules, and notes of Snakemake for itself, which every run writes.
    notes = ("log", "iocache", "auxiliary")
    folders += [os.path.abspath(f".snakemake/{name}") for name in notes]
    folders.append(str(Path.home() / ".cache" / "snakemake"))
    missed = []
    for path in filter(os.path.isfile, opened):
        if not any(path == each or path.startswith(f"{each}/") for each in folders):
            missed.append(path)
    assert missed == []
    # The list is not empty by accident.
    for path in (few.file, f"{HOME}/workflow/Snakefile", f"{HOME}/config"):
        assert any(each.startswith(os.path.abspath(path)) for each in opened)
