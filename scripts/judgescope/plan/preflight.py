"""What is checked of a study's files before any job of it runs."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from judgescope.core.errors import UserError
from judgescope.core.redaction import check_key
from judgescope.data.files import verify
from judgescope.engines import command
from judgescope.schema.cards import CommandModel, Hub


def _files(card: dict[str, Any]) -> Any:
    """Return the files of a card and their hashes, as `verify` reads them."""
    files = {
        role: Hub(**file) if isinstance(file, dict) else file
        for role, file in card["files"].items()
    }
    return SimpleNamespace(files=files, sha256=card["sha256"])


def preflight(spec: dict[str, Any]) -> dict[str, Any]:
    """Compare every file of the study with its card; return what the study covers.

    Raises UserErrors for a file that is not the one its card describes.
    """
    data = Path(spec["data"])
    hashes = {
        name: verify(
            _files(owner["card"]),
            Path(owner["folder"]),
            data,
            where=owner["where"],
            fetch=False,
        )
        for name, owner in spec["owners"].items()
    }
    check_keys(spec["keys"])
    for model, card in spec["programs"].items():
        folder = Path(spec["owners"][model]["folder"])
        command.build(command.located(CommandModel(**card), folder, data))
    told = {name: spec[name] for name in ("study", "cards", "cells", "judges", "asked")}
    return {**told, "sha256": hashes}


def check_keys(keys: Mapping[str, str]) -> None:
    """Check that every model's variable holds a key that its endpoint can be sent."""
    for model, variable in keys.items():
        check_key(os.environ.get(variable, ""), model, variable)
        if not os.environ.get(variable):
            raise UserError(
                "the variable that holds the endpoint's key is not set",
                where=f"models/{model}.yaml, key api_key_env",
                got=variable,
                todo=f"export {variable}=… (the key is never written anywhere)",
            )
