"""What follows from an endpoint's answer, and what a message advises: one table.

An error is about the text of one request, or about every request. The key is named only
where it is the cause.
"""

import json
import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from errno import ECONNRESET
from typing import Any, Final, Literal

from yarl import URL

RefusalRule = Literal["filtered", "too_long"]
"""Why an endpoint refuses a text: its contents, or its length."""
NAMING: Final[dict[str, RefusalRule]] = {
    "contentfilter": "filtered",
    "contentpolicyviolation": "filtered",
    "responsibleaipolicy": "filtered",
    "responsibleaipolicyviolation": "filtered",
    "invalidprompt": "filtered",
    "promptblocked": "filtered",
    "contextlengthexceeded": "too_long",
    "stringabovemaxlength": "too_long",
}
"""A code or type of an error that names the text, without case and signs -> the
rule."""


def refusal_rule(status: int, text: str) -> RefusalRule | None:
    """Return why an endpoint refuses a text; None if the error does not name the text.

    status: the HTTP status; text: the body of the answer.

    >>> refusal_rule(400, '{"error": {"code": "content_filter"}}')
    'filtered'
    >>> refusal_rule(413, "too large")
    'too_long'
    >>> refusal_rule(400, '{"error": {"code": "unknown_field"}}') is None
    True
    """
    too_large = 413
    if status == too_large:
        return "too_long"
    named = (NAMING.get(code) for code in codes_of(text))
    return next((rule for rule in named if rule is not None), None)


def codes_of(text: str) -> list[str]:
    """Return all codes and types in an endpoint's error, without case and signs, the
    inner ones last.

    >>> codes_of('{"error": {"code": "A_b", "innererror": {"code": "InnerCode"}}}')
    ['ab', 'innercode']
    """
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return []
    # Levels of an error at which its inner codes are looked up.
    deepest = 4
    codes = _codes_in(answer, deepest)
    return [re.sub(r"[^a-z0-9]", "", code.lower()) for code in codes]


def _codes_in(value: Any, levels: int) -> Iterator[str]:
    if not isinstance(value, dict) or not levels:
        return
    for name in ("code", "type"):
        if isinstance(value.get(name), str):
            yield value[name]
    for inner in value.values():
        yield from _codes_in(inner, levels - 1)


# --- statuses -------------------------------------------------------------------------

AnswerOutcome = Literal["retry", "refuse", "stop"]
"""`retry`: the request is sent again; `refuse`: this request will never succeed;
`stop`: no request can succeed, so the job ends."""


@dataclass(frozen=True)
class AnswerRule:
    """A row of the table: the answers to which it applies, what happens, the advice.

    `sign`: what the codes or the message must contain, in small letters. In the advice
    {key}, {proxy} and {moved} stand for the source of the key, that of the proxy's
    login and the new address.
    """

    statuses: frozenset[int]
    outcome: AnswerOutcome
    advice: str
    sign: str = ""


def _statuses(*numbers: int | range) -> frozenset[int]:
    ranges = [number if isinstance(number, range) else [number] for number in numbers]
    return frozenset().union(*ranges)


NO_CHAT: Final = (
    "this address does not take chat requests: check `base_url` of the card, which "
    "must be that of an OpenAI-compatible chat endpoint"
)
HALF: Final = (
    "check whether a proxy answers in the endpoint's place, and whether `base_url` is "
    "the address of a chat endpoint"
)
MOVED: Final = (
    "the endpoint has moved: write `base_url: {moved}` into the card, if this address "
    "is the provider's"
)
NO_KEY: Final = "it names none: add `api_key_env`, `api_key_file` or `token_command`"
"""In place of a key's source, where the card has none."""
CHAT_ROUTE: Final = "/chat/completions"
MOVED_NOWHERE: Final = (
    "the endpoint redirects without naming another address: check `base_url` of the "
    "card"
)
QUOTA: Final = "insufficient_quota"
REGION: Final = r"region|country|countries|territor|geograph|location"
NOT_ENABLED: Final = (
    r"model_?not_?found|(not|n't) (have|has) access to (the |this )?model|"
    r"access to (the |this )?(requested )?model|model.{0,40}not (enabled|available|"
    r"allowed|activated)"
)
ANSWER_RULES: Final = (
    AnswerRule(
        _statuses(range(400, 600)),
        "stop",
        "the account has no credit or quota left: check its billing",
        sign=QUOTA,
    ),
    AnswerRule(_statuses(range(201, 300)), "retry", HALF),
    AnswerRule(
        _statuses(301, 302, 303, 307, 308),
        "stop",
        MOVED,
    ),
    AnswerRule(_statuses(range(300, 400)), "stop", NO_CHAT),
    AnswerRule(
        _statuses(400, 404, 413, 422),
        "refuse",
        "check `name`, `base_url`, `field_names` and `extra_body` of the card",
    ),
    AnswerRule(_statuses(401), "stop", "check the card's key: {key}"),
    AnswerRule(
        _statuses(402), "stop", "the account has no credit left: check its billing"
    ),
    AnswerRule(
        _statuses(403),
        "stop",
        "the provider does not serve this region: use another provider, or another "
        "regional address in `base_url`",
        sign=REGION,
    ),
    AnswerRule(
        _statuses(403),
        "stop",
        "the model is not enabled for this key: enable it at the provider, or write "
        "another `name` into the card",
        sign=NOT_ENABLED,
    ),
    AnswerRule(_statuses(403), "stop", "check the card's key: {key}"),
    AnswerRule(_statuses(407), "stop", "check the proxy's user and password: {proxy}"),
    AnswerRule(_statuses(408, 409, 425, 429), "retry", ""),
    AnswerRule(
        _statuses(451),
        "stop",
        "the provider does not serve this region, for legal reasons: use another "
        "provider, or another regional address in `base_url`",
    ),
    AnswerRule(_statuses(405, 418, 426, 501), "stop", NO_CHAT),
    AnswerRule(_statuses(range(500, 600)), "retry", ""),
)
"""Status, and a sign in the text -> what happens; the first row that fits is used."""


