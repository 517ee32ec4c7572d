"""Training examples of a judge: a prompt, and its teacher's judgment as the reply."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
from msgspec.structs import asdict

from judgescope.core.canonical import canonical
from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.files import write_text
from judgescope.core.paths import Paths
from judgescope.distill.sampling import prompts
from judgescope.distill.specs import ExportSpec, Student
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects
from judgescope.parsing.annotation import read_annotation
from judgescope.parsing.judgment import ErrorSpan
from judgescope.parsing.text import LocatedSpan
from judgescope.prompts import as_messages
from judgescope.schema.cards.judges import HUNDREDTHS, MOST_ERRORS, OVERALL
from judgescope.schema.tables import read_part, read_table
from judgescope.scoring.ensembles import first_lists

Error = ErrorSpan | LocatedSpan
NO_ERROR: Final = "No Error"
NOWHERE: Final = "None"
LARGEST: Final = 10_000
"""The largest denominator of a mean: all such fractions differ within nine decimals."""
_ENDS: Final = " *_>|"
_AROUND: Final = (("", ""), ('"', '"'), ("“", "”"), ("«", "»"), ("`", "`"))
_LABEL = re.compile(
    r"(?:location|(?:explanation of the|overall) score|explanation|severity|category)"
    r"(?=[*_]{0,3}\s?[:：])",
    re.IGNORECASE,
)
_ROUND: Final = str.maketrans("[{<>}]", "((()))")


def taught_score(mean: float) -> int:
    """Return (mean - 1) / 4 * 100 to the nearest of 0, 5, ..., 100, halves up.

    mean: an ensemble's score from 1 to 5, rounded to nine decimals; the fraction before
    rounding is restored, so that halves are exact. ValueError for a mean outside this
    range. Source: (Kartáč et al. 2025, section 5).
    """
    if not OVERALL.min <= mean <= OVERALL.max:
        raise ValueError(
            f"the mean {mean} is not from {OVERALL.min:g} to {OVERALL.max:g}"
        )
    exact = Fraction(mean).limit_denominator(LARGEST)
    share = (exact - Fraction(OVERALL.min)) / Fraction(OVERALL.max - OVERALL.min)
    return int(HUNDREDTHS[floor(share * (len(HUNDREDTHS) - 1) + Fraction(1, 2))])


def taught_reply(errors: Sequence[Error], score: int) -> str:
    """Return errors and a score in the reply format of annotators, without categories.

    `read_annotation` reads the same from it, except what the format cannot represent:
    white space becomes single spaces, and marks at the ends of an explanation are
    removed. In texts that contain labels (`Severity:`), JSON or reasoning tags, labels
    are in lower case and brackets round. A place that is a word for nothing (None, N/A)
    is read as no place; an error described as no error is not read as one. An error
    without a severity has no such line. ValueError for more errors than annotators
    list, or a score that is not one of 0, 5, ..., 100.
    """
    if len(errors) > MOST_ERRORS:
        raise ValueError(f"{len(errors)} errors are more than {MOST_ERRORS}")
    if str(score) not in HUNDREDTHS:
        raise ValueError(f"{score} is not a score from 0 to 100 in steps of 5")
    listed = [_entry(number, error) for number, error in enumerate(errors, start=1)]
    return "\n\n".join([*(listed or [NO_ERROR]), f"Overall score: {score}"])


def _entry(number: int, error: Error) -> str:
    lines = [
        f"Error {number}:",
        f"Location: {_location(error.location or '')}",
        f"Explanation: {_explanation(error.explanation)}".rstrip(),
    ]
    severity = [] if error.severity is None else [f"Severity: {error.severity}"]
    return "\n".join(lines + severity)


def _location(text: str) -> str:
    """Return a place so that it is read unchanged: in quotation marks only if
    necessary.
    """
    plain = " ".join(text.split())
    softened = _softened(plain)
    for words in (plain, softened):
        for left, right in _AROUND:
            if _read(f"{left}{words}{right}", "why") == [(words, "why")]:
                return f"{left}{words}{right}"
    return softened or NOWHERE


def _explanation(text: str) -> str:
    plain = " ".join(text.split()).strip(_ENDS)
    return plain if _read("place", plain) == [("place", plain)] else _softened(plain)


def _read(location: str, explanation: str) -> list[tuple[str | None, str]]:
    """Return the errors that the parser reads from the lines of one error."""
    text = f"Error 1:\nLocation: {location}\nExplanation: {explanation}"
    errors = read_annotation(text).judgment.errors
    return [(error.location, error.explanation) for error in errors]


def _softened(text: str) -> str:
    """Return a text without anything that is read as a label, JSON or a reasoning
    tag.
    """
    return _LABEL.sub(lambda label: label[0].lower(), text).translate(_ROUND)


Row = dict[str, Any]
CellAspect = tuple[str, str, str]
"""(dataset, set of texts, aspect)."""
TRAIN, HELD_OUT = "train", "held_out"


class Sampled(NamedTuple):
    """A text and an aspect of the sample, with their example, or the reason for having
    none.
    """

    row: Row
    example: Row | None
    reason: str

    @property
    def split(self) -> str:
        """Return the split that it belongs to."""
        return HELD_OUT if self.row["held_out"] else TRAIN


def cells_of(rows: Iterable[Row]) -> list[tuple[CellAspect, list[Row]]]:
    """Return the rows of a sample by dataset, set of texts and aspect, in their
    order.
    """
    cells: dict[CellAspect, list[Row]] = {}
    for row in rows:
        cells.setdefault(
            (row["dataset"], row["perturbation"], row["aspect"]), []
        ).append(row)
    return sorted(cells.items())


def sampled(
    student: Student,
    rows: Sequence[Row],
    texts: Iterable[Subject],
    scores: pa.Table,
    judgments: pa.Table,
) -> list[Sampled]:
    """Return the outcome of the sampled rows of one dataset, set of texts and aspect.

    `texts` are those of the set; `scores` and `judgments` are the teacher's.
    """
    values = dict(
        zip(scores["target"].to_pylist(), scores["value"].to_pylist(), strict=True)
    )
    errors = first_lists(judgments)
    targets = {row["target"] for row in rows}
    subjects = [text for text in texts if text.target in targets]
    filled = prompts(student, rows[0]["dataset"], rows[0]["aspect"], subjects)
    prompt_of = dict(zip((text.target for text in subjects), filled, strict=True))
    results = []
    for row in rows:
        target = row["target"]
        example, reason = None, ""
        if target not in prompt_of:
            reason = "no text could be written"
        elif (value := values.get(target)) is None:
            reason = "no score by the teacher"
        elif target not in errors:
            reason = "no error list by the teacher"
        else:
            score = taught_score(value)
            example = {
                name: row[name] for name in ("dataset", "item", "target", "aspect")
            } | {
                "score": score,
                "messages": as_messages(prompt_of[target]),
                "reply": taught_reply(errors[target], score),
            }
        results.append(Sampled(row, example, reason))
    return results


def reasons_of(results: Iterable[Sampled]) -> dict[str, int]:
    """Return reason -> the number of rows that have no example for this reason."""
    reasons = Counter(result.reason for result in results if result.example is None)
    return dict(sorted(reasons.items()))


def examples_in(results: Sequence[Sampled], split: str) -> list[Row]:
    """Return the examples of a split; raise UserError if there are none."""
    examples = [
        result.example for result in results if result.example and result.split == split
    ]
    if not examples:
        counts = reasons_of(results).items()
        raise UserError(
            f"there is no example to {'train on' if split == TRAIN else 'hold out'}",
            where="the study, key distill",
            got=", ".join(f"{reason} ({count})" for reason, count in counts),
            todo="see coverage.csv for the status of the teacher's judgments",
        )
    return examples


def counts_of(results: Iterable[Sampled]) -> list[Row]:
    """Return the numbers of examples and of missing ones by dataset, split and
    aspect.
    """
    made: dict[tuple[str, str, str], list[bool]] = {}
    for result in results:
        group = (result.row["dataset"], result.split, result.row["aspect"])
        made.setdefault(group, []).append(result.example is not None)
    return [
        {"dataset": dataset, "split": split, "aspect": aspect}
        | {"n": sum(flags), "n_missing": len(flags) - sum(flags)}
        for (dataset, split, aspect), flags in sorted(made.items())
    ]


COLUMNS = ["dataset", "item", "target", "perturbation", "aspect", "held_out"]


def export_distill(spec: ExportSpec) -> None:
    """Join the sample with the teacher's judgments; write one example per line, and
    counts.
    """
    cells = cells_of(read_table("samples", spec.sample, COLUMNS).to_pylist())
    texts = {name: Subjects(spec.results, name, spec.seed) for (name, *_), _ in cells}
    every = []
    for (dataset, name, aspect), rows in cells:
        scores, judgments = (
            read_part(
                kind,
                Paths(spec.results).cell(kind, dataset, spec.model, name, spec.teacher),
                *split(aspect),
            )
            for kind in ("scores", "judgments")
        )
        every += sampled(
            spec.student, rows, texts[dataset].in_set(name), scores, judgments
        )
    for reason, count in reasons_of(every).items():
        print(f"no example: {reason}: {count:,}")
    for part, path in asdict(spec.examples).items():
        rows = examples_in(every, part)
        print(f"{part}: {len(rows):,} examples")
        write_text(Path(path), "".join(sorted(f"{canonical(row)}\n" for row in rows)))
    write_text(Path(spec.output), canonical({"examples": counts_of(every)}) + "\n")
