"""Perturbed texts that come with the data: what they need, whatever their format.

Edits are computed from the texts; rules and checks of perturbations do not apply.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from judgescope.core.errors import check_known
from judgescope.data.draft import Draft, FilesByRole, RowFault
from judgescope.data.rated import PerturbedText
from judgescope.data.wording import ROW_PER_TEXT, Location, counted
from judgescope.schema.cards import FORMATS, Dataset


class PairsDraft:
    """Adds items and their perturbed texts to a draft, row by row."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.texts = list[PerturbedText]()
        """The texts of the perturbations that the card names."""
        self.known: dict[str, str] = {}
        """Name in the data -> perturbation."""
        for key, described in draft.card.perturbed.items():
            self.known[described.named or key] = key
        self._originals: dict[str, tuple[object, Location]] = {}
        self._seen: dict[tuple[str, str, str], tuple[str, Location]] = {}
        self._others = Counter[str]()

    def item(
        self, name: object, source: Sequence[tuple[str, object]], original: object
    ) -> str:
        """Add the item of a row with its original; return its name in the data.

        Raises UserError if an earlier row of the item has another original.
        """
        draft = self.draft
        key = draft.name(name, "item")
        first, at = self._originals.setdefault(key, (original, draft.location))
        if first != original:
            raise RowFault(
                f"rows of the same item differ in their original (row {at.row})",
                got=key,
                todo="give rows with different originals different items",
            )
        return draft.item(key, source, [original])

    def perturbed(
        self, item: str, perturbation: object, degree: object, text: object
    ) -> None:
        """Add a perturbed text; those of perturbations that the card does not name are
        counted.

        Raises UserError for an unknown degree, and for a second text of an item in the
        same degree.
        """
        draft = self.draft
        name = draft.name(perturbation, "perturbation")
        if name not in self.known:
            self._others[name] += 1
            return
        described = draft.card.perturbed[self.known[name]]
        dose = ""
        if described.degrees:
            dose = draft.name(degree, "degree")
        if described.degrees:
            check_known([dose], described.degrees, "unknown degree", where="")
        kept = draft.text(text, "perturbed text")
        known, at = self._seen.setdefault((item, name, dose), (kept, draft.location))
        if at != draft.location:
            what = "twice" if known == kept else "with different texts"
            raise RowFault(
                f"an item has the same perturbation and degree {what} (row {at.row})",
                got=", ".join(filter(None, [item, name, dose])),
                todo=f"{ROW_PER_TEXT}, or map `columns.degree`",
            )
        self.texts.append(PerturbedText(item, name, dose, kept))

    def note(self, files: Iterable[tuple[Path, object]]) -> None:
        """Note texts of other perturbations; perturbations without texts are faults."""
        if self._others:
            named = ", ".join(sorted(self._others))
            self.draft.notes.append(
                f"{counted(self._others.total(), 'text')} of perturbations that the "
                f"card does not name: {named}"
            )
        with_texts = {text.perturbation for text in self.texts}
        for name, key in self.known.items():
            if name in with_texts:
                continue
            path, _ = next(iter(files))
            with self.draft.reading(path, 0):
                raise RowFault(
                    f"the data has no text of the perturbation {key}",
                    got=name,
                    allowed=[*with_texts, *self._others],
                    todo=f"set `as` in the card's perturbed.{key}, or remove it",
                )


def perturbed_texts(
    card: Dataset, files: FilesByRole, part: str
) -> list[PerturbedText]:
    """Return the perturbed texts of a dataset; raises UserErrors with all faults."""
    read = FORMATS[card.format].pairs
    assert read is not None  # the card's own check
    draft = Draft(card, part)
    texts: list[PerturbedText] = read(draft, files)
    draft.check()
    return texts
