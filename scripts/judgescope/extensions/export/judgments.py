"""Every judgment of a study as one tidy file, and the data dictionary of its columns.

It is read cell by cell and written block by block: only one set of texts, one cell and
one block are in memory at a time, however many judgments there are.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

from judgescope import __version__
from judgescope.cli.context import command_on
from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.files import atomic_write
from judgescope.core.paths import Paths
from judgescope.extensions.export.markdown import escaped
from judgescope.extensions.export.markdown import row as table_row
from judgescope.parsing.judgment import STRENGTHS
from judgescope.plan.judges import engine_of, scale_of
from judgescope.plan.specs.pages import judged_files
from judgescope.plan.study import CellAspect, Plan
from judgescope.report.items import DatasetTexts
from judgescope.report.words import STATUSES
from judgescope.schema.tables import COUNT, NUMBER, TEXT, read_part

COPIED = (
    "kind",
    "target",
    "target_b",
    "hint",
    "draw",
    "status",
    "rule",
    "parser",
    "label",
)
"""Columns that keep their names from the table of judgments."""
# --- columns --------------------------------------------------------------------------


class CodebookColumn(NamedTuple):
    """A column: its meaning, allowed values, when it is empty ("": never), its unit and
    type.
    """

    name: str
    meaning: str
    allowed: str = "any text"
    empty: str = ""
    unit: str = ""
    type: pa.DataType = TEXT

    @property
    def field(self) -> pa.Field:
        """Return the column of the schema, with its description as metadata."""
        names = ("unit", "meaning", "allowed", "empty")
        metadata = {name: getattr(self, name) for name in names}
        return pa.field(self.name, self.type, metadata=metadata)


@dataclass(frozen=True)
class CodebookWords:
    """What several columns of the data dictionary say."""

    id: str = "an id: lower-case letters, digits, - and _"
    digits: str = "64 hexadecimal digits"
    no_pair: str = "the judge did not compare texts"
    derived: str = "the judge combines other judges"
    unknown: str = "neither the judge's card nor its replies give it"
    unrated: str = "this text has no rating on this aspect"
    unscaled: str = "the judge has no scale"


WORDS = CodebookWords()
COLUMNS = (
    CodebookColumn("dataset", "the dataset card", WORDS.id),
    CodebookColumn("item", "the id of the source, shared by all texts written for it"),
    CodebookColumn("target", "the id of the judged text, unique in its dataset"),
    CodebookColumn(
        "target_b", "the id of the text that it was compared with", empty=WORDS.no_pair
    ),
    CodebookColumn("system", "who wrote the judged text"),
    CodebookColumn(
        "perturbation",
        "the perturbation of the text",
        f"original, systems, or {WORDS.id}",
    ),
    CodebookColumn(
        "degree",
        "the degree of the perturbation",
        "minor, major, single, …",
        "the perturbation has no degrees",
    ),
    CodebookColumn(
        "step",
        "how far the text is from its original",
        "≥ 0",
        unit="errors, or steps of a chain",
        type=COUNT,
    ),
    CodebookColumn("judge", "the judge card", WORDS.id),
    CodebookColumn(
        "engine", "the engine of the judge's model", "openai, vllm, lexical, control, …"
    ),
    CodebookColumn("model", "the model card", WORDS.id, WORDS.derived),
    CodebookColumn("form", "the prompt form, or the metric", WORDS.id, WORDS.derived),
    CodebookColumn("kind", "what the judge did", "rate, compare, score, derive"),
    CodebookColumn("aspect", "the aspect card", WORDS.id),
    CodebookColumn(
        "criterion",
        "the wording of the aspect",
        WORDS.id,
        "the wording is the aspect's own",
    ),
    CodebookColumn(
        "hint",
        "the rating in the judge's hint",
        "a number as text",
        "the judge has no hint",
    ),
    CodebookColumn(
        "draw",
        "the number of the reply, of those to one question",
        "0, 1, 2, …",
        type=COUNT,
    ),
    CodebookColumn("status", "whether the reply could be read", ", ".join(STATUSES)),
    CodebookColumn(
        "rule",
        "the rule by which the parser read the score",
        "a name of the parser's",
        WORDS.unknown,
    ),
    CodebookColumn(
        "parser", "the parser and its version", "name@version", WORDS.unknown
    ),
    CodebookColumn(
        "score",
        "the score of this reply",
        "scale_min to scale_max if there is a scale",
        "status is not ok",
        "points of the judge's scale; of a comparison 1, 0 or -1",
        NUMBER,
    ),
    CodebookColumn(
        "label", "the label that the reply names", empty="the reply names no label"
    ),
    CodebookColumn(
        "strength",
        "how clear the choice is: 2 or -2 far better, 1 or -1 better, 0 a tie; "
        "negative if the second text is better",
        ", ".join(map(str, STRENGTHS)),
        "the reply does not say how clear its choice is",
        type=COUNT,
    ),
    CodebookColumn(
        "scale_min", "the lowest score", "any number", WORDS.unscaled, "points", NUMBER
    ),
    CodebookColumn(
        "scale_max", "the highest score", "any number", WORDS.unscaled, "points", NUMBER
    ),
    CodebookColumn(
        "errors",
        "the number of errors that the reply lists",
        "≥ 0",
        "the judge does not list errors",
        "errors",
        COUNT,
    ),
    CodebookColumn(
        "rating",
        "the mean rating",
        "any number",
        WORDS.unrated,
        "points of the dataset's scale",
        NUMBER,
    ),
    CodebookColumn(
        "rating_n",
        "the number of ratings in the mean",
        "≥ 0",
        unit="ratings",
        type=COUNT,
    ),
    CodebookColumn("rating_by", "who rated", "people, planned, …", WORDS.unrated),
    CodebookColumn("text_sha256", "sha256 of the judged text in UTF-8", WORDS.digits),
    CodebookColumn(
        "request_key",
        "the question, and the request in the reply store if one was sent; the same "
        "question has the same key in every study",
        WORDS.digits,
    ),
)
TEXTS = (
    CodebookColumn("source", "the source of the text", empty="the text has no source"),
    CodebookColumn("text", "the judged text"),
    CodebookColumn("text_b", "the text that it was compared with", empty=WORDS.no_pair),
    CodebookColumn(
        "rationale", "the judge's reasons", empty="the reply gives no reasons"
    ),
)
"""Columns of an export with texts only: the terms of their dataset apply to them."""


def columns(*, texts: bool) -> tuple[CodebookColumn, ...]:
    """Return the columns of an export, in order."""
    return COLUMNS + TEXTS if texts else COLUMNS


def schema(*, texts: bool) -> pa.Schema:
    """Return the schema of an export, whose fields describe themselves."""
    return pa.schema([column.field for column in columns(texts=texts)])


def dictionary(study: str, *, texts: bool) -> str:
    """Return the data dictionary as Markdown."""
    types = {TEXT: "text", NUMBER: "number", COUNT: "whole number"}
    heads = ["column", "type", "unit", "meaning", "values", "empty if"]
    lines = [
        f"# Judgments of {escaped(study)}: the columns",
        "",
        "One row is one judgment: the reading of one reply of one judge on one text "
        "and aspect. In CSV, an empty cell is a missing value, and a text that a "
        "spreadsheet would run as a formula (it begins with =, +, - or @) has an "
        "additional apostrophe in front. The field metadata of a Parquet file describe "
        f"the columns in the same way. Written by judgescope {__version__}.",
        "",
        table_row(heads),
        table_row(["---"] * len(heads)),
    ]
    for column in columns(texts=texts):
        cells = [
            f"`{column.name}`",
            types[column.type],
            escaped(column.unit),
            escaped(column.meaning),
            escaped(column.allowed),
            escaped(column.empty or "never"),
        ]
        lines.append(table_row(cells))
    return "\n".join(lines) + "\n"


# --- rows -----------------------------------------------------------------------------


def export(plan: Plan, out: Path, path: Path, *, texts: bool, source: str) -> str:
    """Write all judgments of a study's results; return a summary.

    `source` names the study's file in messages. Raises UserError if a cell is not
    judged yet.
    """
    files = []
    for dataset in plan.datasets:
        for cell in plan.cells_of(dataset):
            files.append(Path(plan.file(out, "judgments", cell)))
    missing = [file for file in files if not file.is_file()]
    if missing:
        raise UserError(
            "judgments are missing",
            where=str(missing[0]),
            got=f"{len(missing)} cells without judgments",
            todo=command_on("run", source),
        )
    fields = schema(texts=texts)
    suffix = path.suffix.lower()
    count = 0
    with atomic_write(path) as part, WRITERS[suffix](part, fields) as file:
        for block in blocks(rows(plan, out, texts=texts), fields):
            file.write_table(guarded(block) if suffix == ".csv" else block)
            count += len(block)
    return f"{path}: {count:,} judgments in {len(files):,} cells"


def guarded(block: pa.Table) -> pa.Table:
    """Return the table with an apostrophe before every text that a spreadsheet would
    run.

    Numbers are unchanged. Remove one apostrophe to get the original text.
    """
    # A text that a spreadsheet takes for a formula, or such a text after its guard `'`.
    formula = r"^('*[=+\-@\t\r\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])"
    numeral = r"^[+-]?[0-9]+([.][0-9]+)?$"
    for number, field in enumerate(block.schema):
        if field.type == TEXT:
            texts = block.column(number)
            safe = pc.replace_substring_regex(texts, formula, r"'\1")
            is_number = pc.match_substring_regex(texts, numeral)
            block = block.set_column(number, field, pc.if_else(is_number, texts, safe))
    return block


def rows(plan: Plan, out: Path, *, texts: bool) -> Iterator[dict[str, Any]]:
    """Yield every judgment, in the order of datasets, sets of texts, judges, aspects,
    requests.
    """
    for dataset in plan.datasets:
        files = judged_files(plan, dataset, Paths(str(out)))
        known = DatasetTexts(files, dataset)
        sources = {}
        if texts:
            sources = {item.item: item.source for item in known.items()}
        order = {name: number for number, name in enumerate(plan.target_sets(dataset))}
        cells = plan.cell_aspects_of(dataset)
        for cell in sorted(cells, key=lambda cell: order[cell.perturbation]):
            common = _of_cell(plan, cell)
            targets = known.targets(cell.perturbation)
            ratings = known.ratings(split(cell.aspect)[0])
            # Several draws judge the same text.
            digest = cache(lambda text: sha256(text.encode()).hexdigest())
            path = plan.file(out, "judgments", cell)
            for number, judgment in enumerate(_judgments(path, cell), 1):
                target = targets[judgment["target"]]
                row = common | _read_from(judgment)
                where = f"{path}, {cell.aspect}, row {number}"
                row["strength"] = _strength(judgment, where)
                row["item"] = target.item
                row["system"] = target.system
                row["step"] = target.step
                row["text_sha256"] = digest(target.text)
                pair = judgment["target"], judgment["target_b"]
                rated = ratings.get(pair, [])
                row["rating_n"] = len(rated)
                row["rating"] = fsum(rated) / len(rated) if rated else None
                row["rating_by"] = plan.datasets[dataset].ratings if rated else None
                if texts:
                    other = targets.get(judgment["target_b"])
                    row["source"] = sources[target.item] or None
                    row["text"] = target.text
                    row["text_b"] = other and other.text
                    row["rationale"] = judgment["rationale"]
                yield row


def _strength(judgment: Mapping[str, Any], where: str) -> int | None:
    """The strength of a choice; UserError for a value that no choice has.

    Parsers give no other value: another one comes from a table that was changed.
    """
    strength: int | None = judgment["strength"]
    if strength is None or strength in STRENGTHS:
        return strength
    raise UserError(
        "the column `strength` holds a value that no choice has",
        where=where,
        got=strength,
        allowed=", ".join(map(str, STRENGTHS)) + ", or empty",
        todo="find out which program changed this table; the run writes it again after "
        "it is deleted, and requests no reply twice",
    )


def _judgments(path: str, cell: CellAspect) -> list[dict[str, Any]]:
    """Return the rows of a cell in the table of judgments."""
    names = [*COPIED, "key", "value", "spans", "rationale", "strength"]
    table = read_part("judgments", path, *split(cell.aspect), names)
    judgments: list[dict[str, Any]] = table.to_pylist()
    return judgments


def _read_from(judgment: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a row says that a table of judgments has."""
    row = {name: judgment[name] for name in COPIED}
    spans = judgment["spans"]
    row["score"] = judgment["value"] if judgment["status"] == "ok" else None
    row["errors"] = None if spans is None else len(spans)
    row["request_key"] = judgment["key"]
    return row


