"""Aspects in one file of a cell do not mix: each is read, aggregated and derived by
itself.
"""

import json
from math import log
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import asdict, replace

from cell_files import pairs
from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.schema.tables import (
    read_part,
    read_table,
    table_of,
    write_parts,
    write_table,
)
from judgescope.scoring.cell import score
from judgescope.scoring.ensembles import derive
from judgescope.scoring.specs import (
    CellFiles,
    DeriveSpec,
    Errors,
    ReplyReading,
    ScoredCells,
    ScoreSpec,
    Unread,
    WrittenCell,
)

THREE, FIVE = Scale(1, 3, 1), Scale(1, 5, 1)
POINTS = Scale(1, 5, 1, ("Unacceptable", "Poor", "Fair", "Good", "Excellent"))
SURE = [[("4", log(0.5)), ("5", log(0.5))]]
TEXT = "It is the the cat."
FOUND = (
    'Error 1:\nLocation: "the the"\nExplanation: twice\nSeverity: 2\n'
    "Overall score: Fair\nExplanation of the score: flawed"
)
COMMON: dict[str, Any] = {"code": "0", "versions": {}}


def part(aspect: str, criterion: str | None, *replies: dict[str, Any]) -> Any:
    about = {"judge": "j", "kind": "rate", "aspect": aspect, "criterion": criterion}
    rows = [
        {
            "target": "t",
            "draw": at,
            "finish": "stop",
            "status": "ok",
            "key": f"{at}",
            **about,
            **reply,
        }
        for at, reply in enumerate(replies)
    ]
    return table_of("answers", rows)


def reading(
    scale: Scale | None, *aspects: tuple[str, str | None], **keys: Any
) -> ReplyReading:
    fields = {"parser": "score", "estimator": "mean"} | keys
    fields["parser"] = PARSERS.target(fields["parser"])
    return ReplyReading(pairs=list(aspects), scale=scale, **fields)


def cell_files(folder: Path, judge: str) -> CellFiles:
    name = f"systems/{judge}.parquet"
    files = {kind: str(folder / kind / name) for kind in ("judgments", "scores")}
    return CellFiles(dataset="d", perturbation="systems", judge=judge, **files)


def cell(judge: str, *readings: ReplyReading) -> list[ScoredCells]:
    sets = ["systems"]
    return [
        ScoredCells(judge=judge, perturbations=sets, readings=[*readings], located=True)
    ]


def into(folder: Path) -> dict[str, Any]:
    return {kind: str(folder / kind / "{}.parquet") for kind in ("judgments", "scores")}


@pytest.fixture
def spec(tmp_path: Path) -> ScoreSpec:
    """A cell on five aspects, each read in another way, of replies with the same
    words.
    """
    four = {"text": "4"}
    replies = tmp_path / "replies" / "systems" / "j.parquet"
    parts = [
        part("clarity", None, four, four),
        part("clarity", "terse", four, {"text": "2"}),
        part("errors", None, {"text": FOUND}, {"text": "Overall score: 4"}),
        part("fluency", None, four, {"text": "9"}),
        part("weighed", None, four | {"logprobs": SURE}),
        part("weighed", "terse", four),
    ]
    write_parts("answers", parts, replies)
    targets = [
        {"dataset": "d", "target": "t", "item": "i", "text": TEXT, "status": "ok"}
    ]
    write_table(
        "targets",
        table_of("targets", targets),
        tmp_path / "targets" / "systems.parquet",
    )
    weighed = {"estimator": "logprob_mean", "samples": True}
    return ScoreSpec(
        dataset="d",
        cells=cell(
            "j",
            reading(FIVE, ("weighed", None), ("weighed", "terse"), **weighed),
            reading(FIVE, ("fluency", None), ("clarity", "terse")),
            reading(THREE, ("clarity", None)),
            reading(POINTS, ("errors", None), parser="annotation"),
        ),
        replies=str(tmp_path / "replies" / "{}.parquet"),
        replied=str(tmp_path / "replies.json"),
        targets={"systems": str(tmp_path / "targets" / "systems.parquet")},
        hashes=str(tmp_path / "hashes"),
        **into(tmp_path),
        **COMMON,
    )


def values(
    path: str,
) -> dict[tuple[str | None, str | None], tuple[float | None, int, str]]:
    rows = read_table("scores", path).to_pylist()
    return {
        (row["aspect"], row["criterion"]): (
            row["value"],
            row["n_missing"],
            row["estimator"],
        )
        for row in rows
    }


