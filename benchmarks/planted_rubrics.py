"""Planted graders of a rubric: blind to a criterion, lenient, harsh, or sound.

Two experts and a grader each err in a tenth of the cases; 60 questions with an answer
of each of 3 systems, 8 criteria of which one is a fault. Run it alone for its tables:

    python benchmarks/planted_rubrics.py --studies 100
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
from planted_tallies import Tally

from judgescope.core.rng import stream
from judgescope.methods.rubric_numbers import Rubric, RubricNumber, grader_numbers
from judgescope.statistics.arrays import Flags
from judgescope.statistics.rubrics import RubricCases
from judgescope.statistics.slices import worst_slice

SOURCES: Final = 60
SYSTEMS: Final = 3
CRITERIA: Final = 8
BLIND_TO: Final = 4
"""The criterion that a blind grader guesses."""
ERRORS: Final = 0.1
MET: Final = 0.6


class GraderDefect(NamedTuple):
    """A defect: its name, what must be said of it, and its strengths."""

    name: str
    expected: str
    strengths: tuple[float, ...]
    stated: float
    unit: str


BLIND: Final = GraderDefect(
    name="blind to a criterion",
    expected="this criterion is named as worse than the rest",
    strengths=(0.25, 0.5, 1.0),
    stated=1.0,
    unit="of its verdicts guessed",
)
LENIENT: Final = GraderDefect(
    name="lenient",
    expected="error of the score above 0",
    strengths=(0.05, 0.1, 0.2),
    stated=0.1,
    unit="of marks turned to gain points",
)
HARSH: Final = GraderDefect(
    name="harsh",
    expected="error of the score below 0",
    strengths=(0.05, 0.1, 0.2),
    stated=0.1,
    unit="of marks turned to lose points",
)
DEFECTS: Final = (BLIND, LENIENT, HARSH)


def rubric(name: str, defect: GraderDefect | None, strength: float) -> Rubric:
    """The marks of two experts and of a grader with a defect, None of none."""
    rng = stream(7, "planted-rubrics", name)
    shape = (SOURCES * SYSTEMS, CRITERIA)
    truth = rng.random(shape) < MET
    marks = [truth ^ (rng.random(shape) < ERRORS) for _ in range(3)]
    points = rng.integers(1, 10, CRITERIA).astype(float)
    points[-1] = -5.0
    grader = marks[2]
    changed = rng.random(shape) < strength
    if defect is BLIND:
        guessed = changed[:, BLIND_TO]
        guesses = rng.random(shape[0]) < MET
        grader[:, BLIND_TO] = np.where(guessed, guesses, grader[:, BLIND_TO])
    elif defect is not None:
        gains = np.broadcast_to(points > 0, shape)
        best = gains if defect is LENIENT else ~gains
        grader = np.where(changed, best, grader)
    return _rubric_of(marks[:2], grader, points)


def _rubric_of(experts: list[Flags], grader: Flags, points: np.ndarray) -> Rubric:
    responses = SOURCES * SYSTEMS
    response = np.arange(responses)
    cases = RubricCases(
        response=np.repeat(response, CRITERIA),
        criterion=np.tile(np.arange(CRITERIA), responses),
        points=np.tile(points, responses),
        experts=np.array([marks.ravel() for marks in experts], dtype=float),
        grader=grader.ravel().astype(float),
        source=response // SYSTEMS,
        system=response % SYSTEMS,
    )
    return Rubric(
        cases,
        criteria=[f"c{code}" for code in range(CRITERIA)],
        systems=[f"s{code}" for code in range(SYSTEMS)],
        themes=[""] * CRITERIA,
        shuffle=lambda: np.random.default_rng(1),
        sources=SOURCES,
    )


def worst_criterion(numbers: list[RubricNumber]) -> int | None:
    """The criterion that is named as worse than the rest, None if none is."""
    gaps: dict[int, float] = {}
    p_values: dict[int, float] = {}
    for number in numbers:
        value = number.estimate.value
        if number.criterion is None or value is None:
            continue
        if number.statistic.startswith("slice_gap_"):
            gaps[number.criterion] = value
        elif number.statistic.startswith("slice_p_holm_"):
            p_values[number.criterion] = value
    codes = [*p_values]
    gap_of = np.array([gaps[code] for code in codes])
    worst = worst_slice(gap_of, np.array([p_values[code] for code in codes]))
    return None if worst is None else codes[worst]


def error_sign(numbers: list[RubricNumber]) -> int:
    """1 where the error of the score is above 0, -1 below, 0 where neither is shown."""
    [error] = [each for each in numbers if each.statistic == "rubric_error"]
    low, high = error.estimate.ci_low, error.estimate.ci_high
    if low is not None and low > 0:
        return 1
    return -1 if high is not None and high < 0 else 0


def names_of(numbers: list[RubricNumber]) -> set[str]:
    """The defects that the numbers of a grader name."""
    names = set[str]()
    worst = worst_criterion(numbers)
    if worst is not None:
        names.add(BLIND.name if worst == BLIND_TO else "another criterion")
    sign = error_sign(numbers)
    if sign:
        names.add(LENIENT.name if sign > 0 else HARSH.name)
    return names


def tallies(studies: int) -> Iterator[Tally]:
    """Yield how often each defect is found at each strength."""
    for defect in DEFECTS:
        for strength in defect.strengths:
            words = f"{strength:.0%} {defect.unit}"
            stated = strength == defect.stated
            tally = Tally(defect.name, words, defect.expected, stated)
            for study in range(studies):
                name = f"{defect.name} {strength} {study}"
                names = names_of([*grader_numbers(rubric(name, defect, strength))])
                tally.add(defect.name in names, *(names - {defect.name}))
            yield tally


def in_vain(studies: int) -> Iterator[Tally]:
    """Yield how often a grader without a defect has one of each kind named."""
    checks: dict[str, Callable[[list[RubricNumber]], bool]] = {
        "a criterion is named": lambda numbers: worst_criterion(numbers) is not None,
        "the score's error is not 0": lambda numbers: error_sign(numbers) != 0,
    }
    counted = {name: Tally("none", "–", name) for name in checks}
    for study in range(studies):
        numbers = [*grader_numbers(rubric(f"none {study}", None, 0.0))]
        for name, alarms in checks.items():
            counted[name].add(alarms(numbers))
    yield from counted.values()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    count = parser.parse_args().studies
    for each in [*tallies(count), *in_vain(2 * count)]:
        print(each)
