"""Reply files that are made anew: of requests that were refused, and files that were cut."""

import json
import os
from pathlib import Path

from judgescope.replies.store import Store
from judgescope.schema.tables import read_table

MAGIC = b"PAR1"  # the end of a Parquet file


def forget_errors(store: Store) -> int:
    """Let every error in a model's shard be asked again; return how many there are."""
    errors = store.errors()
    for draw in errors:
        store.forget(draw)
    return len(errors)


def drop_answers(results: Path) -> int:
    """Delete a study's reply files that hold an error, so that they are made anew; count them."""
    found = [
        path
        for pattern in (
            "replies/**/*.parquet",
            "made/**/*.parquet",
            "construction/*/*.rated.parquet",
        )
        for path in sorted(results.glob(pattern))
        if "error" in read_table("answers", path, ["status"])["status"].to_pylist()
    ]
    for path in found:
        path.unlink()
        of_model = results / "replies"
        if path.is_relative_to(of_model):  # what stands for it in the eyes of Snakemake
            dataset, model = path.relative_to(of_model).parts[:2]
            (of_model / dataset / f"{model}.json").unlink(missing_ok=True)
    return len(found)


def cut_files(results: Path) -> dict[Path, list[Path]]:
    """Return the files of replies and scores that are cut or gone, by the file that tells of them.

    A job writes a folder of them, and a file of their hashes that stands for it in the eyes of
    Snakemake: without that one, and with it as a target, they are made anew, replies from the
    store.
    """
    found = {}
    for kind in ("replies", "scores"):
        for hashes in sorted(results.glob(f"{kind}/*/*.json")):
            below = f"{hashes.parent.name}/{hashes.stem}"
            try:
                names = json.loads(hashes.read_text(encoding="utf-8"))
            except ValueError:
                found[hashes] = [hashes]
                continue
            paths = [_file(results, kind, below, name) for name in names]
            if cut := [path for path in paths if not _is_whole(path)]:
                found[hashes] = cut
    return found


def _file(results: Path, kind: str, below: str, name: str) -> Path:
    """Return a file by its name among the hashes, which may begin with its kind."""
    first, _, rest = name.partition("/")
    of_kind, cell = (first, rest) if first in ("judgments", "scores") else (kind, name)
    return results / of_kind / below / f"{cell}.parquet"


def _is_whole(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(-len(MAGIC), os.SEEK_END)
            return file.read() == MAGIC
    except OSError:  # not there, or shorter than its end
        return False
