"""The files of a shard, the folder of one model's replies: journals and compacted
files.

A compacted file is a Parquet file with the lines of many journals, sorted by key. Each
row has a key, a draw and the line exactly as it was written, so that no field is ever
lost. An export is the same table for the models of several shards.
"""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import MsgspecError, Struct
from msgspec.json import decode

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.files import atomic_write, sync, write_text
from judgescope.core.process_limits import bounded_memory
from judgescope.replies import journal
from judgescope.replies.journal import KEY, Block, Chosen, Keys, every

JOURNAL = ".jsonl"
COMPACTED = ".parquet"
ROWS = 4096  # lines of a row group; a group without a requested key is not read
MOST_UNFOLDED = 2 << 30  # the most bytes of memory for a row group
SCHEMA = pa.schema(
    [
        ("model", pa.string()),
        ("key", pa.binary(32)),
        ("draw", pa.int32()),
        ("line", pa.binary()),
    ]
)
SPOOL = 1 << 30  # the number of the temporary file
MODEL_FILE = "shard.json"
"""In a shard: the model's name, so that a renamed folder is noticed, and PROMPTS."""
PROMPTS: Final = 2
"""The generation of the shipped prompts for which a shard was begun. A shard without
one may hold replies to prompts that did not name the kind of text."""


class CompactedLine(NamedTuple):
    """A line of a journal with its shard, its key and its draw."""

    model: str
    key: bytes
    draw: int
    line: bytes


class _ShardModel(Struct):
    model: str
    prompts: int | None = None


class DamagedFileError(UserError):
    """A compacted file that cannot be read."""


def shards(store: Path) -> list[Path]:
    """Return the shards of a store that hold replies."""
    return [folder for folder in folders(store) if files_of(folder)]


def folders(store: Path) -> list[Path]:
    """Return the folders of a store that may be shards."""
    return sorted(path for path in store.glob("[!.]*") if path.is_dir())


def files_of(shard: Path) -> list[Path]:
    """Return the files of a shard that hold replies, by name."""
    paths = shard.iterdir() if shard.is_dir() else []
    ours = []
    for path in paths:
        if path.suffix in {JOURNAL, COMPACTED}:
            ours.append(path)
    return sorted(path for path in ours if path.name[0] != "." and path.is_file())


def packed_files_of(shard: Path) -> list[Path]:
    """Return files that hold replies in a form that is not read, such as
    `a.jsonl.gz`.
    """
    paths = shard.iterdir() if shard.is_dir() else []
    packed = re.compile(r"[^.].*(\.jsonl|\.parquet)\.[^/]+")
    return sorted(path for path in paths if packed.fullmatch(path.name))


def write_model(shard: Path, model: str) -> None:
    """Write the model's name to a shard that does not have it yet.

    In a shard without replies, it is written with the generation of the prompts.
    """
    path = shard / MODEL_FILE
    if path.exists():
        return
    content: dict[str, object] = {"model": model}
    if not files_of(shard):
        content["prompts"] = PROMPTS
    with atomic_write(path) as part:  # another job may read it at the same time
        write_text(part, canonical(content) + "\n")


def forget_prompts(shard: Path) -> None:
    """Note that a shard may hold replies to earlier prompts: it got imported ones."""
    known = _read_model(shard)
    if known is not None and known.prompts is not None:
        with atomic_write(shard / MODEL_FILE) as part:
            write_text(part, canonical({"model": known.model}) + "\n")


def remove_model_if_alone(shard: Path) -> None:
    """Remove the model's name from a shard that holds nothing else."""
    path = shard / MODEL_FILE
    others = [file for file in shard.iterdir() if file != path]
    if not others:
        path.unlink(missing_ok=True)


def model_of(shard: Path) -> str | None:
    """Return the name of the model in a shard, None if the shard does not have it.

    Raises UserError if the file cannot be read.
    """
    known = _read_model(shard)
    if known is None:
        return None
    return known.model


def may_precede_prompts(shard: Path) -> bool:
    """Return whether a shard may hold replies to earlier shipped prompts: one that was
    begun before PROMPTS was written.

    Raises UserError if the file cannot be read.
    """
    known = _read_model(shard)
    return known is None or known.prompts != PROMPTS


def _read_model(shard: Path) -> _ShardModel | None:
    path = shard / MODEL_FILE
    try:
        return decode(path.read_bytes(), type=_ShardModel)
    except FileNotFoundError:
        return None
    except MsgspecError as error:
        raise UserError(
            f"the name of the folder's model cannot be read: {error}",
            where=str(path),
            todo="delete this file: the next run writes it again",
        ) from None


def blocks(path: Path, chosen: Chosen = every) -> Iterator[Block]:
    """Yield the lines of a file; of a compacted one, those with a chosen key.

    Skips a damaged compacted file if its source journals still exist: the next
    compaction remakes it.
    """
    if path.suffix == JOURNAL:
        yield from journal.blocks(path)
        return
    try:
        for _, block in compacted_blocks(path, chosen):
            yield block
    except DamagedFileError:
        if not is_spare(path):
            raise


