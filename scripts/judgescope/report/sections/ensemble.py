"""Ensembles and the judge distilled from one: their agreement, and what their members
add.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from judgescope.report import elements
from judgescope.report.cells import ReportCell, estimate, figures
from judgescope.report.charts import PALETTE, Curve, curves_spec, svg
from judgescope.report.panels import SubsetPlot, panels_spec
from judgescope.report.report import Report, ShownDataset, TrainingStep
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.specs import Distilled
from judgescope.report.tables import (
    AVERAGE,
    Entry,
    RowGroup,
    TableSpec,
    aspect_or_mean,
)
from judgescope.report.words import LEVELS, amount, count, label, listed, plural, spoken
from judgescope.statistics.registry import names_of_group, statistic

TOGETHER = "+"
"""Joins the ids of members."""
OF_LABELS = (
    ("balanced_accuracy", "pooled"),
    ("label_accuracy", "pooled"),
    ("kappa_nominal", "pooled"),
)
"""Statistics and levels of labels, the deciding one first."""
TIES_NOTE = (
    "Texts on which members tie have no label: members of an even number, who tie more "
    "often, are compared with people on the easier texts."
)
TRAIN = "train"
HELD_OUT = "held_out"
SPLITS = {TRAIN: "the replies of one step", HELD_OUT: "the held-out replies"}


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[elements.PageBlock]:
    """Yield per ensemble its figure, what its members add, and their errors."""
    for judge, of_judge in rows.by("judge").items():
        if of_judge.names("aspect") == [""]:
            yield elements.Paragraph(f"`{judge}`: {next(iter(of_judge)).note}.")
        else:
            yield from _Ensemble(report, dataset, judge, of_judge).blocks()


class _Ensemble:
    """One ensemble on one dataset; `aspects` as cells call them, the means last.

    `student` is the judge that was taught what it says, "" without one.
    """

    def __init__(
        self, report: Report, dataset: ShownDataset, judge: str, rows: ReportRows
    ) -> None:
        self.report = report
        self.judge = judge
        self.rows = rows
        self.name = f"{dataset.name}, {judge}"
        self.aspects = sorted(
            rows.names("judged"), key=lambda aspect: aspect.partition(".")[0] == AVERAGE
        )
        self.size = rows.highest_class
        self.all_members = next(
            row.judge_b for row in rows if row.k == self.size and row.judge_b
        )
        self.members = self.all_members.split(TOGETHER)
        of_student = (
            row.judge_b for row in rows if row.statistic.startswith("student_")
        )
        self.student = next(of_student, "")
        known = {(row.statistic, row.level) for row in rows}
        names = ("pearson", "spearman", "kendall_b")
        measures = [(name, level) for level, name in product(LEVELS, names)]
        measures += OF_LABELS
        self.measures = [measure for measure in measures if measure in known]
        main = ("spearman", "pooled")
        self.main = main if main in known else OF_LABELS[0]

    def blocks(self) -> Iterator[elements.PageBlock]:
        yield from self._figure()
        yield self._summed(*self.main)
        yield from self._errors()
        rest = []
        for measure in self.measures:
            if measure != self.main:
                rest.append(self._summed(*measure))
        yield elements.Fold(f"{self.name}: other statistics and levels", rest)

    def _at(
        self, name: str, level: str, aspect: str, judge_b: str = "", k: int = 0
    ) -> ReportRow | None:
        return self.rows.find(
            self.judge, name, aspect=aspect, level=level, judge_b=judge_b, k=k
        )

    def _subsets(self, name: str, level: str, aspect: str) -> list[ReportRow]:
        return [*self.rows.where(statistic=name, level=level, judged=aspect).defined]

    def _table(
        self,
        caption: str,
        corner: str,
        groups: Sequence[RowGroup],
        measure: tuple[str, str],
        *notes: str,
    ) -> elements.PageTable:
        """Return a table with a column for each aspect; `measure` is what lines show by
        default.
        """
        columns = []
        for aspect in self.aspects:
            head = aspect_or_mean(self.report, aspect)
            columns.append(elements.TableColumn(head, where={"aspect": aspect}))
        name, level = measure
        spec = TableSpec(
            caption,
            columns,
            groups,
            statistic=name,
            level=level,
            judge=self.judge,
            notes=notes,
            source="tables/ensemble.csv",
            corner=corner,
            code=False,
        )
        return spec.filled((), self.rows)

    def _summed(self, name: str, level: str) -> elements.PageTable:
        """Return one statistic of the ensemble, of its best member, and what each
        member adds.
        """
        best = []
        gains = []
        for aspect in self.aspects:
            single = [row for row in self._subsets(name, level, aspect) if row.k == 1]
            row = max(single, key=lambda row: row.value or 0.0, default=None)
            cell = estimate(row)
            gain = None
            if row:
                member = row.judge_b
                cell = replace(cell, notes=(member, *cell.notes))
                gain = self._at(f"difference_{name}", level, aspect, member)
            best.append(cell)
            gains.append(estimate(gain))
        of_all: list[Entry | elements.TableLine] = [
            Entry("all members", {"judge_b": self.all_members, "k": self.size}),
            elements.TableLine("best single member", best),
            elements.TableLine("all minus the best", gains),
            Entry("single members, mean", {"statistic": f"subset_mean_{name}", "k": 1}),
        ]
        alone = []
        adds = []
        for member in self.members:
            alone.append(Entry(member, {"judge_b": member, "k": 1}))
            adds.append(Entry(member, {"judge_b": member}))
        votes = (name, level) in OF_LABELS
        caption = (
            f"{self.name}: {label(name)} with people's "
            f"{'label' if votes else 'mean rating'}, {LEVELS[level][0]}, of "
            f"{plural(self.size, 'member')}. All differences are on the same texts."
        )
        groups = [RowGroup(lines=of_all), RowGroup("Each member alone", lines=alone)]
        best_note = (
            "The best member is chosen on the same data on which it is evaluated: its "
            "value is likely too high, and the ensemble's advantage too low."
        )
        measure = (name, level)
        if votes:
            notes = (best_note, TIES_NOTE)
            return self._table(caption, "Ensemble", groups, measure, *notes)
        added = "Ensemble of all minus the ensemble without"
        groups.append(
            RowGroup(added, {"statistic": f"contribution_{name}"}, lines=adds)
        )
        groups += self._of_student(name)
        return self._table(caption, "Ensemble", groups, measure, best_note)

    def _of_student(self, name: str) -> list[RowGroup]:
        """Return the numbers of the distilled judge, nothing without one."""
        if not self.student:
            return []
        lines = [
            Entry("alone", {"statistic": f"student_{name}"}),
            Entry(
                "all members minus this judge",
                {"statistic": f"student_difference_{name}"},
            ),
            Entry(
                "with all members in place of people",
                {"statistic": f"student_with_teacher_{name}"},
            ),
        ]
        title = f"The distilled judge: {self.student}"
        return [RowGroup(title, {"judge_b": self.student}, lines=lines)]

    def _errors(self) -> Iterator[elements.PageTable]:
        name = "error_correlation"
        pairs = []
        for pair in self.rows.where(statistic=name).names("judge_b"):
            pairs.append(Entry(pair.replace(TOGETHER, " and "), {"judge_b": pair}))
        if not pairs:
            return
        mean = "error_correlation_mean"
        effective = "effective_judges"
        sums = [
            Entry(label(mean), {"statistic": mean}),
            Entry(label(effective), {"statistic": effective}),
        ]
        caption = (
            f"{self.name}: {statistic(name).meaning}. Effective judges: "
            f"{statistic('effective_judges').meaning}; if all errors were independent, "
            f"{self.size}."
        )
        groups = [
            RowGroup(lines=sums),
            RowGroup("Error correlation of two members", {"k": 2}, lines=pairs),
        ]
        note = (
            "Errors in people's ratings are part of every member's error and so count "
            "as shared."
        )
        yield self._table(caption, "Members", groups, (name, "pooled"), note)

    def _figure(self) -> Iterator[elements.PageFigure]:
        """Yield how correlation grows with the size of an ensemble, a panel for each
        aspect.
        """
        name, level = self.main
        title = f"{self.name}: {label(name)} with people by size of the ensemble"
        mean = f"subset_mean_{name}"
        growth = []
        students = []
        panels = []
        for aspect in self.aspects:
            subsets = self._subsets(name, level, aspect)
            if not subsets:
                continue
            heading = aspect_or_mean(self.report, aspect)
            first = self._at(mean, level, aspect, k=1)
            last = self._at(mean, level, aspect, k=self.size)
            if first and last:
                growth.append(f"{heading} from {figures(first)} to {figures(last)}")
            student = self._at(f"student_{name}", level, aspect, self.student)
            if student and student.value is not None:
                students.append(f"{heading} {figures(student)}")
            means = self._subsets(mean, level, aspect)
            of_all = [row for row in subsets if row.judge_b == self.all_members]
            complete = of_all[0] if of_all else None
            panels.append(SubsetPlot(heading, subsets, means, complete, student))
        if not panels:
            return
        summary = (
            f"{label(name)} over all targets pooled, of every subset of the members, "
            f"by size. On average, from one member to all {self.size}, with intervals: "
            f"{listed(growth)}."
        )
        if self.main in OF_LABELS:
            summary += f" {TIES_NOTE}"
        keys = [
            elements.LegendKey("●", "blue", "a subset of the members"),
            elements.LegendKey("–", "red", "mean of all subsets of a size"),
            elements.LegendKey("▮", "red", "95 % interval of that mean"),
            elements.LegendKey("|", "ink", "95 % interval of all members"),
        ]
        if students:
            summary += (
                f" Trained on their output, {self.student} reaches {listed(students)}."
            )
            text = f"{self.student}, with its 95 % interval"
            keys.append(elements.LegendKey("┄", "green", text))
        drawn = svg(panels_spec(panels, x="members"))
        yield elements.PageFigure(title, drawn, summary, keys, self._numbers(title))

    def _numbers(self, title: str) -> elements.PageTable:
        """Return the numbers of the figure: every subset, under its size, and their
        mean.
        """
        name, level = self.main
        by_size = dict[int, dict[str, Entry]]()
        for row in self.rows.where(statistic=name, level=level):
            members = row.judge_b
            entry = Entry(members.replace(TOGETHER, ", "), {"judge_b": members})
            by_size.setdefault(row.k, {})[members] = entry
        groups = []
        for size, subsets in sorted(by_size.items()):
            head = f"mean of {plural(len(subsets), 'subset')}"
            mean = Entry(head, {"statistic": f"subset_mean_{name}"})
            lines = [mean, *subsets.values()]
            members = f"Of {plural(size, 'member')}"
            groups.append(RowGroup(members, {"k": size}, lines=lines))
        return self._table(
            f"{title}.", "Members", [*groups, *self._of_student(name)], self.main
        )


# --- the distilled judge --------------------------------------------------------------


def distilled(report: Report) -> Iterator[elements.PageBlock]:
    """Yield teacher and student, the recipe, the training curve, and held-out
    losses.
    """
    card = report.spec.distilled
    if card is None:
        return
    cards = report.spec.datasets
    names = {}
    for dataset in report.rows("training").names("dataset"):
        name = cards[dataset].name if dataset in cards else ""
        names[dataset] = name or dataset
    recipe = []
    for name, value in card.recipe.items():
        text = f"{value:g}" if isinstance(value, float) else str(value)
        recipe.append((spoken(name), text))
    yield elements.Paragraph(
        f"`{card.judge}` is the model `{card.model}`, taught by `{card.teacher}` on "
        f"texts of {listed([*names.values()])}, which no other judge is asked about."
    )
    yield _curve(card, report.training)
    yield elements.Paragraph(
        "The recipe: the settings in the study's key `distill.recipe`, and defaults "
        "for the rest."
    )
    yield elements.Facts(recipe)
    yield _training_table(report, card, names)
    yield elements.Link(
        "The examples and losses of every dataset, as a table", "../tables/training.csv"
    )


def _curve(card: Distilled, log: Sequence[TrainingStep]) -> elements.PageFigure:
    curves = []
    keys = []
    sentences = []
    for split, about in SPLITS.items():
        losses = [(step.step, step.loss or 0.0) for step in log if step.split == split]
        if not losses:
            continue
        if split == HELD_OUT:  # measured at a few steps only
            curves.append(Curve(losses, PALETTE.red, dots=True))
            keys.append(elements.LegendKey("●", "red", about))
        else:
            curves.append(Curve(losses, PALETTE.blue))
            keys.append(elements.LegendKey("–", "blue", about))
        first_step, first_loss = losses[0]
        last_step, last_loss = losses[-1]
        sentences.append(
            f"On {about} it is {amount(first_loss)} at step {count(first_step)} and "
            f"{amount(last_loss)} at step {count(last_step)}."
        )
    drawn = svg(curves_spec(curves, x="step", y="loss in nats"))
    title = f"{card.judge}: mean loss per token during training"
    table = _log_table(title, log)
    return elements.PageFigure(title, drawn, " ".join(sentences), keys, table)


def _log_table(title: str, log: Sequence[TrainingStep]) -> elements.PageTable:
    known = {(each.step, each.split): each for each in log}
    lines = []
    for step in sorted({each.step for each in log}):
        train = known.get((step, TRAIN), TrainingStep(step, TRAIN))
        held_out = known.get((step, HELD_OUT), TrainingStep(step, HELD_OUT))
        values = (
            train.loss,
            held_out.loss,
            train.learning_rate,
            train.examples,
            train.tokens,
        )
        cells = []
        for value in values:
            text = "" if value is None else amount(value)
            cells.append(ReportCell(text, sort=value))
        lines.append(elements.TableLine(count(step), cells))
    heads = (
        "Loss, this step",
        "Loss, held out",
        "Learning rate",
        "Examples so far",
        "Tokens so far",
    )
    return elements.PageTable(
        f"{title}.",
        "Step",
        elements.columns_of(heads),
        [elements.Body(lines)],
        code=False,
        source="training.parquet, beside the adapter",
    )


def _training_table(
    report: Report, card: Distilled, names: dict[str, str]
) -> elements.PageTable:
    """The examples that the judge learnt from, and its loss on held-out replies."""
    losses = names_of_group("loss")
    bodies = []
    for dataset, name in names.items():
        rows = report.rows("training", dataset)
        aspects = sorted(rows.names("aspect"), key=lambda aspect: aspect == AVERAGE)
        lines = []
        for aspect in aspects:
            cells = []
            for split in SPLITS:
                examples = rows.find(
                    card.judge, "taught_examples", aspect=aspect, level=split
                )
                cells.append(
                    ReportCell("") if aspect == AVERAGE else estimate(examples)
                )
            for loss in losses:
                row = rows.find(card.judge, loss, aspect=aspect, level=HELD_OUT)
                cells.append(estimate(row))
            lines.append(elements.TableLine(aspect_or_mean(report, aspect), cells))
        taught = rows.where(statistic="taught_examples", level=TRAIN)
        number = sum(row.n for row in taught)
        title = f"{name}: {plural(number, 'training example')}"
        bodies.append(elements.Body(lines, title))
    columns = [
        *elements.columns_of(("taught", "held out"), group="Examples"),
        *elements.columns_of(map(label, losses), group="On held-out replies"),
    ]
    caption = (
        f"The training examples of `{card.judge}`, and its loss: "
        f"{statistic(losses[0]).meaning}, and after the last step."
    )
    notes = [
        f"Missing: texts and aspects of the sample for which `{card.teacher}` has no "
        "judgment to train on.",
        "These losses are means over replies; the curve's are means over all tokens, "
        "so long replies weigh more.",
    ]
    return elements.PageTable(
        caption,
        "Aspect",
        columns,
        bodies,
        notes,
        code=False,
        source="tables/training.csv",
    )
