"""Datasets of originals only: the formats of Wang et al. 2024 that have no system's
text.
"""

import csv
from pathlib import Path
from typing import Any

import pytest

from data_samples import COLUMNS, card, faults, jsonl, table, xml
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.rated import DatasetContent
from judgescope.data.select import originals, read_dataset, select
from judgescope.schema.cards import Dataset


def bare(**keys: Any) -> Dataset:
    """Return a card of a dataset that nobody rated."""
    return card(ratings="none", **keys)


def selected(dataset: Dataset, folder: Path) -> dict[str, str]:
    """Return item -> original of what the card selects."""
    rated = select(read_dataset(dataset, folder, folder), dataset.select, 7, "mine")
    chosen = originals(rated, dataset.select)
    return {item: each.text for item, each in chosen.items()}


# --- sumpubmed_jsonl ---

SUMPUBMED = {"format": "sumpubmed_jsonl", "files": "x.jsonl"}
ARTICLE = (
    "BACKGROUND\nwhat was known. more of "
    "it.\n\n\nRESULTS\nfound.\n\nBACKGROUND\nagain.\n"
)


def pair(name: object, text: object = ARTICLE, **keys: Any) -> dict[str, Any]:
    abstract = f"METHODS\nnone.\n\nBACKGROUND \nwhy {name}.\n\n\nCONCLUSIONS\nso.\n"
    return {"id": name, "text": text, "abstract": abstract} | keys


