"""What all cards share."""

import ast
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date as Date
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar

from pydantic import (
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
from pydantic_core import CoreSchema

Slug = Annotated[
    str,
    Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=80),
]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


T = TypeVar("T")
Reader = Literal["access", "asking", "computing"]
Access = Annotated[T, "access"]
"""A key that says where, how or at what price something is done: no number depends on it."""
Asking = Annotated[T, "asking"]
"""A key that the jobs which ask read: with another value they may ask again."""
Answering = Annotated[T, "asking", "computing"]
"""A key that the jobs which compute or replay answers read, too."""
Replaying = Annotated[T, "computing"]
"""A key that these jobs read and those that ask do not."""

MOST_VALUES = 100_000
"""Of a scale with steps."""
COMMIT = re.compile("^[0-9a-f]{40}$")


def repeated(names: Iterable[str]) -> str:
    """Return the names that come more than once, "" where none does."""
    return ", ".join(sorted(name for name, count in Counter(names).items() if count > 1))


def plain_word(word: str) -> str:
    """Return a label as it is compared: case and blanks do not count."""
    return " ".join(word.split()).casefold()


def check_read_as(read_as: Mapping[str, str], labels: Sequence[str]) -> None:
    """Raise ValueError for a translation into no label, into two, or of a label into another."""
    places = {plain_word(label): label for label in labels}
    for word, label in read_as.items():
        if plain_word(label) not in places:
            near = get_close_matches(label, labels, n=1)
            hint = f" (nearest: {near[0]!r})" if near else ""
            raise ValueError(
                f"`read_as` translates {word!r} into {label!r}, which is not one of the labels "
                f"{', '.join(labels) or '(there are none)'}{hint}"
            )
        itself = places.get(plain_word(word))
        if itself is not None and itself != places[plain_word(label)]:
            raise ValueError(f"`read_as` translates the label {word!r} into another one: {label!r}")
    if twice := repeated(map(plain_word, read_as)):
        raise ValueError(f"`read_as` has a word twice (case and blanks do not count): {twice}")


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _as_roles(value: object) -> object:
    return {"data": value} if isinstance(value, str | Hub) or _is_hub(value) else value


def _is_hub(value: object) -> bool:
    return isinstance(value, dict) and "hub" in value and not isinstance(value["hub"], dict)


def _form(value: object) -> str:
    return "[path]" if isinstance(value, str) else "[hub]"


def alternatives(validator: Callable[[object], object], types: object) -> BeforeValidator:
    """Return a validator that turns short forms into the value; `types` is what schemas say."""
    return BeforeValidator(validator, json_schema_input_type=types)


Files = Annotated[dict[str, str], alternatives(_as_roles, str | dict[str, str])]
"""Role -> path; one path alone has the role `data`. Paths: docs/guide/own-data.md."""
Hashes = Annotated[dict[str, Sha256], alternatives(_as_roles, Sha256 | dict[str, Sha256])]
Columns = Annotated[list[str], alternatives(_as_list, str | list[str])]


class Card(BaseModel):
    """What all cards share: unknown keys are errors, and a card does not change once read.

    Every number is finite. The string below a key says what it means.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    renamed: ClassVar[dict[str, str]] = {}
    """Key of an earlier version -> what to write in its place; docs/renames.csv lists them, too."""

    @classmethod
    def keys_for(cls, reader: Reader) -> set[str]:
        """Return the keys that are marked for a reader."""
        return {name for name, field in cls.model_fields.items() if reader in field.metadata}

    @classmethod
    @cache
    def meanings(cls) -> dict[str, str]:
        """Return key -> the string below it; pydantic would read these at every import (60 ms)."""
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
        """Return the JSON schema with the meaning of every key."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema)["properties"]
        for key, meaning in cls.meanings().items():
            properties[key]["description"] = meaning
        return schema


