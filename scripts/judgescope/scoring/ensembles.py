"""Judges made from other judges: their mean score or majority, and one list of their
errors.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import fsum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from judgescope.parsing.annotation import MOST, read_merged
from judgescope.parsing.characters import fold
from judgescope.parsing.judgment import WRONG
from judgescope.parsing.parsers import parsed_by
from judgescope.parsing.text import (
    MATCHES,
    LocatedSpan,
    locate_errors,
    occurrence_of,
)
from judgescope.schema.rows import ScoreRow, SpanValue
from judgescope.schema.tables import (
    read_part,
    read_table,
    table_of,
    texts_of,
    tuples_of,
)
from judgescope.scoring.aggregate import (
    ESTIMATORS,
    UNIT,
    ScoredCell,
    TextUnit,
    in_order,
    majority,
    write_cell,
)
from judgescope.scoring.specs import AspectPair, CellPart, DeriveSpec, Errors

Lists = Sequence[Sequence[LocatedSpan]]


class Listed(NamedTuple):
    """The errors of an ensemble (None without a list), and the rule that produced
    them.
    """

    errors: Sequence[LocatedSpan] | None
    rule: str

    def cells(self) -> list[dict[str, Any]] | None:
        """Return the errors as the column `spans` holds them."""
        if self.errors is None:
            return None
        return [error._asdict() for error in self.errors]


class _Votes(NamedTuple):
    """What the members of an ensemble say about each unit."""

    values: dict[TextUnit, list[float | None]]
    """Unit -> the score of each member that judges it."""
    applied: Counter[TextUnit]
    """Unit -> the number of members that apply to it."""
    wrong: set[TextUnit]
    """The units for which a member's missing score counts as wrong."""


class _Outcome(NamedTuple):
    """An ensemble's verdict on a unit."""

    value: float | None
    status: str
    rule: str
    estimator: str


def _votes(members: Sequence[ScoredCell]) -> _Votes:
    """Return the scores of all members, and to which units they apply."""
    values: dict[TextUnit, list[float | None]] = defaultdict(list)
    applied = Counter[TextUnit]()
    wrong = set[TextUnit]()
    for judgments, scores in members:
        wrong |= _wrong_units(scores)
        for *unit, value in tuples_of(scores, [*UNIT, "value"]):
            values[tuple(unit)].append(value)
        units = set[TextUnit]()
        for *unit, status in tuples_of(judgments, [*UNIT, "status"]):
            if status != "not_applicable":
                units.add(tuple(unit))
        applied.update(units)
    return _Votes(values, applied, wrong)


def _outcome(
    votes: _Votes, unit: TextUnit, min_annotators: int, labels: Sequence[str]
) -> _Outcome:
    """Return the verdict on a unit that every member judges."""
    how = "majority of members" if labels else "mean of members"
    known = [value for value in votes.values[unit] if value is not None]
    is_lost = votes.applied[unit] >= min_annotators
    missing_status = "unparsed" if is_lost else "not_applicable"
    if len(known) < min_annotators:
        rule = "too few members with a score"
        estimator = WRONG if is_lost and unit in votes.wrong else how
        return _Outcome(None, missing_status, rule, estimator)
    value = _combined(known, labels)
    if value is None:
        return _Outcome(None, missing_status, "tie of members", how)
    return _Outcome(value, "ok", how, how)


def _score_row(
    part: CellPart,
    unit: TextUnit,
    outcome: _Outcome,
    member_scores: Sequence[float | None],
) -> ScoreRow:
    """Return an ensemble's score of a unit."""
    target, target_b, criterion = unit
    return {
        "dataset": part.dataset,
        "perturbation": part.perturbation,
        "judge": part.judge,
        "aspect": part.aspect,
        "criterion": criterion,
        "target": target,
        "target_b": target_b,
        "value": outcome.value,
        "n_draws": len(member_scores),
        "n_missing": member_scores.count(None),
        "estimator": outcome.estimator,
    }