def test_sumpubmed_has_the_background_of_article_and_abstract(tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", [pair("2"), pair(1)])
    rated = read_dataset(bare(**SUMPUBMED), tmp_path, tmp_path)
    assert [(item.item, item.source, item.references) for item in rated.items] == [
        ("1", "what was known. more of it.", ("why 1.",)),
        ("2", "what was known. more of it.", ("why 2.",)),
    ]
    assert (rated.outputs, rated.ratings, rated.systems, rated.problems) == (
        [],
        [],
        {},
        [],
    )


def test_sumpubmed_faults_are_all_reported(tmp_path: Path) -> None:
    rows = [
        pair("a"),
        pair("b", "RESULTS\nfound.\n"),
        pair("c", abstract="BACKGROUND\n\n\nRESULTS\nfound.\n"),
        pair("d", None),
        pair("a", "BACKGROUND\nanother.\n"),
        {"id": "e", "text": ARTICLE, "abstrct": ""},
    ]
    jsonl(tmp_path / "x.jsonl", rows)
    text = faults(bare(**SUMPUBMED), tmp_path)
    assert text.count("has no section BACKGROUND") == 3
    for part in (
        "`text` has no section BACKGROUND",
        "`abstract` has no section BACKGROUND",
        "row 2",
        "row 3",
        "row 4",
        "differ in their source",
        "rows 1, 5",
        "nearest: abstrct",
        "row 6",
    ):
        assert part in text, part


# --- story_cloze_csv ---

STORY_CLOZE = {"format": "story_cloze_csv", "files": "x.csv", "task": "story"}


def stories(folder: Path, *rows: list[str], columns: list[str] = COLUMNS) -> Dataset:
    with (folder / "x.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return bare(**STORY_CLOZE)


def story(name: str, answer: str = "1", **cells: str) -> list[str]:
    row = {column: f"{column[5:]} of {name}." for column in COLUMNS}
    row |= {
        "InputStoryid": name,
        "RandomFifthSentenceQuiz1": "It, too, ended well.",
        "RandomFifthSentenceQuiz2": "It rained.",
        "AnswerRightEnding": answer,
    }
    return list((row | cells).values())


def test_story_cloze_has_the_right_ending_and_keeps_the_wrong_ending(
    tmp_path: Path,
) -> None:
    dataset = stories(
        tmp_path, story("B-2", "2"), story("a-1", InputSentence4=" So it went. ")
    )
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert [(item.item, item.references, item.meta) for item in rated.items] == [
        ("a-1", ("It, too, ended well.",), {"id": "a-1", "wrong_ending": "It rained."}),
        ("b-2", ("It rained.",), {"id": "B-2", "wrong_ending": "It, too, ended well."}),
    ]
    assert rated.items[0].source == (
        "Sentence1 of a-1. Sentence2 of a-1. Sentence3 of a-1. So it went."
    )
    assert dataset.meta == ["wrong_ending"] and not dataset.has_systems


def test_story_cloze_faults_are_all_reported(tmp_path: Path) -> None:
    dataset = stories(
        tmp_path,
        story("a"),
        story("b", "3"),
        story("c", InputSentence2=" "),
        story("d", RandomFifthSentenceQuiz2=""),
        story("a", "2"),
    )
    text = faults(dataset, tmp_path)
    for part in (
        "number of an ending",
        "row 3",
        "allowed: 1, 2",
        "`InputSentence2` is empty",
        "row 4",
        "`RandomFifthSentenceQuiz2` is empty",
        "row 5",
        "differ in their references",
        "rows 2, 6",
    ):
        assert part in text, part


def test_story_cloze_without_answers_cannot_be_used(tmp_path: Path) -> None:
    text = faults(stories(tmp_path, story("a")[:-1], columns=COLUMNS[:-1]), tmp_path)
    assert "no such column or key: `AnswerRightEnding`" in text


# --- answer_equivalence_jsonl ---

SHORT, LONG, LONGER = "a king", "l" * 151, "L" * 152
ANSWERS = {
    "format": "answer_equivalence_jsonl",
    "files": "{split}.jsonl",
    "task": "qa",
    "select": {"original": "longest", "min_characters": 151},
}


def answer(qid: str, reference: object, **keys: Any) -> dict[str, Any]:
    row = {
        "qid": qid,
        "question": f"Who was {qid}?",
        "context": "Much was said of them.",
        "reference": reference,
        "candidate": "a queen",
        "score": 0.5,
        "question_1": 1,
    }
    return row | keys


def test_answer_equivalence_has_a_question_once_with_all_references(
    tmp_path: Path,
) -> None:
    jsonl(
        tmp_path / "train.jsonl",
        [answer("q1", SHORT), answer("q2", SHORT), answer("q1", LONG)],
    )
    jsonl(tmp_path / "ae_dev.jsonl", [answer("q1", LONGER), answer("q1", SHORT)])
    dataset = bare(**ANSWERS)
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert [(item.item, item.references) for item in rated.items] == [
        ("q1", (LONGER, SHORT, LONG)),  # files by name, each from its beginning
        ("q2", (SHORT,)),
    ]
    assert rated.items[0].source == "Who was q1?\n\nMuch was said of them."
    assert (rated.outputs, rated.ratings) == ([], [])
    [problem] = rated.problems
    assert problem.startswith("5 rows") and "candidate answers" in problem
    assert selected(dataset, tmp_path) == {"q1": LONGER}


def test_answer_equivalence_needs_more_than_150_characters(tmp_path: Path) -> None:
    jsonl(tmp_path / "train.jsonl", [answer("q1", "l" * 150), answer("q2", LONG)])
    assert selected(bare(**ANSWERS), tmp_path) == {"q2": LONG}


def test_answer_equivalence_faults_are_all_reported(tmp_path: Path) -> None:
    rows = [
        answer("q1", SHORT),
        answer("q1", SHORT, context="Another."),
        answer("q2", " "),
        answer("q3", 3),
        answer("", SHORT),
        answer("q4", SHORT) | {"question": None, "context": ""},
    ]
    jsonl(tmp_path / "train.jsonl", rows)
    text = faults(bare(**ANSWERS), tmp_path)
    for part in (
        "differ in their source",
        "rows 1, 2",
        "reference is empty",
        "row 3",
        "row 4",
        "invalid id (item)",
        "row 5",
        "a source is empty",
        "row 6",
    ):
        assert part in text, part


# --- wmt_text ---

SOURCES = ["Eins.", "Zwei.", "Drei.", "Vier.", "Fünf.", "Sechs."]
REFERENCES = [
    "One one.",
    "Two two.",
    "Three.",
    "A longer fourth line.",
    "Five.",
    "Six.",
]
DOCUMENTS = ["d1", "d1", "d1", "d2", "d2", "d1"]


def wmt(folder: Path, documents: bool | str = False, **keys: Any) -> Dataset:
    """Write a small test set and return its card; `documents` as lines or in the given
    form.
    """
    (folder / "x.src.de").write_text("\n".join(SOURCES) + "\n", encoding="utf-8")
    (folder / "x.ref.A.en").write_text("\n".join(REFERENCES) + "\n", encoding="utf-8")
    files = {"source": "x.src.de", "reference": "x.ref.A.en"}
    if documents == "xml":
        (folder / "x.xml").write_text(xml(DOCUMENTS), encoding="utf-8")
        files["documents"] = "x.xml"
    elif documents:
        lines = [f"news\t{document}" for document in DOCUMENTS]
        (folder / "x.docs").write_text("\n".join(lines) + "\n", encoding="utf-8")
        files["documents"] = "x.docs"
    return bare(format="wmt_text", task="translation", **({"files": files} | keys))


def test_wmt_pairs_the_lines_of_source_and_reference(tmp_path: Path) -> None:
    rated = read_dataset(wmt(tmp_path), tmp_path, tmp_path)
    assert [item.item for item in rated.items] == [
        f"mine-00{line}" for line in range(1, 7)
    ]
    assert rated.items[3].source == "Vier." and rated.items[3].references == (
        REFERENCES[3],
    )
    assert rated.items[3].meta == {"id": "mine-004", "lines": [4]}
    assert (rated.outputs, rated.problems) == ([], [])


def test_wmt_may_have_several_references_and_odd_line_breaks(tmp_path: Path) -> None:
    dataset = wmt(tmp_path, files={"source": "x.src.de", "reference": "x.ref.{who}.en"})
    (tmp_path / "x.src.de").write_bytes("Eins\u2028a.\r\nZwei.\r\n".encode())
    (tmp_path / "x.ref.A.en").write_bytes("One\x85a.\nTwo.\n".encode())
    (tmp_path / "x.ref.B.en").write_bytes(b"1.\n2.")
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert [(item.source, item.references) for item in rated.items] == [
        ("Eins\u2028a.", ("One\x85a.", "1.")),
        ("Zwei.", ("Two.", "2.")),
    ]


@pytest.mark.parametrize("form", ["lines", "xml"])
def test_wmt_joins_segments_of_a_document_until_they_are_long(
    tmp_path: Path, form: str
) -> None:
    dataset = wmt(tmp_path, form, select={"join": True, "min_characters": 16})
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert [(item.source, item.references[0]) for item in rated.items] == [
        ("Eins. Zwei.", "One one. Two two."),  # 17 characters
        ("Drei.", "Three."),  # what is left of d1; too short, as the next ones
        ("Vier.", "A longer fourth line."),  # long enough alone, and never with d1
        ("Fünf.", "Five."),
        ("Sechs.", "Six."),
    ]
    meta = rated.items[0].meta
    assert meta == {"id": "mine-001", "lines": [1, 2], "document": "d1"}
    assert rated.problems == ["6 segments joined to 5, within documents"]
    assert selected(dataset, tmp_path) == {
        "mine-001": "One one. Two two.",
        "mine-004": "A longer fourth line.",
    }


def test_wmt_with_too_few_long_items_says_how_many_it_has(tmp_path: Path) -> None:
    keys = {"n": 3, "min_characters": 16}
    with pytest.raises(
        UserError, match="only 1 items whose original has 16 characters"
    ) as error:
        selected(wmt(tmp_path, select=keys), tmp_path)
    assert "got:     3" in str(error.value)
    with pytest.raises(UserError, match="only 2 items"):
        selected(wmt(tmp_path, True, select=keys | {"join": True}), tmp_path)


def test_wmt_files_of_other_lengths_are_reported(tmp_path: Path) -> None:
    dataset = wmt(tmp_path, "xml")
    (tmp_path / "x.xml").write_text(xml(DOCUMENTS[1:]), encoding="utf-8")
    with pytest.raises(UserError, match="one line for each segment") as error:
        read_dataset(dataset, tmp_path, tmp_path)
    text = str(error.value)
    assert "x.xml" in text and "got:     '5 segments'" in text and "6, as" in text
    (tmp_path / "x.xml").write_text("<dataset>", encoding="utf-8")
    with pytest.raises(UserError, match="invalid XML"):
        read_dataset(dataset, tmp_path, tmp_path)


RATED = {
    **{"source": "x.src.de", "reference": "x.ref.A.en"},
    **{"outputs": "out.{system}.en", "ratings": "da.seg.score"},
}


def rated_wmt(folder: Path, scores: str = "", **keys: Any) -> Dataset:
    """Write the test set with two systems, and one more that has only ratings."""
    wmt(folder)
    for system in ("A", "B"):
        lines = [f"{line} {system}" for line in REFERENCES]
        (folder / f"out.{system}.en").write_text(
            "\n".join(lines) + "\n", encoding="utf-8"
        )
    each: dict[str, list[Any]] = {
        "A": [90, 80, "None", 60.5, 50, 40],
        "B": [9, 8, 7, 6, 5, 4],
        "C": [1] * 6,
    }
    text = "".join(f"{name}\t{value}\n" for name in each for value in each[name])
    (folder / "da.seg.score").write_text(scores or text, encoding="utf-8")
    told_keys: dict[str, Any] = {"aspects": {"accuracy": {"min": 0, "max": 100}}}
    return card(
        format="wmt_text", task="translation", **(told_keys | {"files": RATED} | keys)
    )


def test_wmt_takes_texts_of_systems_and_direct_assessments(tmp_path: Path) -> None:
    rated = read_dataset(rated_wmt(tmp_path), tmp_path, tmp_path)
    assert (len(rated.items), len(rated.outputs), len(rated.ratings)) == (6, 12, 11)
    texts = {output.target: output.text for output in rated.outputs}
    values = {texts[rating.target]: rating.value for rating in rated.ratings}
    assert values["A longer fourth line. A"] == 60.5 and values["Six. B"] == 4
    assert "Three. A" not in values and {rating.rater for rating in rated.ratings} == {
        "mean"
    }
    text = " ".join(rated.problems)
    assert "6 ratings of systems without texts left out: C" in text
    assert "1 rating" in text or "missing" in text


def test_wmt_ratings_of_several_aspects_are_a_file_each(tmp_path: Path) -> None:
    two = {name: {"min": 0, "max": 100} for name in ("accuracy", "fluency")}
    dataset = rated_wmt(tmp_path, aspects=two, files=RATED | {"ratings": "of.{aspect}"})
    for name, value in (("accuracy", 10), ("fluency", 20)):
        lines = [f"{system}\t{value}\n" for system in "AB" for _ in REFERENCES]
        (tmp_path / f"of.{name}").write_text("".join(lines), encoding="utf-8")
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert {(rating.aspect, rating.value) for rating in rated.ratings} == {
        ("accuracy", 10),
        ("fluency", 20),
    }


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ("A\t1\n" * 5 + "B\t1\n" * 6, ["system A", "5 segments"]),
        ("A\t1\n" * 7 + "B\t1\n" * 6, ["A has more ratings than segments", "row 7"]),
        ("A 1\n", ["with a tab between them"]),
        ("A\t101\n" + "A\t1\n" * 5 + "B\t1\n" * 6, ["outside the scale", "101"]),
    ],
)
def test_wmt_ratings_with_faults(
    tmp_path: Path, scores: str, expected: list[str]
) -> None:
    with pytest.raises((UserError, UserErrors)) as caught:
        read_dataset(rated_wmt(tmp_path, scores), tmp_path, tmp_path)
    for part in [*expected, "da.seg.score"]:
        assert part in str(caught.value), part


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"files": {**RATED, "outputs": "out.A.en"}}, r"must contain \{system\}"),
        ({"select": {"join": True, "min_characters": 9}}, "single segments"),
        (
            {"aspects": {n: {"min": 0, "max": 9} for n in ("a", "b")}},
            r"must contain \{aspect\}",
        ),
        (
            {"files": {k: v for k, v in RATED.items() if k != "ratings"}},
            "needs the role `ratings`",
        ),
    ],
)
def test_wmt_cards_of_ratings_with_faults(
    tmp_path: Path, keys: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        rated_wmt(tmp_path, **keys)


def test_wmt_has_a_single_source(tmp_path: Path) -> None:
    dataset = wmt(tmp_path, files={"source": "x.{what}", "reference": "x.ref.A.en"})
    with pytest.raises(
        UserError, match="only the role `reference` may have several files"
    ) as error:
        read_dataset(dataset, tmp_path, tmp_path)
    assert "key files.source" in str(error.value) and "2 files" in str(error.value)


def test_wmt_empty_lines_are_all_reported(tmp_path: Path) -> None:
    dataset = wmt(tmp_path)
    (tmp_path / "x.ref.A.en").write_text(
        "One.\n\nThree.\n \nFive.\nSix.\n", encoding="utf-8"
    )
    text = faults(dataset, tmp_path)
    assert text.count("a line is empty") == 1 and "x.ref.A.en, rows 2, 4" in text


# --- table ---


def test_a_table_of_items_alone_is_enough_to_perturb_references(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,src,gold\nb,B,Two.\na,A,One.\n")
    columns = {"item": "id", "source": "src", "references": "gold"}
    dataset = table({"items": "x.csv"}, columns, ratings="none")
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert [(item.item, item.references) for item in rated.items] == [
        ("a", ("One.",)),
        ("b", ("Two.",)),
    ]
    assert rated == DatasetContent(rated.items, [], [])
    (tmp_path / "x.csv").write_text("id,src,gold\n")
    with pytest.raises(UserError, match="the data has no rows"):
        read_dataset(dataset, tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (SUMPUBMED | {"ratings": "people"}, "add `ratings: none`"),
        (
            SUMPUBMED | {"files": {"data": "x", "more": "y"}},
            "has the roles data, not more",
        ),
        (
            {"format": "wmt_text", "files": {"source": "x"}},
            "needs the role `reference`",
        ),
        (
            {"format": "wmt_text", "files": {"source": "x", "data": "y"}},
            "role `reference`",
        ),
        (
            {
                "format": "wmt_text",
                "files": {"source": "x", "reference": "y"},
                "select": {"join": True, "min_characters": 3},
            },
            "with the role `documents`",
        ),
        (
            SUMPUBMED | {"select": {"join": True, "min_characters": 3}},
            "needs format wmt_text",
        ),
        (SUMPUBMED | {"select": {"join": True}}, "add `min_characters`"),
    ],
)
def test_a_card_that_contradicts_itself_is_refused(
    keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        bare(**keys) if "ratings" not in keys else card(**keys)
