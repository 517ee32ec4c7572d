"""First ratings: what pages show and hide, and the dataset that their answers make."""

import csv
import json
import re
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from judgescope.core.errors import UserError, UserErrors
from judgescope.data.rated import DatasetContent
from judgescope.data.select import read_dataset
from judgescope.extensions.people.answers import FormResults
from judgescope.extensions.people.ratings import AskedRating, make, read
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import read_card
from people_studies import ASPECTS, SYSTEMS, RatingsStudy
from people_tables import rows_of
from report_setup import Page as Parsed
from running import run


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RatingsStudy:
    monkeypatch.chdir(tmp_path)
    return RatingsStudy(tmp_path)


def by_system(question: AskedRating) -> int:
    """Return 2 for alpha, 3 for beta, 4 for gamma."""
    return 2 + SYSTEMS.index(question.subject.system or "")


def written(
    study: RatingsStudy, results: FormResults
) -> tuple[Dataset, DatasetContent]:
    """Write what people rated as a dataset; return its card, and it as format table
    reads it.
    """
    folder = study.folder / "config" / "datasets"
    table, path = results.write(study.out)
    for file in (table, path):
        shutil.copy(file, folder)
    card = read_card("dataset", folder / path.name)
    assert isinstance(card, Dataset)
    return card, read_dataset(card, folder, study.folder)


# --- pages ----------------------------------------------------------------------------


def test_a_page_asks_for_every_text_and_aspect_on_its_scale(
    study: RatingsStudy,
) -> None:
    plan = study.plan()
    [page] = study.ask(plan, voters=1)
    html = study.html(page)
    values = Counter(row["value"] for row in Parsed(html).named("input"))
    assert values == dict.fromkeys("12345", 12 * 2)
    assert html.count("1 (worst)</label>") == html.count("5 (best)</label>") == 24
    assert "<h1>How good is each text? Task: summarization</h1>" in html
    known = study.ratings(plan)
    asked = [known[item.id] for item in page.items]
    assert len(set(asked)) == len(known) == 24
    for item, question in zip(page.items, asked, strict=True):
        assert item.texts == (question.subject.text,)
        hidden = question.aspect == "fluency"
        assert item.sources == (() if hidden else (question.subject.source,))
    # aspect by aspect
    changes = sum(each.aspect != other.aspect for each, other in pairwise(asked))
    assert changes == 1


def test_a_page_does_not_tell_systems_or_names(study: RatingsStudy) -> None:
    [page] = study.ask(study.plan(), voters=1)
    html = study.html(page).lower()
    for name in (*SYSTEMS, "tiny", "news", "target", "system:"):
        assert name not in html.replace("source of n0", ""), name
    assert all(re.fullmatch("r[0-9a-f]{32}", item.id) for item in page.items)


def test_voters_have_orders_of_their_which_the_seed_gives(
    study: RatingsStudy,
) -> None:
    pages = study.ask(study.plan(), voters=2)
    orders = [[item.id for item in page.items] for page in pages]
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1])
    assert [page.file for page in pages] == [
        f"summarization-voter{n}.html" for n in (1, 2)
    ]
    assert study.ask(study.plan()) == pages
    assert {item.id for item in study.ask(study.plan(seed=8))[0].items}.isdisjoint(
        orders[0]
    )


def test_systems_and_items_take_turns_and_more_draw_the_same_first(
    study: RatingsStudy,
) -> None:
    plan = study.plan()
    known = study.ratings(plan)

    def drawn(texts: int) -> set[tuple[str, str | None]]:
        [page] = study.ask(plan, texts=texts, voters=1)
        subjects = [known[item.id].subject for item in page.items]
        assert set(Counter(subject.target for subject in subjects).values()) == {
            2
        }  # each in both aspects
        return {(subject.item, subject.system) for subject in subjects}

    assert Counter(system for _, system in drawn(6)) == dict.fromkeys(SYSTEMS, 2)
    assert len({item for item, _ in drawn(4)}) == 4
    assert drawn(3) < drawn(6) < drawn(99) and len(drawn(99)) == 12


def test_what_cannot_be_asked_is_reported(study: RatingsStudy) -> None:
    with pytest.raises(UserError, match="must be 1 or greater") as error:
        study.ask(study.plan(), texts=0)
    assert "--texts" in str(error.value)
    study.write_texts(items=0)
    with pytest.raises(UserError, match="there is nothing to ask"):
        study.ask(study.plan())
    (study.out / "targets" / "news" / "systems.parquet").unlink()
    with pytest.raises(UserError, match="1 of 2 files") as error:
        study.ask(study.plan())
    assert "judgescope run" in str(error.value)
    study.card(
        "datasets",
        "news",
        **study.dataset | {"aspects": {"fluency": {"min": 0, "max": 1}}},
    )
    with pytest.raises(UserError, match="there is nothing to ask") as error:
        study.ask(study.plan())
    assert "`step`" in str(error.value)


