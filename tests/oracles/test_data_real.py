"""The shipped cards, on the data of their authors."""

import hashlib
import json
from collections import Counter
from pathlib import Path
from statistics import mean

import pytest

from data_samples import DATASETS, REAL, REPOSITORY, needs_real_data
from judgescope.data.files import verify
from judgescope.data.rated import DatasetContent, Output
from judgescope.data.select import originals, read_dataset, select
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import read_card, validate_card

CARDS = sorted(path.stem for path in DATASETS.glob("*.yaml"))


def load(name: str) -> tuple[Dataset, DatasetContent]:
    card: Dataset = read_card("dataset", DATASETS / f"{name}.yaml")
    return card, read_dataset(card, DATASETS, REAL)


@pytest.mark.parametrize("name", CARDS)
def test_every_aspect_of_a_card_has_a_card(name: str) -> None:
    card: Dataset = read_card("dataset", DATASETS / f"{name}.yaml")
    for aspect in card.aspects:
        read_card("aspect", REPOSITORY / "config" / "aspects" / f"{aspect}.yaml")


@pytest.mark.parametrize("kind", ["datasets", "aspects"])
def test_cards_name_their_schema_for_editors(kind: str) -> None:
    line = f"# yaml-language-server: $schema=../../workflow/schemas/{kind[:-1]}.json\n"
    cards = sorted((REPOSITORY / "config" / kind).glob("*.yaml"))
    assert cards and all(
        card.read_text(encoding="utf-8").startswith(line) for card in cards
    )


@pytest.mark.parametrize("name", ["demo-news", "demo-dialogue"])
def test_the_demo_is_complete(name: str) -> None:
    card, rated = load(name)
    assert (len(rated.items), len(rated.outputs), len(rated.systems)) == (24, 120, 5)
    assert len(rated.ratings) == 120 * len(card.aspects) and rated.problems == []
    assert {rating.rater for rating in rated.ratings} == {"planned"}
    assert card.fault_free_system in rated.systems
    for item in rated.items:
        assert set(item.meta["faults"]) <= set(rated.systems) - {card.fault_free_system}


@needs_real_data
@pytest.mark.parametrize(
    "name",
    [
        *("usr", "usr-topical-chat", "topical-chat", "wmt22-zh-en"),
        *("qags-cnndm", "qags-xsum", "wiki-da", "sfres", "sfhot", "rotowire"),
    ],
)
def test_files_are_those_that_the_cards_describe(name: str) -> None:
    card: Dataset = read_card("dataset", DATASETS / f"{name}.yaml")
    assert card.sha256 and verify(card, DATASETS, REAL) == card.sha256


@pytest.mark.heavy
@needs_real_data
def test_summeval() -> None:
    _, rated = load("summeval")
    assert (len(rated.items), len(rated.outputs), len(rated.systems)) == (100, 1200, 12)
    assert len(rated.ratings) == 14_400 and rated.problems == []
    assert {rating.rater for rating in rated.ratings} == {
        "expert-1",
        "expert-2",
        "expert-3",
    }
    assert {len(item.references) for item in rated.items} == {11}


def selected(name: str) -> tuple[DatasetContent, list[str]]:
    """Return what a card selects, and the originals."""
    card, rated = load(name)
    rated = select(rated, card.select, 7, name)
    chosen = originals(rated, card.select)
    return rated, [each.text for each in chosen.values()]


@needs_real_data
def test_sumpubmed() -> None:
    _, complete = load("sumpubmed")
    assert len(complete.items) == 120 and complete.problems == []
    hashes = {
        item.item: hashlib.sha256(f"sumpubmed {item.item}".encode()).hexdigest()
        for item in complete.items
    }
    # The pairs are those with the smallest hashes of 32,689: about 120 in 32,689 have
    # hashes below the largest of them.
    largest = int(max(hashes.values())[:8], 16) / 2**32
    assert 120 / 32_689 / 2 < largest < 120 / 32_689 * 2
    for item in complete.items:
        path = REAL / "sumpubmed" / "abstract" / f"abstract_{item.item}.txt"
        assert item.references[0] in path.read_text(encoding="utf-8")
    assert all("RESULTS\n" not in item.source for item in complete.items)
    assert (
        mean(len(item.source) for item in complete.items) > 5000
    )  # articles, not abstracts
    rated, texts = selected("sumpubmed")
    assert (len(rated.items), len(texts), rated.outputs, rated.problems) == (
        100,
        100,
        [],
        [],
    )


