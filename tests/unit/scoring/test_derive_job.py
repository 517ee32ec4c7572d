"""The job that makes a cell of an ensemble from files: its labels and its errors."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from judgescope.parsing.text import LocatedSpan
from judgescope.schema.tables import read_table, table_of, tuples_of, write_table
from judgescope.scoring.aggregate import ScoredCell
from judgescope.scoring.ensembles import (
    Listed,
    derive,
    derive_part,
    merge_spans,
    outliers,
)
from judgescope.scoring.specs import (
    CellFiles,
    CellPart,
    DeriveSpec,
    Errors,
    WrittenCell,
)
from members import tables_of

TEXTS = {"t1": "A cat sat on a cat.", "t2": "A dog ran.", "t3": "A cow ate."}
MERGED = "Error 1:\nLocation: cat\nExplanation: merged\nSeverity: 3"
Row = dict[str, Any]


def flaw(start: int, end: int, **changes: Any) -> Row:
    span = {"start": start, "end": end, "location": TEXTS["t1"][start:end]}
    named = {"explanation": "wrong", "severity": 2, "category": None}
    return {**span, **named, "occurrence": None, "match": "exact", **changes}


def member(folder: Path, name: str, *rows: Row) -> CellFiles:
    """Write a member's cell on aspect x; a row has a target, a value and errors."""
    judgments, scores = tables_of(rows)
    means = [{**row, "estimator": "mean"} for row in scores.to_pylist()]
    files = CellFiles(
        dataset="d",
        perturbation="systems",
        judge=name,
        judgments=str(folder / f"{name}.judgments"),
        scores=str(folder / f"{name}.scores"),
    )
    write_table("judgments", judgments, files.judgments)
    write_table("scores", table_of("scores", means), files.scores)
    return files


def merged(folder: Path, *answers: tuple[str, str, str]) -> str:
    """Write a supervisor's replies: (ensemble, target, text)."""
    rows = []
    for number, (judge, target, text) in enumerate(answers):
        row = {"judge": judge, "kind": "merge", "target": target, "aspect": "x"}
        reply = {"text": text, "finish": "stop", "status": "ok"}
        rows.append({**row, "key": f"{number}", "draw": 0, **reply})
    path = folder / "merged"
    write_table("answers", table_of("answers", rows), path)
    return str(path)


def derived(folder: Path, *members: CellFiles, **fields: Any) -> ScoredCell:
    """Return the judgments and scores that the job writes for ensemble `jury`."""
    cell = WrittenCell(
        dataset="d",
        perturbation="systems",
        judge="jury",
        judgments=str(folder / "jury.judgments"),
        scores=str(folder / "jury.scores"),
    )
    derive(
        DeriveSpec(
            code="0",
            versions={},
            cell=cell,
            pairs=[("x", None)],
            min_annotators=2,
            members=list(members),
            judged=[],
            **fields,
        )
    )
    judgments = read_table("judgments", cell.judgments)
    return judgments, read_table("scores", cell.scores)


def test_members_vote_on_the_labels_of_the_aspect(tmp_path: Path) -> None:
    """Two of three say `yes`; the mean of their positions would be 2/3."""
    values = {"ann": 1.0, "ben": 0.0, "cat": 1.0}
    files = []
    for name, value in values.items():
        files.append(member(tmp_path, name, {"target": "t1", "value": value}))
    labels = {"x": ["no", "yes"], "other": ["bad", "good"]}
    judgments, scores = derived(tmp_path, *files, labels=labels)
    names = ["judge", "target", "value", "label", "status", "rule"]
    rule = "majority of members"
    assert tuples_of(judgments, names) == [("jury", "t1", 1.0, "yes", "ok", rule)]
    assert tuples_of(scores, ["value", "estimator", "n_draws"]) == [(1.0, rule, 3)]


def test_a_supervisor_s_reply_is_that_to_this_ensemble(tmp_path: Path) -> None:
    """Another ensemble's reply about the same text is another list of errors."""
    rows: list[Row] = [
        {"target": "t1", "value": 3.0, "spans": [flaw(2, 5)]},
        {"target": "t2", "value": 5.0, "spans": []},
        {"target": "t3", "value": 3.0, "spans": [flaw(2, 5)]},
    ]
    files = [member(tmp_path, name, *rows) for name in ("ann", "ben")]
    targets = []
    for target, text in TEXTS.items():
        content = {"dataset": "d", "target": target, "item": target, "status": "ok"}
        targets.append({**content, "text": text})
    write_table("targets", table_of("targets", targets), tmp_path / "targets")
    answers = merged(
        tmp_path,
        ("other", "t1", MERGED.replace("cat", "sat")),
        ("jury", "t1", MERGED),
        ("jury", "t3", "I cannot say."),
    )
    errors = Errors(targets=str(tmp_path / "targets"), merged=answers)
    judgments, scores = derived(tmp_path, *files, errors=errors)
    [first, second, third] = judgments.to_pylist()
    [span] = first["spans"]
    assert (span["location"], span["start"], span["severity"]) == ("cat", 2, 3)
    assert first["rule"].startswith("mean of members; errors merged by supervisor: ")
    assert second["spans"] == []
    assert second["rule"] == "mean of members; no member lists an error"
    assert third["spans"] is None
    assert third["rule"].startswith("mean of members; no errors: supervisor unparsed")
    assert scores["value"].to_pylist() == [3.0, 5.0, 3.0]


def test_a_text_between_others_that_a_member_was_not_given_is_left_out() -> None:
    ann = tables_of([{"target": target, "value": 4.0} for target in TEXTS])
    ben = tables_of([{"target": target, "value": 2.0} for target in ("t1", "t3")])
    part = CellPart("d", "systems", "jury", "x")
    listed = {"t3": Listed([], "nothing")}
    judgments, scores = derive_part(
        [ann, ben], part=part, min_annotators=2, errors=listed
    )
    assert tuples_of(scores, ["target", "value"]) == [("t1", 3.0), ("t3", 3.0)]
    assert tuples_of(judgments, ["target", "rule", "spans"]) == [
        ("t1", "mean of members; no errors: too few members with a score", None),
        ("t3", "mean of members; nothing", []),
    ]


def spans(*cells: Row) -> list[Any]:
    return [LocatedSpan(**cell) for cell in cells]


@pytest.mark.parametrize(("last", "is_outlier"), [("5", False), ("5.25", True)])
def test_an_outlier_is_a_point_and_two_deviations_away(
    last: str, is_outlier: bool
) -> None:
    """Of four 4 and 5 the mean is 4.2, 0.8 and two deviations from 5. Of four 4 and
    5.25 it is 4.25, a point and two deviations from 5.25, exactly.
    """
    scores = [Fraction(4)] * 4 + [Fraction(last)]
    assert outliers(scores) == [False] * 4 + [is_outlier]


def test_the_occurrence_of_a_union_is_counted_in_the_text() -> None:
    """The union of both is the second `cat`, which neither error covers exactly."""
    first, second = flaw(15, 17), flaw(15, 18, occurrence=None)
    merged_spans = merge_spans([spans(first), spans(second)], TEXTS["t1"])
    [error] = merged_spans.errors
    assert (error.location, error.start, error.end) == ("cat", 15, 18)
    assert error.occurrence == 2
