"""A benchmark written for these tests: texts of known rating, and chains of texts; what judges say.

Quality is the number of stray words in a text: `oops` for one aspect, `alas` for the other. Nobody
but the prompt tells a judge so.
"""

import json
import re
from pathlib import Path
from typing import Any

from asking import AskedStudy
from scripted import Body, Endpoint, Said, reply

ITEMS, COPIES, ERRORS = 12, 2, 5
"""Sources, texts of each rating, and errors of the last text in a row."""
FIVE, TWO = {"min": 1, "max": 5, "step": 1}, {"min": 0, "max": 1, "step": 1}
ASPECTS: dict[str, Any] = {"neatness": FIVE, "clearness": TWO | {"column": "Clearness"}}
WORDS = {"neatness": "oops", "clearness": "alas"}
COLUMNS = {"neatness": "neatness", "clearness": "Clearness"}
CARD: dict[str, Any] = {
    **{"name": "given", "task": "summarization", "format": "dualeval_json", "ratings": "none"},
    **{"files": {"global": "../../global.json", "local": "../../local.json"}},
    **{"aspects": ASPECTS, "licence": "none", "citation": "none"},
    "select": {"original": "none"},
}
_TEXTS = re.compile(r"(?:Text to rate|Text [AB]):\n(.+?)\n\n", re.DOTALL)
_SCALE = re.compile(r"from (\d+) to (\d+)")


def source(item: int) -> str:
    """Return a source of its own."""
    return f"Village {item} wants a new bridge over its stream."


def text(item: int, version: int, word: str, errors: int) -> str:
    """Return a text with so many errors; not one is longer for having more of them."""
    words = [f"Bridge {item}", f"in year {version}", "is built", "of stone", "and good wood"]
    told = [f"{one} {word}" if at < errors else f"{one} then" for at, one in enumerate(words)]
    return " ".join(told) + "."


def rated_texts(aspect: str) -> list[dict[str, Any]]:
    """Return texts of every rating, whose number says more than their errors do."""
    scale, word = ASPECTS[aspect], WORDS[aspect]
    return [
        {
            "source": source(item),
            "target": text(item, 2000 + 10 * copy + rating, word, scale["max"] - rating),
            "rating": rating,
            "errors": "whatever else there is",
        }
        for item in range(ITEMS)
        for rating in range(scale["min"], scale["max"] + 1)
        for copy in range(COPIES)
    ]


def rows_of_texts(aspect: str) -> dict[str, list[Any]]:
    """Return the chain of texts of each source, as strings or as objects."""
    told = {
        source(item): [text(item, 1900, WORDS[aspect], errors) for errors in range(ERRORS + 1)]
        for item in range(ITEMS)
    }
    if aspect == "neatness":
        return dict(told)
    return {one: [{"target": each, "error": "one"} for each in row] for one, row in told.items()}


def write_files(folder: Path) -> None:
    """Write both files of the benchmark."""
    files = {"global": rated_texts, "local": rows_of_texts}
    for role, made in files.items():
        content = {column: made(aspect) for aspect, column in COLUMNS.items()}
        (folder / f"{role}.json").write_text(json.dumps(content), encoding="utf-8")


def say(body: Body) -> Said:
    """Count the stray words of the aspect that the prompt names: rate, or name the better text."""
    prompt = body["messages"][0]["content"]
    [word] = [WORDS[name] for name in WORDS if name in prompt.lower()]
    errors = [one.count(word) for one in _TEXTS.findall(prompt)]
    if len(errors) == 2:
        better = "tie" if errors[0] == errors[1] else "AB"[errors[0] > errors[1]]
        return reply(f"Choice: {better}")
    [(least, most)] = _SCALE.findall(prompt)
    return reply(str(max(int(least), int(most) - errors[0])))


def write_study(folder: Path, endpoint: Endpoint, **keys: Any) -> AskedStudy:
    """Write data, cards and study."""
    write_files(folder)
    study = AskedStudy(folder, endpoint)
    study.card("datasets", "bridges", **CARD)
    for name in ASPECTS:
        study.card("aspects", name, name=name.title(), definition=f"Is there {name} in it?")
    study.card("judges", "counter", model="loop", form="score-only")
    fine = {"min": 1, "max": 10, "step": 1}
    study.card("judges", "fine", model="loop", form="score-only", scale=fine)
    study.card("judges", "pairs", model="loop", form="compare")
    study.card("judges", "beside", model="loop", form="score-only", use_reference=True)
    told: dict[str, Any] = {
        **{"study": "given", "seed": 4, "datasets": ["bridges"], "aspects": []},
        **{"judges": ["counter", "fine", "pairs", "beside", "oracle"]},
        "methods": ["perspectives"],
    }
    study.write(**told | keys)
    return study
