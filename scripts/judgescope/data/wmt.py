"""WMT's general test sets as plain text: a source and its references, one segment per
line.

Roles: `source`; `reference`, one file or a pattern for several; and `documents`, which
`select: join` needs: the published XML of the same test set, or a file with one line
per segment whose last tab-separated field is the id of its document. Rated texts
(direct assessment) need `outputs`, a pattern with {system} for one file per system,
with one line per segment; and `ratings`, one file per aspect (with several aspects a
pattern with {aspect}: the aspect's id or `column`). It has one line `system<TAB>score`
per rating of a segment, the lines of a system in the order of the segments, and `None`
for a missing score.
"""

from collections import Counter
from pathlib import Path

from judgescope.core.errors import UserError, check_known
from judgescope.data.draft import MEAN, Draft, FilesByRole, RowFault, TextKey
from judgescope.data.rows import read_xml
from judgescope.data.segments import Segment, add_groups, lines_of
from judgescope.data.wording import numbered
from judgescope.schema.cards import Dataset, Format

FileLines = list[tuple[Path, list[str]]]
"""Every file with its lines: the source, the references, and the documents if
present."""


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the segments; an item's id is the dataset's id and the number of its first
    line.
    """
    columns = _columns(draft.card, files)
    for path, lines in columns:
        for number, line in enumerate(lines, start=1):
            with draft.reading(path, number):
                if not line.strip():
                    raise RowFault("a line is empty")
    draft.check()
    segments = _segments(columns, with_documents="documents" in files)
    add_groups(draft, files["source"][0][0], segments)
    if "outputs" in files:
        _add_rated(draft, files, len(segments))


def _add_rated(draft: Draft, files: FilesByRole, count: int) -> None:
    """Add the texts of every system, and their ratings."""
    keys: dict[tuple[str, int], TextKey] = {}
    [(source, _)] = files["source"]
    for path, fields in files["outputs"]:
        system = fields["system"]
        lines = lines_of(path)
        _check_count(len(lines), count, path, source)
        for number, line in enumerate(lines, start=1):
            with draft.reading(path, number):
                item = numbered(draft.card.dataset, number, count)
                keys[system, number] = draft.output(item, system, line)
    draft.check()
    names = {column: aspect for aspect, column in draft.columns.items()}
    for path, fields in files["ratings"]:
        column = fields.get("aspect", next(iter(names)))
        check_known(
            [column], names, "no aspect of the card has this column", where=str(path)
        )
        _add_ratings(draft, path, names[column], keys)


def _add_ratings(
    draft: Draft, path: Path, aspect: str, keys: dict[tuple[str, int], TextKey]
) -> None:
    """Add the ratings of a file; systems without texts are left out and counted."""
    systems = {system for system, _ in keys}
    counts = Counter[str]()
    left_out = Counter[str]()
    for number, line in enumerate(lines_of(path), start=1):
        with draft.reading(path, number):
            system, tab, cell = line.partition("\t")
            if not tab:
                raise RowFault(
                    "a line must be a system and a score, with a tab between them"
                )
            if system not in systems:
                left_out[system] += 1
                continue
            counts[system] += 1
            key = keys.get((system, counts[system]))
            if key is None:
                raise RowFault(f"{system} has more ratings than segments")
            rating = None if cell.strip() == "None" else cell
            draft.rating(key, aspect, MEAN, rating)
    draft.check()
    for system in sorted(systems):
        where = f"{path}, system {system}"
        _check_count(counts[system], len(keys) // len(systems), where, "its texts")
    if left_out:
        named = ", ".join(sorted(left_out))
        draft.notes.append(
            f"{left_out.total()} ratings of systems without texts left out: {named}"
        )


def _check_count(
    lines: int, segments: int, where: Path | str, other: Path | str
) -> None:
    """Raise UserError unless a file has one line for each segment, as another file
    has.
    """
    if lines != segments:
        raise UserError(
            "the files of a test set must have one line for each segment",
            where=str(where),
            got=f"{lines} segments",
            allowed=f"{segments}, as {other}",
        )


def _columns(card: Dataset, files: FilesByRole) -> FileLines:
    """Return the lines of every file, or raise UserError if their numbers differ."""
    for role in ("source", "documents"):
        if len(files.get(role, ())) > 1:
            raise UserError(
                "only the role `reference` may have several files",
                where=f"datasets/{card.dataset}.yaml, key files.{role}",
                got=f"{len(files[role])} files",
            )
    columns: FileLines = []
    for path, _ in [*files["source"], *files["reference"]]:
        columns.append((path, lines_of(path)))
    for path, _ in files.get("documents", []):
        columns.append((path, _documents(path)))
    (source, source_lines), *others = columns
    for path, lines in others:
        _check_count(len(lines), len(source_lines), path, source)
    return columns


def _segments(columns: FileLines, *, with_documents: bool) -> list[Segment]:
    """Return the segments, one of each line of all files."""
    segments = list[Segment]()
    rows = zip(*(lines for _, lines in columns), strict=True)
    for line, (source, *others) in enumerate(rows, start=1):
        document = others.pop() if with_documents else None
        segments.append(Segment(line, source, tuple(others), document))
    return segments


def _documents(path: Path) -> list[str]:
    """Return the document of every segment."""
    if path.suffix != ".xml":
        return [line.rpartition("\t")[2] for line in lines_of(path)]
    documents = list[str]()
    for document in read_xml(path).iter("doc"):
        n_segments = sum(1 for _ in document.iterfind("src//seg"))
        documents += [str(document.get("id"))] * n_segments
    return documents


FORMAT = Format(
    name="wmt_text",
    read=read,
    roles=("source", "reference"),
    optional=("documents", "outputs", "ratings"),
    gives="originals",
    means=True,
    rated=("outputs", "ratings"),
    joins=("documents",),
)
