"""The judge that `judgescope init` is told of: its address, its model, and the name of its key."""

import argparse
import re

from judgescope.cli.init.cards import Endpoint
from judgescope.core.errors import UserError
from judgescope.core.secrets import LONG
from judgescope.schema.cards.models import ADDRESS

VARIABLE = re.compile(r"[A-Za-z_]\w*")
MARKED = re.compile(r"(sk|hf|gsk|xai)[-_].{8,}")
"""A part of an address or a name that may be a key, as some providers mark it."""
AFTER = ("key_env", "price", "form", "draws")
"""Flags that say more of an endpoint."""


def key_name(text: str) -> str | None:
    """Return the name of a variable; what looks like a key itself is refused, and not shown."""
    if not text:
        return None
    if not VARIABLE.fullmatch(text) or LONG.fullmatch(text):
        raise UserError(
            "this is no name of an environment variable; a key itself is never written to a card",
            where="--key-env",
            allowed="like MY_KEY",
            todo="export MY_KEY=… and give the name, MY_KEY",
        )
    return text


def address(text: str) -> str:
    """Return an endpoint's address; one that a card cannot have, or with a key, is not shown."""
    if not text:
        return ""
    if not re.search(ADDRESS, text):
        raise UserError(
            "this is no address of an endpoint",
            where="--endpoint",
            allowed="http(s)://host/v1, without a password or ?query",
        )
    for part in text.split("/")[3:]:
        _check_open(part, "--endpoint")
    return text


def model_name(text: str) -> str:
    """Return a model's name; what looks like a key is refused, and not shown."""
    if not text:
        raise UserError("this has no usual answer", where="the model's name")
    for part in text.split("/"):
        _check_open(part, "--model")
    return text


def _check_open(text: str, where: str) -> None:
    """Raise UserError for what may be a key: a mark of one, or a long run of letters and digits.

    Names of models are long, too, but are made of words and versions with signs between them.
    """
    runs = re.split(r"[^A-Za-z0-9]+", text)
    if MARKED.fullmatch(text) or any(map(LONG.fullmatch, runs)):
        raise UserError(
            "this may hold a key, which is never written to a card",
            where=where,
            todo="export MY_KEY=… and name it: --key-env MY_KEY",
        )


def endpoint_of(told: argparse.Namespace) -> Endpoint | None:
    """Return the endpoint of the flags; raise UserError where they tell half of one."""
    if (told.endpoint is None) != (told.model is None):
        missing = "--model" if told.model is None else "--endpoint"
        raise UserError("an endpoint and its model belong together", where=missing)
    more = {name: value for name in AFTER if (value := getattr(told, name)) is not None}
    if told.endpoint is None:
        if more:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in more)
            todo = "name --endpoint and --model, too, or leave it out"
            raise UserError("this says how an endpoint is asked", where=flags, todo=todo)
        return None
    more["key_env"] = key_name(told.key_env or "")
    more["price"] = tuple(told.price) if told.price else None
    return Endpoint(address(told.endpoint), model_name(told.model), **more)
