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
from judgescope.report.marked import MOST_SEVERE, Error
from judgescope.report.specs import AnnotatedTexts
from judgescope.schema.tables import read_table, texts_of

Row = dict[str, Any]


class Item(NamedTuple):
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


class Span(NamedTuple):
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
    spans: list[Span] | None


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


DRAWN, LEAST = 6, 2
"""Texts that are shown of a dataset, and the minimum of each of its aspects."""
LONGEST_REMARK = 600
"""Characters of an error's words, kind and explanation that are shown, each."""
_ASKED = ("aspect", "criterion", "target", "target_b", "hint", "draw")
_READ = [
    *_ASKED,
    "kind",
    "status",
    "value",
    "label",
    "rule",
    "parser",
    "rationale",
    "spans",
]


class Texts:
    """The items, texts and ratings of a dataset in a study's results `out`."""

    def __init__(self, out: str, dataset: str) -> None:
        self.out, self.dataset = out, dataset
        self._set: tuple[str, dict[str, Target]] = "", {}
        self._cell: tuple[str, dict[str, list[Judged]]] = "", {}

    def items(self) -> Iterator[Item]:
        """Yield the items in the order of their table."""
        names = ["item", "source", "references"]
        table = read_table("items", f"{self.out}/items/{self.dataset}.parquet", names)
        for row in table.to_pylist():
            yield Item(row["item"], row["source"] or "", tuple(row["references"] or ()))

    def targets(self, perturbation: str) -> Mapping[str, Target]:
        """Return target -> text of a set, in the order of its table; the last set is
        kept.
        """
        if self._set[0] != perturbation:
            path = f"{self.out}/targets/{self.dataset}/{perturbation}.parquet"
            self._set = perturbation, {}
            for row in read_table("targets", path).to_pylist():
                edits, text = (
                    tuple(Edit(**edit) for edit in row["edits"] or ()),
                    row["text"] or "",
                )
                before = undone_edits(text, edits) if edits else None
                about = (
                    row["target"],
                    row["item"],
                    row["system"] or "",
                    row["step"] or 0,
                )
                self._set[1][row["target"]] = Target(*about, text, before, edits)
        return self._set[1]

    def judged(self, cell: tuple[str, str, str], model: str) -> list[Judged]:
        """Return the judgments of (set of texts, judge, aspect), in the order of its
        scores.

        Those of all aspects are read at once, and the last ones kept.
        """
        perturbation, judge, aspect = cell
        scores, judgments, replies = (
            Paths(self.out).cell(kind, self.dataset, model, perturbation, judge)
            for kind in ("scores", "judgments", "replies")
        )
        if self._cell[0] != scores:
            found, targets = defaultdict(list), self.targets(perturbation)
            draws = _draws(judgments, replies)
            columns = [*_ASKED[:4], "value", "estimator"]
            for row in read_table("scores", scores, columns).to_pylist():
                name, criterion, target, target_b, value, estimator = map(
                    row.get, columns
                )
                second = targets[target_b] if target_b is not None else None
                ratings = self.ratings(name).get((target, target_b), [])
                own = draws[name, criterion, target, target_b]
                judgment = Judged(
                    targets[target], second, value, estimator, ratings, own
                )
                found[joined(name, criterion)].append(judgment)
            self._cell = scores, found
        return self._cell[1].get(aspect, [])

    def ratings(self, aspect: str) -> Mapping[tuple[str, str | None], list[float]]:
        """Return (target, target_b) -> ratings on an aspect, in the order of the
        raters.
        """
        return self._ratings.get(aspect, {})

    @cached_property
    def means(self) -> dict[str, dict[str, float]]:
        """Return aspect -> target -> its mean rating."""
        return {
            aspect: {
                target: fsum(values) / len(values)
                for (target, target_b), values in of_aspect.items()
                if not target_b
            }
            for aspect, of_aspect in self._ratings.items()
        }

    @cached_property
    def _ratings(self) -> dict[str, dict[tuple[str, str | None], list[float]]]:
        ratings: dict[str, dict[tuple[str, str | None], list[float]]] = {}
        table = read_table("ratings", f"{self.out}/ratings/{self.dataset}.parquet")
        names = ("aspect", "target", "target_b", "value")
        columns = (table[name].to_pylist() for name in names)
        for aspect, target, target_b, value in zip(*columns, strict=True):
            if value is not None:
                pairs = ratings.setdefault(aspect, {})
                pairs.setdefault((target, target_b), []).append(value)
                if (
                    target_b is not None
                ):  # the same choice, as a judge in the other order sees it
                    pairs.setdefault((target_b, target), []).append(-value)
        return ratings


