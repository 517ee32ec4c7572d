"""People's votes: what pages ask and hide, and what their answers say."""

import csv
import json
import re
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harmless_pages import check_harmless
from judgescope.core.cells import split
from judgescope.core.errors import UserError, UserErrors
from judgescope.extensions.people.form import page_id
from judgescope.extensions.people.pairs import PairQuestion, read, sets_of
from judgescope.schema.loading import read_card
from judgescope.statistics.confusion import expectations
from people_studies import ASPECTS, HOSTILE, KINDS, TEXTS, TYPES, VotesStudy
from people_tables import rows_of
from report_setup import Page as Parsed
from running import run


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VotesStudy:
    monkeypatch.chdir(tmp_path)
    return VotesStudy(tmp_path)


# --- pages ----------------------------------------------------------------------------


def test_a_page_asks_every_question_with_four_options(study: VotesStudy) -> None:
    [page] = study.pages(study.plan())
    html = study.html(page)
    assert len(page.items) == 2 * 4 * 3  # pairs, kinds and degrees, aspects
    radios = list(Parsed(html).named("input"))
    assert Counter(radio["value"] for radio in radios) == dict.fromkeys("ABCD", 24)
    assert Counter(radio["name"] for radio in radios) == {
        item.id: 4 for item in page.items
    }
    assert html.count("required") == 96 and f'data-survey="{page.id}"' in html
    # the source is there where raters see it
    assert html.count('class="source"') == 8
    assert all(
        (item.sources == ()) == (item.aspect and item.aspect.name != "Adequacy")
        for item in page.items
    )
    assert (
        html.count("<strong>Fluency</strong>: How well each sentence is written") == 8
    )


def test_a_page_does_not_tell_which_text_was_perturbed(study: VotesStudy) -> None:
    plan = study.plan()
    [page] = study.pages(plan)
    html = study.html(page).lower()
    for kind in (
        *KINDS,
        "minor",
        "major",
        "damage",
        "original",
        "perturb",
        "n01",
        "news",
        "tiny",
    ):
        assert kind not in html, kind
    asked = study.questions(plan)
    for aspect in ASPECTS:
        askeds = [
            asked[item.id] for item in page.items if asked[item.id].aspect == aspect
        ]
        assert sum(asked.swapped for asked in askeds) == len(askeds) / 2
    shown = [item.texts for item in page.items]
    assert shown == [asked[item.id].texts for item in page.items]


def test_each_voter_has_an_order_and_sides_of_their_own(study: VotesStudy) -> None:
    plan = study.plan()
    asked = study.questions(plan)
    pages = study.pages(plan, voters=3)
    assert len({page.file for page in pages}) == len({page.id for page in pages}) == 3
    orders = [[asked[item.id][:2] for item in page.items] for page in pages]
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1]) == sorted(
        orders[2]
    )


def test_the_same_study_makes_the_same_pages(study: VotesStudy) -> None:
    def made(**keys: Any) -> dict[str, str]:
        return {page.file: study.html(page) for page in study.pages(study.plan(**keys))}

    first = made()
    assert made() == first and made(seed=8) != first
    study.write_texts(list(TEXTS))
    assert made() == first


def test_nobody_sees_two_wordings_of_an_aspect_and_all_are_asked(
    study: VotesStudy,
) -> None:
    plan = study.plan(*TYPES)
    pages = study.pages(plan, voters=2)
    asked = study.questions(plan)
    assert {page.set for page in pages} == {1, 2, 3, 4, 5} and len(pages) == 10
    seen: Counter[str] = Counter()
    for page in pages:
        aspects = {asked[item.id].aspect for item in page.items}
        assert len({split(aspect)[0] for aspect in aspects}) == len(aspects) == 3
        seen.update(aspects)
    assert seen == {f"{aspect}.{kind}": 2 for aspect in ASPECTS for kind in TYPES}


def test_a_long_page_is_parted_by_pairs(study: VotesStudy) -> None:
    plan = study.plan()
    asked = study.questions(plan)
    pages = study.pages(plan, each=3, limit=10)  # 12 pairs, at most 3 of them on a page
    assert [len(page.items) for page in pages] == [9, 9, 9, 9]
    each = [{asked[item.id].pair for item in page.items} for page in pages]
    assert [len(entry) for entry in each] == [3] * 4 and len(set().union(*each)) == 12
    assert [len(page.items) for page in study.pages(plan, each=1, limit=1)] == [3] * 4


