"""How benchmarks were built: ratings and errors of graded sets, their anchors, and the
costs.

Source: (Hu et al. 2025), tables 6 (comparator), 8 (anchors) and 9 (costs).
"""

from collections.abc import Iterable, Iterator

import numpy as np
from msgspec import Struct, convert

from judgescope.methods.base import AppliesTo, GradedTexts, Method, Row
from judgescope.methods.cost import Usage, bought_by, dollars, estimates
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.tables import CHOSEN, UNRESOLVED, read_groups, read_table
from judgescope.statistics.anchors import comparator_accuracy
from judgescope.statistics.arrays import Floats
from judgescope.statistics.intervals import Bounds
from judgescope.statistics.means import SHARE, clustered_mean
from judgescope.statistics.result import Estimate

SHARES = ("above_lower", "above_same", "below_same", "below_higher")
NEIGHBOURS, ALL = "neighbours", "all"
"""The levels of the comparator's accuracy: on anchors of neighbouring ratings, or of
any two."""


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of construction.csv."""
    for spec in study.spec.graded:
        graded = GradedSet(study, spec)
        yield from graded.rating_rows()
        if spec.anchors:
            yield from graded.anchor_rows()
            yield from graded.comparator_rows(spec.anchors)
    yield from _cost_rows(study)


class Candidate(Struct, frozen=True):
    """A candidate of a graded set: a row of the table `graded`."""

    target: str
    item: str
    status: str
    errors: int | None
    rating: float | None
    margin: float | None
    n_tied: int | None
    above_lower: float | None
    above_same: float | None
    below_same: float | None
    below_higher: float | None


def _floats(values: Iterable[float | None]) -> Floats:
    """Return values as an array, NaN for None."""
    return np.array(
        [np.nan if value is None else value for value in values], dtype=np.float64
    )


class GradedSet:
    """The candidates of a graded set, and those that are its texts."""

    def __init__(self, study: EvaluationData, spec: GradedTexts) -> None:
        self.study, self.spec = study, spec
        self.candidates = convert(
            read_table("graded", spec.file).to_pylist(), list[Candidate]
        )
        self.chosen = [one for one in self.candidates if one.status == CHOSEN]

    def _row(
        self, statistic: str, estimate: Estimate, level: str = "", k: int | None = None
    ) -> Row:
        columns = self.spec.columns if k is None else self.spec.columns | {"k": k}
        return self.study.row(
            "", self.spec.aspect, statistic, level, estimate, **columns
        )

    def _mean(
        self,
        texts: list[Candidate],
        values: Iterable[float | None],
        described: str,
        ends: Bounds | None = SHARE,
    ) -> Estimate:
        """Return the mean of one value of each text, with its interval over sources."""
        order, weights = self.study.item_order, self.study.weights
        source = np.array([order[text.item] for text in texts], dtype=np.int64)
        numbers = _floats(values)
        return clustered_mean(
            numbers, source, weights, averaged=described, ends=ends
        ).estimate

    def rating_rows(self) -> Iterator[Row]:
        """Yield the number of texts and errors of each rating, and the shares of
        outcomes.
        """
        for k, rating in enumerate(self.spec.classes, start=1):
            texts = [one for one in self.chosen if one.rating == rating]
            note = f"rated {rating:g}"
            count = Estimate(float(len(texts)), n=len(self.chosen), note=note)
            yield self._row("class_count", count, k=k)
            errors = (one.errors for one in texts)
            mean = self._mean(texts, errors, "texts with this rating", ends=None)
            yield self._row("errors_mean", mean, k=k)
        statuses = [one.status for one in self.candidates]
        outcomes = {
            "chosen": [status == CHOSEN for status in statuses],
            "unresolved": [status == UNRESOLVED for status in statuses],
            "failed": [status.startswith("failed") for status in statuses],
        }
        for name, is_so in outcomes.items():
            share_of = self._mean(self.candidates, is_so, "of the candidates")
            yield self._row(f"share_{name}", share_of)

    def anchor_rows(self) -> Iterator[Row]:
        """Yield where the chosen texts lie among the anchors, and how often ratings
        tie.

        Source: (Hu et al. 2025), table 8.
        """
        for name in SHARES:
            values = (getattr(one, name) for one in self.chosen)
            described = "anchors per chosen text, of the texts that have anchors"
            yield self._row(
                f"anchors_{name}", self._mean(self.chosen, values, described)
            )
        rated = [one for one in self.candidates if one.margin is not None]
        tied = self._mean(rated, (one.n_tied for one in rated), "rated candidates")
        yield self._row("ratings_tied", tied)
        candidate_of = {one.target: one for one in self.candidates}
        texts, lost = list[Candidate](), list[bool]()
        for path in self.spec.compared[
            1:
        ]:  # comparisons of anchors with each other come first
            for row in read_table(
                "comparisons", path, ["target", "outcome"]
            ).to_pylist():
                texts.append(candidate_of[row["target"]])
                lost.append(row["outcome"] is None)
        unanswered = self._mean(texts, lost, "of the comparisons of a candidate")
        yield self._row("share_unanswered", unanswered)

    def comparator_rows(self, anchors: str) -> Iterator[Row]:
        """Yield how often the comparator names the better of two anchors.

        Source: (Hu et al. 2025), table 6.
        """
        study, classes = self.study, self.spec.classes
        table = read_table("anchors", anchors).to_pylist()
        rating = {row["target"]: classes.index(row["rating"]) for row in table}
        pairs = read_table("comparisons", self.spec.compared[0]).to_pylist()
        outcomes = _floats(row["outcome"] for row in pairs)
        distance = np.array(
            [rating[row["target"]] - rating[row["anchor"]] for row in pairs]
        )
        source_of = dict(
            zip(study.systems.targets, study.systems.source.tolist(), strict=True)
        )
        sources = np.array(
            [[source_of[row[name]] for row in pairs] for name in ("target", "anchor")]
        )
        for level, used in (
            (NEIGHBOURS, np.abs(distance) == 1),
            (ALL, np.abs(distance) > 0),
        ):
            accuracy = comparator_accuracy(
                outcomes, np.sign(distance), used, sources, study.weights
            )
            yield self._row("comparator_accuracy", accuracy, level)


def _cost_rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the replies, tokens and price of every step (Hu et al. 2025, table 9).

    The column judge has the model that was asked, `form` the step.
    """
    bought = bought_by(read_groups("bought", study.spec.bought[-1]))
    for step in study.spec.steps:
        usage = bought.get((None, step.writer), Usage())
        columns = AppliesTo(perturbation=step.writer, form=step.step)
        for name, estimate in estimates(usage, dollars(usage, step.price)):
            yield study.row(step.model, "", name, "", estimate, **columns)


METHOD = Method(when="constructed", parts=("graded", "construction"))
