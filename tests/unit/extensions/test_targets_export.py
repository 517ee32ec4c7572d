"""Every target goes out, scores made elsewhere come back, and each finds its own
text.
"""

import csv
import json
import zlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import running
from asking import AskedStudy
from judgescope.cli.context import check_new, check_output
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError
from judgescope.engines.base import EngineInputs, Subject
from judgescope.engines.recorded import RecordedEngine
from judgescope.extensions.export.targets import SCHEMA, WRITERS
from judgescope.extensions.export.targets import _aspects as aspects_of
from judgescope.schema.cards import Judge, RatingScale, RecordedModel
from judgescope.schema.loading import validate_card
from scripted import Body, Endpoint, Said, reply, serve, text_in
from study import Study

Row = dict[str, Any]
AWKWARD = [
    '=1+1 is what the "first, second" cell said.\nAnd then it said something more.',
    "-2 degrees, said the report,\r\nand a wind from the west; nobody believed it.",
    "@all: the line\u2028goes on here\x85and here, with a tab\there and another.",
    "+49 is the prefix, ''quoted'' and \\escaped\\ as {braces} or $dollars$ are.",
    "nan",
    "日本語の文章です。 \U0001f600 Naïve café, ﬁrst of all — “as they say”.",
]
FORMATS = ("csv", "jsonl", "parquet")
NATURAL = ("naturalness",)
FIVE = {"min": 1, "max": 5, "step": 1}


def study(folder: Path, name: str, *judges: str) -> Study:
    content = {
        "study": name,
        "datasets": ["odd", "demo-dialogue"],
        "judges": ["length", *judges],
    }
    content |= {
        "aspects": ["naturalness", "fluency"],
        "perturbations": ["word-deletions"],
    }
    return Study(folder, content, methods=["agreement", "discernment"])


def scored(row: Row, aspect: str) -> float:
    """Return a score that any other text, dataset or aspect would not have."""
    return zlib.crc32(f"{row['dataset']} {aspect} {row['text']}".encode()) / 1000


def read(path: Path) -> list[Row]:
    """Read an export as a user would who knows nothing of this project."""
    if path.suffix == ".parquet":
        rows: list[Row] = pq.read_table(path).to_pylist()
        return rows
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    with path.open(encoding="utf-8", newline="") as file:
        collected = [dict(row) for row in csv.DictReader(file)]
    lists = {"references", "aspects"}
    return [
        {
            name: json.loads(cell) if name in lists else cell
            for name, cell in row.items()
        }
        for row in collected
    ]


def answer(rows: list[Row], path: Path) -> dict[str, Any]:
    """Write scores of the rows as somebody else would; return `rows` of the model's
    card.
    """
    names = {"dataset": "dataset", "target": "target"}
    kept = [{name: row[name] for name in ("dataset", "target", "text")} for row in rows]
    if path.suffix == ".jsonl":  # a row for each aspect
        lines = [
            json.dumps(
                {
                    **row,
                    "aspect": aspect["aspect"],
                    "score": scored(row, aspect["aspect"]),
                }
            )
            for row, complete in zip(kept, rows, strict=True)
            for aspect in complete["aspects"]
        ]
        path.write_text("\n".join(lines), encoding="utf-8")
        return {**names, "aspect": "aspect", "scores": {"*": "score"}}
    wide = [
        {
            **row,
            **{
                aspect["aspect"]: scored(row, aspect["aspect"])
                for aspect in complete["aspects"]
            },
        }
        for row, complete in zip(kept, rows, strict=True)
    ]
    aspects = ("naturalness", "fluency")
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(wide, schema=_wide(aspects)), path)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [*kept[0], *aspects])
            writer.writeheader()
            writer.writerows(wide)
    return {**names, "text": "text", "scores": {name: name for name in aspects}}


