"""Read the texts of one role and aspect; write the targets, and the ratings if they
have any.
"""

from judgescope.data.dualeval import take as run

__all__ = ["run"]
