"""Label or judge? Texts on which several judges agree against people.

A list for people to look at: judges err together, and a label is not wrong because they
say so. Labels: the idea of Northcutt et al. 2021, "Confident Learning", arXiv
1911.00068. See docs/methods.md, "Where a judge is worse".
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, quotient
from judgescope.statistics.declared import declare, signed_amount

DECLARED = declare(
    "doubt",
    label_doubt=signed_amount(
        "Doubt of the label",
        "log of how much likelier the judges' verdicts are with the likeliest other "
        "label than with people's, in nats, for as many independent judges",
        "Northcutt et al. 2021",
    ),
    rating_doubt=signed_amount(
        "Doubt of the rating",
        "rating by the judges, predicted from other sources, minus people's, in "
        "standard deviations",
    ),
)
FEWEST_JUDGES: Final = 2
"""One judge agrees with nobody."""
FEWEST_FAMILIES: Final = 2
"""Judges of one family of models err together."""


class ListInVain(NamedTuple):
    """The share of a list of 20 doubted labels that is right after all, simulated.

    5 % of 700 labels are wrong; judges of different families err together (latent
    normal errors, correlation .3). `python benchmarks/slices.py` measures it.
    """

    nine_of_ten: float
    """Of judges that are right on 9 of 10 texts."""
    eight_of_ten: float
    """Of judges that are right on 8 of 10 texts."""


IN_VAIN: Final = {
    2: ListInVain(nine_of_ten=0.34, eight_of_ten=0.67),
    3: ListInVain(nine_of_ten=0.15, eight_of_ten=0.48),
    4: ListInVain(nine_of_ten=0.07, eight_of_ten=0.35),
    5: ListInVain(nine_of_ten=0.04, eight_of_ten=0.29),
    6: ListInVain(nine_of_ten=0.04, eight_of_ten=0.28),
}
"""Number of judges -> what is listed in vain; six stand for more.

