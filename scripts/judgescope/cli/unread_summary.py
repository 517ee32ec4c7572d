"""Warnings at the end of a run about judges of whose replies many are unread."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from judgescope.parsing.unread_shapes import (
    CORRECT_READ,
    READ_REMEDY,
    UNREAD,
    UnreadReplies,
)
from judgescope.report.rows import Rows
from judgescope.schema.tables import read_table

JudgeOfDataset = tuple[str, str]
"""A dataset and a judge."""


def with_unread(
    lost: Mapping[JudgeOfDataset, str], out: Path, coverage: Rows
) -> dict[JudgeOfDataset, str]:
    """Return warnings about lost judgments, with what helps against unread replies.

    Judges with many unread replies also get the commonest shapes of these; a judge that
    has no warning gets one.
    """
    counts = Counter[JudgeOfDataset]()
    remedies: dict[JudgeOfDataset, str] = {}
    for row in coverage.where(statistic=f"count_{UNREAD}"):
        key = row.dataset, row.judge
        for remedy in (READ_REMEDY, CORRECT_READ):
            if remedy in row.note and row.value is not None:
                remedies[key] = remedy
                counts[key] += round(row.value)
    warnings = dict(lost)
    for key, remedy in sorted(remedies.items()):
        dataset, judge = key
        title = f"\nwarning: {dataset}: {counts[key]:,} replies of {judge} are unread"
        lines = [
            warnings.get(key, title),
            f"unread replies: {remedy}",
            *unread_replies(out, dataset, judge).commonest(),
        ]
        warnings[key] = "\n  ".join(lines)
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
