"""Python functions as scorers: each runs in processes of its own, by the protocol of
engine `command`.

A function is never imported by this package. Planning reads its signature from the
source; what the signature does not name is not part of the request.
"""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final, get_args

from judgescope.core.errors import UserError
from judgescope.data.files import resolve
from judgescope.engines import command, python_child
from judgescope.engines.function_source import arguments_of, undeclared_modules
from judgescope.engines.requests import Failure, Keep, Reply, Work
from judgescope.schema.cards import PythonModel
from judgescope.schema.cards.engines import Engine
from judgescope.schema.cards.models import FUNCTION, FunctionInput

ARGUMENTS: Final[tuple[str, ...]] = get_args(FunctionInput)


def _where(card: PythonModel) -> str:
    return f"models/{card.model}.yaml, key function"


def completed(card: PythonModel, folder: Path, data: Path) -> PythonModel:
    """Return the card with the arguments that the function's signature names.

    Raises UserError for a missing file or function, an argument that is not known, and
    a module beside the function that it imports and `files` does not name.
    """
    where = _where(card)
    [(file, _)] = resolve(card.files, FUNCTION, folder, data, where=where)
    name = card.function.rpartition(":")[2]
    arguments = arguments_of(file, name, ARGUMENTS, where=where)
    if not {"text", "text_b"} & set(arguments):
        raise UserError(
            "the function does not receive the text",
            where=where,
            got=f"def {name}({', '.join(arguments)})",
            allowed=ARGUMENTS,
            todo=f"write `def {name}(text, …):`",
        )
    if card.inputs is not None and set(card.inputs) != set(arguments):
        raise UserError(
            "the function's signature does not name these inputs",
            where=f"models/{card.model}.yaml, key inputs",
            got=", ".join(card.inputs),
            allowed=", ".join(arguments),
            todo="leave `inputs` out",
        )
    declared = {path.resolve() for path in _paths(card, folder, data)}
    for module in undeclared_modules(file, declared, where=where):
        role = module.stem if module.stem not in card.files else f"{module.stem}_2"
        path = os.path.relpath(module, folder.resolve())
        raise UserError(
            "the function imports a module that `files` does not name: changes to it "
            "would not be detected",
            where=where,
            got=path,
            todo=f"write `files: {{{role}: {path}}}`",
        )
    return card.model_copy(update={"inputs": arguments})


def _paths(card: PythonModel, folder: Path, data: Path) -> list[Path]:
    """The paths of all files of a card."""
    where = f"models/{card.model}.yaml"
    paths = []
    for role in card.files:
        for path, _ in resolve(card.files, role, folder, data, where=where):
            paths.append(path)
    return paths


def located(card: PythonModel, folder: Path, data: Path) -> PythonModel:
    """Return the card with absolute paths of all of its files, and its folder."""
    card = completed(card, folder, data)
    where = f"models/{card.model}.yaml"
    paths = dict[str, str]()
    for role in card.files:
        files = resolve(card.files, role, folder, data, where=where)
        for number, (path, _) in enumerate(files):
            # A pattern stands for several files, each of which needs a role.
            paths[f"{role} {number}" if number else role] = os.path.abspath(path)
    name = card.function.rpartition(":")[2]
    update = {"files": paths, "function": f"{paths[FUNCTION]}:{name}"}
    return card.model_copy(update=update).in_folder(str(folder.resolve()))


class PythonEngine(command.CommandEngine):
    """Runs a function, in as many processes at once as its card allows."""

    card: PythonModel

    def command_line(self) -> list[str]:
        """Return the words that start a process; the interpreter is this one.

        -P: the folder of the started file, which has modules of ours, is not where
        imports are looked for.
        """
        path, _, name = self.card.function.rpartition(":")
        folders = {os.path.realpath(os.path.dirname(path))}
        if self.card.folder:
            folders.add(self.card.folder)
        settings = {
            "path": path,
            "name": name,
            "arguments": self.card.inputs,
            "batch": self.card.batch,
            "files": [os.path.realpath(file) for file in self.card.files.values()],
            "folders": [os.path.join(folder, "") for folder in sorted(folders)],
        }
        # Started as a file. It is imported so that the code of a job has it.
        child_program = Path(python_child.__file__)
        return [sys.executable, "-P", str(child_program), json.dumps(settings)]

    def __call__(
        self, missing: Iterable[Work], proven: bool, keep: Keep
    ) -> list[Failure]:
        """Call the function for every missing draw; end the job if it fails for the
        first texts.
        """
        start = _FirstReplies(self.card, keep, proven)
        failures = super().__call__(missing, proven, start.keep)
        start.end()
        return failures


class _FirstReplies:
    """Holds the exceptions at the start of a job back until a text has an answer.

    A stored error is final: where a package is missing, no text shall have one.
    """

    def __init__(self, card: PythonModel, keep: Keep, proven: bool) -> None:
        self.card = card
        self.pass_on = keep
        self.proven = proven
        self.held = list[Reply]()

    def keep(self, reply: Reply) -> None:
        """Store a reply, or hold it back; UserError after too many exceptions."""
        # A job ends if so many texts at its start have an exception and none an answer.
        most_failed = 8
        if not self.proven and reply.status == "error":
            self.held.append(reply)
            if len(self.held) < most_failed:
                return
            raise UserError(
                f"the function failed for its first {most_failed} texts: {reply.text}",
                where=_where(self.card),
                got=self.card.function,
                todo="fix the function and run again; none of these errors is stored",
            )
        self.end()
        self.pass_on(reply)

    def end(self) -> None:
        """Store what was held back: errors of single texts."""
        self.proven = True
        for reply in self.held:
            self.pass_on(reply)
        self.held.clear()


build = PythonEngine
ENGINE = Engine(
    name="python",
    card=PythonModel,
    build=build,
    located=located,
    completed=completed,
    asked=True,
    parser="returned",
)
