"""The worst judgments of a judge, chosen by rules, as a reader sees them: all of it
escaped.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from math import inf
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from judgescope.core.cells import DERIVED
from judgescope.core.names import ORIGINAL, SYSTEMS
from judgescope.methods.base import Turned
from judgescope.parsing.judgment import NO_VALUE, OFF_GRID
from judgescope.report import words
from judgescope.report.elements import Block, Case, Excerpt, Section, Text
from judgescope.report.items import Draw, Judged, Target, Texts
from judgescope.report.marked import Piece, shortened, states
from judgescope.report.report import CardReport, Dataset, Judge
from judgescope.report.rows import scores_of
from judgescope.report.specs import Ends, ExpectedDrop, PerturbationCard
from judgescope.report.spotcheck import DONE
from judgescope.report.tables import by_dataset
from judgescope.report.words import STATUSES, amount, count, listed, percent, plural
from judgescope.schema.tables import read_table

MOST = 5
"""Maximum number of cases shown of each kind and dataset."""
HEAVIEST = ("major", "single", "minor")

WHOLE = 20_000
"""Characters of a long text that can be unfolded."""
SMALL = 500
"""Characters of a reply that are shown at once."""
LEAD = (
    "Chosen by rule, never by hand. Differences are shares of the judge's range: its "
    "scale or, if its scores have none, the span from the lowest to the highest score "
    "that it gave. Each text is shown once, in the aspect with the largest difference."
)


class Bad(NamedTuple):
    """A text that a judge misjudged: `score` where `other` was to be expected, `by` how
    much.

    `other` is the score of the text's original, or the mean rating of the text itself;
    `by` is a share of the range, above 0 where the score is too good.
    """

    cell: str
    aspect: str
    target: str
    score: float
    other: float
    by: float
    ranked: bool = False
    """Whether `by` is a difference of ranks: the scores have no scale."""


@dataclass(frozen=True)
class Worst:
    """The worst of `n` texts; `higher` and `equal` compare perturbed ones with their
    originals.
    """

    cases: Sequence[Bad]
    n: int
    n_missing: int
    higher: int = 0
    equal: int = 0


def unnoticed(
    scores: pd.DataFrame,
    perturbations: Sequence[ExpectedDrop],
    perturbed: Mapping[str, Mapping[str, str]],
    ends: Mapping[str, Ends],
    turned: Collection[str] = (),
) -> Worst:
    """Return the perturbed texts that score no worse than their originals, the best
    first.

    `scores` are those of a judge (`scores_of`), the lowest the best in the aspects
    `turned`; `perturbed` is set -> target -> original, of each of which one text is
    shown. Equals are in the order: the heavier degree, the study's order of
    perturbations, the id.
    """
    judged = {*zip(scores["perturbation"], scores["judged"], strict=True)}
    places = [
        (
            HEAVIEST.index(one.cell.rpartition(".")[2]),
            order,
            one.cell,
            aspect,
            target,
            original,
        )
        for order, one in enumerate(perturbations)
        for aspect in one.aspects
        if (one.cell, aspect) in judged
        for target, original in perturbed[one.cell].items()
    ]
    names = ["heavy", "order", "perturbation", "judged", "target", "original"]
    every = pd.DataFrame(places, columns=names)
    before = scores[scores["perturbation"] == ORIGINAL]
    before = before.rename(columns={"target": "original", "value": "other"})
    every = every.merge(scores, "left", ["perturbation", "judged", "target"])
    every = every.merge(
        before[["judged", "original", "other"]], "left", ["judged", "original"]
    )
    widths = {
        aspect: _width(scores, aspect, ends.get(aspect))
        for aspect in {*every["judged"]}
    }
    rise = every["value"] - every["other"]
    every["by"] = rise.mask(every["judged"].isin(turned), -rise) / every["judged"].map(
        widths
    )
    worst = every.dropna(subset="by").sort_values("by", ascending=False, kind="stable")
    worst = worst.drop_duplicates(["order", "target"])  # of equal aspects, the first
    worst = worst.sort_values(
        ["by", "heavy", "order", "target"], ascending=[False, *[True] * 3]
    )
    higher, equal = int((worst["by"] > 0).sum()), int((worst["by"] == 0).sum())
    shown = worst[: higher + equal].drop_duplicates("original")
    n_missing = len(every.drop_duplicates(["order", "target"])) - len(worst)
    return Worst(_cases(shown), len(worst), n_missing, higher, equal)


def _cases(worst: pd.DataFrame) -> list[Bad]:
    names = ["perturbation", "judged", "target", "value", "other", "by"]
    return [Bad(*row) for row in worst[names][:MOST].itertuples(index=False, name=None)]


def _width(scores: pd.DataFrame, aspect: str, ends: Ends) -> float:
    """Return how wide the range of the judge's scores is on an aspect, infinite for one
    value.
    """
    if ends is None:
        values = scores["value"][scores["judged"] == aspect]
        ends = (values.min(), values.max())
    return (ends[1] - ends[0]) or inf


def disagreeing(
    scores: pd.DataFrame,
    ratings: Mapping[str, Mapping[str, float]],
    scales: Mapping[str, Sequence[float]],
    ends: Mapping[str, Ends],
    turned_scores: Collection[str] = (),
    turned_ratings: Collection[str] = (),
) -> Worst:
    """Return the rated texts whose score lies farthest from their mean rating.

    Both are placed between the ends of their scales; where the judge's scores have no
    ends, both by their mid-rank among the texts that have both; in the aspects
    `turned_…` the lowest is the best. Equals are in the order of their ids.
    """
    of_systems, parts = scores[scores["perturbation"] == SYSTEMS], []
    for aspect, scale in scales.items():  # the study's order
        of_aspect, span = of_systems[of_systems["judged"] == aspect], ends.get(aspect)
        if len(of_aspect):
            plain = aspect.partition(".")[0]
            rated = pd.Series(ratings.get(plain, {}), name="other", dtype=float)
            part = (
                rated.rename_axis("target")
                .reset_index()
                .merge(of_aspect, "left", "target")
            )
            known = part.dropna(subset="value")
            score, rating = (
                _places(known["value"], span),
                _places(known["other"], span and scale),
            )
            score = 1 - score if aspect in turned_scores else score
            distance = score - (1 - rating if plain in turned_ratings else rating)
            part["by"] = distance.map(lambda by: round(by, 12))
            parts.append(part)
    if not parts:
        return Worst([], 0, 0)
    every = pd.concat(parts)
    every["far"] = every["by"].abs()
    worst = every.dropna(subset="by").sort_values("far", ascending=False, kind="stable")
    worst = worst.drop_duplicates("target").sort_values(
        ["far", "target"], ascending=[False, True]
    )
    cases = [
        bad._replace(ranked=ends.get(bad.aspect) is None)
        for bad in _cases(worst[worst["far"] > 0])
    ]
    return Worst(cases, len(worst), every["target"].nunique() - len(worst))


def _places(values: pd.Series, ends: Sequence[float] | None) -> pd.Series:
    """Return where each value lies between the ends, else its mid-rank; as shares."""
    if ends is not None:
        return (values - ends[0]) / ((ends[1] - ends[0]) or inf)
    return (values.rank() - 0.5) / len(values)


class Reader:
    """The judgments of one dataset in a study's results, read where they are needed."""

    def __init__(self, report: CardReport, dataset: Dataset) -> None:
        self.report, self.dataset = report, dataset
        self.out = report.spec.results
        self.texts = Texts(self.out, dataset.id)
        self.rules = report.spec.worst.get(dataset.id)
        self._perturbed: dict[str, dict[str, str]] = {}

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Return the scores of all judges; an infinite one is none."""
        scores = scores_of(self.out, self.dataset.id)
        return scores.assign(value=scores["value"].where(np.isfinite(scores["value"])))

    @cached_property
    def originals(self) -> dict[str, Target]:
        """Return item -> its original text."""
        texts = Texts(self.out, self.dataset.id)
        return {target.item: target for target in texts.targets(ORIGINAL).values()}

    def perturbed(self, cell: str) -> dict[str, str]:
        """Return target -> the original of its item, for the texts of a set that were
        perturbed.
        """
        if cell not in self._perturbed:
            path = f"{self.out}/targets/{self.dataset.id}/{cell}.parquet"
            table = read_table("targets", path, ["target", "item", "status"])
            self._perturbed[cell] = {
                row["target"]: self.originals[row["item"]].target
                for row in table.to_pylist()
                if row["status"].partition(":")[0] in DONE
                and row["item"] in self.originals
            }
        return self._perturbed[cell]

    def ends(self, judge: Judge) -> Mapping[str, Ends]:
        """Return aspect -> the ends of the judge's scores, None where they have
        none.
        """
        spec = self.report.spec
        return spec.ends[spec.ends_of[judge.id]].get(self.dataset.id, {})

    @property
    def turned(self) -> Turned:
        """Return the scales whose lowest value is the best."""
        return self.report.spec.turned.get(self.dataset.id, Turned({}, {}))

    def written(self, judge: Judge, aspect: str, score: float) -> str:
        """Return a score as a label where the judge gives labels, else as a number."""
        labels, card = (
            self.dataset.labels_on(aspect),
            self.report.spec.judges.get(judge.id),
        )
        known = labels and card and not card.thresholded and score in range(len(labels))
        return labels[int(score)] if known else amount(score)

    def judged(self, judge: Judge, cell: str, aspect: str) -> list[Judged]:
        """Return the judge's judgments of a set of texts in one aspect."""
        model = str(self.report.spec.settings[judge.id].get("model", DERIVED))
        return self.texts.judged((cell, judge.id, aspect), model)

    def find(self, judge: Judge, bad: Bad) -> Judged:
        """Return the judge's judgment of a text."""
        found = self.judged(judge, bad.cell, bad.aspect)
        return next(
            one
            for one in found
            if (one.target.target, one.target_b) == (bad.target, None)
        )


