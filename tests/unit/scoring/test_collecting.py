"""The tables of a dataset, joined from the files of its cells."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from judgescope.core.cells import pack
from judgescope.core.names import ASKED_AGAIN, BATCH, SYSTEMS
from judgescope.core.paths import Paths
from judgescope.schema.tables import read_table, table_of, write_parts, write_table
from judgescope.scoring.collecting import collect
from judgescope.scoring.specs import CollectedFiles, CollectSpec

TYPOS = "typos.single"
TABLES = (
    "scores",
    "draws",
    "rationales",
    "marked",
    "confidences",
    "statuses",
    "bought",
)
PROVENANCE = {"engine": "openai", "model": "m-1", "fingerprint": "fp"}
Row = dict[str, Any]


def judged(judge: str, target: str, *, draw: int = 0, **more: Any) -> Row:
    """Return a judgment of a text's aspect `clear`, read as 4."""
    row: Row = {"judge": judge, "kind": "rate", "target": target, "aspect": "clear"}
    row |= {"draw": draw, "status": "ok", "rule": "labelled", "value": 4.0}
    return row | more


def answered(judge: str, target: str, key: str, **more: Any) -> Row:
    """Return the reply to a request with this key."""
    usage = {"prompt": 7, "completion": 2, "reasoning": 0, "cached": 0}
    row: Row = {"judge": judge, "kind": "rate", "target": target, "aspect": "clear"}
    row |= {"draw": 0, "key": key, "text": "4", "status": "ok", "usage": usage}
    return {**row, "provenance": PROVENANCE, **more}


