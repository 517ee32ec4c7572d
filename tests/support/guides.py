"""The YAML cards that the guides show, each in a fence that begins with its file
name.
"""

import re
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
CARD = re.compile(
    r"^```yaml\n# (config/\S+\.yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


def cards_of(guide: str) -> dict[str, str]:
    """Return file name -> YAML of the cards that docs/guide/<guide>.md shows."""
    text = (HOME / "docs" / "guide" / f"{guide}.md").read_text(encoding="utf-8")
    return dict(CARD.findall(text))
