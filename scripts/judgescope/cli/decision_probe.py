"""One test question of each type that a study asks a decision model."""

from collections.abc import Iterable, Mapping
from typing import Any

from judgescope.core.errors import UserError
from judgescope.engines.requests import RefusedError, Request
from judgescope.engines.systemone import SystemOneEngine
from judgescope.parsing.decisions import read_decision
from judgescope.parsing.judgment import Scale
from judgescope.schema.cards import QuestionType


def request_for_test(engine: SystemOneEngine, kind: QuestionType) -> Request:
    """Return the test question of a type."""
    question = {"type": kind, "instructions": "Does it rain in the field `text`?"}
    criteria: Mapping[QuestionType, Any] = {
        "choice": {"no": None, "yes": None},
        "noul": {"true": "it rains", "false": "it does not rain"},
        "score": ["1 (worst)", "2 (best)"],
    }
    question["criteria"] = criteria[kind]
    state = {"text": "It rains in Orn."}
    asked = {**engine.card.identity(), "state": state, "question": question}
    return Request(asked, about=f"a test question of type {kind}")


def answered(
    engine: SystemOneEngine, kinds: Iterable[QuestionType]
) -> dict[QuestionType, str]:
    """Return type of question -> what came; nothing is stored.

    Raises UserError for an endpoint that refuses a question, or answers it in a way
    that cannot be read.
    """
    came = dict[QuestionType, str]()
    two_labels = Scale(0, 1, 1, labels=("no", "yes"), words=(("no", 0), ("yes", 1)))
    scales: Mapping[QuestionType, Scale] = {
        "choice": two_labels,
        "noul": two_labels,
        "score": Scale(1, 2, 1),
    }
    for kind in sorted(set(kinds)):
        try:
            [reply] = engine.request(request_for_test(engine, kind), (0,))
        except RefusedError as error:
            raise engine.refusal(error) from None
        verdict = read_decision(reply.text, scales[kind])
        if verdict.status != "ok":
            raise UserError(
                f"the answer to a test question of type {kind} cannot be read: "
                f"{verdict.rule}",
                where=f"models/{engine.card.model}.yaml",
                got=engine.safe(reply.text) or "no answer to the question",
                todo="write another `question` into the judge's card, or use another "
                "model; no judgment was requested",
            )
        version = (reply.provenance or {}).get("model", "unnamed")
        came[kind] = f"answered by {engine.safe(version)}"
    return came
