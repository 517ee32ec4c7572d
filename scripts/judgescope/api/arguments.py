"""What the functions on arrays are given, as NumPy arrays, and what they return as a
DataFrame.
"""

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.intervals import deletions
from judgescope.statistics.raters import mean_rating
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import Deletions


def check_indexes(*values: object) -> None:
    """Raise ValueError for Series and DataFrames whose rows have different labels."""
    first: pd.Index | None = None
    for table in values:
        if not isinstance(table, pd.Series | pd.DataFrame):
            continue
        if first is None:
            first = table.index
        elif not table.index.equals(first):
            raise ValueError(
                "indexes differ: align the Series and DataFrames, or pass arrays"
            )


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise ValueError for a word that an argument does not allow."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")


def text_codes(
    source: ArrayLike | None, system: ArrayLike | None, n: int, **lengths: int
) -> tuple[Codes, Codes]:
    """Return the codes of the source and the system of n texts, (n,) each.

    lengths: the numbers of texts of the other arguments; ValueError if one differs.
    """
    sources = label_codes(source, n, "source")
    systems = system_codes(system, n)
    check_lengths(**lengths, source=sources.size, system=systems.size)
    return sources, systems


def check_lengths(**lengths: int) -> None:
    """Raise ValueError if arguments have different numbers of texts."""
    if len(set(lengths.values())) > 1:
        raise ValueError(f"lengths differ: {lengths}")


def read_numbers(values: ArrayLike, name: str) -> Floats:
    """Return values as floats, NaN = missing; ValueError for others and for
    infinity.
    """
    try:
        frame = pd.DataFrame(values) if np.ndim(values) > 1 else pd.Series(values)
        numbers = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, NaN = missing: {error}") from None
    if np.isinf(numbers).any():
        raise ValueError(f"{name} must be finite, NaN = missing")
    return np.asarray(numbers)


def read_column(values: ArrayLike, name: str) -> Floats:
    """Return (texts,) floats; ValueError for another shape."""
    numbers = read_numbers(values, name)
    if numbers.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not shape {numbers.shape}")
    return numbers


def read_columns(values: ArrayLike, name: str) -> Floats:
    """Return (texts, columns) floats; one dimension is one column."""
    numbers = read_numbers(values, name)
    if numbers.ndim == 1:
        return numbers[:, None]
    return numbers


def column_names(values: ArrayLike) -> list[str] | None:
    """Return the names of a DataFrame's columns, None where there are none."""
    if isinstance(values, pd.DataFrame):
        return list(map(str, values.columns))
    return None


def mean_of_raters(human: ArrayLike) -> Floats:
    """Return the mean over raters of each text's ratings, NaN without any."""
    return mean_rating(read_columns(human, "human").T)


def label_codes(labels: ArrayLike | None, n: int, name: str) -> Codes:
    """Return a whole number from 0 for each label; without labels each text has its
    own.
    """
    if labels is None:
        return np.arange(n)
    codes, _ = pd.factorize(pd.Series(labels), sort=True)
    if (codes < 0).any():
        raise ValueError(
            f"{name} has missing labels: {int((codes < 0).sum())} of {codes.size}"
        )
    return np.asarray(codes, np.int64)


def system_codes(labels: ArrayLike | None, n: int) -> Codes:
    """Return the codes of systems; without labels all texts are of one."""
    if labels is None:
        return np.zeros(n, np.int64)
    return label_codes(labels, n, "system")


def source_deletions(sources: Codes) -> Deletions:
    """Return the weights that leave out each source in turn."""
    return deletions(int(sources.max(initial=-1)) + 1)


def estimates_frame(
    rows: Mapping[tuple[str, str], Estimate], names: list[str]
) -> pd.DataFrame:
    """Return a row for each estimate; undefined values are NaN."""
    index = pd.MultiIndex.from_tuples(rows, names=names)
    frame = pd.DataFrame(map(asdict, rows.values()), index=index)
    return frame.astype(dict.fromkeys(("value", "ci_low", "ci_high"), "float64"))
