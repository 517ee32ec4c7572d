"""What a hint adds to a judge's scores, beyond what asking it once more without a hint changes."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgescope.methods.evaluation_data import EvaluationData, Floats
from judgescope.methods.rationales import Rationales
from judgescope.statistics.result import Estimate
from judgescope.statistics.tango import net_share

ASKED_ONCE: Final = "not known: without a hint each text was asked about once"


@dataclass(frozen=True)
class HintPairs:
    """Texts whose first score without a hint differs from the hint, on one aspect or several.

    moved (texts,): 1 where the score with the hint equals it and the second one without does not,
    -1 the other way round, else 0; source (texts,). `lost` texts have not all three scores.
    """

    moved: Floats
    source: NDArray[np.int64]
    lost: int

    @property
    def lost_share(self) -> float:
        """Return the lost texts as a share of those that count or might."""
        planned = self.moved.size + self.lost
        return self.lost / planned if planned else 0.0

    def effect(self) -> Estimate:
        """Return the share of texts that the hint alone moves to it, less the reverse."""
        found = net_share(self.moved, self.source, corrected=True)
        return Estimate(
            found.value,
            found.lo,
            found.hi,
            n=found.n,
            n_missing=self.lost,
            n_tied=found.n_tied,
            method=found.method,
            note=found.note,
        )

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

    A second draw that is the first one's repeat at temperature 0 is a draw like others: that it
    never changes is not assumed (methods.md 9).
    """
    base = study.spec["hinted"][judge]["base"]
    moved, source, lost = [], [], 0
    for aspect in aspects:
        drawn = [rationales.draw(*at) for at in _asked(judge, base, aspect)]
        if any(values is None for values in drawn):
            return None
        hinted, first, second = (np.asarray(values) for values in drawn)
        hints = rationales.hints(judge, aspect)
        known = ~(np.isnan(hinted) | np.isnan(first) | np.isnan(second))
        counts = ~np.isnan(hints) & ~np.isclose(first, hints)  # not close to NaN: it may count
        used = counts & known
        told = np.isclose(hinted, hints).astype(float) - np.isclose(second, hints)
        moved.append(told[used])
        source.append(rationales.panel.source[used])
        lost += int((counts & ~known).sum())
    return HintPairs(np.concatenate(moved), np.concatenate(source), lost) if moved else None


def _asked(judge: str, base: str, aspect: str) -> list[tuple[str, str, int]]:
    return [(judge, aspect, 0), (base, aspect, 0), (base, aspect, 1)]
