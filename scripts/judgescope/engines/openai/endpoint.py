"""One endpoint of an HTTP protocol: a request and its answer.

An endpoint's refusal of one request is a reply of status `error`; a refusal of every
request (a wrong key, no credit) ends the job.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
from yarl import URL

from judgescope.core.errors import CONTROL, UserError
from judgescope.core.secrets import Redactor
from judgescope.engines.openai import connection, rate, refusals, wire
from judgescope.engines.requests import Budget, RefusedError, Reply, Request
from judgescope.schema.cards import EndpointModel

if TYPE_CHECKING:
    import aiohttp

REFUSED = {400, 404, 413, 422}
"""HTTP statuses of a request that will never succeed."""
ABSENT = 404
"""The status that is rather about the model than about the request: after HOPELESS of
them in a row the job ends."""
PROXY_UNAUTHORISED = 407
QUOTED = 80
"""Characters of an unusable answer that a message quotes."""
SHOWN = 300
"""Characters of an endpoint's message that are kept."""


class TransientError(Exception):
    """A failed attempt that may succeed later; `wait`: the seconds that the endpoint
    asks for.

    `kind`: failures are alike by status and error type, never by message: it may count
    down. `billed`: what is paid for nevertheless. `advice`: what to do if it does not
    pass. `attempts`: after so many the job ends; None: the request fails after the
    card's attempts. `unanswered`: the connection ended before an answer came.
    """

    def __init__(
        self,
        reason: str,
        kind: str,
        wait: float | None = None,
        *,
        throttled: bool = False,
        unanswered: bool = False,
        billed: Sequence[Reply] = (),
        advice: str = "",
        attempts: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.wait = wait
        self.throttled = throttled
        self.billed = billed
        self.advice = advice
        self.attempts = attempts
        self.unanswered = unanswered

    def final(self, reason: str) -> "TransientError":
        """Return the same failure as the last of its request, and why it is the
        last.
        """
        return TransientError(f"{self} ({reason})", self.kind, advice=self.advice)


class Endpoint:
    """The address of a card, its key, and how it is asked once.

    A subclass knows the protocol: `body`, `read`, and what to do about refusals.
    """

    def __init__(
        self,
        card: EndpointModel,
        key: str | None = None,
        *,
        budget: Budget | None = None,
    ) -> None:
        """`key`: by default what the variable or the file holds that the card names."""
        self.card = card
        self.budget = budget
        self.answered = False
        """Whether a request of `request` was answered: not every one is refused."""
        address = URL(f"{card.base_url.rstrip('/')}{card.route}")
        self.url = address.with_query(card.query)
        self.key = card.key_source.read() if key is None else key
        login = connection.proxy_login(card)
        self._secrets = {"<proxy password>": login[1]} if login else {}
        self.redactor = Redactor({"<key>": self.key, **self._secrets})

    def refusal(self, error: RefusedError) -> UserError:
        """Return the error for an endpoint that refuses a plain request."""
        if error.status not in REFUSED:
            return self._rejected(error.status, str(error), error.advice)
        return self.error(
            f"the endpoint refused a simple test request: {error}",
            f"check {self.keys_to_check(str(error))} in the card",
        )

    def error(self, problem: str, todo: str) -> UserError:
        """Return the error of an endpoint's problem."""
        return UserError(
            problem,
            where=f"models/{self.card.model}.yaml",
            got=f"{self.card.served_name} at {self.card.base_url}",
            todo=todo,
        )

    async def ask(
        self,
        session: "aiohttp.ClientSession",
        request: Request,
        draws: Sequence[int],
        *,
        renew: bool = True,
        probing: bool = False,
    ) -> tuple[list[Reply], float]:
        """Send one request for consecutive draws, once more with a new key if the old
        one expired.

        Return the replies, and the seconds for which the endpoint has nothing left.
        Raises TransientError, RefusedError, or UserError if no request can succeed.
        `probing`: the caller compares this request with an answered one, so any refusal
        is about this request.
        """
        import aiohttp  # planning makes endpoints and sends nothing

        body = orjson.dumps(self.body(request, draws))
        key = self.key
        text: str | None = None
        try:
            async with session.post(
                self.address(request),
                data=body,
                headers=connection.key_header(self.card, key),
                allow_redirects=False,
            ) as response:
                status = response.status
                headers = response.headers
                parts = response.content.iter_chunked(1 << 16)
                text = await wire.text_of(parts, headers.get("Content-Encoding", ""))
            if status == 200:
                replies = self.read(text, request, draws)
                seconds = rate.exhausted(headers)
                return [self.cleaned(reply) for reply in replies], seconds
        except wire.NoReplyError as error:
            kind = self.safe(str(error))
            reason = kind
            if text is not None:
                reason = f"{kind}: {self.safe(text)[:QUOTED]!r}"
            usages = error.billed if status == 200 else ()
            billed = [Reply(request.key, draws[0], "", usage=usage) for usage in usages]
            raise TransientError(
                reason, kind, billed=billed, advice=refusals.HALF
            ) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise self._unconnected(error) from None
        unauthorised = 401
        if status == unauthorised and renew and self._renewed(key):
            return await self.ask(session, request, draws, renew=False, probing=probing)
        raise self._not_replied(status, text, headers, probing=probing)

    def _unconnected(self, error: Exception) -> Exception:
        """Return the error for a request without an answer: transient, or one that ends
        the job.
        """
        import aiohttp  # planning makes endpoints and sends nothing

        if getattr(error, "status", None) == PROXY_UNAUTHORISED:  # no tunnel to https
            reason = f"HTTP {PROXY_UNAUTHORISED} from the proxy"
            return self._rejected(
                PROXY_UNAUTHORISED, reason, self.advice(PROXY_UNAUTHORISED, "", {})
            )
        reason = self.safe(str(error)) or type(error).__name__
        host = getattr(error, "host", None)
        proxied = self.card.proxy is not None and URL(self.card.proxy).host == host
        advice = refusals.connection_advice(error, self.url.scheme, proxied=proxied)
        if advice is not None:
            return self.error(f"no connection to the endpoint: {reason}", advice)
        if isinstance(error, aiohttp.ClientConnectorDNSError):
            key = "proxy" if proxied else "base_url"
            return TransientError(
                f"no response: {reason}",
                type(error).__name__,
                advice=f"host not found: check `{key}` of the card, and this machine's "
                "network",
                attempts=refusals.HOST_ATTEMPTS,
            )
        return TransientError(
            f"no response: {reason}",
            type(error).__name__,
            unanswered=True,
            advice=refusals.broken_advice(error, self.url.scheme),
        )

    def _not_replied(
        self, status: int, text: str, headers: Mapping[str, str], *, probing: bool
    ) -> Exception:
        """Return the error for an answer without a reply (see `ANSWER_RULES`)."""
        message = self.safe(wire.message_of(text))
        reason = f"HTTP {status}: {message}" if message else f"HTTP {status}"
        outcome = refusals.answer_rule(status, text).outcome
        advice = self.advice(status, text, headers)
        if refusals.PLAIN_TO_TLS.search(text) and self.url.scheme == "http":
            advice = "this port speaks TLS: write https:// in `base_url` of the card"
            return self._rejected(status, reason, advice)
        # 4xx that are never about a single field: key, account, proxy, load
        job_wide = {401, 402, 407, 408, 409, 425, 429}
        about_request = status in REFUSED or (
            400 <= status < 500
            and status not in job_wide
            and refusals.QUOTA not in text.lower()
        )
        rule = None
        if about_request:
            rule = refusals.refusal_rule(status, text)
        if outcome == "refuse" or rule or (probing and about_request):
            return RefusedError(status, reason, rule, advice)
        if outcome == "retry":
            return TransientError(
                reason,
                f"HTTP {status} {wire.error_kind(text)}",
                rate.asked_wait(headers),
                throttled=status == 429,
                advice=advice,
            )
        if 300 <= status < 400:
            reason += f" (moved to {self.safe(headers.get('Location', 'nowhere'))})"
        return self._rejected(status, reason, advice)

    def advice(self, status: int, text: str, headers: Mapping[str, str]) -> str:
        """Return what to do about an answer, with what the table leaves open."""
        rule = refusals.answer_rule(status, text)
        location = self.safe(headers.get("Location", ""))
        moved = refusals.moved_to(self.url, location, self.card.route)
        if rule.advice == refusals.MOVED and moved is None:
            return refusals.MOVED_NOWHERE
        key = refusals.NO_KEY
        if self.card.key_source:
            key = str(self.card.key_source)
        return rule.advice.format(key=key, proxy=self.card.proxy_auth, moved=moved)

    def _rejected(self, status: int, reason: str, advice: str) -> UserError:
        """Return the error of a request that cannot succeed."""
        by_proxy = status == PROXY_UNAUTHORISED
        return UserError(
            f"the {'proxy' if by_proxy else 'endpoint'} rejected a request: {reason}",
            where=f"models/{self.card.model}.yaml",
            got=self.card.proxy if by_proxy else self.card.base_url,
            todo=f"{advice}; received replies are stored",
        )

    def _renewed(self, expired: str) -> bool:
        """Let the card's program print a new key, unless another request did; return
        whether so.

        All requests wait for it: none would be answered.
        """
        if self.key == expired and self.card.token_command:
            self.key = self.card.key_source.read()
            self.redactor = Redactor(
                {"<key>": self.key, "<old key>": expired, **self._secrets}
            )
        return self.key != expired

    def address(self, request: Request) -> URL:
        """Return the address to which a request is sent; here all go to one."""
        return self.url

    def body(self, request: Request, draws: Sequence[int]) -> dict[str, Any]:
        """Return the body that asks for consecutive draws of a request."""
        raise NotImplementedError

    def read(self, text: str, request: Request, draws: Sequence[int]) -> list[Reply]:
        """Return the replies in an answer; NoReplyError if it has none."""
        raise NotImplementedError

    def keys_to_check(self, reason: str) -> str:
        """Return the keys of the card that may be wrong if every request is refused."""
        raise NotImplementedError

    def clean(self, text: str) -> str:
        """Return an endpoint's text without the key: some send it back, even in a
        reply.
        """
        return wire.HALVES.sub("\ufffd", self.redactor.redact(text))

    def safe(self, text: str) -> str:
        """Return an endpoint's text without the key, short and on one line."""
        return " ".join(CONTROL.sub(" ", self.clean(text)).split())[:SHOWN]

    def cleaned(self, reply: Reply) -> Reply:
        """Return a reply without the key."""
        if not self.redactor and not wire.HALVES.search(reply.text):
            return reply
        provenance = {}
        for name, value in (reply.provenance or {}).items():
            provenance[name] = self.clean(value)
        return replace(
            reply,
            text=self.clean(reply.text),
            finish=self.clean(reply.finish),
            provenance=provenance,
            logprobs=None
            if wire.spells(reply.logprobs, self.redactor)
            else reply.logprobs,
        )
