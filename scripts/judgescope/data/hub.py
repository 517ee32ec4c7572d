"""Files of a dataset that lives on a hub: one commit's, kept in the hub client's own cache.

The client (package huggingface_hub) is imported only where a card names such a file. HF_HOME says
where its cache lies, HF_ENDPOINT which hub is asked, HF_TOKEN who asks, HF_HUB_OFFLINE=1 that
nobody is.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from judgescope.core.errors import UserError
from judgescope.schema.cards import Hub

CLIENT = "huggingface_hub"
NO_BARS = "HF_HUB_DISABLE_PROGRESS_BARS"
"""They would fill a log."""


def cached(file: Hub) -> Path | None:
    """Return where a file lies in the cache, or None; asks nobody."""
    found = _client(file).try_to_load_from_cache(**_names(file))
    return Path(found) if isinstance(found, str) else None


def fetch(file: Hub) -> Path:
    """Return where a file lies in the cache, after fetching it if it is not there yet."""
    client = _client(file)
    try:
        return cached(file) or Path(client.hf_hub_download(**_names(file)))
    except (OSError, ValueError) as error:
        raise UserError(
            f"a file cannot be fetched from the hub: {str(error).strip().splitlines()[0]}",
            where=str(file),
            todo="check the three names, the network, and HF_TOKEN if the data asks for terms; or "
            "get the file elsewhere and let the card name its path",
        ) from error


def _names(file: Hub) -> dict[str, str]:
    return {
        "repo_id": file.hub,
        "filename": file.file,
        "revision": file.revision,
        "repo_type": "dataset",
    }


def _client(file: Hub) -> Any:
    os.environ.setdefault(NO_BARS, "1")  # read when the client is imported
    try:
        return import_module(CLIENT)
    except ImportError as error:
        raise UserError(
            f"the package {CLIENT} is needed for a file on a hub",
            where=str(file),
            todo=f"pip install {CLIENT}, or get the file yourself and let the card name its path",
        ) from error
