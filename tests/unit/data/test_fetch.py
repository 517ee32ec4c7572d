"""Files of public repositories: fetched once, checked, kept; what can go wrong on the
way.
"""

import csv
import errno
import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from data_samples import DATASETS, REAL, card, needs_real_data, values
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.fetch import address, fetch, fetch_all
from judgescope.data.files import digest, published, resolve, to_fetch, verify
from judgescope.data.rated import DatasetContent
from judgescope.data.select import read_dataset
from judgescope.schema.cards import FOLDERS, Published, Source, SourceFile
from judgescope.schema.loading import read_card
from repository import Repository, served, source

FILES = {"data/a 1.jsonl": b'{"x": 1}\n' * 500, "data/b.jsonl": b'{"x": 2}\n'}
ALL = {"mine/a 1.jsonl", "mine/b.jsonl"}
COLUMNS = {"item": "x", "source": "x", "text": "x"}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("JUDGESCOPE_DATA", str(folder))
    return folder


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    quoted = {path.replace(" ", "%20"): content for path, content in FILES.items()}
    with served(quoted) as repository:
        monkeypatch.setenv("JUDGESCOPE_DATA_URL", repository.url)
        yield repository


def described(**keys: Any) -> Source:
    return Source.model_validate(source(FILES, **keys))


def fault(names: set[str] = ALL) -> str:
    with pytest.raises(UserError) as error:
        fetch(described(), names, where="card mine")
    assert str(error.value.where).startswith("card mine")
    return str(error.value)


def kept(folder: Path) -> list[str]:
    return [
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    ]


def test_files_are_fetched_once(cache: Path, repository: Repository) -> None:
    for _ in range(2):
        fetch(described(), ALL, where="")
        assert {name: (cache / name).read_bytes() for name in kept(cache)} == {
            "mine/a 1.jsonl": FILES["data/a 1.jsonl"],
            "mine/b.jsonl": FILES["data/b.jsonl"],
        }
    assert len(repository.asked) == 2


def test_only_named_files_are_fetched(cache: Path, repository: Repository) -> None:
    fetch(described(), {"mine/b.jsonl"}, where="")
    assert kept(cache) == ["mine/b.jsonl"]


def test_a_damaged_file_is_fetched_again(cache: Path, repository: Repository) -> None:
    (cache / "mine").mkdir(parents=True)
    (cache / "mine" / "b.jsonl").write_bytes(b"damaged")
    fetch(described(), ALL, where="")
    assert (cache / "mine" / "b.jsonl").read_bytes() == FILES["data/b.jsonl"]


def test_an_address_that_redirects_is_followed(
    cache: Path, repository: Repository
) -> None:
    [path] = [path for path in repository.files if path.endswith("b.jsonl")]
    repository.files["/elsewhere"] = repository.files.pop(path)
    repository.moved[path] = "/elsewhere"
    fetch(described(), ALL, where="")
    assert len(kept(cache)) == 2


def test_another_file_than_described(cache: Path, repository: Repository) -> None:
    [path] = [path for path in repository.files if path.endswith("b.jsonl")]
    repository.files[path] += b"\n"
    message = fault()
    assert "a file whose sha256 differs" in message and "b.jsonl" in message
    assert hashlib.sha256(repository.files[path]).hexdigest() in message
    assert kept(cache) == ["mine/a 1.jsonl"]  # the one before it


def test_a_download_that_is_cut(cache: Path, repository: Repository) -> None:
    repository.cut = True
    assert "broke off (4,500 bytes expected)" in fault()
    assert kept(cache) == []


@pytest.mark.parametrize(
    ("status", "words"),
    [(404, "no longer at its address"), (503, "refuses to send the file")],
)
def test_a_server_without_the_file(
    status: int, words: str, cache: Path, repository: Repository
) -> None:
    repository.status = status
    message = fault()
    assert words in message and str(status) in message
    assert f"save it as {cache / 'mine' / 'a 1.jsonl'}" in message and kept(cache) == []


