"""Self-contained HTML pages: how their templates are filled, and their security
policy.
"""

import base64
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from judgescope.core.errors import coded
from judgescope.core.paths import WORKFLOW

POLICY = "@policy@"
"""Stands in a template for its content security policy."""
CLOSED = ("default-src 'none'", "base-uri 'none'", "form-action 'none'")
_STYLE = re.compile(r"<style>(.*?)</style>", re.S)
_INSIDE = re.compile(r"::?[\w-]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|\[[^\]]*\]")
"""Pseudo-classes with what they exclude or compare, and conditions on attributes: a
selector without them selects no less."""
_SELECTED = re.compile(r"(?<![\w-])[A-Za-z][\w-]*")
"""Tags, classes and ids of a selector."""


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
        text = compact(text) if name == "style" else compact_script(text)
        values |= {name: Markup(text), f"{name}_hash": script_hash(text)}
    script = str(values["script"])
    return finished(with_used_style(template.render(values), script), script)


def compact(style: str) -> str:
    """Return a style sheet without comments and needless white space.

    >>> compact("a { color: red; } /* no */ b::after { content: ': '; }")
    "a{color:red}b::after{content:': '}"
    """
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.S)
    style = re.sub(r"\s+", " ", style)
    style = re.sub(r" ?([{};]) ?", r"\1", style).replace(";}", "}").strip()
    # What stands in quotes is kept as it is.
    parts = re.split(r"""("[^"]*"|'[^']*')""", style)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"([:,]) ", r"\1", parts[at])
    return "".join(parts)


def compact_script(script: str) -> str:
    """Return a script without indentation and lines that are comments.

    >>> compact_script("if (a) {\\n  // why\\n  b();\\n}\\n")
    'if (a) {\\nb();\\n}\\n'
    """
    lines = [line.strip() for line in script.splitlines()]
    kept = []
    for line in lines:
        if line and not line.startswith("//"):
            kept.append(line)
    return "".join(f"{line}\n" for line in kept)


def with_used_style(page: str, script: str) -> str:
    """Return a page whose style in the head has only the rules that it uses."""
    element = _STYLE.search(page.partition("<body")[0])
    if element is None:
        return page
    full = element[1]
    style = _without_idle(used_style(full, page.replace(full, ""), script), page)
    page = page.replace(full, style)
    # A template may state the hash in a policy of its own.
    return page.replace(script_hash(full), script_hash(style))


def _without_idle(style: str, page: str) -> str:
    """Return a style sheet without the custom properties that nothing refers to.

    `page` is the page with its full style sheet, whose values count as references.
    """
    variable_reference = re.compile(r"var\((--[\w-]+)")
    used = {
        *variable_reference.findall(style),
        *variable_reference.findall(_STYLE.sub("", page)),
    }

    def kept(declaration: re.Match[str]) -> str:
        if declaration[1] in used:
            return declaration[0]
        return ""

    declared_variable = re.compile(r"(?<![\w-])(--[\w-]+): ?[^;{}]*(?:;|(?=}))")
    return declared_variable.sub(kept, style).replace(";}", "}")


def used_style(style: str, page: str, script: str = "") -> str:
    """Return a compact style sheet without the rules for what a page does not have.

    What its script names may come into the page later, so that its rules are kept.

    >>> page = '<p class="small">Text</p>'
    >>> used_style(".small{x:1}.large,p{x:2}ul li{x:3}", page)
    '.small{x:1}p{x:2}'
    >>> used_style("@media print{.large{x:1}}.more{x:2}", page, "a.className='more'")
    '.more{x:2}'
    >>> used_style(".shade-1{x:1}.tint-1{x:2}", page, "a.className=`shade-${at}`")
    '.shade-1{x:1}'
    """
    names = set[str]()
    name_attribute = re.compile(r'\b(?:class|id)="([^"]*)"')
    for attribute in name_attribute.findall(page):
        names.update(attribute.split())
    tag_name = re.compile(r"<([a-zA-Z][\w-]*)")
    names.update(tag.lower() for tag in tag_name.findall(page))
    css_word = re.compile(r"[A-Za-z][\w-]*")
    names.update(css_word.findall(script))
    return _used_rules(style, names)


def _used_rules(style: str, names: Collection[str]) -> str:
    """Return the rules of a style sheet, or of a block in it, for these names."""
    kept = []
    for head, content in _rules(style):
        if head.startswith(("@media", "@supports")):
            inner = _used_rules(content, names)
            if inner:
                kept.append(f"{head}{{{inner}}}")
            continue
        if head.startswith("@"):
            kept.append(f"{head}{{{content}}}")
            continue
        selectors = [part for part in _split(head) if _applies(part, names)]
        if selectors:
            kept.append(f"{','.join(selectors)}{{{content}}}")
    return "".join(kept)


def _rules(style: str) -> Iterator[tuple[str, str]]:
    """Yield the head of each rule and what stands in its braces."""
    start = depth = opened = 0
    for at, sign in enumerate(style):
        if sign == "{":
            depth += 1
            if depth == 1:
                opened = at
        elif sign == "}":
            depth -= 1
            if depth == 0:
                yield style[start:opened].strip(), style[opened + 1 : at]
                start = at + 1


def _split(head: str) -> list[str]:
    """The selectors of a rule: split at commas outside parentheses."""
    parts = [""]
    depth = 0
    for sign in head:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def _applies(selector: str, names: Collection[str]) -> bool:
    """Whether a page with these tags, classes and ids may have what is selected."""
    plain = _INSIDE.sub("", selector)
    # A script makes names such as `shade-1` from their beginning.
    begun = tuple(name for name in names if name.endswith("-"))
    return all(
        name in names or (begun and name.startswith(begun))
        for name in _SELECTED.findall(plain)
    )


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
    if script:
        sources += [f"script-src 'sha256-{script_hash(script)}'"]
    return page.replace(POLICY, "; ".join([*CLOSED, *sources]), 1)
