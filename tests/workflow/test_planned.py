"""What a dry run tells of its jobs: how many, and why each would run."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import running
from running import HOME
from snakemake_logger_plugin_judgescope.dry_run import PlannedJobs, changed, in_words
from study import Study

SPEC: dict[str, Any] = {
    "code": "0123",
    "judges": {"terse": {"temperature": 0.0, "form": "score-only"}},
    "templates": {"score-only": "Rate it. " * 50},
}


def params(before: Any, now: Any, more: str = "") -> str:
    """Return the reason of changed params as Snakemake 9.27 words it."""
    collected = [repr(json.dumps(spec)) for spec in (before, now)]
    return (
        "Params have changed since last execution: Union of exclusive params before "
        f"and now across all output: before: {collected[0]} now: {collected[1]} {more}"
    )


def changed_spec(**keys: Any) -> dict[str, Any]:
    return SPEC | keys


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (changed_spec(code="4567"), 'code: "0123" -> "4567"'),
        (
            changed_spec(judges={"terse": {"temperature": 0.5, "form": "score-only"}}),
            "judges.terse.temperature: 0.0 -> 0.5",
        ),
        (changed_spec(judges={}), "judges.terse is gone"),
        (changed_spec(share=0.5), "share is new"),
        (
            changed_spec(templates={"score-only": "x" * 99}),
            "templates.score-only has changed",
        ),
        (
            changed_spec(code='it\'s; a now: "b"'),
            'code: "0123" -> "it\'s; a now: \\"b\\""',
        ),
    ],
)
def test_of_changed_params_what_has_changed_is_named(now: Any, words: str) -> None:
    assert in_words(params(SPEC, now)) == words
    assert len(in_words(params(SPEC, now))) < 200 < len(params(SPEC, now))


def test_both_params_of_a_job_may_have_changed() -> None:
    code, spec = ({"code": "01", "versions": {"numpy": "1"}}, {"share": 1})
    before = ",".join(repr(json.dumps(each)) for each in (code, spec))
    now = ",".join(
        repr(json.dumps(each)) for each in ({"share": 0.5}, code | {"code": "02"})
    )
    start = params(SPEC, SPEC).partition("before: ")[0]
    words = in_words(f"{start}before: {before} now: {now} ")
    assert words == 'code: "01" -> "02", share: 1 -> 0.5'


def test_many_changes_are_counted() -> None:
    now = dict.fromkeys("abcdef", 1)
    assert in_words(params(dict.fromkeys("abcdef", 0), now)).endswith("and 2 more")
    assert list(changed({"a": [1]}, {"a": [2]})) == ["a: [1] -> [2]"]


def test_params_that_are_no_spec_are_named_without_their_text() -> None:
    words = in_words(params(SPEC, SPEC).replace('{"', "{<"))
    assert "settings" in words and "Rate it" not in words


def test_several_reasons_stand_side_by_side() -> None:
    reason = "Updated input files: a.csv, b.csv, c.csv; " + params(
        SPEC, changed_spec(code="1")
    )
    assert set(in_words(reason).split("; ")) == {
        'code: "0123" -> "1"',
        "newer input: a.csv and 2 more",
    }
    environment = "; Software environment definition has changed since last execution"
    assert "code:" in in_words(params(SPEC, changed_spec(code="1"), environment))


def test_jobs_of_a_single_rule_and_reason_are_a_single_line() -> None:
    planned = PlannedJobs()
    for number in range(3):
        planned.add(
            "score", f"Missing output files: {number}.parquet", [f"{number}.parquet"]
        )
    planned.add(
        "report", "Input files updated by another job: 0.parquet", ["index.html"]
    )
    planned.add("all", "Input files updated by another job: index.html", [])
    lines = list(planned.lines())
    assert len(lines) == 3
    assert "score" in lines[0] and "0.parquet and 2 more" in lines[0]
    assert "report" in lines[1] and "4 jobs" in lines[2]


@pytest.mark.long(11)
@pytest.mark.slow
def test_a_bare_snakemake_shows_a_change_of_code_as_such(tmp_path: Path) -> None:
    Study(tmp_path).write(judges=["rules"], methods=["discernment"])
    target = "results/small/items/demo-dialogue.parquet"
    options = ("--configfile", "study.yaml", "--", target)
    home = running.copy_project(tmp_path / "workflow")
    done = running.snakemake(*options, cwd=tmp_path, home=home)
    assert done.returncode == 0, done.stdout
    with (home / "scripts" / "judgescope" / "data" / "tables.py").open("a") as file:
        file.write("CHANGED = 1\n")
    again = running.snakemake("-n", *options, cwd=tmp_path, home=home)
    [result] = re.findall(
        r"Params have changed since last execution: (.*)", again.stdout
    )
    assert "code" in result and "versions" in result
    assert "ratings" not in result and len(result) < 400


def test_where_nothing_runs_it_says_so() -> None:
    assert "nothing" in "".join(PlannedJobs().lines())


@pytest.mark.slow
def test_a_dry_run_names_each_job_once_and_nothing_of_the_machine(
    tmp_path: Path,
) -> None:
    Study(tmp_path).write(judges=["rules"], methods=["discernment"])
    done = running.run("-m", "judgescope", "run", "study.yaml", "-n", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("jobs would run") == done.stdout.count(" ingest") == 1
    assert ": missing" in done.stdout
    for private in (str(HOME), str(tmp_path), "profile", "Host:", "User:"):
        assert private not in done.stdout
