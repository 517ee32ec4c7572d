"""Put a dataset's cells together: scores, draws, how judgments ended, and the replies bought."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from metajudge.cells import unpack
from metajudge.command import run, write_text
from metajudge.data.tables import SYSTEMS
from metajudge.schema.tables import KEYS, SCHEMAS, TEXT, read_table, table_of, write_table

TOKENS = ("prompt", "completion", "reasoning", "cached")


def main(spec: dict[str, Any]) -> None:
    """Concatenate scores and draws, count statuses per cell, list the replies of models."""
    out, dataset = spec["output"], spec["dataset"]
    place = f"{out}/{{}}/{dataset}/{{}}.parquet"
    cells = ["/".join(cell) for cell in unpack(spec["cells"])]
    scores = [read_table("scores", place.format("scores", cell)) for cell in cells]
    write_table("scores", pa.concat_tables(scores), f"{out}/collected/{dataset}/scores.parquet")
    drawn = [
        _placed(
            "draws",
            read_table("judgments", place.format("judgments", "/".join(cell))),
            dataset,
            cell,
        )
        for cell in unpack(spec["cells"])
        if cell[1] in spec["repeated"]
    ]
    draws = pa.concat_tables([SCHEMAS["draws"].empty_table(), *drawn])
    write_table("draws", draws, f"{out}/collected/{dataset}/draws.parquet")
    said = [
        row
        for cell in unpack(spec["cells"])
        if cell[1] in spec["explained"] and cell[0] == SYSTEMS
        for row in _rationales(place.format("judgments", "/".join(cell)), cell)
    ]
    path = f"{out}/collected/{dataset}/rationales.parquet"
    write_table("rationales", table_of("rationales", said), path)
    path = f"{out}/collected/{dataset}/marked.parquet"
    write_table("marked", _all_marked(spec, place), path)
    counted = [
        row
        for cell in unpack(spec["cells"])
        for row in _statuses(place, dataset, cell, asked=cell[1] not in spec["derived"])
    ]
    path = f"{out}/collected/{dataset}/statuses.parquet"
    write_table("statuses", table_of("statuses", counted), path)
    read = [
        _bought(place.format("replies", "/".join(cell)), cell[1], None)
        for cell in unpack(spec["cells"])
        if cell[1] in spec["asked"]
    ]
    made = [
        _bought(place.format("made", name), None, writer) for name, writer in spec["made"].items()
    ]
    bought = _once(pa.concat_tables([SCHEMAS["bought"].empty_table(), *read, *made]))
    write_table("bought", bought, f"{out}/collected/{dataset}/bought.parquet")
    told = _sum_of(spec, place)
    write_text(Path(f"{out}/collected/{dataset}/cells.sha256"), told + "\n")


def _sum_of(spec: dict[str, Any], place: str) -> str:
    """Return a hash of all files of all cells.

    Who reads them one by one depends on it alone, and not on thousands of files.
    """
    found = hashlib.sha256()
    for cell in unpack(spec["cells"]):
        kinds = ["scores", "judgments", *([] if cell[1] in spec["derived"] else ["replies"])]
        for kind in kinds:
            path = Path(place.format(kind, "/".join(cell)))
            found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _rationales(path: str, cell: tuple[str, str, str]) -> list[dict[str, Any]]:
    """Return what a cell's judgments say and why; the value is null where nothing was parsed."""
    names = ["target", "draw", "hint", "status", "value", "rationale"]
    return [
        {
            **{"judge": cell[1], "aspect": cell[2], "text": row.pop("rationale")},
            **row,
            "value": row["value"] if row["status"] == "ok" else None,
        }
        for row in read_table("judgments", path, names).to_pylist()
    ]


def _all_marked(spec: dict[str, Any], place: str) -> pa.Table:
    """Return the judgments of the cells whose judges list errors, one after the other."""
    cells = [cell for cell in unpack(spec["cells"]) if cell[1] in spec["annotators"]]
    tables = [
        _placed(
            "marked",
            read_table("judgments", place.format("judgments", "/".join(cell))),
            spec["dataset"],
            cell,
        )
        for cell in cells
    ]
    return pa.concat_tables([SCHEMAS["marked"].empty_table(), *tables])


def _placed(name: str, judgments: pa.Table, dataset: str, cell: tuple[str, str, str]) -> pa.Table:
    """Return a cell's judgments as table `name`; the value is null where nothing was parsed."""
    names = ("dataset", "perturbation", "judge", "aspect")
    places = dict(zip(names, (dataset, *cell), strict=True))
    schema = SCHEMAS[name]
    columns = {name: judgments[name] for name in schema.names if name in judgments.column_names}
    columns |= {name: pa.repeat(value, len(judgments)) for name, value in places.items()}
    ok = pc.equal(judgments["status"], "ok")
    columns["value"] = pc.if_else(ok, judgments["value"], None)
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _statuses(
    place: str, dataset: str, cell: tuple[str, str, str], *, asked: bool
) -> list[dict[str, Any]]:
    perturbation, judge, aspect = cell
    path = "/".join(cell)
    judged = read_table("judgments", place.format("judgments", path), ["status", "rule"])
    ends = Counter(zip(judged["status"].to_pylist(), judged["rule"].to_pylist(), strict=True))
    rows = [
        {
            "dataset": dataset,
            "perturbation": perturbation,
            "judge": judge,
            "aspect": aspect,
            "status": status,
            "rule": rule,
            "n": count,
        }
        for (status, rule), count in sorted(ends.items())
    ]
    if not asked:
        return rows
    answers = read_table("answers", place.format("replies", path), ["provenance"])
    if rows:
        rows[0]["served"] = _served(answers["provenance"].to_pylist())
    return rows


def _bought(path: str, judge: str | None, writer: str | None) -> pa.Table:
    """Return the replies behind a cell, or behind what a model wrote, with their usage."""
    answers = read_table("answers", path, ["key", "draw", "usage"])
    answers = answers.filter(pc.is_valid(answers["key"]))  # what was not asked was not bought
    known = {"judge": judge, "perturbation": writer}
    columns = {name: pa.repeat(pa.scalar(told, TEXT), len(answers)) for name, told in known.items()}
    columns |= {name: answers[name] for name in ("key", "draw")}
    columns |= {name: pc.struct_field(answers["usage"], name) for name in TOKENS}
    schema = SCHEMAS["bought"]
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _once(bought: pa.Table) -> pa.Table:
    """Return every reply of a judge once: it may stand behind several cells."""
    keys = KEYS["bought"]
    found = bought.group_by(keys).aggregate([(name, "max") for name in TOKENS])
    schema = SCHEMAS["bought"]
    found = found.rename_columns([name.removesuffix("_max") for name in found.column_names])
    ordered = found.select(schema.names).sort_by([(name, "ascending") for name in keys])
    return ordered.cast(schema)


def _served(provenance: list[dict[str, str | None] | None]) -> list[str]:
    """Return what answered, as the endpoints name it: model and fingerprint."""
    asked = [told for told in provenance if told and told["engine"]]
    found = {" ".join(filter(None, (told["model"], told["fingerprint"]))) for told in asked}
    return sorted(found - {""})


if __name__ == "__main__":
    run(main)
