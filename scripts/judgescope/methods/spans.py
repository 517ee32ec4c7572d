"""Errors that judges list: their number, location in the text, and agreement with
people's.

Every draw is an annotation of its own: statistics describe one annotation, and
intervals are over sources. Annotations without a parsed reply count in `n_missing`,
whatever they list, and so do texts of which an ensemble has no list; those that could
not be asked for are not planned. Methods.md 5, after (Kartáč et al. 2025).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from msgspec import Struct, convert

from judgescope.core.names import slug
from judgescope.methods.base import Method, Row, present
from judgescope.methods.evaluation_data import EvaluationData, set_columns
from judgescope.parsing.annotation import CONTRADICTIONS, COUNTED
from judgescope.schema.tables import read_table
from judgescope.statistics.arrays import Codes
from judgescope.statistics.means import SHARE, share
from judgescope.statistics.result import NO_CATEGORIES, Estimate, clauses
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
NOTED: Final = (*COUNTED, *CONTRADICTIONS)
"""The names behind plus signs in a judgment's rule; for lists without a verdict the
first three."""
FORMS: Final = ("exact", "exact_category", "tokens", "tokens_category")
"""The column `form`: equal spans match, or the words that they touch; with `category`
the category of the error must be the same, too."""
LEVELS: Final = {"pooled": span_agreement, "by_text": span_agreement_by_text}
WORD = re.compile(r"\S+")


class ListedError(Struct, frozen=True):
    """An error in a judge's list: the words that it quotes, and where they lie in the
    text.
    """

    location: str | None
    severity: float | None
    category: str | None
    match: str
    start: int | None
    end: int | None


class Marked(Struct, frozen=True):
    """A judgment that lists errors: a row of the table `marked`."""

    judge: str
    aspect: str
    perturbation: str
    target: str
    status: str
    rule: str | None
    spans: list[ListedError] | None


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of spans.csv: per judge, aspect and set of texts."""
    gold = Gold(study, study.spec.gold) if study.spec.gold else None
    for (judge, aspect, perturbation), annotations in annotations_of(study):
        columns, note = set_columns(perturbation), study.share_note(judge)
        for statistic, estimate in annotations.estimates():
            yield study.row(
                judge, aspect, statistic, "", estimate.with_note(note), **columns
            )
        if gold and perturbation == "systems":
            for form, level, statistic, estimate in gold.agreement(annotations):
                place, noted = columns | {"form": form}, estimate.with_note(note)
                yield study.row(judge, aspect, statistic, level, noted, **place)


def annotations_of(
    study: EvaluationData,
) -> list[tuple[tuple[str, str, str], "Annotations"]]:
    """Return ((judge, aspect, set of texts), the annotations of this cell), sorted."""
    derived = {
        name for name, card in study.spec.judges.items() if card.engine == "derived"
    }
    cells: dict[tuple[str, str, str], list[Marked]] = defaultdict(list)
    table = read_table("marked", present(study.spec.marked))
    for row in convert(table.to_pylist(), list[Marked]):
        if row.status != "not_applicable":
            cells[row.judge, row.aspect, row.perturbation].append(row)
    return [
        (cell, Annotations(study, rows, cell[0] in derived))
        for cell, rows in sorted(cells.items())
    ]


class Annotations:
    """The annotations of one cell, and the texts of those that were not parsed."""

    def __init__(
        self, study: EvaluationData, rows: Sequence[Marked], derived: bool
    ) -> None:
        """Read judgments of one cell; a `derived` judge is made of others."""
        self.study = study
        self.noted = COUNTED if derived else NOTED
        self.parsed = [
            row for row in rows if row.status == "ok" and row.spans is not None
        ]
        unparsed = [row for row in rows if row.status != "ok" or row.spans is None]
        names = (study.targets[name].to_pylist() for name in ("target", "item"))
        source_of = {
            target: study.item_order[item] for target, item in zip(*names, strict=True)
        }
        self.source: Codes = np.array(
            [source_of[one.target] for one in self.parsed], np.int64
        )
        """The code of each parsed annotation's item."""
        self.lost = [(row.target, source_of[row.target]) for row in unparsed]
        """The text of each annotation that was not parsed, and the code of its item."""

    def estimates(self) -> Iterator[tuple[str, Estimate]]:
        """Yield each statistic of the lists of errors and its estimate."""
        lists = [one.spans or [] for one in self.parsed]
        errors, ones = [len(each) for each in lists], [1] * len(lists)
        yield "span_errors", self._share(errors, ones, "annotations")
        yield "span_clean", self._share([not each for each in lists], ones)
        rated = [[one.severity for one in each if one.severity] for each in lists]
        counts = [len(each) for each in rated]
        unrated = sum(errors) - sum(counts)
        severity = self._share([sum(each) for each in rated], counts, "errors", unrated)
        yield "span_severity", severity
        quoted = [[one for one in each if one.location] for each in lists]
        spans = [len(each) for each in quoted]
        placeless = [total - own for total, own in zip(errors, spans, strict=True)]
        yield "span_placeless", self._share(placeless, errors)
        kinds = [Counter(one.match for one in each) for each in quoted]
        matched = [sum(each[kind] for kind in FOUND) for each in kinds]
        yield "span_match_rate", self._share(matched, spans)
        for kind in FOUND:
            yield (
                f"span_match_{kind}",
                self._share([each[kind] for each in kinds], spans),
            )
        rules = [(one.rule or "").split("+")[1:] for one in self.parsed]
        for name in self.noted:
            yield f"span_{name}", self._share([name in each for each in rules], ones)

    def _share(
        self,
        hits: Sequence[float],
        total: Sequence[int],
        units: str = "",
        lost: int | None = None,
    ) -> Estimate:
        """Return the sum of `hits` over that of `total`, each of an annotation."""
        return share(
            np.array(hits, dtype=np.float64),
            np.array(total, dtype=np.float64),
            self.source,
            self.study.weights,
            len(self.lost) if lost is None else lost,
            averaged=units and f"mean over {units}",
            ends=None if units else SHARE,
        ).estimate


