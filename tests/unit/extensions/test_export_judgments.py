"""All judgments of a study in one file: what stands in it, and what its dictionary
says.
"""

import csv
import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import count, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import running
from cell_files import write_part
from judgescope.core.errors import UserError
from judgescope.extensions.export.judgments import (
    COLUMNS,
    TEXTS,
    blocks,
    columns,
    dictionary,
    export,
    guarded,
    rows,
    schema,
)
from judgescope.plan.loading import load_plan
from judgescope.plan.study import Plan
from judgescope.schema.tables import table_of, write_table

Row = dict[str, Any]
ODD = '=1+1, "said"\n<script>|'


def judgment(judge: str, target: str, **more: Any) -> Row:
    plain = {
        "kind": "rate",
        "aspect": "naturalness",
        "key": "k" * 64,
        "draw": 0,
        "value": 4.0,
    }
    return {
        "judge": judge,
        "target": target,
        **plain,
        "status": "ok",
        "parser": "p@1",
        **more,
    }


@pytest.fixture
def plan() -> Plan:
    content = {
        "study": "tiny",
        "datasets": ["demo-dialogue"],
        "aspects": ["naturalness"],
    }
    content |= {"judges": ["random", "rules"], "methods": ["agreement"]}
    return load_plan(content, running.HOME, source="tiny.yaml")


@pytest.fixture
def out(tmp_path: Path, plan: Plan) -> Path:
    """Write results by hand: two texts, one of them rated twice, two judges, idle
    controls.
    """
    location = {"dataset": "demo-dialogue"}
    texts = [
        {
            **location,
            "target": f"t{n}",
            "item": "d01",
            "system": ODD,
            "perturbation": "systems",
        }
        | {"step": 0, "text": text, "status": "ok"}
        for n, text in enumerate(["one", ODD])
    ]
    item = {**location, "item": "d01", "source": "why?", "references": [], "meta": "{}"}
    ratings = [
        {
            **location,
            "target": "t0",
            "aspect": "naturalness",
            "rater": rater,
            "value": value,
        }
        for rater, value in (("a", 2.0), ("b", 5.0))
    ]
    span = {"start": 0, "end": 1}
    content = {
        "random": [judgment("random", f"t{n}", draw=d) for n in (0, 1) for d in (0, 1)],
        "rules": [
            judgment("rules", "t0", status="refused"),
            judgment("rules", "t1", rationale=ODD, spans=[span, span], hint="3"),
        ],
    }
    result = tmp_path / "results" / "tiny"
    write_table(
        "items", table_of("items", [item]), result / "items/demo-dialogue.parquet"
    )
    write_table(
        "ratings",
        table_of("ratings", ratings),
        result / "ratings/demo-dialogue.parquet",
    )
    targets = result / "targets/demo-dialogue/systems.parquet"
    write_table("targets", table_of("targets", texts), targets)
    for cell in plan.cell_aspects:
        write_part(
            "judgments",
            Path(plan.file(result, "judgments", cell)),
            content.get(cell.judge, []),
        )
    return result


def test_a_single_row_is_a_single_judgment_with_what_is_known_of_it(
    plan: Plan, out: Path
) -> None:
    result = list(rows(plan, out, texts=False))
    assert [(row["judge"], row["target"], row["draw"]) for row in result] == [
        *(
            ("random", "t0", 0),
            ("random", "t0", 1),
            ("random", "t1", 0),
            ("random", "t1", 1),
        ),
        *(("rules", "t0", 0), ("rules", "t1", 0)),
    ]
    first, refused, last = result[0], result[-2], result[-1]
    assert (first["rating"], first["rating_n"], first["rating_by"]) == (
        3.5,
        2,
        "planned",
    )
    assert (last["rating"], last["rating_n"], last["rating_by"]) == (None, 0, None)
    assert (first["model"], first["form"], first["engine"]) == (
        "control",
        "random",
        "control",
    )
    assert (first["scale_min"], first["scale_max"]) == (1, 5)
    assert (refused["status"], refused["score"]) == ("refused", None) and last[
        "score"
    ] == 4
    assert (last["errors"], first["errors"], last["hint"]) == (2, None, "3")
    assert last["text_sha256"] == sha256(ODD.encode()).hexdigest()
    assert (last["perturbation"], last["degree"], last["request_key"]) == (
        "systems",
        None,
        "k" * 64,
    )


