"""The protocols of decision models: the body of a request, the contents of an answer.

Sources: the public contract of `POST /v1/systemone` (vLLM 0.32, llama.cpp, Ollama 0.35
and hosts), and of OpenAI's `POST /v1/decisions` as in the types of the package openai.
An answer is kept in the first spelling, so that one parser reads both.
"""

from collections.abc import Mapping
from typing import Any, Final

from judgescope.core.canonical import canonical
from judgescope.core.names import CONTENT, MissingContent
from judgescope.engines.openai.wire import NoReplyError, loads
from judgescope.engines.requests import Reply, Request, counted
from judgescope.schema.cards.systemone import QuestionType, WireName

ASKED: Final = "verdict"
"""The name of the only question of a request."""
MASS: Final = "label_mass"
"""The field of a kept answer with the probability that the model gave to the options
together, where the server says it."""
PREDICATE: Final = "predicate"


def body(wire: WireName, request: Request) -> dict[str, Any]:
    """Return the body of a request for one decision."""
    asked = request.asked
    sent = {**asked["extra_body"], "model": asked["model"]}
    if wire == "systemone":
        return sent | {"state": asked["state"], "questions": {ASKED: asked["question"]}}
    question = _listed(asked["question"])
    return sent | {"input": canonical(asked["state"]), "questions": [question]}


def _listed(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question as the protocol `decisions` spells it.

    A predicate has no descriptions of true and false there, so they follow its
    instructions.
    """
    kind: QuestionType = question["type"]
    instructions = question["instructions"]
    criteria = question["criteria"]
    # Type of a question -> its name in the protocol `decisions`.
    listed_types: Mapping[QuestionType, str] = {
        "noul": PREDICATE,
        "choice": "choice",
        "score": "score",
    }
    listed: dict[str, Any] = {"type": listed_types[kind], "name": ASKED}
    if kind == "noul":
        option_lines = [f"{name}: {words}" for name, words in (criteria or {}).items()]
        return listed | {"instructions": "\n".join([instructions, *option_lines])}
    listed["instructions"] = instructions
    if kind == "score":
        return listed | {"levels": [{"label": level} for level in criteria]}
    choices = list[dict[str, Any]]()
    for option, words in criteria.items():
        described = {}
        if words is not None:
            described = {"description": words}
        choices.append({"value": option, **described})
    return listed | {"choices": choices}


def read_decision(text: str, wire: WireName, request: Request, draw: int) -> Reply:
    """Return the decision in an answer; its text is canonical JSON.

    A model that answers the question not at all gives a reply without text. Raises
    NoReplyError for an answer that is no decision.
    """
    answer = loads(text)
    if not isinstance(answer, dict):
        answer = {}
    usage = usage_of(answer)
    billed = () if usage is None and answer.get("error") else (usage,)
    answers = answer.get("answers")
    if wire == "systemone" and isinstance(answers, dict):
        decided = _named(answers)
    elif wire == "decisions" and isinstance(answers, list):
        decided = _unlisted(answers)
    else:
        raise NoReplyError("a response without `answers`", billed)
    provenance = {"engine": "systemone"}
    if isinstance(answer.get("model"), str):
        provenance["model"] = answer["model"]
    asked = request.asked["question"]["type"]
    # The type of an answer in which a model declines a question.
    refusal_key = "refusal"
    if decided is not None and decided.setdefault("type", asked) not in (
        asked,
        refusal_key,
    ):
        raise NoReplyError(f"an answer to another type than {asked}", billed)
    if decided is None:
        provenance[CONTENT] = MissingContent.EMPTY
        return Reply(request.key, draw, "", usage=usage, provenance=provenance)
    mass = _label_mass(answer)
    if mass is not None:
        decided[MASS] = mass
    # The field of a kept answer whose levels have other labels than the question.
    relabelled = "relabelled"
    if _is_relabelled(decided.get("legend"), request.asked["question"]):
        decided[relabelled] = True
    try:
        kept = canonical(decided)
    except (ValueError, TypeError, RecursionError):
        raise NoReplyError("a decision that is no JSON", billed) from None
    finish = "stop"
    if decided.get("type") == refusal_key:
        finish = refusal_key
    return Reply(
        request.key, draw, kept, finish=finish, usage=usage, provenance=provenance
    )


def _named(answers: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the answer to the question; None if it is missing."""
    decided = answers.get(ASKED)
    if isinstance(decided, dict):
        return dict(decided)
    return None


def _unlisted(answers: list[Any]) -> dict[str, Any] | None:
    """Return the answer of the protocol `decisions` as `systemone` spells it; None if
    it is missing.
    """
    listed = next((each for each in answers if isinstance(each, dict)), None)
    if listed is None or listed.get("name") not in (ASKED, None):
        return None
    kind = listed.get("type")
    if kind == PREDICATE:
        return {"type": "noul", "noul": listed.get("probability")}
    decided = {}
    for name in ("choice", "score"):
        if name in listed:
            decided[name] = listed[name]
    decided["type"] = kind
    shares = listed.get("probabilities")
    if isinstance(shares, list):
        decided["probabilities"] = _by_option(shares)
        legend = {}
        for share in shares:
            if isinstance(share, dict) and isinstance(share.get("label"), str):
                legend[str(share.get("value"))] = share["label"]
        if legend:
            decided["legend"] = legend
    return decided


def _is_relabelled(legend: Any, question: Mapping[str, Any]) -> bool:
    """Return whether levels of an answer have other labels than the question."""
    if question["type"] != "score" or not isinstance(legend, dict):
        return False
    labels = {}
    for level, words in enumerate(question["criteria"]):
        labels[str(level)] = words
    return any(labels.get(level, label) != label for level, label in legend.items())


def _by_option(shares: list[Any]) -> dict[str, Any] | list[Any]:
    """Return option -> probability; the list itself if an option is there twice or is
    no object.
    """
    by_option = dict[str, Any]()
    for share in shares:
        if not isinstance(share, dict) or str(share.get("value")) in by_option:
            return shares
        by_option[str(share.get("value"))] = share.get("probability")
    return by_option


def _label_mass(answer: Mapping[str, Any]) -> Any:
    """Return the probability of the options together, as vLLM says it; None if it does
    not.
    """
    diagnostics = answer.get("diagnostics")
    about = None
    if isinstance(diagnostics, dict):
        about = diagnostics.get(ASKED)
    if isinstance(about, dict):
        return about.get(MASS)
    return None


def usage_of(answer: Mapping[str, Any]) -> dict[str, int] | None:
    """Return the tokens that an answer reports, None if it is unknown what it costs."""
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return None
    known = counted(
        {
            "prompt": _count(usage, "input_tokens", "prompt_tokens"),
            "completion": _count(usage, "output_tokens", "completion_tokens") or 0,
            "cached": _cached(usage),
        }
    )
    if known and known["prompt"]:
        return known
    return None


def _count(usage: Mapping[str, Any], *names: str) -> Any:
    """Return the first of some counts that is given, None without one."""
    given = []
    for name in names:
        if usage.get(name) is not None:
            given.append(usage[name])
    return given[0] if given else None


def _cached(usage: Mapping[str, Any]) -> Any:
    details = _count(usage, "input_tokens_details", "prompt_tokens_details")
    if isinstance(details, dict):
        return details.get("cached_tokens")
    return None
