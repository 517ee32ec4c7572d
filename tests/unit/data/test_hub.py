"""Data on a hub: a small one on loopback, asked by the real client."""

import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from data_samples import card
from distilling import annotate, distilling, stand_ins
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.files import verify
from judgescope.schema.loading import read_card
from running import rows, run, snakemake
from scripted import serve
from study import Study

needs_client = pytest.mark.skipif(
    find_spec("huggingface_hub") is None,
    reason="the package huggingface_hub is not installed",
)
COMMIT = "0123456789abcdef0123456789abcdef01234567"
TEXT = (
    "The old bridge over the river was closed on Monday, and people had to take the "
    "ferry."
)
CONTENT = "".join(
    json.dumps(
        {
            "id": number,
            "src": "A bridge was closed.",
            "gold": f"{TEXT} Notice {number}.",
        }
    )
    + "\n"
    for number in range(12)
).encode()
PATH = f"/datasets/owner/some.data/resolve/{COMMIT}/part/items.jsonl"
FILE = {"hub": "owner/some.data", "revision": COMMIT, "file": "part/items.jsonl"}
TABLE = {
    "dataset": "far",
    "name": "Far",
    "task": "news",
    "format": "table",
    "files": {"items": FILE},
    "sha256": {"items": hashlib.sha256(CONTENT).hexdigest()},
    "columns": {"item": "id", "source": "src", "references": "gold"},
    "ratings": "none",
    "aspects": {"fluency": {"min": 1, "max": 5, "step": 1}},
    "licence": "none",
    "citation": "none",
}


