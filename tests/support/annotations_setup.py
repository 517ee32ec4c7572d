"""What several tests of annotations share."""

from typing import Any


def repeat(row: dict[str, Any]) -> None:
    """Let `hasty` explain in the words of `careful`: every third of its errors is then the same."""
    for span in row["spans"]:
        span["explanation"] = span["explanation"].replace("Told", "Said")
