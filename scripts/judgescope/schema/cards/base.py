"""What all cards share."""

import ast
import inspect
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date as Date
from difflib import get_close_matches
from functools import cache, partial
from itertools import pairwise
from operator import eq
from textwrap import dedent
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    Tag,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from judgescope.core.registry import Registry

Slug = Annotated[
    str,
    Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=80),
]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
GitBlob = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
BLOB: Final = "git_blob:"
"""What the pin of a file begins with, if it is a blob id of git."""


T = TypeVar("T")
KeyReader = Literal["access", "asking", "computing"]
Access = Annotated[T, "access"]
"""A key on which no number depends: where, how or at what price something is done."""
Asking = Annotated[T, "asking"]
"""A key that jobs read which send requests: with another value they may send requests
again."""
Answering = Annotated[T, "asking", "computing"]
"""A key that is also read by jobs that compute or replay answers."""
Replaying = Annotated[T, "computing"]
"""A key that only jobs read which compute or replay answers."""

DEEPEST_JSON: Final = 32
"""Levels of a value that a card passes on as JSON."""


def _check_json(value: object, path: tuple[str | int, ...] = ()) -> None:
    """Raise PydanticCustomError, with the path, for what no request can hold."""
    # The least and the greatest integer that a request can hold.
    least = -(2**63)
    greatest = 2**64 - 1
    problem = ""
    if len(path) > DEEPEST_JSON:
        problem = f"this value is nested in more than {DEEPEST_JSON} levels"
    elif isinstance(value, float) and not math.isfinite(value):
        problem = "this number is not finite, so no request can hold it"
    elif isinstance(value, int) and not least <= value <= greatest:
        problem = "this integer has more than 64 bits, so no request can hold it"
    elif not isinstance(value, str | int | float | list | dict | None):
        problem = f"a {type(value).__name__} is not a value of JSON: put it in quotes"
    if problem:
        raise PydanticCustomError(
            "json_value", "{problem}", {"problem": problem, "path": path, "got": value}
        )
    if isinstance(value, list):
        for index, entry in enumerate(value):
            _check_json(entry, (*path, index))
    if isinstance(value, dict):
        for key, entry in value.items():
            if not isinstance(key, str):
                raise PydanticCustomError(
                    "json_value",
                    "{problem}",
                    {
                        "problem": "the name of a field must be a text: put it in "
                        "quotes",
                        "path": path,
                        "got": key,
                    },
                )
            _check_json(entry, (*path, key))


def _json_fields(value: dict[str, Any]) -> dict[str, Any]:
    _check_json(value)
    return value


JsonFields = Annotated[dict[str, Any], AfterValidator(_json_fields)]
"""Fields that a request holds as they are: finite numbers, integers of 64 bits, at most
32 levels."""
COMMIT = re.compile("^[0-9a-f]{40}$")


def same(default: object) -> Callable[[object], bool]:
    """Return the `exclude_if` of a key whose default value dumps leave out.

    Reply keys, signatures of results and the inputs of jobs depend on these dumps.
    """
    return partial(eq, default)


def one_of(registry: Registry[Any]) -> AfterValidator:
    """The check that a key has a name of a registry: a built-in one or an add-on."""

    def check(name: str) -> str:
        if name not in registry:
            names = ", ".join(registry)
            raise PydanticCustomError(
                "literal_error", "{expected}", {"expected": names}
            )
        return name

    return AfterValidator(check)


def repeated(names: Iterable[str]) -> str:
    """Return the names that occur more than once, joined by commas; "" if there are
    none.
    """
    return ", ".join(
        sorted(name for name, count in Counter(names).items() if count > 1)
    )


def plain_word(word: str) -> str:
    """Return a label as it is compared: in lower case, with single spaces."""
    return " ".join(word.split()).casefold()


def check_read_as(read_as: Mapping[str, str], labels: Sequence[str]) -> None:
    """Raise ValueError for a word mapped to no label or to two, or a label mapped to
    another.
    """
    places = {plain_word(label): label for label in labels}
    for word, label in read_as.items():
        if plain_word(label) not in places:
            near = get_close_matches(label, labels, n=1)
            hint = f" (nearest: {near[0]!r})" if near else ""
            raise ValueError(
                f"`read_as` maps {word!r} to {label!r}, which is not one of the labels "
                f"{', '.join(labels) or '(none)'}{hint}"
            )
        itself = places.get(plain_word(word))
        if itself is not None and itself != places[plain_word(label)]:
            raise ValueError(
                f"`read_as` maps the label {word!r} to another label: {label!r}"
            )
    if twice := repeated(map(plain_word, read_as)):
        raise ValueError(
            f"`read_as` has a word twice (ignoring case and blanks): {twice}"
        )


