"""The formats of Hu et al. (2024), from small files as their authors publish them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from data_samples import DATASETS, card, faults
from judgescope.core.errors import UserError
from judgescope.data.rated import DatasetContent
from judgescope.data.select import originals, read_dataset, select
from judgescope.data.sentences import split_sentences
from judgescope.prompts import NO_CHANGE, load, to_write
from judgescope.prompts.filling import messages
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import read_card
from prompts_setup import about


def bare(**keys: Any) -> Dataset:
    """Return a card of a dataset that nobody rated."""
    return card(ratings="none", **keys)


def written(folder: Path, name: str, content: str) -> None:
    """Write a file with exactly this content."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content, encoding="utf-8", newline="")


def texts(rated: DatasetContent) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return item, source and references of each item."""
    return [(item.item, item.source, item.references) for item in rated.items]


# --- the shipped cards ---

TASKS = {
    "cnn-dailymail": ("summarization", 200),
    "samsum": ("dialogue-summarization", 200),
    "news-commentary": ("paraphrase", 300),
    "webnlg": ("data-to-text", 300),
}


def test_the_shipped_cards_are_of_the_papers_size_and_aspects() -> None:
    cards: list[Dataset] = [
        read_card("dataset", DATASETS / f"{name}.yaml") for name in TASKS
    ]
    assert {card.dataset: (card.task, card.select.n) for card in cards} == TASKS
    assert sum(card.select.n or 0 for card in cards) == 1000
    for dataset in cards:
        aspects = dataset.aspects
        assert len(aspects) == 11 and list(aspects) == list(cards[0].aspects)
        scales = {(scale.min, scale.max, scale.step) for scale in aspects.values()}
        assert scales == {(1, 5, 1)} and not dataset.has_systems
        # the paper's judges see the source whatever they rate (its table 20)
        assert all(scale.source_visible for scale in aspects.values())


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        ("summarization", "summary"),
        ("dialogue", "reply"),
        ("dialogue-summarization", "summary"),
        ("paraphrase", "paraphrase"),
        ("data-to-text", "description"),
        ("another", "text"),
    ],
)
def test_the_prompt_of_a_writer_names_what_it_changes(task: str, kind: str) -> None:
    templates = load("grammatical-errors", [DATASETS.parent], where="here")
    degree = {"k": 1, "min_edits": None}
    values = to_write(about(task), degree, NO_CHANGE, text="It is.", problem=None)
    [message] = messages("grammatical-errors", templates, **values)
    assert message["content"].startswith(f"Below is one {kind}. ")
    assert f"\nThe {kind}:\nIt is." in message["content"]


DEMO = {
    "news": "summarization",
    "dialogue": "dialogue-summarization",
    "paraphrase": "paraphrase",
    "table": "data-to-text",
}


@pytest.mark.parametrize("name", DEMO)
def test_the_demo_has_references_that_can_be_perturbed_and_are_faithful(
    name: str,
) -> None:
    dataset: Dataset = read_card("dataset", DATASETS / f"demo-confusion-{name}.yaml")
    published: Dataset = read_card("dataset", DATASETS / "samsum.yaml")
    assert (dataset.task, dataset.aspects) == (DEMO[name], published.aspects)
    rated = read_dataset(dataset, DATASETS, DATASETS)
    assert len(rated.items) >= 12 and len({item.source for item in rated.items}) == len(
        rated.items
    )
    for item in rated.items:
        [reference] = item.references
        assert 3 <= len(split_sentences(reference)) <= 4, item.item
        numbers = set(re.findall(r"\d[\d,.:]*\d|\d", reference))
        assert all(number in item.source for number in numbers), (item.item, numbers)


# --- cnn_dailymail ---

STORY = (
    "The port\nopened.\n\nShips came.\n\n@highlight\n\nPort "
    "opens\n\n@highlight\n\nIs it big?\n"
)
STORIES: dict[str, Any] = {
    "format": "cnn_dailymail",
    "files": "{paper}/stories/{id}.story",
}
TABLE: dict[str, Any] = {"format": "cnn_dailymail", "files": "test.csv"}


def test_a_story_is_an_article_and_its_highlights(tmp_path: Path) -> None:
    written(tmp_path, "cnn/stories/0a1.story", STORY)
    written(tmp_path, "dailymail/stories/0b2.story", STORY.replace("\n", "\r\n"))
    result = texts(read_dataset(bare(**STORIES), tmp_path, tmp_path))
    assert result[0] == (
        "0a1",
        "The port\nopened.\n\nShips came.",
        ("Port opens. Is it big?",),
    )
    assert [result[1][0], result[1][2]] == ["0b2", ("Port opens. Is it big?",)]


def test_highlights_of_the_table_are_sentences_too(tmp_path: Path) -> None:
    rows = (
        'id,article,highlights\n7,"It, too.","One .\nHe said '
        '""two!""\n\nThree"\n8,,Lost .\n'
    )
    written(tmp_path, "test.csv", rows)
    rated = read_dataset(bare(**TABLE), tmp_path, tmp_path)
    assert texts(rated) == [("7", "It, too.", ('One. He said "two!" Three.',))]
    assert len(split_sentences(rated.items[0].references[0])) == 3
    assert rated.problems == ["1 items without an article left out: 8"]


def test_what_is_wrong_with_stories_is_reported_with_file_and_row(
    tmp_path: Path,
) -> None:
    written(tmp_path, "cnn/stories/0a1.story", STORY)
    written(tmp_path, "cnn/stories/0b2.story", "No highlight here.\n")
    written(tmp_path, "dm/stories/0a1.story", "Another.\n" + STORY)
    text = faults(bare(**STORIES), tmp_path)
    assert "this item has no reference" in text and "0b2.story, row 1" in text
    assert "differ in their source" in text and "dm/stories/0a1.story, row 1" in text
    written(tmp_path, "test.csv", "id,article,highlight\n7,A.,B.\n")
    text = faults(bare(**TABLE), tmp_path)
    assert "`highlights`" in text and "nearest: highlight" in text and "row 2" in text


# --- samsum ---

SAMSUM: dict[str, Any] = {
    "format": "samsum",
    "files": "test.json",
    "task": "dialogue-summarization",
}


def chat(name: object = "13-1", **keys: object) -> dict[str, object]:
    return {
        "id": name,
        "summary": " Ann is late. ",
        "dialogue": "Ann: Late!\r\nBob: Ok \r\n",
    } | keys


def test_samsum_has_dialogues_without_their_carriage_returns(tmp_path: Path) -> None:
    written(tmp_path, "test.json", json.dumps([chat(), chat(14)]))
    rated = read_dataset(bare(**SAMSUM), tmp_path, tmp_path)
    source = "Ann: Late!\nBob: Ok"
    assert texts(rated) == [
        ("13-1", source, ("Ann is late.",)),
        ("14", source, ("Ann is late.",)),
    ]
    assert (rated.outputs, rated.ratings) == ([], [])


def test_what_is_wrong_with_dialogues_is_reported_with_file_and_row(
    tmp_path: Path,
) -> None:
    rows = [
        chat(),
        chat("b", dialogue=" "),
        chat("c", summary=None),
        chat("d", dialogue=["x"]),
    ]
    rows += [
        chat("13-1", summary="Bob is late."),
        {"id": "e", "dialog": "x", "summary": "y"},
    ]
    written(tmp_path, "test.json", json.dumps(rows))
    text = faults(bare(**SAMSUM), tmp_path)
    for what, row in (
        ("a source is empty", "row 2"),
        ("this item has no reference", "row 3"),
        ("a source is not a string", "row 4"),
        ("differ in their references", "rows 1, 5"),
        ("nearest: dialog", "row 6"),
    ):
        assert what in text and row in text, what


# --- news_commentary ---

PAIR = "news-commentary-v18.de-en.tsv"
ROWS = [
    "Titel\tA Headline",
    'Eins.\tPARIS – One "quoted.',
    "Zwei.\tTwo two.”",
    "Drei.\t",
    "Vier.\tFour.",
    "\t",
    "Fünf.\tFive, and more of it?",
]
COMMENTARY: dict[str, Any] = {
    "format": "news_commentary",
    "files": PAIR,
    "task": "paraphrase",
}
JOINED = {"join": True, "min_characters": 20}


def test_commentary_has_english_sentences_that_stand_for_their_paraphrase(
    tmp_path: Path,
) -> None:
    written(tmp_path, PAIR, "\n".join(ROWS) + "\n")
    rated = read_dataset(bare(**COMMENTARY), tmp_path, tmp_path)
    assert [
        (item.item, item.source, item.meta["document"]) for item in rated.items
    ] == [
        ("mine-002", 'PARIS – One "quoted.', "1"),
        ("mine-003", "Two two.”", "1"),
        ("mine-005", "Four.", "1"),
        ("mine-007", "Five, and more of it?", "2"),
    ]
    assert all(item.references == (item.source,) for item in rated.items)
    skipped, alone = rated.problems
    assert skipped.startswith("2 of 6 lines") and "no paraphrases" in alone


def test_commentary_is_joined_within_documents_and_short_ends_are_dropped(
    tmp_path: Path,
) -> None:
    written(tmp_path, PAIR, "\n".join([*ROWS, "\t", "Ende.\tThe end."]))
    dataset = bare(**COMMENTARY, select=JOINED | {"min_characters": 21})
    rated = read_dataset(dataset, tmp_path, tmp_path)
    kept = select(rated, dataset.select, 7, "mine")
    chosen = originals(kept, dataset.select)
    assert {item: each.text for item, each in chosen.items()} == {
        "mine-002": 'PARIS – One "quoted. Two two.”',
        "mine-007": "Five, and more of it?",
    }


@pytest.mark.parametrize("name", ["nc-v18.en", "nc-v12.de-en.en", "nc.en-zh.tsv"])
def test_commentary_knows_its_english_by_the_published_name(
    tmp_path: Path, name: str
) -> None:
    tail = "\t中文" if name.endswith(".tsv") else ""
    written(tmp_path, name, f"One.{tail}\nTwo.{tail}\n\nThree.{tail}\n")
    dataset = bare(**COMMENTARY | {"files": name})
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert [item.source for item in rated.items] == ["One.", "Two.", "Three."]
    assert [item.meta["document"] for item in rated.items] == ["1", "1", "2"]


@pytest.mark.parametrize("name", ["nc.de-fr.tsv", "nc.de-en.de", "nc.tsv", "en"])
def test_a_name_that_tells_no_english_is_refused(tmp_path: Path, name: str) -> None:
    written(tmp_path, name, "One.\tEins.\n")
    with pytest.raises(
        UserError, match="does not show which column is English"
    ) as error:
        read_dataset(bare(**COMMENTARY | {"files": name}), tmp_path, tmp_path)
    assert name in str(error.value) and "keep the published file name" in str(
        error.value
    )


def test_lines_with_other_columns_are_all_reported(tmp_path: Path) -> None:
    written(tmp_path, PAIR, "Eins.\tOne.\nTwo.\nDrei.\tThree.\tTrois.\n")
    text = faults(bare(**COMMENTARY), tmp_path)
    assert (
        text.count("the number of columns that the file name implies") == 2
        and f"{PAIR}, row 2" in text
    )
    assert f"{PAIR}, row 3" in text and "allowed: 2" in text


def test_only_segments_can_be_joined() -> None:
    assert bare(**COMMENTARY, select=JOINED).select.join
    with pytest.raises(ValueError, match="or news_commentary"):
        bare(**SAMSUM, select=JOINED)


# --- webnlg ---

WEBNLG: dict[str, Any] = {
    "format": "webnlg",
    "files": "{part}.xml",
    "task": "data-to-text",
}
LEX = '<lex comment="" lid="Id1">Ann Lee leads Ro &amp; Co. </lex>'
TRIPLE = "Ann_Lee | leaderOf | &quot;Ro &amp; Co&quot;"


def entry(
    name: str = "Id1", triples: tuple[str, ...] = (TRIPLE,), lex: str = LEX
) -> str:
    text = "".join(f"<mtriple>{triple}</mtriple>" for triple in triples)
    original = (
        "<originaltripleset><otriple>no | use | of it</otriple></originaltripleset>"
    )
    modified = f"<modifiedtripleset>{text}</modifiedtripleset>"
    return (
        f'<entry category="City" eid="{name}" '
        f'size="9">{original}{modified}{lex}</entry>'
    )


def benchmark(*entries: str, head: str = "") -> str:
    body = "".join(entries)
    return (
        f'<?xml version="1.0"?>\n{head}<benchmark><entries>{body}</entries></benchmark>'
    )


def test_webnlg_has_triples_in_words_and_all_english_texts(tmp_path: Path) -> None:
    more = (
        LEX
        + '<lex lang="ru" lid="Id1">Энн.</lex><lex lang="en" lid="Id2">It is so.</lex>'
    )
    two = (TRIPLE, "Ro | areaCodeUK_old | A | B")
    written(tmp_path, "1.xml", benchmark(entry(), entry("Id2", two, more)))
    rated = read_dataset(bare(**WEBNLG), tmp_path, tmp_path)
    assert texts(rated) == [
        ("city-1-id1", "Ann Lee | leader of | Ro & Co", ("Ann Lee leads Ro & Co.",)),
        (
            "city-2-id2",
            "Ann Lee | leader of | Ro & Co\nRo | area code UK old | A | B",
            ("Ann Lee leads Ro & Co.", "It is so."),
        ),
    ]
    assert rated.items[1].meta == {"category": "City", "size": 2, "id": "City-2-Id2"}
    assert bare(**WEBNLG).meta == ["category", "size"]


def test_files_of_other_sizes_may_use_the_same_eid(tmp_path: Path) -> None:
    written(tmp_path, "1.xml", benchmark(entry()))
    written(tmp_path, "2.xml", benchmark(entry(triples=(TRIPLE, TRIPLE))))
    rated = read_dataset(bare(**WEBNLG), tmp_path, tmp_path)
    assert [item.item for item in rated.items] == ["city-1-id1", "city-2-id1"]


def test_what_is_wrong_with_entries_is_reported_with_file_and_entry(
    tmp_path: Path,
) -> None:
    broken = [
        entry(),
        entry(lex=LEX.replace("leads", "left")),
        entry("Id3", ("Ann_Lee, leaderOf",)),
        entry("Id4", ()),
        entry("Id5", lex=""),
        entry("Id6", lex='<lex lang="ru">Энн.</lex>'),
        entry("Id7").replace('eid="Id7"', 'id="Id7"'),
    ]
    written(tmp_path, "1.xml", benchmark(*broken))
    text = faults(bare(**WEBNLG), tmp_path)
    for what, row in (
        ("differ in their references", "rows 1, 2"),
        ("not a triple", "row 3"),
        ("no `modifiedtripleset`", "row 4"),
        ("this item has no reference", "row 5"),
        ("this item has no reference", "row 6"),
        ("no attribute `eid`", "row 7"),
    ):
        assert what in text and row in text, what


BOMB = '<!DOCTYPE b [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>\n'
OUTSIDE = '<!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/hostname">]>\n'


@pytest.mark.parametrize("head", [BOMB, OUTSIDE, '<!DOCTYPE b SYSTEM "b.dtd">\n'])
def test_xml_that_declares_anything_is_refused(tmp_path: Path, head: str) -> None:
    written(tmp_path, "1.xml", benchmark(entry(lex="<lex>&a;</lex>"), head=head))
    with pytest.raises(UserError, match="must not declare a document type") as error:
        read_dataset(bare(**WEBNLG), tmp_path, tmp_path)
    assert "1.xml" in str(error.value) and "delete the declaration" in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (benchmark(entry())[:-9], "line 2"),
        ("not at all", "line 1"),
        ('<?xml version="1.0" encoding="none"?><a/>', "unknown encoding"),
    ],
)
def test_what_is_no_xml_is_reported_with_its_line(
    tmp_path: Path, content: str, message: str
) -> None:
    written(tmp_path, "1.xml", content)
    with pytest.raises(UserError, match="invalid XML") as error:
        read_dataset(bare(**WEBNLG), tmp_path, tmp_path)
    assert message in str(error.value) and "1.xml" in str(error.value)


@pytest.mark.parametrize("content", [benchmark(), "<other/>"])
def test_xml_without_entries_has_no_rows(tmp_path: Path, content: str) -> None:
    written(tmp_path, "1.xml", content)
    with pytest.raises(UserError, match="the data has no rows"):
        read_dataset(bare(**WEBNLG), tmp_path, tmp_path)
