"""OpenAI's chat protocol: the body of a request, and what an answer says. No network here."""

import asyncio
import json
import re
import zlib
from collections.abc import AsyncIterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import isfinite
from typing import Any

import orjson

from judgescope.core.redaction import Redactor
from judgescope.engines.requests import Reply, Request, is_count
from judgescope.schema.cards import OpenAIModel

HALVES = re.compile("[\ud800-\udfff]")
"""Halves of surrogate pairs, which no file can hold."""
MOST_BYTES = 1 << 27
"""Of an answer, unpacked: more than many long draws with all their probabilities have."""

KIND = 80
"""Characters of an error's type or code that are compared."""

AT_ONCE = 1 << 18
"""Bytes of an unpacked answer for which no other thread is worth its while."""
PIECE = 1 << 16
"""Bytes of a packed answer that are unpacked at a time."""
UNPACKING = ThreadPoolExecutor(1)
"""One after the other: each may take as much memory as an answer may have."""
UNPACKED = ("gzip", "x-gzip", "deflate")
ACCEPTED = "gzip, deflate"
"""The packings that are asked for."""

Logprobs = list[list[tuple[str, float]]]


class NoReplyError(Exception):
    """An answer in which there is no reply, and why."""


def body(card: OpenAIModel, request: Request, draws: Sequence[int]) -> dict[str, Any]:
    """Return the body that asks for the draws, which follow each other; their seed is the first's.

    What a card's `field_names` names otherwise is renamed, what it leaves out is not sent.
    """
    asked = request.asked
    fields = {name: asked[name] for name in ("temperature", "top_p", "max_tokens") if name in asked}
    fields["seed"] = request.seed(draws[0])
    if len(draws) > 1:
        fields["n"] = len(draws)
    spelled = {card.field_names.get(name, name): value for name, value in fields.items()}
    spelled.pop(None, None)
    model = {"model": asked["model"], "messages": asked["messages"]}
    return {**asked["extra_body"], **model, **spelled, **_further(asked)}