def strengths(plan: Plan, out: Path, values: list[int | None]) -> list[int | None]:
    """Return what is exported of judgments with these strengths."""
    [cell] = [cell for cell in plan.cell_aspects if cell.judge == "random"]
    judgments = [
        judgment("random", f"t{number % 2}", draw=number // 2, strength=value)
        for number, value in enumerate(values)
    ]
    write_part("judgments", Path(plan.file(out, "judgments", cell)), judgments)
    exported = rows(plan, out, texts=False)
    return [row["strength"] for row in exported if row["judge"] == "random"]


def test_the_strength_of_a_choice_is_exported(plan: Plan, out: Path) -> None:
    values = [-2, -1, 0, 1, 2, None]
    assert sorted(strengths(plan, out, values), key=str) == sorted(values, key=str)


@pytest.mark.parametrize("wrong", [-3, 3, 100])
def test_a_strength_that_no_choice_has_is_an_error(
    plan: Plan, out: Path, wrong: int
) -> None:
    with pytest.raises(UserError) as error:
        strengths(plan, out, [1, wrong])
    shown = str(error.value)
    for part in ("random.parquet", "naturalness, row ", f"{wrong}", "-2, -1, 0, 1, 2"):
        assert part in shown


def test_columns_are_those_of_the_dictionary(plan: Plan, out: Path) -> None:
    for texts in (False, True):
        names = [column.name for column in columns(texts=texts)]
        assert all(set(row) == set(names) for row in rows(plan, out, texts=texts))
        assert schema(texts=texts).names == names and len(set(names)) == len(names)
        text = dictionary("tiny", texts=texts)
        assert [
            line.split("`")[1] for line in text.splitlines() if line.startswith("| `")
        ] == names


def test_texts_leave_only_where_that_is_asked(
    plan: Plan, out: Path, tmp_path: Path
) -> None:
    for texts in (False, True):
        path = tmp_path / f"{texts}.parquet"
        export(plan, out, path, texts=texts, source="s.yaml")
        table = pq.read_table(path)
        assert table.schema.equals(schema(texts=texts), check_metadata=True)
        text = json.dumps(table.drop_columns(["system"]).to_pylist())
        assert (json.dumps(ODD) in text) == ("why?" in text) == texts
    assert not {each.name for each in TEXTS} & {each.name for each in COLUMNS}


def test_a_field_says_what_it_means(plan: Plan, out: Path, tmp_path: Path) -> None:
    export(plan, out, tmp_path / "j.parquet", texts=False, source="s.yaml")
    for column in COLUMNS:
        metadata = pq.read_schema(tmp_path / "j.parquet").field(column.name).metadata
        assert metadata[b"meaning"].decode() == column.meaning and column.meaning
        assert metadata[b"empty"].decode() == column.empty


def test_what_is_never_empty_by_the_dictionary_never_is(plan: Plan, out: Path) -> None:
    never = [column.name for column in COLUMNS if not column.empty]
    assert all(
        row[name] is not None for row in rows(plan, out, texts=False) for name in never
    )
    assert {"dataset", "target", "status", "rating_n"} <= set(never)


def test_two_runs_write_the_same_bytes(plan: Plan, out: Path, tmp_path: Path) -> None:
    for kind in ("parquet", "csv"):
        paths = [tmp_path / f"{name}.{kind}" for name in "ab"]
        for path in paths:
            export(plan, out, path, texts=True, source="s.yaml")
        assert paths[0].read_bytes() == paths[1].read_bytes()
    assert (
        sorted(path.suffix for path in tmp_path.glob("*.*"))
        == [".csv"] * 2 + [".parquet"] * 2
    )


def test_csv_has_the_same_rows(plan: Plan, out: Path, tmp_path: Path) -> None:
    outcome = export(plan, out, tmp_path / "j.csv", texts=True, source="s.yaml")
    assert "6 judgments in 6 cells" in outcome
    with (tmp_path / "j.csv").open(encoding="utf-8", newline="") as file:
        result = list(csv.DictReader(file))
    for line, row in zip(result, rows(plan, out, texts=True), strict=True):
        assert list(line) == list(schema(texts=True).names)
        assert line["text"] == row["text"].replace(ODD, f"'{ODD}")
        assert line["rationale"] == (f"'{ODD}" if row["rationale"] else "")
        assert [name for name in line if line[name] == ""] == [
            name for name in line if row[name] in (None, "")
        ]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        *(
            ("=1+1", "'=1+1"),
            ("+a", "'+a"),
            ("-a\nb", "'-a\nb"),
            ("@a", "'@a"),
            ("\t=1", "'\t=1"),
        ),
        *(
            ("＝1", "'＝1"),
            ("'=1", "''=1"),
            ("-1+cmd", "'-1+cmd"),
            ("-1\n=2", "'-1\n=2"),
        ),
        *((same, same) for same in ("a=1", "-1", "+2.5", "'a'", "a\n=1", "", None)),
    ],
)
def test_no_text_of_a_csv_is_a_formula(text: str | None, kept: str | None) -> None:
    outcome = pa.schema(
        [pa.field("text", pa.string(), metadata={"unit": ""}), ("n", pa.int64())]
    )
    result = guarded(pa.table({"text": [text], "n": [-1]}, schema=outcome))
    assert result.to_pylist() == [{"text": kept, "n": -1}]
    assert result.schema.equals(outcome, check_metadata=True)


