"""The registry of engines, which answer for judges: they compute scores, replay records
or send requests.

A job imports only the engine that it runs, and its code hash covers only the modules
that this engine can import.
"""

from collections.abc import Callable
from typing import Any, Final, Literal

from msgspec import Struct

from judgescope.core.registry import Registry
from judgescope.schema.cards.models import ModelCard

Executor = Literal["api", "gpu", "cpu"]
"""Where a model answers: behind an endpoint, loaded by the job, or in the job's own
process."""


class Engine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An engine."""

    name: str
    """The value of the key `engine` of a model's card."""
    card: type[ModelCard]
    """The type of the card of its models."""
    build: Callable[..., Any]
    """`build(card, inputs)` of an engine that computes or replays: the result's method
    `answer(judge, aspect, scale, subjects)` returns `judge.draws` answers for every
    subject, in order; `version(judge)` returns what determines them besides the
    request. `build(card)` of an engine that is asked returns a `requests.Ask`."""
    located: Callable[..., Any] | None = None
    """`located(card, folder, data)` of an engine that is asked: the card with the paths
    of its files."""
    completed: Callable[..., Any] | None = None
    """`completed(card, folder, data)`: the card with what its files say of it, which
    planning needs."""
    executor: Executor = "cpu"
    """Where its models answer; it chooses the rule and the limits of their jobs."""
    asked: bool = False
    """Whether it answers requests and its replies are stored; other engines compute or
    replay."""
    reads_ratings: bool = False
    """Whether it computes from people's ratings and choices."""
    forms: tuple[str, ...] = ()
    """The forms that its judges can name; (): any."""
    reads_prompts: bool = False
    """Whether it reads prompt forms of config/prompts; only such an engine can write
    texts."""
    decides: bool = False
    """Whether it answers typed questions with probabilities and writes no text."""
    parser: str = ""
    """The parser of its judges whose cards name none; "": `score` for replies, `number`
    for values."""
    compares_forms: bool = False
    """Whether one model may answer several prompt forms, which the report compares:
    its judges are a model that reads a form, now or when it was recorded."""
    scores_texts: bool = False
    """Whether it says how probable a given text is after a prompt (the estimators
    likelihood and pmi)."""


ENGINES: Final = Registry("engines", Engine, "judgescope.engines")


def prompted_engines() -> list[str]:
    """Return the names of the engines that read prompt forms and write replies."""
    return [
        name
        for name, each in ENGINES.working().items()
        if each.reads_prompts and not each.decides
    ]