def _further(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields for what only some requests want."""
    fields: dict[str, Any] = {"stop": asked["stop"]} if "stop" in asked else {}
    if "logprobs" in asked:
        fields |= {"logprobs": True, "top_logprobs": asked["logprobs"]}
    if "choices" in asked:
        fields["structured_outputs"] = {"choice": asked["choices"]}
    if "json_schema" in asked:
        schema = {"name": "verdict", "strict": True, "schema": asked["json_schema"]}
        fields["response_format"] = {"type": "json_schema", "json_schema": schema}
    return fields


async def text_of(parts: AsyncIterable[bytes], packed: str = "") -> str:
    """Return the text of an answer that comes in parts, packed as its Content-Encoding says.

    NoReplyError if it would not end, unfolds into too much, or cannot be unpacked.
    """
    whole = bytearray()
    async for part in parts:
        whole += part
        if len(whole) > MOST_BYTES:
            raise NoReplyError(f"an answer of more than {MOST_BYTES:,} bytes")
    if packed:
        whole = await _unpacked(whole, packed.strip().lower())
    return whole.decode("utf-8", "replace")


async def _unpacked(data: bytearray, packed: str) -> bytearray:
    """Return what was packed; what unfolds into much is unpacked while other answers are read."""
    if packed == "identity":
        return data
    if packed not in UNPACKED:
        raise NoReplyError(f"an answer packed as nobody asked: {packed[:KIND]!r}")
    plain = packed == "deflate" and data[:1] and data[0] & 0x0F != zlib.DEFLATED
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS if plain else zlib.MAX_WBITS | 32)
    found = bytearray()
    try:
        if len(data) <= PIECE:
            found += unpacker.decompress(data, AT_ONCE)
            data = bytearray(unpacker.unconsumed_tail)
        if not unpacker.eof:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(UNPACKING, _unfold, unpacker, memoryview(data), found)
    except zlib.error:
        raise NoReplyError("an answer that cannot be unpacked") from None
    if not unpacker.eof:
        raise NoReplyError("an answer whose packing breaks off")
    return found


def _unfold(unpacker: "zlib._Decompress", data: memoryview, found: bytearray) -> None:
    """Add to `found` what is packed in the data, up to the limit of an answer."""
    for start in range(0, len(data), PIECE):
        rest: bytes | memoryview = data[start : start + PIECE]
        while rest:
            found += unpacker.decompress(rest, AT_ONCE)
            rest = unpacker.unconsumed_tail
            if len(found) > MOST_BYTES:
                raise NoReplyError(f"an answer that unfolds into more than {MOST_BYTES:,} bytes")
    found += unpacker.flush()


def read_replies(text: str, request: Request, draws: Sequence[int]) -> list[Reply]:
    """Return the replies in an answer, the first draw's first; fewer where some were withheld.

    What the whole answer cost stands with its first reply. Reasoning that came apart is put before
    the text as a `<think>` block: nothing paid for is lost. NoReplyError if there is no reply.
    """
    answer = _loads(text)
    choices = answer.get("choices") if isinstance(answer, dict) else None
    told = choices if isinstance(choices, list) else []
    said = [found for one in told if (found := _said(one)) is not None]
    if not said:
        raise NoReplyError("an answer without a reply")
    usage, provenance = _usage(answer.get("usage")), _provenance(answer)
    nothing = usage and dict.fromkeys(usage, 0)
    return [
        Reply(
            request.key,
            draw,
            words,
            finish=finish,
            usage=nothing if number else usage,
            provenance=provenance,
            logprobs=logprobs if "logprobs" in request.asked else None,
        )
        for number, (draw, (words, finish, logprobs)) in enumerate(zip(draws, said, strict=False))
    ]


def _said(choice: Any) -> tuple[str, str, Logprobs | None] | None:
    """Return a choice's text, how it ended, and its log probabilities; None if it has no text."""
    try:
        message, finish = choice["message"], choice.get("finish_reason")
        said = message.get("content")
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        refusal = message.get("refusal")
    except (KeyError, TypeError, AttributeError):
        return None
    if isinstance(said, list):  # content in parts
        said = "".join(str(part.get("text") or "") for part in said if isinstance(part, dict))
    if refusal and not said:
        said, finish = refusal, "content_filter"
    if reasoning:
        said = f"<think>{reasoning}</think>\n{said or ''}"
    return str(said or ""), str(finish or "stop"), _logprobs(choice.get("logprobs"))


def _logprobs(told: Any) -> Logprobs | None:
    """Return per token the one that came, then the likeliest others; None if there are none.

    Some say minus infinity, which no journal can hold: such others are left out; of one that came,
    nothing is known.
    """
    try:
        found = [
            [
                (str(token["token"]), float(token["logprob"])),
                *(
                    (str(other["token"]), float(other["logprob"]))
                    for other in token.get("top_logprobs") or []
                    if other["token"] != token["token"] and isfinite(float(other["logprob"]))
                ),
            ]
            for token in told["content"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return found if found and all(isfinite(one[0][1]) for one in found) else None


def spells(logprobs: Logprobs | None, redactor: Redactor) -> bool:
    """Return whether tokens spell a secret: those that were chosen together, or any by itself."""
    chosen = "".join(tokens[0][0] for tokens in logprobs or ())
    spelled = "\n".join([chosen, *(token for tokens in logprobs or () for token, _ in tokens)])
    return redactor.redact(spelled) != spelled


def _usage(told: Any) -> dict[str, int] | None:
    if not isinstance(told, dict):
        return None
    found = {
        "prompt": told.get("prompt_tokens"),
        "completion": told.get("completion_tokens"),
        "reasoning": _within(told, "completion_tokens_details", "reasoning_tokens"),
        "cached": _within(told, "prompt_tokens_details", "cached_tokens"),
    }
    return {name: count for name, count in found.items() if is_count(count)}


def _within(told: dict[str, Any], outer: str, inner: str) -> Any:
    details = told.get(outer)
    return details.get(inner) if isinstance(details, dict) else None


def _provenance(answer: dict[str, Any]) -> dict[str, str]:
    told = {"model": answer.get("model"), "fingerprint": answer.get("system_fingerprint")}
    return {"engine": "openai", **{name: str(value) for name, value in told.items() if value}}


def _loads(text: str) -> Any:
    """Return JSON; halves of surrogate pairs become U+FFFD."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        loaded = json.loads(text.lstrip("\ufeff"), parse_constant=lambda _: None)
        whole = json.dumps(loaded, ensure_ascii=False)
        return orjson.loads(HALVES.sub("\ufffd", whole))
    except (ValueError, RecursionError):
        raise NoReplyError("an answer that is not JSON") from None


def error_kind(text: str) -> str:
    """Return type and code of an endpoint's error, where it names them: they never count down."""
    try:
        told = json.loads(text)
        error = told.get("error") if isinstance(told.get("error"), dict) else told
        named = [error[name] for name in ("type", "code") if isinstance(error.get(name), str | int)]
    except (ValueError, AttributeError, RecursionError):
        return ""
    return " ".join(str(one)[:KIND] for one in named)


def message_of(text: str) -> str:
    """Return the message inside an endpoint's error, in whatever shape it came."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "message", "detail"):
        if isinstance(told, dict) and told.get(name):
            told = told[name]
    return told if isinstance(told, str) else json.dumps(told)
