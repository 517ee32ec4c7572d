"""Cards of published figures, and of how they are reproduced."""

from typing import Any, Literal, Self, get_args

from pydantic import Field, model_validator

from judgescope.schema.cards.base import Card, Slug

Reason = Literal["error in the paper", "parse rule", "other texts", "other implementation"]
"""Why a figure may differ from what is printed."""
REASONS = get_args(Reason)


class Publication(Card):
    """Figures that are printed somewhere, and the study or the cells from which they follow.

    The figures are in a CSV file beside the card: `published` as printed, `reason` where it is
    known to differ, and the columns that choose a row of the study's tables.
    """

    publication: Slug
    """The id, equal to the file's name."""
    name: str
    """What is reproduced."""
    printed: str
    """Where the figures are printed."""
    figures: str | None = None
    """The CSV file of the figures, beside the card; of `means` their own files have them."""
    tolerance: float = Field(0.5, gt=0)
    """The difference that still is equal, in units of a figure's last decimal; whole numbers are
    exact."""
    study: dict[str, Any] | None = None
    """The keys of the study whose tables have the figures (column `table`)."""
    originals: Slug | None = None
    """The dataset whose originals are counted: characters, words, sentences."""
    means: dict[str, dict[str, list[str]]] = Field({})
    """CSV file of a printed table -> column -> the columns of which it should be the mean."""
    ranks: dict[str, str] = Field({})
    """Column -> the mean that it should rank, the highest first."""
    cells: str | None = None
    """The CSV file of printed cells (perturbation, aspect, human, expected, delta): the sets S_T
    and S_F follow, and the confusion of a judge with these drops."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if sum(map(bool, (self.study, self.originals, self.means, self.cells))) != 1:
            raise ValueError("figures come from one of `study`, `originals`, `means` and `cells`")
        if bool(self.figures) == bool(self.means):
            raise ValueError("`figures` is needed, but not with `means`")
        if any(set(self.ranks.values()) - set(columns) for columns in self.means.values()):
            raise ValueError("`ranks` ranks means of every table")
        return self
