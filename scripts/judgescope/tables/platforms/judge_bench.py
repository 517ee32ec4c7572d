"""Data of JUDGE-BENCH, with a judge's scores as keys of its instances."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import text_of
from judgescope.tables.profile import numbers_in


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each instance; a key of it that holds scores by metric is a judge."""
    root = export.root
    scales = _scales(root.parts("annotations"), export.where)
    rows: list[dict[str, Any]] = []
    judges: dict[str, dict[str, str]] = {}
    for instance in root.parts("instances"):
        row: dict[str, Any] = {
            "id": f"{instance.need('id')}",
            "output": text_of(instance.need("instance")),
        }
        people = instance.part("annotations")
        for name in scales:
            given = people.optional(name)
            row[f"people ({name})"] = given.get("individual_human_scores") or []
        for judge, scores in instance.content.items():
            # These keys of an instance belong to no judge.
            if judge in ("id", "instance", "annotations"):
                continue
            if not isinstance(scores, dict):
                continue
            for name in scales.keys() & scores.keys():
                column = f"{judge} ({name})"
                row[column] = _draws(scores[name])
                judges.setdefault(slug(judge), {})[slug(name)] = column
        rows.append(row)
    table = PlatformTable(rows, item="id", text="output", judges=judges)
    for name, scale in scales.items():
        table.people[slug(name)] = [f"people ({name})"]
        table.scales[slug(name)] = scale
    _drop_words(table)
    return table


def _draws(scores: Any) -> Any:
    """A judge's score; a list of several scores is its draws."""
    values = scores if isinstance(scores, list) else [scores]
    numbers = list(chain.from_iterable(map(numbers_in, values)))
    if not numbers:
        return None
    if len(numbers) == 1:
        return numbers[0]
    return numbers


def _drop_words(table: PlatformTable) -> None:
    """Leave out judges without a number: their replies in words."""
    for judge, scores in list(table.judges.items()):
        filled = False
        for name in scores.values():
            filled |= any(row.get(name) is not None for row in table.rows)
        if not filled:
            del table.judges[judge]


def _scales(
    annotations: Sequence[ExportPart], where: str
) -> dict[str, dict[str, float]]:
    """Metric -> its scale, without metrics that are categories."""
    scales = dict[str, dict[str, float]]()
    metrics = []
    categories = ("categorical", "graded", "continuous")
    for annotation in annotations:
        category = annotation.need("category")
        name = str(annotation.need("metric"))
        metrics.append(name)
        if category not in categories:
            raise UserError(
                "this category of annotations of JUDGE-BENCH is not known",
                where=annotation.where,
                got=category,
                allowed=", ".join(categories),
            )
        if category == "categorical":
            continue
        worst = annotation.need("worst")
        best = annotation.need("best")
        if not worst < best:
            raise UserError(
                "the best value of a scale must be its highest",
                where=f"{where}, metric {name}",
                got=f"worst {worst}, best {best}",
                todo="reverse the scores: replace each by worst + best - score",
            )
        scales[name] = {"min": worst, "max": best}
        if category == "graded":
            scales[name]["step"] = 1
    if not scales:
        raise UserError(
            "all annotations in these results are categories, which have no order",
            where=where,
            got=", ".join(metrics),
            allowed="annotations of category graded or continuous",
        )
    return scales


JUDGE_BENCH = Platform(
    name="judge-bench",
    title="JUDGE-BENCH",
    version="of 2024",
    link="https://github.com/dmg-illc/JUDGE-BENCH/tree/master/data",
    found_by="`annotations`, `instances`",
    people="`individual_human_scores`",
    judge="keys of an instance with scores by metric; lists are draws",
    recognise=lambda export: export.has_keys("annotations", "instances"),
    read=_read,
)