def _judgment_row(
    part: CellPart, unit: TextUnit, outcome: _Outcome
) -> dict[str, object]:
    """Return an ensemble's judgment of a unit, without a label and errors."""
    target, target_b, criterion = unit
    return {
        "judge": part.judge,
        "kind": "derive",
        "target": target,
        "target_b": target_b,
        "aspect": part.aspect,
        "criterion": criterion,
        "draw": 0,
        "value": outcome.value,
        "status": outcome.status,
        "rule": outcome.rule,
    }


def derive_part(
    members: Sequence[ScoredCell],
    *,
    part: CellPart,
    min_annotators: int,
    labels: Sequence[str] = (),
    errors: Mapping[str, Listed] | None = None,
) -> ScoredCell:
    """Return judgments and scores of a part of a cell: the mean of the members' scores
    per target.

    For labels (a score is then the position of a label), it is the label that most
    members give, or none for a tie.

    Targets that a member does not judge (it may judge only a share) are left out. A
    target has no score if fewer than `min_annotators` members scored it; it is lost,
    unless so many members do not apply to it that there could be none. A lost score is
    WRONG if a member's is. `errors`: target -> the members' errors as one list, if the
    members list errors.
    """
    votes = _votes(members)
    scores = list[ScoreRow]()
    judgments = list[dict[str, object]]()
    for unit in sorted(votes.values, key=in_order):
        member_scores = votes.values[unit]
        if len(member_scores) < len(members):
            continue
        outcome = _outcome(votes, unit, min_annotators, labels)
        scores.append(_score_row(part, unit, outcome, member_scores))
        judgment = _judgment_row(part, unit, outcome)
        if labels and outcome.value is not None:
            judgment["label"] = labels[int(outcome.value)]
        if errors is not None:
            not_heard = Listed(None, "no errors: too few members with a score")
            listed = errors.get(unit[0], not_heard)
            judgment["rule"] = f"{outcome.rule}; {listed.rule}"
            judgment["spans"] = listed.cells()
        judgments.append(judgment)
    return table_of("judgments", judgments), table_of("scores", scores)


def _wrong_units(scores: pa.Table) -> set[TextUnit]:
    """Return the units of a member whose missing score counts as a wrong verdict."""
    wrong = set[TextUnit]()
    for *unit, estimator in tuples_of(scores, [*UNIT, "estimator"]):
        if estimator == WRONG:
            wrong.add(tuple(unit))
    return wrong


def _combined(values: Sequence[float], labels: Sequence[str]) -> float | None:
    """Return the members' mean; for labels the most frequent one, or None for a tie."""
    if not labels:
        # Else equal means could differ in the last digit, by the members' rounding.
        return round(fsum(values) / len(values), 9)
    [winner] = majority(np.array([values]))
    if np.isnan(winner):
        return None
    return float(winner)


def heard(members: Sequence[ScoredCell], *, min_annotators: int) -> dict[str, Lists]:
    """Return target -> the lists of errors to merge, in the order of the members.

    A member contributes the errors of its first parsed draw, if it has a score that is
    not an outlier among the members' scores (docs/methods.md, "Ensembles, spans and
    distillation"). Targets are left out if a member does not judge them, or if fewer
    than `min_annotators` members scored them.
    """
    errors = list[dict[str, list[LocatedSpan]]]()
    scores_of_members = list[dict[str, Fraction | None]]()
    for judgments, scores in members:
        errors.append(first_lists(judgments))
        scores_of_members.append(exact_scores(judgments, scores))
    targets = set(scores_of_members[0]).intersection(*scores_of_members)
    lists = dict[str, Lists]()
    for target in sorted(targets):
        member_scores = [scores[target] for scores in scores_of_members]
        n_scored = len(members) - member_scores.count(None)
        if n_scored < min_annotators:
            continue
        contributing = []
        is_outlier = outliers(member_scores)
        for number, score in enumerate(member_scores):
            if score is not None and not is_outlier[number]:
                contributing.append(errors[number][target])
        lists[target] = contributing
    return lists


