"""The gallery of the documentation: reports of shipped data, and pictures of them.

    make gallery                    # runs the studies, copies reports, takes pictures
    scripts/gallery.py --built      # copies the reports of studies that have run
    scripts/gallery.py --links      # checks the links of the site in build/site

Reports lie in build/gallery/<name>; `make docs` takes what is there into the site. A
copy leaves out the explorer with its texts, controls' pages and what makes it too
large: links to these become text.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote

import judgescope

HOME = Path(__file__).resolve().parents[1]
GALLERY = HOME / "build" / "gallery"
PICTURES = HOME / "docs" / "pictures"
SITE = HOME / "build" / "site"
MOST_BYTES = 1_000_000
"""How large the copy of a report may be."""
PICTURE_SIZE = (1280, 800)
"""The window of which a picture is taken, at half its size."""
BROWSERS = ("chromium", "chromium-browser", "chrome")
_HREF = re.compile(r'href="([^"]*)"')
_LINK = re.compile(r'<a\b[^>]*\bhref="([^"]*)"[^>]*>(.*?)</a>', re.S)


@dataclass(frozen=True)
class GalleryReport:
    """A report of the gallery: its study, and the page that its picture shows.

    card: the study's card, or a program that writes the study into `folder`.
    """

    name: str
    study: str
    card: str
    page: str = "index.html"
    folder: Path = HOME
    height: int = PICTURE_SIZE[1]
    """Pixels of the page that the picture shows."""

    @property
    def report(self) -> Path:
        """The folder of the study's report."""
        return self.folder / "results" / self.study / "report"


REPORTS = (
    GalleryReport("ratings", "demo-people", "config/studies/demo-people.yaml"),
    GalleryReport("labels", "labels", "config/studies/labels.yaml"),
    GalleryReport("pairs", "preferences", "config/studies/preferences.yaml"),
    GalleryReport("perturbations", "demo", "config/config.yaml"),
    GalleryReport(
        "confusion",
        "demo-confusion",
        "config/studies/demo-confusion.yaml",
        "sections/confusion.html",
    ),
    GalleryReport("live", "demo-llm", "config/studies/demo-llm.yaml"),
    GalleryReport(
        "confidence",
        "planted-confidence",
        "scripts/gallery_planted.py",
        "sections/confidence.html",
        HOME / "build" / "planted-confidence",
        height=1460,
    ),
)


def run(report: GalleryReport) -> None:
    """Run a study, as far as its results are not there."""
    card = report.card
    if report.folder != HOME:
        subprocess.run([sys.executable, HOME / card, report.folder], check=True)
        card = "study.yaml"
    command = [sys.executable, "-m", "judgescope", "run", card]
    subprocess.run(command, cwd=report.folder, check=True)


def copy(report: GalleryReport) -> int:
    """Copy the pages of a report into the gallery; return their size in bytes."""
    target = GALLERY / report.name
    shutil.rmtree(target, ignore_errors=True)
    chosen: dict[Path, int] = {}
    size = 0
    for page in _by_importance(report):
        bytes_of = page.stat().st_size
        if size + bytes_of <= MOST_BYTES:
            chosen[page.relative_to(report.report)] = bytes_of
            size += bytes_of
    for page in chosen:
        text = (report.report / page).read_text(encoding="utf-8")
        path = target / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_without_lost_links(text, page, chosen), encoding="utf-8")
    return size


def _by_importance(report: GalleryReport) -> Iterator[Path]:
    """Yield the first page, the pictured one, then sections and judges, small first."""
    first = [report.report / "index.html", report.report / report.page]
    yield from dict.fromkeys(first)
    others = [
        *(report.report / "sections").glob("*.html"),
        *(report.report / "judges").glob("*.html"),
    ]
    others.sort(key=lambda page: (page.stat().st_size, page.name))
    yield from (page for page in others if page not in first)


def _without_lost_links(text: str, page: Path, kept: Collection[Path]) -> str:
    """Return a page in which links to pages that are not copied are text."""

    def shown(link: re.Match[str]) -> str:
        file = unescape(link[1]).partition("#")[0]
        if not file:
            return link[0]
        target = (HOME / page.parent / file).resolve().relative_to(HOME)
        return link[0] if target in kept else f"<span>{link[2]}</span>"

    return _LINK.sub(shown, text)


