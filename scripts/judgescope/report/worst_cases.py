"""The worst judgments of a judge, chosen by rules, as a reader sees them: all of it
escaped.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from judgescope.core.cells import DERIVED
from judgescope.core.names import ORIGINAL, SYSTEMS
from judgescope.methods.base import Turned
from judgescope.parsing.judgment import NO_VALUE, OFF_GRID
from judgescope.parsing.unread_shapes import EMPTY, UNREAD, UnreadReplies
from judgescope.report import elements, words
from judgescope.report.elements import CaseBlock, Excerpt, PageBlock, Paragraph, Section
from judgescope.report.items import DatasetTexts, Draw, Judged, Target
from judgescope.report.marked import Piece, shortened, states
from judgescope.report.report import CardReport, ShownDataset, ShownJudge
from judgescope.report.rows import scores_of
from judgescope.report.specs import ExpectedDrop, PerturbationCard, ScaleEnds
from judgescope.report.spotcheck import DONE
from judgescope.report.tables import by_dataset
from judgescope.report.words import STATUSES, amount, count, listed, percent, plural
from judgescope.report.worst_choice import (
    MOST,
    Worst,
    WorstCase,
    disagreeing,
    unnoticed,
)
from judgescope.schema.tables import read_table

if TYPE_CHECKING:
    import pandas as pd


class WorstCaseReader:
    """The judgments of one dataset in a study's results, read where they are needed."""

    def __init__(self, report: CardReport, dataset: ShownDataset) -> None:
        self.report = report
        self.dataset = dataset
        self.files = report.spec.files[dataset.id]
        self.texts = DatasetTexts(self.files, dataset.id)
        self.rules = report.spec.worst.get(dataset.id)
        self._perturbed: dict[str, dict[str, str]] = {}

    @cached_property
    def scores(self) -> "pd.DataFrame":
        """Return the scores of all judges; an infinite one is none."""
        scores = scores_of(self.files.scores)
        return scores.assign(value=scores["value"].where(np.isfinite(scores["value"])))

    @cached_property
    def originals(self) -> dict[str, Target]:
        """Return item -> its original text."""
        texts = DatasetTexts(self.files, self.dataset.id)
        return {target.item: target for target in texts.targets(ORIGINAL).values()}

    def perturbed(self, cell: str) -> dict[str, str]:
        """Return target -> the original of its item, for the texts of a set that were
        perturbed.
        """
        if cell not in self._perturbed:
            columns = ["target", "item", "status"]
            table = read_table("targets", self.files.targets[cell], columns)
            perturbed = {}
            for row in table.to_pylist():
                done = row["status"].partition(":")[0] in DONE
                if done and row["item"] in self.originals:
                    perturbed[row["target"]] = self.originals[row["item"]].target
            self._perturbed[cell] = perturbed
        return self._perturbed[cell]

    def ends(self, judge: ShownJudge) -> Mapping[str, ScaleEnds]:
        """Return aspect -> the ends of the judge's scores, None where they have
        none.
        """
        spec = self.report.spec
        return spec.ends[spec.ends_of[judge.id]].get(self.dataset.id, {})

    @property
    def turned(self) -> Turned:
        """Return the scales whose lowest value is the best."""
        return self.report.spec.turned.get(self.dataset.id, Turned({}, {}))

    def written(self, judge: ShownJudge, aspect: str, score: float) -> str:
        """Return a score as a label where the judge gives labels, else as a number."""
        labels = self.dataset.labels_on(aspect)
        card = self.report.spec.judges.get(judge.id)
        if card is None or card.thresholded or score not in range(len(labels)):
            return amount(score)
        return labels[int(score)]

    def judged(self, judge: ShownJudge, cell: str, aspect: str) -> list[Judged]:
        """Return the judge's judgments of a set of texts in one aspect."""
        model = str(self.report.spec.settings[judge.id].get("model", DERIVED))
        return self.texts.judged((cell, judge.id, aspect), model)

    def find(self, judge: ShownJudge, case: WorstCase) -> Judged:
        """Return the judge's judgment of a text."""
        for judgment in self.judged(judge, case.cell, case.aspect):
            if judgment.target.target == case.target and judgment.target_b is None:
                return judgment
        raise AssertionError("a score is of a judgment")


