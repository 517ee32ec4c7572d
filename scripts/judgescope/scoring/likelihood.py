"""Scores of judges that ask how probable a text is: likelihood and pmi.

With t_1 … t_m the scored tokens of a text, C the prompt with the source and C_0 the
same form without it:

    likelihood = (1/m) Σ log P(t_i | C, t_1 … t_{i-1})
    pmi        = (1/m) Σ [log P(t_i | C, t_<i) - log P(t_i | C_0, t_<i)]

Natural logarithms; the end token is not counted. Higher is better. Source of
likelihood: GPTScore (Fu et al. 2024).
"""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from judgescope.core.names import SCORE, SCORE_FREE
from judgescope.parsing.judgment import Judgment
from judgescope.scoring.specs import ReplyReading

TokenValues = Sequence[Sequence[tuple[str, float]]]
"""For each token of a text its text and log probability; empty for a token that spells
only a part of a character and has no value."""


def mean_log_probability(given: TokenValues) -> float | None:
    """Return the mean log probability of the tokens that have one; None without any.

    >>> mean_log_probability([[("A", -1.0)], [], [(" b", -3.0)]])
    -2.0
    """
    values = [token[0][1] for token in given if token]
    if values:
        return fsum(values) / len(values)
    return None


def mean_gain(given: TokenValues, free: TokenValues) -> float | None:
    """Return by how much the source raises the mean log probability of the same tokens.

    Tokens without a value on either side are left out on both; None without any.
    ValueError if the sides have other tokens.

    >>> mean_gain([[("A", -1.0)], [(" b", -3.0)]], [[("A", -2.0)], [(" b", -5.0)]])
    1.5
    """
    gains = list[float]()
    for with_source, without in zip(given, free, strict=True):
        if not with_source or not without:
            continue
        if with_source[0][0] != without[0][0]:
            raise ValueError("the two replies are about other tokens")
        gains.append(with_source[0][1] - without[0][1])
    if gains:
        return fsum(gains) / len(gains)
    return None


def split_share(part: str, given: TokenValues) -> float:
    """Return the share of a part's characters that tokens without values spell.

    >>> round(split_share("Ça va", [[], [], [("a", -1.0)], [(" va", -2.0)]]), 9)
    0.2
    """
    if all(given) or not part:
        return 0.0
    valued = [token[0][0] for token in given if token]
    return 1 - sum(map(len, valued)) / len(part)


def judged_text(
    reply: Mapping[str, Any],
    free: Mapping[str, Any] | None,
    *,
    text: str,
    estimator: str,
) -> Judgment:
    """Return the judgment of a text from the tokens' values; `text` is all of it.

    `reply`: the columns `text` and `logprobs` of its reply; `free`: of that without the
    source, for pmi.
    """
    part = reply["text"]
    given = reply["logprobs"]
    if given is None or (free is not None and free["logprobs"] is None):
        return Judgment("error", "no_logprobs")
    # The largest share of a scored part's characters that the tokenizer may split.
    most_split = 0.1
    split_characters = "the tokenizer splits its characters"
    if split_share(part, given) > most_split:
        return Judgment("not_applicable", split_characters)
    try:
        if free is None:
            value = mean_log_probability(given)
        else:
            value = mean_gain(given, free["logprobs"])
    except ValueError:
        return Judgment("error", "not_reproduced")
    if value is None:
        return Judgment("empty", "empty")
    ends = [estimator]
    if len(part) < len(text):
        ends.append("cut")
    if not all(given):
        ends.append("split")
    return Judgment("ok", ".".join(ends), value)


def scored_rows(answers: pa.Table) -> pa.Table:
    """Return the rows of the prompts with the source: one for each text."""
    return answers.filter(pc.equal(answers["kind"], SCORE))


def judgments_of(
    answers: pa.Table,
    parsed: Sequence[Judgment],
    reading: ReplyReading,
    texts: Mapping[str, str],
) -> list[Judgment]:
    """Return a judgment for each row of `scored_rows`.

    `parsed`: of all answers, whose statuses are passed on; for pmi that of the prompt
    without the source, too. `texts`: target -> its text.
    """
    rows = answers.select(["kind", "target", "text", "logprobs"]).to_pylist()
    free: dict[str, tuple[Mapping[str, Any], Judgment]] = {}
    for row, judgment in zip(rows, parsed, strict=True):
        if row["kind"] == SCORE_FREE:
            free[row["target"]] = row, judgment
    judgments = list[Judgment]()
    pmi = "pmi"
    for row, judgment in zip(rows, parsed, strict=True):
        if row["kind"] != SCORE:
            continue
        other = None
        without = judgment
        if reading.estimator == pmi and judgment.status == "ok":
            other, without = free[row["target"]]
        if judgment.status != "ok" or without.status != "ok":
            judgments.append(judgment if judgment.status != "ok" else without)
            continue
        by_tokens = judged_text(
            row, other, text=texts[row["target"]], estimator=reading.estimator
        )
        judgments.append(by_tokens._replace(parser=judgment.parser))
    return judgments
