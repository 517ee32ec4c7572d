"""Engines: what answers for a judge, by computing, by replaying records, or by being asked.

The last statement of an engine's module declares it. A job imports only the engine that it runs,
and only that module is in its code hash.
"""

from msgspec import Struct, convert

from judgescope.core.declarations import declarations


class EngineDeclaration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An engine. Values are literals.

    The module of an engine that is not asked has `build(card, inputs)`, which returns a
    `base.Engine`. The module of one that is asked has `build(card)`, which returns a
    `requests.Ask`; if its card names files, also `located(card, folder, data)`.
    """

    name: str
    """The value of the key `engine` of a model's card."""
    asked: bool = False
    """Whether it answers requests, whose replies are stored; all others compute or replay."""
    reads_prompts: bool = False
    """Whether it judges by a form of config/prompts, and can write texts."""


ENGINES: dict[str, str] = {}  # engine -> its module
DECLARED: dict[str, EngineDeclaration] = {}
for module, keywords in declarations("engines", "ENGINE").items():
    declared = convert(keywords, EngineDeclaration)
    ENGINES[declared.name], DECLARED[declared.name] = module, declared
ASKED = tuple(name for name, engine in DECLARED.items() if engine.asked)
PROMPTED = tuple(name for name, engine in DECLARED.items() if engine.reads_prompts)