@pytest.mark.heavy
def test_only_perturbed_texts_are_drawn_and_more_draw_the_same_first(
    study: VotesStudy,
) -> None:
    plan = study.plan()
    asked = study.questions(plan)

    def pairs(number: int) -> set[str]:
        [page] = study.pages(plan, each=number, limit=999)
        return {asked[item.id].pair.target for item in page.items}

    assert len(pairs(50)) == 4 * 11  # the first could not be perturbed
    assert pairs(2) < pairs(5) < pairs(50) and not any(
        "n00" in pair for pair in pairs(50)
    )


@given(
    st.dictionaries(
        st.sampled_from("abcdefghijk"), st.integers(1, 8), min_size=1, max_size=11
    ),
    st.integers(0, 99),
)
def test_sets_are_balanced(numbers: dict[str, int], seed: int) -> None:
    wordings = {
        name: [f"{name}.{k}" for k in range(number)] for name, number in numbers.items()
    }
    sets = sets_of(wordings, np.random.default_rng(seed))
    assert len(sets) == max(numbers.values())
    assert sorted(chain(*sets)) == sorted(chain(*wordings.values()))
    assert max(map(len, sets)) - min(map(len, sets)) <= 1
    assert all(len({split(entry)[0] for entry in each}) == len(each) for each in sets)


