"""docs/reference/python.md: the public functions and classes of `judgescope`, from
their docstrings.
"""

import inspect
from collections.abc import Iterator

import judgescope

PREFIX = "js"


def python_text(by: str) -> str:
    """Return the page; `by` says how it is made."""
    text = (
        f"# Python: every public name\n\n{by} from the docstrings of `judgescope`, "
        f"imported as `{PREFIX}`. "
        "[The guide](../guide/notebook.md) shows how they are used.\n"
    )
    for name in judgescope.PUBLIC:
        public = getattr(judgescope, name)
        text += _section(f"{PREFIX}.{name}", public)
        if inspect.isclass(public):
            for title, member in _members(f"{PREFIX}.{name}", public):
                text += _section(title, member, level=3)
    results = type_of_results()
    text += _section("What `js.load` returns", results, heading_is_text=True)
    for title, member in _members("results", results):
        text += _section(title, member, level=3)
    return text


def type_of_results() -> type:
    """Return the class of the object that `load` returns."""
    returned = inspect.get_annotations(judgescope.load, eval_str=True)["return"]
    assert inspect.isclass(returned)
    return returned


def _members(prefix: str, owner: type) -> Iterator[tuple[str, object]]:
    """Yield the public methods and properties of a class, each with its title."""
    for name, member in vars(owner).items():
        described = isinstance(member, property) or inspect.isfunction(member)
        if described and not name.startswith("_"):
            yield f"{prefix}.{name}", member


def _section(
    title: str, public: object, level: int = 2, *, heading_is_text: bool = False
) -> str:
    """Return heading, signature and docstring; examples are code."""
    heading = title if heading_is_text else f"`{title}`"
    text = f"\n{'#' * level} {heading}\n\n"
    if inspect.isfunction(public):
        signature = inspect.signature(public)
        parameters = []
        for parameter in signature.parameters.values():
            if parameter.name != "self":
                bare = parameter.replace(annotation=inspect.Parameter.empty)
                parameters.append(bare)
        shown = signature.replace(
            parameters=parameters, return_annotation=inspect.Signature.empty
        )
        text += f"```text\n{title}{shown}\n```\n\n"
    return text + _as_markdown(inspect.getdoc(public) or "") + "\n"


def _as_markdown(docstring: str) -> str:
    """Return a docstring as Markdown: paragraphs that are examples become code."""
    parts = []
    for paragraph in docstring.split("\n\n"):
        is_example = paragraph.startswith(">>>")
        parts.append(
            f"```pycon\n{paragraph}\n```" if is_example else _escaped(paragraph)
        )
    return "\n\n".join(parts)


def _escaped(paragraph: str) -> str:
    """Return text whose signs are no markup outside of `code`."""
    pieces = paragraph.split("`")
    for at in range(0, len(pieces), 2):
        for sign in "*_<[|":
            pieces[at] = pieces[at].replace(sign, f"\\{sign}")
    return "`".join(pieces)
