"""Training of a judge on a dataset: the number of examples, and the loss on held-out
ones.

No model is asked: the training job writes how well the model predicts a held-out reply
before training and after the last step (Kartáč et al. 2025, section 5).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.json import decode

from judgescope.methods.base import Method, present
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.measures import AVERAGE
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import read_table
from judgescope.statistics.means import clustered_mean, mean_over
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate


class Examples(Struct, frozen=True):
    """The number of examples of one dataset, aspect and split."""

    dataset: str
    aspect: str
    split: str
    n: int
    n_missing: int


class Export(Struct, frozen=True):
    """The report of the export of examples."""

    examples: list[Examples]


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of training.csv: examples of each aspect, losses of each and their
    mean.
    """
    training = present(data.spec.training)
    judge = training.judge
    export = decode(Path(training.export).read_bytes(), type=Export)
    examples = [each for each in export.examples if each.dataset == data.dataset]
    for each in sorted(examples, key=lambda each: (each.aspect, each.split)):
        count = Estimate(float(each.n), n=each.n, n_missing=each.n_missing)
        yield data.row(judge, each.aspect, "taught_examples", each.split, count)

    losses = _losses(data, training.losses)
    means = defaultdict[str, list[Replicated]](list)
    # The level of examples that are not trained on; that of the rest is `train`.
    held_out_part = "held_out"
    for aspect in sorted({each.aspect for each in examples}):
        for name, mean in _mean_losses(data, losses[aspect]).items():
            means[name].append(mean)
            yield data.row(judge, aspect, name, held_out_part, mean.estimate)
    for name, of_aspects in means.items():
        average = mean_over(of_aspects, averaged="aspects").estimate
        yield data.row(judge, AVERAGE, name, held_out_part, average)


class _HeldOutLoss(NamedTuple):
    """The loss on a reply that the judge was not trained on."""

    source: int
    before: float
    after: float


def _losses(data: EvaluationData, path: str) -> dict[str, list[_HeldOutLoss]]:
    """Aspect -> the losses on the dataset's held-out replies."""
    losses = defaultdict[str, list[_HeldOutLoss]](list)
    for row in read_table("losses", path).to_pylist():
        if row["dataset"] == data.dataset:
            source = data.item_order[row["item"]]
            loss = _HeldOutLoss(source, row["before"], row["after"])
            losses[row["aspect"]].append(loss)
    return losses


def _mean_losses(
    data: EvaluationData, losses: Sequence[_HeldOutLoss]
) -> dict[str, Replicated]:
    """Statistic -> the mean over the held-out replies of one aspect."""
    source = np.array([loss.source for loss in losses], dtype=np.int64)
    before = np.array([loss.before for loss in losses], dtype=np.float64)
    after = np.array([loss.after for loss in losses], dtype=np.float64)
    by_statistic = {
        "held_out_loss_before": before,
        "held_out_loss_after": after,
        "held_out_loss_change": after - before,
    }
    of = "mean over held-out replies"
    means = {}
    for name, values in by_statistic.items():
        means[name] = clustered_mean(
            values, source, data.weights, averaged=of, ends=None
        )
    return means


METHOD = Method(
    name="training",
    rows=rows,
    when="distilled",
    parts=("training",),
    datasets="distilled",
    bars=False,
)