@pytest.mark.heavy
@needs_real_data
def test_wmt22_zh_en() -> None:
    _, complete = load("wmt22-zh-en")
    assert len(complete.items) == 1875 and complete.items[5].item == "wmt22-zh-en-0006"
    long = [item for item in complete.items if len(item.references[0]) > 300]
    assert len(long) == 224
    rated, texts = selected("wmt22-zh-en")
    assert len(texts) == 100 and min(map(len, texts)) > 300
    assert {item.item for item in rated.items} <= {item.item for item in long}
    for item in rated.items:  # the line that the id tells, of both files
        line = int(item.item.rpartition("-")[2]) - 1
        for name, text in (("src.zh", item.source), ("ref.A.en", item.references[0])):
            path = REAL / "wmt22" / f"generaltest2022.zh-en.{name}"
            assert path.read_text(encoding="utf-8").split("\n")[line] == text


@pytest.mark.heavy
@needs_real_data
def test_a_text_equal_to_a_reference_is_kept_where_a_system_wrote_it() -> None:
    """SFRES: 87 of 1,181 texts are a reference of their item, word for word."""
    card, rated = load("sfres")
    references = {
        item.item: {tuple(text.split()) for text in item.references}
        for item in rated.items
    }
    equal = [
        output
        for output in rated.outputs
        if tuple(output.text.split()) in references[output.item]
    ]
    assert (len(rated.outputs), len(equal)) == (1181, 87)
    assert rated.own_references(card.reference_systems) == {}


@pytest.mark.heavy
@needs_real_data
def test_only_the_system_that_wrote_the_references_is_left_out(tmp_path: Path) -> None:
    """WMT22 zh-en: reference A as a system of its own, and one that hits each 36th
    reference.
    """
    _, complete = load("wmt22-zh-en")
    rows = []
    for number, item in enumerate(complete.items):
        [reference] = item.references
        texts = {
            "ref-A": reference,
            "online": reference if number % 36 == 0 else item.source,
        }
        rows += [
            {
                "id": item.item,
                "source": item.source,
                "ref": reference,
                "system": name,
                "text": text,
            }
            for name, text in texts.items()
        ]
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (tmp_path / "wmt.jsonl").write_text("".join(lines), encoding="utf-8")
    columns = {"item": "id", "source": "source", "references": "ref"}
    content = {
        **{"dataset": "wmt", "name": "WMT", "task": "translation", "format": "table"},
        **{
            "files": "wmt.jsonl",
            "columns": columns | {"system": "system", "text": "text"},
        },
        **{"aspects": {"fluency": {"min": 1, "max": 5}}, "ratings": "none"},
        **{
            "licence": "research use",
            "citation": "WMT22",
            "reference_systems": ["ref-a"],
        },
    }
    card = validate_card("dataset", content, "wmt.yaml")
    rated = read_dataset(card, tmp_path, tmp_path)
    systems = {output.target: output.system for output in rated.outputs}
    for known in (
        card.reference_systems,
        (),
    ):  # named by the card, or found by its texts
        left_out = Counter(systems[target] for target in rated.own_references(known))
        assert left_out == {"ref-a": 1875}
    assert (
        sum(each.text == row["ref"] for each, row in _by_target(rated, rows, "online"))
        == 53
    )


def _by_target(
    rated: DatasetContent, rows: list[dict[str, str]], system: str
) -> list[tuple[Output, dict[str, str]]]:
    of_item = {row["id"]: row for row in rows if row["system"] == system}
    names = {item.item: item.meta["id"] for item in rated.items}
    return [
        (output, of_item[names[output.item]])
        for output in rated.outputs
        if output.system == system
    ]


