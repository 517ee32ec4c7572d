"""OpenAI's chat protocol: the body of a request and the contents of an answer. No
network.
"""

import asyncio
import json
import re
import zlib
from collections.abc import AsyncIterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import isfinite
from typing import Any, NamedTuple

from judgescope.core.finish import ending
from judgescope.core.names import CONTENT, MissingContent
from judgescope.core.secrets import Redactor
from judgescope.core.tools import is_other_tool
from judgescope.engines.requests import MOST_TOKENS, Logprobs, Reply, Request, counted
from judgescope.schema.cards import OpenAIModel
from judgescope.schema.edited import flow_line

HALVES = re.compile("[\ud800-\udfff]")  # unpaired surrogates, which no file can hold
MOST_BYTES = 1 << 27
"""Of a decompressed answer: more than many long draws with all their log
probabilities."""
AT_ONCE = 1 << 18  # bytes that are decompressed without another thread
PIECE = 1 << 16  # compressed bytes that are decompressed at a time
UNPACKING = ThreadPoolExecutor(
    1
)  # one thread: each answer may take MOST_BYTES of memory
ACCEPTED = "gzip, deflate"  # the value of Accept-Encoding


class NoReplyError(Exception):
    """An answer without a reply, and the reason; `billed`: its usage, none if it is
    free.
    """

    def __init__(
        self, reason: str, billed: Sequence[dict[str, int] | None] = (None,)
    ) -> None:
        super().__init__(reason)
        self.billed = billed


def body(card: OpenAIModel, request: Request, draws: Sequence[int]) -> dict[str, Any]:
    """Return the body that asks for consecutive draws; their seed is the first's.

    The card's `field_names` renames fields, or leaves them out.
    """
    asked = request.asked
    fields = {}
    for name in ("temperature", "top_p", "max_tokens"):
        if name in asked:
            fields[name] = asked[name]
    fields["seed"] = request.seed(draws[0])
    if len(draws) > 1:
        fields["n"] = len(draws)
    spelled = {
        card.field_names.get(name, name): value for name, value in fields.items()
    }
    sent = {
        **asked["extra_body"],
        "model": asked["model"],
        "messages": asked["messages"],
    }
    sent |= {name: value for name, value in spelled.items() if name is not None}
    if "stop" in asked:
        sent["stop"] = asked["stop"]
    if "logprobs" in asked:
        sent |= {"logprobs": True, "top_logprobs": asked["logprobs"]}
    if "choices" in asked and asked["engine"] == "llama":
        # llama.cpp does not know vLLM's field; this replaces the card's grammar
        sent["grammar"] = "root ::= " + " | ".join(map(json.dumps, asked["choices"]))
    elif "choices" in asked:
        sent["structured_outputs"] = {"choice": asked["choices"]}
    if "json_schema" in asked:
        schema = {"name": "verdict", "strict": True, "schema": asked["json_schema"]}
        sent["response_format"] = {"type": "json_schema", "json_schema": schema}
    return sent


def respelled(card: OpenAIModel, reason: str) -> dict[str, str | None] | None:
    """Return the card's `field_names` changed as a refusal asks for; None if it names
    no field.

    The limit of tokens gets its other name; temperature, top_p and seed are not sent
    any more. A guess: a message may name a field for its value.
    """
    # Fields of every request that an endpoint may refuse, and that a card can rename or
    # leave out. Some endpoints refuse temperature together with top_p: judges then keep
    # their temperature.
    respelled_names = ("max_tokens", "top_p", "temperature", "seed")
    most_tokens_names = ("max_tokens", "max_completion_tokens")
    for name in respelled_names:
        sent = card.field_names.get(name, name)
        names = most_tokens_names if sent in most_tokens_names else (sent,)
        if sent is None or not any(_names(reason, each) for each in names if each):
            continue
        other = next((each for each in names if each != sent), None)
        changed = {**card.field_names, name: other}
        return {
            field: spelled for field, spelled in changed.items() if spelled != field
        }
    return None


def _names(text: str, field: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(field)}(?![\w-])", text) is not None


