"""Headers of two rows: `Human` above `fluency` and `accuracy`, as merged cells are
saved.
"""

from collections.abc import Sequence


def merged_names(
    header: Sequence[str], below: Sequence[str], rest: Sequence[Sequence[str]]
) -> list[str] | None:
    """Return a name for each column of a header with two rows, None for one row.

    header, below: the two rows, as many cells each; rest: rows below them. A merged
    cell keeps its word in its first column. The second row has names if every column
    of a merged cell has a short word there that occurs no further time in the column.

    >>> merged_names(["", "Human", ""], ["id", "tone", "facts"], [["7", "3", "4"]])
    ['id', 'Human tone', 'Human facts']
    >>> merged_names(["id", "label", ""], ["7", "good", "bad"], [["8", "good", "ok"]])

    A table with two levels of columns, as pandas saves it, repeats the upper name:

    >>> merged_names(["id", "ann", "ann"], ["", "tone", "facts"], [["7", "3", "4"]])
    ['id', 'ann tone', 'ann facts']
    """
    if len(below) != len(header):
        return None
    header = _without_repeated(header)
    groups: list[str] = []
    for head in header:
        groups.append(head.strip() or (groups[-1] if groups else ""))
    names: list[str] = []
    is_merged = False
    for at, (head, group) in enumerate(zip(header, groups, strict=True)):
        follows = at + 1 < len(header) and not header[at + 1].strip()
        is_alone = bool(head.strip()) and not follows
        is_merged = is_merged or (not head.strip() and bool(group))
        name = below[at].strip()
        if (is_alone or not group) and not name:
            names.append(group)  # an index has no name in both rows
        elif _is_name(name, [row[at] for row in rest if at < len(row)]):
            names.append(f"{group} {name}".strip())
        else:
            return None
    if is_merged and len(set(names)) == len(names):
        return names
    return None


def _without_repeated(header: Sequence[str]) -> list[str]:
    """Return a header with nothing in place of a name that its left neighbour has."""
    heads: list[str] = []
    for at, head in enumerate(header):
        repeated = at > 0 and head == header[at - 1]
        heads.append("" if repeated else head)
    return heads


def _is_name(cell: str, others: Sequence[str]) -> bool:
    """Return whether a cell is a name, not a number, a text or one of the values."""
    # Characters of a name in the second row; a text is longer.
    longest_name = 40
    is_word = any(sign.isalpha() for sign in cell) and len(cell) <= longest_name
    return is_word and cell not in map(str.strip, others)
