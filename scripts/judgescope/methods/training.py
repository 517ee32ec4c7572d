"""What a judge was taught of a dataset: how many examples, and the loss on those held out.

Nothing is asked: the training says how well a reply that was not taught is foreseen, by the model
as it was before and as it is after the last step. Paper 004, section 5.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import Codes, EvaluationData, Floats
from judgescope.methods.measures import AVERAGE
from judgescope.methods.specs import present
from judgescope.schema.tables import read_table
from judgescope.statistics.means import mean_over, replicated_share
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

HELD_OUT = "held_out"
"""The level of what is not taught; that of the rest is `train`."""
LOSSES = ("held_out_loss_before", "held_out_loss_after", "held_out_loss_change")


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of training.csv: examples of each aspect, losses of each and their mean."""
    told = present(study.spec.training)
    export = json.loads(Path(told.export).read_text(encoding="utf-8"))
    examples = [one for one in export["examples"] if one["dataset"] == study.dataset]
    losses = [
        one
        for one in read_table("losses", told.losses).to_pylist()
        if one["dataset"] == study.dataset
    ]
    aspects = sorted({one["aspect"] for one in examples})
    return [*_counted(study, examples), *_foreseen(study, aspects, losses)]


def _counted(study: EvaluationData, examples: list[Row]) -> Iterator[Row]:
    """Yield how many examples there are, and of how many the teacher said nothing of use."""
    judge = present(study.spec.training).judge
    for one in sorted(examples, key=lambda one: (one["aspect"], one["split"])):
        count = Estimate(float(one["n"]), n=one["n"], n_missing=one["n_missing"])
        yield study.row(judge, one["aspect"], "taught_examples", one["split"], count)


def _foreseen(study: EvaluationData, aspects: list[str], losses: list[Row]) -> Iterator[Row]:
    """Yield the mean losses of replies that are held out, of each aspect and over aspects."""
    judge = present(study.spec.training).judge
    means: dict[str, list[Replicated]] = {name: [] for name in LOSSES}
    for aspect in aspects:
        own = [one for one in losses if one["aspect"] == aspect]
        source = np.array([study.item_order[one["item"]] for one in own], dtype=np.int64)
        before, after = (
            np.array([one[name] for one in own], dtype=np.float64) for name in ("before", "after")
        )
        for name, values in zip(LOSSES, (before, after, after - before), strict=True):
            found = _mean(study, values, source)
            means[name].append(found)
            yield study.row(judge, aspect, name, HELD_OUT, found.estimate)
    for name, each in means.items():
        average = mean_over(each, of="aspects").estimate
        yield study.row(judge, AVERAGE, name, HELD_OUT, average)


def _mean(study: EvaluationData, values: Floats, source: Codes) -> Replicated:
    of = "mean over replies that are held out"
    return replicated_share(values, np.ones(values.size), source, study.weights, of=of, ends=None)


METHOD = Method(when="distilled", parts=("training",), datasets="distilled", bars=False)
