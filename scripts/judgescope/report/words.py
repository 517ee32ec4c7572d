"""What statistics, levels, statuses and controls are called in the report."""

from judgescope.parsing.judgment import OFF_GRID, OFF_GRID_REMEDY
from judgescope.report import numbers
from judgescope.statistics.registry import statistic

WRITTEN = {
    "correlation": numbers.correlation,
    "score": numbers.score,
    "percent": numbers.percent,
    "p_value": numbers.p_value,
    "amount": numbers.amount,
}
"""Kind of statistic -> how its value is written."""
SWAYS = ("partial_pearson", "partial_spearman", "length_slope", "self_preference")
"""What tells what sways a judge, not how well it agrees."""

LEVELS = {
    "pooled": ("all targets pooled", "One correlation over all targets of the dataset."),
    "by_source": (
        "mean over sources",
        "Correlation among the texts of one source, averaged over sources.",
    ),
    "by_system": ("between systems", "Correlation of the systems' mean scores."),
}

CONTROLS = {
    "constant_top": "always the top of the scale",
    "most_frequent": "always the most frequent rating",
    "random": "seeded random",
    "shuffled": "the ratings, shuffled",
    "length": "the length of the text",
    "oracle": "knows how many errors were put in",
}

STATUSES = {
    "ok": "ok",
    "unparsed": "unparsed",
    "out_of_range": "out of range",
    "off_grid": "between steps",
    "refused": "refused",
    "truncated": "truncated",
    "empty": "empty",
    "error": "error",
    "not_applicable": "not applicable",
}
OFF_GRID_SENTENCE = f"{STATUSES[OFF_GRID].capitalize()}: {OFF_GRID_REMEDY}."
"""Stands wherever a page counts such replies."""


def written(name: str, value: float) -> str:
    """Return a value of the statistic as text."""
    return WRITTEN[statistic(name).kind](value)


def label(name: str) -> str:
    """Return the statistic's label."""
    return statistic(name).label


def spoken(code: str) -> str:
    """Return a reason without underscores."""
    return code.replace("_", " ")