def field_line(names: Mapping[str, str | None]) -> str:
    """Return the line of a card that sets `field_names`."""
    return flow_line("field_names", names)


async def text_of(parts: AsyncIterable[bytes], packed: str = "") -> str:
    """Return the text of an answer that comes in parts; `packed`: its Content-Encoding.

    Raises NoReplyError if it is too long or cannot be decompressed.
    """
    data = bytearray()
    async for part in parts:
        data += part
        if len(data) > MOST_BYTES:
            raise NoReplyError(f"a response of more than {MOST_BYTES:,} bytes")
    if packed:
        data = await _unpacked(data, packed)
    return data.decode("utf-8", "replace")


async def _unpacked(data: bytearray, packed: str) -> bytearray:
    """Return the decompressed data; a large answer is decompressed in another
    thread.
    """
    encoding = packed.strip().lower()
    if encoding == "identity":
        return data
    unpacked_codings = ("gzip", "x-gzip", "deflate")
    if encoding not in unpacked_codings:
        raise NoReplyError(f"a response in an unrequested encoding: {packed!r}")
    unpacking = _Unpacking(memoryview(data), encoding)
    small = len(data) <= PIECE
    try:
        if not small or not unpacking.run(AT_ONCE):
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(UNPACKING, unpacking.run, MOST_BYTES + 1)
    except zlib.error:
        raise NoReplyError("a response that cannot be decompressed") from None
    return unpacking.finished()


class _Unpacking:
    """The decompression of an answer; gzip may have several members, one after the
    other.
    """

    def __init__(self, data: memoryview, encoding: str) -> None:
        self._data = data
        self._gzip = encoding != "deflate"
        plain = not self._gzip and data[:1] and data[0] & 0x0F != zlib.DEFLATED
        self._format = -zlib.MAX_WBITS if plain else zlib.MAX_WBITS | 32
        self._unpacker = zlib.decompressobj(self._format)
        self._begin = 0
        self._members = 1
        self.unpacked = bytearray()

    def run(self, limit: int) -> bool:
        """Decompress until there are `limit` bytes; return whether all is done."""
        while self._begin < len(self._data):
            piece = self._data[self._begin : self._begin + PIECE]
            self.unpacked += self._unpacker.decompress(piece, AT_ONCE)
            unused = self._unpacker.unused_data or self._unpacker.unconsumed_tail
            self._begin += len(piece) - len(unused)
            if self._unpacker.eof and not self._next_member():
                break
            if len(self.unpacked) >= limit:
                return False
        return True

    def _next_member(self) -> bool:
        """Begin the next member of gzip; return whether there is one."""
        # The beginning of a member of gzip.
        gzip_begin = b"\x1f\x8b"
        head = bytes(self._data[self._begin : self._begin + len(gzip_begin)])
        if not self._gzip or head != gzip_begin:
            return False
        self._members += 1
        # Members of gzip in one answer: more would only keep the processor busy.
        most_members = 10_000
        if self._members > most_members:
            raise NoReplyError(f"a response of more than {most_members:,} gzip members")
        self._unpacker = zlib.decompressobj(self._format)
        return True

    def finished(self) -> bytearray:
        """Return the decompressed data; NoReplyError if too long or incomplete."""
        self.unpacked += self._unpacker.flush()
        if len(self.unpacked) > MOST_BYTES:
            raise NoReplyError(
                f"a response that decompresses to more than {MOST_BYTES:,} bytes"
            )
        if not self._unpacker.eof:
            raise NoReplyError("a response that ends before its compressed data does")
        return self.unpacked


