"""What several tests of report share."""

import re
from html.parser import HTMLParser
from pathlib import Path

from judgescope.report.contents import section_named, sections_of
from judgescope.report.elements import Section
from judgescope.report.page import render
from judgescope.report.report import Report

VOID = {"meta", "link", "br", "hr", "img", "input"}
LOADS = {
    "src",
    "href",
    "xlink:href",
    "srcset",
    "action",
    "data",
    "poster",
    "background",
}


class Page(HTMLParser):
    """A parsed page: its elements in order, and whether every one is closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.texts.append(data)

    @property
    def text(self) -> str:
        """Return what a reader sees, white space normalised."""
        return re.sub("[ \n]+", " ", " ".join(self.texts))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of every such element."""
        return [attributes for name, attributes in self.elements if name == tag]


def on_one_page(report: Report) -> str:
    """Return all sections of a report as one page."""
    return render(report, sections_of(report))


def section_shown(name: str, report: Report) -> Section:
    """Return a section that the report must have."""
    section = section_named(name, report)
    assert section is not None
    return section


def text_of_pages(folder: Path) -> str:
    """Return the pages of a report one after the other: the first, and one for each
    section.
    """
    pages = [folder / "index.html", *sorted((folder / "sections").glob("*.html"))]
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)
