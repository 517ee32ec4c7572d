"""The judgments of judges that read prompts, one by one: values, reasons, and hints.

Where a judge's score is its first draw, the means of its reasons are of that draw, too.
"""

from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np

from judgescope.methods.base import Row
from judgescope.methods.evaluation_data import EvaluationData, Floats, aligned
from judgescope.methods.specs import present
from judgescope.schema.tables import read_table

NOT_ASKED = "not_applicable"


class Rationales:
    """What judges that read prompts say of the rated texts, and why; shape (targets,) each."""

    def __init__(self, study: EvaluationData) -> None:
        self.study, self.panel = study, study.systems
        self._polarity: dict[str, float] = {}

    @cached_property
    def _draws(self) -> dict[tuple[str, str], list[Row]]:
        found: dict[tuple[str, str], list[Row]] = {}
        for row in read_table("rationales", present(self.study.spec.rationales)).to_pylist():
            found.setdefault((row["judge"], row["aspect"]), []).append(row)
        return found

    @cached_property
    def _rows(self) -> dict[tuple[str, str], list[Row]]:
        """Return the draws that a judge's score rests on."""
        first = {name for name, card in self.study.spec.judges.items() if card.first_draw}
        return {
            (judge, aspect): [row for row in rows if judge not in first or row["draw"] == 0]
            for (judge, aspect), rows in self._draws.items()
        }

    @property
    def judges(self) -> list[str]:
        """Return the judges that give reasons."""
        return list(dict.fromkeys(judge for judge, _ in self._rows))

    def of(self, judge: str, aspect: str) -> list[Row]:
        """Return a judge's judgments on an aspect."""
        return self._rows.get((judge, aspect), [])

    def hints(self, judge: str, aspect: str) -> Floats:
        """Return the rating that the judge was told of each text, NaN where none."""
        known = {row["target"]: float(row["hint"]) for row in self.of(judge, aspect) if row["hint"]}
        return aligned(known, self.panel.targets)

    def draw(self, judge: str, aspect: str, number: int) -> Floats | None:
        """Return the value of a judge's `number`-th draw of each text, NaN where it has none.

        None: no text was asked about so often.
        """
        rows = [row for row in self._draws.get((judge, aspect), []) if row["draw"] == number]
        values = {row["target"]: row["value"] for row in rows if row["value"] is not None}
        return aligned(values, self.panel.targets) if rows else None

    def polarities(self, judge: str, aspect: str) -> Floats:
        """Return the mean polarity of a judge's reasons for each text, -1 to 1."""
        return self._mean(judge, aspect, self._sentiment)

    def words(self, judge: str, aspect: str) -> Floats:
        """Return the mean number of words of a judge's reasons for each text."""
        return self._mean(judge, aspect, lambda text: len(text.split()))

    def asked(self, judge: str, aspect: str) -> list[Row]:
        """Return the judgments of texts that a judge was asked about."""
        return [row for row in self.of(judge, aspect) if row["status"] != NOT_ASKED]

    def ended(self, judge: str, aspect: str, status: str) -> Floats:
        """Return the share of a judge's draws of each text that ended so."""
        rows = self.asked(judge, aspect)
        return self._means((row["target"], float(row["status"] == status)) for row in rows)

    def _mean(self, judge: str, aspect: str, value: Callable[[str], float]) -> Floats:
        rows = self.of(judge, aspect)
        reasons = (row for row in rows if row["status"] == "ok" and (row["text"] or "").strip())
        return self._means((row["target"], float(value(row["text"]))) for row in reasons)

    def _means(self, values: Iterable[tuple[str, float]]) -> Floats:
        told: dict[str, list[float]] = {}
        for target, value in values:
            told.setdefault(target, []).append(value)
        means = {target: float(np.mean(each)) for target, each in told.items()}
        return aligned(means, self.panel.targets)

    def _sentiment(self, text: str) -> float:
        from textblob import TextBlob  # loads a lexicon of its package, and no corpus

        if text not in self._polarity:
            self._polarity[text] = float(TextBlob(text).sentiment.polarity)
        return self._polarity[text]
