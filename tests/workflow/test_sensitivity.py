"""`run --sensitivity`: a judge whose replies are lost, and one that loses none."""

import csv
from collections.abc import Iterator
from typing import Any

import pytest

from asking import AskedStudy
from scripted import Body, Said, reply, serve

pytestmark = pytest.mark.slow


def lossy(body: Body) -> Said:
    """Rate by the request's seed; at temperature .5 every third reply says nothing."""
    if body["temperature"] > 0 and body["seed"] % 3 == 0:
        return reply("I cannot say.")
    return reply(f"Rating: {1 + body['seed'] % 5}")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(lossy) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("lost"), endpoint)
        study.card("judges", "whole", model="loop", form="score-only")
        study.card("judges", "lossy", model="loop", form="score-only", temperature=0.5)
        study.write(judges=["whole", "lossy"])
        yield study


def test_a_study_that_has_not_run_has_nothing_to_compare(study: AskedStudy) -> None:
    done = study.run("--sensitivity")
    assert done.returncode == 1 and "the study has no results yet" in done.stdout
    assert not study.endpoint.asked


@pytest.mark.long(22)
def test_only_lost_judgments_move_numbers_and_nothing_is_asked(
    study: AskedStudy,
) -> None:
    assert study.run().returncode == 0
    asked = len(study.endpoint.asked)
    done = study.run("--sensitivity")
    assert done.returncode == 0, done.stdout[-3000:]
    assert len(study.endpoint.asked) == asked
    assert "zero is skipped: 0 is not a value of this scale" in done.stdout
    assert "wrong is skipped: no aspect has labels" in done.stdout
    by_policy = _by_policy(study)
    assert set(by_policy) == {"missing", "worst", "mid", "random"}
    assert all(len(rows) == len(by_policy["missing"]) for rows in by_policy.values())
    dropped = by_policy["missing"]["lossy"]
    for policy in ("worst", "mid", "random"):
        assert (
            by_policy[policy]["whole"]["value"]
            == by_policy["missing"]["whole"]["value"]
        )
        row = by_policy[policy]["lossy"]
        assert (
            float(row["n"]) > float(dropped["n"]) and row["value"] != dropped["value"]
        )
        gap = float(row["value"]) - float(dropped["value"])
        assert float(row["moved"]) == pytest.approx(gap)
        inside = (
            float(dropped["ci_low"]) <= float(row["value"]) <= float(dropped["ci_high"])
        )
        assert row["outside"] == str(not inside)
    table = done.stdout.split("main numbers depend")[1]
    assert " lossy " in table and " whole " not in table


def _by_policy(study: AskedStudy) -> dict[str, dict[str, dict[str, Any]]]:
    """Return policy -> judge -> its correlation, of the file that the command
    writes.
    """
    path = study.folder / "results" / "asked" / "unread" / "sensitivity.csv"
    collected: dict[str, dict[str, dict[str, Any]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            collected.setdefault(row["policy"], {})[row["judge"]] = row
    return collected
