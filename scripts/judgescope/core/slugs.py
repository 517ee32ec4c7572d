"""Ids made from names: lower case, digits, `-` and `_`, at most 80 characters."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable

LONGEST = 80
_DIGITS = 8
_UNSHOWN = re.compile(
    r"[\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
"""White space, controls, and characters that Unicode ignores by default (zero-width signs)."""


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


def folded(name: str) -> str:
    """Return the common form of names that differ only in blanks, case or Unicode form.

    NFKC and case folding, without white space and signs that show nothing: `C`, `C++` and `C#`
    stay three.
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", _UNSHOWN.sub("", plain))


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