def exact_scores(judgments: pa.Table, scores: pa.Table) -> dict[str, Fraction | None]:
    """Return target -> the score of the parsed draws as an exact fraction.

    Numbers that stand in for missing draws have no part in it, since nothing was listed
    there.
    """
    estimators = dict(tuples_of(scores, ["target", "estimator"]))
    drawn: dict[str, list[float | None]] = defaultdict(list)
    for target, value in tuples_of(judgments.sort_by("draw"), ["target", "value"]):
        drawn[target].append(value)
    return {
        target: _exact(values, estimators[target]) for target, values in drawn.items()
    }


def _exact(draws: Sequence[float | None], estimator: str) -> Fraction | None:
    """Return the score of a target's draws; None unless at least half have a value."""
    given = [Fraction(str(value)) for value in draws if value is not None]
    if 2 * len(given) < len(draws):
        return None
    if estimator == "mean":
        return sum(given, Fraction(0)) / len(given)
    value = ESTIMATORS[estimator](np.array([draws], dtype=np.float64))[0]
    if np.isnan(value):
        return None
    return Fraction(str(value))


def first_lists(judgments: pa.Table) -> dict[str, list[LocatedSpan]]:
    """Return target -> the errors of its first parsed draw, if that has a list."""
    lists = dict[str, list[LocatedSpan]]()
    columns = ["target", "status", "spans"]
    for target, status, spans in tuples_of(judgments.sort_by("draw"), columns):
        if status == "ok" and spans is not None and target not in lists:
            lists[target] = [_span(span) for span in spans]
    return lists


def _span(cell: SpanValue) -> LocatedSpan:
    """Return an error as a table holds it, where a severity is any number."""
    severity = cell["severity"]
    error = LocatedSpan(**cell)  # type: ignore[arg-type]
    return error._replace(severity=None if severity is None else int(severity))


def outliers(scores: Sequence[Fraction | int | None]) -> list[bool]:
    """Return for each score x whether |x - mean| >= 2 sd and |x - mean| >= 1, sd
    dividing by n.

    Computed without square roots or rounding: (n x - S)² >= 4 (n Q - S²) and |n x - S|
    >= n, with the sum S and the sum of squares Q of the n scores. scores: (members,),
    exact; a missing score (None) is not an outlier and not in n. All are false if all
    scores are equal, or if there are fewer than 5: no score can be more than sqrt(n -
    1) standard deviations away. (Kartáč et al. 2025, section 4, footnote on outliers)

    >>> outliers([4, 4, 4, 4, None, 1])
    [False, False, False, False, False, True]
    """
    known = [Fraction(score) for score in scores if score is not None]
    n = len(known)
    total = sum(known, Fraction())
    squares = sum(score**2 for score in known)
    spread = 4 * (n * squares - total**2)
    result = list[bool]()
    for score in scores:
        if score is None:
            result.append(False)
            continue
        distance = abs(n * score - total)
        result.append(distance**2 >= spread and distance >= n)
    return result


def by_rule(lists: Mapping[str, Lists], texts: Mapping[str, str]) -> dict[str, Listed]:
    """Return target -> one list of errors, merged by rule from several lists."""
    made = dict[str, Listed]()
    for target, members in lists.items():
        merged = merge_spans(members, texts[target])
        rule = "errors merged by rule"
        if merged.dropped:
            rule += "+dropped"
        made[target] = Listed(merged.errors, rule)
    return made


def with_errors(lists: Mapping[str, Lists]) -> Iterator[tuple[str, Lists]]:
    """Yield (target, lists) for which a supervisor is asked: those with at least one
    error.
    """
    for target, members in lists.items():
        if any(members):
            yield target, members


