"""People judge again: which pairs are drawn, what pages show and hide."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harmless_pages import check_harmless
from judgescope.core.errors import UserError
from judgescope.extensions.people.form import rating_options
from judgescope.extensions.people.known_quality import (
    GRADED,
    NEW,
    ORIGINAL,
    RATED,
    ROW,
    Case,
    RecheckedText,
    blocks_of,
    drawn,
    levels,
    pair_of,
    texts_of,
)
from people_studies import (
    FLUENCY,
    HOSTILE,
    IN_A_ROW,
    TWO,
    ReevaluationStudy,
    text,
)
from report_setup import Page as Parsed


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReevaluationStudy:
    monkeypatch.chdir(tmp_path)
    return ReevaluationStudy(tmp_path, {"fluency": FLUENCY, "adequacy": FLUENCY})


def sample(
    texts: list[RecheckedText], limit: int, seed: int = 0
) -> dict[str, list[Case]]:
    rng = np.random.default_rng(seed)
    return {
        group: drawn(group, blocks, rng, limit)
        for group, blocks in blocks_of(texts).items()
    }


# --- pairs ----------------------------------------------------------------------------


def test_groups_are_counted_by_hand() -> None:
    texts = [text(f"t{n}", *places) for n, places in enumerate(FLUENCY)]
    result = sample(texts, 99)
    names = {
        group: {tuple(text.target for text in pair.texts) for pair in pairs}
        for group, pairs in result.items()
    }
    assert names == {
        NEW: {("t2", "t0"), ("t2", "t1"), ("t5", "t4"), ("t6", "t4")},
        ORIGINAL: {("t3", "t0"), ("t3", "t1"), ("t5", "t3"), ("t6", "t3")},
    }


@pytest.mark.parametrize(
    ("places", "all_agree", "all_but_one"),
    [
        ((2, 2, 2), [2], []),
        ((2, 2, 3), [], [2]),
        ((1, 2, 2), [], [2]),
        ((2, 2, 4), [], []),
        ((1, 2, 3), [], []),
        ((1, 1, 2, 2), [], []),
        ((1, 1, 1, 1, 2), [], [1]),
        ((1, 2), [], [1, 2]),
        ((4, 4), [4], []),
        ((4,), [], []),
        ((), [], []),
    ],
)
def test_how_far_raters_agree(
    places: tuple[int, ...], all_agree: list[int], all_but_one: list[int]
) -> None:
    each = text("t", *(places or (0,)))._replace(positions=places)
    assert (levels(each, others=0), levels(each, others=1)) == (all_agree, all_but_one)


@pytest.mark.simulation
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), max_size=14),
    st.integers(0, 99),
    st.integers(1, 30),
)
def test_what_is_drawn_is_every_pair_that_there_is_once_or_some_of_them(
    ratings: list[list[int]], seed: int, size: int
) -> None:
    texts = [
        text(f"t{n:02}", *places, item=f"i{n % 5}") for n, places in enumerate(ratings)
    ]
    counts = Counter(
        (pair.group, *(text.target for text in pair.texts))
        for at, words in enumerate(texts)
        for other in texts[:at]
        if (pair := pair_of(words, other))
    )
    result = sample(texts, 999, seed)
    outcome = Counter(
        (group, *(text.target for text in pair.texts))
        for group, pairs in result.items()
        for pair in pairs
    )
    assert outcome == counts
    texts_of = [pair.texts for each in result.values() for pair in each]
    assert all(better.level > worse.level for better, worse in texts_of)
    assert sample(texts[::-1], size, seed) == {
        name: own_part[:size] for name, own_part in result.items()
    }


def test_pairs_share_no_source_while_others_remain() -> None:
    texts = [text(f"t{n}", *([n % 2] * 3)) for n in range(40)]
    pairs = sample(texts, 60)[ORIGINAL]
    used = [source for pair in pairs for source in pair.sources]
    first = sum(1 for at in range(0, 60) if len(set(used[: 2 * at + 2])) == 2 * at + 2)
    assert len(pairs) == len(set(pairs)) == 60 and first >= 14


# --- pages ----------------------------------------------------------------------------


def test_where_the_lowest_value_is_the_best_the_same_texts_are_better(
    study: ReevaluationStudy,
) -> None:
    def pairs() -> dict[str, list[tuple[str, ...]]]:
        texts = [
            each
            for each in texts_of(study.plan(), study.out, RATED)
            if each.aspect == "fluency"
        ]
        return {
            group: sorted(tuple(text.target for text in pair.texts) for pair in result)
            for group, result in sample(texts, 99).items()
        }

    study.keys["methods"] = [
        "agreement"
    ]  # perspectives reads no scale whose best value is lowest
    usual = pairs()
    assert all(map(len, usual.values()))
    aspects = {name: {**scale, "best": "min"} for name, scale in TWO.items()}
    study.card("datasets", "news", **{**study.dataset, "aspects": aspects})
    turned = [tuple(6 - value for value in each) for each in FLUENCY]
    study.write_texts(dict.fromkeys(TWO, turned))
    assert pairs() == usual
    values = [value for value, _ in rating_options(study.plan(), "news", "fluency")]
    shown = [name for _, name in rating_options(study.plan(), "news", "fluency")]
    assert values == [*"54321"] and shown == ["5 (worst)", "4", "3", "2", "1 (best)"]


def test_every_voter_has_all_pairs_in_an_order_of_their_own(
    study: ReevaluationStudy,
) -> None:
    plan = study.plan()
    pages, draws = study.ask(plan, pairs=3, voters=3)
    assert [page.file for page in pages] == [
        f"summarization-voter{n}.html" for n in (1, 2, 3)
    ]
    assert [(draw.aspect, draw.group, len(draw.pairs)) for draw in draws] == [
        (aspect, group, 3)
        for aspect in ("adequacy", "fluency")
        for group in (NEW, ORIGINAL)
    ]
    find = study.find(plan)
    each = [[find(item.id) for item in page.items] for page in pages]
    assert all(None not in entry for entry in each)
    orders = [[asked.subject[0] for asked in filter(None, entry)] for entry in each]
    assert orders[0] != orders[1] != orders[2]
    assert [sorted(order) for order in orders] == [
        sorted(draw.pairs[i] for draw in draws for i in range(3))
    ] * 3
    firsts = Counter(
        asked.subject[1] for entry in each for asked in filter(None, entry)
    )
    assert firsts == {True: 18, False: 18}
    assert len({page.id for page in pages}) == 3


def test_a_page_asks_every_question_with_three_options(
    study: ReevaluationStudy,
) -> None:
    [page], _ = study.ask(study.plan(), voters=1)
    html = study.html(page)
    radios = list(Parsed(html).named("input"))
    assert Counter(radio["value"] for radio in radios) == dict.fromkeys("ABC", 16)
    assert html.count("required") == 48 and f'data-survey="{page.id}"' in html
    assert "cannot decide" not in html
    # raters of adequacy see sources, which differ: each text stands beside its own
    assert html.count('class="source"') == 16 and html.count("Source of text 1") == 8
    for item in page.items:
        if item.aspect and item.aspect.name == "Adequacy":
            numbers = [shown.split()[1].rstrip(".") for shown in item.texts]
            assert [f"Source {number}." for number in numbers] == [*item.sources]
        else:
            assert item.sources == ()


def test_texts_of_a_single_source_stand_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = ReevaluationStudy(
        tmp_path, {"adequacy": FLUENCY, "fluency": FLUENCY}, items=1
    )
    [page], _ = study.ask(study.plan(), voters=1)
    seen = {(item.aspect and item.aspect.name, item.sources) for item in page.items}
    assert seen == {("Adequacy", ("Source 0.",)), ("Fluency", ())}
    assert study.html(page).count('class="source"') == 8


def test_a_page_does_not_tell_ratings_or_groups(study: ReevaluationStudy) -> None:
    plan = study.plan()
    [page], _ = study.ask(plan, voters=1)
    html = study.html(page)
    for name in (
        "new-level",
        "original",
        "rating",
        "rated",
        "mean",
        "r1",
        "t0",
        "n0",
        "news",
        "tiny",
    ):
        assert name not in html.lower(), name
    names = {str(each["name"]) for each in Parsed(html).named("input")}
    assert len(names) == 16 and all(
        re.fullmatch("q[0-9a-f]{32}-[0-9a-f]{32}", n) for n in names
    )


@pytest.mark.simulation
def test_the_same_study_makes_the_same_pages(study: ReevaluationStudy) -> None:
    def made(**keys: Any) -> dict[str, str]:
        pages, _ = study.ask(study.plan(**keys))
        return {page.file: study.html(page) for page in pages}

    first = made()
    assert made() == first and made(seed=8) != first


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("asked", [RATED, ROW, GRADED])
def test_no_text_can_do_harm(
    kind: str, asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = ReevaluationStudy(
        tmp_path, {"adequacy": FLUENCY, "fluency": FLUENCY}, HOSTILE[kind]
    )
    study.grade(marked=HOSTILE[kind])
    [page], _ = study.ask(study.plan(), asked, pairs=4, voters=1)
    html = study.html(page)
    check_harmless(html)


def test_neighbours_in_a_row_are_asked_about(study: ReevaluationStudy) -> None:
    plan = study.plan()
    [page], [draw] = study.ask(plan, ROW, pairs=99, voters=1)
    # 8 items with 3 neighbours each; of the first one text could not be made, and 2
    # pairs with it
    assert (draw.dataset, draw.aspect, draw.group, len(draw.pairs)) == (
        "news",
        "",
        ROW,
        22,
    )
    levels = {tuple(text.level for text in pair.texts) for pair in draw.pairs}
    assert levels == {(0, 1), (1, 2), (2, 3)}
    places = {(text.aspect, text.set) for pair in draw.pairs for text in pair.texts}
    assert places == {("fluency", IN_A_ROW)}
    assert len({pair.sources for pair in draw.pairs[:8]}) == 8
    assert len(page.items) == 22 and "error" not in study.html(page)


@pytest.mark.heavy
def test_what_cannot_be_asked_is_reported(study: ReevaluationStudy) -> None:
    with pytest.raises(UserError, match="must be 1 or greater") as error:
        study.ask(study.plan(), pairs=0)
    assert "--pairs" in str(error.value)
    with pytest.raises(UserError, match="nothing to ask") as error:
        study.ask(study.plan(perturbations=[]), ROW, GRADED)
    assert "several `steps`" in str(error.value) and "method `graded`" in str(
        error.value
    )
    with pytest.raises(UserError, match="nothing to ask") as error:
        study.ask(study.plan(datasets=["demo-news"]))  # its ratings were planned
    assert "several people's ratings of each text" in str(error.value)
    study.write_texts({"fluency": [(1,)] * 8, "adequacy": [(1,)] * 8})
    with pytest.raises(UserError, match="nothing to ask"):
        study.ask(study.plan())
    (study.out / "ratings" / "news.parquet").unlink()
    with pytest.raises(UserError, match="1 of 3 files") as error:
        study.ask(study.plan())
    assert "news.parquet" in str(error.value) and "judgescope run" in str(error.value)
