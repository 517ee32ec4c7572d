"""Ids made from names: lower case, digits, `-` and `_`, at most 80 characters."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable

LONGEST = 80
_DIGITS = 8


def slug(name: str) -> str:
    """Return the name as an id: decomposed (NFKD), lower case, a `-` for each run of the rest.

    A name that is too long is cut and ends in a hash of the whole; one without any Latin letter or
    digit is `x-` and its hash.
    """
    plain = unicodedata.normalize("NFKD", name).casefold()
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    made = re.sub(r"[^a-z0-9_]+", "-", plain).lstrip("-_").rstrip("-")
    if not made:
        return _hashed("x", name)
    return made if len(made) <= LONGEST else _hashed(made, name)


def slugs(names: Iterable[str], reserved: Collection[str] = ()) -> dict[str, str]:
    """Return name -> id, all different, whatever the order of the names.

    Every one of several names that would share an id, or have a `reserved` one, ends in its hash.
    """
    made = {name: slug(name) for name in dict.fromkeys(names)}
    count = Counter(made.values())
    return {
        name: _hashed(one, name) if count[one] > 1 or one in reserved else one
        for name, one in made.items()
    }


def _hashed(made: str, name: str) -> str:
    suffix = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{made[: LONGEST - _DIGITS - 1].rstrip('-_')}-{suffix}"
