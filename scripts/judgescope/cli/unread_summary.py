"""Warnings at the end of a run about judges of whose replies many are unread."""

from collections import Counter
from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path

from judgescope.parsing.unread_shapes import (
    CORRECT_READ,
    EMPTY,
    READ_REMEDY,
    SHAPES_WITHOUT_TEXT,
    UNREAD,
    UnreadReplies,
)
from judgescope.report.rows import ReportRows
from judgescope.schema.tables import read_table

JudgeOfDataset = tuple[str, str]
"""A dataset and a judge."""


def with_unread(
    lost: Mapping[JudgeOfDataset, str], out: Path, coverage: ReportRows
) -> dict[JudgeOfDataset, str]:
    """Return warnings about lost judgments, with what helps against unread replies.

    Judges with many unread replies also get the commonest shapes of these; a judge that
    has no warning gets one.
    """
    counts = Counter[JudgeOfDataset]()
    remedies: dict[JudgeOfDataset, str] = {}
    textless = set[JudgeOfDataset]()
    for row in coverage.where(statistic=f"count_{UNREAD}"):
        key = row.dataset, row.judge
        for remedy in (READ_REMEDY, CORRECT_READ):
            if remedy in row.note and row.value is not None:
                remedies[key] = remedy
                counts[key] += round(row.value)
    # Replies without text have no key of the card that helps; their reasons are shown.
    for row in coverage.where(statistic=f"count_{EMPTY}"):
        key = row.dataset, row.judge
        named = any(rule in row.note for rule in SHAPES_WITHOUT_TEXT)
        if key in lost and named:
            textless.add(key)
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
    for dataset, judge in sorted(textless - remedies.keys()):
        key = dataset, judge
        unread = unread_replies(out, dataset, judge)
        lines = [*unread.remedies(""), *unread.commonest()]
        warnings[key] = "\n  ".join([lost[key], *lines])
    return warnings


def unread_replies(out: Path, dataset: str, judge: str) -> UnreadReplies:
    """Return the shapes of a judge's replies in the results that are unread or have no
    text; empty without reply files.
    """
    columns = ["aspect", "criterion", "target", "target_b", "hint", "draw"]
    identity = itemgetter(*columns)
    unread = UnreadReplies()
    for path in sorted(out.glob(f"replies/{dataset}/*/*/{judge}.parquet")):
        judged = out / "judgments" / path.relative_to(out / "replies")
        if not judged.is_file():
            continue
        lost = {}
        facts = [*columns, "status", "rule"]
        for row in read_table("judgments", judged, facts).to_pylist():
            if row["status"] in (UNREAD, EMPTY):
                lost[identity(row)] = row
        for row in read_table("answers", path, [*columns, "text"]).to_pylist():
            judgment = lost.get(identity(row))
            if judgment is not None:
                text = row["text"] or ""
                unread.add_shape(text, judgment["status"], judgment["rule"])
    return unread
