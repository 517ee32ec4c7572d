"""The distance between ratings."""

from judgescope.statistics.declared import amount, declare

DECLARED = declare(
    "distance", star_distance=amount("Distance in stars", "mean of |judge - people|")
)