def read_replies(
    text: str, key: str, draws: Sequence[int], *, logprobs: bool
) -> list[Reply]:
    """Return the replies in an answer, the first draw's first; fewer if some were
    withheld.

    The usage of the whole answer goes with its first reply. Separate reasoning is put
    before the text as a `<think>` block: nothing paid for is lost. `logprobs`: whether
    the request asked for them. Raises NoReplyError without any reply.
    """
    import orjson  # here: `audit` runs without

    answer = loads(text)
    if not isinstance(answer, dict):
        answer = {}
    choices = answer.get("choices")
    usage = usage_of(answer)
    # what says that it is an error is one, whatever its status
    billed = () if usage is None and answer.get("error") else (usage,)
    provenance = {"engine": "openai"}
    try:
        read = map(_choice, choices if isinstance(choices, list) else [])
        replied = [choice for choice in read if choice is not None]
        for name, field in (("model", "model"), ("fingerprint", "system_fingerprint")):
            if answer.get(field):
                provenance[name] = _words(answer[field])
    except orjson.JSONEncodeError:
        raise NoReplyError("a response that is nested too deeply", billed) from None
    if not replied:
        raise NoReplyError("a response without a reply", billed)
    no_usage = usage and dict.fromkeys(usage, 0)
    replies = list[Reply]()
    for draw, answered in zip(draws, replied, strict=False):
        called = {}
        if answered.tools:
            called = {"tool": answered.tools}
        if answered.textless:
            called[CONTENT] = answered.textless
        replies.append(
            Reply(
                key,
                draw,
                answered.text,
                finish=answered.finish,
                usage=no_usage if replies else usage,
                provenance=provenance | called,
                logprobs=answered.logprobs if logprobs else None,
            )
        )
    return replies


class _Answered(NamedTuple):
    """What a choice says: its text, how it ended, and the tools that it calls.

    textless: what stands in place of a text (`names.CONTENT`), "" with a text.
    """

    text: str
    finish: str
    logprobs: Logprobs | None
    tools: str
    textless: str


def _failed(finish: Any) -> bool:
    """Return whether the provider failed: what came until then is not a reply."""
    return isinstance(finish, str) and ending(finish) == "failed"


