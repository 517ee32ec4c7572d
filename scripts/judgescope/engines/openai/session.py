"""The session in which a job asks an endpoint, with the rule that reuses a connection.

aiohttp is imported when a session is opened: planning imports every engine and sends
nothing, and importing aiohttp reads all certificates of the system.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from judgescope.core.process_limits import allow_connections
from judgescope.engines.openai.connection import OPENS_ANOTHER, proxy, trusted
from judgescope.engines.openai.wire import ACCEPTED
from judgescope.schema.cards import EndpointModel

if TYPE_CHECKING:
    import aiohttp
    from aiohttp.connector import Connection


@cache
def _connector_class() -> "type[aiohttp.TCPConnector]":
    """Return the class of connectors, which needs aiohttp to be defined."""
    import aiohttp

    class Connector(aiohttp.TCPConnector):
        """Reuses a connection only if nothing came on it after its last answer:
        aiohttp would take a second answer to the last request for the answer to the
        next one. A task that has set `OPENS_ANOTHER` reuses none.
        """

        async def _get(self, key: Any, traces: list[Any]) -> "Connection | None":
            if OPENS_ANOTHER.get():
                return None
            while (connection := await super()._get(key, traces)) is not None:
                if connection.protocol is None or not connection.protocol.should_close:
                    return connection
                connection.close()
            return None

    return Connector


def session(card: EndpointModel) -> "aiohttp.ClientSession":
    """Return a session without the key, and no limit of its own on connections."""
    import aiohttp

    seconds = card.limits.timeout
    allow_connections(card.limits.concurrency)
    connector = _connector_class()
    connect_seconds = 30.0
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(
            total=seconds, sock_connect=min(connect_seconds, seconds)
        ),
        connector=connector(limit=0, ttl_dns_cache=300, ssl=trusted(card) or True),
        proxy=proxy(card),
        trust_env=False,  # neither HTTPS_PROXY nor .netrc
        cookie_jar=aiohttp.DummyCookieJar(),
        # aiohttp would block other answers, and has no size limit
        auto_decompress=False,
        headers={
            "Content-Type": "application/json",
            "Accept-Encoding": ACCEPTED,
            **card.headers,
        },
    )
