"""The texts on which a judge fails first: chosen by rule, one a claim, with its words.

For the claims that fail, then those that a rule may explain, those that are not shown,
and then those that hold, in the order of the matrix: the text with the largest
difference of ranks between people and judge, of damage the text with the largest rise.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from judgescope.core.names import SYSTEMS
from judgescope.methods.claims import base
from judgescope.report import elements
from judgescope.report.claims import ReportedClaim, worst_first
from judgescope.report.drawing import ScaleMarks, scale
from judgescope.report.elements import Excerpt, FailingText
from judgescope.report.items import Draw, Judged
from judgescope.report.marked import Piece, shortened, states
from judgescope.report.report import CardReport, ShownJudge
from judgescope.report.standings import standings
from judgescope.report.words import amount, listed, percent, plural
from judgescope.report.worst_cases import WorstCaseReader
from judgescope.statistics.arrays import Floats


class Farthest(NamedTuple):
    """A text and by how much its score is too high; `before` is the undamaged one."""

    target: str
    by: float
    score: float
    before: float | None = None


def failing_texts(
    report: CardReport, judge: ShownJudge, readers: Mapping[str, WorstCaseReader]
) -> list[FailingText]:
    """The first three texts on which a judge fails; fewer where claims have none."""
    matrix = standings(report)
    about: list[ReportedClaim] = []
    for column in matrix.folding.columns:
        about += matrix.of_column(judge, column)
    texts: list[FailingText] = []
    seen: set[str] = set()
    most_texts = 3
    for claim in worst_first(about):
        if len(texts) == most_texts:
            break
        reader = readers[claim.dataset]
        for far in farthest(reader, judge, claim):
            if far.target in seen or far.by <= 0:
                continue
            text = _failing(reader, judge, claim, far, len(texts) + 1)
            if text is not None:
                seen.add(far.target)
                texts.append(text)
            break
    return texts


def farthest(
    reader: WorstCaseReader, judge: ShownJudge, claim: ReportedClaim
) -> list[Farthest]:
    """The texts of a claim, the farthest from what is right first; ties by id."""
    if claim.kind == base.PERTURBATION:
        return _rises(reader, judge, claim)
    if claim.kind in (base.AGREEMENT, base.LABELS, base.CAUGHT, base.PASSED):
        return _apart(reader, judge, claim)
    return []


def _scores(
    reader: WorstCaseReader, judge: ShownJudge, cell: str
) -> dict[str, dict[str, float]]:
    """Aspect with its criterion -> target -> the judge's score, where it has one."""
    frame = reader.scores
    frame = frame[(frame["judge"] == judge.id) & (frame["perturbation"] == cell)]
    scores: dict[str, dict[str, float]] = {}
    columns = [frame[name] for name in ("judged", "target", "value")]
    for judged, target, value in zip(*columns, strict=True):
        if isfinite(value):
            scores.setdefault(judged, {})[target] = float(value)
    return scores


def _apart(
    reader: WorstCaseReader, judge: ShownJudge, claim: ReportedClaim
) -> list[Farthest]:
    aspect = claim.row.judged
    plain = aspect.partition(".")[0]
    scores = _scores(reader, judge, SYSTEMS).get(aspect, {})
    means = reader.texts.means.get(plain, {})
    both = sorted(target for target in scores if target in means)
    if len(both) < 2:
        return []
    merits = np.array([scores[target] for target in both])
    people = np.array([means[target] for target in both])
    if aspect in reader.turned.scores.get(judge.id, ()):
        merits = -merits
    if plain in reader.turned.ratings:
        people = -people
    gaps = np.abs(_ranks(merits) - _ranks(people))
    if _one_scale(reader, judge, aspect):
        # A score that equals the rating is right, whatever the ranks of ties.
        gaps = np.where(merits == people, 0.0, gaps)
    order = sorted(range(len(both)), key=lambda index: (-gaps[index], both[index]))
    return [
        Farthest(both[index], float(gaps[index]), scores[both[index]])
        for index in order
    ]


def _one_scale(reader: WorstCaseReader, judge: ShownJudge, aspect: str) -> bool:
    """Whether scores and ratings are of one scale."""
    rules = reader.rules
    ends = reader.ends(judge).get(aspect)
    people = None
    if rules is not None:
        people = rules.scales.get(aspect.partition(".")[0])
    if ends is None:
        return False
    return people is not None and tuple(ends) == tuple(people)


def _ranks(numbers: Floats) -> Floats:
    """Ranks as shares of all texts; equal numbers share the mean rank."""
    _, codes, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    last = counts.cumsum()
    middle = last - (counts + 1) / 2
    ranks: Floats = middle[codes] / len(numbers)
    return ranks