def _as_list(value: object) -> object:
    if isinstance(value, list):
        return value
    return [value]


def _as_roles(value: object) -> object:
    hub = (
        isinstance(value, dict)
        and "hub" in value
        and not isinstance(value["hub"], dict)
    )
    if hub or isinstance(value, str | Hub):
        return {"data": value}
    return value


def _as_is(value: object) -> object:
    return value


def _form(value: object) -> str:
    if isinstance(value, str):
        return "[path]"
    return "[hub]"


def alternatives(
    validator: Callable[[object], object], types: object
) -> BeforeValidator:
    """Return a validator that expands short forms; `types` is the type that schemas
    show.
    """
    return BeforeValidator(validator, json_schema_input_type=types)


FilePaths = Annotated[dict[str, str], alternatives(_as_roles, str | dict[str, str])]
"""Role -> path; a single path has the role `data`. Paths: docs/guide/own-data.md."""
Hashes = Annotated[
    dict[str, Sha256], alternatives(_as_roles, Sha256 | dict[str, Sha256])
]
Columns = Annotated[list[str], alternatives(_as_list, str | list[str])]


class Card(BaseModel):
    """The base of all cards: unknown keys are errors, and a card does not change once
    it is read.

    Every number is finite. The string below a key describes it.
    """

    # A command reads a few of the kinds of cards: the others are never built.
    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True
    )

    @classmethod
    def keys_for(cls, reader: KeyReader) -> set[str]:
        """Return the keys that are marked for a reader."""
        return {
            name for name, field in cls.model_fields.items() if reader in field.metadata
        }

    @classmethod
    def key_of(cls, field: str) -> str:
        """Return the key of a field in cards: its name, unless Python reserves the
        key.
        """
        return cls.model_fields[field].alias or field

    @classmethod
    @cache
    def meanings(cls) -> dict[str, str]:
        """Return key -> the string below it; pydantic would read these at every import
        (60 ms).
        """
        meanings = {}
        for card in filter(lambda base: issubclass(base, Card), reversed(cls.__mro__)):
            [definition] = ast.parse(dedent(inspect.getsource(card))).body
            assert isinstance(definition, ast.ClassDef)
            for statement in pairwise(definition.body):
                match statement:
                    case (
                        ast.AnnAssign(target=ast.Name(id=key)),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ) if key in cls.model_fields:
                        meanings[key] = " ".join(text.split())
        return meanings

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the JSON schema with the description of every key."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema)["properties"]
        for key, meaning in cls.meanings().items():
            properties[cls.key_of(key)]["description"] = meaning
        return schema


class Hub(Card):
    """A file of a dataset on a hub, at one commit."""

    hub: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    """The dataset: owner/name."""
    revision: str
    """The commit with all 40 digits, not a branch or tag."""
    file: str = Field(min_length=1)
    """The file's path in the dataset."""

    @field_validator("revision")
    @classmethod
    def _pinned(cls, revision: str) -> str:
        if not COMMIT.fullmatch(revision):
            raise ValueError(
                "a revision must be a commit hash with all 40 hexadecimal digits: "
                "branches and tags may move"
            )
        return revision

    def __str__(self) -> str:
        """Return the file in words."""
        return f"{self.file} of {self.hub} at {self.revision}"


DataFiles = Annotated[
    dict[
        str,
        Annotated[
            Annotated[str, Tag("[path]")] | Annotated[Hub, Tag("[hub]")],
            Discriminator(_form),
        ],
    ],
    alternatives(_as_roles, str | Hub | dict[str, str | Hub]),
]
"""Role -> path or file on a hub; a single one has the role `data`."""


