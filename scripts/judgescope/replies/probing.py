"""Whether an endpoint can do what judges want of it, before they are asked."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.files import whole
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.openai.probe import FIELDS, Findings, works
from judgescope.engines.requests import Budget
from judgescope.replies.store import Store
from judgescope.schema.cards import Judge, OpenAIModel

VERSION = 1
"""Another one where the probe itself changes."""
NEEDS = {"choice": "choice", "json": "json_schema"}
"""A judge's `structured` -> the field that it needs."""


def place(store: Store, card: OpenAIModel) -> Path:
    """Return the file of an endpoint's findings: of this model at this address."""
    told = {"version": VERSION, "address": [card.base_url, card.query]}
    told |= card.model_dump(
        include={"model", "name", "revision", "variant", "extra_body", "field_names"}
    )
    return store.shard / f"probe-{hashlib.sha256(canonical(told).encode()).hexdigest()[:16]}.json"


def read_findings(store: Store, card: OpenAIModel) -> Findings | None:
    """Return what was found out of an endpoint, None if that is not known."""
    try:
        told = json.loads(place(store, card).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) and told.keys() == set(FIELDS) else None


def try_out(store: Store, card: OpenAIModel, budget: Budget | None = None) -> Findings:
    """Find out what an endpoint can do, keep it, all or nothing, and say it."""
    store.ready()
    findings = OpenAIEngine(card, budget=budget).findings()
    with whole(place(store, card)) as part:
        part.write_text(canonical(findings) + "\n", encoding="utf-8")
    told = ", ".join(f"{field} {finding}" for field, finding in findings.items())
    print(f"the endpoint was tried out: {told}", flush=True)
    return findings


def able(judge: Judge, findings: Findings) -> Judge:
    """Return the judge as the endpoint can answer it: as it is, or by its fallback.

    Raises UserError where the endpoint cannot and the judge's card allows nothing else.
    """
    if judge.structured and not works(findings, NEEDS[judge.structured]):
        raise _unable(judge, f"structured: {judge.structured}", findings, NEEDS[judge.structured])
    if judge.estimator != "logprob_mean" or works(findings, "logprobs"):
        return judge
    if judge.fallback is None:
        raise _unable(judge, "estimator: logprob_mean", findings, "logprobs")
    return judge.model_copy(update={"estimator": "mean", **judge.fallback.model_dump()})


def _unable(judge: Judge, key: str, findings: Mapping[str, str], field: str) -> UserError:
    return UserError(
        "the endpoint cannot answer this judge",
        where=f"judges/{judge.judge}.yaml, key {key}",
        got=f"the field {field} is {findings[field]}",
        todo=("allow a `fallback`" if field == "logprobs" else "leave the key out")
        + "; if the endpoint has changed, delete the probe-*.json beside the model's replies",
    )
