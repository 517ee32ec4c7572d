"""Join the sample with the teacher's judgments; write one example per line, and
counts.
"""

from judgescope.extensions.distill.examples import export_distill as run

__all__ = ["run"]
