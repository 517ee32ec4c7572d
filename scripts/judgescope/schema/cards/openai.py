"""The card of a model behind an endpoint that speaks OpenAI's chat protocol."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from judgescope.schema.cards.base import Access, Asking
from judgescope.schema.cards.endpoint import EndpointModel, check_free
from judgescope.schema.cards.models import REQUEST_NAMES, SystemRole


class OpenAIModel(EndpointModel, SystemRole):
    """A model behind an endpoint that speaks OpenAI's chat protocol."""

    ROUTES: ClassVar[tuple[str, ...]] = ("/chat/completions",)
    engine: Asking[Literal["openai"]]
    field_names: Asking[dict[str, str | None]] = Field({})
    """The endpoint's names of fields, such as max_tokens: max_completion_tokens; null:
    the field is not sent, and the endpoint uses its default."""
    probe: Access[bool] = True
    """Whether to test with a few small requests, before the first request of a study,
    which fields the endpoint honours."""
    tokenizer: Access[str | None] = None
    """The model's tokenizer.json, relative to the card's folder, with which `check`
    counts tokens (needs the package tokenizers); default: an estimate from stored
    replies."""

    @model_validator(mode="after")
    def _unreserved(self) -> Self:
        spelled = REQUEST_NAMES.spelled
        if unknown := sorted(self.field_names.keys() - set(spelled)):
            raise ValueError(
                f"field_names may name {', '.join(spelled)}, not {', '.join(unknown)}"
            )
        body = set(self.extra_body)
        renamed = {name for name in self.field_names.values() if name}
        check_free("extra_body", body & REQUEST_NAMES.reserved, "other keys set it")
        check_free("extra_body", body & renamed, "field_names sets it")
        return self

    @property
    def unsent(self) -> set[str]:
        """Return the decoding fields that are not sent to the endpoint."""
        return {name for name, spelled in self.field_names.items() if spelled is None}

    def probed(self) -> dict[str, Any]:
        """Return the keys on which the results of the endpoint's tests depend."""
        keys = {"model", "name", "revision", "variant", "extra_body", "field_names"}
        keys.add("system_role")
        return {"address": [self.base_url, self.query], **self.model_dump(include=keys)}
