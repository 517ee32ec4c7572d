"""Check that a model can write texts."""

from judgescope.core.errors import UserError
from judgescope.schema import cards
from judgescope.schema.cards.engines import ENGINES, prompted_engines


def check_writer(model: cards.Model, where: str) -> None:
    """Check that a model reads prompts, so that it can write."""
    engine = ENGINES[model.engine]
    if not engine.reads_prompts or engine.decides:
        raise UserError(
            "this model cannot write texts",
            where=where,
            got=f"{model.model} (engine {model.engine})",
            allowed=f"a model of engine {' or '.join(prompted_engines())}",
        )
