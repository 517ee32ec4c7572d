"""Write the page of all judgments, and the data that it loads from a folder beside
it.
"""

from judgescope.report.explore import explore as run

__all__ = ["run"]
