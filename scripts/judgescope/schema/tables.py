"""The keys of every table between jobs, and the functions that read and write them.

`rows.py` has the columns; their order is part of the contract.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
    TypeVar,
    get_args,
    get_origin,
    is_typeddict,
)

import pyarrow as pa
import pyarrow.parquet as pq

from judgescope.core.cells import DERIVED
from judgescope.core.errors import UserError
from judgescope.core.files import atomic_write
from judgescope.schema import rows

if TYPE_CHECKING:
    import pandas as pd


TEXT = pa.string()
NUMBER = pa.float64()
COUNT = pa.int64()
T = TypeVar("T")


class TableSchema(NamedTuple):
    """A table: the type of its rows, and the columns whose combination is unique."""

    key: list[str]
    row: type


CELL_KEY = ["dataset", "perturbation", "judge", "aspect"]
QUESTION_KEY = list(rows.QuestionKey.__annotations__)

TABLES: dict[str, TableSchema] = {
    "items": TableSchema(["dataset", "item"], rows.ItemRow),
    "targets": TableSchema(["dataset", "target"], rows.TargetRow),
    "ratings": TableSchema(
        ["dataset", "target", "target_b", "aspect", "rater"], rows.RatingRow
    ),
    "gold_spans": TableSchema(
        ["dataset", "target", "start", "end", "category"], rows.GoldSpanRow
    ),
    "analyses": TableSchema(
        ["dataset", "judge", "aspect", "criterion", "target"], rows.AnalysisRow
    ),
    "anchors": TableSchema(["dataset", "aspect", "target"], rows.AnchorRow),
    "comparisons": TableSchema(["dataset", "target", "anchor"], rows.ComparisonRow),
    "graded": TableSchema(["dataset", "target", "aspect"], rows.GradedRow),
    "replies": TableSchema(["key", "draw"], rows.ReplyRow),
    "answers": TableSchema([*QUESTION_KEY, "draw"], rows.AnswerRow),
    "judgments": TableSchema([*QUESTION_KEY, "draw"], rows.JudgmentRow),
    "scores": TableSchema(
        [*CELL_KEY, "criterion", "target", "target_b"], rows.ScoreRow
    ),
    "draws": TableSchema([*CELL_KEY, "target", "target_b", "draw"], rows.DrawRow),
    "rationales": TableSchema(["judge", "aspect", "target", "draw"], rows.RationaleRow),
    "marked": TableSchema([*CELL_KEY, "target", "draw"], rows.MarkedRow),
    "confidences": TableSchema(
        [*CELL_KEY, "target", "target_b", "draw"], rows.ConfidenceRow
    ),
    "statuses": TableSchema([*CELL_KEY, "status", "rule"], rows.StatusRow),
    "bought": TableSchema(["judge", "perturbation", "key", "draw"], rows.BoughtRow),
    "samples": TableSchema(["dataset", "target", "aspect"], rows.SampleRow),
    "training": TableSchema(["step", "split"], rows.TrainingRow),
    "losses": TableSchema(["dataset", "target", "aspect"], rows.LossRow),
    "results": TableSchema(
        [
            "dataset",
            "judge",
            "aspect",
            *rows.AppliesTo.__annotations__,
            "statistic",
            "level",
        ],
        rows.ResultRow,
    ),
}


def schema_of(row: type) -> pa.Schema:
    """Return the Arrow schema of a table whose rows are of the TypedDict `row`.

    >>> print(schema_of(rows.AnchorRow).field("rating"))
    pyarrow.Field<rating: double>
    """
    columns = row.__annotations__.items()
    return pa.schema([(name, column_type(values)) for name, values in columns])


def column_type(values: object) -> pa.DataType:
    """Return the Arrow type of a column with values of a Python type.

    Every column may be null, so `X | None` is as `X`. A list of pairs is a map, as
    `to_pylist()` gives it.

    >>> column_type(list[float] | None)
    ListType(list<item: double>)
    """
    simple = {str: TEXT, float: NUMBER, int: COUNT, bool: pa.bool_()}
    if values in simple:
        return simple[values]
    if isinstance(values, type) and is_typeddict(values):
        return pa.struct(schema_of(values))
    arguments = [part for part in get_args(values) if part is not NoneType]
    if get_origin(values) is UnionType and len(arguments) == 1:
        return column_type(arguments[0])
    if get_origin(values) is not list:
        raise TypeError(f"no column holds values of the type {values}")
    pair = get_args(arguments[0])
    if get_origin(arguments[0]) is tuple:
        return pa.map_(column_type(pair[0]), column_type(pair[1]))
    return pa.list_(column_type(arguments[0]))


SCHEMAS = {name: schema_of(table.row) for name, table in TABLES.items()}
KEYS = {name: table.key for name, table in TABLES.items()}
BUCKET = 200_000
"""Number of rows whose keys are compared at once, which limits the memory for any
study."""
GROUP_COLUMNS = ["aspect", "criterion"]
"""The columns that are constant within a row group of a cell's file, and are in its
statistics."""
CHOSEN = "chosen"
"""The status of candidates that become texts of a graded set."""
UNRESOLVED = "unresolved"
"""The status of a candidate to which comparisons give no rating."""

RESULT_COLUMNS = SimpleNamespace(
    first=[*rows.ResultKey.__annotations__, *rows.EstimateColumns.__annotations__],
    optional=[*rows.AppliesTo.__annotations__, "sentence"],
    last="signature",
    places=[*rows.ResultKey.__annotations__, *rows.AppliesTo.__annotations__],
)
"""The columns of a result table's CSV, in order; only optional columns with a value are
used.

