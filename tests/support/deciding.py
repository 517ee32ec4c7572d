"""Answers of decision models on loopback, in the dialects of several servers."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

from judgescope.core.canonical import canonical
from scripted import Body, Said

Dialect = Literal["bare", "vllm", "llama", "decisions"]
Believed = Callable[[Any, Mapping[str, Any]], list[float]]
"""(state, question) -> the probability of each option, in order; of true and false."""
TOKENS = 11


def options(question: Mapping[str, Any]) -> list[str]:
    """Return the options of a question of `systemone`, in order."""
    if question["type"] == "noul":
        return ["true", "false"]
    if question["type"] == "score":
        return [str(index) for index in range(len(question["criteria"]))]
    return list(question["criteria"])


def decision(question: Mapping[str, Any], shares: list[float]) -> dict[str, Any]:
    """Return the answer to a question, as `systemone` spells it."""
    named = dict(zip(options(question), shares, strict=True))
    kind = question["type"]
    if kind == "noul":
        return {"type": kind, "noul": shares[0]}
    answer: dict[str, Any] = {"type": kind, "probabilities": named, "confidence": 0.5}
    if kind == "choice":
        return answer | {"choice": max(named, key=lambda name: named[name])}
    legend = dict(zip(named, question["criteria"], strict=True))
    mean = math.fsum(location * share for location, share in enumerate(shares))
    return answer | {"score": mean, "legend": legend}


def reply_of(
    answer: Mapping[str, Any] | None, dialect: Dialect = "bare", **more: Any
) -> Said:
    """Return the answer of a server to a request with one question, `verdict`."""
    usage = {"input_tokens": TOKENS, "output_tokens": 0}
    answers = {} if answer is None else {"verdict": dict(answer)}
    body: Body = {"model": "decider-1", "answers": answers, "usage": usage, **more}
    if dialect == "llama":
        body |= {"id": "dec-1", "object": "systemone"}
    if dialect == "vllm":
        about = {"label_mass": 0.98, "argmax_is_label": True}
        body = {"diagnostics": {"verdict": about}, **body}
    return Said(body)


def listed(answer: Mapping[str, Any]) -> Said:
    """Return the same answer in the protocol `decisions`."""
    kind = answer["type"]
    usage = {"input_tokens": TOKENS, "output_tokens": 0, "total_tokens": TOKENS}
    entry: dict[str, Any] = {"name": "verdict", "type": kind}
    if kind == "noul":
        entry |= {"type": "predicate", "probability": answer["noul"]}
    else:
        shares = []
        for option, share in answer["probabilities"].items():
            value: dict[str, Any] = {"value": option, "probability": share}
            if kind == "score":
                value |= {"value": int(option), "label": answer["legend"][option]}
            shares.append(value)
        entry |= {"probabilities": shares, "confidence": 0.5}
        entry[kind] = answer[kind]
    return Said({"model": "decider-1", "answers": [entry], "usage": usage})


def asked_of(body: Body) -> tuple[Any, Mapping[str, Any]]:
    """Return the state and the question of a request of `systemone`."""
    [(name, question)] = body["questions"].items()
    assert name == "verdict"
    return body["state"], question


def decider(believed: Believed, dialect: Dialect = "bare") -> Callable[[Body], Said]:
    """Return the script of a server that decides as `believed` says."""

    def script(body: Body) -> Said:
        state, question = asked_of(body)
        return reply_of(decision(question, believed(state, question)), dialect)

    return script


def length_of(state: Any) -> int:
    """Return the characters of a state, from which a test draws what is believed."""
    return len(canonical(state))
