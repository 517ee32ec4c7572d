"""Examples that a judge learns from: prompts about a sample, and what its teacher answered."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from judgescope.core.errors import UserError
from judgescope.distill.prompts import prompts
from judgescope.distill.replies import taught_reply, taught_score
from judgescope.distill.specs import Student
from judgescope.engines.base import Subject
from judgescope.parsing.locate import LocatedSpan
from judgescope.prompts import as_messages
from judgescope.scoring.ensembles import first_lists

Row = dict[str, Any]
CellAspect = tuple[str, str, str]
"""(dataset, set of texts, aspect)."""
TRAIN, HELD_OUT = "train", "held_out"


class Sampled(NamedTuple):
    """A text and an aspect of the sample, and the example it makes, or why it makes none."""

    row: Row
    example: Row | None
    reason: str

    @property
    def split(self) -> str:
        """Return the split that it belongs to."""
        return HELD_OUT if self.row["held_out"] else TRAIN


def cells_of(rows: Iterable[Row]) -> list[tuple[CellAspect, list[Row]]]:
    """Return the rows of a sample by dataset, set of texts and aspect, in their order."""
    cells: dict[CellAspect, list[Row]] = {}
    for row in rows:
        cells.setdefault((row["dataset"], row["perturbation"], row["aspect"]), []).append(row)
    return sorted(cells.items())


def sampled(
    student: Student,
    rows: Sequence[Row],
    texts: Iterable[Subject],
    scores: pa.Table,
    judgments: pa.Table,
) -> list[Sampled]:
    """Return what the sampled rows of one dataset, set of texts and aspect make.

    `texts` are those of the set; `scores` and `judgments` are the teacher's.
    """
    values = dict(zip(scores["target"].to_pylist(), scores["value"].to_pylist(), strict=True))
    errors = first_lists(judgments)
    wanted = {row["target"] for row in rows}
    subjects = [one for one in texts if one.target in wanted]
    filled = prompts(student, rows[0]["dataset"], rows[0]["aspect"], subjects)
    shown = {one.target: prompt for one, prompt in zip(subjects, filled, strict=True)}
    return [Sampled(row, *_example(row, shown, values, errors)) for row in rows]


def _example(
    row: Row,
    shown: Mapping[str, str],
    values: Mapping[str, float | None],
    errors: Mapping[str, list[LocatedSpan]],
) -> tuple[Row | None, str]:
    target = row["target"]
    if target not in shown:
        return None, "no text could be written"
    if (value := values.get(target)) is None:
        return None, "the teacher has no score"
    if target not in errors:
        return None, "the teacher has no list of errors"
    score = taught_score(value)
    known = {name: row[name] for name in ("dataset", "item", "target", "aspect")}
    reply = taught_reply(errors[target], score)
    return {**known, "score": score, "messages": as_messages(shown[target]), "reply": reply}, ""


def reasons_of(every: Iterable[Sampled]) -> dict[str, int]:
    """Return why no example was made -> how often, by reason."""
    return dict(sorted(Counter(one.reason for one in every if one.example is None).items()))


def examples_in(every: Sequence[Sampled], split: str) -> list[Row]:
    """Return the examples of a split; UserError where it has none."""
    found = [one.example for one in every if one.example is not None and one.split == split]
    if not found:
        why = ", ".join(f"{reason} ({count})" for reason, count in reasons_of(every).items())
        raise UserError(
            f"there is no example to {'train on' if split == TRAIN else 'hold out'}",
            where="the study, key distill",
            got=why,
            todo="look at coverage.csv for what became of the teacher's judgments",
        )
    return found


def counts_of(every: Iterable[Sampled]) -> list[Row]:
    """Return how many examples each dataset, split and aspect has, and how many are missing."""
    made: dict[CellAspect, list[bool]] = {}
    for one in every:
        place = (one.row["dataset"], one.split, one.row["aspect"])
        made.setdefault(place, []).append(one.example is not None)
    return [
        {"dataset": dataset, "split": split, "aspect": aspect}
        | {"n": sum(own), "n_missing": len(own) - sum(own)}
        for (dataset, split, aspect), own in sorted(made.items())
    ]
