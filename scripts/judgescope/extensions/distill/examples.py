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
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects
from judgescope.extensions.distill.sampling import questions_of
from judgescope.extensions.distill.specs import ExportSpec, Student
from judgescope.parsing.annotation import read_annotation
from judgescope.parsing.judgment import ErrorSpan
from judgescope.parsing.text import LocatedSpan
from judgescope.schema.cards.annotations import HUNDREDTHS, MOST_ERRORS, OVERALL
from judgescope.schema.tables import read_part, read_table
from judgescope.scoring.ensembles import first_lists

TaughtError = ErrorSpan | LocatedSpan


class _ReadAsFormat:
    """What the reader of error lists takes for its own format, inside a text."""

    label = re.compile(
        r"(?:location|(?:explanation of the|overall) score|explanation|severity"
        r"|category)(?=[*_]{0,3}\s?[:：])",
        re.IGNORECASE,
    )
    round_brackets: Final = str.maketrans("[{<>}]", "((()))")


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
    # All fractions with such a denominator differ within nine decimals.
    exact = Fraction(mean).limit_denominator(10_000)
    share = (exact - Fraction(OVERALL.min)) / Fraction(OVERALL.max - OVERALL.min)
    return int(HUNDREDTHS[floor(share * (len(HUNDREDTHS) - 1) + Fraction(1, 2))])


def taught_reply(errors: Sequence[TaughtError], score: int) -> str:
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
    parts = [_entry(number, error) for number, error in enumerate(errors, start=1)]
    if not parts:
        parts.append("No Error")
    parts.append(f"Overall score: {score}")
    return "\n\n".join(parts)


def _entry(number: int, error: TaughtError) -> str:
    lines = [
        f"Error {number}:",
        f"Location: {_location(error.location or '')}",
        f"Explanation: {_explanation(error.explanation)}".rstrip(),
    ]
    if error.severity is not None:
        lines.append(f"Severity: {error.severity}")
    return "\n".join(lines)


def _location(text: str) -> str:
    """Return a place so that it is read unchanged: in quotation marks only if
    necessary.
    """
    marks = (("", ""), ('"', '"'), ("“", "”"), ("«", "»"), ("`", "`"))
    plain = " ".join(text.split())
    softened = _softened(plain)
    for words in (plain, softened):
        for left, right in marks:
            quoted = f"{left}{words}{right}"
            if _read(quoted, "why") == [(words, "why")]:
                return quoted
    return softened or "None"


def _explanation(text: str) -> str:
    plain = " ".join(text.split()).strip(" *_>|")
    if _read("place", plain) == [("place", plain)]:
        return plain
    return _softened(plain)


def _read(location: str, explanation: str) -> list[tuple[str | None, str]]:
    """Return the errors that the parser reads from the lines of one error."""
    text = f"Error 1:\nLocation: {location}\nExplanation: {explanation}"
    errors = read_annotation(text).judgment.errors
    return [(error.location, error.explanation) for error in errors]


def _softened(text: str) -> str:
    """Return a text without anything that is read as a label, JSON or a reasoning
    tag.
    """
    lowered = _ReadAsFormat.label.sub(lambda label: label[0].lower(), text)
    return lowered.translate(_ReadAsFormat.round_brackets)


TextSetAspect = tuple[str, str, str]
"""(dataset, set of texts, aspect)."""
TRAIN = "train"


class Sampled(NamedTuple):
    """A text and an aspect of the sample, with their example, or the reason for having
    none.
    """

    row: dict[str, Any]
    example: dict[str, Any] | None
    reason: str

    @property
    def split(self) -> str:
        """Return the split that it belongs to."""
        if self.row["held_out"]:
            return "held_out"
        return TRAIN


def cells_of(
    rows: Iterable[dict[str, Any]],
) -> list[tuple[TextSetAspect, list[dict[str, Any]]]]:
    """Return the rows of a sample by dataset, set of texts and aspect, in their
    order.
    """
    cells: dict[TextSetAspect, list[dict[str, Any]]] = {}
    for row in rows:
        cell = row["dataset"], row["perturbation"], row["aspect"]
        cells.setdefault(cell, []).append(row)
    return sorted(cells.items())


