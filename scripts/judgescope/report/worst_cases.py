"""The worst judgments of a judge, chosen by rules, as a reader sees them: all of it escaped."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from judgescope.core.cells import DERIVED, joined, split
from judgescope.core.paths import Paths
from judgescope.parsing.judgment import NO_VALUE, OFF_GRID
from judgescope.report.elements import Block, Case, Excerpt, Section, Text
from judgescope.report.items import Draw, Judged, Target, Texts, judged
from judgescope.report.marked import Piece, shortened, states
from judgescope.report.report import CardReport, Dataset, Judge
from judgescope.report.specs import Ends, ExpectedDrop, PerturbationCard
from judgescope.report.spotcheck import DONE
from judgescope.report.tables import by_dataset
from judgescope.report.words import (
    MINUS,
    OFF_GRID_SENTENCE,
    STATUSES,
    amount,
    count,
    listed,
    percent,
    plural,
)
from judgescope.schema.tables import read_part, read_table

MOST = 5
"""Maximum number of cases shown of each kind and dataset."""
SYSTEMS, ORIGINAL = "systems", "original"
HEAVIEST = ("major", "single", "minor")

ScoresOfTargets = dict[str, float | None]
ScoresOfJudge = Mapping[tuple[str, str], ScoresOfTargets]
"""(Set of texts, aspect) -> target -> score, None where there is none."""
WHOLE = 20_000
"""Characters of a long text that can be unfolded."""
SMALL = 500
"""Characters of a reply that are shown at once."""
LEAD = (
    "Chosen by rule, never by hand. Differences are shares of the judge's range: its scale "
    "or, if its scores have none, the span from the lowest to the highest score that it gave. "
    "Each text is shown once, in the aspect with the largest difference."
)


class Bad(NamedTuple):
    """A text that a judge misjudged: `score` where `other` was to be expected, `by` how much.

    `other` is the score of the text's original, or the mean rating of the text itself; `by` is a
    share of the range, above 0 where the score is too high.
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
    """The worst of `n` texts; `higher` and `equal` compare perturbed ones with their originals."""

    cases: Sequence[Bad]
    n: int
    n_missing: int
    higher: int = 0
    equal: int = 0


def _columns(table: pa.Table, names: Iterable[str]) -> Iterator[Any]:
    return zip(*(table[name].to_pylist() for name in names), strict=True)


def unnoticed(
    scores: ScoresOfJudge,
    perturbations: Sequence[ExpectedDrop],
    perturbed: Mapping[str, Mapping[str, str]],
    ends: Mapping[str, Ends],
) -> Worst:
    """Return the perturbed texts that score no lower than their originals, the highest above first.

    `perturbed` is set -> target -> original, of each of which one text is shown. Equals are in the
    order: the heavier degree, the study's order of perturbations, the id.
    """
    worst, missing = list[tuple[tuple[float, int, int, str], Bad]](), 0
    widths = {
        name: _width(scores, name, ends.get(name)) for one in perturbations for name in one.aspects
    }
    for order, perturbation in enumerate(perturbations):
        cell = perturbation.cell
        aspects = [aspect for aspect in perturbation.aspects if (cell, aspect) in scores]
        for target, original in perturbed[cell].items() if aspects else ():
            each = []
            for aspect in aspects:
                after = scores[cell, aspect].get(target)
                before = scores.get((ORIGINAL, aspect), {}).get(original)
                if after is not None and before is not None:
                    by = _share(after - before, widths[aspect])
                    each.append(Bad(cell, aspect, target, after, before, by))
            if each:
                bad = max(each, key=lambda one: one.by)  # of equal ones, the first
                heavy = HEAVIEST.index(cell.rpartition(".")[2])
                worst.append(((-bad.by, heavy, order, target), bad))
            else:
                missing += 1
    ordered = [bad for _, bad in sorted(worst, key=lambda one: one[0])]
    higher, equal = sum(bad.by > 0 for bad in ordered), sum(bad.by == 0 for bad in ordered)
    shown: dict[str, Bad] = {}
    for bad in ordered[: higher + equal]:
        shown.setdefault(perturbed[bad.cell][bad.target], bad)
    return Worst([*shown.values()][:MOST], len(ordered), missing, higher, equal)


