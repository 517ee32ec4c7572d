"""Hu et al. (2024), whole, on loopback: a writer of 14 perturbations, two planted
judges.

`python tests/support/confusing.py [folder]` runs config/studies/confusion.yaml on the
four sets of texts that the repository ships, in one wording, and prints wall time,
requests and what came of it.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from judgescope.data.sentences import split_sentences
from judgescope.perturb.edit_checks import KINDS
from judgescope.perturb.edits import Amount
from judgescope.schema.cards import Expectations
from judgescope.schema.loading import load_yaml, read_card
from protocols import named_folder, run_whole, serving
from running import HOME
from scripted import Body, Said, prompt_of, replies
from study import Study, shipped

SETS = [
    f"demo-confusion-{name}" for name in ("news", "dialogue", "paraphrase", "table")
]
CONTROLS = ["rouge-l-source", "rules", "constant-top", "random", "length"]
ADJUSTMENTS = {
    load_yaml(HOME / "config" / "perturbations" / f"{kind.replace('_', '-')}.yaml")[0][
        "adjustment"
    ]: kind
    for kind in KINDS
}
"""What a writer is asked for -> the kind of change."""
WRITTEN = re.compile(
    r"\n\nThe [a-z ]+:\n(.*?)(?:\n\nAn earlier attempt cannot|\n\nWrite the )",
    re.DOTALL,
)
RATED = re.compile(
    r"[A-Z][a-z]+ to rate:\n(.*?)\n\n(?:Answer with|First analyse)", re.DOTALL
)
ASPECT = re.compile(r"You rate one quality of a text: ([a-z -]+)\.")
BEHIND = "Nobody has said yet what will come of it."

Words = list[str]


def written(kind: str, text: str) -> str:
    """Return what a good writer replies: the first try that has one change of the kind.

    A text that has no place for it comes back as it is.
    """
    if kind == "continuation":
        return BEHIND
    fits = (
        attempt
        for attempt in _tries(kind, text)
        if KINDS[kind](attempt, text, Amount(k=1)) is None
    )
    return next(fits, text)


def _tries(kind: str, text: str) -> Iterator[str]:
    """Yield the text with a sentence changed, the last first, in one place after the
    other.
    """
    for start, end in reversed(split_sentences(text)):
        words = text[start:end].split()
        for at in range(1, len(words)):
            for changed in CHANGES[kind](words, at):
                yield f"{text[:start]}{' '.join(changed)}{text[end:]}"


def _around(words: Words, at: int, *new: str, gone: int = 0) -> Words:
    return [*words[:at], *new, *words[at + gone :]]


def _turned(words: Words, at: int, *new: str) -> Words:
    """Return a sentence whose second part comes first."""
    last = words[-1].rstrip(".")
    first = words[0] if words[0] == "I" else words[0].lower()
    return [*words[at:-1], last, *new, first, *words[1 : at - 1], f"{words[at - 1]}."]


def _other_forms(words: Words, at: int) -> list[Words]:
    word = words[at]
    forms = (
        f"{word}s",
        f"{word}ing",
        f"{word.removesuffix('ed')}ing",
        word.removesuffix("s"),
    )
    return [_around(words, at, form, gone=1) for form in forms]


def _other_entity(words: Words, at: int) -> list[Words]:
    word = words[at]
    number = re.sub(r"\d+", lambda result: str(int(result[0]) + 3), word)
    other = number if number != word else re.sub(r"\b[A-Z]\w+", "Velunda", word)
    return [_around(words, at, other, gone=1)]


CHANGES: dict[str, Any] = {
    "repetition": lambda w, at: [
        _around(w, at, "and", "again", w[at - 1].rstrip(".,"))
    ],
    "passive_voice": lambda w, at: [_turned(w, at, "was", "told")],
    "inversion": lambda w, at: [_turned(w, at)],
    "improper_connective": lambda w, at: [_around(w, at, "nevertheless")],
    "incorrect_verb_form": _other_forms,
    "uncommon_phrase": lambda w, at: [_around(w, at, "rodomontade", gone=1)],
    "complex_sentence": lambda w, at: [_around(w, at, "which", "somebody", "noticed")],
    "abbreviation": lambda w, at: [[*w[: at - 1], f"{w[at - 1].rstrip('.,')}."]],
    "hypernym": lambda w, at: [_around(w, at, "thing", gone=1)],
    "complement": lambda w, at: [_around(w, at, "with", "lanterns", "and", "violins")],
    "different_entity": _other_entity,
    "conflicting_fact": lambda w, at: [
        _around(w, at, "quietly", "sold", "every", "wooden", "chair", gone=2)
    ],
    "negation": lambda w, at: [_around(w, at, "not")],
}
"""Kind of change -> a sentence's words and a place -> the sentence with that change
there.

