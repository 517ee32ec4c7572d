"""Which judge can judge which targets at all, known from the cards alone."""

from judgescope.engines import ASKED
from judgescope.schema.cards import (
    COMPARE,
    ORACLE,
    DamageKind,
    Dataset,
    Judge,
    Model,
    RecordedModel,
)

NEEDS_RATINGS = {"most_frequent", "shuffled"}
"""Controls that are made from people's ratings of the very targets they judge."""
ALONE = {"rules"}
"""Lexical forms that look at a text by itself: references only widen what they know."""


def uses_references(judge: Judge) -> bool:
    """Return whether a judge's score tells how near a text is to references."""
    return judge.against == "references" and judge.form not in ALONE


def not_applicable(
    judge: Judge, model: Model, dataset: Dataset, perturbation: str, kind: DamageKind | None
) -> str | None:
    """Return the reason why `judge` cannot judge these targets, or None when it can.

    `kind` is that of the damage, None of texts that nobody damaged.
    """
    reads = model.engine not in {"control", "recorded"} or judge.form == "length"
    if reads and not dataset.has_texts:
        return "not applicable: the dataset has no texts"
    if dataset.gives_texts and uses_references(judge):
        return "not applicable: the dataset has no references"
    rated = perturbation == "systems" and dataset.ratings != "none"
    if model.engine == "control" and judge.form in NEEDS_RATINGS and not rated:
        return "not applicable: needs ratings"
    counted = perturbation == "original" or kind in {"row", "graded"}
    counted = counted and not dataset.gives_texts
    if model.engine == "control" and judge.form == ORACLE and not counted:
        return "not applicable: nobody knows how many errors there are"
    if judge.hint is not None and not rated:
        return "not applicable: there is no rating to tell"
    if isinstance(model, RecordedModel) and perturbation != "systems" and not model.rows.target:
        return "not applicable: recorded for system outputs only"
    if judge.form == COMPARE and kind == "graded":
        return "not applicable: texts of every rating are rated, not ordered"
    if judge.form == COMPARE and perturbation != "systems" and kind != "row":
        return "not applicable: one text per item, nothing to compare"
    return None


def computes(card: Model) -> bool:
    """Return whether a model gives scores without any reply that has to be parsed."""
    return card.engine not in ASKED and not replays(card)


def replays(card: Model) -> bool:
    """Return whether a model's replies are recorded, and not its scores alone."""
    return isinstance(card, RecordedModel) and card.rows.reply is not None
