"""Cards of datasets and aspects."""

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from msgspec import Struct, convert
from pydantic import Field, model_validator

from judgescope.core.declarations import declarations
from judgescope.schema.cards.base import (
    Asking,
    Card,
    Columns,
    DataFiles,
    Hashes,
    Hub,
    Published,
    Scale,
    Slug,
    alternatives,
    check_read_as,
    repeated,
    same,
)
from judgescope.schema.cards.judges import Attempts, Decoding, RetryHeat
from judgescope.schema.cards.perturbations import Degree


class Improvement(Decoding):
    """A model writes a better text for each original, from its source, its reference or
    both.
    """

    renamed: ClassVar[dict[str, str]] = {"keep_failed": "fallback_to_reference"}
    steps: ClassVar[int] = 1

    model: Slug
    """The card of the model that writes."""
    form: Slug
    """The instruction, a file of config/prompts."""
    checks: list[Literal["not_refusal", "length"]] = Field(["not_refusal", "length"])
    """Checks that a text must pass; `length`: half to twice the length of the
    reference."""
    attempts: Attempts = 2
    retry_temperature: Literal["same"] | RetryHeat | None = Field(
        "same", exclude_if=same("same")
    )
    """The temperature of further attempts if `temperature` is 0, at which the same text
    may come again, such as 0.7; null: there are no further attempts; same: 0."""
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
    """A data format. Its module has `read(draft, files)`; the values here are
    literals.
    """

    name: str
    """The value of the key `format` of a dataset's card."""
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


TIE = "tie"
"""The word for a choice of neither text."""
MODULES: dict[str, str] = {}
"""Format -> the module that reads it; only the module of a card's format is
imported."""
FORMATS: dict[str, Format] = {}
for _module, _keywords in declarations("data", "FORMAT").items():
    _format = convert(_keywords, Format)
    MODULES[_format.name], FORMATS[_format.name] = _module, _format

GIVEN_ROLES = ("global", "local")
"""Roles of data that give texts of known quality: texts with their ratings; lists of
texts, each with one error more than the last."""
if TYPE_CHECKING:
    FormatName = str
else:
    FormatName = Literal[*FORMATS]


class SubAspect(Card):
    """A part of an aspect: what an error can be about."""

    name: str = Field(min_length=1)
    """The name of the sub-aspect."""
    definition: str = Field(min_length=1)
    """What a text without such errors is like."""


class AspectInTask(Card):
    """The wording of an aspect in one task, in place of its general wording."""

    definition: str | None = None
    """The definition for this task."""
    steps: list[str] = Field([])
    """Evaluation steps for this task."""
    unlike: list[str] = Field([])
    """Qualities that are confused with the aspect in this task."""
    worst: str | None = None
    """What the worst text of this task is like."""
    best: str | None = None
    """What the best text of this task is like."""
    sub_aspects: list[SubAspect] = Field([])
    """Sub-aspects for this task, for models that inject errors of the aspect."""


class Wording(Card):
    """Another wording of an aspect in prompts; a key that is left out keeps the
    aspect's own.
    """

    name: str | None = None
    """The aspect's name in the prompt; "" omits it."""
    definition: str | None = None
    """The definition in the prompt; "" omits it."""
    note: str | None = None
    """A sentence after the definition."""


class Criterion(Wording):
    """A wording for every aspect whose card does not define this criterion, such as for
    an ablation."""

    criterion: Slug
    """The id, equal to the file's name."""


def _as_wording(value: object) -> object:
    return {"definition": value} if isinstance(value, str) else value


