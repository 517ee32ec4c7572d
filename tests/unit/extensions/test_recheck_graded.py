"""People rate texts of graded sets again: what they see, and what their ratings say."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deleted import jackknife_t, proportion
from judgescope.core.errors import UserErrors
from judgescope.extensions.people.form import Page, page_id, rating_options
from judgescope.extensions.people.known_quality import GRADED, ROW, Case, sampled
from judgescope.extensions.people.recheck import read
from people_studies import FLUENCY, GRADED_SET, ReevaluationStudy, numbers, text
from people_tables import rows_of
from report_setup import Page as Parsed
from running import run


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReevaluationStudy:
    monkeypatch.chdir(tmp_path)
    result = ReevaluationStudy(tmp_path, {"fluency": FLUENCY, "adequacy": FLUENCY})
    result.grade()
    return result


def scale(study: ReevaluationStudy, **keys: Any) -> None:
    """Change the scale of fluency."""
    aspects = study.dataset["aspects"]
    study.amend(
        "datasets", "news", aspects=aspects | {"fluency": aspects["fluency"] | keys}
    )


def off_by(about: Case, steps: int) -> str:
    """Return the rating so many steps above a text's own, of 1 to 5, or below where
    none is.
    """
    assert not about.is_pair
    at = about.texts[0].positions[0] + steps
    return str(1 + (at if at < 5 else about.texts[0].positions[0] - steps))


# --- what is drawn --------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=40),
    st.integers(0, 99),
    st.integers(1, 50),
)
def test_ratings_take_turns_and_none_comes_twice(
    places: Sequence[tuple[int, int]], seed: int, size: int
) -> None:
    texts = [
        text(f"t{n:02}", at, item=f"i{item}") for n, (at, item) in enumerate(places)
    ]
    result = sampled(texts, np.random.default_rng(seed), size)
    assert len(result) == len(set(result)) == min(size, len(texts))
    complete = sampled(texts[::-1], np.random.default_rng(seed), 99)
    assert complete[:size] == result and sorted(complete) == sorted(texts)
    present = Counter(text.level for text in texts)
    counts = Counter(each.level for each in result)
    highest = max(counts.values(), default=0)
    assert all(counts[level] >= min(present[level], highest - 1) for level in present)


def test_items_are_drawn_equally_often() -> None:
    texts = [
        text(f"t{item}-{number}-{copy}", number, item=f"i{item:02}")
        for item in range(20)
        for number in range(5)
        for copy in range(3)
    ]
    result = sampled(texts, np.random.default_rng(1), 100)
    assert set(Counter(text.item for text in result).values()) == {5}
    assert set(Counter(each.level for each in result).values()) == {20}


# --- pages ----------------------------------------------------------------------------


def test_a_page_asks_how_good_each_chosen_text_is(study: ReevaluationStudy) -> None:
    pages, [draw] = study.ask(study.plan(), GRADED, pairs=99)
    # 8 items with a text of each of 5 ratings; one more each was spare, and one failed
    assert (draw.dataset, draw.aspect, draw.group, len(draw.pairs)) == (
        "news",
        "",
        GRADED,
        40,
    )
    assert Counter(pair.texts[0].level for pair in draw.pairs) == dict.fromkeys(
        [1, 2, 3, 4, 5], 8
    )
    shown = [item.texts[0] for item in pages[0].items]
    assert sorted(shown) == sorted(
        f"Made {n} {at}." for n in range(8) for at in range(1, 6)
    )
    assert shown != [item.texts[0] for item in pages[1].items]
    html = study.html(pages[0])
    assert Counter(
        row["value"] for row in Parsed(html).named("input")
    ) == dict.fromkeys("12345", 40)
    assert html.count("1 (worst)</label>") == html.count("5 (best)</label>") == 40
    assert "<h1>How good is each text? Task: summarization</h1>" in html
    assert "Each shows one text and asks" in html and "two texts" not in html
    assert "Text 1" not in html and 'class="pair"' not in html


def test_a_page_does_not_tell_a_text_s_rating_or_set(study: ReevaluationStudy) -> None:
    [page], _ = study.ask(study.plan(), GRADED, voters=1)
    html = study.html(page).lower()
    for key in ("graded", "rating", "chosen", "error", "n0", "news", "tiny"):
        assert key not in html, key
    names = {str(each["name"]) for each in Parsed(html).named("input")}
    assert len(names) == 40 and all(
        re.fullmatch("q[0-9a-f]{32}", name) for name in names
    )


def test_both_kinds_stand_on_a_single_page(study: ReevaluationStudy) -> None:
    pages, draws = study.ask(study.plan(), ROW, GRADED, pairs=10)
    assert [(draw.group, len(draw.pairs)) for draw in draws] == [
        (ROW, 10),
        (GRADED, 10),
    ]
    for page in pages:
        assert [len(item.texts) for item in page.items] == [2] * 10 + [1] * 10
        html = study.html(page)
        assert "<h1>How good are these texts?" in html
        assert (
            "Some show two texts and ask" in html
            and "Others show one text and ask" in html
        )
    assert pages[0].items != pages[1].items


@pytest.mark.heavy
def test_a_scale_is_reported_by_its_values_and_labels(study: ReevaluationStudy) -> None:
    labels = ["bad", "poor", "fair", "<b>good</b>", "very good"]
    scale(study, labels=labels)
    plan = study.plan()
    [page], [draw] = study.ask(plan, GRADED, voters=1)
    html = study.html(page)
    assert "1: bad (worst)" in html and "2: poor</label>" in html
    assert "4: &lt;b&gt;good&lt;/b&gt;" in html and "5: very good (best)" in html
    text = draw.pairs[0].texts[0]
    scale(study, min=-1, max=1, step=0.1 + 0.2 - 0.05, labels=[])
    assert [
        value for value, _ in rating_options(study.plan(), text.dataset, text.aspect)
    ] == [*("-1", "-0.75", "-0.5", "-0.25", "0", "0.25", "0.5", "0.75", "1")]
    # ratings of the set that the scale no longer has are asked about no more
    _, [draw] = study.ask(study.plan(), GRADED)
    assert {about.texts[0].level for about in draw.pairs} == {1}


def test_whose_raters_see_sources_people_see_them(study: ReevaluationStudy) -> None:
    scale(study, source_visible=True)
    [page], _ = study.ask(study.plan(), GRADED, voters=1)
    assert {(f"Source {item.texts[0].split()[1]}.",) for item in page.items} == {
        item.sources for item in page.items
    }
    html = study.html(page)
    assert "Each shows one text, often with\nits source," in html
    assert html.count('class="source"') == 40


# --- answers --------------------------------------------------------------------------


@pytest.mark.heavy
def test_accuracy_and_distance_are_counted_by_hand(study: ReevaluationStudy) -> None:
    """One voter always finds what is known; the other no pair, and no rating but those
    of 5.
    """
    plan = study.plan()
    pages, [_, drawn] = study.ask(plan, ROW, GRADED, pairs=20)

    def first(about: Case, in_order: bool) -> str:
        return ("A" if in_order else "B") if about.is_pair else off_by(about, 0)

    def second(about: Case, in_order: bool) -> str:
        if about.is_pair:
            return "B" if in_order else "A"
        return off_by(about, 0 if about.texts[0].level == 5 else 2)

    for page, say in zip(pages, (first, second), strict=True):
        study.give(plan, page, say)
    result = read(plan, study.out, study.folder / "answers")
    outcome, texts = numbers(result), rows_of(result, "texts.csv")
    assert (result.responses, len(rows_of(result, "pairs.csv")), len(texts)) == (
        2,
        20,
        20,
    )
    assert list(outcome) == [
        (aspect, group, f"reevaluation_{name}")
        for aspect in ("", "fluency")
        for group, name in [
            (ROW, "agreement"),
            (ROW, "no_difference"),
            (GRADED, "agreement"),
            (GRADED, "distance"),
            ("constructed", "agreement"),
        ]
    ]
    # 20 texts, 4 of every rating: 20 + 4 of 40 ratings are right, 16 are two steps away
    for group, value, n in (
        (ROW, 0.5, 40),
        (GRADED, 24 / 40, 40),
        ("constructed", 44 / 80, 80),
    ):
        row = outcome["", group, "reevaluation_agreement"]
        assert (row["value"], row["n"], row["n_missing"]) == (
            pytest.approx(value),
            n,
            0,
        )
    row = outcome["fluency", GRADED, "reevaluation_distance"]
    assert (row["value"], row["n"]) == (pytest.approx(16 * 2 / 40), 40)
    counts = {
        row["rating"]: (row["same"], row["lower"], row["higher"]) for row in texts
    }
    assert counts == {
        1: (1, 0, 1),
        2: (1, 0, 1),
        3: (1, 0, 1),
        4: (1, 1, 0),
        5: (2, 0, 0),
    }
    assert {row["steps"] for row in texts if row["rating"] < 5} == {2}
    assert {row["set"] for row in texts} == {GRADED_SET}
    right, asked = Counter[str](), Counter[str]()
    for about in drawn.pairs:
        assert not about.is_pair
        right[about.sources[0]] += 1 + (about.texts[0].level == 5)
        asked[about.sources[0]] += 2
    lo, hi = proportion([right[source] for source in asked], [*asked.values()])
    row = outcome["", GRADED, "reevaluation_agreement"]
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(lo), pytest.approx(hi))
    says = f"news, graded: agreement 0.600 [{lo:.3f}, {hi:.3f}], n = 40; "
    assert result.lines[1].startswith(says)
    assert result.lines[1].endswith("; mean distance 0.800 steps of the scale")
    written = {path.name: path.read_text("utf-8") for path in result.write(study.out)}
    assert written["texts.csv"].count("\n") == written["pairs.csv"].count("\n") == 21


@pytest.mark.parametrize("off", [6, 2])  # of 2 a distance would reach below 0
def test_intervals_are_over_sources(
    off: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = ReevaluationStudy(tmp_path, {"fluency": [(1, 1)] * 30})
    study.grade(30)
    plan = study.plan()
    [page], [_, draw] = study.ask(plan, ROW, GRADED, pairs=30, voters=1)
    assert len({about.sources for about in draw.pairs}) == 30
    wrong = {about.texts[0] for about in draw.pairs[:off]}

    def say(about: Case, first: bool) -> str:
        if about.is_pair:
            return "A" if first else "B"
        return off_by(about, 2 if about.texts[0] in wrong else 0)

    study.give(plan, page, say)
    result = numbers(read(plan, study.out, study.folder / "answers"))
    # of 30 sources, of one text each, some are two steps off
    right, steps = [1] * (30 - off) + [0] * off, [0] * (30 - off) + [2] * off
    deleted = [(sum(steps) - step) / 29 for step in steps]
    distance = off * 2 / 30
    expected = {
        "agreement": (1 - off / 30, *proportion(right, [1] * 30)),
        "distance": (distance, *jackknife_t(distance, deleted, ends=(0, inf))),
    }
    for name, numbers_of in expected.items():
        row = result["", GRADED, f"reevaluation_{name}"]
        assert [row[end] for end in ("value", "ci_low", "ci_high")] == pytest.approx(
            numbers_of
        )
        assert row["n"] == 30 and "over 30 sources" in row["method"]
    row = result["", "constructed", "reevaluation_agreement"]
    assert (row["value"], row["n"]) == (pytest.approx(1 - off / 60), 60)
    assert row["ci_low"] < row["value"] < row["ci_high"]


def one_page(study: ReevaluationStudy) -> tuple[Page, Path]:
    """Return a page of graded texts and what somebody answers who is one step off for
    rating 1.
    """
    plan = study.plan()
    page = study.ask(plan, GRADED, voters=3)[0][0]
    path = study.give(
        plan, page, lambda about, _: off_by(about, int(about.texts[0].level == 1))
    )
    return page, path


def test_those_who_have_not_rated_are_missing(study: ReevaluationStudy) -> None:
    _, path = one_page(study)
    result = numbers(read(study.plan(), study.out, path.parent))
    for name, value in (("agreement", 0.8), ("distance", 0.2)):
        row = result["", GRADED, f"reevaluation_{name}"]
        assert (row["value"], row["n"], row["n_missing"]) == (
            pytest.approx(value),
            40,
            80,
        )
    assert ("", "constructed", "reevaluation_agreement") not in result


@pytest.mark.heavy
def test_what_is_no_answer_is_reported(study: ReevaluationStudy) -> None:
    page, path = one_page(study)
    good = json.loads(path.read_text("utf-8"))
    entry, two, *_ = good["answers"]
    [rows], _ = study.ask(study.plan(), ROW, voters=1)
    of_row = rows.items[0].id.partition("-")[0]

    def other(name: str, **parts: str) -> None:
        given = good | {
            "survey": page_id(parts, "1of3"),
            "answers": parts,
            "voter": name,
        }
        path.with_name(f"{name}.json").write_text(json.dumps(given), "utf-8")

    other("two", **{f"{entry}-{two[1:]}": "A"})
    other("row", **{of_row: "1"})
    other("none", q="1")
    for name, option in (("above", "6"), ("between", "1.0"), ("letter", "A")):
        other(name, **{entry: option})
    with pytest.raises(UserErrors) as errors:
        read(study.plan(), study.out, path.parent)
    by_stem = {
        Path(each.where.partition(",")[0]).stem: each.what
        for each in errors.value.errors
    }
    assert by_stem == {
        **dict.fromkeys(
            ["two", "row", "none"], "this study does not ask these questions"
        ),
        **dict.fromkeys(["above", "between", "letter"], "this answer is not an option"),
    }
    assert len(page.items) == len(good["answers"])


@pytest.mark.heavy
@pytest.mark.parametrize("change", ["labels", "text", "spare"])
def test_answers_to_what_is_no_longer_asked_are_reported(
    change: str, study: ReevaluationStudy
) -> None:
    _, path = one_page(study)
    if change == "labels":
        scale(study, labels=["a", "b", "c", "d", "e"])
    elif change == "text":
        study.grade(marked=" More.")
    else:
        study.grade(status="spare")
    with pytest.raises(UserErrors, match="does not ask these questions"):
        read(study.plan(), study.out, path.parent)


@pytest.mark.heavy
def test_the_commands(study: ReevaluationStudy) -> None:
    command = ("-m", "judgescope", "people", "recheck")
    made = run(
        *command,
        "make",
        str(study.write()),
        "pages",
        "--constructed",
        "--voters",
        "3",
        cwd=study.folder,
    )
    assert "pages: 3 pages with 186 questions" in made.stdout, made.stdout
    assert "news, row: only 22 of 100 pairs available" in made.stdout
    assert "news, graded: only 40 of 100 texts available" in made.stdout
    one_page(study)
    done = run(*command, "import", str(study.write()), "answers", cwd=study.folder)
    assert done.returncode == 0, done.stdout
    assert (
        "1 file of answers, about 0 pairs of texts and 40 single texts" in done.stdout
    )
    assert "news, graded: agreement 0.800" in done.stdout