`places` identify a number.
"""


def columns_of_csv(results: pa.Table) -> pa.Table:
    """Return a result table with the columns of its CSV."""
    used = []
    for name in RESULT_COLUMNS.optional:
        if results[name].null_count < len(results):
            used.append(name)
    return results.select([*RESULT_COLUMNS.first, *used, RESULT_COLUMNS.last])


def table_of(name: str, content: Sequence[Mapping[str, object]]) -> pa.Table:
    """Return the rows as table `name`; a column that no row has is null.

    Raises ValueError for a column that the table does not have, or a value of the wrong
    type.

    >>> table_of("losses", [{"dataset": "d", "tokens": 3}])["tokens"].to_pylist()
    [3]
    """
    schema = SCHEMAS[name]
    used = set[str]()
    for row in content:
        used.update(row)
    unknown = used - set(schema.names)
    if unknown:
        raise ValueError(
            f"table {name} has no column {sorted(unknown)}: {schema.names}"
        )
    return pa.Table.from_pylist(content, schema=schema)


def constant(value: object, n_rows: int, kind: pa.DataType) -> pa.Array:
    """Return a column with the same value in each row.

    >>> constant("a", 2, pa.string()).to_pylist()
    ['a', 'a']
    """
    rows = pa.repeat(0, n_rows)
    return pa.array([value], kind).take(rows)


def of_columns(name: str, n_rows: int, **columns: object) -> pa.Table:
    """Return table `name` of arrays (rows,), and of values that all rows share; a
    column that is not given is null.

    Raises ValueError for a column that the table does not have.

    >>> of_columns("losses", 2, dataset="d", tokens=pa.array([3, 4]))["tokens"][1]
    <pyarrow.Int64Scalar: 4>
    """
    schema = SCHEMAS[name]
    unknown = columns.keys() - {*schema.names}
    if unknown:
        raise ValueError(
            f"table {name} has no column {sorted(unknown)}: {schema.names}"
        )
    arrays = list[pa.Array]()
    for field in schema:
        column = columns.get(field.name)
        if column is None:
            arrays.append(pa.nulls(n_rows, field.type))
        elif isinstance(column, pa.Array):
            arrays.append(column.cast(field.type))
        else:
            arrays.append(constant(column, n_rows, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


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
        atomic_write(path) as part,
        pq.ParquetWriter(
            part,
            SCHEMAS[name],
            compression="zstd",
            write_statistics=[*GROUP_COLUMNS, "key"],
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
        numbers = list[int]()
        for number in range(file.num_row_groups):
            group = file.metadata.row_group(number)
            if group.num_rows and _aspect_of(group) == (aspect, criterion):
                numbers.append(number)
        # A part is small: threads would take longer to start than to read.
        return file.read_row_groups(numbers, columns, use_threads=False)

    return _read(name, path, read)


def _aspect_of(group: Any) -> tuple[str | None, str | None]:
    """Return the aspect and the criterion of a row group, from its statistics."""
    values: dict[str, str | None] = {}
    for number in range(group.num_columns):
        column = group.column(number)
        name = column.path_in_schema
        if name not in GROUP_COLUMNS:
            continue
        statistics = column.statistics
        if statistics is None:
            raise ValueError(f"a row group holds several values of {name}")
        values[name] = None
        if statistics.has_min_max:
            if statistics.min != statistics.max or statistics.null_count:
                raise ValueError(f"a row group holds several values of {name}")
            values[name] = statistics.min
    return values["aspect"], values["criterion"]


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

    >>> [low for low, _ in key_ranges(500_000)]
    ['', '55555555', 'aaaaaaaa']
    """
    count = n_rows // BUCKET + 1
    bounds = [""]
    for number in range(1, count):
        bounds.append(f"{(number << 32) // count:08x}")
    bounds.append("\U0010ffff")  # later than every key
    return list(pairwise(bounds))


def read_key_range(
    name: str, path: str | Path, columns: list[str], low: str, high: str
) -> pa.Table:
    """Read columns of the rows with low <= key < high of table `name`; errors:
    `read_table`.
    """
    import pyarrow.compute as pc

    def read(file: pq.ParquetFile) -> pa.Table:
        numbers = list[int]()
        for number in range(file.num_row_groups):
            if _overlaps(file.metadata.row_group(number), low, high):
                numbers.append(number)
        return file.read_row_groups(numbers, columns)

    table = _read(name, path, read)
    keys = table["key"]
    is_within = pc.and_(pc.greater_equal(keys, low), pc.less(keys, high))
    return table.filter(is_within)