def _of_cell(plan: Plan, cell: CellAspect) -> dict[str, Any]:
    """Return what all judgments of a cell have in common."""
    name, _, degree = cell.perturbation.partition(".")
    card = plan.judges.get(cell.judge)
    aspect, criterion = split(cell.aspect)
    scale = None
    if card:
        scale = scale_of(plan, cell.dataset, cell.judge, aspect, name)
    return {
        "dataset": cell.dataset,
        "perturbation": name,
        "degree": degree or None,
        "judge": cell.judge,
        "engine": engine_of(plan, cell.judge),
        "model": card and card.model,
        "form": card and card.form,
        "aspect": aspect,
        "criterion": criterion,
        "scale_min": scale and scale.min,
        "scale_max": scale and scale.max,
    }


def blocks(
    judgments: Iterable[Mapping[str, Any]], fields: pa.Schema, size: int = 50_000
) -> Iterator[pa.Table]:
    """Yield the rows as tables of at most `size` rows; a table is a row group of
    Parquet.
    """
    remaining = iter(judgments)
    while block := list(islice(remaining, size)):
        yield pa.Table.from_pylist(block, schema=fields)


WRITERS: dict[str, Callable[[Path, pa.Schema], Any]] = {
    ".parquet": lambda path, fields: pq.ParquetWriter(path, fields, compression="zstd"),
    ".csv": csv.CSVWriter,
}
