"""The sentence that a report opens with: a study for each rule, no idle praise."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from claims_setup import AGREEMENT, claim, of_judges, person
from judgescope.report.answer import HeadlineRules, deck, headline
from judgescope.report.claims import claims
from judgescope.report.contents import sections_of
from judgescope.report.judge_answer import judge_answer
from judgescope.report.page import first_page
from judgescope.report.report import Report
from judgescope.statistics.headline import MOST_WORDS, words_in
from judgescope.statistics.verdict import Sign
from report_setup import Page

Row = dict[str, Any]
Make = Callable[[Path], Report]
PRAISE = re.compile(
    r"`([^`]+)` (?:can|follows|meets|notices|agrees|gives people's|picks what)"
)
"""Praise and its subject; negated sentences have no judge as subject."""
COHERENCE = {"aspect": "coherence"}


def planned(folder: Path, names: list[str], rows: list[Row], **more: Any) -> Report:
    cards = {name: {"ratings": "planned"} for name in study.DATASETS}
    return of_judges(folder, names, rows, datasets=cards, **more)


def of_chat(folder: Path, names: list[str], rows: list[Row], **more: Any) -> Report:
    """A study with one dataset of ratings of people."""
    return of_judges(folder, names, rows, study={"datasets": ["chat"]}, **more)


def damage(judge: str, *outcomes: str) -> list[Row]:
    rows: list[Row] = []
    for (name, degree), outcome in zip(study.DAMAGES, outcomes, strict=False):
        content = {
            "aspect": None,
            "level": None,
            "perturbation": name,
            "degree": degree,
        }
        rows += claim(judge, 2.0, outcome, "perturbation", **content)
    return rows


def unread(folder: Path) -> Report:
    content = {"aspect": "fluency", "perturbation": "systems", "n": 480}
    rows = [study.row("chat", "model-b", "count_truncated", 480.0, **content)]
    return of_chat(
        folder, ["model-b"], [], models=["model-b"], tables={"coverage": rows}
    )


def people_apart(folder: Path) -> Report:
    others = {"ceiling_normal_scores": -0.05}
    rows = [*claim("a", 0.4, "better; no_ceiling", others=others)]
    return of_chat(folder, ["a"], rows)


def too_little(folder: Path) -> Report:
    rows = [*claim("a", None, "no_claim; no_interval", others={"sources_counted": 6})]
    return of_chat(folder, ["a"], rows)


def people_only(folder: Path) -> Report:
    rows = [person(0.62), person(0.31, **COHERENCE)]
    return of_chat(folder, [], rows)


def told_only(folder: Path) -> Report:
    rows = [*claim("model-a", None, "no_claim; hinted")]
    return of_chat(folder, ["model-a"], rows, judges={"model-a": {"hint": "right"}})


def constant(folder: Path) -> Report:
    return of_chat(folder, ["b"], [*claim("b", None, "not_shown; constant")])


def bar(outcome: str, value: float, required: float, **others: Any) -> list[Row]:
    content = {"bar": (required, "at least"), **others}
    rows = [*claim("model-a", value, outcome, "bar tnr", others=content)]
    return rows


def bars_missed(folder: Path) -> Report:
    rows = bar("misses", 0.6, 0.9)
    rows += claim(
        "model-a", 0.95, "meets", "bar tpr", others={"bar": (0.8, "at least")}
    )
    return of_chat(folder, ["model-a"], rows)


def bars_met(folder: Path) -> Report:
    rows = bar("meets", 0.95, 0.9)
    rows += claim(
        "model-a", 0.95, "meets", "bar tpr", others={"bar": (0.8, "at least")}
    )
    return of_chat(folder, ["model-a"], rows)


def one_bar_met(folder: Path) -> Report:
    return of_chat(folder, ["model-a"], bar("meets", 0.95, 0.9))


def planned_pairs(folder: Path) -> Report:
    content = {"rival": (0.3, "length"), "rival_value": 0.64}
    rows = [*claim("model-a", 0.61, "not_shown; length", "pairs", others=content)]
    cards = {"chat": {"ratings": "planned"}}
    return of_judges(folder, ["model-a"], rows, models=["model-a"], datasets=cards)


def bars_open(folder: Path) -> Report:
    rows = bar("cannot_tell", 0.92, 0.9, more_needed=34)
    for row in rows:
        if row["statistic"] == "more_needed":
            row["method"] = "bad answers, as here"
    return of_chat(folder, ["model-a"], rows)


def labels(
    expected: str, caught: tuple[float, str], passed: tuple[float, str], **others: Any
) -> list[Row]:
    rows = [*claim("model-a", 0.8, expected, "labels", others=others)]
    rows += claim("model-a", caught[0], caught[1], "caught")
    rows += claim("model-a", passed[0], passed[1], "passed")
    return rows


LABELLED = {"datasets": {"chat": {"labels": {"fluency": ["bad", "good"]}}}}


def labelled(folder: Path, rows: list[Row]) -> Report:
    return of_chat(folder, ["model-a"], rows, **LABELLED)


def lets_through(folder: Path) -> Report:
    return labelled(folder, labels("better", (0.6, "misses"), (0.88, "misses")))


def one_label(folder: Path) -> Report:
    share = {"says_share": (0.97, "pass")}
    rows = labels(
        "not_shown; chance", (0.1, "cannot_tell"), (0.98, "not_shown"), **share
    )
    return labelled(folder, rows)


def labels_hold(folder: Path) -> Report:
    return labelled(
        folder, labels("better", (0.9, "cannot_tell"), (0.93, "withstands"))
    )


def labels_by_length(folder: Path) -> Report:
    content = {"rival": (0.4, "length"), "rival_value": 0.61}
    rows = labels(
        "not_shown; length", (0.9, "cannot_tell"), (0.9, "cannot_tell"), **content
    )
    return labelled(folder, rows)


def as_person(folder: Path) -> Report:
    rows = [*claim("model-a", 0.68, "as_rater"), person(0.66)]
    rows += claim("model-a", 0.4, "not_shown; chance", **COHERENCE)
    return of_chat(folder, ["model-a"], rows)


def as_person_beside_apart(folder: Path) -> Report:
    """A judge holds on an aspect where nobody can be compared with a person."""
    rows = [*claim("model-a", 0.68, "as_rater"), person(0.66)]
    content = {"ceiling_normal_scores": -0.05}
    rows += claim("model-a", 0.4, "better; no_ceiling", others=content, **COHERENCE)
    return of_chat(folder, ["model-a"], rows)


def bar_met_at_a_cost(folder: Path) -> Report:
    rows = bar("meets", 0.95, 0.9)
    rows += claim("model-a", 0.82, "cannot_tell", "passed")
    return labelled(folder, rows)


def below_person(folder: Path) -> Report:
    others = {
        "as_rater_normal_scores": (-0.15, "undecided: ±0.05 needs about 9 sources")
    }
    rows = [*claim("model-a", 0.57, "better", others=others), person(0.66)]
    for row in rows:
        if row["statistic"] == "as_rater_normal_scores":
            row |= {"ci_low": -0.2, "ci_high": -0.1}
    rows += claim("model-a", 0.1, "not_shown; chance", **COHERENCE)
    return of_chat(folder, ["model-a"], rows)


def by_length(folder: Path) -> Report:
    content = {"rival": (0.4, "length"), "rival_value": 0.53}
    return of_chat(
        folder, ["chrf"], [*claim("chrf", 0.36, "not_shown; length", others=content)]
    )


def by_systems(folder: Path) -> Report:
    content = {"beyond_systems": 0.08}
    rows = [*claim("model-b", 0.49, "better; these_systems: 6", others=content)]
    return of_chat(folder, ["model-b"], rows)


def not_shown(folder: Path) -> Report:
    content = {"sources_counted": 24}
    rows = [*claim("model-b", 0.12, "not_shown; chance", half=0.2, others=content)]
    return of_chat(folder, ["model-b"], rows)


def against(folder: Path) -> Report:
    rows = [*claim("model-b", -0.21, "not_shown; chance; worse_than_chance")]
    return of_chat(folder, ["model-b"], rows)


def pairs(folder: Path) -> Report:
    others = {"as_rater_half_credit": -0.05}
    return of_chat(
        folder, ["model-a"], [*claim("model-a", 0.81, "better", "pairs", others=others)]
    )


def pairs_by_length(folder: Path) -> Report:
    content = {"rival": (0.3, "length"), "rival_value": 0.64}
    rows = [*claim("model-a", 0.61, "not_shown; length", "pairs", others=content)]
    return of_chat(folder, ["model-a"], rows)


def position(folder: Path) -> Report:
    content = {"aspect": "fluency", "level": "pooled"}
    rows = [
        study.row("chat", "model-b", "first_position_rate", 0.8, **content),
        study.row("chat", "human", "first_position_rate", 0.34, **content),
    ]
    return of_chat(folder, ["model-b"], [], tables={"pairwise": rows})


def noticed(folder: Path) -> Report:
    rows = damage("model-a", "noticed", "noticed", "not_shown; chance")
    return of_chat(folder, ["model-a"], rows)


def unnoticed(folder: Path) -> Report:
    return of_chat(
        folder, ["model-a"], damage("model-a", "not_shown; length", "misses")
    )


def nobody(folder: Path) -> Report:
    rows = damage("rouge", "noticed", "misses")
    rows += claim("rouge", -0.2, "not_shown; chance; worse_than_chance")
    return planned(folder, ["rouge"], rows)


def many(folder: Path) -> Report:
    rows: list[Row] = []
    names = [f"judge-{number:02d}" for number in range(14)]
    for number, name in enumerate(names):
        for aspect in study.ASPECTS:
            good = number == 3 or (number == 5 and aspect == "fluency")
            rows += claim(name, 0.4, "better" if good else "not_shown", aspect=aspect)
    return of_chat(folder, names, rows)


STUDIES: dict[str, tuple[str, Make, str]] = {
    "unread": (
        "U1",
        unread,
        "No verdict: 480 of 480 replies of `model-b` could not be read (cut at 5 "
        "tokens).",
    ),
    "people apart": (
        "U5",
        people_apart,
        "No ceiling on fluency: one person agrees with the others −0.05.",
    ),
    "too little": (
        "U2",
        too_little,
        "No verdict yet: 6 sources can be compared, 10 with different ratings are "
        "needed.",
    ),
    "people only": (
        "U3",
        people_only,
        "People agree 0.62 on fluency, 0.31 on coherence. No judge was asked.",
    ),
    "told only": ("U4", told_only, "No verdict: `model-a` is told the ratings."),
    "constant": ("U4", constant, "No verdict: `b` gives every text the same score."),
    "bars missed": (
        "B",
        bars_missed,
        "`model-a` misses 1 of 2 bars: it catches 60\u202f% of 24 bad texts (50\u202f% "
        "to 70\u202f%), you asked for 90\u202f%.",
    ),
    "bars met": ("B", bars_met, "`model-a` meets both bars."),
    "one bar met": (
        "B",
        one_bar_met,
        "`model-a` meets its bar: it catches 95\u202f% of 24 bad texts (85\u202f% to "
        "105\u202f%), you asked for 90\u202f%.",
    ),
    "bar met at a cost": (
        "B",
        bar_met_at_a_cost,
        "`model-a` meets its bar: it catches 95\u202f% of 24 bad texts (85\u202f% to "
        "105\u202f%), you asked for 90\u202f%. It rejects 18\u202f% of 24 good texts.",
    ),
    "planned pairs": (
        "N",
        planned_pairs,
        "Nobody rated these texts. No judge is shown to pick better than “the longer "
        "one”: 61\u202f% (51\u202f% to 71\u202f%, 24 pairs) against 64\u202f%.",
    ),
    "bars open": (
        "B",
        bars_open,
        "Open for `model-a`: it catches 92\u202f% of 24 bad texts (82\u202f% to "
        "102\u202f%), you asked for 90\u202f%; 34 more would decide.",
    ),
    "labels fail": (
        "L1",
        lets_through,
        "`model-a` lets 40\u202f% of bad texts through; it rejects 12\u202f% of good "
        "texts.",
    ),
    "one label": (
        "L2",
        one_label,
        "`model-a` says pass to 97\u202f% of all texts: it does not judge.",
    ),
    "labels hold": (
        "L3",
        labels_hold,
        "`model-a` gives people's label in 80\u202f% of texts, averaged over labels "
        "(70\u202f% to 90\u202f%, 24 texts).",
    ),
    "labels by length": (
        "L3",
        labels_by_length,
        "No judge is shown to label better than the texts' length does: 80\u202f% "
        "(70\u202f% to 90\u202f%, 24 texts) against 61\u202f%.",
    ),
    "as a person": (
        "R1",
        as_person,
        "`model-a` agrees with people as well as one of them does on fluency; for "
        "coherence, none is shown to.",
    ),
    "as a person, beside an aspect without a ceiling": (
        "R1",
        as_person_beside_apart,
        "`model-a` agrees with people as well as one of them does on fluency. No "
        "ceiling on coherence: one person agrees with the others −0.05.",
    ),
    "below a person": (
        "R2",
        below_person,
        "`model-a` follows people on fluency, below a person (0.51 against 0.66). On "
        "coherence none is shown to.",
    ),
    "by length": (
        "R3",
        by_length,
        "No judge is shown to beat a simple rule: on fluency `chrf` reaches 0.36, "
        "the texts' length 0.53.",
    ),
    "by systems": (
        "R3",
        by_systems,
        "No judge is shown to follow fluency beyond systems: `model-b` reaches 0.49, "
        "0.08 among texts of one system.",
    ),
    "not shown": (
        "R4",
        not_shown,
        "Agreement is not shown: at best 0.12 [−0.08, 0.32] (`model-b` on fluency). "
        "About 110 more sources would decide.",
    ),
    "against people": (
        "R5",
        against,
        "`model-b` ranks texts against people on fluency (−0.21).",
    ),
    "pairs": (
        "P1",
        pairs,
        "`model-a` picks what people prefer in 81\u202f% of pairs (71\u202f% to "
        "91\u202f%, 24 pairs); one person does in 86\u202f%.",
    ),
    "pairs by length": (
        "P1",
        pairs_by_length,
        "No judge is shown to pick better than “the longer one”: 61\u202f% "
        "(51\u202f% to 71\u202f%, 24 pairs) against 64\u202f%.",
    ),
    "position": (
        "P2",
        position,
        "`model-b` takes the first text in 80\u202f% of pairs; people do in 34\u202f%.",
    ),
    "damage": (
        "D1",
        noticed,
        "`model-a` notices 2 of 3 kinds of damage. No judge is shown to notice cuts.",
    ),
    "no damage": (
        "D2",
        unnoticed,
        "No judge is shown to notice any kind of damage that length does not give "
        "away.",
    ),
    "planned": (
        "N",
        nobody,
        "Nobody rated these texts. `rouge` notices 1 of 2 kinds of damage; no judge "
        "is shown to follow the authors' plan better than a rule.",
    ),
    "many": (
        "M",
        many,
        "`judge-03` follows people on 2 of 2 aspects; no other judge on more than 1.",
    ),
}


@pytest.mark.parametrize("name", STUDIES)
def test_each_rule_has_a_study_and_its_sentence(tmp_path: Path, name: str) -> None:
    rule, make, sentence = STUDIES[name]
    result = headline(make(tmp_path))
    assert (result.rule, result.text) == (rule, sentence)


@pytest.mark.parametrize("name", STUDIES)
def test_a_headline_is_short_and_praises_nobody_without_a_claim_that_holds(
    tmp_path: Path, name: str
) -> None:
    _, make, _ = STUDIES[name]
    outcome = make(tmp_path)
    result = headline(outcome)
    assert 3 < result.words <= MOST_WORDS
    assert result.text.count(". ") <= 1
    for judge in PRAISE.findall(result.text):
        shown = next(each for each in outcome.judges if each.id == judge)
        assert Sign.HOLDS in {each.sign for each in claims(outcome, shown)}


def test_every_rule_of_the_headline_is_tried_by_a_study() -> None:
    rules = {rule for rule, _, _ in STUDIES.values()}
    assert rules == {
        *("U1", "U2", "U3", "U4", "U5", "B", "L1", "L2", "L3", "R1", "R2", "R3"),
        *("R4", "R5", "P1", "P2", "D1", "D2", "N", "M"),
    }


def test_a_study_without_any_number_says_so(tmp_path: Path) -> None:
    result = headline(of_judges(tmp_path, ["a"], []))
    assert result.text == "No number that decides a claim was measured."


def test_measures_are_not_counted_while_a_model_judges(tmp_path: Path) -> None:
    rows = [*claim("rouge", 0.9), *claim("model", 0.1, "not_shown; chance")]
    result = of_judges(tmp_path, ["rouge", "model"], rows, models=["model"])
    assert [judge.id for judge in HeadlineRules(result).judges] == ["model"]
    assert "rouge" not in headline(result).text


def test_a_long_name_is_cut(tmp_path: Path) -> None:
    name = "a-name-of-eighty-signs-" + "x" * 57
    result = headline(of_judges(tmp_path, [name], [*claim(name, 0.6)]))
    assert result.text.startswith(f"`{name[:23]}…` follows people on fluency")


def test_many_aspects_are_counted(tmp_path: Path) -> None:
    aspects = [f"aspect-{number}" for number in range(6)]
    rows: list[Row] = []
    for aspect in aspects:
        rows += claim("a", 0.6, "as_rater", aspect=aspect)
    cards = {"chat": {"aspects": aspects}}
    names = {name: name.capitalize() for name in aspects}
    result = of_judges(tmp_path, ["a"], rows, datasets=cards, aspects=names)
    assert "on 6 of 6 aspects" in headline(result).text


def test_a_cheaper_judge_that_holds_is_named_where_words_are_left(
    tmp_path: Path,
) -> None:
    rows = [*claim("big", 0.68), *claim("small", 0.57)]
    costs = []
    for name, price in (("big", 2.1), ("small", 0.14)):
        costs.append(study.row("chat", name, "usd_per_1000", price, n=100))
        costs.append(study.row("chat", name, "usd", price / 10, note=""))
    result = of_judges(
        tmp_path,
        ["big", "small"],
        rows,
        models=["big", "small"],
        tables={"cost": costs},
    )
    assert headline(result).text.endswith(
        "`small` costs 7\u202f% of that and keeps 0.57 of 0.68."
    )


def test_thin_spaces_part_no_words() -> None:
    assert words_in("lets 40\u202f% of bad texts through") == 6
    assert AGREEMENT["form"] == "agreement"


@pytest.mark.parametrize(("ratings", "who"), [("planned", "plan"), ("model", "model")])
def test_labels_that_nobody_gave_are_not_peoples(
    tmp_path: Path, ratings: str, who: str
) -> None:
    rows = labels("better", (0.6, "misses"), (0.88, "cannot_tell"))
    cards = {"chat": {"labels": {"fluency": ["bad", "good"]}, "ratings": ratings}}
    report = of_chat(tmp_path, ["model-a"], rows, datasets=cards)
    [judge] = report.judges
    topics = [claim.respect for claim in claims(report, judge)]
    assert any(f"that the {who} labels" in topic for topic in topics)
    assert "people" not in " ".join(topics)


def test_a_judge_of_planned_ratings_is_not_reported_to_agree_with_people(
    tmp_path: Path,
) -> None:
    """Not even in a study that has people's ratings of other texts."""
    rows = [person(0.5), *claim("a", 0.6)]
    note = "not_shown; chance; worse_than_chance"
    rows += claim("b", -0.4, note, dataset="news")
    rows += claim("b", 0.4, dataset="news", **COHERENCE)
    report = of_judges(tmp_path, ["a", "b"], rows)
    first, second = report.judges
    assert judge_answer(report, first) == "`a` follows people on fluency (The chat)."
    assert judge_answer(report, second) == (
        "`b` follows the authors' plan on coherence and ranks texts against the "
        "authors' plan on fluency (The news)."
    )


def test_a_judge_is_not_praised_alone_where_people_disagree(
    tmp_path: Path,
) -> None:
    no_ceiling = {"ceiling_normal_scores": -0.05}
    rows = [*claim("a", 0.6)]
    rows += claim("a", 0.5, "better; no_ceiling", others=no_ceiling, **COHERENCE)
    report = of_judges(tmp_path, ["a"], rows)
    [judge] = report.judges
    assert judge_answer(report, judge) == (
        "`a` follows people on fluency and follows people on coherence, where they do "
        "not agree."
    )


def test_a_model_that_rated_is_not_called_people(tmp_path: Path) -> None:
    """Not even if the table has the row of one rater: several replies may differ."""
    cards = {"chat": {"ratings": "model"}}
    rows = [person(0.9), *claim("b", 0.6, "better")]
    report = of_chat(tmp_path, ["b"], rows, datasets=cards)
    assert headline(report).text == (
        "Nobody rated these texts. `b` follows the model that rated on fluency."
    )
    assert "rated by a model" in deck(report)
    html = Page(first_page(report, sections_of(report))).text
    assert "people's" not in html and "a person" not in html
