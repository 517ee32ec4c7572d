"""Every judgment of a study as one tidy file, and the data dictionary of its columns.

It is read cell by cell and written block by block: only one set of texts, one cell and
one block are in memory at a time, however many judgments there are.
"""

from collections.abc import Callable, Iterable, Iterator
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
from judgescope.cli.export.markdown import escaped
from judgescope.cli.export.markdown import row as table_row
from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.files import whole
from judgescope.plan.judges import engine_of, scale_of
from judgescope.plan.study import CellAspect, Plan
from judgescope.report.items import Texts
from judgescope.report.words import STATUSES
from judgescope.schema.tables import COUNT, NUMBER, TEXT, read_part

Row = dict[str, Any]
BLOCK = 50_000
"""Judgments that are written at once; a row group of Parquet."""
FORMULA = r"^('*[=+\-@\t\r\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])"
"""A text that a spreadsheet takes for a formula, or such a text after its guard `'`."""
NUMERAL = r"^[+-]?[0-9]+([.][0-9]+)?$"
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
READ = ("key", "value", "spans", "rationale")
"""The other columns that are read from it."""


# --- columns --------------------------------------------------------------------------


class Column(NamedTuple):
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


TYPES = {TEXT: "text", NUMBER: "number", COUNT: "whole number"}
ID, DIGITS = "an id: lower-case letters, digits, - and _", "64 hexadecimal digits"
PAIR, DERIVED = "the judge did not compare texts", "the judge combines other judges"
UNKNOWN = "neither the judge's card nor its replies give it"
UNRATED, UNSCALED = "this text has no rating on this aspect", "the judge has no scale"
COLUMNS = (
    Column("dataset", "the dataset card", ID),
    Column("item", "the id of the source, shared by all texts written for it"),
    Column("target", "the id of the judged text, unique in its dataset"),
    Column("target_b", "the id of the text that it was compared with", empty=PAIR),
    Column("system", "who wrote the judged text"),
    Column(
        "perturbation", "the perturbation of the text", f"original, systems, or {ID}"
    ),
    Column(
        "degree",
        "the degree of the perturbation",
        "minor, major, single, …",
        "the perturbation has no degrees",
    ),
    Column(
        "step",
        "how far the text is from its original",
        "≥ 0",
        unit="errors, or steps of a chain",
        type=COUNT,
    ),
    Column("judge", "the judge card", ID),
    Column(
        "engine", "the engine of the judge's model", "openai, vllm, lexical, control, …"
    ),
    Column("model", "the model card", ID, DERIVED),
    Column("form", "the prompt form, or the metric", ID, DERIVED),
    Column("kind", "what the judge did", "rate, compare, derive"),
    Column("aspect", "the aspect card", ID),
    Column(
        "criterion", "the wording of the aspect", ID, "the wording is the aspect's own"
    ),
    Column(
        "hint",
        "the rating in the judge's hint",
        "a number as text",
        "the judge has no hint",
    ),
    Column(
        "draw",
        "the number of the reply, of those to one question",
        "0, 1, 2, …",
        type=COUNT,
    ),
    Column("status", "whether the reply could be read", ", ".join(STATUSES)),
    Column(
        "rule",
        "the rule by which the parser read the score",
        "a name of the parser's",
        UNKNOWN,
    ),
    Column("parser", "the parser and its version", "name@version", UNKNOWN),
    Column(
        "score",
        "the score of this reply",
        "scale_min to scale_max if there is a scale",
        "status is not ok",
        "points of the judge's scale; of a comparison 1, 0 or -1",
        NUMBER,
    ),
    Column("label", "the label that the reply names", empty="the reply names no label"),
    Column("scale_min", "the lowest score", "any number", UNSCALED, "points", NUMBER),
    Column("scale_max", "the highest score", "any number", UNSCALED, "points", NUMBER),
    Column(
        "errors",
        "the number of errors that the reply lists",
        "≥ 0",
        "the judge does not list errors",
        "errors",
        COUNT,
    ),
    Column(
        "rating",
        "the mean rating",
        "any number",
        UNRATED,
        "points of the dataset's scale",
        NUMBER,
    ),
    Column(
        "rating_n",
        "the number of ratings in the mean",
        "≥ 0",
        unit="ratings",
        type=COUNT,
    ),
    Column("rating_by", "who rated", "human, planned, …", UNRATED),
    Column("text_sha256", "sha256 of the judged text in UTF-8", DIGITS),
    Column(
        "request_key",
        "the question, and the request in the reply store if one was sent; the same "
        "question has the same key in every study",
        DIGITS,
    ),
)
TEXTS = (
    Column("source", "the source of the text", empty="the text has no source"),
    Column("text", "the judged text"),
    Column("text_b", "the text that it was compared with", empty=PAIR),
    Column("rationale", "the judge's reasons", empty="the reply gives no reasons"),
)
"""Columns of an export with texts only: the terms of their dataset apply to them."""


def columns(*, texts: bool) -> tuple[Column, ...]:
    """Return the columns of an export, in order."""
    return (*COLUMNS, *(TEXTS if texts else ()))


