"""The documentation as a site: `make docs` builds it into build/site with Sphinx and
MyST.
"""

from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
GALLERY = HOME / "build" / "gallery"

project = "Judgescope"
copyright = "The Judgescope authors, MIT licence"
extensions = ["myst_parser"]
root_doc = "index"
html_theme = "furo"
html_title = "Judgescope"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sphinx = False
# One palette for code: the theme's second one, for dark windows, has low contrast.
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 3
exclude_patterns = ["licences"]
suppress_warnings = [
    "myst.xref_missing"
]  # links to files that are not pages; a test checks them
CONTENTS = """
```{toctree}
:hidden:
:titlesonly:

install
tutorial
tutorials
reading
gallery
README
```

```{toctree}
:hidden:
:glob:
:titlesonly:

guide/*
export
```

```{toctree}
:hidden:
:glob:
:titlesonly:

methods
reference/*
glossary
why
*
```
"""


def add_contents(app: object, page: str, source: list[str]) -> None:
    """Add the table of contents to the index, where a reader of the file would see its
    source, and the links to those reports of the gallery that are built.
    """
    if page == root_doc:
        source[0] += CONTENTS
    if page == "gallery":
        for report in sorted(GALLERY.glob("*/index.html")):
            name = report.parent.name
            picture = f"](pictures/{name}.webp)"
            link = f'<p><a href="gallery/{name}/index.html">Open the report</a></p>'
            source[0] = source[0].replace(picture, f"{picture}\n\n{link}\n")


def copy_gallery(app, failed: Exception | None) -> None:  # type: ignore[no-untyped-def]
    """Put the reports of the gallery into the site."""
    if failed is None and GALLERY.exists():
        import shutil

        target = Path(app.outdir) / "gallery"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(GALLERY, target)


def setup(app) -> None:  # type: ignore[no-untyped-def]
    """Connect what changes sources and what follows the build."""
    app.connect("source-read", add_contents)
    app.connect("build-finished", copy_gallery)
