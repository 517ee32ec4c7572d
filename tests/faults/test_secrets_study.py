"""A whole study with keys in its environment, cut off from the network: what it leaves behind."""

import gzip
import os
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import planted
from leaks import leaks, spellings
from planted import SECRETS

pytestmark = pytest.mark.slow
FAILING = {"refused", "failed"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("planted")
    return folder, planted.run(folder)


def said(folder: Path, name: str) -> str:
    return (folder / "said" / f"{name}.txt").read_text(encoding="utf-8")


def test_a_study_through_all_faults_leaves_no_key_behind(run: tuple[Path, dict[str, Any]]) -> None:
    folder, told = run
    assert told["authorised"]  # the key was sent, and nothing else in its place
    failed = {name for name, status in told["statuses"].items() if status}
    assert failed == FAILING, {name: said(folder, name) for name in failed - FAILING}
    assert "HTTP 401: Incorrect API key provided: <key>" in said(folder, "refused")
    assert "HTTP 500: worker died: Authorization: Bearer <key>" in said(folder, "failed")
    assert "RuntimeError: the token <PLANTED_TOKEN> was refused" in said(folder, "failed")
    assert leaks(folder, SECRETS) == []
    work = folder / "work"
    shown = {"<key>", "\\u003ckey\\u003e", "&lt;key&gt;"}
    for pattern in ("cache/**/*.jsonl", "results/**/judges/*.html", "results/**/rows.*.js"):
        texts = [path.read_text("utf-8") for path in work.glob(pattern)]
        assert any(one in text for text in texts for one in shown), (
            pattern
        )  # it came as far as here
    places = ("said", "work/.snakemake", "work/cache", "work/results", "work/report.zip")
    assert all((folder / place).exists() for place in places)


def test_nobody_but_the_endpoint_is_spoken_to(run: tuple[Path, dict[str, Any]]) -> None:
    """By the kernel where it lets us; by Python, which notes each try, everywhere."""
    folder, told = run
    assert told["python"] and "192.0.2.1" in (folder / "effective.txt").read_text("utf-8")
    assert told["kernel"] or not told["alone"]
    tried = folder / "tried.txt"
    assert not tried.exists(), tried.read_text("utf-8")


def test_what_looks_for_keys_finds_them_wherever_they_are(tmp_path: Path) -> None:
    key = SECRETS["PLANTED_KEY"]
    pq.write_table(pa.table({"a": [["x", f"in {key}"]]}), tmp_path / "a.parquet")
    (tmp_path / "b.gz").write_bytes(gzip.compress(f"in {key}".encode()))
    with zipfile.ZipFile(tmp_path / "c.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(tmp_path / "a.parquet", "inner.parquet")
    (tmp_path / "d").symlink_to(f"nowhere/{spellings(key)['address'].decode()}")
    found = " ".join(leaks(tmp_path, {"key": key}))
    for place in ("a.parquet, its columns", "b.gz, unpacked", "c.zip/inner.parquet", "the link d"):
        assert place in found
    for path in tmp_path.iterdir():
        path.unlink()
    for number, (how, form) in enumerate(spellings(key).items()):
        (tmp_path / str(number)).write_bytes(os.urandom(5) + form + b"...")
        assert any(f"key as {how} in" in one for one in leaks(tmp_path, {"key": key}))
