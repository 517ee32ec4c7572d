"""The documentation as a site: its first page, its gallery, and who can read it."""

import re
import sys
from pathlib import Path

import pytest

import pages
from browser import browser, needs_browser
from running import HOME

sys.path.insert(0, str(HOME / "scripts"))
import gallery

SITE = HOME / "build" / "site"
built = pytest.mark.skipif(
    not (SITE / "index.html").exists(), reason="`make docs` has not built the site"
)
SHOWN = ("index", "gallery", "reference/python", "guide/audit", "README")
"""Pages of each kind: boxes, pictures, generated reference, a guide, long tables."""


@pytest.mark.parametrize(("page", "shown"), [("index", 6), ("gallery", 7)])
def test_every_picture_exists_and_has_a_text(page: str, shown: int) -> None:
    text = (HOME / "docs" / f"{page}.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[([^\]]*)\]\((pictures/[^)]*)\)", text)
    assert len(pictures) == shown
    for words, file in pictures:
        assert len(words.split()) >= 5
        assert 5_000 < (HOME / "docs" / file).stat().st_size < 60_000


def test_the_gallery_names_the_study_of_each_report() -> None:
    text = (HOME / "docs" / "gallery.md").read_text(encoding="utf-8")
    for report in gallery.REPORTS:
        assert (HOME / report.card).exists()
        assert f"pictures/{report.name}.webp" in text
        assert report.card in text or report.name == "live"


def test_a_copy_of_a_report_has_no_link_to_what_is_left_out(tmp_path: Path) -> None:
    text = '<a href="../index.html">all</a> <a href="../explore.html#x">replies</a>'
    page = Path("judges/it.html")
    kept = {page, Path("index.html")}
    shown = gallery._without_lost_links(text, page, kept)
    assert shown == '<a href="../index.html">all</a> <span>replies</span>'
    (tmp_path / "judges").mkdir()
    (tmp_path / page).write_text(text, encoding="utf-8")
    assert len(gallery.broken_links(tmp_path)) == 2


@built
def test_every_link_of_the_site_leads_to_a_file() -> None:
    assert gallery.broken_links(SITE) == []


@built
@needs_browser
@pytest.mark.heavy
@pages.needs_axe
@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=pytest.mark.long(20))])
def test_the_site_can_be_read_by_all_on_every_device(tmp_path: Path, turn: int) -> None:
    """Pages take turns on a phone and a desktop: each is read on one of them."""
    devices = ((pages.PHONE, False), (pages.DESKTOP, True))
    with browser(tmp_path / "browser") as window:
        for number, page in enumerate(SHOWN):
            width, dark = devices[(number + turn) % 2]
            window.show(width, dark=dark)
            window.open(SITE / f"{page}.html")
            pages.fits(window)
            assert pages.violations(window) == [], (page, width)