def _overlaps(group: Any, low: str, high: str) -> bool:
    """Return whether a row group may contain a key in [low, high), by its
    statistics.
    """
    for number in range(group.num_columns):
        column = group.column(number)
        statistics = column.statistics
        if column.path_in_schema != "key" or not statistics:
            continue
        if not statistics.has_min_max:
            return True
        return bool(statistics.min < high and statistics.max >= low)
    return True


def count_rows(name: str, path: str | Path) -> int:
    """Return the number of rows of table `name`, read from the file's end; errors:
    `read_table`.
    """
    return _read(name, path, lambda file: int(file.metadata.num_rows))


def _read(name: str, path: str | Path, read: Callable[[pq.ParquetFile], T]) -> T:
    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            content = read(file)
    except FileNotFoundError as error:
        raise UserError(
            f"the table `{name}` is missing",
            where=str(path),
            todo=_to_make_again(Path(path)),
        ) from error
    except (pa.ArrowInvalid, pa.ArrowIOError) as error:
        raise UserError(
            f"the table `{name}` cannot be read: {error}",
            where=str(path),
            todo=f"delete the file, then {_to_make_again(Path(path))}",
        ) from error
    if not schema.equals(SCHEMAS[name], check_metadata=False):
        raise UserError(
            f"this is not a table `{name}` of this version",
            where=str(path),
            got=schema.names,
            allowed=", ".join(SCHEMAS[name].names),
            todo=f"delete the file, then {_to_make_again(Path(path))}",
        )
    return content


def _to_make_again(path: Path) -> str:
    """Return what to do so that a run writes a missing file again.

    One job writes all cells of a model into a folder, and Snakemake does not see that a
    file of the folder is missing.
    """
    *_, kind, dataset, model, _, _ = ("", "", "", "", *path.parts)
    if kind not in ("replies", "judgments", "scores") or model == DERIVED:
        return "run again: the run writes it"
    delete = f"delete the folder {path.parents[1]} and run again"
    replies = path.parents[4] / "replies" / dataset / model
    scored = kind != "replies" and replies.is_dir()
    command = "run again with `-R score`, or " if scored else ""
    return f"{command}{delete}; no reply is requested twice"


def texts_of(path: str | Path) -> dict[str, str]:
    """Return target -> text of a table of targets."""
    columns = ["target", "text"]
    return dict(tuples_of(read_table("targets", path, columns), columns))


def tuples_of(table: pa.Table, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the rows of some columns of a table, each as a tuple.

    >>> tuples_of(pa.table({"a": [1, 2], "b": [0.5, None]}), ["b", "a"])
    [(0.5, 1), (None, 2)]
    """
    values = [table[column].to_pylist() for column in columns]
    return list(zip(*values, strict=True))


def entries_of(column: pa.ChunkedArray) -> list[Any]:
    """Return the entries of a column; equal ones are one object, so that the scores of
    many judges on the same texts need little memory.

    >>> entries_of(pa.chunked_array([["a", None], ["a"]]))
    ['a', None, 'a']
    """
    encoded = column.combine_chunks().dictionary_encode()
    different = [*encoded.dictionary.to_pylist(), None]
    places = encoded.indices.fill_null(len(different) - 1).to_pylist()
    return [different[index] for index in places]


def _check_keys(name: str, table: pa.Table) -> None:
    """Check keys in plain Python: importing pyarrow.compute would cost a small job 0.08
    s.
    """
    keys = KEYS[name]
    # The tuples of more rows take too much memory.
    many_rows = 100_000
    if len(table) > many_rows and _are_distinct(table, keys):
        return
    found_keys = tuples_of(table, keys)
    if len(set(found_keys)) < len(found_keys):
        [(twice, _)] = Counter(found_keys).most_common(1)
        raise ValueError(
            f"table {name} has a key twice: {dict(zip(keys, twice, strict=True))}"
        )


def _are_distinct(table: pa.Table, keys: Sequence[str]) -> bool:
    """Return whether no two rows have the same keys."""
    import pyarrow.compute as pc

    varying = list[str]()
    for name in keys:
        n_different = pc.count_distinct(table[name], mode="all").as_py()
        if n_different == len(table):
            return True
        if n_different > 1:
            varying.append(name)
    rows = table.select(varying).group_by(varying).aggregate([])
    return len(rows) == len(table)


def frame_of(table: pa.Table) -> "pd.DataFrame":
    """Return a table as a DataFrame with the same columns, for people: no scoring job
    needs one.

    Columns that may have gaps keep their type: a count stays whole, an empty text is
    NA.
    """
    import pandas as pd

    dtypes = {TEXT: pd.StringDtype("pyarrow"), COUNT: pd.Int64Dtype()}
    return table.to_pandas(types_mapper=dtypes.get)
