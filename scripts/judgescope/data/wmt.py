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
from judgescope.data.draft import (
    MEAN,
    Draft,
    Files,
    Key,
    RowFault,
    Segment,
    add_groups,
    lines_of,
    numbered,
)
from judgescope.data.rows import read_xml
from judgescope.schema.cards import Dataset, Format

NO_RATING = "None"
Columns = list[tuple[Path, list[str]]]
"""Every file with its lines: the source, the references, and the documents if
present."""


def read(draft: Draft, files: Files) -> None:
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


def _add_rated(draft: Draft, files: Files, count: int) -> None:
    """Add the texts of every system, and their ratings."""
    keys: dict[tuple[str, int], Key] = {}
    [(source, _)] = files["source"]
    for path, fields in files["outputs"]:
        lines = lines_of(path)
        _check_count(len(lines), count, path, source)
        for number, line in enumerate(lines, start=1):
            with draft.reading(path, number):
                item = numbered(draft.card.dataset, number, count)
                keys[fields["system"], number] = draft.output(
                    item, fields["system"], line
                )
    draft.check()
    names = {column: aspect for aspect, column in draft.columns.items()}
    for path, fields in files["ratings"]:
        column = fields.get("aspect", next(iter(names)))
        check_known(
            [column], names, "no aspect of the card has this column", where=str(path)
        )
        _add_ratings(draft, path, names[column], keys)


def _add_ratings(
    draft: Draft, path: Path, aspect: str, keys: dict[tuple[str, int], Key]
) -> None:
    """Add the ratings of a file; systems without texts are left out and counted."""
    counts, systems = Counter[str](), {system for system, _ in keys}
    left = Counter[str]()
    for number, line in enumerate(lines_of(path), start=1):
        with draft.reading(path, number):
            system, tab, cell = line.partition("\t")
            if not tab:
                raise RowFault(
                    "a line must be a system and a score, with a tab between them"
                )
            if system not in systems:
                left[system] += 1
                continue
            counts[system] += 1
            key = keys.get((system, counts[system]))
            if key is None:
                raise RowFault(f"{system} has more ratings than segments")
            draft.rating(key, aspect, MEAN, None if cell.strip() == NO_RATING else cell)
    draft.check()
    for system in sorted(systems):
        where = f"{path}, system {system}"
        _check_count(counts[system], len(keys) // len(systems), where, "its texts")
    if left:
        named = ", ".join(sorted(left))
        draft.notes.append(
            f"{left.total()} ratings of systems without texts left out: {named}"
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


def _columns(card: Dataset, files: Files) -> Columns:
    """Return the lines of every file, or raise UserError if their numbers differ."""
    for role in ("source", "documents"):
        if len(files.get(role, ())) > 1:
            raise UserError(
                "only the role `reference` may have several files",
                where=f"datasets/{card.dataset}.yaml, key files.{role}",
                got=f"{len(files[role])} files",
            )
    texts = [path for role in ("source", "reference") for path, _ in files[role]]
    columns = [(path, lines_of(path)) for path in texts]
    columns += [(path, _documents(path)) for path, _ in files.get("documents", [])]
    (source, source_lines), *others = columns
    for path, lines in others:
        _check_count(len(lines), len(source_lines), path, source)
    return columns


def _segments(columns: Columns, *, with_documents: bool) -> list[Segment]:
    rows = enumerate(zip(*(lines for _, lines in columns), strict=True), start=1)
    if with_documents:
        return [Segment(line, row[0], row[1:-1], row[-1]) for line, row in rows]
    return [Segment(line, row[0], row[1:], None) for line, row in rows]


def _documents(path: Path) -> list[str]:
    """Return the document of every segment."""
    if path.suffix != ".xml":
        return [line.rpartition("\t")[2] for line in lines_of(path)]
    documents = read_xml(path).iter("doc")
    return [str(doc.get("id")) for doc in documents for _ in doc.iterfind("src//seg")]


FORMAT = Format(
    name="wmt_text",
    roles=("source", "reference"),
    optional=("documents", "outputs", "ratings"),
    gives="originals",
    means=True,
    rated=("outputs", "ratings"),
    joins=("documents",),
)
