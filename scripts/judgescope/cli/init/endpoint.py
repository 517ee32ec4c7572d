"""The endpoint for which `judgescope init` writes a card, from flags and answers."""

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from judgescope.core.api_keys import KeySource
from judgescope.core.errors import UserError
from judgescope.core.paths import HOME
from judgescope.core.secrets import LONG
from judgescope.schema.cards import FOLDERS
from judgescope.schema.cards.endpoint import ADDRESS, PROXY
from judgescope.schema.loading import load_yaml

SOURCES: Final = (
    ("api_key_env", "api_key_file", "token_command"),
    ("proxy_auth_env", "proxy_auth_file"),
)
"""Keys of a card that give the source of a secret; each group allows only one."""


@dataclass(frozen=True)
class EndpointDraft:
    """An OpenAI-compatible endpoint: keys of its model's card, prompt form and
    draws.
    """

    card: Mapping[str, Any]
    form: str | None = None
    """The prompt form; None: the form that suits people's ratings, labels or
    choices."""
    draws: int = 1

    def having(self, **keys: object) -> "EndpointDraft":
        """Return the endpoint with these keys in its card; None or an empty value
        removes a key.

        A new source of a secret replaces the earlier one.
        """
        card = {**self.card, **keys}
        for sources in SOURCES:
            if keys.keys() & sources:
                card |= {name: keys.get(name) for name in sources}
        return replace(
            self, card={name: value for name, value in card.items() if value}
        )


def endpoint_of(args: argparse.Namespace) -> EndpointDraft | None:
    """Return the endpoint of the flags; raise UserError if they describe only half of
    one.
    """
    if args.provider is None and (args.endpoint is None) != (args.model is None):
        flag, value = (
            ("--model", "NAME") if args.model is None else ("--endpoint", "URL")
        )
        what = "--endpoint and --model must be given together"
        raise UserError(what, where=flag, todo=f"add {flag} {value}")
    given = {
        key: value
        for key in ("price", "form", "draws", *ACCESS)
        if (value := getattr(args, key.removeprefix("api_"))) is not None
    }
    flags = {key: f"--{key.removeprefix('api_').replace('_', '-')}" for key in given}
    if args.endpoint is None and args.provider is None:
        if given:
            todo = "add --endpoint and --model, or --provider, or drop this option"
            where = ", ".join(flags.values())
            raise UserError("this option needs an endpoint", where=where, todo=todo)
        return None
    keys: dict[str, Any] = {
        key: read(given[key], flags[key])
        for key, read in ACCESS.items()
        if key in given
    }
    for sources in SOURCES:
        if len(named := [flags[key] for key in sources if key in keys]) > 1:
            raise UserError(
                "a secret can have only one source", where=" and ".join(named)
            )
    if args.endpoint is not None:
        keys["base_url"] = address(args.endpoint)
    if args.model is not None:
        keys["name"] = model_name(args.model)
    if args.price:
        keys["price"] = dict(zip(("input", "output"), args.price, strict=True))
    shipped = provided(args.provider) if args.provider else EndpointDraft({})
    return replace(shipped.having(**keys), form=args.form, draws=args.draws or 1)


def provided(provider: str) -> EndpointDraft:
    """Return the endpoint of the card that judgescope has for a provider."""
    card, _ = load_yaml(HOME / "config" / FOLDERS["model"] / f"{provider}.yaml")
    return EndpointDraft({key: value for key, value in card.items() if key != "model"})


def variable(text: str, where: str = "--key-env") -> str:
    """Return a variable's name; what looks like a secret is refused, and never
    printed.
    """
    variable_name = re.compile(r"[A-Za-z_]\w*")
    if text and (not variable_name.fullmatch(text) or LONG.fullmatch(text)):
        raise UserError(
            "this is not the name of an environment variable; a key or password itself "
            "is never written to a card",
            where=where,
            allowed="like MY_KEY",
            todo="export MY_KEY=… and give the name, MY_KEY",
        )
    return text


def secret_file(text: str, where: str = "--key-file") -> str:
    """Return the absolute path of a secret's file; a path that may be a secret is not
    printed.
    """
    path = _file(
        text, where, "name a file with only the key, or with user:password of the proxy"
    )
    try:
        KeySource(model="", file=path).read()
    except UserError as error:
        error.where = where
        raise
    return path


def ca_file(text: str, where: str = "--ca-file") -> str:
    """Return the absolute path of a file of certificates."""
    if text:
        return _file(text, where, "name a PEM file of certificates")
    return ""


def _file(text: str, where: str, todo: str) -> str:
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise UserError("no such file", where=where, todo=todo)
    return str(path)


def address(text: str, where: str = "--endpoint") -> str:
    """Return an endpoint's address; an invalid one, which may contain a key, is not
    printed.
    """
    if not text:
        return ""
    if not re.search(ADDRESS, text):
        raise UserError(
            "this is not the URL of an endpoint",
            where=where,
            allowed="http(s)://host/v1, without a password or ?query",
        )
    for part in text.split("/")[3:]:
        _check_open(part, where)
    return text


def proxy(text: str, where: str = "--proxy") -> str:
    """Return a proxy's address; an invalid one, which may contain a password, is not
    printed.
    """
    if text and not re.search(PROXY, text):
        raise UserError(
            "this is not the URL of a proxy",
            where=where,
            allowed="http(s)://host:port, without user name and password",
            todo="leave user name and password out of the URL: export "
            "PROXY_LOGIN=user:password, then pass --proxy-auth-env PROXY_LOGIN or "
            "enter it in the line `proxy login`",
        )
    return text


def model_name(text: str) -> str:
    """Return a model's name; what looks like a key is refused, and never printed."""
    if not text:
        raise UserError("a name is required", where="the model's name")
    for part in text.split("/"):
        _check_open(part, "--model")
    return text


def _check_open(text: str, where: str) -> None:
    """Raise UserError for a possible key: a key's prefix, or a long run of letters and
    digits.

    Long names of models pass: they consist of words and versions, separated by signs.
    """
    runs = re.split(r"[^A-Za-z0-9]+", text)
    # A part of an address or a name that may be a key: it has a provider's prefix.
    marked_key = re.compile(r"(sk|hf|gsk|xai)[-_].{8,}")
    if marked_key.fullmatch(text) or any(map(LONG.fullmatch, runs)):
        raise UserError(
            "this may contain a key, which is never written to a card",
            where=where,
            todo="export MY_KEY=… and name it: --key-env MY_KEY",
        )


ACCESS: Final[dict[str, Callable[[str, str], str]]] = {
    "api_key_env": variable,
    "api_key_file": secret_file,
    "proxy": proxy,
    "proxy_auth_env": variable,
    "proxy_auth_file": secret_file,
    "ca_file": ca_file,
}
"""A key of a model's card that a flag sets -> how its value is checked."""
