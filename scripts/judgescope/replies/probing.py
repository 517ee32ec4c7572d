"""Probes an endpoint's capabilities with a few small requests before judges are asked.

Many endpoints silently ignore fields. The findings are stored next to the replies, for
each model and address, and printed to the job's log.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.files import atomic_write
from judgescope.core.finish import ending
from judgescope.engines.openai.wire import field_line
from judgescope.engines.requests import Probed, RefusedError, Reply, request_of
from judgescope.prompts.filling import as_messages
from judgescope.replies.store import Store
from judgescope.schema.cards import Decoding, Judge, OpenAIModel, ProbedModel

Finding = Literal["honoured", "ignored", "refused", "unknown"]
Findings = dict[str, Finding]
"""Field -> what the endpoint does with it; `unknown` if the replies do not show it. A
field that no judge needs may be missing."""
FIELDS = ("max_tokens", "seed", "n", "logprobs", "json_schema", "choice", "system")
ALWAYS = frozenset(("max_tokens", "seed"))
"""The fields that are tested whatever the judges need."""
WITHOUT_LOGPROBS: Findings = {"logprobs": "ignored"}


@dataclass(frozen=True)
class ProbeRequests:
    """What test requests ask."""

    short_tokens: int = 8
    """Fewer tokens than the requested answer needs."""
    long_tokens: int = 48
    endless: str = (
        "Write the names of the numbers from one to one hundred, separated by commas."
    )
    plain: str = "Say hello."
    usual: tuple[float, float] = (1.0, 1.0)
    """Temperature and top_p of most test requests."""


PROBE: Final = ProbeRequests()
CHOICES = ["north", "south"]


def needed_fields(judges: Iterable[Judge]) -> set[str]:
    """Return the fields that a run of some judges has to know about.

    >>> from judgescope.schema.cards import Judge
    >>> judge = Judge(judge="j", model="m", form="score-only", draws=3)
    >>> sorted(needed_fields([judge]))
    ['max_tokens', 'n', 'seed']
    """
    fields = set(ALWAYS)
    for judge in judges:
        draws = max(judge.draws, judge.fallback.draws if judge.fallback else 1)
        if draws > 1:
            fields.add("n")
        fields |= set(_requirements(judge).values())
        if judge.system:
            fields.add("system")
    return fields


def untested(findings: Findings | None, judges: Iterable[Judge]) -> set[str]:
    """Return the fields that the judges need and that were not tested yet."""
    return needed_fields(judges) - (findings or {}).keys()


def _requirements(judge: Judge) -> dict[str, str]:
    """Return key of a judge's card -> the field without which the judge cannot run."""
    required: dict[str, str] = {}
    # A judge's `structured` -> the field that it needs.
    needs = {"choice": "choice", "json": "json_schema"}
    if judge.structured:
        required[f"structured: {judge.structured}"] = needs[judge.structured]
    if judge.estimator == "logprob_mean":
        required["estimator: logprob_mean"] = "logprobs"
    elif judge.needs_logprobs:
        required["confidence: logprobs"] = "logprobs"
    return required


class _Prober:
    """Sends test requests; `engine` is one whose requests the endpoint accepts."""

    def __init__(self, engine: Probed, limit: int | None) -> None:
        self.engine = engine
        self._left = limit

    @property
    def may_send(self) -> bool:
        """Return whether the limit on requests allows another one."""
        return self._left is None or self._left > 0

    def ask(
        self,
        prompt: str,
        tokens: int,
        *draws: int,
        sampling: tuple[float, float] = PROBE.usual,
        system: str = "",
        **wants: Any,
    ) -> list[Reply] | None:
        """Return the replies to a test request; None if the field that it adds is
        refused.

        Of a request without an additional field, a field that a refusal names is
        renamed or left out. Raises UserError if such a request is refused even so.
        """
        adds_field = bool(wants or system) or len(draws) > 1
        decoding = Decoding(
            temperature=sampling[0], top_p=sampling[1], max_tokens=tokens
        )
        messages = as_messages(prompt, system, self.engine.card.system_role)
        trial = self.engine
        tried = list[ProbedModel]()
        while True:
            request = request_of(trial.card, decoding, messages, seed=0, wants=wants)
            if self._left is not None:
                self._left -= 1
            try:
                replies = trial.request(request, draws or [0])
            except RefusedError as error:
                if adds_field:
                    # The same request without it was answered, whatever the message
                    # says of the other fields.
                    return None
                tried.append(trial.card)
                other = None
                if self.may_send:
                    other = trial.respelled(str(error))
                if other is not None and other.card not in tried:
                    trial = other
                    continue
                raise self.engine.refusal(error) from None
            self.engine = trial
            return replies


