"""What a table has beside one score and one rating of each text.

Draws of one judge, a judge's confidence, scores of texts that nobody rated, and choices
by the place of a text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import nan

from judgescope.cli.audit.rated_rows import (
    AspectRows,
    aspects_of,
    draws_of,
    first_draws,
    judge_columns,
    sources_of,
)
from judgescope.cli.init.cards import SEED, StudyDraft, recorded_id
from judgescope.cli.init.column_values import number
from judgescope.cli.init.readings import nearest_judge
from judgescope.cli.init.stated_chances import stated_chances
from judgescope.core.rng import stream
from judgescope.data.column_rows import cells_of
from judgescope.data.rows import entries
from judgescope.methods.row_numbers import (
    agreement_of_draws,
    calibration_of,
    choices_by_place,
)
from judgescope.report.rows import ReportRow
from judgescope.schema.rows import EstimateColumns
from judgescope.statistics.confidence import Calibration
from judgescope.statistics.confidence_bins import Bin
from judgescope.statistics.selective import Guarantee
from judgescope.tables.words import classes_of, english_names


@dataclass(frozen=True)
class RepeatedDraws:
    """How well the draws of one judge agree with each other."""

    judge: str
    aspect: str
    draws: int
    agreement: ReportRow
    """Krippendorff's alpha over draws."""
    flips: ReportRow
    """The share of texts with draws that differ."""


@dataclass(frozen=True)
class PlaceChoices:
    """How often the judge, and people, choose the text that is shown first."""

    judge: str
    aspect: str
    of_judge: ReportRow
    of_people: ReportRow
    gap: ReportRow

    @property
    def differs(self) -> bool:
        """Whether the interval of the difference excludes 0."""
        low = self.gap.ci_low
        high = self.gap.ci_high
        return low is not None and high is not None and not low <= 0 <= high


@dataclass(frozen=True)
class UnratedScores:
    """How many scores of a judge are of texts that nobody rated."""

    judge: str
    aspect: str
    scored: int
    unrated: int


@dataclass(frozen=True)
class ConfidenceColumn:
    """A column with how sure a judge says to be."""

    column: str
    judge: str
    count: int
    rows: int
    low: float | None
    high: float | None
    calibrations: Sequence["StatedCalibration"] = ()
    why_none: str = ""
    """Why no number rests on it, "" if one does."""


@dataclass(frozen=True)
class StatedCalibration:
    """How a judge's confidence compares with how often it gives people's verdict."""

    judge: str
    aspect: str
    label: str
    """The label whose chance the column has; "" for that of the verdict itself."""
    shown: Calibration
    surest: Bin | None
    """The verdicts of the highest confidence; None of fewer than 100 verdicts."""
    accepted: Guarantee
    """From which confidence on at most a tenth of the verdicts are wrong."""
    gap: ReportRow
    slope: ReportRow
    brier: ReportRow
    auroc: ReportRow
    error: ReportRow
    if_calibrated: ReportRow


def repeated_draws(draft: StudyDraft) -> Iterator[RepeatedDraws]:
    """Yield the agreement of a judge with itself, for judges with several draws."""
    if draft.columns.compared:
        return
    aspects = aspects_of(draft)
    sources = sources_of(draft)
    for judge, aspect, column in judge_columns(draft):
        draws = draws_of(draft, column)
        most = max(map(len, draws), default=0)
        if most < 2:
            continue
        of_labels = aspects[aspect].are_labels(list(chain.from_iterable(draws)))
        padded = [of_text + [nan] * (most - len(of_text)) for of_text in draws]
        rated = aspects[aspect]
        numbers = agreement_of_draws(
            padded,
            sources,
            scale=list(map(float, range(len(rated.labels)))) if of_labels else None,
            labels=of_labels,
            ordered=rated.ordered,
        )
        yield RepeatedDraws(
            judge,
            aspect,
            most,
            _row(judge, aspect, "alpha_draws", numbers),
            _row(judge, aspect, "flip_rate", numbers),
        )


def choices_of_places(draft: StudyDraft) -> Iterator[PlaceChoices]:
    """Yield for each judge of pairs how often it chooses the first text."""
    if not draft.columns.compared:
        return
    aspects = aspects_of(draft)
    sources = sources_of(draft)
    for judge, aspect, column in judge_columns(draft):
        judged = [
            nan if value is None else value for value in first_draws(draft, column)
        ]
        truths = _truths(aspects[aspect])
        of_judge, of_people = choices_by_place(judged, truths, sources)
        yield PlaceChoices(
            judge,
            aspect,
            _row(judge, aspect, "first_choices", of_judge),
            _row("", aspect, "first_choices", of_people),
            _row(judge, aspect, "first_choices_gap", of_judge),
        )


def _truths(rated: AspectRows) -> list[float]:
    truths = []
    for at in range(len(rated.people)):
        truth = rated.truth(at)
        truths.append(nan if truth is None else truth)
    return truths


