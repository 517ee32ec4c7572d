"""Self-contained HTML pages: how their templates are filled, and their security
policy.
"""

import base64
import hashlib
import re
from collections.abc import Iterable

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from judgescope.core.errors import coded
from judgescope.core.paths import WORKFLOW

POLICY = "@policy@"
"""Stands in a template for its content security policy."""
CLOSED = ("default-src 'none'", "base-uri 'none'", "form-action 'none'")
_STYLE = re.compile(r"<style>(.*?)</style>", re.S)


def environment_of(folder: str) -> Environment:
    """Return the environment for the templates of a folder of the workflow and the base
    of all.

    All values are escaped.
    """
    return Environment(
        loader=FileSystemLoader([WORKFLOW / folder, WORKFLOW]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def page_from(
    template: Template,
    styles: Iterable[str] = (),
    scripts: Iterable[str] = (),
    **values: object,
) -> str:
    """Return a page with these style sheets and scripts, files of the workflow.

    The template has their texts as `style` and `script`, and the hash of each.
    """
    for name, files in {"style": styles, "script": scripts}.items():
        text = "".join((WORKFLOW / file).read_text(encoding="utf-8") for file in files)
        if name == "style":
            text = compact(text)
        values |= {name: Markup(text), f"{name}_hash": script_hash(text)}
    return finished(template.render(values), str(values["script"]))


def compact(style: str) -> str:
    """Return a style sheet without comments and needless white space.

    >>> compact("a { color: red; } /* no */ b { margin: 0 1px; }")
    'a{color: red}b{margin: 0 1px}'
    """
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.S)
    style = re.sub(r"\s+", " ", style)
    return re.sub(r" ?([{};]) ?", r"\1", style).replace(";}", "}").strip()


def script_hash(script: str) -> str:
    """Return the hash by which a page's policy allows its one script, or its style."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def finished(page: str, script: str = "") -> str:
    """Return a filled page with a policy for the style in its head and its `script`.

    Characters that it cannot hold are shown as codes. Even if something in it were
    markup, no browser would load, run or send anything.
    """
    page = coded(page)
    script = coded(script)
    styles = _STYLE.findall(page.partition("<body>")[0])[:1]
    sources = [f"style-src 'sha256-{script_hash(style)}'" for style in styles]
    sources += [f"script-src 'sha256-{script_hash(script)}'"] if script else []
    return page.replace(POLICY, "; ".join([*CLOSED, *sources]), 1)
