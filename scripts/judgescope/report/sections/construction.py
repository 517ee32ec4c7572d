"""Construction: how texts of every rating and texts in a row were made, and what that cost."""

from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Line,
    Section,
    Table,
    dollars,
    estimate,
    whole,
)
from judgescope.report.report import Dataset, Report
from judgescope.report.rows import Rows
from judgescope.report.sections.shared import columns_of, section_of
from judgescope.report.words import spoken

ANCHORS = (
    "anchors_above_lower",
    "anchors_above_same",
    "anchors_below_same",
    "anchors_below_higher",
)
LEVELS = {"neighbours": "Anchors of neighbouring ratings", "all": "Anchors of any two ratings"}
SHARES = ("share_chosen", "share_unresolved", "share_failed", "share_unanswered", "ratings_tied")
COUNTS = ("replies", "prompt_tokens", "completion_tokens", "reasoning_tokens")
SOURCE = "tables/construction.csv"
LEAD = (
    "How texts with known quality were made for this study. A graded set has texts of every "
    "rating: errors are put into references, and a text's rating is told by their number, or by "
    "comparing it with anchors, texts on whose rating people (and a judge) agree. Texts in a row "
    "have one error more each. No number here is about a judge."
)


def section(report: Report) -> Section | None:
    """Return the ratings of graded sets, what tells of their quality, and the cost of each step."""
    return section_of(report, "construction", "Construction", LEAD, _dataset)


def built_sets(rows: Rows) -> set[str]:
    """Return the graded sets that a study built; of others nobody knows how many errors they have.

    `rows` are a dataset's.
    """
    return {row.cell for row in rows.where(statistic="errors_mean") if row.value is not None}


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    cells = list(dict.fromkeys(row.cell for row in rows.where(statistic="class_count")))
    tables = [_ratings(dataset, rows, cells)] if cells else []
    if built := [cell for cell in cells if cell in built_sets(rows)]:
        tables.append(_outcomes(dataset, rows, built))
    anchored = [cell for cell in cells if len(rows.where(cell=cell, statistic=ANCHORS))]
    if anchored:
        tables.append(_anchors(dataset, rows, anchored))
    steps = rows.where(statistic="replies")
    return [*tables, *([_costs(dataset, rows, steps)] if len(steps) else [])]


def _ratings(dataset: Dataset, rows: Rows, cells: list[str]) -> Table:
    """Return how many texts have each rating, and how many errors those have in the mean."""
    counts = rows.where(statistic="class_count")
    most = max(row.k for row in counts)
    lines = []
    for cell in cells:
        number = {row.k: row for row in counts.where(cell=cell)}
        errors = {row.k: row for row in rows.where(statistic="errors_mean", cell=cell)}
        found = [whole(round(number[k].value or 0)) if k in number else Cell("") for k in _to(most)]
        found += [estimate(errors.get(k)) for k in _to(most)]
        lines.append(Line(cell, found))
    columns = [
        Column(f"class {k}", group=group)
        for group in ("Texts", "Errors in the mean")
        for k in _to(most)
    ]
    caption = f"{dataset.name}: texts of each rating, from the lowest, and the errors in them."
    return Table(caption, "Graded set", columns, [Body(lines)], source=SOURCE)


def _to(most: int) -> range:
    return range(1, most + 1)


def _outcomes(dataset: Dataset, rows: Rows, cells: list[str]) -> Table:
    """Return what became of the candidates of each set."""

    def found(cell: str) -> list[Cell]:
        own = {row.statistic: row for row in rows.where(cell=cell, statistic=SHARES)}
        return [estimate(own.get(name), counts=True) for name in SHARES]

    titles = ("Chosen", "Unresolved", "Failed", "Unanswered", "Several ratings fit equally")
    columns = [Column(title) for title in titles]
    notes = (
        "Unresolved: no anchor is better or worse, or none of a rating got an answer. Failed: the "
        "model's text could not be used. Candidates that are neither are spare, or the same as "
        "another. Unanswered: comparisons of "
        "which a reply in one order says nothing.",
    )
    caption = f"{dataset.name}: what became of the candidates."
    lines = [Line(cell, found(cell)) for cell in cells]
    return Table(caption, "Graded set", columns, [Body(lines)], notes, source=SOURCE)


def _anchors(dataset: Dataset, rows: Rows, cells: list[str]) -> Table:
    """Return where texts lie among the anchors, and how well the comparator knows these."""

    def found(cell: str) -> list[Cell]:
        own = {row.statistic: row for row in rows.where(cell=cell, statistic=ANCHORS)}
        comparator = {
            row.level: row for row in rows.where(cell=cell, statistic="comparator_accuracy")
        }
        return [
            *(estimate(own.get(name)) for name in ANCHORS),
            *(estimate(comparator.get(level), counts=True) for level in LEVELS),
        ]

    columns = [
        *columns_of(ANCHORS, "Texts"),
        *(Column(title, "", "The comparator is right") for title in LEVELS.values()),
    ]
    notes = (
        "Best is 100 % in the outer two columns of the texts, and two inner ones alike. The "
        "comparator is right where it names the better anchor in both orders.",
    )
    caption = f"{dataset.name}: the chosen texts among the anchors, and the comparator on these."
    lines = [Line(cell, found(cell)) for cell in cells]
    return Table(caption, "Graded set", columns, [Body(lines)], notes, source=SOURCE)


def _costs(dataset: Dataset, rows: Rows, steps: Rows) -> Table:
    """Return what each step of the construction was asked and cost."""
    lines = []
    for step in steps:
        own = rows.where(judge=step.judge, perturbation=step.perturbation)
        told = {row.statistic: row for row in own}
        cells = [whole(round(told[name].value or 0)) for name in COUNTS]
        cells += [dollars(told["usd"].value)]
        lines.append(Line(f"{step.form}: {step.perturbation}", [Cell(step.judge), *cells]))
    columns = [Column("Model"), *(Column(spoken(name)) for name in (*COUNTS, "usd"))]
    caption = f"{dataset.name}: what each step of the construction cost, by model."
    return Table(caption, "Step", columns, [Body(lines)], source=SOURCE, code=False)
