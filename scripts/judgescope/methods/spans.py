"""What errors judges list, whether their words are found, and whether people marked the same.

Every draw is an annotation of its own: what is told is what one annotation is like, and the
interval is over sources. Annotations without a parsed reply are counted in `n_missing`, whatever
they list, and so are texts of which an ensemble has no list; those that could not be asked for are
not planned. Methods.md 5, after paper 004.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Final

import numpy as np

from judgescope.core.slugs import slug
from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import Codes, EvaluationData
from judgescope.methods.specs import present
from judgescope.parsing.annotation import COUNTED, Contradictions
from judgescope.schema.tables import read_table
from judgescope.statistics.means import SHARE, share
from judgescope.statistics.result import NO_CATEGORIES, Estimate
from judgescope.statistics.spans import (
    Counts,
    Span,
    Stretch,
    exact_counts,
    span_agreement,
    span_agreement_by_text,
    token_counts,
)

NOT_FOUND: Final = "not_found"
FOUND: Final = ("exact", "normalised", "fuzzy")
NOTED: Final = (*COUNTED, *(one.name for one in fields(Contradictions)))
"""What a judgment's rule names behind plus signs; of lists that have no verdict the first three."""
FORMS: Final = ("exact", "exact_category", "tokens", "tokens_category")
"""How spans are compared, in the column `form`: equal ones, or the words that they touch; with
`category` what both call the error has to be the same, too."""
LEVELS: Final = {"pooled": span_agreement, "by_text": span_agreement_by_text}
WORD = re.compile(r"\S+")


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of spans.csv: per judge, aspect and set of texts."""
    cells = cells_of(study)
    gold = Gold(study, study.spec.gold) if study.spec.gold else None
    found = []
    for (judge, aspect, perturbation), told in sorted(cells.items()):
        name, _, degree = perturbation.partition(".")
        place = {"perturbation": name, "degree": degree or None}
        noted_of = COUNTED if _is_derived(study, judge) else NOTED
        one, shared = Annotations(study, told, noted_of), study.told_share(judge)
        for statistic, estimate in one.told():
            noted = estimate.with_note(shared)
            found.append(study.row(judge, aspect, statistic, "", noted, **place))
        if gold and perturbation == "systems":
            for form, level, statistic, estimate in gold.agreement(one):
                more, noted = {**place, "form": form}, estimate.with_note(shared)
                found.append(study.row(judge, aspect, statistic, level, noted, **more))
    return found


def cells_of(study: EvaluationData) -> dict[tuple[str, str, str], list[Row]]:
    """Return (judge, aspect, set of texts) -> the judgments that list errors."""
    cells: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in read_table("marked", present(study.spec.marked)).to_pylist():
        if row["status"] != "not_applicable" or _is_derived(study, row["judge"]):
            cells[row["judge"], row["aspect"], row["perturbation"]].append(row)
    return cells


def _is_derived(study: EvaluationData, judge: str) -> bool:
    """Return whether a judge is made of others: it has a text's list of errors, or has it not."""
    return study.spec.judges[judge].engine == "derived"


class Annotations:
    """The annotations of one cell: those that were parsed, and how many were not.

    `noted` is what is told of their rules.
    """

    def __init__(self, study: EvaluationData, told: Sequence[Row], noted: Sequence[str]) -> None:
        self.study, self.noted = study, noted
        self.parsed = [row for row in told if row["status"] == "ok" and row["spans"] is not None]
        self._lost = [
            row["target"] for row in told if row["status"] != "ok" or row["spans"] is None
        ]
        self.missing = len(self._lost)

    @cached_property
    def _items(self) -> dict[str, int]:
        names = (self.study.targets[name].to_pylist() for name in ("target", "item"))
        return {target: self.study.item_order[item] for target, item in zip(*names, strict=True)}

    @cached_property
    def source(self) -> Codes:
        """Return the code of each annotation's item."""
        return np.array([self._items[row["target"]] for row in self.parsed], dtype=np.int64)

    @property
    def lost(self) -> list[tuple[str, int]]:
        """Return the text of each annotation that was not parsed, and the code of its item."""
        return [(target, self._items[target]) for target in self._lost]

    def told(self) -> Iterator[tuple[str, Estimate]]:
        """Yield what the annotations are like: each statistic and its estimate."""
        lists = [row["spans"] for row in self.parsed]
        errors = [len(one) for one in lists]
        yield "span_errors", self._share(errors, [1] * len(lists), "over annotations")
        yield "span_clean", self._share([not one for one in lists], [1] * len(lists))
        rated = [[one["severity"] for one in each if one["severity"]] for each in lists]
        yield (
            "span_severity",
            self._share(
                [sum(each) for each in rated],
                [len(each) for each in rated],
                "over errors",
                lost=sum(errors) - sum(map(len, rated)),
            ),
        )
        placed = [[one for one in each if one["location"]] for each in lists]
        spans = [len(each) for each in placed]
        yield (
            "span_placeless",
            self._share([whole - own for whole, own in zip(errors, spans, strict=True)], errors),
        )
        kinds = [Counter(one["match"] for one in each) for each in placed]
        yield (
            "span_match_rate",
            self._share([sum(each[kind] for kind in FOUND) for each in kinds], spans),
        )
        for kind in FOUND:
            yield f"span_match_{kind}", self._share([each[kind] for each in kinds], spans)
        rules = [(row["rule"] or "").split("+")[1:] for row in self.parsed]
        for name in self.noted:
            yield f"span_{name}", self._share([name in each for each in rules], [1] * len(rules))

    def _share(
        self, hits: Sequence[float], total: Sequence[int], of: str = "", lost: int | None = None
    ) -> Estimate:
        """Return the sum of `hits` over that of `total`, each of an annotation.

        It is a share of `total`, or where it is a mean, that `of` names.
        """
        return share(
            np.array(hits, dtype=np.float64),
            np.array(total, dtype=np.float64),
            self.source,
            self.study.weights,
            self.missing if lost is None else lost,
            of=of and f"mean {of}",
            ends=None if of else SHARE,
        )


