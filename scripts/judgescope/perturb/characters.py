"""Damage at the level of characters (methods.md 7; paper 000, random deletions)."""

from typing import TYPE_CHECKING

from judgescope.perturb.edits import Edit, Perturbed, impossible, perturbed
from judgescope.perturb.graphemes import alphanumerics

if TYPE_CHECKING:
    from numpy.random import Generator


def delete_characters(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Delete k random letters or digits, each with its combining marks; one always stays."""
    spans = alphanumerics(text)
    done = min(k, len(spans) - 1)
    if done < 1:
        return impossible(text, f"{'only one' if spans else 'no'} alphanumeric character")
    chosen = rng.choice(len(spans), size=done, replace=False).tolist()
    edits = [Edit(spans[i][0], text[slice(*spans[i])], "") for i in chosen]
    return perturbed(text, edits, done=done, wanted=k)
