"""WMT's general test sets as plain text: a source and its references, a segment a line.

Roles: `source`; `reference`, one file or a pattern for several; and, which `select: join` needs,
`documents`: the published XML of the same test set, or a file with a line a segment whose last
tab-separated field is the id of its document.
"""

from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.data.draft import Draft, Files, RowFault
from judgescope.data.rated import Rated
from judgescope.data.rows import read_xml
from judgescope.data.segments import Segment, add_groups, lines_of
from judgescope.schema.cards import Dataset, Format

Columns = list[tuple[Path, list[str]]]
"""Every file with its lines: the source, the references, and the documents if there is a file."""


def read(card: Dataset, files: Files) -> Rated:
    """Return the dataset; an item's id is the dataset's and the number of its first line."""
    draft = Draft(card)
    columns = _columns(card, files)
    for path, lines in columns:
        for number, line in enumerate(lines, start=1):
            with draft.at(path, number):
                if not line.strip():
                    raise RowFault("a line is empty")
    draft.check()
    segments = _segments(columns, with_documents="documents" in files)
    add_groups(draft, files["source"][0][0], segments)
    return draft.finish()


def _columns(card: Dataset, files: Files) -> Columns:
    """Return the lines of every file, or raise UserError where their number differs."""
    for role in {"source", "documents"} & set(files):
        if len(files[role]) > 1:
            raise UserError(
                "only references may be in several files",
                where=f"datasets/{card.dataset}.yaml, key files.{role}",
                got=f"{len(files[role])} files",
            )
    texts = [path for role in ("source", "reference") for path, _ in files[role]]
    columns = [(path, lines_of(path)) for path in texts]
    columns += [(path, _documents(path)) for path, _ in files.get("documents", [])]
    (source, source_lines), *others = columns
    for path, lines in others:
        if len(lines) != len(source_lines):
            raise UserError(
                "the files of a test set have one line for each segment",
                where=str(path),
                got=f"{len(lines)} segments",
                allowed=f"{len(source_lines)}, as {source}",
            )
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
    optional=("documents",),
    gives="originals",
    joins=("documents",),
)
