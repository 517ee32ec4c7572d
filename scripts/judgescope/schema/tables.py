"""Arrow schemas of every table on the way, and the one door through which they are read.

Column order is the contract (design.md 4): keys first. `KEYS` names the columns whose combination
is unique in a table.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from judgescope.core.errors import UserError
from judgescope.core.files import whole

TEXT, NUMBER, COUNT, TRUTH = pa.string(), pa.float64(), pa.int64(), pa.bool_()

EDIT = pa.struct({"offset": COUNT, "before": TEXT, "after": TEXT})
SPAN = pa.struct(
    {
        "start": COUNT,
        "end": COUNT,
        "occurrence": COUNT,
        "severity": NUMBER,
        "category": TEXT,
        "explanation": TEXT,
        "match": TEXT,
        # the words as they were quoted, found or not
        "location": TEXT,
    }
)
USAGE = pa.struct({"prompt": COUNT, "completion": COUNT, "reasoning": COUNT, "cached": COUNT})
LOGPROBS = pa.list_(pa.map_(TEXT, NUMBER))
"""Per token of a reply: the token that came, then the likeliest others -> log probability."""
PROVENANCE = pa.struct({"engine": TEXT, "model": TEXT, "version": TEXT, "fingerprint": TEXT})

_TARGET = {"target": TEXT, "target_b": TEXT}
_ASKED = {"aspect": TEXT, "criterion": TEXT, "hint": TEXT}
_REQUEST = {"judge": TEXT, "kind": TEXT, **_TARGET, **_ASKED, "key": TEXT}
_REPLY = {
    "text": TEXT,
    "finish": TEXT,
    "usage": USAGE,
    "status": TEXT,
    "provenance": PROVENANCE,
    "logprobs": LOGPROBS,
}
_ESTIMATE = {
    "value": NUMBER,
    "lo": NUMBER,
    "hi": NUMBER,
    "n": COUNT,
    "n_missing": COUNT,
    "n_tied": COUNT,
    "method": TEXT,
    "note": TEXT,
}

_FIRST = {"dataset": TEXT, "judge": TEXT, "aspect": TEXT, "statistic": TEXT, "level": TEXT}
_WHERE_IT_APPLIES = {
    "perturbation": TEXT,
    "degree": TEXT,
    "criterion": TEXT,
    "form": TEXT,
    "judge_b": TEXT,
    "aspect_b": TEXT,
    "criterion_b": TEXT,
    "k": COUNT,
    "k_b": COUNT,
    # whose texts, where not those of all systems
    "systems": TEXT,
}

_COLUMNS: dict[str, dict[str, pa.DataType]] = {
    "items": {
        "dataset": TEXT,
        "item": TEXT,
        "source": TEXT,
        "references": pa.list_(TEXT),
        "meta": TEXT,
    },
    "targets": {
        "dataset": TEXT,
        "target": TEXT,
        "item": TEXT,
        "system": TEXT,
        "perturbation": TEXT,
        "degree": TEXT,
        "step": COUNT,
        "parent": TEXT,
        "text": TEXT,
        "status": TEXT,
        "edits": pa.list_(EDIT),
    },
    "ratings": {"dataset": TEXT, **_TARGET, "aspect": TEXT, "rater": TEXT, "value": NUMBER},
    # errors that people marked; offsets are characters of the target's text, `end` is excluded
    "gold_spans": {
        "dataset": TEXT,
        "target": TEXT,
        "start": COUNT,
        "end": COUNT,
        "category": TEXT,
        "text": TEXT,
        "correction": TEXT,
        "comment": TEXT,
    },
    # why a rated text deserves its rating, as a judge's prompt shows it
    "analyses": {
        "dataset": TEXT,
        "judge": TEXT,
        "aspect": TEXT,
        "criterion": TEXT,
        "target": TEXT,
        "rating": NUMBER,
        "text": TEXT,
    },
    # rated texts that stand for a rating, and what it costs to take them for it
    "anchors": {"dataset": TEXT, "aspect": TEXT, "target": TEXT, "rating": NUMBER, "cost": NUMBER},
    # which of a text and an anchor is better, by both orders: 1 the text, -1 the anchor, 0 neither
    "comparisons": {
        "dataset": TEXT,
        "target": TEXT,
        "anchor": TEXT,
        "rating": NUMBER,
        "outcome": NUMBER,
        "n_missing": COUNT,
    },
    # the candidates of a graded set: their ratings, and the share of anchors of the rating below,
    # of the same and of the one above that each is better (above_) or worse (below_) than
    "graded": {
        "dataset": TEXT,
        "target": TEXT,
        "item": TEXT,
        "aspect": TEXT,
        "errors": COUNT,
        "rating": NUMBER,
        "margin": NUMBER,
        "n_tied": COUNT,
        "above_lower": NUMBER,
        "above_same": NUMBER,
        "below_same": NUMBER,
        "below_higher": NUMBER,
        "status": TEXT,
    },
    "requests": {**_REQUEST, "n": COUNT},
    "replies": {"key": TEXT, "draw": COUNT, **_REPLY},
    # a cell's reply file: the reply beside the request that it answers
    "answers": {**_REQUEST, "draw": COUNT, **_REPLY},
    "judgments": {
        **_REQUEST,
        "draw": COUNT,
        "value": NUMBER,
        "label": TEXT,
        "spans": pa.list_(SPAN),
        "rationale": TEXT,
        "status": TEXT,
        "rule": TEXT,
        "parser": TEXT,
    },
    "scores": {
        "dataset": TEXT,
        "perturbation": TEXT,
        "judge": TEXT,
        "aspect": TEXT,
        "criterion": TEXT,
        **_TARGET,
        "value": NUMBER,
        "n_draws": COUNT,
        "n_missing": COUNT,
        "estimator": TEXT,
    },
    # every draw of the cells that have several replies to one question, and every vote
    "draws": {
        "dataset": TEXT,
        "perturbation": TEXT,
        "judge": TEXT,
        "aspect": TEXT,
        **_TARGET,
        "draw": COUNT,
        "value": NUMBER,
    },
    # what judges that read prompts say of rated texts, why, and what they were told (robustness)
    "rationales": {
        "judge": TEXT,
        "aspect": TEXT,
        "target": TEXT,
        "draw": COUNT,
        "hint": TEXT,
        "status": TEXT,
        "value": NUMBER,
        "text": TEXT,
    },
    # every judgment of the judges that list errors, with these; the other columns as in judgments
    "marked": {
        "dataset": TEXT,
        "perturbation": TEXT,
        "judge": TEXT,
        "aspect": TEXT,
        "target": TEXT,
        "draw": COUNT,
        "status": TEXT,
        "rule": TEXT,
        "value": NUMBER,
        "spans": pa.list_(SPAN),
    },
    # how many judgments of a cell ended how, and what served them
    "statuses": {
        "dataset": TEXT,
        "perturbation": TEXT,
        "judge": TEXT,
        "aspect": TEXT,
        "status": TEXT,
        "rule": TEXT,
        "n": COUNT,
        "served": pa.list_(TEXT),
    },
    # every reply of a model once for each judge that reads it, or for the texts that it made
    "bought": {
        "judge": TEXT,
        "perturbation": TEXT,
        "key": TEXT,
        "draw": COUNT,
        "prompt": COUNT,
        "completion": COUNT,
        "reasoning": COUNT,
        "cached": COUNT,
    },
    # what a judge that is trained learns from: the texts that its teacher judges, each with the
    # prompt, and the tokens that what has yet to be written may have beside it
    "samples": {
        "dataset": TEXT,
        "item": TEXT,
        "target": TEXT,
        "system": TEXT,
        "perturbation": TEXT,
        "aspect": TEXT,
        "held_out": TRUTH,
        "prompt": TEXT,
        "room": COUNT,
    },
    # the course of a training. Losses are mean negative log likelihoods (nats) of the tokens of
    # replies: of one step's, or of all that are held out; examples and tokens are those seen until
    # then, or held out
    "training": {
        "step": COUNT,
        "split": TEXT,
        "loss": NUMBER,
        "learning_rate": NUMBER,
        "examples": COUNT,
        "tokens": COUNT,
    },
    # the loss of every reply that is held out: of the base, and after the last step
    "losses": {
        "dataset": TEXT,
        "item": TEXT,
        "target": TEXT,
        "aspect": TEXT,
        "tokens": COUNT,
        "before": NUMBER,
        "after": NUMBER,
    },
    # every result table, in long form; empty where a column does not apply
    "results": {**_FIRST, **_ESTIMATE, **_WHERE_IT_APPLIES, "signature": TEXT},
}

PART = ["aspect", "criterion"]
"""What a row group of a cell's file is about, told by its statistics."""
CHOSEN = "chosen"
"""The status of those texts of a graded set that are its targets."""
UNRESOLVED = "unresolved"
"""The status of a candidate that comparisons give no rating."""