class Cells:
    """The files of a dataset's cells, of judge `it`, asked, and `len`, computed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.models = {"it": "m", "len": "lexical"}
        self.keys: list[tuple[str, str, str]] = []

    def write(self, cell: str, judge: str, **tables: list[Row]) -> None:
        """Write judgments, and replies if there are any; scores follow from them."""
        aspects = dict[str, None]()
        scores = []
        for row in tables["judgments"]:
            criterion = row.get("criterion")
            aspects[f"clear.{criterion}" if criterion else "clear"] = None
            score: Row = {"dataset": "d", "perturbation": cell, "judge": judge}
            score |= {"aspect": "clear", "criterion": criterion, "n_draws": 1}
            scores.append({**score, "target": row["target"], "value": row["value"]})
        self.keys += [(cell, judge, aspect) for aspect in aspects]
        files = {"judgments": "judgments", "replies": "answers", "scores": "scores"}
        for kind, rows in {**tables, "scores": scores}.items():
            path = self.path(kind, cell, judge)
            write_parts(files[kind], [table_of(files[kind], rows)], path)

    def path(self, kind: str, cell: str, judge: str) -> str:
        results = Paths(str(self.folder))
        return results.cell(kind, "d", self.models[judge], cell, judge)

    def collect(self, **fields: Any) -> dict[str, list[Row]]:
        """Return the rows of the tables of all cells."""
        out = {name: str(self.folder / f"{name}.parquet") for name in TABLES}
        fields = {"asked": ["it"], "replied": ["it"], "made": {}, **fields}
        for name in ("explained", "annotators", "repeated", "confident"):
            fields.setdefault(name, [])
        spec = CollectSpec(
            code="",
            versions={},
            dataset="d",
            cells=pack(self.keys),
            models=self.models,
            judged=[],
            results=str(self.folder),
            output=CollectedFiles(cells=str(self.folder / "hash"), **out),
            **fields,
        )
        collect(spec)
        return {name: read_table(name, path).to_pylist() for name, path in out.items()}


@pytest.fixture
def cells(tmp_path: Path) -> Cells:
    """Texts of systems that both judges judged, and perturbed ones that `it` did."""
    cells = Cells(tmp_path)
    again = {"provenance": PROVENANCE | {ASKED_AGAIN: "empty"}}
    cells.write(
        SYSTEMS,
        "it",
        judgments=[
            judged("it", "a", rationale="Short."),
            judged("it", "b", status="unparsed", rule="nothing", value=3.0),
            judged("it", "a", criterion="terse", value=2.0),
        ],
        replies=[
            answered("it", "a", "aa", cut_parts=["source"]),
            answered("it", "b", "bb", **again),
            answered("it", "a", "cc", criterion="terse"),
        ],
    )
    batched = {"provenance": PROVENANCE | {"engine": BATCH, "fingerprint": None}}
    cells.write(
        TYPOS,
        "it",
        judgments=[judged("it", "a:t", value=1.0)],
        replies=[answered("it", "a:t", "dd", **batched)],
    )
    cells.write(SYSTEMS, "len", judgments=[judged("len", "a", value=8.0)])
    return cells


def counted(row: Row) -> tuple[Any, ...]:
    values = row["perturbation"], row["judge"], row["aspect"]
    return (*values, row["status"], row["rule"], row["n"])


def test_statuses_are_counted_by_cell_aspect_and_rule(cells: Cells) -> None:
    statuses = cells.collect()["statuses"]
    assert sorted(map(counted, statuses)) == [
        ("systems", "it", "clear", "ok", "labelled", 1),
        ("systems", "it", "clear", "unparsed", "nothing", 1),
        ("systems", "it", "clear.terse", "ok", "labelled", 1),
        ("systems", "len", "clear", "ok", "labelled", 1),
        (TYPOS, "it", "clear", "ok", "labelled", 1),
    ]
    assert {row["dataset"] for row in statuses} == {"d"}


def test_facts_of_an_aspect_are_in_its_first_row_alone(cells: Cells) -> None:
    facts = ("served", "cut", "cut_parts", "n_shown", "n_asked_again")
    of_cell = {}
    for row in cells.collect()["statuses"]:
        values = row["perturbation"], row["judge"], row["aspect"], row["status"]
        of_cell[values] = tuple(row[name] for name in facts)
    assert of_cell[SYSTEMS, "it", "clear", "ok"] == (["m-1 fp"], 1, ["source"], 2, 1)
    assert of_cell[SYSTEMS, "it", "clear", "unparsed"] == (None,) * 5
    terse = of_cell[SYSTEMS, "it", "clear.terse", "ok"]
    assert terse == (["m-1 fp"], None, None, None, None)
    assert of_cell[TYPOS, "it", "clear", "ok"][0] == ["m-1"]
    assert of_cell[SYSTEMS, "len", "clear", "ok"] == (None,) * 5  # nobody was asked


def test_recorded_replies_say_nothing_of_an_endpoint(cells: Cells) -> None:
    tables = cells.collect(asked=[])
    assert {row["served"] for row in tables["statuses"]} == {None}
    assert {row["n_asked_again"] for row in tables["statuses"]} == {None}
    assert tables["bought"] == []


def test_replies_are_bought_by_judges_then_by_writers(cells: Cells) -> None:
    written = str(cells.folder / "written.parquet")
    write_table("answers", table_of("answers", [answered("w", "t", "ee")]), written)
    rows = cells.collect(made={"typos": [written]})["bought"]
    shown = []
    for row in rows:
        shown.append((row["judge"], row["perturbation"], row["key"], row["batch"]))
    assert shown == [
        ("it", None, "aa", False),
        ("it", None, "bb", False),
        ("it", None, "cc", False),
        ("it", None, "dd", True),
        (None, "typos", "ee", False),
    ]
    assert {(row["prompt"], row["completion"]) for row in rows} == {(7, 2)}


def test_a_reply_of_unknown_origin_was_not_bought_in_a_batch(cells: Cells) -> None:
    written = str(cells.folder / "written.parquet")
    unknown = answered("w", "t", "ee", provenance=None, usage=None)
    write_table("answers", table_of("answers", [unknown]), written)
    [row] = cells.collect(asked=[], made={"typos": [written]})["bought"]
    assert (row["key"], row["batch"], row["prompt"]) == ("ee", False, None)


def test_draws_are_those_of_repeated_judges_with_a_value_if_read(cells: Cells) -> None:
    assert cells.collect()["draws"] == []
    rows = cells.collect(repeated=["it"])["draws"]
    values = {(row["aspect"], row["target"]): row["value"] for row in rows}
    assert values == {
        ("clear", "a"): 4.0,
        ("clear", "b"): None,  # not read, whatever stands there
        ("clear", "a:t"): 1.0,
        ("clear.terse", "a"): 2.0,
    }


def test_rationales_are_those_of_systems_texts(cells: Cells) -> None:
    assert cells.collect()["rationales"] == []
    rows = cells.collect(explained=["it"])["rationales"]
    assert {row["target"] for row in rows} == {"a", "b"}
    texts = {(row["target"], row["aspect"]): row["text"] for row in rows}
    assert texts["a", "clear"] == "Short." and texts["b", "clear"] is None


def test_lists_of_errors_are_those_of_annotators(cells: Cells) -> None:
    assert cells.collect()["marked"] == []
    rows = cells.collect(annotators=["len"])["marked"]
    assert [(row["judge"], row["value"]) for row in rows] == [("len", 8.0)]


def test_confidences_are_those_of_judges_that_have_one(cells: Cells) -> None:
    assert cells.collect()["confidences"] == []
    sure: Row = {"confidence": 0.8, "confidence_source": "stated"}
    cells.write("original", "len", judgments=[judged("len", "a", value=8.0, **sure)])
    rows = cells.collect(confident=["len"])["confidences"]
    sets = {row["perturbation"]: row["confidence"] for row in rows}
    assert sets == {"original": 0.8, "systems": None}


def test_scores_of_all_cells_are_in_a_single_table(cells: Cells) -> None:
    rows = cells.collect()["scores"]
    values = [row["value"] for row in rows]
    assert sorted(values) == [1.0, 2.0, 3.0, 4.0, 8.0]


def test_the_hash_is_over_all_files_of_the_cells(cells: Cells) -> None:
    cells.collect()
    first = (cells.folder / "hash").read_text()
    assert len(first.strip()) == len(hashlib.sha256().hexdigest())
    cells.collect()
    assert (cells.folder / "hash").read_text() == first
    for kind in ("judgments", "replies", "scores"):
        path = Path(cells.path(kind, TYPOS, "it"))
        content = path.read_bytes()
        other = Path(cells.path(kind, SYSTEMS, "it")).read_bytes()
        path.write_bytes(other)
        cells.collect()
        assert (cells.folder / "hash").read_text() != first
        path.write_bytes(content)
