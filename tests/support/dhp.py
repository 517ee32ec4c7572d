"""Wang et al. (2024), whole, on loopback: six datasets, a writer, a planted judge.

`python tests/support/dhp.py` runs config/studies/discernment.yaml at its full size,
with every judge of this file, and prints wall time, requests and results. SummEval,
SumPubMed and the Chinese translations are the public data beside the repository;
stories, answers and German translations are written here, in the formats of their
authors.
"""

import csv
import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from data_samples import COLUMNS, xml
from judgescope.data.sentences import split_sentences
from protocols import named_folder, run_whole, serving
from running import HOME, SHARED
from scripted import Body, Said, prompt_of, reply, text_in
from study import Study, shipped

PEOPLE = ["Ana", "Bo", "Cem", "Dina"]
STORY = "story_cloze/cloze_test_val__spring2016 - cloze_test_ALL_val.csv"
REAL = {
    "summeval": ["model_annotations.12systems.jsonl"],
    "sumpubmed": ["text", "abstract"],
    "wmt22": ["generaltest2022.zh-en.src.zh", "generaltest2022.zh-en.ref.A.en"],
}
"""Folder -> files and folders of the public data."""
UNPINNED = {"wmt22-de-en"}
"""Datasets whose cards pin published files, where `write_data` writes others."""

WORD = re.compile(r"\w+")
WRITTEN = re.compile(
    r"\n\nThe [a-z ]+:\n(.*?)(?:\n\nAn earlier attempt cannot|\n\nWrite the adjusted)",
    re.DOTALL,
)
INVENTED = ("Velunda", "Orsimund")
WRONG = ("is", "of")
SAID_AGAIN = (
    "Put otherwise, this is what was told first.",
    "That was said before in other words.",
)
OWN_WORDS = frozenset(WORD.findall(" ".join([*INVENTED, *WRONG, *SAID_AGAIN])))
SCALE = (1, 5)


def write_stories(folder: Path, count: int) -> None:
    """Write stories with a right and a wrong ending."""
    with (folder / STORY).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number in range(count):
            who = PEOPLE[number % 4]
            start = [
                f"{who} went to town {number}.",
                "It was late.",
                "It rained.",
                "A shop was open.",
            ]
            ends = [
                f"{who} bought umbrella number {number}.",
                f"{who} hated dry weather {number}.",
            ]
            right = number % 2
            writer.writerow(
                [f"story-{number}", *start, *(ends[right:] + ends[:right]), right + 1]
            )


def write_answers(folder: Path, count: int) -> None:
    """Write questions with a short and a long reference answer."""
    rows = []
    for number in range(count):
        base = {
            "qid": f"q{number}",
            "question": f"Why {number}?",
            "context": "It was said.",
        }
        long = (
            f"Because {PEOPLE[number % 4]} had said so in letter {number}, "
            + "and again " * 15
        )
        for reference in ("They said so.", long.strip() + "."):
            rows.append(
                base | {"reference": reference, "candidate": "Unknown", "score": 0}
            )
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "answer_equivalence" / "v1" / "train.jsonl").write_text(
        text, encoding="utf-8"
    )


def write_translations(folder: Path, count: int) -> None:
    """Write documents of five translated segments each."""
    documents = [f"doc{number // 5}" for number in range(5 * count)]
    words = (
        "The mayor of the town said that the old bridge would be closed for "
        "repairs until May"
    )
    english = [
        f"{words}, as report {number} has it." for number in range(len(documents))
    ]
    german = [
        f"Die alte Brücke bleibt bis Mai zu, so Bericht {n}."
        for n in range(len(documents))
    ]
    wmt = folder / "wmt22"
    for name, lines in (("ref.A.en", english), ("src.de", german)):
        path = wmt / f"generaltest2022.de-en.{name}"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (wmt / "wmttest2022.de-en.all.xml").write_text(xml(documents), encoding="utf-8")


def write_data(folder: Path, count: int = 104) -> None:
    """Write the three sets that are not public, each enough for `count` items."""
    for text in ("story_cloze", "answer_equivalence/v1", "wmt22"):
        (folder / text).mkdir(parents=True, exist_ok=True)
    for write in (write_stories, write_answers, write_translations):
        write(folder, count)


def link_data(folder: Path) -> None:
    """Put the public files beside those."""
    for location, names in REAL.items():
        (folder / location).mkdir(parents=True, exist_ok=True)
        for name in names:
            (folder / location / name).symlink_to(SHARED / location / name)


