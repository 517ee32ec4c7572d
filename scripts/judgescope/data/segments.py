"""Texts whose files have one segment a line, as published translations have."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from judgescope.data.draft import Draft
from judgescope.data.rows import read_text
from judgescope.data.wording import numbered


class Segment(NamedTuple):
    """A line of a file, counted from 1; `document` is None if no file gives
    documents.
    """

    line: int
    source: str
    references: tuple[str, ...]
    document: str | None


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file; only a line feed ends a line (a text may contain
    other breaks)."""
    lines = read_text(path).removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines]


def add_groups(draft: Draft, path: Path, segments: Sequence[Segment]) -> None:
    """Add the items made from the segments of a file, numbered by their first lines.

    With `join`: as many consecutive segments of a document as make the first reference
    long enough. The rest of a document is too short, and so is not among the selected
    items.
    """
    select = draft.card.select
    joined = list[list[Segment]]()
    for _, document in groupby(segments, key=lambda segment: segment.document):
        long_enough = True
        for segment in document:
            if long_enough:
                joined.append([])
            joined[-1].append(segment)
            length = len(_text(part.references[0] for part in joined[-1]))
            long_enough = not select.join or length >= (select.min_characters or 1)
    last = segments[-1].line if segments else 0
    for group in joined:
        first = group[0]
        meta: dict[str, object] = {"lines": [segment.line for segment in group]}
        if first.document is not None:
            meta["document"] = first.document
        references = zip(*(segment.references for segment in group), strict=True)
        with draft.reading(path, first.line):
            draft.item(
                numbered(draft.card.dataset, first.line, last),
                [(draft.only_part, _text(segment.source for segment in group))],
                [_text(texts) for texts in references],
                meta,
            )
    if select.join:
        draft.notes.append(
            f"{len(segments)} segments joined to {len(joined)}, within documents"
        )


def _text(parts: Iterable[str]) -> str:
    """Return segments as one text; a single segment is unchanged."""
    texts = list(parts)
    if len(texts) == 1:
        return texts[0]
    return " ".join(map(str.strip, texts))
