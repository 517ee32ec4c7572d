"""What an endpoint may do to a client: the behaviours of the fault server on loopback.

Each is a record of what the server does and of what has to follow; `replaying.py`
replays them with the real engine and store.
"""

import gzip
from typing import Any, Final

from behaviour_base import (
    ATTEMPTS,
    HOPELESS,
    HOUR,
    TEXTS,
    Behaviour,
    good,
    packet,
    raw,
)
from legal_answers import LEGAL, SAID
from scripted import Body, Said, answer, refusal

# --- failures that pass ---------------------------------------------------------------


def passes(
    name: str, does: str, statement: Said, requests: int = TEXTS + 1
) -> Behaviour:
    """Return what the first request meets, and the second attempt does not."""
    return Behaviour(name, does, lambda _: statement, "once", "reply", requests)


def late(name: str, does: str, statement: Said) -> Behaviour:
    """Return what keeps the first attempt waiting longer than the card allows."""
    again = TEXTS + 1
    return Behaviour(
        name, does, lambda _: statement, "once", "reply", again, limits=LATE
    )


BUSY: Final = {
    408: "request timeout",
    409: "conflict",
    425: "too early",
    429: "too many requests",
    500: "internal error",
    502: "bad gateway",
    503: "unavailable",
    504: "gateway timeout",
    505: "version not supported",
    520: "an unknown error of a content network",
    529: "overloaded",
    599: "an unknown status of 5xx",
}
HALF: Final = {201: "created", 202: "accepted", 204: "no content", 206: "partial"}
WAITS: Final = {
    "seconds": {"Retry-After": "0.01"},
    "milliseconds": {"retry-after-ms": "10"},
    "a date that is past": {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"},
    "no time": {"Retry-After": "soon"},
    "a negative time": {"Retry-After": "-5"},
    "NaN": {"Retry-After": "nan"},
    "nothing left": {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "20ms",
    },
}
PAGE: Final = b"<html><body>502 Bad Gateway</body></html>"
BEGUN: Final = b'{"choices": [{"index": 0, "mess'
BROKEN: Final = {
    "reset before the answer": (
        "resets the connection in place of an answer",
        Said(b"", wire=(), resets=True),
    ),
    "closed before the answer": (
        "closes the connection in place of an answer",
        Said(b"", wire=()),
    ),
    "closed in the headers": (
        "closes the connection within a header",
        Said(b"", wire=(b"HTTP/1.1 200 OK\r\nContent-Le",)),
    ),
    "cut in the body": (
        "closes the connection within the announced length",
        Said(BEGUN, lacks=100),
    ),
    "reset in the body": (
        "resets the connection within the announced length",
        Said(b"", wire=(raw(BEGUN, "Content-Length: 300"),), resets=True),
    ),
    "no length, cut": (
        "announces no length and closes within the JSON",
        Said(b"", wire=(raw(BEGUN, "Connection: close"),)),
    ),
    "chunk cut": (
        "closes the connection within a chunk",
        Said(b"", wire=(raw(b"40\r\n" + BEGUN, "Transfer-Encoding: chunked"),)),
    ),
    "last chunk missing": (
        "closes the connection after a chunk, without the last one",
        Said(b"", wire=(raw(b"5\r\n[1,2]\r\n", "Transfer-Encoding: chunked"),)),
    ),
    "chunk without a size": (
        "sends a chunk whose size is no number",
        Said(b"", wire=(raw(b"xyz\r\n{}\r\n", "Transfer-Encoding: chunked"),)),
    ),
    "negative chunk": (
        "sends a chunk of a negative size",
        Said(b"", wire=(raw(b"-5\r\n{}\r\n", "Transfer-Encoding: chunked"),)),
    ),
    "length is no number": (
        "announces a length that is no number",
        Said(b"", wire=(raw(b"{}", "Content-Length: many"),)),
    ),
    "negative length": (
        "announces a negative length",
        Said(b"", wire=(raw(b"{}", "Content-Length: -2"),)),
    ),
    "two lengths": (
        "announces two lengths that differ",
        Said(b"", wire=(raw(b"{}", "Content-Length: 2", "Content-Length: 5"),)),
    ),
    "length too small": (
        "announces less than it sends",
        Said(b"", wire=(raw(b'{"choices": []}', "Content-Length: 3"),)),
    ),
    "more than announced": (
        "sends garbage behind the announced length",
        Said(b"", wire=(raw(b"{}garbage", "Content-Length: 2"),)),
    ),
    "another protocol": (
        "answers with another protocol than HTTP",
        Said(b"", wire=(b"SSH-2.0-OpenSSH_9.6\r\n",)),
    ),
    "HTTP/2": (
        "answers in frames of HTTP/2",
        Said(b"", wire=(b"\0\0\x12\4\0\0\0\0\0\0\3\0\0\0\x64\0\4\0\0\xff\xff",)),
    ),
    "status is no number": (
        "sends a status line without a status",
        Said(b"", wire=(b"HTTP/1.1 fine\r\n\r\n",)),
    ),
    "garbage in a header": (
        "sends a header with a NUL byte",
        Said(b"", wire=(raw(b"{}", "X-A: a\0b", "Content-Length: 2"),)),
    ),
    "header of a megabyte": (
        "sends a header of a megabyte",
        Said(b"", wire=(raw(b"{}", f"X-A: {'a' * 2**20}", "Content-Length: 2"),)),
    ),
    "page of a gateway": (
        "answers 502 with a page in HTML",
        Said(PAGE, 502, {"Content-Type": "text/html"}),
    ),
    "half of a gzip": (
        "sends half of a body that is packed with gzip",
        Said(gzip.compress(b"{}" * 500)[:-12], headers={"Content-Encoding": "gzip"}),
    ),
    "gzip that is none": (
        "says gzip and sends plain JSON",
        Said(b"{}" * 50, headers={"Content-Encoding": "gzip"}),
    ),
    "packing that was not asked for": (
        "packs with brotli, which was not asked for",
        Said(b"\x0b\x02\x80{}\x03", headers={"Content-Encoding": "br"}),
    ),
}
LATE: Final = {"timeout": 1.0}
SLOW: Final = {
    "no answer in time": (
        "answers after the time limit",
        Said(b"", wire=(b"", raw(b"{}", "Content-Length: 2")), stalls=HOUR),
    ),
    "stalled in the body": (
        "stops within the body and holds the connection",
        Said(BEGUN, lacks=100, stalls=HOUR),
    ),
    "slow for ever": (
        "sends a byte now and then, without end",
        Said(b"", wire=(raw(b"", "Content-Length: 99"), *[b"{"] * 99), stalls=0.2),
    ),
}
PASSING: Final = (
    *(
        passes(
            f"{status}, once", f"answers {status}: {result}", refusal(status, result)
        )
        for status, result in BUSY.items()
    ),
    *(
        passes(f"{status}, once", f"answers {status}: {result}", Said(b"", status))
        for status, result in HALF.items()
    ),
    *(
        passes(
            f"429 that asks to wait: {name}",
            f"answers 429, and its headers name {name}",
            refusal(429, "slow down", **headers),
        )
        for name, headers in WAITS.items()
    ),
    passes(
        "503 that asks to wait",
        "answers 503 with Retry-After",
        refusal(503, "loading", **{"Retry-After": "0.01"}),
    ),
    *(passes(f"{name}, once", does, text) for name, (does, text) in BROKEN.items()),
    *(late(name, does, text) for name, (does, text) in SLOW.items()),
)


# --- answers that refuse a text -------------------------------------------------------


def refused(name: str, does: str, statement: Said, *names: str) -> Behaviour:
    """Return a refusal of one text: stored at once, and the others get their reply."""
    return Behaviour(name, does, lambda _: statement, "one text", "error", TEXTS, names)


def coded(status: int, **error: Any) -> Said:
    """Return an error with a code."""
    return Said({"error": {"message": "not this text", **error}}, status)


INNER: Final = {"code": "ResponsibleAIPolicyViolation"}
REFUSED: Final = (
    refused("content filter", "refuses a text", coded(400, code="content_filter")),
    refused("inner code", "names it in an inner error", coded(400, innererror=INNER)),
    refused("policy", "answers 403", coded(403, type="content_policy_violation")),
    refused("prompt blocked", "answers 422", coded(422, type="prompt_blocked")),
    refused("invalid prompt", "refuses a prompt", coded(400, code="invalid_prompt")),
    refused("too long", "names the length", coded(400, code="context_length_exceeded")),
    refused("413", "answers 413 with a page", Said(PAGE, 413), "HTTP 413"),
    refused("400 without a code", "answers 400", refusal(400, "odd"), "HTTP 400: odd"),
    refused("422 without a code", "answers 422", refusal(422, "odd"), "HTTP 422: odd"),
    refused("404 for a text", "answers 404", refusal(404, "what?"), "HTTP 404: what?"),
    refused(
        "400 without a body", "answers 400 with nothing", Said(b"", 400), "HTTP 400"
    ),
    refused(
        "400 with the key",
        "says the key in the refusal",
        refusal(400, "no: loopback-key-12345"),
        "HTTP 400: no: <key>",
    ),
    Behaviour(
        "all texts are filtered",
        "refuses every text by its contents",
        lambda _: coded(400, code="content_filter"),
        "all",
        "error",
        TEXTS,
        ("not this text",),
    ),
    Behaviour(
        "all texts are too long",
        "answers 413 to every text",
        lambda _: Said(b"", 413),
        "all",
        "error",
        TEXTS,
        ("HTTP 413",),
    ),
)

# --- texts that never get an answer ---------------------------------------------------


def unanswered(name: str, does: str, statement: Said, *names: str) -> Behaviour:
    """Return a failure of one text in every attempt; one plain request follows."""
    requests = TEXTS - 1 + ATTEMPTS + 1
    values = ("1 of 10 requests failed in 1 run", *names)
    return Behaviour(
        name, does, lambda _: statement, "one text", "stop", requests, values
    )


def halved(name: str, does: str, body: bytes, *names: str) -> Behaviour:
    """Return a body without a reply: the message suspects a proxy and the address."""
    values = (*names, "proxy", "`base_url`")
    return unanswered(name, does, Said(body), *values)


def failing(choice: Body) -> bytes:
    """Return a body with one choice."""
    return packet(answer(choice))


DEEP: Final = b"[" * 100_000
BOMB: Final = gzip.compress(bytes(1 << 20)) * 129
NONE: Final = "without a reply"
NO_JSON: Final = "not JSON"
UNANSWERED: Final = (
    halved("no choice", "sends an empty list", b'{"choices": []}', NONE),
    halved("choices null", "sends null", b'{"choices": null}', NONE),
    halved(
        "choices of another type", "sends an object", b'{"choices": {"a": 1}}', NONE
    ),
    halved("choices of numbers", "sends numbers", b'{"choices": [1, 2]}', NONE),
    halved("message null", "sends null", failing({"message": None}), NONE),
    halved("message missing", "sends none", failing({"finish_reason": "stop"}), NONE),
    halved("message of text", "sends a text", failing({"message": "4"}), NONE),
    halved(
        "an object", "sends an object of another protocol", b'{"output": "4"}', NONE
    ),
    halved("a list", "sends a list", b"[1, 2]", NONE),
    halved("a word", "sends a word", b'"Rating: 4"', NONE),
    halved("null", "sends null", b"null", NONE),
    halved("nothing", "sends an empty body", b"", NO_JSON),
    halved("NUL bytes", "sends NUL bytes", bytes(400), NO_JSON),
    halved("a page", "sends a page in HTML", PAGE, NO_JSON),
    halved("half a JSON", "ends within the JSON", BEGUN, NO_JSON),
    halved("garbage", "sends bytes that are no text", b"\xff\xfe\x00{", NO_JSON),
    halved("too deep", "nests 100,000 lists", DEEP, NO_JSON),
    halved(
        "events", "streams events", b'data: {"choices": []}\n\ndata: [DONE]\n', NO_JSON
    ),
    halved("two answers", "sends two objects", b"{} {}", NO_JSON),
    halved("error in 200", "fails with 200", b'{"error": {"message": "down"}}', NONE),
    halved(
        "error in a choice",
        "says that the provider failed",
        failing({**SAID, "error": {"code": 502}}),
        NONE,
    ),
    halved(
        "finish error",
        "gives `error` as the reason to stop",
        failing({**SAID, "finish_reason": "error"}),
        NONE,
    ),
    halved(
        "finish abort",
        "gives `abort` as the reason to stop",
        failing({**SAID, "finish_reason": "abort"}),
        NONE,
    ),
    unanswered(
        "a bomb",
        "packs 129 MB into some kilobytes",
        Said(BOMB, headers={"Content-Encoding": "gzip"}),
        "decompresses to more than",
    ),
    unanswered(
        "500 for a text",
        "always fails for one text",
        refusal(500, "boom"),
        "HTTP 500: boom",
    ),
    unanswered(
        "203", "answers 203 for one text", Said(b"{}", 203), "HTTP 203", "proxy"
    ),
    unanswered("closed", "always closes", Said(b"", wire=()), "no response"),
)

# --- answers that end the job ---------------------------------------------------------


def ends(
    name: str,
    does: str,
    statement: Said,
    *names: str,
    requests: int = 1,
    names_key: bool = False,
    **limits: float,
) -> Behaviour:
    """Return an answer to every request that ends the job."""
    return Behaviour(
        name,
        does,
        lambda _: statement,
        "all",
        "stop",
        requests,
        names,
        names_key,
        limits=limits,
    )


def moved(status: int, to: str = "https://new.example.org/v2/chat/completions") -> Said:
    """Return a redirection."""
    return Said(b"", status, {"Location": to})


NEW: Final = "`base_url: https://new.example.org/v2`"
NOWHERE: Final = "without naming another address: check `base_url`"
NO_CHAT: Final = "does not take chat requests"
CARD: Final = ("name, base_url", "field_names", "extra_body")
QUOTA: Final = Said({"error": {"message": "over", "code": "insufficient_quota"}}, 429)
ENDS: Final = (
    *(
        ends(f"{status}", "redirects to another host", moved(status), NEW)
        for status in (301, 302, 303, 307, 308)
    ),
    ends("relative redirect", "redirects below itself", moved(307, "/v3"), "/v3`"),
    ends("redirect to nowhere", "names no address", Said(b"", 302), NOWHERE),
    ends(
        "redirect to garbage", "names a broken one", moved(302, "http://[::"), NOWHERE
    ),
    ends("redirect to itself", "names itself", moved(302, "?a=1"), NOWHERE),
    *(
        ends(f"{status}", f"answers {status}", Said(b"", status), NO_CHAT)
        for status in (300, 304, 405, 418, 426, 501)
    ),
    *(
        ends(f"{status}", f"answers {status}", Said(b"", status), "`base_url`")
        for status in (406, 410, 411, 415, 421, 431)
    ),
    ends("401", "knows no such key", refusal(401, "bad key"), names_key=True),
    ends("401 without a body", "knows no key", Said(b"", 401), names_key=True),
    ends("402", "wants money", refusal(402, "pay"), "credit"),
    ends("quota", "answers 429 for want of credit", QUOTA, "credit or quota"),
    ends("403", "allows nothing", refusal(403, "no"), names_key=True),
    ends("403 of a region", "names a country", refusal(403, "your country"), "region"),
    ends(
        "403 of a model",
        "names the model",
        refusal(403, "Project p does not have access to model m"),
        "model is not enabled for this key",
    ),
    ends("407", "wants a proxy's password", refusal(407, "who?"), "proxy"),
    ends("451", "refuses by law", refusal(451, "blocked"), "region"),
    ends(
        "404 for all",
        "knows no such route",
        refusal(404, "no route"),
        *CARD,
        requests=HOPELESS,
    ),
    ends(
        "400 for all",
        "refuses a field",
        refusal(400, "unknown field: seed"),
        "try field_names: {seed: null}",
        requests=HOPELESS,
    ),
    ends("422 for all", "refuses all", refusal(422, "no"), *CARD, requests=HOPELESS),
    ends(
        "500 for all",
        "fails",
        refusal(500, "boom"),
        "consecutive requests failed: HTTP 500",
        requests=HOPELESS * ATTEMPTS,
    ),
    ends(
        "nothing for all",
        "sends empty bodies",
        Said(b""),
        "consecutive requests failed",
        "proxy",
        requests=HOPELESS * ATTEMPTS,
    ),
    ends(
        "204 for all",
        "has no content",
        Said(b"", 204),
        "consecutive requests failed: HTTP 204",
        "proxy",
        requests=HOPELESS * ATTEMPTS,
    ),
    ends(
        "429 until tomorrow",
        "asks to wait a day",
        refusal(429, "later", **{"Retry-After": "86400"}),
        "asks to wait 86400 s",
        requests=HOPELESS,
    ),
    ends(
        "plain HTTP to a port for https",
        "says that the port is for https",
        Said(b"The plain HTTP request was sent to HTTPS port", 400),
        "write https://",
    ),
    ends(
        "an alert of TLS",
        "answers with an alert of TLS",
        Said(b"", wire=(b"\x15\x03\x03\x00\x02\x02\x28",)),
        "write https://",
    ),
    ends(
        "another protocol for all",
        "switches to another protocol",
        Said(b"", wire=(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n",)),
        "HTTP 101",
    ),
)

# --- places where nothing can be asked ------------------------------------------------


def elsewhere(
    name: str, does: str, *names: str, tls: bool = False, **place: str
) -> Behaviour:
    """Return a connection that is never made: no request arrives."""
    return Behaviour(name, does, good, "all", "stop", 0, names, place=place, tls=tls)


HTTP: Final = "http://127.0.0.1:{port}/v1"
HTTPS: Final = "https://127.0.0.1:{port}/v1"
NOBODY: Final = "http://127.0.0.1:9"
PLACES: Final = (
    elsewhere(
        "a certificate", "nobody signed it", "`ca_file`", tls=True, base_url=HTTPS
    ),
    elsewhere("https to plain", "speaks no TLS", "write http://", base_url=HTTPS),
    elsewhere(
        "plain to https", "speaks TLS", "write https://", tls=True, base_url=HTTP
    ),
    elsewhere("nobody there", "does not run", "no response", base_url=f"{NOBODY}/v1"),
    elsewhere("no proxy", "is behind a proxy that does not run", "9", proxy=NOBODY),
    elsewhere(
        "no such host",
        "has a name that nobody knows",
        "host not found: check `base_url`",
        base_url="http://no-such-host.invalid/v1",
    ),
    elsewhere(
        "no such proxy",
        "is behind a proxy whose name nobody knows",
        "host not found: check `proxy`",
        proxy="http://no-such-host.invalid:3128",
    ),
)

BEHAVIOURS: Final = (*PASSING, *LEGAL, *REFUSED, *UNANSWERED, *ENDS, *PLACES)
