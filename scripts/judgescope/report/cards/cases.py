"""The worst judgments of a judge, chosen by rules, as a reader sees them: all of it escaped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pyarrow as pa
import pyarrow.compute as pc

from judgescope.core.cells import DERIVED, cell_file, joined, split
from judgescope.parsing.judgment import NO_VALUE, OFF_GRID
from judgescope.report.elements import Block, Case, Excerpt, Heading, Section, Text
from judgescope.report.items import Draw, Judged, Target, Texts, judged
from judgescope.report.marked import Piece, shortened, states
from judgescope.report.numbers import MINUS, amount, count, listed, percent, plural
from judgescope.report.report import CardReport, Dataset, Judge
from judgescope.report.specs import Ends, ExpectedDrop, PerturbationCard
from judgescope.report.words import OFF_GRID_SENTENCE, STATUSES
from judgescope.schema.tables import read_part, read_table

MOST = 5
"""So many are shown of each kind, dataset by dataset."""
SYSTEMS, ORIGINAL = "systems", "original"
HEAVIEST = ("major", "single", "minor")
DONE = ("ok", "short")
"""What becomes of a planned damage that took effect, as wanted or in part."""

OfTargets = dict[str, float | None]
WHOLE = 20_000
"""Characters of a long text that can be unfolded."""
SMALL = 500
"""Characters of a reply that are shown at once."""
LEAD = (
    "Chosen by rule, never by hand. Differences are in shares of the judge's range: from end to "
    "end of its scale, or, where its scores have none, from the lowest to the highest that it "
    "gave. Each text is shown once, in the aspect where it is worst."
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
    """The worst of a dataset's texts, and of how many: `higher` and `equal` count damaged ones."""

    cases: Sequence[Bad]
    n: int
    n_missing: int
    higher: int = 0
    equal: int = 0


class Scores:
    """The scores of a dataset, read once for all judges."""

    def __init__(self, out: str, dataset: str) -> None:
        self.out, self.dataset = out, dataset

    @cached_property
    def _table(self) -> pa.Table:
        names = ["perturbation", "judge", "aspect", "criterion", "target", "target_b", "value"]
        path = f"{self.out}/collected/{self.dataset}/scores.parquet"
        table = read_table("scores", path, names)
        return table.filter(pc.is_null(table["target_b"]))

    def of(self, judge: str) -> dict[tuple[str, str], OfTargets]:
        """Return (set of texts, aspect) -> target -> score, None where there is none."""
        own = self._table.filter(pc.equal(self._table["judge"], judge))
        found: dict[tuple[str, str], OfTargets] = {}
        names = ("perturbation", "aspect", "criterion", "target", "value")
        for cell, aspect, word, target, value in zip(
            *(own[name].to_pylist() for name in names), strict=True
        ):
            known = value if value is not None and isfinite(value) else None
            found.setdefault((cell, joined(aspect, word)), {})[target] = known
        return found

    def damaged(self, cell: str) -> dict[str, str]:
        """Return target -> the original of its item, for the texts that were damaged."""
        rows = self._targets(cell)
        originals = {item: target for target, item, _ in self._targets(ORIGINAL)}
        return {
            target: originals[item]
            for target, item, status in rows
            if status.partition(":")[0] in DONE and item in originals
        }

    def _targets(self, cell: str) -> list[tuple[str, str, str]]:
        names = ["target", "item", "status"]
        table = read_table("targets", f"{self.out}/targets/{self.dataset}/{cell}.parquet", names)
        return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def unnoticed(
    scores: Mapping[tuple[str, str], OfTargets],
    damages: Sequence[ExpectedDrop],
    damaged: Mapping[str, Mapping[str, str]],
    ends: Mapping[str, Ends],
) -> Worst:
    """Return the damaged texts that score no lower than their originals, the highest above first.

    `damaged` is set -> target -> original, of each of which one text is shown. Equals are in the
    order: the heavier degree, the study's order of damage, the id.
    """
    worst, missing = list[tuple[Any, Bad]](), 0
    widths = {name: _width(scores, name, ends.get(name)) for one in damages for name in one.aspects}
    for place, damage in enumerate(damages):
        cell = damage.cell
        told = [name for name in damage.aspects if (cell, name) in scores]
        if not told:
            continue
        for target, original in damaged[cell].items():
            each = [
                Bad(cell, name, target, after, before, _share(after - before, widths[name]))
                for name in told
                for after in [scores[cell, name].get(target)]
                for before in [scores.get((ORIGINAL, name), {}).get(original)]
                if after is not None and before is not None
            ]
            if not each:
                missing += 1
                continue
            one = max(each, key=lambda bad: bad.by)  # the first of equals
            heavy = HEAVIEST.index(cell.rpartition(".")[2])
            worst.append(((-one.by, heavy, place, target), one))
    ordered = [one for _, one in sorted(worst, key=lambda found: found[0])]
    higher, equal = (sum(map(test, ordered)) for test in (_is_higher, _is_equal))
    return Worst(_once_each(ordered, damaged), len(ordered), missing, higher, equal)