def by_supervisor(
    lists: Mapping[str, Lists],
    texts: Mapping[str, str],
    answers: Sequence[Mapping[str, str]],
) -> dict[str, Listed]:
    """Return target -> the errors that a supervisor lists, located again in the text.

    `answers`: its replies, one per target. It was not asked if no list has an error. If
    a reply cannot be read, the target has no list, without a fallback.
    """
    replies = {row["target"]: row for row in answers}
    made = dict[str, Listed]()
    parse = parsed_by(read_merged, scale=None)
    for target in lists:
        if target not in replies:
            made[target] = Listed([], "no member lists an error")
            continue
        row = replies[target]
        read = parse(row["text"], row["finish"], row["status"])
        if read.status == "ok":
            errors = locate_errors(read.errors, texts[target])
            made[target] = Listed(errors, f"errors merged by supervisor: {read.rule}")
        else:
            rule = f"no errors: supervisor {read.status}, {read.rule}"
            made[target] = Listed(None, rule)
    return made


class Merged(NamedTuple):
    """The errors that are kept, and the number of less severe errors that are
    dropped.
    """

    errors: list[LocatedSpan]
    dropped: int


def merge_spans(annotators: Lists, text: str, *, least: float = 0.5) -> Merged:
    """Return the errors of all annotators, the most severe first; overlapping errors
    are merged.

    Two places overlap if |A ∩ B| / |A ∪ B| >= least, in characters; unions are merged
    by the same rule until none overlap. A merged error covers all of its places, as the
    supervisor is asked to do (Kartáč et al. 2025, listing 2). It has the highest
    severity (a missing one is the lowest) and, among the errors with it, the longest
    explanation; the most common category; and the most certain match. Ties go to the
    first in alphabetical order. Errors without a place are merged if they quote the
    same words, or quote nothing and have the same explanation. The occurrence is that
    of an error with exactly this place, or else counted in the text. At most MOST are
    kept: the most severe, then the first in the text, those without a place last. The
    order of annotators and of their errors does not matter.
    """
    spans = list[LocatedSpan]()
    for listed in annotators:
        spans += listed
    located = [[span] for span in spans if span.start is not None]
    groups = _merged_places(located, least) + _merged_words(spans)
    errors = sorted((_as_one(group, text) for group in groups), key=_rank)
    return Merged(errors[:MOST], max(0, len(errors) - MOST))


def _rank(span: LocatedSpan) -> tuple[int, bool, int, int, str, str]:
    """Return the sort key: the most severe first, those without a place last."""
    return (
        -(span.severity or 0),
        span.start is None,
        span.start or 0,
        span.end or 0,
        span.location or "",
        span.explanation,
    )


def _merged_places(
    groups: list[list[LocatedSpan]], least: float
) -> list[list[LocatedSpan]]:
    """Return the groups, joined until no two unions overlap enough."""
    while True:
        places = [_union(group) for group in groups]
        near = list[set[int]]()
        for union in places:
            others = enumerate(places)
            near.append({b for b, other in others if _near(union, other, least)})
        components = _connected(near)
        if len(components) == len(groups):
            return groups
        joined = list[list[LocatedSpan]]()
        for component in components:
            spans = list[LocatedSpan]()
            for number in component:
                spans += groups[number]
            joined.append(spans)
        groups = joined


def _union(group: Sequence[LocatedSpan]) -> tuple[int, int]:
    """Return the smallest range of characters that covers all places of a group."""
    starts = list[int]()
    ends = list[int]()
    for span in group:
        if span.start is not None and span.end is not None:
            starts.append(span.start)
            ends.append(span.end)
    return min(starts), max(ends)


def _near(a: tuple[int, int], b: tuple[int, int], least: float) -> bool:
    """Return whether two ranges share enough of their union."""
    if a == b:
        return True
    shared = max(0, min(a[1], b[1]) - max(a[0], b[0]))
    covered = (a[1] - a[0]) + (b[1] - b[0]) - shared
    return covered > 0 and shared / covered >= least