@pytest.mark.heavy
@needs_real_data
def test_usr() -> None:
    card, rated = load("usr")
    assert (len(rated.items), len(rated.outputs), len(rated.systems)) == (120, 660, 9)
    assert Counter(item.meta["half"] for item in rated.items) == {"pc": 60, "tc": 60}
    raters = Counter((rating.target, rating.aspect) for rating in rated.ratings)
    assert set(raters.values()) == {3} and len(raters) == 660 * len(card.aspects)
    for name, aspect in card.aspects.items():  # the scales are used from end to end
        assert {
            rating.value for rating in rated.ratings if rating.aspect == name
        } == set(aspect.values() or [])


@needs_real_data
def test_the_topical_chat_half_of_usr() -> None:
    """Table 7 of Hu et al. (2025): 60 dialogues of 6 responses, as they lie in both
    halves.
    """
    _, rated = load("usr-topical-chat")
    assert (len(rated.items), len(rated.outputs), len(rated.systems)) == (60, 360, 6)
    usr = load("usr")[1]
    both = usr.keep({item.item for item in usr.items if item.meta["half"] == "tc"})
    assert [output.text for output in rated.outputs] == [
        output.text for output in both.outputs
    ]
    assert [rating.value for rating in rated.ratings] == [
        rating.value for rating in both.ratings
    ]


@needs_real_data
def test_topical_chat() -> None:
    card, rated = load("topical-chat")
    assert (len(rated.items), len(rated.outputs), len(rated.systems)) == (60, 360, 6)
    assert len(rated.ratings) == 360 * len(card.aspects)
    assert {rating.rater for rating in rated.ratings} == {"mean"}
    for name, aspect in card.aspects.items():
        values = [rating.value for rating in rated.ratings if rating.aspect == name]
        assert (min(values), max(values)) == (aspect.min, aspect.max)


@needs_real_data
def test_qags() -> None:
    _, rated = load("qags-cnndm")
    assert (len(rated.items), len(rated.outputs), len(rated.ratings)) == (235, 235, 235)
    assert sum(len(item.meta["sentences"]) for item in rated.items) == 714
    values = [rating.value for rating in rated.ratings]
    assert round(mean(values), 4) == 0.7436
    assert (values.count(1), values.count(0)) == (113, 14)
    if (REAL / "qags" / "mturk_xsum.jsonl").is_file():
        assert len(load("qags-xsum")[1].outputs) == 239


@pytest.mark.heavy
@needs_real_data
def test_wiki_da() -> None:
    _, rated = load("wiki-da")
    assert (len(rated.items), len(rated.outputs), len(rated.systems)) == (302, 600, 6)
    counts = Counter(
        (rating.aspect, rating.rater == "mean") for rating in rated.ratings
    )
    assert counts == {
        ("fluency", True): 600,
        ("meaning-preservation", True): 600,
        ("simplicity", False): 9000,
    }
    raters = Counter(
        rating.target for rating in rated.ratings if rating.aspect == "simplicity"
    )
    assert set(raters.values()) == {15}
    assert (
        len({rating.rater for rating in rated.ratings}) == 68
    )  # the means, and 67 people
    assert (
        rated.problems == []
    )  # the means of the other file are those of the single ratings


@needs_real_data
def test_sfres() -> None:
    _, rated = load("sfres")
    assert (len(rated.items), len(rated.outputs), len(rated.ratings)) == (
        580,
        1181,
        2362,
    )
    [problem] = rated.problems
    assert "no system" in problem


@needs_real_data
def test_rotowire() -> None:
    _, rated = load("rotowire")
    assert (len(rated.items), len(rated.outputs), len(rated.ratings)) == (60, 60, 0)
    assert len(rated.spans) == 1214 and len({span.target for span in rated.spans}) == 60
    texts = {output.target: output.text for output in rated.outputs}
    assert all(
        texts[span.target][span.start : span.end] == span.text for span in rated.spans
    )
    assert Counter(span.category for span in rated.spans) == {
        **{"NUMBER": 474, "WORD": 334, "NAME": 317},
        **{"CONTEXT": 51, "NOT_CHECKABLE": 37, "OTHER": 1},
    }