def section(readers: Iterable[Reader], judge: Judge) -> Section | None:
    """Return the worst cases of a judge on every dataset; None for one that judged
    nothing.
    """
    by_id = {reader.dataset.id: reader for reader in readers}

    def cases(dataset: Dataset) -> Iterator[Block]:
        reader = by_id[dataset.id]
        scores = reader.scores[reader.scores["judge"] == judge.id]
        yield from _unnoticed(reader, judge, scores)
        yield from _disagreeing(reader, judge, scores)
        yield from _failed(reader, judge)

    blocks = by_dataset([reader.dataset for reader in by_id.values()], "worst", cases)
    return Section("worst", "Its worst cases", LEAD, blocks) if blocks else None


def _unnoticed(reader: Reader, judge: Judge, scores: pd.DataFrame) -> Iterator[Block]:
    """Yield the perturbed texts that the judge scores no worse than their originals."""
    judged = {*zip(scores["perturbation"], scores["judged"], strict=True)}
    perturbations = [
        one
        for one in (reader.rules.perturbations if reader.rules else [])
        if any((one.cell, aspect) in judged for aspect in one.aspects)
    ]
    if not perturbations:
        return
    perturbed = {one.cell: reader.perturbed(one.cell) for one in perturbations}
    turned = reader.turned.scores.get(judge.id, ())
    worst = unnoticed(scores, perturbations, perturbed, reader.ends(judge), turned)
    yield Text("Perturbations that it does not notice", style="finding")
    missing = (
        f" {count(worst.n_missing)} more have no score to compare."
        if worst.n_missing
        else ""
    )
    counted = (
        f"Of {plural(worst.n, 'perturbed text')}, {count(worst.higher)} score better "
        f"than their originals in an aspect that should drop, and {count(worst.equal)} "
        f"score the same as their originals at best.{missing}"
    )
    shown = "There are none to show."
    if left := worst.higher + worst.equal:
        shown = (
            f"Shown: {count(len(worst.cases))} of these {count(left)}, the largest "
            "rise first, one per original; ties are ordered by degree (heavier first), "
            "the study's order and id."
        )
    yield Text(f"{counted} {shown}", items=_why(perturbations))
    for bad in worst.cases:
        found = reader.find(judge, bad)
        written = partial(reader.written, judge, bad.aspect)
        better = f"better by {percent(bad.by)} of its range" if bad.by else "no worse"
        facts = [
            ("original", written(bad.other)),
            ("perturbed", written(bad.score)),
            ("", better),
        ]
        if (
            found.target.step > 1
        ):  # of a row: all its errors are marked, not the last one alone
            original = reader.originals[found.target.item].text
            found = found._replace(
                target=found.target._replace(before=original, edits=())
            )
        yield _case(reader, judge, found, bad.cell, bad.aspect, facts)


