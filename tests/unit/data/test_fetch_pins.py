"""Files that are pinned by their git blob id alone: checked, kept, noted with their
sha256; lists of files beside a card.
"""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from judgescope.cli.main import command_line
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.fetch import fetch, fetch_all
from judgescope.data.files import blob_id, noted_sha256, verify
from judgescope.schema.cards import Dataset, Source, SourceFile
from judgescope.schema.loading import read_card, validate_card
from repository import Repository, blob, served, source

FILES = {"a.jsonl": b'{"x": 1}\n' * 500, "b.jsonl": b'{"x": 2}\n'}
ALL = {"mine/a.jsonl", "mine/b.jsonl"}
KEYS: dict[str, Any] = {
    "dataset": "mine",
    "name": "Mine",
    "task": "summarization",
    "format": "table",
    "files": "{data}/mine/{part}.jsonl",
    "columns": {"item": "x", "source": "x", "text": "x"},
    "aspects": {"fluency": {"min": 1, "max": 5}},
    "licence": "CC0",
    "citation": "none",
}
DESCRIBED = source(FILES, by_blob={"a.jsonl"})
CARD: Dataset = validate_card("dataset", KEYS | {"source": DESCRIBED}, "mine.yaml")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    monkeypatch.setenv("JUDGESCOPE_DATA", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config" / "datasets").mkdir(parents=True)
    card = json.dumps(KEYS | {"source": DESCRIBED})
    (tmp_path / "config" / "datasets" / "mine.yaml").write_text(card)
    with served(FILES) as repository:
        monkeypatch.setenv("JUDGESCOPE_DATA_URL", repository.url)
        yield repository


def described() -> Source:
    return Source.model_validate(DESCRIBED)


def data(*words: str) -> int:
    args = command_line().parse_args(["data", *words])
    status: int = args.act(args)
    return status


def path_of(repository: Repository, name: str) -> str:
    [path] = [path for path in repository.files if path.endswith(name)]
    return path


def fault() -> str:
    with pytest.raises(UserError) as error:
        fetch(described(), ALL, where="card mine")
    return str(error.value)


@pytest.mark.parametrize("content", [b"", b"x", b"\0" * 70_000])
def test_the_blob_id_is_that_of_git(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    assert blob_id(tmp_path / "x") == blob(content)
    if shutil.which("git"):
        words = ["git", "hash-object", "--no-filters", str(tmp_path / "x")]
        printed = subprocess.run(words, capture_output=True, text=True, check=True)
        assert printed.stdout.strip() == blob(content)


def test_both_kinds_of_pins_are_checked_and_kept(
    repository: Repository, tmp_path: Path
) -> None:
    for _ in range(2):
        fetch(described(), ALL, where="")
    assert len(repository.asked) == 2
    assert (tmp_path / "cache/mine/a.jsonl").read_bytes() == FILES["a.jsonl"]
    sha256 = hashlib.sha256(FILES["a.jsonl"]).hexdigest()
    assert noted_sha256("mine/a.jsonl").read_text() == sha256
    # A sha256 of the card needs no note.
    assert not noted_sha256("mine/b.jsonl").exists()


def test_the_hash_of_a_role_is_computed_from_the_bytes(
    repository: Repository, tmp_path: Path
) -> None:
    """With sha256 pins, the same files have the same hash: signatures are equal."""
    fetch(described(), ALL, where="")
    by_sha256 = validate_card("dataset", KEYS | {"source": source(FILES)}, "mine.yaml")
    assert verify(CARD, tmp_path, tmp_path) == verify(by_sha256, tmp_path, tmp_path)


def test_a_file_with_another_blob_id(repository: Repository, tmp_path: Path) -> None:
    path = path_of(repository, "a.jsonl")
    repository.files[path] += b"\n"
    message = fault()
    assert "a file whose git blob id differs from the card's" in message
    assert blob(repository.files[path]) in message  # what came
    assert blob(FILES["a.jsonl"]) in message  # what was expected
    assert str(tmp_path / "cache" / "mine" / "a.jsonl") in message
    assert not (tmp_path / "cache" / "mine" / "a.jsonl").exists()


def test_half_a_file_is_not_kept(repository: Repository, tmp_path: Path) -> None:
    repository.cut = True
    assert "the download broke off" in fault() and "expected)" not in fault()
    assert list((tmp_path / "cache").rglob("*.jsonl")) == []


def test_a_repository_that_moved(repository: Repository, tmp_path: Path) -> None:
    path = path_of(repository, "a.jsonl")
    content = repository.files.pop(path)
    message = fault()
    assert "no longer at its address" in message and "404" in message
    assert "its repository may have moved" in message
    repository.files["/new/place/a.jsonl"] = content
    repository.moved[path] = "/new/place/a.jsonl"
    fetch(described(), ALL, where="")
    assert (tmp_path / "cache" / "mine" / "a.jsonl").read_bytes() == content


def test_a_damaged_file_is_fetched_again(
    repository: Repository, tmp_path: Path
) -> None:
    fetch(described(), ALL, where="")
    (tmp_path / "cache" / "mine" / "a.jsonl").write_bytes(b"half")
    fetch(described(), ALL, where="")
    assert (tmp_path / "cache" / "mine" / "a.jsonl").read_bytes() == FILES["a.jsonl"]


@pytest.mark.parametrize("with_note", [True, False])
def test_a_file_that_changed_after_its_download(
    with_note: bool, repository: Repository, tmp_path: Path
) -> None:
    fetch(described(), ALL, where="")
    path = tmp_path / "cache" / "mine" / "a.jsonl"
    path.write_bytes(b"half")
    if not with_note:
        noted_sha256("mine/a.jsonl").unlink()
    with pytest.raises(UserErrors, match="differs from the one") as error:
        verify(CARD, tmp_path, tmp_path)
    [wrong] = error.value.errors
    assert str(path) in wrong.where and wrong.got == blob(b"half")
    assert blob(FILES["a.jsonl"]) in str(wrong) and "fetch it again" in wrong.todo
    with pytest.raises(UserErrors, match="differs from the one"):
        data("verify", "mine")


def test_the_noted_sha256_decides(repository: Repository, tmp_path: Path) -> None:
    fetch(described(), ALL, where="")
    noted_sha256("mine/a.jsonl").write_text("0" * 64)
    with pytest.raises(UserErrors, match="differs from the one") as error:
        data("verify", "mine")
    [wrong] = error.value.errors
    assert wrong.got == hashlib.sha256(FILES["a.jsonl"]).hexdigest()
    assert "0" * 64 in str(wrong)


def test_a_download_says_the_sha256(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fetch_all([("mine", CARD, ALL)])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("mine: downloading 2 files (at least 0.0 kB) from")
    assert hashlib.sha256(FILES["a.jsonl"]).hexdigest() in second
    assert "(4500 bytes)" in second


def test_pin_prints_what_the_card_should_have(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    data("fetch", "mine")
    capsys.readouterr()
    data("fetch", "mine", "--pin")
    printed = capsys.readouterr().out
    lines = printed[printed.index("source:") :]
    assert yaml.safe_load(lines)["source"]["files"] == source(FILES)["files"][:1]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "either `sha256` or `git_blob`"),
        ({"sha256": "0" * 64, "git_blob": "0" * 40, "bytes": 1}, "and not both"),
        ({"sha256": "0" * 64}, "needs `bytes`"),
        ({"git_blob": "0" * 64}, "match pattern"),
    ],
)
def test_a_file_has_a_single_pin(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SourceFile(path="a", file="a", **keys)


def listed(tmp_path: Path, rows: str) -> Path:
    (tmp_path / "files.csv").write_text(f"path,file,bytes,sha256,git_blob\n{rows}")
    card = KEYS | {"source": DESCRIBED | {"files": "files.csv"}}
    (tmp_path / "mine.yaml").write_text(json.dumps(card))
    return tmp_path / "mine.yaml"


def test_a_csv_beside_the_card_lists_the_files(tmp_path: Path) -> None:
    rows = ""
    for each in DESCRIBED["files"]:
        cells = [each.get(key, "") for key in ("bytes", "sha256", "git_blob")]
        rows += f"{each['path']},{each['file']},{','.join(map(str, cells))}\n"
    assert read_card("dataset", listed(tmp_path, rows)) == CARD


def test_a_list_of_files_that_is_absent(tmp_path: Path) -> None:
    path = listed(tmp_path, "")
    (tmp_path / "files.csv").rename(tmp_path / "file.csv")
    with pytest.raises(UserError, match="not beside the card") as error:
        read_card("dataset", path)
    assert error.value.nearest() == "file.csv"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (f"a,a,many,{'0' * 64},", "not a number of bytes"),
        ("a,a,,,", "either `sha256` or `git_blob`"),
        (f",a,1,{'0' * 64},", "a required key is missing"),
    ],
)
def test_a_faulty_row_in_a_list_of_files(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises((UserError, UserErrors), match=words):
        read_card("dataset", listed(tmp_path, f"{row}\n"))
