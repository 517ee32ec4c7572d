"""What is checked of a study's files before any job of it runs."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from metajudge.data.files import verify


def preflight(spec: dict[str, Any]) -> dict[str, Any]:
    """Compare every file of the study with its card; return what the study covers.

    Raises UserErrors for a file that is not the one its card describes.
    """
    data = Path(spec["data"])
    hashes = {
        name: verify(
            SimpleNamespace(**owner["card"]), Path(owner["folder"]), data, where=owner["where"]
        )
        for name, owner in spec["owners"].items()
    }
    told = {name: spec[name] for name in ("study", "cards", "cells", "judges")}
    return {**told, "sha256": hashes}
