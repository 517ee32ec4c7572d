"""WebNLG, release 3: XML, in which an entry has triples and texts that express them.

These parts of an entry are used: the attributes category and eid, the `mtriple`s of its
`modifiedtripleset` (`subject | property | object`), and its `lex` texts in English.
Rows in messages are numbers of entries, from 1.
"""

import re
from xml.etree.ElementTree import Element

from judgescope.data.draft import Draft, FilesByRole, RowFault
from judgescope.data.rows import read_xml
from judgescope.schema.cards import Format


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the items: the triples, one per line, are the source, the texts the
    references.

    An item's id is its category, number of triples and eid, because an eid occurs in
    many files.
    """
    for path, _ in files["data"]:
        for number, entry in enumerate(read_xml(path).iter("entry"), start=1):
            with draft.reading(path, number):
                _add(draft, entry)


def _add(draft: Draft, entry: Element) -> None:
    """Add the item of an entry."""
    category = _attribute(entry, "category")
    eid = _attribute(entry, "eid")
    triples = list[str]()
    for element in entry.iterfind("modifiedtripleset/mtriple"):
        triples.append(_triple(element.text or ""))
    if not triples:
        raise RowFault("an entry has no `modifiedtripleset` with an `mtriple`", got=eid)
    texts = list[object]()
    for element in entry.iterfind("lex"):
        if element.get("lang", "en") == "en" and element.text:
            texts.append(element.text.strip())
    draft.item(
        f"{category}-{len(triples)}-{eid}",
        [("Data", "\n".join(triples))],
        texts,
        {"category": category, "size": len(triples)},
    )


def _attribute(entry: Element, name: str) -> str:
    value = (entry.get(name) or "").strip()
    if not value:
        raise RowFault(
            f"an entry has no attribute `{name}`", got=name, allowed=entry.keys()
        )
    return value


def _triple(text: str) -> str:
    """Return a triple in words: `Ann_Lee | birthPlace | "Rome"` is Ann Lee | birth
    place | Rome.
    """
    parts = re.split(r"\s+\|\s+", text.strip(), maxsplit=2)
    if len(parts) != 3 or not all(parts):
        raise RowFault("not a triple", got=text, allowed="subject | property | object")
    subject, name, value = (part.replace("_", " ").strip().strip('"') for part in parts)
    return f"{subject} | {_words(name)} | {value}"


def _words(name: str) -> str:
    """Return a property's name as words: `birthPlace` is birth place; `areaUK` is area
    UK.
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.sub(r"(?<= )[A-Z](?=[a-z])", lambda letter: letter[0].lower(), spaced)


FORMAT = Format(
    name="webnlg",
    read=read,
    gives="originals",
    meta=("category", "size"),
    parts=("Data",),
)
