"""Changes of one key in the text of a card; comments and the order of keys stay."""

import re
from collections.abc import Mapping, Sequence

import yaml

from judgescope.core.errors import UserError


def with_names(text: str, key: str, names: Mapping[str, str | None], where: str) -> str:
    """Return a card's text with these names under a key of its top level.

    A key that is missing is added at the end. `where` names the card in errors. Raises
    UserError if the text has a form in which the key cannot be changed safely.

    >>> with_names("a: 1  # one\\n", "b", {"c": None}, "card.yaml")
    'a: 1  # one\\nb: {c: null}\\n'
    >>> with_names("b: {d: e}  # why\\na: 1\\n", "b", {"c": "f"}, "card.yaml")
    'b: {c: f}  # why\\na: 1\\n'
    """
    lines = text.splitlines()
    begin = next(
        (
            at
            for at, line in enumerate(lines)
            if re.match(rf"[\"']?{key}[\"']?\s*:", line)
        ),
        None,
    )
    if begin is None:
        new = [*lines, flow_line(key, names)]
    else:
        end = _end_of(lines, begin)
        inner = lines[begin + 1 : end]
        new = [*lines[:begin], *_changed(lines[begin], inner, key, names), *lines[end:]]
    changed = "\n".join(new) + "\n"
    before = _loaded(text)
    wanted = None
    if isinstance(before, dict):
        wanted = {**before, key: dict(names)}
    if wanted is None or _loaded(changed) != wanted:
        raise UserError(
            f"the key {key} cannot be changed without changing other parts of the card",
            where=f"{where}, key {key}",
            todo=f"write this line by hand: {flow_line(key, names)}",
        )
    return changed


def flow_line(key: str, names: Mapping[str, str | None]) -> str:
    """Return the line of a card that sets a key to names, null for None."""
    pairs = (
        f"{name}: {'null' if other is None else other}" for name, other in names.items()
    )
    return f"{key}: {{{', '.join(pairs)}}}"


def _end_of(lines: Sequence[str], begin: int) -> int:
    """Return the number of the line after the last one of a key's value."""
    end = begin + 1
    for at in range(begin + 1, len(lines)):
        if lines[at][:1] in {" ", "\t"}:
            end = at + 1
        elif lines[at].strip():
            break
    return end


def _changed(
    first: str, inner: Sequence[str], key: str, names: Mapping[str, str | None]
) -> list[str]:
    """Return the lines of a key with other names; a name on a line of its own keeps its
    comment.
    """
    comment = re.search(r"\s+#.*$", first)
    ending = comment[0] if comment else ""
    on_lines = not first.removesuffix(ending).partition(":")[2].strip()
    if not (on_lines and inner):
        return [flow_line(key, names) + ending]
    left = dict(names)
    result = [first]
    indent = "  "
    for line in inner:
        entry = re.match(r"(\s+)([\w-]+)\s*:[^#]*?(\s+#.*)?$", line)
        if entry is None:  # a comment, or an empty line
            result.append(line)
            continue
        indent = entry[1]
        name = entry[2]
        remark = entry[3] or ""
        if name in left:
            other = left.pop(name)
            result.append(f"{indent}{name}: {other or 'null'}{remark}")
    added = [f"{indent}{name}: {other or 'null'}" for name, other in left.items()]
    return [*result, *added]


def _loaded(text: str) -> object:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None
