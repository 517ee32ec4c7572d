"""Engines, which answer for judges: they compute scores, replay records or send
requests.

The last statement of an engine's module declares it. A job imports only the engine that
it runs, and its code hash covers only that engine's module.
"""

from msgspec import Struct, convert

from judgescope.core.declarations import declarations


class EngineDeclaration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The declaration of an engine; its values are literals.

    The module of an engine that computes or replays has `build(card, inputs)`. The
    result's method `answer(judge, aspect, scale, subjects)` returns `judge.draws`
    answers for every subject, in order; `version(judge)` returns what determines them
    besides the request. The module of an engine that is asked has `build(card)`, which
    returns a `requests.Ask`, and `located(card, folder, data)` if the card names files.
    """

    name: str
    """The value of the key `engine` of a model's card."""
    asked: bool = False
    """Whether it answers requests and its replies are stored; other engines compute or
    replay."""
    reads_prompts: bool = False
    """Whether it reads prompt forms of config/prompts; only such an engine can write
    texts."""


ENGINES: dict[str, str] = {}  # engine -> its module
DECLARED: dict[str, EngineDeclaration] = {}
for module, keywords in declarations("engines", "ENGINE").items():
    declared = convert(keywords, EngineDeclaration)
    ENGINES[declared.name], DECLARED[declared.name] = module, declared
ASKED = tuple(name for name, engine in DECLARED.items() if engine.asked)
PROMPTED = tuple(name for name, engine in DECLARED.items() if engine.reads_prompts)
