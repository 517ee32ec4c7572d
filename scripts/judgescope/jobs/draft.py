"""Ask for a draft until a reply is usable; write it as a part of the card."""

from judgescope.perturb.drafting import draft as run

__all__ = ["run"]