def schema(*, texts: bool) -> pa.Schema:
    """Return the schema of an export, whose fields describe themselves."""
    return pa.schema([column.field for column in columns(texts=texts)])


def dictionary(study: str, *, texts: bool) -> str:
    """Return the data dictionary as Markdown."""
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
        cells = (column.unit, column.meaning, column.allowed, column.empty or "never")
        lines.append(
            table_row([f"`{column.name}`", TYPES[column.type], *map(escaped, cells)])
        )
    return "\n".join(lines) + "\n"


# --- rows -----------------------------------------------------------------------------


def export(plan: Plan, out: Path, path: Path, *, texts: bool, source: str) -> str:
    """Write all judgments of a study's results; return a summary.

    `source` names the study's file in messages. Raises UserError if a cell is not
    judged yet.
    """
    cells = [cell for dataset in plan.datasets for cell in plan.cells_of(dataset)]
    files = [Path(plan.file(out, "judgments", cell)) for cell in cells]
    if missing := [file for file in files if not file.is_file()]:
        raise UserError(
            "judgments are missing",
            where=str(missing[0]),
            got=f"{len(missing)} cells without judgments",
            todo=command_on("run", source),
        )
    fields, number, suffix = schema(texts=texts), 0, path.suffix.lower()
    with whole(path) as part, WRITERS[suffix](part, fields) as file:
        for block in blocks(rows(plan, out, texts=texts), fields):
            file.write_table(guarded(block) if suffix == ".csv" else block)
            number += len(block)
    return f"{path}: {number:,} judgments in {len(cells):,} cells"


def guarded(block: pa.Table) -> pa.Table:
    """Return the table with an apostrophe before every text that a spreadsheet would
    run.

    Numbers are unchanged. Remove one apostrophe to get the original text.
    """
    for number, field in enumerate(block.schema):
        if field.type == TEXT:
            texts = block.column(number)
            safe = pc.replace_substring_regex(texts, FORMULA, r"'\1")
            numerals = pc.match_substring_regex(texts, NUMERAL)
            block = block.set_column(number, field, pc.if_else(numerals, texts, safe))
    return block


def rows(plan: Plan, out: Path, *, texts: bool) -> Iterator[Row]:
    """Yield every judgment, in the order of datasets, sets of texts, judges, aspects,
    requests.
    """
    for dataset in plan.datasets:
        known = Texts(str(out), dataset)
        sources = {item.item: item.source for item in known.items()} if texts else {}
        order = {name: at for at, name in enumerate(plan.target_sets(dataset))}
        cells = plan.cell_aspects_of(dataset)
        for cell in sorted(cells, key=lambda cell: order[cell.perturbation]):
            common, targets = _of_cell(plan, cell), known.targets(cell.perturbation)
            ratings = known.ratings(split(cell.aspect)[0])
            digest = cache(
                lambda text: sha256(text.encode()).hexdigest()
            )  # of several draws
            path, names = plan.file(out, "judgments", cell), [*COPIED, *READ]
            table = read_part("judgments", path, *split(cell.aspect), names)
            for judgment in table.to_pylist():
                target = targets[judgment["target"]]
                rated = ratings.get((judgment["target"], judgment["target_b"]), [])
                row = {
                    **common,
                    **{name: judgment[name] for name in COPIED},
                    "score": judgment["value"] if judgment["status"] == "ok" else None,
                    "errors": None
                    if judgment["spans"] is None
                    else len(judgment["spans"]),
                    "request_key": judgment["key"],
                    "item": target.item,
                    "system": target.system,
                    "step": target.step,
                    "rating": fsum(rated) / len(rated) if rated else None,
                    "rating_n": len(rated),
                    "rating_by": plan.datasets[dataset].ratings if rated else None,
                    "text_sha256": digest(target.text),
                }
                if texts:
                    other = targets.get(judgment["target_b"])
                    row |= {"source": sources[target.item] or None, "text": target.text}
                    row |= {
                        "text_b": other and other.text,
                        "rationale": judgment["rationale"],
                    }
                yield row


def _of_cell(plan: Plan, cell: CellAspect) -> Row:
    """Return what all judgments of a cell have in common."""
    name, _, degree = cell.perturbation.partition(".")
    card = plan.judges.get(cell.judge)
    aspect, criterion = split(cell.aspect)
    scale = scale_of(plan, cell.dataset, cell.judge, aspect, name) if card else None
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
    judgments: Iterable[Row], fields: pa.Schema, size: int = BLOCK
) -> Iterator[pa.Table]:
    """Yield the rows as tables of at most `size` rows."""
    rest = iter(judgments)
    while block := list(islice(rest, size)):
        yield pa.Table.from_pylist(block, schema=fields)


WRITERS: dict[str, Callable[[Path, pa.Schema], Any]] = {
    ".parquet": lambda path, fields: pq.ParquetWriter(path, fields, compression="zstd"),
    ".csv": csv.CSVWriter,
}
