"""Read references, choose those that get errors, make one part of the candidates."""

from judgescope.perturb.candidates import candidates as run

__all__ = ["run"]
