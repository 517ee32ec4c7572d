"""Agreement on labels and on choices between two texts, from words or numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgescope.api import plain_signature
from judgescope.api.arguments import (
    check_indexes,
    check_lengths,
    estimates_frame,
    label_codes,
    source_deletions,
)
from judgescope.core.errors import UserError
from judgescope.data.rows import word_of
from judgescope.methods.pair_verdicts import net_votes
from judgescope.statistics.arrays import Floats
from judgescope.statistics.classes import confusion_counts
from judgescope.statistics.labels import by_label, on_labels, strict_majority
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.order import (
    comparison_accuracy,
    first_position_rate,
    joined_orders,
    order_consistency,
)
from judgescope.statistics.raters import lower_median
from judgescope.statistics.result import Estimate
from judgescope.tables.choices import FIRST, SECOND, TIE
from judgescope.tables.labels import order_of, plain_label
from judgescope.tables.spelling import is_missing


class LabelAgreement(NamedTuple):
    """How far a judge's labels are people's.

    numbers: a row for each statistic and, where it is of one label, that label; matrix:
    how many texts people (rows) and the judge (columns) give each pair of labels.
    """

    numbers: pd.DataFrame
    matrix: pd.DataFrame


class PairAgreement(NamedTuple):
    """How far a judge's choices between two texts are people's.

    numbers: a row for each statistic, of the judge or of people; matrix: how many pairs
    people (rows) and the judge (columns) give each pair of choices.
    """

    numbers: pd.DataFrame
    matrix: pd.DataFrame


@dataclass(frozen=True)
class _Labels:
    """The labels of both sides, the worst first if they have an order."""

    plain: list[str]
    shown: list[str]
    ordered: bool
    polar: bool
    """Whether it is known which of two labels is the good or positive one."""


@plain_signature
def labels(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    source: ArrayLike | None = None,
    positive: object = None,
    ordered: Sequence[object] | bool | None = None,
) -> LabelAgreement:
    """Return how far a judge's labels are people's: shares found, κ, MCC, the matrix.

    label_recall = c_kk / g_k, the share of the texts that people label k which the
    judge finds; balanced_accuracy is its mean over people's labels; kappa_nominal, mcc
    and ac1 are agreement beyond chance, f1_macro the mean F1. Of two labels also tpr,
    tnr, precision, npv and f1, if it is known which one is positive.

    judge: (texts,); human: (texts,) or (texts, raters): of several raters the lower
    median counts, or without an order the label of more than half. Labels are words,
    numbers or truth values, compared without case; missing ones are None, NaN or "".
    source: (texts,), any labels. positive: the one of two labels that is to be found.
    ordered: the labels from the worst to the best, False if they have no order; by
    default usual words (pass/fail, poor to excellent) and numbers are ordered.
    UserError: fewer than two labels, a `positive` or an order that does not fit;
    ValueError: lengths or indexes differ.

    Cohen 1960; Gorodkin 2004; Gwet 2008.

    >>> human = ["fail", "fail", "pass", "pass", "pass", "pass"]
    >>> judge = ["fail", "pass", "pass", "pass", "pass", "fail"]
    >>> result = labels(judge, human)
    >>> result.matrix.loc["fail"].to_dict()  # of the two bad texts one passes
    {'fail': 1, 'pass': 1}
    >>> result.numbers.loc[("label_recall", "fail"), ["value", "n"]].tolist()
    [0.5, 2.0]
    >>> result.numbers.loc[("balanced_accuracy", ""), "value"].item()  # (1/2 + 3/4) / 2
    0.625
    """
    check_indexes(judge, human, source)
    judged = _words(judge, "judge", single=True)[0]
    rated = _words(human, "human")
    used = _labels_of([*judged, *_joined(rated)], positive, ordered)
    codes = {word: float(at) for at, word in enumerate(used.plain)}
    predicted = _coded(judged, codes)
    ratings = np.array([_coded(rater, codes) for rater in rated])
    sources = label_codes(source, predicted.size, "source")
    check_lengths(judge=predicted.size, human=ratings.shape[1], source=sources.size)
    q = len(used.plain)
    gold = lower_median(ratings) if used.ordered else strict_majority(ratings, q)
    weights = source_deletions(sources)
    rows: dict[tuple[str, str], Estimate] = {}
    # Statistics of two labels that need to know which one is positive.
    polar = ("tpr", "tnr", "precision", "npv", "f1", "base_rate")
    for name, result in on_labels(gold, predicted, q, sources, weights).items():
        if used.polar or name not in polar:
            rows[name, ""] = result.estimate
    of_labels = by_label(gold, predicted, q, sources, weights)
    for (name, k), result in of_labels.items():
        rows[name, used.shown[k]] = result.estimate
    return LabelAgreement(
        estimates_frame(rows, ["statistic", "label"]),
        _matrix(gold, predicted, used.shown),
    )


@plain_signature
def pairs(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    swapped: ArrayLike | None = None,
    source: ArrayLike | None = None,
) -> PairAgreement:
    """Return how far a judge chooses between two texts as people do.

    accuracy_comparison_half = (right + ties / 2) / pairs, over pairs of which people
    prefer one text; accuracy_comparison counts a tie as wrong, _decided leaves it out.
    first_position_rate is the share of decided choices for the text shown first, which
    needs no second order; order_consistency the share of pairs whose choice stays when
    the texts change places.

    judge: (pairs,); human: (pairs,) or (pairs, raters), of whom the majority counts.
    Choices are 1, 2 or tie, or words such as first, B, left; missing ones are None, NaN
    or "". swapped: (pairs,), the judge's choices with the texts in reverse order, 1
    being the text shown first; choices that change with the order are ties, and a pair
    without one of the two has none. source: (pairs,), any labels. UserError: a word
    that is no choice; ValueError: lengths or indexes differ.

    Hu et al. 2025, 5.4; Zheng et al. 2023, 3.4.

    >>> result = pairs([1, 1, 2, "tie"], [1, 2, 2, 1], swapped=[2, 1, 1, "tie"])
    >>> result.numbers.loc[("accuracy_comparison_half", "judge"), "value"].item()
    0.75
    >>> result.numbers.loc[("order_consistency", "judge"), ["value", "n"]].tolist()
    [0.75, 4.0]
    """
    check_indexes(judge, human, swapped, source)
    listed = _votes(judge, "judge", single=True)[0]
    people = np.sign(net_votes(_votes(human, "human")))
    sources = label_codes(source, listed.size, "source")
    lengths = {"judge": listed.size, "human": people.size, "source": sources.size}
    weights = source_deletions(sources)
    verdict = listed
    shown_first = listed
    both_sources = sources
    rows: dict[tuple[str, str], Estimate] = {}
    if swapped is not None:
        raw = _votes(swapped, "swapped", single=True)[0]
        lengths["swapped"] = raw.size
    check_lengths(**lengths)
    if swapped is not None:
        # The text shown first in the reverse order is the second one.
        turned = 0.0 - raw
        verdict = joined_orders(listed, turned, "both")
        shown_first = np.concatenate([listed, raw])
        both_sources = np.concatenate([sources, sources])
        consistency = order_consistency(listed, turned, sources, weights)
        rows["order_consistency", "judge"] = consistency
    accuracies = comparison_accuracy(verdict, people, sources, weights)
    for name, estimate in accuracies.items():
        rows[name, "judge"] = estimate
    rows["first_position_rate", "judge"] = first_position_rate(
        shown_first, both_sources, weights
    )
    rows["first_position_rate", "people"] = first_position_rate(
        people, sources, weights
    )
    ties = np.where(np.isnan(people), np.nan, people == 0)
    rows["tie_rate", "people"] = clustered_mean(ties, sources, weights).estimate
    words_of_votes = ("first", "tie", "second")
    return PairAgreement(
        estimates_frame(rows, ["statistic", "of"]),
        _matrix(1 - people, 1 - verdict, list(words_of_votes)),
    )


def are_words(values: ArrayLike) -> bool:
    """Whether some value is a word, so that it has no place on a scale of numbers.

    >>> are_words(["pass", "fail", None]), are_words(["1", 2.5, None])
    (True, False)
    """
    for column in _columns(values, "values"):
        for cell in column:
            if _is_given(cell) and not _is_number(cell):
                return True
    return False


# --- cells ----------------------------------------------------------------------------


def _columns(values: ArrayLike, name: str) -> list[list[Any]]:
    """The columns of cells, each (texts,); ValueError for more than two dimensions."""
    if isinstance(values, pd.DataFrame):
        return [values[column].tolist() for column in values]
    if isinstance(values, pd.Series):
        return [values.tolist()]
    cells = np.array(values, dtype=object)
    if cells.ndim == 1:
        return [cells.tolist()]
    if cells.ndim == 2:
        return list(cells.T.tolist())
    raise ValueError(f"{name} must have one or two dimensions, not {cells.ndim}")


def _given_columns(values: ArrayLike, name: str, single: bool) -> list[list[Any]]:
    columns = _columns(values, name)
    if single and len(columns) != 1:
        raise ValueError(f"{name} must have one column, not {len(columns)}")
    return columns


def _is_given(cell: object) -> bool:
    if cell is None or cell is pd.NA or is_missing(cell):
        return False
    return not (isinstance(cell, float) and math.isnan(cell))


def _is_number(cell: object) -> bool:
    try:
        float(str(cell))
    except ValueError:
        return isinstance(cell, bool | np.bool_)
    return True


def _words(values: ArrayLike, name: str, *, single: bool = False) -> list[list[str]]:
    """The cells of each column as words, "" for a missing one."""
    columns = []
    for cells in _given_columns(values, name, single):
        words = []
        for cell in cells:
            plain = cell
            if isinstance(cell, np.generic):
                plain = cell.item()
            words.append(word_of(plain) if _is_given(plain) else "")
        columns.append(words)
    return columns


def _joined(columns: Sequence[Sequence[str]]) -> list[str]:
    return list(chain.from_iterable(columns))


def _labels_of(
    words: Sequence[str], positive: object, ordered: Sequence[object] | bool | None
) -> _Labels:
    """The labels that are used, in their order; UserError if there is none to
    compare.
    """
    shown: dict[str, str] = {}
    for word in words:
        if word:
            shown.setdefault(plain_label(word), word)
    if isinstance(ordered, Sequence):
        listed = [word_of(word) for word in ordered]
        given = {plain_label(word): word for word in listed}
        for label, word in shown.items():
            if label not in given:
                raise UserError(
                    "a label is not in the given order",
                    where="ordered",
                    got=word,
                    allowed=listed,
                )
        shown = given
    if len(shown) < 2:
        raise UserError(
            "agreement on labels needs at least two labels",
            where="judge and human",
            got=", ".join(shown.values()) or "no label",
            todo="if all texts have the same label, name the others: ordered=[…]",
        )
    plain, is_ordered, polar = _in_order(shown, ordered)
    if positive is not None:
        wanted = plain_label(word_of(positive))
        if wanted not in shown or len(shown) != 2:
            raise UserError(
                "the positive label must be one of two labels",
                where="positive",
                got=word_of(positive),
                allowed=list(shown.values()),
            )
        plain = [*(word for word in plain if word != wanted), wanted]
        polar = True
    return _Labels(plain, [shown[word] for word in plain], is_ordered, polar)


def _in_order(
    shown: dict[str, str], ordered: Sequence[object] | bool | None
) -> tuple[list[str], bool, bool]:
    """The labels in their order, whether they have one, and whether of two the better
    one is known.
    """
    if isinstance(ordered, Sequence):
        return list(shown), True, len(shown) == 2
    if all(_is_number(word) for word in shown.values()):
        numbers = sorted(shown, key=lambda word: float(shown[word]))
        return numbers, ordered is not False, len(shown) == 2
    known = order_of(shown.values())
    if known is None or not known.ordered or ordered is False:
        if ordered is True:
            raise UserError(
                "the order of these labels is not known",
                where="ordered",
                got=", ".join(shown.values()),
                todo="list them from the worst to the best: ordered=[…]",
            )
        return sorted(shown), False, False
    in_order = [plain_label(label) for label in known.labels]
    # A note says that the order of two words is only a convention.
    return in_order, True, len(shown) == 2 and not known.note


def _coded(words: Sequence[str], codes: dict[str, float]) -> Floats:
    return np.array([codes.get(plain_label(word), np.nan) for word in words])


def _votes(values: ArrayLike, name: str, *, single: bool = False) -> Floats:
    """Choices as votes: (raters, pairs), 1 for the first text, -1 for the second."""
    # Here: it loads the cards, which the statistics on numbers do without.
    from judgescope.cli.init.pair_columns import code_of

    vote_of = {FIRST: 1.0, TIE: 0.0, SECOND: -1.0}
    columns = []
    for cells in _given_columns(values, name, single):
        votes = []
        for at, cell in enumerate(cells, start=1):
            if not _is_given(cell):
                votes.append(np.nan)
                continue
            code = code_of({"choice": cell}, "choice", [], [])
            if code is None:
                raise UserError(
                    "this is not a choice between two texts",
                    where=f"{name}, value {at}",
                    got=cell,
                    allowed="1, 2, tie; first, second; A, B; left, right",
                )
            votes.append(vote_of[code])
        columns.append(votes)
    return np.array(columns)


def _matrix(gold: Floats, predicted: Floats, names: Sequence[str]) -> pd.DataFrame:
    """How often people (rows) and the judge (columns) give each pair of codes."""
    both = ~(np.isnan(gold) | np.isnan(predicted))
    codes = [float(code) for code in range(len(names))]
    one_source = np.zeros(int(both.sum()), dtype=np.int64)
    counts = confusion_counts(gold[both], predicted[both], codes, one_source, 1)[0]
    return pd.DataFrame(
        counts,
        index=pd.Index(names, name="people"),
        columns=pd.Index(names, name="judge"),
    )
