"""Write a sample of the perturbed texts, with the replies behind those that a model
made.
"""

from judgescope.report.spotcheck import spotcheck as run

__all__ = ["run"]
