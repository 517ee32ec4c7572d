"""Sources that are the same: nothing may be learnt from what judges are evaluated on."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

BEGINNING: Final = 200
"""Of two sources that begin alike for so many letters, one may be the other cut short."""
Place = tuple[str, str]
"""(dataset, item)."""


def key_of(source: str) -> str:
    """Return the letters and digits of a source: layout, case and punctuation differ by edition."""
    folded = unicodedata.normalize("NFKC", source).casefold()
    return "".join(filter(str.isalnum, folded))


def same_sources(
    ours: Mapping[Place, str | None], theirs: Mapping[Place, str | None]
) -> dict[Place, Place]:
    """Return those of our places whose source is one of theirs -> the first such place of theirs.

    Two sources are the same where their keys are, or where one key begins with the other and that
    has at least BEGINNING letters. What has no source, or one without a letter, is like no other.
    """
    whole: dict[str, Place] = {}
    begun: dict[str, list[tuple[str, Place]]] = defaultdict(list)
    for place, source in sorted(theirs.items()):
        if key := key_of(source or ""):
            whole.setdefault(key, place)
            begun[key[:BEGINNING]].append((key, place))
    found = {}
    for place, source in ours.items():
        key = key_of(source or "")
        if not key:
            continue
        if key in whole:
            found[place] = whole[key]
        elif len(key) >= BEGINNING and (same := _cut_short(key, begun.get(key[:BEGINNING], ()))):
            found[place] = same
    return found


def groups_of(sources: Mapping[Place, str | None]) -> dict[Place, str]:
    """Return a name for each source, the same for those that are the same (see `same_sources`)."""
    keys = {place: key_of(source or "") for place, source in sources.items()}
    names, root = dict[str, str](), ""
    for key in sorted({*keys.values()} - {""}):  # a key follows those that it begins with
        if len(root) < BEGINNING or not key.startswith(root):
            root = key
        names[key] = root
    return {place: names.get(key, "/".join(place)) for place, key in keys.items()}


def _cut_short(key: str, others: Iterable[tuple[str, Place]]) -> Place | None:
    return next((at for one, at in others if one.startswith(key) or key.startswith(one)), None)
