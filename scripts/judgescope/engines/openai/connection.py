"""The HTTP connection of a model card: through its proxy, with its certificates and its
key.

Nothing comes from variables of the environment except the key, where the card names
one.
"""

import ssl
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from judgescope.core.errors import UserError
from judgescope.core.extras import install_command
from judgescope.core.secrets import KEYS_READ
from judgescope.schema.cards import EndpointModel

if TYPE_CHECKING:
    from openai import OpenAI

OPENS_ANOTHER: ContextVar[bool] = ContextVar("opens_another", default=False)
"""Whether this task's next request goes over a new connection.

A server may close a connection after its answer without a word. Several such
connections can wait in the pool, and every attempt of a request would meet another one.
"""


def proxy_login(card: EndpointModel) -> tuple[str, str] | None:
    """Return the proxy's user and password, None if the card names none.

    Raises UserError for a variable or a file that holds no `user:password`.
    """
    source = card.proxy_auth
    if not source:
        return None
    source.check()
    user, colon, password = source.read().partition(":")
    if not (user and colon and password):
        raise source.error("this is not a user and a password", "store user:password")
    KEYS_READ[f"<password of the proxy of {card.model}>"] = password
    return user, password


def proxy(card: EndpointModel) -> str | None:
    """Return the proxy's URL, with user and password: no text but an HTTP client's may
    have it.
    """
    login = proxy_login(card)
    if card.proxy is None or login is None:
        return card.proxy
    scheme, slashes, rest = card.proxy.partition("://")
    return f"{scheme}{slashes}{':'.join(quote(part, safe='') for part in login)}@{rest}"


def key_header(card: EndpointModel, key: str) -> dict[str, str]:
    """Return the header that carries a key; none without a key."""
    if not key:
        return {}
    bearer = card.key_header.lower() == "authorization"
    return {card.key_header: f"Bearer {key}" if bearer else key}


def trusted(card: EndpointModel) -> ssl.SSLContext | None:
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
            "this file holds no certificate in PEM"
            if not missing
            else "file not found",
            where=f"models/{card.model}.yaml, key ca_file",
            got=card.ca_file,
            todo="name the file with the certificate of the authority that signs the "
            "endpoint's",
        ) from None


def with_certificates(card: EndpointModel, folder: Path, data: Path) -> EndpointModel:
    """The card of an endpoint with absolute paths, after a look at its certificates.

    Raises UserError if the file `ca_file` holds none.
    """
    trusted(card)
    return card


# ---- the client of the routes that no job needs: files and batches, by the package
# `openai`; jobs ask with aiohttp, which takes an eighth of the processor time ----


def client(card: EndpointModel, key: str) -> "OpenAI":
    """Return a client of the card's endpoint: its proxy, certificates and headers, and
    the key.

    Raises UserError if the package is not installed.
    """
    try:
        import openai
    except ImportError:
        raise UserError(
            "the package `openai` is not installed",
            where="judgescope batch",
            todo=f"{install_command('batch')}, or use `judgescope batch export` and "
            "`import`, which do without",
        ) from None

    # Headers that the package takes from variables of the environment.
    from_variables = ("Authorization", "OpenAI-Organization", "OpenAI-Project")

    def authorise(request: Any) -> None:
        for name in from_variables:
            request.headers.pop(name, None)
        request.headers.update(card.headers)
        request.headers.update(key_header(card, key))

    return openai.OpenAI(
        base_url=card.base_url,
        api_key="none",
        timeout=card.limits.timeout,
        default_query=card.query,
        http_client=openai.DefaultHttpxClient(
            proxy=proxy(card),
            verify=trusted(card) or True,
            trust_env=False,
            follow_redirects=False,  # another server would be sent the key
            event_hooks={"request": [authorise]},
        ),
    )
