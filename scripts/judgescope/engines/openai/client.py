"""The client of the routes that no job needs: files and batches, by the package `openai`.

Jobs ask with aiohttp, which takes an eighth of the processor time.
"""

from typing import TYPE_CHECKING, Any

from judgescope.core.errors import UserError
from judgescope.engines.openai import connection
from judgescope.schema.cards import OpenAIModel

if TYPE_CHECKING:
    from openai import OpenAI

FROM_VARIABLES = ("Authorization", "OpenAI-Organization", "OpenAI-Project")
"""Headers that the package takes from variables of the environment."""


def client(card: OpenAIModel, key: str) -> "OpenAI":
    """Return a client of the card's endpoint: its proxy, certificates and headers, and the key.

    Raises UserError if the package is not installed.
    """
    try:
        import openai
    except ImportError:
        raise UserError(
            "the package `openai` is not installed",
            where="judgescope batch",
            todo="make env-batch, or pip install openai; `judgescope batch export` and `import` do "
            "without",
        ) from None

    def authorise(request: Any) -> None:
        for name in FROM_VARIABLES:
            request.headers.pop(name, None)
        request.headers.update(card.headers)
        request.headers.update(connection.key_header(card, key))

    return openai.OpenAI(
        base_url=card.base_url,
        api_key="none",
        timeout=card.limits.timeout,
        default_query=card.query,
        http_client=openai.DefaultHttpxClient(
            proxy=connection.proxy(card),
            verify=connection.trusted(card) or True,
            trust_env=False,
            follow_redirects=False,  # another server would be sent the key
            event_hooks={"request": [authorise]},
        ),
    )
