"""The columns and keys of every table between jobs, and the functions that read and
write them.

Column order is part of the contract: keys come first.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from judgescope.core.errors import UserError
from judgescope.core.files import whole

if TYPE_CHECKING:
    import pandas as pd


TEXT, NUMBER, COUNT, TRUTH = pa.string(), pa.float64(), pa.int64(), pa.bool_()
Columns = dict[str, pa.DataType]
T = TypeVar("T")


def _texts(*names: str) -> Columns:
    return dict.fromkeys(names, TEXT)


def _numbers(*names: str) -> Columns:
    return dict.fromkeys(names, NUMBER)


def _counts(*names: str) -> Columns:
    return dict.fromkeys(names, COUNT)


EDIT = pa.struct({"offset": COUNT, "before": TEXT, "after": TEXT})
SPAN = pa.struct(
    {
        **_counts("start", "end", "occurrence"),
        "severity": NUMBER,
        # location: the words as quoted, whether or not they are in the text
        **_texts("category", "explanation", "match", "location"),
    }
)
USAGE = pa.struct(_counts("prompt", "completion", "reasoning", "cached"))
LOGPROBS = pa.list_(pa.map_(TEXT, NUMBER))
"""Per token of a reply: the sampled token, then the likeliest others -> log
probability."""
PROVENANCE = pa.struct(_texts("engine", "model", "version", "fingerprint"))

_QUESTION = ["judge", "kind", "target", "target_b", "aspect", "criterion", "hint"]
_REPLY = {
    **_texts("text", "finish"),
    "usage": USAGE,
    "status": TEXT,
    "provenance": PROVENANCE,
    "logprobs": LOGPROBS,
}
_CELL = ["dataset", "perturbation", "judge", "aspect"]
_ESTIMATE = {
    **_numbers("value", "ci_low", "ci_high"),
    **_counts("n", "n_missing", "n_tied"),
    **_texts("method", "note"),
}
_RESULT = ["dataset", "judge", "aspect", "statistic", "level"]
_APPLIES_TO = {
    **_texts(
        "perturbation",
        "degree",
        "criterion",
        "form",
        "judge_b",
        "aspect_b",
        "criterion_b",
    ),
    **_counts("k", "k_b"),
    # the systems whose texts are used, if not all
    "system_subset": TEXT,
}


class Table(NamedTuple):
    """The columns of a table, and the columns whose combination is unique in it."""

    key: list[str]
    columns: Columns


def _keyed(key: list[str], columns: Columns) -> Table:
    """Return a table whose columns begin with its key: texts, and counts such as
    `draw`.
    """
    counted = {"draw", "end", "start", "step"}
    return Table(
        key, {name: COUNT if name in counted else TEXT for name in key} | columns
    )


TABLES: dict[str, Table] = {
    "items": _keyed(
        ["dataset", "item"],
        {"source": TEXT, "references": pa.list_(TEXT), "meta": TEXT},
    ),
    "targets": _keyed(
        ["dataset", "target"],
        {
            **_texts("item", "system", "perturbation", "degree"),
            "step": COUNT,
            **_texts("parent", "text", "status"),
            "length": NUMBER,
            "edits": pa.list_(EDIT),
        },
    ),
    "ratings": _keyed(
        ["dataset", "target", "target_b", "aspect", "rater"], {"value": NUMBER}
    ),
    # errors that people marked; offsets are characters of the target's text, `end` is
    # excluded
    "gold_spans": _keyed(
        ["dataset", "target", "start", "end", "category"],
        _texts("text", "correction", "comment"),
    ),
    # why a rated text deserves its rating, as a judge's prompt shows it
    "analyses": _keyed(
        ["dataset", "judge", "aspect", "criterion", "target"],
        {"rating": NUMBER, "text": TEXT},
    ),
    # rated texts that represent a rating, and the cost of choosing them for it
    "anchors": _keyed(["dataset", "aspect", "target"], _numbers("rating", "cost")),
    # the better of a text and an anchor, by both orders: 1 the text, -1 the anchor, 0
    # neither
    "comparisons": _keyed(
        ["dataset", "target", "anchor"],
        {**_numbers("rating", "outcome"), "n_missing": COUNT},
    ),
    # the candidates of a graded set: their ratings, and the shares of anchors (with the
    # rating below, the same and the one above) that are worse (above_) or better
    # (below_) than each
    "graded": Table(
        ["dataset", "target", "aspect"],
        {
            **_texts("dataset", "target", "item", "aspect"),
            "errors": COUNT,
            **_numbers("rating", "margin"),
            "n_tied": COUNT,
            **_numbers("above_lower", "above_same", "below_same", "below_higher"),
            "status": TEXT,
        },
    ),
    "replies": _keyed(["key", "draw"], _REPLY),
    # a cell's reply file: replies, with the requests that they answer
    "answers": Table(
        [*_QUESTION, "draw"], {**_texts(*_QUESTION, "key"), "draw": COUNT, **_REPLY}
    ),
    "judgments": Table(
        [*_QUESTION, "draw"],
        {
            **_texts(*_QUESTION, "key"),
            "draw": COUNT,
            "value": NUMBER,
            "label": TEXT,
            "spans": pa.list_(SPAN),
            **_texts("rationale", "status", "rule", "parser"),
        },
    ),
    "scores": _keyed(
        [*_CELL, "criterion", "target", "target_b"],
        {"value": NUMBER, **_counts("n_draws", "n_missing"), "estimator": TEXT},
    ),
    # every draw of cells with several replies to one question, and every vote
    "draws": _keyed([*_CELL, "target", "target_b", "draw"], {"value": NUMBER}),
    # scores and reasons of prompted judges for rated texts, and their hints
    # (robustness)
    "rationales": _keyed(
        ["judge", "aspect", "target", "draw"],
        {**_texts("hint", "status"), "value": NUMBER, "text": TEXT},
    ),
    # every judgment of judges that list errors, with the errors; other columns as in
    # judgments
    "marked": _keyed(
        [*_CELL, "target", "draw"],
        {**_texts("status", "rule"), "value": NUMBER, "spans": pa.list_(SPAN)},
    ),
    # the number of a cell's judgments by status and rule, and the models that served
    # them
    "statuses": _keyed(
        [*_CELL, "status", "rule"], {"n": COUNT, "served": pa.list_(TEXT)}
    ),
    # every reply of a model, once for each judge that reads it, or for the texts made
    # from it
    "bought": _keyed(
        ["judge", "perturbation", "key", "draw"],
        {**_counts("prompt", "completion", "reasoning", "cached"), "batch": TRUTH},
    ),
    # the training examples of a judge: the texts that its teacher judges, each with its
    # prompt; room: the tokens by which a text that is still to be written may lengthen
    # the prompt
    "samples": Table(
        ["dataset", "target", "aspect"],
        {
            **_texts("dataset", "item", "target", "system", "perturbation", "aspect"),
            "held_out": TRUTH,
            "prompt": TEXT,
            "room": COUNT,
        },
    ),
    # the course of a training. Losses are mean negative log likelihoods (nats) of the
    # tokens of replies: of one step, or of all that are held out; examples and tokens
    # are those seen so far, or held out
    "training": _keyed(
        ["step", "split"],
        {**_numbers("loss", "learning_rate"), **_counts("examples", "tokens")},
    ),
    # the loss of every held-out reply: before training, and after the last step
    "losses": Table(
        ["dataset", "target", "aspect"],
        {
            **_texts("dataset", "item", "target", "aspect"),
            "tokens": COUNT,
            **_numbers("before", "after"),
        },
    ),
    # every result table, in long form; a column that does not apply is empty
    "results": Table(
        ["dataset", "judge", "aspect", *_APPLIES_TO, "statistic", "level"],
        {**_texts(*_RESULT), **_ESTIMATE, **_APPLIES_TO, "signature": TEXT},
    ),
}

SCHEMAS = {
    name: pa.schema(list(table.columns.items())) for name, table in TABLES.items()
}
KEYS = {name: table.key for name, table in TABLES.items()}
BUCKET = 200_000
"""Number of rows whose keys are compared at once, which limits the memory for any
study."""
LAST = "\U0010ffff"
"""Later than every key."""
PART = ["aspect", "criterion"]
"""The columns that are constant within a row group of a cell's file, and are in its
statistics."""
CHOSEN = "chosen"
"""The status of candidates that become texts of a graded set."""
UNRESOLVED = "unresolved"
"""The status of a candidate to which comparisons give no rating."""

RESULT_COLUMNS = SimpleNamespace(
    first=[*_RESULT, *_ESTIMATE],
    optional=[*_APPLIES_TO],
    last="signature",
    places=[*_RESULT, *_APPLIES_TO],
)
"""The columns of a result table's CSV, in order; only optional columns with a value are
used.