class SourceFile(Card):
    """A file of a public repository, and its path below `{data}`."""

    path: str = Field(min_length=1)
    """The file's path in the repository."""
    file: str = Field(pattern=r"^[^/{}.][^{}]*$")
    """The path below `{data}` where it is stored, as `files` names or matches it."""
    bytes: int | None = Field(None, gt=0, exclude_if=same(None))
    """The file's size in bytes; may be left out with `git_blob`."""
    sha256: Sha256 | None = Field(None, exclude_if=same(None))
    """The file's sha256. A file has this or `git_blob`."""
    git_blob: GitBlob | None = Field(None, exclude_if=same(None))
    """The id of the file in its git repository (`git hash-object FILE`), if the sha256
    is not known yet; `judgescope data fetch --pin` prints it."""

    @model_validator(mode="after")
    def _pinned(self) -> Self:
        if (self.sha256 is None) == (self.git_blob is None):
            raise ValueError(
                f"{self.file} needs either `sha256` or `git_blob`, and not both"
            )
        if self.bytes is None and self.git_blob is None:
            raise ValueError(f"{self.file} needs `bytes`, as it has a sha256")
        return self

    @property
    def pin(self) -> str:
        """Return what the file must have: its sha256, or `git_blob:` and its blob id.

        >>> SourceFile(path="a", file="a", git_blob="0" * 40).pin[:14]
        'git_blob:00000'
        """
        return self.sha256 or f"{BLOB}{self.git_blob}"


class Source(Card):
    """Where the files of a card can be fetched: a public repository at one commit."""

    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    """The repository on GitHub: owner/name."""
    commit: str = Field(pattern=COMMIT.pattern)
    """The commit with all 40 digits."""
    licence: str | None = None
    """The licence of the files; default: the card's."""
    files: Annotated[list[SourceFile], alternatives(_as_is, str | list[SourceFile])] = (
        Field(min_length=1)
    )
    """The files to download; or the name of a CSV beside the card with their keys as
    columns."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if twice := repeated(file.file for file in self.files):
            raise ValueError(f"two files have the same path: {twice}")
        if outside := [
            file.file for file in self.files if ".." in file.file.split("/")
        ]:
            raise ValueError(f"a file must be below `{{data}}`: {outside[0]}")
        return self


class Published(Card):
    """A card whose files can be downloaded from where their authors published them."""

    source: Source | None = None
    """The public repository from which a run downloads missing files."""
    obtain: str | None = None
    """One sentence on how to get the files if they cannot be downloaded."""

    @property
    def published(self) -> dict[str, str]:
        """Return path below `{data}` -> pin of the files that can be fetched."""
        if self.source:
            return {file.file: file.pin for file in self.source.files}
        return {}


_GRID: Final = frozenset(("min", "max", "step"))


class RatingScale(Card):
    """The values that a rating or a judge's score can take; without `step`, any value
    in between.

    A scale with only `labels` has the values 0, 1, 2, …, one for each label.
    """

    labels: list[str] = Field([])
    """The names of the values, from `min` to `max`. Without `min`, `max` and `step`,
    the labels are the values themselves, as in `[fail, pass]`: ratings and replies are
    then these words, never numbers; case and blanks are ignored. The last label is the
    positive one."""
    ordered: bool = Field(True, exclude_if=same(True))
    """For labels without numbers: whether each label is better than the one before it;
    `false` for unordered categories."""
    min: float = Field(default_factory=lambda _: 0.0)
    """The lowest value; it is the worst, unless `best` is `min`."""
    max: float = Field(default_factory=lambda keys: len(keys["labels"]) - 1.0)
    """The highest value."""
    step: float | None = Field(
        default_factory=lambda keys: 1.0 if keys["labels"] else None,
        validate_default=True,
        gt=0,
    )
    """The distance between adjacent values; default: any value in between is
    allowed."""
    best: Literal["max", "min"] = Field("max", exclude_if=same("max"))
    """Which end is best; `min` for scales such as German school marks. Prompts show the
    scale unchanged; statistics use min + max - value."""

    @model_serializer(mode="wrap")
    def _without_grid(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out the numbers of a scale that has only labels: reply keys depend on
        this dump.
        """
        keys: dict[str, Any] = dump(self)
        filled = _GRID if self.categorical else frozenset()
        return {name: value for name, value in keys.items() if name not in filled}

    @property
    def categorical(self) -> bool:
        """Return whether the values are labels, not numbers."""
        return bool(self.labels) and not _GRID & self.model_fields_set

    def words(self, read_as: Mapping[str, str]) -> dict[str, int]:
        """Return word -> position of its label, for labels, their English plurals, and
        `read_as`.

        Words are normalised as by `plain_word`.
        """
        positions: dict[str, int] = {}
        plurals: dict[str, int] = {}
        for position, label in enumerate(self.labels):
            word = plain_word(label)
            positions[word] = position
            ending = "s"
            if word.endswith(("s", "x", "z", "ch", "sh")):
                ending = "es"
            plurals[word + ending] = position
        read: dict[str, int] = {}
        for word, label in read_as.items():
            read[plain_word(word)] = positions[plain_word(label)]
        return plurals | read | positions

    def shown(self, value: float) -> str | int | float:
        """Return a value as prompts show it: a label, or a number without a needless
        point.
        """
        if self.categorical:
            return self.labels[round(value)]
        if value == int(value):
            return int(value)
        return value

    @property
    def turn(self) -> float | None:
        """Return min + max, from which values are subtracted if the lowest is best;
        else None.
        """
        if self.best == "min":
            return self.min + self.max
        return None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self._check_keys()
        if self.max <= self.min:
            raise ValueError(f"max ({self.max}) must be above min ({self.min})")
        if (
            self.step
            and abs((steps := (self.max - self.min) / self.step) - round(steps)) > 1e-9
        ):
            raise ValueError(
                f"min to max must be a whole number of steps, not {steps:g}"
            )
        # Maximum number of values of a scale with steps.
        most_values = 100_000
        if self.step and steps > most_values:
            raise ValueError(
                f"{steps:g} steps are too many: leave `step` out for a continuous scale"
            )
        if self.labels and len(self.labels) != len(self.values() or []):
            raise ValueError(
                f"{len(self.labels)} labels for {len(self.values() or [])} values: "
                "give one each"
            )
        words = [plain_word(label) for label in self.labels]
        if twice := [
            label for n, label in enumerate(self.labels) if words[n] in words[:n]
        ]:
            raise ValueError(
                f"two values have the label {twice[0]!r} (ignoring case and blanks): "
                "give each value a distinct label"
            )
        return self

    def _check_keys(self) -> None:
        """Raise ValueError unless the scale has both its ends, or only labels."""
        given = _GRID & self.model_fields_set
        if not self.labels and (absent := sorted({"min", "max"} - given)):
            raise ValueError(
                "a scale needs `min` and `max`, or only `labels`: "
                f"{' and '.join(absent)} missing"
            )
        if self.labels and given and (absent := sorted(_GRID - given)):
            raise ValueError(
                "a scale has only `labels`, or `labels` with `min`, `max` and `step`: "
                f"{', '.join(absent)} missing"
            )
        if self.categorical and len(self.labels) < 2:
            raise ValueError("a scale of labels needs at least two labels")
        if not self.ordered and not self.categorical:
            raise ValueError(
                "`ordered: false` needs labels without numbers: leave min, max and "
                "step out"
            )
        if self.best == "min" and self.categorical:
            raise ValueError(
                "`best: min` is for numbers: list labels in order, the best one last"
            )

    def values(self) -> list[float] | None:
        """Return the grid from worst to best, or None for a continuous scale."""
        if self.step is None:
            return None
        count = int((self.max - self.min) / self.step + 1e-9) + 1
        return [round(self.min + index * self.step, 12) for index in range(count)]


