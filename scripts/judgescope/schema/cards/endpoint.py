"""The keys that all cards of models behind an HTTP endpoint share."""

import re
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from judgescope.core.api_keys import KeySource
from judgescope.schema.cards.base import (
    Access,
    Asking,
    JsonFields,
    Price,
)
from judgescope.schema.cards.models import (
    REQUEST_NAMES,
    BaseAskedModel,
    Limits,
)

ADDRESS = r"^https?://[^/@\s?#]+(/[^\s?#]*)?$"
"""An endpoint's address, without a name, a password or a query, which may be
secrets."""


PROXY = r"^https?://[^/@\s?#]+/?$"


def check_free(key: str, taken: set[str], reason: str) -> None:
    """Raise ValueError if a key of a card has names that something else sets."""
    if taken:
        names = ", ".join(sorted(taken))
        raise ValueError(f"{key} may not contain {names}: {reason}")


class EndpointModel(BaseAskedModel):
    """The keys of a model behind an endpoint: its address, its key, its price."""

    ROUTES: ClassVar[tuple[str, ...]]
    """The ends of addresses of requests, which no `base_url` has."""

    base_url: Access[str] = Field(pattern=ADDRESS)
    """The URL of the endpoint, with its version: `.../v1`; without a password."""
    name: Asking[str | None] = None
    """The name by which the endpoint knows the model; default: the id."""
    api_key_env: Access[str | None] = Field(None, pattern=r"^[A-Za-z_]\w*$")
    """The environment variable that holds the key; never the key itself."""
    api_key_file: Access[str | None] = Field(None, min_length=1)
    """A file that holds the key, in place of `api_key_env`: relative to the card's
    folder or absolute, readable only by you (`chmod 600`), outside `config` and
    `results`."""
    token_command: Access[list[str] | None] = Field(None, min_length=1)
    """A program and its arguments, one list entry each, that prints the key, in place
    of `api_key_env`: for keys that expire. It runs when a job starts, and again when
    the endpoint answers 401; no shell interprets it."""
    key_header: Access[str] = Field("Authorization", pattern=r"^[A-Za-z][A-Za-z-]*$")
    """The header that carries the key: `Authorization` (as a bearer token), or the
    endpoint's own, such as Azure's `api-key`."""
    headers: Access[dict[str, str]] = Field({})
    """Further headers of every request."""
    query: Access[dict[str, str]] = Field({})
    """Query parameters of the URL, such as Azure's `api-version`."""
    proxy: Access[str | None] = Field(None, pattern=PROXY)
    """The URL of the HTTP proxy through which the endpoint is reached; default: none.
    Variables such as HTTPS_PROXY have no effect."""
    proxy_auth_env: Access[str | None] = Field(None, pattern=r"^[A-Za-z_]\w*$")
    """The environment variable that holds `user:password` for the proxy."""
    proxy_auth_file: Access[str | None] = Field(None, min_length=1)
    """A file that holds `user:password`, in place of `proxy_auth_env`; the rules of
    `api_key_file` apply."""
    ca_file: Access[str | None] = Field(None, min_length=1)
    """A file of certificates (PEM) that are trusted in place of the system's, for the
    endpoint and an https proxy: relative to the card's folder or absolute."""
    revision: Asking[str | None] = None
    """The revision of the weights, if known."""
    variant: Asking[str | None] = None
    """What the name does not show: quantisation, server, build. Replies are stored by
    name, revision and variant, not by URL: give different weights a different
    variant."""
    extra_body: Asking[JsonFields] = Field({})
    """Further fields of every request, such as chat_template_kwargs or
    reasoning_effort."""
    price: Access[Price | None] = None
    """The price of its tokens; default: that of `name` at this host in
    config/prices.yaml, else unknown."""
    limits: Access[Limits] = Limits()
    """Limits on requests."""

    @field_validator("base_url")
    @classmethod
    def _without_route(cls, url: str) -> str:
        for route in cls.ROUTES:
            begin = url.rstrip("/").removesuffix(route)
            if begin != url.rstrip("/"):
                raise ValueError(f"{route} is added to it: write {begin}")
        return url

    @field_validator("base_url", "proxy")
    @classmethod
    def _reachable(cls, url: str | None) -> str | None:
        if url is None:
            return None
        from yarl import URL  # here: `audit` runs without

        try:
            URL(url)  # as the HTTP client will read it
            address = urlsplit(url)
            host = address.hostname or ""
            port = address.port
            host.encode("idna").decode("idna")
        except ValueError as error:
            raise ValueError(f"this is not a URL: {error}") from None
        labels = host.removesuffix(".").split(".")
        if (
            port == 0
            or not host.isprintable()
            or not all(1 <= len(label) <= 63 for label in labels)
        ):
            raise ValueError("this is not a URL: the host or the port is invalid")
        return url

    @model_validator(mode="after")
    def _sendable(self) -> Self:
        key_sources = [self.api_key_env, self.api_key_file, self.token_command]
        if len([source for source in key_sources if source]) > 1:
            raise ValueError(
                "give only one of `api_key_env`, `api_key_file` and `token_command`"
            )
        named = [
            name
            for name in ("proxy_auth_env", "proxy_auth_file")
            if getattr(self, name)
        ]
        if len(named) > 1 or (named and self.proxy is None):
            raise ValueError(
                "give only one of `proxy_auth_env` and `proxy_auth_file`, and only "
                "together with `proxy`"
            )
        headers = {name.lower() for name in self.headers}
        secret = headers & REQUEST_NAMES.secret_headers
        framing = headers & REQUEST_NAMES.framing
        check_free("headers", secret, "use the settings of the key")
        check_free("headers", framing, "the HTTP client sets it")
        for name, value in self.headers.items():
            is_name = re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_|~-]+", name)
            if not is_name or not value.isprintable():
                raise ValueError(f"headers: {name!r} is not a valid HTTP header")
        return self

    @property
    def route(self) -> str:
        """Return the end of the address of its requests, after `base_url`."""
        return self.ROUTES[0]

    @property
    def served_name(self) -> str:
        """Return the name by which the endpoint knows the model."""
        return self.name or self.model

    @property
    def key_source(self) -> KeySource:
        """Return the source of the endpoint's key, for a card with absolute paths."""
        return KeySource(
            model=self.model,
            variable=self.api_key_env,
            file=self.api_key_file,
            command=self.token_command,
        )

    @property
    def proxy_auth(self) -> KeySource:
        """Return the source of the proxy's user and password, for a card with absolute
        paths.
        """
        return KeySource(
            model=self.model,
            variable=self.proxy_auth_env,
            file=self.proxy_auth_file,
            what="the proxy's user and password",
            key="proxy_auth",
        )

    def identity(self) -> dict[str, Any]:
        """Return what changes a reply: the card's part of every request's key."""
        keys = {"engine", "revision", "variant", "extra_body"}
        return {"model": self.served_name, **self.model_dump(include=keys)}