def _width(scores: ScoresOfJudge, aspect: str, ends: Ends) -> float:
    """Return how wide the range of the judge's scores is on an aspect."""
    if ends is not None:
        return ends[1] - ends[0]
    every = [
        value
        for (_, name), of_targets in scores.items()
        if name == aspect
        for value in of_targets.values()
        if value is not None
    ]
    return max(every) - min(every) if every else 0.0


def _share(difference: float, width: float) -> float:
    return difference / width if width else 0.0


def disagreeing(
    scores: ScoresOfJudge,
    ratings: Mapping[str, Mapping[str, float]],
    scales: Mapping[str, Sequence[float]],
    ends: Mapping[str, Ends],
) -> Worst:
    """Return the rated texts whose score lies farthest from their mean rating.

    Both are placed between the ends of their scales; where the judge's scores have no ends, both
    by their mid-rank among the texts that have both. Equals are in the order of their ids.
    """
    worst: dict[str, Bad] = {}
    missing = set[str]()
    for aspect, scale in scales.items():  # the study's order
        of_targets = scores.get((SYSTEMS, aspect))
        if of_targets is None:
            continue
        rated = ratings.get(aspect.partition(".")[0], {})
        missing |= {target for target in rated if of_targets.get(target) is None}
        for bad in _distances(aspect, of_targets, rated, scale, ends.get(aspect)):
            if bad.target not in worst or abs(bad.by) > abs(worst[bad.target].by):
                worst[bad.target] = bad
    ordered = sorted(worst.values(), key=lambda bad: (-abs(bad.by), bad.target))
    cases = [bad for bad in ordered if bad.by][:MOST]
    return Worst(cases, len(ordered), len(missing - worst.keys()))


def _distances(
    aspect: str,
    of_targets: ScoresOfTargets,
    rated: Mapping[str, float],
    scale: Sequence[float],
    ends: Ends,
) -> Iterator[Bad]:
    """Yield how far the score of each text is from its rating."""
    both = [
        (target, score, rating)
        for target, rating in rated.items()
        if (score := of_targets.get(target)) is not None
    ]
    scores, people = [score for _, score, _ in both], [rating for *_, rating in both]
    if ends is None:
        places, wanted = _mid_ranks(scores), _mid_ranks(people)
    else:
        places = [_share(score - ends[0], ends[1] - ends[0]) for score in scores]
        wanted = [_share(rating - scale[0], scale[1] - scale[0]) for rating in people]
    for (target, score, rating), place, other in zip(both, places, wanted, strict=True):
        by = round(place - other, 12)
        yield Bad(SYSTEMS, aspect, target, score, rating, by, ranked=ends is None)


def _mid_ranks(values: Sequence[float]) -> list[float]:
    """Return the mid-rank of each value, as a share of their number."""
    ordered = np.sort(values)
    sums = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    ranks: list[float] = (sums / 2 / len(ordered)).tolist()
    return ranks


