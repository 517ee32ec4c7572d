"""Ask about every text in which a contributing member found an error; write the
replies.
"""

from judgescope.scoring.supervising import merge as run

__all__ = ["run"]
