"""`replies prune` speaks of earlier prompts only where a store may hold replies to
them.
"""

import json
from pathlib import Path

import pytest

from asking import AskedStudy, rate
from judgescope.engines.requests import Reply
from judgescope.replies.compaction import export, merge
from judgescope.replies.store import Store
from scripted import Endpoint

pytestmark = pytest.mark.slow
NOTE = "The shipped prompts changed with this version"
KEY = "ab" * 32


@pytest.fixture
def study(tmp_path: Path) -> AskedStudy:
    """Return a study whose store has one reply that no study uses."""
    with Store(tmp_path / "cache" / "replies", "loop") as store:
        store.append(Reply(KEY, 0, "of no study"))
    made = AskedStudy(tmp_path, Endpoint("http://127.0.0.1:1/v1", rate))
    done = made.snakemake("results/asked/items/demo-dialogue.parquet")
    assert done.returncode == 0, done.stdout
    return made


def pruned(study: AskedStudy) -> str:
    done = study.judgescope("replies", "prune")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 lines are not used" in done.stdout
    return done.stdout


def test_new_store_holds_no_replies_to_earlier_prompts(study: AskedStudy) -> None:
    assert NOTE not in pruned(study)


def test_first_line_names_the_earlier_prompts_of_an_old_store(
    study: AskedStudy,
) -> None:
    named = study.folder / "cache" / "replies" / "loop" / "shard.json"
    assert json.loads(named.read_text("utf-8")) == {"model": "loop", "prompts": 2}
    named.write_text('{"model":"loop"}\n', "utf-8")
    with Store(named.parents[1], "loop") as store:
        store.append(Reply(KEY, 1, "another"))
    assert json.loads(named.read_text("utf-8")) == {"model": "loop"}
    done = study.judgescope("replies", "prune")
    assert done.stdout.startswith(NOTE)
    named.unlink()
    with Store(named.parents[1], "loop") as store:
        store.append(Reply(KEY, 2, "a third"))
    assert "prompts" not in json.loads(named.read_text("utf-8"))


def test_imported_replies_may_be_to_earlier_prompts(study: AskedStudy) -> None:
    shared = study.folder / "all.parquet"
    store = study.folder / "cache" / "replies"
    assert export(store, shared) == 1
    for path in (store / "loop").glob("*.jsonl"):
        path.unlink()
    with Store(store, "loop") as own_part:
        own_part.append(Reply(KEY, 1, "its own"))
    assert merge(shared, store)["loop"].new == 1
    assert study.judgescope("replies", "prune").stdout.startswith(NOTE)
