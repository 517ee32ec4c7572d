"""The parser of scored texts: it says only whether there are values to average.

The reply is the scored part of the text, not a verdict. The values stand in the log
probabilities of its tokens (`scoring.likelihood`).
"""

from judgescope.parsing.judgment import Judgment, Scale, parser


@parser("likelihood", 1, in_cards=False)
def read_scored_text(text: str, scale: Scale | None) -> Judgment:
    """Return that a text was scored, without a value."""
    return Judgment("ok", "likelihood")
