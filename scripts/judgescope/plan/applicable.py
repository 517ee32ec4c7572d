"""What a judge is: whether it compares, computes or replays, and which texts it can
judge.
"""

from collections.abc import Mapping

from judgescope.prompts import SECOND, Templates, shows
from judgescope.schema import cards
from judgescope.schema.cards.engines import ENGINES

ALONE = {"rules"}
"""Lexical forms that read only the text: references merely add to the words that they
know."""


def uses_references(judge: cards.Judge) -> bool:
    """Return whether a judge's score measures how close a text is to references."""
    return judge.against in {"references", "original"} and judge.form not in ALONE


def not_applicable(
    judge: cards.Judge,
    model: cards.Model,
    dataset: cards.Dataset,
    perturbation: str,
    kind: cards.PerturbationKind | None,
    *,
    pairs: bool,
) -> str | None:
    """Return the reason why `judge` cannot judge these targets, or None if it can.

    `kind` is that of the perturbation, None for unperturbed texts; `pairs`: whether the
    judge compares two texts.
    """
    reads = model.engine not in {"control", "recorded"}
    if reads and not dataset.has_texts:
        return "not applicable: the dataset has no texts"
    if judge.form == "length" and not dataset.has_lengths:
        return "not applicable: the dataset has no texts"
    if dataset.gives_texts and uses_references(judge):
        return "not applicable: the dataset has no references"
    if judge.against == "original" and (perturbation == "systems" or kind == "graded"):
        return "not applicable: made from no single original"
    rated = perturbation == "systems" and dataset.is_rated
    # These controls are made from people's ratings of the texts that they judge.
    if (
        model.engine == "control"
        and judge.form in ("most_frequent", "shuffled")
        and not rated
    ):
        return "not applicable: needs ratings"
    counted = perturbation == "original" or kind in {"chain", "graded"}
    counted = counted and not dataset.gives_texts
    if model.engine == "control" and judge.form == cards.ORACLE and not counted:
        return "not applicable: nobody knows how many errors there are"
    chosen = perturbation == "systems" and dataset.prefers and pairs
    if model.engine == "planted" and not rated and not chosen:
        return "not applicable: a planted judge rates texts that people rated"
    if judge.hint is not None and not rated:
        return "not applicable: there is no rating to tell"
    if (
        isinstance(model, cards.RecordedModel)
        and perturbation != "systems"
        and not model.rows.target
    ):
        return "not applicable: recorded for system outputs only"
    if pairs and kind == "graded":
        return "not applicable: texts of every rating are rated, not ordered"
    if pairs and perturbation != "systems" and kind != "chain":
        return "not applicable: one text per item, nothing to compare"
    return None


def compares(
    judge: cards.Judge, model: cards.Model, forms: Mapping[str, Templates]
) -> bool:
    """Return whether a judge's replies are about two texts: its form shows two, or its
    recorded rows name two. `forms`: form -> its templates, for prompts.
    """
    if ENGINES[model.engine].reads_prompts and judge.form in forms:
        return shows(forms[judge.form], SECOND)
    if judge.form == cards.COMPARE:
        return True
    if not isinstance(model, cards.RecordedModel):
        return False
    return model.rows.compares


def computes(card: cards.Model) -> bool:
    """Return whether a model gives scores without replies to parse."""
    return not ENGINES[card.engine].asked and not replays(card)


def replays(card: cards.Model) -> bool:
    """Return whether a model's replies are recorded, not only its scores."""
    if not isinstance(card, cards.RecordedModel):
        return False
    return card.rows.reply is not None
