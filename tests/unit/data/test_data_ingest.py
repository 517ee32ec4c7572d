import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from data_samples import REPOSITORY, jsonl, summeval_row
from judgescope.core.errors import UserError
from judgescope.engines.subjects import _own_reference
from judgescope.plan.jobs import read_spec
from judgescope.schema.tables import read_table

pytestmark = pytest.mark.heavy
CARD = {
    "dataset": "mine",
    "name": "Mine",
    "task": "summarization",
    "aspects": {"fluency": {"min": 1, "max": 5, "step": 1}},
    "format": "summeval_jsonl",
    "files": "{data}/x.jsonl",
    "licence": "a licence",
    "citation": "a citation",
    "select": {"original": "most_sentences"},
}
TEXTS = ("items", "systems", "original")
RATINGS = ("ratings", "spans")


def run(job: str, spec: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, REPOSITORY / "scripts" / "job.py", job, "--spec", "-"],
        input=json.dumps(spec),
        capture_output=True,
        text=True,
        check=False,
    )


def ingest(
    folder: Path,
    *,
    dataset: dict[str, Any] = CARD,
    original: bool = True,
    perturbs: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Read the texts of a dataset, and then its ratings."""
    out = folder / "out"
    spec = {
        "code": "",
        "versions": {},
        "dataset": dataset,
        "format": "judgescope.data.summeval:FORMAT",
        "folder": str(folder),
        "data": str(folder),
        "seed": 1,
        "part": "Article",
    }
    texts: dict[str, Any] = {name: str(out / f"{name}.parquet") for name in TEXTS}
    texts |= {} if original else {"original": None}
    ratings = {name: str(out / f"{name}.parquet") for name in RATINGS}
    texts["names"] = str(out / "names.json")
    ratings["report"] = str(out / "report.json")
    done = run("ingest", {**spec, "output": texts})
    if done.returncode:
        return done
    counted = {"original": original, "perturbs": perturbs}
    return run("read_ratings", {**spec, "output": ratings, **counted})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pairs = [("A", "M1"), ("b", "M1"), ("b", "M2")]
    jsonl(tmp_path / "x.jsonl", [summeval_row(*pair) for pair in pairs])
    return tmp_path


def rows(folder: Path, name: str, table: str | None = None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_table(
        table or name, folder / "out" / f"{name}.parquet"
    ).to_pylist()
    return rows


def test_all_tables_and_the_report_are_written(folder: Path) -> None:
    done = ingest(folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    items = rows(folder, "items")
    assert [item["meta"] for item in items] == [
        '{"id":"A","original_reference":1}',
        '{"id":"b","original_reference":1}',
    ]
    systems = rows(folder, "systems", "targets")
    assert [system["target"] for system in systems] == ["a:m1", "b:m1", "b:m2"]
    assert systems[0] == {
        "dataset": "mine",
        "target": "a:m1",
        "item": "a",
        "system": "m1",
        "perturbation": "systems",
        "degree": None,
        "step": 0,
        "parent": None,
        "text": "What M1 wrote of A.",
        "status": "ok",
        "length": None,
        "edits": [],
    }
    original = rows(folder, "original", "targets")
    assert [
        (row["target"], row["system"], row["perturbation"]) for row in original
    ] == [
        ("a:original", "reference", "original"),
        ("b:original", "reference", "original"),
    ]
    assert original[0]["text"] == items[0]["references"][1]
    assert rows(folder, "ratings")[0] == {
        "dataset": "mine",
        "target": "a:m1",
        "target_b": None,
        "aspect": "fluency",
        "rater": "expert-1",
        "value": 5.0,
    }
    text = (folder / "out" / "report.json").read_text(encoding="utf-8")
    report = json.loads(text)
    assert text == json.dumps(report, sort_keys=True, separators=(",", ":")) + "\n"
    assert str(folder) not in text
    numbers = {key: report[key] for key in ("items", "targets", "originals", "ratings")}
    assert numbers == {"items": 2, "targets": 3, "originals": 2, "ratings": 6}
    assert report["raters"] == ["expert-1", "expert-2"]
    assert report["systems"] == {"m1": "M1", "m2": "M2"}
    assert report["ratings_kind"] == "people"
    names = json.loads((folder / "out" / "names.json").read_text(encoding="utf-8"))
    assert names == {"systems": report["systems"]}
    assert list(report["sha256"]) == ["data"] and report["problems"] == []


def test_the_same_data_gives_the_same_bytes(folder: Path) -> None:
    written = []
    for _ in range(2):
        assert ingest(folder).returncode == 0
        written.append(
            {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
        )
    assert written[0] == written[1] and len(written[0]) == 7


def test_originals_are_written_only_where_wanted(folder: Path) -> None:
    assert ingest(folder, original=False).returncode == 0
    assert not (folder / "out" / "original.parquet").exists()
    assert rows(folder, "items")[0]["meta"] == '{"id":"A"}'


def changed(folder: Path, **keys: Any) -> tuple[bool, bool]:
    """Return whether the hash of the texts changes with the file or the card, and what
    is read otherwise.
    """
    before = json.loads((folder / "out" / "report.json").read_text())
    assert ingest(folder, dataset=CARD | keys).returncode == 0
    after = json.loads((folder / "out" / "report.json").read_text())
    return before["texts"] != after["texts"], before["how"] != after["how"]


def test_the_hash_of_the_texts_ignores_ratings_and_what_pages_show(
    folder: Path,
) -> None:
    assert ingest(folder).returncode == 0
    pages = {"name": "Ours", "licence": "another", "citation": "another"}
    kept = {key: value for key, value in CARD.items() if key not in pages}
    assert ingest(folder, dataset=kept).returncode == 0
    assert changed(folder, raters="crowd") == (False, True)
    path = folder / "x.jsonl"
    text = path.read_text(encoding="utf-8")
    rated = re.sub(r'"fluency": \d', '"fluency": 2', text)
    assert rated != text
    path.write_text(rated, encoding="utf-8")
    assert changed(folder, raters="crowd") == (False, False)
    for old, new in (('"decoded": "', '"decoded": "Well, '), ('"M2"', '"M3"')):
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        assert changed(folder, raters="crowd") == (True, False)


def test_items_without_an_original_are_noted_if_the_study_perturbs(
    folder: Path,
) -> None:
    def problems(card: dict[str, Any], *, perturbs: bool = True) -> list[str]:
        assert ingest(folder, dataset=CARD | card, perturbs=perturbs).returncode == 0
        return list(
            json.loads((folder / "out" / "report.json").read_text())["problems"]
        )

    (folder / "x.csv").write_text("src,out,fluency\nA,t,1\n")
    columns = {"source": "src", "text": "out"}
    table = {"format": "table", "files": "{data}/x.csv", "columns": columns}
    assert problems(table, perturbs=False) == []
    [warning] = problems(table)
    assert warning.startswith("warning: no text can be perturbed")
    assert "`references: {model: …}`" in warning and "`select.original`" in warning
    assert rows(folder, "original", "targets") == []
    by_system = {"select": {"original": "system", "original_system": "M1"}}
    for lacking, shown in (
        (0, ""),
        (2, "2 (i0, i1)"),
        (6, "6 (i0, i1, i2, i3, i4, …)"),
    ):
        systems = ["M2"] * lacking + ["M1"] * (7 - lacking)
        jsonl(
            folder / "x.jsonl",
            [summeval_row(f"i{k}", each) for k, each in enumerate(systems)],
        )
        notices = (
            [f"items without an original, which are not perturbed: {shown}"]
            if shown
            else []
        )
        assert problems(by_system) == notices


def test_items_that_share_a_source_are_noted(folder: Path) -> None:
    (folder / "x.csv").write_text("id,src,out,fluency\n1,A,t,1\n2,A,u,2\n3,B,v,3\n")
    columns = {"item": "id", "source": "src", "text": "out"}
    card = CARD | {"format": "table", "files": "{data}/x.csv", "columns": columns}
    assert (
        ingest(folder, dataset=card | {"select": {"original": "none"}}).returncode == 0
    )
    [problem] = json.loads((folder / "out" / "report.json").read_text())["problems"]
    assert problem.startswith(
        "3 items have only 2 different sources, but intervals treat items as"
    )


def test_a_fault_ends_without_a_traceback_and_without_tables(folder: Path) -> None:
    jsonl(folder / "x.jsonl", [summeval_row("a", "M1", decoded="")])
    done = ingest(folder)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.startswith("a text is empty") and "row 1" in done.stderr
    assert not (folder / "out").exists()


def test_another_file_than_the_card_describes_is_refused(folder: Path) -> None:
    done = ingest(folder, dataset=CARD | {"sha256": "0" * 64})
    assert done.returncode == 1 and "mine.yaml, key sha256.data" in done.stderr


def test_a_spec_comes_from_standard_input_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text('{"a": 2}')
    assert read_spec("-", io.StringIO('{"a": 1}')) == {"a": 1}
    assert read_spec(str(tmp_path / "spec.json"), io.StringIO()) == {"a": 2}


@pytest.mark.parametrize(
    ("text", "what"), [("{", "cannot be read"), ("[]", "a JSON object")]
)
def test_what_is_no_spec_is_refused(text: str, what: str) -> None:
    with pytest.raises(UserError, match=what):
        read_spec("-", io.StringIO(text))


@pytest.mark.parametrize(("texts", "declared"), [(5, False), (2, True)])
def test_texts_of_a_reference_system_are_their_references(
    tmp_path: Path, texts: int, declared: bool
) -> None:
    """A system that wrote a reference's words now and then is compared with it; this
    one is it.
    """
    names = [f"i{at}" for at in range(texts)]
    human = [
        summeval_row(name, "human", decoded=f" Second of {name}. It has two sentences.")
        for name in names
    ]
    copied = {"i0": "First of i0."}
    other = [
        summeval_row(name, "m", **({"decoded": copied[name]} if name in copied else {}))
        for name in names
    ]
    jsonl(tmp_path / "x.jsonl", [*human, *other])
    card = {**CARD, **({"reference_systems": ["human"]} if declared else {})}
    done = ingest(tmp_path, dataset=card)
    assert done.returncode == 0, done.stderr
    parents = {
        row["target"]: row["parent"] for row in rows(tmp_path, "systems", "targets")
    }
    assert parents == {
        f"{name}:{system}": f"{name}:reference.1" if system == "human" else None
        for name in names
        for system in ("human", "m")
    }
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert any("human" in problem for problem in report["problems"]) is not declared
    items = {row["item"]: row for row in rows(tmp_path, "items")}
    by_target = {
        row["target"]: _own_reference(row, items[row["item"]])
        for row in rows(tmp_path, "systems", "targets")
    }
    assert {by_target[f"{name}:human"] for name in names} == {1} and by_target[
        "i0:m"
    ] is None