`places` identify a number.
"""


def columns_of_csv(results: pa.Table) -> pa.Table:
    """Return a result table with the columns of its CSV."""
    used = [
        name
        for name in RESULT_COLUMNS.optional
        if results[name].null_count < len(results)
    ]
    return results.select([*RESULT_COLUMNS.first, *used, RESULT_COLUMNS.last])


def table_of(name: str, rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """Return the rows as table `name`; a column that no row has is null.

    Raises ValueError for a column that the table does not have, or a value of the wrong
    type.
    """
    schema = SCHEMAS[name]
    unknown = {key for row in rows for key in row} - set(schema.names)
    if unknown:
        raise ValueError(
            f"table {name} has no column {sorted(unknown)}: {schema.names}"
        )
    return pa.Table.from_pylist(rows, schema=schema)


def write_table(name: str, table: pa.Table, path: str | Path) -> None:
    """Check `table` against the schema and keys of table `name`, and write it, or write
    nothing.

    The file appears under its name only when it is complete. Raises ValueError for
    another schema or a duplicate key.
    """
    write_parts(name, [table], path)


def write_parts(name: str, parts: Iterable[pa.Table], path: str | Path) -> None:
    """Write a table that comes in parts, each as its own row group; as `write_table`
    does.

    Keys are checked within a part: different parts have different keys.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        whole(path) as part,
        pq.ParquetWriter(
            part, SCHEMAS[name], compression="zstd", write_statistics=[*PART, "key"]
        ) as file,
    ):
        for table in parts:
            if not table.schema.equals(SCHEMAS[name]):
                raise ValueError(
                    f"not a table of {name}: {table.schema} instead of {SCHEMAS[name]}"
                )
            _check_keys(name, table)
            file.write_table(table, row_group_size=max(1, len(table)))


