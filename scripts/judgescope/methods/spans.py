"""Errors that judges list: their number, location in the text, and agreement with
people's.

Every draw is an annotation of its own: statistics describe one annotation, and
intervals are over sources. Annotations without a parsed reply count in `n_missing`,
whatever they list, and so do texts of which an ensemble has no list; those that could
not be asked for are not planned. See docs/methods.md, "Ensembles, spans and
distillation", after (Kartáč et al. 2025).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from msgspec import Struct, convert

from judgescope.core.names import slug
from judgescope.methods.base import Method, present
from judgescope.methods.evaluation_data import EvaluationData, set_columns
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import read_table
from judgescope.statistics.arrays import Codes
from judgescope.statistics.means import SHARE, share
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate, clauses
from judgescope.statistics.span_credit import (
    SpanCredit,
    credit_agreement,
    credit_agreement_by_text,
    partial_credit,
)
from judgescope.statistics.spans import (
    SpanCounts,
    TextSpan,
    TokenRange,
    exact_counts,
    span_agreement,
    span_agreement_by_text,
    token_counts,
)

CREDIT_FORMS: Final = ("partial", "partial_category")
"""Forms that give credit for the part of a span that overlaps its partner."""
FORMS: Final = (
    "exact",
    "exact_category",
    "tokens",
    "tokens_category",
    *CREDIT_FORMS,
)
"""How the spans of a judge and those of people are compared."""


class MarkedError(Struct, frozen=True):
    """An error in a judge's list: the words that it quotes, and where they lie in the
    text.
    """

    location: str | None
    severity: float | None
    category: str | None
    match: str
    start: int | None
    end: int | None


class MarkedJudgment(Struct, frozen=True):
    """A judgment that lists errors: a row of the table `marked`."""

    judge: str
    aspect: str
    perturbation: str
    target: str
    status: str
    rule: str | None
    spans: list[MarkedError] | None


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of spans.csv: per judge, aspect and set of texts."""
    gold = None
    if data.spec.gold:
        gold = GoldErrors(data, data.spec.gold)
    for (judge, aspect, perturbation), annotations in annotations_of(data):
        columns = set_columns(perturbation)
        note = data.share_note(judge)
        for statistic, estimate in annotations.estimates():
            yield data.row(
                judge, aspect, statistic, "", estimate.with_note(note), **columns
            )
        if gold and perturbation == "systems":
            for form, level, statistic, estimate in gold.agreement(annotations):
                noted = estimate.with_note(note)
                of_form = columns | {"form": form}
                yield data.row(judge, aspect, statistic, level, noted, **of_form)


def annotations_of(
    data: EvaluationData,
) -> list[tuple[tuple[str, str, str], "Annotations"]]:
    """Return ((judge, aspect, set of texts), the annotations of this cell), sorted."""
    derived = set()
    for name, card in data.spec.judges.items():
        if card.engine == "derived":
            derived.add(name)
    cells: dict[tuple[str, str, str], list[MarkedJudgment]] = defaultdict(list)
    table = read_table("marked", present(data.spec.marked))
    for row in convert(table.to_pylist(), list[MarkedJudgment]):
        if row.status != "not_applicable":
            cells[row.judge, row.aspect, row.perturbation].append(row)
    return [
        (cell, Annotations(data, rows, cell[0] in derived))
        for cell, rows in sorted(cells.items())
    ]


class Annotations:
    """The annotations of one cell, and the texts of those that were not parsed."""

    def __init__(
        self, data: EvaluationData, rows: Sequence[MarkedJudgment], derived: bool
    ) -> None:
        """Read judgments of one cell; a `derived` judge is made of others."""
        self.study = data
        # The names behind plus signs in a judgment's rule; lists of derived judges
        # have no verdict that could contradict them.
        # Not for planning: the grammar of annotations takes long to import.
        from judgescope.parsing.annotation import CONTRADICTIONS, COUNTED

        self.noted = COUNTED if derived else (*COUNTED, *CONTRADICTIONS)
        targets = data.targets["target"].to_pylist()
        items = data.targets["item"].to_pylist()
        source_of = {}
        for target, item in zip(targets, items, strict=True):
            source_of[target] = data.item_order[item]
        self.parsed = list[MarkedJudgment]()
        self.lost = list[tuple[str, int]]()
        """The text of each annotation that was not parsed, and the code of its item."""
        for row in rows:
            if row.status == "ok" and row.spans is not None:
                self.parsed.append(row)
            else:
                self.lost.append((row.target, source_of[row.target]))
        self.source: Codes = np.array(
            [source_of[row.target] for row in self.parsed], np.int64
        )
        """The code of each parsed annotation's item."""

    def estimates(self) -> Iterator[tuple[str, Estimate]]:
        """Yield each statistic of the lists of errors and its estimate."""
        errors = list[int]()
        clean = list[bool]()
        severities = list[float]()
        rated = list[int]()
        quoted = list[int]()
        without_quote = list[int]()
        matches = list[Counter[str]]()
        for annotation in self.parsed:
            listed = annotation.spans or []
            ratings = [error.severity for error in listed if error.severity]
            quotes = [error.match for error in listed if error.location]
            errors.append(len(listed))
            clean.append(not listed)
            severities.append(sum(ratings))
            rated.append(len(ratings))
            quoted.append(len(quotes))
            without_quote.append(len(listed) - len(quotes))
            matches.append(Counter(quotes))
        ones = [1] * len(errors)
        yield "span_errors", self._share(errors, ones, "annotations")
        yield "span_clean", self._share(clean, ones)
        unrated = sum(errors) - sum(rated)
        yield "span_severity", self._share(severities, rated, "errors", unrated)
        yield "span_placeless", self._share(without_quote, errors)
        # How words that a judge quotes were located in the text.
        located_rules = ("exact", "normalised", "fuzzy")
        located = [sum(map(counts.__getitem__, located_rules)) for counts in matches]
        yield "span_match_rate", self._share(located, quoted)
        for kind in located_rules:
            of_kind = [counts[kind] for counts in matches]
            yield f"span_match_{kind}", self._share(of_kind, quoted)
        rules = []
        for judgment in self.parsed:
            rules.append((judgment.rule or "").split("+")[1:])
        for name in self.noted:
            yield f"span_{name}", self._share([name in rule for rule in rules], ones)

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

    spans: list[TextSpan]
    not_in_text: list[str]
    unquoted: int

    @classmethod
    def from_errors(cls, errors: Sequence[MarkedError]) -> "Prediction":
        """Return the spans among the errors of an annotation."""
        spans = list[TextSpan]()
        not_in_text = list[str]()
        unquoted = 0
        for error in errors:
            if not error.location:
                unquoted += 1
            elif error.match == "not_found" or error.start is None or error.end is None:
                not_in_text.append(error.location)
            else:
                spans.append(_span(error.start, error.end, error.category))
        return cls(spans, not_in_text, unquoted)

    def counts(
        self, gold: Sequence[TextSpan], tokens: Sequence[TokenRange], form: str
    ) -> SpanCounts:
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

    def credit(self, gold: Sequence[TextSpan], form: str) -> SpanCredit:
        """Return the credit of pairs of spans; a quote that is not in the text is a
        predicted span without credit.
        """
        credit = partial_credit(self.spans, gold, category=form.endswith("_category"))
        return credit._replace(predicted=credit.predicted + len(self.not_in_text))


