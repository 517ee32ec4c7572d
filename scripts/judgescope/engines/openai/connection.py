"""The HTTP connection of a model card: through its proxy, with its certificates and its key.

Nothing comes from variables of the environment except the key, where the card names one.
"""

import ssl

import aiohttp

from judgescope.core.errors import UserError
from judgescope.engines.openai.wire import ACCEPTED
from judgescope.schema.cards import OpenAIModel

CONNECT_SECONDS = 30.0


def session(card: OpenAIModel) -> aiohttp.ClientSession:
    """Return a session without the key, and no limit of its own on connections."""
    seconds = card.limits.timeout
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=min(CONNECT_SECONDS, seconds)),
        connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, ssl=trusted(card) or True),
        proxy=card.proxy,
        trust_env=False,  # neither HTTPS_PROXY nor .netrc
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,  # aiohttp would block other answers, and knows no limit
        headers={
            "Content-Type": "application/json",
            "Accept-Encoding": ACCEPTED,
            **card.headers,
        },
    )


def key_header(card: OpenAIModel, key: str) -> dict[str, str]:
    """Return the header that carries a key; none without a key."""
    if not key:
        return {}
    bearer = card.key_header.lower() == "authorization"
    return {card.key_header: f"Bearer {key}" if bearer else key}


def trusted(card: OpenAIModel) -> ssl.SSLContext | None:
    """Return the certificates that a located card trusts, None for the system's.

    Raises UserError for a file that holds none.
    """
    if card.ca_file is None:
        return None
    try:
        return ssl.create_default_context(cafile=card.ca_file)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        missing = isinstance(error, FileNotFoundError)
        raise UserError(
            "this file holds no certificate in PEM" if not missing else "file not found",
            where=f"models/{card.model}.yaml, key ca_file",
            got=card.ca_file,
            todo="name the file with the certificate of the authority that signs the endpoint's",
        ) from None
