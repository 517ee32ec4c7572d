"""How valid the errors are that judges annotate, and their explanations, by people's verdicts.

counts (things, explanations, spans): of each thing, whatever it is, how many verdicts say each of
EXPLANATIONS of the explanation and each of SPANS of the passage, in the order of these. Source:
paper 004, section 7.2 and table 4.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.means import share
from judgescope.statistics.result import Estimate

Counts = NDArray[np.int64]
SPANS: Final = ("error", "no_span", "not_an_error", "hallucination")
"""The passage holds an error; none is given; it holds none; it is not in the text."""
EXPLANATIONS: Final = (
    "correct",
    "partially_correct",
    "incomplete",
    "vague",
    "incorrect",
    "not_an_error",
)
"""Of the last, the explanation describes no error."""
VERDICTS: Final = "verdicts on errors"


def span_ok(counts: Counts, source: Counts, weights: Counts | None, missing: int = 0) -> Estimate:
    """Return sum counts[.., error] / sum counts, with a bootstrap interval over sources.

    counts as above, source (things,) codes from 0, weights (resamples, sources) or None for no
    interval; `missing` verdicts were planned and are not there, or not whole. Range 0 to 1;
    undefined without a verdict. 303 of 366 give 83 %. Paper 004, table 4: Span OK.
    """
    return _share(counts[:, :, 0], counts, source, weights, missing)


def explanation_ok(
    counts: Counts, source: Counts, weights: Counts | None, missing: int = 0
) -> Estimate:
    """Return sum counts[.., correct, ..] / sum counts, whatever the passage is like.

    Partially correct is not correct. All else as in `span_ok`. 230 of 366 give 63 %. Paper 004,
    table 4: Exp. correct.
    """
    return _share(counts[:, 0, :], counts, source, weights, missing)


def explanation_ok_at_error(
    counts: Counts, source: Counts, weights: Counts | None, missing: int = 0
) -> Estimate:
    """Return sum counts[.., correct, error] / sum counts[.., error].

    Verdicts that find no error in the passage do not count. All else as in `span_ok`; 218 of 303
    give 72 %, where paper 004 prints none.
    """
    return _share(counts[:, :1, 0], counts[:, :, :1], source, weights, missing)


def _share(
    hits: Counts, of: Counts, source: Counts, weights: Counts | None, missing: int
) -> Estimate:
    """Return the share of all verdicts `of` (things, ..) that `hits` (things, ..) count."""
    hit, total = (one.reshape(len(source), -1).sum(axis=1).astype(np.float64) for one in (hits, of))
    return share(hit, total, source, weights, missing, of=VERDICTS)