def read_table(
    name: str, path: str | Path, columns: list[str] | None = None
) -> pa.Table:
    """Read table `name`, or some of its columns.

    Raises UserError if the file is damaged or belongs to another table or version.
    """
    return _read(name, path, lambda file: file.read(columns))


def read_part(
    name: str,
    path: str | Path,
    aspect: str,
    criterion: str | None,
    columns: list[str] | None = None,
) -> pa.Table:
    """Read one row group of a cell's table: that of an aspect in a criterion.

    The result is empty if there is none. Raises UserError as `read_table` does, and
    ValueError for a file whose row groups have several aspects or criteria.
    """

    def read(file: pq.ParquetFile) -> pa.Table:
        groups = map(file.metadata.row_group, range(file.num_row_groups))
        numbers = [
            number
            for number, group in enumerate(groups)
            if group.num_rows and _about(group) == (aspect, criterion)
        ]
        # a part is small: threads would take longer to start than to read
        return file.read_row_groups(numbers, columns, use_threads=False)

    return _read(name, path, read)


def _about(group: Any) -> tuple[str | None, ...]:
    """Return the aspect and the criterion of a row group, from its statistics."""
    values: dict[str, str | None] = {}
    for column in map(group.column, range(group.num_columns)):
        name, known = column.path_in_schema, column.statistics
        if name not in PART:
            continue
        if known is None or (
            known.has_min_max and (known.min != known.max or known.null_count)
        ):
            raise ValueError(f"a row group holds several values of {name}")
        values[name] = known.min if known.has_min_max else None
    return tuple(values[name] for name in PART)