class Hub(Card):
    """A file of a dataset on a hub, of one commit."""

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
                "a revision must be a commit, with all its 40 hexadecimal digits: a branch or a "
                "tag may move"
            )
        return revision

    def __str__(self) -> str:
        """Return the file in words."""
        return f"{self.file} of {self.hub} at {self.revision}"


DataFiles = Annotated[
    dict[
        str,
        Annotated[
            Annotated[str, Tag("[path]")] | Annotated[Hub, Tag("[hub]")], Discriminator(_form)
        ],
    ],
    alternatives(_as_roles, str | Hub | dict[str, str | Hub]),
]
"""Role -> path or file on a hub; one alone has the role `data`."""


class SourceFile(Card):
    """A file of a public repository, and its path below `{data}`."""

    path: str = Field(min_length=1)
    """The file's path in the repository."""
    file: str = Field(pattern=r"^[^/{}.][^{}]*$")
    """Its path below `{data}`, as `files` names or matches it."""
    bytes: int = Field(gt=0)
    """Its size."""
    sha256: Sha256
    """Its hash."""


class Source(Card):
    """Where the files of a card can be fetched: a public repository at one commit."""

    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    """On GitHub: owner/name."""
    commit: str = Field(pattern=COMMIT.pattern)
    """The commit with all 40 digits."""
    licence: str | None = None
    """Default: the licence of the card."""
    files: list[SourceFile] = Field(min_length=1)
    """The files to fetch."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if twice := repeated(file.file for file in self.files):
            raise ValueError(f"two files would be at {twice}")
        if outside := [file.file for file in self.files if ".." in file.file.split("/")]:
            raise ValueError(f"a file must be below `{{data}}`: {outside[0]}")
        return self


class Published(Card):
    """A card whose files may be fetched from where their authors publish them."""

    source: Source | None = None
    """The public repository from which a run downloads missing files."""
    obtain: str | None = None
    """One sentence on how to get the files if they cannot be downloaded."""

    @property
    def published(self) -> dict[str, str]:
        """Return path below `{data}` -> sha256 of the files that can be fetched."""
        return {file.file: file.sha256 for file in self.source.files} if self.source else {}


_GRID: Final = frozenset(("min", "max", "step"))


class Scale(Card):
    """The values a rating or a judge's score may take; no step means any value in between.

    Labels alone are values, too, from 0 in steps of 1.
    """

    labels: list[str] = Field([])
    """Category words for the grid's values, from `min` to `max`. Alone, without `min`, `max` and
    `step`, they are the values: `[fail, pass]`; ratings and replies are then these words, whatever
    their case and blanks, and never numbers. The last one is the positive one."""
    ordered: bool = True
    """For labels without numbers: whether each is better than the one before it; `false` for
    kinds."""
    min: float = Field(default_factory=lambda _: 0.0)
    """The lowest value: the worst, unless `best` says otherwise."""
    max: float = Field(default_factory=lambda keys: len(keys["labels"]) - 1.0)
    """The highest value."""
    step: float | None = Field(
        default_factory=lambda keys: 1.0 if keys["labels"] else None, validate_default=True, gt=0
    )
    """The distance between adjacent values; default: any value in between."""
    best: Literal["max", "min"] = "max"
    """Which end is best; `min` for scales such as German school marks. Prompts show the scale
    unchanged; statistics use min + max - value."""

    @model_serializer(mode="wrap")
    def _without_default(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what the card leaves out: reply keys and signatures rest on the dump."""
        keys: dict[str, Any] = dump(self)
        unset = {"best": "max", "ordered": True, "read_as": {}}
        filled = _GRID if self.categorical else frozenset()
        return {
            name: value
            for name, value in keys.items()
            if name not in filled and (name not in unset or value != unset[name])
        }

    @property
    def categorical(self) -> bool:
        """Return whether the values are labels, and no numbers."""
        return bool(self.labels) and not _GRID & self.model_fields_set

    def words(self, read_as: Mapping[str, str]) -> dict[str, int]:
        """Return word -> its label's place: labels, their English plurals, and `read_as`.

        Words are as `plain_word` writes them.
        """
        places = {plain_word(label): place for place, label in enumerate(self.labels)}
        read = {plain_word(word): places[plain_word(label)] for word, label in read_as.items()}
        plural = {
            word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s"): place
            for word, place in places.items()
        }
        return plural | read | places

    def shown(self, value: float) -> str | int | float:
        """Return a value as prompts show it: a label, or a number without a needless point."""
        if self.categorical:
            return self.labels[round(value)]
        return int(value) if value == int(value) else value

    @property
    def turn(self) -> float | None:
        """Return what a value is taken from so that more is better, None where more is better."""
        return self.min + self.max if self.best == "min" else None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self._check_keys()
        if self.max <= self.min:
            raise ValueError(f"max ({self.max}) must be above min ({self.min})")
        if self.step and abs((steps := (self.max - self.min) / self.step) - round(steps)) > 1e-9:
            raise ValueError(f"min to max must be a whole number of steps, not {steps:g}")
        if self.step and steps > MOST_VALUES:
            raise ValueError(
                f"{steps:g} steps are too many: leave `step` out for a continuous scale"
            )
        if self.labels and len(self.labels) != len(self.values() or []):
            raise ValueError(f"{len(self.labels)} labels for {len(self.values() or [])} values")
        words = [plain_word(label) for label in self.labels]
        if twice := [label for n, label in enumerate(self.labels) if words[n] in words[:n]]:
            raise ValueError(
                f"the label {twice[0]!r} has two values (case and blanks do not count): give each "
                "value a distinct label"
            )
        return self

    def _check_keys(self) -> None:
        """Raise ValueError unless the scale has its ends, or labels alone."""
        given = _GRID & self.model_fields_set
        if not self.labels and (absent := sorted({"min", "max"} - given)):
            raise ValueError(
                f"a scale needs `min` and `max`, or `labels` alone: {' and '.join(absent)} missing"
            )
        if self.labels and given and (absent := sorted(_GRID - given)):
            raise ValueError(
                f"labels stand alone, or beside `min`, `max` and `step`: {', '.join(absent)} "
                "missing"
            )
        if self.categorical and len(self.labels) < 2:
            raise ValueError("a scale of labels needs at least two")
        if not self.ordered and not self.categorical:
            raise ValueError(
                "`ordered: false` needs labels without numbers: leave min, max and step out"
            )
        if self.best == "min" and self.categorical:
            raise ValueError("the last label is the best one: give them in that order")

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
    batch: float = Field(1, ge=0, le=1)
    """What a batch costs (`judgescope batch submit`), as a share of these prices."""

    @model_serializer(mode="wrap")
    def _without_batch(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out `batch` where it says nothing: jobs do not run again for it."""
        price: dict[str, Any] = dump(self)
        return {name: value for name, value in price.items() if (name, value) != ("batch", 1)}

    def of_batch(self) -> "Price":
        """Return the price of tokens in a batch."""
        cached = None if self.cached_input is None else self.cached_input * self.batch
        return Price(
            input=self.input * self.batch, output=self.output * self.batch, cached_input=cached
        )


class ListedPrice(Price):
    """The price of a provider's model in config/prices.yaml, with where and when it was read."""

    host: str = Field(exclude=True, pattern=r"^[a-z0-9.-]+$")
    """The host of the address at which the price holds."""
    model: str = Field(exclude=True, min_length=1)
    """The name by which the endpoint knows the model."""
    source: str = Field(exclude=True, pattern=r"^https://\S+$")
    """The page with the price."""
    date: Date = Field(exclude=True)
    """When the page was read."""
    note: str = Field("", exclude=True)
    """For what the price holds, if not for every request."""


class PriceTable(Card):
    """Prices that ship with the workflow; a model's card goes before it."""

    prices: list[ListedPrice]
    """A row per model of a provider."""

    @model_validator(mode="after")
    def _once(self) -> Self:
        if twice := repeated(f"{row.model} at {row.host}" for row in self.prices):
            raise ValueError(f"a model has two prices: {twice}")
        return self