def _once_each(ordered: Iterable[Bad], damaged: Mapping[str, Mapping[str, str]]) -> list[Bad]:
    """Return the first ones that are no lower than their originals, of each original one."""
    found: dict[str, Bad] = {}
    for one in ordered:
        if one.by >= 0:
            found.setdefault(damaged[one.cell][one.target], one)
    return list(found.values())[:MOST]


def _is_higher(one: Bad) -> bool:
    return one.by > 0


def _is_equal(one: Bad) -> bool:
    return one.by == 0


def _width(scores: Mapping[tuple[str, str], OfTargets], aspect: str, ends: Ends) -> float:
    """Return how wide the range of the judge's scores is on an aspect."""
    if ends is not None:
        return ends[1] - ends[0]
    every = [
        value
        for (_, name), told in scores.items()
        if name == aspect
        for value in told.values()
        if value is not None
    ]
    return max(every) - min(every) if every else 0.0


def _share(difference: float, width: float) -> float:
    return difference / width if width else 0.0


def disagreeing(
    scores: Mapping[tuple[str, str], OfTargets],
    ratings: Mapping[str, Mapping[str, float]],
    scales: Mapping[str, Sequence[float]],
    ends: Mapping[str, Ends],
) -> Worst:
    """Return the rated texts whose score lies farthest from their mean rating.

    Both are placed between the ends of their scales; where the judge's scores have no ends, both
    by their mid-rank among the texts that have both. Equals are in the order of their ids.
    """
    found: dict[str, Bad] = {}
    missing = set[str]()
    for aspect in scales:  # the study's order
        told = scores.get((SYSTEMS, aspect))
        if told is None:
            continue
        rated = ratings.get(aspect.partition(".")[0], {})
        missing |= {target for target in rated if told.get(target) is None}
        for one in _apart(aspect, told, rated, scales[aspect], ends.get(aspect)):
            if one.target not in found or abs(one.by) > abs(found[one.target].by):
                found[one.target] = one
    ordered = sorted(found.values(), key=lambda one: (-abs(one.by), one.target))
    cases = [one for one in ordered if one.by][:MOST]
    return Worst(cases, len(ordered), len(missing - found.keys()))


def _apart(
    aspect: str,
    told: OfTargets,
    rated: Mapping[str, float],
    scale: Sequence[float],
    ends: Ends,
) -> list[Bad]:
    both = [name for name in rated if told.get(name) is not None]
    values = [value for name in both if (value := told[name]) is not None]
    people = [rated[name] for name in both]
    if ends is None:
        places, theirs = _ranks(values), _ranks(people)
    else:
        places, theirs = _placed(values, ends), _placed(people, scale)
    return [
        Bad(SYSTEMS, aspect, name, value, rating, round(place - other, 12), ranked=ends is None)
        for name, value, rating, place, other in zip(
            both, values, people, places, theirs, strict=True
        )
    ]