def read_groups(name: str, path: str | Path) -> Iterator[pa.Table]:
    """Yield the row groups of table `name`, one after the other; errors:
    `read_table`.
    """
    for number in range(_read(name, path, lambda file: int(file.num_row_groups))):
        yield _read(name, path, partial(pq.ParquetFile.read_row_group, i=number))


def key_ranges(n_rows: int) -> list[tuple[str, str]]:
    """Return ranges [low, high) of the keys of replies, in order, with about BUCKET
    rows each.

    Keys are hexadecimal hashes, which fill all ranges evenly; any other string is in
    some range, too.
    """
    count = n_rows // BUCKET + 1
    bounds = [
        "",
        *(f"{(number << 32) // count:08x}" for number in range(1, count)),
        LAST,
    ]
    return list(pairwise(bounds))


def read_key_range(
    name: str, path: str | Path, columns: list[str], low: str, high: str
) -> pa.Table:
    """Read columns of the rows with low <= key < high of table `name`; errors:
    `read_table`.
    """
    import pyarrow.compute as pc

    def read(file: pq.ParquetFile) -> pa.Table:
        groups = map(file.metadata.row_group, range(file.num_row_groups))
        numbers = [
            number for number, group in enumerate(groups) if _overlaps(group, low, high)
        ]
        return file.read_row_groups(numbers, columns)

    table = _read(name, path, read)
    keys = table["key"]
    return table.filter(pc.and_(pc.greater_equal(keys, low), pc.less(keys, high)))


def _overlaps(group: Any, low: str, high: str) -> bool:
    """Return whether a row group may contain a key in [low, high), by its
    statistics.
    """
    for column in map(group.column, range(group.num_columns)):
        if column.path_in_schema == "key" and column.statistics:
            known = column.statistics
            return not known.has_min_max or bool(known.min < high and known.max >= low)
    return True


def count_rows(name: str, path: str | Path) -> int:
    """Return the number of rows of table `name`, read from the file's end; errors:
    `read_table`.
    """
    return _read(name, path, lambda file: int(file.metadata.num_rows))


def _read(name: str, path: str | Path, read: Callable[[pq.ParquetFile], T]) -> T:
    try:
        with pq.ParquetFile(path) as file:
            schema, content = file.schema_arrow, read(file)
    except FileNotFoundError as error:
        raise UserError(
            f"the table `{name}` is missing",
            where=str(path),
            todo="run again; if the error comes back, delete the file's folder and run "
            "again",
        ) from error
    except (pa.ArrowInvalid, pa.ArrowIOError) as error:
        raise UserError(
            f"the table `{name}` cannot be read: {error}",
            where=str(path),
            todo="delete the file and run again: the run writes it again",
        ) from error
    if not schema.equals(SCHEMAS[name], check_metadata=False):
        raise UserError(
            f"this is not a table `{name}` of this version",
            where=str(path),
            got=schema.names,
            allowed=", ".join(SCHEMAS[name].names),
            todo="delete the file and run again: the run writes it again",
        )
    return content


def texts_of(path: str | Path) -> dict[str, str]:
    """Return target -> text of a table of targets."""
    table = read_table("targets", path, ["target", "text"])
    return dict(
        zip(*(table[name].to_pylist() for name in ("target", "text")), strict=True)
    )


def _check_keys(name: str, table: pa.Table) -> None:
    """Check keys in plain Python: importing pyarrow.compute would cost a small job 0.08
    s.
    """
    keys = KEYS[name]
    rows = list(zip(*(table[column].to_pylist() for column in keys), strict=True))
    if len(set(rows)) < len(rows):
        [(twice, _)] = Counter(rows).most_common(1)
        raise ValueError(
            f"table {name} has a key twice: {dict(zip(keys, twice, strict=True))}"
        )


def frame_of(table: pa.Table) -> "pd.DataFrame":
    """Return a table as a DataFrame with the same columns, for people: no scoring job
    needs one.

    Columns that may have gaps keep their type: a count stays whole, an empty text is
    NA.
    """
    import pandas as pd

    dtypes = {TEXT: pd.StringDtype("pyarrow"), COUNT: pd.Int64Dtype()}
    return table.to_pandas(types_mapper=dtypes.get)