def probe(
    engine: Probed,
    judges: Iterable[Judge] = (),
    known: Findings | None = None,
    limit: int | None = None,
) -> tuple[Findings, Probed]:
    """Return what the endpoint does with the fields that the judges need, and an engine
    whose requests it accepts.

    The first requests are plain; each other one adds one field, so that a refusal shows
    what the endpoint does with this field. Fields that are `known` are not tested
    again. The engine is a new one if the endpoint refuses a field of every request by
    name, also with the temperature and top_p of the `judges`. `limit`: the maximum
    number of requests; findings that would need more are left out. Raises UserError if
    a plain request is refused or gets no answer.
    """
    judges = list(judges)
    prober = _Prober(engine, limit)
    findings: Findings = dict(known or {})
    fields = untested(known, judges)
    first = prober.ask(PROBE.endless, PROBE.short_tokens, 0) or []
    if fields & ALWAYS:
        again = prober.ask(PROBE.endless, PROBE.short_tokens, 0) or []
        other = prober.ask(PROBE.endless, PROBE.short_tokens, 1) or []
        findings["max_tokens"] = _finding(first, _is_short)
        findings["seed"] = _seed_finding(first, again, other)
    # servers that Judgescope starts know all fields
    if isinstance(prober.engine.card, OpenAIModel):
        usual = {(judge.temperature, judge.top_p) for judge in judges} - {PROBE.usual}
        for sampling in sorted(usual):
            if prober.may_send:
                prober.ask(PROBE.plain, PROBE.short_tokens, sampling=sampling)
    tests: dict[str, Callable[[], Finding]] = {
        "n": lambda: _finding(
            prober.ask(PROBE.endless, PROBE.short_tokens, 0, 1),
            lambda replies: len(replies) > 1,
        ),
        "logprobs": lambda: _finding(
            prober.ask(PROBE.plain, PROBE.short_tokens, logprobs=5),
            lambda replies: replies[0].logprobs is not None,
        ),
        "choice": lambda: _finding(
            prober.ask(PROBE.plain, PROBE.long_tokens, choices=CHOICES),
            lambda replies: replies[0].text.strip() in CHOICES,
        ),
        "json_schema": lambda: _finding(
            prober.ask(PROBE.plain, PROBE.long_tokens, json_schema=_schema()),
            _fits_schema,
        ),
        # whether a system message is heeded cannot be seen in a reply
        "system": lambda: _finding(
            prober.ask(PROBE.plain, PROBE.short_tokens, system="You are polite."),
            lambda replies: True,
        ),
    }
    for field, test in tests.items():
        if field in fields and prober.may_send:
            findings[field] = test()
    return findings, prober.engine


def _finding(
    replies: list[Reply] | None, honoured: Callable[[list[Reply]], bool]
) -> Finding:
    if replies is None:
        return "refused"
    return "honoured" if honoured(replies) else "ignored"


def _seed_finding(
    first: list[Reply], again: list[Reply], other: list[Reply]
) -> Finding:
    """Return whether equal seeds give equal texts, which is evidence only if other
    seeds give other texts.
    """
    if first[0].text != again[0].text:
        return "ignored"
    if first[0].text != other[0].text:
        return "honoured"
    return "unknown"


def answers(engine: Probed) -> bool:
    """Return whether an endpoint answers a plain request now."""
    decoding = Decoding(
        temperature=PROBE.usual[0], top_p=PROBE.usual[1], max_tokens=PROBE.short_tokens
    )
    message = {"role": "user", "content": PROBE.plain}
    request = request_of(engine.card, decoding, [message], seed=0)
    try:
        engine.request(request, [0])
    except (RefusedError, UserError):
        return False
    return True


def _is_short(replies: list[Reply]) -> bool:
    tokens = (replies[0].usage or {}).get("completion")
    if ending(replies[0].finish) == "cut":
        return True
    return tokens is not None and tokens <= PROBE.short_tokens