class Reader:
    """The judgments of one dataset in a study's results, read where they are needed."""

    def __init__(self, report: CardReport, dataset: Dataset) -> None:
        self.report, self.dataset = report, dataset
        self.out = report.spec.results
        self.texts = Texts(self.out, dataset.id)
        self.rules = report.spec.worst.get(dataset.id)
        self._perturbed: dict[str, dict[str, str]] = {}
        self._cell: tuple[str, str, str] = ("", "", "")
        self._judged: dict[tuple[str, str | None], Judged] = {}

    @cached_property
    def _scores(self) -> pa.Table:
        names = ["perturbation", "judge", "aspect", "criterion", "target", "target_b", "value"]
        path = f"{self.out}/collected/{self.dataset.id}/scores.parquet"
        table = read_table("scores", path, names)
        return table.filter(pc.is_null(table["target_b"]))

    def scores(self, judge: Judge) -> ScoresOfJudge:
        """Return the scores of a judge; the table is read once for all judges."""
        mine = self._scores.filter(pc.equal(self._scores["judge"], judge.id))
        scores: dict[tuple[str, str], ScoresOfTargets] = {}
        names = ("perturbation", "aspect", "criterion", "target", "value")
        for cell, aspect, criterion, target, value in _columns(mine, names):
            known = value if value is not None and isfinite(value) else None
            scores.setdefault((cell, joined(aspect, criterion)), {})[target] = known
        return scores

    @cached_property
    def originals(self) -> dict[str, Target]:
        """Return item -> its original text."""
        texts = Texts(self.out, self.dataset.id)
        return {target.item: target for target in texts.of(ORIGINAL).values()}

    def perturbed(self, cell: str) -> dict[str, str]:
        """Return target -> the original of its item, for the texts of a set that were perturbed."""
        if cell not in self._perturbed:
            names = ["target", "item", "status"]
            path = f"{self.out}/targets/{self.dataset.id}/{cell}.parquet"
            self._perturbed[cell] = {
                target: self.originals[item].target
                for target, item, status in _columns(read_table("targets", path, names), names)
                if status.partition(":")[0] in DONE and item in self.originals
            }
        return self._perturbed[cell]

    def ends(self, judge: Judge) -> Mapping[str, Ends]:
        """Return aspect -> the ends of the judge's scores, None where they have none."""
        spec = self.report.spec
        return spec.ends[spec.ends_of[judge.id]].get(self.dataset.id, {})

    def written(self, judge: Judge, aspect: str, score: float) -> str:
        """Return a score as a label where the judge gives labels, else as a number."""
        labels, card = self.dataset.labels_on(aspect), self.report.spec.judges.get(judge.id)
        known = labels and card and not card.thresholded and score in range(len(labels))
        return labels[int(score)] if known else amount(score)

    def _model(self, judge: Judge) -> str:
        """Return the model in the paths of a judge's cells."""
        return str(self.report.spec.settings[judge.id].get("model", DERIVED))

    def find(
        self, judge: Judge, cell: str, aspect: str, target: str, target_b: str | None = None
    ) -> Judged:
        """Return the judge's judgments of a text, or of a pair."""
        if self._cell != (cell, judge.id, aspect):  # cases of one cell follow one another
            self._cell = (cell, judge.id, aspect)
            self._judged = {
                (one.target.target, one.target_b.target if one.target_b else None): one
                for one in judged(self.texts, self._cell, self._model(judge))
            }
        return self._judged[target, target_b]

    def statuses(self, judge: Judge) -> list[dict[str, Any]]:
        """Return the rows that count a judge's judgments without a value, in the study's order."""
        table = read_table("statuses", f"{self.out}/collected/{self.dataset.id}/statuses.parquet")
        rows: list[dict[str, Any]] = table.filter(pc.equal(table["judge"], judge.id)).to_pylist()
        return rows

    def failures(
        self, judge: Judge, cell: str, aspect: str, status: str
    ) -> list[tuple[str, str | None, str | None, int]]:
        """Return (target, target_b, hint, draw) of the judgments of a cell that ended so."""
        path = Paths(self.out).cell(
            "judgments", self.dataset.id, self._model(judge), cell, judge.id
        )
        asked = ["target", "target_b", "hint", "draw"]
        table = read_part("judgments", path, *split(aspect), [*asked, "status"])
        rows = _columns(table.filter(pc.equal(table["status"], status)), asked)
        return sorted(rows, key=lambda row: (row[0], row[1] or "", row[2] or "", row[3]))


def section(readers: Iterable[Reader], judge: Judge) -> Section | None:
    """Return the worst cases of a judge on every dataset; None for one that judged nothing."""
    by_id = {reader.dataset.id: reader for reader in readers}

    def cases(dataset: Dataset) -> Iterator[Block]:
        reader = by_id[dataset.id]
        scores = reader.scores(judge)
        yield from _unnoticed(reader, judge, scores)
        yield from _disagreeing(reader, judge, scores)
        yield from _failed(reader, judge)

    blocks = by_dataset([reader.dataset for reader in by_id.values()], "worst", cases)
    return Section("worst", "Its worst cases", LEAD, blocks) if blocks else None


