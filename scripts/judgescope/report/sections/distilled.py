"""The judge that was taught: by whom, on what, how, and what came of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from judgescope.report.charts import BLUE, RED, Curve, curves_spec, svg
from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Figure,
    Key,
    Line,
    Link,
    Section,
    Table,
    Text,
    estimate,
)
from judgescope.report.numbers import amount, count, listed, plural
from judgescope.report.report import Report
from judgescope.report.specs import Distilled
from judgescope.report.words import label, spoken
from judgescope.statistics.registry import statistic

SOURCE = "tables/training.csv"
LOG = "training.parquet, beside the adapter"
AVERAGE = "average"
TRAIN, HELD_OUT = "train", "held_out"
LOSSES = ("held_out_loss_before", "held_out_loss_after", "held_out_loss_change")
LEAD = (
    "A small model was taught to say what its teacher says: the errors that it lists, and its "
    "score, from 0 to 100. What is held out was not taught. Its loss tells how well the model "
    "foresees the teacher's words, not whether it judges well: that is told where judges are."
)
Noted = Mapping[str, Any]


def section(report: Report) -> Section | None:
    """Return who was taught by whom, the recipe, the curve, and losses on what was held out."""
    card = report.spec.distilled
    if card is None:
        return None
    blocks: list[Block] = [_about(report, card), _recipe(card), _curve(card, report.training)]
    taught = _taught(report, card)
    link = Link("The examples and losses of every dataset, as a table", f"../{SOURCE}")
    return Section("distilled", "The distilled judge", LEAD, [*blocks, taught, link])


def _datasets(report: Report) -> dict[str, str]:
    """Return the datasets of which something was taught, and their names; an id where none is."""
    known = {name: card.name or name for name, card in report.spec.datasets.items()}
    return {id_: known.get(id_, id_) for id_ in report.rows("training").names("dataset")}


def _about(report: Report, card: Distilled) -> Block:
    names = listed([*_datasets(report).values()])
    return Text(
        f"`{card.judge}` is the model `{card.model}`, taught by `{card.teacher}` on texts "
        f"of {names}, about which nobody else is asked."
    )


def _recipe(card: Distilled) -> Table:
    lines = [
        Line(spoken(name), [Cell(f"{value:g}" if isinstance(value, float) else str(value))])
        for name, value in card.recipe.items()
    ]
    caption = "The recipe: what the study's key `distill.recipe` says, and defaults."
    return Table(caption, "Key", [Column("Value")], [Body(lines)], code=False)


def _curve(card: Distilled, log: Sequence[Noted]) -> Figure:
    """Return the losses over the steps, of what is taught and of what is held out."""
    split = {
        name: [(row["step"], row["loss"]) for row in log if row["split"] == name]
        for name in (TRAIN, HELD_OUT)
    }
    names = {TRAIN: "replies of one step", HELD_OUT: "replies that are held out"}
    summary = " ".join(
        f"Of the {names[name]} it is {amount(each[0][1])} at step {count(each[0][0])} and "
        f"{amount(each[-1][1])} at step {count(each[-1][0])}."
        for name, each in split.items()
        if each
    )
    curves = [Curve(split[TRAIN], BLUE), Curve(split[HELD_OUT], RED, dots=True)]
    drawn = svg(curves_spec([one for one in curves if one.values], x="step", y="loss in nats"))
    signs = {TRAIN: ("–", "blue"), HELD_OUT: ("●", "red")}
    keys = [Key(*signs[name], names[name]) for name, each in split.items() if each]
    title = f"{card.judge}: mean loss of a token over the training"
    return Figure(title, drawn, summary, keys, _numbers(title, log))


def _numbers(title: str, log: Sequence[Noted]) -> Table:
    """Return the log, a line for each step."""
    known = {(row["step"], row["split"]): row for row in log}

    def cell(step: int, split: str, name: str) -> Cell:
        value = known.get((step, split), {}).get(name)
        return Cell("") if value is None else Cell(amount(value), sort=value)

    shown = [(TRAIN, "loss"), (HELD_OUT, "loss"), (TRAIN, "learning_rate")]
    shown += [(TRAIN, "examples"), (TRAIN, "tokens")]
    lines = [
        Line(count(step), [cell(step, *one) for one in shown])
        for step in sorted({row["step"] for row in log})
    ]
    columns = [
        *(Column("Loss, this step"), Column("Loss, held out"), Column("Learning rate")),
        *(Column("Examples until then"), Column("Tokens until then")),
    ]
    return Table(f"{title}.", "Step", columns, [Body(lines)], code=False, source=LOG)


def _taught(report: Report, card: Distilled) -> Table:
    """Return per dataset and aspect how many examples there were, and the losses."""
    bodies = [_body(report, card, *one) for one in _datasets(report).items()]
    columns = [
        *(Column("taught", group="Examples"), Column("held out", group="Examples")),
        *(Column(label(name), group="On replies that are held out") for name in LOSSES),
    ]
    caption = (
        f"What `{card.judge}` was taught, and its loss: {statistic(LOSSES[0]).meaning}, and "
        "after the last step."
    )
    notes = [
        "Missing: texts and aspects of the sample of which `" + card.teacher + "` has no "
        "judgment that can be taught.",
        "These losses are means over replies; those of the curve are over all tokens together, of "
        "which long replies have more.",
    ]
    return Table(caption, "Aspect", columns, bodies, notes, code=False, source=SOURCE)


def _body(report: Report, card: Distilled, dataset: str, name: str) -> Body:
    rows, judge = report.rows("training"), card.judge
    own = rows.where(dataset=dataset)

    def line(aspect: str) -> Line:
        place = (dataset, judge)
        if aspect == AVERAGE:
            counts = [Cell(""), Cell("")]
        else:
            counts = [
                estimate(rows.at(*place, "taught_examples", aspect=aspect, level=split))
                for split in (TRAIN, HELD_OUT)
            ]
        losses = (rows.at(*place, loss, aspect=aspect, level=HELD_OUT) for loss in LOSSES)
        head = "mean over aspects" if aspect == AVERAGE else report.aspect(aspect)
        return Line(head, [*counts, *map(estimate, losses)])

    aspects = sorted(own.names("aspect"), key=lambda aspect: aspect == AVERAGE)
    examples = sum(row.n for row in own.where(statistic="taught_examples", level=TRAIN))
    title = f"{name}: {plural(examples, 'example')} taught"
    return Body([line(aspect) for aspect in aspects], title)
