"""What `check` says about a judge's keys `read` and `examples`."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import to_builtins
from pydantic import ValidationError

from judgescope.core.errors import UserError
from judgescope.plan.judges import card_hash, facts_of, parser_of, settings_of
from judgescope.plan.specs.judge_cards import settings_of as shown_settings
from judgescope.plan.specs.judging import ask, reading, score
from judgescope.schema.cards import Judge
from running import HOME
from study import Study

GRADE = r"Final grade:\s*(?P<verdict>[\w ]+)"
FORMS = {"scores": "score-only", "labels": "verdict", "pairs": "compare"}
DATASETS = {"scores": "demo-dialogue", "labels": "demo-answers", "pairs": "demo-pairs"}
ASPECTS = {"scores": "naturalness", "labels": "correctness", "pairs": "overall"}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.chdir(tmp_path)
    return Study(
        tmp_path,
        study="read",
        datasets=["demo-dialogue"],
        aspects=[],
        judges=["own"],
        perturbations=[],
        methods=["agreement"],
    )


def planned(study: Study, kind: str = "scores", /, **keys: Any) -> Any:
    """Return the plan of a study whose judge gives scores, labels or choices."""
    card = {"model": "judge", "form": FORMS[kind], "aspects": [ASPECTS[kind]], **keys}
    study.card("judges", "own", **card)
    methods = {"scores": "agreement", "labels": "labels", "pairs": "pairwise"}
    return study.plan(datasets=[DATASETS[kind]], methods=[methods[kind]])


def refused(study: Study, kind: str = "scores", /, **keys: Any) -> UserError:
    with pytest.raises(UserError) as caught:
        planned(study, kind, **keys)
    return caught.value


@pytest.mark.parametrize(
    ("kind", "rule", "parser", "settings"),
    [
        ("scores", {"pattern": GRADE}, "pattern", {"pattern": GRADE}),
        (
            "scores",
            {"path": "result.score", "map": {"good": 4}},
            "path",
            {"path": "result.score", "mapped": {"good": "4"}},
        ),
        (
            "labels",
            {"pattern": GRADE, "map": {"good": "pass"}},
            "pattern",
            {"pattern": GRADE, "mapped": {"good": "pass"}},
        ),
        (
            "pairs",
            {"pattern": GRADE, "map": {"first": "A", "equal": "tie"}},
            "pattern",
            {"pattern": GRADE, "mapped": {"first": "A", "equal": "tie"}},
        ),
    ],
)
def test_read_decides_the_parser_and_its_settings(
    study: Study,
    kind: str,
    rule: dict[str, Any],
    parser: str,
    settings: dict[str, Any],
) -> None:
    plan = planned(study, kind, read=rule)
    assert parser_of(plan, "own") == parser
    assert settings_of(plan, "own") == settings
    how = reading(plan, DATASETS[kind], "own", ASPECTS[kind])
    assert (how.scale is None) == (kind == "pairs")
    assert facts_of(plan, DATASETS[kind], "own").parser == parser


def test_the_letter_of_a_tie_is_passed_on(study: Study) -> None:
    plan = planned(study, "pairs", read={"pattern": GRADE}, tie="C")
    assert settings_of(plan, "own") == {"pattern": GRADE, "tie": "C"}


def test_read_changes_signatures_and_scoring_but_no_request(study: Study) -> None:
    def specs(**keys: Any) -> tuple[str, Any, Any]:
        plan = planned(study, **keys)
        card = card_hash(plan.judges["own"])
        asked = ask(plan, "demo-dialogue", "judge")
        return card, to_builtins(asked), to_builtins(score(plan, *SCORED))

    SCORED = ("demo-dialogue", "judge")
    plain = specs()
    by_pattern = specs(read={"pattern": GRADE})
    mapped = specs(read={"pattern": GRADE, "map": {"good": 4}})
    example = {"reply": "Final grade: 4", "value": 4}
    with_example = specs(read={"pattern": GRADE}, examples=[example])
    assert plain[1] == by_pattern[1] == mapped[1] == with_example[1]
    assert len({plain[0], by_pattern[0], mapped[0]}) == 3
    assert plain[2] != by_pattern[2] != mapped[2]
    assert with_example == by_pattern


def test_the_report_shows_the_rule_but_no_example(study: Study) -> None:
    example = {"reply": "Final grade: 4", "value": 4}
    plan = planned(study, read={"pattern": GRADE}, examples=[example])
    shown = shown_settings(plan, "own")
    assert shown["read"] == {"pattern": GRADE}
    assert shown["parser"] == "pattern"
    assert "examples" not in shown


def test_cards_without_the_keys_are_dumped_as_before() -> None:
    dumped = Judge(judge="j", model="m").model_dump()
    assert "read" not in dumped
    assert "examples" not in dumped


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"read": {}}, "needs either `pattern` or `path`"),
        ({"read": {"pattern": GRADE, "path": "a"}}, "needs either"),
        ({"read": {"pattern": GRADE}, "parser": "score"}, "leave one out"),
        (
            {"read": {"path": "a"}, "estimator": "logprob_mean"},
            "`estimator: logprob_mean` both say how replies are read",
        ),
        ({"read": {"path": "a"}, "annotation": {}}, "leave one out"),
        ({"read": {"path": "a", "map": {"x": True}}}, "valid string"),
        ({"read": {"path": "a", "map": {"x": 1, " X": 2}}}, "has a word twice"),
        ({"examples": [{"reply": "4"}]}, "Field required"),
        ({"examples": [{"reply": "4", "value": True}]}, "valid string"),
    ],
)
def test_unusable_keys_are_rejected(keys: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Judge.model_validate({"judge": "j", "model": "m", **keys})


@pytest.mark.parametrize(
    ("rule", "problem", "key"),
    [
        ({"pattern": r"grade (\d)"}, "no group (?P<verdict>…)", "read.pattern"),
        ({"pattern": "(?P<verdict>"}, "cannot be compiled", "read.pattern"),
        ({"path": "result..score"}, "empty key", "read.path"),
    ],
)
def test_an_unusable_rule_is_an_error_with_file_and_key(
    study: Study, rule: dict[str, str], problem: str, key: str
) -> None:
    error = refused(study, read=rule)
    assert problem in str(error)
    assert error.where.startswith("config/judges/own.yaml:")
    assert error.where.endswith(f", key {key}")
    assert repr(next(iter(rule.values()))) in str(error)


@pytest.mark.parametrize(
    ("kind", "meaning", "shown"),
    [
        ("scores", 6, "1, 2, 3, 4, 5"),
        ("scores", "good", "1, 2, 3, 4, 5"),
        ("labels", "passed", "nearest: pass"),
        ("labels", 1, "fail, pass"),
        ("pairs", "first", "A, B, tie"),
    ],
)
def test_a_meaning_off_the_menu_is_an_error(
    study: Study, kind: str, meaning: str | float, shown: str
) -> None:
    rule = {"pattern": GRADE, "map": {"fine": meaning}}
    error = refused(study, kind, read=rule)
    assert "`map` gives 'fine' a meaning that the judge cannot state" in str(error)
    assert shown in " ".join(str(error).split())


@pytest.mark.parametrize(
    ("kind", "keys", "example"),
    [
        ("scores", {}, {"reply": "Rating: 4", "value": 4}),
        ("scores", {}, {"reply": "no idea", "value": None}),
        (
            "scores",
            {"read": {"pattern": GRADE}},
            {"reply": "Final grade: 3", "value": 3},
        ),
        (
            "scores",
            {"read": {"pattern": GRADE}},
            {"reply": "Final grade: nice", "value": None},
        ),
        ("labels", {}, {"reply": "Verdict: pass", "value": "PASS"}),
        (
            "labels",
            {"read": {"path": "ok", "map": {"true": "pass"}}},
            {"reply": '{"ok": true}', "value": "pass"},
        ),
        ("pairs", {}, {"reply": "Choice: B", "value": "B"}),
        (
            "pairs",
            {"read": {"pattern": GRADE, "map": {"equal": "tie"}}},
            {"reply": "Final grade: equal", "value": "tie"},
        ),
    ],
)
def test_examples_that_are_read_as_expected_pass(
    study: Study, kind: str, keys: dict[str, Any], example: dict[str, Any]
) -> None:
    about = {**example, "aspect": ASPECTS[kind]}
    assert planned(study, kind, examples=[example, about], **keys)


@pytest.mark.parametrize(
    ("kind", "keys", "example", "shown"),
    [
        (
            "scores",
            {},
            {"reply": "Rating: 4", "value": 5},
            ("'Rating: 4'", "'4 (status ok, rule labelled)'", "the verdict 5"),
        ),
        (
            "scores",
            {"read": {"pattern": GRADE}},
            {"reply": "Rating: 4", "value": 4},
            ("no verdict (status unparsed, rule pattern.no_match)", "the verdict 4"),
        ),
        (
            "scores",
            {},
            {"reply": "Rating: 4", "value": None},
            ("4 (status ok", "no verdict (value: null)"),
        ),
        (
            "labels",
            {},
            {"reply": "Verdict: pass", "value": "fail"},
            ("'pass (status ok", "the verdict 'fail'"),
        ),
        (
            "pairs",
            {},
            {"reply": "Choice: A", "value": "B"},
            ("'a (status ok", "the verdict 'B'"),
        ),
    ],
)
def test_an_example_that_is_read_differently_is_an_error(
    study: Study,
    kind: str,
    keys: dict[str, Any],
    example: dict[str, Any],
    shown: tuple[str, ...],
) -> None:
    fitting = {"reply": "?", "value": None}
    error = refused(study, kind, examples=[fitting, example], **keys)
    assert ", key examples.1 (dataset demo-" in error.where
    for part in shown:
        assert part in str(error)


def test_control_characters_of_an_example_are_not_printed(study: Study) -> None:
    example = {"reply": "\x1b[2J" + "long " * 100, "value": 4}
    shown = str(refused(study, examples=[example]))
    assert "\x1b" not in shown
    assert len(shown) < 1000


def test_an_example_about_another_aspect_is_an_error(study: Study) -> None:
    example = {"reply": "4", "value": 4, "aspect": "coherence"}
    error = refused(study, examples=[example])
    assert "an aspect that the judge does not rate" in str(error)
    assert "naturalness" in str(error)


@pytest.mark.parametrize(
    "keys",
    [{"read": {"pattern": GRADE}}, {"examples": [{"reply": "4", "value": 4}]}],
)
def test_judges_that_return_numbers_have_no_replies_to_read(
    study: Study, keys: dict[str, Any]
) -> None:
    error = refused(study, model="control", form="random", **keys)
    assert "this one returns numbers" in str(error)
    assert f"leave `{next(iter(keys))}` out" in str(error)


def test_the_card_in_the_guide_reads_its_examples(study: Study) -> None:
    guide = (HOME / "docs/guide/parsing.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    by_pattern, by_path, by_choice = map(yaml.safe_load, blocks)
    assert len(by_pattern["examples"]) == 4
    keys = {key: by_pattern[key] for key in ("read", "examples")}
    assert planned(study, **keys)
    correct = {"reply": 'So:\n{"result": {"correct": true}}', "value": "pass"}
    assert planned(study, "labels", **by_path, examples=[correct])
    second = {"reply": "I prefer the second.", "value": "B"}
    neither = {"reply": "In all, neither is better.", "value": "tie"}
    assert planned(study, "pairs", **by_choice, examples=[second, neither])
