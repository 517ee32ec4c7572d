"""Warnings at the end of a run about judges of whose replies many are unread."""

from collections import Counter
from pathlib import Path

from judgescope.parsing.unread_shapes import (
    CORRECT_READ,
    READ_REMEDY,
    UNREAD,
    UnreadReplies,
)
from judgescope.report.rows import Rows
from judgescope.schema.tables import read_table


def unread_warnings(out: Path, coverage: Rows) -> list[str]:
    """Return a warning for each judge with many unread replies: what would help, and
    the commonest shapes.
    """
    counts = Counter[tuple[str, str]]()
    remedies: dict[tuple[str, str], str] = {}
    for row in coverage.where(statistic=f"count_{UNREAD}"):
        key = row.dataset, row.judge
        for remedy in (READ_REMEDY, CORRECT_READ):
            if remedy in row.note and row.value is not None:
                remedies[key] = remedy
                counts[key] += round(row.value)
    warnings = []
    for (dataset, judge), remedy in sorted(remedies.items()):
        number = counts[dataset, judge]
        lines = [
            f"\nwarning: {dataset}: {number:,} replies of {judge} have no verdict that "
            f"its parser finds: {remedy}"
        ]
        lines += unread_replies(out, dataset, judge).commonest()
        warnings.append("\n  ".join(lines))
    return warnings


def unread_replies(out: Path, dataset: str, judge: str) -> UnreadReplies:
    """Return the shapes of a judge's unread replies in the results; empty without
    reply files.
    """
    columns = ["aspect", "criterion", "target", "target_b", "hint", "draw"]
    unread = UnreadReplies()
    for path in sorted(out.glob(f"replies/{dataset}/*/*/{judge}.parquet")):
        judged = out / "judgments" / path.relative_to(out / "replies")
        if not judged.is_file():
            continue
        judgments = read_table("judgments", judged, [*columns, "status"]).to_pylist()
        ids = {
            tuple(row[name] for name in columns)
            for row in judgments
            if row["status"] == UNREAD
        }
        for row in read_table("answers", path, [*columns, "text"]).to_pylist():
            if tuple(row[name] for name in columns) in ids:
                unread.add_unread(row["text"] or "")
    return unread
