"""Reading rated texts: one adapter per format, all with the same checks and the same result."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from judgescope.data.rated import GoldSpan, Item, Output, Rated, Rating

if TYPE_CHECKING:
    from judgescope.schema.cards import Dataset

__all__ = ["ADAPTERS", "GoldSpan", "Item", "Output", "Rated", "Rating", "read_dataset"]

ADAPTERS = {
    "summeval_jsonl": "judgescope.data.summeval",
    "usr_json": "judgescope.data.usr",
    "hanna_csv": "judgescope.data.hanna",
    "unieval_json": "judgescope.data.unieval",
    "sumpubmed_jsonl": "judgescope.data.sumpubmed",
    "story_cloze_csv": "judgescope.data.story_cloze",
    "answer_equivalence_jsonl": "judgescope.data.answer_equivalence",
    "wmt_text": "judgescope.data.wmt",
    "cnn_dailymail": "judgescope.data.cnn_dailymail",
    "samsum": "judgescope.data.samsum",
    "news_commentary": "judgescope.data.news_commentary",
    "webnlg": "judgescope.data.webnlg",
    "dualeval_json": "judgescope.data.dualeval",
    "qags_mturk_jsonl": "judgescope.data.qags",
    "simplicity_da_csv": "judgescope.data.simplicity",
    "rotowire_gsml_csv": "judgescope.data.rotowire",
    "table": "judgescope.data.table",
}
"""Format -> the module whose `read(card, files)` reads it; only a card's own is imported."""


def read_dataset(card: "Dataset", folder: Path, data: Path) -> Rated:
    """Return all items, outputs and ratings of a dataset.

    `folder` is the card's, `data` what `{data}` in its paths stands for. Raises UserErrors with
    every fault of the data, each with file and rows.
    """
    from judgescope.data.files import resolve  # here only: most jobs want a name of ours, no file

    where = str(folder / f"{card.dataset}.yaml")
    files = {role: resolve(card.files, role, folder, data, where=where) for role in card.files}
    adapter = import_module(ADAPTERS[card.format])
    rated: Rated = adapter.read(card, files)
    return rated
