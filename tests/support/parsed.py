"""The judgment of a single reply."""

from judgescope.parsing.judgment import Judgment, Scale
from judgescope.parsing.parsers import NO_SETTINGS, Settings, parsed_by


def parse(
    text: str | None,
    *,
    scale: Scale | None,
    finish: str | None,
    parser: str = "score",
    reply_status: str = "ok",
    settings: Settings = NO_SETTINGS,
    cut: bool = False,
) -> Judgment:
    """Return the judgment of one reply; see `parsed_by`."""
    return parsed_by(parser, scale=scale, settings=settings, cut=cut)(
        text, finish, reply_status
    )
