"""Values between the steps of a scale: a status of their own, a key of the card, and a
remedy.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import report_study
from judgescope.cli.replies import summary as read_summary
from judgescope.cli.summary import summary
from judgescope.methods import coverage
from judgescope.parsing.judgment import (
    NO_VALUE,
    OFF_GRID,
    OFF_GRID_REMEDY,
    STATUSES,
    OffGrid,
    Scale,
)
from judgescope.plan.judges import card_hash, facts_of
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import judging
from judgescope.report.contents import section_named
from judgescope.report.sections.sentences import no_score
from judgescope.report.words import STATUSES as WORDS
from judgescope.schema.cards import Judge
from judgescope.schema.tables import table_of, write_table
from parsed import parse
from running import HOME
from study import Study

REPLIES = {
    "score": ("Rating: 4.3", "labelled"),
    "result": ("It holds. [RESULT] 4.3", "result.labelled"),
    "annotation": ("Overall score: 4.3", "labelled.labelled"),
    "number": ("4.3", "number"),
}


@pytest.mark.parametrize("parser", REPLIES)
@pytest.mark.parametrize(
    ("off_grid", "status", "ending", "value"),
    [
        ("drop", "off_grid", ".off_grid", None),
        ("keep", "ok", ".kept", 4.3),
        ("round", "ok", ".rounded", 4),
    ],
)
def test_a_value_between_steps_is_read_as_the_card_says(
    parser: str, off_grid: OffGrid, status: str, ending: str, value: float | None
) -> None:
    text, rule = REPLIES[parser]
    judgment = parse(
        text, scale=Scale(1, 5, 1, (), off_grid), finish="stop", parser=parser
    )
    assert (judgment.status, judgment.rule.partition("+")[0], judgment.value) == (
        status,
        rule + ending,
        value,
    )


@pytest.mark.parametrize(
    ("message", "scale", "value"),
    [
        (
            "0.5",
            Scale(0, 1, 1),
            0,
        ),  # halves go to the even step, so that they move no mean
        ("1.5", Scale(1, 5, 1), 1),
        ("2.5", Scale(1, 5, 1), 3),
        ("3.5", Scale(1, 5, 1), 3),
        ("4.5", Scale(1, 5, 1), 5),
        ("4.3", Scale(1, 5, 0.5), 4.5),
        ("0.33", Scale(0, 1, 0.1), 0.3),
        ("-0.6", Scale(-2, 2, 1), -1),
    ],
)
def test_rounding_goes_to_the_nearest_step(
    message: str, scale: Scale, value: float
) -> None:
    rounding = Scale(scale.min, scale.max, scale.step, (), "round")
    assert parse(f"Score: {message}", scale=rounding, finish="stop").value == value


@pytest.mark.parametrize("off_grid", ["drop", "keep", "round"])
def test_no_choice_moves_a_value_into_the_scale_or_touches_one_on_it(
    off_grid: OffGrid,
) -> None:
    scale = Scale(1, 5, 1, (), off_grid)
    assert parse("Score: 5.4", scale=scale, finish="stop").status == "out_of_range"
    assert (
        parse("Score: 4.3/10", scale=scale, finish="stop").rule
        == "labelled.denominator"
    )
    assert parse("Score: 4.0", scale=scale, finish="stop").rule == "labelled"


def test_every_status_has_its_word_and_its_location() -> None:
    assert set(STATUSES) == WORDS.keys() == {"ok", "not_applicable", *NO_VALUE}
    assert OFF_GRID in NO_VALUE


@pytest.mark.parametrize(
    "keys",
    [
        {"parser": "chiang-lee"},
        {"parser": "choice"},
        {"parser": "errors"},
        {"estimator": "logprob_mean"},
    ],
)
def test_a_separate_rule_takes_no_other(keys: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="off_grid"):
        Judge.model_validate({"judge": "j", "model": "m", "off_grid": "round", **keys})
    assert Judge.model_validate({"judge": "j", "model": "m", **keys}).off_grid == "drop"


@pytest.mark.heavy
def test_the_key_changes_scores_and_signature_but_nothing_that_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study: dict[str, Any] = {
        "study": "s",
        "datasets": ["demo-dialogue"],
        "judges": ["score-only", "random"],
    }
    asked, scored, facts, hashes = [], [], [], set[str]()
    monkeypatch.chdir(tmp_path)
    for off_grid in (
        {},
        {"off_grid": "drop"},
        {"off_grid": "keep"},
        {"off_grid": "round"},
    ):
        Study(tmp_path).change("judges", "score-only", **off_grid)
        plan = load_plan(study | {"methods": ["agreement"]}, HOME, source="study.yaml")
        asked.append(judging.ask(plan, "demo-dialogue", "judge"))
        [cells] = judging.score(plan, "demo-dialogue", "judge").cells
        scored += [reading.scale for reading in cells.readings]
        facts.append(facts_of(plan, "demo-dialogue", "score-only").grid["naturalness"])
        hashes.add(card_hash(plan.judges["score-only"]))
    assert asked[1:] == asked[:-1] and len(hashes) == 3
    assert [scale and scale.off_grid for scale in scored] == [
        "drop",
        "drop",
        "keep",
        "round",
    ]
    assert facts[0] == facts[1] == facts[3] == [1, 2, 3, 4, 5] and facts[2] is None
    control = judging.compute(plan, "demo-dialogue", "control")
    assert {read.scale.off_grid for read in control.read if read.scale} == {"keep"}


def test_the_remedy_is_reported_wherever_such_values_are_counted(
    tmp_path: Path,
) -> None:
    statuses = {
        "ok": Counter({"labelled": 7}),
        "off_grid": Counter({"labelled.off_grid": 3}),
    }
    result = dict(coverage.counts_by_status(statuses))
    assert result["count_off_grid"].value == 3
    assert coverage.share_parsed(statuses).value == 0.7
    assert "labelled.off_grid 3" in result["count_off_grid"].note
    assert OFF_GRID_REMEDY in result["count_off_grid"].note
    assert OFF_GRID_REMEDY not in result["count_ok"].note
    row = {"dataset": "d", "judge": "mine", "statistic": "count_off_grid", "value": 3.0}
    written = table_of("results", [row | {"level": "", "aspect": ""}])
    write_table("results", written, tmp_path / "tables" / "coverage.parquet")
    told_lines = summary(tmp_path).splitlines()
    [line] = [line for line in told_lines if OFF_GRID_REMEDY in line]
    assert "3 values of mine" in line
    for status, remedies in (("off_grid", 1), ("out_of_range", 0)):
        counted = [report_study.row("news", "gamma", f"count_{status}", 3.0)]
        report = report_study.loaded(
            report_study.make(tmp_path / status, {"coverage": counted})
        )
        [gamma] = (judge for judge in report.judges if judge.id == "gamma")
        section = section_named("coverage", report)
        assert section and str(section.blocks).count(OFF_GRID_REMEDY) == remedies
        assert no_score(report, gamma).count(OFF_GRID_REMEDY) == remedies
    counts = Counter(tokens_in=1, tokens_out=1, usd=0)
    assert (
        OFF_GRID_REMEDY
        in read_summary([{"judge": "m", "status": "off_grid", **counts}])[-1]
    )
    assert (
        OFF_GRID_REMEDY
        not in read_summary([{"judge": "m", "status": "ok", **counts}])[-1]
    )
    assert (
        "step: 0.5" in OFF_GRID_REMEDY and "off_grid: keep | round" in OFF_GRID_REMEDY
    )
