"""Names that several packages use, and ids made from names.

Jobs import the names of sets and of values in cards from here, so that they do not
import the types of cards. Ids have lower-case letters, digits, `-` and `_`, and at most
80 characters.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import Final, Literal

ConfidenceSource = Literal["column", "decision", "logprobs", "planted", "stated"]
"""Where a judge's confidence in a verdict comes from: a column of a file, the
probability of a decision model, the log-probabilities of the reply, a simulation, or a
number that the reply states."""
SCORE = "score"
"""The kind of a question how probable a text is after a prompt with its source."""
SCORE_FREE = "score-free"
"""The same without the source."""
ORIGINAL = "original"
"""The set of the texts that are perturbed; a value of the column `perturbation`."""
SYSTEMS = "systems"
"""The set of the systems' texts; a value of the same column."""
REFERENCE = "reference"
"""The system of originals: the people who wrote the references."""
REFERENCES = "references"
"""The file of the texts from which an improvement starts, next to the sets of
targets."""


class FilePrefix(StrEnum):
    """How the names of files with replies of a model begin; an id follows."""

    ANALYSES = "analyses."
    """Analyses by a model: the model's id."""
    MERGES = "merges."
    """Error lists that a supervisor merges: the supervisor's model."""
    WRITTEN = "written."
    """Training texts that a model writes: the model's id."""
    COMPARED = "comparisons."
    """Comparisons behind a graded set: the set's id."""


class GradedPart(StrEnum):
    """The parts of a graded set."""

    ALL = "all"
    """All candidates at once."""
    TRIAL = "trial"
    """The candidates on trial."""
    REST = "rest"
    """The candidates that are not on trial."""
    REFEREE = "referee"
    """Before all others: the comparator is tested on the anchors only."""


RESERVED_JUDGES: Final = {"human", "all"}
"""Ids that tables use in the column `judge` for people, and for all judges together."""
ORACLE = "oracle"
"""The control that knows how many errors a text has."""
BATCH = "openai-batch"
"""The engine in the provenance of replies from a batch, which had the batch's price."""
NOT_JUDGED: Final = "not judged"
"""A cell of recorded scores: the judge was not meant to judge the text."""
NO_RECORDED_VALUE: Final = "no_value"
"""The rule of a recorded judgment whose row is there and has no score, reply or
choice."""
SENTENCES: Final = "sentences.json"
"""The file beside the report's first page with the sentence on each judge."""
ASKED_AGAIN = "asked_again"
"""In the provenance of a reply: how often it was requested again because it was
empty."""
CONTENT: Final = "content"
"""In the provenance of a reply without text: what the endpoint sent in its place, one
of `MissingContent`. Older replies do not say."""


class MissingContent(StrEnum):
    """What an endpoint sent instead of the text of a reply."""

    NULL = "null"
    EMPTY = "empty"
    TOOL = "tool"
    """A call of a tool, without arguments: with some, these are the text."""


COMPUTED: Final = "computed"
"""The parser of values that do not come from replies."""
INJECT_ERRORS: Final = "inject_errors"
"""The rule that adds one error after another to a text."""
WRONG_ENDING = "wrong_ending"
"""The key of an item's `meta` for an ending that does not fit."""


def new_target(item: str, perturbation: str) -> str:
    """Return the id of a text that a model writes for an item; the set has the same
    name.
    """
    return f"{item}:{perturbation}"


LONGEST = 80
_UNSHOWN = re.compile(
    r"[\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
"""White space, controls, and characters that Unicode ignores by default (zero-width
signs)."""


def slug(name: str) -> str:
    """Return the name as an id: decomposed (NFKD), lower case, a `-` for each run of
    other signs.

    A name that is too long is cut and ends in a hash of the full name; a name without
    any Latin letter or digit becomes `x-` and its hash.
    """
    made = (
        re.sub(r"[^a-z0-9_]+", "-", without_accents(name).casefold())
        .lstrip("-_")
        .rstrip("-")
    )
    if not made:
        return _hashed("x", name)
    if len(made) <= LONGEST:
        return made
    return _hashed(made, name)


def without_accents(name: str) -> str:
    """Return the name decomposed (NFKD), without combining signs."""
    plain = unicodedata.normalize("NFKD", name)
    return "".join(char for char in plain if not unicodedata.combining(char))


def folded(name: str) -> str:
    """Return the common form of names that differ only in blanks, case or Unicode form.

    NFKC and case folding, without white space and invisible characters: `C`, `C++` and
    `C#` remain different.
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", _UNSHOWN.sub("", plain))


def slugs(names: Iterable[str], reserved: Collection[str] = ()) -> dict[str, str]:
    """Return name -> id, all different, independent of the order of the names.

    If several names would have the same id, or a `reserved` one, each of them ends in
    its hash.
    """
    made = {name: slug(name) for name in dict.fromkeys(names)}
    count = Counter(made.values())
    return {
        name: _hashed(identifier, name)
        if count[identifier] > 1 or identifier in reserved
        else identifier
        for name, identifier in made.items()
    }


def _hashed(made: str, name: str) -> str:
    digits = 8
    suffix = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    return f"{made[: LONGEST - digits - 1].rstrip('-_')}-{suffix}"