def section(readers: Iterable[WorstCaseReader], judge: ShownJudge) -> Section | None:
    """Return the worst cases of a judge on every dataset; None for one that judged
    nothing.
    """
    by_id = {reader.dataset.id: reader for reader in readers}

    def cases(dataset: ShownDataset) -> Iterator[PageBlock]:
        reader = by_id[dataset.id]
        scores = reader.scores[reader.scores["judge"] == judge.id]
        yield from _unnoticed(reader, judge, scores)
        yield from _disagreeing(reader, judge, scores)
        yield from _failed(reader, judge)

    blocks = by_dataset([reader.dataset for reader in by_id.values()], "worst", cases)
    if not blocks:
        return None
    lead = (
        "Chosen by rule, never by hand. Differences are shares of the judge's range: "
        "its scale or, if its scores have none, the span from the lowest to the "
        "highest score that it gave. Each text is shown once, in the aspect with the "
        "largest difference."
    )
    return Section("worst", "Its worst cases", lead, blocks)


def _unnoticed(
    reader: WorstCaseReader, judge: ShownJudge, scores: "pd.DataFrame"
) -> Iterator[PageBlock]:
    """Yield the perturbed texts that the judge scores no worse than their originals."""
    judged = {*zip(scores["perturbation"], scores["judged"], strict=True)}
    perturbations = []
    for drop in reader.rules.perturbations if reader.rules else []:
        if not judged.isdisjoint(product([drop.cell], drop.aspects)):
            perturbations.append(drop)
    if not perturbations:
        return
    perturbed = {drop.cell: reader.perturbed(drop.cell) for drop in perturbations}
    turned = reader.turned.scores.get(judge.id, ())
    worst = unnoticed(scores, perturbations, perturbed, reader.ends(judge), turned)
    yield Paragraph("Perturbations that it does not notice", style="finding")
    yield Paragraph(_unnoticed_in_words(worst), items=_why(perturbations))
    for case in worst.cases:
        judgment = reader.find(judge, case)
        written = partial(reader.written, judge, case.aspect)
        better = "no worse"
        if case.by:
            better = f"better by {percent(case.by)} of its range"
        facts = [
            ("original", written(case.other)),
            ("perturbed", written(case.score)),
            ("", better),
        ]
        target = judgment.target
        if target.step > 1:
            # Of a chain: all its errors are marked, not the last one alone.
            original = reader.originals[target.item].text
            target = target._replace(before=original, edits=())
            judgment = judgment._replace(target=target)
        yield _case(reader, judge, judgment, case.cell, case.aspect, facts)


def _unnoticed_in_words(worst: Worst) -> str:
    text = (
        f"Of {plural(worst.n, 'perturbed text')}, {count(worst.higher)} score better "
        f"than their originals in an aspect that should drop, and {count(worst.equal)} "
        "score the same as their originals at best."
    )
    if worst.n_missing:
        text += f" {count(worst.n_missing)} more have no score to compare."
    unnoticed = worst.higher + worst.equal
    if not unnoticed:
        return f"{text} There are none to show."
    return (
        f"{text} Shown: {count(len(worst.cases))} of these {count(unnoticed)}, the "
        "largest rise first, one per original; ties are ordered by degree (heavier "
        "first), the study's order and id."
    )


def _why(perturbations: Sequence[ExpectedDrop]) -> list[str]:
    """Return who says which aspects a perturbation should lower."""
    meanings = {
        "expected": "by the study's expectations",
        "weighted": "those to which experts give any weight",
        "all": "all in which it is judged, because no card names any",
    }
    sentences = []
    for why, meaning in meanings.items():
        quoted = dict[str, None]()
        for drop in perturbations:
            if drop.why == why:
                name, _, _ = drop.cell.rpartition(".")
                quoted[f"`{name}`"] = None
        if quoted:
            names = listed([*quoted])
            sentences.append(f"Aspects that should drop, {meaning}: {names}.")
    return sentences


