"""Words in capitals."""

import re
from typing import TYPE_CHECKING

from judgescope.perturb.edits import Edit, Perturbed, impossible, perturbed
from judgescope.perturb.rules import Option, rule

if TYPE_CHECKING:
    from numpy.random import Generator


@rule("word", k=Option())
def shout(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Put k random words of small letters a to z into capitals."""
    words = list(re.finditer(r"\b[a-z]+\b", text))
    if not words:
        return impossible(text, "no word in small letters")
    count = min(k, len(words))
    chosen = sorted(rng.choice(len(words), size=count, replace=False).tolist())
    edits = [
        Edit(words[at].start(), words[at][0], words[at][0].upper()) for at in chosen
    ]
    return perturbed(text, edits, done=count, planned=k)
