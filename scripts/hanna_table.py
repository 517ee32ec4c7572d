"""Write config/demo/hanna.csv: ratings and scores of HANNA, without its texts.

    python scripts/hanna_table.py data/hanna/hanna_metric_scores_llm.csv

The input is the file of the repository and commit that config/datasets/hanna.yaml
names; another file is refused by its hash. All 1,056 stories are kept: prompt, system,
number of words, the six aspects of three raters, and of three LLM judges with the first
of four prompts.

Two other judges of the file, and the other prompts, are left out by one rule: their
cells below 1, down to -1, on a scale of 1 to 5 show that replies that could not be read
entered the means. The three judges have 0, 3 and 25 such cells of 6,336 with the first
prompt; these are left empty.
"""

import ast
import csv
import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

HOME = Path(__file__).resolve().parents[1]
OUTPUT = HOME / "config" / "demo" / "hanna.csv"
CARD = HOME / "config" / "datasets" / "hanna.yaml"
ASPECTS = {
    "relevance": "RE",
    "coherence": "CH",
    "empathy": "EM",
    "surprise": "SU",
    "engagement": "EG",
    "complexity": "CX",
}
"""Aspect -> its code in the names of columns."""
RATERS = (1, 2, 3)
JUDGES = {"beluga_13b": "Beluga-13B", "chatgpt": "ChatGPT", "llama_13b": "Llama-13B"}
"""Judge in the names of the new columns -> in those of the file."""
PROMPT = 1
LOWEST = 1
"""The lowest value of the scale: a mean below it has replies that were not read."""
DECIMALS = 3
"""Scores are means of a few draws: three decimals keep equal ones equal."""


def rows_of(content: str) -> Iterator[dict[str, str]]:
    """Yield the rows of the new table from the text of the file.

    The file has a row per system and a list over prompts in each cell.
    """
    csv.field_size_limit(sys.maxsize)
    for line in csv.DictReader(content.splitlines()):
        lists = {
            name: ast.literal_eval(cell) for name, cell in line.items() if "[" in cell
        }
        [words] = [name for name in lists if name.startswith("Text length")]
        for story, length in enumerate(lists[words]):
            yield {
                "prompt": str(story + 1),
                "system": line["Model"],
                "words": str(length),
                **_scores(lists, story),
            }


def _scores(lists: Mapping[str, Sequence[float]], story: int) -> dict[str, str]:
    """Return the ratings and scores of one story, "" for a score that is no score."""
    cells: dict[str, str] = {}
    for aspect, code in ASPECTS.items():
        for rater in RATERS:
            cells[f"{aspect}_rater_{rater}"] = str(
                lists[f"Human {rater} {code}"][story]
            )
    for aspect, code in ASPECTS.items():
        for judge, name in JUDGES.items():
            score = lists[f"{name} {code} {PROMPT}"][story]
            shown = f"{score:.{DECIMALS}f}".rstrip("0").rstrip(".")
            cells[f"{aspect}_judge_{judge}"] = shown if score >= LOWEST else ""
    return cells


def main(source: Path) -> None:
    """Read the file, check its hash, and write the table."""
    content = source.read_bytes()
    expected = yaml.safe_load(CARD.read_text(encoding="utf-8"))["sha256"]
    if hashlib.sha256(content).hexdigest() != expected:
        sys.exit(f"{source}: not the file whose hash {CARD} names")
    rows = list(rows_of(content.decode("utf-8")))
    with OUTPUT.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print(f"{OUTPUT}: {len(rows):,} rows, {OUTPUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