class Script:
    """A writer of the perturbation it is asked for, and a judge that sees misspellings
    alone.

    The judge knows every word of the data and of the writer. On fluency it takes a
    point off a text with any other word, four times in five; now and then it takes a
    point off any text.
    """

    def __init__(self, results: Path) -> None:
        self.results, self.words = results, OWN_WORDS
        self.read: frozenset[Path] = frozenset()
        self.kinds: Counter[str] = Counter()

    def __call__(self, body: Body) -> Said:
        """Answer a request of either kind."""
        prompt = prompt_of(body)
        writes = "\nAdjustment: " in prompt
        self.kinds["texts" if writes else "judgments"] += 1
        return reply(
            self.write(prompt) if writes else str(self.rate(prompt, body["seed"]))
        )

    def write(self, prompt: str) -> str:
        """Return the text of a writer's prompt with the perturbation that it asks
        for.
        """
        match = WRITTEN.search(prompt)
        assert match is not None, prompt
        how = prompt.split("Adjustment: ")[1].split("Steps:")[0]
        ways = {
            "named entit": invented,
            "grammatical": ungrammatical,
            "other words": twice,
        }
        (perturbation,) = (way for words, way in ways.items() if words in how)
        return perturbation(match[1], 1 if "exactly one" in how else 2)

    def rate(self, prompt: str, seed: int) -> int:
        """Return a rating by the text alone, and by chance."""
        known = self._dictionary()
        text = text_in(prompt).split("\n\nHow to go about it:\n")[0]
        aspect = prompt.split("one quality of a text: ")[1].split(".")[0]
        chance = random.Random(seed)
        missed = aspect == "fluency" and not known.issuperset(WORD.findall(text))
        return SCALE[1] - (chance.random() < 0.2) - (missed and chance.random() < 0.8)

    def _dictionary(self) -> frozenset[str]:
        """Return every word of the items, their originals and the writer's own, as far
        as written.

        Data sets are judged while others are still read.
        """
        result = {*self.results.glob("targets/*/original.parquet")}
        result |= {*self.results.glob("items/*.parquet")}
        if result - self.read:  # by two threads at once, too
            self.words = OWN_WORDS.union(*(_words(path) for path in result))
            self.read = frozenset(result)
        return self.words


def _words(path: Path) -> frozenset[str]:
    table = pq.read_table(path)
    texts = table["text"].to_pylist() if "text" in table.column_names else []
    for meta in table["meta"].to_pylist() if "meta" in table.column_names else []:
        texts += [load for load in json.loads(meta).values() if isinstance(load, str)]
    return frozenset(word for text in texts for word in WORD.findall(text))


def invented(text: str, count: int) -> str:
    """Put an invented name in the place of so many rare words that are no
    neighbours.
    """
    words = WORD.findall(text)
    often = Counter(words)
    for word, name in zip(_apart(words, often, count), INVENTED, strict=False):
        text = re.sub(rf"\b{re.escape(word)}\b", name, text)
    return text


def _apart(words: list[str], often: Counter[str], count: int) -> list[str]:
    chosen: list[str] = []
    for word in sorted(
        dict.fromkeys(words), key=lambda each: (often[each], -len(each))
    ):
        beside = {
            words[at + step]
            for at, each in enumerate(words)
            if each == word
            for step in (-1, 1)
            if 0 <= at + step < len(words)
        }
        if not beside & {*chosen} and word not in beside:
            chosen.append(word)
        if len(chosen) == count:
            break
    return chosen


def ungrammatical(text: str, count: int) -> str:
    """Put a word where none belongs, in so many places."""
    ends = [match.end() for match in WORD.finditer(text)]
    for number in range(count, 0, -1):
        at = ends[len(ends) * number // (count + 1) - 1]
        text = f"{text[:at]} {WRONG[number - 1]}{text[at:]}"
    return text


def twice(text: str, count: int) -> str:
    """Put a new sentence after each of the first ones."""
    places = [end for _, end in split_sentences(text)]
    for number in range(count, 0, -1):
        at = places[min(number, len(places)) - 1]
        text = f"{text[:at]} {SAID_AGAIN[number - 1]}{text[at:]}"
    return text


@contextmanager
def endpoint(study: Study) -> Iterator[Script]:
    """Serve writer and judge of a study."""
    script = Script(study.out)
    with serving(study, script):
        yield script


def without_pins(dataset: str) -> dict[str, Any]:
    """Return the change of a dataset's card that lets its files be written here."""
    return {"sha256": {}} if dataset in UNPINNED else {}


def few_items(folder: Path, items: int, **keys: Any) -> Study:
    """Return the shipped study with so many items of each dataset, and changed keys."""
    study = Study(folder, shipped("studies", "discernment", data="public", **keys))
    for name in study.keys["datasets"]:
        select = shipped("datasets", name).get("select", {}) | {"n": items}
        card = study.change("datasets", name, select=select, **without_pins(name))
        listed = HOME / "config" / "datasets" / f"{name}_files.csv"
        if listed.is_file():  # a list of files lies beside its card
            shutil.copy2(listed, card.parent)
    study.change("judges", "steps", draws=1)
    study.write()
    return study


def main() -> None:
    """Run the study at its full size and print what came of it."""
    judges = ["steps", "rouge-1", "rouge-l-source", "chrf", "bleu", "rules"]
    controls = ["constant-top", "random", "length"]
    folder = named_folder()
    if not (folder / "public").is_dir():
        write_data(folder / "public")
        link_data(folder / "public")
    keys = {"data": "public", "judges": [*judges, *controls]}
    study = Study(folder, shipped("studies", "discernment"), **keys)
    for name in UNPINNED:
        study.change("datasets", name, **without_pins(name))
    run_whole(study, endpoint(study))


if __name__ == "__main__":
    main()