class Aspect(Card):
    """An aspect: one quality of a text, and its wording in prompts."""

    aspect: Asking[Slug]
    """The id, equal to the file's name."""
    name: Asking[str]
    """The name in the report."""
    definition: Asking[str]
    """The definition that judges see."""
    parent: Slug | None = None
    """The parent in the hierarchy of aspects."""
    steps: Asking[list[str]] = Field([])
    """Evaluation steps, for forms that show steps."""
    unlike: Asking[list[str]] = Field([])
    """Qualities, in plain words, that are often confused with the aspect."""
    worst: Asking[str | None] = None
    """Completes `the text is …` for the worst text; for forms that show it, such as
    `annotate`. If more of the aspect is worse, this describes a text with much of
    it."""
    best: Asking[str | None] = None
    """Completes `the text is …` for the best text."""
    tasks: dict[Slug, AspectInTask] = Field({})
    """Task -> the aspect's wording for that task."""

    criteria: dict[
        Slug, Annotated[Wording, alternatives(_as_wording, str | Wording)]
    ] = Field({})
    """Criterion -> an alternative wording: a definition, or a mapping with the keys
    below."""

    def in_task(self, task: str) -> "Aspect":
        """Return the aspect with its wording for a task."""
        in_task = self.tasks.get(task, AspectInTask())
        keys = ("definition", "steps", "unlike", "worst", "best")
        values = {key: getattr(in_task, key) or getattr(self, key) for key in keys}
        return self.model_copy(update={**values, "tasks": {}})

    def worded(self, wording: Wording) -> "Aspect":
        """Return the aspect in another wording; its steps do not change.

        Neither do its ends (`worst`, `best`) and `unlike`, unless the wording withholds
        what the aspect means: it has no definition, or the same one for every aspect.
        Then the prompt says nothing of the ends ("").
        """
        name = self.name if wording.name is None else wording.name
        meaning = self.definition if wording.definition is None else wording.definition
        definition = " ".join(filter(None, [meaning, wording.note]))
        values: dict[str, object] = {
            "name": name,
            "definition": definition,
            "criteria": {},
        }
        general = isinstance(wording, Criterion) and wording.definition is not None
        if general or not meaning:
            values |= {
                "unlike": [],
                "worst": self.worst and "",
                "best": self.best and "",
            }
        return self.model_copy(update=values)


class RatedAspect(Scale):
    """How a dataset rates an aspect."""

    source_visible: bool = True
    """Whether raters and judges see the source."""
    column: str | None = None
    """The aspect's name in the data, if it differs from the aspect's id."""
    read_as: dict[str, str] = Field({}, exclude_if=same({}))
    """For labels without numbers: other words in the data -> labels, such as `{"yes":
    pass, "1": pass}`."""

    @model_validator(mode="after")
    def _translated(self) -> Self:
        if self.read_as and not self.categorical:
            raise ValueError(
                "`read_as` needs labels without numbers: leave min, max and step out"
            )
        check_read_as(self.read_as, self.labels)
        return self

    @cached_property
    def codes(self) -> dict[str, int]:
        """Return word in the data -> position of its label, as `Scale.words`."""
        return self.words(self.read_as)


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


class ColumnMapping(Card):
    """The columns or JSON paths of a row (format `table`)."""

    item: str | None = None
    """The item's id; default: rows with the same source belong to one item."""
    source: Columns = Field([])
    """Columns of the source, joined by a blank line."""
    references: Columns = Field([])
    """Columns of references; a list in a cell holds several."""
    system: str | None = None
    """The system that wrote the text; default: all texts are by one system."""
    text: str | None = None
    """The text that is judged; default: the data has ratings but no texts."""
    length: str | None = Field(None, exclude_if=same(None))
    """Without `text`: the length of the judged text, a number in any unit (characters,
    words, tokens); for the control `length` and every comparison with length. An empty
    cell: unknown."""
    ratings: dict[Slug, Columns] = Field({})
    """Aspect -> its columns, one per rater; a list in a cell holds the ratings of
    several raters. Default: one column with the aspect's name."""
    meta: Columns = Field([])
    """Columns that are kept with the item."""
    texts: Columns = Field([])
    """If people chose between texts, in place of `text`: the columns of a row's texts,
    two or more, in the order in which people saw them. A text may be in several rows of
    its item."""
    systems: Columns = Field([])
    """The columns of the systems that wrote `texts`, in the same order; default:
    unknown. Without `texts`, the data has choices between systems but no texts."""
    lengths: Columns = Field([], exclude_if=same([]))
    """With `systems` and without `texts`: the columns of the lengths of their texts, in
    the same order."""
    preferences: dict[Slug, Columns] = Field({})
    """With `texts` or `systems`: aspect -> the columns that name the better text of the
    row, one per rater; a list in a cell holds the choices of several raters."""
    rater: str | None = None
    """With `preferences`: the column of the rater, if a row holds one rater's
    choice."""
    choices: dict[str, Columns] = Field({})
    """With `preferences`: a column of `texts` (of `systems` if there are no texts), or
    `tie` -> the words in the data for this choice, in any case. Always understood: the
    text's number in the row, its letter, the names of its columns, its system, and
    `tie`."""

    @property
    def compared(self) -> list[str]:
        """Return the columns of what people chose between: texts, or systems without
        texts.
        """
        return self.texts or self.systems

    @model_validator(mode="after")
    def _identified(self) -> Self:
        if self.item is None and not self.source:
            raise ValueError(
                "rows are grouped into items by `item` or `source`: map one of them"
            )
        compared = self.compared
        if bool(compared) != bool(self.preferences):
            raise ValueError(
                "`texts` (or `systems`) and `preferences` need each other: map both"
            )
        if not compared and (self.rater or self.choices):
            raise ValueError("`rater` and `choices` need `texts` and `preferences`")
        if compared and (self.text or self.system or self.ratings):
            raise ValueError(
                "map `texts` with `preferences`, or `text` with its ratings, not both"
            )
        if len(compared) == 1 or repeated(compared):
            raise ValueError(
                "`texts` (or `systems`) needs two or more different columns"
            )
        if self.systems and len(self.systems) != len(compared):
            raise ValueError("`systems` needs one column for each column of `texts`")
        if unknown := sorted(self.choices.keys() - {*compared, TIE}):
            raise ValueError(
                f"`choices` names {unknown[0]}, which is not a column of `texts`"
            )
        if self.rater and any(
            len(columns) > 1 for columns in self.preferences.values()
        ):
            raise ValueError(
                "with `rater` a row has one rater's choice: map one column per aspect"
            )
        self._check_lengths()
        return self

    def _check_lengths(self) -> None:
        """Raise ValueError for lengths where the data has the texts, or has others."""
        for key, given, texts in (
            ("length", self.length, self.text),
            ("lengths", self.lengths, self.texts),
        ):
            if given and texts:
                raise ValueError(f"the texts have lengths of their own: remove `{key}`")
        if self.length and self.compared:
            raise ValueError(
                "`length` is for texts with ratings: with `preferences`, map "
                "`lengths`, one column for each column of `systems`"
            )
        if self.lengths and len(self.lengths) != len(self.systems):
            raise ValueError("`lengths` needs one column for each column of `systems`")