def _placed(values: Iterable[float], ends: Sequence[float]) -> list[float]:
    return [_share(value - ends[0], ends[1] - ends[0]) for value in values]


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the mid-rank of each value, as a share of their number."""
    ordered = sorted(values)
    below, upto = dict[float, int](), dict[float, int]()
    for at, value in enumerate(ordered):
        below.setdefault(value, at)
        upto[value] = at + 1
    return [(below[value] + upto[value]) / 2 / len(ordered) for value in values]


class Failure(NamedTuple):
    """A judgment that came to nothing."""

    status: str
    cell: str
    aspect: str
    target: str
    target_b: str | None
    hint: str | None
    draw: int


def failures(
    out: str, dataset: str, judge: str, model: str
) -> tuple[dict[str, int], list[Failure]]:
    """Return status -> how many judgments ended so, and the first ones of each.

    The first: in the study's order of texts and aspects, then by the texts' ids and the draw.
    """
    table = read_table("statuses", f"{out}/collected/{dataset}/statuses.parquet")
    rows = table.filter(pc.equal(table["judge"], judge)).to_pylist()
    counts: dict[str, int] = {}
    found: list[Failure] = []
    for status in NO_VALUE:
        own = [row for row in rows if row["status"] == status]
        if own:
            counts[status] = sum(row["n"] for row in own)
        first: list[Failure] = []
        for cell, aspect in dict.fromkeys((row["perturbation"], row["aspect"]) for row in own):
            if len(first) < MOST:
                path = cell_file(out, "judgments", dataset, model, cell, judge)
                first += _failed_in(path, cell, aspect, status)
        found += first[:MOST]
    return counts, found


def _failed_in(path: str, cell: str, aspect: str, status: str) -> list[Failure]:
    asked = ["target", "target_b", "hint", "draw"]
    table = read_part("judgments", path, *split(aspect), [*asked, "status"])
    rows = table.filter(pc.equal(table["status"], status)).select(asked).to_pylist()
    rows.sort(
        key=lambda row: (row["target"], row["target_b"] or "", row["hint"] or "", row["draw"])
    )
    return [Failure(status, cell, aspect, **row) for row in rows]


class Reader:
    """What a study's results hold of the judgments of one dataset, read where it is needed."""

    def __init__(self, report: CardReport, dataset: Dataset) -> None:
        self.report, self.dataset = report, dataset
        self.out = report.spec.results
        self.scores = Scores(self.out, dataset.id)
        self.texts = Texts(self.out, dataset.id)
        self.rules = report.spec.worst.get(dataset.id)
        self._damaged: dict[str, dict[str, str]] = {}
        self._last: tuple[tuple[str, str, str], dict[Any, Judged]] | None = None

    @cached_property
    def originals(self) -> dict[str, str]:
        """Return item -> its original text."""
        found = Texts(self.out, self.dataset.id).of("original")
        return {one.item: one.text for one in found.values()}

    def damaged(self, cell: str) -> dict[str, str]:
        """Return target -> its original, of the texts of a set that were damaged."""
        if cell not in self._damaged:
            self._damaged[cell] = self.scores.damaged(cell)
        return self._damaged[cell]

    def ends(self, judge: Judge) -> Mapping[str, Ends]:
        """Return aspect -> the ends of the judge's scores, None where they have none."""
        spec = self.report.spec
        return spec.ends[spec.ends_of[judge.id]].get(self.dataset.id, {})

    def model_of(self, judge: Judge) -> str:
        """Return the model in the paths of a judge's cells."""
        return str(self.report.spec.settings[judge.id].get("model", DERIVED))

    def find(self, judge: Judge, cell: str, aspect: str) -> dict[Any, Judged]:
        """Return (target, target_b) -> what the judge said of it."""
        place = (cell, judge.id, aspect)
        if self._last is None or self._last[0] != place:  # cases of one cell follow one another
            found = judged(self.texts, place, self.model_of(judge))
            told = {(o.target.target, o.target_b and o.target_b.target): o for o in found}
            self._last = place, told
        return self._last[1]


def section(readers: Iterable[Reader], judge: Judge) -> Section | None:
    """Return the worst cases of a judge on every dataset; None for one that judged nothing."""
    blocks: list[Block] = []
    for reader in readers:
        found = [*_unnoticed(reader, judge), *_disagreeing(reader, judge), *_failed(reader, judge)]
        if found:
            name = reader.dataset
            blocks += [Heading(name.name, f"worst-{name.id}"), *found]
    return Section("worst", "Its worst cases", LEAD, blocks) if blocks else None


def _unnoticed(reader: Reader, judge: Judge) -> list[Block]:
    """Return the damaged texts that the judge scores no lower than their originals."""
    scores = reader.scores.of(judge.id)
    damages = [
        one
        for one in (reader.rules.damages if reader.rules else [])
        if any((one.cell, aspect) in scores for aspect in one.aspects)
    ]
    if not damages:
        return []
    damaged = {one.cell: reader.damaged(one.cell) for one in damages}
    worst = unnoticed(scores, damages, damaged, reader.ends(judge))
    cases = [_damage_case(reader, judge, one) for one in worst.cases]
    title = Text("Damage that it does not take off", style="finding")
    return [title, Text(_told_damage(worst), items=_why(damages)), *cases]


