"""Ensembles of annotators: which members are heard, and the cards of ensembles."""

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import running
from judgescope.core.errors import UserError, UserErrors
from judgescope.plan.loading import load_plan
from judgescope.schema.tables import table_of
from judgescope.scoring.aggregate import ScoredCell
from judgescope.scoring.ensembles import (
    by_rule,
    by_supervisor,
    exact_scores,
    heard,
    with_errors,
)
from parsed import parse
from study import Study

MAT = "A cat sat on the mat."
NOWHERE = {"start": None, "end": None, "occurrence": None, "category": None}
CAT: dict[str, Any] = {
    "start": 2,
    "end": 5,
    "occurrence": 1,
    "location": "cat",
    "match": "exact",
}


def flaw(why: str, severity: float = 2, **where: Any) -> dict[str, Any]:
    known = {**NOWHERE, "location": "dog", "match": "not_found", **where}
    return {**known, "explanation": why, "severity": severity}


Draw = tuple[float | None, Sequence[dict[str, Any]] | None]


def member(*draws: Draw, target: str = "t", estimator: str = "mean") -> ScoredCell:
    """Return a member's judgments and score of one text; each draw has a value or was
    not read.
    """
    asked = {"judge": "j", "kind": "rate", "target": target, "aspect": "a"}
    rows = [
        {
            **asked,
            **{"draw": draw, "status": "unparsed" if value is None else "ok"},
            **{"value": value, "spans": spans},
        }
        for draw, (value, spans) in enumerate(draws)
    ]
    cell = {"dataset": "d", "perturbation": "systems", "judge": "j", "aspect": "a"}
    score = {"target": target, "estimator": estimator}  # its value is not used
    return table_of("judgments", rows), table_of("scores", [{**cell, **score}])


def whys(expected: Any) -> list[list[str]]:
    return [[error.explanation for error in errors] for errors in expected["t"]]


def test_a_member_is_heard_with_its_first_parsed_draw() -> None:
    drawn = member((None, [flaw("torn")]), (3, [flaw("second")]), (4, [flaw("third")]))
    silent, lost = member((4, [])), member((None, [flaw("other")]))
    assert whys(heard([drawn, silent, lost], min_annotators=2)) == [["second"], []]
    assert not heard([drawn, lost, lost], min_annotators=2)


def test_half_of_the_draws_make_a_score_whatever_stands_in_for_the_others() -> None:
    """Sensitivity analyses fill in scores, and may ask no supervisor anew."""
    half, less = (
        member((None, None), (3, [])),
        member((None, None), (None, None), (3, [])),
    )
    exact = [
        exact_scores(*each)["t"] for each in (half, less, member((2.3, []), (2.4, [])))
    ]
    assert exact == [3, None, Fraction(47, 20)]


@pytest.mark.parametrize(("estimator", "score"), [("mode", 5), ("first", 4)])
def test_other_estimators_have_separate_score(estimator: str, score: int) -> None:
    drawn = member((4, []), (5, []), (5, []), estimator=estimator)
    assert exact_scores(*drawn) == {"t": score}


@pytest.mark.parametrize(
    ("estimator", "draws"), [("first", (None, 1.0)), ("majority", (0.0, 1.0))]
)
def test_an_estimator_without_a_value_gives_no_exact_score(
    estimator: str, draws: tuple[float | None, ...]
) -> None:
    drawn = member(*((value, []) for value in draws), estimator=estimator)
    assert exact_scores(*drawn) == {"t": None}


@pytest.mark.parametrize(("last", "out"), [(1, True), (2, True), (4, False)])
def test_an_outlier_is_not_heard(last: float, out: bool) -> None:
    given = zip("abcde", (5, 5, 5, 5, last), strict=True)
    result = heard(
        [member((value, [flaw(name)])) for name, value in given], min_annotators=3
    )
    # at 4 the fifth is two deviations away, and less than a point
    assert whys(result) == [[name] for name in ("abcd" if out else "abcde")]


@pytest.mark.parametrize("draws", [3, 7, 97])
def test_an_outlier_of_means_of_draws_is_a_single_exactly(draws: int) -> None:
    """Of 5, 5, 5, 5 and 5 - d the last is two deviations away, whatever d: no float
    decides.
    """
    steady = [member(*[(5, [flaw(name)])] * draws) for name in "abcd"]
    low = member((4, [flaw("e")]), *[(3, [flaw("e")])] * (draws - 1))
    assert whys(heard([*steady, low], min_annotators=3)) == [["a"], ["b"], ["c"], ["d"]]


def test_a_text_that_a_member_was_not_given_is_left_out() -> None:
    first, other = member((3, [flaw("a")])), member((3, [flaw("b")]), target="other")
    assert heard([first, first], min_annotators=1)
    assert not heard([first, other], min_annotators=1)


def test_by_rule_overlapping_errors_are_one_and_the_worst() -> None:
    members = [
        member((3, [flaw("short", 2, **CAT)])),
        member((3, [flaw("much longer", 4, **CAT)])),
    ]
    lists = heard(members, min_annotators=1)
    [error] = by_rule(lists, {"t": MAT})["t"].errors or ()
    assert (error.start, error.end, error.severity, error.explanation) == (
        2,
        5,
        4,
        "much longer",
    )


