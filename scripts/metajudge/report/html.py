"""Pages that need nothing but themselves: how their templates are filled."""

import base64
import hashlib
import re
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

UNWRITABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    r"\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
"""What a page cannot hold or nobody would see: control characters, also those that turn the
direction of text around, halves of a character, and code points that are none."""


def environment_of(templates: Path) -> SandboxedEnvironment:
    """Return what fills the templates of a folder; whatever is put in is escaped."""
    return SandboxedEnvironment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def script_hash(script: str) -> str:
    """Return the hash by which a page's policy lets its one script run."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def writable(page: str) -> str:
    """Return a page with a code in place of every character that it cannot hold."""
    return UNWRITABLE.sub(lambda found: f"\u27e8U+{ord(found[0]):04X}\u27e9", page)