SCHEMAS = {name: pa.schema(list(columns.items())) for name, columns in _COLUMNS.items()}

_ANSWER_KEY = ["judge", "kind", "target", "target_b", "aspect", "criterion", "hint", "draw"]
KEYS: dict[str, list[str]] = {
    "items": ["dataset", "item"],
    "targets": ["dataset", "target"],
    "ratings": ["dataset", "target", "target_b", "aspect", "rater"],
    "gold_spans": ["dataset", "target", "start", "end", "category"],
    "analyses": ["dataset", "judge", "aspect", "criterion", "target"],
    "anchors": ["dataset", "aspect", "target"],
    "comparisons": ["dataset", "target", "anchor"],
    "graded": ["dataset", "target", "aspect"],
    "requests": _ANSWER_KEY[:-1],
    "replies": ["key", "draw"],
    "answers": _ANSWER_KEY,
    "judgments": _ANSWER_KEY,
    "scores": ["dataset", "perturbation", "judge", "aspect", "criterion", "target", "target_b"],
    "draws": ["dataset", "perturbation", "judge", "aspect", "target", "target_b", "draw"],
    "rationales": ["judge", "aspect", "target", "draw"],
    "marked": ["dataset", "perturbation", "judge", "aspect", "target", "draw"],
    "bought": ["judge", "perturbation", "key", "draw"],
    "statuses": ["dataset", "perturbation", "judge", "aspect", "status", "rule"],
    "samples": ["dataset", "target", "aspect"],
    "training": ["step", "split"],
    "losses": ["dataset", "target", "aspect"],
    "results": [*("dataset", "judge", "aspect"), *_WHERE_IT_APPLIES, "statistic", "level"],
}


