"""Every judgment of a study with its text, reply, parsed value and score.

Read cell by cell, so that no more than one set of texts and one cell are in memory at
once. Of texts with listed errors a sample is read, drawn by the study's seed.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import fsum
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from judgescope.core.cells import joined
from judgescope.core.names import COMPUTED
from judgescope.core.paths import Paths
from judgescope.core.rng import stream
from judgescope.perturb.edits import Edit, undone_edits
from judgescope.report.marked import MOST_SEVERE, LocatedError
from judgescope.report.specs import AnnotatedTexts, PageFiles
from judgescope.schema.tables import read_table, texts_of


class SourceTexts(NamedTuple):
    """What texts are written for: its source, which may be empty, and its
    references.
    """

    item: str
    source: str
    references: tuple[str, ...]


class Target(NamedTuple):
    """A text that judges are asked about; `step` counts its errors, or is its step in a
    chain.

    `before` is the text that it was made of, None of one that nobody changed; `edits`
    lead from there to `text`.
    """

    target: str
    item: str
    system: str
    step: int
    text: str
    before: str | None
    edits: tuple[Edit, ...]


class ListedError(NamedTuple):
    """An error that a judge lists: where it is in the text, and how it was found
    there.
    """

    start: int | None
    end: int | None
    severity: float | None
    category: str | None
    explanation: str | None
    match: str | None
    location: str | None


class Draw(NamedTuple):
    """One reply to one question, and what was read of it by which rule.

    `value` is None where nothing was parsed, `reply` where nothing was asked (a judge
    made from others), `spans` where the judge lists no errors.
    """

    draw: int
    hint: str | None
    status: str
    value: float | None
    label: str | None
    rule: str | None
    parser: str | None
    reply: str | None
    rationale: str | None
    spans: list[ListedError] | None


class Judged(NamedTuple):
    """A text, or a pair of them, as one judge sees it in one aspect of one criterion.

    `score` is None where too little was parsed, or where there are votes on pairs and
    no scores; `ratings` are those of the dataset's raters on this text and aspect, []
    without any: whether these are people is said by the dataset's card.
    """

    target: Target
    target_b: Target | None
    score: float | None
    estimator: str
    ratings: Sequence[float]
    draws: Sequence[Draw]

    @property
    def statuses(self) -> list[str]:
        """Return how its judgments ended, each status once."""
        return list(dict.fromkeys(draw.status for draw in self.draws))


TEXTS_SHOWN = 6
"""Texts with listed errors that are shown of a dataset."""
FEWEST_SHOWN = 2
"""The least of these for each aspect."""
LONGEST_REMARK = 600
"""Characters of an error's words, kind and explanation that are shown, each."""
Question = tuple[str, str | None, str, str | None]
"""Aspect, criterion, text, and the second text of a pair."""


