"""The card of a decision model: it answers typed questions with probabilities."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from judgescope.schema.cards.base import Access, Asking
from judgescope.schema.cards.endpoint import EndpointModel, check_free
from judgescope.schema.cards.models import REQUEST_NAMES

QuestionType = Literal["choice", "noul", "score"]
"""The type of a question to a decision model: one of several options, true or false,
one of several ordered levels."""
WireName = Literal["systemone", "decisions"]


class SystemOneModel(EndpointModel):
    """A decision model behind an endpoint, which writes no text."""

    ROUTES: ClassVar[tuple[str, ...]] = ("/systemone", "/decisions")
    engine: Asking[Literal["systemone"]]
    wire: Asking[WireName] = "systemone"
    """How the endpoint spells questions and answers: `systemone` (`state`, `questions`
    by name), or `decisions` (OpenAI's `input` and a list of questions)."""
    path: Access[str | None] = Field(None, pattern=r"^/[^\s?#]*[^\s?#/]$")
    """The end of the address of its requests, after `base_url`; default: `/systemone`
    or `/decisions`, as `wire` says."""

    @model_validator(mode="after")
    def _unreserved(self) -> Self:
        # Fields of a request that the judge's question fills.
        sent_fields = frozenset(("state", "questions", "input"))
        taken = set(self.extra_body) & (REQUEST_NAMES.reserved | sent_fields)
        check_free(
            "extra_body", taken, "the judge's question sets it, or no decision has it"
        )
        return self

    def identity(self) -> dict[str, Any]:
        """Return what changes a reply: the model reads another prompt with another
        `wire`.
        """
        return {**super().identity(), "wire": self.wire}

    @property
    def route(self) -> str:
        """Return the end of the address of its requests, after `base_url`."""
        return self.path or f"/{self.wire}"

    @property
    def unsent(self) -> set[str]:
        """Return the decoding fields that are not sent: all of them."""
        # Decoding fields that a decision model does not have.
        not_sent_fields = frozenset(("temperature", "top_p", "max_tokens", "seed", "n"))
        return set(not_sent_fields)