def _disagreeing(
    reader: WorstCaseReader, judge: ShownJudge, scores: "pd.DataFrame"
) -> Iterator[PageBlock]:
    """Yield the texts where the judge is farthest from the ratings."""
    rules = reader.rules
    if not (rules and rules.rated) or SYSTEMS not in {*scores["perturbation"]}:
        return
    turned = reader.turned.scores.get(judge.id, {})
    worst = disagreeing(
        scores,
        reader.texts.means,
        rules.scales,
        reader.ends(judge),
        turned,
        reader.turned.ratings,
    )
    how = "on their scales"
    if any(case.ranked for case in worst.cases):
        how = "by their ranks, because its scores have no scale"
    text = (
        f"Shown: {count(len(worst.cases))} of {plural(worst.n, 'rated text')}; score "
        f"and mean rating are compared {how}; ties are ordered by id."
    )
    if worst.n_missing:
        text += f" {count(worst.n_missing)} more have no score."
    whose = reader.dataset.rated_by.whose
    yield Paragraph(f"Farthest from {whose} ratings", style="finding")
    yield Paragraph(text)
    for case in worst.cases:
        judgment = reader.find(judge, case)
        unit = "of the ranks" if case.ranked else "of the scale"
        high = (case.by > 0) != (case.aspect in turned)
        facts = [
            _rating_fact(reader, judgment, case),
            ("score", reader.written(judge, case.aspect, case.score)),
            ("", f"too {'high' if high else 'low'} by {percent(abs(case.by))} {unit}"),
        ]
        yield _case(reader, judge, judgment, case.cell, case.aspect, facts)


def _rating_fact(
    reader: WorstCaseReader, judgment: Judged, case: WorstCase
) -> tuple[str, str]:
    """What people, or the plan, say of a text: the name of it, and its words."""
    source = reader.dataset.rated_by
    labels = reader.dataset.labels_on(case.aspect)
    if labels:
        given = [labels[int(value)] for value in judgment.ratings]
        return "ratings" if source.people else source.mean, listed(given)
    name = source.mean
    if len(judgment.ratings) > 1:
        name += f" of {len(judgment.ratings)}"
    return name, amount(case.other)


def _failed(reader: WorstCaseReader, judge: ShownJudge) -> Iterator[PageBlock]:
    """Yield replies without a value, the first of each status.

    The first: in the study's order of texts and aspects, then by the texts' ids and the
    draw.
    """
    table = read_table("statuses", reader.files.statuses)
    rows = table.filter(pc.equal(table["judge"], judge.id)).to_pylist()
    counts = dict.fromkeys(NO_VALUE, 0)
    for row in rows:
        if row["status"] in counts:
            counts[row["status"]] += row["n"]
    numbers = [f"{count(n)} {STATUSES[status]}" for status, n in counts.items() if n]
    if not numbers:
        return
    text = (
        f"In total {listed(numbers)}. Shown: up to {MOST} of each, the first in order "
        "of set of texts, aspect, text id and draw."
    )
    yield Paragraph("Replies without a value", style="finding")
    yield Paragraph(f"{text} {words.OFF_GRID_SENTENCE}" if counts[OFF_GRID] else text)
    yield from _unread_shapes(reader, judge, rows)
    for status in counts:
        yield from islice(_failed_cases(reader, judge, rows, status), MOST)


def _unread_shapes(
    reader: WorstCaseReader, judge: ShownJudge, rows: Iterable[dict[str, Any]]
) -> Iterator[Paragraph]:
    """Yield the commonest shapes of replies that are unread or have no text, if these
    are more than a tenth.
    """
    unread = UnreadReplies()
    with_unread = dict[tuple[str, str], None]()
    for row in rows:
        if row["status"] not in ("error", "not_applicable"):
            unread.replies += row["n"]
        if row["status"] in (UNREAD, EMPTY):
            with_unread[row["perturbation"], row["aspect"]] = None
    for cell, aspect in with_unread:
        for judgment in reader.judged(judge, cell, aspect):
            for draw in judgment.draws:
                unread.add_shape(draw.reply or "", draw.status or "", draw.rule)
    if not unread.many:
        return
    text = ""
    if unread.unread:
        text += (
            f"{count(unread.unread)} replies of {judge.id} are unread; the key `read` "
            "of its card says how it states its verdict. "
        )
    if unread.without_text:
        text += f"{count(unread.without_text)} replies of {judge.id} have no text. "
    text += "The commonest shapes (w: a word, 9: a number, ⏎: a line break):"
    yield Paragraph(text, [*map(str.strip, unread.commonest())], "warning")


