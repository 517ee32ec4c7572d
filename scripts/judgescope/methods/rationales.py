"""The judgments of judges that read prompts, one by one: values, rationales, and hints.

Where a judge's score is its first draw, the means of its rationales are of that draw, too.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from judgescope.methods.evaluation_data import Codes, EvaluationData, Floats, aligned
from judgescope.methods.specs import present
from judgescope.schema.tables import read_table
from judgescope.statistics.result import Estimate
from judgescope.statistics.tango import net_share

NOT_ASKED: Final = "not_applicable"
ASKED_ONCE: Final = "unknown: without a hint each text was judged only once"


class Judgment(NamedTuple):
    """A row of the table `rationales`: one draw of a judge on a text."""

    target: str
    draw: int
    status: str
    value: float | None
    text: str | None
    hint: str | None


class Rationales:
    """The judgments of prompted judges on the rated texts; arrays are (targets,)."""

    def __init__(self, study: EvaluationData) -> None:
        self.study, self.panel = study, study.systems
        self._polarity: dict[str, float] = {}

    @cached_property
    def _draws(self) -> dict[tuple[str, str], list[Judgment]]:
        table = read_table("rationales", present(self.study.spec.rationales))
        columns = (table[name].to_pylist() for name in ("judge", "aspect", *Judgment._fields))
        draws: dict[tuple[str, str], list[Judgment]] = {}
        for judge, aspect, *fields in zip(*columns, strict=True):
            draws.setdefault((judge, aspect), []).append(Judgment(*fields))
        return draws

    @property
    def judges(self) -> list[str]:
        """Return the judges that give rationales."""
        return list(dict.fromkeys(judge for judge, _ in self._draws))

    def of(self, judge: str, aspect: str) -> list[Judgment]:
        """Return the draws on an aspect on which a judge's score rests."""
        draws = self._draws.get((judge, aspect), [])
        card = self.study.spec.judges.get(judge)
        return [one for one in draws if one.draw == 0] if card and card.first_draw else draws

    def hints(self, judge: str, aspect: str) -> Floats:
        """Return the rating that the judge was given of each text, NaN where none."""
        hints = {one.target: float(one.hint) for one in self.of(judge, aspect) if one.hint}
        return aligned(hints, self.panel.targets)

    def draw(self, judge: str, aspect: str, number: int) -> Floats | None:
        """Return the value of a judge's `number`-th draw of each text, NaN where it has none.

        None: no text was asked about so often.
        """
        draws = [one for one in self._draws.get((judge, aspect), []) if one.draw == number]
        values = {one.target: one.value for one in draws if one.value is not None}
        return aligned(values, self.panel.targets) if draws else None

    def polarities(self, judge: str, aspect: str) -> Floats:
        """Return the mean polarity of a judge's rationales of each text, -1 to 1."""
        return self._mean_of_texts(judge, aspect, self._sentiment)

    def words(self, judge: str, aspect: str) -> Floats:
        """Return the mean number of words of a judge's rationales of each text."""
        return self._mean_of_texts(judge, aspect, lambda text: len(text.split()))

    def asked(self, judge: str, aspect: str) -> list[Judgment]:
        """Return the judgments of texts that a judge was asked about."""
        return [one for one in self.of(judge, aspect) if one.status != NOT_ASKED]

    def status_share(self, judge: str, aspect: str, status: str) -> Floats:
        """Return the share of a judge's draws of each text with this status."""
        asked = self.asked(judge, aspect)
        return self._means((one.target, float(one.status == status)) for one in asked)

    def _mean_of_texts(self, judge: str, aspect: str, value: Callable[[str], float]) -> Floats:
        texts = (
            (one.target, one.text)
            for one in self.of(judge, aspect)
            if one.status == "ok" and one.text and one.text.strip()
        )
        return self._means((target, float(value(text))) for target, text in texts)

    def _means(self, values: Iterable[tuple[str, float]]) -> Floats:
        by_target: dict[str, list[float]] = {}
        for target, value in values:
            by_target.setdefault(target, []).append(value)
        means = {target: float(np.mean(each)) for target, each in by_target.items()}
        return aligned(means, self.panel.targets)

    def _sentiment(self, text: str) -> float:
        from textblob import TextBlob  # loads a lexicon of its package, and no corpus

        if text not in self._polarity:
            self._polarity[text] = float(TextBlob(text).sentiment.polarity)
        return self._polarity[text]


@dataclass(frozen=True)
class HintPairs:
    """Texts whose first score without a hint differs from the hint, on one aspect or several.

    moved (texts,): 1 where the score with the hint equals it and the second one without does not,
    -1 the other way round, else 0; source (texts,). `lost` texts lack one of the three scores.
    """

    moved: Floats
    source: Codes
    lost: int

    @property
    def lost_share(self) -> float:
        """Return the lost texts as a share of those that count or might."""
        planned = self.moved.size + self.lost
        return self.lost / planned if planned else 0.0

    def effect(self) -> Estimate:
        """Return the share of texts that the hint alone moves to it, less the reverse."""
        return replace(net_share(self.moved, self.source, corrected=True), n_missing=self.lost)

    def with_lost(self, moved: int) -> Estimate:
        """Return the effect if every lost text, of a source of its own, had `moved` so."""
        values = np.append(self.moved, np.full(self.lost, float(moved)))
        last = int(self.source.max(initial=-1)) + 1
        source = np.append(self.source, np.arange(last, last + self.lost))
        return net_share(values, source, corrected=True)


def hint_pairs(
    study: EvaluationData, rationales: Rationales, judge: str, *aspects: str
) -> HintPairs | None:
    """Return a hinted judge's texts on some aspects together; None: no second draw of its base.

    A second draw that repeats the first one at temperature 0 is a draw like others: no assumption
    is made that it never changes (methods.md 9).
    """
    base = study.spec.hinted[judge].baseline
    moved, source, lost = [], [], 0
    for aspect in aspects:
        hinted = rationales.draw(judge, aspect, 0)
        first, second = (rationales.draw(base, aspect, number) for number in (0, 1))
        if hinted is None or first is None or second is None:
            return None
        hints = rationales.hints(judge, aspect)
        known = ~(np.isnan(hinted) | np.isnan(first) | np.isnan(second))
        counts = ~np.isnan(hints) & ~np.isclose(first, hints)  # not close to NaN: it may count
        used = counts & known
        change = np.isclose(hinted, hints).astype(float) - np.isclose(second, hints)
        moved.append(change[used])
        source.append(rationales.panel.source[used])
        lost += int((counts & ~known).sum())
    return HintPairs(np.concatenate(moved), np.concatenate(source), lost) if moved else None
