"""Words among labels which say that there is no label: ERROR beside pass and fail."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from judgescope.tables.labels import order_of, plain_label
from judgescope.tables.no_answer import says_no_answer
from judgescope.tables.profile import MOST_LABELS
from judgescope.tables.spelling import MOST_FAILURES, is_missing, says_failure

TECHNICAL: Final = frozenset(
    {
        "error",
        "errors",
        "timeout",
        "timed",
        "exception",
        "aborted",
        "cancelled",
        "unavailable",
        "unparsed",
        "unreadable",
        "unrated",
        "pending",
        "tbd",
    }
)
"""Words of programs and plans, which are no opinion of anybody."""


def label_failures(
    columns: Mapping[str, Sequence[object]],
) -> dict[str, dict[str, int]]:
    """Column -> cell that says there is no label -> how often it occurs.

    Such a cell is rare in its column, and the other words are labels of a known order,
    or the cell says that a person gave no answer: `k. A.`
    A word such as `unsure` that two columns share is a label.

    >>> label_failures({"judge": ["pass"] * 9 + ["fail"] * 9 + ["ERROR"] * 2})
    {'judge': {'ERROR': 2}}
    """
    counts: dict[str, Counter[str]] = {}
    for column, cells in columns.items():
        times = Counter(str(cell).strip() for cell in cells if not is_missing(cell))
        if 2 < len(times) <= MOST_LABELS + 2:
            counts[column] = times
    shared = Counter[str]()
    for times in counts.values():
        shared.update({plain_label(word) for word in times})
    failures_of: dict[str, dict[str, int]] = {}
    for column, times in counts.items():
        failures = {}
        for word, count in times.items():
            if _says_nothing(word, shared[plain_label(word)]):
                failures[word] = count
        others = [word for word in times if word not in failures]
        rare = sum(failures.values()) <= MOST_FAILURES * sum(times.values())
        if not failures or not rare:
            continue
        are_labels = _is_known(others) and not _is_known(list(times))
        if are_labels or all(map(says_no_answer, failures)):
            failures_of[column] = failures
    return failures_of


def _says_nothing(word: str, columns: int) -> bool:
    """Whether a word that so many columns have says that there is no label."""
    if says_no_answer(word):
        return True
    words = set(plain_label(word).split())
    # Words that are labels as often as they say that there is none.
    outcome_words = frozenset({"failed", "failure", "invalid", "refused", "refusal"})
    if not says_failure(word) or words & outcome_words:
        return False
    return bool(words & TECHNICAL) or columns == 1


def _is_known(words: Sequence[str]) -> bool:
    """Whether words are labels whose order is known."""
    order = order_of(words)
    return order is not None and order.ordered and not order.note
