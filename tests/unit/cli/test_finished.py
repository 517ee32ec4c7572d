"""A finished study is not given to Snakemake again, unless anything has changed."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from judgescope.cli import child_process, context, finished, live_runs, main
from judgescope.core.paths import HOME
from study import SMALL, Study

TEXTS = "texts.csv"
"""The file of the study's data."""
CARD = "config/datasets/own.yaml"
RESULT = "results/small/scores.parquet"
MADE = (
    RESULT,
    "results/small/report/index.html",
    ".snakemake/metadata/c2NvcmVz",
    "cache/replies/model/journal.jsonl",
)
"""What Snakemake and its jobs leave, in a few words."""


class FakeSnakemake:
    """Stands for the process: makes what is missing, counts its starts, and ends well
    unless `status` says otherwise.
    """

    def __init__(self) -> None:
        self.starts = 0
        self.status = 0
        self.meanwhile: Callable[[], object] = lambda: None

    def __call__(self, *_: object, **__: object) -> tuple[int, int | None]:
        self.starts += 1
        for name in MADE:
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_text("made\n", "utf-8")
        self.meanwhile()
        return self.status, None


@pytest.fixture
def snakemake(monkeypatch: pytest.MonkeyPatch) -> FakeSnakemake:
    @contextmanager
    def nobody_reads(*_: object) -> Iterator[None]:
        yield

    fake = FakeSnakemake()
    monkeypatch.setattr(child_process, "run", fake)
    monkeypatch.setattr(main, "reading", nobody_reads)
    for name in list(os.environ):
        if name.startswith("SNAKEMAKE"):
            monkeypatch.delenv(name)
    return fake


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study of own data, whose card, data and code can be changed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    code = tmp_path / "code"
    code.mkdir()
    (code / "engine.py").write_text("x = 1\n", "utf-8")
    monkeypatch.setattr(finished, "PACKAGE", code)
    packages = tmp_path / "packages"
    packages.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    keys = {**SMALL, "datasets": ["own"], "aspects": ["tone"], "perturbations": []}
    keys |= {"judges": ["length", "random"], "methods": ["agreement"]}
    study = Study(tmp_path, keys)
    study.card("aspects", "tone", name="Tone", definition="How polite a text is.")
    rows = [{"id": "1", "source": "s", "system": "a", "text": "Hello.", "r1": "3"}]
    study.rated_table(
        "texts",
        rows,
        ratings={"tone": ["r1"]},
        aspects={"tone": {"min": 1, "max": 5}},
    )
    Path("config/datasets/texts.yaml").rename(CARD)
    card = yaml.safe_load(Path(CARD).read_text("utf-8")) | {"dataset": "own"}
    Path(CARD).write_text(yaml.safe_dump(card), "utf-8")
    study.write()
    return study


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run the command line in this process, in which the tests' phase is no
    variable.
    """
    monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)
    monkeypatch.setattr(sys, "argv", ["judgescope", *words])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def edited(path: str) -> None:
    """Change a file to as many other bytes, and give it its time of before."""
    file = Path(path)
    before = file.stat()
    content = file.read_bytes()
    file.write_bytes(content[:-1] + b" ")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def new_seed() -> None:
    content = yaml.safe_load(Path("study.yaml").read_text("utf-8"))
    Path("study.yaml").write_text(yaml.safe_dump(content | {"seed": 4}), "utf-8")


def installed() -> None:
    Path("packages/addon-1.0.dist-info").mkdir()


def package_in_folder() -> None:
    Path("packages/shadow").mkdir()
    Path("packages/shadow/__init__.py").touch()


def reply_arrives() -> None:
    with Path(MADE[3]).open("a", encoding="utf-8") as journal:
        journal.write("{}\n")


def interrupted() -> None:
    folder = Path(".snakemake/incomplete")
    folder.mkdir()
    (folder / "c2NvcmVz").touch()


CHANGES: dict[str, Callable[[], object]] = {
    "a card is touched": lambda: os.utime(CARD),
    "a card is edited in its time": lambda: edited(CARD),
    "a card is added": lambda: Path("config/aspects/new.yaml").touch(),
    "the data is edited in its time": lambda: edited(TEXTS),
    "the data is deleted and back": lambda: Path(TEXTS).write_bytes(
        Path(TEXTS).rename("old.csv").read_bytes()
    ),
    "the code is edited in its time": lambda: edited("code/engine.py"),
    "code is added": lambda: Path("code/more.py").touch(),
    "a result is deleted": Path(RESULT).unlink,
    "a result is edited in its time": lambda: edited(RESULT),
    "a result is added": lambda: Path("results/small/new.json").touch(),
    "the page is deleted": Path("results/small/report/index.html").unlink,
    "a reply arrives": reply_arrives,
    "Snakemake's record is deleted": Path(MADE[2]).unlink,
    "another seed": new_seed,
    "a variable": lambda: os.environ.__setitem__("JUDGESCOPE_DATA", "/elsewhere"),
    "a key": lambda: os.environ.__setitem__("ANY_KEY", "value"),
    "a profile": lambda: os.environ.__setitem__("SNAKEMAKE_PROFILE", "slurm"),
    "a package is installed": installed,
    "a package is on the path": package_in_folder,
    "a run was interrupted": interrupted,
    "the record is damaged": lambda: Path(finished.RECORDS, "small.json").write_text(
        "{", "utf-8"
    ),
}


def test_a_finished_study_is_not_run_again(
    study: Study,
    snakemake: FakeSnakemake,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command(monkeypatch, "run", study.file) == 0
    assert command(monkeypatch, "run", study.file) == 0
    assert snakemake.starts == 1
    assert "no job ran" in capsys.readouterr().out


def test_the_log_of_a_job_is_no_result(
    study: Study, snakemake: FakeSnakemake, monkeypatch: pytest.MonkeyPatch
) -> None:
    command(monkeypatch, "run", study.file)
    Path("results/small/logs").mkdir()
    Path("results/small/logs/check.log").touch()
    command(monkeypatch, "run", study.file)
    assert snakemake.starts == 1


@pytest.mark.parametrize("change", CHANGES)
def test_snakemake_decides_after_a_change(
    change: str,
    study: Study,
    snakemake: FakeSnakemake,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("JUDGESCOPE_DATA", "ANY_KEY", "SNAKEMAKE_PROFILE"):
        monkeypatch.setenv(name, "")  # so that it is as before after the test
        monkeypatch.delenv(name)
    command(monkeypatch, "run", study.file)
    CHANGES[change]()
    assert command(monkeypatch, "run", study.file) == 0
    assert snakemake.starts == 2
    # It was looked at again: the next run has nothing to do, if Snakemake is at rest.
    command(monkeypatch, "run", study.file)
    is_open = change in ("a profile", "a run was interrupted")
    assert snakemake.starts == (3 if is_open else 2)


@pytest.mark.parametrize(
    "options",
    [["--forceall"], ["--cores", "1"], ["-n"], ["--profile", "x"], ["-C", "seed=9"]],
)
def test_snakemake_gets_every_option(
    options: list[str],
    study: Study,
    snakemake: FakeSnakemake,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command(monkeypatch, "run", study.file)
    command(monkeypatch, "run", study.file, *options)
    assert snakemake.starts == 2


def test_a_run_that_fails_is_not_finished(
    study: Study, snakemake: FakeSnakemake, monkeypatch: pytest.MonkeyPatch
) -> None:
    snakemake.status = 1
    assert command(monkeypatch, "run", study.file) == 1
    snakemake.status = 0
    assert command(monkeypatch, "run", study.file) == 0
    assert snakemake.starts == 2


@pytest.mark.parametrize("file", [CARD, TEXTS, "code/engine.py"])
def test_what_changes_during_a_run_is_looked_at_again(
    file: str,
    study: Study,
    snakemake: FakeSnakemake,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    snakemake.meanwhile = lambda: os.utime(file)
    command(monkeypatch, "run", study.file)
    assert not Path(finished.RECORDS, "small.json").exists()
    snakemake.meanwhile = lambda: None
    command(monkeypatch, "run", study.file)
    assert snakemake.starts == 2


def test_two_studies_in_a_folder_have_a_record_each(
    study: Study, snakemake: FakeSnakemake, monkeypatch: pytest.MonkeyPatch
) -> None:
    command(monkeypatch, "run", study.file)
    other = yaml.safe_dump(study.keys | {"study": "other"})
    Path("other.yaml").write_text(other, "utf-8")
    Path("results/other").mkdir()
    command(monkeypatch, "run", "other.yaml")
    assert snakemake.starts == 2
    command(monkeypatch, "run", "other.yaml")
    command(monkeypatch, "run", study.file)
    assert snakemake.starts == 2


def test_a_copy_of_a_study_s_file_under_its_id_is_another_study(
    study: Study, snakemake: FakeSnakemake, monkeypatch: pytest.MonkeyPatch
) -> None:
    command(monkeypatch, "run", study.file)
    Path("copy.yaml").write_bytes(Path(study.file).read_bytes())
    command(monkeypatch, "run", "copy.yaml")
    assert snakemake.starts == 2


def test_a_folder_without_write_permission_is_left_to_snakemake(
    study: Study, snakemake: FakeSnakemake, monkeypatch: pytest.MonkeyPatch
) -> None:
    command(monkeypatch, "run", study.file)
    # Root may write everywhere, so the mode of a folder would say nothing.
    monkeypatch.setattr(os, "access", lambda path, _: str(path) != ".snakemake")
    command(monkeypatch, "run", study.file)
    assert snakemake.starts == 2


def test_a_folder_in_which_another_run_is_active_is_left_to_snakemake(
    study: Study, snakemake: FakeSnakemake, monkeypatch: pytest.MonkeyPatch
) -> None:
    command(monkeypatch, "run", study.file)
    active = live_runs.Run("other", 1, "host", "12:00:00")
    monkeypatch.setattr(finished, "living", lambda: [active])
    command(monkeypatch, "run", study.file)
    assert snakemake.starts == 2


def test_a_record_that_cannot_be_written_is_no_error(
    study: Study, snakemake: FakeSnakemake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(finished, "_write", full)
    assert command(monkeypatch, "run", study.file) == 0


def test_a_link_to_a_folder_is_left_to_snakemake(
    study: Study, snakemake: FakeSnakemake, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("elsewhere").mkdir()
    Path("config/criteria").symlink_to(Path("elsewhere").absolute())
    command(monkeypatch, "run", study.file)
    command(monkeypatch, "run", study.file)
    assert snakemake.starts == 2


def test_a_file_on_a_hub_is_left_to_snakemake(
    study: Study, snakemake: FakeSnakemake, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = {"hub": "a/b", "file": "c.csv", "revision": "0" * 40}
    card = yaml.safe_load(Path(CARD).read_text("utf-8"))
    card |= {"files": {"data": hub}, "sha256": {"data": "0" * 64}}
    Path(CARD).write_text(yaml.safe_dump(card), "utf-8")
    monkeypatch.setattr(context, "_fetch_missing", lambda _: None)
    for _ in range(2):
        command(monkeypatch, "run", study.file)
    assert snakemake.starts == 2


def test_the_record_of_a_check_is_none_of_a_run(
    study: Study, snakemake: FakeSnakemake, monkeypatch: pytest.MonkeyPatch
) -> None:
    command(monkeypatch, "check", study.file)
    assert finished.shown_lines(Path(study.file), "small", "check") == []
    command(monkeypatch, "run", study.file)
    assert snakemake.starts == 2


def test_no_value_of_a_variable_is_written_down(
    study: Study, snakemake: FakeSnakemake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    command(monkeypatch, "run", study.file)
    text = Path(finished.RECORDS, "small.json").read_text("utf-8")
    assert "very-secret" not in text
    assert json.loads(text)["goal"] == "all"


def test_the_shipped_code_and_cards_are_looked_at() -> None:
    watched = finished._fixed(Path("study.yaml"))
    for path in (HOME / "config", HOME / "workflow", HOME / "profiles"):
        assert str(path) in watched
    assert str(HOME / "scripts" / "judgescope") in watched
