"""Read ratings and a judge's draws; write the anchors: `per_rating` texts of each
rating.
"""

from judgescope.scoring.anchors import anchors as run

__all__ = ["run"]
