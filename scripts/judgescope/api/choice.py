"""Which system is best, by people, by a judge alone and by its corrected means."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgescope.api import plain_signature
from judgescope.api.arguments import (
    check_indexes,
    estimates_frame,
    mean_of_raters,
    read_column,
    text_codes,
)
from judgescope.methods.choice import DRAWN, SystemTables, system_tables
from judgescope.statistics.choice import (
    best_set,
    p_best,
    picks,
    plain_means,
    system_pearson_true,
)
from judgescope.statistics.corrected import RatedTexts, sample_of
from judgescope.statistics.result import Estimate, clauses
from judgescope.statistics.transport import why_refused


@plain_signature
def choice(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    source: ArrayLike,
    system: ArrayLike,
    seed: int = 0,
) -> pd.DataFrame:
    """Return which system is best: by people, by the judge corrected, by it alone.

    Of each form (human, corrected, uncorrected) and system: p_best, the share of 10,000
    draws of the means in which it is best (no test), and may_be_best, 1 if no other one
    is significantly better. Without a system: choice_gain, what a pick gains over the
    mean of all systems on other sources, choice_regret, and system_pearson_true. The
    corrected pick assumes that the rated sources are a random sample.

    judge: (texts,), on people's scale, more is better; human: (texts,) or (texts,
    raters), whose mean counts, NaN where nobody rated; source, system: (texts,), any
    labels. Sources that have all systems count. ValueError: lengths or indexes differ,
    fewer than two systems, fewer than 10 rated sources with all of them, scores of
    unrated sources outside the range of rated ones.

    >>> source, system = np.divmod(np.arange(120), 2)
    >>> truth = 3 + system + (np.arange(120) * 7 % 5 - 2) / 4
    >>> human = np.where(source < 20, truth, np.nan)
    >>> found = choice(truth - 2 * system, human, source=source, system=system)
    >>> found.loc[("p_best", "uncorrected", "0"), "value"].item()
    1.0
    >>> found.loc[("p_best", "corrected", "1"), "value"].item()
    1.0
    """
    check_indexes(judge, human, source, system)
    scores = read_column(judge, "judge")
    ratings = mean_of_raters(human)
    labels = pd.Series(system).map(str, na_action="ignore")
    sources, systems = text_codes(
        source, labels, scores.size, judge=scores.size, human=ratings.size
    )
    names = sorted(labels.unique())
    texts = {}
    for code, name in enumerate(names):
        mine = systems == code
        texts[name] = RatedTexts(scores[mine], ratings[mine], sources[mine])
    made = system_tables(texts, turned=False)
    if made.why_not:
        raise ValueError(f"nothing can be chosen: {made.why_not}")
    for name in made.names:
        sample = sample_of(texts[name])
        unknown = np.full(sample.n, np.nan), np.full(sample.others.size, np.nan)
        if why := why_refused(sample, *unknown):
            raise ValueError(f"nothing can be chosen: {name}: {why}")
    return _frame(_best(made, seed) | _gains(made, seed))


def _frame(rows: dict[tuple[str, str, str], Estimate]) -> pd.DataFrame:
    joined = {}
    for (name, form, system), e in rows.items():
        joined[(name, f"{form}\n{system}")] = e
    frame = estimates_frame(joined, ["statistic", "place"])
    frame.index = pd.MultiIndex.from_tuples(
        [*rows], names=["statistic", "form", "system"]
    )
    return frame


def _best(made: SystemTables, seed: int) -> dict[tuple[str, str, str], Estimate]:
    """Return how often each system is best, and whether it may be."""
    every = np.concatenate([made.judged, made.others])
    means = plain_means(made.rated), made.corrected, plain_means(every)
    unused = int((made.weights == 0).sum())
    how = f"judge not used for {unused} of {made.weights.size} systems"
    # Whose pick a row is about: people's, the judge's corrected one, its own.
    forms = ("human", "corrected", "uncorrected")
    notes = dict.fromkeys(forms, made.note)
    if unused:
        notes["corrected"] = clauses(made.note, how)
    rows: dict[tuple[str, str, str], Estimate] = {}
    for form, estimates in zip(forms, means, strict=True):
        n = len(every) if form == "uncorrected" else len(made.rated)
        shares = p_best(estimates, np.random.default_rng(seed)).tolist()
        kept = best_set(estimates).tolist()
        for name, share, may_be in zip(made.names, shares, kept, strict=True):
            drawn = Estimate(share, n=n, method=DRAWN, note=notes[form])
            how = "Holm over all ordered pairs"
            rows["p_best", form, name] = drawn
            rows["may_be_best", form, name] = Estimate(float(may_be), n=n, method=how)
    return rows


def _gains(made: SystemTables, seed: int) -> dict[tuple[str, str, str], Estimate]:
    """Return what the picks gain, and the correlation of the systems' means."""
    chosen = picks(made.judged, made.rated, np.random.default_rng(seed))
    pearson = system_pearson_true(made.judged, made.rated)
    return {
        ("choice_gain", "human", ""): chosen.people.estimate,
        ("choice_gain", "uncorrected", ""): chosen.judge.estimate,
        ("choice_regret", "uncorrected", ""): chosen.regret.estimate,
        ("system_pearson_true", "uncorrected", ""): pearson.estimate,
    }
