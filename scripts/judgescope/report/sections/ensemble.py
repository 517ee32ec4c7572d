"""Ensembles and the judge distilled from one: their agreement, and what their members
add.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judgescope.report import elements
from judgescope.report.cells import Cell, estimate, figures
from judgescope.report.charts import BLUE, RED, Curve, curves_spec, svg
from judgescope.report.panels import TargetSet, panels_spec
from judgescope.report.report import Dataset, Report, TrainingStep, in_group
from judgescope.report.rows import Row, Rows
from judgescope.report.specs import Distilled
from judgescope.report.tables import (
    AVERAGE,
    Entry,
    RowGroup,
    TableSpec,
    aspect_or_mean,
    section_of,
)
from judgescope.report.words import LEVELS, amount, count, label, listed, plural, spoken
from judgescope.statistics.registry import statistic

SOURCE = "tables/ensemble.csv"
TOGETHER = "+"
MAIN = ("spearman", "pooled")
OF_LABELS = [
    (name, "pooled")
    for name in ("balanced_accuracy", "label_accuracy", "kappa_nominal")
]
MEASURES = [
    *(
        (name, level)
        for level in LEVELS
        for name in ("pearson", "spearman", "kendall_b")
    ),
    *OF_LABELS,
]
LEAD = (
    "An ensemble's score is the mean of its members' scores (Kartáč et al. 2025); its "
    "label is the one that most members give (a tie counts as missing). Does it agree "
    "with people more than its members do, with how many members, and which of them "
    "does it need? Members with correlated errors are worth fewer independent judges: "
    "their effective number."
)
BEST_NOTE = (
    "The best member is chosen on the same data on which it is evaluated: its value is "
    "likely too high, and the ensemble's advantage too low."
)
TIES_NOTE = (
    "Texts on which members tie have no label: members of an even number, who tie more "
    "often, are compared with people on the easier texts."
)
ERROR_NOTE = (
    "Errors in people's ratings are part of every member's error and so count "
    "as shared."
)
STUDENT = {
    "student": "alone",
    "student_difference": "all members minus this judge",
    "student_with_teacher": "with all members in place of people",
}
KEYS = (
    elements.Key("●", "blue", "a subset of the members"),
    elements.Key("–", "red", "mean of all subsets of a size"),
    elements.Key("▮", "red", "95 % interval of that mean"),
    elements.Key("|", "ink", "95 % interval of all members"),
)
TRAINING = "tables/training.csv"
LOG = "training.parquet, beside the adapter"
TRAIN, HELD_OUT = "train", "held_out"
SPLITS = {TRAIN: "the replies of one step", HELD_OUT: "the held-out replies"}
LOSSES = ("held_out_loss_before", "held_out_loss_after", "held_out_loss_change")
DISTILLED_LEAD = (
    "A small model was trained to reproduce its teacher's error lists and scores, from "
    "0 to 100. Held-out replies were not used for training. Their loss shows how well "
    "the model predicts the teacher's words, not whether it judges well: see Agreement "
    "for that."
)


@section_of("Evidence", 80, "ensemble", "Ensembles", LEAD)
def section(report: Report, dataset: Dataset, rows: Rows) -> Iterator[elements.Block]:
    """Yield per ensemble its figure, what its members add, and their errors."""
    for judge, of_judge in rows.by("judge").items():
        if of_judge.names("aspect") == [""]:
            yield elements.Text(f"`{judge}`: {next(iter(of_judge)).note}.")
        else:
            yield from _Ensemble(report, dataset, judge, of_judge).blocks()


class _Ensemble:
    """One ensemble on one dataset; `aspects` as cells call them, the means last.

    `student` is the judge that was taught what it says, "" without one.
    """

    def __init__(
        self, report: Report, dataset: Dataset, judge: str, rows: Rows
    ) -> None:
        self.report, self.judge, self.rows = report, judge, rows
        self.name = f"{dataset.name}, {judge}"
        self.aspects = sorted(
            rows.names("judged"), key=lambda aspect: aspect.partition(".")[0] == AVERAGE
        )
        self.size = max(row.k for row in rows)
        self.whole = next(
            row.judge_b for row in rows if row.k == self.size and row.judge_b
        )
        self.members = self.whole.split(TOGETHER)
        of_student = (
            row.judge_b for row in rows if row.statistic.startswith("student_")
        )
        self.student = next(of_student, "")
        known = {(row.statistic, row.level) for row in rows}
        self.measures = [measure for measure in MEASURES if measure in known]
        self.main = MAIN if MAIN in known else OF_LABELS[0]

    def blocks(self) -> Iterator[elements.Block]:
        yield from self._figure()
        yield self._summed(*self.main)
        yield from self._errors()
        rest = [
            self._summed(*measure) for measure in self.measures if measure != self.main
        ]
        yield elements.Fold(f"{self.name}: other statistics and levels", rest)

    def _at(
        self, name: str, level: str, aspect: str, judge_b: str = "", k: int = 0
    ) -> Row | None:
        return self.rows.find(
            self.judge, name, aspect=aspect, level=level, judge_b=judge_b, k=k
        )

    def _subsets(self, name: str, level: str, aspect: str) -> list[Row]:
        return [*self.rows.where(statistic=name, level=level, judged=aspect).defined]

    def _table(
        self,
        caption: str,
        corner: str,
        groups: Sequence[RowGroup],
        measure: tuple[str, str],
        *notes: str,
    ) -> elements.Table:
        """Return a table with a column for each aspect; `measure` is what lines show by
        default.
        """
        columns = [
            elements.Column(
                aspect_or_mean(self.report, aspect), where={"aspect": aspect}
            )
            for aspect in self.aspects
        ]
        places = (columns, groups, *measure, self.judge)
        spec = TableSpec(caption, *places, notes, SOURCE, corner=corner, code=False)
        return spec.filled((), self.rows)

    def _summed(self, name: str, level: str) -> elements.Table:
        """Return one statistic of the ensemble, of its best member, and what each
        member adds.
        """
        best, gains = [], []
        for aspect in self.aspects:
            single = [row for row in self._subsets(name, level, aspect) if row.k == 1]
            row = max(single, key=lambda row: row.value or 0.0, default=None)
            member = row.judge_b if row else ""
            cell, gain = (
                estimate(row),
                self._at(f"difference_{name}", level, aspect, member),
            )
            best.append(replace(cell, notes=(member, *cell.notes)) if row else cell)
            gains.append(estimate(gain if row else None))
        of_all: list[Entry | elements.Line] = [
            Entry("all members", {"judge_b": self.whole, "k": self.size}),
            elements.Line("best single member", best),
            elements.Line("all minus the best", gains),
            Entry("single members, mean", {"statistic": f"subset_mean_{name}", "k": 1}),
        ]
        alone = [Entry(member, {"judge_b": member, "k": 1}) for member in self.members]
        adds = [Entry(member, {"judge_b": member}) for member in self.members]
        votes = (name, level) in OF_LABELS
        caption = (
            f"{self.name}: {label(name)} with people's "
            f"{'label' if votes else 'mean rating'}, {LEVELS[level][0]}, of "
            f"{plural(self.size, 'member')}. All differences are on the same texts."
        )
        groups = [RowGroup(lines=of_all), RowGroup("Each member alone", lines=alone)]
        if votes:
            return self._table(
                caption, "Ensemble", groups, (name, level), BEST_NOTE, TIES_NOTE
            )
        added = "Ensemble of all minus the ensemble without"
        groups.append(
            RowGroup(added, {"statistic": f"contribution_{name}"}, lines=adds)
        )
        groups += self._of_student(name)
        return self._table(caption, "Ensemble", groups, (name, level), BEST_NOTE)

    def _of_student(self, name: str) -> list[RowGroup]:
        """Return the numbers of the distilled judge, nothing without one."""
        if not self.student:
            return []
        lines = [
            Entry(head, {"statistic": f"{prefix}_{name}"})
            for prefix, head in STUDENT.items()
        ]
        title = f"The distilled judge: {self.student}"
        return [RowGroup(title, {"judge_b": self.student}, lines=lines)]

    def _errors(self) -> Iterator[elements.Table]:
        name, level = "error_correlation", "pooled"
        pairs = [
            Entry(pair.replace(TOGETHER, " and "), {"judge_b": pair})
            for pair in self.rows.where(statistic=name).names("judge_b")
        ]
        if not pairs:
            return
        sums = [
            Entry(label(each), {"statistic": each})
            for each in ("error_correlation_mean", "effective_judges")
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
        yield self._table(caption, "Members", groups, (name, level), ERROR_NOTE)

    def _figure(self) -> Iterator[elements.Figure]:
        """Yield how correlation grows with the size of an ensemble, a panel for each
        aspect.
        """
        name, level = self.main
        title = f"{self.name}: {label(name)} with people by size of the ensemble"
        growth, students, panels = [], [], []
        for aspect in self.aspects:
            if not (subsets := self._subsets(name, level, aspect)):
                continue
            heading = aspect_or_mean(self.report, aspect)
            first, last = (
                self._at(f"subset_mean_{name}", level, aspect, k=k)
                for k in (1, self.size)
            )
            if first and last:
                growth.append(f"{heading} from {figures(first)} to {figures(last)}")
            student = self._at(f"student_{name}", level, aspect, self.student)
            if student and student.value is not None:
                students.append(f"{heading} {figures(student)}")
            means = self._subsets(f"subset_mean_{name}", level, aspect)
            whole = next((row for row in subsets if row.judge_b == self.whole), None)
            panels.append(TargetSet(heading, subsets, means, whole, student))
        if not panels:
            return
        summary = (
            f"{label(name)} over all targets pooled, of every subset of the members, "
            f"by size. On average, from one member to all {self.size}, with intervals: "
            f"{listed(growth)}."
        )
        summary += f" {TIES_NOTE}" if self.main in OF_LABELS else ""
        keys = list(KEYS)
        if students:
            summary += (
                f" Trained on their output, {self.student} reaches {listed(students)}."
            )
            keys.append(
                elements.Key("┄", "green", f"{self.student}, with its 95 % interval")
            )
        drawn = svg(panels_spec(panels, x="members"))
        yield elements.Figure(title, drawn, summary, keys, self._numbers(title))

    def _numbers(self, title: str) -> elements.Table:
        """Return the numbers of the figure: every subset, under its size, and their
        mean.
        """
        name, level = self.main
        known = {
            (row.judge_b, row.k): 0
            for row in self.rows.where(statistic=name, level=level)
        }
        groups = []
        for size in sorted({k for _, k in known}):
            subsets = [
                Entry(subset.replace(TOGETHER, ", "), {"judge_b": subset})
                for subset, k in known
                if k == size
            ]
            head = f"mean of {plural(len(subsets), 'subset')}"
            lines = [Entry(head, {"statistic": f"subset_mean_{name}"}), *subsets]
            groups.append(
                RowGroup(f"Of {plural(size, 'member')}", {"k": size}, lines=lines)
            )
        return self._table(
            f"{title}.", "Members", [*groups, *self._of_student(name)], self.main
        )


# --- the distilled judge --------------------------------------------------------------


@in_group("Evidence", 90)
def distilled(report: Report) -> elements.Section | None:
    """Return teacher and student, the recipe, the training curve, and held-out
    losses.
    """
    card = report.spec.distilled
    if card is None:
        return None
    cards = report.spec.datasets
    names = {
        dataset: (cards[dataset].name if dataset in cards else "") or dataset
        for dataset in report.rows("training").names("dataset")
    }
    about = (
        f"`{card.judge}` is the model `{card.model}`, taught by `{card.teacher}` on "
        f"texts of {listed([*names.values()])}, which no other judge is asked about."
    )
    recipe = [
        (spoken(name), f"{value:g}" if isinstance(value, float) else str(value))
        for name, value in card.recipe.items()
    ]
    blocks: list[elements.Block] = [
        elements.Text(about),
        _curve(card, report.training),
        elements.Text(
            "The recipe: the settings in the study's key `distill.recipe`, and "
            "defaults for the rest."
        ),
        elements.Facts(recipe),
        _taught(report, card, names),
        elements.Link(
            "The examples and losses of every dataset, as a table", f"../{TRAINING}"
        ),
    ]
    return elements.Section("distilled", "The distilled judge", DISTILLED_LEAD, blocks)


def _curve(card: Distilled, log: Sequence[TrainingStep]) -> elements.Figure:
    losses = {
        split: [(one.step, one.loss or 0.0) for one in log if one.split == split]
        for split in SPLITS
    }
    summary = " ".join(
        f"On {SPLITS[split]} it is {amount(each[0][1])} at step {count(each[0][0])} "
        f"and {amount(each[-1][1])} at step {count(each[-1][0])}."
        for split, each in losses.items()
        if each
    )
    curves = [Curve(losses[TRAIN], BLUE), Curve(losses[HELD_OUT], RED, dots=True)]
    drawn = svg(
        curves_spec([one for one in curves if one.values], x="step", y="loss in nats")
    )
    signs = {TRAIN: ("–", "blue"), HELD_OUT: ("●", "red")}
    keys = [
        elements.Key(*signs[split], SPLITS[split])
        for split, each in losses.items()
        if each
    ]
    title = f"{card.judge}: mean loss per token during training"
    return elements.Figure(title, drawn, summary, keys, _log_table(title, log))


def _log_table(title: str, log: Sequence[TrainingStep]) -> elements.Table:
    known = {(one.step, one.split): one for one in log}
    lines = []
    for step in sorted({one.step for one in log}):
        train, held_out = (
            known.get((step, one), TrainingStep(step, one)) for one in SPLITS
        )
        values = (
            train.loss,
            held_out.loss,
            train.learning_rate,
            train.examples,
            train.tokens,
        )
        cells = [
            Cell("") if value is None else Cell(amount(value), sort=value)
            for value in values
        ]
        lines.append(elements.Line(count(step), cells))
    heads = ("Loss, this step", "Loss, held out", "Learning rate")
    columns = [*map(elements.Column, (*heads, "Examples so far", "Tokens so far"))]
    return elements.Table(
        f"{title}.", "Step", columns, [elements.Body(lines)], code=False, source=LOG
    )


def _taught(report: Report, card: Distilled, names: dict[str, str]) -> elements.Table:
    bodies = []
    for dataset, name in names.items():
        rows = report.rows("training", dataset)
        lines = []
        for aspect in sorted(
            rows.names("aspect"), key=lambda aspect: aspect == AVERAGE
        ):
            counts = [
                Cell("")
                if aspect == AVERAGE
                else estimate(
                    rows.find(card.judge, "taught_examples", aspect=aspect, level=split)
                )
                for split in SPLITS
            ]
            losses = (
                rows.find(card.judge, loss, aspect=aspect, level=HELD_OUT)
                for loss in LOSSES
            )
            head = aspect_or_mean(report, aspect)
            lines.append(elements.Line(head, [*counts, *map(estimate, losses)]))
        examples = sum(
            row.n for row in rows.where(statistic="taught_examples", level=TRAIN)
        )
        bodies.append(
            elements.Body(lines, f"{name}: {plural(examples, 'training example')}")
        )
    columns = [
        *(elements.Column(head, group="Examples") for head in ("taught", "held out")),
        *(elements.Column(label(name), group="On held-out replies") for name in LOSSES),
    ]
    caption = (
        f"The training examples of `{card.judge}`, and its loss: "
        f"{statistic(LOSSES[0]).meaning}, and after the last step."
    )
    notes = [
        f"Missing: texts and aspects of the sample for which `{card.teacher}` has no "
        "judgment to train on.",
        "These losses are means over replies; the curve's are means over all tokens, "
        "so long replies weigh more.",
    ]
    return elements.Table(
        caption, "Aspect", columns, bodies, notes, code=False, source=TRAINING
    )
