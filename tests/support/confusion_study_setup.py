"""What several tests of confusion study share."""

import json
import re

from rapidfuzz import fuzz

from running import HOME
from scripted import Body, Said, prompt_of, reply, text_in

DATA = HOME / "config" / "demo" / "confusion_news.jsonl"
WORDS = re.compile(r"\w+")
ASPECTS = ["fluency", "coherence", "informativeness"]


class Planted:
    """Two judges in one endpoint: by temperature, one tells the aspects apart and one
    does not.

    Both know the originals: a word that is in none of them is misspelt, and a text that
    is much shorter than the nearest of them lacks a sentence.
    """

    def __init__(self) -> None:
        lines = DATA.read_text(encoding="utf-8").splitlines()
        self.originals: list[str] = [json.loads(line)["reference"] for line in lines]
        self.words = {word for text in self.originals for word in WORDS.findall(text)}

    def __call__(self, body: Body) -> Said:
        """Rate a text."""
        prompt = prompt_of(body)
        text = text_in(prompt).split("\n\nAnswer with")[0]
        faults = self.faults(text)
        aspect = prompt.split("one quality of a text: ")[1].split(".")[0]
        mixed = body["temperature"] > 0
        return reply(
            "3" if faults.get(aspect) or (mixed and any(faults.values())) else "5"
        )

    def faults(self, text: str) -> dict[str, bool]:
        """Return aspect -> whether the text is perturbed in it."""
        return {
            "fluency": not self.words.issuperset(WORDS.findall(text)),
            "informativeness": len(text) < 0.95 * len(self._nearest(text)),
        }

    def _nearest(self, text: str) -> str:
        near: str = max(self.originals, key=lambda each: fuzz.partial_ratio(text, each))
        return near
