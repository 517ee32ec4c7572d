"""Examples that the help of every command ends with; a test reads each with the parser."""

import argparse
from collections.abc import Iterator, Sequence

Parser = argparse.ArgumentParser
MINE = "config/studies/mine.yaml"
PEOPLE = {
    kind: (
        f"people {kind} make {MINE} pages{options}",
        f"people {kind} import {MINE} answers{card}",
    )
    for kind, options, card in (
        ("weights", "", " config/weights/ours.yaml"),
        ("pairs", " --voters 4 --pairs 10", ""),
        ("recheck", " --pairs 50", ""),
        ("errors", " --errors 50", ""),
        ("ratings", " --texts 50", ""),
    )
}
EXAMPLES: dict[str, Sequence[str]] = {
    "": ("init mine.csv", f"check {MINE}", f"run {MINE}", f"show {MINE}"),
    "run": (f"run {MINE}", f"run {MINE} --cores=4", f"run {MINE} --unlock"),
    "check": (f"check {MINE}",),
    "draft": (f"draft {MINE}",),
    "pilot": (f"pilot {MINE}", f"pilot {MINE} --share .2"),
    "people": PEOPLE["pairs"],
    **{f"people {kind}": lines for kind, lines in PEOPLE.items()},
    **{f"people {kind} make": lines[:1] for kind, lines in PEOPLE.items()},
    **{f"people {kind} import": lines[1:] for kind, lines in PEOPLE.items()},
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