def _calls(message: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the name and the arguments of each call in a message, also of the older
    single one.
    """
    called = message.get("tool_calls") or []
    functions = [call.get("function") or call for call in called]
    if message.get("function_call"):
        functions.append(message["function_call"])
    calls = list[tuple[str, Any]]()
    for function in functions:
        arguments = function.get("arguments", function.get("input"))
        if arguments is not None:
            calls.append((_words(function.get("name") or ""), arguments))
    return calls


def _choice(choice: Any) -> _Answered | None:
    """Return a choice's text, how it ended, and its log probabilities; None without a
    text.
    """
    try:
        message = choice["message"]
        finish = choice.get("finish_reason")
        content = message.get("content")
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        refusal = message.get("refusal")
        calls = _calls(message)
        textless = _in_place_of_text(message)
    except (KeyError, TypeError, AttributeError):
        return None
    if choice.get("error") or _failed(finish):
        return None
    if isinstance(content, list):  # content in parts
        content = "".join(
            _words(part.get("text") or "") for part in content if isinstance(part, dict)
        )
    if refusal and not content:
        content = refusal
        finish = "content_filter"
    if calls:
        lines = []
        if content:
            lines = [_words(content)]
        lines += [_call_text(name, arguments) for name, arguments in calls]
        content = "\n".join(lines)
    if reasoning:
        content = f"<think>{_words(reasoning)}</think>\n{_words(content or '')}"
    text = _words(content or "")
    return _Answered(
        text,
        _words(finish or "stop"),
        _logprobs(choice.get("logprobs")),
        ", ".join(name for name, _ in calls),
        "" if text.strip() else textless,
    )


def _in_place_of_text(message: dict[str, Any]) -> str:
    """Return what a message without text has in its place (`names.CONTENT`)."""
    if message.get("tool_calls") or message.get("function_call"):
        return MissingContent.TOOL
    if message.get("content") is None:
        return MissingContent.NULL
    return MissingContent.EMPTY


def _call_text(name: str, arguments: Any) -> str:
    """Return a call's arguments; those of another tool than a judge's with its name.

    Parsers then see that they do not answer.
    """
    if is_other_tool(name):
        return _words({"name": name, "arguments": arguments})
    return _words(arguments)


def _words(value: Any) -> str:
    """Return a string, or another value as JSON; JSONEncodeError if it is nested too
    deeply.
    """
    import orjson  # here: `audit` runs without

    if isinstance(value, str):
        return value
    return orjson.dumps(value).decode()


def _logprobs(logprobs: Any) -> Logprobs | None:
    """Return per token the chosen one, then the likeliest others; None if there are
    none.

    Some endpoints send minus infinity, which no journal can hold: such others are left
    out; for a chosen token it makes all unknown.
    """
    try:
        tokens = [
            [
                (str(token["token"]), float(token["logprob"])),
                *(
                    (str(other["token"]), float(other["logprob"]))
                    for other in token.get("top_logprobs") or []
                    if other["token"] != token["token"]
                    and isfinite(float(other["logprob"]))
                ),
            ]
            for token in logprobs["content"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    if tokens and all(isfinite(ranked[0][1]) for ranked in tokens):
        return tokens
    return None


def spells(logprobs: Logprobs | None, redactor: Redactor) -> bool:
    """Return whether tokens spell a secret: the chosen ones together, or any by
    itself.
    """
    chosen = "".join(tokens[0][0] for tokens in logprobs or ())
    spelled = "\n".join(
        [chosen, *(token for tokens in logprobs or () for token, _ in tokens)]
    )
    return redactor.redact(spelled) != spelled


def usage_of(answer: Any) -> dict[str, int] | None:
    """Return the tokens that an answer reports, None if it is unknown what it costs."""
    usage = None
    if isinstance(answer, dict):
        usage = answer.get("usage")
    if not isinstance(usage, dict):
        return None

    def detail(outer: str, inner: str) -> Any:
        details = usage.get(outer)
        if isinstance(details, dict):
            return details.get(inner)
        return None

    known = counted(
        {
            "prompt": usage.get("prompt_tokens"),
            "completion": usage.get("completion_tokens"),
            "reasoning": detail("completion_tokens_details", "reasoning_tokens"),
            "cached": detail("prompt_tokens_details", "cached_tokens"),
        }
    )
    if known is None or known["prompt"] == 0:
        return None
    total = usage.get("total_tokens")
    if (
        type(total) is int and total <= MOST_TOKENS
    ):  # some count reasoning only in the total
        known["completion"] = max(known["completion"], total - known["prompt"])
    return known


def loads(text: str) -> Any:
    """Return JSON; unpaired surrogates become U+FFFD, NaN, infinity and numbers beyond
    all bounds null.

    Raises NoReplyError for anything else.
    """
    import orjson  # here: `audit` runs without

    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        loaded = json.loads(
            text.lstrip("\ufeff"),
            parse_constant=lambda _: None,
            parse_int=_integer,
            parse_float=_finite,
        )
        return orjson.loads(
            HALVES.sub("\ufffd", json.dumps(loaded, ensure_ascii=False))
        )
    except (ValueError, RecursionError):
        raise NoReplyError("a response that is not JSON") from None


def _integer(text: str) -> int | float | None:
    """Return an integer; Python itself reads no more than 4,300 digits."""
    # Digits of an integer that surely fits into 64 bits.
    exact_digits = 18
    if len(text) <= exact_digits:
        return int(text)
    return _finite(text)


def _finite(text: str) -> float | None:
    number = float(text)
    return number if isfinite(number) else None


def error_kind(text: str) -> str:
    """Return type and code of an endpoint's error, which, unlike messages, never count
    down.
    """
    try:
        answer = json.loads(text)
        error = answer
        if isinstance(answer.get("error"), dict):
            error = answer.get("error")
        names = []
        for name in ("type", "code"):
            if isinstance(error.get(name), str | int):
                names.append(error[name])
    except (ValueError, AttributeError, RecursionError):
        return ""
    # Characters of an error's type or code that are compared.
    most_compared = 80
    return " ".join(str(name)[:most_compared] for name in names)


def message_of(text: str) -> str:
    """Return the message in an endpoint's error, whatever its shape."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "message", "detail"):
        if isinstance(message, dict) and message.get(name):
            message = message[name]
    if isinstance(message, str):
        return message
    return json.dumps(message)
