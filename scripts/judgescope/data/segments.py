"""Texts in segments, a line each: joined within their documents until they are long enough."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from judgescope.data.draft import Draft, numbered
from judgescope.data.files import read_text
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
    for _, found in groupby(segments, key=lambda one: one.document):
        group: list[Segment] = []
        for segment in found:
            group.append(segment)
            length = len(_text(one.references[0] for one in group))
            if not select.join or length >= (select.min_characters or 1):
                yield group
                group = []
        if group:
            yield group


def add_groups(draft: Draft, path: Path, segments: Sequence[Segment]) -> None:
    """Add the items that the segments of a file make, under the numbers of their first lines."""
    found = list(groups(segments, draft.card.select))
    last = segments[-1].line if segments else 0
    for group in found:
        with draft.at(path, group[0].line):
            _add(draft, group, last)
    if draft.card.select.join:
        draft.notes.append(f"{len(segments)} segments joined to {len(found)}, within documents")


def _add(draft: Draft, group: Sequence[Segment], count: int) -> None:
    references = zip(*(segment.references for segment in group), strict=True)
    meta: dict[str, object] = {"lines": [segment.line for segment in group]}
    if group[0].document is not None:
        meta["document"] = group[0].document
    draft.item(
        numbered(draft.card.dataset, group[0].line, count),
        [_text(segment.source for segment in group)],
        [_text(texts) for texts in references],
        meta,
    )


def _text(parts: Iterable[str]) -> str:
    """Return segments as one text; a single one stays as it is."""
    texts = list(parts)
    return texts[0] if len(texts) == 1 else " ".join(map(str.strip, texts))