class DatasetTexts:
    """The items, texts, ratings and judgments of a dataset."""

    def __init__(self, files: PageFiles, dataset: str) -> None:
        self.files = files
        self.dataset = dataset
        self._kept_set = ""
        self._targets: Mapping[str, Target] = {}
        self._kept_scores = ""
        self._judged: Mapping[str, list[Judged]] = {}

    def items(self) -> Iterator[SourceTexts]:
        """Yield the items in the order of their table."""
        names = ["item", "source", "references"]
        table = read_table("items", self.files.items, names)
        for row in table.to_pylist():
            references = tuple(row["references"] or ())
            yield SourceTexts(row["item"], row["source"] or "", references)

    def targets(self, perturbation: str) -> Mapping[str, Target]:
        """Return target -> text of a set, in the order of its table; the last set is
        kept.
        """
        if self._kept_set != perturbation:
            table = read_table("targets", self.files.targets[perturbation])
            targets = {}
            for row in table.to_pylist():
                text = row["text"] or ""
                edits = tuple(Edit(**edit) for edit in row["edits"] or ())
                targets[row["target"]] = Target(
                    target=row["target"],
                    item=row["item"],
                    system=row["system"] or "",
                    step=row["step"] or 0,
                    text=text,
                    before=undone_edits(text, edits) if edits else None,
                    edits=edits,
                )
            self._kept_set = perturbation
            self._targets = targets
        return self._targets

    def judged(self, cell: tuple[str, str, str], model: str) -> list[Judged]:
        """Return the judgments of (set of texts, judge, aspect), in the order of its
        scores.

        Those of all aspects are read at once, and the last ones kept.
        """
        perturbation, judge, aspect = cell
        paths = Paths(self.files.results)
        cell_key = (self.dataset, model, perturbation, judge)
        scores = paths.cell("scores", *cell_key)
        if self._kept_scores != scores:
            draws = _draws(
                paths.cell("judgments", *cell_key), paths.cell("replies", *cell_key)
            )
            self._judged = self._read_scores(scores, perturbation, draws)
            self._kept_scores = scores
        return self._judged.get(aspect, [])

    def _read_scores(
        self,
        path: str,
        perturbation: str,
        draws: Mapping[Question, list[Draw]],
    ) -> Mapping[str, list[Judged]]:
        """Return aspect, with its criterion -> the scored judgments of a file."""
        targets = self.targets(perturbation)
        by_aspect = defaultdict(list)
        names = ["aspect", "criterion", "target", "target_b", "value", "estimator"]
        for row in read_table("scores", path, names).to_pylist():
            aspect = row["aspect"]
            criterion = row["criterion"]
            target = row["target"]
            target_b = row["target_b"]
            judgment = Judged(
                target=targets[target],
                target_b=targets[target_b] if target_b is not None else None,
                score=row["value"],
                estimator=row["estimator"],
                ratings=self.ratings(aspect).get((target, target_b), []),
                draws=draws[aspect, criterion, target, target_b],
            )
            by_aspect[joined(aspect, criterion)].append(judgment)
        return by_aspect

    def ratings(self, aspect: str) -> Mapping[tuple[str, str | None], list[float]]:
        """Return (target, target_b) -> ratings on an aspect, in the order of the
        raters.
        """
        return self._ratings.get(aspect, {})

    @cached_property
    def means(self) -> dict[str, dict[str, float]]:
        """Return aspect -> target -> its mean rating."""
        means = {}
        for aspect, of_aspect in self._ratings.items():
            means[aspect] = {
                target: fsum(values) / len(values)
                for (target, target_b), values in of_aspect.items()
                if not target_b
            }
        return means

    @cached_property
    def _ratings(self) -> dict[str, dict[tuple[str, str | None], list[float]]]:
        ratings: dict[str, dict[tuple[str, str | None], list[float]]] = {}
        table = read_table("ratings", self.files.ratings)
        names = ("aspect", "target", "target_b", "value")
        columns = (table[name].to_pylist() for name in names)
        for aspect, target, target_b, value in zip(*columns, strict=True):
            if value is not None:
                pairs = ratings.setdefault(aspect, {})
                pairs.setdefault((target, target_b), []).append(value)
                # The same choice, as a judge in the other order sees it.
                if target_b is not None:
                    pairs.setdefault((target_b, target), []).append(-value)
        return ratings


def _draws(judgments: str, replies: str) -> Mapping[Question, list[Draw]]:
    """Return (aspect, criterion, target, target_b) -> its judgments."""
    answer = ("status", "value", "label", "rule", "parser", "rationale", "spans")
    # The columns that say which question a judgment or a reply answers.
    question_columns = ("aspect", "criterion", "target", "target_b", "hint", "draw")
    names = [*question_columns, "kind", *answer]
    rows = read_table("judgments", judgments, names).to_pylist()
    texts = {}
    # a judge that is made from others, or computes, has judgments and no replies
    if any(row["kind"] != "derive" and row["parser"] != COMPUTED for row in rows):
        replied = read_table("answers", replies, [*question_columns, "text"])
        for row in replied.to_pylist():
            texts[tuple(map(row.get, question_columns))] = row["text"]
    draws = defaultdict(list)
    for row in rows:
        question = tuple(map(row.get, question_columns))
        aspect, criterion, target, target_b, hint, number = question
        draw = Draw(
            draw=number,
            hint=hint,
            status=row["status"],
            value=row["value"] if row["status"] == "ok" else None,
            label=row["label"],
            rule=row["rule"],
            parser=row["parser"],
            reply=texts.get(question),
            rationale=row["rationale"],
            spans=_listed_errors(row["spans"]),
        )
        draws[aspect, criterion, target, target_b].append(draw)
    return draws


def _listed_errors(
    spans: Sequence[Mapping[str, Any]] | None,
) -> list[ListedError] | None:
    if spans is None:
        return None
    return [ListedError(*map(span.get, ListedError._fields)) for span in spans]


# --- a sample of texts with the errors that judges list in them -----------------------


