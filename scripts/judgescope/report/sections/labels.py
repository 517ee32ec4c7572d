"""Labels: the share of each kind of text that a judge finds, and how it labels the
others.
"""

from collections.abc import Iterator
from urllib.parse import quote, urlencode

from judgescope.methods.claims.agreement import LABEL_STATISTIC
from judgescope.methods.labels import UNREAD_LABEL
from judgescope.report import tables
from judgescope.report.elements import Block, Column, Fold, Table, Text
from judgescope.report.headline import PERSON
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Rows
from judgescope.report.words import label

LEAD = (
    "How far a judge's label can be relied on depends on how many texts are good: "
    "precision, accuracy and agreement beyond chance are valid only at the base rate "
    "of these texts; the shares of bad and of good texts that are found do not depend "
    "on it."
)
SHARES = ("tnr", "tpr", "precision", "npv")
WHOLE = (
    "balanced_accuracy",
    "label_accuracy",
    "f1",
    "f1_macro",
    "mcc",
    "kappa_nominal",
    "ac1",
)
LEVEL = "pooled"
COMPARED = LABEL_STATISTIC
RANKED = (COMPARED, "label_accuracy")
"""The statistics by which judges are ranked; the first one decides."""


def _with_left_out(report: Report, blocks: list[Block]) -> list[Block]:
    left_out = (Text(f"{line[0].upper()}{line[1:]}.") for line in report.spec.left_out)
    return [*blocks, *left_out]


@tables.section_of("Evidence", 12, "labels", "Labels", LEAD, finish=_with_left_out)
def section(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield per aspect a table of judges, and their confusion matrices."""
    for aspect in dataset.aspects:
        of_aspect, labels = rows.where(judged=aspect), dataset.labels_on(aspect)
        if labels and len(of_aspect):
            yield from _aspect(report, dataset, aspect, of_aspect, labels)


def _aspect(
    report: Report, dataset: Dataset, aspect: str, rows: Rows, labels: list[str]
) -> Iterator[Block]:
    name = f"{dataset.name}, {report.aspect(aspect)}"
    shown = [*(SHARES if len(labels) == 2 else ()), *WHOLE]
    known = {*rows.names("statistic")}
    spec = tables.TableSpec(
        f"{name}: labels {', '.join(labels)}; the last label is the positive class.",
        tables.statistic_columns([one for one in shown if one in known], aspect=aspect),
        level=LEVEL,
        source="tables/labels.csv",
        counts=True,
    )
    yield tables.chart(
        f"{name}: people's labels that each judge finds",
        "The share of the texts of each label that a judge finds, and the mean of "
        "these shares.",
        spec.filled([*report.judges, PERSON], rows),
        line=0.5,
        axis="share of texts found, with 95 % interval",
        statistics=[COMPARED, *SHARES[:2]],
    )
    counts = rows.where(statistic="class_count")
    matrices = [
        _matrix(report, dataset, judge, aspect, labels, counts.where(judge=judge.id))
        for judge in report.judges_of(counts)
    ]
    yield Fold(f"{name}, people's labels and each judge's", matrices)
    compared = report.rows("comparison", dataset.id).where(judged=aspect)
    tested = {*compared.names("judge"), *compared.names("judge_b")}
    judges = [judge for judge in report.judges if judge.id in tested]
    if len(judges) > 1:
        columns = [
            Column(label(one), statistic=f"rank_{one}", where={"aspect": aspect})
            for one in RANKED
        ]
        yield tables.TableSpec(
            f"{name}: ranks, with the 95 % interval of the rank; judges that share a "
            "letter do not differ significantly (paired permutations, of accuracy "
            "McNemar's test by source; Holm).",
            columns,
            level=LEVEL,
            source="tables/comparison.csv",
            cell=tables.rank_cell,
        ).filled(judges, compared)
    yield from tables.matrix(
        compared, judges, COMPARED, name, aspect=aspect, level=LEVEL
    )


def _matrix(
    report: Report,
    dataset: Dataset,
    judge: Judge,
    aspect: str,
    labels: list[str],
    rows: Rows,
) -> Table:
    """Return a judge's confusion matrix; a count leads to its texts.

    Where scores are not labels (a threshold, the control length), to all texts of the
    line.
    """
    where = {
        "dataset": dataset.id,
        "judge": judge.id,
        "aspect": aspect,
        "perturbation": "systems",
    }

    unread = [UNREAD_LABEL] if any(row.k_b == len(labels) + 1 for row in rows) else []

    def link(k: int, k_b: int) -> str:
        if k_b > len(labels):
            return ""
        cell = {**where, "people": str(k - 1)}
        if not report.spec.judges[judge.id].thresholded:
            cell["score"] = str(k_b - 1)
        return f"explore.html#{urlencode(cell, quote_via=quote)}"

    return tables.class_table(
        rows,
        len(labels),
        f"{dataset.name}, {report.aspect(aspect)}: people's labels (rows) and those of "
        f"{judge.id} (columns).",
        "People",
        "people's label",
        names=labels,
        more=unread,
        link=link,
    )
