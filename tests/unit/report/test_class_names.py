"""No text of a page has the name of a class: a renamed class once became a heading."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import judgescope.report

FOLDER = Path(judgescope.report.__file__).parent
CLASS_NAME = re.compile(r"\b[A-Z][a-z]+[A-Z][A-Za-z]*\b")


def _parts_without_pages(tree: ast.Module) -> Iterator[ast.AST]:
    """What no page shows: docstrings, and annotations written as strings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield node.returns
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation


def test_no_text_of_the_report_names_a_class_of_it() -> None:
    trees = [ast.parse(file.read_text("utf-8")) for file in FOLDER.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    assert "ShownDataset" in classes
    hidden = set[int]()
    for tree in trees:
        for part in _parts_without_pages(tree):
            hidden.update(id(node) for node in ast.walk(part))
    named = set[str]()
    for node in nodes:
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and id(node) not in hidden:
            named.update(classes.intersection(CLASS_NAME.findall(text)))
    assert named == set()
