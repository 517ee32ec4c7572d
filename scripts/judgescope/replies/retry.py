"""Result files that must be made again: with refused requests, or cut short."""

import json
import os
from pathlib import Path

from judgescope.replies.store import Store
from judgescope.schema.tables import read_table

MAGIC = b"PAR1"  # the end of a Parquet file


def forget_errors(store: Store) -> int:
    """Let every error in a model's shard be requested again; return how many there are."""
    errors = store.errors()
    for draw in errors:
        store.forget(draw)
    return len(errors)


def drop_answers(results: Path) -> int:
    """Delete a study's reply files with an error, so that they are made again; count them."""
    patterns = ("replies/**/*.parquet", "made/**/*.parquet", "construction/*/*.rated.parquet")
    with_error = [
        path
        for pattern in patterns
        for path in sorted(results.glob(pattern))
        if "error" in read_table("answers", path, ["status"])["status"].to_pylist()
    ]
    replies = results / "replies"
    for path in with_error:
        path.unlink()
        if path.is_relative_to(replies):  # Snakemake knows only the file of their hashes
            dataset, model = path.relative_to(replies).parts[:2]
            (replies / dataset / f"{model}.json").unlink(missing_ok=True)
    return len(with_error)


def cut_files(results: Path) -> dict[Path, list[Path]]:
    """Return file of hashes -> its files of replies and scores that are cut short or missing.

    A job writes a folder of files, and a file of their hashes, which alone Snakemake knows: once it
    is deleted and made a target, all are made again, replies from the store.
    """
    cut: dict[Path, list[Path]] = {}
    for kind in ("replies", "scores"):
        for hashes in sorted(results.glob(f"{kind}/*/*.json")):
            below = f"{hashes.parent.name}/{hashes.stem}"
            try:
                names = json.loads(hashes.read_text(encoding="utf-8"))
            except ValueError:
                cut[hashes] = [hashes]
                continue
            paths = [_file(results, kind, below, name) for name in names]
            if incomplete := [path for path in paths if not _is_complete(path)]:
                cut[hashes] = incomplete
    return cut


def _file(results: Path, kind: str, below: str, name: str) -> Path:
    """Return the file of a name among the hashes, which may begin with its kind."""
    first, _, rest = name.partition("/")
    of_kind, cell = (first, rest) if first in ("judgments", "scores") else (kind, name)
    return results / of_kind / below / f"{cell}.parquet"


def _is_complete(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(-len(MAGIC), os.SEEK_END)
            return file.read() == MAGIC
    except OSError:  # missing, or shorter than MAGIC
        return False
