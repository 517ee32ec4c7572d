"""Audits of judges that must not be praised, or must not be passed over in silence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit_setup import Rows, chosen, made, passed, write
from judgescope.cli.main import main

pytestmark = pytest.mark.heavy
Claims = Callable[..., dict[str, list[dict[str, Any]]]]


@pytest.fixture
def claims(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Claims:
    """Return the function that audits rows: judge -> its claims."""
    monkeypatch.chdir(tmp_path)

    def run(
        rows: Rows, *words: str, name: str = "mine.csv"
    ) -> dict[str, list[dict[str, Any]]]:
        file = write(rows, Path(name))
        argv = ["judgescope", "audit", str(file), *words, "--json"]
        monkeypatch.setattr("sys.argv", argv)
        with pytest.raises(SystemExit):
            main()
        judges = json.loads(capsys.readouterr().out)["judges"]
        return {judge: of_judge["claims"] for judge, of_judge in judges.items()}

    return run


def unsigned(expected: dict[str, list[dict[str, Any]]]) -> str:
    """Return claims as text, without the signatures, which name the dataset."""

    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            pairs = value.items()
            return {key: kept(each) for key, each in pairs if key != "signature"}
        return [kept(each) for each in value] if isinstance(value, list) else value

    return json.dumps(kept(expected))


def test_the_name_of_the_file_changes_no_number(claims: Claims) -> None:
    """Raters whose columns are places are shuffled, scores are permuted in sources."""
    rows = []
    for row in made(120):
        low, high = sorted([row["Quality (Anna)"], row["Quality (Ben)"]])
        rows.append(row | {"Quality (Anna)": low, "Quality (Ben)": high})
    first, second = (
        unsigned(claims(rows, name=name)) for name in ("mine.csv", "Other Name.csv")
    )
    assert "as_rater" in first and first == second


@pytest.mark.parametrize(("share", "outcome"), [(0.0, "as_rater"), (0.3, "no_claim")])
def test_empty_scores_are_lost_judgments(
    claims: Claims, share: float, outcome: str
) -> None:
    rows = made(200)
    for at, row in enumerate(rows):
        mean = (row["Quality (Anna)"] + row["Quality (Ben)"]) / 2
        row["quality_gpt4"] = "" if at % 10 < 10 * share else mean
    [[claim]] = claims(rows).values()
    assert claim["outcome"] == outcome
    lost = "more than a fifth of its judgments are lost" in claim["reasons"]
    assert lost == (share > 0.2)


def test_a_judge_of_some_of_the_texts_has_lost_nothing(claims: Claims) -> None:
    """They say so in a wide table, and have no row in a long one."""
    long, wide = [], []
    for at, row in enumerate(made(200)):
        text = {name: row[name] for name in ("id", "model", "answer")}
        people = {"anna": row["Quality (Anna)"], "ben": row["Quality (Ben)"]}
        score = row["quality_gpt4"]
        wide.append({**text, **people, "gpt4": score if at % 2 else "not judged"})
        for rater, value in (people | {"gpt4": score} if at % 2 else people).items():
            kind = "model" if rater == "gpt4" else "human"
            long.append({**text, "rater": rater, "type": kind, "score": value})
    for rows in (wide, long):
        [result] = claims(rows).values()
        assert result[0]["n"] == 100 and result[0]["outcome"] in ("better", "as_rater")
        assert "lost_share" not in result[0]["others"]


def test_a_judge_that_loses_its_worst_scores_is_not_praised(claims: Claims) -> None:
    rng = np.random.default_rng(2)
    rows = made(200)
    scores = rng.integers(1, 6, len(rows))
    people = np.array([row["Quality (Anna)"] + row["Quality (Ben)"] for row in rows])
    wrong = np.abs(scores - people / 2)
    left_out = set(np.argsort(wrong)[-round(0.19 * len(rows)) :].tolist())
    for at, row in enumerate(rows):
        row["quality_gpt4"] = "" if at in left_out else int(scores[at])
    [[claim]] = claims(rows).values()
    assert claim["outcome"] == "not_shown"
    assert any("lost reply" in reason for reason in claim["reasons"])


@pytest.mark.parametrize("judge", ["llm_2", "another"])
def test_a_judge_with_a_single_label_is_judged(claims: Claims, judge: str) -> None:
    rows = []
    for row in passed(80):
        kept = {key: row[key] for key in ("human_1", "human_2", "gpt_verdict")}
        rows.append({**kept, judge: "pass"})
    flags = ["--judge", judge, "--judge", "gpt_verdict", "--human", "human_1,human_2"]
    result = claims(rows, *flags)
    [always] = [result[name] for name in result if "gpt" not in name]
    assert {claim["kind"] for claim in always} == {"labels", "caught", "passed"}
    good = {"better", "as_rater", "withstands"}
    assert not good & {claim["outcome"] for claim in always}


def test_choices_with_ties_by_numbered_raters_are_no_texts(claims: Claims) -> None:
    rows = []
    for row in chosen(120):
        kept = {key: value for key, value in row.items() if "answer" not in key}
        kept["winner_1"] = kept.pop("winner (Anna)")
        kept["winner_2"] = kept.pop("winner (Ben)")
        rows.append(kept)
    assert {row["winner_1"] for row in rows} == {"A", "B", "tie"}
    [result] = claims(rows, "--human", "winner_1,winner_2").values()
    assert [claim["kind"] for claim in result] == ["pairs"]


def ignorant(name: str, n: int) -> list[float]:
    """Return scores of n texts in the order of the file, which nobody read."""
    rng = np.random.default_rng(3)
    rows = np.arange(n, dtype=np.float64)
    scores = {
        "constant": 4 + (rng.random(n) < 0.03),
        "random": rng.normal(size=n),
        "place": rows % 5,
        "row": rows,
    }
    values: list[float] = scores[name].tolist()
    return values


@pytest.mark.parametrize("name", ["constant", "random", "place", "row"])
def test_a_judge_that_knows_nothing_holds_nothing(claims: Claims, name: str) -> None:
    rows = made(200)
    for row, score in zip(rows, ignorant(name, len(rows)), strict=True):
        row["quality_gpt4"] = score
    [result] = claims(rows).values()
    assert result and all(claim["sign"] not in ("+", "~") for claim in result)


@pytest.mark.parametrize("label", ["pass", "fail"])
@pytest.mark.parametrize("alone", [True, False])
def test_a_judge_with_a_single_label_is_reported_to_give_that_label(
    claims: Claims, label: str, alone: bool
) -> None:
    rows = [{**row, "llm_2": label} for row in passed(80)]
    flags = ["--human", "human_1,human_2", "--judge", "llm_2"]
    result = claims(rows, *flags, *([] if alone else ["--judge", "gpt_verdict"]))
    [always] = [result[name] for name in result if "gpt" not in name]
    shares = {claim["statistic"]: claim["value"] for claim in always}
    assert shares["tpr"] == float(label == "pass")
    assert shares["tnr"] == float(label == "fail")
    reasons = [reason for claim in always for reason in claim["reasons"]]
    assert any(reason.startswith(f"says “{label}” to 100") for reason in reasons)
    assert {claim["sign"] for claim in always} == {"?", "x"}


@pytest.mark.parametrize(
    ("choice", "reason"), [("tie", "a tie for all pairs"), ("A", None)]
)
@pytest.mark.parametrize("alone", [True, False])
def test_a_judge_with_a_single_choice_is_judged(
    claims: Claims, choice: str, reason: str | None, alone: bool
) -> None:
    rows = [{**row, "llm_choice": choice} for row in chosen(120)]
    if alone:
        rows = [
            {name: row[name] for name in row if name != "gpt4_winner"} for row in rows
        ]
    result = claims(rows)
    [[claim]] = [result[name] for name in result if "gpt" not in name]
    assert claim["outcome"] == "not_shown" and claim["sign"] == "?"
    if reason is not None:
        assert claim["value"] == 0.5
        assert claim["reasons"] == [reason]


def test_a_judge_that_contradicts_people_fails(
    claims: Claims, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{**row, "quality_gpt4": -row["quality_gpt4"]} for row in made(200)]
    [[claim]] = claims(rows).values()
    assert claim["sign"] == "x"
    assert claim["reasons"] == ["significantly worse than chance"]
    with pytest.raises(SystemExit):
        main()  # the same command
    [of_judge] = json.loads(capsys.readouterr().out)["judges"].values()
    assert of_judge["sentence"].startswith("Fails at agreeing with people on Quality")
    assert "Not shown" not in of_judge["sentence"]


@pytest.mark.parametrize(("lost", "outcome"), [(4, "as_rater"), (24, "better")])
def test_as_good_as_a_rater_must_hold_with_lost_scores_at_the_worst_end(
    claims: Claims, lost: int, outcome: str
) -> None:
    rows = made(200)
    people = [(row["Quality (Anna)"] + row["Quality (Ben)"]) / 2 for row in rows]
    for at, (row, mean) in enumerate(zip(rows, people, strict=True)):
        row["quality_gpt4"] = "" if at < lost else mean
    [[claim]] = claims(rows).values()
    assert claim["outcome"] == outcome
    [note] = [
        row["note"]
        for name, row in claim["others"].items()
        if name == "as_rater_normal_scores"
    ]
    held = "as good as one more rater"
    assert note == (
        held if lost == 4 else "not shown if every lost reply had the worst score"
    )


@pytest.mark.parametrize("raters", [50, 51])
def test_so_many_raters_that_none_is_a_measure_are_reported(
    claims: Claims, raters: int
) -> None:
    rng = np.random.default_rng(8)
    rows = []
    for row in made(60):
        near = rng.integers(-1, 2, raters) + row["quality_gpt4"]
        given = {f"human_{at}": int(each) for at, each in enumerate(near.clip(1, 5))}
        kept = ("id", "model", "answer", "quality_gpt4")
        rows.append({name: row[name] for name in kept} | given)
    [[claim]] = claims(rows).values()
    reason = "not compared with one more rater: 51 raters are more than 50"
    assert (reason in claim["reasons"]) == (raters == 51)
    assert ("as_rater_normal_scores" in claim["others"]) == (raters == 50)
