"""Decision models: a state and a typed question in, a probability an option out."""

from collections.abc import Mapping, Sequence
from typing import Any

from judgescope.engines import systemone_wire as wire
from judgescope.engines.openai.connection import with_certificates
from judgescope.engines.openai.engine import EndpointEngine
from judgescope.engines.requests import Reply, Request
from judgescope.schema.cards import SystemOneModel
from judgescope.schema.cards.engines import Engine


class SystemOneEngine(EndpointEngine):
    """Asks an endpoint for decisions, one question a request."""

    card: SystemOneModel

    def body(self, request: Request, draws: Sequence[int]) -> dict[str, Any]:
        """Return the body that asks for the only draw of a request."""
        return wire.body(self.card.wire, request)

    def read(self, text: str, request: Request, draws: Sequence[int]) -> list[Reply]:
        """Return the decision in an answer; NoReplyError if it has none."""
        [draw] = draws
        return [wire.read_decision(text, self.card.wire, request, draw)]

    def keys_to_check(self, reason: str) -> str:
        """Return the keys of the card that may be wrong if every request is refused."""
        keys = "name, base_url, path, wire and extra_body"
        if "HTTP 404" in reason:
            return f"{keys} ({self._no_decisions()})"
        return keys

    def advice(self, status: int, text: str, headers: Mapping[str, str]) -> str:
        """Return what to do about an answer that is no decision."""
        # Statuses of an endpoint, or of a model, that gives no decisions.
        no_decisions = frozenset((404, 405, 501))
        if status in no_decisions:
            return self._no_decisions()
        return super().advice(status, text, headers)

    def _no_decisions(self) -> str:
        """Return what to do about an endpoint that has no decision model."""
        return (
            f"there is no decision model at this address ({self.card.route}): check "
            "`base_url`, `path` and `name` of the card; a chat model is asked with "
            "`engine: openai`, and in the judge's card `structured: choice` and "
            "`estimator: logprob_mean`"
        )


ENGINE = Engine(
    name="systemone",
    card=SystemOneModel,
    build=SystemOneEngine,
    located=with_certificates,
    executor="api",
    asked=True,
    reads_prompts=True,
    compares_forms=True,
    decides=True,
    parser="decision",
)