def _draws(judgments: str, replies: str) -> Mapping[tuple[object, ...], list[Draw]]:
    """Return (aspect, criterion, target, target_b) -> its judgments."""
    rows = read_table("judgments", judgments, _READ).to_pylist()
    texts = {}
    # a judge that is made from others, or computes, has judgments and no replies
    if any(row["kind"] != "derive" and row["parser"] != COMPUTED for row in rows):
        answers = read_table("answers", replies, [*_ASKED, "text"]).to_pylist()
        texts = {tuple(map(row.get, _ASKED)): row["text"] for row in answers}
    draws = defaultdict(list)
    for row in rows:
        asked = tuple(map(row.get, _ASKED))
        fields = {name: row[name] for name in Draw._fields if name != "reply"}
        fields["value"] = row["value"] if row["status"] == "ok" else None
        if (spans := row["spans"]) is not None:
            fields["spans"] = [Span(*map(span.get, Span._fields)) for span in spans]
        draws[asked[:4]].append(Draw(**fields, reply=texts.get(asked)))
    return draws


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
    errors: Sequence[Error] | None


class AnnotatedText(NamedTuple):
    """A text, and aspect -> its readings; the errors that people marked are of no
    aspect.
    """

    target: str
    text: str
    gold: Sequence[Error] | None
    readings: Mapping[str, Sequence[Reading]]


def sample(source: AnnotatedTexts, seed: int, dataset: str) -> list[AnnotatedText]:
    """Return some texts of a set with the first draw of every judge, by the id of the
    text.

    Drawn among the texts that a judge was asked about; which ones they are, and in
    which aspects they are shown, depends on nothing but their ids and the aspects'.
    """
    marked = read_table("marked", source.marked)
    of_set = pc.and_(
        pc.equal(marked["perturbation"], source.set), pc.equal(marked["draw"], 0)
    )
    marked = marked.filter(
        pc.and_(of_set, pc.not_equal(marked["status"], "not_applicable"))
    )
    chosen = _drawn(marked, seed, dataset)
    names = sorted({name for name, _ in chosen})
    readings: dict[str, dict[str, list[Reading]]] = {
        name: defaultdict(list) for name in names
    }
    for row in _of_targets(marked, names):
        if (row["target"], row["aspect"]) in chosen:
            spans = row["spans"]
            errors = spans and [
                _error(one, one["severity"], one["explanation"]) for one in spans
            ]
            reading = Reading(row["judge"], row["value"], row["status"], errors)
            readings[row["target"]][row["aspect"]].append(reading)
    gold: dict[str, list[Error]] = defaultdict(list)
    for row in (
        _of_targets(read_table("gold_spans", source.gold), names) if source.gold else ()
    ):
        instead = f"instead: {row['correction']}" if row["correction"] else ""
        why = "; ".join(filter(None, (instead, row["comment"])))
        gold[row["target"]].append(_error(row | {"location": row["text"]}, None, why))
    texts = texts_of(source.targets)
    return [
        AnnotatedText(
            name, texts[name] or "", gold[name] if source.gold else None, readings[name]
        )
        for name in names
    ]


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
    each, chosen = max(DRAWN // max(len(judged), 1), LEAST), set[tuple[str, str]]()
    for number, (aspect, targets) in enumerate(judged.items()):
        in_order = [names[index] for index in order if names[index] in targets]
        start = number * each % len(in_order)
        rotated = in_order[start:] + in_order[:start]
        chosen |= {(name, aspect) for name in rotated[:each]}
    return chosen


def _of_targets(table: pa.Table, names: Sequence[str]) -> list[Row]:
    wanted = pc.is_in(table["target"], pa.array(names, pa.string()))
    rows: list[Row] = table.filter(wanted).to_pylist()
    return rows


def _error(row: Row, severity: float | None, why: str | None) -> Error:
    level = min(max(round(severity or 0), 0), MOST_SEVERE)
    texts = (
        text if len(text) <= LONGEST_REMARK else f"{text[:LONGEST_REMARK]} …"
        for text in (row["category"] or "", why or "", row["location"] or "")
    )
    return Error(row["start"], row["end"], level, *texts)
