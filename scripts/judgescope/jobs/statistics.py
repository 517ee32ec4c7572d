"""Write the rows of one method on a dataset: none where it can use none of the
aspects.
"""

from judgescope.methods.evaluate import statistics as run

__all__ = ["run"]
