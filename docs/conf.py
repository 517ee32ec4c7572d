"""The documentation as a site: `make docs` builds it into build/site with Sphinx and
MyST."""

project = "Judgescope"
copyright = "The Judgescope authors, MIT licence"
extensions = ["myst_parser"]
root_doc = "README"
html_theme = "furo"
html_title = "Judgescope"
myst_heading_anchors = 3
exclude_patterns = ["licences"]
suppress_warnings = [
    "myst.xref_missing"
]  # links to files that are not pages; a test checks them
CONTENTS = """
```{toctree}
:hidden:
:glob:
:titlesonly:

tutorial
reading
guide/*
export
methods
reference/*
glossary
why
*
```
"""


def add_contents(app: object, page: str, source: list[str]) -> None:
    """Add the table of contents to the index, where a reader of the file would see its
    source."""
    if page == root_doc:
        source[0] += CONTENTS


def setup(app) -> None:  # type: ignore[no-untyped-def]
    """Connect `add_contents`."""
    app.connect("source-read", add_contents)
