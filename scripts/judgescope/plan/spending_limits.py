"""What a study may spend: its caps, checked against its models."""

from collections.abc import Mapping

from judgescope.core.errors import UserError
from judgescope.engines import ASKED
from judgescope.replies.ledger import NANOS, REQUESTS, Cap
from judgescope.schema.cards import Caps, Model, PromptedModel, Study

BILLION = 10**9


def caps_of(study: Study) -> list[Cap]:
    """Return the caps of a study and of single models in it."""
    owners: list[tuple[str, Caps, str | None]] = [("", study, None)]
    owners += [(f"caps.{name}.", caps, name) for name, caps in study.caps.items()]
    found = []
    for prefix, caps, model in owners:
        if caps.max_usd is not None:
            limit = round(caps.max_usd * BILLION)
            found.append(Cap(f"{prefix}max_usd", NANOS, limit, model))
        if caps.max_requests is not None:
            found.append(Cap(f"{prefix}max_requests", REQUESTS, caps.max_requests, model))
    return found


def check_caps(study: Study, models: Mapping[str, Model], source: str) -> None:
    """Check that every cap is on a model that is asked, and every cap on money on a known price.

    A drafter may have a cap where it is none of the models: its price is needed when it drafts.
    """
    asked = {name: card for name, card in models.items() if card.engine in ASKED}
    for name in study.caps:
        if name not in [*asked, study.drafter]:
            raise UserError(
                "no model of the study with this id is asked",
                where=f"{source}, key caps",
                got=name,
                allowed=asked,
            )
    for key, unit, _, only in caps_of(study):
        for name, card in asked.items():
            bound = unit == NANOS and only in (None, name)
            if bound and isinstance(card, PromptedModel) and card.price is None:
                raise UserError(
                    f"{key} needs the price of every model that it binds",
                    where=f"models/{name}.yaml",
                    todo="give the card a `price` (input and output 0 if it costs nothing), or cap "
                    "`max_requests`",
                )
