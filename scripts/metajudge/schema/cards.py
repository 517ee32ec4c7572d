"""The cards a user writes, as typed models: the only source of what a card may say.

The JSON schemas in workflow/schemas are generated from here (`make generated`).
"""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

Slug = Annotated[
    str,
    Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=80),
]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _as_roles(value: object) -> object:
    return {"data": value} if isinstance(value, str) else value


Files = Annotated[dict[str, str], BeforeValidator(_as_roles)]
"""Role -> path; one path alone has the role `data`. See config/README.md for what a path may be."""
Hashes = Annotated[dict[str, Sha256], BeforeValidator(_as_roles)]
Columns = Annotated[list[str], BeforeValidator(_as_list)]


class Card(BaseModel):
    """What all cards share: unknown keys are errors, and a card does not change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Scale(Card):
    """The values a rating or a judge's score may take; no step means any value in between."""

    min: float = Field(description="The worst value.")
    max: float = Field(description="The best value.")
    step: float | None = Field(
        None, gt=0, description="From one value to the next; none: any value in between."
    )
    labels: list[str] = Field([], description="Category words, worst first, for the grid's values.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.max <= self.min:
            raise ValueError(f"max ({self.max}) must be above min ({self.min})")
        if self.step and abs((steps := (self.max - self.min) / self.step) - round(steps)) > 1e-9:
            raise ValueError(f"from min to max is no whole number of steps: {steps:g}")
        if self.labels and len(self.labels) != len(self.values() or []):
            raise ValueError(f"{len(self.labels)} labels for {len(self.values() or [])} values")
        return self

    def values(self) -> list[float] | None:
        """Return the grid from worst to best, or None for a continuous scale."""
        if self.step is None:
            return None
        count = int((self.max - self.min) / self.step + 1e-9) + 1
        return [self.min + index * self.step for index in range(count)]


class Aspect(Card):
    """An aspect: one dimension of quality, and how judges are told about it."""

    aspect: Slug = Field(description="The id, equal to the file's name.")
    name: str = Field(description="What the report calls it.")
    definition: str = Field(description="What it means, as judges are told.")
    parent: Slug | None = Field(None, description="The aspect above it in the tree of aspects.")


class RatedAspect(Scale):
    """How a data set rates an aspect."""

    source_visible: bool = Field(True, description="Whether raters and judges see the source.")
    column: str | None = Field(
        None, description="The aspect's name in the data, where it differs from the aspect's id."
    )


class Select(Card):
    """Which items are used, and which text of an item stands for the unperturbed original."""

    n: int | None = Field(None, ge=1, description="Draw this many items by the study's seed.")
    original: Literal["first_reference", "most_sentences", "none"] = Field(
        "first_reference",
        description="The reference that is perturbed: the first, or the first one of those with "
        "the most sentences.",
    )
    min_characters: int | None = Field(
        None, ge=1, description="Only items whose original is at least this long."
    )
    drop_systems: list[str] = Field([], description="Systems left out, as named in the data.")

    @model_validator(mode="after")
    def _original_has_length(self) -> Self:
        if self.min_characters and self.original == "none":
            raise ValueError("min_characters is the length of the original: choose one")
        return self


class Mapping(Card):
    """Which column or JSON path of a row holds what (format `table`)."""

    item: str | None = Field(None, description="The item's id; default: rows of equal source.")
    source: Columns = Field([], description="Columns joined by a blank line.")
    references: Columns = Field([], description="Columns of references; a list in a cell is many.")
    system: str | None = Field(None, description="Who wrote the text; default: one system.")
    text: str = Field(description="The text that is judged.")
    ratings: dict[Slug, Columns] = Field(
        {},
        description="Aspect -> its columns, one per rater; a list in a cell is raters too. "
        "Default: one column of the aspect's name.",
    )
    meta: Columns = Field([], description="Columns that are kept with the item.")

    @model_validator(mode="after")
    def _identified(self) -> Self:
        if self.item is None and not self.source:
            raise ValueError("rows belong to an item by `item` or by equal `source`: map one")
        return self


class Dataset(Card):
    """A dataset: where it lies, how it is read, which aspects it rates on which scales."""

    dataset: Slug = Field(description="The id, equal to the file's name.")
    name: str = Field(description="What the report calls it.")
    task: Slug = Field(description="The task, by which perturbations choose datasets.")
    aspects: dict[Slug, RatedAspect] = Field(
        min_length=1, description="Aspect -> the scale on which it is rated, and more."
    )
    format: Literal["summeval_jsonl", "usr_json", "unieval_json", "hanna_csv", "table"] = Field(
        description="How the files are read; `table` is for your own CSV, JSONL or Parquet."
    )
    files: Files = Field(description="Role -> path; one path alone has the role `data`.")
    sha256: Hashes = Field({}, description="Role -> sha256 of the file, or of all files of a role.")
    columns: Mapping | None = Field(None, description="For format table.")
    raters: Slug = Field(
        "expert",
        description="Which raters, where a format carries several kinds (summeval_jsonl: expert "
        "or crowd); `mean` where one column of a table holds the mean of several.",
    )
    ratings: Literal["human", "planned", "none"] = Field(
        "human", description="Whose ratings they are; `planned` is never shown as human."
    )
    clean: str | None = Field(
        None,
        description="The system whose texts are free of the faults that items plan for others "
        "(meta column `faults`: system -> kind of fault); for the method faults.",
    )
    missing: list[str] = Field([], description="Cell contents that mean: no rating.")
    reference_systems: list[Slug] = Field(
        [],
        description="Ids of systems whose texts are the references: a judge that compares with "
        "references is not rated on them (study key exclude_reference_systems).",
    )
    licence: str = Field(description="The data's licence, shown in the report.")
    citation: str = Field(description="Whom to cite, shown in the report.")
    select: Select = Field(Select(), description="Which items are used.")

    @model_validator(mode="after")
    def _mapped(self) -> Self:
        if (self.format == "table") != (self.columns is not None):
            raise ValueError("`columns` is needed for format table, and only there")
        if unknown := set(self.sha256) - set(self.files):
            raise ValueError(f"sha256 of {min(unknown)}: `files` has no such role")
        if "data" not in self.files and self.format != "usr_json":
            raise ValueError("`files` needs the role `data`")
        if self.columns is not None:
            self._check_columns(self.columns)
        return self

    @property
    def has_texts(self) -> bool:
        """Return whether the data has texts at all, or only what was said of them."""
        return self.format != "hanna_csv"

    def _check_columns(self, columns: Mapping) -> None:
        if unknown := set(columns.ratings) - set(self.aspects):
            raise ValueError(f"ratings of {min(unknown)}, which is not one of `aspects`")
        if unknown := set(self.files) - {"data", "items"}:
            raise ValueError(f"a table has the roles data and items, not {min(unknown)}")
        if "items" in self.files and columns.item is None:
            raise ValueError("the roles items and data are joined by `columns.item`: map it")


class LexicalModel(Card):
    """A scorer that computes: no request, no price."""

    model: Slug = Field(description="The id, equal to the file's name.")
    engine: Literal["lexical"] = Field(description="What answers.")


class ControlModel(Card):
    """A null judge, which knows nothing of the text's quality."""

    model: Slug = Field(description="The id, equal to the file's name.")
    engine: Literal["control"] = Field(description="What answers.")


class RecordedRows(Card):
    """Which column or JSON path of a recorded row holds what."""

    item: str | None = Field(None, description="Join by the item's id and the system.")
    system: str | None = Field(None, description="The system, beside `item` or `text`.")
    source: Columns = Field([], description="Join by text: the source's columns, beside `text`.")
    text: str | None = Field(None, description="Join by text: the judged text's column.")
    aspect: str | None = Field(None, description="The row's aspect, where a file mixes them.")
    reply: str | None = Field(None, description="Raw replies: one, or a list of draws.")
    scores: dict[str, str] = Field(
        {}, description="Scores that exist: aspect -> column; * stands for every aspect."
    )
    lists: bool = Field(
        False,
        description="A cell is a JSON list with an entry per item, in one order for all rows; the "
        "column # is the entry's id, the dataset's and its number.",
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.item is None) == (self.text is None):
            raise ValueError("rows join either by `item` (and `system`) or by `text`: give one")
        if (self.reply is None) == (not self.scores):
            raise ValueError("rows hold either a `reply` or `scores`: give one")
        return self


class RecordedModel(Card):
    """Replies or scores that exist already, read as they are."""

    model: Slug = Field(description="The id, equal to the file's name.")
    engine: Literal["recorded"] = Field(description="What answers.")
    dataset: Slug = Field(description="The dataset whose targets were judged.")
    files: Files = Field(
        description="Role -> path. A role named like a judge's form holds that form's rows; other "
        "forms read the role `data`."
    )
    sha256: Hashes = Field({}, description="Role -> sha256 of the file, or of all files of a role.")
    rows: RecordedRows = Field(description="What a row holds, and how it finds its target.")


class Price(Card):
    """What a million tokens cost, in US dollars."""

    input: float = Field(ge=0, description="Per million tokens of the prompt.")
    output: float = Field(ge=0, description="Per million tokens of the reply.")


class Limits(Card):
    """How an endpoint is asked; none of this changes a reply."""

    concurrency: int = Field(16, ge=1, description="Requests under way at once.")
    attempts: int = Field(
        5, ge=1, description="Times that a request is sent while it fails for a passing reason."
    )
    timeout: float = Field(300, gt=0, description="Seconds until an answer counts as lost.")
    backoff: float = Field(
        1, gt=0, description="Seconds before the second attempt; doubled each time, up to 60."
    )


class OpenAIModel(Card):
    """A model behind an endpoint that speaks OpenAI's chat protocol."""

    model: Slug = Field(description="The id, equal to the file's name.")
    engine: Literal["openai"] = Field(description="What answers.")
    base_url: str = Field(
        pattern=r"^https?://", description="The endpoint, up to and with its version: `.../v1`."
    )
    name: str | None = Field(
        None, description="The name by which the endpoint knows the model; default: the id."
    )
    api_key_env: str | None = Field(
        None, description="The environment variable that holds the key; never the key itself."
    )
    revision: str | None = Field(None, description="The revision of the weights, where known.")
    variant: str | None = Field(
        None, description="What the name does not tell: quantisation, server, build."
    )
    family: Slug | None = Field(None, description="Models of one family may favour each other.")
    extra_body: dict[str, Any] = Field(
        {}, description="Further fields of every request, such as chat_template_kwargs."
    )
    price: Price | None = Field(None, description="What its tokens cost; default: not known.")
    limits: Limits = Field(Limits(), description="How it is asked.")

    @property
    def served_name(self) -> str:
        """Return the name by which the endpoint knows the model."""
        return self.name or self.model


Model = Annotated[
    LexicalModel | ControlModel | RecordedModel | OpenAIModel,
    Field(discriminator="engine"),
]

ASKED = ("openai",)
"""Engines that are asked: requests, replies, a price. All others compute or replay."""
ASPECT = "{aspect}"
"""Stands for the aspect in the name of a recorded score column."""
COMPARE = "compare"
"""The form that asks about two texts at once."""
LEXICAL_FORMS = ("rouge1", "rouge2", "rougel", "chrf", "bleu", "rules")
CONTROL_FORMS = ("constant_top", "most_frequent", "random", "shuffled", "length")


class Decoding(Card):
    """How a model chooses its words; part of every request's key."""

    temperature: float = Field(0, ge=0, description="0: always the likeliest word.")
    top_p: float = Field(1, gt=0, le=1, description="Only the likeliest words of this mass.")
    max_tokens: int = Field(512, ge=1, description="A longer reply is cut, and no answer then.")
    seed: Literal["request", "study"] = Field(
        "request",
        description="Where a draw's seed comes from: `request`: the request alone, so that every "
        "study shares its replies; `study`: the study's seed too.",
    )


class Judge(Decoding):
    """A judge: a model, the form in which it is asked, and how its replies become a score.

    Temperature, top_p, max_tokens and seed are for models that are asked.
    """

    judge: Slug = Field(description="The id, equal to the file's name.")
    model: Slug = Field(description="The model card that answers.")
    form: str = Field(
        "",
        description="Lexical and control: what is computed. Recorded: a name for the report. "
        "Models that are asked: the prompt, a file of config/prompts.",
    )
    pairs: Literal["adjacent", "all"] = Field(
        "adjacent", description="Form compare: which texts of an item are compared, by step or id."
    )
    against: Literal["references", "source"] | None = Field(
        None,
        description="What a text is compared with. Default: references for lexical forms, nothing "
        "for other judges.",
    )
    scale: Scale | None = Field(None, description="The judge's own scale; default: the aspect's.")
    draws: int = Field(1, ge=1, description="How many replies per target are used.")
    estimator: Literal["mean", "mode"] = Field(
        "mean", description="How draws become a score; it needs half of them parsed."
    )
    parser: Literal["score", "number", "chiang-lee", "choice"] | None = Field(
        None,
        description="Default: number for engines that compute, choice for the form compare, "
        "score for other replies.",
    )
    columns: list[str] = Field(
        [],
        description="Recorded score columns: each becomes a judge by the slug of its name; "
        "{aspect} in a name stands for the aspect's entry in the model's `scores`.",
    )
    aspects: list[Slug] = Field([], description="Only these aspects; default: all of the study.")


class DerivedJudge(Card):
    """A judge made from other judges of the study; it asks nothing."""

    judge: Slug = Field(description="The id, equal to the file's name.")
    members: list[Slug] = Field(min_length=2, description="Judges of the study.")
    combine: Literal["mean"] = Field("mean", description="How their scores become one.")
    min_annotators: int = Field(
        1, ge=1, description="Of so many members a target needs a score, or it has none."
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if len(set(self.members)) < len(self.members):
            raise ValueError("a member is named twice")
        if self.min_annotators > len(self.members):
            raise ValueError(f"min_annotators is above the {len(self.members)} members")
        return self


def _kind_of_judge(card: object) -> str:
    members = "members" in card if isinstance(card, dict) else hasattr(card, "members")
    return "derived" if members else "asked"


AnyJudge = Annotated[
    Annotated[Judge, Tag("asked")] | Annotated[DerivedJudge, Tag("derived")],
    Discriminator(_kind_of_judge),
]


class Degree(Card):
    """How strongly a perturbation damages a text."""

    k: int | Literal["all"] | None = Field(None, description="How many edits.")


Degrees = dict[Literal["minor", "major", "single"], Degree]


class Damage(Card):
    """What all ways to damage a text share."""

    perturbation: Slug = Field(description="The id, equal to the file's name.")
    name: str = Field(description="What the report calls it.")
    level: Literal["character", "word", "sentence"] = Field(
        description="What it changes; levels weigh the same in D_avg."
    )
    degrees: Degrees = Field(min_length=1, description="Degree -> its options, such as k.")
    datasets: dict[Slug, Degrees] = Field(
        {}, description="Other degrees for a dataset, in place of all of `degrees`."
    )
    tasks: list[Slug] = Field([], description="Only datasets of these tasks; default: all.")

    def degrees_for(self, dataset: str) -> Degrees:
        """Return the degrees in which `dataset` is perturbed."""
        return self.datasets.get(dataset, self.degrees)


class RulePerturbation(Damage):
    """A way to damage a text by rule."""

    method: Literal["rule"] = Field(description="How it is made.")
    rule: str = Field(description="The rule; the list is below.")


class MadePerturbation(Damage, Decoding):
    """A way to damage a text by a model: once, or step by step, each text from the one before."""

    method: Literal["llm", "inject"] = Field(
        description="How it is made: `llm` at once, `inject` in steps of which each is judged."
    )
    model: Slug = Field(description="The model card that writes.")
    form: Slug = Field(description="The instruction, a file of config/prompts.")
    degrees: Degrees = Field(
        {"single": Degree()}, min_length=1, description="Degree -> what the prompt sees."
    )
    steps: int = Field(1, ge=1, le=100, description="Method inject: so many texts in a row.")
    checks: list[Literal["differs", "not_refusal", "length"]] = Field(
        ["differs", "not_refusal", "length"], description="What a text must pass."
    )
    attempts: int = Field(
        2,
        ge=1,
        le=10,
        description="So often is a text asked for; from the second on with a reason.",
    )

    @model_validator(mode="after")
    def _stepped(self) -> Self:
        if (self.method == "inject") != (self.steps > 1):
            raise ValueError("`steps` above 1 and method inject belong together")
        return self


Perturbation = Annotated[RulePerturbation | MadePerturbation, Discriminator("method")]


class Study(Card):
    """What one run covers."""

    study: Slug = Field(description="The id: results are written to results/<study>.")
    seed: int = Field(0, ge=0, description="The root of every random choice of the study.")
    data: str = Field("data", description="The folder that `{data}` in a card's paths stands for.")
    datasets: list[Slug] = Field(min_length=1, description="Dataset cards.")
    judges: list[Slug] = Field(min_length=1, description="Judge cards.")
    aspects: list[Slug] = Field([], description="Default: every aspect that a dataset rates.")
    perturbations: list[Slug] = Field(
        [], description="Perturbation cards, for discernment and of method inject."
    )
    methods: list[Literal["agreement", "discernment", "faults"]] = Field(
        min_length=1, description="What is computed; coverage and cost always are."
    )
    store: str = Field(
        "cache/replies", description="The folder of the reply store, which studies may share."
    )
    exclude_reference_systems: bool = Field(
        True,
        description="Rate judges that compare with references without the systems whose texts are "
        "the references; false: both with and without them.",
    )
    allow_missing: bool = Field(
        False, description="Go on where a planned cell of a perturbation is missing, and say so."
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for key in ("datasets", "judges", "aspects", "perturbations", "methods"):
            names = getattr(self, key)
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{key} names {', '.join(twice)} twice")
        if "discernment" in self.methods and not self.perturbations:
            raise ValueError("the method discernment needs `perturbations`")
        return self


KINDS: dict[str, Any] = {
    "study": Study,
    "dataset": Dataset,
    "model": Model,
    "judge": AnyJudge,
    "aspect": Aspect,
    "perturbation": Perturbation,
}
"""Card kind -> its model. Cards of a kind lie in config/<kind>s/ (studies: config/studies)."""

FOLDERS = {"study": "studies", **{kind: f"{kind}s" for kind in KINDS if kind != "study"}}
