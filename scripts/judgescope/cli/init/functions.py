"""A Python function as the judge of a new study: the cards of `init --function`."""

from pathlib import Path
from typing import Any

from judgescope.core.errors import UserError
from judgescope.core.names import RESERVED_JUDGES, slug
from judgescope.core.paths import HOME
from judgescope.engines.function_source import undeclared_modules
from judgescope.schema.cards import COMPARE

FLAG = "--function"


def named_function(text: str) -> tuple[Path, str]:
    """Return the file and the name of `FILE.py:NAME`; UserError for another text."""
    path, _, name = text.rpartition(":")
    file = Path(path)
    if not name.isidentifier() or file.suffix != ".py":
        raise UserError(
            "a function is named by its file and its name",
            where=FLAG,
            got=text,
            allowed="FILE.py:NAME, like my_metric.py:score",
        )
    if not file.is_file():
        names = [str(other) for other in file.parent.glob("*.py")]
        raise UserError("there is no such file", where=FLAG, got=path, allowed=names)
    return file, name


def id_of(function: tuple[Path, str]) -> str:
    """Return the id of a function's model and judge: the file's name, unless a judge
    of Judgescope has it.
    """
    file, name = function
    judge = slug(file.stem)
    shipped = (HOME / "config" / "judges" / f"{judge}.yaml").exists()
    if shipped or judge in RESERVED_JUDGES:
        return f"{judge}-{slug(name)}"
    return judge


def function_cards(
    function: tuple[Path, str], path_from_card: str, *, compared: bool
) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the cards of a model and its judge.

    path_from_card: the function's file as a card names it. The modules beside it that
    it imports are in the card: changes to them are seen.
    """
    file, name = function
    judge = id_of(function)
    root = file.resolve().parent
    files = dict[str, str]()
    for module in undeclared_modules(file, {file.resolve()}, where=FLAG):
        below = module.relative_to(root)
        role = "_".join(below.with_suffix("").parts)
        files[role] = str(Path(path_from_card).parent / below)
    model: dict[str, Any] = {"model": judge, "engine": "python"}
    model["function"] = f"{path_from_card}:{name}"
    if files:
        model["files"] = files
    card = {"judge": judge, "model": judge}
    if compared:
        card["form"] = COMPARE
    return {("model", judge): model, ("judge", judge): card}