def _failed_cases(
    reader: WorstCaseReader,
    judge: ShownJudge,
    rows: Iterable[dict[str, Any]],
    status: str,
) -> Iterator[CaseBlock]:
    def ids(judgment: Judged) -> tuple[str, str]:
        second = judgment.target_b
        return judgment.target.target, second.target if second else ""

    cells = dict[tuple[str, str], None]()
    for row in rows:
        if row["status"] == status:
            cells[row["perturbation"], row["aspect"]] = None
    for cell, aspect in cells:
        for judgment in sorted(reader.judged(judge, cell, aspect), key=ids):
            failed = [draw for draw in judgment.draws if draw.status == status]
            for draw in sorted(failed, key=lambda draw: (draw.hint or "", draw.draw)):
                facts = [("", STATUSES[status])]
                if draw.rule:
                    facts.append(("rule", draw.rule))
                draws = len(judgment.draws)
                if draws > 1:
                    facts.append(("reply", f"{draw.draw + 1} of {draws}"))
                yield _case(reader, judge, judgment, cell, aspect, facts, draw)


def _case(
    reader: WorstCaseReader,
    judge: ShownJudge,
    judgment: Judged,
    cell: str,
    aspect: str,
    facts: Sequence[tuple[str, str]],
    draw: Draw | None = None,
) -> CaseBlock:
    """Return a judgment with its texts and a reply: the first, or the one that it is
    about.
    """
    report = reader.report
    target = judgment.target
    other = judgment.target_b
    name, _, degree = cell.partition(".")
    card = report.spec.perturbations.get(name)
    if other is None:
        title = target.target
        excerpts = [_excerpt("The text", target, card)]
    else:
        title = f"{target.target} and {other.target}"
        excerpts = [
            _excerpt("The first text", target, card),
            _excerpt("The second", other, card),
        ]
    reply = draw or next(iter(judgment.draws), None)
    if reply is not None:
        draws = len(judgment.draws)
        which = "" if draw or draws == 1 else f", the first of {draws}"
        excerpts.append(_reply(reply, which))
    texts = {SYSTEMS: "a system's text", ORIGINAL: "an original"}.get(name, name)
    if card and card.name:
        texts = card.name
    if degree and degree != "single":
        texts += f", {degree}"
    shown_facts = []
    for fact, text in facts:
        negative = text.startswith("-")
        shown_facts.append((fact, text.replace("-", words.MINUS) if negative else text))
    where = {
        "dataset": reader.dataset.id,
        "judge": judge.id,
        "aspect": aspect,
        "perturbation": cell,
        "target": target.target,
    }
    if other:
        where["other"] = other.target
    return CaseBlock(
        title,
        f"{texts} · {report.aspect(aspect)}",
        shown_facts,
        excerpts,
        f"../{elements.judgments_page(**where)}",
    )


def _excerpt(label: str, target: Target, card: PerturbationCard | None) -> Excerpt:
    """Return a text with its changes marked, if they are known; a long text is
    shortened.
    """
    if target.before is None:
        pieces = []
        if target.text:
            pieces = [Piece("same", target.text)]
    else:
        pieces = states(target.before, target.text, target.edits, card)[-1]
    changed = target.before not in (None, target.text)
    short = shortened(pieces)
    head = f"{label}, its edits marked" if changed else label
    return _with_rest(head, short, target.text, complete=short == pieces)


def _reply(draw: Draw, which: str, at_once: int = 500) -> Excerpt:
    """Return a reply, of which so many characters are shown at once.

    A judge that is made from others has none, nor have recorded scores.
    """
    if draw.reply is None:
        return Excerpt("This judge gives scores without replies.", [])
    if not draw.reply:
        return Excerpt(f"Its reply{which}: empty", [])
    left = len(draw.reply) - at_once
    pieces = [Piece("same", draw.reply[:at_once])]
    if left > 0:
        pieces.append(Piece("gap", plural(left, "more character")))
    return _with_rest(f"Its reply{which}", pieces, draw.reply, complete=left <= 0)


def _with_rest(
    label: str,
    pieces: Sequence[Piece],
    text: str,
    *,
    complete: bool,
    longest: int = 20_000,
) -> Excerpt:
    """Return an excerpt; unless it is the complete text, that can be unfolded up to
    `longest` characters.
    """
    if complete:
        return Excerpt(label, pieces)
    return Excerpt(label, pieces, text[:longest], max(len(text) - longest, 0))
