"""The reply files of one model and dataset, which one job writes: what stands for all of them."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from metajudge.canonical import canonical
from metajudge.command import write_text


def write_hashes(paths: Mapping[str, str], place: str) -> None:
    """Write the hash of every file, by its cell: the same bytes as long as the replies are."""
    hashes = {
        cell: hashlib.sha256(Path(path).read_bytes()).hexdigest() for cell, path in paths.items()
    }
    write_text(Path(place), canonical(hashes) + "\n")
