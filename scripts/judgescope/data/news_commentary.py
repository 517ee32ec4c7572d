"""News Commentary, of which only the English side is used, as texts to paraphrase.

Either plain text (`*.en`, one sentence per line, an empty line between documents), or
the table of a language pair, whose file name gives its columns (`*.de-en.tsv`; a lone
tab ends a document), without header or quotes.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.data.draft import Draft, FilesByRole, RowFault
from judgescope.data.segments import Segment, add_groups, lines_of
from judgescope.schema.cards import Format


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the items: a text is the source and also serves as its own paraphrase.

    Headlines, which do not end in a sentence mark, and lines without English are left
    out.
    """
    if len(files["data"]) > 1:
        raise UserError(
            "this format needs exactly one file",
            where=f"datasets/{draft.card.dataset}.yaml, key files.data",
            got=f"{len(files['data'])} files",
        )
    [(path, _)] = files["data"]
    column, columns = _columns(path)
    rows = [line.split("\t") if columns > 1 else [line] for line in lines_of(path)]
    segments = list(_segments(draft, path, rows, column, columns))
    used = sum(any(map(str.strip, row)) for row in rows)
    draft.notes.append(
        f"{used - len(segments)} of {used} lines left out: headlines, or no English"
    )
    draft.notes.append("no paraphrases: each text serves as its own paraphrase")
    add_groups(draft, path, segments)


def _columns(path: Path) -> tuple[int, int]:
    """Return the position of the English column and the number of columns, by the
    file's name.
    """
    # The end of a published file's name: a language pair, or English only.
    name_end = re.compile(r".*\.(?:(?P<pair>[a-z]{2,3}-[a-z]{2,3})\.tsv|(?P<one>en))")
    english = "en"
    name = name_end.fullmatch(path.name)
    languages: list[str] = []
    if name:
        languages = (name["pair"] or name["one"]).split("-")
    if english not in languages:
        raise UserError(
            "the file name does not show which column is English",
            where=str(path),
            got=path.name,
            allowed="a name that ends in .en, or in a pair with en such as .de-en.tsv",
            todo="keep the published file name",
        )
    return languages.index(english), len(languages)


def _segments(
    draft: Draft, path: Path, rows: list[list[str]], column: int, columns: int
) -> Iterator[Segment]:
    sentence_end = re.compile(r"""[.!?…]["'”’»)\]]*$""")
    document = 1
    for number, cells in enumerate(rows, start=1):
        if not any(cell.strip() for cell in cells):
            document += 1
            continue
        with draft.reading(path, number):
            if len(cells) != columns:
                raise RowFault(
                    "this line does not have the number of columns that the file name "
                    "implies",
                    got=len(cells),
                    allowed=str(columns),
                )
            text = cells[column].strip()
            if sentence_end.search(text):
                yield Segment(number, text, (text,), f"{document}")


FORMAT = Format(name="news_commentary", read=read, gives="originals", joins=())
