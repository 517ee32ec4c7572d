"""Judges made from other judges: their mean score or majority, and one list of their
errors.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import fsum
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from judgescope.parsing.annotation import MOST
from judgescope.parsing.judgment import WRONG
from judgescope.parsing.parsers import parsed_by
from judgescope.parsing.text import (
    MATCHES,
    LocatedSpan,
    fold,
    locate_errors,
    occurrence_of,
)
from judgescope.schema.tables import read_part, read_table, table_of, texts_of
from judgescope.scoring.aggregate import (
    ESTIMATORS,
    UNIT,
    Scored,
    Unit,
    in_order,
    majority,
    write_cell,
)
from judgescope.scoring.specs import CellPart, DeriveSpec, Pair

Lists = Sequence[Sequence[LocatedSpan]]
Row = dict[str, Any]
DECIMALS: Final = 9
"""Digits of a mean: rounding makes equal means equal, however the members' means were
rounded."""
MERGED: Final = "merged"
"""The parser of a supervisor's replies."""
BY_RULE: Final = "errors merged by rule"
DROPPED: Final = "+dropped"
"""Appended to the rule of a list from which errors were left out."""
OF_NUMBERS: Final = "mean of members"
OF_LABELS: Final = "majority of members"
TIE: Final = "tie of members"
TOO_FEW: Final = "too few members with a score"
NOT_HEARD: Final = "no errors: too few members with a score"
NOTHING: Final = "no member lists an error"
LEAST_OVERLAP: Final = 0.5


class Listed(NamedTuple):
    """The errors of an ensemble (None without a list), and the rule that produced
    them.
    """

    errors: Sequence[LocatedSpan] | None
    rule: str


def derive_part(
    members: Sequence[Scored],
    *,
    part: CellPart,
    min_annotators: int,
    labels: Sequence[str] = (),
    errors: Mapping[str, Listed] | None = None,
) -> Scored:
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
    values: dict[Unit, list[float | None]] = defaultdict(list)
    applied, wrong = Counter[Unit](), set[Unit]()
    for judged, scored in members:
        wrong |= _wrong_units(scored)
        columns = (scored[name].to_pylist() for name in (*UNIT, "value"))
        for *about, value in zip(*columns, strict=True):
            values[tuple(about)].append(value)
        draws = zip(
            *(judged[name].to_pylist() for name in (*UNIT, "status")), strict=True
        )
        applied.update(
            {tuple(about) for *about, status in draws if status != "not_applicable"}
        )
    scores: list[Row] = []
    judgments: list[Row] = []
    rule = OF_LABELS if labels else OF_NUMBERS
    for unit in sorted(values, key=in_order):
        if len(values[unit]) < len(members):
            continue
        known = [value for value in values[unit] if value is not None]
        enough = len(known) >= min_annotators
        target = dict(zip(UNIT, unit, strict=True))
        value = _combined(known, labels) if enough else None
        counts = {"n_draws": len(members), "n_missing": len(members) - len(known)}
        lost = "unparsed" if applied[unit] >= min_annotators else "not_applicable"
        is_wrong = not enough and lost == "unparsed" and unit in wrong
        how = WRONG if is_wrong else rule
        scores.append(
            {**part._asdict(), **target, "value": value, **counts, "estimator": how}
        )
        judgment: Row = {
            **{"judge": part.judge, "aspect": part.aspect, "kind": "derive", "draw": 0},
            **target,
            "value": value,
            "label": labels[int(value)] if labels and value is not None else None,
            "status": lost if value is None else "ok",
            "rule": TOO_FEW if not enough else TIE if value is None else rule,
        }
        if errors is not None:
            listed = errors.get(target["target"] or "", Listed(None, NOT_HEARD))
            judgment["rule"] += f"; {listed.rule}"
            judgment["spans"] = listed.errors and [
                span._asdict() for span in listed.errors
            ]
        judgments.append(judgment)
    return table_of("judgments", judgments), table_of("scores", scores)


def _wrong_units(scores: pa.Table) -> set[Unit]:
    """Return the units of a member whose missing score counts as a wrong verdict."""
    names = (scores[name].to_pylist() for name in (*UNIT, "estimator"))
    return {tuple(unit) for *unit, how in zip(*names, strict=True) if how == WRONG}


def _combined(values: Sequence[float], labels: Sequence[str]) -> float | None:
    """Return the members' mean; for labels the most frequent one, or None for a tie."""
    if not labels:
        return round(fsum(values) / len(values), DECIMALS)
    [most] = majority(np.array([values]))
    return None if np.isnan(most) else float(most)