class Price(Card):
    """What a million tokens cost, in US dollars."""

    input: float = Field(ge=0)
    """Per million tokens of the prompt."""
    output: float = Field(ge=0)
    """Per million tokens of the reply."""
    cached_input: float | None = Field(None, ge=0)
    """Per million tokens of the prompt that were cached; default: `input`."""
    batch: float = Field(1, ge=0, le=1, exclude_if=same(1))
    """The price of a batch (`judgescope batch submit`), as a share of these prices."""

    def of_batch(self) -> "Price":
        """Return the price of tokens in a batch."""
        cached = None
        if self.cached_input is not None:
            cached = self.cached_input * self.batch
        return Price(
            input=self.input * self.batch,
            output=self.output * self.batch,
            cached_input=cached,
        )


class ListedPrice(Price):
    """The price of a provider's model in config/prices.yaml, with where and when it was
    read.
    """

    host: str = Field(exclude=True, pattern=r"^[a-z0-9.-]+$")
    """The host of the endpoint that charges this price."""
    model: str = Field(exclude=True, min_length=1)
    """The name by which the endpoint knows the model."""
    source: str = Field(exclude=True, pattern=r"^https://\S+$")
    """The page with the price."""
    date: Date = Field(exclude=True)
    """When the page was read."""
    note: str = Field("", exclude=True)
    """The requests to which the price applies, if not to all."""


class PriceTable(Card):
    """Prices that ship with the workflow; the price in a model's card takes
    precedence.
    """

    prices: list[ListedPrice]
    """One row per model of a provider."""

    @model_validator(mode="after")
    def _once(self) -> Self:
        if twice := repeated(f"{row.model} at {row.host}" for row in self.prices):
            raise ValueError(f"a model has two prices: {twice}")
        return self