def compacted_blocks(path: Path, chosen: Chosen = every) -> Iterator[tuple[str, Block]]:
    """Yield (model, lines) of a compacted file: those with a chosen key.

    A block's `data` are its lines; they have no offset in the file. Raises UserError
    for a file with other contents, and DamagedFileError for a file that cannot be read.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            if not file.schema_arrow.equals(SCHEMA, check_metadata=False):
                raise _foreign(path, file.schema_arrow.names)
            for group in range(file.num_row_groups):
                if file.metadata.row_group(group).num_rows > ROWS:
                    raise _foreign(path, [f"more than {ROWS:,} lines at once"])
                with bounded_memory(MOST_UNFOLDED):
                    lines = list(_group(path, file, group, chosen))
                yield from lines
    except OverflowError as error:
        raise _foreign(
            path, [f"lines that decompress to too much data: {error}"]
        ) from None
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise DamagedFileError(
            f"these replies cannot be read: {' '.join(str(error).split())}",
            where=str(path),
            todo="restore the file from a backup, or delete it: its replies are then "
            "requested again",
        ) from error


def _group(
    path: Path, file: pq.ParquetFile, group: int, chosen: Chosen
) -> Iterator[tuple[str, Block]]:
    column = file.read_row_group(group, ["key"], use_threads=False)["key"]
    if column.null_count:
        raise _foreign(path, ["lines without a key"])
    parts = []
    for chunk in column.chunks:
        # Arrow may pad a buffer: it can be longer than its values.
        parts.append(np.frombuffer(chunk.buffers()[1], KEY)[: len(chunk)])
    keys: Keys = np.concatenate([np.empty(0, KEY), *parts])
    kept = chosen(keys)
    if not kept.any():
        return
    rest = file.read_row_group(group, ["model", "line"], use_threads=False)
    if rest["model"].null_count or rest["line"].null_count:
        raise _foreign(path, ["lines without a model or without content"])
    models = np.array(rest["model"].to_pylist(), object)
    lines = np.array(rest["line"].to_pylist(), object)
    for model in dict.fromkeys(models[kept]):
        of_model = kept & (models == model)
        data: list[bytes] = lines[of_model].tolist()
        ends = np.cumsum([len(line) for line in data])
        starts = np.concatenate([[0], ends[:-1]])
        yield str(model), Block(0, b"".join(data), starts, ends, keys[of_model], 0)


def _foreign(path: Path, content: list[str]) -> UserError:
    return UserError(
        "not a reply file of this version of Judgescope",
        where=str(path),
        got=", ".join(content),
        allowed=", ".join(SCHEMA.names),
        todo="use the version of Judgescope that wrote it, or another store (key "
        "`store` of the study's card); if Judgescope did not write it, remove it "
        "from the store",
    )


def sources_of(path: Path) -> Path:
    """Return the path of the list of files from which a compacted file was made."""
    return path.with_name(f".{path.name}.sources")


def is_spare(path: Path) -> bool:
    """Return whether all files from which a compacted file was made still exist."""
    try:
        names = sources_of(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    if not names:
        return False
    return all((path.parent / name).is_file() for name in names)


def write_compacted(path: Path, lines: Iterable[CompactedLine]) -> int:
    """Write sorted lines and return their number; without lines no file is written.

    The file appears only once it is complete.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    rows = iter(lines)
    count = 0
    try:
        with pq.ParquetWriter(
            unfinished,
            SCHEMA,
            compression="zstd",
            use_dictionary=["model"],
            write_page_checksum=True,
        ) as writer:
            while group := list(islice(rows, ROWS)):
                columns = [list(column) for column in zip(*group, strict=True)]
                writer.write_table(pa.table(columns, schema=SCHEMA))
                count += len(group)
        if count:
            sync(unfinished)
            os.replace(unfinished, path)
            sync(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)
    return count


class JournalPlace(NamedTuple):
    """The place of a line: the number of its file in `Files`, and its byte range."""

    file: int
    offset: int
    length: int


class Files:
    """Numbered files, which are opened to read from them; only a few are open at a
    time.
    """

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self._spool: FileIO | None = None
        self._spooled = 0
        self._numbers: dict[Path, int] = {}
        self._open: dict[int, FileIO] = {}

    def number(self, path: Path) -> int:
        """Return a file's number."""
        if path not in self._numbers:
            self._numbers[path] = len(self.paths)
            self.paths.append(path)
        return self._numbers[path]

    def placed(self, path: Path, chosen: Chosen = every) -> Iterator[tuple[int, Block]]:
        """Yield (number of a file, its lines), as `blocks` does.

        Lines of a compacted file are copied to a temporary file, where each has a
        place.
        """
        for block in blocks(path, chosen):
            if path.suffix == JOURNAL:
                yield self.number(path), block
                continue
            if self._spool is None:
                self._spool = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
            assert self._spool is not None
            rest = block.data
            offset = self._spooled
            while rest:
                rest = rest[self._spool.write(rest) :]
            self._spooled += len(block.data)
            yield SPOOL, block._replace(offset=offset)

    def read(self, position: JournalPlace) -> bytes:
        """Return the bytes at a place; FileNotFoundError if the file was removed."""
        file = self._spool
        if position.file != SPOOL:
            file = self._open.get(position.file)
        # A shard may have more journals than a process may have open files.
        most_open = 64
        if file is None:
            if len(self._open) >= most_open:
                self._open.pop(next(iter(self._open))).close()
            file = self._open[position.file] = FileIO(self.paths[position.file])
        return os.pread(file.fileno(), position.length, position.offset)
