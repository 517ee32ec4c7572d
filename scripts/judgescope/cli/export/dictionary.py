"""The columns of exported judgments: one definition for schema, field metadata and dictionary."""

from typing import NamedTuple

import pyarrow as pa

from judgescope import __version__
from judgescope.cli.export.markdown import escaped, row
from judgescope.report.words import STATUSES
from judgescope.schema.tables import COUNT, NUMBER, TEXT

TYPES = {TEXT: "text", NUMBER: "number", COUNT: "whole number"}


class Column(NamedTuple):
    """A column: its type, unit, meaning, allowed values, and when it is empty ("" never)."""

    name: str
    type: pa.DataType
    unit: str
    meaning: str
    allowed: str
    empty: str = ""

    @property
    def field(self) -> pa.Field:
        """Return the column of the schema, with all that is said of it."""
        told = ("unit", "meaning", "allowed", "empty")
        return pa.field(self.name, self.type, metadata={name: getattr(self, name) for name in told})


ID, PAIR = "an id: lower case, digits, - and _", "nothing was compared"
TOLD = "the judge's card or replies do not tell it"
UNRATED = "nobody rated this text on this aspect"

COLUMNS = (
    Column("dataset", TEXT, "", "the dataset card", ID),
    Column("item", TEXT, "", "the source and all that was written for it", "any text"),
    Column("target", TEXT, "", "the judged text, unique in its dataset", "any text"),
    Column("target_b", TEXT, "", "the text that it was compared with", "any text", PAIR),
    Column("system", TEXT, "", "who wrote the judged text", "any text"),
    Column("perturbation", TEXT, "", "what was done to the text", f"original, systems, or {ID}"),
    Column("degree", TEXT, "", "how much of it", "minor, major, single, …", "it has no degrees"),
    Column(
        "step", COUNT, "errors, or rounds of damage", "how far the text is from its original", "≥ 0"
    ),
    Column("judge", TEXT, "", "the judge card", ID),
    Column("engine", TEXT, "", "what answers for the judge", "openai, vllm, lexical, control, …"),
    Column("model", TEXT, "", "the model card", ID, "the judge is made from others"),
    Column(
        "form", TEXT, "", "the prompt, or what is computed", ID, "the judge is made from others"
    ),
    Column("kind", TEXT, "", "what was asked for", "rate, compare, derive"),
    Column("aspect", TEXT, "", "the aspect card", ID),
    Column("criterion", TEXT, "", "the wording of the aspect", ID, "it is the aspect's own one"),
    Column(
        "hint",
        TEXT,
        "",
        "the rating that the judge was told of",
        "a number as text",
        "none was told",
    ),
    Column("draw", COUNT, "", "which of several replies to the same question", "0, 1, 2, …"),
    Column("status", TEXT, "", "what came of the reply", ", ".join(STATUSES)),
    Column(
        "rule", TEXT, "", "how the number was found in the reply", "a name of the parser's", TOLD
    ),
    Column("parser", TEXT, "", "what read the reply, and its version", "name@version", TOLD),
    Column(
        "score",
        NUMBER,
        "points of the judge's scale; of a comparison 1, 0 or -1",
        "the number of this reply alone",
        "scale_min to scale_max where there is a scale",
        "status is not ok",
    ),
    Column("label", TEXT, "", "the class that the reply names", "any text", "it names none"),
    Column("scale_min", NUMBER, "points", "the least score", "any number", "there is no scale"),
    Column("scale_max", NUMBER, "points", "the highest score", "any number", "there is no scale"),
    Column("errors", COUNT, "errors", "how many the reply lists", "≥ 0", "the judge lists none"),
    Column(
        "rating", NUMBER, "points of the dataset's scale", "the mean rating", "any number", UNRATED
    ),
    Column("rating_n", COUNT, "ratings", "how many it is the mean of", "≥ 0"),
    Column("rating_by", TEXT, "", "who rated", "human, planned, …", UNRATED),
    Column("text_sha256", TEXT, "", "sha256 of the judged text in UTF-8", "64 hexadecimal digits"),
    Column(
        "request_key",
        TEXT,
        "",
        "the request in the reply store; the same question has the same key in every study",
        "64 hexadecimal digits",
        "nothing was asked",
    ),
)
TEXTS = (
    Column("source", TEXT, "", "what the text was written for", "any text", "there is none"),
    Column("text", TEXT, "", "the judged text", "any text"),
    Column("text_b", TEXT, "", "the text that it was compared with", "any text", PAIR),
    Column("rationale", TEXT, "", "the judge's reasons", "any text", "it gave none"),
)
"""Columns that only an export with texts has: they keep the terms of their dataset."""


def columns(*, texts: bool) -> tuple[Column, ...]:
    """Return the columns of an export, in order."""
    return (*COLUMNS, *(TEXTS if texts else ()))


def schema(*, texts: bool) -> pa.Schema:
    """Return the schema of an export; each field says what it means."""
    return pa.schema([one.field for one in columns(texts=texts)])


def dictionary(study: str, *, texts: bool) -> str:
    """Return the data dictionary as Markdown."""
    heads = ["column", "type", "unit", "meaning", "values", "empty where"]
    lines = [
        f"# Judgments of {escaped(study)}: the columns",
        "",
        "One row is one judgment: what one reply of one judge says of one text on one aspect. "
        "In CSV, an empty cell stands for an empty value, and a text that a spreadsheet would take "
        "for a formula, as it begins with =, +, - or @, has one apostrophe more before it. The "
        "same columns are described in the field metadata of a Parquet file. "
        f"Written by judgescope {__version__}.",
        "",
        row(heads),
        row(["---"] * len(heads)),
    ]
    for name, kind, *told in columns(texts=texts):
        unit, meaning, allowed, empty = map(escaped, told)
        lines.append(row([f"`{name}`", TYPES[kind], unit, meaning, allowed, empty or "never"]))
    return "\n".join(lines) + "\n"