A list of two judges is shown all the same: of good ones two thirds of it are wrong
labels, where a random draw has one in twenty. Who reads it must know the share.
"""


def expected_in_vain(judges: int) -> str:
    """Which share of a list of doubted labels to expect to be right, in a sentence.

    >>> expected_in_vain(2).replace("\u202f", " ").partition(" where ")[0]
    'In simulated lists of two judges 34 % of the listed labels were right'
    """
    share = IN_VAIN[min(max(judges, min(IN_VAIN)), max(IN_VAIN))]
    names = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
    how_many = names.get(judges, "six or more")
    return (
        f"In simulated lists of {how_many} judges {share.nine_of_ten:.0%} of the "
        "listed labels were right where each judge is right on 9 of 10 texts, "
        f"{share.eight_of_ten:.0%} on 8 of 10."
    ).replace("%", "\u202f%")


class LabelDoubts(NamedTuple):
    """How much judges doubt each label, (texts,), NaN where there are fewer than two
    verdicts; the likeliest other label, -1 without; of how many independent judges.
    """

    doubt: Floats
    other: Codes
    effective: float


def effective_number(right: Floats) -> float:
    """k_e = k / (1 + (k - 1) r̄), r̄ the mean correlation of two judges' hits.

    right (judges, texts): 1 right, 0 wrong, NaN missing. From 1 to k; pairs of which
    one side does not vary have no part in r̄, and without a pair it is 0.

    >>> alike = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    >>> effective_number(alike)
    1.0
    """
    k = len(right)
    correlations = []
    for first in range(k):
        for second in range(first + 1, k):
            both = np.isfinite(right[first] + right[second])
            x = right[first][both]
            y = right[second][both]
            if x.size > 1 and np.ptp(x) > 0 and np.ptp(y) > 0:
                correlations.append(float(np.corrcoef(x, y)[0, 1]))
    mean = 0.0
    if correlations:
        mean = float(np.mean(correlations))
    return float(np.clip(k / max(1 + (k - 1) * mean, 1e-9), 1.0, k))


def label_doubts(
    verdicts: Floats, people: Floats, source: Codes, labels: int
) -> LabelDoubts:
    """L = (k_e/k) Σ_j log(P(v_j | ȳ) / P(v_j | y)), y people's label, ȳ the likeliest
    other one.

    verdicts (judges, texts), people (texts,): codes 0 … labels - 1, NaN = missing (also
    any other code of a verdict); source (texts,). P of judge j: the share of verdict v
    among the texts that people label y in the other sources, with ½ added in each cell.
    k judges have a verdict on the text; k_e is `effective_number`, at most k. A label
    has a doubt above 0 where the verdicts fit another one better.

    >>> people = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    >>> verdicts = np.array([[0.0, 0.0, 1.0, 1.0, 1.0, 1.0]] * 2)
    >>> made = label_doubts(verdicts, people, np.arange(6), 2)
    >>> int(np.argmax(made.doubt)), made.other[2]
    (2, np.int64(1))
    """
    used = np.where(np.isin(verdicts, np.arange(labels)), verdicts, np.nan)
    known = np.isfinite(people)
    given = np.isfinite(used)
    right = np.where(given & known, used == people, np.nan).astype(float)
    effective = effective_number(right)
    count = given.sum(axis=0)
    asked = known & (count >= FEWEST_JUDGES)

    likelihoods = np.zeros((labels, people.size))
    for verdict in used:
        likelihoods += _log_likelihoods(verdict, people, source, labels)
    codes = np.where(known, people, 0).astype(int)
    places = np.arange(people.size)
    of_answer = likelihoods[codes, places]
    rest = likelihoods.copy()
    rest[codes, places] = -np.inf
    other = rest.argmax(axis=0)
    of_other = rest.max(axis=0)

    weight = quotient(np.minimum(effective, count), count.astype(float))
    doubt = np.where(asked, weight * (of_other - of_answer), np.nan)
    return LabelDoubts(doubt, np.where(asked, other, -1), effective)


def _log_likelihoods(
    verdict: Floats, people: Floats, source: Codes, labels: int
) -> Floats:
    """log P(verdict | label) of one judge, (labels, texts); 0 without a verdict.

    P is counted on the other sources: else a judge that errs on a text would make its
    own error likely.
    """
    given = np.isfinite(verdict)
    known = np.isfinite(people)
    both = given & known
    v = np.where(given, verdict, 0).astype(int)
    y = np.where(known, people, 0).astype(int)
    n_sources = int(source.max(initial=-1)) + 1
    cells = np.zeros((n_sources, labels, labels))
    np.add.at(cells, (source[both], y[both], v[both]), 1.0)
    others = cells.sum(axis=0) - cells + 0.5
    rates = others / others.sum(axis=2, keepdims=True)
    logs = np.log(rates[source, :, v])  # (texts, labels)
    return np.where(given, logs.T, 0.0)


def rating_doubts(scores: Floats, people: Floats, source: Codes) -> Floats:
    """(mean of the judges' predictions - people's value) / SD of these differences.

    scores (judges, texts), people (texts,), NaN = missing; source (texts,). The
    prediction of a judge is the line of people's values on its scores, fitted to the
    other sources; a judge whose scores do not vary there has none. (texts,), NaN below
    two predictions, and all of it where the differences do not vary.

    >>> people = np.array([1.0, 2.0, 3.0, 4.0, 1.0, 6.0])
    >>> scores = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]] * 2)
    >>> int(np.nanargmax(rating_doubts(scores, people, np.arange(6))))
    4
    """
    predictions = rating_predictions(scores, people, source)
    count = np.isfinite(predictions).sum(axis=0)
    total = np.nansum(predictions, axis=0)
    enough = count >= FEWEST_JUDGES
    mean = np.where(enough, total / np.maximum(count, 1), np.nan)
    rest = mean - people
    known = rest[np.isfinite(rest)]
    spread_of_rest = 0.0
    if known.size > 1:
        spread_of_rest = float(known.std(ddof=1))
    if spread_of_rest <= 1e-9:
        return np.full(people.size, np.nan)
    return np.asarray(rest / spread_of_rest)


def rating_predictions(scores: Floats, people: Floats, source: Codes) -> Floats:
    """People's value by the line on each judge's scores, fitted to the other sources.

    scores (judges, texts), people, source (texts,); (judges, texts), NaN without a
    score, and where a judge's scores do not vary in the other sources.

    >>> people = np.array([1.0, 2.0, 3.0])
    >>> rating_predictions(2 * people[None], people, np.arange(3)).round(9).tolist()
    [[1.0, 2.0, 3.0]]
    """
    n_sources = int(source.max(initial=-1)) + 1
    predictions = np.full(scores.shape, np.nan)
    for judge, x in enumerate(scores):
        both = np.isfinite(x + people)
        shift = 0.0
        if both.any():
            shift = float(x[both].mean())
        parts = np.ones_like(x), x - shift, people
        n, sx, sy, sxx, sxy = (
            _of_others(values, both, source, n_sources)
            for values in (
                parts[0],
                parts[1],
                parts[2],
                parts[1] * parts[1],
                parts[1] * parts[2],
            )
        )
        spread = n * sxx - sx * sx
        varies = spread > 1e-9 * np.maximum(1.0, n * sxx)
        slope = quotient(n * sxy - sx * sy, np.where(varies, spread, np.nan))
        level = quotient(sy - slope * sx, n)
        predictions[judge] = level[source] + slope[source] * parts[1]
    return predictions


def agree_against(contradicts: Flags, given: Flags, families: Sequence[str]) -> Flags:
    """On which texts judges agree against people: more than half of those with a
    verdict contradict them alike, and these are of two families.

    contradicts, given (judges, texts): which judges contradict people in the same
    direction, and which have a verdict; families (judges,). A judge alone, or two of
    one family, agree with nobody.

    >>> against = np.array([[True, True], [True, False], [False, True]])
    >>> agree_against(against, np.ones((3, 2), bool), ["a", "b", "a"]).tolist()
    [True, False]
    """
    votes = (contradicts & given).sum(axis=0)
    is_majority = 2 * votes > given.sum(axis=0)
    several = np.zeros(given.shape[1], dtype=np.int64)
    for family in dict.fromkeys(families):
        mine = np.array([name == family for name in families])
        several += (contradicts & given)[mine].any(axis=0)
    return np.asarray(is_majority & (several >= FEWEST_FAMILIES))


def against_ratings(predictions: Floats, people: Floats, doubt: Floats) -> Flags:
    """Which judges predict a rating on the side of the doubt, and at least one standard
    deviation of their own errors away; (judges, texts).

    predictions (judges, texts), people, doubt (texts,), NaN = missing.

    >>> people = np.array([0.0, 0.0, 0.0, 3.0])
    >>> against_ratings(np.zeros((1, 4)), people, np.array([0.1, 0.1, 0.1, -2.0]))
    array([[False, False, False,  True]])
    """
    distances = predictions - people
    contradicts = np.zeros(predictions.shape, dtype=bool)
    for at, errors in enumerate(distances):
        known = errors[np.isfinite(errors)]
        spread = 0.0
        if known.size > 1:
            spread = float(known.std(ddof=1))
        far = np.abs(errors) >= max(spread, 1e-9)
        contradicts[at] = far & (np.sign(errors) == np.sign(doubt))
    return contradicts


def _of_others(values: Floats, used: Floats, source: Codes, n_sources: int) -> Floats:
    """The sum of the used values of all sources but each; (sources,)."""
    sums = np.bincount(source[used], weights=values[used], minlength=n_sources)
    return np.asarray(sums.sum() - sums)
