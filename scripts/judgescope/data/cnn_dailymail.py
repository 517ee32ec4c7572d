"""CNN/DailyMail, one news article per item, in either of its two published forms.

A file `<id>.story` is the article, then blocks that begin with a line `@highlight`. A
table (CSV, Parquet, JSONL) has the columns id, article and highlights, with one
highlight per line.
"""

import re
from collections.abc import Sequence

from judgescope.data.draft import Draft, FilesByRole
from judgescope.data.rows import read_rows, read_text
from judgescope.schema.cards import Format


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the items: the highlights, as sentences of one text, are the reference.

    Some published articles are empty: they are left out, and a notice names them.
    """
    heading = re.compile(r"^[ \t]*@highlight[ \t\r]*$", re.MULTILINE)
    empty = list[str]()
    for path, _ in files["data"]:
        if path.suffix == ".story":
            with draft.reading(path, 1):
                article, *highlights = heading.split(read_text(path))
                _add(draft, empty, path.stem, article, highlights)
            continue
        for number, row in read_rows(path):
            with draft.reading(path, number):
                name = draft.pick(row, "id")
                article = draft.pick(row, "article")
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
    source = article
    if isinstance(article, str):
        source = article.strip()
    draft.item(key, [("Article", source)], [summary(highlights)])


def summary(highlights: Sequence[str]) -> str:
    """Return highlights as one text, each with a final mark and no blank before it.

    >>> summary(["Rain fell on  Orn .", "", "The river rose"])
    'Rain fell on Orn. The river rose.'
    """
    sentences = list[str]()
    for highlight in highlights:
        text = " ".join(highlight.split())
        text = re.sub(r"\s+([.!?])$", r"\1", text)
        if text and not re.search(r"""[.!?…]["'”’)\]]*$""", text):
            text += "."
        if text:
            sentences.append(text)
    return " ".join(sentences)


FORMAT = Format(name="cnn_dailymail", read=read, gives="originals", parts=("Article",))
