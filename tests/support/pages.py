"""What every page must do in a browser: checks that take any page."""

import importlib.util
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from browser import Browser

ARTEFACTS = Path(
    os.environ.get(
        "JUDGESCOPE_ARTEFACTS", Path(__file__).resolve().parents[1] / "artefacts"
    )
)
"""Where pictures of the pages lie after a run of the tests."""
PHONE, DESKTOP, PAPER = 390, 1280, 1047
VIEWS = {
    "phone": (PHONE, False),
    "phone-dark": (PHONE, True),
    "desktop": (DESKTOP, False),
    "desktop-dark": (DESKTOP, True),
}
"""View -> the width of the window, and whether people like it dark."""
_PACKAGE = importlib.util.find_spec("axe_playwright_python")
_PLACES = _PACKAGE.submodule_search_locations if _PACKAGE else None
AXE = Path(_PLACES[0]) / "axe.min.js" if _PLACES else None
needs_axe = pytest.mark.skipif(
    AXE is None, reason="axe-core is not installed: tests/axe.txt"
)

RUN_AXE = """axe.run({resultTypes: ["violations"]}).then((found) => JSON.stringify(
  found.violations.filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => [one.id, one.nodes.length, one.nodes.slice(0, 3).map((node) => \
node.html)])))"""

STOPS = """(() => {
  const all = "a[href], button, input, select, textarea, summary, [tabindex]";
  const groups = new Set();
  window.stops = [...document.querySelectorAll(all)].filter((one) => {
    if (one.tabIndex < 0 || one.disabled || !one.checkVisibility()) return false;
    if (one.type !== "radio") return true;  // of a group without an answer the first \
is gone to
    return !groups.has(one.name) && groups.add(one.name);
  });
  return stops.length;
})()"""
"""Keep what the tab key has to reach, in the order of the page, and return how many
that are."""

STOP = """(() => {
  const style = getComputedStyle(document.activeElement);
  const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  const at = document.activeElement;
  return [stops.indexOf(at), seen, at.outerHTML.slice(0, 200)];
})()"""


def views(window: Browser, page: Path, name: str) -> Iterator[str]:
    """Open a page in every view, take its picture, and yield the view."""
    for view, (width, dark) in VIEWS.items():
        window.show(width, dark=dark)
        window.open(page)
        window.picture(ARTEFACTS / "pages" / f"{name}-{view}.png")
        yield view


@contextmanager
def paper(window: Browser) -> Iterator[None]:
    """Show pages as they are printed, for somebody who likes windows dark: on A4,
    turned.
    """
    window.show(PAPER, dark=True, media="print")
    try:
        yield
    finally:
        window.show(DESKTOP)


def stands_alone(window: Browser, page: Path) -> None:
    """Check, of the page that is open, that nothing went wrong and nothing else was
    asked for.

    What a page may ask for are the files of the folder of its name.
    """
    assert window.complaints() == []
    first, *others = window.requests()
    assert first == page.as_uri()
    assert all(
        other.startswith(f"{page.with_suffix('').as_uri()}/") for other in others
    ), others


def fits(window: Browser) -> None:
    """Check that the page itself need not be scrolled sideways: what is wide scrolls
    alone.
    """
    over = window.value(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert over <= 0, f"{over} pixels too wide"


def violations(window: Browser) -> list[Any]:
    """Return the rules of accessibility that the open page breaks seriously, by
    axe-core.
    """
    assert AXE is not None
    window.value(f"{AXE.read_text(encoding='utf-8')}; 0")
    result = window.send(
        "Runtime.evaluate", expression=RUN_AXE, awaitPromise=True, returnByValue=True
    )
    content: list[Any] = json.loads(result["result"]["value"])
    return content


def walked(window: Browser) -> int:
    """Check that the tab key goes to every control, in order, visibly; return how
    many.
    """
    number: int = window.value(STOPS)
    for at in range(number):
        window.press("Tab")
        location, seen, what = window.value(STOP)
        assert location == at and seen, (at, location, seen, what)
    return number
