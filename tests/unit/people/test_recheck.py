"""People judge again: which pairs are drawn, what pages show and hide."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deleted import proportion
from judgescope.core.errors import UserError, UserErrors
from judgescope.people.form import page_id, rating_options
from judgescope.people.known_quality import (
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
from judgescope.people.recheck import read, sources_of
from judgescope.report.html import script_hash
from people_studies import (
    FLUENCY,
    HOSTILE,
    IN_A_ROW,
    TWO,
    ReevaluationStudy,
    numbers,
    text,
)
from people_tables import rows_of
from report_setup import Page as Parsed
from running import HOME, run


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReevaluationStudy:
    monkeypatch.chdir(tmp_path)
    return ReevaluationStudy(tmp_path, {"fluency": FLUENCY, "adequacy": FLUENCY})


def sample(
    texts: list[RecheckedText], most: int, seed: int = 0
) -> dict[str, list[Case]]:
    rng = np.random.default_rng(seed)
    return {
        group: drawn(group, blocks, rng, most)
        for group, blocks in blocks_of(texts).items()
    }


# --- pairs ----------------------------------------------------------------------------


def test_groups_are_counted_by_hand() -> None:
    texts = [text(f"t{n}", *places) for n, places in enumerate(FLUENCY)]
    found = sample(texts, 99)
    names = {
        group: {tuple(text.target for text in pair.texts) for pair in pairs}
        for group, pairs in found.items()
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
    one = text("t", *(places or (0,)))._replace(positions=places)
    assert (levels(one, others=0), levels(one, others=1)) == (all_agree, all_but_one)


@pytest.mark.simulation
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), max_size=14),
    st.integers(0, 99),
    st.integers(1, 30),
)
def test_what_is_drawn_is_every_pair_that_there_is_once_or_some_of_them(
    ratings: list[list[int]], seed: int, most: int
) -> None:
    texts = [
        text(f"t{n:02}", *places, item=f"i{n % 5}") for n, places in enumerate(ratings)
    ]
    whole = Counter(
        (pair.group, *(text.target for text in pair.texts))
        for at, one in enumerate(texts)
        for other in texts[:at]
        if (pair := pair_of(one, other))
    )
    found = sample(texts, 999, seed)
    told = Counter(
        (group, *(text.target for text in pair.texts))
        for group, pairs in found.items()
        for pair in pairs
    )
    assert told == whole
    texts_of = [pair.texts for each in found.values() for pair in each]
    assert all(better.level > worse.level for better, worse in texts_of)
    assert sample(texts[::-1], most, seed) == {
        name: own[:most] for name, own in found.items()
    }


def test_pairs_share_no_source_while_there_are_others() -> None:
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
            group: sorted(tuple(text.target for text in pair.texts) for pair in found)
            for group, found in sample(texts, 99).items()
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
    assert [(one.aspect, one.group, len(one.pairs)) for one in draws] == [
        (aspect, group, 3)
        for aspect in ("adequacy", "fluency")
        for group in (NEW, ORIGINAL)
    ]
    find = study.find(plan)
    each = [[find(one.id) for one in page.items] for page in pages]
    assert all(None not in one for one in each)
    orders = [[asked.subject[0] for asked in filter(None, one)] for one in each]
    assert orders[0] != orders[1] != orders[2]
    assert [sorted(one) for one in orders] == [
        sorted(one.pairs[i] for one in draws for i in range(3))
    ] * 3
    firsts = Counter(asked.subject[1] for one in each for asked in filter(None, one))
    assert firsts == {True: 18, False: 18}
    assert len({page.id for page in pages}) == 3


def test_a_page_asks_every_question_with_three_options(
    study: ReevaluationStudy,
) -> None:
    [page], _ = study.ask(study.plan(), voters=1)
    html = study.html(page)
    radios = list(Parsed(html).named("input"))
    assert Counter(one["value"] for one in radios) == dict.fromkeys("ABC", 16)
    assert html.count("required") == 48 and f'data-survey="{page.id}"' in html
    assert "cannot decide" not in html
    # raters of adequacy see sources, which differ: each text stands beside its own
    assert html.count('class="source"') == 16 and html.count("Source of text 1") == 8
    for one in page.items:
        if one.aspect and one.aspect.name == "Adequacy":
            numbers = [shown.split()[1].rstrip(".") for shown in one.texts]
            assert [f"Source {number}." for number in numbers] == [*one.sources]
        else:
            assert one.sources == ()


def test_texts_of_one_source_stand_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = ReevaluationStudy(
        tmp_path, {"adequacy": FLUENCY, "fluency": FLUENCY}, items=1
    )
    [page], _ = study.ask(study.plan(), voters=1)
    seen = {(one.aspect and one.aspect.name, one.sources) for one in page.items}
    assert seen == {("Adequacy", ("Source 0.",)), ("Fluency", ())}
    assert study.html(page).count('class="source"') == 8


def test_a_page_does_not_tell_ratings_or_groups(study: ReevaluationStudy) -> None:
    plan = study.plan()
    [page], _ = study.ask(plan, voters=1)
    html = study.html(page)
    for told in (
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
        assert told not in html.lower(), told
    names = {str(one["name"]) for one in Parsed(html).named("input")}
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
    parsed = Parsed(html)
    assert (parsed.wrong, parsed.open) == ([], [])
    script = (HOME / "workflow" / "people" / "save.js").read_text(encoding="utf-8")
    assert [tag for tag, _ in parsed.elements if tag in {"script", "img"}] == ["script"]
    [policy] = [one["content"] for one in parsed.named("meta") if "http-equiv" in one]
    assert policy and policy.endswith(f"script-src 'sha256-{script_hash(script)}'")
    assert not any(
        name.startswith("on") for _, told in parsed.elements for name in told
    )
    assert not set("\x00\x1b\x85\ufffe\u202e\u2066") & set(html)


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
def test_what_cannot_be_asked_is_told(study: ReevaluationStudy) -> None:
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


def test_agreement_is_counted_by_hand(study: ReevaluationStudy) -> None:
    """One voter always finds the better text; the other the better of original levels
    alone.
    """
    plan = study.plan()

    def second(pair: Case) -> str:
        if pair.group == ORIGINAL:
            return "better"
        return "same" if pair.aspect == "fluency" else "worse"

    says: list[Callable[[Case], str]] = [lambda _: "better", second]
    pages, _ = study.ask(plan)
    for page, say in zip(pages, says, strict=True):
        study.judge(plan, page, say)
    found = read(plan, study.out, study.folder / "answers")
    told = numbers(found)
    assert (found.responses, len(rows_of(found, "pairs.csv")), len(told)) == (
        2,
        16,
        3 * 2 * 2,
    )
    for aspect, n, same in (("", 16, 0.25), ("fluency", 8, 0.5), ("adequacy", 8, 0)):
        new = told[aspect, NEW, "reevaluation_agreement"]
        assert (new["value"], new["n"], new["n_missing"]) == (0.5, n, 0)
        assert told[aspect, ORIGINAL, "reevaluation_agreement"]["value"] == 1
        assert told[aspect, NEW, "reevaluation_no_difference"]["value"] == same
    pair = rows_of(found, "pairs.csv")[0]
    assert (pair["aspect"], pair["group"], pair["better"], pair["worse"]) == (
        *("adequacy", NEW, "t02", "t00"),
    )
    assert [pair[name] for name in ("level_better", "level_worse")] == [4 / 3, 1]
    assert [pair[name] for name in ("for_better", "for_worse", "no_difference")] == [
        1,
        1,
        0,
    ]


@pytest.mark.heavy
def test_an_interval_is_over_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = ReevaluationStudy(
        tmp_path, {"fluency": [(1 + n % 2,) * 3 for n in range(80)]}
    )
    plan = study.plan()
    [page], [_, draw] = study.ask(plan, pairs=30, voters=1)
    assert len(draw.pairs) == 30
    better = set(draw.pairs[:24])
    study.judge(plan, page, lambda pair: "better" if pair in better else "worse")
    row = numbers(read(plan, study.out, study.folder / "answers"))[
        "", ORIGINAL, "reevaluation_agreement"
    ]
    assert row["value"] == 0.8
    lo, hi = proportion(
        [1] * 24 + [0] * 6, [1] * 30
    )  # 24 of 30 sources, of one pair each
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(lo), pytest.approx(hi))
    assert "over 30 sources" in row["method"]
    assert (
        numbers(read(plan, study.out, study.folder / "answers"))[
            "", ORIGINAL, row["statistic"]
        ]
        == row
    )


def test_a_pair_counts_to_the_source_that_more_pairs_have() -> None:
    texts = [
        text(name, *places) for name, *places in [("a", 1, 1), ("z", 2, 2), ("m", 2, 2)]
    ]
    one = text("x", 3, 3, item="z")
    pairs = [
        pair_of(*two)
        for two in [(texts[0], texts[1]), (texts[0], texts[2]), (one, texts[1])]
    ]
    assert sources_of([pair for pair in pairs if pair]) == ["z", "a", "z"]


@pytest.mark.heavy
def test_whoever_did_not_answer_is_missing(study: ReevaluationStudy) -> None:
    plan = study.plan()
    pages, _ = study.ask(plan, voters=3)
    for page in pages[:2]:
        path = study.judge(plan, page, lambda _: "better")
    found = numbers(read(plan, study.out, study.folder / "answers"))
    row = found["", NEW, "reevaluation_agreement"]
    assert (row["value"], row["n"], row["n_missing"]) == (1, 16, 8)
    # a page is for one person: sent again, it counts once
    told = json.loads(path.read_text("utf-8"))
    for name in ("more", "and-more"):
        path.with_name(f"{name}.json").write_text(
            json.dumps(told | {"voter": name}), "utf-8"
        )
    row = numbers(read(plan, study.out, study.folder / "answers"))[
        "", NEW, "reevaluation_agreement"
    ]
    assert (row["n"], row["n_missing"]) == (16, 8)
    study.judge(plan, pages[2], lambda _: "better")
    row = numbers(read(plan, study.out, study.folder / "answers"))[
        "", NEW, "reevaluation_agreement"
    ]
    assert (row["n"], row["n_missing"]) == (24, 0)
    # another round: 2 more voters for some of the pairs, one of whom answers
    for path in (study.folder / "answers").glob("*.json"):
        path.rename(path.with_name(f"first-{path.name}"))
    pages, _ = study.ask(plan, pairs=2, voters=2)
    study.judge(plan, pages[0], lambda _: "better")
    row = numbers(read(plan, study.out, study.folder / "answers"))[
        "", NEW, "reevaluation_agreement"
    ]
    assert row["n"] - 24 == row["n_missing"] > 0


def test_rated_texts_and_rows_are_read_together(study: ReevaluationStudy) -> None:
    plan = study.plan()
    for kind in (RATED, ROW):
        [page], _ = study.ask(plan, kind, voters=1)
        study.save(page.task, page.id, kind, {one.id: "A" for one in page.items})
    found = read(plan, study.out, study.folder / "answers")
    groups = {
        row["group"]: row["value"]
        for row in rows_of(found, "reevaluation.csv")
        if row["aspect"] == "fluency"
    }
    assert set(groups) == {NEW, ORIGINAL, ROW}
    row = numbers(found)["", ROW, "reevaluation_agreement"]
    assert row["n"] == 22 and 0 < row["value"] < 1
    assert [line.partition(":")[0] for line in found.lines] == [
        f"news, {group}" for group in (NEW, ORIGINAL, ROW)
    ]


def test_the_order_of_files_does_not_matter(study: ReevaluationStudy) -> None:
    plan = study.plan()
    pages, _ = study.ask(plan)
    paths = [study.judge(plan, page, lambda _: "better") for page in pages]
    found = read(plan, study.out, study.folder / "answers")
    for at, path in enumerate(reversed(paths)):
        path.rename(path.with_name(f"{at}.json"))
    paths[0].with_name("copy.json").write_bytes(
        paths[0].with_name("1.json").read_bytes()
    )
    assert read(plan, study.out, study.folder / "answers") == found
    for path in found.write(study.out):
        assert path.read_text("utf-8").startswith("dataset,aspect,")


def test_all_faults_are_told_at_once_each_with_its_file(
    study: ReevaluationStudy,
) -> None:
    plan = study.plan()
    [page], _ = study.ask(plan, voters=1)
    path = study.judge(plan, page, lambda _: "better")
    good = json.loads(path.read_text("utf-8"))
    ids = list(good["answers"])

    def bad(name: str, **told: Any) -> None:
        path.with_name(f"{name}.json").write_text(json.dumps(good | told), "utf-8")

    def other(name: str, question: str) -> None:
        told = {question: "A"}
        bad(name, survey=page_id(told, "1"), answers=told)

    one, two = ids[0][1:].split("-")
    bad("less", voter="l", answers={one: good["answers"][one] for one in ids[1:]})
    bad("option", voter="o", answers={**good["answers"], ids[0]: "D"})
    bad("voters", voter="v", survey=f"9{good['survey']}")
    bad("none", voter="n", survey="")
    bad("empty", voter="e", survey=page_id([], "1"), answers={})
    bad("nobody", voter="z", survey=page_id(ids, "0"))
    bad("mind", answers=dict.fromkeys(ids, "C"))
    other("foreign", "q0-1")
    other("itself", f"q{one}-{one}")
    other("single", f"q{one}")
    other("three", f"q{one}-{two}-{one}")
    other("unnamed", f"x{one}-{two}")
    with pytest.raises(UserErrors) as errors:
        read(plan, study.out, path.parent)
    told = {
        Path(one.where.partition(",")[0]).stem: one.what for one in errors.value.errors
    }
    words = {
        **dict.fromkeys(
            ["less", "voters", "none", "nobody", "empty"], "do not match the questions"
        ),
        "option": "is not an option",
        **dict.fromkeys(
            ["foreign", "itself", "single", "three", "unnamed"],
            "does not ask these questions",
        ),
        path.stem: "conflicting responses",
    }
    assert told.keys() == words.keys()
    assert all(words[name] in what for name, what in told.items())
    assert all(one.todo for one in errors.value.errors)


@pytest.mark.parametrize("change", ["seed", "text", "rating"])
def test_answers_to_what_the_study_no_longer_asks_are_told(
    change: str, study: ReevaluationStudy
) -> None:
    plan = study.plan()
    [page], _ = study.ask(plan, voters=1)
    path = study.judge(plan, page, lambda _: "better")
    ratings = {"fluency": FLUENCY, "adequacy": FLUENCY}
    if change == "seed":
        plan = study.plan(seed=8)
    elif change == "text":
        study.write_texts(ratings, " More.")
    else:
        study.write_texts({name: each[::-1] for name, each in ratings.items()})
    with pytest.raises(UserErrors, match="does not ask these questions") as errors:
        read(plan, study.out, path.parent)
    assert "does not ask these questions" in str(errors.value)


def test_answers_without_the_study_s_tables_are_told(study: ReevaluationStudy) -> None:
    plan = study.plan()
    [page], _ = study.ask(plan, voters=1)
    study.judge(plan, page, lambda _: "better")
    (study.out / "items" / "news.parquet").unlink()
    with pytest.raises(UserError, match="files with texts of the study are missing"):
        read(plan, study.out, study.folder / "answers")


@pytest.mark.heavy
def test_the_commands(study: ReevaluationStudy) -> None:
    command = ("-m", "judgescope", "people", "recheck")
    made = run(
        *command, "make", str(study.write()), "pages", "--pairs", "4", cwd=study.folder
    )
    assert made.returncode == 0 and "2 pages with 32 questions" in made.stdout, (
        made.stdout
    )
    assert "there are" not in made.stdout
    written = {path: path.read_bytes() for path in (study.folder / "pages").iterdir()}
    fewer = ("pages", "--voters", "1")
    other = run(*command, "make", str(study.write()), *fewer, cwd=study.folder)
    assert other.returncode == 1 and "this folder has other pages" in other.stdout
    assert written == {
        path: path.read_bytes() for path in (study.folder / "pages").iterdir()
    }
    other = run(
        *command, "make", str(study.write()), *fewer, "--force", cwd=study.folder
    )
    assert other.returncode == 0 and "pages: 1 page with" in other.stdout
    made = run(
        *command, "make", str(study.write()), "pages", "--force", cwd=study.folder
    )
    assert "news, adequacy, new-level: only 4 of 50 pairs available" in made.stdout
    rows = run(
        *command, "make", str(study.write()), "rows", "--constructed", cwd=study.folder
    )
    assert "rows: 2 pages with 44 questions" in rows.stdout
    assert "news, row: only 22 of 100 pairs available" in rows.stdout
    (study.folder / "answers").mkdir(exist_ok=True)
    nothing = run(*command, "import", str(study.write()), "answers", cwd=study.folder)
    assert nothing.returncode == 1 and "no answers found" in nothing.stdout
    plan = study.plan()
    for page in study.ask(plan)[0]:
        study.judge(
            plan, page, lambda pair: "better" if pair.group == ORIGINAL else "same"
        )
    done = run(*command, "import", str(study.write()), "answers", cwd=study.folder)
    assert done.returncode == 0 and "2 files of answers, about 16 pairs" in done.stdout
    told = "agreement 0.000, n = 16; no difference 1.000"
    assert f"news, new-level: {told}" in done.stdout, done.stdout
    assert (study.out / "reevaluation" / "reevaluation.csv").is_file()