def test_each_aspect_is_read_on_its_scale_and_aggregated_by_its_rule(
    spec: ScoreSpec, tmp_path: Path
) -> None:
    score(spec)
    files = cell_files(tmp_path, "j")
    assert values(files.scores) == {
        ("clarity", None): (None, 2, "mean"),
        ("clarity", "terse"): (3.0, 0, "mean"),
        ("errors", None): (3.5, 0, "mean"),
        ("fluency", None): (4.0, 1, "mean"),
        ("weighed", None): (pytest.approx(4.5), 0, "logprob_mean"),
        ("weighed", "terse"): (4.0, 0, "mean"),
    }
    judged = read_table("judgments", files.judgments)
    assert pairs(judged) == sorted(
        pairs(judged), key=lambda pair: (pair[0], pair[1] or "")
    )
    alike = {row["status"] for row in judged.to_pylist() if row["aspect"] == "clarity"}
    assert alike == {"out_of_range", "ok"}
    spans = read_part("judgments", files.judgments, "errors", None)["spans"].to_pylist()
    assert [span["start"] for span in spans[0]] == [6]
    hashes = json.loads(Path(spec.hashes).read_text(encoding="utf-8"))
    assert [*hashes] == ["judgments/systems/j", "scores/systems/j"]


def test_a_separate_part_is_what_it_is_in_a_cell(
    spec: ScoreSpec, tmp_path: Path
) -> None:
    score(spec)
    folder = tmp_path / "alone"
    for reading in spec.cells[0].readings:
        for pair in reading.pairs:
            score(
                replace(
                    spec,
                    cells=cell("j", replace(reading, pairs=[pair])),
                    **into(folder),
                )
            )
            for kind in ("judgments", "scores"):
                complete, own_part = (
                    getattr(cell_files(each, "j"), kind) for each in (tmp_path, folder)
                )
                assert read_part(kind, complete, *pair).equals(
                    read_table(kind, own_part)
                ), pair


def test_a_draw_without_a_value_counts_as_the_policy_of_the_job_says(
    spec: ScoreSpec, tmp_path: Path
) -> None:
    """Of clarity both draws are out of range, of fluency one of two, on 1 to 5."""
    score(replace(spec, unread=Unread(policy="worst", seed=1)))
    scores = values(cell_files(tmp_path, "j").scores)
    assert scores["clarity", None] == (1.0, 2, "mean")
    assert scores["fluency", None] == (2.5, 1, "mean")


def test_what_goes_wrong_names_the_aspect(spec: ScoreSpec) -> None:
    broken = replace(spec, cells=cell("j", reading(None, ("clarity", "terse"))))
    with pytest.raises(ValueError, match="needs a scale") as error:
        score(broken)
    assert error.value.__notes__ == ["d/systems/j, aspect clarity.terse"]


def test_an_ensemble_takes_each_aspect_from_the_same_of_its_members(
    spec: ScoreSpec, tmp_path: Path
) -> None:
    score(spec)
    other = (
        part("fluency", None, {"text": "2"}),
        part("clarity", "terse", {"text": "5"}),
    )
    write_parts("answers", other, tmp_path / "replies" / "systems" / "k.parquet")
    pairs_of_both: list[tuple[str, str | None]] = [
        ("clarity", "terse"),
        ("fluency", None),
    ]
    score(replace(spec, cells=cell("k", reading(FIVE, *pairs_of_both))))
    both = [cell_files(tmp_path, name) for name in "jk"]
    made = DeriveSpec(
        cell=WrittenCell(**asdict(cell_files(tmp_path, "both"))),
        pairs=pairs_of_both,
        min_annotators=2,
        members=both,
        judged=[],
        **COMMON,
    )
    derive(made)
    assert {
        pair: value for pair, (value, _, _) in values(made.cell.scores).items()
    } == {
        ("clarity", "terse"): 4.0,
        ("fluency", None): 3.0,
    }
    lists = Errors(targets=spec.targets["systems"])
    listed = replace(
        made, pairs=[("errors", None)], members=[both[0]] * 2, errors=lists
    )
    derive(listed)
    [row] = read_table("judgments", made.cell.judgments).to_pylist()
    assert (row["aspect"], [span["start"] for span in row["spans"]]) == ("errors", [6])


@pytest.mark.parametrize(
    "criteria", [(None, None), (None, "terse"), ("terse", "loose")]
)
def test_a_file_that_mixes_aspects_is_not_read_in_parts(
    tmp_path: Path, criteria: tuple[str | None, str | None]
) -> None:
    """What lies in one row group would else be passed over in silence."""
    aspects = (
        ("clarity", "fluency") if criteria == (None, None) else ("clarity", "clarity")
    )
    both = [
        part(*about, {"text": "4"}) for about in zip(aspects, criteria, strict=True)
    ]
    write_table(
        "answers", pa.concat_tables(both).combine_chunks(), tmp_path / "mixed.parquet"
    )
    with pytest.raises(ValueError, match="several values"):
        read_part("answers", tmp_path / "mixed.parquet", "clarity", None)
