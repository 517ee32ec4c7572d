"""The hash of the code that a job reaches: what changes it, and what does not."""

from pathlib import Path

import pytest

from metajudge.engines import ENGINES
from metajudge.plan.code import code_hash, modules
from running import HOME

PARSING = "metajudge/parsing"
NO_PARSER = ("judgment", "policy")
"""Modules of that package that read no text: what a judgment is, and what counts for none."""
MODULE = '''"""A module."""

LEAST = 3
"""Fewer are too few."""


class Card:
    """A card."""

    size: int = 4
    """How many there are."""


def enough(n: int) -> bool:
    """Return whether n is enough."""
    if n > LEAST:
        "a remark"
        return True
    return n == len("abc")
'''
"""Every kind of string that documents, and one that does something."""


def hashed(folder: Path, module: str) -> str:
    package = folder / "metajudge"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text(module, encoding="utf-8")
    (folder / "job.py").write_text("from metajudge.part import enough\n")
    return code_hash(folder, "job.py")


def test_what_computes_scores_knows_no_parser() -> None:
    """A mended parser computes no measure anew."""
    folder = HOME / "scripts"
    parsers = {f"metajudge.parsing.{path.stem}" for path in (folder / PARSING).glob("*.py")}
    parsers -= {"metajudge.parsing.__init__", *(f"metajudge.parsing.{name}" for name in NO_PARSER)}
    assert "metajudge.parsing.number" in parsers
    for engine in ("lexical", "control", "recorded"):
        assert not parsers & modules(folder, "compute.py", ENGINES[engine]).keys()
    assert "metajudge.parsing.number" in modules(folder, "score.py")


@pytest.mark.parametrize(
    "documented",
    [
        "A module.",
        "Fewer are too few.",
        "A card.",
        "How many there are.",
        "Return whether n is enough.",
        "a remark",
    ],
)
def test_a_string_that_documents_is_no_code(tmp_path: Path, documented: str) -> None:
    assert documented in MODULE
    before = hashed(tmp_path / "before", MODULE)
    reworded = hashed(tmp_path / "reworded", MODULE.replace(documented, "In other words."))
    assert reworded == before
    gone = MODULE.replace(f'"""{documented}"""', "").replace(f'"{documented}"', "")
    assert hashed(tmp_path / "gone", gone) == before


@pytest.mark.parametrize(
    ("old", "new"), [('len("abc")', 'len("abd")'), ("LEAST = 3", "LEAST = 4"), ("= 4", "= 5")]
)
def test_what_the_code_does_is_in_the_hash(tmp_path: Path, old: str, new: str) -> None:
    assert old in MODULE
    before = hashed(tmp_path / "before", MODULE)
    assert hashed(tmp_path / "after", MODULE.replace(old, new)) != before
