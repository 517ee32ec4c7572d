"""What an endpoint can do, found out by a few small requests before judges are asked.

Many endpoints ignore fields silently. The findings are kept beside the replies, for each model and
address, and printed to the job's log.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.files import whole
from judgescope.engines.requests import Probed, RefusedError, Reply, request_of
from judgescope.replies.store import Store
from judgescope.schema.cards import Decoding, Judge, ProbedModel

Finding = Literal["honoured", "ignored", "refused", "unknown"]
Findings = dict[str, Finding]
"""Field -> what the endpoint does with it; `unknown` if the replies do not tell."""
FIELDS = ("max_tokens", "seed", "n", "logprobs", "json_schema", "choice")
VERSION = 1  # raise it if the probe changes: findings of other versions are not read
NEEDS = {"choice": "choice", "json": "json_schema"}
"""A judge's `structured` -> the field that it needs."""
SHORT_TOKENS = 8  # too few for the answer that the prompt asks for
LONG_TOKENS = 48
ENDLESS = "Write the names of the numbers from one to one hundred, separated by commas."
PLAIN = "Say hello."
CHOICES = ["north", "south"]
SCHEMA = {
    "type": "object",
    "properties": {"direction": {"enum": CHOICES}},
    "required": ["direction"],
    "additionalProperties": False,
}


def probe(engine: Probed) -> Findings:
    """Return what the endpoint does with each field.

    Raises UserError if it refuses a plain request, or does not answer.
    """

    def ask(prompt: str, tokens: int, *draws: int, **wants: Any) -> list[Reply] | None:
        decoding = Decoding(temperature=1.0, max_tokens=tokens)
        message = {"role": "user", "content": prompt}
        request = request_of(engine.card, decoding, [message], seed=0, wants=wants)
        try:
            return engine.request(request, draws or [0])
        except RefusedError as error:
            if wants or len(draws) > 1:
                return None
            raise engine.error(
                f"the endpoint refuses a plain request: {error}",
                "check name, base_url, field_names and extra_body of the card",
            ) from None

    def finding(replies: list[Reply] | None, honoured: Callable[[list[Reply]], bool]) -> Finding:
        if replies is None:
            return "refused"
        return "honoured" if honoured(replies) else "ignored"

    first, again, other = (ask(ENDLESS, SHORT_TOKENS, draw) or [] for draw in (0, 0, 1))
    several = ask(ENDLESS, SHORT_TOKENS, 0, 1)
    scored = ask(PLAIN, SHORT_TOKENS, logprobs=5)
    chosen = ask(PLAIN, LONG_TOKENS, choices=CHOICES)
    filled = ask(PLAIN, LONG_TOKENS, json_schema=SCHEMA)
    # one seed twice must give one text, which says something only if another seed gives another
    seed: Finding = "honoured" if first[0].text != other[0].text else "unknown"
    return {
        "max_tokens": finding(first, _is_short),
        "seed": seed if first[0].text == again[0].text else "ignored",
        "n": finding(several, lambda replies: len(replies) > 1),
        "logprobs": finding(scored, lambda replies: replies[0].logprobs is not None),
        "json_schema": finding(filled, _fits_schema),
        "choice": finding(chosen, lambda replies: replies[0].text.strip() in CHOICES),
    }


def _is_short(replies: list[Reply]) -> bool:
    tokens = (replies[0].usage or {}).get("completion")
    return replies[0].finish == "length" or (tokens is not None and tokens <= SHORT_TOKENS)


def _fits_schema(replies: list[Reply]) -> bool:
    try:
        value = json.loads(replies[0].text)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("direction") in CHOICES


def findings_path(store: Store, card: ProbedModel) -> Path:
    """Return the file for the findings about a model at its address."""
    probed = canonical({"version": VERSION, **card.probed()})
    digest = hashlib.sha256(probed.encode()).hexdigest()[:16]
    return store.shard / f"probe-{digest}.json"


def read_findings(store: Store, card: ProbedModel) -> Findings | None:
    """Return the findings about an endpoint, None if it was not probed."""
    try:
        findings = json.loads(findings_path(store, card).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return findings if isinstance(findings, dict) and findings.keys() == set(FIELDS) else None


def try_out(store: Store, engine: Probed) -> Findings:
    """Probe an endpoint, keep all findings or none, and print them."""
    store.ready()
    findings = probe(engine)
    with whole(findings_path(store, engine.card)) as part:
        part.write_text(canonical(findings) + "\n", encoding="utf-8")
    listed = ", ".join(f"{field} {finding}" for field, finding in findings.items())
    print(f"endpoint probe: {listed}", flush=True)
    return findings


def able(judge: Judge, findings: Findings) -> Judge:
    """Return the judge as the endpoint can answer it: unchanged, or its fallback.

    Raises UserError if it cannot answer and the judge's card has no fallback.
    """

    def works(field: str) -> bool:
        return findings.get(field, "unknown") in {"honoured", "unknown"}

    if judge.structured and not works(NEEDS[judge.structured]):
        raise _unable(judge, f"structured: {judge.structured}", findings, NEEDS[judge.structured])
    if judge.estimator != "logprob_mean" or works("logprobs"):
        return judge
    if judge.fallback is None:
        raise _unable(judge, "estimator: logprob_mean", findings, "logprobs")
    return judge.model_copy(update={"estimator": "mean", **judge.fallback.model_dump()})


def _unable(judge: Judge, key: str, findings: Findings, field: str) -> UserError:
    return UserError(
        "the endpoint does not support a setting of this judge",
        where=f"judges/{judge.judge}.yaml, key {key}",
        got=f"the field {field} is {findings[field]}",
        todo=("allow a `fallback`" if field == "logprobs" else "omit the key")
        + "; if the endpoint has changed, delete the probe-*.json beside the model's replies",
    )
