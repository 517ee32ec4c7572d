"""Answers of an endpoint that are legal, if odd: all are read."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable
from typing import Any, Final

from behaviour_base import (
    TEXTS,
    Answer,
    Behaviour,
    behaviour_saying,
    good,
    packet,
    raw,
    sized,
)
from scripted import Body, Said, answer, reply

# --- legal answers --------------------------------------------------------------------


def legal(
    name: str, does: str, made: Answer, text: str = "Rating: {prompt}", **more: Any
) -> Behaviour:
    """Return an unusual answer to each request, which is read and paid for once."""
    return Behaviour(name, does, made, "all", "reply", TEXTS, text=text, **more)


def headed(**headers: str) -> Answer:
    """Return a usual answer with further headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda prompt: Said(packet(good(prompt)), headers=named)


def packed(pack: Callable[[bytes], bytes], encoding: str) -> Answer:
    """Return a usual answer that is packed."""
    headers = {"Content-Encoding": encoding}
    return lambda prompt: Said(pack(packet(good(prompt))), headers=headers)


def sent(
    make: Callable[[bytes], Iterable[bytes]], stalls: float = 0, keeps: bool = False
) -> Answer:
    """Return a usual answer whose body is made into parts on the wire."""
    return lambda prompt: Said(
        b"", wire=tuple(make(packet(good(prompt)))), stalls=stalls, keeps=keeps
    )


def merged(**fields: Any) -> Answer:
    """Return a usual answer with other fields; None leaves a field out."""

    def made(prompt: str) -> Said:
        body = json.loads(packet(good(prompt))) | fields
        return Said({name: value for name, value in body.items() if value is not None})

    return made


def choosing(*choices: Body) -> Answer:
    """Return an answer with these choices; {prompt} in them is the prompt."""

    def made(prompt: str) -> Said:
        text = json.dumps(choices).replace("{prompt}", prompt)
        return answer(*json.loads(text))

    return made


def messaged(finish: str | None = "stop", **message: Any) -> Answer:
    """Return an answer with this message; {prompt} in it is the prompt."""
    return choosing({"finish_reason": finish, "message": message})


def chunked(
    body: bytes, size: int, extension: bytes = b"", trailer: bytes = b""
) -> bytes:
    """Return a body in chunks."""
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    chunks = [b"%x%s\r\n%s\r\n" % (len(part), extension, part) for part in parts]
    return b"".join(chunks) + b"0\r\n" + trailer + b"\r\n"


def in_members(body: bytes) -> bytes:
    """Return a body in three members of gzip, and what follows the last."""
    third = len(body) // 3
    parts = (body[:third], body[third : 2 * third], body[2 * third :])
    return b"".join(map(gzip.compress, parts)) + b"\0" * 9