# --- answers --------------------------------------------------------------------------


def test_answers_become_a_dataset_that_format_table_reads(study: RatingsStudy) -> None:
    """Of two voters the second rates adequacy one higher; a third sent nothing."""
    plan = study.plan()
    first, second, _ = study.ask(plan, voters=3)
    study.rate(plan, first, by_system)
    study.rate(plan, second, lambda each: by_system(each) + (each.aspect == "adequacy"))
    result = read(plan, study.out, study.folder / "answers")
    assert (result.responses, result.about) == (2, "48 ratings")
    assert "no file of answers from voter 3 of 3 (summarization)" in result.lines
    assert result.lines[1].startswith("news, fluency: 24 ratings, alpha_ordinal 1.000")
    card, rated = written(study, result)
    assert (card.dataset, card.ratings, card.citation) == (
        "news-rated",
        "people",
        "Who, 2020",
    )
    assert {name: scale.source_visible for name, scale in card.aspects.items()} == {
        "fluency": False,
        "adequacy": True,
    }
    assert {item.references for item in rated.items} == {("One.", "Two.")}
    assert {item.source for item in rated.items} == {
        f"Source of n{n:02}." for n in range(4)
    }
    assert {output.system for output in rated.outputs} == set(SYSTEMS)
    assert len(rated.outputs) == 12 and len(rated.ratings) == 48
    raters: dict[tuple[str, str], set[tuple[str, float]]] = {}
    for rating in rated.ratings:
        output = next(
            output for output in rated.outputs if output.target == rating.target
        )
        values = rating.aspect, str(output.system)
        raters.setdefault(values, set()).add((rating.rater, rating.value))
    for at, system in enumerate(SYSTEMS, start=2):
        assert raters["fluency", system] == {("rater-1", at), ("rater-2", at)}
        assert raters["adequacy", system] == {("rater-1", at), ("rater-2", at + 1)}


def test_labels_are_asked_for_and_come_back_in_words(study: RatingsStudy) -> None:
    verdict = {"labels": ["fail", "pass"], "read_as": {"ok": "pass"}}
    kind = {"labels": ["praise", "question", "complaint"], "ordered": False}
    study.card(
        "datasets",
        "news",
        **study.dataset | {"aspects": {"fluency": verdict, "adequacy": kind}},
    )
    plan = study.plan()
    first, second = study.ask(plan, voters=2)
    html = study.html(first)
    assert html.count("fail (worst)</label>") == html.count("pass (best)</label>") == 12
    assert html.count("complaint</label>") == 12
    study.rate(plan, first, lambda each: SYSTEMS.index(each.subject.system or "") % 2)
    study.rate(plan, second, lambda each: SYSTEMS.index(each.subject.system or "") % 2)
    result = read(plan, study.out, study.folder / "answers")
    assert "alpha_nominal 1.000" in " ".join(result.lines)
    card, rated = written(study, result)
    assert card.aspects["fluency"].ordered and not card.aspects["adequacy"].ordered
    assert Counter(rating.value for rating in rated.ratings) == {0: 32, 1: 16}


def test_the_first_voter_may_be_the_one_who_is_missing(study: RatingsStudy) -> None:
    plan = study.plan()
    study.rate(plan, study.ask(plan)[1], by_system)
    [table, _] = read(plan, study.out, study.folder / "answers").write(study.out)
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["rating_fluency"] for row in rows} == {
        f"[null, {n}.0]" for n in (2, 3, 4)
    }


def test_a_second_round_has_other_raters(study: RatingsStudy) -> None:
    """Of 12 texts 6 are rated in both rounds: by two people, and by a third."""
    plan = study.plan()
    for page in study.ask(plan, texts=6):
        study.rate(plan, page, by_system)
    study.rate(plan, study.ask(plan, voters=1)[0], lambda _: 1, "again")
    result = read(plan, study.out, study.folder / "answers")
    rows = [
        json.loads(row["rating_fluency"]) for row in rows_of(result, "news-rated.csv")
    ]
    seen = Counter(sum(value is not None for value in values) for values in rows)
    assert seen == {3: 6, 1: 6} and {len(values) for values in rows} == {3}
    assert all(values.count(1) == 1 for values in rows)