@contextmanager
def hub() -> Iterator[tuple[str, list[str]]]:
    """Serve one file as a hub does; give its address and the requests that came."""
    came: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            came.append(f"{self.command} {self.path}")
            holds = self.path == PATH
            self.send_response(200 if holds else 404)
            self.send_header("Content-Length", str(len(CONTENT) if holds else 0))
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{hashlib.sha1(CONTENT).hexdigest()}"')
            if not holds:
                self.send_header("X-Error-Code", "EntryNotFound")
            self.end_headers()

        def do_GET(self) -> None:
            self.do_HEAD()
            if self.path == PATH:
                self.wfile.write(CONTENT)

        def log_message(self, *_: Any) -> None:
            """Be silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", came
    finally:
        server.shutdown()
        server.server_close()


def far_study(folder: Path, **changes: Any) -> list[str]:
    """Write the card of the data on the hub and a study of it; return Snakemake's
    arguments.
    """
    path = folder / "config" / "datasets" / "far.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(TABLE | changes), encoding="utf-8")
    keys = {"datasets": ["far"], "aspects": [], "judges": ["rules", "length"]}
    keys |= {"perturbations": ["random-deletions"], "methods": ["discernment"]}
    return ["--configfile", str(Study(folder).write(**keys))]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the client's, and no hub but a dead one."""
    for name in ("HF_HUB_OFFLINE", "HF_TOKEN", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    return tmp_path / "cache"


@pytest.mark.long(11)
@pytest.mark.slow
@needs_client
def test_a_file_is_fetched_once_and_used_offline_afterwards(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = far_study(tmp_path)
    text = "a run downloads for far: part/items.jsonl of owner/some.data at " + COMMIT
    table = "results/small/tables/discernment.csv"
    with hub() as (address, came):
        monkeypatch.setenv("HF_ENDPOINT", address)
        done = snakemake("check", "-q", "rules", *study, cwd=tmp_path)
        assert done.returncode == 0 and text in done.stdout, done.stdout
        assert "far " in done.stdout and came == []
        done = snakemake(*study, "--", table, cwd=tmp_path)
        assert done.returncode == 0, (
            done.stdout
        )  # and nothing but the file was asked for
        assert sorted(came) == [f"GET {PATH}", f"HEAD {PATH}"]
        before = rows(tmp_path / "results" / "small", "discernment")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    done = snakemake("check", "-q", "rules", *study, cwd=tmp_path)
    assert done.returncode == 0 and "a run downloads" not in done.stdout, done.stdout
    done = snakemake(*study, "--", table, cwd=tmp_path)
    assert (
        "Nothing to be done" in done.stdout
    )  # nothing depends on what the cache holds
    (tmp_path / "results").rename(tmp_path / "before")
    done = snakemake(*study, "--", table, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert rows(tmp_path / "results" / "small", "discernment") == before


@pytest.mark.slow
@needs_client
def test_a_check_of_a_study_that_trains_fetches_nothing(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a judge learns from is drawn once all sources can be compared."""
    far_study(tmp_path)
    with serve(annotate) as endpoint:
        fields = {"aspects": ["fluency"], "methods": ["discernment"]}
        fields["perturbations"] = ["random-deletions"]
        study = distilling(tmp_path, endpoint, datasets=["far"], **fields)
        stand_ins(study, monkeypatch)
        done = study.judgescope("check")
    assert done.returncode == 0, done.stdout
    assert "the requests for far, demo-news are unknown" in done.stdout
    assert not (tmp_path / "results/asked/distill").exists() and not endpoint.asked


@pytest.mark.slow
@needs_client
def test_another_file_than_the_card_describes_is_refused(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = far_study(tmp_path, sha256={"items": "0" * 64})
    with hub() as (address, _):
        monkeypatch.setenv("HF_ENDPOINT", address)
        done = snakemake(*study, cwd=tmp_path)
    assert done.returncode != 0 and "key sha256.items" in done.stdout, done.stdout
    assert (
        "0" * 64 in done.stdout and hashlib.sha256(CONTENT).hexdigest() in done.stdout
    )
    assert not list(tmp_path.glob("results/small/targets/**/*.parquet"))
    done = snakemake(*study, cwd=tmp_path)  # now the preflight knows
    assert "the study cannot run" in done.stdout and "key sha256.items" in done.stdout


NONE = FILE | {"file": "part/none.jsonl"}
TOLD = f"part/none.jsonl of owner/some.data at {COMMIT}"


@pytest.mark.slow
@needs_client
def test_a_file_that_is_missing_is_reported(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = far_study(tmp_path, files={"items": NONE})
    with hub() as (address, _):
        monkeypatch.setenv("HF_ENDPOINT", address)
        done = snakemake(*study, cwd=tmp_path)
    assert done.returncode != 0 and "Traceback" not in done.stdout, done.stdout
    assert "downloaded from the hub" in done.stdout and TOLD in done.stdout


FETCH = f"""
import time
from judgescope.core.errors import UserError
from judgescope.data.files import fetch
from judgescope.schema.cards import Hub
time.sleep = lambda seconds: print("waits", seconds)
try:
    fetch(Hub(**{NONE}))
except UserError as error:
    print(error)
"""


@pytest.mark.heavy
@needs_client
def test_a_hub_that_is_away_is_tried_again_and_then_reported(
    tmp_path: Path, cache: Path
) -> None:
    done = run("-c", FETCH, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.count("waits") > 2, done.stdout
    assert "downloaded from the hub" in done.stdout and TOLD in done.stdout


def test_without_the_client_the_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    dataset = card(**{key: value for key, value in TABLE.items() if key != "dataset"})
    with pytest.raises(UserError, match="needs the package huggingface_hub") as error:
        verify(dataset, tmp_path, tmp_path)
    assert "pip install huggingface_hub" in str(error.value) and COMMIT in str(
        error.value
    )


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        (
            {"revision": "main"},
            [":6, key files.items.revision", "branches and tags", "'main'"],
        ),
        ({"revision": f"a{COMMIT[:6]}"}, ["key files.items.revision", "all 40"]),
        ({"hub": "data"}, ["key files.items.hub", "'data'"]),
        ({"branch": "main"}, ["unknown key", "allowed: file, hub, revision"]),
    ],
)
def test_what_is_no_file_of_a_single_commit_is_refused(
    tmp_path: Path, changes: dict[str, str], parts: list[str]
) -> None:
    path = tmp_path / "far.yaml"
    lines = [f"      {key}: {value}" for key, value in (FILE | changes).items()]
    rest = {
        key: value for key, value in TABLE.items() if key not in {"dataset", "files"}
    }
    head = ["dataset: far", "", "files:", "    items:", *lines]
    path.write_text("\n".join(head) + "\n" + yaml.safe_dump(rest), encoding="utf-8")
    with pytest.raises(UserErrors) as error:
        read_card("dataset", path)
    assert all(part in str(error.value) for part in parts), str(error.value)


def test_a_single_file_on_a_hub_has_the_role_data_and_needs_a_hash() -> None:
    keys = {"format": "sumpubmed_jsonl", "ratings": "none", "files": FILE}
    with pytest.raises(ValueError, match="add the sha256 of the role data"):
        card(**keys)
    data = card(**keys, sha256="0" * 64).files["data"]
    assert str(data) == f"part/items.jsonl of owner/some.data at {COMMIT}"