def _unnoticed(reader: Reader, judge: Judge, scores: ScoresOfJudge) -> Iterator[Block]:
    """Yield the perturbed texts that the judge scores no lower than their originals."""
    perturbations = [
        one
        for one in (reader.rules.perturbations if reader.rules else [])
        if any((one.cell, aspect) in scores for aspect in one.aspects)
    ]
    if perturbations:
        perturbed = {one.cell: reader.perturbed(one.cell) for one in perturbations}
        worst = unnoticed(scores, perturbations, perturbed, reader.ends(judge))
        yield Text("Perturbations that it does not notice", style="finding")
        yield Text(_counted(worst), items=_why(perturbations))
        for bad in worst.cases:
            yield _perturbation_case(reader, judge, bad)


def _counted(worst: Worst) -> str:
    missing = f" {count(worst.n_missing)} more have no score to compare." if worst.n_missing else ""
    left = worst.higher + worst.equal
    first = (
        f"Of {plural(worst.n, 'perturbed text')}, {count(worst.higher)} score above their "
        f"originals in an aspect that should drop, and {count(worst.equal)} score the same as "
        f"their originals at best.{missing}"
    )
    if not left:
        return f"{first} There are none to show."
    order = "ties are ordered by degree (heavier first), the study's order and id"
    shown = f"Shown: {count(len(worst.cases))} of these {count(left)}"
    return f"{first} {shown}, the largest rise first, one per original; {order}."


def _why(perturbations: Sequence[ExpectedDrop]) -> list[str]:
    """Return who says which aspects a perturbation should lower."""
    meanings = {
        "expected": "by the study's expectations",
        "weighted": "those to which experts give any weight",
        "all": "all in which it is judged, because no card names any",
    }
    sentences = []
    for why, meaning in meanings.items():
        names = dict.fromkeys(
            one.cell.rpartition(".")[0] for one in perturbations if one.why == why
        )
        if names:
            quoted = listed([f"`{name}`" for name in names])
            sentences.append(f"Aspects that should drop, {meaning}: {quoted}.")
    return sentences


def _perturbation_case(reader: Reader, judge: Judge, bad: Bad) -> Case:
    found = reader.find(judge, bad.cell, bad.aspect, bad.target)
    higher = f"higher by {percent(bad.by)} of its range" if bad.by else "no lower"
    before, after = (reader.written(judge, bad.aspect, value) for value in (bad.other, bad.score))
    facts = [("original", before), ("perturbed", after), ("", higher)]
    if found.target.step > 1:  # of a row: all its errors are marked, not the last one alone
        original = reader.originals[found.target.item].text
        found = found._replace(target=found.target._replace(before=original, edits=()))
    return _case(reader, judge, found, bad.cell, bad.aspect, facts)


def _disagreeing(reader: Reader, judge: Judge, scores: ScoresOfJudge) -> Iterator[Block]:
    """Yield the texts where the judge is farthest from the ratings."""
    rules = reader.rules
    if not (rules and rules.rated) or not any(cell == SYSTEMS for cell, _ in scores):
        return
    worst = disagreeing(scores, reader.texts.means, rules.scales, reader.ends(judge))
    whose = "the planned ratings" if reader.dataset.planned else "people's ratings"
    missing = f" {count(worst.n_missing)} more have no score." if worst.n_missing else ""
    ranked = any(bad.ranked for bad in worst.cases)
    how = "by their ranks, because its scores have no scale" if ranked else "on their scales"
    yield Text(f"Farthest from {whose}", style="finding")
    yield Text(
        f"Shown: {count(len(worst.cases))} of {plural(worst.n, 'rated text')}; score and mean "
        f"rating are compared {how}; ties are ordered by id.{missing}"
    )
    for bad in worst.cases:
        found = reader.find(judge, bad.cell, bad.aspect, bad.target)
        unit = "of the ranks" if bad.ranked else "of the scale"
        name = "planned rating" if reader.dataset.planned else "mean rating"
        raters = f" of {len(found.ratings)}" if len(found.ratings) > 1 else ""
        labels = reader.dataset.labels_on(bad.aspect)
        if labels:
            name, raters = name.replace("mean rating", "ratings"), ""
        rated = listed([labels[int(value)] for value in found.ratings]) if labels else ""
        facts = [
            (f"{name}{raters}", rated or amount(bad.other)),
            ("score", reader.written(judge, bad.aspect, bad.score)),
            ("", f"too {'high' if bad.by > 0 else 'low'} by {percent(abs(bad.by))} {unit}"),
        ]
        yield _case(reader, judge, found, bad.cell, bad.aspect, facts)