def test_a_page_is_for_a_single_person(study: RatingsStudy) -> None:
    plan = study.plan()
    page = study.ask(plan)[0]
    for voter in ("one", "two"):
        study.rate(plan, page, by_system, voter)
    assert read(plan, study.out, study.folder / "answers").responses == 1
    study.rate(plan, page, lambda _: 1, "two")
    (study.folder / "answers" / "torn.json").write_text("{", encoding="utf-8")
    with pytest.raises(UserErrors) as errors:  # a conflict hides no other fault
        read(plan, study.out, study.folder / "answers")
    partitions = [error.what.partition(":")[0] for error in errors.value.errors]
    assert partitions == [
        "conflicting responses to the same page",
        "this is not a file of answers",
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("answers.JSON", ""),
        ("with a mark.json", ""),
        ("answers.json.txt", "does not end in .json"),
        ("folder/answers.json", "whose files are not read"),
        ("surrogate.json", "not a file of answers"),
    ],
)
def test_every_file_in_the_folder_is_read_or_reported(
    name: str, message: str, study: RatingsStudy
) -> None:
    plan = study.plan()
    study.rate(plan, study.ask(plan)[0], by_system)
    answers = study.folder / "answers"
    [path] = answers.glob("*.json")
    text = path.read_text("utf-8")
    path.unlink()
    (answers / name).parent.mkdir(exist_ok=True)
    if name.startswith("surrogate"):
        text = text.replace('"answers": {', '"answers": {"\\ud800": "1", ')
    (answers / name).write_text(text, "utf-8-sig" if "mark" in name else "utf-8")
    (answers / ".DS_Store").write_bytes(b"\0")
    (answers / "page.html").write_text("", "utf-8")
    if message:
        with pytest.raises(UserErrors, match=message):
            read(plan, study.out, answers)
    else:
        assert read(plan, study.out, answers).responses == 1


def test_the_card_keeps_what_it_says_of_rated_systems(study: RatingsStudy) -> None:
    of_systems = {"reference_systems": ["alpha", "absent"], "families": {"beta": "gpt"}}
    study.card("datasets", "news", **study.dataset | of_systems | {"same_names": False})
    plan = study.plan()
    study.rate(plan, study.ask(plan)[0], by_system)
    card, _ = written(study, read(plan, study.out, study.folder / "answers"))
    assert (card.reference_systems, card.families) == (["alpha"], {"beta": "gpt"})
    assert card.same_names is False


def test_a_text_with_any_line_end_comes_back(study: RatingsStudy) -> None:
    study.write_texts(marked="\rTwo.\r\nThree.\nFour")
    plan = study.plan()
    study.rate(plan, study.ask(plan)[0], by_system)
    _, rated = written(study, read(plan, study.out, study.folder / "answers"))
    assert any(
        "\rTwo.\r\nThree.\nFour" in (output.text or "") for output in rated.outputs
    )


def test_fewer_voters_leave_no_page_of_others(study: RatingsStudy) -> None:
    plan, folder = study.plan(), study.folder / "sent"
    make(plan, study.out, folder, texts=2, voters=3)
    with pytest.raises(UserError, match="this folder has other pages"):
        make(plan, study.out, folder, texts=2, voters=2)
    make(plan, study.out, folder, texts=2, voters=2, force=True)
    assert len([*folder.iterdir()]) == 2


@pytest.mark.parametrize("change", ["seed", "text", "scale", "option", "part", "voter"])
def test_what_is_no_answer_is_reported(change: str, study: RatingsStudy) -> None:
    plan = study.plan()
    page = study.ask(plan)[0]
    other = "this study does not ask these questions"
    text = "do not match the questions"
    message = {
        "option": "this answer is not an option",
        "part": text,
        "voter": text,
    }.get(change, other)
    if change == "option":
        study.rate(plan, page, lambda _: 6)
    elif change == "part":
        study.rate(plan, page._replace(items=page.items[1:]), by_system)
    elif change == "voter":
        study.rate(plan, page._replace(id=page.id.replace("1of2", "3of2")), by_system)
    else:
        study.rate(plan, page, by_system)
    if change == "text":
        study.write_texts(marked=" More")
    if change == "scale":
        study.card(
            "datasets",
            "news",
            **study.dataset
            | {"aspects": {name: {"min": 1, "max": 7, "step": 1} for name in ASPECTS}},
        )
    with pytest.raises(UserErrors, match=message):
        read(
            study.plan(seed=8 if change == "seed" else 7),
            study.out,
            study.folder / "answers",
        )


@pytest.mark.heavy
def test_the_commands(study: RatingsStudy) -> None:
    command = ("-m", "judgescope", "people", "ratings")
    some = ("--texts", "6", "--voters", "1")
    made = run(*command, "make", str(study.write()), "pages", *some, cwd=study.folder)
    assert made.returncode == 0 and "1 page with 12 questions" in made.stdout, (
        made.stdout
    )
    nothing = run(*command, "import", str(study.write()), "answers", cwd=study.folder)
    assert nothing.returncode == 1 and "folder not found" in nothing.stdout
    (study.folder / "answers").mkdir()
    nothing = run(*command, "import", str(study.write()), "answers", cwd=study.folder)
    assert nothing.returncode == 1 and "no answers found" in nothing.stdout
    plan = study.plan()
    study.rate(plan, study.ask(plan, texts=6, voters=1)[0], by_system)
    done = run(*command, "import", str(study.write()), "answers", cwd=study.folder)
    assert done.returncode == 0 and "1 file of answers, 12 ratings" in done.stdout, (
        done.stdout
    )
    assert "config/datasets" in done.stdout
    assert (study.out / "rated" / "news-rated.yaml").is_file()