Sentences are not always good English: the checks see the shape of a change and not its
meaning."""


class Script:
    """A writer that makes the perturbation it is asked for, and judges that know all
    perturbations.

    At temperature 0 a judge takes two points off the aspects that should drop by the
    expectations of the study; at any other it takes them off every aspect, most of the
    time.
    """

    def __init__(self, results: Path) -> None:
        self.results = results
        self.kinds: Counter[str] = Counter()
        self.perturbation: Mapping[str, str] = {}
        path = HOME / "config" / "expectations" / "table-21.yaml"
        card: Expectations = read_card("expectations", path)
        self.drop = {
            name: set(perturbation.drop)
            for name, perturbation in card.perturbations.items()
        }

    def __call__(self, body: Body) -> Said:
        """Answer a request of either kind."""
        prompt = prompt_of(body)
        writes = "\nAdjustment: " in prompt
        self.kinds["texts" if writes else "judgments"] += 1
        if writes:
            return replies(self.write(prompt))
        seeds = range(body.get("n", 1))
        rate = (
            self.rate(prompt, body["temperature"], body["seed"] + seed)
            for seed in seeds
        )
        return replies(*(f"It is as it is.\nRating: {value}" for value in rate))

    def write(self, prompt: str) -> str:
        """Return the text of a writer's prompt with the perturbation that it asks
        for.
        """
        match = WRITTEN.search(prompt)
        assert match is not None, prompt
        asked = prompt.split("\nAdjustment: ")[1]
        (kind,) = (
            kind for result, kind in ADJUSTMENTS.items() if asked.startswith(result)
        )
        return written(kind, match[1])

    def rate(self, prompt: str, temperature: float, seed: int) -> int:
        """Return a rating by the perturbation that the text has."""
        text, aspect = RATED.search(prompt), ASPECT.search(prompt)
        assert text is not None and aspect is not None, prompt
        if text[1] not in self.perturbation:  # of a dataset whose texts came since
            self.perturbation = self._all_perturbations()
        name = self.perturbation[text[1]]
        if temperature == 0:
            quality = aspect[1].replace(" quality", "").replace(" ", "-")
            return 5 - 2 * (quality in self.drop.get(name, ()))
        return 5 - 2 * (name != "original" and random.Random(seed).random() < 0.7)

    def _all_perturbations(self) -> dict[str, str]:
        """Return text -> what was done to it; one that could not be perturbed is its
        original.
        """
        collected: dict[str, str] = {}
        for path in sorted(self.results.glob("targets/*/*.parquet")):
            name = path.stem.partition(".")[0]
            collected |= {
                row["text"]: name
                for row in pq.read_table(path, columns=["text", "status"]).to_pylist()
                if row["status"] in ("ok", "original")
            }
        return collected


@contextmanager
def endpoint(study: Study) -> Iterator[Script]:
    """Serve writer and judges of a study, with the card of `clear`."""
    script = Script(study.out)
    with serving(study, script):
        study.change("judges", "ten-draws", judge="clear", temperature=0, draws=1)
        yield script


def shipped_texts(folder: Path, **keys: Any) -> Study:
    """Return the study of the paper on the shipped texts, with changed keys."""
    fields = {"datasets": SETS, "judges": ["clear", "ten-draws", *CONTROLS]}
    return Study(folder, shipped("studies", "confusion", **fields | keys))


def few_news(folder: Path, items: int, **keys: Any) -> Study:
    """Return the same for so many of the shipped news texts."""
    study = shipped_texts(folder, datasets=SETS[:1], **keys)
    files = {"items": str(HOME / "config" / "demo" / "confusion_news.jsonl")}
    study.change("datasets", SETS[0], select={"n": items}, files=files)
    study.write()
    return study


def main() -> None:
    """Run the study and print what came of it."""
    study = shipped_texts(named_folder(), criteria=[])
    run_whole(study, endpoint(study))


if __name__ == "__main__":
    main()
