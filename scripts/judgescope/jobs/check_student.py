"""Check that a judge can be trained on this machine, before its teacher is asked about anything."""

from pathlib import Path

from judgescope.core.canonical import canonical
from judgescope.core.files import write_text
from judgescope.distill.specs import CheckStudentSpec
from judgescope.distill.training.base import card_of, opened
from judgescope.distill.training.checks import check_device, checked
from judgescope.distill.training.train import prepare
from judgescope.schema.cards import Recipe
from judgescope.schema.tables import read_table


def main(spec: CheckStudentSpec, *, card: str) -> None:
    """Read the base's configuration, not its weights; write what the training will take."""
    recipe = Recipe.model_construct(**spec.recipe)
    prepare(recipe.device)
    check_device(recipe.device)  # before any download from the hub
    base = opened(card_of(card, spec.model))
    rows = read_table("samples", spec.sample).to_pylist()
    needs = checked(base, recipe, rows, spec.max_tokens)
    Path(spec.output).parent.mkdir(parents=True, exist_ok=True)
    write_text(Path(spec.output), canonical(needs) + "\n")