def test_a_parquet_file_has_texts_as_they_are(
    plan: Plan, out: Path, tmp_path: Path
) -> None:
    export(plan, out, tmp_path / "j.parquet", texts=True, source="s.yaml")
    assert ODD in pq.read_table(tmp_path / "j.parquet")["text"].to_pylist()


def test_no_more_than_a_block_is_held() -> None:
    """An endless study can be begun: nothing waits for its end."""
    outcome, taken = pa.schema({"n": pa.int64()}), list[int]()

    def endless() -> Iterator[Row]:
        for number in count():
            taken.append(number)
            yield {"n": number}

    result = list(islice(blocks(endless(), outcome, size=10), 3))
    assert [len(block) for block in result] == [10, 10, 10] and len(taken) == 30
    assert [
        len(block) for block in blocks(({"n": n} for n in range(25)), outcome, size=10)
    ] == [10, 10, 5]


def test_a_cell_that_was_not_judged_is_reported(
    plan: Plan, out: Path, tmp_path: Path
) -> None:
    next(out.glob("judgments/**/rules.parquet")).unlink()
    with pytest.raises(UserError, match="judgments are missing") as caught:
        export(plan, out, tmp_path / "j.parquet", texts=False, source="s.yaml")
    assert caught.value.todo == "judgescope run s.yaml" and not list(
        tmp_path.glob("*.parquet")
    )


@pytest.mark.heavy
def test_the_command(out: Path, tmp_path: Path) -> None:
    content = {
        "study": "tiny",
        "datasets": ["demo-dialogue"],
        "aspects": ["naturalness"],
    }
    content |= {"judges": ["random", "rules"], "methods": ["agreement"]}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")

    def say(*words: str) -> tuple[int, str]:
        done = running.run("-m", "judgescope", "export", "s.yaml", *words, cwd=tmp_path)
        return done.returncode, done.stdout

    status, text = say("judgments", "j.parquet")
    assert status == 0 and "6 judgments" in text and "j.parquet.dictionary.md" in text
    assert (tmp_path / "j.parquet.dictionary.md").read_text("utf-8") == dictionary(
        "tiny", texts=False
    )
    status, text = say("judgments", "j.parquet")
    assert status == 1 and "already exists" in text and "--force" in text
    assert say("judgments", "j.parquet", "--texts", "--force")[0] == 0
    assert pq.read_schema(tmp_path / "j.parquet").names == schema(texts=True).names
    assert (
        say("judgments", "j.csv")[0] == 0
        and (tmp_path / "j.csv.dictionary.md").is_file()
    )
    for kind in (("card", "c.md"), ("tables", "agreement", "t.tex")):
        status, text = say(*kind)
        assert status == 1 and "no results yet" in text, text
        assert "judgescope run s.yaml" in text
    for words, why in (
        (("card", "c.txt"), "type of file"),
        (("card", "nowhere/c.md"), "folder not found"),
    ):
        status, text = say(*words)
        assert status == 1 and why in text
