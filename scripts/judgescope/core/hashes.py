"""The folder of cells that one job writes: one file stands for all files in it.

Snakemake compares files by their content, and folders by their times alone.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from judgescope.core.canonical import canonical
from judgescope.core.files import write_text


def write_hashes(paths: Mapping[str, str], place: str) -> None:
    """Write the hash of every file, by its name: the same bytes as long as the files are."""
    hashes = {
        cell: hashlib.sha256(Path(path).read_bytes()).hexdigest() for cell, path in paths.items()
    }
    write_text(Path(place), canonical(hashes) + "\n")
