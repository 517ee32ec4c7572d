"""The registry of methods, read from what their modules declare."""

from msgspec import convert

from judgescope.core.declarations import declarations
from judgescope.methods.base import Method

METHODS = {
    module.rpartition(".")[2]: convert(keywords, Method)
    for module, keywords in declarations("methods", "METHOD").items()
}
"""Result table -> what its module declares."""