def sampled(
    student: Student,
    rows: Sequence[dict[str, Any]],
    texts: Iterable[Subject],
    scores: pa.Table,
    judgments: pa.Table,
) -> list[Sampled]:
    """Return the outcome of the sampled rows of one dataset, set of texts and aspect.

    `texts` are those of the set; `scores` and `judgments` are the teacher's.
    """
    score_pairs = zip(
        scores["target"].to_pylist(), scores["value"].to_pylist(), strict=True
    )
    means = dict(score_pairs)
    errors = first_lists(judgments)
    targets = {row["target"] for row in rows}
    subjects = [text for text in texts if text.target in targets]
    asked = questions_of(student, rows[0]["dataset"], rows[0]["aspect"], subjects)
    numbers = {text.target: number for number, text in enumerate(subjects)}
    results = []
    for row in rows:
        target = row["target"]
        mean = means.get(target)
        if target not in numbers:
            results.append(Sampled(row, None, "no text could be written"))
        elif mean is None:
            results.append(Sampled(row, None, "no score by the teacher"))
        elif target not in errors:
            results.append(Sampled(row, None, "no error list by the teacher"))
        else:
            score = taught_score(mean)
            example = {
                "dataset": row["dataset"],
                "item": row["item"],
                "target": target,
                "aspect": row["aspect"],
                "score": score,
                "messages": asked.messages(asked.prompt(numbers[target])),
                "reply": taught_reply(errors[target], score),
            }
            results.append(Sampled(row, example, ""))
    return results


def reasons_of(results: Iterable[Sampled]) -> dict[str, int]:
    """Return reason -> the number of rows that have no example for this reason."""
    reasons = Counter(result.reason for result in results if result.example is None)
    return dict(sorted(reasons.items()))


def examples_in(results: Sequence[Sampled], split: str) -> list[dict[str, Any]]:
    """Return the examples of a split; raise UserError if there are none."""
    examples = []
    for result in results:
        if result.example and result.split == split:
            examples.append(result.example)
    if not examples:
        counts = reasons_of(results).items()
        raise UserError(
            f"there is no example to {'train on' if split == TRAIN else 'hold out'}",
            where="the study, key distill",
            got=", ".join(f"{reason} ({count})" for reason, count in counts),
            todo="see coverage.csv for the status of the teacher's judgments",
        )
    return examples


def counts_of(results: Iterable[Sampled]) -> list[dict[str, Any]]:
    """Return the numbers of examples and of missing ones by dataset, split and
    aspect.
    """
    planned: Counter[tuple[str, str, str]] = Counter()
    made: Counter[tuple[str, str, str]] = Counter()
    for result in results:
        group = (result.row["dataset"], result.split, result.row["aspect"])
        planned[group] += 1
        made[group] += result.example is not None
    counts = []
    for group in sorted(planned):
        dataset, split, aspect = group
        count = {
            "dataset": dataset,
            "split": split,
            "aspect": aspect,
            "n": made[group],
            "n_missing": planned[group] - made[group],
        }
        counts.append(count)
    return counts


def export_distill(spec: ExportSpec) -> None:
    """Join the sample with the teacher's judgments; write one example per line, and
    counts.
    """
    columns = ["dataset", "item", "target", "perturbation", "aspect", "held_out"]
    cells = cells_of(read_table("samples", spec.sample, columns).to_pylist())
    texts: dict[str, Subjects] = {}
    every: list[Sampled] = []
    for (dataset, name, aspect), rows in cells:
        if dataset not in texts:
            texts[dataset] = Subjects(spec.subjects[dataset], dataset, spec.seed)
        files = spec.judged[dataset]
        cell = f"{name}/{spec.teacher}"
        tables = [
            read_part("scores", files.scores.format(cell), *split(aspect)),
            read_part("judgments", files.judgments.format(cell), *split(aspect)),
        ]
        every += sampled(spec.student, rows, texts[dataset].in_set(name), *tables)
    for reason, count in reasons_of(every).items():
        print(f"no example: {reason}: {count:,}")
    for part, path in asdict(spec.examples).items():
        examples = examples_in(every, part)
        print(f"{part}: {len(examples):,} examples")
        lines = sorted(f"{canonical(example)}\n" for example in examples)
        write_text(Path(path), "".join(lines))
    write_text(Path(spec.output), canonical({"examples": counts_of(every)}) + "\n")