def _why(perturbations: Sequence[ExpectedDrop]) -> list[str]:
    """Return who says which aspects a perturbation should lower."""
    meanings = {
        "expected": "by the study's expectations",
        "weighted": "those to which experts give any weight",
        "all": "all in which it is judged, because no card names any",
    }
    sentences = []
    for why, meaning in meanings.items():
        names = [one.cell.rpartition(".")[0] for one in perturbations if one.why == why]
        if quoted := listed([f"`{name}`" for name in dict.fromkeys(names)]):
            sentences.append(f"Aspects that should drop, {meaning}: {quoted}.")
    return sentences


def _disagreeing(reader: Reader, judge: Judge, scores: pd.DataFrame) -> Iterator[Block]:
    """Yield the texts where the judge is farthest from the ratings."""
    rules = reader.rules
    if not (rules and rules.rated) or SYSTEMS not in {*scores["perturbation"]}:
        return
    turned = reader.turned.scores.get(judge.id, {})
    people = reader.turned.ratings
    worst = disagreeing(
        *(scores, reader.texts.means, rules.scales, reader.ends(judge), turned, people)
    )
    whose = "the planned ratings" if reader.dataset.planned else "people's ratings"
    missing = (
        f" {count(worst.n_missing)} more have no score." if worst.n_missing else ""
    )
    ranked = any(bad.ranked for bad in worst.cases)
    how = (
        "by their ranks, because its scores have no scale"
        if ranked
        else "on their scales"
    )
    yield Text(f"Farthest from {whose}", style="finding")
    yield Text(
        f"Shown: {count(len(worst.cases))} of {plural(worst.n, 'rated text')}; score "
        f"and mean rating are compared {how}; ties are ordered by id.{missing}"
    )
    for bad in worst.cases:
        found = reader.find(judge, bad)
        unit = "of the ranks" if bad.ranked else "of the scale"
        name = "planned rating" if reader.dataset.planned else "mean rating"
        raters = f" of {len(found.ratings)}" if len(found.ratings) > 1 else ""
        rated = amount(bad.other)
        if labels := reader.dataset.labels_on(bad.aspect):
            name, raters = name.replace("mean rating", "ratings"), ""
            rated = listed([labels[int(value)] for value in found.ratings])
        high = (bad.by > 0) != (bad.aspect in turned)
        facts = [
            (f"{name}{raters}", rated),
            ("score", reader.written(judge, bad.aspect, bad.score)),
            ("", f"too {'high' if high else 'low'} by {percent(abs(bad.by))} {unit}"),
        ]
        yield _case(reader, judge, found, bad.cell, bad.aspect, facts)