class Reading(NamedTuple):
    """A judge's reading of a text, or people's where `judge` is ""; `value` is None if
    nothing.

    `errors` is None where there is no list: nothing was read, or an ensemble could not
    make one.
    """

    judge: str
    value: float | None
    status: str
    errors: Sequence[LocatedError] | None


class AnnotatedText(NamedTuple):
    """A text, and aspect -> its readings; the errors that people marked are of no
    aspect.
    """

    target: str
    text: str
    gold: Sequence[LocatedError] | None
    readings: Mapping[str, Sequence[Reading]]


def sample(source: AnnotatedTexts, seed: int, dataset: str) -> list[AnnotatedText]:
    """Return some texts of a set with the first draw of every judge, by the id of the
    text.

    Drawn among the texts that a judge was asked about; which ones they are, and in
    which aspects they are shown, depends on nothing but their ids and the aspects'.
    """
    marked = read_table("marked", source.marked)
    of_set = pc.equal(marked["perturbation"], source.set)
    first_draw = pc.equal(marked["draw"], 0)
    asked = pc.not_equal(marked["status"], "not_applicable")
    marked = marked.filter(pc.and_(pc.and_(of_set, first_draw), asked))
    chosen = _drawn(marked, seed, dataset)
    names = sorted({name for name, _ in chosen})
    readings = {}
    for name in names:
        readings[name] = defaultdict[str, list[Reading]](list)
    for row in _of_targets(marked, names):
        if (row["target"], row["aspect"]) in chosen:
            spans = row["spans"]
            errors = spans and [
                _error(span, span["severity"], span["explanation"]) for span in spans
            ]
            reading = Reading(row["judge"], row["value"], row["status"], errors)
            readings[row["target"]][row["aspect"]].append(reading)
    gold = {}
    if source.gold:
        gold = _gold_errors(source.gold, names)
    texts = texts_of(source.targets)
    return [
        AnnotatedText(name, texts[name] or "", gold.get(name), readings[name])
        for name in names
    ]


def _gold_errors(path: str, names: Sequence[str]) -> dict[str, list[LocatedError]]:
    """Return target -> the errors that people marked in it, [] without any."""
    gold: dict[str, list[LocatedError]] = {name: [] for name in names}
    for row in _of_targets(read_table("gold_spans", path), names):
        instead = ""
        if row["correction"]:
            instead = f"instead: {row['correction']}"
        why = "; ".join(filter(None, (instead, row["comment"])))
        located = {**row, "location": row["text"]}
        gold[row["target"]].append(_error(located, None, why))
    return gold


def _drawn(marked: pa.Table, seed: int, dataset: str) -> set[tuple[str, str]]:
    """Return targets, each with an aspect in which it is shown: other targets in every
    aspect.

    The targets are put in an order by the seed, and each aspect takes the next ones
    that are judged in it; where these run out, the first ones again.
    """
    columns = marked.select(["aspect", "target"]).to_pandas()
    judged = columns.groupby("aspect")["target"].agg(set)
    names = sorted(set[str]().union(*judged))
    order = stream(seed, "annotated", dataset).permutation(len(names)).tolist()
    each = max(TEXTS_SHOWN // max(len(judged), 1), FEWEST_SHOWN)
    chosen = set[tuple[str, str]]()
    for number, (aspect, targets) in enumerate(judged.items()):
        in_order = [names[index] for index in order if names[index] in targets]
        start = number * each % len(in_order)
        rotated = in_order[start:] + in_order[:start]
        chosen |= {(name, aspect) for name in rotated[:each]}
    return chosen


def _of_targets(table: pa.Table, names: Sequence[str]) -> list[dict[str, Any]]:
    wanted = pc.is_in(table["target"], pa.array(names, pa.string()))
    rows: list[dict[str, Any]] = table.filter(wanted).to_pylist()
    return rows


def _error(
    row: Mapping[str, Any], severity: float | None, why: str | None
) -> LocatedError:
    return LocatedError(
        start=row["start"],
        end=row["end"],
        severity=min(max(round(severity or 0), 0), MOST_SEVERE),
        category=_cut(row["category"] or ""),
        explanation=_cut(why or ""),
        quoted=_cut(row["location"] or ""),
    )


def _cut(text: str) -> str:
    if len(text) <= LONGEST_REMARK:
        return text
    return f"{text[:LONGEST_REMARK]} …"
