"""The command `judgescope data`, and what a run fetches before it plans."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judgescope.cli import child_process
from judgescope.cli.context import snakemake
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError, UserErrors
from repository import Repository, served, source

ROWS = [{"id": k, "text": f"text {k}", "fluency": k % 5 + 1} for k in range(20)]
FILES = {"rows.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS).encode()}
DATASET: dict[str, Any] = {
    **{"dataset": "mine", "name": "Mine", "task": "summarization", "format": "table"},
    **{
        "files": "{data}/mine/rows.jsonl",
        "licence": "CC0 (some/data)",
        "citation": "none",
    },
    "columns": {"item": "id", "source": "text", "text": "text"},
    "aspects": {"fluency": {"min": 1, "max": 5, "step": 1}},
    "select": {"original": "none"},
    "source": source(FILES),
}
STUDY = {
    "study": "s",
    "datasets": ["mine"],
    "judges": ["length"],
    "methods": ["agreement"],
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGESCOPE_DATA", str(tmp_path / "cache"))
    (tmp_path / "config" / "datasets").mkdir(parents=True)
    (tmp_path / "config" / "datasets" / "mine.yaml").write_text(json.dumps(DATASET))
    (tmp_path / "study.yaml").write_text(json.dumps(STUDY))
    with served(FILES) as repository:
        monkeypatch.setenv("JUDGESCOPE_DATA_URL", repository.url)
        yield repository


def data(*words: str) -> int:
    args = command_line().parse_args(["data", *words])
    status: int = args.act(args)
    return status


def test_list_says_what_can_be_fetched_and_how_to_get_the_rest(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert data("list", "mine", "story-cloze", "demo-news") == 0
    _, mine, *_ = lines = capsys.readouterr().out.splitlines()
    assert (
        " ".join(mine.split())
        == "mine 1 0.9 kB sha256 1 to fetch some/data CC0 (some/data)"
    )
    assert any(line.startswith("story-cloze: its authors send") for line in lines)
    assert not any("demo" in line for line in lines) and repository.asked == []
    data("fetch", "mine")
    data("list", "mine")
    assert "fetched" in capsys.readouterr().out


def test_every_shipped_card_is_listed(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert data("list") == 0
    printed = capsys.readouterr().out
    assert all(
        name in printed for name in ("summeval ", "gpt35-0301-summeval ", "samsum: get")
    )


def test_fetch_and_verify(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert data("verify", "mine") == 0
    assert capsys.readouterr().out == "mine: 0 of 1 files are fetched\n"
    assert data("fetch", "mine") == data("fetch", "mine") == 0
    printed = capsys.readouterr().out
    assert (
        printed.count(
            "mine: downloading 1 file (0.9 kB) from github.com/some/data; licence: CC0"
        )
        == 1
    )
    assert printed.count("mine: already fetched") == 1 and len(repository.asked) == 1
    assert data("verify") == 0
    (tmp_path / "cache" / "mine" / "rows.jsonl").write_bytes(b"")
    with pytest.raises(
        UserErrors, match="differs from the one that its card describes"
    ):
        data("verify", "mine")


def test_a_card_without_an_address(repository: Repository) -> None:
    with pytest.raises(UserError, match="cannot be fetched") as error:
        data("fetch", "story-cloze")
    assert error.value.todo.startswith("its authors send the file on request")


def test_an_unknown_card(repository: Repository) -> None:
    with pytest.raises(UserError, match="unknown card") as error:
        data("fetch", "mines")
    assert error.value.nearest() == "mine"


def test_a_run_fetches_first_and_only_once(
    repository: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    collected: list[bool] = []

    def run(*_: Any, **__: Any) -> tuple[int, None]:
        collected.append((tmp_path / "cache" / "mine" / "rows.jsonl").is_file())
        return 0, None

    monkeypatch.setattr(child_process, "run", run)
    for _ in range(2):
        assert snakemake(Path("study.yaml"), "all") == 0
    assert collected == [True, True] and len(repository.asked) == 1
    assert capsys.readouterr().out.startswith(
        "mine: downloading 1 file (0.9 kB) from github.com"
    )


def test_a_run_does_not_begin_without_its_files(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.status = 404
    monkeypatch.setattr(child_process, "run", lambda *_, **__: pytest.fail("it began"))
    with pytest.raises(UserError, match="no longer at its address"):
        snakemake(Path("study.yaml"), "all")


def test_files_in_the_data_folder_are_the_users(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data" / "mine").mkdir(parents=True)
    (tmp_path / "data" / "mine" / "rows.jsonl").write_bytes(FILES["rows.jsonl"])
    monkeypatch.setattr(child_process, "run", lambda *_, **__: (0, None))
    assert snakemake(Path("study.yaml"), "all") == 0
    assert repository.asked == []
