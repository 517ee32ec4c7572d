"""Reading rated texts: one adapter per format, all with the same checks and the same result."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from judgescope.data.rated import GoldSpan, Item, Output, Rated, Rating
from judgescope.schema.cards import MODULES

if TYPE_CHECKING:
    from judgescope.schema.cards import Dataset

__all__ = ["GoldSpan", "Item", "Output", "Rated", "Rating", "read_dataset"]


def read_dataset(card: "Dataset", folder: Path, data: Path) -> Rated:
    """Return all items, outputs and ratings of a dataset.

    `folder` is the card's, `data` what `{data}` in its paths stands for. Raises UserErrors with
    every fault of the data, each with file and rows.
    """
    from judgescope.data.files import resolve  # imported here, because most jobs read no files

    where = str(folder / f"{card.dataset}.yaml")
    files = {role: resolve(card.files, role, folder, data, where=where) for role in card.files}
    adapter = import_module(MODULES[card.format])
    rated: Rated = adapter.read(card, files)
    return rated