@dataclass(frozen=True)
class Prediction:
    """An annotation's spans in the text, quotes that are not there, and errors without
    a quote.
    """

    spans: list[Span]
    not_in_text: list[str]
    unquoted: int

    @classmethod
    def from_errors(cls, errors: Sequence[ListedError]) -> "Prediction":
        """Return the spans among the errors of an annotation."""
        spans, not_in_text, unquoted = list[Span](), list[str](), 0
        for one in errors:
            if not one.location:
                unquoted += 1
            elif one.match == NOT_FOUND or one.start is None or one.end is None:
                not_in_text.append(one.location)
            else:
                spans.append(_span(one.start, one.end, one.category))
        return cls(spans, not_in_text, unquoted)

    def counts(
        self, gold: Sequence[Span], tokens: Sequence[Stretch], form: str
    ) -> Counts:
        """Return the counts of one form; a quote that is not in the text is predicted
        and wrong.

        It counts as one span, or as many tokens as it has words.
        """
        name, _, with_category = form.partition("_")
        category = bool(with_category)
        if name == "exact":
            counts = exact_counts(self.spans, gold, category=category)
            lost = len(self.not_in_text)
        else:
            counts = token_counts(self.spans, gold, tokens=tokens, category=category)
            lost = sum(max(1, len(words.split())) for words in self.not_in_text)
        return counts._replace(predicted=counts.predicted + lost)


class Gold:
    """The errors that people marked in a dataset's texts.

    They belong to no aspect: a judge's list on any aspect is compared with all of them.
    An error that quotes no words is not a span, and left out.
    """

    def __init__(self, study: EvaluationData, path: str) -> None:
        self.weights = study.weights
        self.spans: dict[str, list[Span]] = defaultdict(list)
        for row in read_table("gold_spans", path).to_pylist():
            self.spans[row["target"]].append(
                _span(row["start"], row["end"], row["category"])
            )
        names = (study.targets[name].to_pylist() for name in ("target", "text"))
        self.tokens = {
            name: words_of(text or "") for name, text in zip(*names, strict=True)
        }

    def agreement(
        self, annotations: Annotations
    ) -> Iterator[tuple[str, str, str, Estimate]]:
        """Yield (form, level, statistic, estimate) of precision, recall and F1."""
        targets = [one.target for one in annotations.parsed]
        predictions = [
            Prediction.from_errors(one.spans or []) for one in annotations.parsed
        ]
        lost = sum(len(one.not_in_text) for one in predictions)
        unquoted = sum(one.unquoted for one in predictions)
        note = clauses(
            f"spans not located count as wrong: {lost}" if lost else "",
            f"errors without a quotation are excluded: {unquoted}" if unquoted else "",
        )
        missing = len(annotations.lost)
        categorised = any(span.category for one in predictions for span in one.spans)
        for form in FORMS:
            counts = [
                one.counts(self.spans[target], self.tokens[target], form)
                for target, one in zip(targets, predictions, strict=True)
            ]
            bare = form.endswith("category") and not categorised
            bare = bare and any(each.predicted for each in counts)
            for level, agreement in LEVELS.items():
                results = agreement(
                    counts, annotations.source, self.weights, missing=missing
                )
                for statistic, result in results.items():
                    estimate = result.estimate
                    if bare:
                        estimate = Estimate.undefined(NO_CATEGORIES, n_missing=missing)
                    yield form, level, statistic, estimate.with_note(note)


def words_of(text: str) -> list[Stretch]:
    """Return where the words of a text lie, as white space divides it."""
    return [word.span() for word in WORD.finditer(text)]


def _span(start: int, end: int, category: str | None) -> Span:
    """Return the span of an error; categories that differ in spelling only are
    equal.
    """
    return Span(start, end, slug(category).replace("_", "-") if category else None)


METHOD = Method(
    selectable=True,
    when="annotated",
    texts=("systems",),
    parts=("spans",),
    claims=("claims.agreement.span_claims",),
)