def heard(members: Sequence[Scored], *, min_annotators: int) -> dict[str, Lists]:
    """Return target -> the lists of errors to merge, in the order of the members.

    A member contributes the errors of its first parsed draw, if it has a score that is
    not an outlier among the members' scores (methods.md 5). Targets are left out if a
    member does not judge them, or if fewer than `min_annotators` members scored them.
    """
    errors = [first_lists(judgments) for judgments, _ in members]
    means = [exact_scores(*member) for member in members]
    lists = dict[str, Lists]()
    for target in sorted(set(means[0]).intersection(*means)):
        given = [member[target] for member in means]
        if sum(score is not None for score in given) >= min_annotators:
            lists[target] = [
                listed[target]
                for listed, score, out in zip(
                    errors, given, outliers(given), strict=True
                )
                if score is not None and not out
            ]
    return lists


def exact_scores(judgments: pa.Table, scores: pa.Table) -> dict[str, Fraction | None]:
    """Return target -> the score of the parsed draws as an exact fraction.

    Numbers that stand in for missing draws have no part in it, since nothing was listed
    there.
    """
    names = (scores[name].to_pylist() for name in ("target", "estimator"))
    estimators = dict(zip(*names, strict=True))
    drawn: dict[str, list[float | None]] = defaultdict(list)
    for row in judgments.sort_by("draw").select(["target", "value"]).to_pylist():
        drawn[row["target"]].append(row["value"])
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
    return None if np.isnan(value) else Fraction(str(value))


def first_lists(judgments: pa.Table) -> dict[str, list[LocatedSpan]]:
    """Return target -> the errors of its first parsed draw, if that has a list."""
    rows = judgments.select(["target", "draw", "status", "spans"]).to_pylist()
    parsed = [row for row in rows if row["status"] == "ok" and row["spans"] is not None]
    ordered = sorted(parsed, key=lambda row: -row["draw"])
    return {row["target"]: [_span(span) for span in row["spans"]] for row in ordered}


def _span(span: Row) -> LocatedSpan:
    severity = span["severity"]
    return LocatedSpan(
        **{**span, "severity": None if severity is None else int(severity)}
    )


def outliers(scores: Sequence[Fraction | int | None]) -> list[bool]:
    """Return for each score x whether |x - mean| >= 2 sd and |x - mean| >= 1, sd
    dividing by n.

    Computed without square roots or rounding: (n x - S)² >= 4 (n Q - S²) and |n x - S|
    >= n, with the sum S and the sum of squares Q of the n scores. scores: (members,),
    exact; a missing score (None) is not an outlier and not in n. All are false if all
    scores are equal, or if there are fewer than 5: no score can be more than sqrt(n -
    1) standard deviations away. (Kartáč et al. 2025, section 4, footnote on outliers)
    """
    known = [Fraction(score) for score in scores if score is not None]
    n, total = len(known), sum(known, Fraction())
    spread = 4 * (n * sum(score**2 for score in known) - total**2)
    return [
        score is not None
        and (n * score - total) ** 2 >= spread
        and abs(n * score - total) >= n
        for score in scores
    ]


def by_rule(lists: Mapping[str, Lists], texts: Mapping[str, str]) -> dict[str, Listed]:
    """Return target -> one list of errors, merged by rule from several lists."""
    merged = {
        target: merge_spans(members, texts[target]) for target, members in lists.items()
    }
    return {
        target: Listed(errors, BY_RULE + DROPPED * bool(dropped))
        for target, (errors, dropped) in merged.items()
    }


def with_errors(lists: Mapping[str, Lists]) -> Iterator[tuple[str, Lists]]:
    """Yield (target, lists) for which a supervisor is asked: those with at least one
    error.
    """
    return ((target, members) for target, members in lists.items() if any(members))


def by_supervisor(
    lists: Mapping[str, Lists], texts: Mapping[str, str], answers: Sequence[Row]
) -> dict[str, Listed]:
    """Return target -> the errors that a supervisor lists, located again in the text.

    `answers`: its replies, one per target. It was not asked if no list has an error. If
    a reply cannot be read, the target has no list, without a fallback.
    """
    replies, made = {row["target"]: row for row in answers}, dict[str, Listed]()
    parse = parsed_by(MERGED, scale=None)
    for target in lists:
        if (row := replies.get(target)) is None:
            made[target] = Listed([], NOTHING)
            continue
        read = parse(row["text"], row["finish"], row["status"])
        if read.status == "ok":
            errors = locate_errors(read.errors, texts[target])
            made[target] = Listed(errors, f"errors merged by supervisor: {read.rule}")
        else:
            made[target] = Listed(
                None, f"no errors: supervisor {read.status}, {read.rule}"
            )
    return made


