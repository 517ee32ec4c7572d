"""The path of the workflow, for a Snakefile in a folder of one's own.

from judgescope.paths import SNAKEFILE
include: SNAKEFILE
workflow.default_target = "all"
"""

from judgescope.core.paths import WORKFLOW

SNAKEFILE = str(WORKFLOW / "Snakefile")
"""The workflow's file, for `include:` and for the key `snakefile` of a module."""
