"""How benchmarks were built: ratings and errors of graded sets, their anchors, and the
costs.

Source: (Hu et al. 2025), tables 6 (comparator), 8 (anchors) and 9 (costs).
"""

from collections.abc import Iterable, Iterator

import numpy as np
from msgspec import Struct, convert

from judgescope.methods.base import AnchoredSet, GradedTexts, Method
from judgescope.methods.cost import Usage, bought_by, dollars, estimates
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.rows import AppliesTo, ResultRow
from judgescope.schema.tables import CHOSEN, UNRESOLVED, read_groups, read_table
from judgescope.statistics.anchors import comparator_accuracy
from judgescope.statistics.arrays import Floats
from judgescope.statistics.intervals import Bounds
from judgescope.statistics.means import SHARE, clustered_mean
from judgescope.statistics.result import Estimate


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of construction.csv."""
    for spec in data.spec.graded:
        graded = ConstructedSet(data, spec)
        yield from graded.rating_rows()
        anchored = data.spec.anchored.get(spec.perturbation)
        if anchored:
            yield from graded.anchor_rows(anchored)
            yield from graded.comparator_rows(anchored)
    yield from _cost_rows(data)


class RatedCandidate(Struct, frozen=True):
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


class ConstructedSet:
    """The candidates of a graded set, and those that are its texts."""

    def __init__(self, data: EvaluationData, spec: GradedTexts) -> None:
        self.study = data
        self.spec = spec
        self.candidates = convert(
            read_table("graded", spec.file).to_pylist(), list[RatedCandidate]
        )
        self.chosen = [text for text in self.candidates if text.status == CHOSEN]

    def _row(
        self, statistic: str, estimate: Estimate, level: str = "", k: int | None = None
    ) -> ResultRow:
        columns = self.spec.columns if k is None else self.spec.columns | {"k": k}
        return self.study.row(
            "", self.spec.aspect, statistic, level, estimate, **columns
        )

    def _mean(
        self,
        texts: list[RatedCandidate],
        values: Iterable[float | None],
        described: str,
        ends: Bounds | None = SHARE,
    ) -> Estimate:
        """Return the mean of one value of each text, with its interval over sources."""
        order = self.study.item_order
        weights = self.study.weights
        source = np.array([order[text.item] for text in texts], dtype=np.int64)
        numbers = _floats(values)
        return clustered_mean(
            numbers, source, weights, averaged=described, ends=ends
        ).estimate

    def rating_rows(self) -> Iterator[ResultRow]:
        """Yield the number of texts and errors of each rating, and the shares of
        outcomes.
        """
        for k, rating in enumerate(self.spec.classes, start=1):
            texts = []
            for text in self.chosen:
                if text.rating == rating:
                    texts.append(text)
            note = f"rated {rating:g}"
            count = Estimate(float(len(texts)), n=len(self.chosen), note=note)
            yield self._row("class_count", count, k=k)
            errors = [text.errors for text in texts]
            mean = self._mean(texts, errors, "texts with this rating", ends=None)
            yield self._row("errors_mean", mean, k=k)
        statuses = [text.status for text in self.candidates]
        outcomes = {
            "chosen": [status == CHOSEN for status in statuses],
            "unresolved": [status == UNRESOLVED for status in statuses],
            "failed": [status.startswith("failed") for status in statuses],
        }
        for name, is_so in outcomes.items():
            share_of = self._mean(self.candidates, is_so, "of the candidates")
            yield self._row(f"share_{name}", share_of)

    def anchor_rows(self, anchored: AnchoredSet) -> Iterator[ResultRow]:
        """Yield where the chosen texts lie among the anchors, and how often ratings
        tie.

        Source: (Hu et al. 2025), table 8.
        """
        described = "anchors per chosen text, of the texts that have anchors"
        for name in ("above_lower", "above_same", "below_same", "below_higher"):
            values = [getattr(text, name) for text in self.chosen]
            mean = self._mean(self.chosen, values, described)
            yield self._row(f"anchors_{name}", mean)
        rated = []
        for text in self.candidates:
            if text.margin is not None:
                rated.append(text)
        tied = [text.n_tied for text in rated]
        yield self._row("ratings_tied", self._mean(rated, tied, "rated candidates"))
        candidate_of = {text.target: text for text in self.candidates}
        texts = list[RatedCandidate]()
        lost = list[bool]()
        # Comparisons of anchors with each other come first.
        for path in anchored.compared[1:]:
            table = read_table("comparisons", path, ["target", "outcome"])
            for row in table.to_pylist():
                texts.append(candidate_of[row["target"]])
                lost.append(row["outcome"] is None)
        unanswered = self._mean(texts, lost, "of the comparisons of a candidate")
        yield self._row("share_unanswered", unanswered)

    def comparator_rows(self, anchored: AnchoredSet) -> Iterator[ResultRow]:
        """Yield how often the comparator names the better of two anchors, of
        neighbouring ratings or of any two.

        Source: (Hu et al. 2025), table 6.
        """
        study = self.study
        classes = self.spec.classes
        table = read_table("anchors", anchored.anchors).to_pylist()
        rating = {row["target"]: classes.index(row["rating"]) for row in table}
        systems = study.systems
        source_of = dict(zip(systems.targets, systems.source.tolist(), strict=True))
        outcomes = list[float | None]()
        distances = list[int]()
        sources = list[tuple[int, int]]()
        for row in read_table("comparisons", anchored.compared[0]).to_pylist():
            target = row["target"]
            anchor = row["anchor"]
            outcomes.append(row["outcome"])
            distances.append(rating[target] - rating[anchor])
            sources.append((source_of[target], source_of[anchor]))
        distance = np.array(distances)
        used_of_level = {
            "neighbours": np.abs(distance) == 1,
            "all": np.abs(distance) > 0,
        }
        for level, used in used_of_level.items():
            accuracy = comparator_accuracy(
                _floats(outcomes),
                np.sign(distance),
                used,
                np.array(sources, np.int64).reshape(-1, 2).T,
                study.weights,
            )
            yield self._row("comparator_accuracy", accuracy, level)


def _cost_rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the replies, tokens and price of every step (Hu et al. 2025, table 9).

    The column judge has the model that was asked, `form` the step.
    """
    bought = bought_by(read_groups("bought", data.spec.bought[-1]))
    for step in data.spec.steps:
        usage = bought.get((None, step.writer), Usage())
        columns = AppliesTo(perturbation=step.writer, form=step.step)
        for name, estimate in estimates(usage, dollars(usage, step.price)):
            yield data.row(step.model, "", name, "", estimate, **columns)


METHOD = Method(
    name="construction", rows=rows, when="constructed", parts=("graded", "construction")
)