def _told_damage(worst: Worst) -> str:
    missing = f" {count(worst.n_missing)} more have no score to compare." if worst.n_missing else ""
    left = worst.higher + worst.equal
    first = (
        f"Of {plural(worst.n, 'damaged text')}, "
        f"{count(worst.higher)} score above their originals in an aspect that the damage should "
        f"lower, and {count(worst.equal)} are at best level with them.{missing}"
    )
    if not left:
        return f"{first} There is none to show."
    order = "the heavier degree, then the study's order, then the id, come first among equals"
    shown = f"Shown: {count(len(worst.cases))} of these {count(left)}"
    return f"{first} {shown}, the highest above, one for each original; {order}."


def _why(damages: Sequence[ExpectedDrop]) -> list[str]:
    """Return who says in which aspects damage should show."""
    told = {
        "expected": "by the study's expectations",
        "weighted": "those to which experts give any weight",
        "all": "all in which it is judged, as nothing else is said of it",
    }
    found = []
    for why, meaning in told.items():
        own = [one.cell for one in damages if one.why == why]
        if own:
            names = list(dict.fromkeys(cell.rpartition(".")[0] for cell in own))
            found.append(
                f"Aspects that should drop, {meaning}: {listed([f'`{n}`' for n in names])}."
            )
    return found


def _damage_case(reader: Reader, judge: Judge, one: Bad) -> Case:
    found = reader.find(judge, one.cell, one.aspect)[one.target, None]
    higher = f"higher by {percent(one.by)} of its range" if one.by else "no lower"
    facts = [("original", amount(one.other)), ("damaged", amount(one.score)), ("", higher)]
    if found.target.step > 1:  # of a row: all its errors are marked, not the last one alone
        original = reader.originals[found.target.item]
        found = found._replace(target=found.target._replace(before=original, edits=()))
    return _case(reader, judge, found, one.cell, one.aspect, facts)


def _disagreeing(reader: Reader, judge: Judge) -> list[Block]:
    """Return the texts where the judge is farthest from the ratings."""
    scores = reader.scores.of(judge.id)
    rules = reader.rules
    if not (rules and rules.rated) or not any(cell == "systems" for cell, _ in scores):
        return []
    worst = disagreeing(scores, reader.texts.means, rules.scales, reader.ends(judge))
    whose = "the planned ratings" if reader.dataset.planned else "people's ratings"
    missing = f" {count(worst.n_missing)} more have no score." if worst.n_missing else ""
    ranked = any(one.ranked for one in worst.cases)
    how = "by their ranks, as its scores have no scale" if ranked else "on their scales"
    said = (
        f"Shown: {count(len(worst.cases))} of "
        f"{plural(worst.n, 'rated text')}; score and mean rating are compared {how}; equals in the "
        f"order of their ids.{missing}"
    )
    title = Text(f"Farthest from {whose}", style="finding")
    return [title, Text(said), *(_rated_case(reader, judge, one) for one in worst.cases)]


def _rated_case(reader: Reader, judge: Judge, one: Bad) -> Case:
    found = reader.find(judge, one.cell, one.aspect)[one.target, None]
    unit = "of the ranks" if one.ranked else "of the scale"
    way = f"too {'high' if one.by > 0 else 'low'} by {percent(abs(one.by))} {unit}"
    name = "planned rating" if reader.dataset.planned else "mean rating"
    raters = f" of {len(found.ratings)}" if len(found.ratings) > 1 else ""
    facts = [(f"{name}{raters}", amount(one.other)), ("score", amount(one.score)), ("", way)]
    return _case(reader, judge, found, one.cell, one.aspect, facts)


def _failed(reader: Reader, judge: Judge) -> list[Block]:
    """Return replies that came to nothing, the first of each status."""
    counts, found = failures(reader.out, reader.dataset.id, judge.id, reader.model_of(judge))
    if not counts:
        return []
    told = listed([f"{count(n)} {STATUSES[status]}" for status, n in counts.items()])
    said = (
        f"In all {told}. Shown: up to {MOST} of each, the first by set of "
        "texts, aspect, the text's id and the draw."
    )
    if OFF_GRID in counts:
        said += f" {OFF_GRID_SENTENCE}"
    title = Text("Replies that came to nothing", style="finding")
    return [title, Text(said), *(_failed_case(reader, judge, one) for one in found)]


