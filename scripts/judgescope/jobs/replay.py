"""Write the recorded replies of all cells of a model in the format of requested
replies.
"""

from judgescope.scoring.computed import replay as run

__all__ = ["run"]