def test_a_supervisor_is_asked_given_an_error_and_located_anew() -> None:
    lists = heard([member((3, [flaw("why")])), member((5, []))], min_annotators=1)
    assert [target for target, _ in with_errors(lists)] == ["t"]
    text = "Error 1:\nLocation: the mat\nExplanation: none is there\nSeverity: 5"
    answer = {"target": "t", "text": text, "finish": "stop", "status": "ok"}
    result = by_supervisor(lists, {"t": MAT}, [answer])["t"]
    [error] = result.errors or ()
    assert (MAT[error.start : error.end], error.severity, error.match) == (
        "the mat",
        5,
        "exact",
    )
    for change, rule in (
        ({"status": "error", "text": "HTTP 400: no"}, "supervisor error, refused"),
        ({"finish": "length"}, "supervisor truncated, finish_length"),
        (
            {"text": "I'm sorry, but I cannot help with that."},
            "supervisor refused, refusal",
        ),
        ({"text": "Well."}, "supervisor unparsed, no_list"),
    ):
        lost = by_supervisor(lists, {"t": MAT}, [{**answer, **change}])["t"]
        assert lost.errors is None and lost.rule == f"no errors: {rule}"
    unasked = by_supervisor({"t": [[], []]}, {"t": MAT}, [])["t"]
    assert unasked.errors == [] and unasked.rule == "no member lists an error"


def test_a_supervisor_gives_no_verdict() -> None:
    text = "No Error\nOverall score: Excellent"
    read = parse(text, scale=None, finish="stop", parser="merged")
    assert (read.status, read.value, read.errors) == ("ok", None, ())


def planned(
    folder: Path,
    ensemble: dict[str, Any],
    prompt: str | None = None,
    judges: Sequence[str] = (),
) -> Any:
    cards: dict[str, dict[str, Any]] = {
        "models/loop": {"engine": "openai", "base_url": "http://127.0.0.1:9/v1"},
        "judges/one": {"model": "loop", "form": "score-only"},
        "judges/two": {"model": "loop", "form": "error-list"},
        "judges/both": {"members": ["one", "two"], **ensemble},
    }
    cards["judges/one"]["parser"] = cards["judges/two"]["parser"] = "annotation"
    cards["judges/three"] = {"model": "loop", "form": "score-only"}
    for name, card in cards.items():
        Study(folder).card(*name.split("/"), **card)
    if prompt is not None:
        (folder / "config" / "prompts").mkdir()
        (folder / "config" / "prompts" / "own.jinja").write_text(
            prompt, encoding="utf-8"
        )
    study = {
        **{"study": "s", "datasets": ["demo-dialogue"], "methods": ["agreement"]},
        "judges": ["one", "two", "three", *judges, "both"],
    }
    return load_plan(study, running.HOME, source="s.yaml")


LED = {"combine": "supervisor", "supervisor": {"model": "loop"}}


@pytest.mark.parametrize(
    ("ensemble", "prompt", "what"),
    [
        ({"combine": "supervisor"}, None, "go together"),
        ({"supervisor": {"model": "loop"}}, None, "go together"),
        (
            {**LED, "members": ["one", "three"]},
            None,
            "this member lists no errors",
        ),
        ({**LED, "supervisor": {"model": "lexical"}}, None, "lexical"),
        (
            {**LED, "supervisor": {"model": "loop", "form": "no"}},
            None,
            "unknown prompt",
        ),
        (
            {**LED, "supervisor": {"model": "loop", "form": "own"}},
            "{{ lists }}",
            "variable `text`",
        ),
        (
            {**LED, "supervisor": {"model": "loop", "form": "own"}},
            "{{ text }}",
            "the errors to merge",
        ),
        (
            {**LED, "supervisor": {"model": "loop", "form": "own"}},
            "{{ aspect }}",
            "cannot be rendered",
        ),
    ],
)
def test_what_no_ensemble_can_be(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ensemble: dict[str, Any],
    prompt: str | None,
    what: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((UserError, UserErrors), match=what):
        planned(tmp_path, ensemble, prompt)


@pytest.mark.parametrize("combine", [{}, LED])
@pytest.mark.parametrize(
    "members", [["one", "hundred"], ["hundred", "more"], ["three", "more"]]
)
def test_an_ensemble_has_no_annotator_that_scores_from_0_to_100(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    combine: dict[str, Any],
    members: list[str],
) -> None:
    """A point of 1 to 5 is none of its scale, and its mean with others is on no
    scale.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("hundred", "more"):
        card = {"model": "loop", "form": "annotate", "annotation": {"score": "percent"}}
        Study(tmp_path).card("judges", name, **card)
    text = (
        "this member lists no errors"
        if combine and "three" in members
        else "must score from 1 to 5"
    )
    with pytest.raises(UserError, match=text) as listed:
        planned(tmp_path, {**combine, "members": members}, judges=["hundred", "more"])
    assert re.fullmatch(r"config/judges/both.yaml:\d, key members", listed.value.where)


@pytest.mark.heavy
def test_an_ensemble_lists_errors_if_all_its_members_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert planned(tmp_path, LED).annotates("both")
    assert planned(tmp_path, {}).annotates("both")
    mixed = planned(tmp_path, {"members": ["one", "three"]})
    assert not mixed.annotates("both") and not mixed.annotates("three")


def test_no_ensemble_has_the_name_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Study(tmp_path).card("judges", "all", members=["rules", "length"])
    study = {
        **{"study": "s", "datasets": ["demo-dialogue"], "methods": ["agreement"]},
        "judges": ["rules", "length", "all"],
    }
    with pytest.raises(UserError, match="reserved or used twice"):
        load_plan(study, running.HOME, source="s.yaml")
