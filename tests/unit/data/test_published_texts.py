"""Published texts in the layout of their repositories: SumPubMed's pairs of files,
HANNA's stories; the files themselves are read where they lie beside the checkout.
"""

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from data_samples import DATASETS, REAL, card, faults, values
from judgescope.core.errors import UserError
from judgescope.data.rated import DatasetContent
from judgescope.data.select import read_dataset
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import read_card

# --- sumpubmed_text ---

PATTERNS = {"text": "text/text_{id}.txt", "abstract": "abstract/abstract_{id}.txt"}
ARTICLE = "BACKGROUND\nwhat was known.\n\n\nRESULTS\nfound.\n\nBACKGROUND\nagain.\n"


def pairs(folder: Path, **texts: tuple[str | None, str | None]) -> Dataset:
    """Write pairs of article and abstract by their ids; None: the file is absent."""
    for name, contents in texts.items():
        for role, content in zip(PATTERNS, contents, strict=True):
            path = folder / PATTERNS[role].format(id=name[1:])
            path.parent.mkdir(exist_ok=True)
            if content is not None:
                path.write_text(content, encoding="utf-8")
    return card(format="sumpubmed_text", files=PATTERNS, ratings="none")


def test_pairs_of_files_are_joined_by_the_field(tmp_path: Path) -> None:
    dataset = pairs(
        tmp_path,
        _7=(ARTICLE, "METHODS\nnone.\n\nBACKGROUND \nwhy.\n\n\nCONCLUSIONS\nso.\n"),
        _12=("BACKGROUND\nother.\n", "BACKGROUND\nthe reason.\n"),
    )
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert [(item.item, item.source, item.references) for item in rated.items] == [
        ("12", "other.", ("the reason.",)),
        ("7", "what was known.", ("why.",)),
    ]
    assert [part.name for part in rated.items[0].parts] == ["Article"]
    assert rated.problems == []


def test_pairs_without_the_section_are_left_out_and_counted(tmp_path: Path) -> None:
    dataset = pairs(
        tmp_path,
        _1=(ARTICLE, "BACKGROUND\nwhy.\n"),
        _2=("RESULTS\nfound.\n", "BACKGROUND\nwhy.\n"),
        _3=(ARTICLE, "BACKGROUND\n\nRESULTS\nfound.\n"),
    )
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert [item.item for item in rated.items] == ["1"]
    assert rated.problems == [
        "2 pairs without a section BACKGROUND in both texts left out: 2, 3"
    ]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ((ARTICLE, None), "1 file without the other file of the pair"),
        ((None, ARTICLE), "1 file without the other file of the pair"),
        ((ARTICLE, "background\nwhy.\n"), "no pair has a section BACKGROUND"),
    ],
)
def test_a_layout_that_changed_or_a_pair_that_is_cut(
    texts: tuple[str | None, str | None], words: str, tmp_path: Path
) -> None:
    complete = {"_1": (ARTICLE, "BACKGROUND\nwhy.\n")} if None in texts else {}
    dataset = pairs(tmp_path, **complete, _2=texts)
    with pytest.raises(UserError, match=words) as error:
        read_dataset(dataset, tmp_path, tmp_path)
    assert str(tmp_path) in error.value.where and error.value.todo


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    dataset = pairs(tmp_path, _1=(ARTICLE, "BACKGROUND\nwhy.\n"))
    (tmp_path / "text" / "text_1.txt").write_bytes(b"BACKGROUND\n\xff\n")
    message = faults(dataset, tmp_path)
    assert "not UTF-8" in message and "text_1.txt" in message


def test_the_patterns_need_a_single_field(tmp_path: Path) -> None:
    pairs(tmp_path, _1=(ARTICLE, "BACKGROUND\nwhy.\n"))
    files = PATTERNS | {"text": "text/text_1.txt"}
    dataset = card(format="sumpubmed_text", files=files, ratings="none")
    with pytest.raises(UserError, match="must have one field") as error:
        read_dataset(dataset, tmp_path, tmp_path)
    assert "files.text" in error.value.where and "{id}" in error.value.todo


# --- hanna_stories_csv ---

ASPECTS = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
MODELS = ("Human", "GPT-2 (tag)")
STORIES = read_card("dataset", DATASETS / "hanna-stories.yaml")
HANNA = read_card("dataset", DATASETS / "hanna.yaml")


