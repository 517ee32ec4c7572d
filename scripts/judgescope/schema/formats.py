"""The formats of datasets: what a module of `data` declares at its end, and the registry."""

from typing import Literal

from msgspec import Struct, convert

from judgescope.core.declarations import declarations


class Format(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A format: its module has `read(card, files)`. Values are literals."""

    name: str
    """The value of the key `format` of a dataset's card."""
    roles: tuple[str, ...] = ("data",)
    """The roles of files that it needs."""
    optional: tuple[str, ...] = ()
    """The roles that it may have too."""
    any_role: bool = False
    """Whether files of any role are parts of the data."""
    gives: Literal["systems", "originals", "texts", "spans"] = "systems"
    """Texts of systems, originals only, texts of known quality, or texts with marked errors."""
    meta: tuple[str, ...] = ()
    """The keys of the items' `meta`, for formats that give originals only."""
    joins: tuple[str, ...] | None = None
    """The roles that are needed to join segments; None: they cannot be joined."""
    has_texts: bool = True


MODULES: dict[str, str] = {}
"""Format -> the module that reads it; only that of a card is imported."""
FORMATS: dict[str, Format] = {}
for module, keywords in declarations("data", "FORMAT").items():
    declared = convert(keywords, Format)
    MODULES[declared.name], FORMATS[declared.name] = module, declared