def _failed_case(reader: Reader, judge: Judge, one: Failure) -> Case:
    found = reader.find(judge, one.cell, one.aspect)[one.target, one.target_b]
    draw = next(d for d in found.draws if (d.hint, d.draw) == (one.hint, one.draw))
    facts = [("", STATUSES[one.status])]
    facts += [("rule", draw.rule)] if draw.rule else []
    facts += [("reply", f"{one.draw + 1} of {len(found.draws)}")] if len(found.draws) > 1 else []
    return _case(reader, judge, found, one.cell, one.aspect, facts, draw)


def _case(
    reader: Reader,
    judge: Judge,
    found: Judged,
    cell: str,
    aspect: str,
    facts: Sequence[tuple[str, str]],
    draw: Draw | None = None,
) -> Case:
    both = {"The text": found.target}
    if found.target_b is not None:
        both = {"The first text": found.target, "The second": found.target_b}
    damage = reader.report.spec.perturbations.get(cell.rpartition(".")[0])
    texts = [_excerpt(label, target, damage) for label, target in both.items()]
    said = draw or (found.draws[0] if found.draws else None)
    texts += [_reply(said, len(found.draws), chosen=draw is not None)] if said else []
    other = f" and {found.target_b.target}" if found.target_b else ""
    place = f"{_set(reader.report, cell)} · {reader.report.aspect(aspect)}"
    where = {"dataset": reader.dataset.id, "judge": judge.id, "aspect": aspect}
    where |= {"perturbation": cell, "target": found.target.target}
    where |= {"other": found.target_b.target} if found.target_b else {}
    return Case(
        f"{found.target.target}{other}",
        place,
        [(name, told.replace("-", MINUS) if told[:1] == "-" else told) for name, told in facts],
        texts,
        explore(reader.report, **where),
    )


def _set(report: CardReport, cell: str) -> str:
    """Return what a set of texts is, in words."""
    name, _, degree = cell.partition(".")
    known = {"systems": "a system's text", "original": "an original"}
    card = report.spec.perturbations.get(name)
    title = (card.name if card else None) or known.get(name, name)
    return f"{title}, {degree}" if degree and degree != "single" else title


def explore(report: CardReport, **where: str) -> str:
    """Return the way to the page where a judge's replies can be looked through, if there is one."""
    if not report.spec.explore:
        return ""
    return f"../explore.html#{urlencode(where, quote_via=quote)}"


def _excerpt(label: str, target: Target, card: PerturbationCard | None) -> Excerpt:
    """Return a text, with what was changed marked where it is known."""
    changed = target.before is not None and target.before != target.text
    told = f"{label}, its damage marked" if changed else label
    return Excerpt(told, *_shown(_pieces(target, card), target.text))


def _pieces(target: Target, card: PerturbationCard | None) -> list[Piece]:
    if target.before is None:
        return [Piece("same", target.text)] if target.text else []
    return states(target.before, target.text, target.edits, card)[-1]


def _shown(pieces: list[Piece], text: str) -> tuple[list[Piece], str, int]:
    """Return what is shown of a text, and the whole of it where that is not all."""
    short = shortened(pieces)
    whole = text[:WHOLE] if short != pieces else ""
    return short, whole, len(text) - len(whole) if whole else 0


def _reply(draw: Draw, of: int, *, chosen: bool) -> Excerpt:
    """Return a reply; a judge that is made from others has none."""
    which = "" if of == 1 or chosen else f", the first of {of}"
    if draw.reply is None:
        return Excerpt("It is made from other judges' scores, and has no reply.", [])
    if not draw.reply:
        return Excerpt(f"Its reply{which}: empty", [])
    cut = draw.reply[:SMALL]
    left = len(draw.reply) - len(cut)
    pieces = [Piece("same", cut)]
    pieces += [Piece("gap", plural(left, "more character"))] if left else []
    whole = draw.reply[:WHOLE] if left else ""
    return Excerpt(f"Its reply{which}", pieces, whole, len(draw.reply) - len(whole) if whole else 0)
