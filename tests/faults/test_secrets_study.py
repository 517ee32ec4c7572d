"""A whole study with keys in its environment, cut off from the network: what it leaves
behind.
"""

import base64
import codecs
import gzip
import html
import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, unquote_to_bytes

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import planted
from planted import SECRETS

MAGIC = {
    b"PAR1": "parquet",
    b"PK\x03\x04": "zip",
    b"\x1f\x8b": "gzip",
    b"x\x9c": "zlib",
}


def spellings(secret: str) -> dict[str, bytes]:
    """Return how a secret may be written, by the name of the spelling.

    Of base64 the digits that do not depend on what stands before and after.
    """
    raw = secret.encode()
    content = {
        "plain": raw,
        "JSON": json.dumps(secret)[1:-1].encode(),
        "JSON in JSON": json.dumps(json.dumps(secret)[1:-1])[1:-1].encode(),
        "repr": repr(secret)[1:-1].encode(),
        "HTML": html.escape(secret).encode(),
        "address": quote(secret, safe="").encode(),
        "path": quote(secret).encode(),
        "form": quote_plus(secret).encode(),
        "script": secret.replace("<", "\\u003c").replace(">", "\\u003e").encode(),
        "hex": codecs.encode(raw, "hex"),
        "reversed": raw[::-1],
        "UTF-16": secret.encode("utf-16-le"),
    }
    for shift in range(3):
        digits = base64.b64encode(b"\0" * shift + raw)[shift + 1 : -4]
        content[f"base64, {shift}"] = digits
        content[f"base64 of addresses, {shift}"] = digits.replace(b"+", b"-").replace(
            b"/", b"_"
        )
    return content


def contents(path: Path, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what can be read of a file: its name, its bytes, and what is packed in
    them.
    """
    name = str(path.relative_to(folder))
    yield f"the name {name}", name.encode() + b"\n" + unquote_to_bytes(name)
    if path.is_symlink():
        yield f"the link {name}", str(path.readlink()).encode()
    else:
        yield from _unpacked(name, path.read_bytes())


def _unpacked(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    yield name, data
    kind = next((kind for start, kind in MAGIC.items() if data.startswith(start)), "")
    if kind == "parquet":
        table = pq.read_table(io.BytesIO(data))
        dumps = json.dumps(table.to_pylist(), ensure_ascii=False, default=str)
        yield f"{name}, its columns", dumps.encode()
        yield f"{name}, its metadata", repr(table.schema.metadata).encode()
    elif kind == "zip":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                yield from _unpacked(f"{name}/{member}", archive.read(member))
    elif kind == "gzip":
        yield from _unpacked(f"{name}, unpacked", gzip.decompress(data))
    elif kind == "zlib":
        yield from _unpacked(f"{name}, unpacked", zlib.decompress(data))


def leaks(folder: Path, secrets: dict[str, str]) -> list[str]:
    """Return where under a folder one of the secrets stands, and how it is written
    there.
    """
    collected = [
        (f"{name} as {how}", form)
        for name, secret in secrets.items()
        for how, form in spellings(secret).items()
    ]
    return [
        f"{what} in {location}"
        for path in sorted(folder.rglob("*"))
        if path.is_file() or path.is_symlink()
        for location, data in contents(path, folder)
        for what, form in collected
        if form in data
    ]


pytestmark = pytest.mark.slow
FAILING = {"refused", "failed"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("planted")
    return folder, planted.run(folder)


def printed_by(folder: Path, name: str) -> str:
    return (folder / "said" / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.long(30)
def test_a_study_through_all_faults_leaves_no_key_behind(
    run: tuple[Path, dict[str, Any]],
) -> None:
    folder, result = run
    assert result["authorised"]  # the key was sent, and nothing else in its place
    failed = {name for name, status in result["statuses"].items() if status}
    assert failed == FAILING, {
        name: printed_by(folder, name) for name in failed - FAILING
    }
    assert "HTTP 401: Incorrect API key provided: <key>" in printed_by(
        folder, "refused"
    )
    assert "HTTP 500: worker died: Authorization: Bearer <key>" in printed_by(
        folder, "failed"
    )
    assert "RuntimeError: the token <PLANTED_TOKEN> was refused" in printed_by(
        folder, "failed"
    )
    assert leaks(folder, SECRETS) == []
    work = folder / "work"
    shown = {"<key>", "\\u003ckey\\u003e", "&lt;key&gt;"}
    for pattern in (
        "cache/**/*.jsonl",
        "results/**/judges/*.html",
        "results/**/rows.*.js",
    ):
        texts = [path.read_text("utf-8") for path in work.glob(pattern)]
        assert any(each in text for text in texts for each in shown), (
            pattern
        )  # it came as far as here
    places = (
        "said",
        "work/.snakemake",
        "work/cache",
        "work/results",
        "work/report.zip",
    )
    assert all((folder / location).exists() for location in places)


@pytest.mark.long(30)
def test_nobody_but_the_endpoint_is_spoken_to(run: tuple[Path, dict[str, Any]]) -> None:
    """By the kernel where it lets us; by Python, which notes each try, everywhere."""
    folder, result = run
    assert result["python"] and "192.0.2.1" in (folder / "effective.txt").read_text(
        "utf-8"
    )
    assert result["kernel"] or not result["alone"]
    tried = folder / "tried.txt"
    assert not tried.exists(), tried.read_text("utf-8")


def test_what_looks_for_keys_finds_them_wherever_they_are(tmp_path: Path) -> None:
    key = SECRETS["PLANTED_KEY"]
    pq.write_table(pa.table({"a": [["x", f"in {key}"]]}), tmp_path / "a.parquet")
    (tmp_path / "b.gz").write_bytes(gzip.compress(f"in {key}".encode()))
    with zipfile.ZipFile(tmp_path / "c.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(tmp_path / "a.parquet", "inner.parquet")
    (tmp_path / "d").symlink_to(f"nowhere/{spellings(key)['address'].decode()}")
    text = " ".join(leaks(tmp_path, {"key": key}))
    for words in (
        "a.parquet, its columns",
        "b.gz, unpacked",
        "c.zip/inner.parquet",
        "the link d",
    ):
        assert words in text
    for path in tmp_path.iterdir():
        path.unlink()
    for number, (how, form) in enumerate(spellings(key).items()):
        (tmp_path / str(number)).write_bytes(os.urandom(5) + form + b"...")
        assert any(f"key as {how} in" in leak for leak in leaks(tmp_path, {"key": key}))