def _connected(near: Sequence[set[int]]) -> list[list[int]]:
    """Return the connected components of a graph; near[a] are a and the nodes joined to
    it.

    >>> _connected([{0, 2}, {1}, {2, 0}])
    [[0, 2], [1]]
    """
    components = list[set[int]]()
    for nodes in near:
        joined = set(nodes)
        separate = list[set[int]]()
        for component in components:
            if component & nodes:
                joined |= component
            else:
                separate.append(component)
        components = [*separate, joined]
    return sorted(sorted(component) for component in components)


def _merged_words(spans: Iterable[LocatedSpan]) -> list[list[LocatedSpan]]:
    """Return the errors without a place, grouped by quoted words, else by
    explanation.
    """
    groups = dict[tuple[bool, str], list[LocatedSpan]]()
    for span in spans:
        if span.start is None:
            words = " ".join(fold(span.location or span.explanation).split())
            groups.setdefault((span.location is not None, words), []).append(span)
    return list(groups.values())


def _as_one(spans: Sequence[LocatedSpan], text: str) -> LocatedSpan:
    """Return a group of errors as one error; `merge_spans` has the rules."""
    severity = max((span.severity or 0 for span in spans), default=0)
    worst = list[str]()
    categories = Counter[str]()
    quotes = list[str]()
    for span in spans:
        if (span.severity or 0) == severity:
            worst.append(span.explanation)
        if span.category is not None:
            categories[span.category] += 1
        if span.location is not None:
            quotes.append(span.location)
    merged = LocatedSpan(
        location=min(quotes, default=None),
        explanation=min(worst, key=lambda why: (-len(why), why)),
        severity=severity or None,
        category=min(
            categories, key=lambda name: (-categories[name], name), default=None
        ),
        start=None,
        end=None,
        occurrence=None,
        match=min((span.match for span in spans), key=MATCHES.index),
    )
    if spans[0].start is None:
        return merged
    start, end = _union(spans)
    occurrences = list[int]()
    for span in spans:
        if (span.start, span.end) == (start, end) and span.occurrence is not None:
            occurrences.append(span.occurrence)
    occurrence = min(occurrences, default=0)
    return merged._replace(
        location=text[start:end],
        start=start,
        end=end,
        occurrence=occurrence or occurrence_of(start, end, text),
    )


def derive(spec: DeriveSpec) -> None:
    """Read the members' scores and errors for the cell, write its judgments and
    scores.
    """
    texts = {}
    if spec.errors:
        texts = texts_of(spec.errors.targets)
    parts = list[ScoredCell]()
    for aspect, criterion in spec.pairs:
        members = list[ScoredCell]()
        for cell in spec.members:
            judgments = read_part("judgments", cell.judgments, aspect, criterion)
            scores = read_part("scores", cell.scores, aspect, criterion)
            members.append((judgments, scores))
        errors = None
        if spec.errors is not None:
            lists = heard(members, min_annotators=spec.min_annotators)
            errors = _errors(spec, spec.errors, (aspect, criterion), lists, texts)
        part = derive_part(
            members,
            part=spec.cell.part(aspect),
            min_annotators=spec.min_annotators,
            labels=spec.labels.get(aspect, []),
            errors=errors,
        )
        parts.append(part)
    write_cell(parts, spec.cell.judgments, spec.cell.scores)


def _errors(
    spec: DeriveSpec,
    files: Errors,
    pair: AspectPair,
    lists: Mapping[str, Lists],
    texts: Mapping[str, str],
) -> dict[str, Listed]:
    """Return target -> the errors of the contributing members, as one list."""
    if files.merged is None:
        return by_rule(lists, texts)
    cell = (spec.cell.judge, *pair)
    names = ["judge", "aspect", "criterion", "target", "text", "finish", "status"]
    answers = list[dict[str, str]]()
    for row in read_table("answers", files.merged, names).to_pylist():
        if (row["judge"], row["aspect"], row["criterion"]) == cell:
            answers.append(row)
    return by_supervisor(lists, texts, answers)
