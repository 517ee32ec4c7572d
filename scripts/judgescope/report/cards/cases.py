"""The worst judgments as a reader sees them: text, score, rating and reply, all of it escaped."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

from judgescope.core.cells import DERIVED
from judgescope.parsing.judgment import OFF_GRID
from judgescope.report.cards.worst import (
    MOST,
    Bad,
    Failure,
    Scores,
    Worst,
    disagreeing,
    failures,
    unnoticed,
)
from judgescope.report.elements import Block, Case, Excerpt, Heading, Section, Text
from judgescope.report.items import Draw, Judged, Target, Texts, judged
from judgescope.report.marked import Piece, shortened, states
from judgescope.report.numbers import MINUS, amount, count, listed, percent, plural
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.words import OFF_GRID_SENTENCE, STATUSES

WHOLE = 20_000
"""Characters of a long text that can be unfolded."""
SMALL = 500
"""Characters of a reply that are shown at once."""
LEAD = (
    "Chosen by rule, never by hand. Differences are in shares of the judge's range: from end to "
    "end of its scale, or, where its scores have none, from the lowest to the highest that it "
    "gave. Each text is shown once, in the aspect where it is worst."
)


class Reader:
    """What a study's results hold of the judgments of one dataset, read where it is needed."""

    def __init__(self, report: Report, dataset: Dataset) -> None:
        self.report, self.dataset = report, dataset
        self.out = str(report.spec["results"])
        self.scores = Scores(self.out, dataset.id)
        self.texts = Texts(self.out, dataset.id)
        self.told: Mapping[str, Any] = report.spec["worst"].get(dataset.id, {})
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

    def ends(self, judge: Judge) -> Mapping[str, Sequence[float] | None]:
        """Return aspect -> the ends of the judge's scores, None where they have none."""
        told = self.report.spec["ends"]
        found: Mapping[str, Any] = told["scales"][told["of"][judge.id]].get(self.dataset.id, {})
        return found

    def model_of(self, judge: Judge) -> str:
        """Return the model in the paths of a judge's cells."""
        model: str = self.report.spec["settings"][judge.id].get("model", DERIVED)
        return model

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
        for one in reader.told.get("damages", [])
        if any((one[0], aspect) in scores for aspect in one[1])
    ]
    if not damages:
        return []
    damaged = {cell: reader.damaged(cell) for cell, _, _ in damages}
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


def _why(damages: Sequence[Sequence[Any]]) -> list[str]:
    """Return who says in which aspects damage should show."""
    told = {
        "expected": "by the study's expectations",
        "weighted": "those to which experts give any weight",
        "all": "all in which it is judged, as nothing else is said of it",
    }
    found = []
    for why, meaning in told.items():
        own = [cell for cell, _, reason in damages if reason == why]
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
    if not reader.told.get("rated") or not any(cell == "systems" for cell, _ in scores):
        return []
    told = (reader.texts.means, reader.told["scales"], reader.ends(judge))
    worst = disagreeing(scores, *told)
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
    damage = reader.report.spec["perturbations"].get(cell.rpartition(".")[0])
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


def _set(report: Report, cell: str) -> str:
    """Return what a set of texts is, in words."""
    name, _, degree = cell.partition(".")
    known = {"systems": "a system's text", "original": "an original"}
    told = report.spec["perturbations"].get(name, {}).get("name") or known.get(name, name)
    return f"{told}, {degree}" if degree and degree != "single" else str(told)


def explore(report: Report, **where: str) -> str:
    """Return the way to the page where a judge's replies can be looked through, if there is one."""
    if not report.spec.get("explore"):
        return ""
    return f"../explore.html#{urlencode(where, quote_via=quote)}"


def _excerpt(label: str, target: Target, card: Mapping[str, Any] | None) -> Excerpt:
    """Return a text, with what was changed marked where it is known."""
    changed = target.before is not None and target.before != target.text
    told = f"{label}, its damage marked" if changed else label
    return Excerpt(told, *_shown(_pieces(target, card), target.text))


def _pieces(target: Target, card: Mapping[str, Any] | None) -> list[Piece]:
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
