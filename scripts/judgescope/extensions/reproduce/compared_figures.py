"""Published figures beside those of this library, and the outcome of a card."""

from collections.abc import Mapping
from typing import NamedTuple

from judgescope.schema.cards import Publication


class ComparedFigure(NamedTuple):
    """A published figure, and the value that this library computes for it."""

    where: Mapping[str, str]
    """Column -> value, of the row with this figure."""
    published: str
    ours: float | None
    reason: str
    """The accepted reason for a difference, "" if there is none."""
    equal: bool
    row: Mapping[str, object] = {}
    """The row of the study's tables with the computed value, if there is one."""

    @property
    def wrong(self) -> bool:
        """Return whether it differs without a reason."""
        return not (self.equal or self.reason)

    def cells(self) -> list[str]:
        """Return the figure as cells of a table, in the order of HEADS."""
        digits = len(self.published.partition(".")[2])
        ours = "-"
        if self.ours is not None:
            # Two more digits than printed show how close a difference is.
            ours = f"{self.ours:.{digits + 2 if digits else 0}f}"
        equal = "yes" if self.equal else "no"
        why = "" if self.equal else self.reason or "unexplained"
        return [" ".join(self.where.values()), self.published, ours, equal, why]


HEADS = ["figure", "published", "ours", "equal", "why not"]


class CardOutcome(NamedTuple):
    """The outcome of a card's figures."""

    card: Publication
    figures: list[ComparedFigure]
    error: str = ""
    absent: bool = False
    """Whether its data could not be fetched here."""

    @property
    def failed(self) -> bool:
        """Return whether a figure differs without a reason, or could not be
        computed.
        """
        wrong = any(figure.wrong for figure in self.figures)
        return wrong or (bool(self.error) and not self.absent)

    def counts(self) -> list[str]:
        """Return the number of figures, of equal, of explained and of unexplained
        ones.
        """
        equal = sum(figure.equal for figure in self.figures)
        wrong = sum(figure.wrong for figure in self.figures)
        total = len(self.figures)
        return [*map(str, (total, equal, total - equal - wrong, wrong))]
