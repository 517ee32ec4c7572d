"""Cards of datasets and aspects."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from msgspec import Struct
from pydantic import Field, model_validator

from judgescope.core.registry import Registry
from judgescope.schema.cards.annotations import Line
from judgescope.schema.cards.aspects import Description, Noun, RatedAspect
from judgescope.schema.cards.base import (
    Card,
    DataFiles,
    Hashes,
    Hub,
    Published,
    Slug,
    one_of,
    same,
)
from judgescope.schema.cards.columns import ColumnMapping, check_parts
from judgescope.schema.cards.judges import RetriedDecoding
from judgescope.schema.cards.perturbations import Degree, PerturbedTexts

LANGUAGE = r"^$|^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$"
"""A language tag (BCP 47)."""


class Improvement(RetriedDecoding):
    """A model writes a better text for each original, from its source, its reference or
    both.
    """

    steps: ClassVar[int] = 1

    model: Slug
    """The card of the model that writes."""
    form: Slug
    """The instruction, a file of config/prompts."""
    checks: list[Literal["not_refusal", "length"]] = Field(["not_refusal", "length"])
    """Checks that a text must pass; `length`: half to twice the length of the
    reference."""
    fallback_to_reference: bool = False
    """Use the reference if no usable text was written; default: drop the item."""

    def degrees_for(self, _: str) -> dict[str, Degree]:
        """Return its only degree, which has no name and no amount."""
        return {"": Degree()}


class References(Improvement):
    """A model writes references for every item; the most diverse ones are kept."""

    form: Slug = "write-reference"
    """The instruction, a file of config/prompts."""
    draws: int = Field(20, ge=1, le=1000)
    """Number of texts written for each item."""
    keep: int = Field(1, ge=1)
    """Number of texts kept per item; the one most similar to all others is the
    original."""
    temperature: float = Field(1.0, gt=0)
    """The sampling temperature: above 0, because the texts must differ."""


class Format(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A data format."""

    name: str
    """The value of the key `format` of a dataset's card."""
    read: Callable[..., None]
    """`read(draft: Draft, files: Files)` (data/draft.py) adds what the files hold."""
    roles: tuple[str, ...] = ("data",)
    """The roles that its files must have."""
    optional: tuple[str, ...] = ()
    """Further roles that its files may have."""
    any_role: bool = False
    """Whether files of any role are parts of the data."""
    gives: Literal["systems", "originals", "texts", "spans"] = "systems"
    """Texts of systems, originals only, texts of known quality, or texts with marked
    errors."""
    rated: tuple[str, ...] = ()
    """Optional roles that add rated texts to a format of originals; all of them or
    none."""
    means: bool = False
    """Whether its ratings are means over raters, which are numbers and not labels."""
    chosen: bool = False
    """Whether it may have people's choices between texts."""
    meta: tuple[str, ...] = ()
    """The keys of the items' `meta`, for formats that give originals only."""
    joins: tuple[str, ...] | None = None
    """The roles needed to join segments; None: segments cannot be joined."""
    has_texts: bool = True
    pairs: Callable[..., list[Any]] | None = None
    """`pairs(draft: Draft, files: Files)` returns the perturbed texts that the files
    have (data/rated.py, PerturbedText); None: the format has none."""
    parts: tuple[str, ...] = ()
    """The names of a source's parts, where they are not those of columns or the task's
    own."""


FORMATS = Registry("formats", Format, "judgescope.data")

SPANS = "spans"
"""The role of a table with one row for each error that people marked."""
PAIRS = "pairs"
"""The role of a table with one row for each perturbed text."""
GIVEN_ROLES = ("global", "local")
"""Roles of data that give texts of known quality: texts with their ratings; lists of
texts, each with one error more than the last."""