class Dataset(Published):
    """A dataset: where its files are, how they are read, and on which scales aspects
    are rated.
    """

    renamed: ClassVar[dict[str, str]] = {
        "improve": "rewrite_references",
        "clean": "fault_free_system",
    }

    dataset: Slug
    """The id, equal to the file's name."""
    name: str
    """The name in the report."""
    task: Slug
    """The task; perturbations can be limited to tasks."""
    aspects: dict[Slug, RatedAspect] = Field(min_length=1)
    """Aspect -> the scale on which it is rated, and more."""
    format: FormatName
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
    ratings: Literal["human", "planned", "none"] = "human"
    """The source of the ratings; `planned` ratings are never shown as human."""
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
    licence: str
    """The data's licence, shown in the report."""
    citation: str
    """The publication to cite, shown in the report."""
    select: Select = Select()
    """Which items are used."""
    rewrite_references: Improvement | None = None
    """Let a model write better originals, which are perturbed instead of the
    references."""

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
        if self.gives_texts:
            self._check_given()
        if self.columns is not None:
            self._check_columns(self.columns)
        return self

    def _check_roles(self) -> None:
        declared = FORMATS[self.format]
        needed, beside = {*declared.roles}, {*declared.optional}
        if self.format == "table" and not self.has_systems:
            needed, beside = {"items"}, set()
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
        return FORMATS[self.format].gives == "spans"

    @property
    def has_systems(self) -> bool:
        """Return whether there are texts by systems, or only originals to perturb."""
        items_only = self.format == "table" and set(self.files) == {"items"}
        gives, rated = FORMATS[self.format].gives, FORMATS[self.format].rated
        if rated and {*rated} <= {*self.files}:
            return True
        return gives in {"systems", "spans"} and not (
            items_only and self.ratings == "none"
        )

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
    def is_rated(self) -> bool:
        """Return whether texts have ratings, not choices between texts."""
        return self.ratings != "none" and not self.prefers

    @property
    def has_texts(self) -> bool:
        """Return whether the data has texts, not only ratings or choices."""
        columns = self.columns
        mapped = columns is None or columns.text is not None or bool(columns.texts)
        return FORMATS[self.format].has_texts and (mapped or "data" not in self.files)

    @property
    def has_lengths(self) -> bool:
        """Return whether texts have lengths: their own, or those of a column."""
        columns = self.columns
        mapped = columns is not None and bool(columns.length or columns.lengths)
        return self.has_texts or mapped

    def _check_columns(self, columns: ColumnMapping) -> None:
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
        labelled = [name for name, scale in self.aspects.items() if scale.categorical]
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
