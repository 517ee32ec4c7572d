"""Ask about every pair in both orders; write the better text, and the underlying
replies.
"""

from judgescope.perturb.grading import compare_anchors as run

__all__ = ["run"]