def deflated(body: bytes) -> bytes:
    """Return a body packed with deflate, without a header."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


CHUNKED: Final = "Transfer-Encoding: chunked"
DIGITS: Final = b"9" * 100_000
CALL: Final = {"function": {"name": "submit", "arguments": '{"score": {prompt}}'}}
CONTENT: Final = {"role": "assistant", "content": "Rating: {prompt}"}
TOKEN: Final = {"token": "R", "logprob": -0.1, "top_logprobs": []}
SAID: Final = {"finish_reason": "stop", "message": CONTENT}
LEGAL: Final = (
    legal("usual", "answers as most endpoints do", good),
    legal("gzip", "packs the body with gzip", packed(gzip.compress, "gzip")),
    legal("x-gzip", "calls gzip by its old name", packed(gzip.compress, "x-gzip")),
    legal("gzip in members", "packs in three members", packed(in_members, "gzip")),
    legal("deflate", "packs with deflate", packed(zlib.compress, "deflate")),
    legal("bare deflate", "packs with deflate, no header", packed(deflated, "deflate")),
    legal("identity", "says that nothing is packed", packed(bytes, "identity")),
    legal(
        "chunks",
        "sends the body in chunks",
        sent(lambda body: [raw(chunked(body, 50), CHUNKED)]),
    ),
    legal(
        "chunks of a byte",
        "sends the body in chunks of one byte",
        sent(lambda body: [raw(chunked(body, 1), CHUNKED)]),
    ),
    legal(
        "chunks with extensions",
        "adds an extension to each chunk, and a trailer",
        sent(lambda body: [raw(chunked(body, 50, b";a=b", b"X-T: 1\r\n"), CHUNKED)]),
    ),
    legal(
        "no length",
        "announces no length and closes the connection at the end",
        sent(lambda body: [raw(body, "Connection: close")]),
    ),
    legal(
        "HTTP/1.0",
        "answers in HTTP/1.0",
        sent(lambda body: [raw(body, status="HTTP/1.0 200 OK")]),
    ),
    legal(
        "no reason",
        "sends a status line without a reason",
        sent(lambda body: [sized(body, status="HTTP/1.1 200 ")]),
    ),
    legal(
        "early hints",
        "sends 103 before the answer",
        sent(
            lambda body: [
                b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
                sized(body),
            ]
        ),
    ),
    legal(
        "processing",
        "sends 102 twice before the answer",
        sent(lambda body: [b"HTTP/1.1 102 Processing\r\n\r\n" * 2, sized(body)]),
    ),
    legal(
        "small packets",
        "sends every ten bytes apart",
        sent(
            lambda body: [sized(body)[at : at + 10] for at in range(0, 400, 10)],
            stalls=0.001,
        ),
    ),
    legal(
        "closes silently",
        "says keep-alive and closes the connection after each answer",
        sent(lambda body: [sized(body, "Connection: keep-alive")]),
    ),
    legal(
        "answers twice",
        "sends two answers to a request, with different ratings, at once",
        sent(lambda body: [sized(body) + sized(packet(reply("Rating: none")))]),
    ),
    Behaviour(
        "answers twice, later",
        "sends a second answer, with another rating, a moment after the first",
        sent(
            lambda body: [sized(body), sized(packet(reply("Rating: none")))],
            stalls=0.01,
            keeps=True,
        ),
        "all",
        "reply",
        TEXTS,
        limits={"requests_per_minute": 600},
    ),
    legal("text/plain", "calls the JSON plain text", headed(Content_Type="text/plain")),
    legal("text/html", "calls the JSON a page", headed(Content_Type="text/html")),
    legal(
        "another character set",
        "says that UTF-8 is UTF-16",
        headed(Content_Type="application/json; charset=utf-16"),
    ),
    legal("cookies", "sets a cookie that is none", headed(Set_Cookie="=;;; \x7f=é")),
    legal("long header", "sends a header of 6,000 bytes", headed(X_A="a" * 6000)),
    legal(
        "nothing left",
        "says that no request is left for a moment",
        headed(x_ratelimit_remaining_requests="0", x_ratelimit_reset_requests="5ms"),
    ),
    legal(
        "nothing left for ever",
        "says that no request is left, and no time",
        headed(x_ratelimit_remaining_requests="0", x_ratelimit_reset_requests="later"),
    ),
    legal(
        "byte order mark",
        "begins with one",
        behaviour_saying(lambda body: b"\xef\xbb\xbf" + body),
    ),
    legal(
        "padding",
        "begins with empty lines",
        behaviour_saying(lambda body: b"\n \r\n" * 9 + body),
    ),
    legal(
        "indented",
        "indents its JSON",
        behaviour_saying(lambda body: json.dumps(json.loads(body), indent=4).encode()),
    ),
    legal(
        "NaN and infinity",
        "sends numbers that JSON does not know",
        behaviour_saying(lambda body: body[:-1] + b', "a": [NaN, -Infinity, 1e999]}'),
    ),
    legal(
        "an integer of 100,000 digits",
        "sends one in a field that nobody reads",
        behaviour_saying(lambda body: body[:-1] + b', "created": ' + DIGITS + b"}"),
    ),
    legal(
        "a field twice",
        "sends a field twice: the last one counts",
        behaviour_saying(lambda body: b'{"choices": [],' + body[1:]),
    ),
    legal(
        "half a surrogate",
        "sends half of a surrogate pair",
        behaviour_saying(lambda body: body.replace(b"Rating", b"\\ud83dRating")),
        text="\ufffdRating: {prompt}",
    ),
    legal(
        "bytes that are no UTF-8",
        "sends bytes that are no text",
        behaviour_saying(lambda body: body.replace(b"Rating", b"\xff\xc3Rating")),
        text="\ufffd\ufffdRating: {prompt}",
    ),
    legal(
        "NUL in the text",
        "sends NUL and escape characters",
        messaged(content="\0\x1b[0m\u2028{prompt}"),
        text="\0\x1b[0m\u2028{prompt}",
    ),
    legal(
        "a long text",
        "sends a text of 200,000 characters",
        messaged(content="x" * 200_000 + "{prompt}"),
        text="x" * 200_000 + "{prompt}",
    ),
    legal("empty text", "sends an empty text", messaged(content=""), text=""),
    legal("no text", "sends null as the text", messaged(content=None), text=""),
    legal("a number as text", "sends a number", messaged(content=4), text="4"),
    legal(
        "text in parts",
        "sends the text in parts",
        messaged(content=[{"type": "text", "text": "Rating: "}, {"text": "{prompt}"}]),
    ),
    legal(
        "a tool call",
        "calls a tool in place of a text",
        messaged("tool_calls", content=None, tool_calls=[CALL]),
        text='{"score": {prompt}}',
        finish="tool_calls",
    ),
    legal(
        "reasoning beside the text",
        "sends its reasoning in a field of its own",
        messaged(content="Rating: {prompt}", reasoning_content="Hm."),
        text="<think>Hm.</think>\nRating: {prompt}",
    ),
    legal(
        "a refusal in the message",
        "refuses in the message's own field",
        messaged(content="", refusal="I will not."),
        text="I will not.",
        finish="content_filter",
    ),
    *(
        legal(
            f"finish {result}",
            f"gives {result} as the reason to stop",
            choosing({**SAID, "finish_reason": result}),
            finish=result or "stop",
        )
        for result in (None, "MAX_TOKENS", "content_filter", "bored")
    ),
    legal("no usage", "leaves the usage out", merged(usage=None)),
    legal("usage of another type", "sends a word as the usage", merged(usage="many")),
    legal(
        "usage below 0",
        "reports negative tokens",
        merged(usage={"prompt_tokens": -1, "completion_tokens": 3}),
    ),
    legal(
        "usage beyond bounds",
        "reports more tokens than can be",
        merged(usage={"prompt_tokens": 2**70, "completion_tokens": 3}),
    ),
    legal("no model", "leaves the model out", merged(model=None)),
    legal("another model", "names another model", merged(model="gpt-nobody-0.1")),
    legal("a model of another type", "sends an object", merged(model={"a": [1]})),
    legal("unknown fields", "sends fields that nobody knows", merged(x={"y": [None]})),
    legal("error null", "sends an error that is null beside", merged(error=0)),
    legal(
        "more choices than asked for",
        "sends two choices for one draw",
        choosing(SAID, {**SAID, "message": {"content": "Rating: none"}}),
    ),
    legal(
        "the same index twice",
        "gives two choices one index",
        choosing({**SAID, "index": 0}, {**SAID, "index": 0}),
    ),
    legal(
        "a broken choice first",
        "sends a choice without a message before the other",
        choosing({"finish_reason": "stop"}, SAID),
    ),
    legal(
        "log probabilities",
        "sends log probabilities that nobody asked for",
        choosing({**SAID, "logprobs": {"content": [TOKEN]}}),
    ),
)
