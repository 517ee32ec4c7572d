"""METEOR and SARI as programs: by hand, and as published."""

import json
import subprocess
import sys
from typing import Any

import pytest

from running import HOME

PROGRAM = HOME / "config" / "programs" / "reference_measures.py"


def answers(measure: str, *targets: dict[str, Any]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps({"id": at, **one}) + "\n" for at, one in enumerate(targets))
    done = subprocess.run(
        [sys.executable, str(PROGRAM), measure],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_sari_is_that_of_the_example_in_a_public_implementation() -> None:
    """26.9536 is printed for it by the documentation of the package evaluate."""
    references = [
        "About 95 species are currently known .",
        "About 95 species are now accepted .",
        "95 species are now accepted .",
    ]
    source, text = "About 95 species are currently accepted .", "About 95 you now get in ."
    asked = {"source": source, "text": text, "references": references}
    best = {"source": "a b c d", "text": "a b x d", "references": ["a b x d"]}
    told = [one["score"] for one in answers("sari", asked, best)]
    assert told == [pytest.approx(26.953601953601954), pytest.approx(100)]


def test_meteor_by_hand() -> None:
    """Two of two words in one chunk: 1 - .5 (1/2)³; a stem counts; the best reference is taken."""
    targets = [
        {"text": "the cat", "references": ["the cat"]},
        {"text": "the cats", "references": ["a dog", "the cat"]},
        {"text": "one two", "references": ["three four"]},
    ]
    told = [one["score"] for one in answers("meteor", *targets)]
    assert told == [pytest.approx(0.9375), pytest.approx(0.9375), 0]


def test_what_a_measure_lacks_is_an_error_of_its_text() -> None:
    [lacking] = answers("meteor", {"text": "a", "references": []})
    assert lacking == {"id": 0, "error": "there is no reference"}
    [lacking] = answers("sari", {"text": "a", "source": None, "references": ["a"]})
    assert lacking == {"id": 0, "error": "there is no source"}
