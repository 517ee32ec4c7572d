"""Probes an endpoint's capabilities with a few small requests before judges are asked.

Many endpoints silently ignore fields. The findings are stored next to the replies, for
each model and address, and printed to the job's log.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.files import whole
from judgescope.core.finish import ending
from judgescope.engines.openai.wire import field_line
from judgescope.engines.requests import Probed, RefusedError, Reply, request_of
from judgescope.replies.store import Store
from judgescope.schema.cards import Decoding, Judge, OpenAIModel, ProbedModel

Finding = Literal["honoured", "ignored", "refused", "unknown"]
Findings = dict[str, Finding]
"""Field -> what the endpoint does with it; `unknown` if the replies do not show it."""
FIELDS = ("max_tokens", "seed", "n", "logprobs", "json_schema", "choice")
WITHOUT_LOGPROBS: Findings = {"logprobs": "ignored"}
VERSION = 1  # raise it if the probe changes: findings of other versions are not read
NEEDS = {"choice": "choice", "json": "json_schema"}
"""A judge's `structured` -> the field that it needs."""
SHORT_TOKENS = 8  # fewer than the requested answer needs
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


def probe(engine: Probed, judges: Iterable[Judge] = ()) -> tuple[Findings, Probed]:
    """Return what the endpoint does with each field, and an engine whose requests it
    accepts.

    The engine is a new one if the endpoint refuses a field of every request by name,
    also with the temperature and top_p of the `judges`. Raises UserError if a plain
    request is refused or gets no answer.
    """
    usual = (1.0, 1.0)  # temperature and top_p

    def ask(
        prompt: str,
        tokens: int,
        *draws: int,
        sampling: tuple[float, float] = usual,
        **wants: Any,
    ) -> list[Reply] | None:
        nonlocal engine
        decoding = Decoding(
            temperature=sampling[0], top_p=sampling[1], max_tokens=tokens
        )
        message = {"role": "user", "content": prompt}
        trial, tried = engine, list[ProbedModel]()
        while True:
            request = request_of(trial.card, decoding, [message], seed=0, wants=wants)
            try:
                replies = trial.request(request, draws or [0])
            except RefusedError as error:
                tried.append(trial.card)
                other = trial.respelled(str(error))
                if other is not None and other.card not in tried:
                    trial = other
                    continue
                if wants or len(draws) > 1:
                    return None
                raise engine.error(
                    f"the endpoint refused a simple test request: {error}",
                    "check name, base_url, field_names and extra_body in the card",
                ) from None
            engine = trial
            return replies

    def finding(
        replies: list[Reply] | None, honoured: Callable[[list[Reply]], bool]
    ) -> Finding:
        if replies is None:
            return "refused"
        return "honoured" if honoured(replies) else "ignored"

    first, again, other = (ask(ENDLESS, SHORT_TOKENS, draw) or [] for draw in (0, 0, 1))
    if isinstance(
        engine.card, OpenAIModel
    ):  # servers that Judgescope starts know all fields
        for sampling in sorted(
            {(one.temperature, one.top_p) for one in judges} - {usual}
        ):
            ask(PLAIN, SHORT_TOKENS, sampling=sampling)
    several = ask(ENDLESS, SHORT_TOKENS, 0, 1)
    scored = ask(PLAIN, SHORT_TOKENS, logprobs=5)
    chosen = ask(PLAIN, LONG_TOKENS, choices=CHOICES)
    filled = ask(PLAIN, LONG_TOKENS, json_schema=SCHEMA)
    # equal seeds must give equal texts, which is evidence only if other seeds give
    # other texts
    seed: Finding = "honoured" if first[0].text != other[0].text else "unknown"
    findings: Findings = {
        "max_tokens": finding(first, _is_short),
        "seed": seed if first[0].text == again[0].text else "ignored",
        "n": finding(several, lambda replies: len(replies) > 1),
        "logprobs": finding(scored, lambda replies: replies[0].logprobs is not None),
        "json_schema": finding(filled, _fits_schema),
        "choice": finding(chosen, lambda replies: replies[0].text.strip() in CHOICES),
    }
    return findings, engine


def _is_short(replies: list[Reply]) -> bool:
    tokens = (replies[0].usage or {}).get("completion")
    return ending(replies[0].finish) == "cut" or (
        tokens is not None and tokens <= SHORT_TOKENS
    )


def _fits_schema(replies: list[Reply]) -> bool:
    try:
        value = json.loads(replies[0].text)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("direction") in CHOICES


def findings_path(store: Store, card: ProbedModel) -> Path:
    """Return the path of the findings about a model at its address."""
    probed = canonical({"version": VERSION, **card.probed()})
    digest = hashlib.sha256(probed.encode()).hexdigest()[:16]
    return store.shard / f"probe-{digest}.json"


def read_findings(store: Store, card: ProbedModel) -> Findings | None:
    """Return the findings about an endpoint, or None if it was not probed."""
    try:
        findings = json.loads(findings_path(store, card).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return (
        findings
        if isinstance(findings, dict) and findings.keys() == set(FIELDS)
        else None
    )


def try_out(store: Store, engine: Probed, judges: Iterable[Judge] = ()) -> Findings:
    """Probe an endpoint, store all findings or none, and print them.

    If the endpoint refuses a field that the card sends, raises UserError with a line to
    add to the card. Judgments never use settings that are not on the card, as a reply's
    key includes them.
    """
    store.ready()
    findings, accepted = probe(engine, judges)
    with whole(findings_path(store, accepted.card)) as part:
        part.write_text(canonical(findings) + "\n", encoding="utf-8")
    listed = ", ".join(f"{field} {finding}" for field, finding in findings.items())
    print(f"endpoint probe: {listed}", flush=True)
    if isinstance(engine.card, OpenAIModel) and accepted.card != engine.card:
        assert isinstance(accepted.card, OpenAIModel)
        names, before = accepted.card.field_names, engine.card.field_names
        refused = [
            before.get(name) or name
            for name in {**before, **names}
            if names.get(name, name) != before.get(name, name)
        ]
        raise engine.error(
            f"the endpoint refuses fields that the card sends: {', '.join(refused)}",
            f"write `{field_line(names)}` into the card, since the endpoint accepts "
            "this, and run again; no judgment was requested",
        )
    return findings


def able(judge: Judge, findings: Findings) -> Judge:
    """Return the judge in a version that the endpoint supports: unchanged, or its
    fallback.

    Raises UserError if the endpoint supports neither, or the judge's card has no
    fallback.
    """
    needed: dict[str, str] = {}  # key of the card -> the field that it needs
    if judge.structured:
        needed[f"structured: {judge.structured}"] = NEEDS[judge.structured]
    if judge.estimator == "logprob_mean":
        needed["estimator: logprob_mean"] = "logprobs"
    for key, field in needed.items():
        if findings.get(field, "unknown") in {"honoured", "unknown"}:
            continue
        if field == "logprobs" and judge.fallback is not None:
            return judge.model_copy(
                update={"estimator": "mean", **judge.fallback.model_dump()}
            )
        raise UserError(
            "the endpoint does not support a setting of this judge",
            where=f"judges/{judge.judge}.yaml, key {key}",
            got=f"the field {field} is {findings[field]}",
            todo=("allow a `fallback`" if field == "logprobs" else "omit the key")
            + "; if the endpoint has changed, delete probe-*.json in the folder of the "
            "model's replies",
        )
    return judge
