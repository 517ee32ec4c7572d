"""What a change makes run again: every row of docs/rerun.md is made, asked for and
planned.
"""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from asking import rate
from judgescope.schema.tables import read_table
from rerun import CHANGES, Change, document, stronger
from rerun_place import Place, cloned, copied
from running import HOME, outputs
from scripted import Endpoint, serve

pytestmark = [pytest.mark.slow, pytest.mark.long(15), pytest.mark.independent]
COMBINED = {
    "one text of one system",
    "a new perturbation",
    "a judge's draws, from 1 to 3",
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    """One endpoint for all changes: its address is in a card."""
    with serve(rate) as running:
        yield running


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, endpoint: Endpoint) -> Place:
    """The study as it was run before every change."""
    location = Place(tmp_path_factory.mktemp("rerun") / "base")
    location.set_up(endpoint)
    location.reach("all")
    return location


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.what)
def test_a_change_makes_run_what_it_asks_for(
    change: Change, base: Place, endpoint: Endpoint, tmp_path: Path
) -> None:
    location = change.place(base, tmp_path / "here")
    change.make(location)
    assert location.planned("all") == change.jobs
    before = len(endpoint.asked)
    if not change.executed:
        location.reach("asked")
        assert len(endpoint.asked) - before == change.requests
        return
    rules = Counter[str]()
    for job, count in change.jobs.items():
        rule = job.partition(" ")[0]
        rules["ask_api" if rule == "ask" else rule] += count
    assert location.reach("all") == rules
    assert len(endpoint.asked) - before == change.requests
    assert location.planned("all") == {}


def test_of_a_stronger_perturbation_the_server_sees_the_changed_texts_alone(
    base: Place, endpoint: Endpoint, tmp_path: Path
) -> None:
    location = copied(base, tmp_path / "here")
    before, known = texts(location), len(endpoint.asked)
    stronger(location)
    location.reach("asked")
    after = texts(location)
    judged = {
        text
        for name in ("original", "reordering.major")
        for text in texts(location, name)
    }
    changed = after - before - judged
    prompts = endpoint.prompts[known:]
    about = Counter(
        text for text in after for prompt in prompts if f"\n{text}\n" in prompt
    )
    assert set(about) == changed and sum(about.values()) == len(prompts)
    assert set(about.values()) == {2, 4}  # by two judges, on one aspect or both


def texts(location: Place, name: str = "reordering.minor") -> set[str]:
    """Return the texts of a set of targets, of all datasets, that were made."""
    return {
        text
        for path in location.folder.glob(f"results/changing/targets/*/{name}.parquet")
        for text, status in zip(
            *(
                read_table("targets", path)[name].to_pylist()
                for name in ("text", "status")
            ),
            strict=True,
        )
        if not status.startswith("impossible")
    }


@pytest.mark.long(55)
def test_after_changes_all_is_as_in_a_run_from_nothing(
    base: Place, endpoint: Endpoint, tmp_path: Path
) -> None:
    location = copied(base, tmp_path / "changed")
    *before, last = (change for change in CHANGES if change.what in COMBINED)
    for change in before:
        change.make(location)
        location.reach("asked")
    last.make(location)
    location.reach("all")
    fresh = cloned(location, tmp_path / "fresh")
    shutil.rmtree(fresh.folder / "results")
    asked = len(endpoint.asked)
    fresh.reach("all")
    assert len(endpoint.asked) == asked
    assert outputs(fresh.out) == outputs(location.out) != outputs(base.out)


def test_the_document_is_this_table() -> None:
    assert (HOME / "docs" / "rerun.md").read_text(encoding="utf-8") == document()
