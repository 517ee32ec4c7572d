"""Examples that the help of every command ends with; a test reads each with the parser."""

import argparse
from collections.abc import Iterator, Sequence

Parser = argparse.ArgumentParser
MINE = "config/studies/mine.yaml"
IMPORTS = {"weights": "answers config/weights/ours.yaml"} | dict.fromkeys(
    ("pairs", "recheck", "errors", "ratings"), "answers"
)
EXAMPLES: dict[str, Sequence[str]] = {
    "": ("init mine.csv", f"check {MINE}", f"run {MINE}", f"show {MINE}"),
    "run": (f"run {MINE}", f"run {MINE} --cores=4", f"run {MINE} --unlock"),
    "check": (f"check {MINE}",),
    "draft": (f"draft {MINE}",),
    "pilot": (f"pilot {MINE}", f"pilot {MINE} --share .2"),
    "people": (f"people pairs make {MINE} pages", f"people pairs import {MINE} answers"),
    **{
        f"people {kind}": (f"people {kind} make {MINE} pages", f"people {kind} import {MINE} {to}")
        for kind, to in IMPORTS.items()
    },
    **{f"people {kind} make": (f"people {kind} make {MINE} pages",) for kind in IMPORTS},
    **{
        f"people {kind} import": (f"people {kind} import {MINE} {IMPORTS[kind]}",)
        for kind in IMPORTS
    },
    "people pairs make": (f"people pairs make {MINE} pages --voters 4 --pairs 10",),
    "people recheck make": (f"people recheck make {MINE} pages --pairs 50",),
    "people errors make": (f"people errors make {MINE} pages --errors 50",),
    "people ratings make": (f"people ratings make {MINE} pages --texts 50",),
    "distill": (f"distill export {MINE}", f"distill train {MINE}"),
    "distill export": (f"distill export {MINE}",),
    "distill train": (f"distill train {MINE}",),
    "distill card": (f"distill card {MINE} config/models/small.yaml",),
    "targets": (f"targets export {MINE} texts.jsonl",),
    "replies": (f"replies read {MINE}", "replies stats", f"replies retry {MINE}"),
    "replies retry": (f"replies retry {MINE}",),
    "replies stats": ("replies stats", f"replies stats {MINE}"),
    "replies verify": ("replies verify",),
    "replies compact": ("replies compact",),
    "replies export": (f"replies export replies.parquet {MINE}",),
    "replies import": (f"replies import replies.parquet {MINE}",),
    "replies prune": (f"replies prune {MINE}", f"replies prune {MINE} --yes"),
    "export": (f"export {MINE} latex agreement table.tex", f"export {MINE} card RESULTS.md"),
    "export latex": (f"export {MINE} latex agreement table.tex --statistic spearman",),
    "export card": (f"export {MINE} card RESULTS.md",),
    "export judgments": (
        f"export {MINE} judgments judgments.parquet",
        f"export {MINE} judgments judgments.csv --texts",
    ),
    "batch": (f"batch export {MINE} files", f"batch import {MINE} output.jsonl errors.jsonl"),
    "batch export": (f"batch export {MINE} files",),
    "batch import": (f"batch import {MINE} output.jsonl errors.jsonl",),
}
"""Command -> the words after `judgescope`; commands with examples of their own are left out."""


def add_examples(parser: Parser) -> None:
    """Let the help of a parser and of all its commands end with examples."""
    for name, command in commands_of(parser):
        if name in EXAMPLES and not command.epilog:
            lines = [f"  judgescope {words}" for words in EXAMPLES[name]]
            command.epilog = "\n".join([f"example{'s'[: len(lines) > 1]}:", *lines])
            command.formatter_class = argparse.RawDescriptionHelpFormatter


def commands_of(parser: Parser, name: str = "") -> Iterator[tuple[str, Parser]]:
    """Yield the words that name a command, and its parser: of `parser` and all below it."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, command in action.choices.items():
                yield from commands_of(command, f"{name} {word}".strip())
