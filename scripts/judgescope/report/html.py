"""Self-contained HTML pages: how their templates are filled, and their security policy."""

import base64
import hashlib
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from judgescope.core.errors import coded

POLICY = "@policy@"
"""Stands in a template for its content security policy."""
CLOSED = ("default-src 'none'", "base-uri 'none'", "form-action 'none'")
_STYLE = re.compile(r"<style>(.*?)</style>", re.S)


def environment_of(templates: Path) -> Environment:
    """Return the environment for the templates of a folder and the base of all pages, beside it.

    All values are escaped.
    """
    return Environment(
        loader=FileSystemLoader([templates, templates.parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def script_hash(script: str) -> str:
    """Return the hash by which a page's policy lets its one script run."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def finished(page: str, script: str = "") -> str:
    """Return a filled page with a policy for the style in its head and its `script`.

    Characters that it cannot hold are shown as codes. Even if something in it were markup, no
    browser would load, run or send anything.
    """
    page, script = coded(page), coded(script)
    styles = _STYLE.findall(page.partition("<body>")[0])[:1]
    sources = [f"style-src 'sha256-{script_hash(style)}'" for style in styles]
    sources += [f"script-src 'sha256-{script_hash(script)}'"] if script else []
    return page.replace(POLICY, "; ".join([*CLOSED, *sources]), 1)
