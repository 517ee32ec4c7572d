"""The judgment of a single reply."""

from judgescope.parsing.judgment import PARSERS, Judgment, Scale
from judgescope.parsing.parsers import NO_SETTINGS, Settings, parsed_by

CARD_RULES: dict[str, Settings] = {
    "pattern": {"pattern": r"rating:\s*(?P<verdict>\S+)"},
    "path": {"path": "rating"},
}
"""Settings of the parsers whose rule is in the judge's card."""


def settings_for(parser: str, number: float = 1.0) -> Settings:
    """Return settings with which a parser works; penalties are this number."""
    return CARD_RULES.get(parser) or dict.fromkeys(PARSERS[parser].settings, number)


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
    return parsed_by(PARSERS[parser], scale=scale, settings=settings, cut=cut)(
        text, finish, reply_status
    )
