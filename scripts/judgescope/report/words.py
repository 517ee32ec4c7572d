"""How numbers, statistics, statuses and controls are written: a true minus, few
digits.
"""

from collections.abc import Collection, Iterable

from judgescope.parsing.judgment import OFF_GRID, OFF_GRID_REMEDY
from judgescope.statistics.registry import statistic

MINUS = "\u2212"
THIN = "\u202f"
"""A narrow space that does not break."""
DASH = "\u2013"
THOUSAND = f"1{THIN}000"
"""Statistics of influences on a judge, not of its agreement."""

LEVELS = {
    "pooled": (
        "all targets pooled",
        "One correlation over all targets of the dataset.",
    ),
    "by_source": (
        "mean over sources",
        "Correlation among the texts of one source, averaged over sources.",
    ),
    "within_source": (
        "within sources",
        "Correlation of all texts, each minus the mean of its source.",
    ),
    "by_system": ("between systems", "Correlation of the systems' mean scores."),
}

ONE_SCORE = "the same score for every aspect"
"""The mark of a judge whose prompt does not name the aspect."""
FIT_SENTENCE = (
    "Its score says how well a text fits its source for this model; it is not about an "
    "aspect. It prefers copies of the source, frequent words, and texts like those "
    "that the model writes: compare it with the control `length` and with ROUGE "
    "against the source."
)
"""What a judge measures that scores how probable a text is."""

CONTROLS = {
    "constant_top": "always the top of the scale",
    "most_frequent": "always the most frequent rating",
    "random": "seeded random",
    "shuffled": "the ratings, shuffled",
    "length": "the length of the text",
    "oracle": "knows how many errors were inserted",
}

STATUSES = {
    "ok": "ok",
    "unparsed": "unparsed",
    "out_of_range": "out of range",
    "off_grid": "between scale steps",
    "refused": "refused",
    "truncated": "truncated",
    "empty": "empty",
    "error": "error",
    "not_applicable": "not applicable",
}
ERROR_WORDS = {
    "filtered": "content filter",
    "too_long": "too long",
    "refused": "refused",
    "given_up": "given up",
    "not_reproduced": "not reproduced",
}
"""Rule of a judgment without a reply -> the words for it."""
OFF_GRID_SENTENCE = f"{STATUSES[OFF_GRID].capitalize()}: {OFF_GRID_REMEDY}."
"""The sentence on every page that counts such replies."""


def correlation(value: float) -> str:
    """Return a number of [-1, 1] with three decimals."""
    return _signed(f"{value:.3f}")


def score(value: float) -> str:
    """Return a discernment score or a mean with two decimals, without decimals from 100
    on.
    """
    return _signed(f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}")


def percent(value: float) -> str:
    """Return a share as a whole percentage; only 0 and 1 are shown as 0 and 100 %."""
    text = f"{100 * value + 0.0:.0f}"  # avoid "-0"
    if 0 < abs(value) < 1 and text.lstrip("-") in ("0", "100"):
        text = f"{100 * value:.1f}"
        bounds = {"0.0": "<0.1", "100.0": ">99.9", "-0.0": ">-0.1", "-100.0": "<-99.9"}
        text = bounds.get(text, text)
    return f"{text.replace('-', MINUS)}{THIN}%"


def p_value(value: float) -> str:
    """Return a p-value with two significant digits, very small ones as a bound."""
    return "<0.0001" if value < 1e-4 else f"{value:.2g}"


def amount(value: float) -> str:
    """Return three significant digits, or a whole number from 100 on."""
    if abs(value) >= 100:
        return count(value)
    return _signed(f"{value:.3g}")


def dollars(price: float) -> str:
    """Return a price with two decimals; below 1, two significant digits; from 1000 on,
    none.
    """
    if price >= 1000:
        return count(price)
    if 0 < price < 0.995:
        return f"{price:#.2g}"
    return f"{price:.2f}"


def count(value: float) -> str:
    """Return a whole number with thin spaces between thousands."""
    return _signed(f"{round(value):,}").replace(",", THIN)


def exact(value: float) -> str:
    """Return a number for a program: reading the text gives the same number."""
    return repr(float(value)).removesuffix(".0")


def plural(number: int, noun: str, nouns: str = "") -> str:
    """Return the number with its noun.

    >>> plural(1, "reply", "replies"), plural(2, "text")
    ('1 reply', '2 texts')
    """
    return f"{count(number)} {noun if number == 1 else nouns or noun + 's'}"


def listed(names: list[str]) -> str:
    """Return names as a part of a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _signed(text: str) -> str:
    """Return the number with a true minus, and no minus on zero."""
    if not text.startswith("-"):
        return text
    if text.strip("-0.,"):
        return MINUS + text[1:]
    return text[1:]


WRITTEN = {
    "correlation": correlation,
    "score": score,
    "percent": percent,
    "p_value": p_value,
    "amount": amount,
}
"""Kind of statistic -> how its value is written."""


def written(name: str, value: float) -> str:
    """Return a value of the statistic as text."""
    return WRITTEN[statistic(name).kind](value)


def brief(name: str, value: float) -> str:
    """Return a value with two digits behind the point, for headlines and the matrix.

    Rounded from the exact number, so that tables have the same one with more digits.
    """
    kind = statistic(name).kind
    if kind == "correlation":
        return _signed(f"{value:.2f}")
    return WRITTEN[kind](value)


def label(name: str) -> str:
    """Return the statistic's label."""
    return statistic(name).label


def spoken(code: str) -> str:
    """Return a reason without underscores."""
    return code.replace("_", " ")


def known_names(names: Iterable[str], known: Collection[str]) -> list[str]:
    """Return those of some names that are known, in their order.

    >>> known_names(["f1", "mcc", "ac1"], {"ac1", "f1"})
    ['f1', 'ac1']
    """
    return [name for name in names if name in known]