class GoldErrors:
    """The errors that people marked in a dataset's texts.

    They belong to no aspect: a judge's list on any aspect is compared with all of them.
    An error that quotes no words is not a span, and left out.
    """

    def __init__(self, data: EvaluationData, path: str) -> None:
        self.weights = data.weights
        self.spans: dict[str, list[TextSpan]] = defaultdict(list)
        for row in read_table("gold_spans", path).to_pylist():
            self.spans[row["target"]].append(
                _span(row["start"], row["end"], row["category"])
            )
        targets = data.targets["target"].to_pylist()
        texts = data.targets["text"].to_pylist()
        self.tokens = {
            target: words_of(text or "")
            for target, text in zip(targets, texts, strict=True)
        }

    def agreement(
        self, annotations: Annotations
    ) -> Iterator[tuple[str, str, str, Estimate]]:
        """Yield (form, level, statistic, estimate) of precision, recall and F1.

        form: equal spans match, or the words that they touch, or pairs of spans with
        credit for their overlap; with `category` the category of the error must be the
        same, too.
        """
        predictions = list[Prediction]()
        not_located = 0
        unquoted = 0
        categorised = False
        for annotation in annotations.parsed:
            prediction = Prediction.from_errors(annotation.spans or [])
            predictions.append(prediction)
            not_located += len(prediction.not_in_text)
            unquoted += prediction.unquoted
            categorised |= any(span.category for span in prediction.spans)
        note = clauses(
            f"spans not located count as wrong: {not_located}" if not_located else "",
            f"errors without a quotation are excluded: {unquoted}" if unquoted else "",
        )
        missing = len(annotations.lost)
        for form in FORMS:
            category = form.endswith("category")
            predicted, by_level = self._compared(form, annotations, predictions)
            no_categories = category and not categorised and predicted > 0
            for level, results in by_level.items():
                for statistic, result in results.items():
                    estimate = result.estimate
                    if no_categories:
                        estimate = Estimate.undefined(
                            REASONS.no_categories, n_missing=missing
                        )
                    yield form, level, statistic, estimate.with_note(note)

    def _compared(
        self, form: str, annotations: Annotations, predictions: Sequence[Prediction]
    ) -> tuple[int, dict[str, dict[str, Replicated]]]:
        """Return the number of predicted spans or words of a form, and level ->
        statistic -> result.
        """
        counts = list[SpanCounts]()
        credits = list[SpanCredit]()
        for annotation, prediction in zip(annotations.parsed, predictions, strict=True):
            gold = self.spans[annotation.target]
            if form in CREDIT_FORMS:
                credits.append(prediction.credit(gold, form))
            else:
                tokens = self.tokens[annotation.target]
                counts.append(prediction.counts(gold, tokens, form))
        source = annotations.source
        missing = len(annotations.lost)
        if form in CREDIT_FORMS:
            levels = {
                "pooled": credit_agreement(
                    credits, source, self.weights, missing=missing
                ),
                "by_text": credit_agreement_by_text(
                    credits, source, self.weights, missing=missing
                ),
            }
        else:
            levels = {
                "pooled": span_agreement(counts, source, self.weights, missing=missing),
                "by_text": span_agreement_by_text(
                    counts, source, self.weights, missing=missing
                ),
            }
        predicted = sum(each.predicted for each in counts)
        predicted += sum(each.predicted for each in credits)
        return predicted, levels


def words_of(text: str) -> list[TokenRange]:
    """Return where the words of a text lie, as white space divides it."""
    return [word.span() for word in re.finditer(r"\S+", text)]


def _span(start: int, end: int, category: str | None) -> TextSpan:
    """Return the span of an error; categories that differ in spelling only are
    equal.
    """
    return TextSpan(start, end, slug(category).replace("_", "-") if category else None)


METHOD = Method(
    name="spans",
    rows=rows,
    selectable=True,
    when="annotated",
    texts=("systems",),
    parts=("spans",),
)
