"""The files of a shard, journals and compacted ones, read in one way."""

from collections.abc import Iterator
from pathlib import Path

from judgescope.replies import compacted, journal
from judgescope.replies.files import Files
from judgescope.replies.journal import Block
from judgescope.replies.key_table import Chosen

JOURNAL, COMPACTED = ".jsonl", ".parquet"


def shards(store: Path) -> list[Path]:
    """Return the shards of a store that hold replies."""
    folders = sorted(path for path in store.glob("[!.]*") if path.is_dir())
    return [folder for folder in folders if files_of(folder)]


def files_of(shard: Path) -> list[Path]:
    """Return the files of a shard that hold replies, by name."""
    found = shard.iterdir() if shard.is_dir() else []
    ours = [path for path in found if path.suffix in {JOURNAL, COMPACTED}]
    return sorted(path for path in ours if path.name[0] != "." and path.is_file())


def blocks(path: Path, chosen: Chosen | None = None) -> Iterator[Block]:
    """Yield the lines of a file; of a compacted one, those with a chosen key."""
    if path.suffix == JOURNAL:
        yield from journal.blocks(path)
    else:
        yield from (block for _, block in compacted.blocks(path, chosen))


def placed(path: Path, files: Files, chosen: Chosen | None = None) -> Iterator[tuple[int, Block]]:
    """Yield (number of a file in `files`, lines that lie there).

    Lines of a compacted file are unpacked into a temporary file: so a reply can be read where it
    lies, whatever the order.
    """
    for block in blocks(path, chosen):
        if path.suffix == JOURNAL:
            yield files.number(path), block
        else:
            number, offset = files.spool(block.data)
            yield number, block._replace(offset=offset)