class Select(Card):
    """Which items are used, and which text of an item serves as the unperturbed
    original.
    """

    n: int | None = Field(None, ge=1)
    """Number of items to draw with the study's seed; default: all."""
    original: Literal[
        "first_reference", "most_sentences", "longest", "system", "none"
    ] = "first_reference"
    """The text that is perturbed. `first_reference`: the first; `most_sentences`,
    `longest`: the first reference with the most sentences, or characters; `system`: the
    text of `original_system`; `none`: no text."""
    original_system: str | None = None
    """With `original: system`: the system, as named in the data."""
    min_characters: int | None = Field(None, ge=1)
    """Use only items whose original is at least this long."""
    join: bool = False
    """Formats wmt_text and news_commentary: join consecutive segments of a document
    until the first reference has min_characters."""
    drop_systems: list[str] = Field([])
    """Systems to drop, as named in the data."""

    @model_validator(mode="after")
    def _original_has_length(self) -> Self:
        if (self.original == "system") != (self.original_system is not None):
            raise ValueError(
                "`original: system` and `original_system` need each other: set both or "
                "neither"
            )
        if self.min_characters and self.original == "none":
            raise ValueError(
                "`min_characters` needs an original: choose another `original`"
            )
        if self.join and not self.min_characters:
            raise ValueError("`join` needs a minimum length: add `min_characters`")
        return self


class TaskWords(Card):
    """How prompts speak about the texts of a task."""

    noun: Noun
    """What prompts call a text, such as `summary`."""
    kind: Line
    """What a text is, as the end of `The text is …`."""
    describe: Description = ""
    """What a text should do, in one sentence; never that it does so. Empty: prompts
    leave it out."""
    write: Line
    """The instruction by which such a text is written."""
    part: str = "Source"
    """The name of a source that has one part."""

    @model_validator(mode="after")
    def _named(self) -> Self:
        check_parts([self.part])
        return self

    @classmethod
    def unknown(cls, task: str) -> "TaskWords":
        """Return the words for a task that no table has."""
        return cls(noun="text", kind=f"a text (task: {task})", write="Write a text.")

    @classmethod
    def of(cls, card: "Dataset", tasks: Mapping[str, "TaskWords"]) -> "TaskWords":
        """Return the words for a dataset's texts: by its card, else by its task."""
        words = tasks.get(card.task) or cls.unknown(card.task)
        given: dict[str, str] = {}
        for key in ("noun", "kind", "describe", "write"):
            value = getattr(card, key)
            if value is not None:
                given[key] = value
        return words.model_copy(update=given)


class TaskTable(Card):
    """The tasks of config/tasks.yaml; a user's own file replaces the tasks that it
    names.
    """

    tasks: dict[Slug, TaskWords]
    """Task -> how prompts speak about its texts."""