RESULT_COLUMNS = SimpleNamespace(
    first=[*_FIRST, *_ESTIMATE], optional=list(_WHERE_IT_APPLIES), last="signature"
)
"""The columns of a result table's CSV, in order; of the optional ones those that have a value."""


def table_of(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    """Return the rows as table `name`; a column that no row has is null.

    Raises ValueError for a column that the table does not have, or a value of the wrong type.
    """
    schema = SCHEMAS[name]
    unknown = {key for row in rows for key in row} - set(schema.names)
    if unknown:
        raise ValueError(f"table {name} has no column {sorted(unknown)}: {schema.names}")
    return pa.Table.from_pylist(rows, schema=schema)


def write_table(name: str, table: pa.Table, path: str | Path) -> None:
    """Check `table` against schema and keys of table `name` and write it, all or nothing.

    The file appears under its name only when it is whole. Raises ValueError on another schema or
    on a key that comes twice.
    """
    write_parts(name, [table], path)


def write_parts(name: str, parts: Iterable[pa.Table], path: str | Path) -> None:
    """Write a table that comes in parts, each as a row group of its own; as `write_table` does.

    Keys are checked within a part: those of two parts differ by what the parts are about.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        whole(path) as part,
        pq.ParquetWriter(
            part, SCHEMAS[name], compression="zstd", write_statistics=PART.copy()
        ) as file,
    ):
        for table in parts:
            if not table.schema.equals(SCHEMAS[name]):
                raise ValueError(
                    f"not a table of {name}: {table.schema} instead of {SCHEMAS[name]}"
                )
            _check_keys(name, table)
            file.write_table(table, row_group_size=max(1, len(table)))


def read_table(name: str, path: str | Path, columns: list[str] | None = None) -> pa.Table:
    """Read table `name`, or some of its columns.

    Raises UserError when the file is damaged or belongs to another table or version.
    """
    return _read(name, path, lambda file: file.read(columns))


def read_part(
    name: str,
    path: str | Path,
    aspect: str,
    criterion: str | None,
    columns: list[str] | None = None,
) -> pa.Table:
    """Read what a cell's table says on one aspect in one criterion: one of its row groups.

    The table is empty where it says nothing. Raises UserError as `read_table` does, and ValueError
    for a file whose row groups do not hold one aspect and criterion each.
    """

    def read(file: pq.ParquetFile) -> pa.Table:
        groups = map(file.metadata.row_group, range(file.num_row_groups))
        wanted = [
            number
            for number, group in enumerate(groups)
            if group.num_rows and _about(group) == (aspect, criterion)
        ]
        return file.read_row_groups(wanted, columns)

    return _read(name, path, read)


def _about(group: Any) -> tuple[str | None, ...]:
    """Return the aspect and the criterion of a row group, by its statistics.

    Raises ValueError where rows of several are in it, or its statistics are not known.
    """
    known: dict[str, str | None] = {}
    for number in range(group.num_columns):
        column = group.column(number)
        name, told = column.path_in_schema, column.statistics
        if name not in PART:
            continue
        if told is None or (told.has_min_max and (told.min != told.max or told.null_count)):
            raise ValueError(f"a row group holds several values of {name}")
        known[name] = told.min if told.has_min_max else None
    return tuple(known[name] for name in PART)


def _read(name: str, path: str | Path, read: Callable[[pq.ParquetFile], pa.Table]) -> pa.Table:
    try:
        with pq.ParquetFile(path) as file:
            schema, table = file.schema_arrow, read(file)
    except FileNotFoundError as error:
        raise UserError(
            f"a table of {name} is not there",
            where=str(path),
            todo="run again; if it is told once more, delete the file's folder and run again",
        ) from error
    except (pa.ArrowInvalid, pa.ArrowIOError) as error:
        raise UserError(
            f"a table of {name} cannot be read: {error}",
            where=str(path),
            todo="delete the file and run again: it is made anew",
        ) from error
    if not schema.equals(SCHEMAS[name], check_metadata=False):
        raise UserError(
            f"this is not a table of {name} of this version",
            where=str(path),
            got=schema.names,
            allowed=", ".join(SCHEMAS[name].names),
            todo="delete the file and run again: it is made anew",
        )
    return table


def texts_of(path: str | Path) -> dict[str, str]:
    """Return target -> text of a table of targets."""
    table = read_table("targets", path, ["target", "text"])
    return dict(zip(*(table[name].to_pylist() for name in ("target", "text")), strict=True))


def _check_keys(name: str, table: pa.Table) -> None:
    """Compare in plain Python: importing pyarrow.compute would cost a small job 0.08 s."""
    keys = KEYS[name]
    seen: set[tuple[Any, ...]] = set()
    for key in zip(*(table[column].to_pylist() for column in keys), strict=True):
        if key in seen:
            raise ValueError(f"table {name} has a key twice: {dict(zip(keys, key, strict=True))}")
        seen.add(key)