def picture(page: Path, file: Path, height: int = PICTURE_SIZE[1]) -> bool:
    """Take a picture of the first screen of a page; False without a browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    width = PICTURE_SIZE[0]
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    options += ["--force-device-scale-factor=0.5", f"--window-size={width},{height}"]
    command = [browser, *options, f"--screenshot={file}", page.absolute().as_uri()]
    subprocess.run(command, check=True, capture_output=True)
    return True


def pages_of_boxes() -> Iterator[tuple[str, Path]]:
    """Yield the name of each picture of the index that no report has, and its page."""
    folder = HOME / "build" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    table = "config/demo/hanna.csv"
    raters = ",".join(f"relevance_rater_{number}" for number in (1, 2, 3))
    told = [table, "--length", "words", "--human", f"relevance={raters}"]
    page = folder / "audit.html"
    _judgescope("audit", *told, "--html", str(page))
    yield "audit", page

    by_name = {report.name: report for report in REPORTS}
    yield "report", by_name["perturbations"].report / "index.html"
    yield "model", by_name["live"].report / "judges" / "smollm2.html"

    said = _judgescope("audit", *told, "-q", "--require", "spearman=.5")
    command = "$ judgescope audit stories.csv --require spearman=.5"
    page = folder / "ci.html"
    page.write_text(_page_of("In CI", f"{command}\n\n{said}"), encoding="utf-8")
    yield "ci", page

    found = judgescope.audit(
        HOME / table, length="words", human={"relevance": raters.split(",")}
    )
    shown = found.verdicts[["judge", "outcome", "value", "rival", "rival_value"]]
    code = 'import judgescope as js\n\nfound = js.audit("stories.csv", length="words")'
    cells = f"[1]: {code}\n     found.verdicts\n\n{shown.to_string(index=False)}"
    page = folder / "notebook.html"
    page.write_text(_page_of("In a notebook", cells), encoding="utf-8")
    yield "notebook", page

    reproduced = SITE / "reproduced.html"
    if reproduced.exists():
        yield "reproduce", reproduced


def _judgescope(*arguments: str) -> str:
    """Return what a command prints; a missed bar is no error here."""
    command = [sys.executable, "-m", "judgescope", *arguments]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(done.stderr)
    return done.stdout


def _page_of(title: str, text: str) -> str:
    """Return a page that shows text as a terminal does."""
    style = (
        "body{margin:0;padding:36px 44px;background:#fcfbf8;color:#1e2227;"
        "font:24px/1.5 ui-monospace,Menlo,Consolas,monospace;white-space:pre-wrap}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<style>{style}</style><body>{escape(text)}</body></html>"
    )


def copy_what_the_leaderboard_names(site: Path) -> None:
    """Copy cards and the table of figures to where the page's links lead in the site.

    Sphinx puts the page itself into a folder of its downloads.
    """
    page = HOME / "docs" / "leaderboard" / "index.html"
    for copied in sorted(site.glob("_downloads/*/index.html")):
        if copied.read_bytes() != page.read_bytes():
            continue
        for path in _paths_within(page):
            file = (page.parent / path).resolve()
            target = (copied.parent / path).resolve()
            if file.is_file() and target.is_relative_to(site.resolve()):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)


def _paths_within(page: Path) -> Iterator[str]:
    """Yield the paths of a page's links, without those to other hosts."""
    for link in _HREF.findall(page.read_text(encoding="utf-8")):
        path = unquote(unescape(link)).partition("#")[0].partition("?")[0]
        outward = re.match(r"[a-z][a-z+.-]*:|//", path)
        if path and not outward:
            yield path


def broken_links(site: Path) -> list[str]:
    """Return the links within a site that lead to no file of it, as `page: path`."""
    broken = []
    for page in sorted(site.rglob("*.html")):
        for path in _paths_within(page):
            if not (page.parent / path).exists():
                broken.append(f"{page.relative_to(site)}: {path}")
    return broken


def main() -> int:
    """Run the studies of the gallery and copy their reports, or check the site."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--built", action="store_true", help="run no study")
    parser.add_argument("--links", action="store_true", help="check the site's links")
    args = parser.parse_args()
    if args.links:
        copy_what_the_leaderboard_names(SITE)
        broken = broken_links(SITE)
        print("\n".join(broken) or "all links of the site lead to files of it")
        return int(bool(broken))
    for report in REPORTS:
        if not args.built:
            run(report)
        if not (report.report / "index.html").exists():
            print(f"{report.name}: not built")
            shutil.rmtree(GALLERY / report.name, ignore_errors=True)
            continue
        size = copy(report)
        print(f"{report.name}: {size / 1000:.0f} kB of {report.report}")
        if args.built:
            continue
        shown = report.report / report.page
        if not picture(shown, PICTURES / f"{report.name}.webp", report.height):
            print("  no browser: its picture stays as it was", file=sys.stderr)
    if not args.built:
        for name, page in pages_of_boxes():
            picture(page, PICTURES / f"{name}.webp")
    return 0


if __name__ == "__main__":
    sys.exit(main())