def answer_rule(status: int, text: str) -> AnswerRule:
    """Return what follows from an answer without a reply.

    >>> answer_rule(403, '{"error": {"message": "unsupported country"}}').outcome
    'stop'
    >>> answer_rule(503, "loading").outcome
    'retry'
    """
    seen = text.lower()
    for rule in ANSWER_RULES:
        if status in rule.statuses and re.search(rule.sign, seen):
            return rule
    return AnswerRule(
        frozenset(), "stop", "check `base_url`, `headers` and `extra_body` of the card"
    )


def moved_to(asked: URL, location: str, route: str = CHAT_ROUTE) -> str | None:
    """Return the `base_url` for the address to which an endpoint has moved; None if it
    names no other address.

    asked: the address of the request; location: the header of the answer; route: the
    end of the address, which is no part of `base_url`.

    >>> asked = URL("https://old.example.org/v1/chat/completions")
    >>> moved_to(asked, "https://new.example.org/v1/chat/completions?a=1")
    'https://new.example.org/v1'
    >>> moved_to(asked, "/v2/chat/completions/")
    'https://old.example.org/v2'
    >>> moved_to(asked, "") is None
    True
    """
    try:
        address = asked.join(URL(location)).with_query(None).with_fragment(None)
    except ValueError:
        return None
    if not location or address == asked.with_query(None):
        return None
    return str(address).rstrip("/").removesuffix(route)


# --- connections that cannot be made --------------------------------------------------

HOST_ATTEMPTS: Final = 2
"""Attempts to find a host before the job ends."""
PLAIN_TO_TLS: Final = re.compile(
    r"http request.{0,40}https (port|server)", re.IGNORECASE
)
"""What servers answer to http at their port for https."""


def connection_advice(error: Exception, scheme: str, *, proxied: bool) -> str | None:
    """Return what to do about a connection that will never be made; None if it may be
    made later.
    """
    import aiohttp  # planning reads this table and sends nothing

    reason = str(error)
    refused = aiohttp.ClientConnectorCertificateError | ssl.SSLCertVerificationError
    if isinstance(error, refused) or "CERTIFICATE_VERIFY" in reason:
        return (
            "the certificate is not trusted: name the certificate of the authority "
            "that signs it in `ca_file` of the card, or correct the host in `base_url`"
        )
    # What a TLS client says of an answer in plain HTTP.
    no_tls = re.compile(
        "WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST"
    )
    if isinstance(error, aiohttp.ClientSSLError) and no_tls.search(reason):
        key = "proxy" if proxied else "base_url"
        return f"this port does not speak TLS: write http:// in `{key}` of the card"
    # The beginning of a TLS alert in a message, as bytes or spelled out.
    tls_record = re.compile(r"\\+x15\\+x03|\x15\x03")
    if scheme == "http" and tls_record.search(reason):
        return "this port speaks TLS: write https:// in `base_url` of the card"
    return None


def broken_advice(error: Exception, scheme: str) -> str:
    """Return what to do if a connection breaks again and again; "" if nothing is known.

    A server that speaks TLS may close a connection for http without a word.
    """
    import aiohttp  # planning reads this table and sends nothing

    if isinstance(error, aiohttp.ClientPayloadError):
        return HALF
    reset = getattr(error, "errno", None) == ECONNRESET
    closed = reset or isinstance(error, aiohttp.ServerDisconnectedError)
    if closed and scheme == "http":
        return (
            "check whether this is a chat endpoint; if the server speaks TLS, write "
            "https:// in `base_url` of the card"
        )
    return ""
