"""What a job does not need, it does not import."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any


class _Absent:
    """Finds nothing, and lets nobody else find certain packages."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise ModuleNotFoundError for them, as if they were not installed."""
        if name in self.names:
            raise ModuleNotFoundError(f"this job does without {name}", name=name)


def hide_pandas() -> None:
    """Let pyarrow believe that there is no pandas, unless torch is there, which looks for it.

    It would import pandas, where it is installed, at the first list that becomes a column, to see
    whether that is a Series: longer than all that a small job does.
    """
    if find_spec("torch") is None:
        sys.meta_path.insert(0, _Absent("pandas"))


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Let what is imported within believe that these packages are not installed."""
    finder = _Absent(*names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
