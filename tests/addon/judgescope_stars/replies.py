"""Ratings as a row of stars."""

from judgescope.parsing.judgment import Judgment, Scale, parser
from judgescope_stars.signs import STAR


@parser("stars", 1)
def read_stars(text: str, scale: Scale | None) -> Judgment:
    """Return the number of stars; a row that the scale does not have has no value."""
    stars = text.count(STAR)
    if not stars:
        return Judgment("unparsed", "no_stars")
    if scale is None:
        return Judgment("ok", "stars", float(stars))
    return scale.read(stars, "stars")