def _failed(reader: Reader, judge: Judge) -> Iterator[Block]:
    """Yield replies without a value, the first of each status.

    The first: in the study's order of texts and aspects, then by the texts' ids and the
    draw.
    """
    table = read_table(
        "statuses", f"{reader.out}/collected/{reader.dataset.id}/statuses.parquet"
    )
    rows = table.filter(pc.equal(table["judge"], judge.id)).to_pylist()
    counts = {
        status: sum(row["n"] for row in rows if row["status"] == status)
        for status in NO_VALUE
    }
    numbers = [f"{count(n)} {STATUSES[status]}" for status, n in counts.items() if n]
    if not numbers:
        return
    text = (
        f"In total {listed(numbers)}. Shown: up to {MOST} of each, the first in order "
        "of set of texts, aspect, text id and draw."
    )
    yield Text("Replies without a value", style="finding")
    yield Text(f"{text} {words.OFF_GRID_SENTENCE}" if counts[OFF_GRID] else text)
    for status in counts:
        yield from islice(_failed_cases(reader, judge, rows, status), MOST)


def _failed_cases(
    reader: Reader, judge: Judge, rows: Iterable[dict[str, Any]], status: str
) -> Iterator[Case]:
    def ids(judgment: Judged) -> tuple[str, str]:
        return (
            judgment.target.target,
            judgment.target_b.target if judgment.target_b else "",
        )

    places = [
        (row["perturbation"], row["aspect"]) for row in rows if row["status"] == status
    ]
    for cell, aspect in dict.fromkeys(places):
        for found in sorted(reader.judged(judge, cell, aspect), key=ids):
            failed = [draw for draw in found.draws if draw.status == status]
            for draw in sorted(failed, key=lambda draw: (draw.hint or "", draw.draw)):
                facts = [("", STATUSES[status])]
                facts += [("rule", draw.rule)] if draw.rule else []
                if len(found.draws) > 1:
                    facts.append(("reply", f"{draw.draw + 1} of {len(found.draws)}"))
                yield _case(reader, judge, found, cell, aspect, facts, draw)