def _schema() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"direction": {"enum": CHOICES}},
        "required": ["direction"],
        "additionalProperties": False,
    }


def _fits_schema(replies: list[Reply]) -> bool:
    try:
        value = json.loads(replies[0].text)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("direction") in CHOICES


def findings_path(store: Store, card: ProbedModel) -> Path:
    """Return the path of the findings about a model at its address."""
    # Raise it if the probe changes: findings of other versions are not read.
    version = 1
    probed = canonical({"version": version, **card.probed()})
    digest = hashlib.sha256(probed.encode()).hexdigest()[:16]
    return store.shard / f"probe-{digest}.json"


def read_findings(store: Store, card: ProbedModel) -> Findings | None:
    """Return the findings about an endpoint, or None if it was not probed."""
    try:
        findings = json.loads(findings_path(store, card).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole_set = isinstance(findings, dict) and ALWAYS <= findings.keys() <= set(FIELDS)
    return findings if whole_set else None


class TriedOut(NamedTuple):
    """What a probe found: the findings, the fields of the card that are refused, and
    the `field_names` that the card needs; both are empty if it can stay as it is.
    """

    findings: Findings
    refused: list[str]
    names: Mapping[str, str | None]


def tried_out(
    store: Store,
    engine: Probed,
    judges: Iterable[Judge] = (),
    limit: int | None = None,
) -> TriedOut:
    """Probe an endpoint for what the judges need, add the findings to those stored, and
    print them.

    `limit`: see `probe`.
    """
    store.ready()
    known = read_findings(store, engine.card)
    findings, accepted = probe(engine, judges, known, limit)
    with atomic_write(findings_path(store, accepted.card)) as part:
        part.write_text(canonical(findings) + "\n", encoding="utf-8")
    listed = ", ".join(
        f"{field} {findings[field]}" for field in FIELDS if field in findings
    )
    print(f"endpoint probe: {listed}", flush=True)
    if not isinstance(engine.card, OpenAIModel) or accepted.card == engine.card:
        return TriedOut(findings, [], {})
    assert isinstance(accepted.card, OpenAIModel)
    names = accepted.card.field_names
    before = engine.card.field_names
    refused = []
    for name in {**before, **names}:
        if names.get(name, name) != before.get(name, name):
            refused.append(before.get(name) or name)
    return TriedOut(findings, refused, names)


def try_out(store: Store, engine: Probed, judges: Iterable[Judge] = ()) -> Findings:
    """Probe an endpoint as `tried_out` does.

    If the endpoint refuses a field that the card sends, raises UserError with a line to
    add to the card. Judgments never use settings that are not on the card, as a reply's
    key includes them.
    """
    findings, refused, names = tried_out(store, engine, judges)
    if refused:
        raise engine.error(
            f"the endpoint refuses fields that the card sends: {', '.join(refused)}",
            f"write `{field_line(names)}` into the card, since the endpoint accepts "
            "this, and run again (`judgescope check STUDY --probe --write` writes it); "
            "no judgment was requested",
        )
    return findings


def _alternative(judge: Judge, field: str) -> str:
    if field == "logprobs" and judge.estimator != "logprob_mean":
        return "leave `confidence` out, or write `confidence: draws` with several draws"
    # Field -> what a judge's card can say in its place.
    alternatives = {
        "logprobs": "write `estimator: mean` with `draws` above 1 and a temperature "
        "above 0 into the judge's card, or allow a `fallback`"
    }
    return alternatives.get(field, "omit the key")


def able(judge: Judge, findings: Findings) -> Judge:
    """Return the judge in a version that the endpoint supports: unchanged, or its
    fallback.

    Raises UserError if the endpoint supports neither, or the judge's card has no
    fallback.
    """
    if judge.system and findings.get("system") == "refused":
        raise UserError(
            "this model accepts no system message",
            where=f"judges/{judge.judge}.yaml, key system",
            got=judge.system,
            todo=f"write `system_role: user` in models/{judge.model}.yaml, which puts "
            "the message at the head of the prompt; or leave `system` out",
        )
    for key, field in _requirements(judge).items():
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
            todo=f"{_alternative(judge, field)}; if the endpoint has "
            "changed, delete probe-*.json in the folder of the model's replies",
        )
    return judge
