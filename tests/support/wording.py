"""Names that say nothing and words that are not ours, held by `make lint`.

`python tests/support/wording.py` lists, with file and line, every parameter, field and
module of the library that is named by one of EMPTY, every local variable of such a name
that is used over more than MAX_LINES lines, and every text of the library and its
documents that has one of BANNED. It exits with 1 if there is any.
"""

import ast
import subprocess
import sys
from bisect import bisect
from collections.abc import Iterator
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
EMPTY = {"told", "found", "one", "own", "place", "said", "there", "most", "of", "at"}
"""Names that do not say what a thing is."""
MAX_LINES = 18
"""The lines between the first and the last use of a local variable that may have such a
name."""
SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
BANNED = (
    "exists already",
    "has yet to",
    "have yet to",
    "held against",
    "in the place of",
    "is told",
    "is no template",
    "knows nothing of",
    "metajudge",
    "nothing else than",
    "stands beside",
    "takes the place of",
    "to the letter",
    "what came of",
)
"""What reads as translated, and the former name; compared without case."""
PROSE = ("scripts/", "workflow/", "docs/", "README.md")
FIXED = ("edit_checks.py", "validation.py", "written.py", "methods/labels.py")
"""Files with texts that keys of replies (reasons in prompts) or tables (notes) depend
on."""
FREE = {
    "tests/support/wording.py",
    "tests/unit/repository/test_wording.py",
}
"""Files that say what things were called."""


def empty_names(source: str, module: str) -> Iterator[tuple[int, str]]:
    """Yield (line, what) of the empty names of a module's source."""
    if module in EMPTY:
        yield 1, f"module {module}"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            every = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            for arg in [*every, node.args.vararg, node.args.kwarg]:
                if arg is not None and arg.arg in EMPTY:
                    yield arg.lineno, f"parameter {arg.arg} of {node.name}"
            yield from _long_lived(node)
        if isinstance(node, ast.ClassDef):
            for field in node.body:
                name = (
                    getattr(field.target, "id", "")
                    if isinstance(field, ast.AnnAssign)
                    else ""
                )
                if name in EMPTY:
                    yield field.lineno, f"field {name} of {node.name}"


def _long_lived(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[tuple[int, str]]:
    lines: dict[str, list[int]] = {}
    pending = [(node, frozenset[str]()) for node in ast.iter_child_nodes(function)]
    while pending:
        node, bound = pending.pop()
        if isinstance(node, ast.Name) and node.id in EMPTY - bound:
            lines.setdefault(node.id, []).append(node.lineno)
        if isinstance(node, COMPREHENSIONS):  # their variables live in them alone
            targets = [each.target for each in node.generators]
            bound |= {
                name.id
                for target in targets
                for name in ast.walk(target)
                if hasattr(name, "id")
            }
        if not isinstance(node, SCOPES):
            pending += [(child, bound) for child in ast.iter_child_nodes(node)]
    for name, used in lines.items():
        if max(used) - min(used) > MAX_LINES:
            yield min(used), f"local variable {name} of {function.name}"


def banned_words(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, words) of the banned words of a text, also across a line break.

    >>> list(banned_words("What came of it:\\nit exists\\n# already."))
    [(1, 'what came of'), (3, 'exists already')]
    """
    words: list[str] = []
    ends: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        for word in line.lstrip("# ").split():
            words.append(word.lower())
            ends.append(number)
    joined = " ".join(words)
    # The line of a match is the line of the word in which the match ends.
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word) + 1)
    matches: list[tuple[int, str]] = []
    for banned in BANNED:
        at = joined.find(banned)
        while at >= 0:
            last = bisect(starts, at + len(banned) - 1) - 1
            matches.append((ends[last], banned))
            at = joined.find(banned, at + 1)
    yield from sorted(matches)


def main() -> None:
    """Print what is wrong; exit with 1 where anything is."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=HOME, capture_output=True, text=True
    ).stdout
    wrong = 0
    for name in listed.splitlines():
        path = HOME / name
        if name in FREE or path.suffix not in {
            ".py",
            ".md",
            ".yaml",
            ".smk",
            ".jinja",
            ".cff",
        }:
            continue
        text = path.read_text(encoding="utf-8")
        problems: list[tuple[int, str]] = []
        if name.startswith(PROSE) and not name.endswith(FIXED):
            problems += banned_words(text)
        if name.startswith("scripts/") and path.suffix == ".py":
            problems += empty_names(text, path.stem)
        for line, what in problems:
            print(f"{name}:{line}: {what}")
        wrong += len(problems)
    sys.exit(f"{wrong} names or words" if wrong else 0)


if __name__ == "__main__":
    main()