def _wide(aspects: tuple[str, ...]) -> pa.Schema:
    columns = dict.fromkeys(("dataset", "target", "text"), pa.string())
    return pa.schema(columns | dict.fromkeys(aspects, pa.float64()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a working folder with a study of odd texts, one rated aspect, and of the
    demo's.
    """
    result = tmp_path_factory.mktemp("export")
    rows = [
        {"id": f"{1 + number}", "src": f"=SOURCE({number})", "ref": text, "by": name}
        | {"out": text[::step], "naturalness": 1 + (number + step) % 5, "fluency": 3}
        for number, text in enumerate(AWKWARD)
        for name, step in (("a", 1), ("30", 2))
    ]
    (result / "odd.jsonl").write_text(
        "\n".join(map(json.dumps, rows)), encoding="utf-8"
    )
    scale = {"min": 1, "max": 5, "step": 1}
    own_part = study(result, "out")
    own_part.card(
        "datasets",
        "odd",
        **{"name": "Odd", "task": "summarization", "format": "table", "licence": "-"},
        **{"citation": "-", "files": "../../odd.jsonl"},
        columns={"item": "id", "source": "src", "references": ["ref"], "system": "by"}
        | {"text": "out"},
        aspects={"naturalness": scale | {"source_visible": False}, "fluency": scale},
    )
    own_part.write()
    return result


@pytest.fixture(scope="module")
def exports(folder: Path) -> dict[str, list[Row]]:
    """Return the rows of an export in every format, and of what it said under
    `said`.
    """
    collected = {}
    for kind in FORMATS:
        name = f"targets.{kind}"
        done = running.run(
            "-m", "judgescope", "export", "study.yaml", "targets", name, cwd=folder
        )
        assert done.returncode == 0, done.stdout
        collected[kind] = read(folder / name)
        assert f"{name}: {len(collected[kind])} targets of 2 datasets" in done.stdout
        collected[f"{kind} said"] = [{"said": done.stdout}]
    return collected


def tables(folder: Path, dataset: str) -> Iterator[Row]:
    for path in sorted(folder.glob(f"results/out/targets/{dataset}/*.parquet")):
        yield from pq.read_table(path).to_pylist()


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_every_target_goes_out_with_its_text_to_the_letter(
    folder: Path, exports: dict[str, list[Row]], kind: str
) -> None:
    rows = exports[kind]
    assert list(rows[0]) == SCHEMA.names
    by_key = {(row["dataset"], row["target"]): row["text"] for row in rows}
    assert len(by_key) == len(rows)
    expected = {
        (name, row["target"]): row["text"]
        for name in ("odd", "demo-dialogue")
        for row in tables(folder, name)
        if not row["status"].startswith("impossible")
    }
    assert by_key == expected
    assert sum(key[0] == "odd" for key in by_key) > 2 * len(AWKWARD) + len(AWKWARD)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_a_target_says_what_it_is_and_what_is_wanted_of_it(
    exports: dict[str, list[Row]], kind: str
) -> None:
    rows = {(row["dataset"], row["target"]): row for row in exports[kind]}
    system, perturbed = rows["odd", "1:30"], rows["odd", "1:word-deletions.minor"]
    assert (system["item"], system["system"], system["perturbation"]) == (
        "1",
        "30",
        "systems",
    )
    assert system["source"] == "=SOURCE(0)" and system["references"] == [AWKWARD[0]]
    assert (perturbed["perturbation"], perturbed["degree"]) == (
        "word-deletions",
        "minor",
    )
    assert int(perturbed["step"]) == 1 and perturbed["references"] == []
    assert not system["degree"]
    wanted = {aspect["aspect"]: aspect for aspect in system["aspects"]}
    assert set(wanted) == {"naturalness", "fluency"}
    fluent = wanted["fluency"]
    assert fluent["source_visible"] and not wanted["naturalness"]["source_visible"]
    assert (fluent["min"], fluent["max"], fluent["step"]) == (1, 5, 1)
    assert fluent["name"] and fluent["definition"] and fluent["labels"] == []
    demo = [row for (dataset, _), row in rows.items() if dataset == "demo-dialogue"]
    assert all(
        [aspect["aspect"] for aspect in row["aspects"]] == ["naturalness"]
        for row in demo
    )


@pytest.mark.slow
def test_a_spreadsheet_is_warned_of_and_nothing_is_changed_for_it(
    exports: dict[str, list[Row]],
) -> None:
    [stated] = exports["csv said"]
    cells = [cell for row in exports["csv"] for cell in row.values()]
    count = sum(str(cell).startswith(("=", "+", "-", "@")) for cell in cells)
    assert count > 10 and f"{count} cells begin like a formula" in stated["said"]
    assert "formula" not in exports["jsonl said"][0]["said"]


@pytest.mark.slow
def test_scores_made_elsewhere_are_the_scores_of_the_study(
    folder: Path, exports: dict[str, list[Row]]
) -> None:
    own_part = study(folder, "back", *(f"mine-{kind}" for kind in FORMATS))
    for kind in FORMATS:
        names = answer(exports[kind], folder / f"scores.{kind}")
        fields = {"engine": "recorded", "files": f"../../scores.{kind}", "rows": names}
        own_part.card("models", f"mine-{kind}", **fields)
        own_part.card("judges", f"mine-{kind}", model=f"mine-{kind}")
    own_part.write()
    sets = ("systems", "word-deletions.minor")
    models = [
        f"results/back/scores/{dataset}/mine-{kind}"
        for dataset, kind in product(("odd", "demo-dialogue"), FORMATS)
    ]
    done = own_part.snakemake("--", *models)
    assert done.returncode == 0, done.stdout
    count = 0
    for path in (
        folder / model / f"{name}/{Path(model).name}.parquet"
        for model, name in product(models, sets)
    ):
        dataset, name = path.parts[-4], path.parts[-2]
        target_file = folder / f"results/back/targets/{dataset}/{name}.parquet"
        texts = {row["target"]: row for row in pq.read_table(target_file).to_pylist()}
        for row in pq.read_table(path).to_pylist():
            assert row["value"] == scored(texts[row["target"]], row["aspect"])
            count += 1
    wanted = [
        row for row in exports["jsonl"] if row["degree"] == "minor" or not row["step"]
    ]
    systems = [row for row in wanted if row["perturbation"] != "original"]
    assert count == 3 * sum(len(row["aspects"]) for row in systems)
    for log in folder.glob("results/back/logs/ask/*/mine-*.log"):
        assert "recorded rows" not in log.read_text("utf-8"), log


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    def write(body: Body) -> Said:
        prompt = body["messages"][0]["content"]
        text = text_in(prompt).split("\n\nAnswer with")[0]
        return reply(f"{text.split('An earlier')[0].strip()} Wrong!")

    with serve(write) as result:
        yield result


@pytest.mark.slow
def test_texts_that_a_model_writes_are_asked_for_only_when_reported(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    asked = AskedStudy(tmp_path, endpoint)
    made = {"level": "sentence", "method": "llm", "model": "loop", "form": "wrong-fact"}
    asked.card("perturbations", "lie", name="A lie", **made)
    asked.write(perturbations=["lie"], methods=["discernment"])
    export = ("-m", "judgescope", "export", "study.yaml", "targets", "all.jsonl")
    done = running.run(*export, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert endpoint.asked == [] and len(read(tmp_path / "all.jsonl")) == 24
    assert (
        "omitted, because a model writes them: lie.single of demo-dialogue"
        in done.stdout
    )
    done = running.run(*export, "--made", "--force", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert len(endpoint.asked) == 24  # texts, and no judgment of them
    lies = [row for row in read(tmp_path / "all.jsonl") if row["perturbation"] == "lie"]
    assert len(lies) == 24 and all("Wrong!" in row["text"] for row in lies)


@pytest.mark.heavy
def test_the_direction_of_a_scale_is_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    marks = {"min": 1, "max": 6, "step": 1, "best": "min"}
    own_part = study(tmp_path, "out")
    own_part.change(
        "datasets", "demo-dialogue", aspects={"naturalness": marks, "fluency": FIVE}
    )
    plan = own_part.plan(datasets=["demo-dialogue"])
    aspects = aspects_of(plan, "demo-dialogue")
    assert {name: result["best"] for name, result in aspects.items()} == {
        "naturalness": "min",
        "fluency": "max",
    }
    columns = SCHEMA.field("aspects").type.value_type
    assert {field.name for field in columns} == {*aspects["fluency"]}


def test_a_file_that_exists_is_overwritten_only_with_force(tmp_path: Path) -> None:
    file = tmp_path / "there.parquet"
    file.touch()
    for words in (["export", "s.yaml", "targets", file], ["replies", "dump", file]):
        args = command_line().parse_args([*map(str, words)])
        with pytest.raises(UserError, match="overwrite the file with --force"):
            args.act(args)
    check_new(file, [".parquet"], force=True)


def test_a_file_that_cannot_be_written_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not write"):
        check_output(tmp_path / "targets.xlsx", WRITERS)
    with pytest.raises(UserError, match="folder not found"):
        check_output(tmp_path / "nowhere" / "targets.csv", WRITERS)


ROWS: list[Row] = [
    {"set": "d", "to": "a:x", "out": "The first  text.", "s": 1},
    {"set": "e", "to": "a:x", "out": "Of another dataset.", "s": 9},
    {"set": "d", "to": "a:typos.minor", "out": "Teh second txt.", "s": 2},
    {"set": "d", "to": "gone", "out": "Nobody's text.", "s": 3},
]
SUBJECTS = [
    Subject("a:x", "a", "x", "systems", "The first text.\n"),
    Subject("a:typos.minor", "a", "reference", "typos", "The second text."),
]


def recorded(folder: Path, **names: str) -> RecordedEngine:
    (folder / "rows.jsonl").write_text(
        "\n".join(map(json.dumps, ROWS)), encoding="utf-8"
    )
    rows = {"dataset": "set", "target": "to", "scores": {"*": "s"}, **names}
    model = {"model": "it", "engine": "recorded", "files": "rows.jsonl", "rows": rows}
    return RecordedEngine(
        RecordedModel.model_validate(model),
        EngineInputs(seed=0, dataset="d", folder=folder, data=folder),
    )


def stated(engine: RecordedEngine) -> list[str]:
    answers = engine.answer(
        Judge(judge="it", model="it"), "fluency", RatingScale(min=1, max=5), SUBJECTS
    )
    return [draws[0].text for draws in answers]


def test_rows_are_joined_by_target_and_those_of_other_datasets_left_out(
    tmp_path: Path,
) -> None:
    engine = recorded(tmp_path)
    assert stated(engine) == ["1", "2"]
    path = tmp_path / "rows.jsonl"
    assert engine.notices == [
        f"it: recorded rows that match no text: 1, first {path}, row 4"
    ]


def test_a_score_of_another_text_is_no_score_of_this_one(tmp_path: Path) -> None:
    engine = recorded(tmp_path, text="out")
    assert stated(engine) == ["1", "no_recorded_row"]
    path = tmp_path / "rows.jsonl"
    notice = engine.notices[-1]
    assert "text differs" in notice and notice.endswith(f": 1, first {path}, row 3")


@pytest.mark.parametrize(
    ("model", "rows", "part"),
    [
        ({}, {"target": "t", "item": "i"}, "`target` identifies a text"),
        ({}, {"target": "t", "source": "s"}, "`target` identifies a text"),
        ({}, {"dataset": "d"}, "rows are joined by `target`"),
        ({"dataset": None}, {"target": "t"}, "the judged dataset is missing"),
    ],
)
def test_a_card_that_joins_in_two_ways_or_in_none_is_reported_so(
    model: Row, rows: Row, part: str
) -> None:
    fields: Row = {
        "model": "it",
        "engine": "recorded",
        "dataset": "d",
        "files": "f.csv",
    }
    with pytest.raises(Exception, match=part):
        validate_card(
            "model", fields | model | {"rows": {"scores": {"*": "s"}} | rows}, "it.yaml"
        )