@dataclass(frozen=True)
class Prediction:
    """The spans of an annotation that are found, the words of the others, and errors without."""

    found: list[Span]
    lost: list[str]
    placeless: int

    @classmethod
    def of(cls, errors: Sequence[Row]) -> "Prediction":
        """Return the spans among the errors of an annotation."""
        placed = [one for one in errors if one["location"]]
        return cls(
            [_span(one) for one in placed if one["match"] != NOT_FOUND],
            [one["location"] for one in placed if one["match"] == NOT_FOUND],
            len(errors) - len(placed),
        )

    def counts(self, gold: Sequence[Span], tokens: Sequence[Stretch], form: str) -> Counts:
        """Return the counts of one form; what is not found is predicted and wrong.

        It counts as one span, or as so many tokens as it quotes.
        """
        name, _, category = form.partition("_")
        if name == "exact":
            counts = exact_counts(self.found, gold, category=bool(category))
            lost = len(self.lost)
        else:
            counts = token_counts(self.found, gold, tokens=tokens, category=bool(category))
            lost = sum(max(1, len(words.split())) for words in self.lost)
        return counts._replace(predicted=counts.predicted + lost)


class Gold:
    """The errors that people marked in a dataset's texts.

    They are of no aspect: what a judge lists on any one is compared with all of them. An error that
    quotes no words is no span, and left out.
    """

    def __init__(self, study: EvaluationData, path: str) -> None:
        self.weights = study.weights
        self.spans: dict[str, list[Span]] = defaultdict(list)
        for row in read_table("gold_spans", path).to_pylist():
            self.spans[row["target"]].append(_span(row))
        names = (study.targets[name].to_pylist() for name in ("target", "text"))
        self.tokens = {name: words_of(text or "") for name, text in zip(*names, strict=True)}

    def agreement(self, given: Annotations) -> Iterator[tuple[str, str, str, Estimate]]:
        """Yield (form, level, statistic, estimate) of precision, recall and F1."""
        names = [row["target"] for row in given.parsed]
        predicted = [Prediction.of(row["spans"]) for row in given.parsed]
        note = _left_out(predicted)
        for form in FORMS:
            bare = form.endswith("category") and not any(
                span.category for one in predicted for span in one.found
            )
            counts = [
                one.counts(self.spans[name], self.tokens[name], form)
                for name, one in zip(names, predicted, strict=True)
            ]
            for level, of in LEVELS.items():
                for statistic, one in of(
                    counts, given.source, self.weights, missing=given.missing
                ).items():
                    estimate = one.estimate
                    if bare and any(each.predicted for each in counts):
                        estimate = Estimate.undefined(NO_CATEGORIES, n_missing=given.missing)
                    yield form, level, statistic, estimate.with_note(note)


def words_of(text: str) -> list[Stretch]:
    """Return where the words of a text lie, as white space divides it."""
    return [found.span() for found in WORD.finditer(text)]


def _span(row: Row) -> Span:
    """Return the span of an error; categories that are spelt differently are the same."""
    name = row["category"]
    return Span(row["start"], row["end"], slug(name).replace("_", "-") if name else None)


def _left_out(predicted: Sequence[Prediction]) -> str:
    """Return what is told of the errors that are compared in another way, "" without any."""
    lost = sum(len(one.lost) for one in predicted)
    bare = sum(one.placeless for one in predicted)
    told = [f"spans that are not found count as wrong: {lost}"] if lost else []
    told += [f"errors that quote no words are left out: {bare}"] if bare else []
    return "; ".join(told)


METHOD = Method(
    selectable=True, when="annotated", texts=("systems",), parts=("spans",), claims=True
)
