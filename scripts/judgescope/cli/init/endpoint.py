"""The endpoint that `judgescope init` writes a card for: by its flags and answers."""

import argparse
import re
from dataclasses import replace
from pathlib import Path

from judgescope.cli.init.cards import Endpoint
from judgescope.core.api_keys import KeySource
from judgescope.core.errors import UserError
from judgescope.core.paths import HOME
from judgescope.core.secrets import LONG
from judgescope.schema.cards import FOLDERS
from judgescope.schema.cards.models import ADDRESS
from judgescope.schema.loading import load_yaml

VARIABLE = re.compile(r"[A-Za-z_]\w*")
MARKED = re.compile(r"(sk|hf|gsk|xai)[-_].{8,}")
"""A part of an address or a name that may be a key, with the prefix of some providers."""
PROVIDERS = (
    *("openai", "openai-reasoning", "azure", "azure-token", "anthropic", "gemini", "openrouter"),
    *("ollama", "vllm", "llama-cpp"),
)
"""Models' cards that ship, one for each way to ask a provider."""


def endpoint_of(args: argparse.Namespace) -> Endpoint | None:
    """Return the endpoint of the flags; raise UserError where they say half of one."""
    if args.provider is None and (args.endpoint is None) != (args.model is None):
        missing = "--model" if args.model is None else "--endpoint"
        raise UserError("--endpoint and --model must be given together", where=missing)
    options = ("key_env", "key_file", "price", "form", "draws")
    more = {name: value for name in options if (value := getattr(args, name)) is not None}
    if args.endpoint is None and args.provider is None:
        if more:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in more)
            todo = "add --endpoint and --model, or --provider, or drop this option"
            raise UserError("this option configures an endpoint", where=flags, todo=todo)
        return None
    if args.key_env and args.key_file:
        raise UserError("the key can have only one source", where="--key-env and --key-file")
    more["key_env"] = key_name(args.key_env or "")
    if args.key_file is not None:
        more["key_file"] = key_file(args.key_file, args.model)
    more["price"] = tuple(args.price) if args.price else None
    if args.provider is None:
        return Endpoint(address(args.endpoint), model_name(args.model), **more)
    shipped = provided(args.provider)
    return replace(
        shipped,
        url=address(args.endpoint or shipped.url),
        model=model_name(args.model or shipped.model),
        **{**more, "key_env": more["key_env"] or (None if args.key_file else shipped.key_env)},
    )


def provided(provider: str) -> Endpoint:
    """Return the endpoint of a provider's card that ships."""
    card, _ = load_yaml(HOME / "config" / FOLDERS["model"] / f"{provider}.yaml")
    rest = {key: value for key, value in card.items() if key not in {"model", "api_key_env"}}
    return Endpoint(card["base_url"], card["name"], card.get("api_key_env"), card=rest)


def key_name(text: str) -> str | None:
    """Return the name of a variable; what looks like a key itself is refused, and not shown."""
    if not text:
        return None
    if not VARIABLE.fullmatch(text) or LONG.fullmatch(text):
        raise UserError(
            "this is not the name of an environment variable; the key itself is never written to "
            "a card",
            where="--key-env",
            allowed="like MY_KEY",
            todo="export MY_KEY=… and give the name, MY_KEY",
        )
    return text


def key_file(text: str, model: str) -> str:
    """Return the absolute path of a usable file of a key; a path that may be a key is not shown."""
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise UserError("no such file", where="--key-file", todo="name a file with only the key")
    try:
        KeySource(model=model, file=str(path)).read()
    except UserError as error:
        error.where = "--key-file"
        raise
    return str(path)


def address(text: str) -> str:
    """Return an endpoint's address; one that is invalid, or may hold a key, is not shown."""
    if not text:
        return ""
    if not re.search(ADDRESS, text):
        raise UserError(
            "this is not the URL of an endpoint",
            where="--endpoint",
            allowed="http(s)://host/v1, without a password or ?query",
        )
    for part in text.split("/")[3:]:
        _check_open(part, "--endpoint")
    return text


def model_name(text: str) -> str:
    """Return a model's name; what looks like a key is refused, and not shown."""
    if not text:
        raise UserError("a name is required", where="the model's name")
    for part in text.split("/"):
        _check_open(part, "--model")
    return text


def _check_open(text: str, where: str) -> None:
    """Raise UserError for a possible key: a prefix of one, or a long run of letters and digits.

    Names of models are long, too, but are made of words and versions with signs between them.
    """
    runs = re.split(r"[^A-Za-z0-9]+", text)
    if MARKED.fullmatch(text) or any(map(LONG.fullmatch, runs)):
        raise UserError(
            "this may hold a key, which is never written to a card",
            where=where,
            todo="export MY_KEY=… and name it: --key-env MY_KEY",
        )
