"""A study that builds a graded set with scripted models, and what these say.

Quality is the number of times `oops` stands in a text, and nobody but the prompt tells
a model so.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from scripted import Body, Endpoint, Said, prompt_of, replies
from study import Study

ITEMS, SYSTEMS = 12, 6
PART = {"name": "Oops", "definition": "Nobody says oops."}
ASPECT: dict[str, Any] = {
    "name": "Neatness",
    "definition": "How little of it says oops.",
    "tasks": {"summarization": {"sub_aspects": [PART]}},
}
SCALE = {"min": 1, "max": 5, "step": 1}
NAME = "graded-in-neatness"
GRADED: dict[str, Any] = {
    "name": "every rating of neatness",
    **{"level": "sentence", "method": "graded", "aspects": ["neatness"], "targets": 10},
    **{"model": "generator", "references": 2, "rating": "anchors"},
    "anchors": {
        **{"model": "comparator", "judge": "twice", "per_rating": 3, "max_errors": 5},
        **{"calibration_share": 0.25, "oversample": 1.5},
    },
}
_TEXT = re.compile(r"^The summary:\n(.+?)$", re.MULTILINE)
_COUNT = re.compile(r"Put (\d+) errors? into it")


def sentence(item: int, system: int, flaws: int) -> str:
    """Return a text of its own with so many flaws."""
    words = [
        f"Town {item} had",
        f"plan {system} for",
        "its river",
        "and a",
        "new mill",
        "by May.",
    ]
    return " ".join(
        f"{word} oops" if at < flaws else word for at, word in enumerate(words)
    )


class GradedStudy(Study):
    """A study that builds a graded set; `data`, `study` and `graded` change keys of its
    cards.
    """

    def __init__(
        self, folder: Path, url: str, data: Any = (), study: Any = (), **graded: Any
    ) -> None:
        keys = {
            "study": "graded",
            "seed": 4,
            "datasets": ["neat"],
            "judges": ["twice", "oracle"],
        }
        keys |= {"perturbations": [NAME], "methods": ["perspectives"]}
        super().__init__(folder, keys, **dict(study))
        rng = np.random.default_rng(5)
        rows = []
        for item in range(ITEMS):
            row: dict[str, Any] = {"id": f"i{item}", "source": f"Source {item}."}
            row |= {"reference": sentence(item, 8, 0), "other": sentence(item, 9, 0)}
            for system in range(SYSTEMS):
                rating = int(rng.integers(1, 6))
                raters = {"r1": rating, "r2": min(5, rating + int(rng.integers(0, 2)))}
                text = sentence(item, system, 5 - rating)
                rows.append({**row, "system": f"s{system}", "text": text, **raters})
        fields: dict[str, Any] = {
            "references": ["reference", "other"],
            "ratings": {"neatness": ["r1", "r2"]},
            "aspects": {"neatness": SCALE},
        }
        self.rated_table("neat", rows, **fields | dict(data))
        self.card("aspects", "neatness", **ASPECT)
        for name in ("generator", "comparator", "judge"):
            fields = {
                "limits": {"backoff": 0.01, "timeout": 60},
                "price": {"input": 1, "output": 2},
            }
            self.card(
                "models", name, engine="openai", base_url=url, probe=False, **fields
            )
        self.card(
            "judges", "twice", model="judge", form="score-only", draws=2, temperature=1
        )
        self.card("perturbations", NAME, **GRADED | graded)
        self.write()


class Scripted:
    """A writer, a comparator and a judge that know only their prompts; counts what they
    say.
    """

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()

    def __call__(self, body: Body) -> Said:
        prompt, kind = prompt_of(body), body["model"]
        self.kinds[kind] += body.get("n", 1)
        draws = range(body.get("n", 1))
        if prompt.startswith("Write a summary"):
            return replies(
                *(sentence(0, 10 + (body["seed"] + at) % 7, 0) for at in draws)
            )
        text = {"generator": write, "comparator": compare, "judge": rate}[kind](prompt)
        return replies(*[text for _ in draws])


def write(prompt: str) -> str:
    """Put as many marked errors into the text as the prompt says."""
    [text], [count] = _TEXT.findall(prompt), _COUNT.findall(prompt)
    words = text.split(" ")
    for number in range(int(count)):
        words[number] += " <error>oops</error>"
    return " ".join(words)


def compare(prompt: str) -> str:
    """Name the text with fewer flaws."""
    flaws = [
        part.split("\n\n")[0].count("oops")
        for part in re.split(r"^[A-Z][a-z]+ [AB]:\n", prompt, flags=re.M)[1:]
    ]
    return (
        "Choice: tie"
        if flaws[0] == flaws[1]
        else f"Choice: {'AB'[flaws[0] > flaws[1]]}"
    )


def rate(prompt: str) -> str:
    """Rate a text by its flaws."""
    text = re.split(r"\n[A-Z][a-z]+ to rate:\n", prompt)[1].split("\n\n")[0]
    return f"Rating: {max(1, 5 - text.count('oops'))}"


def asked(endpoint: Endpoint) -> Counter[str]:
    """Return how many requests each model got."""
    return Counter(body["model"] for body in endpoint.asked)
