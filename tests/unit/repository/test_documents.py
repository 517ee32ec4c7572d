"""The documents: links lead somewhere, pages keep their size, cards that they show are
valid.
"""

import re
from pathlib import Path

import pytest

from guides import cards_of
from judgescope.core.paths import HOME
from judgescope.schema.loading import adapter, load_yaml

GUIDES = sorted(HOME.glob("docs/guide/*.md"))
PAGES = [
    HOME / "README.md",
    HOME / "config" / "README.md",
    *sorted(HOME.glob("docs/**/*.md")),
]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def named(path: Path) -> str:
    return str(path.relative_to(HOME))


def anchors(page: Path) -> set[str]:
    """Return the anchors that a page's headings have on the web."""
    headings = re.findall(
        r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE
    )
    return {
        re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
        for text in headings
    }


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    broken = []
    for link in LINK.findall(text):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert not broken


def test_the_index_names_every_guide_and_reference() -> None:
    index = (HOME / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [*GUIDES, *HOME.glob("docs/reference/*.md"), *HOME.glob("docs/*.md")]
    links = {
        (HOME / "docs" / link.partition("#")[0]).resolve()
        for link in LINK.findall(index)
    }
    assert {named(page) for page in pages if page not in links} == {"docs/README.md"}


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guide_has_no_more_than_150_lines_and_a_single_title(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert len(re.findall(r"^# ", FENCE.sub("", text), re.MULTILINE)) == 1


def test_the_readme_has_no_more_than_120_lines() -> None:
    assert len((HOME / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_every_file_that_the_architecture_page_names_exists() -> None:
    page = (HOME / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 150
    files = re.findall(r"`((?:[\w.]+/)+[\w.]*)`", page)
    folders = (HOME, HOME / "scripts" / "judgescope")
    absent = [
        file
        for file in files
        if not any((folder / file).exists() for folder in folders)
    ]
    assert len(files) >= 25 and not absent


def test_code_refers_to_the_methods_page_by_headings_that_it_has() -> None:
    page = (HOME / "docs" / "methods.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^#+ (?:[\d.]+ )?(.+)$", page, re.MULTILINE))
    cited = set()
    for folder in ("scripts", "tests", "benchmarks"):
        for path in (HOME / folder).rglob("*.py"):
            prose = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
            cited |= set(re.findall(r'docs/methods\.md, "([^"]+)"', prose))
            assert not re.search(r"(?i)methods\.md,? (section )?\d", prose), path
    assert cited
    assert cited <= headings


def test_a_link_that_leads_nowhere_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Some title, here\n\n[x](#some-title-here)\n", encoding="utf-8")
    assert anchors(page) == {"some-title-here"}


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_the_cards_of_a_guide_are_valid(guide: Path, tmp_path: Path) -> None:
    for name, text in cards_of(guide.stem).items():
        kind = {"studies": "study"}.get(Path(name).parent.name) or Path(
            name
        ).parent.name[:-1]
        if kind == "model" and not text.startswith("model:"):
            continue
        card = tmp_path / Path(name).name
        card.write_text(text, encoding="utf-8")
        adapter(kind).validate_python(load_yaml(card)[0])
