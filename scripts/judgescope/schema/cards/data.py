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
)
from judgescope.schema.cards.judges import Attempts, Decoding
from judgescope.schema.cards.perturbations import Degree


class Improvement(Decoding):
    """A model writes a better text for each original, from its source, its reference or both."""

    renamed: ClassVar[dict[str, str]] = {"keep_failed": "fallback_to_reference"}
    steps: ClassVar[int] = 1

    model: Slug
    """The model card that writes."""
    form: Slug
    """The instruction, a file of config/prompts."""
    checks: list[Literal["not_refusal", "length"]] = Field(["not_refusal", "length"])
    """Checks that a text must pass; `length`: half to twice the length of the reference."""
    attempts: Attempts = 2
    fallback_to_reference: bool = False
    """Use the reference where no usable text was written; default: drop the item."""

    def degrees_for(self, _: str) -> dict[str, Degree]:
        """Return its only degree, which has no name and no amount."""
        return {"": Degree()}


class References(Improvement):
    """A model writes references for every item, of which the most diverse are kept."""

    form: Slug = "write-reference"
    """The instruction, a file of config/prompts."""
    draws: int = Field(20, ge=1, le=1000)
    """Number of texts written for each item."""
    keep: int = Field(1, ge=1)
    """Number of texts kept per item; the one most similar to all others is the original."""
    temperature: float = Field(1.0, gt=0)
    """The sampling temperature: above 0, because the texts must differ."""