def story_rows(prompts: int = 3) -> list[dict[str, Any]]:
    """Return three rows for each story: a block of 96 numbers for each model."""
    rows: list[dict[str, Any]] = []
    for block, model in enumerate(MODELS):
        for number in range(prompts):
            for rater in range(3):
                row = {
                    "Story ID": block * 96 + number,
                    "Prompt": f"Write about thing {number}.",
                    "Human": f"A person wrote {number}.",
                    "Story": f"{model} wrote {number}.",
                    "Model": model,
                    "Worker ID": f"w{(number + rater) % 4}",
                }
                for location, aspect in enumerate(ASPECTS):
                    row[aspect] = (block + number + rater + location) % 5 + 1
                rows.append(row)
    return rows


def written(folder: Path, rows: list[dict[str, Any]]) -> None:
    path = folder / "hanna" / "hanna_stories_annotations.csv"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def read_stories(folder: Path, rows: list[dict[str, Any]]) -> DatasetContent:
    written(folder, rows)
    return read_dataset(STORIES, folder, folder, "Prompt")


def test_stories_have_the_ids_of_the_scores(tmp_path: Path) -> None:
    """Format hanna_csv on the same data gives the same ids and ratings."""
    rows = story_rows(96)
    rated = read_stories(tmp_path, rows)
    table = []
    for block, model in enumerate(MODELS):
        cells: dict[str, Any] = {"Model": model}
        for rater in range(3):
            for aspect, scale in HANNA.aspects.items():
                column = STORIES.aspects[aspect].column
                mine = rows[block * 288 + rater : (block + 1) * 288 : 3]
                of_aspect = [row[column] for row in mine]
                cells[f"Human {rater + 1} {scale.column}"] = of_aspect
        table.append(cells)
    path = tmp_path / "hanna" / "hanna_metric_scores_llm.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows(table)
    assert values(rated) == values(read_dataset(HANNA, tmp_path, tmp_path))


def test_a_story_has_its_prompt_and_a_reference(tmp_path: Path) -> None:
    rated = read_stories(tmp_path, story_rows())
    first = rated.items[0]
    assert (first.item, first.source) == ("hanna-001", "Write about thing 0.")
    assert first.references == ("A person wrote 0.",)
    assert [part.name for part in first.parts] == ["Prompt"]
    texts = {each.target: each.text for each in rated.outputs}
    assert texts["hanna-002:gpt-2-tag"] == "GPT-2 (tag) wrote 1."
    assert {each.rater for each in rated.ratings} == {"rater-1", "rater-2", "rater-3"}
    assert rated.problems == [] and len(rated.ratings) == 2 * 3 * 3 * 6


def test_a_story_with_fewer_raters_is_noted(tmp_path: Path) -> None:
    rated = read_stories(tmp_path, story_rows()[:-1])
    assert rated.problems == ["stories with more or fewer than 3 rows: 1"]


@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [
        ("Story ID", "first", "a Story ID is not a number"),
        ("Story ID", -1, "a Story ID is not a number"),
        ("Prompt", "Another prompt.", "differ in their source"),
        ("Story", "Another story.", "two texts of the same system"),
        ("Empathy", 6, "outside the scale"),
    ],
)
def test_faults_of_stories_have_their_rows(
    column: str, cell: object, words: str, tmp_path: Path
) -> None:
    rows = story_rows()
    rows[1][column] = cell
    written(tmp_path, rows)
    message = faults(STORIES, tmp_path)
    assert words in message and "hanna_stories_annotations.csv" in message
    assert "3" in message.split("hanna_stories_annotations.csv")[1][:30]


def test_a_column_that_was_renamed_is_named(tmp_path: Path) -> None:
    rows = []
    for row in story_rows():
        rows.append({("Text" if key == "Story" else key): row[key] for key in row})
    written(tmp_path, rows)
    assert "Story" in faults(STORIES, tmp_path)


@pytest.mark.skipif(
    not (REAL / "hanna" / "hanna_stories_annotations.csv").is_file(),
    reason="not run here: HANNA's stories are not beside the repository",
)
def test_the_stories_have_the_ratings_of_the_scores() -> None:
    """The order of raters is not known: the three ratings agree as a set."""
    of_both = []
    for dataset in (STORIES, HANNA):
        by_text = defaultdict(list)
        for (target, aspect, _), value in values(
            read_dataset(dataset, DATASETS, REAL)
        ).items():
            by_text[target, aspect].append(value)
        of_both.append({key: sorted(each) for key, each in by_text.items()})
    assert of_both[0] == of_both[1] and len(of_both[0]) == 1056 * 6