def unrated_scores(draft: StudyDraft) -> Iterator[UnratedScores]:
    """Yield the judges that scored texts which nobody rated, with the counts."""
    aspects = aspects_of(draft)
    for judge, aspect, column in judge_columns(draft):
        people = aspects[aspect].people
        scored = unrated = 0
        for score, ratings in zip(first_draws(draft, column), people, strict=True):
            if score is not None:
                scored += 1
                unrated += not ratings
        if unrated:
            yield UnratedScores(judge, aspect, scored, unrated)


def confidence_columns(draft: StudyDraft) -> Iterator[ConfidenceColumn]:
    """Yield the columns that say how sure a judge is: chances from 0 to 1, or per cent.

    A column that has other cells says why no number rests on it. Each belongs to the
    judge whose column shares most words with it, or to the only judge.
    """
    columns = draft.columns
    for name in draft.table.columns:
        if name in columns.used or "confidence" not in classes_of(name):
            continue
        found = stated_chances(cells_of(draft.table.rows, name))
        values = found.values
        judge = nearest_judge(columns, english_names([name])[name]) or ""
        calibrations = []
        if found.unit is not None:
            calibrations = list(_calibrations(draft, name, found.unit, judge))
        yield ConfidenceColumn(
            name,
            recorded_id(judge) if judge else "",
            len(values),
            len(draft.table.rows),
            min(values, default=None),
            max(values, default=None),
            calibrations,
            "" if calibrations else found.why or _why_no_calibration(judge),
        )


def _why_no_calibration(judge: str) -> str:
    """Why no number rests on a confidence."""
    if not judge:
        return "it is open whose it is, so no number rests on it"
    return "the judge gives no label or choice that is right or wrong: no number " + (
        "rests on it"
    )


def _calibrations(
    draft: StudyDraft, column: str, unit: int, judge: str
) -> Iterator[StatedCalibration]:
    """Yield what a judge's confidence shows on each aspect with labels or choices."""
    stated = [_share(cell, unit) for cell in cells_of(draft.table.rows, column)]
    aspects = aspects_of(draft)
    sources = sources_of(draft)
    for name, aspect, scores in judge_columns(draft):
        if not judge or name not in (
            recorded_id(judge),
            recorded_id(f"{judge}-{aspect}"),
        ):
            continue
        rated = aspects[aspect]
        verdicts = first_draws(draft, scores)
        if not (rated.compared or rated.are_labels(verdicts)):
            continue
        of_label = _chance_of_best(stated, verdicts, rated)
        confidence = []
        right = []
        for at, (share, verdict) in enumerate(zip(stated, verdicts, strict=True)):
            chance = max(share, 1 - share) if of_label else share
            truth = _verdict_of_people(rated, at)
            unknown = verdict is None or truth is None
            confidence.append(nan if unknown else chance)
            right.append(nan if unknown else float(verdict == truth))
        rng = stream(SEED, "calibration", name, aspect)
        found = calibration_of(confidence, right, sources, rng)
        numbers = found.numbers
        yield StatedCalibration(
            name,
            aspect,
            of_label,
            found.shown,
            found.surest,
            found.accepted,
            gap=_row(name, aspect, "confidence_gap", numbers),
            slope=_row(name, aspect, "confidence_slope", numbers),
            brier=_row(name, aspect, "brier", numbers),
            auroc=_row(name, aspect, "auroc_right", numbers),
            error=_row(name, aspect, "ece", numbers),
            if_calibrated=_row(name, aspect, "ece_calibrated", numbers),
        )


def _share(cell: object, unit: int) -> float:
    """A confidence from 0 to 1, NaN where there is none; `unit` is 100 of per cent."""
    cells = entries(cell)
    value = number(cells[0]) if cells else None
    return nan if value is None else value / unit


def _chance_of_best(
    stated: Sequence[float], verdicts: Sequence[float | None], rated: AspectRows
) -> str:
    """The better of two labels if the column has its chance, "" if it has the chance
    that the verdict is right.

    Of two labels both are common. A chance of the better label lies below one half
    wherever the verdict is the other label, and never where it is the better one.
    """
    if rated.compared or len(rated.labels) != 2:
        return ""
    of_best: list[float] = []
    of_other: list[float] = []
    for share, verdict in zip(stated, verdicts, strict=True):
        if share == share and verdict is not None:
            (of_best if verdict == 1 else of_other).append(share)
    if not of_best or not of_other:
        return ""
    is_chance = min(of_best) >= 0.5 >= max(of_other) and min(of_other) < 0.5
    if is_chance:
        return str(rated.labels[1])
    return ""


def _verdict_of_people(rated: AspectRows, row: int) -> float | None:
    """People's verdict: of choices the majority, of labels as in their claims."""
    truth = rated.truth(row)
    if truth is None or not rated.compared:
        return truth
    return float((truth > 0) - (truth < 0))


def _row(
    judge: str, aspect: str, statistic: str, numbers: Mapping[str, EstimateColumns]
) -> ReportRow:
    return ReportRow(
        judge=judge,
        aspect=aspect,
        statistic=statistic,
        level="pooled",
        **numbers[statistic],
    )