class Format(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A format: its module has `read(card, files)`. Values are literals."""

    name: str
    """The value of the key `format` of a dataset's card."""
    roles: tuple[str, ...] = ("data",)
    """The roles of files that it needs."""
    optional: tuple[str, ...] = ()
    """The roles that it may have too."""
    any_role: bool = False
    """Whether files of any role are parts of the data."""
    gives: Literal["systems", "originals", "texts", "spans"] = "systems"
    """Texts of systems, originals only, texts of known quality, or texts with marked errors."""
    rated: tuple[str, ...] = ()
    """The optional roles, all or none, with which a format of originals gives rated texts too."""
    means: bool = False
    """Whether its ratings are means of several raters': numbers, which are not labels."""
    chosen: bool = False
    """Whether it may give people's choices between texts."""
    meta: tuple[str, ...] = ()
    """The keys of the items' `meta`, for formats that give originals only."""
    joins: tuple[str, ...] | None = None
    """The roles that are needed to join segments; None: they cannot be joined."""
    has_texts: bool = True


TIE = "tie"
"""The choice of no text."""
MODULES: dict[str, str] = {}
"""Format -> the module that reads it; only that of a card is imported."""
FORMATS: dict[str, Format] = {}
for _module, _keywords in declarations("data", "FORMAT").items():
    _format = convert(_keywords, Format)
    MODULES[_format.name], FORMATS[_format.name] = _module, _format

GIVEN_ROLES = ("global", "local")
"""Roles of data that give texts of known quality: texts with their ratings; lists of texts, each
with one error more than the last."""
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
    """Another wording of an aspect in prompts; a key that is left out keeps the aspect's own."""

    name: str | None = None
    """The aspect's name in the prompt; "" omits it."""
    definition: str | None = None
    """The definition in the prompt; "" omits it."""
    note: str | None = None
    """A sentence after the definition."""


class Criterion(Wording):
    """A wording for every aspect that has none of its own of this id, such as an ablation."""

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
    """Completes `the text is …` for the worst text; for forms that show it, such as `annotate`.
    Where more of the aspect is worse, this describes a text with much of it."""
    best: Asking[str | None] = None
    """The same for the best text."""
    tasks: dict[Slug, AspectInTask] = Field({})
    """Task -> the aspect's wording for that task."""

    criteria: dict[Slug, Annotated[Wording, alternatives(_as_wording, str | Wording)]] = Field({})
    """Criterion -> an alternative wording: a definition, and more (see below)."""

    def in_task(self, task: str) -> "Aspect":
        """Return the aspect with its wording for a task."""
        in_task = self.tasks.get(task, AspectInTask())
        keys = ("definition", "steps", "unlike", "worst", "best")
        values = {key: getattr(in_task, key) or getattr(self, key) for key in keys}
        return self.model_copy(update={**values, "tasks": {}})

    def worded(self, wording: Wording) -> "Aspect":
        """Return the aspect as another wording tells it; its steps are those of no wording.

        So are its ends and what it is unlike, but where the wording withholds what the aspect
        means: it has no definition, or one that is the same for every aspect. Then nothing is said
        of the ends ("").
        """
        name = self.name if wording.name is None else wording.name
        meaning = self.definition if wording.definition is None else wording.definition
        definition = " ".join(filter(None, [meaning, wording.note]))
        values: dict[str, object] = {"name": name, "definition": definition, "criteria": {}}
        general = isinstance(wording, Criterion) and wording.definition is not None
        if general or not meaning:
            values |= {"unlike": [], "worst": self.worst and "", "best": self.best and ""}
        return self.model_copy(update=values)


class RatedAspect(Scale):
    """How a data set rates an aspect."""

    source_visible: bool = True
    """Whether raters and judges see the source."""
    column: str | None = None
    """The aspect's name in the data, where it differs from the aspect's id."""
    read_as: dict[str, str] = Field({})
    """For labels without numbers: other words of the data -> labels, such as `{"yes": pass, "1":
    pass}`."""

    @model_validator(mode="after")
    def _translated(self) -> Self:
        if self.read_as and not self.categorical:
            raise ValueError("`read_as` needs labels without numbers: leave min, max and step out")
        check_read_as(self.read_as, self.labels)
        return self

    @cached_property
    def codes(self) -> dict[str, int]:
        """Return word of the data -> its label's place, as `Scale.words`."""
        return self.words(self.read_as)


class Select(Card):
    """Which items are used, and which text of an item stands for the unperturbed original."""

    n: int | None = Field(None, ge=1)
    """Draw this many items by the study's seed."""
    original: Literal["first_reference", "most_sentences", "longest", "system", "none"] = (
        "first_reference"
    )
    """The text that is perturbed: the first reference, or the first of those with the most
    sentences or characters; `system`: the text of `original_system`."""
    original_system: str | None = None
    """With `original: system`: the system, as named in the data."""
    min_characters: int | None = Field(None, ge=1)
    """Only items whose original is at least this long."""
    join: bool = False
    """Formats wmt_text and news_commentary: join consecutive segments of a document until the first
    reference has min_characters."""
    drop_systems: list[str] = Field([])
    """Systems to drop, as named in the data."""

    @model_validator(mode="after")
    def _original_has_length(self) -> Self:
        if (self.original == "system") != (self.original_system is not None):
            raise ValueError("`original: system` and `original_system` belong together")
        if self.min_characters and self.original == "none":
            raise ValueError("min_characters is the length of the original: choose one")
        if self.join and not self.min_characters:
            raise ValueError("`join` needs to know how long is enough: add min_characters")
        return self


class ColumnMapping(Card):
    """Which column or JSON path of a row holds what (format `table`)."""

    item: str | None = None
    """The item's id; default: rows of equal source."""
    source: Columns = Field([])
    """Columns joined by a blank line."""
    references: Columns = Field([])
    """Columns of references; a list in a cell holds several."""
    system: str | None = None
    """The system that wrote the text; default: one system."""
    text: str | None = None
    """The text that is judged; default: the data has ratings and no texts."""
    ratings: dict[Slug, Columns] = Field({})
    """Aspect -> its columns, one per rater; a list in a cell holds several raters. Default: one
    column of the aspect's name."""
    meta: Columns = Field([])
    """Columns that are kept with the item."""
    texts: Columns = Field([])
    """Where people chose between texts, in place of `text`: the columns of the texts of a row, two
    or more, in the order in which people saw them. A text may be in several rows of its item."""
    systems: Columns = Field([])
    """The columns of the systems that wrote `texts`, in the same order; default: nobody knows.
    Without `texts` the data has choices between systems, and no texts."""
    preferences: dict[Slug, Columns] = Field({})
    """With `texts` or `systems`: aspect -> the columns that name the better text of the row, one
    per rater; a list in a cell holds several raters."""
    rater: str | None = None
    """With `preferences`: the column of the rater, where a row holds one rater's choice."""
    choices: dict[str, Columns] = Field({})
    """With `preferences`: a column of `texts` (of `systems` where there are no texts), or `tie` ->
    the words in the data that choose it,
    where case does not count. Known without it: the text's number in the row, its letter, the
    names of its columns, its system; and `tie`."""

    @property
    def compared(self) -> list[str]:
        """Return the columns of what people chose between: texts, or systems without texts."""
        return self.texts or self.systems

    @model_validator(mode="after")
    def _identified(self) -> Self:
        if self.item is None and not self.source:
            raise ValueError("rows belong to an item by `item` or by equal `source`: map one")
        compared = self.compared
        if bool(compared) != bool(self.preferences):
            raise ValueError("`texts` (or `systems`) and `preferences` belong together: map both")
        if not compared and (self.rater or self.choices):
            raise ValueError("`rater` and `choices` need `texts` and `preferences`")
        if compared and (self.text or self.system or self.ratings):
            raise ValueError("rows hold `texts` with `preferences`, or a `text` with its ratings")
        if len(compared) == 1 or repeated(compared):
            raise ValueError("`texts` (or `systems`) needs two or more different columns")
        if self.systems and len(self.systems) != len(compared):
            raise ValueError("`systems` names a column for each one of `texts`")
        if unknown := sorted(self.choices.keys() - {*compared, TIE}):
            raise ValueError(f"`choices` of {unknown[0]}, which is not a column of `texts`")
        if self.rater and any(len(columns) > 1 for columns in self.preferences.values()):
            raise ValueError("with `rater` a row holds one rater's choice: one column per aspect")
        return self


class Dataset(Published):
    """A dataset: where it lies, how it is read, which aspects it rates on which scales."""

    renamed: ClassVar[dict[str, str]] = {
        "improve": "rewrite_references",
        "clean": "fault_free_system",
    }

    dataset: Slug
    """The id, equal to the file's name."""
    name: str
    """The name in the report."""
    task: Slug
    """The task, by which perturbations choose datasets."""
    aspects: dict[Slug, RatedAspect] = Field(min_length=1)
    """Aspect -> the scale on which it is rated, and more."""
    format: FormatName
    """How the files are read; `table` is for your own CSV, JSONL or Parquet."""
    files: DataFiles
    """Role -> path, or a file on a hub; a single file has the role `data`."""
    sha256: Hashes = Field({})
    """Role -> sha256 of the file, or of all files of a role."""
    columns: ColumnMapping | None = None
    """The columns of a table (format `table`)."""
    raters: Slug = "expert"
    """Which raters, where a format carries several kinds (summeval_jsonl: expert or crowd); `mean`
    where one column of a table holds the mean of several; `slots` where a column is a position, not
    a person (the first rating of a text, whoever gave it); `persons` where it is a person; default:
    slots if more than 95 % of the texts have their ratings in order."""
    ratings: Literal["human", "planned", "none"] = "human"
    """The source of the ratings; `planned` ratings are never shown as human."""
    fault_free_system: str | None = None
    """The system whose texts are free of the faults that items plan for others (meta column
    `faults`: system -> kind of fault); for the method faults."""
    missing: list[str] = Field([])
    """Cell contents that stand for a missing rating."""
    same_names: bool | None = None
    """Names of items, systems or raters that differ only in white space, case or Unicode form (`x`,
    `X`, `x `): `true`: they are the same, under the first spelling; `false`: they are different;
    default: an error that lists them."""
    families: dict[Slug, Slug] = Field({})
    """System -> family of the model that wrote its texts; for self-preference."""
    reference_systems: list[Slug] = Field([])
    """Ids of systems whose texts are the references: a judge that compares with references is not
    rated on them (study key exclude_reference_systems)."""
    licence: str
    """The data's licence, shown in the report."""
    citation: str
    """The publication to cite, shown in the report."""
    select: Select = Select()
    """Which items are used."""
    rewrite_references: Improvement | None = None
    """Let a model write better originals, which are perturbed in place of the references."""

    @model_validator(mode="after")
    def _mapped(self) -> Self:
        if (self.format == "table") != (self.columns is not None):
            raise ValueError("`columns` is needed for format table, and only there")
        if unknown := set(self.sha256) - set(self.files):
            raise ValueError(f"sha256 of {min(unknown)}: `files` has no such role")
        for role, file in self.files.items():
            if isinstance(file, Hub) and role not in self.sha256:
                raise ValueError(f"a file on a hub is checked: add the sha256 of the role {role}")
        self._check_roles()
        if self.raters == "mean" and (
            named := [name for name, scale in self.aspects.items() if scale.categorical]
        ):
            raise ValueError(f"`raters: mean` is for numbers, and {named[0]} has labels")
        if (self.gives_spans or not self.has_systems) and self.ratings != "none":
            raise ValueError("there are no texts that anybody rated: add `ratings: none`")
        joins = FORMATS[self.format].joins
        if self.select.join and (joins is None or not {*joins} <= {*self.files}):
            raise ValueError(
                "`select.join` needs format wmt_text with the role `documents`, or news_commentary"
            )
        if self.rewrite_references and self.select.original == "none":
            raise ValueError(
                "`rewrite_references` needs originals: choose another `select.original`"
            )
        if self.rewrite_references and (self.gives_spans or self.gives_texts):
            raise ValueError(
                "`rewrite_references` needs references, and this format has none: leave it out"
            )
        if self.gives_texts:
            self._check_given()
        if self.columns is not None:
            self._check_columns(self.columns)
        return self

    def _check_roles(self) -> None:
        """Check the roles of `files` against those of the format."""
        declared = FORMATS[self.format]
        needed, beside = {*declared.roles}, {*declared.optional}
        if self.format == "table" and not self.has_systems:
            needed, beside = {"items"}, set()
        if declared.any_role:
            return
        if absent := needed - set(self.files):
            raise ValueError(f"`files` needs the role `{min(absent)}`")
        if (some := {*declared.rated} & {*self.files}) and (absent := {*declared.rated} - some):
            raise ValueError(f"`files` has {min(some)}, and needs the role `{min(absent)}` with it")
        if some and self.select.join:
            raise ValueError("`select.join` is for originals: rated texts are single segments")
        if "ratings" in some and len(self.aspects) > 1 and "{aspect}" not in self._name("ratings"):
            raise ValueError("`files.ratings` of several aspects is a pattern with {aspect}")
        if "outputs" in some and "{system}" not in self._name("outputs"):
            raise ValueError("`files.outputs` is a pattern with {system}")
        if unknown := set(self.files) - needed - beside:
            roles = " and ".join(sorted(needed | beside))
            raise ValueError(f"format {self.format} has the roles {roles}, not {min(unknown)}")

    def _name(self, role: str) -> str:
        file = self.files[role]
        return file.file if isinstance(file, Hub) else file

    def _check_given(self) -> None:
        """Check what texts need of which something is known: they are all that there is."""
        if not self.files:
            raise ValueError(f"`files` needs the role {' or '.join(GIVEN_ROLES)}")
        for name, scale in self.aspects.items():
            if "global" in self.files and scale.step is None:
                raise ValueError(f"the ratings of {name} are classes: give its scale a `step`")

    @property
    def gives_texts(self) -> bool:
        """Return whether the data brings texts of which it is known how good they are."""
        return FORMATS[self.format].gives == "texts"

    @property
    def gives_spans(self) -> bool:
        """Return whether the data brings errors that people marked in its texts."""
        return FORMATS[self.format].gives == "spans"

    @property
    def has_systems(self) -> bool:
        """Return whether there are texts by systems, or only originals to perturb."""
        items_only = self.format == "table" and set(self.files) == {"items"}
        gives, rated = FORMATS[self.format].gives, FORMATS[self.format].rated
        if rated and {*rated} <= {*self.files}:
            return True
        return gives in {"systems", "spans"} and not (items_only and self.ratings == "none")

    @property
    def meta(self) -> list[str]:
        """Return the keys of the items' `meta` that the card's format or columns promise."""
        return [*FORMATS[self.format].meta, *(self.columns.meta if self.columns else ())]

    @property
    def prefers(self) -> bool:
        """Return whether people chose between texts, and rated none."""
        return self.columns is not None and bool(self.columns.preferences)

    @property
    def is_rated(self) -> bool:
        """Return whether texts have ratings: people chose between none of them."""
        return self.ratings != "none" and not self.prefers

    @property
    def has_texts(self) -> bool:
        """Return whether the data has texts at all, or only what was said of them."""
        columns = self.columns
        mapped = columns is None or columns.text is not None or bool(columns.texts)
        return FORMATS[self.format].has_texts and (mapped or "data" not in self.files)

    def _check_columns(self, columns: ColumnMapping) -> None:
        for key, named in (("ratings", columns.ratings), ("preferences", columns.preferences)):
            if unknown := set(named) - set(self.aspects):
                raise ValueError(
                    f"`{key}` names {min(unknown)}, which is not one of `aspects`: "
                    f"{', '.join(self.aspects)}"
                )
        if self.prefers and (self.ratings == "none" or "data" not in self.files):
            raise ValueError("`preferences` are in files of the role data, without `ratings: none`")
        labelled = [name for name, scale in self.aspects.items() if scale.categorical]
        if self.prefers and labelled:
            raise ValueError(
                f"people chose between texts, so {labelled[0]} has no labels: write "
                "{min: -1, max: 1} and leave `labels` out"
            )
        if self.prefers and (absent := sorted(self.aspects.keys() - columns.preferences.keys())):
            raise ValueError(f"no preferences of {absent[0]}, which is one of `aspects`")
        if "items" in self.files and columns.item is None:
            raise ValueError("the roles items and data are joined by `columns.item`: map it")
