"""Training of a judge on a dataset: the number of examples, and the loss on held-out
ones.

No model is asked: the training job writes how well the model predicts a held-out reply
before training and after the last step (Kartáč et al. 2025, section 5).
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.json import decode

from judgescope.methods.base import Method, Row, present
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.measures import AVERAGE
from judgescope.schema.tables import read_table
from judgescope.statistics.means import clustered_mean, mean_over
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

HELD_OUT = "held_out"
"""The level of examples that are not trained on; that of the rest is `train`."""
LOSSES = ("held_out_loss_before", "held_out_loss_after", "held_out_loss_change")


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


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of training.csv: examples of each aspect, losses of each and their
    mean.
    """
    training = present(study.spec.training)
    judge, export = (
        training.judge,
        decode(Path(training.export).read_bytes(), type=Export),
    )
    examples = [one for one in export.examples if one.dataset == study.dataset]
    for one in sorted(examples, key=lambda one: (one.aspect, one.split)):
        count = Estimate(float(one.n), n=one.n, n_missing=one.n_missing)
        yield study.row(judge, one.aspect, "taught_examples", one.split, count)
    losses: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for row in read_table("losses", training.losses).to_pylist():
        if row["dataset"] == study.dataset:
            losses[row["aspect"]].append((row["item"], row["before"], row["after"]))
    means, of = defaultdict[str, list[Replicated]](list), "mean over held-out replies"
    for aspect in sorted({one.aspect for one in examples}):
        source = np.array(
            [study.item_order[item] for item, *_ in losses[aspect]], dtype=np.int64
        )
        before, after = (
            np.array([one[column] for one in losses[aspect]], dtype=np.float64)
            for column in (1, 2)
        )
        for name, values in zip(LOSSES, (before, after, after - before), strict=True):
            mean = clustered_mean(values, source, study.weights, averaged=of, ends=None)
            means[name].append(mean)
            yield study.row(judge, aspect, name, HELD_OUT, mean.estimate)
    for name, each in means.items():
        average = mean_over(each, averaged="aspects").estimate
        yield study.row(judge, AVERAGE, name, HELD_OUT, average)


METHOD = Method(when="distilled", parts=("training",), datasets="distilled", bars=False)