def _rises(
    reader: WorstCaseReader, judge: ShownJudge, claim: ReportedClaim
) -> list[Farthest]:
    cell = claim.row.cell
    originals = _scores(reader, judge, "original")
    rises = []
    for aspect, of_aspect in _scores(reader, judge, cell).items():
        known = originals.get(aspect, {})
        sign = 1
        if aspect in reader.turned.scores.get(judge.id, ()):
            sign = -1
        for target, before in reader.perturbed(cell).items():
            if target in of_aspect and before in known:
                rise = sign * (of_aspect[target] - known[before])
                far = Farthest(target, rise, of_aspect[target], known[before])
                rises.append((aspect, far))
    rises.sort(key=lambda each: (-each[1].by, each[1].target))
    aspects = [aspect for aspect, _ in rises[:1]]
    return [far for aspect, far in rises if aspect in aspects]


def _aspect_of(
    reader: WorstCaseReader, judge: ShownJudge, claim: ReportedClaim, far: Farthest
) -> str:
    """The aspect in which a text stands: of damage the one with this score."""
    if claim.kind != base.PERTURBATION:
        return claim.row.judged
    for aspect, of_aspect in _scores(reader, judge, claim.row.cell).items():
        if of_aspect.get(far.target) == far.score:
            return aspect
    return claim.row.judged


def _failing(
    reader: WorstCaseReader,
    judge: ShownJudge,
    claim: ReportedClaim,
    far: Farthest,
    number: int,
) -> FailingText | None:
    aspect = _aspect_of(reader, judge, claim, far)
    cell = SYSTEMS
    if claim.kind == base.PERTURBATION:
        cell = claim.row.cell
    judgment = next(
        (
            each
            for each in reader.judged(judge, cell, aspect)
            if each.target.target == far.target and each.target_b is None
        ),
        None,
    )
    if judgment is None:
        return None
    written = reader.written(judge, aspect, far.score)
    name = reader.report.aspect(aspect)
    if far.before is not None:
        before = reader.written(judge, aspect, far.before)
        what = claim.subject
        title = f"{number} {what[0].upper()}{what[1:]}: scored higher than the original"
        how = f"{before} before the damage, {written} after it: "
    else:
        whom = reader.dataset.rated_by.short
        title = f"{number} {name}: {whom} {_mean(reader, judgment, aspect)}, "
        title += f"{judge.id} {written}"
        how = f"{written}: "
    return FailingText(
        title=title,
        sources=_sources(reader, judgment),
        excerpt=_excerpt(reader, judgment, claim),
        reason=words_of(judge, judgment.draws),
        scale=_scale(reader, judge, aspect, judgment, far),
        how=f"{how}{how_scored(judge, judgment)}",
        bars=_bars(judgment),
        href=_explored(reader, judge, aspect, cell, far.target),
    )


def _explored(
    reader: WorstCaseReader, judge: ShownJudge, aspect: str, cell: str, target: str
) -> str:
    differing = {
        "dataset": reader.dataset.id,
        "judge": judge.id,
        "aspect": aspect,
        "perturbation": cell,
        "target": target,
    }
    return f"../{elements.judgments_page(**differing)}"


def _mean(reader: WorstCaseReader, judgment: Judged, aspect: str) -> str:
    """What people say of a text: their labels, or their mean rating."""
    labels = reader.dataset.labels_on(aspect)
    if labels:
        return listed(list(dict.fromkeys(labels[int(v)] for v in judgment.ratings)))
    if not judgment.ratings:
        return "–"
    return amount(sum(judgment.ratings) / len(judgment.ratings))


def _sources(reader: WorstCaseReader, judgment: Judged) -> list[tuple[str, str]]:
    """What a text is written for, as its dataset names it.

    Of data without texts: which text it is, and what people gave it.
    """
    target = judgment.target
    if not target.text:
        named = [("Item", target.item)]
        if target.system:
            named.append(("System", target.system))
        if judgment.ratings:
            given = ", ".join(amount(value) for value in judgment.ratings)
            named.append(("Ratings", given))
        return named
    if not reader.files.items:
        return []
    by_item = reader.report.once(
        ("items", reader.dataset.id),
        lambda: {each.item: each.source for each in reader.texts.items()},
    )
    source = by_item.get(judgment.target.item, "")
    if not source:
        return []
    longest_source = 240
    if len(source) > longest_source:
        source = f"{source[:longest_source]} …"
    return [("Written for", source)]