def test_kinds_of_wordings_are_spread() -> None:
    """Hu et al. 2024: 80 wordings of 11 aspects; no set defines, say, all of them by
    their term.
    """
    numbers = [8, 8, 8, 6, 7, 8, 6, 7, 8, 7, 7]
    wordings = {
        f"a{n}": [f"a{n}.k{k}" for k in range(m)] for n, m in enumerate(numbers)
    }
    for seed in range(20):
        sets = sets_of(wordings, np.random.default_rng(seed))
        assert [len(entry) for entry in sets] == [10] * 8
        maximum = max(
            max(Counter(split(entry)[1] for entry in each).values()) for each in sets
        )
        assert maximum <= 4


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_text_can_do_harm(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evil = HOSTILE[kind]
    study = VotesStudy(
        tmp_path, [(f"{evil} 0", f"{evil} {n}", f"{n} {evil}") for n in range(3)]
    )
    [page] = study.pages(study.plan())
    html = study.html(page)
    check_harmless(html)
    assert html.count('class="text" dir="auto"') == 24 * 2 + 8
    assert not re.search(r"https?://|url\(", html.replace("http-equiv", ""))


@pytest.mark.heavy
def test_what_cannot_be_asked_is_reported(study: VotesStudy) -> None:
    with pytest.raises(UserError, match="no text is perturbed"):
        study.pages(
            study.plan(datasets=["demo-news"], perturbations=[], methods=["agreement"])
        )
    with pytest.raises(UserError, match="must be 1 or greater") as error:
        study.pages(study.plan(), each=0)
    assert "--pairs" in str(error.value)
    (study.out / "targets" / "news" / "reordering.major.parquet").unlink()
    with pytest.raises(UserError, match="1 of 6 files") as error:
        study.pages(study.plan())
    assert "reordering.major.parquet" in str(error.value) and "judgescope run" in str(
        error.value
    )


# --- answers --------------------------------------------------------------------------


def honest(question: PairQuestion) -> str:
    """Return what perturbations do here: typos lower fluency, reordering lowers
    coherence.
    """
    harm = {"random-typos": "fluency", "reordering": "coherence"}
    return "A" if harm[question.pair.perturbation] == split(question.aspect)[0] else "C"


def expected(study: VotesStudy, *rows: str) -> Path:
    path = study.folder / "expected.csv"
    path.write_text(
        "\n".join(["perturbation,aspect,expected", *rows]), encoding="utf-8"
    )
    return path


@pytest.mark.heavy
def test_votes_are_distinguished_from_the_sides_on_which_texts_stood(
    study: VotesStudy,
) -> None:
    plan = study.plan()
    for page in study.pages(plan, each=3, voters=4):
        study.answer(plan, page, honest)
    hopes = expected(
        study, "random-typos,fluency,1", "reordering,fluency,1", "reordering,adequacy,"
    )
    result = read(plan, study.out, study.folder / "answers", hopes)
    assert (result.responses, result.about) == (4, "about 12 pairs of texts")
    rows = rows_of(result, "effects.csv")
    assert [*rows[0]][:4] == ["perturbation", "aspect", "human", "expected"]
    human = {(row["perturbation"], row["aspect"]): row["human"] for row in rows}
    harmed = {("random-typos", "fluency"), ("reordering", "coherence")}
    assert human == {
        (kind, aspect): int((kind, aspect) in harmed)
        for kind in KINDS
        for aspect in ASPECTS
    }
    fluent = next(row for row in rows if row["human"])
    assert (fluent["original_better"], fluent["no_difference"], fluent["pairs"]) == (
        24,
        0,
        6,
    )
    numbers = {
        (row["aspect"], row["statistic"]): row for row in rows_of(result, "votes.csv")
    }
    assert numbers["", "vote_consistency"]["value"] == 1 and len(numbers) == 4 * 3
    match = numbers["", "match_vote_all"]
    assert (match["value"], match["n"], match["n_missing"]) == (0.5, 2, 4)
    assert (match["ci_low"], match["ci_high"]) == (0.5, 0.5)
    assert numbers["coherence", "match_vote_vote"]["note"].startswith(
        "no perturbation has an expected effect"
    )


def test_votes_are_counted_by_hand(study: VotesStudy) -> None:
    plan = study.plan(perturbations=["reordering"], aspects=["fluency"])
    options = iter("ACAACD")
    for page in study.pages(plan, each=1, voters=3):
        assert len(page.items) == 2
        first = {name: next(options) for name in ("minor", "major")}
        study.answer(plan, page, lambda question: first[question.pair.degree])  # noqa: B023
    result = read(plan, study.out, study.folder / "answers")
    [row] = rows_of(result, "effects.csv")
    # minor: A A C, major: C A D
    assert [
        row[key] for key in ("original_better", "no_difference", "cannot_decide")
    ] == [3, 2, 1]
    assert (row["human"], row["expected"], row["pairs"]) == (1, None, 2)
    [consistency] = [
        row["value"]
        for row in rows_of(result, "votes.csv")
        if (row["aspect"], row["statistic"]) == ("", "vote_consistency")
    ]
    assert consistency == pytest.approx((2 / 3 + 1 / 3) / 2)


def test_each_wording_has_a_separate_effects_and_undecided_ones_are_empty(
    study: VotesStudy,
) -> None:
    plan = study.plan("term", "detailed")
    for page in study.pages(plan):
        study.answer(
            plan,
            page,
            lambda each: "D" if each.aspect.endswith("term") else honest(each),
        )
    result = read(plan, study.out, study.folder / "answers")
    assert list(result.tables) == [
        "votes.csv",
        "effects.detailed.csv",
        "effects.term.csv",
    ]
    paths = result.write(study.out)
    with paths[2].open(encoding="utf-8", newline="") as file:
        undecided = list(csv.DictReader(file))
    assert len(undecided) == 6 and {row["human"] for row in undecided} == {""}
    assert {row["cannot_decide"] for row in undecided} == {"4"}
    assert (
        len(expectations(undecided).excluded) == 6
    )  # a study takes the table as it is
    with paths[1].open(encoding="utf-8", newline="") as file:
        decided = expectations(csv.DictReader(file))
    assert decided.drops == [("random-typos", "fluency"), ("reordering", "coherence")]
    assert len(decided.stays) == 4
    assert [path.name for path in paths[3:]] == ["votes-tiny-detailed.yaml"]
    card = read_card("expectations", paths[3])
    assert card.perturbations["reordering"].drop == ["coherence"]
    assert card.perturbations["reordering"].same == ["adequacy", "fluency"]
    with paths[0].open(encoding="utf-8", newline="") as file:
        values = {
            (row["criterion"], row["statistic"]): row["value"]
            for row in csv.DictReader(file)
        }
    assert values["term", "vote_consistency"] == "0.0"
    assert values["detailed", "vote_consistency"] == "1.0"


@pytest.mark.heavy
def test_a_file_twice_counts_once_and_its_order_does_not_matter(
    study: VotesStudy,
) -> None:
    plan = study.plan()
    [page] = study.pages(plan)
    path = study.answer(plan, page, honest)
    each = read(plan, study.out, path.parent)
    content = json.loads(path.read_text("utf-8"))
    content["answers"] = dict(reversed(content["answers"].items()))
    path.with_name("copy (1).json").write_text(json.dumps(content), "utf-8")
    assert read(plan, study.out, path.parent) == each
    study.answer(plan, page, honest, voter="another")
    assert read(plan, study.out, path.parent).responses == 2


def test_all_faults_are_reported_at_once_each_with_its_file(study: VotesStudy) -> None:
    plan = study.plan()
    [page] = study.pages(plan)
    path = study.answer(plan, page, honest)
    good = json.loads(path.read_text("utf-8"))
    ids = list(good["answers"])

    def bad(name: str, message: object) -> None:
        path.with_name(f"{name}.json").write_text(json.dumps(message), "utf-8")

    less = {each: good["answers"][each] for each in ids[1:]}
    bad("less", {**good, "answers": less})
    bad("option", {**good, "voter": "o", "answers": {**good["answers"], ids[0]: "E"}})
    bad("empty", {**good, "survey": page_id([]), "answers": {}})
    bad("foreign", {**good, "answers": {"q0": "A"}})
    bad("mind", {**good, "answers": dict.fromkeys(ids, "D")})
    bad("list", {**good, "answers": {each: ["A"] for each in ids}})
    path.with_name("torn.json").write_text('{"survey": ', "utf-8")
    path.with_name("deep.json").write_text("[" * 100_000, "utf-8")
    path.with_name("folder.json").mkdir()
    with pytest.raises(UserErrors) as errors:
        read(plan, study.out, path.parent)
    by_stem = {
        Path(error.where.partition(",")[0]).stem: error for error in errors.value.errors
    }
    words = {
        **dict.fromkeys(["less", "empty"], "do not match the questions"),
        "option": "is not an option",
        "foreign": "does not ask these questions",
        **dict.fromkeys(["list", "torn", "deep"], "not a file of answers"),
        "folder": "whose files are not read",
        path.stem: "conflicting responses",
    }
    assert by_stem.keys() == words.keys()
    assert all(words[name] in error.what for name, error in by_stem.items())
    assert all(error.todo for error in by_stem.values())


@pytest.mark.parametrize("change", ["seed", "text", "source", "wording"])
def test_answers_to_what_the_study_no_longer_asks_are_reported(
    change: str, study: VotesStudy
) -> None:
    plan = study.plan()
    [page] = study.pages(plan)
    path = study.answer(plan, page, honest)
    if change == "seed":
        plan = study.plan(seed=8)
    elif change == "wording":
        plan = study.plan("term")
    else:
        at = ("source", "text").index(change)
        changed = [list(row) for row in TEXTS]
        for row in changed:
            row[at] += " More."
        study.write_texts(
            [(source, original, perturbed) for source, original, perturbed in changed]
        )
    with pytest.raises(UserErrors) as errors:
        read(plan, study.out, path.parent)
    assert "does not ask these questions" in str(errors.value)


@pytest.mark.parametrize("row", ["random-typos,fluency,yes", "random-typos,,1"])
def test_a_wrong_table_of_expectations_is_reported(row: str, study: VotesStudy) -> None:
    plan = study.plan()
    path = expected(study, "", row)
    with pytest.raises(UserError, match="expected value") as error:
        read(plan, study.out, study.folder, path)
    assert f"{path}, row 3" in str(error.value)


def test_expectations_of_nothing_that_was_asked_are_counted(study: VotesStudy) -> None:
    plan = study.plan()
    for page in study.pages(plan, each=10, voters=2):
        study.answer(plan, page, honest)
    rows = ["random-typos,fluency,1.0", "random-tpos,fluency,1"]
    result = read(plan, study.out, study.folder / "answers", expected(study, *rows))
    message = (
        "1 of 2 expectations concern nothing that people were asked about: "
        "random-tpos/fluency"
    )
    assert message in result.lines
    with pytest.raises(UserError, match="contradicts itself"):
        again = expected(study, "random-typos,fluency,1", "random-typos,fluency,0")
        read(plan, study.out, study.folder / "answers", again)


@pytest.mark.heavy
def test_the_commands(study: VotesStudy) -> None:
    made = run(
        "-m",
        "judgescope",
        "people",
        "pairs",
        "make",
        str(study.write()),
        "pages",
        cwd=study.folder,
    )
    assert made.returncode == 0 and "8 pages with 480 questions" in made.stdout, (
        made.stdout
    )
    read_ = (
        "-m",
        "judgescope",
        "people",
        "pairs",
        "import",
        str(study.write()),
        "answers",
    )
    (study.folder / "answers").mkdir(exist_ok=True)
    nothing = run(*read_, cwd=study.folder)
    assert nothing.returncode == 1 and "no answers found" in nothing.stdout
    plan = study.plan()
    for page in study.pages(plan, each=10, voters=2):
        study.answer(plan, page, honest)
    done = run(*read_, cwd=study.folder)
    assert done.returncode == 0 and "4 files of answers, about 40 pairs" in done.stdout
    assert (
        "default wording: vote_consistency 1.000 [0.912, 1.000], n = 120" in done.stdout
    )
    assert (
        "default wording: match_vote_all undefined (no perturbation has an expected "
        "effect" in done.stdout
    )
    assert (study.out / "votes" / "effects.csv").is_file()
