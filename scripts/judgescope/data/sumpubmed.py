"""SumPubMed: pairs of article and abstract, both in sections.

A section begins with a line of capitals (BACKGROUND, RESULTS, CONCLUSIONS, …); these
lower-cased texts have no other such lines. Only BACKGROUND is used, of article and
abstract (Wang et al. 2024, appendix A.1). Format `sumpubmed_jsonl`: JSONL with the
fields id, text (the article) and abstract. Format `sumpubmed_text`: the files of the
authors' repository, one a text; the roles `text` and `abstract` are patterns with one
field, the id, by which they are joined.
"""

import re
from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.data.draft import Draft, FilesByRole, RowFault
from judgescope.data.files import RoleFiles
from judgescope.data.rows import FileRow, read_text
from judgescope.data.wording import counted
from judgescope.schema.cards import Format

USED = "BACKGROUND"


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the items: the article's section is the source, the abstract's the
    reference.
    """
    draft.add_rows(files["data"], _add)


def _add(draft: Draft, row: FileRow) -> None:
    """Add the item of a row."""
    texts = []
    for column in ("text", "abstract"):
        text = draft.pick(row, column)
        sections = _sections(text if isinstance(text, str) else "")
        section = sections.get(USED)
        if not section:
            raise RowFault(
                f"`{column}` has no section {USED}",
                got=text,
                allowed=sections or "a heading in capitals on a separate line",
            )
        texts.append(section)
    source, reference = texts
    draft.item(draft.pick(row, "id"), [("Article", source)], [reference])


def _sections(text: str) -> dict[str, str]:
    """Return title -> content of the sections of a text; of equal titles the first.

    >>> _sections("BACKGROUND\\na b.\\n\\nRESULTS\\nc.\\n\\nBACKGROUND\\nd.\\n")
    {'BACKGROUND': 'a b.', 'RESULTS': 'c.'}
    """
    heading = re.compile(r"^([A-Z](?:[A-Z &/-]*[A-Z])?)[ \t\r]*$", re.MULTILINE)
    _, *parts = heading.split(text)
    sections: dict[str, str] = {}
    for title, content in zip(parts[::2], parts[1::2], strict=True):
        sections.setdefault(title, content.strip())
    return sections


def read_files(draft: Draft, files: FilesByRole) -> None:
    """Add the pairs of files that both have the section; others are counted.

    Raises UserError for a file whose pair is absent, and if no pair has the section.
    """
    articles = _by_id(files["text"], draft.card.dataset, "text")
    abstracts = _by_id(files["abstract"], draft.card.dataset, "abstract")
    single = sorted(articles.keys() ^ abstracts.keys())
    if single:
        [path] = [
            each[single[0]] for each in (articles, abstracts) if single[0] in each
        ]
        raise UserError(
            f"{counted(len(single), 'file')} without the other file of the pair",
            where=str(path),
            got=", ".join(single[:5]),
            todo="get both files of each pair, its text and its abstract",
        )
    without = list[str]()
    for name in sorted(articles):
        source = _section_of_file(draft, articles[name])
        reference = _section_of_file(draft, abstracts[name])
        if source and reference:
            with draft.reading(articles[name], 1):
                draft.item(name, [("Article", source)], [reference])
        elif source is not None and reference is not None:
            without.append(name)
    if without:
        draft.notes.append(
            f"{counted(len(without), 'pair')} without a section {USED} in both texts "
            f"left out: {', '.join(without[:5])}{', …' if len(without) > 5 else ''}"
        )
    if not draft.has_items:
        draft.check()
        raise UserError(
            f"no pair has a section {USED} in both texts",
            where=str(next(iter(articles.values())).parent),
            allowed="a line with this title alone, above its text",
            todo="check that these are the files of the repository's folders text and "
            "abstract",
        )


def _by_id(files: RoleFiles, dataset: str, role: str) -> dict[str, Path]:
    """Return id -> file, the id being the value of the pattern's only field."""
    paths: dict[str, Path] = {}
    for path, fields in files:
        if len(fields) != 1:
            raise UserError(
                "the pattern of this role must have one field, the id of the pair",
                where=f"datasets/{dataset}.yaml, key files.{role}",
                got=", ".join(fields) or "no field",
                todo=f'write a pattern such as "{role}/{role}_{{id}}.txt"',
            )
        paths[next(iter(fields.values()))] = path
    return paths


def _section_of_file(draft: Draft, path: Path) -> str | None:
    """Return the section of a file, "" without it; None if the file cannot be read."""
    with draft.reading(path, 1):
        return _sections(read_text(path)).get(USED, "")
    return None


FORMAT = Format(
    name="sumpubmed_jsonl", read=read, gives="originals", parts=("Article",)
)
TEXT_FORMAT = Format(
    name="sumpubmed_text",
    read=read_files,
    roles=("text", "abstract"),
    gives="originals",
    parts=("Article",),
)