class Merged(NamedTuple):
    """The errors that are kept, and the number of less severe errors that are
    dropped.
    """

    errors: list[LocatedSpan]
    dropped: int


def merge_spans(
    annotators: Lists, text: str, *, least: float = LEAST_OVERLAP
) -> Merged:
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
    spans = [span for each in annotators for span in each]
    located = [[span] for span in spans if span.start is not None]
    groups = _merged_places(located, least) + _merged_words(spans)
    errors = sorted((_as_one(group, text) for group in groups), key=_rank)
    return Merged(errors[:MOST], max(0, len(errors) - MOST))


def _rank(span: LocatedSpan) -> tuple[int, bool, int, int, str, str]:
    place = (span.start is None, span.start or 0, span.end or 0)
    return (-(span.severity or 0), *place, span.location or "", span.explanation)


def _merged_places(
    groups: list[list[LocatedSpan]], least: float
) -> list[list[LocatedSpan]]:
    """Return the groups, joined until no two unions overlap enough."""
    while True:
        places = [_union(group) for group in groups]
        near = [
            {b for b, other in enumerate(places) if _near(a, other, least)}
            for a in places
        ]
        parts = _connected(near)
        if len(parts) == len(groups):
            return groups
        groups = [[span for at in part for span in groups[at]] for part in parts]


def _union(group: Sequence[LocatedSpan]) -> tuple[int, int]:
    starts = [span.start for span in group if span.start is not None]
    ends = [span.end for span in group if span.end is not None]
    return min(starts), max(ends)


def _near(a: tuple[int, int], b: tuple[int, int], least: float) -> bool:
    shared = max(0, min(a[1], b[1]) - max(a[0], b[0]))
    covered = (a[1] - a[0]) + (b[1] - b[0]) - shared
    return a == b or shared / (covered or 1) >= least


def _connected(near: Sequence[set[int]]) -> list[list[int]]:
    """Return the connected components of a graph; near[a] are a and the nodes joined to
    it.
    """
    parts = list[set[int]]()
    for nodes in near:
        touching = [part for part in parts if part & nodes]
        parts = [part for part in parts if not part & nodes] + [nodes.union(*touching)]
    return sorted(map(sorted, parts))


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
    severity = max((span.severity or 0 for span in spans), default=0)
    worst = [span.explanation for span in spans if (span.severity or 0) == severity]
    categories = Counter(span.category for span in spans if span.category is not None)
    merged = LocatedSpan(
        location=min(
            (span.location for span in spans if span.location is not None), default=None
        ),
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
    known = [
        span.occurrence for span in spans if (span.start, span.end) == (start, end)
    ]
    number = min((one for one in known if one is not None), default=None)
    return merged._replace(
        location=text[start:end],
        start=start,
        end=end,
        occurrence=number or occurrence_of(start, end, text),
    )


def derive(spec: DeriveSpec) -> None:
    """Read the members' scores and errors for the cell, write its judgments and
    scores.
    """
    texts = texts_of(spec.errors.targets) if spec.errors else {}
    parts = []
    for pair in spec.pairs:
        members = [
            (
                read_part("judgments", cell.judgments, *pair),
                read_part("scores", cell.scores, *pair),
            )
            for cell in spec.members
        ]
        part = derive_part(
            members,
            part=spec.cell.part(pair[0]),
            min_annotators=spec.min_annotators,
            labels=spec.labels.get(pair[0], []),
            errors=_errors(spec, pair, members, texts) if spec.errors else None,
        )
        parts.append(part)
    write_cell(parts, spec.cell.judgments, spec.cell.scores)


def _errors(
    spec: DeriveSpec, pair: Pair, members: Sequence[Scored], texts: Mapping[str, str]
) -> dict[str, Listed]:
    """Return target -> the errors of the contributing members, as one list."""
    assert spec.errors is not None
    lists = heard(members, min_annotators=spec.min_annotators)
    if spec.errors.merged is None:
        return by_rule(lists, texts)
    own = dict(
        zip(("judge", "aspect", "criterion"), (spec.cell.judge, *pair), strict=True)
    )
    names = [*own, "target", "text", "finish", "status"]
    answers = read_table("answers", spec.errors.merged, names).to_pylist()
    return by_supervisor(
        lists, texts, [row for row in answers if own.items() <= row.items()]
    )