def _case(
    reader: Reader,
    judge: Judge,
    judgment: Judged,
    cell: str,
    aspect: str,
    facts: Sequence[tuple[str, str]],
    draw: Draw | None = None,
) -> Case:
    """Return a judgment with its texts and a reply: the first, or the one that it is
    about.
    """
    report, other = reader.report, judgment.target_b
    texts = {"The text": judgment.target}
    if other is not None:
        texts = {"The first text": judgment.target, "The second": other}
    name, _, degree = cell.partition(".")
    card = report.spec.perturbations.get(name)
    excerpts = [_excerpt(label, target, card) for label, target in texts.items()]
    reply = draw or next(iter(judgment.draws), None)
    if reply is not None:
        which = (
            ""
            if draw or len(judgment.draws) == 1
            else f", the first of {len(judgment.draws)}"
        )
        excerpts.append(_reply(reply, which))
    known = {SYSTEMS: "a system's text", ORIGINAL: "an original"}
    title = (card.name if card else None) or known.get(name, name)
    title += f", {degree}" if degree and degree != "single" else ""
    where = {"dataset": reader.dataset.id, "judge": judge.id, "aspect": aspect}
    where |= {"perturbation": cell, "target": judgment.target.target}
    where |= {"other": other.target} if other else {}
    return Case(
        f"{judgment.target.target}{f' and {other.target}' if other else ''}",
        f"{title} · {report.aspect(aspect)}",
        [
            (fact, text.replace("-", words.MINUS) if text[:1] == "-" else text)
            for fact, text in facts
        ],
        excerpts,
        explore(**where),
    )


def explore(**where: str) -> str:
    """Return the way to the page where a judge's replies can be looked through."""
    return f"../explore.html#{urlencode(where, quote_via=quote)}"


def _excerpt(label: str, target: Target, card: PerturbationCard | None) -> Excerpt:
    """Return a text with its changes marked, if they are known; a long text is
    shortened.
    """
    if target.before is None:
        pieces = [Piece("same", target.text)] if target.text else []
    else:
        pieces = states(target.before, target.text, target.edits, card)[-1]
    changed = target.before is not None and target.before != target.text
    short = shortened(pieces)
    text = f"{label}, its edits marked" if changed else label
    return _with_rest(text, short, target.text, whole=short == pieces)


def _reply(draw: Draw, which: str) -> Excerpt:
    """Return a reply; a judge that is made from others has none, nor have recorded
    scores.
    """
    if draw.reply is None:
        return Excerpt("This judge gives scores without replies.", [])
    if not draw.reply:
        return Excerpt(f"Its reply{which}: empty", [])
    left = len(draw.reply) - SMALL
    pieces = [Piece("same", draw.reply[:SMALL])]
    pieces += [Piece("gap", plural(left, "more character"))] if left > 0 else []
    return _with_rest(f"Its reply{which}", pieces, draw.reply, whole=left <= 0)


def _with_rest(
    label: str, pieces: Sequence[Piece], text: str, *, whole: bool
) -> Excerpt:
    """Return an excerpt; unless it is the whole text, that can be unfolded up to a
    limit.
    """
    if whole:
        return Excerpt(label, pieces)
    return Excerpt(label, pieces, text[:WHOLE], max(len(text) - WHOLE, 0))
