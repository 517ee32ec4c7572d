"""A card for each judge: its settings, every number, its worst cases, and no text can
do harm.
"""

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pytest

import cards_study
import report_study
from browser import browser, needs_browser
from judgescope.plan.loading import load_plan
from judgescope.plan.specs.judge_cards import judge_cards, model_settings
from judgescope.report.elements import Facts, Fold, PageTable
from judgescope.report.judge_card import address_in_words, every_number, number, render
from judgescope.report.specs import ExpectedDrop, JudgeCardSpec
from judgescope.report.words import label
from judgescope.report.worst_choice import MOST, disagreeing, unnoticed
from judgescope.schema.cards import OpenAIModel
from judgescope.schema.loading import load_yaml
from report_setup import LOADS, Page, on_one_page
from running import HOME, environment
from study import Study

pytestmark = pytest.mark.heavy
BOTH = ("minor", "major")


def cards(spec: dict[str, Any]) -> dict[str, str]:
    return dict(render(cards_study.loaded(spec)))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return cards_study.make(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def pages(study: dict[str, Any]) -> dict[str, str]:
    return cards(study)


# --- what is worst --------------------------------------------------------------------


def scores_of(
    values: Mapping[str, Mapping[str, float | None]], judged: str = "fluency"
) -> pd.DataFrame:
    rows = [
        (cell, judged, *each)
        for cell, result in values.items()
        for each in result.items()
    ]
    return pd.DataFrame(rows, columns=["perturbation", "judged", "target", "value"])


def drops(*cells: str, aspects: Sequence[str] = ("fluency",)) -> list[ExpectedDrop]:
    mildness = {"major": 0, "single": 1, "minor": 2}
    return [
        ExpectedDrop(
            cell=cell,
            mildness=mildness[cell.rpartition(".")[2]],
            aspects=[*aspects],
            why="all",
        )
        for cell in cells
    ]


def test_worst_perturbation_is_highest_above_its_original_then_the_heavier() -> None:
    scores = scores_of(
        {
            "original": {"a": 2.0, "b": 2.0, "c": 4.0, "d": 1.0, "e": 3.0},
            "typos.minor": {"a-": 2.0, "b-": 4.0, "c-": 3.0, "d-": 1.0},
            "cuts.major": {"e-": 3.0, "a+": None},
        }
    )
    perturbed = {
        "typos.minor": {"b-": "b", "a-": "a", "c-": "c", "d-": "d"},
        "cuts.major": {"e-": "e", "a+": "a"},
    }
    worst = unnoticed(
        scores, drops("typos.minor", "cuts.major"), perturbed, {"fluency": (1, 5)}
    )
    # b rose by 2 of 4 points; of those that stayed, major goes before minor, a before
    # d; c fell
    assert [(case.target, case.by) for case in worst.cases] == [
        ("b-", 0.5),
        ("e-", 0.0),
        ("a-", 0.0),
        ("d-", 0.0),
    ]
    assert (worst.n, worst.n_missing, worst.higher, worst.equal) == (5, 1, 1, 3)


def test_text_counts_once_in_its_worst_aspect_without_a_scale_by_judge_range() -> None:
    fluency = {
        "original": {"a": 10.0, "b": 0.0},
        "typos.major": {"a-": 12.0, "b-": 20.0},
    }
    coherence = {
        "original": {"a": 1.0, "b": 1.0},
        "typos.major": {"a-": 2.0, "b-": 0.0},
    }
    scores = pd.concat([scores_of(fluency), scores_of(coherence, "coherence")])
    perturbations = drops("typos.major", aspects=["fluency", "coherence"])
    worst = unnoticed(
        scores, perturbations, {"typos.major": {"a-": "a", "b-": "b"}}, {}
    )
    # fluency goes from 0 to 20, coherence from 0 to 2
    assert [(case.target, case.aspect, case.by) for case in worst.cases] == [
        ("b-", "fluency", 1.0),
        ("a-", "coherence", 0.5),
    ]


def test_no_more_than_a_few_are_shown_and_each_original_once() -> None:
    names = [f"{number:02}" for number in range(20)]
    scores = scores_of(
        {
            "original": dict.fromkeys(names, 1.0),
            "typos.minor": {f"{name}-": 1.0 for name in names},
            "typos.major": {f"{name}+": 1.0 for name in names},
        }
    )
    perturbed = {
        "typos.minor": {f"{name}-": name for name in names},
        "typos.major": {f"{name}+": name for name in names},
    }
    worst = unnoticed(scores, drops(*perturbed), perturbed, {"fluency": (1, 5)})
    assert [case.target for case in worst.cases] == [
        f"{name}+" for name in names[:MOST]
    ]
    assert (worst.n, worst.equal) == (40, 40)


def test_the_farthest_from_ratings_is_detected_on_both_scales_or_by_ranks() -> None:
    scores = scores_of({"systems": {"a": 100.0, "b": 0.0, "c": 50.0, "d": None}})
    people = {"fluency": {"a": 1.0, "b": 2.0, "c": 3.0, "d": 5.0}}
    scales = {"fluency": [1.0, 5.0]}
    on_scale = disagreeing(scores, people, scales, {"fluency": (0, 100)})
    # places 1, 0, .5 against 0, .25, .5
    assert [(case.target, case.by) for case in on_scale.cases] == [
        ("a", 1.0),
        ("b", -0.25),
    ]
    assert (on_scale.n, on_scale.n_missing) == (3, 1)
    ranked = disagreeing(scores, people, scales, {"fluency": None})
    # mid-ranks 5/6, 1/6, 3/6 against 1/6, 3/6, 5/6; b and c are equals, in the order of
    # their ids
    assert [case.target for case in ranked.cases] == ["a", "b", "c"]
    assert ranked.cases[0].by == pytest.approx(2 / 3) and ranked.cases[0].ranked


def test_where_the_lowest_value_is_best_texts_are_compared_by_merit() -> None:
    scores = scores_of(
        {
            "original": {"a": 2.0, "b": 4.0},
            "typos.major": {"a-": 4.0, "b-": 3.0},
            "systems": {},
        }
    )
    perturbed = {"typos.major": {"a-": "a", "b-": "b"}}
    ends = {"fluency": (1, 5)}
    worst = unnoticed(scores, drops("typos.major"), perturbed, ends, ["fluency"])
    assert [(case.target, case.score, case.by) for case in worst.cases] == [
        ("b-", 3.0, 0.25)
    ]
    outcome = scores_of({"systems": {"a": 5.0, "b": 1.0, "c": 4.0}})
    people = {"fluency": {"a": 1.0, "b": 5.0, "c": 1.0}}
    for span in ends["fluency"], None:  # ranks, too
        case = {"fluency": span}
        result = disagreeing(
            outcome, people, {"fluency": [1, 5]}, case, (), ["fluency"]
        )
        assert result.cases[0].target == ("c" if span else "a")
    both = disagreeing(
        outcome, people, {"fluency": [1, 5]}, ends, ["fluency"], ["fluency"]
    )
    assert [(case.target, case.by) for case in both.cases] == [
        ("a", -1.0),
        ("b", 1.0),
        ("c", -0.75),
    ]


def test_the_card_shows_the_worst_texts_with_their_numbers_and_replies(
    pages: Any,
) -> None:
    page = Page(pages["gamma"])
    assert "Of 3 perturbed texts, 1 score better than their originals" in page.text
    assert (
        "n1:t typos, major · Fluency original 3 perturbed 4 better by 25" in page.text
    )
    assert "X he mayor spoke." in page.text  # the edit is marked: T is struck through
    # score 5 where 1 was planned is the whole scale; score 1 where 1 was planned is not
    # shown
    assert "planned rating 1 score 5 too high by 100" in page.text
    assert "Shown: 1 of 3 rated texts" in page.text
    assert (
        "In total 1 refused." in page.text
        and "n3:s a system's text · Fluency refused" in page.text
    )
    assert "Its reply Rating: 3" in page.text


def test_a_score_that_is_too_good_on_a_scale_whose_lowest_is_best_is_too_low(
    study: dict[str, Any],
) -> None:
    sums = {"ratings": {"fluency": 6.0}, "scores": {"gamma": {"fluency": 6.0}}}
    text = Page(cards({**study, "turned": {"news": sums}})["gamma"]).text
    assert "n2:t typos, major · Fluency original 4 perturbed 3 better by 25" in text
    assert "planned rating 1 score 5 too high by 100" in text
    sums["scores"] = {}
    assert (
        "planned rating 1 score 1 too low by 100"
        in Page(cards({**study, "turned": {"news": sums}})["gamma"]).text
    )


# --- where it stands ------------------------------------------------------------------


def test_the_first_screen_says_what_the_judge_is_good_for_and_what_it_costs(
    pages: Any,
) -> None:
    text = Page(pages["gamma"]).text
    first = text[: text.index("Where it fails first")]
    assert "gamma follows people on 4 of 4 aspects" in first
    assert "Free: no request is sent." in first and "432 of 480" in first
    assert "48 refused" in first
    # beta is at 0.2, between the controls length (0.35) and random (0)
    result = Page(pages["beta"]).text
    assert "is not shown to be more than a rule on 4 of 4 aspects" in result
    assert "random is a control, no judge" in Page(pages["random"]).text


def test_the_page_opens_with_the_texts_on_which_the_judge_fails(pages: Any) -> None:
    html = pages["gamma"]
    text = Page(html).text
    fails = text[text.index("Where it fails first") : text.index("Evidence of")]
    # people gave 1, the judge 5, and the other way round: the largest rank difference
    assert "1 Fluency: the plan 1, gamma 5" in fails
    assert "Its words “Rating: 3”" in fails and "5: one reply" in fails
    assert fails.count("Read more") <= 3
    assert html.index("Where it fails first") < html.index("Evidence of")
    assert '<circle cx="16.0" cy="22" r="3.8" class="pp"/>' in html


def test_the_evidence_of_a_cell_is_where_the_matrix_leads(pages: Any) -> None:
    page = Page(pages["gamma"])
    ids = {result.get("id") for _, result in page.elements}
    ways = [
        (link["href"] or "").partition("#")[2]
        for link in page.named("a")
        if (link["href"] or "").startswith("gamma.html#")
    ]
    assert len(ways) >= 4 and {*ways} <= ids
    assert "claim-news-agreement-fluency" in ways


# --- every number ---------------------------------------------------------------------


def test_so_many_numbers_are_named_and_not_listed(study: dict[str, Any]) -> None:
    report = cards_study.loaded(study)
    result = every_number(report, report.judges[0])
    assert result is not None
    [facts] = result.blocks
    assert isinstance(facts, Facts)
    outcome = dict(facts.pairs)
    rows = report.tables["verdicts"].where(judge=report.judges[0].id)
    command = outcome[f"tables/verdicts.csv: {len(rows)} numbers"]
    assert command.endswith(f"verdicts --judge {report.judges[0].id}")


def test_every_number_of_every_table_exists_and_equals_the_table(
    study: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judgescope.report.judge_card.MOST_NUMBERS", 10_000)
    report = cards_study.loaded(study)
    for judge in report.judges:
        shown = 0
        result = every_number(report, judge)
        folds = (
            [block for block in result.blocks if isinstance(block, Fold)]
            if result
            else []
        )
        tables = {
            t.source + t.caption: t
            for f in folds
            for t in f.blocks
            if isinstance(t, PageTable)
        }
        assert len(tables) == len(folds)
        for name, rows in report.tables.items():
            for dataset in report.datasets:
                collected = [
                    row
                    for row in rows
                    if row.dataset == dataset.id
                    and judge.id in (row.judge, row.judge_b)
                ]
                if not collected:
                    continue
                caption = f"{dataset.name}: {name}."
                table = tables[f"tables/{name}.csv{caption}"]
                heads = [column.text for column in table.columns]
                for row in collected:
                    body = next(
                        b for b in table.bodies if b.title == label(row.statistic)
                    )
                    where = address_in_words(row, judge)
                    line = next(each for each in body.lines if each.head == where)
                    aspect = row.aspect.capitalize() or "Over all"
                    assert line.cells[heads.index(aspect)] == number(row)
                    shown += 1
        total = [row for rows in report.tables.values() for row in rows]
        known = {dataset.id for dataset in report.datasets}
        about = [
            r for r in total if judge.id in (r.judge, r.judge_b) and r.dataset in known
        ]
        assert shown == len(about) > 0


def test_a_number_has_its_interval_counts_and_note() -> None:
    result = report_study.row(
        "news", "x", "spearman", 0.5, n_missing=3, note="below_control"
    )
    cell = number(report_study.typed(result))
    assert (cell.text, cell.interval) == ("0.500", "[0.400, 0.600]")
    assert cell.notes == ("n = 120, 3 missing", "below control")
    nothing = number(
        report_study.typed(report_study.row("news", "x", "spearman", None))
    )
    assert (nothing.text, nothing.notes) == ("–", ("n = 0", "constant judge"))


# --- settings, and no secret ----------------------------------------------------------

SECRETS = {
    "base_url": "https://inner.example.org/v1",
    "api_key_env": "MY_KEY_NAME",
    "headers": {"X-Team": "hush-header"},
    "query": {"api-version": "hush-query"},
    "extra_body": {
        "api_key": "hush-body",
        "nested": {"auth_token": "hush-token", "top_k": 5},
    },
}


def test_no_secret_of_a_model_is_reported_and_what_changes_replies_is() -> None:
    model = {
        "model": "m",
        "engine": "openai",
        "revision": "r7",
        "price": {"input": 1, "output": 2},
    }
    result = model_settings(OpenAIModel.model_validate(model | SECRETS))
    text = json.dumps(result)
    assert not re.search("hush|inner.example|MY_KEY", text)
    assert result["extra_body"] == {
        "api_key": "not shown",
        "nested": {"auth_token": "not shown", "top_k": 5},
    }
    assert result["revision"] == "r7" and result["price"] == {"input": 1, "output": 2}


def planned(folder: Path, **keys: Any) -> JudgeCardSpec:
    path = Study(folder).write(**keys)
    return judge_cards(load_plan(load_yaml(path)[0], HOME, source=str(path)))


def test_the_spec_changes_with_settings_and_prices_and_holds_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    judges, models = tmp_path / "config" / "judges", tmp_path / "config" / "models"
    for folder in (judges, models):
        folder.mkdir(parents=True)

    def plan_of(temperature: float, price: float) -> bytes:
        model = {
            "model": "m",
            "engine": "openai",
            **SECRETS,
            "extra_body": {"top_k": 5},
        }
        model["price"] = {"input": price, "output": 1}
        judge = {
            "judge": "j",
            "model": "m",
            "form": "score-only",
            "temperature": temperature,
        }
        (models / "m.yaml").write_text(json.dumps(model))
        (judges / "j.yaml").write_text(json.dumps(judge))
        return msgspec.json.encode(planned(tmp_path, judges=["j", "rules"]))

    first = plan_of(0.5, 1)
    assert first == plan_of(0.5, 1)
    assert len({first, plan_of(0.7, 1), plan_of(0.5, 2)}) == 3
    assert not re.search("hush|inner.example|MY_KEY", first.decode())
    assert json.loads(first)["settings"]["j"]["temperature"] == 0.5


def test_a_card_shows_settings_with_defaults_and_the_price(tmp_path: Path) -> None:
    spec = cards_study.make(tmp_path)
    spec["settings"]["gamma"] |= {"temperature": 0.7, "prompts": {"news": "ab12cd34"}}
    text = Page(cards(spec)["gamma"]).text
    assert "temperature 0.7" in text and "draws 1 (default)" in text
    assert "US$ per million tokens: 0.15 of prompts, 0.6 of replies" in text
    assert "prompt ab12cd34" in text
    assert "judge:gamma|stat:" in text


def test_a_perturbation_should_show_where_expectations_or_weights_say_else_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = planned(tmp_path).worst["demo-dialogue"].perturbations
    every_aspect = ["naturalness", "groundedness"]
    sets = {
        f"{name}.{degree}" for name in ("random-typos", "reordering") for degree in BOTH
    }
    assert {perturbation.cell for perturbation in plain} == sets
    assert all(
        sorted(perturbation.aspects) == sorted(every_aspect) for perturbation in plain
    )
    assert all(perturbation.why == "all" for perturbation in plain)
    card = {
        "weights": "w",
        "name": "ours",
        "tasks": {
            "dialogue": {"reordering": {"naturalness": 1.0, "groundedness": 0.0}}
        },
    }
    folder = tmp_path / "config" / "weights"
    folder.mkdir(parents=True)
    (folder / "w.yaml").write_text(json.dumps(card))
    perturbations = planned(tmp_path, weights="w").worst["demo-dialogue"].perturbations
    by_key = {
        perturbation.cell: (perturbation.aspects, perturbation.why)
        for perturbation in perturbations
    }
    assert by_key["reordering.minor"] == (["naturalness"], "weighted")
    assert by_key["random-typos.minor"][1] == "all"


# --- the pages ------------------------------------------------------------------------


def test_there_is_a_card_for_every_judge_that_loads_nothing_and_leads_on(
    pages: dict[str, str], study: dict[str, Any]
) -> None:
    assert list(pages) == [judge.id for judge in cards_study.loaded(study).judges]
    for html in pages.values():
        page = Page(html)
        assert not page.wrong and not page.open
        ways = {
            value
            for _, result in page.elements
            for key, value in result.items()
            if key in LOADS
        }
        present = {
            "../index.html",
            "../sections/legend.html",
            *(f"{name}.html" for name in pages),
        }
        others = {(way or "").partition("#")[0] for way in ways} - {""}
        beside = {
            way for way in ways if (way or "").partition("#")[0] in others - present
        }
        assert all(way and way.startswith("../explore.html#dataset=") for way in beside)
        ids = [result["id"] for _, result in page.elements if result.get("id")]
        assert len(ids) == len(set(ids))
        inside = {way[1:] for way in ways if way and way.startswith("#")}
        assert inside <= set(ids)
    assert (
        "../explore.html#dataset=news&amp;judge=gamma&amp;aspect=fluency"
        in pages["gamma"]
    )


def test_the_reports_table_of_judges_leads_to_the_cards(study: dict[str, Any]) -> None:
    study = {**study, "files": {}}
    html = on_one_page(cards_study.loaded({**study, "cards": "judges/"}))
    ways = {result.get("href") for result in Page(html).named("a")}
    assert {f"judges/{name}.html" for name in study["judges"]} <= ways
    plain = on_one_page(cards_study.loaded({**study, "cards": None}))
    assert "judges/" not in plain


def test_no_text_or_reply_can_do_harm(tmp_path: Path) -> None:
    hostile = (
        "<script>alert(1)</script>\u202e\u200f\u0000<img src=x onerror=alert(2)> \ud800"
    )
    texts = {
        "n1": f"The {hostile.replace(chr(0xD800), '')}",
        "n2": "<b>" + "long " * 200_000,
        "n3": "</p></article>",
    }
    reply = "Rating\u202e: <script>3</script>" + "y" * 1_000_000
    spec = cards_study.make(tmp_path, texts=texts, reply=reply)
    page = cards(spec)["gamma"]
    parsed = Page(page)
    assert not parsed.wrong and not parsed.open
    assert len(parsed.named("script")) == 1 and not parsed.named("img")
    assert "\u202e" not in page and "\u0000" not in page
    assert "\u200f" not in page and "⟨U+200F⟩" in parsed.text
    assert "⟨U+202E⟩" in parsed.text and "⟨U+0000⟩" in parsed.text
    assert (
        "more characters" in parsed.text
        and "The whole text except its last" in parsed.text
    )
    assert len(page) < 1_000_000


@pytest.mark.long(10)
def test_two_runs_give_the_same_bytes_and_old_cards_are_deleted(tmp_path: Path) -> None:
    spec = cards_study.make(tmp_path)
    folder = tmp_path / "report" / "judges"
    folder.mkdir(parents=True)
    (folder / "gone.html").write_text("a judge of before")

    def run() -> dict[str, bytes]:
        done = subprocess.run(
            [
                sys.executable,
                str(HOME / "scripts" / "job.py"),
                "judge_card",
                "--spec",
                "-",
            ],
            input=json.dumps(spec),
            text=True,
            env=environment(),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

    first = run()
    assert sorted(first) == sorted(f"{name}.html" for name in spec["judges"])
    assert run() == first


@needs_browser
def test_a_card_opens_in_a_browser_without_an_error_and_can_be_sorted(
    tmp_path: Path,
) -> None:
    spec = cards_study.make(
        tmp_path, texts={**cards_study.ORIGINALS, "n1": "<script>1</script>"}
    )
    card = tmp_path / "gamma.html"
    card.write_text(cards(spec)["gamma"], encoding="utf-8")
    with browser(tmp_path / "browser") as window:
        seen: list[dict[str, Any]] = []
        heard = window._next
        window._next = lambda: seen.append(message := heard()) or message  # type: ignore[method-assign,func-returns-value]
        for domain in ("Log", "Runtime", "Network"):
            window.send(f"{domain}.enable")
        window.open(card)
        assert window.value("document.querySelectorAll('th > button').length") > 10
        width = "document.documentElement.scrollWidth <= window.innerWidth"
        window.send(
            "Emulation.setDeviceMetricsOverride",
            **{"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True},
        )
        assert window.value(width) is True
    collected = [
        each
        for each in seen
        if each.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")
    ]
    assert collected == []
    asked = [
        each["params"]["request"]["url"]
        for each in seen
        if "request" in each.get("params", {})
    ]
    assert asked == [card.as_uri()]
