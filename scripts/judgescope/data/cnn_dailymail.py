"""CNN/DailyMail, one news article per item, in either of its two published forms.

A file `<id>.story` is the article, then blocks that begin with a line `@highlight`. A
table (CSV, Parquet, JSONL) has the columns id, article and highlights, with one
highlight per line.
"""

import re
from collections.abc import Sequence

from judgescope.data.draft import Draft, Files
from judgescope.data.rows import read_rows, read_text
from judgescope.schema.cards import Format

HIGHLIGHT = re.compile(r"^[ \t]*@highlight[ \t\r]*$", re.MULTILINE)
_ENDED = re.compile(r"""[.!?…]["'”’)\]]*$""")


def read(draft: Draft, files: Files) -> None:
    """Add the items: the highlights, as sentences of one text, are the reference.

    Some published articles are empty: they are left out, and a notice names them.
    """
    empty = list[str]()
    for path, _ in files["data"]:
        if path.suffix == ".story":
            with draft.reading(path, 1):
                article, *highlights = HIGHLIGHT.split(read_text(path))
                _add(draft, empty, path.stem, article, highlights)
            continue
        for number, row in read_rows(path):
            with draft.reading(path, number):
                name, article = draft.pick(row, "id"), draft.pick(row, "article")
                highlights = str(draft.pick(row, "highlights") or "").splitlines()
                _add(draft, empty, name, article, highlights)
    if empty:
        shown = ", ".join(empty[:5])
        draft.notes.append(f"{len(empty)} items without an article left out: {shown}")


def _add(
    draft: Draft,
    empty: list[str],
    name: object,
    article: object,
    highlights: Sequence[str],
) -> None:
    key = draft.name(name, "item")
    if article is None or (isinstance(article, str) and not article.strip()):
        empty.append(key)
        return
    source = article.strip() if isinstance(article, str) else article
    draft.item(key, [source], [summary(highlights)])


def summary(highlights: Sequence[str]) -> str:
    """Return highlights as one text, each with a final mark and no blank before it."""
    texts = [" ".join(text.split()) for text in highlights]
    tidy = [re.sub(r"\s+([.!?])$", r"\1", text) for text in texts if text]
    return " ".join(text if _ENDED.search(text) else f"{text}." for text in tidy)


FORMAT = Format(name="cnn_dailymail", gives="originals")