class Dataset(Published):
    """A dataset: where its files are, how they are read, and on which scales aspects
    are rated.
    """

    dataset: Slug
    """The id, equal to the file's name."""
    name: str
    """The name in the report."""
    task: Slug
    """The task; perturbations can be limited to tasks."""
    noun: Noun | None = Field(None, exclude_if=same(None))
    """What prompts call a text, such as `reply`; default: by task
    (config/tasks.yaml)."""
    kind: Line | None = Field(None, exclude_if=same(None))
    """What a text is, as the end of `The text is …`; default: by task."""
    describe: Description | None = Field(None, exclude_if=same(None))
    """What a text should do, in one sentence, such as `It should answer the question.`;
    never that it does so. Default: by task."""
    write: Line | None = Field(None, exclude_if=same(None))
    """The instruction by which such a text is written, as one sentence; default: by
    task."""
    aspects: dict[Slug, RatedAspect] = Field(min_length=1)
    """Aspect -> the scale on which it is rated, and more."""
    format: Annotated[str, one_of(FORMATS)]
    """How the files are read; `table` is for your own CSV, JSONL or Parquet."""
    files: DataFiles
    """Role -> path, or a file on a hub; a single file has the role `data`."""
    sha256: Hashes = Field({})
    """Role -> sha256 of the file, or of all files of a role; the files are checked
    against it."""
    columns: ColumnMapping | None = None
    """The columns of a table (format `table`)."""
    raters: Slug = "expert"
    """The raters to use, if a format has several kinds (summeval_jsonl: expert or
    crowd). For a table: `mean` if a column holds the mean of several raters; `slots` if
    a column is a position, not a person (the first rating of a text, whoever gave it);
    `persons` if it is a person; default: slots if more than 95 % of the texts have
    sorted ratings."""
    ratings: Literal["people", "planned", "model", "none"] = "people"
    """Who gave the ratings: people, the authors of the texts in advance (`planned`), or
    a language model or a program (`model`). Only what people gave is shown as
    people's, gives a ceiling, and can be corrected by."""
    fault_free_system: str | None = None
    """For the method faults: the system whose texts are free of the faults that items
    plan for other systems (meta column `faults`: system -> kind of fault)."""
    missing: list[str] = Field([])
    """Cell contents that mean a missing rating."""
    same_names: bool | None = None
    """What to do with names of items, systems or raters that differ only in white
    space, case or Unicode form (`x`, `X`, `x `): `true`: treat them as the same, with
    the first spelling; `false`: treat them as different; default: stop with an error
    that lists them."""
    families: dict[Slug, Slug] = Field({})
    """System -> family of the model that wrote its texts; to measure
    self-preference."""
    reference_systems: list[Slug] = Field([])
    """Ids of systems whose texts are the references: judges that compare with
    references are not evaluated on these systems (study key
    exclude_reference_systems)."""
    language: str = Field("", pattern=LANGUAGE, exclude_if=same(""))
    """The language of the texts, a tag such as `de` or `pt-BR`; default: guessed from
    their letters and words. Spelling and some kinds of perturbations are English."""
    licence: str
    """The data's licence, shown in the report."""
    citation: str
    """The publication to cite, shown in the report."""
    select: Select = Select()
    """Which items are used."""
    rewrite_references: Improvement | None = None
    """Let a model write better originals, which are perturbed instead of the
    references."""
    perturbed: dict[Slug, PerturbedTexts] = Field({}, exclude_if=same({}))
    """Perturbation -> the perturbed texts that the data has already (role `pairs` of a
    table); a study names them under `perturbations`, without a card."""

    @model_validator(mode="after")
    def _mapped(self) -> Self:
        if (self.format == "table") != (self.columns is not None):
            raise ValueError(
                "`columns` is required for the format table, and only allowed there"
            )
        if unknown := set(self.sha256) - set(self.files):
            raise ValueError(
                f"`sha256` names {min(unknown)}, but `files` has no such role"
            )
        for role, file in self.files.items():
            if isinstance(file, Hub) and role not in self.sha256:
                raise ValueError(
                    f"a file on a hub needs a hash: add the sha256 of the role {role}"
                )
        self._check_roles()
        if self.raters == "mean" and (
            named := [name for name, scale in self.aspects.items() if scale.categorical]
        ):
            raise ValueError(
                f"`raters: mean` is for numbers, and {named[0]} has labels"
            )
        if (self.gives_spans or not self.has_systems) and self.ratings != "none":
            raise ValueError("this data has no ratings of texts: add `ratings: none`")
        joins = FORMATS[self.format].joins
        if self.select.join and (joins is None or not {*joins} <= {*self.files}):
            raise ValueError(
                "`select.join` needs format wmt_text with the role `documents`, or "
                "news_commentary"
            )
        if self.rewrite_references and self.select.original == "none":
            raise ValueError(
                "`rewrite_references` needs originals: choose another `select.original`"
            )
        if self.rewrite_references and (self.gives_spans or self.gives_texts):
            raise ValueError(
                "`rewrite_references` needs references, and this format has none: "
                "leave it out"
            )
        if self.perturbed or PAIRS in self.files:
            self._check_perturbed()
        if self.gives_texts:
            self._check_given()
        if self.columns is not None:
            self._check_columns(self.columns)
        return self

    def _check_roles(self) -> None:
        declared = FORMATS[self.format]
        needed = {*declared.roles}
        beside = {*declared.optional}
        if self.format == "table" and not self.has_systems:
            needed = {PAIRS if PAIRS in self.files else "items"}
            beside = set()
        if declared.any_role:
            return
        if absent := needed - set(self.files):
            raise ValueError(f"`files` needs the role `{min(absent)}`")
        if (some := {*declared.rated} & {*self.files}) and (
            absent := {*declared.rated} - some
        ):
            raise ValueError(
                f"with the role `{min(some)}`, `files` needs the role `{min(absent)}`"
            )
        if some and self.select.join:
            raise ValueError(
                "`select.join` is for originals only: rated texts are single segments"
            )
        several = len(self.aspects) > 1
        if (
            several
            and "ratings" in some
            and "{aspect}" not in str(self.files["ratings"])
        ):
            raise ValueError(
                "with several aspects, `files.ratings` must contain {aspect}"
            )
        if "outputs" in some and "{system}" not in str(self.files["outputs"]):
            raise ValueError("`files.outputs` must contain {system}")
        if unknown := set(self.files) - needed - beside:
            roles = " and ".join(sorted(needed | beside))
            raise ValueError(
                f"format {self.format} has the roles {roles}, not {min(unknown)}"
            )

    def _check_perturbed(self) -> None:
        """Check that perturbed texts have a card's keys, files and columns."""
        has_pairs = FORMATS[self.format].pairs is not None
        if self.format == "table":
            has_pairs = PAIRS in self.files
        if not has_pairs:
            raise ValueError(
                f"`perturbed` needs a table with the role `{PAIRS}`, or a format that "
                "has perturbed texts"
            )
        if not self.perturbed:
            raise ValueError(
                f"the role `{PAIRS}` needs `perturbed`: name the perturbations, each "
                "with its level"
            )
        if self.rewrite_references or self.select.original == "none":
            raise ValueError(
                "perturbed texts were made from the originals of the data: leave out "
                "`rewrite_references` and `select.original`"
            )
        by_name: dict[str, str] = {}
        for key, texts in self.perturbed.items():
            other = by_name.setdefault(texts.named or key, key)
            if other != key:
                raise ValueError(
                    f"`perturbed` gives {other} and {key} the same name in the data"
                )
        if self.columns is None:
            return
        if not (self.columns.original and self.columns.perturbed):
            raise ValueError(
                f"the role `{PAIRS}` needs `columns.original` and `columns.perturbed`"
            )
        if len(self.perturbed) > 1 and not self.columns.perturbation:
            raise ValueError("with several perturbations, map `columns.perturbation`")
        if not self.columns.degree and any(
            texts.degrees for texts in self.perturbed.values()
        ):
            raise ValueError("`degrees` need `columns.degree`: map it")

    def _check_given(self) -> None:
        """Check the roles and scales of a format that has texts of known quality."""
        if not self.files:
            raise ValueError(f"`files` needs the role {' or '.join(GIVEN_ROLES)}")
        for name, scale in self.aspects.items():
            if "global" in self.files and scale.step is None:
                raise ValueError(
                    f"the ratings of {name} must be discrete: add `step` to its scale"
                )

    @property
    def gives_texts(self) -> bool:
        """Return whether the data has texts of known quality."""
        return FORMATS[self.format].gives == "texts"

    @property
    def gives_spans(self) -> bool:
        """Return whether the data has errors that people marked in its texts."""
        in_table = self.columns is not None and self.columns.spans is not None
        return in_table or FORMATS[self.format].gives == "spans"

    @property
    def has_systems(self) -> bool:
        """Return whether there are texts by systems, or only originals to perturb."""
        if PAIRS in self.files:
            return False
        items_only = self.format == "table" and set(self.files) == {"items"}
        gives = FORMATS[self.format].gives
        rated = FORMATS[self.format].rated
        if rated and {*rated} <= {*self.files}:
            return True
        if gives not in {"systems", "spans"}:
            return False
        return not (items_only and self.ratings == "none")

    @property
    def meta(self) -> list[str]:
        """Return the keys that the items' `meta` has by the card's format or
        columns.
        """
        return [
            *FORMATS[self.format].meta,
            *(self.columns.meta if self.columns else ()),
        ]

    @property
    def prefers(self) -> bool:
        """Return whether people chose between texts instead of rating them."""
        return self.columns is not None and bool(self.columns.preferences)

    @property
    def has_unknown_systems(self) -> bool:
        """Return whether nobody knows which system wrote a text."""
        if self.columns is None:
            return False
        if self.columns.anonymous:
            return True
        return self.prefers and not self.columns.systems

    @property
    def is_rated(self) -> bool:
        """Return whether texts have ratings, not choices between texts."""
        return self.ratings != "none" and not self.prefers

    @property
    def has_texts(self) -> bool:
        """Return whether the data has texts, not only ratings or choices."""
        columns = self.columns
        mapped = columns is None or columns.text is not None or bool(columns.texts)
        if not FORMATS[self.format].has_texts:
            return False
        return mapped or "data" not in self.files

    @property
    def has_lengths(self) -> bool:
        """Return whether texts have lengths: their own, or those of a column."""
        columns = self.columns
        mapped = columns is not None and bool(columns.length or columns.lengths)
        return self.has_texts or mapped

    def _check_spans(self, columns: ColumnMapping) -> None:
        """Check that the errors of a table are in one place, and have texts."""
        spans = columns.spans
        if spans is None:
            if SPANS in self.files:
                raise ValueError(f"the role `{SPANS}` needs `columns.spans`")
            return
        if columns.text is None or "data" not in self.files:
            raise ValueError("marked errors need texts: map `columns.text`")
        beside = SPANS in self.files
        in_row = bool(spans.listed or spans.marked)
        if (beside and spans.listed) or not (beside or in_row):
            raise ValueError(
                f"marked errors are in the role `{SPANS}`, in `columns.spans.listed` "
                "or in `columns.spans.marked`: give one"
            )
        if beside and columns.item is None:
            raise ValueError(
                f"the roles data and {SPANS} are joined by `columns.item`: map it"
            )
        if spans.marked and not beside and spans.marked != columns.text:
            raise ValueError(
                "the marks are in the text that is judged: `columns.spans.marked` and "
                "`columns.text` must be the same column"
            )

    def _check_columns(self, columns: ColumnMapping) -> None:
        self._check_spans(columns)
        for key, named in (
            ("ratings", columns.ratings),
            ("preferences", columns.preferences),
        ):
            if unknown := set(named) - set(self.aspects):
                raise ValueError(
                    f"`{key}` names {min(unknown)}, which is not one of `aspects`: "
                    f"{', '.join(self.aspects)}"
                )
        if self.prefers and (self.ratings == "none" or "data" not in self.files):
            raise ValueError(
                "`preferences` needs the role `data`, and no `ratings: none`"
            )
        labelled = []
        for name, scale in self.aspects.items():
            if scale.categorical:
                labelled.append(name)
        if self.prefers and labelled:
            raise ValueError(
                f"people chose between texts, so {labelled[0]} cannot have labels: "
                "write {min: -1, max: 1} and leave `labels` out"
            )
        if self.prefers and (
            absent := sorted(self.aspects.keys() - columns.preferences.keys())
        ):
            raise ValueError(f"`preferences` has no column for the aspect {absent[0]}")
        if (columns.length or columns.lengths) and "data" not in self.files:
            raise ValueError("`length` needs the role `data`: remove it")
        if "items" in self.files and columns.item is None:
            raise ValueError(
                "the roles items and data are joined by `columns.item`: map it"
            )