def _failed(reader: Reader, judge: Judge) -> Iterator[Block]:
    """Yield replies without a value, the first of each status.

    The first: in the study's order of texts and aspects, then by the texts' ids and the draw.
    """
    rows = reader.statuses(judge)
    counts = {
        status: sum(row["n"] for row in rows if row["status"] == status) for status in NO_VALUE
    }
    numbers = [f"{count(n)} {STATUSES[status]}" for status, n in counts.items() if n]
    if not numbers:
        return
    text = (
        f"In total {listed(numbers)}. Shown: up to {MOST} of each, the first in order of set "
        "of texts, aspect, text id and draw."
    )
    yield Text("Replies without a value", style="finding")
    yield Text(f"{text} {OFF_GRID_SENTENCE}" if counts[OFF_GRID] else text)
    for status in counts:
        yield from islice(_failed_cases(reader, judge, rows, status), MOST)


def _failed_cases(
    reader: Reader, judge: Judge, rows: Iterable[dict[str, Any]], status: str
) -> Iterator[Case]:
    places = [(row["perturbation"], row["aspect"]) for row in rows if row["status"] == status]
    for cell, aspect in dict.fromkeys(places):
        for target, target_b, hint, number in reader.failures(judge, cell, aspect, status):
            found = reader.find(judge, cell, aspect, target, target_b)
            draw = next(one for one in found.draws if (one.hint, one.draw) == (hint, number))
            facts = [("", STATUSES[status])]
            facts += [("rule", draw.rule)] if draw.rule else []
            if len(found.draws) > 1:
                facts.append(("reply", f"{number + 1} of {len(found.draws)}"))
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
    """Return a judgment with its texts and a reply: the first, or the one that it is about."""
    report, other = reader.report, judgment.target_b
    texts = {"The text": judgment.target}
    if other is not None:
        texts = {"The first text": judgment.target, "The second": other}
    name, _, degree = cell.partition(".")
    card = report.spec.perturbations.get(name)
    excerpts = [_excerpt(label, target, card) for label, target in texts.items()]
    reply = draw or next(iter(judgment.draws), None)
    if reply is not None:
        which = "" if draw or len(judgment.draws) == 1 else f", the first of {len(judgment.draws)}"
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
        [(fact, text.replace("-", MINUS) if text[:1] == "-" else text) for fact, text in facts],
        excerpts,
        explore(report, **where),
    )


def explore(report: CardReport, **where: str) -> str:
    """Return the way to the page where a judge's replies can be looked through, if there is one."""
    if not report.spec.explore:
        return ""
    return f"../explore.html#{urlencode(where, quote_via=quote)}"


def _excerpt(label: str, target: Target, card: PerturbationCard | None) -> Excerpt:
    """Return a text with its changes marked, if they are known; a long text is shortened."""
    if target.before is None:
        pieces = [Piece("same", target.text)] if target.text else []
    else:
        pieces = states(target.before, target.text, target.edits, card)[-1]
    changed = target.before is not None and target.before != target.text
    short = shortened(pieces)
    text = f"{label}, its edits marked" if changed else label
    return _with_rest(text, short, target.text, whole=short == pieces)


def _reply(draw: Draw, which: str) -> Excerpt:
    """Return a reply; a judge that is made from others has none."""
    if draw.reply is None:
        return Excerpt("This judge combines other judges' scores and has no replies.", [])
    if not draw.reply:
        return Excerpt(f"Its reply{which}: empty", [])
    left = len(draw.reply) - SMALL
    pieces = [Piece("same", draw.reply[:SMALL])]
    pieces += [Piece("gap", plural(left, "more character"))] if left > 0 else []
    return _with_rest(f"Its reply{which}", pieces, draw.reply, whole=left <= 0)


def _with_rest(label: str, pieces: Sequence[Piece], text: str, *, whole: bool) -> Excerpt:
    """Return an excerpt; unless it is the whole text, that can be unfolded up to a limit."""
    if whole:
        return Excerpt(label, pieces)
    return Excerpt(label, pieces, text[:WHOLE], max(len(text) - WHOLE, 0))
