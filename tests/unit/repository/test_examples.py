"""The examples in docstrings are true."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import judgescope

ROOMS = ("core", "schema", "data", "prompts", "scoring")


def modules_with_examples() -> list[str]:
    package = Path(judgescope.__file__).parent
    names = []
    for room in ROOMS:
        for path in sorted((package / room).rglob("*.py")):
            if ">>>" in path.read_text(encoding="utf-8"):
                parts = path.relative_to(package.parent).with_suffix("").parts
                names.append(".".join(parts).removesuffix(".__init__"))
    return names


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_of_a_module(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.failed == 0 and result.attempted > 0


def test_every_room_has_examples() -> None:
    rooms = {name.split(".")[1] for name in modules_with_examples()}
    assert rooms == set(ROOMS)
