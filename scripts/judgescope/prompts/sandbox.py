"""The sandbox in which templates of prompts run, with limits on time and memory.

Only what parses or fills a template imports this module, because Jinja takes long to
import.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from jinja2 import meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from judgescope.core.process_limits import Clock, bounded_memory

CLOCK = Clock()


class _Timed:
    """An iterator that stops at the time limit; not a generator, as closing one takes
    memory.
    """

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = iter(items)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        CLOCK.tick()
        return next(self._items)


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of templates, which have no side effects, no access and a time
    limit.

    Every step of a loop and every call checks the time.
    """

    intercepted_binops = frozenset({"**"})
    each = "for each"
    """The filter around the items of a loop; templates cannot use this name."""
    most_digits = 10_000
    """The maximum length of a number that a template computes."""

    def __init__(self, **settings: Any) -> None:
        """Remove random functions: a prompt is part of its request's key."""
        super().__init__(**settings)
        del self.globals["lipsum"], self.filters["random"]
        self.filters[self.each] = _Timed

    def _generate(self, source: nodes.Template, *names: Any, **settings: Any) -> str:
        """Return the code of a template, with a time check in each loop."""
        for loop in source.find_all(nodes.For):
            loop.iter = nodes.Filter(
                loop.iter, self.each, [], [], None, None, lineno=loop.lineno
            )
        return super()._generate(source, *names, **settings)

    def call(self, *args: Any, **named: Any) -> Any:
        """Call a function for a template, if there is time left."""
        CLOCK.tick()
        return super().call(*args, **named)

    def call_filter(self, *args: Any, **named: Any) -> Any:
        """Apply a filter to an item of a sequence, if there is time left."""
        CLOCK.tick()
        return super().call_filter(*args, **named)

    def call_test(self, *args: Any, **named: Any) -> Any:
        """Apply a test to an item of a sequence, if there is time left."""
        CLOCK.tick()
        return super().call_test(*args, **named)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Return a power; raise OverflowError if it has too many digits."""
        if abs(right) * len(str(left)) > self.most_digits:
            raise OverflowError("a power is too large")
        return super().call_binop(context, operator, left, right)


def parsed(template: str) -> nodes.Template:
    """Return the syntax tree of a template; raises jinja2's TemplateSyntaxError."""
    return Sandbox().parse(template)


def undeclared(tree: nodes.Template) -> set[str]:
    """Return the names that a template needs; OverflowError for too large constants.

    Jinja compiles a template to find them, and computes its constants.
    """
    with bounded_memory():
        return meta.find_undeclared_variables(tree)
