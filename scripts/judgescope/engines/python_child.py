"""Calls a Python function for every line of input: runs without any other module of
this package, in a process of its own.

Its argument is a JSON object: path and name of the function, the names of its
arguments, the texts of a call (null: one, without lists), and the files that the card
names. It reads a JSON object a line and writes one, with `score`, `text` or `error`.
What the function prints goes to the error output.
"""

import json
import os
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from numbers import Real
from sysconfig import get_path
from traceback import format_exception_only, print_exc
from typing import Any, TextIO


def main() -> None:
    """Load the function, then answer all lines."""
    settings = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    questions = os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(2, 1)  # what is printed, also by native code, is no answer
    sys.stdout = sys.stderr
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # a function that reads input does not take the questions
    sys.argv = [settings["path"]]
    sys.path.insert(0, os.path.dirname(settings["path"]))
    try:
        function = loaded(settings["path"], settings["name"])
    except BaseException:  # a user's file may raise anything, SystemExit too
        print_exc()
        sys.exit(1)
    check_modules(settings)
    lines = (json.loads(line) for line in questions)
    while batch := list(islice(lines, settings["batch"] or 1)):
        for answer in answers_to(function, batch, settings):
            print(json.dumps(answer), file=answers, flush=True)


def loaded(path: str, name: str) -> Any:
    """Return a function of a file, which is the module of its name."""
    module_name = os.path.splitext(os.path.basename(path))[0]
    spec = spec_from_file_location(module_name, path)
    assert spec and spec.loader
    module = module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def answers_to(
    function: Any, batch: list[dict[str, Any]], settings: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the answers to the questions of one call."""
    given = dict[str, Any]()
    for name in settings["arguments"]:
        values = [question.get(name) for question in batch]
        given[name] = values if settings["batch"] else values[0]
    try:
        returned = function(**given)
        if not settings["batch"]:
            returned = [returned]
        elif isinstance(returned, str | bytes | dict):
            kind = type(returned).__name__
            raise TypeError(f"returned a {kind} for a batch, not a list")
        returned = list(returned)
        if len(returned) != len(batch):
            raise ValueError(
                f"returned {len(returned)} values for a batch of {len(batch)} texts"
            )
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also sys.exit()
        returned = [_Failed(error)] * len(batch)
    check_modules(settings)
    for question, value in zip(batch, returned, strict=True):
        yield {"id": question["id"], **answer_of(value)}


class _Failed:
    """What an exception leaves in place of a value: its last line."""

    def __init__(self, error: BaseException) -> None:
        lines = "".join(format_exception_only(error)).strip().splitlines()
        self.last_line = lines[-1] if lines else type(error).__name__


def answer_of(value: Any) -> dict[str, Any]:
    """Return the answer for what a function returned.

    >>> answer_of(4), answer_of("good"), answer_of({"score": 2, "reason": "Short."})
    ({'score': 4}, {'text': 'good'}, {'text': '{"score": 2, "reason": "Short."}'})
    """
    if isinstance(value, _Failed):
        return {"error": value.last_line}
    if isinstance(value, dict):
        if value.keys() - {"score", "reason"} or "score" not in value:
            names = ", ".join(map(str, value)) or "nothing"
            return {"error": f"returned a dict of {names}, not of score and reason"}
        answer = answer_of(value["score"])
        content = answer.get("score", answer.get("text"))
        if content is None or not value.get("reason"):
            return answer
        both = {"score": content, "reason": str(value["reason"])}
        return {"text": json.dumps(both, ensure_ascii=False)}
    if value is None:
        return {"score": None}
    if isinstance(value, str):
        return {"text": str(value)}
    number = value
    if getattr(value, "ndim", None) == 0 and callable(getattr(value, "item", None)):
        number = value.item()  # of NumPy or torch
    if isinstance(number, bool | int):
        return {"score": int(number)}
    if isinstance(number, Real) or type(number).__name__ == "Decimal":
        return {"score": float(number)}
    return {
        "error": f"returned a value of type {type(value).__name__}, not a number, a "
        "string, None or a dict of score and reason"
    }


# --- imports --------------------------------------------------------------------------

_checked = 0
"""How many modules were loaded when they were last checked."""


def check_modules(settings: dict[str, Any]) -> None:
    """Exit if a module below the folders of card or function is not in the card: a
    change of it would go unnoticed.
    """
    global _checked
    if len(sys.modules) == _checked:
        return
    _checked = len(sys.modules)
    declared = set(settings["files"])
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    installed = tuple(os.path.join(get_path(kind), "") for kind in kinds)
    # The exit code for a module that the card does not name.
    undeclared_status = 3
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or not path.endswith(".py"):
            continue
        path = os.path.realpath(path)
        if path in declared or path == os.path.realpath(__file__):
            continue
        if path.startswith(installed) or "-packages" in path:
            continue
        if path.startswith(tuple(settings["folders"])):
            _tell(sys.stderr, path)
            sys.exit(undeclared_status)


def _tell(stream: TextIO, path: str) -> None:
    name = os.path.basename(path)
    print(
        f"the function imported {name}, which `files` of its card does not name: a "
        f"change of it would go unnoticed; add it with a role of its own ({path})",
        file=stream,
        flush=True,
    )


if __name__ == "__main__":
    main()
