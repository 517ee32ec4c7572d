"""Reading rated texts: one adapter per format, all with the same checks and the same result."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from metajudge.data.rated import GoldSpan, Item, Output, Rated, Rating

if TYPE_CHECKING:
    from metajudge.schema.cards import Dataset

__all__ = ["ADAPTERS", "GoldSpan", "Item", "Output", "Rated", "Rating", "read_dataset"]

ADAPTERS = {
    "summeval_jsonl": "metajudge.data.summeval",
    "usr_json": "metajudge.data.usr",
    "hanna_csv": "metajudge.data.hanna",
    "unieval_json": "metajudge.data.unieval",
    "sumpubmed_jsonl": "metajudge.data.sumpubmed",
    "story_cloze_csv": "metajudge.data.story_cloze",
    "answer_equivalence_jsonl": "metajudge.data.answer_equivalence",
    "wmt_text": "metajudge.data.wmt",
    "cnn_dailymail": "metajudge.data.cnn_dailymail",
    "samsum": "metajudge.data.samsum",
    "news_commentary": "metajudge.data.news_commentary",
    "webnlg": "metajudge.data.webnlg",
    "dualeval_json": "metajudge.data.dualeval",
    "qags_mturk_jsonl": "metajudge.data.qags",
    "simplicity_da_csv": "metajudge.data.simplicity",
    "rotowire_gsml_csv": "metajudge.data.rotowire",
    "table": "metajudge.data.table",
}
"""Format -> the module whose `read(card, files)` reads it; only a card's own is imported."""


def read_dataset(card: "Dataset", folder: Path, data: Path) -> Rated:
    """Return all items, outputs and ratings of a dataset.

    `folder` is the card's, `data` what `{data}` in its paths stands for. Raises UserErrors with
    every fault of the data, each with file and rows.
    """
    from metajudge.data.files import resolve  # here only: most jobs want a name of ours, no file

    where = str(folder / f"{card.dataset}.yaml")
    files = {role: resolve(card.files, role, folder, data, where=where) for role in card.files}
    adapter = import_module(ADAPTERS[card.format])
    rated: Rated = adapter.read(card, files)
    return rated
