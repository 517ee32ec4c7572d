"""Texts in segments, a line each: joined within their documents until they are long enough."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from judgescope.data.draft import Draft, numbered
from judgescope.data.rows import read_text
from judgescope.schema.cards import Select


class Segment(NamedTuple):
    """A line of a file, counted from 1; no document where no file tells them."""

    line: int
    source: str
    references: tuple[str, ...]
    document: str | None


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file; only a line feed ends one (a text may hold other breaks)."""
    return [line.removesuffix("\r") for line in read_text(path).removesuffix("\n").split("\n")]


def groups(segments: Iterable[Segment], select: Select) -> Iterator[list[Segment]]:
    """Yield the segments of every item.

    With `join`: as many consecutive ones of a document as make the first reference long enough.
    What is left at a document's end is too short, and so not among the items that are selected.
    """
    for _, document in groupby(segments, key=lambda segment: segment.document):
        group: list[Segment] = []
        for segment in document:
            group.append(segment)
            length = len(_text(part.references[0] for part in group))
            if not select.join or length >= (select.min_characters or 1):
                yield group
                group = []
        if group:
            yield group


def add_groups(draft: Draft, path: Path, segments: Sequence[Segment]) -> None:
    """Add the items that the segments of a file make, under the numbers of their first lines."""
    joined = list(groups(segments, draft.card.select))
    last = segments[-1].line if segments else 0
    for group in joined:
        first = group[0]
        meta: dict[str, object] = {"lines": [segment.line for segment in group]}
        if first.document is not None:
            meta["document"] = first.document
        references = zip(*(segment.references for segment in group), strict=True)
        with draft.at(path, first.line):
            draft.item(
                numbered(draft.card.dataset, first.line, last),
                [_text(segment.source for segment in group)],
                [_text(texts) for texts in references],
                meta,
            )
    if draft.card.select.join:
        draft.notes.append(f"{len(segments)} segments joined to {len(joined)}, within documents")


def _text(parts: Iterable[str]) -> str:
    """Return segments as one text; a single one stays as it is."""
    texts = list(parts)
    return texts[0] if len(texts) == 1 else " ".join(map(str.strip, texts))
