"""Let a model draft the steps or sub-aspects that a card lacks; people paste them into the card."""

from pathlib import Path

from judgescope.core.files import write_text
from judgescope.perturb.writing import DraftSpec, drafted
from judgescope.replies.asking import writer


def main(spec: DraftSpec, *, card: str, store: str, budget: str) -> None:
    """Ask for a draft until a reply can be used; write it as a piece of the card."""
    with writer(spec.drafter, 0, card=card, store=store, budget=budget) as asked:
        text = drafted(spec, *asked)
    write_text(Path(spec.output), text)