def _excerpt(
    reader: WorstCaseReader, judgment: Judged, claim: ReportedClaim
) -> Excerpt:
    """The text, its damage marked."""
    target = judgment.target
    card = reader.report.spec.perturbations.get(claim.row.perturbation)
    if target.before is None:
        pieces = []
        if target.text:
            pieces = [Piece("same", target.text)]
    else:
        pieces = list(states(target.before, target.text, target.edits, card)[-1])
    return Excerpt("", shortened(pieces))


def words_of(judge: ShownJudge, draws: Sequence[Draw]) -> str:
    """The judge's words: its reason, else its reply; or that it has none."""
    if judge.scores_texts:
        return "no words: its score is how probable the text is"
    # Characters of a judge's words that are shown.
    longest_words = 300
    for draw in draws:
        reply = draw.rationale or draw.reply or ""
        if any(letter.isalpha() for letter in reply):
            short = len(reply) <= longest_words
            cut = reply if short else f"{reply[:longest_words]} …"
            return f"“{cut}”"
    if any(draw.reply for draw in draws):
        return "no words: it answered with a number"
    if judge.engine == "recorded":
        return "no words: only its score is recorded"
    return "no words: its score is computed"


def how_scored(judge: ShownJudge, judgment: Judged) -> str:
    """How a score came about."""
    # Engines of judges whose score a program computes from the text.
    programs = frozenset({"lexical", "command"})
    if judge.engine in programs:
        return "computed by a program"
    if judge.engine == "derived":
        return judge.about
    number = len(judgment.draws)
    draws = plural(number, "draw")
    computed = judgment.estimator in ("logprob_mean", "likelihood", "pmi")
    if number == 1 and not computed:
        return "one reply"
    # Estimator -> how a score came about.
    how = {
        "logprob_mean": "mean over the token probabilities of {draws}",
        "likelihood": "log-probability per token",
        "pmi": "log-probability per token beyond that without the source",
        "mode": "most frequent value of {draws}",
        "majority": "most frequent label of {draws}",
        "first": "the first of {draws}",
        "mean": "mean of {draws}",
    }
    return how.get(judgment.estimator, "combined from {draws}").format(draws=draws)


def _bars(judgment: Judged) -> list[tuple[str, str, int]]:
    """The values of several draws, their shares, and how high their bars are."""
    values = []
    for draw in judgment.draws:
        if draw.value is not None:
            values.append(draw.value)
    if len(values) < 2:
        return []
    counts = Counter(values)
    bars = []
    for value in sorted(counts):
        share = counts[value] / len(values)
        bars.append((amount(value), percent(share), max(2, round(26 * share))))
    return bars[:9]


def _scale(
    reader: WorstCaseReader,
    judge: ShownJudge,
    aspect: str,
    judgment: Judged,
    far: Farthest,
) -> Markup:
    """Where people and the judge put a text: on one scale, or each by rank."""
    plain = aspect.partition(".")[0]
    ends = reader.ends(judge).get(aspect)
    ratings = list(judgment.ratings)
    label = f"{judge.id} gives {amount(far.score)}"
    if ends is not None and _one_scale(reader, judge, aspect) and ends[0] < ends[1]:
        low, high = ends
        steps = np.linspace(low, high, min(int(high - low) + 1, 11))
        ticks = []
        for v in steps.tolist():
            ticks.append(((v - low) / (high - low), amount(v)))
        marks = ScaleMarks(
            ticks,
            [(value - low) / (high - low) for value in ratings],
            (far.score - low) / (high - low),
            None if far.before is None else (far.before - low) / (high - low),
            label,
        )
        return scale(marks)
    every = {*_scores(reader, judge, SYSTEMS).get(aspect, {}).values(), far.score}
    if far.before is not None:
        every.add(far.before)
    known = np.array(sorted(every))
    means = np.array(sorted(reader.texts.means.get(plain, {}).values()))

    def rank(values: Floats, value: float) -> float:
        return float(np.searchsorted(values, value) / max(values.size - 1, 1))

    middle = None
    if ratings:
        middle = sum(ratings) / len(ratings)
    marks = ScaleMarks(
        [(0.0, "lowest"), (1.0, "highest")],
        [rank(means, middle)] if middle is not None and means.size else [],
        rank(known, far.score),
        None if far.before is None else rank(known, far.before),
        f"{label}; places by rank",
    )
    return scale(marks)


def more_failures(
    readers: Sequence[WorstCaseReader], judge: ShownJudge
) -> Iterator[tuple[str, str]]:
    """Yield dataset and link to all judgments of a judge, in the explorer."""
    for reader in readers:
        href = elements.judgments_page(dataset=reader.dataset.id, judge=judge.id)
        yield reader.dataset.name, f"../{href}"
