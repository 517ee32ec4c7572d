"""Cards of models: whatever answers."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from metajudge.schema.cards.base import Card, Columns, Files, Hashes, Slug


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


RESERVED = {"model", "messages", "temperature", "top_p", "max_tokens", "seed", "n", "stream"}
"""Fields of a request that the cards fill, or that would change what a reply is."""


class OpenAIModel(Card):
    """A model behind an endpoint that speaks OpenAI's chat protocol."""

    model: Slug = Field(description="The id, equal to the file's name.")
    engine: Literal["openai"] = Field(description="What answers.")
    base_url: str = Field(
        pattern=r"^https?://[^/@\s]+(/[^\s]*)?$",
        description="The endpoint, up to and with its version: `.../v1`; without a password.",
    )
    name: str | None = Field(
        None, description="The name by which the endpoint knows the model; default: the id."
    )
    api_key_env: str | None = Field(
        None,
        pattern=r"^[A-Za-z_]\w*$",
        description="The environment variable that holds the key; never the key itself.",
    )
    revision: str | None = Field(None, description="The revision of the weights, where known.")
    variant: str | None = Field(
        None,
        description="What the name does not tell: quantisation, server, build. Replies are kept by "
        "name, revision and variant, not by address: give other weights another variant.",
    )
    family: Slug | None = Field(None, description="Models of one family may favour each other.")
    extra_body: dict[str, Any] = Field(
        {}, description="Further fields of every request, such as chat_template_kwargs."
    )
    price: Price | None = Field(None, description="What its tokens cost; default: not known.")
    limits: Limits = Field(Limits(), description="How it is asked.")

    @model_validator(mode="after")
    def _unreserved(self) -> Self:
        if taken := sorted(RESERVED & set(self.extra_body)):
            raise ValueError(f"extra_body may not hold {', '.join(taken)}: other keys say it")
        return self

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