def test_no_network(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGESCOPE_DATA_URL", "http://127.0.0.1:9")
    assert "cannot be reached" in fault() and kept(cache) == []


def test_what_was_fetched_needs_no_network(
    cache: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(described(), ALL, where="")
    monkeypatch.setenv("JUDGESCOPE_DATA_URL", "http://127.0.0.1:9")
    fetch(described(), ALL, where="")
    assert len(kept(cache)) == 2


def test_no_room(
    cache: Path, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert "no space for 4.5 kB" in fault() and repository.asked == []


def test_a_disk_that_fills_up(
    cache: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "move", full)
    assert "No space left on device" in fault() and kept(cache) == []


def test_what_is_fetched_is_listed_first(
    cache: Path, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = source(FILES, licence="CC0")
    mine = card(
        format="table", files="{data}/mine/{part}.jsonl", columns=COLUMNS, source=keys
    )
    fetch_all([("mine", mine, ALL), ("again", mine, ALL), ("none", mine, set())])
    output = capsys.readouterr().out
    assert (
        output
        == "mine: downloading 2 files (4.5 kB) from github.com/some/data; licence: "
        "CC0\n"
    )


# --- where a card's files are looked for ---


def of_two(**keys: Any) -> Any:
    files = "{data}/mine/{part}.jsonl"
    return card(
        format="table", files=files, columns=COLUMNS, source=source(FILES), **keys
    )


def test_the_data_folder_comes_before_the_cache(
    cache: Path, repository: Repository, tmp_path: Path
) -> None:
    mine, data = of_two(), tmp_path / "data"
    with pytest.raises(UserError, match="no such file or folder") as error:
        resolve(mine.files, "data", tmp_path, data)
    assert "judgescope data list" in error.value.todo
    assert to_fetch(mine, data) == ALL
    fetch(described(), ALL, where="")
    assert to_fetch(mine, data) == set()
    assert [path.parent for path, _ in resolve(mine.files, "data", tmp_path, data)] == [
        cache / "mine",
        cache / "mine",
    ]
    (data / "mine").mkdir(parents=True)
    (data / "mine" / "own.jsonl").write_text("{}")
    assert to_fetch(mine, data) == set()
    assert resolve(mine.files, "data", tmp_path, data)[0][1] == {"part": "own"}


def test_a_part_of_the_fetched_files_is_not_the_dataset(
    cache: Path, repository: Repository, tmp_path: Path
) -> None:
    mine = of_two()
    fetch(described(), {"mine/b.jsonl"}, where="")
    assert to_fetch(mine, tmp_path) == {"mine/a 1.jsonl"}
    with pytest.raises(UserErrors, match="checksum differs from the card's"):
        verify(mine, tmp_path, tmp_path)
    fetch(described(), ALL, where="")
    assert set(verify(mine, tmp_path, tmp_path)) == {"data"}


@pytest.mark.parametrize("name", ["../a", "/a", "a/../b", "{x}/a", ""])
def test_a_file_lies_below_the_data_folder(name: str) -> None:
    keys = source({"a": b"1"})
    keys["files"][0]["file"] = name
    with pytest.raises(ValueError):
        Source.model_validate(keys)


# --- the shipped cards ---

SHIPPED: dict[str, Published] = {
    f"{kind}s/{path.stem}": read_card(kind, path)
    for kind in ("dataset", "model")
    for path in sorted((DATASETS.parent / FOLDERS[kind]).glob("*.yaml"))
    if isinstance(read_card(kind, path), Published)
}
SOURCES = {name: text for name, text in SHIPPED.items() if text.source}


@pytest.mark.parametrize("name", SHIPPED)
def test_each_card_of_public_data_says_how_to_get_it(name: str) -> None:
    shipped: Any = SHIPPED[name]
    with_data = any("{data}" in file for file in shipped.files.values())
    assert (shipped.source is not None or shipped.obtain is not None) == with_data
    assert not (shipped.source and shipped.obtain)


@pytest.mark.parametrize("name", SOURCES)
def test_each_file_of_a_source_belongs_to_a_role(name: str, cache: Path) -> None:
    shipped: Any = SOURCES[name]
    roles = [published(shipped, role) for role in shipped.files]
    assert all(roles) and {path for files in roles for path in files} == {
        cache / file for file in shipped.published
    }
    for role, expected in shipped.sha256.items():
        if len(files := published(shipped, role)) == 1:
            assert [expected] == list(files.values())


def known_files() -> list[dict[str, str]]:
    """Return the rows of both lists of public files that have an address."""
    rows: list[dict[str, str]] = []
    for name in ("sources.csv", "sources_2.csv"):
        with (REAL / name).open(encoding="utf-8", newline="") as file:
            rows += [row for row in csv.DictReader(file) if row["repository"]]
    return rows


@needs_real_data
@pytest.mark.parametrize("name", SOURCES)
def test_addresses_are_those_that_are_known(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JUDGESCOPE_DATA_URL")
    known = {row["sha256"]: row for row in known_files()}
    source: Source = SOURCES[name].source  # type: ignore[assignment]
    for each in source.files:
        row = known[each.pin]
        assert address(source, each) == (
            f"https://raw.githubusercontent.com/{row['repository']}/{row['commit']}/{row['path']}"
        )
        assert each.bytes == (int(row["bytes"]) if row["bytes"] else None)


@needs_real_data
def test_every_known_file_that_a_card_reads_has_its_address() -> None:
    rows = known_files()
    described = {
        each for entry in SOURCES.values() for each in entry.published.values()
    }
    absent = {
        row["file"].split("/")[0] for row in rows if row["sha256"] not in described
    }
    # A licence; criteria and ratings of the confusion paper; reference B.
    assert absent == {"llmbar", "confusion", "wmt22"}


def real_files(source: Source) -> dict[str, bytes]:
    """Return path in the repository -> bytes, from the public data beside the
    checkout.
    """
    collected = {}
    for each in source.files:
        path = REAL / each.file
        if path.is_file():
            collected[each.path] = path.read_bytes()
    if source.files[0].file.startswith("summeval/"):
        content = (REAL / "summeval" / "model_annotations.12systems.jsonl").read_bytes()
        for line in content.splitlines(keepends=True):
            system = line.partition(b'"model_id": "')[2].partition(b'"')[0].decode()
            name = f"model_output_annotations/{system}_outputs_annotations.jsonl"
            collected[name] = collected.get(name, b"") + line
    return collected


@pytest.mark.heavy
@needs_real_data
@pytest.mark.parametrize("name", SOURCES)
def test_the_files_of_the_authors_are_fetched_and_read(
    name: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped: Any = SOURCES[name]
    source: Source = shipped.source
    if by_blob := [each.file for each in source.files if each.git_blob]:
        pytest.skip(f"not run here: only the git blob id of {by_blob[0]} is known")
    with served(
        real_files(source), f"/{source.repository}/{source.commit}"
    ) as repository:
        monkeypatch.setenv("JUDGESCOPE_DATA_URL", repository.url)
        names = to_fetch(shipped, tmp_path)
        assert len(names) == len(source.files)
        fetch(source, names, where=name)
    assert to_fetch(shipped, tmp_path) == set()
    hashes = verify(shipped, tmp_path, tmp_path)
    assert set(hashes) == set(shipped.files)
    if name.startswith("datasets/"):
        assert content(read_dataset(shipped, tmp_path, tmp_path)) == content(
            read_dataset(shipped, tmp_path, REAL)
        )


def content(rated: DatasetContent) -> list[Any]:
    """Return all that was read but the files' names."""
    return [
        [(item.item, item.source, item.references) for item in rated.items],
        [(output.target, output.system, output.text) for output in rated.outputs],
        values(rated),
        [(span.target, span.start, span.end, span.category) for span in rated.spans],
    ]


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    for path, content in FILES.items():
        (tmp_path / "x").write_bytes(content)
        [described] = [each for each in source(FILES)["files"] if each["path"] == path]
        assert digest(tmp_path / "x") == SourceFile.model_validate(described).sha256
